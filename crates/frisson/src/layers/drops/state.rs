//! All that evolves: the drops, what they left on the surface, and the books.

use std::sync::Arc;

use glam::{DVec2, DVec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::flow::{Counts, Segment};
use super::image::WetImage;
use super::pool::PoolState;
use super::relief::Relief;
use super::trail::{Strip, TrailState};

/// Where a drop is, and how it moves there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Phase {
    /// Running or held on a triangle.
    Face {
        /// Triangle.
        triangle: u32,
        /// Weights of corners 1 and 2.
        weights: DVec2,
        /// Velocity against the surface, along the triangle's two axes [m/s].
        velocity: DVec2,
        /// Edges (bits) on which it stands by topology.
        standing: u8,
    },
    /// Running along an edge that both sides push it onto.
    Edge {
        /// Half-edge.
        half: u32,
        /// Place along it, 0 to 1.
        s: f64,
        /// Speed along it [m/s].
        speed: f64,
    },
    /// At rest on a vertex.
    Corner {
        /// Half-edge that starts there.
        half: u32,
    },
    /// In the air.
    Air {
        /// Centre [m].
        position: DVec3,
        /// Velocity [m/s].
        velocity: DVec3,
        /// When it let go [s].
        since: f64,
        /// Triangle it let go of; `u32::MAX` when it never touched one.
        from: u32,
    },
}

/// One drop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Droplet {
    /// Never reused.
    pub id: u64,
    /// Liquid and what is dissolved in it [kg].
    pub mass: f64,
    /// Dissolved substance [kg], part of `mass`.
    pub solute: f64,
    /// Where it is.
    pub phase: Phase,
    /// +1 or -1: on the side of its triangle's normal, or on the other.
    pub side: i8,
    /// Whether it was left behind by a running drop.
    pub bead: bool,
    /// Whether roughness holds it.
    pub held: bool,
    /// Whether it is held and nothing has changed for it since: it has neither grown nor merged.
    pub asleep: bool,
    /// Velocity of the surface under it [m/s].
    pub carrier: DVec3,
    /// Acceleration it feels because the surface accelerates [m/s²].
    pub inertia: DVec3,
    /// The outward part of that, smoothed over the drop's response time [m/s²].
    pub pull: f64,
    /// Way it has run on surfaces [m].
    pub distance: f64,
    /// Way since it last left a bead [m].
    pub since_bead: f64,
    /// When it appeared [s].
    pub born: f64,
    /// When it last landed or let go [s].
    pub changed: f64,
    /// When it last merged [s].
    pub merged: f64,
    /// Direction (in the first axis' angle) and amount of the stretch a merge left.
    pub stretch: DVec2,
    /// Index of its source; picks a drag that was solved for it.
    pub source: u32,
    /// The triangle it is on, and what pinned the line around it there when it came [N/m].
    pub entered: (u32, f32),
    /// When it last poured part of itself [s].
    pub poured: f64,
    /// What poured this one, while it may hang together with others of the same: a drop, or a stream of `stream.rs`;
    /// `NO_STREAM`: nothing.
    pub stream: u64,
    /// Half the width of the lip that it left, while it falls [m]; 0: round.
    pub spread: f32,
    /// The strip it is drawing.
    pub strip: Strip,
}

/// Of a drop that nothing poured.
pub const NO_STREAM: u64 = u64::MAX;

/// Of a drop that has to look at what pins it.
pub const NOT_ENTERED: (u32, f32) = (u32::MAX, 0.0);

impl Droplet {
    /// A drop at rest somewhere.
    #[must_use]
    pub fn new(id: u64, mass: f64, phase: Phase, time: f64) -> Self {
        Self {
            id,
            mass,
            solute: 0.0,
            phase,
            side: 1,
            bead: false,
            held: false,
            asleep: false,
            carrier: DVec3::ZERO,
            inertia: DVec3::ZERO,
            pull: 0.0,
            distance: 0.0,
            since_bead: 0.0,
            born: time,
            changed: f64::NEG_INFINITY,
            merged: f64::NEG_INFINITY,
            stretch: DVec2::ZERO,
            source: 0,
            entered: NOT_ENTERED,
            poured: f64::NEG_INFINITY,
            stream: NO_STREAM,
            spread: 0.0,
            strip: Strip::NONE,
        }
    }

    /// Whether it touches a surface.
    #[must_use]
    pub fn is_on_surface(&self) -> bool {
        !matches!(self.phase, Phase::Air { .. })
    }

    /// Speed against the surface; 0 in the air [m/s].
    #[must_use]
    pub fn speed(&self) -> f64 {
        match self.phase {
            Phase::Face { velocity, .. } => velocity.length(),
            Phase::Edge { speed, .. } => speed.abs(),
            Phase::Corner { .. } | Phase::Air { .. } => 0.0,
        }
    }

    /// Triangle it is on, if any.
    #[must_use]
    pub fn triangle(&self) -> Option<u32> {
        match self.phase {
            Phase::Face { triangle, .. } => Some(triangle),
            Phase::Edge { half, .. } | Phase::Corner { half } => Some(half / 3),
            Phase::Air { .. } => None,
        }
    }
}

/// Drops looked through together.
const LOOK_CHUNK: usize = 2048;

/// Whether something holds of any drop; looked for on all threads, as most passes find nothing to do.
pub fn any_drop(drops: &[Droplet], holds: impl Fn(&Droplet) -> bool + Sync) -> bool {
    // Any thread may find one first: the answer is the same whichever does.
    drops.par_chunks(LOOK_CHUNK).any(|chunk| chunk.iter().any(&holds))
}

/// A sum that keeps what rounding would lose (Neumaier).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    /// Adds a number.
    pub fn add(&mut self, value: f64) {
        let t = self.total + value;
        // The smaller of the two is the one whose last digits fall off.
        self.lost += if self.total.abs() >= value.abs() {
            (self.total - t) + value
        } else {
            (value - t) + self.total
        };
        self.total = t;
    }

    /// The sum.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.total + self.lost
    }

    /// The sum of many numbers.
    pub fn of(values: impl Iterator<Item = f64>) -> f64 {
        let mut sum = Self::default();
        values.for_each(|v| sum.add(v));
        sum.value()
    }
}

/// Where every kilogram went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Put in by sources [kg].
    pub emitted: Sum,
    /// Gone into the air [kg].
    pub evaporated: Sum,
    /// Gone into the material [kg].
    pub absorbed: Sum,
    /// Fallen out of the scene [kg].
    pub fallen: Sum,
    /// Caught in the air by other layers: hair [kg].
    pub caught: Sum,
    /// Dissolved substance put in by sources, or taken up from stains [kg].
    pub solute_in: Sum,
    /// Dissolved substance that fell out or was absorbed [kg].
    pub solute_out: Sum,
    /// Number of drops emitted.
    pub drops_emitted: u64,
    /// Number of drops that fell out.
    pub drops_fallen: u64,
    /// Number of merges.
    pub merges: u64,
    /// Number of landings.
    pub landings: u64,
    /// Number of times a drop let go, pulled off the surface.
    pub releases: u64,
    /// Number of times a drop left over a border.
    pub run_offs: u64,
    /// Edges crossed.
    pub crossings: u64,
    /// Drops put to rest for a step because they met too many edges in no time.
    pub stalled: u64,
    /// Drops whose step was cut short by the limit on events.
    pub truncated: u64,
}

impl Ledger {
    /// Adds what a trace counted.
    pub fn count(&mut self, counts: &Counts) {
        self.crossings += counts.crossings;
        self.stalled += counts.stalled;
        self.truncated += counts.truncated;
        self.landings += counts.landings;
        self.releases += counts.releases;
        self.run_offs += counts.run_offs;
    }
}

/// What is on the ground, per triangle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wet {
    /// Film [kg], solute included.
    pub film: Vec<f64>,
    /// Substance dissolved in the film [kg].
    pub film_solute: Vec<f64>,
    /// Dried substance [kg].
    pub stain: Vec<f64>,
    /// Liquid soaked in that has not dried since [kg]; the books count it as absorbed.
    pub soaked: Vec<f64>,
    /// Wetness along the two axes, `W2` and `W3` [-].
    pub wetness: Vec<[f64; 2]>,
    /// Triangles that are not dry, in the order they got wet.
    pub active: Vec<u32>,
    /// Whether a triangle is in `active`.
    pub is_active: Vec<bool>,
}

impl Wet {
    /// Dry ground.
    #[must_use]
    pub fn dry(triangles: usize) -> Self {
        Self {
            film: vec![0.0; triangles],
            film_solute: vec![0.0; triangles],
            stain: vec![0.0; triangles],
            soaked: vec![0.0; triangles],
            wetness: vec![[0.0; 2]; triangles],
            active: Vec::new(),
            is_active: vec![false; triangles],
        }
    }

    /// Puts a triangle on the list of those that dry.
    pub fn activate(&mut self, triangle: u32) {
        let listed = &mut self.is_active[triangle as usize];
        // The order in which triangles got wet is kept: drying goes through them in it, on any number of threads.
        if !*listed {
            *listed = true;
            self.active.push(triangle);
        }
    }
}

/// Everything a checkpoint needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DropsState {
    /// When it is [s].
    pub time: f64,
    /// The drops, in order of birth.
    pub drops: Vec<Droplet>,
    /// Next id.
    pub next_id: u64,
    /// Films and stains.
    pub wet: Wet,
    /// The books.
    pub ledger: Ledger,
    /// Drops already emitted by each source, and fractions owed.
    pub sources: Vec<SourceState>,
    /// Positions of the surface's points at the last tick [m].
    pub points: Vec<DVec3>,
    /// Axis of each triangle that a first trail has set, as (triangle, axis).
    pub axes: Vec<(u32, [f32; 2])>,
    /// Strips of trails.
    pub trail: TrailState,
    /// Wetness image, where asked for.
    pub image: Option<WetImage>,
    /// Drops that started in the air because their source is off the mesh.
    pub off_mesh: u64,
    /// Ticks since the surface last moved.
    pub still_ticks: u32,
    /// Groups of drops that were tested for merging too rarely.
    pub merge_limited: u64,
    /// Closed-form pieces of the tracks of the last frames, where `tracks` is on.
    pub segments: Vec<Segment>,
    /// The triangles drops run on, where they are not those of the start any more.
    pub relief: Option<Arc<Relief>>,
    /// Liquid in pools.
    pub pools: Vec<PoolState>,
}

impl DropsState {
    /// Liquid in drops, in beads, and in films and stains [kg].
    #[must_use]
    pub fn masses(&self) -> (f64, f64, f64) {
        let (mut drops, mut beads) = (Sum::default(), Sum::default());
        for drop in &self.drops {
            if drop.bead { &mut beads } else { &mut drops }.add(drop.mass);
        }
        // A film's mass includes what is dissolved in it; a stain is what of that has dried.
        let films = self.wet.film.iter().chain(&self.wet.stain).copied();
        (drops.value(), beads.value(), Sum::of(films))
    }

    /// Liquid in pools [kg].
    #[must_use]
    pub fn pooled(&self) -> f64 {
        Sum::of(self.pools.iter().flat_map(|p| p.mass.iter().chain(&p.brink).copied()))
    }

    /// What the books miss, as a part of what was emitted [-]: rounding only.
    #[must_use]
    pub fn imbalance(&self) -> f64 {
        let (drops, beads, films) = self.masses();
        let ledger = &self.ledger;
        let mut sum = Sum::default();
        for value in [
            drops,
            beads,
            films,
            self.pooled(),
            ledger.evaporated.value(),
            ledger.absorbed.value(),
            ledger.fallen.value(),
            ledger.caught.value(),
            -ledger.emitted.value(),
        ] {
            sum.add(value);
        }
        sum.value() / ledger.emitted.value().max(f64::MIN_POSITIVE)
    }

    /// Takes a new drop in.
    pub fn add(&mut self, mut drop: Droplet) {
        // Ids are never used twice: seeds of wobble and drying hang on them.
        drop.id = self.next_id;
        self.next_id += 1;
        self.drops.push(drop);
    }
}

/// What a source has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceState {
    /// Drops emitted.
    pub count: u64,
    /// Part of the next drop of a rain that has gathered so far [-].
    pub owed: f64,
    /// Place of the surface where they start, for those that start at one: triangle and weights of
    /// corners 1 and 2.
    pub place: Option<(u32, DVec2)>,
}
