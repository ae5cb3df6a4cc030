use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::math::random;

/// Soft balls: the sum of `(1 - r²/R²)²` over balls with support `R`.
struct Balls(Vec<(Vec3, f32)>);

impl Field for Balls {
    fn part_count(&self) -> usize {
        self.0.len()
    }

    fn has_rims(&self, _parts: &[u32]) -> bool {
        false
    }

    fn gather(&self, parts: &[u32], bounds: &Bounds, out: &mut Vec<u32>) -> bool {
        let (mut low, mut high) = (0.0, 0.0);
        for &part in parts {
            let (c, r) = self.0[part as usize];
            let nearest = c.clamp(bounds.min, bounds.max).distance_squared(c);
            let furthest = (c - bounds.min).abs().max((c - bounds.max).abs()).length_squared();
            if nearest < r * r {
                out.push(part);
                high += (1.0 - nearest / (r * r)).powi(2);
                low += (1.0 - furthest / (r * r)).max(0.0).powi(2);
            }
        }
        low < LEVEL && high >= LEVEL
    }

    fn values(&self, parts: &[u32], points: PointsSoa<'_>, out: &mut [f32]) {
        out.fill(0.0);
        for &part in parts {
            let (c, r) = self.0[part as usize];
            let scale = 1.0 / (r * r);
            for i in 0..out.len() {
                let (x, y, z) = (points.x[i] - c.x, points.y[i] - c.y, points.z[i] - c.z);
                let s = (1.0 - (x * x + y * y + z * z) * scale).max(0.0);
                out[i] += s * s;
            }
        }
    }

    fn value_and_gradient(&self, parts: &[u32], p: Vec3, _step: f32) -> (f32, Vec3) {
        let (mut value, mut gradient) = (0.0, Vec3::ZERO);
        for &part in parts {
            let (c, r) = self.0[part as usize];
            let s = (1.0 - p.distance_squared(c) / (r * r)).max(0.0);
            value += s * s;
            gradient -= (4.0 * s / (r * r)) * (p - c);
        }
        (value, gradient)
    }
}

const LEVEL: f32 = 0.25;

/// Independent random signs at every lattice point: every ambiguous pattern beside every other.
struct Noise {
    seed: u64,
    share: f64,
}

impl Field for Noise {
    fn part_count(&self) -> usize {
        0
    }

    fn gather(&self, _: &[u32], _: &Bounds, _: &mut Vec<u32>) -> bool {
        true
    }

    fn values(&self, _: &[u32], points: PointsSoa<'_>, out: &mut [f32]) {
        for (i, o) in out.iter_mut().enumerate() {
            let cell = points.get(i).round().as_ivec3();
            let id = (i64::from(cell.x) << 40) ^ (i64::from(cell.y) << 20) ^ i64::from(cell.z);
            let inside = random::uniform(self.seed, id as u64, 1) < self.share;
            *o = if inside { 0.5 } else { -0.5 };
        }
    }
}

fn cube(half: f32) -> Bounds {
    Bounds { min: Vec3::splat(-half), max: Vec3::splat(half) }
}

fn extract(field: &impl Field, settings: &IsoSettings) -> IsoSurface {
    let mut surface = IsoSurface::new();
    surface.extract(field, settings).unwrap();
    surface
}

/// Panics unless closed, oriented, and one disc of triangles at each vertex; returns the Euler
/// characteristic.
fn check_manifold(s: &IsoSurface) -> i64 {
    let mut edges = BTreeMap::new();
    for t in &s.triangles {
        for c in 0..3 {
            let directed = (t[c], t[(c + 1) % 3]);
            assert!(edges.insert(directed, t[(c + 2) % 3]).is_none(), "{directed:?} twice");
        }
    }
    let mut valence = vec![0usize; s.positions.len()];
    for &(a, b) in edges.keys() {
        assert!(edges.contains_key(&(b, a)), "open edge {a} {b}");
        valence[a as usize] += 1;
    }
    let mut first = vec![None; s.positions.len()];
    for &(a, b) in edges.keys() {
        first[a as usize].get_or_insert(b);
    }
    for (v, &count) in valence.iter().enumerate() {
        let start = first[v].expect("vertex in no triangle");
        let (mut at, mut steps) = (start, 0);
        loop {
            at = edges[&(v as u32, at)];
            steps += 1;
            if at == start {
                break;
            }
        }
        assert_eq!(steps, count, "vertex {v} is a pinch");
    }
    s.positions.len() as i64 - edges.len() as i64 / 2 + s.triangles.len() as i64
}

fn volume(s: &IsoSurface) -> f64 {
    let p = |v: u32| s.positions[v as usize].as_dvec3();
    s.triangles.iter().map(|t| p(t[0]).cross(p(t[1])).dot(p(t[2])) / 6.0).sum()
}

#[test]
fn a_ball_has_the_right_place_size_and_topology() {
    // One ball: (1 - r²)² = 1/4 at r² = 1/2.
    let balls = Balls(vec![(Vec3::new(0.1, 0.2, -0.3), 1.0)]);
    let settings =
        IsoSettings { level: LEVEL, cell: 0.05, bounds: cube(2.0), ..IsoSettings::default() };
    let s = extract(&balls, &settings);
    assert_eq!(check_manifold(&s), 2);
    let radius = 0.5f32.sqrt();
    for (p, n) in s.positions.iter().zip(&s.normals) {
        let out = *p - Vec3::new(0.1, 0.2, -0.3);
        assert!((out.length() - radius).abs() < 1e-5, "{}", out.length());
        assert!(n.dot(out.normalize()) > 0.9999);
    }
    let exact = 4.0 / 3.0 * std::f64::consts::PI * f64::from(radius).powi(3);
    assert!((volume(&s) / exact - 1.0).abs() < 5e-3, "{}", volume(&s) / exact);
    assert!(s.block_count() < 100, "{} blocks of 1331", s.block_count());
}

#[test]
fn a_ring_of_balls_is_a_torus() {
    let ring = |i: i32| {
        let a = std::f32::consts::TAU * i as f32 / 12.0;
        (Vec3::new(a.cos(), 0.1, a.sin()), 0.6)
    };
    let settings =
        IsoSettings { level: LEVEL, cell: 0.04, bounds: cube(2.0), ..IsoSettings::default() };
    let s = extract(&Balls((0..12).map(ring).collect()), &settings);
    assert_eq!(check_manifold(&s), 0);
}

#[test]
fn a_box_that_cuts_the_body_closes_it() {
    let balls = Balls(vec![(Vec3::ZERO, 1.0)]);
    let bounds = Bounds { min: Vec3::new(0.1, -2.0, -2.0), max: Vec3::splat(2.0) };
    let settings = IsoSettings { level: LEVEL, cell: 0.05, bounds, ..IsoSettings::default() };
    let s = extract(&balls, &settings);
    assert_eq!(check_manifold(&s), 2);
}

#[test]
fn vertices_of_a_surface_that_hardly_moves_hardly_move() {
    // In the middle of the lattice many diagonals of a ball are as long as the other but for rounding.
    let mut surface = IsoSurface::new();
    let bounds = cube(1.2);
    let settings = IsoSettings { level: LEVEL, cell: 0.16, bounds, relax: 1, ..Default::default() };
    let mut before: Vec<Vec3> = Vec::new();
    for step in 0..12u64 {
        let off = |k| 1e-6 * random::signed(5, step, k) as f32;
        let field = Balls(vec![(Vec3::new(off(0), off(1), off(2)), 1.0)]);
        surface.extract(&field, &settings).unwrap();
        if step > 0 {
            assert_eq!(before.len(), surface.positions.len());
            let moved = before.iter().zip(&surface.positions).map(|(a, b)| a.distance(*b));
            let most = moved.fold(0.0, f32::max) / settings.cell;
            assert!(most < 1e-3, "a vertex jumps by {most} cells");
        }
        before.clone_from(&surface.positions);
    }
}

#[test]
fn relaxing_keeps_the_surface_and_betters_the_worst_triangles() {
    let balls = Balls(vec![(Vec3::ZERO, 1.0), (Vec3::X * 0.7, 0.8)]);
    let mut settings =
        IsoSettings { level: LEVEL, cell: 0.05, bounds: cube(2.0), ..IsoSettings::default() };
    let mean_quality = |s: &IsoSurface| {
        let quality = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| s.positions[v as usize]);
            let twice_area = (b - a).cross(c - a).length();
            let sum = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
            2.0 * 3f32.sqrt() * twice_area / sum
        };
        s.triangles.iter().map(quality).sum::<f32>() / s.triangles.len() as f32
    };
    let before = extract(&balls, &settings);
    settings.relax = 4;
    let after = extract(&balls, &settings);
    assert_eq!(check_manifold(&after), 2);
    assert!(mean_quality(&after) > mean_quality(&before));
    for p in &after.positions {
        let (value, gradient) = balls.value_and_gradient(&[0, 1], *p, 0.0);
        assert!((value - LEVEL).abs() / gradient.length() < 1e-3 * settings.cell);
    }
}

#[test]
fn bad_settings_are_refused_and_nothing_gives_nothing() {
    let balls = Balls(vec![(Vec3::ZERO, 1.0)]);
    let mut s = IsoSurface::new();
    let with = |cell, bounds| IsoSettings { level: LEVEL, cell, bounds, ..Default::default() };
    assert!(matches!(s.extract(&balls, &with(0.0, cube(1.0))), Err(IsoError::Cell(_))));
    assert!(matches!(s.extract(&balls, &with(f32::NAN, cube(1.0))), Err(IsoError::Cell(_))));
    assert!(matches!(s.extract(&balls, &with(1e-9, cube(1.0))), Err(IsoError::Bounds { .. })));
    let few = IsoSettings { max_blocks: 10, ..with(0.02, cube(1.0)) };
    assert!(matches!(s.extract(&balls, &few), Err(IsoError::TooFine { .. })));
    assert_eq!(s.extract(&balls, &with(0.1, Bounds::EMPTY)), Ok(()));
    assert!(s.triangles.is_empty());
    assert_eq!(s.extract(&Balls(vec![]), &with(0.1, cube(1.0))), Ok(()));
    assert!(s.triangles.is_empty());
}

#[test]
fn same_bits_on_one_thread_and_on_two() {
    let balls = (0..30).map(|i| {
        let r = |c| random::signed(3, i, c) as f32;
        (Vec3::new(r(0), r(1), r(2)), 0.4 + 0.1 * r(3))
    });
    let balls = Balls(balls.collect());
    let bounds = cube(2.0);
    let settings = IsoSettings { level: LEVEL, cell: 0.04, bounds, relax: 2, ..Default::default() };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut s = extract(&balls, &settings);
            s.extract(&balls, &settings).unwrap();
            (s.positions, s.normals, s.triangles)
        })
    };
    assert!(run(1) == run(2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_signs_give_a_closed_manifold(seed in any::<u64>(), share in 0.02f64..0.98) {
        let settings = IsoSettings { cell: 1.0, bounds: cube(11.0), ..IsoSettings::default() };
        let s = extract(&Noise { seed, share }, &settings);
        prop_assert_eq!(check_manifold(&s) % 2, 0);
        prop_assert!(s.positions.iter().all(|p| p.is_finite()));
    }

    #[test]
    fn random_balls_give_a_closed_manifold_on_the_surface(
        seed in any::<u64>(), count in 1usize..20, cell in 0.05f32..0.2,
    ) {
        let ball = |i: u64| {
            let r = |c| random::signed(seed, i, c) as f32;
            (Vec3::new(r(0), r(1), r(2)), 0.5 + 0.3 * r(3))
        };
        let balls = Balls((0..count as u64).map(ball).collect());
        let settings = IsoSettings { level: LEVEL, cell, bounds: cube(3.0), ..Default::default() };
        let s = extract(&balls, &settings);
        prop_assert_eq!(check_manifold(&s) % 2, 0);
        prop_assert!(s.triangles.is_empty() || volume(&s) > 0.0);
    }
}

/// `cargo test --release -p frisson --lib isosurface::tests::speed -- --ignored --nocapture`
#[test]
#[ignore = "a measurement, not a check"]
#[allow(clippy::print_stdout, reason = "it reports")]
fn speed() {
    let ball = |i: u64| {
        let r = |c| random::signed(5, i, c) as f32;
        (Vec3::new(r(0), r(1), r(2)), 0.35)
    };
    let balls = Balls((0..100).map(ball).collect());
    let bounds = cube(2.0);
    let settings = IsoSettings { level: LEVEL, cell: 0.034, bounds, ..IsoSettings::default() };
    let mut s = IsoSurface::new();
    let mut times: Vec<f64> = (0..9)
        .map(|_| {
            let start = std::time::Instant::now();
            s.extract(&balls, &settings).unwrap();
            1e3 * start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{} triangles, {} blocks: {:.1} ms", s.triangles.len(), s.block_count(), times[4]);
}
