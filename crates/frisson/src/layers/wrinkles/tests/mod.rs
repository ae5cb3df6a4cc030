//! The whole layer on sheets that are squeezed by a prescribed motion.

mod contract;
mod curve;

use glam::Vec3;

use super::*;
use crate::geometry::Mesh;
use crate::layers::LayerParams;
use crate::layers::moved::{self, CELLS, bend, crossings, run, sheet, sheet_vertex as vertex};
use crate::stage::{Actor, Anchor, Simulator, SimulatorError, from_snapshot};

fn params(tools: Vec<WrinkleTool>, emit: Emit) -> WrinklesParams {
    WrinklesParams {
        name: "wrinkles".to_owned(),
        on: "sheet".to_owned(),
        tools,
        max_level: 4,
        emit,
        guard: true,
        attributes: true,
    }
}

/// The sheet, its x axis shrunk by `squeeze(t)`.
fn stage(
    tools: Vec<WrinkleTool>,
    emit: Emit,
    squeeze: fn(f64) -> f32,
) -> Result<Simulator, SimulatorError> {
    let actor = moved::moved(sheet(), move |p, t| Vec3::new(p.x * squeeze(t), p.y, p.z));
    moved::stage(vec![actor], &[LayerParams::Wrinkles(params(tools, emit))])
}

/// Shrinks to 70% within a second.
fn squeeze(t: f64) -> f32 {
    1.0 - 0.3 * t as f32
}

fn tool() -> WrinkleTool {
    let mut tool = WrinkleTool::new("t", vertex(2, 10), vertex(18, 10), 0.3);
    tool.folds = 4;
    tool
}

#[test]
fn the_mesh_itself_keeps_the_length() {
    let mut stage = stage(vec![tool()], Emit::Static, squeeze).unwrap();
    let mesh = run(&mut stage, 30);
    let (low, high) = (0.1 * 0.7 - 1e-4, 0.9 * 0.7 + 1e-4);
    let on_line = |p: &&Vec3| (p.z - 0.5).abs() < 1e-5 && p.x >= low && p.x <= high;
    let mut line: Vec<Vec3> = mesh.positions.iter().filter(on_line).copied().collect();
    line.sort_by(|a, b| a.x.total_cmp(&b.x));
    let length: f32 = line.windows(2).map(|w| w[0].distance(w[1])).sum();
    assert!((length / 0.8 - 1.0).abs() < 0.05, "{length} of 0.8");
    assert!(line.iter().any(|p| p.y > 0.02));
}

#[test]
fn without_compression_nothing_changes() {
    let still = |_: f64| 1.0;
    let mut adaptive = stage(vec![tool()], Emit::Adaptive, still).unwrap();
    let mesh = run(&mut adaptive, 3);
    assert_eq!(mesh.positions, sheet().positions);
    assert_eq!(mesh.topology.triangles, sheet().topology.triangles);
    let mut fixed = stage(vec![tool()], Emit::Static, still).unwrap();
    let mesh = run(&mut fixed, 3);
    assert!(mesh.positions.len() > sheet().positions.len());
    assert!(mesh.positions.iter().all(|p| p.y == 0.0));
}

#[test]
fn superposed_tools_add() {
    let across = || {
        let mut t = WrinkleTool::new("u", vertex(4, 8), vertex(16, 12), 0.25);
        t.folds = 3;
        t
    };
    let both = run(&mut stage(vec![tool(), across()], Emit::Static, squeeze).unwrap(), 30);
    let first = run(&mut stage(vec![tool()], Emit::Static, squeeze).unwrap(), 30);
    let second = run(&mut stage(vec![across()], Emit::Static, squeeze).unwrap(), 30);
    let mut moved = 0;
    for v in 0..(CELLS + 1) * (CELLS + 1) {
        let sum = first.positions[v].y + second.positions[v].y;
        assert!((both.positions[v].y - sum).abs() < 1e-6);
        moved += usize::from(first.positions[v].y != 0.0 && second.positions[v].y != 0.0);
    }
    assert!(moved > 5);
}

/// Places of the vertices in the coarse mesh: what static and adaptive meshes share.
fn by_origin(mesh: &Mesh) -> std::collections::BTreeMap<Vec<(u32, u32)>, Vec3> {
    let coarse = sheet().positions.len() as u32;
    let mut all = std::collections::BTreeMap::new();
    for v in 0..mesh.positions.len() as u32 {
        let mut key = vec![(v, 1f32.to_bits())];
        if let (Some(new), Some(ancestry)) = (v.checked_sub(coarse), &mesh.topology.ancestry) {
            let (corners, shares) = ancestry.made_of[new as usize];
            let pairs = corners.iter().zip(shares).filter(|(_, s)| *s > 0.0);
            key = pairs.map(|(c, s)| (*c, s.to_bits())).collect();
            key.sort_unstable();
        }
        all.insert(key, mesh.positions[v as usize]);
    }
    all
}

#[test]
fn static_and_adaptive_agree_where_both_have_a_vertex() {
    // One tool is pressed, one that is finer keeps its full length, and they overlap: triangles of both
    // are cut finer in the static mesh.
    let tools = || {
        let mut across = WrinkleTool::new("u", vertex(10, 4), vertex(10, 16), 0.2);
        across.folds = 9;
        vec![tool(), across]
    };
    let shaped = |p: Vec3, t: f64| Vec3::new(p.x * squeeze(t), 0.2 * p.x * p.x, p.z);
    let mesh = |emit: Emit, frames: usize| {
        let layer = LayerParams::Wrinkles(params(tools(), emit));
        run(&mut moved::stage(vec![moved::moved(sheet(), shaped)], &[layer]).unwrap(), frames)
    };
    for frames in [0, 1, 2, 5, 20, 30] {
        let (fixed, adaptive) = (mesh(Emit::Static, frames), mesh(Emit::Adaptive, frames));
        let (fixed, adaptive) = (by_origin(&fixed), by_origin(&adaptive));
        assert!(fixed.len() > adaptive.len() + 100, "{} {}", fixed.len(), adaptive.len());
        for (key, place) in &adaptive {
            assert_eq!(fixed.get(key), Some(place), "frame {frames}: {key:?}");
        }
    }
}

#[test]
fn switching_on_does_not_pop() {
    // Compression starts in the middle of the shot.
    let late = |t: f64| 1.0 - 0.1 * ((t - 0.5).max(0.0) as f32).powi(2);
    let mut stage = stage(vec![tool()], Emit::Static, late).unwrap();
    let mut before = run(&mut stage, 1);
    for _ in 0..29 {
        let now = run(&mut stage, 1);
        let jump = now.positions.iter().zip(&before.positions);
        let jump = jump.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        // Folds ease in: from one frame to the next by less than the fastest they rise later.
        assert!(jump < 0.006, "{jump}");
        before = now;
    }
}

#[test]
fn forced_length_folds_without_compression() {
    let mut t = tool();
    t.rest = RestLength::Length(1.0);
    let mesh = run(&mut stage(vec![t], Emit::Static, |_| 1.0).unwrap(), 1);
    assert!(mesh.positions.iter().any(|p| p.y > 0.03));
}

#[test]
fn curved_tools_follow_their_points() {
    let mut t = WrinkleTool::new("bow", vertex(2, 4), vertex(18, 4), 0.15);
    t.through = vec![Anchor::Vertex(vertex(6, 9)), Anchor::Vertex(vertex(14, 9))];
    let mesh = run(&mut stage(vec![t], Emit::Static, squeeze).unwrap(), 30);
    let raised = |x: f32, z: f32| {
        let near = |p: &&Vec3| (p.x - 0.7 * x).abs() < 0.1 && (p.z - z).abs() < 0.08;
        mesh.positions.iter().filter(near).map(|p| p.y).fold(0.0, f32::max)
    };
    assert!(raised(0.5, 0.45) > 0.005, "on the bow: {}", raised(0.5, 0.45));
    assert_eq!(raised(0.5, 0.05), 0.0, "under it");
}

#[test]
fn bad_tools_are_named() {
    let fail = |change: fn(&mut WrinkleTool)| {
        let mut t = tool();
        change(&mut t);
        match stage(vec![t], Emit::Static, squeeze) {
            Err(e) => e.to_string(),
            Ok(_) => panic!("must be refused"),
        }
    };
    assert!(fail(|t| t.b = t.a.clone()).contains("same vertex"));
    assert!(fail(|t| t.b = Anchor::Vertex(99_999)).contains("does not exist"));
    assert!(
        fail(|t| t.levels = vec![WrinkleLevel { share: 0.4, max_height: None }]).contains("sum")
    );
    assert!(fail(|t| t.width = 0.0).contains("width"));
}

#[test]
fn the_same_bits_on_one_and_two_threads() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&mut stage(vec![tool()], Emit::Static, squeeze).unwrap(), 10))
    };
    assert_eq!(on(1), on(2));
}

/// An elbow: a tube of radius 0.2 m along x that bends by 150 degrees within a second, towards +y. Its
/// inside is pressed to an eighth and both halves come to face each other, but they do not touch.
fn elbow() -> Actor {
    let (around, along, radius, bent) = (32, 72, 0.2f32, 0.6f32);
    let tube = moved::grid("sheet", along, around, |i, j| {
        let angle = std::f32::consts::TAU * (j % around) as f32 / around as f32;
        let x = 2.0 * i as f32 / along as f32 - 1.0;
        Vec3::new(x, radius * angle.cos(), radius * angle.sin())
    });
    moved::moved(tube, move |p, t| bend(p, 150f32.to_radians() * t.min(1.0) as f32, bent))
}

/// A tool along the inside of the elbow.
fn elbow_tool() -> WrinkleTool {
    let at = |x: f32| Anchor::Position([x, 0.2, 0.0]);
    let mut tool = WrinkleTool::new("inside", 0, 1, 0.15);
    (tool.a, tool.b, tool.folds) = (at(-0.5), at(0.5), 5);
    tool.through = [-0.25, 0.0, 0.25].map(at).to_vec();
    tool
}

#[test]
fn folds_in_a_closing_elbow_stay_out_of_the_facing_skin() {
    let mesh = |guard: bool, amount: f64, frames: usize| {
        let mut tool = elbow_tool();
        tool.amount = amount.into();
        let params = WrinklesParams { guard, max_level: 2, ..params(vec![tool], Emit::Static) };
        let mut stage = moved::stage(vec![elbow()], &[LayerParams::Wrinkles(params)]).unwrap();
        run(&mut stage, frames)
    };
    for frames in [20, 25, 30] {
        assert_eq!(crossings(&mesh(false, 0.0, frames)), [], "the elbow itself is sound");
        let guarded = mesh(true, 1.0, frames);
        assert_eq!(crossings(&guarded), [], "frame {frames}");
        let highest =
            guarded.scalar("wrinkle_height").unwrap().iter().fold(0.0f32, |m, h| m.max(*h));
        assert!(highest > 0.01, "there are folds all the same: {highest}");
    }
    assert!(!crossings(&mesh(false, 1.0, 30)).is_empty(), "without the guard they would meet");
}

#[test]
fn planes_of_live_tools_are_kept_in_the_state() {
    let mut live = tool();
    live.live = true;
    let mut stage = stage(vec![live], Emit::Static, squeeze).unwrap();
    run(&mut stage, 5);
    let state: WrinklesState = from_snapshot(&stage.layers()[0].save().unwrap()).unwrap();
    assert_eq!(state.planes, vec![vec![Vec3::Y]]);
}
