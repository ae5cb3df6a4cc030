//! The layer: reads the stretch, scales the drawn folds, moves the refined mesh.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::factor::{FactorScratch, compute_factors};
use super::params::FoldsParams;
use super::rest::FoldsRest;
use super::state::FoldsState;
use super::sums::PointSums;
use crate::geometry::butterfly::vertices_of;
use crate::geometry::{Mesh, NONE, NormalGroups, NormalScratch, Topology};
use crate::stage::{
    BuildContext, Frame, Layer, LayerError, LayerReport, SnapshotError, StepContext, SurfaceMotion,
    check_vertices, from_snapshot, to_snapshot,
};

/// Refined points that one task computes: fewer, and handing them out costs more than the work.
const POINTS_PER_TASK: usize = 4096;

/// Storage reused from frame to frame.
#[derive(Default)]
struct Scratch {
    /// Unit normals of the new vertices.
    normals: Vec<Vec3>,
    factor: FactorScratch,
    /// Factor, then displacement [m], of every member of every fold, one fold after the other.
    values: Vec<f32>,
    /// Displacement of each point, coarse then refined, and of the normals-only creases [m].
    heights: Vec<f32>,
    creases: Vec<f32>,
    lifted: Vec<Vec3>,
}

/// A vertex of the refined mesh that some fold touches.
#[derive(Clone, Copy)]
struct Touched {
    vertex: u32,
    point: u32,
}

/// Folds on one mesh.
pub struct FoldsLayer {
    params: FoldsParams,
    rest: FoldsRest,
    state: FoldsState,
    lifts: PointSums,
    creases: PointSums,
    /// Points that some fold touches, ascending.
    touched: Vec<u32>,
    /// Vertices at those: coarse ones, then new ones (counted from the first of them).
    coarse_touched: Vec<Touched>,
    new_touched: Vec<Touched>,
    /// First new vertex of each refined point.
    new_vertex_of: Vec<u32>,
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
        let coarse = rest.topology.point_count() as u32;
        let coarse_touched = vertices_of(&rest.topology, &touched)
            .into_iter()
            .map(|(vertex, point)| Touched { vertex, point })
            .collect();
        let new = (0u32..).zip(&rest.fine.new_points);
        let new_touched: Vec<Touched> = new
            .map(|(vertex, &i)| Touched { vertex, point: coarse + i })
            .filter(|t| touched.binary_search(&t.point).is_ok())
            .collect();
        let count = rest.fine.new_points.len();
        let mut new_vertex_of = vec![NONE; rest.refined.point_count()];
        for (vertex, &i) in rest.fine.new_points.iter().enumerate().rev() {
            new_vertex_of[i as usize] = vertex as u32;
        }
        let mut bodies = Vec::new();
        for name in &params.collide {
            let index = context.frame.mesh_index(name).ok_or_else(|| {
                let names = context.frame.meshes.iter().map(|m| m.name.as_str());
                LayerError::unknown("collide", "mesh", name, names)
            })?;
            bodies.push((index, SurfaceMotion::default()));
        }
        let members: Vec<&[u32]> = rest.folds.iter().map(|(_, f)| f.points.as_slice()).collect();
        let total = coarse as usize + rest.refined.point_count();
        let scratch = Scratch {
            normals: vec![Vec3::Y; count],
            values: vec![0.0; members.iter().map(|m| m.len()).sum()],
            heights: vec![0.0; total],
            creases: vec![0.0; total],
            ..Scratch::default()
        };
        let creased = rest.folds.iter().any(|(f, _)| f.crease);
        let normal_groups = creased.then(|| {
            let topology = &rest.fine.topology;
            let fine = Topology::unwelded(topology.vertex_count, &topology.triangles);
            (NormalGroups::for_shading(topology, &fine), NormalScratch::default())
        });
        Ok(Self {
            lifts: PointSums::new(&members, |fold| !rest.folds[fold].0.crease),
            creases: PointSums::new(&members, |fold| rest.folds[fold].0.crease),
            state: FoldsState { factors: vec![1.0; rest.folds.len()] },
            params,
            touched,
            coarse_touched,
            new_touched,
            new_vertex_of,
            bodies,
            normal_groups,
            scratch,
            rest,
        })
    }

    /// Reads the coarse mesh and appends the refined vertices, not folded yet.
    fn refine(&mut self, mesh: &mut Mesh) {
        let (rest, s) = (&mut self.rest, &mut self.scratch);
        rest.surface.measure(&mesh.positions);
        rest.surface.refine();
        rest.faces.update(&rest.surface.points);
        let new = rest.fine.new_points.iter().zip(&mut s.normals);
        mesh.positions.extend(new.map(|(&i, normal)| {
            let [position, out] = rest.surface.refined(i as usize);
            *normal = nearly_unit(out).into();
            Vec3::from(position)
        }));
    }

    /// Displacement of every touched point: each fold's drawn height times its factor, meaned where
    /// several meet.
    fn lift(&mut self, frame_number: f64, mesh: &Mesh) {
        let (rest, s) = (&self.rest, &mut self.scratch);
        let (coarse, first_new) = (rest.topology.point_count(), rest.base.vertex_count);
        let place = |p: u32| match (p as usize).checked_sub(coarse) {
            None => rest.surface.at(p).0,
            Some(i) => mesh.positions[first_new + self.new_vertex_of[i] as usize],
        };
        let mut start = 0;
        for (index, ((fold, laid), plan)) in rest.folds.iter().zip(&rest.plans).enumerate() {
            let count = laid.points.len();
            let values = &mut s.values[start..start + count];
            start += count;
            let stretch = |m: usize| plan.stretch(m, &rest.faces);
            if count <= POINTS_PER_TASK {
                s.factor.stretches.clear();
                s.factor.stretches.extend((0..count).map(stretch));
            } else {
                let members = (0..count).into_par_iter().with_min_len(POINTS_PER_TASK);
                members.map(stretch).collect_into_vec(&mut s.factor.stretches);
            }
            let base_length = |m: usize, q: u32| place(laid.points[m]).distance(place(q));
            compute_factors(fold, laid, plan, base_length, &mut s.factor, values);
            let total: f64 = values.iter().map(|&f| f64::from(f)).sum();
            self.state.factors[index] = total / count.max(1) as f64;
            let amount = fold.amount.at(frame_number) as f32;
            values.iter_mut().zip(&laid.heights).for_each(|(v, h)| *v *= amount * h);
        }
        self.lifts.compute(self.params.blend, &s.values, &mut s.heights);
        self.creases.compute(self.params.blend, &s.values, &mut s.creases);
    }

    /// Keeps folds from each other and from the bodies.
    fn keep_apart(&mut self, context: &StepContext, frame: &Frame) {
        let (rest, heights) = (&mut self.rest, &mut self.scratch.heights);
        if self.params.guard {
            rest.surface.limit(&rest.topology, &rest.refined, &self.touched, heights);
        }
        let mesh = &frame.meshes[rest.mesh];
        // Only grooves go towards a body below.
        let grooved = self.touched.iter().any(|&p| heights[p as usize] < 0.0);
        for (body_mesh, body) in self.bodies.iter_mut().filter(|_| grooved) {
            body.update(&frame.meshes[*body_mesh], context.dt);
            let gap = self.params.gap;
            let mut keep_out = |point: u32, base: Vec3, normal: Vec3| {
                let height = heights[point as usize];
                if height >= 0.0 {
                    return;
                }
                let reach = gap - height;
                let Some((distance, _)) = body.signed_distance(base + height * normal, reach)
                else {
                    return;
                };
                if distance < gap {
                    heights[point as usize] = (height + gap - distance).min(0.0);
                }
            };
            for t in &self.coarse_touched {
                let (base, normal) = rest.surface.at(t.point);
                keep_out(t.point, base, normal);
            }
            for t in &self.new_touched {
                let base = mesh.positions[rest.base.vertex_count + t.vertex as usize];
                keep_out(t.point, base, self.scratch.normals[t.vertex as usize]);
            }
        }
    }

    /// Moves the vertices and gives the mesh its new triangles.
    fn write(&mut self, mesh: &mut Mesh) {
        let (rest, s) = (&self.rest, &self.scratch);
        for t in &self.coarse_touched {
            let height = s.heights[t.point as usize];
            if height != 0.0 {
                mesh.positions[t.vertex as usize] += height * rest.surface.at(t.point).1;
            }
        }
        let new = &mut mesh.positions[rest.base.vertex_count..];
        for t in &self.new_touched {
            let height = s.heights[t.point as usize];
            if height != 0.0 {
                new[t.vertex as usize] += height * s.normals[t.vertex as usize];
            }
        }
        rest.fine.adopt(mesh);
        self.shade_creases(mesh);
        if self.params.attributes {
            self.write_attributes(mesh);
        }
    }

    fn write_attributes(&self, mesh: &mut Mesh) {
        let (rest, s) = (&self.rest, &self.scratch);
        let coarse = &rest.topology;
        mesh.set_scalar("fold_height", |values| {
            for (v, height) in values.iter_mut().enumerate() {
                *height = s.heights[rest.fine.point_of(coarse, v)];
            }
        });
        mesh.set_vector("fold_direction", |values| {
            for (v, direction) in values.iter_mut().enumerate() {
                *direction = self.normal_of(v);
            }
        });
    }

    /// Normal of a vertex of the refined mesh, before folding.
    fn normal_of(&self, vertex: usize) -> Vec3 {
        match vertex.checked_sub(self.rest.base.vertex_count) {
            None => self.rest.surface.at(self.rest.topology.point_of_vertex[vertex]).1,
            Some(new) => self.scratch.normals[new],
        }
    }

    /// Normals of the surface as if the creases were displaced.
    fn shade_creases(&mut self, mesh: &mut Mesh) {
        if self.normal_groups.is_none() {
            return;
        }
        let mut lifted = std::mem::take(&mut self.scratch.lifted);
        lifted.clear();
        lifted.extend(mesh.positions.iter().enumerate().map(|(v, &p)| {
            let height = self.scratch.creases[self.rest.fine.point_of(&self.rest.topology, v)];
            if height == 0.0 { p } else { p + height * self.normal_of(v) }
        }));
        if let Some((groups, scratch)) = &mut self.normal_groups {
            groups.compute(&lifted, scratch, &mut mesh.normals);
        }
        self.scratch.lifted = lifted;
    }
}

/// The unit vector along one that is nearly unit already, as means of unit normals mostly are: two steps
/// of Newton's for the inverse root, good to 1e-6 from 0.9 to 1.1, without a root or a division.
fn nearly_unit(v: Vec3A) -> Vec3A {
    let square = v.length_squared();
    if (square - 1.0).abs() > 0.1 {
        return v.normalize_or(Vec3A::Y);
    }
    let first = 1.5 - 0.5 * square;
    v * (first * (1.5 - 0.5 * square * first * first))
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
        let mesh = &mut frame.meshes[self.rest.mesh];
        check_vertices(mesh, self.rest.base.vertex_count, &self.params.on, self.kind())?;
        self.refine(mesh);
        self.lift(context.frame_number(), mesh);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_unit_vectors_become_unit() {
        for length in [0.3f32, 0.94, 0.96, 0.99, 1.0, 1.02, 1.06, 3.0] {
            let unit = nearly_unit(length * Vec3A::new(0.6, 0.0, 0.8)).length();
            assert!((unit - 1.0).abs() < 1e-5, "{length}: {unit}");
        }
        assert_eq!(nearly_unit(Vec3A::Y), Vec3A::Y);
        assert_eq!(nearly_unit(Vec3A::ZERO), Vec3A::Y);
    }
}
