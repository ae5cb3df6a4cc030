//! Skinned positions of a glTF file, for comparison with other programs.
//!
//! ```text
//! dump_positions FILE                     what is in it, as JSON
//! dump_positions FILE CLIP TIME... > out  world positions of every mesh at every time
//! ```
//! CLIP is an index, or `rest`. The output is, for each time and each mesh in the order of the JSON,
//! three little-endian floats a vertex.

use std::error::Error;
use std::io::{BufWriter, Write};
use std::path::Path;

use frisson::character::{Pose, Sampling, Track};
use frisson_io::gltf;
use glam::Mat4;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = arguments.first().ok_or("which file?")?;
    let imported = gltf::read_file(Path::new(file))?;
    for warning in &imported.warnings {
        eprintln!("warning: {warning}");
    }
    let character = imported.character;
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
