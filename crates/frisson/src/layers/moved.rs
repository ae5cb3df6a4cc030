//! For tests: meshes that a formula moves, and a stage to put layers on them.

use std::sync::Arc;

use glam::{DVec3, Quat, Vec3};

use super::LayerParams;
use crate::geometry::{Grid, Mesh};
use crate::stage::{
    Actor, Clock, Forces, MeshSequence, NoObserver, Rate, Setup, Simulator, SimulatorError,
};

/// Squares along a side of [`sheet`].
pub(crate) const CELLS: usize = 20;

/// A mesh whose points go where a function of place and time says.
struct MovedMesh<F> {
    meshes: Vec<Mesh>,
    motion: F,
}

impl<F: Fn(Vec3, f64) -> Vec3 + Send + Sync> MeshSequence for MovedMesh<F> {
    fn meshes(&self) -> &[Mesh] {
        &self.meshes
    }
    fn positions_at(&self, mesh: usize, time: f64, out: &mut Vec<Vec3>) {
        out.clear();
        out.extend(self.meshes[mesh].positions.iter().map(|&p| (self.motion)(p, time)));
    }
}

/// An actor of one mesh.
pub(crate) fn moved(
    mesh: Mesh,
    motion: impl Fn(Vec3, f64) -> Vec3 + Send + Sync + 'static,
) -> Actor {
    let name = mesh.name.clone();
    Actor::sequence_named(name, Arc::new(MovedMesh { meshes: vec![mesh], motion }))
}

/// A grid of quads cut in two, with vertices at `place(column, row)`.
pub(crate) fn grid(
    name: &str,
    columns: usize,
    rows: usize,
    place: impl Fn(usize, usize) -> Vec3,
) -> Mesh {
    let at = |x: usize, z: usize| (z * (columns + 1) + x) as u32;
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for z in 0..=rows {
        for x in 0..=columns {
            positions.push(place(x, z));
            if x < columns && z < rows {
                triangles.push([at(x, z), at(x, z + 1), at(x + 1, z)]);
                triangles.push([at(x + 1, z), at(x, z + 1), at(x + 1, z + 1)]);
            }
        }
    }
    Mesh::new(name, positions, triangles)
}

/// A 1 m square sheet in the plane y = 0, facing up.
pub(crate) fn sheet() -> Mesh {
    let at = |i: usize| i as f32 / CELLS as f32;
    grid("sheet", CELLS, CELLS, |x, z| Vec3::new(at(x), 0.0, at(z)))
}

/// Vertex of [`sheet`] in some column and row.
pub(crate) fn sheet_vertex(column: usize, row: usize) -> u32 {
    (row * (CELLS + 1) + column) as u32
}

/// One second at 30 frames per second.
pub(crate) fn stage(
    actors: Vec<Actor>,
    layers: &[LayerParams],
) -> Result<Simulator, SimulatorError> {
    let clock = Clock::new(Rate::whole(30), 0, 30);
    Simulator::new(Setup {
        clock,
        actors,
        forces: Forces::default(),
        layers: layers.to_vec(),
        ..Setup::default()
    })
}

/// The first mesh after some frames.
pub(crate) fn run(stage: &mut Simulator, frames: usize) -> Mesh {
    for _ in 0..frames {
        stage.advance_frame(&mut NoObserver).unwrap();
    }
    stage.frame().meshes[0].clone()
}

/// Bends space about z towards +y: what is within `bent` of x = 0 turns by `angle` in all, along an arc.
pub(crate) fn bend(p: Vec3, angle: f32, bent: f32) -> Vec3 {
    if angle < 1e-3 {
        return p;
    }
    let (center, arc) = (bent / angle, p.x.clamp(-0.5 * bent, 0.5 * bent));
    let turn = Quat::from_rotation_z(angle * arc / bent);
    Vec3::Y * center + turn * Vec3::new(p.x - arc, p.y - center, p.z)
}

/// Where edges of a mesh cross triangles that they have no vertex in common with.
pub(crate) fn crossings(mesh: &Mesh) -> Vec<Vec3> {
    let (p, triangles) = (&mesh.positions, &mesh.topology.triangles);
    let corners = |t: &[u32; 3]| t.map(|v| p[v as usize]);
    let bounds = |t: &[u32; 3]| {
        let [a, b, c] = corners(t);
        (a.min(b).min(c), a.max(b).max(c))
    };
    let longest = triangles.iter().map(|t| {
        let [a, b, c] = corners(t);
        a.distance(b).max(b.distance(c)).max(c.distance(a))
    });
    let mut found = Grid::default();
    found.build_boxes(triangles.iter().map(bounds), longest.fold(0.0, f32::max));
    let mut pairs = Vec::new();
    for (index, t) in triangles.iter().enumerate() {
        let (low, high) = bounds(t);
        found.query(low, high, |other| pairs.push((index, other as usize)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    // By place, not by index: seams split vertices.
    let same_place = |a: u32, b: u32| p[a as usize] == p[b as usize];
    let crossing = |&&(i, j): &&(usize, usize)| {
        let (t, other) = (triangles[i], triangles[j]);
        let apart = t.iter().all(|&a| other.iter().all(|&b| !same_place(a, b)));
        let [mine, other] = [t, other].map(|t| corners(&t).map(|p| p.as_dvec3()));
        apart && (0..3).any(|k| crosses(mine[k], mine[(k + 1) % 3], other))
    };
    pairs.iter().filter(crossing).map(|&(i, _)| p[triangles[i][0] as usize]).collect()
}

/// Whether the segment `a b` crosses a triangle.
pub(crate) fn crosses(a: DVec3, b: DVec3, t: [DVec3; 3]) -> bool {
    let n = (t[1] - t[0]).cross(t[2] - t[0]);
    let (da, db) = ((a - t[0]).dot(n), (b - t[0]).dot(n));
    // Ends in the plane do not count: folds lie upon the surface they come from.
    if da * db >= 0.0 {
        return false;
    }
    let p = a + (b - a) * (da / (da - db));
    let inside = |i: usize, j: usize| (t[j] - t[i]).cross(p - t[i]).dot(n) > 0.0;
    inside(0, 1) && inside(1, 2) && inside(2, 0)
}
