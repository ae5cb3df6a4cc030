//! Renders frames built in code: a quick look at shapes, hair and liquids.
//!
//! `cargo run --release -p frisson-picture --example showcase -- OUT_FOLDER [fine]`

use std::path::PathBuf;

use frisson::geometry::Material;
use frisson::stage::Frame;
use frisson_picture::look::{self, Look};
use frisson_picture::{
    Framing, Image, PictureError, RenderOptions, Scene, View, compose, render, stock,
};
use glam::Vec3;

fn main() -> Result<(), PictureError> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| ".".to_owned()));
    let fine = arguments.next().is_some();
    let mut panels = Vec::new();
    let scenes = [
        ("shapes", shapes(), Look::studio()),
        ("hair", hair(), Look::studio()),
        ("drops", drops(), Look::studio()),
        ("dark hair", hair(), Look::dark()),
        ("outdoor", shapes(), Look::outdoor()),
    ];
    for (name, frame, look) in scenes {
        let start = std::time::Instant::now();
        let image = picture(&frame, &look, fine)?;
        println!("{name}: {:.2} s", start.elapsed().as_secs_f64());
        image.write_png(folder.join(format!("{}.png", name.replace(' ', "_"))))?;
        panels.push((image.shrunk(2), name.to_owned()));
    }
    compose::contact_sheet(&panels, 2, Some("Frisson pictures"))?
        .write_png(folder.join("sheet.png"))
}

fn picture(frame: &Frame, look: &Look, fine: bool) -> Result<Image, PictureError> {
    let options =
        if fine { RenderOptions::fine(960, 540) } else { RenderOptions::preview(960, 540) };
    let mut framing = Framing::new(View::default(), options.aspect());
    framing.add(frame);
    let start = std::time::Instant::now();
    let scene = Scene::from_frame(frame, look)?;
    println!("  build {:.3} s {:?}", start.elapsed().as_secs_f64(), scene.primitive_counts());
    render(&scene, &framing.camera()?, &options)
}

fn colored(color: [f32; 3], roughness: f32, metallic: f32) -> Material {
    let [r, g, b] = color;
    Material { base_color: [r, g, b, 1.0], roughness, metallic, ..Material::default() }
}

fn shapes() -> Frame {
    let mut vase = stock::lathe("vase", 256, 200, colored([0.55, 0.12, 0.06], 0.25, 0.0), |s| {
        (0.08 + 0.05 * (s * 7.0).sin() * (1.0 - s) + 0.02 * s, 0.5 * s)
    });
    vase.positions.iter_mut().for_each(|p| *p += Vec3::new(-0.35, 0.0, 0.0));
    let clay = stock::ball(
        "clay",
        Vec3::new(0.0, 0.2, 0.0),
        0.2,
        60,
        120,
        colored([0.7, 0.68, 0.62], 0.7, 0.0),
    );
    let gold = stock::ball(
        "gold",
        Vec3::new(0.38, 0.13, 0.12),
        0.13,
        60,
        120,
        colored([0.9, 0.6, 0.2], 0.25, 1.0),
    );
    Frame { meshes: vec![vase, clay, gold], ..Frame::default() }
}

fn hair() -> Frame {
    let skin = colored([0.72, 0.48, 0.36], 0.5, 0.0);
    let head = stock::ball("head", Vec3::new(0.0, 0.3, 0.0), 0.1, 60, 120, skin);
    let brown = Vec3::new(0.22, 0.10, 0.035);
    let style = stock::BallHair { strands: 10_000, points: 16, length: 0.26, color: brown };
    let hair = stock::hair_ball("hair", Vec3::new(0.0, 0.3, 0.0), 0.1, style);
    Frame { meshes: vec![head], curves: vec![hair], ..Frame::default() }
}

fn drops() -> Frame {
    let drop = stock::lathe("drop", 80, 160, look::water(), |s| {
        let angle = std::f32::consts::PI * (0.5 + 0.5 * s);
        if s <= 0.0 { (0.0, 0.0005) } else { (0.05 * angle.sin(), 0.0005 - 0.032 * angle.cos()) }
    });
    let milk = stock::ball(
        "milk",
        Vec3::new(0.1, 0.025, 0.02),
        0.025,
        40,
        80,
        Material { transmission: 0.0, ..colored([0.9, 0.88, 0.8], 0.1, 0.0) },
    );
    let wine = stock::ball(
        "wine",
        Vec3::new(-0.1, 0.03, 0.0),
        0.03,
        60,
        120,
        Material { absorption: [4.0, 60.0, 50.0], ..look::water() },
    );
    let beads = stock::beads("beads", Vec3::new(0.02, 0.0, 0.06), 0.09, 24, 0.016);
    Frame { meshes: vec![drop, milk, wine], points: vec![beads], ..Frame::default() }
}
