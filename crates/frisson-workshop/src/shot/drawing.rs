//! Pictures of a shot's frames.

use frisson::geometry::Mesh;
use frisson::stage::{Curves, Frame};
use frisson_io::FrameSource as _;
use frisson_picture::look::Tint;
use frisson_picture::overlay::{HeatScale, XRay, draw_legend};
use frisson_picture::{Image, Scene, render, render_motion};
use glam::Vec3;

use super::{Shot, leave_out};
use crate::WorkshopError;

/// How far behind the camera, and how small, what must be there for an empty picture is [m].
const BEHIND: f32 = 10.0;
const SPECK: f32 = 1e-4;

impl Shot {
    /// Gives shapes that carry no velocities those of the frames before and after.
    fn complete_velocities(&mut self, number: i64) -> Result<(), WorkshopError> {
        let (before, after) = ((number - 1).max(self.first()), (number + 1).min(self.last()));
        if after == before || (self.shutter <= 0.0 && !self.overlays.velocities) {
            return Ok(());
        }
        let per_second = (self.fps() / (after - before) as f64) as f32;
        let (mut a, mut b) = (Frame::default(), Frame::default());
        for (frame, out) in [(before, &mut a), (after, &mut b)] {
            self.reader.read_frame(frame, out)?;
            frisson_picture::scene::check(out)?;
        }
        for mesh in &mut self.frame.meshes {
            let same = |m: &&Mesh| m.name == mesh.name && m.topology == mesh.topology;
            let (Some(a), Some(b)) = (a.meshes.iter().find(same), b.meshes.iter().find(same))
            else {
                continue;
            };
            if mesh.velocities.is_empty() {
                mesh.velocities = rates(&a.positions, &b.positions, per_second);
            }
        }
        for curves in &mut self.frame.curves {
            let same = |c: &&Curves| c.name == curves.name && c.counts == curves.counts;
            let (Some(a), Some(b)) = (a.curves.iter().find(same), b.curves.iter().find(same))
            else {
                continue;
            };
            if curves.velocities.is_empty() {
                curves.velocities = rates(&a.points, &b.points, per_second);
            }
        }
        Ok(())
    }

    /// A picture of a frame.
    pub fn picture(&mut self, number: i64) -> Result<Image, WorkshopError> {
        self.read(number)?;
        self.complete_velocities(number)?;
        let still = self.camera;
        if self.follow {
            self.camera.position += self.subject();
        }
        let frame = std::mem::take(&mut self.frame);
        let image = self.draw(&frame);
        (self.frame, self.camera) = (frame, still);
        image
    }

    /// A picture of the ground and the backdrop alone.
    pub fn background(&mut self, number: i64) -> Result<Image, WorkshopError> {
        self.read(number)?;
        let mut look = self.look.clone();
        // Something must be there; it is put behind the camera.
        let behind = self.camera.position - self.camera.forward * BEHIND;
        let mut empty = Frame::default();
        let corners = vec![behind, behind + Vec3::X * SPECK, behind + Vec3::Y * SPECK];
        empty.meshes.push(Mesh::new("none", corners, vec![[0, 1, 2]]));
        look.tint = Tint::Materials;
        let scene = Scene::from_frame(&empty, &look)?;
        Ok(render(&scene, &self.camera, &self.options)?)
    }

    fn draw(&self, frame: &Frame) -> Result<Image, WorkshopError> {
        let mut image = if self.shutter > 0.0 {
            let seconds = f64::from(self.shutter) / self.fps();
            let (look, options) = (&self.look, &self.options);
            render_motion(frame, look, &self.camera, options, seconds as f32)?
        } else {
            let scene = Scene::from_frame(frame, &self.look)?;
            render(&scene, &self.camera, &self.options)?
        };
        if let Ok(Some(scale)) = HeatScale::of(frame, &self.look.tint) {
            draw_legend(&mut image, &scale);
        }
        if let Some(name) = &self.overlays.displacement {
            let mut lines = XRay::default();
            lines.add_displacements(frame, name, &self.camera)?;
            lines.draw(&mut image, &self.camera);
        }
        let rig = self.rig.as_ref().filter(|_| self.overlays.joints || self.overlays.colliders);
        if let Some(rig) = rig {
            rig.draw(frame.time, self.overlays.joints, self.overlays.colliders)
                .draw(&mut image, &self.camera);
        }
        Ok(image)
    }

    /// A picture of a frame as it was animated, without any layer.
    pub fn primary_picture(&mut self, number: i64) -> Result<Image, WorkshopError> {
        self.read(number)?;
        let Some(rig) = &self.rig else {
            return Err(WorkshopError::advised(
                "the actors' sources are needed to show the motion without layers",
                "render from the folder of the scene file",
            ));
        };
        let mut frame = rig.frame(number, self.frame.time);
        leave_out(&mut frame, &self.params.hide);
        let still = self.camera;
        if self.follow {
            self.camera.position += self.subject();
        }
        let image = self.draw(&frame);
        self.camera = still;
        image
    }
}

/// How fast points go from one place to another.
fn rates(from: &[Vec3], to: &[Vec3], per_second: f32) -> Vec<Vec3> {
    from.iter().zip(to).map(|(a, b)| (*b - *a) * per_second).collect()
}
