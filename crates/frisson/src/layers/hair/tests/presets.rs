//! Named styles on heads of any size, ties and cuts.

use glam::Vec3;

use super::super::head::Head;
use super::super::presets::StylePreset;
use super::super::style_params::{CutParams, TieParams};
use super::{HairParams, Rig, Scene, ball, slab};
use crate::geometry::Mesh;

/// A head whose face, towards +z, is bare.
fn head(radius: f32, style: impl FnOnce(&mut HairParams)) -> Scene {
    let mut params = HairParams { wisps: 40, ..HairParams::default() };
    params.scalp.r#box = Some([-9.0, 0.1 * radius, -9.0, 9.0, 9.0, 0.5 * radius]);
    params.body.meshes = vec!["scalp".to_owned()];
    params.strands.per_wisp = 5;
    style(&mut params);
    Scene::new(params, ball(radius, 24))
}

fn mean_length(rig: &Rig) -> f32 {
    let roots = &rig.rest().roots;
    roots.iter().map(|r| r.length).sum::<f32>() / roots.len() as f32
}

#[test]
fn a_head_is_read_from_its_scalp() {
    for radius in [0.05, 0.1, 0.4] {
        let away = Vec3::new(0.3, 1.5, -0.2);
        let mut mesh = ball(radius, 24);
        let bare = |p: &Vec3| p.y < 0.1 * radius || p.z > 0.5 * radius;
        let weights: Vec<f32> = mesh.positions.iter().map(|p| f32::from(!bare(p))).collect();
        mesh.positions.iter_mut().for_each(|p| *p += away);
        let found = Head::of(&mesh, &weights, Vec3::Y);
        assert!(found.center.distance(away) < 0.02 * radius, "{found:?}");
        assert!((found.radius / radius - 1.0).abs() < 0.02, "{found:?}");
        assert!(found.front.z > 0.99, "{found:?}");
    }
}

/// A head like a box, 16 cm wide, whose hair grows on its slightly curved top alone.
#[test]
fn a_head_with_a_flat_scalp_is_as_wide_as_that() {
    for bulge in [0.0, 1.0e-3, 4.0e-3] {
        let place = |k: usize| {
            let [x, z] = [k % 5, k / 5].map(|i| 0.04 * (i as f32 - 2.0));
            Vec3::new(x, 1.5 - bulge * (x * x + z * z) / 0.0064, z)
        };
        let cell = |k: usize| {
            let a = (5 * (k / 4) + k % 4) as u32;
            [[a, a + 5, a + 1], [a + 1, a + 5, a + 6]]
        };
        let mesh = Mesh::new("top", (0..25).map(place).collect(), (0..16).flat_map(cell).collect());
        let found = Head::of(&mesh, &[1.0; 25], Vec3::Y);
        assert!((0.07..0.1).contains(&found.radius), "{bulge}: {found:?}");
        assert!((1.4..1.45).contains(&found.center.y), "{bulge}: {found:?}");
    }
}

fn joined(mut mesh: Mesh, other: &Mesh) -> Mesh {
    let first = mesh.positions.len() as u32;
    mesh.positions.extend(&other.positions);
    let mut triangles = mesh.topology.triangles.clone();
    triangles.extend(other.topology.triangles.iter().map(|t| t.map(|v| v + first)));
    Mesh::new("scalp", mesh.positions, triangles)
}

/// Largest turn from one segment of a wisp to the next behind the first free one, as a cosine.
fn sharpest(wisp: &super::super::state::Wisp) -> f32 {
    let p = &wisp.positions;
    let along = |i: usize| (p[i] - p[i - 1]).normalize_or_zero();
    (3..p.len() - 1).map(|i| along(i).dot(along(i + 1))).fold(1.0, f32::min)
}

/// How far hair goes from where it was styled within so many frames [m].
fn sags(rig: &mut Rig, frames: usize) -> f32 {
    let start: Vec<Vec<Vec3>> = rig.state().wisps.iter().map(|w| w.positions.clone()).collect();
    let mut worst = 0.0f32;
    for _ in 0..frames {
        rig.advance();
        for (wisp, start) in rig.state().wisps.iter().zip(&start) {
            let moved = wisp.positions.iter().zip(start).map(|(a, b)| a.distance(*b));
            worst = moved.fold(worst, f32::max);
        }
    }
    worst
}

#[test]
fn hair_under_a_brim_grows_and_lies_beneath_it() {
    let brim = slab(Vec3::new(0.0, 0.14, 0.0), Vec3::new(0.3, 0.01, 0.3));
    for preset in [StylePreset::Fringe, StylePreset::LongStraight] {
        let mut scene = head(0.1, |p| p.style.preset = Some(preset));
        scene.params.scalp.r#box = Some([-9.0, 0.01, -9.0, 9.0, 0.11, 0.05]);
        scene.mesh = joined(scene.mesh, &brim);
        let mut rig = Rig::new(scene).unwrap();
        for wisp in &rig.state().wisps {
            let highest = wisp.positions.iter().map(|p| p.y).fold(f32::MIN, f32::max);
            assert!(highest < 0.135, "{preset:?}: a wisp is in the brim or above it: {highest}");
        }
        let worst = sags(&mut rig, 30);
        assert!(worst < 1e-3, "{preset:?} sags by {worst}; {:?}", rig.rest().warnings);
    }
}

#[test]
fn on_a_head_like_a_box_nothing_is_crumpled_and_nothing_sags() {
    let head_box = slab(Vec3::new(0.0, 1.5, 0.0), Vec3::new(0.1, 0.1, 0.1));
    for preset in [StylePreset::LongStraight, StylePreset::Fringe] {
        let mut scene = head(0.1, |p| p.style.preset = Some(preset));
        scene.params.wisps = 60;
        scene.params.scalp.r#box = Some([-9.0, 1.59, -9.0, 9.0, 9.0, 9.0]);
        scene.mesh = head_box.clone();
        let mut rig = Rig::new(scene).unwrap();
        let crumpled = rig.state().wisps.iter().filter(|w| sharpest(w) < 0.0).count();
        assert_eq!(crumpled, 0, "{preset:?}");
        let worst = sags(&mut rig, 30);
        assert!(worst < 1e-3, "{preset:?} sags by {worst}; {:?}", rig.rest().warnings);
    }
}

#[test]
fn every_preset_fits_heads_of_any_size() {
    for preset in StylePreset::ALL {
        let styled = |radius: f32| {
            let mut rig = Rig::new(head(radius, |p| p.style.preset = Some(preset))).unwrap();
            rig.advance();
            assert!(rig.points().iter().all(|p| p.is_finite()));
            rig
        };
        let (small, large) = (styled(0.1), styled(0.2));
        let ratio = mean_length(&large) / mean_length(&small);
        assert!((ratio - 2.0).abs() < 0.1, "{preset:?}: lengths grow {ratio} times");
    }
}

#[test]
fn presets_are_called_what_scene_files_call_them() {
    for preset in StylePreset::ALL {
        assert_eq!(serde_json::to_value(preset).unwrap(), preset.name());
    }
}

#[test]
fn what_the_scene_sets_stays_whatever_the_preset_wants() {
    let style = |p: &mut HairParams| {
        p.style.preset = Some(StylePreset::LongStraight);
        p.length = 0.123;
    };
    let rig = Rig::new(head(0.1, style)).unwrap();
    assert!((mean_length(&rig) / 0.123 - 1.0).abs() < 0.05, "{}", mean_length(&rig));
}

#[test]
fn a_ponytail_gathers_all_hair_in_its_tie() {
    let rig = Rig::new(head(0.1, |p| p.style.preset = Some(StylePreset::Ponytail))).unwrap();
    let tie = |w: &super::super::state::Wisp| {
        let (_, particle) = rig.rest().roots[w.root as usize].tie.expect("a tie");
        w.positions[particle]
    };
    let places: Vec<Vec3> = rig.state().wisps.iter().map(tie).collect();
    let middle = places.iter().sum::<Vec3>() / places.len() as f32;
    assert!(middle.z < -0.09, "behind the head: {middle}");
    for p in places {
        assert!(p.distance(middle) < 0.04, "{p} is not in the tie at {middle}");
    }
}

#[test]
fn a_tie_that_no_hair_reaches_is_refused() {
    let far =
        TieParams { point: [0.0, 5.0, 0.0], reach: 1.0e3, radius: 0.02, hold_hz: 10.0.into() };
    let error = Rig::new(head(0.1, |p| p.style.ties = vec![far])).err().expect("an error");
    let text = error.to_string();
    assert!(text.contains("style.ties[0].point") && text.contains("4.9"), "{text}");
}

#[test]
fn a_cut_shortens_the_hair_on_its_side_only() {
    let cut = CutParams { point: [0.0; 3], normal: [0.0, 0.0, 1.0], length: 0.05 };
    let style = |p: &mut HairParams| {
        p.style.cuts = vec![cut];
        p.length_variation = 0.0;
    };
    let rig = Rig::new(head(0.1, style)).unwrap();
    let (mut short, mut long) = (0, 0);
    for (root, pose) in rig.rest().roots.iter().zip(&rig.rest().styled_roots) {
        let wanted = if pose.skin.z > 0.0 { 0.05 } else { 0.3 };
        assert!((root.length - wanted).abs() < 1e-6, "{} at {}", root.length, pose.skin);
        if pose.skin.z > 0.0 { short += 1 } else { long += 1 }
    }
    assert!(short > 5 && long > 5, "{short} {long}");
}
