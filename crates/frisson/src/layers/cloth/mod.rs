//! Simulated garments: position-based, small steps.

mod params;

pub use params::ClothParams;
