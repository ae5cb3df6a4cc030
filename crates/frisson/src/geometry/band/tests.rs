use super::*;
use crate::geometry::TriangleBvh;
use crate::math::random;

/// A ball of radius `r` about a place, as (positions, triangles).
fn ball(center: Vec3, r: f32, sectors: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let rings = sectors / 2;
    let mut positions = vec![center + r * Vec3::Y];
    for j in 1..rings {
        let (s, c) = (std::f32::consts::PI * j as f32 / rings as f32).sin_cos();
        for i in 0..sectors {
            let (si, co) = (std::f32::consts::TAU * i as f32 / sectors as f32).sin_cos();
            positions.push(center + r * Vec3::new(s * co, c, s * si));
        }
    }
    positions.push(center - r * Vec3::Y);
    let (last, at) = (positions.len() as u32 - 1, |j: u32, i: u32| 1 + j * sectors + i % sectors);
    let mut triangles = Vec::new();
    for i in 0..sectors {
        triangles.push([0, at(0, i + 1), at(0, i)]);
        for j in 0..rings - 2 {
            triangles.push([at(j, i), at(j, i + 1), at(j + 1, i)]);
            triangles.push([at(j, i + 1), at(j + 1, i + 1), at(j + 1, i)]);
        }
        triangles.push([last, at(rings - 2, i), at(rings - 2, i + 1)]);
    }
    (positions, triangles)
}

fn join(parts: &[(Vec<Vec3>, Vec<[u32; 3]>)]) -> TriangleBvh {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for (p, t) in parts {
        let first = positions.len() as u32;
        positions.extend_from_slice(p);
        triangles.extend(t.iter().map(|t| t.map(|v| v + first)));
    }
    TriangleBvh::build(&positions, &triangles)
}

fn band(soup: &TriangleBvh, cell: f32, is_closed: bool) -> DistanceBand {
    let mut band = DistanceBand::default();
    let settings = BandSettings { cell, width: 2.5 * cell, is_closed };
    assert!(band.build(soup, settings));
    band
}

#[test]
fn points_of_the_band_have_the_distance_to_a_ball_and_the_others_its_side() {
    let (center, r, cell) = (Vec3::new(0.3, -0.1, 0.2), 0.5, 0.03);
    let band = band(&join(&[ball(center, r, 96)]), cell, true);
    let mut near = 0;
    for at in every(IVec3::splat(-30), IVec3::splat(30)) {
        let expected = (at.as_vec3() * cell).distance(center) - r;
        let found = band.point(at);
        if expected.abs() > 1e-3 {
            assert_eq!(found.signed < 0.0, expected < 0.0, "{at}: {} {expected}", found.signed);
        }
        if expected.abs() < 2.4 * cell {
            assert!((found.signed - expected).abs() < 1e-3, "{at}: {} {expected}", found.signed);
            near += 1;
        }
        if expected.abs() > 2.6 * cell {
            assert!(found.signed.is_infinite());
        }
    }
    assert!(near > 10_000);
}

#[test]
fn the_volume_is_that_of_the_ball_wherever_it_lies() {
    for seed in 0..6u64 {
        let c = |k| random::signed(11, seed, k) as f32;
        let band = band(&join(&[ball(Vec3::new(c(0), c(1), c(2)), 0.5, 96)]), 0.037, true);
        let (volume, area) = band.volume_and_area(|p| p.signed);
        let expected = std::f64::consts::PI / 6.0;
        assert!((volume / expected - 1.0).abs() < 5e-3, "{}", volume / expected);
        assert!((area / std::f64::consts::PI - 1.0).abs() < 2e-2, "{area}");
    }
}

#[test]
fn what_lies_within_another_part_is_no_border() {
    let (big, small) = (ball(Vec3::ZERO, 0.5, 48), ball(Vec3::new(0.1, 0.0, 0.0), 0.2, 32));
    let alone = band(&join(std::slice::from_ref(&big)), 0.03, true);
    let both = band(&join(&[big, small]), 0.03, true);
    for at in every(IVec3::splat(-20), IVec3::splat(20)) {
        assert_eq!(alone.point(at).signed < 0.0, both.point(at).signed < 0.0, "{at}");
    }
    let volume = |b: &DistanceBand| b.volume_and_area(|p| p.signed).0;
    // Where the small one is seen from its own inside it still counts as near: by less than its skin.
    assert!((volume(&both) / volume(&alone) - 1.0).abs() < 0.02);
}

#[test]
fn a_ball_with_a_hole_has_an_inside_and_a_sheet_has_none() {
    let (positions, mut triangles) = ball(Vec3::ZERO, 0.5, 48);
    triangles.retain(|t| !t.contains(&0));
    let shell = band(&join(&[(positions, triangles)]), 0.03, false);
    assert!(shell.point(IVec3::ZERO).signed < 0.0 && shell.point(IVec3::X * 15).signed < 0.0);
    assert!(shell.point(IVec3::X * 19).signed > 0.0 && shell.point(IVec3::Y * 19).signed > 0.0);
    let sheet = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y].to_vec();
    let sheet = band(&join(&[(sheet, vec![[0, 1, 2], [0, 2, 3]])]), 0.03, false);
    for z in -4..=4 {
        assert!(sheet.point(IVec3::new(15, 15, z)).signed >= 0.0, "{z}");
    }
}

#[test]
fn asking_every_point_or_only_those_near_a_triangle_says_the_same() {
    let soup = join(&[ball(Vec3::ZERO, 0.5, 48), ball(Vec3::new(0.4, 0.1, 0.0), 0.3, 32)]);
    let (some, all) = (band(&soup, 0.025, true), band(&soup, 0.025, false));
    for at in every(IVec3::splat(-40), IVec3::splat(40)) {
        assert_eq!(some.point(at).signed.to_bits(), all.point(at).signed.to_bits(), "{at}");
    }
}

#[test]
fn the_same_bits_on_one_thread_and_on_three() {
    let soup = join(&[ball(Vec3::ZERO, 0.5, 48), ball(Vec3::new(0.4, 0.1, 0.0), 0.3, 32)]);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let band = pool.install(|| band(&soup, 0.02, true));
        every(IVec3::splat(-40), IVec3::splat(40))
            .map(|p| (band.point(p).signed.to_bits(), band.point(p).triangle))
            .collect::<Vec<_>>()
    };
    assert_eq!(on(1), on(3));
}
