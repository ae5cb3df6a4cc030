//! A first scene file for a character: what its rig, names and clip say should follow by itself.
//!
//! Nothing is written; [`Request::scene_for`] gives the text.

mod cloth;
mod cover;
mod flesh;
mod head;
mod layer;
mod pins;
mod springs;
mod units;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frisson::character::{Character, Pose, Sampling};
use frisson::geometry::{Bounds, Mesh};
use frisson::layers::flesh::propose;
use frisson::layers::wrinkles::{ToolProposal, propose_tools};
use frisson::stage::{Actor, Anchor, ClipPlay};
use frisson_io::gltf::{Document, Vrm};
use frisson_io::scene::{ActorContent, ActorLoader};
use glam::Vec3;

use self::cloth::{hangs, propose_cloth};
use self::flesh::{flesh_layers, is_soft, words_on_flesh};
use self::head::{propose_drops, propose_hair};
pub use self::layer::Proposed;
use self::springs::{propose_by_parts, spring_colliders, spring_layers};
use self::units::size_of;
use crate::{Loader, WorkshopError};

/// Names of two proposed layers.
const COAT: &str = "coat";
const SWEAT: &str = "sweat";
/// A proposed coat: its thickness in greatest extents of the character, its reach and its cells in
/// thicknesses [-]. Cells of a three hundredth of the whole: the fingers of a person stay apart.
const COAT_THICKNESS: f32 = 0.03;
const COAT_REACH: f32 = 1.3;
const COAT_CELL: f32 = 0.1;
/// Most cells of a proposed coat's surface [-]: a bulky character has more surface than one of limbs, and a frame
/// should take seconds. A twentieth of what the layer allows.
const COAT_CELLS: f64 = 1.0e5;

/// Least volume of what is coated over its area to the power of 1.5 [-]: 0.09 of a ball, 0.02 of a person, 0 of a sheet.
const LEAST_ENCLOSED: f64 = 1e-3;

/// How far its end may be from its start, in sizes of the character, for a clip to be a cycle [-].
const CLOSED: f32 = 0.01;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// A .glb, .gltf, .vrm, .fbx or USD file, or builtin:NAME.
    pub character: String,
    /// Clip to play, by name; the first without one.
    pub clip: Option<String>,
    /// Frames per second.
    pub fps: u32,
    /// Names of proposed layers to switch on beyond the usual ones; `all` for all.
    pub with: Vec<String>,
}

/// A scene that was proposed.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The scene file's text.
    pub text: String,
    /// The layers, on and off, in order.
    pub layers: Vec<Proposed>,
    /// Files that were read for it.
    pub inputs: Vec<PathBuf>,
    /// Whether nothing animates the character.
    pub is_still: bool,
}

impl Proposal {
    /// The scene with every proposed layer switched on.
    #[must_use]
    pub fn with_all(&self) -> String {
        let mut text = self.text.clone();
        for layer in self.layers.iter().filter(|l| !l.is_on) {
            let off: String = layer.text.lines().map(|line| format!("# {line}\n")).collect();
            // By its text, not its name: two wrinkled meshes may have lines in common, but not all of them.
            text = text.replacen(&off, &format!("{}\n", layer.text), 1);
        }
        text
    }
}

impl Request {
    /// The scene file's usual name: the character's, beside it.
    pub fn default_output(&self) -> PathBuf {
        match self.character.strip_prefix("builtin:") {
            Some(name) => PathBuf::from(format!("{name}.toml")),
            None => Path::new(&self.character).with_extension("toml"),
        }
    }

    /// Reads the character and proposes a scene that will be kept as `output`.
    pub fn scene_for(&self, output: &Path) -> Result<Proposal, WorkshopError> {
        let loaded = Loader.load(&self.character, Path::new(""))?;
        let inputs = loaded.files.clone();
        let ActorContent::Character(character) = loaded.content else {
            return Err(WorkshopError::input(format!("{} holds no character", self.character)));
        };
        let vrm = self.read_vrm(&character);
        let (text, layers) = self.scene_text(&character, vrm.as_ref(), output)?;
        let is_still = character.clips.is_empty();
        Ok(Proposal { text, layers, inputs, is_still })
    }

    /// What a VRM says beyond glTF.
    fn read_vrm(&self, character: &Character) -> Option<Vrm> {
        let path = Path::new(&self.character);
        if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("vrm")) {
            return None;
        }
        // Read for the second time, as plain glTF has lost what only a VRM says; a fault was reported the first time.
        let document = Document::open(path).ok()?;
        Vrm::read(&document, &character.skeleton).ok().flatten()
    }

    /// The actor's name: the character's.
    fn actor_name(&self) -> String {
        let stem = match self.character.strip_prefix("builtin:") {
            Some(name) => name.to_owned(),
            None => {
                let stem = Path::new(&self.character).file_stem();
                stem.map_or_else(String::new, |s| s.to_string_lossy().into_owned())
            }
        };
        let key = bare_key(stem.trim_end_matches(['#', '.']));
        if key.is_empty() { "actor".to_owned() } else { key }
    }

    fn scene_text(
        &self,
        character: &Arc<Character>,
        vrm: Option<&Vrm>,
        output: &Path,
    ) -> Result<(String, Vec<Proposed>), WorkshopError> {
        let stem = output.file_stem().and_then(|s| s.to_str()).unwrap_or("shot");
        let actor = self.actor_name();
        let mut text = String::new();
        let _ =
            writeln!(text, "# {stem}: a first scene. `frisson explain NAME` explains every word.");
        let _ = writeln!(text, "frisson = 2\nfps = {}", self.fps);
        if character.clips.is_empty() {
            let _ = writeln!(text, "frames = [0, 100]   # the character has no clip");
        }
        text.push('\n');
        let _ = writeln!(text, "[actors.{actor}]\nsource = {:?}", self.source_beside(output));
        let clip = match &self.clip {
            Some(name) => Some(find_clip(character, name)?),
            None => (!character.clips.is_empty()).then_some(0),
        };
        for (index, other) in character.clips.iter().enumerate() {
            let mark = if Some(index) == clip { "" } else { "# " };
            let _ = writeln!(text, "{mark}clip = {:?}   # {:.2} s", other.name, other.duration());
        }
        let size = size_of(character, vrm.is_some());
        let placement = size.placement;
        if placement.scale != 1.0 {
            let _ = write!(text, "placement = {{ scale = {} }}   ", placement.scale);
        }
        if let Some(remark) = size.remark {
            let _ = writeln!(text, "# {remark}");
        }
        let resting = Actor::character_named(actor, Arc::clone(character)).placed(placement);
        let moving = clip.map(|clip| {
            let moving = resting.clone().playing(ClipPlay::new(clip));
            (moving, character.clips[clip].duration())
        });
        let closes = moving.as_ref().is_some_and(|(who, duration)| closes(who, *duration));
        if closes {
            let _ = writeln!(text, "loop = true   # its last pose is its first");
        }
        if let Some(vrm) = vrm {
            text.push_str(&spring_colliders(&resting, character, vrm));
        }
        let mut layers = self.layers(character, vrm, &resting, moving.as_ref(), closes);
        self.switch_on(&mut layers)?;
        words_on_flesh(&mut text, &layers, is_soft(character));
        layers.iter().for_each(|layer| layer.write(&mut text));
        let _ = writeln!(text, "\n[[exports]]\nalembic = {:?}", format!("{stem}.abc"));
        Ok((text, layers))
    }

    /// All that could follow by itself, in the order of the stack.
    fn layers(
        &self,
        character: &Arc<Character>,
        vrm: Option<&Vrm>,
        resting: &Actor,
        moving: Option<&(Actor, f64)>,
        closes: bool,
    ) -> Vec<Proposed> {
        let flesh = match vrm {
            _ if !is_soft(character) => Vec::new(),
            Some(vrm) => propose_by_parts(resting, character, vrm),
            None => propose(resting),
        };
        let mut layers = flesh_layers(&flesh, closes);
        if let Some(vrm) = vrm {
            layers.extend(spring_layers(resting, character, vrm));
        }
        // Boxes and spheres of a selection are given where the actors stand at the first frame.
        let start = moving.map_or(resting, |(who, _)| who);
        let at_start = posed(start, 0.0);
        layers.extend(propose_cloth(character, &posed(resting, 0.0), &at_start));
        if let Some((moving, duration)) = moving {
            layers.extend(propose_wrinkles(resting, moving, *duration));
        }
        if is_soft(character) || character.skins.is_empty() {
            layers.extend(propose_hair(start, character, &at_start));
        }
        // Hard parts do not press, and nobody wonders at sweat on a lamp.
        if is_soft(character) || is_one_body(character) {
            layers.extend(propose_coat(resting, character));
            layers.extend(propose_drops(character, &at_start));
        }
        layers
    }

    /// Switches on what was asked for by name.
    fn switch_on(&self, layers: &mut [Proposed]) -> Result<(), WorkshopError> {
        for wanted in &self.with {
            let named = |layer: &&mut Proposed| wanted == "all" || layer.name == *wanted;
            let count = layers.iter_mut().filter(named).map(|layer| layer.is_on = true).count();
            // All of nothing is nothing.
            if count == 0 && wanted != "all" {
                let text = format!("no layer named {wanted:?} is proposed for this character");
                let names: Vec<&str> = layers.iter().map(|l| l.name.as_str()).collect();
                return Err(WorkshopError::advised(
                    text,
                    format!("proposed: {}", names.join(", ")),
                ));
            }
        }
        sweat_on_coat(layers);
        Ok(())
    }

    /// The source as the scene file must spell it: relative to the scene's folder where it can be.
    fn source_beside(&self, output: &Path) -> String {
        if self.character.starts_with("builtin:") {
            return self.character.clone();
        }
        let source = Path::new(&self.character);
        let folder = output.parent().unwrap_or(Path::new(""));
        if source.parent() == Some(folder) {
            return source.file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
        }
        std::path::absolute(source).unwrap_or_else(|_| source.to_owned()).to_string_lossy().into()
    }
}

/// Below a coat nobody sees sweat: it forms on what is worn outside.
fn sweat_on_coat(layers: &mut [Proposed]) {
    if !layers.iter().any(|l| l.name == COAT && l.is_on) {
        return;
    }
    for sweat in layers.iter_mut().filter(|l| l.name == SWEAT) {
        let on_coat = |line: &str| match line.starts_with("on = ") {
            true => format!("on = {COAT:?}"),
            false => line.to_owned(),
        };
        sweat.text = sweat.text.lines().map(on_coat).collect::<Vec<_>>().join("\n");
    }
}

/// Whether a character is a single mesh: a thing of its own, whatever it is of, and not one of many parts.
fn is_one_body(character: &Character) -> bool {
    character.meshes.len() == 1
}

/// A coat fitted to the skin; it would take the skin's place. What is held, worn or hangs is not coated.
fn propose_coat(resting: &Actor, character: &Character) -> Option<Proposed> {
    let mut meshes = posed(resting, 0.0);
    let is_skin = |index: usize| {
        character.meshes[index].skin.is_some() && !hangs(&character.meshes[index].mesh.name)
    };
    let skins: Vec<usize> = (0..meshes.len()).filter(|i| is_skin(*i)).collect();
    let all = skins.is_empty() || skins.len() == meshes.len();
    if !all {
        meshes = skins.iter().map(|i| meshes[*i].clone()).collect();
    }
    let points: Vec<Vec3> = meshes.iter().flat_map(|m| m.positions.iter().copied()).collect();
    if points.is_empty() {
        return None;
    }
    let bounds = Bounds::of(&points);
    let thickness = COAT_THICKNESS * (bounds.max - bounds.min).max_element();
    let area: f64 = meshes.iter().map(Mesh::area).sum();
    if !encloses(&meshes, bounds.center(), area) {
        return None;
    }
    // Finer than its thickness asks for where it can be, coarser where that would be too many.
    let cell = (COAT_CELL * thickness).max((area / COAT_CELLS).sqrt() as f32);
    let reach = COAT_REACH * thickness;
    let name = &resting.name;
    let hidden: Vec<&str> =
        if all { vec![name] } else { meshes.iter().map(|m| m.name.as_str()).collect() };
    let only = if all { String::new() } else { format!(", meshes = {hidden:?}") };
    let [cell, thickness, reach] = [cell, thickness, reach].map(three_digits);
    let text = format!(
        "[[layers]]\n[layers.soft]\nname = {COAT:?}\nseeds = 64\ncell = {cell}\n\
         [[layers.soft.objects]]\nname = \"flesh\"\nthickness = {thickness}\nsupport = {reach}\n\
         coat = {{ on = {name:?}{only} }}\n[camera]\nhide = {hidden:?}"
    );
    let why = "A soft body in place of the skin: coats fitted to it, that press on each other and on\n\
               other soft bodies. Take the marks away to try it.";
    Some(Proposed::off(COAT, why, text))
}

/// Whether meshes enclose something: a flat sheet has no inside to fill.
fn encloses(meshes: &[Mesh], center: Vec3, area: f64) -> bool {
    let volume = |m: &Mesh| -> f64 {
        let at = |v: u32| (m.positions[v as usize] - center).as_dvec3();
        let six_times = |t: &[u32; 3]| at(t[0]).dot(at(t[1]).cross(at(t[2])));
        m.topology.triangles.iter().map(six_times).sum::<f64>() / 6.0
    };
    meshes.iter().map(|m| volume(m).abs()).sum::<f64>() > LEAST_ENCLOSED * area.powf(1.5)
}

/// A length with three digits that count, for characters of any size.
fn three_digits(value: f32) -> String {
    let first = value.abs().max(f32::MIN_POSITIVE).log10().floor() as i32;
    format!("{value:.*}", (2 - first).clamp(1, 30) as usize)
}

/// All meshes of an actor at a time.
fn posed(who: &Actor, time: f64) -> Vec<Mesh> {
    let (mut pose, mut meshes) = (Pose::default(), who.source_meshes());
    who.pose_at(time, Sampling::AsAuthored, &mut pose);
    who.deform(time, &pose, &mut meshes);
    meshes
}

/// Whether a clip ends where it began, to a hundredth of the character's size.
fn closes(who: &Actor, duration: f64) -> bool {
    let (first, last) = (posed(who, 0.0), posed(who, duration));
    let points = |meshes: &[Mesh]| meshes.iter().flat_map(|m| m.positions.clone()).collect();
    let (first, last): (Vec<Vec3>, Vec<Vec3>) = (points(&first), points(&last));
    let size = Bounds::of(&first).diagonal();
    duration > 0.0 && first.iter().zip(&last).all(|(a, b)| a.distance(*b) < CLOSED * size)
}

/// Folds that are proposed on one mesh, at most: more than a person wants to judge one by one.
const MOST_TOOLS: usize = 4;
/// Vertices beyond which a mesh is looked at fewer times.
const LARGE_MESH: usize = 100_000;

/// Wrinkle tools where the clip compresses the meshes.
///
/// Both actors are the same, placed as in the scene, so that widths come out in its metres.
fn propose_wrinkles(resting: &Actor, moving: &Actor, duration: f64) -> Vec<Proposed> {
    let meshes = posed(resting, 0.0);
    let Some(character) = moving.character() else { return Vec::new() };
    let mut pose = Pose::default();
    let mut layers = Vec::new();
    for (index, mesh) in meshes.iter().enumerate() {
        let own = &character.meshes[index];
        // A part that only grows or shrinks as a whole does not fold.
        if own.skin.is_none() && own.morphs.is_empty() {
            continue;
        }
        // Fewer instants of large meshes: what is compressed much is so for a while.
        let count = if mesh.positions.len() > LARGE_MESH { 8 } else { 24 };
        let sample = |i: usize| {
            let time = duration * i as f64 / count as f64;
            moving.pose_at(time, Sampling::AsAuthored, &mut pose);
            let mut positions = Vec::new();
            character.deform_mesh_positions(index, &pose, &mut positions);
            (time, positions)
        };
        let samples: Vec<(f64, Vec<Vec3>)> = (0..count).map(sample).collect();
        let proposals = propose_tools(mesh, &samples, MOST_TOOLS);
        if proposals.is_empty() {
            continue;
        }
        let (on, name) = (&mesh.name, format!("wrinkles_{}", index + 1));
        let tools: String = proposals.iter().filter_map(tool_line).collect();
        let text = format!(
            "[[layers]]\n[layers.wrinkles]\nname = {name:?}\non = {on:?}\ntools = [\n{tools}]"
        );
        let why = format!("The clip compresses {on} here: take the # away to fold it.");
        layers.push(Proposed::off(name, why, text));
    }
    layers
}

fn tool_line(p: &ToolProposal) -> Option<String> {
    let (Anchor::Vertex(a), Anchor::Vertex(b)) = (&p.tool.a, &p.tool.b) else { return None };
    let amount = p.tool.amount.at(0.0);
    let amount = if amount < 1.0 { format!("amount = {amount:.2}, ") } else { String::new() };
    Some(format!(
        "  {{ name = {:?}, a = {a}, b = {b}, width = {:.4}, folds = {}, {amount}\
         jitter = {{ spacing = 0.4, height = 0.3, angle_deg = 8, seed = {} }} }}, # shortened by {:.0}% at {:.2} s\n",
        p.tool.name,
        p.tool.width,
        p.tool.folds,
        p.tool.jitter.seed,
        100.0 * p.compression,
        p.time
    ))
}

fn find_clip(character: &Character, name: &str) -> Result<usize, WorkshopError> {
    if let Some(index) = character.clip_index(name) {
        return Ok(index);
    }
    let names: Vec<&str> = character.clips.iter().map(|c| c.name.as_str()).collect();
    let text = format!("there is no clip named {name:?}");
    Err(WorkshopError::advised(text, format!("its clips: {}", names.join(", "))))
}

/// A TOML key made of a file name.
fn bare_key(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(plain).collect()
}
