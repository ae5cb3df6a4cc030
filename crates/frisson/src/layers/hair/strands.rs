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
use crate::math::random;
use crate::stage::Curves;

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
    /// Whether hairs are cut by arc length (straight hair) or by rest parameter (springy).
    pub by_length: bool,
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
        widths: widths.iter().copied().cycle().take(hairs * points).collect(),
        ids: (0..hairs as u64).collect(),
        root_uvs,
        color: Vec3::from_array(params.color),
        ..Curves::default()
    }
}

/// Writes the points of every hair.
pub(super) fn write_strands(input: &StrandInput, out: &mut [Vec3]) {
    let per_root = input.rest.per_wisp * input.params.points as usize;
    if per_root == 0 {
        return;
    }
    out.par_chunks_mut(per_root).enumerate().for_each_init(Planes::new, |planes, (root, out)| {
        for &wisp in &input.of_root[root] {
            planes.set(input, &input.wisps[wisp as usize]);
            write_wisp(input, root, &input.wisps[wisp as usize], planes, out);
        }
    });
}

/// Whether a hair went with a wisp through all of the wisp's splits.
pub(super) fn belongs(hair: u64, wisp: &Wisp) -> bool {
    (0..wisp.depth).all(|level| side(hair, level) == (wisp.path >> level & 1))
}

/// Which half a hair goes with at a split.
pub(super) fn side(hair: u64, level: u8) -> u32 {
    (random::hash(0x5117, hair, u64::from(level)) & 1) as u32
}

/// The planes of one wisp, laid out for the hairs' loop.
struct Planes {
    count: usize,
    centers: [Vec3A; MAX_PARTICLES],
    across: [Vec3A; MAX_PARTICLES],
    second: [Vec3A; MAX_PARTICLES],
    /// Radii towards +x, -x, +y, -y (four samples), else by angle.
    radii: [[f32; 8]; MAX_PARTICLES],
    /// Bodies that may touch the segment before each plane, one bit each.
    near: [u64; MAX_PARTICLES],
    reach: f32,
}

impl Planes {
    fn new() -> Self {
        Self {
            count: 0,
            centers: [Vec3A::ZERO; MAX_PARTICLES],
            across: [Vec3A::ZERO; MAX_PARTICLES],
            second: [Vec3A::ZERO; MAX_PARTICLES],
            radii: [[0.0; 8]; MAX_PARTICLES],
            near: [0; MAX_PARTICLES],
            reach: 0.0,
        }
    }

    fn set(&mut self, input: &StrandInput, wisp: &Wisp) {
        let samples = input.rest.directions.len();
        self.count = wisp.positions.len();
        self.reach = 1.0;
        for i in 0..self.count {
            self.centers[i] = wisp.positions[i].into();
            self.across[i] = wisp.across[i].into();
            self.second[i] = wisp.second_axis(i).into();
            self.radii[i][..samples].copy_from_slice(&wisp.radii[i * samples..(i + 1) * samples]);
        }
        let widest = wisp.radii.iter().copied().fold(0.0, f32::max);
        let detail = 2.0 * (input.params.curl_radius + input.params.frizz);
        let stray = if input.params.strays > 0.0 { input.params.stray_distance } else { 0.0 };
        for i in 1..self.count {
            let (a, b) = (wisp.positions[i - 1], wisp.positions[i]);
            let middle = 0.5 * (a + b);
            // Half the segment, the envelope, and what a Catmull-Rom arc bulges.
            let reach = 0.75 * a.distance(b) + widest * (1.0 + stray) + detail + 2.0e-3;
            self.near[i] = 0;
            for (k, body) in input.bodies.iter().enumerate().take(64) {
                if !body.is_clear(middle, reach) && body.distance(middle).0 < 1.5 * reach {
                    self.near[i] |= 1 << k;
                }
            }
        }
    }

    /// Where a place of the unit disc is in a plane.
    fn point(&self, plane: usize, disc: Vec2, samples: usize) -> Vec3A {
        let r = &self.radii[plane];
        let (x, y) = if samples == 4 {
            let rx = if disc.x >= 0.0 { r[0] } else { r[2] };
            let ry = if disc.y >= 0.0 { r[1] } else { r[3] };
            (disc.x * rx, disc.y * ry)
        } else {
            let radius = radius_at(&r[..samples], disc);
            (disc.x * radius, disc.y * radius)
        };
        self.centers[plane] + x * self.across[plane] + y * self.second[plane]
    }
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
        hair.control(input, root, id, planes);
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
    fn control(&mut self, input: &StrandInput, root: usize, id: u64, planes: &Planes) {
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
        let skin = rest.hair_roots[id as usize].place(input.triangles, input.skin);
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

    /// Arc length of every segment, by Richardson on one and two chords.
    fn measure(&mut self) {
        let last = self.count - 1;
        for i in 0..last {
            let [a, b, c, d] = self.around(i);
            let middle = (9.0 * (b + c) - (a + d)) * (1.0 / 16.0);
            let one = b.distance(c);
            let two = b.distance(middle) + middle.distance(c);
            self.lengths[i] = (4.0 * two - one) * (1.0 / 3.0);
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

    fn write(&mut self, input: &StrandInput, planes: &Planes, root: usize, out: &mut [Vec3]) {
        let tip = self.tip(input.by_length);
        let step = tip / (out.len() - 1) as f32;
        let detail = super::detail::Detail::new(input.params, root as u64, || self.stream.signed());
        let last = self.count - 2;
        for (k, out) in out.iter_mut().enumerate() {
            let at = step * k as f32;
            let segment = (at as usize).min(last);
            let t = at - segment as f32;
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
            let mut near = planes.near[segment + 1];
            if near != 0 && k > 0 {
                p = push(input.bodies, &mut near, p);
            }
            *out = p.into();
        }
    }
}

fn catmull_rom(a: Vec3A, b: Vec3A, c: Vec3A, d: Vec3A, t: f32) -> Vec3A {
    let (c1, c2, c3) = (c - a, 2.0 * a - 5.0 * b + 4.0 * c - d, 3.0 * (b - c) + d - a);
    b + 0.5 * t * (c1 + t * (c2 + t * c3))
}

/// Moves a point of a hair out of the bodies whose bits are set.
fn push(bodies: &[PosedBody], near: &mut u64, p: Vec3A) -> Vec3A {
    let mut at: Vec3 = p.into();
    // Three rounds: the distance is first order for ellipsoids, and bodies overlap.
    for _ in 0..3 {
        let mut moved = false;
        let mut bits = *near;
        while bits != 0 {
            let k = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let body = &bodies[k];
            if body.is_clear(at, 0.0) {
                continue;
            }
            let (d, n) = body.distance(at);
            if d < 0.0 {
                at += n * (1.0e-5 - d);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    at.into()
}
