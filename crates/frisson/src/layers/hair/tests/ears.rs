//! Hair on a head with ears: thin parts that the planes beneath a segment's ends know nothing of.

use glam::{Vec3, Vec4};

use super::{HairParams, Rig, Scene, ball, banging, path, slab};
use crate::geometry::{Mesh, TriangleBvh};
use crate::layers::hair::beneath::{Beneath, NO_GUESS};
use crate::layers::hair::lanes::Lanes;
use crate::layers::hair::ridges::HairWay;
use crate::math::random;
use crate::stage::SurfaceMotion;

/// How deep points and segments may be inside [m].
const POINTS: f32 = 2.0e-4;
const SEGMENTS: f32 = 5.0e-4;

/// A ball of 20 cm with two ears: fins that stand out by 3 cm and are less than a centimetre thick.
fn eared() -> Mesh {
    let mut mesh = ball(0.1, 72);
    for p in &mut mesh.positions {
        let side = (p.x.abs() / 0.04 - 1.0).clamp(0.0, 1.0);
        let thin = (1.0 - (p.z / 0.006).powi(2)).max(0.0);
        let high = (1.0 - ((p.y - 0.01) / 0.05).powi(2)).max(0.0);
        *p *= 1.0 + 0.3 * side * thin.sqrt() * high.sqrt();
    }
    mesh
}

/// How deep a place is inside a closed mesh [m]: by the surfaces left and entered on two ways out.
fn depth(bvh: &TriangleBvh, p: Vec3) -> f32 {
    let inside = |ray: Vec3| {
        let mut left = 0;
        bvh.raycast_all(p, ray, |t, _| {
            left += if bvh.face_normal(t).dot(ray) > 0.0 { 1 } else { -1 };
        });
        left > 0
    };
    let [a, b] = [Vec3::new(0.137, 0.971, 0.053), Vec3::new(-0.317, 0.211, -0.929)];
    if !(inside(a) && inside(b)) {
        return 0.0;
    }
    bvh.closest_point(p, 1.0).map_or(0.0, |hit| hit.distance)
}

/// A plate that stands up: 4 mm thick, its upper edge at a height of nothing.
fn plate() -> SurfaceMotion {
    let mesh = slab(Vec3::new(0.002, -0.05, 0.0), Vec3::new(0.002, 0.05, 0.1));
    let mut motion = SurfaceMotion::default();
    motion.update(&mesh, 1.0 / 120.0);
    motion
}

#[test]
fn a_way_that_only_just_enters_is_only_just_turned() {
    let meshes = [plate()];
    let (last, segment) = (Vec3::new(-0.006, 0.008, 0.01), 0.02);
    let end = |degrees: f32| {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let at = last + segment * Vec3::new(cosine, -sine, 0.0);
        let (height, along) = (0.01, Vec3::new(0.0, -segment, 0.0));
        HairWay { last, height, along, at, segment, margin: 5.0e-4 }.clear(&meshes, 1)
    };
    // Flat enough it leads over the plate, which from 39 degrees on is in its way.
    assert!(end(38.0).distance(last + segment * Vec3::new(0.788, -0.616, 0.0)) < 1.0e-4);
    assert!(end(48.0).y > -0.006);
    let steps = (0..120).map(|k| 20.0 + 0.25 * k as f32);
    let jump = steps.map(|d| end(d).distance(end(d + 0.25))).fold(0.0, f32::max);
    // A quarter of a degree is a tenth of a millimetre.
    assert!(jump < 1.0e-3, "{jump}");
}

/// A way too narrow to keep the margin to its three walls.
#[test]
fn where_no_way_leads_over_the_walls_a_hair_goes_on_between_them() {
    let rim = [(-0.001, 0.0), (0.001, 0.0), (0.0, 0.0017)];
    let ends = [-0.1, 0.1].map(|z| rim.map(|(x, y)| Vec3::new(x, y, z)));
    // Walls that face inwards, each of two triangles.
    let wall = |k: u32| [[k, k + 3, (k + 1) % 3 + 3], [k, (k + 1) % 3 + 3, (k + 1) % 3]];
    let mut tunnel = SurfaceMotion::default();
    let mesh = Mesh::new("tunnel", ends.concat(), (0..3).flat_map(wall).collect());
    tunnel.update(&mesh, 1.0 / 120.0);
    let (last, segment) = (Vec3::new(0.0, 6.0e-4, 0.0), 0.02);
    for z in [0.5f32, -0.5] {
        let at = last + segment * Vec3::new(0.6, -0.5, z).normalize();
        let way = HairWay { last, height: 6.0e-4, along: at - last, at, segment, margin: 1.0e-3 };
        let end = way.clear(std::slice::from_ref(&tunnel), 1);
        assert!((end.z - last.z) * z.signum() > 0.99 * segment, "{end}");
    }
}

#[test]
fn no_hair_goes_through_an_ear() {
    let mut rig = banging_ears(60, 24, 0.0);
    let each = rig.params().strands.points as usize;
    let mut near_ears = 0;
    let mut worst = [0.0f32; 2];
    for frame in 0..40 {
        rig.advance();
        let mesh = &rig.frame().meshes[0];
        let (turn, shift) = banging(f64::from(frame + 1) / 30.0);
        let bvh = TriangleBvh::build(&mesh.positions, &mesh.topology.triangles);
        for hair in rig.points().chunks_exact(each) {
            for (a, b) in hair[1..].iter().zip(&hair[2..]) {
                worst[0] = worst[0].max(depth(&bvh, *b));
                let along = |k: u8| a.lerp(*b, 0.125 * f32::from(k));
                worst[1] = (1..8).map(|k| depth(&bvh, along(k))).fold(worst[1], f32::max);
                let local = turn.inverse() * (*b - shift);
                near_ears += u32::from(local.x.abs() > 0.09 && local.z.abs() < 0.02);
            }
        }
    }
    assert!(near_ears > 1000, "hair lies about the ears: {near_ears}");
    assert!(worst[0] < POINTS && worst[1] < SEGMENTS, "points and segments inside [m]: {worst:?}");
}

/// A ball with ears that bangs its head, and what it grows.
fn banging_ears(wisps: u32, per_wisp: u32, curl: f32) -> Rig {
    let mut params = HairParams { wisps, length: 0.25, ..HairParams::default() };
    params.scalp.r#box = Some([-1.0, 0.02, -1.0, 1.0, 1.0, 1.0]);
    params.strands.per_wisp = per_wisp;
    params.strands.curl_radius = curl;
    params.body.meshes = vec!["scalp".to_owned()];
    let mut scene = Scene::new(params, eared());
    scene.path = path(2.0, banging);
    Rig::new(scene).unwrap()
}

#[test]
fn hairs_are_drawn_alike_whether_the_air_around_is_known_or_not() {
    for curl in [0.0, 0.004] {
        let mut rig = banging_ears(40, 12, curl);
        let apart = |a: &[Vec3], b: &[Vec3]| {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
        };
        for frame in 0..24 {
            rig.advance();
            let (known, unknown) = (rig.drawn(true), rig.drawn(false));
            let worst = apart(&known, &unknown);
            assert!(worst < 1.0e-6, "curl {curl}, frame {frame}: {worst} m");
            // What is shown was drawn where air had been asked for before.
            assert_eq!(apart(&known, rig.points()), 0.0, "curl {curl}, frame {frame}");
        }
    }
}

#[test]
fn what_was_beneath_before_changes_no_answer() {
    let mesh = eared();
    let triangles = mesh.topology.triangles.len() as u64;
    let mut surface = SurfaceMotion::default();
    surface.update(&mesh, 0.0);
    let surfaces = [surface];
    let mut found = 0;
    for i in 0..400u64 {
        let c = |k| random::signed(31, i, k) as f32;
        let v = |k: u64| Vec3::new(c(3 * k), c(3 * k + 1), c(3 * k + 2));
        // About the surface, ears included, on both of its sides.
        let place = |k: u64| (0.12 + 0.03 * c(40 + k)) * v(k).normalize_or(Vec3::X);
        let points = Lanes::new((0..4).map(place));
        let reaches = Vec4::new(0.03, 0.03, -1.0, 0.005);
        let bits = |guesses: &mut [u32; 4]| {
            let nothing = Beneath::nothing();
            let found = Beneath::find(&surfaces, 1, &points, reaches, &nothing, guesses);
            found.heights.to_array().map(f32::to_bits)
        };
        let mut none = [NO_GUESS; 4];
        let alone = bits(&mut none);
        let mut wild: [u32; 4] =
            std::array::from_fn(|k| (random::hash(32, i, k as u64) % triangles) as u32);
        assert_eq!(bits(&mut wild), alone, "{i}: any guess");
        let mut right = none;
        assert_eq!(bits(&mut right), alone, "{i}: the right one");
        // Of another mesh, or of a triangle that is gone.
        assert_eq!(bits(&mut [7 << 29, 1 << 28, u32::MAX - 1, 3 << 29]), alone, "{i}: a wrong one");
        found += none.iter().filter(|guess| **guess != NO_GUESS).count();
    }
    assert!(found > 500, "{found}");
}

/// On a head without folds: in one a particle does remember at which of the walls it was.
#[test]
fn wisps_move_as_if_nothing_had_been_beneath_them_before() {
    let run = |forget: bool| {
        let mut params = HairParams { wisps: 20, length: 0.25, ..HairParams::default() };
        params.scalp.r#box = Some([-1.0, 0.02, -1.0, 1.0, 1.0, 1.0]);
        params.strands.per_wisp = 4;
        params.body.meshes = vec!["scalp".to_owned()];
        let mut scene = Scene::new(params, ball(0.1, 24));
        scene.path = path(2.0, banging);
        let mut rig = Rig::new(scene).unwrap();
        for frame in 0..12u32 {
            rig.advance();
            for (k, wisp) in rig.state_mut().wisps.iter_mut().enumerate().filter(|_| forget) {
                let wild = (997 * k as u32 + 31 * frame) % 2500;
                wisp.beneath.iter_mut().for_each(|triangle| *triangle = wild);
            }
        }
        rig.points().iter().flat_map(|p| p.to_array()).map(f32::to_bits).collect::<Vec<_>>()
    };
    assert!(run(true) == run(false), "bits differ");
}
