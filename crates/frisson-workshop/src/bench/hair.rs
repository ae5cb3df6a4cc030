//! Hair: the source's scenes beside its own times, growth with the number of wisps, what interactions
//! and strands cost.

use std::sync::Arc;
use std::time::Instant;

use frisson::layers::LayerParams;
use frisson::layers::hair::HairParams;
use frisson::stage::{
    Actor, Anchor, Animated, ClipPlay, Clock, ColliderParams, ColliderShape, EARTH_GRAVITY,
    ForceParams, Forces, Observer, Rate, Setup, Simulator,
};

use super::{BenchOptions, QUOTED, Table};
use crate::WorkshopError;

/// Measures.
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, WorkshopError> {
    Ok(vec![
        growth(options)?,
        cores(options)?,
        peers(options)?,
        turns(options)?,
        parts(options)?,
        source(options)?,
    ])
}

/// Time spent in the layer itself, frame by frame [s].
#[derive(Default)]
struct LayerTimes {
    started: Option<Instant>,
    frame: f64,
    frames: Vec<f64>,
}

impl Observer for LayerTimes {
    fn layer_start(&mut self, _layer: usize) {
        self.started = Some(Instant::now());
    }
    fn layer_end(&mut self, _layer: usize) {
        self.frame += self.started.take().map_or(0.0, |t| t.elapsed().as_secs_f64());
    }
}

/// Median time of a frame [s].
fn measure(mut stage: Simulator, frames: usize) -> Result<f64, WorkshopError> {
    let mut times = LayerTimes::default();
    for _ in 0..frames {
        times.frame = 0.0;
        stage.advance_frame(&mut times).map_err(WorkshopError::of)?;
        times.frames.push(times.frame);
    }
    // The first frames wake the threads and grow the storage.
    let mut sorted = times.frames.split_off(3.min(frames - 1));
    sorted.sort_by(f64::total_cmp);
    Ok(sorted[sorted.len() / 2])
}

fn actor(name: &str, model: &str, clip: &str) -> Result<Actor, WorkshopError> {
    let character = frisson_models::build(model).map_err(WorkshopError::of)?;
    let clip = character.clip_index(clip);
    let standing = Actor::character_named(name, Arc::new(character));
    Ok(match clip {
        Some(clip) => standing.playing(ClipPlay { looped: true, ..ClipPlay::new(clip) }),
        None => standing,
    })
}

fn stage(
    actor: Actor,
    params: HairParams,
    forces: Vec<ForceParams>,
    colliders: Vec<ColliderParams>,
) -> Result<Simulator, WorkshopError> {
    let clock = Clock::new(Rate::whole(30), 0, 1000);
    let actors = vec![actor];
    let forces = Forces::new(EARTH_GRAVITY, forces, 30.0);
    Simulator::new(Setup {
        clock,
        actors,
        colliders,
        forces,
        layers: vec![LayerParams::Hair(params)],
        ..Setup::default()
    })
    .map_err(WorkshopError::of)
}

fn gale(speed: f64) -> Vec<ForceParams> {
    vec![ForceParams::Wind {
        direction: [1.0, 0.1, 0.2],
        speed: speed.into(),
        gust: 0.5,
        gust_hz: 1.0,
        gust_size: 0.5,
        seed: 1,
    }]
}

/// A head of hair in the wind: ellipsoids, all interactions.
fn head(wisps: u32, change: impl Fn(&mut HairParams)) -> Result<Simulator, WorkshopError> {
    let mut params = HairParams { on: "head".to_owned(), wisps, ..HairParams::default() };
    params.scalp.region = Some("scalp".to_owned());
    params.body.fit_ellipsoids = true;
    params.body.max_ellipsoids = 10;
    params.drag = 4.0;
    // The same hair shared by more wisps: thinner ones.
    params.radius = 0.015 * (100.0 / wisps as f32).sqrt();
    params.style.settle_secs = 0.5;
    change(&mut params);
    stage(actor("head", "head_a", "shake")?, params, gale(4.0), Vec::new())
}

fn growth(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "A head of hair in the wind, wisps of 12 particles, 100 hairs of 16 points each",
        &[
            "wisps",
            "hairs",
            "ms/frame",
            "frames/s",
            "us/wisp",
            "without interactions [ms]",
            "share",
        ],
    );
    let sizes: &[u32] = if options.quick { &[100, 1000] } else { &[100, 200, 500, 1000] };
    let frames = if options.quick { 15 } else { 40 };
    for &wisps in sizes {
        let all = measure(head(wisps, |_| {})?, frames)?;
        let alone = measure(
            head(wisps, |p| {
                p.interaction.friction = false;
                p.interaction.collisions = false;
            })?,
            frames,
        )?;
        table.row([
            wisps.to_string(),
            (100 * wisps).to_string(),
            format!("{:.2}", 1e3 * all),
            format!("{:.0}", 1.0 / all),
            format!("{:.1}", 1e6 * all / f64::from(wisps)),
            format!("{:.2}", 1e3 * alone),
            format!("{:.0}%", 100.0 * (1.0 - alone / all)),
        ]);
    }
    table.note("30 frames a second, 4 chain steps a frame; the layer alone, skinning left out");
    table.note("thickness of a wisp goes with one over the root of their number: the same hair");
    table.note(format!("{} threads", rayon::current_num_threads()));
    Ok(table)
}

/// A head on its own number of threads.
struct Run {
    threads: usize,
    pool: rayon::ThreadPool,
    stage: Simulator,
    times: LayerTimes,
}

/// Frames before which threads wake and storage grows.
const WARM: usize = 3;

/// What more threads gain. The runs take turns frame by frame, so that what else the machine does slows all alike.
fn cores(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "A head of hair on more threads: the same wind, 100 hairs a wisp",
        &["wisps", "threads", "ms/frame", "times as fast"],
    );
    let all = rayon::current_num_threads();
    let frames = if options.quick { 15 } else { 40 };
    for wisps in [100, 1000] {
        let mut runs = Vec::new();
        for threads in [1, 2, 4, 8, 16, 32].into_iter().filter(|t| *t <= all) {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(WorkshopError::of)?;
            let stage = pool.install(|| head(wisps, |_| {}))?;
            runs.push(Run { threads, pool, stage, times: LayerTimes::default() });
        }
        for frame in 0..WARM + frames {
            for Run { pool, stage, times, .. } in &mut runs {
                pool.install(|| stage.advance_frame(times).map(|_| ()))
                    .map_err(WorkshopError::of)?;
                if frame < WARM {
                    times.frame = 0.0;
                }
            }
        }
        let alone = runs.first().map_or(0.0, |run| run.times.frame);
        for Run { threads, times, .. } in &runs {
            table.row([
                wisps.to_string(),
                threads.to_string(),
                format!("{:.2}", 1e3 * times.frame / frames as f64),
                format!("{:.2}", alone / times.frame),
            ]);
        }
    }
    Ok(table)
}

/// What others took for chains of 12 segments in the wind, on the same kind of machine (two cores, 30
/// frames a second): system, chains, what hair does to hair, ms a frame.
const PEERS: [(&str, u32, &str, &str); 7] = [
    ("Blender 5.0.1 particle hair", 100, "nothing", "13"),
    ("Blender 5.0.1 particle hair", 1000, "nothing", "124"),
    ("Blender 5.0.1 particle hair", 100, "friction on a grid", "71 to 750"),
    ("pypbd 2.2.2 strands", 100, "nothing", "7.0"),
    ("Newton 1.0 XPBD", 100, "nothing", "4.7"),
    ("Newton 1.0 XPBD", 100, "particle contacts", "35"),
    ("Newton 1.0 rods", 100, "contacts", "221"),
];

/// Chains alone, without strands, beside what others take for them.
fn peers(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let frames = if options.quick { 15 } else { 40 };
    let mut table = Table::new(
        "Chains alone, no strands, beside other programs",
        &["system", "chains", "hair on hair", "ms/frame"],
    );
    for (system, chains, what, time) in PEERS {
        table.row([
            format!("{system} (quoted)"),
            chains.to_string(),
            what.to_owned(),
            time.to_owned(),
        ]);
    }
    for wisps in [100, 1000] {
        let time = measure(head(wisps, |p| p.strands.per_wisp = 0)?, frames)?;
        let what = "friction, collisions".to_owned();
        let system = "this, with envelopes".to_owned();
        table.row([system, wisps.to_string(), what, format!("{:.2}", 1e3 * time)]);
    }
    table.note(QUOTED);
    Ok(table)
}

/// What taking turns saves where much hair lies in one place.
fn turns(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let frames = if options.quick { 15 } else { 40 };
    let mut table = Table::new(
        "Partners of a section treated in one pass (interaction.most_partners)",
        &["wisps", "most partners", "ms/frame"],
    );
    for wisps in [100, 1000] {
        for most in [4, 8, 32, 1000] {
            let time = measure(head(wisps, |p| p.interaction.most_partners = most)?, frames)?;
            table.row([wisps.to_string(), most.to_string(), format!("{:.2}", 1e3 * time)]);
        }
    }
    Ok(table)
}

fn parts(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let frames = if options.quick { 15 } else { 40 };
    let mut table =
        Table::new("What strands cost", &["wisps", "hairs", "ms/frame", "strands [ms]"]);
    let wisps = 1000;
    let bare = measure(head(wisps, |p| p.strands.per_wisp = 0)?, frames)?;
    for per_wisp in [0u32, 10, 100] {
        let time = if per_wisp == 0 {
            bare
        } else {
            measure(head(wisps, |p| p.strands.per_wisp = per_wisp)?, frames)?
        };
        table.row([
            wisps.to_string(),
            (wisps * per_wisp).to_string(),
            format!("{:.2}", 1e3 * time),
            format!("{:.2}", 1e3 * (time - bare)),
        ]);
    }
    table.note("difference of two runs: read it as about");
    Ok(table)
}

/// The source's scenes, its times (200 MHz, one processor) beside ours.
fn source(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let frames = if options.quick { 20 } else { 60 };
    let mut table = Table::new(
        "The source's scenes (1999, one 200 MHz processor) and ours",
        &["scene", "source [s/frame]", "ours [ms/frame]", "times"],
    );
    let mut row = |name: &str, theirs: f64, ours: f64| {
        table.row([
            name.to_owned(),
            format!("{theirs:.2}"),
            format!("{:.3}", 1e3 * ours),
            format!("{:.0}", theirs / ours),
        ]);
    };
    for (radius, theirs) in [(0.01, 3.92), (0.02, 4.71), (0.03, 5.14)] {
        let ours = measure(curtain(3, radius, Vec::new())?, frames)?;
        row(&format!("3 x 3 wisps, {:.0} cm", 100.0 * radius), theirs, ours);
    }
    let ball = ColliderParams {
        name: "ball".to_owned(),
        shape: ColliderShape::Sphere { center: [0.0, 0.8, 0.0], radius: 0.08 },
        friction: 0.2,
        move_x: Animated::Keys(vec![(0.0, -0.3), (f64::from(frames as u32), 0.3)]),
        ..ColliderParams::default()
    };
    row("sphere through 6 x 6", 21.6, measure(curtain(6, 0.02, vec![ball])?, frames)?);
    row("head in the wind", 235.0, measure(head(100, |_| {})?, frames)?);
    table.note(
        "the source shows no hairs in its times; ours include 100 strands of 16 points a wisp",
    );
    Ok(table)
}

/// A square of wisps hanging from a sheet.
fn curtain(
    side: u32,
    radius: f32,
    colliders: Vec<ColliderParams>,
) -> Result<Simulator, WorkshopError> {
    let mut params = HairParams { on: "sheet".to_owned(), radius, ..HairParams::default() };
    let place = |k: u32| 0.05 * (k as f32 - 0.5 * (side as f32 - 1.0));
    let roots = (0..side * side).map(|k| [place(k % side), 1.0, place(k / side)]);
    params.at = roots.map(Anchor::Position).collect();
    params.direction = Some([0.0, -1.0, 0.0]);
    stage(actor("sheet", "sheet?cells=4&size=0.4", "")?, params, gale(3.0), colliders)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rayon's helpers call themselves for every split and for all that is stolen meanwhile: what a wisp
    /// is computed in must not lie in their frames.
    #[test]
    fn a_thousand_wisps_fit_the_stacks_of_many_threads() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(16).build().unwrap();
        let seconds = pool.install(|| measure(head(1000, |p| p.strands.per_wisp = 10)?, 4));
        assert!(seconds.is_ok());
    }
}
