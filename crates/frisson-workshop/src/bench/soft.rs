//! Soft bodies: steps per second with contacts, extraction of a surface.

use frisson::layers::LayerParams;
use frisson::layers::soft::{DoughParams, PrimitiveParams, SoftObject, SoftParams};
use frisson::stage::{
    Clock, ColliderParams, ColliderShape, Forces, NoObserver, Rate, Setup, Simulator,
};
use glam::Vec3;

use super::{BenchOptions, QUOTED, Table};
use crate::WorkshopError;

/// Measures.
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, WorkshopError> {
    Ok(vec![stepping(options)?, extraction(options)?])
}

/// Heaps of dough on a table, side by side: equal density, contacts with the table and each other.
fn heaps(count: usize) -> Vec<SoftObject> {
    let per_heap = 25;
    // As square as can be: every size has the same neighbours but for its border.
    let columns = (count.div_ceil(per_heap) as f64).sqrt().ceil() as usize;
    (0..count.div_ceil(per_heap))
        .map(|heap| {
            let (row, column) = ((heap / columns) as f64, (heap % columns) as f64);
            let mut object = SoftObject::new(&format!("heap{heap:03}"), 0.05);
            object.stiffness = 3e5;
            let points = (0..per_heap)
                .map(|i| {
                    let (x, y, z) = ((i % 3) as f64, (i / 9) as f64, (i / 3 % 3) as f64);
                    [0.065 * x + 0.26 * column, 0.045 + 0.065 * y, 0.065 * z + 0.26 * row]
                })
                .collect();
            object.dough = Some(DoughParams { points, ..DoughParams::default() });
            object
        })
        .collect()
}

fn build(
    objects: Vec<SoftObject>,
    cell: f64,
    fps: u32,
    seeds: usize,
) -> Result<Simulator, WorkshopError> {
    let floor = ColliderParams {
        name: "floor".to_owned(),
        shape: ColliderShape::Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] },
        friction: 0.5,
        ..ColliderParams::default()
    };
    let actors = vec![];
    let colliders = vec![floor];
    let mut params = SoftParams::new("soft", objects);
    params.cell = Some(cell);
    params.seeds = seeds;
    let clock = Clock::new(Rate::whole(fps), 0, 1_000_000);
    let forces = Forces::new(Vec3::Y * -9.81, vec![], f64::from(fps));
    Simulator::new(Setup {
        clock,
        actors,
        colliders,
        forces,
        layers: vec![LayerParams::Soft(params)],
        ..Setup::default()
    })
    .map_err(WorkshopError::of)
}

/// Number of steps the layer has taken.
fn steps_of(stage: &Simulator) -> f64 {
    let reports = stage.reports();
    let all = reports.iter().flat_map(|r| &r.measures);
    all.filter(|m| m.name == "steps").map(|m| m.value).sum()
}

fn stepping(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "Soft bodies: heaps of dough on a table, 64 seeds a primitive, best frame of 10 ticks",
        &[
            "primitives",
            "steps in it",
            "step [ms]",
            "steps/s",
            "us per primitive",
            "goal [steps/s]",
        ],
    );
    let sizes: &[(usize, &str)] = if options.quick {
        &[(100, "30"), (400, "")]
    } else {
        &[(100, "30"), (300, ""), (1000, "5")]
    };
    for &(count, goal) in sizes {
        // Ten ticks a frame, and coarse triangles: steps are measured, the surface is next to nothing.
        let mut stage = build(heaps(count), 0.05, 12, 64)?;
        let mut best = (f64::INFINITY, 0.0);
        for frame in 0..if options.quick { 3 } else { 6 } {
            let before = steps_of(&stage);
            let started = std::time::Instant::now();
            stage.advance_frame(&mut NoObserver).map_err(WorkshopError::of)?;
            let steps = steps_of(&stage) - before;
            let seconds = started.elapsed().as_secs_f64() / steps.max(1.0);
            // The heaps settle on the table first.
            if frame >= 1 && seconds < best.0 {
                best = (seconds, steps);
            }
        }
        table.row([
            count.to_string(),
            format!("{:.0}", best.1),
            format!("{:.1}", 1e3 * best.0),
            format!("{:.1}", 1.0 / best.0),
            format!("{:.0}", 1e6 * best.0 / count as f64),
            goal.to_owned(),
        ]);
    }
    table.note("a tick is 1/120 s and takes as many steps as the stiffness needs");
    Ok(table)
}

/// Balls at random in a cube: clumps that blend, as metaball tests have them.
fn cloud(count: usize) -> SoftObject {
    let mut object = SoftObject::new("body", 0.05);
    let side = 0.11 * (count as f64).cbrt();
    let at = |i: usize, axis: u64| side * frisson::math::random::uniform(7, i as u64, axis);
    object.primitives = (0..count)
        .map(|i| PrimitiveParams {
            point: Some([at(i, 0), at(i, 1), at(i, 2)]),
            ..PrimitiveParams::default()
        })
        .collect();
    object
}

/// What others take for about as many triangles on this kind of machine [ms].
struct Peers {
    blender: &'static str,
    others: &'static str,
}

fn extraction(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "Soft bodies: surface of balls that blend, field sampling included, best of all calls",
        &[
            "balls",
            "triangles",
            "closed",
            "ours [ms]",
            "Blender, quoted [ms]",
            "others, quoted [ms]",
        ],
    );
    let at = |blender, others| Peers { blender, others };
    let sizes = [
        (50, 0.0123, at("15 (20k)", "")),
        (200, 0.0110, at("136 (100k)", "")),
        (1000, 0.0110, at("1775 (500k)", "VTK 280, of it 40 extracting")),
    ];
    for (count, cell, peers) in sizes.into_iter().take(if options.quick { 1 } else { 3 }) {
        let mut stages =
            [build(vec![cloud(count)], cell, 120, 16)?, build(vec![cloud(count)], 5.0, 120, 16)?];
        let mut best = [f64::INFINITY; 2];
        for _ in 0..if options.quick { 5 } else { 15 } {
            for (stage, best) in stages.iter_mut().zip(&mut best) {
                let started = std::time::Instant::now();
                stage.advance_frame(&mut NoObserver).map_err(WorkshopError::of)?;
                *best = best.min(started.elapsed().as_secs_f64());
            }
        }
        let mesh = &stages[0].frame().meshes[0];
        table.row([
            count.to_string(),
            mesh.topology.triangles.len().to_string(),
            if is_closed(&mesh.topology.triangles) { "yes" } else { "NO" }.to_owned(),
            format!("{:.1}", 1e3 * (best[0] - best[1])),
            peers.blender.to_owned(),
            peers.others.to_owned(),
        ]);
    }
    table.note(QUOTED);
    table.note("ours: a tick with the surface less a tick without it");
    Ok(table)
}

/// Whether every edge has exactly two triangles, in opposite senses.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let mut edges: Vec<(u32, u32)> =
        triangles.iter().flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]).collect();
    edges.sort_unstable();
    edges.windows(2).all(|w| w[0] != w[1])
        && edges.iter().all(|&(a, b)| edges.binary_search(&(b, a)).is_ok())
}
