//! Writes GLBs of every kind into a folder, for validators and viewers.
//!
//! `write_gltf_samples FOLDER [CHARACTER.glb ...]`: for each character, itself written anew and a
//! morph bake of its first clip in each encoding.

use std::error::Error;
use std::path::Path;

use frisson::character::{Character, Pose, Sampling};
use frisson::stage::{Frame, Rate};
use frisson_io::gltf::{self, MorphEncoding, MorphOptions};
use frisson_io::{FrameSource, ShotInfo, Silent, SourceError};
use glam::Mat4;

/// A character playing its first clip.
struct Playing<'a> {
    character: &'a Character,
    info: ShotInfo,
    pose: Pose,
}

impl FrameSource for Playing<'_> {
    fn info(&self) -> &ShotInfo {
        &self.info
    }

    fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError> {
        let time = frame as f64 / self.info.rate.fps();
        let clip = self.character.clips.first();
        self.pose.set(self.character, clip, time, Sampling::AsAuthored, Mat4::IDENTITY);
        if out.meshes.is_empty() {
            out.meshes = self.character.meshes.iter().map(|m| m.mesh.clone()).collect();
        }
        self.character.deform(&self.pose, &mut out.meshes);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(arguments.first().ok_or("which folder?")?);
    for file in &arguments[1..] {
        let imported = gltf::read_file(Path::new(file))?;
        let character = &imported.character;
        let name = &character.name;
        gltf::write_character(character, &folder.join(format!("{name}-character.glb")), true)?;
        let info = ShotInfo { rate: Rate::whole(24), first_frame: 0, last_frame: 30 };
        let encodings = [
            ("dense", MorphEncoding::Dense, 200, true),
            ("sparse", MorphEncoding::Sparse, 200, false),
            ("quantised", MorphEncoding::Quantised, 200, false),
            ("split", MorphEncoding::Dense, 12, false),
        ];
        for (word, encoding, max_targets, normals) in encodings {
            let mut shot = Playing { character, info: info.clone(), pose: Pose::default() };
            let options = MorphOptions {
                encoding,
                max_targets,
                normals,
                overwrite: true,
                ..MorphOptions::default()
            };
            let path = folder.join(format!("{name}-{word}.glb"));
            let input = Some(&imported.document);
            let report = gltf::export_morph_bake(&mut shot, input, &path, &options, &mut Silent)?;
            println!("{} {} bytes {:?}", path.display(), report.bytes, report.warnings);
        }
    }
    Ok(())
}
