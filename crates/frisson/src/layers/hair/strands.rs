//! The visible hairs: pure functions of the wisps and of each hair's number.
//!
//! A hair goes through one point in every plane of its wisp (its place in the unit disc, scaled by
//! the envelope) along a Catmull-Rom curve, starts exactly on the skin and ends at its own length.
//! What depends on the hair alone is worked out once (`build_places`); the rest runs on four hairs at
//! a time (`four_hairs`).

use glam::{Vec2, Vec3, Vec4};
use rayon::prelude::*;

use super::beneath::{Guess, NO_GUESS};
use super::bodies::PosedBody;
use super::four_hairs::FourHairs;
use super::rest::{HairRest, SkinPoint};
use super::state::{Past, Wisp};
use super::strand_params::StrandParams;
use super::strand_planes::Planes;
use super::thinning::Thinning;
use crate::geometry::{Attribute, AttributeValues, OpenAir};
use crate::math::random;
use crate::stage::{Curves, SurfaceMotion};

/// What the strands of one frame are made from.
pub(super) struct StrandInput<'a> {
    pub rest: &'a HairRest,
    pub params: &'a StrandParams,
    pub seed: u64,
    pub wisps: &'a [Wisp],
    /// Wisps of each root, ascending in path.
    pub of_root: &'a [Vec<u32>],
    /// Root of every hair on the skin [m].
    pub skin: &'a [Vec3],
    pub bodies: &'a [PosedBody],
    pub meshes: &'a [SurfaceMotion],
    /// The air around each of them; none where nothing is known of it.
    pub air: &'a [OpenAir],
    /// Height above meshes at which hair rests [m].
    pub margin: f32,
    /// The wisps one step earlier, for velocities.
    pub before: Option<&'a Past>,
    /// Whether hairs are cut by arc length (straight hair) or by rest parameter (springy).
    pub by_length: bool,
    /// Which hairs are shown.
    pub thinning: Thinning,
}

/// Sets up everything of the curves that stays the same.
pub(super) fn build_curves(
    (name, params): (&str, &StrandParams),
    rest: &HairRest,
    roots: &[SkinPoint],
    uvs: &[Vec2],
    triangles: &[[u32; 3]],
) -> Curves {
    let hairs = rest.hair_roots.len();
    let points = params.points as usize;
    let widths: Vec<f32> = (0..points).map(|k| taper(params, k)).collect();
    let root_uvs = if uvs.is_empty() {
        Vec::new()
    } else {
        let uv = |p: &SkinPoint| {
            let corners = triangles[p.triangle as usize];
            (0..3).map(|k| p.barycentric[k] * uvs[corners[k] as usize]).sum()
        };
        roots.iter().map(uv).collect()
    };
    Curves {
        name: name.to_owned(),
        counts: vec![points as u32; hairs],
        points: vec![Vec3::ZERO; hairs * points],
        velocities: vec![Vec3::ZERO; if params.velocities { hairs * points } else { 0 }],
        widths: widths.iter().copied().cycle().take(hairs * points).collect(),
        ids: (0..hairs as u64).collect(),
        root_uvs,
        attributes: root_normals(params, hairs),
        color: rest.color(params),
    }
}

/// Room for the normal of the skin at every root, where it is wanted.
fn root_normals(params: &StrandParams, hairs: usize) -> Vec<Attribute> {
    let values = AttributeValues::Vector(vec![Vec3::ZERO; hairs]);
    let all = params.root_normals.then(|| Attribute { name: "root_normal".to_owned(), values });
    all.into_iter().collect()
}

/// Width of a hair at one of its points [m].
pub(super) fn taper(params: &StrandParams, point: usize) -> f32 {
    let last = (params.points - 1).max(1) as f32;
    params.width * (1.0 + (params.tip - 1.0) * point as f32 / last)
}

/// Works out what depends on a hair alone, from its number: its place in every plane (where it
/// starts, how it wanders, how hairs draw together towards the tip or stand away) and its length.
pub(super) fn build_places(params: &StrandParams, seed: u64, disc: Vec2, rest: &mut HairRest) {
    let id = rest.shares.len() as u64;
    let mut stream = Stream::new(seed, id);
    rest.shares.push(1.0 - 0.5 * (stream.signed() + 1.0) * params.length_variation);
    let stray = 0.5 * (stream.signed() + 1.0) < params.strays;
    let last = (rest.count - 1) as f32;
    let mut disc = disc;
    let mut place = |plane: usize| {
        if plane > 1 {
            disc.x += params.wander * stream.signed();
            disc.y += params.wander * stream.signed();
            let beyond = disc.length_squared();
            // A walk that leaves the disc is put back on its rim: no hair outside of the envelope.
            if beyond > 1.0 {
                disc /= beyond.sqrt();
            }
        }
        let along = plane as f32 / last;
        let stands_away = if stray { params.stray_distance * along } else { 0.0 };
        disc * (1.0 - params.clump * along * along + stands_away)
    };
    for k in 0..rest.place_pairs() {
        let (a, b) = (place(2 * k + 1), place(2 * k + 2));
        rest.places.push(Vec4::new(a.x, a.y, b.x, b.y));
    }
}

/// Puts the hairs of a wisp in an order in which four that follow each other are neighbours: along rows across
/// the wisp, to and fro. Four hairs are laid at a time, and those that lie together meet the same things.
pub(super) fn deal_neighbours(rest: &mut HairRest, wisp: usize) {
    let (hairs, pairs) = (rest.per_wisp, rest.place_pairs());
    let place = |id: u32| rest.places[id as usize * pairs];
    let mut own: Vec<u32> = (wisp * hairs..(wisp + 1) * hairs).map(|id| id as u32).collect();
    own.sort_by(|&a, &b| place(a).y.total_cmp(&place(b).y));
    // As many rows that a patch of four is about as wide as it is long.
    let rows = (0.5 * (hairs as f32).sqrt()).ceil().max(1.0) as usize;
    for (row, own) in own.chunks_mut(hairs.div_ceil(rows).max(1)).enumerate() {
        own.sort_by(|&a, &b| place(a).x.total_cmp(&place(b).x));
        if row % 2 == 1 {
            own.reverse();
        }
    }
    rest.order.extend(own);
}

/// What may lie beneath the points of every root's hairs and beneath the middles of the ways to them, from
/// frame to frame: it makes searches shorter and changes no answer.
pub(super) type RootGuesses = Vec<[Guess; 2]>;

/// Makes room for guesses, where there are meshes to guess about.
fn fit_guesses(input: &StrandInput, per_root: usize, guesses: &mut Vec<RootGuesses>) {
    let each = if input.meshes.is_empty() { 0 } else { per_root };
    guesses.resize_with(input.of_root.len(), Vec::new);
    for own in guesses.iter_mut().filter(|own| own.len() != each) {
        own.clear();
        own.resize(each, [NO_GUESS; 2]);
    }
}

/// Writes the points of every hair, and their velocities if they are wanted.
pub(super) fn write_strands(
    input: &StrandInput,
    guesses: &mut Vec<RootGuesses>,
    points: &mut [Vec3],
    velocities: &mut [Vec3],
) {
    // Root by root: the hairs of one root lie together in memory, whatever wisps it has split into.
    let per_root = input.rest.per_wisp * input.params.points as usize;
    if per_root == 0 {
        return;
    }
    fit_guesses(input, per_root, guesses);
    // Several roots at a time where there are many: what they are worked in is as large as what is written.
    let group = (input.of_root.len() / GROUPS).clamp(1, MOST_TOGETHER);
    let work = points.par_chunks_mut(group * per_root).zip(guesses.par_chunks_mut(group));
    if input.before.is_none() || velocities.is_empty() {
        return work.enumerate().for_each(|(number, (points, guesses))| {
            write_roots(input, number * group, (points, guesses), &mut []);
        });
    }
    let work = work.zip(velocities.par_chunks_mut(group * per_root));
    work.enumerate().for_each(|(number, ((points, guesses), velocities))| {
        write_roots(input, number * group, (points, guesses), velocities);
    });
}

/// Groups of roots that are written side by side, and roots of a group, at most.
const GROUPS: usize = 128;
const MOST_TOGETHER: usize = 8;

/// Writes the hairs of some roots. Never inlined: its room must not be part of the frames of those who share the
/// work among threads, which call themselves many times over.
#[inline(never)]
fn write_roots(
    input: &StrandInput,
    first: usize,
    (points, guesses): (&mut [Vec3], &mut [RootGuesses]),
    velocities: &mut [Vec3],
) {
    let room = &mut Room::new();
    let per_root = input.rest.per_wisp * input.params.points as usize;
    let mut velocities = velocities.chunks_mut(per_root);
    let roots = points.chunks_mut(per_root).zip(guesses).enumerate();
    for (k, (points, guesses)) in roots {
        let velocities = velocities.next().unwrap_or_default();
        let to = (points, guesses.as_mut_slice());
        write_root(input, room, RootStrands::new(input, first + k, to, velocities));
    }
}

/// What is written of one root.
struct RootStrands<'a> {
    root: usize,
    /// Its first hair.
    first: usize,
    points: &'a mut [Vec3],
    guesses: &'a mut [[Guess; 2]],
    velocities: &'a mut [Vec3],
}

impl<'a> RootStrands<'a> {
    fn new(
        input: &StrandInput,
        root: usize,
        (points, guesses): (&'a mut [Vec3], &'a mut [[Guess; 2]]),
        velocities: &'a mut [Vec3],
    ) -> Self {
        Self { root, first: root * input.rest.per_wisp, points, guesses, velocities }
    }
}

/// What one thread works in: the planes and the hairs now, and those one tick earlier.
struct Room {
    planes: [Planes; 2],
    hairs: [FourHairs; 2],
}

impl Room {
    fn new() -> Self {
        Self { planes: [Planes::new(), Planes::new()], hairs: [FourHairs::new(), FourHairs::new()] }
    }
}

/// Writes the hairs of one root, which several wisps may share.
fn write_root(input: &StrandInput, room: &mut Room, mut out: RootStrands) {
    let samples = input.rest.directions.len();
    let first = out.first;
    for &index in &input.of_root[out.root] {
        let wisp = &input.wisps[index as usize];
        room.planes[0].set(wisp, samples);
        room.planes[0].find_near(input);
        let before = input.before.filter(|_| !out.velocities.is_empty());
        if let Some(before) = before {
            // A wisp that has just been born has no past: its hairs were its parent's.
            let known = before.roots.get(index as usize) == Some(&wisp.root);
            // As it is now first, so that what has no past stands still instead of coming from the origin.
            room.planes[1].set(wisp, samples);
            if known {
                room.planes[1].set_past(before, index as usize, samples);
            }
        }
        let hairs = &input.rest.order[first..first + input.rest.per_wisp];
        let mut own = hairs.iter().map(|id| *id as usize).filter(|&id| {
            (wisp.depth == 0 || belongs(id as u64, wisp)) && input.thinning.thickness(id) > 0.0
        });
        while let Some(id) = own.next() {
            let mut count = 1;
            room.hairs[0].ids = [id; 4];
            for next in own.by_ref().take(3) {
                room.hairs[0].ids[count] = next;
                count += 1;
            }
            write_four(input, before, room, count, &mut out);
        }
    }
}

/// Writes up to four hairs of one root.
fn write_four(
    input: &StrandInput,
    before: Option<&Past>,
    room: &mut Room,
    count: usize,
    out: &mut RootStrands,
) {
    let (root, first) = (out.root, out.first);
    let length = input.params.points as usize;
    let [now, past] = &mut room.hairs;
    now.set(input, &room.planes[0], input.skin);
    now.measure(input, root);
    let range = |id: usize| (id - first) * length..(id - first + 1) * length;
    let to = (&mut *out.points, &mut *out.guesses);
    now.write(input, &room.planes[0], root, (count, first), to);
    if let Some(before) = before {
        past.ids = now.ids;
        past.set(input, &room.planes[1], &before.skin);
        now.unfold();
        past.unfold();
        for hair in 0..count {
            let velocities = &mut out.velocities[range(now.ids[hair])];
            now.write_velocities(past, before.seconds, hair, velocities);
        }
    }
}

/// Whether a hair went with a wisp through all of the wisp's splits.
pub(super) fn belongs(hair: u64, wisp: &Wisp) -> bool {
    (0..wisp.depth).all(|level| side(hair, level) == (wisp.path >> level & 1))
}

/// Which half a hair goes with at a split.
pub(super) fn side(hair: u64, level: u8) -> u32 {
    (random::hash(0x5117, hair, u64::from(level)) & 1) as u32
}

/// Radius of an envelope in a direction, by angle between its samples.
pub(super) fn radius_at(radii: &[f32], direction: Vec2) -> f32 {
    let count = radii.len();
    let turn = direction.y.atan2(direction.x) / std::f32::consts::TAU;
    let at = (turn - turn.floor()) * count as f32;
    let below = (at as usize).min(count - 1);
    let t = at - below as f32;
    radii[below] * (1.0 - t) + radii[(below + 1) % count] * t
}

/// A cheap stream of numbers in [-1, 1) from a hair's seed.
pub(super) struct Stream(u64);

impl Stream {
    pub fn new(seed: u64, id: u64) -> Self {
        let mut stream = Self(random::hash(seed, id, 3));
        // The first number of a stream is too like its seed.
        stream.signed();
        stream
    }

    pub fn signed(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32) * (2.0 / (1u64 << 24) as f32) - 1.0
    }
}

/// A hair's points in the planes of its wisp, and its own length.
#[cfg(test)]
pub(super) fn control_points(input: &StrandInput, id: u64, wisp: &Wisp) -> (Vec<Vec3>, f32) {
    let mut planes = Planes::new();
    planes.set(wisp, input.rest.directions.len());
    let mut hairs = FourHairs::new();
    hairs.ids = [id as usize; 4];
    hairs.set(input, &planes, input.skin);
    let length = input.rest.roots[wisp.root as usize].length;
    (hairs.control_points(2), input.rest.shares[id as usize] * length)
}
