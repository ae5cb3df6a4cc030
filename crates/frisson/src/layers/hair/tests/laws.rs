//! Laws of energy and rest.

use glam::{DVec3, Vec3};

use super::super::state::Wisp;
use super::{Rig, banged, head_of_hair};
use crate::math::random;

/// All energy of the hair [J]: kinetic (samples included), weight, bending, envelope.
fn total_energy(rig: &Rig) -> f64 {
    rig.state().wisps.iter().map(|w| wisp_energy(rig, w)).sum()
}

fn wisp_energy(rig: &Rig, wisp: &Wisp) -> f64 {
    let (rest, params) = (rig.rest(), rig.params());
    let root = &rest.roots[wisp.root as usize];
    let samples = rest.directions.len();
    let stiff = (std::f64::consts::TAU * f64::from(params.envelope.frequency_hz)).powi(2);
    let mut sum = 0.0;
    for i in 2..rest.count {
        let mass = root.masses[i] * f64::from(wisp.share);
        let light = mass * f64::from(params.envelope.mass_share) / samples as f64;
        let own = wisp.velocities[i].as_dvec3();
        sum += 0.5 * (mass - samples as f64 * light) * own.length_squared();
        sum += mass * 9.81 * f64::from(wisp.positions[i].y);
        for s in 0..samples {
            let axis = wisp.half_axis(i, rest.directions[s]).as_dvec3();
            let rate = f64::from(wisp.radial_velocities[i * samples + s]);
            sum += 0.5 * light * (own + rate * axis).length_squared();
            let pressed = f64::from(wisp.radii[i * samples + s] - root.radii[i]);
            sum += 0.5 * light * stiff * pressed * pressed;
        }
    }
    // The rest angles are straight here: U = -2 k ln((1 + cos) / 2).
    let along = |i: usize| {
        (wisp.positions[i + 1].as_dvec3() - wisp.positions[i].as_dvec3()).normalize_or(DVec3::Y)
    };
    for i in 1..rest.count - 1 {
        let open = (1.0 + along(i - 1).dot(along(i))).max(1e-3);
        sum -= 2.0 * root.bending * f64::from(wisp.share) * (0.5 * open).ln();
    }
    sum
}

/// A head of hair in the air, every particle thrown somewhere, without anything that takes energy but
/// the wisps' own contact.
fn thrown(stick: Option<f32>, contact: bool) -> Rig {
    let mut scene = head_of_hair(30);
    scene.colliders.clear();
    scene.params.style.balance = false;
    scene.params.style.settle_secs = 0.2;
    scene.params.drag = 0.0;
    scene.params.bending_damping = 0.0;
    scene.params.interaction.stick = stick;
    scene.params.interaction.friction = contact;
    scene.params.interaction.collisions = contact;
    let mut rig = Rig::new(scene).unwrap();
    for (w, wisp) in rig.state_mut().wisps.iter_mut().enumerate() {
        let c = |k| random::signed(5, w as u64, k) as f32;
        let throw = Vec3::new(c(0), 0.3 * c(1), c(2));
        for (i, v) in wisp.velocities.iter_mut().enumerate().skip(2) {
            *v = throw * (i as f32 / 11.0);
        }
    }
    rig
}

#[test]
fn contact_between_wisps_never_adds_to_the_total_energy() {
    for stick in [None, Some(25.0)] {
        let mut rig = thrown(stick, true);
        let start = total_energy(&rig);
        let mut energies = vec![start];
        for _ in 0..360 {
            rig.alone.ticks(1);
            energies.push(total_energy(&rig));
        }
        let (lowest, rises) = energies.windows(2).fold((start, 0.0f64), |(low, rise), w| {
            (low.min(w[1]), rise.max(w[1] - low.min(w[0])))
        });
        let lost = start - lowest;
        assert!(lost > 0.0, "{stick:?}: nothing was lost");
        assert!(rises < 0.01 * lost, "{stick:?}: rose by {rises} J of {lost} J lost");
    }
}

/// How fast the fastest particle moves, and how many turn back by more than a millimetre, in frames
/// after the head has come to rest.
fn restlessness(rig: &mut Rig, frames: usize) -> (f32, usize) {
    let places = |rig: &Rig| -> Vec<Vec3> {
        rig.state().wisps.iter().flat_map(|w| w.positions.clone()).collect()
    };
    let mut track = vec![places(rig)];
    for _ in 0..frames {
        rig.advance();
        track.push(places(rig));
    }
    let mut turned = 0;
    for three in track.windows(3) {
        for k in 0..three[0].len() {
            let (a, b) = (three[1][k] - three[0][k], three[2][k] - three[1][k]);
            turned += usize::from(a.dot(b) < 0.0 && a.length().min(b.length()) > 1e-3);
        }
    }
    let last = &track[frames - 1..];
    let moved = last[0].iter().zip(&last[1]).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    (30.0 * moved, turned)
}

#[test]
fn hair_does_not_boil_once_the_head_is_still() {
    let mut rig = Rig::new(banged()).unwrap();
    let warnings = rig.alone.report().warnings;
    assert!(warnings.is_empty(), "{warnings:?}");
    for _ in 0..100 {
        rig.advance();
    }
    let (speed, turned) = restlessness(&mut rig, 10);
    assert_eq!(turned, 0, "turned back; the fastest goes {speed} m/s");
    // Wisps that came down on the wrong side of the head are still on their way.
    assert!(speed < 0.05, "{speed} m/s two seconds after the head stopped");
}
