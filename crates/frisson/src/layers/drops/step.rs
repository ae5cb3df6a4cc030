//! One tick: the surface moves, drops appear, run, merge, shrink, and are shown.

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::DropsLayer;
use super::run::Runs;
use super::sinks::Sinks;
use super::source::Emission;
use super::state::{Drop, Phase, State};
use super::trail::{Pencil, Strip, Wetting, paint};
use super::world::World;
use crate::geometry::Bounds;
use crate::stage::{Frame, LayerError, StepContext};
use crate::tolerances::drops::CHUNK;

impl DropsLayer {
    pub(super) fn tick(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        self.update_surface(context, frame)?;
        if context.dt > 0.0 {
            let merges = self.run(context);
            self.wet(context.time);
            if merges > 0 {
                self.state.drops.retain(|d| d.mass > 0.0);
            }
            self.leave_beads(context.time);
            self.drain(context);
        }
        self.emit(context);
        self.check(context)
    }

    fn update_surface(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        if self.restored {
            // A checkpoint was loaded: where the surface was is known, where it is comes now.
            self.restored = false;
            self.surface.points.clone_from(&self.state.points);
            for &(t, axis) in &self.state.axes {
                self.surface.axes[t as usize] = axis;
            }
            self.surface.facets.clear();
        }
        let mut positions: Vec<&[glam::Vec3]> = Vec::with_capacity(self.meshes.len());
        for (&mesh, &needed) in self.meshes.iter().zip(&self.vertex_counts) {
            let points = &frame.meshes[mesh].positions;
            if points.len() < needed {
                return Err(LayerError::Other(format!(
                    "mesh {:?} lost vertices: drops need triangles that stay. Of a coat, give \
                     its actor in `on` and the coat in `shown_on`",
                    frame.meshes[mesh].name
                )));
            }
            positions.push(points);
        }
        let teleport = self.params.air.teleport_speed * context.dt.max(1e-3);
        self.surface.update(&positions, teleport);
        if context.dt == 0.0 {
            self.surface.moved = false;
            let points = &self.surface.points;
            self.surface.previous.clone_from(points);
        }
        self.moved_since_shown |= self.surface.moved;
        if self.surface.moved || self.state.points.len() != self.surface.points.len() {
            self.state.points.clone_from(&self.surface.points);
        }
        Ok(())
    }

    /// The world as drops see it this tick.
    pub(super) fn world<'a>(&'a self, context: &'a StepContext) -> World<'a> {
        World {
            surface: &self.surface,
            ground: &self.rest.ground,
            bumps: &self.bumps,
            liquid: &self.rest.liquid,
            forces: context.forces,
            uniform: self.uniform.then(|| context.forces.gravity.as_dvec3()),
            colliders: Some(context.colliders),
            guides: &self.rest.guides,
            source_drags: &self.rest.source_drags,
            time: context.time,
            tick: context.dt,
            scene_drag: f64::from(context.forces.drag_rate(context.time)),
            windy: context.forces.has_wind(),
            tracks: self.params.tracks,
            bounds: self.bounds(),
        }
    }

    fn bounds(&self) -> Bounds {
        let bounds = self.surface.bounds().grown(self.params.air.margin);
        match self.rain_bounds {
            Some(rain) => bounds.union(rain),
            None => bounds,
        }
    }

    /// Smoothing and films, in the order of drops; then strips.
    fn wet(&mut self, time: f64) {
        if !self.params.trails.enabled {
            return;
        }
        self.new_axes.clear();
        let mut wetting = Wetting {
            surface: &self.surface,
            rest: &self.rest,
            params: &self.params.trails,
            new_axes: &mut self.new_axes,
            least_mass: self.params.sinks.least_mass,
        };
        let heirs = &self.runs.heirs;
        for stay in Self::stays(&self.runs, &self.merger) {
            let payer = heirs.get(stay.drop as usize).copied().unwrap_or(stay.drop);
            wetting.apply(&mut self.state, stay, payer);
        }
        if self.params.trails.mesh || self.state.image.is_some() {
            self.draw_strips(time);
        }
        self.turn_axes();
    }

    /// Draws the strips on, paints those that are done, and keeps their pieces.
    fn draw_strips(&mut self, time: f64) {
        let (params, seed) = (&self.params.trails, self.params.seed);
        let pencil = Pencil { surface: &self.surface, rest: &self.rest, params, seed };
        let Runs { traces, starts, heirs, .. } = &self.runs;
        let grouped = &self.merger.grouped;
        let drops = &mut self.state.drops;
        let Some((last, lists)) = self.strips.start(traces.len() + 1).split_last_mut() else {
            return;
        };
        // Drops that ran once, in chunks of their own; then the few that may have met.
        let chunks = drops[..starts.len()].par_chunks_mut(CHUNK).zip(traces).zip(lists);
        chunks.enumerate().for_each(|(chunk, ((drops, trace), pieces))| {
            for stay in &trace.stays {
                let drop = stay.drop as usize;
                if grouped.is_empty() || !grouped[drop] {
                    pencil.draw(&mut drops[drop - chunk * CHUNK], stay, pieces);
                }
            }
            for drop in drops.iter_mut().filter(|d| !d.is_on_surface()) {
                pencil.close(drop, pieces);
            }
        });
        for stay in Self::group_stays(&self.runs, &self.merger) {
            pencil.draw(&mut drops[stay.drop as usize], stay, last);
        }
        for (i, &heir) in heirs.iter().enumerate().filter(|(i, h)| *i as u32 != **h) {
            // What is dissolved in the heir is what was dissolved in it.
            let (mass, solute) = (drops[heir as usize].mass, drops[heir as usize].solute);
            let drop = &mut drops[i];
            let gone = (drop.mass, drop.solute);
            (drop.mass, drop.solute) = (mass, solute);
            pencil.close(drop, last);
            (drop.mass, drop.solute) = gone;
        }
        if let Some(image) = &mut self.state.image {
            self.strips.pieces().for_each(|p| paint(image, &self.rest.uvs, p, time));
        }
        if self.params.trails.mesh {
            self.state.trail.pieces.extend(self.strips.pieces().copied());
        }
    }

    /// What drops that are gone have drawn stays.
    fn end_strips(&mut self, time: f64) {
        let (params, seed) = (&self.params.trails, self.params.seed);
        let pencil = Pencil { surface: &self.surface, rest: &self.rest, params, seed };
        let State { drops, trail, image, .. } = &mut self.state;
        let first = trail.pieces.len();
        for drop in drops.iter_mut().filter(|d| d.mass <= 0.0) {
            pencil.close(drop, &mut trail.pieces);
        }
        if let Some(image) = image {
            trail.pieces[first..].iter().for_each(|p| paint(image, &self.rest.uvs, p, time));
        }
        if !params.mesh {
            trail.pieces.truncate(first);
        }
    }

    /// Triangles whose first trail has set their axes: drops on them keep their velocity.
    fn turn_axes(&mut self) {
        if self.new_axes.is_empty() {
            return;
        }
        self.new_axes.sort_by_key(|(t, _)| *t);
        self.new_axes.dedup_by_key(|(t, _)| *t);
        for &(t, axis) in &self.new_axes {
            let old = self.surface.facets[t as usize];
            self.surface.axes[t as usize] = axis;
            self.surface.refresh_facet(t as usize);
            self.state.axes.push((t, axis));
            let new = &self.surface.facets[t as usize];
            self.old_axes.push((t, DVec2::new(old.e2.dot(new.e2), old.e2.dot(new.e3))));
        }
        for drop in &mut self.state.drops {
            if let Phase::Face { triangle, velocity, .. } = &mut drop.phase
                && let Ok(i) = self.old_axes.binary_search_by_key(triangle, |o| o.0)
            {
                *velocity = self.old_axes[i].1.rotate(*velocity);
            }
        }
        self.old_axes.clear();
    }

    pub(super) fn add(&mut self, mut drop: Drop) {
        drop.id = self.state.next_id;
        self.state.next_id += 1;
        self.state.drops.push(drop);
    }

    /// On repelling ground a running drop leaves small ones behind.
    fn leave_beads(&mut self, time: f64) {
        let Some(beads) = self.params.trails.beads.clone() else { return };
        let count = self.state.drops.len();
        for i in 0..count {
            let drop = &mut self.state.drops[i];
            let Phase::Face { triangle, weights, velocity, .. } = drop.phase else { continue };
            let kind = self.rest.ground.of(triangle);
            let radius = self.rest.liquid.radius(drop.mass);
            let mass = drop.mass * beads.share;
            let due = drop.since_bead > beads.spacing * radius;
            if drop.bead || !due || kind.contact_angle_deg < beads.above_deg {
                continue;
            }
            if mass <= self.params.sinks.least_mass || velocity == DVec2::ZERO {
                continue;
            }
            drop.since_bead = 0.0;
            // Far enough behind not to be swallowed again at once.
            let small = self.rest.liquid.radius(mass);
            let back = 1.05 * kind.widest * (radius + small) * self.params.merging.reach.max(1.0);
            let place = super::walk::Place { triangle, weights, side: drop.side };
            let way = -velocity.normalize_or_zero() * back;
            let (reached, whole) =
                super::walk::walk(&self.surface, place, way, &mut DVec2::ZERO.clone());
            if !whole {
                continue;
            }
            let share = mass / drop.mass;
            let mut bead = *drop;
            bead.mass = mass;
            bead.solute = drop.solute * share;
            drop.mass -= mass;
            drop.solute -= bead.solute;
            bead.bead = true;
            bead.asleep = false;
            bead.born = time;
            bead.distance = 0.0;
            bead.strip = Strip::NONE;
            bead.side = reached.side;
            bead.stretch = DVec2::ZERO;
            bead.inertia = DVec3::ZERO;
            bead.phase = Phase::Face {
                triangle: reached.triangle,
                weights: reached.weights,
                velocity: DVec2::ZERO,
                standing: 0,
            };
            self.add(bead);
        }
    }

    fn drain(&mut self, context: &StepContext) {
        let frame = context.frame_number();
        let sinks = Sinks {
            params: &self.params,
            rest: &self.rest,
            surface: &self.surface,
            colliders: context.colliders,
            dt: context.dt,
            frame,
            evaporation: self.params.sinks.evaporation.at(frame).max(0.0),
            bounds: self.bounds(),
        };
        let gone = sinks.apply_to_drops(&mut self.state);
        sinks.apply_to_films(&mut self.state, &mut self.bumps);
        if gone {
            self.end_strips(context.time);
            self.state.drops.retain(|d| d.mass > 0.0);
        }
        if let Some(image) = &mut self.state.image
            && context.is_output
        {
            let elapsed = 1.0 / context.clock.rate.fps();
            image.dry(elapsed / self.params.trails.drying, self.params.trails.unevenness);
        }
        let trails = &self.params.trails;
        if self.state.trail.sweep(context.time, trails.drying, trails.max_strips) {
            self.strip_mesh.forget();
        }
    }

    fn emit(&mut self, context: &StepContext) {
        let fps = context.clock.rate.fps();
        let end = context.frame_number();
        let emission = Emission {
            rest: &self.rest,
            surface: &self.surface,
            // A frame's own tick must count whatever the rounding of its time.
            frames: (end - context.dt * fps + 1e-9, end + 1e-9),
            first: context.dt == 0.0,
            time: context.time,
            fps,
            dt: context.dt,
            seed: self.params.seed,
        };
        let room = self.params.max_drops.map_or(usize::MAX, |m| m as usize);
        let mut new = std::mem::take(&mut self.new_drops);
        new.clear();
        for (i, source) in self.params.sources.iter().enumerate() {
            if self.state.drops.len() + new.len() < room {
                let State { sources, off_mesh, .. } = &mut self.state;
                emission.emit(i, source, &mut sources[i], off_mesh, &mut new);
            }
        }
        for drop in &mut new {
            drop.solute = drop.mass * self.params.deposit.concentration;
            self.state.ledger.emitted.add(drop.mass);
            self.state.ledger.solute_in.add(drop.solute);
            self.state.ledger.drops_emitted += 1;
        }
        for &drop in &new {
            self.add(drop);
        }
        self.new_drops = new;
    }

    fn check(&self, context: &StepContext) -> Result<(), LayerError> {
        match self.runs.traces.iter().find_map(|t| t.bad) {
            None => Ok(()),
            Some(element) => Err(LayerError::NonFinite {
                what: "drop",
                element: element as usize,
                frame: context.frame,
            }),
        }
    }
}
