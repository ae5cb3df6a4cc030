//! What a step works with beside the state, and may lose between any two.

use glam::Vec3;

use super::chain::ChainPose;
use super::spring::{SpringStep, StaticFrame};
use crate::character::Pose;

/// Storage that is reused from step to step.
#[derive(Default)]
pub struct FleshScratch {
    /// The static frame at every other grid time of the current step.
    pub(super) nodes: Vec<StaticFrame>,
    /// The spring's step of the last grid interval: ticks are of one length mostly.
    pub(super) step: Option<SpringStep>,
    /// The same of every point of a chain, and where they are shown.
    pub(super) chain_nodes: Vec<Vec<StaticFrame>>,
    pub(super) chain_poses: Vec<ChainPose>,
    /// The character as it is drawn, for chains.
    pub(super) pose: Pose,
    /// Where the vertices of the unrefined mesh were, then how far all moved; and room beside it.
    pub(super) before: Vec<Vec3>,
    pub(super) spare: Vec<Vec3>,
}
