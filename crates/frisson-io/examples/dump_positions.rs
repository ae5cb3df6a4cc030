//! Positions of a glTF, FBX, USD or Alembic file, for comparison with other programs.
//!
//! ```text
//! dump_positions FILE                     what is in it, as JSON
//! dump_positions FILE CLIP TIME... > out  world positions of every mesh at every time
//! ```
//! CLIP is an index, or `rest`; Alembic has none and takes anything; `shapes` dumps a USD file as Alembic is dumped. The output is, for each time and each mesh in the order of the JSON,
//! three little-endian floats a vertex.

use std::error::Error;
use std::io::{BufWriter, Write};
use std::path::Path;

use frisson::character::{Character, Pose, Sampling, Track};
use frisson_io::alembic::input::{AlembicFile, ShapeInfo};
use frisson_io::gltf;
use frisson_io::inputs::InputSet;
use frisson_io::usd::input::UsdFile;
use glam::Mat4;
use serde_json::json;

fn read_character(path: &Path) -> Result<Character, Box<dyn Error>> {
    let (character, warnings) = if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("fbx")) {
        let imported = frisson_io::fbx::read_fbx_file(path, &InputSet::new())?;
        (imported.character, imported.warnings)
    } else if is_usd(path) {
        frisson_io::scene::read_character(path, &InputSet::new())?
    } else {
        let imported = gltf::read_file(path)?;
        (imported.character, imported.warnings)
    };
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    Ok(character)
}

/// What is shown of every mesh, curve and point of a file at every time, one after the other; without times, what is in it.
macro_rules! dump_shapes {
    ($file:expr, $times:expr) => {{
        let (file, times) = ($file, $times);
        let mut out = BufWriter::new(std::io::stdout().lock());
        if times.is_empty() {
            let about = |i: &ShapeInfo| json!({ "name": i.name, "path": i.path, "span": i.span });
            let meshes: Vec<_> = file.meshes().map(about).collect();
            let curves: Vec<_> = file.curves().map(about).collect();
            let points: Vec<_> = file.points().map(about).collect();
            let span = file.span();
            let all = json!({ "meshes": meshes, "curves": curves, "points": points, "span": span });
            writeln!(out, "{all}")?;
        }
        for time in times {
            let time = time.parse()?;
            let mut shapes = Vec::new();
            for index in 0..file.meshes().len() {
                shapes.push(file.mesh_at(index, time)?.positions);
            }
            for index in 0..file.curves().len() {
                shapes.push(file.curves_at(index, time)?.points);
            }
            for index in 0..file.points().len() {
                shapes.push(file.points_at(index, time)?.positions);
            }
            for positions in shapes {
                // Counts change: each shape says how many follow.
                out.write_all(&(positions.len() as u32).to_le_bytes())?;
                out.write_all(bytemuck::cast_slice(&positions))?;
            }
        }
        Ok(())
    }};
}

fn dump_alembic(path: &Path, arguments: &[String]) -> Result<(), Box<dyn Error>> {
    dump_shapes!(AlembicFile::open(path)?, arguments.get(1..).unwrap_or_default())
}

fn dump_usd(path: &Path, times: &[String]) -> Result<(), Box<dyn Error>> {
    let file = UsdFile::open(path)?;
    file.warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));
    dump_shapes!(file, times)
}

fn is_usd(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.to_string_lossy().to_lowercase().starts_with("usd"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = arguments.first().ok_or("which file?")?;
    let path = Path::new(file);
    if path.extension().is_some_and(|e| e == "abc") {
        return dump_alembic(path, &arguments[1..]);
    }
    if is_usd(path) && arguments.get(1).is_some_and(|a| a == "shapes") {
        return dump_usd(path, &arguments[2..]);
    }
    let character = read_character(path)?;
    if arguments.len() == 1 {
        let meshes = character.meshes.iter().map(|m| {
            json!({
                "name": m.mesh.name,
                "node": m.node,
                "vertices": m.mesh.positions.len(),
                "triangles": m.mesh.topology.triangles.len(),
                "skinned": m.skin.is_some(),
            })
        });
        let clips = character.clips.iter().map(|c| {
            let mut times: Vec<f32> = c.tracks.iter().flat_map(|t| t.times.clone()).collect();
            times.sort_by(f32::total_cmp);
            times.dedup();
            // Times at which no track is between two of its keys.
            let at_keys = |track: &Track, time: f32| {
                let keys = &track.times;
                keys.first().is_none_or(|&first| time <= first)
                    || keys.last().is_none_or(|&last| time >= last)
                    || keys.iter().any(|&key| (key - time).abs() < 1e-6)
            };
            let common: Vec<f32> = times
                .iter()
                .copied()
                .filter(|&time| c.tracks.iter().all(|track| at_keys(track, time)))
                .collect();
            json!({
                "name": c.name,
                "duration": c.duration(),
                "key_times": times,
                "common_key_times": common,
            })
        });
        let meshes: Vec<_> = meshes.collect();
        let clips: Vec<_> = clips.collect();
        println!("{}", json!({ "meshes": meshes, "clips": clips }));
        return Ok(());
    }
    let clip = match arguments[1].as_str() {
        "rest" => None,
        index => Some(character.clips.get(index.parse::<usize>()?).ok_or("no such clip")?),
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let (mut pose, mut positions) = (Pose::default(), Vec::new());
    for time in &arguments[2..] {
        pose.set(&character, clip, time.parse()?, Sampling::AsAuthored, Mat4::IDENTITY);
        for mesh in 0..character.meshes.len() {
            character.deform_mesh_positions(mesh, &pose, &mut positions);
            out.write_all(bytemuck::cast_slice(&positions))?;
        }
    }
    Ok(())
}
