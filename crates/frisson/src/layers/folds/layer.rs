//! The layer: reads the stretch, scales the drawn folds, moves the refined mesh.

use glam::{Vec3, Vec3A, Vec4};
use rayon::prelude::*;

use super::factor::{FactorScratch, compute_factors};
use super::params::{Fold, FoldsParams};
use super::plan::FoldPlan;
use super::rest::{FoldRest, FoldsRest};
use super::state::FoldsState;
use super::sums::PointSums;
use crate::geometry::butterfly::{LiftedPoints, Normals, vertices_of};
use crate::geometry::{Mesh, NormalGroups, NormalScratch, Topology};
use crate::stage::{
    BuildContext, Frame, LayerError, LayerReport, SnapshotError, StepContext, SurfaceMotion,
    WholeLayer, check_vertices, from_snapshot, to_snapshot,
};

/// Vertices that one task computes: fewer, and handing them out costs more than the work.
const VERTICES_PER_TASK: usize = 4096;

/// Storage reused from frame to frame.
#[derive(Default)]
struct Scratch {
    folds: Vec<FoldScratch>,
    /// Displacement of each point of the surface, and of the normals-only creases [m].
    heights: Vec<f32>,
    creases: Vec<f32>,
    lifted: Vec<Vec3>,
}

/// What is computed of one fold.
#[derive(Default)]
struct FoldScratch {
    factor: FactorScratch,
    /// Factor, then displacement [m], of every member.
    values: Vec<f32>,
    /// Mean of the factors [-], and the highest displacement [m].
    mean: f64,
    highest: f32,
}

/// Folds on one mesh. Points are counted as the surface has them: coarse ones, then those that refinement
/// makes.
pub struct FoldsLayer {
    params: FoldsParams,
    rest: FoldsRest,
    state: FoldsState,
    lifts: PointSums,
    creases: PointSums,
    /// Points that some fold touches: as the guard reads them, and ascending.
    lifted: LiftedPoints,
    touched: Vec<u32>,
    /// Coarse vertices at those, with their points.
    coarse_touched: Vec<(u32, u32)>,
    /// Point of every vertex of the refined mesh.
    point_of_vertex: Vec<u32>,
    /// Meshes to stay outside of, by index in the frame.
    bodies: Vec<(usize, SurfaceMotion)>,
    normal_groups: Option<(NormalGroups, NormalScratch)>,
    scratch: Scratch,
}

impl FoldsLayer {
    /// Draws the folds; nothing moves yet.
    pub fn new(params: FoldsParams, context: &BuildContext) -> Result<Self, LayerError> {
        let rest = FoldsRest::build(&params, context)?;
        let mut drawn: Vec<u32> =
            rest.folds.iter().flat_map(|(_, f)| f.points.iter().copied()).collect();
        drawn.sort_unstable();
        drawn.dedup();
        let index_of = |p: u32| rest.surface.index_of(p);
        let mut touched: Vec<u32> = drawn.iter().map(|&p| index_of(p)).collect();
        touched.sort_unstable();
        let vertices = 0..rest.fine.topology.vertex_count;
        let point_of = |v: usize| index_of(rest.fine.point_of(&rest.topology, v) as u32);
        let mut bodies = Vec::new();
        for name in &params.collide {
            let index = context.frame.mesh_index(name).ok_or_else(|| {
                let names = context.frame.meshes.iter().map(|m| m.name.as_str());
                LayerError::unknown("collide", "mesh", name, names)
            })?;
            bodies.push((index, SurfaceMotion::default()));
        }
        let members: Vec<Vec<u32>> = rest
            .folds
            .iter()
            .map(|(_, f)| f.points.iter().map(|&p| index_of(p)).collect())
            .collect();
        let of_members =
            |m: &Vec<u32>| FoldScratch { values: vec![0.0; m.len()], ..Default::default() };
        let scratch = Scratch {
            folds: members.iter().map(of_members).collect(),
            heights: vec![0.0; rest.surface.points.len()],
            creases: vec![0.0; rest.surface.points.len()],
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
            lifted: LiftedPoints::new(&rest.topology, &rest.refined, &drawn, index_of),
            coarse_touched: vertices_of(&rest.topology, &touched),
            point_of_vertex: vertices.map(point_of).collect(),
            params,
            touched,
            bodies,
            normal_groups,
            scratch,
            rest,
        })
    }

    /// Reads the coarse mesh and computes the refined surface, not folded yet.
    fn refine(&mut self, mesh: &Mesh) {
        let rest = &mut self.rest;
        rest.surface.measure(&mesh.positions);
        rest.surface.refine(Normals::FromEnds);
        rest.faces.update(&rest.surface.points);
    }

    /// Displacement of every touched point: each fold's drawn height times its factor, meaned where
    /// several meet.
    fn lift(&mut self, frame_number: f64) {
        let (rest, s) = (&self.rest, &mut self.scratch);
        let work =
            |(((fold, laid), plan), s): (((&Fold, &FoldRest), &FoldPlan), &mut FoldScratch)| {
                lift_fold(rest, (fold, laid, plan), frame_number, s);
            };
        let members: usize = s.folds.iter().map(|f| f.values.len()).sum();
        if s.folds.len() < 2 || members < 2 * VERTICES_PER_TASK {
            let drawn = rest.folds.iter().map(|(fold, laid)| (fold, laid));
            drawn.zip(&rest.plans).zip(&mut s.folds).for_each(work);
        } else {
            let drawn = rest.folds.par_iter().map(|(fold, laid)| (fold, laid));
            drawn.zip(&rest.plans).zip(&mut s.folds).for_each(work);
        }
        for (factor, fold) in self.state.factors.iter_mut().zip(&s.folds) {
            *factor = fold.mean;
        }
        let folds = &s.folds;
        let values = |fold: usize| folds[fold].values.as_slice();
        self.lifts.compute(self.params.blend, values, &mut s.heights);
        self.creases.compute(self.params.blend, values, &mut s.creases);
    }

    /// Keeps folds from each other and from the bodies.
    fn keep_apart(&mut self, context: &StepContext, frame: &Frame) {
        let (rest, heights) = (&mut self.rest, &mut self.scratch.heights);
        if self.params.guard {
            let folds = rest.folds.iter().zip(&self.scratch.folds);
            let lifting = folds.filter(|((fold, _), _)| !fold.crease);
            let reach = lifting.map(|(_, f)| f.highest).fold(0.0, f32::max);
            rest.surface.limit(&mut self.lifted, reach, heights);
        }
        if self.bodies.is_empty() {
            return;
        }
        // Only grooves go towards a body below.
        let grooved = self.touched.iter().any(|&p| heights[p as usize] < 0.0);
        for (body_mesh, body) in self.bodies.iter_mut().filter(|_| grooved) {
            body.update(&frame.meshes[*body_mesh], context.dt);
            let gap = self.params.gap;
            for &point in &self.touched {
                let height = &mut heights[point as usize];
                if *height >= 0.0 {
                    continue;
                }
                let [base, normal] = rest.surface.points[point as usize];
                let place = Vec3::from(base + *height * nearly_unit(normal));
                let Some((distance, _)) = body.signed_distance(place, gap - *height) else {
                    continue;
                };
                if distance < gap {
                    *height = (*height + gap - distance).min(0.0);
                }
            }
        }
    }

    /// Moves the vertices and gives the mesh its new triangles.
    fn fold(&mut self, mesh: &mut Mesh) {
        let (rest, heights) = (&self.rest, &self.scratch.heights);
        for &(vertex, point) in &self.coarse_touched {
            let height = heights[point as usize];
            if height != 0.0 {
                mesh.positions[vertex as usize] += height * rest.surface.at(point).1;
            }
        }
        let lifted = |&point: &u32| {
            let [position, normal] = &rest.surface.points[point as usize];
            let height = heights[point as usize];
            if height == 0.0 {
                return Vec3::from(*position);
            }
            Vec3::from(*position + height * nearly_unit(*normal))
        };
        let coarse = rest.base.vertex_count;
        let new = &self.point_of_vertex[coarse..];
        if new.len() <= 2 * VERTICES_PER_TASK {
            mesh.positions.extend(new.iter().map(lifted));
        } else {
            mesh.positions.resize(self.point_of_vertex.len(), Vec3::ZERO);
            let vertices = mesh.positions[coarse..].par_iter_mut().zip(new);
            vertices.with_min_len(VERTICES_PER_TASK).for_each(|(v, p)| *v = lifted(p));
        }
        rest.fine.adopt(mesh);
        self.shade_creases(mesh);
        if self.params.attributes {
            self.write_attributes(mesh);
        }
    }

    fn write_attributes(&self, mesh: &mut Mesh) {
        let (points, heights) = (&self.point_of_vertex, &self.scratch.heights);
        mesh.set_scalar("fold_height", |values| {
            values.iter_mut().zip(points).for_each(|(height, &p)| *height = heights[p as usize]);
        });
        mesh.set_vector("fold_direction", |values| {
            values.iter_mut().zip(points).for_each(|(normal, &p)| *normal = self.normal_at(p));
        });
    }

    /// Normal at a point of the surface, before folding.
    fn normal_at(&self, point: u32) -> Vec3 {
        nearly_unit(self.rest.surface.points[point as usize][1]).into()
    }

    /// Normals of the surface as if the creases were displaced.
    fn shade_creases(&mut self, mesh: &mut Mesh) {
        if self.normal_groups.is_none() {
            return;
        }
        let mut lifted = std::mem::take(&mut self.scratch.lifted);
        lifted.clear();
        lifted.extend(mesh.positions.iter().zip(&self.point_of_vertex).map(|(&place, &point)| {
            let height = self.scratch.creases[point as usize];
            if height == 0.0 { place } else { place + height * self.normal_at(point) }
        }));
        if let Some((groups, scratch)) = &mut self.normal_groups {
            groups.compute(&lifted, scratch, &mut mesh.normals);
        }
        self.scratch.lifted = lifted;
    }
}

/// Displacements of one fold's members, and the mean of their factors.
fn lift_fold(
    rest: &FoldsRest,
    (fold, laid, plan): (&Fold, &FoldRest, &FoldPlan),
    frame_number: f64,
    s: &mut FoldScratch,
) {
    plan.compute_stretches(&rest.faces, &mut s.factor.stretches);
    let place = |p: u32| rest.surface.points[rest.surface.index_of(p) as usize][0];
    let base_length = |m: usize, q: u32| place(laid.points[m]).distance(place(q));
    compute_factors(fold, laid, plan, base_length, &mut s.factor, &mut s.values);
    let amount = fold.amount.at(frame_number) as f32;
    (s.mean, s.highest) = scale(&mut s.values, &laid.heights, amount);
}

/// Makes displacements out of factors, drawn heights and an amount. The mean of the factors, 0 without any,
/// and the highest displacement, at least 0. In four strands, so that nothing waits for what is before.
fn scale(values: &mut [f32], heights: &[f32], amount: f32) -> (f64, f32) {
    let count = values.len().max(1);
    let (mut total, mut highest) = (Vec4::ZERO, Vec4::ZERO);
    let mut fours = values.chunks_exact_mut(4);
    let (drawn, last) = heights.as_chunks::<4>();
    for (four, &drawn) in fours.by_ref().zip(drawn) {
        let factors = Vec4::from_slice(four);
        let lifted = factors * (amount * Vec4::from_array(drawn));
        (total, highest) = (total + factors, highest.max(lifted));
        lifted.write_to_slice(four);
    }
    let (mut sum, mut most) = (total.element_sum(), highest.max_element());
    for (value, &drawn) in fours.into_remainder().iter_mut().zip(last) {
        sum += *value;
        *value *= amount * drawn;
        most = most.max(*value);
    }
    (f64::from(sum) / count as f64, most)
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

impl WholeLayer for FoldsLayer {
    type Params = FoldsParams;
    const KIND: &'static str = "folds";

    fn name(&self) -> &str {
        &self.params.name
    }

    fn build(params: &FoldsParams, context: &BuildContext) -> Result<Self, LayerError> {
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
        self.refine(mesh);
        self.lift(context.frame_number());
        self.keep_apart(context, frame);
        self.fold(&mut frame.meshes[self.rest.mesh]);
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
    fn factors_become_displacements() {
        for count in [0, 3, 4, 7, 8] {
            let factors: Vec<f32> = (0..count).map(|i| 0.25 * i as f32).collect();
            let heights: Vec<f32> = (0..count).map(|i| 0.5 - 0.125 * i as f32).collect();
            let mut values = factors.clone();
            let (mean, highest) = scale(&mut values, &heights, 2.0);
            for ((value, factor), height) in values.iter().zip(&factors).zip(&heights) {
                assert_eq!(*value, factor * (2.0 * height));
            }
            let sum: f32 = factors.iter().sum();
            assert_eq!(mean, f64::from(sum) / f64::from(count.max(1)));
            assert_eq!(highest, values.iter().fold(0.0, |m, v| v.max(m)));
        }
    }

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
