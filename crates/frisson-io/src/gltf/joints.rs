//! Flesh as joints: a GLB whose skeleton has grown a few joints that carry the swing, so that any
//! engine plays it as plain skinning.
//!
//! ```text
//!   joint ──► twin      child of the joint, no turn of its own, moved by the elongation u
//!   weights:  w  →  w - t  on the joint,  t on its twin,  with the t of a vertex adding up to alpha
//! ```
//! Linear blending then gives `P + alpha u`: exactly the layer's answer, as long as a vertex has room
//! for one more joint. Engines allow four; where a fifth is needed, the lightest joint's weight goes to
//! its neighbour in the skeleton, and the report says how far off that is.

use std::path::Path;
use std::sync::Arc;

use frisson::character::{
    Character, Clip, Influences, Interpolation, Node, Pose, Sampling, Skeleton, Skin, Track,
    TrackTarget, Transform,
};
use frisson::layers::flesh::{FleshLayer, FleshWeights};
use frisson::stage::{Actor, NoObserver, Running, Simulator};
use glam::{Mat4, Quat, Vec3};

use super::document::Document;
use super::error::{GltfError, Result};
use super::joints_document::GrownFile;
use super::write_character::write_character;
use crate::Progress;

/// How flesh is written as joints.
#[derive(Clone, Debug)]
pub struct JointsOptions {
    /// Most joints a vertex may follow: 4 for any engine, 8 for those that read a second set.
    pub max_influences: usize,
    /// Name of the animation.
    pub animation: String,
    /// Whether an existing file may be replaced.
    pub overwrite: bool,
}

impl Default for JointsOptions {
    fn default() -> Self {
        Self { max_influences: 4, animation: "frisson".to_owned(), overwrite: false }
    }
}

/// What was written and how true it is.
#[derive(Clone, Debug, Default)]
pub struct JointsReport {
    /// Size of the file.
    pub bytes: u64,
    /// Flesh elements written.
    pub elements: usize,
    /// Joints added.
    pub joints: usize,
    /// Frames written.
    pub frames: usize,
    /// Greatest elongation of any element [m].
    pub peak: f32,
    /// Largest distance of each vertex of the meshes that flesh moves from the exact layer over the
    /// shot [m].
    pub errors: Vec<f32>,
    /// What to know, for people.
    pub warnings: Vec<String>,
}

/// Share of the peak elongation above which a vertex is said not to be close.
const CLOSE: f32 = 0.01;

impl JointsReport {
    /// Largest distance of any vertex [m].
    #[must_use]
    pub fn max_error(&self) -> f32 {
        self.errors.iter().copied().fold(0.0, f32::max)
    }

    /// Distance that 99 of 100 vertices stay below [m].
    #[must_use]
    pub fn p99_error(&self) -> f32 {
        let mut sorted = self.errors.clone();
        sorted.sort_by(f32::total_cmp);
        let at = (sorted.len() * 99).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or(0.0)
    }

    /// Vertices further off than 1% of the peak elongation.
    #[must_use]
    pub fn far_vertices(&self) -> usize {
        self.errors.iter().filter(|&&e| e > CLOSE * self.peak).count()
    }
}

/// One added joint.
struct Twin {
    /// Index of the flesh layer in the stage.
    layer: usize,
    /// Joint it copies.
    joint: usize,
    /// Its node.
    node: usize,
}

/// Runs a stage from its start and writes one of its actors as a GLB with flesh as joints.
///
/// With the document that the actor was read from, everything of it is kept: materials, textures,
/// attributes, extensions such as VRM; only joints, weights and one animation are added.
pub fn export_joints(
    stage: &mut Simulator,
    actor: usize,
    input: Option<&Document>,
    path: &Path,
    options: &JointsOptions,
    progress: &mut dyn Progress,
) -> Result<JointsReport> {
    super::builder::refuse_existing(path, options.overwrite)?;
    let mut export = JointsExport::new(stage, actor, options)?;
    let clock = *stage.clock();
    let total = clock.frame_count() + u64::from(clock.preroll_frames);
    for done in 0..total {
        if stage.frame_number() >= clock.first_frame {
            export.add_frame(stage);
        }
        if !progress.advance(done + 1, total) {
            return Err(GltfError::Stopped);
        }
        if done + 1 < total {
            let failed = |e: frisson::stage::SimulatorError| GltfError::Unsupported(e.to_string());
            stage.advance_frame(&mut NoObserver).map_err(failed)?;
        }
    }
    export.finish(stage, input, path, options)
}

struct JointsExport {
    actor: usize,
    character: Character,
    clip: Clip,
    twins: Vec<Twin>,
    seconds_per_frame: f64,
    pose: Pose,
    positions: Vec<Vec3>,
    report: JointsReport,
    /// Meshes that flesh moves: the only ones whose weights change and that are measured.
    about: Vec<usize>,
    /// Who it was before.
    original: Arc<Character>,
}

fn flesh_of(stage: &Simulator, layer: usize, actor: usize) -> Option<&Running<FleshLayer>> {
    let known = stage.layers()[layer].as_any().downcast_ref::<Running<FleshLayer>>()?;
    (known.rest().actor == actor).then_some(known)
}

impl JointsExport {
    fn new(stage: &Simulator, actor: usize, options: &JointsOptions) -> Result<Self> {
        let whose = &stage.actors().all()[actor];
        let Some(source) = whose.character() else {
            let problem = "is no character: there are no joints to add to";
            return Err(GltfError::invalid(format!("{:?}", whose.name), problem));
        };
        let mut grown = Grown::new(source, stage.actors().mesh_range(actor).start);
        let mut report = JointsReport::default();
        for layer in 0..stage.layers().len() {
            if let Some(flesh) = flesh_of(stage, layer, actor) {
                report.elements += 1;
                for weights in &flesh.rest().weights {
                    grown.take(layer, weights);
                }
            } else {
                let (kind, name) = (stage.layers()[layer].kind(), stage.layers()[layer].name());
                let text = format!("{kind} {name:?} is left out: only flesh becomes joints");
                report.warnings.push(text);
            }
        }
        if report.elements == 0 {
            let problem = "carries no flesh: there is nothing to write as joints";
            return Err(GltfError::invalid(format!("{:?}", whose.name), problem));
        }
        let names: Vec<String> = stage.layers().iter().map(|l| l.name().to_owned()).collect();
        let about = grown.swung_meshes();
        let (character, twins) = grown.finish(&names, options.max_influences)?;
        report.joints = twins.len();
        let clip = empty_clip(whose, &twins, &options.animation);
        let count = about.iter().map(|&m| character.meshes[m].mesh.positions.len()).sum();
        report.errors = vec![0.0; count];
        Ok(Self {
            actor,
            character,
            clip,
            twins,
            seconds_per_frame: 1.0 / stage.clock().rate.fps(),
            pose: Pose::default(),
            positions: Vec::new(),
            report,
            about,
            original: Arc::clone(source),
        })
    }

    /// Keys of the frame the stage stands at, and how far they are from it.
    fn add_frame(&mut self, stage: &Simulator) {
        let actor = &stage.actors().all()[self.actor];
        let time = stage.frame().time;
        let key = self.report.frames as f64 * self.seconds_per_frame;
        self.clip.tracks.iter_mut().for_each(|t| t.times.push(key as f32));
        let sampled = actor.clip().map_or(&[][..], |c| &c.tracks);
        for (source, track) in sampled.iter().zip(&mut self.clip.tracks) {
            let start = track.values.len();
            track.values.resize(start + track.width, 0.0);
            source.sample(actor.clip_time(time), Sampling::AsAuthored, &mut track.values[start..]);
        }
        let world = &stage.actors().pose(self.actor).world_from_node;
        let first = sampled.len();
        for (index, twin) in self.twins.iter().enumerate() {
            let Some(flesh) = flesh_of(stage, twin.layer, self.actor) else { continue };
            let Some(swing) = flesh.swing(stage.clock(), stage.actors(), time) else { continue };
            self.report.peak = self.report.peak.max(swing.elongation.length());
            let moved = world[twin.joint].inverse() * swing.world_motion() * world[twin.joint];
            let (_, rotation, translation) = moved.to_scale_rotation_translation();
            let track = &mut self.clip.tracks[first + 2 * index].values;
            track.extend_from_slice(&translation.to_array());
            // Without a turn the rotation is the rounding of two matrices: leave it out.
            let turned = swing.turn != Vec3::ZERO;
            let rotation = if turned { rotation } else { Quat::IDENTITY };
            self.clip.tracks[first + 2 * index + 1].values.extend_from_slice(&rotation.to_array());
        }
        self.compare(stage, key);
        self.report.frames += 1;
    }

    /// Poses the new character as an engine would and measures against the frame.
    fn compare(&mut self, stage: &Simulator, key: f64) {
        let now = |t: &Track| Track {
            times: vec![key as f32],
            values: t.values[t.values.len() - t.width..].to_vec(),
            target: t.target,
            interpolation: t.interpolation,
            width: t.width,
        };
        let clip = Clip { name: String::new(), tracks: self.clip.tracks.iter().map(now).collect() };
        let world = stage.actors().all()[self.actor].placement.world_from_actor();
        self.pose.set(&self.character, Some(&clip), key, Sampling::AsAuthored, world);
        let mut errors = self.report.errors.iter_mut();
        let first = stage.actors().mesh_range(self.actor).start;
        for &index in &self.about {
            self.character.deform_mesh_positions(index, &self.pose, &mut self.positions);
            let exact = &stage.frame().meshes[first + index].positions;
            for (i, p) in self.positions.iter().enumerate() {
                if let Some(error) = errors.next() {
                    let off = exact.get(i).map_or(0.0, |e| e.distance(*p));
                    *error = error.max(off);
                }
            }
        }
    }

    fn finish(
        mut self,
        stage: &Simulator,
        input: Option<&Document>,
        path: &Path,
        options: &JointsOptions,
    ) -> Result<JointsReport> {
        // Joints that never turn need no key for it.
        self.clip.tracks.retain(|t| {
            let twin = self.twins.iter().any(|w| t.target == TrackTarget::Rotation(w.node));
            !twin || t.values.chunks(4).any(|q| q != [0.0, 0.0, 0.0, 1.0])
        });
        self.say_if_not_enough();
        let Some(document) = input else {
            self.character.clips.insert(0, self.clip);
            self.character.name = stage.actors().all()[self.actor].name.clone();
            self.report.bytes = write_character(&self.character, path, options.overwrite)?;
            return Ok(self.report);
        };
        let file = GrownFile {
            original: &self.original,
            grown: &self.character,
            reskinned: &self.about,
            clip: &self.clip,
        };
        let (bytes, warnings) = file.write(document, path, options.overwrite)?;
        self.report.bytes = bytes;
        self.report.warnings.extend(warnings);
        Ok(self.report)
    }

    /// Joints carry what follows joints; where that is not close, the report says so in plain words.
    fn say_if_not_enough(&mut self) {
        let (far, all) = (self.report.far_vertices(), self.report.errors.len());
        if far > 0 {
            self.report.warnings.push(format!(
                "joints are not enough here: {far} of the {all} vertices they move are further than \
                 1% of the greatest swing from the exact layer (up to {:.2} mm); allow more joints a \
                 vertex, or write the shapes of every frame (morph targets) instead",
                1e3 * self.report.max_error()
            ));
        }
    }
}

/// The clip's own tracks, then translation and rotation of every twin; no keys yet.
fn empty_clip(actor: &Actor, twins: &[Twin], name: &str) -> Clip {
    let empty = |target: TrackTarget, width: usize| Track {
        target,
        interpolation: Interpolation::Linear,
        times: Vec::new(),
        values: Vec::new(),
        width,
    };
    let own = actor.clip().map_or(&[][..], |c| &c.tracks);
    let mut tracks: Vec<Track> = own.iter().map(|t| empty(t.target, t.width)).collect();
    for twin in twins {
        tracks.push(empty(TrackTarget::Translation(twin.node), 3));
        tracks.push(empty(TrackTarget::Rotation(twin.node), 4));
    }
    Clip { name: name.to_owned(), tracks }
}

/// A character that grows twins.
struct Grown {
    character: Character,
    nodes: Vec<Node>,
    /// Of every vertex of every mesh: the joints it follows, and the elements that swing it.
    vertices: Vec<Vec<Vertex>>,
    twins: Vec<Twin>,
    first_mesh: usize,
}

#[derive(Clone, Default)]
struct Vertex {
    /// Node and weight.
    joints: Vec<(usize, f32)>,
    /// Layer and alpha.
    swings: Vec<(usize, f32)>,
}

impl Grown {
    fn new(source: &Arc<Character>, first_mesh: usize) -> Self {
        let character = Character::clone(source);
        let nodes = character.skeleton.nodes().to_vec();
        let mut vertices = Vec::new();
        for mesh in &source.meshes {
            // What rides rigidly on a node is skinned to it alone.
            let skin = mesh.skin.map(|s| &source.skins[s]);
            let vertex = |v: usize| Vertex {
                joints: match skin {
                    Some(skin) => {
                        mesh.influences.of(v).map(|(j, w)| (skin.joints[j as usize], w)).collect()
                    }
                    None => vec![(mesh.node, 1.0)],
                },
                swings: Vec::new(),
            };
            vertices.push((0..mesh.mesh.positions.len()).map(vertex).collect());
        }
        Self { character, nodes, vertices, twins: Vec::new(), first_mesh }
    }

    fn take(&mut self, layer: usize, weights: &FleshWeights) {
        let mesh = &mut self.vertices[weights.mesh - self.first_mesh];
        for (&vertex, &alpha) in weights.vertices.iter().zip(&weights.alphas) {
            mesh[vertex as usize].swings.push((layer, alpha));
        }
    }

    /// Meshes that an element swings.
    fn swung_meshes(&self) -> Vec<usize> {
        let swings = |mesh: &Vec<Vertex>| mesh.iter().any(|v| !v.swings.is_empty());
        (0..self.vertices.len()).filter(|&m| swings(&self.vertices[m])).collect()
    }

    /// The twin of a joint for an element, made on first use.
    fn twin(&mut self, layer: usize, name: &str, joint: usize) -> usize {
        if let Some(twin) = self.twins.iter().find(|t| (t.layer, t.joint) == (layer, joint)) {
            return twin.node;
        }
        let node = self.nodes.len();
        self.nodes.push(Node {
            name: format!("{}.{name}", self.nodes[joint].name),
            parent: Some(joint),
            rest: Transform::default(),
        });
        self.twins.push(Twin { layer, joint, node });
        node
    }

    /// Shares the weights between joints and twins, at most `limit` a vertex; `names` are the
    /// layers'.
    fn finish(mut self, names: &[String], limit: usize) -> Result<(Character, Vec<Twin>)> {
        let hops = hops(&self.character.skeleton);
        for index in 0..self.character.meshes.len() {
            let mut lists = Vec::new();
            let vertices = std::mem::take(&mut self.vertices[index]);
            if vertices.iter().all(|v| v.swings.is_empty()) {
                continue;
            }
            for vertex in vertices {
                let shared = vertex.share(limit, &hops);
                let node = |(joint, layer, weight): (usize, Option<usize>, f32)| match layer {
                    Some(layer) => (self.twin(layer, &names[layer], joint), weight),
                    None => (joint, weight),
                };
                lists.push(shared.into_iter().map(node).collect());
            }
            self.reskin(index, lists);
        }
        let invalid =
            |e: frisson::character::SkeletonError| GltfError::invalid("skeleton", e.to_string());
        self.character.skeleton = Skeleton::new(self.nodes).map_err(invalid)?;
        drop_unused_skins(&mut self.character);
        Ok((self.character, self.twins))
    }

    /// Gives a mesh a skin of its own with the twins it needs.
    fn reskin(&mut self, index: usize, lists: Vec<Vec<(usize, f32)>>) {
        let mesh = &mut self.character.meshes[index];
        let mut skin = match mesh.skin {
            Some(skin) => self.character.skins[skin].clone(),
            None => Skin {
                name: mesh.mesh.name.clone(),
                joints: vec![mesh.node],
                inverse_bind: vec![Mat4::IDENTITY],
            },
        };
        let mut place = vec![None; self.nodes.len()];
        skin.joints.iter().enumerate().for_each(|(at, &node)| place[node] = Some(at));
        for twin in &self.twins {
            if let Some(original) = place[twin.joint] {
                place[twin.node] = Some(skin.joints.len());
                skin.joints.push(twin.node);
                skin.inverse_bind.push(skin.inverse_bind[original]);
            }
        }
        let entry = |(node, w): (usize, f32)| (place[node].unwrap_or(0) as u16, w);
        let lists: Vec<Vec<(u16, f32)>> =
            lists.into_iter().map(|l| l.into_iter().map(entry).collect()).collect();
        mesh.influences = Influences::from_lists(&lists);
        mesh.skin = Some(self.character.skins.len());
        self.character.skins.push(skin);
    }
}

/// Joints between any two nodes, one way up and the other down.
fn hops(skeleton: &Skeleton) -> Vec<Vec<u16>> {
    let nodes = skeleton.nodes();
    let way =
        |n: usize| std::iter::successors(Some(n), |&at| nodes[at].parent).collect::<Vec<usize>>();
    let ways: Vec<Vec<usize>> = (0..nodes.len()).map(way).collect();
    let between = |a: &Vec<usize>, b: &Vec<usize>| {
        let common = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
        (a.len() + b.len() - 2 * common) as u16
    };
    ways.iter().map(|a| ways.iter().map(|b| between(a, b)).collect()).collect()
}

impl Vertex {
    /// Weights of joints (no layer) and of their twins. The twins of an element have `alpha` in all;
    /// a joint and its twins have the joint's weight, unless `limit` asks for joints to be merged.
    ///
    /// ```text
    ///   joints    |-------- a --------|------ b ------|--- c ---|     heaviest first
    ///   swings    |---- 1 ----|- 2 -|---------- at rest --------|
    ///   shares    |   a1      | a2  |a|      b        |    c    |
    /// ```
    fn share(mut self, limit: usize, hops: &[Vec<u16>]) -> Vec<(usize, Option<usize>, f32)> {
        if self.swings.is_empty() {
            return self.joints.into_iter().map(|(j, w)| (j, None, w)).collect();
        }
        // At least one slot is left for what the vertex follows at rest.
        self.swings.sort_by(|a, b| b.1.total_cmp(&a.1));
        self.swings.truncate(limit.max(2) - 1);
        loop {
            self.joints.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let shares = self.overlay();
            if shares.len() <= limit.max(2) || self.joints.len() == 1 {
                return shares;
            }
            self.merge(hops);
        }
    }

    fn overlay(&self) -> Vec<(usize, Option<usize>, f32)> {
        let sum: f32 = self.swings.iter().map(|s| s.1).sum();
        let scale = if sum > 1.0 { 1.0 / sum } else { 1.0 };
        let whole: f32 = self.joints.iter().map(|j| j.1).sum();
        let mut shares = Vec::new();
        let rest = (1.0 - sum).max(0.0);
        let parts = self.swings.iter().map(|&(layer, a)| (Some(layer), a * scale));
        let mut joints = self.joints.iter().map(|&(j, w)| (j, w / whole));
        let (mut joint, mut room) = joints.next().unwrap_or((0, 1.0));
        for (layer, mut wanted) in parts.chain([(None, rest)]) {
            // Below this a share is rounding.
            while wanted > 1e-6 {
                if room <= 1e-6 {
                    match joints.next() {
                        Some(next) => (joint, room) = next,
                        None => break,
                    }
                }
                let share = wanted.min(room);
                shares.push((joint, layer, share));
                wanted -= share;
                room -= share;
            }
        }
        shares
    }

    /// Gives one joint's weight to another: the lightest, to the nearest in the skeleton.
    fn merge(&mut self, hops: &[Vec<u16>]) {
        let mut best: Option<(f32, usize, usize)> = None;
        for (i, &(from, weight)) in self.joints.iter().enumerate() {
            for (k, &(to, _)) in self.joints.iter().enumerate().filter(|(k, _)| *k != i) {
                let cost = weight * f32::from(hops[from][to]);
                if best.is_none_or(|(least, _, _)| cost < least) {
                    best = Some((cost, i, k));
                }
            }
        }
        if let Some((_, from, to)) = best {
            self.joints[to].1 += self.joints[from].1;
            self.joints.remove(from);
        }
    }
}

fn drop_unused_skins(character: &mut Character) {
    let used = |s: usize| character.meshes.iter().any(|m| m.skin == Some(s));
    let kept: Vec<usize> = (0..character.skins.len()).filter(|&s| used(s)).collect();
    character.skins = kept.iter().map(|&s| character.skins[s].clone()).collect();
    for mesh in &mut character.meshes {
        mesh.skin = mesh.skin.and_then(|s| kept.iter().position(|&k| k == s));
    }
}

#[cfg(test)]
mod tests {
    use frisson::geometry::Mesh;
    use frisson::layers::LayerParams;
    use frisson::layers::flesh::FleshParams;
    use frisson::stage::{ClipPlay, Clock, EARTH_GRAVITY, Forces, Placement, Rate, Setup};

    use super::*;
    use crate::Silent;

    /// A tube along y around four joints that bend, shaken sideways.
    fn tube(influences: usize) -> Character {
        let node = |i: usize| Node {
            name: format!("j{i}"),
            parent: i.checked_sub(1),
            rest: Transform::from_translation(Vec3::Y * if i == 0 { 0.0 } else { 0.5 }),
        };
        let inverse = |i: usize| Mat4::from_translation(-0.5 * i as f32 * Vec3::Y);
        let (mut positions, mut lists) = (Vec::new(), Vec::new());
        for ring in 0..16 {
            for side in 0..8 {
                let angle = std::f32::consts::TAU * side as f32 / 8.0;
                let y = 0.1 * ring as f32;
                positions.push(Vec3::new(0.2 * angle.cos(), y, 0.2 * angle.sin()));
                let weight = |j: usize| 1.0 / (0.1 + (y - 0.5 * j as f32).abs());
                let mut list: Vec<(u16, f32)> = (0..4).map(|j| (j as u16, weight(j))).collect();
                list.sort_by(|a, b| b.1.total_cmp(&a.1));
                list.truncate(influences);
                lists.push(list);
            }
        }
        let times: Vec<f32> = (0..31).map(|i| i as f32 / 30.0).collect();
        let wave = |t: &f32| (std::f32::consts::TAU * t).sin();
        let track = |target, width, values| Track {
            target,
            interpolation: Interpolation::Linear,
            times: times.clone(),
            values,
            width,
        };
        let slide = times.iter().flat_map(|t| [0.2 * wave(t), 0.0, 0.0]).collect();
        let bend =
            times.iter().flat_map(|t| Quat::from_rotation_z(0.4 * wave(t)).to_array()).collect();
        let tracks = vec![
            track(TrackTarget::Translation(0), 3, slide),
            track(TrackTarget::Rotation(1), 4, bend),
        ];
        let mesh = frisson::character::CharacterMesh::skinned(
            Mesh::new("tube", positions, vec![[0, 1, 8], [1, 9, 8]]),
            Influences::from_lists(&lists),
        );
        Character {
            name: "tube".to_owned(),
            skeleton: Skeleton::new((0..4).map(node).collect()).unwrap(),
            skins: vec![Skin {
                name: "skin".to_owned(),
                joints: (0..4).collect(),
                inverse_bind: (0..4).map(inverse).collect(),
            }],
            meshes: vec![mesh],
            clips: vec![Clip { name: "move".to_owned(), tracks }],
        }
    }

    fn stage(influences: usize) -> Simulator {
        stage_of(Arc::new(tube(influences)))
    }

    fn stage_of(character: Arc<Character>) -> Simulator {
        let placement =
            Placement { scale: 2.0, rotate_deg: [0.0, 30.0, 0.0], ..Placement::default() };
        let tube = Actor::character_named("tube", character).placed(placement);
        let actor = tube.playing(ClipPlay::new(0));
        let mut element = FleshParams::new("belly", "tube", "j0", &["j3"]);
        element.frequency_hz = Some(3.0);
        let clock = Clock::new(Rate::whole(24), 0, 20);
        let forces = Forces::new(EARTH_GRAVITY, vec![], 24.0);
        let layers = [LayerParams::Flesh(element)];
        Simulator::new(Setup {
            clock,
            actors: vec![actor],
            forces,
            layers: layers.to_vec(),
            ..Setup::default()
        })
        .unwrap()
    }

    fn export(influences: usize, limit: usize) -> (JointsReport, Character) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tube.glb");
        let options = JointsOptions { max_influences: limit, ..JointsOptions::default() };
        let report =
            export_joints(&mut stage(influences), 0, None, &path, &options, &mut Silent).unwrap();
        let again = export_joints(&mut stage(influences), 0, None, &path, &options, &mut Silent);
        assert!(matches!(again, Err(GltfError::Exists(_))));
        (report, crate::gltf::read_file(&path).unwrap().character)
    }

    #[test]
    fn the_file_read_back_moves_like_the_layer() {
        let (report, character) = export(2, 4);
        assert!(report.peak > 0.02, "{}", report.peak);
        assert!(report.max_error() < 2e-5 * report.peak.max(1.0), "{}", report.max_error());
        assert!(report.warnings.is_empty(), "{:?}", report.warnings);
        let clip = &character.clips[0];
        assert_eq!(clip.name, "frisson");
        let mut stage = stage(2);
        let world = stage.actors().all()[0].placement.world_from_actor();
        let (mut pose, mut positions) = (Pose::default(), Vec::new());
        for frame in 0..=20 {
            let time = f64::from(frame) / 24.0;
            pose.set(&character, Some(clip), time, Sampling::AsAuthored, world);
            character.deform_mesh_positions(0, &pose, &mut positions);
            let exact = &stage.frame().meshes[0].positions;
            let off = positions.iter().zip(exact).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            assert!(off < 1e-4, "frame {frame}: {off}");
            if frame < 20 {
                stage.advance_frame(&mut NoObserver).unwrap();
            }
        }
    }

    #[test]
    fn a_crowded_vertex_is_reported_and_more_room_makes_it_exact() {
        let (tight, _) = export(4, 4);
        assert!(tight.max_error() > 1e-4 && tight.far_vertices() > 0);
        assert!(tight.warnings.iter().any(|w| w.contains("morph targets")));
        let (roomy, _) = export(4, 8);
        assert!(roomy.max_error() < 2e-5 && roomy.far_vertices() == 0, "{}", roomy.max_error());
    }

    #[test]
    fn joints_go_into_the_file_they_came_from_and_the_rest_of_it_stays() {
        use crate::gltf::{GlbBuilder, ReadOptions, build_character, read_file, to_character};
        use serde_json::json;
        let mut builder: GlbBuilder = build_character(&tube(2)).unwrap();
        // A hat that no flesh moves, second texture coordinates, a VRM, a material of its own.
        let hat = builder.json["meshes"][0].clone();
        builder.push("meshes", hat);
        builder.push("nodes", json!({ "name": "hat", "mesh": 1 }));
        let node = builder.json["nodes"].as_array().unwrap().len() - 1;
        builder.add_to_scene(node);
        let pairs = vec![0.25f32; 256];
        let second = builder.floats(&pairs, 2, crate::gltf::ViewUse::Vertices).unwrap();
        for name in ["TEXCOORD_0", "TEXCOORD_1"] {
            builder.json["meshes"][0]["primitives"][0]["attributes"][name] = json!(second);
        }
        builder.json["extensions"] = json!({ "VRM": { "meta": { "title": "tube" } } });
        builder.use_extension("VRM", false);
        builder.json["materials"][0]["normalTexture"] = json!({ "index": 0, "texCoord": 1 });
        builder.push("images", json!({ "uri": "data:image/png;base64,AAAA" }));
        builder.push("textures", json!({ "source": 0 }));
        let document = Document::parse(&builder.into_bytes().unwrap(), None).unwrap();
        let (character, _) = to_character(&document, &ReadOptions::default()).unwrap();
        let moved = character.meshes.iter().position(|m| m.skin.is_some()).unwrap();
        let vertices = character.meshes[moved].mesh.positions.len();
        let mut stage = stage_of(Arc::new(character));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tube.glb");
        let options = JointsOptions::default();
        let report =
            export_joints(&mut stage, 0, Some(&document), &path, &options, &mut Silent).unwrap();
        assert_eq!(report.errors.len(), vertices, "only what flesh moves is measured");
        assert!(report.max_error() < 2e-5 * report.peak.max(1.0), "{}", report.max_error());
        let after = read_file(&path).unwrap();
        let json = &after.document.json;
        for key in ["extensions", "materials", "textures", "extensionsUsed"] {
            assert_eq!(json[key], document.json[key], "{key}");
        }
        let attributes = &json["meshes"][0]["primitives"][0]["attributes"];
        assert_eq!(attributes["TEXCOORD_1"], json!(second));
        assert_eq!(json["meshes"][1], document.json["meshes"][1], "the hat is as it was");
        assert_eq!(after.character.clips[0].name, "frisson");
        assert_eq!(after.character.clips[1].name, "move");
        // The stage stands at its last frame: so does the file.
        let world = stage.actors().all()[0].placement.world_from_actor();
        let (mut pose, mut positions) = (Pose::default(), Vec::new());
        let clip = Some(&after.character.clips[0]);
        pose.set(&after.character, clip, 20.0 / 24.0, Sampling::AsAuthored, world);
        after.character.deform_mesh_positions(moved, &pose, &mut positions);
        let exact = &stage.frame().meshes[moved].positions;
        let off = positions.iter().zip(exact).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(off < 1e-4, "{off}");
    }
}
