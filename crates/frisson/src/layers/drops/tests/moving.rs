//! Drops on ground that moves: carried along, asleep, thrown off.

use std::sync::Arc;

use glam::{DVec2, DVec3, Quat, Vec3};

use super::height_field;
use super::layer::{GRAVITY, Lab, incline, params, shaken};
use crate::geometry::Mesh;
use crate::stage::{Actor, KeyedTransform, MeshSequence};

#[test]
fn a_source_on_a_moving_actor_moves_along() {
    // Emitted when the actor has gone two metres: on it, not in the air where it was.
    let (p, t) = height_field(4, 4, DVec2::ZERO, DVec2::ONE, |_, _| 0.0);
    let path = KeyedTransform {
        times: vec![0.0, 2.0],
        translations: vec![Vec3::ZERO, Vec3::X * 4.0],
        rotations: vec![Quat::IDENTITY; 2],
        ..KeyedTransform::default()
    };
    let mesh = Mesh::new("ground", p, t);
    let actor = Actor::meshes_named("ground", vec![mesh]).along(path);
    let text = r#"{"name": "d", "on": "ground", "ground": [{"roughness": [0.01, 0.01]}],
        "sources": [{"single": {"at": [0.5, 0, 0.5], "frame": 30}}]}"#;
    let mut lab = Lab::new(actor, &params(text), GRAVITY, 30);
    lab.run(120);
    assert_eq!(lab.state().off_mesh, 0);
    let place = lab.positions()[0].1;
    assert!(place.distance(DVec3::new(2.5, 0.0, 0.5)) < 1e-3, "{place}");
}

#[test]
fn held_drops_ride_a_moving_surface_without_sliding() {
    let text = r#"{"name": "d", "on": "ground", "ground": [{"roughness": [0.01, 0.01], "grip": 1000,
        "adhesion": 1e6}], "sources": [{"region": {"count": 50}}], "merging": {"enabled": false}}"#;
    let mut lab = Lab::new(shaken(3.0, 0.05), &params(text), GRAVITY, 30);
    let before: Vec<_> = lab.state().drops.iter().map(|d| d.phase).collect();
    lab.run(240);
    for (drop, before) in lab.state().drops.iter().zip(before) {
        let (
            super::Phase::Face { weights, triangle, .. },
            super::Phase::Face { weights: w, triangle: t, .. },
        ) = (drop.phase, before)
        else {
            panic!("{drop:?}");
        };
        // Bit for bit: a held drop never slides.
        assert!(triangle == t && weights == w && drop.held);
    }
    let place = lab.positions()[0].1;
    assert!(place.is_finite());
}

#[test]
fn a_held_drop_sleeps_until_it_grows() {
    let text = r#"{"name": "d", "on": "ground", "ground": [{"roughness": [1e-3, 1e-3], "adhesion": 1e6}],
        "merging": {"enabled": false}, "trails": {"enabled": false},
        "sources": [{"condensation": {"count": 1, "mass": 2e-6, "growth": 4e-6, "until": 60}},
                    {"region": {"count": 20, "mass": [1e-6, 1e-6]}}]}"#;
    let mut lab = Lab::new(incline(), &params(text), GRAVITY, 30);
    lab.run(48);
    let held = |lab: &Lab| lab.state().drops.iter().filter(|d| d.held).count();
    let asleep = |lab: &Lab| lab.state().drops.iter().filter(|d| d.asleep).count();
    assert_eq!((held(&lab), asleep(&lab)), (21, 20), "the growing one is held, but awake");
    let before = lab.positions();
    // Above 2 mm of height, 4.2 mg, it passes.
    lab.run(96);
    let after = lab.positions();
    let moved: Vec<u64> =
        before.iter().zip(&after).filter(|(a, b)| a != b).map(|(a, _)| a.0).collect();
    assert_eq!(moved, [lab.state().drops[0].id]);
}

#[test]
fn a_fast_shake_throws_drops_off_and_a_slow_one_does_not() {
    let text = r#"{"name": "d", "on": "ground", "ground": [{"roughness": [0.01, 0.01], "grip": 1e6, "adhesion": 60}],
        "sources": [{"region": {"count": 50, "mass": [1e-5, 1e-5]}}], "merging": {"enabled": false}}"#;
    let thrown = |frequency: f64| {
        let mut lab = Lab::new(shaken(frequency, 0.03), &params(text), GRAVITY, 30);
        lab.run(120);
        lab.state().ledger.releases
    };
    assert_eq!(thrown(1.0), 0);
    assert!(thrown(12.0) > 40, "{}", thrown(12.0));
}

struct Jump(Mesh);

impl MeshSequence for Jump {
    fn meshes(&self) -> &[Mesh] {
        std::slice::from_ref(&self.0)
    }
    fn positions_at(&self, _: usize, time: f64, out: &mut Vec<Vec3>) {
        let offset = if time > 0.2 { Vec3::X * 5.0 } else { Vec3::ZERO };
        out.clear();
        out.extend(self.0.positions.iter().map(|p| *p + offset));
    }
}

#[test]
fn a_teleport_carries_drops_along() {
    let (p, t) = height_field(4, 4, DVec2::ZERO, DVec2::ONE, |_, _| 0.0);
    let jump = Actor::sequence_named("ground", Arc::new(Jump(Mesh::new("ground", p, t))));
    let text = r#"{"name": "d", "on": "ground", "sources": [{"single": {"at": [0.5, 0, 0.5]}}]}"#;
    let mut lab = Lab::new(jump, &params(text), GRAVITY, 30);
    lab.run(60);
    let place = lab.positions()[0].1;
    assert!(place.distance(DVec3::new(5.5, 0.0, 0.5)) < 1e-4, "{place}");
}
