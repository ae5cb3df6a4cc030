//! Reading and writing glTF with small files made by code.

mod files;
mod malformed;
mod read;
mod write;
