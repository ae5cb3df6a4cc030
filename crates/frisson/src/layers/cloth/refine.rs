//! Cloth finer than the mesh it comes in: cut by the shared butterfly before it is simulated.

use glam::Vec3;

use crate::geometry::butterfly::{Emission, Refined, RefinedMesh};
use crate::geometry::{Mesh, Topology};
use crate::tolerances::cloth as limits;

/// How the incoming mesh is cut.
pub struct Refinement {
    coarse: Topology,
    refined: Refined,
    fine: RefinedMesh,
}

/// Storage that is reused.
#[derive(Default)]
pub struct RefineScratch {
    points: Vec<Vec3>,
    made: Vec<Vec3>,
}

impl Refinement {
    /// Cuts every triangle `level` times into four.
    pub fn new(mesh: &Mesh, level: u8) -> Self {
        let coarse = Topology::build(&mesh.positions, &mesh.topology.triangles);
        let levels = vec![level; mesh.topology.triangles.len()];
        let refined = Refined::build(&coarse, &levels);
        let emission = Emission::new(&refined, &coarse, &mesh.topology, &levels);
        let fine = RefinedMesh::new(&emission, &mesh.topology);
        Self { coarse, refined, fine }
    }

    /// Triangles that had to stay as they are.
    pub fn left_out(&self) -> usize {
        self.refined.left_out.len()
    }

    /// Positions of all vertices, the incoming ones first.
    pub fn positions(&self, incoming: &[Vec3], scratch: &mut RefineScratch, out: &mut Vec<Vec3>) {
        let RefineScratch { points, made } = scratch;
        points.clear();
        points.extend(self.coarse.vertex_of_point.iter().map(|&v| incoming[v as usize]));
        self.refined.stencils.evaluate_all(points, made);
        out.clear();
        // The file's own vertices keep their numbers; new ones come behind.
        out.extend_from_slice(incoming);
        out.extend(self.fine.new_points.iter().map(|&p| made[p as usize]));
    }

    /// The finer mesh.
    pub fn mesh(&self, incoming: &Mesh) -> Mesh {
        let mut mesh = incoming.clone();
        let scratch = &mut RefineScratch::default();
        self.positions(&incoming.positions, scratch, &mut mesh.positions);
        self.fine.adopt(&mut mesh);
        mesh
    }

    /// Gives a mesh, whose positions are those of all vertices, the finer triangles.
    pub fn adopt(&self, mesh: &mut Mesh) {
        self.fine.adopt(mesh);
    }

    /// Weights of all vertices from those of the incoming ones.
    pub fn spread_weights(&self, weights: &[f32]) -> Vec<f32> {
        let of_point = |q: u32| weights[self.coarse.vertex_of_point[q as usize] as usize];
        let between = |p: &u32| -> f32 {
            let stencil = self.refined.stencils.of(*p as usize);
            // Butterfly stencils have negative weights: a mean may leave the range.
            stencil.map(|(q, w)| of_point(q) * w as f32).sum::<f32>().clamp(0.0, 1.0)
        };
        let new = self.fine.new_points.iter().map(between);
        weights.iter().copied().chain(new).collect()
    }

    /// Adds to chosen vertices the new ones between them.
    pub fn spread(&self, chosen: &mut Vec<u32>) {
        let mut share = vec![0.0f64; self.coarse.point_count()];
        for &v in chosen.iter() {
            share[self.coarse.point_of_vertex[v as usize] as usize] = 1.0;
        }
        let first = self.coarse.point_of_vertex.len() as u32;
        let between = |p: u32| -> f64 {
            self.refined.stencils.of(p as usize).map(|(q, w)| share[q as usize] * w).sum()
        };
        let new = (first..).zip(&self.fine.new_points);
        chosen.extend(new.filter(|(_, p)| between(**p) >= limits::SPREAD_SHARE).map(|(v, _)| v));
    }
}
