//! Laws of the visible hairs.

use glam::{Quat, Vec3};

use super::super::scratch::HairScratch;
use super::super::strand_params::StrandParams;
use super::super::strands::control_points;
use super::{Rig, Scene, ball, banging, head_of_hair, path};
use crate::geometry::AttributeValues;
use crate::stage::Curves;

/// A head of hair that has been shaken for a while, without bodies that would push hairs about.
fn shaken(length_variation: f32, points: u32) -> Rig {
    let mut scene = head_of_hair(20);
    scene.colliders.clear();
    scene.params.strands.length_variation = length_variation;
    scene.params.strands.points = points;
    scene.path = path(1.0, banging);
    let mut rig = Rig::new(scene).unwrap();
    for _ in 0..10 {
        rig.advance();
    }
    rig
}

fn lengths(rig: &Rig) -> Vec<f32> {
    let points = rig.params().strands.points as usize;
    let length = |s: &[Vec3]| s.windows(2).map(|w| w[0].distance(w[1])).sum();
    rig.points().chunks_exact(points).map(length).collect()
}

#[test]
fn straight_hairs_start_on_the_skin_and_keep_their_own_length() {
    // Few points: the chords of a curve alone would be shorter than it.
    for points in [16, 200] {
        let rig = shaken(0.15, points);
        let mesh = &rig.frame().meshes[0];
        let mut scratch = HairScratch::default();
        let input = rig.strand_input(&mut scratch);
        for (hair, length) in lengths(&rig).into_iter().enumerate() {
            let root = rig.rest().hair_roots[hair].place(&mesh.topology.triangles, &mesh.positions);
            assert_eq!(rig.points()[hair * points as usize], root);
            let wisp = &rig.state().wisps[hair / rig.rest().per_wisp];
            let (_, own) = control_points(&input, hair as u64, wisp);
            assert!((length / own - 1.0).abs() < 1e-3, "{hair}: {length}, not {own}");
        }
    }
}

#[test]
fn hairs_stay_inside_the_envelope_at_the_planes() {
    let rig = shaken(0.15, 16);
    let mut scratch = HairScratch::default();
    let input = rig.strand_input(&mut scratch);
    for wisp in &rig.state().wisps {
        for hair in 0..rig.rest().per_wisp {
            let id = (wisp.root as usize * rig.rest().per_wisp + hair) as u64;
            let (control, _) = control_points(&input, id, wisp);
            for (i, p) in control.iter().enumerate().skip(1) {
                let away = *p - wisp.positions[i];
                let (x, y) = (away.dot(wisp.across[i]), away.dot(wisp.second_axis(i)));
                let r = &wisp.radii[4 * i..4 * i + 4];
                let (a, b) =
                    (if x >= 0.0 { r[0] } else { r[2] }, if y >= 0.0 { r[1] } else { r[3] });
                assert!(away.dot(wisp.normals[i]).abs() < 1e-5, "off the plane");
                assert!((x / a).hypot(y / b) < 1.0 + 1e-4, "outside the envelope");
            }
        }
    }
}

#[test]
fn a_hair_keeps_its_place_in_the_wisp_from_frame_to_frame_and_from_build_to_build() {
    // Places of all hairs in all planes, as fractions of the envelope.
    let places = |rig: &Rig| {
        let mut scratch = HairScratch::default();
        let input = rig.strand_input(&mut scratch);
        let mut out = Vec::new();
        for wisp in &rig.state().wisps {
            for hair in 0..rig.rest().per_wisp {
                let id = (wisp.root as usize * rig.rest().per_wisp + hair) as u64;
                let (control, _) = control_points(&input, id, wisp);
                for (i, p) in control.iter().enumerate().skip(2) {
                    let away = *p - wisp.positions[i];
                    let (x, y) = (away.dot(wisp.across[i]), away.dot(wisp.second_axis(i)));
                    let r = &wisp.radii[4 * i..4 * i + 4];
                    out.push(x / if x >= 0.0 { r[0] } else { r[2] });
                    out.push(y / if y >= 0.0 { r[1] } else { r[3] });
                }
            }
        }
        out
    };
    let mut rig = shaken(0.15, 16);
    let before = places(&rig);
    for _ in 0..8 {
        rig.advance();
    }
    let apart = |a: &[f32], b: &[f32]| {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    assert!(apart(&before, &places(&rig)) < 2e-3, "{}", apart(&before, &places(&rig)));
    assert_eq!(apart(&before, &places(&shaken(0.15, 16))), 0.0);
}

#[test]
fn roots_follow_a_skin_that_deforms() {
    let mut scene = head_of_hair(20);
    scene.colliders.clear();
    // The head breathes and is sheared.
    scene.deform = Some(|p, t| {
        let swell = 1.0 + 0.3 * (6.0 * t).sin() as f32;
        Vec3::new(swell * p.x + 0.4 * (4.0 * t).sin() as f32 * p.y, p.y, swell * p.z)
    });
    let mut rig = Rig::new(scene).unwrap();
    for frame in 0..20 {
        rig.advance();
        let mesh = &rig.frame().meshes[0];
        let (triangles, positions) = (&mesh.topology.triangles, &mesh.positions);
        for (hair, root) in rig.rest().hair_roots.iter().enumerate() {
            assert_eq!(rig.points()[16 * hair], root.place(triangles, positions), "frame {frame}");
        }
        for wisp in &rig.state().wisps {
            let root = &rig.rest().roots[wisp.root as usize];
            let pose = root.pose(&root.skin, mesh);
            let middle = 0.5 * (wisp.positions[0] + wisp.positions[1]);
            assert!(middle.distance(pose.skin) < 1e-5, "frame {frame}");
            // The same angle to the skin as when it was planted.
            let normal = pose.axes.z_axis;
            let along = (wisp.positions[1] - wisp.positions[0]).normalize();
            assert!((along.dot(normal) - root.direction.z).abs() < 1e-3, "frame {frame}");
        }
    }
}

#[test]
fn velocities_are_those_of_the_points() {
    let mut scene = head_of_hair(12);
    scene.colliders.clear();
    scene.fps = 120;
    scene.params.strands.velocities = true;
    scene.params.strands.length_variation = 0.0;
    scene.path = path(1.0, banging);
    let mut rig = Rig::new(scene).unwrap();
    for _ in 0..20 {
        rig.advance();
    }
    let before = rig.points().to_vec();
    rig.advance();
    let curves = &rig.frame().curves[0];
    let fastest = curves.velocities.iter().map(|v| v.length()).fold(0.0, f32::max);
    assert!(fastest > 0.3, "{fastest}");
    let errors = before.iter().zip(&curves.points).zip(&curves.velocities);
    let errors: Vec<f32> = errors.map(|((a, b), v)| (*v - 120.0 * (*b - *a)).length()).collect();
    let rms = (errors.iter().map(|e| e * e).sum::<f32>() / errors.len() as f32).sqrt();
    // A point also slides along its curve as the curve's length changes; that is no motion of hair.
    assert!(rms < 0.05 * fastest, "{rms} of {fastest}");
}

#[test]
fn no_hair_goes_through_the_mesh() {
    check_outside(|_| ());
}

#[test]
fn no_curl_goes_through_the_mesh() {
    check_outside(|strands| {
        (strands.curl_radius, strands.curl_pitch, strands.frizz) = (0.006, 0.03, 0.001);
    });
}

/// From one point to the next these curls go farther than their points stand off the ball.
#[test]
fn no_wide_curl_goes_through_the_mesh_between_its_points() {
    check_outside(|strands| {
        (strands.curl_radius, strands.curl_pitch, strands.frizz) = (0.02, 0.05, 0.0);
    });
}

/// Hairs on a ball that bangs about stay outside of it, points and what is between them.
fn check_outside(change: impl Fn(&mut StrandParams)) {
    let mut params = super::HairParams { wisps: 30, ..super::HairParams::default() };
    params.scalp.r#box = Some([-1.0, 0.02, -1.0, 1.0, 1.0, 1.0]);
    params.strands.per_wisp = 30;
    change(&mut params.strands);
    params.body.meshes = vec!["scalp".to_owned()];
    let mut scene = Scene::new(params, ball(0.1, 24));
    scene.path = path(2.0, banging);
    let mut rig = Rig::new(scene).unwrap();
    let mesh = ball(0.1, 24);
    for frame in 0..60 {
        rig.advance();
        let (turn, shift): (Quat, Vec3) = banging(f64::from(frame + 1) / 30.0);
        let bvh = crate::geometry::TriangleBvh::build(&mesh.positions, &mesh.topology.triangles);
        let points = rig.params().strands.points as usize;
        let height = |p: Vec3| {
            let local = turn.inverse() * (p - shift);
            let hit = bvh.closest_point(local, 0.05)?;
            Some((local - hit.point).dot(bvh.face_normal(hit.triangle)))
        };
        let all = rig.points();
        // What leaves the skin is half inside at its root.
        for k in (0..all.len()).filter(|k| k % points != 0) {
            let before = if k % points == 1 { all[k] } else { all[k - 1] };
            for share in [0.25, 0.5, 0.75, 1.0] {
                let Some(height) = height(before.lerp(all[k], share)) else { continue };
                assert!(height > -2e-4, "frame {frame}, point {k}, {share}: {height}");
            }
        }
    }
}

/// Hair as it is seen from some way off: number of each hair, points, widths.
fn seen_from(away: Option<f32>) -> Curves {
    let mut scene = head_of_hair(20);
    scene.params.strands.seen_from = away.map(|z| [0.0, 0.0, z]);
    scene.params.strands.full_within = 2.0;
    scene.params.strands.root_normals = true;
    let mut rig = Rig::new(scene).unwrap();
    rig.advance();
    rig.frame().curves[0].clone()
}

#[test]
fn hair_far_away_is_fewer_and_thicker_hairs_in_the_same_places() {
    let all = seen_from(None);
    assert_eq!(seen_from(Some(1.9)), all, "near enough to see all");
    for (away, share) in [(4.0, 0.5), (20.0, 0.1), (1.0e4, 0.05)] {
        let some = seen_from(Some(away));
        let shown = some.ids.len() as f32 / all.ids.len() as f32;
        assert!((shown - share).abs() < 0.05, "{shown} of the hairs from {away} m");
        let thick = some.widths.iter().sum::<f32>() / all.widths.iter().sum::<f32>();
        let chance = 3.0 / (some.ids.len() as f32).sqrt();
        assert!((thick - 1.0).abs() < chance, "{thick} times as thick together from {away} m");
        let each = all.counts[0] as usize;
        let normals = |c: &Curves| match &c.attributes[0].values {
            AttributeValues::Vector(normals) => normals.clone(),
            _ => panic!("normals are vectors"),
        };
        for (k, id) in some.ids.iter().enumerate() {
            let whole = *id as usize;
            // Other hairs beside it in its four lanes: not to the last bit.
            let pairs = some.points[k * each..][..each].iter().zip(&all.points[whole * each..]);
            assert!(pairs.into_iter().all(|(p, q)| p.distance(*q) < 1e-5), "hair {whole}");
            assert_eq!(normals(&some)[k], normals(&all)[whole]);
            // On a ball the skin faces away from the middle.
            let out = normals(&all)[whole].dot(all.points[whole * each].normalize());
            assert!(out > 0.98, "{out}");
        }
    }
}

#[test]
fn no_hair_comes_or_goes_with_a_width() {
    let (near, far) = (seen_from(Some(4.0)), seen_from(Some(4.04)));
    let widest = near.widths.iter().copied().fold(0.0, f32::max);
    let each = near.counts[0] as usize;
    let gone = near.ids.iter().enumerate().filter(|(_, id)| !far.ids.contains(id));
    let gone: Vec<f32> = gone.map(|(k, _)| near.widths[k * each]).collect();
    assert!(gone.iter().all(|w| *w < 0.1 * widest), "{gone:?} of {widest}");
    assert!(far.ids.iter().all(|id| near.ids.contains(id)));
}
