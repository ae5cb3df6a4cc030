//! Motion for a character from another file: BVH, or any file with clips, matched by joint names.

mod bvh;
mod names;
mod retarget;

#[cfg(test)]
mod tests;

pub use bvh::{BvhError, read_bvh};
pub use names::{JointTable, match_joints};
pub use retarget::{RetargetError, Retargeted, retarget};
