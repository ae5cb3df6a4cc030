//! A cache as a camera sees it: framing, look, overlays, one picture per frame.

use std::path::Path;

use frisson::character::{Pose, Sampling};
use frisson::stage::{ActorSet, ColliderSet, ColliderShape, Frame, PoseScratch};
use frisson_io::FrameSource;
use frisson_io::cache::CacheReader;
use frisson_io::scene::{CameraParams, LookName, SceneFile};
use frisson_picture::look::{Look, Tint};
use frisson_picture::overlay::{HeatScale, XRay, attribute_range, draw_legend};
use frisson_picture::{
    Camera, Framing, GroundChoice, Image, RenderOptions, Scene, View, render, render_motion,
};
use glam::{EulerRot, Quat, Vec3};

use crate::failure::Failure;
use crate::loader::Loader;

/// What to draw besides the surfaces.
#[derive(Clone, Debug, Default)]
pub struct Overlays {
    /// Triangle edges.
    pub wireframe: bool,
    /// Grey surfaces.
    pub clay: bool,
    /// Velocities as lines.
    pub velocities: bool,
    /// Skeletons.
    pub joints: bool,
    /// Colliders of the scene.
    pub colliders: bool,
    /// A named attribute as heat colours.
    pub attribute: Option<String>,
}

impl Overlays {
    /// Reads a list such as `wireframe,attribute:strain`.
    pub fn parse(list: &[String]) -> Result<Self, Failure> {
        let mut overlays = Self::default();
        for item in list.iter().flat_map(|l| l.split(',')).map(str::trim) {
            match item {
                "wireframe" => overlays.wireframe = true,
                "clay" => overlays.clay = true,
                "velocities" => overlays.velocities = true,
                "joints" => overlays.joints = true,
                "colliders" => overlays.colliders = true,
                "" => {}
                other => match other.strip_prefix("attribute:") {
                    Some(name) => overlays.attribute = Some(name.to_owned()),
                    None => {
                        let known =
                            "wireframe, clay, velocities, joints, colliders, attribute:NAME";
                        let text = format!("there is no overlay named {other:?}");
                        return Err(Failure::input(text).help(format!("known are: {known}")));
                    }
                },
            }
        }
        Ok(overlays)
    }
}

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

/// Actors and colliders, for overlays and for the motion without any layer.
struct Rig {
    actors: ActorSet,
    colliders: ColliderSet,
}

impl Shot {
    /// Opens a cache and frames the given frames of it (those that will be drawn).
    pub fn open(
        path: &Path,
        params: Option<CameraParams>,
        overlays: Overlays,
        options: RenderOptions,
    ) -> Result<Self, Failure> {
        let reader = CacheReader::open(path)?;
        if reader.frame_count() == 0 {
            return Err(Failure::input(format!("{}: no frame is baked yet", path.display())));
        }
        let scene = SceneFile::parse(path, &reader.header().scene_text).ok();
        let params =
            params.or_else(|| scene.as_ref().map(|s| s.scene.camera.clone())).unwrap_or_default();
        let rig = if overlays.joints || overlays.colliders { Some(rig(scene)?) } else { None };
        let mut shot = Self {
            reader,
            frame: Frame::default(),
            camera: Camera::look_at(Vec3::Z, Vec3::ZERO, 28.0).map_err(failure)?,
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

    /// Turns the automatic camera and frames again.
    pub fn turn(&mut self, yaw_deg: f32, frames: &[i64]) -> Result<(), Failure> {
        self.params.yaw_deg = yaw_deg;
        self.frame_on(frames)
    }

    /// The yaw in use [deg].
    pub fn yaw_deg(&self) -> f32 {
        self.params.yaw_deg
    }

    /// Sets camera, ground and colour scale so that they hold for all the given frames.
    fn frame_on(&mut self, frames: &[i64]) -> Result<(), Failure> {
        let p = &self.params;
        let view = View {
            yaw_deg: p.yaw_deg,
            pitch_deg: p.pitch_deg,
            fov_deg: p.fov_deg,
            margin: p.margin,
            aperture: p.aperture,
        };
        let mut framing = Framing::new(view, self.options.aspect());
        let mut range: Option<(f32, f32)> = None;
        let (mut lowest, wanted) = (f32::INFINITY, self.params.frame_on.clone());
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
            let wanted = |name: &str| wanted.is_empty() || matches(&wanted, name);
            let subject = if self.params.follow { self.subject() } else { Vec3::ZERO };
            for (name, points) in shapes {
                lowest = points.iter().map(|p| p.y).fold(lowest, f32::min);
                if wanted(name) {
                    points.iter().for_each(|&p| framing.add_point(p - subject));
                }
            }
        }
        let p = &self.params;
        self.camera = match (p.eye, p.target) {
            (Some(eye), Some(target)) => {
                let mut camera =
                    Camera::look_at(eye.into(), target.into(), p.fov_deg).map_err(failure)?;
                camera.aperture = p.aperture;
                camera
            }
            _ => framing.camera().map_err(failure)?,
        };
        self.look = self.build_look(lowest, range);
        Ok(())
    }

    /// What the camera follows: the mean of the subject's points, which moves more smoothly than its
    /// outline, on the ground plane.
    fn subject(&self) -> Vec3 {
        let wanted = &self.params.frame_on;
        let wanted = |name: &str| wanted.is_empty() || matches(wanted, name);
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

    fn read(&mut self, number: i64) -> Result<(), Failure> {
        self.reader.read_frame(number, &mut self.frame)?;
        let hide = &self.params.hide;
        if !hide.is_empty() {
            self.frame.meshes.retain(|m| !matches(hide, &m.name));
            self.frame.curves.retain(|c| !matches(hide, &c.name));
            self.frame.points.retain(|p| !matches(hide, &p.name));
        }
        Ok(())
    }

    /// A picture of a frame.
    pub fn picture(&mut self, number: i64) -> Result<Image, Failure> {
        self.read(number)?;
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
    pub fn background(&mut self, number: i64) -> Result<Image, Failure> {
        self.read(number)?;
        let mut look = self.look.clone();
        // Something must be there; it is put behind the camera.
        let behind = self.camera.position - self.camera.forward * 10.0;
        let mut empty = Frame::default();
        let corners = vec![behind, behind + Vec3::X * 1e-4, behind + Vec3::Y * 1e-4];
        empty.meshes.push(frisson::geometry::Mesh::new("none", corners, vec![[0, 1, 2]]));
        look.tint = Tint::Materials;
        let scene = Scene::from_frame(&empty, &look).map_err(failure)?;
        render(&scene, &self.camera, &self.options).map_err(failure)
    }

    fn draw(&self, frame: &Frame) -> Result<Image, Failure> {
        let mut image = if self.shutter > 0.0 {
            let seconds = f64::from(self.shutter) / self.fps();
            let (look, options) = (&self.look, &self.options);
            render_motion(frame, look, &self.camera, options, seconds as f32).map_err(failure)?
        } else {
            let scene = Scene::from_frame(frame, &self.look).map_err(failure)?;
            render(&scene, &self.camera, &self.options).map_err(failure)?
        };
        if let Ok(Some(scale)) = HeatScale::of(frame, &self.look.tint) {
            draw_legend(&mut image, &scale);
        }
        if let Some(rig) = &self.rig {
            rig.draw(frame.time, self.overlays.joints, self.overlays.colliders)
                .draw(&mut image, &self.camera);
        }
        Ok(image)
    }

    /// A picture of a frame as it was animated, without any layer.
    pub fn primary_picture(&mut self, number: i64) -> Result<Image, Failure> {
        if self.rig.is_none() {
            let path = std::path::PathBuf::from("scene");
            self.rig = Some(rig(SceneFile::parse(&path, &self.reader.header().scene_text).ok())?);
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

/// At most `count` frames, evenly spread, both ends included.
pub fn spread(first: i64, last: i64, count: usize) -> Vec<i64> {
    let count = count.clamp(1, (last - first + 1).max(1) as usize);
    if count == 1 {
        return vec![first + (last - first) / 2];
    }
    let step = (last - first) as f64 / (count - 1) as f64;
    (0..count).map(|i| first + (i as f64 * step).round() as i64).collect()
}

/// A picture that failed, as a message.
pub fn failure(error: frisson_picture::PictureError) -> Failure {
    Failure::input(error.to_string())
}

fn rig(scene: Option<SceneFile>) -> Result<Rig, Failure> {
    let mut scene =
        scene.ok_or_else(|| Failure::input("the cache's scene text cannot be read any more"))?;
    scene.scene.layers = Vec::new();
    scene.scene.exports = Vec::new();
    let built = scene.build(&Loader).map_err(|error| {
        Failure::input(format!("the actors' sources are needed for this: {error}"))
            .help("render from the folder of the scene file, or leave out joints and colliders")
    })?;
    let actors = ActorSet::new(built.stage.actors().all().to_vec());
    let fps = built.stage.clock().rate.fps();
    let colliders = ColliderSet::new(&scene.scene.colliders, &actors, fps)
        .map_err(|e| Failure::input(e.to_string()))?;
    Ok(Rig { actors, colliders })
}

impl Rig {
    fn draw(&self, time: f64, joints: bool, colliders: bool) -> XRay {
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
    let turned = |deg: [f32; 3]| {
        let [x, y, z] = deg.map(f32::to_radians);
        rotation * Quat::from_euler(EulerRot::ZYX, z, y, x)
    };
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
    use super::*;

    #[test]
    fn frames_are_spread_evenly_with_both_ends() {
        assert_eq!(spread(0, 10, 3), vec![0, 5, 10]);
        assert_eq!(spread(5, 7, 9), vec![5, 6, 7]);
        assert_eq!(spread(0, 10, 1), vec![5]);
    }

    #[test]
    fn overlays_are_named_or_refused() {
        let overlays = Overlays::parse(&["wireframe,attribute:strain".to_owned()]).unwrap();
        assert!(overlays.wireframe && overlays.attribute.as_deref() == Some("strain"));
        assert!(Overlays::parse(&["wirefame".to_owned()]).is_err());
    }
}
