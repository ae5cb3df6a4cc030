//! The state as curves in the frame.

use glam::Vec3;

use super::layer::HairLayer;
use super::params::HairParams;
use super::rest::HairRest;
use super::scratch::{HairScratch, Places};
use super::state::HairState;
use super::strands::{self, StrandInput};
use crate::geometry::Mesh;
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
    scratch.bodies.gather((params, rest), around, context.time, 1);
    deal_to_roots(rest, state, scratch);
    let Frame { meshes, curves, .. } = frame;
    let mesh = &meshes[mesh];
    let index = curves.iter().position(|c| c.name == params.name).unwrap_or(curves.len());
    if index == curves.len() {
        curves.push(Curves::default());
    }
    if !fits(&curves[index], params, rest) {
        curves[index] = build_curves(params, rest, &scratch.places, mesh);
    }
    let input = strand_input((params, rest), state, scratch, mesh);
    let Curves { points, velocities, .. } = &mut curves[index];
    strands::write_strands(&input, points, velocities);
    Ok(())
}

/// Whether what stays the same of the curves is what the parameters say, which may have changed.
fn fits(curves: &Curves, params: &HairParams, rest: &HairRest) -> bool {
    let (strands, hairs) = (&params.strands, rest.hair_roots.len());
    let points = strands.points as usize;
    let ends = [0, points - 1].map(|k| strands::taper(strands, k));
    curves.counts.len() == hairs
        && curves.points.len() == points * hairs
        && curves.velocities.is_empty() != (strands.velocities && hairs > 0)
        && curves.color == Vec3::from_array(strands.color)
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
fn deal_to_roots(rest: &HairRest, state: &HairState, scratch: &mut HairScratch) {
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
    StrandInput {
        rest,
        params: &params.strands,
        seed: params.seed,
        wisps: &state.wisps,
        of_root: &scratch.of_root,
        skin: &scratch.skin,
        bodies: scratch.bodies.at_the_end(),
        meshes: &scratch.surfaces.all,
        margin: params.body.margin,
        // Nothing is known of the hairs of another build.
        before: Some(&state.past)
            .filter(|p| p.seconds > 0.0 && p.skin.len() == rest.hair_roots.len()),
        by_length: params.stretch <= 0.0,
    }
}
