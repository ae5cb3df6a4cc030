//! The skeletons of four wisps, one implicit step at a time.
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
//!
//! Four chains go side by side, one in each lane, and none depends on the others. Single precision
//! is enough because positions are relative to the root and a step's motion is kept apart from them:
//! velocities never come from differences of rounded positions.

use glam::{BVec4A, Vec3, Vec4};

use super::contact::{ContactList, MAX_CONTACTS};
use super::lanes::{Lanes, Symmetric};
use crate::tolerances::nothing;

/// Most particles of a chain.
pub(super) const MAX_PARTICLES: usize = 48;

/// What does not change during a step.
pub(super) struct ChainInput<'a> {
    /// Number of particles; 0 and 1 are carried.
    pub count: usize,
    /// Chains that are wanted, 1 to 4.
    pub chains: usize,
    /// Length of the step [s].
    pub step: f32,
    /// Rest length of the free segments [m].
    pub segment: Vec4,
    /// Lengthening of a segment under a force [m/N]; 0: inextensible.
    pub compliance: Vec4,
    pub inextensible: bool,
    /// Bending stiffness of a joint [N m].
    pub bending: Vec4,
    /// Drag rate [1/s].
    pub drag: Vec4,
    /// First axis at the root.
    pub root_across: Lanes,
    pub particles: &'a [ParticleInput],
    /// Newton iterations.
    pub iterations: usize,
}

/// What does not change during a step at one particle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ParticleInput {
    /// Mass [kg].
    pub mass: Vec4,
    /// Acceleration [m/s²].
    pub acceleration: Lanes,
    /// Velocity of the air [m/s].
    pub air: Lanes,
    /// Rest direction of the segment after it in the frame of the one before, twist included.
    pub target: Lanes,
    /// Where it is drawn to [m], how that place moves [m/s], and the stiffness per mass [1/s²].
    pub goal: Lanes,
    pub goal_velocity: Lanes,
    pub goal_rate_sq: Vec4,
}

/// A plane that holds a particle, in every lane; out of reach where there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plane {
    pub normal: Lanes,
    pub offset: Vec4,
    pub carried: Lanes,
    pub friction: Vec4,
    pub restitution: Vec4,
}

/// Segments of a guess are at most so many times as long as at rest [-]: a guess that flies apart linearises
/// badly.
const FLIES_APART: f32 = 1.5;

/// The same when the step is done: whatever happens, straight hair does not lengthen [-].
const LENGTHENED: f32 = 1.005;

/// A particle lower than this above a plane touches it [m].
const TOUCHING: f32 = 1.0e-6;

/// Offset of a plane that holds nothing [m].
const NO_PLANE: f32 = -1.0e6;

/// What the way to the root leaves for the way back, at one particle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Eliminated {
    pub free: Lanes,
    pub inverse: Symmetric,
    pub along: Lanes,
    pub lever: Lanes,
    pub yields: Vec4,
    pub link: Vec4,
    pub pull: Vec4,
}

/// Positions and scratch of four chains. Positions are relative to each chain's origin.
pub(super) struct Chains {
    /// Positions at the start of the step [m].
    pub start: [Lanes; MAX_PARTICLES],
    /// The guess, then the result [m].
    pub now: [Lanes; MAX_PARTICLES],
    /// From the one to the other [m].
    pub(super) moved: [Lanes; MAX_PARTICLES],
    /// Velocities [m/s].
    pub velocities: [Lanes; MAX_PARTICLES],
    /// Force with which a body presses each particle [N].
    pub pressures: [Vec4; MAX_PARTICLES],
    pub(super) forces: [Lanes; MAX_PARTICLES],
    pub(super) stiffness: [Symmetric; MAX_PARTICLES],
    pub(super) planes: [[Plane; MAX_CONTACTS]; MAX_PARTICLES],
    pub(super) plane_counts: [usize; MAX_PARTICLES],
    pub(super) eliminated: [Eliminated; MAX_PARTICLES],
    /// Stiffness of each joint at its present angle [N m].
    pub(super) joints: [Vec4; MAX_PARTICLES],
    /// Tension of the segment before each particle [N].
    pub(super) tensions: [Vec4; MAX_PARTICLES],
}

impl Chains {
    pub fn new() -> Self {
        Self {
            start: [Lanes::default(); MAX_PARTICLES],
            now: [Lanes::default(); MAX_PARTICLES],
            moved: [Lanes::default(); MAX_PARTICLES],
            velocities: [Lanes::default(); MAX_PARTICLES],
            pressures: [Vec4::ZERO; MAX_PARTICLES],
            forces: [Lanes::default(); MAX_PARTICLES],
            stiffness: [Symmetric::default(); MAX_PARTICLES],
            planes: [[Plane::default(); MAX_CONTACTS]; MAX_PARTICLES],
            plane_counts: [0; MAX_PARTICLES],
            eliminated: [Eliminated::default(); MAX_PARTICLES],
            joints: [Vec4::ZERO; MAX_PARTICLES],
            tensions: [Vec4::ZERO; MAX_PARTICLES],
        }
    }

    /// Forgets the tensions of other chains.
    pub fn reset(&mut self, count: usize) {
        self.tensions[..count].fill(Vec4::ZERO);
        self.joints[..count].fill(Vec4::ZERO);
    }

    /// One step. `now[0..2]` must already be where the scalp carries them; `contacts` lists the
    /// planes that hold a particle of a chain out of bodies, given its start and its guess, relative
    /// to the chain's origin.
    pub fn integrate(
        &mut self,
        input: &ChainInput,
        mut contacts: impl FnMut(usize, usize, [Vec3; 2], &mut ContactList),
    ) {
        let n = input.count;
        for i in 0..n {
            self.moved[i] = self.now[i] - self.start[i];
            // The guess goes on at the old velocity: for hair in free flight it is nearly right, and one round does.
            if i >= 2 {
                self.moved[i] = self.velocities[i] * input.step;
                self.now[i] = self.start[i] + self.moved[i];
            }
            self.plane_counts[i] = 0;
        }
        self.pull_taut(input, FLIES_APART);
        let wanted = Vec4::new(0.0, 1.0, 2.0, 3.0).cmplt(Vec4::splat(input.chains as f32));
        // Planes are looked for anew in every round: the guess moves, and with it what it is inside of.
        for round in 0..input.iterations + super::limits::EXTRA_ROUNDS {
            let mut going = wanted;
            if round >= input.iterations {
                let limit = Vec4::splat(super::limits::STRETCH);
                going &= self.worst_stretch(input).cmpgt(limit);
                if !going.any() {
                    break;
                }
            }
            self.find_planes(input, going, &mut contacts);
            self.gather_forces(input);
            self.solve(input, going);
            self.pull_taut(input, FLIES_APART);
        }
        self.pull_taut(input, LENGTHENED);
        self.finish(input);
    }

    fn find_planes(
        &mut self,
        input: &ChainInput,
        going: BVec4A,
        contacts: &mut impl FnMut(usize, usize, [Vec3; 2], &mut ContactList),
    ) {
        let going = going.bitmask();
        let mut list = ContactList::default();
        for i in 2..input.count {
            for lane in (0..input.chains).filter(|k| going >> k & 1 == 1) {
                let (start, now) = (self.start[i].lane(lane), self.now[i].lane(lane));
                list.clear();
                contacts(i, lane, [start, now], &mut list);
                let found = list.as_slice();
                let count = found.len();
                // Rows are shared by the four chains: one of them may touch more bodies than the others.
                for plane in &mut self.planes[i][self.plane_counts[i].min(count)..count] {
                    // A row used for the first time holds none of the other chains.
                    plane.offset = Vec4::splat(NO_PLANE);
                }
                self.plane_counts[i] = self.plane_counts[i].max(count);
                for (k, plane) in self.planes[i][..self.plane_counts[i]].iter_mut().enumerate() {
                    if k >= count {
                        plane.offset[lane] = NO_PLANE;
                        continue;
                    }
                    plane.normal.set(lane, found[k].normal);
                    plane.offset[lane] = found[k].normal.dot(found[k].point);
                    plane.carried.set(lane, found[k].carried);
                    plane.friction[lane] = found[k].friction;
                    plane.restitution[lane] = found[k].restitution;
                }
            }
        }
    }

    /// Shortens segments longer than `most` times their rest length, from the root outwards: a guess
    /// that flies apart linearises badly.
    fn pull_taut(&mut self, input: &ChainInput, most: f32) {
        if !input.inextensible {
            return;
        }
        let most = most * input.segment;
        for i in 2..input.count {
            let along = self.now[i] - self.now[i - 1];
            let length = along.length_squared().sqrt();
            let long = length.cmpgt(most);
            if long.any() {
                let pulled = self.now[i - 1] + along * (most / length.max(most));
                self.now[i] = Lanes::select(long, pulled, self.now[i]);
                // Only where it was pulled: elsewhere the difference of two rounded places would take the place of the
                // exact motion.
                let moved = self.now[i] - self.start[i];
                self.moved[i] = Lanes::select(long, moved, self.moved[i]);
            }
        }
    }

    fn worst_stretch(&self, input: &ChainInput) -> Vec4 {
        let mut worst = Vec4::ZERO;
        if input.inextensible {
            for i in 2..input.count {
                let length = (self.now[i] - self.now[i - 1]).length_squared().sqrt();
                worst = worst.max((length / input.segment - 1.0).abs());
            }
        }
        worst
    }

    /// Velocities from what moved; a contact never throws a particle off.
    fn finish(&mut self, input: &ChainInput) {
        let per_step = 1.0 / input.step;
        for i in 0..input.count {
            let old = self.velocities[i];
            let mut new = self.moved[i] * per_step;
            for c in self.planes[i][..self.plane_counts[i]].iter().filter(|_| i >= 2) {
                let gap = c.normal.dot_each(&self.now[i]) - c.offset;
                let touching = gap.cmplt(Vec4::splat(TOUCHING));
                let body = c.carried * per_step;
                let came = c.normal.dot_each(&(old - body));
                let leaves = c.normal.dot_each(&(new - body));
                let allowed = (-c.restitution * came).max(Vec4::ZERO);
                // Pushing out is not motion: leave at the speed of a bounce at most.
                let thrown = came.cmple(Vec4::ZERO) & leaves.cmpgt(allowed);
                let bounces = c.restitution.cmpgt(Vec4::ZERO) & came.cmplt(Vec4::ZERO);
                let change =
                    Vec4::select(touching & (thrown | bounces), allowed - leaves, Vec4::ZERO);
                new = new + c.normal * change;
            }
            self.velocities[i] = new;
        }
    }

    /// Gives every free segment its length, from the root outwards.
    pub fn fit_lengths(&mut self, input: &ChainInput) {
        for i in 2..input.count {
            let edge = self.now[i] - self.now[i - 1];
            let before = self.now[i - 1] - self.now[i - 2];
            let along = edge.normalize_or(
                before.normalize_or(Lanes::splat(Vec3::Y), nothing::NO_DIRECTION),
                nothing::NO_DIRECTION,
            );
            self.now[i] = self.now[i - 1] + along * input.segment;
        }
    }

    /// Lets the bending part of the motion die away: at each joint the second difference of the
    /// velocities decays at the given rate, by an impulse (-1, 2, -1) that keeps momentum.
    pub fn damp_bending(&mut self, input: &ChainInput, rate: f32) {
        if rate <= 0.0 {
            return;
        }
        let decay = -(-rate * input.step).exp_m1();
        // What the scalp carries takes up any impulse.
        let inverse = |k: usize| if k < 2 { Vec4::ZERO } else { input.particles[k].mass.recip() };
        let v = &mut self.velocities;
        for i in 2..input.count - 1 {
            let (a, b, c) = (inverse(i - 1), inverse(i), inverse(i + 1));
            let bend = v[i - 1] - v[i] * 2.0 + v[i + 1];
            // The response of the second difference to a unit impulse (-1, 2, -1), so that exactly `decay` of it goes.
            let impulse = bend * (decay / (a + 4.0 * b + c));
            v[i - 1] = v[i - 1] - impulse * a;
            v[i] = v[i] + impulse * (2.0 * b);
            v[i + 1] = v[i + 1] - impulse * c;
        }
    }
}
