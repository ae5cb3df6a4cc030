//! Pictures: rays beside the hierarchy crate's own speed, and seconds per frame.

use std::hint::black_box;

use frisson::geometry::Material;
use frisson::stage::Frame;
use frisson_picture::bench::{RawHierarchy, count_hits, primary_rays};
use frisson_picture::{Framing, Look, RenderOptions, Scene, View, render, stock};
use glam::Vec3;

use super::{BenchOptions, Table};
use crate::WorkshopError;

/// Measures.
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, WorkshopError> {
    Ok(vec![rays(options)?, frames()?])
}

/// A bumpy body of about 100,000 triangles.
fn body() -> Frame {
    let clay = Material { base_color: [0.7, 0.6, 0.5, 1.0], ..Material::default() };
    let mut ball = stock::ball("body", Vec3::new(0.0, 1.0, 0.0), 1.0, 200, 250, clay);
    for p in &mut ball.positions {
        let bump = (p.x * 9.0).sin() * (p.y * 11.0).sin() * (p.z * 8.0).sin();
        *p += 0.05 * bump * (*p - Vec3::Y);
    }
    ball.normals.clear();
    Frame { meshes: vec![ball], ..Frame::default() }
}

fn head() -> Frame {
    let center = Vec3::new(0.0, 0.3, 0.0);
    let ball = stock::ball("head", center, 0.1, 60, 120, Material::default());
    let color = Vec3::new(0.22, 0.10, 0.035);
    let style = stock::BallHair { strands: 10_000, points: 16, length: 0.26, color };
    let hair = stock::hair_ball("hair", center, 0.1, style);
    Frame { meshes: vec![ball], curves: vec![hair], ..Frame::default() }
}

fn rays(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let frame = body();
    let picture = RenderOptions::preview(960, 540);
    let mut framing = Framing::new(View::default(), picture.aspect());
    framing.add(&frame);
    let camera = framing.camera()?;
    let look = Look { ground: frisson_picture::GroundChoice::None, ..Look::studio() };
    let scene = Scene::from_frame(&frame, &look)?;
    let raw = RawHierarchy::build(&frame.meshes[0]);
    let rays = primary_rays(&camera, &picture);
    let ours = options.median_seconds(|| {
        black_box(count_hits(&scene, &rays));
    });
    let theirs = options.median_seconds(|| {
        black_box(raw.count_hits(&rays));
    });
    let speed = |seconds: f64| format!("{:.1}", rays.len() as f64 / seconds / 1e6);
    let triangles = frame.meshes[0].topology.triangles.len();
    let title = format!("Rays through 960x540 pixels at {triangles} triangles");
    let mut table = Table::new(title, &["what", "Mrays/s", "ratio"]);
    table.row(["obvhs alone, medium build".to_owned(), speed(theirs), "1.00".to_owned()]);
    let ratio = format!("{:.2}", theirs / ours);
    table.row(["frisson scene (quick build, all shapes)".to_owned(), speed(ours), ratio]);
    table.note(format!("{} threads, same rays, same run", rayon::current_num_threads()));
    Ok(table)
}

fn frames() -> Result<Table, WorkshopError> {
    let columns = ["frame", "build [s]", "picture [s]", "Mpixels/s"];
    let mut table = Table::new("Preview pictures of 960x540", &columns);
    let subjects = [("100k triangles", body()), ("10,000 strands of 16 points", head())];
    for (name, frame) in subjects {
        let picture = RenderOptions::preview(960, 540);
        let mut framing = Framing::new(View::default(), picture.aspect());
        framing.add(&frame);
        let camera = framing.camera()?;
        let look = Look::studio();
        let scene = Scene::from_frame(&frame, &look)?;
        // A picture takes long enough to be timed by a few.
        let once = BenchOptions { quick: true };
        let build = once.median_seconds(|| {
            let _ = black_box(Scene::from_frame(&frame, &look));
        });
        let draw = once.median_seconds(|| {
            let _ = black_box(render(&scene, &camera, &picture));
        });
        let pixels = f64::from(picture.width * picture.height);
        table.row([
            name.to_owned(),
            format!("{build:.3}"),
            format!("{draw:.2}"),
            format!("{:.2}", pixels / draw / 1e6),
        ]);
    }
    table.note(format!(
        "{} threads; 2 to 4 samples a pixel, 12 at outlines, strands as strokes, one bounce, filter included",
        rayon::current_num_threads()
    ));
    Ok(table)
}
