//! A cache as a camera sees it: framing, look, overlays, one picture per frame.

mod overlays;
mod rig;

use std::path::Path;

use frisson::character::{Pose, Sampling};
use frisson::geometry::Mesh;
use frisson::stage::{Curves, Frame};
use frisson_io::FrameSource;
use frisson_io::cache::CacheReader;
use frisson_io::scene::{CameraParams, LookName, SceneFile};
use frisson_picture::look::{Look, Tint};
use frisson_picture::overlay::{HeatScale, XRay, attribute_range, draw_legend};
use frisson_picture::{
    Camera, Framing, GroundChoice, Image, RenderOptions, Scene, View, render, render_motion,
};
use glam::{Quat, Vec3};

pub use self::overlays::Overlays;
use self::rig::Rig;
use crate::WorkshopError;

/// A cache made ready for pictures.
pub struct Shot {
    reader: CacheReader,
    frame: Frame,
    params: CameraParams,
    camera: Camera,
    look: Look,
    overlays: Overlays,
    rig: Option<Rig>,
    /// How pictures are made.
    pub options: RenderOptions,
    /// Part of a frame during which the shutter is open; 0 has no blur.
    pub shutter: f32,
}

impl Shot {
    /// Opens a cache and frames the given frames of it (those that will be drawn).
    pub fn open(
        path: &Path,
        params: Option<CameraParams>,
        overlays: Overlays,
        options: RenderOptions,
    ) -> Result<Self, WorkshopError> {
        let reader = CacheReader::open(path)?;
        if reader.frame_count() == 0 {
            return Err(WorkshopError::input(format!("{}: no frame is baked yet", path.display())));
        }
        let scene = SceneFile::parse(path, &reader.header().scene_text).ok();
        let params =
            params.or_else(|| scene.as_ref().map(|s| s.scene.camera.clone())).unwrap_or_default();
        let rig =
            if overlays.joints || overlays.colliders { Some(Rig::build(scene)?) } else { None };
        let mut shot = Self {
            reader,
            frame: Frame::default(),
            camera: Camera::look_at(Vec3::Z, Vec3::ZERO, 28.0)?,
            look: Look::studio(),
            params,
            overlays,
            rig,
            options,
            shutter: 0.0,
        };
        let frames = spread(shot.first(), shot.last(), 12);
        shot.frame_on(&frames)?;
        Ok(shot)
    }

    /// First frame.
    pub fn first(&self) -> i64 {
        self.reader.info().first_frame
    }

    /// Last frame.
    pub fn last(&self) -> i64 {
        self.reader.info().last_frame
    }

    /// Frames per second.
    pub fn fps(&self) -> f64 {
        self.reader.info().rate.fps()
    }

    /// The camera in use.
    pub fn camera(&self) -> Camera {
        self.camera
    }

    /// Uses another camera.
    pub fn set_camera(&mut self, camera: Camera) {
        self.camera = camera;
    }

    /// Cameras once around a frame, all at one distance from which every side of it fits.
    pub fn orbit(&mut self, frame: i64, count: u32) -> Result<Vec<Camera>, WorkshopError> {
        self.frame_on(&[frame])?;
        let axis = self.subject();
        let turns: Vec<Quat> = (0..count)
            .map(|i| Quat::from_rotation_y(i as f32 * std::f32::consts::TAU / count as f32))
            .collect();
        let mut framing = Framing::new(self.view(), self.options.aspect());
        let shapes = (self.frame.meshes.iter().map(|m| (&m.name, &m.positions)))
            .chain(self.frame.curves.iter().map(|c| (&c.name, &c.points)))
            .chain(self.frame.points.iter().map(|p| (&p.name, &p.positions)));
        for (_, points) in shapes.filter(|(name, _)| self.is_subject(name)) {
            for turn in &turns {
                points.iter().for_each(|&p| framing.add_point(*turn * (p - axis)));
            }
        }
        let still = framing.camera()?;
        let turned = |turn: &Quat| Camera {
            position: *turn * still.position + axis,
            right: *turn * still.right,
            up: *turn * still.up,
            forward: *turn * still.forward,
            ..still
        };
        Ok(turns.iter().map(turned).collect())
    }

    fn view(&self) -> View {
        let p = &self.params;
        View {
            yaw_deg: p.yaw_deg,
            pitch_deg: p.pitch_deg,
            fov_deg: p.fov_deg,
            margin: p.margin,
            aperture: p.aperture,
        }
    }

    /// Whether the camera has to see a shape.
    fn is_subject(&self, name: &str) -> bool {
        self.params.frame_on.is_empty() || matches(&self.params.frame_on, name)
    }

    /// Sets camera, ground and colour scale so that they hold for all the given frames.
    fn frame_on(&mut self, frames: &[i64]) -> Result<(), WorkshopError> {
        let mut framing = Framing::new(self.view(), self.options.aspect());
        let mut range: Option<(f32, f32)> = None;
        let mut lowest = f32::INFINITY;
        for &number in frames {
            self.read(number)?;
            let attribute = self.overlays.attribute.as_deref();
            if let Some(found) = attribute.and_then(|name| attribute_range(&self.frame, name)) {
                let (low, high) = range.unwrap_or(found);
                range = Some((low.min(found.0), high.max(found.1)));
            }
            let shapes = (self.frame.meshes.iter().map(|m| (&m.name, &m.positions)))
                .chain(self.frame.curves.iter().map(|c| (&c.name, &c.points)))
                .chain(self.frame.points.iter().map(|p| (&p.name, &p.positions)));
            let subject = if self.params.follow { self.subject() } else { Vec3::ZERO };
            for (name, points) in shapes {
                lowest = points.iter().map(|p| p.y).fold(lowest, f32::min);
                if self.is_subject(name) {
                    points.iter().for_each(|&p| framing.add_point(p - subject));
                }
            }
        }
        let p = &self.params;
        self.camera = match (p.eye, p.target) {
            (Some(eye), Some(target)) => {
                let mut camera = Camera::look_at(eye.into(), target.into(), p.fov_deg)?;
                camera.aperture = p.aperture;
                camera
            }
            _ => framing.camera()?,
        };
        self.look = self.build_look(lowest, range);
        Ok(())
    }

    /// What the camera follows: the mean of the subject's points, which moves more smoothly than its
    /// outline, on the ground plane.
    fn subject(&self) -> Vec3 {
        let wanted = |name: &str| self.is_subject(name);
        let frame = &self.frame;
        let meshes = frame.meshes.iter().filter(|m| wanted(&m.name)).map(|m| &m.positions);
        let curves = frame.curves.iter().filter(|c| wanted(&c.name)).map(|c| &c.points);
        let points = frame.points.iter().filter(|p| wanted(&p.name)).map(|p| &p.positions);
        let add = |(sum, count): (glam::DVec3, usize), points: &Vec<Vec3>| {
            let total: glam::DVec3 = points.iter().map(|p| p.as_dvec3()).sum();
            (sum + total, count + points.len())
        };
        // Hair and drops lag behind: the meshes lead where there are any.
        let (mut sum, mut count) = meshes.fold((glam::DVec3::ZERO, 0), add);
        if count == 0 {
            (sum, count) = curves.chain(points).fold((glam::DVec3::ZERO, 0), add);
        }
        let mean = (sum / count.max(1) as f64).as_vec3();
        Vec3::new(mean.x, 0.0, mean.z)
    }

    fn build_look(&self, lowest: f32, range: Option<(f32, f32)>) -> Look {
        let mut look = match self.params.look.unwrap_or_default() {
            LookName::Studio => Look::studio(),
            LookName::Outdoor => Look::outdoor(),
            LookName::Dark => Look::dark(),
        };
        look.ground = match (self.params.no_ground, self.params.ground) {
            (true, _) => GroundChoice::None,
            (_, Some(height)) => GroundChoice::At(height),
            _ if lowest.is_finite() => GroundChoice::At(lowest),
            _ => GroundChoice::Auto,
        };
        if self.overlays.clay {
            look.tint = Tint::Clay;
        }
        if let Some(name) = &self.overlays.attribute {
            look.tint = Tint::Attribute { name: name.clone(), range };
        }
        look.wireframe = if self.overlays.wireframe { 1.0 } else { 0.0 };
        look.velocity_seconds = if self.overlays.velocities { 0.05 } else { 0.0 };
        look
    }

    fn read(&mut self, number: i64) -> Result<(), WorkshopError> {
        self.reader.read_frame(number, &mut self.frame)?;
        frisson_picture::scene::check(&self.frame)?;
        let hide = &self.params.hide;
        if !hide.is_empty() {
            self.frame.meshes.retain(|m| !matches(hide, &m.name));
            self.frame.curves.retain(|c| !matches(hide, &c.name));
            self.frame.points.retain(|p| !matches(hide, &p.name));
        }
        Ok(())
    }

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
        if self.params.follow && self.params.eye.is_none() {
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
        let behind = self.camera.position - self.camera.forward * 10.0;
        let mut empty = Frame::default();
        let corners = vec![behind, behind + Vec3::X * 1e-4, behind + Vec3::Y * 1e-4];
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
        if let Some(rig) = &self.rig {
            rig.draw(frame.time, self.overlays.joints, self.overlays.colliders)
                .draw(&mut image, &self.camera);
        }
        Ok(image)
    }

    /// A picture of a frame as it was animated, without any layer.
    pub fn primary_picture(&mut self, number: i64) -> Result<Image, WorkshopError> {
        if self.rig.is_none() {
            let path = std::path::PathBuf::from("scene");
            let scene = SceneFile::parse(&path, &self.reader.header().scene_text).ok();
            self.rig = Some(Rig::build(scene)?);
            self.overlays.joints = false;
            self.overlays.colliders = false;
        }
        self.read(number)?;
        let time = self.frame.time;
        let mut frame = Frame { index: number, time, ..Frame::default() };
        let mut pose = Pose::default();
        for actor in self.rig.iter().flat_map(|r| r.actors.all()) {
            let mut meshes = actor.source_meshes();
            actor.pose_at(time, Sampling::AsAuthored, &mut pose);
            actor.deform(time, &pose, &mut meshes);
            meshes.iter_mut().for_each(|m| m.normals.clear());
            frame.meshes.extend(meshes);
        }
        let hide = &self.params.hide;
        frame.meshes.retain(|m| !matches(hide, &m.name));
        let still = self.camera;
        if self.params.follow && self.params.eye.is_none() {
            self.camera.position += self.subject();
        }
        let image = self.draw(&frame);
        self.camera = still;
        image
    }
}

/// Whether a name is in a list, or starts with one of it.
fn matches(list: &[String], name: &str) -> bool {
    list.iter().any(|l| name.starts_with(l.as_str()))
}

/// How fast points go from one place to another.
fn rates(from: &[Vec3], to: &[Vec3], per_second: f32) -> Vec<Vec3> {
    from.iter().zip(to).map(|(a, b)| (*b - *a) * per_second).collect()
}

/// At most `count` frames, evenly spread, both ends included.
pub fn spread(first: i64, last: i64, count: usize) -> Vec<i64> {
    let count = count.clamp(1, (last - first + 1).max(1) as usize);
    if count == 1 {
        return vec![first + (last - first) / 2];
    }
    let step = (last - first) as f64 / (count - 1) as f64;
    (0..count).map(|i| first + (i as f64 * step).round() as i64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_spread_evenly_with_both_ends() {
        assert_eq!(spread(0, 10, 3), vec![0, 5, 10]);
        assert_eq!(spread(5, 7, 9), vec![5, 6, 7]);
        assert_eq!(spread(0, 10, 1), vec![5]);
    }
}
