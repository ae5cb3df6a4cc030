//! The cat: skeleton, body and coat. Its motion is in `cat_motion`.

use frisson::character::Character;
use glam::{EulerRot, Quat, Vec3};

use super::{cat_motion, material, srgb};
use crate::clay::{Chart, Clay, Eye, Joint, Lens, Rig, Sculpture};
use crate::clips::smoothstep;

/// Joints by role. Paired joints: left (+x), right (-x).
#[derive(Clone, Debug, Default)]
pub(super) struct CatRig {
    pub(super) rig: Rig,
    pub(super) root: Joint,
    pub(super) pelvis: Joint,
    /// `spine_01` to `spine_08`, then `chest`.
    pub(super) spine: Vec<Joint>,
    pub(super) neck: Vec<Joint>,
    pub(super) head: Joint,
    pub(super) ears: [Joint; 2],
    pub(super) tail: Vec<Joint>,
    /// Hip, knee, hock, paw, toe end.
    pub(super) hind: [[Joint; 4]; 2],
    /// Shoulder blade, shoulder, elbow, wrist, paw.
    pub(super) fore: [[Joint; 5]; 2],
}

const SIDES: [(&str, f32); 2] = [("left", 1.0), ("right", -1.0)];

pub(super) fn rig() -> CatRig {
    let mut rig = Rig::default();
    let v = Vec3::new;
    let root = rig.joint("root", None, Vec3::ZERO);
    let pelvis = rig.joint("pelvis", Some(root), v(0.0, 0.255, -0.165));
    let along = |i: usize| {
        let s = i as f32 / 8.0;
        v(0.0, 0.262 + 0.012 * (std::f32::consts::PI * s).sin(), -0.135 + 0.245 * s)
    };
    let mut spine = rig.chain("spine", pelvis, &(0..8).map(along).collect::<Vec<_>>());
    spine.push(rig.joint("chest", Some(spine[7]), v(0.0, 0.258, 0.112)));
    let neck = rig.chain("neck", spine[8], &[v(0.0, 0.268, 0.150), v(0.0, 0.298, 0.182)]);
    let head = rig.joint("head", Some(neck[1]), v(0.0, 0.328, 0.208));
    let ears = SIDES
        .map(|(side, x)| rig.joint(&format!("ear_{side}"), Some(head), v(0.028 * x, 0.376, 0.218)));
    let tail_at = |i: usize| {
        let s = i as f32 / 8.0;
        v(0.0, 0.262 - 0.07 * s + 0.14 * s * s * s, -0.205 - 0.27 * s)
    };
    let tail = rig.chain("tail", pelvis, &(0..8).map(tail_at).collect::<Vec<_>>());
    let hind = SIDES.map(|(side, x)| {
        let hip = rig.joint(&format!("thigh_{side}"), Some(pelvis), v(0.036 * x, 0.232, -0.165));
        let knee = rig.joint(&format!("shin_{side}"), Some(hip), v(0.046 * x, 0.152, -0.118));
        let hock = rig.joint(&format!("hock_{side}"), Some(knee), v(0.042 * x, 0.082, -0.205));
        let paw = rig.joint(&format!("paw_back_{side}"), Some(hock), v(0.042 * x, 0.018, -0.182));
        [hip, knee, hock, paw]
    });
    let fore = SIDES.map(|(side, x)| {
        let blade =
            rig.joint(&format!("shoulder_{side}"), Some(spine[8]), v(0.030 * x, 0.262, 0.105));
        let arm = rig.joint(&format!("upper_arm_{side}"), Some(blade), v(0.042 * x, 0.196, 0.142));
        let elbow = rig.joint(&format!("forearm_{side}"), Some(arm), v(0.044 * x, 0.142, 0.092));
        let wrist = rig.joint(&format!("wrist_{side}"), Some(elbow), v(0.040 * x, 0.048, 0.108));
        let paw = rig.joint(&format!("paw_front_{side}"), Some(wrist), v(0.040 * x, 0.016, 0.116));
        [blade, arm, elbow, wrist, paw]
    });
    CatRig { rig, root, pelvis, spine, neck, head, ears, tail, hind, fore }
}

/// With stripes as strong as `stripes`, from 0 to 1.
pub(super) fn build(triangles: usize, stripes: f32) -> Character {
    let cat = rig();
    let mut clay = Clay {
        lens: Some(Lens { center: Vec3::new(0.0, 0.36, 0.25), radius: 0.06, magnify: 2.6 }),
        ..Clay::default()
    };
    torso(&mut clay, &cat);
    for side in 0..2 {
        hind_leg(&mut clay, &cat, side);
        fore_leg(&mut clay, &cat, side);
    }
    tail(&mut clay, &cat);
    head(&mut clay, &cat);
    let mut body = Sculpture::new(&clay, &cat.rig, triangles - 384, 8);
    paint(&mut body, stripes);
    add_eyes(&mut body, &cat);
    name_regions(&mut body);
    let materials = vec![material("fur", 0xFFFFFF, 0.85), material("eye", 0xFFFFFF, 0.08)];
    let mesh = body.finish("cat", materials, &charts(&cat));
    Character {
        name: "cat".to_owned(),
        skeleton: cat.rig.skeleton(),
        skins: vec![cat.rig.skin("cat")],
        meshes: vec![mesh],
        clips: cat_motion::clips(&cat),
    }
}

/// Torso, head, tail, hind left/right, fore left/right.
fn charts(cat: &CatRig) -> Vec<Chart> {
    let v = Vec3::new;
    let limb = |j: Joint| Chart { origin: cat.rig.place(j), axis: Vec3::Y, seam: -Vec3::Z };
    vec![
        Chart { origin: v(0.0, 0.225, 0.0), axis: Vec3::Z, seam: -Vec3::Y },
        Chart { origin: v(0.0, 0.35, 0.235), axis: Vec3::Y, seam: -Vec3::Z },
        Chart { origin: v(0.0, 0.25, -0.3), axis: -Vec3::Z, seam: -Vec3::Y },
        limb(cat.hind[0][2]),
        limb(cat.hind[1][2]),
        limb(cat.fore[0][3]),
        limb(cat.fore[1][3]),
    ]
}

fn torso(clay: &mut Clay, cat: &CatRig) {
    let v = Vec3::new;
    let mut back = vec![cat.pelvis];
    back.extend(&cat.spine);
    clay.paint(0, 0);
    clay.with(0.05, &back);
    clay.ellipsoid(v(0.0, 0.222, 0.072), v(0.056, 0.070, 0.090), Quat::from_rotation_x(0.12));
    clay.ellipsoid(v(0.0, 0.212, 0.0), v(0.060, 0.066, 0.095), Quat::IDENTITY);
    clay.ellipsoid(v(0.0, 0.200, -0.075), v(0.058, 0.064, 0.085), Quat::from_rotation_x(0.12));
    clay.with(0.04, &back);
    clay.ellipsoid(v(0.0, 0.238, -0.165), v(0.050, 0.052, 0.062), Quat::from_rotation_x(0.35));
    clay.cone(v(0.0, 0.250, -0.15), v(0.0, 0.246, 0.09), 0.036, 0.036);
    // Breast and throat.
    clay.with(0.03, &[cat.spine[8]]);
    clay.ellipsoid(v(0.0, 0.205, 0.130), v(0.040, 0.050, 0.038), Quat::from_rotation_x(-0.3));
    clay.with(0.03, &[cat.neck[0]]);
    clay.cone(v(0.0, 0.248, 0.132), v(0.0, 0.290, 0.176), 0.044, 0.034);
    clay.with(0.025, &[cat.neck[1]]);
    clay.cone(v(0.0, 0.290, 0.176), v(0.0, 0.330, 0.214), 0.033, 0.030);
}

fn hind_leg(clay: &mut Clay, cat: &CatRig, side: usize) {
    let x = SIDES[side].1;
    let [hip, knee, hock, paw] = cat.hind[side];
    let at = |j: Joint| cat.rig.place(j);
    let v = |dx: f32, dy: f32, dz: f32| Vec3::new(x * dx, dy, dz);
    clay.paint(0, 3 + side);
    clay.with(0.03, &[hip]);
    clay.ellipsoid(
        v(0.043, 0.196, -0.150),
        Vec3::new(0.026, 0.062, 0.048),
        Quat::from_rotation_x(-0.45),
    );
    clay.cone(at(hip), at(knee), 0.036, 0.023);
    clay.with(0.018, &[knee]);
    clay.cone(at(knee), at(hock), 0.0225, 0.0115);
    clay.ellipsoid(
        at(knee).lerp(at(hock), 0.32) + v(0.0, -0.004, -0.006),
        Vec3::new(0.017, 0.034, 0.021),
        Quat::from_rotation_x(0.9),
    );
    clay.with(0.012, &[hock]);
    clay.cone(at(hock), at(paw), 0.0125, 0.0120);
    clay.ball(at(hock) + v(0.0, 0.004, -0.005), 0.0095);
    paw_shape(clay, paw, at(paw) + v(0.0, 0.0, 0.012), x);
}

fn fore_leg(clay: &mut Clay, cat: &CatRig, side: usize) {
    let x = SIDES[side].1;
    let [blade, arm, elbow, wrist, paw] = cat.fore[side];
    let at = |j: Joint| cat.rig.place(j);
    let v = |dx: f32, dy: f32, dz: f32| Vec3::new(x * dx, dy, dz);
    clay.paint(0, 5 + side);
    clay.with(0.03, &[blade]);
    clay.ellipsoid(
        v(0.038, 0.225, 0.118),
        Vec3::new(0.024, 0.055, 0.036),
        Quat::from_rotation_x(-0.45),
    );
    clay.with(0.022, &[arm]);
    clay.cone(at(arm), at(elbow), 0.027, 0.021);
    clay.with(0.016, &[elbow]);
    clay.cone(at(elbow), at(wrist), 0.0205, 0.0125);
    clay.with(0.012, &[wrist]);
    clay.cone(at(wrist), at(paw), 0.0128, 0.0130);
    paw_shape(clay, paw, at(paw) + v(0.0, 0.0, 0.010), x);
}

/// A round paw with four toes.
fn paw_shape(clay: &mut Clay, joint: Joint, middle: Vec3, x: f32) {
    clay.with(0.010, &[joint]);
    clay.ellipsoid(
        middle + Vec3::new(0.0, -0.001, 0.0),
        Vec3::new(0.0165, 0.0125, 0.020),
        Quat::IDENTITY,
    );
    clay.with(0.004, &[joint]);
    for toe in 0..4 {
        let s = toe as f32 - 1.5;
        let forward = 0.0165 - 0.0028 * s * s;
        clay.ball(middle + Vec3::new(x * 0.0088 * s, -0.0045, forward), 0.0078);
    }
}

fn tail(clay: &mut Clay, cat: &CatRig) {
    clay.paint(0, 2);
    let at = |i: usize| cat.rig.place(cat.tail[i]);
    let radius = |i: usize| 0.0165 - 0.0007 * i as f32;
    for i in 0..8 {
        let next = if i < 7 { at(i + 1) } else { 2.0 * at(7) - at(6) + Vec3::Y * 0.01 };
        clay.with(if i == 0 { 0.03 } else { 0.008 }, &[cat.tail[i]]);
        clay.cone(at(i), next, radius(i), radius(i + 1));
    }
}

fn head(clay: &mut Clay, cat: &CatRig) {
    let v = Vec3::new;
    let j = [cat.head];
    clay.paint(0, 1);
    clay.with(0.022, &j);
    clay.ellipsoid(v(0.0, 0.350, 0.232), v(0.0415, 0.0365, 0.0430), Quat::IDENTITY);
    for x in [1.0, -1.0] {
        clay.with(0.016, &j);
        clay.ellipsoid(v(0.024 * x, 0.336, 0.240), v(0.0215, 0.0185, 0.024), Quat::IDENTITY);
    }
    // Bridge of the nose and muzzle.
    clay.with(0.014, &j);
    clay.cone(v(0.0, 0.362, 0.262), v(0.0, 0.3445, 0.287), 0.0125, 0.0075);
    clay.ellipsoid(v(0.0, 0.331, 0.272), v(0.019, 0.0135, 0.019), Quat::IDENTITY);
    clay.with(0.006, &j);
    for x in [1.0, -1.0] {
        clay.ellipsoid(v(0.0085 * x, 0.3335, 0.2845), v(0.0098, 0.0085, 0.0100), Quat::IDENTITY);
    }
    clay.with(0.006, &j).ellipsoid(v(0.0, 0.3235, 0.2805), v(0.009, 0.006, 0.0085), Quat::IDENTITY);
    // Mouth line, then the eye sockets.
    clay.with(0.003, &j);
    for x in [1.0, -1.0] {
        clay.carve_cone(v(0.0, 0.3290, 0.2965), v(0.015 * x, 0.3265, 0.287), 0.0012, 0.0010);
        clay.with(0.006, &j);
        clay.carve_ellipsoid(
            v(0.0195 * x, 0.3545, 0.2745),
            v(0.0112, 0.0098, 0.0080),
            Quat::from_rotation_z(0.3 * x),
        );
    }
    clay.with(0.003, &j);
    clay.ellipsoid(v(0.0, 0.3428, 0.2940), v(0.0068, 0.0048, 0.0045), Quat::IDENTITY);
    for side in 0..2 {
        ear(clay, cat.ears[side], SIDES[side].1);
    }
}

fn ear(clay: &mut Clay, joint: Joint, x: f32) {
    let v = |dx: f32, y: f32, z: f32| Vec3::new(x * dx, y, z);
    clay.paint(0, 1);
    let lean = Quat::from_euler(EulerRot::ZYX, -0.32 * x, 0.35 * x, -0.12);
    let base = v(0.0265, 0.376, 0.222);
    let out = |dx: f32, dy: f32, dz: f32| base + lean * Vec3::new(x * dx, dy, dz);
    clay.with(0.012, &[joint]);
    clay.cone(out(0.0, -0.004, 0.0), out(0.0, 0.046, -0.002), 0.0200, 0.0034);
    clay.with(0.003, &[joint]);
    clay.carve_cone(out(0.0, 0.006, 0.0185), out(0.0, 0.040, 0.0075), 0.0160, 0.0030);
}

fn add_eyes(body: &mut Sculpture, cat: &CatRig) {
    for x in [1.0, -1.0] {
        let eye = Eye {
            center: Vec3::new(0.0188 * x, 0.3548, 0.2635),
            radius: 0.0105,
            gaze: Vec3::new(0.30 * x, 0.02, 1.0),
            pupil: 0.42,
            iris: 0.95,
            colors: [srgb(0x0B0D08), srgb(0x9CB648), srgb(0x3A3020)],
        };
        body.add_eye(&eye, cat.head, 1, 1);
    }
}

fn name_regions(body: &mut Sculpture) {
    body.region("belly", |p, n| p.z.abs() < 0.13 && p.y < 0.215 && p.y > 0.12 && n.y < 0.2);
    body.region("back", |p, n| p.z.abs() < 0.16 && p.y > 0.22 && n.y > 0.3);
    body.region("head", |p, _| p.z > 0.19 && p.y > 0.3);
    body.region("tail", |p, _| p.z < -0.225 && p.y > 0.12);
    for (side, x) in SIDES {
        body.region(&format!("shoulder_{side}"), |p, n| {
            x * p.x > 0.015
                && (0.06..0.17).contains(&p.z)
                && (0.15..0.28).contains(&p.y)
                && x * n.x > 0.2
        });
        body.region(&format!("flank_{side}"), |p, n| {
            x * p.x > 0.015 && (-0.13..0.03).contains(&p.z) && p.y > 0.15 && x * n.x > 0.3
        });
    }
}

/// A ginger tabby: stripes over back, flanks, legs and tail; cream chin, chest, belly and paws.
fn paint(body: &mut Sculpture, stripes: f32) {
    let (ginger, stripe, cream, pink, rose) =
        (srgb(0xD98B45), srgb(0xA9561F), srgb(0xFFF1DC), srgb(0xE8A79A), srgb(0xC9706A));
    body.color(|p, n, _| {
        let x = p.x.abs();
        let head = smoothstep(0.175, 0.2, p.z) * smoothstep(0.29, 0.31, p.y);
        // Stripes follow the body's length, wave a little, and fade towards the belly.
        let wave = 7.0 * (p.y - 0.2) * (p.y - 0.2) / 0.01 * 0.25;
        let bands = (140.0 * p.z + wave + 0.9 * (38.0 * p.y).sin()).sin();
        let legs = (150.0 * p.y + 30.0 * x).sin();
        let on_leg = smoothstep(0.16, 0.13, p.y) * smoothstep(-0.23, -0.21, p.z);
        let pattern = smoothstep(0.25, 0.75, bands * (1.0 - on_leg) + legs * on_leg);
        let mut fur = ginger.lerp(stripe, 0.8 * stripes * pattern * (1.0 - head));
        // Forehead: the tabby's M.
        let m = smoothstep(0.4, 0.8, (460.0 * x + 0.6).cos()) * smoothstep(0.364, 0.372, p.y);
        fur = fur.lerp(stripe, 0.8 * head * m * smoothstep(0.22, 0.24, p.z));
        let under = smoothstep(-0.35, -0.8, n.y) * smoothstep(0.10, 0.14, p.y) * (1.0 - head);
        let chest =
            smoothstep(0.145, 0.16, p.z) * smoothstep(0.27, 0.24, p.y) * smoothstep(0.03, 0.015, x);
        let socks = smoothstep(0.042, 0.034, p.y);
        let muzzle = head * smoothstep(0.345, 0.338, p.y) * smoothstep(0.262, 0.272, p.z);
        let tip = smoothstep(-0.42, -0.45, p.z);
        let white = under.max(chest).max(socks).max(muzzle).max(tip);
        fur = fur.lerp(cream, white);
        // Inside of the ears.
        let inner = smoothstep(0.384, 0.392, p.y)
            * smoothstep(0.45, 0.7, n.z)
            * smoothstep(0.012, 0.018, x);
        fur = fur.lerp(pink, inner);
        let nose = (Vec3::new(0.0, 0.3435, 0.2965) - p) / Vec3::new(0.0085, 0.0062, 0.008);
        fur.lerp(rose, smoothstep(1.05, 0.8, nose.length()))
    });
}
