//! The whole layer.

use glam::{DVec3, Vec3};

use super::field_scratch::{FieldQuery, FieldScratch};
use super::neighbourhood::Neighbourhood;
use super::sample::Presser;
use super::*;
use crate::layers::LayerParams;
use crate::math::random;
use crate::stage::{
    ActorSet, Animated, BuildContext, Clock, ColliderParams, ColliderSet, ColliderShape, Forces,
    Frame, LayerError, NoObserver, Rate, Reference, Running, RunningLayer, Setup, Simulator,
    StepContext,
};

mod blending;
mod contacts;
mod contract;
mod fitted;
mod fusing;
mod limits;
mod pieces;
mod resting;
mod rims;
mod steps;
mod structures;
mod surfaces;
mod volumes;

/// A layer with its little world.
struct Rig {
    clock: Clock,
    actors: ActorSet,
    colliders: ColliderSet,
    forces: Forces,
    frame: Frame,
    layer: Running<SoftLayer>,
    ticks: u64,
}

fn colliders(list: &[(&str, ColliderShape)]) -> ColliderSet {
    ColliderSet::new(&collider_params(list), &ActorSet::new(vec![]), 120.0).unwrap()
}

fn collider_params(list: &[(&str, ColliderShape)]) -> Vec<ColliderParams> {
    list.iter()
        .map(|(name, shape)| ColliderParams {
            name: (*name).to_owned(),
            shape: shape.clone(),
            friction: 0.4,
            ..ColliderParams::default()
        })
        .collect()
}

fn floor_shape() -> (&'static str, ColliderShape) {
    ("floor", ColliderShape::Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] })
}

fn floor() -> ColliderSet {
    colliders(&[floor_shape()])
}

impl Rig {
    /// 120 frames a second: a frame is a tick.
    fn try_new(
        params: SoftParams,
        colliders: ColliderSet,
        gravity: f32,
    ) -> Result<Self, LayerError> {
        Self::try_in(params, colliders, gravity, Frame::default())
    }

    /// With meshes that were there before.
    fn try_in(
        params: SoftParams,
        colliders: ColliderSet,
        gravity: f32,
        frame: Frame,
    ) -> Result<Self, LayerError> {
        params.validate()?;
        let clock = Clock::new(Rate::whole(120), 0, 100_000);
        let actors = ActorSet::new(vec![]);
        let forces = Forces::new(Vec3::Y * -gravity, vec![], 120.0);
        let context = BuildContext {
            clock: &clock,
            actors: &actors,
            colliders: &colliders,
            forces: &forces,
            frame: &frame,
            reference: &Reference::default(),
            ridges: &[],
        };
        let layer = Running::build(params, &context)?;
        let mut rig = Self { clock, actors, colliders, forces, frame, layer, ticks: 0 };
        rig.call(0.0, false);
        Ok(rig)
    }

    fn new(params: SoftParams) -> Self {
        Self::try_new(params, ColliderSet::default(), 0.0).unwrap()
    }

    fn call(&mut self, dt: f64, surfaces: bool) {
        let time = self.ticks as f64 / 120.0;
        let mut scratch = crate::stage::PoseScratch::default();
        self.colliders.set_time(time, dt, &self.actors, &mut scratch);
        let context = StepContext {
            clock: &self.clock,
            frame: self.ticks as i64,
            time,
            dt,
            is_output: surfaces,
            surfaces_wanted: surfaces,
            actors: &self.actors,
            colliders: &self.colliders,
            forces: &self.forces,
        };
        if dt > 0.0 {
            self.layer.advance(&context, &self.frame).unwrap();
        } else if !surfaces {
            self.layer.start(&context, &self.frame).unwrap();
        }
        if surfaces {
            self.layer.write(&context, &mut self.frame).unwrap();
        }
    }

    fn state(&self) -> &SoftState {
        self.layer.state().unwrap()
    }

    fn state_mut(&mut self) -> &mut SoftState {
        self.layer.state_mut().unwrap()
    }

    fn rest(&self) -> &SoftRest {
        self.layer.rest()
    }

    fn scratch(&self) -> &SoftScratch {
        self.layer.scratch()
    }

    fn tick(&mut self) {
        self.ticks += 1;
        self.call(1.0 / 120.0, false);
    }

    fn show(&mut self) -> &Frame {
        self.call(0.0, true);
        &self.frame
    }
}

fn point(at: [f64; 3]) -> PrimitiveParams {
    PrimitiveParams { point: Some(at), ..PrimitiveParams::default() }
}

fn ball(name: &str, at: [f64; 3], e: f64) -> SoftObject {
    SoftObject { primitives: vec![point(at)], ..SoftObject::new(name, e) }
}

fn dough(name: &str, points: Vec<[f64; 3]>) -> SoftObject {
    SoftObject {
        dough: Some(DoughParams { points, ..DoughParams::default() }),
        ..SoftObject::new(name, 0.05)
    }
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let refuse = |object: SoftObject, word: &str| {
        let params = SoftParams::new("bad", vec![object]);
        let error = Rig::try_new(params, ColliderSet::default(), 0.0).err().unwrap().to_string();
        assert!(error.contains(word), "{error}");
    };
    let good = || ball("a", [0.0; 3], 0.1);
    refuse(SoftObject { support: Some(0.1), ..good() }, "support");
    refuse(SoftObject { stiffness: 0.0, ..good() }, "stiffness");
    refuse(SoftObject { thickness: -1.0, ..good() }, "thickness");
    refuse(SoftObject { primitives: vec![], ..good() }, "empty");
    refuse(
        SoftObject { blend: Some(vec![("x".into(), "y".into())]), ..good() },
        "no primitive named",
    );
    refuse(SoftObject { primitives: vec![PrimitiveParams::default()], ..good() }, "exactly one");
    refuse(SoftObject { volume: Animated::Constant(-1.0), ..good() }, "volume");
    let crowd = DoughParams {
        block: Some([[0.0; 3], [100.0; 3]]),
        spacing: Some(0.01),
        ..DoughParams::default()
    };
    refuse(SoftObject { primitives: vec![], dough: Some(crowd), ..good() }, "particles");
    let twins = SoftParams::new("bad", vec![good(), good()]);
    assert!(twins.validate().unwrap_err().to_string().contains("names must differ"));
    let mut fine = SoftParams::new("fine", vec![good()]);
    fine.tools = Some(vec!["flor".to_owned()]);
    let error = Rig::try_new(fine, floor(), 0.0).err().unwrap().to_string();
    assert!(error.contains("did you mean \"floor\""), "{error}");
}

fn closed_manifold(mesh: &crate::geometry::Mesh) {
    let mut edges = std::collections::BTreeMap::new();
    for t in &mesh.topology.triangles {
        for i in 0..3 {
            assert!(edges.insert((t[i], t[(i + 1) % 3]), ()).is_none(), "an edge twice");
        }
    }
    assert!(!edges.is_empty());
    assert!(edges.keys().all(|&(a, b)| edges.contains_key(&(b, a))), "an open edge");
}
