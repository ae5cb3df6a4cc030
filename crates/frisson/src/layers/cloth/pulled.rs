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
    /// Pairs of them with free cloth between, as indices into `pins`.
    spanned: Vec<[usize; 2]>,
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
        // The farthest from those that were taken, again and again: a few pins that stand for hundreds.
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
        // One pin cannot be pulled apart from anything.
        if pulled.pins.len() < 2 {
            return Self::default();
        }
        let (nearest, _) = geodesic_distances(topology, positions, &all);
        let mut from_pins = vec![0.0; nodes];
        for (point, d) in nearest.iter().enumerate() {
            from_pins[node_of_point[point] as usize] = *d as f32;
        }
        pulled.find_spanned(&from_pins);
        pulled
    }

    /// Finds the pairs with free cloth on the way between them: pins along one border have none. Without pairs that have
    /// most of the cloth between them nothing is spanned: a sheet that hangs by two corners is taut along its border only,
    /// and as little of it as that needs no effort of the whole.
    fn find_spanned(&mut self, from_pins: &[f32]) {
        let pairs = (0..self.pins.len()).flat_map(|a| (0..a).map(move |b| [a, b]));
        let mut is_between = vec![false; self.nodes];
        let mut spanned = Vec::new();
        for [a, b] in pairs {
            let rest = self.row(a)[self.pins[b] as usize];
            if !(rest.is_finite() && rest > 0.0) {
                continue;
            }
            let on_way =
                |n: usize| self.row(a)[n] + self.row(b)[n] < (1.0 + limits::TAUT_DETOUR) * rest;
            if (0..self.nodes).any(|n| from_pins[n] > limits::TAUT_FREE * rest && on_way(n)) {
                is_between.iter_mut().enumerate().for_each(|(n, is)| *is |= on_way(n));
                spanned.push([a, b]);
            }
        }
        let free = |n: &usize| from_pins[*n] > 0.0;
        let of = (0..self.nodes).filter(free).count() as f32;
        let between = (0..self.nodes).filter(free).filter(|&n| is_between[n]).count() as f32;
        // Few nodes between few pins: the rest of the cloth hangs, and would pay for what it does not need.
        if between > limits::TAUT_SHARE * of {
            self.spanned = spanned;
        }
    }

    /// Whether cloth is drawn straight between pins where they are now: what it weighs then pulls many times as
    /// hard at its edges as it does where it hangs.
    pub fn is_taut(&self, positions: &[DVec3], held: impl Fn(u32) -> bool) -> bool {
        self.spanned.iter().any(|&[a, b]| {
            let [p, q] = [self.pins[a], self.pins[b]];
            let rest = f64::from(self.row(a)[q as usize]);
            let now = positions[p as usize].distance(positions[q as usize]);
            held(p) && held(q) && now > (1.0 - limits::TAUT_FROM) * rest
        })
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
                // Straight through the air against along the cloth: less than 0 for all that is slack.
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
            // By ellipses: nodes on the way between two pins are asked for all, those beside it for less.
            let detour = (from + to) / rest - 1.0;
            let beside = (detour / limits::PULLED_DETOUR - 1.0).clamp(0.0, 1.0);
            *out = out.max(need * (1.0 - beside));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vertices along a side of the square metre.
    const SIDE: u32 = 11;

    fn at(v: u32) -> Vec3 {
        Vec3::new((v % SIDE) as f32, 0.0, (v / SIDE) as f32) / (SIDE - 1) as f32
    }

    /// A square metre that some of its vertices hold.
    fn square(held: impl Fn(u32) -> bool) -> Pulled {
        let positions: Vec<Vec3> = (0..SIDE * SIDE).map(at).collect();
        let quads = (0..SIDE - 1).flat_map(|j| (0..SIDE - 1).map(move |i| j * SIDE + i));
        let triangles: Vec<[u32; 3]> =
            quads.flat_map(|a| [[a, a + SIDE, a + 1], [a + 1, a + SIDE, a + SIDE + 1]]).collect();
        let topology = Topology::build(&positions, &triangles);
        let held: Vec<bool> = (0..SIDE * SIDE).map(held).collect();
        let nodes: Vec<u32> = (0..SIDE * SIDE).collect();
        Pulled::build(&topology, &positions, &held, &nodes)
    }

    /// Whether it is taut where its sides are brought to a distance [m].
    fn is_taut(pulled: &Pulled, width: f32) -> bool {
        let now: Vec<DVec3> =
            (0..SIDE * SIDE).map(|v| (at(v) * Vec3::new(width, 1.0, 1.0)).as_dvec3()).collect();
        pulled.is_taut(&now, |_| true)
    }

    #[test]
    fn cloth_between_two_bars_is_taut_where_they_are_as_far_apart_as_it_is_wide() {
        let bars = square(|v| v % SIDE == 0 || v % SIDE == SIDE - 1);
        assert!(is_taut(&bars, 1.0), "as wide as it is");
        assert!(!is_taut(&bars, 0.99), "it hangs between them");
    }

    #[test]
    fn cloth_that_hangs_by_a_border_or_two_corners_is_not_taut() {
        assert!(!is_taut(&square(|v| v < SIDE), 1.0), "by a border");
        assert!(!is_taut(&square(|v| v == 0 || v == SIDE - 1), 1.0), "by two corners");
    }
}
