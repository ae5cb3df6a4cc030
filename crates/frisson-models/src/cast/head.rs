//! Two heads with faces: for hair, forehead wrinkles, tears and rain.

use frisson::character::{Character, Clip, Interpolation, MorphTarget, Track, TrackTarget};
use glam::{EulerRot, Quat, Vec3};

use super::{material, srgb};
use crate::clay::{Chart, Clay, Eye, Joint, Lens, Rig, Sculpture};
use crate::clips::{clip, smoothstep};

/// What makes one face differ from another; lengths in metres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    /// Widens jaw and chin.
    jaw: f32,
    /// Length and width of the nose against the first head's.
    nose: f32,
    /// How far the brow stands out [m].
    brow: f32,
    /// Fullness of cheeks and lips.
    full: f32,
    /// Thickness of the neck against the first head's.
    neck: f32,
    skin: u32,
    hair: u32,
    iris: u32,
}

/// The younger, rounder one.
pub(super) const FACE_A: Face = Face {
    jaw: 0.0,
    nose: 1.0,
    brow: 0.0,
    full: 1.0,
    neck: 1.0,
    skin: 0xE9B896,
    hair: 0x4A2E20,
    iris: 0x4F6F52,
};

/// The older, bonier one.
pub(super) const FACE_B: Face = Face {
    jaw: 0.010,
    nose: 1.28,
    brow: 0.006,
    full: 0.8,
    neck: 1.18,
    skin: 0xB9825C,
    hair: 0x2A2624,
    iris: 0x4A3320,
};

/// Point between the ears, from which faces are measured, in the head models.
const MIDDLE: Vec3 = Vec3::new(0.0, 0.228, 0.0);

const BOTH: [f32; 2] = [1.0, -1.0];

pub(super) fn build(name: &str, face: &Face, triangles: usize) -> Character {
    let mut rig = Rig::default();
    let root = rig.joint("root", None, Vec3::ZERO);
    let neck = rig.joint("neck", Some(root), Vec3::new(0.0, 0.05, -0.03));
    let head = rig.joint("head", Some(neck), Vec3::new(0.0, 0.16, -0.018));
    let center = MIDDLE + Vec3::new(0.0, -0.025, 0.085);
    let mut clay =
        Clay { lens: Some(Lens { center, radius: 0.07, magnify: 2.0 }), ..Clay::default() };
    bust(&mut clay, root, neck, face.neck);
    shape(&mut clay, head, MIDDLE, face);
    let mut body = Sculpture::new(&clay, &rig, triangles - 384, 5);
    paint(&mut body, MIDDLE, face);
    add_eyes(&mut body, head, MIDDLE, face);
    name_regions(&mut body, MIDDLE);
    let charts = [
        Chart { origin: Vec3::new(0.0, 0.1, -0.03), axis: Vec3::Y, seam: -Vec3::Z },
        Chart { origin: MIDDLE, axis: Vec3::Y, seam: -Vec3::Z },
    ];
    let materials = vec![material("skin", 0xFFFFFF, 0.5), material("eye", 0xFFFFFF, 0.06)];
    let mut mesh = body.finish(name, materials, &charts);
    mesh.morphs = vec![raised_brows(&mesh.mesh.positions, MIDDLE)];
    mesh.morph_weights = vec![0.0];
    let mut all = clips(&rig, neck, head);
    all.push(raise(mesh.node));
    Character {
        name: name.to_owned(),
        skeleton: rig.skeleton(),
        skins: vec![rig.skin(name)],
        meshes: vec![mesh],
        clips: all,
    }
}

/// How far raised brows go up [m].
const BROW_RAISE: f32 = 0.012;

/// The skin over the brows and up to the hairline, pushed up: most at the brows, not at all at the lids
/// and at the hairline.
fn raised_brows(positions: &[Vec3], middle: Vec3) -> MorphTarget {
    let mut morph = MorphTarget { name: "brows_up".to_owned(), ..MorphTarget::default() };
    for (vertex, &p) in positions.iter().enumerate() {
        let q = p - middle;
        let up = smoothstep(0.002, 0.018, q.y) * smoothstep(0.084, 0.028, q.y);
        let front = smoothstep(0.02, 0.05, q.z) * smoothstep(0.066, 0.045, q.x.abs());
        let share = up * front;
        if share > 0.0 {
            morph.vertices.push(vertex as u32);
            // Along the skull, which leans back above the brows.
            let back = -0.35 * smoothstep(0.02, 0.06, q.y);
            morph.offsets.push(BROW_RAISE * share * Vec3::new(0.0, 1.0, back));
        }
    }
    morph
}

/// Brows go up, stay, and come down.
fn raise(node: usize) -> Clip {
    let times: Vec<f32> = (0..=120).map(|k| k as f32 / 30.0).collect();
    let up = |&t: &f32| smoothstep(0.2, 0.8, t) * (1.0 - smoothstep(1.4, 2.0, t));
    let track = Track {
        target: TrackTarget::MorphWeights(node),
        interpolation: Interpolation::Linear,
        values: times.iter().map(up).collect(),
        times,
        width: 1,
    };
    Clip { name: "raise".to_owned(), tracks: vec![track] }
}

fn clips(rig: &Rig, neck: Joint, head: Joint) -> Vec<Clip> {
    let wave = |t: f32, hz: f32| (std::f32::consts::TAU * hz * t).sin();
    // A burst of motion with rest before and after, so that what follows can be seen settling.
    let burst = |t: f32, from: f32, to: f32| {
        smoothstep(from, from + 0.25, t) * (1.0 - smoothstep(to - 0.25, to, t))
    };
    let share = move |pose: &mut crate::clips::JointPose, turn: Quat| {
        pose.turn(neck, Quat::IDENTITY.slerp(turn, 0.35));
        pose.turn(head, Quat::IDENTITY.slerp(turn, 0.65));
    };
    vec![
        clip(rig, "still", 4.0, true, |_, _| {}),
        clip(rig, "nod", 4.0, false, |t, pose| {
            share(pose, Quat::from_rotation_x(0.32 * burst(t, 0.3, 2.3) * wave(t - 0.3, 1.5)));
        }),
        clip(rig, "shake", 4.0, false, |t, pose| {
            share(pose, Quat::from_rotation_y(0.75 * burst(t, 0.3, 2.3) * wave(t - 0.3, 2.0)));
        }),
        clip(rig, "turn", 4.0, false, |t, pose| {
            let way =
                smoothstep(0.4, 0.9, t) - 2.0 * smoothstep(1.7, 2.3, t) + smoothstep(3.0, 3.5, t);
            share(pose, Quat::from_euler(EulerRot::YXZ, 0.9 * way, 0.06 * way.abs(), 0.0));
        }),
    ]
}

/// Neck and shoulders, cut flat at the ground.
fn bust(clay: &mut Clay, root: Joint, neck: Joint, thick: f32) {
    let v = Vec3::new;
    clay.paint(0, 0).with(0.05, &[root]);
    clay.ellipsoid(v(0.0, 0.012, -0.028), v(0.135, 0.040, 0.075), Quat::IDENTITY);
    clay.with(0.04, &[neck]);
    clay.cone(v(0.0, 0.02, -0.032), v(0.0, 0.20, -0.022), 0.054 * thick, 0.050 * thick);
    for x in BOTH {
        clay.with(0.02, &[neck]);
        clay.cone(v(0.012 * x, 0.035, 0.022), v(0.052 * x, 0.185, -0.025), 0.011, 0.014);
    }
    clay.with(0.0, &[]);
    clay.carve_cone(v(0.0, -10.0, 0.0), v(0.0, -10.0, 0.0), 10.0, 10.0);
}

/// Skull and face around `middle`.
pub(super) fn shape(clay: &mut Clay, head: Joint, middle: Vec3, face: &Face) {
    clay.paint(0, 1);
    skull(clay, head, middle, face);
    for x in BOTH {
        eye_region(clay, head, middle, x);
        ear(clay, head, middle, x);
    }
    nose(clay, head, middle, face);
    mouth(clay, head, middle, face);
}

fn skull(clay: &mut Clay, head: Joint, middle: Vec3, face: &Face) {
    let v = |x: f32, y: f32, z: f32| middle + Vec3::new(x, y, z);
    let r = Vec3::new;
    let j = [head];
    clay.with(0.03, &j);
    clay.ellipsoid(v(0.0, 0.040, -0.018), r(0.076, 0.086, 0.096), Quat::IDENTITY);
    clay.ellipsoid(v(0.0, 0.045, 0.028), r(0.064, 0.058, 0.056), Quat::IDENTITY);
    clay.ellipsoid(
        v(0.0, -0.035, 0.030),
        r(0.056 + 0.5 * face.jaw, 0.072, 0.056),
        Quat::from_rotation_x(-0.15),
    );
    clay.with(0.024, &j);
    clay.ellipsoid(v(0.0, -0.066, 0.062), r(0.034, 0.030, 0.028), Quat::IDENTITY);
    for x in BOTH {
        clay.with(0.026, &j);
        let corner = v((0.047 + face.jaw) * x, -0.062, 0.0);
        clay.cone(corner, v((0.012 + 0.6 * face.jaw) * x, -0.104, 0.066), 0.019, 0.013);
        clay.cone(corner, v(0.060 * x, -0.012, -0.006), 0.018, 0.016);
        clay.with(0.024, &j);
        let full = 0.021 * face.full;
        clay.ellipsoid(
            v(0.042 * x, -0.038, 0.054),
            r(full, 0.026, full),
            Quat::from_rotation_z(0.3 * x),
        );
        clay.with(0.03, &j);
        let hollow = 0.024 * face.full.sqrt();
        clay.ellipsoid(v(0.043 * x, -0.040, 0.022), r(hollow, 0.042, 0.036), Quat::IDENTITY);
        clay.with(0.022, &j);
        clay.cone(v(0.048 * x, -0.018, 0.050), v(0.062 * x, -0.012, 0.018), 0.011, 0.009);
        // Brow.
        let out = face.brow;
        clay.with(0.014, &j);
        clay.cone(
            v(0.013 * x, 0.017, 0.079 + out),
            v(0.046 * x, 0.021, 0.063 + out),
            0.0095,
            0.0075,
        );
    }
    clay.with(0.016, &j);
    clay.ellipsoid(v(0.0, -0.104, 0.074), r(0.017 + face.jaw, 0.013, 0.013), Quat::IDENTITY);
}

fn eye_region(clay: &mut Clay, head: Joint, middle: Vec3, x: f32) {
    let v = |dx: f32, y: f32, z: f32| middle + Vec3::new(dx * x, y, z);
    let j = [head];
    clay.with(0.014, &j);
    clay.carve_ellipsoid(
        v(0.031, -0.002, 0.090),
        Vec3::new(0.019, 0.013, 0.016),
        Quat::from_rotation_y(0.35 * x),
    );
    // Lids: a ball over the eye with an almond cut into it.
    clay.with(0.006, &j);
    clay.ellipsoid(v(0.0315, -0.002, 0.0655), Vec3::new(0.0160, 0.0140, 0.0140), Quat::IDENTITY);
    clay.with(0.002, &j);
    clay.carve_ellipsoid(
        v(0.0320, -0.0022, 0.0790),
        Vec3::new(0.0128, 0.0048, 0.0100),
        Quat::from_euler(EulerRot::YXZ, 0.25 * x, 0.0, 0.06 * x),
    );
}

fn ear(clay: &mut Clay, head: Joint, middle: Vec3, x: f32) {
    let turn = Quat::from_euler(EulerRot::YXZ, -0.45 * x, -0.12, 0.10 * x);
    let base = middle + Vec3::new(0.078 * x, -0.006, -0.012);
    let v = |dx: f32, y: f32, z: f32| base + turn * Vec3::new(dx * x, y, z);
    clay.with(0.008, &[head]);
    clay.ellipsoid(v(0.004, 0.004, -0.006), Vec3::new(0.0095, 0.031, 0.020), turn);
    clay.ellipsoid(v(0.001, -0.022, 0.002), Vec3::new(0.006, 0.011, 0.009), turn);
    clay.with(0.004, &[head]);
    clay.carve_ellipsoid(v(0.0165, 0.006, -0.004), Vec3::new(0.0085, 0.021, 0.0120), turn);
    clay.with(0.004, &[head]);
    clay.ellipsoid(v(0.004, -0.004, 0.010), Vec3::new(0.005, 0.007, 0.005), turn);
}

fn nose(clay: &mut Clay, head: Joint, middle: Vec3, face: &Face) {
    let n = face.nose;
    let v = |x: f32, y: f32, z: f32| middle + Vec3::new(x, y, z);
    let j = [head];
    let tip = v(0.0, -0.033, 0.089 + 0.016 * n);
    clay.with(0.012, &j);
    clay.cone(v(0.0, 0.012, 0.081 + 0.6 * face.brow), tip, 0.0070 * n, 0.0088 * n.sqrt());
    if face.brow > 0.0 {
        clay.with(0.010, &j).cone(v(0.0, -0.008, 0.098), v(0.0, -0.012, 0.099), 0.0075, 0.0075);
    }
    clay.with(0.007, &j).cone(tip, tip, 0.0105 * n.sqrt(), 0.0);
    for x in BOTH {
        clay.with(0.010, &j);
        clay.ellipsoid(
            v(0.0118 * n.sqrt() * x, -0.0385, 0.0905 + 0.012 * (n - 1.0)),
            Vec3::new(0.0072, 0.0066, 0.0095) * n.sqrt(),
            Quat::IDENTITY,
        );
        clay.with(0.003, &j);
        clay.carve_ellipsoid(
            v(0.0064 * n.sqrt() * x, -0.0462, 0.0965 + 0.014 * (n - 1.0)),
            Vec3::new(0.0034, 0.0040, 0.0052),
            Quat::IDENTITY,
        );
    }
}

fn mouth(clay: &mut Clay, head: Joint, middle: Vec3, face: &Face) {
    let v = |x: f32, y: f32, z: f32| middle + Vec3::new(x, y, z);
    let j = [head];
    let f = face.full;
    for x in BOTH {
        clay.with(0.005, &j);
        clay.cone(
            v(0.004 * x, -0.0660, 0.0905),
            v(0.0225 * x, -0.0700, 0.0790),
            0.0058 * f,
            0.0030,
        );
        clay.cone(v(0.0, -0.0765, 0.0895), v(0.0205 * x, -0.0725, 0.0790), 0.0068 * f, 0.0030);
        clay.with(0.0025, &j);
        clay.carve_cone(v(0.0, -0.0712, 0.0985), v(0.0250 * x, -0.0716, 0.0830), 0.0016, 0.0012);
    }
    clay.with(0.006, &j);
    clay.carve_cone(v(0.0, -0.0520, 0.0985), v(0.0, -0.0600, 0.0995), 0.0022, 0.0026);
    clay.with(0.008, &j);
    clay.carve_ellipsoid(v(0.0, -0.0900, 0.0930), Vec3::new(0.016, 0.005, 0.006), Quat::IDENTITY);
}

pub(super) fn add_eyes(body: &mut Sculpture, head: Joint, middle: Vec3, face: &Face) {
    for x in BOTH {
        let eye = Eye {
            center: middle + Vec3::new(0.0315 * x, -0.002, 0.0650),
            radius: 0.0125,
            gaze: Vec3::new(0.03 * x, 0.0, 1.0),
            pupil: 0.24,
            iris: 0.56,
            colors: [srgb(0x0A0A0C), srgb(face.iris), srgb(0xF4F1EC)],
        };
        body.add_eye(&eye, head, 1, 1);
    }
}

/// Above and behind the hairline, which lies in a tilted plane.
fn above_hairline(q: Vec3) -> f32 {
    0.75 * q.y - 0.65 * q.z - 0.027
}

fn name_regions(body: &mut Sculpture, middle: Vec3) {
    let at_ear = |q: Vec3| q.x.abs() > 0.074 && q.y.abs() < 0.04;
    let eye = |q: Vec3| Vec3::new(q.x.abs() - 0.0315, q.y + 0.002, q.z - 0.065).length() < 0.0127;
    body.region("scalp", |p, _| {
        let q = p - middle;
        above_hairline(q) > 0.0 && !at_ear(q) && q.y > -0.065
    });
    body.region("forehead", |p, n| {
        let q = p - middle;
        above_hairline(q) < 0.004 && q.y > 0.026 && q.x.abs() < 0.052 && n.z > 0.25
    });
    for (side, x) in [("left", 1.0), ("right", -1.0)] {
        body.region(&format!("cheek_{side}"), |p, n| {
            let q = p - middle;
            (0.022..0.072).contains(&(x * q.x))
                && (-0.075..-0.018).contains(&q.y)
                && q.z > 0.015
                && n.z > 0.0
        });
    }
    body.region("face", |p, n| {
        let q = p - middle;
        above_hairline(q) < 0.0 && q.z > 0.012 && q.y > -0.118 && n.z > -0.1 && !eye(q)
    });
}

/// Skin with warmer cheeks, nose and ears, lips, brows, and a shade where the hair will grow.
pub(super) fn paint(body: &mut Sculpture, middle: Vec3, face: &Face) {
    let skin = srgb(face.skin);
    let (warm, lips, hair) =
        (skin * Vec3::new(0.98, 0.72, 0.68), skin * Vec3::new(0.80, 0.42, 0.42), srgb(face.hair));
    body.color(|p, _, before| {
        let q = p - middle;
        if q.y < -0.3 {
            return before;
        }
        let near = |x: f32, y: f32, z: f32, r: f32| {
            smoothstep(1.0, 0.2, (Vec3::new(q.x.abs() - x, q.y - y, q.z - z)).length() / r)
        };
        let blush = near(0.042, -0.034, 0.066, 0.03)
            .max(near(0.0, -0.034, 0.106, 0.018))
            .max(near(0.084, 0.0, -0.015, 0.03));
        let mut color = skin.lerp(warm, 0.6 * blush);
        let lip_edge = 0.0265 - q.x.abs();
        let lip_height = (q.y + 0.0715).abs() - 0.0095 * (1.0 - (q.x / 0.027).powi(2)).max(0.0);
        let on_lips = smoothstep(0.0025, -0.001, lip_height)
            * smoothstep(-0.001, 0.004, lip_edge)
            * smoothstep(0.076, 0.080, q.z);
        color = color.lerp(lips, 0.85 * on_lips);
        let arch = q.y - (0.0205 + 0.004 * (1.0 - ((q.x.abs() - 0.034) / 0.02).powi(2)));
        let brow = smoothstep(0.0052, 0.0022, arch.abs())
            * smoothstep(0.010, 0.015, q.x.abs())
            * smoothstep(0.056, 0.048, q.x.abs())
            * smoothstep(0.04, 0.05, q.z);
        color = color.lerp(hair, 0.8 * brow);
        let ear = smoothstep(0.070, 0.076, q.x.abs()) * smoothstep(0.045, 0.035, q.y.abs());
        let scalp = smoothstep(-0.004, 0.008, above_hairline(q))
            * smoothstep(-0.075, -0.055, q.y)
            * (1.0 - ear);
        color.lerp(hair.lerp(skin, 0.25), 0.9 * scalp)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raised_brows_go_up_and_take_lids_and_hairline_with_them_not_at_all() {
        for (name, face) in [("head_a", &FACE_A), ("head_b", &FACE_B)] {
            let head = build(name, face, 12_000);
            let (mesh, morph) = (&head.meshes[0].mesh, &head.meshes[0].morphs[0]);
            let rise = |inside: &dyn Fn(Vec3) -> bool| {
                let mut most = (0.0f32, f32::INFINITY);
                for (v, &p) in
                    mesh.positions.iter().enumerate().filter(|(_, p)| inside(**p - MIDDLE))
                {
                    let at = morph.vertices.iter().position(|&m| m as usize == v);
                    let up = at.map_or(0.0, |i| morph.offsets[i].y);
                    assert!(p.is_finite());
                    most = (most.0.max(up), most.1.min(up));
                }
                most
            };
            let front = |q: Vec3| q.z > 0.05 && (0.014..0.044).contains(&q.x.abs());
            let brows = rise(&|q| front(q) && (0.019..0.026).contains(&q.y));
            assert!(brows.1 > 0.011, "{name}: the painted brows rise by {brows:?}");
            let lids = rise(&|q| q.z > 0.05 && q.y < 0.002);
            let hairline = rise(&|q| q.y > 0.084);
            assert_eq!((lids.0, hairline.0), (0.0, 0.0), "{name}");
        }
    }
}
