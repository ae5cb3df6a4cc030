//! What a frame does: reads the stretch, scales the drawn folds, moves the refined mesh.

use glam::{Vec3, Vec3A, Vec4};
use rayon::prelude::*;

use super::factor::compute_factors;
use super::fold_tables::{Faces, FoldTables};
use super::params::{Fold, FoldsParams};
use super::rest::{DrawnFolds, FoldRest, FoldsRest};
use super::scratch::{FoldScratch, FoldsScratch, Tools};
use crate::geometry::Mesh;
use crate::geometry::butterfly::{Normals, PatchSurface};
use crate::stage::{Frame, StepContext};

/// Vertices that one task computes: fewer, and handing them out costs more than the work.
const VERTICES_PER_TASK: usize = 4096;

/// Folds the mesh of a frame.
pub fn write(
    (params, rest): (&FoldsParams, &FoldsRest),
    scratch: &mut FoldsScratch,
    context: &StepContext,
    frame: &mut Frame,
) {
    let mut tools = scratch.tools.take().unwrap_or_else(|| Tools::new(rest));
    refine(&mut tools, &frame.meshes[rest.drawn.mesh]);
    lift((params, rest), &mut tools, context.frame_number());
    keep_apart((params, rest), &mut tools, context, frame);
    fold((params, rest), &mut tools, &mut frame.meshes[rest.drawn.mesh]);
    scratch.tools = Some(tools);
}

/// Reads the coarse mesh and computes the refined surface, not folded yet.
fn refine(tools: &mut Tools, mesh: &Mesh) {
    tools.surface.measure(&mesh.positions);
    tools.surface.refine(Normals::FromEnds);
    tools.faces.update(&tools.surface.points);
}

/// Displacement of every touched point: each fold's drawn height times its factor, meaned where
/// several meet.
fn lift((params, rest): (&FoldsParams, &FoldsRest), tools: &mut Tools, frame_number: f64) {
    let drawn = &rest.drawn;
    let Tools { surface, faces, folds, heights, creases, .. } = tools;
    let now = Now { surface, faces, params, frame_number };
    let members: usize = folds.iter().map(|f| f.values.len()).sum();
    // Few are done before tasks for them have started.
    if folds.len() < 2 || members < 2 * VERTICES_PER_TASK {
        for (index, s) in folds.iter_mut().enumerate() {
            lift_fold(drawn, index, now, s);
        }
    } else {
        let work = |(index, s): (usize, &mut FoldScratch)| lift_fold(drawn, index, now, s);
        folds.par_iter_mut().enumerate().for_each(work);
    }
    let values = |fold: usize| folds[fold].values.as_slice();
    rest.lifts.compute(params.blend, values, heights);
    rest.creases.compute(params.blend, values, creases);
}

/// Keeps folds from each other and from the bodies.
fn keep_apart(
    (params, rest): (&FoldsParams, &FoldsRest),
    tools: &mut Tools,
    context: &StepContext,
    frame: &Frame,
) {
    let Tools { surface, lifted, bodies, folds, heights, .. } = tools;
    if params.guard {
        let folds = rest.drawn.folds.iter().zip(folds);
        let lifting = folds.filter(|((fold, _), _)| !fold.crease);
        let reach = lifting.map(|(_, f)| f.highest).fold(0.0, f32::max);
        surface.limit(lifted, reach, heights);
    }
    // Only grooves go towards a body below.
    let grooved = rest.touched.iter().any(|&p| heights[p as usize] < 0.0);
    for (&mesh, body) in rest.bodies.iter().zip(bodies).filter(|_| grooved) {
        // Following a body costs as much as the folds themselves, and only a groove needs it.
        body.update(&frame.meshes[mesh], context.dt);
        for &point in &rest.touched {
            let height = &mut heights[point as usize];
            if *height >= 0.0 {
                continue;
            }
            let [base, normal] = surface.points[point as usize];
            let place = Vec3::from(base + *height * nearly_unit(normal));
            let Some((distance, _)) = body.signed_distance(place, params.gap - *height) else {
                continue;
            };
            if distance < params.gap {
                // Made shallower, and never turned into a ridge.
                *height = (*height + params.gap - distance).min(0.0);
            }
        }
    }
}

/// Moves the vertices and gives the mesh its new triangles.
fn fold((params, rest): (&FoldsParams, &FoldsRest), tools: &mut Tools, mesh: &mut Mesh) {
    let (surface, heights) = (&tools.surface, &tools.heights);
    for &(vertex, point) in &rest.coarse_touched {
        let height = heights[point as usize];
        // What no fold lifts keeps its very bits.
        if height != 0.0 {
            mesh.positions[vertex as usize] += height * surface.at(point).1;
        }
    }
    let lifted = |&point: &u32| {
        let [position, normal] = &surface.points[point as usize];
        let height = heights[point as usize];
        if height == 0.0 {
            return Vec3::from(*position);
        }
        Vec3::from(*position + height * nearly_unit(*normal))
    };
    let coarse = rest.drawn.base.vertex_count;
    let new = &rest.point_of_vertex[coarse..];
    if new.len() <= 2 * VERTICES_PER_TASK {
        mesh.positions.extend(new.iter().map(lifted));
    } else {
        mesh.positions.resize(rest.point_of_vertex.len(), Vec3::ZERO);
        let vertices = mesh.positions[coarse..].par_iter_mut().zip(new);
        vertices.with_min_len(VERTICES_PER_TASK).for_each(|(v, p)| *v = lifted(p));
    }
    rest.drawn.fine.adopt(mesh);
    shade_creases(rest, tools, mesh);
    if params.attributes {
        write_attributes(rest, tools, mesh);
    }
}

fn write_attributes(rest: &FoldsRest, tools: &Tools, mesh: &mut Mesh) {
    let (points, heights) = (&rest.point_of_vertex, &tools.heights);
    mesh.set_scalar("fold_height", |values| {
        values.iter_mut().zip(points).for_each(|(height, &p)| *height = heights[p as usize]);
    });
    mesh.set_vector("fold_direction", |values| {
        values.iter_mut().zip(points).for_each(|(normal, &p)| *normal = tools.normal_at(p));
    });
}

/// Normals of the surface as if the creases were displaced.
fn shade_creases(rest: &FoldsRest, tools: &mut Tools, mesh: &mut Mesh) {
    let Some(groups) = &rest.normal_groups else { return };
    let mut creased = std::mem::take(&mut tools.creased);
    creased.clear();
    creased.extend(mesh.positions.iter().zip(&rest.point_of_vertex).map(|(&place, &point)| {
        let height = tools.creases[point as usize];
        if height == 0.0 { place } else { place + height * tools.normal_at(point) }
    }));
    groups.compute(&creased, &mut tools.normals, &mut mesh.normals);
    tools.creased = creased;
}

/// The surface in this frame, and what the artist sets.
#[derive(Clone, Copy)]
struct Now<'a> {
    surface: &'a PatchSurface,
    faces: &'a Faces,
    params: &'a FoldsParams,
    frame_number: f64,
}

/// Displacements of one fold's members, and the mean of their factors.
fn lift_fold(rest: &DrawnFolds, index: usize, now: Now, s: &mut FoldScratch) {
    let ((drawn, laid), table): (&(Fold, FoldRest), &FoldTables) =
        (&rest.folds[index], &rest.tables[index]);
    // Drawn folds come first, as they are set now; then the ridges of buckling.
    let fold = now.params.folds.get(index).unwrap_or(drawn);
    table.compute_stretches(now.faces, &mut s.factor.stretches);
    let place = |p: u32| now.surface.points[now.surface.index_of(p) as usize][0];
    let base_length = |m: usize, q: u32| place(laid.points[m]).distance(place(q));
    compute_factors(fold, laid, table, base_length, &mut s.factor, &mut s.values);
    let amount = fold.amount.at(now.frame_number);
    (s.mean, s.highest) = scale(&mut s.values, &laid.heights, amount as f32);
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
pub(super) fn nearly_unit(v: Vec3A) -> Vec3A {
    let square = v.length_squared();
    // Beyond, two steps are not enough: a mean of normals that point apart is short.
    if (square - 1.0).abs() > 0.1 {
        return v.normalize_or(Vec3A::Y);
    }
    let first = 1.5 - 0.5 * square;
    v * (first * (1.5 - 0.5 * square * first * first))
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
