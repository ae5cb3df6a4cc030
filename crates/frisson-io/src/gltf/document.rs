//! A glTF file as it is: the JSON untouched, the buffers as bytes.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::container::{decode_data_uri, is_glb, name_of_uri, split_glb};
use super::error::{GltfError, Result};
use super::json::{Item, array};
use crate::inputs::InputSet;

/// Bytes a view may unpack to per compressed byte: the meshopt codec spends at least 2 bits on a
/// block of 256 vertices.
#[cfg(feature = "meshopt")]
const MESHOPT_MAX_RATIO: usize = 1100;

/// A glTF file: all of its JSON, known or not, and the bytes of its buffers. What Frisson does not
/// understand stays in here and goes back out when a bake is written.
#[derive(Clone, Debug)]
pub struct Document {
    /// The whole JSON, in the file's order.
    pub json: Value,
    /// Bytes of each buffer; nothing for a fallback buffer of a compressed file.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// Folder that relative URIs start from.
    pub base_dir: Option<PathBuf>,
    /// What was read, and within which limits.
    pub(super) inputs: InputSet,
    /// Unpacked meshopt views, by view.
    unpacked_views: Vec<Option<Arc<Vec<u8>>>>,
}

/// One buffer view: its bytes and the distance between elements, if given.
pub(super) struct View<'a> {
    pub bytes: Cow<'a, [u8]>,
    pub stride: Option<usize>,
}

impl Document {
    /// Whether a file's extension is one of glTF's: `.glb`, `.gltf`, or `.vrm`.
    #[must_use]
    pub fn is_kind(path: &Path) -> bool {
        let kinds = ["glb", "gltf", "vrm"];
        path.extension().is_some_and(|e| kinds.iter().any(|k| e.eq_ignore_ascii_case(k)))
    }

    /// Reads a `.glb` or `.gltf` file with its external buffers.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, &InputSet::new())
    }

    /// Reads a `.glb` or `.gltf` file with its external buffers through an input set.
    pub fn open_with(path: &Path, inputs: &InputSet) -> Result<Self> {
        let bytes = inputs.read(path)?;
        Self::parse_with(&bytes, path.parent(), inputs)
    }

    /// Reads the bytes of a `.glb` or `.gltf`; external buffers are looked for in `base_dir`.
    pub fn parse(bytes: &[u8], base_dir: Option<&Path>) -> Result<Self> {
        Self::parse_with(bytes, base_dir, &InputSet::new())
    }

    fn parse_with(bytes: &[u8], base_dir: Option<&Path>, inputs: &InputSet) -> Result<Self> {
        let (json, bin) = if is_glb(bytes) {
            let chunks = split_glb(bytes)?;
            (chunks.json, chunks.bin)
        } else {
            let start = bytes.iter().find(|b| !b.is_ascii_whitespace());
            // A byte order mark is tolerated, as editors leave it.
            if !matches!(start, Some(b'{' | 0xEF)) {
                let problem = "it begins neither like a GLB container nor like JSON".to_owned();
                return Err(GltfError::NotGltf(problem));
            }
            (bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes), None)
        };
        let json: Value = serde_json::from_slice(json)?;
        check_version(&json)?;
        let base_dir = base_dir.map(Path::to_owned);
        let mut document = Self {
            json,
            buffers: Vec::new(),
            base_dir,
            inputs: inputs.clone(),
            unpacked_views: Vec::new(),
        };
        document.load_buffers(bin)?;
        document.unpack_views()?;
        Ok(document)
    }

    /// A document from parts made elsewhere, one buffer.
    pub fn from_parts(json: Value, bin: Vec<u8>) -> Result<Self> {
        check_version(&json)?;
        let buffers = vec![Some(bin)];
        let inputs = InputSet::new();
        let mut document =
            Self { json, buffers, base_dir: None, inputs, unpacked_views: Vec::new() };
        document.unpack_views()?;
        Ok(document)
    }

    /// The objects of a top-level array; empty if there is none.
    pub(super) fn items(&self, key: &str) -> Result<&[Value]> {
        array(&self.json, key).map_err(|problem| GltfError::invalid("document", problem))
    }

    /// One object of a top-level array.
    pub(super) fn item(&self, kind: Kind, index: usize) -> Result<Item<'_>> {
        let items = self.items(kind.key())?;
        let value = items.get(index).filter(|v| v.is_object()).ok_or_else(|| {
            let problem =
                format!("there is no such {} (the file has {})", kind.word(), items.len());
            GltfError::invalid(format!("{} {index}", kind.word()), problem)
        })?;
        Ok(Item::new(value, kind.word(), index))
    }

    /// Number of objects in a top-level array.
    pub(super) fn count(&self, kind: Kind) -> Result<usize> {
        Ok(self.items(kind.key())?.len())
    }

    /// Total size of the buffers, unpacked views included [bytes].
    pub(super) fn total_bytes(&self) -> usize {
        let buffers = self.buffers.iter().flatten().map(Vec::len).sum::<usize>();
        buffers + self.unpacked_views.iter().flatten().map(|v| v.len()).sum::<usize>()
    }

    /// The bytes of a buffer view.
    pub(super) fn view(&self, index: usize) -> Result<View<'_>> {
        let item = self.item(Kind::View, index)?;
        let stride = item.index("byteStride")?;
        if let Some(Some(bytes)) = self.unpacked_views.get(index) {
            return Ok(View { bytes: Cow::Borrowed(bytes), stride });
        }
        let bytes = self.slice(
            &item.place(),
            item.required_index("buffer")?,
            item.index_or("byteOffset", 0)?,
            item.required_index("byteLength")?,
        )?;
        Ok(View { bytes: Cow::Borrowed(bytes), stride })
    }

    fn slice(&self, place: &str, buffer: usize, offset: usize, length: usize) -> Result<&[u8]> {
        let Some(entry) = self.buffers.get(buffer) else {
            return Err(GltfError::invalid(place, format!("there is no buffer {buffer}")));
        };
        let Some(bytes) = entry else {
            return Err(GltfError::invalid(place, format!("buffer {buffer} has no data")));
        };
        let end = offset.checked_add(length);
        end.and_then(|end| bytes.get(offset..end)).ok_or_else(|| {
            let size = bytes.len();
            let problem = format!(
                "{length} bytes at {offset} reach past the end of buffer {buffer} ({size} bytes)"
            );
            GltfError::invalid(place, problem)
        })
    }

    fn load_buffers(&mut self, bin: Option<&[u8]>) -> Result<()> {
        for index in 0..self.count(Kind::Buffer)? {
            let item = self.item(Kind::Buffer, index)?;
            let bytes = match item.value.get("uri") {
                // The first buffer of a GLB may be its chunk; others without an address hold nothing.
                None => bin.filter(|_| index == 0).map(<[u8]>::to_vec),
                Some(Value::String(uri)) => Some(self.read_uri(&item, uri)?),
                Some(_) => return Err(item.invalid("\"uri\" must be text")),
            };
            let wanted = item.required_index("byteLength")?;
            if let Some(bytes) = &bytes
                && bytes.len() < wanted
            {
                let problem = format!("{wanted} bytes are promised, {} are there", bytes.len());
                return Err(item.invalid(problem));
            }
            self.buffers.push(bytes);
        }
        Ok(())
    }

    fn read_uri(&self, item: &Item<'_>, uri: &str) -> Result<Vec<u8>> {
        if let Some(data) = decode_data_uri(uri) {
            return data.map_err(|problem| item.invalid(problem));
        }
        let name = name_of_uri(uri).map_err(|p| item.invalid(p))?;
        let read = self.inputs.read_beside(self.base_dir.as_deref(), &name);
        let mut bytes = read.map_err(|e| item.invalid(e.to_string()))?;
        // Files beside it may be padded.
        bytes.truncate(item.required_index("byteLength")?);
        Ok(bytes)
    }

    #[cfg(not(feature = "meshopt"))]
    fn unpack_views(&mut self) -> Result<()> {
        Ok(())
    }

    #[cfg(feature = "meshopt")]
    fn unpack_views(&mut self) -> Result<()> {
        use super::json::index;
        let count = self.count(Kind::View)?;
        let mut unpacked = vec![None; count];
        let mut total = 0usize;
        for (view, slot) in unpacked.iter_mut().enumerate() {
            let item = self.item(Kind::View, view)?;
            let packed = item
                .extension("EXT_meshopt_compression")
                .or_else(|| item.extension("KHR_meshopt_compression"));
            let Some(packed) = packed else { continue };
            let number = |key: &str| {
                index(packed, key)
                    .and_then(|n| n.ok_or_else(|| format!("meshopt {key:?} is missing")))
                    .map_err(|problem| item.invalid(problem))
            };
            let offset = index(packed, "byteOffset").map_err(|p| item.invalid(p))?.unwrap_or(0);
            let bytes =
                self.slice(&item.place(), number("buffer")?, offset, number("byteLength")?)?;
            let (count, stride) = (number("count")?, number("byteStride")?);
            let size = count.saturating_mul(stride);
            total = total.saturating_add(size);
            let most = self.inputs.limits().source_bytes;
            if size > bytes.len().saturating_mul(MESHOPT_MAX_RATIO) || total as u64 > most {
                let problem = format!("{} compressed bytes cannot hold {size}", bytes.len());
                return Err(GltfError::too_large(item.place(), problem));
            }
            let word = |key: &str| packed.get(key).and_then(Value::as_str);
            let mode = word("mode").unwrap_or("");
            let filter = word("filter").unwrap_or("NONE");
            let data = super::meshopt::unpack(bytes, count, stride, mode, filter)
                .map_err(|problem| item.invalid(problem))?;
            *slot = Some(Arc::new(data));
        }
        self.unpacked_views = unpacked;
        Ok(())
    }
}

fn check_version(json: &Value) -> Result<()> {
    let version = json.get("asset").and_then(|a| a.get("version")).and_then(Value::as_str);
    match version {
        Some(version) if version.starts_with("2.") => Ok(()),
        Some(version) => {
            Err(GltfError::Unsupported(format!("glTF version {version}; only 2 is known")))
        }
        None => Err(GltfError::NotGltf("\"asset\" with a \"version\" is missing".to_owned())),
    }
}

/// The top-level arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Accessor,
    Animation,
    Buffer,
    Image,
    Material,
    Mesh,
    Node,
    Scene,
    Skin,
    Texture,
    View,
}

impl Kind {
    pub fn key(self) -> &'static str {
        match self {
            Self::Accessor => "accessors",
            Self::Animation => "animations",
            Self::Buffer => "buffers",
            Self::Image => "images",
            Self::Material => "materials",
            Self::Mesh => "meshes",
            Self::Node => "nodes",
            Self::Scene => "scenes",
            Self::Skin => "skins",
            Self::Texture => "textures",
            Self::View => "bufferViews",
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Accessor => "accessor",
            Self::Animation => "animation",
            Self::Buffer => "buffer",
            Self::Image => "image",
            Self::Material => "material",
            Self::Mesh => "mesh",
            Self::Node => "node",
            Self::Scene => "scene",
            Self::Skin => "skin",
            Self::Texture => "texture",
            Self::View => "buffer view",
        }
    }
}
