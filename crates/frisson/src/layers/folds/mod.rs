//! Drawn folds laid over any moving mesh.

mod params;

pub use params::FoldsParams;
