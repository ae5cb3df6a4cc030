//! The second pass: segments with their targets, meshes, nodes and channels.

use glam::Vec3;
use serde_json::{Value, json};

use super::baked::Baked;
use super::replace::mesh_is_used;
use super::{MorphBake, MorphEncoding};
use crate::gltf::builder::{GlbBuilder, ViewUse};
use crate::gltf::error::Result;
use crate::gltf::write_mesh::{MaterialTable, Materials, Shading, primitives, still_attributes};

/// The targets of a segment while they are written.
#[derive(Default)]
struct Segment {
    names: Vec<String>,
    /// Of every part: its attributes and its targets.
    parts: Vec<(Value, Vec<Value>)>,
}

/// Which segment of a mesh is written, and how its node is scaled while it shows.
#[derive(Clone, Copy)]
struct SegmentPlace {
    segment: usize,
    /// Whether the shot has more than one.
    several: bool,
    scale: f32,
}

impl MorphBake<'_> {
    /// Second pass: every frame's targets.
    pub(super) fn write(&mut self, builder: &mut GlbBuilder) -> Result<()> {
        let mut table = MaterialTable::default();
        let mut segments: Vec<Segment> = Vec::new();
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        for offset in 0..self.count {
            self.read(offset)?;
            // A frame on the border ends the segment before it, and is the base of the next.
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
            // What stays the same is written once and named by all segments.
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
            let place = SegmentPlace { segment, several, scale };
            let node = write_segment_mesh(builder, table, baked, part, place)?;
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

fn write_moves(builder: &mut GlbBuilder, encoding: MorphEncoding, moves: &[Vec3]) -> Result<usize> {
    match encoding {
        MorphEncoding::Quantised => builder.quantised_vectors(moves),
        MorphEncoding::Dense => builder.positions(moves),
        MorphEncoding::Sparse => builder.moves(moves),
    }
}

/// Writes the mesh and node of one segment and answers the node.
fn write_segment_mesh(
    builder: &mut GlbBuilder,
    table: &mut MaterialTable,
    baked: &Baked,
    part: Segment,
    SegmentPlace { segment, several, scale }: SegmentPlace,
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
        // Another node may still show the mesh of the input.
        Some((_, old)) if !mesh_is_used(&builder.json, old) => {
            builder.json["meshes"][old] = mesh;
            old
        }
        _ => builder.push("meshes", mesh),
    };
    let mut node = json!({ "name": name, "mesh": index });
    // Viewers that play nothing show the first pose, and only that.
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
