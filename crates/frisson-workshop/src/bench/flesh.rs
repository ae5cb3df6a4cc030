//! Flesh beside the linear-blend skinning it is added to: 100k vertices, 50 joints, 10 elements.

use std::f32::consts::TAU;
use std::sync::Arc;
use std::time::Duration;

use frisson::character::{
    Character, CharacterMesh, Clip, Influences, Interpolation, Node, Skeleton, Skin, Track,
    TrackTarget, Transform,
};
use frisson::geometry::Mesh;
use frisson::layers::LayerParams;
use frisson::layers::flesh::FleshParams;
use frisson::stage::{Actor, ClipPlay, Clock, EARTH_GRAVITY, Forces, Rate, Setup, Simulator};
use frisson_io::bake::Timers;
use glam::{Mat4, Quat, Vec3};

use super::{BenchOptions, Table};
use crate::WorkshopError;

const VERTICES: usize = 100_000;
const LIMBS: usize = 10;
const JOINTS_PER_LIMB: usize = 5;

/// Measures.
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, WorkshopError> {
    let title = format!(
        "Flesh beside skinning: {VERTICES} vertices, {} joints, {LIMBS} elements",
        LIMBS * JOINTS_PER_LIMB
    );
    let columns = ["swinging vertices", "fps", "skinning [ms]", "flesh [ms]", "ratio", "wanted"];
    let mut table = Table::new(title, &columns);
    let frames = if options.quick { 21 } else { 61 };
    for (joints, fps) in [(3, 30), (3, 60), (5, 30), (5, 60)] {
        let (skinning, flesh) = measure(joints, fps, frames)?;
        table.row([
            format!("{} %", 100 * (joints - 1) / (JOINTS_PER_LIMB - 1)),
            fps.to_string(),
            format!("{:.3}", 1e3 * skinning),
            format!("{:.3}", 1e3 * flesh),
            format!("{:.3}", flesh / skinning),
            "0.25".to_owned(),
        ]);
    }
    table.note(format!("{} threads; the fastest tenth of {frames} frames of one run", {
        rayon::current_num_threads()
    }));
    table.note("skinning: posing and linear blending with 4 influences a vertex");
    table.note("flesh: springs of all ticks of a frame and the displacement of what swings");
    Ok(vec![table])
}

/// Elements over the first `joints` joints of each limb. Time a frame of skinning and of all flesh elements [s].
fn measure(joints: usize, fps: u32, frames: usize) -> Result<(f64, f64), WorkshopError> {
    let character = Arc::new(build_character()?);
    let play = ClipPlay { looped: true, ..ClipPlay::new(0) };
    let actor = Actor::character_named("body", character).playing(play);
    let element = |limb: usize| {
        let (from, to) = (joint_name(limb, 0), joint_name(limb, joints - 1));
        let mut params = FleshParams::new(&format!("flesh{limb}"), "body", &from, &[&to]);
        params.attenuation = frisson::layers::flesh::Attenuation::Parabola;
        LayerParams::Flesh(params)
    };
    let layers: Vec<LayerParams> = (0..LIMBS).map(element).collect();
    let clock = Clock::new(Rate::whole(fps), 0, 1_000_000);
    let forces = Forces::new(EARTH_GRAVITY, Vec::new(), f64::from(fps));
    let mut stage = Simulator::new(Setup {
        clock,
        actors: vec![actor],
        forces,
        layers: layers.to_vec(),
        ..Setup::default()
    })
    .map_err(WorkshopError::of)?;
    let (mut skinning, mut flesh) = (Vec::new(), Vec::new());
    for frame in 0..frames + 3 {
        let mut watch = Timers::new(LIMBS);
        stage.advance_frame(&mut watch).map_err(WorkshopError::of)?;
        if frame >= 3 {
            skinning.push(watch.actors.as_secs_f64());
            flesh.push(watch.layers.iter().sum::<Duration>().as_secs_f64());
        }
    }
    // The fastest tenth: what other programs take from the machine is not what is measured.
    let fast = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 10]
    };
    Ok((fast(&mut skinning), fast(&mut flesh)))
}

fn joint_name(limb: usize, joint: usize) -> String {
    format!("limb{limb}_{joint}")
}

/// Ten limbs of five joints around a middle, each a tube of 10k vertices.
fn build_character() -> Result<Character, WorkshopError> {
    let mut nodes = Vec::new();
    let (mut positions, mut lists, mut inverse_bind) = (Vec::new(), Vec::new(), Vec::new());
    let per_limb = VERTICES / LIMBS;
    for limb in 0..LIMBS {
        let way = Quat::from_rotation_y(TAU * limb as f32 / LIMBS as f32);
        for joint in 0..JOINTS_PER_LIMB {
            let first = joint == 0;
            // The first joint of the first limb carries all others.
            let parent = match (limb, first) {
                (0, true) => None,
                (_, true) => Some(0),
                _ => Some(nodes.len() - 1),
            };
            let place = 0.2 * (way * Vec3::X);
            let rest = Transform::from_translation(if first { Vec3::ZERO } else { place });
            nodes.push(Node { name: joint_name(limb, joint), parent, rest });
            inverse_bind.push(Mat4::from_translation(-0.2 * joint as f32 * (way * Vec3::X)));
        }
        for v in 0..per_limb {
            let along = v as f32 / per_limb as f32;
            let angle = TAU * (v % 50) as f32 / 50.0;
            let p = Vec3::new(0.8 * along, 0.08 * angle.cos(), 0.08 * angle.sin());
            positions.push(way * p);
            let at = along * (JOINTS_PER_LIMB - 1) as f32;
            let weight = |k: usize| 1.0 / (0.3 + (at - k as f32).abs());
            let near = (at as usize).min(1);
            let joint = |k: usize| ((JOINTS_PER_LIMB * limb + near + k) as u16, weight(near + k));
            lists.push((0..4).map(joint).collect::<Vec<(u16, f32)>>());
        }
    }
    let joints = nodes.len();
    let skeleton = Skeleton::new(nodes).map_err(WorkshopError::of)?;
    let mesh = CharacterMesh::skinned(
        Mesh::new("body", positions, Vec::new()),
        Influences::from_lists(&lists),
    );
    let skin = Skin { name: "skin".to_owned(), joints: (0..joints).collect(), inverse_bind };
    Ok(Character {
        name: "body".to_owned(),
        skeleton,
        skins: vec![skin],
        meshes: vec![mesh],
        clips: vec![Clip { name: "move".to_owned(), tracks: (0..joints).map(swing).collect() }],
    })
}

/// A joint that turns to and fro, keyed at 30 Hz over two seconds.
fn swing(joint: usize) -> Track {
    let times: Vec<f32> = (0..61).map(|i| i as f32 / 30.0).collect();
    let turn = |t: &f32| {
        let angle = 0.2 * (TAU * t * (1 + joint % 3) as f32 + joint as f32).sin();
        Quat::from_rotation_z(angle).to_array()
    };
    Track {
        target: TrackTarget::Rotation(joint),
        interpolation: Interpolation::Linear,
        values: times.iter().flat_map(turn).collect(),
        times,
        width: 4,
    }
}
