//! Flesh in a game loop: the game skins and poses its own character, Frisson adds what follows.
//!
//!   cargo run --release --example game_loop

use std::sync::Arc;

use frisson::character::{Character, CharacterMesh, Influences, Node, Skeleton, Skin, Transform};
use frisson::geometry::Mesh;
use frisson::layers::LayerParams;
use frisson::layers::flesh::FleshParams;
use frisson::stage::{Actor, EARTH_GRAVITY, Forces, Setup, Simulator};
use glam::{Mat4, Quat, Vec3};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Once: the game's character, and one layer on it.
    let character = Arc::new(character()?);
    let mut belly = FleshParams::new("belly", "hero", "hip", &["chest"]);
    belly.frequency_hz = Some(2.5);
    let mut simulator = Simulator::new(Setup {
        actors: vec![Actor::character_named("hero", character).live()],
        forces: Forces::new(EARTH_GRAVITY, vec![], 60.0),
        layers: vec![LayerParams::Flesh(belly)],
        ..Setup::default()
    })?;
    simulator.push_pose("hero", 0.0, &pose(0.0), &[])?;
    simulator.start()?;

    // Every frame, whatever its length: push the pose, step, draw.
    let mut time = 0.0;
    for frame in 0..90 {
        let dt = if frame & 7 == 0 { 1.0 / 45.0 } else { 1.0 / 60.0 };
        time += dt;
        simulator.push_pose("hero", time, &pose(time), &[])?;
        let shown = simulator.step(dt)?;
        draw(frame, &shown.meshes[0].positions);
    }
    Ok(())
}

/// The game's own animation: a hop, then standing still.
fn pose(time: f64) -> [Mat4; 2] {
    let height = (4.0 * time as f32 * (1.0 - time as f32)).max(0.0) * 0.3;
    let hip = Mat4::from_rotation_translation(Quat::IDENTITY, Vec3::Y * (1.0 + height));
    [hip, hip * Mat4::from_translation(Vec3::Y * 0.5)]
}

/// A tube around the spine, carried by the hip and the chest: two joints, two weights a vertex.
fn character() -> Result<Character, Box<dyn std::error::Error>> {
    let node = |name: &str, parent, y: f32| Node {
        name: name.to_owned(),
        parent,
        rest: Transform::from_translation(Vec3::Y * y),
    };
    let (mut positions, mut triangles, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for ring in 0..=12u32 {
        let share = ring as f32 / 12.0;
        for side in 0..16u32 {
            let (sin, cos) = (std::f32::consts::TAU * side as f32 / 16.0).sin_cos();
            positions.push(Vec3::new(0.2 * cos, 1.0 + 0.5 * share, 0.2 * sin));
            weights.push(vec![(0, 1.0 - share), (1, share)]);
            let at = |r: u32, s: u32| r * 16 + s % 16;
            if ring < 12 {
                triangles.push([at(ring, side), at(ring + 1, side), at(ring, side + 1)]);
                triangles.push([at(ring, side + 1), at(ring + 1, side), at(ring + 1, side + 1)]);
            }
        }
    }
    let skin = Skin {
        name: "skin".to_owned(),
        joints: vec![0, 1],
        inverse_bind: vec![
            Mat4::from_translation(Vec3::Y * -1.0),
            Mat4::from_translation(Vec3::Y * -1.5),
        ],
    };
    let mesh = CharacterMesh::skinned(
        Mesh::new("body", positions, triangles),
        Influences::from_lists(&weights),
    );
    Ok(Character {
        name: "hero".to_owned(),
        skeleton: Skeleton::new(vec![node("hip", None, 1.0), node("chest", Some(0), 0.5)])?,
        skins: vec![skin],
        meshes: vec![mesh],
        clips: vec![],
    })
}

/// Stands for the upload to the graphics card.
fn draw(frame: usize, positions: &[Vec3]) {
    if frame.is_multiple_of(10) {
        let belly = positions[6 * 16];
        println!("frame {frame:3}: a vertex of the belly is at {belly:.3}");
    }
}
