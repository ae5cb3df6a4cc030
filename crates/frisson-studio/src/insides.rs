//! What goes on inside layers, as lines and points over the picture: springs, regions, pins, envelopes,
//! bodies and their seeds, colliders, wind.

use std::collections::BTreeMap;

use frisson::geometry::Bounds;
use frisson::layers::cloth::ClothLayer;
use frisson::layers::flesh::FleshLayer;
use frisson::layers::hair::HairLayer;
use frisson::layers::soft::SoftLayer;
use frisson::layers::wrinkles::WrinklesLayer;
use frisson::stage::{Layer, Running, RunningLayer, Simulator, solid_mesh};
use glam::{DVec3, Vec3};

/// Some lines or points that belong to a layer, or to the scene.
pub struct Inside {
    /// What: `springs`, `region`, `pins`, `envelopes`, `bodies`, `seeds`, `contacts`,
    /// `colliders`, `wind`.
    pub kind: &'static str,
    /// Name of the layer; empty for what belongs to the scene.
    pub layer: String,
    /// Ends of lines in pairs, or points [m].
    pub places: Vec<Vec3>,
    /// Whether they are ends of lines.
    pub is_lines: bool,
}

/// Wisps whose envelopes are shown; more would hide each other.
const MOST_ENVELOPES: usize = 400;
/// Places along each edge of the scene's box at which the wind is shown.
const WIND_PLACES: u32 = 4;
/// How long the air takes for the length of an arrow [s].
const WIND_SECONDS: f32 = 0.05;
/// Square of the speed below which air stands still [m²/s²]: an arrow of no length has no direction.
const STILL_AIR: f32 = 1e-8;
/// Thickness of the box in which wind is shown around a flat scene, beside its diagonal [-].
const WIND_ROOM: f32 = 0.2;
/// Length of a contact's normal beside the scene's size [-].
const CONTACT_LENGTH: f32 = 0.03;

/// All of it, in the order of the layers.
#[must_use]
pub fn insides(simulator: &Simulator) -> Vec<Inside> {
    let mut found: Vec<Inside> =
        simulator.layers().iter().flat_map(|l| of_layer(l.as_ref(), simulator)).collect();
    found.push(colliders(simulator));
    found.push(wind(simulator));
    found.retain(|i| !i.places.is_empty());
    found
}

fn of_layer(layer: &dyn RunningLayer, simulator: &Simulator) -> Vec<Inside> {
    let lists = match layer.kind() {
        "flesh" => springs(layer, simulator),
        "wrinkles" => regions(layer, simulator),
        "cloth" => pins(layer),
        "hair" => envelopes(layer),
        "soft" => bodies(layer, size_of(simulator)),
        _ => None,
    };
    let name = layer.name();
    let one = |(kind, is_lines, places)| Inside { kind, layer: name.to_owned(), places, is_lines };
    lists.unwrap_or_default().into_iter().map(one).collect()
}

type Lists = Option<Vec<(&'static str, bool, Vec<Vec3>)>>;

fn running<L: Layer>(layer: &dyn RunningLayer) -> Option<(&L::Rest, &L::State)> {
    let own = layer.as_any().downcast_ref::<Running<L>>()?;
    Some((own.rest(), own.state()?))
}

fn bounds(simulator: &Simulator) -> Bounds {
    simulator.frame().meshes.iter().fold(Bounds::EMPTY, |b, m| b.union(m.bounds()))
}

fn size_of(simulator: &Simulator) -> f32 {
    let all = bounds(simulator);
    if all.is_empty() { 1.0 } else { all.diagonal() }
}

/// The spring of flesh: from the middle of its bone to where its mass is.
fn springs(layer: &dyn RunningLayer, simulator: &Simulator) -> Lists {
    let (rest, state) = running::<FleshLayer>(layer)?;
    let world_from_joint = simulator.actors().pose(rest.actor).world_from_node.get(rest.joint)?;
    let middle = world_from_joint.transform_point3(rest.joint_from_middle);
    let mass = middle + state.elongation.as_vec3();
    Some(vec![("springs", true, vec![middle, mass]), ("springs", false, vec![mass])])
}

/// The border of what the lines of wrinkles can fold.
fn regions(layer: &dyn RunningLayer, simulator: &Simulator) -> Lists {
    let (rest, _) = running::<WrinklesLayer>(layer)?;
    let positions = &simulator.frame().meshes.get(rest.mesh)?.positions;
    let mut lines = Vec::new();
    for tool in &rest.tools {
        // An edge that only one triangle of the region has is its border.
        let mut edges: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        for corners in tool.triangles.iter().filter_map(|t| rest.base.triangles.get(*t as usize)) {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                *edges.entry([a.min(b), a.max(b)]).or_default() += 1;
            }
        }
        let border = edges.into_iter().filter(|(_, count)| *count == 1);
        for ends in border.map(|(edge, _)| edge.map(|v| positions.get(v as usize).copied())) {
            lines.extend(ends.into_iter().flatten());
        }
    }
    Some(vec![("region", true, lines)])
}

fn pins(layer: &dyn RunningLayer) -> Lists {
    let (garment, state) = running::<ClothLayer>(layer)?;
    let held = garment.held.iter().zip(&state.positions).filter(|(held, _)| **held);
    Some(vec![("pins", false, held.map(|(_, p)| p.as_vec3()).collect())])
}

/// Rings around the particles of wisps, and the lines that join them.
fn envelopes(layer: &dyn RunningLayer) -> Lists {
    let (rest, state) = running::<HairLayer>(layer)?;
    let around = rest.samples_around().max(1);
    let mut lines = Vec::new();
    for samples in state.envelopes(rest).take(MOST_ENVELOPES) {
        for (index, place) in samples.iter().enumerate() {
            let (plane, sample) = (index / around, index % around);
            // Around the ring, back to its start.
            let beside = samples[plane * around + (sample + 1) % around];
            lines.extend([*place, beside]);
            if let Some(next) = samples.get(index + around) {
                lines.extend([*place, *next]);
            }
        }
    }
    Some(vec![("envelopes", true, lines)])
}

/// What soft bodies are built around, and the sides on which they touch.
fn bodies(layer: &dyn RunningLayer, size: f32) -> Lists {
    let (rest, state) = running::<SoftLayer>(layer)?;
    let placed = |primitive: &frisson::layers::soft::SoftRest, index: usize| -> Vec<DVec3> {
        let own = &primitive.primitives[index];
        let Some(body) = state.bodies.get(own.body) else { return Vec::new() };
        own.points.iter().map(|p| body.position + body.rotation * *p).collect()
    };
    let places: Vec<Vec<DVec3>> = (0..rest.primitives.len()).map(|i| placed(rest, i)).collect();
    let single = |p: &Vec<DVec3>| p.iter().map(|p| p.as_vec3()).collect::<Vec<Vec3>>();
    let points = places.iter().flat_map(single).collect();
    let lines = places.iter().flat_map(|own| own.windows(2).flatten().map(|p| p.as_vec3()));
    let middle = |index: u32| -> Option<DVec3> {
        let own = places.get(index as usize).filter(|p| !p.is_empty())?;
        Some(own.iter().sum::<DVec3>() / own.len() as f64)
    };
    let mut contacts = Vec::new();
    for side in &state.sides {
        if let (Some(a), Some(b)) = (middle(side.pair.0), middle(side.pair.1)) {
            let place = (0.5 * (a + b)).as_vec3();
            let along = side.normal.as_vec3() * (0.5 * CONTACT_LENGTH * size);
            contacts.extend([place - along, place + along]);
        }
    }
    Some(vec![
        ("bodies", false, points),
        ("bodies", true, lines.collect()),
        ("seeds", false, state.seed_places(rest).map(|p| p.as_vec3()).collect()),
        ("contacts", true, contacts),
    ])
}

/// Colliders that nobody sees otherwise: every third line of their meshes.
fn colliders(simulator: &Simulator) -> Inside {
    let mut places = Vec::new();
    for collider in simulator.colliders().all() {
        if simulator.colliders().shows(&collider.name) {
            continue;
        }
        let Some(mesh) = solid_mesh(&collider.name, &collider.shape, [1.0; 3]) else { continue };
        let (turn, shift) = collider.pose(1.0);
        let at = |v: u32| turn * mesh.positions[v as usize] + shift;
        for corners in mesh.topology.triangles.iter().step_by(3) {
            places.extend([at(corners[0]), at(corners[1])]);
        }
    }
    Inside { kind: "colliders", layer: String::new(), places, is_lines: true }
}

/// The wind at places around the scene, as far as the air gets in a twentieth of a second.
fn wind(simulator: &Simulator) -> Inside {
    let mut places = Vec::new();
    let all = bounds(simulator);
    if simulator.forces().has_wind() && !all.is_empty() {
        let edge = (all.max - all.min).max(Vec3::splat(WIND_ROOM * all.diagonal()));
        let low = 0.5 * (all.min + all.max) - 0.5 * edge;
        let share = |k: u32| k as f32 / (WIND_PLACES - 1) as f32;
        for index in 0..WIND_PLACES.pow(3) {
            let [x, y, z] = [
                index % WIND_PLACES,
                index / WIND_PLACES % WIND_PLACES,
                index / WIND_PLACES.pow(2),
            ];
            let place = low + edge * Vec3::new(share(x), share(y), share(z));
            let air = simulator.forces().air_velocity(place, simulator.time());
            if air.length_squared() > STILL_AIR {
                places.extend([place, place + WIND_SECONDS * air]);
            }
        }
    }
    Inside { kind: "wind", layer: String::new(), places, is_lines: true }
}
