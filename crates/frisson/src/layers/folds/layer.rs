//! The layer: reads the stretch, scales the drawn folds, moves the refined mesh.

use std::sync::Arc;

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::factor::{FactorScratch, compute_factors};
use super::params::FoldsParams;
use super::rest::FoldsRest;
use super::state::FoldsState;
use crate::geometry::{FoldGuard, Mesh, NormalGroups, NormalScratch, Topology};
use crate::stage::{
    BuildContext, Frame, Layer, LayerError, LayerReport, SnapshotError, StepContext, SurfaceMotion,
    from_snapshot, to_snapshot,
};
use crate::tolerances::folds as tolerances;

/// Refined points that one task computes: fewer, and handing them out costs more than the work.
const POINTS_PER_TASK: usize = 1024;

/// Storage reused from frame to frame.
#[derive(Default)]
struct Scratch {
    /// Coarse then refined points; only those needed are kept true.
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    coarse_positions: Vec<Vec3>,
    coarse_normals: Vec<Vec3>,
    /// Both side by side, for the stencils.
    pairs: Vec<[Vec3A; 2]>,
    factor: FactorScratch,
    /// `sum D |D|^q` and `sum |D|^q` per point, for what moves and for what only shades.
    sums: Vec<[f32; 4]>,
    heights: Vec<f32>,
    creases: Vec<f32>,
    /// Room in front of coarse points [m].
    room: Vec<f32>,
    lifted: Vec<Vec3>,
}

/// Folds on one mesh.
pub struct FoldsLayer {
    params: FoldsParams,
    rest: FoldsRest,
    state: FoldsState,
    /// Points that some fold touches, ascending.
    touched: Vec<u32>,
    /// Coarse vertices among them, with their points.
    moved_vertices: Vec<(u32, u32)>,
    guard: FoldGuard,
    /// Meshes to stay outside of, by index in the frame.
    bodies: Vec<(usize, SurfaceMotion)>,
    normal_groups: Option<(NormalGroups, NormalScratch)>,
    scratch: Scratch,
}

impl FoldsLayer {
    /// Draws the folds; nothing moves yet.
    pub fn new(params: FoldsParams, context: &BuildContext) -> Result<Self, LayerError> {
        let rest = FoldsRest::build(&params, context)?;
        let mut touched: Vec<u32> =
            rest.folds.iter().flat_map(|(_, f)| f.points.iter().copied()).collect();
        touched.sort_unstable();
        touched.dedup();
        let coarse = rest.topology.point_count();
        let is_touched = |p: u32| touched.binary_search(&p).is_ok();
        let vertices = rest.topology.point_of_vertex.iter().enumerate();
        let moved_vertices =
            vertices.filter(|(_, p)| is_touched(**p)).map(|(v, &p)| (v as u32, p)).collect();
        let mut bodies = Vec::new();
        for name in &params.collide {
            let index = context.frame.mesh_index(name).ok_or_else(|| {
                let names = context.frame.meshes.iter().map(|m| m.name.as_str());
                LayerError::unknown("collide", "mesh", name, names)
            })?;
            bodies.push((index, SurfaceMotion::default()));
        }
        let total = coarse + rest.refined.point_count();
        let scratch = Scratch {
            coarse_positions: vec![Vec3::ZERO; coarse],
            coarse_normals: vec![Vec3::Y; coarse],
            pairs: vec![[Vec3A::ZERO; 2]; coarse],
            room: vec![0.0; coarse],
            positions: vec![Vec3::ZERO; total],
            normals: vec![Vec3::Y; total],
            sums: vec![[0.0; 4]; total],
            heights: vec![0.0; total],
            creases: vec![0.0; total],
            ..Scratch::default()
        };
        let creased = rest.folds.iter().any(|(f, _)| f.crease);
        let normal_groups = creased.then(|| {
            let fine = Topology::unwelded(rest.fine.vertex_count, &rest.fine.triangles);
            (NormalGroups::for_shading(&rest.fine, &fine), NormalScratch::default())
        });
        let state = FoldsState { factors: vec![1.0; rest.folds.len()] };
        let guard = FoldGuard::default();
        Ok(Self {
            params,
            rest,
            state,
            touched,
            moved_vertices,
            guard,
            bodies,
            normal_groups,
            scratch,
        })
    }

    /// Base positions and normals of all points under the folds.
    fn measure(&mut self, mesh: &Mesh) {
        let (rest, s) = (&self.rest, &mut self.scratch);
        let coarse = rest.topology.point_count();
        for &p in &rest.support {
            let vertex = rest.topology.vertex_of_point[p as usize];
            s.coarse_positions[p as usize] = mesh.positions[vertex as usize];
        }
        for &p in &rest.normal_points {
            s.coarse_normals[p as usize] = rest.topology.point_normal(&s.coarse_positions, p);
        }
        for &p in &rest.support {
            let p = p as usize;
            s.pairs[p] = [s.coarse_positions[p].into(), s.coarse_normals[p].into()];
            s.positions[p] = s.coarse_positions[p];
            s.normals[p] = s.coarse_normals[p];
        }
        let (positions, normals) = (&mut s.positions[coarse..], &mut s.normals[coarse..]);
        let points = positions.par_iter_mut().zip(normals.par_iter_mut());
        points.enumerate().with_min_len(POINTS_PER_TASK).for_each(|(i, (position, normal))| {
            let [at, out] = rest.refined.stencils.evaluate_pair(i, &s.pairs);
            *position = at.into();
            *normal = out.normalize_or(Vec3A::Y).into();
        });
    }

    /// Height of every touched point: each fold's drawn height times its factor, meaned where
    /// several meet.
    fn lift(&mut self, frame_number: f64) {
        let (rest, s) = (&self.rest, &mut self.scratch);
        let q = self.params.blend;
        for &p in &self.touched {
            s.sums[p as usize] = [0.0; 4];
        }
        for (index, (fold, laid)) in rest.folds.iter().enumerate() {
            let (positions, normals) = (&s.coarse_positions, &s.coarse_normals);
            let stretch = |m: usize| {
                let mut r = laid.compute_stretch(m, &rest.topology, positions);
                if fold.curvature > 0.0 {
                    let bending = laid.compute_bending(m, &rest.topology, positions, normals);
                    let change = bending - laid.bending[m];
                    if change.abs() * fold.width > tolerances::SAME_BENDING {
                        r += change * fold.curvature * laid.heights[m];
                    }
                }
                let same = f64::from((r - 1.0).abs()) < tolerances::SAME_LENGTH;
                if same { 1.0 } else { r }
            };
            let members = (0..laid.points.len()).into_par_iter().with_min_len(POINTS_PER_TASK);
            members.map(stretch).collect_into_vec(&mut s.factor.stretches);
            let place = |p: u32| s.positions[p as usize];
            let base_length = |m: usize, q: u32| place(laid.points[m]).distance(place(q));
            compute_factors(fold, laid, base_length, &mut s.factor);
            let amount = fold.amount.at(frame_number) as f32;
            let slot = if fold.crease { 2 } else { 0 };
            let mut total = 0.0f64;
            for (m, &p) in laid.points.iter().enumerate() {
                let height = amount * s.factor.factors[m] * laid.heights[m];
                let weight = if q == 0.0 {
                    1.0
                } else if q == 1.0 {
                    height.abs()
                } else {
                    height.abs().powf(q)
                };
                s.sums[p as usize][slot] += height * weight;
                s.sums[p as usize][slot + 1] += weight;
                total += f64::from(s.factor.factors[m]);
            }
            self.state.factors[index] = total / laid.points.len().max(1) as f64;
        }
        for &p in &self.touched {
            let [moved, moved_weight, shaded, shaded_weight] = s.sums[p as usize];
            let mean = |sum: f32, weight: f32| if weight > 0.0 { sum / weight } else { 0.0 };
            s.heights[p as usize] = mean(moved, moved_weight);
            s.creases[p as usize] = mean(shaded, shaded_weight);
        }
    }

    /// Keeps folds from each other and from the bodies.
    fn keep_apart(&mut self, context: &StepContext, frame: &Frame) {
        let s = &mut self.scratch;
        let reach = self.touched.iter().map(|&p| s.heights[p as usize]).fold(0.0f32, f32::max);
        if self.params.guard && reach > 0.0 {
            let rest = &self.rest;
            let coarse = rest.topology.point_count();
            self.guard.find_room(
                &rest.corners,
                &s.coarse_positions,
                &s.coarse_normals,
                reach,
                rest.edge_length,
                &mut s.room,
            );
            for &p in &self.touched {
                let room = match (p as usize).checked_sub(coarse) {
                    None => s.room[p as usize],
                    Some(i) => {
                        let place = rest.refined.places[i];
                        let corners = rest.topology.triangles[place.triangle as usize];
                        let at = |k: usize| place.barycentric[k] * s.room[corners[k] as usize];
                        at(0) + at(1) + at(2)
                    }
                };
                let height = &mut s.heights[p as usize];
                *height = height.min(room);
            }
        }
        for (mesh, body) in &mut self.bodies {
            body.update(&frame.meshes[*mesh], context.dt);
            for &p in &self.touched {
                let (base, normal) = (s.positions[p as usize], s.normals[p as usize]);
                let height = s.heights[p as usize];
                let reach = height.abs() + self.params.gap;
                let Some((distance, _)) = body.signed_distance(base + height * normal, reach)
                else {
                    continue;
                };
                if height < 0.0 && distance < self.params.gap {
                    s.heights[p as usize] = (height + self.params.gap - distance).min(0.0);
                }
            }
        }
    }

    /// Writes the folded mesh.
    fn write(&mut self, mesh: &mut Mesh) {
        let (rest, s) = (&self.rest, &self.scratch);
        let coarse = rest.topology.point_count() as u32;
        for &(vertex, point) in &self.moved_vertices {
            let height = s.heights[point as usize];
            if height != 0.0 {
                mesh.positions[vertex as usize] += height * s.normals[point as usize];
            }
        }
        mesh.positions.extend(rest.new_points.iter().map(|&i| {
            let height = s.heights[(coarse + i) as usize];
            let base = s.positions[(coarse + i) as usize];
            if height == 0.0 { base } else { base + height * s.normals[(coarse + i) as usize] }
        }));
        mesh.topology = Arc::clone(&rest.fine);
        let count = mesh.positions.len();
        mesh.attributes.retain(|a| a.values.len() == count);
        self.shade_creases(mesh);
        if self.params.attributes {
            let heights = &self.scratch.heights;
            let rest = &self.rest;
            mesh.set_scalar("fold_height", |values| {
                values.iter_mut().enumerate().for_each(|(v, h)| *h = heights[point_of(rest, v)]);
            });
            let normals = &self.scratch.normals;
            mesh.set_vector("fold_direction", |values| {
                values.iter_mut().enumerate().for_each(|(v, d)| *d = normals[point_of(rest, v)]);
            });
        }
    }

    /// Normals of the surface as if the creases were displaced.
    fn shade_creases(&mut self, mesh: &mut Mesh) {
        let Some((groups, normal_scratch)) = &mut self.normal_groups else { return };
        let s = &mut self.scratch;
        s.lifted.clear();
        s.lifted.extend(mesh.positions.iter().enumerate().map(|(v, &p)| {
            let point = point_of(&self.rest, v);
            if s.creases[point] == 0.0 { p } else { p + s.creases[point] * s.normals[point] }
        }));
        groups.compute(&s.lifted, normal_scratch, &mut mesh.normals);
    }
}

/// Coarse or refined point of a vertex of the folded mesh.
fn point_of(rest: &FoldsRest, vertex: usize) -> usize {
    match vertex.checked_sub(rest.topology.point_of_vertex.len()) {
        None => rest.topology.point_of_vertex[vertex] as usize,
        Some(new) => rest.topology.point_count() + rest.new_points[new] as usize,
    }
}

impl Layer for FoldsLayer {
    fn name(&self) -> &str {
        &self.params.name
    }

    fn kind(&self) -> &'static str {
        "folds"
    }

    fn step(&mut self, context: &StepContext, frame: &mut Frame) -> Result<(), LayerError> {
        if !context.surfaces_wanted {
            return Ok(());
        }
        let mesh = &frame.meshes[self.rest.mesh];
        if mesh.positions.len() != self.rest.base.vertex_count {
            return Err(LayerError::parameter(
                "on",
                format!(
                    "{:?} changes its triangles during the shot: put folds before the layer that does that",
                    self.params.on
                ),
            ));
        }
        self.measure(mesh);
        self.lift(context.frame_number());
        self.keep_apart(context, frame);
        self.write(&mut frame.meshes[self.rest.mesh]);
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
        for ((fold, _), &factor) in self.rest.folds.iter().zip(&self.state.factors) {
            report.measure(format!("{} factor", fold.name), "-", factor);
        }
        self.rest.warnings.iter().for_each(|w| report.warn(w.clone()));
    }
}
