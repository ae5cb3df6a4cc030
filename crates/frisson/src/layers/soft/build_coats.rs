//! Making primitives: particles that fill a shape, coats that fit a character.

use glam::{DMat3, DQuat, DVec3, Vec3};

use super::build_objects::NewPrimitive;
use super::field::Kind;
use super::fit::{FittedBall, SkinFit};
use super::params::{CoatBone, CoatParams, DoughParams, SoftObject};
use super::rest::{Described, PrimitiveRest, SkinRest, SoftRest};
use super::structure::{BodyRest, MovedBy, triangle_axes};
use crate::character::{Pose, Sampling};
use crate::geometry::{Mesh, TriangleBvh};
use crate::stage::{BuildContext, Frame, LayerError, Reference, ReferencePose};

/// Most particles of one dough: beyond it a typo is likelier than a wish.
const MAX_PARTICLES: f64 = 200_000.0;

/// Particles in closest packing (so that no pair starts strained) that fill a box or a ball; or the
/// given ones. The error is the number there would be.
pub fn fill(dough: &DoughParams, spacing: f64) -> Result<Vec<DVec3>, f64> {
    let (center, half) = match (dough.block, dough.ball, dough.radius) {
        (Some([center, half]), ..) => (DVec3::from_array(center), DVec3::from_array(half)),
        (None, Some(center), Some(r)) => (DVec3::from_array(center), DVec3::splat(r)),
        _ => return Ok(dough.points.iter().map(|p| DVec3::from_array(*p)).collect()),
    };
    // Counted before any is made: a spacing in millimetres would ask for all the memory there is.
    let expected = (half * 2.0 / spacing + 1.0).element_product();
    if expected > MAX_PARTICLES {
        return Err(expected);
    }
    // Layers of a closest packing of balls: each lies in the hollows of the one below.
    let (rise, back) = ((2.0f64 / 3.0).sqrt() * spacing, 0.75f64.sqrt() * spacing);
    let counts = |h: f64, step: f64| (h / step).floor() as i64;
    let mut points = Vec::new();
    for j in -counts(half.y, rise)..=counts(half.y, rise) {
        for k in -counts(half.z, back) - 1..=counts(half.z, back) + 1 {
            for i in -counts(half.x, spacing) - 1..=counts(half.x, spacing) + 1 {
                let odd = j.rem_euclid(2) as f64;
                let z = k as f64 * back + odd * back / 3.0;
                let x = (i as f64 + 0.5 * (k.rem_euclid(2) as f64) + 0.5 * odd) * spacing;
                let p = DVec3::new(x, j as f64 * rise, z);
                let inside = match dough.radius {
                    Some(r) if dough.block.is_none() => p.length() <= r,
                    _ => p.abs().cmple(half + 1e-9).all(),
                };
                if inside {
                    points.push(center + p);
                }
            }
        }
    }
    // A box smaller than one particle is one particle, not nothing.
    if points.is_empty() {
        points.push(center);
    }
    Ok(points)
}

/// Adds the coats of an actor; whether these are joined, so that only neighbours blend.
pub fn coat_bones(
    rest: &mut SoftRest,
    object: &SoftObject,
    coat: &CoatParams,
    key: &str,
    context: &BuildContext,
) -> Result<bool, LayerError> {
    let names = || context.actors.all().iter().map(|a| a.name.as_str());
    let actor = context
        .actors
        .find(&coat.on)
        .ok_or_else(|| LayerError::unknown(format!("{key}.coat.on"), "actor", &coat.on, names()))?;
    let who = &context.actors.all()[actor];
    let mut pose = Pose::default();
    let start = context.clock.frame_time(context.clock.start_frame());
    // As the shot starts: balls are fitted to the skin that is there then, and hang on joints as they are then.
    who.pose_at(start, Sampling::Smooth, &mut pose);
    let character = who.character().cloned();
    let rigid = who.rigid_at(start).map(|m| m.as_dmat4());
    if coat.bones.is_empty() {
        let reach = object.support_for(1.0);
        let meshes = coated_meshes(coat, key, context, actor)?;
        let first = context.actors.mesh_range(actor).start;
        let character = character.as_deref();
        let fit = SkinFit { character, context, first, meshes: &meshes, reach };
        let balls = fit.balls(coat.balls);
        if balls.is_empty() {
            let problem = "the actor has no closed mesh to fit coats to";
            return Err(LayerError::parameter(format!("{key}.coat.on"), problem));
        }
        let hangers =
            (character.is_none() && rigid.is_none()).then(|| Hangers::new(&meshes, context.frame));
        for ball in &balls {
            let moved_by = match (&hangers, rigid) {
                // No joints and no rigid motion: only the triangles themselves say where the skin goes.
                (Some(hangers), _) => hangers.moved_by(ball),
                (None, Some(world)) => {
                    MovedBy::Rigid { actor, at: world.inverse().transform_point3(ball.center) }
                }
                (None, None) => {
                    let at = |(node, weight)| (node, weight, in_node(&pose, node, ball.center));
                    MovedBy::Skin { actor, nodes: ball.moved_by.iter().map(at).collect() }
                }
            };
            add_ball(rest, object, ball, moved_by);
        }
        let is_seen = object.color.is_none();
        let (object, thickness) = (rest.objects.len() - 1, object.thickness);
        // Measured when the size of the cells is known.
        rest.skins.push(SkinRest { object, meshes, thickness, is_seen, ..SkinRest::default() });
    }
    let Some(character) = character else {
        if coat.bones.is_empty() && coat.muscles.is_empty() {
            return Ok(false);
        }
        let problem = "the actor has no joints to hang coats on";
        return Err(LayerError::parameter(format!("{key}.coat.on"), problem));
    };
    let given = coat.bones.iter().enumerate();
    let given = given.map(|(i, b)| (format!("{key}.coat.bones[{i}]"), Described::CoatBone(i), b));
    let muscles = coat.muscles.iter().enumerate();
    let muscles =
        muscles.map(|(i, b)| (format!("{key}.coat.muscles[{i}]"), Described::Muscle(i), b));
    for (key, described, bone) in given.chain(muscles) {
        let nodes = || character.skeleton.nodes().iter().map(|n| n.name.as_str());
        let find = |field: &str, name: &str| {
            character.skeleton.find(name).ok_or_else(|| {
                LayerError::unknown(format!("{key}.{field}"), "joint", name, nodes())
            })
        };
        let from = find("from", &bone.from)?;
        let to = bone.to.as_ref().map_or(Ok(from), |name| find("to", name))?;
        let moved_by = MovedBy::Joints {
            actor,
            from,
            to,
            span: bone.span.unwrap_or([0.0, 1.0]),
            offset: DVec3::from_array(bone.offset),
            tip: bone.tip.map(DVec3::from_array),
        };
        let points = joint_points(&moved_by, &pose).as_slice().to_vec();
        let thickness = bone.thickness.unwrap_or(object.thickness);
        let made = add_bone(rest, object, bone, moved_by, points, thickness);
        made.node = Some(from);
        made.described = described;
        if coat.bones.is_empty() {
            made.profile.stiffness = alike(object, thickness);
        }
    }
    Ok(!character.skins.is_empty())
}

/// The actor's meshes that are coated, ascending.
fn coated_meshes(
    coat: &CoatParams,
    key: &str,
    context: &BuildContext,
    actor: usize,
) -> Result<Vec<usize>, LayerError> {
    let all = context.actors.mesh_range(actor);
    if coat.meshes.is_empty() {
        return Ok(all.collect());
    }
    let name = |index: usize| context.frame.meshes[index].name.as_str();
    let find = |wanted: &String| {
        let own = |index: &usize| {
            let whole = name(*index);
            whole == wanted
                || whole.strip_prefix(&coat.on).and_then(|n| n.strip_prefix('/')) == Some(wanted)
        };
        let known = all.clone().map(name);
        all.clone()
            .find(own)
            .ok_or_else(|| LayerError::unknown(format!("{key}.coat.meshes"), "mesh", wanted, known))
    };
    let mut found = coat.meshes.iter().map(find).collect::<Result<Vec<usize>, LayerError>>()?;
    // A mesh named twice would be twice as thick.
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Measures the skins that coats were fitted to, with cells of the size that they are shown with.
pub fn measure_skins(rest: &mut SoftRest, context: &BuildContext) -> Result<(), LayerError> {
    if rest.skins.is_empty() {
        return Ok(());
    }
    let resting = at_rest(context);
    for index in 0..rest.skins.len() {
        let SkinRest { object, meshes, thickness, is_seen, .. } = rest.skins[index].clone();
        let own = &rest.primitives[rest.objects[object].primitives.clone()];
        let ball = |p: &PrimitiveRest| {
            let center = rest.bodies[p.body].start.as_vec3();
            (p.body as u32, center, p.profile.thickness as f32)
        };
        // Muscles move with their joints; only what lies under the skin carries it.
        let balls: Vec<_> = own.iter().filter(|p| p.under_skin).map(ball).collect();
        let at = (context.frame, &resting, rest.cell as f32);
        let skin = SkinRest::build((object, thickness), meshes, at, &balls)?;
        rest.skins[index] = SkinRest { is_seen, ..skin };
    }
    Ok(())
}

/// The frame with the actors in their rest pose, in which limbs are apart: a shot may start in a crouch. Meshes that
/// earlier layers refined stay as they are at the start.
fn at_rest(context: &BuildContext) -> Frame {
    let posed = Reference::new(ReferencePose::Rest, context.clock, context.actors);
    let mut frame = context.frame.clone();
    for (index, mesh) in frame.meshes.iter_mut().enumerate() {
        match posed.positions(index) {
            Some(places) if places.len() == mesh.positions.len() => {
                mesh.positions.copy_from_slice(places);
            }
            _ => {}
        }
    }
    frame
}

/// Meshes that are given frame by frame, to hang balls on.
struct Hangers<'a> {
    meshes: Vec<(usize, &'a Mesh, TriangleBvh)>,
}

impl<'a> Hangers<'a> {
    fn new(meshes: &[usize], frame: &'a Frame) -> Self {
        let one = |&index: &usize| {
            let mesh = frame.meshes.get(index)?;
            Some((index, mesh, TriangleBvh::build(&mesh.positions, &mesh.topology.triangles)))
        };
        Self { meshes: meshes.iter().filter_map(one).collect() }
    }

    /// A ball hangs on the place of the skin that it touches.
    fn moved_by(&self, ball: &FittedBall) -> MovedBy {
        let mut best = (f32::INFINITY, MovedBy::Free);
        for (index, mesh, bvh) in &self.meshes {
            // The place where it touches and not the nearest to its centre, which may be on the far side.
            let hit = bvh.closest_point(ball.touched.as_vec3(), best.0);
            let Some(hit) = hit.filter(|h| h.distance < best.0) else { continue };
            let corners = bvh.triangle(hit.triangle);
            let at = corners.map(|v| mesh.positions[v as usize].as_dvec3());
            let offset = ball.center - hit.point.as_dvec3();
            let offset = triangle_axes(at).inverse() * offset;
            let weights = hit.barycentric.map(f64::from);
            best = (hit.distance, MovedBy::Surface { mesh: *index, corners, weights, offset });
        }
        best.1
    }
}

/// World place of what hangs on a triangle, and the triangle's axes.
pub fn hanging_place(
    mesh: &Mesh,
    corners: [u32; 3],
    weights: [f64; 3],
    offset: DVec3,
) -> Option<(DVec3, DQuat)> {
    let mut at = [DVec3::ZERO; 3];
    for (place, v) in at.iter_mut().zip(corners) {
        *place = mesh.positions.get(v as usize)?.as_dvec3();
    }
    let axes = triangle_axes(at);
    let skin: DVec3 = at.iter().zip(weights).map(|(p, w)| w * *p).sum();
    Some((skin + axes * offset, axes))
}

/// A ball that was fitted to the skin.
fn add_ball(rest: &mut SoftRest, object: &SoftObject, ball: &FittedBall, moved_by: MovedBy) {
    let bone = CoatBone::default();
    let made = add_bone(rest, object, &bone, moved_by, vec![ball.center], ball.radius);
    made.node = Some(ball.moved_by.strongest());
    made.under_skin = true;
    made.profile.stiffness = alike(object, ball.radius);
}

/// Stiffness with which a coat of a thickness blends as one of the object's does: thick and thin balls
/// then have one shape of field, to which the radii were fitted.
fn alike(object: &SoftObject, thickness: f64) -> f64 {
    object.stiffness * object.thickness / thickness
}

fn add_bone<'a>(
    rest: &'a mut SoftRest,
    object: &SoftObject,
    bone: &CoatBone,
    moved_by: MovedBy,
    points: Vec<DVec3>,
    thickness: f64,
) -> &'a mut PrimitiveRest {
    let body = rest.bodies.len();
    rest.bodies.push(BodyRest {
        moved_by,
        start: points[0],
        inverse_mass: 0.0,
        inverse_inertia: DMat3::ZERO,
    });
    let kind = if points.len() == 1 { Kind::Point } else { Kind::Polyline };
    let points = points.iter().map(|p| *p - points[0]).collect();
    let new = NewPrimitive { name: bone.from.clone(), kind, body, points, thickness };
    let made = rest.push_primitive(object, new);
    made.color = bone.color.unwrap_or(made.color);
    made.uv = bone.uv;
    made
}

/// Where a place is in the axes of a node.
fn in_node(pose: &Pose, node: usize, at: DVec3) -> DVec3 {
    let from_origin: Vec3 = (at - pose.origin(node).as_dvec3()).as_vec3();
    pose.world_from_node[node].inverse().transform_vector3(from_origin).as_dvec3()
}

/// World place of what several nodes move together: (node, weight, place in the node's axes).
pub fn skinned_point(nodes: &[(usize, f64, DVec3)], pose: &Pose) -> DVec3 {
    let moved = |&(node, weight, at): &(usize, f64, DVec3)| {
        let turned = pose.world_from_node[node].transform_vector3(at.as_vec3()).as_dvec3();
        weight * (pose.origin(node).as_dvec3() + turned)
    };
    nodes.iter().map(moved).sum()
}

/// One or two points, without storage of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    at: [DVec3; 2],
    count: usize,
}

impl Ends {
    /// The points.
    #[must_use]
    pub fn as_slice(&self) -> &[DVec3] {
        &self.at[..self.count]
    }
}

/// World points of a coat between two joints.
pub fn joint_points(moved_by: &MovedBy, pose: &Pose) -> Ends {
    let MovedBy::Joints { from, to, span, offset, tip, .. } = moved_by else {
        return Ends::default();
    };
    let turned = |v: &DVec3| pose.world_from_node[*from].transform_vector3(v.as_vec3()).as_dvec3();
    let shift = turned(offset);
    let (a, b) = (pose.origin(*from).as_dvec3() + shift, pose.origin(*to).as_dvec3() + shift);
    // Hung on one joint alone: a ball, or a stick out of it.
    if from == to {
        let tip = tip.as_ref().map(|t| pose.origin(*from).as_dvec3() + turned(t));
        return Ends { at: [a, tip.unwrap_or(a)], count: 1 + usize::from(tip.is_some()) };
    }
    Ends { at: span.map(|s| a.lerp(b, s)), count: 2 }
}
