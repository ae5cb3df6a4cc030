//! What is inside: how bodies move, and the joints of rigid bones.
//!
//! A step kicks the bodies by the forces they know, then moves them freely: a straight way, and a turn
//! that keeps the angular momentum. What joins them is in `joints.rs`.

use glam::{DMat3, DQuat, DVec3};

use super::state::BodyState;
use crate::stage::Animated;

/// How a body moves.
#[derive(Clone, Debug)]
pub enum MovedBy {
    /// By forces.
    Free,
    /// By keys: displacement from its start.
    Keyed([Animated; 3], [Animated; 3]),
    /// By two joints of a character.
    Joints {
        /// Actor.
        actor: usize,
        /// Node whose axes it takes.
        from: usize,
        /// Node at the other end.
        to: usize,
        /// Part of the way between them that is coated.
        span: [f64; 2],
        /// Displacement in the first node's axes [m].
        offset: DVec3,
        /// Displacement of the other end, if it hangs on the first node as well [m].
        tip: Option<DVec3>,
    },
    /// By the joints that move the skin around it, as skin is: the weighted mean of where each would
    /// carry it.
    Skin {
        /// Actor.
        actor: usize,
        /// Nodes with weights, and its place in their axes [m]; the strongest first.
        nodes: Vec<(usize, f64, DVec3)>,
    },
    /// By a triangle of a mesh that is given frame by frame.
    Surface {
        /// Mesh of the frame.
        mesh: usize,
        /// Vertices of the triangle.
        corners: [u32; 3],
        /// Shares of the corners in the place of the skin it hangs on.
        weights: [f64; 3],
        /// Its place from there, in the triangle's axes [m].
        offset: DVec3,
    },
    /// By an actor that moves as one piece.
    Rigid {
        /// Actor.
        actor: usize,
        /// Place in its source pose [m].
        at: DVec3,
    },
}

/// A body that never changes.
#[derive(Clone, Debug)]
pub struct BodyRest {
    /// How it moves.
    pub moved_by: MovedBy,
    /// Position at the start [m].
    pub start: DVec3,
    /// 1 / mass [1/kg]; 0: nothing moves it.
    pub inverse_mass: f64,
    /// Inverse of the inertia, body axes [1/(kg m²)]; zero: it does not turn.
    pub inverse_inertia: DMat3,
}

impl BodyRest {
    /// The actor whose joints carry it.
    #[must_use]
    pub fn actor(&self) -> Option<usize> {
        match self.moved_by {
            MovedBy::Joints { actor, .. } | MovedBy::Skin { actor, .. } => Some(actor),
            _ => None,
        }
    }

    /// Inverse inertia in world axes.
    #[must_use]
    pub fn world_inverse_inertia(&self, rotation: DQuat) -> DMat3 {
        let r = DMat3::from_quat(rotation);
        r * self.inverse_inertia * r.transpose()
    }

    /// Whether forces turn it; particles do not turn.
    #[must_use]
    pub fn turns(&self) -> bool {
        self.inverse_inertia != DMat3::ZERO
    }

    /// Angular momentum about its centre [kg m²/s].
    #[must_use]
    pub fn momentum(&self, rotation: DQuat, spin: DVec3) -> DVec3 {
        if !self.turns() {
            return DVec3::ZERO;
        }
        rotation * (self.inverse_inertia.inverse() * (rotation.inverse() * spin))
    }

    /// Angular velocity for an angular momentum [rad/s].
    #[must_use]
    pub fn spin(&self, rotation: DQuat, momentum: DVec3) -> DVec3 {
        rotation * (self.inverse_inertia * (rotation.inverse() * momentum))
    }

    /// Rotation after a time without torque: the implicit midpoint, which keeps the energy of a body
    /// that tumbles.
    #[must_use]
    pub fn turn_freely(&self, rotation: DQuat, momentum: DVec3, dt: f64) -> DQuat {
        let mut middle = rotation;
        // Fixed-point rounds: each makes the error smaller by about the angle that a step turns.
        for _ in 0..3 {
            middle = turned(rotation, 0.5 * dt * self.spin(middle, momentum));
        }
        turned(rotation, dt * self.spin(middle, momentum))
    }
}

/// A joint between two bodies.
#[derive(Clone, Debug)]
pub struct JointRest {
    /// Parent and child body.
    pub bodies: [usize; 2],
    /// Where they meet, in each body's axes [m].
    pub anchors: [DVec3; 2],
    /// Hinge axis, the same in both bodies at the start.
    pub hinge: Option<DVec3>,
    /// Least and greatest angle of a hinge [rad].
    pub angles: Option<[f64; 2]>,
    /// Direction of the child's bone at the start, and its greatest swing [rad].
    pub swing: Option<(DVec3, f64)>,
    /// The object and the bone of the parameters that describe it.
    pub described: (usize, usize),
}

/// Moves the free bodies by the forces they know.
pub fn integrate_bodies(
    rest: &[BodyRest],
    bodies: &mut [BodyState],
    dt: f64,
    acceleration: impl Fn(DVec3) -> DVec3,
    drag: f64,
) {
    let slow = (-drag * dt).exp();
    for (rest, body) in rest.iter().zip(bodies) {
        // Followers are put in their place later, and bones that are fixed stay.
        if rest.inverse_mass == 0.0 {
            continue;
        }
        let pull = body.force * rest.inverse_mass + acceleration(body.position);
        // Kick, then drift with the new velocity: symplectic, so that springs between bodies gain no energy.
        body.velocity = (body.velocity + dt * pull) * slow;
        body.position += dt * body.velocity;
        if rest.turns() {
            let momentum = rest.momentum(body.rotation, body.spin) + body.torque * dt;
            let momentum = momentum * slow;
            body.rotation = rest.turn_freely(body.rotation, momentum, dt);
            body.spin = rest.spin(body.rotation, momentum);
        }
    }
}

/// World from the axes of a triangle: along its first edge, along its normal, and across both.
#[must_use]
pub fn triangle_axes([a, b, c]: [DVec3; 3]) -> DQuat {
    let along = (b - a).normalize_or(DVec3::X);
    let normal = (b - a).cross(c - a).try_normalize().unwrap_or(along.any_orthonormal_vector());
    DQuat::from_mat3(&DMat3::from_cols(along, normal, along.cross(normal)))
}

fn turned(rotation: DQuat, by: DVec3) -> DQuat {
    (DQuat::from_scaled_axis(by) * rotation).normalize()
}
