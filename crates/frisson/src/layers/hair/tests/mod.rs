//! Laws of the layer as a whole.

mod ears;
mod grooms;
mod interactions;
mod laws;
mod presets;
mod splits;
mod strands;
mod styles;

use glam::{Quat, Vec3};

use super::rest::HairRest;
use super::scratch::HairScratch;
use super::state::HairState;
use super::strands::StrandInput;
use super::{HairLayer, HairParams};
use crate::geometry::Mesh;
use crate::layers::LayerParams;
use crate::layers::harness::{Alone, check_rates, check_same_bits};
use crate::layers::moved::moved;
use crate::stage::{
    Actor, ActorSet, Anchor, Animated, Clock, ColliderParams, ColliderSet, ColliderShape,
    ForceParams, Forces, Frame, KeyedTransform, Rate, RunningLayer as _, Setup, SimulatorError,
    StepContext,
};

/// One hair layer whose inside can be looked at.
pub(super) struct Rig {
    pub alone: Alone<HairLayer>,
    forces: Forces,
}

impl Rig {
    pub fn new(scene: Scene) -> Result<Self, SimulatorError> {
        Self::of(scene.setup())
    }

    pub fn of(setup: Setup) -> Result<Self, SimulatorError> {
        let forces = setup.forces.clone();
        Ok(Self { alone: Alone::new(setup)?, forces })
    }

    /// Advances one output frame.
    pub fn advance(&mut self) {
        self.alone.frames(1);
    }

    pub fn state(&self) -> &HairState {
        self.alone.state()
    }

    pub fn state_mut(&mut self) -> &mut HairState {
        self.alone.state_mut()
    }

    pub fn rest(&self) -> &HairRest {
        self.alone.rest()
    }

    pub fn params(&self) -> &HairParams {
        self.alone.layer().params()
    }

    pub fn frame(&self) -> &Frame {
        self.alone.frame()
    }

    pub fn points(&self) -> &[Vec3] {
        &self.frame().curves[0].points
    }

    /// Advances the layer alone by a tick, on a frame that stands still at the start.
    pub fn advance_on(&mut self, frame: &Frame) {
        let clock = *self.alone.simulator.clock();
        let forces = self.forces.clone();
        let context = StepContext {
            clock: &clock,
            frame: 0,
            time: clock.tick_time(1),
            dt: clock.tick_seconds(),
            is_output: false,
            surfaces_wanted: false,
            actors: &ActorSet::new(Vec::new()),
            colliders: &ColliderSet::default(),
            forces: &forces,
        };
        self.alone.layer_mut().advance(&context, frame).unwrap();
    }

    /// What the strands are made from at present.
    pub fn strand_input<'a>(&'a self, scratch: &'a mut HairScratch) -> StrandInput<'a> {
        let mesh = &self.frame().meshes[0];
        scratch.places.find(self.rest(), mesh).unwrap();
        let of = (self.params(), self.rest());
        super::show::strand_input(of, self.state(), scratch, mesh)
    }
}

/// What a rig is built from.
pub(super) struct Scene {
    pub params: HairParams,
    pub mesh: Mesh,
    pub path: KeyedTransform,
    pub colliders: Vec<ColliderParams>,
    pub gravity: Vec3,
    pub fields: Vec<ForceParams>,
    pub fps: u32,
    /// Deforms the skin, instead of the path: place, time.
    pub deform: Option<fn(Vec3, f64) -> Vec3>,
}

impl Scene {
    pub fn new(params: HairParams, mesh: Mesh) -> Self {
        Self {
            params: HairParams { on: "scalp".to_owned(), ..params },
            mesh,
            path: KeyedTransform::default(),
            colliders: Vec::new(),
            gravity: Vec3::new(0.0, -9.81, 0.0),
            fields: Vec::new(),
            fps: 30,
            deform: None,
        }
    }

    /// All that a simulator is made from.
    pub fn setup(self) -> Setup {
        let actor = match self.deform {
            Some(deform) => moved(self.mesh, deform),
            None => Actor::meshes_named("scalp", vec![self.mesh]).along(self.path),
        };
        Setup {
            clock: Clock::new(Rate::whole(self.fps), 0, 1000),
            actors: vec![actor],
            colliders: self.colliders,
            forces: Forces::new(self.gravity, self.fields, f64::from(self.fps)),
            layers: vec![LayerParams::Hair(self.params)],
            ..Setup::default()
        }
    }
}

/// A square in the plane y = 0, facing down.
pub(super) fn ceiling(half: f32) -> Mesh {
    let corner = |x: f32, z: f32| Vec3::new(x * half, 0.0, z * half);
    let positions =
        vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    Mesh::new("scalp", positions, vec![[0, 1, 2], [0, 2, 3]])
}

/// A ball at the origin.
pub(super) fn ball(radius: f32, rings: u32) -> Mesh {
    let sectors = 2 * rings;
    let mut positions = vec![Vec3::Y * radius];
    for r in 1..rings {
        let (s, c) = (std::f32::consts::PI * r as f32 / rings as f32).sin_cos();
        for k in 0..sectors {
            let (a, b) = (std::f32::consts::TAU * k as f32 / sectors as f32).sin_cos();
            positions.push(radius * Vec3::new(s * b, c, -s * a));
        }
    }
    positions.push(-Vec3::Y * radius);
    let last = positions.len() as u32 - 1;
    let at = |r: u32, k: u32| 1 + (r - 1) * sectors + k % sectors;
    let mut triangles = Vec::new();
    for k in 0..sectors {
        triangles.push([0, at(1, k), at(1, k + 1)]);
        triangles.push([last, at(rings - 1, k + 1), at(rings - 1, k)]);
        for r in 1..rings - 1 {
            triangles.push([at(r, k), at(r + 1, k), at(r + 1, k + 1)]);
            triangles.push([at(r, k), at(r + 1, k + 1), at(r, k + 1)]);
        }
    }
    Mesh::new("scalp", positions, triangles)
}

/// One wisp hanging from a ceiling.
pub(super) fn hanging() -> HairParams {
    let mut params = HairParams {
        at: vec![Anchor::Position([0.0; 3])],
        length_variation: 0.0,
        bending_length: 0.0,
        bending_damping: 0.0,
        drag: 0.0,
        ..HairParams::default()
    };
    params.strands.per_wisp = 20;
    params.style.settle_secs = 0.0;
    params.style.memory_hz = 0.0.into();
    params.interaction.friction = false;
    params.interaction.collisions = false;
    params
}

/// A path sampled from a function of time.
pub(super) fn path(seconds: f64, f: impl Fn(f64) -> (Quat, Vec3)) -> KeyedTransform {
    let times: Vec<f64> = (0..=(seconds * 240.0) as usize).map(|i| i as f64 / 240.0).collect();
    let (rotations, translations) = times.iter().map(|&t| f(t)).unzip();
    KeyedTransform { times, rotations, translations, ..KeyedTransform::default() }
}

#[test]
fn the_ball_and_ceiling_face_the_right_way() {
    for mesh in [ball(0.5, 8)] {
        for t in &mesh.topology.triangles {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
            assert!((b - a).cross(c - a).dot(a + b + c) > 0.0);
        }
    }
    let mesh = ceiling(1.0);
    let [a, b, c] = mesh.topology.triangles[0].map(|v| mesh.positions[v as usize]);
    assert!((b - a).cross(c - a).y < 0.0);
}

/// Horizontal swing of the tip, and the times at which it crosses zero.
fn crossings(rig: &mut Rig, frames: usize) -> Vec<f64> {
    let fps = rig.alone.simulator.clock().rate.fps();
    let mut out = Vec::new();
    let mut before = rig.state().wisps[0].positions.last().unwrap().x;
    for f in 0..frames {
        rig.advance();
        let now = rig.state().wisps[0].positions.last().unwrap().x;
        if before * now < 0.0 {
            out.push((f as f64 + f64::from(before / (before - now))) / fps);
        }
        before = now;
    }
    out
}

/// The first mode of a hanging chain: x(s) = J0(j sqrt(1 - s/L)), s from the top.
fn first_mode(height: f32) -> f32 {
    let x = 2.404_83 * height.max(0.0).sqrt();
    // J0 by its series; x stays below 2.41.
    let q = -0.25 * x * x;
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..12 {
        term *= q / (k * k) as f32;
        sum += term;
    }
    sum
}

#[test]
fn a_small_swing_has_the_period_of_a_hanging_chain() {
    for particles in [8, 12, 24] {
        let params = HairParams { particles, ..hanging() };
        let mut rig = Rig::new(Scene { fps: 120, ..Scene::new(params, ceiling(0.1)) }).unwrap();
        let top = rig.state().wisps[0].positions[1].y;
        let wisp = &mut rig.state_mut().wisps[0];
        let tip = wisp.positions.last().unwrap().y;
        let length = top - tip;
        for p in &mut wisp.positions[2..] {
            p.x = 5f32.to_radians().sin() * length * 0.5 * first_mode((p.y - tip) / length);
        }
        let crossings = crossings(&mut rig, 480);
        let period =
            2.0 * (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
        let omega = std::f64::consts::TAU / period;
        let want = 1.2024 * (9.81 / f64::from(length)).sqrt();
        let ratio = omega / want;
        assert!((ratio - 1.0).abs() < 0.02, "{particles} particles: {ratio}");
    }
}

#[test]
fn a_shake_of_ten_g_does_not_stretch_straight_hair() {
    // 4 Hz, amplitude such that the peak acceleration is 10 g.
    let omega = std::f64::consts::TAU * 4.0;
    let amplitude = 98.1 / (omega * omega);
    for (substeps, particles) in [(1, 12), (2, 12), (2, 24)] {
        let mut params = HairParams { substeps, particles, ..hanging() };
        params.bending_length = 0.05;
        let mut scene = Scene::new(params, ceiling(0.1));
        scene.path = path(2.0, |t| {
            (Quat::IDENTITY, Vec3::X * (amplitude * (1.0 - (omega * t).cos())) as f32)
        });
        let mut rig = Rig::new(scene).unwrap();
        for frame in 0..60 {
            rig.advance();
            let stretch = rig.state().worst_stretch(rig.rest());
            assert!(stretch < 0.01, "{substeps} substeps, frame {frame}: {stretch}");
        }
    }
}

#[test]
fn every_stiffness_and_step_is_stable() {
    for stretch in [0.0, 1e-3, 0.1, 10.0, 100.0] {
        for bending_length in [0.0, 0.05, 0.5, 2.0] {
            for substeps in [1, 4, 60] {
                let mut params = HairParams { stretch, bending_length, substeps, ..hanging() };
                params.particles = 8;
                let mut scene = Scene::new(params, ceiling(0.1));
                scene.path = path(1.0, |t| {
                    let angle = (9.0 * t).sin() as f32;
                    (Quat::from_rotation_z(angle), Vec3::X * (0.2 * (13.0 * t).sin()) as f32)
                });
                let mut rig = Rig::new(scene).unwrap();
                for _ in 0..20 {
                    rig.advance();
                }
                let wisp = &rig.state().wisps[0];
                let fastest = wisp.velocities.iter().map(|v| v.length()).fold(0.0, f32::max);
                let case = (stretch, bending_length, substeps);
                assert!(fastest < 60.0, "{case:?}: {fastest} m/s");
            }
        }
    }
}

#[test]
fn free_fall_keeps_the_shape_and_a_shake_does_not() {
    let fall = |t: f64| (Quat::IDENTITY, Vec3::Y * (-0.5 * 9.81 * t * t) as f32);
    let shake = |t: f64| (Quat::IDENTITY, Vec3::X * (0.05 * (18.0 * t).sin()) as f32);
    let spread = |motion: &dyn Fn(f64) -> (Quat, Vec3)| {
        let mut scene = Scene::new(hanging(), ceiling(0.1));
        scene.path = path(1.0, motion);
        let mut rig = Rig::new(scene).unwrap();
        let rest = rig.state().wisps[0].radii.clone();
        let mut worst = 0.0f32;
        for _ in 0..25 {
            rig.advance();
            let radii = &rig.state().wisps[0].radii;
            let changes = radii.iter().zip(&rest).map(|(a, b)| (a / b - 1.0).abs());
            worst = worst.max(changes.fold(0.0, f32::max));
        }
        worst
    };
    let (falling, shaken) = (spread(&fall), spread(&shake));
    assert!(falling < 0.01, "{falling}");
    assert!(shaken > 0.05, "{shaken}");
}

#[test]
fn pressing_the_envelope_pushes_the_skeleton() {
    let press = |squeeze: bool| {
        let mut scene = Scene::new(hanging(), ceiling(0.1));
        scene.gravity = Vec3::ZERO;
        let mut rig = Rig::new(scene).unwrap();
        if squeeze {
            let wisp = &mut rig.state_mut().wisps[0];
            for plane in 6..10 {
                wisp.radii[plane * 4] *= 0.3;
            }
        }
        rig.advance();
        let wisp = &rig.state().wisps[0];
        (wisp.positions[8], wisp.across[8])
    };
    let ((free, _), (pushed, axis)) = (press(false), press(true));
    let moved = (pushed - free).dot(axis);
    assert!(moved < -1e-4, "moved by {moved} along the pressed half-axis");
}

#[test]
fn a_teleport_carries_the_hair_along() {
    let mut scene = Scene::new(hanging(), ceiling(0.1));
    scene.path = path(1.0, |t| (Quat::IDENTITY, Vec3::X * if t < 0.5 { 0.0 } else { 30.0 }));
    let mut rig = Rig::new(scene).unwrap();
    let mut fastest = 0.0f32;
    for _ in 0..25 {
        rig.advance();
        let wisp = &rig.state().wisps[0];
        fastest = wisp.velocities[2..].iter().map(|v| v.length()).fold(fastest, f32::max);
    }
    assert!(rig.state().teleports > 0);
    assert!(fastest < 20.0, "{fastest}");
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let refuse = |change: &dyn Fn(&mut Scene)| {
        let mut scene = Scene::new(hanging(), ceiling(0.1));
        change(&mut scene);
        match Rig::new(scene) {
            Ok(_) => panic!("accepted"),
            Err(error) => error.to_string(),
        }
    };
    let message = refuse(&|s| s.params.length = 0.0);
    assert!(message.contains("length"), "{message}");
    let message = refuse(&|s| s.params.on = "scalpp".to_owned());
    assert!(message.contains("did you mean \"scalp\""), "{message}");
    let message = refuse(&|s| s.params.scalp.r#box = Some([5.0, 5.0, 5.0, 6.0, 6.0, 6.0]));
    assert!(message.contains("nowhere to grow"), "{message}");
    let message = refuse(&|s| {
        s.params.at.clear();
        s.params.wisps = 100_000;
        s.params.strands.per_wisp = 100_000;
        s.params.strands.points = 200;
    });
    assert!(message.contains("GB"), "{message}");
    let message = refuse(&|s| {
        s.colliders.push(collider(ColliderShape::Sphere { center: [0.0; 3], radius: 0.5 }));
    });
    assert!(message.contains("swallows"), "{message}");
}

pub(super) fn collider(shape: ColliderShape) -> ColliderParams {
    ColliderParams { name: "body".to_owned(), shape, friction: 0.3, ..ColliderParams::default() }
}

pub(super) fn head_of_hair(wisps: u32) -> Scene {
    let mut params = HairParams { wisps, ..HairParams::default() };
    params.scalp.r#box = Some([-1.0, 0.02, -1.0, 1.0, 1.0, 1.0]);
    params.strands.per_wisp = 30;
    let mut scene = Scene::new(params, ball(0.1, 24));
    let shape = ColliderShape::Sphere { center: [0.0; 3], radius: 0.0995 };
    scene.colliders.push(collider(shape));
    scene
}

#[test]
fn styled_hair_at_rest_does_not_move() {
    let mut rig = Rig::new(head_of_hair(40)).unwrap();
    let start: Vec<Vec<Vec3>> = rig.state().wisps.iter().map(|w| w.positions.clone()).collect();
    let mut worst = 0.0f32;
    for _ in 0..60 {
        rig.advance();
        for (wisp, start) in rig.state().wisps.iter().zip(&start) {
            let moved = wisp.positions.iter().zip(start).map(|(a, b)| a.distance(*b));
            worst = moved.fold(worst, f32::max);
        }
    }
    assert!(worst < 1e-3, "moved {worst} m; {:?}", rig.rest().warnings);
}

pub(super) fn banging(t: f64) -> (Quat, Vec3) {
    let angle = (0.9 * (2.0 * std::f64::consts::PI * 1.5 * t).sin()) as f32;
    let pivot = Vec3::new(0.0, -0.15, 0.0);
    let turn = Quat::from_rotation_x(angle);
    (turn, pivot - turn * pivot)
}

#[test]
fn no_hair_is_inside_the_head_after_head_banging() {
    let mut scene = head_of_hair(30);
    scene.path = path(5.0, banging);
    // The head's collider moves with it.
    let shape = ColliderShape::Sphere { center: [0.0; 3], radius: 0.0995 };
    let keys = |axis: usize| {
        let at = |f: i32| (f64::from(f) * 0.25, f64::from(banging(f64::from(f) / 120.0).1[axis]));
        Animated::Keys((0..=600).map(at).collect())
    };
    scene.colliders = vec![ColliderParams {
        move_x: keys(0),
        move_y: keys(1),
        move_z: keys(2),
        ..collider(shape.clone())
    }];
    let mut rig = Rig::new(scene).unwrap();
    for frame in 0..150 {
        rig.advance();
        let time = f64::from(frame + 1) / 30.0;
        let center = banging(time).1;
        let deepest = rig
            .points()
            .iter()
            .map(|&p| shape.signed_distance(p - center).0)
            .fold(f32::INFINITY, f32::min);
        assert!(deepest > -2e-4, "frame {frame}: {deepest}");
    }
}

#[test]
fn motion_hardly_depends_on_the_tick() {
    let run = |tick_hz: u32| {
        let mut scene = head_of_hair(12);
        scene.path = path(2.0, |t| {
            let angle = (0.5 * (5.0 * t).sin()) as f32;
            (Quat::from_rotation_y(angle), Vec3::X * (0.05 * (4.0 * t).sin()) as f32)
        });
        scene.colliders.clear();
        let mut setup = scene.setup();
        setup.clock.tick_hz = tick_hz;
        let mut rig = Rig::of(setup).unwrap();
        let mut out = Vec::new();
        for frame in 1..=30 {
            rig.advance();
            if frame % 5 == 0 {
                out.extend(rig.state().wisps.iter().flat_map(|w| w.positions.clone()));
            }
        }
        out
    };
    let (whole, half) = (run(120), run(240));
    let sum: f32 = whole.iter().zip(&half).map(|(a, b)| a.distance_squared(*b)).sum();
    let rms = (sum / whole.len() as f32).sqrt();
    assert!(rms < 0.02 * 0.3, "{rms}");
}

/// Everything that evolves at once: a moving head with a collider and its own mesh to meet, wind with
/// shelter, splits and merges, ties, velocities.
fn busy() -> Scene {
    let mut scene = head_of_hair(40);
    scene.params.split.max_growth = 2.0;
    scene.params.split.ratio = 1.6;
    scene.params.body.meshes = vec!["scalp".to_owned()];
    scene.params.strands.velocities = true;
    scene.path = path(4.0, banging);
    scene.fields.push(ForceParams::Wind {
        direction: [1.0, 0.0, 0.3],
        speed: 4.0.into(),
        gust: 0.5,
        gust_hz: 1.0,
        gust_size: 0.3,
        seed: 1,
    });
    scene
}

#[test]
fn the_same_bits_on_any_threads_after_a_resume_and_without_scratch() {
    check_same_bits::<HairLayer>(&busy().setup(), 12);
}

#[test]
fn the_same_motion_at_every_frame_rate() {
    let mut scene = busy();
    scene.params.wisps = 12;
    scene.params.strands.velocities = false;
    check_rates(&scene.setup(), 2);
}

#[test]
fn the_far_side_does_not_fly_more_than_the_near_side() {
    let run = |shadow: f32| {
        let mut scene = head_of_hair(60);
        scene.params.wind_shadow = shadow;
        scene.params.length = 0.2;
        scene.fields.push(ForceParams::Wind {
            direction: [1.0, 0.0, 0.0],
            speed: 6.0.into(),
            gust: 0.0,
            gust_hz: 1.0,
            gust_size: 1.0,
            seed: 0,
        });
        let mut rig = Rig::new(scene).unwrap();
        let start: Vec<Vec3> =
            rig.state().wisps.iter().map(|w| *w.positions.last().unwrap()).collect();
        let (mut near, mut far) = ((0.0f32, 0), (0.0f32, 0));
        for _ in 0..10 {
            rig.advance();
        }
        for (wisp, start) in rig.state().wisps.iter().zip(start) {
            let moved = wisp.positions.last().unwrap().x - start.x;
            let side = if wisp.positions[1].x < 0.0 { &mut near } else { &mut far };
            *side = (side.0 + moved, side.1 + 1);
        }
        (near.0 / near.1 as f32, far.0 / far.1 as f32)
    };
    let (near, far) = run(1.0);
    assert!(near > 0.0 && far < near, "near {near}, far {far}");
    let (open_near, open_far) = run(0.0);
    assert!(far / near < open_far / open_near, "{far} {near} {open_far} {open_near}");
}

#[test]
fn torsion_lags_behind_a_turned_root_and_comes_back() {
    let mut scene = Scene::new(hanging(), ceiling(0.1));
    scene.path = path(4.0, |t| {
        let angle = (1.5 * (8.0 * t).min(1.0)) as f32;
        (Quat::from_rotation_y(angle), Vec3::ZERO)
    });
    let mut rig = Rig::new(scene).unwrap();
    let mut most = 0.0f32;
    for _ in 0..90 {
        rig.advance();
        most = most.max(rig.state().wisps[0].twists.last().unwrap().abs());
    }
    let left = rig.state().wisps[0].twists.last().unwrap().abs();
    assert!(most > 0.1, "{most}");
    assert!(left < 0.1 * most, "{left} of {most}");
}

#[test]
fn wet_hair_is_thinner() {
    let run = |wetness: f64| {
        let mut scene = Scene::new(hanging(), ceiling(0.1));
        scene.params.wetness = wetness.into();
        let mut rig = Rig::new(scene).unwrap();
        for _ in 0..30 {
            rig.advance();
        }
        let radii = &rig.state().wisps[0].radii;
        radii[8..].iter().sum::<f32>() / (radii.len() - 8) as f32
    };
    assert!(run(1.0) < 0.6 * run(0.0));
}

#[test]
fn a_wet_scalp_makes_hair_thinner_and_heavier() {
    // Thickness, and speed at which wind carries the tip, of hair on a dry and on a wet scalp.
    let run = |wetness: f32| {
        let mut scene = Scene::new(hanging(), ceiling(0.1));
        scene.params.drag = 4.0;
        scene.fields.push(ForceParams::Wind {
            direction: [1.0, 0.0, 0.0],
            speed: 3.0.into(),
            gust: 0.0,
            gust_hz: 1.0,
            gust_size: 1.0,
            seed: 0,
        });
        let mut rig = Rig::new(scene).unwrap();
        let mut frame = rig.frame().clone();
        frame.meshes[0].channels.wetness = vec![wetness; frame.meshes[0].positions.len()];
        for _ in 0..24 {
            rig.advance_on(&frame);
        }
        let wisp = &rig.state().wisps[0];
        let radius = wisp.radii[8..].iter().sum::<f32>() / (wisp.radii.len() - 8) as f32;
        (radius, wisp.positions.last().unwrap().x)
    };
    let ((dry_radius, dry_blown), (wet_radius, wet_blown)) = (run(0.0), run(1.0));
    assert!(wet_radius < 0.7 * dry_radius, "{wet_radius} {dry_radius}");
    assert!(wet_blown > 0.0 && wet_blown < 0.8 * dry_blown, "{wet_blown} {dry_blown}");
}

#[test]
fn guides_are_taken_as_the_pose_and_held() {
    let mut scene = Scene::new(hanging(), ceiling(0.1));
    scene.params.bending_length = 0.15;
    // A quarter circle from the ceiling out to the side.
    let guide: Vec<[f32; 3]> = (0..=20)
        .map(|i| {
            let (s, c) = (std::f32::consts::FRAC_PI_2 * i as f32 / 20.0).sin_cos();
            [0.12 * (1.0 - c), -0.12 * s, 0.0]
        })
        .collect();
    scene.params.style.guides = vec![guide];
    let mut rig = Rig::new(scene).unwrap();
    let tip = *rig.state().wisps[0].positions.last().unwrap();
    assert!((tip - Vec3::new(0.12, -0.12, 0.0)).length() < 0.01, "{tip}");
    for _ in 0..60 {
        rig.advance();
    }
    let moved = rig.state().wisps[0].positions.last().unwrap().distance(tip);
    assert!(moved < 1e-3, "{moved}; {:?}", rig.rest().warnings);
}

#[test]
fn guides_off_the_scalp_are_said_to_be() {
    let warnings = |height: f32| {
        let mut scene = Scene::new(hanging(), ceiling(0.1));
        scene.params.style.guides = vec![vec![[0.0, height, 0.0], [0.0, height - 0.2, 0.0]]];
        Rig::new(scene).unwrap().rest().warnings.clone()
    };
    assert!(warnings(0.005).is_empty(), "{:?}", warnings(0.005));
    assert!(
        warnings(-0.15)[0].contains("off the scalp, the worst 15.0 cm"),
        "{:?}",
        warnings(-0.15)
    );
}
