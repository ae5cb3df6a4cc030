//! Cloth in a first scene file: meshes whose names say that they hang.

use std::fmt::Write as _;

use frisson::character::Character;
use frisson::geometry::{Bounds, Mesh, TriangleBvh};
use glam::Vec3;

use super::layer::Proposed;
use super::pins::pins;
use crate::limbs::{are_of_arms, vertices_of_arms};

/// How near a part of a body is that a garment may meet, in sizes of it [-].
const BESIDE: f32 = 0.1;

/// Words in the names of meshes that hang and swing.
const HANGING: [&str; 12] = [
    "cape", "cloak", "skirt", "shirt", "dress", "robe", "scarf", "poncho", "tabard", "curtain",
    "flag", "cloth",
];

/// How much longer than those of a body the edges of a garment may be [-]: cutting once more than this asks for takes
/// eight times as long.
const COARSER: f32 = 1.5;

/// Time of dressing that a garment gets unasked [s].
const USUAL_DRESSING: f32 = 1.0;
/// Time that a long garment takes to unfold and hang [s/m]: a robot's cape of 1.6 m moves by 30 mm/s two seconds after one
/// second of it, by 15 mm/s after three, by 4 mm/s after five.
const DRESSING_PER_LENGTH: f32 = 3.0;
/// Length from which a garment takes longer than in proportion to it [m]: the same cape still moves by 3.8 mm/s four seconds after
/// 4.7 s of dressing, by 0.6 after 6.5.
const LONG: f32 = 1.2;
/// Most of it that is proposed [s].
const LONGEST_DRESSING: f32 = 10.0;

/// Words in the names of garments that arms hang and swing beside.
const BESIDE_ARMS: [&str; 5] = ["skirt", "shirt", "dress", "robe", "poncho"];

/// Share of a garment's vertices that skinned meshes must be nearest to, to be all that it meets [-].
const COVERED: f32 = 0.6;

/// Cloth for the meshes that look like it. `meshes` are the character's, as they are at the first frame, `modelled` as
/// they were modelled.
pub fn propose_cloth(character: &Character, modelled: &[Mesh], meshes: &[Mesh]) -> Vec<Proposed> {
    let mut layers: Vec<Proposed> = Vec::new();
    for (index, mesh) in meshes.iter().enumerate() {
        let name = character.meshes[index].mesh.name.to_lowercase();
        let Some(word) = HANGING.iter().find(|word| name.contains(*word)) else { continue };
        // A second cape is `cape_2`: names of layers are unique.
        let taken = layers.iter().filter(|l| l.name.starts_with(word)).count();
        let name = if taken == 0 { (*word).to_owned() } else { format!("{word}_{}", taken + 1) };
        let bodies = bodies_under(character, modelled, meshes, index);
        let level = subdivision(mesh, &bodies_of(meshes, &bodies));
        let (held, pins) = pins(mesh, &modelled[index], &bodies_of(modelled, &bodies));
        let why = format!(
            "{} looks like it hangs: take the # away to simulate it. `pins` is {};\n\
             `bodies` is what it must stay outside of{}.",
            mesh.name,
            held,
            if level > 0 { "; `subdivide` makes it fine enough to lie on them" } else { "" }
        );
        let mut text =
            format!("[[layers]]\n[layers.cloth]\nname = {name:?}\non = {:?}\n", mesh.name);
        if level > 0 {
            let _ = writeln!(text, "subdivide = {level}");
        }
        let _ = writeln!(text, "material = \"wool\"\nself_collision = true\nbodies = {bodies:?}");
        if let Some(seconds) = dressing(&modelled[index]) {
            let _ = writeln!(text, "dressing = {seconds:.1}");
        }
        text.push_str(&pins);
        if BESIDE_ARMS.contains(word) {
            text.push_str(&arms_beside(character, meshes, &bodies));
        }
        layers.push(Proposed::off(name, why, text));
    }
    layers
}

/// How long a garment should hang before the first frame [s], where the usual second is too short.
fn dressing(garment: &Mesh) -> Option<f32> {
    let bounds = Bounds::of(&garment.positions);
    let length = bounds.max.y - bounds.min.y;
    let seconds = DRESSING_PER_LENGTH * length * (length / LONG).max(1.0);
    let seconds = seconds.min(LONGEST_DRESSING);
    (seconds > USUAL_DRESSING).then_some(seconds)
}

/// Whether the name of a mesh says that it hangs.
pub fn hangs(name: &str) -> bool {
    let name = name.to_lowercase();
    HANGING.iter().any(|word| name.contains(word))
}

/// What of the bodies stays outside of a garment that goes all around: arms, hands and fingers.
fn arms_beside(character: &Character, meshes: &[Mesh], bodies: &[&str]) -> String {
    let (nodes, is_arm) = (character.skeleton.nodes(), are_of_arms(character));
    let mut parts = Vec::new();
    for (index, mesh) in
        meshes.iter().enumerate().filter(|(_, m)| bodies.contains(&m.name.as_str()))
    {
        let of_arms = vertices_of_arms(character, index, &is_arm);
        let skin = character.meshes[index].skin.map(|s| &character.skins[s]);
        let joints = skin.map_or_else(Vec::new, |skin| skin.joints.clone());
        let arms = joints.iter().filter(|&&j| is_arm[j]).map(|&j| nodes[j].name.as_str());
        let name = &mesh.name;
        if of_arms.iter().all(|arm| *arm) {
            parts.push(format!("  {{ body = {name:?} }},\n"));
        } else if of_arms.contains(&true) {
            let arms: Vec<&str> = arms.collect();
            parts.push(format!("  {{ body = {name:?}, vertices = {{ joints = {arms:?} }} }},\n"));
        }
    }
    if parts.is_empty() {
        return String::new();
    }
    let parts = parts.concat();
    format!(
        "\n# Arms hang beside it: near the body they press it only towards that, and do not drag it along.\n\
         beside = [\n{parts}]"
    )
}

/// What a garment must stay outside of: the skinned meshes where they are what lies under it, else all that it is near to.
///
/// A knight's sword is near his cape, and not what he wears it on. A robot is of rigid parts, but for its hands perhaps,
/// which say nothing about the trunk: so what counts is which mesh is nearest to most of the garment.
fn bodies_under<'a>(
    character: &Character,
    modelled: &[Mesh],
    meshes: &'a [Mesh],
    garment: usize,
) -> Vec<&'a str> {
    // Garments meet each other as one layer (`with`), not as bodies: a body does not give way.
    let hanging = |i: usize| hangs(&character.meshes[i].mesh.name);
    let others: Vec<usize> = (0..meshes.len()).filter(|&i| i != garment && !hanging(i)).collect();
    let is_skinned = |i: &usize| character.meshes[*i].skin.is_some();
    let trees: Vec<TriangleBvh> = others.iter().map(|&i| tree_of(&modelled[i])).collect();
    let nearest = |p: &Vec3| {
        let hits = others.iter().zip(&trees).filter_map(|(&i, tree)| {
            Some((tree.closest_point(*p, f32::MAX)?.point.distance_squared(*p), i))
        });
        hits.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, i)| i)
    };
    let points = &modelled[garment].positions;
    let on_skin = points.iter().filter_map(nearest).filter(is_skinned).count();
    // A leg that the first frame has lifted away comes back: where both were modelled counts as well.
    let is_near = |i: &usize| is_beside(modelled, *i, garment) || is_beside(meshes, *i, garment);
    let is_body = |i: &usize| match on_skin as f32 >= COVERED * points.len() as f32 {
        true => is_skinned(i),
        false => is_near(i),
    };
    others.into_iter().filter(is_body).map(|i| meshes[i].name.as_str()).collect()
}

/// Whether a mesh reaches into the box around another, with some room.
fn is_beside(meshes: &[Mesh], mesh: usize, other: usize) -> bool {
    let around = Bounds::of(&meshes[other].positions);
    let beside = around.grown(BESIDE * around.diagonal());
    let own = Bounds::of(&meshes[mesh].positions);
    own.min.cmple(beside.max).all() && own.max.cmpge(beside.min).all()
}

fn tree_of(mesh: &Mesh) -> TriangleBvh {
    TriangleBvh::build(&mesh.positions, &mesh.topology.triangles)
}

fn bodies_of<'a>(meshes: &'a [Mesh], names: &[&str]) -> Vec<&'a Mesh> {
    meshes.iter().filter(|m| names.contains(&m.name.as_str())).collect()
}

/// Times that a garment has to be cut until its edges are hardly longer than those of the bodies under it.
fn subdivision(garment: &Mesh, bodies: &[&Mesh]) -> u32 {
    let finest = bodies.iter().map(|m| mean_edge(m)).fold(f32::INFINITY, f32::min);
    let ratio = mean_edge(garment) / finest;
    if ratio.is_finite() && ratio > COARSER {
        ((ratio / COARSER).log2().ceil() as u32).clamp(1, 2)
    } else {
        0
    }
}

/// Mean length of a mesh's edges [m]; 0 without triangles.
fn mean_edge(mesh: &Mesh) -> f32 {
    let x = |v: u32| mesh.positions[v as usize];
    let around = |t: &[u32; 3]| {
        x(t[0]).distance(x(t[1])) + x(t[1]).distance(x(t[2])) + x(t[2]).distance(x(t[0]))
    };
    let triangles = &mesh.topology.triangles;
    triangles.iter().map(around).sum::<f32>() / (3 * triangles.len()).max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_garments_are_cut_until_they_are_as_fine_as_the_body() {
        let triangle = |edge: f32| {
            let far = Vec3::new(0.5, 0.75f32.sqrt(), 0.0);
            Mesh::new("m", [Vec3::ZERO, Vec3::X, far].map(|p| edge * p).to_vec(), vec![[0, 1, 2]])
        };
        let level = |edge: f32| subdivision(&triangle(edge), &[&triangle(0.2), &triangle(0.05)]);
        assert_eq!([0.05, 0.07, 0.09, 0.14, 0.16, 0.5].map(level), [0, 0, 1, 1, 2, 2]);
        assert_eq!(subdivision(&triangle(0.1), &[]), 0);
    }
}
