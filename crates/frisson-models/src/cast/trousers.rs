//! A pair of trousers on legs that walk and kneel: wrinkles at knees, hips and ankles.

use frisson::character::Character;
use glam::{Quat, Vec3};

use super::biped::{self, Legs, SIDES};
use super::{material, srgb};
use crate::clay::{Chart, Clay, Rig, Sculpture};
use crate::clips::{clip, smoothstep};

pub(super) fn build(triangles: usize) -> Character {
    let mut rig = Rig::default();
    let legs = biped::add_legs(&mut rig);
    let mut clay = Clay::default();
    waist(&mut clay, &legs);
    for side in 0..2 {
        leg(&mut clay, &rig, &legs, side);
    }
    let mut body = Sculpture::new(&clay, &rig, triangles, 6);
    paint(&mut body);
    name_regions(&mut body);
    let axis = |x: f32| Chart { origin: Vec3::new(x, 0.5, 0.0), axis: Vec3::Y, seam: -Vec3::X * x };
    let charts = [axis(0.1), axis(-0.1), Chart { origin: Vec3::Y, axis: Vec3::Y, seam: -Vec3::Z }];
    let materials = vec![material("denim", 0xFFFFFF, 0.9), material("shoes", 0xFFFFFF, 0.5)];
    let walk = clip(&rig, "walk", 1.05, true, |t, pose| {
        biped::solve(&rig, &legs, &biped::gait(&biped::WALK, t / 1.05), pose);
    });
    let kneel = clip(&rig, "kneel", 5.0, false, |t, pose| {
        biped::solve(&rig, &legs, &biped::kneel(t), pose);
    });
    Character {
        name: "trousers".to_owned(),
        skeleton: rig.skeleton(),
        skins: vec![rig.skin("trousers")],
        meshes: vec![body.finish("trousers", materials, &charts)],
        clips: vec![walk, kneel],
    }
}

fn waist(clay: &mut Clay, legs: &Legs) {
    let v = Vec3::new;
    clay.paint(0, 2).with(0.06, &[legs.hips]);
    clay.ellipsoid(v(0.0, 0.945, -0.005), v(0.165, 0.12, 0.115), Quat::IDENTITY);
    clay.cone(v(-0.055, 1.03, 0.0), v(0.055, 1.03, 0.0), 0.098, 0.098);
    for x in [1.0, -1.0] {
        clay.ellipsoid(v(0.072 * x, 0.915, -0.062), v(0.078, 0.085, 0.068), Quat::IDENTITY);
    }
    clay.with(0.004, &[]);
    clay.carve_cone(v(0.0, 11.06, 0.0), v(0.0, 11.06, 0.0), 10.0, 10.0);
    clay.with(0.003, &[legs.hips]);
    clay.cone(v(-0.066, 1.043, 0.0), v(0.066, 1.043, 0.0), 0.106, 0.106);
    clay.with(0.003, &[]);
    clay.carve_cone(v(0.0, 11.062, 0.0), v(0.0, 11.062, 0.0), 10.0, 10.0);
}

fn leg(clay: &mut Clay, rig: &Rig, legs: &Legs, side: usize) {
    let [thigh, shin, foot, toe] = legs.sides[side];
    let at = |j| rig.place(j);
    clay.paint(0, side).with(0.05, &[thigh]);
    clay.cone(at(thigh) - Vec3::Y * 0.02, at(shin), 0.092, 0.066);
    clay.with(0.02, &[shin]);
    let hem = at(foot) + Vec3::new(0.0, 0.035, 0.012);
    clay.cone(at(shin), hem, 0.066, 0.058);
    clay.ellipsoid(
        at(shin) + Vec3::new(0.0, -0.11, -0.022),
        Vec3::new(0.060, 0.12, 0.062),
        Quat::IDENTITY,
    );
    clay.with(0.006, &[foot]);
    clay.paint(1, side);
    let heel = at(foot) + Vec3::new(0.0, -0.046, -0.018);
    clay.cone(at(foot) + Vec3::new(0.0, 0.0, 0.005), heel, 0.042, 0.040);
    clay.with(0.02, &[foot]);
    clay.cone(heel, at(toe) + Vec3::Y * 0.012, 0.038, 0.036);
    clay.with(0.02, &[toe]);
    clay.ellipsoid(
        at(toe) + Vec3::new(0.0, 0.004, 0.022),
        Vec3::new(0.044, 0.030, 0.062),
        Quat::IDENTITY,
    );
}

fn name_regions(body: &mut Sculpture) {
    for (side, x) in SIDES {
        let knee = move |p: Vec3| x * p.x > 0.0 && (p.y - 0.495).abs() < 0.11;
        body.region(&format!("knee_{side}"), move |p, n| knee(p) && n.z > 0.2);
        body.region(&format!("knee_back_{side}"), move |p, n| knee(p) && n.z < -0.2);
        body.region(&format!("leg_{side}"), move |p, _| {
            x * p.x > 0.0 && (0.13..0.86).contains(&p.y)
        });
        body.region(&format!("hem_{side}"), move |p, _| {
            x * p.x > 0.0 && (0.09..0.16).contains(&p.y)
        });
    }
    body.region("waist", |p, _| p.y > 0.98);
}

fn paint(body: &mut Sculpture) {
    let (denim, faded, band) = (srgb(0x34507A), srgb(0x6B87AC), srgb(0x2B4368));
    let (shoe, sole) = (srgb(0x5A3B28), srgb(0xE8E2D4));
    body.color(|p, n, _| {
        let knee = smoothstep(0.13, 0.03, (p.y - 0.5).abs()) * smoothstep(0.1, 0.7, n.z);
        let thigh =
            smoothstep(0.55, 0.7, p.y) * smoothstep(0.95, 0.8, p.y) * smoothstep(0.2, 0.9, n.z);
        let cloth = denim.lerp(faded, 0.55 * knee + 0.35 * thigh);
        let waist = smoothstep(1.008, 1.020, p.y) * smoothstep(0.9, 0.5, n.y);
        let shoes = shoe.lerp(sole, smoothstep(0.018, 0.012, p.y));
        shoes.lerp(cloth.lerp(band, waist), smoothstep(0.094, 0.098, p.y))
    });
}
