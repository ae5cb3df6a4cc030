//! Variants side by side: one sheet, one moving grid, all seen by the same camera.

use std::path::{Path, PathBuf};

use frisson::stage::Frame;
use frisson_io::cache::CacheReader;
use frisson_io::scene::ActorLoader;
use frisson_io::{FrameSource, Progress};
use frisson_judge::Shape;
use frisson_picture::{Image, RenderOptions, compose};

use crate::WorkshopError;
use crate::jobs::go_on;
use crate::pictures::{add_picture, finish, write_picture};
use crate::shot::{Overlays, Shot, spread};

/// Most variants on one sheet.
pub const MOST: usize = 60;
/// Frames at which variants are compared to find where they differ most.
const COMPARED: usize = 32;
/// Frames of the moving grid.
const MOVING: usize = 30;

/// Panel of a sheet [pixels], and samples of each pixel.
const PANEL: (u32, u32) = (360, 270);
const SAMPLES: u32 = 8;
/// Longer side of a panel of the moving grid, smaller where there are many of them [pixels], and its samples: thirty
/// frames of sixty panels are drawn in the time of a sheet or two.
const SIDE: u32 = 180;
const SMALL: u32 = 130;
const MANY: usize = 12;
const MOVING_SAMPLES: u32 = 4;

/// Variants that can be drawn.
pub struct Sheet {
    shots: Vec<Seen>,
    frame: i64,
}

/// What is drawn of one variant.
pub struct Panel {
    /// Its bake.
    pub cache: PathBuf,
    /// Number, names and values.
    pub label: String,
    /// The same where there is little room.
    pub short_label: String,
}

struct Seen {
    shot: Shot,
    label: String,
    short_label: String,
}

impl Sheet {
    /// Looks at all variants from the side that shows the first best, at the frame where they differ most
    /// unless one is given.
    pub fn open(
        panels: &[Panel],
        frame: Option<i64>,
        loader: &dyn ActorLoader,
        progress: &mut dyn Progress,
    ) -> Result<Self, WorkshopError> {
        let options =
            RenderOptions { samples: SAMPLES, ..RenderOptions::preview(PANEL.0, PANEL.1) };
        let mut shots: Vec<Seen> = Vec::new();
        for (done, panel) in panels.iter().enumerate() {
            go_on(progress, done, panels.len())?;
            let shot = match shots.first() {
                Some(first) => Shot::open_like(&panel.cache, &first.shot)?,
                None => {
                    let none = Overlays::default();
                    let mut shot = Shot::open_with(&panel.cache, None, none, options, loader)?;
                    shot.fit_shape()?;
                    shot
                }
            };
            let (label, short_label) = (panel.label.clone(), panel.short_label.clone());
            shots.push(Seen { shot, label, short_label });
        }
        let frame = match (frame, shots.first()) {
            (Some(frame), Some(seen)) => frame.clamp(seen.shot.first(), seen.shot.last()),
            _ => differing_frame(panels)?,
        };
        Ok(Self { shots, frame })
    }

    /// The frame of the sheet.
    pub fn frame(&self) -> i64 {
        self.frame
    }

    /// All variants at one frame, on one sheet; each also by itself, into the files given.
    pub fn write(
        &mut self,
        path: &Path,
        singles: &[PathBuf],
        title: &str,
        progress: &mut dyn Progress,
    ) -> Result<(), WorkshopError> {
        let mut panels = Vec::new();
        let count = self.shots.len();
        for (done, (seen, single)) in self.shots.iter_mut().zip(singles).enumerate() {
            go_on(progress, done, count)?;
            let image = seen.shot.picture(self.frame)?;
            write_picture(&image, single)?;
            panels.push((image, seen.label.clone()));
        }
        let sheet = compose::contact_sheet(&panels, columns(count), Some(title))?;
        write_picture(&sheet, path)
    }

    /// All variants moving together, small.
    pub fn animate(
        &mut self,
        path: &Path,
        progress: &mut dyn Progress,
    ) -> Result<(), WorkshopError> {
        let Some(Seen { shot, .. }) = self.shots.first() else { return Ok(()) };
        let (first, last, fps) = (shot.first(), shot.last(), shot.fps());
        let frames = spread(first, last, MOVING);
        let rate = fps * frames.len() as f64 / (last - first + 1).max(1) as f64;
        let side = if self.shots.len() > MANY { SMALL } else { SIDE };
        for Seen { shot, .. } in &mut self.shots {
            let (width, height) = (shot.options.width, shot.options.height);
            let even = |pixels: u32| (pixels * side / width.max(height)).max(2) & !1;
            (shot.options.width, shot.options.height) = (even(width), even(height));
            shot.options.samples = MOVING_SAMPLES;
        }
        let mut writer = None;
        let (mut done, total) = (0, frames.len() * self.shots.len());
        for &frame in &frames {
            let mut panels: Vec<(Image, String)> = Vec::new();
            for seen in &mut self.shots {
                go_on(progress, done, total)?;
                panels.push((seen.shot.picture(frame)?, seen.short_label.clone()));
                done += 1;
            }
            let image = compose::contact_sheet(&panels, columns(panels.len()), None)?;
            add_picture(&mut writer, &image, frames.len() as u32, rate, path)?;
        }
        finish(writer)
    }
}

/// Columns to rows of a sheet, and the most columns that a screen shows.
const ASPECT: f64 = 1.4;
const MOST_COLUMNS: u32 = 8;

/// A sheet about as wide as it is high, rather wider.
fn columns(count: usize) -> u32 {
    ((ASPECT * count as f64).sqrt().ceil() as u32).min(count as u32).clamp(1, MOST_COLUMNS)
}

/// The frame at which the variants are farthest apart.
fn differing_frame(panels: &[Panel]) -> Result<i64, WorkshopError> {
    let mut readers = Vec::new();
    for panel in panels {
        readers.push(CacheReader::open(&panel.cache)?);
    }
    let Some(info) = readers.first().map(|r| r.info().clone()) else { return Ok(0) };
    let frames = spread(info.first_frame, info.last_frame, COMPARED);
    // Below any spread: where all are alike, the first frame.
    let mut best = (-1.0, info.first_frame);
    let mut frame = Frame::default();
    for &number in &frames {
        let mut apart = Apart::default();
        for reader in &mut readers {
            // One that stopped early says nothing of later frames.
            if reader.read_frame(number, &mut frame).is_ok() {
                apart.add(&frame);
            }
        }
        let spread = apart.spread();
        if spread > best.0 {
            best = (spread, number);
        }
    }
    Ok(best.1)
}

/// Sums over variants of every coordinate of a frame, and of its square.
#[derive(Default)]
struct Apart {
    count: usize,
    sums: Vec<(f64, f64)>,
}

impl Apart {
    fn add(&mut self, frame: &Frame) {
        let points = Shape::all(frame).flat_map(|s| s.points().iter().flat_map(|p| p.to_array()));
        let values: Vec<f64> = points.map(f64::from).collect();
        if self.count == 0 {
            self.sums = vec![(0.0, 0.0); values.len()];
        }
        // Where the number of points differs, they cannot be compared one by one.
        if values.len() == self.sums.len() {
            self.count += 1;
            for (sum, value) in self.sums.iter_mut().zip(&values) {
                *sum = (sum.0 + value, sum.1 + value * value);
            }
        }
    }

    fn spread(&self) -> f64 {
        let count = self.count.max(1) as f64;
        self.sums.iter().map(|(sum, squares)| squares - sum * sum / count).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisson::geometry::Mesh;
    use glam::Vec3;

    #[test]
    fn the_spread_is_that_of_the_points() {
        let frame = |x: f32| {
            let mut frame = Frame::default();
            let points = vec![Vec3::X * x, Vec3::Y, Vec3::Z];
            frame.meshes.push(Mesh::new("m", points, vec![[0, 1, 2]]));
            frame
        };
        let spread = |xs: &[f32]| {
            let mut apart = Apart::default();
            xs.iter().for_each(|&x| apart.add(&frame(x)));
            apart.spread()
        };
        assert!(spread(&[2.0, 2.0, 2.0]).abs() < 1e-12);
        assert!((spread(&[1.0, 3.0]) - 2.0).abs() < 1e-9);
        assert!(columns(1) == 1 && columns(10) == 4 && columns(60) == 8);
    }
}
