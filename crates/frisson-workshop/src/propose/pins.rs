//! What a garment is held by: its band or collar, or a box around its top.
//!
//! Capes of game characters begin inside the shoulders, where nobody sees it. Held by that border alone, what
//! hangs on it would have to come out through the body, which pushes it back in every step: it shakes for ever.
//! So a garment is held down to where it has come out.

use frisson::geometry::{Bounds, Mesh, TriangleBvh};
use glam::Vec3;

/// Words in the names of materials along the border that a garment is held by.
const HELD_BY: [&str; 3] = ["band", "collar", "pins"];
/// How much wider than the garment the box around its pins is, on every side, in sizes of it [-].
const BESIDE: f32 = 0.1;
/// Share of a garment's height, from the top, that is held.
const HELD: f32 = 0.12;
/// Most of a garment's height that is held because it begins inside a body [-]: what is in it lower down is
/// modelled so, and held it would not hang.
const MOST_HELD: f32 = 0.35;

/// What holds a garment, in words and as text. `modelled` are garment and bodies as they were modelled, `mesh` is the
/// garment at the first frame, where places are given.
pub fn pins(mesh: &Mesh, modelled: &Mesh, bodies: &[&Mesh]) -> (&'static str, String) {
    let held_by = |name: &str| HELD_BY.iter().any(|word| name.to_lowercase().contains(word));
    let materials = &mesh.topology.materials;
    if let Some(band) = materials.iter().find(|m| materials.len() > 1 && held_by(&m.name)) {
        return ("the band along its border", format!("pins = {{ material = {:?} }}", band.name));
    }
    let bounds = Bounds::of(&mesh.positions);
    let size = bounds.max - bounds.min;
    let (a, b) = (bounds.min - BESIDE * size, bounds.max + BESIDE * size);
    let top = bounds.max.y - HELD * size.y;
    let come_out = come_out(modelled, bodies).and_then(|held| below(mesh, &held));
    let low = come_out.map_or(top, |y| y.min(top));
    let text = format!(
        "pins = {{ box = [{:.3}, {low:.3}, {:.3}, {:.3}, {:.3}, {:.3}] }}",
        a.x, a.z, b.x, b.y, b.z
    );
    match low < top {
        true => ("a box around its top, down to where it has come out of the body", text),
        false => ("a box around its top", text),
    }
}

/// Vertices from the top down to where a garment has come out of the bodies; `None` where it begins outside.
fn come_out(garment: &Mesh, bodies: &[&Mesh]) -> Option<Vec<usize>> {
    let trees: Vec<TriangleBvh> =
        bodies.iter().map(|m| TriangleBvh::build(&m.positions, &m.topology.triangles)).collect();
    let at = |v: u32| garment.positions[v as usize];
    let is_inside = |p: Vec3| trees.iter().any(|tree| tree.is_inside(p));
    let goes_through = |a: Vec3, b: Vec3| {
        let (way, length) = ((b - a).normalize_or_zero(), a.distance(b));
        length > 0.0 && trees.iter().any(|tree| tree.raycast(a, way, length).is_some())
    };
    let bounds = Bounds::of(&garment.positions);
    let height = bounds.max.y - bounds.min.y;
    // Held parts grow along edges, downwards from the top; what touches a body only lower down is not reached.
    let mut is_held: Vec<bool> =
        garment.positions.iter().map(|p| p.y > bounds.max.y - HELD * height).collect();
    let first = is_held.iter().filter(|h| **h).count();
    loop {
        let mut changed = false;
        for triangle in &garment.topology.triangles {
            for k in 0..3 {
                let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
                // An edge may be met from either end; a border has no triangle on its other side.
                for (a, b) in [(a, b), (b, a)] {
                    let low = at(b).y < bounds.max.y - MOST_HELD * height;
                    if !is_held[a as usize] || is_held[b as usize] || low {
                        continue;
                    }
                    if is_inside(at(b)) || goes_through(at(a), at(b)) {
                        is_held[b as usize] = true;
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            break;
        }
    }
    let held: Vec<usize> = (0..is_held.len()).filter(|v| is_held[*v]).collect();
    (held.len() > first).then_some(held)
}

/// A height between the lowest of some vertices and the next below.
fn below(mesh: &Mesh, held: &[usize]) -> Option<f32> {
    let height = |v: &usize| mesh.positions[*v].y;
    let lowest = held.iter().map(height).min_by(f32::total_cmp)?;
    let next = mesh.positions.iter().map(|p| p.y).filter(|y| *y < lowest).max_by(f32::total_cmp);
    Some(0.5 * (lowest + next.unwrap_or(lowest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strip hanging down in steps of 0.1 from a height of 1, two rows of it `depth` behind the middle, the others 0.3.
    fn strip(depth: f32) -> Mesh {
        let z = |row: usize| if row < 2 { -depth } else { -0.3 };
        let row = |k: usize| [-0.1f32, 0.1].map(|x| Vec3::new(x, 1.0 - 0.1 * k as f32, z(k)));
        let positions: Vec<Vec3> = (0..=10).flat_map(row).collect();
        let square = |k: u32| [[2 * k, 2 * k + 2, 2 * k + 3], [2 * k, 2 * k + 3, 2 * k + 1]];
        Mesh::new("cape", positions, (0..10).flat_map(square).collect())
    }

    #[test]
    fn a_cape_that_begins_inside_is_held_until_it_is_outside() {
        let built = frisson_models::build("sphere?radius=0.25").unwrap();
        let mut body = built.meshes[0].mesh.clone();
        // The ball stands on the ground: its middle goes to where the cape begins.
        body.positions.iter_mut().for_each(|p| p.y += 0.75);
        let low = |cape: &Mesh| -> f32 {
            let (_, text) = pins(cape, cape, &[&body]);
            text.split(", ").nth(1).unwrap().parse().unwrap()
        };
        // Two rows are inside, the third is not.
        assert!((low(&strip(0.1)) - 0.75).abs() < 1e-3, "{}", low(&strip(0.1)));
        // Outside from the start: an eighth of its height.
        assert!((low(&strip(0.3)) - 0.88).abs() < 1e-3, "{}", low(&strip(0.3)));
    }
}
