//! Text files (`.usda`): `lexer` words, numbers and strings · `values` what stands behind `=` ·
//! `metadata` what stands in round brackets · `parser` prims and properties.

mod lexer;
mod metadata;
mod parser;
mod values;

pub(super) use parser::read_layer;

/// How the file begins.
pub(super) const MAGIC: &[u8] = b"#usda";
