//! How long a line is when its folds just vanish.

use glam::Vec3;

use super::params::{RestLength, WrinkleTool};
use crate::geometry::Topology;
use crate::stage::{Clock, PrimaryMotion, polyline_length};
use crate::tolerances::wrinkles as tolerances;

/// Full length of a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FullLength {
    /// Length [m].
    pub length: f64,
    /// Time at which the region is measured [s]; the bind pose where there is none.
    pub time: Option<f64>,
    /// Whether the line may turn out longer, because the future is not known.
    pub grows: bool,
}

/// Full lengths of tools whose lines run through some points.
pub(super) fn full_lengths(
    tools: &[WrinkleTool],
    lines: &[Vec<u32>],
    motion: &PrimaryMotion,
    topology: &Topology,
    clock: &Clock,
) -> Vec<FullLength> {
    let vertices = |line: &Vec<u32>| -> Vec<u32> {
        line.iter().map(|&p| topology.vertex_of_point[p as usize]).collect()
    };
    let lines: Vec<Vec<u32>> = lines.iter().map(vertices).collect();
    // Looking over the whole shot costs a pose per step of the grid; tools that name their length do not ask for it.
    let ahead =
        |tool: &WrinkleTool| matches!(tool.rest, RestLength::Longest | RestLength::Length(_));
    let span = motion.known_span(clock).filter(|_| tools.iter().any(ahead));
    let longest = match span {
        Some(span) => find_longest(motion, &lines, span),
        None => {
            // The future is not known: as long as it is now, and growing.
            let start = clock.tick_time(0);
            motion.line_lengths(&lines, start).into_iter().map(|l| (l, start)).collect()
        }
    };
    let bind = motion.rest_positions();
    let full = |index: usize| {
        let (length, time) = longest[index];
        match tools[index].rest {
            RestLength::Longest => FullLength { length, time: Some(time), grows: span.is_none() },
            // The length is given, but where the folds lie is still seen best where the line is longest.
            RestLength::Length(given) => {
                FullLength { length: f64::from(given), time: Some(time), grows: false }
            }
            RestLength::Frame(frame) => {
                let time = clock.frame_time(frame);
                let length = motion.line_lengths(&lines[index..=index], time)[0];
                FullLength { length, time: Some(time), grows: false }
            }
            RestLength::Bind => {
                let places: Vec<Vec3> = lines[index].iter().map(|&v| bind[v as usize]).collect();
                FullLength { length: polyline_length(&places), time: None, grows: false }
            }
        }
    };
    (0..tools.len()).map(full).collect()
}

/// The greatest length of each line over a span of time, and when it has it. The times that are looked
/// at are those of a fixed grid from the start on, whatever the output rate, and the end.
fn find_longest(
    motion: &PrimaryMotion,
    lines: &[Vec<u32>],
    (start, end): (f64, f64),
) -> Vec<(f64, f64)> {
    let steps = ((end - start) * tolerances::LOOK_AHEAD_HZ + tolerances::LOOK_AHEAD_ROUNDING)
        .floor() as u64;
    let grid = (0..=steps).map(|k| start + k as f64 / tolerances::LOOK_AHEAD_HZ);
    let mut best = vec![(0.0, start); lines.len()];
    // The end by itself: it need not fall on the grid.
    for time in grid.chain([end]) {
        for (best, length) in best.iter_mut().zip(motion.line_lengths(lines, time)) {
            // The first of equals: a line that is as long again later is measured where it first was.
            if length > best.0 {
                *best = (length, time);
            }
        }
    }
    best
}
