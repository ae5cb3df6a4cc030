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
struct Plane {
    normal: Lanes,
    offset: Vec4,
    carried: Lanes,
    friction: Vec4,
    restitution: Vec4,
}

/// Offset of a plane that holds nothing [m].
const NO_PLANE: f32 = -1.0e6;

/// What the way to the root leaves for the way back, at one particle.
#[derive(Clone, Copy, Debug, Default)]
struct Eliminated {
    free: Lanes,
    inverse: Symmetric,
    along: Lanes,
    lever: Lanes,
    yields: Vec4,
    link: Vec4,
    pull: Vec4,
}

/// Positions and scratch of four chains. Positions are relative to each chain's origin.
pub(super) struct Chains {
    /// Positions at the start of the step [m].
    pub start: [Lanes; MAX_PARTICLES],
    /// The guess, then the result [m].
    pub now: [Lanes; MAX_PARTICLES],
    /// From the one to the other [m].
    moved: [Lanes; MAX_PARTICLES],
    /// Velocities [m/s].
    pub velocities: [Lanes; MAX_PARTICLES],
    /// Force with which a body presses each particle [N].
    pub pressures: [Vec4; MAX_PARTICLES],
    forces: [Lanes; MAX_PARTICLES],
    stiffness: [Symmetric; MAX_PARTICLES],
    planes: [[Plane; MAX_CONTACTS]; MAX_PARTICLES],
    plane_counts: [usize; MAX_PARTICLES],
    eliminated: [Eliminated; MAX_PARTICLES],
    /// Stiffness of each joint at its present angle [N m].
    joints: [Vec4; MAX_PARTICLES],
    /// Tension of the segment before each particle [N].
    tensions: [Vec4; MAX_PARTICLES],
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
            if i >= 2 {
                self.moved[i] = self.velocities[i] * input.step;
                self.now[i] = self.start[i] + self.moved[i];
            }
            self.plane_counts[i] = 0;
        }
        self.pull_taut(input, 1.5);
        let wanted = Vec4::new(0.0, 1.0, 2.0, 3.0).cmplt(Vec4::splat(input.chains as f32));
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
            self.pull_taut(input, 1.5);
        }
        // Whatever happens, straight hair does not lengthen.
        self.pull_taut(input, 1.005);
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

    /// Forces at the guess and the diagonal of the matrix.
    fn gather_forces(&mut self, input: &ChainInput) {
        let per_step = 1.0 / input.step;
        for i in 2..input.count {
            let own = &input.particles[i];
            let rate = self.moved[i] * per_step;
            let mut pull = (self.velocities[i] - rate) * per_step + own.acceleration;
            pull = pull + (own.air - rate) * input.drag;
            let mut diagonal = per_step * (per_step + input.drag);
            if own.goal_rate_sq != Vec4::ZERO {
                // Critically damped together with the air, so that a goal never makes the hair ring and
                // a soft one does not stifle it.
                let damping = (2.0 * own.goal_rate_sq.sqrt() - input.drag).max(Vec4::ZERO);
                pull = pull + (own.goal - self.now[i]) * own.goal_rate_sq;
                pull = pull + (own.goal_velocity - rate) * damping;
                diagonal += own.goal_rate_sq + damping * per_step;
            }
            self.forces[i] = pull * own.mass;
            self.stiffness[i] = Symmetric::diagonal(own.mass * diagonal);
            self.add_contacts(input, i);
        }
        if input.bending != Vec4::ZERO {
            self.add_bending(input);
        }
    }

    /// Contacts as stiff one-sided rows, with Coulomb friction lagged by one iteration.
    fn add_contacts(&mut self, input: &ChainInput, i: usize) {
        let stiff = input.particles[i].mass * contact_rate(input.step);
        for c in &self.planes[i][..self.plane_counts[i]] {
            let gap = c.normal.dot_each(&self.now[i]) - c.offset;
            let inside = gap.cmplt(Vec4::ZERO);
            if !inside.any() {
                continue;
            }
            let stiff = Vec4::select(inside, stiff, Vec4::ZERO);
            let slip = self.moved[i] - c.carried;
            let slip = slip - c.normal * c.normal.dot_each(&slip);
            let slipped = slip.length_squared().sqrt().max(Vec4::splat(1.0e-9));
            let hold = (c.friction * self.pressures[i] / slipped).min(0.1 * stiff);
            self.stiffness[i].add_diagonal(hold);
            self.stiffness[i].add_outer(&c.normal, stiff - hold);
            self.forces[i] = self.forces[i] - c.normal * (stiff * gap) - slip * hold;
        }
    }

    /// Hinge torques `2 k t x s / (1 + t . s)` (twice the tangent of half the angle, so that a sharper
    /// bend always resists more), as couples on the two segments that meet at each joint.
    fn add_bending(&mut self, input: &ChainInput) {
        let mut before = (self.now[1] - self.now[0]).normalize_or(Lanes::splat(Vec3::Y), 1.0e-12);
        let mut before_length = input.segment;
        let mut across = input.root_across;
        let least = 1.0e-6 * input.segment;
        for i in 1..input.count - 1 {
            let edge = self.now[i + 1] - self.now[i];
            let length = edge.length_squared().sqrt();
            let along =
                Lanes::select(length.cmpgt(least), edge * length.max(least).recip(), before);
            // A springy segment that shrinks to nothing must not turn torques into infinite forces.
            let length = length.max(0.7 * input.segment);
            let local = input.particles[i].target;
            let second = before.cross(&across);
            let target = across * local.x + second * local.y + before * local.z;
            // Beyond 150 degrees the torque no longer grows: a folded chain must not explode.
            let open = (along.dot_each(&target) + 1.0).max(Vec4::splat(0.134));
            let hardness = 2.0 * input.bending / open;
            let torque = along.cross(&target) * hardness;
            self.joints[i] = hardness;
            let couple = torque.cross(&along) * length.recip();
            self.forces[i + 1] = self.forces[i + 1] + couple;
            self.forces[i] = self.forces[i] - couple;
            if i > 1 {
                let back = torque.cross(&before) * before_length.recip();
                self.forces[i] = self.forces[i] - back;
                self.forces[i - 1] = self.forces[i - 1] + back;
            }
            across = transport(across, before, along);
            (before, before_length) = (along, length);
        }
    }

    /// Solves for the displacements, tip to root and back, and adds them to the guess of the chains
    /// that are `going`.
    fn solve(&mut self, input: &ChainInput, going: BVec4A) {
        let n = input.count;
        let per_segment_sq = 2.0 / (input.segment * input.segment);
        for j in (2..n).rev() {
            // A segment feels the joint at its inner end and, unless it is the last, at its outer one.
            let edge = self.now[j] - self.now[j - 1];
            let length = edge.length_squared().sqrt();
            // A taut segment also resists turning (its geometric stiffness).
            let taut = self.tensions[j].max(Vec4::ZERO) / length.max(0.1 * input.segment);
            let outer_joint = if j + 1 < n { self.joints[j] } else { Vec4::ZERO };
            let k = per_segment_sq * (self.joints[j - 1] + outer_joint) + taut;
            let e = edge.normalize_or(Lanes::splat(Vec3::Y), 1.0e-9);
            let mut matrix = self.stiffness[j];
            matrix.add_diagonal(k);
            let g = matrix.inverse();
            let ge = g.times(&e);
            let s = (e.dot_each(&ge) + input.compliance).recip();
            let lever = ge * k - e;
            let free = g.times(&self.forces[j]);
            let pull = s * (e.dot_each(&free) - (input.segment - length));
            self.eliminated[j] = Eliminated {
                free: free - ge * pull,
                inverse: g,
                along: ge,
                lever,
                yields: s,
                link: k,
                pull,
            };
            if j > 2 {
                let parent = &mut self.stiffness[j - 1];
                parent.add_diagonal(k);
                parent.add_scaled(&g, -k * k);
                parent.add_outer(&lever, s);
                self.forces[j - 1] = self.forces[j - 1] + free * k - lever * pull;
            }
        }
        let mut parent = Lanes::default();
        for j in 2..n {
            let own = &self.eliminated[j];
            let turned = own.yields * own.lever.dot_each(&parent);
            let d = own.free + own.inverse.times(&parent) * own.link - own.along * turned;
            parent = d;
            self.tensions[j] = Vec4::select(going, own.pull + turned, self.tensions[j]);
            self.moved[j] = Lanes::select(going, self.moved[j] + d, self.moved[j]);
            self.now[j] = self.start[j] + self.moved[j];
        }
        self.measure_pressures(input);
    }

    fn measure_pressures(&mut self, input: &ChainInput) {
        let scale = contact_rate(input.step);
        for i in 2..input.count {
            self.pressures[i] = Vec4::ZERO;
            for c in &self.planes[i][..self.plane_counts[i]] {
                let depth = (c.offset - c.normal.dot_each(&self.now[i])).max(Vec4::ZERO);
                self.pressures[i] += input.particles[i].mass * scale * depth;
            }
        }
    }

    /// Velocities from what moved; a contact never throws a particle off.
    fn finish(&mut self, input: &ChainInput) {
        let per_step = 1.0 / input.step;
        for i in 0..input.count {
            let old = self.velocities[i];
            let mut new = self.moved[i] * per_step;
            for c in self.planes[i][..self.plane_counts[i]].iter().filter(|_| i >= 2) {
                let gap = c.normal.dot_each(&self.now[i]) - c.offset;
                let touching = gap.cmplt(Vec4::splat(1.0e-6));
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
            let along =
                edge.normalize_or(before.normalize_or(Lanes::splat(Vec3::Y), 1.0e-9), 1.0e-9);
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
        let inverse = |k: usize| if k < 2 { Vec4::ZERO } else { input.particles[k].mass.recip() };
        let v = &mut self.velocities;
        for i in 2..input.count - 1 {
            let (a, b, c) = (inverse(i - 1), inverse(i), inverse(i + 1));
            let bend = v[i - 1] - v[i] * 2.0 + v[i + 1];
            let impulse = bend * (decay / (a + 4.0 * b + c));
            v[i - 1] = v[i - 1] - impulse * a;
            v[i] = v[i] + impulse * (2.0 * b);
            v[i + 1] = v[i + 1] - impulse * c;
        }
    }
}

/// Stiffness of a contact per mass [1/s²]. Very short steps do not make it harder: how deep a resting
/// particle sinks in must stay well above what single precision resolves.
fn contact_rate(step: f32) -> f32 {
    super::limits::CONTACT / (step * step).max(1.0 / (240.0 * 240.0))
}

/// A unit vector across `from` carried to across `to` by the smallest rotation.
fn transport(across: Lanes, from: Lanes, to: Lanes) -> Lanes {
    let scale = from.dot_each(&to) + 1.0;
    let share = to.dot_each(&across);
    let folded = scale.cmplt(Vec4::splat(1.0e-5));
    let turned = across - (from + to) * (share / scale.max(Vec4::splat(1.0e-5)));
    let turned = Lanes::select(folded, across - to * share, turned);
    let turned = turned - to * to.dot_each(&turned);
    turned.normalize_or(Lanes::default(), 1.0e-12)
}
