//! Liquid that runs on surfaces, merges, leaves trails and falls.

mod params;

pub use params::DropsParams;
