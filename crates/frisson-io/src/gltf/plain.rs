//! A document without compression: what it says, in buffers that every reader opens.
//!
//! A bake is written back into its input. Other programs refuse a file that asks for Draco or meshopt
//! although nothing in it is packed any more, or that keeps packed data they cannot unpack; so packed
//! data are unpacked first, and only extensions that are still used are declared.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::document::{Document, Kind};
use super::error::Result;
use super::json::{array, whole_number};

/// Extensions that pack a buffer view.
pub(super) const PACKED_VIEWS: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];
/// The extension that packs a primitive.
pub(super) const PACKED_PRIMITIVE: &str = "KHR_draco_mesh_compression";
/// Smaller numbers for positions and normals; named nowhere but in the lists of extensions.
const QUANTISATION: &str = "KHR_mesh_quantization";

impl Document {
    /// The same document with nothing packed; borrowed where it is so already.
    pub fn plain(&self) -> Result<Cow<'_, Self>> {
        let mut names = BTreeSet::new();
        gather_extensions(&self.json, &mut names);
        if !names.iter().any(|n| PACKED_VIEWS.contains(n) || *n == PACKED_PRIMITIVE) {
            return Ok(Cow::Borrowed(self));
        }
        let unpacked = Unpacked { json: self.json.clone(), views: Vec::new() };
        #[cfg(feature = "draco")]
        let unpacked = unpacked.unpack_primitives(self)?;
        let (json, bin) = unpacked.finish(self)?;
        let mut plain = Self::from_parts(json, bin)?;
        plain.base_dir.clone_from(&self.base_dir);
        Ok(Cow::Owned(plain))
    }
}

/// A document while its data are moved into one plain buffer.
struct Unpacked {
    json: Value,
    /// Views beyond those of the original, with their bytes.
    views: Vec<(Value, Vec<u8>)>,
}

impl Unpacked {
    #[cfg(feature = "draco")]
    fn unpack_primitives(mut self, document: &Document) -> Result<Self> {
        use super::json::extension;
        let mut filled = BTreeSet::new();
        for mesh in 0..document.count(Kind::Mesh)? {
            let item = document.item(Kind::Mesh, mesh)?;
            for (index, primitive) in item.array("primitives")?.iter().enumerate() {
                let Some(block) = extension(primitive, PACKED_PRIMITIVE) else { continue };
                let place = format!("{}, primitive {index}", item.place());
                let invalid = |p: String| super::GltfError::invalid(place.clone(), p);
                let view = block.get("bufferView").and_then(whole_number);
                let view = view.ok_or_else(|| invalid("the Draco block has no view".to_owned()))?;
                let bytes = document.view(view)?.bytes;
                let mut packed = super::draco::unpack(&bytes).map_err(invalid)?;
                make_weights_whole(&mut packed, block);
                let mut primitive = primitive.clone();
                self.fill_primitive(document, &mut primitive, block, &packed, &mut filled)?;
                self.json["meshes"][mesh]["primitives"][index] = primitive;
            }
        }
        Ok(self)
    }

    /// Gives a primitive the unpacked numbers; `filled` are accessors that already have theirs.
    #[cfg(feature = "draco")]
    fn fill_primitive(
        &mut self,
        document: &Document,
        primitive: &mut Value,
        block: &Value,
        packed: &super::draco::DracoMesh,
        filled: &mut BTreeSet<usize>,
    ) -> Result<()> {
        for attribute in &packed.attributes {
            let names = block.get("attributes").and_then(Value::as_object);
            let named = |(_, id): &(&String, &Value)| whole_number(id) == Some(attribute.id);
            let Some((name, _)) = names.into_iter().flatten().find(named) else { continue };
            let accessor = primitive["attributes"].get(name).and_then(whole_number);
            let Some(accessor) = accessor else { continue };
            let mut value = document.item(Kind::Accessor, accessor)?.value.clone();
            let size = attribute.width * attribute.component.size();
            let view = self.vertex_view(&attribute.bytes, size);
            describe(&mut value, view, attribute.component.code(), packed.vertex_count);
            if attribute.component == super::accessor::Component::F32 {
                bound(&mut value, bytemuck::pod_collect_to_vec(&attribute.bytes).as_slice());
            } else {
                ["min", "max"].iter().for_each(|key| remove(&mut value, key));
            }
            let accessor = self.put_accessor(accessor, value, filled);
            primitive["attributes"][name.as_str()] = json!(accessor);
        }
        let bytes: &[u8] = bytemuck::cast_slice(&packed.indices);
        let length = bytes.len();
        self.views.push((json!({ "byteLength": length, "target": 34963 }), bytes.to_vec()));
        let old = primitive.get("indices").and_then(whole_number);
        let mut value = json!({ "type": "SCALAR" });
        describe(&mut value, self.last_view(), 5125, packed.indices.len());
        let accessor = match old {
            Some(old) => self.put_accessor(old, value, filled),
            None => self.push_accessor(value),
        };
        primitive["indices"] = json!(accessor);
        // What is packed are triangles, however they were drawn before.
        remove(primitive, "mode");
        drop_extension(primitive, PACKED_PRIMITIVE);
        Ok(())
    }

    /// A view of vertex data; elements begin at multiples of four bytes.
    #[cfg(feature = "draco")]
    fn vertex_view(&mut self, bytes: &[u8], size: usize) -> usize {
        let stride = size.next_multiple_of(4);
        let mut view = json!({ "target": 34962 });
        let bytes = if stride == size {
            bytes.to_vec()
        } else {
            view["byteStride"] = json!(stride);
            let padded = bytes.chunks_exact(size.max(1)).flat_map(|element| {
                element.iter().copied().chain(std::iter::repeat_n(0, stride - size))
            });
            padded.collect()
        };
        view["byteLength"] = json!(bytes.len());
        self.views.push((view, bytes));
        self.last_view()
    }

    /// Index in the document of the view that was added last.
    #[cfg(feature = "draco")]
    fn last_view(&self) -> usize {
        let own = self.json.get("bufferViews").and_then(Value::as_array).map_or(0, Vec::len);
        own + self.views.len() - 1
    }

    #[cfg(feature = "draco")]
    fn put_accessor(&mut self, index: usize, value: Value, filled: &mut BTreeSet<usize>) -> usize {
        // Accessors may be shared: the first to fill one keeps its number, others get one of their own.
        if filled.insert(index) {
            self.json["accessors"][index] = value;
            return index;
        }
        self.push_accessor(value)
    }

    #[cfg(feature = "draco")]
    fn push_accessor(&mut self, value: Value) -> usize {
        match self.json["accessors"].as_array_mut() {
            Some(accessors) => {
                accessors.push(value);
                accessors.len() - 1
            }
            None => {
                self.json["accessors"] = json!([value]);
                0
            }
        }
    }

    /// Writes every view that is still used into one buffer and numbers them anew.
    fn finish(mut self, document: &Document) -> Result<(Value, Vec<u8>)> {
        let mut used = BTreeSet::new();
        each_view_index(&mut self.json, &mut |index| {
            used.insert(index);
            index
        });
        let own = document.count(Kind::View)?;
        let (mut bin, mut views, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for index in 0..own + self.views.len() {
            places.push(views.len());
            if !used.contains(&index) {
                continue;
            }
            let (mut view, bytes) = match index.checked_sub(own) {
                Some(added) => (self.views[added].0.clone(), Cow::from(&self.views[added].1)),
                None => {
                    (document.item(Kind::View, index)?.value.clone(), document.view(index)?.bytes)
                }
            };
            // Views begin at multiples of four bytes.
            bin.resize(bin.len().next_multiple_of(4), 0);
            view["buffer"] = json!(0);
            view["byteOffset"] = json!(bin.len());
            view["byteLength"] = json!(bytes.len());
            PACKED_VIEWS.iter().for_each(|name| drop_extension(&mut view, name));
            bin.extend_from_slice(&bytes);
            views.push(view);
        }
        each_view_index(&mut self.json, &mut |index| places.get(index).copied().unwrap_or(index));
        self.json["bufferViews"] = Value::Array(views);
        self.json["buffers"] = json!([{ "byteLength": bin.len() }]);
        declare_extensions(&mut self.json);
        Ok((self.json, bin))
    }
}

/// Packing rounds weights; those of a vertex must add up to 1 to the last bit.
#[cfg(feature = "draco")]
fn make_weights_whole(packed: &mut super::draco::DracoMesh, block: &Value) {
    let names = block.get("attributes").and_then(Value::as_object);
    let names = names.into_iter().flatten().filter(|(name, _)| name.starts_with("WEIGHTS_"));
    let ids: Vec<usize> = names.filter_map(|(_, id)| whole_number(id)).collect();
    let count = packed.vertex_count;
    let is_weights = |a: &super::draco::DracoAttribute| {
        let floats = a.component == super::accessor::Component::F32 && a.width == 4;
        ids.contains(&a.id) && floats && a.bytes.len() == 16 * count
    };
    let chosen: Vec<usize> =
        (0..packed.attributes.len()).filter(|&k| is_weights(&packed.attributes[k])).collect();
    let mut sets: Vec<Vec<f32>> =
        chosen.iter().map(|&k| bytemuck::pod_collect_to_vec(&packed.attributes[k].bytes)).collect();
    for vertex in 0..count {
        let places: Vec<(usize, usize)> =
            (0..sets.len()).flat_map(|s| (0..4).map(move |k| (s, 4 * vertex + k))).collect();
        let sum: f32 = places.iter().map(|&(s, k)| sets[s][k]).sum();
        let largest = places.iter().max_by(|a, b| sets[a.0][a.1].total_cmp(&sets[b.0][b.1]));
        let Some(&(set, slot)) = largest.filter(|_| sum > 0.0 && sum.is_finite()) else { continue };
        places.iter().for_each(|&(s, k)| sets[s][k] /= sum);
        let others: f32 =
            places.iter().filter(|&&p| p != (set, slot)).map(|&(s, k)| sets[s][k]).sum();
        // The largest takes what rounding left: of it, least is changed.
        sets[set][slot] = 1.0 - others;
    }
    for (&attribute, set) in chosen.iter().zip(&sets) {
        packed.attributes[attribute].bytes = bytemuck::cast_slice(set).to_vec();
    }
}

#[cfg(feature = "draco")]
fn describe(accessor: &mut Value, view: usize, component: u32, count: usize) {
    accessor["bufferView"] = json!(view);
    accessor["componentType"] = json!(component);
    accessor["count"] = json!(count);
    ["byteOffset", "sparse"].iter().for_each(|key| remove(accessor, key));
}

/// Writes the bounds of floats where the accessor has some: unpacked numbers are not quite those that
/// were packed.
#[cfg(feature = "draco")]
fn bound(accessor: &mut Value, numbers: &[f32]) {
    let Some(width) = accessor.get("min").and_then(Value::as_array).map(Vec::len) else { return };
    if width == 0 || numbers.len() < width {
        return;
    }
    let (mut low, mut high) = (numbers[..width].to_vec(), numbers[..width].to_vec());
    for element in numbers.chunks_exact(width) {
        for k in 0..width {
            low[k] = low[k].min(element[k]);
            high[k] = high[k].max(element[k]);
        }
    }
    accessor["min"] = json!(low);
    accessor["max"] = json!(high);
}

#[cfg(feature = "draco")]
fn remove(value: &mut Value, key: &str) {
    if let Some(object) = value.as_object_mut() {
        object.shift_remove(key);
    }
}

fn drop_extension(value: &mut Value, name: &str) {
    let Some(object) = value.as_object_mut() else { return };
    if let Some(extensions) = object.get_mut("extensions").and_then(Value::as_object_mut) {
        extensions.shift_remove(name);
        if extensions.is_empty() {
            object.shift_remove("extensions");
        }
    }
}

/// Passes every index of a buffer view through a function: all extensions spell it `bufferView`.
fn each_view_index(value: &mut Value, change: &mut impl FnMut(usize) -> usize) {
    match value {
        Value::Array(entries) => entries.iter_mut().for_each(|e| each_view_index(e, change)),
        Value::Object(object) => {
            for (key, entry) in object.iter_mut() {
                match whole_number(entry).filter(|_| key == "bufferView") {
                    Some(index) => *entry = json!(change(index)),
                    None => each_view_index(entry, change),
                }
            }
        }
        _ => {}
    }
}

/// Names of all extensions that occur anywhere.
fn gather_extensions<'a>(value: &'a Value, out: &mut BTreeSet<&'a str>) {
    match value {
        Value::Array(entries) => entries.iter().for_each(|e| gather_extensions(e, out)),
        Value::Object(object) => {
            for (key, entry) in object {
                if key == "extensions" {
                    let names = entry.as_object().into_iter().flat_map(Map::keys);
                    out.extend(names.map(String::as_str));
                }
                // What a file keeps for itself in `extras` is no part of the format.
                if key != "extras" {
                    gather_extensions(entry, out);
                }
            }
        }
        _ => {}
    }
}

/// Leaves only those extensions declared that are used.
pub(super) fn declare_extensions(json: &mut Value) {
    let mut used = BTreeSet::new();
    gather_extensions(json, &mut used);
    let mut used: BTreeSet<String> = used.into_iter().map(str::to_owned).collect();
    if uses_small_numbers(json) {
        used.insert(QUANTISATION.to_owned());
    }
    let Some(object) = json.as_object_mut() else { return };
    for key in ["extensionsUsed", "extensionsRequired"] {
        let Some(names) = object.get_mut(key).and_then(Value::as_array_mut) else { continue };
        names.retain(|name| name.as_str().is_some_and(|n| used.contains(n)));
        if names.is_empty() {
            object.shift_remove(key);
        }
    }
}

/// Whether an attribute is stored in a type that only quantisation allows.
fn uses_small_numbers(json: &Value) -> bool {
    let accessor = |index: &Value| whole_number(index).and_then(|i| json["accessors"].get(i));
    let small = |(name, index): (&String, &Value)| {
        let Some(accessor) = accessor(index) else { return false };
        let component = accessor.get("componentType").and_then(whole_number).unwrap_or(5126);
        let normalized = accessor["normalized"] == true;
        match name.as_str() {
            "POSITION" | "NORMAL" | "TANGENT" => component != 5126,
            n if n.starts_with("TEXCOORD_") => {
                component != 5126 && !(normalized && matches!(component, 5121 | 5123))
            }
            _ => false,
        }
    };
    let any = |object: &Value| object.as_object().is_some_and(|o| o.iter().any(small));
    list(json, "meshes").iter().flat_map(|mesh| list(mesh, "primitives")).any(|primitive| {
        any(&primitive["attributes"]) || list(primitive, "targets").iter().any(any)
    })
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    array(value, key).unwrap_or(&[])
}
