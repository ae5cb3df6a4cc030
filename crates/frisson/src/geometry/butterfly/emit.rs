//! Which triangles come out: each coarse triangle at its own level, joined without cracks.

use super::refine::{Corner, Refined};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::geometry::{Ancestry, MeshTopology, NONE, Topology};

/// A refined mesh: the coarse vertices, unchanged and in their order, then the new ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Emission {
    /// Triangles over coarse and new vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Coarse triangle that each came from.
    pub sources: Vec<u32>,
    /// New vertices; the first has the index after the last coarse one.
    pub vertices: Vec<NewVertex>,
}

/// A vertex that refinement added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewVertex {
    /// Refined point, shared by the copies on both sides of a uv seam.
    pub point: u32,
    /// Vertices of the coarse triangle that attributes are mixed from.
    pub corners: [u32; 3],
    /// Their shares.
    pub barycentric: [f32; 3],
}

/// Corner of a piece, in the lattice of its coarse triangle at the finest level in play.
type Lattice = [u32; 2];

struct Emitter<'a> {
    refined: &'a Refined,
    topology: &'a Topology,
    mesh: &'a MeshTopology,
    edge_levels: Vec<u8>,
    out: Emission,
    /// For each refined point the first new vertex, then others by `next`.
    first: Vec<u32>,
    next: Vec<u32>,
    /// Coarse vertices of the edge that a new vertex lies on, smaller first; [`NONE`] inside.
    keys: Vec<[u32; 2]>,
}

impl Emission {
    /// Emits every coarse triangle of `mesh` at the wanted level (at most the refined one).
    /// `topology` must be the mesh's own, welded.
    #[must_use]
    pub fn new(refined: &Refined, topology: &Topology, mesh: &MeshTopology, wanted: &[u8]) -> Self {
        let level = |t: usize| wanted[t].min(refined.levels[t]);
        let mut edge_levels = vec![0; topology.edges.len()];
        for t in (0..wanted.len()).filter(|&t| level(t) > 0) {
            for e in topology.triangle_edges[t] {
                edge_levels[e as usize] = edge_levels[e as usize].max(level(t));
            }
        }
        let mut emitter = Emitter {
            refined,
            topology,
            mesh,
            edge_levels,
            out: Self::default(),
            first: vec![NONE; refined.point_count()],
            next: Vec::new(),
            keys: Vec::new(),
        };
        for t in 0..mesh.triangles.len() {
            emitter.triangle(t as u32, level(t));
        }
        emitter.out
    }
}

impl Emitter<'_> {
    fn triangle(&mut self, t: u32, level: u8) {
        let sides = self.topology.triangle_edges[t as usize]
            .map(|e| if e == NONE { 0 } else { self.edge_levels[e as usize] });
        let finest = sides.iter().copied().fold(level, u8::max);
        // Most of the mesh: copied, with the file's own vertices.
        if finest == 0 {
            self.out.triangles.push(self.mesh.triangles[t as usize]);
            self.out.sources.push(t);
            return;
        }
        let (n, step) = (1u32 << finest, 1u32 << (finest - level));
        for i in (0..n).step_by(step as usize) {
            for j in (0..n - i).step_by(step as usize) {
                self.piece(t, finest, sides, [[i, j], [i + step, j], [i, j + step]]);
                if i + j + 2 * step <= n {
                    let upper = [[i + step, j], [i + step, j + step], [i, j + step]];
                    self.piece(t, finest, sides, upper);
                }
            }
        }
    }

    /// Emits a piece, split where its sides carry a finer neighbour's points.
    fn piece(&mut self, t: u32, finest: u8, sides: [u8; 3], corners: [Lattice; 3]) {
        let n = 1u32 << finest;
        for k in 0..3 {
            let (a, b, c) = (corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
            let Some(side) = side_of(a, b, n) else { continue };
            let spacing = 1u32 << (finest - sides[side]);
            let length = a[0].abs_diff(b[0]).max(a[1].abs_diff(b[1]));
            if length > spacing {
                // Halved towards the opposite corner until its side is as fine as the neighbour's.
                let middle = [u32::midpoint(a[0], b[0]), u32::midpoint(a[1], b[1])];
                self.piece(t, finest, sides, [a, middle, c]);
                self.piece(t, finest, sides, [middle, b, c]);
                return;
            }
        }
        let vertices = corners.map(|[i, j]| self.vertex(t, finest, i, j));
        self.out.triangles.push(vertices);
        self.out.sources.push(t);
    }

    /// The vertex at a lattice place, made if it is new.
    fn vertex(&mut self, t: u32, level: u8, i: u32, j: u32) -> u32 {
        let corners = self.mesh.triangles[t as usize];
        match self.refined.point(self.topology, t, level, i, j) {
            Some(Corner::Coarse(k)) => corners[k],
            Some(Corner::Refined(point)) => self.new_vertex(point, corners, level, i, j),
            // Unreachable for levels within the refined ones; a corner keeps the mesh whole.
            None => corners[0],
        }
    }

    fn new_vertex(&mut self, point: u32, corners: [u32; 3], level: u8, i: u32, j: u32) -> u32 {
        let n = 1u32 << level;
        // One refined point has as many vertices as its edge has pairs of coarse ones: two along a uv seam.
        let key = match (i, j) {
            (0, _) => [corners[0].min(corners[2]), corners[0].max(corners[2])],
            (_, 0) => [corners[0].min(corners[1]), corners[0].max(corners[1])],
            _ if i + j == n => [corners[1].min(corners[2]), corners[1].max(corners[2])],
            _ => [NONE; 2],
        };
        let base = self.mesh.vertex_count as u32;
        let mut known = self.first[point as usize];
        while known != NONE {
            if self.keys[known as usize] == key {
                return base + known;
            }
            known = self.next[known as usize];
        }
        let index = self.out.vertices.len() as u32;
        let (u, v) = (i as f32 / n as f32, j as f32 / n as f32);
        self.out.vertices.push(NewVertex { point, corners, barycentric: [1.0 - u - v, u, v] });
        self.keys.push(key);
        self.next.push(self.first[point as usize]);
        self.first[point as usize] = index;
        base + index
    }
}

/// Side of the coarse triangle on which both ends lie (numbered by the corner opposite to it).
fn side_of(a: Lattice, b: Lattice, n: u32) -> Option<usize> {
    if a[0] == 0 && b[0] == 0 {
        Some(1)
    } else if a[1] == 0 && b[1] == 0 {
        Some(2)
    } else if a[0] + a[1] == n && b[0] + b[1] == n {
        Some(0)
    } else {
        None
    }
}

impl Emission {
    /// The topology of the refined mesh: attributes mixed linearly inside each coarse triangle,
    /// materials and regions kept, new vertices smooth.
    #[must_use]
    pub fn build_topology(&self, mesh: &MeshTopology) -> MeshTopology {
        let mut out = MeshTopology {
            vertex_count: mesh.vertex_count + self.vertices.len(),
            triangles: self.triangles.clone(),
            uvs: mesh.uvs.clone(),
            colors: mesh.colors.clone(),
            triangle_materials: Vec::new(),
            materials: mesh.materials.clone(),
            regions: mesh.regions.clone(),
            smoothing: mesh.smoothing.clone(),
            ancestry: Some(Arc::new(self.ancestry(mesh))),
        };
        self.extend_regions(mesh, &mut out.regions);
        if !mesh.triangle_materials.is_empty() {
            out.triangle_materials =
                self.sources.iter().map(|&t| mesh.triangle_materials[t as usize]).collect();
        }
        // Groups of their own, beyond the file's: new vertices at one point are smooth, whatever their edge was.
        let mut next_group = mesh.smoothing.iter().max().map_or(0, |&g| g + 1);
        let mut group_of_point = BTreeMap::new();
        for vertex in &self.vertices {
            let mix = || vertex.corners.iter().map(|&v| v as usize).zip(vertex.barycentric);
            if !mesh.uvs.is_empty() {
                out.uvs.push(mix().map(|(v, w)| w * mesh.uvs[v]).sum());
            }
            if !mesh.colors.is_empty() {
                let channel = |k: usize| mix().map(|(v, w)| w * mesh.colors[v][k]).sum();
                out.colors.push(std::array::from_fn(channel));
            }
            if !mesh.smoothing.is_empty() {
                let group = *group_of_point.entry(vertex.point).or_insert(next_group);
                next_group = next_group.max(group + 1);
                out.smoothing.push(group);
            }
        }
        out
    }

    fn ancestry(&self, mesh: &MeshTopology) -> Ancestry {
        Ancestry {
            vertex_count: mesh.vertex_count,
            triangles: mesh.triangles.as_slice().into(),
            made_of: self.vertices.iter().map(|v| (v.corners, v.barycentric)).collect(),
            sources: self.sources.clone(),
            older: mesh.ancestry.clone(),
        }
    }

    /// A new vertex belongs to a region when all coarse vertices it is made of do.
    fn extend_regions(&self, mesh: &MeshTopology, regions: &mut BTreeMap<String, Vec<u32>>) {
        for members in regions.values_mut() {
            let mut inside = vec![false; mesh.vertex_count];
            members.iter().for_each(|&v| inside[v as usize] = true);
            let held = |v: &NewVertex| {
                // A corner without a share does not count: a vertex on an edge is made of two.
                v.corners.iter().zip(v.barycentric).all(|(&c, s)| s == 0.0 || inside[c as usize])
            };
            let new = (mesh.vertex_count as u32..).zip(&self.vertices);
            members.extend(new.filter(|(_, v)| held(v)).map(|(index, _)| index));
        }
    }
}
