//! From parameters to rest data: roots, bodies, style.

use glam::Vec3;

use super::fit;
use super::head::Head;
use super::params::HairParams;
use super::presets;
use super::rest::{HairRest, RootPose, WispRoot};
use super::scratch::{Bodies, Places};
use super::style::{self, StyleScene};
use crate::geometry::{Mesh, TriangleBvh, centerlines};
use crate::stage::{BuildContext, LayerError, SurfaceMotion};

/// Builds with what the preset says put in.
pub(super) fn build_dressed(
    params: &HairParams,
    context: &BuildContext,
) -> Result<HairRest, LayerError> {
    let mesh = context.frame.mesh_index(&params.on);
    let (Some(mesh), true) = (mesh, params.style.preset.is_some()) else {
        return build(params, context);
    };
    let weights = super::roots::scalp_weights(params, context, mesh)?;
    let fall = context.forces.acceleration(Vec3::ZERO, context.frame.time);
    let up = (-fall).normalize_or(Vec3::Y);
    let head = Head::of(&context.frame.meshes[mesh], &weights, up);
    let all = presets::dressed(params, &head);
    let mut rest = build(all.as_ref().unwrap_or(params), context)?;
    rest.head = Some(head);
    Ok(rest)
}

/// Plants the hair, fits bodies to its wearer and styles it.
pub(super) fn build(params: &HairParams, context: &BuildContext) -> Result<HairRest, LayerError> {
    let frame = context.frame;
    let names = || frame.meshes.iter().map(|m| m.name.as_str());
    let find = |parameter: &str, name: &str| {
        frame
            .mesh_index(name)
            .ok_or_else(|| LayerError::unknown(parameter.to_owned(), "mesh", name, names()))
    };
    let mesh = find("on", &params.on)?;
    let carded;
    let params = match &params.style.cards {
        Some(name) => {
            let cards = &frame.meshes[find("style.cards", name)?];
            carded = with_cards(params, cards, &frame.meshes[mesh])?;
            &carded
        }
        None => params,
    };
    for name in &params.body.meshes {
        find("body.meshes", name)?;
    }
    for name in params.body.colliders.iter().flatten() {
        if context.colliders.get(name).is_none() {
            let known = context.colliders.all().iter().map(|c| c.name.as_str());
            return Err(LayerError::unknown("body.colliders", "collider", name, known));
        }
    }
    let mut rest = super::roots::build_rest(params, context, mesh)?;
    let wearer = fit::actor_of_mesh(context.actors, mesh);
    rest.fitted = match wearer.and_then(|a| Some((a, context.actors.all()[a].character()?))) {
        Some((actor, character)) if params.body.fit_ellipsoids => {
            fit::fit_ellipsoids(actor, character, params.body.max_ellipsoids as usize)
        }
        None if params.body.fit_ellipsoids => {
            let problem = "this mesh belongs to no character: name colliders or meshes instead";
            return Err(LayerError::parameter("body.fit_ellipsoids", problem));
        }
        _ => Vec::new(),
    };
    rest.meshes = vec![SurfaceMotion::default(); params.body.meshes.len()];
    for (surface, name) in rest.meshes.iter_mut().zip(&params.body.meshes) {
        surface.update(&frame.meshes[find("body.meshes", name)?], 0.0);
    }
    dress(params, &mut rest, context, mesh)?;
    Ok(rest)
}

/// Points of a guide that is made from a card.
const CARD_POINTS: usize = 24;

/// The parameters with a guide for every card of a mesh, from the end that is nearer to the skin.
fn with_cards(params: &HairParams, cards: &Mesh, skin: &Mesh) -> Result<HairParams, LayerError> {
    let bvh = TriangleBvh::build(&skin.positions, &skin.topology.triangles);
    let height = |p: &Vec3| bvh.closest_point(*p, f32::INFINITY).map_or(0.0, |hit| hit.distance);
    let mut params = params.clone();
    for mut line in centerlines(cards, CARD_POINTS) {
        if line.last().map(height) < line.first().map(height) {
            line.reverse();
        }
        params.style.guides.push(line.into_iter().map(|p| p.to_array()).collect());
    }
    if params.style.guides.is_empty() {
        let problem = format!("mesh {:?} has no piece that is long enough for a guide", cards.name);
        return Err(LayerError::parameter("style.cards", problem));
    }
    Ok(params)
}

/// Styles the hair in the pose of the start.
fn dress(
    params: &HairParams,
    rest: &mut HairRest,
    context: &BuildContext,
    mesh: usize,
) -> Result<(), LayerError> {
    let frame = context.frame;
    let mut bodies = Bodies::default();
    let around = (context.colliders, context.actors);
    bodies.gather((params, rest), around, frame.time, params.substeps as usize);
    let mut places = Places::default();
    places.find(rest, &frame.meshes[mesh])?;
    let mut poses = Vec::new();
    places.poses(rest, &frame.meshes[mesh], &mut poses);
    let meshes = std::mem::take(&mut rest.meshes);
    let scene = StyleScene {
        params,
        poses: &poses,
        bodies: &bodies.posed,
        meshes: &meshes,
        forces: context.forces,
        time: frame.time,
        tick: context.clock.tick_seconds(),
    };
    check_roots(rest, &scene)?;
    super::ties::check(rest, &scene)?;
    let mut wisps = style::build_wisps(rest, &scene);
    style::style(rest, &mut wisps, &scene);
    (rest.styled, rest.styled_roots, rest.meshes) = (wisps, poses, meshes);
    Ok(())
}

/// A collider that swallows every root is a mistake in the scene; some swallowed roots are a warning.
fn check_roots(rest: &HairRest, scene: &StyleScene) -> Result<(), LayerError> {
    let bodies = scene.bodies_at_rest();
    let swallowed = |(root, pose): (&WispRoot, &RootPose)| {
        let tip = pose.skin + pose.direction * root.height;
        bodies.iter().any(|b| b.distance(tip).0 < -0.02)
    };
    let count = rest.roots.iter().zip(scene.poses).filter(|&pair| swallowed(pair)).count();
    if count == rest.roots.len() {
        return Err(LayerError::parameter(
            "body.colliders",
            "a collider swallows every root (by more than 2 cm): shrink it or leave it out",
        ));
    }
    Ok(())
}
