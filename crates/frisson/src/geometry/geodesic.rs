//! Distances along a surface.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::{DVec3, Vec3};

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
    let starts: Vec<GeodesicStart> =
        sources.iter().map(|&point| GeodesicStart { point, distance: 0.0, label: point }).collect();
    let place = |p: u32| positions[topology.vertex_of_point[p as usize] as usize];
    march_geodesic(topology, place, &starts, f64::INFINITY)
}

/// A point that a front starts from, at a distance it already has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeodesicStart {
    /// The point.
    pub point: u32,
    /// Its distance [m].
    pub distance: f64,
    /// Handed on to every point reached from here.
    pub label: u32,
}

/// Distance and label of every point that the starts reach within `reach` [m]; others are at infinity,
/// with [`super::NONE`]. `place` gives the position of a point. See [`geodesic_distances`].
pub fn march_geodesic(
    topology: &Topology,
    place: impl Fn(u32) -> Vec3,
    starts: &[GeodesicStart],
    reach: f64,
) -> (Vec<f64>, Vec<u32>) {
    let mut walk = GeodesicWalk::new(topology, place);
    walk.run(starts, reach);
    (walk.distance, walk.nearest)
}

/// [`march_geodesic`] for many starts in turn: only what was reached is cleared between runs.
pub struct GeodesicWalk<'a> {
    topology: &'a Topology,
    places: Vec<DVec3>,
    distance: Vec<f64>,
    nearest: Vec<u32>,
    done: Vec<bool>,
    noted: Vec<u32>,
    heap: BinaryHeap<Front>,
    reach: f64,
}

impl<'a> GeodesicWalk<'a> {
    /// Over the points of a mesh, which `place` puts in space.
    #[must_use]
    pub fn new(topology: &'a Topology, place: impl Fn(u32) -> Vec3) -> Self {
        let count = topology.point_count();
        Self {
            topology,
            // f64: unfolding subtracts squares of distances, and a tether must not come out shorter than the line.
            places: (0..count as u32).map(|p| place(p).as_dvec3()).collect(),
            distance: vec![f64::INFINITY; count],
            nearest: vec![super::NONE; count],
            done: vec![false; count],
            noted: Vec::new(),
            heap: BinaryHeap::new(),
            reach: f64::INFINITY,
        }
    }

    /// Walks from the starts to everything within `reach`; the points reached, in a fixed order.
    pub fn run(&mut self, starts: &[GeodesicStart], reach: f64) -> &[u32] {
        for p in self.noted.drain(..) {
            self.distance[p as usize] = f64::INFINITY;
            self.nearest[p as usize] = super::NONE;
            self.done[p as usize] = false;
        }
        self.reach = reach;
        for start in starts {
            self.note(start.point, start.distance, start.label);
        }
        while let Some(front) = self.heap.pop() {
            // A point is pushed anew whenever a shorter way is found; what is left of the older ones is stale.
            if !self.done[front.point as usize] {
                self.settle(front.point);
            }
        }
        &self.noted
    }

    /// Distance of a point from the starts of the last run.
    #[must_use]
    pub fn distance(&self, point: u32) -> f64 {
        self.distance[point as usize]
    }

    fn note(&mut self, point: u32, distance: f64, nearest: u32) {
        if distance > self.reach || distance >= self.distance[point as usize] {
            return;
        }
        // The first time: it has to be cleared before the next run.
        if self.distance[point as usize].is_infinite() {
            self.noted.push(point);
        }
        self.distance[point as usize] = distance;
        self.nearest[point as usize] = nearest;
        // A binary heap cannot lower a key: the point goes in again.
        self.heap.push(Front { distance, point });
    }

    fn settle(&mut self, point: u32) {
        self.done[point as usize] = true;
        let (topology, at) = (self.topology, self.distance[point as usize]);
        let from = self.nearest[point as usize];
        let here = self.places[point as usize];
        for neighbour in topology.neighbours(point) {
            let straight = here.distance(self.places[neighbour as usize]);
            self.note(neighbour, at + straight, from);
        }
        for &t in topology.point_triangles(point) {
            let corners = topology.triangles[t as usize];
            let Some(k) = corners.iter().position(|&c| c == point) else { continue };
            let (b, c) = (corners[(k + 1) % 3], corners[(k + 2) % 3]);
            // The virtual source needs two corners whose distance is final.
            let (other, target) = if self.done[b as usize] { (b, c) } else { (c, b) };
            if !self.done[other as usize] || self.done[target as usize] {
                continue;
            }
            let db = self.distance[other as usize];
            let (beside, beyond) = (self.places[other as usize], self.places[target as usize]);
            if let Some(d) = unfold(at, db, here, beside, beyond) {
                // The front came through both ends: the nearer one says whose it is.
                let from = if at < db { from } else { self.nearest[other as usize] };
                self.note(target, d, from);
            }
        }
    }
}

/// Distance at `c` seen through the edge `a b` from the virtual source, if the line crosses the edge.
fn unfold(da: f64, db: f64, a: DVec3, b: DVec3, c: DVec3) -> Option<f64> {
    let length = a.distance(b);
    // No triangle has such sides: the two distances come from different sources.
    if length <= 0.0 || da + db < length {
        return None;
    }
    let along = (c - a).dot(b - a) / length;
    let up = ((c - a).length_squared() - along * along).max(0.0).sqrt();
    let source_along = (da * da - db * db + length * length) / (2.0 * length);
    // Below the edge, the corner above it; rounding may make the square of a flat triangle's height negative.
    let source_up = -(da * da - source_along * source_along).max(0.0).sqrt();
    let height = up - source_up;
    // Folded over: seen from the source, the corner lies before the edge.
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
        // Turned round, as the heap gives the greatest first. The index breaks ties: same order, same bits.
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
