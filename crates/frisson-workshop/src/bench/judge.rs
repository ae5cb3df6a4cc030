//! The judge's default questions, over a shot that is made as it is read.

use frisson::geometry::Material;
use frisson::stage::{Frame, Rate};
use frisson_io::{FrameSource, ShotInfo, Silent, SourceError};
use frisson_judge::{Limits, judge_shot};
use frisson_picture::stock;
use glam::Vec3;

use super::{BenchOptions, Table};
use crate::WorkshopError;

/// Frames of the shot: two seconds, as most are tried out.
const FRAMES: i64 = 60;

/// A ball in a shell that swings around it: two closed meshes near each other, so that every question is asked.
struct Swinging {
    info: ShotInfo,
    rest: Frame,
}

impl Swinging {
    fn new(points: u32) -> Self {
        // Half of the points each; a ball has twice as many columns as rows.
        let rows = f64::from(points / 4).sqrt() as u32;
        let ball = |name: &str, radius: f32| {
            stock::ball(name, Vec3::Y, radius, rows, 2 * rows, Material::default())
        };
        let rest =
            Frame { meshes: vec![ball("body", 0.5), ball("shell", 0.55)], ..Frame::default() };
        let info = ShotInfo { rate: Rate::whole(30), first_frame: 1, last_frame: FRAMES };
        Self { info, rest }
    }

    fn points(&self) -> usize {
        self.rest.meshes.iter().map(|m| m.positions.len()).sum()
    }
}

impl FrameSource for Swinging {
    fn info(&self) -> &ShotInfo {
        &self.info
    }

    fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError> {
        out.clone_from(&self.rest);
        out.index = frame;
        let swing = 0.02 * (0.4 * frame as f32).sin();
        out.meshes[1].positions.iter_mut().for_each(|p| p.x += swing);
        Ok(())
    }
}

/// Measures.
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, WorkshopError> {
    let sizes: &[u32] = if options.quick { &[10_000] } else { &[10_000, 40_000, 160_000] };
    let title = format!("The judge's default questions, {FRAMES} frames of two closed meshes");
    let columns = ["points", "ms/frame", "ms/frame per 10,000 points", "reading alone [ms]"];
    let mut table = Table::new(title, &columns);
    for &size in sizes {
        let mut shot = Swinging::new(size);
        let points = shot.points();
        let mut failed = None;
        let judging = options.median_seconds(|| {
            let judged = judge_shot(&mut shot, &[], &Limits::default(), None, &mut Silent);
            failed = failed.take().or(judged.err());
        });
        if let Some(error) = failed {
            return Err(WorkshopError::of(error));
        }
        let mut frame = Frame::default();
        let mut unread = None;
        let reading = options.median_seconds(|| {
            let read = (1..=FRAMES).try_for_each(|number| shot.read_frame(number, &mut frame));
            unread = unread.take().or(read.err());
        });
        if let Some(error) = unread {
            return Err(WorkshopError::of(error));
        }
        let ms = |seconds: f64| 1e3 * seconds / FRAMES as f64;
        table.row([
            points.to_string(),
            format!("{:.2}", ms(judging)),
            format!("{:.2}", ms(judging - reading) * 1e4 / points as f64),
            format!("{:.3}", ms(reading)),
        ]);
    }
    table.note(format!(
        "{} threads; at most 5 ms per 10,000 points and frame is wanted on two cores",
        rayon::current_num_threads()
    ));
    Ok(vec![table])
}
