//! Cloth beside what is held inside a body.
//!
//! What is held goes where the mesh comes in, through a body if it is animated so: the border of a cape through an arm
//! that swings back. The cloth next to it cannot come out of that body without being drawn out like rubber. So it may
//! lie as deep in it as what holds it, less what it can rise on the way:
//!
//! ```text
//!    ______________/‾‾‾‾ body      q  held, at some depth
//!             _.-o                 n  pushed out only to a line that rises from q by SUNK_SLOPE
//!    q---n--'
//! ```
//!
//! (What is modelled so and can never come out is buried: [`GarmentBody::bury`].)

use glam::DVec3;
use rayon::prelude::*;

use super::body::GarmentBody;
use super::body_contacts::BodyReach;
use super::rest::Garment;
use crate::tolerances::cloth as limits;

/// How much lower bodies are felt, node by node, for one tick.
#[derive(Default)]
pub struct Sunk {
    /// Depth of held nodes in every body [m].
    depths: Vec<f64>,
    /// Per node and body [m]; empty where nothing held is inside.
    shifts: Vec<f64>,
    bodies: usize,
}

impl Sunk {
    /// Measures how deep held nodes are, as bodies and nodes are at the start of the tick.
    pub fn find(&mut self, rest: &Garment, bodies: &[GarmentBody], x: &[DVec3], reach: BodyReach) {
        self.shifts.clear();
        self.bodies = bodies.len();
        let pins = rest.held.iter().rposition(|held| *held).map_or(0, |last| last + 1);
        if bodies.is_empty() || pins == 0 {
            return;
        }
        let depth = |i: usize| {
            let (node, body) = (i / bodies.len(), &bodies[i % bodies.len()]);
            if !rest.held[node] {
                return 0.0;
            }
            let found = body.surface.signed_distance(x[node].as_vec3(), reach.depth as f32);
            found.map_or(0.0, |(distance, _)| f64::from(-distance).max(0.0))
        };
        (0..pins * bodies.len()).into_par_iter().map(depth).collect_into_vec(&mut self.depths);
        if self.depths.iter().all(|depth| *depth == 0.0) {
            return;
        }
        for node in 0..x.len() {
            let nearest = match rest.held[node] {
                true => Some((node as u32, 0.0)),
                false => rest.cloth.tethers.nearest(node),
            };
            for body in 0..bodies.len() {
                let shift = nearest.map_or(0.0, |(pin, way)| {
                    let depth = self.depths[pin as usize * bodies.len() + body];
                    depth + depth.min(reach.thickness) - limits::SUNK_SLOPE * way
                });
                self.shifts.push(shift.max(0.0));
            }
        }
    }

    /// How much lower a node feels a body [m].
    pub fn of(&self, node: usize, body: usize) -> f64 {
        self.shifts.get(node * self.bodies + body).copied().unwrap_or(0.0)
    }
}
