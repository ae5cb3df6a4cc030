//! The tables of a crate file as a layer.

use std::sync::Arc;

use super::super::bytes::Bytes;
use super::super::layer::{Data, Layer, Name, Spec, SpecKind, Value};
use super::super::{Result, UsdError};
use super::tables::{SpecEntry, Tables, read_tables};
use super::values::CrateValues;

/// Kinds of specs, by their numbers in the format.
const ATTRIBUTE: u32 = 1;
const PRIM: u32 = 6;
const PSEUDO_ROOT: u32 = 7;
const RELATIONSHIP: u32 = 8;
const VARIANT: u32 = 10;

/// Reads a crate file.
pub(in super::super) fn read_layer(bytes: Bytes, key: &str) -> Result<Layer> {
    let tables = read_tables(&bytes)?;
    let mut layer = Layer::new(vec![Spec::default()], key);
    // Spec of each path; the root's is the first.
    let mut of_path: Vec<Option<usize>> = vec![None; tables.paths.len()];
    for entry in &tables.specs {
        add_spec(&tables, *entry, &mut layer, &mut of_path)?;
    }
    for (path, spec) in of_path.iter().enumerate() {
        if let Some(spec) = *spec {
            link(&tables, path as u32, spec, &of_path, &mut layer);
        }
    }
    let values = CrateValues { bytes, tables: Arc::new(tables) };
    for spec in &mut layer.specs {
        order_children(spec, &values)?;
    }
    layer.values = Some(values);
    Ok(layer)
}

fn add_spec(
    tables: &Tables,
    entry: SpecEntry,
    layer: &mut Layer,
    of_path: &mut [Option<usize>],
) -> Result<()> {
    let kind = match entry.kind {
        ATTRIBUTE => SpecKind::Attribute,
        RELATIONSHIP => SpecKind::Relationship,
        PRIM | PSEUDO_ROOT | VARIANT => SpecKind::Prim,
        // Targets, mappers, sets of variants: nothing is asked of them.
        _ => return Ok(()),
    };
    let wrong = |problem: String| UsdError::damaged("SPECS", problem);
    let slot = of_path.get_mut(entry.path as usize);
    let slot = slot.ok_or_else(|| wrong(format!("there is no path {}", entry.path)))?;
    let first = entry.fields as usize;
    let list = tables.field_sets.get(first..);
    let list = list.ok_or_else(|| wrong(format!("there is no list of fields {first}")))?;
    let mut fields = Vec::new();
    for &field in list.iter().take_while(|&&f| f != u32::MAX) {
        let found = tables.fields.get(field as usize);
        let (name, word) = found.ok_or_else(|| wrong(format!("there is no field {field}")))?;
        fields.push((name.clone(), Value::Stored(*word)));
        if fields.len() > MOST_FIELDS {
            return Err(wrong(format!("more than {MOST_FIELDS} fields of one spec")));
        }
    }
    let index = if entry.kind == PSEUDO_ROOT { 0 } else { layer.specs.len() };
    let spec = Spec { kind, fields, ..Spec::default() };
    match index {
        0 => layer.specs[0] = spec,
        _ => layer.specs.push(spec),
    }
    *slot = Some(index);
    Ok(())
}

/// Most fields of one spec: schemas have dozens. A damaged list without an end would be copied for every spec.
const MOST_FIELDS: usize = 1024;

/// Hangs a spec below that of its path's parent.
fn link(tables: &Tables, path: u32, spec: usize, of_path: &[Option<usize>], layer: &mut Layer) {
    let Some(entry) = tables.path_entry(path) else { return };
    let parent = entry.parent.and_then(|p| of_path.get(p as usize).copied().flatten());
    let Some(parent) = parent.filter(|&p| p != spec && spec != 0) else { return };
    if entry.is_property {
        layer.specs[parent].properties.insert(entry.name.clone(), spec);
    } else if let Some((set, variant)) = selection(&entry.name) {
        layer.specs[parent].variants.push((set, variant, spec));
    } else if layer.specs[spec].kind == SpecKind::Prim {
        layer.specs[parent].prims.push((entry.name.clone(), spec));
    }
}

/// `{set=variant}`.
fn selection(name: &str) -> Option<(Name, Name)> {
    let (set, variant) = name.strip_prefix('{')?.strip_suffix('}')?.split_once('=')?;
    Some((set.into(), variant.into()))
}

/// Prims in the order the file wants.
fn order_children(spec: &mut Spec, values: &CrateValues) -> Result<()> {
    if spec.prims.len() < 2 {
        return Ok(());
    }
    let Some(Value::Stored(word)) = spec.field("primChildren") else { return Ok(()) };
    let Data::Texts(order) = values.read(*word)? else { return Ok(()) };
    let mut places: Vec<(&Name, usize)> = order.iter().zip(0..).collect();
    places.sort();
    let place = |name: &Name| {
        let found = places.binary_search_by(|(n, _)| (*n).cmp(name));
        found.map_or(usize::MAX, |at| places[at].1)
    };
    spec.prims.sort_by_key(|(name, _)| place(name));
    Ok(())
}
