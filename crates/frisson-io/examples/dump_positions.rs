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

use frisson::character::{Pose, Sampling};
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
            json!({ "name": c.name, "duration": c.duration(), "key_times": times })
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
