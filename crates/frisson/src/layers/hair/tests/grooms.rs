//! Grooms from elsewhere: cards, painted maps; partings, pins and braids.

use std::sync::Arc;

use glam::Vec3;

use super::super::style_params::{BraidParams, StyleField, TieParams};
use super::{HairParams, Rig, Scene, ball, ceiling, hanging};
use crate::geometry::Mesh;
use crate::stage::{Actor, Anchor};

/// A bald face towards +z, hair on the rest of a ball of 10 cm.
fn head(change: impl FnOnce(&mut HairParams)) -> Scene {
    let mut params = HairParams { wisps: 60, length_variation: 0.0, ..HairParams::default() };
    params.scalp.r#box = Some([-9.0, 0.01, -9.0, 9.0, 9.0, 0.05]);
    params.body.meshes = vec!["scalp".to_owned()];
    params.strands.per_wisp = 2;
    change(&mut params);
    Scene::new(params, ball(0.1, 24))
}

/// A card of three columns that hangs from the ceiling at x and leans by `lean` over its length, tip
/// first.
fn card(x: f32, lean: f32, long: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let rows = 12;
    let mut positions = Vec::new();
    for row in (0..rows).rev() {
        let s = row as f32 / (rows - 1) as f32;
        positions.extend(
            [-1.0f32, 0.0, 1.0].map(|k| Vec3::new(x + lean * s, -long * s - 0.001, 0.01 * k)),
        );
    }
    let mut triangles = Vec::new();
    for row in 0..rows as u32 - 1 {
        for k in 0..2 {
            let at = 3 * row + k;
            triangles.extend([[at, at + 1, at + 4], [at, at + 4, at + 3]]);
        }
    }
    (positions, triangles)
}

#[test]
fn hair_cards_are_guides() {
    let (mut positions, mut triangles) = card(-0.05, -0.1, 0.2);
    let (more, other) = card(0.05, 0.1, 0.3);
    let first = positions.len() as u32;
    positions.extend(more);
    triangles.extend(other.iter().map(|t| t.map(|v| v + first)));
    let mut params = HairParams {
        at: [-0.05, 0.05].map(|x| Anchor::Position([x, 0.0, 0.0])).to_vec(),
        ..hanging()
    };
    params.style.cards = Some("cards".to_owned());
    let mut setup = Scene::new(params, ceiling(0.2)).setup();
    let cards = Mesh::new("cards", positions, triangles);
    setup.actors.push(Actor::meshes_named("cards", vec![cards]));
    let rig = Rig::of(setup).unwrap();
    for (wisp, (x, lean, long)) in
        rig.state().wisps.iter().zip([(-0.05, -0.1, 0.2), (0.05, 0.1, 0.3)])
    {
        let tip = *wisp.positions.last().unwrap();
        assert!(tip.distance(Vec3::new(x + lean, -long, 0.0)) < 0.025, "{tip}");
    }
}

#[test]
fn cards_that_are_no_cards_are_refused() {
    let mut params = hanging();
    params.style.cards = Some("cards".to_owned());
    let mut setup = Scene::new(params, ceiling(0.2)).setup();
    let dot = Mesh::new("cards", vec![Vec3::ZERO; 3], vec![[0, 1, 2]]);
    setup.actors.push(Actor::meshes_named("cards", vec![dot]));
    let text = Rig::of(setup).err().expect("an error").to_string();
    assert!(text.contains("style.cards") && text.contains("guide"), "{text}");
}

#[test]
fn painted_maps_multiply_what_grows_there() {
    let mut scene = head(|p| {
        p.length_map = Some("r".to_owned());
        p.stiffness_map = Some("g".to_owned());
        p.goal_map = Some("b".to_owned());
        p.density_map = Some("a".to_owned());
    });
    let positions = scene.mesh.positions.clone();
    // Left: all of it. Right: half the length, a fifth of the stiffness, no pull; bare beyond 5 cm.
    let paint = |p: &Vec3| match p.x {
        x if x < 0.0 => [1.0, 1.0, 1.0, 1.0],
        x if x < 0.05 => [0.5, 0.2, 0.0, 1.0],
        _ => [0.5, 0.2, 0.0, 0.0],
    };
    let topology = Arc::make_mut(&mut scene.mesh.topology);
    topology.colors = positions.iter().map(paint).collect();
    let rig = Rig::new(scene).unwrap();
    let (mut left, mut right) = (0, 0);
    let whole = rig.rest().roots.iter().map(|r| r.length).fold(0.0, f32::max);
    assert!((whole - 0.3).abs() < 1e-5, "{whole}");
    let stiff = |long: f32| rig.rest().roots.iter().find(|r| (r.length - long).abs() < 1e-5);
    let [soft, hard] =
        [0.15, 0.3].map(|long| stiff(long).map(|r| r.bending * f64::from(r.segment)));
    let ratio = soft.unwrap() / hard.unwrap();
    assert!((ratio - 0.2).abs() < 0.01, "stiffness {ratio}");
    for (root, pose) in rig.rest().roots.iter().zip(&rig.rest().styled_roots) {
        assert!(pose.skin.x < 0.06, "grows where nothing may: {}", pose.skin);
        if pose.skin.x < -0.02 {
            assert!((root.length - 0.3).abs() < 1e-5 && root.goal_weight > 0.999);
            left += 1;
        } else if pose.skin.x > 0.02 && pose.skin.x < 0.04 {
            assert!((root.length - 0.15).abs() < 1e-5 && root.goal_weight < 1e-3);
            right += 1;
        }
    }
    assert!(left > 10 && right > 5, "{left} {right}");
}

#[test]
fn a_parting_sends_hair_to_its_own_side() {
    let rig = Rig::new(head(|p| {
        p.style.fields = vec![StyleField::Parting {
            point: [0.0; 3],
            normal: [1.0, 0.0, 0.0],
            strength: 20.0,
            from: 0.0,
            to: 1.2,
        }];
    }))
    .unwrap();
    for wisp in &rig.state().wisps {
        let root = rig.rest().styled_roots[wisp.root as usize].skin;
        let tip = wisp.positions.last().unwrap();
        assert!(root.x.abs() < 0.01 || root.x * tip.x > 0.0, "from {root} to {tip}");
    }
}

#[test]
fn a_pin_holds_the_hair_around_it_while_the_rest_hangs() {
    let pin = [0.09, 0.06, 0.0];
    let rig = Rig::new(head(|p| {
        p.style.ties =
            vec![TieParams { point: pin, reach: 0.05, radius: 0.005, hold_hz: 10.0.into() }];
    }))
    .unwrap();
    let (mut held, mut free) = (0, 0);
    for (root, pose) in rig.rest().roots.iter().zip(&rig.rest().styled_roots) {
        let near = pose.skin.distance(Vec3::from_array(pin)) <= 0.05;
        assert_eq!(root.tie.is_some(), near, "root at {}", pose.skin);
        if near { held += 1 } else { free += 1 }
    }
    assert!(held > 3 && free > 20, "{held} {free}");
    for wisp in &rig.state().wisps {
        if let Some((_, particle)) = rig.rest().roots[wisp.root as usize].tie {
            let at = wisp.positions[particle];
            assert!(at.distance(Vec3::from_array(pin)) < 0.035, "{at} is not at the pin");
        }
    }
}

#[test]
fn a_braid_is_narrow_and_its_strands_cross() {
    let (radius, tie) = (0.015, [0.0, -0.03, -0.12]);
    let rig = Rig::new(head(|p| {
        p.length = 0.45;
        p.style.ties =
            vec![TieParams { point: tie, reach: 1.0, radius: 0.01, hold_hz: 10.0.into() }];
        p.style.braids = vec![BraidParams {
            tie: 0,
            direction: [0.0, -1.0, 0.0],
            radius,
            pitch: 0.1,
            hold_hz: 10.0.into(),
        }];
    }))
    .unwrap();
    let mut sides = [0.0f32; 2];
    for wisp in rig.state().wisps.iter().filter(|w| w.root % 3 == 0) {
        let Some((_, particle)) = rig.rest().roots[wisp.root as usize].tie else { continue };
        for p in wisp.positions.iter().skip(particle + 2) {
            let aside = Vec3::new(p.x - tie[0], 0.0, p.z - tie[2]);
            assert!(aside.length() < 3.0 * radius, "{p} is out of the braid");
            sides = [sides[0].min(aside.x.min(aside.z)), sides[1].max(aside.x.max(aside.z))];
        }
    }
    // One strand goes from side to side.
    assert!(sides[0] < -0.4 * radius && sides[1] > 0.4 * radius, "{sides:?}");
}

#[test]
fn guides_are_taken_as_the_pose_and_held() {
    let mut scene = Scene::new(hanging(), ceiling(0.1));
    scene.params.bending_length = 0.15;
    // A quarter circle from the ceiling out to the side.
    let guide: Vec<[f32; 3]> = (0..=20)
        .map(|i| {
            let (s, c) = (std::f32::consts::FRAC_PI_2 * i as f32 / 20.0).sin_cos();
            [0.12 * (1.0 - c), -0.12 * s, 0.0]
        })
        .collect();
    scene.params.style.guides = vec![guide];
    let mut rig = Rig::new(scene).unwrap();
    let tip = *rig.state().wisps[0].positions.last().unwrap();
    assert!((tip - Vec3::new(0.12, -0.12, 0.0)).length() < 0.01, "{tip}");
    for _ in 0..60 {
        rig.advance();
    }
    let moved = rig.state().wisps[0].positions.last().unwrap().distance(tip);
    assert!(moved < 1e-3, "{moved}; {:?}", rig.rest().warnings);
}

#[test]
fn guides_off_the_scalp_are_said_to_be() {
    let warnings = |height: f32| {
        let mut scene = Scene::new(hanging(), ceiling(0.1));
        scene.params.style.guides = vec![vec![[0.0, height, 0.0], [0.0, height - 0.2, 0.0]]];
        Rig::new(scene).unwrap().rest().warnings.clone()
    };
    assert!(warnings(0.005).is_empty(), "{:?}", warnings(0.005));
    assert!(
        warnings(-0.15)[0].contains("off the scalp, the worst 15.0 cm"),
        "{:?}",
        warnings(-0.15)
    );
}
