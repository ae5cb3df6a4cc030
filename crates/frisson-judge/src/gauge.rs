//! One measure of one subject, frame by frame.

use frisson::geometry::Mesh;
use frisson::stage::Frame;
use frisson_io::scene::{Measure, Part, Statistic, Subject};
use glam::Vec3;

use crate::body::{Body, edges_of, point_depths, segment_depths, volume};
use crate::bundles::Links;
use crate::difference::difference;
use crate::motion::{MM, Steps, Turns, distances, kick, pop, speeds};
use crate::overlap::Overlaps;
use crate::pieces::pieces;
use crate::shape::{Shape, Snapshot};
use crate::statistic::{Reading, Sample, reduce};
use crate::stretch::Lengths;
use crate::visible::changed_share;

/// Way back that counts as a turn when nothing else is said [mm].
const TURN_MM: f64 = 1.0;

/// Depth from which what touches crosses, when nothing else is said [mm]: far below what a picture shows,
/// far above what surfaces that are made to touch differ by.
const CROSS_MM: f64 = 0.05;

/// Unit of a measure.
#[must_use]
pub fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Rest | Measure::Kick => "mm/s",
        Measure::Pop
        | Measure::Inside
        | Measure::Gap
        | Measure::Travel
        | Measure::Loop
        | Measure::Effect => "mm",
        Measure::Place => "m",
        Measure::Volume => "m³",
        Measure::Area => "m²",
        Measure::Crossings | Measure::Components | Measure::Count => "",
        Measure::Reversals
        | Measure::Swings
        | Measure::Stretch
        | Measure::Visible
        | Measure::Rates => "-",
    }
}

/// Which element speaks for a frame when nothing else is said.
fn default_statistic(measure: Measure) -> Statistic {
    match measure {
        Measure::Rest | Measure::Stretch | Measure::Swings => Statistic::P99,
        Measure::Place => Statistic::P50,
        Measure::Reversals => Statistic::Mean,
        _ => Statistic::Max,
    }
}

/// A frame, and the same instant of the bake it is compared with.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// The frame at the reference of the subject.
    pub reference: &'a Frame,
    /// The other bake at the same time.
    pub other: Option<&'a Frame>,
}

/// Measures one subject.
pub struct Gauge {
    measure: Measure,
    subject: Subject,
    statistic: Statistic,
    before: Option<(Snapshot, f64)>,
    first: Option<Snapshot>,
    within: Option<(Snapshot, Vec<bool>)>,
    steps: Steps,
    turns: Turns,
    lengths: Option<Lengths>,
    body: Body,
    own: Body,
    worn_on: Vec<Body>,
    links: Links,
}

impl Gauge {
    /// A gauge that has seen nothing.
    #[must_use]
    pub fn new(measure: Measure, subject: &Subject) -> Self {
        Self {
            measure,
            subject: subject.clone(),
            statistic: subject.of.unwrap_or_else(|| default_statistic(measure)),
            before: None,
            first: None,
            within: None,
            steps: Steps::default(),
            turns: Turns::default(),
            lengths: None,
            body: Body::default(),
            own: Body::default(),
            worn_on: subject.worn_on.iter().map(|_| Body::default()).collect(),
            links: Links::default(),
        }
    }

    /// Takes a frame; gives what it says, where it says something by itself.
    pub fn add(&mut self, moment: &Moment) -> Option<Reading> {
        let index = moment.frame.index;
        if self.measure == Measure::Visible {
            let other = moment.other?;
            let value = changed_share(moment.frame, other, self.subject.shape.as_deref());
            return Some(Reading { value, frame: index, element: None, place: None });
        }
        let shape = Shape::find(moment.frame, self.subject.shape.as_deref()?)?;
        let whole = |value: f64| Some(Reading { value, frame: index, element: None, place: None });
        match (self.measure, shape) {
            (Measure::Count, _) => return whole(self.count(shape, moment)),
            (Measure::Crossings, _) => return self.crossings(shape, moment),
            (Measure::Components, Shape::Mesh(mesh)) => {
                self.own.update(mesh);
                return whole(pieces(mesh, &self.own) as f64);
            }
            (Measure::Volume, Shape::Mesh(mesh)) => return whole(volume(mesh)),
            (Measure::Area, Shape::Mesh(mesh)) => return whole(mesh.area()),
            _ => {}
        }
        let (frame, mut samples) = self.samples(shape, moment)?;
        self.keep_within(&mut samples, moment);
        reduce(&mut samples, self.statistic, frame)
    }

    /// What the frames say together.
    pub fn finish(&mut self, frame: i64) -> Option<Reading> {
        let mut samples = match self.measure {
            Measure::Reversals => self.turns.reversals(),
            Measure::Swings => self.turns.growths(),
            _ => return None,
        };
        if let Some((_, flags)) = &self.within {
            samples.retain(|s| flags.get(s.element as usize).is_some_and(|f| *f));
        }
        reduce(&mut samples, self.statistic, frame)
    }

    /// The values of all elements, and the frame they belong to.
    fn samples(&mut self, shape: Shape, moment: &Moment) -> Option<(i64, Vec<Sample>)> {
        let index = moment.frame.index;
        let reference = || Shape::find(moment.reference, shape.name());
        let samples = match self.measure {
            Measure::Rest => {
                let samples = match &self.before {
                    Some((before, time)) => speeds(before, shape, moment.frame.time - time),
                    None => None,
                };
                // The storage of the snapshot before.
                let mut taken = self.before.take().map(|(s, _)| s).unwrap_or_default();
                taken.take(shape);
                self.before = Some((taken, moment.frame.time));
                samples?
            }
            // A pop is known only by the step after it: it belongs to the frame before.
            Measure::Pop => return Some((index - 1, self.steps.add(shape, pop)?)),
            Measure::Kick => {
                let per_second = self.rate(moment);
                let mut kicks = self.steps.add(shape, kick)?;
                kicks.iter_mut().for_each(|k| k.value *= per_second);
                return Some((index - 1, kicks));
            }
            Measure::Reversals | Measure::Swings => {
                let above = self.subject.above.unwrap_or(TURN_MM) / f64::from(MM);
                self.turns.add(shape, above as f32);
                self.remember_within(moment);
                return None;
            }
            Measure::Stretch => {
                if self.lengths.is_none() {
                    let part = self.subject.part.unwrap_or(Part::Curves);
                    self.lengths = Some(Lengths::of(reference()?, part));
                }
                self.lengths.as_ref()?.ratios(shape)?
            }
            Measure::Inside | Measure::Gap => self.depths(shape, moment)?,
            Measure::Travel => distances(&Snapshot::of(reference()?), shape, MM)?,
            Measure::Place => places(shape, self.subject.axis),
            Measure::Loop => match &self.first {
                Some(first) => distances(first, shape, MM)?,
                None => {
                    self.first = Some(Snapshot::of(shape));
                    return None;
                }
            },
            Measure::Effect => self.effect(shape, moment)?,
            _ => return None,
        };
        Some((index, samples))
    }

    fn rate(&mut self, moment: &Moment) -> f32 {
        let time = moment.frame.time;
        let seconds = self.before.as_ref().map_or(0.0, |(_, before)| time - before);
        self.before = Some((Snapshot::default(), time));
        if seconds > 0.0 { (1.0 / seconds) as f32 } else { 0.0 }
    }

    /// Distance from the bake without the layer; where the layer itself makes the shape, from where it
    /// was at the reference.
    fn effect(&self, shape: Shape, moment: &Moment) -> Option<Vec<Sample>> {
        match Shape::find(moment.other?, shape.name()) {
            Some(other) => Some(difference(shape, other)),
            None => {
                let reference = Shape::find(moment.reference, shape.name())?;
                distances(&Snapshot::of(reference), shape, MM)
            }
        }
    }

    fn depths(&mut self, shape: Shape, moment: &Moment) -> Option<Vec<Sample>> {
        let Shape::Mesh(body) = Shape::find(moment.frame, self.subject.body.as_deref()?)? else {
            return None;
        };
        self.body.update(body);
        if self.measure == Measure::Gap {
            let body = &self.body;
            let one = |(i, &place): (usize, &Vec3)| {
                let value = MM * body.distance(place);
                Sample { value, element: i as u32, place }
            };
            return Some(shape.points().iter().enumerate().map(one).collect());
        }
        let mut depths = match self.subject.part {
            None | Some(Part::Points | Part::Curves) => {
                point_depths(&self.body, shape, self.links.of(shape), |_| false)
            }
            Some(Part::Midpoints) => segment_depths(&self.body, shape, true),
            Some(Part::Segments) => segment_depths(&self.body, shape, false),
        };
        depths.iter_mut().for_each(|d| d.value *= MM);
        Some(depths)
    }

    fn crossings(&mut self, shape: Shape, moment: &Moment) -> Option<Reading> {
        let deeper = (self.subject.above.unwrap_or(CROSS_MM) / f64::from(MM)) as f32;
        let mut found = match self.subject.body.as_deref() {
            Some(body) if body != shape.name() => {
                let Shape::Mesh(body) = Shape::find(moment.frame, body)? else { return None };
                self.body.update(body);
                self.body.crossings(self.links.of(shape), shape.points(), deeper)
            }
            _ => {
                let Shape::Mesh(mesh) = shape else { return None };
                self.own.update(mesh);
                self.own.own_crossings(&mesh.positions, deeper)
            }
        };
        if let Some(within) = self.subject.within {
            found.retain(|(_, place)| is_within(*place, within));
        }
        if !found.is_empty() {
            let garment = mean_edge(self.garment(moment));
            let overlaps = self.overlaps(moment);
            found.retain(|(_, place)| !overlaps.is_near(*place, garment));
        }
        let first = found.first();
        Some(Reading {
            value: found.len() as f64,
            frame: moment.frame.index,
            element: first.map(|f| f.0),
            place: first.map(|f| f.1),
        })
    }

    /// What is worn, of the two shapes that cross.
    fn garment<'a>(&self, moment: &Moment<'a>) -> Option<&'a Mesh> {
        let is_worn_on = |name: &&str| self.subject.worn_on.iter().any(|body| body == name);
        let both = [self.subject.shape.as_deref(), self.subject.body.as_deref()];
        let name = both.into_iter().flatten().find(|name| !is_worn_on(name))?;
        mesh_of(moment.frame, name)
    }

    /// Where what the shape is worn on goes through itself.
    fn overlaps(&mut self, moment: &Moment) -> Overlaps {
        let names = &self.subject.worn_on;
        let meshes: Vec<&Mesh> =
            names.iter().filter_map(|name| mesh_of(moment.frame, name)).collect();
        self.worn_on.iter_mut().zip(&meshes).for_each(|(body, mesh)| body.update(mesh));
        let parts: Vec<(&Mesh, &Body)> = meshes.into_iter().zip(&self.worn_on).collect();
        Overlaps::of(&parts)
    }

    fn count(&mut self, shape: Shape, moment: &Moment) -> f64 {
        if self.subject.within.is_none() {
            return shape.count() as f64;
        }
        let one = |(i, &place): (usize, &Vec3)| Sample { value: 0.0, element: i as u32, place };
        let mut samples: Vec<Sample> = shape.points().iter().enumerate().map(one).collect();
        self.keep_within(&mut samples, moment);
        samples.len() as f64
    }

    /// Drops what is outside the subject's box.
    fn keep_within(&mut self, samples: &mut Vec<Sample>, moment: &Moment) {
        let Some(within) = self.subject.within else { return };
        let counts_points = !matches!(
            (self.measure, self.subject.part),
            (Measure::Stretch, _) | (Measure::Inside, Some(Part::Midpoints | Part::Segments))
        );
        self.remember_within(moment);
        match &self.within {
            Some((_, flags)) if counts_points => {
                samples.retain(|s| flags.get(s.element as usize).is_some_and(|f| *f));
            }
            _ => samples.retain(|s| is_within(s.place, within)),
        }
    }

    /// Which points are in the box at the first frame of the shot, where they are the same points.
    fn remember_within(&mut self, moment: &Moment) {
        let (Some(within), Some(name)) = (self.subject.within, self.subject.shape.as_deref())
        else {
            return;
        };
        let Some(now) = Shape::find(moment.frame, name) else { return };
        let known = self.within.as_ref();
        if known.is_some_and(|(s, _)| s.match_points(now) == Some(crate::shape::Match::Same)) {
            return;
        }
        let same = Shape::find(moment.reference, name)
            .filter(|r| !matches!(r, Shape::Points(_)))
            .filter(|r| Snapshot::of(*r).match_points(now) == Some(crate::shape::Match::Same));
        self.within = same
            .map(|r| (Snapshot::of(r), r.points().iter().map(|&p| is_within(p, within)).collect()));
    }
}

fn mesh_of<'a>(frame: &'a Frame, name: &str) -> Option<&'a Mesh> {
    match Shape::find(frame, name)? {
        Shape::Mesh(mesh) => Some(mesh),
        _ => None,
    }
}

/// Mean length of a mesh's edges [m]; 0 without any.
fn mean_edge(mesh: Option<&Mesh>) -> f32 {
    let Some(mesh) = mesh else { return 0.0 };
    let at = |v: u32| mesh.positions[v as usize];
    let edges = edges_of(&mesh.topology.triangles);
    edges.iter().map(|[a, b]| at(*a).distance(at(*b))).sum::<f32>() / edges.len().max(1) as f32
}

fn is_within(p: Vec3, [x, y, z, far_x, far_y, far_z]: [f32; 6]) -> bool {
    p.cmpge(Vec3::new(x, y, z)).all() && p.cmple(Vec3::new(far_x, far_y, far_z)).all()
}

fn places(shape: Shape, axis: Option<[f32; 3]>) -> Vec<Sample> {
    let axis = axis.map_or(Vec3::Y, Vec3::from_array).normalize_or(Vec3::Y);
    let one =
        |(i, &place): (usize, &Vec3)| Sample { value: place.dot(axis), element: i as u32, place };
    shape.points().iter().enumerate().map(one).collect()
}
