//! Where drops come from. Every random number is a function of (seed, source, count).

use glam::{DVec2, DVec3, Vec3};

use super::params::{DropsParams, RainSource, SourceParams};
use super::rest::SourceStart;
use super::site::Site;
use super::state::{Droplet, Phase, SourceState};
use super::stream::stream_of_source;
use super::surface::Surface;
use crate::geometry::Bounds;
use crate::math::random;

/// Places to scatter over: live triangles with their share of the area.
#[derive(Clone, Debug, Default)]
pub struct Scatter {
    triangles: Vec<u32>,
    cumulative: Vec<f64>,
}

impl Scatter {
    /// Triangles weighted by their area and by the mean weight of their corners.
    #[must_use]
    pub fn new(surface: &Surface, weight_of_triangle: impl Fn(u32) -> f32) -> Self {
        let mut scatter = Self::default();
        let mut total = 0.0;
        for t in 0..surface.triangles.len() as u32 {
            let weight = f64::from(weight_of_triangle(t)) * surface.facets[t as usize].area();
            if surface.live[t as usize] && weight > 0.0 {
                total += weight;
                scatter.triangles.push(t);
                scatter.cumulative.push(total);
            }
        }
        scatter
    }

    /// Whether there is nowhere to go.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    fn place(&self, key: u64, count: u64) -> Option<(u32, DVec2)> {
        let total = *self.cumulative.last()?;
        let target = random::uniform(key, count, 0) * total;
        let index = self.cumulative.partition_point(|&c| c <= target).min(self.triangles.len() - 1);
        let (a, b) = (random::uniform(key, count, 1), random::uniform(key, count, 2));
        // Evenly over the triangle: without the root, drops would crowd at its first corner.
        let root = a.sqrt();
        Some((self.triangles[index], DVec2::new(root * (1.0 - b), root * b)))
    }
}

/// What a source needs to know now.
pub struct Emission<'a> {
    /// The ground and the liquid.
    pub site: &'a Site,
    /// Where the drops of each `single` source start.
    pub starts: &'a [Option<SourceStart>],
    /// Frames by which each source starts later.
    pub offsets: &'a [f64],
    /// The surface now.
    pub surface: &'a Surface,
    /// Frame at the start of the tick (exclusive; the very first tick includes it) and at its end.
    pub frames: (f64, f64),
    /// Whether this is the very first tick.
    pub first: bool,
    /// Time now [s].
    pub time: f64,
    /// Length of the tick [s].
    pub dt: f64,
    /// Mean velocity of the surfaces [m/s].
    pub drift: DVec3,
    /// Seed.
    pub seed: u64,
}

/// How a drop of a source begins.
struct Start {
    /// Where [m].
    position: DVec3,
    /// Velocity [m/s].
    velocity: DVec3,
    /// Mass [kg].
    mass: f64,
    /// Number of the source.
    index: usize,
}

/// Earth's gravity [m/s²], for where rain has to start to meet something.
const EARTH_PULL: f32 = 9.81;

/// Mean velocity of a surface [m/s], where rain has to know it.
#[must_use]
pub fn drift(params: &DropsParams, surface: &Surface, dt: f64) -> DVec3 {
    let asks = |s: &SourceParams| matches!(s, SourceParams::Rain(r) if r.from.is_none());
    if dt <= 0.0 || !surface.moved || !params.sources.iter().any(asks) {
        return DVec3::ZERO;
    }
    let ways = surface.points.iter().zip(&surface.previous).map(|(now, before)| *now - *before);
    // Of all points: limbs swing to and fro, the body goes on.
    let mean = ways.sum::<DVec3>() / (surface.points.len().max(1) as f64 * dt);
    if mean.length() > params.air.teleport_speed { DVec3::ZERO } else { mean }
}

impl Emission<'_> {
    /// Number of drops due by a frame, when `count` come over `over` frames from `frame`.
    fn due(&self, frame: f64, count: u64, over: f64) -> u64 {
        let now = self.frames.1;
        if now < frame {
            0
        } else if over <= 0.0 {
            count
        } else {
            // The first at once, the last a share before the end: a source of one drop does not wait.
            (((now - frame) / over * count as f64).floor() as u64 + 1).min(count)
        }
    }

    /// Emits what is due from one source.
    pub fn emit(
        &self,
        index: usize,
        source: &SourceParams,
        state: &mut SourceState,
        off_mesh: &mut u64,
        out: &mut Vec<Droplet>,
    ) {
        let key = random::hash(self.seed, index as u64, 0x5072);
        match source {
            SourceParams::Single(s) => {
                let start = s.frame + self.offsets[index];
                let due = if s.every > 0.0 {
                    self.due(start, s.count, s.every * s.count as f64)
                } else {
                    self.due(start, s.count, 0.0)
                };
                let position = self.starts[index].map_or(DVec3::ZERO, |s| s.position);
                while state.count < due {
                    let v = DVec3::from_array(s.velocity);
                    // Counted, not refused: a leak over the mesh is as good as one on it, but an artist may have missed it.
                    *off_mesh += u64::from(state.place.is_none());
                    let start = Start { position, velocity: v, mass: s.mass, index };
                    let mut drop = self.place(state.place, &start);
                    // What a tap lets out without a pause is one stream.
                    if !drop.is_on_surface() && s.count > 1 && s.every > 0.0 {
                        drop.stream = stream_of_source(index);
                    }
                    out.push(drop);
                    state.count += 1;
                }
            }
            SourceParams::Region(s) => {
                let due = self.due(s.frame, s.count, s.over);
                while state.count < due {
                    let mass = mix(s.mass, random::uniform(key, state.count, 3));
                    out.extend(self.scatter(index, key, state.count, mass));
                    state.count += 1;
                }
            }
            SourceParams::Condensation(s) => {
                let due = self.due(s.frame, s.count, s.over);
                while state.count < due {
                    out.extend(self.scatter(index, key, state.count, s.mass));
                    state.count += 1;
                }
            }
            SourceParams::Rain(s) => {
                // By the tick, so that a new rate counts from now on.
                let (from, to) = self.frames;
                let raining = to.min(s.until) - from.max(s.frame);
                // Exactly 1 in the middle of it, whatever the frame rate.
                let share = if raining > 0.0 { (raining / (to - from)).min(1.0) } else { 0.0 };
                state.owed += share * self.dt * s.rate;
                // A hair less than 1: what is owed is a sum of shares.
                while state.owed >= 1.0 - 1e-9 {
                    out.push(self.rain(s, key, state.count, index));
                    state.count += 1;
                    state.owed -= 1.0;
                }
            }
            SourceParams::List(s) => {
                // Rows are in the order of the table; each comes at its own frame.
                for row in &s.rows {
                    let due = row[0] <= self.frames.1 && (self.first || row[0] > self.frames.0);
                    if due {
                        let at = DVec3::new(row[1], row[2], row[3]);
                        let v = row.get(5..8).map_or(DVec3::ZERO, DVec3::from_slice);
                        let start = Start { position: at, velocity: v, mass: row[4], index };
                        let drop = self.place_near(&start, s.snap.max(0.05));
                        *off_mesh += u64::from(!drop.is_on_surface());
                        out.push(drop);
                        state.count += 1;
                    }
                }
            }
        }
    }

    fn scatter(&self, index: usize, key: u64, count: u64, mass: f64) -> Option<Droplet> {
        let (triangle, weights) = self.site.scatters[index].place(key, count)?;
        let phase = Phase::Face { triangle, weights, velocity: DVec2::ZERO, standing: 0 };
        let mut drop = Droplet::new(0, mass, phase, self.time);
        drop.source = index as u32;
        drop.carrier = self.surface.velocity(triangle, weights, self.dt);
        Some(drop)
    }

    /// A drop on the surface where it is near, else in the air.
    fn place_near(&self, start: &Start, snap: f64) -> Droplet {
        let found = self.surface.closest(start.position, snap);
        // On a triangle without area a drop could never move.
        let found = found.filter(|f| self.surface.live[f.0 as usize]);
        self.place(found.map(|(t, w, _)| (t, w)), start)
    }

    /// A drop at a place of the surface, or else in the air.
    fn place(&self, on: Option<(u32, DVec2)>, start: &Start) -> Droplet {
        let Start { position, velocity, mass, index } = *start;
        let phase = match on {
            Some((triangle, weights)) => {
                let velocity = self.surface.facets[triangle as usize].tangential(velocity);
                Phase::Face { triangle, weights, velocity, standing: 0 }
            }
            None => Phase::Air { position, velocity, since: self.time, from: u32::MAX },
        };
        let mut drop = Droplet::new(0, mass, phase, self.time);
        drop.source = index as u32;
        if let Some((triangle, weights)) = on {
            drop.carrier = self.surface.velocity(triangle, weights, self.dt);
        }
        drop
    }

    fn rain(&self, s: &RainSource, key: u64, count: u64, index: usize) -> Droplet {
        let u = |c: u64| random::uniform(key, count, c);
        let velocity = s.velocity();
        let position = match s.from {
            Some([a, b, c, d, e, f]) => {
                let (low, high) = (DVec3::new(a, b, c), DVec3::new(d, e, f));
                low + (high - low) * DVec3::new(u(0), u(1), u(2))
            }
            None => {
                let (low, high) = above(self.surface);
                let start = low + (high - low) * DVec3::new(u(0), u(1), u(2));
                // Where it falls from to meet the surfaces at some height, as they move and it slants.
                let bounds = self.surface.bounds();
                let meets = f64::from(bounds.min.y + (bounds.max.y - bounds.min.y) * u(4) as f32);
                start + lead(self.drift, velocity, start.y - meets)
            }
        };
        let phase = Phase::Air { position, velocity, since: self.time, from: u32::MAX };
        let mut drop = Droplet::new(0, mix(s.mass, u(3)), phase, self.time);
        drop.source = index as u32;
        drop
    }
}

impl RainSource {
    fn velocity(&self) -> DVec3 {
        DVec3::from_array(self.direction).normalize_or(-DVec3::Y) * self.speed
    }

    /// Where its drops may start, where that moves with the surfaces.
    #[must_use]
    pub fn start_box(&self, surface: &Surface, drift: DVec3) -> Option<Bounds> {
        if self.from.is_some() {
            return None;
        }
        let (low, high) = above(surface);
        let deepest = high.y - f64::from(surface.bounds().min.y);
        let lead = lead(drift, self.velocity(), deepest).as_vec3();
        let start = Bounds { min: low.as_vec3(), max: high.as_vec3() };
        let ahead = Bounds { min: start.min + lead, max: start.max + lead };
        Some(start.union(ahead).grown(0.01))
    }
}

/// The box above the surfaces that rain falls from.
fn above(surface: &Surface) -> (DVec3, DVec3) {
    let bounds = surface.bounds();
    // Above all of it, so that no drop starts inside; near enough that none is long on its way.
    let top = Vec3::new(0.0, 0.1 * bounds.diagonal().max(0.1), 0.0);
    let low = Vec3::new(bounds.min.x, bounds.max.y, bounds.min.z) + top;
    (low.as_dvec3(), (bounds.max + 1.2 * top).as_dvec3())
}

/// How far from above a place a drop must start, to meet it when it has fallen that deep.
fn lead(drift: DVec3, velocity: DVec3, depth: f64) -> DVec3 {
    let down = -velocity.y + drift.y;
    // Earth's pull speeds it up on the way: v t + g t² / 2 = depth.
    let pull = f64::from(EARTH_PULL);
    let time = ((down * down + 2.0 * pull * depth.max(0.0)).sqrt() - down) / pull;
    // Two seconds ahead nobody knows where a character will be.
    let way = (drift - velocity) * time.clamp(0.0, 2.0);
    DVec3::new(way.x, 0.0, way.z)
}

fn mix([a, b]: [f64; 2], t: f64) -> f64 {
    a + (b - a) * t
}
