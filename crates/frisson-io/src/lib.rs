//! Scene files, the cache, and the formats other programs open. Units and axes are converted here
//! and nowhere else.

pub mod alembic;
pub mod bake;
pub mod cache;
pub mod export;
mod faces;
#[cfg(feature = "fbx")]
pub mod fbx;
pub mod given;
pub mod gltf;
pub mod inputs;
pub mod limits;
pub mod maps;
mod mdd;
pub mod motion;
mod obj;
pub mod outputs;
mod pc2;
mod png_sequence;
mod polygons;
mod remembered;
pub mod scene;
mod shape_file;
mod source;
pub mod usd;
mod warnings;

pub use source::{FrameSource, Progress, ShotInfo, Silent, SourceError};
