//! The same rig in a file that does not say how it rests.
//!
//! ```text
//!   where a joint hangs = world_parent(rest)⁻¹ · (place of the joint - place of its parent)
//! ```
//! turns with the pose of its parent and so is the same in all poses. Equal ones of enough joints tell that the
//! axes of both skeletons are the same: then a joint of ours stands in the world as its counterpart does.

use frisson::character::{Character, Transform};
use glam::{Mat4, Quat, Vec3};

use super::retarget::{rest_matrices, rotation};

/// How far apart two joints may hang of the same rig, in lengths of the bone [-]: files keep five digits.
const SAME_PLACE: f32 = 0.01;
/// Share of the bones that must hang alike [-]: hips often travel below a root.
const ALIKE: f32 = 0.8;
/// Fewest bones to tell a rig by.
const FEWEST: usize = 3;
/// Sine between two bones from which they tell the axes of a rig: those of a straight chain do not [-].
const ASIDE: f32 = 0.2;
/// Difference of sizes that is rounding [-].
const SAME_SIZE: f32 = 1e-3;

/// A rig that is the target's own.
pub(super) struct SameRig {
    /// Size of the target over that of the source.
    ratio: f32,
    /// Whether a joint of the target is moved by the clip or hangs on one that is.
    pub(super) is_taken: Vec<bool>,
}

impl SameRig {
    /// The target's rig in a file of joints without a skin. Where all rest straight, as in BVH, that is a rest pose.
    pub(super) fn find(
        source: &Character,
        target: &Character,
        counterparts: &[Option<usize>],
        moved: &[bool],
    ) -> Option<Self> {
        let straight = |t: &Transform| t.rotation.dot(Quat::IDENTITY).abs() > 1.0 - 1e-6;
        let rests_straight = source.skeleton.nodes().iter().all(|n| straight(&n.rest));
        if !source.skins.is_empty() || rests_straight {
            return None;
        }
        let (theirs, ours) = (rest_matrices(&source.skeleton), rest_matrices(&target.skeleton));
        let bones = bones(target, counterparts, &theirs, &ours);
        let ratio = middle_ratio(&bones)?;
        let is_alike = |(a, b): &&(Vec3, Vec3)| (ratio * *a).distance(*b) < SAME_PLACE * b.length();
        let alike: Vec<Vec3> = bones.iter().filter(is_alike).map(|(_, b)| *b).collect();
        let enough = alike.len() >= FEWEST && alike.len() as f32 >= ALIKE * bones.len() as f32;
        let aside = |a: &Vec3, b: &Vec3| a.normalize().cross(b.normalize()).length() > ASIDE;
        if !enough || !alike.iter().any(|b| aside(&alike[0], b)) {
            return None;
        }
        let ratio = if (ratio - 1.0).abs() < SAME_SIZE { 1.0 } else { ratio };
        Some(Self { ratio, is_taken: taken(target, counterparts, moved) })
    }

    /// Where a joint is below its parent when its counterpart is at `now`.
    pub(super) fn local(&self, now: &Mat4, parent: &Mat4, rest: &Transform) -> Transform {
        let place = self.ratio * now.w_axis.truncate();
        Transform {
            translation: parent.inverse().transform_point3(place),
            rotation: (rotation(parent).inverse() * rotation(now)).normalize(),
            scale: rest.scale,
        }
    }
}

/// How joints hang on their parents, theirs and ours, in the axes of the parent.
fn bones(
    target: &Character,
    counterparts: &[Option<usize>],
    theirs: &[Mat4],
    ours: &[Mat4],
) -> Vec<(Vec3, Vec3)> {
    let hangs = |rest: &[Mat4], parent: usize, joint: usize| {
        let way = (rest[joint].w_axis - rest[parent].w_axis).truncate();
        rotation(&rest[parent]).inverse() * way
    };
    let nodes = target.skeleton.nodes().iter().enumerate();
    let pairs = nodes.filter_map(|(joint, node)| {
        let parent = node.parent?;
        let (a, b) = (counterparts[joint]?, counterparts[parent]?);
        Some((hangs(theirs, b, a), hangs(ours, parent, joint)))
    });
    // What lies on its parent hangs nowhere.
    pairs.filter(|(a, b)| a.length() > 0.0 && b.length() > 0.0).collect()
}

/// Length of our bones over theirs: that of the middle one, which hips that travel do not change.
fn middle_ratio(bones: &[(Vec3, Vec3)]) -> Option<f32> {
    let mut ratios: Vec<f32> = bones.iter().map(|(a, b)| b.length() / a.length()).collect();
    ratios.sort_by(f32::total_cmp);
    ratios.get(ratios.len() / 2).copied().filter(|r| r.is_finite())
}

/// What is above all that moves is the file's own, such as the axes of the program that wrote it.
fn taken(target: &Character, counterparts: &[Option<usize>], moved: &[bool]) -> Vec<bool> {
    let mut is_taken = vec![false; counterparts.len()];
    for &joint in target.skeleton.parents_first() {
        let below = target.skeleton.nodes()[joint].parent.is_some_and(|p| is_taken[p]);
        is_taken[joint] = counterparts[joint].is_some_and(|theirs| moved[theirs] || below);
    }
    is_taken
}
