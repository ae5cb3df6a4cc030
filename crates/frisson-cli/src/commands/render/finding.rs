//! A finding of the judge, close up.

use std::path::Path;

use frisson::geometry::Bounds;
use frisson::stage::Frame;
use frisson_io::FrameSource as _;
use frisson_judge::{CloseUp, Limits, Shape};
use frisson_picture::Camera;
use frisson_workshop::judge_bake;

use crate::commands::judge::open;
use crate::failure::Failure;
use crate::ui::Ui;

/// Field of view of a close-up [degrees].
const FIELD_DEG: f32 = 32.0;

/// Where to look at a finding of a cache from.
pub fn close_up(cache: &Path, number: usize, ui: &Ui) -> Result<CloseUp, Failure> {
    let mut reader = open(cache)?;
    let mut progress = ui.progress("judging");
    let judgement = judge_bake(&mut reader, cache, &Limits::default(), None, &mut progress)?;
    let all: Vec<_> = judgement.findings.iter().chain(&judgement.own).collect();
    let Some(finding) = all.get(number - 1) else {
        let text = format!("there are {} findings", all.len());
        return Err(Failure::input(text).help("`frisson judge` lists them"));
    };
    let mut frame = Frame::default();
    reader.read_frame(finding.frame, &mut frame)?;
    let shape = Shape::find(&frame, &finding.shape);
    let middle = shape.map_or(glam::Vec3::ZERO, |s| Bounds::of(s.points()).center());
    Ok(finding.close_up(middle))
}

/// The camera of a close-up.
pub fn camera(close_up: &CloseUp, aperture: f32) -> Result<Camera, Failure> {
    let mut camera = Camera::look_at(close_up.eye, close_up.target, FIELD_DEG)
        .map_err(|e| Failure::input(e.to_string()))?;
    camera.aperture = aperture;
    Ok(camera)
}
