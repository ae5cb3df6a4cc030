//! What pulls on the spring beside its own stiffness, and where it comes to rest under that.

use glam::{DQuat, DVec3};

use super::chain::Chain;
use super::params::{FleshParams, LimitKind};
use super::path::Departure;
use super::rest::FleshRest;
use super::spring::{StaticFrame, apply_hard_limit};
use super::state::FleshState;
use super::step::limit;
use crate::stage::{Actor, Clock, Forces, StepContext};
use crate::tolerances::flesh as tolerances;

/// What pulls on the spring, and where that is looked up.
#[derive(Clone, Copy)]
pub(super) struct Pull<'a> {
    pub params: &'a FleshParams,
    pub rest: &'a FleshRest,
    clock: &'a Clock,
    forces: &'a Forces,
}

impl<'a> Pull<'a> {
    /// Of a step.
    pub fn new(params: &'a FleshParams, rest: &'a FleshRest, context: &StepContext<'a>) -> Self {
        Self { params, rest, clock: context.clock, forces: context.forces }
    }

    /// Gravity relative to the modelled pose, `g - R g` with `R` the turn since then, and the
    /// artist's own pull [m/s²].
    pub fn at(&self, time: f64, rotation: DQuat) -> DVec3 {
        self.turned(time, rotation * self.rest.rest_rotation.inverse())
    }

    /// The same for what has turned since it was modelled.
    fn turned(&self, time: f64, turn: DQuat) -> DVec3 {
        let share = self.params.gravity.at(self.clock.frame_at(time));
        let own = DVec3::from_array(self.params.pseudo_gravity);
        if share == 0.0 {
            return own;
        }
        let gravity = self.forces.gravity.as_dvec3();
        // The artist modelled the flesh as it hangs under gravity: only what has changed since pulls.
        let relative = gravity - turn * gravity;
        let noise = tolerances::SAME_POSE_FRACTION * gravity.length();
        // A pose that is the modelled one up to rounding must leave every vertex its bits.
        let relative = if relative.length() <= noise { DVec3::ZERO } else { relative };
        share * relative + own
    }

    /// At rest in the moving frame: where the spring balances what pulls on it and the inertia of the
    /// motion that goes on. Who is already running when the shot begins is not kicked off.
    pub fn still_state(&self, actor: &Actor, time: f64) -> FleshState {
        if let Some(chain) = &self.rest.chain {
            return self.still_chain(chain, actor, time);
        }
        let motion =
            Departure::from(self.rest, actor, self.rest.clip_begin.unwrap_or(time).max(time));
        let (frequency, _) = self.params.spring();
        // Who is only setting off has not swung yet; who has had a swing's time to come to its speed has.
        let settled = |velocity: DVec3, acceleration: DVec3| {
            let speed = (frequency * velocity).length_squared();
            // `w v` against `a`: a swing's worth of speed against what it gains meanwhile. Standing, both are 0.
            let share = speed / (speed + acceleration.length_squared()).max(f64::MIN_POSITIVE);
            share * acceleration
        };
        let inertia = settled(motion.velocity, motion.acceleration);
        let turning = settled(motion.angular_velocity, motion.angular_acceleration);
        // Where the spring would be if it had always been carried like this: then nothing kicks it off.
        let pull = self.at(time, motion.frame.rotation) - inertia;
        let mut state = FleshState {
            elongation: pull / (frequency * frequency),
            turn: -turning / (frequency * frequency),
            ..FleshState::default()
        };
        if self.params.limit_kind == LimitKind::Hard {
            apply_hard_limit(&mut state, limit(self.params, self.rest));
        }
        state
    }

    /// A chain at rest in the moving frame: every link where its spring balances what pulls on it.
    fn still_chain(&self, chain: &Chain, actor: &Actor, time: f64) -> FleshState {
        let (frequency, _) = self.params.spring();
        let link = |point: usize| {
            // Gravity alone: a chain begins its swing by `depart`, which knows how its parents come in.
            let pull = self.link_pull(chain, point, time, chain.frame_at(point, actor, time));
            FleshState { elongation: pull / (frequency * frequency), ..FleshState::default() }
        };
        FleshState { links: (1..chain.points.len()).map(link).collect(), ..FleshState::default() }
    }

    /// What pulls on a point of a chain besides its spring [m/s²].
    pub fn link_pull(&self, chain: &Chain, point: usize, time: f64, frame: StaticFrame) -> DVec3 {
        let turn = frame.rotation * chain.points[point].rest_rotation.inverse();
        self.turned(time, turn)
    }
}
