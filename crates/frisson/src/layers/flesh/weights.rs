//! Which vertices swing, and how far: by the flesh between each and the bone.

use glam::Vec3;

use super::params::FleshParams;
use super::rest::FleshWeights;
use crate::character::{Character, CharacterMesh};
use crate::geometry::{Topology, TriangleBvh};
use crate::stage::{BuildContext, LayerError, Selection};
use crate::tolerances::flesh as tolerances;

/// The virtual bone in the space where weights are measured: the world, with every vertex placed as
/// if it were rigid with the dominant joint in the modelled pose.
///
/// ```text
///   from (y = 1)          middle (y = 0)          to (y = -1)
///     o----------------------+----------------------o
/// ```
pub(super) struct Bone<'a> {
    pub from: Vec3,
    pub to: Vec3,
    /// The joint at `from`.
    pub dominant: usize,
    /// The joints at `to`, with offsets in their axes.
    pub ends: &'a [(usize, Vec3)],
    /// The bone as it is modelled.
    pub mesh: Option<TriangleBvh>,
}

impl Bone<'_> {
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
pub(super) struct Skinned<'a> {
    pub context: &'a BuildContext<'a>,
    /// Index of the mesh in the frame.
    pub mesh: usize,
    pub character: &'a Character,
    pub source: &'a CharacterMesh,
    /// Its vertices, rigid with the dominant joint [m].
    pub placed: &'a [Vec3],
}

/// A vertex that may swing, before normalisation.
pub(super) struct Candidate {
    vertex: u32,
    depth: f32,
    attenuation: f32,
    falloff: f32,
}

/// Candidates of one mesh: selected, between the ends of the bone, outside it.
pub(super) fn select(
    params: &FleshParams,
    skin: &Skinned,
    bone: &Bone,
) -> Result<Vec<Candidate>, LayerError> {
    let Skinned { context, mesh, source, placed, .. } = *skin;
    let resolve = |key: &str, selection: &Selection| {
        let mut weights = context.select(key, mesh, selection)?;
        // Refined vertices come after the file's own, and follow those.
        weights.truncate(placed.len());
        Ok::<_, LayerError>(weights)
    };
    let mut falloff = match &params.selection {
        Some(selection) => resolve("selection", selection)?,
        None => by_influence(skin, bone),
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
        let thickness = bone
            .mesh
            .as_ref()
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
    // The last way out: a modelled bone may be hollow, or made of several pieces.
    bones.raycast_all(axis, way, |_, t| last = Some(last.map_or(t, |l: f32| l.max(t))));
    last.map(|t| t * way.length())
}

/// Share of the skin weights of the joints between the dominant joint and the ends; meshes carried
/// rigidly by one of those joints count fully.
fn by_influence(skin: &Skinned, bone: &Bone) -> Vec<f32> {
    let Skinned { character, source, .. } = *skin;
    let mut between = vec![false; character.skeleton.nodes().len()];
    for (end, _) in bone.ends {
        let path = character.skeleton.path(bone.dominant, *end).unwrap_or_default();
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
        // A point whose vertices differ (a seam) is outside as soon as one of them is.
        if w == 0.0 && distance[point as usize] > 0.0 {
            distance[point as usize] = 0.0;
            queue.insert((0u32, point));
        }
    }
    // Dijkstra; non-negative floats order like their bits.
    while let Some((bits, point)) = queue.pop_first() {
        let at = f32::from_bits(bits);
        // Stale, or beyond where the fade ends: nothing farther is needed.
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
    // The slope of the rounding at 0 is the power, and a swing is at most `limit` deepest: no more than 1 together.
    let power = limit.recip().clamp(1.0, tolerances::MOST_ROUNDING);
    1.0 - (1.0 - alpha).max(0.0).powf(power)
}

/// `alpha = w / max w`, rounded off, over all meshes of the element, and `max w`.
pub(super) fn normalise(
    params: &FleshParams,
    parts: Vec<(usize, Vec<Candidate>)>,
) -> Result<(Vec<FleshWeights>, f32), LayerError> {
    // Over all meshes together: a body in two pieces swings as one.
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
