//! What cuts through some edges of the cloth cut off: all pieces but the largest of every part that hangs together.
//!
//! A **flood** starts at both ends of every cut edge, and they take turns, node by node. Floods that meet are one. As
//! soon as but one is left in a part that has not run dry, the others are the pieces that are cut off, and the one
//! that is left need not be followed through the whole cloth: work grows with what is cut off, not with the mesh.

use crate::geometry::Lists;

/// No flood.
const NONE: u32 = u32::MAX;

/// Water from one end of a cut edge.
#[derive(Clone, Debug, Default)]
struct Flood {
    /// Another that it has met, or itself.
    joined: u32,
    part: u32,
    /// Nodes reached, by all that have met.
    size: u32,
    /// How many of those that have met have not run dry.
    open: u32,
    /// Nodes to go on from.
    stack: Vec<u32>,
    /// Nodes reached.
    reached: Vec<u32>,
}

/// Storage of the search, reused.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    floods: Vec<Flood>,
    used: usize,
    /// Flood that has reached each node.
    flood_of_node: Vec<u32>,
    /// Nodes of every part.
    part_sizes: Vec<u32>,
    /// Floods of every part that have not run dry, those that have met counted as one.
    open_parts: Vec<u32>,
    /// The largest flood of every part that has run dry.
    largest: Vec<u32>,
}

/// A cloth in which edges are cut.
#[derive(Clone, Copy)]
pub struct CutCloth<'a> {
    /// Its triangles.
    pub triangles: &'a [[u32; 3]],
    /// Triangles of every node.
    pub node_triangles: &'a Lists,
    /// Part of the cloth that hangs together.
    pub part_of_node: &'a [u32],
    /// Cut edges, each ascending, sorted.
    pub cuts: &'a [[u32; 2]],
}

impl Pieces {
    /// Calls `each` for all nodes that are cut off.
    pub fn find(&mut self, cloth: CutCloth, mut each: impl FnMut(u32)) {
        self.start(cloth);
        while self.open_parts.iter().any(|open| *open > 1) {
            for flood in 0..self.used {
                self.go_on(flood as u32, cloth);
            }
        }
        self.find_largest();
        for flood in 0..self.used as u32 {
            let root = self.root(flood);
            let Flood { part, open, .. } = self.floods[root as usize];
            if open == 0 && self.largest[part as usize] != root {
                self.floods[flood as usize].reached.iter().for_each(|&n| each(n));
            }
        }
        // What has not run dry is cut off where what has is larger: hardly ever, and then all of it is told.
        let is_rest =
            |part: u32| self.largest[part as usize] != NONE && self.open_parts[part as usize] > 0;
        if (0..self.part_sizes.len() as u32).any(is_rest) {
            let parts = cloth.part_of_node.iter().enumerate();
            for (node, _) in parts.filter(|(_, part)| is_rest(**part)) {
                let flood = self.flood_of_node[node];
                if flood == NONE || self.floods[self.root(flood) as usize].open > 0 {
                    each(node as u32);
                }
            }
        }
    }

    /// Starts floods at all ends of cut edges.
    fn start(&mut self, cloth: CutCloth) {
        let count = cloth.part_of_node.len();
        for flood in &mut self.floods[..self.used] {
            flood.reached.iter().for_each(|&n| self.flood_of_node[n as usize] = NONE);
        }
        self.used = 0;
        self.flood_of_node.resize(count, NONE);
        // Once: parts do not change.
        if self.part_sizes.is_empty() {
            let parts = cloth.part_of_node.iter().max().map_or(0, |&p| p as usize + 1);
            self.part_sizes.resize(parts, 0);
            cloth.part_of_node.iter().for_each(|&part| self.part_sizes[part as usize] += 1);
        }
        self.open_parts.clear();
        self.open_parts.resize(self.part_sizes.len(), 0);
        for &node in cloth.cuts.iter().flatten() {
            if self.flood_of_node[node as usize] != NONE {
                continue;
            }
            let (number, part) = (self.used as u32, cloth.part_of_node[node as usize]);
            if self.floods.len() == self.used {
                self.floods.push(Flood::default());
            }
            let flood = &mut self.floods[self.used];
            (flood.joined, flood.part, flood.size, flood.open) = (number, part, 1, 1);
            flood.stack.clear();
            flood.stack.push(node);
            flood.reached.clear();
            flood.reached.push(node);
            self.flood_of_node[node as usize] = number;
            self.open_parts[part as usize] += 1;
            self.used += 1;
        }
    }

    /// One node of one flood.
    fn go_on(&mut self, number: u32, cloth: CutCloth) {
        let Flood { part, stack, .. } = &mut self.floods[number as usize];
        let part = *part as usize;
        if self.open_parts[part] < 2 {
            return;
        }
        let Some(node) = stack.pop() else { return };
        for &t in cloth.node_triangles.of(node) {
            for other in cloth.triangles[t as usize] {
                let there = self.flood_of_node[other as usize];
                let edge = [node.min(other), node.max(other)];
                // An edge that goes through a triangle is a cut: what is pushed through is a piece of its own.
                if there == number || cloth.cuts.binary_search(&edge).is_ok() {
                    continue;
                }
                if there == NONE {
                    self.flood_of_node[other as usize] = number;
                    let flood = &mut self.floods[number as usize];
                    flood.stack.push(other);
                    flood.reached.push(other);
                    let root = self.root(number);
                    self.floods[root as usize].size += 1;
                } else {
                    self.join(number, there);
                }
            }
        }
        if self.floods[number as usize].stack.is_empty() {
            let root = self.root(number);
            let open = &mut self.floods[root as usize].open;
            *open -= 1;
            if *open == 0 {
                self.open_parts[part] -= 1;
            }
        }
    }

    /// Two floods have met.
    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.root(one), self.root(other));
        if one == other {
            return;
        }
        let (first, second) = (one.min(other), one.max(other));
        let Flood { size, open, part, .. } = self.floods[second as usize];
        self.floods[second as usize].joined = first;
        let root = &mut self.floods[first as usize];
        root.size += size;
        root.open += open;
        self.open_parts[part as usize] -= 1;
    }

    fn root(&self, mut flood: u32) -> u32 {
        while self.floods[flood as usize].joined != flood {
            flood = self.floods[flood as usize].joined;
        }
        flood
    }

    /// The largest of the floods that have run dry, where it is larger than what is left of its part.
    fn find_largest(&mut self) {
        self.largest.clear();
        self.largest.resize(self.part_sizes.len(), NONE);
        let mut left = std::mem::take(&mut self.part_sizes);
        let is_dry =
            |flood: &Flood, number: usize| flood.joined == number as u32 && flood.open == 0;
        for (number, flood) in self.floods[..self.used].iter().enumerate() {
            if is_dry(flood, number) {
                left[flood.part as usize] -= flood.size;
            }
        }
        for (number, flood) in self.floods[..self.used].iter().enumerate() {
            let largest = &mut self.largest[flood.part as usize];
            let most = match *largest {
                NONE => left[flood.part as usize],
                other => self.floods[other as usize].size,
            };
            if is_dry(flood, number) && flood.size > most {
                *largest = number as u32;
            }
        }
        for (number, flood) in self.floods[..self.used].iter().enumerate() {
            if is_dry(flood, number) {
                left[flood.part as usize] += flood.size;
            }
        }
        self.part_sizes = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    /// All nodes but those of the largest piece of every part, by flooding everything.
    fn plainly(cloth: CutCloth) -> Vec<u32> {
        let count = cloth.part_of_node.len();
        let (mut piece, mut sizes) = (vec![NONE; count], Vec::new());
        for start in 0..count {
            if piece[start] != NONE {
                continue;
            }
            let mut stack = vec![start as u32];
            piece[start] = sizes.len() as u32;
            sizes.push(0);
            while let Some(node) = stack.pop() {
                sizes[piece[start] as usize] += 1;
                for other in
                    cloth.node_triangles.of(node).iter().flat_map(|&t| cloth.triangles[t as usize])
                {
                    let edge = [node.min(other), node.max(other)];
                    if piece[other as usize] == NONE && !cloth.cuts.contains(&edge) {
                        piece[other as usize] = piece[start];
                        stack.push(other);
                    }
                }
            }
        }
        let size = |n: usize| sizes[piece[n] as usize];
        let most =
            |part: u32| (0..count).filter(|&n| cloth.part_of_node[n] == part).map(size).max();
        (0..count)
            .filter(|&n| Some(size(n)) < most(cloth.part_of_node[n]))
            .map(|n| n as u32)
            .collect()
    }

    #[test]
    fn what_is_cut_off_is_what_flooding_everything_finds() {
        // Two strips of cloth of 3 by 40 nodes.
        let nodes =
            |part: u32| (0..39).flat_map(move |i| (0..2).map(move |j| 120 * part + 3 * i + j));
        let cells = (0..2).flat_map(nodes);
        let triangles: Vec<[u32; 3]> =
            cells.flat_map(|a| [[a, a + 3, a + 1], [a + 1, a + 3, a + 4]]).collect();
        let of_node = triangles.iter().enumerate().flat_map(|(t, c)| c.map(|n| (n, t as u32)));
        let node_triangles = Lists::from_pairs(240, of_node);
        let part_of_node: Vec<u32> = (0..240).map(|n| n / 120).collect();
        let (mut pieces, mut found_some) = (Pieces::default(), 0);
        for round in 0..200u64 {
            // Some columns are cut through, others in part only.
            let mut cuts: Vec<[u32; 2]> = Vec::new();
            for triangle in &triangles {
                for k in 0..3 {
                    let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
                    let (low, high) = (a.min(b), a.max(b));
                    let across = low / 3 != high / 3;
                    let column = u64::from(low / 3);
                    let sharp = random::signed(7, round, column) > 0.9;
                    if across && sharp && random::signed(8, round, u64::from(low)) > -0.95 {
                        cuts.push([low, high]);
                    }
                }
            }
            cuts.sort_unstable();
            cuts.dedup();
            let (triangles, part_of_node) = (triangles.as_slice(), part_of_node.as_slice());
            let cloth =
                CutCloth { triangles, node_triangles: &node_triangles, part_of_node, cuts: &cuts };
            let mut found = Vec::new();
            pieces.find(cloth, |n| found.push(n));
            found.sort_unstable();
            let wanted = plainly(cloth);
            // Of two pieces as large as each other either may stay.
            if wanted.len() != found.len() {
                assert!(found.len() > wanted.len() && wanted.iter().all(|n| found.contains(n)));
                continue;
            }
            assert_eq!(found, wanted, "round {round}");
            found_some += usize::from(!found.is_empty());
        }
        assert!(found_some > 50, "{found_some}");
    }
}
