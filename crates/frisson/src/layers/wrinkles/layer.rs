//! The layer: measures the tools, refines the mesh under them, lifts the folds.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::curve::CurveShape;
use super::params::{Emit, WrinklesParams};
use super::region::Line;
use super::rest::{Influence, WrinklesRest, influence};
use super::state::WrinklesState;
use crate::geometry::butterfly::Emission;
use crate::geometry::{FoldGuard, Mesh, MeshTopology};
use crate::stage::{
    BuildContext, Frame, Layer, LayerError, LayerReport, SnapshotError, StepContext, from_snapshot,
    to_snapshot,
};
use crate::tolerances::wrinkles as tolerances;

/// Refined points that one task computes: fewer, and handing them out costs more than the work.
const POINTS_PER_TASK: usize = 1024;

/// Emitted triangles for one set of active tools.
struct Emitted {
    topology: Arc<MeshTopology>,
    /// Refined point of each new vertex.
    points: Vec<u32>,
}

/// Storage reused from frame to frame.
#[derive(Default)]
struct Scratch {
    /// Positions of all coarse points; only those needed are kept true.
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// Both side by side, for the stencils.
    pairs: Vec<[Vec3A; 2]>,
    /// Base positions of refined points, and unit normals of those that turn smooth.
    refined: Vec<Vec3>,
    refined_normals: Vec<Vec3>,
    /// Height of each point, coarse then refined [m].
    heights: Vec<f32>,
    /// How much of the butterfly surface (against the flat one) each refined point shows.
    blends: Vec<f32>,
    line: Line,
    live: Vec<Influence>,
    shape: CurveShape,
    /// Room in front of coarse points [m].
    room: Vec<f32>,
    /// Which tools refine the mesh.
    active: Vec<bool>,
}

/// Wrinkles on one mesh.
pub struct WrinklesLayer {
    params: WrinklesParams,
    rest: WrinklesRest,
    state: WrinklesState,
    emitted: BTreeMap<Vec<bool>, Emitted>,
    /// Coarse points to fetch each frame: under the tools and in the stencils.
    support: Vec<u32>,
    /// Coarse vertices that some tool may move, with their points.
    moved_vertices: Vec<(u32, u32)>,
    guard: FoldGuard,
    scratch: Scratch,
}

impl WrinklesLayer {
    /// Computes the rest data; nothing folds yet.
    pub fn new(params: WrinklesParams, context: &BuildContext) -> Result<Self, LayerError> {
        let rest = WrinklesRest::build(&params, context)?;
        let support = support(&rest);
        let coarse = rest.topology.point_count();
        let scratch = Scratch {
            positions: vec![Vec3::ZERO; coarse],
            normals: vec![Vec3::Y; coarse],
            pairs: vec![[Vec3A::ZERO; 2]; coarse],
            room: vec![0.0; coarse],
            refined: vec![Vec3::ZERO; rest.refined.point_count()],
            refined_normals: vec![Vec3::Y; rest.refined.point_count()],
            heights: vec![0.0; coarse + rest.refined.point_count()],
            blends: vec![0.0; rest.refined.point_count()],
            ..Scratch::default()
        };
        let count = rest.tools.len();
        let state = WrinklesState { peaks: vec![0.0; count], compressions: vec![0.0; count] };
        let moved_vertices = moved_vertices(&rest);
        let mut layer = Self {
            params,
            rest,
            state,
            emitted: BTreeMap::new(),
            support,
            moved_vertices,
            guard: FoldGuard::default(),
            scratch,
        };
        if layer.params.emit == Emit::Static {
            let all = vec![true; count];
            layer.emitted.insert(all.clone(), layer.emit(&all));
        }
        Ok(layer)
    }

    /// Finds which tools refine the mesh now.
    fn update_active(&mut self) {
        let all = self.params.emit == Emit::Static;
        self.scratch.active.clear();
        self.scratch.active.extend(self.state.compressions.iter().map(|&c| all || c > 0.0));
    }

    fn emit(&self, active: &[bool]) -> Emitted {
        let rest = &self.rest;
        let mut levels = vec![0u8; rest.base.triangles.len()];
        for (tool, _) in rest.tools.iter().zip(active).filter(|(_, on)| **on) {
            for &t in &tool.triangles {
                levels[t as usize] = levels[t as usize].max(tool.level);
            }
        }
        let emission = Emission::new(&rest.refined, &rest.topology, &rest.base, &levels);
        Emitted {
            topology: Arc::new(emission.build_topology(&rest.base)),
            points: emission.vertices.iter().map(|v| v.point).collect(),
        }
    }

    /// Fetches the coarse points and computes the normals under the tools.
    fn measure(&mut self, mesh: &Mesh) {
        let (rest, scratch) = (&self.rest, &mut self.scratch);
        for &p in &self.support {
            let vertex = rest.topology.vertex_of_point[p as usize];
            scratch.positions[p as usize] = mesh.positions[vertex as usize];
        }
        for &p in &rest.normal_points {
            scratch.normals[p as usize] = rest.topology.point_normal(&scratch.positions, p);
        }
        for &p in &self.support {
            let p = p as usize;
            scratch.pairs[p] = [scratch.positions[p].into(), scratch.normals[p].into()];
        }
    }

    /// Heights of all points that some tool moves, and the blend of refined points.
    fn lift(&mut self, frame_number: f64) {
        let scratch = &mut self.scratch;
        for &p in &self.rest.moved {
            scratch.heights[p as usize] = 0.0;
        }
        scratch.blends.fill(0.0);
        for (index, tool) in self.rest.tools.iter().enumerate() {
            let params = &self.params.tools[index];
            scratch.line.update(&tool.anchors, &scratch.positions, &scratch.normals);
            let current = scratch.line.length();
            let missing = ((tool.full - current) / tool.full).max(0.0);
            self.state.compressions[index] = missing;
            if missing <= 0.0 {
                self.state.peaks[index] = 0.0;
                continue;
            }
            tool.curve.deform(tool.full, current, &mut scratch.shape);
            let amount = params.amount.at(frame_number);
            self.state.peaks[index] = amount * tool.curve.peak(&scratch.shape);
            // Never quite 0: a point that rises needs its normal.
            let blend = smoothstep(missing / tolerances::BLEND_COMPRESSION) as f32;
            let blend = blend.max(f32::MIN_POSITIVE);
            for &i in &tool.refined {
                let known = &mut scratch.blends[i as usize];
                *known = known.max(blend);
            }
            if params.live {
                scratch.live.clear();
                let seen = tool.influences.iter().filter_map(|i| {
                    let (p, n) = place(&self.rest, &scratch.positions, &scratch.normals, i.point);
                    let (parameter, weight) = influence(params, &tool.curve, &scratch.line, p, n)?;
                    Some(Influence { point: i.point, parameter, weight })
                });
                scratch.live.extend(seen);
            }
            let influences = if params.live { &scratch.live } else { &tool.influences };
            for i in influences {
                let height = tool.curve.sample(&scratch.shape, i.parameter);
                scratch.heights[i.point as usize] += amount as f32 * i.weight * height;
            }
        }
    }

    /// Base positions of refined points (flat, blending into butterfly) and their normals.
    fn refine(&mut self) {
        let (rest, scratch) = (&self.rest, &mut self.scratch);
        let (pairs, blends) = (&scratch.pairs, &scratch.blends);
        let points = scratch.refined.par_iter_mut().zip(scratch.refined_normals.par_iter_mut());
        points.enumerate().with_min_len(POINTS_PER_TASK).for_each(|(i, (position, normal))| {
            let place = rest.refined.places[i];
            let [a, b, c] = rest.topology.triangles[place.triangle as usize];
            let [u, v, w] = place.barycentric;
            let at = |p: u32| pairs[p as usize][0];
            let mut base = u * at(a) + v * at(b) + w * at(c);
            if blends[i] > 0.0 {
                let [smooth, out] = rest.refined.stencils.evaluate_pair(i, pairs);
                base += blends[i] * (smooth - base);
                *normal = out.normalize_or(Vec3A::Y).into();
            }
            *position = base.into();
        });
    }

    /// Limits the heights where the skin faces itself.
    fn guard(&mut self) {
        let (rest, s) = (&self.rest, &mut self.scratch);
        let height = |&p: &u32| s.heights[p as usize];
        let reach = rest.moved.iter().map(height).fold(0.0f32, f32::max);
        if reach <= 0.0 {
            return;
        }
        let spacing = rest.edge_length;
        self.guard.find_room(&rest.corners, &s.positions, &s.normals, reach, spacing, &mut s.room);
        let coarse = rest.topology.point_count() as u32;
        for &p in &rest.moved {
            let room = match p.checked_sub(coarse) {
                None => s.room[p as usize],
                Some(i) => {
                    let place = rest.refined.places[i as usize];
                    let corners = rest.topology.triangles[place.triangle as usize];
                    let at = |k: usize| place.barycentric[k] * s.room[corners[k] as usize];
                    at(0) + at(1) + at(2)
                }
            };
            let height = &mut s.heights[p as usize];
            *height = height.min(room);
        }
    }

    /// Writes the folded mesh.
    fn write(&mut self, mesh: &mut Mesh) {
        self.update_active();
        if !self.scratch.active.iter().any(|&a| a) {
            return;
        }
        if !self.emitted.contains_key(&self.scratch.active) {
            let made = self.emit(&self.scratch.active);
            self.emitted.insert(self.scratch.active.clone(), made);
        }
        let Some(emitted) = self.emitted.get(&self.scratch.active) else { return };
        let (rest, s) = (&self.rest, &self.scratch);
        let coarse = rest.topology.point_count() as u32;
        for &(vertex, point) in &self.moved_vertices {
            let height = s.heights[point as usize];
            if height != 0.0 {
                mesh.positions[vertex as usize] += height * s.normals[point as usize];
            }
        }
        mesh.positions.extend(emitted.points.iter().map(|&i| {
            let height = s.heights[(coarse + i) as usize];
            let base = s.refined[i as usize];
            if height == 0.0 { base } else { base + height * s.refined_normals[i as usize] }
        }));
        if !Arc::ptr_eq(&mesh.topology, &emitted.topology) {
            mesh.topology = Arc::clone(&emitted.topology);
        }
        let count = mesh.positions.len();
        mesh.attributes.retain(|a| a.values.len() == count);
        if self.params.attributes {
            self.write_attributes(mesh);
        }
    }

    fn write_attributes(&self, mesh: &mut Mesh) {
        let Some(emitted) = self.emitted.get(&self.scratch.active) else { return };
        let (rest, s) = (&self.rest, &self.scratch);
        let coarse = rest.topology.point_count();
        let point_of = |v: usize| match v.checked_sub(rest.topology.point_of_vertex.len()) {
            None => rest.topology.point_of_vertex[v] as usize,
            Some(new) => coarse + emitted.points[new] as usize,
        };
        mesh.set_scalar("wrinkle_height", |values| {
            values.iter_mut().enumerate().for_each(|(v, h)| *h = s.heights[point_of(v)]);
        });
        mesh.set_vector("wrinkle_direction", |values| {
            for (v, direction) in values.iter_mut().enumerate() {
                let point = point_of(v);
                *direction = match point.checked_sub(coarse) {
                    None => s.normals[point],
                    Some(i) => s.refined_normals[i],
                };
            }
        });
        let mut compression = vec![0.0f32; coarse + rest.refined.point_count()];
        for (tool, &missing) in rest.tools.iter().zip(&self.state.compressions) {
            for i in &tool.influences {
                let known = &mut compression[i.point as usize];
                *known = known.max(i.weight * missing as f32);
            }
        }
        mesh.set_scalar("compression", |values| {
            values.iter_mut().enumerate().for_each(|(v, c)| *c = compression[point_of(v)]);
        });
    }
}

/// Position and normal of a coarse or refined point.
fn place(rest: &WrinklesRest, positions: &[Vec3], normals: &[Vec3], point: u32) -> (Vec3, Vec3) {
    match point.checked_sub(rest.topology.point_count() as u32) {
        None => (positions[point as usize], normals[point as usize]),
        Some(i) => (
            rest.refined.stencils.evaluate(i as usize, positions),
            rest.refined.stencils.evaluate(i as usize, normals).normalize_or(Vec3::Y),
        ),
    }
}

/// Coarse points that a frame reads: the stencils' and the neighbours of whatever needs a normal.
fn support(rest: &WrinklesRest) -> Vec<u32> {
    let mut points = Vec::new();
    for i in 0..rest.refined.point_count() {
        points.extend(rest.refined.stencils.of(i).map(|(p, _)| p));
        let place = rest.refined.places[i];
        points.extend(rest.topology.triangles[place.triangle as usize]);
    }
    for &p in &rest.normal_points {
        points.push(p);
        points.extend(rest.topology.neighbours(p));
    }
    points.sort_unstable();
    points.dedup();
    points
}

/// Coarse vertices whose point some tool influences.
fn moved_vertices(rest: &WrinklesRest) -> Vec<(u32, u32)> {
    let coarse = rest.topology.point_count();
    let mut moved = vec![false; coarse];
    for i in rest.tools.iter().flat_map(|t| &t.influences) {
        if let Some(m) = moved.get_mut(i.point as usize) {
            *m = true;
        }
    }
    let points = rest.topology.point_of_vertex.iter().enumerate();
    points.filter(|(_, p)| moved[**p as usize]).map(|(v, &p)| (v as u32, p)).collect()
}

fn smoothstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

impl Layer for WrinklesLayer {
    fn name(&self) -> &str {
        &self.params.name
    }

    fn kind(&self) -> &'static str {
        "wrinkles"
    }

    fn step(&mut self, context: &StepContext, frame: &mut Frame) -> Result<(), LayerError> {
        if !context.surfaces_wanted {
            return Ok(());
        }
        let mesh = &mut frame.meshes[self.rest.mesh];
        if mesh.positions.len() != self.rest.base.vertex_count {
            return Err(LayerError::parameter(
                "on",
                format!(
                    "{:?} changes its triangles during the shot: put wrinkles before the layer that does that",
                    self.params.on
                ),
            ));
        }
        self.measure(mesh);
        self.lift(context.frame_number());
        self.refine();
        if self.params.guard {
            self.guard();
        }
        self.write(mesh);
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        to_snapshot(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.state = from_snapshot(bytes)?;
        Ok(())
    }

    fn report(&self, report: &mut LayerReport) {
        let tools = self.params.tools.iter().zip(&self.state.peaks).zip(&self.state.compressions);
        for ((tool, &peak), &missing) in tools {
            report.measure(format!("{} height", tool.name), "m", peak);
            report.measure(format!("{} compression", tool.name), "-", missing);
        }
        self.rest.warnings.iter().for_each(|w| report.warn(w.clone()));
    }
}
