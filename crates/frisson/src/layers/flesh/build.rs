//! From parameters to rest data: finds joints, ends and meshes, and weighs the vertices around the bone.

use glam::{Mat4, Vec3};

use super::chain::Chain;
use super::params::{BoneEnd, FleshParams};
use super::rest::FleshRest;
use super::swing::SwungVertices;
use super::volume::FleshVolume;
use super::weights::{Bone, Skinned, normalise, select};
use crate::character::{Character, CharacterMesh, rotation_of};
use crate::geometry::TriangleBvh;
use crate::stage::{Actor, BuildContext, Clock, LayerError};
use crate::tolerances::flesh as tolerances;

impl FleshRest {
    /// Resolves names and computes the weights.
    pub fn build(params: &FleshParams, context: &BuildContext) -> Result<Self, LayerError> {
        let (actor_index, meshes) = find_meshes(params, context)?;
        let actor = &context.actors.all()[actor_index];
        let character = actor.character().ok_or_else(|| {
            LayerError::parameter(
                "on",
                format!("{:?} has no joints: flesh needs a skinned character", params.on),
            )
        })?;
        let joint = find_joint(character, "from", &params.from)?;
        let ends = find_ends(params, character, joint)?;
        check_clip(actor, character, joint)?;

        // Placed, but not along its path: weights are measured where the artist modelled, at the size of the scene.
        let world = actor.placement.world_from_actor();
        let rest = rest_matrices(character, world);
        let world_from_dominant = rest[joint];
        let from = world_from_dominant.w_axis.truncate();
        // The middle of all ends: a belly hangs between one pelvis and two shoulders.
        let to = ends.iter().map(|(j, offset)| rest[*j].transform_point3(*offset)).sum::<Vec3>()
            / ends.len() as f32;
        let bone_length = from.distance(to);
        // Beside the mesh: a bone of a millimetre is long in a beetle.
        let size = context.frame.meshes[meshes[0]].bounds().diagonal();
        if bone_length <= tolerances::MIN_BONE_FRACTION * size {
            return Err(LayerError::parameter(
                "to",
                format!("the bone from {:?} to its ends has no length", params.from),
            ));
        }
        let first = context.actors.mesh_range(actor_index).start;
        if params.chain {
            let of_actor = OfActor { context, actor: actor_index, character };
            return build_chain(params, &of_actor, (joint, ends[0]), (&meshes, &rest));
        }
        let mesh = find_bone_mesh(params, context)?;
        let bone = Bone { from, to, dominant: joint, ends: &ends, mesh };

        let (mut parts, mut all_placed) = (Vec::new(), Vec::new());
        // All meshes first, weights afterwards: the deepest flesh of them all is what weights are shares of.
        for &mesh in &meshes {
            let source = &character.meshes[mesh - first];
            let placed = place_rigidly(character, source, joint, &rest);
            let skin = Skinned { context, mesh, character, source, placed: &placed };
            parts.push((mesh, select(params, &skin, &bone)?));
            all_placed.push(placed);
        }
        if parts.iter().all(|(_, c)| c.is_empty()) {
            return Err(LayerError::parameter(
                if params.selection.is_some() { "selection" } else { "to" },
                "no vertex is selected between the ends of the bone",
            ));
        }
        let (weights, deepest) = normalise(params, parts)?;
        let middle = 0.5 * (from + to);
        let mut volume = FleshVolume::along(from - to);
        for part in &weights {
            let own = meshes.iter().position(|&m| m == part.mesh).unwrap_or(0);
            let places: Vec<Vec3> = all_placed[own].iter().map(|&p| p - middle).collect();
            let triangles = &character.meshes[part.mesh - first].mesh.topology.triangles;
            volume.add(part, &places, triangles);
        }
        let joint_path = actor
            .follow(joint)
            .ok_or_else(|| LayerError::parameter("on", format!("{:?} has no joints", params.on)))?;
        let laid_out = |w| SwungVertices::new(w, &context.frame.meshes, params.show_offsets);
        let swung = weights.iter().map(laid_out).collect();
        Ok(Self {
            volume,
            clip_begin: clip_begin(actor, context.clock),
            joint_path,
            swung,
            actor: actor_index,
            joint,
            joint_from_middle: world_from_dominant.inverse().transform_point3(middle),
            bone_length,
            rest_rotation: rotation_of(world_from_dominant).as_dquat().normalize(),
            deepest,
            weights,
            chain: None,
        })
    }
}

/// The character that carries an element.
struct OfActor<'a> {
    context: &'a BuildContext<'a>,
    /// Index of the actor.
    actor: usize,
    character: &'a Character,
}

/// The joints from `root` to `end`, each an element.
fn build_chain(
    params: &FleshParams,
    of_actor: &OfActor,
    (root, (end, tip)): (usize, (usize, Vec3)),
    (meshes, rest): (&[usize], &[Mat4]),
) -> Result<FleshRest, LayerError> {
    let OfActor { context, actor: actor_index, character } = *of_actor;
    let actor = &context.actors.all()[actor_index];
    check_clip(actor, character, end)?;
    let path = character.skeleton.path(root, end).unwrap_or_default();
    let mut chain = Chain::new(actor, &path, tip, rest)?;
    let first = context.actors.mesh_range(actor_index).start;
    for &mesh in meshes {
        let source = &character.meshes[mesh - first];
        let mut factors: Option<Vec<f32>> = None;
        let chosen = [("selection", &params.selection), ("mask", &params.mask)];
        for (key, selection) in chosen.iter().filter_map(|(k, s)| Some((*k, s.as_ref()?))) {
            let own = context.select(key, mesh, selection)?;
            // Both given: weights multiply, as within one selection.
            let before = factors.take().unwrap_or_else(|| vec![1.0; own.len()]);
            factors = Some(before.iter().zip(&own).map(|(a, b)| a * b).collect());
        }
        chain.take(mesh, (character, source), &path, factors.as_deref());
    }
    if chain.parts.is_empty() {
        let key = if params.selection.is_some() { "selection" } else { "to" };
        return Err(LayerError::parameter(key, "no vertex is skinned to a joint of the chain"));
    }
    let mut places: Vec<Vec3> = path.iter().map(|&n| rest[n].w_axis.truncate()).collect();
    places.push(rest[end].transform_point3(tip));
    let lengths: Vec<f32> = places.windows(2).map(|w| w[0].distance(w[1])).collect();
    let joint_path = actor
        .follow(root)
        .ok_or_else(|| LayerError::parameter("on", format!("{:?} has no joints", params.on)))?;
    Ok(FleshRest {
        actor: actor_index,
        joint: root,
        joint_from_middle: Vec3::ZERO,
        bone_length: lengths.iter().sum(),
        rest_rotation: rotation_of(rest[root]).as_dquat().normalize(),
        // What the report measures swings against: the last link that has a length.
        deepest: lengths.iter().rev().copied().find(|l| *l > 0.0).unwrap_or(1.0),
        weights: Vec::new(),
        volume: FleshVolume::along(Vec3::Y),
        clip_begin: clip_begin(actor, context.clock),
        joint_path,
        swung: Vec::new(),
        chain: Some(chain),
    })
}

/// Scene time at which a clip that does not repeat begins, if that is during the pre-roll [s].
fn clip_begin(actor: &Actor, clock: &Clock) -> Option<f64> {
    let play = actor.clip_play().filter(|play| !play.looped && play.speed > 0.0)?;
    // Clip time 0, as a scene time.
    let begin = -play.offset / play.speed;
    let (start, first) = (clock.tick_time(0), clock.frame_time(clock.first_frame));
    // Begun later than the first frame, it is seen to stand until then.
    (start < begin && begin <= first + tolerances::SAME_INSTANT).then_some(begin)
}

/// The actor's index and the frame's meshes that `on` names.
fn find_meshes(
    params: &FleshParams,
    context: &BuildContext,
) -> Result<(usize, Vec<usize>), LayerError> {
    if let Some(actor) = context.actors.find(&params.on) {
        let meshes: Vec<usize> = context.actors.mesh_range(actor).collect();
        if meshes.is_empty() {
            return Err(LayerError::parameter("on", format!("{:?} has no mesh", params.on)));
        }
        return Ok((actor, meshes));
    }
    let of_actor = |mesh: usize| {
        (0..context.actors.all().len()).find(|&a| context.actors.mesh_range(a).contains(&mesh))
    };
    let found = context.frame.mesh_index(&params.on).and_then(|m| Some((of_actor(m)?, vec![m])));
    found.ok_or_else(|| {
        let actors = context.actors.all().iter().map(|a| a.name.as_str());
        let meshes = context.frame.meshes.iter().map(|m| m.name.as_str());
        LayerError::unknown("on", "actor or mesh", &params.on, actors.chain(meshes))
    })
}

fn find_joint(character: &Character, key: &str, name: &str) -> Result<usize, LayerError> {
    let names = || character.skeleton.nodes().iter().map(|n| n.name.as_str());
    character.skeleton.find(name).ok_or_else(|| LayerError::unknown(key, "joint", name, names()))
}

fn find_ends(
    params: &FleshParams,
    character: &Character,
    dominant: usize,
) -> Result<Vec<(usize, Vec3)>, LayerError> {
    let find = |end: &BoneEnd| {
        let joint = find_joint(character, "to", end.joint())?;
        if joint == dominant && end.offset() == Vec3::ZERO {
            return Err(LayerError::parameter("to", format!("{:?} is also `from`", end.joint())));
        }
        if !character.skeleton.is_below(joint, dominant) {
            return Err(LayerError::parameter(
                "to",
                format!("joint {:?} is not below {:?}", end.joint(), params.from),
            ));
        }
        Ok((joint, end.offset()))
    };
    params.to.iter().map(find).collect()
}

/// Nothing that moves the dominant joint may be NaN.
fn check_clip(actor: &Actor, character: &Character, joint: usize) -> Result<(), LayerError> {
    use crate::character::TrackTarget::{MorphWeights, Rotation, Scale, Translation};
    let Some(clip) = actor.clip() else { return Ok(()) };
    for track in &clip.tracks {
        let node = match track.target {
            Translation(n) | Rotation(n) | Scale(n) => n,
            MorphWeights(_) => continue,
        };
        let sound = track.values.iter().chain(&track.times).all(|v| v.is_finite());
        if character.skeleton.is_below(joint, node) && !sound {
            return Err(LayerError::parameter(
                "on",
                format!(
                    "clip {:?} has a number that is not finite on joint {:?}",
                    clip.name,
                    character.skeleton.nodes()[node].name
                ),
            ));
        }
    }
    Ok(())
}

/// World matrices of all nodes in the rest pose.
fn rest_matrices(character: &Character, world: Mat4) -> Vec<Mat4> {
    let mut pose = crate::character::Pose::default();
    pose.set(character, None, 0.0, crate::character::Sampling::AsAuthored, world);
    pose.world_from_node
}

/// The mesh's bind-pose vertices, carried rigidly by the dominant joint into its rest pose.
fn place_rigidly(
    character: &Character,
    source: &CharacterMesh,
    dominant: usize,
    rest: &[Mat4],
) -> Vec<Vec3> {
    let world_from_bind = match source.skin.map(|s| &character.skins[s]) {
        None => rest[source.node],
        Some(skin) => {
            // The dominant joint itself, else its nearest ancestor or any joint of the skin: all of
            // them agree in the bind pose.
            let mut at = Some(dominant);
            let carrier = loop {
                match at {
                    Some(node) => match skin.joints.iter().position(|&j| j == node) {
                        Some(found) => break found,
                        None => at = character.skeleton.nodes()[node].parent,
                    },
                    None => break 0,
                }
            };
            rest[skin.joints[carrier]] * skin.inverse_bind[carrier]
        }
    };
    source.mesh.positions.iter().map(|&p| world_from_bind.transform_point3(p)).collect()
}

fn find_bone_mesh(
    params: &FleshParams,
    context: &BuildContext,
) -> Result<Option<TriangleBvh>, LayerError> {
    let Some(name) = &params.bone_mesh else { return Ok(None) };
    let meshes = || context.frame.meshes.iter().map(|m| m.name.as_str());
    let index = context
        .frame
        .mesh_index(name)
        .ok_or_else(|| LayerError::unknown("bone_mesh", "mesh", name, meshes()))?;
    let mesh = &context.frame.meshes[index];
    Ok(Some(TriangleBvh::build(&mesh.positions, &mesh.topology.triangles)))
}
