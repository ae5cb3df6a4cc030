//! A cache as a camera sees it: framing, look, overlays, one picture per frame.

mod colours;
mod drawing;
mod effect;
mod framing;
mod overlays;
mod rig;

use std::path::Path;

use frisson::layers::LayerParams;
use frisson::stage::Frame;
use frisson_io::FrameSource;
use frisson_io::cache::CacheReader;
use frisson_io::scene::{ActorLoader, CameraParams, SceneFile};
use frisson_picture::look::Look;
use frisson_picture::{Camera, RenderOptions};
use glam::Vec3;

pub use self::effect::Effect;
pub(crate) use self::effect::{BEYOND_ALL, FROM_ABOVE};
pub use self::overlays::Overlays;
pub(crate) use self::rig::Rig;
use crate::{Loader, WorkshopError};

/// Frames that the camera has to see.
const FRAMED: usize = 12;

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
    /// Names of the meshes that layers of cloth move.
    cloths: Vec<String>,
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
        let cloths = scene.as_ref().map(cloths_of).unwrap_or_default();
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
            cloths,
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
            cloths: other.cloths.clone(),
            only_deforms: other.only_deforms,
            effect: Effect::default(),
            follow: other.follow,
            level: other.level,
            shape: other.shape,
            options: other.options,
            shutter: other.shutter,
        })
    }

    /// Whether a picture says more beside one of the motion without layers: where they add nothing and
    /// change what is there by little.
    #[must_use]
    pub fn gains_by_comparing(&self) -> bool {
        self.only_deforms && self.rig.is_some() && self.effect.region.is_some()
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

    fn read(&mut self, number: i64) -> Result<(), WorkshopError> {
        self.reader.read_frame(number, &mut self.frame)?;
        frisson_picture::scene::check(&self.frame)?;
        leave_out(&mut self.frame, &self.params.hide);
        Ok(())
    }
}

/// A cache with frames in it.
pub fn open_baked(path: &Path) -> Result<CacheReader, WorkshopError> {
    let reader = CacheReader::open(path)?;
    if reader.frame_count() == 0 {
        return Err(WorkshopError::input(format!("{}: no frame is baked yet", path.display())));
    }
    Ok(reader)
}

/// Whether all layers only deform what the actors bring.
fn only_deforms(scene: &SceneFile) -> bool {
    let deforms = |layer: &LayerParams| {
        matches!(layer, LayerParams::Flesh(_) | LayerParams::Wrinkles(_) | LayerParams::Folds(_))
    };
    !scene.scene.layers.is_empty() && scene.scene.layers.iter().all(deforms)
}

/// Names of the layers of drops.
fn drops_of(scene: &SceneFile) -> Vec<String> {
    let name = |layer: &LayerParams| match layer {
        LayerParams::Drops(drops) => Some(drops.name.clone()),
        _ => None,
    };
    scene.scene.layers.iter().filter_map(name).collect()
}

/// Names of the meshes of cloth.
fn cloths_of(scene: &SceneFile) -> Vec<String> {
    let mut names = Vec::new();
    for layer in &scene.scene.layers {
        if let LayerParams::Cloth(cloth) = layer {
            names.push(cloth.on.clone());
            names.extend(cloth.with.iter().map(|companion| companion.on.clone()));
        }
    }
    names
}

/// Takes shapes out of a frame, by name or the beginning of it.
pub fn leave_out(frame: &mut Frame, hide: &[String]) {
    if !hide.is_empty() {
        frame.meshes.retain(|m| !matches(hide, &m.name));
        frame.curves.retain(|c| !matches(hide, &c.name));
        frame.points.retain(|p| !matches(hide, &p.name));
    }
}

/// Whether a name is in a list, or starts with one of it.
pub(crate) fn matches(list: &[String], name: &str) -> bool {
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
