//! Flesh that lags, swings and settles on a skinned, animated character.

mod params;

pub use params::FleshParams;
