//! The cat's clips: a rotary gallop, a leap, a quiet stand. Everything happens in the sagittal plane:
//! the paws are told where to be and the legs follow by two-bone solutions.

use frisson::character::Clip;
use glam::{Quat, Vec3};

use super::cat::CatRig;
use crate::clay::Joint;
use crate::clips::{JointPose, clip, smoothstep, through, two_bones};

/// Length of a gallop stride [s].
const PERIOD: f32 = 0.44;
/// Part of the stride a paw is on the ground.
const DUTY: f32 = 0.20;
/// Way of a paw under the body while on the ground [m].
const SWEEP: f32 = 0.25;
/// Speed over ground that fits the two [m/s].
const SPEED: f32 = SWEEP / (DUTY * PERIOD);
/// Touch-down of hind left, hind right, fore left, fore right, as parts of the stride.
const TOUCH: [f32; 4] = [0.00, 0.09, 0.60, 0.50];

/// What the solver needs to know of one instant.
#[derive(Clone, Copy, Debug, Default)]
struct Stance {
    /// Way of the whole cat [m]: x unused.
    root: Vec3,
    /// Raises the trunk [m].
    lift: f32,
    /// Trunk: nose down [rad].
    pitch: f32,
    /// Arch of the back [rad]: positive gathers front and rear.
    arch: f32,
    /// Head down against level [rad].
    head: f32,
    /// Raises the tail's base, and bends along it [rad].
    tail: (f32, f32),
    /// Ears laid back [rad].
    ears: f32,
    /// Paws from their rest places, in the world [m].
    paws: [Vec3; 4],
    /// Turn of the lowest long bone of each leg [rad]: positive tips it forward.
    ankles: [f32; 4],
}

pub(super) fn clips(cat: &CatRig) -> Vec<Clip> {
    let leap = leap_length();
    vec![
        clip(&cat.rig, "run", PERIOD, true, |t, pose| solve(cat, &gallop(t / PERIOD), pose)),
        clip(&cat.rig, "leap", leap, false, |t, pose| solve(cat, &leap_stance(t), pose)),
        clip(&cat.rig, "stand", 4.0, true, |t, pose| solve(cat, &stand(t / 4.0), pose)),
    ]
}

fn turns(phase: f32) -> f32 {
    std::f32::consts::TAU * phase
}

/// One paw's way: straight back on the ground, forward through the air with matching speeds.
fn paw_cycle(phase: f32, lift: f32) -> (Vec3, f32) {
    let s = phase.rem_euclid(1.0);
    if s < DUTY {
        let u = s / DUTY;
        return (Vec3::new(0.0, 0.0, SWEEP * (0.5 - u)), 0.5 * (u - 0.35));
    }
    let u = (s - DUTY) / (1.0 - DUTY);
    // The ground's speed under the cat, in lengths of the swing.
    let speed = -SWEEP / DUTY * (1.0 - DUTY);
    let (u2, u3) = (u * u, u * u * u);
    let z = -0.5 * SWEEP * (2.0 * u3 - 3.0 * u2 + 1.0)
        + 0.8 * speed * (u3 - 2.0 * u2 + u)
        + 0.5 * SWEEP * (3.0 * u2 - 2.0 * u3)
        + 0.8 * speed * (u3 - u2);
    let y = lift * (std::f32::consts::PI * u.powf(0.8)).sin().powi(2);
    let fold = (std::f32::consts::PI * u).sin();
    // Trails after lift-off, folds, then opens to meet the ground.
    (Vec3::new(0.0, y, z), 0.33 * (1.0 - u) - 0.18 * u + 0.75 * fold * (1.0 - u))
}

fn gallop(phase: f32) -> Stance {
    let gathered = turns(phase - 0.86).cos();
    let mut out = Stance {
        lift: -0.028 + 0.014 * turns(2.0 * (phase - 0.36)).cos(),
        pitch: 0.10 * turns(phase - 0.60).cos() - 0.02,
        arch: 0.12 + 0.52 * gathered,
        head: 0.06 * turns(phase - 0.5).sin(),
        tail: (0.28 + 0.16 * turns(phase - 0.2).cos(), turns(phase)),
        ears: 0.35,
        ..Stance::default()
    };
    for leg in 0..4 {
        let hind = leg < 2;
        let (mut paw, ankle) = paw_cycle(phase - TOUCH[leg], if hind { 0.055 } else { 0.08 });
        // Hind paws land ahead of where they stand, fore paws push off further back.
        paw.z += if hind { 0.03 } else { 0.015 };
        out.paws[leg] = paw;
        out.ankles[leg] = if hind { 0.8 * ankle } else { 1.5 * ankle };
    }
    out
}

fn stand(phase: f32) -> Stance {
    let breath = turns(2.0 * phase).sin();
    Stance {
        lift: 0.0015 * breath,
        arch: 0.02 * breath,
        head: 0.05 * turns(phase).sin(),
        tail: (0.1 + 0.08 * turns(phase).sin(), turns(phase)),
        ears: 0.04 * turns(3.0 * phase).sin().max(0.0),
        ..Stance::default()
    }
}

// --- The leap: run-up, crouch, leap, landing, settle. Times in seconds, places in metres.

const RUN_UP: f32 = 2.0 * PERIOD;
const CROUCH: f32 = RUN_UP + 0.30;
const TAKE_OFF: f32 = CROUCH + 0.20;
const FLIGHT: f32 = 0.52;
const LANDING: f32 = TAKE_OFF + FLIGHT;

fn leap_length() -> f32 {
    LANDING + 1.4
}

/// Where the cat crouches and where it comes to rest.
fn marks() -> (f32, f32) {
    let crouch = SPEED * RUN_UP + 0.34;
    (crouch, crouch + 1.55)
}

fn leap_stance(t: f32) -> Stance {
    let run = gallop(t.min(RUN_UP + 0.2) / PERIOD);
    let (crouch_z, rest_z) = marks();
    let root = leap_root(t, crouch_z, rest_z);
    let still = smoothstep(RUN_UP - 0.05, RUN_UP + 0.18, t);
    let key = |keys: &[(f32, f32)]| through(keys, t);
    let mix = |running: f32, keyed: f32| running + (keyed - running) * still;
    let lift = key(&[
        (RUN_UP, -0.03),
        (CROUCH, -0.07),
        (TAKE_OFF, 0.0),
        (TAKE_OFF + 0.1, 0.02),
        (LANDING, -0.01),
        (LANDING + 0.16, -0.07),
        (LANDING + 0.5, 0.004),
        (LANDING + 0.8, 0.0),
    ]);
    let pitch = key(&[
        (RUN_UP, 0.0),
        (CROUCH, 0.10),
        (TAKE_OFF, -0.62),
        (TAKE_OFF + 0.5 * FLIGHT, 0.0),
        (LANDING, 0.55),
        (LANDING + 0.2, 0.08),
        (LANDING + 0.45, -0.03),
        (LANDING + 0.75, 0.0),
    ]);
    let arch = key(&[
        (RUN_UP, 0.1),
        (CROUCH, 0.62),
        (TAKE_OFF + 0.02, -0.34),
        (TAKE_OFF + 0.5 * FLIGHT, -0.2),
        (LANDING - 0.06, 0.25),
        (LANDING + 0.17, 0.62),
        (LANDING + 0.5, -0.03),
        (LANDING + 0.9, 0.0),
    ]);
    let head = key(&[
        (RUN_UP, 0.0),
        (CROUCH, -0.2),
        (TAKE_OFF, -0.15),
        (LANDING, 0.1),
        (LANDING + 0.2, 0.22),
        (LANDING + 0.6, 0.0),
    ]);
    let tail_up = key(&[
        (RUN_UP, 0.3),
        (CROUCH, 0.0),
        (TAKE_OFF, -0.1),
        (TAKE_OFF + 0.5 * FLIGHT, 0.35),
        (LANDING, 0.55),
        (LANDING + 0.3, 0.1),
        (LANDING + 0.9, 0.18),
    ]);
    let mut out = Stance {
        root,
        lift: mix(run.lift, lift),
        pitch: mix(run.pitch, pitch),
        arch: mix(run.arch, arch),
        head: mix(run.head, head),
        tail: (mix(run.tail.0, tail_up), run.tail.1 + 3.0 * (t - RUN_UP).max(0.0)),
        ears: mix(run.ears, key(&[(CROUCH, 0.15), (TAKE_OFF, 0.4), (LANDING + 0.4, 0.0)])),
        ..Stance::default()
    };
    for leg in 0..4 {
        let (paw, ankle) = leap_paw(leg, t, root, crouch_z, rest_z);
        let settled = smoothstep(RUN_UP - 0.12, RUN_UP + 0.12 + 0.03 * leg as f32, t);
        let running = run.paws[leg] + root;
        let arc = 0.03 * (std::f32::consts::PI * settled).sin();
        out.paws[leg] = running.lerp(paw, settled) + Vec3::Y * arc - root;
        out.ankles[leg] = run.ankles[leg] + (ankle - run.ankles[leg]) * settled;
    }
    out
}

/// Way of the body: even speed, braking into the crouch, a parabola, a short run-out.
fn leap_root(t: f32, crouch_z: f32, rest_z: f32) -> Vec3 {
    let fly = ((t - TAKE_OFF) / FLIGHT).clamp(0.0, 1.0);
    let y = 4.0 * 0.42 * fly * (1.0 - fly);
    let run_end = SPEED * RUN_UP;
    let z = if t <= RUN_UP {
        SPEED * t
    } else if t <= CROUCH {
        // Hermite from the run's speed to a standstill.
        let u = (t - RUN_UP) / (CROUCH - RUN_UP);
        let (u2, u3) = (u * u, u * u * u);
        run_end * (2.0 * u3 - 3.0 * u2 + 1.0)
            + SPEED * (CROUCH - RUN_UP) * (u3 - 2.0 * u2 + u)
            + (crouch_z - 0.02) * (3.0 * u2 - 2.0 * u3)
    } else {
        through(
            &[
                (CROUCH, crouch_z - 0.02),
                (TAKE_OFF, crouch_z + 0.16),
                (LANDING, rest_z - 0.14),
                (LANDING + 0.22, rest_z),
                (LANDING + 0.6, rest_z),
            ],
            t,
        )
    };
    Vec3::new(0.0, y, z)
}

/// A paw during crouch, flight and landing, in the world but from its rest place.
fn leap_paw(leg: usize, t: f32, root: Vec3, crouch_z: f32, rest_z: f32) -> (Vec3, f32) {
    let hind = leg < 2;
    let planted = Vec3::new(0.0, 0.0, crouch_z + if hind { 0.05 } else { -0.02 });
    let landed = Vec3::new(0.0, 0.0, rest_z);
    // In the air, from the body: fore legs tuck then reach, hind legs trail then swing under.
    let fly = ((t - TAKE_OFF) / FLIGHT).clamp(0.0, 1.0);
    let stretch = |keys: &[(f32, f32)]| through(keys, fly);
    let air = if hind {
        Vec3::new(
            0.0,
            stretch(&[(0.0, -0.01), (0.35, 0.05), (1.0, 0.06)]),
            stretch(&[(0.0, -0.12), (0.45, -0.10), (1.0, 0.13)]),
        )
    } else {
        Vec3::new(
            0.0,
            stretch(&[(0.0, 0.10), (0.4, 0.08), (1.0, -0.005)]),
            stretch(&[(0.0, 0.07), (0.45, 0.09), (1.0, 0.10)]),
        )
    };
    let stagger = 0.03 * (leg % 2) as f32;
    let (off, on) = if hind {
        (TAKE_OFF - 0.01 + stagger, LANDING + 0.10 + stagger)
    } else {
        (CROUCH + 0.05 + stagger, LANDING - 0.03 + stagger)
    };
    let up = smoothstep(off, off + 0.13, t);
    let down = smoothstep(on - 0.13, on, t);
    let place = planted.lerp(air + root, up).lerp(landed, down);
    let flying = up * (1.0 - down);
    let ankle = if hind {
        0.45 * smoothstep(CROUCH, off + 0.06, t) * (1.0 - down)
            - 0.2 * flying * smoothstep(0.5, 0.9, fly)
    } else {
        flying * stretch(&[(0.0, 1.1), (0.5, 0.6), (1.0, -0.15)])
    };
    (place, ankle)
}

// --- From a stance to joint angles.

/// Poses the cat; where a leg cannot fold enough to keep its paw above ground, the trunk is raised.
fn solve(cat: &CatRig, stance: &Stance, pose: &mut JointPose) {
    let mut raised = *stance;
    for _ in 0..2 {
        let mut trial = pose.clone();
        solve_once(cat, &raised, &mut trial);
        let sunk = |joint: Joint, leg: usize| {
            let target = cat.rig.place(joint).y + stance.paws[leg].y + stance.root.y;
            target - trial.world_place(&cat.rig, joint).y
        };
        let sunk =
            (0..2).map(|side| sunk(cat.hind[side][3], side).max(sunk(cat.fore[side][4], 2 + side)));
        raised.lift += sunk.fold(0.0, f32::max);
    }
    solve_once(cat, &raised, pose);
}

fn solve_once(cat: &CatRig, stance: &Stance, pose: &mut JointPose) {
    pose.translations[cat.root] += stance.root;
    pose.translations[cat.pelvis].y += stance.lift;
    let rear = stance.pitch - 0.5 * stance.arch;
    pose.pitch(cat.pelvis, rear);
    // The pelvis turns about the trunk's middle, not about itself.
    pose.translations[cat.pelvis].y += 0.16 * rear.sin();
    pose.translations[cat.pelvis].z += 0.05 * (1.0 - stance.arch.cos());
    let share = stance.arch / cat.spine.len() as f32;
    cat.spine.iter().for_each(|&j| pose.pitch(j, share));
    let front = rear + stance.arch;
    pose.pitch(cat.neck[0], -0.45 * front);
    pose.pitch(cat.neck[1], -0.30 * front + 0.5 * stance.head);
    pose.pitch(cat.head, -0.25 * front + 0.5 * stance.head);
    cat.ears.iter().for_each(|&j| pose.pitch(j, -stance.ears));
    for (i, &joint) in cat.tail.iter().enumerate() {
        let wave = (stance.tail.1 - 0.7 * i as f32).sin();
        let base = if i == 0 { stance.tail.0 - rear } else { 0.10 * stance.tail.0 };
        pose.pitch(joint, base + 0.09 * wave);
    }
    for side in 0..2 {
        solve_hind(cat, stance, side, rear, pose);
        solve_fore(cat, stance, side, front, pose);
    }
}

fn rotated(v: Vec3, pitch: f32) -> Vec3 {
    Quat::from_rotation_x(pitch) * v
}

fn solve_hind(cat: &CatRig, stance: &Stance, side: usize, above: f32, pose: &mut JointPose) {
    let rig = &cat.rig;
    let [hip, knee, hock, paw] = cat.hind[side];
    let ankle = stance.ankles[side];
    let paw_at = rig.place(paw) + stance.paws[side] + stance.root;
    let hock_at = paw_at - rotated(rig.offset(paw), ankle);
    let from = pose.world_place(rig, hip);
    let (a, b) = two_bones(rig.offset(knee), rig.offset(hock), from, hock_at, 1.0);
    finish_leg(
        pose,
        &[hip, knee, hock, paw],
        &[a, b, ankle],
        above,
        paw_angle(stance.paws[side].y, ankle),
    );
}

fn solve_fore(cat: &CatRig, stance: &Stance, side: usize, above: f32, pose: &mut JointPose) {
    let rig = &cat.rig;
    let [blade, arm, elbow, wrist, paw] = cat.fore[side];
    let ankle = stance.ankles[2 + side];
    let reach = stance.paws[2 + side].z;
    // The blade swings with the leg: that is where a cat's reach comes from.
    let swing = (-1.6 * reach).clamp(-0.45, 0.45);
    pose.pitch(blade, swing - 0.6 * above);
    let blade_world = 0.4 * above + swing;
    let paw_at = rig.place(paw) + stance.paws[2 + side] + stance.root;
    let wrist_at = paw_at - rotated(rig.offset(paw), ankle);
    let from = pose.world_place(rig, arm);
    let (a, b) = two_bones(rig.offset(elbow), rig.offset(wrist), from, wrist_at, -1.0);
    let flat = paw_angle(stance.paws[2 + side].y, ankle);
    finish_leg(pose, &[arm, elbow, wrist, paw], &[a, b, ankle], blade_world, flat);
}

/// Flat on the ground, hanging from the leg in the air.
fn paw_angle(height: f32, ankle: f32) -> f32 {
    smoothstep(0.0, 0.05, height) * (0.5 + 0.8 * ankle.max(0.0))
}

/// World angles of the bones, turned into each joint's own.
fn finish_leg(pose: &mut JointPose, joints: &[Joint; 4], world: &[f32; 3], above: f32, paw: f32) {
    pose.pitch(joints[0], world[0] - above);
    pose.pitch(joints[1], world[1] - world[0]);
    pose.pitch(joints[2], world[2] - world[1]);
    pose.pitch(joints[3], paw - world[2]);
}
