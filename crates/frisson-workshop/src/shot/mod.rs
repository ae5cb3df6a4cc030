//! A cache as a camera sees it: framing, look, overlays, one picture per frame.

mod effect;
mod overlays;
mod rig;

use std::path::Path;

use frisson::geometry::{Bounds, Mesh};
use frisson::layers::LayerParams;
use frisson::stage::{Curves, Frame};
use frisson_io::FrameSource;
use frisson_io::cache::CacheReader;
use frisson_io::scene::{ActorLoader, CameraParams, LookName, SceneFile};
use frisson_picture::look::{Look, Tint};
use frisson_picture::overlay::{HeatScale, XRay, attribute_range, draw_legend};
use frisson_picture::{
    Camera, Framing, GroundChoice, Image, RenderOptions, Scene, View, render, render_motion,
};
use glam::{Quat, Vec3};

pub use self::effect::Effect;
use self::effect::{Watcher, is_drop};
pub use self::overlays::Overlays;
use self::rig::Rig;
use crate::{Loader, WorkshopError};

/// The side that is taken where no other shows more [degrees].
const USUAL_YAW: f32 = 28.0;
/// Frames of a shot that are looked at to frame it.
const LOOKED_AT: usize = 48;
/// Frames that the camera has to see.
const FRAMED: usize = 12;
/// Least width of a picture over its height.
const NARROWEST: f32 = 0.8;
/// A subject that goes farther than so many times its size is followed.
const FAR: f32 = 1.2;
/// Part of its height that a subject may bob up and down without taking the camera along.
const SWAY: f32 = 0.15;
/// An effect smaller than this part of the subject is shown close up.
const SMALL: f32 = 0.4;
/// Room around such an effect, as a part of its size, on every side.
const AROUND: f32 = 0.6;
/// Least part of the subject that a close-up shows: it must be known for what it is.
const RECOGNISED: f32 = 0.22;

/// A cache made ready for pictures.
pub struct Shot {
    reader: CacheReader,
    frame: Frame,
    params: CameraParams,
    camera: Camera,
    look: Look,
    overlays: Overlays,
    rig: Option<Rig>,
    /// Names of the layers of drops: their shapes fall away, and lead no camera.
    drops: Vec<String>,
    /// Whether all layers only deform what the actors bring.
    only_deforms: bool,
    /// What the layers do, as far as it is known.
    effect: Effect,
    /// Whether the camera goes along.
    follow: bool,
    /// Height of the subject's middle at the start, and how far it may leave it before a camera that
    /// goes along rises too [m].
    level: (f32, f32),
    /// Width over height of what the camera frames.
    shape: f32,
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
        Self::open_with(path, params, overlays, options, &Loader)
    }

    /// The same where the actors come from somebody else: they may be read already, or lie elsewhere.
    pub fn open_with(
        path: &Path,
        params: Option<CameraParams>,
        overlays: Overlays,
        options: RenderOptions,
        loader: &dyn ActorLoader,
    ) -> Result<Self, WorkshopError> {
        let reader = open_baked(path)?;
        let scene = SceneFile::parse(path, &reader.header().scene_text).ok();
        let params =
            params.or_else(|| scene.as_ref().map(|s| s.scene.camera.clone())).unwrap_or_default();
        let drops = scene.as_ref().map(drops_of).unwrap_or_default();
        let only_deforms = scene.as_ref().is_some_and(only_deforms);
        let rig = match Rig::build(scene, loader) {
            Ok(rig) => Some(rig),
            Err(problem) if overlays.joints || overlays.colliders => return Err(problem),
            // The sources may be gone; then the shot is framed by what is in the cache.
            Err(_) => None,
        };
        let mut shot = Self {
            reader,
            frame: Frame::default(),
            camera: Camera::look_at(Vec3::Z, Vec3::ZERO, 28.0)?,
            look: Look::studio(),
            params,
            overlays,
            rig,
            drops,
            only_deforms,
            effect: Effect::default(),
            follow: false,
            level: (0.0, f32::INFINITY),
            shape: 1.0,
            options,
            shutter: 0.0,
        };
        shot.look_at_effect()?;
        let frames = spread(shot.first(), shot.last(), FRAMED);
        shot.frame_on(&frames)?;
        Ok(shot)
    }

    /// Opens another bake of the same shot, seen exactly as `other` is: to compare them.
    pub fn open_like(path: &Path, other: &Self) -> Result<Self, WorkshopError> {
        Ok(Self {
            reader: open_baked(path)?,
            frame: Frame::default(),
            camera: other.camera,
            look: other.look.clone(),
            params: other.params.clone(),
            overlays: other.overlays.clone(),
            rig: None,
            drops: other.drops.clone(),
            only_deforms: other.only_deforms,
            effect: Effect::default(),
            follow: other.follow,
            level: other.level,
            shape: other.shape,
            options: other.options,
            shutter: other.shutter,
        })
    }

    /// Finds out what the layers do, and how far the subject goes.
    fn look_at_effect(&mut self) -> Result<(), WorkshopError> {
        let numbers = spread(self.first(), self.last(), LOOKED_AT);
        self.read(numbers[0])?;
        let start = self.subject_bounds();
        let size = start.diagonal().max(1e-6);
        self.level = (self.mean().y, SWAY * (start.max.y - start.min.y));
        let mut way = Bounds::EMPTY;
        let rig = self.rig.take();
        let drops = self.drops.clone();
        let mut watcher = rig.as_ref().map(|rig| Watcher::new(rig, &drops, size));
        for &number in &numbers {
            self.read(number)?;
            let middle = self.subject();
            way = way.including(middle);
            if let Some(watcher) = &mut watcher {
                watcher.look(&self.frame, middle);
            }
        }
        self.effect = watcher.map(|w| w.effect(USUAL_YAW)).unwrap_or_default();
        self.rig = rig;
        let goes_far = way.diagonal() > FAR * size;
        self.follow = self.params.eye.is_none() && self.params.follow.unwrap_or(goes_far);
        Ok(())
    }

    /// Whether a picture says more beside one of the motion without layers: where they add nothing and
    /// change what is there by little.
    #[must_use]
    pub fn gains_by_comparing(&self) -> bool {
        self.only_deforms && self.rig.is_some() && self.effect.region.is_some()
    }

    /// Gives pictures the shape of the subject, within limits and without more pixels: a standing figure
    /// would be lost in a wide one.
    pub fn fit_shape(&mut self) -> Result<(), WorkshopError> {
        if self.params.eye.is_some() {
            return Ok(());
        }
        let (width, height) = (self.options.width as f32, self.options.height as f32);
        let aspect = self.shape.clamp(NARROWEST, (width / height).max(NARROWEST));
        let side = |pixels: f32| (2.0 * (0.5 * pixels).round()).max(2.0) as u32;
        let area = width * height;
        self.options.width = side((area * aspect).sqrt());
        self.options.height = side((area / aspect).sqrt());
        let frames = spread(self.first(), self.last(), FRAMED);
        self.frame_on(&frames)
    }

    /// At most `count` frames of a range, spread over it, where the layers show most.
    #[must_use]
    pub fn telling_frames(&self, first: i64, last: i64, count: usize) -> Vec<i64> {
        self.effect.best_frames(&spread(first, last, count))
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
        for (_, points) in shapes(&self.frame).filter(|(name, _)| self.is_subject(name)) {
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
            yaw_deg: p.yaw_deg.or(self.effect.yaw_deg).unwrap_or(USUAL_YAW),
            pitch_deg: p.pitch_deg,
            fov_deg: p.fov_deg,
            margin: p.margin,
            aperture: p.aperture,
        }
    }

    /// Whether the camera has to see a shape.
    fn is_subject(&self, name: &str) -> bool {
        if self.params.frame_on.is_empty() {
            return !is_drop(&self.drops, name);
        }
        matches(&self.params.frame_on, name)
    }

    /// Box of what the camera has to see of the frame that was read.
    fn subject_bounds(&self) -> Bounds {
        let shapes = shapes(&self.frame).filter(|(name, _)| self.is_subject(name));
        shapes.map(|(_, points)| Bounds::of(points)).fold(Bounds::EMPTY, Bounds::union)
    }

    /// The part of the subject to show, around its middle, where that is not all of it.
    fn close_up(&self, subject: Bounds) -> Option<Bounds> {
        let region = self.effect.region.filter(|_| self.params.frame_on.is_empty())?;
        let (size, whole) = (region.diagonal(), subject.diagonal());
        if size > SMALL * whole {
            return None;
        }
        let room = (AROUND * size).max(0.5 * (RECOGNISED * whole - size));
        let wide = Bounds { min: region.min - room, max: region.max + room };
        Some(Bounds { min: wide.min.max(subject.min), max: wide.max.min(subject.max) })
    }

    /// Sets camera, ground and colour scale so that they hold for all the given frames.
    fn frame_on(&mut self, frames: &[i64]) -> Result<(), WorkshopError> {
        let mut framing = Framing::new(self.view(), self.options.aspect());
        let mut subject = Bounds::EMPTY;
        let mut range: Option<(f32, f32)> = None;
        let mut lowest = f32::INFINITY;
        for &number in frames {
            self.read(number)?;
            let attribute = self.overlays.attribute.as_deref();
            if let Some(found) = attribute.and_then(|name| attribute_range(&self.frame, name)) {
                let (low, high) = range.unwrap_or(found);
                range = Some((low.min(found.0), high.max(found.1)));
            }
            let middle = self.subject();
            let shift = if self.follow { middle } else { Vec3::ZERO };
            for (name, points) in shapes(&self.frame) {
                if !is_drop(&self.drops, name) {
                    lowest = points.iter().map(|p| p.y).fold(lowest, f32::min);
                }
                if self.is_subject(name) {
                    points.iter().for_each(|&p| framing.add_point(p - shift));
                    subject = points.iter().fold(subject, |b, &p| b.including(p - middle));
                }
            }
        }
        let part = self.close_up(subject);
        let (right, up, _) = self.view().axes();
        let framed = part.unwrap_or(framing.bounds());
        let extent = |axis: Vec3| (framed.max - framed.min).dot(axis.abs()).max(1e-6);
        self.shape = extent(right) / extent(up);
        if let Some(part) = part {
            framing = Framing::new(self.view(), self.options.aspect());
            // A still camera has to see the part wherever the subject takes it.
            let middles = if self.follow { vec![Vec3::ZERO] } else { self.middles(frames)? };
            for middle in middles {
                corners(part).iter().for_each(|&p| framing.add_point(p + middle));
            }
        }
        self.camera = self.camera_for(&framing)?;
        self.look = self.build_look(lowest, range);
        Ok(())
    }

    /// The subject's middle in some frames.
    fn middles(&mut self, frames: &[i64]) -> Result<Vec<Vec3>, WorkshopError> {
        let mut middles = Vec::with_capacity(frames.len());
        for &number in frames {
            self.read(number)?;
            middles.push(self.subject());
        }
        Ok(middles)
    }

    fn camera_for(&self, framing: &Framing) -> Result<Camera, WorkshopError> {
        let p = &self.params;
        let (Some(eye), Some(target)) = (p.eye, p.target) else { return Ok(framing.camera()?) };
        let camera = Camera::look_at(eye.into(), target.into(), p.fov_deg)?;
        Ok(Camera { aperture: p.aperture, ..camera })
    }

    /// What the camera follows: the subject's mean, on the ground plane; a leap lifts it, steps do not.
    fn subject(&self) -> Vec3 {
        let mean = self.mean();
        let (level, sway) = self.level;
        let up = mean.y - level;
        Vec3::new(mean.x, up - up.clamp(-sway, sway), mean.z)
    }

    /// The mean of the subject's points, which moves more smoothly than its outline.
    fn mean(&self) -> Vec3 {
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
        (sum / count.max(1) as f64).as_vec3()
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
        let hide = &self.params.hide;
        frame.meshes.retain(|m| !matches(hide, &m.name));
        let still = self.camera;
        if self.follow {
            self.camera.position += self.subject();
        }
        let image = self.draw(&frame);
        self.camera = still;
        image
    }
}

/// A cache with frames in it.
fn open_baked(path: &Path) -> Result<CacheReader, WorkshopError> {
    let reader = CacheReader::open(path)?;
    if reader.frame_count() == 0 {
        return Err(WorkshopError::input(format!("{}: no frame is baked yet", path.display())));
    }
    Ok(reader)
}

/// Names and points of all shapes of a frame.
fn shapes(frame: &Frame) -> impl Iterator<Item = (&str, &Vec<Vec3>)> {
    (frame.meshes.iter().map(|m| (m.name.as_str(), &m.positions)))
        .chain(frame.curves.iter().map(|c| (c.name.as_str(), &c.points)))
        .chain(frame.points.iter().map(|p| (p.name.as_str(), &p.positions)))
}

/// Whether all layers only deform what the actors bring.
fn only_deforms(scene: &SceneFile) -> bool {
    let deforms = |layer: &LayerParams| {
        matches!(layer, LayerParams::Flesh(_) | LayerParams::Wrinkles(_) | LayerParams::Folds(_))
    };
    !scene.scene.layers.is_empty() && scene.scene.layers.iter().all(deforms)
}

/// Corners of a box.
fn corners(bounds: Bounds) -> [Vec3; 8] {
    std::array::from_fn(|i| {
        let side = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { 0.0 };
        bounds.min + (bounds.max - bounds.min) * Vec3::new(side(0), side(1), side(2))
    })
}

/// Names of the layers of drops.
fn drops_of(scene: &SceneFile) -> Vec<String> {
    let name = |layer: &LayerParams| match layer {
        LayerParams::Drops(drops) => Some(drops.name.clone()),
        _ => None,
    };
    scene.scene.layers.iter().filter_map(name).collect()
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
