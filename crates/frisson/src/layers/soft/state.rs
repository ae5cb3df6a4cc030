//! All that evolves, and is put back when a step was too long.

use glam::{DQuat, DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::weld::Weld;

/// Where a body of the internal structure is. Particles do not turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// Centre of mass [m].
    pub position: DVec3,
    /// World from body.
    pub rotation: DQuat,
    /// [m/s].
    pub velocity: DVec3,
    /// Angular velocity, world axes [rad/s].
    pub spin: DVec3,
    /// Force known from the last step, gravity not included [N].
    pub force: DVec3,
    /// Its moment about the centre [N m].
    pub torque: DVec3,
}

impl BodyState {
    /// Velocity of the material at a place [m/s].
    #[must_use]
    pub fn velocity_at(&self, at: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(at - self.position)
    }

    /// Adds a force at a place.
    pub fn push(&mut self, force: DVec3, at: DVec3) {
        self.force += force;
        self.torque += (at - self.position).cross(force);
    }
}

/// What holds two particles of a dough together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bond {
    /// The primitives, the greater first.
    pub pair: (u32, u32),
    /// Distance at which it does not pull [m].
    pub length: f64,
}

/// The side from which two primitives that do not blend first met.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The primitives, the smaller first.
    pub pair: (u32, u32),
    /// Direction from the first to the second.
    pub normal: DVec3,
}

/// The state of the layer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SoftState {
    /// Bodies of the internal structures.
    pub bodies: Vec<BodyState>,
    /// Per primitive: translation of its field [m].
    pub offsets: Vec<f64>,
    /// Per primitive: translation of its field that its contacts feel [m].
    pub felt: Vec<f64>,
    /// Per primitive: pressure that makes it bulge beside its contacts [Pa].
    pub bulges: Vec<f64>,
    /// Per primitive: volume of its territory at the last step [m³].
    pub volumes: Vec<f64>,
    /// Per primitive: volume at the start [m³]; empty before the first step.
    pub rest_volumes: Vec<f64>,
    /// Per primitive: group it blends in, named by its smallest member.
    pub groups: Vec<u32>,
    /// Places where pieces have become one, or are about to.
    pub welds: Vec<Weld>,
    /// Bonds of doughs, ascending by pair.
    pub bonds: Vec<Bond>,
    /// Sides of the contacts, ascending by pair.
    pub sides: Vec<Side>,
    /// Per primitive: distance of each seed [m].
    pub distances: Vec<Vec<f64>>,
    /// Where the meshes that are tools were; filled in when saving.
    pub tools: Vec<Vec<Vec3>>,
    /// Length of the last step that went well [s].
    pub step: f64,
    /// Greatest depth of a contact, in thicknesses [-].
    pub depth: f64,
    /// Steps taken since the start.
    pub steps: usize,
    /// Steps taken back since the start.
    pub take_backs: usize,
    /// What was said to the person, each once.
    pub warnings: Vec<String>,
}
