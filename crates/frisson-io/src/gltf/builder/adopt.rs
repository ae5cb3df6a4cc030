//! Taking over everything of another document: its buffers become one, its images come inside.

use serde_json::{Value, json};

use super::{GlbBuilder, ViewUse};
use crate::gltf::container::{decode_data_uri, name_of_uri};
use crate::gltf::document::Document;
use crate::gltf::error::Result;
use crate::gltf::json::whole_number;
use crate::gltf::plain::PACKED_VIEWS;

impl GlbBuilder {
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
                // Buffer 0 is ours: fallbacks, which hold nothing, are counted from 1.
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
