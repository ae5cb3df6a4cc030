//! `frisson inspect`: what is in a character, a scene or a cache.

mod space;

use std::path::{Path, PathBuf};

use clap::Args;
use frisson::character::{Character, Pose, Sampling};
use frisson::geometry::{Bounds, Mesh};
use frisson::stage::Frame;
use frisson_io::FrameSource;
use frisson_io::cache::{CacheReader, Kind, part_path};
use frisson_io::scene::{ActorContent, ActorLoader, SceneFile};
use frisson_workshop::{Loader, human_bytes};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::ui::Ui;

/// Show what is in a character, a scene or a cache.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson inspect character.glb       meshes, joints as a tree, clips, sizes
  frisson inspect builtin:cat         one of the built-in cast
  frisson inspect shot.toml           actors, layers, and where everything is at the start
  frisson inspect shot.frisson        frames, blocks and health of a cache")]
pub struct Inspect {
    /// A .glb, .gltf, .toml or .frisson file, or builtin:NAME.
    file: String,
}

/// Text for people and the same for programs.
struct Findings {
    lines: Vec<String>,
    value: Value,
}

impl Inspect {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let path = Path::new(&self.file);
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let found = match extension {
            "toml" => inspect_scene(path)?,
            "frisson" | "part" => inspect_cache(path)?,
            _ => inspect_source(&self.file)?,
        };
        ui.answer(&found.lines.join("\n"), || found.value.clone());
        Ok(())
    }
}

fn inspect_source(source: &str) -> Result<Findings, Failure> {
    let loaded = Loader.load(source, Path::new("")).map_err(|e| Failure::input(e.to_string()))?;
    let mut found = match loaded.content {
        ActorContent::Character(character) | ActorContent::Pointed(character, ..) => {
            inspect_character(source, &character)
        }
        ActorContent::Meshes(meshes) => inspect_meshes(source, &meshes),
        ActorContent::Sequence(sequence, _) => inspect_meshes(source, sequence.meshes()),
    };
    found.lines.extend(loaded.remarks.iter().map(|remark| format!("note: {remark}")));
    found.value["remarks"] = json!(loaded.remarks);
    Ok(found)
}

fn inspect_meshes(source: &str, meshes: &[Mesh]) -> Findings {
    let mut lines = vec![format!("{source}: {} meshes", meshes.len())];
    for mesh in meshes {
        lines.push(format!("  {}", mesh_line(mesh)));
        space::places(mesh, &mut lines);
    }
    let value =
        json!({ "source": source, "meshes": meshes.iter().map(mesh_json).collect::<Vec<_>>() });
    Findings { lines, value }
}

fn inspect_character(source: &str, character: &Character) -> Findings {
    let mut meshes: Vec<Mesh> = character.meshes.iter().map(|m| m.mesh.clone()).collect();
    let mut pose = Pose::default();
    pose.set(character, None, 0.0, Sampling::AsAuthored, glam::Mat4::IDENTITY);
    character.deform(&pose, &mut meshes);
    let all = meshes.iter().fold(Bounds::EMPTY, |b, m| b.union(m.bounds()));
    let size = if all.is_empty() { glam::Vec3::ZERO } else { all.max - all.min };
    let mut lines = vec![
        format!("{source}: character {:?}", character.name),
        format!("size in its rest pose: {:.3} x {:.3} x {:.3} m", size.x, size.y, size.z),
        "places are [m] in its rest pose; a scene's points are given where it stands at the first frame".to_owned(),
        format!("meshes ({}):", meshes.len()),
    ];
    for (mesh, own) in meshes.iter().zip(&character.meshes) {
        let skin = own.skin.map_or("rigid".to_owned(), |s| {
            format!("skinned to {} joints", character.skins[s].joints.len())
        });
        lines.push(format!("  {}, {skin}, {} morphs", mesh_line(mesh), own.morphs.len()));
        space::places(mesh, &mut lines);
    }
    lines.push(format!("clips ({}):", character.clips.len()));
    for (index, clip) in character.clips.iter().enumerate() {
        lines.push(format!("  {index} {:?} {:.3} s", clip.name, clip.duration()));
    }
    lines.push(format!("nodes ({}), joints marked *:", character.skeleton.nodes().len()));
    space::tree(character, &pose, &mut lines);
    let clip = |c: &frisson::character::Clip| json!({ "name": c.name, "seconds": c.duration() });
    let value = json!({
        "source": source,
        "name": character.name,
        "size": size.to_array(),
        "meshes": meshes.iter().map(mesh_json).collect::<Vec<_>>(),
        "clips": character.clips.iter().map(clip).collect::<Vec<_>>(),
        "nodes": space::nodes_json(character, &pose),
    });
    Findings { lines, value }
}

fn mesh_line(mesh: &Mesh) -> String {
    let topology = &mesh.topology;
    let mut text = format!(
        "{:?}: {} vertices, {} triangles",
        mesh.name,
        topology.vertex_count,
        topology.triangles.len()
    );
    if !topology.uvs.is_empty() {
        text += ", uvs";
    }
    if !topology.regions.is_empty() {
        let names: Vec<&str> = topology.regions.keys().map(String::as_str).collect();
        text += &format!(", regions {}", names.join(" "));
    }
    text
}

fn mesh_json(mesh: &Mesh) -> Value {
    let bounds = mesh.bounds();
    json!({
        "name": mesh.name,
        "vertices": mesh.topology.vertex_count,
        "triangles": mesh.topology.triangles.len(),
        "materials": mesh.topology.materials.iter().map(|m| &m.name).collect::<Vec<_>>(),
        "regions": space::regions_json(mesh),
        "min": bounds.min.to_array(),
        "max": bounds.max.to_array(),
    })
}

fn inspect_scene(path: &Path) -> Result<Findings, Failure> {
    let scene = SceneFile::read(path)?;
    let built = scene.build(&Loader)?;
    let clock = *built.stage.clock();
    let mut lines = vec![
        format!("{}: scene", path.display()),
        format!(
            "frames {} to {} at {} fps, {} frames of pre-roll, {} ticks a second",
            clock.first_frame,
            clock.last_frame,
            clock.rate.fps(),
            clock.preroll_frames,
            clock.tick_hz
        ),
        "actors:".to_owned(),
    ];
    for (name, source) in &built.sources {
        lines.push(format!("  {name}: {source}"));
    }
    space::actors_at_start(&built.stage, &mut lines);
    lines.push("layers:".to_owned());
    for layer in built.stage.layers() {
        lines.push(format!("  {} {:?}", layer.kind(), layer.name()));
    }
    lines.push("shapes at the first frame:".to_owned());
    lines.extend(frame_lines(built.stage.frame()));
    let value = json!({
        "scene": path, "fps": clock.rate.fps(),
        "first_frame": clock.first_frame, "last_frame": clock.last_frame,
        "actors": built.sources,
        "space": space::actors_json(&built.stage),
        "layers": built.stage.layers().iter().map(|l| json!({ "kind": l.kind(), "name": l.name() })).collect::<Vec<_>>(),
        "hash": format!("{:032x}", built.hash),
    });
    Ok(Findings { lines, value })
}

fn frame_lines(frame: &Frame) -> Vec<String> {
    let meshes = frame.meshes.iter().map(|m| format!("  mesh {}", mesh_line(m)));
    let curves = frame.curves.iter().map(|c| {
        format!("  curves {:?}: {} with {} points", c.name, c.counts.len(), c.points.len())
    });
    let points =
        frame.points.iter().map(|p| format!("  points {:?}: {}", p.name, p.positions.len()));
    meshes.chain(curves).chain(points).collect()
}

fn inspect_cache(path: &Path) -> Result<Findings, Failure> {
    let mut reader = CacheReader::open(path)?;
    let part: PathBuf = part_path(path);
    let shown = if path.exists() { path } else { &part };
    // All of it is read: whoever asks what is in a cache wants to know whether it is whole.
    let damage = reader.verify()?;
    let header = reader.header().clone();
    let (first, last) = (reader.info().first_frame, reader.info().last_frame);
    let state = match (&damage, reader.is_finished()) {
        (Some(d), _) => format!("DAMAGED at byte {}: {}", d.offset, d.problem),
        (None, true) => "finished, every checksum good".to_owned(),
        (None, false) => "unfinished; go on with `frisson bake … --resume`".to_owned(),
    };
    let mut lines = vec![
        format!("{}: cache baked by frisson {}", shown.display(), header.program),
        format!("{state}"),
        format!("frames {first} to {last} of {} at {} fps", header.last_frame, header.rate.fps()),
    ];
    lines.extend(header.sources.iter().map(|(n, s)| format!("actor {n}: {s}")));
    lines.extend(header.layers.iter().map(|(k, n)| format!("layer {k} {n:?}")));
    let kinds = [Kind::Topology, Kind::Frame, Kind::Report, Kind::Checkpoint, Kind::Pause];
    for kind in kinds {
        let blocks = reader.blocks().iter().filter(|e| e.kind == kind);
        let (count, stored, raw) =
            blocks.fold((0, 0, 0), |(c, s, r), e| (c + 1, s + e.stored, r + e.raw));
        if count > 0 {
            lines.push(format!(
                "{count} {kind:?} blocks: {} ({} unpacked)",
                human_bytes(stored),
                human_bytes(raw)
            ));
        }
    }
    if last >= first {
        let mut frame = Frame::default();
        if reader.read_frame(last, &mut frame).is_ok() {
            lines.push(format!("shapes at frame {last}:"));
            lines.extend(frame_lines(&frame));
        }
    }
    let value = json!({
        "cache": shown, "finished": reader.is_finished(),
        "damage": damage.map(|d| json!({ "offset": d.offset, "problem": d.problem })),
        "first_frame": first, "last_frame": last, "planned_last_frame": header.last_frame,
        "fps": header.rate.fps(), "actors": header.sources, "layers": header.layers,
        "scene_hash": format!("{:032x}", header.scene_hash),
    });
    Ok(Findings { lines, value })
}
