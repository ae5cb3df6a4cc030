//! Overpressure: the air inside a closed cloth keeps (a multiple of) its volume.
//!
//! One constraint on all nodes, `C = V - k V0` with `V = sum x0 · (x1 x x2) / 6` (Müller et al.
//! 2006), solved by the same small-step rule as the others.

use glam::DVec3;

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
    let weight: f64 = gradient.iter().zip(inverse_mass).map(|(g, w)| w * g.length_squared()).sum();
    if weight <= 0.0 || !weight.is_finite() {
        return;
    }
    let lambda = (wanted - volume(triangles, positions)) / weight;
    for ((p, g), w) in positions.iter_mut().zip(gradient.iter()).zip(inverse_mass) {
        *p += *g * (lambda * w);
    }
}
