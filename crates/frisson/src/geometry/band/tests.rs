use super::*;
use crate::geometry::{Solid, TriangleBvh};
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

fn band(soup: &impl Soup, cell: f32) -> DistanceBand {
    let mut band = DistanceBand::default();
    let settings = BandSettings { cell, width: 2.5 * cell };
    assert!(band.build(soup, settings));
    band
}

#[test]
fn points_of_the_band_have_the_distance_to_a_ball_and_the_others_its_side() {
    let (center, r, cell) = (Vec3::new(0.3, -0.1, 0.2), 0.5, 0.03);
    let band = band(&join(&[ball(center, r, 96)]), cell);
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
        let band = band(&join(&[ball(Vec3::new(c(0), c(1), c(2)), 0.5, 96)]), 0.037);
        let (volume, area) = band.volume_and_area(|p| p.signed);
        let expected = std::f64::consts::PI / 6.0;
        assert!((volume / expected - 1.0).abs() < 5e-3, "{}", volume / expected);
        assert!((area / std::f64::consts::PI - 1.0).abs() < 2e-2, "{area}");
    }
}

#[test]
fn what_lies_within_another_part_is_no_border() {
    let (big, small) = (ball(Vec3::ZERO, 0.5, 48), ball(Vec3::new(0.1, 0.0, 0.0), 0.2, 32));
    let alone = band(&join(std::slice::from_ref(&big)), 0.03);
    let both = band(&join(&[big, small]), 0.03);
    for at in every(IVec3::splat(-20), IVec3::splat(20)) {
        assert_eq!(alone.point(at).signed < 0.0, both.point(at).signed < 0.0, "{at}");
    }
    let volume = |b: &DistanceBand| b.volume_and_area(|p| p.signed).0;
    // Where the small one is seen from its own inside it still counts as near: by less than its skin.
    assert!((volume(&both) / volume(&alone) - 1.0).abs() < 0.02);
}

#[test]
fn two_balls_in_each_other_do_not_part_when_the_whole_shrinks() {
    // An eye in a head: what is hidden of both borders on nothing.
    let (head, eye) = (ball(Vec3::ZERO, 0.5, 48), ball(Vec3::new(0.5, 0.0, 0.0), 0.2, 32));
    let band = band(&join(&[head, eye]), 0.02);
    for x in 0..33 {
        let signed = band.point(IVec3::new(x, 0, 0)).signed;
        // Along the axis nothing is nearer than the rim where they meet, 0.19 off it.
        assert!(signed < -0.049, "{x}: {signed}");
    }
}

/// Triangles of which only those of the solids among them enclose.
struct Parts {
    tree: TriangleBvh,
    solid: Solid,
}

impl Parts {
    fn of((positions, triangles): (Vec<Vec3>, Vec<[u32; 3]>)) -> Self {
        let solid = Solid::build(&positions, &triangles);
        Self { tree: TriangleBvh::build(&positions, &solid.triangles), solid }
    }
}

impl Soup for Parts {
    fn count(&self) -> usize {
        self.tree.triangle_count()
    }
    fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.tree.corners(triangle)
    }
    fn encloses(&self, triangle: u32) -> bool {
        !self.solid.sheet[triangle as usize]
    }
}

#[test]
fn a_ball_with_a_hole_has_an_inside_and_a_sheet_has_none() {
    let (positions, mut triangles) = ball(Vec3::ZERO, 0.5, 48);
    triangles.retain(|t| !t.contains(&0));
    let shell = band(&Parts::of((positions, triangles)), 0.03);
    assert!(shell.point(IVec3::ZERO).signed < 0.0 && shell.point(IVec3::X * 15).signed < 0.0);
    assert!(shell.point(IVec3::X * 19).signed > 0.0 && shell.point(IVec3::Y * 19).signed > 0.0);
    let sheet = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y].to_vec();
    let sheet = band(&Parts::of((sheet, vec![[0, 1, 2], [0, 2, 3]])), 0.03);
    for z in -4..=4 {
        assert!(sheet.point(IVec3::new(15, 15, z)).signed >= 0.0, "{z}");
    }
}

#[test]
fn a_sheet_beside_a_ball_leaves_its_inside_alone() {
    let (mut positions, mut triangles) = ball(Vec3::ZERO, 0.5, 48);
    let alone = band(&Parts::of((positions.clone(), triangles.clone())), 0.03);
    let first = positions.len() as u32;
    // From within the ball to far out of it.
    positions.extend(
        [(0.1, -1.0), (2.0, -1.0), (2.0, 1.0), (0.1, 1.0)].map(|(x, y)| Vec3::new(x, y, 0.01)),
    );
    triangles.extend([[0, 1, 2], [0, 2, 3]].map(|t| t.map(|v: u32| v + first)));
    let both = band(&Parts::of((positions, triangles)), 0.03);
    for at in every(IVec3::splat(-20), IVec3::splat(20)) {
        assert_eq!(alone.point(at).signed < 0.0, both.point(at).signed < 0.0, "{at}");
    }
}

#[test]
fn points_far_from_triangles_take_the_side_that_columns_say() {
    let soup = join(&[ball(Vec3::ZERO, 0.5, 48), ball(Vec3::new(0.4, 0.1, 0.0), 0.3, 32)]);
    let band = band(&soup, 0.025);
    for at in every(IVec3::splat(-30), IVec3::splat(30)) {
        let signed = band.point(at).signed;
        // On a triangle rounding alone says which side it is.
        assert!(signed.abs() < 1e-4 || (signed < 0.0) == band.is_inside(at), "{at}");
    }
}

#[test]
fn the_same_bits_on_one_thread_and_on_three() {
    let soup = join(&[ball(Vec3::ZERO, 0.5, 48), ball(Vec3::new(0.4, 0.1, 0.0), 0.3, 32)]);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let band = pool.install(|| band(&soup, 0.02));
        every(IVec3::splat(-40), IVec3::splat(40))
            .map(|p| (band.point(p).signed.to_bits(), band.point(p).triangle))
            .collect::<Vec<_>>()
    };
    assert_eq!(on(1), on(3));
}
