//! The state as curves in the frame.

use glam::Vec3;
use rayon::prelude::*;

use super::layer::HairLayer;
use super::params::HairParams;
use super::rest::{HairRest, SkinPoint};
use super::scratch::{HairScratch, Places};
use super::state::HairState;
use super::strands::{self, StrandInput};
use super::thinning::Thinning;
use crate::geometry::{AttributeValues, Mesh};
use crate::stage::{Curves, Frame, LayerError, StepContext, Work};

/// Writes all hairs into the frame.
pub(super) fn write_curves(
    work: Work<'_, HairLayer, &HairState>,
    context: &StepContext,
    frame: &mut Frame,
) -> Result<(), LayerError> {
    let Work { params, rest, state, scratch } = work;
    let mesh = super::step::find_mesh(params, frame)?;
    scratch.places.find(rest, &frame.meshes[mesh])?;
    scratch.surfaces.show((params, rest), frame);
    let around = (context.colliders, context.actors);
    // One sub-step, at the very moment that is shown: hairs are kept out of what the picture has, not of where it was a
    // tick ago.
    scratch.bodies.gather((params, rest), around, context.time, 1);
    deal_to_roots(rest, state, scratch);
    let Frame { meshes, curves, .. } = frame;
    let mesh = &meshes[mesh];
    let index = curves.iter().position(|c| c.name == params.name).unwrap_or(curves.len());
    if index == curves.len() {
        curves.push(Curves::default());
    }
    let thinning = Thinning::of(&params.strands, &state.roots);
    let shown = &mut curves[index];
    // Nearly always: then hairs are written where they are shown, without a copy.
    if thinning.is_none() {
        write_all((params, rest), state, scratch, mesh, shown);
    } else {
        let mut all = std::mem::take(&mut scratch.all);
        write_all((params, rest), state, scratch, mesh, &mut all);
        thinning.gather(&all, params.strands.points as usize, shown);
        scratch.all = all;
    }
    Ok(())
}

/// Writes the hairs that are shown to where they stand among all.
fn write_all(
    (params, rest): (&HairParams, &HairRest),
    state: &HairState,
    scratch: &mut HairScratch,
    mesh: &Mesh,
    out: &mut Curves,
) {
    if !fits(out, params, rest) {
        *out = build_curves(params, rest, &scratch.places, mesh);
    }
    let mut guesses = std::mem::take(&mut scratch.guesses);
    let input = strand_input((params, rest), state, scratch, mesh);
    strands::write_strands(&input, &mut guesses, &mut out.points, &mut out.velocities);
    scratch.guesses = guesses;
    if let Some(AttributeValues::Vector(normals)) =
        out.attributes.first_mut().map(|a| &mut a.values)
    {
        let hairs = normals.par_iter_mut().zip(&scratch.places.hairs).with_min_len(256);
        hairs.for_each(|(normal, place)| *normal = skin_normal(place, mesh));
    }
}

/// Unit normal of the skin at a place: of its corners, or of its triangle where they have none.
fn skin_normal(place: &SkinPoint, mesh: &Mesh) -> Vec3 {
    let corners = mesh.topology.triangles[place.triangle as usize];
    let flat = || super::rest::triangle_axes(corners, &mesh.positions).z_axis;
    if mesh.normals.len() != mesh.positions.len() {
        return flat();
    }
    let normals = (0..3).map(|k| place.barycentric[k] * mesh.normals[corners[k] as usize]);
    normals.sum::<Vec3>().try_normalize().unwrap_or_else(flat)
}

/// Whether what stays the same of the curves is what the parameters say, which may have changed.
fn fits(curves: &Curves, params: &HairParams, rest: &HairRest) -> bool {
    let (strands, hairs) = (&params.strands, rest.hair_roots.len());
    let points = strands.points as usize;
    let ends = [0, points - 1].map(|k| strands::taper(strands, k));
    curves.counts.len() == hairs
        && curves.points.len() == points * hairs
        && curves.velocities.is_empty() != (strands.velocities && hairs > 0)
        && curves.color == rest.color(strands)
        && curves.name == params.name
        && curves.attributes.is_empty() != strands.root_normals
        && (hairs == 0 || [curves.widths[0], curves.widths[points - 1]] == ends)
}

fn build_curves(params: &HairParams, rest: &HairRest, places: &Places, mesh: &Mesh) -> Curves {
    let topology = &mesh.topology;
    strands::build_curves(
        (&params.name, &params.strands),
        rest,
        &places.hairs,
        &topology.uvs,
        &topology.triangles,
    )
}

/// Lists the wisps of every root.
pub(super) fn deal_to_roots(rest: &HairRest, state: &HairState, scratch: &mut HairScratch) {
    let of_root = &mut scratch.of_root;
    of_root.resize_with(rest.roots.len(), Vec::new);
    of_root.iter_mut().for_each(Vec::clear);
    for (index, wisp) in state.wisps.iter().enumerate() {
        of_root[wisp.root as usize].push(index as u32);
    }
}

/// What the strands are made from.
pub(super) fn strand_input<'a>(
    (params, rest): (&'a HairParams, &'a HairRest),
    state: &'a HairState,
    scratch: &'a mut HairScratch,
    mesh: &Mesh,
) -> StrandInput<'a> {
    scratch.places.hair_roots(mesh, &mut scratch.skin);
    scratch.air_around.begin(&scratch.surfaces.all, &scratch.skin, (params, rest));
    StrandInput {
        rest,
        params: &params.strands,
        seed: params.seed,
        wisps: &state.wisps,
        of_root: &scratch.of_root,
        skin: &scratch.skin,
        bodies: scratch.bodies.at_the_end(),
        meshes: &scratch.surfaces.all,
        air: &scratch.air_around.all,
        margin: params.body.margin,
        // Nothing is known of the hairs of another build.
        before: Some(&state.past)
            .filter(|p| p.seconds > 0.0 && p.skin.len() == rest.hair_roots.len()),
        by_length: params.stretch <= 0.0,
        thinning: Thinning::of(&params.strands, &state.roots),
    }
}
