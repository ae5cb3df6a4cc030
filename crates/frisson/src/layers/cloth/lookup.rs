//! What the parameters name, found in the scene.

use glam::DVec3;

use super::body::GarmentBody;
use super::params::ClothParams;
use super::refine::{RefineScratch, Refinement};
use super::rest::ClothRest;
use super::ridges::Ridges;
use super::sew::{self, Stitch};
use super::together::Part;
use crate::geometry::Mesh;
use crate::stage::{BuildContext, Clock, LayerError, Selection};
use crate::tolerances::cloth as limits;

/// The actor that wears the garment: it has both the garment and a body under it.
pub(super) fn wearer(params: &ClothParams, context: &BuildContext) -> Option<usize> {
    let garment = find_mesh(context, "on", &params.on).ok()?;
    let bodies: Vec<usize> =
        params.bodies.iter().filter_map(|b| find_mesh(context, "bodies", b).ok()).collect();
    (0..context.actors.all().len()).find(|&actor| {
        let meshes = context.actors.mesh_range(actor);
        meshes.contains(&garment) && bodies.iter().any(|b| meshes.contains(b))
    })
}

/// A cycle is led over to what was simulated before it.
pub(super) fn check_cycle(params: &ClothParams, clock: &Clock) -> Result<(), LayerError> {
    let Some(cycle) = &params.cycle else { return Ok(()) };
    let seconds = cycle.blend / clock.rate.fps();
    if seconds > limits::LONGEST_LEAD {
        let problem = format!("lasts {seconds} s, must be at most {} s", limits::LONGEST_LEAD);
        return Err(LayerError::parameter("cycle.blend", problem));
    }
    let first = clock.first_frame as f64 - f64::from(clock.preroll_frames);
    if cycle.from_frame - cycle.blend >= first {
        return Ok(());
    }
    let problem = format!(
        "is {}, but the shot begins at frame {first}: let the cycle begin `blend` = {} frames later or more",
        cycle.from_frame, cycle.blend
    );
    Err(LayerError::parameter("cycle.from_frame", problem))
}

/// The ridges that folds ask for, on the cloth's own mesh.
pub(super) fn find_ridges(
    params: &ClothParams,
    context: &BuildContext,
    (mesh_index, mesh): (usize, &Mesh),
    refinement: Option<&Refinement>,
) -> Result<Ridges, LayerError> {
    if context.ridges.is_empty() {
        return Ok(Ridges::default());
    }
    let reference = context.reference_mesh(mesh_index);
    let place = |a: &_| context.place_on("folds", mesh_index, &reference, a);
    let mut places = reference.positions.clone();
    // Folds are drawn on the cloth's own mesh; companions stand where they come in, out of their reach.
    places.extend(mesh.positions.iter().skip(places.len()).filter(|_| refinement.is_none()));
    if let Some(refinement) = refinement {
        refinement.positions(&reference.positions, &mut RefineScratch::default(), &mut places);
    }
    Ridges::build(context.ridges, places, &mesh.topology.triangles, place, params.moduli().warp)
}

/// A mesh of the frame.
pub(super) fn find_mesh(
    context: &BuildContext,
    field: &str,
    name: &str,
) -> Result<usize, LayerError> {
    let names = || context.frame.meshes.iter().map(|m| m.name.as_str());
    context.frame.mesh_index(name).ok_or_else(|| LayerError::unknown(field, "mesh", name, names()))
}

/// Vertices whose weight is at least a half.
pub(super) fn select_vertices(
    context: &BuildContext,
    mesh_index: usize,
    field: &str,
    selection: &Selection,
) -> Result<Vec<u32>, LayerError> {
    let weights = context.select(field, mesh_index, selection)?;
    let chosen: Vec<u32> =
        // Painted weights become yes or no here; what needs shades (soft pins, regions) asks for the weights themselves.
        (0..weights.len() as u32).filter(|&v| weights[v as usize] >= 0.5).collect();
    if chosen.is_empty() {
        return Err(LayerError::parameter(field, "selects no vertex of the mesh"));
    }
    Ok(chosen)
}

/// Stitches of all seams.
pub(super) fn find_stitches(
    params: &ClothParams,
    cloth: &ClothRest,
    at_rest: &[DVec3],
    select: impl Fn(&str, &Selection) -> Result<Vec<u32>, LayerError>,
) -> Result<Vec<Stitch>, LayerError> {
    let mut all = Vec::new();
    for (index, sewing) in params.sewing.iter().enumerate() {
        let line = |key: &str, s: &Selection| select(&format!("sewing[{index}].{key}"), s);
        let (from, to) = (line("from", &sewing.from)?, line("to", &sewing.to)?);
        let stitches =
            sew::stitch(sewing, cloth, at_rest, [&from, &to]).map_err(|(key, problem)| {
                LayerError::parameter(format!("sewing[{index}].{key}"), problem)
            })?;
        all.extend(stitches);
    }
    Ok(all)
}

/// Simple colliders that the cloth touches: all, or those that are named.
pub(super) fn find_colliders(
    params: &ClothParams,
    context: &BuildContext,
) -> Result<Vec<usize>, LayerError> {
    let all = context.colliders.all();
    // Not said: everything in the scene. An empty list means none.
    let Some(names) = &params.colliders else { return Ok((0..all.len()).collect()) };
    let find = |name: &String| {
        let existing = || all.iter().map(|c| c.name.as_str());
        all.iter()
            .position(|c| &c.name == name)
            .ok_or_else(|| LayerError::unknown("colliders", "collider", name, existing()))
    };
    names.iter().map(find).collect()
}

/// Of every vertex of a body how much of it stays outside of the garment; `None` where all of it is worn on.
fn find_beside(
    params: &ClothParams,
    context: &BuildContext,
    (mesh, name): (usize, &str),
) -> Result<Option<Vec<f32>>, LayerError> {
    let mut of_body = None;
    for (index, beside) in params.beside.iter().enumerate() {
        if !params.bodies.contains(&beside.body) {
            let problem = format!("{:?} is not one of `bodies`", beside.body);
            return Err(LayerError::parameter(format!("beside[{index}].body"), problem));
        }
        if beside.body != name {
            continue;
        }
        let count = context.frame.meshes[mesh].positions.len();
        let found = of_body.get_or_insert_with(|| vec![0.0f32; count]);
        match &beside.vertices {
            None => found.fill(1.0),
            Some(vertices) => {
                let field = format!("beside[{index}].vertices");
                select_vertices(context, mesh, &field, vertices)?;
                let weights = context.select(&field, mesh, vertices)?;
                found.iter_mut().zip(weights).for_each(|(f, w)| *f = f.max(w));
            }
        }
    }
    Ok(of_body)
}

/// Meshes under the cloth, without what is left out of them.
pub(super) fn find_bodies(
    params: &ClothParams,
    context: &BuildContext,
    (own, parts): (usize, &[Part]),
) -> Result<Vec<GarmentBody>, LayerError> {
    let mut bodies = Vec::new();
    for (index, name) in params.bodies.iter().enumerate() {
        let mesh = find_mesh(context, &format!("bodies[{index}]"), name)?;
        if mesh == own || parts.iter().any(|part| part.mesh == mesh) {
            let problem = "the cloth itself is not a body; use `self_collision`";
            return Err(LayerError::parameter(format!("bodies[{index}]"), problem));
        }
        let source = &context.frame.meshes[mesh];
        let mut left_out = vec![false; source.positions.len()];
        if let Some(parts) = &params.bodies_except {
            let chosen = select_vertices(context, mesh, "bodies_except", parts)?;
            chosen.iter().for_each(|&v| left_out[v as usize] = true);
        }
        let beside = find_beside(params, context, (mesh, name))?;
        // A triangle goes only where all its corners are left out: the seam to the rest of the body must stay closed.
        let is_felt = |t: &[u32; 3]| !t.iter().all(|&v| left_out[v as usize]);
        // On a body of few triangles one of them is all that there is between a shoulder and an elbow.
        let is_beside = |t: &[u32; 3]| {
            let share = |of: &Vec<f32>| t.iter().map(|&v| of[v as usize]).sum::<f32>() / 3.0;
            beside.as_ref().is_some_and(|of| share(of) > limits::BESIDE_SHARE)
        };
        if beside.is_some() {
            bodies.push(GarmentBody::outside(mesh, source, |t| is_felt(t) && is_beside(t)));
        }
        if source.topology.triangles.iter().any(|t| is_felt(t) && !is_beside(t)) {
            bodies.push(GarmentBody::of(mesh, source, |t| is_felt(t) && !is_beside(t)));
        }
    }
    Ok(bodies)
}
