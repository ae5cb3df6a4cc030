//! The plain way to every answer that is found by a short cut, and both beside each other over random shapes.

use frisson::geometry::Mesh;
use frisson::stage::{Curves, Frame};
use frisson_io::scene::Statistic;
use glam::Vec3;

use crate::body::{Body, point_depths};
use crate::bundles::Links;
use crate::motion::{Steps, pop};
use crate::shape::Shape;
use crate::statistic::reduce;
use crate::stretch::Lengths;

/// Random numbers from -1 to 1, always the same.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}

/// A closed ball of about that size, dented at random, its vertices numbered at random.
fn potato(dice: &mut Dice, rings: u32, center: Vec3, dent: f32) -> Mesh {
    let sides = 2 * rings;
    let count = (rings - 1) * sides + 2;
    let mut numbers: Vec<u32> = (0..count).collect();
    for i in (1..count as usize).rev() {
        numbers.swap(i, ((dice.next() + 1.0) * 0.5 * i as f32) as usize);
    }
    let at = |polar: f32, around: f32| {
        Vec3::new(polar.sin() * around.cos(), polar.cos(), polar.sin() * around.sin())
    };
    let mut positions = vec![Vec3::ZERO; count as usize];
    let angle = std::f32::consts::PI / rings as f32;
    for (i, &number) in numbers.iter().enumerate() {
        let place = match i as u32 {
            0 => Vec3::Y,
            i if i == count - 1 => Vec3::NEG_Y,
            i => at(angle * ((i - 1) / sides + 1) as f32, angle * ((i - 1) % sides) as f32),
        };
        positions[number as usize] = center + place * (1.0 + dent * dice.next());
    }
    let point = |r: u32, s: u32| 1 + (r - 1) * sides + s % sides;
    let mut triangles = Vec::new();
    for s in 0..sides {
        triangles.push([0, point(1, s + 1), point(1, s)]);
        triangles.push([count - 1, point(rings - 1, s), point(rings - 1, s + 1)]);
        for r in 1..rings - 1 {
            let [a, b, c, d] = [point(r, s), point(r, s + 1), point(r + 1, s), point(r + 1, s + 1)];
            triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    let renumbered = triangles.iter().map(|t| t.map(|v| numbers[v as usize]));
    Mesh::new("potato", positions, renumbered.collect())
}

fn two_in_one(a: &Mesh, b: &Mesh) -> Mesh {
    let shift = a.positions.len() as u32;
    let positions = a.positions.iter().chain(&b.positions).copied().collect();
    let moved = b.topology.triangles.iter().map(|t| t.map(|v| v + shift));
    let triangles = a.topology.triangles.iter().copied().chain(moved).collect();
    Mesh::new("both", positions, triangles)
}

/// Strands that start near the origin and wander.
fn strands(dice: &mut Dice, count: usize, points: usize) -> Curves {
    let mut curves = Curves { name: "hair".into(), ..Curves::default() };
    for id in 0..count as u64 {
        let mut place = 0.5 * dice.vector();
        for _ in 0..points {
            place += 0.2 * dice.vector();
            curves.points.push(place);
        }
        curves.counts.push(points as u32);
        curves.ids.push(id);
    }
    curves.widths = vec![1e-4; curves.points.len()];
    curves
}

/// Both ways agree but for points that are on the surface as far as rounding can tell.
fn compare_depths(body: &Body, shape: Shape, links: &mut Links) -> usize {
    let fast = point_depths(body, shape, links.of(shape), |i| i % 7 == 3);
    let mut at = 0;
    let mut inside = 0;
    let is_root = |i: usize| match shape {
        Shape::Curves(c) => i.is_multiple_of(c.counts[0] as usize),
        _ => false,
    };
    for (i, &p) in shape.points().iter().enumerate().filter(|(i, _)| i % 7 != 3) {
        let (got, want) = (fast[at], if is_root(i) { 0.0 } else { body.depth(p) });
        assert_eq!((got.element, got.place), (i as u32, p));
        assert!(got.value == want || body.distance(p) < 1e-5, "{i}: {} {want}", got.value);
        inside += usize::from(want > 0.0);
        at += 1;
    }
    assert_eq!(at, fast.len());
    inside
}

/// Every edge with every triangle.
fn plain_crossings(
    body: &Body,
    edges: &[[u32; 2]],
    points: &[Vec3],
    deeper: f32,
) -> Vec<(u32, Vec3)> {
    let mut found = Vec::new();
    for (edge, ends) in edges.iter().enumerate() {
        let [a, b] = ends.map(|e| points[e as usize]);
        for triangle in 0..body.tree().triangle_count() as u32 {
            let Some(s) = body.tree().crossing(triangle, a, b - a) else { continue };
            let across = (b - a).dot(body.tree().face_normal(triangle)).abs();
            if across * s.min(1.0 - s) > deeper {
                found.push((edge as u32, a + s * (b - a)));
            }
        }
    }
    let bits = |place: Vec3| place.to_array().map(f32::to_bits);
    found.sort_unstable_by(|x, y| x.0.cmp(&y.0).then_with(|| bits(x.1).cmp(&bits(y.1))));
    found
}

#[test]
fn depths_of_points_that_are_asked_together_are_those_of_each_alone() {
    let mut dice = Dice(1);
    let mut inside = 0;
    for case in 0..24 {
        // Far from the origin positions are coarse, and so is every test.
        let far = if case % 4 == 3 { 100.0 * dice.vector() } else { Vec3::ZERO };
        let one = potato(&mut dice, 8, far, 0.1);
        let shift = 0.9 * dice.vector();
        // Two that overlap are inside of each other too; few rings make long edges.
        let other = potato(&mut dice, 5, far + shift, 0.3);
        let mesh = if case % 2 == 0 { one } else { two_in_one(&one, &other) };
        let mut body = Body::default();
        body.update(&mesh);
        assert!(body.is_closed());
        let (mut links, mut mesh_links) = (Links::default(), Links::default());
        let center = far + shift;
        let mut guest = potato(&mut dice, 12, center, 0.05);
        for scale in [1.0, 0.4, 1.7] {
            guest.positions.iter_mut().for_each(|p| *p = center + scale * (*p - center));
            inside += compare_depths(&body, Shape::Mesh(&guest), &mut mesh_links);
        }
        let mut hair = strands(&mut dice, 20, 12);
        hair.points.iter_mut().for_each(|p| *p += far);
        inside += compare_depths(&body, Shape::Curves(&hair), &mut links);
    }
    assert!(inside > 5000, "{inside}");
}

#[test]
fn a_body_with_a_hole_is_asked_for_every_point() {
    let mut dice = Dice(4);
    let whole = potato(&mut dice, 8, Vec3::ZERO, 0.0);
    let open = whole.topology.triangles[4..].to_vec();
    let mesh = Mesh::new("open", whole.positions.clone(), open);
    let mut body = Body::default();
    body.update(&mesh);
    assert!(!body.is_closed());
    let hair = strands(&mut dice, 40, 12);
    assert!(compare_depths(&body, Shape::Curves(&hair), &mut Links::default()) > 100);
}

#[test]
fn crossings_of_edges_that_are_asked_together_are_those_of_every_edge_with_every_triangle() {
    let mut dice = Dice(2);
    let (mut own, mut others) = (0, 0);
    for case in 0..12 {
        let dent = 0.1 * case as f32;
        let mut mesh = potato(&mut dice, 6, Vec3::ZERO, dent);
        let mut body = Body::default();
        // Twice: built, then refitted to what moved.
        for _ in 0..2 {
            mesh.positions.iter_mut().for_each(|p| *p += 0.2 * dent * dice.vector());
            body.update(&mesh);
            let welded = body.welded().clone();
            let place = |&v: &u32| mesh.positions[v as usize];
            let points: Vec<Vec3> = welded.vertex_of_point.iter().map(place).collect();
            let mut want = plain_crossings(&body, &welded.edges, &points, 1e-3);
            let touches = |edge: u32, at: Vec3| {
                let ends = welded.edges[edge as usize];
                let meets = |t: &[u32; 3]| t.iter().any(|p| ends.contains(p));
                let [a, b] = ends.map(|e| points[e as usize]);
                let same = |t: u32| {
                    let s = body.tree().crossing(t, a, b - a);
                    s.is_some_and(|s| a + s * (b - a) == at)
                };
                (0..).zip(&welded.triangles).any(|(t, corners)| meets(corners) && same(t))
            };
            want.retain(|&(edge, at)| !touches(edge, at));
            assert_eq!(body.own_crossings(&mesh.positions, 1e-3), want);
            own += want.len();
            let guest = potato(&mut dice, 6, 0.4 * Vec3::ONE, 0.2);
            let edges = crate::body::edges_of(&guest.topology.triangles);
            let want = plain_crossings(&body, &edges, &guest.positions, 1e-4);
            let mut links = Links::default();
            let got = body.crossings(links.of(Shape::Mesh(&guest)), &guest.positions, 1e-4);
            assert_eq!(got, want);
            others += want.len();
        }
    }
    assert!(own > 100 && others > 1000, "{own} {others}");
}

#[test]
fn the_worst_pop_and_the_counted_percentile_are_those_of_all_values() {
    let mut dice = Dice(3);
    let mut mesh = potato(&mut dice, 10, Vec3::ZERO, 0.2);
    let lengths = Lengths::of(Shape::Mesh(&mesh), frisson_io::scene::Part::Curves);
    let (mut one, mut all) = (Steps::default(), Steps::default());
    let (mut above, mut below, mut pops) = (0, 0, 0);
    for frame in 0..40 {
        mesh.positions.iter_mut().for_each(|p| *p += 0.01 * dice.vector());
        let frame_of = Frame { index: frame, meshes: vec![mesh.clone()], ..Frame::default() };
        let shape = Shape::Mesh(&frame_of.meshes[0]);
        let worst = one.add_worst(shape, pop).map(|s| s.reading(frame));
        let plain = all.add(shape, pop).and_then(|mut s| reduce(&mut s, Statistic::Max, frame));
        assert_eq!(worst, plain);
        pops += usize::from(plain.is_some());
        let p99 = reduce(&mut lengths.ratios(shape).unwrap(), Statistic::P99, frame).unwrap().value;
        for limit in [p99 - 1e-6, p99, p99 + 1e-6, 1.0, 1.2] {
            let is_above = lengths.p99_is_above(shape, limit);
            assert_eq!(is_above, p99 > limit, "{p99} {limit}");
            if is_above { above += 1 } else { below += 1 }
        }
    }
    assert!(pops > 30 && above > 40 && below > 40);
}
