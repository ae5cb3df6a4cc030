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

use glam::{DVec3, Vec3, Vec4};

use super::lanes::{self, Moving, Vec3x4};
use super::strips::{Grouped, Strips};

/// A hinge as the mesh gives it.
#[derive(Clone, Copy, Debug)]
pub struct Hinge {
    /// The edge's two nodes, then the two opposite ones.
    pub nodes: [u32; 4],
    /// Rest angle [rad].
    pub rest: f32,
    /// Compliance `(A1 + A2) / (3 L² B)` [rad/(N·m)].
    pub compliance: f64,
    /// Weights of the nodes whose sum of positions is the angle times the normal, as long as it is small
    /// [1/m]: they add up to 0.
    pub flat: [f64; 4],
    /// How much of the way across it the hinge stands for, `(A1 + A2) / L` [m]: its angle over that is the
    /// curvature.
    pub width: f32,
    /// How many times stiffer it gets where pulled pins ask the cloth to be twice as long [-].
    pub taut: f32,
}

/// The weights [`Hinge::flat`] of a hinge, from the shapes of its triangles: `2 sin(θ/2)` times the mean normal
/// for any angle.
pub fn flat_weights(x: [DVec3; 4]) -> [f64; 4] {
    let cotangent = |corner: usize, other: usize, tip: usize| {
        let (a, b) = (x[other] - x[corner], x[tip] - x[corner]);
        a.dot(b) / a.cross(b).length().max(f64::MIN_POSITIVE)
    };
    let (c1, c2) = (cotangent(0, 1, 2), cotangent(0, 1, 3));
    let (c3, c4) = (cotangent(1, 0, 2), cotangent(1, 0, 3));
    // Divided by the edge's own length: weights times positions are an angle and not a length.
    let length = x[0].distance(x[1]).max(f64::MIN_POSITIVE);
    [c3 + c4, c1 + c2, -c1 - c3, -c2 - c4].map(|weight| weight / length)
}

/// Four hinges without a common node, ready to be solved at once: node indices count from the start
/// of their strip. Empty lanes have no mass.
#[derive(Clone, Copy, Debug)]
pub struct HingePack {
    /// Per place in the hinge, the nodes of the four hinges.
    nodes: [[u32; 4]; 4],
    rest: Vec4,
    /// Numbers of the hinges among all of the cloth.
    numbers: [u32; 4],
    /// `alpha / (n h)²`.
    compliance: Vec4,
    /// [`Hinge::taut`].
    taut: Vec4,
    /// Share of the compliance that is left where the cloth is pulled taut [-].
    left: Vec4,
    inverse_mass: [Vec4; 4],
}

impl Default for HingePack {
    fn default() -> Self {
        Self {
            nodes: [[0; 4]; 4],
            rest: Vec4::ZERO,
            numbers: [u32::MAX; 4],
            compliance: Vec4::ONE,
            taut: Vec4::ZERO,
            left: Vec4::ONE,
            inverse_mass: [Vec4::ZERO; 4],
        }
    }
}

/// Packs the hinges of every strip in their order, for the present inverse masses, except those that are
/// solved together elsewhere.
///
/// The pass runs every `n` steps of `h`, and each run stands for the impulse of all of them: `span`
/// is `n h`.
pub fn compile(
    hinges: &Grouped<Hinge>,
    strips: &Strips,
    inverse_mass: &[f64],
    span: f64,
    is_left_out: impl Fn(&Hinge) -> bool,
) -> Grouped<HingePack> {
    Grouped::collect(strips.len(), |strip, packs| {
        let base = strips.start(strip);
        // A full pack: the first hinge of a strip opens one.
        let mut lane = 4;
        let own = hinges.first(strip)..;
        for (number, hinge) in own.zip(hinges.of(strip)).filter(|(_, h)| !is_left_out(h)) {
            let nodes = hinge.nodes.map(|n| n - base);
            let clash = |pack: &HingePack| {
                nodes.iter().any(|n| pack.nodes.iter().any(|p| p[..lane].contains(n)))
            };
            // In their order: no hinge overtakes one that it shares a node with.
            if lane == 4 || packs.last().is_some_and(clash) {
                packs.push(HingePack::default());
                lane = 0;
            }
            let Some(pack) = packs.last_mut() else { continue };
            for place in 0..4 {
                pack.nodes[place][lane] = nodes[place];
                pack.inverse_mass[place][lane] = inverse_mass[hinge.nodes[place] as usize] as f32;
            }
            pack.rest[lane] = hinge.rest;
            pack.taut[lane] = hinge.taut;
            pack.numbers[lane] = number;
            // Over the span of all small steps that one solve stands for.
            pack.compliance[lane] = (hinge.compliance / (span * span)) as f32;
            lane += 1;
        }
    })
}

/// Stiffens the hinges of cloth that pulled pins draw taut, by what they ask of each node; empty `needs` put them back.
///
/// Across such a pull threads are pressed together. Between nodes that lie farther apart than the wrinkles that this
/// makes, the only wrinkle that the mesh can show is a pleat from row to row, which no cloth has.
pub fn tighten(packs: &mut Grouped<HingePack>, strips: &Strips, needs: &[f32]) {
    for strip in 0..strips.len() {
        let base = strips.start(strip);
        let need = |n: u32| needs.get((base + n) as usize).copied().unwrap_or(0.0);
        for pack in packs.of_mut(strip) {
            let asked = |k: usize| need(pack.nodes[0][k]).max(need(pack.nodes[1][k]));
            let asked = Vec4::from_array(std::array::from_fn(asked));
            pack.left = (Vec4::ONE + pack.taut * asked).recip();
        }
    }
}

/// Gives hinges other angles at rest: one for each of the cloth.
pub fn set_rest_angles(packs: &mut [HingePack], angles: &[f32]) {
    // Most cloth has no crease: nothing is looked through for that.
    if angles.is_empty() {
        return;
    }
    for pack in packs {
        for lane in 0..4 {
            if let Some(angle) = angles.get(pack.numbers[lane] as usize) {
                pack.rest[lane] = *angle;
            }
        }
    }
}

/// Angle of a hinge and its gradient at the four nodes; `None` when a triangle has no area.
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
    let angle = n1.cross(n2).dot(e).atan2(length * n1.dot(n2));
    let (u1, u2) = (n1 * (-1.0 / (s1 * length)), n2 * (-1.0 / (s2 * length)));
    let (t1, t2) = (a.dot(e), b.dot(e));
    let g2 = u1 * length_sq;
    let g3 = u2 * length_sq;
    let g0 = u1 * (t1 - length_sq) + u2 * (t2 - length_sq);
    let g1 = -(u1 * t1 + u2 * t2);
    Some((angle, [g0, g1, g2, g3]))
}

/// Solves the packs of one strip, one after the other.
pub fn solve(packs: &[HingePack], nodes: &mut [Moving]) {
    for pack in packs {
        solve_pack(pack, nodes);
    }
}

#[inline(always)]
fn solve_pack(pack: &HingePack, nodes: &mut [Moving]) {
    let at = pack.nodes;
    let x0 = Vec3x4::gather(nodes, at[0]);
    let e = Vec3x4::gather(nodes, at[1]) - x0;
    let a = Vec3x4::gather(nodes, at[2]) - x0;
    let b = Vec3x4::gather(nodes, at[3]) - x0;
    let (n1, n2) = (a.cross(a - e), (b - e).cross(b));
    let (s1, s2, length_sq) = (n1.length_squared(), n2.length_squared(), e.length_squared());
    let least = Vec4::splat(f32::MIN_POSITIVE);
    let good = s1.min(s2).min(length_sq).cmpgt(least);
    // Triangles without area (and empty lanes) get harmless numbers and are left out at the end.
    let [s1, s2, length_sq] = [s1, s2, length_sq].map(|v| Vec4::select(good, v, Vec4::ONE));
    let length = lanes::sqrt(length_sq);
    let angle = lanes::atan2(n1.cross(n2).dot(e), length * n1.dot(n2));
    // The short way round for rest angles near half a turn.
    let turn = Vec4::splat(std::f32::consts::TAU);
    let half = Vec4::splat(std::f32::consts::PI);
    let c = angle - pack.rest;
    let c = Vec4::select(c.cmpgt(half), c - turn, c);
    let c = Vec4::select(c.cmplt(-half), c + turn, c);
    let (u1, u2) = (n1 * (-Vec4::ONE / (s1 * length)), n2 * (-Vec4::ONE / (s2 * length)));
    let (t1, t2) = (a.dot(e), b.dot(e));
    let g = [
        u1 * (t1 - length_sq) + u2 * (t2 - length_sq),
        u1 * -t1 + u2 * -t2,
        u1 * length_sq,
        u2 * length_sq,
    ];
    let w = pack.inverse_mass;
    let weight = w[0] * g[0].length_squared()
        + w[1] * g[1].length_squared()
        + w[2] * g[2].length_squared()
        + w[3] * g[3].length_squared();
    let total = weight + pack.compliance * pack.left;
    let lambda = Vec4::select(good & total.cmplt(Vec4::splat(f32::MAX)), -c / total, Vec4::ZERO);
    for place in 0..4 {
        (g[place] * (lambda * w[place])).add_to(nodes, at[place]);
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
    fn four_hinges_at_once_are_solved_as_one_by_one() {
        let angles = [-2.5f32, 0.3, 1.2, 0.0];
        let hinges: Vec<Hinge> = (0..4u32)
            .map(|k| Hinge {
                nodes: [4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3],
                rest: 0.4,
                compliance: 1e-3,
                flat: [0.0; 4],
                width: 1.0,
                taut: 0.0,
            })
            .collect();
        let levels = vec![0; 16];
        let strips = Strips::build(&levels);
        let mass: Vec<f64> = (0..16).map(|n| 1.0 + f64::from(n % 3)).collect();
        let grouped = Grouped::build(&strips, hinges, |_| 0);
        let packs = compile(&grouped, &strips, &mass, 0.1, |_| false);
        assert_eq!(packs.rows.len(), 1);
        let start: Vec<Vec3> = angles.iter().flat_map(|a| hinge(*a)).collect();
        let still = |p: &Vec3| Moving { start: p.extend(0.0), moved: Vec4::ZERO };
        let mut nodes: Vec<Moving> = start.iter().map(still).collect();
        solve(&packs.rows, &mut nodes);
        for (k, angle) in angles.into_iter().enumerate() {
            let (measured, g) = angle_gradient(hinge(angle)).unwrap();
            let w = |i: usize| mass[4 * k + i] as f32;
            let weight: f32 = (0..4).map(|i| w(i) * g[i].length_squared()).sum();
            let lambda = -(measured - 0.4) / (weight + 0.1);
            for i in 0..4 {
                let expected = g[i] * (lambda * w(i));
                let found = nodes[4 * k + i].moved.truncate();
                assert!((found - expected).length() < 2e-5, "{angle} {i}: {found} {expected}");
            }
        }
    }
}
