//! The colour of hair of which nothing is said.

use std::sync::Arc;

use glam::Vec3;

use super::{Rig, Scene, head_of_hair};
use crate::geometry::{Material, Mesh};
use crate::stage::Actor;

const SKIN: [f32; 3] = [0.6, 0.4, 0.3];
const RED: [f32; 3] = [0.4, 0.08, 0.02];
const BROWN: [f32; 3] = [0.13, 0.065, 0.03];

fn paint(name: &str, [r, g, b]: [f32; 3]) -> Material {
    Material { name: name.to_owned(), base_color: [r, g, b, 1.0], ..Material::default() }
}

/// A head whose upper half may be of another material.
fn head(face: Material, crown: Material) -> Scene {
    let mut scene = head_of_hair(6);
    let positions = scene.mesh.positions.clone();
    let topology = Arc::make_mut(&mut scene.mesh.topology);
    let above = |t: &[u32; 3]| t.iter().all(|v| positions[*v as usize].y > 0.015);
    topology.triangle_materials = topology.triangles.iter().map(|t| u16::from(above(t))).collect();
    topology.materials = vec![face, crown];
    scene
}

fn color(scene: Scene) -> [f32; 3] {
    let rig = Rig::new(scene).unwrap();
    rig.frame().curves[0].color.to_array()
}

#[test]
fn hair_has_the_colour_that_the_head_is_painted_with_where_it_grows() {
    assert_eq!(color(head(paint("face", SKIN), paint("top", RED))), RED);
    // Bald, or hardly darker on the crown: not hair in the colour of skin.
    assert_eq!(color(head(paint("face", SKIN), paint("top", SKIN))), BROWN);
    assert_eq!(color(head(paint("face", SKIN), paint("top", [0.5, 0.34, 0.26]))), BROWN);
    assert_eq!(color(head_of_hair(6)), BROWN);
    // What is said of it stays.
    let mut told = head(paint("face", SKIN), paint("top", RED));
    told.params.strands.color = Some([0.01; 3]);
    assert_eq!(color(told), [0.01; 3]);
}

#[test]
fn colours_that_say_how_hair_grows_are_not_its_own() {
    let mut scene = head(paint("face", [1.0; 3]), paint("top", [1.0; 3]));
    let positions = scene.mesh.positions.clone();
    let half = |p: &Vec3| [if p.y > 0.01 { 1.0 } else { 0.2 }, 0.0, 0.0, 1.0];
    Arc::make_mut(&mut scene.mesh.topology).colors = positions.iter().map(half).collect();
    scene.params.length_map = Some("r".to_owned());
    assert_eq!(color(scene), BROWN);
}

#[test]
fn hair_has_the_colour_of_what_is_called_hair() {
    // A lock of its own beside the head; a seat is none.
    let beside = |name: &str, material: Material| {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y].map(|p| 0.1 * p + 0.4 * Vec3::X);
        let mut mesh = Mesh::new(name, corners.to_vec(), vec![[0, 1, 2]]);
        Arc::make_mut(&mut mesh.topology).materials = vec![material];
        let scene = head(paint("face", SKIN), paint("top", SKIN));
        let head = scene.mesh.clone();
        let mut setup = scene.setup();
        setup.actors = vec![Actor::meshes_named("scalp", vec![head, mesh])];
        let name = setup.actors[0].source_meshes()[0].name.clone();
        let crate::layers::LayerParams::Hair(params) = &mut setup.layers[0] else { panic!() };
        params.on = name;
        Rig::of(setup).unwrap().frame().curves[0].color.to_array()
    };
    assert_eq!(beside("Hair_front", paint("m", RED)), RED);
    assert_eq!(beside("lock", paint("Mat_HAIR.001", RED)), RED);
    assert_eq!(beside("Chair", paint("m", RED)), BROWN);
    assert_eq!(beside("hat", paint("felt", RED)), BROWN);
    // A picture that did not come along leaves plain white, which nobody has chosen.
    assert_eq!(beside("Hair_front", paint("m", [1.0; 3])), BROWN);
}
