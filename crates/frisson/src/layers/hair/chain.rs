//! The skeleton of a wisp, one implicit step at a time.
//!
//! A step minimises inertia, bending, goals and contacts under the length constraints. Every
//! iteration linearises at the current guess `y` and solves **exactly**, tip to root, in linear time:
//!
//! ```text
//!   B_j d_j + k (d_j - d_{j-1}) + lambda e = r_j          forces on particle j
//!   e . (d_j - d_{j-1}) - lambda / stretch = l - |y_j - y_{j-1}|
//! ```
//!
//! Eliminating particle `j` leaves its parent with an effective 3x3 stiffness and force, as in the
//! articulated-body method, so that lengths, bending and contacts are met together: pushing a
//! particle out of a body does not lengthen the chain. Bending forces are exact at `y` while their
//! derivative is replaced by a larger tridiagonal one: the step is unconditionally stable and a pose
//! in balance stays where it is, to rounding.

use glam::{DMat3, DVec3};

use super::contact::{Contact, MAX_CONTACTS};

/// Most particles of a chain.
pub(super) const MAX_PARTICLES: usize = 48;

/// What does not change during a step.
pub(super) struct ChainInput<'a> {
    /// Number of particles; 0 and 1 are carried.
    pub count: usize,
    /// Length of the step [s].
    pub step: f64,
    /// Rest length of the free segments [m].
    pub segment: f64,
    /// Stretch stiffness of a segment [N/m]; infinite: inextensible.
    pub stretch: f64,
    /// Bending stiffness of a joint [N m].
    pub bending: f64,
    /// Masses [kg].
    pub masses: &'a [f64],
    /// Acceleration of each particle [m/s²].
    pub accelerations: &'a [DVec3],
    /// Velocity of the air at each particle [m/s].
    pub air: &'a [DVec3],
    /// Drag rate [1/s].
    pub drag: f64,
    /// Rest direction of each segment in the frame of the one before, twist included.
    pub targets: &'a [DVec3],
    /// First axis at the root.
    pub root_across: DVec3,
    /// Goal of each particle, now and a step ago, and its stiffness rate squared [1/s²].
    pub goals: &'a [Goal],
    /// Newton iterations.
    pub iterations: usize,
}

/// Where a particle is drawn to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Goal {
    /// Where [m].
    pub at: DVec3,
    /// How the place moves [m/s].
    pub velocity: DVec3,
    /// Stiffness per mass [1/s²]; 0: none.
    pub rate_sq: f64,
}

/// Positions and scratch of one chain.
pub(super) struct Chain {
    /// Positions at the start of the step [m].
    pub start: [DVec3; MAX_PARTICLES],
    /// The guess, then the result [m].
    pub now: [DVec3; MAX_PARTICLES],
    /// Velocities [m/s].
    pub velocities: [DVec3; MAX_PARTICLES],
    /// Force with which a body presses each particle [N].
    pub pressures: [f64; MAX_PARTICLES],
    forces: [DVec3; MAX_PARTICLES],
    stiffness: [DMat3; MAX_PARTICLES],
    contacts: [[Contact; MAX_CONTACTS]; MAX_PARTICLES],
    contact_counts: [usize; MAX_PARTICLES],
    /// For the way back: `d_j = free + gain * d_{j-1}`.
    free: [DVec3; MAX_PARTICLES],
    gain: [DMat3; MAX_PARTICLES],
    /// Stiffness of each joint at its present angle [N m].
    joints: [f64; MAX_PARTICLES],
    /// Tension of the segment before each particle [N], as `pull + lever . d_{j-1}`.
    tensions: [f64; MAX_PARTICLES],
    pulls: [(f64, DVec3); MAX_PARTICLES],
}

impl Chain {
    pub fn new() -> Self {
        Self {
            start: [DVec3::ZERO; MAX_PARTICLES],
            now: [DVec3::ZERO; MAX_PARTICLES],
            velocities: [DVec3::ZERO; MAX_PARTICLES],
            pressures: [0.0; MAX_PARTICLES],
            forces: [DVec3::ZERO; MAX_PARTICLES],
            stiffness: [DMat3::ZERO; MAX_PARTICLES],
            contacts: [[Contact::default(); MAX_CONTACTS]; MAX_PARTICLES],
            contact_counts: [0; MAX_PARTICLES],
            free: [DVec3::ZERO; MAX_PARTICLES],
            gain: [DMat3::ZERO; MAX_PARTICLES],
            joints: [0.0; MAX_PARTICLES],
            tensions: [0.0; MAX_PARTICLES],
            pulls: [(0.0, DVec3::ZERO); MAX_PARTICLES],
        }
    }

    /// Forgets the tensions of another chain.
    pub fn reset(&mut self) {
        self.tensions = [0.0; MAX_PARTICLES];
        self.joints = [0.0; MAX_PARTICLES];
    }

    /// One step. `now[0..2]` must already be where the scalp carries them; `contacts` lists the
    /// planes that hold a particle out of bodies, given its start and its guess.
    pub fn integrate(
        &mut self,
        input: &ChainInput,
        mut contacts: impl FnMut(usize, DVec3, DVec3, &mut [Contact; MAX_CONTACTS]) -> usize,
    ) {
        let n = input.count;
        for i in 2..n {
            self.now[i] = self.start[i] + input.step * self.velocities[i];
        }
        self.pull_taut(input, 1.5);
        for round in 0..input.iterations + super::limits::EXTRA_ROUNDS {
            if round >= input.iterations && self.worst_stretch(input) <= super::limits::STRETCH {
                break;
            }
            for i in 2..n {
                self.contact_counts[i] =
                    contacts(i, self.start[i], self.now[i], &mut self.contacts[i]);
            }
            self.gather_forces(input);
            self.solve(input);
            self.pull_taut(input, 1.5);
        }
        // Whatever happens, straight hair does not lengthen.
        self.pull_taut(input, 1.005);
        self.finish(input);
    }

    /// Shortens segments longer than `most` times their rest length, from the root outwards: a guess
    /// that flies apart linearises badly.
    fn pull_taut(&mut self, input: &ChainInput, most: f64) {
        if input.stretch.is_finite() {
            return;
        }
        let most = most * input.segment;
        for i in 2..input.count {
            let along = self.now[i] - self.now[i - 1];
            let length = along.length();
            if length > most {
                self.now[i] = self.now[i - 1] + along * (most / length);
            }
        }
    }

    fn worst_stretch(&self, input: &ChainInput) -> f64 {
        if input.stretch.is_finite() {
            return 0.0;
        }
        (2..input.count)
            .map(|i| ((self.now[i] - self.now[i - 1]).length() / input.segment - 1.0).abs())
            .fold(0.0, f64::max)
    }

    /// Forces at the guess and the diagonal of the matrix.
    fn gather_forces(&mut self, input: &ChainInput) {
        let per_step = 1.0 / input.step;
        for i in 2..input.count {
            let mass = input.masses[i];
            let moved = (self.now[i] - self.start[i]) * per_step;
            let mut force = mass * per_step * (self.velocities[i] - moved);
            let mut diagonal = mass * per_step * per_step;
            force += mass * input.accelerations[i];
            force += mass * input.drag * (input.air[i] - moved);
            diagonal += mass * input.drag * per_step;
            let goal = &input.goals[i];
            if goal.rate_sq > 0.0 {
                // Critically damped, so that a goal never makes the hair ring.
                let damping = 2.0 * goal.rate_sq.sqrt();
                force += mass * goal.rate_sq * (goal.at - self.now[i]);
                force += mass * damping * (goal.velocity - moved);
                diagonal += mass * (goal.rate_sq + damping * per_step);
            }
            self.forces[i] = force;
            self.stiffness[i] = DMat3::from_diagonal(DVec3::splat(diagonal));
            self.add_contacts(input, i);
        }
        if input.bending > 0.0 {
            self.add_bending(input);
        }
    }

    /// Contacts as stiff one-sided rows, with Coulomb friction lagged by one iteration.
    fn add_contacts(&mut self, input: &ChainInput, i: usize) {
        let stiff = super::limits::CONTACT * input.masses[i] / (input.step * input.step);
        for c in &self.contacts[i][..self.contact_counts[i]] {
            let gap = c.normal.dot(self.now[i]) - c.offset;
            if gap >= 0.0 {
                continue;
            }
            let across = outer(c.normal, c.normal);
            self.stiffness[i] += across * stiff;
            self.forces[i] -= c.normal * (stiff * gap);
            let slip = self.now[i] - self.start[i] - c.carried;
            let slip = slip - c.normal * c.normal.dot(slip);
            let bound = c.friction * self.pressures[i] / slip.length().max(1.0e-9);
            let hold = bound.min(0.1 * stiff);
            self.stiffness[i] += (DMat3::IDENTITY - across) * hold;
            self.forces[i] -= slip * hold;
        }
    }

    /// Hinge torques `2 k t x s / (1 + t . s)` (twice the tangent of half the angle, so that a sharper
    /// bend always resists more), as couples on the two segments that meet at each joint.
    fn add_bending(&mut self, input: &ChainInput) {
        let mut before = (self.now[1] - self.now[0]).normalize_or(DVec3::Y);
        let mut before_length = input.segment;
        let mut across = input.root_across;
        for i in 1..input.count - 1 {
            let edge = self.now[i + 1] - self.now[i];
            let length = edge.length();
            let along = if length > 1.0e-6 * input.segment { edge / length } else { before };
            // A springy segment that shrinks to nothing must not turn torques into infinite forces.
            let length = length.max(0.7 * input.segment);
            let local = input.targets[i];
            let target = local.x * across + local.y * before.cross(across) + local.z * before;
            let (torque, hardness) = hinge(input.bending, along, target);
            self.joints[i] = hardness;
            let couple = torque.cross(along) / length;
            self.forces[i + 1] += couple;
            self.forces[i] -= couple;
            if i > 1 {
                let back = torque.cross(before) / before_length;
                self.forces[i] -= back;
                self.forces[i - 1] += back;
            }
            across = transport(across, before, along);
            (before, before_length) = (along, length);
        }
    }

    /// Solves for the displacements, tip to root and back, and adds them to the guess.
    fn solve(&mut self, input: &ChainInput) {
        let n = input.count;
        let compliance = if input.stretch.is_finite() { 1.0 / input.stretch } else { 0.0 };
        let per_segment_sq = 2.0 / (input.segment * input.segment);
        for j in (2..n).rev() {
            // A segment feels the joint at its inner end and, unless it is the last, at its outer one.
            let edge = self.now[j] - self.now[j - 1];
            let length = edge.length();
            // A taut segment also resists turning (its geometric stiffness).
            let taut = self.tensions[j].max(0.0) / length.max(0.1 * input.segment);
            let outer_joint = if j + 1 < n { self.joints[j] } else { 0.0 };
            let k = per_segment_sq * (self.joints[j - 1] + outer_joint) + taut;
            let e = if length > 1.0e-9 { edge / length } else { DVec3::Y };
            let g = (self.stiffness[j] + DMat3::from_diagonal(DVec3::splat(k))).inverse();
            let ge = g * e;
            let s = 1.0 / (e.dot(ge) + compliance);
            let a = k * ge - e;
            let free = g * self.forces[j];
            let pull = s * (e.dot(free) - (input.segment - length));
            self.free[j] = free - pull * ge;
            self.gain[j] = g * k - outer(ge, a) * s;
            self.pulls[j] = (pull, s * a);
            if j > 2 {
                let kept = DMat3::from_diagonal(DVec3::splat(k)) - g * (k * k) + outer(a, a) * s;
                self.stiffness[j - 1] += kept;
                self.forces[j - 1] += k * free - pull * a;
            }
        }
        let mut parent = DVec3::ZERO;
        for j in 2..n {
            let d = self.free[j] + self.gain[j] * parent;
            self.tensions[j] = self.pulls[j].0 + self.pulls[j].1.dot(parent);
            self.now[j] += d;
            parent = d;
        }
        self.measure_pressures(input);
    }

    fn measure_pressures(&mut self, input: &ChainInput) {
        for i in 2..input.count {
            let stiff = super::limits::CONTACT * input.masses[i] / (input.step * input.step);
            self.pressures[i] = self.contacts[i][..self.contact_counts[i]]
                .iter()
                .map(|c| stiff * (c.offset - c.normal.dot(self.now[i])).max(0.0))
                .sum();
        }
    }

    /// Velocities from the positions; a contact never throws a particle off.
    fn finish(&mut self, input: &ChainInput) {
        let per_step = 1.0 / input.step;
        for i in 0..input.count {
            let old = self.velocities[i];
            let mut new = (self.now[i] - self.start[i]) * per_step;
            if i >= 2 {
                for c in &self.contacts[i][..self.contact_counts[i]] {
                    let touching = c.normal.dot(self.now[i]) - c.offset < 1.0e-6;
                    let body = c.carried * per_step;
                    let (came, leaves) = (c.normal.dot(old - body), c.normal.dot(new - body));
                    let allowed = (-c.restitution * came).max(0.0);
                    // Pushing out is not motion: leave at the speed of a bounce at most.
                    if touching && came <= 0.0 && leaves > allowed
                        || c.restitution > 0.0 && touching && came < 0.0
                    {
                        new += c.normal * (allowed - leaves);
                    }
                }
            }
            self.velocities[i] = new;
        }
    }
}

/// Torque of a hinge that turns `along` towards `target`, and its stiffness at that angle [N m].
fn hinge(stiffness: f64, along: DVec3, target: DVec3) -> (DVec3, f64) {
    // Beyond 150 degrees the torque no longer grows: a folded chain must not explode.
    let open = (1.0 + along.dot(target)).max(0.134);
    (along.cross(target) * (2.0 * stiffness / open), 2.0 * stiffness / open)
}

/// A unit vector across `from` carried to across `to` by the smallest rotation.
pub(super) fn transport(across: DVec3, from: DVec3, to: DVec3) -> DVec3 {
    let scale = 1.0 + from.dot(to);
    if scale < 1.0e-9 {
        let helper = if to.x.abs() < 0.9 { DVec3::X } else { DVec3::Y };
        return (across - to * to.dot(across)).normalize_or(to.cross(helper).normalize());
    }
    let turned = across - (from + to) * (to.dot(across) / scale);
    (turned - to * to.dot(turned)).normalize_or_zero()
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}
