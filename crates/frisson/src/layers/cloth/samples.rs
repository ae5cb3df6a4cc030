//! Contact between the nodes of a coarse cloth.
//!
//! A cape of a few dozen vertices has triangles much larger than the shoulder under it, which would come
//! through between the nodes. So triangles that are larger than those of the body carry **samples**:
//! places that touch as nodes do, and hand what moves them on to the corners.
//!
//! ```text
//!        o            w: weights of a sample, W: inverse masses of the corners
//!       / \           corner k moves by  w_k W_k / sum(w² W)  of what the sample has to move
//!      x   x
//!     /  x  \         (x: samples of a triangle cut in three)
//!    o--x-x--o
//! ```

use glam::DVec3;

use super::rest::ClothRest;
use super::selfs::share_edges;
use crate::tolerances::cloth as limits;

/// A place on a triangle.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    nodes: [u32; 3],
    weights: [f64; 3],
}

/// All samples of a cloth.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    rows: Vec<Sample>,
    positions: Vec<DVec3>,
    velocities: Vec<DVec3>,
}

impl Samples {
    /// Cuts every triangle until its pieces are about as long as `piece` [m].
    pub fn build(rest: &ClothRest, positions: &[DVec3], piece: f64) -> Self {
        let mut rows = Vec::new();
        let own_edges = share_edges(&rest.triangles);
        for (&nodes, own) in rest.triangles.iter().zip(own_edges) {
            let [a, b, c] = nodes.map(|n| positions[n as usize]);
            let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
            let cuts = ((longest / piece) as u32).min(limits::MOST_SAMPLE_CUTS);
            for i in 0..=cuts {
                for j in 0..=cuts - i {
                    let parts = [i, j, cuts - i - j];
                    // Corners are nodes; edges are shared with the next triangle.
                    let own_place = match parts.iter().filter(|p| **p == 0).count() {
                        0 => true,
                        1 => own & opposite_edge(parts) != 0,
                        _ => false,
                    };
                    if own_place {
                        let weights = parts.map(|p| f64::from(p) / f64::from(cuts));
                        rows.push(Sample { nodes, weights });
                    }
                }
            }
        }
        Self { rows, ..Self::default() }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The samples.
    pub fn rows(&self) -> &[Sample] {
        &self.rows
    }

    /// Positions and velocities of the nodes, then those of the samples.
    pub fn with_nodes(&mut self, x: &[DVec3], v: &[DVec3]) -> (&[DVec3], &[DVec3]) {
        self.positions.clear();
        self.velocities.clear();
        self.positions.extend_from_slice(x);
        self.velocities.extend_from_slice(v);
        self.positions.extend(self.rows.iter().map(|s| s.place(x)));
        self.velocities.extend(self.rows.iter().map(|s| s.place(v)));
        (&self.positions, &self.velocities)
    }
}

/// Bit of the edge without the one corner that has no part.
fn opposite_edge(parts: [u32; 3]) -> u8 {
    let corner = parts.iter().position(|p| *p == 0).unwrap_or(0);
    1 << ((corner + 1) % 3)
}

impl Sample {
    /// The sample's value, from those of the nodes.
    pub fn place(&self, of_nodes: &[DVec3]) -> DVec3 {
        let at = |k: usize| of_nodes[self.nodes[k] as usize] * self.weights[k];
        at(0) + at(1) + at(2)
    }

    /// Moves the corners so that the sample moves by `now`, and its place before by `old`; less where
    /// but a far corner is free.
    pub fn hand_on(
        &self,
        (now, old): (DVec3, DVec3),
        inverse_mass: &[f64],
        previous: &mut [DVec3],
        positions: &mut [DVec3],
    ) {
        let shares = [0, 1, 2].map(|k| self.weights[k] * inverse_mass[self.nodes[k] as usize]);
        let total: f64 = (0..3).map(|k| self.weights[k] * shares[k]).sum();
        if total <= 0.0 {
            return;
        }
        let most = shares.iter().copied().fold(0.0, f64::max) / total;
        let scale = (limits::MOST_SAMPLE_LEVER / most).min(1.0) / total;
        for (share, n) in shares.into_iter().zip(self.nodes) {
            positions[n as usize] += now * (share * scale);
            previous[n as usize] += old * (share * scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_moves_by_what_it_hands_on() {
        let sample = Sample { nodes: [0, 1, 2], weights: [0.5, 0.25, 0.25] };
        let start = vec![DVec3::X, DVec3::Y, DVec3::Z];
        let (mut x, mut old) = (start.clone(), start.clone());
        sample.hand_on((DVec3::Y, DVec3::ZERO), &[1.0, 3.0, 0.0], &mut old, &mut x);
        assert!((sample.place(&x) - sample.place(&start) - DVec3::Y).length() < 1e-12);
        assert_eq!((old == start, x[2]), (true, DVec3::Z));
        sample.hand_on((DVec3::Y, DVec3::ZERO), &[0.0; 3], &mut old, &mut x);
        assert!(x.iter().all(|p| p.is_finite()), "held corners stay");
    }
}
