//! The actors' own meshes in the reference pose: where points are given, and what they stick to.

use frisson::geometry::TriangleBvh;
use frisson::stage::{Anchor, Selection, Simulator};
use glam::{Affine3A, Mat3, Vec3};
use serde_json::{Value, json};

/// One actor's mesh.
struct Root {
    name: String,
    /// In the reference pose, with those that refinement has added [m].
    positions: Vec<Vec3>,
    /// How many of them are the actor's own.
    own: usize,
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

/// Places that are given beside a triangle, as the page sees it.
#[derive(serde::Deserialize)]
pub struct Beside {
    /// Mesh.
    pub mesh: String,
    /// Corners of the triangle.
    pub corners: [u32; 3],
    /// Where the page sees them [m].
    pub now: [[f32; 3]; 3],
    /// The places [m].
    pub points: Vec<[f32; 3]>,
}

/// Axes that stand on a triangle, without its size; none where it has no area.
fn standing([a, b, c]: [Vec3; 3]) -> Option<Affine3A> {
    let along = (b - a).try_normalize()?;
    let normal = (b - a).cross(c - a).try_normalize()?;
    let turn = Mat3::from_cols(along, normal.cross(along), normal);
    Some(Affine3A::from_mat3_translation(turn, (a + b + c) / 3.0))
}

/// What a parameter of a layer selects on an actor's mesh.
pub struct Chosen {
    /// The parameter: `layers[0].cloth.pins`.
    pub path: String,
    /// Weight of each of the actor's own vertices, in 255ths.
    pub weights: Vec<u8>,
}

/// All of them.
#[derive(Default)]
pub struct Roots {
    meshes: Vec<Root>,
    chosen: Vec<Chosen>,
}

/// A point farther from a mesh than this share of its diagonal is not on it.
const NEAR: f32 = 0.03;

/// Layers that are drawn on the mesh; whole numbers of the same names mean other things in others.
const WITH_PLACES: [&str; 3] = ["wrinkles", "folds", "drops"];

/// Fields of layers that select vertices of the mesh that the layer is on.
const SELECTIONS: [&str; 7] =
    ["selection", "mask", "scalp", "pins", "soft_pins", "select", "vertices"];

/// Fields of layers that hold places on the mesh that the layer is on.
const PLACES: [&str; 5] = ["a", "b", "through", "points", "at"];

impl Roots {
    /// Those of a simulation, whose layers' parameters are given as JSON.
    #[must_use]
    pub fn of(simulator: &Simulator, layers: &[Value]) -> Self {
        let sources: Vec<_> =
            simulator.actors().all().iter().flat_map(|a| a.source_meshes()).collect();
        let root = |(index, source): (usize, &frisson::geometry::Mesh)| {
            let positions = simulator.reference_mesh(index).positions;
            // The actor's own vertices come first; refinement adds behind them.
            let own = positions.get(..source.positions.len())?;
            let tree = TriangleBvh::build(own, &source.topology.triangles);
            let own = source.positions.len();
            Some(Root { name: source.name.clone(), tree, positions, own })
        };
        let meshes = sources.iter().enumerate().filter_map(root).collect();
        let mut roots = Self { meshes, chosen: Vec::new() };
        roots.chosen = roots.choose(layers, simulator);
        roots
    }

    fn find(&self, name: &str) -> Option<&Root> {
        self.meshes.iter().find(|r| r.name == name)
    }

    /// The mesh of the first name that a layer is on.
    fn under(&self, params: &Value) -> Option<&Root> {
        let on = match &params["on"] {
            Value::Array(names) => names.first().and_then(Value::as_str),
            other => other.as_str(),
        };
        on.and_then(|name| self.find(name))
    }

    /// What all selections of all layers select.
    fn choose(&self, layers: &[Value], simulator: &Simulator) -> Vec<Chosen> {
        let mut found = Vec::new();
        for (index, layer) in layers.iter().enumerate() {
            let Some((kind, params)) = layer.as_object().and_then(|l| l.iter().next()) else {
                continue;
            };
            let Some(root) = self.under(params) else { continue };
            let Some(mesh) = simulator.frame().mesh_index(&root.name) else { continue };
            let mut add = |path: &str, value: &Value| {
                let Some(selection) = selection_of(path, value) else { return };
                // A name that is not there is told at its line of the text.
                let Ok(weights) = simulator.select("studio", mesh, &selection) else { return };
                let own = weights.iter().take(root.own).map(|w| (255.0 * w).round() as u8);
                found.push(Chosen { path: path.to_owned(), weights: own.collect() });
            };
            visit(params, &format!("layers[{index}].{kind}"), &SELECTIONS, &mut add);
        }
        found
    }

    /// What a parameter selects.
    #[must_use]
    pub fn chosen(&self, path: &str) -> Option<&[u8]> {
        self.chosen.iter().find(|c| c.path == path).map(|c| c.weights.as_slice())
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
            "corners": root.tree.triangle(near.triangle),
        }))
    }

    /// For every vertex of an actor's own mesh the one on the other side of x = 0 in the reference pose.
    #[must_use]
    pub fn mirror(&self, mesh: &str) -> Option<Vec<u32>> {
        let root = self.find(mesh)?;
        let own = root.positions.get(..root.own)?;
        let other = |p: &Vec3| {
            let near = root.tree.closest_point(Vec3::new(-p.x, p.y, p.z), f32::INFINITY)?;
            let [a, b, c] = near.barycentric;
            let corner = if a >= b && a >= c {
                0
            } else if b >= c {
                1
            } else {
                2
            };
            Some(root.tree.triangle(near.triangle)[corner])
        };
        own.iter().map(other).collect()
    }

    /// Places beside a triangle that is shown, as they are beside it in the reference pose [m].
    #[must_use]
    pub fn relocate(&self, beside: &Beside) -> Option<Vec<[f64; 3]>> {
        let root = self.find(&beside.mesh)?;
        let corner = |v: u32| root.positions.get(v as usize).copied();
        let [a, b, c] = beside.corners.map(corner);
        let there = standing([a?, b?, c?])?;
        let here = standing(beside.now.map(Vec3::from_array))?;
        let reference_from_now = there * here.inverse();
        let moved = |p: &[f32; 3]| reference_from_now.transform_point3(Vec3::from_array(*p));
        Some(beside.points.iter().map(|p| moved(p).to_array().map(tidy)).collect())
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
            let Some(root) = self.under(params) else { continue };
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

/// A selection that says something. Cloth that names no pins is held by the region of that name.
fn selection_of(path: &str, value: &Value) -> Option<Selection> {
    if value.is_null() && path.ends_with(".cloth.pins") {
        return Some(Selection { region: Some("pins".to_owned()), ..Selection::default() });
    }
    let selection: Selection = serde_json::from_value(value.clone()).ok()?;
    (selection != Selection::default()).then_some(selection)
}

fn gather(value: &Value, path: &str, key: Option<&str>, add: &mut dyn FnMut(&str, &Anchor)) {
    let is_place = key.is_some_and(|k| PLACES.contains(&k));
    if is_place && let Ok(anchor) = serde_json::from_value::<Anchor>(value.clone()) {
        add(path, &anchor);
        return;
    }
    each(value, path, key, &mut |v, p, k| gather(v, p, k, add));
}

/// Every value below that has one of the keys.
fn visit(value: &Value, path: &str, keys: &[&str], add: &mut dyn FnMut(&str, &Value)) {
    each(value, path, None, &mut |v, p, k| match k.filter(|k| keys.contains(k)) {
        Some(_) => add(p, v),
        None => visit(v, p, keys, add),
    });
}

/// What stands directly in a value, with path and key.
fn each(
    value: &Value,
    path: &str,
    key: Option<&str>,
    work: &mut dyn FnMut(&Value, &str, Option<&str>),
) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(k, v)| work(v, &format!("{path}.{k}"), Some(k)));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| work(v, &format!("{path}[{i}]"), key));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> Roots {
        // Two triangles, left and right of x = 0.
        let positions: Vec<Vec3> = [[1., 0., 0.], [2., 0., 0.], [1., 1., 0.]]
            .iter()
            .flat_map(|p| [Vec3::from_array(*p), Vec3::new(-p[0], p[1], p[2])])
            .collect();
        let tree = TriangleBvh::build(&positions, &[[0, 2, 4], [1, 3, 5]]);
        let meshes = vec![Root { name: "m".to_owned(), own: 6, positions, tree }];
        Roots { meshes, chosen: Vec::new() }
    }

    #[test]
    fn every_vertex_finds_its_mirror_image() {
        assert_eq!(pair().mirror("m").unwrap(), [1, 0, 3, 2, 5, 4]);
        assert!(pair().mirror("other").is_none());
    }

    #[test]
    fn what_is_beside_a_moved_triangle_goes_back_with_it() {
        let turn = Affine3A::from_rotation_translation(
            glam::Quat::from_rotation_y(0.7),
            Vec3::new(3.0, -1.0, 0.5),
        );
        let places = [Vec3::new(1.2, 0.3, 0.4), Vec3::new(1.5, 0.2, -0.1)];
        let roots = pair();
        let corner = |v: usize| turn.transform_point3(roots.meshes[0].positions[v]).to_array();
        let beside = Beside {
            mesh: "m".to_owned(),
            corners: [0, 2, 4],
            now: [corner(0), corner(2), corner(4)],
            points: places.map(|p| turn.transform_point3(p).to_array()).to_vec(),
        };
        for (found, wanted) in roots.relocate(&beside).unwrap().iter().zip(places) {
            let found = Vec3::from_array(found.map(|x| x as f32));
            assert!(found.distance(wanted) < 2e-5, "{found} {wanted}");
        }
        let flat = Beside { now: [[0.0; 3]; 3], ..beside };
        assert!(roots.relocate(&flat).is_none(), "a triangle without area has no axes");
    }
}
