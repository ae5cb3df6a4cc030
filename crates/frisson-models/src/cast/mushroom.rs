//! The mushroom of the flesh layer's first scene: a foot, a cap, two shakes.

use frisson::character::Character;
use glam::{Quat, Vec3};

use super::{material, srgb};
use crate::clay::{Chart, Clay, Rig, Sculpture};
use crate::clips::{clip, smoothstep};

pub(super) fn build() -> Character {
    let mut rig = Rig::default();
    let foot = rig.joint("foot", None, Vec3::ZERO);
    // Nothing is skinned to it: it says where the flesh's bone ends.
    rig.joint("cap", Some(foot), Vec3::new(0.0, 0.20, 0.0));
    let mut clay = Clay::default();
    let up = |y: f32| Vec3::new(0.0, y, 0.0);
    // One rigid body: everything follows the foot, so that all softness comes from the layer.
    clay.with(0.03, &[foot]).paint(0, 0);
    clay.ellipsoid(up(0.03), Vec3::new(0.062, 0.045, 0.062), Quat::IDENTITY);
    clay.cone(up(0.03), up(0.16), 0.048, 0.036);
    clay.carve_cone(up(-0.05), up(-0.0505), 0.0505, 0.0505);
    clay.with(0.02, &[foot]).paint(0, 0).cone(up(0.12), up(0.13), 0.046, 0.04);
    clay.with(0.012, &[foot]).paint(1, 1);
    clay.ellipsoid(up(0.185), Vec3::new(0.125, 0.085, 0.125), Quat::IDENTITY);
    clay.with(0.025, &[foot]);
    clay.carve_ellipsoid(up(0.128), Vec3::new(0.10, 0.042, 0.10), Quat::IDENTITY);
    clay.with(0.02, &[foot]).paint(0, 0).cone(up(0.10), up(0.20), 0.036, 0.032);
    let mut body = Sculpture::new(&clay, &rig, 8_000, 0);
    paint(&mut body);
    body.region("cap", |p, _| p.y > 0.14 && p.x.hypot(p.z) > 0.05);
    body.region("foot", |p, _| p.y < 0.12);
    let charts = [
        Chart { origin: Vec3::ZERO, axis: Vec3::Y, seam: -Vec3::Z },
        Chart { origin: Vec3::ZERO, axis: Vec3::Y, seam: -Vec3::Z },
    ];
    let materials = vec![material("stem", 0xFFFFFF, 0.7), material("cap", 0xFFFFFF, 0.35)];
    // Three swings that grow, stop short, and leave time to settle.
    let envelope = |t: f32| smoothstep(0.0, 0.3, t) * (1.0 - smoothstep(1.5, 1.8, t));
    let phase = |t: f32| std::f32::consts::TAU * 2.0 * t;
    let along = clip(&rig, "shake_along", 4.0, false, |t, pose| {
        // Up from the floor and back on it, never into it.
        pose.translations[foot].y += 0.04 * envelope(t) * (1.0 - phase(t).cos());
    });
    let across = clip(&rig, "shake_across", 4.0, false, |t, pose| {
        pose.translations[foot].x += 0.06 * envelope(t) * phase(t).sin();
    });
    Character {
        name: "mushroom".to_owned(),
        skeleton: rig.skeleton(),
        skins: vec![rig.skin("mushroom")],
        meshes: vec![body.finish("mushroom", materials, &charts)],
        clips: vec![along, across],
    }
}

/// A red cap with white spots, a pale underside.
fn paint(body: &mut Sculpture) {
    let (red, white) = (srgb(0xC8281E), srgb(0xFFF6E6));
    let (pale, cream) = (srgb(0xE6D4B4), srgb(0xF4E9D2));
    let spots: Vec<Vec3> = (0..26)
        .map(|i| {
            // Golden-angle spiral over the cap.
            let height = 1.0 - (i as f32 + 0.4) / 30.0;
            let (around, angle) = ((1.0 - height * height).sqrt(), 2.399_963 * i as f32);
            Vec3::new(around * angle.cos(), height, around * angle.sin())
        })
        .collect();
    body.color(|p, n, _| {
        let out = Vec3::new(p.x, 1.4 * (p.y - 0.185), p.z).normalize_or(Vec3::Y);
        let on_cap =
            smoothstep(-0.35, -0.1, n.y) * smoothstep(0.06, 0.07, p.x.hypot(p.z).max(p.y - 0.12));
        let near = spots.iter().enumerate().map(|(i, s)| {
            let size = 0.11 + 0.05 * ((i * 7) % 5) as f32 / 5.0;
            smoothstep(size, 0.75 * size, s.distance(out))
        });
        let spot = near.fold(0.0, f32::max);
        let cap = red.lerp(white, spot);
        let stem = cream.lerp(pale, smoothstep(0.11, 0.14, p.y));
        stem.lerp(cap, on_cap)
    });
}
