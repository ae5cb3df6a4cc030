//! Hair and drops in a first scene file: where a head and skin are.

use frisson::character::{Character, Pose, Sampling};
use frisson::geometry::{Bounds, Mesh};
use frisson::layers::hair::StylePreset;
use frisson::stage::Actor;
use glam::Vec3;

use super::SWEAT;
use super::cover::{around, brim};
use super::layer::Proposed;

/// A head's size over that of its scalp, which is about as wide as two thirds of the head's height [-].
const HEAD_PER_SCALP: f32 = 1.4;
/// The ball over crown and back of a head, in extents of it: how far up, how far back, how large [-].
const BALL_UP: f32 = 0.3;
const BALL_BACK: f32 = 0.22;
const BALL_RADIUS: f32 = 0.52;
/// Where hair begins above the neck of a head of few vertices, as a share of its height [-].
const HAIRLINE: f32 = 0.4;
/// Cosine with the vertical from which a figure holds its head up [-].
const UPRIGHT: f32 = 0.8;
/// How near to its axis a figure's topmost joint has to be, in heights [-].
const MIDDLE: f32 = 0.15;

/// Width of a proposed strand in sizes of the head [-]: thicker than real hair because some thousand strands
/// stand for all.
const STRAND_WIDTH: f32 = 0.0016;
/// The style that is proposed; it suits heads of any shape.
const STYLE: StylePreset = StylePreset::Bob;
/// Drops on a square metre of a box's diagonal, and how few and how many there may be [-].
const DROPS_PER_AREA: f32 = 700.0;
const FEWEST_DROPS: f32 = 60.0;
const MOST_DROPS: f32 = 1500.0;

/// Region that the cast, and whoever follows it, marks hair with.
const SCALP: &str = "scalp";
/// Share of a vertex's weight with which it belongs to the head [-].
const OF_HEAD: f32 = 0.6;
/// Vertices of a head below which it has no shape to grow hair on.
const FEWEST: usize = 8;
/// Words in the names of joints that look like a head and are none.
const NOT_HEADS: [&str; 5] = ["headset", "overhead", "end", "top", "target"];

/// Where hair could grow.
struct Scalp {
    mesh: String,
    selection: String,
    /// Greatest extent of the head [m].
    size: f32,
    /// Meshes beside the head's own that hair may come to lie on.
    around: Vec<String>,
}

/// Hair on a head in a named style, which fits itself to the head. `meshes` are the character's at the first
/// frame.
pub fn propose_hair(actor: &Actor, character: &Character, meshes: &[Mesh]) -> Option<Proposed> {
    let scalp = marked_scalp(meshes).or_else(|| scalp_of_head(actor, character, meshes))?;
    let Scalp { mesh, selection, size, around } = scalp;
    let bodies: Vec<String> =
        std::iter::once(&mesh).chain(&around).map(|name| format!("{name:?}")).collect();
    let bodies = bodies.join(", ");
    let text = format!(
        "[[layers]]\n[layers.hair]\nname = \"hair\"\non = {mesh:?}\nwisps = 160\nscalp = {selection}\n\
         body = {{ fit_ellipsoids = true, max_ellipsoids = 4, meshes = [{bodies}], friction = 0.2 }}\n\
         style = {{ preset = {:?} }}\nstrands = {{ per_wisp = 60, width = {:.5} }}",
        STYLE.name(),
        STRAND_WIDTH * size,
    );
    let others = StylePreset::ALL.into_iter().filter(|p| *p != STYLE).map(StylePreset::name);
    let why = format!(
        "Hair where the head's skin is: `frisson render SCENE --show hair.scalp` draws where it grows.\n\
         Other styles by their `preset`: {}.\n\
         Fuller with `wisps`; what is given here (`length` …) stays whatever the preset wants.",
        others.collect::<Vec<_>>().join(", ")
    );
    Some(Proposed::off("hair", why, text))
}

/// Sweat that beads all over the skin and runs. `meshes` are the character's at the first frame.
pub fn propose_drops(character: &Character, meshes: &[Mesh]) -> Option<Proposed> {
    let skinned = |i: &usize| character.meshes[*i].skin.is_some();
    let count = |i: &usize| meshes[*i].positions.len();
    let largest = (0..meshes.len()).filter(skinned).max_by_key(count)?;
    let bounds = Bounds::of(&meshes[largest].positions);
    // The box's diagonal squared stands for the area: the skin itself may have folds and an inside.
    // As many as on a person of that size, if it were one.
    let area = bounds.diagonal() * bounds.diagonal();
    let drops = (DROPS_PER_AREA * area).clamp(FEWEST_DROPS, MOST_DROPS) as u32;
    let text = format!(
        "[[layers]]\n[layers.drops]\nname = {SWEAT:?}\non = {:?}\nliquid = {{ preset = \"sweat\" }}\n\
         sources = [{{ condensation = {{ count = {drops}, mass = 3e-6, growth = 4e-6, over = 60, until = 90 }} }}]",
        meshes[largest].name,
    );
    let why = "Sweat that beads, grows and runs. Another liquid by its `preset`: water, tear, blood, milk, paint,\n\
               oil, honey.";
    Some(Proposed::off(SWEAT, why, text))
}

fn marked_scalp(meshes: &[Mesh]) -> Option<Scalp> {
    let mesh = meshes.iter().find(|m| m.topology.regions.contains_key(SCALP))?;
    let vertices = &mesh.topology.regions[SCALP];
    let places: Vec<Vec3> = vertices.iter().map(|v| mesh.positions[*v as usize]).collect();
    let bounds = Bounds::of(&places);
    let size = HEAD_PER_SCALP * (bounds.max - bounds.min).max_element();
    let selection = format!("{{ region = {SCALP:?} }}");
    Some(Scalp { mesh: mesh.name.clone(), selection, size, around: Vec::new() })
}

/// The upper half of what follows the head joint, without the face.
fn scalp_of_head(actor: &Actor, character: &Character, meshes: &[Mesh]) -> Option<Scalp> {
    let nodes = character.skeleton.nodes();
    let is_head = |name: &str| {
        let name = name.to_lowercase();
        name.contains("head") && !NOT_HEADS.iter().any(|word| name.contains(word))
    };
    let named = nodes.iter().position(|n| is_head(&n.name));
    let head = named.or_else(|| topmost(actor, character))?;
    if !is_upright(actor, character, head) {
        return None;
    }
    let of_head = |mesh: usize| -> Vec<Vec3> {
        let own = &character.meshes[mesh];
        let Some(skin) = own.skin.map(|s| &character.skins[s]) else { return Vec::new() };
        let weight = |v: usize| {
            let of = own.influences.of(v).filter(|(j, _)| skin.joints[*j as usize] == head);
            of.map(|(_, w)| w).sum::<f32>()
        };
        let places = meshes[mesh].positions.iter().enumerate();
        places.filter(|(v, _)| weight(*v) > OF_HEAD).map(|(_, p)| *p).collect()
    };
    let (mesh, places) = (0..meshes.len())
        .map(|mesh| (mesh, of_head(mesh)))
        .max_by_key(|(_, places)| places.len())
        .filter(|(_, places)| places.len() >= FEWEST)?;
    let bounds = Bounds::of(&places);
    let size = (bounds.max - bounds.min).max_element();
    let forward = forward_of(actor, character).unwrap_or(Vec3::Z);
    // A ball over crown and back of the head: its lower front edge is the hairline.
    let extent = (bounds.max - bounds.min).dot(forward.abs());
    let center = bounds.center() + Vec3::Y * (BALL_UP * (bounds.max.y - bounds.min.y))
        - forward * (BALL_BACK * extent);
    let radius = BALL_RADIUS * (bounds.max - bounds.min).max_element();
    // What hats are held against is this part only: a collar or a beard covers the rest of a head.
    let scalp: Vec<Vec3> = places.iter().filter(|p| p.distance(center) < radius).copied().collect();
    let brim = brim(meshes, mesh, &scalp, bounds.center(), size);
    // Under a hood or a closed helmet nothing is left.
    if brim.is_some_and(|y| scalp.iter().filter(|p| p.y < y).count() < FEWEST) {
        return None;
    }
    let wide = Bounds { min: bounds.min - size, max: bounds.max + size };
    let selection = if scalp.len() >= 3 * FEWEST {
        let ([x, y, z], joint) = (center.to_array(), &nodes[head].name);
        let below = brim
            .map_or_else(String::new, |y| format!(", box = {}", layer_of(&wide, wide.min.y, y)));
        format!("{{ joints = [{joint:?}], sphere = [{x:.3}, {y:.3}, {z:.3}, {radius:.3}]{below} }}")
    } else {
        // So few vertices that a hairline would leave none: all above the middle of the head.
        let mut pose = Pose::default();
        actor.pose_at(0.0, Sampling::AsAuthored, &mut pose);
        let neck = pose.origin(head).y;
        let low = neck + HAIRLINE * (bounds.max.y - neck);
        format!("{{ box = {} }}", layer_of(&wide, low, wide.max.y))
    };
    let is_worn = |index: usize| {
        let own = &character.meshes[index];
        index != mesh && (own.skin.is_some() || character.skeleton.is_below(own.node, head))
    };
    let around = around(meshes, is_worn, &bounds, size);
    Some(Scalp { mesh: meshes[mesh].name.clone(), selection, size, around })
}

/// What of a box is between two heights, as a selection says it.
fn layer_of(bounds: &Bounds, low: f32, high: f32) -> String {
    let Bounds { min, max } = bounds;
    format!("[{:.3}, {low:.3}, {:.3}, {:.3}, {high:.3}, {:.3}]", min.x, min.z, max.x, max.z)
}

/// Whether a figure carries its head above its middle: what grows on the heads of others is fur.
fn is_upright(actor: &Actor, character: &Character, head: usize) -> bool {
    let mut pose = Pose::default();
    actor.pose_at(0.0, Sampling::AsAuthored, &mut pose);
    let joints: Vec<usize> =
        character.skins.iter().flat_map(|s| s.joints.iter().copied()).collect();
    let middle = joints.iter().map(|j| pose.origin(*j)).sum::<Vec3>() / joints.len().max(1) as f32;
    let way = pose.origin(head) - middle;
    way.y > UPRIGHT * way.length()
}

/// The joint at the top of a figure, near its middle.
fn topmost(actor: &Actor, character: &Character) -> Option<usize> {
    let mut pose = Pose::default();
    actor.pose_at(0.0, Sampling::AsAuthored, &mut pose);
    let joints = || character.skins.iter().flat_map(|s| s.joints.iter().copied());
    let places: Vec<Vec3> = joints().map(|j| pose.origin(j)).collect();
    let bounds = Bounds::of(&places);
    let aside = |j: usize| {
        let off = pose.origin(j) - bounds.center();
        Vec3::new(off.x, 0.0, off.z).length()
    };
    // Raised hands are higher than a head, but beside the middle.
    let near = MIDDLE * (bounds.max.y - bounds.min.y);
    let height = |a: &usize, b: &usize| pose.origin(*a).y.total_cmp(&pose.origin(*b).y);
    joints().filter(|j| aside(*j) < near).max_by(height)
}

/// Where a figure looks at the first frame: from its feet to its toes.
fn forward_of(actor: &Actor, character: &Character) -> Option<Vec3> {
    let nodes = character.skeleton.nodes();
    let mut pose = Pose::default();
    actor.pose_at(0.0, Sampling::AsAuthored, &mut pose);
    let toes = nodes.iter().enumerate().filter(|(_, n)| n.name.to_lowercase().contains("toe"));
    // Both feet together: each for itself may be turned out.
    let ways = toes.filter_map(|(toe, n)| Some(pose.origin(toe) - pose.origin(n.parent?)));
    let way: Vec3 = ways.sum();
    Vec3::new(way.x, 0.0, way.z).try_normalize()
}
