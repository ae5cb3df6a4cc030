//! What the layers do to a shot, as far as an eye can tell: when it is largest, where, and from which
//! side it is seen.
//!
//! Some frames are held beside the same frames as they were animated. Where a mesh is in both, a point
//! has moved by its distance to the surface that it had without layers: what slides along the skin
//! cannot be seen. Drops count where they lie on something.

use frisson::geometry::{Bounds, Mesh, TriangleBvh};
use frisson::stage::Frame;
use glam::Vec3;

use crate::shot::rig::Rig;

/// Height of the eye, in distances, when sides are compared [-]: a little from above, as cameras are.
pub(crate) const FROM_ABOVE: f32 = 0.2;
/// How much more the most telling frame must show than the least, for frames to be chosen by it [-].
const EVEN: f32 = 1.3;
/// Share of the way to the next chosen frame within which a better one is looked for [-]: two must not
/// meet.
const APART: f64 = 0.98;
/// Least part of the even distance between two chosen frames [-]: neighbours show the same twice.
const NEWS: f64 = 0.6;

/// How far off the skin a look towards the camera starts, and how far it goes, in sizes of the subject [-].
const OFF_SKIN: f32 = 2e-3;
pub(crate) const BEYOND_ALL: f32 = 4.0;

/// Points of one mesh that are looked at in a frame.
const MOST_POINTS: usize = 3000;
/// Part of the largest effect from which on a point belongs to where it happens.
const NOTABLE: f32 = 0.3;
/// Part of the subject's size below which nothing is to be seen.
const INVISIBLE: f32 = 2e-4;
/// Part of the subject's size within which a drop lies on it.
const TOUCHING: f32 = 0.01;
/// Frames whose points decide the side.
const DECIDING: usize = 3;
/// Points of each that do.
const WITNESSES: usize = 240;
/// Directions that are tried.
const SIDES: usize = 24;
/// By how much the usual side is preferred to the one opposite.
const HABIT: f32 = 0.12;

/// A place where a layer shows.
#[derive(Clone, Copy, Debug)]
struct Spot {
    at: Vec3,
    normal: Vec3,
    /// How far it is from where it would be [m].
    moved: f32,
}

/// One frame that was looked at.
struct Looked {
    number: i64,
    spots: Vec<Spot>,
    /// Everything solid, to tell what hides what; empty for frames that decide nothing.
    solid: Vec<TriangleBvh>,
    /// The subject's middle, on the ground plane.
    middle: Vec3,
}

/// What the layers do to a shot.
#[derive(Clone, Debug, Default)]
pub struct Effect {
    /// Frames that were looked at, with how much is to be seen in each: root mean square [m].
    pub frames: Vec<(i64, f32)>,
    /// Where most of it happens, around the subject's middle in each frame [m].
    pub region: Option<Bounds>,
    /// Angle around the vertical from which most of it is seen [degrees].
    pub yaw_deg: Option<f32>,
}

/// Gathers what some frames show.
pub(super) struct Watcher<'a> {
    rig: &'a Rig,
    /// Beginnings of the names of drops' shapes.
    drops: &'a [String],
    /// Size of the subject [m].
    size: f32,
    looked: Vec<Looked>,
    /// Where shapes are that layers added, around the subject's middle [m].
    added: Bounds,
}

impl<'a> Watcher<'a> {
    pub fn new(rig: &'a Rig, drops: &'a [String], size: f32) -> Self {
        Self { rig, drops, size, looked: Vec::new(), added: Bounds::EMPTY }
    }

    /// Looks at a frame whose subject stands around `middle`.
    pub fn look(&mut self, frame: &Frame, middle: Vec3) {
        let primary = self.rig.frame(frame.index, frame.time);
        let solid: Vec<&Mesh> =
            frame.meshes.iter().filter(|m| !is_drop(self.drops, &m.name)).collect();
        let mut spots = Vec::new();
        for mesh in &solid {
            let before = primary.meshes.iter().find(|p| p.name == mesh.name);
            before.into_iter().for_each(|p| add_moved(mesh, p, self.size, &mut spots));
        }
        let is_new = |m: &&&Mesh| !primary.meshes.iter().any(|p| p.name == m.name);
        let made = solid.iter().filter(is_new).flat_map(|m| &m.positions);
        for place in made.chain(frame.curves.iter().flat_map(|c| &c.points)) {
            self.added = self.added.including(*place - middle);
        }
        let trees: Vec<TriangleBvh> =
            solid.iter().map(|m| TriangleBvh::build(&m.positions, &m.topology.triangles)).collect();
        for mesh in frame.meshes.iter().filter(|m| is_drop(self.drops, &m.name)) {
            add_touching(mesh, &trees, self.size, &mut spots);
        }
        self.looked.push(Looked { number: frame.index, spots, solid: trees, middle });
        self.keep_the_best();
    }

    /// Forgets the solids of frames that will decide nothing: they are large.
    fn keep_the_best(&mut self) {
        let mut order: Vec<usize> = (0..self.looked.len()).collect();
        order.sort_by(|a, b| shown(&self.looked[*b]).total_cmp(&shown(&self.looked[*a])));
        for &index in order.iter().skip(DECIDING) {
            self.looked[index].solid.clear();
        }
    }

    /// What was seen; `usual_deg` is the side to take where others are no better.
    pub fn effect(self, usual_deg: f32) -> Effect {
        let frames = self.looked.iter().map(|l| (l.number, shown(l))).collect();
        let all = self.looked.iter().flat_map(|l| &l.spots);
        let largest = all.clone().map(|s| s.moved).fold(0.0, f32::max);
        if largest < INVISIBLE * self.size {
            return Effect { frames, ..Effect::default() };
        }
        let notable = |s: &&Spot| s.moved >= NOTABLE * largest;
        // What is new is to be seen whole.
        let mut region = self.added;
        for looked in &self.looked {
            for spot in looked.spots.iter().filter(notable) {
                region = region.including(spot.at - looked.middle);
            }
        }
        let mut best = (f32::NEG_INFINITY, usual_deg);
        for side in 0..SIDES {
            let turn = 360.0 * side as f32 / SIDES as f32;
            let yaw = usual_deg + turn;
            let seen: f32 = self.looked.iter().map(|l| seen_from(l, yaw, self.size)).sum();
            let value = seen * (1.0 + HABIT * turn.to_radians().cos());
            if value > best.0 {
                best = (value, yaw);
            }
        }
        let yaw_deg = (best.0 > 0.0).then_some((best.1 + 180.0).rem_euclid(360.0) - 180.0);
        Effect { frames, region: (!region.is_empty()).then_some(region), yaw_deg }
    }
}

/// Whether a shape belongs to a drops layer.
pub(super) fn is_drop(drops: &[String], name: &str) -> bool {
    let of = |d: &String| {
        name.strip_prefix(d.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    drops.iter().any(of)
}

/// How much is to be seen in a frame [m].
fn shown(looked: &Looked) -> f32 {
    let sum: f32 = looked.spots.iter().map(|s| s.moved * s.moved).sum();
    (sum / looked.spots.len().max(1) as f32).sqrt()
}

fn add_moved(mesh: &Mesh, before: &Mesh, size: f32, spots: &mut Vec<Spot>) {
    let tree = TriangleBvh::build(&before.positions, &before.topology.triangles);
    let step = mesh.positions.len().div_ceil(MOST_POINTS).max(1);
    for v in (0..mesh.positions.len()).step_by(step) {
        let at = mesh.positions[v];
        let normal = mesh.normals.get(v).copied().unwrap_or(Vec3::Y);
        // Farther than its own size is as far as anything can be seen to be.
        let moved = tree.closest_point(at, size).map_or(size, |c| c.distance);
        spots.push(Spot { at, normal, moved });
    }
}

/// Drops that lie on something, as if the surface had risen by a noticeable part of its size.
fn add_touching(drops: &Mesh, solid: &[TriangleBvh], size: f32, spots: &mut Vec<Spot>) {
    let step = drops.positions.len().div_ceil(MOST_POINTS).max(1);
    for &at in drops.positions.iter().step_by(step) {
        let nearest = solid
            .iter()
            .filter_map(|tree| Some((tree, tree.closest_point(at, TOUCHING * size)?)))
            .min_by(|a, b| a.1.distance.total_cmp(&b.1.distance));
        if let Some((tree, place)) = nearest {
            let normal = tree.face_normal(place.triangle);
            spots.push(Spot { at, normal, moved: TOUCHING * size });
        }
    }
}

/// How much of a frame's effect is turned to a side and not hidden from it.
fn seen_from(looked: &Looked, yaw_deg: f32, size: f32) -> f32 {
    if looked.solid.is_empty() {
        return 0.0;
    }
    let yaw = yaw_deg.to_radians();
    let to_eye = Vec3::new(yaw.sin(), FROM_ABOVE, yaw.cos()).normalize();
    let step = looked.spots.len().div_ceil(WITNESSES).max(1);
    let witness = |spot: &Spot| {
        let facing = spot.normal.dot(to_eye).max(0.0);
        let from = spot.at + spot.normal * (OFF_SKIN * size);
        let hidden = |tree: &TriangleBvh| tree.raycast(from, to_eye, BEYOND_ALL * size).is_some();
        if facing <= 0.0 || looked.solid.iter().any(hidden) { 0.0 } else { facing * spot.moved }
    };
    looked.spots.iter().step_by(step).map(witness).sum()
}

impl Effect {
    /// At most so many frames out of a range, in order, none twice: of each stretch of it the one that shows
    /// most, of a shot in which nothing differs the evenly spread ones.
    #[must_use]
    pub fn best_frames(&self, spread: &[i64]) -> Vec<i64> {
        let (Some(&first), Some(&last)) = (spread.first(), spread.last()) else {
            return Vec::new();
        };
        let inside = || self.frames.iter().filter(|(n, _)| (first..=last).contains(n));
        let most = inside().map(|f| f.1).fold(0.0, f32::max);
        let least = inside().map(|f| f.1).fold(f32::INFINITY, f32::min);
        // Where all frames show about the same, an even rhythm is worth more.
        if spread.len() < 2 || most <= EVEN * least {
            return spread.to_vec();
        }
        let reach = (last - first) as f64 / (spread.len() - 1) as f64 / 2.0;
        let mut chosen: Vec<i64> = Vec::new();
        for &center in spread {
            // Stretches overlap: what one of them has chosen, and what lies beside it, is no news in the next.
            let is_new = |n: i64| {
                let far = (2.0 * NEWS * reach).max(1.0);
                chosen.last().is_none_or(|last| (n - last) as f64 >= far)
            };
            let close = |n: i64| (n - center).abs() as f64 <= reach.max(0.5) * APART && is_new(n);
            // Of frames that show as much the one nearest to the rhythm.
            let off = |n: i64| (n - center).abs();
            let order = |a: &&(i64, f32), b: &&(i64, f32)| {
                a.1.total_cmp(&b.1).then(off(b.0).cmp(&off(a.0)))
            };
            let found = inside().filter(|(n, _)| close(*n)).max_by(order);
            let latest = (center as f64 + reach).floor() as i64;
            // Where nothing was looked at that is far enough: the first frame that is.
            let next = || (center..=latest.min(last)).find(|n| is_new(*n));
            chosen.extend(found.map(|f| f.0).or_else(next));
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_drops_are_told_by_their_layers_name() {
        let drops = ["rain".to_owned()];
        let is = |name: &str| is_drop(&drops, name);
        assert!(is("rain") && is("rain.points") && is("rain.trails"));
        assert!(!is("raincoat") && !is("hero/rain"));
    }

    #[test]
    fn each_stretch_gives_the_frame_that_shows_most() {
        let value = |n: i64| if n == 13 || n == 38 { 1.0 } else { 0.1 };
        let frames: Vec<(i64, f32)> = (0..=40).map(|n| (n, value(n))).collect();
        let effect = Effect { frames, ..Effect::default() };
        let best = effect.best_frames(&[0, 10, 20, 30, 40]);
        assert_eq!((best[1], best[4]), (13, 38));
        assert!(best.windows(2).all(|w| w[0] < w[1]), "{best:?}");
        // Two stretches whose best frame is the same one.
        let value = |n: i64| if n == 7 { 1.0 } else { 0.1 };
        let frames: Vec<(i64, f32)> = (0..=14).map(|n| (n, value(n))).collect();
        let best = Effect { frames, ..Effect::default() }.best_frames(&[0, 5, 9, 14]);
        assert!(best.windows(2).all(|w| w[0] < w[1]) && best.contains(&7), "{best:?}");
        // Two neighbours that show most, on both sides of the middle between two stretches: once is enough.
        let value = |n: i64| if n == 24 || n == 26 { 1.0 } else { 0.1 };
        let frames: Vec<(i64, f32)> = (0..=50).map(|n| (n, value(n))).collect();
        let best = Effect { frames, ..Effect::default() }.best_frames(&[0, 10, 20, 30, 40, 50]);
        assert_eq!(best.len(), 6, "{best:?}");
        assert!(best.windows(2).all(|w| w[1] - w[0] >= 6), "{best:?}");
        let even = Effect { frames: (0..=40).map(|n| (n, 1.0)).collect(), ..Effect::default() };
        assert_eq!(even.best_frames(&[0, 20, 40]), vec![0, 20, 40]);
    }
}
