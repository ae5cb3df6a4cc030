//! Characters made of arrays, or read from files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frisson::character::{
    Character as EngineCharacter, CharacterMesh, Clip, Influences, Interpolation, Node, Pose,
    Sampling, Skeleton, Skin, Track, TrackTarget, Transform,
};
use frisson::geometry::Mesh;
use frisson_io::gltf::{build_character, write_character};
use frisson_io::scene::{ActorContent, ActorLoader as _, source_hash};
use frisson_workshop::Loader;
use glam::{Mat4, Vec2, Vec3};
use numpy::{
    PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::arrays::{self, Rows, corners, points};
use crate::trouble::Trouble;

/// A skeleton with meshes and clips.
#[pyclass(module = "frisson._native", frozen)]
pub struct Character {
    pub inner: Arc<EngineCharacter>,
    /// Of all that it is: a resumed bake must have the same.
    pub hash: u128,
}

/// One mesh as it is given.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct GivenMesh<'py> {
    name: String,
    positions: Bound<'py, PyAny>,
    triangles: Bound<'py, PyAny>,
    weights: Option<Bound<'py, PyAny>>,
    uvs: Option<Bound<'py, PyAny>>,
    colors: Option<Bound<'py, PyAny>>,
    regions: BTreeMap<String, Vec<u32>>,
}

/// A clip as it is given: name, times, matrices of all joints at each time, one time after the other.
type GivenClip<'py> = (String, Vec<f32>, Bound<'py, PyAny>);

#[pymethods]
impl Character {
    /// From joints (name, parent), their rest matrices in the character's space, meshes and a clip.
    #[new]
    fn new(
        name: String,
        joints: Vec<(String, Option<usize>)>,
        rest: Bound<'_, PyAny>,
        meshes: Vec<GivenMesh<'_>>,
        clip: Option<GivenClip<'_>>,
    ) -> Result<Self, Trouble> {
        let rest = arrays::matrices(&rest, "rest")?;
        if rest.len() != joints.len() {
            let text =
                format!("{} joints and {} rest matrices were given", joints.len(), rest.len());
            return Err(Trouble::input(text));
        }
        let parents: Vec<Option<usize>> = joints.iter().map(|(_, parent)| *parent).collect();
        let skeleton = skeleton(joints, &rest)?;
        let clips = match clip {
            Some(given) => vec![read_clip(given, &parents)?],
            None => Vec::new(),
        };
        let skin = Skin {
            name: name.clone(),
            joints: (0..rest.len()).collect(),
            inverse_bind: rest.iter().map(Mat4::inverse).collect(),
        };
        let meshes: Result<Vec<_>, Trouble> =
            meshes.iter().map(|m| read_mesh(m, rest.len())).collect();
        let character =
            EngineCharacter { name, skeleton, skins: vec![skin], meshes: meshes?, clips };
        Self::of(character)
    }

    /// Reads a character from a file, or from the cast (`builtin:NAME`).
    #[staticmethod]
    fn load(py: Python<'_>, source: &str) -> Result<Self, Trouble> {
        let loaded = py.detach(|| Loader.load(source, Path::new("")));
        let loaded = loaded.map_err(|e| Trouble::input(e.to_string()))?;
        match loaded.content {
            ActorContent::Character(inner) => Ok(Self { inner, hash: loaded.hash }),
            _ => Err(Trouble::input(format!("{source} holds no character"))),
        }
    }

    /// Writes it as a GLB.
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> Result<(), Trouble> {
        py.detach(|| write_character(&self.inner, &path, overwrite))?;
        Ok(())
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// Name and parent of every joint.
    fn joints(&self) -> Vec<(String, Option<usize>)> {
        self.inner.skeleton.nodes().iter().map(|n| (n.name.clone(), n.parent)).collect()
    }

    /// Name and length [s] of every clip.
    fn clips(&self) -> Vec<(String, f64)> {
        self.inner.clips.iter().map(|c| (c.name.clone(), c.duration())).collect()
    }

    /// Name, positions in the bind pose and triangles of every mesh.
    fn meshes<'py>(&self, py: Python<'py>) -> PyResult<Vec<NamedMesh<'py>>> {
        let one = |m: &CharacterMesh| {
            let positions = points(py, &m.mesh.positions)?;
            Ok((m.mesh.name.clone(), positions, corners(py, &m.mesh.topology.triangles)?))
        };
        self.inner.meshes.iter().map(one).collect()
    }

    /// Matrices of all joints at a time of a clip (none: the rest pose), with shape (joints, 4, 4).
    fn pose<'py>(
        &self,
        py: Python<'py>,
        clip: Option<&str>,
        time: f64,
    ) -> Result<Bound<'py, PyArray3<f32>>, Trouble> {
        let index = match clip {
            None => None,
            Some(name) => Some(self.inner.clip_index(name).ok_or_else(|| {
                let names: Vec<&str> = self.inner.clips.iter().map(|c| c.name.as_str()).collect();
                let help = format!("its clips: {}", names.join(", "));
                Trouble::Input(format!("there is no clip named {name:?}"), Some(help))
            })?),
        };
        let mut pose = Pose::default();
        let clip = index.map(|i| &self.inner.clips[i]);
        pose.set(&self.inner, clip, time, Sampling::AsAuthored, Mat4::IDENTITY);
        let rows = pose.world_from_node.iter().flat_map(|m| m.transpose().to_cols_array());
        let count = pose.world_from_node.len();
        Ok(PyArray1::from_vec(py, rows.collect()).reshape([count, 4, 4])?)
    }
}

type NamedMesh<'py> = (String, Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<u32>>);

impl Character {
    fn of(inner: EngineCharacter) -> Result<Self, Trouble> {
        let bytes = build_character(&inner)?.into_bytes()?;
        Ok(Self { inner: Arc::new(inner), hash: source_hash(&bytes) })
    }
}

/// A matrix in the parts that clips and rest poses are made of; shear is lost.
fn parts(matrix: Mat4) -> Transform {
    let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
    Transform { translation, rotation, scale }
}

/// From the character's space to the parent's.
fn local(matrices: &[Mat4], joint: usize, parent: Option<usize>) -> Transform {
    let above = parent.and_then(|p| matrices.get(p)).map_or(Mat4::IDENTITY, Mat4::inverse);
    parts(above * matrices[joint])
}

fn skeleton(joints: Vec<(String, Option<usize>)>, rest: &[Mat4]) -> Result<Skeleton, Trouble> {
    let nodes = joints.into_iter().enumerate().map(|(index, (name, parent))| Node {
        name,
        parent,
        rest: local(rest, index, parent),
    });
    Skeleton::new(nodes.collect()).map_err(|e| Trouble::input(e.to_string()))
}

fn read_clip(given: GivenClip<'_>, parents: &[Option<usize>]) -> Result<Clip, Trouble> {
    let (name, times, matrices) = given;
    let matrices = arrays::matrices(&matrices, "clip")?;
    let count = parents.len();
    if matrices.len() != times.len() * count || times.windows(2).any(|w| w[0] >= w[1]) {
        let text = format!(
            "clip: {} matrices were given for {} ascending times of {count} joints",
            matrices.len(),
            times.len()
        );
        return Err(Trouble::input(text));
    }
    let mut tracks = Vec::new();
    for (joint, &parent) in parents.iter().enumerate() {
        let keys: Vec<Transform> =
            matrices.chunks_exact(count).map(|m| local(m, joint, parent)).collect();
        let track = |target, width, values: Vec<f32>| Track {
            target,
            interpolation: Interpolation::Linear,
            times: times.clone(),
            values,
            width,
        };
        let moved = keys.iter().flat_map(|k| k.translation.to_array()).collect();
        let turned = keys.iter().flat_map(|k| k.rotation.to_array()).collect();
        let scaled = keys.iter().flat_map(|k| k.scale.to_array()).collect();
        tracks.push(track(TrackTarget::Translation(joint), 3, moved));
        tracks.push(track(TrackTarget::Rotation(joint), 4, turned));
        tracks.push(track(TrackTarget::Scale(joint), 3, scaled));
    }
    Ok(Clip { name, tracks })
}

fn read_mesh(given: &GivenMesh<'_>, joints: usize) -> Result<CharacterMesh, Trouble> {
    let positions = Rows::<3>::of(&given.positions, "positions")?;
    let places: Vec<Vec3> = positions.rows().iter().map(|p| Vec3::from_array(*p)).collect();
    let count = places.len();
    if places.iter().any(|p| !p.is_finite()) {
        return Err(Trouble::input(format!("mesh {:?}: positions must be finite", given.name)));
    }
    let triangles = arrays::triangles(&given.triangles, count)?;
    let mut mesh = Mesh::new(&given.name, places, triangles);
    let topology = Arc::make_mut(&mut mesh.topology);
    if let Some(uvs) = &given.uvs {
        topology.uvs = per_vertex::<2>(uvs, "uvs", count)?.into_iter().map(Vec2::from).collect();
    }
    if let Some(colors) = &given.colors {
        topology.colors = per_vertex::<4>(colors, "colors", count)?;
    }
    for (region, vertices) in &given.regions {
        let mut vertices = vertices.clone();
        vertices.sort_unstable();
        vertices.dedup();
        if vertices.last().is_some_and(|&v| v as usize >= count) {
            return Err(Trouble::input(format!(
                "region {region:?} names a vertex that is not there"
            )));
        }
        topology.regions.insert(region.clone(), vertices);
    }
    let influences = match &given.weights {
        Some(weights) => read_weights(weights, count, joints)?,
        None => Influences::default(),
    };
    Ok(CharacterMesh {
        mesh,
        node: 0,
        skin: given.weights.as_ref().map(|_| 0),
        influences,
        morphs: Vec::new(),
        morph_weights: Vec::new(),
        source: None,
    })
}

fn per_vertex<const N: usize>(
    given: &Bound<'_, PyAny>,
    what: &str,
    count: usize,
) -> Result<Vec<[f32; N]>, Trouble> {
    let rows = Rows::<N>::of(given, what)?;
    if rows.rows().len() != count {
        let text = format!("{what}: {} were given for {count} vertices", rows.rows().len());
        return Err(Trouble::input(text));
    }
    Ok(rows.rows().to_vec())
}

/// Weights with shape (vertices, joints).
fn read_weights(
    given: &Bound<'_, PyAny>,
    vertices: usize,
    joints: usize,
) -> Result<Influences, Trouble> {
    let wrong = || {
        Trouble::input(format!(
            "weights: needs float32 with shape ({vertices}, {joints}), finite, not negative"
        ))
    };
    let array: PyReadonlyArray2<'_, f32> = given.extract().map_err(|_| wrong())?;
    let rows = array.as_array();
    let sound = rows.iter().all(|w| w.is_finite() && *w >= 0.0);
    if array.shape() != [vertices, joints] || joints > usize::from(u16::MAX) || !sound {
        return Err(wrong());
    }
    let list = |row: numpy::ndarray::ArrayView1<'_, f32>| {
        let all = row.iter().enumerate().filter(|(_, w)| **w > 0.0);
        all.map(|(joint, &weight)| (joint as u16, weight)).collect::<Vec<_>>()
    };
    let lists: Vec<_> = rows.outer_iter().map(list).collect();
    Ok(Influences::from_lists(&lists))
}
