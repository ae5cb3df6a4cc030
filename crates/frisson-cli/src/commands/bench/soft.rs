//! Soft bodies: steps per second with contacts, extraction of a surface.

use frisson::geometry::Bounds;
use frisson::layers::LayerParams;
use frisson::layers::soft::{DoughParams, SoftObject, SoftParams};
use frisson::stage::{
    ActorSet, Clock, ColliderParams, ColliderSet, ColliderShape, Forces, NoObserver, Rate, Stage,
};
use glam::Vec3;

use super::{BenchOptions, Table};
use crate::failure::Failure;

/// Measures.
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, Failure> {
    Ok(vec![stepping(options)?, extraction(options)?])
}

/// Heaps of dough on a table, side by side: equal density, contacts with the table and each other.
fn heaps(count: usize) -> Vec<SoftObject> {
    let per_heap = 25;
    (0..count.div_ceil(per_heap))
        .map(|heap| {
            let (row, column) = ((heap / 8) as f64, (heap % 8) as f64);
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

fn build(objects: Vec<SoftObject>, cell: f64, fps: u32) -> Result<Stage, Failure> {
    let floor = ColliderParams {
        name: "floor".to_owned(),
        shape: ColliderShape::Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] },
        actor: None,
        joint: None,
        friction: 0.5,
        move_x: Default::default(),
        move_y: Default::default(),
        move_z: Default::default(),
    };
    let fail = |e: &dyn std::fmt::Display| Failure::input(e.to_string());
    let actors = ActorSet::new(vec![]);
    let colliders = ColliderSet::new(&[floor], &actors, f64::from(fps)).map_err(|e| fail(&e))?;
    let mut params = SoftParams::new("soft", objects);
    params.cell = Some(cell);
    params.seeds = 64;
    let clock = Clock::new(Rate::whole(fps), 0, 1_000_000);
    let forces = Forces::new(Vec3::Y * -9.81, vec![], f64::from(fps));
    Stage::new(clock, actors, colliders, forces, &[LayerParams::Soft(params)]).map_err(|e| fail(&e))
}

fn stepping(options: &BenchOptions) -> Result<Table, Failure> {
    let mut table = Table::new(
        "Soft bodies: heaps of dough on a table, 64 seeds a primitive",
        &["primitives", "tick [ms]", "ticks/s", "us per primitive"],
    );
    let sizes: &[usize] = if options.quick { &[100, 400] } else { &[100, 300, 1000] };
    for &count in sizes {
        // A cell as large as the scene: the surface costs next to nothing, ticks are measured.
        let mut stage = build(heaps(count), 1.0, 120)?;
        for _ in 0..5 {
            stage.advance_frame(&mut NoObserver).map_err(|e| Failure::input(e.to_string()))?;
        }
        let seconds = options.median_seconds(|| {
            let _ = stage.advance_frame(&mut NoObserver);
        });
        table.row([
            count.to_string(),
            format!("{:.1}", 1e3 * seconds),
            format!("{:.1}", 1.0 / seconds),
            format!("{:.0}", 1e6 * seconds / count as f64),
        ]);
    }
    table.note("a tick is 1/120 s and takes as many steps as its stiffness needs");
    Ok(table)
}

fn extraction(options: &BenchOptions) -> Result<Table, Failure> {
    let mut table = Table::new(
        "Soft bodies: surface of one blended body, sampling included",
        &["primitives", "triangles", "with surface [ms]", "without [ms]", "extraction [ms]"],
    );
    let sizes: &[(usize, f64)] =
        if options.quick { &[(50, 0.008)] } else { &[(50, 0.008), (200, 0.008)] };
    for &(count, cell) in sizes {
        let object = |spacing: f64| {
            let mut object = SoftObject::new("body", 0.05);
            let side = (count as f64).cbrt().ceil() as usize;
            let at = |i: usize| [i % side, i / side % side, i / side / side];
            let points = (0..count)
                .map(|i| at(i).map(|v| spacing * v as f64))
                .map(|[x, y, z]| [x, y + 1.0, z])
                .collect();
            object.dough = Some(DoughParams { points, ..DoughParams::default() });
            object
        };
        let mut fine = build(vec![object(0.1)], cell, 120)?;
        let mut coarse = build(vec![object(0.1)], 5.0, 120)?;
        let with = options.median_seconds(|| {
            let _ = fine.advance_frame(&mut NoObserver);
        });
        let without = options.median_seconds(|| {
            let _ = coarse.advance_frame(&mut NoObserver);
        });
        let mesh = &fine.frame().meshes[0];
        debug_assert!(Bounds::of(&mesh.positions).diagonal() > 0.0);
        table.row([
            count.to_string(),
            mesh.topology.triangles.len().to_string(),
            format!("{:.1}", 1e3 * with),
            format!("{:.1}", 1e3 * without),
            format!("{:.1}", 1e3 * (with - without)),
        ]);
    }
    Ok(table)
}
