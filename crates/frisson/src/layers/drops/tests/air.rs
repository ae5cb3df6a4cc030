//! Drops in the air: those that meet, and rain that meets what moves.

use glam::{DVec2, DVec3, Quat, Vec3};

use super::super::meeting::join;
use super::super::sinks::give_caught;
use super::super::state::DropsState;
use super::layer::{GRAVITY, Lab, actor, params};
use super::*;
use crate::stage::{Caught, CaughtDrop, KeyedTransform};

fn falling(mass: f64, position: DVec3, velocity: DVec3) -> Droplet {
    Droplet::new(0, mass, Phase::Air { position, velocity, since: 0.0, from: u32::MAX }, 0.0)
}

#[test]
fn mass_momentum_and_centre_are_kept_in_the_air() {
    for i in 0..1000 {
        let u = |c: u64| crate::math::random::signed(9, i, c);
        let at = |c: u64| DVec3::new(u(c), u(c + 1), u(c + 2));
        let (a, b) = (falling(1e-5 * (1.1 + u(0)), at(1), at(4)), falling(1e-5, at(7), at(10)));
        let mut both = a;
        join(&mut both, &b, 1.0);
        let Phase::Air { position, velocity, .. } = both.phase else { panic!("in the air") };
        let moment = |d: &Droplet| match d.phase {
            Phase::Air { position, velocity, .. } => (position * d.mass, velocity * d.mass),
            _ => (DVec3::ZERO, DVec3::ZERO),
        };
        let ((pa, va), (pb, vb)) = (moment(&a), moment(&b));
        assert_eq!(both.mass, a.mass + b.mass);
        assert!((position * both.mass - pa - pb).length() < 1e-19);
        assert!((velocity * both.mass - va - vb).length() < 1e-19);
    }
}

/// Two drops thrown at each other over a far floor.
fn thrown(in_air: bool) -> Lab {
    let floor = height_field(4, 4, DVec2::splat(-2.0), DVec2::splat(2.0), |_, _| -3.0);
    let text = format!(
        r#"{{"name": "d", "on": "floor", "merging": {{"in_air": {in_air}}}, "air": {{"margin": 9}},
        "sources": [{{"list": {{"snap": 0, "rows": [
            [0, -0.3, 0, 0, 2e-5, 1.5, 1, 0], [0, 0.3, 0.0005, 0, 1e-5, -1.5, 1, 0]]}}}}]}}"#
    );
    Lab::new(actor("floor", floor), &params(&text), GRAVITY, 30)
}

#[test]
fn later_layers_are_told_what_is_in_the_air() {
    let mut lab = thrown(false);
    lab.run(20);
    let told = &lab.frame().falling;
    assert_eq!((told.len(), told[0].layer.as_str(), told[0].drops.len()), (1, "d", 2));
    for (drop, falling) in lab.state().drops.iter().zip(&told[0].drops) {
        let Phase::Air { position, velocity, .. } = drop.phase else { panic!("in the air") };
        assert_eq!(falling.position, position.as_vec3());
        assert_eq!(falling.velocity, velocity.as_vec3());
        assert_eq!(falling.mass, drop.mass as f32);
    }
    // On the floor they are nobody's rain any more.
    lab.run(200);
    assert!(lab.state().drops.iter().all(Droplet::is_on_surface));
    assert!(lab.frame().falling[0].drops.is_empty());
}

#[test]
fn drops_that_meet_in_the_air_become_one() {
    let mut lab = thrown(true);
    lab.run(40);
    let state = lab.state();
    assert_eq!((state.drops.len(), state.ledger.merges), (1, 1));
    let Phase::Air { velocity, .. } = state.drops[0].phase else { panic!("in the air") };
    // Two thirds of the mass came with 1.5 m/s, a third against it; the air takes a little.
    assert!((velocity.x - 0.5).abs() < 0.03, "{velocity}");
    assert!(state.imbalance().abs() < 1e-12);
    let mut apart = thrown(false);
    apart.run(40);
    assert_eq!(apart.state().drops.len(), 2);
}

#[test]
fn rain_meets_a_surface_that_runs() {
    let landings = |speed: f32| {
        let plate = height_field(4, 4, DVec2::splat(-0.2), DVec2::splat(0.2), |x, _| 2.0 * x);
        let path = KeyedTransform {
            times: vec![0.0, 10.0],
            translations: vec![Vec3::ZERO, Vec3::X * 10.0 * speed],
            rotations: vec![Quat::IDENTITY; 2],
            ..KeyedTransform::default()
        };
        let plate = actor("plate", plate).along(path);
        let text = r#"{"name": "d", "on": "plate", "shape": {"mesh": false},
            "sources": [{"rain": {"rate": 200, "speed": 5}}], "air": {"margin": 0.5}}"#;
        let mut lab = Lab::new(plate, &params(text), GRAVITY, 30);
        lab.run(240);
        let ledger = &lab.state().ledger;
        ledger.landings as f64 / ledger.drops_emitted as f64
    };
    let (still, running) = (landings(0.0), landings(5.0));
    assert!(still > 0.5, "{still}");
    // Seen from the plate it comes aslant: of the plate's box, the plate itself fills less.
    assert!(running > 0.3 * still, "{running} of {still}");
}

#[test]
fn what_soaks_in_is_seen() {
    let cloth = height_field(8, 8, DVec2::ZERO, DVec2::splat(0.1), |_, _| 0.0);
    let text = r#"{"name": "d", "on": "cloth", "ground": [{"absorption": 2.0}],
        "trails": {"drying": 60}, "sources": [{"single": {"at": [0.05, 0, 0.05], "mass": 5e-5}}]}"#;
    let mut lab = Lab::new(actor("cloth", cloth), &params(text), GRAVITY, 30);
    lab.run(4);
    let wettest = |lab: &Lab| {
        let wetness = lab.frame().meshes[0].scalar("wetness").unwrap();
        wetness.iter().copied().fold(0.0f32, f32::max)
    };
    let before = wettest(&lab);
    lab.run(600);
    assert!(lab.state().drops.is_empty(), "it has soaked in");
    assert!(wettest(&lab) > before + 0.1, "{} after {before}", wettest(&lab));
    assert!(lab.state().imbalance().abs() < 1e-12);
}

#[test]
fn what_others_catch_leaves_the_drop_and_is_in_the_books() {
    let mut state = DropsState::default();
    for k in 0..3 {
        state.add(falling(1e-5 * f64::from(k + 1), DVec3::Y * f64::from(k), DVec3::ZERO));
    }
    state.ledger.emitted.add(6e-5);
    state.drops[1].solute = 4e-6;
    let list = |layer: &str, drops: &[(u64, f32)]| Caught {
        layer: layer.to_owned(),
        drops: drops.iter().map(|&(id, mass)| CaughtDrop { id, mass }).collect(),
    };
    // More than there is of the last, a drop that is gone, and drops of another liquid.
    let caught = [list("d", &[(1, 1e-5), (2, 1.0), (7, 1e-5)]), list("other", &[(0, 1e-5)])];
    give_caught(&mut state, "d", &caught);
    let masses: Vec<f64> = state.drops.iter().map(|d| d.mass).collect();
    assert_eq!((masses[0], masses[2]), (1e-5, 0.0));
    assert!((masses[1] - 1e-5).abs() < 1e-12 && (state.drops[1].solute - 2e-6).abs() < 1e-12);
    assert!((state.ledger.caught.value() - 4e-5).abs() < 1e-12);
    assert!(state.imbalance().abs() < 1e-12, "{}", state.imbalance());
}
