//! The whole layer on sheets that are squeezed by a prescribed motion.

use std::sync::Arc;

use glam::Vec3;

use super::*;
use crate::geometry::Mesh;
use crate::layers::LayerParams;
use crate::stage::{
    Actor, ActorMotion, ActorSet, Anchor, Clock, ColliderSet, Forces, MeshSequence, NoObserver,
    Placement, Rate, Stage, StageError,
};

const N: usize = 20;

/// A 1 m square sheet in the plane y = 0 whose x axis shrinks by `squeeze(t)`.
struct Sheet {
    meshes: Vec<Mesh>,
    squeeze: fn(f64) -> f32,
}

impl MeshSequence for Sheet {
    fn meshes(&self) -> &[Mesh] {
        &self.meshes
    }
    fn positions_at(&self, mesh: usize, time: f64, out: &mut Vec<Vec3>) {
        let factor = (self.squeeze)(time);
        out.clear();
        let squeezed = |p: &Vec3| Vec3::new(p.x * factor, p.y, p.z);
        out.extend(self.meshes[mesh].positions.iter().map(squeezed));
    }
}

fn sheet() -> Mesh {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    let at = |x: usize, z: usize| (z * (N + 1) + x) as u32;
    for z in 0..=N {
        for x in 0..=N {
            positions.push(Vec3::new(x as f32 / N as f32, 0.0, z as f32 / N as f32));
            if x < N && z < N {
                triangles.push([at(x, z), at(x, z + 1), at(x + 1, z)]);
                triangles.push([at(x + 1, z), at(x, z + 1), at(x + 1, z + 1)]);
            }
        }
    }
    Mesh::new("sheet", positions, triangles)
}

/// Vertex at a place of the undeformed sheet, in steps of 1/20.
fn vertex(x: usize, z: usize) -> u32 {
    (z * (N + 1) + x) as u32
}

fn stage(
    tools: Vec<WrinkleTool>,
    emit: Emit,
    squeeze: fn(f64) -> f32,
) -> Result<Stage, StageError> {
    let sequence = Sheet { meshes: vec![sheet()], squeeze };
    let motion = ActorMotion::Sequence(Arc::new(sequence));
    let actor = Actor { name: "sheet".to_owned(), motion, placement: Placement::default() };
    let params = WrinklesParams {
        name: "wrinkles".to_owned(),
        on: "sheet".to_owned(),
        tools,
        max_level: 4,
        emit,
        guard: true,
        attributes: true,
    };
    Stage::new(
        Clock::new(Rate::whole(30), 0, 30),
        ActorSet::new(vec![actor]),
        ColliderSet::default(),
        Forces::default(),
        &[LayerParams::Wrinkles(params)],
    )
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

fn run(stage: &mut Stage, frames: usize) -> Mesh {
    for _ in 0..frames {
        stage.advance_frame(&mut NoObserver).unwrap();
    }
    stage.frame().meshes[0].clone()
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
    for v in 0..(N + 1) * (N + 1) {
        let sum = first.positions[v].y + second.positions[v].y;
        assert!((both.positions[v].y - sum).abs() < 1e-6);
        moved += usize::from(first.positions[v].y != 0.0 && second.positions[v].y != 0.0);
    }
    assert!(moved > 5);
}

#[test]
fn static_and_adaptive_agree_where_both_have_a_vertex() {
    let fixed = run(&mut stage(vec![tool()], Emit::Static, squeeze).unwrap(), 20);
    let adaptive = run(&mut stage(vec![tool()], Emit::Adaptive, squeeze).unwrap(), 20);
    assert_eq!(fixed.positions.len(), adaptive.positions.len());
    assert_eq!(fixed.positions, adaptive.positions);
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
        // Heights go with the square root of the missing length, which is quadratic in time.
        assert!(jump < 0.012, "{jump}");
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
    assert!(fail(|t| t.b = t.a).contains("same vertex"));
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
