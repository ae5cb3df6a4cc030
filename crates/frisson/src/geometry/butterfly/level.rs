//! Uniform subdivision, level by level, as far as it is needed: where the points come from.

use super::rules::{Stencil, compute_edge_stencil};
use crate::geometry::{NONE, Topology};

/// A triangle at some level: corners as points of that level, and where they lie in the lattice of
/// its coarse triangle.
#[derive(Clone, Copy)]
pub(super) struct SubTriangle {
    pub(super) coarse: u32,
    pub(super) corners: [u32; 3],
    /// Lattice coordinates (towards corner 1, towards corner 2) of each corner, at this level.
    pub(super) lattice: [[u32; 2]; 3],
}

/// Points of all levels while they are being made. Coarse points come first, then refined ones.
pub(super) struct Points {
    pub(super) coarse: usize,
    pub(super) stencils: Vec<Stencil>,
    /// How each was made from coarse and earlier points.
    pub(super) rules: Vec<Stencil>,
    /// Points there are after each level.
    pub(super) levels: Vec<usize>,
}

impl Points {
    /// Appends the combination of already known points.
    pub(super) fn push_combined(&mut self, rule: &[(u32, f64)], scratch: &mut Stencil) -> u32 {
        scratch.clear();
        for &(point, weight) in rule {
            match (point as usize).checked_sub(self.coarse) {
                None => scratch.push((point, weight)),
                Some(refined) => {
                    scratch.extend(self.stencils[refined].iter().map(|&(p, w)| (p, w * weight)));
                }
            }
        }
        // Stable: weights of one point are added in the order of the rule, so that the sums have one set of bits.
        scratch.sort_by_key(|&(p, _)| p);
        let mut merged: Stencil = Vec::with_capacity(scratch.len());
        for &(p, w) in scratch.iter() {
            match merged.last_mut() {
                Some(last) if last.0 == p => last.1 += w,
                _ => merged.push((p, w)),
            }
        }
        // Weights are dyadic where the mesh is regular, so that what cancels is zero exactly.
        merged.retain(|&(_, w)| w != 0.0);
        self.stencils.push(merged);
        self.rules.push(rule.to_vec());
        (self.coarse + self.stencils.len() - 1) as u32
    }
}

/// The part of the uniformly subdivided mesh that is needed at one level.
pub(super) struct LevelMesh {
    pub(super) triangles: Vec<SubTriangle>,
    /// `None` at level 0, where the coarse topology itself serves.
    pub(super) local: Option<(Topology, Vec<u32>)>,
}

impl LevelMesh {
    pub(super) fn coarse(topology: &Topology, levels: &[u8]) -> Self {
        let needed = expand(topology, levels, 1, 1.max(levels.iter().copied().max().unwrap_or(0)));
        let triangles = (0..topology.triangles.len())
            .filter(|&t| needed[t])
            .map(|t| SubTriangle {
                coarse: t as u32,
                corners: topology.triangles[t],
                lattice: [[0, 0], [1, 0], [0, 1]],
            })
            .collect();
        Self { triangles, local: None }
    }

    /// The next level of the triangles whose coarse triangle is needed there.
    pub(super) fn subdivide(
        &self,
        coarse: &Topology,
        needed: &[bool],
        points: &mut Points,
    ) -> Self {
        let mut rule = Stencil::new();
        let mut scratch = Stencil::new();
        // Later levels have a topology of the few triangles they are about: the whole mesh four times over would be
        // built for nothing.
        let (topology, global): (&Topology, Option<&[u32]>) = match &self.local {
            None => (coarse, None),
            Some((topology, global)) => (topology, Some(global)),
        };
        let mut middles = vec![NONE; topology.edges.len()];
        let mut triangles = Vec::with_capacity(4 * self.triangles.len());
        for (index, sub) in self.triangles.iter().enumerate() {
            if !needed[sub.coarse as usize] {
                continue;
            }
            // Level 0 looks triangles up in the whole mesh, later levels in their own few.
            let row = if global.is_some() { index } else { sub.coarse as usize };
            let edges = topology.triangle_edges[row];
            // Degenerate: it has no edge to be split at.
            if edges.contains(&NONE) {
                continue;
            }
            for e in edges {
                if middles[e as usize] == NONE {
                    compute_edge_stencil(topology, e, &mut rule);
                    if let Some(global) = global {
                        rule.iter_mut().for_each(|(p, _)| *p = global[*p as usize]);
                    }
                    middles[e as usize] = points.push_combined(&rule, &mut scratch);
                }
            }
            split(sub, edges.map(|e| middles[e as usize]), &mut triangles);
        }
        let local = Some(connect(&triangles));
        Self { triangles, local }
    }
}

/// The four children of a triangle. `middles[k]` is opposite corner `k`.
fn split(sub: &SubTriangle, middles: [u32; 3], out: &mut Vec<SubTriangle>) {
    let [a, b, c] = sub.corners;
    let [la, lb, lc] = sub.lattice.map(|[i, j]| [2 * i, 2 * j]);
    let [bc, ca, ab] = middles;
    let mid = |p: [u32; 2], q: [u32; 2]| [u32::midpoint(p[0], q[0]), u32::midpoint(p[1], q[1])];
    let (lab, lbc, lca) = (mid(la, lb), mid(lb, lc), mid(lc, la));
    let mut push =
        |corners, lattice| out.push(SubTriangle { coarse: sub.coarse, corners, lattice });
    push([a, ab, ca], [la, lab, lca]);
    push([ab, b, bc], [lab, lb, lbc]);
    push([ca, bc, c], [lca, lbc, lc]);
    push([ab, bc, ca], [lab, lbc, lca]);
}

/// Topology of sub-triangles over local numbers, and the global point of each.
fn connect(triangles: &[SubTriangle]) -> (Topology, Vec<u32>) {
    let mut global: Vec<u32> = triangles.iter().flat_map(|t| t.corners).collect();
    global.sort_unstable();
    global.dedup();
    let local = |p: u32| global.partition_point(|&g| g < p) as u32;
    let rows: Vec<[u32; 3]> = triangles.iter().map(|t| t.corners.map(local)).collect();
    (Topology::unwelded(global.len(), &rows), global)
}

/// Coarse triangles that must be subdivided to this level: those that want it, and two rings around
/// those that want more, because stencils reach two edges of the level before (see the module).
pub(super) fn expand(topology: &Topology, levels: &[u8], level: u8, deepest: u8) -> Vec<bool> {
    let mut needed: Vec<bool> = levels.iter().map(|&l| l >= level).collect();
    if level == deepest {
        return needed;
    }
    let mut marked = vec![false; topology.point_count()];
    for (t, corners) in topology.triangles.iter().enumerate() {
        if levels[t] > level {
            corners.iter().for_each(|&p| marked[p as usize] = true);
        }
    }
    // Two rings, see above.
    for _ in 0..2 {
        let touched: Vec<usize> = (0..topology.triangles.len())
            .filter(|&t| topology.triangles[t].iter().any(|&p| marked[p as usize]))
            .collect();
        for t in touched {
            needed[t] = true;
            topology.triangles[t].iter().for_each(|&p| marked[p as usize] = true);
        }
    }
    needed
}
