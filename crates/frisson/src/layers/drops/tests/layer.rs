//! The layer on a stage: books, images, splashes, what is shown and what is refused.

use std::sync::Arc;

use glam::{DVec2, DVec3, Quat, Vec3};

use super::super::liquid::Liquid;
use super::super::site::Site;
use super::super::surface::Surface;
use super::super::{DropsLayer, DropsParams, DropsState};
use super::{ball, height_field};
use crate::geometry::Mesh;
use crate::layers::LayerParams;
use crate::layers::harness::Alone;
use crate::stage::{
    Actor, ActorContent, Clock, Forces, Frame, KeyedTransform, NoObserver, Rate, RunningLayer,
    Setup, Simulator,
};

/// Parameters from JSON. Laws of the flow are tried without what pins drops, unless a liquid is named:
/// `liquids.rs` tries that.
pub fn params(text: &str) -> DropsParams {
    let mut params: DropsParams = serde_json::from_str(text).expect("parameters");
    if !text.contains("preset") {
        params.liquid.hysteresis_deg.get_or_insert(0.0);
    }
    params
}

pub fn actor(name: &str, (positions, triangles): (Vec<Vec3>, Vec<[u32; 3]>)) -> Actor {
    let mesh = Mesh::new(name, positions, triangles);
    Actor::meshes_named(name, vec![mesh])
}

/// A scene with one actor and drops on it.
pub fn setup(actor: Actor, params: &DropsParams, gravity: Vec3, fps: u32) -> Setup {
    Setup {
        clock: Clock::new(Rate::whole(fps), 0, 1_000_000),
        actors: vec![actor],
        forces: Forces::new(gravity, Vec::new(), f64::from(fps)),
        layers: vec![LayerParams::Drops(params.clone())],
        ..Setup::default()
    }
}

/// A layer alone with its actor, advanced by ticks, with its insides open.
pub struct Lab {
    pub alone: Alone<DropsLayer>,
    pub tick: u64,
}

impl Lab {
    pub fn new(actor: Actor, params: &DropsParams, gravity: Vec3, fps: u32) -> Self {
        Self { alone: Alone::new(setup(actor, params, gravity, fps)).expect("a layer"), tick: 0 }
    }

    /// Runs some ticks and shows the frame at the last.
    pub fn run(&mut self, ticks: u64) {
        self.tick += ticks;
        let time = self.alone.simulator.clock().tick_time(self.tick);
        self.alone.simulator.advance_to(time).expect("a step");
    }

    pub fn rest(&self) -> &super::super::DropsRest {
        self.alone.rest()
    }

    pub fn state(&self) -> &DropsState {
        self.alone.state()
    }

    pub fn frame(&self) -> &Frame {
        self.alone.frame()
    }

    pub fn save(&self) -> Vec<u8> {
        self.alone.layer().save().expect("a snapshot")
    }

    /// The site at the start.
    pub fn site(&self) -> Site {
        let (rest, params) = (self.alone.rest(), self.alone.layer().params());
        Site::new(rest, params, &rest.home, &rest.surface)
    }

    pub fn liquid(&self) -> Liquid {
        self.site().liquid
    }

    /// The surface as it stands now.
    pub fn surface(&self) -> Surface {
        let mut surface = self.alone.rest().surface.clone();
        for &(t, axis) in &self.state().axes {
            surface.axes[t as usize] = axis;
        }
        surface.facets.clear();
        surface.stand(&self.state().points);
        surface
    }

    pub fn positions(&self) -> Vec<(u64, DVec3)> {
        let surface = self.surface();
        let place = |d: &super::Droplet| match d.phase {
            super::Phase::Air { position, .. } => position,
            _ => super::super::merge::position_on(d, &surface).unwrap().0,
        };
        self.state().drops.iter().map(|d| (d.id, place(d))).collect()
    }
}

pub const GRAVITY: Vec3 = Vec3::new(0.0, -9.8, 0.0);

pub fn incline() -> Actor {
    actor("ground", height_field(16, 16, DVec2::ZERO, DVec2::ONE, |x, _| -0.5 * x))
}

pub const BUSY: &str = r#"{
    "shape": {"points": true}, "name": "rain", "on": "ground", "seed": 5,
    "ground": [{"roughness": [4e-4, 2e-4], "film": 1e-5, "adhesion": 60, "contact_angle_deg": 100}],
    "sources": [
        {"region": {"count": 120, "mass": [2e-6, 4e-5], "over": 10}},
        {"rain": {"rate": 120, "mass": [1e-6, 2e-5]}},
        {"condensation": {"count": 50, "growth": 1e-5}}
    ],
    "sinks": {"evaporation": 1e-3},
    "deposit": {"concentration": 0.1, "thickening": 4, "dissolving": 2},
    "air": {"splash": {"speed": 1.0}, "margin": 0.3},
    "trails": {"beads": {"spacing": 4, "share": 0.02}, "drying": 0.7}
}"#;

/// The incline moved to and fro along z.
pub fn shaken(frequency: f64, amplitude: f64) -> Actor {
    let (positions, triangles) = height_field(16, 16, DVec2::ZERO, DVec2::ONE, |x, _| -0.5 * x);
    let mesh = Mesh::new("ground", positions, triangles);
    let times: Vec<f64> = (0..2000).map(|i| f64::from(i) / 240.0).collect();
    let wave = |t: f64| (amplitude * (std::f64::consts::TAU * frequency * t).sin()) as f32;
    let path = KeyedTransform {
        translations: times.iter().map(|&t| Vec3::new(0.0, wave(t), 0.0)).collect(),
        rotations: vec![Quat::IDENTITY; times.len()],
        times,
        ..KeyedTransform::default()
    };
    Actor::meshes_named("ground", vec![mesh]).along(path)
}

pub fn add_texture_places(actor: &mut Actor) {
    if let ActorContent::Meshes(meshes) = &mut actor.content {
        let meshes = Arc::make_mut(meshes);
        let uvs = meshes[0].positions.iter().map(|p| glam::Vec2::new(p.x, p.z)).collect();
        Arc::make_mut(&mut meshes[0].topology).uvs = uvs;
    }
}

#[test]
fn the_books_balance_at_every_frame() {
    let mut lab = Lab::new(incline(), &params(BUSY), GRAVITY, 30);
    for frame in 0..40 {
        lab.run(4);
        let imbalance = lab.state().imbalance();
        assert!(imbalance.abs() < 1e-12, "frame {frame}: {imbalance:e}");
        for drop in &lab.state().drops {
            assert!(drop.mass > 0.0 && drop.solute >= 0.0 && drop.solute <= drop.mass * 1.000_001);
        }
    }
    let ledger = &lab.state().ledger;
    assert!(ledger.merges > 20 && ledger.landings > 20 && ledger.drops_fallen > 2, "{ledger:?}");
    assert!(ledger.evaporated.value() > 0.0 && lab.state().masses().1 > 0.0, "{ledger:?}");
    assert!(ledger.truncated == 0, "{ledger:?}");
}

#[test]
fn the_image_of_wetness_dries_by_the_second() {
    let text = r#"{"name": "d", "on": "ground", "trails": {"image": 64, "drying": 0.4},
        "merging": {"enabled": false}, "sources": [{"region": {"count": 40, "mass": [2e-5, 4e-5]}}]}"#;
    let image = |fps: u32| {
        let mut actor = incline();
        add_texture_places(&mut actor);
        let mut alone =
            Alone::<DropsLayer>::new(setup(actor, &params(text), GRAVITY, fps)).unwrap();
        alone.frames(fps as usize);
        alone.frame().images[0].texture.rgba.clone()
    };
    let wanted = image(30);
    let wet: Vec<u8> = wanted.chunks(4).map(|c| c[0]).collect();
    assert!(wet.iter().any(|w| *w > 100) && wet.iter().any(|w| (1..60).contains(w)));
    for fps in [24, 25, 60] {
        assert!(image(fps) == wanted, "{fps} frames a second");
    }
}

#[test]
fn falling_drops_land_splash_and_leave() {
    let text = r#"{"name": "d", "on": "ground", "merging": {"enabled": false},
        "air": {"splash": {"speed": 1, "droplets": 6}, "margin": 0.5, "drag": 0},
        "sources": [{"list": {"rows": [[0, 0.3, 0.5, 0.5, 2e-5], [0, 5.3, 0.0, 0.5, 2e-5]]}},
                    {"single": {"at": [0.5, 0.4, 0.2], "snap": 0.01}}]}"#;
    let mut lab = Lab::new(incline(), &params(text), GRAVITY, 30);
    lab.run(120);
    let state = lab.state();
    assert!(state.ledger.landings >= 2, "{:?}", state.ledger);
    assert!(state.drops.len() > 6, "splashed: {}", state.drops.len());
    assert!(state.ledger.drops_fallen >= 1 && state.off_mesh == 3, "{:?}", state.ledger);
    assert!(lab.state().imbalance().abs() < 1e-12);
}

#[test]
fn nothing_falls_through_a_closed_ball() {
    let text = r#"{"name": "d", "on": "ground", "merging": {"enabled": false},
        "sources": [{"rain": {"rate": 2000, "speed": 3, "until": 20}}], "ground": [{"adhesion": 1e9}],
        "air": {"drag": 0}}"#;
    let mut lab = Lab::new(actor("ground", ball(0.5, 20, 30)), &params(text), GRAVITY, 30);
    for _ in 0..30 {
        lab.run(4);
        for (id, place) in lab.positions() {
            // The facets' middles are at 0.497.
            assert!(place.length() > 0.49, "drop {id} is inside, at {place}");
        }
    }
    assert!(lab.state().ledger.landings > 500);
}

#[test]
fn a_directed_drop_arrives_in_time() {
    let goal = DVec3::new(0.8, -0.4, 0.5);
    for solve in ["start", "viscosity"] {
        let text = format!(
            r#"{{"name": "d", "on": "ground", "trails": {{"enabled": false}}, "sources": [{{"single":
            {{"at": [0.1, -0.05, 0.5], "mass": 2e-5, "arrive": [0.8, -0.4, 0.5, 120], "solve": "{solve}"}}}}]}}"#
        );
        let mut lab = Lab::new(incline(), &params(&text), GRAVITY, 30);
        lab.run(120 * 4);
        let place = lab.positions()[0].1;
        assert!(place.distance(goal) < 6e-3, "{solve}: {place}");
    }
}

#[test]
fn bad_parameters_are_refused_with_a_reason() {
    let build = |text: &str| {
        let actors = vec![incline()];
        let layer = LayerParams::Drops(params(text));
        Simulator::new(Setup {
            clock: Clock::new(Rate::whole(30), 0, 10),
            actors,
            forces: Forces::new(GRAVITY, Vec::new(), 30.0),
            layers: vec![layer],
            ..Setup::default()
        })
        .err()
        .map(|e| e.to_string())
        .unwrap_or_default()
    };
    assert!(build(r#"{"name": "d", "on": "grund"}"#).contains("did you mean \"ground\""));
    let mass = build(r#"{"name": "d", "on": "ground", "sources": [{"single": {"mass": 0}}]}"#);
    assert!(mass.contains("masses must be above 0"), "{mass}");
    let memory =
        build(r#"{"name": "d", "on": "ground", "sources": [{"region": {"count": 10000000}}]}"#);
    assert!(memory.contains("GB"), "{memory}");
    let row = build(r#"{"name": "d", "on": "ground", "sources": [{"list": {"rows": [[1, 2]]}}]}"#);
    assert!(row.contains("5 or 8"), "{row}");
    assert_eq!(build(r#"{"name": "d", "on": "ground"}"#), "");
}

#[test]
fn a_stage_runs_it_and_shows_meshes_points_trails_and_images() {
    let mut mesh_actor = incline();
    add_texture_places(&mut mesh_actor);
    let text = r#"{"name": "d", "on": "ground", "tracks": true, "trails": {"image": 64},
        "ground": [{"film": 2e-5}], "shape": {"points": true},
        "sources": [{"region": {"count": 40, "mass": [2e-5, 4e-5]}}]}"#;
    let mut stage = Simulator::new(Setup {
        clock: Clock::new(Rate::whole(30), 0, 20),
        actors: vec![mesh_actor],
        forces: Forces::new(GRAVITY, Vec::new(), 30.0),
        layers: vec![LayerParams::Drops(params(text))],
        ..Setup::default()
    })
    .unwrap();
    for _ in 0..8 {
        stage.advance_frame(&mut NoObserver).unwrap();
    }
    let frame = stage.frame();
    let drops = &frame.meshes[frame.mesh_index("d").unwrap()];
    assert!(drops.positions.len() > 1000 && drops.velocities.len() == drops.positions.len());
    assert!(frame.meshes[frame.mesh_index("d.trails").unwrap()].positions.len() > 100);
    assert!(frame.points.iter().any(|p| p.name == "d.points" && !p.ids.is_empty()));
    let tracks = frame.points.iter().find(|p| p.name == "d.tracks").unwrap();
    assert!(tracks.positions.len() >= 40 && tracks.attributes.len() == 4);
    let wet = frame.images[0].texture.rgba.chunks(4).filter(|c| c[0] > 0).count();
    assert!(wet > 20, "{wet} wet pixels");
    assert!(frame.meshes[0].scalar("wetness").unwrap().iter().any(|w| *w > 0.0));
    let report = &stage.reports()[0];
    assert!(report.measures.iter().any(|m| m.name == "ledger imbalance" && m.value.abs() < 1e-12));
}

/// Surfaces that a picture or another program would draw for the drops of a layer: vertices of the
/// mesh, and balls.
fn drawn(shape: &str) -> (usize, usize) {
    let text = format!(
        r#"{{"name": "d", "on": "ground", "shape": {shape}, "sources": [{{"region": {{"count": 9}}}}]}}"#
    );
    let mut lab = Lab::new(incline(), &params(&text), GRAVITY, 30);
    lab.run(4);
    let mesh = lab.frame().mesh_index("d").map_or(0, |m| lab.frame().meshes[m].positions.len());
    let balls = lab.frame().points.iter().flat_map(|p| &p.widths).filter(|w| **w > 0.0).count();
    (mesh, balls)
}

#[test]
fn every_drop_is_drawn_once() {
    let (mesh, balls) = drawn("{}");
    assert!(mesh > 0 && balls == 0, "{mesh} {balls}");
    let (mesh, balls) = drawn(r#"{"points": true}"#);
    assert!(mesh > 0 && balls == 0, "points beside the mesh are data: {mesh} {balls}");
    let (mesh, balls) = drawn(r#"{"mesh": false, "points": true}"#);
    assert!(mesh == 0 && balls == 9, "{mesh} {balls}");
}

#[test]
fn ticks_of_a_second_and_a_thousand_drops_survive() {
    let text = r#"{"name": "d", "on": "ground", "sources": [{"region": {"count": 1000}}]}"#;
    let mut own = setup(incline(), &params(text), GRAVITY, 30);
    own.clock.tick_hz = 1;
    let mut alone = Alone::<DropsLayer>::new(own).unwrap();
    alone.ticks(5);
    assert!(alone.state().imbalance().abs() < 1e-12);
}
