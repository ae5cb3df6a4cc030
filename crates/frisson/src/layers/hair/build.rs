//! From parameters to rest data: roots, bodies, style.

use glam::{DVec3, Vec3};

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
    // Here, not in `validate`: a preset's lengths are in radii of the head, which is known only now.
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
    // Meshes as they stand in the first frame: styling happens there, and a step that starts elsewhere restores its own.
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
        // A card does not say which of its ends is the root; hair grows from the skin.
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
    // Taken out so that styling may change the roots while it reads the meshes.
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
    // Before any styling: what is wrong here would take seconds to go wrong there.
    check_roots(rest, &scene)?;
    super::ties::check(rest, &scene)?;
    let mut wisps = style::build_wisps(rest, &scene);
    style::style(rest, &mut wisps, &scene);
    (rest.styled, rest.styled_roots, rest.meshes) = (wisps, poses, meshes);
    Ok(())
}

/// A root deeper than this in a body is swallowed by it [m]: fitted ellipsoids are off by a centimetre.
const SWALLOWED: f32 = 0.02;

/// A collider that swallows every root is a mistake in the scene; where it swallows some, hair comes out of it (`Heights`).
fn check_roots(rest: &HairRest, scene: &StyleScene) -> Result<(), LayerError> {
    let bodies = scene.bodies_at_rest();
    let swallowed = |(root, pose): (&WispRoot, &RootPose)| {
        let tip = pose.skin + pose.direction * root.height;
        bodies.iter().any(|b| b.distance(tip).0 < -SWALLOWED)
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

/// Height of particle 1 as a share of a free segment [-], and the most it may be [m]: high enough that the first
/// segment has a direction of its own, low enough that hair seems to leave the skin itself.
const FIRST_SHARE: f32 = 0.35;
const HIGHEST: f32 = 0.008;

impl WispRoot {
    /// Fills in masses, radii and stiffnesses from the parameters.
    pub fn measure(&mut self, params: &HairParams, radius: f32, root_radius: f32) {
        let n = params.particles as usize;
        let free = (n - 2) as f32;
        self.height = (FIRST_SHARE * self.length / (free + FIRST_SHARE)).min(HIGHEST);
        self.segment = (self.length - self.height) / free;
        self.radii = (0..n)
            .map(|i| {
                let at = self.height + (i as f32 - 1.0) * self.segment;
                let profile = interpolate(&params.profile, (at / self.length).clamp(0.0, 1.0));
                // What the skin carries is as wide as the wisp's patch of scalp, so that no skin shows between.
                if i < 2 { root_radius } else { radius * profile }
            })
            .collect();
        let whole = f64::from(params.mass_per_length * self.segment);
        // The tip has half a segment only.
        self.masses = (0..n).map(|i| if i + 1 == n { 0.5 * whole } else { whole }).collect();
        // Stiffnesses are given by what hair does under its own weight on earth, whatever the scene's gravity.
        let weight = f64::from(params.mass_per_length) * 9.81;
        self.bending = weight * f64::from(params.bending_length).powi(3) / f64::from(self.segment);
        self.stretch = if params.stretch > 0.0 {
            let (length, segment) = (f64::from(self.length), f64::from(self.segment));
            weight * length / (2.0 * f64::from(params.stretch) * segment)
        } else {
            f64::INFINITY
        };
        // A springy segment must not be folded to nothing by its own joints: bending yields first.
        let segment_sq = f64::from(self.segment * self.segment);
        self.bending = self.bending.min(self.stretch * segment_sq);
        self.targets = vec![DVec3::Z; n];
        self.goals = vec![Vec3::ZERO; n];
        self.hold = vec![Vec3::ZERO; n];
        self.memory = vec![1.0; n];
    }
}

/// Value of a piecewise linear curve, held at both ends.
pub(super) fn interpolate(points: &[(f32, f32)], at: f32) -> f32 {
    let after = points.partition_point(|p| p.0 <= at);
    match (after.checked_sub(1).map(|i| points[i]), points.get(after)) {
        (None, None) => 1.0,
        (None, Some(p)) => p.1,
        (Some(p), None) => p.1,
        (Some(a), Some(b)) => a.1 + (at - a.0) / (b.0 - a.0) * (b.1 - a.1),
    }
}
