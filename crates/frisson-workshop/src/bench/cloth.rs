//! Cloth: the sheet on a ball, beside what others were measured to take on the same kind of machine.

use std::time::Instant;

use frisson::geometry::Mesh;
use frisson::layers::LayerParams;
use frisson::layers::cloth::ClothParams;
use frisson::stage::{
    Actor, Clock, ColliderParams, ColliderShape, EARTH_GRAVITY, Forces, NoObserver, Rate,
    Selection, Setup, Simulator,
};
use glam::Vec3;

use super::{BenchOptions, QUOTED, Table};
use crate::WorkshopError;

/// Frames of a run, and how many of them are not counted.
const FRAMES: usize = 60;
const WARM: usize = 5;

/// What others take: vertices along a side, ms per frame and 99th percentile of the stretch.
const OTHERS: [(u32, &str); 4] = [
    (32, "Blender 21 ms 2.6%, pypbd 7.1 ms 2.6%, rapier 4.2 ms 4.4%"),
    (64, "Blender 73 ms 3.6%, pypbd 23 ms 6.7%, rapier 18 ms 10%"),
    (128, "Blender 348 ms 4.8%, pypbd 99-190 ms 22%, rapier 143 ms 26%"),
    (256, "Blender 1680 ms 12%, pypbd 740 ms 116%, rapier 915 ms 125%"),
];

/// A level square of 2 m, two metres up, one diagonal per quad.
fn sheet(n: u32) -> Mesh {
    let at = |k: u32| 2.0 * k as f32 / (n - 1) as f32 - 1.0;
    let positions =
        (0..n).flat_map(|j| (0..n).map(move |i| Vec3::new(at(i), 2.0, at(j)))).collect();
    let quads = (0..n - 1).flat_map(|j| (0..n - 1).map(move |i| j * n + i));
    let triangles = quads.flat_map(|a| [[a, a + n, a + 1], [a + 1, a + n, a + n + 1]]).collect();
    Mesh::new("sheet", positions, triangles)
}

fn stage(n: u32, self_collision: bool) -> Result<Simulator, WorkshopError> {
    let actors = vec![Actor::meshes_named("sheet", vec![sheet(n)])];
    let ball = ColliderParams {
        name: "ball".to_owned(),
        shape: ColliderShape::Sphere { center: [0.0, 1.0, -0.1], radius: 0.5 },
        friction: 0.1,
        ..ColliderParams::default()
    };
    let colliders = vec![ball];
    let params = ClothParams {
        density: Some(0.3),
        friction: Some(0.1),
        drag: 0.0,
        lift: 0.0,
        self_collision,
        pins: Some(Selection { vertices: Some(vec![0, n - 1]), ..Selection::default() }),
        ..ClothParams::new("cloth", "sheet")
    };
    let clock = Clock::new(Rate::whole(30), 0, FRAMES as i64);
    let forces = Forces::new(EARTH_GRAVITY, Vec::new(), 30.0);
    Simulator::new(Setup {
        clock,
        actors,
        colliders,
        forces,
        layers: vec![LayerParams::Cloth(params)],
        ..Setup::default()
    })
    .map_err(WorkshopError::of)
}

/// What the cloth reports now.
fn measured(stage: &Simulator, name: &str) -> f64 {
    let report = &stage.reports()[0];
    report.measures.iter().find(|m| m.name == name).map_or(0.0, |m| m.value)
}

/// Measures.
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, WorkshopError> {
    let mut table = Table::new(
        "Cloth: 2 m sheet on a ball, two corners held, 30 fps, 60 frames",
        &[
            "N",
            "self",
            "ms/frame",
            "constraints/s",
            "stretch mean",
            "p99",
            "worst p99",
            "max",
            "others, quoted (p99)",
        ],
    );
    let sizes: &[u32] = if options.quick { &[32, 64] } else { &[32, 64, 128, 256] };
    for &n in sizes {
        for self_collision in [false, true] {
            let mut stage = stage(n, self_collision)?;
            let mut times = Vec::with_capacity(FRAMES);
            let mut worst: f64 = 0.0;
            for _ in 0..FRAMES {
                let started = Instant::now();
                stage.advance_frame(&mut NoObserver).map_err(WorkshopError::of)?;
                times.push(1e3 * started.elapsed().as_secs_f64());
                worst = worst.max(measured(&stage, "stretch p99"));
            }
            let counted = &times[WARM..];
            let mean = counted.iter().sum::<f64>() / counted.len() as f64;
            let value = |name: &str| measured(&stage, name);
            let others = OTHERS.iter().find(|o| o.0 == n).map_or("", |o| o.1);
            table.row([
                n.to_string(),
                if self_collision { "yes" } else { "no" }.to_owned(),
                format!("{mean:.1}"),
                format!("{:.3e}", value("constraints per frame") / (1e-3 * mean)),
                format!("{:.2}%", 100.0 * value("stretch mean")),
                format!("{:.2}%", 100.0 * value("stretch p99")),
                format!("{:.2}%", 100.0 * worst),
                format!("{:.1}%", 100.0 * value("stretch max")),
                if self_collision { String::new() } else { others.to_owned() },
            ]);
        }
    }
    table.note(format!("{} threads", rayon::current_num_threads()));
    table.note(QUOTED);
    Ok(vec![table, cores(options)?])
}

/// Frames over which runs with more and fewer threads are compared: the ball stops the sheet within them.
const COMPARED_FRAMES: usize = 30;

/// A run with its own number of threads.
struct Run {
    threads: usize,
    pool: rayon::ThreadPool,
    stage: Simulator,
    seconds: f64,
}

/// What more threads gain. The runs take turns frame by frame, so that what else the machine does slows all alike.
fn cores(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "Cloth on more threads: the same sheet with self-collision, 30 frames",
        &["N", "threads", "ms/frame", "times as fast", "runs alone"],
    );
    let all = rayon::current_num_threads();
    let sizes: &[u32] = if options.quick { &[64] } else { &[64, 128, 256] };
    for &n in sizes {
        let mut runs = Vec::new();
        for threads in [1, 2, 4, 8, 16, 32].into_iter().filter(|t| *t <= all) {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(WorkshopError::of)?;
            runs.push(Run { threads, pool, stage: stage(n, true)?, seconds: 0.0 });
        }
        for frame in 0..WARM + COMPARED_FRAMES {
            for Run { pool, stage, seconds, .. } in &mut runs {
                let started = Instant::now();
                let moved = pool.install(|| stage.advance_frame(&mut NoObserver).map(|_| ()));
                moved.map_err(WorkshopError::of)?;
                if frame >= WARM {
                    *seconds += started.elapsed().as_secs_f64();
                }
            }
        }
        let alone = runs.first().map_or(0.0, |run| run.seconds);
        for run in &runs {
            let (threads, gain) = (run.threads as f64, alone / run.seconds);
            // Amdahl: 1 / gain = s + (1 - s) / threads.
            let share = (threads / gain - 1.0) / (threads - 1.0);
            table.row([
                n.to_string(),
                run.threads.to_string(),
                format!("{:.1}", 1e3 * run.seconds / COMPARED_FRAMES as f64),
                format!("{gain:.2}"),
                if run.threads > 1 { format!("{:.0}%", 100.0 * share) } else { String::new() },
            ]);
        }
    }
    table.note(
        "runs alone: the share of the work that one thread does while others wait, by Amdahl's law",
    );
    Ok(table)
}

#[cfg(test)]
mod tests {
    use frisson::geometry::{Mesh, TriangleBvh};
    use frisson::stage::SurfaceMotion;

    use super::super::layers::TimedScene;

    /// What was seen over a scene, frame by frame.
    #[derive(Debug, Default)]
    struct Seen {
        /// Vertices of the garment inside the body, in the worst frame.
        inside: usize,
        /// How deep [m].
        deepest: f32,
        /// Edges of either through triangles of the other, in the worst frame.
        crossings: usize,
        /// Frames with any.
        frames_crossed: usize,
        /// 99th percentile of the stretch, mean over the frames [-].
        stretch: f64,
    }

    /// How many edges of one mesh go through triangles of another.
    fn pierced(edges_of: &Mesh, tree: &TriangleBvh) -> usize {
        let mut count = 0;
        for t in &edges_of.topology.triangles {
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                // Inner edges once; those of the rim that run backwards are few.
                if a < b {
                    let [p, q] = [a, b].map(|v| edges_of.positions[v as usize]);
                    tree.raycast_all(p, q - p, |_, _| count += 1);
                }
            }
        }
        count
    }

    fn watch(text: &str, garment: &str, body: &str, frames: usize) -> Seen {
        let mut scene = TimedScene::new(text).expect("builds");
        let mut surface = SurfaceMotion::default();
        let mut seen = Seen::default();
        for _ in 0..frames {
            scene.advance().expect("runs");
            let (cloth, skin) = (scene.mesh(garment).unwrap(), scene.mesh(body).unwrap());
            surface.update(skin, 0.0);
            let distance = |p: &glam::Vec3| surface.signed_distance(*p, 0.15).map_or(1.0, |d| d.0);
            let distances: Vec<f32> = cloth.positions.iter().map(distance).collect();
            seen.inside = seen.inside.max(distances.iter().filter(|d| **d < -1e-4).count());
            seen.deepest = distances.iter().fold(seen.deepest, |m, d| m.max(-d));
            let tree = TriangleBvh::build(&cloth.positions, &cloth.topology.triangles);
            let crossings = pierced(cloth, surface.bvh()) + pierced(skin, &tree);
            seen.crossings = seen.crossings.max(crossings);
            seen.frames_crossed += usize::from(crossings > 0);
            seen.stretch += scene.measure(0, "stretch p99") / frames as f64;
        }
        seen
    }

    #[test]
    fn garments_stay_outside_of_the_runner() {
        let cape = include_str!("../../scenes/cloth-cape.toml");
        let skirt = include_str!("../../scenes/cloth-skirt.toml");
        let left_out = |text: &str| text.contains("bodies_except") || text.contains("beside");
        assert!(!left_out(cape) && !left_out(skirt), "arms too");
        let cases = [(cape, "hero/cape", "hero/figure"), (skirt, "dancer/skirt", "dancer/figure")];
        for (text, garment, body) in cases {
            let seen = watch(text, garment, body, 60);
            // Nothing goes through; the sign of a distance may err for a vertex beside a sharp edge.
            assert!(seen.crossings == 0 && seen.inside <= 1, "{garment}: {seen:?}");
            // Cloth that a limb hits is drawn out rather than passed through.
            assert!(seen.stretch < 0.03, "{garment}: {seen:?}");
        }
    }
}
