//! Tethers: no node is farther from what holds it than the cloth between them is long.
//!
//! Sweeps over edges carry a pin's pull only so far per step; on a fine mesh the weight far below
//! would stretch the cloth like rubber. A tether is true of any cloth that does not stretch, however
//! it is folded, and acts in one stroke (Kim, Chentanez, Müller 2012).

use glam::{DVec3, Vec3};

use crate::geometry::{Topology, geodesic_distances};
use crate::tolerances::cloth as limits;

/// Tethers of all nodes.
#[derive(Clone, Debug, Default)]
pub struct Tethers {
    /// `offsets[n]..offsets[n + 1]` are node `n`'s.
    offsets: Vec<u32>,
    rows: Vec<Tether>,
    /// Of every node that is not held and hangs on something the nearest held one, and how far that is [m].
    nearest: Vec<Option<(u32, f64)>>,
    /// Longest [m].
    pub reach: f64,
}

#[derive(Clone, Copy, Debug)]
struct Tether {
    /// The held node; held nodes come first.
    pin: u32,
    length: f64,
}

/// What tethers are made from.
pub struct TetherInput<'a> {
    /// Connectivity at rest.
    pub topology: &'a Topology,
    /// Positions at rest, per vertex.
    pub positions: &'a [Vec3],
    /// Points that are always held.
    pub held: &'a [bool],
    /// Node of each point.
    pub node_of_point: &'a [u32],
    /// Whether to make any.
    pub wanted: bool,
    /// Extra length, as a fraction [-].
    pub slack: f64,
    /// How many times as long as modelled the cloth may be [-].
    pub longer: f64,
}

/// Lengths along the surface from every pin (few pins) or from the nearest one (many).
pub fn build(input: &TetherInput) -> Tethers {
    let count = input.topology.point_count();
    let pins: Vec<u32> = (0..count as u32).filter(|&p| input.held[p as usize]).collect();
    let mut lists: Vec<Vec<Tether>> = vec![Vec::new(); count];
    let mut near: Vec<Option<(u32, f64)>> = vec![None; count];
    let mut reach: f64 = 0.0;
    let vertex_of_point = &input.topology.vertex_of_point;
    let place = |p: u32| input.positions[vertex_of_point[p as usize] as usize].as_dvec3();
    let mut add = |sources: &[u32]| {
        let (distance, nearest) = geodesic_distances(input.topology, input.positions, sources);
        for p in 0..count {
            if distance[p].is_finite() && distance[p] > 0.0 {
                reach = reach.max(distance[p]);
                let pin = input.node_of_point[nearest[p] as usize];
                // The march knows how far the nearest pin is, and one of those near it: never nearer to
                // that one than it is at rest, or cloth would be pulled askew as it lies.
                let straight = place(p as u32).distance(place(nearest[p]));
                let length = distance[p].max(straight) * (1.0 + input.slack) * input.longer;
                let node = input.node_of_point[p] as usize;
                lists[node].push(Tether { pin, length });
                if near[node].is_none_or(|(_, known)| distance[p] < known) {
                    near[node] = Some((pin, distance[p]));
                }
            }
        }
    };
    // A sheet between two corners hangs from both; of a held collar the nearest stitch is enough.
    if pins.len() <= limits::TETHER_PINS {
        pins.iter().for_each(|&pin| add(&[pin]));
    } else {
        add(&pins);
    }
    let wanted = input.wanted && input.slack < limits::TETHER_MAX_SLACK;
    let mut tethers = Tethers { offsets: vec![0], rows: Vec::new(), nearest: near, reach };
    for list in &lists {
        if wanted {
            tethers.rows.extend_from_slice(list);
        }
        tethers.offsets.push(tethers.rows.len() as u32);
    }
    tethers
}

impl Tethers {
    /// The held node that is nearest to a node along the cloth, and how far it is [m].
    pub fn nearest(&self, node: usize) -> Option<(u32, f64)> {
        self.nearest.get(node).copied().flatten()
    }

    /// Brings a node back within reach of its pins; `held` are the positions of the first nodes, `allowance`
    /// is how much longer the tethers are as a share, because pins are pulled apart there. What it was too far already is taken back without giving speed.
    #[inline]
    pub fn solve(
        &self,
        node: usize,
        (held, allowance): (&[DVec3], f64),
        previous: &mut DVec3,
        position: &mut DVec3,
    ) {
        let range = self.offsets[node] as usize..self.offsets[node + 1] as usize;
        for tether in &self.rows[range] {
            let pin = held[tether.pin as usize];
            let away = *position - pin;
            let squared = away.length_squared();
            let length = tether.length * (1.0 + allowance);
            if squared > length * length {
                let distance = squared.sqrt();
                let excess = distance - length;
                // Only as far as it was out before: what was drawn out in this step must lose its speed, what was out already not gain any.
                let drift = (previous.distance(pin) - length).clamp(0.0, excess);
                *position -= away * (excess / distance);
                *previous -= away * (drift / distance);
            }
        }
    }
}
