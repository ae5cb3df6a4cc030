//! A document into a character.

use std::collections::BTreeMap;
use std::sync::Arc;

use frisson::character::{Character, CharacterMesh, Pose, Sampling, Skeleton, Skin};
use frisson::geometry::Texture;
use glam::Mat4;

use super::accessor::Accessors;
use super::document::{Document, Kind};
use super::error::{GltfError, Result};
use super::nodes::UniqueNames;
use crate::inputs::check_count;
use crate::warnings::Warnings;

/// Which scene of a document to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SceneChoice {
    /// The one the file names, or the first; all nodes if there is no scene.
    #[default]
    Default,
    /// By index.
    Index(usize),
    /// By name.
    Name(String),
}

/// What to read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Which scene.
    pub scene: SceneChoice,
    /// Whether base-colour textures are decoded.
    pub textures: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { scene: SceneChoice::Default, textures: true }
    }
}

/// Required extensions that change how numbers are stored, all understood.
const KNOWN_EXTENSIONS: &[&str] = &[
    "KHR_mesh_quantization",
    #[cfg(feature = "meshopt")]
    "EXT_meshopt_compression",
    #[cfg(feature = "meshopt")]
    "KHR_meshopt_compression",
    #[cfg(feature = "draco")]
    "KHR_draco_mesh_compression",
];

/// Beginnings of extensions that do not change shapes: reading goes on without them.
const HARMLESS_EXTENSIONS: &[&str] = &[
    "KHR_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "MSFT_texture_",
    "KHR_lights_",
    "EXT_lights_",
    "KHR_xmp",
    "KHR_audio",
    "KHR_animation_pointer",
    "KHR_node_",
    "EXT_mesh_gpu_instancing",
    "VRM",
];

/// Reads the parts of a document; warnings gather on the way.
pub(super) struct Importer<'a> {
    pub document: &'a Document,
    pub options: &'a ReadOptions,
    pub accessors: Accessors<'a>,
    /// Unpacked images, by image.
    pub images: BTreeMap<usize, Option<Arc<Texture>>>,
    pub skins: Vec<Skin>,
    warnings: Warnings,
}

/// Reads the character of a document: skeleton, skins, meshes and clips, and warnings about what was
/// left out.
pub fn to_character(
    document: &Document,
    options: &ReadOptions,
) -> Result<(Character, Vec<String>)> {
    let mut importer = Importer {
        document,
        options,
        accessors: Accessors::new(document),
        images: BTreeMap::new(),
        skins: Vec::new(),
        warnings: Warnings::new(document.inputs.limits().messages),
    };
    let character = importer.character()?;
    Ok((character, importer.warnings.into_list()))
}

impl Importer<'_> {
    /// Notes something that was left out, once.
    pub(super) fn warn(&mut self, warning: String) {
        self.warnings.add(warning);
    }

    fn character(&mut self) -> Result<Character> {
        self.check_extensions()?;
        let skeleton = self.skeleton()?;
        self.skins = self.read_skins()?;
        let meshes = self.meshes(&skeleton)?;
        let clips = self.clips()?;
        let skins = std::mem::take(&mut self.skins);
        let name = "character".to_owned();
        let mut character = Character { name, skeleton, skins, meshes, clips };
        // After skins and nodes are known: only then is it seen which meshes are turned inside out.
        turn_mirrored_meshes(&mut character);
        self.check_weight_tracks(&mut character);
        Ok(character)
    }

    fn check_extensions(&mut self) -> Result<()> {
        for required in self.document.items("extensionsRequired")? {
            let name = required.as_str().unwrap_or("");
            if KNOWN_EXTENSIONS.contains(&name) {
                continue;
            }
            if HARMLESS_EXTENSIONS.iter().any(|prefix| name.starts_with(prefix)) {
                if name != "KHR_texture_transform" {
                    self.warn(format!("extension {name} is not read"));
                }
                continue;
            }
            let problem = format!("the file requires the extension {name:?}, which is not known");
            return Err(GltfError::Unsupported(problem));
        }
        Ok(())
    }

    fn meshes(&mut self, skeleton: &Skeleton) -> Result<Vec<CharacterMesh>> {
        let mut names = UniqueNames::default();
        let mut meshes: Vec<CharacterMesh> = Vec::new();
        let most = self.document.inputs.limits().placed_meshes;
        for node in self.visible_nodes(skeleton)? {
            let item = self.document.item(Kind::Node, node)?;
            let Some(mesh) = item.index("mesh")? else { continue };
            let skin = item.index("skin")?;
            if let Some(skin) = skin.filter(|&s| s >= self.skins.len()) {
                return Err(item.invalid(format!("there is no skin {skin}")));
            }
            let mesh_name = self.document.item(Kind::Mesh, mesh)?.name();
            // Unlike other meshes is enough: a joint may have the same name.
            let own = skeleton.nodes()[node].name.as_str();
            let wanted = item.name().or(mesh_name).unwrap_or(own);
            check_count("placed meshes", meshes.len() as u64 + 1, most)?;
            let name = names.make_unique(wanted);
            meshes.extend(self.mesh(node, name, mesh, skin)?);
        }
        Ok(meshes)
    }

    /// Drops weight tracks that drive nothing.
    fn check_weight_tracks(&mut self, character: &mut Character) {
        use frisson::character::TrackTarget::MorphWeights;
        let mut warnings = Vec::new();
        let targets_of: BTreeMap<usize, usize> =
            character.meshes.iter().rev().map(|m| (m.node, m.morphs.len())).collect();
        for clip in &mut character.clips {
            clip.tracks.retain(|track| {
                let MorphWeights(node) = track.target else { return true };
                let targets = targets_of.get(&node).copied().unwrap_or(0);
                if targets != track.width {
                    let width = track.width;
                    warnings.push(format!(
                        "clip {:?}: {width} weights for {targets} morph targets of node {:?}",
                        clip.name,
                        character.skeleton.nodes()[node].name
                    ));
                }
                targets > 0
            });
        }
        warnings.into_iter().for_each(|w| self.warn(w));
    }
}

/// A mirrored node turns a mesh inside out: its triangles are turned round so that they stay
/// counter-clockwise seen from outside.
fn turn_mirrored_meshes(character: &mut Character) {
    let mut pose = Pose::default();
    pose.set(character, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
    for mesh in &mut character.meshes {
        let matrix = match mesh.skin {
            None => pose.world_from_node[mesh.node],
            Some(skin) => {
                let skin = &character.skins[skin];
                pose.world_from_node[skin.joints[0]] * skin.inverse_bind[0]
            }
        };
        if matrix.determinant() < 0.0 {
            let topology = Arc::make_mut(&mut mesh.mesh.topology);
            topology.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
    }
}
