//! What a tick leaves on the ground: smoothing and films, strips, beads.

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::pencil::Pencil;
use super::run::{self, Runs};
use super::run_groups::group_stays;
use super::scratch::DropsScratch;
use super::state::{DropsState, Phase};
use super::step::Tick;
use super::trail::{Strip, Wetting, paint};
use super::walk::{Place, walk};
use crate::tolerances::drops::CHUNK;

/// Distance at which a bead is left, in that at which it would merge with the drop that leaves it [-].
const CLEAR_OF: f64 = 1.05;

/// Smoothing and films, in the order of drops; then strips.
pub(super) fn wet(work: Tick, time: f64) {
    let (params, scratch) = (work.params, &mut *work.scratch);
    if !params.trails.enabled {
        return;
    }
    scratch.new_axes.clear();
    let mut wetting = Wetting {
        surface: &scratch.surface,
        site: &scratch.site,
        params: &params.trails,
        new_axes: &mut scratch.new_axes,
        least_mass: params.sinks.least_mass,
    };
    let heirs = &scratch.runs.heirs;
    // One after the other: two drops may share a triangle, and what the first lays the second need not.
    for stay in run::stays(&scratch.runs, &scratch.merger) {
        // What has merged since pays from the drop that it has become.
        let payer = heirs.get(stay.drop as usize).copied().unwrap_or(stay.drop);
        wetting.apply(work.state, stay, payer);
    }
    if params.trails.mesh || work.state.image.is_some() {
        draw_strips(work, time);
    }
    turn_axes(work.state, work.scratch);
}

/// Draws the strips on, paints those that are done, and keeps their pieces.
fn draw_strips(work: Tick, time: f64) {
    let (params, seed) = (&work.params.trails, work.params.seed);
    let DropsScratch { surface, site, runs, merger, strips, .. } = &mut *work.scratch;
    let pencil = Pencil { surface, site, params, seed };
    let Runs { traces, starts, heirs, .. } = &*runs;
    let grouped = &merger.grouped;
    let DropsState { drops, image, trail, .. } = &mut *work.state;
    let Some((last, lists)) = strips.start(traces.len() + 1).split_last_mut() else {
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
    for stay in group_stays(runs, merger) {
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
    if let Some(image) = image {
        strips.pieces().for_each(|p| paint(image, (&site.uvs, params), p, time));
    }
    if params.mesh {
        trail.pieces.extend(strips.pieces().copied());
    }
}

/// What drops that are gone have drawn stays.
pub(super) fn end_strips(work: Tick, time: f64) {
    let (params, seed) = (&work.params.trails, work.params.seed);
    let DropsScratch { surface, site, .. } = &*work.scratch;
    let pencil = Pencil { surface, site, params, seed };
    let DropsState { drops, trail, image, .. } = &mut *work.state;
    // Cut into the list that lasts, and taken off again where only the image wants them: no second list.
    let first = trail.pieces.len();
    for drop in drops.iter_mut().filter(|d| d.mass <= 0.0) {
        pencil.close(drop, &mut trail.pieces);
    }
    if let Some(image) = image {
        trail.pieces[first..].iter().for_each(|p| paint(image, (&site.uvs, params), p, time));
    }
    if !params.mesh {
        trail.pieces.truncate(first);
    }
}

/// Triangles whose first trail has set their axes: drops on them keep their velocity.
fn turn_axes(state: &mut DropsState, scratch: &mut DropsScratch) {
    if scratch.new_axes.is_empty() {
        return;
    }
    // Of several drops that cross a triangle first in one tick, the first in their order sets its axis.
    scratch.new_axes.sort_by_key(|(t, _)| *t);
    scratch.new_axes.dedup_by_key(|(t, _)| *t);
    for &(t, axis) in &scratch.new_axes {
        let old = scratch.surface.facets[t as usize];
        scratch.surface.axes[t as usize] = axis;
        scratch.surface.refresh_facet(t as usize);
        state.axes.push((t, axis));
        let new = &scratch.surface.facets[t as usize];
        scratch.old_axes.push((t, DVec2::new(old.e2.dot(new.e2), old.e2.dot(new.e3))));
    }
    for drop in &mut state.drops {
        if let Phase::Face { triangle, velocity, .. } = &mut drop.phase
            && let Ok(i) = scratch.old_axes.binary_search_by_key(triangle, |o| o.0)
        {
            *velocity = scratch.old_axes[i].1.rotate(*velocity);
        }
    }
    scratch.old_axes.clear();
}

/// On repelling ground a running drop leaves small ones behind.
pub(super) fn leave_beads(work: Tick, time: f64) {
    let (params, scratch) = (work.params, &*work.scratch);
    let (surface, site) = (&scratch.surface, &scratch.site);
    let Some(beads) = &params.trails.beads else { return };
    let count = work.state.drops.len();
    for i in 0..count {
        let drop = &mut work.state.drops[i];
        let Phase::Face { triangle, weights, velocity, .. } = drop.phase else { continue };
        let kind = site.ground.of(triangle);
        let radius = site.liquid.radius(drop.mass);
        let mass = drop.mass * beads.share;
        // By the way since the last one, not by time: the same row at any speed.
        let due = drop.since_bead > beads.spacing * radius;
        if drop.bead || !due || kind.contact_angle_deg < beads.above_deg {
            continue;
        }
        if mass <= params.sinks.least_mass || velocity == DVec2::ZERO {
            continue;
        }
        drop.since_bead = 0.0;
        // Far enough behind not to be swallowed again at once.
        let small = site.liquid.radius(mass);
        let back = CLEAR_OF * kind.widest * (radius + small) * params.merging.reach.max(1.0);
        let place = Place { triangle, weights, side: drop.side };
        let way = -velocity.normalize_or_zero() * back;
        let (reached, whole) = walk(surface, place, way, &mut DVec2::ZERO.clone());
        // Behind the border of the mesh there is nowhere to leave it.
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
        // It has to look once at what holds it.
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
        work.state.add(bead);
    }
}
