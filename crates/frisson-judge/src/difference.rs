//! Two shapes at the same time: point by point where they have the same points, else from surface to
//! surface.

use frisson::geometry::TriangleBvh;
use glam::Vec3;
use rayon::prelude::*;

use crate::body::{ANYWHERE, curve_segments};
use crate::motion::{MM, distances};
use crate::shape::{Match, Shape, Snapshot};
use crate::statistic::Sample;

/// Distance of every point of `now` from `other` [mm].
#[must_use]
pub fn difference(now: Shape, other: Shape) -> Vec<Sample> {
    let snapshot = Snapshot::of(other);
    if snapshot.match_points(now) == Some(Match::Same) || matches!(now, Shape::Points(_)) {
        return distances(&snapshot, now, MM).unwrap_or_default();
    }
    surface_distance(now, other)
}

/// Distance of every point from the other's surface, segments or points, and back: a hole in one or a
/// bump on the other both show [mm].
fn surface_distance(now: Shape, other: Shape) -> Vec<Sample> {
    let there = one_way(now.points(), &tree(other));
    let back = one_way(other.points(), &tree(now));
    let first = now.points().len() as u32;
    let back = back.into_iter().map(|s| Sample { element: first + s.element, ..s });
    there.into_iter().chain(back).collect()
}

fn one_way(points: &[Vec3], tree: &TriangleBvh) -> Vec<Sample> {
    let one = |(i, &place): (usize, &Vec3)| {
        let near = tree.closest_point(place, ANYWHERE)?;
        Some(Sample { value: MM * near.distance, element: i as u32, place })
    };
    points.par_iter().enumerate().filter_map(one).collect()
}

/// Segments and points are triangles without area.
fn tree(shape: Shape) -> TriangleBvh {
    match shape {
        Shape::Mesh(mesh) => TriangleBvh::build(&mesh.positions, &mesh.topology.triangles),
        Shape::Curves(curves) => {
            let flat = |[a, b]: [u32; 2]| [a, b, b];
            let triangles: Vec<[u32; 3]> =
                curve_segments(curves, 0).into_iter().map(flat).collect();
            TriangleBvh::build(&curves.points, &triangles)
        }
        Shape::Points(points) => {
            let triangles: Vec<[u32; 3]> =
                (0..points.positions.len() as u32).map(|i| [i, i, i]).collect();
            TriangleBvh::build(&points.positions, &triangles)
        }
    }
}
