//! The points, normals and faces of drops, from shapes in their own axes to a mesh in space.
//!
//! Points are kept by coordinate, in rows of slices, until they are written: the loops over them are
//! short, straight, and most of the time of a frame with many drops.

use std::ops::Range;

use glam::{DMat2, DVec2, DVec3, Vec3};

use super::params::Detail;
use super::shape::{POINTS, RINGS, SLICES, Shape, VOLUME};
use crate::math::random;
use crate::tolerances::drops::BASE_SINK;

/// Rings and slices of a coarse drop, picked from the fine ones.
const COARSE_RINGS: [usize; 3] = [0, 2, 4];
const COARSE_STEP: usize = 2;

/// What is written for each point.
pub struct Out<'a> {
    /// Positions [m].
    pub positions: &'a mut [Vec3],
    /// Unit normals.
    pub normals: &'a mut [Vec3],
    /// Velocities [m/s].
    pub velocities: &'a mut [Vec3],
}

impl<'a> Out<'a> {
    /// Part of it.
    pub fn of(&mut self, range: Range<usize>) -> Out<'_> {
        Out {
            positions: &mut self.positions[range.clone()],
            normals: &mut self.normals[range.clone()],
            velocities: &mut self.velocities[range],
        }
    }

    /// Cuts it at a point.
    pub fn split(self, at: usize) -> (Self, Self) {
        let (pa, pb) = self.positions.split_at_mut(at);
        let (na, nb) = self.normals.split_at_mut(at);
        let (va, vb) = self.velocities.split_at_mut(at);
        (
            Self { positions: pa, normals: na, velocities: va },
            Self { positions: pb, normals: nb, velocities: vb },
        )
    }
}

/// How a drop's shape lies in space.
pub struct Pose {
    /// Where its origin is [m].
    pub origin: DVec3,
    /// Radius of its sphere [m].
    pub radius: f64,
    /// Stretch of the plane of its base, the factor to the exact volume included.
    pub plane: DMat2,
    /// Images of its axes, in radii.
    axes: [Vec3; 3],
    /// Unit normal of the ground.
    normal: Vec3,
}

impl Pose {
    /// From unit axes, a stretch of the first two that keeps the volume, and a factor of all.
    #[must_use]
    pub fn new(
        origin: DVec3,
        [ex, ey, n]: [DVec3; 3],
        radius: f64,
        stretch: DMat2,
        factor: f64,
    ) -> Self {
        let plane = stretch * factor;
        let image = |c: DVec2| (ex * c.x + ey * c.y).as_vec3();
        let up = n * (factor / stretch.determinant());
        let axes = [image(plane.x_axis), image(plane.y_axis), up.as_vec3()];
        Self { origin, radius, plane, axes, normal: n.as_vec3() }
    }

    /// Places the pen's shape around the origin, in radii: in the air, or on the ground (as far as it
    /// is not flat, as `base` tells).
    pub fn place(&self, pen: &mut Pen, ground: Option<Option<&Base>>) {
        let Pen { shape, placed, .. } = pen;
        let [a, b, c] = self.axes;
        let image = |out: &mut [f32; POINTS], a: f32, b: f32, c: f32| {
            for i in 0..POINTS {
                out[i] = a * shape.x[i] + b * shape.y[i] + c * shape.z[i];
            }
        };
        image(&mut placed.x, a.x, b.x, c.x);
        image(&mut placed.y, a.y, b.y, c.y);
        image(&mut placed.z, a.z, b.z, c.z);
        let Some(base) = ground else { return };
        if let Some(base) = base {
            base.apply(shape, placed);
        }
        for s in 0..SLICES {
            placed.x[s] -= self.normal.x * BASE_SINK;
            placed.y[s] -= self.normal.y * BASE_SINK;
            placed.z[s] -= self.normal.z * BASE_SINK;
        }
    }
}

/// How the ground under a drop differs from its plane, at the rim of each slice, in radii.
#[derive(Default)]
pub struct Base {
    x: [f32; SLICES],
    y: [f32; SLICES],
    z: [f32; SLICES],
    /// One over the squared distance of the rim.
    inverse: [f32; SLICES],
}

impl Base {
    /// Of one slice.
    pub fn set(&mut self, slice: usize, offset: Vec3, inverse: f32) {
        self.x[slice] = offset.x;
        self.y[slice] = offset.y;
        self.z[slice] = offset.z;
        self.inverse[slice] = inverse;
    }

    /// Points follow their rim the more, the farther out they are.
    fn apply(&self, shape: &Shape, placed: &mut Shape) {
        for ring in 0..RINGS {
            for s in 0..SLICES {
                let i = ring * SLICES + s;
                let flat = shape.x[i] * shape.x[i] + shape.y[i] * shape.y[i];
                let share = (flat * self.inverse[s]).min(1.6);
                placed.x[i] += self.x[s] * share;
                placed.y[i] += self.y[s] * share;
                placed.z[i] += self.z[s] * share;
            }
        }
    }
}

/// Storage for drawing drops one after the other.
#[derive(Default)]
pub struct Pen {
    /// In its own axes.
    pub shape: Shape,
    placed: Shape,
    normals: Shape,
}

impl Pen {
    /// Writes the placed shape with a detail; `bottom` is the height of the middle of its base.
    pub fn write(
        &mut self,
        pose: &Pose,
        detail: Detail,
        bottom: f32,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        let (origin, radius) = (pose.origin.as_vec3(), pose.radius as f32);
        let place = |p: Vec3| origin + p * radius;
        let placed = &self.placed;
        let at = |i: usize| Vec3::new(placed.x[i], placed.y[i], placed.z[i]);
        let slices = SLICES / COARSE_STEP;
        match detail {
            Detail::Fine => {
                self.compute_normals();
                let Self { placed, normals: n, .. } = self;
                for i in 0..POINTS {
                    positions[i] = place(Vec3::new(placed.x[i], placed.y[i], placed.z[i]));
                    normals[i] = Vec3::new(n.x[i], n.y[i], n.z[i]);
                }
                positions[POINTS] = place(pose.normal * bottom);
                normals[POINTS] = -normals[POINTS - 1];
            }
            Detail::Coarse => {
                let grow = coarse_growth(&self.shape);
                for (r, &ring) in COARSE_RINGS.iter().enumerate() {
                    for s in 0..slices {
                        let i = ring * SLICES + s * COARSE_STEP;
                        positions[r * slices + s] = place(at(i) * grow);
                    }
                }
                positions[COARSE_RINGS.len() * slices] = place(at(POINTS - 1) * grow);
                positions[COARSE_RINGS.len() * slices + 1] = place(pose.normal * bottom);
                few_normals(detail, positions, normals);
            }
            Detail::Card => {
                let up = pose.normal * (BASE_SINK + 0.05);
                for s in 0..slices {
                    positions[s] = place(at(s * COARSE_STEP) + up);
                }
                positions[slices] = place(pose.normal * 0.3);
                few_normals(detail, positions, normals);
            }
        }
    }

    /// Normals of the liquid's surface to the air. The base does not count: it would darken the rim.
    fn compute_normals(&mut self) {
        let Self { placed, normals, .. } = self;
        let last = POINTS - 1;
        for ring in 0..RINGS {
            let at = ring * SLICES;
            let below = ring.saturating_sub(1) * SLICES;
            // Differences around, and upwards: their product is outwards.
            let around = |v: &[f32; POINTS]| -> [f32; SLICES] {
                let row: &[f32] = &v[at..at + SLICES];
                let mut closed = [0.0; SLICES + 2];
                closed[0] = row[SLICES - 1];
                closed[1..=SLICES].copy_from_slice(row);
                closed[SLICES + 1] = row[0];
                std::array::from_fn(|s| closed[s + 2] - closed[s])
            };
            let upwards = |v: &[f32; POINTS]| -> [f32; SLICES] {
                let low: &[f32] = &v[below..below + SLICES];
                if ring + 1 == RINGS {
                    return std::array::from_fn(|s| v[last] - low[s]);
                }
                let high: &[f32] = &v[at + SLICES..at + 2 * SLICES];
                std::array::from_fn(|s| high[s] - low[s])
            };
            let (ax, ay, az) = (around(&placed.x), around(&placed.y), around(&placed.z));
            let (ux, uy, uz) = (upwards(&placed.x), upwards(&placed.y), upwards(&placed.z));
            for s in 0..SLICES {
                let x = ay[s] * uz[s] - az[s] * uy[s];
                let y = az[s] * ux[s] - ax[s] * uz[s];
                let z = ax[s] * uy[s] - ay[s] * ux[s];
                let inverse = 1.0 / (x * x + y * y + z * z).max(1e-20).sqrt();
                normals.x[at + s] = x * inverse;
                normals.y[at + s] = y * inverse;
                normals.z[at + s] = z * inverse;
            }
        }
        let top = last - SLICES..last;
        let sum = |v: &[f32; POINTS]| v[top.clone()].iter().sum::<f32>();
        let up = Vec3::new(sum(&normals.x), sum(&normals.y), sum(&normals.z)).normalize_or(Vec3::Y);
        [normals.x[last], normals.y[last], normals.z[last]] = up.to_array();
    }
}

/// Normals of a drop with few points.
fn few_normals(detail: Detail, positions: &[Vec3], normals: &mut [Vec3]) {
    let (rings, slices) = grid_of(detail);
    let apex = rings * slices;
    let top = positions[apex];
    let mut up = Vec3::ZERO;
    for ring in 0..rings {
        let row = &positions[ring * slices..(ring + 1) * slices];
        let below = &positions[ring.saturating_sub(1) * slices..][..slices];
        let above = &positions[(ring + 1) * slices..];
        let out = &mut normals[ring * slices..(ring + 1) * slices];
        for s in 0..slices {
            let (last, next) =
                (if s == 0 { slices } else { s } - 1, if s + 1 == slices { 0 } else { s + 1 });
            let higher = if ring + 1 == rings { top } else { above[s] };
            // Around, times upwards, is outwards.
            let n = (row[next] - row[last]).cross(higher - below[s]);
            out[s] = n.normalize_or(Vec3::Y);
            up += out[s];
        }
        if ring + 1 < rings {
            up = Vec3::ZERO;
        }
    }
    normals[apex] = up.normalize_or(Vec3::Y);
    if detail != Detail::Card {
        normals[apex + 1] = -normals[apex];
    }
}

/// Rings and slices.
fn grid_of(detail: Detail) -> (usize, usize) {
    match detail {
        Detail::Fine => (RINGS, SLICES),
        Detail::Coarse => (COARSE_RINGS.len(), SLICES / COARSE_STEP),
        Detail::Card => (1, SLICES / COARSE_STEP),
    }
}

/// Number of triangles.
#[must_use]
pub fn faces(detail: Detail) -> usize {
    let (rings, slices) = grid_of(detail);
    let base = if detail == Detail::Card { 0 } else { slices };
    (2 * rings - 1) * slices + base
}

/// Number of points.
#[must_use]
pub fn vertices(detail: Detail) -> usize {
    match detail {
        Detail::Fine => POINTS + 1,
        Detail::Coarse => COARSE_RINGS.len() * (SLICES / COARSE_STEP) + 2,
        Detail::Card => SLICES / COARSE_STEP + 1,
    }
}

/// Connects the points of a drop.
pub fn push_triangles(detail: Detail, offset: u32, out: &mut Vec<[u32; 3]>) {
    let (rings, slices) = grid_of(detail);
    let (rings, slices) = (rings as u32, slices as u32);
    let at = |ring: u32, slice: u32| offset + ring * slices + slice % slices;
    let (apex, base) = (offset + rings * slices, offset + rings * slices + 1);
    for ring in 0..rings {
        for slice in 0..slices {
            let (a, b) = (at(ring, slice), at(ring, slice + 1));
            if ring + 1 == rings {
                out.push([a, b, apex]);
            } else {
                out.push([a, b, at(ring + 1, slice + 1)]);
                out.push([a, at(ring + 1, slice + 1), at(ring + 1, slice)]);
            }
        }
    }
    if detail != Detail::Card {
        out.extend((0..slices).map(|s| [at(0, s + 1), at(0, s), base]));
    }
}

/// A ball with the rings of a sitting drop; `tail` draws its apex out.
pub fn sphere(shape: &mut Shape, stretch: f32, tail: f32) {
    let across = stretch.sqrt().recip();
    for ring in 0..RINGS {
        let polar = std::f32::consts::PI * (1.0 - (ring as f32 + 0.7) / (RINGS as f32 + 0.7));
        for slice in 0..SLICES {
            let turn = std::f32::consts::TAU * slice as f32 / SLICES as f32;
            let i = ring * SLICES + slice;
            let up = ring as f32 / RINGS as f32;
            shape.x[i] = polar.sin() * turn.cos() * across * (1.0 - 0.4 * tail * up);
            shape.y[i] = polar.sin() * turn.sin() * across * (1.0 - 0.4 * tail * up);
            shape.z[i] = polar.cos() * stretch + tail * up.powi(3);
        }
    }
    shape.x[POINTS - 1] = 0.0;
    shape.y[POINTS - 1] = 0.0;
    shape.z[POINTS - 1] = stretch + tail;
}

/// Height of the pole below the lowest ring of a ball, in radii.
#[must_use]
pub fn bottom_of(shape: &Shape) -> f32 {
    let z = shape.z[0];
    let flat = (shape.x[0] * shape.x[0] + shape.y[0] * shape.y[0]).sqrt();
    z - 0.35 * flat
}

/// Scales to the exact volume, base included.
pub fn fix_volume(shape: &mut Shape, bottom: f32) {
    let mut base = 0.0;
    for s in 0..SLICES {
        let t = (s + 1) % SLICES;
        base += bottom * (shape.x[t] * shape.y[s] - shape.y[t] * shape.x[s]);
    }
    let volume = shape.volume() + base / 6.0;
    let factor = (VOLUME as f32 / volume.max(1e-3)).cbrt().clamp(0.5, 2.0);
    for i in 0..POINTS {
        shape.x[i] *= factor;
        shape.y[i] *= factor;
        shape.z[i] *= factor;
    }
}

/// How much a coarse drop must be larger to hold the volume of the fine one.
fn coarse_growth(shape: &Shape) -> f32 {
    let at =
        |ring: usize, slice: usize| shape.point(COARSE_RINGS[ring], slice * COARSE_STEP).as_vec3();
    let apex = shape.point(RINGS, 0).as_vec3();
    let mut six_volumes = 0.0;
    for ring in 0..COARSE_RINGS.len() {
        for slice in 0..SLICES / COARSE_STEP {
            let (a, b) = (at(ring, slice), at(ring, slice + 1));
            if ring + 1 == COARSE_RINGS.len() {
                six_volumes += a.dot(b.cross(apex));
            } else {
                let (c, d) = (at(ring + 1, slice), at(ring + 1, slice + 1));
                six_volumes += a.dot(b.cross(d)) + a.dot(d.cross(c));
            }
        }
    }
    // At the fine one's exact volume; stretching changes both alike.
    (shape.volume() * 6.0 / six_volumes.max(1e-3)).cbrt().clamp(1.0, 1.5)
}

/// Longer along an axis of the plane, narrower across; as much lower, where the volume is kept.
#[must_use]
pub fn longer_along(axis: DVec2, amount: f64) -> DMat2 {
    let across = 1.0 / amount.sqrt();
    let (c, s) = (axis.x, axis.y);
    let (more, both) = ((amount - across) * c * s, amount * s * s + across * c * c);
    DMat2::from_cols_array(&[amount * c * c + across * s * s, more, more, both])
}

/// Offsets by smooth noise of the distance run: a few waves around the drop.
pub fn wobble(shape: &mut Shape, id: u64, way: f64, amplitude: f32) {
    let noise = |wave: u64, part: u64| {
        let cell = way.floor();
        let t = way - cell;
        let t = t * t * (3.0 - 2.0 * t);
        let at = |c: f64| random::signed(id ^ 0x30B, wave * 2 + part, c as u64);
        (at(cell) + (at(cell + 1.0) - at(cell)) * t) as f32
    };
    let mut waves = [(0.0f32, 0.0f32); 3];
    for (i, w) in waves.iter_mut().enumerate() {
        *w = (noise(i as u64, 0), noise(i as u64, 1));
    }
    let turns: [(f32, f32); SLICES] = std::array::from_fn(|slice| {
        (std::f32::consts::TAU * slice as f32 / SLICES as f32).sin_cos()
    });
    for slice in 0..SLICES {
        let sum: f32 = waves
            .iter()
            .enumerate()
            .map(|(i, (a, b))| {
                // Multiples of the turn are turns of other slices.
                let (s, c) = turns[(i + 1) * slice % SLICES];
                (a * c + b * s) / (i + 1) as f32
            })
            .sum();
        let factor = 1.0 + amplitude * sum;
        for ring in 0..RINGS {
            let i = ring * SLICES + slice;
            shape.x[i] *= factor;
            shape.y[i] *= factor;
        }
    }
}
