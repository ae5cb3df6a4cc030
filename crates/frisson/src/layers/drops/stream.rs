//! Streams: what pours without a pause falls as a chain of parcels, each by itself; neighbours hang together until the
//! piece between them has pinched off.
//!
//! ```text
//!   ~~~~~|__o      a lip lets go of a parcel in every tick; they fall freely, so that the chain gets longer and thinner
//!   _____| ( )     by itself. On the way waves grow on it, `exp(t / life)`, nine radii long (J. W. S. Rayleigh 1879), and
//!           )(     cut it into drops: a thin liquid after `12 sqrt(rho d³ / sigma)` (C. Weber 1931), a thick one, whose
//!           ()     necks drain slowly, after `6 mu r / sigma`
//! ```
//!
//! Limits: parcels do not pull at each other; waves begin as small as they do from a smooth lip.

use std::f64::consts::PI;

use glam::DVec3;

use super::liquid::Liquid;
use super::meeting::join;
use super::state::{Droplet, NO_STREAM, Phase, any_drop};
use crate::tolerances::drops::JET_GROWTH;
use crate::tolerances::nothing;

/// Parcels that become one drop where the stream from a lip breaks: one of a tick is about three radii long, and the
/// wave that grows fastest nine.
const TO_A_DROP: i64 = 3;
/// Marks streams out of lips and sources; those of thick drops carry the number of the drop that pours them.
const JET: u64 = 1 << 63;
/// Marks those out of sources among them.
const OF_SOURCE: u64 = 1 << 62;

/// The stream out of a source.
#[must_use]
pub fn stream_of_source(source: usize) -> u64 {
    JET | OF_SOURCE | source as u64
}

/// The stream from a lip that begins with a drop.
#[must_use]
pub fn stream_of_lip(first: u64) -> u64 {
    JET | (first & (OF_SOURCE - 1))
}

/// Whether a stream comes from a lip.
#[must_use]
pub fn is_of_lip(stream: u64) -> bool {
    stream != NO_STREAM && stream & (JET | OF_SOURCE) == JET
}

fn is_jet(stream: u64) -> bool {
    stream != NO_STREAM && stream & JET != 0
}

/// How long a thread of a thick liquid lives before its tension cuts it [s].
#[must_use]
pub fn thread_life(viscosity: f64, tension: f64, radius: f64) -> f64 {
    6.0 * viscosity * radius / tension
}

/// How long a stream of a thin liquid lives [s]: until the waves that grow fastest have grown from next to nothing to its
/// radius.
#[must_use]
pub fn jet_life(density: f64, tension: f64, radius: f64) -> f64 {
    JET_GROWTH * (density * (2.0 * radius).powi(3) / tension).sqrt()
}

/// One parcel of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    /// Its drop.
    pub index: u32,
    /// Where it is [m].
    pub place: DVec3,
    /// How it moves [m/s].
    pub velocity: DVec3,
    /// Radius of its piece of the stream [m].
    pub radius: f64,
    /// Half the width of the stream there, wider than it is thick where it has just left a lip [m]; 0: round.
    pub spread: f64,
    /// How far waves have grown, 0 to 1: cut through.
    pub necking: f64,
    /// Which one it is of those that become one drop, from the middle, in lengths of a wave [-].
    pub phase: f64,
    /// What its phase changes by to the next [-].
    pub step: f64,
    /// Whether it hangs together with the next.
    pub joins_next: bool,
    /// Those that become one drop have the same.
    group: (u64, i64),
    is_over: bool,
}

/// The parcels of all streams, in order, reused.
#[derive(Default)]
pub struct Streams {
    order: Vec<(u64, u32)>,
    /// Stream after stream, the eldest first.
    pub parcels: Vec<Parcel>,
}

impl Streams {
    /// Finds the streams among the drops. Returns whether there are any.
    pub fn find(&mut self, drops: &[Droplet], liquid: &Liquid, (time, tick): (f64, f64)) -> bool {
        self.order.clear();
        self.parcels.clear();
        let falls = |d: &Droplet| d.stream != NO_STREAM && !d.is_on_surface() && d.mass > 0.0;
        if !any_drop(drops, falls) {
            return false;
        }
        let all = drops.iter().enumerate().filter(|(_, d)| falls(d));
        self.order.extend(all.map(|(i, d)| (d.stream, i as u32)));
        if self.order.len() < 2 {
            return false;
        }
        // Within a stream in the order of birth: the first has fallen farthest.
        self.order.sort_unstable();
        for n in 0..self.order.len() {
            let (stream, i) = self.order[n];
            let next = self.order.get(n + 1).filter(|o| o.0 == stream).map(|o| o.1 as usize);
            let parcel = self.parcel(drops, (i, next), liquid, (time, tick));
            self.parcels.push(parcel);
        }
        true
    }

    fn parcel(
        &self,
        drops: &[Droplet],
        (i, next): (u32, Option<usize>),
        liquid: &Liquid,
        (time, tick): (f64, f64),
    ) -> Parcel {
        let drop = &drops[i as usize];
        let (place, velocity) = flight(drop);
        let next = next.filter(|&j| follows(drop, &drops[j], tick));
        let before = self.parcels.last().filter(|p| p.joins_next).map(|p| p.place.distance(place));
        let ahead = next.map(|j| flight(&drops[j]).0.distance(place));
        // A parcel fills the half ways to its neighbours; at an end as much beyond it.
        let length = match (before, ahead) {
            (Some(before), Some(ahead)) => 0.5 * (before + ahead),
            (one, other) => one.or(other).unwrap_or(0.0),
        };
        let volume = drop.mass / liquid.density;
        let radius = (volume / (PI * length.max(nothing::NO_WIDTH))).sqrt();
        // Where parcels have hardly parted they are no thicker than each by itself, or as wide as their lip.
        let radius = radius.min(liquid.radius(drop.mass).max(f64::from(drop.spread)));
        let mut life = thread_life(liquid.viscosity(), liquid.tension, radius);
        if is_jet(drop.stream) {
            life += jet_life(liquid.density, liquid.tension, radius);
        }
        let age = time - began(drop);
        let group = group_of(drop, tick);
        let together = next.is_some_and(|j| group_of(&drops[j], tick) == group);
        let (phase, step) = phase_of(drop, tick);
        Parcel {
            index: i,
            place,
            velocity,
            radius,
            spread: narrowed(drop, radius, liquid, age),
            necking: (-JET_GROWTH * (1.0 - age / life.max(f64::MIN_POSITIVE))).exp().min(1.0),
            phase,
            step,
            joins_next: next.is_some() && (together || age < life),
            group,
            is_over: age >= life,
        }
    }

    /// Parcels of a stream from a lip that has been cut become one drop. Returns how many are gone; those have no mass.
    pub fn part(&self, drops: &mut [Droplet], time: f64) -> u64 {
        let mut merges = 0;
        for run in self.parcels.chunk_by(|a, b| a.group == b.group) {
            // The youngest is cut off last.
            let is_cut = run.last().is_some_and(|p| p.is_over);
            if run.len() < 2 || !is_cut || !is_of_lip(drops[run[0].index as usize].stream) {
                continue;
            }
            for parcel in &run[1..] {
                let gone = drops[parcel.index as usize];
                join(&mut drops[run[0].index as usize], &gone, time);
                let gone = &mut drops[parcel.index as usize];
                (gone.mass, gone.solute) = (0.0, 0.0);
                merges += 1;
            }
        }
        merges
    }
}

fn flight(drop: &Droplet) -> (DVec3, DVec3) {
    match drop.phase {
        Phase::Air { position, velocity, .. } => (position, velocity),
        _ => (DVec3::ZERO, DVec3::ZERO),
    }
}

/// When a parcel left [s].
fn began(drop: &Droplet) -> f64 {
    // What a drop pours is as old as that drop, and has changed when it left it.
    if is_jet(drop.stream) { drop.born } else { drop.changed }
}

/// Whether a parcel left without a pause after another.
fn follows(drop: &Droplet, next: &Droplet, tick: f64) -> bool {
    // Sources have their own beat; where that is too slow, what lies between two is cut at once.
    let is_beat = is_jet(drop.stream) && !is_of_lip(drop.stream);
    is_beat || began(next) - began(drop) < 1.5 * tick
}

fn ordinal(drop: &Droplet, tick: f64) -> i64 {
    (drop.born / tick.max(f64::MIN_POSITIVE)).round() as i64
}

fn group_of(drop: &Droplet, tick: f64) -> (u64, i64) {
    match is_of_lip(drop.stream) {
        true => (drop.stream, ordinal(drop, tick).div_euclid(TO_A_DROP)),
        // By itself: a number has no other like it.
        false => (drop.id, -1),
    }
}

fn phase_of(drop: &Droplet, tick: f64) -> (f64, f64) {
    if !is_of_lip(drop.stream) {
        return (0.0, 1.0);
    }
    let step = 1.0 / TO_A_DROP as f64;
    let from_middle =
        ordinal(drop, tick).rem_euclid(TO_A_DROP) as f64 - 0.5 * (TO_A_DROP - 1) as f64;
    (from_middle * step, step)
}

/// Half the width of what has left a lip by now [m]: its edges draw in as fast as those of any sheet,
/// `sqrt(2 sigma / (rho thickness))` (G. I. Taylor 1959).
fn narrowed(drop: &Droplet, radius: f64, liquid: &Liquid, age: f64) -> f64 {
    let spread = f64::from(drop.spread);
    if spread <= radius {
        return 0.0;
    }
    let half_thick = radius * radius / spread;
    let rate = (liquid.tension / (liquid.density * half_thick.max(nothing::NO_WIDTH))).sqrt();
    (spread - rate * age).max(0.0)
}
