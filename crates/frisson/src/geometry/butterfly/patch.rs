//! What layers that fold a refined mesh share: the coarse surface they read in every frame, the
//! guard, and the mesh they write.

use std::sync::Arc;

use glam::{Vec3, Vec3A};

use super::{Cascade, Emission, Normals, Refined};
use crate::geometry::{
    FoldGuard, GeodesicStart, Mesh, MeshTopology, Topology, clearance, march_geodesic,
    may_be_nearer, mesh::spread,
};
use crate::tolerances;

/// The coarse surface under a refined patch: positions and normals, fetched anew in every frame.
#[derive(Clone, Debug, Default)]
pub struct PatchSurface {
    /// Position and unit normal of every coarse point; only those of the patch are kept true. Then
    /// those of the refined points, as the cascade orders them, their normals not quite unit.
    pub points: Vec<[Vec3A; 2]>,
    cascade: Cascade,
    /// Coarse points that are fetched, each with one of its vertices.
    support: Vec<[u32; 2]>,
    /// Triangles around the points whose normals are needed, and their normals times twice the area.
    faces: Vec<[u32; 3]>,
    areas: Vec<Vec3A>,
    /// Points with normals; `face_offsets[k]..face_offsets[k + 1]` of `faces_of` are around the kth.
    normal_points: Vec<u32>,
    face_offsets: Vec<u32>,
    faces_of: Vec<u32>,
    /// Corners of refined triangles: where the room for folds is found.
    corners: Vec<u32>,
    /// Those and the points around them that may come to face them.
    obstacles: Vec<u32>,
    /// Edges between corners, and the way to the centre of the bend between their ends, twice [m].
    edges: Vec<[u32; 2]>,
    bends: Vec<f32>,
    /// Mean distance between neighbouring corners [m].
    spacing: f32,
    guard: FoldGuard,
    /// Room in front of corners [m].
    room: Vec<f32>,
}

impl PatchSurface {
    /// Finds what a frame reads. `points` are coarse points whose normals are needed besides those
    /// of the refined triangles; `positions` are those of all coarse points at rest. What lies
    /// further along the surface than `reach` from the patch is never in the way of folds.
    #[must_use]
    pub fn new(
        topology: &Topology,
        refined: &Refined,
        points: impl IntoIterator<Item = u32>,
        positions: &[Vec3],
        reach: f32,
    ) -> Self {
        let refined_triangles = (0..refined.levels.len()).filter(|&t| refined.levels[t] > 0);
        let triangles = refined_triangles.chain(refined.places.iter().map(|p| p.triangle as usize));
        let mut corners: Vec<u32> =
            points.into_iter().chain(triangles.flat_map(|t| topology.triangles[t])).collect();
        sort_unique(&mut corners);
        let obstacles = near(topology, positions, &corners, reach);
        let stencils = (0..refined.point_count()).flat_map(|i| refined.stencils.of(i));
        let mut normal_points: Vec<u32> = stencils.map(|(p, _)| p).collect();
        // All that a stencil reads or the guard asks: nothing else of the mesh is touched in a frame.
        normal_points.extend(&obstacles);
        sort_unique(&mut normal_points);
        let mut triangles: Vec<u32> =
            normal_points.iter().flat_map(|&p| topology.point_triangles(p)).copied().collect();
        sort_unique(&mut triangles);
        let (mut face_offsets, mut faces_of) = (vec![0], Vec::new());
        for &p in &normal_points {
            let around = topology.point_triangles(p).iter();
            faces_of.extend(around.filter_map(|t| triangles.binary_search(t).ok()).map(as_u32));
            face_offsets.push(faces_of.len() as u32);
        }
        let faces: Vec<[u32; 3]> =
            triangles.iter().map(|&t| topology.triangles[t as usize]).collect();
        let mut support: Vec<u32> = faces.iter().flatten().copied().collect();
        support.extend(&normal_points);
        sort_unique(&mut support);
        let fetched = |&p: &u32| [p, topology.vertex_of_point[p as usize]];
        Self {
            points: vec![[Vec3A::ZERO, Vec3A::Y]; refined.cascade.point_count()],
            cascade: refined.cascade.clone(),
            support: support.iter().map(fetched).collect(),
            areas: vec![Vec3A::ZERO; faces.len()],
            faces,
            normal_points,
            face_offsets,
            faces_of,
            edges: edges_between(topology, &corners),
            bends: Vec::new(),
            spacing: mean_spacing(topology, &corners, positions),
            corners,
            obstacles,
            guard: FoldGuard::default(),
            room: vec![0.0; topology.point_count()],
        }
    }

    /// Fetches positions of the coarse mesh's vertices and computes the normals.
    pub fn measure(&mut self, vertices: &[Vec3]) {
        for &[p, v] in &self.support {
            self.points[p as usize][0] = vertices[v as usize].into();
        }
        for (face, area) in self.faces.iter().zip(&mut self.areas) {
            let [a, b, c] = face.map(|p| self.points[p as usize][0]);
            *area = (b - a).cross(c - a);
        }
        for (&p, range) in self.normal_points.iter().zip(self.face_offsets.windows(2)) {
            let around = &self.faces_of[range[0] as usize..range[1] as usize];
            let sum: Vec3A = around.iter().map(|&f| self.areas[f as usize]).sum();
            self.points[p as usize][1] = sum.normalize_or(Vec3A::Y);
        }
    }

    /// Computes the refined points from the coarse ones that were measured.
    pub fn refine(&mut self, normals: Normals) {
        self.cascade.evaluate(normals, &mut self.points);
    }

    /// Position and normal of a refined point; the normal is nearly unit.
    #[must_use]
    pub fn refined(&self, index: usize) -> [Vec3A; 2] {
        self.points[self.cascade.index_of(index)]
    }

    /// Position and unit normal of a coarse point.
    #[must_use]
    pub fn at(&self, point: u32) -> (Vec3, Vec3) {
        let [position, normal] = self.points[point as usize];
        (position.into(), normal.into())
    }

    /// Index in `points` of a coarse or refined point, the refined ones counted after the coarse ones.
    #[must_use]
    pub fn index_of(&self, point: u32) -> u32 {
        match (point as usize).checked_sub(self.room.len()) {
            None => point,
            Some(refined) => as_u32(self.cascade.index_of(refined)),
        }
    }

    /// Limits the heights of the points that a layer lifts where the surface faces itself. None of them
    /// is above `reach` [m].
    pub fn limit(&mut self, lifted: &mut LiftedPoints, reach: f32, heights: &mut [f32]) {
        if reach <= 0.0 {
            return;
        }
        // A fold may take a share of the room only: what is farther than that cannot stop it.
        let far = reach / tolerances::GUARD_SHARE;
        // Two cheap questions first: in most frames of most patches nothing is near.
        let (bent, facing) = (self.find_bends(far), self.may_face_itself());
        if !bent && !facing {
            return;
        }
        // What each corner needs: the highest fold in the triangles around it.
        lifted.find_peaks(heights);
        self.corners.iter().for_each(|&p| self.room[p as usize] = 0.0);
        lifted.needs(heights, |corner, height| {
            let room = &mut self.room[corner as usize];
            *room = room.max(height);
        });
        if bent {
            for (edge, bend) in self.edges.iter().zip(&self.bends) {
                let most = tolerances::GUARD_SHARE * bend;
                for &p in edge {
                    self.room[p as usize] = self.room[p as usize].min(most);
                }
            }
        }
        if facing {
            let (points, spacing) = (&self.points, self.spacing);
            self.guard.find_room(&self.corners, &self.obstacles, points, spacing, &mut self.room);
        }
        lifted.lower(&self.room, heights);
    }

    /// Finds twice the way to the centre of the bend between the ends of every edge; false where none is
    /// nearer than `far`, and then they are not up to date.
    fn find_bends(&mut self, far: f32) -> bool {
        let points = &self.points;
        let ends = |&[a, b]: &[u32; 2]| (points[a as usize], points[b as usize]);
        let may_bend = |edge: &[u32; 2]| {
            let ([p, n], [q, m]) = ends(edge);
            may_be_nearer(far, q - p, n, m)
        };
        if !self.edges.iter().any(may_bend) {
            return false;
        }
        self.bends.clear();
        self.bends.extend(self.edges.iter().map(|edge| {
            let ([p, n], [q, m]) = ends(edge);
            clearance(q - p, n, m)
        }));
        self.bends.iter().any(|&bend| bend < far)
    }

    /// False where all normals lie within 30 degrees of their mean: no two face each other.
    fn may_face_itself(&self) -> bool {
        let normals = || self.obstacles.iter().map(|&p| self.points[p as usize][1]);
        let mean = normals().sum::<Vec3A>().normalize_or_zero();
        normals().any(|n| n.dot(mean) < tolerances::GUARD_PATCH_COSINE)
    }
}

/// The points that a layer lifts, sorted by the coarse triangle they lie in.
#[derive(Clone, Debug, Default)]
pub struct LiftedPoints {
    coarse: Vec<u32>,
    /// Corners of the triangles, where their points end among those below, and the highest of these [m].
    triangles: Vec<Lifted>,
    /// Places of the refined points among the heights, and in their triangle.
    points: Vec<u32>,
    shares: Vec<[f32; 3]>,
}

#[derive(Clone, Copy, Debug)]
struct Lifted {
    corners: [u32; 3],
    end: u32,
    peak: f32,
}

impl LiftedPoints {
    /// Sorts points, coarse or refined, whose heights are at `index_of` them; those of coarse points
    /// always come first, in their order.
    #[must_use]
    pub fn new(
        topology: &Topology,
        refined: &Refined,
        points: &[u32],
        index_of: impl Fn(u32) -> u32,
    ) -> Self {
        let coarse = topology.point_count() as u32;
        let place = |p: u32| refined.places[(p - coarse) as usize];
        let (own, mut made): (Vec<u32>, Vec<u32>) = points.iter().partition(|&&p| p < coarse);
        made.sort_by_key(|&p| (place(p).triangle, index_of(p)));
        let mut lifted = Self { coarse: own, ..Self::default() };
        for group in made.chunk_by(|&p, &q| place(p).triangle == place(q).triangle) {
            lifted.points.extend(group.iter().map(|&p| index_of(p)));
            lifted.shares.extend(group.iter().map(|&p| place(p).barycentric));
            lifted.triangles.push(Lifted {
                corners: topology.triangles[place(group[0]).triangle as usize],
                end: as_u32(lifted.points.len()),
                peak: 0.0,
            });
        }
        lifted
    }

    /// Finds the highest point of every triangle, at least 0.
    fn find_peaks(&mut self, heights: &[f32]) {
        let mut start = 0;
        for triangle in &mut self.triangles {
            let points = &self.points[start..triangle.end as usize];
            triangle.peak = points.iter().fold(0.0f32, |most, &p| {
                let height = heights[p as usize];
                // Cheaper than `f32::max`, and NaN loses here as well.
                if height > most { height } else { most }
            });
            start = triangle.end as usize;
        }
    }

    /// The height that is wanted at coarse points.
    fn needs(&self, heights: &[f32], mut need: impl FnMut(u32, f32)) {
        self.coarse.iter().for_each(|&p| need(p, heights[p as usize]));
        for triangle in &self.triangles {
            triangle.corners.iter().for_each(|&c| need(c, triangle.peak));
        }
    }

    /// Lowers points to the room there is at the coarse ones around them.
    fn lower(&self, room: &[f32], heights: &mut [f32]) {
        for &p in &self.coarse {
            let height = &mut heights[p as usize];
            *height = height.min(room[p as usize]);
        }
        let mut start = 0;
        for triangle in &self.triangles {
            let range = start..triangle.end as usize;
            start = range.end;
            let [a, b, c] = triangle.corners.map(|p| room[p as usize]);
            // Room for the highest of them is room for all.
            if a.min(b).min(c) > triangle.peak * tolerances::GUARD_ROOM_FOR_ALL {
                continue;
            }
            for (&p, share) in self.points[range.clone()].iter().zip(&self.shares[range]) {
                let height = &mut heights[p as usize];
                *height = height.min(share[0] * a + share[1] * b + share[2] * c);
            }
        }
    }
}

/// The refined mesh that a layer writes: triangles, and what each of their vertices is.
#[derive(Clone, Debug, Default)]
pub struct RefinedMesh {
    /// Its topology: the coarse vertices, then the new ones.
    pub topology: Arc<MeshTopology>,
    /// Refined point of each new vertex.
    pub new_points: Vec<u32>,
}

impl RefinedMesh {
    /// Gives an emission the coarse mesh's attributes.
    #[must_use]
    pub fn new(emission: &Emission, base: &MeshTopology) -> Self {
        Self {
            topology: Arc::new(emission.build_topology(base)),
            new_points: emission.vertices.iter().map(|v| v.point).collect(),
        }
    }

    /// Point of a vertex: coarse points first, then refined ones.
    #[must_use]
    pub fn point_of(&self, coarse: &Topology, vertex: usize) -> usize {
        match vertex.checked_sub(coarse.point_of_vertex.len()) {
            None => coarse.point_of_vertex[vertex] as usize,
            Some(new) => coarse.point_count() + self.new_points[new] as usize,
        }
    }

    /// Gives a mesh, whose new positions are there already, the refined triangles. What is known about
    /// the coarse vertices is mixed for the new ones.
    pub fn adopt(&self, mesh: &mut Mesh) {
        // The mesh of the last frame, refined already: mixing again would append the values once more.
        if Arc::ptr_eq(&mesh.topology, &self.topology) {
            return;
        }
        mesh.topology = Arc::clone(&self.topology);
        if let Some(ancestry) = &self.topology.ancestry {
            mesh.attributes.iter_mut().for_each(|a| a.values.refine(ancestry));
            mesh.channels.refine(ancestry);
            spread(&mut mesh.velocities, ancestry);
        }
    }
}

/// Coarse vertices whose point is among some points (ascending), with that point.
#[must_use]
pub fn vertices_of(topology: &Topology, points: &[u32]) -> Vec<(u32, u32)> {
    let all = topology.point_of_vertex.iter().enumerate();
    let wanted = all.filter(|(_, p)| points.binary_search(p).is_ok());
    wanted.map(|(v, &p)| (v as u32, p)).collect()
}

/// Points nearer than `reach` to some others along the surface, those included, ascending.
fn near(topology: &Topology, positions: &[Vec3], points: &[u32], reach: f32) -> Vec<u32> {
    let start = |&point: &u32| GeodesicStart { point, distance: 0.0, label: point };
    let starts: Vec<GeodesicStart> = points.iter().map(start).collect();
    let place = |p: u32| positions[p as usize];
    let (distances, _) = march_geodesic(topology, place, &starts, f64::from(reach));
    let reached = |p: &u32| distances[*p as usize] <= f64::from(reach);
    (0..topology.point_count() as u32).filter(reached).collect()
}

/// Edges whose ends are both among some points (ascending).
fn edges_between(topology: &Topology, points: &[u32]) -> Vec<[u32; 2]> {
    let edge = |p: u32, q: u32| (p < q && points.binary_search(&q).is_ok()).then_some([p, q]);
    let of_point = |&p: &u32| topology.neighbours(p).filter_map(move |q| edge(p, q));
    points.iter().flat_map(of_point).collect()
}

fn mean_spacing(topology: &Topology, points: &[u32], positions: &[Vec3]) -> f32 {
    let (mut sum, mut count) = (0.0, 0usize);
    for &p in points {
        for q in topology.neighbours(p) {
            sum += positions[p as usize].distance(positions[q as usize]);
            count += 1;
        }
    }
    sum / count.max(1) as f32
}

fn sort_unique(points: &mut Vec<u32>) {
    points.sort_unstable();
    points.dedup();
}

fn as_u32(index: usize) -> u32 {
    index as u32
}
