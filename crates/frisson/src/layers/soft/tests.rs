//! The whole layer.

use glam::{DVec3, Vec3};

use super::primitive_fields::{FieldScratch, Neighbourhood};
use super::sample::Presser;
use super::*;
use crate::layers::LayerParams;
use crate::math::random;
use crate::stage::{
    ActorSet, Animated, BuildContext, Clock, ColliderParams, ColliderSet, ColliderShape, Forces,
    Frame, LayerError, NoObserver, Rate, Reference, Running, RunningLayer, Setup, Simulator,
    StepContext,
};

mod coats;
mod contract;
mod fusing;
mod limits;
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

/// Two equal balls whose centres are `2 h` apart along a direction.
fn two_balls(h: f64, direction: DVec3, seeds: usize) -> Rig {
    let d = direction.normalize() * h;
    let mut params = SoftParams::new(
        "balls",
        vec![ball("a", (-d).to_array(), 0.1), ball("b", d.to_array(), 0.1)],
    );
    params.seeds = seeds;
    params.volume_time = 0.0;
    Rig::new(params)
}

#[test]
fn equal_balls_press_as_the_closed_form_says() {
    let (e, k) = (0.1, 1e6);
    for h in [0.03, 0.04, 0.05, 0.065, 0.08, 0.09, 0.095] {
        for i in 0..12 {
            let axis = |k| random::signed(9, i, k);
            let direction = DVec3::new(axis(0), axis(1), axis(2));
            let rig = two_balls(h, direction, 200);
            let bodies = &rig.state().bodies;
            let expected = std::f64::consts::PI * k / 3.0 * (e - h).powi(2) * (e + 2.0 * h);
            let got = bodies[1].force.dot(direction.normalize());
            assert!((got / expected - 1.0).abs() < 0.02, "{h} {direction}: {}", got / expected);
            // Action and reaction, moments about the origin.
            assert!((bodies[0].force + bodies[1].force).length() < 1e-12 * expected);
            let moment = |b: &state::BodyState| b.torque + b.position.cross(b.force);
            assert!((moment(&bodies[0]) + moment(&bodies[1])).length() < 1e-12 * expected);
        }
    }
}

#[test]
fn contact_samples_lie_on_one_surface() {
    let stiff = SoftObject { stiffness: 9e5, ..ball("b", [0.13, 0.02, 0.0], 0.09) };
    let stick = SoftObject {
        primitives: vec![PrimitiveParams {
            segment: Some([[-0.1, 0.13, -0.1], [0.15, 0.12, 0.1]]),
            ..PrimitiveParams::default()
        }],
        ..SoftObject::new("c", 0.06)
    };
    let mut params = SoftParams::new("three", vec![ball("a", [0.0; 3], 0.1), stiff, stick]);
    params.volume_time = 0.0;
    let rig = Rig::new(params);
    let coats = &rig.scratch().coats;
    let mut near = Neighbourhood::default();
    near.set(coats, 0..3);
    let mut scratch = FieldScratch::default();
    let mut pairs = Vec::new();
    for (i, territory) in rig.scratch().territories.iter().enumerate() {
        for c in &territory.contacts {
            let Presser::Primitive(j) = c.presser else { panic!("no tool here") };
            pairs.push((i as u32, j));
            let seen = scratch.see(coats, &near, i as u32, c.point);
            let slope =
                (coats.gradient_of(i, c.point) - coats.gradient_of(j as usize, c.point)).length();
            let e =
                coats.primitives[i].coat.thickness.min(coats.primitives[j as usize].coat.thickness);
            assert!((seen.side - seen.other).abs() / slope < 1e-5 * e);
            // The owner of a point is the largest field: nobody else is inside here.
            for other in 0..3 {
                assert!(coats.field_of(other, c.point).0 <= seen.side + 1e-5 * e * slope);
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs, [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]);
    let total: DVec3 = rig.state().bodies.iter().map(|b| b.force).sum();
    let size: f64 = rig.state().bodies.iter().map(|b| b.force.length()).sum();
    assert!(total.length() < 1e-12 * size && size > 0.0);
}

/// Figure 8 of the source: two points slide into each other.
fn sliding(control: bool) -> (f64, f64) {
    let e = 0.1;
    let mut object = SoftObject::new("pair", e);
    object.support = Some(3.5 * e);
    // Supports just touch at the start: nothing is blended yet.
    let keys = Animated::Keys(vec![(0.0, 0.35), (2400.0, 0.0)]);
    let back = Animated::Keys(vec![(0.0, -0.35), (2400.0, 0.0)]);
    object.primitives = vec![
        PrimitiveParams { move_x: keys, ..point([0.0; 3]) },
        PrimitiveParams { move_x: back, ..point([1e-3, 0.0, 0.0]) },
    ];
    let mut params = SoftParams::new("two", vec![object]);
    params.volume_time = if control { 1.0 / 60.0 } else { 0.0 };
    params.seeds = 400;
    let mut rig = Rig::new(params);
    let start = rig.state().rest_volume();
    let (mut least, mut most) = (1.0f64, 1.0f64);
    for _ in 0..2400 {
        rig.tick();
        let now = rig.state().volume() / start;
        (least, most) = (least.min(now), most.max(now));
    }
    (least, most)
}

#[test]
fn without_control_two_points_grow_fourfold() {
    let (_, most) = sliding(false);
    assert!((most / 4.05 - 1.0).abs() < 0.03, "{most}");
}

#[test]
fn with_control_two_points_keep_their_volume() {
    let (least, most) = sliding(true);
    assert!(least > 0.98 && most < 1.02, "{least} {most}");
}

#[test]
fn seeds_measure_the_volume_of_random_blends() {
    for seed in 0..6u64 {
        let c = |i: u64, k: u64| 0.12 * random::signed(seed, i, k);
        let at = |i: u64| [c(i, 0), c(i, 1), c(i, 2)];
        let mut object = SoftObject::new("blend", 0.08);
        object.primitives = vec![
            point(at(0)),
            PrimitiveParams { segment: Some([at(1), at(2)]), ..PrimitiveParams::default() },
            PrimitiveParams { triangle: Some([at(3), at(4), at(5)]), ..PrimitiveParams::default() },
            point(at(6)),
        ];
        let mut params = SoftParams::new("blend", vec![object]);
        params.seeds = 162;
        let rig = Rig::new(params);
        let coats = &rig.scratch().coats;
        let mut near = Neighbourhood::default();
        near.set(coats, 0..coats.primitives.len() as u32);
        let mut scratch = FieldScratch::default();
        let (side, size) = (80, 0.36);
        let cell = 2.0 * size / f64::from(side);
        let mut inside = 0u32;
        for n in 0..side * side * side {
            let v = |m: i32| (f64::from(m % side) + 0.5) * cell - size;
            let p = DVec3::new(v(n), v(n / side), v(n / side / side));
            inside += u32::from(scratch.union(coats, &near, p) >= coats.level);
        }
        let voxels = f64::from(inside) * cell.powi(3);
        let ratio = rig.state().rest_volume() / voxels;
        assert!((ratio - 1.0).abs() < 0.03, "seed {seed}: {ratio}");
    }
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

#[test]
fn extracted_bodies_are_closed_and_share_their_contact() {
    let mut rig = two_balls(0.075, DVec3::new(1.0, 0.3, 0.2), 100);
    let frame = rig.show();
    let (a, b) = (&frame.meshes[0], &frame.meshes[1]);
    assert_eq!((a.name.as_str(), b.name.as_str()), ("balls/a", "balls/b"));
    closed_manifold(a);
    closed_manifold(b);
    for (m, other) in [(a, b), (b, a)] {
        let pressure = m.scalar("pressure").unwrap();
        let mut shared = 0;
        for (v, p) in m.positions.iter().zip(pressure) {
            if *p > 0.0 {
                assert!(other.positions.contains(v), "{v} at {p} Pa is not shared");
                shared += 1;
            }
        }
        assert!(shared > 20);
    }
    // Free vertices are on the sphere.
    let center = rig.state().bodies[0].position.as_vec3();
    let a = &rig.frame.meshes[0];
    let pressure = a.scalar("pressure").unwrap();
    let off = a
        .positions
        .iter()
        .zip(pressure)
        // The half that faces away from the other ball.
        .filter(|(v, _)| (**v - center).dot(center) > 0.0)
        .map(|(v, _)| (v.distance(center) - 0.1).abs())
        .fold(0.0, f32::max);
    // A thousandth of a cell.
    assert!(off < 2e-5, "{off}");
}

fn dough(name: &str, points: Vec<[f64; 3]>) -> SoftObject {
    SoftObject {
        dough: Some(DoughParams { points, ..DoughParams::default() }),
        ..SoftObject::new(name, 0.05)
    }
}

/// Three balls in a well: a free column topples.
fn stack() -> Rig {
    let free = |name: &str, y: f64| SoftObject {
        free: true,
        stiffness: 2e6,
        ..ball(name, [0.0, y, 0.0], 0.1)
    };
    let params = SoftParams::new("stack", vec![free("a", 0.1), free("b", 0.3), free("c", 0.52)]);
    let wall = |point: [f32; 3], normal: [f32; 3]| ColliderShape::Plane { point, normal };
    let well = colliders(&[
        ("floor", wall([0.0; 3], [0.0, 1.0, 0.0])),
        ("left", wall([-0.1, 0.0, 0.0], [1.0, 0.0, 0.0])),
        ("right", wall([0.1, 0.0, 0.0], [-1.0, 0.0, 0.0])),
        ("back", wall([0.0, 0.0, -0.1], [0.0, 0.0, 1.0])),
        ("front", wall([0.0, 0.0, 0.1], [0.0, 0.0, -1.0])),
    ]);
    Rig::try_new(params, well, 9.81).unwrap()
}

#[test]
fn stacked_balls_come_to_rest() {
    let mut rig = stack();
    let energy = |rig: &Rig| -> f64 {
        rig.state()
            .bodies
            .iter()
            .zip(&rig.rest().bodies)
            .map(|(b, r)| {
                (0.5 * b.velocity.length_squared() + 9.81 * b.position.y) / r.inverse_mass
            })
            .sum()
    };
    let start = energy(&rig);
    for _ in 0..900 {
        rig.tick();
        assert!(energy(&rig) <= start * (1.0 + 1e-9));
    }
    for b in &rig.state().bodies {
        assert!(b.velocity.length() < 1e-3, "{}", b.velocity);
        assert!(b.spin.length() < 0.02, "{}", b.spin);
        assert!(b.position.x.abs() < 0.05 && b.position.y > 0.05, "{}", b.position);
    }
    let y: Vec<f64> = rig.state().bodies.iter().map(|b| b.position.y).collect();
    assert!(y[1] - y[0] > 0.1 && y[2] - y[1] > 0.1 && y[0] < 0.1, "{y:?}");
}

#[test]
fn a_fast_ball_makes_the_step_go_back_and_bounces() {
    let free = |name: &str, y: f64| SoftObject { free: true, ..ball(name, [0.0, y, 0.0], 0.1) };
    let params = SoftParams::new("shot", vec![free("a", 0.0), free("b", 0.24)]);
    let mut rig = Rig::new(params);
    rig.state_mut().bodies[1].velocity = DVec3::Y * -12.0;
    for _ in 0..60 {
        rig.tick();
    }
    assert!(rig.state().take_backs > 0);
    let [a, b] = [&rig.state().bodies[0], &rig.state().bodies[1]];
    assert!(b.position.y > a.position.y + 0.19, "passed through");
    let momentum = a.velocity.y + b.velocity.y;
    assert!((momentum + 12.0).abs() < 1e-6, "{momentum}");
}

#[test]
fn a_step_taken_back_leaves_no_trace() {
    // Two runs into a collision: one tries whole ticks and has to go back, the other begins with the
    // step that the first ends up with.
    let shot = |step: f64| {
        let free = |name: &str, y: f64| SoftObject { free: true, ..ball(name, [0.0, y, 0.0], 0.1) };
        let mut rig = Rig::new(SoftParams::new("shot", vec![free("a", 0.0), free("b", 0.201)]));
        rig.state_mut().bodies[1].velocity = DVec3::Y * -12.0;
        rig.state_mut().bodies[1].spin = DVec3::X * 3.0;
        rig.state_mut().step = step;
        rig.tick();
        rig
    };
    let tried = shot(f64::INFINITY);
    assert!(tried.state().take_backs > 0);
    let known = (1..=8)
        .map(|halvings| shot(0.5f64.powi(halvings) / 120.0))
        .find(|rig| {
            rig.state().take_backs < tried.state().take_backs
                && rig.state().steps == tried.state().steps
        })
        .expect("no step is short enough");
    let mut counted = tried.state().clone();
    counted.take_backs = known.state().take_backs;
    assert_eq!(&counted, known.state());
}

#[test]
fn parted_pieces_do_not_melt_again_and_fuse_only_when_pressed() {
    let build = |fuse: Option<f64>| {
        let mut object = SoftObject::new("pair", 0.05);
        let apart = |sign: f64| {
            Animated::Keys(vec![
                (0.0, 0.0),
                (60.0, sign * 0.09),
                (120.0, sign * 0.005),
                (180.0, sign * -0.012),
            ])
        };
        object.primitives = vec![
            PrimitiveParams { move_x: apart(-1.0), ..point([-0.03, 0.0, 0.0]) },
            PrimitiveParams { move_x: apart(1.0), ..point([0.03, 0.0, 0.0]) },
        ];
        object.fuse = fuse;
        let mut params = SoftParams::new("parted", vec![object]);
        params.volume_time = 0.0;
        Rig::new(params)
    };
    let mut rig = build(None);
    assert_eq!(rig.state().piece_count(), 1);
    for _ in 0..60 {
        rig.tick();
    }
    assert_eq!(rig.state().piece_count(), 2);
    for _ in 0..120 {
        rig.tick();
        assert_eq!(rig.state().piece_count(), 2, "melted without being pressed");
    }
    assert!(rig.scratch().contacts.count > 0);
    let force = rig.state().bodies[1].force.x;
    let mut weak = build(Some(0.5 * force));
    let mut strong = build(Some(1.5 * force));
    for _ in 0..240 {
        weak.tick();
        strong.tick();
    }
    assert_eq!(weak.state().piece_count(), 1);
    assert_eq!(strong.state().piece_count(), 2);
}

#[test]
fn components_match_a_brute_force_graph() {
    let mut rig = Rig::new(SoftParams::new(
        "cloud",
        vec![dough(
            "d",
            (0..40)
                .map(|i| {
                    let c = |k| 0.5 * random::signed(5, i, k);
                    [c(0), c(1), c(2)]
                })
                .collect(),
        )],
    ));
    rig.show();
    let (coats, state) = (&rig.scratch().coats, rig.state());
    let at = |i: usize| coats.points[i];
    // Flood from each primitive over supports that meet.
    for start in 0..40usize {
        let mut reached = [false; 40];
        let mut open = vec![start];
        reached[start] = true;
        while let Some(i) = open.pop() {
            for j in 0..40 {
                if !reached[j] && at(i).distance(at(j)) < coats.reach(i) + coats.reach(j) {
                    reached[j] = true;
                    open.push(j);
                }
            }
        }
        let smallest = reached.iter().position(|r| *r).unwrap() as u32;
        assert_eq!(state.groups[start], smallest);
    }
    assert!(state.piece_count() > 1);
}

fn mixed_params(reverse: bool) -> SoftParams {
    let mut a = dough("a", vec![]);
    a.dough = Some(DoughParams {
        ball: Some([0.0, 0.2, 0.0]),
        radius: Some(0.1),
        ..DoughParams::default()
    });
    let b = SoftObject { free: true, ..ball("b", [0.03, 0.42, 0.01], 0.08) };
    let bone = |name: &str, parent: Option<&str>, from: [f64; 3], to: [f64; 3]| BoneParams {
        name: name.to_owned(),
        parent: parent.map(str::to_owned),
        from,
        to,
        ..BoneParams::default()
    };
    let mut c = SoftObject::new("c", 0.04);
    c.bones = vec![
        bone("hip", None, [0.3, 0.3, 0.0], [0.3, 0.5, 0.0]),
        bone("arm", Some("hip"), [0.3, 0.5, 0.0], [0.1, 0.55, 0.0]),
    ];
    let mut objects = vec![a, b, c];
    if reverse {
        objects.reverse();
    }
    let mut params = SoftParams::new("mixed", objects);
    params.seeds = 64;
    params
}

fn run_stage(params: SoftParams, threads: usize, frames: usize) -> Simulator {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let clock = Clock::new(Rate::whole(30), 0, 100);
        let forces = Forces::new(Vec3::Y * -9.81, vec![], 30.0);
        let layers = [LayerParams::Soft(params)];
        let mut stage = Simulator::new(Setup {
            clock,
            actors: vec![],
            colliders: collider_params(&[floor_shape()]),
            forces,
            layers: layers.to_vec(),
            ..Setup::default()
        })
        .unwrap();
        for _ in 0..frames {
            stage.advance_frame(&mut NoObserver).unwrap();
        }
        stage
    })
}

#[test]
fn same_bits_for_any_threads_and_any_listing_and_after_resuming() {
    let one = run_stage(mixed_params(false), 1, 12);
    let two = run_stage(mixed_params(false), 2, 12);
    let listed = run_stage(mixed_params(true), 2, 12);
    assert_eq!(one.frame(), two.frame());
    assert_eq!(one.frame(), listed.frame());
    for mesh in &one.frame().meshes {
        closed_manifold(mesh);
    }
    let half = run_stage(mixed_params(false), 1, 6);
    let mut resumed = run_stage(mixed_params(false), 1, 0);
    resumed.load(&half.save().unwrap()).unwrap();
    for _ in 0..6 {
        resumed.advance_frame(&mut NoObserver).unwrap();
    }
    assert_eq!(one.frame().meshes, resumed.frame().meshes);
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

#[test]
fn objects_that_start_inside_each_other_are_pushed_apart_and_named() {
    let free = |name: &str, x: f64| SoftObject { free: true, ..ball(name, [x, 0.0, 0.0], 0.1) };
    for gap in [0.0, 1e-6, 0.01] {
        let params = SoftParams::new("deep", vec![free("a", 0.0), free("b", gap)]);
        let mut rig = Rig::new(params);
        for _ in 0..240 {
            rig.tick();
        }
        let mut report = crate::stage::LayerReport::default();
        rig.layer.report(&mut report);
        assert!(report.warnings.iter().any(|w| w.contains("starts deep")), "{:?}", report.warnings);
        let bodies = &rig.state().bodies;
        let distance = bodies[0].position.distance(bodies[1].position);
        assert!(distance > 0.15 && distance.is_finite(), "{gap}: {distance}");
    }
}

#[test]
fn dough_flows_rests_on_the_floor_and_keeps_its_volume() {
    let mut object = dough("d", vec![]);
    object.dough = Some(DoughParams {
        ball: Some([0.0, 0.2, 0.0]),
        radius: Some(0.13),
        ..DoughParams::default()
    });
    let mut params = SoftParams::new("dough", vec![object]);
    params.seeds = 64;
    let mut rig = Rig::try_new(params, floor(), 9.81).unwrap();
    let start = rig.state().rest_volume();
    for _ in 0..240 {
        rig.tick();
    }
    let ratio = rig.state().volume() / start;
    assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    let fastest = rig.state().bodies.iter().map(|b| b.velocity.length()).fold(0.0, f64::max);
    assert!(fastest < 0.06, "{fastest}");
    let bodies = &rig.state().bodies;
    let mean = bodies.iter().map(|b| b.velocity).sum::<DVec3>() / bodies.len() as f64;
    assert!(mean.length() < 0.01, "{mean}");
    assert!(rig.state().bodies.iter().all(|b| b.position.y > 0.0));
    let mesh = &rig.show().meshes[0];
    closed_manifold(mesh);
    let lowest = mesh.positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
    assert!(lowest.abs() < 2e-3, "{lowest}");
}
