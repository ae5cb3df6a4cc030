//! Hairs laid out point by point, four at a time: the way to every point outside of bodies, and those of straight
//! hairs at their distance from the one before.
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
//!
//! Springy hairs and curls go where they should: what is inside of something is lifted straight out, and then only the
//! way there is turned. At a fixed distance a curl that leads around something would run after its own turns.

use glam::{BVec4A, Vec4};

use super::air::KnownWays;
use super::beneath::{Beneath, Guess};
use super::lanes::Lanes;
use super::ridges::{FourWays, HairWay};
use super::strand_planes::push_out_of_bodies;
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
pub(super) struct InReach {
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

    /// Lays the next points of straight hairs, each its `segment` away from the last, as near as it may come to where it
    /// should be. `guesses`: what may lie beneath its end and its middle.
    pub fn next(
        &mut self,
        wanted: &Lanes,
        segments: Vec4,
        in_reach: InReach,
        guesses: &mut Guesses,
    ) -> Lanes {
        let meshes = self.meshes_in_reach(segments, in_reach);
        let at = self.reached(wanted, segments);
        self.lay(at, segments, InReach { meshes, ..in_reach }, guesses)
    }

    /// Lays the next points of springy hairs where they should be, but out of bodies and meshes.
    pub fn next_springy(
        &mut self,
        wanted: &Lanes,
        in_reach: InReach,
        guesses: &mut Guesses,
    ) -> Lanes {
        let way = (*wanted - self.last).length_squared().sqrt();
        let meshes = self.meshes_in_reach(way, in_reach);
        let in_reach = InReach { meshes, ..in_reach };
        let at = self.lifted(wanted, way, in_reach, guesses);
        let segments = (at - self.last).length_squared().sqrt();
        self.lay(at, segments, in_reach, guesses)
    }

    /// The meshes that hairs may touch within so far of their last points.
    fn meshes_in_reach(&mut self, segments: Vec4, in_reach: InReach) -> u8 {
        // A hair that leads around something lags behind its wisp: what is near it may not be near that.
        let lagging = self.heights.cmplt(segments + self.input.margin).any();
        let meshes = in_reach.meshes | if lagging { self.meshes } else { 0 };
        if meshes & !self.meshes != 0 {
            // A mesh that comes near only here was not looked at there.
            self.heights = Vec4::ZERO;
        }
        meshes
    }

    /// Four places out of bodies, and at the margin above meshes where they are lower.
    fn lifted(&self, wanted: &Lanes, way: Vec4, in_reach: InReach, guesses: &mut Guesses) -> Lanes {
        let mut at = push_out_of_bodies(self.input.bodies, in_reach.bodies, *wanted);
        if in_reach.meshes == 0 {
            return at;
        }
        let margin = self.input.margin;
        // Nothing is deeper than its way from the last point, less how high that is.
        let deepest = way - self.heights;
        let low = deepest.cmpgt(Vec4::splat(-margin))
            & !KnownWays::to(self.input, (&self.last, &at), in_reach.meshes).free;
        if !low.any() {
            return at;
        }
        let reach = (REACH_SLACK * deepest).max(Vec4::splat(2.0 * margin));
        let mut reach = Vec4::select(low, reach, Vec4::NEG_ONE);
        // Twice: in a fold the nearest place changes on the way out.
        for _ in 0..2 {
            let all = (self.input.meshes, in_reach.meshes);
            let found = Beneath::find(all.0, all.1, &at, reach, &self.ground, &mut guesses.end);
            let Some(lifted) = found.lifted(&at, margin) else { break };
            let moved = (lifted - at).length_squared().cmpgt(Vec4::ZERO);
            at = lifted;
            reach = Vec4::select(moved, Vec4::splat(2.0 * margin), Vec4::NEG_ONE);
        }
        at
    }

    /// Turns the ways to four places, each its `segment` away, until they are clear.
    fn lay(
        &mut self,
        at: Lanes,
        segments: Vec4,
        in_reach: InReach,
        guesses: &mut Guesses,
    ) -> Lanes {
        let meshes = in_reach.meshes;
        let mut lifted = Lifted { at, ..Lifted::default() };
        for _ in 0..super::limits::LAY_ROUNDS {
            // Bodies first, meshes after: fitted bodies lie within the skin, so what is off the mesh is off them.
            if in_reach.bodies != 0 {
                lifted.at = self.around_bodies(lifted.at, segments, in_reach.bodies);
            }
            if meshes == 0 {
                break;
            }
            lifted = self.off_meshes(lifted.at, segments, meshes, guesses);
            // What was found beneath holds for a small move, and bodies lie within their meshes.
            if lifted.moved < FAR {
                break;
            }
        }
        let mut at = lifted.at;
        // Where no mesh is in the way nothing is known of how high the hair is above one.
        let mut heights = Vec4::ZERO;
        if meshes != 0 {
            (at, heights) = self.over_ridges(at, &lifted.known, segments, meshes, guesses);
        }
        (self.along, self.heights, self.last) = (at - self.last, heights, at);
        self.meshes = meshes;
        at
    }

    /// Which ways are so low that something may stand between their ends: those that the balls of air around
    /// the start, the middle and the end do not cover.
    fn low_ways(&self, segments: Vec4, known: &KnownWays) -> BVec4A {
        let KnownWays { free, halfway, heights, .. } = *known;
        let half = 0.5 * segments;
        let covered = (self.heights + halfway).cmpge(half) & (halfway + heights).cmpge(half);
        (self.heights + heights).cmplt(segments) & !covered & !free
    }

    /// Turns ways that are too low to be clear of all that a mesh has between their ends: the places, and
    /// their heights.
    fn over_ridges(
        &self,
        at: Lanes,
        known: &KnownWays,
        segments: Vec4,
        meshes: u8,
        guesses: &mut Guesses,
    ) -> (Lanes, Vec4) {
        let (mut at, mut heights) = (at, known.heights);
        let low = self.low_ways(segments, known);
        if !low.any() {
            return (at, heights);
        }
        let ways =
            FourWays { last: self.last, heights: self.heights, at, segments, half: known.beyond };
        let mut crossing = ways.crossing(self.input.meshes, meshes, low, &mut guesses.start);
        while crossing != 0 {
            let lane = crossing.trailing_zeros() as usize;
            crossing &= crossing - 1;
            let way = HairWay {
                last: self.last.lane(lane),
                height: self.heights[lane],
                along: self.along.lane(lane),
                at: at.lane(lane),
                segment: segments[lane],
                margin: WAY_MARGIN * self.input.margin,
            };
            // One by one: few hairs cross an ear.
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
        let length = along.length_squared().sqrt().max(Vec4::splat(crate::tolerances::MIN_LENGTH));
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

    /// Turns the ways to four places off meshes.
    fn off_meshes(
        &mut self,
        at: Lanes,
        segments: Vec4,
        meshes: u8,
        guesses: &mut Guesses,
    ) -> Lifted {
        let margin = self.input.margin;
        let mut known = KnownWays::to(self.input, (&self.last, &at), meshes);
        // Nothing on the way is lower than what the height of its start leaves.
        let left = self.heights - segments;
        let far = left.cmpgt(Vec4::splat(margin));
        known.free |= far;
        known.beyond |= far;
        known.heights = known.heights.max(left);
        if known.free.all() {
            return Lifted { at, moved: 0.0, known };
        }
        let all = self.input.meshes;
        // A negative reach asks for nothing in that lane.
        let reach = reach_for(segments - self.heights, margin);
        let reach = Vec4::select(known.beyond, Vec4::NEG_ONE, reach);
        let end = Beneath::find(all, meshes, &at, reach, &self.ground, &mut guesses.end);
        // Where the heights of both ends leave nothing on the way, its middle need not be looked at.
        let low = (self.heights + end.heights).cmplt(segments) & !known.beyond;
        let middle = if low.any() {
            let middle = (self.last + at) * 0.5;
            let reach = reach_for(0.5 * segments - self.heights.min(end.heights), margin);
            let reach = Vec4::select(low, reach, Vec4::NEG_ONE);
            Some(Beneath::find(all, meshes, &middle, reach, &end, &mut guesses.middle))
        } else {
            None
        };
        let mut direction =
            (at - self.last) * segments.max(Vec4::splat(crate::tolerances::MIN_LENGTH)).recip();
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
        self.ground = end;
        // No nearer than what was found, less the way it was moved: other parts may be beside it there. The middle moves half
        // as far as the end, and no farther.
        let heights = Vec4::select(known.beyond, known.heights, end.heights - moved);
        let halfway = middle.map_or(Vec4::ZERO, |middle| middle.heights - moved);
        let halfway = Vec4::select(known.beyond, known.halfway, halfway);
        Lifted {
            at: out,
            moved: moved.max_element(),
            known: KnownWays { heights, halfway, ..known },
        }
    }
}

/// How far four points must be looked around, given how far the air around their neighbours leaves open [m]. A
/// point with nothing within that distance is outside, and so is the way to it: how much higher it is does not
/// matter, and to find that out costs most where it is highest.
fn reach_for(open: Vec4, margin: f32) -> Vec4 {
    (REACH_SLACK * open).max(Vec4::splat(2.0 * margin)).min(Vec4::splat(REACH))
}

/// Four places off meshes.
#[derive(Default)]
struct Lifted {
    at: Lanes,
    /// How far the farthest was moved [m].
    moved: f32,
    known: KnownWays,
}

/// Triangles that may lie beneath the last points of four hairs, beneath the next and beneath the middles of
/// the ways to them: those of the frame before. The answer is the same without.
#[derive(Clone, Copy)]
pub(super) struct Guesses {
    pub start: [Guess; 4],
    pub end: [Guess; 4],
    pub middle: [Guess; 4],
}

/// Height of the way above a mesh as a share of that of points [-].
const WAY_MARGIN: f32 = 0.5;

/// How far from a mesh a point is looked for, at most [m].
const REACH: f32 = 0.03;

/// By how much farther than just enough [-]: rounding must not leave a gap between two balls of air.
const REACH_SLACK: f32 = 1.01;

/// A point that is moved farther than this off a mesh may have come over another part of it [m].
const FAR: f32 = 3.0e-3;
