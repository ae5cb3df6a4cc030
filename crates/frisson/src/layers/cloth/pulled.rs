//! Pins that are moved farther apart than the cloth between them is long.
//!
//! Cloth that is clamped on two sides and pulled has to stretch, whatever its limit. Cords and limits that
//! do not know that fight the pins, and the cloth is torn between them. So every node is told how much
//! the pins ask of the cloth where it lies, and cords and limits there give by that much: what is asked
//! for is shared evenly by the fabric itself.
//!
//! ```text
//!   pin a o-----------------p-----------o pin b      |ab| now / |ab| along the cloth at rest = 1 + need
//!                          detour of p: (|ap| + |pb|) / |ab| - 1
//! ```

use glam::{DVec3, Vec3};

use crate::geometry::{Topology, geodesic_distances};
use crate::tolerances::cloth as limits;

/// Some of the pins, spread over all of them, and how far everything is from each along the cloth.
#[derive(Clone, Debug, Default)]
pub struct Pulled {
    /// Their nodes.
    pins: Vec<u32>,
    /// Distance of every node from each, row after row [m].
    distances: Vec<f32>,
    nodes: usize,
}

impl Pulled {
    /// Chooses pins as far from each other as possible.
    pub fn build(
        topology: &Topology,
        positions: &[Vec3],
        held: &[bool],
        node_of_point: &[u32],
    ) -> Self {
        let all: Vec<u32> = (0..held.len() as u32).filter(|&p| held[p as usize]).collect();
        let nodes = node_of_point.len();
        let mut pulled = Self { nodes, ..Self::default() };
        let mut apart = vec![f64::INFINITY; all.len()];
        let mut next = all.first().copied();
        while let Some(pin) = next.filter(|_| pulled.pins.len() < limits::PULLED_PINS) {
            let (distance, _) = geodesic_distances(topology, positions, &[pin]);
            pulled.pins.push(node_of_point[pin as usize]);
            let start = pulled.distances.len();
            pulled.distances.resize(start + nodes, f32::INFINITY);
            for (point, d) in distance.iter().enumerate() {
                pulled.distances[start + node_of_point[point] as usize] = *d as f32;
            }
            for (apart, &p) in apart.iter_mut().zip(&all) {
                *apart = apart.min(distance[p as usize]);
            }
            // The first of the farthest; other pieces of cloth count as farthest of all.
            let mut farthest = 0;
            for (k, d) in apart.iter().enumerate() {
                if *d > apart[farthest] {
                    farthest = k;
                }
            }
            next = (apart[farthest] > 0.0).then(|| all[farthest]);
        }
        if pulled.pins.len() < 2 {
            return Self::default();
        }
        pulled
    }

    fn row(&self, pin: usize) -> &[f32] {
        &self.distances[pin * self.nodes..(pin + 1) * self.nodes]
    }

    /// How much the pins, where they are now, ask of the cloth at every node [-]; empty when nothing.
    pub fn needs(&self, positions: &[DVec3], held: impl Fn(u32) -> bool, out: &mut Vec<f32>) {
        out.clear();
        for (a, &pin) in self.pins.iter().enumerate().filter(|(_, p)| held(**p)) {
            for (b, &other) in self.pins.iter().enumerate().take(a).filter(|(_, p)| held(**p)) {
                let rest = self.row(a)[other as usize];
                if !rest.is_finite() || rest <= 0.0 {
                    continue;
                }
                let now = positions[pin as usize].distance(positions[other as usize]);
                let need = (now / f64::from(rest) - 1.0) as f32;
                if need > limits::PULLED_FROM && need.is_finite() {
                    out.resize(self.nodes, 0.0);
                    self.ask((a, b), (rest, need), out);
                }
            }
        }
    }

    /// Raises what is asked of the nodes between two pins.
    fn ask(&self, (a, b): (usize, usize), (rest, need): (f32, f32), out: &mut [f32]) {
        let both = self.row(a).iter().zip(self.row(b));
        for (out, (from, to)) in out.iter_mut().zip(both) {
            let detour = (from + to) / rest - 1.0;
            let beside = (detour / limits::PULLED_DETOUR - 1.0).clamp(0.0, 1.0);
            *out = out.max(need * (1.0 - beside));
        }
    }
}
