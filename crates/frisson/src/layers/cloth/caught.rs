//! Cloth that is caught gives way.
//!
//! Bodies are rigid and as strong as they like: a hand that has pinned a skirt to the hip and swings on
//! would draw it out like chewing gum. Skin yields, and cloth slips out under it. So a node whose edges
//! are drawn out beyond anything that cloth does lets what drags it pass, for a moment; all else it keeps
//! touching. Long before that it slips: what is drawn out has lost its grip on what it lies on.

use glam::{DVec3, Vec3};

use super::rest::ClothRest;
use super::stretch;
use crate::tolerances::cloth as limits;

/// Which nodes give way in this tick, and to what.
#[derive(Default)]
pub struct CaughtCloth {
    /// Direction in which each node's overdrawn edges pull it; 0 where none does.
    pulls: Vec<Vec3>,
    /// Share of its friction that each node has left [-].
    grips: Vec<f32>,
}

impl CaughtCloth {
    /// Looks at the edges at the start of a tick. `left` are the ticks for which nodes still give way,
    /// `ticks` how many a node gets.
    pub fn update(&mut self, rest: &ClothRest, x: &[DVec3], ticks: u8, left: &mut Vec<u8>) {
        left.resize(x.len(), 0);
        left.iter_mut().for_each(|l| *l = l.saturating_sub(1));
        self.pulls.clear();
        self.pulls.resize(x.len(), Vec3::ZERO);
        self.grips.clear();
        self.grips.resize(x.len(), 1.0);
        for edge in &rest.edges.rows {
            let strain = stretch::strain(edge, x);
            if strain > limits::SLIP_STRETCH {
                let left = (2.0 - strain / limits::SLIP_STRETCH).max(0.0) as f32;
                for node in edge.nodes {
                    let grip = &mut self.grips[node as usize];
                    *grip = grip.min(left);
                }
            }
            if strain > limits::GIVE_STRETCH {
                let [a, b] = edge.nodes.map(|n| n as usize);
                let along = (x[b] - x[a]).normalize_or_zero().as_vec3();
                self.pulls[a] += along;
                self.pulls[b] -= along;
                left[a] = ticks;
                left[b] = ticks;
            }
        }
    }

    /// Share of its friction that a node has left [-].
    pub fn grip(&self, node: usize) -> f32 {
        self.grips.get(node).copied().unwrap_or(1.0)
    }

    /// Whether a node lets a place pass that presses along `normal` and moves past it by `way` in a tick
    /// of `dt`: the one that drags it, and any that is faster than what lies under the cloth.
    pub fn lets_pass(&self, left: &[u8], node: usize, normal: Vec3, way: Vec3, dt: f64) -> bool {
        left.get(node).is_some_and(|l| *l > 0)
            && (self.pulls[node].dot(normal) < limits::GIVE_PULL
                || f64::from(way.length()) > limits::GIVE_SPEED * dt)
    }
}
