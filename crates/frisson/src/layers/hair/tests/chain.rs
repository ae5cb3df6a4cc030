//! Laws of the chain: period, length, stability.

use glam::{Quat, Vec3};

use super::{HairParams, Rig, Scene, ceiling, hanging, path};

/// Horizontal swing of the tip, and the times at which it crosses zero.
fn crossings(rig: &mut Rig, frames: usize) -> Vec<f64> {
    let fps = rig.alone.simulator.clock().rate.fps();
    let mut out = Vec::new();
    let mut before = rig.state().wisps[0].positions.last().unwrap().x;
    for f in 0..frames {
        rig.advance();
        let now = rig.state().wisps[0].positions.last().unwrap().x;
        if before * now < 0.0 {
            out.push((f as f64 + f64::from(before / (before - now))) / fps);
        }
        before = now;
    }
    out
}

/// The first mode of a hanging chain: x(s) = J0(j sqrt(1 - s/L)), s from the top.
fn first_mode(height: f32) -> f32 {
    let x = 2.404_83 * height.max(0.0).sqrt();
    // J0 by its series; x stays below 2.41.
    let q = -0.25 * x * x;
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..12 {
        term *= q / (k * k) as f32;
        sum += term;
    }
    sum
}

#[test]
fn a_small_swing_has_the_period_of_a_hanging_chain() {
    for particles in [8, 12, 24] {
        let params = HairParams { particles, ..hanging() };
        let mut rig = Rig::new(Scene { fps: 120, ..Scene::new(params, ceiling(0.1)) }).unwrap();
        let top = rig.state().wisps[0].positions[1].y;
        let wisp = &mut rig.state_mut().wisps[0];
        let tip = wisp.positions.last().unwrap().y;
        let length = top - tip;
        for p in &mut wisp.positions[2..] {
            p.x = 5f32.to_radians().sin() * length * 0.5 * first_mode((p.y - tip) / length);
        }
        let crossings = crossings(&mut rig, 480);
        let period =
            2.0 * (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
        let omega = std::f64::consts::TAU / period;
        let want = 1.2024 * (9.81 / f64::from(length)).sqrt();
        let ratio = omega / want;
        assert!((ratio - 1.0).abs() < 0.02, "{particles} particles: {ratio}");
    }
}

#[test]
fn a_shake_of_ten_g_does_not_stretch_straight_hair() {
    // 4 Hz, amplitude such that the peak acceleration is 10 g.
    let omega = std::f64::consts::TAU * 4.0;
    let amplitude = 98.1 / (omega * omega);
    for (substeps, particles) in [(1, 12), (2, 12), (2, 24)] {
        let mut params = HairParams { substeps, particles, ..hanging() };
        params.bending_length = 0.05;
        let mut scene = Scene::new(params, ceiling(0.1));
        scene.path = path(2.0, |t| {
            (Quat::IDENTITY, Vec3::X * (amplitude * (1.0 - (omega * t).cos())) as f32)
        });
        let mut rig = Rig::new(scene).unwrap();
        for frame in 0..60 {
            rig.advance();
            let stretch = rig.state().worst_stretch(rig.rest());
            assert!(stretch < 0.01, "{substeps} substeps, frame {frame}: {stretch}");
        }
    }
}

#[test]
fn every_stiffness_and_step_is_stable() {
    for stretch in [0.0, 1e-3, 0.1, 10.0, 100.0] {
        for bending_length in [0.0, 0.05, 0.5, 2.0] {
            for substeps in [1, 4, 60] {
                let mut params = HairParams { stretch, bending_length, substeps, ..hanging() };
                params.particles = 8;
                let mut scene = Scene::new(params, ceiling(0.1));
                scene.path = path(1.0, |t| {
                    let angle = (9.0 * t).sin() as f32;
                    (Quat::from_rotation_z(angle), Vec3::X * (0.2 * (13.0 * t).sin()) as f32)
                });
                let mut rig = Rig::new(scene).unwrap();
                for _ in 0..20 {
                    rig.advance();
                }
                let wisp = &rig.state().wisps[0];
                let fastest = wisp.velocities.iter().map(|v| v.length()).fold(0.0, f32::max);
                let case = (stretch, bending_length, substeps);
                assert!(fastest < 60.0, "{case:?}: {fastest} m/s");
            }
        }
    }
}
