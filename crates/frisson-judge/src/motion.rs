//! How points move from frame to frame: speed, jumps, turns.

use glam::Vec3;
use rayon::prelude::*;

use crate::body::ANYWHERE;
use crate::shape::{Match, Shape, Snapshot};
use crate::statistic::Sample;

/// Millimetres in a metre.
pub const MM: f32 = 1000.0;

/// Speed of every point since a remembered frame [mm/s]. Where a mesh has other vertices than before, the speed at
/// which its surface moves: what slides within it is not seen.
#[must_use]
pub fn speeds(before: &Snapshot, now: Shape, seconds: f64) -> Option<Vec<Sample>> {
    let per_second = (f64::from(MM) / seconds) as f32;
    // Soft bodies and doughs are meshed anew in every frame: their vertices are nobody's.
    distances(before, now, per_second).or_else(|| {
        let surface = before.surface()?;
        let one = |(i, &place): (usize, &Vec3)| {
            let value = per_second * surface.closest_point(place, ANYWHERE)?.distance;
            Some(Sample { value, element: i as u32, place })
        };
        Some(now.points().par_iter().enumerate().filter_map(one).collect())
    })
}

/// Distance of every point from where it was, times a scale.
#[must_use]
pub fn distances(before: &Snapshot, now: Shape, scale: f32) -> Option<Vec<Sample>> {
    let same = before.match_points(now)?;
    let one = |(i, &place): (usize, &Vec3)| {
        let value = scale * before.points[same.of(i)?].distance(place);
        Some(Sample { value, element: i as u32, place })
    };
    Some(now.points().par_iter().enumerate().filter_map(one).collect())
}

/// The last four places of every point: enough to see a step that its neighbours in time do not share.
#[derive(Default)]
pub struct Steps {
    /// Newest last; at most three, the shape itself being the fourth.
    past: Vec<Snapshot>,
}

/// What of three steps, one after the other, is not shared [m]: of the one in the middle.
pub type Unshared = fn(before: Vec3, step: Vec3, after: Vec3) -> f32;

impl Steps {
    /// Takes the next frame; gives what is not shared of the steps into the frame before it [mm].
    pub fn add(&mut self, now: Shape, unshared: Unshared) -> Option<Vec<Sample>> {
        let samples = self.samples(now, unshared).map(ParallelIterator::collect);
        self.remember(now);
        samples
    }

    /// As [`Steps::add`], but only the largest.
    pub fn add_worst(&mut self, now: Shape, unshared: Unshared) -> Option<Sample> {
        let samples = self.samples(now, unshared);
        let worst = samples.and_then(|samples| samples.reduce_with(Sample::larger));
        self.remember(now);
        worst
    }

    fn remember(&mut self, now: Shape) {
        // The oldest gives its storage to the newest: a shot of a million points allocates three times, not with every frame.
        let mut oldest =
            if self.past.len() == 3 { self.past.remove(0) } else { Snapshot::default() };
        oldest.take(now);
        self.past.push(oldest);
    }

    fn samples<'a>(
        &'a self,
        now: Shape<'a>,
        unshared: Unshared,
    ) -> Option<impl ParallelIterator<Item = Sample> + 'a> {
        let [a, b, c] = self.past.as_slice() else { return None };
        let matches = [a.match_points(now)?, b.match_points(now)?, c.match_points(now)?];
        let one = move |(i, &d): (usize, &Vec3)| {
            let [a, b, c] = [
                a.points[matches[0].of(i)?],
                b.points[matches[1].of(i)?],
                c.points[matches[2].of(i)?],
            ];
            let value = MM * unshared(b - a, c - b, d - c).max(0.0);
            Some(Sample { value, element: i as u32, place: c })
        };
        Some(now.points().par_iter().enumerate().filter_map(one))
    }
}

/// How far a step goes beyond the mean of its neighbours, less what they differ between themselves and
/// less the larger of them: a bounce, whose velocity changes for good, is none, nor is the fastest step of
/// a paw; a place that jumps and goes on as before is.
#[must_use]
pub fn pop(before: Vec3, step: Vec3, after: Vec3) -> f32 {
    let shared = 0.5 * (after - before).length() + before.length().max(after.length());
    (step - 0.5 * (before + after)).length() - shared
}

/// Change of velocity that is not spread over two steps.
#[must_use]
pub fn kick(before: Vec3, step: Vec3, after: Vec3) -> f32 {
    ((step - before).length() - (after - step).length()).abs()
}

/// Where each point last turned and how far it has gone since: swings of every point.
#[derive(Default)]
pub struct Turns {
    known: Snapshot,
    states: Vec<Turning>,
}

#[derive(Clone, Copy, Debug)]
struct Turning {
    turn: Vec3,
    far: Vec3,
    count: u32,
    /// Length of the last whole swing [m]; 0 before the first.
    swing: f32,
    /// Largest swing after a turn / the swing before it.
    growth: f32,
    /// Largest way back after a turn [m].
    back: f32,
}

impl Turning {
    fn new(p: Vec3) -> Self {
        Self { turn: p, far: p, count: 0, swing: 0.0, growth: 0.0, back: 0.0 }
    }

    /// Goes on to `p`; a way back of less than `above` [m] is no turn.
    fn advance(&mut self, p: Vec3, above: f32) {
        let (out, way_back) = (self.far - self.turn, p - self.far);
        if out.dot(way_back) >= 0.0 || out == Vec3::ZERO {
            // Not every step onward is farther out: on a curve only the farthest place is where it turns.
            if (p - self.turn).length_squared() >= out.length_squared() {
                self.far = p;
            }
            return;
        }
        // Rounding and slow drift are no turns; `far` stays, so that many small ways back add up to one.
        if way_back.length() <= above {
            return;
        }
        let swing = out.length();
        if swing > above {
            self.count += 1;
            self.back = self.back.max(way_back.length());
            if self.swing > above {
                self.growth = self.growth.max(swing / self.swing);
            }
            // The first way out starts anywhere in a swing: it is no measure for the next.
            self.swing = if self.count > 1 { swing } else { 0.0 };
        }
        (self.turn, self.far) = (self.far, p);
    }
}

impl Turns {
    /// Takes the next frame; `above` is the way back that counts [m]. Points that are new start anew.
    pub fn add(&mut self, now: Shape, above: f32) {
        let same = self.known.match_points(now).filter(|_| !self.states.is_empty());
        let states = match same {
            Some(Match::Same) => std::mem::take(&mut self.states),
            Some(map) => {
                let of = |(i, &p): (usize, &Vec3)| {
                    map.of(i).map_or_else(|| Turning::new(p), |k| self.states[k])
                };
                now.points().iter().enumerate().map(of).collect()
            }
            None => now.points().iter().map(|&p| Turning::new(p)).collect(),
        };
        self.states = states;
        let pairs = self.states.par_iter_mut().zip(now.points());
        pairs.for_each(|(state, &p)| state.advance(p, above));
        self.known.take(now);
    }

    /// Of each point: 1 where it turned back, else 0.
    #[must_use]
    pub fn reversals(&self) -> Vec<Sample> {
        self.samples(|t| if t.count > 0 { 1.0 } else { 0.0 })
    }

    /// Of each point: how often it turned.
    #[must_use]
    pub fn turns(&self) -> Vec<Sample> {
        self.samples(|t| t.count as f32)
    }

    /// Of each point: largest swing as a share of the one before it.
    #[must_use]
    pub fn growths(&self) -> Vec<Sample> {
        self.samples(|t| t.growth)
    }

    fn samples(&self, of: impl Fn(&Turning) -> f32) -> Vec<Sample> {
        let one = |(i, (t, &place)): (usize, (&Turning, &Vec3))| Sample {
            value: of(t),
            element: i as u32,
            place,
        };
        self.states.iter().zip(&self.known.points).enumerate().map(one).collect()
    }
}
