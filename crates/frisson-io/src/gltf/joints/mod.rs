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

mod grown;
mod vertex;

use std::path::Path;
use std::sync::Arc;

use frisson::character::{Character, Clip, Interpolation, Pose, Sampling, Track, TrackTarget};
use frisson::layers::flesh::FleshLayer;
use frisson::stage::{Actor, NoObserver, Running, Simulator};
use glam::{Quat, Vec3};

use super::document::Document;
use super::error::{GltfError, Result};
use super::joints_document::GrownFile;
use super::write_character::write_character;
use crate::Progress;
use grown::Grown;

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
        // Not the pre-roll.
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
    (known.rest().actor == actor && !known.rest().is_chain()).then_some(known)
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
                let text =
                    format!("{kind} {name:?} is left out: only flesh on one bone becomes joints");
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
            // The swing is known in the world; the twin is a child of its joint.
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

#[cfg(test)]
mod tests;
