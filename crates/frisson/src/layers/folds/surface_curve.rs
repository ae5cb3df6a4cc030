//! A fold's curve on the surface: dropped onto it, and how far points are from it along the surface.

use glam::Vec3;

use super::params::Fold;
use crate::geometry::{GeodesicStart, Topology, TriangleBvh, closest_on_triangle, march_geodesic};
use crate::math::spline::Nurbs;
use crate::stage::LayerError;
use crate::tolerances::folds as tolerances;
use crate::tolerances::nothing;

/// A curve drawn on the surface.
pub(super) struct SurfaceCurve {
    pub places: Vec<Vec3>,
    pub tangents: Vec<Vec3>,
    triangles: Vec<u32>,
}

/// Samples the interpolating curve of a fold and drops the samples onto the surface.
pub(super) fn draw(
    fold: &Fold,
    index: usize,
    points: &[Vec3],
    surface: &TriangleBvh,
) -> Result<SurfaceCurve, LayerError> {
    let bad = |problem: String| {
        LayerError::parameter(
            format!("folds[{index}].points"),
            format!("fold {:?}: {problem}", fold.name),
        )
    };
    let curve = Nurbs::through(points, 3)
        .ok_or_else(|| bad("all points are at the same place, or two in a row are".to_owned()))?;
    let length: f32 = points.windows(2).map(|w| w[0].distance(w[1])).sum();
    // At least a few, for short curves bend too; at most so many that a hair-thin fold does not take minutes to build.
    let count =
        ((length / (tolerances::SAMPLES_PER_WIDTH * fold.width)).ceil() as usize).clamp(16, 4096);
    let mut out = SurfaceCurve { places: vec![], tangents: vec![], triangles: vec![] };
    for i in 0..=count {
        let p = curve.point(i as f32 / count as f32);
        let hit = surface
            .closest_point(p, f32::INFINITY)
            .ok_or_else(|| bad("the mesh has no triangle".to_owned()))?;
        // A chord of the body's curve is fine; a curve that is nearer to another limb is a mistake in the scene.
        let allowed = fold.width.max(0.1 * length);
        if hit.distance > allowed {
            return Err(bad(format!(
                "the curve leaves the mesh: {:.3} m away from it at {p}",
                hit.distance
            )));
        }
        out.places.push(hit.point);
        out.triangles.push(hit.triangle);
    }
    for i in 0..=count {
        let (a, b) = (out.places[i.saturating_sub(1)], out.places[(i + 1).min(count)]);
        out.tangents.push((b - a).normalize_or(Vec3::X));
    }
    Ok(out)
}

/// Coarse triangles that may hold a point nearer to the curve than the width, along the surface.
pub(super) fn triangles_near(
    curve: &SurfaceCurve,
    width: f32,
    topology: &Topology,
    positions: &[Vec3],
) -> Vec<u32> {
    let longest = |t: u32| {
        let [a, b, c] = topology.triangles[t as usize].map(|p| positions[p as usize]);
        a.distance(b).max(b.distance(c)).max(c.distance(a))
    };
    // A corner may be far from a curve that runs through the middle of its triangle.
    let reach = curve.triangles.iter().map(|&t| longest(t)).fold(0.0, f32::max);
    let seeds = seeds(curve, |t| topology.triangles[t as usize], positions, &curve.triangles);
    let place = |p: u32| positions[p as usize];
    let bound = f64::from(width + 2.0 * reach);
    let (distances, _) = march_geodesic(topology, place, &seeds, bound);
    // Near along the surface by its corners, and then nearer than the width as a whole.
    let near = |t: &u32| {
        let corners = topology.triangles[*t as usize];
        let nearest = corners.iter().map(|&p| distances[p as usize]).fold(f64::INFINITY, f64::min);
        let places = corners.map(place);
        let reached = |&p: &Vec3| closest_on_triangle(p, places).0.distance(p) < width;
        nearest < f64::from(width + 0.5 * longest(*t)) && curve.places.iter().any(reached)
    };
    let mut found: Vec<u32> = (0..topology.triangles.len() as u32).filter(near).collect();
    found.extend(&curve.triangles);
    found.sort_unstable();
    found.dedup();
    found
}

/// Distance to the curve along the surface. The marched distance is good to a percent or two; where
/// the surface is nearly flat the straight distance to the curve is exact, so the one gives way to
/// the other.
pub(super) fn settle_distance(p: Vec3, marched: f64, label: u32, curve: &SurfaceCurve) -> f32 {
    if !marched.is_finite() {
        return f32::INFINITY;
    }
    let last = curve.places.len() - 1;
    // Marching says which sample is nearest up to a few.
    let around = (label as usize).saturating_sub(8)..(label as usize + 8).min(last);
    let straight = around
        .map(|k| nearest_on_segment(p, curve.places[k], curve.places[k + 1]).0)
        .fold(f32::INFINITY, f32::min);
    // Marching starts at samples: beside the middle between two, even flat ground has a detour.
    let next = (label as usize + 1).min(last);
    let apart = 0.5 * curve.places[next].distance(curve.places[next - 1]);
    let detour = marched as f32 / straight.hypot(apart).max(f32::MIN_POSITIVE) - 1.0;
    let t = ((detour - tolerances::FLAT_DETOUR) / tolerances::FLAT_DETOUR).clamp(0.0, 1.0);
    straight + (marched as f32 - straight) * t * t * (3.0 - 2.0 * t)
}

/// Distance to a segment, and the place along it.
fn nearest_on_segment(p: Vec3, a: Vec3, b: Vec3) -> (f32, f32) {
    let axis = b - a;
    let s = (axis.dot(p - a) / axis.length_squared().max(nothing::NO_FIELD)).clamp(0.0, 1.0);
    (p.distance(a + s * axis), s)
}

/// Corners of the triangles that the curve runs through, with their distance to the curve.
pub(super) fn seeds(
    curve: &SurfaceCurve,
    corners: impl Fn(u32) -> [u32; 3],
    positions: &[Vec3],
    triangles: &[u32],
) -> Vec<GeodesicStart> {
    let mut out = Vec::new();
    for (i, &t) in triangles.iter().enumerate() {
        for point in corners(t) {
            let p = positions[point as usize];
            // Nearest place of the polyline around this sample.
            // The sample's own triangle: its corners cannot be nearer to far parts of the curve.
            let around = i.saturating_sub(2)..(i + 2).min(curve.places.len() - 1);
            let (distance, label) = around
                .map(|k| {
                    let (d, s) = nearest_on_segment(p, curve.places[k], curve.places[k + 1]);
                    (d, if s < 0.5 { k } else { k + 1 })
                })
                .fold(
                    (p.distance(curve.places[i]), i),
                    |best, d| if d.0 < best.0 { d } else { best },
                );
            let distance = f64::from(distance);
            out.push(GeodesicStart { point, distance, label: label as u32 });
        }
    }
    out
}
