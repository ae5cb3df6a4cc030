//! What is computed once: the virtual bone, the weights, the vertices that swing.

use glam::{Mat4, Vec3};

use super::params::{BoneEnd, FleshParams};
use super::swing::FleshTouch;
use super::volume::FleshVolume;
use crate::character::{Character, CharacterMesh, rotation_of};
use crate::geometry::{Topology, TriangleBvh};
use crate::stage::{Actor, BuildContext, Clock, JointPath, LayerError, Selection};
use crate::tolerances::flesh as tolerances;

/// The part of an element on one mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct FleshWeights {
    /// Index of the mesh in the frame.
    pub mesh: usize,
    /// Vertices that swing, ascending.
    pub vertices: Vec<u32>,
    /// Normalised weight of each, in (0, 1].
    pub alphas: Vec<f32>,
    /// Flesh between each and the bone, `shape` [m]: no sum of elements may move it further.
    pub shapes: Vec<f32>,
}

/// Everything about an element that does not change during a bake.
#[derive(Clone, Debug)]
pub struct FleshRest {
    /// Index of the actor.
    pub actor: usize,
    /// Dominant joint.
    pub joint: usize,
    /// Middle of the virtual bone, in the dominant joint's space.
    pub joint_from_middle: Vec3,
    /// Length of the virtual bone in the world [m].
    pub bone_length: f32,
    /// Orientation of the dominant joint in the modelled pose.
    pub rest_rotation: glam::DQuat,
    /// Largest weight before normalisation [m].
    pub deepest: f32,
    /// Weights per mesh.
    pub weights: Vec<FleshWeights>,
    /// What displacements do to the volume.
    pub volume: FleshVolume,
    /// When the clip begins, if the layer starts before it [s]: until then the character is taken to
    /// have moved as it does then, though it is shown standing.
    pub(super) clip_begin: Option<f64>,
    /// The dominant joint, to be followed through time.
    pub(super) joint_path: JointPath,
    /// What it touches, laid out for the loop; one for each of the weights.
    pub(super) touches: Vec<FleshTouch>,
}

/// The virtual bone in the space where weights are measured: the world, with every vertex placed as
/// if it were rigid with the dominant joint in the modelled pose.
///
/// ```text
///   from (y = 1)          middle (y = 0)          to (y = -1)
///     o----------------------+----------------------o
/// ```
struct Bone {
    from: Vec3,
    to: Vec3,
}

impl Bone {
    fn closest(&self, p: Vec3) -> Vec3 {
        let axis = self.to - self.from;
        let t = axis.dot(p - self.from) / axis.length_squared();
        self.from + axis * t.clamp(0.0, 1.0)
    }

    /// Position along the bone, 1 at `from` and -1 at `to`, beyond them outside.
    fn along(&self, p: Vec3) -> f32 {
        let axis = self.to - self.from;
        1.0 - 2.0 * axis.dot(p - self.from) / axis.length_squared()
    }
}

/// One mesh of the character that carries the flesh.
struct Skinned<'a> {
    context: &'a BuildContext<'a>,
    /// Index of the mesh in the frame.
    mesh: usize,
    character: &'a Character,
    source: &'a CharacterMesh,
}

/// A vertex that may swing, before normalisation.
struct Candidate {
    vertex: u32,
    depth: f32,
    attenuation: f32,
    falloff: f32,
}

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

        let world = actor.placement.world_from_actor();
        let rest = rest_matrices(character, world);
        let world_from_dominant = rest[joint];
        let from = world_from_dominant.w_axis.truncate();
        let to = ends.iter().map(|(j, offset)| rest[*j].transform_point3(*offset)).sum::<Vec3>()
            / ends.len() as f32;
        let bone_length = from.distance(to);
        let size = context.frame.meshes[meshes[0]].bounds().diagonal();
        if bone_length <= tolerances::MIN_BONE_FRACTION * size {
            return Err(LayerError::parameter(
                "to",
                format!("the bone from {:?} to its ends has no length", params.from),
            ));
        }
        let bone = Bone { from, to };
        let first = context.actors.mesh_range(actor_index).start;
        let bone_mesh = find_bone_mesh(params, context)?;

        let (mut parts, mut all_placed) = (Vec::new(), Vec::new());
        for &mesh in &meshes {
            let source = &character.meshes[mesh - first];
            let placed = place_rigidly(character, source, joint, &rest);
            let skin = Skinned { context, mesh, character, source };
            let candidates = select(params, &skin, joint, &ends, (&placed, &bone), &bone_mesh)?;
            parts.push((mesh, candidates));
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
        let touch = |w| FleshTouch::new(w, &context.frame.meshes, params.show_offsets);
        let touches = weights.iter().map(touch).collect();
        Ok(Self {
            volume,
            clip_begin: clip_begin(actor, context.clock),
            joint_path,
            touches,
            actor: actor_index,
            joint,
            joint_from_middle: world_from_dominant.inverse().transform_point3(middle),
            bone_length,
            rest_rotation: rotation_of(world_from_dominant).as_dquat().normalize(),
            deepest,
            weights,
        })
    }
}

/// Scene time at which a clip that does not repeat begins, if that is during the pre-roll [s].
fn clip_begin(actor: &Actor, clock: &Clock) -> Option<f64> {
    let play = actor.clip_play().filter(|play| !play.looped && play.speed > 0.0)?;
    let begin = -play.offset / play.speed;
    let (start, first) = (clock.tick_time(0), clock.frame_time(clock.first_frame));
    // Begun later than the first frame, it is seen to stand until then.
    (start < begin && begin <= first + 1e-6).then_some(begin)
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

/// Candidates of one mesh: selected, between the ends of the bone, outside it.
fn select(
    params: &FleshParams,
    skin: &Skinned,
    dominant: usize,
    ends: &[(usize, Vec3)],
    (placed, bone): (&[Vec3], &Bone),
    bone_mesh: &Option<TriangleBvh>,
) -> Result<Vec<Candidate>, LayerError> {
    let Skinned { context, mesh, character, source } = *skin;
    let bone_mesh = bone_mesh.as_ref();
    let resolve = |key: &str, selection: &Selection| {
        let mut weights = context.select(key, mesh, selection)?;
        weights.truncate(placed.len());
        Ok::<_, LayerError>(weights)
    };
    let mut falloff = match &params.selection {
        Some(selection) => resolve("selection", selection)?,
        None => by_influence(character, source, dominant, ends),
    };
    if params.edge_falloff > 0.0 {
        fade_edge(&mut falloff, &source.mesh.topology.triangles, placed, params.edge_falloff);
    }
    if let Some(mask) = &params.mask {
        let mask = resolve("mask", mask)?;
        falloff.iter_mut().zip(mask).for_each(|(f, m)| *f *= m);
    }
    let mut candidates = Vec::new();
    for (vertex, (&p, &falloff)) in placed.iter().zip(&falloff).enumerate() {
        let attenuation = params.attenuation.at(bone.along(p));
        let closest = bone.closest(p);
        let thickness = bone_mesh
            .and_then(|bones| modelled_thickness(bones, closest, p))
            .unwrap_or(params.thickness);
        let depth = (p.distance(closest) - thickness).max(0.0);
        if falloff * attenuation > 0.0 {
            candidates.push(Candidate { vertex: vertex as u32, depth, attenuation, falloff });
        }
    }
    Ok(candidates)
}

/// Distance from the axis to where the way out to the vertex leaves the modelled bone.
fn modelled_thickness(bones: &TriangleBvh, axis: Vec3, vertex: Vec3) -> Option<f32> {
    let way = vertex - axis;
    let mut last = None;
    bones.raycast_all(axis, way, |_, t| last = Some(last.map_or(t, |l: f32| l.max(t))));
    last.map(|t| t * way.length())
}

/// Share of the skin weights of the joints between the dominant joint and the ends; meshes carried
/// rigidly by one of those joints count fully.
fn by_influence(
    character: &Character,
    source: &CharacterMesh,
    dominant: usize,
    ends: &[(usize, Vec3)],
) -> Vec<f32> {
    let mut between = vec![false; character.skeleton.nodes().len()];
    for (end, _) in ends {
        let path = character.skeleton.path(dominant, *end).unwrap_or_default();
        path.into_iter().for_each(|n| between[n] = true);
    }
    let count = source.mesh.positions.len();
    match source.skin.map(|s| &character.skins[s]) {
        None => vec![if between[source.node] { 1.0 } else { 0.0 }; count],
        Some(skin) => (0..count)
            .map(|v| {
                let share: f32 = source
                    .influences
                    .of(v)
                    .filter(|(j, _)| between[skin.joints[*j as usize]])
                    .map(|(_, w)| w)
                    .sum();
                share.clamp(0.0, 1.0)
            })
            .collect(),
    }
}

/// Fades a selection in over a distance along the edges from whatever is not selected.
fn fade_edge(weights: &mut [f32], triangles: &[[u32; 3]], positions: &[Vec3], reach: f32) {
    let topology = Topology::build(positions, triangles);
    let place = |point: u32| positions[topology.vertex_of_point[point as usize] as usize];
    let mut distance = vec![f32::INFINITY; topology.point_count()];
    let mut queue = std::collections::BTreeSet::new();
    for (vertex, &w) in weights.iter().enumerate() {
        let point = topology.point_of_vertex[vertex];
        if w == 0.0 && distance[point as usize] > 0.0 {
            distance[point as usize] = 0.0;
            queue.insert((0u32, point));
        }
    }
    // Dijkstra; non-negative floats order like their bits.
    while let Some((bits, point)) = queue.pop_first() {
        let at = f32::from_bits(bits);
        if at > distance[point as usize] || at > reach {
            continue;
        }
        for next in topology.neighbours(point) {
            let through = at + place(point).distance(place(next));
            if through < distance[next as usize] {
                distance[next as usize] = through;
                queue.insert((through.to_bits(), next));
            }
        }
    }
    for (vertex, w) in weights.iter_mut().enumerate() {
        let t = (distance[topology.point_of_vertex[vertex] as usize] / reach).min(1.0);
        *w *= t * t * (3.0 - 2.0 * t);
    }
}

/// Factor of shallow flesh: without it a crease would show where the bone ends and flesh begins.
fn fade_in(depth: f32) -> f32 {
    let t = (depth / tolerances::SHALLOW_FLESH).min(1.0);
    t * (2.0 - t)
}

/// Rounds a weight off towards 1, where its slope becomes 0, as far as the limit leaves room: a swing of
/// `limit` times the deepest flesh still moves no vertex further than its own weight allows.
fn round_off(alpha: f32, limit: f32) -> f32 {
    let power = limit.recip().clamp(1.0, tolerances::MOST_ROUNDING);
    1.0 - (1.0 - alpha).max(0.0).powf(power)
}

/// `alpha = w / max w`, rounded off, over all meshes of the element, and `max w`.
fn normalise(
    params: &FleshParams,
    parts: Vec<(usize, Vec<Candidate>)>,
) -> Result<(Vec<FleshWeights>, f32), LayerError> {
    let largest = parts.iter().flat_map(|(_, c)| c).map(|c| c.depth).fold(0.0, f32::max);
    let shape = |c: &Candidate| {
        let depth = c.depth / largest;
        c.depth * params.shape_curve.at(depth) * fade_in(depth)
    };
    let weight = |c: &Candidate| shape(c) * c.attenuation * c.falloff;
    let deepest = parts.iter().flat_map(|(_, c)| c).map(weight).fold(0.0, f32::max);
    if deepest.is_nan() || deepest <= 0.0 {
        return Err(LayerError::parameter(
            "thickness",
            "there is no flesh outside the bone: every weight is zero",
        ));
    }
    let weights = parts
        .into_iter()
        .map(|(mesh, candidates)| {
            let kept = || candidates.iter().filter(|c| weight(c) > 0.0);
            FleshWeights {
                mesh,
                vertices: kept().map(|c| c.vertex).collect(),
                alphas: kept().map(|c| round_off(weight(c) / deepest, params.limit)).collect(),
                shapes: kept().map(shape).collect(),
            }
        })
        .filter(|w| !w.vertices.is_empty())
        .collect();
    Ok((weights, deepest))
}
