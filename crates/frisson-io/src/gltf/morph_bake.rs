//! A bake as morph targets: one target per frame, blended by a weights channel.
//!
//! ```text
//! segment 0: base = frame 0, targets 1 … 200      segment 1: base = frame 200, targets 201 … 400
//! weights of target k:  ╱╲ one at its own frame, zero at its neighbours
//! ```
//! Viewers keep the weights in the graphics card's few uniforms, so a mesh carries at most
//! [`MorphOptions::max_targets`] targets; longer shots go on in another mesh, and only the one whose
//! time it is has a scale other than zero.
//!
//! Two passes over the shot: the first finds which meshes keep their topology and how far vertices
//! go, the second writes each frame's target to a file as it comes. Memory holds one frame and one
//! base, however long the shot.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use frisson::character::CharacterMesh;
use frisson::geometry::{Mesh, MeshTopology};
use frisson::stage::Frame;
use glam::Vec3;
use serde_json::{Map, Value, json};

use super::builder::{GlbBuilder, ViewUse, refuse_existing};
use super::document::Document;
use super::error::{GltfError, Result};
use super::import::{ReadOptions, to_character};
use super::kept::Kept;
use super::mesh::material_slots;
use super::write_mesh::{MaterialTable, Materials, Shading, primitives, still_attributes};
use crate::{FrameSource, Progress};

/// How targets are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MorphEncoding {
    /// Every vertex, 12 bytes each.
    #[default]
    Dense,
    /// Only vertices that moved from the base, 14 to 16 bytes each.
    Sparse,
    /// Every vertex, 8 bytes each: 16-bit fractions of the largest move.
    Quantised,
}

/// How a bake is written.
#[derive(Clone, Debug)]
pub struct MorphOptions {
    /// How targets are stored.
    pub encoding: MorphEncoding,
    /// Whether normals are baked too (doubles the size); else viewers shade flat or make their own.
    pub normals: bool,
    /// Most targets a mesh carries.
    pub max_targets: usize,
    /// Name of the animation.
    pub animation: String,
    /// Whether an existing file may be replaced.
    pub overwrite: bool,
}

impl Default for MorphOptions {
    fn default() -> Self {
        Self {
            encoding: MorphEncoding::Dense,
            normals: false,
            max_targets: 200,
            animation: "frisson".to_owned(),
            overwrite: false,
        }
    }
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct MorphReport {
    /// Size of the file.
    pub bytes: u64,
    /// What was left out, for people.
    pub warnings: Vec<String>,
}

/// A mesh of the shot that keeps its topology.
struct Baked {
    name: String,
    topology: Arc<MeshTopology>,
    /// Positions at the start of the current segment.
    base: Vec<Vec3>,
    base_normals: Vec<Vec3>,
    shading: Option<Shading>,
    /// Largest coordinate of a move within each segment [m].
    reach: Vec<f32>,
    /// Vertices that share primitives, with their attributes that all segments share.
    parts: Vec<Part>,
    /// Node of the input whose mesh this one replaces, and that mesh.
    replaces: Option<(usize, usize)>,
    slots: Vec<Option<usize>>,
    /// The primitives of the input, where the mesh still has their vertices.
    kept: Option<Kept>,
}

/// Vertices that the same primitives draw.
struct Part {
    range: Range<usize>,
    still: Map<String, Value>,
}

/// The targets of a segment while they are written.
#[derive(Default)]
struct Segment {
    names: Vec<String>,
    /// Of every part: its attributes and its targets.
    parts: Vec<(Value, Vec<Value>)>,
}

/// Writes a shot as a GLB with morph targets. With an `input`, everything else of that document is
/// kept and its meshes are replaced by the baked ones of the same name, unskinned, at the root.
pub fn export_morph_bake(
    source: &mut dyn FrameSource,
    input: Option<&Document>,
    path: &Path,
    options: &MorphOptions,
    progress: &mut dyn Progress,
) -> Result<MorphReport> {
    refuse_existing(path, options.overwrite)?;
    let mut bake = MorphBake::new(source, options, progress);
    bake.survey()?;
    let mut builder = GlbBuilder::spooled(path)?;
    if let Some(document) = input {
        let document = document.plain()?;
        bake.report.warnings.extend(builder.adopt(&document)?);
        bake.match_input(&document)?;
        bake.detach_replaced(&mut builder);
    }
    bake.write(&mut builder)?;
    let mut report = bake.report;
    report.bytes = builder.finish(path, options.overwrite)?;
    Ok(report)
}

struct MorphBake<'a> {
    source: &'a mut dyn FrameSource,
    options: &'a MorphOptions,
    progress: &'a mut dyn Progress,
    frame: Frame,
    meshes: Vec<Baked>,
    report: MorphReport,
    first: i64,
    count: usize,
    fps: f64,
    done: u64,
}

impl<'a> MorphBake<'a> {
    fn new(
        source: &'a mut dyn FrameSource,
        options: &'a MorphOptions,
        progress: &'a mut dyn Progress,
    ) -> Self {
        let info = source.info().clone();
        let count = usize::try_from(info.last_frame - info.first_frame + 1).unwrap_or(0);
        Self {
            source,
            options,
            progress,
            frame: Frame::default(),
            meshes: Vec::new(),
            report: MorphReport::default(),
            first: info.first_frame,
            count,
            fps: info.rate.fps(),
            done: 0,
        }
    }

    /// Intervals between frames that one mesh covers.
    fn span(&self) -> usize {
        self.options.max_targets.max(1)
    }

    fn segments(&self) -> usize {
        self.count.saturating_sub(1).div_ceil(self.span()).max(1)
    }

    fn read(&mut self, offset: usize) -> Result<()> {
        self.source.read_frame(self.first + offset as i64, &mut self.frame)?;
        self.done += 1;
        if !self.progress.advance(self.done, 2 * self.count as u64) {
            return Err(GltfError::Stopped);
        }
        if let Some((name, vertex)) = self.frame.find_non_finite() {
            let place = format!("frame {}, {name:?}", self.first + offset as i64);
            return Err(GltfError::invalid(place, format!("vertex {vertex} is not finite")));
        }
        Ok(())
    }

    /// First pass: which meshes stay the same, and how far they move.
    fn survey(&mut self) -> Result<()> {
        if self.count == 0 {
            return Err(GltfError::invalid("shot", "it has no frames"));
        }
        self.read(0)?;
        self.meshes = self.frame.meshes.iter().map(Baked::new).collect();
        let shapes = self.frame.curves.iter().map(|c| &c.name);
        let shapes = shapes.chain(self.frame.points.iter().map(|p| &p.name));
        let left_out =
            shapes.map(|name| format!("{name:?} is left out: glTF has no curves or points"));
        self.report.warnings.extend(left_out);
        for offset in 1..self.count {
            self.read(offset)?;
            let segment = (offset - 1) / self.span();
            let begins = offset.is_multiple_of(self.span());
            let (frame, warnings) = (&self.frame, &mut self.report.warnings);
            self.meshes.retain_mut(|baked| {
                let now = frame.meshes.iter().find(|m| m.name == baked.name);
                let same = now.is_some_and(|mesh| baked.keeps(mesh));
                if let Some(mesh) = now.filter(|_| same) {
                    baked.measure(&mesh.positions, segment, begins);
                } else {
                    let name = &baked.name;
                    warnings.push(format!("{name:?} is left out: its topology changes"));
                }
                same
            });
            for mesh in &frame.meshes {
                let known = self.meshes.iter().any(|b| b.name == mesh.name);
                let word = format!("{:?} is left out: its topology changes", mesh.name);
                if !known && !warnings.contains(&word) {
                    warnings.push(word);
                }
            }
        }
        Ok(())
    }

    /// Finds the node of the input that each mesh came from, by name.
    fn match_input(&mut self, document: &Document) -> Result<()> {
        let options = ReadOptions { textures: false, ..ReadOptions::default() };
        let (character, _) = to_character(document, &options)?;
        let mut free: Vec<_> = character.meshes.iter().collect();
        for baked in &mut self.meshes {
            let own = baked.name.split_once('/').map(|(_, mesh)| mesh);
            let found = free.iter().position(|m| match own {
                Some(own) => m.mesh.name == own,
                None => m.mesh.name == baked.name || character.meshes.len() == 1,
            });
            let Some(mesh) = found.map(|index| free.remove(index)) else { continue };
            if let Some(source) = &mesh.source {
                baked.replaces = Some((source.node, source.mesh));
                baked.slots = material_slots(document, source.mesh)?;
                let warnings = &mut self.report.warnings;
                baked.keep_primitives(document, mesh, warnings)?;
            }
        }
        Ok(())
    }

    /// Takes the replaced meshes off their nodes, with the channels that drove their morphs.
    fn detach_replaced(&self, builder: &mut GlbBuilder) {
        let nodes: Vec<usize> =
            self.meshes.iter().filter_map(|m| m.replaces).map(|(node, _)| node).collect();
        for &node in &nodes {
            if let Some(object) = builder.object_mut("nodes", node) {
                ["mesh", "skin", "weights"].iter().for_each(|key| {
                    object.shift_remove(*key);
                });
            }
        }
        let Some(animations) = builder.json.get_mut("animations").and_then(Value::as_array_mut)
        else {
            return;
        };
        let drives_replaced = |channel: &Value| {
            let target = &channel["target"];
            let node = target.get("node").and_then(super::json::whole_number);
            target["path"] == "weights" && node.is_some_and(|n| nodes.contains(&n))
        };
        for animation in animations.iter_mut() {
            if let Some(channels) = animation.get_mut("channels").and_then(Value::as_array_mut) {
                channels.retain(|channel| !drives_replaced(channel));
            }
        }
        animations.retain(|a| a["channels"].as_array().is_some_and(|c| !c.is_empty()));
        if animations.is_empty()
            && let Some(object) = builder.json.as_object_mut()
        {
            object.shift_remove("animations");
        }
    }

    /// Second pass: every frame's targets.
    fn write(&mut self, builder: &mut GlbBuilder) -> Result<()> {
        let mut table = MaterialTable::default();
        let mut segments: Vec<Segment> = Vec::new();
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        for offset in 0..self.count {
            self.read(offset)?;
            let segment = offset.saturating_sub(1) / self.span();
            if offset > 0 {
                self.write_targets(builder, &mut segments, segment, offset)?;
            }
            let last = offset + 1 == self.count;
            if offset > 0 && (offset.is_multiple_of(self.span()) || last) {
                let parts = std::mem::take(&mut segments);
                let animation = (&mut samplers, &mut channels);
                self.finish_segment(builder, &mut table, parts, segment, animation)?;
            } else if last {
                let animation = (&mut samplers, &mut channels);
                self.begin_segment(builder, &mut segments, 0)?;
                let parts = std::mem::take(&mut segments);
                self.finish_segment(builder, &mut table, parts, 0, animation)?;
            }
            if offset.is_multiple_of(self.span()) && !last {
                self.begin_segment(builder, &mut segments, offset / self.span())?;
            }
        }
        if !channels.is_empty() {
            let name = &self.options.animation;
            let animation = json!({ "name": name, "samplers": samplers, "channels": channels });
            builder.push_first_animation(animation);
        }
        Ok(())
    }

    /// The frame in hand becomes the base of a new segment.
    fn begin_segment(
        &mut self,
        builder: &mut GlbBuilder,
        segments: &mut Vec<Segment>,
        segment: usize,
    ) -> Result<()> {
        for baked in &mut self.meshes {
            let Some(mesh) = self.frame.meshes.iter().find(|m| m.name == baked.name) else {
                continue;
            };
            baked.base.clear();
            baked.base.extend_from_slice(&mesh.positions);
            if segment == 0 && baked.kept.is_none() {
                still_attributes(builder, &baked.topology, &mut baked.parts[0].still)?;
            }
            let scale = baked.scale(self.options.encoding, segment);
            let scaled: Vec<Vec3> = baked.base.iter().map(|&p| p / scale).collect();
            if self.options.normals {
                let topology = &baked.topology;
                let shading =
                    baked.shading.get_or_insert_with(|| Shading::new(topology, &mesh.positions));
                shading.normals(&mesh.positions, &mut baked.base_normals);
            }
            let mut parts = Vec::new();
            for part in &baked.parts {
                let mut attributes = part.still.clone();
                let positions = builder.positions(&scaled[part.range.clone()])?;
                attributes.insert("POSITION".into(), json!(positions));
                if self.options.normals {
                    let numbers = bytemuck::cast_slice(&baked.base_normals[part.range.clone()]);
                    let accessor = builder.floats(numbers, 3, ViewUse::Vertices)?;
                    attributes.insert("NORMAL".into(), json!(accessor));
                }
                parts.push((Value::Object(attributes), Vec::new()));
            }
            segments.push(Segment { parts, ..Segment::default() });
        }
        Ok(())
    }

    fn write_targets(
        &mut self,
        builder: &mut GlbBuilder,
        segments: &mut [Segment],
        segment: usize,
        offset: usize,
    ) -> Result<()> {
        let encoding = self.options.encoding;
        let mut normals = Vec::new();
        for (baked, written) in self.meshes.iter_mut().zip(segments) {
            let Some(mesh) = self.frame.meshes.iter().find(|m| m.name == baked.name) else {
                continue;
            };
            let scale = baked.scale(encoding, segment);
            let moves = mesh.positions.iter().zip(&baked.base).map(|(p, b)| (*p - *b) / scale);
            let moves: Vec<Vec3> = moves.collect();
            let mut turns = Vec::new();
            if let Some(shading) = &mut baked.shading {
                shading.normals(&mesh.positions, &mut normals);
                turns.extend(normals.iter().zip(&baked.base_normals).map(|(n, b)| *n - *b));
            }
            for (part, (_, targets)) in baked.parts.iter().zip(&mut written.parts) {
                let moved = write_moves(builder, encoding, &moves[part.range.clone()])?;
                let mut target = json!({ "POSITION": moved });
                if !turns.is_empty() {
                    let numbers = bytemuck::cast_slice(&turns[part.range.clone()]);
                    target["NORMAL"] = json!(builder.floats(numbers, 3, ViewUse::Vertices)?);
                }
                targets.push(target);
            }
            written.names.push(format!("frame_{:04}", self.first + offset as i64));
        }
        Ok(())
    }

    /// Writes the meshes, nodes and channels of a segment.
    fn finish_segment(
        &mut self,
        builder: &mut GlbBuilder,
        table: &mut MaterialTable,
        parts: Vec<Segment>,
        segment: usize,
        (samplers, channels): (&mut Vec<Value>, &mut Vec<Value>),
    ) -> Result<()> {
        let targets = parts.iter().map(|p| p.names.len()).max().unwrap_or(0);
        let several = self.segments() > 1;
        if targets > 0 {
            samplers.push(self.weight_sampler(builder, segment, targets)?);
        }
        let weight_sampler = samplers.len().saturating_sub(1);
        let mut nodes = Vec::new();
        for (baked, part) in self.meshes.iter().zip(parts) {
            let scale = baked.scale(self.options.encoding, segment);
            let node = write_segment_mesh(builder, table, baked, part, segment, several, scale)?;
            if targets > 0 {
                channels.push(json!({
                    "sampler": weight_sampler, "target": { "node": node, "path": "weights" },
                }));
            }
            nodes.push((node, scale));
        }
        if several {
            for (node, scale) in nodes {
                samplers.push(self.visibility_sampler(builder, segment, scale)?);
                channels.push(json!({
                    "sampler": samplers.len() - 1, "target": { "node": node, "path": "scale" },
                }));
            }
        }
        if self.options.encoding == MorphEncoding::Quantised && targets > 0 {
            builder.use_extension("KHR_mesh_quantization", true);
        }
        Ok(())
    }

    fn time(&self, offset: usize) -> f32 {
        (offset as f64 / self.fps) as f32
    }

    /// Target `k` has weight 1 at key `k + 1`; key 0 is the base.
    fn weight_sampler(
        &self,
        builder: &mut GlbBuilder,
        segment: usize,
        targets: usize,
    ) -> Result<Value> {
        let start = segment * self.span();
        let times: Vec<f32> = (0..=targets).map(|k| self.time(start + k)).collect();
        let mut weights = vec![0.0f32; targets * (targets + 1)];
        for target in 0..targets {
            weights[(target + 1) * targets + target] = 1.0;
        }
        let input = builder.times(&times)?;
        let output = builder.floats(&weights, 1, ViewUse::Other)?;
        Ok(json!({ "input": input, "output": output, "interpolation": "LINEAR" }))
    }

    /// Scale zero before and after the segment's time.
    fn visibility_sampler(
        &self,
        builder: &mut GlbBuilder,
        segment: usize,
        scale: f32,
    ) -> Result<Value> {
        let (start, end) = (segment * self.span(), (segment + 1) * self.span());
        let (mut times, mut scales) = (Vec::new(), Vec::new());
        if start > 0 {
            times.push(0.0);
            scales.extend([0.0; 3]);
        }
        times.push(self.time(start));
        scales.extend([scale; 3]);
        if end < self.count - 1 {
            times.push(self.time(end));
            scales.extend([0.0; 3]);
        }
        let input = builder.times(&times)?;
        let output = builder.floats(&scales, 3, ViewUse::Other)?;
        Ok(json!({ "input": input, "output": output, "interpolation": "STEP" }))
    }
}

impl Baked {
    fn new(mesh: &Mesh) -> Self {
        Self {
            name: mesh.name.clone(),
            topology: Arc::clone(&mesh.topology),
            base: mesh.positions.clone(),
            base_normals: Vec::new(),
            shading: None,
            reach: vec![0.0],
            parts: vec![Part { range: 0..mesh.positions.len(), still: Map::new() }],
            replaces: None,
            slots: Vec::new(),
            kept: None,
        }
    }

    /// Keeps the primitives of the input where the mesh still has their vertices and triangles.
    fn keep_primitives(
        &mut self,
        document: &Document,
        mesh: &CharacterMesh,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        if mesh.mesh.topology.triangles != self.topology.triangles
            || mesh.mesh.positions.len() != self.base.len()
        {
            warnings.push(format!(
                "{:?} has other vertices than the input: its colours and the texture coordinates \
                 of its pictures are kept, other attributes are not",
                self.name
            ));
            return Ok(());
        }
        let Some(kept) = Kept::new(document, mesh)? else { return Ok(()) };
        self.parts.clear();
        for (index, range) in kept.ranges().into_iter().enumerate() {
            self.parts.push(Part { range, still: kept.still(document, index, warnings)? });
        }
        self.kept = Some(kept);
        Ok(())
    }

    fn keeps(&self, mesh: &Mesh) -> bool {
        let same = Arc::ptr_eq(&self.topology, &mesh.topology)
            || self.topology.triangles == mesh.topology.triangles;
        same && mesh.positions.len() == self.base.len() && !self.topology.triangles.is_empty()
    }

    fn measure(&mut self, positions: &[Vec3], segment: usize, begins: bool) {
        let moves = positions.iter().zip(&self.base);
        let reach = moves.fold(0.0f32, |a, (p, b)| a.max((*p - *b).abs().max_element()));
        self.reach.resize(self.reach.len().max(segment + 1), 0.0);
        self.reach[segment] = self.reach[segment].max(reach);
        if begins {
            self.base.copy_from_slice(positions);
        }
    }

    /// What the node is scaled by: quantised moves are fractions of it.
    fn scale(&self, encoding: MorphEncoding, segment: usize) -> f32 {
        let reach = self.reach.get(segment).copied().unwrap_or(0.0);
        if encoding == MorphEncoding::Quantised && reach > 0.0 { reach } else { 1.0 }
    }
}

fn write_moves(builder: &mut GlbBuilder, encoding: MorphEncoding, moves: &[Vec3]) -> Result<usize> {
    match encoding {
        MorphEncoding::Quantised => builder.quantised_vectors(moves),
        MorphEncoding::Dense => builder.positions(moves),
        MorphEncoding::Sparse => {
            let moving: Vec<u32> =
                (0..moves.len() as u32).filter(|&v| moves[v as usize] != Vec3::ZERO).collect();
            // An entry costs its index as well: beyond 3/4 of the vertices dense is smaller.
            if 4 * moving.len() > 3 * moves.len() {
                return builder.positions(moves);
            }
            let vectors: Vec<Vec3> = moving.iter().map(|&v| moves[v as usize]).collect();
            builder.sparse_vectors(moves.len(), &moving, &vectors)
        }
    }
}

/// Writes the mesh and node of one segment and answers the node.
fn write_segment_mesh(
    builder: &mut GlbBuilder,
    table: &mut MaterialTable,
    baked: &Baked,
    part: Segment,
    segment: usize,
    several: bool,
    scale: f32,
) -> Result<usize> {
    let parts = segment_primitives(builder, table, baked, &part.parts)?;
    let name = if several { format!("{} {segment}", baked.name) } else { baked.name.clone() };
    let mut mesh = json!({ "name": name });
    if !part.names.is_empty() {
        mesh["weights"] = json!(vec![0.0; part.names.len()]);
        mesh["extras"] = json!({ "targetNames": part.names });
    }
    mesh["primitives"] = Value::Array(parts);
    let index = match baked.replaces.filter(|_| segment == 0) {
        Some((_, old)) if !mesh_is_used(&builder.json, old) => {
            builder.json["meshes"][old] = mesh;
            old
        }
        _ => builder.push("meshes", mesh),
    };
    let mut node = json!({ "name": name, "mesh": index });
    let shown = if several && segment > 0 { 0.0 } else { scale };
    if shown != 1.0 {
        node["scale"] = json!([shown, shown, shown]);
    }
    let node = builder.push("nodes", node);
    builder.add_to_scene(node);
    Ok(node)
}

/// The primitives of one segment: those of the input, or one for each material.
fn segment_primitives(
    builder: &mut GlbBuilder,
    table: &mut MaterialTable,
    baked: &Baked,
    parts: &[(Value, Vec<Value>)],
) -> Result<Vec<Value>> {
    if let Some(kept) = &baked.kept {
        return kept.primitives(builder, &baked.topology, parts);
    }
    let (attributes, targets) = &parts[0];
    let mut materials = match baked.replaces {
        Some(_) => Materials::Slots(&baked.slots, table),
        None => Materials::Own(table),
    };
    let mut out = primitives(builder, &baked.topology, &mut materials, attributes)?;
    if !targets.is_empty() {
        out.iter_mut().for_each(|p| p["targets"] = json!(targets));
    }
    Ok(out)
}

fn mesh_is_used(json: &Value, mesh: usize) -> bool {
    let nodes = json.get("nodes").and_then(Value::as_array);
    let mut used = nodes.into_iter().flatten().map(|n| n.get("mesh"));
    used.any(|m| m.and_then(super::json::whole_number) == Some(mesh))
}
