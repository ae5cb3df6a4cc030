//! One step: follow the lines, measure them, refine the mesh under them, lift the folds.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::attributes::write_attributes;
use super::layer::WrinklesLayer;
use super::params::{Emit, WrinklesParams};
use super::rest::{Influence, ToolRest, WrinklesRest, influence};
use super::scratch::{Patch, Seen, WrinklesScratch};
use super::state::WrinklesState;
use crate::geometry::Mesh;
use crate::geometry::butterfly::{Normals, PatchSurface, RefinedMesh};
use crate::stage::Work;
use crate::tolerances::wrinkles as tolerances;

/// Refined points that one task computes: fewer, and handing them out costs more than the work.
const POINTS_PER_TASK: usize = 1024;

/// Follows what depends on the past: planes of live lines, lengths whose future nobody knows.
pub(super) fn follow(
    rest: &WrinklesRest,
    state: &mut WrinklesState,
    scratch: &mut WrinklesScratch,
    mesh: &Mesh,
) {
    let Patch { surface, line, planes, .. } = scratch.patch(rest);
    surface.measure(&mesh.positions);
    for (index, tool) in rest.tools.iter().enumerate() {
        // Others measure their length only: their planes are forgotten again.
        let kept = if tool.live { &mut state.planes[index] } else { &mut *planes };
        line.update(&tool.anchors, |p| surface.at(p), kept);
        if tool.grows {
            state.longest[index] = state.longest[index].max(line.length());
        }
    }
}

/// Shows the folds in the mesh.
pub(super) fn show(
    work: Work<'_, WrinklesLayer, &WrinklesState>,
    frame_number: f64,
    mesh: &mut Mesh,
) {
    let Work { params, rest, state, scratch } = work;
    let mut seen = std::mem::take(&mut scratch.seen);
    let patch = scratch.patch(rest);
    patch.surface.measure(&mesh.positions);
    // Only what tools move: the heights of all other points have never been anything but zero.
    clear(patch, rest);
    seen.clear();
    for index in 0..rest.tools.len() {
        seen.push(lift(patch, (params, rest, state), index, frame_number));
    }
    refine(patch, rest);
    if params.guard {
        let Patch { surface, lifted, heights, .. } = patch;
        // No fold is higher than this, so nothing farther away can be run into.
        let reach = rest.moved.iter().map(|&p| heights[p as usize]).fold(0.0, f32::max);
        surface.limit(lifted, reach, heights);
    }
    scratch.seen = seen;
    write_mesh(params, rest, scratch, mesh);
}

fn clear(patch: &mut Patch, rest: &WrinklesRest) {
    for &p in &rest.moved {
        patch.heights[p as usize] = 0.0;
    }
    patch.blends.fill(0.0);
}

/// Adds one tool's heights to those of the points that it moves, and finds the blend of refined points.
fn lift(
    patch: &mut Patch,
    (params, rest, state): (&WrinklesParams, &WrinklesRest, &WrinklesState),
    index: usize,
    frame_number: f64,
) -> Seen {
    let (tool, own) = (&rest.tools[index], &params.tools[index]);
    let surface = &patch.surface;
    // The state already stands where the line is: following it once more on a copy changes nothing.
    patch.planes.clone_from(&state.planes[index]);
    patch.line.update(&tool.anchors, |p| surface.at(p), &mut patch.planes);
    let full = if tool.grows { state.longest[index] } else { tool.full };
    let current = patch.line.length();
    let compression = ((full - current) / full).max(0.0);
    if compression <= 0.0 {
        return Seen::default();
    }
    tool.curve.deform(full, current, &mut patch.shape);
    let amount = own.amount.at(frame_number);
    // Never quite 0: a point that rises needs its normal.
    let blend = smoothstep(compression / tolerances::BLEND_COMPRESSION) as f32;
    let blend = blend.max(f32::MIN_POSITIVE);
    for &i in &tool.refined {
        let known = &mut patch.blends[i as usize];
        *known = known.max(blend);
    }
    if tool.live {
        find_live(patch, params, rest, index);
    }
    // A line that stays on the same points has had its coordinates computed once.
    let influences = if tool.live { &patch.live } else { &tool.influences };
    for i in influences {
        let height = tool.curve.sample(&patch.shape, i.parameter);
        // Added: where tools cross, folds lie over folds.
        patch.heights[i.point as usize] += amount as f32 * i.weight * height;
    }
    Seen { peak: amount * tool.curve.peak(&patch.shape), compression }
}

/// Finds the region of a tool where its line is now.
fn find_live(patch: &mut Patch, params: &WrinklesParams, rest: &WrinklesRest, index: usize) {
    let tool: &ToolRest = &rest.tools[index];
    let (surface, line) = (&patch.surface, &patch.line);
    patch.live.clear();
    patch.live.extend(tool.influences.iter().filter_map(|i| {
        let (p, n) = place(rest, surface, i.point);
        let (parameter, weight) = influence(&params.tools[index], &tool.curve, line, p, n)?;
        Some(Influence { point: i.point, parameter, weight })
    }));
}

/// Position and normal of a coarse or refined point.
fn place(rest: &WrinklesRest, surface: &PatchSurface, point: u32) -> (Vec3, Vec3) {
    let Some(i) = point.checked_sub(rest.topology.point_count() as u32) else {
        return surface.at(point);
    };
    let [position, normal] = rest.refined.stencils.evaluate_pair(i as usize, &surface.points);
    (position.into(), normal.normalize_or(Vec3A::Y).into())
}

fn smoothstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Base positions of refined points (flat, blending into butterfly) and their normals.
fn refine(patch: &mut Patch, rest: &WrinklesRest) {
    if patch.blends.iter().any(|&b| b > 0.0) {
        // Flat points need their corners only.
        patch.surface.refine(Normals::Smooth);
    }
    let (surface, blends) = (&patch.surface, &patch.blends);
    let points = patch.refined.par_iter_mut().zip(patch.refined_normals.par_iter_mut());
    let flat = |i: usize| {
        let place = rest.refined.places[i];
        let [a, b, c] = rest.topology.triangles[place.triangle as usize];
        let [u, v, w] = place.barycentric;
        let at = |p: u32| surface.points[p as usize][0];
        u * at(a) + v * at(b) + w * at(c)
    };
    points.enumerate().with_min_len(POINTS_PER_TASK).for_each(|(i, (position, normal))| {
        let blend = blends[i];
        if blend <= 0.0 {
            *position = flat(i).into();
            return;
        }
        let [smooth, out] = surface.refined(i);
        *normal = out.normalize_or(Vec3A::Y).into();
        *position = if blend < 1.0 { flat(i).lerp(smooth, blend) } else { smooth }.into();
    });
}

/// Writes the folded mesh.
fn write_mesh(
    params: &WrinklesParams,
    rest: &WrinklesRest,
    scratch: &mut WrinklesScratch,
    mesh: &mut Mesh,
) {
    scratch.active.clear();
    let all = params.emit == Emit::Static;
    scratch.active.extend(scratch.seen.iter().map(|s| all || s.compression > 0.0));
    let WrinklesScratch { patch: Some(patch), emitted, active, seen, compression } = scratch else {
        return;
    };
    // Nothing is squeezed: the mesh goes on as it came, with its own triangles.
    if !active.iter().any(|&a| a) {
        return;
    }
    let emitted = match &rest.emitted {
        Some(emitted) => emitted,
        None => {
            // One refined mesh for every set of tools that fold at once, made when it first occurs.
            if !emitted.contains_key(active.as_slice()) {
                // A map in order of its keys, and only looked up: no bit depends on when a set first occurred.
                emitted.insert(active.clone(), rest.emit(active));
            }
            &emitted[active.as_slice()]
        }
    };
    lift_mesh(patch, rest, emitted, mesh);
    if params.attributes {
        write_attributes(rest, patch, emitted, (seen, compression), mesh);
    }
}

/// Lifts the mesh's own vertices, adds the new ones and gives it the refined triangles.
fn lift_mesh(patch: &Patch, rest: &WrinklesRest, emitted: &RefinedMesh, mesh: &mut Mesh) {
    let coarse = rest.topology.point_count() as u32;
    for &(vertex, point) in &rest.moved_vertices {
        let height = patch.heights[point as usize];
        // What no wrinkle lifts keeps its very bits.
        if height != 0.0 {
            mesh.positions[vertex as usize] += height * patch.surface.at(point).1;
        }
    }
    mesh.positions.extend(emitted.new_points.iter().map(|&i| {
        let height = patch.heights[(coarse + i) as usize];
        let base = patch.refined[i as usize];
        if height == 0.0 { base } else { base + height * patch.refined_normals[i as usize] }
    }));
    emitted.adopt(mesh);
}
