//! Where actors come from. The command line adds the built-in cast; files are read here.

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frisson::character::Character;
use frisson::geometry::Mesh;
use frisson::stage::MeshSequence;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_128;

use crate::cache::{CacheReader, CacheSequence};
use crate::given;
use crate::gltf;
use crate::inputs::InputSet;
use crate::usd::input::{UsdFile, UsdMeshes, read_usd_character};

/// An actor's source, read.
#[derive(Clone)]
pub struct LoadedActor {
    /// What was read.
    pub content: ActorContent,
    /// Hash of the source's bytes: a resumed bake must have the same.
    pub hash: u128,
    /// The files it was read from: no output may be one of them.
    pub files: Vec<PathBuf>,
    /// What whoever uses it should know.
    pub remarks: Vec<String>,
}

impl LoadedActor {
    /// What was read through an input set.
    #[must_use]
    pub fn from_inputs(content: ActorContent, inputs: &InputSet) -> Self {
        let files = inputs.files().into_iter().map(|f| f.path).collect();
        Self { content, hash: inputs.hash(), files, remarks: Vec::new() }
    }

    /// The same, with what its reader left out, by the name it has in the scene.
    pub(super) fn telling(mut self, source: &str, left_out: Vec<String>) -> Self {
        self.remarks.extend(left_out.into_iter().map(|text| format!("{source}: {text}")));
        self
    }

    /// What needs no file; `identity` says which.
    #[must_use]
    pub fn without_files(content: ActorContent, identity: &str) -> Self {
        let hash = source_hash(identity.as_bytes());
        Self { content, hash, files: Vec::new(), remarks: Vec::new() }
    }
}

/// What a source holds.
#[derive(Clone)]
pub enum ActorContent {
    /// A character with skeleton and clips.
    Character(Arc<Character>),
    /// A character whose vertices are given frame by frame while its joints play its clip, and how long
    /// the vertices play [s].
    Pointed(Arc<Character>, Arc<dyn MeshSequence>, f64),
    /// Plain meshes.
    Meshes(Vec<Mesh>),
    /// Meshes given frame by frame, and how long they play [s].
    Sequence(Arc<dyn MeshSequence>, f64),
}

/// A source that cannot be read.
#[derive(Debug, Error)]
pub enum LoadError {
    /// There is no such file.
    #[error("there is no file {}", .0.display())]
    Missing(PathBuf),
    /// The built-in cast refuses.
    #[error("{0}")]
    Builtin(String),
    /// Not a kind of file that actors come from.
    #[error(
        "{0:?} is not a source this program reads: give `builtin:NAME`, .glb, .gltf, .vrm, .fbx, .usd, .usda, .usdc, .usdz, .abc, .obj, \
         NAME.####.obj or .frisson"
    )]
    UnknownKind(String),
    /// The file is there and cannot be used.
    #[error("{source_name}: {problem}")]
    Unreadable {
        /// As spelled in the scene.
        source_name: String,
        /// What is wrong.
        problem: String,
    },
}

/// Hash of a source's bytes.
#[must_use]
pub fn source_hash(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

/// Reads actors' sources.
pub trait ActorLoader {
    /// Reads one source as spelled in a scene file that lies in `folder`.
    fn load(&self, source: &str, folder: &Path) -> Result<LoadedActor, LoadError>;
}

/// How USD files end.
const USD: [&str; 4] = ["usd", "usda", "usdc", "usdz"];

/// A USD file as an actor: a character where there is a skeleton or nothing moves, else meshes over time.
fn read_usd(path: &Path, inputs: &InputSet) -> Result<(ActorContent, Vec<String>), String> {
    let mut file = UsdFile::open_with(path, inputs).map_err(|e| e.to_string())?;
    if file.meshes().len() == 0 && !file.has_skeleton() {
        return Err("it has no mesh that an actor could be".to_owned());
    }
    if file.has_skeleton() || !file.is_animated() {
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let character = read_usd_character(&mut file, &name).map_err(|e| e.to_string())?;
        let left_out = file.warnings().to_vec();
        return Ok((ActorContent::Character(Arc::new(character)), left_out));
    }
    let left_out = file.warnings().to_vec();
    let meshes = UsdMeshes::new(Arc::new(file)).map_err(|e| e.to_string())?;
    if meshes.meshes().is_empty() {
        return Err("it has no mesh that an actor could be".to_owned());
    }
    let seconds = meshes.seconds();
    Ok((ActorContent::Sequence(Arc::new(meshes), seconds), left_out))
}

/// Reads a character from any file that holds one: glTF, VRM, FBX, USD, BVH; and what was left out of it, for people.
pub fn read_character(path: &Path, inputs: &InputSet) -> Result<(Character, Vec<String>), String> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        #[cfg(feature = "fbx")]
        "fbx" => match crate::fbx::read_fbx_file(path, inputs) {
            Ok(imported) => Ok((imported.character, imported.warnings)),
            Err(error) => Err(error.to_string()),
        },
        #[cfg(not(feature = "fbx"))]
        "fbx" => Err("this program was built without FBX".to_owned()),
        "usd" | "usda" | "usdc" | "usdz" => match read_usd(path, inputs)? {
            (ActorContent::Character(character), left_out) => {
                Ok((Character::clone(&character), left_out))
            }
            _ => Err("it has no skeleton".to_owned()),
        },
        "bvh" => {
            let bytes = inputs.read(path).map_err(|e| e.to_string())?;
            let text = String::from_utf8_lossy(&bytes);
            Ok((crate::motion::read_bvh(&text).map_err(|e| e.to_string())?, Vec::new()))
        }
        _ => {
            let options = gltf::ReadOptions::default();
            let imported = gltf::read_input(path, &options, inputs).map_err(|e| e.to_string())?;
            Ok((imported.character, imported.warnings))
        }
    }
}

/// Reads files only.
pub struct FileLoader;

impl ActorLoader for FileLoader {
    fn load(&self, source: &str, folder: &Path) -> Result<LoadedActor, LoadError> {
        let path = folder.join(source);
        let extension =
            path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        let unreadable =
            |problem: String| LoadError::Unreadable { source_name: source.to_owned(), problem };
        let kinds = ["glb", "gltf", "vrm", "fbx", "bvh", "abc", "obj", "frisson"];
        if !kinds.contains(&extension.as_str()) && !USD.contains(&extension.as_str()) {
            return Err(LoadError::UnknownKind(source.to_owned()));
        }
        // Told by itself: "cannot be read" would not say that it is not there.
        if path.symlink_metadata().is_err() {
            return Err(LoadError::Missing(path));
        }
        let inputs = InputSet::new();
        if ["fbx", "bvh"].contains(&extension.as_str()) {
            let (character, left_out) = read_character(&path, &inputs).map_err(unreadable)?;
            let content = ActorContent::Character(Arc::new(character));
            return Ok(LoadedActor::from_inputs(content, &inputs).telling(source, left_out));
        }
        if USD.contains(&extension.as_str()) {
            let (content, left_out) = read_usd(&path, &inputs).map_err(unreadable)?;
            return Ok(LoadedActor::from_inputs(content, &inputs).telling(source, left_out));
        }
        if ["abc", "obj"].contains(&extension.as_str()) {
            // One file has one frame: the rate does not matter. Sequences come in by another door.
            let given = given::open(&path, 1.0, &inputs);
            let given = given.map_err(|e| unreadable(e.to_string()))?;
            let none = || unreadable("it has no mesh that an actor could be".to_owned());
            let content = ActorContent::Sequence(given.meshes.ok_or_else(none)?, given.seconds);
            let loaded = LoadedActor::from_inputs(content, &inputs);
            return Ok(loaded.telling(source, given.warnings));
        }
        if extension == "frisson" {
            let file = inputs.open(&path).map_err(|e| unreadable(e.to_string()))?;
            let bytes = Box::new(BufReader::with_capacity(1 << 16, file));
            let reader =
                CacheReader::from_bytes(bytes, &path).map_err(|e| unreadable(e.to_string()))?;
            let sequence = CacheSequence::new(reader).map_err(|e| unreadable(e.to_string()))?;
            let seconds = sequence.seconds();
            let content = ActorContent::Sequence(Arc::new(sequence), seconds);
            return Ok(LoadedActor::from_inputs(content, &inputs));
        }
        let imported = gltf::read_input(&path, &gltf::ReadOptions::default(), &inputs)
            .map_err(|e| unreadable(e.to_string()))?;
        let content = ActorContent::Character(Arc::new(imported.character));
        Ok(LoadedActor::from_inputs(content, &inputs).telling(source, imported.warnings))
    }
}
