//! Crate files, versions 0.4 to 0.13.
//!
//! ```text
//! bootstrap(88) | values… | TOKENS STRINGS FIELDS FIELDSETS PATHS SPECS | table of contents
//! ```
//!
//! `packed` unpacks · `tables` reads the sections · `specs` makes a layer of them · `values` reads what
//! the 8 bytes of a field name.

mod packed;
mod specs;
mod tables;
mod values;

pub(super) use specs::read_layer;
pub(super) use values::CrateValues;

/// How the file begins.
pub(super) const MAGIC: &[u8] = b"PXR-USDC";
