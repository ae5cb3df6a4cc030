//! `frisson export`: other formats from a baked cache, without simulating again.

use std::path::{Path, PathBuf};

use clap::Args;
use frisson::geometry::Mesh;
use frisson::stage::Frame;
use frisson_io::FrameSource as _;
use frisson_io::bake::export_cache;
use frisson_io::cache::CacheReader;
use frisson_io::export::{ExportError, ExportFormat, ExportParams, WrittenFile};
use frisson_io::maps::FoldMaps;
use frisson_io::{outputs, usd};
use frisson_picture::output::write_text;
use frisson_workshop::human_bytes;
use serde_json::json;

use super::bake::{export_failure, how_to_open};
use super::export_joints::write_joints;
use crate::failure::Failure;
use crate::interrupt;
use crate::ui::Ui;

/// Write other formats from a baked cache, without simulating again; or one of the built-in cast.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson export shot.frisson --to shot.abc
  frisson export shot.frisson --to shot.usdc --to shot.glb
  frisson export shot.frisson --to hat.abc --shape hat --frames 10 50
  frisson export builtin:cat --to cat.glb       the rigged, animated character itself
  frisson export shot.frisson --to shot.glb --keep-rig    rig, clips and facial morphs stay alive
  frisson export shot.toml --joints shot.glb    flesh as extra joints, from the scene itself
  frisson export shot.frisson --to shot.usda --part 2/4     a quarter of it, on any machine
  frisson export shot.frisson --to shot.usda --stitch 4     puts the four together by value clips

Formats by extension: .abc (Alembic), .usd .usdc .usda (USD), .glb (morph targets), .pc2 .mdd (point
caches), .obj (one file a frame), .png (images that layers paint, such as the wetness of drops, one
file a frame; where there are none, normal and height maps of folded meshes in one frame, the first
of --frames or else the last). An unfinished cache exports the frames it has.

With --joints the scene is simulated again and each flesh element becomes animated joints, which any
engine plays as plain skinning; it says how far that is from the exact layer.")]
pub struct Export {
    /// Cache, or builtin:NAME; a scene file with --joints.
    cache: PathBuf,
    /// File to write; its extension says the format. May be given several times.
    #[arg(long, required_unless_present = "joints", value_name = "FILE")]
    to: Vec<PathBuf>,
    /// GLB to write from a scene file, with flesh as extra animated joints.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["to", "shape", "frames"])]
    joints: Option<PathBuf>,
    /// Actor to write with --joints [default: the first that carries flesh].
    #[arg(long, requires = "joints")]
    actor: Option<String>,
    /// Most joints a vertex may follow with --joints: all engines read 4, some 8.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    influences: u8,
    /// Shape to write, by name; all if not given. May be given several times.
    #[arg(long, value_name = "NAME")]
    shape: Vec<String>,
    /// First and last frame to write.
    #[arg(long, num_args = 2, value_names = ["FIRST", "LAST"], allow_negative_numbers = true)]
    frames: Option<Vec<i64>>,
    /// Units of the file per metre: 100 writes centimetres.
    #[arg(long, default_value_t = 1.0)]
    scale: f32,
    /// Leave shading normals out.
    #[arg(long)]
    no_normals: bool,
    /// Leave velocities out.
    #[arg(long)]
    no_velocities: bool,
    /// Pixels a side of normal and height maps.
    #[arg(long, default_value_t = 1024, value_name = "PIXELS")]
    size: usize,
    /// Write one part of a USD shot, NAME.000I.usdc: part I of N, all of equal length.
    #[arg(long, value_name = "I/N", value_parser = parse_part, conflicts_with_all = ["joints", "frames", "stitch"])]
    part: Option<(u32, u32)>,
    /// Write the USD file that puts N parts together.
    #[arg(long, value_name = "N", conflicts_with_all = ["joints", "frames"], value_parser = clap::value_parser!(u32).range(1..=10_000))]
    stitch: Option<u32>,
    /// Keep the rig of a GLB alive: what the layers did as morph targets before the skin.
    #[arg(long)]
    keep_rig: bool,
    /// Most shapes a mesh gets with --keep-rig; longer shots share them.
    #[arg(long, default_value_t = 200, value_name = "COUNT")]
    shapes: u32,
    /// Distance from the bake that fewer shapes may leave with --keep-rig [m].
    #[arg(long, default_value_t = 0.0, value_name = "METRES")]
    shape_error: f32,
    /// Replace files that are already there.
    #[arg(long)]
    force: bool,
}

impl Export {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        interrupt::listen();
        if let Some(target) = &self.joints {
            let (actor, influences) = (self.actor.as_deref(), usize::from(self.influences));
            return write_joints(&self.cache, target, actor, influences, self.force, ui);
        }
        // The cast has no cache: it is written as it is, rig and clips.
        if let Some(name) = self.cache.to_str().and_then(|c| c.strip_prefix("builtin:")) {
            return self.write_cast(name, ui);
        }
        let mut reader = CacheReader::open(&self.cache)?;
        if let Some(damage) = reader.damage() {
            let (at, problem) = (damage.offset, &damage.problem);
            ui.remark(format!("warning: damaged at byte {at}: {problem}; writing what is before"));
        }
        let folder = self.cache.parent().unwrap_or(Path::new("")).to_owned();
        let sources = reader.header().sources.iter().map(|(_, source)| folder.join(source));
        let inputs: Vec<PathBuf> = std::iter::once(self.cache.clone()).chain(sources).collect();
        // All at once: nothing is written where one of them would be refused.
        outputs::prepare(&self.to, &inputs)?;
        let mut all = Vec::new();
        for target in &self.to {
            if let Some(count) = self.stitch {
                all.push(self.write_root(&reader, target, count, ui)?);
                continue;
            }
            // A PNG is what a layer has painted; where none has, maps of the folds.
            let is_picture = target.extension().is_some_and(|e| e.eq_ignore_ascii_case("png"));
            if is_picture && !self.has_images(&mut reader)? {
                all.extend(self.write_maps(&mut reader, target, ui)?);
                continue;
            }
            let params = match self.part {
                Some(part) => self.part_params(&reader, target, part)?,
                None => self.params(target)?,
            };
            let mut progress = ui.progress(&format!("writing {}", target.display()));
            let base = Path::new("");
            let written =
                export_cache(&mut reader, &params, base, &folder, self.force, &mut progress)
                    .map_err(|e| export_failure(&e, &self.cache))?;
            drop(progress);
            for file in written {
                let name = file.path.display().to_string();
                ui.say(format!("wrote {name}, {}{}", human_bytes(file.bytes), how_to_open(&name)));
                file.remarks.iter().for_each(|remark| ui.remark(format!("note: {remark}")));
                all.push(file);
            }
        }
        ui.result(|| json!({ "files": all }));
        Ok(())
    }

    /// What one part of a shot is.
    fn part_params(
        &self,
        reader: &CacheReader,
        target: &Path,
        (number, count): (u32, u32),
    ) -> Result<ExportParams, Failure> {
        // All parts follow from the number alone: tasks on different machines agree without talking.
        let parts = usd::parts(&usd_target(target)?, reader.info(), count);
        let Some(part) = parts.get(number as usize - 1) else {
            let text = format!("the shot has {} frames: there is no part {number}", parts.len());
            return Err(Failure::input(text).help("take fewer parts"));
        };
        let params = ExportParams { frames: Some(part.frames), ..self.params(&part.file)? };
        Ok(ExportParams { is_part: true, ..params })
    }

    /// Writes the file that puts parts together.
    fn write_root(
        &self,
        reader: &CacheReader,
        target: &Path,
        count: u32,
        ui: &Ui,
    ) -> Result<WrittenFile, Failure> {
        let target = usd_target(target)?;
        let parts = usd::parts(&target, reader.info(), count);
        if let Some((index, part)) = parts.iter().enumerate().find(|(_, p)| !p.file.exists()) {
            let text = format!("{} is not there", part.file.display());
            let help = format!("write it with --part {}/{count}", index + 1);
            return Err(Failure::input(text).help(help));
        }
        if target.exists() && !self.force {
            return Err(export_failure(&ExportError::Exists(target), &self.cache));
        }
        let text = usd::stitched_root(&parts, reader.info(), self.scale);
        write_text(&target, &text).map_err(|e| Failure::input(e.to_string()))?;
        let bytes = text.len() as u64;
        ui.say(format!("wrote {}, {} parts", target.display(), parts.len()));
        Ok(WrittenFile { path: target, bytes, remarks: Vec::new() })
    }

    /// Writes a member of the built-in cast as a rigged GLB.
    fn write_cast(&self, name: &str, ui: &Ui) -> Result<(), Failure> {
        let character = frisson_models::build(name).map_err(|e| Failure::input(e.to_string()))?;
        let mut all = Vec::new();
        outputs::prepare(&self.to, &[])?;
        for target in &self.to {
            if target.extension().is_none_or(|e| !e.eq_ignore_ascii_case("glb")) {
                let text = format!("{}: the cast is written as .glb", target.display());
                return Err(Failure::input(text));
            }
            let bytes = frisson_io::gltf::write_character(&character, target, self.force)
                .map_err(|e| Failure::input(e.to_string()))?;
            let path = target.display().to_string();
            ui.say(format!("wrote {path}, {}{}", human_bytes(bytes), how_to_open(&path)));
            all.push(json!({ "path": path, "bytes": bytes }));
        }
        ui.result(|| json!({ "files": all }));
        Ok(())
    }

    /// Whether a layer has painted images, such as wetness.
    fn has_images(&self, reader: &mut CacheReader) -> Result<bool, Failure> {
        let mut frame = Frame::default();
        reader
            .read_frame(self.mapped_frame(reader), &mut frame)
            .map_err(|e| Failure::input(e.to_string()))?;
        // Whoever names meshes asks for their maps.
        Ok(!frame.images.is_empty() && self.shape.is_empty())
    }

    /// The frame that maps are made of.
    fn mapped_frame(&self, reader: &CacheReader) -> i64 {
        self.frames.as_ref().map_or(reader.info().last_frame, |frames| frames[0])
    }

    /// Writes maps of every folded mesh in one frame, beside `target`.
    fn write_maps(
        &self,
        reader: &mut CacheReader,
        target: &Path,
        ui: &Ui,
    ) -> Result<Vec<WrittenFile>, Failure> {
        let number = self.mapped_frame(reader);
        let mut frame = Frame::default();
        reader.read_frame(number, &mut frame).map_err(|e| Failure::input(e.to_string()))?;
        let wanted = |m: &&Mesh| self.shape.is_empty() || self.shape.contains(&m.name);
        let mut files = Vec::new();
        let mut refused = None;
        for mesh in frame.meshes.iter().filter(wanted) {
            match FoldMaps::new(mesh, self.size) {
                Ok(maps) => {
                    let stem = target.file_stem().unwrap_or_default().to_string_lossy();
                    // `with_extension` would cut a name at its dot.
                    let part = mesh.name.replace(['/', '\\', '.'], "_");
                    let name = target.with_file_name(format!("{stem}_{part}"));
                    let written =
                        maps.write(&name, self.force).map_err(|e| Failure::input(e.to_string()))?;
                    for file in &written {
                        ui.say(format!("wrote {}", file.path.display()));
                    }
                    ui.say(format!("heights of {} reach {} m", mesh.name, maps.range));
                    files.extend(written);
                }
                // One mesh without texture coordinates does not spoil the maps of the others.
                Err(error) => refused = Some(error),
            }
        }
        match (files.is_empty(), refused) {
            (true, Some(error)) => Err(Failure::input(format!(
                "frame {number} has no image (drops paint one where `trails.image` is set) and no \
                 folded mesh to map: {error}"
            ))),
            (true, None) => Err(Failure::input(format!("no mesh to map in frame {number}"))),
            _ => Ok(files),
        }
    }

    fn params(&self, target: &Path) -> Result<ExportParams, Failure> {
        let params = ExportParams::to_file(target).map_err(|e| Failure::input(e.to_string()))?;
        Ok(ExportParams {
            meshes: self.shape.clone(),
            frames: self.frames.as_ref().map(|f| [f[0], f[1]]),
            scale: self.scale,
            normals: self.no_normals.then_some(false),
            velocities: !self.no_velocities,
            keep_rig: self.keep_rig,
            max_shapes: self.shapes,
            shape_error: self.shape_error,
            ..params
        })
    }
}

/// A file that can be the root of a shot in parts.
fn usd_target(target: &Path) -> Result<PathBuf, Failure> {
    let is_text = target.extension().is_some_and(|e| e.eq_ignore_ascii_case("usda"));
    if is_text && ExportFormat::from_path(target) == Some(ExportFormat::Usd) {
        return Ok(target.to_owned());
    }
    let text = format!("{}: a shot in parts is put together by a .usda file", target.display());
    Err(Failure::input(text).help("give --to NAME.usda"))
}

fn parse_part(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((number, count)) if (1..=count).contains(&number) && count <= 10_000 => {
            Ok((number, count))
        }
        _ => Err("must look like 2/4: part 2 of 4".to_owned()),
    }
}
