//! Drops: the source's tables 4.1 to 4.6 beside ours, and what the layer promises.

use std::time::Instant;

use frisson::geometry::Mesh;
use frisson::layers::LayerParams;
use frisson::layers::drops::DropsParams;
use frisson::stage::{Actor, Clock, Forces, NoObserver, Rate, Simulator};
use glam::Vec3;

use super::{BenchOptions, Table};
use crate::WorkshopError;

/// Processor time below which the system's count says nothing [s]: it counts in slices of a few
/// milliseconds, and the fastest step tells more.
const LEAST_COUNTED: f64 = 1e-3;

/// Side of the board [m].
const SIDE: f32 = 2.0;

/// What a run is made of.
#[derive(Clone, Copy)]
struct Setup {
    drops: u32,
    triangles: u32,
    merging: bool,
    trails: bool,
    shapes: bool,
    /// Speed along the board at the start [m/s], all from one place; 0: scattered, at rest.
    speed: f64,
    /// Length of a step [s].
    step: f64,
    /// Steps that are not measured.
    settle: usize,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            drops: 1000,
            triangles: 512,
            merging: true,
            trails: false,
            shapes: false,
            speed: 0.0,
            step: 1.0 / 30.0,
            settle: 2,
        }
    }
}

/// Median time of a step, processor time of all threads in one [s], and edges crossed in one.
struct Measured {
    seconds: f64,
    processor: f64,
    crossings: f64,
}

/// Processor time of this program so far [s]; none where the system does not tell.
fn processor_time() -> Option<f64> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let nanoseconds = tasks.flatten().filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    Some(1e-9 * nanoseconds.sum::<f64>())
}

/// An inclined square of `2 k²` triangles.
fn board(triangles: u32) -> Mesh {
    let k = ((triangles / 2) as f32).sqrt().round() as u32;
    let at = |i: u32| SIDE * i as f32 / k as f32;
    let positions =
        (0..=k).flat_map(|j| (0..=k).map(move |i| Vec3::new(at(i), -0.6 * at(i), at(j)))).collect();
    let id = |i: u32, j: u32| j * (k + 1) + i;
    let cell = |i: u32, j: u32| {
        let (a, b, c, d) = (id(i, j), id(i + 1, j), id(i + 1, j + 1), id(i, j + 1));
        [[a, c, b], [a, d, c]]
    };
    let triangles = (0..k).flat_map(|j| (0..k).flat_map(move |i| cell(i, j))).collect();
    Mesh::new("board", positions, triangles)
}

fn params(setup: &Setup) -> Result<DropsParams, WorkshopError> {
    let Setup { drops, merging, trails, shapes, speed, .. } = *setup;
    let source = if speed > 0.0 {
        serde_json::json!({"single": {"at": [0.011, -0.0066, 0.93], "mass": 1e-7, "count": drops,
            "every": 0, "velocity": [speed, -0.6 * speed, 0.0]}})
    } else {
        serde_json::json!({"region": {"count": drops, "mass": [5e-8, 2e-7]}})
    };
    let value = serde_json::json!({
        "name": "drops", "on": "board", "seed": 1, "sources": [source],
        "liquid": {"viscosity": if speed > 0.0 { 0.0 } else { 2e-6 }},
        "ground": [{"adhesion": 1e6, "film": if trails { 1e-7 } else { 0.0 }}],
        "merging": {"enabled": merging},
        "trails": {"enabled": trails, "mesh": trails},
        "shape": {"mesh": shapes, "points": false},
    });
    serde_json::from_value(value).map_err(WorkshopError::of)
}

fn measure(setup: &Setup, steps: usize) -> Result<Measured, WorkshopError> {
    let actor = Actor::meshes_named("board", vec![board(setup.triangles)]);
    let rate = Rate { numerator: (1.0 / setup.step * 1000.0).round() as u32, denominator: 1000 };
    let tick_hz = (1.0 / setup.step).round() as u32;
    let clock = Clock { tick_hz, ..Clock::new(rate, 0, 1_000_000) };
    let forces = Forces::new(Vec3::new(0.0, -9.81, 0.0), Vec::new(), rate.fps());
    let layers = [LayerParams::Drops(params(setup)?)];
    let mut stage = Simulator::new(frisson::stage::Setup {
        clock,
        actors: vec![actor],
        forces,
        layers: layers.to_vec(),
        ..frisson::stage::Setup::default()
    })
    .map_err(WorkshopError::of)?;
    let crossings = |stage: &Simulator| {
        let reports = stage.reports();
        reports[0].measures.iter().find(|m| m.name == "crossings").map_or(0.0, |m| m.value)
    };
    let mut times = Vec::with_capacity(steps);
    // Solving shapes and growing buffers happens once.
    let warm = if setup.speed == 0.0 { setup.settle } else { 0 };
    let (mut before, mut processor) = (0.0, None);
    for i in 0..steps + warm {
        if i == warm {
            before = crossings(&stage);
            processor = processor_time();
        }
        let started = Instant::now();
        stage.advance_frame(&mut NoObserver).map_err(WorkshopError::of)?;
        if i >= warm {
            times.push(started.elapsed().as_secs_f64());
        }
    }
    let processor = processor_time().zip(processor).map(|(now, then)| (now - then) / steps as f64);
    let crossed = (crossings(&stage) - before) / steps as f64;
    let wall = times.iter().sum::<f64>() / steps as f64;
    times.sort_by(f64::total_cmp);
    let processor = processor.unwrap_or(wall * rayon::current_num_threads() as f64);
    let processor = if processor < LEAST_COUNTED { times[0] } else { processor };
    Ok(Measured { seconds: times[steps / 2], processor, crossings: crossed })
}

/// Measures.
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, WorkshopError> {
    let steps = if options.quick { 5 } else { 11 };
    Ok(vec![
        with_shapes(steps)?,
        without_shapes(steps)?,
        merging(steps)?,
        trajectories(steps)?,
        crossed(steps)?,
        subdivision(steps)?,
        promises(options, steps)?,
        growth(steps)?,
    ])
}

fn cell(source: &str, seconds: f64) -> String {
    format!("{source} / {:.4}", seconds)
}

fn with_shapes(steps: usize) -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "4.1 A whole step with shapes: source / ours [s]",
        &["triangles", "10 drops", "50 drops", "100 drops"],
    );
    for (triangles, source) in
        [(2, ["1.0", "5.2", "10.6"]), (32, ["0.9", "5.2", "10.2"]), (512, ["1.0", "5.4", "10.1"])]
    {
        let mut row = vec![triangles.to_string()];
        for (drops, source) in [10, 50, 100].into_iter().zip(source) {
            let setup = Setup { drops, triangles, shapes: true, ..Setup::default() };
            row.push(cell(source, measure(&setup, steps)?.processor));
        }
        table.rows.push(row);
    }
    table.note("source: 195 MHz R10000; a step is one frame of 1/30 s");
    table.note("ours, here and below: processor time of all threads together");
    Ok(table)
}

fn drops_table(
    title: &str,
    rows: &[(u32, [&str; 3])],
    mut time: impl FnMut(u32, u32) -> Result<f64, WorkshopError>,
) -> Result<Table, WorkshopError> {
    let mut table = Table::new(title, &["triangles", "1000 drops", "4000 drops", "8000 drops"]);
    for (triangles, source) in rows {
        let mut row = vec![triangles.to_string()];
        for (drops, source) in [1000, 4000, 8000].into_iter().zip(source) {
            row.push(cell(source, time(drops, *triangles)?));
        }
        table.rows.push(row);
    }
    Ok(table)
}

fn without_shapes(steps: usize) -> Result<Table, WorkshopError> {
    let rows = [
        (2, ["0.6", "12.8", "59.4"]),
        (8, ["0.2", "3.1", "16.7"]),
        (32, ["0.1", "1.3", "5.8"]),
        (128, ["0.1", "0.8", "4.2"]),
        (512, ["<0.1", "0.6", "3.1"]),
    ];
    drops_table("4.2 A step without shapes: source / ours [s]", &rows, |drops, triangles| {
        Ok(measure(&Setup { drops, triangles, ..Setup::default() }, steps)?.processor)
    })
}

fn merging(steps: usize) -> Result<Table, WorkshopError> {
    let rows =
        [(2, ["0.6", "12.7", "59.2"]), (32, ["0.1", "1.2", "5.6"]), (512, ["<0.1", "0.5", "2.9"])];
    let mut table =
        drops_table("4.3 Finding merges: source / ours [s]", &rows, |drops, triangles| {
            let with = Setup { drops, triangles, ..Setup::default() };
            let without = Setup { merging: false, ..with };
            Ok((measure(&with, steps)?.processor - measure(&without, steps)?.processor).max(0.0))
        })?;
    table.note("ours: a step with merging less the same step without; also across triangles");
    Ok(table)
}

fn trajectories(steps: usize) -> Result<Table, WorkshopError> {
    let rows = [(2, ["<0.1", "0.1", "0.2"]), (512, ["<0.1", "0.1", "0.2"])];
    drops_table(
        "4.4 Trajectories, 0 or 1 crossing: source / ours [s]",
        &rows,
        |drops, triangles| {
            let setup = Setup { drops, triangles, merging: false, ..Setup::default() };
            Ok(measure(&setup, steps)?.processor)
        },
    )
}

fn crossed(steps: usize) -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "4.5 Trajectories of 4000 drops by triangles crossed: source / ours [s]",
        &["wanted", "crossed", "time", "ns per crossing"],
    );
    let source = ["0.1", "0.5", "0.8", "1.2", "1.4", "1.7", "2.1"];
    let steps = steps.min(5);
    for (wanted, source) in source.iter().enumerate() {
        // Two edges are crossed per cell of 1/8 m.
        let speed = (wanted as f64).max(1e-3) * 0.5 * 0.125 * 30.0 * 1.166;
        let setup = Setup { drops: 4000, merging: false, speed: speed * 0.85, ..Setup::default() };
        let measured = measure(&setup, steps)?;
        let per = measured.crossings / 4000.0;
        table.rows.push(vec![
            wanted.to_string(),
            format!("{per:.1}"),
            cell(source, measured.processor),
            if per > 0.5 {
                format!("{:.0}", 1e9 * measured.processor / measured.crossings)
            } else {
                "-".to_owned()
            },
        ]);
    }
    table.note("gravity speeds the drops up during the steps");
    Ok(table)
}

fn subdivision(steps: usize) -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "4.6 4000 drops by subdivision: source / ours [s]",
        &["triangles", "whole step"],
    );
    for (triangles, source) in [(2, "12.8"), (8, "3.1"), (32, "1.6"), (128, "1.5"), (512, "1.9")] {
        let setup = Setup { drops: 4000, triangles, ..Setup::default() };
        let seconds = measure(&setup, steps)?.processor;
        table.rows.push(vec![triangles.to_string(), cell(source, seconds)]);
    }
    Ok(table)
}

fn promises(options: &BenchOptions, steps: usize) -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "What the layer promises on two cores",
        &["what", "wanted", "measured", "processor ms", "one core alone"],
    );
    let tick = 1.0 / 120.0;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(WorkshopError::of)?;
    let mut row = |what: &str, wanted: &str, setup: &Setup| -> Result<(), WorkshopError> {
        let both = measure(setup, steps)?;
        let one = pool.install(|| measure(setup, steps))?;
        table.row([
            what.to_owned(),
            wanted.to_owned(),
            format!("{:.0}", 1.0 / both.seconds),
            format!("{:.1}", 1e3 * both.processor),
            format!("{:.0}", 1.0 / one.processor),
        ]);
        Ok(())
    };
    let full = Setup {
        drops: 8000,
        trails: true,
        shapes: true,
        triangles: 2048,
        step: tick,
        ..Setup::default()
    };
    row("8000 drops: shapes, merging, trails [steps/s]", "60", &full)?;
    row("the same after a second of running", "60", &Setup { settle: 120, ..full })?;
    let flow = Setup { shapes: false, trails: false, ..full };
    row("8000 drops: merging only [steps/s]", "-", &flow)?;
    let many = Setup { drops: 100_000, triangles: 2048, step: tick, ..Setup::default() };
    row("100,000 drops, merging, no shapes [steps/s]", "24", &many)?;
    let drops = if options.quick { 2000 } else { 10_000 };
    let fine = Setup { drops, triangles: 131_072, merging: false, speed: 2.0, ..Setup::default() };
    let one = pool.install(|| measure(&fine, 5))?;
    table.row([
        "crossings on one core [1/s]".to_owned(),
        "1000000".to_owned(),
        format!("{:.0}", one.crossings / one.seconds),
        format!("{:.1}", 1e3 * one.processor),
        format!("{:.0}", one.crossings / one.processor),
    ]);
    table.note(format!("{} threads; a step is one tick of 1/120 s, shown", {
        rayon::current_num_threads()
    }));
    table.note("one core alone: by the processor time of a run on one thread, whatever else runs");
    Ok(table)
}

fn growth(steps: usize) -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "Growth with the number of drops: merging and trails, no shapes",
        &["drops", "processor ms a step", "ns a drop"],
    );
    for drops in [1000, 10_000, 100_000] {
        let setup =
            Setup { drops, triangles: 2048, trails: true, step: 1.0 / 120.0, ..Setup::default() };
        let seconds = measure(&setup, steps)?.processor;
        table.row([
            drops.to_string(),
            format!("{:.3}", 1e3 * seconds),
            format!("{:.0}", 1e9 * seconds / f64::from(drops)),
        ]);
    }
    Ok(table)
}
