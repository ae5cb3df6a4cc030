//! Two legs that walk, run and kneel: shared by the figure and the trousers.

use glam::{Quat, Vec3};

use crate::clay::{Joint, Rig};
use crate::clips::{JointPose, smoothstep, through, two_bones};

/// Joints of the lower body.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Legs {
    pub(super) root: Joint,
    pub(super) hips: Joint,
    /// Thigh, shin, foot, toe; left (+x) then right.
    pub(super) sides: [[Joint; 4]; 2],
}

pub(super) const SIDES: [(&str, f32); 2] = [("left", 1.0), ("right", -1.0)];

/// Adds root, hips and legs to a rig.
pub(super) fn add_legs(rig: &mut Rig) -> Legs {
    let v = Vec3::new;
    let root = rig.joint("root", None, Vec3::ZERO);
    let hips = rig.joint("hips", Some(root), v(0.0, 0.95, 0.0));
    let sides = SIDES.map(|(side, x)| {
        let thigh = rig.joint(&format!("thigh_{side}"), Some(hips), v(0.092 * x, 0.915, 0.0));
        let shin = rig.joint(&format!("shin_{side}"), Some(thigh), v(0.098 * x, 0.495, 0.010));
        let foot = rig.joint(&format!("foot_{side}"), Some(shin), v(0.100 * x, 0.088, -0.025));
        let toe = rig.joint(&format!("toe_{side}"), Some(foot), v(0.106 * x, 0.026, 0.095));
        [thigh, shin, foot, toe]
    });
    Legs { root, hips, sides }
}

/// Where the lower body is at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stance {
    /// Raises the hips [m].
    pub(super) lift: f32,
    /// Moves the hips sideways and forward [m].
    pub(super) sway: f32,
    pub(super) ahead: f32,
    /// Hips: forward lean, turn to the left, drop of the left side [rad].
    pub(super) lean: f32,
    pub(super) yaw: f32,
    pub(super) roll: f32,
    /// Ankles from their rest places [m].
    pub(super) ankles: [Vec3; 2],
    /// Feet: toes down [rad]; toes: bent up [rad].
    pub(super) feet: [f32; 2],
    pub(super) toes: [f32; 2],
}

/// Poses hips and legs.
pub(super) fn solve(rig: &Rig, legs: &Legs, s: &Stance, pose: &mut JointPose) {
    pose.translations[legs.hips] += Vec3::new(s.sway, s.lift, s.ahead);
    let turn = Quat::from_rotation_y(s.yaw)
        * Quat::from_rotation_z(-s.roll)
        * Quat::from_rotation_x(s.lean);
    pose.turn(legs.hips, turn);
    for side in 0..2 {
        let [thigh, shin, foot, toe] = legs.sides[side];
        let target = rig.place(foot) + s.ankles[side];
        let from = pose.world_place(rig, thigh);
        let (a, b) = two_bones(rig.offset(shin), rig.offset(foot), from, target, 1.0);
        // The legs keep to their vertical planes while the hips turn and roll.
        pose.turn(thigh, turn.inverse() * Quat::from_rotation_x(a));
        pose.pitch(shin, b - a);
        pose.pitch(foot, s.feet[side] - b);
        pose.pitch(toe, -s.toes[side]);
    }
}

/// A gait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gait {
    /// Part of the cycle a foot is on the ground.
    pub(super) duty: f32,
    /// Way of the foot under the body [m].
    pub(super) sweep: f32,
    /// Height of the ankle in the swing [m].
    pub(super) lift: f32,
    /// Lowers the hips [m].
    pub(super) sink: f32,
    /// Up and down of the hips [m].
    pub(super) bounce: f32,
    pub(super) lean: f32,
    pub(super) yaw: f32,
}

pub(super) const WALK: Gait =
    Gait { duty: 0.60, sweep: 0.66, lift: 0.07, sink: 0.035, bounce: 0.016, lean: 0.03, yaw: 0.10 };
pub(super) const RUN: Gait =
    Gait { duty: 0.32, sweep: 0.66, lift: 0.30, sink: 0.070, bounce: 0.036, lean: 0.13, yaw: 0.18 };

fn turns(phase: f32) -> f32 {
    std::f32::consts::TAU * phase
}

/// One instant of a gait, phase 0 to 1: the left heel strikes at 0, the right at 0.5.
pub(super) fn gait(g: &Gait, phase: f32) -> Stance {
    let running = g.duty < 0.5;
    // A walker is highest over the standing leg, a runner lowest.
    let high = if running { 0.5 * g.duty + 0.25 } else { 0.5 * g.duty };
    let mut out = Stance {
        lift: -g.sink + g.bounce * turns(2.0 * (phase - high)).cos(),
        sway: if running { 0.006 } else { 0.018 } * turns(phase - 0.5 * g.duty).cos(),
        lean: g.lean,
        yaw: -g.yaw * turns(phase).cos(),
        roll: -0.05 * turns(phase - 0.5 * g.duty).cos(),
        ..Stance::default()
    };
    for side in 0..2 {
        let (ankle, foot, toe) = foot_cycle(g, (phase - 0.5 * side as f32).rem_euclid(1.0));
        out.ankles[side] = ankle;
        out.feet[side] = foot;
        out.toes[side] = toe;
    }
    out
}

/// Ankle, foot angle (toes down) and toe bend over the cycle of one foot.
fn foot_cycle(g: &Gait, s: f32) -> (Vec3, f32, f32) {
    let running = g.duty < 0.5;
    let ahead = if running { 0.40 } else { 0.5 };
    let strike = if running { -0.05 } else { -0.28 };
    let push = if running { 0.75 } else { 0.62 };
    if s < g.duty {
        let u = s / g.duty;
        let foot = strike * smoothstep(0.22, 0.0, u) + push * smoothstep(0.55, 1.0, u);
        // Rolling over the ball of the foot raises the ankle.
        let raised = 0.105 * (push * smoothstep(0.55, 1.0, u)).sin();
        let heel = 0.02 * smoothstep(0.22, 0.0, u);
        let z = g.sweep * (ahead - u) + 0.02 * smoothstep(0.55, 1.0, u);
        return (Vec3::new(0.0, raised + heel, z), foot, foot.max(0.0));
    }
    let u = (s - g.duty) / (1.0 - g.duty);
    // The ground's speed under the body, in lengths of the swing: the foot leaves and meets it nearly as fast.
    let speed = -g.sweep / g.duty * (1.0 - g.duty);
    let (u2, u3) = (u * u, u * u * u);
    let (from, to) = (g.sweep * (ahead - 1.0) + 0.02, g.sweep * ahead);
    let z = from * (2.0 * u3 - 3.0 * u2 + 1.0)
        + 0.6 * speed * (u3 - 2.0 * u2 + u)
        + to * (3.0 * u2 - 2.0 * u3)
        + 0.4 * speed * (u3 - u2);
    let start = 0.105 * push.sin();
    let y = through(
        &[(0.0, start), (0.30, start.max(g.lift)), (0.72, 0.35 * g.lift + 0.02), (1.0, 0.02)],
        u,
    );
    let fold = if running { 0.75 } else { 0.25 };
    let foot =
        through(&[(0.0, push), (0.3, push.max(fold)), (0.75, 0.5 * strike), (1.0, strike)], u);
    (Vec3::new(0.0, y, z), foot, push * smoothstep(0.35, 0.0, u))
}

/// Down on the right knee and up again, in 5 seconds.
pub(super) fn kneel(t: f32) -> Stance {
    let down = smoothstep(0.4, 1.9, t) * (1.0 - smoothstep(3.1, 4.5, t));
    let early = smoothstep(0.3, 1.3, t) * (1.0 - smoothstep(3.7, 4.7, t));
    let late = smoothstep(0.7, 1.9, t) * (1.0 - smoothstep(3.1, 4.2, t));
    let step = |s: f32| 0.05 * (std::f32::consts::PI * s).sin();
    let bent = 1.15 * late.max(0.5 * early);
    // The ankle rises as the foot stands up on its toes.
    let on_toes = 0.062 * (bent.cos() - 1.0) + 0.12 * bent.sin();
    Stance {
        lift: -0.455 * down,
        ahead: 0.02 * down,
        lean: 0.22 * down * (1.0 - 0.6 * late),
        ankles: [
            Vec3::new(0.0, step(early), 0.36 * early),
            Vec3::new(0.0, on_toes + 0.5 * step(early), -0.30 * early),
        ],
        feet: [0.0, bent],
        toes: [0.0, bent],
        ..Stance::default()
    }
}
