//! Deformable wisps that lean, rub, tangle and split.

mod params;

pub use params::HairParams;
