//! Files by the names that files give them: in a folder, or in a package (`.usdz`, a zip without
//! compression whose first file is the scene).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::bytes::Bytes;
use super::layer::Layer;
use super::{Result, UsdError, binary, text};
use crate::inputs::InputSet;

const PACKAGE_MAGIC: &[u8] = b"PK\x03\x04";

/// Where files lie.
pub(super) struct Assets {
    place: Place,
    pub inputs: InputSet,
}

enum Place {
    Folder(PathBuf),
    /// Start and size of each file in the package.
    Package(Bytes, BTreeMap<String, (u64, u64)>),
    /// Bytes without a folder: nothing lies beside them.
    Nowhere,
}

impl Assets {
    /// Opens a file; answers the name of its first layer, too.
    pub fn open(path: &Path, inputs: &InputSet) -> Result<(Self, Layer)> {
        let bytes = Bytes::open(path, inputs)?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        Self::from_bytes(bytes, &name, Place::Folder(folder), inputs)
    }

    /// Takes bytes that are in memory.
    pub fn parse(bytes: Vec<u8>, inputs: &InputSet) -> Result<(Self, Layer)> {
        Self::from_bytes(Bytes::from_memory(bytes), "", Place::Nowhere, inputs)
    }

    fn from_bytes(
        bytes: Bytes,
        key: &str,
        place: Place,
        inputs: &InputSet,
    ) -> Result<(Self, Layer)> {
        let inputs = inputs.clone();
        if !bytes.head(4)?.starts_with(PACKAGE_MAGIC) {
            let layer = read_layer(bytes, key, &inputs)?;
            return Ok((Self { place, inputs }, layer));
        }
        let (first, files) = read_directory(&bytes)?;
        let this = Self { place: Place::Package(bytes, files), inputs };
        let layer = this.layer(&first)?;
        Ok((this, layer))
    }

    /// The name that a layer means, from the folder of all.
    pub fn resolve(&self, from: &Layer, name: &str) -> String {
        let mut parts: Vec<&str> = from.key.split('/').collect();
        parts.pop();
        if name.starts_with('/') {
            return name.to_owned();
        }
        for part in name.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|p| *p != "..") => drop(parts.pop()),
                other => parts.push(other),
            }
        }
        parts.join("/")
    }

    fn bytes(&self, key: &str) -> Result<Bytes> {
        match &self.place {
            Place::Folder(folder) => {
                Bytes::open(&self.inputs.path_beside(Some(folder), key)?, &self.inputs)
            }
            Place::Package(bytes, files) => {
                let missing = || UsdError::NotUsd(format!("the package holds no {key:?}"));
                let &(start, size) = files.get(key).ok_or_else(missing)?;
                bytes.part(key, start, size)
            }
            Place::Nowhere => {
                self.inputs.path_beside(None, key)?;
                Err(UsdError::NotUsd(format!("there is no {key:?}")))
            }
        }
    }

    /// A layer by its name.
    pub fn layer(&self, key: &str) -> Result<Layer> {
        let bytes = self.bytes(key)?;
        if bytes.head(4)?.starts_with(PACKAGE_MAGIC) {
            let text = "a package inside another file is not read: unpack it beside";
            return Err(UsdError::NotUsd(text.to_owned()));
        }
        read_layer(bytes, key, &self.inputs)
    }

    /// A picture by its name.
    pub fn picture(&self, key: &str) -> Result<Vec<u8>> {
        let bytes = self.bytes(key)?;
        bytes.read(key, 0, bytes.length())
    }
}

fn read_layer(bytes: Bytes, key: &str, inputs: &InputSet) -> Result<Layer> {
    let head = bytes.head(8)?;
    if head.starts_with(binary::MAGIC) {
        return binary::read_layer(bytes, key);
    }
    if head.starts_with(text::MAGIC) {
        let limit = inputs.limits().file_bytes;
        crate::inputs::check_count("bytes of text", bytes.length(), limit)?;
        return text::read_layer(&bytes.read("text", 0, bytes.length())?, key);
    }
    let text = "it does not begin like a USD file (binary, text or package)";
    Err(UsdError::NotUsd(text.to_owned()))
}

/// The first file's name, and where each lies.
fn read_directory(bytes: &Bytes) -> Result<(String, BTreeMap<String, (u64, u64)>)> {
    let wrong = |problem: &str| UsdError::damaged("package", problem);
    // The end record has 22 bytes and a comment of at most 65535.
    let tail = (22 + 0xffff).min(bytes.length());
    let end = bytes.read("package", bytes.length() - tail, tail)?;
    let at = end.windows(4).rposition(|w| w == b"PK\x05\x06");
    let end = at.and_then(|at| end.get(at..at + 22));
    let end = end.ok_or_else(|| wrong("it has no directory"))?;
    let short = |b: &[u8], at: usize| u64::from(u16::from_le_bytes([b[at], b[at + 1]]));
    let long = |b: &[u8], at: usize| {
        u64::from(u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]))
    };
    let mut cursor = bytes.cursor("package", long(end, 16));
    let (mut first, mut files) = (None, BTreeMap::new());
    for _ in 0..short(end, 10) {
        let entry = cursor.take(46)?;
        if !entry.starts_with(b"PK\x01\x02") {
            return Err(wrong("its directory is damaged"));
        }
        let name = cursor.take(short(&entry, 28))?;
        let name = String::from_utf8_lossy(&name).into_owned();
        cursor.take(short(&entry, 30) + short(&entry, 32))?;
        if short(&entry, 10) != 0 {
            return Err(wrong("a file in it is compressed, which USD does not allow"));
        }
        let local = long(&entry, 42);
        let head = bytes.read("package", local, 30)?;
        let start = local + 30 + short(&head, 26) + short(&head, 28);
        first.get_or_insert_with(|| name.clone());
        files.insert(name, (start, long(&entry, 24)));
    }
    Ok((first.ok_or_else(|| wrong("it is empty"))?, files))
}
