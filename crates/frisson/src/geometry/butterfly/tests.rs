//! Closed forms, then random local refinements against uniform ones.

use glam::Vec3;
use proptest::prelude::*;

use super::*;
use crate::geometry::{Mesh, Topology};

/// A regular triangulation: every interior point has valence 6.
fn sheet(n: usize, height: impl Fn(f32, f32) -> f32) -> Mesh {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for y in 0..=n {
        for x in 0..=n {
            let (u, v) = (x as f32 / n as f32, y as f32 / n as f32);
            positions.push(Vec3::new(u, v, height(u, v)));
            let at = |x: usize, y: usize| (y * (n + 1) + x) as u32;
            if x < n && y < n {
                triangles.push([at(x, y), at(x + 1, y), at(x + 1, y + 1)]);
                triangles.push([at(x, y), at(x + 1, y + 1), at(x, y + 1)]);
            }
        }
    }
    Mesh::new("sheet", positions, triangles)
}

/// An octahedron subdivided linearly: closed, with six extraordinary points of valence 4.
fn closed() -> Mesh {
    let p = [[1., 0., 0.], [-1., 0., 0.], [0., 1., 0.], [0., -1., 0.], [0., 0., 1.], [0., 0., -1.]];
    let positions: Vec<Vec3> = p.map(Vec3::from_array).to_vec();
    let triangles = vec![
        [0, 2, 4],
        [2, 1, 4],
        [1, 3, 4],
        [3, 0, 4],
        [2, 0, 5],
        [1, 2, 5],
        [3, 1, 5],
        [0, 3, 5],
    ];
    let coarse = Mesh::new("octahedron", positions, triangles);
    let topology = Topology::build(&coarse.positions, &coarse.topology.triangles);
    let levels = vec![1; 8];
    let refined = Refined::build(&topology, &levels);
    let emission = Emission::new(&refined, &topology, &coarse.topology, &levels);
    let mut positions = coarse.positions.clone();
    for v in &emission.vertices {
        let sum: Vec3 = v
            .corners
            .iter()
            .zip(v.barycentric)
            .map(|(&c, w)| w * coarse.positions[c as usize])
            .sum();
        positions.push(sum.normalize());
    }
    Mesh::new("ball", positions, emission.triangles)
}

fn refine(mesh: &Mesh, levels: &[u8]) -> (Topology, Refined, Emission) {
    let topology = Topology::build(&mesh.positions, &mesh.topology.triangles);
    let refined = Refined::build(&topology, levels);
    let emission = Emission::new(&refined, &topology, &mesh.topology, levels);
    (topology, refined, emission)
}

/// Positions of the emitted mesh.
fn evaluate(mesh: &Mesh, topology: &Topology, refined: &Refined, emission: &Emission) -> Vec<Vec3> {
    let coarse: Vec<Vec3> =
        topology.vertex_of_point.iter().map(|&v| mesh.positions[v as usize]).collect();
    let mut out = mesh.positions.clone();
    out.extend(
        emission.vertices.iter().map(|v| refined.stencils.evaluate(v.point as usize, &coarse)),
    );
    out
}

/// Worst error of refined points of the middle of the sheet against a function, in f64.
fn error_on(n: usize, f: impl Fn(f64, f64) -> f64) -> f64 {
    let mesh = sheet(n, |_, _| 0.0);
    let middle = |t: &[u32; 3]| {
        let inside = |v: u32| {
            let p = mesh.positions[v as usize];
            p.min_element().min(p.x).min(p.y) >= 0.0
                && (0.3..0.7).contains(&p.x)
                && (0.3..0.7).contains(&p.y)
        };
        t.iter().all(|&v| inside(v))
    };
    let levels: Vec<u8> = mesh.topology.triangles.iter().map(|t| u8::from(middle(t))).collect();
    let (_, refined, _) = refine(&mesh, &levels);
    let grid = |v: u32| {
        let (x, y) = (v as usize % (n + 1), v as usize / (n + 1));
        (x as f64 / n as f64, y as f64 / n as f64)
    };
    (0..refined.point_count())
        .map(|i| {
            let place = refined.places[i];
            let corners = mesh.topology.triangles[place.triangle as usize];
            let (mut x, mut y) = (0.0, 0.0);
            for (&c, w) in corners.iter().zip(place.barycentric) {
                x += f64::from(w) * grid(c).0;
                y += f64::from(w) * grid(c).1;
            }
            let value: f64 = refined.stencils.of(i).map(|(p, w)| w * f(grid(p).0, grid(p).1)).sum();
            (value - f(x, y)).abs()
        })
        .fold(0.0, f64::max)
}

#[test]
fn cubics_are_reproduced_in_the_regular_interior() {
    let f =
        |x: f64, y: f64| 1.0 + x - 2.0 * y + x * y + x * x * x - 3.0 * x * y * y + 0.5 * y * y * y;
    let error = error_on(16, f);
    assert!(error < 1e-12, "{error}");
}

#[test]
fn the_error_on_a_smooth_function_is_of_fourth_order() {
    let f = |x: f64, y: f64| (6.0 * x).sin() * (6.0 * y).sin();
    let (coarse, fine) = (error_on(20, f), error_on(40, f));
    assert!(coarse / fine > 15.0, "{coarse} {fine}");
}

#[test]
fn weights_sum_to_one_and_planes_stay_planes() {
    for mesh in [sheet(5, |x, y| 0.3 * x - 0.7 * y), closed()] {
        let levels = vec![2; mesh.topology.triangles.len()];
        let (topology, refined, emission) = refine(&mesh, &levels);
        for i in 0..refined.point_count() {
            let sum: f64 = refined.stencils.of(i).map(|(_, w)| w).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        }
        if mesh.name == "sheet" {
            for p in evaluate(&mesh, &topology, &refined, &emission) {
                assert!((p.z - (0.3 * p.x - 0.7 * p.y)).abs() < 1e-6);
            }
        }
    }
}

/// Every edge of a closed mesh has two triangles, of an open one at most two, none degenerate.
fn check_watertight(mesh: &Mesh, emission: &Emission) {
    let base = mesh.topology.vertex_count;
    let count = base + emission.vertices.len();
    let coarse = Topology::build(&mesh.positions, &mesh.topology.triangles);
    let fine = Topology::unwelded(count, &emission.triangles);
    assert!(emission.triangles.iter().all(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]));
    let border = |topology: &Topology| -> usize {
        (0..topology.edges.len() as u32).filter(|&e| topology.is_border_edge(e)).count()
    };
    for e in 0..fine.edges.len() as u32 {
        assert!(fine.edge_triangles(e).len() <= 2);
    }
    if border(&coarse) == 0 {
        assert_eq!(border(&fine), 0);
    }
    // Euler characteristic is that of the coarse mesh: no hole, no T-junction.
    let used = |topology: &Topology| {
        (0..topology.point_count() as u32).filter(|&p| !topology.point_edges(p).is_empty()).count()
    };
    let euler = |t: &Topology| used(t) as i64 - t.edges.len() as i64 + t.triangles.len() as i64;
    assert_eq!(euler(&fine), euler(&coarse));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn local_refinement_is_watertight_and_equals_the_uniform_one(
        seed in any::<u64>(),
        open in any::<bool>(),
        share in 0.05f64..0.9,
    ) {
        let mesh = if open { sheet(6, |x, y| (5.0 * x).sin() * y) } else { closed() };
        let count = mesh.topology.triangles.len();
        let levels: Vec<u8> = (0..count as u64)
            .map(|t| {
                let chosen = crate::math::random::uniform(seed, t, 0) < share;
                if chosen { 1 + (crate::math::random::uniform(seed, t, 1) * 3.0) as u8 } else { 0 }
            })
            .collect();
        let (topology, refined, emission) = refine(&mesh, &levels);
        check_watertight(&mesh, &emission);

        let (_, uniform, _) = refine(&mesh, &vec![3; count]);
        let coarse: Vec<Vec3> =
            topology.vertex_of_point.iter().map(|&v| mesh.positions[v as usize]).collect();
        for (t, &level) in levels.iter().enumerate() {
            let n = 1u32 << level;
            for i in 0..=n {
                for j in 0..=n - i {
                    let a = refined.point(&topology, t as u32, level, i, j);
                    let b = uniform.point(&topology, t as u32, level, i, j);
                    match (a, b) {
                        (Some(refine::Corner::Refined(a)), Some(refine::Corner::Refined(b))) => {
                            let p = refined.stencils.evaluate(a as usize, &coarse);
                            let q = uniform.stencils.evaluate(b as usize, &coarse);
                            prop_assert!(p.distance(q) < 1e-6, "{t} {i} {j}: {p} {q}");
                        }
                        (a, b) => prop_assert_eq!(a, b),
                    }
                }
            }
        }
    }
}

#[test]
fn level_by_level_gives_what_the_stencils_give() {
    for (mesh, deepest) in [(closed(), 3u8), (sheet(6, |u, v| (3.0 * u * v).sin()), 3)] {
        let levels: Vec<u8> = (0..mesh.topology.triangles.len())
            .map(|t| (t * 7 % (deepest as usize + 1)) as u8)
            .collect();
        let (topology, refined, _) = refine(&mesh, &levels);
        let coarse: Vec<Vec3> =
            topology.vertex_of_point.iter().map(|&v| mesh.positions[v as usize]).collect();
        let mut values = vec![[glam::Vec3A::ZERO; 2]; refined.cascade.point_count()];
        for (value, &p) in values.iter_mut().zip(&coarse) {
            *value = [p.into(), (2.0 * p).into()];
        }
        refined.cascade.evaluate(Normals::Smooth, &mut values);
        assert!(refined.point_count() > 100);
        for i in 0..refined.point_count() {
            let [once, twice] = values[refined.cascade.index_of(i)].map(Vec3::from);
            let want = refined.stencils.evaluate(i, &coarse);
            assert!(once.distance(want) < 2e-6 && twice.distance(2.0 * want) < 4e-6, "{i}");
        }
    }
}

#[test]
fn old_vertices_and_seams_are_kept() {
    // Two triangles whose shared side is split in the file, with different uvs.
    let p = |x: f32, y: f32| Vec3::new(x, y, 0.0);
    let positions = vec![p(0., 0.), p(1., 0.), p(1., 1.), p(0., 0.), p(1., 1.), p(0., 1.)];
    let mut mesh = Mesh::new("seam", positions, vec![[0, 1, 2], [3, 4, 5]]);
    let topology = std::sync::Arc::make_mut(&mut mesh.topology);
    topology.uvs = (0..6).map(|i| glam::Vec2::new(i as f32, 0.0)).collect();
    let (_, refined, emission) = refine(&mesh, &[1, 1]);
    // Five edges give five points; the shared side's point has two vertices.
    assert_eq!(refined.point_count(), 5);
    assert_eq!(emission.vertices.len(), 6);
    let fine = emission.build_topology(&mesh.topology);
    assert_eq!(fine.uvs.len(), 12);
    assert_eq!(&fine.uvs[..6], &mesh.topology.uvs[..]);
}

#[test]
fn non_manifold_triangles_are_left_out_and_said() {
    let positions: Vec<Vec3> =
        [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., -1., 0.], [0., 0., 1.]]
            .map(Vec3::from_array)
            .to_vec();
    let mesh = Mesh::new("fin", positions, vec![[0, 1, 2], [0, 3, 1], [0, 1, 4]]);
    let (_, refined, emission) = refine(&mesh, &[2, 2, 2]);
    assert_eq!(refined.left_out, [0, 1, 2]);
    assert_eq!(emission.triangles.len(), 3);
}
