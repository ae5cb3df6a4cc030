//! Bending: the angle between the normals of two triangles wants its rest value, whatever their
//! shapes do (Bridson, Marino, Fedkiw 2003).
//!
//! ```text
//!            x2
//!           /  \        e = x1 - x0, the hinge
//!         x0 -- x1      n1 = (x2 - x0) x (x2 - x1), n2 = (x3 - x1) x (x3 - x0)
//!           \  /        theta = angle from n1 to n2 about e; 0 when flat
//!            x3
//! ```

use glam::{DVec3, Vec3};

use super::strips::Grouped;

/// A hinge as the mesh gives it.
#[derive(Clone, Copy, Debug)]
pub struct Hinge {
    /// The edge's two nodes, then the two opposite ones.
    pub nodes: [u32; 4],
    /// Rest angle [rad].
    pub rest: f32,
    /// Compliance `(A1 + A2) / (3 L² B)` [rad/(N·m)].
    pub compliance: f64,
}

/// A hinge ready to be solved: node indices count from the start of its strip.
#[derive(Clone, Copy, Debug, Default)]
pub struct HingeRow {
    nodes: [u32; 4],
    rest: f32,
    /// `alpha / (n h)²`.
    compliance: f32,
    inverse_mass: [f32; 4],
}

/// Fills the rows for the present inverse masses.
///
/// The pass runs every `n` steps of `h`, and each run stands for the impulse of all of them: `span`
/// is `n h`.
pub fn compile(
    hinges: &Grouped<Hinge>,
    starts: impl Fn(u32) -> u32,
    inverse_mass: &[f64],
    span: f64,
    rows: &mut Grouped<HingeRow>,
) {
    for (row, hinge) in rows.rows.iter_mut().zip(&hinges.rows) {
        let base = starts(hinge.nodes.iter().copied().min().unwrap_or(0));
        *row = HingeRow {
            nodes: hinge.nodes.map(|n| n - base),
            rest: hinge.rest,
            compliance: (hinge.compliance / (span * span)) as f32,
            inverse_mass: hinge.nodes.map(|n| inverse_mass[n as usize] as f32),
        };
    }
}

/// Angle of a hinge and its gradient at the four nodes; `None` when a triangle has no area.
#[inline(always)]
pub fn angle_gradient(x: [Vec3; 4]) -> Option<(f32, [Vec3; 4])> {
    // Relative to one node: differences of nearby points keep their digits in f32.
    let e = x[1] - x[0];
    let (a, b) = (x[2] - x[0], x[3] - x[0]);
    let n1 = a.cross(x[2] - x[1]);
    let n2 = (x[3] - x[1]).cross(b);
    let (s1, s2, length_sq) = (n1.length_squared(), n2.length_squared(), e.length_squared());
    if s1.min(s2) <= f32::MIN_POSITIVE || length_sq <= f32::MIN_POSITIVE {
        return None;
    }
    let length = length_sq.sqrt();
    let angle = atan2(n1.cross(n2).dot(e), length * n1.dot(n2));
    let (u1, u2) = (n1 * (-1.0 / (s1 * length)), n2 * (-1.0 / (s2 * length)));
    let (t1, t2) = (a.dot(e), b.dot(e));
    let g2 = u1 * length_sq;
    let g3 = u2 * length_sq;
    let g0 = u1 * (t1 - length_sq) + u2 * (t2 - length_sq);
    let g1 = -(u1 * t1 + u2 * t2);
    Some((angle, [g0, g1, g2, g3]))
}

/// Four-quadrant arc tangent to 2e-6 rad: the libm one would cost as much as the rest of the hinge.
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    let (ax, ay) = (x.abs(), y.abs());
    let (low, high) = (ax.min(ay), ax.max(ay));
    let z = if high > 0.0 { low / high } else { 0.0 };
    let q = z * z;
    let p = -0.011_721_2_f32;
    let p = p * q + 0.052_653_32;
    let p = p * q - 0.116_432_87;
    let p = p * q + 0.193_543_46;
    let p = p * q - 0.332_623_47;
    let p = (p * q + 0.999_977_26) * z;
    let p = if ay > ax { std::f32::consts::FRAC_PI_2 - p } else { p };
    let p = if x < 0.0 { std::f32::consts::PI - p } else { p };
    p.copysign(y)
}

/// Solves the rows of one strip, one after the other.
pub fn solve(rows: &[HingeRow], nodes: &mut [DVec3]) {
    for row in rows {
        let [i, j, k, l] = row.nodes;
        let [i, j, k, l] = [i as usize, j as usize, k as usize, l as usize];
        let origin = nodes[i];
        let x = [
            Vec3::ZERO,
            (nodes[j] - origin).as_vec3(),
            (nodes[k] - origin).as_vec3(),
            (nodes[l] - origin).as_vec3(),
        ];
        let Some((angle, g)) = angle_gradient(x) else { continue };
        let mut c = angle - row.rest;
        // The short way round for rest angles near half a turn.
        if c > std::f32::consts::PI {
            c -= std::f32::consts::TAU;
        } else if c < -std::f32::consts::PI {
            c += std::f32::consts::TAU;
        }
        let w = &row.inverse_mass;
        let weight = w[0] * g[0].length_squared()
            + w[1] * g[1].length_squared()
            + w[2] * g[2].length_squared()
            + w[3] * g[3].length_squared();
        let total = weight + row.compliance;
        let lambda = -c / total;
        if !lambda.is_finite() {
            continue;
        }
        nodes[i] += (g[0] * (lambda * w[0])).as_dvec3();
        nodes[j] += (g[1] * (lambda * w[1])).as_dvec3();
        nodes[k] += (g[2] * (lambda * w[2])).as_dvec3();
        nodes[l] += (g[3] * (lambda * w[3])).as_dvec3();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hinge(angle: f32) -> [Vec3; 4] {
        [Vec3::ZERO, Vec3::X, Vec3::new(0.3, 1.0, 0.0), Vec3::new(0.6, -angle.cos(), -angle.sin())]
    }

    #[test]
    fn angle_is_that_of_the_fold_and_the_gradient_is_its_derivative() {
        for angle in [-2.5f32, -1.0, -0.1, 0.0, 0.3, 1.2, 2.9] {
            let x = hinge(angle);
            let (measured, gradient) = angle_gradient(x).unwrap();
            assert!((measured.abs() - angle.abs()).abs() < 1e-5, "{measured} for {angle}");
            for node in 0..4 {
                for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                    let nudged = |by: f32| {
                        let mut y = x;
                        y[node] += by * axis;
                        angle_gradient(y).unwrap().0
                    };
                    let slope = (nudged(5e-3) - nudged(-5e-3)) / 1e-2;
                    let expected = gradient[node].dot(axis);
                    assert!(
                        (slope - expected).abs() < 2e-3,
                        "{angle} node {node} {axis}: {slope} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn arc_tangent_is_right_in_all_quadrants() {
        for i in 0..1000 {
            let t = i as f32 * 0.0062 - 3.1;
            assert!((atan2(t.sin(), t.cos()) - t).abs() < 3e-6, "{t}");
        }
    }
}
