//! Where the camera stands: what the layers do, what it has to see, and whether it goes along.

use frisson::geometry::Bounds;
use frisson::stage::Frame;
use frisson_io::scene::LookName;
use frisson_picture::look::{Look, Tint};
use frisson_picture::overlay::attribute_range;
use frisson_picture::{Camera, Framing, GroundChoice, View};
use glam::{Quat, Vec3};

use super::colours::told_apart;
use super::effect::{Watcher, is_drop};
use super::{FRAMED, Shot, matches, spread};
use crate::WorkshopError;

/// The side that is taken where no other shows more [degrees].
const USUAL_YAW: f32 = 28.0;
/// Frames of a shot that are looked at to frame it.
const LOOKED_AT: usize = 48;
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
/// Most of the subject that a close-up shows [-]: what leaves out less looks like a picture that was cut off.
const WORTH_IT: f32 = 0.65;
/// Least size of what is framed [m]: a single point has a shape, too.
const LEAST_SIZE: f32 = 1e-6;
/// Length of velocity lines: the way of this long [s].
const VELOCITY_SECONDS: f32 = 0.05;

impl Shot {
    /// Finds out what the layers do, and how far the subject goes.
    pub(super) fn look_at_effect(&mut self) -> Result<(), WorkshopError> {
        let numbers = spread(self.first(), self.last(), LOOKED_AT);
        self.read(numbers[0])?;
        let start = self.subject_bounds();
        let size = start.diagonal().max(LEAST_SIZE);
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
        let part = Bounds { min: wide.min.max(subject.min), max: wide.max.min(subject.max) };
        (part.diagonal() <= WORTH_IT * whole).then_some(part)
    }

    /// Sets camera, ground and colour scale so that they hold for all the given frames.
    pub(super) fn frame_on(&mut self, frames: &[i64]) -> Result<(), WorkshopError> {
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
        let extent = |axis: Vec3| (framed.max - framed.min).dot(axis.abs()).max(LEAST_SIZE);
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
        self.look.materials = told_apart(&self.frame, &self.cloths);
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
    pub(super) fn subject(&self) -> Vec3 {
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
        look.velocity_seconds = if self.overlays.velocities { VELOCITY_SECONDS } else { 0.0 };
        look
    }
}

/// Names and points of all shapes of a frame.
fn shapes(frame: &Frame) -> impl Iterator<Item = (&str, &Vec<Vec3>)> {
    (frame.meshes.iter().map(|m| (m.name.as_str(), &m.positions)))
        .chain(frame.curves.iter().map(|c| (c.name.as_str(), &c.points)))
        .chain(frame.points.iter().map(|p| (p.name.as_str(), &p.positions)))
}

/// Corners of a box.
fn corners(bounds: Bounds) -> [Vec3; 8] {
    std::array::from_fn(|i| {
        let side = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { 0.0 };
        bounds.min + (bounds.max - bounds.min) * Vec3::new(side(0), side(1), side(2))
    })
}
