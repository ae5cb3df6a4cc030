//! What scenes may ask for: textures, attributes, guides, levels of detail, a finer mesh to show on.

use std::sync::Arc;

use glam::{DVec2, DVec3, Vec2, Vec3};

use super::layer::{Lab, actor, params};
use super::*;
use crate::geometry::{Material, Mesh, Texture};
use crate::stage::Actor;

const GRAVITY: Vec3 = Vec3::new(0.0, -9.8, 0.0);

/// An incline whose left half (small z) is black and whose right half is white.
fn half_and_half() -> Actor {
    let (positions, triangles) = height_field(16, 16, DVec2::ZERO, DVec2::ONE, |x, _| -0.5 * x);
    let mut mesh = Mesh::new("ground", positions, triangles);
    let white: Vec<f32> = mesh.positions.iter().map(|p| f32::from(u8::from(p.z > 0.5))).collect();
    mesh.set_scalar("bumpy", |values| values.copy_from_slice(&white));
    let topology = Arc::make_mut(&mut mesh.topology);
    topology.uvs = mesh.positions.iter().map(|p| Vec2::new(p.z, p.x)).collect();
    let pixel = |x: u32| if x < 4 { [0, 0, 0, 255] } else { [255; 4] };
    let rgba = (0..64).flat_map(|i| pixel(i % 8)).collect();
    let texture = Arc::new(Texture { width: 8, height: 8, rgba });
    topology.materials = vec![Material { texture: Some(texture), ..Material::default() }];
    Actor::meshes_named("ground", vec![mesh])
}

#[test]
fn roughness_follows_a_texture_or_an_attribute() {
    for by in [r#""roughness_from_texture": true"#, r#""roughness_attribute": "bumpy""#] {
        let text = format!(
            r#"{{"name": "d", "on": "ground", "trails": {{"enabled": false}},
            "ground": [{{"roughness": [0.01, 0.01], {by}}}],
            "sources": [{{"single": {{"at": [0.2, -0.1, 0.2], "mass": 1e-5}}}},
                        {{"single": {{"at": [0.2, -0.1, 0.8], "mass": 1e-5}}}}]}}"#
        );
        let mut lab = Lab::new(half_and_half(), &params(&text), GRAVITY, 30);
        lab.run(30);
        let places = lab.positions();
        assert!(places[0].1.x > 0.22, "black is smooth ({by}): {places:?}");
        assert!((places[1].1.x - 0.2).abs() < 1e-6, "white is rough ({by}): {places:?}");
    }
}

#[test]
fn a_guide_takes_its_own_source_along() {
    let level = actor("ground", height_field(8, 8, DVec2::ZERO, DVec2::ONE, |_, _| 0.0));
    let text = r#"{"name": "d", "on": "ground", "trails": {"enabled": false},
        "guides": [{"points": [[0, 0, 0.5], [1, 0, 0.5]], "pull": 4, "along": 0.4, "range": 0.05, "source": 0}],
        "sources": [{"single": {"at": [0.1, 0, 0.4], "mass": 1e-5}},
                    {"single": {"at": [0.1, 0, 0.8], "mass": 1e-5}}]}"#;
    let mut lab = Lab::new(level, &params(text), GRAVITY, 30);
    lab.run(240);
    let places = lab.positions();
    let led = places[0].1;
    assert!((led.z - 0.5).abs() < 0.01 && led.x > 0.12, "it follows the curve: {led}");
    assert!(places[1].1.distance(DVec3::new(0.1, 0.0, 0.8)) < 1e-6, "the other one stays");
}

fn volume(mesh: &Mesh, first: usize, last: usize) -> f32 {
    let inside = |t: &&[u32; 3]| (first..last).contains(&(t[0] as usize));
    let origin = mesh.positions[first];
    let six = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize] - origin);
        a.dot(b.cross(c))
    };
    mesh.topology.triangles.iter().filter(inside).map(six).sum::<f32>() / 6.0
}

#[test]
fn far_drops_are_coarser_and_keep_their_volume() {
    let level = actor("ground", height_field(8, 8, DVec2::ZERO, DVec2::splat(8.0), |_, _| 0.0));
    let text = r#"{"name": "d", "on": "ground", "ground": [{"roughness": [0.1, 0.1]}],
        "shape": {"camera": [0.5, 0.1, 4.0], "fine_within": 400, "card_beyond": 2000, "blend": 0},
        "sources": [{"single": {"at": [0.6, 0, 4], "mass": 1e-5}},
                    {"single": {"at": [2, 0, 4], "mass": 1e-5}},
                    {"single": {"at": [6, 0, 4], "mass": 1e-5}}]}"#;
    let mut lab = Lab::new(level, &params(text), GRAVITY, 30);
    lab.run(4);
    let mesh = &lab.frame().meshes[lab.frame().mesh_index("d").unwrap()];
    assert_eq!(mesh.normals.len(), mesh.positions.len());
    // Which points belong to which drop, by the place along x.
    let near = |x: f32| mesh.positions.iter().filter(|p| (p.x - x).abs() < 0.1).count();
    let (fine, coarse, card) = (near(0.6), near(2.0), near(6.0));
    assert!(fine > 2 * coarse && coarse > 2 * card && card >= 5, "{fine} {coarse} {card}");
    let expected = 1e-5 / lab.liquid().density as f32;
    for (first, last) in [(0, fine), (fine, fine + coarse)] {
        let ratio = volume(mesh, first, last) / expected;
        // Sinking the base by a few hundredths of a radius adds some.
        assert!((ratio - 1.0).abs() < 0.08, "{ratio}");
    }
}

#[test]
fn drops_of_a_coarse_mesh_sit_on_the_fine_one_that_is_shown() {
    let (cp, ct) = ball(0.1, 8, 12);
    let (fp, ft) = ball(0.1, 60, 90);
    let both =
        Actor::meshes_named("ball", vec![Mesh::new("coarse", cp, ct), Mesh::new("fine", fp, ft)]);
    let text = r#"{"name": "d", "on": "ball/coarse", "shown_on": "ball/fine", "merging": {"enabled": false},
        "ground": [{"adhesion": 1e9, "roughness": [0.1, 0.1]}], "shape": {"blend": 0},
        "sources": [{"region": {"count": 60, "mass": [5e-6, 2e-5]}}]}"#;
    let mut lab = Lab::new(both, &params(text), GRAVITY, 30);
    lab.run(4);
    let mesh = &lab.frame().meshes[lab.frame().mesh_index("d").unwrap()];
    let per_drop = mesh.positions.len() / 60;
    let mut deepest: f64 = 0.0;
    for (i, drop) in lab.state().drops.iter().enumerate() {
        let radius = lab.liquid().radius(drop.mass) as f32;
        let center = lab.positions()[i].1.length();
        deepest = deepest.max(0.1 - center);
        for p in &mesh.positions[i * per_drop..i * per_drop + 16] {
            let height = p.length() - 0.1;
            assert!(height.abs() < 0.06 * radius + 3e-4, "drop {i}: rim {height} of {radius}");
        }
    }
    assert!(deepest > 2e-3, "the coarse ball is well inside the fine one: {deepest}");
}

#[test]
fn a_mesh_that_is_named_twice_is_one_surface() {
    let mesh = |name: &str| Mesh::new(name, vec![], vec![]);
    let meshes = [mesh("figure/body"), mesh("figure/coat"), mesh("floor")];
    let find = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        super::super::build::find_meshes(&meshes, &names, "on").unwrap()
    };
    assert_eq!(find(&["figure/body", "floor", "figure"]), [0, 2, 1]);
    assert_eq!(find(&["floor", "figure", "floor"]), [2, 0, 1]);
}
