//! What an animator would complain of, without being asked: every shape of a shot against default limits.

use frisson::stage::Frame;
use frisson_io::scene::{Measure, Statistic};
use frisson_io::{FrameSource, Progress};
use glam::Vec3;
use serde::Serialize;

use crate::difference::difference;
use crate::gauge::unit;
use crate::measure::{JudgeError, read_at};
use crate::shape::Shape;
use crate::statistic::{Reading, Sample, reduce};
use crate::watch::{Watch, Worst};

/// Least size of what is looked at closely [m].
const LEAST_SIZE: f32 = 1e-3;
/// Limit below which a finding is as bad as one at this limit: some limits are 0.
const LEAST_LIMIT: f64 = 1e-9;

/// Limits that were set; what is not set is relative to the subject's size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    set: Vec<(Measure, f64)>,
}

impl Limits {
    /// Sets a limit, in the unit of the measure.
    pub fn set(&mut self, measure: Measure, limit: f64) {
        self.set.push((measure, limit));
    }

    /// The limit of a measure for a shape of some size [m].
    pub(crate) fn of(&self, measure: Measure, size: f32, is_curve: bool) -> f64 {
        let set = self.set.iter().rev().find(|(m, _)| *m == measure);
        set.map_or_else(|| default_limit(measure, f64::from(size), is_curve), |(_, limit)| *limit)
    }
}

/// Default limits. Lengths are shares of the subject's diagonal, in mm.
fn default_limit(measure: Measure, size: f64, is_curve: bool) -> f64 {
    let share = |s: f64| 1000.0 * s * size;
    match measure {
        // A step that its neighbours do not share by a thirtieth of the subject is seen as a cut.
        Measure::Pop => share(0.03),
        // Of skin p99: a bent elbow doubles few edges. Hair does not stretch.
        Measure::Stretch => {
            if is_curve {
                1.03
            } else {
                1.6
            }
        }
        // A millimetre on a person.
        Measure::Inside => share(5e-4),
        // Share of the points that shiver.
        Measure::Reversals => 0.01,
        // Beyond those of the first frame.
        Measure::Crossings | Measure::Components => 0.0,
        // Change of a closed body.
        Measure::Volume => 0.2,
        // Less than this over the whole shot is stillness.
        Measure::Travel => share(1e-4),
        _ => f64::INFINITY,
    }
}

/// Something to complain of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// From 1, worst first.
    pub number: usize,
    /// What was measured.
    pub measure: Measure,
    /// Of which shape.
    pub shape: String,
    /// In or through which other.
    pub body: Option<String>,
    /// Worst value.
    pub value: f64,
    /// Limit it goes beyond.
    pub limit: f64,
    /// Unit of both.
    pub unit: &'static str,
    /// Frame of the worst value.
    pub frame: i64,
    /// Frames looked at that go beyond the limit.
    pub frames: usize,
    /// Vertex, edge, curve or point.
    pub element: Option<u32>,
    /// Where it is [m].
    pub place: Option<[f32; 3]>,
    /// Diagonal of the shape [m].
    pub size: f32,
    /// In words.
    pub text: String,
}

/// Where to look at a finding from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloseUp {
    /// Frame.
    pub frame: i64,
    /// Place of the camera [m].
    pub eye: Vec3,
    /// What it looks at [m].
    pub target: Vec3,
}

/// Distance of the camera from a finding, as a share of the subject's diagonal [-].
const NEAR: f32 = 0.45;

impl Finding {
    /// A camera that sees it close up, from outside of the subject whose middle is given.
    #[must_use]
    pub fn close_up(&self, middle: Vec3) -> CloseUp {
        let target = self.place.map_or(middle, Vec3::from_array);
        let outward = (target - middle).normalize_or(Vec3::Z);
        // Slightly from above and never straight down: a picture has an up.
        let level = Vec3::new(outward.x, outward.y.clamp(-0.2, 0.6) + 0.25, outward.z);
        let flat = if level.x.abs() + level.z.abs() < 0.1 { level + Vec3::Z } else { level };
        let eye = target + NEAR * self.size.max(LEAST_SIZE) * flat.normalize_or(Vec3::Z);
        CloseUp { frame: self.frame, eye, target }
    }
}

/// A shot that was looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Judgement {
    /// Frames looked at.
    pub frames: usize,
    /// Points of all shapes, most of any frame.
    pub points: usize,
    /// Worst first.
    pub findings: Vec<Finding>,
    /// What the actors' own motion gives as much reason for, where that was asked; numbered on.
    pub own: Vec<Finding>,
}

/// How far a value is from what is right.
fn badness(measure: Measure, value: f64) -> f64 {
    // Edges that keep their length have a ratio of one.
    if measure == Measure::Stretch { value - 1.0 } else { value }
}

/// Share of how bad something is that the motion without layers must have for the complaint to be about that [-].
const AS_BAD: f64 = 0.9;

impl Judgement {
    /// Sets apart what the same shot without its layers gives as much reason to complain of.
    pub fn set_own_apart(&mut self, bare: &Self) {
        let is_own = |f: &Finding| {
            let same =
                |b: &&Finding| b.measure == f.measure && b.shape == f.shape && b.body == f.body;
            let bad = |g: &Finding| badness(g.measure, g.value);
            bare.findings.iter().find(same).is_some_and(|b| bad(b) >= AS_BAD * bad(f))
        };
        let (own, brought) = std::mem::take(&mut self.findings).into_iter().partition(is_own);
        (self.own, self.findings) = (own, brought);
        for (finding, number) in self.findings.iter_mut().chain(&mut self.own).zip(1..) {
            finding.number = number;
        }
    }
}

/// Frames at which the costly questions are asked: what is inside, what crosses, what hangs together. More
/// would cost more than 5 ms per 10,000 points and frame of a shot of two seconds, on two cores.
const CLOSE_LOOKS: i64 = 10;

/// Looks at every shape of a shot. `layers` (kind, name) say which shapes should move, and which are
/// liquid; what is measured is the same for all.
pub fn judge_shot(
    source: &mut dyn FrameSource,
    layers: &[(String, String)],
    limits: &Limits,
    range: Option<(i64, i64)>,
    progress: &mut dyn Progress,
) -> Result<Judgement, JudgeError> {
    let info = source.info().clone();
    let (from, to) = range.unwrap_or((info.first_frame, info.last_frame));
    let (first, last) = (from.max(info.first_frame), to.min(info.last_frame));
    let stride = ((last - first + CLOSE_LOOKS) / CLOSE_LOOKS).max(1);
    let names = |liquid: bool| -> Vec<String> {
        let wanted = layers.iter().filter(|(kind, _)| !liquid || kind == "drops");
        wanted.map(|(_, name)| name.clone()).collect()
    };
    let mut watch = Watch::new(limits.clone(), info.rate.fps(), names(true));
    let mut frame = Frame::default();
    let mut judgement = Judgement::default();
    for number in first..=last {
        if !progress.advance((number - first) as u64, (last - first + 1) as u64) {
            return Err(JudgeError::Stopped);
        }
        source.read_frame(number, &mut frame)?;
        let is_close = (number - first) % stride == 0 || number == last;
        watch.add(&frame, is_close);
        judgement.frames += 1;
        let points = Shape::all(&frame).map(|s| s.points().len()).sum();
        judgement.points = judgement.points.max(points);
    }
    let mut findings: Vec<Finding> = watch.finish(&names(false)).iter().map(finding).collect();
    let severity = |f: &Finding| {
        let ratio = f.value / f.limit.max(LEAST_LIMIT);
        if f.measure == Measure::Travel { 1.0 } else { ratio }
    };
    findings.sort_by(|a, b| severity(b).total_cmp(&severity(a)).then(a.shape.cmp(&b.shape)));
    for (finding, number) in findings.iter_mut().zip(1..) {
        finding.number = number;
    }
    judgement.findings = findings;
    Ok(judgement)
}

fn finding(worst: &Worst) -> Finding {
    let r = &worst.reading;
    let unit = if worst.measure == Measure::Volume { "-" } else { unit(worst.measure) };
    Finding {
        number: 0,
        measure: worst.measure,
        shape: worst.shape.clone(),
        body: worst.body.clone(),
        value: r.value,
        limit: worst.limit,
        unit,
        frame: r.frame,
        frames: worst.frames,
        element: r.element,
        place: r.place.map(|p| p.to_array()),
        size: worst.size,
        text: in_words(worst),
    }
}

fn in_words(worst: &Worst) -> String {
    let Worst { shape, limit, reading: r, .. } = worst;
    let body = worst.body.as_deref().unwrap_or("itself");
    let who = match r.element {
        Some(element) => format!("{shape}, {} {element}", worst.element),
        None => shape.clone(),
    };
    match worst.measure {
        Measure::Pop => {
            format!("{who} jumps {:.1} mm in one frame, alone (limit {limit:.1} mm)", r.value)
        }
        Measure::Stretch => {
            format!("{who}: {:.2} times its length, 1 of 100 more (limit {limit:.2})", r.value)
        }
        Measure::Inside => {
            format!("{who} is {:.2} mm inside {body} (limit {limit:.2} mm)", r.value)
        }
        Measure::Reversals => {
            format!("{:.1} % of {shape} shivers (limit {:.1} %)", 100.0 * r.value, 100.0 * limit)
        }
        Measure::Crossings => {
            format!("{shape}: {:.0} more edges than at the start go through {body}", r.value)
        }
        Measure::Components => {
            format!("{shape} is in {:.0} pieces more or fewer than at the start", r.value)
        }
        Measure::Volume => {
            format!("the volume of {shape} changes by {:.0} %", 100.0 * r.value)
        }
        Measure::Travel => format!("{shape} does not move ({:.3} mm in the whole shot)", r.value),
        _ => format!("{who}: {:.3} (limit {limit:.3})", r.value),
    }
}

/// How far apart two bakes of a shape are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Apart {
    /// Shape.
    pub shape: String,
    /// Root of the mean square over points and common frames [mm].
    pub rms: f64,
    /// Largest distance [mm].
    pub max: f64,
    /// Frame of the largest.
    pub frame: i64,
    /// Vertex or point of the largest.
    pub element: u32,
    /// Where that is [m].
    pub place: [f32; 3],
    /// Frames that both have at the same time.
    pub frames: usize,
}

/// Compares two shots at the times they have in common, shape by shape.
pub fn compare_shots(
    source: &mut dyn FrameSource,
    other: &mut dyn FrameSource,
    progress: &mut dyn Progress,
) -> Result<Vec<Apart>, JudgeError> {
    let info = source.info().clone();
    let (mut a, mut b) = (Frame::default(), Frame::default());
    let mut all: Vec<(Apart, f64, usize)> = Vec::new();
    for number in info.first_frame..=info.last_frame {
        let total = (info.last_frame - info.first_frame + 1) as u64;
        if !progress.advance((number - info.first_frame) as u64, total) {
            return Err(JudgeError::Stopped);
        }
        source.read_frame(number, &mut a)?;
        if !read_at(other, a.time, &mut b)? {
            continue;
        }
        for shape in Shape::all(&a) {
            let Some(beside) = Shape::find(&b, shape.name()) else { continue };
            add_apart(&mut all, shape.name(), number, difference(shape, beside));
        }
    }
    let finished = |(apart, squares, count): (Apart, f64, usize)| Apart {
        rms: (squares / count.max(1) as f64).sqrt(),
        ..apart
    };
    Ok(all.into_iter().map(finished).collect())
}

fn add_apart(all: &mut Vec<(Apart, f64, usize)>, name: &str, frame: i64, mut samples: Vec<Sample>) {
    let squares: f64 = samples.iter().map(|s| f64::from(s.value).powi(2)).sum();
    let count = samples.len();
    let Some(Reading { value, element, place, .. }) = reduce(&mut samples, Statistic::Max, frame)
    else {
        return;
    };
    let index = all.iter().position(|(a, _, _)| a.shape == name).unwrap_or_else(|| {
        let shape = name.to_owned();
        let none =
            Apart { shape, rms: 0.0, max: -1.0, frame, element: 0, place: [0.0; 3], frames: 0 };
        all.push((none, 0.0, 0));
        all.len() - 1
    });
    let (apart, sum, seen) = &mut all[index];
    *sum += squares;
    *seen += count;
    apart.frames += 1;
    if value > apart.max {
        (apart.max, apart.frame) = (value, frame);
        apart.element = element.unwrap_or_default();
        apart.place = place.unwrap_or_default().to_array();
    }
}
