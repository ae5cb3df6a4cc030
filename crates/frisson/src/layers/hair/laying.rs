//! A straight hair laid out point by point: every point at its distance from the one before, and the
//! way there outside of bodies.
//!
//! A smooth curve through a wisp's planes is longer where it is lifted off a body and shorter where it
//! is cut into chords, and both change as the wisp moves: hair would breathe. So the curve only says
//! where a point should go; how far that is from the point before is the hair's own affair.

use glam::Vec3;

use super::strand_planes::{lift_off_meshes, push_out};
use super::strands::StrandInput;

/// The hair so far.
pub(super) struct Laying<'a> {
    input: &'a StrandInput<'a>,
    /// The last point, how high it is above meshes, and the way to it [m].
    last: Vec3,
    height: f32,
    along: Vec3,
}

/// Bodies and meshes that a point may touch, one bit each.
#[derive(Clone, Copy)]
pub(super) struct Touching {
    pub bodies: u64,
    pub meshes: u8,
}

impl<'a> Laying<'a> {
    /// Starts at a hair's root.
    pub fn new(input: &'a StrandInput<'a>, root: Vec3) -> Self {
        Self { input, last: root, height: 0.0, along: Vec3::ZERO }
    }

    /// Lays the next point `segment` away from the last, as near as it may come to where it should be.
    pub fn next(&mut self, wanted: Vec3, segment: f32, touching: Touching) -> Vec3 {
        let mut at = self.reached(wanted, segment);
        let mut height = REACH;
        if touching.bodies != 0 || touching.meshes != 0 {
            let near_enough = 0.1 * self.input.margin;
            for _ in 0..super::limits::LAY_ROUNDS {
                let (clear, above) = self.cleared(at, touching);
                height = above;
                if clear.distance_squared(at) < near_enough * near_enough {
                    break;
                }
                at = self.reached(clear, segment);
            }
        }
        (self.along, self.height, self.last) = (at - self.last, height, at);
        at
    }

    /// The place one segment away towards another.
    fn reached(&self, towards: Vec3, segment: f32) -> Vec3 {
        let way = towards - self.last;
        // A place that the hair has already passed says nothing about where to go.
        let passed = way.length_squared() < 0.04 * segment * segment;
        let along = if passed { self.along + way } else { way };
        self.last + segment * along.normalize_or_zero()
    }

    /// A point moved out of bodies, and on until the way to it is out as well; and its height.
    fn cleared(&self, at: Vec3, touching: Touching) -> (Vec3, f32) {
        let margin = self.input.margin;
        let (mut out, height) = self.outside(at, touching, margin);
        let length = out.distance(self.last);
        // Nothing on the way is lower than what the heights of its ends leave. Of bodies no height is
        // known, and to look whether a place is in one is cheap.
        let known = touching.bodies == 0;
        let mut lowest = if known && self.height + height >= length { length } else { 0.0 };
        for share in [0.5, 0.25, 0.75] {
            if lowest > 0.25 * length {
                break;
            }
            let between = self.last.lerp(out, share);
            let (free, above) = self.outside(between, touching, WAY_MARGIN * margin);
            out += (free - between) / share;
            if known && share == 0.5 && free == between {
                lowest = above;
            }
        }
        (out, height)
    }

    /// A point moved out of bodies and meshes, and how high it then is above meshes.
    fn outside(&self, at: Vec3, touching: Touching, margin: f32) -> (Vec3, f32) {
        let mut at = at;
        if touching.bodies != 0 {
            at = push_out(self.input.bodies, touching.bodies, at.into()).into();
        }
        lift_off_meshes(self.input.meshes, touching.meshes, at, REACH, margin)
    }
}

/// Height of the way above a mesh as a share of that of points [-].
const WAY_MARGIN: f32 = 0.5;

/// How far from a mesh a point is looked for [m].
const REACH: f32 = 0.03;
