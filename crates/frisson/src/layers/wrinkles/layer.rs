//! The layer: measures the tools, refines the mesh under them, lifts the folds.

use std::collections::BTreeMap;

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::curve::CurveShape;
use super::params::{Emit, WrinklesParams};
use super::region::Line;
use super::rest::{Influence, WrinklesRest, influence};
use super::state::WrinklesState;
use crate::geometry::Mesh;
use crate::geometry::butterfly::{Emission, LiftedPoints, Normals, RefinedMesh, vertices_of};
use crate::stage::{
    BuildContext, Frame, LayerError, LayerReport, SnapshotError, StepContext, WholeLayer,
    check_vertices, from_snapshot, to_snapshot,
};
use crate::tolerances::wrinkles as tolerances;

/// Refined points that one task computes: fewer, and handing them out costs more than the work.
const POINTS_PER_TASK: usize = 1024;

/// Storage reused from frame to frame.
#[derive(Default)]
struct Scratch {
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
    /// Which tools refine the mesh.
    active: Vec<bool>,
    /// Compression at each point, for the attribute.
    compression: Vec<f32>,
}

/// Wrinkles on one mesh.
pub struct WrinklesLayer {
    params: WrinklesParams,
    rest: WrinklesRest,
    state: WrinklesState,
    emitted: BTreeMap<Vec<bool>, RefinedMesh>,
    /// Coarse vertices that some tool may move, with their points.
    moved_vertices: Vec<(u32, u32)>,
    /// All points that some tool may move, as the guard reads them.
    lifted: LiftedPoints,
    scratch: Scratch,
}

impl WrinklesLayer {
    /// Computes the rest data; nothing folds yet.
    pub fn new(params: WrinklesParams, context: &BuildContext) -> Result<Self, LayerError> {
        let rest = WrinklesRest::build(&params, context)?;
        let coarse = rest.topology.point_count();
        let scratch = Scratch {
            refined: vec![Vec3::ZERO; rest.refined.point_count()],
            refined_normals: vec![Vec3::Y; rest.refined.point_count()],
            heights: vec![0.0; coarse + rest.refined.point_count()],
            blends: vec![0.0; rest.refined.point_count()],
            ..Scratch::default()
        };
        let count = rest.tools.len();
        let state = WrinklesState {
            peaks: vec![0.0; count],
            compressions: vec![0.0; count],
            planes: vec![Vec::new(); count],
        };
        let moved_vertices = vertices_of(&rest.topology, &rest.moved);
        let lifted = LiftedPoints::new(&rest.topology, &rest.refined, &rest.moved, |p| p);
        let emitted = BTreeMap::new();
        let mut layer = Self { params, rest, state, emitted, moved_vertices, lifted, scratch };
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

    fn emit(&self, active: &[bool]) -> RefinedMesh {
        let rest = &self.rest;
        let mut levels = vec![0u8; rest.base.triangles.len()];
        for (tool, _) in rest.tools.iter().zip(active).filter(|(_, on)| **on) {
            for &t in &tool.triangles {
                levels[t as usize] = levels[t as usize].max(tool.level);
            }
        }
        let emission = Emission::new(&rest.refined, &rest.topology, &rest.base, &levels);
        RefinedMesh::new(&emission, &rest.base)
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
            let surface = &self.rest.surface;
            let planes = &mut self.state.planes[index];
            scratch.line.update(&tool.anchors, |p| surface.at(p), planes);
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
                    let (p, n) = place(&self.rest, i.point);
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
        if self.scratch.blends.iter().any(|&b| b > 0.0) {
            self.rest.surface.refine(Normals::Smooth);
        }
        let (rest, scratch) = (&self.rest, &mut self.scratch);
        let (pairs, blends) = (&rest.surface.points, &scratch.blends);
        let points = scratch.refined.par_iter_mut().zip(scratch.refined_normals.par_iter_mut());
        let flat = |i: usize| {
            let place = rest.refined.places[i];
            let [a, b, c] = rest.topology.triangles[place.triangle as usize];
            let [u, v, w] = place.barycentric;
            let at = |p: u32| pairs[p as usize][0];
            u * at(a) + v * at(b) + w * at(c)
        };
        points.enumerate().with_min_len(POINTS_PER_TASK).for_each(|(i, (position, normal))| {
            let blend = blends[i];
            if blend <= 0.0 {
                *position = flat(i).into();
                return;
            }
            let [smooth, out] = rest.surface.refined(i);
            *normal = out.normalize_or(Vec3A::Y).into();
            *position = if blend < 1.0 { flat(i).lerp(smooth, blend) } else { smooth }.into();
        });
    }

    /// Writes the folded mesh.
    fn fold(&mut self, mesh: &mut Mesh) {
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
                mesh.positions[vertex as usize] += height * rest.surface.at(point).1;
            }
        }
        mesh.positions.extend(emitted.new_points.iter().map(|&i| {
            let height = s.heights[(coarse + i) as usize];
            let base = s.refined[i as usize];
            if height == 0.0 { base } else { base + height * s.refined_normals[i as usize] }
        }));
        emitted.adopt(mesh);
        if self.params.attributes {
            self.write_attributes(mesh);
        }
    }

    fn write_attributes(&mut self, mesh: &mut Mesh) {
        let Some(emitted) = self.emitted.get(&self.scratch.active) else { return };
        let (rest, s) = (&self.rest, &self.scratch);
        let coarse = rest.topology.point_count();
        let point_of = |v: usize| emitted.point_of(&rest.topology, v);
        mesh.set_scalar("wrinkle_height", |values| {
            values.iter_mut().enumerate().for_each(|(v, h)| *h = s.heights[point_of(v)]);
        });
        mesh.set_vector("wrinkle_direction", |values| {
            for (v, direction) in values.iter_mut().enumerate() {
                let point = point_of(v);
                *direction = match point.checked_sub(coarse) {
                    None => rest.surface.at(point as u32).1,
                    Some(i) => s.refined_normals[i],
                };
            }
        });
        let mut compression = std::mem::take(&mut self.scratch.compression);
        compression.clear();
        compression.resize(coarse + rest.refined.point_count(), 0.0f32);
        for (tool, &missing) in rest.tools.iter().zip(&self.state.compressions) {
            for i in &tool.influences {
                let known = &mut compression[i.point as usize];
                *known = known.max(i.weight * missing as f32);
            }
        }
        mesh.set_scalar("compression", |values| {
            values.iter_mut().enumerate().for_each(|(v, c)| *c = compression[point_of(v)]);
        });
        self.scratch.compression = compression;
    }
}

/// Position and normal of a coarse or refined point.
fn place(rest: &WrinklesRest, point: u32) -> (Vec3, Vec3) {
    let Some(i) = point.checked_sub(rest.topology.point_count() as u32) else {
        return rest.surface.at(point);
    };
    let [position, normal] = rest.refined.stencils.evaluate_pair(i as usize, &rest.surface.points);
    (position.into(), normal.normalize_or(Vec3A::Y).into())
}

fn smoothstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

impl WholeLayer for WrinklesLayer {
    type Params = WrinklesParams;
    const KIND: &'static str = "wrinkles";

    fn name(&self) -> &str {
        &self.params.name
    }

    fn build(params: &WrinklesParams, context: &BuildContext) -> Result<Self, LayerError> {
        params.validate()?;
        Self::new(params.clone(), context)
    }

    fn start(&mut self, _context: &StepContext, _frame: &Frame) -> Result<(), LayerError> {
        Ok(())
    }

    fn advance(&mut self, _context: &StepContext, _frame: &Frame) -> Result<(), LayerError> {
        Ok(())
    }

    fn write(&mut self, context: &StepContext, frame: &mut Frame) -> Result<(), LayerError> {
        let mesh = &mut frame.meshes[self.rest.mesh];
        check_vertices(mesh, self.rest.base.vertex_count, &self.params.on, Self::KIND)?;
        self.rest.surface.measure(&mesh.positions);
        self.lift(context.frame_number());
        self.refine();
        if self.params.guard {
            let heights = &mut self.scratch.heights;
            let reach = self.rest.moved.iter().map(|&p| heights[p as usize]).fold(0.0, f32::max);
            self.rest.surface.limit(&mut self.lifted, reach, heights);
        }
        self.fold(mesh);
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
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
