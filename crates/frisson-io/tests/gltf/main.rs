//! Reading and writing glTF with small files made by code.

mod files;
mod living;
mod malformed;
mod read;
mod vrm;
mod write;
