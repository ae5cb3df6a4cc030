//! Putting a GLB together: objects into the JSON, bytes into the one buffer, whole file at the end.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use glam::{Mat4, Vec3};
use serde_json::{Map, Value, json};

use super::container::{BIN_CHUNK, JSON_CHUNK, MAGIC, decode_data_uri, name_of_uri};
use super::document::Document;
use super::error::{GltfError, Result};
use super::json::whole_number;
use super::plain::{PACKED_VIEWS, declare_extensions};

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
/// into accessors. Start from nothing, or from a [`Document`] whose contents are all kept.
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
        let _ = opened.try_lock();
        let file = BufWriter::new(opened);
        Ok(Self { store: Store::Spool { path, file, length: 0 }, ..Self::new() })
    }

    /// Takes over everything of a document: all buffers become one, and images that lie beside it are
    /// put inside. Answers with warnings about images that could not be found. The builder must be empty.
    pub fn adopt(&mut self, document: &Document) -> Result<Vec<String>> {
        self.json = document.json.clone();
        self.adopted = true;
        let mut places = Vec::new();
        let mut fallbacks = Vec::new();
        for (index, buffer) in document.buffers.iter().enumerate() {
            if let Some(bytes) = buffer {
                self.align()?;
                places.push((0, self.store.length()));
                self.store.append(bytes)?;
            } else {
                let old = document.items("buffers")?.get(index).cloned();
                fallbacks.push(old.unwrap_or_else(|| json!({})));
                places.push((fallbacks.len(), 0));
            }
        }
        move_views(&mut self.json, &places);
        let mut buffers = vec![json!({ "byteLength": 0 })];
        buffers.extend(fallbacks);
        self.json["buffers"] = Value::Array(buffers);
        self.embed_images(document)
    }

    fn embed_images(&mut self, document: &Document) -> Result<Vec<String>> {
        let mut warnings = Vec::new();
        let count = self.json.get("images").and_then(Value::as_array).map_or(0, Vec::len);
        for image in 0..count {
            let uri = self.json["images"][image].get("uri").and_then(Value::as_str);
            let Some(uri) = uri.filter(|uri| decode_data_uri(uri).is_none()) else { continue };
            let found = name_of_uri(uri).and_then(|name| {
                let read = document.inputs.read_beside(document.base_dir.as_deref(), &name);
                read.map_err(|e| e.to_string())
            });
            let bytes = match found {
                Ok(bytes) => bytes,
                Err(problem) => {
                    warnings.push(format!("image {image} stays outside: {problem}"));
                    continue;
                }
            };
            let mime = if bytes.starts_with(&[0xFF, 0xD8]) { "image/jpeg" } else { "image/png" };
            let view = self.view(&bytes, ViewUse::Other, None)?;
            if let Some(object) = self.json["images"][image].as_object_mut() {
                object.shift_remove("uri");
                object.insert("bufferView".into(), json!(view));
                object.insert("mimeType".into(), json!(mime));
            }
        }
        Ok(warnings)
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
            ViewUse::Vertices => view["target"] = json!(34962),
            ViewUse::Indices => view["target"] = json!(34963),
            ViewUse::Other => {}
        }
        self.store.append(bytes)?;
        Ok(self.push("bufferViews", view))
    }

    /// An accessor over a view of its own.
    fn accessor(
        &mut self,
        bytes: &[u8],
        purpose: ViewUse,
        count: usize,
        component: u32,
        shape: &str,
    ) -> Result<usize> {
        let view = self.view(bytes, purpose, None)?;
        let accessor = json!({
            "bufferView": view, "componentType": component, "count": count, "type": shape,
        });
        Ok(self.push("accessors", accessor))
    }

    /// Floats, `width` per element: 1, 2, 3, 4, or 16 for matrices.
    pub fn floats(&mut self, numbers: &[f32], width: usize, purpose: ViewUse) -> Result<usize> {
        let shape = match width {
            1 => "SCALAR",
            2 => "VEC2",
            3 => "VEC3",
            4 => "VEC4",
            16 => "MAT4",
            _ => return Err(GltfError::invalid("accessor", format!("{width} numbers an element"))),
        };
        let bytes = bytemuck::cast_slice(numbers);
        self.accessor(bytes, purpose, numbers.len() / width, 5126, shape)
    }

    /// Positions: vectors with the bounds that the format demands of them.
    pub fn positions(&mut self, positions: &[Vec3]) -> Result<usize> {
        let accessor = self.floats(bytemuck::cast_slice(positions), 3, ViewUse::Vertices)?;
        self.set_bounds(accessor, positions);
        Ok(accessor)
    }

    /// Writes the bounds of an accessor of vectors.
    pub(super) fn set_bounds(&mut self, accessor: usize, vectors: &[Vec3]) {
        if let (Some(&first), Some(object)) =
            (vectors.first(), self.object_mut("accessors", accessor))
        {
            let low = vectors.iter().fold(first, |a, &v| a.min(v));
            let high = vectors.iter().fold(first, |a, &v| a.max(v));
            object.insert("min".into(), json!(low.to_array()));
            object.insert("max".into(), json!(high.to_array()));
        }
    }

    /// Key times [s], ascending, with their bounds.
    pub fn times(&mut self, times: &[f32]) -> Result<usize> {
        let accessor = self.floats(times, 1, ViewUse::Other)?;
        if let (Some(first), Some(last), Some(object)) =
            (times.first(), times.last(), self.object_mut("accessors", accessor))
        {
            object.insert("min".into(), json!([first]));
            object.insert("max".into(), json!([last]));
        }
        Ok(accessor)
    }

    /// Triangle corners, in the smallest type that holds them.
    pub fn triangles(&mut self, triangles: &[[u32; 3]], vertex_count: usize) -> Result<usize> {
        let corners: &[u32] = bytemuck::cast_slice(triangles);
        // The largest value of each type is reserved by the format.
        if vertex_count <= usize::from(u16::MAX) {
            let small: Vec<u16> = corners.iter().map(|&c| c as u16).collect();
            let bytes = bytemuck::cast_slice(&small);
            self.accessor(bytes, ViewUse::Indices, corners.len(), 5123, "SCALAR")
        } else {
            let bytes = bytemuck::cast_slice(corners);
            self.accessor(bytes, ViewUse::Indices, corners.len(), 5125, "SCALAR")
        }
    }

    /// Four joint numbers a vertex (`JOINTS_n`).
    pub fn joints(&mut self, joints: &[[u16; 4]]) -> Result<usize> {
        let bytes = bytemuck::cast_slice(joints);
        self.accessor(bytes, ViewUse::Vertices, joints.len(), 5123, "VEC4")
    }

    /// Four weights a vertex (`WEIGHTS_n`).
    pub fn weights(&mut self, weights: &[[f32; 4]]) -> Result<usize> {
        self.floats(bytemuck::cast_slice(weights), 4, ViewUse::Vertices)
    }

    /// Inverse bind matrices.
    pub fn matrices(&mut self, matrices: &[Mat4]) -> Result<usize> {
        let numbers: Vec<f32> = matrices.iter().flat_map(|m| m.to_cols_array()).collect();
        self.floats(&numbers, 16, ViewUse::Other)
    }

    /// An accessor of vectors that are zero but for some; `places` ascend.
    pub fn sparse_vectors(
        &mut self,
        count: usize,
        places: &[u32],
        vectors: &[Vec3],
    ) -> Result<usize> {
        let mut accessor = json!({ "componentType": 5126, "count": count, "type": "VEC3" });
        if !places.is_empty() {
            let (bytes, component) = if count <= usize::from(u16::MAX) {
                let small: Vec<u16> = places.iter().map(|&p| p as u16).collect();
                (bytemuck::cast_slice(&small).to_vec(), 5123)
            } else {
                (bytemuck::cast_slice(places).to_vec(), 5125)
            };
            let indices = self.view(&bytes, ViewUse::Other, None)?;
            let values = self.view(bytemuck::cast_slice(vectors), ViewUse::Other, None)?;
            accessor["sparse"] = json!({
                "count": places.len(),
                "indices": { "bufferView": indices, "componentType": component },
                "values": { "bufferView": values },
            });
        }
        let accessor = self.push("accessors", accessor);
        let all = places.len() == count;
        let zero = [Vec3::ZERO];
        let bounds: Vec<Vec3> =
            vectors.iter().copied().chain(zero.into_iter().filter(|_| !all)).collect();
        self.set_bounds(accessor, &bounds);
        Ok(accessor)
    }

    /// Vectors as 16-bit fractions of 1 (`KHR_mesh_quantization`); all must be within ±1.
    pub(super) fn quantised_vectors(&mut self, vectors: &[Vec3]) -> Result<usize> {
        let quantise = |v: &Vec3| (*v * 32767.0).round().as_i16vec3().to_array();
        let whole: Vec<[i16; 3]> = vectors.iter().map(quantise).collect();
        // Elements begin at multiples of four bytes.
        let padded: Vec<[i16; 4]> = whole.iter().map(|&[x, y, z]| [x, y, z, 0]).collect();
        let view = self.view(bytemuck::cast_slice(&padded), ViewUse::Vertices, Some(8))?;
        let bound = |pick: fn(i16, i16) -> i16| {
            let all = whole.iter().copied();
            all.reduce(|a, b| [pick(a[0], b[0]), pick(a[1], b[1]), pick(a[2], b[2])])
        };
        let accessor = json!({
            "bufferView": view, "componentType": 5122, "normalized": true, "count": whole.len(),
            "type": "VEC3", "min": bound(i16::min), "max": bound(i16::max),
        });
        Ok(self.push("accessors", accessor))
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

/// Points every buffer view at its new place: (buffer, offset) for each old buffer.
fn move_views(json: &mut Value, places: &[(usize, u64)]) {
    let views = json.get_mut("bufferViews").and_then(Value::as_array_mut);
    for view in views.into_iter().flatten() {
        move_slice(view, places);
        for name in PACKED_VIEWS {
            if let Some(packed) = view.get_mut("extensions").and_then(|e| e.get_mut(name)) {
                move_slice(packed, places);
            }
        }
    }
}

fn move_slice(slice: &mut Value, places: &[(usize, u64)]) {
    let old = slice.get("buffer").and_then(whole_number).and_then(|b| places.get(b));
    let offset = slice.get("byteOffset").and_then(whole_number).unwrap_or(0) as u64;
    if let (Some(&(buffer, start)), Some(object)) = (old, slice.as_object_mut()) {
        object.insert("buffer".into(), json!(buffer));
        object.insert("byteOffset".into(), json!(offset + start));
    }
}
