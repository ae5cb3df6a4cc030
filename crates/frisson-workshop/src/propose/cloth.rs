//! Cloth in a first scene file: meshes whose names say that they hang.

use std::fmt::Write as _;

use frisson::character::Character;
use frisson::geometry::{Bounds, Mesh};

use super::layer::Proposed;

/// How much wider than the garment the box around its pins is, on every side, in sizes of it [-].
const BESIDE: f32 = 0.1;

/// Words in the names of meshes that hang and swing.
const HANGING: [&str; 11] = [
    "cape", "cloak", "skirt", "dress", "robe", "scarf", "poncho", "tabard", "curtain", "flag",
    "cloth",
];

/// Share of a garment's height, from the top, that is held.
const HELD: f32 = 0.12;

/// Cloth for the meshes that look like it. `meshes` are the character's, as they are at the first frame.
pub fn propose_cloth(character: &Character, meshes: &[Mesh]) -> Vec<Proposed> {
    let mut layers: Vec<Proposed> = Vec::new();
    for (index, mesh) in meshes.iter().enumerate() {
        let name = character.meshes[index].mesh.name.to_lowercase();
        let Some(word) = HANGING.iter().find(|word| name.contains(*word)) else { continue };
        let taken = layers.iter().filter(|l| l.name.starts_with(word)).count();
        let name = if taken == 0 { (*word).to_owned() } else { format!("{word}_{}", taken + 1) };
        let skinned = |i: &usize| {
            let body = &character.meshes[*i];
            *i != index && body.skin.is_some()
        };
        let bodies: Vec<&str> =
            (0..meshes.len()).filter(skinned).map(|i| meshes[i].name.as_str()).collect();
        let level = subdivision(mesh, &bodies_of(meshes, &bodies));
        let why = format!(
            "{} looks like it hangs: take the # away to simulate it. `pins` is a box around its top;\n\
             `bodies` is what it must stay outside of{}.",
            mesh.name,
            if level > 0 { "; `subdivide` makes it fine enough to lie on them" } else { "" }
        );
        let mut text =
            format!("[[layers]]\n[layers.cloth]\nname = {name:?}\non = {:?}\n", mesh.name);
        if level > 0 {
            let _ = writeln!(text, "subdivide = {level}");
        }
        let _ = writeln!(text, "material = \"wool\"\nself_collision = true\nbodies = {bodies:?}");
        text.push_str(&pins(mesh));
        layers.push(Proposed::off(name, why, text));
    }
    layers
}

/// A box around the top of a garment.
fn pins(mesh: &Mesh) -> String {
    let bounds = Bounds::of(&mesh.positions);
    let size = bounds.max - bounds.min;
    let low = bounds.max.y - HELD * size.y;
    let (a, b) = (bounds.min - BESIDE * size, bounds.max + BESIDE * size);
    format!(
        "pins = {{ box = [{:.3}, {low:.3}, {:.3}, {:.3}, {:.3}, {:.3}] }}",
        a.x, a.z, b.x, b.y, b.z
    )
}

fn bodies_of<'a>(meshes: &'a [Mesh], names: &[&str]) -> Vec<&'a Mesh> {
    meshes.iter().filter(|m| names.contains(&m.name.as_str())).collect()
}

/// Times that a garment has to be cut until its edges are no longer than those of the bodies under it.
fn subdivision(garment: &Mesh, bodies: &[&Mesh]) -> u32 {
    let finest = bodies.iter().map(|m| mean_edge(m)).fold(f32::INFINITY, f32::min);
    let ratio = mean_edge(garment) / finest;
    if ratio.is_finite() && ratio > 1.5 { (ratio.log2().ceil() as u32).clamp(1, 2) } else { 0 }
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
        assert_eq!([0.05, 0.07, 0.09, 0.15, 0.5].map(level), [0, 0, 1, 2, 2]);
        assert_eq!(subdivision(&triangle(0.1), &[]), 0);
    }
}
