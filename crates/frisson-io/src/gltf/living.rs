//! A bake that keeps its rig alive: what the layers did is taken back into the bind pose, where it
//! becomes morph targets that are applied before the skin.
//!
//! ```text
//!   x = M (p + morphs + d)     M: the blended matrix of a vertex at that frame
//!   d = M⁻¹ x - p - morphs     one target per frame, or a few shapes that span them
//! ```
//! Skin, clips and facial morphs stay and mean what they meant: targets are added behind those that
//! are there, and one animation before the others plays the shot. The other clips hold the new targets at zero, where the
//! mesh has no face of its own that something else may want to move.

use std::path::Path;

use frisson::character::{Character, CharacterMesh, Clip, Pose, Sampling};
use frisson::geometry::Mesh;
use frisson::stage::Frame;
use glam::{Affine3A, Mat4, Vec3};

use super::builder::refuse_existing;
use super::document::Document;
use super::error::{GltfError, Result};
use super::import::{ReadOptions, to_character};
use super::living_document::LivingFile;
use super::shapes::ShapeSet;
use crate::{FrameSource, Progress};

/// Most memory the moves of a shot may take [bytes]: they are needed all at once to find few shapes.
const MAX_MOVES: usize = 4 << 30;
/// Moves below this part of the mesh's size are rounding of the way there and back [-].
const STILL: f32 = 2e-6;

/// How an actor was moved, and what to write.
#[derive(Clone, Debug)]
pub struct LivingOptions {
    /// Name of the actor in the shot.
    pub actor: String,
    /// Clip it played, over the document's nodes.
    pub clip: Option<Clip>,
    /// Clip time at scene time 0 [s].
    pub offset: f64,
    /// Clip seconds per scene second.
    pub speed: f64,
    /// Whether the clip started again at its end.
    pub looped: bool,
    /// Where the actor stood.
    pub world_from_actor: Mat4,
    /// Most shapes a mesh may get; longer shots share fewer shapes.
    pub max_shapes: usize,
    /// Distance from the bake that fewer shapes may leave [m]; 0: as many shapes as there are frames.
    pub shape_error: f32,
    /// Name of the animation.
    pub animation: String,
    /// Whether an existing file may be replaced.
    pub overwrite: bool,
}

impl Default for LivingOptions {
    fn default() -> Self {
        Self {
            actor: String::new(),
            clip: None,
            offset: 0.0,
            speed: 1.0,
            looped: false,
            world_from_actor: Mat4::IDENTITY,
            max_shapes: 200,
            shape_error: 0.0,
            animation: "frisson".to_owned(),
            overwrite: false,
        }
    }
}

/// What was written and how true it is.
#[derive(Clone, Debug, Default)]
pub struct LivingReport {
    /// Size of the file.
    pub bytes: u64,
    /// Shapes written, over all meshes.
    pub shapes: usize,
    /// Frames written.
    pub frames: usize,
    /// Largest distance of any vertex from the bake at any frame [m].
    pub max_error: f32,
    /// What to know, for people.
    pub warnings: Vec<String>,
}

/// The moves of one mesh in its bind pose.
pub(super) struct MeshMoves {
    /// Mesh of the character.
    pub mesh: usize,
    /// Mesh of the shot.
    name: String,
    /// Of every frame.
    pub frames: Vec<Vec<Vec3>>,
    pub shapes: ShapeSet,
}

/// Writes a shot into the document its actor was read from.
pub fn export_living(
    source: &mut dyn FrameSource,
    document: &Document,
    path: &Path,
    options: &LivingOptions,
    progress: &mut dyn Progress,
) -> Result<LivingReport> {
    refuse_existing(path, options.overwrite)?;
    let document = document.plain()?;
    // Pictures stay in the document as they are; nothing here looks at them.
    let read = ReadOptions { textures: false, ..ReadOptions::default() };
    let (character, _) = to_character(&document, &read)?;
    let mut living = Living::new(source, &character, options, progress)?;
    living.gather()?;
    living.find_shapes();
    living.measure()?;
    let file = LivingFile {
        character: &character,
        moves: &living.moves,
        clip: living.clip(),
        times: living.times(),
        clip_times: (0..living.count).map(|k| living.clip_time(k)).collect(),
        options,
    };
    let (bytes, warnings) = file.write(&document, path)?;
    let mut report = living.report;
    report.bytes = bytes;
    report.warnings.extend(warnings);
    Ok(report)
}

struct Living<'a> {
    source: &'a mut dyn FrameSource,
    character: &'a Character,
    options: &'a LivingOptions,
    progress: &'a mut dyn Progress,
    frame: Frame,
    pose: Pose,
    first: i64,
    count: usize,
    fps: f64,
    done: u64,
    moves: Vec<MeshMoves>,
    report: LivingReport,
}

impl<'a> Living<'a> {
    fn new(
        source: &'a mut dyn FrameSource,
        character: &'a Character,
        options: &'a LivingOptions,
        progress: &'a mut dyn Progress,
    ) -> Result<Self> {
        let info = source.info().clone();
        let count = usize::try_from(info.last_frame - info.first_frame + 1).unwrap_or(0);
        if count == 0 {
            return Err(GltfError::invalid("shot", "it has no frames"));
        }
        Ok(Self {
            source,
            character,
            options,
            progress,
            frame: Frame::default(),
            pose: Pose::default(),
            first: info.first_frame,
            count,
            fps: info.rate.fps(),
            done: 0,
            moves: Vec::new(),
            report: LivingReport { frames: count, ..LivingReport::default() },
        })
    }

    fn clip(&self) -> Option<&'a Clip> {
        self.options.clip.as_ref()
    }

    /// Key times of the shot [s], from 0.
    fn times(&self) -> Vec<f32> {
        (0..self.count).map(|k| (k as f64 / self.fps) as f32).collect()
    }

    fn clip_time(&self, frame: usize) -> f64 {
        let scene_time = (self.first + frame as i64) as f64 / self.fps;
        let t = self.options.offset + self.options.speed * scene_time;
        let duration = self.clip().map_or(0.0, Clip::duration);
        if self.options.looped && duration > 0.0 { t.rem_euclid(duration) } else { t }
    }

    fn read(&mut self, frame: usize) -> Result<()> {
        let number = self.first + frame as i64;
        self.source.read_frame(number, &mut self.frame)?;
        self.done += 1;
        // Every frame is read twice: to find the shapes, and to measure what they leave.
        if !self.progress.advance(self.done, 2 * self.count as u64) {
            return Err(GltfError::Stopped);
        }
        if let Some((name, vertex)) = self.frame.find_non_finite() {
            let place = format!("frame {number}, {name:?}");
            return Err(GltfError::invalid(place, format!("vertex {vertex} is not finite")));
        }
        let (clip, time) = (self.clip(), self.clip_time(frame));
        let world = self.options.world_from_actor;
        self.pose.set(self.character, clip, time, Sampling::AsAuthored, world);
        Ok(())
    }

    /// Finds the meshes of the shot that are the character's.
    fn match_meshes(&mut self) {
        // The stage calls a mesh that is alone by its actor's name.
        let single = self.character.meshes.len() == 1;
        let actor = &self.options.actor;
        for (index, mesh) in self.character.meshes.iter().enumerate() {
            let own = &mesh.mesh.name;
            let name = if single { actor.clone() } else { format!("{actor}/{own}") };
            match self.frame.meshes.iter().find(|m| m.name == name) {
                Some(found) if same_triangles(found, mesh) => {
                    let shapes = ShapeSet::default();
                    self.moves.push(MeshMoves { mesh: index, name, frames: Vec::new(), shapes });
                }
                Some(_) => self.report.warnings.push(format!(
                    "{name:?} has other vertices than the rig (a layer refined it): it is left as \
                     the rig moves it"
                )),
                None => {}
            }
        }
        let of_rig = |name: &str| {
            name == actor || name.strip_prefix(actor.as_str()).is_some_and(|n| n.starts_with('/'))
        };
        let meshes = self.frame.meshes.iter().map(|m| m.name.as_str());
        let others = meshes.filter(|n| !of_rig(n));
        let others = others.chain(self.frame.curves.iter().map(|c| c.name.as_str()));
        let others = others.chain(self.frame.points.iter().map(|p| p.name.as_str()));
        let told = others.map(|name| format!("{name:?} is left out: it is no part of the rig"));
        self.report.warnings.extend(told);
    }

    /// First pass: every frame's moves in the bind pose.
    fn gather(&mut self) -> Result<()> {
        let mut flat = 0;
        for frame in 0..self.count {
            self.read(frame)?;
            if frame == 0 {
                self.match_meshes();
                self.check_room()?;
            }
            for moves in &mut self.moves {
                let Some(mesh) = self.frame.meshes.iter().find(|m| m.name == moves.name) else {
                    // Not there in this frame: no move, and the number of frames still tells the time.
                    moves.frames.push(Vec::new());
                    continue;
                };
                let source = &self.character.meshes[moves.mesh];
                let bind = Bind::new(self.character, moves.mesh, &self.pose);
                let rest = bind.rest_positions();
                // What only rounding moved becomes zero, so that sparse targets stay sparse.
                let still = STILL * source.mesh.bounds().diagonal();
                let mut out = Vec::with_capacity(rest.len());
                for (vertex, rest) in rest.into_iter().enumerate() {
                    let Some(&world) = mesh.positions.get(vertex) else { break };
                    // A flat matrix has no way back: no move before the skin can put the vertex right.
                    let Some(inverse) = invert(bind.matrix(vertex)) else {
                        flat += 1;
                        out.push(Vec3::ZERO);
                        continue;
                    };
                    let d = inverse.transform_point3(world) - rest;
                    out.push(if d.length() <= still { Vec3::ZERO } else { d });
                }
                out.resize(source.mesh.positions.len(), Vec3::ZERO);
                moves.frames.push(out);
            }
        }
        if flat > 0 {
            let text = format!("{flat} vertices are squashed flat by the rig and keep its place");
            self.report.warnings.push(text);
        }
        Ok(())
    }

    fn check_room(&self) -> Result<()> {
        let vertices =
            self.moves.iter().map(|m| self.character.meshes[m.mesh].mesh.positions.len());
        // 12 bytes a vector.
        let bytes = vertices.sum::<usize>().saturating_mul(12 * self.count);
        if bytes <= MAX_MOVES {
            return Ok(());
        }
        let problem = format!("{bytes} bytes of moves at once: export it in parts (--frames)");
        Err(GltfError::too_large("shot", problem))
    }

    fn find_shapes(&mut self) {
        for moves in &mut self.moves {
            let placed = self.options.world_from_actor.determinant().abs().cbrt();
            // The rig itself may scale as well: a figure modelled in centimetres under a scaled root.
            let bind = Bind::new(self.character, moves.mesh, &self.pose);
            let scale = bind.scale().unwrap_or(placed).max(f32::MIN_POSITIVE);
            // Asked for in metres, held in the file's units.
            let tolerance = self.options.shape_error / scale;
            moves.shapes = ShapeSet::build(&moves.frames, self.options.max_shapes, tolerance);
            self.report.shapes += moves.shapes.shapes.len();
        }
    }

    /// Second pass: how far the file is from the bake.
    fn measure(&mut self) -> Result<()> {
        let mut shape = Vec::new();
        for frame in 0..self.count {
            self.read(frame)?;
            for moves in &self.moves {
                let Some(mesh) = self.frame.meshes.iter().find(|m| m.name == moves.name) else {
                    continue;
                };
                let bind = Bind::new(self.character, moves.mesh, &self.pose);
                moves.shapes.compute_moves(frame, &mut shape);
                for (vertex, rest) in bind.rest_positions().into_iter().enumerate() {
                    let d = shape.get(vertex).copied().unwrap_or_default();
                    let shown = bind.matrix(vertex).transform_point3(rest + d);
                    if let Some(exact) = mesh.positions.get(vertex) {
                        self.report.max_error = self.report.max_error.max(exact.distance(shown));
                    }
                }
            }
        }
        Ok(())
    }
}

fn same_triangles(found: &Mesh, mesh: &CharacterMesh) -> bool {
    found.positions.len() == mesh.mesh.positions.len()
        && found.topology.triangles == mesh.mesh.topology.triangles
}

/// Volume of a matrix over that of its edges below which it is flat [-]: its inverse would blow rounding
/// up to what is seen.
const FLAT: f32 = 1e-4;

fn invert(matrix: Affine3A) -> Option<Affine3A> {
    let size = matrix.matrix3.determinant().abs();
    let columns = matrix.matrix3.x_axis.length()
        * matrix.matrix3.y_axis.length()
        * matrix.matrix3.z_axis.length();
    let inverse = (size > FLAT * columns).then(|| matrix.inverse());
    inverse.filter(|m| m.is_finite())
}

/// A mesh under a pose: its vertices before the skin, and what the skin does to each.
struct Bind<'a> {
    source: &'a CharacterMesh,
    matrices: &'a [Affine3A],
    rigid: Affine3A,
    weights: &'a [f32],
}

impl<'a> Bind<'a> {
    fn new(character: &'a Character, mesh: usize, pose: &'a Pose) -> Self {
        let source = &character.meshes[mesh];
        Self {
            source,
            matrices: source.skin.map_or(&[], |skin| pose.world_from_bind(skin)),
            rigid: Affine3A::from_mat4(pose.world_from_node[source.node]),
            weights: pose.morph_weights(mesh),
        }
    }

    fn rest_positions(&self) -> Vec<Vec3> {
        let mut out = self.source.mesh.positions.clone();
        for (morph, &weight) in self.source.morphs.iter().zip(self.weights) {
            for (&vertex, &offset) in morph.vertices.iter().zip(&morph.offsets) {
                out[vertex as usize] += weight * offset;
            }
        }
        out
    }

    fn matrix(&self, vertex: usize) -> Affine3A {
        if self.source.skin.is_none() {
            return self.rigid;
        }
        // Blended as viewers blend, without making it a rotation again: only this very matrix is undone exactly.
        let zero = Affine3A { matrix3: glam::Mat3A::ZERO, translation: glam::Vec3A::ZERO };
        self.source.influences.of(vertex).fold(zero, |sum, (joint, weight)| {
            let m = self.matrices[joint as usize];
            Affine3A {
                matrix3: sum.matrix3 + m.matrix3 * weight,
                translation: sum.translation + m.translation * weight,
            }
        })
    }

    /// How much larger the first vertex's surroundings become.
    fn scale(&self) -> Option<f32> {
        // Of its volume: the same in all directions or not.
        let scale = self.matrix(0).matrix3.determinant().abs().cbrt();
        (scale.is_finite() && scale > 0.0).then_some(scale)
    }
}
