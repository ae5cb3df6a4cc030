//! Hair on a turning ball, read out as plain slices of numbers, as a renderer wants them.
//!
//!   cargo run --release --example hair_as_slices

use frisson::geometry::Mesh;
use frisson::layers::LayerParams;
use frisson::layers::hair::HairParams;
use frisson::stage::{
    Actor, EARTH_GRAVITY, Forces, KeyedTransform, Keys, Selection, Setup, Simulator,
};
use glam::Vec3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut hair = HairParams {
        name: "hair".to_owned(),
        on: "ball".to_owned(),
        wisps: 30,
        length: 0.25,
        scalp: Selection { r#box: Some([-1.0, 0.03, -1.0, 1.0, 1.0, 1.0]), ..Selection::default() },
        ..HairParams::default()
    };
    hair.body.meshes = vec!["ball".to_owned()];
    let turn = [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [30.0, 0.0, 0.0, 0.0, 0.0, 120.0, 0.0]];
    let path = KeyedTransform::from_frames(&turn, Keys::Smooth, 30.0);
    let mut simulator = Simulator::new(Setup {
        actors: vec![Actor::meshes_named("ball", vec![ball(0.1)]).along(path)],
        forces: Forces::new(EARTH_GRAVITY, vec![], 30.0),
        layers: vec![LayerParams::Hair(hair)],
        ..Setup::default()
    })?;
    for _ in 0..30 {
        let frame = simulator.step(1.0 / 24.0)?;
        let curves = &frame.curves[0];
        // Three numbers a point, curve after curve; no copy is made.
        let points: &[f32] = bytemuck::cast_slice(&curves.points);
        let counts: &[u32] = &curves.counts;
        upload(points, counts, &curves.widths);
    }
    let frame = simulator.frame();
    println!(
        "{} hairs, {} points at {:.2} s",
        frame.curves[0].counts.len(),
        frame.curves[0].points.len(),
        simulator.time()
    );
    Ok(())
}

/// Stands for a renderer.
fn upload(points: &[f32], counts: &[u32], widths: &[f32]) {
    assert_eq!(points.len(), 3 * widths.len());
    assert_eq!(counts.iter().sum::<u32>() as usize, widths.len());
}

fn ball(radius: f32) -> Mesh {
    let (rings, sides) = (16u32, 24u32);
    let place = |r: u32, s: u32| {
        let (sin, cos) = (std::f32::consts::PI * r as f32 / rings as f32).sin_cos();
        let (x, z) = (std::f32::consts::TAU * s as f32 / sides as f32).sin_cos();
        radius * Vec3::new(sin * x, cos, sin * z)
    };
    let mut positions = vec![place(0, 0), place(rings, 0)];
    positions.extend((1..rings).flat_map(|r| (0..sides).map(move |s| place(r, s))));
    let at = |r: u32, s: u32| 2 + (r - 1) * sides + s % sides;
    let mut triangles = Vec::new();
    for s in 0..sides {
        triangles.push([0, at(1, s), at(1, s + 1)]);
        triangles.push([1, at(rings - 1, s + 1), at(rings - 1, s)]);
        for r in 1..rings - 1 {
            triangles.push([at(r, s), at(r + 1, s), at(r, s + 1)]);
            triangles.push([at(r + 1, s), at(r + 1, s + 1), at(r, s + 1)]);
        }
    }
    Mesh::new("ball", positions, triangles)
}
