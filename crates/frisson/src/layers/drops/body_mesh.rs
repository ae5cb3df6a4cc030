//! The points, normals and faces of drops, from shapes in their own axes to a mesh in space.
//!
//! Points are kept by coordinate, in rows of slices, until they are written: the loops over them are
//! short, straight, and most of the time of a frame with many drops.

use std::ops::Range;

use glam::{DMat2, DVec2, DVec3, Vec3};

use super::body_grain::{COARSE_RINGS, COARSE_STEP, Grain, coarse_growth, grid_of};
use super::body_smooth::{smooth_rows, volume_of};
use super::shape::{POINTS, RINGS, SLICES, Shape};
use crate::tolerances::drops::BASE_SINK;

/// Most that points follow what the ground does under their rim, in what it does there [-]: a drop that overhangs its
/// contact line must not be swung about by it.
const MOST_SWING: f32 = 1.6;
/// Least square of a normal's length [-]: below, three points lie on each other.
const LEAST_NORMAL_SQ: f32 = 1e-20;
/// Height of a card's rim over the ground, and of its middle, in radii [-].
const CARD_RIM: f32 = 0.05;
const CARD_TOP: f32 = 0.3;
/// How far the volume of a smooth drop may be off that of its shape [-]: in the middle of a blend it encloses little.
const ROUNDED: [f32; 2] = [0.8, 1.2];
const LEAST_ROUNDED: f32 = 1e-3;

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
                let share = (flat * self.inverse[s]).min(MOST_SWING);
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
        let base = place(pose.normal * bottom);
        match grain {
            Grain::Smooth => self.write_smooth(place, base, positions),
            Grain::Fine => return self.write_fine(place, base, positions, normals),
            Grain::Coarse => self.write_coarse(place, base, positions),
            Grain::Card => self.write_card(place, pose.normal, positions),
        }
        few_normals(grain, positions, normals);
    }

    fn write_smooth(&mut self, place: impl Fn(Vec3) -> Vec3, base: Vec3, positions: &mut [Vec3]) {
        smooth_rows(&self.shape, &mut self.smooth);
        let rounder = volume_of(&self.smooth).max(LEAST_ROUNDED);
        let [least, most] = ROUNDED;
        // Rounder is larger: drawn smaller by as much, it holds what the shape holds.
        let grow = (self.shape.volume() / rounder).cbrt().clamp(least, most);
        smooth_rows(&self.placed, &mut self.smooth);
        let count = self.smooth.len();
        let places = self.smooth.iter().map(|p| place(*p * grow));
        positions[..count].iter_mut().zip(places).for_each(|(to, from)| *to = from);
        positions[count] = base;
    }

    fn write_fine(
        &mut self,
        place: impl Fn(Vec3) -> Vec3,
        base: Vec3,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        self.compute_normals();
        let Self { placed, normals: n, .. } = self;
        for i in 0..POINTS {
            positions[i] = place(Vec3::new(placed.x[i], placed.y[i], placed.z[i]));
            normals[i] = Vec3::new(n.x[i], n.y[i], n.z[i]);
        }
        positions[POINTS] = base;
        normals[POINTS] = -normals[POINTS - 1];
    }

    fn write_coarse(&self, place: impl Fn(Vec3) -> Vec3, base: Vec3, positions: &mut [Vec3]) {
        let (grow, slices) = (coarse_growth(&self.shape), SLICES / COARSE_STEP);
        for (r, &ring) in COARSE_RINGS.iter().enumerate() {
            for s in 0..slices {
                let i = ring * SLICES + s * COARSE_STEP;
                positions[r * slices + s] = place(self.at(i) * grow);
            }
        }
        positions[COARSE_RINGS.len() * slices] = place(self.at(POINTS - 1) * grow);
        positions[COARSE_RINGS.len() * slices + 1] = base;
    }

    fn write_card(&self, place: impl Fn(Vec3) -> Vec3, normal: Vec3, positions: &mut [Vec3]) {
        let (up, slices) = (normal * (BASE_SINK + CARD_RIM), SLICES / COARSE_STEP);
        for s in 0..slices {
            positions[s] = place(self.at(s * COARSE_STEP) + up);
        }
        positions[slices] = place(normal * CARD_TOP);
    }

    /// A point of the placed shape.
    fn at(&self, i: usize) -> Vec3 {
        Vec3::new(self.placed.x[i], self.placed.y[i], self.placed.z[i])
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
                let inverse = 1.0 / (x * x + y * y + z * z).max(LEAST_NORMAL_SQ).sqrt();
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

#[cfg(test)]
mod tests {
    use super::super::body_forms::{bottom_of, sphere};
    use super::super::body_grain::{faces, push_triangles, vertices};
    use super::super::params::Detail;
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
