//! How liquid moves in pools, and how drops join them.
//!
//! A side between two columns lets through what is above the higher of their beds, `h`. Its flow `q` obeys
//! `q' = g h (level - level beyond) - (3 nu / h² + calming) q`: gravity, the drag of a film on its bed, and what calms
//! waves. No column gives more than it has, and what one gives another gets: the mass is kept to the last bit but
//! rounding.

use glam::DVec3;
use rayon::prelude::*;

use super::liquid::Liquid;
use super::merge::position_on;
use super::params::DropsParams;
use super::pool::{PoolRest, PoolState, held_depth};
use super::pool_spill::Lips;
use super::state::{Droplet, DropsState, Phase};
use super::surface::Surface;

/// Share of the time in which a wave passes a cell that a step takes [-]: at one half the flow from one cell to the
/// next swings.
const STEP_SHARE: f64 = 0.35;
/// Most steps a tick is cut into: deeper or finer, waves run slower than they would.
const MOST_STEPS: f64 = 64.0;
/// Upward part of the normal from which on a drop that is held lies on the ground [-]: about 25 degrees.
const LEVEL: f64 = 0.9;
/// Furthest below the surface that a falling drop is caught, in ways of a tick [-].
const CATCH: f64 = 2.0;

/// How much more or less an edge holds where it bends outwards or inwards, per share of wet cells around that is less or
/// more than along a straight one [-]. Without it the first cell that is overrun leads the rest, and an edge grows
/// fingers a few cells wide; twice as much, and puddles grow square, as edges along the grid are the straightest.
const BEND_HOLD: f64 = 2.0;
/// Share of wet cells around a dry one at a straight edge, as smoothed [-].
const STRAIGHT: f64 = 0.443;
/// Least and most that an edge holds by its bend, in what a straight one does [-].
const BEND_RANGE: [f64; 2] = [0.5, 2.0];
/// Cells to both sides over which the share of wet ones is smoothed, and how often: wider than a finger, and so often that
/// it is the same in all directions.
const SMOOTHED: (i64, usize) = (3, 3);
/// Cells smoothed together.
const SMOOTH_CHUNK: usize = 4096;

/// Pools at work.
pub struct PoolFlow<'a> {
    /// Parameters.
    pub params: &'a DropsParams,
    /// Grounds.
    pub rest: &'a [PoolRest],
    /// The liquid.
    pub liquid: &'a Liquid,
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// Length of the tick [s].
    pub dt: f64,
}

/// Buffers.
#[derive(Clone, Debug, Default)]
pub struct PoolScratch {
    /// Depth of every cell [m].
    depth: Vec<f64>,
    /// What leaves every cell within a step [m³].
    leaving: Vec<f64>,
    /// How much an edge holds that comes to a cell, in what a straight one does [-].
    bend: Vec<f64>,
    /// For smoothing.
    spare: Vec<f64>,
    /// Lips over which liquid pours.
    pub(super) lips: Lips,
}

/// A drop that may become part of a pool.
struct Coming<'a> {
    drop: &'a Droplet,
    /// Where it is: in the world, or in a patch [m].
    place: DVec3,
    /// How fast it comes [m/s].
    velocity: DVec3,
}

impl Coming<'_> {
    /// The same, seen from a patch.
    fn seen_from(&self, rest: &PoolRest, pool: &PoolState) -> Self {
        let against = self.velocity - pool.motion.at(self.place);
        let (place, velocity) =
            (rest.pose.to_patch(self.place), rest.pose.turn.inverse() * against);
        Self { drop: self.drop, place, velocity }
    }
}

/// How liquid goes through the side between two columns within a step.
struct Side {
    /// Acceleration that presses liquid on its ground [m/s²].
    press: f64,
    /// How much higher the bed is one cell further along x and along z because the patch leans [m].
    rises: [f64; 2],
    /// Depth that the edge of a puddle holds [m].
    held: f64,
    /// Three times the kinematic viscosity [m²/s].
    rub: f64,
    /// Rate at which waves die away [1/s].
    calming: f64,
    /// Area of a cell [m²].
    area: f64,
    /// Length of the step [s].
    dt: f64,
}

/// Two columns, as (bed, depth), and the flow from the first to the second [m³/s].
struct Pair {
    columns: [(f64, f64); 2],
    /// How much more or less than a straight edge one holds that comes to the first and to the second.
    bends: [f64; 2],
    flow: f64,
    /// Height of the end of the ground between them [m]; minus infinity where it does not end.
    rim: f64,
    /// Whether the second is along x (0) or along z (1).
    axis: usize,
}

impl Side {
    /// Depth that the edge of a puddle holds against the lean of its ground [m], `downhill` per cell: what its tension
    /// carries is `held² / 2`, what pushes is the liquid's own depth and the slope, `h² / 2 + h downhill`.
    fn held_on(&self, downhill: f64) -> f64 {
        let downhill = downhill.max(0.0);
        (downhill * downhill + self.held * self.held).sqrt() - downhill
    }

    /// Flow from a column to another after the step [m³/s].
    fn flow(&self, pair: &Pair) -> f64 {
        let [a, b] = pair.columns;
        let sense = if a.0 + a.1 >= b.0 + b.1 { 1.0 } else { -1.0 };
        let (from, to) = if sense > 0.0 { (a, b) } else { (b, a) };
        let sill = from.0.max(to.0).max(pair.rim);
        let over = from.0 + from.1 - sill;
        // At the edge of the liquid surface tension holds what is not too deep.
        let bend = if sense > 0.0 { pair.bends[1] } else { pair.bends[0] };
        let held = bend * self.held_on(-sense * self.rises[pair.axis]);
        let is_held = to.1 <= 0.0 && over <= held;
        if is_held || over.is_nan() || over <= 0.0 {
            return 0.0;
        }
        let fall = sense * (from.0 + from.1 - to.0 - to.1).min(over);
        let drag = self.rub / (over * over) + self.calming;
        let flow = (pair.flow + self.dt * self.press * over * fall) / (1.0 + self.dt * drag);
        // Momentum carries over the sill what is above it, and no more.
        let giver = if flow >= 0.0 { a } else { b };
        let most = (giver.0 + giver.1 - sill).max(0.0) * self.area / self.dt;
        flow.clamp(-most, most)
    }
}

impl PoolFlow<'_> {
    /// Lets drops that touch a pool, or its dry ground, become part of it. Whether any did: those have no mass left.
    pub fn gather(&self, surface: &Surface, state: &mut DropsState) -> bool {
        let mut joined = false;
        let DropsState { drops, pools, ledger, .. } = state;
        for drop in drops.iter_mut() {
            let Some(coming) = self.touching(surface, drop) else { continue };
            for (rest, pool) in self.rest.iter().zip(pools.iter_mut()) {
                let coming = coming.seen_from(rest, pool);
                let Some(cell) = rest.cell_at(coming.place.x, coming.place.z) else { continue };
                if self.reaches(rest, pool, cell, &coming) {
                    self.take(rest, pool, cell, &coming);
                    ledger.landings += u64::from(!drop.is_on_surface());
                    (drop.mass, drop.solute) = (0.0, 0.0);
                    joined = true;
                    break;
                }
            }
        }
        joined
    }

    /// A drop that may lie in a pool: falling ones, and those on ground that is nearly level.
    fn touching<'d>(&self, surface: &Surface, drop: &'d Droplet) -> Option<Coming<'d>> {
        if let Phase::Air { position, velocity, .. } = drop.phase {
            return Some(Coming { drop, place: position, velocity });
        }
        let (place, triangle) = position_on(drop, surface)?;
        let up = surface.facets[triangle as usize].normal.y * f64::from(drop.side);
        (up >= LEVEL).then_some(Coming { drop, place, velocity: drop.carrier })
    }

    /// Whether a drop over a cell touches what is there.
    fn reaches(&self, rest: &PoolRest, pool: &PoolState, cell: usize, coming: &Coming) -> bool {
        let Coming { drop, place, velocity } = *coming;
        let (bed, mass) = (rest.height(cell), pool.mass[cell]);
        if !bed.is_finite() {
            return false;
        }
        let (level, radius) = (bed + rest.depth(mass, self.liquid), self.liquid.radius(drop.mass));
        let missed = radius.max(rest.cell) + CATCH * self.dt * velocity.length();
        let in_range = place.y - radius <= level && place.y >= bed - missed;
        // What runs on the ground joins liquid; what is held there is where it stays.
        in_range && (!drop.is_on_surface() || mass > 0.0 || drop.held)
    }

    /// Puts a drop's liquid on the cells under it and lets it push liquid aside.
    fn take(&self, rest: &PoolRest, pool: &mut PoolState, cell: usize, coming: &Coming) {
        let Coming { drop, velocity, .. } = *coming;
        let volume = drop.mass / self.liquid.density;
        // A ball that comes to rest spreads until surface tension holds it.
        let press = rest.press(self.gravity);
        let held = held_depth(self.liquid, press);
        let radius = (volume / (std::f64::consts::PI * held)).sqrt();
        let mut count = 0;
        each_covered(rest, cell, radius, |_| count += 1);
        let share = drop.mass / f64::from(count);
        each_covered(rest, cell, radius, |c| pool.mass[c] += share);
        let depth = rest.depth(pool.mass[cell], self.liquid);
        let wave = depth * rest.cell * (press * depth).sqrt();
        // A drop pushes no more than a wave can carry away: else it would dig to the bed in one tick.
        let push = (0.25 * volume * velocity.y.abs() / rest.cell).min(0.25 * wave);
        let [nx, _] = rest.cells;
        pool.flow_x[cell] += push;
        pool.flow_z[cell] += push;
        if !cell.is_multiple_of(nx) {
            pool.flow_x[cell - 1] -= push;
        }
        if cell >= nx {
            pool.flow_z[cell - nx] -= push;
        }
    }

    /// Moves the liquid over a tick; what leaves the patches and what dries goes into the books.
    pub fn advance(&self, evaporation: f64, state: &mut DropsState, scratch: &mut PoolScratch) {
        let DropsState { pools, ledger, .. } = state;
        let given = self.params.pools.iter().zip(self.rest).zip(pools.iter_mut());
        for ((params, rest), pool) in given {
            if pool.mass.iter().all(|m| *m == 0.0) {
                continue;
            }
            let deepest = pool.mass.iter().copied().fold(0.0, f64::max);
            let press = rest.press(self.gravity);
            let wave = (press * rest.depth(deepest, self.liquid)).sqrt();
            let steps = (wave * self.dt / (STEP_SHARE * rest.cell)).ceil().clamp(1.0, MOST_STEPS);
            let side = Side {
                press,
                rises: [rest.lean.x * rest.cell, rest.lean.y * rest.cell],
                held: held_depth(self.liquid, press),
                rub: 3.0 * self.liquid.viscosity() / self.liquid.density,
                calming: params.calming,
                area: rest.cell * rest.cell,
                dt: self.dt / steps,
            };
            scratch.find_bends(rest, &pool.mass);
            for _ in 0..steps as usize {
                self.step(rest, pool, &side, scratch);
            }
            let most = evaporation * rest.cell * rest.cell * self.dt;
            for mass in pool.mass.iter_mut().filter(|m| **m > 0.0) {
                let dried = if most > 0.0 { most.min(*mass) } else { 0.0 };
                *mass -= dried;
                ledger.evaporated.add(dried);
            }
        }
    }

    /// One step.
    fn step(&self, rest: &PoolRest, pool: &mut PoolState, side: &Side, scratch: &mut PoolScratch) {
        let PoolScratch { depth, leaving, bend, .. } = scratch;
        depth.clear();
        depth.extend(pool.mass.iter().map(|m| rest.depth(*m, self.liquid)));
        leaving.clear();
        leaving.resize(depth.len(), 0.0);
        // Beyond the patch there is no ground.
        let column =
            |c: Option<usize>| c.map_or((f64::NEG_INFINITY, 0.0), |c| (rest.bed[c], depth[c]));
        let bends = |c: usize, next: Option<usize>| [bend[c], next.map_or(1.0, |n| bend[n])];
        for c in 0..depth.len() {
            let next = rest.next(c);
            for (axis, flow) in [&mut pool.flow_x[c], &mut pool.flow_z[c]].into_iter().enumerate() {
                let columns = [column(Some(c)), column(next[axis])];
                let rim = rim_between(rest, c, next[axis], axis);
                let bends = bends(c, next[axis]);
                *flow = side.flow(&Pair { columns, bends, flow: *flow, rim, axis });
            }
            for (q, to) in [pool.flow_x[c], pool.flow_z[c]].into_iter().zip(next) {
                let giver = if q >= 0.0 { Some(c) } else { to };
                giver.into_iter().for_each(|g| leaving[g] += q.abs() * side.dt);
            }
        }
        for c in 0..depth.len() {
            for (q, to) in [&mut pool.flow_x[c], &mut pool.flow_z[c]].into_iter().zip(rest.next(c))
            {
                let (giver, taker) = if *q >= 0.0 { (Some(c), to) } else { (to, Some(c)) };
                let Some(giver) = giver.filter(|_| *q != 0.0) else { continue };
                // No column gives more than it has.
                let has = depth[giver] * rest.cell * rest.cell;
                *q *= (has / leaving[giver].max(f64::MIN_POSITIVE)).min(1.0);
                let moved = (q.abs() * side.dt * self.liquid.density).min(pool.mass[giver]);
                pool.mass[giver] -= moved;
                match taker.filter(|t| rest.bed[*t].is_finite()) {
                    Some(taker) => pool.mass[taker] += moved,
                    None => pool.brink[giver] += moved,
                }
            }
        }
        self.leave_low_sides(rest, pool, side);
    }

    /// The sides of the patch towards smaller x and z lead out too: above what its edge holds, liquid falls freely.
    fn leave_low_sides(&self, rest: &PoolRest, pool: &mut PoolState, side: &Side) {
        let [nx, nz] = rest.cells;
        let x_sides = (0..nz).map(|j| (j * nx, 0));
        for (c, axis) in x_sides.chain((0..nx).map(|i| (i, 1))) {
            let (over, held) =
                (rest.depth(pool.mass[c], self.liquid), side.held_on(side.rises[axis]));
            if over > held {
                let share = side.dt * (side.press * over).sqrt() / rest.cell;
                let moved = share.min(0.5) * (1.0 - held / over) * pool.mass[c];
                pool.mass[c] -= moved;
                pool.brink[c] += moved;
            }
        }
    }
}

impl PoolScratch {
    /// Finds how much an edge holds that comes to each cell: one that bulges more, one that is hollow less, as the
    /// tension along it does.
    fn find_bends(&mut self, rest: &PoolRest, mass: &[f64]) {
        let Self { bend, spare, .. } = self;
        bend.clear();
        bend.extend(mass.iter().map(|m| f64::from(u8::from(*m > 0.0))));
        let [nx, nz] = rest.cells;
        for _ in 0..SMOOTHED.1 {
            smooth_along(bend, spare, (nx, 1));
            smooth_along(spare, bend, (nz, nx));
        }
        let [least, most] = BEND_RANGE;
        for share in bend.iter_mut() {
            *share = (1.0 + BEND_HOLD * (STRAIGHT - *share)).clamp(least, most);
        }
    }
}

/// Height of the end of the ground between a cell and the next along x (0) or z (1), as gravity sees it [m].
fn rim_between(rest: &PoolRest, cell: usize, next: Option<usize>, axis: usize) -> f64 {
    let Some(next) = next else { return f64::NEG_INFINITY };
    let end = match (rest.bed[cell].is_finite(), rest.bed[next].is_finite()) {
        (true, false) => rest.end(cell, 2 * axis),
        (false, true) => rest.end(next, 2 * axis + 1),
        _ => None,
    };
    end.map_or(f64::NEG_INFINITY, |e| rest.sill(e))
}

/// The mean of each cell and those beside it, along rows of `count` that are `step` apart.
fn smooth_along(from: &[f64], to: &mut Vec<f64>, (count, step): (usize, usize)) {
    let reach = SMOOTHED.0;
    to.resize(from.len(), 0.0);
    to.par_iter_mut().enumerate().with_min_len(SMOOTH_CHUNK).for_each(|(c, mean)| {
        let place = (c / step % count) as i64;
        // Beyond the patch it goes on as at its border.
        let beside = |d: i64| (place + d).clamp(0, count as i64 - 1) - place;
        let sum: f64 =
            (-reach..=reach).map(|d| from[(c as i64 + beside(d) * step as i64) as usize]).sum();
        *mean = sum / (2 * reach + 1) as f64;
    });
}

/// Calls `each` for the cells with ground whose middles are within a radius of a cell's; at least for that cell.
fn each_covered(rest: &PoolRest, cell: usize, radius: f64, mut each: impl FnMut(usize)) {
    let [nx, nz] = rest.cells.map(|n| n as i64);
    let (x, z) = (cell as i64 % nx, cell as i64 / nx);
    let reach = (radius / rest.cell).floor().min(64.0) as i64;
    for j in (z - reach).max(0)..=(z + reach).min(nz - 1) {
        for i in (x - reach).max(0)..=(x + reach).min(nx - 1) {
            let away = (((i - x).pow(2) + (j - z).pow(2)) as f64).sqrt() * rest.cell;
            let here = (j * nx + i) as usize;
            let level = (rest.bed[here] - rest.bed[cell]).abs() <= radius;
            if away <= radius && level || here == cell {
                each(here);
            }
        }
    }
}
