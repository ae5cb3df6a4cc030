//! The visible hairs: pure functions of the wisps and of each hair's number.
//!
//! A hair goes through one point in every plane of its wisp (its place in the unit disc, scaled by
//! the envelope) along a Catmull-Rom curve, starts exactly on the skin and ends at its own length.

use glam::{Vec2, Vec3, Vec3A};
use rayon::prelude::*;

use super::chain::MAX_PARTICLES;
use super::contact::PosedBody;
use super::params::StrandParams;
use super::rest::HairRest;
use super::state::Wisp;
use super::strand_planes::{Planes, lift_off_meshes, push_out_of_bodies};
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
    pub triangles: &'a [[u32; 3]],
    pub skin: &'a [Vec3],
    pub bodies: &'a [PosedBody],
    pub meshes: &'a [SurfaceMotion],
    /// Height above meshes at which hair rests [m].
    pub margin: f32,
    /// The wisps and the skin one tick earlier, and the time since, for velocities.
    pub before: Option<Before<'a>>,
    /// Whether hairs are cut by arc length (straight hair) or by rest parameter (springy).
    pub by_length: bool,
}

/// The wisps one tick earlier.
#[derive(Clone, Copy)]
pub(super) struct Before<'a> {
    pub wisps: &'a [Wisp],
    pub skin: &'a [Vec3],
    pub dt: f32,
}

/// Sets up everything of the curves that stays the same.
pub(super) fn build_curves(
    name: &str,
    rest: &HairRest,
    params: &StrandParams,
    uvs: &[Vec2],
    triangles: &[[u32; 3]],
) -> Curves {
    let hairs = rest.hair_roots.len();
    let points = params.points as usize;
    let last = (points - 1).max(1) as f32;
    let taper = |k: usize| params.width * (1.0 + (params.tip - 1.0) * k as f32 / last);
    let widths: Vec<f32> = (0..points).map(taper).collect();
    let root_uvs = if uvs.is_empty() {
        Vec::new()
    } else {
        let uv = |p: &super::rest::SkinPoint| {
            let corners = triangles[p.triangle as usize];
            (0..3).map(|k| p.barycentric[k] * uvs[corners[k] as usize]).sum()
        };
        rest.hair_roots.iter().map(uv).collect()
    };
    Curves {
        name: name.to_owned(),
        counts: vec![points as u32; hairs],
        points: vec![Vec3::ZERO; hairs * points],
        velocities: vec![Vec3::ZERO; if params.velocities { hairs * points } else { 0 }],
        widths: widths.iter().copied().cycle().take(hairs * points).collect(),
        ids: (0..hairs as u64).collect(),
        root_uvs,
        color: Vec3::from_array(params.color),
        ..Curves::default()
    }
}

/// Writes the points of every hair, and their velocities if they are wanted.
pub(super) fn write_strands(input: &StrandInput, points: &mut [Vec3], velocities: &mut [Vec3]) {
    let per_root = input.rest.per_wisp * input.params.points as usize;
    if per_root == 0 {
        return;
    }
    let room = || [Planes::new(), Planes::new()];
    if input.before.is_none() || velocities.is_empty() {
        let work = points.par_chunks_mut(per_root).enumerate();
        return work.for_each_init(room, |planes, (root, points)| {
            write_root(input, root, planes, points, &mut []);
        });
    }
    let work = points.par_chunks_mut(per_root).zip(velocities.par_chunks_mut(per_root)).enumerate();
    work.for_each_init(room, |planes, (root, (points, velocities))| {
        write_root(input, root, planes, points, velocities);
    });
}

/// Writes the hairs of one root, which several wisps may share.
fn write_root(
    input: &StrandInput,
    root: usize,
    planes: &mut [Planes; 2],
    points: &mut [Vec3],
    velocities: &mut [Vec3],
) {
    let samples = input.rest.directions.len();
    for &index in &input.of_root[root] {
        let wisp = &input.wisps[index as usize];
        planes[0].set(wisp, samples);
        planes[0].find_near(input);
        write_wisp(input, root, wisp, &planes[0], points);
        if let (Some(before), false) = (&input.before, velocities.is_empty()) {
            // A wisp that has just been born has no past: its hairs were its parent's.
            let past = before.wisps.get(index as usize).filter(|w| w.root == wisp.root);
            planes[1].set(past.unwrap_or(wisp), samples);
            write_velocities(input, before, root, wisp, planes, velocities);
        }
    }
}

/// Velocities of the hairs of a wisp: of their points in the planes, along the same curve.
fn write_velocities(
    input: &StrandInput,
    before: &Before,
    root: usize,
    wisp: &Wisp,
    planes: &[Planes; 2],
    out: &mut [Vec3],
) {
    let points = input.params.points as usize;
    let (mut hair, mut past) = (Hair::new(), Hair::new());
    for (local, out) in out.chunks_exact_mut(points).enumerate() {
        let id = (root * input.rest.per_wisp + local) as u64;
        if wisp.depth > 0 && !belongs(id, wisp) {
            continue;
        }
        hair.control(input, root, id, &planes[0], input.skin);
        hair.measure();
        past.control(input, root, id, &planes[1], before.skin);
        let step = hair.tip(input.by_length) / (points - 1) as f32;
        for (a, b) in past.control[..hair.count].iter_mut().zip(&hair.control) {
            *a = (*b - *a) / before.dt;
        }
        for (k, out) in out.iter_mut().enumerate() {
            let (segment, t) = hair.segment(step * k as f32);
            let [a, b, c, d] = past.around(segment);
            *out = catmull_rom(a, b, c, d, t).into();
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
struct Stream(u64);

impl Stream {
    fn signed(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32) * (2.0 / (1u64 << 24) as f32) - 1.0
    }
}

fn write_wisp(input: &StrandInput, root: usize, wisp: &Wisp, planes: &Planes, out: &mut [Vec3]) {
    let points = input.params.points as usize;
    let mut hair = Hair::new();
    for (local, out) in out.chunks_exact_mut(points).enumerate() {
        let id = (root * input.rest.per_wisp + local) as u64;
        if wisp.depth > 0 && !belongs(id, wisp) {
            continue;
        }
        hair.control(input, root, id, planes, input.skin);
        hair.measure();
        hair.write(input, planes, root, out);
    }
}

/// One hair on its way from planes to points.
struct Hair {
    count: usize,
    control: [Vec3A; MAX_PARTICLES],
    /// Length of each segment of the curve [m].
    lengths: [f32; MAX_PARTICLES],
    own_length: f32,
    own_parameter: f32,
    stream: Stream,
    is_stray: bool,
    disc: Vec2,
}

impl Hair {
    fn new() -> Self {
        Self {
            count: 0,
            control: [Vec3A::ZERO; MAX_PARTICLES],
            lengths: [0.0; MAX_PARTICLES],
            own_length: 0.0,
            own_parameter: 0.0,
            stream: Stream(0),
            is_stray: false,
            disc: Vec2::ZERO,
        }
    }

    /// Points of the hair: its root on the skin, then one in every plane from the second on.
    fn control(
        &mut self,
        input: &StrandInput,
        root: usize,
        id: u64,
        planes: &Planes,
        skin: &[Vec3],
    ) {
        let rest = input.rest;
        let samples = rest.directions.len();
        self.stream = Stream(random::hash(input.seed, id, 3));
        self.stream.signed();
        let shorter = 0.5 * (self.stream.signed() + 1.0) * input.params.length_variation;
        self.own_length = rest.roots[root].length * (1.0 - shorter);
        self.own_parameter = 1.0 - shorter;
        let stray = 0.5 * (self.stream.signed() + 1.0) < input.params.strays;
        self.is_stray = stray;
        self.disc = rest.discs[id as usize];
        self.count = planes.count;
        let skin = rest.hair_roots[id as usize].place(input.triangles, skin);
        self.control[0] = skin.into();
        let last = (planes.count - 1) as f32;
        let mut disc = self.disc;
        for i in 1..planes.count {
            if i > 1 {
                disc.x += input.params.wander * self.stream.signed();
                disc.y += input.params.wander * self.stream.signed();
                let beyond = disc.length_squared();
                if beyond > 1.0 {
                    disc /= beyond.sqrt();
                }
            }
            let along = i as f32 / last;
            let mut scale = 1.0 - input.params.clump * along * along;
            if stray {
                scale += input.params.stray_distance * along;
            }
            self.control[i] = planes.point(i, disc * scale, samples);
        }
    }

    /// Arc length of every segment: its chord, and eight thirds of its bulge squared over the chord;
    /// by quadrature where it bends a lot.
    fn measure(&mut self) {
        for i in 0..self.count - 1 {
            let [a, b, c, d] = self.around(i);
            let chord = c - b;
            let length_sq = chord.length_squared().max(1.0e-18);
            // From the middle of the chord to the middle of the arc, the part across.
            let bulge = (b + c - a - d) * (1.0 / 16.0);
            let along = bulge.dot(chord);
            let across_sq = bulge.length_squared() - along * along / length_sq;
            let length = length_sq.sqrt();
            self.lengths[i] = if across_sq + along * along / length_sq < 2.0e-3 * length_sq {
                length + (8.0 / 3.0) * across_sq / length
            } else {
                arc_length([a, b, c, d])
            };
        }
    }

    fn around(&self, segment: usize) -> [Vec3A; 4] {
        let last = self.count - 1;
        [
            self.control[segment.saturating_sub(1)],
            self.control[segment],
            self.control[segment + 1],
            self.control[(segment + 2).min(last)],
        ]
    }

    /// Curve parameter at which the hair ends.
    fn tip(&self, by_length: bool) -> f32 {
        let last = self.count - 1;
        if !by_length {
            return self.own_parameter * last as f32;
        }
        let mut left = self.own_length;
        for i in 0..last {
            if left <= self.lengths[i] {
                return i as f32 + self.fraction(i, left);
            }
            left -= self.lengths[i];
        }
        last as f32
    }

    /// Parameter inside a segment after a length of arc: one secant step on the halved segment.
    fn fraction(&self, segment: usize, length: f32) -> f32 {
        let [a, b, c, d] = self.around(segment);
        let middle = (9.0 * (b + c) - (a + d)) * (1.0 / 16.0);
        let (first, second) = (b.distance(middle), middle.distance(c));
        let scaled = length * (first + second) / self.lengths[segment].max(1.0e-9);
        if scaled <= first {
            0.5 * scaled / first.max(1.0e-9)
        } else {
            0.5 + 0.5 * (scaled - first) / second.max(1.0e-9)
        }
    }

    /// Segment of the curve at a parameter, and the fraction of it.
    fn segment(&self, at: f32) -> (usize, f32) {
        let segment = (at as usize).min(self.count - 2);
        (segment, at - segment as f32)
    }

    fn write(&mut self, input: &StrandInput, planes: &Planes, root: usize, out: &mut [Vec3]) {
        let tip = self.tip(input.by_length);
        let step = tip / (out.len() - 1) as f32;
        let detail = super::detail::Detail::new(input.params, root as u64, || self.stream.signed());
        let last = self.count - 2;
        for (k, out) in out.iter_mut().enumerate() {
            let at = step * k as f32;
            let (segment, t) = self.segment(at);
            let [a, b, c, d] = self.around(segment);
            let mut p = catmull_rom(a, b, c, d, t);
            if let Some(detail) = &detail {
                let along = at / (last + 1) as f32;
                let (u, v) = (planes.across[segment + 1], planes.second[segment + 1]);
                let (u0, v0) = (planes.across[segment], planes.second[segment]);
                let length = along * input.rest.roots[root].length;
                let offset = detail.offset(along, length);
                p += offset.x * (u0 + t * (u - u0)) + offset.y * (v0 + t * (v - v0));
            }
            let (near, meshes) = (planes.near[segment + 1], planes.near_meshes[segment + 1]);
            if near != 0 && k > 0 {
                p = push_out_of_bodies(input.bodies, near, p);
            }
            if meshes != 0 && k > 0 {
                let reach = self.lengths[segment].max(0.03);
                p = lift_off_meshes(input.meshes, meshes, p, reach, input.margin);
            }
            *out = p.into();
        }
    }
}

/// A hair's points in the planes of its wisp, and its own length.
#[cfg(test)]
pub(super) fn control_points(input: &StrandInput, id: u64, wisp: &Wisp) -> (Vec<Vec3>, f32) {
    let mut planes = Planes::new();
    planes.set(wisp, input.rest.directions.len());
    let mut hair = Hair::new();
    hair.control(input, wisp.root as usize, id, &planes, input.skin);
    (hair.control[..hair.count].iter().map(|&p| p.into()).collect(), hair.own_length)
}

/// Length of a Catmull-Rom segment, by five Gauss points.
fn arc_length([a, b, c, d]: [Vec3A; 4]) -> f32 {
    const POINTS: [(f32, f32); 5] = [
        (0.046_910_08, 0.118_463_44),
        (0.230_765_35, 0.239_314_34),
        (0.5, 0.284_444_45),
        (0.769_234_66, 0.239_314_34),
        (0.953_089_9, 0.118_463_44),
    ];
    let (c1, c2, c3) = (c - a, 2.0 * a - 5.0 * b + 4.0 * c - d, 3.0 * (b - c) + d - a);
    let speed = |t: f32| 0.5 * (c1 + t * (2.0 * c2 + 3.0 * t * c3)).length();
    POINTS.iter().map(|&(t, weight)| weight * speed(t)).sum()
}

fn catmull_rom(a: Vec3A, b: Vec3A, c: Vec3A, d: Vec3A, t: f32) -> Vec3A {
    let (c1, c2, c3) = (c - a, 2.0 * a - 5.0 * b + 4.0 * c - d, 3.0 * (b - c) + d - a);
    b + 0.5 * t * (c1 + t * (c2 + t * c3))
}
