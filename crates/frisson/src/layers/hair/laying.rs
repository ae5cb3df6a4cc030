//! Straight hairs laid out point by point, four at a time: every point at its distance from the one
//! before, and the way there outside of bodies.
//!
//! A smooth curve through a wisp's planes is longer where it is lifted off a body and shorter where it
//! is cut into chords, and both change as the wisp moves: hair would breathe. So the curve only says
//! where a point should go; how far that is from the point before is the hair's own affair.
//!
//! ```text
//!            o wanted
//!     last o──────o at      turned about `last` until the way is clear of bodies
//!         ▓▓▓▓▓▓▓▓▓▓▓
//! ```

use glam::Vec4;

use super::beneath::Beneath;
use super::lanes::Lanes;
use super::ridges::HairWay;
use super::strands::StrandInput;

/// Four hairs so far.
pub(super) struct Laying<'a> {
    input: &'a StrandInput<'a>,
    /// The last points, and the ways to them [m].
    last: Lanes,
    along: Lanes,
    /// At least so high are the last points above meshes [m].
    heights: Vec4,
    /// What is below them.
    ground: Beneath,
    /// Meshes that they may touch, one bit each.
    meshes: u8,
}

/// Bodies and meshes that a point may touch, one bit each.
#[derive(Clone, Copy, Default)]
pub(super) struct Touching {
    pub bodies: u64,
    pub meshes: u8,
}

impl<'a> Laying<'a> {
    /// Starts at the roots of four hairs.
    pub fn new(input: &'a StrandInput<'a>, roots: Lanes) -> Self {
        Self {
            input,
            last: roots,
            along: Lanes::default(),
            heights: Vec4::ZERO,
            ground: Beneath::nothing(),
            meshes: 0,
        }
    }

    /// Lays the next points, each its `segment` away from the last, as near as it may come to where it
    /// should be.
    pub fn next(&mut self, wanted: &Lanes, segments: Vec4, touching: Touching) -> Lanes {
        let mut at = self.reached(wanted, segments);
        // A hair that leads around something lags behind its wisp: what is near it may not be near that.
        let lagging = self.heights.cmplt(segments + self.input.margin).any();
        let meshes = touching.meshes | if lagging { self.meshes } else { 0 };
        // Where no mesh is in the way nothing is known of how high the hair is above one.
        let mut heights = Vec4::ZERO;
        for _ in 0..super::limits::LAY_ROUNDS {
            if touching.bodies != 0 {
                at = self.around_bodies(at, segments, touching.bodies);
            }
            if meshes == 0 {
                break;
            }
            // Nothing on the way is lower than what the heights of its start leaves.
            let left = self.heights - segments;
            if left.cmpgt(Vec4::splat(self.input.margin)).all() {
                heights = left;
                break;
            }
            let (lifted, above, moved) = self.off_meshes(at, segments, meshes);
            (at, heights) = (lifted, above);
            // What was found beneath holds for a small move, and bodies lie within their meshes.
            if moved < FAR {
                break;
            }
        }
        if meshes != 0 {
            (at, heights) = self.over_ridges(at, heights, segments, meshes);
        }
        (self.along, self.heights, self.last) = (at - self.last, heights, at);
        self.meshes = meshes;
        at
    }

    /// Turns ways that are too low to be clear of all that a mesh has between their ends: the places, and
    /// their heights.
    fn over_ridges(&self, at: Lanes, heights: Vec4, segments: Vec4, meshes: u8) -> (Lanes, Vec4) {
        let (mut at, mut heights) = (at, heights);
        let mut low = (self.heights + heights).cmplt(segments).bitmask();
        while low != 0 {
            let lane = low.trailing_zeros() as usize;
            low &= low - 1;
            let way = HairWay {
                last: self.last.lane(lane),
                height: self.heights[lane],
                along: self.along.lane(lane),
                at: at.lane(lane),
                segment: segments[lane],
                margin: WAY_MARGIN * self.input.margin,
            };
            let clear = way.clear(self.input.meshes, meshes);
            if clear != way.at {
                at.set(lane, clear);
                heights[lane] -= clear.distance(way.at);
            }
        }
        (at, heights)
    }

    /// The places one segment away towards others.
    fn reached(&self, towards: &Lanes, segments: Vec4) -> Lanes {
        let way = *towards - self.last;
        // A place that the hair has already passed says nothing about where to go.
        let passed = way.length_squared().cmplt(0.04 * segments * segments);
        let along = Lanes::select(passed, self.along + way, way);
        let length = along.length_squared().sqrt().max(Vec4::splat(1.0e-12));
        self.last + along * (segments / length)
    }

    /// Turns the ways to four places around the bodies whose bits are set.
    fn around_bodies(&self, at: Lanes, segments: Vec4, bodies: u64) -> Lanes {
        let mut at = at;
        for _ in 0..super::limits::TURN_ROUNDS {
            let (mut bits, mut turned) = (bodies, false);
            while bits != 0 {
                let body = &self.input.bodies[bits.trailing_zeros() as usize];
                bits &= bits - 1;
                if let Some(ends) = body.turn_ways(&self.last, &at) {
                    at = self.reached(&(at + ends), segments);
                    turned = true;
                }
            }
            if !turned {
                break;
            }
        }
        at
    }

    /// Turns the ways to four places off meshes: the places, their heights, and how far the farthest was
    /// moved.
    fn off_meshes(&mut self, at: Lanes, segments: Vec4, meshes: u8) -> (Lanes, Vec4, f32) {
        let margin = self.input.margin;
        let reach = Vec4::splat(REACH);
        let end = Beneath::find(self.input.meshes, meshes, &at, reach, &self.ground);
        // Where the heights of both ends leave nothing on the way, its middle need not be looked at.
        let low = (self.heights + end.heights).cmplt(segments);
        let middle = if low.any() {
            let middle = (self.last + at) * 0.5;
            let reach = Vec4::select(low, reach, Vec4::NEG_ONE);
            Some(Beneath::find(self.input.meshes, meshes, &middle, reach, &end))
        } else {
            None
        };
        let mut direction = (at - self.last) * segments.max(Vec4::splat(1.0e-12)).recip();
        for _ in 0..super::limits::TURN_ROUNDS {
            let (turned, mut more) = end.turn(&self.last, &direction, segments, margin);
            direction = turned;
            if let Some(middle) = &middle {
                let reaches = 0.5 * segments;
                let (turned, way) =
                    middle.turn(&self.last, &direction, reaches, WAY_MARGIN * margin);
                (direction, more) = (turned, more || way);
            }
            if !more {
                break;
            }
        }
        let out = self.last + direction * segments;
        let moved = (out - at).length_squared().sqrt();
        // No nearer than what was found, less the way it was moved: other parts may be beside it there.
        let heights = end.heights - moved;
        let moved = moved.max_element();
        self.ground = end;
        (out, heights, moved)
    }
}

/// Height of the way above a mesh as a share of that of points [-].
const WAY_MARGIN: f32 = 0.5;

/// How far from a mesh a point is looked for [m].
const REACH: f32 = 0.03;

/// A point that is moved farther than this off a mesh may have come over another part of it [m].
const FAR: f32 = 3.0e-3;
