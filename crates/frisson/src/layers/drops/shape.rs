//! Equilibrium shapes: least area for a volume, pinned to a contact line, under a steady force.
//!
//! ```text
//!            apex          points slide on rays from a centre; the first ring is the contact line
//!        _.-'  '-._        energy / (tension r²) = area to air - Bo ∫ f·x dV,  volume fixed
//!      /  level 2   \      Bo = density |f| r² / tension
//!     |   level 1    |     the line is a circle, or an ellipse along the force; its size makes the
//!  ___|______________|___  contact angle hold on average
//! ```
//!
//! A shape depends only on the contact angle, the Bond number and the force's angle to the surface: each
//! is solved once by Newton's method and kept. Beyond the critical Bond number the last stable shape is
//! used. Lengths are in radii of the drop's sphere: every volume is 4 pi / 3.

use std::sync::OnceLock;

use glam::DVec3;

use super::shape_solver::{BOND_ROOTS, solve_column};

/// Rings, the contact line included, the apex not.
pub const RINGS: usize = 7;
/// Points of a ring.
pub const SLICES: usize = 16;
/// Points of a shape: rings from the contact line up, then the apex.
pub const POINTS: usize = RINGS * SLICES + 1;
/// Volume of every shape, in cubed radii.
pub const VOLUME: f64 = 4.0 / 3.0 * std::f64::consts::PI;

/// Angles between the force and the inward normal, from pressing (0) to pulling (180 degrees).
const ANGLES: usize = 9;

/// A shape: x along the force's tangential part, y across, z out of the surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// x of all points, in radii.
    pub x: [f32; POINTS],
    /// y.
    pub y: [f32; POINTS],
    /// z.
    pub z: [f32; POINTS],
}

impl Default for Shape {
    fn default() -> Self {
        Self { x: [0.0; POINTS], y: [0.0; POINTS], z: [0.0; POINTS] }
    }
}

impl Shape {
    /// Point `slice` of ring `ring`; the apex is the last ring.
    #[must_use]
    pub fn point(&self, ring: usize, slice: usize) -> DVec3 {
        let i = if ring == RINGS { POINTS - 1 } else { ring * SLICES + slice % SLICES };
        DVec3::new(f64::from(self.x[i]), f64::from(self.y[i]), f64::from(self.z[i]))
    }

    /// Volume between the points and the plane z = 0 of the contact line, in cubed radii.
    #[must_use]
    pub fn volume(&self) -> f32 {
        let rows = [&self.x, &self.y, &self.z].map(|v| v.as_chunks::<SLICES>().0);
        let turned = |row: &[f32; SLICES]| -> [f32; SLICES] {
            let mut out = [row[0]; SLICES];
            out[..SLICES - 1].copy_from_slice(&row[1..]);
            out
        };
        let mut lanes = [0.0f32; SLICES];
        let mut a = rows.map(|r| &r[0]);
        let mut b = a.map(turned);
        for r in 1..RINGS {
            let c = rows.map(|rows| &rows[r]);
            let d = c.map(turned);
            // The two triangles a b d and a d c: a . (b x d + d x c) = a . ((b - c) x d).
            for s in 0..SLICES {
                let e = [b[0][s] - c[0][s], b[1][s] - c[1][s], b[2][s] - c[2][s]];
                lanes[s] += a[0][s] * (e[1] * d[2][s] - e[2] * d[1][s])
                    + a[1][s] * (e[2] * d[0][s] - e[0] * d[2][s])
                    + a[2][s] * (e[0] * d[1][s] - e[1] * d[0][s]);
            }
            (a, b) = (c, d);
        }
        let mut fan = [[0.0f32; SLICES]; 3];
        for s in 0..SLICES {
            fan[0][s] = a[1][s] * b[2][s] - a[2][s] * b[1][s];
            fan[1][s] = a[2][s] * b[0][s] - a[0][s] * b[2][s];
            fan[2][s] = a[0][s] * b[1][s] - a[1][s] * b[0][s];
        }
        let top = [self.x[POINTS - 1], self.y[POINTS - 1], self.z[POINTS - 1]];
        let cap: f32 = (0..3).map(|k| fan[k].iter().sum::<f32>() * top[k]).sum();
        (lanes.iter().sum::<f32>() + cap) / 6.0
    }

    /// The factor that gives it its exact volume.
    #[must_use]
    pub fn volume_factor(&self) -> f32 {
        (VOLUME as f32 / self.volume().max(1e-3)).cbrt()
    }

    /// Scales to the exact volume.
    pub fn fix_volume(&mut self) {
        let factor = self.volume_factor();
        for i in 0..POINTS {
            self.x[i] *= factor;
            self.y[i] *= factor;
            self.z[i] *= factor;
        }
    }

    /// Largest turn between neighbouring chords on the way from the contact line to the apex
    /// [radians].
    #[must_use]
    pub fn sharpest_turn(&self) -> f64 {
        let turn = |ring: usize, slice: usize| {
            let p = |r: usize| self.point(r, slice);
            (p(ring) - p(ring - 1)).angle_between(p(ring + 1) - p(ring))
        };
        (1..RINGS)
            .flat_map(|r| (0..SLICES).map(move |s| (r, s)))
            .map(|(r, s)| turn(r, s))
            .fold(0.0, f64::max)
    }

    /// Mean contact angle, from the first three rings [radians].
    #[must_use]
    pub fn mean_contact_angle(&self) -> f64 {
        let sum: f64 = (0..SLICES)
            .map(|s| {
                let out = self.point(0, s).truncate().normalize_or_zero();
                let slope = |a: DVec3, b: DVec3| {
                    let d = b - a;
                    d.z.atan2(-d.truncate().dot(out))
                };
                let (p, q, r) = (self.point(0, s), self.point(1, s), self.point(2, s));
                // Slopes of two chords, carried to the line: exact for a circle.
                let (first, second) = (slope(p, q), slope(q, r));
                let (u, v) = (p.distance(q), q.distance(r));
                first + (first - second) * u / (u + v)
            })
            .sum();
        sum / SLICES as f64
    }
}

/// All shapes of one contact angle, solved when first asked for.
pub struct ShapeTable {
    contact_angle: f64,
    columns: [OnceLock<Vec<Shape>>; ANGLES],
}

impl ShapeTable {
    /// For a contact angle [degrees].
    #[must_use]
    pub fn new(contact_angle_deg: f64) -> Self {
        Self {
            contact_angle: contact_angle_deg.to_radians(),
            columns: std::array::from_fn(|_| OnceLock::new()),
        }
    }

    /// The shape for a Bond number and an angle between force and inward normal [radians], between
    /// the solved ones, at its exact volume.
    pub fn shape(&self, bond: f64, angle: f64, out: &mut Shape) {
        self.mix(bond, angle, out);
        out.fix_volume();
    }

    /// The same before its volume is put right.
    pub fn mix(&self, bond: f64, angle: f64, out: &mut Shape) {
        let last = BOND_ROOTS.len() - 1;
        let root = bond.max(0.0).sqrt().min(BOND_ROOTS[last]);
        let row = BOND_ROOTS.partition_point(|r| *r <= root).clamp(1, last);
        let (low, high) = (BOND_ROOTS[row - 1], BOND_ROOTS[row]);
        let u = ((root - low) / (high - low)) as f32;
        let place = (angle / std::f64::consts::PI).clamp(0.0, 1.0) * (ANGLES - 1) as f64;
        let column = (place.floor() as usize).min(ANGLES - 2);
        let v = (place - column as f64) as f32;
        let (a, b) = (self.column(column), self.column(column + 1));
        let near = [&a[row - 1], &a[row], &b[row - 1], &b[row]];
        let weights = [(1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v];
        let blend = |out: &mut [f32; POINTS], of: [&[f32; POINTS]; 4]| {
            let [p, q, r, s] = of;
            for i in 0..POINTS {
                out[i] = (p[i] * weights[0] + q[i] * weights[1])
                    + (r[i] * weights[2] + s[i] * weights[3]);
            }
        };
        blend(&mut out.x, near.map(|s| &s.x));
        blend(&mut out.y, near.map(|s| &s.y));
        blend(&mut out.z, near.map(|s| &s.z));
    }

    fn column(&self, index: usize) -> &[Shape] {
        self.columns[index].get_or_init(|| {
            let angle = std::f64::consts::PI * index as f64 / (ANGLES - 1) as f64;
            solve_column(self.contact_angle, angle)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_force_it_is_the_cap_of_its_contact_angle() {
        for degrees in [30.0, 60.0, 90.0, 120.0] {
            let table = ShapeTable::new(degrees);
            let mut shape = Shape::default();
            table.shape(0.0, 0.0, &mut shape);
            let volume = f64::from(shape.volume());
            assert!((volume / VOLUME - 1.0).abs() < 1e-3, "{degrees}: volume {volume}");
            let angle = shape.mean_contact_angle().to_degrees();
            assert!((angle - degrees).abs() < 2.0, "{degrees}: {angle}");
            // All points on one sphere.
            let c = f64::to_radians(degrees).cos();
            let sphere = (4.0 / (2.0 - 3.0 * c + c * c * c)).cbrt();
            let middle = DVec3::new(0.0, 0.0, -sphere * c);
            for ring in 0..=RINGS {
                let d = shape.point(ring, 3).distance(middle);
                assert!((d / sphere - 1.0).abs() < 0.03, "{degrees} ring {ring}: {d} {sphere}");
            }
        }
    }

    #[test]
    fn every_shape_has_its_volume_and_is_smooth() {
        let table = ShapeTable::new(70.0);
        let mut shape = Shape::default();
        for i in 0..12 {
            for j in 0..9 {
                let (bond, angle) = (f64::from(i) * 0.3, f64::from(j) * 0.4);
                table.shape(bond, angle, &mut shape);
                let volume = f64::from(shape.volume());
                assert!((volume / VOLUME - 1.0).abs() < 1e-3, "{bond} {angle}: {volume}");
                let turn = shape.sharpest_turn().to_degrees();
                assert!(turn < 45.0, "{bond} {angle}: a kink of {turn}");
            }
        }
    }

    #[test]
    fn mass_migrates_along_the_force() {
        let table = ShapeTable::new(70.0);
        let (mut calm, mut tilted, mut pulled) =
            (Shape::default(), Shape::default(), Shape::default());
        table.shape(0.0, 0.0, &mut calm);
        table.shape(0.6, std::f64::consts::FRAC_PI_2, &mut tilted);
        table.shape(0.6, std::f64::consts::PI, &mut pulled);
        let apex = |s: &Shape| s.point(RINGS, 0);
        let middle = |s: &Shape| s.x.iter().sum::<f32>() / POINTS as f32;
        assert!(middle(&tilted) > middle(&calm) + 0.02, "{}", middle(&tilted));
        assert!(apex(&pulled).z > apex(&calm).z + 0.02, "{}", apex(&pulled));
        let mut pressed = Shape::default();
        table.shape(2.0, 0.0, &mut pressed);
        assert!(apex(&pressed).z < apex(&calm).z - 0.05, "{}", apex(&pressed));
    }
}
