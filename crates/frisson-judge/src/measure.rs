//! Many measures over one pass of a baked shot.

use frisson::stage::Frame;
use frisson_io::bake::BakeError;
use frisson_io::cache::CacheError;
use frisson_io::scene::{Measure, OverFrames, Subject};
use frisson_io::{FrameSource, Progress, SourceError};
use thiserror::Error;

use crate::gauge::{Gauge, Moment};
use crate::statistic::Reading;

/// Times closer than this are the same [s]: far below a tick, far above what f64 loses in a day.
pub const SAME_TIME: f64 = 1e-7;

/// Why a shot cannot be judged.
#[derive(Debug, Error)]
pub enum JudgeError {
    /// A frame cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A cache cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A variant of the scene cannot be baked.
    #[error("{what}: {error}")]
    Bake {
        /// Which variant.
        what: String,
        /// Why.
        error: Box<BakeError>,
    },
    /// A variant of the scene cannot be made.
    #[error("{0}")]
    Variant(String),
    /// Somebody said stop.
    #[error("interrupted")]
    Stopped,
}

/// One measure of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What.
    pub measure: Measure,
    /// Of what; frames are those of the shot it is asked of.
    pub subject: Subject,
    /// Look at every so many frames.
    pub every: u32,
}

impl Request {
    /// Looks at every frame.
    #[must_use]
    pub fn new(measure: Measure, subject: Subject) -> Self {
        Self { measure, subject, every: 1 }
    }
}

/// What a measure said at each frame that has something to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// In the order of frames.
    pub readings: Vec<Reading>,
}

impl Series {
    /// The reading that speaks for all frames. `Every` is for the caller, who knows the bounds.
    #[must_use]
    pub fn over(&self, over: OverFrames) -> Option<Reading> {
        let all = &self.readings;
        let largest = || all.iter().copied().reduce(|a, b| if b.value > a.value { b } else { a });
        let least = || all.iter().copied().reduce(|a, b| if b.value < a.value { b } else { a });
        match over {
            OverFrames::Max | OverFrames::Every => largest(),
            OverFrames::Min => least(),
            OverFrames::First => all.first().copied(),
            OverFrames::Last => all.last().copied(),
            OverFrames::Mean => {
                let sum: f64 = all.iter().map(|r| r.value).sum();
                all.last().map(|r| Reading { value: sum / all.len() as f64, ..*r })
            }
            OverFrames::Range => {
                let (high, low) = (largest()?, least()?);
                Some(Reading { value: high.value - low.value, ..high })
            }
        }
    }
}

/// Runs all requests over a shot, together with another of it where they compare two.
pub fn measure(
    source: &mut dyn FrameSource,
    mut other: Option<&mut dyn FrameSource>,
    requests: &[Request],
    progress: &mut dyn Progress,
) -> Result<Vec<Series>, JudgeError> {
    let info = source.info().clone();
    let mut references = References::default();
    let mut gauges: Vec<Gauge> = Vec::new();
    for request in requests {
        let at = reference_frame(request, info.first_frame, info.last_frame);
        references.add(source, at)?;
        gauges.push(Gauge::new(request.measure, &request.subject));
    }
    let mut series = vec![Series::default(); requests.len()];
    let (mut frame, mut beside) = (Frame::default(), Frame::default());
    for number in info.first_frame..=info.last_frame {
        let wanted: Vec<usize> =
            (0..requests.len()).filter(|&i| is_wanted(&requests[i], number, &info)).collect();
        let done = (number - info.first_frame) as u64;
        if !progress.advance(done, (info.last_frame - info.first_frame + 1) as u64) {
            return Err(JudgeError::Stopped);
        }
        if wanted.is_empty() {
            continue;
        }
        source.read_frame(number, &mut frame)?;
        let mut has_other = false;
        if let Some(other) = other.as_deref_mut() {
            has_other = read_at(other, frame.time, &mut beside)?;
        }
        for i in wanted {
            let at = reference_frame(&requests[i], info.first_frame, info.last_frame);
            let moment = Moment {
                frame: &frame,
                reference: references.get(at).unwrap_or(&frame),
                other: has_other.then_some(&beside),
            };
            series[i].readings.extend(gauges[i].add(&moment));
        }
    }
    for ((gauge, series), request) in gauges.iter_mut().zip(&mut series).zip(requests) {
        let last = request.subject.frames.map_or(info.last_frame, |f| f[1]);
        series.readings.extend(gauge.finish(last));
    }
    Ok(series)
}

/// Reads the frame of a shot at a time; false where it has none.
pub fn read_at(
    source: &mut dyn FrameSource,
    time: f64,
    out: &mut Frame,
) -> Result<bool, JudgeError> {
    let info = source.info();
    let (first, last, fps) = (info.first_frame, info.last_frame, info.rate.fps());
    let number = (time * fps).round();
    let there =
        (number / fps - time).abs() < SAME_TIME && (first as f64..=last as f64).contains(&number);
    if there {
        source.read_frame(number as i64, out)?;
    }
    Ok(there)
}

/// The frames that requests compare with; few, so a list will do.
#[derive(Default)]
struct References(Vec<(i64, Frame)>);

impl References {
    fn add(&mut self, source: &mut dyn FrameSource, number: i64) -> Result<(), JudgeError> {
        if self.get(number).is_none() {
            let mut frame = Frame::default();
            source.read_frame(number, &mut frame)?;
            self.0.push((number, frame));
        }
        Ok(())
    }

    fn get(&self, number: i64) -> Option<&Frame> {
        self.0.iter().find(|(n, _)| *n == number).map(|(_, f)| f)
    }
}

fn reference_frame(request: &Request, first: i64, last: i64) -> i64 {
    request.subject.reference.map_or(first, |r| r.clamp(first, last))
}

fn is_wanted(request: &Request, number: i64, info: &frisson_io::ShotInfo) -> bool {
    let [first, last] = request.subject.frames.unwrap_or([info.first_frame, info.last_frame]);
    let on_beat = (number - first).rem_euclid(i64::from(request.every.max(1))) == 0;
    let inside = (first..=last).contains(&number) && (on_beat || number == last);
    // A loop is about the ends alone.
    inside && (request.measure != Measure::Loop || number == first || number == last)
}
