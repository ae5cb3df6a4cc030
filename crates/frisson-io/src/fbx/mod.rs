//! FBX characters: meshes, skins, blend shapes, takes, materials and textures.
//!
//! The parsing is `ufbx`'s; it also brings units and axes to metres with Y up. Here its scene becomes
//! a [`Character`]. Everything it hands over is looked at again: indices are checked, numbers that are
//! not finite are refused, and the memory it may take is bounded by the size of the file.

mod look;
mod mesh;
mod takes;

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use frisson::character::{Character, Node, Skeleton, Transform};
use glam::{Mat4, Quat, Vec3};
use thiserror::Error;

use crate::gltf::UniqueNames;
use crate::inputs::InputSet;

/// Memory that any file may take while it is read [bytes].
const FREE_MEMORY: usize = 256 << 20;
/// Memory besides, per byte of the file: packed arrays grow, text grows less.
const MEMORY_PER_BYTE: usize = 256;
/// Deepest nesting of nodes.
const MAX_DEPTH: u32 = 512;

/// Why an FBX file cannot be read.
#[derive(Debug, Error)]
pub enum FbxError {
    /// The parser says no.
    #[error("not a readable FBX file: {0}")]
    Parse(String),
    /// The file contradicts itself.
    #[error("{place}: {problem}")]
    Damaged {
        /// Node or mesh.
        place: String,
        /// What is wrong.
        problem: String,
    },
}

impl FbxError {
    fn damaged(place: &str, problem: impl Into<String>) -> Self {
        Self::Damaged { place: place.to_owned(), problem: problem.into() }
    }
}

/// What was read.
#[derive(Clone, Debug)]
pub struct FbxImported {
    /// Who is in the file, in metres, Y up.
    pub character: Character,
    /// What was left out, for people.
    pub warnings: Vec<String>,
}

/// Reads an FBX file and the textures it names through an input set.
pub fn read_fbx_file(path: &Path, inputs: &InputSet) -> Result<FbxImported, FbxError> {
    let bytes = inputs.read(path).map_err(|e| FbxError::Parse(e.to_string()))?;
    let mut imported = read_fbx(&bytes, path.parent(), inputs)?;
    if let Some(stem) = path.file_stem() {
        imported.character.name = stem.to_string_lossy().into_owned();
    }
    Ok(imported)
}

/// Reads the bytes of an FBX file; textures beside it are looked for in `base_dir`.
pub fn read_fbx(
    bytes: &[u8],
    base_dir: Option<&Path>,
    inputs: &InputSet,
) -> Result<FbxImported, FbxError> {
    // A binding that panics on what it did not foresee must come back as an error.
    let read = catch_unwind(AssertUnwindSafe(|| read_scene(bytes, base_dir, inputs)));
    read.unwrap_or_else(|_| Err(FbxError::Parse("the parser gave up on damaged data".to_owned())))
}

fn read_scene(
    bytes: &[u8],
    base_dir: Option<&Path>,
    inputs: &InputSet,
) -> Result<FbxImported, FbxError> {
    let limit = FREE_MEMORY.saturating_add(bytes.len().saturating_mul(MEMORY_PER_BYTE));
    let allocator = || ufbx::AllocatorOpts { memory_limit: limit, ..Default::default() };
    let options = ufbx::LoadOpts {
        temp_allocator: allocator(),
        result_allocator: allocator(),
        file_format: ufbx::FileFormat::Fbx,
        target_axes: ufbx::CoordinateAxes::right_handed_y_up(),
        target_unit_meters: 1.0,
        // Into vertices and nodes, not as a scale on the root: layers measure in metres.
        space_conversion: ufbx::SpaceConversion::ModifyGeometry,
        // FBX moves geometry beside its node, which we have no word for: a node of its own does it.
        geometry_transform_handling: ufbx::GeometryTransformHandling::HelperNodes,
        inherit_mode_handling: ufbx::InheritModeHandling::HelperNodes,
        clean_skin_weights: true,
        node_depth_limit: MAX_DEPTH,
        ..Default::default()
    };
    let scene = ufbx::load_memory(bytes, options).map_err(|e| FbxError::Parse(said(&e)))?;
    let mut importer = Importer { scene: &scene, base_dir, inputs, warnings: Vec::new() };
    let character = importer.character()?;
    let warnings = importer.warnings;
    Ok(FbxImported { character, warnings })
}

fn said(error: &ufbx::Error) -> String {
    match error.info() {
        "" => error.description.to_string(),
        info => format!("{} ({info})", &*error.description),
    }
}

struct Importer<'a> {
    scene: &'a ufbx::Scene,
    base_dir: Option<&'a Path>,
    inputs: &'a InputSet,
    warnings: Vec<String>,
}

impl Importer<'_> {
    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    fn character(&mut self) -> Result<Character, FbxError> {
        let skeleton = self.skeleton()?;
        let mut character = Character { skeleton, ..Character::default() };
        character.name = "character".to_owned();
        self.add_meshes(&mut character)?;
        self.add_takes(&mut character)?;
        Ok(character)
    }

    /// A name for every node. The file's own root gets what the others leave: a joint may be called root, too, and is
    /// looked for by its name.
    fn names(&self) -> Vec<String> {
        let mut unique = UniqueNames::default();
        let nodes = &self.scene.nodes;
        let mut names = vec![String::new(); nodes.len()];
        for of_root in [false, true] {
            for (node, name) in nodes.iter().zip(&mut names).filter(|(n, _)| n.is_root == of_root) {
                let wanted = match (of_root, &*node.element.name) {
                    (true, "") => "root",
                    (_, "") => "node",
                    (_, name) => name,
                };
                *name = unique.make_unique(wanted);
            }
        }
        names
    }

    fn skeleton(&mut self) -> Result<Skeleton, FbxError> {
        let mut nodes = Vec::with_capacity(self.scene.nodes.len());
        for (node, name) in self.scene.nodes.iter().zip(self.names()) {
            let rest = transform(&node.local_transform)
                .ok_or_else(|| FbxError::damaged(&name, "its transform is not finite"))?;
            let parent = node.parent.as_ref().map(|p| p.element.typed_id as usize);
            nodes.push(Node { name, parent, rest });
        }
        Skeleton::new(nodes).map_err(|e| FbxError::damaged("nodes", e.to_string()))
    }
}

fn vector(v: &ufbx::Vec3) -> Option<Vec3> {
    Some(Vec3::new(v.x as f32, v.y as f32, v.z as f32)).filter(|v| v.is_finite())
}

fn rotation(q: &ufbx::Quat) -> Option<Quat> {
    let q = Quat::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32);
    (q.is_finite() && q.length_squared() > 0.0).then(|| q.normalize())
}

fn transform(t: &ufbx::Transform) -> Option<Transform> {
    Some(Transform {
        translation: vector(&t.translation)?,
        rotation: rotation(&t.rotation)?,
        scale: vector(&t.scale)?,
    })
}

fn matrix(m: &ufbx::Matrix) -> Option<Mat4> {
    let columns = [
        [m.m00, m.m10, m.m20, 0.0],
        [m.m01, m.m11, m.m21, 0.0],
        [m.m02, m.m12, m.m22, 0.0],
        [m.m03, m.m13, m.m23, 1.0],
    ];
    let matrix = Mat4::from_cols_array_2d(&columns.map(|c| c.map(|n| n as f32)));
    matrix.is_finite().then_some(matrix)
}
