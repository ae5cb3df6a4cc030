//! Pictures of a cache, as bytes.

use std::path::Path;

use frisson_io::Progress;
use frisson_io::scene::CameraParams;
use frisson_picture::{Image, RenderOptions};
use frisson_workshop::pictures::{Beside, Pictures, scene_camera};
use frisson_workshop::shot::{Overlays, Shot};
use numpy::{PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::trouble::Trouble;

/// How pictures are made.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Look {
    width: u32,
    height: u32,
    samples: Option<u32>,
    compare: bool,
    overlays: Vec<String>,
    /// The scene's camera with changes, as JSON.
    camera: String,
}

type Bytes = (u32, u32, Vec<u8>);

fn open(cache: &Path, look: &Look) -> Result<Pictures, Trouble> {
    let mut options =
        RenderOptions::preview(look.width.clamp(1, 16_384), look.height.clamp(1, 16_384));
    options.samples = look.samples.unwrap_or(options.samples);
    let mut camera = serde_json::to_value(scene_camera(cache))?;
    let changes: serde_json::Value = serde_json::from_str(&look.camera)?;
    for (key, value) in changes.as_object().into_iter().flatten() {
        camera[key] = value.clone();
    }
    let camera: CameraParams = serde_json::from_value(camera)?;
    let overlays = Overlays::parse(&look.overlays)?;
    let shot = Shot::open(cache, Some(camera), overlays, options)?;
    let label = cache.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let beside = if look.compare { Beside::Primary } else { Beside::Nothing };
    Ok(Pictures { shot, beside, label })
}

fn bytes(images: &[Image]) -> Bytes {
    let (width, height) = images.first().map_or((0, 0), |i| (i.width, i.height));
    (width, height, images.iter().flat_map(|i| i.pixels.as_flattened()).copied().collect())
}

pub fn render(cache: &Path, frames: &[i64], look: &Look) -> Result<Bytes, Trouble> {
    let mut pictures = open(cache, look)?;
    let images: Result<Vec<Image>, _> = frames.iter().map(|&f| pictures.panel(f)).collect();
    Ok(bytes(&images?))
}

pub fn sheet(
    cache: &Path,
    count: usize,
    look: &Look,
    progress: &mut dyn Progress,
) -> Result<Bytes, Trouble> {
    let mut pictures = open(cache, look)?;
    let (first, last) = (pictures.shot.first(), pictures.shot.last());
    let frames = pictures.shot.telling_frames(first, last, count.max(1));
    Ok(bytes(&[pictures.sheet(&frames, progress)?]))
}

pub fn animate(
    cache: &Path,
    output: &Path,
    every: usize,
    look: &Look,
    progress: &mut dyn Progress,
) -> Result<(), Trouble> {
    let mut pictures = open(cache, look)?;
    let every = every.max(1);
    let frames: Vec<i64> = (pictures.shot.first()..=pictures.shot.last()).step_by(every).collect();
    let fps = pictures.shot.fps() / every as f64;
    Ok(pictures.animation(&frames, fps, output, progress)?)
}

/// A picture of shape (height, width, 4) as the bytes of a PNG file.
#[pyfunction]
pub fn encode_png<'py>(
    py: Python<'py>,
    picture: PyReadonlyArray3<'py, u8>,
) -> Result<Bound<'py, PyBytes>, Trouble> {
    let shape = picture.shape();
    let pixels = picture.as_slice().unwrap_or_default();
    if shape[2] != 4 || pixels.is_empty() {
        return Err(Trouble::input("a picture is a contiguous array of shape (height, width, 4)"));
    }
    let image = Image {
        width: shape[1] as u32,
        height: shape[0] as u32,
        pixels: pixels.as_chunks().0.to_vec(),
    };
    Ok(PyBytes::new(py, &image.to_png()?))
}
