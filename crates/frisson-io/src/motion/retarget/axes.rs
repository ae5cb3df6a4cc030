//! The same bones with other axes in their joints: a character's own rig as another program writes it, without a mesh.
//!
//! Such a file has no rest pose but the one it was saved in, so directions of its bones say nothing. But the turn from its
//! axes to ours is the same in every pose, and bones are known in the axes of the joint that they hang on:
//!
//! ```text
//!   world_target(t) = world_source(t) · axes
//!   axes(joint) · bone_target = bone_source       of every bone below the joint
//! ```
//!
//! Joints with several bones are settled by that. Of one bone the twist is open, of none everything: such joints have the
//! axes of the one above them where that fits, else the smallest turn, by right angles if that does, that keeps the joint
//! near its rest over the clip. Bones that the clip moves by themselves, as handles for a foot, say nothing.

use std::f32::consts::FRAC_PI_2;

use super::{
    Character, Clip, JointMotion, Mat4, Pose, Quat, SAME_REST, Sampling, Transfer, Vec3, key_times,
    rest_origins, rotation, spread, turned_onto,
};

/// Poses of the clip that are looked at.
const LOOKS: usize = 32;
/// Error of a bone below which axes fit, of its length [-]: files round.
const FITS: f32 = 0.01;
/// How much nearer to rest later candidates have to keep a joint [rad]: right angles differ by three times that.
const NEARER: f32 = 0.5;

/// One bone in so many at most may have another length [-]: a rig has more bones than handles.
const OTHERS: usize = 2;

/// A bone in the axes of the joint that it hangs on: ours, and theirs in our size [m].
struct Bone {
    child: usize,
    ours: Vec3,
    theirs: Vec3,
}

/// Turns from the source's axes to those of the target's joints.
pub(super) struct JointAxes {
    turns: Vec<Option<Quat>>,
    /// Joints that hang on no bone of a fixed length, as handles for a foot do: they are where the clip puts them.
    are_placed: Vec<bool>,
    /// Size of the target over that of the source [-].
    ratio: f32,
}

/// The source's joints in the world, at some times of the clip.
struct Looks {
    poses: Vec<Vec<Mat4>>,
}

impl Looks {
    fn of(source: &Character, clip: &Clip) -> Self {
        let times = key_times(clip);
        let step = times.len().div_ceil(LOOKS).max(1);
        let mut pose = Pose::default();
        let look = |&time: &f32| {
            pose.set(source, Some(clip), f64::from(time), Sampling::AsAuthored, Mat4::IDENTITY);
            pose.world_from_node.clone()
        };
        Self { poses: times.iter().step_by(step).map(look).collect() }
    }

    /// Whether a joint stays where it is.
    fn is_still(&self, node: usize, size: f32) -> bool {
        let first = &self.poses[0][node];
        self.poses.iter().all(|pose| first.abs_diff_eq(pose[node], SAME_REST * size.max(1.0)))
    }
}

impl JointAxes {
    /// The axes, where the bones of both have the same lengths and something fits them all.
    pub(super) fn find(transfer: &Transfer, clip: &Clip) -> Option<Self> {
        let looks = Looks::of(transfer.source, clip);
        // Joints along the world's axes are a rest pose, as of BVH.
        let is_turned = |m: &Mat4| rotation(m).dot(Quat::IDENTITY).abs() < 1.0 - SAME_REST;
        let mut saved = transfer.counterparts.iter().flatten();
        let in_a_pose = saved.any(|&theirs| is_turned(&transfer.source_rest[theirs]));
        if looks.poses.is_empty() || !in_a_pose {
            return None;
        }
        let size = spread(&rest_origins(&transfer.target.skeleton)).max(f32::MIN_POSITIVE);
        let nodes = transfer.target.skeleton.nodes();
        // Of another size it is another rig, and its clip is carried over by turns from its rest.
        let ratio = transfer.usual_ratio(size).filter(|ratio| (ratio - 1.0).abs() <= FITS)?;
        let are_placed = transfer.placed(&looks, size, ratio)?;
        let mut axes = Self { turns: vec![None; nodes.len()], are_placed, ratio };
        for &ours in transfer.target.skeleton.parents_first() {
            let Some(theirs) = transfer.counterparts[ours] else { continue };
            let mut bones = transfer.own_bones((ours, theirs), size, ratio);
            bones.retain(|bone| !axes.are_placed[bone.child]);
            let bones: Vec<(Vec3, Vec3)> = bones.iter().map(|b| (b.ours, b.theirs)).collect();
            let candidates = axes.candidates((transfer, &looks), (ours, theirs), &bones, size);
            // A bone whose direction no axes explain is no reason to leave those that explain all others.
            let most = candidates.iter().map(|&turn| fitting(turn, &bones)).max()?;
            if 2 * most < bones.len() {
                return None;
            }
            let best = candidates.into_iter().filter(|&turn| fitting(turn, &bones) == most);
            let away = |turn: Quat| (turn, axes.away((transfer, &looks), (ours, theirs), turn));
            let rated: Vec<(Quat, f32)> = best.map(away).collect();
            let least = rated.iter().map(|r| r.1).fold(f32::INFINITY, f32::min);
            let chosen = rated.iter().find(|r| r.1 <= least + NEARER)?;
            axes.turns[ours] = Some(chosen.0);
        }
        Some(axes)
    }

    /// Turns that the axes of a joint may have, the likeliest first.
    fn candidates(
        &self,
        (transfer, looks): (&Transfer, &Looks),
        (ours, theirs): (usize, usize),
        bones: &[(Vec3, Vec3)],
        size: f32,
    ) -> Vec<Quat> {
        let parent = transfer.target.skeleton.nodes()[ours].parent;
        let mut out = Vec::new();
        // What the clip does not move, nor anything above it, stands as ours does at rest.
        if looks.is_still(theirs, size) && parent.is_none_or(|p| self.is_rest((transfer, looks), p))
        {
            let now = rotation(&looks.poses[0][theirs]);
            return vec![now.inverse() * rotation(&transfer.target_rest[ours])];
        }
        out.extend(parent.and_then(|p| self.turns[p]));
        out.extend(right_angles());
        out.push(turned_onto(Quat::IDENTITY, bones));
        out
    }

    /// Whether a joint stands at its rest over the clip.
    fn is_rest(&self, (transfer, looks): (&Transfer, &Looks), ours: usize) -> bool {
        let (Some(turn), Some(theirs)) = (self.turns[ours], transfer.counterparts[ours]) else {
            return transfer.counterparts[ours].is_none();
        };
        let rest = rotation(&transfer.target_rest[ours]);
        let is_there = |pose: &Vec<Mat4>| {
            (rotation(&pose[theirs]) * turn).dot(rest).abs() > 1.0 - 0.01 * SAME_REST
        };
        looks.poses.iter().all(is_there)
    }

    /// How far from its rest a joint is over the clip, in the mean, with such axes [rad].
    fn away(
        &self,
        (transfer, looks): (&Transfer, &Looks),
        (ours, theirs): (usize, usize),
        turn: Quat,
    ) -> f32 {
        let node = &transfer.target.skeleton.nodes()[ours];
        let off = |pose: &Vec<Mat4>| {
            let above = node.parent.map_or(Quat::IDENTITY, |p| self.world(transfer, pose, p));
            let local = above.inverse() * rotation(&pose[theirs]) * turn;
            local.angle_between(node.rest.rotation)
        };
        looks.poses.iter().map(off).sum::<f32>() / looks.poses.len() as f32
    }

    /// How one of our joints stands in a pose of the source.
    fn world(&self, transfer: &Transfer, pose: &[Mat4], ours: usize) -> Quat {
        match (self.turns[ours], transfer.counterparts[ours]) {
            (Some(turn), Some(theirs)) => rotation(&pose[theirs]) * turn,
            _ => rotation(&transfer.target_rest[ours]),
        }
    }

    /// Whether a joint is where the clip puts it.
    pub(super) fn is_placed(&self, ours: usize) -> bool {
        self.are_placed[ours]
    }

    /// What one of our joints does when its counterpart stands at `now`, below `parent`: its local turn, and its place
    /// where that is the clip's.
    pub(super) fn motion(&self, (ours, now): (usize, &Mat4), parent: &Mat4) -> JointMotion {
        let turn = self.turns[ours].unwrap_or(Quat::IDENTITY);
        let world = rotation(now) * turn;
        // Both stand in the same place: what they differ in is their size.
        let place = self.ratio * now.w_axis.truncate();
        JointMotion { rotation: (rotation(parent).inverse() * world).normalize(), place }
    }
}

/// How many bones a turn fits.
fn fitting(turn: Quat, bones: &[(Vec3, Vec3)]) -> usize {
    let fits = |b: &&(Vec3, Vec3)| (turn * b.0).distance(b.1) <= FITS * b.0.length();
    bones.iter().filter(fits).count()
}

/// From one joint to another, in the axes of the first [m].
fn offset(from: &Mat4, to: &Mat4) -> Vec3 {
    rotation(from).inverse() * (to.w_axis - from.w_axis).truncate()
}

/// All turns by right angles, the smallest first.
fn right_angles() -> Vec<Quat> {
    let mut out: Vec<Quat> = Vec::new();
    for (x, y, z) in (0..64).map(|k| (k / 16, k / 4 % 4, k % 4)) {
        let [x, y, z] = [x, y, z].map(|quarter| quarter as f32 * FRAC_PI_2);
        let turn = Quat::from_euler(glam::EulerRot::XYZ, x, y, z);
        if out.iter().all(|known| known.dot(turn).abs() < 0.99) {
            out.push(turn);
        }
    }
    out.sort_by(|a, b| b.w.abs().total_cmp(&a.w.abs()));
    out
}

impl Transfer<'_> {
    /// The ratio of lengths that most bones have: handles must not count.
    fn usual_ratio(&self, size: f32) -> Option<f32> {
        let joints = self.counterparts.iter().enumerate();
        let pairs = joints.filter_map(|(ours, theirs)| Some((ours, (*theirs)?)));
        let bones = pairs.flat_map(|pair| self.own_bones(pair, size, 1.0));
        let mut ratios: Vec<f32> = bones
            .map(|b| b.ours.length() / b.theirs.length())
            .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
            .collect();
        ratios.sort_by(f32::total_cmp);
        ratios.get(ratios.len() / 2).copied()
    }

    /// Which joints hang on bones of other lengths than their counterparts, or on bones that the clip turns or stretches
    /// by itself, without the joint above; `None` where that are too many for it to be the same rig.
    fn placed(&self, looks: &Looks, size: f32, ratio: f32) -> Option<Vec<bool>> {
        let mut placed = vec![false; self.counterparts.len()];
        let (mut all, mut others) = (0, 0);
        for (ours, theirs) in self.counterparts.iter().enumerate() {
            let Some(theirs) = *theirs else { continue };
            for bone in self.own_bones((ours, theirs), size, ratio) {
                let (own, their) = (bone.ours.length(), bone.theirs.length());
                let is_other = (own - their).abs() > FITS * own + SAME_REST * size;
                let Some(end) = self.counterparts[bone.child] else { continue };
                let varies = |pose: &Vec<Mat4>| {
                    let now = ratio * offset(&pose[theirs], &pose[end]);
                    now.distance(bone.theirs) > 0.5 * FITS * their
                };
                placed[bone.child] = is_other || looks.poses.iter().any(varies);
                all += 1;
                others += usize::from(placed[bone.child]);
            }
        }
        (all > 1 && OTHERS * others <= all).then_some(placed)
    }

    /// The bones that hang on a joint and have a direction.
    fn own_bones(&self, (ours, theirs): (usize, usize), size: f32, ratio: f32) -> Vec<Bone> {
        let nodes = self.target.skeleton.nodes();
        let mut out = Vec::new();
        for child in (0..nodes.len()).filter(|&c| nodes[c].parent == Some(ours)) {
            let Some(other) = self.counterparts[child] else { continue };
            // Where hips are is the saved pose's, too.
            if self.travels[child] || self.source.skeleton.nodes()[other].parent != Some(theirs) {
                continue;
            }
            let own = offset(&self.target_rest[ours], &self.target_rest[child]);
            let their = ratio * offset(&self.source_rest[theirs], &self.source_rest[other]);
            // Helper joints often lie on their parent and have no direction.
            if own.length() > 10.0 * SAME_REST * size {
                out.push(Bone { child, ours: own, theirs: their });
            }
        }
        out
    }
}
