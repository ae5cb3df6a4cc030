//! The lines that long thin meshes follow: hair cards, tubes, ribbons.

use glam::Vec3;

use super::{Mesh, Topology, geodesic_distances};

/// One line for every piece of a mesh, through the middle of it from one end to the other, with at most
/// `points` points. Which end comes first is not said; pieces that have no length are left out.
///
/// ```text
///     o──o──o──o
///     ·──·──·──·     slices of equal distance from one end, each with its mean
///     o──o──o──o
/// ```
#[must_use]
pub fn centerlines(mesh: &Mesh, points: usize) -> Vec<Vec<Vec3>> {
    let welded = Topology::build(&mesh.positions, &mesh.topology.triangles);
    let (pieces, count) = welded.components();
    // From anywhere to the farthest place: that is one end; distances from there lead to the other.
    let mut firsts = vec![u32::MAX; count];
    // Backwards, so that the lowest point of each piece is what stays.
    for (point, &piece) in pieces.iter().enumerate().rev() {
        firsts[piece as usize] = point as u32;
    }
    let (from_any, _) = geodesic_distances(&welded, &mesh.positions, &firsts);
    let mut ends: Vec<(f64, u32)> = firsts.iter().map(|&first| (0.0, first)).collect();
    for (point, &piece) in pieces.iter().enumerate() {
        let farthest = &mut ends[piece as usize];
        // Strictly greater: of several that are as far, the first.
        if from_any[point] > farthest.0 && from_any[point].is_finite() {
            *farthest = (from_any[point], point as u32);
        }
    }
    let ends: Vec<u32> = ends.into_iter().map(|(_, point)| point).collect();
    let (along, _) = geodesic_distances(&welded, &mesh.positions, &ends);
    let mut members = vec![Vec::new(); count];
    for (point, &piece) in pieces.iter().enumerate() {
        let place = mesh.positions[welded.vertex_of_point[point] as usize];
        members[piece as usize].push((along[point], place));
    }
    members.iter().filter_map(|piece| line_of(piece, points)).collect()
}

/// Means of the points of one piece in slices along it.
fn line_of(piece: &[(f64, Vec3)], points: usize) -> Option<Vec<Vec3>> {
    let whole = piece.iter().map(|(along, _)| *along).filter(|d| d.is_finite()).fold(0.0, f64::max);
    // Two points a slice at least: a slice of one is a corner, not a middle.
    let slices = points.min(piece.len() / 2);
    if whole <= 0.0 || slices < 2 {
        return None;
    }
    let slice = |along: f64| ((along / whole * slices as f64) as usize).min(slices - 1);
    let mut sums = vec![(Vec3::ZERO, 0.0f32); slices];
    for (along, place) in piece {
        let (sum, count) = &mut sums[slice(*along)];
        *sum += *place;
        *count += 1.0;
    }
    // Slices without a point (rows farther apart than a slice is long) are passed over.
    let mut line: Vec<Vec3> = sums.iter().filter(|s| s.1 > 0.0).map(|s| s.0 / s.1).collect();
    let last = line.len().checked_sub(1).filter(|last| *last > 0)?;
    // From the middle of an end's slice to the very end.
    let to_the_end = |from: Vec3, before: Vec3, end: usize| {
        let along = (from - before).normalize_or_zero();
        let own = piece.iter().filter(|(at, _)| slice(*at) == end);
        from + along * own.map(|(_, p)| along.dot(*p - from)).fold(0.0, f32::max)
    };
    let ends =
        [to_the_end(line[0], line[1], 0), to_the_end(line[last], line[last - 1], slices - 1)];
    [line[0], line[last]] = ends;
    Some(line)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::geometry::MeshTopology;

    /// Cards and tubes: `around` vertices across a line that bends, `rows` along it.
    fn long_thing(
        around: usize,
        rows: usize,
        closed: bool,
        shift: f32,
    ) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let mut positions = Vec::new();
        for row in 0..rows {
            let s = row as f32 / (rows - 1) as f32;
            let middle = middle_at(s, shift);
            for k in 0..around {
                let offset = if closed {
                    let (sine, cosine) =
                        (std::f32::consts::TAU * k as f32 / around as f32).sin_cos();
                    Vec3::new(0.01 * cosine, 0.0, 0.01 * sine)
                } else {
                    Vec3::X * 0.02 * (k as f32 / (around - 1) as f32 - 0.5)
                };
                positions.push(middle + offset);
            }
        }
        let mut triangles = Vec::new();
        let sides = if closed { around } else { around - 1 };
        for row in 0..rows - 1 {
            for k in 0..sides {
                let at = |r: usize, k: usize| (r * around + k % around) as u32;
                let (a, b, c, d) = (at(row, k), at(row, k + 1), at(row + 1, k + 1), at(row + 1, k));
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        (positions, triangles)
    }

    fn middle_at(s: f32, shift: f32) -> Vec3 {
        Vec3::new(shift, -0.3 * s, 0.1 * (2.0 * s).sin())
    }

    #[test]
    fn cards_and_tubes_become_lines_through_their_middle() {
        let (mut positions, mut triangles) = long_thing(3, 20, false, 0.0);
        let (more, other) = long_thing(8, 20, true, 0.5);
        let first = positions.len() as u32;
        positions.extend(more);
        triangles.extend(other.iter().map(|t| t.map(|v| v + first)));
        let topology =
            MeshTopology { vertex_count: positions.len(), triangles, ..MeshTopology::default() };
        let mesh = Mesh { positions, topology: Arc::new(topology), ..Mesh::default() };
        let lines = centerlines(&mesh, 12);
        assert_eq!(lines.len(), 2);
        for (line, shift) in lines.iter().zip([0.0, 0.5]) {
            let long: f32 = line.windows(2).map(|w| w[0].distance(w[1])).sum();
            assert!((long - 0.33).abs() < 0.03, "{long}");
            for p in line {
                let s = (-p.y / 0.3).clamp(0.0, 1.0);
                assert!(p.distance(middle_at(s, shift)) < 0.008, "{p} off the middle");
            }
        }
    }

    #[test]
    fn what_has_no_length_gives_no_line() {
        let mesh = Mesh { positions: vec![Vec3::ZERO; 3], ..Mesh::default() };
        assert!(centerlines(&mesh, 8).is_empty());
        assert!(centerlines(&Mesh::default(), 8).is_empty());
    }
}
