//! Rigid tools: what coats press against and never dents.

use glam::{DVec3, Vec3};

use crate::stage::{Collider, StepContext, SurfaceMotion};

/// A tool at an instant within a tick.
pub enum Tool<'a> {
    /// A collider of the scene, and the share of the tick that has passed.
    Collider(&'a Collider, f32),
    /// A closed mesh.
    Mesh(MeshTool<'a>),
}

/// A mesh as a tool.
pub struct MeshTool<'a> {
    /// Its motion over the tick.
    pub surface: &'a SurfaceMotion,
    /// Share of the tick that has passed.
    pub fraction: f32,
    /// How far from the surface it is looked for [m].
    pub reach: f32,
    /// Coulomb friction [-].
    pub friction: f32,
}

impl MeshTool<'_> {
    /// Signed distance [m], outward normal, velocity [m/s].
    fn contact(&self, at: Vec3) -> (f32, Vec3, Vec3) {
        let far = (f32::INFINITY, Vec3::Y, Vec3::ZERO);
        let Some((mut distance, mut hit)) = self.surface.signed_distance(at, self.reach) else {
            return far;
        };
        if self.fraction < 1.0 {
            // The tree is that of the end of the tick: look where the point will be by then.
            let place = |f: f32| self.surface.point(hit.triangle, hit.barycentric, f);
            let moved = at + place(1.0) - place(self.fraction);
            let Some(later) = self.surface.signed_distance(moved, self.reach) else { return far };
            (distance, hit) = later;
            let normal = self.surface.normal(hit.triangle, hit.barycentric);
            let away = (moved - hit.point) * distance.signum();
            let velocity = self.surface.velocity(hit.triangle, hit.barycentric);
            return (distance, away.try_normalize().unwrap_or(normal), velocity);
        }
        let normal = self.surface.normal(hit.triangle, hit.barycentric);
        let away = (at - hit.point) * distance.signum();
        let velocity = self.surface.velocity(hit.triangle, hit.barycentric);
        (distance, away.try_normalize().unwrap_or(normal), velocity)
    }
}

impl Tool<'_> {
    /// Signed distance [m], outward normal, velocity [m/s].
    #[must_use]
    pub fn contact(&self, at: DVec3) -> (f64, DVec3, DVec3) {
        let (distance, normal, velocity) = self.contact_f32(at.as_vec3());
        (f64::from(distance), normal.as_dvec3(), velocity.as_dvec3())
    }

    fn contact_f32(&self, at: Vec3) -> (f32, Vec3, Vec3) {
        match self {
            Tool::Collider(collider, fraction) => {
                let c = collider.contact(at, *fraction);
                (c.distance, c.normal, c.velocity)
            }
            Tool::Mesh(mesh) => mesh.contact(at),
        }
    }

    /// Signed distance [m] and outward normal.
    #[must_use]
    pub fn distance(&self, at: Vec3) -> (f32, Vec3) {
        let (distance, normal, _) = self.contact_f32(at);
        (distance, normal)
    }

    /// Coulomb friction [-].
    #[must_use]
    pub fn friction(&self) -> f64 {
        f64::from(match self {
            Tool::Collider(collider, _) => collider.friction,
            Tool::Mesh(mesh) => mesh.friction,
        })
    }
}

/// The tools of a layer: colliders of the scene, and meshes made before it.
#[derive(Clone, Debug, Default)]
pub struct Toolbox {
    /// Colliders, by their place in the scene.
    pub colliders: Vec<usize>,
    /// Names of meshes.
    pub meshes: Vec<String>,
    /// Where those are.
    pub surfaces: Vec<SurfaceMotion>,
    /// How far from a mesh it is looked for [m].
    pub reach: f32,
    /// Friction of meshes [-].
    pub friction: f32,
}

impl Toolbox {
    /// The tools at an instant within a tick.
    #[must_use]
    pub fn at<'a>(&'a self, context: &'a StepContext, fraction: f32) -> Vec<Tool<'a>> {
        let all = context.colliders.all();
        let colliders = self.colliders.iter().map(|&c| Tool::Collider(&all[c], fraction));
        let meshes = self.surfaces.iter().map(|surface| {
            let (reach, friction) = (self.reach, self.friction);
            Tool::Mesh(MeshTool { surface, fraction, reach, friction })
        });
        colliders.chain(meshes).collect()
    }

    /// Takes the meshes as they are at the end of a tick.
    pub fn update(&mut self, context: &StepContext, frame: &crate::stage::Frame) {
        self.surfaces.resize_with(self.meshes.len(), SurfaceMotion::default);
        for (name, surface) in self.meshes.iter().zip(&mut self.surfaces) {
            if let Some(index) = frame.mesh_index(name) {
                surface.update(&frame.meshes[index], context.dt);
            }
        }
    }
}
