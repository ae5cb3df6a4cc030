//! Scene files, the cache, and the formats other programs open. Units and axes are converted here
//! and nowhere else.

pub mod gltf;
mod source;

pub use source::{FrameSource, Progress, ShotInfo, Silent, SourceError};
