//! Soft bodies: internal structures in an implicit coat.

mod params;

pub use params::SoftParams;
