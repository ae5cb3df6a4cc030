//! One hair layer to look into, and the heads and ceilings that it grows on.

mod chain;
mod contract;
mod ears;
mod grooms;
mod interactions;
mod laws;
mod look;
mod presets;
mod splits;
mod strands;
mod styles;
mod whole;
mod wisp;

use glam::{Quat, Vec3};

use super::rest::HairRest;
use super::scratch::HairScratch;
use super::state::HairState;
use super::strands::StrandInput;
use super::{HairLayer, HairParams};
use crate::geometry::Mesh;
use crate::layers::LayerParams;
use crate::layers::harness::Alone;
use crate::layers::moved::moved;
use crate::stage::{
    Actor, ActorSet, Anchor, Clock, ColliderParams, ColliderSet, ColliderShape, ForceParams,
    Forces, Frame, KeyedTransform, Rate, RunningLayer as _, Setup, SimulatorError, StepContext,
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

    /// All hairs as they are at present, drawn afresh, among meshes only.
    pub fn drawn(&self, air_is_known: bool) -> Vec<Vec3> {
        let mut scratch = HairScratch::default();
        scratch.surfaces.show((self.params(), self.rest()), self.frame());
        super::show::deal_to_roots(self.rest(), self.state(), &mut scratch);
        let input = self.strand_input(&mut scratch);
        let air = if air_is_known { input.air } else { &[] };
        let mut points = vec![Vec3::ZERO; self.points().len()];
        let input = StrandInput { air, ..input };
        super::strands::write_strands(&input, &mut Vec::new(), &mut points, &mut []);
        points
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

/// A closed box around a place, facing outwards.
pub(super) fn slab(center: Vec3, half: Vec3) -> Mesh {
    let corner = |k: u32| {
        let side = |bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        center + half * Vec3::new(side(0), side(1), side(2))
    };
    let sides =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = sides.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Mesh::new("scalp", (0..8).map(corner).collect(), triangles)
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

pub(super) fn banging(t: f64) -> (Quat, Vec3) {
    let angle = (0.9 * (2.0 * std::f64::consts::PI * 1.5 * t).sin()) as f32;
    let pivot = Vec3::new(0.0, -0.15, 0.0);
    let turn = Quat::from_rotation_x(angle);
    (turn, pivot - turn * pivot)
}

/// A head that is banged for a second and then still.
pub(super) fn banged() -> Scene {
    let mut scene = head_of_hair(40);
    scene.params.body.meshes = vec!["scalp".to_owned()];
    scene.colliders.clear();
    scene.path = path(6.0, |t| {
        // Whole periods of 1.5 Hz fit into four thirds of a second.
        if t < 4.0 / 3.0 { banging(t) } else { (Quat::IDENTITY, Vec3::ZERO) }
    });
    scene
}
