//! What happened during a step, for the passes that follow.

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};

use super::Flow;
use crate::layers::drops::motion::{Weights, time_of_rest};
use crate::layers::drops::state::{Droplet, Phase};
use crate::layers::drops::surface::Facet;

/// A stretch of a drop's way on one triangle.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// Index of the drop.
    pub drop: u32,
    /// Triangle.
    pub triangle: u32,
    /// Weights at the start.
    pub from: DVec2,
    /// Weights at the end.
    pub to: DVec2,
    /// Integral of the way along each axis [m].
    pub way: DVec2,
    /// Time at the start [s].
    pub start: f64,
    /// Time at the end [s].
    pub end: f64,
    /// Radius of the drop's sphere [m].
    pub radius: f64,
    /// Side of the triangle.
    pub side: i8,
}

/// A closed-form piece of a drop's track: `p(t) = p0 + v0 t phi1(-Lt) + a t² phi2(-Lt)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Id of the drop.
    pub id: u64,
    /// Time at which the piece starts [s].
    pub start: f64,
    /// Its length [s].
    pub duration: f64,
    /// Position at the start [m].
    pub position: DVec3,
    /// Velocity at the start [m/s].
    pub velocity: DVec3,
    /// Acceleration before drag [m/s²].
    pub acceleration: DVec3,
    /// Drag rate `L` [1/s].
    pub drag: f64,
}

impl Segment {
    /// Position at a time within the piece.
    #[must_use]
    pub fn position_at(&self, time: f64) -> DVec3 {
        let weights = Weights::at(self.drag, time - self.start);
        self.position + weights.displacement(self.velocity, self.acceleration)
    }

    /// Velocity at a time within the piece.
    #[must_use]
    pub fn velocity_at(&self, time: f64) -> DVec3 {
        Weights::at(self.drag, time - self.start).velocity(self.velocity, self.acceleration)
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Edges crossed.
    pub crossings: u64,
    /// Drops put to rest.
    pub stalled: u64,
    /// Drops cut short.
    pub truncated: u64,
    /// Landings.
    pub landings: u64,
    /// Drops that let go.
    pub releases: u64,
    /// Drops that left over a border.
    pub run_offs: u64,
}

impl Counts {
    /// What came since an earlier count.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            crossings: self.crossings - before.crossings,
            stalled: self.stalled - before.stalled,
            truncated: self.truncated - before.truncated,
            landings: self.landings - before.landings,
            releases: self.releases - before.releases,
            run_offs: self.run_offs - before.run_offs,
        }
    }
}

/// Where in a trace the record of one drop ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    /// Index of the drop.
    pub drop: u32,
    /// Number of track pieces.
    pub segments: usize,
    /// Number of drops born.
    pub born: usize,
    /// Counts.
    pub counts: Counts,
}

/// What happened during a step, for the passes that follow.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Ways on triangles, in order of drops.
    pub stays: Vec<Stay>,
    /// Track pieces, where asked for.
    pub segments: Vec<Segment>,
    /// Drops born by splashing or dripping.
    pub born: Vec<Droplet>,
    /// Counts.
    pub counts: Counts,
    /// The end of the record of each drop that has one, in order: most have neither crossed nor left anything.
    pub marks: Vec<Mark>,
    /// A drop that is no number any more.
    pub bad: Option<u32>,
    /// Candidate triangles of the fall, reused.
    pub candidates: Vec<u32>,
}

impl Trace {
    /// Empties it, keeping its storage.
    pub fn clear(&mut self) {
        self.stays.clear();
        self.segments.clear();
        self.born.clear();
        self.marks.clear();
        self.counts = Counts::default();
        self.bad = None;
    }

    /// Ends the record of a drop.
    pub fn mark(&mut self, drop: u32) {
        let (segments, born) = (self.segments.len(), self.born.len());
        let last = self.marks.last().copied().unwrap_or_default();
        if (segments, born) != (last.segments, last.born) || self.counts != last.counts {
            self.marks.push(Mark { drop, segments, born, counts: self.counts });
        }
    }
}

/// How a drop sets out on a triangle, in its plane; until a force changes, its place at any time follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// Place [m].
    pub place: DVec2,
    /// Velocity [m/s].
    pub velocity: DVec2,
    /// Acceleration before drag [m/s²].
    pub acceleration: DVec2,
}

/// The part of a course that a drop has run on a triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    /// Triangle.
    pub triangle: u32,
    /// Weights at the start.
    pub from: DVec2,
    /// Weights at the end.
    pub to: DVec2,
    /// Velocity at the end [m/s].
    pub velocity: DVec2,
    /// From the start to the end [m].
    pub way: DVec2,
    /// Its length [s].
    pub time: f64,
}

impl Flow<'_> {
    pub(super) fn record_rest(&mut self, drop: &Droplet) {
        if let (true, Phase::Corner { half }) = (self.world.tracks, drop.phase) {
            let facet = self.surface().facets[half as usize / 3];
            let place = facet.corner(half as usize % 3);
            let course = Course { place, velocity: DVec2::ZERO, acceleration: DVec2::ZERO };
            self.record(drop, &facet, &course, self.left);
        }
    }

    /// Notes a piece of the track, where tracks are asked for.
    pub(super) fn record(&mut self, drop: &Droplet, facet: &Facet, course: &Course, time: f64) {
        if !self.world.tracks || time <= 0.0 {
            return;
        }
        // The surface has arrived already: where it came from during this step is taken back.
        let position = facet.point(course.place) - drop.carrier * self.left;
        self.trace.segments.push(Segment {
            id: drop.id,
            start: self.now(),
            duration: time,
            position,
            velocity: facet.lift(course.velocity) + drop.carrier,
            acceleration: facet.lift(course.acceleration) + drop.carrier * self.body.drag,
            drag: self.body.drag,
        });
    }

    /// Notes a part of a course that was run; the drop's own distance grows by it.
    pub(super) fn record_stay(&mut self, drop: &mut Droplet, course: &Course, run: &Stretch) {
        let Stretch { triangle, from, to, way, time, .. } = *run;
        if time <= 0.0 {
            return;
        }
        let (v0, v1, a) = (course.velocity, run.velocity, course.acceleration);
        let mut total = way.abs();
        for i in 0..2 {
            if v0[i] * v1[i] < 0.0 {
                // There and back on this axis: count both ways.
                if let Some(t) = time_of_rest(v0[i], a[i], self.body.drag) {
                    let there = Weights::at(self.body.drag, t).displacement(v0[i], a[i]);
                    total[i] = there.abs() + (way[i] - there).abs();
                }
            }
        }
        let length = total.length();
        drop.distance += length;
        drop.since_bead += length;
        // Held drops leave no record: there are thousands, and nothing follows from them.
        if length > 0.0 {
            self.trace.stays.push(Stay {
                drop: self.index,
                triangle,
                from,
                to,
                way: total,
                start: self.now(),
                end: self.now() + time,
                radius: self.body.radius,
                side: drop.side,
            });
        }
    }
}
