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

/// Radius from which on a drop is drawn through smooth curves [m]: 65 mg of water. Smaller ones are thousands, and their
/// sixteen corners are below what pictures show; large ones are few, and fill them.
const SMOOTH_FROM: f64 = 2.5e-3;
/// Rows of a smooth drop: those of the shape, and one between each two.
const SMOOTH_ROWS: usize = 2 * RINGS;
/// Points of a smooth row for each of the shape.
const SMOOTH_STEP: usize = 3;

/// How a drop is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Through smooth curves over the points of its shape.
    Smooth,
    /// By the points of its shape.
    Fine,
    /// By every other one.
    Coarse,
    /// As a low cone.
    Card,
}

impl Grain {
    /// Of a drop of some radius [m].
    #[must_use]
    pub fn new(detail: Detail, radius: f64) -> Self {
        match detail {
            Detail::Fine if radius >= SMOOTH_FROM => Self::Smooth,
            Detail::Fine => Self::Fine,
            Detail::Coarse => Self::Coarse,
            Detail::Card => Self::Card,
        }
    }
}

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
        // The rim goes a little into the ground: on curved skin light would be seen under its corners.
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
                // A drop that overhangs its contact line must not be swung about by it.
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
    smooth: Vec<Vec3>,
}

impl Pen {
    /// Writes the placed shape with a detail; `bottom` is the height of the middle of its base.
    pub fn write(
        &mut self,
        pose: &Pose,
        grain: Grain,
        bottom: f32,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        let (origin, radius) = (pose.origin.as_vec3(), pose.radius as f32);
        let place = |p: Vec3| origin + p * radius;
        let placed = &self.placed;
        let at = |i: usize| Vec3::new(placed.x[i], placed.y[i], placed.z[i]);
        let slices = SLICES / COARSE_STEP;
        match grain {
            Grain::Smooth => {
                smooth_rows(&self.shape, &mut self.smooth);
                let rounder = volume_of(&self.smooth);
                // Rounder is larger: drawn smaller by as much, it holds what the shape holds.
                let grow = (self.shape.volume() / rounder.max(1e-3)).cbrt().clamp(0.8, 1.2);
                smooth_rows(&self.placed, &mut self.smooth);
                let count = self.smooth.len();
                let places = self.smooth.iter().map(|p| place(*p * grow));
                positions[..count].iter_mut().zip(places).for_each(|(to, from)| *to = from);
                positions[count] = place(pose.normal * bottom);
                few_normals(grain, positions, normals);
            }
            Grain::Fine => {
                self.compute_normals();
                let Self { placed, normals: n, .. } = self;
                for i in 0..POINTS {
                    positions[i] = place(Vec3::new(placed.x[i], placed.y[i], placed.z[i]));
                    normals[i] = Vec3::new(n.x[i], n.y[i], n.z[i]);
                }
                positions[POINTS] = place(pose.normal * bottom);
                normals[POINTS] = -normals[POINTS - 1];
            }
            Grain::Coarse => {
                let grow = coarse_growth(&self.shape);
                for (r, &ring) in COARSE_RINGS.iter().enumerate() {
                    for s in 0..slices {
                        let i = ring * SLICES + s * COARSE_STEP;
                        positions[r * slices + s] = place(at(i) * grow);
                    }
                }
                positions[COARSE_RINGS.len() * slices] = place(at(POINTS - 1) * grow);
                positions[COARSE_RINGS.len() * slices + 1] = place(pose.normal * bottom);
                few_normals(grain, positions, normals);
            }
            Grain::Card => {
                let up = pose.normal * (BASE_SINK + 0.05);
                for s in 0..slices {
                    positions[s] = place(at(s * COARSE_STEP) + up);
                }
                positions[slices] = place(pose.normal * 0.3);
                few_normals(grain, positions, normals);
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

/// Rows of points from the contact line up, then the apex, on smooth curves through the points of a shape: first up
/// and over the apex, then around.
fn smooth_rows(shape: &Shape, out: &mut Vec<Vec3>) {
    let at = |ring: usize, slice: usize| {
        let slice = slice % SLICES;
        match ring {
            ..RINGS => {
                let i = ring * SLICES + slice;
                Vec3::new(shape.x[i], shape.y[i], shape.z[i])
            }
            // Beyond the apex the curve goes down the other side.
            ring => {
                let over = ring - RINGS;
                let i = if over == 0 {
                    POINTS - 1
                } else {
                    (RINGS - over) * SLICES + (slice + SLICES / 2) % SLICES
                };
                Vec3::new(shape.x[i], shape.y[i], shape.z[i])
            }
        }
    };
    out.clear();
    for row in 0..SMOOTH_ROWS {
        let ring = row / 2;
        let upwards: [Vec3; SLICES] = std::array::from_fn(|s| {
            if row % 2 == 0 {
                return at(ring, s);
            }
            let (b, c, d) = (at(ring, s), at(ring + 1, s), at(ring + 2, s));
            // Below the contact line the curve goes on as it bends there.
            let a = if ring == 0 { 3.0 * (b - c) + d } else { at(ring - 1, s) };
            (9.0 * (b + c) - (a + d)) / 16.0
        });
        for s in 0..SLICES {
            let [a, b, c, d] = [SLICES - 1, 0, 1, 2].map(|k| upwards[(s + k) % SLICES]);
            // A curve of Catmull and Rom at none, one and two thirds of the way.
            out.push(b);
            out.push((42.0 * b + 18.0 * c - 4.0 * a - 2.0 * d) / 54.0);
            out.push((42.0 * c + 18.0 * b - 4.0 * d - 2.0 * a) / 54.0);
        }
    }
    out.push(at(RINGS, 0));
}

/// Volume between the points of a smooth drop and the plane of its contact line, in cubed radii.
fn volume_of(smooth: &[Vec3]) -> f32 {
    let slices = SLICES * SMOOTH_STEP;
    let apex = smooth[smooth.len() - 1];
    let mut six_volumes = 0.0;
    for row in 0..SMOOTH_ROWS {
        for s in 0..slices {
            let next = (s + 1) % slices;
            let (a, b) = (smooth[row * slices + s], smooth[row * slices + next]);
            if row + 1 == SMOOTH_ROWS {
                six_volumes += a.dot(b.cross(apex));
            } else {
                let (c, d) = (smooth[(row + 1) * slices + s], smooth[(row + 1) * slices + next]);
                six_volumes += a.dot(b.cross(d)) + a.dot(d.cross(c));
            }
        }
    }
    six_volumes / 6.0
}

/// Normals of a drop from its points as they are connected.
fn few_normals(grain: Grain, positions: &[Vec3], normals: &mut [Vec3]) {
    let (rings, slices) = grid_of(grain);
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
    if grain != Grain::Card {
        normals[apex + 1] = -normals[apex];
    }
}

/// Rings and slices.
fn grid_of(grain: Grain) -> (usize, usize) {
    match grain {
        Grain::Smooth => (SMOOTH_ROWS, SLICES * SMOOTH_STEP),
        Grain::Fine => (RINGS, SLICES),
        Grain::Coarse => (COARSE_RINGS.len(), SLICES / COARSE_STEP),
        Grain::Card => (1, SLICES / COARSE_STEP),
    }
}

/// Number of triangles.
#[must_use]
pub fn faces(grain: Grain) -> usize {
    let (rings, slices) = grid_of(grain);
    let base = if grain == Grain::Card { 0 } else { slices };
    (2 * rings - 1) * slices + base
}

/// Number of points.
#[must_use]
pub fn vertices(grain: Grain) -> usize {
    let (rings, slices) = grid_of(grain);
    // The apex, and the middle of the base, which a card does not have.
    rings * slices + if grain == Grain::Card { 1 } else { 2 }
}

/// Connects the points of a drop.
pub fn push_triangles(grain: Grain, offset: u32, out: &mut Vec<[u32; 3]>) {
    let (rings, slices) = grid_of(grain);
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
    if grain != Grain::Card {
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
    // A shape in the middle of a blend may enclose next to nothing for an instant.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_drop_is_drawn_round_and_holds_what_its_shape_holds() {
        let mut pen = Pen::default();
        sphere(&mut pen.shape, 1.0, 0.0);
        let pose =
            Pose::new(DVec3::ZERO, [DVec3::X, DVec3::Y, DVec3::Z], 1.0, DMat2::IDENTITY, 1.0);
        let draw = |pen: &mut Pen, grain: Grain| {
            let (mut at, mut normals) =
                (vec![Vec3::ZERO; vertices(grain)], vec![Vec3::ZERO; vertices(grain)]);
            pose.place(pen, None);
            let bottom = bottom_of(&pen.shape);
            pen.write(&pose, grain, bottom, &mut at, &mut normals);
            let mut faces_of = Vec::new();
            push_triangles(grain, 0, &mut faces_of);
            assert_eq!(faces_of.len(), faces(grain));
            let six: f32 = faces_of
                .iter()
                .map(|t| t.map(|i| at[i as usize]))
                .map(|[a, b, c]| a.dot(b.cross(c)))
                .sum();
            for (p, n) in at.iter().zip(&normals).take(at.len() - 1) {
                assert!(n.dot(p.normalize()) > 0.97, "{grain:?} {p} {n}");
            }
            (six / 6.0, at)
        };
        let (fine, _) = draw(&mut pen, Grain::new(Detail::Fine, 1e-3));
        let (smooth, at) = draw(&mut pen, Grain::new(Detail::Fine, 4e-3));
        assert!((smooth / fine - 1.0).abs() < 0.01, "{smooth} {fine}");
        // Every point of it is as far from the middle as any other: no corners.
        let away = at[..at.len() - 1].iter().map(|p| p.length());
        let (least, most) = away.fold((f32::MAX, 0.0f32), |(a, b), d| (a.min(d), b.max(d)));
        assert!(most / least < 1.01, "{least} {most}");
    }
}
