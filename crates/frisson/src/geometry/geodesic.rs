//! Distances along a surface.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::Vec3;

use super::Topology;

/// Distance along the surface from the nearest source to every point, and which source that is.
/// Points that no source reaches are at infinity, with [`super::NONE`].
///
/// Dijkstra's order with the triangle update of fast marching: the source is unfolded into the plane
/// of each triangle, which is exact on flat parts and within a percent on curved ones. The result
/// never falls short of the straight line, so it is safe as the length of a tether.
///
/// ```text
///        c          distances at a and b place the virtual source s;
///       / \         the line s-c gives c's distance where it crosses a-b
///      a---b
///       \ /
///        s
/// ```
#[must_use]
pub fn geodesic_distances(
    topology: &Topology,
    positions: &[Vec3],
    sources: &[u32],
) -> (Vec<f64>, Vec<u32>) {
    let seeds: Vec<GeodesicSeed> =
        sources.iter().map(|&point| GeodesicSeed { point, distance: 0.0, label: point }).collect();
    let place = |p: u32| positions[topology.vertex_of_point[p as usize] as usize];
    march_geodesic(topology, place, &seeds, f64::INFINITY)
}

/// A point that a front starts from, at a distance it already has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeodesicSeed {
    /// The point.
    pub point: u32,
    /// Its distance [m].
    pub distance: f64,
    /// Handed on to every point reached from here.
    pub label: u32,
}

/// Distance and label of every point that seeds reach within `reach` [m]; others are at infinity,
/// with [`super::NONE`]. `place` gives the position of a point. See [`geodesic_distances`].
pub fn march_geodesic(
    topology: &Topology,
    place: impl Fn(u32) -> Vec3,
    seeds: &[GeodesicSeed],
    reach: f64,
) -> (Vec<f64>, Vec<u32>) {
    let count = topology.point_count();
    let mut distance = vec![f64::INFINITY; count];
    let mut nearest = vec![super::NONE; count];
    let mut done = vec![false; count];
    let mut heap = BinaryHeap::new();
    let place = |p: u32| place(p).as_dvec3();
    for seed in seeds.iter().filter(|s| s.distance <= reach) {
        if seed.distance < distance[seed.point as usize] {
            distance[seed.point as usize] = seed.distance;
            nearest[seed.point as usize] = seed.label;
            heap.push(Front { distance: seed.distance, point: seed.point });
        }
    }
    while let Some(Front { distance: at, point }) = heap.pop() {
        if done[point as usize] || at > distance[point as usize] {
            continue;
        }
        done[point as usize] = true;
        let mut improve = |target: u32, candidate: f64, from: u32| {
            if candidate <= reach && candidate < distance[target as usize] {
                distance[target as usize] = candidate;
                nearest[target as usize] = nearest[from as usize];
                heap.push(Front { distance: candidate, point: target });
            }
        };
        for neighbour in topology.neighbours(point) {
            improve(neighbour, at + place(point).distance(place(neighbour)), point);
        }
        for &t in topology.point_triangles(point) {
            let corners = topology.triangles[t as usize];
            let Some(k) = corners.iter().position(|&c| c == point) else { continue };
            let (b, c) = (corners[(k + 1) % 3], corners[(k + 2) % 3]);
            let (other, target) = if done[b as usize] { (b, c) } else { (c, b) };
            if !done[other as usize] || done[target as usize] {
                continue;
            }
            let (da, db) = (at, distance[other as usize]);
            if let Some(d) = unfold(da, db, place(point), place(other), place(target))
                && d <= reach
                && d < distance[target as usize]
            {
                distance[target as usize] = d;
                let from = if da < db { point } else { other };
                nearest[target as usize] = nearest[from as usize];
                heap.push(Front { distance: d, point: target });
            }
        }
    }
    (distance, nearest)
}

/// Distance at `c` seen through the edge `a b` from the virtual source, if the line crosses the edge.
fn unfold(da: f64, db: f64, a: glam::DVec3, b: glam::DVec3, c: glam::DVec3) -> Option<f64> {
    let length = a.distance(b);
    if length <= 0.0 || da + db < length {
        return None;
    }
    let along = (c - a).dot(b - a) / length;
    let up = ((c - a).length_squared() - along * along).max(0.0).sqrt();
    let source_along = (da * da - db * db + length * length) / (2.0 * length);
    let source_up = -(da * da - source_along * source_along).max(0.0).sqrt();
    let height = up - source_up;
    if height <= 0.0 {
        return None;
    }
    let crossing = source_along - source_up / height * (along - source_along);
    (0.0..=length).contains(&crossing).then(|| (along - source_along).hypot(height))
}

/// A point the front is about to reach; the heap gives the nearest first, then the lowest index.
struct Front {
    distance: f64,
    point: u32,
}

impl Ord for Front {
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance.total_cmp(&self.distance).then(other.point.cmp(&self.point))
    }
}

impl PartialOrd for Front {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Front {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Front {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_sheet_gives_straight_lines() {
        let n = 24u32;
        let positions: Vec<Vec3> =
            (0..n * n).map(|i| Vec3::new((i % n) as f32, 0.0, (i / n) as f32)).collect();
        let quad = |i: u32| [[i, i + n, i + 1], [i + 1, i + n, i + n + 1]];
        let triangles: Vec<[u32; 3]> =
            (0..n - 1).flat_map(|y| (0..n - 1).map(move |x| y * n + x)).flat_map(quad).collect();
        let topology = Topology::build(&positions, &triangles);
        let (distance, nearest) = geodesic_distances(&topology, &positions, &[0]);
        for (i, &p) in positions.iter().enumerate() {
            let straight = f64::from(p.length());
            assert!(distance[i] >= straight - 1e-6, "{i}: {} < {straight}", distance[i]);
            assert!(distance[i] <= straight * 1.02 + 1e-6, "{i}: {} > {straight}", distance[i]);
            assert_eq!(nearest[i], 0);
        }
    }

    #[test]
    fn what_is_not_connected_is_infinitely_far() {
        let positions =
            (0..6).map(|i| Vec3::new(i as f32, (i % 2) as f32, 0.0)).collect::<Vec<_>>();
        let topology = Topology::build(&positions, &[[0, 1, 2], [3, 4, 5]]);
        let (distance, nearest) = geodesic_distances(&topology, &positions, &[0]);
        assert!(distance[4].is_infinite());
        assert_eq!(nearest[4], super::super::NONE);
    }
}
