//! Putting a GLB together: objects into the JSON, bytes into the one buffer, whole file at the end.

mod accessors;
mod adopt;

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::container::{BIN_CHUNK, JSON_CHUNK, MAGIC};
use super::error::{GltfError, Result};
use super::json::whole_number;
use super::plain::declare_extensions;

/// What a buffer view is for; viewers upload vertices and indices to the graphics card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewUse {
    /// Per-vertex data.
    Vertices,
    /// Triangle corners.
    Indices,
    /// Anything else: key times, matrices, images.
    Other,
}

/// The format's words for what a view is for, which are those of OpenGL.
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// The bytes of the one buffer: in memory, or in a file beside the output where a bake is larger
/// than one would like to keep.
enum Store {
    Memory(Vec<u8>),
    Spool { path: PathBuf, file: BufWriter<File>, length: u64 },
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Self::Spool { path, .. } = self {
            // Nothing can be done about a temporary file that will not go.
            let _ = fs::remove_file(path);
        }
    }
}

impl Store {
    fn length(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Spool { length, .. } => *length,
        }
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Memory(all) => all.extend_from_slice(bytes),
            Self::Spool { path, file, length } => {
                file.write_all(bytes).map_err(|e| GltfError::io(path, e))?;
                *length += bytes.len() as u64;
            }
        }
        Ok(())
    }
}

/// A GLB being made.
///
/// Objects go into [`GlbBuilder::json`] (with [`GlbBuilder::push`], which answers their index), numbers
/// into accessors. Start from nothing, or from a [`Document`](super::Document) whose contents are all kept.
pub struct GlbBuilder {
    /// The JSON so far; `buffers` is written by [`GlbBuilder::finish`].
    pub json: Value,
    store: Store,
    /// Whether it began as another file, whose declarations may no longer be true.
    adopted: bool,
}

impl Default for GlbBuilder {
    fn default() -> Self {
        Self::new()
    }
}

/// Named like all files in the making, so that a later run takes it away after a kill.
fn temporary(path: &Path, kind: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!(".{name}.{kind}.{}.partial", std::process::id()))
}

impl GlbBuilder {
    /// An empty file.
    #[must_use]
    pub fn new() -> Self {
        let generator = concat!("frisson ", env!("CARGO_PKG_VERSION"));
        let json = json!({ "asset": { "version": "2.0", "generator": generator } });
        Self { json, store: Store::Memory(Vec::new()), adopted: false }
    }

    /// An empty file whose bytes wait in a temporary file beside `output`.
    pub fn spooled(output: &Path) -> Result<Self> {
        let path = temporary(output, "bin");
        let opened = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let opened = opened.map_err(|e| GltfError::io(&path, e))?;
        // Held against being taken for a left-over of a killed run.
        let _ = opened.try_lock();
        let file = BufWriter::new(opened);
        Ok(Self { store: Store::Spool { path, file, length: 0 }, ..Self::new() })
    }

    /// Adds an object to a top-level array and answers its index.
    pub fn push(&mut self, array: &str, value: Value) -> usize {
        if !self.json[array].is_array() {
            self.json[array] = Value::Array(Vec::new());
        }
        let entries = self.json[array].as_array_mut();
        entries.map_or(0, |entries| {
            entries.push(value);
            entries.len() - 1
        })
    }

    /// Adds an animation before all others: viewers play the first one, nothing in the format names one by
    /// index.
    pub fn push_first_animation(&mut self, animation: Value) {
        let index = self.push("animations", animation);
        if let Some(animations) = self.json["animations"].as_array_mut() {
            animations[..=index].rotate_right(1);
        }
    }

    /// An object of a top-level array.
    pub fn object_mut(&mut self, array: &str, index: usize) -> Option<&mut Map<String, Value>> {
        self.json.get_mut(array)?.get_mut(index)?.as_object_mut()
    }

    /// Names an extension as used, and as required if it is.
    pub fn use_extension(&mut self, name: &str, required: bool) {
        for key in ["extensionsUsed", "extensionsRequired"].iter().take(1 + usize::from(required)) {
            let known = self.json[*key].as_array().is_some_and(|a| a.iter().any(|v| v == name));
            if !known {
                self.push(key, json!(name));
            }
        }
    }

    /// Puts a node under the default scene (made if there is none).
    pub fn add_to_scene(&mut self, node: usize) {
        if self.json.get("scenes").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            self.json["scenes"] = json!([{ "nodes": [] }]);
            self.json["scene"] = json!(0);
        }
        let scene = self.json.get("scene").and_then(whole_number).unwrap_or(0);
        if let Some(scene) = self.object_mut("scenes", scene) {
            let nodes = scene.entry("nodes").or_insert_with(|| json!([]));
            if let Some(nodes) = nodes.as_array_mut() {
                nodes.push(json!(node));
            }
        }
    }

    fn align(&mut self) -> Result<()> {
        // Every view begins at a multiple of four, whatever its numbers are.
        let padding = (4 - self.store.length() % 4) % 4;
        self.store.append(&[0; 3][..padding as usize])
    }

    /// A buffer view of these bytes.
    pub fn view(&mut self, bytes: &[u8], purpose: ViewUse, stride: Option<usize>) -> Result<usize> {
        self.align()?;
        let mut view = json!({
            "buffer": 0,
            "byteOffset": self.store.length(),
            "byteLength": bytes.len(),
        });
        if let Some(stride) = stride {
            view["byteStride"] = json!(stride);
        }
        match purpose {
            ViewUse::Vertices => view["target"] = json!(ARRAY_BUFFER),
            ViewUse::Indices => view["target"] = json!(ELEMENT_ARRAY_BUFFER),
            ViewUse::Other => {}
        }
        self.store.append(bytes)?;
        Ok(self.push("bufferViews", view))
    }

    /// Writes the file beside its place and moves it there when it is whole. Answers its size.
    pub fn finish(mut self, path: &Path, overwrite: bool) -> Result<u64> {
        refuse_existing(path, overwrite)?;
        let partial = temporary(path, "glb");
        let written = self.write_to(&partial).and_then(|size| {
            refuse_existing(path, overwrite)?;
            fs::rename(&partial, path).map_err(|e| GltfError::io(path, e))?;
            Ok(size)
        });
        if written.is_err() {
            // The error that led here matters more than one about the left-over.
            let _ = fs::remove_file(&partial);
        }
        written
    }

    fn write_to(&mut self, path: &Path) -> Result<u64> {
        let io = |e| GltfError::io(path, e);
        let file = File::create(path).map_err(io)?;
        // Held against being taken for a left-over; see `outputs::clean_leftovers`.
        let _ = file.try_lock();
        let mut file = BufWriter::new(file);
        let size = self.write_glb(&mut file, path)?;
        let file = file.into_inner().map_err(|e| io(e.into_error()))?;
        file.sync_all().map_err(io)?;
        Ok(size)
    }

    /// The bytes of the whole file.
    pub fn into_bytes(mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_glb(&mut bytes, Path::new("memory"))?;
        Ok(bytes)
    }

    fn write_glb(&mut self, out: &mut dyn Write, path: &Path) -> Result<u64> {
        let io = |e| GltfError::io(path, e);
        self.align()?;
        let bin_length = self.store.length();
        if bin_length > 0 {
            if !self.json["buffers"].is_array() {
                self.json["buffers"] = json!([{}]);
            }
            self.json["buffers"][0] = json!({ "byteLength": bin_length });
        } else if let Some(object) = self.json.as_object_mut() {
            object.shift_remove("buffers");
        }
        if self.adopted {
            declare_extensions(&mut self.json);
        }
        let mut text = serde_json::to_vec(&self.json)?;
        // Chunks of a GLB end at multiples of four, text with spaces.
        text.resize(text.len().next_multiple_of(4), b' ');
        let bin_part = if bin_length > 0 { 8 + bin_length } else { 0 };
        let total = 12 + 8 + text.len() as u64 + bin_part;
        let Ok(total_word) = u32::try_from(total) else {
            let problem = format!("{total} bytes; a GLB cannot be larger than 4 GiB");
            return Err(GltfError::too_large(path.display().to_string(), problem));
        };
        for word in [MAGIC, 2, total_word, text.len() as u32, JSON_CHUNK] {
            out.write_all(&word.to_le_bytes()).map_err(io)?;
        }
        out.write_all(&text).map_err(io)?;
        if bin_length > 0 {
            for word in [bin_length as u32, BIN_CHUNK] {
                out.write_all(&word.to_le_bytes()).map_err(io)?;
            }
            match &mut self.store {
                Store::Memory(bytes) => out.write_all(bytes).map_err(io)?,
                Store::Spool { path, file, length } => {
                    let spool = |e| GltfError::io(path, e);
                    file.seek(SeekFrom::Start(0)).map_err(spool)?;
                    let copied = std::io::copy(&mut file.get_mut().take(*length), out);
                    copied.map_err(io)?;
                }
            }
        }
        out.flush().map_err(io)?;
        Ok(total)
    }
}

/// An error if something is there and may not be replaced.
pub(super) fn refuse_existing(path: &Path, overwrite: bool) -> Result<()> {
    if !overwrite && path.exists() { Err(GltfError::Exists(path.to_owned())) } else { Ok(()) }
}
