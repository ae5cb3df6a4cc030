//! Texture coordinates: each chart wraps its part of the body around an axis, and the charts share
//! the unit square. Vertices are split where charts meet and at each chart's seam.

use glam::{Vec2, Vec3};

/// Least extent of a chart [m].
const LEAST_CHART: f32 = 1e-6;
/// Space around a chart in its tile [-]: textures bleed over its border when they are filtered.
const GUTTER: f32 = 0.01;

/// A cylinder to project on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chart {
    /// A point of the axis [m].
    pub(crate) origin: Vec3,
    /// Direction of the axis; v grows against it, as images are stored from the top.
    pub(crate) axis: Vec3,
    /// The seam runs on this side.
    pub(crate) seam: Vec3,
}

impl Chart {
    /// Turn around the axis from the seam, 0 to 1, and height along the axis [m].
    fn project(&self, p: Vec3) -> Vec2 {
        let axis = self.axis.normalize();
        let front = -(self.seam - axis * self.seam.dot(axis)).normalize();
        let side = axis.cross(front);
        let out = p - self.origin;
        let angle = out.dot(side).atan2(out.dot(front));
        Vec2::new(0.5 + angle / std::f32::consts::TAU, out.dot(axis))
    }
}

/// A mesh with split vertices.
pub(crate) struct Unwrapped {
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) uvs: Vec<Vec2>,
    /// Old vertex of each new one.
    pub(crate) origin: Vec<u32>,
}

/// Unwraps; `chart_of` names the chart of each triangle.
pub(crate) fn unwrap(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    charts: &[Chart],
    chart_of: &[usize],
) -> Unwrapped {
    let corners: Vec<[Vec2; 3]> = triangles
        .iter()
        .zip(chart_of)
        .map(|(t, &c)| corner_uvs(&charts[c], positions, t))
        .collect();
    let ranges: Vec<(Vec2, Vec2)> = (0..charts.len())
        .map(|chart| {
            let of_chart = corners.iter().zip(chart_of).filter(|(_, c)| **c == chart);
            of_chart
                .flat_map(|(t, _)| *t)
                .fold((Vec2::splat(f32::MAX), Vec2::splat(f32::MIN)), |(low, high), uv| {
                    (low.min(uv), high.max(uv))
                })
        })
        .collect();
    let mut out = Unwrapped { triangles: Vec::new(), uvs: Vec::new(), origin: Vec::new() };
    // Copies of each old vertex: chart, whether it was moved past the seam, new index.
    let mut copies: Vec<Vec<(usize, bool, u32)>> = vec![Vec::new(); positions.len()];
    for ((t, uvs), &chart) in triangles.iter().zip(&corners).zip(chart_of) {
        let new = std::array::from_fn(|c| {
            let moved = uvs[c].x > 1.0;
            let known = copies[t[c] as usize].iter().find(|k| k.0 == chart && k.1 == moved);
            known.map(|k| k.2).unwrap_or_else(|| {
                let index = out.origin.len() as u32;
                copies[t[c] as usize].push((chart, moved, index));
                out.origin.push(t[c]);
                out.uvs.push(in_tile(uvs[c], ranges[chart], chart, charts.len()));
                index
            })
        });
        out.triangles.push(new);
    }
    out
}

/// Corners of one triangle; those left of the seam go past 1 when the others are right of it.
fn corner_uvs(chart: &Chart, positions: &[Vec3], t: &[u32; 3]) -> [Vec2; 3] {
    let mut uvs = t.map(|v| chart.project(positions[v as usize]));
    let (low, high) = uvs.iter().fold((1.0f32, 0.0f32), |(l, h), uv| (l.min(uv.x), h.max(uv.x)));
    // No triangle is half a turn wide: it crosses the seam.
    if high - low > 0.5 {
        uvs.iter_mut().filter(|uv| uv.x < 0.5).for_each(|uv| uv.x += 1.0);
    }
    uvs
}

/// Places a chart's coordinates in its tile of the unit square.
fn in_tile(uv: Vec2, (low, high): (Vec2, Vec2), chart: usize, charts: usize) -> Vec2 {
    let per_row = (charts as f32).sqrt().ceil();
    let tile = Vec2::new(chart as f32 % per_row, (chart as f32 / per_row).floor());
    let unit = (uv - low) / (high - low).max(Vec2::splat(LEAST_CHART));
    let unit = Vec2::new(unit.x, 1.0 - unit.y) * (1.0 - 2.0 * GUTTER) + GUTTER;
    ((tile + unit) / per_row).clamp(Vec2::ZERO, Vec2::ONE)
}
