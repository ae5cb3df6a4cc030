//! Against brute force, before and after refitting.

use glam::DVec3;

use super::*;
use crate::math::random;

fn soup(seed: u64, count: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let c = |i: usize, k: u64| random::signed(seed, i as u64, k) as f32;
    let positions: Vec<Vec3> = (0..3 * count)
        .map(|i| {
            let center = Vec3::new(c(i / 3, 10), c(i / 3, 11), c(i / 3, 12));
            center + 0.2 * Vec3::new(c(i, 0), c(i, 1), c(i, 2))
        })
        .collect();
    let triangles = (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    (positions, triangles)
}

#[test]
fn agrees_with_brute_force_before_and_after_refit() {
    let (positions, triangles) = soup(1, 300);
    let mut bvh = TriangleBvh::build(&positions, &triangles);
    let (moved, _) = soup(2, 300);
    for positions in [&positions, &moved] {
        bvh.refit(positions);
        for i in 0..200u64 {
            let c = |k| 1.5 * random::signed(3, i, k) as f32;
            let (p, d) = (Vec3::new(c(0), c(1), c(2)), Vec3::new(c(3), c(4), c(5)));
            check_closest(&bvh, p);
            check_ray(&bvh, p, d);
        }
    }
}

fn check_closest(bvh: &TriangleBvh, p: Vec3) {
    let want = (0..bvh.triangle_count() as u32)
        .map(|t| (closest_on_triangle(p, bvh.corners(t)).0.distance_squared(p), t))
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        .unwrap();
    let got = bvh.closest_point(p, f32::INFINITY).unwrap();
    assert_eq!((got.triangle, got.distance), (want.1, want.0.sqrt()));
    assert!(bvh.closest_point(p, 0.5 * got.distance).is_none());
}

#[test]
fn four_points_at_once_find_what_each_finds_alone() {
    let (positions, triangles) = soup(7, 300);
    let bvh = TriangleBvh::build(&positions, &triangles);
    for i in 0..300u64 {
        let c = |k| random::signed(8, i, k) as f32;
        let spread = if i % 2 == 0 { 0.05 } else { 1.0 };
        let center = Vec3::new(c(0), c(1), c(2));
        let p: [Vec3; 4] = std::array::from_fn(|k| {
            let k = 3 + 3 * k as u64;
            center + spread * Vec3::new(c(k), c(k + 1), c(k + 2))
        });
        let lanes = std::array::from_fn(|axis| Vec4::from_array(p.map(|p| p[axis])));
        // The last is not asked for.
        let reach = Vec4::new(0.04, 0.01, 100.0, -1.0);
        let found = bvh.closest_of_four(lanes, reach);
        assert_eq!(found[3], None);
        for k in 0..3 {
            let distance = |t: u32| closest_on_triangle(p[k], bvh.corners(t)).0.distance(p[k]);
            let want = bvh.closest_point(p[k], reach[k].sqrt());
            match (want, found[k]) {
                (Some(want), Some(got)) => assert!((want.distance - distance(got)) > -1e-5),
                (None, None) => {}
                (want, got) => {
                    // On the very edge of the reach rounding may decide.
                    let at = want.map(|w| w.distance).or(got.map(distance)).unwrap();
                    assert!((at - reach[k].sqrt()).abs() < 1e-5, "{want:?} {got:?}");
                }
            }
        }
    }
}

#[test]
fn four_ways_at_once_miss_no_triangle_that_each_crosses_alone() {
    let (positions, triangles) = soup(17, 300);
    let bvh = TriangleBvh::build(&positions, &triangles);
    let mut counts = [0; 2];
    for i in 0..400u64 {
        let c = |k| random::signed(18, i, k) as f32;
        let v = |k: u64| Vec3::new(c(3 * k), c(3 * k + 1), c(3 * k + 2));
        let from: [Vec3; 4] = std::array::from_fn(|k| v(k as u64));
        let mut way: [Vec3; 4] = std::array::from_fn(|k| 0.3 * v(4 + k as u64));
        // Along an axis, too.
        way[1] = 0.3 * Vec3::Y;
        let lanes =
            |p: [Vec3; 4]| std::array::from_fn(|axis| Vec4::from_array(p.map(|p: Vec3| p[axis])));
        let asked = Vec4::new(1.0, 1.0, 1.0, 0.0).cmpgt(Vec4::ZERO);
        let bits = bvh.crossed_by_four(lanes(from), lanes(way), asked);
        assert_eq!(bits >> 3, 0, "the last is not asked for");
        for k in 0..3 {
            let mut crosses = false;
            bvh.raycast_all(from[k], way[k], |_, _| crosses = true);
            counts[usize::from(crosses)] += 1;
            assert!(!crosses || bits >> k & 1 == 1, "{i} {k}");
            // What is taken for a crossing passes an edge at least.
            let nearly = (0..bvh.triangle_count() as u32).any(|t| {
                let [a, b, c] = bvh.corners(t);
                let middle = (a + b + c) / 3.0;
                let wider = [a, b, c].map(|p| middle + 1.001 * (p - middle));
                intersect(from[k] - 1e-3 * way[k], 1.002 * way[k], wider)
                    .is_some_and(|(t, _)| (0.0..=1.0).contains(&t))
            });
            assert!(nearly || bits >> k & 1 == 0, "{i} {k}");
        }
    }
    assert!(counts[0] > 100 && counts[1] > 100, "{counts:?}");
}

fn check_ray(bvh: &TriangleBvh, p: Vec3, d: Vec3) {
    let want = (0..bvh.triangle_count() as u32)
        .filter_map(|t| Some((intersect(p, d, bvh.corners(t))?.0, t)))
        .filter(|h| h.0 >= 0.0)
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let got = bvh.raycast(p, d, f32::INFINITY);
    assert_eq!(got.map(|h| (h.distance, h.triangle)), want);
}

#[test]
fn no_ray_slips_through_a_vertex_or_along_an_edge() {
    // A sphere of irregular triangles, from inside: whatever it looks at, a ray must hit something there.
    let c = |i: u64, k: u64| random::signed(31, i, k);
    let (rings, slices) = (24u32, 37u32);
    let place = |i: u32, j: u32| {
        let shift = 0.3 * c(u64::from(i), u64::from(j % slices));
        let polar = std::f64::consts::PI * (f64::from(i) + shift) / f64::from(rings);
        let turn = std::f64::consts::TAU * (f64::from(j % slices) + shift) / f64::from(slices);
        DVec3::new(polar.sin() * turn.cos(), polar.cos(), polar.sin() * turn.sin()).as_vec3()
    };
    let at = |i: u32, j: u32| (i - 2) * slices + j % slices;
    // A belt: caps would only repeat it.
    let belt = || (2..rings - 1).flat_map(|i| (0..slices).map(move |j| (i, j)));
    let positions: Vec<Vec3> = belt().map(|(i, j)| place(i, j)).collect();
    let squares = || belt().filter(|(i, _)| i + 2 < rings);
    let both = |(i, j)| {
        let (a, b, d, e) = (at(i, j), at(i, j + 1), at(i + 1, j), at(i + 1, j + 1));
        [[a, b, e], [a, e, d]]
    };
    let triangles: Vec<[u32; 3]> = squares().flat_map(both).collect();
    let bvh = TriangleBvh::build(&positions, &triangles);
    let is_inner = |v: u32| v >= slices && v < positions.len() as u32 - slices;
    for (n, t) in triangles.iter().enumerate().filter(|(_, t)| t.iter().all(|v| is_inner(*v))) {
        let [a, b, _] = t.map(|v| positions[v as usize]);
        for k in 0..8u64 {
            let n = n as u64 * 8 + k;
            let origin = Vec3::new(c(n, 1) as f32, c(n, 2) as f32, c(n, 3) as f32) * 0.3;
            let target = a.lerp(b, [0.0, 1.0, 0.5, 0.37][k as usize % 4]);
            let hit = bvh.raycast(origin, target - origin, 2.0);
            let hit = hit.unwrap_or_else(|| panic!("{origin} to {target} slips through"));
            assert!((hit.distance - 1.0).abs() < 1e-4, "{hit:?}");
        }
    }
}

#[test]
fn overlaps_and_empty_trees() {
    let (positions, triangles) = soup(5, 100);
    let bvh = TriangleBvh::build(&positions, &triangles);
    let query = Bounds { min: Vec3::splat(-0.3), max: Vec3::splat(0.4) };
    let mut got = Vec::new();
    bvh.overlapping(query, |t| got.push(t));
    got.sort_unstable();
    let meets = |t: &u32| {
        let b = Bounds::of(&bvh.corners(*t));
        b.min.cmple(query.max).all() && b.max.cmpge(query.min).all()
    };
    assert_eq!(got, (0..100).filter(meets).collect::<Vec<_>>());
    let empty = TriangleBvh::build(&[], &[]);
    assert!(empty.raycast(Vec3::ZERO, Vec3::X, 1.0).is_none());
    assert!(empty.closest_point(Vec3::ZERO, 1.0).is_none());
}
