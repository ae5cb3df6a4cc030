//! A forearm and hand that bend at the wrist.

use frisson::character::Character;
use glam::{Quat, Vec3};

use super::{material, srgb};
use crate::clay::{Chart, Clay, Joint, Lens, Rig, Sculpture};
use crate::clips::{clip, smoothstep};

/// Palm down, fingers towards +z, held where it can bend either way.
const LEVEL: f32 = 0.20;

pub(super) fn build(triangles: usize) -> Character {
    let v = |x: f32, y: f32, z: f32| Vec3::new(x, LEVEL + y, z);
    let mut rig = Rig::default();
    let forearm = rig.joint("forearm", None, v(0.0, 0.0, -0.24));
    let hand = rig.joint("hand", Some(forearm), v(0.0, 0.0, 0.0));
    let mut clay = Clay {
        lens: Some(Lens { center: v(0.0, 0.0, 0.09), radius: 0.07, magnify: 1.9 }),
        ..Clay::default()
    };
    clay.paint(0, 0).with(0.006, &[forearm]);
    clay.cone(v(0.0, 0.0, -0.255), v(0.0, 0.0, -0.17), 0.038, 0.040);
    clay.cone(v(0.0, 0.0, -0.17), v(0.0, 0.0, 0.0), 0.040, 0.0260);
    for x in [1.0, -1.0] {
        clay.with(0.02, &[forearm]);
        clay.cone(v(0.014 * x, 0.0, -0.10), v(0.0125 * x, 0.001, -0.004), 0.028, 0.0215);
    }
    clay.with(0.008, &[forearm]).ellipsoid(
        v(-0.026, 0.014, -0.022),
        Vec3::splat(0.009),
        Quat::IDENTITY,
    );
    clay.with(0.006, &[]);
    // A ball of ten metres: as good as a plane, to cut the arm off.
    clay.carve_cone(v(0.0, 0.0, -10.245), v(0.0, 0.0, -10.245), 10.0, 10.0);
    palm(&mut clay, hand, &v);
    let fingers = fingers(&mut rig, &mut clay, hand, &v);
    let mut body = Sculpture::new(&clay, &rig, triangles, 4);
    paint(&mut body);
    body.region("wrist_back", |p, n| p.z.abs() < 0.05 && n.y > 0.2);
    body.region("wrist_inside", |p, n| p.z.abs() < 0.05 && n.y < -0.2);
    body.region("hand", |p, _| p.z > 0.02);
    let bend = clip(&rig, "bend", 4.0, true, |t, pose| {
        let there = |from: f32| {
            smoothstep(from, from + 0.7, t) * (1.0 - smoothstep(from + 1.1, from + 1.8, t))
        };
        let angle = -1.05 * there(0.1) + 1.15 * there(2.05);
        pose.pitch(hand, angle);
        for chain in &fingers {
            chain.iter().for_each(|&j| pose.pitch(j, 0.12 + 0.25 * angle.max(-0.3)));
        }
    });
    let charts = [Chart { origin: v(0.0, 0.0, 0.0), axis: Vec3::Z, seam: -Vec3::Y }];
    Character {
        name: "wrist".to_owned(),
        skeleton: rig.skeleton(),
        skins: vec![rig.skin("wrist")],
        meshes: vec![body.finish("wrist", vec![material("skin", 0xFFFFFF, 0.5)], &charts)],
        clips: vec![bend],
    }
}

fn palm(clay: &mut Clay, hand: Joint, v: &impl Fn(f32, f32, f32) -> Vec3) {
    clay.with(0.016, &[hand]);
    clay.cone(v(-0.010, 0.0, 0.008), v(-0.024, 0.001, 0.078), 0.0190, 0.0135);
    clay.cone(v(0.0, 0.0, 0.008), v(-0.006, 0.003, 0.082), 0.0195, 0.0140);
    clay.cone(v(0.010, 0.0, 0.008), v(0.022, 0.001, 0.080), 0.0190, 0.0140);
    // Balls of the thumb and of the little finger.
    clay.with(0.012, &[hand]);
    clay.ellipsoid(
        v(0.022, -0.008, 0.032),
        Vec3::new(0.015, 0.014, 0.028),
        Quat::from_rotation_y(0.35),
    );
    clay.ellipsoid(v(-0.020, -0.007, 0.034), Vec3::new(0.012, 0.012, 0.030), Quat::IDENTITY);
}

/// Thumb and four fingers of two bones each.
fn fingers(
    rig: &mut Rig,
    clay: &mut Clay,
    hand: Joint,
    v: &impl Fn(f32, f32, f32) -> Vec3,
) -> Vec<Vec<Joint>> {
    // Name, root, middle, tip, radius.
    let list = [
        (
            "thumb",
            v(0.030, -0.008, 0.035),
            v(0.054, -0.014, 0.066),
            v(0.066, -0.018, 0.092),
            0.0108,
        ),
        ("index", v(0.026, 0.001, 0.086), v(0.032, -0.002, 0.128), v(0.035, -0.010, 0.160), 0.0110),
        ("middle", v(0.004, 0.003, 0.090), v(0.005, 0.0, 0.137), v(0.006, -0.009, 0.172), 0.0113),
        (
            "ring",
            v(-0.014, 0.002, 0.087),
            v(-0.017, -0.001, 0.130),
            v(-0.019, -0.010, 0.162),
            0.0090,
        ),
        (
            "little",
            v(-0.031, 0.0, 0.080),
            v(-0.038, -0.003, 0.113),
            v(-0.042, -0.010, 0.136),
            0.0080,
        ),
    ];
    let mut chains = Vec::new();
    for (name, root, middle, tip, radius) in list {
        let chain = rig.chain(name, hand, &[root, middle]);
        clay.with(0.006, &[chain[0]]).cone(root, middle, radius * 1.08, radius);
        clay.with(0.004, &[chain[1]]).cone(middle, tip, radius, 0.86 * radius);
        chains.push(chain);
    }
    chains
}

fn paint(body: &mut Sculpture) {
    let (skin, palm, nail) = (srgb(0xD9A27E), srgb(0xE9B7A2), srgb(0xF3CFC4));
    body.color(|p, n, _| {
        let inside = smoothstep(-0.1, -0.7, n.y) * smoothstep(-0.02, 0.03, p.z);
        let tips = smoothstep(0.156, 0.166, p.z - 0.8 * (p.x / 0.06).powi(2) * -0.02)
            * smoothstep(0.3, 0.7, n.y);
        skin.lerp(palm, inside).lerp(nail, 0.7 * tips)
    });
}
