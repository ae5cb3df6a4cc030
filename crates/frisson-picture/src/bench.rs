//! Ray speeds, for the benchmark tables.

use frisson::geometry::Mesh;
use glam::Vec3A;
use obvhs::ray::Ray;
use obvhs::ray::RayHit;
use obvhs::triangle::Triangle;
use rayon::prelude::*;

use crate::{Camera, RenderOptions, Scene};

/// Rays of a picture, one through the middle of each pixel.
#[must_use]
pub fn primary_rays(camera: &Camera, options: &RenderOptions) -> Vec<Ray> {
    let half = 0.5 * options.height as f32;
    (0..options.width * options.height)
        .map(|i| {
            let x = (i % options.width) as f32 + 0.5 - 0.5 * options.width as f32;
            let y = (i / options.width) as f32 + 0.5 - half;
            camera.ray(glam::Vec2::new(x, -y) / half, glam::Vec2::ZERO)
        })
        .collect()
}

/// Number of rays that hit something of the scene, found in parallel.
#[must_use]
pub fn count_hits(scene: &Scene, rays: &[Ray]) -> usize {
    rays.par_iter().with_min_len(1024).filter(|&&ray| scene.nearest(ray).is_some()).count()
}

/// The hierarchy crate on its own: its stock build and traversal of one mesh's triangles.
pub struct RawHierarchy {
    tree: obvhs::cwbvh::CwBvh,
    triangles: Vec<obvhs::rt_triangle::RtTriangle>,
}

impl RawHierarchy {
    /// Builds with the crate's medium settings.
    #[must_use]
    pub fn build(mesh: &Mesh) -> Self {
        let corner = |v: u32| Vec3A::from(mesh.positions[v as usize]);
        let triangles: Vec<Triangle> = mesh
            .topology
            .triangles
            .iter()
            .map(|t| Triangle { v0: corner(t[0]), v1: corner(t[1]), v2: corner(t[2]) })
            .collect();
        let tree = obvhs::cwbvh::builder::build_cwbvh_from_tris(
            &triangles,
            obvhs::BvhBuildParams::medium_build(),
            &mut std::time::Duration::default(),
        );
        let triangles =
            tree.primitive_indices.iter().map(|&i| (&triangles[i as usize]).into()).collect();
        Self { tree, triangles }
    }

    /// Number of rays that hit.
    #[must_use]
    pub fn count_hits(&self, rays: &[Ray]) -> usize {
        rays.par_iter()
            .with_min_len(1024)
            .filter(|&&ray| {
                let mut hit = RayHit::none();
                self.tree.ray_traverse(ray, &mut hit, |ray, id| self.triangles[id].intersect(ray))
            })
            .count()
    }
}
