//! Sections that dry friction holds against each other: static friction that remembers where it took hold.
//!
//! An impulse stops what moves; but every tick the weight of what hangs below draws two wisps a little
//! apart before that, most where they part, and what is lost there is lost for good: they peel. So a pair
//! that sticks remembers how the two lay to each other, and is drawn back there. What it would take more
//! than their dry friction to draw back has slipped, and the memory goes with it (a bristle's law):
//!
//! ```text
//!   shift per tick ↑      ______  stick · density · tick²
//!                  |    /
//!                  |  /
//!                  +/---------->  drift
//! ```
//!
//! Nothing is drawn farther than back to where it was: no energy is gained that was not lost before.

use glam::{Mat3, Vec3};
use serde::{Deserialize, Serialize};

use super::impulse::Motion;
use super::overlap::Near;
use super::shapes::Shapes;

/// Two sections that hold each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Bond {
    /// First particles of the two sections, counted over all wisps; the lower first.
    pub nodes: [u32; 2],
    /// Where on each axis it took hold, 0 to 1.
    at: [f32; 2],
    /// From the first to the second there [m], in the axes of the first one's plane.
    gap: Vec3,
}

impl Bond {
    /// The bond of two sections, as they lie now.
    pub fn new(shapes: &Shapes, near: &Near, motions: &[Motion; 4]) -> Self {
        let nodes = near.sections.map(|s| shapes.first_node(s) as u32);
        let mut bond = Self { nodes, at: near.at(), gap: Vec3::ZERO };
        bond.gap = bond.axes(shapes).transpose() * bond.apart(shapes, motions);
        bond
    }

    /// The bond of two sections among those of the last pass, which are in order.
    pub fn find(bonds: &[Self], shapes: &Shapes, near: &Near) -> Option<Self> {
        let nodes = near.sections.map(|s| shapes.first_node(s) as u32);
        bonds.binary_search_by_key(&nodes, |b| b.nodes).ok().map(|k| bonds[k])
    }

    /// Draws the sections back to where they took hold. `farthest`: how far dry friction can draw them
    /// back within a tick; what is beyond has slipped [m].
    pub fn hold(&mut self, shapes: &Shapes, motions: &mut [Motion; 4], farthest: f32) {
        let axes = self.axes(shapes);
        let apart = self.apart(shapes, motions);
        let drift = apart - axes * self.gap;
        // Beyond what friction withstands it slips: the bond is moved along, so that it pulls with its full strength but
        // no harder.
        let kept = drift.clamp_length_max(farthest);
        if kept != drift {
            self.gap = axes.transpose() * (apart - kept);
        }
        let (shares, masses) = (self.shares(), self.inverse_masses(shapes));
        let response: f32 = (0..4).map(|k| shares[k] * shares[k] * masses[k]).sum();
        // Both sections are carried by the scalp: nothing gives way.
        if response <= 0.0 {
            return;
        }
        for k in 0..4 {
            let gain = shares[k] * masses[k] / response;
            // By shares over masses, as an impulse would: momentum is kept.
            motions[k].shift -= super::limits::BOND_GAIN * gain * kept;
        }
    }

    /// From the first section to the second where they hold [m].
    fn apart(&self, shapes: &Shapes, motions: &[Motion; 4]) -> Vec3 {
        let shares = self.shares();
        // What earlier pairs of this sweep have shifted counts, else all of them would draw the same drift back.
        let place = |k: usize| shapes.nodes[self.node(k)].center + motions[k].shift;
        (0..4).map(|k| shares[k] * place(k)).sum()
    }

    /// Shares of the four particles in that.
    fn shares(&self) -> [f32; 4] {
        let [s, t] = self.at;
        [s - 1.0, -s, 1.0 - t, t]
    }

    fn inverse_masses(&self, shapes: &Shapes) -> [f32; 4] {
        std::array::from_fn(|k| shapes.nodes[self.node(k)].inverse_mass)
    }

    fn node(&self, k: usize) -> usize {
        self.nodes[k / 2] as usize + k % 2
    }

    /// The axes of the first section's first plane: a pair that turns as one does not drift.
    fn axes(&self, shapes: &Shapes) -> Mat3 {
        let node = &shapes.nodes[self.nodes[0] as usize];
        Mat3::from_cols(node.across, node.second, node.normal)
    }
}
