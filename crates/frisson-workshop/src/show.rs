//! What a selection, a pin set, a scalp or a tool covers, before anything is baked: the actors
//! in the reference pose, with the chosen vertices marked and the given points as beads.

use std::path::Path;
use std::sync::Arc;

use frisson::geometry::{Bounds, Material, Mesh, TriangleBvh};
use frisson::layers::LayerParams;
use frisson::stage::{Actor, Anchor, Frame, Selection, Simulator};
use frisson_io::cache::{CacheHeader, CacheWriter, IfExists};
use frisson_io::scene::SceneFile;
use glam::Vec3;
use serde_json::Value;

use crate::shot::{BEYOND_ALL, FROM_ABOVE};
use crate::{Loader, WorkshopError};

/// How much more another side must show for it to be taken instead of the usual one [-].
const BETTER: f32 = 1.1;

/// Attribute that marks what is covered, 0 to 1.
pub const COVERED: &str = "covered";

/// Fields that hold places, wherever they are in a layer's parameters.
const PLACES: [&str; 7] = ["a", "b", "through", "points", "from", "to", "at"];

/// Size of a bead beside the scene's [-].
const BEAD: f32 = 0.012;
/// As many vertices at most get a dot each: single rows of them hardly colour the triangles around.
const FEW: usize = 300;
/// Size of such a dot beside a bead [-].
const DOT: f32 = 0.5;
/// Sides that are tried, the usual ones first [degrees].
const SIDES: [f32; 8] = [30.0, -30.0, 0.0, 90.0, -90.0, 150.0, -150.0, 180.0];
/// Most places that are asked whether they are seen.
const WITNESSES: usize = 400;
/// How far before the skin its places are looked at, beside the scene's size [-].
const CLEAR: f32 = 3e-3;
/// Colour of beads, linear.
const RED: [f32; 4] = [0.8, 0.03, 0.02, 1.0];

/// What was found and drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// Vertices that are covered.
    pub vertices: usize,
    /// Points that are given.
    pub points: usize,
    /// The side from which most of it can be seen, around the vertical [degrees]; 0 is the front.
    pub yaw_deg: Option<f32>,
}

/// Writes a cache of one frame that shows what `what` covers: a layer's name, or a layer's name and a
/// parameter (`cape.pins`).
pub fn write_shown(scene: &SceneFile, what: &str, cache: &Path) -> Result<Shown, WorkshopError> {
    let (layer, path) = find_layer(&scene.scene.layers, what)?;
    let mut simulator = alone(scene, layer)?;
    let layer =
        simulator.params().iter().find(|l| l.name() == layer.name()).unwrap_or(layer).clone();
    let reach = attribute_of_reach(&mut simulator, &layer, &path)?;
    let value = serde_json::to_value(&layer).map_err(WorkshopError::of)?;
    let params = value.as_object().and_then(|o| o.values().next()).unwrap_or(&Value::Null);
    let wanted = path.iter().try_fold(params, |at, key| {
        at.get(*key).ok_or_else(|| {
            let own: Vec<&str> =
                at.as_object().map(|o| o.keys().map(String::as_str).collect()).unwrap_or_default();
            let text = format!("layer {:?} gives no {key:?}", layer.name());
            WorkshopError::advised(text, format!("it has: {}", own.join(", ")))
        })
    })?;
    let mut frame = simulator.frame().clone();
    for index in 0..frame.meshes.len() {
        frame.meshes[index] = simulator.reference_mesh(index);
    }
    // What layers made would lie over what they were made from.
    let own: usize = simulator.actors().all().iter().map(Actor::mesh_count).sum();
    let indices = meshes_of(params, &simulator, &frame);
    let needed = indices.iter().max().map_or(0, |m| m + 1);
    frame.meshes.truncate(own.max(needed));
    frame.curves.clear();
    frame.points.clear();
    let mut shown = Shown::default();
    let (mut witnesses, mut dots) = (Vec::new(), Vec::new());
    let mut places = Vec::new();
    // What chooses nothing is about all that it is on.
    let all_of_it = path.is_empty() && reach.is_none() && !chooses(wanted);
    for mesh in indices {
        let covered = match all_of_it {
            true => vec![1.0; frame.meshes[mesh].positions.len()],
            false => covered(&simulator, &frame, mesh, wanted, reach.as_ref())?,
        };
        shown.vertices += covered.iter().filter(|c| **c > 0.0).count();
        let chosen = witnesses_of(&frame.meshes[mesh], &covered);
        if chosen.len() <= FEW {
            dots.extend(chosen.iter().map(|w| w.at));
        }
        witnesses.extend(chosen);
        frame.meshes[mesh].set_scalar(COVERED, |values| values.copy_from_slice(&covered));
        gather_places(wanted, path.last().copied(), &mut |anchor| {
            if let Ok(place) = simulator.place("show", mesh, anchor) {
                places.push(place);
            }
        });
    }
    shown.points = places.len();
    let all = frame.meshes.iter().fold(Bounds::EMPTY, |b, m| b.union(m.bounds()));
    witnesses.extend(places.iter().map(|at| Witness { at: *at, normal: None, weight: 1.0 }));
    shown.yaw_deg = best_side(&frame, &witnesses, all.diagonal());
    let radius = 0.5 * BEAD * all.diagonal();
    for (at, radius) in [(&places, radius), (&dots, DOT * radius)] {
        if !at.is_empty() {
            let mut beads = beads(at, radius);
            beads.set_scalar(COVERED, |values| values.fill(1.0));
            frame.meshes.push(beads);
        }
    }
    write(scene, &simulator, &frame, cache)?;
    Ok(shown)
}

/// Meshes that a layer is on: by their names, or all of an actor. Soft bodies name theirs for every coat.
fn meshes_of(params: &Value, simulator: &Simulator, frame: &Frame) -> Vec<usize> {
    let coats = params.get("objects").and_then(Value::as_array).into_iter().flatten();
    let coats = coats.filter_map(|object| object.get("coat"));
    let parts = std::iter::once(params).chain(coats);
    let actors = simulator.actors();
    let mut found = Vec::new();
    for part in parts {
        let words = |key: &str| -> Vec<&str> {
            match part.get(key) {
                Some(Value::String(name)) => vec![name],
                Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            }
        };
        for on in words("on") {
            let Some(actor) = actors.find(on) else {
                found.extend(frame.mesh_index(on));
                continue;
            };
            let only = words("meshes");
            let is_meant = |mesh: &usize| {
                let name = &frame.meshes[*mesh].name;
                only.is_empty()
                    || only.iter().any(|o| name == o || name.ends_with(&format!("/{o}")))
            };
            found.extend(
                actors.mesh_range(actor).filter(|m| *m < frame.meshes.len()).filter(is_meant),
            );
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether some parameters select anything or name a place.
fn chooses(params: &Value) -> bool {
    let mut any = false;
    gather_selections(params, &mut |_| any = true);
    gather_places(params, None, &mut |_| any = true);
    any
}

/// The scene with one layer only; with all of them where it stands on what another one makes.
fn alone(scene: &SceneFile, layer: &LayerParams) -> Result<Simulator, WorkshopError> {
    let mut lone = scene.clone();
    lone.scene.layers = vec![layer.clone()];
    lone.scene.expect = Vec::new();
    match lone.build(&Loader) {
        Ok(built) => Ok(built.stage),
        Err(_) => Ok(scene.build(&Loader)?.stage),
    }
}

/// The attribute in which a layer says what it moves.
struct Reach {
    attribute: String,
    /// Whether it says how far [m] instead of how much, 0 to 1.
    is_height: bool,
}

/// Layers that find out by themselves what they move are made to tell.
fn attribute_of_reach(
    simulator: &mut Simulator,
    layer: &LayerParams,
    path: &[&str],
) -> Result<Option<Reach>, WorkshopError> {
    if !path.is_empty() {
        return Ok(None);
    }
    let mut told = layer.clone();
    let (attribute, is_height) = match &mut told {
        LayerParams::Flesh(flesh) => {
            flesh.show_weights = true;
            (format!("flesh:{}", flesh.name), false)
        }
        LayerParams::Wrinkles(wrinkles) => {
            wrinkles.attributes = true;
            ("wrinkle_region".to_owned(), false)
        }
        LayerParams::Folds(folds) => {
            folds.attributes = true;
            ("fold_height".to_owned(), true)
        }
        _ => return Ok(None),
    };
    simulator.set_params(&told).map_err(WorkshopError::of)?;
    Ok(Some(Reach { attribute, is_height }))
}

/// A place that should be seen.
struct Witness {
    at: Vec3,
    /// Of the skin there; points have none.
    normal: Option<Vec3>,
    weight: f32,
}

/// The covered vertices of a mesh.
fn witnesses_of(mesh: &Mesh, covered: &[f32]) -> Vec<Witness> {
    let mut normals = vec![Vec3::ZERO; mesh.positions.len()];
    for corners in &mesh.topology.triangles {
        let [a, b, c] = corners.map(|v| mesh.positions[v as usize]);
        corners.iter().for_each(|v| normals[*v as usize] += (b - a).cross(c - a));
    }
    let all = mesh.positions.iter().zip(normals).zip(covered);
    let chosen = all.filter(|(_, weight)| **weight > 0.0);
    let witness = |((at, normal), weight): ((&Vec3, Vec3), &f32)| Witness {
        at: *at,
        normal: Some(normal.normalize_or_zero()),
        weight: *weight,
    };
    chosen.map(witness).collect()
}

/// The side from which most of some places can be seen, around the vertical [degrees]; nothing where all
/// sides are alike.
fn best_side(frame: &Frame, places: &[Witness], size: f32) -> Option<f32> {
    let trees: Vec<TriangleBvh> = frame
        .meshes
        .iter()
        .filter(|m| !m.topology.triangles.is_empty())
        .map(|m| TriangleBvh::build(&m.positions, &m.topology.triangles))
        .collect();
    let step = places.len().div_ceil(WITNESSES).max(1);
    let seen = |yaw: f32| -> f32 {
        let to_eye =
            Vec3::new(yaw.to_radians().sin(), FROM_ABOVE, yaw.to_radians().cos()).normalize();
        let free = |at: Vec3| {
            let from = at + to_eye * (CLEAR * size);
            !trees.iter().any(|tree| tree.raycast(from, to_eye, BEYOND_ALL * size).is_some())
        };
        // Sheets are seen from both sides.
        let shown = |w: &Witness| w.weight * w.normal.map_or(1.0, |n| n.dot(to_eye).abs());
        places.iter().step_by(step).filter(|w| free(w.at)).map(shown).sum()
    };
    let sides = SIDES.map(|yaw| (yaw, seen(yaw)));
    let best = sides
        .iter()
        .fold(sides[0], |best, side| if side.1 > BETTER * best.1 { *side } else { best });
    (best.1 > 0.0).then_some(best.0)
}

fn find_layer<'a, 'b>(
    layers: &'a [LayerParams],
    what: &'b str,
) -> Result<(&'a LayerParams, Vec<&'b str>), WorkshopError> {
    let named = |l: &&LayerParams| {
        what == l.name() || what.strip_prefix(l.name()).is_some_and(|r| r.starts_with('.'))
    };
    // Names may hold dots themselves: the longest that fits is meant.
    let layer = layers.iter().filter(named).max_by_key(|l| l.name().len()).ok_or_else(|| {
        let names: Vec<&str> = layers.iter().map(LayerParams::name).collect();
        let text = format!("there is no layer named as in {what:?}");
        WorkshopError::advised(text, format!("layers: {}", names.join(", ")))
    })?;
    let rest = what[layer.name().len()..].split('.').filter(|k| !k.is_empty()).collect();
    Ok((layer, rest))
}

/// Weights of all selections in some parameters, by vertex: the largest counts. An attribute of the
/// mesh may stand for them.
fn covered(
    simulator: &Simulator,
    frame: &Frame,
    mesh: usize,
    value: &Value,
    reach: Option<&Reach>,
) -> Result<Vec<f32>, WorkshopError> {
    let shape = &frame.meshes[mesh];
    if let Some((reach, own)) = reach.and_then(|r| Some((r, shape.scalar(&r.attribute)?))) {
        return Ok(if reach.is_height { shares_of_largest(own) } else { own.to_vec() });
    }
    let mut covered = vec![0.0f32; shape.positions.len()];
    let mut failed = None;
    gather_selections(value, &mut |selection| match simulator.select("show", mesh, selection) {
        Ok(weights) => covered.iter_mut().zip(weights).for_each(|(c, w)| *c = c.max(w)),
        Err(error) => failed = Some(error),
    });
    match failed {
        Some(error) => Err(WorkshopError::of(error)),
        None => Ok(covered),
    }
}

/// Heights, up or down, as shares of the largest.
fn shares_of_largest(heights: &[f32]) -> Vec<f32> {
    let most = heights.iter().fold(0.0f32, |most, h| most.max(h.abs()));
    heights.iter().map(|h| if most > 0.0 { h.abs() / most } else { 0.0 }).collect()
}

/// Small red eight-sided bodies at some places.
fn beads(places: &[Vec3], radius: f32) -> Mesh {
    let corners = [Vec3::X, Vec3::Z, -Vec3::X, -Vec3::Z, Vec3::Y, -Vec3::Y];
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for place in places {
        let first = positions.len() as u32;
        positions.extend(corners.map(|c| *place + radius * c));
        for k in 0..4 {
            let (a, b) = (first + k, first + (k + 1) % 4);
            triangles.push([a, first + 4, b]);
            triangles.push([a, b, first + 5]);
        }
    }
    let mut mesh = Mesh::new("given points", positions, triangles);
    let topology = Arc::make_mut(&mut mesh.topology);
    topology.materials = vec![Material { base_color: RED, ..Material::default() }];
    mesh
}

/// Words that only selections have.
const SHAPES: [&str; 10] = [
    "region",
    "material",
    "joints",
    "sphere",
    "capsule",
    "box",
    "vertices",
    "vertices_file",
    "primitive",
    "image",
];

fn gather_selections(value: &Value, found: &mut dyn FnMut(&Selection)) {
    match value {
        Value::Object(fields) => {
            let chosen = fields.iter().any(|(k, v)| SHAPES.contains(&k.as_str()) && !v.is_null());
            match serde_json::from_value::<Selection>(value.clone()) {
                Ok(selection) if chosen => found(&selection),
                _ => fields.values().for_each(|v| gather_selections(v, found)),
            }
        }
        Value::Array(items) => items.iter().for_each(|v| gather_selections(v, found)),
        _ => {}
    }
}

fn gather_places(value: &Value, key: Option<&str>, found: &mut dyn FnMut(&Anchor)) {
    let is_place = key.is_some_and(|k| PLACES.contains(&k));
    if is_place && let Ok(anchor) = serde_json::from_value::<Anchor>(value.clone()) {
        found(&anchor);
        return;
    }
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(k, v)| gather_places(v, Some(k), found));
        }
        Value::Array(items) => items.iter().for_each(|v| gather_places(v, key, found)),
        _ => {}
    }
}

fn write(
    scene: &SceneFile,
    simulator: &Simulator,
    frame: &Frame,
    cache: &Path,
) -> Result<(), WorkshopError> {
    let number = simulator.clock().first_frame;
    let header = CacheHeader {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        scene_hash: 0,
        rate: simulator.clock().rate,
        first_frame: number,
        last_frame: number,
        sources: Vec::new(),
        layers: Vec::new(),
        scene_text: scene.text.clone(),
    };
    let (mut writer, _) = CacheWriter::open(cache, &header, IfExists::Replace)?;
    let mut shown = frame.clone();
    shown.index = number;
    // A look at vertices needs no shading of its own.
    shown.meshes.iter_mut().for_each(|m| m.velocities.clear());
    writer.write_frame(&shown, &[])?;
    writer.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn selections_and_places_are_found_wherever_they_are() {
        let params = json!({
            "on": "cat", "tools": [{ "a": [1.0, 2.0, 3.0], "b": 7, "mask": { "region": "nape" } }],
            "scalp": { "sphere": [0, 0, 0, 1] }, "folds": [{ "points": [[0, 0, 0], [1, 0, 0]] }]
        });
        let (mut selections, mut places) = (0, Vec::new());
        gather_selections(&params, &mut |_| selections += 1);
        gather_places(&params, None, &mut |a| places.push(a.clone()));
        assert_eq!(selections, 2);
        assert_eq!(places.len(), 4);
        assert!(places.contains(&Anchor::Vertex(7)));
        assert!(places.contains(&Anchor::Position([0.0; 3])));
    }

    /// How many vertices a layer on the wrist is shown to move.
    fn moved_by(layer: &str) -> usize {
        let head = "frisson = 2\nfps = 30\nreference = \"rest\"\n[actors.wrist]\n\
                    source = \"builtin:wrist?triangles=2000\"\nclip = \"bend\"\n[[layers]]\n";
        let scene = SceneFile::parse(Path::new("wrist.toml"), &format!("{head}{layer}")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        write_shown(&scene, "skin", &folder.path().join("shown.frisson")).unwrap().vertices
    }

    #[test]
    fn a_wrinkle_is_shown_as_far_as_it_reaches() {
        let wrinkles = |width: f32| {
            moved_by(&format!(
                "[layers.wrinkles]\nname = \"skin\"\non = \"wrist\"\nmax_level = 1\n\
                 [[layers.wrinkles.tools]]\nname = \"back\"\na = [0.0, 0.233, -0.045]\nb = [0.0, 0.222, 0.022]\n\
                 width = {width}\nfolds = 3\n"
            ))
        };
        let (narrow, wide) = (wrinkles(0.02), wrinkles(0.04));
        assert!(narrow > 20 && wide as f32 > 1.3 * narrow as f32, "{narrow}, {wide}");
    }

    #[test]
    fn a_fold_is_shown_as_far_as_it_reaches() {
        let folds = |width: f32| {
            moved_by(&format!(
                "[layers.folds]\nname = \"skin\"\non = \"wrist\"\nfolds = [{{ name = \"fold\", \
                 points = [[0.0, 0.26, -0.045], [0.0, 0.2, 0.0]], width = {width}, amplitude = 0.004, \
                 subdivision = 2 }}]\n"
            ))
        };
        let (narrow, wide) = (folds(0.03), folds(0.05));
        assert!(narrow > 5 && wide as f32 > 1.3 * narrow as f32, "{narrow}, {wide}");
    }
}
