//! One linear solve of four chains: forces at the guess, the matrix, elimination tip to root and back.

use glam::{BVec4A, Vec3, Vec4};

use super::chain::{ChainInput, Chains, Eliminated};
use super::lanes::{Lanes, Symmetric};
use super::planes::transport_four;
use crate::tolerances::nothing;

/// Friction holds at most this share of what a contact holds [-]: as hard as the contact itself it would stop
/// what only slides along, from one round to the next.
const HOLD_SHARE: f32 = 0.1;

/// Slips shorter than this are as good as none [m].
const LEAST_SLIP: f32 = 1.0e-9;

/// Shortest arm of a joint's couple, as a share of a segment [-]: a springy segment that shrinks to nothing
/// must not turn torques into infinite forces.
const LEAST_ARM: f32 = 0.7;

/// One plus the cosine of the angle beyond which a joint's torque no longer grows [-]: 150 degrees. A folded
/// chain must not explode.
const MOST_FOLDED: f32 = 0.134;

/// Shortest segment that tension still keeps from turning, as a share of its rest length [-].
const LEAST_TAUT: f32 = 0.1;

impl Chains {
    /// Forces at the guess and the diagonal of the matrix.
    pub(super) fn gather_forces(&mut self, input: &ChainInput) {
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
            let slipped = slip.length_squared().sqrt().max(Vec4::splat(LEAST_SLIP));
            // Coulomb's force over the slip, as a stiffness: the pressure is that of the round before.
            let hold = (c.friction * self.pressures[i] / slipped).min(HOLD_SHARE * stiff);
            self.stiffness[i].add_diagonal(hold);
            // In all directions friction, and across the plane the contact in its stead.
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
            let length = length.max(LEAST_ARM * input.segment);
            let local = input.particles[i].target;
            let second = before.cross(&across);
            let target = across * local.x + second * local.y + before * local.z;
            let open = (along.dot_each(&target) + 1.0).max(Vec4::splat(MOST_FOLDED));
            let hardness = 2.0 * input.bending / open;
            let torque = along.cross(&target) * hardness;
            self.joints[i] = hardness;
            let couple = torque.cross(&along) * length.recip();
            self.forces[i + 1] = self.forces[i + 1] + couple;
            self.forces[i] = self.forces[i] - couple;
            // The first segment is carried by the scalp: its half of the couple moves nothing.
            if i > 1 {
                let back = torque.cross(&before) * before_length.recip();
                self.forces[i] = self.forces[i] - back;
                self.forces[i - 1] = self.forces[i - 1] + back;
            }
            across = transport_four(across, before, along);
            (before, before_length) = (along, length);
        }
    }

    /// Solves for the displacements, tip to root and back, and adds them to the guess of the chains
    /// that are `going`.
    pub(super) fn solve(&mut self, input: &ChainInput, going: BVec4A) {
        let n = input.count;
        // Twice what a single joint has: an upper bound of the true derivative, which is not tridiagonal, keeps the step
        // stable.
        let per_segment_sq = 2.0 / (input.segment * input.segment);
        for j in (2..n).rev() {
            // A segment feels the joint at its inner end and, unless it is the last, at its outer one.
            let edge = self.now[j] - self.now[j - 1];
            let length = edge.length_squared().sqrt();
            // A taut segment also resists turning (its geometric stiffness).
            let taut = self.tensions[j].max(Vec4::ZERO) / length.max(LEAST_TAUT * input.segment);
            let outer_joint = if j + 1 < n { self.joints[j] } else { Vec4::ZERO };
            let k = per_segment_sq * (self.joints[j - 1] + outer_joint) + taut;
            let e = edge.normalize_or(Lanes::splat(Vec3::Y), nothing::NO_DIRECTION);
            let mut matrix = self.stiffness[j];
            matrix.add_diagonal(k);
            let g = matrix.inverse();
            let ge = g.times(&e);
            // The length of the segment as a constraint: eliminated together with its particle, so that it holds exactly
            // in the linear system.
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
            // Particle 1 is carried; it has no row.
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
}

/// Stiffness of a contact per mass [1/s²]. Very short steps do not make it harder: how deep a resting
/// particle sinks in must stay well above what single precision resolves.
fn contact_rate(step: f32) -> f32 {
    super::limits::CONTACT / (step * step).max(1.0 / (240.0 * 240.0))
}
