//! Air inside a closed cloth: it keeps (a multiple of) its volume, or pushes with a given overpressure.
//!
//! Volume: one constraint on all nodes, `C = V - k V0` with `V = sum x0 · (x1 x x2) / 6` (Müller et al.
//! 2006), solved by the same small-step rule as the others. Where the skin is too small for the air even
//! as a ball, it has to stretch, and the air stretches it evenly:
//!
//! ```text
//!   swell = (V / Vb)^(1/3)     Vb = A^(3/2) / (6 sqrt(pi)): volume of the ball of the skin's area
//! ```
//!
//! The edges then want `swell` times their lengths. Left to fight the air for the old ones, they would
//! give way in the order in which they are solved: one to a half, another to twice its length.

use glam::DVec3;

/// What the air does to the skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inflation {
    /// Volume to keep [m³].
    pub volume: f64,
    /// Length of the skin's edges, in lengths at rest [-].
    pub swell: f64,
}

impl Inflation {
    /// Air of a volume in a skin of an area that may stretch up to a limit. There is no more air than it
    /// can hold as a ball.
    pub fn new(volume: f64, area: f64, stretch_limit: f64) -> Self {
        let ball = area.powf(1.5) / (6.0 * std::f64::consts::PI.sqrt());
        let swell = (volume / ball).cbrt().clamp(1.0, 1.0 + stretch_limit);
        Self { volume: volume.min(swell.powi(3) * ball), swell }
    }
}

/// Area of triangles [m²].
pub fn area(triangles: &[[u32; 3]], positions: &[DVec3]) -> f64 {
    let twice = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|n| positions[n as usize]);
        (b - a).cross(c - a).length()
    };
    0.5 * triangles.iter().map(twice).sum::<f64>()
}

/// Enclosed volume of outward-facing triangles [m³].
pub fn volume(triangles: &[[u32; 3]], positions: &[DVec3]) -> f64 {
    // About the first node: far from the origin the triple products would cancel badly.
    let origin = positions.first().copied().unwrap_or_default();
    let six: f64 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|n| positions[n as usize] - origin);
            a.dot(b.cross(c))
        })
        .sum();
    six / 6.0
}

/// Moves the nodes so that the volume meets `wanted`; `gradient` is scratch.
pub fn solve(
    triangles: &[[u32; 3]],
    inverse_mass: &[f64],
    wanted: f64,
    positions: &mut [DVec3],
    gradient: &mut Vec<DVec3>,
) {
    measure_gradient(triangles, positions, gradient);
    let weight: f64 = gradient.iter().zip(inverse_mass).map(|(g, w)| w * g.length_squared()).sum();
    if weight <= 0.0 || !weight.is_finite() {
        return;
    }
    let lambda = (wanted - volume(triangles, positions)) / weight;
    for ((p, g), w) in positions.iter_mut().zip(gradient.iter()).zip(inverse_mass) {
        *p += *g * (lambda * w);
    }
}

/// Moves the nodes as an overpressure [Pa] does in a step of `step` seconds; `gradient` is scratch.
pub fn push(
    triangles: &[[u32; 3]],
    inverse_mass: &[f64],
    (pressure, step): (f64, f64),
    positions: &mut [DVec3],
    gradient: &mut Vec<DVec3>,
) {
    measure_gradient(triangles, positions, gradient);
    for ((p, g), w) in positions.iter_mut().zip(gradient.iter()).zip(inverse_mass) {
        *p += *g * (pressure * step * step * w);
    }
}

/// How the volume grows with every node.
fn measure_gradient(triangles: &[[u32; 3]], positions: &[DVec3], gradient: &mut Vec<DVec3>) {
    gradient.clear();
    gradient.resize(positions.len(), DVec3::ZERO);
    for t in triangles {
        let [i, j, k] = t.map(|n| n as usize);
        let (a, b, c) = (positions[i], positions[j], positions[k]);
        let normal = (b - a).cross(c - a) / 6.0;
        // Each corner gets a third of the area vector: the exact gradient on a closed mesh.
        gradient[i] += normal;
        gradient[j] += normal;
        gradient[k] += normal;
    }
}
