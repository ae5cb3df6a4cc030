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

use glam::{DVec2, DVec3};

use crate::tolerances::drops::{SHAPE_LARGEST, SHAPE_RESIDUAL, SHAPE_SHARPEST};

/// Rings, the contact line included, the apex not.
pub const RINGS: usize = 7;
/// Points of a ring.
pub const SLICES: usize = 16;
/// Points of a shape: rings from the contact line up, then the apex.
pub const POINTS: usize = RINGS * SLICES + 1;
/// Volume of every shape, in cubed radii.
pub const VOLUME: f64 = 4.0 / 3.0 * std::f64::consts::PI;

/// Square roots of the Bond numbers at which shapes are solved: shapes change evenly with them.
const BOND_ROOTS: [f64; 8] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.3, 1.6];
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

/// Shapes of growing Bond number for one angle of the force, each starting from the one before.
fn solve_column(contact_angle: f64, angle: f64) -> Vec<Shape> {
    let mut solver = Solver::cap(contact_angle);
    let mut shapes: Vec<Shape> = Vec::with_capacity(BOND_ROOTS.len());
    let mut lost = false;
    for bond in BOND_ROOTS.map(|r| r * r) {
        if !lost {
            let kept = solver.clone();
            lost = !solver.solve(bond, angle);
            if lost && bond == 0.0 {
                // The cap itself, which is known in closed form.
                lost = false;
                solver = kept;
            }
        }
        match shapes.last() {
            Some(last) if lost => shapes.push(last.clone()),
            _ => {
                let mut shape = solver.shape();
                shape.fix_volume();
                shapes.push(shape);
            }
        }
    }
    shapes
}

/// Unknowns: the distance of every free point along its ray.
#[derive(Clone)]
struct Solver {
    contact_angle: f64,
    /// Radius of the contact line.
    contact: f64,
    /// Ellipse of the contact line: factor along x, its inverse along y.
    long: f64,
    center: DVec3,
    rays: Vec<DVec3>,
    distances: Vec<f64>,
    pressure: f64,
}

const FREE: usize = POINTS - SLICES;

impl Solver {
    /// The spherical cap of a contact angle: the shape without a force.
    fn cap(theta: f64) -> Self {
        let c = theta.cos();
        let sphere = (4.0 / (2.0 - 3.0 * c + c * c * c)).cbrt();
        let (contact, height) = (sphere * theta.sin(), sphere * (1.0 - c));
        let middle = sphere - height;
        // A centre from which the whole cap is seen.
        let center = DVec3::new(
            0.0,
            0.0,
            if theta > 1.2 { -middle.min(0.0) * 0.8 + 0.1 * height } else { 0.0 },
        );
        let mut points = Vec::with_capacity(POINTS);
        for ring in 0..RINGS {
            let polar = theta * (1.0 - ring as f64 / RINGS as f64);
            for slice in 0..SLICES {
                let turn = std::f64::consts::TAU * slice as f64 / SLICES as f64;
                let flat = DVec2::from_angle(turn) * (sphere * polar.sin());
                points.push(DVec3::new(flat.x, flat.y, sphere * polar.cos() - middle));
            }
        }
        points.push(DVec3::new(0.0, 0.0, height));
        Self {
            contact_angle: theta,
            contact,
            long: 1.0,
            center,
            rays: points.iter().map(|p| (*p - center).normalize_or(DVec3::Z)).collect(),
            distances: points.iter().map(|p| (*p - center).length()).collect(),
            pressure: 2.0 / sphere,
        }
    }

    fn point(&self, i: usize) -> DVec3 {
        if i < SLICES {
            let turn = std::f64::consts::TAU * i as f64 / SLICES as f64;
            let (x, y) = (turn.cos() * self.long, turn.sin() / self.long);
            return DVec3::new(self.contact * x, self.contact * y, 0.0);
        }
        self.center + self.rays[i] * self.distances[i]
    }

    fn shape(&self) -> Shape {
        let mut shape = Shape::default();
        for i in 0..POINTS {
            let p = self.point(i);
            shape.x[i] = p.x as f32;
            shape.y[i] = p.y as f32;
            shape.z[i] = p.z as f32;
        }
        shape
    }

    /// Finds the equilibrium; false when there is none near.
    fn solve(&mut self, bond: f64, angle: f64) -> bool {
        let force = DVec3::new(angle.sin(), 0.0, -angle.cos());
        self.long = 1.0 + 0.12 * (bond * angle.sin()).min(2.0);
        for round in 0..8 {
            if !self.newton(bond, force) {
                return false;
            }
            let error = self.shape().mean_contact_angle() - self.contact_angle;
            if error.abs() < 0.004 || round == 7 {
                break;
            }
            // A wider line has a smaller angle.
            self.contact *= (1.0 + 0.45 * error).clamp(0.85, 1.18);
        }
        self.distances.iter().all(|d| *d < SHAPE_LARGEST)
            && self.shape().sharpest_turn() < SHAPE_SHARPEST
    }

    /// Newton's method on energy minus pressure times volume, and the volume.
    fn newton(&mut self, bond: f64, force: DVec3) -> bool {
        for _ in 0..40 {
            let (matrix, residual) = self.assemble(bond, force);
            let size = residual.iter().fold(0.0f64, |m, r| m.max(r.abs()));
            if size < SHAPE_RESIDUAL {
                return true;
            }
            let Some(step) = solve_dense(matrix, residual) else { return false };
            let largest = step[..FREE].iter().fold(0.0f64, |m, s| m.max(s.abs()));
            let damping = (0.15 / largest).min(1.0);
            for i in 0..FREE {
                let d = &mut self.distances[SLICES + i];
                *d = (*d - damping * step[i]).max(0.02);
            }
            self.pressure -= damping * step[FREE];
            if !(largest.is_finite() && self.distances.iter().all(|d| *d < 2.0 * SHAPE_LARGEST)) {
                return false;
            }
        }
        false
    }

    fn triangles() -> impl Iterator<Item = [usize; 3]> {
        (0..RINGS).flat_map(|ring| {
            (0..SLICES).flat_map(move |slice| {
                let (a, b) = (ring * SLICES + slice, ring * SLICES + (slice + 1) % SLICES);
                let top = ring + 1 == RINGS;
                let (c, d) = if top { (POINTS - 1, POINTS - 1) } else { (a + SLICES, b + SLICES) };
                let first = [a, b, d];
                let second = if top { None } else { Some([a, d, c]) };
                std::iter::once(first).chain(second)
            })
        })
    }

    /// Jacobian and residual; per triangle, exact gradients and their differences.
    fn assemble(&self, bond: f64, force: DVec3) -> (Vec<f64>, Vec<f64>) {
        const N: usize = FREE + 1;
        let mut matrix = vec![0.0; N * N];
        let mut residual = vec![0.0; N];
        let mut volume = 0.0;
        for corners in Self::triangles() {
            let p = corners.map(|i| self.point(i));
            volume += p[0].dot(p[1].cross(p[2])) / 6.0;
            let rays = corners.map(|i| if i < SLICES { DVec3::ZERO } else { self.rays[i] });
            let gradient = |p: [DVec3; 3]| {
                let (energy, volume) = triangle_gradients(p, bond, force);
                let e: [f64; 3] =
                    std::array::from_fn(|k| rays[k].dot(energy[k] - volume[k] * self.pressure));
                let v: [f64; 3] = std::array::from_fn(|k| rays[k].dot(volume[k]));
                (e, v)
            };
            let (here, swept) = gradient(p);
            for k in 0..3 {
                let Some(row) = corners[k].checked_sub(SLICES) else { continue };
                residual[row] += here[k];
                matrix[row * N + FREE] -= swept[k];
                matrix[FREE * N + row] -= swept[k];
                let h = 1e-6;
                let moved = |sign: f64| {
                    let mut q = p;
                    q[k] += rays[k] * (sign * h);
                    gradient(q).0
                };
                let (plus, minus) = (moved(1.0), moved(-1.0));
                for j in 0..3 {
                    if let Some(column) = corners[j].checked_sub(SLICES) {
                        matrix[column * N + row] += (plus[j] - minus[j]) / (2.0 * h);
                    }
                }
            }
        }
        residual[FREE] = VOLUME - volume;
        (matrix, residual)
    }
}

/// Gradients of (area - Bond moment) and of the volume of the tetrahedron to the origin.
fn triangle_gradients(p: [DVec3; 3], bond: f64, force: DVec3) -> ([DVec3; 3], [DVec3; 3]) {
    let normal = (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero();
    let volume = p[0].dot(p[1].cross(p[2])) / 6.0;
    let arm = (p[0] + p[1] + p[2]) / 4.0;
    let mut energy = [DVec3::ZERO; 3];
    let mut swept = [DVec3::ZERO; 3];
    for k in 0..3 {
        let (a, b) = (p[(k + 1) % 3], p[(k + 2) % 3]);
        swept[k] = a.cross(b) / 6.0;
        let area = 0.5 * normal.cross(b - a);
        let moment = swept[k] * force.dot(arm) + force * (0.25 * volume);
        energy[k] = area - moment * bond;
    }
    (energy, swept)
}

/// Gaussian elimination with row pivoting.
fn solve_dense(mut a: Vec<f64>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|&r, &s| a[r * n + i].abs().total_cmp(&a[s * n + i].abs()))?;
        if a[pivot * n + i].abs() <= 1e-14 {
            return None;
        }
        if pivot != i {
            for j in 0..n {
                a.swap(i * n + j, pivot * n + j);
            }
            b.swap(i, pivot);
        }
        let (top, rest) = a.split_at_mut((i + 1) * n);
        let row = &top[i * n..];
        for (r, lower) in rest.chunks_exact_mut(n).enumerate() {
            let factor = lower[i] / row[i];
            if factor != 0.0 {
                for j in i..n {
                    lower[j] -= factor * row[j];
                }
                b[i + 1 + r] -= factor * b[i];
            }
        }
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|j| a[i * n + j] * b[j]).sum();
        b[i] = (b[i] - sum) / a[i * n + i];
    }
    Some(b)
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
