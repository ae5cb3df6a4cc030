//! Small pictures kept in the repository.
//!
//! A change of the renderer that alters them is either a mistake or meant; in the latter case look
//! at them and write them anew: `FRISSON_UPDATE_GOLDEN=1 cargo test -p frisson-picture --test golden`.

use std::path::PathBuf;

use frisson::geometry::Material;
use frisson::stage::Frame;
use frisson_picture::look::{self, Look, Tint};
use frisson_picture::{Framing, Image, RenderOptions, Scene, View, render, stock};
use glam::Vec3;

/// Mean difference of a channel that is still the same picture, of 255.
const MEAN_TOLERANCE: f64 = 0.6;

fn check(name: &str, frame: &Frame, look: &Look) {
    let options = RenderOptions { samples: 8, ..RenderOptions::preview(128, 72) };
    let mut framing = Framing::new(View::default(), options.aspect());
    framing.add(frame);
    let scene = Scene::from_frame(frame, look).unwrap();
    let image = render(&scene, &framing.camera().unwrap(), &options).unwrap();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.png"));
    if std::env::var_os("FRISSON_UPDATE_GOLDEN").is_some() {
        image.write_png(&path).unwrap();
        return;
    }
    let golden = Image::read_png(&path).expect("golden picture");
    assert_eq!((image.width, image.height), (golden.width, golden.height));
    let sum: u64 = (image.pixels.iter().zip(&golden.pixels))
        .flat_map(|(a, b)| (0..3).map(|c| u64::from(a[c].abs_diff(b[c]))))
        .sum();
    let mean = sum as f64 / (3 * image.pixels.len()) as f64;
    assert!(mean < MEAN_TOLERANCE, "{name} differs by {mean:.2} of 255 on average");
}

fn colored(color: [f32; 3], roughness: f32, metallic: f32) -> Material {
    let [r, g, b] = color;
    Material { base_color: [r, g, b, 1.0], roughness, metallic, ..Material::default() }
}

fn shapes() -> Frame {
    let clay = colored([0.7, 0.6, 0.5], 0.7, 0.0);
    let gold = colored([0.9, 0.6, 0.2], 0.25, 1.0);
    let mut ball = stock::ball("clay", Vec3::new(0.0, 0.2, 0.0), 0.2, 24, 48, clay);
    ball.set_scalar("strain", |v| (0..v.len()).for_each(|i| v[i] = (i as f32 * 0.02).sin()));
    let metal = stock::ball("gold", Vec3::new(0.4, 0.13, 0.1), 0.13, 24, 48, gold);
    Frame { meshes: vec![ball, metal], ..Frame::default() }
}

#[test]
fn studio_shapes() {
    check("shapes", &shapes(), &Look::studio());
}

#[test]
fn heat_and_wireframe() {
    let look = Look {
        tint: Tint::Attribute { name: "strain".into(), range: None },
        wireframe: 1.0,
        ..Look::studio()
    };
    check("overlay", &shapes(), &look);
}

#[test]
fn hair_in_the_dark() {
    let head = stock::ball(
        "head",
        Vec3::new(0.0, 0.3, 0.0),
        0.1,
        24,
        48,
        colored([0.7, 0.5, 0.4], 0.6, 0.0),
    );
    let color = Vec3::new(0.22, 0.1, 0.035);
    let style = stock::BallHair { strands: 1500, points: 14, length: 0.22, color };
    let hair = stock::hair_ball("hair", Vec3::new(0.0, 0.3, 0.0), 0.1, style);
    let frame = Frame { meshes: vec![head], curves: vec![hair], ..Frame::default() };
    check("hair", &frame, &Look::dark());
}

#[test]
fn water_and_wine() {
    let wine = Material { absorption: [4.0, 60.0, 50.0], ..look::water() };
    let water = stock::ball("water", Vec3::new(0.0, 0.05, 0.0), 0.05, 32, 64, look::water());
    let wine = stock::ball("wine", Vec3::new(0.12, 0.04, 0.0), 0.04, 32, 64, wine);
    let beads = stock::beads("beads", Vec3::new(0.05, 0.0, 0.08), 0.05, 7, 0.02);
    let frame = Frame { meshes: vec![water, wine], points: vec![beads], ..Frame::default() };
    check("liquids", &frame, &Look::studio());
}
