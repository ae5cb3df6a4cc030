//! A cape held by two corners, and wind that is turned up while it runs.
//!
//!   cargo run --release --example cape_in_wind

use frisson::geometry::Mesh;
use frisson::layers::LayerParams;
use frisson::layers::cloth::ClothParams;
use frisson::stage::{Actor, EARTH_GRAVITY, ForceParams, Forces, Selection, Setup, Simulator};
use glam::Vec3;

const SIDE: u32 = 21;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let corners = Selection { vertices: Some(vec![0, SIDE - 1]), ..Selection::default() };
    let cape = ClothParams { pins: Some(corners), ..ClothParams::new("cape", "sheet") };
    let mut simulator = Simulator::new(Setup {
        actors: vec![Actor::meshes_named("sheet", vec![sheet()])],
        forces: wind(0.0),
        layers: vec![LayerParams::Cloth(cape)],
        ..Setup::default()
    })?;
    for second in 0..4 {
        let speed = 4.0 * f64::from(second);
        simulator.set_forces(wind(speed));
        for _ in 0..60 {
            simulator.step(1.0 / 60.0)?;
        }
        let positions = &simulator.frame().meshes[0].positions;
        let back = positions.iter().map(|p| p.z).fold(f32::MIN, f32::max);
        println!("{speed:4.1} m/s of wind: the hem is blown back by {back:.2} m");
    }
    Ok(())
}

fn wind(speed: f64) -> Forces {
    let wind = ForceParams::Wind {
        direction: [0.0, 0.0, 1.0],
        speed: speed.into(),
        gust: 0.3,
        gust_hz: 0.7,
        gust_size: 1.0,
        seed: 1,
    };
    Forces::new(EARTH_GRAVITY, vec![wind], 30.0)
}

/// A square metre, hanging.
fn sheet() -> Mesh {
    let at = |i: u32| i as f32 / (SIDE - 1) as f32;
    let place = |k: u32| Vec3::new(at(k % SIDE), 2.0 - at(k / SIDE), 0.0);
    let quads = (0..SIDE - 1).flat_map(|j| (0..SIDE - 1).map(move |i| j * SIDE + i));
    let triangles = quads.flat_map(|v| [[v, v + SIDE, v + 1], [v + 1, v + SIDE, v + SIDE + 1]]);
    Mesh::new("sheet", (0..SIDE * SIDE).map(place).collect(), triangles.collect())
}
