//! Writes GLBs of every kind into a folder, for validators and viewers.
//!
//! `write_gltf_samples FOLDER [CHARACTER.glb ...]`: for each character, itself written anew, a morph
//! bake of its first clip in each encoding, and two that keep the rig alive under a wave.

use std::error::Error;
use std::path::Path;

use frisson::character::{Character, Pose, Sampling};
use frisson::stage::{Frame, Rate};
use frisson_io::gltf::{self, LivingOptions, MorphEncoding, MorphOptions};
use frisson_io::{FrameSource, ShotInfo, Silent, SourceError};
use glam::Mat4;

/// A character playing its first clip, with a wave over its skin.
struct Playing<'a> {
    character: &'a Character,
    info: ShotInfo,
    pose: Pose,
    /// Height of the wave, of the size of the mesh.
    wave: f32,
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
            let single = out.meshes.len() == 1;
            for mesh in &mut out.meshes {
                let own = &mesh.name;
                mesh.name = if single { "actor".to_owned() } else { format!("actor/{own}") };
            }
        }
        self.character.deform(&self.pose, &mut out.meshes);
        for mesh in &mut out.meshes {
            let height = self.wave * mesh.bounds().diagonal();
            for (k, p) in mesh.positions.iter_mut().enumerate() {
                p.y += height * (0.3 * frame as f32 + 0.1 * k as f32).sin();
            }
        }
        Ok(())
    }
}

/// First argument of the process that unpacks Draco.
const HELPER: &str = "unpack-draco";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Draco blocks are unpacked by a process of their own: this program once more.
    if arguments.first().is_some_and(|a| a == HELPER) {
        return Ok(gltf::serve_draco(&mut std::io::stdin(), &mut std::io::stdout())?);
    }
    gltf::set_draco_helper(std::env::current_exe()?, vec![HELPER.to_owned()]);
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
            let mut shot = playing(character, &info, 0.0);
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
        for (word, part) in [("living", 0.0), ("few", 1e-3)] {
            let bounds = character.meshes.iter().map(|m| m.mesh.bounds().diagonal());
            let options = LivingOptions {
                actor: "actor".to_owned(),
                clip: character.clips.first().cloned(),
                shape_error: part * bounds.fold(0.0, f32::max),
                overwrite: true,
                ..LivingOptions::default()
            };
            let path = folder.join(format!("{name}-{word}.glb"));
            let mut shot = playing(character, &info, 0.01);
            let document = &imported.document;
            let report = gltf::export_living(&mut shot, document, &path, &options, &mut Silent)?;
            println!(
                "{} {} bytes, {} shapes for {} frames of {} meshes, off by {:.2e} {:?}",
                path.display(),
                report.bytes,
                report.shapes,
                report.frames,
                character.meshes.len(),
                report.max_error,
                report.warnings
            );
        }
    }
    Ok(())
}

fn playing<'a>(character: &'a Character, info: &ShotInfo, wave: f32) -> Playing<'a> {
    Playing { character, info: info.clone(), pose: Pose::default(), wave }
}
