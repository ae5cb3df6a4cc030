//! Where a drop goes during a step: stays on triangles, crossings, edges and vertices.
//!
//! ```text
//!            n                convex edge: the velocity is turned about it
//!            |   e3           concave edge: projected, the across part times the cosine
//!      v ◄───o  /             border: the drop leaves the surface
//!     ______/_\/_____
//!    /   F ↙   e2   /|
//! ```
//!
//! Within a stay every force is constant, so the place at any time is known in closed form
//! (`motion.rs`) and the first exit is found for sure. Work is bounded: see [`MAX_EVENTS`].

mod edge;
mod face;
mod pour;
mod trace;
mod vertex;

use glam::{DVec2, DVec3};

use super::motion::time_of_rest;
use super::state::{Droplet, Phase};
use super::surface::Surface;
use super::trail::Strip;
use super::world::World;
use crate::tolerances::drops::{IDLE_TIME, MAX_EVENTS, MAX_IDLE};

pub use face::turn;
pub use trace::{Counts, Mark, Segment, Stay, Trace};

/// What of a drop stays constant during a step.
#[derive(Clone, Copy, Debug)]
pub struct DropCarrier {
    /// Radius of the volume's sphere [m].
    pub radius: f64,
    /// Drag rate on surfaces `L = kv / m` [1/s].
    pub drag: f64,
    /// Mass [kg].
    pub mass: f64,
    /// Dynamic viscosity as thick as it is by now [Pa s]; 0 where the drag is given directly.
    pub viscosity: f64,
    /// The triangle it is on and what pinned its line there when it came [N/m]: its own trail does not
    /// free it.
    pub entered: (u32, f32),
}

/// One drop's step in progress.
pub struct Flow<'a> {
    /// Surface, ground and forces.
    pub world: &'a World<'a>,
    /// What happens.
    pub trace: &'a mut Trace,
    /// Index of the drop.
    pub index: u32,
    /// Time at the end of the step [s].
    pub end: f64,
    /// Time left [s].
    pub left: f64,
    /// Its body.
    pub body: DropCarrier,
    /// Whether it has poured in this step.
    pub has_poured: bool,
}

/// Acceleration and velocity on a triangle after roughness, and which axes are held.
#[derive(Clone, Copy, Debug)]
struct Push {
    acceleration: DVec2,
    velocity: DVec2,
    /// Time to the first change of sign that changes the force.
    until: f64,
    /// Whether it is pinned then.
    stops: bool,
}

impl Flow<'_> {
    /// Advances the drop by the time left. Never loses it.
    pub fn advance(&mut self, drop: &mut Droplet) {
        let mut idle = 0;
        for _ in 0..MAX_EVENTS {
            if self.left <= 0.0 {
                return;
            }
            let before = self.left;
            match drop.phase {
                Phase::Face { .. } => self.on_face(drop),
                Phase::Edge { .. } => self.on_edge(drop),
                Phase::Corner { half } => {
                    if !self.depart(drop, half, DVec3::ZERO) {
                        // A track has no gaps: a drop at rest is a piece of it, too.
                        self.record_rest(drop);
                        self.left = 0.0;
                    }
                }
                Phase::Air { .. } => self.in_air(drop),
            }
            // Events that take no time could follow each other for ever: then it is put to rest.
            idle = if before - self.left > IDLE_TIME { 0 } else { idle + 1 };
            if idle > MAX_IDLE {
                self.trace.counts.stalled += 1;
                stop(drop);
                drop.asleep = true;
                self.left = 0.0;
                return;
            }
        }
        // What is left of the step is lost, and said in the report: better than a step that never ends.
        self.trace.counts.truncated += 1;
        self.left = 0.0;
    }

    fn surface(&self) -> &Surface {
        self.world.surface
    }

    /// Time now [s].
    pub fn now(&self) -> f64 {
        self.end - self.left
    }

    /// Everything that accelerates the drop at a place, inertia included [m/s²].
    fn acceleration(&self, drop: &Droplet, place: DVec3) -> DVec3 {
        self.world.acceleration(place, drop, &self.body) + drop.inertia
    }

    /// What is left of a force on a triangle for a drop that moves or stands: bumps, then the pinned line.
    fn push(&self, triangle: u32, force: DVec2, velocity: DVec2, aside: f64) -> Push {
        let (hold, grip) = self.world.hold(triangle);
        let mut push = Push { acceleration: force, velocity, until: f64::INFINITY, stops: false };
        self.meet_bumps(&mut push, hold.bumps, grip);
        let (entered, line) = self.body.entered;
        // A neighbour is judged as it is now: the drop has not wetted it yet.
        let line = f64::from(if entered == triangle { line } else { hold.line });
        if line > 0.0 {
            let width = 2.0 * self.world.ground.of(triangle).contact * self.body.radius;
            self.meet_line(&mut push, line * width / self.body.mass, aside);
        }
        push
    }

    /// Roughness: a component that speeds the drop up is reduced, a braking one acts in full.
    fn meet_bumps(&self, push: &mut Push, bumps: [f32; 2], grip: f64) {
        let (force, velocity) = (push.acceleration, push.velocity);
        let per_height = 1.0 / (2.0 * self.body.radius);
        for i in 0..2 {
            let f = force[i];
            let mut share = f64::from(bumps[i]) * per_height;
            if share <= 0.0 {
                continue;
            }
            if share >= 1.0 {
                if f.abs() <= grip {
                    push.acceleration[i] = 0.0;
                    push.velocity[i] = 0.0;
                    continue;
                }
                // Blown or shaken harder than the bumps can hold.
                share = grip / f.abs();
            }
            if f * velocity[i] >= 0.0 {
                push.acceleration[i] = f * (1.0 - share);
            } else if let Some(t) = time_of_rest(velocity[i], f, self.body.drag) {
                push.until = push.until.min(t);
            }
        }
    }

    /// The pinned line: a drop at rest stays while the force is less than `hold` [m/s²]; one that moves is
    /// braked by it, a little aside where the ground is uneven.
    fn meet_line(&self, push: &mut Push, hold: f64, aside: f64) {
        let force = push.acceleration;
        // Before the brake is taken off: a force that could not start it cannot keep it going once it has stopped.
        let pinned = force.length() <= hold;
        if push.velocity == DVec2::ZERO {
            let left = if pinned { 0.0 } else { 1.0 - hold / force.length() };
            push.acceleration = force * left;
            return;
        }
        let along = push.velocity.normalize_or_zero();
        push.acceleration -= DVec2::from_angle(aside).rotate(along) * hold;
        let rate = push.acceleration.dot(along);
        if let Some(t) = time_of_rest(push.velocity.length(), rate, self.body.drag)
            && t <= push.until
        {
            push.until = t;
            // Otherwise only its direction changes.
            push.stops = pinned;
        }
    }

    /// Whether the outward pull is more than the surface can hold.
    pub fn lets_go(&self, drop: &Droplet, triangle: u32, out: DVec3, acceleration: DVec3) -> bool {
        // The inertia's normal part is smoothed apart from the rest: a jerk of one tick is no pull.
        let outward = (acceleration - drop.inertia).dot(out) + drop.pull;
        outward > 0.0
            && self.body.mass * outward > self.world.holding_force(triangle, self.body.radius)
    }

    /// Whether a drop that comes to a bend goes straight on: the ground falls away beyond it, and could not
    /// hold it there. Turned into that plane first, it would slide along it without touching.
    fn flies_on(
        &self,
        drop: &Droplet,
        (triangle, out): (u32, DVec3),
        velocity: DVec3,
        acceleration: DVec3,
    ) -> bool {
        // Thick liquids do not fly: they sag, and draw a thread.
        velocity.dot(out) > 0.0
            && !self.is_thick()
            && self.lets_go(drop, triangle, out, acceleration)
    }

    /// The whole drop is pulled off the surface.
    pub fn release(&mut self, drop: &mut Droplet, position: DVec3, velocity: DVec3, from: u32) {
        self.trace.counts.releases += 1;
        self.take_off(drop, position, velocity, from);
    }

    /// The whole drop leaves over a border.
    fn run_off(&mut self, drop: &mut Droplet, position: DVec3, velocity: DVec3, from: u32) {
        self.trace.counts.run_offs += 1;
        self.take_off(drop, position, velocity, from);
    }

    fn take_off(&mut self, drop: &mut Droplet, position: DVec3, velocity: DVec3, from: u32) {
        drop.phase =
            Phase::Air { position, velocity: velocity + drop.carrier, since: self.now(), from };
        drop.held = false;
        drop.asleep = false;
        drop.changed = self.now();
        // In the air no ground shakes it any more.
        drop.inertia = DVec3::ZERO;
        drop.pull = 0.0;
        drop.carrier = DVec3::ZERO;
    }

    /// Part of a hanging drop leaves, a remainder stays.
    fn drip(&mut self, drop: &mut Droplet, position: DVec3, velocity: DVec3, from: u32) {
        let keep = drop.mass * self.world.liquid.drip_remainder;
        if keep <= self.world.liquid.least_mass || keep >= drop.mass {
            return self.release(drop, position, velocity, from);
        }
        self.trace.counts.releases += 1;
        self.part(
            drop,
            drop.mass - keep,
            Phase::Air { position, velocity: velocity + drop.carrier, since: self.now(), from },
        );
        // It springs back as after a merge: to the eye it is the same.
        drop.merged = self.now();
    }

    /// Part of a drop falls. Returns its place among those born.
    fn part(&mut self, drop: &mut Droplet, mass: f64, phase: Phase) -> usize {
        let mut falling = *drop;
        falling.mass = mass;
        falling.solute = drop.solute * (mass / drop.mass);
        falling.phase = phase;
        falling.changed = self.now();
        falling.inertia = DVec3::ZERO;
        falling.carrier = DVec3::ZERO;
        falling.pull = 0.0;
        falling.strip = Strip::NONE;
        falling.held = false;
        self.trace.born.push(falling);
        drop.mass -= mass;
        drop.solute -= falling.solute;
        drop.asleep = false;
        // Lighter, it runs more slowly from now on, within this very step.
        self.body = self.world.body(drop);
        self.trace.born.len() - 1
    }
}

fn stop(drop: &mut Droplet) {
    match &mut drop.phase {
        Phase::Face { velocity, .. } => *velocity = DVec2::ZERO,
        Phase::Edge { speed, .. } => *speed = 0.0,
        _ => {}
    }
}
