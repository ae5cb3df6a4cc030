//! The actors' own meshes in the reference pose: where points are given, and what they stick to.

use frisson::geometry::TriangleBvh;
use frisson::stage::{Anchor, Simulator};
use glam::Vec3;
use serde_json::{Value, json};

/// One actor's mesh.
struct Root {
    name: String,
    /// In the reference pose, with those that refinement has added [m].
    positions: Vec<Vec3>,
    tree: TriangleBvh,
}

impl Root {
    /// The triangle of the actor's own mesh that carries a place.
    fn carrier(
        &self,
        anchor: &Anchor,
        simulator: &Simulator,
        mesh: usize,
    ) -> Option<(u32, [f32; 3])> {
        // Of the mesh as the layer found it, not as refinement has left it.
        if let Anchor::OnTriangle { triangle, weights } = anchor {
            let there = (*triangle as usize) < self.tree.triangle_count();
            return there.then_some((*triangle, *weights));
        }
        let place = simulator.place("studio", mesh, anchor).ok()?;
        // Points in the air (a parting's plane, a field's middle) stick to nothing.
        let reach = NEAR * self.tree.bounds().diagonal();
        let near = self.tree.closest_point(place, reach)?;
        Some((near.triangle, near.barycentric))
    }
}

/// All of them.
#[derive(Default)]
pub struct Roots(Vec<Root>);

/// A point farther from a mesh than this share of its diagonal is not on it.
const NEAR: f32 = 0.03;

/// Layers that are drawn on the mesh; whole numbers of the same names mean other things in others.
const WITH_PLACES: [&str; 3] = ["wrinkles", "folds", "drops"];

/// Fields of layers that hold places on the mesh that the layer is on.
const PLACES: [&str; 5] = ["a", "b", "through", "points", "at"];

impl Roots {
    /// Those of a simulation.
    #[must_use]
    pub fn of(simulator: &Simulator) -> Self {
        let sources: Vec<_> =
            simulator.actors().all().iter().flat_map(|a| a.source_meshes()).collect();
        let root = |(index, source): (usize, &frisson::geometry::Mesh)| {
            let positions = simulator.reference_mesh(index).positions;
            // The actor's own vertices come first; refinement adds behind them.
            let own = positions.get(..source.positions.len())?;
            let tree = TriangleBvh::build(own, &source.topology.triangles);
            Some(Root { name: source.name.clone(), tree, positions })
        };
        Self(sources.iter().enumerate().filter_map(root).collect())
    }

    fn find(&self, name: &str) -> Option<&Root> {
        self.0.iter().find(|r| r.name == name)
    }

    /// The triangle of an actor's own mesh that a place in the reference pose lies on.
    #[must_use]
    pub fn anchor(&self, mesh: &str, position: Vec3) -> Option<Value> {
        let root = self.find(mesh)?;
        let near = root.tree.closest_point(position, f32::INFINITY)?;
        Some(json!({
            "triangle": near.triangle,
            "weights": near.barycentric.map(tidy),
            "position": near.point.to_array().map(tidy),
        }))
    }

    /// A place on a shown triangle, in the reference pose [m].
    #[must_use]
    pub fn reference(&self, mesh: &str, corners: [u32; 3], weights: [f32; 3]) -> Option<Vec3> {
        let root = self.find(mesh)?;
        let mut place = Vec3::ZERO;
        for (corner, weight) in corners.into_iter().zip(weights) {
            place += *root.positions.get(corner as usize)? * weight;
        }
        Some(place)
    }

    /// Every place that layers name: its path in the scene, and the corners that carry it.
    #[must_use]
    pub fn places(&self, layers: &[Value], simulator: &Simulator) -> Vec<Value> {
        let mut found = Vec::new();
        for (index, layer) in layers.iter().enumerate() {
            let Some((kind, params)) = layer.as_object().and_then(|l| l.iter().next()) else {
                continue;
            };
            if !WITH_PLACES.contains(&kind.as_str()) {
                continue;
            }
            let on = match &params["on"] {
                Value::Array(names) => names.first().and_then(Value::as_str),
                other => other.as_str(),
            };
            let Some(root) = on.and_then(|name| self.find(name)) else { continue };
            let mesh = simulator.frame().mesh_index(&root.name).unwrap_or(0);
            let mut add = |path: &str, anchor: &Anchor| {
                if let Some((triangle, weights)) = root.carrier(anchor, simulator, mesh) {
                    let corners = root.tree.triangle(triangle);
                    found.push(json!({
                        "path": path, "layer": index, "mesh": root.name,
                        "corners": corners, "weights": weights,
                    }));
                }
            };
            gather(params, &format!("layers[{index}].{kind}"), None, &mut add);
        }
        found
    }
}

/// Five digits of a metre or of a weight: a hundredth of a millimetre, and short in the text.
fn tidy(value: f32) -> f64 {
    (f64::from(value) * 1e5).round() / 1e5
}

fn gather(value: &Value, path: &str, key: Option<&str>, add: &mut dyn FnMut(&str, &Anchor)) {
    let is_place = key.is_some_and(|k| PLACES.contains(&k));
    if is_place && let Ok(anchor) = serde_json::from_value::<Anchor>(value.clone()) {
        add(path, &anchor);
        return;
    }
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(k, v)| gather(v, &format!("{path}.{k}"), Some(k), add));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| gather(v, &format!("{path}[{i}]"), key, add))
        }
        _ => {}
    }
}
