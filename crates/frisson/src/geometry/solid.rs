//! Solids of a soup of shells: what is open gets lids, what is inside out is turned, and what no lid can
//! make a solid of is known as a sheet.
//!
//! ```text
//!     ____          ____
//!    /    \        /    \        a sleeve, a helmet: the border gets a lid (=)
//!    |    |   ->   |    |
//!     .  .          .==.         ~~~~~~~~   a cape: its lid would be as large as itself
//! ```
//!
//! Lids use the vertices that are there, so that they move with the shell.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DVec3, Vec3};

use super::{NONE, Topology};

/// Area of a part's lids over its own area from which on it is a sheet [-]: a half ball has 0.5, a half
/// cylinder 0.64, a flat sheet 1.
const SHEET: f64 = 0.6;

/// Triangles that enclose what their parts are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Solid {
    /// The given triangles in their order, those of parts inside out turned; lids after them.
    pub triangles: Vec<[u32; 3]>,
    /// How many of them are not lids.
    pub given: usize,
    /// Per triangle: whether it belongs to a sheet. The others enclose: every way in leads through them.
    pub sheet: Vec<bool>,
}

impl Solid {
    /// Looks at the parts of a surface: triangles that share points.
    #[must_use]
    pub fn build(positions: &[Vec3], given: &[[u32; 3]]) -> Self {
        let topology = Topology::build(positions, given);
        let (part_of_point, parts) = topology.components();
        let part = |t: &[u32; 3]| part_of_point[topology.point_of_vertex[t[0] as usize] as usize];
        let place = |v: u32| positions[v as usize].as_dvec3();
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(place);
            0.5 * (b - a).cross(c - a).length()
        };
        let vertex = |p: u32| topology.vertex_of_point[p as usize];
        let at = |p: u32| place(vertex(p));
        let mut lids: Vec<[u32; 3]> = Vec::new();
        for border in borders(&topology) {
            cover(&border, at, &mut lids);
        }
        lids.iter_mut().for_each(|t| *t = t.map(vertex));
        // Own area and that of the lids, of each part.
        let mut areas = vec![[0.0; 2]; parts];
        given.iter().for_each(|t| areas[part(t) as usize][0] += area(t));
        lids.iter().for_each(|t| areas[part(t) as usize][1] += area(t));
        let is_sheet = |t: &[u32; 3]| {
            let [own, lids] = areas[part(t) as usize];
            // At least, not more: a part without any area is a sheet too.
            lids >= SHEET * own
        };
        lids.retain(|t| !is_sheet(t));
        let mut triangles = given.to_vec();
        triangles.append(&mut lids);
        let sheet = triangles.iter().map(is_sheet).collect();
        let mut solid = Self { triangles, given: given.len(), sheet };
        solid.turn(parts, part, place);
        solid
    }

    /// Turns parts over that are inside out.
    fn turn(
        &mut self,
        parts: usize,
        part: impl Fn(&[u32; 3]) -> u32,
        place: impl Fn(u32) -> DVec3,
    ) {
        let mut origins: Vec<Option<DVec3>> = vec![None; parts];
        let mut volumes = vec![0.0; parts];
        for t in &self.triangles {
            let index = part(t) as usize;
            // About a place of its own: far from it the parts of the sum would be large and cancel.
            let origin = *origins[index].get_or_insert_with(|| place(t[0]));
            let [a, b, c] = t.map(|v| place(v) - origin);
            // Six times the volume; only the sign is wanted. Sheets are summed as well, but never turned.
            volumes[index] += a.dot(b.cross(c));
        }
        for (t, _) in self.triangles.iter_mut().zip(&self.sheet).filter(|(_, sheet)| !**sheet) {
            if volumes[part(t) as usize] < 0.0 {
                t.swap(1, 2);
            }
        }
    }
}

/// Closed ways along the borders, in the sense in which a lid runs: against the triangles. Where more triangles
/// pass an edge in one sense than in the other there is a border, so that with the lids none is left.
fn borders(topology: &Topology) -> Vec<Vec<u32>> {
    let mut sides: Vec<(u32, u32, i32)> = Vec::new();
    // Triangles with two equal corners pass an edge to and fro: they would add nothing but work.
    for t in topology.triangles.iter().filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) {
        for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            sides.push((a.min(b), a.max(b), if a < b { 1 } else { -1 }));
        }
    }
    // Sorted, not hashed: loops and so lids come out in one order on every machine.
    sides.sort_unstable();
    let mut ways: Vec<(u32, u32)> = Vec::new();
    for edge in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let surplus: i32 = edge.iter().map(|s| s.2).sum();
        let back = if surplus > 0 { (edge[0].1, edge[0].0) } else { (edge[0].0, edge[0].1) };
        ways.extend(std::iter::repeat_n(back, surplus.unsigned_abs() as usize));
    }
    ways.sort_unstable();
    walk(&ways, topology.point_count())
}

/// Cuts directed ways, of which as many leave every point as come to it, into loops without a point twice.
fn walk(ways: &[(u32, u32)], points: usize) -> Vec<Vec<u32>> {
    let first = |p: u32| ways.partition_point(|w| w.0 < p);
    let mut taken = vec![false; ways.len()];
    let mut on_path = vec![NONE; points];
    let mut loops = Vec::new();
    for start in 0..ways.len() {
        let mut path: Vec<u32> = Vec::new();
        let mut here = ways[start].0;
        loop {
            // Come round to a place that is on the way already: the ring since then is a loop of its own.
            if on_path[here as usize] != NONE {
                let ring = path.split_off(on_path[here as usize] as usize);
                ring.iter().for_each(|&p| on_path[p as usize] = NONE);
                loops.push(ring);
            }
            on_path[here as usize] = path.len() as u32;
            path.push(here);
            let out = ways[first(here)..].iter().take_while(|w| w.0 == here).count();
            let next = (first(here)..first(here) + out).find(|&w| !taken[w]);
            let Some(way) = next else { break };
            taken[way] = true;
            here = ways[way].1;
        }
        // What is left is the start alone: as many ways leave every point as come to it.
        path.iter().for_each(|&p| on_path[p as usize] = NONE);
    }
    loops
}

/// Covers a loop with triangles: again and again the corner is cut off whose neighbours are closest.
fn cover(border: &[u32], at: impl Fn(u32) -> DVec3, out: &mut Vec<[u32; 3]>) {
    let count = border.len();
    if count < 3 {
        return;
    }
    let mut next: Vec<usize> = (0..count).map(|i| (i + 1) % count).collect();
    let mut last: Vec<usize> = (0..count).map(|i| (i + count - 1) % count).collect();
    // Bits of positive floats are ordered as the floats are, and integers can be keys of a heap.
    let width = |a: usize, b: usize| at(border[a]).distance_squared(at(border[b])).to_bits();
    let mut corners: BinaryHeap<_> =
        (0..count).map(|i| Reverse((width(last[i], next[i]), i, last[i], next[i]))).collect();
    let mut left = count;
    while let Some(Reverse((_, i, a, b))) = corners.pop() {
        // Neighbours have changed since: it is in the heap again as it is now, or gone.
        if (last[i], next[i]) != (a, b) {
            continue;
        }
        out.push([border[a], border[i], border[b]]);
        left -= 1;
        if left < 3 {
            return;
        }
        (next[a], last[b]) = (b, a);
        // No entry of the heap can name these: what is cut off never comes back.
        (last[i], next[i]) = (usize::MAX, usize::MAX);
        for j in [a, b] {
            corners.push(Reverse((width(last[j], next[j]), j, last[j], next[j])));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tube of a square section about the y axis, of so many rings, open at both ends.
    fn tube(rings: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)];
        let ring = |j: u32| corners.map(|(x, z)| Vec3::new(x, j as f32, z));
        let mut triangles = Vec::new();
        for (j, i) in (0..rings - 1).flat_map(|j| (0..4).map(move |i| (j, i))) {
            let [a, b] = [4 * j + i, 4 * j + (i + 1) % 4];
            triangles.extend([[a, b, a + 4], [b, b + 4, a + 4]]);
        }
        ((0..rings).flat_map(ring).collect(), triangles)
    }

    fn volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
        let part = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| positions[v as usize]);
            a.dot(b.cross(c)) / 6.0
        };
        triangles.iter().map(part).sum()
    }

    fn is_closed(solid: &Solid, positions: &[Vec3]) -> bool {
        borders(&Topology::build(positions, &solid.triangles)).is_empty()
    }

    #[test]
    fn a_tube_gets_two_lids_and_has_its_volume() {
        let (positions, triangles) = tube(6);
        let solid = Solid::build(&positions, &triangles);
        assert_eq!(solid.triangles.len(), triangles.len() + 4);
        assert!(is_closed(&solid, &positions) && !solid.sheet.contains(&true));
        // Wherever it is: a closed surface has one volume.
        for away in [Vec3::ZERO, Vec3::new(30.0, -20.0, 10.0)] {
            let moved: Vec<Vec3> = positions.iter().map(|p| *p + away).collect();
            assert!((volume(&moved, &solid.triangles).abs() - 20.0).abs() < 0.05);
        }
    }

    #[test]
    fn what_is_inside_out_is_turned() {
        let (positions, mut triangles) = tube(6);
        let solid = Solid::build(&positions, &triangles);
        triangles.iter_mut().for_each(|t| t.swap(1, 2));
        let turned = Solid::build(&positions, &triangles);
        assert!(volume(&positions, &solid.triangles) > 0.0);
        assert!((volume(&positions, &turned.triangles) - 20.0).abs() < 1e-4);
    }

    #[test]
    fn a_closed_surface_stays_as_it_is() {
        let (positions, triangles) = tube(3);
        let closed = Solid::build(&positions, &triangles).triangles;
        let again = Solid::build(&positions, &closed);
        assert_eq!((again.triangles.len(), again.given), (closed.len(), closed.len()));
        assert_eq!(again.triangles, closed);
    }

    #[test]
    fn a_cape_is_a_sheet_and_a_bowl_is_none() {
        let side = 9u32;
        let bend = |depth: f32| -> (Vec<Vec3>, Vec<[u32; 3]>) {
            let place = |v: u32| {
                let (x, z) = ((v % side) as f32 / 4.0 - 1.0, (v / side) as f32 / 4.0 - 1.0);
                Vec3::new(x, depth * (1.0 - x * x) * (1.0 - z * z), z)
            };
            let mut triangles = Vec::new();
            for (j, i) in (0..side - 1).flat_map(|j| (0..side - 1).map(move |i| (j, i))) {
                let a = j * side + i;
                triangles.extend([[a, a + side, a + 1], [a + 1, a + side, a + side + 1]]);
            }
            ((0..side * side).map(place).collect(), triangles)
        };
        let (positions, triangles) = bend(0.3);
        let cape = Solid::build(&positions, &triangles);
        assert_eq!(cape.triangles, triangles);
        assert!(cape.sheet.iter().all(|s| *s));
        let (positions, triangles) = bend(1.5);
        let bowl = Solid::build(&positions, &triangles);
        assert!(is_closed(&bowl, &positions) && !bowl.sheet.contains(&true));
    }

    #[test]
    fn borders_that_meet_in_a_point_are_closed_each() {
        // Two tubes that share one corner of their rims, and a triangle on three others.
        let (mut positions, mut triangles) = tube(4);
        let count = positions.len() as u32;
        let beside: Vec<Vec3> = positions.iter().map(|p| *p + Vec3::new(2.0, 3.0, 2.0)).collect();
        positions.extend(beside);
        let more: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| v + count)).collect();
        triangles.extend(more);
        let solid = Solid::build(&positions, &triangles);
        assert!(is_closed(&solid, &positions));
        assert!((volume(&positions, &solid.triangles) - 24.0).abs() < 1e-3);
    }
}
