//! A mesh that others collide with or ride on: where it was, where it is, how fast it moves.

use std::sync::Arc;

use glam::Vec3;

use crate::geometry::{
    ClosestPoint, Mesh, MeshTopology, NormalGroups, NormalScratch, Topology, TriangleBvh,
};

/// A moving surface over one tick. Call [`SurfaceMotion::update`] once a tick with the mesh as the
/// layer sees it; the previous positions must be saved with the layer's state
/// ([`SurfaceMotion::previous`], [`SurfaceMotion::restore`]).
#[derive(Clone, Debug, Default)]
pub struct SurfaceMotion {
    topology: Option<Arc<MeshTopology>>,
    previous: Vec<Vec3>,
    current: Vec<Vec3>,
    normals: Vec<Vec3>,
    groups: NormalGroups,
    scratch: NormalScratch,
    bvh: TriangleBvh,
    /// Whether tree and normals are those of `current`.
    fitted: bool,
    dt: f32,
}

impl SurfaceMotion {
    /// Takes the mesh at the end of a tick of `dt` seconds. When the topology changes, the surface comes
    /// from where the mesh's velocities say; without them (or when `dt` is 0) it is taken as still.
    pub fn update(&mut self, mesh: &Mesh, dt: f64) {
        let same = self.is_on(mesh);
        let changed = !same && self.topology.is_some();
        // A head that stands still costs a comparison, not a tree.
        let still = same && self.fitted && self.current == mesh.positions;
        // Swapped: the older positions' storage takes the new ones.
        std::mem::swap(&mut self.previous, &mut self.current);
        self.current.clear();
        self.current.extend_from_slice(&mesh.positions);
        self.dt = dt as f32;
        if same && !still {
            self.bvh.refit(&self.current);
        } else if !same {
            // Welding is far dearer than refitting; `Arc::ptr_eq` in `is_on` makes it once for a topology.
            let welded = Topology::build(&mesh.positions, &mesh.topology.triangles);
            self.groups = NormalGroups::for_displacement(&mesh.topology, &welded);
            self.bvh = TriangleBvh::build(&mesh.positions, &mesh.topology.triangles);
            self.topology = Some(Arc::clone(&mesh.topology));
        }
        if changed && mesh.velocities.len() == mesh.positions.len() && dt > 0.0 {
            self.previous.clear();
            let moved = self.current.iter().zip(&mesh.velocities);
            self.previous.extend(moved.map(|(p, v)| *p - *v * dt as f32));
        } else if changed || self.previous.len() != self.current.len() || dt == 0.0 {
            self.previous.clone_from(&self.current);
        }
        if !still {
            self.groups.compute(&self.current, &mut self.scratch, &mut self.normals);
        }
        self.fitted = true;
    }

    /// Whether this is the surface of a mesh whose triangles have not changed since: only then do places
    /// on triangles stay what they are over the next [`SurfaceMotion::update`].
    #[must_use]
    pub fn is_on(&self, mesh: &Mesh) -> bool {
        self.topology.as_ref().is_some_and(|t| Arc::ptr_eq(t, &mesh.topology))
    }

    /// Its triangles, if it has been brought anywhere yet.
    #[must_use]
    pub fn topology(&self) -> Option<&Arc<MeshTopology>> {
        self.topology.as_ref()
    }

    /// Positions that the next [`SurfaceMotion::update`] will take as previous: save these.
    #[must_use]
    pub fn positions(&self) -> &[Vec3] {
        &self.current
    }

    /// Positions at the start of the tick.
    #[must_use]
    pub fn previous(&self) -> &[Vec3] {
        &self.previous
    }

    /// Puts back the positions saved by [`SurfaceMotion::positions`].
    pub fn restore(&mut self, positions: Vec<Vec3>) {
        self.current = positions;
        self.fitted = false;
    }

    /// The tree over the current triangles.
    #[must_use]
    pub fn bvh(&self) -> &TriangleBvh {
        &self.bvh
    }

    /// Smooth outward normals at the end of the tick.
    #[must_use]
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Triangles.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        self.topology.as_ref().map_or(&[], |t| &t.triangles)
    }

    /// A place on a triangle at a fraction of the tick (0 start, 1 end).
    #[must_use]
    pub fn point(&self, triangle: u32, barycentric: [f32; 3], fraction: f32) -> Vec3 {
        let corners = self.bvh.triangle(triangle);
        corners.iter().zip(barycentric).fold(Vec3::ZERO, |sum, (&v, w)| {
            sum + w * self.previous[v as usize].lerp(self.current[v as usize], fraction)
        })
    }

    /// Corners of a triangle at the start and at the end of the tick.
    #[must_use]
    pub fn corners(&self, triangle: u32) -> [[Vec3; 3]; 2] {
        let corners = self.bvh.triangle(triangle).map(|v| v as usize);
        [corners.map(|v| self.previous[v]), corners.map(|v| self.current[v])]
    }

    /// Smooth unit normal of a place on a triangle, at the end of the tick.
    #[must_use]
    pub fn normal(&self, triangle: u32, barycentric: [f32; 3]) -> Vec3 {
        let corners = self.bvh.triangle(triangle);
        let sum = corners
            .iter()
            .zip(barycentric)
            .fold(Vec3::ZERO, |sum, (&v, w)| sum + w * self.normals[v as usize]);
        sum.normalize_or(self.bvh.face_normal(triangle))
    }

    /// Velocity of the material at a place [m/s].
    #[must_use]
    pub fn velocity(&self, triangle: u32, barycentric: [f32; 3]) -> Vec3 {
        if self.dt <= 0.0 {
            return Vec3::ZERO;
        }
        let moved = self.point(triangle, barycentric, 1.0) - self.point(triangle, barycentric, 0.0);
        moved / self.dt
    }

    /// Signed distance (negative inside) with the closest place, within a reach. The sign is that of
    /// the smooth normal there: right for closed surfaces without features thinner than `reach`.
    #[must_use]
    pub fn signed_distance(&self, p: Vec3, reach: f32) -> Option<(f32, ClosestPoint)> {
        let hit = self.bvh.closest_point(p, reach)?;
        let outside = (p - hit.point).dot(self.normal(hit.triangle, hit.barycentric)) >= 0.0;
        Some((if outside { hit.distance } else { -hit.distance }, hit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pyramid(height: f32) -> Mesh {
        let positions = vec![
            Vec3::ZERO,
            Vec3::X,
            Vec3::new(1.0, 0.0, 1.0),
            Vec3::Z,
            Vec3::new(0.5, height, 0.5),
        ];
        let triangles = vec![[1, 0, 4], [2, 1, 4], [3, 2, 4], [0, 3, 4]];
        Mesh::new("pyramid", positions, triangles)
    }

    /// Height above the tip, by the tree.
    fn above_tip(surface: &SurfaceMotion) -> f32 {
        surface.bvh().closest_point(Vec3::new(0.5, 3.0, 0.5), 10.0).map_or(0.0, |hit| hit.distance)
    }

    #[test]
    fn a_surface_that_stands_still_is_as_one_that_is_fitted_anew() {
        let (low, mut high) = (pyramid(1.0), pyramid(2.0));
        high.topology = Arc::clone(&low.topology);
        let mut surface = SurfaceMotion::default();
        for (mesh, wanted) in [(&low, 2.0), (&low, 2.0), (&high, 1.0), (&high, 1.0), (&low, 2.0)] {
            surface.update(mesh, 0.1);
            assert_eq!(above_tip(&surface), wanted);
            let mut fresh = SurfaceMotion::default();
            fresh.update(mesh, 0.1);
            assert_eq!(surface.normals(), fresh.normals());
            assert_eq!(surface.positions(), fresh.positions());
        }
        // What was saved may be elsewhere than the tree.
        surface.restore(high.positions.clone());
        surface.update(&high, 0.1);
        assert_eq!(above_tip(&surface), 1.0);
        assert_eq!(surface.previous(), surface.positions());
    }
}
