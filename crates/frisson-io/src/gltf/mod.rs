//! glTF and GLB, in and out.
//!
//! [`read_file`] gives a [`Document`] (the file as it is, everything kept) and the
//! [`Character`] it holds. The reader is our own: every offset and
//! count is checked against the bytes that are there, nothing is allocated beyond what the file's
//! size can justify, and a malformed file ends in a [`GltfError`] that names the culprit.
//!
//! ```text
//! bytes ─ container ─► Document ─ accessor (+ meshopt, draco) ─► nodes, primitive, mesh, animation ─► Character
//! ```

mod accessor;
mod animation;
mod builder;
mod container;
mod document;
#[cfg(feature = "draco")]
mod draco;
mod error;
mod import;
mod joints;
mod joints_document;
mod json;
mod kept;
mod living;
mod living_document;
mod material;
mod mesh;
#[cfg(feature = "meshopt")]
mod meshopt;
mod morph_bake;
mod nodes;
mod plain;
mod primitive;
mod shapes;
mod texture;
mod vrm;
mod write_character;
mod write_mesh;

use std::path::Path;

use frisson::character::Character;

use crate::inputs::InputSet;

pub use builder::{GlbBuilder, ViewUse};
pub use document::Document;
#[cfg(feature = "draco")]
pub use draco::{serve_draco, set_draco_helper};
pub use error::GltfError;
pub use import::{ReadOptions, SceneChoice, to_character};
pub use joints::{JointsOptions, JointsReport, export_joints};
pub use living::{LivingOptions, LivingReport, export_living};
pub(crate) use mesh::smoothing_groups;
pub use morph_bake::{MorphEncoding, MorphOptions, MorphReport, export_morph_bake};
pub(crate) use nodes::UniqueNames;
pub(crate) use texture::decode as decode_image;
pub use vrm::{Oscillator, SPRING_STEPS_HZ, SpringChain, SpringCollider, SpringJoint, Vrm};
pub use write_character::{build_character, write_character};

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The file as it is.
    pub document: Document,
    /// Who is in it.
    pub character: Character,
    /// What was left out, for people.
    pub warnings: Vec<String>,
}

/// Reads a `.glb` or `.gltf` file.
pub fn read_file(path: &Path) -> Result<Imported, GltfError> {
    read_file_with(path, &ReadOptions::default())
}

/// Reads a `.glb` or `.gltf` file with options.
pub fn read_file_with(path: &Path, options: &ReadOptions) -> Result<Imported, GltfError> {
    read_input(path, options, &InputSet::new())
}

/// Reads a `.glb` or `.gltf` file and what it names through an input set, which then knows every
/// byte that the character is made of.
pub fn read_input(
    path: &Path,
    options: &ReadOptions,
    inputs: &InputSet,
) -> Result<Imported, GltfError> {
    let mut imported = import(Document::open_with(path, inputs)?, options)?;
    if let Some(stem) = path.file_stem() {
        imported.character.name = stem.to_string_lossy().into_owned();
    }
    Ok(imported)
}

/// Reads the bytes of a `.glb` or `.gltf`; files it names are looked for in `base_dir`.
pub fn read_bytes(bytes: &[u8], base_dir: Option<&Path>) -> Result<Imported, GltfError> {
    import(Document::parse(bytes, base_dir)?, &ReadOptions::default())
}

fn import(document: Document, options: &ReadOptions) -> Result<Imported, GltfError> {
    let (character, warnings) = to_character(&document, options)?;
    Ok(Imported { document, character, warnings })
}
