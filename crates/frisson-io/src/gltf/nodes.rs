//! Nodes into a skeleton; which of them a scene shows.

use std::collections::{BTreeMap, BTreeSet};

use frisson::character::{Node, Skeleton, Transform};
use glam::{Mat4, Quat, Vec3};
use serde_json::Value;

use super::document::{Document, Kind};
use super::error::{GltfError, Result};
use super::import::{Importer, SceneChoice};
use super::json::Item;
use crate::inputs::check_count;

/// Largest difference between a matrix and its translation, rotation and scale, relative to the
/// matrix: beyond it the matrix shears.
const SHEAR_TOLERANCE: f32 = 1e-3;

/// Makes names unlike all those before: `arm`, `arm.2`, `arm.3`.
#[derive(Default)]
pub(crate) struct UniqueNames {
    taken: BTreeSet<String>,
    /// The number to try next, so that ten thousand equal names take ten thousand tries.
    next: BTreeMap<String, usize>,
}

impl UniqueNames {
    /// The wanted name, or the first free one with a number behind it.
    pub(crate) fn make_unique(&mut self, wanted: &str) -> String {
        if self.taken.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let number = self.next.entry(wanted.to_owned()).or_insert(2);
        loop {
            let name = format!("{wanted}.{number}");
            *number += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

impl Importer<'_> {
    /// Every node of the document, with the same indices.
    pub(super) fn skeleton(&mut self) -> Result<Skeleton> {
        let count = self.document.count(Kind::Node)?;
        check_count("nodes", count as u64, self.document.inputs.limits().nodes)?;
        let parents = parents(self.document, count)?;
        let mut names = UniqueNames::default();
        let mut nodes = Vec::with_capacity(count);
        for (index, parent) in parents.into_iter().enumerate() {
            let item = self.document.item(Kind::Node, index)?;
            let wanted = item.name().map_or_else(|| format!("node_{index}"), str::to_owned);
            let name = names.make_unique(&wanted);
            let rest = self.transform(&item)?;
            if item.extension("EXT_mesh_gpu_instancing").is_some() {
                self.warn(format!("{}: its GPU instances are left out", item.place()));
            }
            nodes.push(Node { name, parent, rest });
        }
        Skeleton::new(nodes).map_err(|error| GltfError::invalid("nodes", error.to_string()))
    }

    fn transform(&mut self, item: &Item<'_>) -> Result<Transform> {
        if let Some(columns) = item.floats::<16>("matrix")? {
            let matrix = Mat4::from_cols_array(&columns);
            let transform = decompose(matrix);
            let error = (transform.matrix() - matrix).to_cols_array();
            let largest = |numbers: [f32; 16]| numbers.iter().fold(0.0f32, |a, n| a.max(n.abs()));
            if largest(error) > SHEAR_TOLERANCE * largest(columns) {
                self.warn(format!("{}: the shear of its matrix is left out", item.place()));
            }
            return Ok(transform);
        }
        let mut out = Transform::default();
        if let Some(translation) = item.floats("translation")? {
            out.translation = Vec3::from_array(translation);
        }
        if let Some(rotation) = item.floats("rotation")? {
            let rotation = Quat::from_array(rotation);
            let length = rotation.length();
            if length > 0.0 && length.is_finite() {
                out.rotation = rotation.normalize();
            } else {
                self.warn(format!("{}: its rotation has no direction", item.place()));
            }
        }
        if let Some(scale) = item.floats("scale")? {
            out.scale = Vec3::from_array(scale);
        }
        Ok(out)
    }

    /// Nodes of the chosen scene, parents first.
    pub(super) fn visible_nodes(&self, skeleton: &Skeleton) -> Result<Vec<usize>> {
        let roots = self.scene_roots(skeleton)?;
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); skeleton.nodes().len()];
        for (index, node) in skeleton.nodes().iter().enumerate() {
            if let Some(parent) = node.parent {
                children[parent].push(index);
            }
        }
        let mut reached = vec![false; skeleton.nodes().len()];
        let mut out = Vec::new();
        let mut stack: Vec<usize> = roots.into_iter().rev().collect();
        while let Some(node) = stack.pop() {
            if node < reached.len() && !std::mem::replace(&mut reached[node], true) {
                out.push(node);
                stack.extend(children[node].iter().rev());
            }
        }
        Ok(out)
    }

    fn scene_roots(&self, skeleton: &Skeleton) -> Result<Vec<usize>> {
        let count = self.document.count(Kind::Scene)?;
        let chosen = match &self.options.scene {
            SceneChoice::Default => {
                let default = self.document.json.get("scene").and_then(Value::as_u64);
                default.map_or(0, |scene| usize::try_from(scene).unwrap_or(usize::MAX))
            }
            SceneChoice::Index(index) => *index,
            SceneChoice::Name(name) => {
                let names = self.document.items("scenes")?.iter();
                let mut names = names.map(|s| s.get("name").and_then(Value::as_str));
                names.position(|n| n == Some(name)).ok_or_else(|| {
                    GltfError::invalid(format!("scene {name:?}"), "there is no scene of that name")
                })?
            }
        };
        if count == 0 && self.options.scene == SceneChoice::Default {
            let nodes = skeleton.nodes().iter().enumerate();
            return Ok(nodes.filter(|(_, n)| n.parent.is_none()).map(|(i, _)| i).collect());
        }
        let item = self.document.item(Kind::Scene, chosen)?;
        let roots = item.indices("nodes")?;
        match roots.iter().find(|&&root| root >= skeleton.nodes().len()) {
            Some(root) => Err(item.invalid(format!("there is no node {root}"))),
            None => Ok(roots),
        }
    }
}

fn parents(document: &Document, count: usize) -> Result<Vec<Option<usize>>> {
    let mut parents = vec![None; count];
    for index in 0..count {
        let item = document.item(Kind::Node, index)?;
        for child in item.indices("children")? {
            let Some(slot) = parents.get_mut(child) else {
                return Err(item.invalid(format!("there is no node {child}")));
            };
            if let Some(other) = slot.replace(index) {
                let problem = format!("node {child} is a child of node {other} as well");
                return Err(item.invalid(problem));
            }
        }
    }
    Ok(parents)
}

/// Translation, rotation and scale of a matrix without shear; a mirror becomes a negative x scale.
fn decompose(matrix: Mat4) -> Transform {
    let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
    if scale.is_finite() && rotation.is_finite() && scale.min_element() != 0.0 {
        return Transform { translation, rotation: rotation.normalize(), scale };
    }
    // A flat matrix: lengths of the columns, and whatever rotation is left.
    let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|c| c.truncate());
    let scale = Vec3::from_array(columns.map(Vec3::length));
    Transform { translation: matrix.w_axis.truncate(), rotation: Quat::IDENTITY, scale }
}
