//! Thick liquids leave little by little: over a rim as fast as they run, off an overhang as fast as they
//! stretch. What leaves is a chain of parcels, drawn as a thread until it is too thin (`thread.rs`).

use glam::{DVec2, DVec3};

use super::Flow;
use crate::layers::drops::state::{Droplet, Phase};
use crate::layers::drops::surface::on_edge;
use crate::layers::drops::thread::is_thick;
use crate::tolerances::nothing;

impl Flow<'_> {
    /// Whether the drop is of a liquid that draws threads.
    pub(super) fn is_thick(&self) -> bool {
        let liquid = self.world.liquid;
        is_thick(self.body.viscosity, liquid.density * liquid.tension * self.body.radius)
    }

    /// A thick drop that is pulled off sags: under its own weight it stretches at the rate
    /// `density pull radius / (3 viscosity)` (Trouton). It stays where it is, with what it can hold.
    pub(super) fn sag(&mut self, drop: &mut Droplet, place: DVec3, velocity: DVec3, pull: f64) {
        let weight = self.world.liquid.density * pull.max(0.0) * self.body.radius;
        let from = drop.triangle().unwrap_or(u32::MAX);
        let rate = weight / (3.0 * self.body.viscosity);
        let begins = self.pour(drop, rate, (place, velocity, from), pull);
        self.trace.counts.releases += u64::from(begins);
    }

    /// A thick drop on a border goes over it as fast as it runs; what the rim can hold stays there.
    pub(super) fn spill(&mut self, drop: &mut Droplet, (triangle, k, s): (u32, usize, f64)) {
        let facet = &self.world.surface.facets[triangle as usize];
        let place = facet.point(facet.corner(k) + facet.edge(k) * s);
        let acceleration = self.acceleration(drop, place);
        let width = 2.0 * self.world.ground.of(triangle).contact * self.body.radius;
        let outward = facet.edge(k).perp().normalize_or_zero() * -1.0;
        // Thick liquids run as fast as the drag lets them, at once.
        let speed = facet.tangential(acceleration).dot(outward).max(0.0) / self.body.drag.max(1e-9);
        let pull = acceleration.length();
        let holds = self.world.liquid.tension * width;
        let over = facet.lift(outward * speed);
        if self.body.mass * pull > holds {
            let begins = self.pour(
                drop,
                speed / width.max(nothing::NO_WIDTH),
                (place, over, triangle),
                pull,
            );
            self.trace.counts.run_offs += u64::from(begins);
        }
        let standing = 1 << k;
        let weights = on_edge(k, s);
        drop.phase = Phase::Face { triangle, weights, velocity: DVec2::ZERO, standing };
        // It stays on the rim for the rest of the tick: what went over it has been poured.
        drop.held = true;
        self.left = 0.0;
    }

    /// What leaves in the time left, once in a step: the head of a new thread as heavy as a neck can carry,
    /// then as the rate says. Whether a thread begins.
    fn pour(
        &mut self,
        drop: &mut Droplet,
        rate: f64,
        from: (DVec3, DVec3, u32),
        pull: f64,
    ) -> bool {
        if self.has_poured {
            return false;
        }
        self.has_poured = true;
        let (position, velocity, triangle) = from;
        // It pours in every tick while it does: after a pause of more than two, the neck has broken.
        let is_new = self.now() - drop.poured > 2.5 * self.world.tick;
        let neck = std::f64::consts::TAU * 0.3 * self.body.radius * self.world.liquid.tension;
        let head = if is_new { neck / pull.max(1e-3) } else { 0.0 };
        // At most half: what is left must go on as a drop of its own.
        let mass = (drop.mass * -(-rate * self.left).exp_m1()).max(head).min(0.5 * drop.mass);
        drop.poured = self.end;
        if mass <= self.world.liquid.least_mass {
            return false;
        }
        let velocity = velocity + drop.carrier;
        let phase = Phase::Air { position, velocity, since: self.now(), from: triangle };
        let born = self.part(drop, mass, phase);
        self.trace.born[born].stream = drop.id;
        is_new
    }
}
