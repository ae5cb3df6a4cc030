//! A clip of one skeleton on another.
//!
//! Where both have the same rest pose, tracks are taken over as they are. Else every joint turns in
//! the world as its counterpart does, from a rest pose that is first brought into the other's:
//!
//! ```text
//!   turn  = world_source(t) · world_source(rest)⁻¹          what the counterpart did
//!   align = turn of our bones onto theirs at rest            T pose against A pose
//!   world_target(t) = turn · align · world_target(rest)
//! ```
//! Files that hold a motion and nothing else have no rest pose but the one they were saved in. Where their bones have the
//! lengths and the axes of ours, tracks mean the same on both and are taken over too; where only the axes differ, they are
//! found from the bones ([`axes`]).
//!
//! Only joints without a counterpart above them travel, and the hips below them, by as much as the skeletons
//! differ in size; bones keep their lengths.

mod axes;

use frisson::character::{
    Character, Clip, Interpolation, Pose, Sampling, Skeleton, Track, TrackTarget, Transform,
};
use glam::{Mat4, Quat, Vec3};
use thiserror::Error;

use super::names::{JointTable, match_joints};
use axes::JointAxes;

/// Difference below which rest transforms are the same, of a skeleton's size or of a turn [-].
const SAME_REST: f32 = 1e-4;
/// Most keys of a clip that was not made for this character.
const MAX_KEYS: usize = 1 << 20;

/// A clip that fits.
#[derive(Clone, Debug)]
pub struct Retargeted {
    /// The clip.
    pub clip: Clip,
    /// Joints that it moves.
    pub matched: usize,
    /// Moved joints of the source that have no counterpart.
    pub unmatched: Vec<String>,
    /// Whether tracks were taken over as they are: both rest alike, or have the same bones.
    pub same_rest: bool,
}

/// Why a clip does not fit.
#[derive(Debug, Error)]
pub enum RetargetError {
    /// No joint is in both.
    #[error(
        "none of the {theirs} joints that clip {clip:?} moves is in the character: name them in a table"
    )]
    NothingMatches {
        /// The clip.
        clip: String,
        /// Joints it moves.
        theirs: usize,
    },
    /// There is no such clip.
    #[error("there is no clip {0}")]
    NoClip(usize),
}

/// Makes a clip of `source` play on `target`.
pub fn retarget(
    source: &Character,
    clip: usize,
    target: &Character,
    table: &JointTable,
) -> Result<Retargeted, RetargetError> {
    let clip = source.clips.get(clip).ok_or(RetargetError::NoClip(clip))?;
    let counterparts = match_joints(&source.skeleton, &target.skeleton, table);
    let moved = moved_nodes(source, clip);
    let used = |node: usize| counterparts.contains(&Some(node));
    let matched = (0..moved.len()).filter(|&n| moved[n] && used(n)).count();
    let name = |n: usize| source.skeleton.nodes()[n].name.clone();
    if matched == 0 {
        let theirs = moved.iter().filter(|m| **m).count();
        return Err(RetargetError::NothingMatches { clip: clip.name.clone(), theirs });
    }
    let unmatched = (0..moved.len()).filter(|&n| moved[n] && !used(n)).map(name).collect();
    let transfer = Transfer::new(source, target, &counterparts, &moved);
    let is_motion_only = source.meshes.is_empty();
    let same_rest =
        rests_agree(source, target, &counterparts) || is_motion_only && transfer.bones_agree();
    let tracks = match same_rest {
        true => taken_over(clip, &counterparts),
        // Only where it must: taking tracks over keeps their keys and their interpolation.
        false => {
            let lost = is_motion_only && !transfer.rests_are_alike();
            let axes = lost.then(|| JointAxes::find(&transfer, clip)).flatten();
            transfer.tracks(clip, axes.as_ref())
        }
    };
    let clip = Clip { name: clip.name.clone(), tracks };
    Ok(Retargeted { clip, matched, unmatched, same_rest })
}

fn node_of(track: &Track) -> Option<usize> {
    match track.target {
        TrackTarget::Translation(n) | TrackTarget::Rotation(n) | TrackTarget::Scale(n) => Some(n),
        TrackTarget::MorphWeights(_) => None,
    }
}

fn moved_nodes(source: &Character, clip: &Clip) -> Vec<bool> {
    let mut moved = vec![false; source.skeleton.nodes().len()];
    for node in clip.tracks.iter().filter(|t| !t.times.is_empty()).filter_map(node_of) {
        if let Some(slot) = moved.get_mut(node) {
            *slot = true;
        }
    }
    moved
}

/// Whether all matched joints have the same local rest and the same parent.
fn rests_agree(source: &Character, target: &Character, counterparts: &[Option<usize>]) -> bool {
    let size = spread(&rest_origins(&target.skeleton)).max(f32::MIN_POSITIVE);
    let same = |a: &Transform, b: &Transform| {
        a.translation.distance(b.translation) <= SAME_REST * size
            && a.rotation.dot(b.rotation).abs() >= 1.0 - SAME_REST * SAME_REST
            && a.scale.distance(b.scale) <= SAME_REST
    };
    counterparts.iter().enumerate().all(|(ours, theirs)| {
        let Some(theirs) = *theirs else { return true };
        let (ours, theirs) = (&target.skeleton.nodes()[ours], &source.skeleton.nodes()[theirs]);
        let parents = match (ours.parent.and_then(|p| counterparts[p]), theirs.parent) {
            (Some(a), Some(b)) => a == b,
            (None, None) => ours.parent.is_none(),
            _ => false,
        };
        parents && same(&ours.rest, &theirs.rest)
    })
}

fn taken_over(clip: &Clip, counterparts: &[Option<usize>]) -> Vec<Track> {
    let mut out = Vec::new();
    for (ours, theirs) in counterparts.iter().enumerate() {
        let Some(theirs) = theirs else { continue };
        for track in clip.tracks.iter().filter(|t| node_of(t) == Some(*theirs)) {
            let target = match track.target {
                TrackTarget::Translation(_) => TrackTarget::Translation(ours),
                TrackTarget::Rotation(_) => TrackTarget::Rotation(ours),
                TrackTarget::Scale(_) => TrackTarget::Scale(ours),
                TrackTarget::MorphWeights(_) => continue,
            };
            out.push(Track { target, ..track.clone() });
        }
    }
    out
}

fn rest_matrices(skeleton: &Skeleton) -> Vec<Mat4> {
    let mut world = vec![Mat4::IDENTITY; skeleton.nodes().len()];
    for &node in skeleton.parents_first() {
        let entry = &skeleton.nodes()[node];
        let parent = entry.parent.map_or(Mat4::IDENTITY, |p| world[p]);
        world[node] = parent * entry.rest.matrix();
    }
    world
}

fn rest_origins(skeleton: &Skeleton) -> Vec<Vec3> {
    rest_matrices(skeleton).iter().map(|m| m.w_axis.truncate()).collect()
}

/// Root mean square distance from the middle.
fn spread(points: &[Vec3]) -> f32 {
    let count = points.len().max(1) as f32;
    let middle = points.iter().sum::<Vec3>() / count;
    (points.iter().map(|p| p.distance_squared(middle)).sum::<f32>() / count).sqrt()
}

fn rotation(matrix: &Mat4) -> Quat {
    frisson::character::rotation_of(*matrix)
}

/// What a joint does at a time.
struct JointMotion {
    /// Its turn, in the axes of the one above it.
    rotation: Quat,
    /// Where it is in the world, if that is the clip's [m].
    place: Vec3,
}

struct Transfer<'a> {
    source: &'a Character,
    target: &'a Character,
    counterparts: &'a [Option<usize>],
    moved: &'a [bool],
    source_rest: Vec<Mat4>,
    target_rest: Vec<Mat4>,
    /// From the source's axes to the target's.
    turn: Quat,
    /// Of every target joint: brings its bone at rest where the source's is.
    aligns: Vec<Quat>,
    /// Whether a target joint's place is the clip's.
    travels: Vec<bool>,
    /// Size of the target over that of the source.
    ratio: f32,
}

impl<'a> Transfer<'a> {
    fn new(
        source: &'a Character,
        target: &'a Character,
        counterparts: &'a [Option<usize>],
        moved: &'a [bool],
    ) -> Self {
        let source_rest = rest_matrices(&source.skeleton);
        let target_rest = rest_matrices(&target.skeleton);
        let origin = |m: &Mat4| m.w_axis.truncate();
        let pairs = counterparts.iter().enumerate().filter_map(|(ours, theirs)| {
            Some((origin(&source_rest[(*theirs)?]), origin(&target_rest[ours])))
        });
        let (theirs, ours): (Vec<Vec3>, Vec<Vec3>) = pairs.unzip();
        let ratio = size_ratio(target, counterparts, &source_rest, &target_rest);
        let turn = axes_turn(&theirs, &ours);
        let mut out = Self {
            source,
            target,
            counterparts,
            moved,
            source_rest,
            target_rest,
            turn,
            aligns: Vec::new(),
            travels: Vec::new(),
            ratio,
        };
        out.travels = out.travellers();
        out.aligns = out.build_aligns();
        out
    }

    /// Whether every bone of the source is one of the target's, in length and in the axes of the joint that it hangs on:
    /// then the same turns put both into the same pose, whatever pose either was saved in. A bone's own twist is not
    /// seen by this; rigs that differ in nothing else do not differ in that.
    fn bones_agree(&self) -> bool {
        let nodes = self.target.skeleton.nodes();
        let size = spread(&rest_origins(&self.target.skeleton)).max(f32::MIN_POSITIVE);
        (0..nodes.len()).all(|ours| {
            let Some(theirs) = self.counterparts[ours] else { return true };
            let (own, other) = (&nodes[ours], &self.source.skeleton.nodes()[theirs]);
            let is_alike = own.rest.scale.distance(other.rest.scale) <= SAME_REST
                // Hips are where the saved pose has left them.
                && (self.travels[ours]
                    || own.rest.translation.distance(other.rest.translation) <= SAME_REST * size);
            is_alike
                && match (own.parent, other.parent) {
                    (Some(a), Some(b)) if self.counterparts[a] == Some(b) => true,
                    // What nothing of the other stands for must carry both alike.
                    (a, b) => {
                        let a = a.map_or(Mat4::IDENTITY, |a| self.target_rest[a]);
                        let b = b.map_or(Mat4::IDENTITY, |b| self.source_rest[b]);
                        a.abs_diff_eq(b, SAME_REST * size.max(1.0))
                    }
                }
        })
    }

    /// Of every joint: the turn that brings its bones at rest onto those of its counterpart.
    ///
    /// A joint is first turned as the one above it, then its longest bone by the shortest way, then about that bone as
    /// the others want it. From the world's axes alone each joint would find its own shortest way: of a figure that was
    /// saved facing aside, the legs would stay behind and the hips be wrung.
    fn build_aligns(&self) -> Vec<Quat> {
        let nodes = self.target.skeleton.nodes();
        let mut aligns = vec![Quat::IDENTITY; nodes.len()];
        for &ours in self.target.skeleton.parents_first() {
            let above = nodes[ours].parent.map_or(Quat::IDENTITY, |parent| aligns[parent]);
            aligns[ours] = turned_onto(above, &self.bones_below(ours));
        }
        aligns
    }

    /// The bones from a joint to its children that are bones of its counterpart too, at rest: ours, and theirs in our
    /// axes.
    fn bones_below(&self, ours: usize) -> Vec<(Vec3, Vec3)> {
        let Some(theirs) = self.counterparts[ours] else { return Vec::new() };
        let origin = |m: &Mat4| m.w_axis.truncate();
        let nodes = self.target.skeleton.nodes();
        let bone = |c: usize| {
            let child = self.counterparts[c]?;
            // Names may match across limbs: only what is a bone in both counts.
            let below = self.source.skeleton.is_below(child, theirs) && child != theirs;
            let a = origin(&self.target_rest[c]) - origin(&self.target_rest[ours]);
            let b = origin(&self.source_rest[child]) - origin(&self.source_rest[theirs]);
            // Helper joints often lie on their parent and have no direction.
            let whole = a.length_squared() > 0.0 && b.length_squared() > 0.0;
            (below && whole).then(|| (a, self.turn * b))
        };
        let children = (0..nodes.len()).filter(|&c| nodes[c].parent == Some(ours));
        children.filter_map(bone).collect()
    }

    /// Whether all bones point the same way at rest: then it is one rest pose, whatever axes joints have in it.
    fn rests_are_alike(&self) -> bool {
        let is_none = |turn: &Quat| turn.dot(Quat::IDENTITY).abs() >= 1.0 - SAME_REST;
        self.aligns.iter().all(is_none)
    }

    fn tracks(&self, clip: &Clip, axes: Option<&JointAxes>) -> Vec<Track> {
        let times = key_times(clip);
        let nodes = self.target.skeleton.nodes();
        let mut rotations: Vec<Vec<f32>> = vec![Vec::new(); nodes.len()];
        let mut places: Vec<Vec<f32>> = vec![Vec::new(); nodes.len()];
        let mut pose = Pose::default();
        let mut world = self.target_rest.clone();
        for &time in &times {
            let sampling = Sampling::AsAuthored;
            pose.set(self.source, Some(clip), f64::from(time), sampling, Mat4::IDENTITY);
            for &ours in self.target.skeleton.parents_first() {
                let parent = nodes[ours].parent.map_or(Mat4::IDENTITY, |p| world[p]);
                let mut local = nodes[ours].rest;
                if let Some(theirs) = self.counterparts[ours] {
                    let now = &pose.world_from_node[theirs];
                    let does = match axes {
                        Some(axes) => axes.motion((ours, now), &parent),
                        None => self.motion((ours, theirs), now, &parent),
                    };
                    local.rotation = does.rotation;
                    if self.travels[ours] || axes.is_some_and(|axes| axes.is_placed(ours)) {
                        local.translation = parent.inverse().transform_point3(does.place);
                        places[ours].extend(local.translation.to_array());
                    }
                    rotations[ours].extend(local.rotation.to_array());
                }
                world[ours] = parent * local.matrix();
            }
        }
        self.collect(&times, rotations, places)
    }

    fn collect(
        &self,
        times: &[f32],
        rotations: Vec<Vec<f32>>,
        places: Vec<Vec<f32>>,
    ) -> Vec<Track> {
        let track = |target: TrackTarget, values: Vec<f32>, width: usize| Track {
            target,
            interpolation: Interpolation::Linear,
            times: times.to_vec(),
            values,
            width,
        };
        let mut out = Vec::new();
        for (node, (turns, steps)) in rotations.into_iter().zip(places).enumerate() {
            // A joint that is scaled to nothing has no way back to its axes: it keeps its rest.
            if !steps.is_empty() && steps.iter().all(|n| n.is_finite()) {
                out.push(track(TrackTarget::Translation(node), steps, 3));
            }
            if !turns.is_empty() && turns.iter().all(|n| n.is_finite()) {
                out.push(track(TrackTarget::Rotation(node), turns, 4));
            }
        }
        out
    }

    /// What a joint does when its counterpart stands at `now`.
    fn motion(&self, (ours, theirs): (usize, usize), now: &Mat4, parent: &Mat4) -> JointMotion {
        let place = self.place(ours, theirs, now);
        JointMotion { rotation: self.local_rotation(ours, theirs, now, parent), place }
    }

    fn local_rotation(&self, ours: usize, theirs: usize, now: &Mat4, parent: &Mat4) -> Quat {
        let turned = rotation(now) * rotation(&self.source_rest[theirs]).inverse();
        // The same turn in our axes.
        let turned = self.turn * turned * self.turn.inverse();
        let world = turned * self.aligns[ours] * rotation(&self.target_rest[ours]);
        (rotation(parent).inverse() * world).normalize()
    }

    /// Joints whose place is the clip's: those with nothing above them that the clip moves, and below these the first that
    /// limbs branch from. Rigs often have hips that bob below a root that stays on the ground.
    fn travellers(&self) -> Vec<bool> {
        let nodes = self.target.skeleton.nodes();
        let moves = |node: usize| self.counterparts[node].is_some_and(|theirs| self.moved[theirs]);
        let parents_first = self.target.skeleton.parents_first();
        // Limbs below each joint in which the clip moves something.
        let mut limbs = vec![0usize; nodes.len()];
        for &node in parents_first.iter().rev() {
            if let Some(parent) = nodes[node].parent.filter(|_| moves(node) || limbs[node] > 0) {
                limbs[parent] += 1;
            }
        }
        // Below a joint with several moved limbs places follow from the bones.
        let (mut is_carried, mut is_below) = (vec![false; nodes.len()], vec![false; nodes.len()]);
        let mut travels = vec![false; nodes.len()];
        for &node in parents_first {
            if let Some(parent) = nodes[node].parent {
                let branches = moves(parent) && limbs[parent] > 1;
                is_carried[node] = is_carried[parent] || branches;
                is_below[node] = is_below[parent] || moves(parent);
            }
            travels[node] = self.counterparts[node].is_some()
                && !is_carried[node]
                && (!is_below[node] || limbs[node] > 1);
        }
        travels
    }

    fn place(&self, ours: usize, theirs: usize, now: &Mat4) -> Vec3 {
        let origin = |m: &Mat4| m.w_axis.truncate();
        let step = origin(now) - origin(&self.source_rest[theirs]);
        origin(&self.target_rest[ours]) + self.ratio * (self.turn * step)
    }
}

/// Least part of the bones of a joint that has to stand off the longest one to tell its twist [-].
const ASIDE: f32 = 0.05;

/// `above` turned on until the longest of some bones lies on its counterpart, and about that until the others come
/// nearest to theirs.
fn turned_onto(above: Quat, bones: &[(Vec3, Vec3)]) -> Quat {
    let longest = bones.iter().max_by(|x, y| x.0.length().total_cmp(&y.0.length()));
    let Some(&(a, b)) = longest else { return above };
    let axis = b.normalize();
    let swung = Quat::from_rotation_arc((above * a).normalize(), axis) * above;
    // The angle about the axis that makes the sum of products largest, by its sine and cosine.
    let (mut sine, mut cosine, mut all) = (0.0f32, 0.0f32, 0.0f32);
    for &(a, b) in bones {
        let (a, b) = (swung * a, b);
        let (from, to) = (a.reject_from_normalized(axis), b.reject_from_normalized(axis));
        sine += axis.dot(from.cross(to));
        cosine += from.dot(to);
        all += a.length() * b.length();
    }
    // Bones in one line say nothing about a twist, and rounding must not.
    match sine.hypot(cosine) > ASIDE * all {
        true => Quat::from_axis_angle(axis, sine.atan2(cosine)) * swung,
        false => swung,
    }
}

/// Length of the target's bones over that of their counterparts: however the two stand.
fn size_ratio(
    target: &Character,
    counterparts: &[Option<usize>],
    source_rest: &[Mat4],
    target_rest: &[Mat4],
) -> f32 {
    let length =
        |rest: &[Mat4], a: usize, b: usize| (rest[a].w_axis - rest[b].w_axis).truncate().length();
    let (mut ours, mut theirs) = (0.0, 0.0);
    for (joint, node) in target.skeleton.nodes().iter().enumerate() {
        let Some(parent) = node.parent else { continue };
        if let (Some(a), Some(b)) = (counterparts[joint], counterparts[parent]) {
            ours += length(target_rest, joint, parent);
            theirs += length(source_rest, a, b);
        }
    }
    if ours > 0.0 && theirs > 0.0 { ours / theirs } else { 1.0 }
}

/// How much better than others no turn at all counts [-]: rests that differ in an arm must not turn the whole.
const UNTURNED: f32 = 1.05;
/// Keys this near are one [s]: programs round the same key differently on different tracks.
const SAME_KEY: f32 = 1e-5;

/// All key times of a clip, thinned where there are too many.
fn key_times(clip: &Clip) -> Vec<f32> {
    let mut times: Vec<f32> = clip.tracks.iter().flat_map(|t| t.times.iter().copied()).collect();
    times.sort_by(f32::total_cmp);
    times.dedup_by(|a, b| *a - *b < SAME_KEY);
    let step = times.len().div_ceil(MAX_KEYS).max(1);
    times.into_iter().step_by(step).collect()
}

/// The turn by right angles that brings one cloud of joints onto the other: files differ in which
/// way is up and which is ahead.
fn axes_turn(theirs: &[Vec3], ours: &[Vec3]) -> Quat {
    let middle = |points: &[Vec3]| points.iter().sum::<Vec3>() / points.len().max(1) as f32;
    let (a, b) = (middle(theirs), middle(ours));
    let axes = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z];
    let mut best = (f32::NEG_INFINITY, Quat::IDENTITY);
    for x in axes {
        for y in axes.into_iter().filter(|y| y.dot(x) == 0.0) {
            let turn = Quat::from_mat3(&glam::Mat3::from_cols(x, y, x.cross(y)));
            // The sum of products is largest where both clouds lie the same way.
            let fit: f32 =
                theirs.iter().zip(ours).map(|(p, q)| (turn * (*p - a)).dot(*q - b)).sum();
            // Equal fits, as of a single chain of joints, stay as they are.
            let fit = if (x, y) == (Vec3::X, Vec3::Y) { fit * UNTURNED } else { fit };
            if fit > best.0 {
                best = (fit, turn);
            }
        }
    }
    best.1
}
