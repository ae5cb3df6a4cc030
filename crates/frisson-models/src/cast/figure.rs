//! A person, 1.75 m, in an A-pose; and what it can wear.

use frisson::character::{Character, CharacterMesh, Clip};
use glam::{EulerRot, Quat, Vec3};

use super::biped::{self, Gait, Legs, SIDES};
use super::{cloth, head, material, srgb, tunic};
use crate::clay::{Chart, Clay, Joint, Lens, Rig, Sculpture};
use crate::clips::{JointPose, clip, smoothstep};

/// Joints by role.
pub(super) struct Person {
    pub(super) rig: Rig,
    pub(super) legs: Legs,
    pub(super) spine: Joint,
    pub(super) chest: Joint,
    pub(super) neck: Joint,
    pub(super) head: Joint,
    /// Collar bone, upper arm, forearm, hand; left (+x) then right.
    pub(super) arms: [[Joint; 4]; 2],
}

/// Point between the ears.
const MIDDLE: Vec3 = Vec3::new(0.0, 1.628, 0.005);
/// Triangles of both eyes, and rings of neighbours over which skin weights are spread.
const EYES: usize = 384;
const SKIN_PASSES: usize = 6;
/// How far below the horizontal the arms are held in the rest pose [rad].
const ARM_DROP: f32 = 0.80;

pub(super) fn person() -> Person {
    let v = Vec3::new;
    let mut rig = Rig::default();
    let legs = biped::add_legs(&mut rig);
    let spine = rig.joint("spine", Some(legs.hips), v(0.0, 1.06, -0.005));
    let chest = rig.joint("chest", Some(spine), v(0.0, 1.21, -0.015));
    let neck = rig.joint("neck", Some(chest), v(0.0, 1.465, -0.022));
    let head = rig.joint("head", Some(neck), v(0.0, 1.56, -0.008));
    let arms = SIDES.map(|(side, x)| {
        let along = Vec3::new(x * ARM_DROP.cos(), -ARM_DROP.sin(), 0.0);
        let shoulder = v(0.172 * x, 1.405, -0.018);
        let elbow = shoulder + 0.275 * along + v(0.0, 0.0, -0.006);
        let wrist = elbow + 0.25 * along + v(0.0, 0.0, 0.016);
        let collar =
            rig.joint(&format!("shoulder_{side}"), Some(chest), v(0.035 * x, 1.425, -0.005));
        let upper = rig.joint(&format!("upper_arm_{side}"), Some(collar), shoulder);
        let lower = rig.joint(&format!("forearm_{side}"), Some(upper), elbow);
        let hand = rig.joint(&format!("hand_{side}"), Some(lower), wrist);
        [collar, upper, lower, hand]
    });
    Person { rig, legs, spine, chest, neck, head, arms }
}

pub(super) fn build(triangles: usize) -> Character {
    let person = person();
    assemble(&person, "figure", vec![body(&person, triangles)])
}

/// The figure with a cape on its shoulders.
pub(super) fn build_with_cape() -> Character {
    let person = person();
    let meshes = vec![body(&person, 10_000), cloth::cape(&person)];
    assemble(&person, "figure_cape", meshes)
}

/// The figure with a skirt at its waist.
pub(super) fn build_with_skirt() -> Character {
    let person = person();
    let meshes = vec![body(&person, 10_000), cloth::skirt(&person)];
    // In a wide skirt the hands keep clear of the hips, or they would pin it there.
    let clips = clips(&person, 0.10);
    Character { clips, ..assemble(&person, "figure_skirt", meshes) }
}

/// The figure between the flat panels of a tunic.
pub(super) fn build_with_tunic() -> Character {
    let person = person();
    let meshes = vec![body(&person, 10_000), tunic::panels(&person)];
    let clips = clips(&person, 0.10);
    Character { clips, ..assemble(&person, "figure_tunic", meshes) }
}

/// A garment alone, on the figure's skeleton.
pub(super) fn build_garment(name: &str, make: fn(&Person) -> CharacterMesh) -> Character {
    let person = person();
    let mesh = make(&person);
    assemble(&person, name, vec![mesh])
}

fn assemble(person: &Person, name: &str, meshes: Vec<CharacterMesh>) -> Character {
    Character {
        name: name.to_owned(),
        skeleton: person.rig.skeleton(),
        skins: vec![person.rig.skin("figure")],
        meshes,
        clips: clips(person, 0.0),
    }
}

fn body(person: &Person, triangles: usize) -> CharacterMesh {
    let center = MIDDLE + Vec3::new(0.0, -0.02, 0.06);
    let mut clay =
        Clay { lens: Some(Lens { center, radius: 0.10, magnify: 3.4 }), ..Clay::default() };
    torso(&mut clay, person);
    for side in 0..2 {
        leg(&mut clay, person, side);
        arm(&mut clay, person, side);
    }
    clay.paint(0, 1).with(0.03, &[person.neck]);
    clay.cone(Vec3::new(0.0, 1.42, -0.030), Vec3::new(0.0, 1.58, -0.016), 0.058, 0.052);
    head::shape(&mut clay, person.head, MIDDLE, &head::FACE_A);
    let mut sculpture = Sculpture::new(&clay, &person.rig, triangles - EYES, SKIN_PASSES);
    head::paint(&mut sculpture, MIDDLE, &head::FACE_A);
    dress(&mut sculpture);
    head::add_eyes(&mut sculpture, person.head, MIDDLE, &head::FACE_A);
    sculpture.region("scalp", |p, _| {
        let q = p - MIDDLE;
        0.75 * q.y - 0.65 * q.z > 0.027 && q.y > -0.065 && (q.x.abs() < 0.074 || q.y.abs() > 0.04)
    });
    sculpture.region("torso", |p, _| (0.98..1.44).contains(&p.y) && p.x.abs() < 0.2);
    let materials = vec![material("body", 0xFFFFFF, 0.6), material("eye", 0xFFFFFF, 0.06)];
    sculpture.finish("figure", materials, &charts(person))
}

/// Torso, head, left and right leg, left and right arm.
fn charts(person: &Person) -> Vec<Chart> {
    let mut out = vec![
        Chart { origin: Vec3::new(0.0, 1.2, 0.0), axis: Vec3::Y, seam: -Vec3::Z },
        Chart { origin: MIDDLE, axis: Vec3::Y, seam: -Vec3::Z },
    ];
    for (side, x) in [(0, 1.0), (1, -1.0)] {
        let origin = person.rig.place(person.legs.sides[side][1]);
        out.push(Chart { origin, axis: Vec3::Y, seam: -Vec3::X * x });
    }
    for (side, x) in [(0, 1.0), (1, -1.0)] {
        let origin = person.rig.place(person.arms[side][2]);
        let axis = Vec3::new(-x * ARM_DROP.cos(), ARM_DROP.sin(), 0.0);
        out.push(Chart { origin, axis, seam: -Vec3::Y });
    }
    out
}

fn torso(clay: &mut Clay, p: &Person) {
    let v = Vec3::new;
    clay.paint(0, 0).with(0.07, &[p.legs.hips]);
    clay.ellipsoid(v(0.0, 0.945, -0.005), v(0.155, 0.105, 0.105), Quat::IDENTITY);
    for x in [1.0, -1.0] {
        clay.ellipsoid(v(0.072 * x, 0.905, -0.055), v(0.076, 0.080, 0.070), Quat::IDENTITY);
    }
    clay.with(0.07, &[p.legs.hips, p.spine, p.chest]);
    clay.ellipsoid(v(0.0, 1.09, -0.002), v(0.125, 0.14, 0.092), Quat::IDENTITY);
    clay.with(0.06, &[p.spine, p.chest]);
    clay.ellipsoid(v(0.0, 1.26, -0.012), v(0.142, 0.15, 0.100), Quat::IDENTITY);
    clay.with(0.05, &[p.chest]);
    for x in [1.0, -1.0] {
        clay.ellipsoid(v(0.070 * x, 1.295, 0.052), v(0.075, 0.060, 0.042), Quat::IDENTITY);
        clay.cone(v(0.03 * x, 1.425, -0.022), v(0.150 * x, 1.398, -0.022), 0.048, 0.054);
        clay.cone(v(0.0, 1.47, -0.03), v(0.10 * x, 1.42, -0.03), 0.035, 0.035);
    }
}

fn leg(clay: &mut Clay, p: &Person, side: usize) {
    let [thigh, shin, foot, toe] = p.legs.sides[side];
    let at = |j| p.rig.place(j);
    let v = Vec3::new;
    clay.paint(0, 2 + side).with(0.05, &[thigh]);
    clay.cone(at(thigh), at(shin), 0.084, 0.052);
    clay.ellipsoid(
        at(thigh).lerp(at(shin), 0.4) + v(0.0, 0.0, 0.018),
        v(0.066, 0.16, 0.062),
        Quat::IDENTITY,
    );
    clay.with(0.03, &[shin]);
    clay.cone(at(shin), at(foot), 0.050, 0.034);
    clay.ellipsoid(at(shin) + v(0.0, -0.13, -0.022), v(0.047, 0.105, 0.048), Quat::IDENTITY);
    clay.with(0.02, &[foot]);
    let heel = at(foot) + v(0.0, -0.050, -0.018);
    clay.cone(at(foot), heel, 0.036, 0.036);
    clay.cone(heel, at(toe) + Vec3::Y * 0.010, 0.036, 0.034);
    clay.with(0.02, &[toe]);
    clay.ellipsoid(at(toe) + v(0.0, 0.004, 0.020), v(0.042, 0.029, 0.058), Quat::IDENTITY);
}

fn arm(clay: &mut Clay, p: &Person, side: usize) {
    let x = SIDES[side].1;
    let [_, upper, lower, hand] = p.arms[side];
    let at = |j| p.rig.place(j);
    let along = Vec3::new(x * ARM_DROP.cos(), -ARM_DROP.sin(), 0.0);
    let turn = Quat::from_rotation_arc(-Vec3::Y, along);
    clay.paint(0, 4 + side).with(0.05, &[upper]);
    clay.cone(at(upper), at(lower), 0.056, 0.040);
    clay.with(0.025, &[lower]);
    clay.cone(at(lower), at(hand), 0.040, 0.027);
    clay.ellipsoid(at(lower) + 0.06 * along, Vec3::new(0.041, 0.075, 0.043), turn);
    // A hand: palm, four fingers as two pairs, thumb.
    clay.with(0.018, &[hand]);
    clay.ellipsoid(at(hand) + 0.052 * along, Vec3::new(0.021, 0.054, 0.040), turn);
    clay.with(0.012, &[hand]);
    for z in [-0.020, 0.019] {
        let root = at(hand) + 0.085 * along + Vec3::Z * z;
        let tip = at(hand) + 0.165 * along + Vec3::new(-0.012 * x, -0.010, 0.8 * z);
        clay.cone(root, tip, 0.0185, 0.0135);
    }
    clay.cone(
        at(hand) + 0.03 * along + Vec3::Z * 0.028,
        at(hand) + 0.085 * along + Vec3::new(-0.01 * x, 0.0, 0.062),
        0.0165,
        0.0130,
    );
}

/// Shirt, leggings, shoes; the skin shows at neck and arms.
fn dress(body: &mut Sculpture) {
    let skin = srgb(0xE9B896);
    let (shirt, trim) = (srgb(0x2F8F8B), srgb(0xF2E6C9));
    let (leggings, shoe, sole) = (srgb(0x2B3350), srgb(0xD8573C), srgb(0xF4EFE6));
    body.color(|p, n, before| {
        // Along the arm from the shoulder [m].
        let out = (p.x.abs() - 0.172) * ARM_DROP.cos() - (p.y - 1.405) * ARM_DROP.sin();
        let off = (p.x.abs() - 0.172) * ARM_DROP.sin() + (p.y - 1.405) * ARM_DROP.cos();
        let on_arm = p.x.abs() > 0.16 && out > 0.0 && off.abs() < 0.1;
        let from_neck = p.x.hypot(1.15 * (p.z + 0.035));
        let neckline = smoothstep(0.070, 0.078, from_neck + 0.6 * (1.44 - p.y).max(0.0));
        // Above the neck the face is painted already.
        let mut color = if p.y > 1.5 { before } else { skin };
        let under = if on_arm {
            smoothstep(0.165, 0.155, out)
        } else {
            neckline * smoothstep(1.53, 1.50, p.y)
        };
        color = color.lerp(shirt, under);
        let hem = if on_arm {
            smoothstep(0.168, 0.160, out) * smoothstep(0.138, 0.146, out)
        } else {
            0.0
        };
        color = color.lerp(trim, hem);
        if !on_arm && p.x.abs() < 0.3 {
            color = color.lerp(leggings, smoothstep(0.985, 0.975, p.y));
            color = color.lerp(shoe, smoothstep(0.105, 0.095, p.y));
            color = color.lerp(sole, smoothstep(0.020, 0.012, p.y) * smoothstep(0.3, 0.0, n.y));
        }
        color
    });
}

/// `clear` is how much farther than usual the arms are held from the body when running [rad]; twice that
/// where they hang.
fn clips(p: &Person, clear: f32) -> Vec<Clip> {
    let stride = |gait, phase, pose: &mut JointPose| stride(p, gait, phase, clear, pose);
    vec![
        clip(&p.rig, "walk", 1.05, true, |t, pose| stride(&biped::WALK, t / 1.05, pose)),
        clip(&p.rig, "run", 0.70, true, |t, pose| stride(&biped::RUN, t / 0.70, pose)),
        clip(&p.rig, "idle", 4.0, true, |t, pose| idle(p, t / 4.0, clear, pose)),
        clip(&p.rig, "turn", 4.0, false, |t, pose| {
            // Half around and back, on the spot.
            let way = smoothstep(0.3, 1.1, t) - smoothstep(2.0, 2.8, t);
            pose.turn(p.legs.root, Quat::from_rotation_y(2.6 * way));
            idle(p, 0.0, clear, pose);
            let lag = smoothstep(0.2, 0.9, t) - smoothstep(1.9, 2.6, t) - way;
            pose.turn(p.neck, Quat::from_rotation_y(0.5 * lag));
            pose.turn(p.head, Quat::from_rotation_y(0.7 * lag));
        }),
        clip(&p.rig, "flex", 4.0, true, |t, pose| flex(p, t, clear, pose)),
    ]
}

/// Lets an arm hang from the A-pose, then swings it forward and bends the elbow.
fn hang_arm(p: &Person, side: usize, swing: f32, bend: f32, away: f32, pose: &mut JointPose) {
    let x = SIDES[side].1;
    let [_, upper, lower, hand] = p.arms[side];
    let drop = Quat::from_rotation_z(-x * (std::f32::consts::FRAC_PI_2 - ARM_DROP - away));
    pose.turn(upper, Quat::from_rotation_x(-swing) * drop);
    pose.turn(
        lower,
        drop.inverse() * Quat::from_euler(EulerRot::YXZ, -0.2 * x * bend, -bend, 0.0) * drop,
    );
    pose.turn(hand, drop.inverse() * Quat::from_rotation_x(-0.15) * drop);
}

fn idle(p: &Person, phase: f32, clear: f32, pose: &mut JointPose) {
    let wave = |k: f32, shift: f32| (std::f32::consts::TAU * (k * phase + shift)).sin();
    let sway = 0.012 * wave(1.0, 0.0);
    let stance = biped::Stance { sway, lift: -0.012, roll: 0.6 * sway, ..Default::default() };
    biped::solve(&p.rig, &p.legs, &stance, pose);
    pose.turn(p.spine, Quat::from_euler(EulerRot::XYZ, 0.012 * wave(2.0, 0.1), 0.0, -0.8 * sway));
    pose.pitch(p.chest, -0.018 * wave(2.0, 0.0));
    pose.turn(p.head, Quat::from_rotation_y(0.10 * wave(1.0, 0.2)));
    for side in 0..2 {
        hang_arm(p, side, 0.03 * wave(2.0, 0.3), 0.22, 0.14 + 2.0 * clear, pose);
    }
}

/// Arms come forward and bend until the forearms press on the upper arms, and go back.
fn flex(p: &Person, t: f32, clear: f32, pose: &mut JointPose) {
    idle(p, 0.0, clear, pose);
    let bent = smoothstep(0.4, 1.5, t) - smoothstep(2.6, 3.7, t);
    for side in 0..2 {
        let [_, upper, lower, hand] = p.arms[side];
        for joint in [upper, lower, hand] {
            // `idle` has let them hang: turns would add up.
            pose.rotations[joint] = Quat::IDENTITY;
        }
        let away = 0.14 + 2.0 * clear + 0.25 * bent;
        hang_arm(p, side, 0.55 * bent, 0.22 + 2.28 * bent, away, pose);
    }
}

fn stride(p: &Person, gait: &Gait, phase: f32, clear: f32, pose: &mut JointPose) {
    let stance = biped::gait(gait, phase);
    biped::solve(&p.rig, &p.legs, &stance, pose);
    let running = gait.duty < 0.5;
    // The shoulders turn against the hips; the head stays ahead and level.
    let counter = -1.9 * stance.yaw;
    pose.turn(
        p.spine,
        Quat::from_euler(EulerRot::YXZ, 0.45 * counter, 0.3 * stance.lean, 0.5 * stance.roll),
    );
    pose.turn(p.chest, Quat::from_euler(EulerRot::YXZ, 0.55 * counter, 0.0, 0.5 * stance.roll));
    let seen = stance.yaw + counter;
    pose.turn(p.neck, Quat::from_euler(EulerRot::YXZ, -0.5 * seen, -0.5 * stance.lean, 0.0));
    pose.turn(p.head, Quat::from_euler(EulerRot::YXZ, -0.5 * seen, -0.5 * stance.lean, 0.0));
    for side in 0..2 {
        let s = (std::f32::consts::TAU * (phase - 0.5 * side as f32)).cos();
        // The arm is back when its own leg is forward.
        let (swing, bend) = if running {
            (-0.75 * s + 0.05, 1.55 - 0.25 * s)
        } else {
            (-0.42 * s, 0.35 - 0.15 * s)
        };
        let away = if running { 0.20 + clear } else { 0.12 + 2.0 * clear };
        hang_arm(p, side, swing, bend, away, pose);
    }
}
