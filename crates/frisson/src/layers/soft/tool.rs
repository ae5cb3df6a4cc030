//! Rigid tools: what coats press against and never dents.

use glam::{DVec3, Vec3};

use super::params::SoftParams;
use super::state::ToolPlace;
use crate::stage::{Collider, Frame, StepContext, SurfaceMotion};
use crate::tolerances::soft as tolerances;

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
        // Out of reach is as good as not there.
        let far = (f32::INFINITY, Vec3::Y, Vec3::ZERO);
        let Some((mut distance, mut hit)) = self.surface.signed_distance(at, self.reach) else {
            return far;
        };
        let mut seen_from = at;
        if self.fraction < 1.0 {
            // The tree is that of the end of the tick: look where the point will be by then.
            let place = |f: f32| self.surface.point(hit.triangle, hit.barycentric, f);
            seen_from = at + place(1.0) - place(self.fraction);
            let Some(later) = self.surface.signed_distance(seen_from, self.reach) else {
                return far;
            };
            (distance, hit) = later;
        }
        let velocity = self.surface.velocity(hit.triangle, hit.barycentric);
        // On the surface the way out is the triangle's own: of the way there only rounding is left, which points anywhere.
        let away = match distance.abs() > tolerances::ON_TOOL as f32 * self.reach {
            true => (seen_from - hit.point) * distance.signum(),
            false => self.across(hit.triangle),
        };
        let normal = || self.surface.normal(hit.triangle, hit.barycentric);
        (distance, away.try_normalize().unwrap_or_else(normal), velocity)
    }

    /// Normal of a triangle, as long as twice its area.
    fn across(&self, triangle: u32) -> Vec3 {
        let corner = |w: [f32; 3]| self.surface.point(triangle, w, 1.0);
        let (a, b) = (corner([1.0, 0.0, 0.0]), corner([0.0, 1.0, 0.0]));
        (b - a).cross(corner([0.0, 0.0, 1.0]) - a)
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
    /// How far from a mesh it is looked for [m].
    pub reach: f32,
}

/// All tools at an instant within a tick.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    toolbox: &'a Toolbox,
    colliders: &'a [Collider],
    surfaces: &'a [SurfaceMotion],
    /// Share of the tick that has passed.
    fraction: f32,
    /// Friction of meshes [-].
    friction: f32,
}

impl<'a> Tools<'a> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.toolbox.colliders.len() + self.surfaces.len()
    }

    /// One of them: colliders come first.
    #[must_use]
    pub fn get(&self, index: usize) -> Tool<'a> {
        match self.toolbox.colliders.get(index) {
            Some(&c) => Tool::Collider(&self.colliders[c], self.fraction),
            None => Tool::Mesh(MeshTool {
                surface: &self.surfaces[index - self.toolbox.colliders.len()],
                fraction: self.fraction,
                reach: self.toolbox.reach,
                friction: self.friction,
            }),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Tool<'a>> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }
}

/// The surfaces of the meshes that are tools, over a tick.
#[derive(Default)]
pub struct ToolSurfaces {
    all: Vec<SurfaceMotion>,
    /// Time up to which they have been brought [s].
    time: Option<f64>,
}

/// Times closer than this are the same instant [s].
const SAME_INSTANT: f64 = 1.0e-9;

impl ToolSurfaces {
    /// The tools at an instant within the tick.
    #[must_use]
    pub fn at<'a>(
        &'a self,
        toolbox: &'a Toolbox,
        params: &SoftParams,
        context: &'a StepContext,
        fraction: f32,
    ) -> Tools<'a> {
        let (colliders, surfaces) = (context.colliders.all(), self.all.as_slice());
        Tools { toolbox, colliders, surfaces, fraction, friction: params.friction as f32 }
    }

    /// Brings the meshes over a step; `places` are where they were when it began, and then where they
    /// are at its end.
    pub fn advance(
        &mut self,
        toolbox: &Toolbox,
        context: &StepContext,
        frame: &Frame,
        places: &mut Vec<ToolPlace>,
    ) {
        if toolbox.meshes.is_empty() {
            return;
        }
        let begins = context.time - context.dt;
        // Resumed, taken back or looked at elsewhere meanwhile: motion over the step begins at the saved places.
        if self.time.is_none_or(|at| (at - begins).abs() > SAME_INSTANT) {
            self.all.clear();
            self.all.resize_with(toolbox.meshes.len(), SurfaceMotion::default);
            for (surface, name) in self.all.iter_mut().zip(&toolbox.meshes) {
                let saved = places.iter().find(|p| p.mesh == *name);
                surface.restore(saved.map(|p| p.positions.clone()).unwrap_or_default());
            }
        }
        self.update(toolbox, frame, context.dt);
        self.time = Some(context.time);
        places.truncate(toolbox.meshes.len());
        places.resize_with(toolbox.meshes.len(), ToolPlace::default);
        for ((place, name), surface) in places.iter_mut().zip(&toolbox.meshes).zip(&self.all) {
            place.mesh.clone_from(name);
            place.positions.clear();
            place.positions.extend_from_slice(surface.positions());
        }
    }

    /// Brings the meshes to where they are shown, if a step has not already.
    pub fn show(&mut self, toolbox: &Toolbox, frame: &Frame) {
        let there = self.time.is_some_and(|at| (at - frame.time).abs() <= SAME_INSTANT);
        if !toolbox.meshes.is_empty() && !there {
            self.all.clear();
            self.all.resize_with(toolbox.meshes.len(), SurfaceMotion::default);
            self.update(toolbox, frame, 0.0);
            // A step must take up what was saved, not this.
            self.time = None;
        }
    }

    fn update(&mut self, toolbox: &Toolbox, frame: &Frame, dt: f64) {
        for (surface, name) in self.all.iter_mut().zip(&toolbox.meshes) {
            if let Some(index) = frame.mesh_index(name) {
                surface.update(&frame.meshes[index], dt);
            }
        }
    }
}
