//! Pictures made of a shot: panels, sheets, animations, turntables, charts.

use std::path::Path;

use frisson_io::bake::read_reports;
use frisson_io::cache::CacheReader;
use frisson_io::scene::{CameraParams, SceneFile};
use frisson_io::{FrameSource as _, Progress};
use frisson_picture::animation::AnimationWriter;
use frisson_picture::output::write_text;
use frisson_picture::{Image, compose};

use crate::WorkshopError;
use crate::jobs::go_on;
use crate::report_page::measure_chart;
use crate::shot::Shot;

/// What stands beside a picture.
pub enum Beside {
    /// Nothing.
    Nothing,
    /// The motion as it was animated, without any layer.
    Primary,
    /// Another cache, with its label.
    Cache(Box<Shot>, String),
}

/// A shot, perhaps beside another, ready for all kinds of pictures.
pub struct Pictures {
    /// The shot.
    pub shot: Shot,
    /// What stands beside it.
    pub beside: Beside,
    /// The shot's label.
    pub label: String,
}

impl Pictures {
    /// One frame, beside its counterpart if there is one.
    pub fn panel(&mut self, frame: i64) -> Result<Image, WorkshopError> {
        let image = self.shot.picture(frame)?;
        let (beside, name) = match &mut self.beside {
            Beside::Nothing => return Ok(image),
            Beside::Primary => (self.shot.primary_picture(frame)?, "without layers".to_owned()),
            Beside::Cache(cache, name) => (cache.picture(frame)?, name.clone()),
        };
        Ok(compose::side_by_side(&[(beside, name), (image, self.label.clone())])?)
    }

    /// Several frames.
    pub fn panels(
        &mut self,
        frames: &[i64],
        progress: &mut dyn Progress,
    ) -> Result<Vec<Image>, WorkshopError> {
        let mut images = Vec::with_capacity(frames.len());
        for (done, &frame) in frames.iter().enumerate() {
            go_on(progress, done, frames.len())?;
            images.push(self.panel(frame)?);
        }
        Ok(images)
    }

    /// Several frames on one sheet, each with its time.
    pub fn sheet(
        &mut self,
        frames: &[i64],
        progress: &mut dyn Progress,
    ) -> Result<Image, WorkshopError> {
        let images = self.panels(frames, progress)?;
        let fps = self.shot.fps();
        let caption = |f: &i64| format!("frame {f}  {:.2} s", *f as f64 / fps);
        let panels: Vec<(Image, String)> =
            images.into_iter().zip(frames.iter().map(caption)).collect();
        let alone = matches!(self.beside, Beside::Nothing);
        // Pictures that are pairs already are wide.
        let columns = if alone { columns(panels.len()) } else { 2 };
        Ok(compose::contact_sheet(&panels, columns, Some(&self.label))?)
    }

    /// Several frames drawn over each other.
    pub fn onion(
        &mut self,
        frames: &[i64],
        progress: &mut dyn Progress,
    ) -> Result<Image, WorkshopError> {
        let background = self.shot.background(frames.first().copied().unwrap_or(0))?;
        let images = self.panels(frames, progress)?;
        Ok(compose::onion_skin(&background, &images)?)
    }

    /// Frames as an animation that plays at so many pictures a second.
    pub fn animation(
        &mut self,
        frames: &[i64],
        fps: f64,
        output: &Path,
        progress: &mut dyn Progress,
    ) -> Result<(), WorkshopError> {
        let mut writer = None;
        for (done, &frame) in frames.iter().enumerate() {
            go_on(progress, done, frames.len())?;
            let image = self.panel(frame)?;
            add_picture(&mut writer, &image, frames.len() as u32, fps, output)?;
        }
        finish(writer)
    }

    /// Frames as numbered PNG files in a folder.
    pub fn numbered(
        &mut self,
        frames: &[i64],
        folder: &Path,
        progress: &mut dyn Progress,
    ) -> Result<(), WorkshopError> {
        std::fs::create_dir_all(folder).map_err(|e| WorkshopError::file(folder, e))?;
        for (done, &frame) in frames.iter().enumerate() {
            go_on(progress, done, frames.len())?;
            write_picture(&self.panel(frame)?, &folder.join(format!("frame_{frame:05}.png")))?;
        }
        Ok(())
    }

    /// Once around a frame in so many pictures, in four seconds.
    pub fn turntable(
        &mut self,
        frame: i64,
        count: u32,
        output: &Path,
        progress: &mut dyn Progress,
    ) -> Result<(), WorkshopError> {
        let mut writer = None;
        for (done, camera) in self.shot.orbit(frame, count)?.into_iter().enumerate() {
            go_on(progress, done, count as usize)?;
            self.shot.set_camera(camera);
            let image = self.shot.picture(frame)?;
            add_picture(&mut writer, &image, count, f64::from(count) / 4.0, output)?;
        }
        finish(writer)
    }
}

/// Writes a chart for every measure of every layer of a cache, as PNG and SVG; gives their number.
pub fn write_charts(cache: &Path, folder: &Path) -> Result<usize, WorkshopError> {
    let mut reader = CacheReader::open(cache)?;
    let series = read_reports(&mut reader)?.measures;
    if series.is_empty() {
        let text = format!("{}: no layer measured anything", cache.display());
        return Err(WorkshopError::input(text));
    }
    std::fs::create_dir_all(folder).map_err(|e| WorkshopError::file(folder, e))?;
    let (first, fps) = (reader.info().first_frame, reader.info().rate.fps());
    for measure in &series {
        let chart = measure_chart(measure, first, fps);
        // Names of measures hold units and spaces, file names had better not.
        let plain = |c: char| if c.is_alphanumeric() { c } else { '_' };
        let name: String =
            format!("{}_{}", measure.layer, measure.name).chars().map(plain).collect();
        write_picture(&chart.to_image(), &folder.join(format!("{name}.png")))?;
        write_text(&folder.join(format!("{name}.svg")), &chart.to_svg())?;
    }
    Ok(series.len())
}

/// The camera that the scene of a cache asks for.
pub fn scene_camera(cache: &Path) -> CameraParams {
    let text = CacheReader::open(cache).map(|r| r.header().scene_text.clone()).unwrap_or_default();
    SceneFile::parse(cache, &text).map(|s| s.scene.camera).unwrap_or_default()
}

/// Writes a PNG; an error names the file.
pub fn write_picture(image: &Image, path: &Path) -> Result<(), WorkshopError> {
    image.write_png(path).map_err(|e| WorkshopError::input(format!("{}: {e}", path.display())))
}

/// Adds a picture to an animation, which is started with the first.
pub(crate) fn add_picture(
    writer: &mut Option<AnimationWriter>,
    image: &Image,
    frames: u32,
    fps: f64,
    output: &Path,
) -> Result<(), WorkshopError> {
    let writer = match writer {
        Some(writer) => writer,
        None => {
            let size = (image.width, image.height);
            writer.insert(AnimationWriter::create(output, size, frames, fps)?)
        }
    };
    Ok(writer.add(image)?)
}

pub(crate) fn finish(writer: Option<AnimationWriter>) -> Result<(), WorkshopError> {
    Ok(writer.map_or(Ok(()), AnimationWriter::finish)?)
}

fn columns(count: usize) -> u32 {
    match count {
        0..=3 => count.max(1) as u32,
        4 => 2,
        5..=9 => 3,
        _ => 4,
    }
}
