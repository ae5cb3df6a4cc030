//! What binds a mesh to a skeleton: joints and weights, blend shapes.

use std::collections::BTreeMap;

use frisson::character::{MorphTarget, Skin};
use glam::{DMat4, Vec3};

use super::attribute::{matrix, single};
use super::layer::Name;
use super::stage::Stage;
use super::transform::Space;
use super::{Result, UsdError};

/// A skeleton of the scene.
pub(super) struct Rig {
    pub prim: usize,
    /// Joints as the file names them: paths from the topmost joint.
    pub joints: Vec<Name>,
    by_name: BTreeMap<Name, usize>,
    /// Node of each.
    pub nodes: Vec<usize>,
    /// Skeleton from joint where meshes were bound.
    pub bind: Vec<DMat4>,
    /// Parent from joint.
    pub rest: Vec<DMat4>,
    /// Prim of the animation that plays.
    pub animation: Option<usize>,
}

/// Matrices of an attribute.
pub(super) fn matrices(stage: &Stage, prim: usize, name: &str) -> Result<Vec<DMat4>> {
    let numbers =
        stage.value(prim, name, f64::NEG_INFINITY)?.map_or_else(Vec::new, |d| d.numbers());
    let found: Option<Vec<DMat4>> = numbers.chunks_exact(16).map(matrix).collect();
    let place = || format!("{}.{name}", stage.prims[prim].path);
    found.ok_or_else(|| UsdError::damaged(place(), "a matrix is not finite"))
}

/// The target of a relationship of a prim or of the nearest above it that has one.
pub(super) fn inherited(stage: &Stage, prim: usize, name: &str) -> Result<Option<usize>> {
    let mut at = Some(prim);
    while let Some(prim) = at {
        if let Some(target) = stage.targets(prim, name)?.first() {
            return Ok(stage.find(target));
        }
        at = stage.prims[prim].parent;
    }
    Ok(None)
}

impl Rig {
    pub fn read(stage: &Stage, prim: usize) -> Result<Self> {
        let joints = stage.value(prim, "joints", f64::NEG_INFINITY)?;
        let joints: Vec<Name> = joints.map_or_else(Vec::new, |j| j.texts().to_vec());
        let wrong = |problem: String| UsdError::damaged(stage.prims[prim].path.clone(), problem);
        if joints.len() > usize::from(u16::MAX) - 1 {
            return Err(wrong("more joints than 16 bits can count".to_owned()));
        }
        let mut bind = matrices(stage, prim, "bindTransforms")?;
        let mut rest = matrices(stage, prim, "restTransforms")?;
        let by_name = joints.iter().cloned().zip(0..).collect();
        let mut rig = Self {
            prim,
            joints,
            by_name,
            nodes: Vec::new(),
            bind: Vec::new(),
            rest: Vec::new(),
            animation: inherited(stage, prim, "skel:animationSource")?,
        };
        let count = rig.joints.len();
        let parents: Vec<Option<usize>> = (0..count).map(|j| rig.parent(j)).collect();
        // Either tells the other; neither tells nothing.
        if rest.len() != count && bind.len() == count {
            let local = |j: usize| match parents[j] {
                Some(p) => bind[p].inverse() * bind[j],
                None => bind[j],
            };
            rest = (0..count).map(local).collect();
        }
        rest.resize(count, DMat4::IDENTITY);
        if bind.len() != count {
            bind = rest.clone();
            for j in 0..count {
                // Parents stand before their children in sound files.
                if let Some(p) = parents[j].filter(|&p| p < j) {
                    bind[j] = bind[p] * rest[j];
                }
            }
        }
        if rest.iter().chain(&bind).any(|m| !m.is_finite()) {
            return Err(wrong("a transform of a joint cannot be undone".to_owned()));
        }
        (rig.bind, rig.rest) = (bind, rest);
        Ok(rig)
    }

    /// The nearest joint above one.
    pub fn parent(&self, joint: usize) -> Option<usize> {
        let mut path = &*self.joints[joint];
        while let Some((above, _)) = path.rsplit_once('/') {
            if let Some(found) = self.find(above).filter(|&j| j != joint) {
                return Some(found);
            }
            path = above;
        }
        None
    }

    pub fn find(&self, joint: &str) -> Option<usize> {
        self.by_name.get(joint).copied()
    }
}

/// Influences of every point of a mesh, and the skin they count in; nothing if it has none.
pub(super) fn read_skin(
    stage: &Stage,
    prim: usize,
    rig: &Rig,
    own_node: usize,
    points: usize,
    space: Space,
) -> Result<Option<(Skin, Vec<Vec<(u16, f32)>>)>> {
    let place = &stage.prims[prim].path;
    let [indices, weights] = ["primvars:skel:jointIndices", "primvars:skel:jointWeights"];
    let (Some(indices), Some(weights)) =
        (stage.attribute(prim, indices)?, stage.attribute(prim, weights)?)
    else {
        return Ok(None);
    };
    let width = indices.element_size;
    let joints = indices.held(stage, f64::NEG_INFINITY)?.ints();
    let numbers = weights.held(stage, f64::NEG_INFINITY)?.numbers();
    let is_rigid = &*indices.interpolation == "constant";
    let needed = if is_rigid { width } else { width.saturating_mul(points) };
    if joints.len() < needed || numbers.len() < needed {
        let (a, b) = (joints.len(), numbers.len());
        let problem = format!("{a} joints and {b} weights for {points} points of {width} each");
        return Err(UsdError::damaged(place.clone(), problem));
    }
    let mut skin = joint_binds(stage, prim, rig, space)?;
    let count = skin.joints.len();
    let mut needs_own = false;
    let mut list = |point: usize| {
        let first = if is_rigid { 0 } else { point * width };
        let pairs = joints[first..first + width].iter().zip(&numbers[first..first + width]);
        let found = pairs.filter_map(|(&joint, &weight)| {
            let joint = usize::try_from(joint).ok().filter(|&j| j < count)?;
            (weight > 0.0 && weight.is_finite()).then_some((joint as u16, weight as f32))
        });
        let found: Vec<(u16, f32)> = found.collect();
        needs_own |= found.is_empty();
        // What follows no joint stays with the mesh's own node.
        if found.is_empty() { vec![(count as u16, 1.0)] } else { found }
    };
    let lists = (0..points).map(&mut list).collect();
    if needs_own {
        skin.joints.push(own_node);
        skin.inverse_bind.push(glam::Mat4::IDENTITY);
    }
    Ok(Some((skin, lists)))
}

/// The joints a mesh names, bound as it was.
fn joint_binds(stage: &Stage, prim: usize, rig: &Rig, space: Space) -> Result<Skin> {
    let place = &stage.prims[prim].path;
    let geometry = matrices(stage, prim, "primvars:skel:geomBindTransform")?;
    let geometry = geometry.first().copied().unwrap_or(DMat4::IDENTITY);
    let own = stage.value(prim, "skel:joints", f64::NEG_INFINITY)?;
    let named = own.as_ref().map(|d| d.texts()).filter(|t| !t.is_empty());
    let order: Vec<usize> = match named {
        None => (0..rig.joints.len()).collect(),
        Some(names) => {
            let joint = |name: &Name| {
                let problem = || format!("it names a joint {name:?} that its skeleton has not");
                rig.find(name).ok_or_else(|| UsdError::damaged(place.clone(), problem()))
            };
            names.iter().map(joint).collect::<Result<_>>()?
        }
    };
    let mut skin = Skin { name: stage.prims[prim].name.to_string(), ..Skin::default() };
    for joint in order {
        let bind = space.in_metres(rig.bind[joint].inverse() * geometry).as_mat4();
        if !bind.is_finite() {
            let name = &rig.joints[joint];
            let problem = format!("the bind transform of {name:?} cannot be undone");
            return Err(UsdError::damaged(place.clone(), problem));
        }
        skin.joints.push(rig.nodes[joint]);
        skin.inverse_bind.push(bind);
    }
    Ok(skin)
}

/// Blend shapes of a mesh by the names that animations use; `sources` are the points behind our vertices.
pub(super) fn read_morphs(
    stage: &mut Stage,
    prim: usize,
    points: usize,
    sources: &[u32],
    space: Space,
) -> Result<Vec<MorphTarget>> {
    let names = stage.value(prim, "skel:blendShapes", f64::NEG_INFINITY)?;
    let names: Vec<Name> = names.map_or_else(Vec::new, |n| n.texts().to_vec());
    let targets = stage.targets(prim, "skel:blendShapeTargets")?;
    let mut vertices: Vec<Vec<u32>> = vec![Vec::new(); points];
    for (vertex, &source) in sources.iter().enumerate() {
        vertices[source as usize].push(vertex as u32);
    }
    let mut out = Vec::new();
    for (name, target) in names.iter().zip(&targets) {
        let Some(shape) = stage.find(target) else { continue };
        let Some(offsets) = stage.attribute(shape, "offsets")? else { continue };
        let offsets = offsets.vectors(stage, f64::NEG_INFINITY, true)?;
        let which = stage.value(shape, "pointIndices", f64::NEG_INFINITY)?;
        let which = which.map(|w| w.ints()).filter(|w| !w.is_empty());
        let opinions = &stage.prims[shape].opinions;
        let mut properties = opinions.iter().flat_map(|o| stage.spec(o).properties.keys());
        if properties.any(|p| p.starts_with("inbetweens:")) {
            let path = stage.prims[prim].path.clone();
            stage.warn(format!("{path}: shapes between the ends of a blend are left out"));
        }
        let mut moves: Vec<(u32, Vec3)> = Vec::new();
        for (k, &offset) in offsets.iter().enumerate() {
            let point = which.as_ref().map_or(Some(k as i64), |w| w.get(k).copied());
            let point = point.and_then(|p| usize::try_from(p).ok());
            let copies = point.and_then(|p| vertices.get(p)).map_or(&[][..], Vec::as_slice);
            moves.extend(copies.iter().map(|&v| (v, single(space.unit * offset))));
        }
        moves.sort_by_key(|m| m.0);
        // A shape that names a point twice moves it once.
        moves.dedup_by_key(|m| m.0);
        let (vertices, offsets) = moves.into_iter().unzip();
        out.push(MorphTarget { name: name.to_string(), vertices, offsets });
    }
    Ok(out)
}
