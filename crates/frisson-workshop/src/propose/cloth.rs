//! Cloth in a first scene file: meshes whose names say that they hang.

use std::fmt::Write as _;

use frisson::character::Character;
use frisson::geometry::{Bounds, Mesh};

use super::layer::Proposed;
use super::pins::pins;

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

/// Words in the names of garments that arms hang and swing beside.
const BESIDE_ARMS: [&str; 5] = ["skirt", "shirt", "dress", "robe", "poncho"];

/// Share of a garment's height that skinned meshes must reach over to be all that it meets [-].
const COVERED: f32 = 0.6;

/// Cloth for the meshes that look like it. `meshes` are the character's, as they are at the first frame, `modelled` as
/// they were modelled.
pub fn propose_cloth(character: &Character, modelled: &[Mesh], meshes: &[Mesh]) -> Vec<Proposed> {
    let mut layers: Vec<Proposed> = Vec::new();
    for (index, mesh) in meshes.iter().enumerate() {
        let name = character.meshes[index].mesh.name.to_lowercase();
        let Some(word) = HANGING.iter().find(|word| name.contains(*word)) else { continue };
        let taken = layers.iter().filter(|l| l.name.starts_with(word)).count();
        let name = if taken == 0 { (*word).to_owned() } else { format!("{word}_{}", taken + 1) };
        let bodies = bodies_under(character, meshes, index);
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
        text.push_str(&pins);
        let arms = joints_of_arms(character);
        if BESIDE_ARMS.contains(word) && !arms.is_empty() {
            let _ = write!(
                text,
                "\n# Hands that pass within two centimetres of the body pin it there and drag it along; left out, they\n\
                 # pass through it:\n# bodies_except = {{ joints = {arms:?} }}"
            );
        }
        layers.push(Proposed::off(name, why, text));
    }
    layers
}

/// Whether the name of a mesh says that it hangs.
pub fn hangs(name: &str) -> bool {
    let name = name.to_lowercase();
    HANGING.iter().any(|word| name.contains(word))
}

/// Joints of arms, hands and fingers that carry skin: those with a telling name, and all below them.
fn joints_of_arms(character: &Character) -> Vec<&str> {
    let nodes = character.skeleton.nodes();
    let mut is_arm = vec![false; nodes.len()];
    // Parents come before or after: as many rounds as the arm has joints.
    for _ in 0..nodes.len() {
        let before = is_arm.clone();
        for (i, node) in nodes.iter().enumerate() {
            let name = node.name.to_lowercase();
            let is_named =
                (name.contains("arm") || name.contains("hand")) && !name.contains("armature");
            is_arm[i] |= is_named || node.parent.is_some_and(|p| before[p]);
        }
        if is_arm == before {
            break;
        }
    }
    let carries = |i: &usize| character.skins.iter().any(|skin| skin.joints.contains(i));
    (0..nodes.len())
        .filter(|&i| is_arm[i])
        .filter(carries)
        .map(|i| nodes[i].name.as_str())
        .collect()
}

/// Skinned meshes; of a character that is of rigid parts, all that the garment is near to.
fn bodies_under<'a>(character: &Character, meshes: &'a [Mesh], garment: usize) -> Vec<&'a str> {
    let around = Bounds::of(&meshes[garment].positions);
    let beside = around.grown(BESIDE * around.diagonal());
    let hanging = |i: usize| hangs(&character.meshes[i].mesh.name);
    let others = || (0..meshes.len()).filter(|&i| i != garment && !hanging(i));
    let skinned = |i: &usize| character.meshes[*i].skin.is_some();
    let points = |list: &mut dyn Iterator<Item = usize>| {
        list.map(|i| Bounds::of(&meshes[i].positions)).reduce(Bounds::union)
    };
    let covered = points(&mut others().filter(skinned)).map_or(0.0, |b| {
        (b.max.y.min(around.max.y) - b.min.y.max(around.min.y)) / (around.max.y - around.min.y)
    });
    let near = |i: &usize| {
        let b = Bounds::of(&meshes[*i].positions);
        b.min.cmple(beside.max).all() && b.max.cmpge(beside.min).all()
    };
    let name = |i: usize| meshes[i].name.as_str();
    if covered >= COVERED {
        others().filter(skinned).map(name).collect()
    } else {
        others().filter(near).map(name).collect()
    }
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
    use glam::Vec3;

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
