//! Frames of a rate that fall between those of a finer one.
//!
//! Layers advance by ticks, and every common time of two rates is a tick: there bakes can hardly differ. What a rate
//! alone shows is between two ticks, reached by a part of a step. So those frames are compared with a curve through
//! the finer bake.
//!
//! ```text
//!   ticks   |     |     |     |     |
//!   fine    o  o  o  o  o  o  o  o  o      240: a curve through four of them …
//!   coarse  x           x ↑         x      … against what 25 shows between
//! ```

use frisson::stage::Frame;
use frisson_io::{FrameSource, ShotInfo};
use glam::Vec3;

use crate::measure::{JudgeError, SAME_TIME};
use crate::motion::MM;
use crate::shape::{Match, Shape, Snapshot};
use crate::statistic::{Sample, Sum};

/// Frames that a curve goes through.
const SUPPORT: usize = 4;

/// Root of the mean square distance [mm], over the points of a shape and all frames of `coarse` between two of `fine`,
/// and the largest distance with its frame; nothing where there is no such frame or its points are others.
/// `seconds` are the first and the last time looked at.
pub fn apart_between(
    coarse: &mut dyn FrameSource,
    fine: &mut dyn FrameSource,
    name: &str,
    seconds: [f64; 2],
) -> Result<Option<(f64, Sample, i64)>, JudgeError> {
    let (info, fine_info) = (coarse.info().clone(), fine.info().clone());
    let mut curve = Curve::default();
    let mut frame = Frame::default();
    let (mut sum, mut worst) = (Sum::default(), None::<(Sample, i64)>);
    for number in info.first_frame..=info.last_frame {
        let time = number as f64 / info.rate.fps();
        let Some((first, share)) = support(time, &fine_info) else { continue };
        if !(seconds[0]..=seconds[1]).contains(&time) {
            continue;
        }
        coarse.read_frame(number, &mut frame)?;
        let Some(shape) = Shape::find(&frame, name) else { continue };
        curve.read(fine, first, name)?;
        let Some(apart) = curve.distances(shape, share) else { continue };
        sum.add(&apart);
        let largest = apart.into_iter().reduce(Sample::larger);
        if let Some(s) = largest.filter(|s| worst.is_none_or(|(w, _)| s.value > w.value)) {
            worst = Some((s, number));
        }
    }
    Ok(worst.map(|(sample, frame)| (sum.rms(), sample, frame)))
}

/// The first of the frames around a time, and where it is between the middle two; nothing at a frame and at the ends
/// of a shot, where there are no four.
fn support(time: f64, fine: &ShotInfo) -> Option<(i64, f32)> {
    let place = time * fine.rate.fps();
    // A common time of both rates says nothing: there the curve goes through the very frame.
    let is_frame = (place - place.round()).abs() / fine.rate.fps() < SAME_TIME;
    let first = place.floor() as i64 - 1;
    let is_there = first >= fine.first_frame && first + SUPPORT as i64 - 1 <= fine.last_frame;
    (!is_frame && is_there).then_some((first, (place - place.floor()) as f32))
}

/// Four frames of a shape, one after the other.
#[derive(Default)]
struct Curve {
    known: Vec<(i64, Snapshot)>,
    frame: Frame,
}

impl Curve {
    /// Reads those that are not known yet.
    fn read(
        &mut self,
        source: &mut dyn FrameSource,
        first: i64,
        name: &str,
    ) -> Result<(), JudgeError> {
        // Frames of a shot come in order: three of four are those of the last time.
        self.known.retain(|(number, _)| *number >= first);
        for number in first + self.known.len() as i64..first + SUPPORT as i64 {
            source.read_frame(number, &mut self.frame)?;
            let shape = Shape::find(&self.frame, name);
            self.known.push((number, shape.map(Snapshot::of).unwrap_or_default()));
        }
        Ok(())
    }

    /// Distance of every point from its curve [mm], at a share of the way between the middle two.
    fn distances(&self, shape: Shape, share: f32) -> Option<Vec<Sample>> {
        let matches: Option<Vec<Match>> =
            self.known.iter().map(|(_, s)| s.match_points(shape)).collect();
        let matches = matches?;
        let one = |(i, &place): (usize, &Vec3)| {
            let mut through = [Vec3::ZERO; SUPPORT];
            for ((at, (_, known)), same) in through.iter_mut().zip(&self.known).zip(&matches) {
                *at = *known.points.get(same.of(i)?)?;
            }
            let value = MM * catmull_rom(through, share).distance(place);
            Some(Sample { value, element: i as u32, place })
        };
        Some(shape.points().iter().enumerate().filter_map(one).collect())
    }
}

/// The curve of Catmull and Rom through four places at equal times, between the second and the third.
fn catmull_rom([a, b, c, d]: [Vec3; SUPPORT], t: f32) -> Vec3 {
    let bend = 2.0 * a - 5.0 * b + 4.0 * c - d;
    let turn = 3.0 * (b - c) + d - a;
    b + 0.5 * t * ((c - a) + t * (bend + t * turn))
}

#[cfg(test)]
mod tests {
    use frisson::geometry::Mesh;
    use frisson::stage::Rate;
    use frisson_io::SourceError;

    use super::*;

    /// One triangle whose height is a function of time.
    struct Shot(ShotInfo, fn(f64) -> f64, Frame);

    impl Shot {
        fn new(fps: u32, of: fn(f64) -> f64) -> Self {
            let mesh = Mesh::new("a", vec![Vec3::ZERO, Vec3::X, Vec3::Z], vec![[0, 1, 2]]);
            let last_frame = 2 * i64::from(fps);
            let info = ShotInfo { rate: Rate::whole(fps), first_frame: 0, last_frame };
            Self(info, of, Frame { meshes: vec![mesh], ..Frame::default() })
        }
    }

    impl FrameSource for Shot {
        fn info(&self) -> &ShotInfo {
            &self.0
        }

        fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError> {
            out.clone_from(&self.2);
            (out.index, out.time) = (frame, frame as f64 / self.0.rate.fps());
            let height = (self.1)(out.time) as f32;
            out.meshes[0].positions.iter_mut().for_each(|p| p.y += height);
            Ok(())
        }
    }

    fn apart(coarse: u32, of: fn(f64) -> f64) -> Option<(f64, Sample, i64)> {
        let (mut coarse, mut fine) = (Shot::new(coarse, of), Shot::new(240, swing));
        apart_between(&mut coarse, &mut fine, "a", [0.0, 2.0]).unwrap()
    }

    fn swing(t: f64) -> f64 {
        0.05 * (20.0 * t).sin()
    }

    /// Right at every fifth of a second, where 25 and 30 meet, and late by a tenth of a tick in between.
    fn late(t: f64) -> f64 {
        let at_common_time = (5.0 * t - (5.0 * t).round()).abs() < 1e-9;
        if at_common_time { swing(t) } else { swing(t - 0.1 / 120.0) }
    }

    #[test]
    fn what_is_late_only_between_ticks_is_seen() {
        let (same, _, _) = apart(25, swing).unwrap();
        assert!(same < 1e-3, "{same}");
        let (rms, worst, frame) = apart(25, late).unwrap();
        // A speed of 1 m/s at most, 1/√2 of it in the mean.
        let most = 1000.0 * 0.1 / 120.0;
        assert!((rms / (most / 2f64.sqrt()) - 1.0).abs() < 0.2, "{rms}");
        assert!(f64::from(worst.value) < 1.01 * most && frame % 5 != 0, "{worst:?} {frame}");
        // All frames of 24, 30, 60 and 120 are frames of 240.
        assert!(apart(30, late).is_none() && apart(24, swing).is_none());
    }

    #[test]
    fn a_curve_goes_through_its_places_and_is_exact_for_a_parabola() {
        let at = |t: f32| Vec3::new(t, t * t, 3.0);
        let places = [at(-1.0), at(0.0), at(1.0), at(2.0)];
        for t in [0.0, 0.3, 0.8, 1.0] {
            assert!(catmull_rom(places, t).distance(at(t)) < 1e-6);
        }
    }
}
