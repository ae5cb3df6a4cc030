//! What runs over the end of a pool's ground gathers at the brink and falls: as drops, or as a stream.
//!
//! ```text
//!   ______
//!   ~~~~~~|o        a brink carries what tension does, as below a finger; heavier, it lets go with the speed that liquid
//!   ______|o        of its depth runs over a sill with. Brinks beside each other let go together; where more comes in
//!          o        every tick, it is a stream. Ground that is turned over lets go of everything
//! ```

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};

use super::liquid::Liquid;
use super::pool::{PoolRest, PoolState};
use super::pool_end::{End, WAYS};
use super::pool_flow::{PoolFlow, PoolScratch};
use super::state::{Droplet, DropsState, NO_STREAM, Phase};
use super::stream::{is_of_lip, stream_of_lip};

/// Longest lip that lets go of one stream, in lengths of the wave that cuts a hanging edge the fastest, `2 pi sqrt(3)`
/// capillary lengths [-]: over a bowl's lip liquid draws together on its way, over a long edge in several streams.
const LONGEST_LIP: f64 = 3.0;
/// Furthest that cells of one lip are looked for from each other, in cells.
const MOST_REACH: i64 = 8;
/// What must come in a tick, in what hangs, for a stream to go on [-]: with less it is thinner than a jet can be that
/// leaves at a hand's breadth a second, and drips.
const STREAM_SHARE: f64 = 0.25;
/// How far from where it was in the tick before a stream may be, in cells [-]: what parts in two or leaps along its lip is
/// another one, and is not drawn as a kink.
const STREAM_SHIFT: f64 = 1.0;

/// Cells of the brinks that let go together, reused.
#[derive(Clone, Debug, Default)]
pub struct Lips {
    /// One lip after the other.
    cells: Vec<usize>,
    is_listed: Vec<bool>,
    /// Streams that have gone on in this tick.
    gone_on: Vec<u64>,
}

/// What leaves together.
#[derive(Clone, Copy, Debug, Default)]
struct Leaving {
    mass: f64,
    /// Where, in the patch [m], and how fast [m/s]: mass-weighted sums until it is complete.
    place: DVec3,
    velocity: DVec3,
    /// Sum of the squares of where the cells are, for its width.
    square: f64,
}

impl Leaving {
    fn add(&mut self, mass: f64, place: DVec3, velocity: DVec3) {
        self.mass += mass;
        self.place += place * mass;
        self.velocity += velocity * mass;
        self.square += place.length_squared() * mass;
    }

    /// Middle, mean velocity and half the width: of an even row, what its spread is times the root of 3.
    fn mean(&self) -> (DVec3, DVec3, f64) {
        let (place, velocity) = (self.place / self.mass, self.velocity / self.mass);
        let variance = (self.square / self.mass - place.length_squared()).max(0.0);
        (place, velocity, (3.0 * variance).sqrt())
    }
}

impl PoolFlow<'_> {
    /// Lets go of what the brinks of the pools do not carry any more.
    pub fn spill(&self, time: f64, state: &mut DropsState, scratch: &mut PoolScratch) {
        let mut pools = std::mem::take(&mut state.pools);
        scratch.lips.gone_on.clear();
        for (rest, pool) in self.rest.iter().zip(&mut pools) {
            if rest.outright_press(self.gravity) < 0.0 {
                self.let_go_of_all(rest, pool, time, state);
            } else if pool.brink.iter().any(|b| *b > 0.0) {
                self.pour(rest, pool, (time, &mut scratch.lips), state);
            }
        }
        state.pools = pools;
    }

    /// Ground that is turned over: every cell by itself.
    fn let_go_of_all(
        &self,
        rest: &PoolRest,
        pool: &mut PoolState,
        time: f64,
        state: &mut DropsState,
    ) {
        let PoolState { mass, brink, flow_x, flow_z, .. } = &mut *pool;
        brink.iter_mut().zip(mass).for_each(|(b, m)| *b += std::mem::take(m));
        flow_x.iter_mut().chain(flow_z).for_each(|q| *q = 0.0);
        for c in 0..pool.brink.len() {
            if pool.brink[c] > hanging_mass(self.liquid, self.gravity.length()) {
                let mut leaving = Leaving::default();
                leaving.add(pool.brink[c], self.brink_at(rest, pool, c), DVec3::ZERO);
                pool.brink[c] = 0.0;
                self.let_go((rest, pool), &leaving, (time, NO_STREAM), state);
            }
        }
    }

    /// Lip by lip.
    fn pour(
        &self,
        rest: &PoolRest,
        pool: &mut PoolState,
        (time, lips): (f64, &mut Lips),
        state: &mut DropsState,
    ) {
        lips.is_listed.clear();
        lips.is_listed.resize(pool.brink.len(), false);
        let wave = hanging_wave(self.liquid, self.gravity);
        // What hangs nearer than half a wave is drawn together.
        let reach = ((0.5 * wave / rest.cell) as i64).clamp(1, MOST_REACH);
        for c in 0..pool.brink.len() {
            if pool.brink[c] <= 0.0 || lips.is_listed[c] {
                continue;
            }
            lips.gather(rest, &pool.brink, c, reach);
            let Lips { cells, gone_on, .. } = &mut *lips;
            for part in parts(rest, cells, LONGEST_LIP * wave) {
                self.pour_over(rest, pool, part, (time, gone_on), state);
            }
        }
    }

    /// What hangs at some cells falls, if it is too heavy or if it is already pouring.
    fn pour_over(
        &self,
        rest: &PoolRest,
        pool: &mut PoolState,
        cells: &[usize],
        (time, gone_on): (f64, &mut Vec<u64>),
        state: &mut DropsState,
    ) {
        let mut leaving = Leaving::default();
        for &c in cells.iter().filter(|c| pool.brink[**c] > 0.0) {
            leaving.add(
                pool.brink[c],
                self.brink_at(rest, pool, c),
                self.speed_over(rest, pool, c),
            );
        }
        let carried = hanging_mass(self.liquid, self.gravity.length());
        if leaving.mass <= STREAM_SHARE * carried {
            return;
        }
        let (place, ..) = leaving.mean();
        let near = STREAM_SHIFT * rest.cell;
        let known = self.stream_at(rest.pose.to_world(place), near, time, state);
        let known = known.filter(|s| !gone_on.contains(s));
        if known.is_none() && leaving.mass <= carried {
            return;
        }
        cells.iter().for_each(|c| pool.brink[*c] = 0.0);
        let stream = known.unwrap_or_else(|| stream_of_lip(state.next_id));
        gone_on.push(stream);
        self.let_go((rest, pool), &leaving, (time, stream), state);
    }

    /// The stream that poured near a place in the tick before.
    fn stream_at(&self, place: DVec3, near: f64, time: f64, state: &DropsState) -> Option<u64> {
        let away = |d: &Droplet| match d.phase {
            Phase::Air { position, velocity, .. } if is_of_lip(d.stream) => {
                let age = time - d.born;
                let is_last = age > 0.5 * self.dt && age < 1.5 * self.dt;
                // Back to where it began.
                is_last.then(|| (position - velocity * age).distance(place))
            }
            _ => None,
        };
        let all = state.drops.iter().filter_map(|d| Some((away(d)?, d.stream)));
        let nearest = all.filter(|(away, _)| *away < near).min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.map(|(_, stream)| stream)
    }

    /// Puts what leaves into the air.
    fn let_go(
        &self,
        (rest, pool): (&PoolRest, &PoolState),
        leaving: &Leaving,
        (time, stream): (f64, u64),
        state: &mut DropsState,
    ) {
        let room = self.params.max_drops.map_or(usize::MAX, |m| m as usize);
        if state.drops.len() >= room {
            state.ledger.fallen.add(leaving.mass);
            return;
        }
        let (place, velocity, half) = leaving.mean();
        let position = rest.pose.to_world(place);
        let velocity = pool.motion.at(position) + rest.pose.turn * velocity;
        let phase = Phase::Air { position, velocity, since: time, from: u32::MAX };
        let mut drop = Droplet::new(0, leaving.mass, phase, time);
        drop.stream = stream;
        drop.spread = half as f32;
        state.add(drop);
    }

    /// Where a cell's brink is, in the patch [m].
    fn brink_at(&self, rest: &PoolRest, pool: &PoolState, c: usize) -> DVec3 {
        let radius = self.liquid.radius(pool.brink[c]);
        let [x, z] = rest.middle(c);
        match way_out(rest, c) {
            Some((way, Some(end))) => {
                // Beside the rim, not in it: what falls beside a wall is not to land on its top.
                let [x, z] = rest.place_of(end);
                DVec3::new(x + way.x * radius, end.height, z + way.y * radius)
            }
            Some((way, None)) => {
                let aside = way * (0.5 * rest.cell + radius);
                DVec3::new(x + aside.x, rest.height(c), z + aside.y)
            }
            None => DVec3::new(x, rest.height(c) + radius, z),
        }
    }

    /// How fast liquid leaves a cell, in the patch [m/s].
    fn speed_over(&self, rest: &PoolRest, pool: &PoolState, c: usize) -> DVec3 {
        let way = way_out(rest, c).map_or(DVec2::ZERO, |(way, _)| way);
        let level = rest.bed[c] + rest.depth(pool.mass[c], self.liquid);
        let over = (level - rest.lowest_sill(c)).max(0.0);
        // The critical speed on a sill, of a depth of two thirds of what stands behind it.
        let speed = (rest.press(self.gravity) * over * 2.0 / 3.0).sqrt();
        DVec3::new(way.x * speed, 0.0, way.y * speed)
    }
}

impl Lips {
    /// Lists the cells of the lip that a cell belongs to: those near each other, within `reach` cells, at whose brinks
    /// something hangs.
    fn gather(&mut self, rest: &PoolRest, brink: &[f64], first: usize, reach: i64) {
        let [nx, nz] = rest.cells.map(|n| n as i64);
        self.cells.clear();
        self.cells.push(first);
        self.is_listed[first] = true;
        let mut at = 0;
        while at < self.cells.len() {
            let (x, z) = (self.cells[at] as i64 % nx, self.cells[at] as i64 / nx);
            at += 1;
            let around =
                (-reach..=reach).flat_map(|j| (-reach..=reach).map(move |i| (x + i, z + j)));
            for (i, j) in around {
                if i < 0 || j < 0 || i >= nx || j >= nz {
                    continue;
                }
                let c = (j * nx + i) as usize;
                if brink[c] > 0.0 && !self.is_listed[c] {
                    self.is_listed[c] = true;
                    self.cells.push(c);
                }
            }
        }
    }
}

/// A lip in parts that are no longer than `longest`, along the axis in which it is longer.
fn parts<'a>(
    rest: &PoolRest,
    cells: &'a mut [usize],
    longest: f64,
) -> impl Iterator<Item = &'a [usize]> {
    let extent = |axis: usize| {
        let along = cells.iter().map(|c| rest.middle(*c)[axis]);
        let (low, high) = along.fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
        (low, high - low + rest.cell)
    };
    let axis = usize::from(extent(1).1 > extent(0).1);
    let (low, length) = extent(axis);
    let each = length / (length / longest).ceil().max(1.0);
    let nx = rest.cells[0];
    let (cell, corner) = (rest.cell, rest.corner[axis]);
    let part_of = move |c: &usize| {
        let along = corner + (if axis == 0 { c % nx } else { c / nx } as f64 + 0.5) * cell;
        ((along - low) / each) as usize
    };
    cells.sort_unstable_by_key(|c| (part_of(c), *c));
    cells.chunk_by(move |a, b| part_of(a) == part_of(b))
}

/// Of the ways from a cell that lead off the ground, the one over the lowest sill, and where the ground ends there; none
/// where ground is all around.
fn way_out(rest: &PoolRest, cell: usize) -> Option<(DVec2, Option<&End>)> {
    let mut best: Option<(f64, DVec2, Option<&End>)> = None;
    for (index, [i, j]) in WAYS[..4].iter().map(|w| w.map(|d| d as f64)).enumerate() {
        let end = rest.end(cell, index);
        let height = match (end, rest.beside(cell, index)) {
            (Some(end), _) => rest.sill(end),
            (None, None) => rest.bed[cell] + rest.cell * (rest.lean.x * i + rest.lean.y * j),
            _ => continue,
        };
        if best.is_none_or(|(lowest, ..)| height < lowest) {
            best = Some((height, DVec2::new(i, j), end));
        }
    }
    best.map(|(_, way, end)| (way, end))
}

/// Heaviest drop that hangs on a brink [kg]: as below a finger, where adhesion over its cross-section is its weight.
fn hanging_mass(liquid: &Liquid, gravity: f64) -> f64 {
    let radius = 0.75 * liquid.adhesion() / (liquid.density * gravity);
    liquid.density * 4.0 / 3.0 * PI * radius.powi(3)
}

/// Length of the wave that grows fastest along an edge of liquid that hangs [m].
fn hanging_wave(liquid: &Liquid, gravity: DVec3) -> f64 {
    let pull = liquid.density * gravity.length().max(f64::MIN_POSITIVE);
    TAU * (3.0 * liquid.tension / pull).sqrt()
}
