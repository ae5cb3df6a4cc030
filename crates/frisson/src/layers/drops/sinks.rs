//! Where liquid goes: drying, soaking in, stains, falling out. Mass changes only here and in merges,
//! always at the end of a step.

use super::params::{DropsParams, SourceParams};
use super::site::{Hold, Site};
use super::state::{Droplet, DropsState, Phase, any_drop};
use super::surface::Surface;
use super::trail::{film_left, is_dry};
use crate::stage::{Caught, ColliderSet};
use crate::tolerances::drops::MIN_FILM;

/// Takes from drops in the air what others have caught of them in the tick before.
pub(super) fn give_caught(state: &mut DropsState, layer: &str, caught: &[Caught]) {
    let lists = caught.iter().filter(|c| c.layer == layer);
    for one in lists.flat_map(|c| &c.drops) {
        // What has landed, met another or dried up since keeps what it has: nothing is taken that is not there.
        let still_falls = |d: &&mut Droplet| d.id == one.id && !d.is_on_surface();
        let Some(drop) = state.drops.iter_mut().find(still_falls) else { continue };
        let taken = f64::from(one.mass).clamp(0.0, drop.mass);
        let left = 1.0 - taken / drop.mass.max(f64::MIN_POSITIVE);
        drop.mass -= taken;
        drop.solute *= left;
        state.ledger.caught.add(taken);
    }
}

/// One tick of sinks and growth.
pub struct Sinks<'a> {
    /// Parameters.
    pub params: &'a DropsParams,
    /// The ground and the liquid.
    pub site: &'a Site,
    /// The surface.
    pub surface: &'a Surface,
    /// Colliders that swallow falling drops.
    pub colliders: &'a ColliderSet,
    /// Length of the tick [s].
    pub dt: f64,
    /// Frame number now.
    pub frame: f64,
    /// Evaporation now [kg/m²/s].
    pub evaporation: f64,
    /// Drops outside are gone.
    pub bounds: crate::geometry::Bounds,
}

impl Sinks<'_> {
    /// Drops: growth, evaporation, absorption, dissolving. Returns whether any is gone: those have no
    /// mass left.
    pub fn apply_to_drops(&self, state: &mut DropsState) -> bool {
        let grows = self.params.sources.iter().any(|s| self.growth(s) > 0.0);
        let soaks = self.site.ground.kinds().iter().any(|k| k.absorption > 0.0);
        let dissolves = self.site.liquid.dissolving > 0.0;
        let least = self.params.sinks.least_mass;
        // Where nothing dries, only falling drops and the very small ones can go.
        let busy = grows || soaks || dissolves || self.evaporation > 0.0;
        let is_due = |drop: &Droplet| busy || drop.mass <= least || !drop.is_on_surface();
        if !any_drop(&state.drops, is_due) {
            return false;
        }
        let mut drops = std::mem::take(&mut state.drops);
        let mut gone = false;
        for drop in &mut drops {
            if is_due(drop) {
                self.grow(drop, state);
                self.shrink(drop, state);
                self.dissolve(drop, state);
                self.fall_out(drop, state);
                gone |= drop.mass <= 0.0;
            }
        }
        state.drops = drops;
        gone
    }

    fn growth(&self, source: &SourceParams) -> f64 {
        match source {
            SourceParams::Condensation(c) if self.frame <= c.until => c.growth * self.dt,
            _ => 0.0,
        }
    }

    fn grow(&self, drop: &mut Droplet, state: &mut DropsState) {
        let more = self.params.sources.get(drop.source as usize).map_or(0.0, |s| self.growth(s));
        if more > 0.0 && drop.is_on_surface() && !drop.bead {
            drop.mass += more;
            // Heavier: what held it may not hold it any more.
            drop.asleep = false;
            state.ledger.emitted.add(more);
        }
    }

    fn shrink(&self, drop: &mut Droplet, state: &mut DropsState) {
        let radius = self.site.liquid.radius(drop.mass);
        let area = std::f64::consts::PI * radius * radius;
        let triangle = drop.triangle();
        let heat = triangle.map_or(1.0, |t| f64::from(self.site.ground.heat[t as usize]));
        // Exposed: about half a sphere when sitting, all of it in the air.
        let exposed = if triangle.is_some() { 2.0 * area } else { 4.0 * area };
        let liquid = drop.mass - drop.solute;
        let mut dried = (self.evaporation * heat * exposed * self.dt).min(liquid);
        // The last of it goes at once: it would dry for ever.
        if drop.mass - dried <= self.params.sinks.least_mass {
            dried = liquid;
        }
        drop.mass -= dried;
        state.ledger.evaporated.add(dried);
        if let Some(t) = triangle {
            let kind = self.site.ground.of(t);
            let contact = area * kind.contact * kind.contact;
            let liquid = drop.mass - drop.solute;
            let soaked = (kind.absorption * contact * self.dt).min(liquid.max(0.0));
            drop.mass -= soaked;
            state.ledger.absorbed.add(soaked);
            if soaked > 0.0 {
                state.wet.soaked[t as usize] += soaked;
                state.wet.activate(t);
            }
            if drop.mass <= drop.solute * (1.0 + 1e-9) || drop.mass <= self.params.sinks.least_mass
            {
                // Nothing liquid is left: what was dissolved stays where it is.
                let left = drop.mass - drop.solute;
                state.ledger.evaporated.add(left);
                state.wet.stain[t as usize] += drop.solute;
                drop.mass = 0.0;
                drop.solute = 0.0;
            }
        } else if drop.mass <= self.params.sinks.least_mass {
            state.ledger.fallen.add(drop.mass);
            drop.mass = 0.0;
            drop.solute = 0.0;
        }
    }

    fn dissolve(&self, drop: &mut Droplet, state: &mut DropsState) {
        let rate = self.site.liquid.dissolving;
        let Some(t) = drop.triangle() else { return };
        let stain = &mut state.wet.stain[t as usize];
        if rate > 0.0 && *stain > 0.0 && drop.mass > 0.0 {
            let taken = *stain * -(-rate * self.dt).exp_m1();
            *stain -= taken;
            drop.asleep = false;
            drop.mass += taken;
            drop.solute += taken;
        }
    }

    fn fall_out(&self, drop: &mut Droplet, state: &mut DropsState) {
        let Phase::Air { position, .. } = drop.phase else { return };
        let p = position.as_vec3();
        let inside =
            p.is_finite() && p.cmpge(self.bounds.min).all() && p.cmple(self.bounds.max).all();
        let swallowed = self.colliders.all().iter().any(|c| c.contact(p, 1.0).distance < 0.0);
        if !inside || swallowed {
            state.ledger.fallen.add(drop.mass);
            state.ledger.drops_fallen += 1;
            drop.mass = 0.0;
            drop.solute = 0.0;
        }
    }

    /// Films dry; what was dissolved in them stays.
    pub fn apply_to_films(&self, state: &mut DropsState, holds: &mut [Hold]) {
        let wet = &mut state.wet;
        for i in 0..wet.active.len() {
            let t = wet.active[i];
            let index = t as usize;
            let heat = f64::from(self.site.ground.heat[index]);
            let left = film_left(&self.params.trails, self.params.seed, t, self.dt, heat);
            wet.wetness[index].iter_mut().for_each(|w| *w *= left);
            wet.soaked[index] *= left;
            holds[index] = self.site.ground.dry_holds[index].smoothed(wet.wetness[index]);
            let film = wet.film[index];
            if film > 0.0 {
                let solute = wet.film_solute[index].min(film);
                let mut lost = (film - solute) * (1.0 - left);
                let soaked =
                    self.site.ground.of(t).absorption * self.surface.facets[index].area() * self.dt;
                let soaked = soaked.min(film - solute - lost).max(0.0);
                if film - solute - lost - soaked < MIN_FILM {
                    lost = film - solute - soaked;
                    wet.stain[index] += solute;
                    wet.film_solute[index] = 0.0;
                    wet.film[index] = 0.0;
                } else {
                    wet.film[index] = film - lost - soaked;
                }
                state.ledger.evaporated.add(lost);
                state.ledger.absorbed.add(soaked);
                wet.soaked[index] += soaked;
            }
        }
        let DropsState { wet, .. } = state;
        let (wetness, film, is_active) = (&mut wet.wetness, &wet.film, &mut wet.is_active);
        let soaked = &mut wet.soaked;
        wet.active.retain(|&t| {
            let t = t as usize;
            let keep = !is_dry(wetness[t], film[t]) || soaked[t] > MIN_FILM;
            if !keep {
                soaked[t] = 0.0;
                wetness[t] = [0.0; 2];
                holds[t] = self.site.ground.dry_holds[t];
                is_active[t] = false;
            }
            keep
        });
    }
}
