//! What runs over the end of a pool's ground gathers at the brink and falls as drops.
//!
//! ```text
//!   ______
//!   ~~~~~~|o        a brink carries what tension does, as below a finger; heavier, it lets go with the speed that liquid
//!   ______|         of its depth runs over a sill with. Ground that is turned over lets go of everything
//!          o
//! ```

use glam::{DVec2, DVec3};

use super::liquid::Liquid;
use super::pool::{PoolRest, PoolState};
use super::pool_flow::PoolFlow;
use super::state::{Droplet, DropsState, Phase};

/// Ways out of a cell, along x and z.
const WAYS: [(i64, i64); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];

impl PoolFlow<'_> {
    /// Lets go of what the brinks of the pools do not carry any more.
    pub fn spill(&self, time: f64, state: &mut DropsState) {
        let carried = hanging_mass(self.liquid, self.gravity.length());
        let room = self.params.max_drops.map_or(usize::MAX, |m| m as usize);
        let mut pools = std::mem::take(&mut state.pools);
        for (rest, pool) in self.rest.iter().zip(&mut pools) {
            if rest.outright_press(self.gravity) < 0.0 {
                let PoolState { mass, brink, flow_x, flow_z, .. } = &mut *pool;
                brink.iter_mut().zip(mass).for_each(|(b, m)| *b += std::mem::take(m));
                flow_x.iter_mut().chain(flow_z).for_each(|q| *q = 0.0);
            }
            for c in 0..pool.brink.len() {
                if pool.brink[c] <= carried {
                    continue;
                }
                let mass = std::mem::take(&mut pool.brink[c]);
                if state.drops.len() >= room {
                    state.ledger.fallen.add(mass);
                    continue;
                }
                let phase = self.let_go(rest, pool, (c, mass), time);
                state.add(Droplet::new(0, mass, phase, time));
            }
        }
        state.pools = pools;
    }

    /// Where a drop begins that leaves a cell, and how fast.
    fn let_go(
        &self,
        rest: &PoolRest,
        pool: &PoolState,
        (c, mass): (usize, f64),
        time: f64,
    ) -> Phase {
        let radius = self.liquid.radius(mass);
        let [x, z] = rest.middle(c);
        let over = rest.depth(pool.mass[c], self.liquid);
        let way = way_out(rest, c).map_or(DVec2::ZERO, |(i, j)| DVec2::new(i as f64, j as f64));
        // Beside the ground, not in it: what falls beside a wall is not to land on its top.
        let aside = way * (0.5 * rest.cell + radius);
        let up = rest.height(c) + if way == DVec2::ZERO { radius } else { 0.0 };
        let position = rest.pose.to_world(DVec3::new(x + aside.x, up, z + aside.y));
        // The critical speed on a sill, of a depth of two thirds of what stands behind it.
        let speed = (rest.press(self.gravity) * over * 2.0 / 3.0).sqrt();
        let leaving = rest.pose.turn * DVec3::new(way.x * speed, 0.0, way.y * speed);
        let velocity = pool.motion.at(position) + leaving;
        Phase::Air { position, velocity, since: time, from: u32::MAX }
    }
}

/// Of the ways from a cell that lead off the ground, the one that leads down most; none where ground is all around.
fn way_out(rest: &PoolRest, cell: usize) -> Option<(i64, i64)> {
    let [nx, nz] = rest.cells.map(|n| n as i64);
    let (x, z) = (cell as i64 % nx, cell as i64 / nx);
    let is_off = |(i, j): &(i64, i64)| {
        let (x, z) = (x + i, z + j);
        let is_inside = x >= 0 && z >= 0 && x < nx && z < nz;
        !is_inside || !rest.bed[(z * nx + x) as usize].is_finite()
    };
    let rise = |(i, j): (i64, i64)| rest.lean.x * i as f64 + rest.lean.y * j as f64;
    WAYS.into_iter().filter(is_off).min_by(|a, b| rise(*a).total_cmp(&rise(*b)))
}

/// Heaviest drop that hangs on a brink [kg]: as below a finger, where adhesion over its cross-section is its weight.
fn hanging_mass(liquid: &Liquid, gravity: f64) -> f64 {
    let radius = 0.75 * liquid.adhesion() / (liquid.density * gravity);
    liquid.density * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)
}
