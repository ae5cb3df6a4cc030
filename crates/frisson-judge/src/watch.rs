//! Every shape of a shot, watched frame by frame for what no one wants to see.

use frisson::geometry::{Bounds, Mesh};
use frisson::stage::Frame;
use frisson_io::scene::{Measure, Part, Statistic};
use glam::Vec3;

use crate::body::{Body, point_depths, volume};
use crate::bundles::Links;
use crate::findings::Limits;
use crate::motion::{MM, Steps, Turns, pop};
use crate::pieces::pieces;
use crate::riding::{Grounds, Riding};
use crate::shape::{Match, Shape, Snapshot};
use crate::statistic::{Reading, Sample, reduce};
use crate::stretch::Lengths;

/// Turns a second that are a shiver: faster than flesh, cloth or hair swing by themselves [Hz].
const SHIVER_HZ: f64 = 8.0;
/// Way back that counts for a shiver, as a share of the subject's size [-]: a pixel of a picture of it.
const SHIVER: f32 = 1e-3;
/// Shots shorter than this have no rate of turns to speak of [s].
const SHIVER_SECONDS: f64 = 0.5;
/// Depth below which surfaces only touch, as a share of the subject's size [-].
const TOUCH: f32 = 5e-5;
/// One point in so many is enough to see that something moves.
const STILLNESS_STRIDE: usize = 8;

/// The worst of one question about one shape.
#[derive(Clone, Debug)]
pub struct Worst {
    /// Question.
    pub measure: Measure,
    /// Shape.
    pub shape: String,
    /// What an element of it is called.
    pub element: &'static str,
    /// The other shape.
    pub body: Option<String>,
    /// Worst reading.
    pub reading: Reading,
    /// Limit.
    pub limit: f64,
    /// Frames beyond the limit.
    pub frames: usize,
    /// Diagonal of the shape [m].
    pub size: f32,
}

/// What went beyond its limit so far.
struct Ledger {
    limits: Limits,
    worst: Vec<Worst>,
}

impl Ledger {
    fn note(&mut self, of: &Watched, measure: Measure, reading: Option<Reading>) {
        let limit = self.limits.of(measure, of.size, of.is_curve);
        if let Some(reading) = reading.filter(|r| r.value > limit) {
            self.keep(of.worst(measure, reading, limit));
        }
    }

    fn keep(&mut self, new: Worst) {
        let same =
            |w: &&mut Worst| w.measure == new.measure && w.shape == new.shape && w.body == new.body;
        match self.worst.iter_mut().find(same) {
            Some(old) => {
                old.frames += 1;
                if new.reading.value > old.reading.value {
                    (old.reading, old.limit) = (new.reading, new.limit);
                }
            }
            None => self.worst.push(new),
        }
    }
}

/// What is known of the shapes so far.
pub struct Watch {
    ledger: Ledger,
    fps: f64,
    frames: usize,
    last: i64,
    shapes: Vec<Watched>,
    liquids: Vec<String>,
    grounds: Grounds,
}

impl Watch {
    /// Watches nothing yet. Shapes of `liquids` come, go and unite: their pieces and vertices are no one's.
    pub fn new(limits: Limits, fps: f64, liquids: Vec<String>) -> Self {
        let ledger = Ledger { limits, worst: Vec::new() };
        Self {
            ledger,
            fps,
            frames: 0,
            last: 0,
            shapes: Vec::new(),
            liquids,
            grounds: Grounds::default(),
        }
    }

    /// Takes the next frame; a close look asks the costly questions too.
    pub fn add(&mut self, frame: &Frame, is_close: bool) {
        let is_liquid = |name: &str| self.liquids.iter().any(|l| name.starts_with(l.as_str()));
        if frame.points.iter().any(|p| is_liquid(&p.name)) {
            self.grounds.update(frame, is_liquid);
        }
        for shape in Shape::all(frame).filter(|s| !s.points().is_empty()) {
            let index = self.index_of(shape);
            let watched = &mut self.shapes[index];
            watched.look(shape, &self.grounds, frame.index, &mut self.ledger);
            if let (true, Shape::Mesh(mesh)) = (is_close && !watched.is_liquid, shape) {
                watched.look_closely(mesh, frame.index, &mut self.ledger);
            }
        }
        if is_close {
            self.look_inside(frame);
        }
        self.frames += 1;
        self.last = frame.index;
    }

    fn index_of(&mut self, shape: Shape) -> usize {
        let known = self.shapes.iter().position(|w| w.name == shape.name());
        known.unwrap_or_else(|| {
            let is_liquid = self.liquids.iter().any(|l| shape.name().starts_with(l.as_str()));
            self.shapes.push(Watched::new(shape, is_liquid));
            self.shapes.len() - 1
        })
    }

    /// What is inside of what.
    fn look_inside(&mut self, frame: &Frame) {
        let is_first = self.frames == 0;
        // Taken out for a while: a shape is changed while it is held against the bodies of all others.
        let bodies: Vec<Body> =
            self.shapes.iter_mut().map(|w| std::mem::take(&mut w.body)).collect();
        let solid: Vec<bool> = self.shapes.iter().map(|w| !w.is_liquid).collect();
        for (b, body) in bodies.iter().enumerate().filter(|(_, body)| body.is_closed()) {
            let others = bodies.iter().zip(&solid).enumerate();
            let others = others.filter(|(i, (_, solid))| *i != b && **solid);
            let others: Vec<&Body> = others.map(|(_, (body, _))| body).collect();
            let name = self.shapes[b].name.clone();
            for watched in self.shapes.iter_mut().filter(|w| w.name != name) {
                let shape = Shape::find(frame, &watched.name);
                let shape = shape.filter(|s| !matches!(s, Shape::Points(_)) && overlap(body, *s));
                if let Some(shape) = shape {
                    let pair =
                        Pair { body, name: &name, others: &others, is_first, frame: frame.index };
                    pair.look(watched, shape, &mut self.ledger);
                }
            }
        }
        for (watched, body) in self.shapes.iter_mut().zip(bodies) {
            watched.body = body;
        }
    }

    /// All that went beyond its limit. `layers` are the names of those that should make something move.
    pub fn finish(mut self, layers: &[String]) -> Vec<Worst> {
        for watched in &self.shapes {
            let seconds = watched.frames as f64 / self.fps;
            let shiver = watched.shiver(seconds, self.last);
            self.ledger.note(watched, Measure::Reversals, shiver);
            let of_layer = layers.iter().any(|l| watched.name.starts_with(l.as_str()));
            let limit = self.ledger.limits.of(Measure::Travel, watched.size, watched.is_curve);
            let value = f64::from(MM * watched.travel);
            if of_layer && watched.frames > 1 && value < limit {
                let place = Some(watched.start);
                let reading = Reading { value, frame: self.last, element: None, place };
                self.ledger.keep(watched.worst(Measure::Travel, reading, limit));
            }
        }
        self.ledger.worst
    }
}

/// A shape and what it looked like before.
struct Watched {
    name: String,
    element: &'static str,
    size: f32,
    is_curve: bool,
    is_liquid: bool,
    first: Snapshot,
    start: Vec3,
    travel: f32,
    steps: Steps,
    turns: Turns,
    riding: Riding,
    frames: usize,
    lengths: Lengths,
    body: Body,
    links: Links,
    at_start: Option<Whole>,
    /// Points that are inside of another shape from the start: (body, flags).
    rooted: Vec<(String, Vec<bool>)>,
}

/// A mesh as a whole.
#[derive(Clone, Copy)]
struct Whole {
    volume: f64,
    pieces: usize,
    crossings: usize,
}

impl Watched {
    fn new(shape: Shape, is_liquid: bool) -> Self {
        Self {
            is_liquid,
            name: shape.name().to_owned(),
            element: shape.element_name(),
            size: shape.size(),
            is_curve: matches!(shape, Shape::Curves(_)),
            first: Snapshot::of(shape),
            start: shape.points().first().copied().unwrap_or_default(),
            travel: 0.0,
            steps: Steps::default(),
            turns: Turns::default(),
            riding: Riding::default(),
            frames: 0,
            lengths: Lengths::of(shape, Part::Curves),
            body: Body::default(),
            links: Links::default(),
            at_start: None,
            rooted: Vec::new(),
        }
    }

    fn worst(&self, measure: Measure, reading: Reading, limit: f64) -> Worst {
        let element = match measure {
            Measure::Stretch if self.is_curve => "curve",
            Measure::Stretch | Measure::Crossings => "edge",
            _ => self.element,
        };
        let shape = self.name.clone();
        Worst { measure, shape, element, body: None, reading, limit, frames: 1, size: self.size }
    }

    /// Jumps, lengths, turns, stillness.
    fn look(&mut self, shape: Shape, grounds: &Grounds, frame: i64, ledger: &mut Ledger) {
        // Limits are shares of a size: what starts as a point (a source of drops) would have none.
        self.size = self.size.max(shape.size());
        // The surface of a liquid is another mesh in every frame; that it moves is taken as seen.
        if self.is_liquid && matches!(shape, Shape::Mesh(_)) {
            self.travel = f32::INFINITY;
            return;
        }
        let reach = SHIVER * self.size;
        let alone = match shape {
            // A drop on a leg goes where the leg goes: only what it does besides is its own.
            Shape::Points(points) if self.is_liquid => {
                Shape::Points(self.riding.follow(points, grounds, reach))
            }
            other => other,
        };
        let jump = self.steps.add_worst(alone, pop);
        self.turns.add(alone, reach);
        let seen = |s: Sample| Sample { place: shape.points()[s.element as usize], ..s };
        let jump = if self.is_liquid { jump.map(seen) } else { jump };
        ledger.note(self, Measure::Pop, jump.map(|s| s.reading(frame - 1)));
        let limit = ledger.limits.of(Measure::Stretch, self.size, self.is_curve);
        // Most frames keep to the limit: to know that, nothing needs to be put in order.
        let is_above = self.lengths.p99_is_above(shape, limit);
        if let Some(mut ratios) = is_above.then(|| self.lengths.ratios(shape)).flatten() {
            ledger.note(self, Measure::Stretch, reduce(&mut ratios, Statistic::P99, frame));
        }
        self.frames += 1;
        let moved = match self.first.match_points(shape) {
            Some(Match::Same) => {
                let pairs = shape.points().iter().zip(&self.first.points);
                let apart = pairs.step_by(STILLNESS_STRIDE).map(|(a, b)| a.distance(*b));
                apart.fold(0.0, f32::max)
            }
            // Another number of points is motion enough.
            _ => f32::INFINITY,
        };
        self.travel = self.travel.max(moved);
    }

    /// Crossings with itself, pieces, volume.
    fn look_closely(&mut self, mesh: &Mesh, frame: i64, ledger: &mut Ledger) {
        self.body.update(mesh);
        let crossings = self.body.own_crossings(&mesh.positions, TOUCH * self.size);
        let now = Whole {
            volume: volume(mesh),
            pieces: pieces(mesh, &self.body),
            crossings: crossings.len(),
        };
        // A character that is modelled through itself is nobody's mistake here: only what comes on top is.
        let start = *self.at_start.get_or_insert(now);
        let whole = |value: f64| Some(Reading { value, frame, element: None, place: None });
        // Many pieces, such as drops, come and go: only what starts as one is held to it.
        if start.pieces == 1 {
            ledger.note(self, Measure::Components, whole(now.pieces.abs_diff(1) as f64));
            if self.body.is_closed() && start.volume > 0.0 {
                ledger.note(self, Measure::Volume, whole((now.volume / start.volume - 1.0).abs()));
            }
        }
        if let (true, Some(&(element, place))) = (now.crossings > start.crossings, crossings.last())
        {
            let value = (now.crossings - start.crossings) as f64;
            let reading = Reading { value, frame, element: Some(element), place: Some(place) };
            ledger.note(self, Measure::Crossings, Some(reading));
        }
    }

    /// Share of the points that turn to and fro faster than anything swings.
    fn shiver(&self, seconds: f64, frame: i64) -> Option<Reading> {
        if seconds < SHIVER_SECONDS {
            return None;
        }
        let turns = self.turns.turns();
        let count = turns.iter().filter(|s| f64::from(s.value) > SHIVER_HZ * seconds).count();
        let most = turns.iter().copied().reduce(|a, b| if b.value > a.value { b } else { a })?;
        let value = count as f64 / turns.len() as f64;
        Some(Reading { value, frame, element: Some(most.element), place: Some(most.place) })
    }
}

/// A shape that may be inside of a body.
struct Pair<'a> {
    body: &'a Body,
    name: &'a str,
    /// Solids besides it.
    others: &'a [&'a Body],
    is_first: bool,
    frame: i64,
}

impl Pair<'_> {
    fn look(&self, watched: &mut Watched, shape: Shape, ledger: &mut Ledger) {
        let size = watched.size.max(self.body.bounds().diagonal());
        let limit = ledger.limits.of(Measure::Inside, size, false);
        let count = shape.points().len();
        let rooted = watched.rooted.iter().find(|(body, f)| body == self.name && f.len() == count);
        let is_rooted = |i: usize| rooted.is_some_and(|(_, flags)| flags[i]);
        let mut depths = point_depths(self.body, shape, watched.links.of(shape), is_rooted);
        depths.iter_mut().for_each(|d| d.value *= MM);
        if self.is_first {
            // What is inside at the start belongs there: roots, a collar, an eye.
            let flags = depths.iter().map(|d| f64::from(d.value) > limit).collect();
            watched.rooted.push((self.name.to_owned(), flags));
            return;
        }
        if watched.is_liquid {
            // A drop on an arm goes where the arm goes: into the body it is pressed against, too.
            let lies_on = |d: &Sample, other: &&Body| other.distance(d.place) * MM < d.value;
            depths.retain(|d| {
                f64::from(d.value) <= limit || !self.others.iter().any(|o| lies_on(d, o))
            });
        }
        let deepest = reduce(&mut depths, Statistic::Max, self.frame);
        if let Some(reading) = deepest.filter(|r| r.value > limit) {
            let body = Some(self.name.to_owned());
            ledger.keep(Worst { body, ..watched.worst(Measure::Inside, reading, limit) });
        }
    }
}

fn overlap(body: &Body, shape: Shape) -> bool {
    let (a, b): (Bounds, Bounds) = (body.bounds(), Bounds::of(shape.points()));
    !a.is_empty() && !b.is_empty() && a.overlaps(&b)
}
