//! Shapes of least energy, found by Newton's method from the neighbouring shape of the table.

use glam::{DVec2, DVec3};

use super::shape::{POINTS, RINGS, SLICES, Shape, VOLUME};
use crate::tolerances::drops::{SHAPE_LARGEST, SHAPE_RESIDUAL, SHAPE_SHARPEST};

/// Square roots of the Bond numbers at which shapes are solved: shapes change evenly with them.
pub const BOND_ROOTS: [f64; 8] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.3, 1.6];

/// Shapes of growing Bond number for one angle of the force, each starting from the one before.
pub fn solve_column(contact_angle: f64, angle: f64) -> Vec<Shape> {
    let mut solver = Solver::cap(contact_angle);
    let mut shapes: Vec<Shape> = Vec::with_capacity(BOND_ROOTS.len());
    let mut lost = false;
    for bond in BOND_ROOTS.map(|r| r * r) {
        if !lost {
            // Each shape starts Newton's method for the next: from the cap alone it would not get there.
            let kept = solver.clone();
            lost = !solver.solve(bond, angle);
            if lost && bond == 0.0 {
                // The cap itself, which is known in closed form.
                lost = false;
                solver = kept;
            }
        }
        match shapes.last() {
            // Beyond the critical Bond number a drop has let go or run: whatever is drawn is in motion, and must not jump.
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

/// Points that are not on the contact line.
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
        // Drops on a slope are seen to be longer along it; how much is set by eye, not solved for.
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
            // No point moves by more than 0.15 radii at a time: far from the solution Newton's steps overshoot.
            let damping = (0.15 / largest).min(1.0);
            for i in 0..FREE {
                let d = &mut self.distances[SLICES + i];
                // A point that reached the centre would have no ray to come back on.
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
                // Differences of exact gradients: with one of energies, half of the digits would be gone.
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
        // Singular: a critical shape, which can change at no cost.
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
            // Most of the matrix is empty: only neighbours on the grid of points touch each other.
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
