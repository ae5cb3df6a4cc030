//! Coats that are fitted to a skin: one piece, its volume, its shape.

use super::super::fit::tests::limb;
use super::*;
use crate::geometry::{Mesh, TriangleBvh};
use crate::layers::harness::{Alone, check_same_bits};
use crate::layers::moved::{bend, moved};

fn volume(mesh: &Mesh) -> f64 {
    let part = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize].as_dvec3());
        a.dot(b.cross(c)) / 6.0
    };
    mesh.topology.triangles.iter().map(part).sum()
}

/// A limb that is given vertex by vertex: it bends by a right angle and back within a second, and gets
/// thinner by a twentieth, as skinning does it.
fn setup() -> Setup {
    let mut mesh = limb();
    mesh.positions.iter_mut().for_each(|p| p.x -= 0.3);
    let actor = moved(mesh, |p, t| {
        let way = (3.0 * t).sin().abs() as f32;
        bend(p, 1.5 * way, 0.2) * Vec3::new(1.0, 1.0, 1.0 - 0.05 * way)
    });
    let value = serde_json::json!({ "name": "coat", "seeds": 24, "cell": 0.016, "objects": [
        { "name": "coat", "thickness": 0.05, "support": 0.065, "coat": { "on": "limb" } } ] });
    Setup {
        clock: Clock::new(Rate::whole(30), 0, 1000),
        actors: vec![actor],
        forces: Forces::new(Vec3::ZERO, vec![], 30.0),
        layers: vec![LayerParams::Soft(serde_json::from_value(value).unwrap())],
        ..Setup::default()
    }
}

#[test]
fn a_coat_is_the_skin_it_was_fitted_to_in_one_piece() {
    let mut alone = Alone::<SoftLayer>::new(setup()).unwrap();
    let start = volume(&alone.frame().meshes[0]);
    let mut lost = 1.0f64;
    for _ in 0..6 {
        alone.frames(3);
        let frame = alone.frame();
        let (skin, coat) = (&frame.meshes[0], &frame.meshes[1]);
        lost = lost.min(volume(skin) / start);
        closed_manifold(coat);
        assert!((volume(coat) / start - 1.0).abs() < 0.02, "{}", volume(coat) / start);
        let tree = TriangleBvh::build(&skin.positions, &skin.topology.triangles);
        let off = |p: &Vec3| tree.closest_point(*p, 1.0).unwrap().distance;
        let furthest = coat.positions.iter().map(off).fold(0.0, f32::max);
        assert!(furthest < 0.008, "{furthest} m off the skin");
        let report = alone.report();
        let pieces = report.measures.iter().find(|m| m.name == "pieces of the surface").unwrap();
        assert_eq!(pieces.value, 1.0);
        // Balls go where the mesh goes.
        let inside = |b: &state::BodyState| off(&b.position.as_vec3());
        assert!(alone.state().bodies.iter().all(|b| inside(b) > 0.005));
    }
    assert!(lost < 0.96, "the skin itself must lose volume: {lost}");
}

#[test]
fn a_coat_on_a_mesh_given_vertex_by_vertex_keeps_its_bits() {
    check_same_bits::<SoftLayer>(&setup(), 6);
}

#[test]
fn a_tool_presses_a_coat_that_shows_its_skin() {
    let mut own = setup();
    let up = ColliderShape::Plane { point: [0.0, -0.05, 0.0], normal: [0.0, 1.0, 0.0] };
    own.colliders = collider_params(&[("table", up)]);
    let alone = Alone::<SoftLayer>::new(own).unwrap();
    let frame = alone.frame();
    let lowest = |m: &Mesh| m.positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
    let (skin, coat) = (lowest(&frame.meshes[0]), lowest(&frame.meshes[1]));
    assert!(skin < -0.09 && (coat + 0.05).abs() < 1e-3, "{skin} {coat}");
}

/// The limb as characters are often made: two open tubes that end inside each other, one of them inside out.
fn sleeves() -> Mesh {
    let limb = limb();
    let half = |keep: fn(f32) -> bool, size: f32| {
        let place = |p: &Vec3| Vec3::new(p.x, size * p.y, size * p.z);
        let within = |t: &&[u32; 3]| t.iter().all(|v| keep(limb.positions[*v as usize].x));
        let kept: Vec<[u32; 3]> = limb.topology.triangles.iter().filter(within).copied().collect();
        (limb.positions.iter().map(place).collect::<Vec<Vec3>>(), kept)
    };
    let (mut positions, mut triangles) = half(|x| x < 0.35, 1.0);
    let (inner, turned) = half(|x| x > 0.25, 0.97);
    let first = positions.len() as u32;
    positions.extend(inner);
    triangles.extend(turned.iter().map(|&[a, b, c]| [a, c, b].map(|v| v + first)));
    Mesh::new("sleeves", positions, triangles)
}

#[test]
fn a_coat_of_open_shells_is_one_solid_piece() {
    let mut own = setup();
    own.actors = vec![moved(sleeves(), |p, t| bend(p, (3.0 * t).sin().abs() as f32, 0.2))];
    own.layers = vec![{
        let value = serde_json::json!({ "name": "coat", "seeds": 24, "cell": 0.012, "objects": [
            { "name": "coat", "thickness": 0.05, "support": 0.065, "coat": { "on": "sleeves" } } ] });
        LayerParams::Soft(serde_json::from_value(value).unwrap())
    }];
    let mut alone = Alone::<SoftLayer>::new(own).unwrap();
    let whole = volume(&limb());
    for _ in 0..4 {
        let coat = &alone.frame().meshes[1];
        closed_manifold(coat);
        // The inner half is a little thinner.
        let share = volume(coat) / whole;
        assert!((0.95..1.0).contains(&share), "{share}");
        let report = alone.report();
        let pieces = report.measures.iter().find(|m| m.name == "pieces of the surface").unwrap();
        assert_eq!(pieces.value, 1.0);
        alone.frames(5);
    }
}
