//! Holding a scene to what it promises.

use frisson::stage::Frame;
use frisson_io::FrameSource as _;
use frisson_io::cache::CacheReader;
use frisson_io::scene::{ExpectParams, Measure, OverFrames, Subject};
use serde::Serialize;

use crate::bakery::{Bakery, Variant};
use crate::difference::difference;
use crate::gauge::unit;
use crate::in_between::apart_between;
use crate::measure::{JudgeError, Request, Series, measure, read_at};
use crate::shape::Shape;
use crate::statistic::{Reading, Sample, Sum};

/// Smallest number whose digits are said, and how many decimals at most.
const LEAST_SAID: f64 = 1e-6;
const MOST_DECIMALS: i32 = 6;
/// What a difference as large as the shot's own chaos counts as [-]: one of twice the chaos as 0.02.
const CHAOS_COUNTS: f64 = 0.01;

/// Rate from which a curve through the frames of a bake is as good as the bake, as it has all ticks [frames/s].
const FINE: f64 = 120.0;

/// How a promise fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// It holds.
    Kept,
    /// It does not.
    Broken,
    /// It does not, and that is known.
    Known,
    /// It is marked as known to fail, and holds: the mark has to go.
    NoLongerKnown,
    /// There was nothing to measure.
    NotMeasured,
}

impl Held {
    /// Whether a run with it is good.
    #[must_use]
    pub fn is_good(self) -> bool {
        matches!(self, Self::Kept | Self::Known)
    }
}

/// A promise, what was measured and how it fared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Which of the scene, from 0.
    pub index: usize,
    /// Its line in the scene file, from 1.
    pub line: usize,
    /// What is measured.
    pub measure: Measure,
    /// Of which shape, or of which layer where no shape is named.
    pub shape: String,
    /// What was measured; nothing where there was nothing to measure.
    pub value: Option<f64>,
    /// Its unit; `-` for a ratio, nothing for a count.
    pub unit: &'static str,
    /// Least it may be.
    pub at_least: Option<f64>,
    /// Most it may be.
    pub at_most: Option<f64>,
    /// Frame of the value.
    pub frame: Option<i64>,
    /// Vertex, edge, curve or point of the value.
    pub element: Option<u32>,
    /// Where that is [m].
    pub place: Option<[f32; 3]>,
    /// The claim in words.
    pub why: String,
    /// Why it does not hold yet.
    pub known: Option<String>,
    /// How it fared.
    pub held: Held,
}

impl Outcome {
    /// What it should be, in words: `at most 0.2 mm`.
    #[must_use]
    pub fn wanted(&self) -> String {
        let unit = self.unit_after();
        match (self.at_least, self.at_most) {
            (Some(low), Some(high)) => format!("{low} to {high}{unit}"),
            (Some(low), None) => format!("at least {low}{unit}"),
            (None, Some(high)) => format!("at most {high}{unit}"),
            _ => String::new(),
        }
    }

    /// What it is, in words, with its frame.
    #[must_use]
    pub fn found(&self) -> String {
        let Some(value) = self.value else { return "nothing to measure".to_owned() };
        let at = self.frame.map_or_else(String::new, |f| format!(" at frame {f}"));
        format!("{}{}{at}", four_digits(value), self.unit_after())
    }

    /// What is measured of what, in words: `stretch of cape`.
    #[must_use]
    pub fn measured(&self) -> String {
        let name = serde_json::to_value(self.measure).unwrap_or_default();
        format!("{} of {}", name.as_str().unwrap_or_default(), self.shape)
    }

    fn unit_after(&self) -> String {
        if matches!(self.unit, "-" | "") { String::new() } else { format!(" {}", self.unit) }
    }
}

/// A number with four digits that count.
fn four_digits(value: f64) -> String {
    let before = value.abs().max(LEAST_SAID).log10().floor() as i32 + 1;
    let after = (4 - before).clamp(0, MOST_DECIMALS) as usize;
    let text = format!("{value:.after$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Whether a promise needs more than one bake of the shot as it is: other rates, a later end.
#[must_use]
pub fn is_slow(expect: &ExpectParams) -> bool {
    let subject = &expect.subject;
    expect.measure == Measure::Rates || subject.bake_to.is_some() || subject.fps.is_some()
}

/// Measures what a scene promises. `only` chooses by index.
pub fn hold(
    bakery: &mut Bakery,
    only: &dyn Fn(usize, &ExpectParams) -> bool,
) -> Result<Vec<Outcome>, JudgeError> {
    let expects: Vec<(usize, ExpectParams)> = bakery
        .scene()
        .scene
        .expect
        .iter()
        .cloned()
        .enumerate()
        .filter(|(i, e)| only(*i, e))
        .collect();
    let mut jobs = Jobs::default();
    for (index, expect) in &expects {
        jobs.add(*index, expect.measure, &expect.subject, false);
        if let Some(base) = expect.base() {
            jobs.add(*index, expect.measure, &base, true);
        }
    }
    let measured = jobs.run(bakery)?;
    let outcome = |(index, expect): &(usize, ExpectParams)| {
        let line = bakery.scene().expect_line(*index);
        judge(*index, line, expect, measured.find(*index, false), measured.find(*index, true))
    };
    Ok(expects.iter().map(outcome).collect())
}

struct Job {
    index: usize,
    is_base: bool,
    main: Variant,
    other: Option<Variant>,
    request: Request,
    series: Option<Series>,
}

#[derive(Default)]
struct Jobs(Vec<Job>);

impl Jobs {
    fn add(&mut self, index: usize, measure: Measure, subject: &Subject, is_base: bool) {
        let main = Variant {
            rate: subject.fps.map(|f| f.0),
            bake_to: subject.bake_to,
            without: subject.without.clone(),
            nudged: false,
        };
        let compares = matches!(measure, Measure::Effect | Measure::Visible | Measure::Rates);
        let other = subject.layer.as_ref().filter(|_| compares);
        let other = other.map(|l| Variant { without: Some(l.clone()), ..main.clone() });
        let request = Request::new(measure, subject.clone());
        self.0.push(Job { index, is_base, main, other, request, series: None });
    }

    /// One pass for all that look at the same bakes.
    fn run(mut self, bakery: &mut Bakery) -> Result<Self, JudgeError> {
        for first in 0..self.0.len() {
            if self.0[first].series.is_some() {
                continue;
            }
            let (main, other) = (self.0[first].main.clone(), self.0[first].other.clone());
            if self.0[first].request.measure == Measure::Rates {
                let series = rates(bakery, &self.0[first])?;
                self.0[first].series = Some(series);
                continue;
            }
            let together: Vec<usize> = (first..self.0.len())
                .filter(|&j| {
                    let job = &self.0[j];
                    let same = job.main == main && job.other == other;
                    same && job.request.measure != Measure::Rates
                })
                .collect();
            let mut source = bakery.open(&main)?;
            let mut beside = other.as_ref().map(|o| bakery.open(o)).transpose()?;
            let factor = source.info().rate.fps() / bakery.scene().scene.fps.0.fps();
            let requests: Vec<Request> =
                together.iter().map(|&j| rescaled(&self.0[j].request, factor)).collect();
            let beside = beside.as_mut().map(|b| b as &mut dyn frisson_io::FrameSource);
            let series = measure(&mut source, beside, &requests, bakery.progress())?;
            for (j, series) in together.into_iter().zip(series) {
                self.0[j].series = Some(series);
            }
        }
        Ok(self)
    }

    fn find(&self, index: usize, is_base: bool) -> Option<&Job> {
        self.0.iter().find(|j| j.index == index && j.is_base == is_base)
    }
}

/// Frames of a request at another rate.
fn rescaled(request: &Request, factor: f64) -> Request {
    let scale = |frame: i64| (frame as f64 * factor).round() as i64;
    let mut request = request.clone();
    request.subject.frames = request.subject.frames.map(|f| f.map(scale));
    request.subject.reference = request.subject.reference.map(scale);
    request
}

fn judge(
    index: usize,
    line: usize,
    expect: &ExpectParams,
    job: Option<&Job>,
    base: Option<&Job>,
) -> Outcome {
    let (low, high) = expect.bounds();
    let divisor = match (&expect.relative_to, base) {
        (Some(_), Some(base)) => speaking(base, None, None).map(|r| r.value),
        (Some(_), None) => None,
        _ => Some(1.0),
    };
    // Readings come undivided: the frame that speaks is found against bounds as large as they are.
    let scale = divisor.unwrap_or(1.0);
    let scaled = |bound: Option<f64>| bound.map(|b| b * scale);
    let reading = job.and_then(|j| speaking(j, scaled(low), scaled(high)));
    let value = reading.zip(divisor).map(|(r, d)| r.value / d).filter(|v| v.is_finite());
    let holds = value.map(|v| low.is_none_or(|l| v >= l) && high.is_none_or(|h| v <= h));
    let held = match (holds, expect.known.is_some()) {
        (None, _) => Held::NotMeasured,
        (Some(true), false) => Held::Kept,
        (Some(true), true) => Held::NoLongerKnown,
        (Some(false), false) => Held::Broken,
        (Some(false), true) => Held::Known,
    };
    let subject = &expect.subject;
    let shape = subject.shape.clone().or_else(|| subject.layer.clone()).unwrap_or_default();
    Outcome {
        index,
        line,
        measure: expect.measure,
        shape,
        value,
        unit: if expect.relative_to.is_some() { "-" } else { unit(expect.measure) },
        at_least: low,
        at_most: high,
        frame: reading.map(|r| r.frame),
        element: reading.and_then(|r| r.element),
        place: reading.and_then(|r| r.place).map(|p| p.to_array()),
        why: expect.why.clone(),
        known: expect.known.clone(),
        held,
    }
}

/// The reading that speaks for the shot: where every frame must keep a promise, the one that comes
/// closest to breaking it.
fn speaking(job: &Job, low: Option<f64>, high: Option<f64>) -> Option<Reading> {
    let series = job.series.as_ref()?;
    let over = job.request.subject.over.unwrap_or(OverFrames::Every);
    if over != OverFrames::Every {
        return series.over(over);
    }
    let (least, largest) = (series.over(OverFrames::Min)?, series.over(OverFrames::Max)?);
    Some(match (low, high) {
        (Some(_), None) => least,
        (Some(low), Some(high)) if least.value - low < high - largest.value => least,
        _ => largest,
    })
}

/// Difference of bakes at other rates, as a share of the layer's effect; the worst rate speaks.
fn rates(bakery: &mut Bakery, job: &Job) -> Result<Series, JudgeError> {
    let subject = &job.request.subject;
    let mut readings = Vec::new();
    let chaos = if subject.chaotic {
        let nudged = Variant { nudged: true, ..job.main.clone() };
        compared(bakery, job, &nudged)?.map_or(0.0, |c| c.difference)
    } else {
        0.0
    };
    for fps in &subject.rates {
        let variant = Variant { rate: Some(fps.0), ..job.main.clone() };
        let Some(mut c) = compared(bakery, job, &variant)? else { continue };
        let reading = |c: &Compared| {
            let share = c.difference / c.effect.max(f64::MIN_POSITIVE);
            let excused =
                if chaos > 0.0 { CHAOS_COUNTS * c.difference / chaos } else { f64::INFINITY };
            Reading { value: share.min(excused), ..c.worst }
        };
        readings.push(reading(&c));
        if let Some((difference, worst)) = between(bakery, job, &variant)? {
            (c.difference, c.worst) = (difference, worst);
            readings.push(reading(&c));
        }
    }
    Ok(Series { readings })
}

/// How far the frames of a variant are from a curve through the finest rate, where they are none of its frames:
/// (RMS [mm], the worst, its frame counted at the rate of the scene).
fn between(
    bakery: &mut Bakery,
    job: &Job,
    variant: &Variant,
) -> Result<Option<(f64, Reading)>, JudgeError> {
    let subject = &job.request.subject;
    let rates = subject.rates.iter().map(|f| f.0).filter(|r| r.fps() >= FINE);
    let finest = rates.max_by(|a, b| a.fps().total_cmp(&b.fps()));
    let (Some(finest), Some(name)) = (finest, subject.shape.as_deref()) else { return Ok(None) };
    let fps = bakery.scene().scene.fps.0.fps();
    let mut coarse = bakery.open(variant)?;
    let mut fine = bakery.open(&Variant { rate: Some(finest), ..job.main.clone() })?;
    let ends = subject.frames.map_or([0.0, f64::INFINITY], |f| f.map(|f| f as f64 / fps));
    let apart = apart_between(&mut coarse, &mut fine, name, ends)?;
    let factor = fps / coarse.info().rate.fps();
    let reading = |(rms, worst, frame): (f64, Sample, i64)| {
        (rms, worst.reading((frame as f64 * factor).round() as i64))
    };
    Ok(apart.map(reading))
}

struct Compared {
    /// RMS over points and common frames [mm].
    difference: f64,
    /// RMS of the layer's effect at the same [mm].
    effect: f64,
    worst: Reading,
}

fn compared(
    bakery: &mut Bakery,
    job: &Job,
    variant: &Variant,
) -> Result<Option<Compared>, JudgeError> {
    let mut main = bakery.open(&job.main)?;
    let mut other = bakery.open(variant)?;
    let mut without: Option<CacheReader> =
        job.other.as_ref().map(|o| bakery.open(o)).transpose()?;
    let subject = &job.request.subject;
    let Some(name) = subject.shape.as_deref() else { return Ok(None) };
    let (first, last) = (main.info().first_frame, main.info().last_frame);
    let [from, to] = subject.frames.unwrap_or([first, last]);
    let (mut a, mut b, mut c) = (Frame::default(), Frame::default(), Frame::default());
    main.read_frame(first, &mut a)?;
    let at_start = a.clone();
    let start = Shape::find(&at_start, name);
    let (mut sums, mut worst) = ([Sum::default(); 2], None::<Reading>);
    for number in from.max(first)..=to.min(last) {
        main.read_frame(number, &mut a)?;
        if !read_at(&mut other, a.time, &mut b)? {
            continue;
        }
        let (Some(now), Some(beside)) = (Shape::find(&a, name), Shape::find(&b, name)) else {
            continue;
        };
        let apart = difference(now, beside);
        for s in &apart {
            if worst.is_none_or(|w| f64::from(s.value) > w.value) {
                let value = f64::from(s.value);
                worst = Some(Reading {
                    value,
                    frame: number,
                    element: Some(s.element),
                    place: Some(s.place),
                });
            }
        }
        sums[0].add(&apart);
        let mut has = false;
        if let Some(without) = &mut without {
            has = read_at(without, a.time, &mut c)?;
        }
        let plain = Shape::find(&c, name).filter(|_| has);
        let effect = match plain {
            Some(plain) => Some(difference(now, plain)),
            // Made by the layer alone: how far it has come.
            None => start.map(|start| difference(now, start)),
        };
        sums[1].add(&effect.unwrap_or_default());
    }
    let [difference, effect] = sums.map(|s| s.rms());
    Ok(worst.map(|worst| Compared { difference, effect, worst }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_four_digits_that_count() {
        let shown = [0.0, 12.0, 0.1251834, 37.60101, 1234.56, -0.98979, 3e-7].map(four_digits);
        assert_eq!(shown, ["0", "12", "0.1252", "37.6", "1235", "-0.9898", "0"]);
    }
}
