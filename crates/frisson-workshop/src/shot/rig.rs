//! The actors and colliders behind a cache: overlays, and the motion without any layer.

use frisson::character::{Pose, Sampling};
use frisson::stage::{ActorSet, ColliderSet, ColliderShape, Frame, PoseScratch};
use frisson_io::scene::{ActorLoader, SceneFile};
use frisson_picture::overlay::XRay;
use glam::{Quat, Vec3};

use crate::WorkshopError;

/// Actors and colliders, for overlays and for the motion without any layer.
pub struct Rig {
    actors: ActorSet,
    colliders: ColliderSet,
}

impl Rig {
    /// Builds the actors and colliders of a scene; nothing is simulated.
    pub fn build(
        scene: Option<SceneFile>,
        loader: &dyn ActorLoader,
    ) -> Result<Self, WorkshopError> {
        let mut scene = scene.ok_or_else(|| {
            WorkshopError::input("the cache's scene text cannot be read any more")
        })?;
        scene.scene.layers = Vec::new();
        scene.scene.exports = Vec::new();
        // What is promised of layers means nothing without them.
        scene.scene.expect = Vec::new();
        let built = scene.build(loader).map_err(|error| {
            WorkshopError::advised(
                format!("the actors' sources are needed for this: {error}"),
                "render from the folder of the scene file, or leave out joints and colliders",
            )
        })?;
        let actors = ActorSet::new(built.stage.actors().all().to_vec());
        let fps = built.stage.clock().rate.fps();
        let colliders =
            ColliderSet::new(&scene.scene.colliders, &actors, fps).map_err(WorkshopError::of)?;
        Ok(Rig { actors, colliders })
    }

    /// The actors as they were animated, at a time [s].
    pub fn frame(&self, number: i64, time: f64) -> Frame {
        let mut frame = Frame { index: number, time, ..Frame::default() };
        let mut pose = Pose::default();
        for actor in self.actors.all() {
            let mut meshes = actor.source_meshes();
            actor.pose_at(time, Sampling::AsAuthored, &mut pose);
            actor.deform(time, &pose, &mut meshes);
            meshes.iter_mut().for_each(|m| m.normals.clear());
            frame.meshes.extend(meshes);
        }
        frame
    }

    /// Lines through which the surfaces are seen.
    pub fn draw(&self, time: f64, joints: bool, colliders: bool) -> XRay {
        let mut xray = XRay::default();
        if joints {
            let mut pose = Pose::default();
            for actor in self.actors.all() {
                let Some(character) = actor.character() else { continue };
                actor.pose_at(time, Sampling::AsAuthored, &mut pose);
                let positions: Vec<Vec3> =
                    pose.world_from_node.iter().map(|m| m.w_axis.truncate()).collect();
                let parents: Vec<Option<usize>> =
                    character.skeleton.nodes().iter().map(|n| n.parent).collect();
                xray.add_joints(&positions, &parents);
            }
        }
        if colliders {
            let mut set = self.colliders.clone();
            set.set_time(time, 0.0, &self.actors, &mut PoseScratch::default());
            for collider in set.all() {
                let (rotation, translation) = collider.pose(1.0);
                add_collider(&mut xray, &collider.shape, rotation, translation);
            }
        }
        xray
    }
}

fn add_collider(xray: &mut XRay, shape: &ColliderShape, rotation: Quat, translation: Vec3) {
    const COLOR: [u8; 3] = [40, 140, 230];
    let world = |p: [f32; 3]| rotation * Vec3::from(p) + translation;
    let turned = |degrees: [f32; 3]| rotation * frisson::math::frames::rotation_xyz_deg(degrees);
    match shape {
        ColliderShape::Plane { point, normal } => {
            for radius in [0.25, 0.5, 1.0] {
                xray.add_ring(world(*point), rotation * Vec3::from(*normal), radius, COLOR);
            }
        }
        ColliderShape::Sphere { center, radius } => xray.add_ball(world(*center), *radius, COLOR),
        ColliderShape::Capsule { a, b, radius } => {
            xray.add_capsule(world(*a), world(*b), *radius, *radius, COLOR);
        }
        ColliderShape::Ellipsoid { center, radii, rotate_deg } => {
            let (at, q) = (world(*center), turned(*rotate_deg));
            for axis in 0..3 {
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let place = |i: usize| {
                    let (sin, cos) = (i as f32 * std::f32::consts::TAU / 48.0).sin_cos();
                    let mut p = Vec3::ZERO;
                    p[u] = radii[u] * cos;
                    p[v] = radii[v] * sin;
                    at + q * p
                };
                xray.lines.extend((0..48).map(|i| (place(i), place(i + 1), 1.5, COLOR)));
            }
        }
        ColliderShape::Box { center, half_size, rotate_deg } => {
            let (at, q, half) = (world(*center), turned(*rotate_deg), Vec3::from(*half_size));
            let corner = |i: usize| {
                let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
                at + q * (half * Vec3::new(sign(0), sign(1), sign(2)))
            };
            for i in 0..8usize {
                for bit in (0..3).filter(|bit| i >> bit & 1 == 0) {
                    xray.lines.push((corner(i), corner(i | 1 << bit), 1.5, COLOR));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Loader;
    use crate::demos::DEMOS;

    /// Scenes promise things of layers by name; the actors alone must be had all the same.
    #[test]
    fn actors_are_had_without_the_layers_that_promises_name() {
        for demo in DEMOS {
            let scene = SceneFile::parse(Path::new(demo.name), demo.text).unwrap();
            assert!(!scene.scene.expect.is_empty(), "{}", demo.name);
            let rig =
                Rig::build(Some(scene), &Loader).unwrap_or_else(|e| panic!("{}: {e}", demo.name));
            assert!(!rig.frame(0, 0.0).meshes.is_empty(), "{}", demo.name);
        }
    }
}
