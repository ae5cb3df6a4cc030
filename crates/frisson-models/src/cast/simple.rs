//! Balls, planes and other plain things.

use std::collections::BTreeMap;
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, TAU};
use std::sync::Arc;

use frisson::character::{Character, CharacterMesh};
use frisson::geometry::{Material, Mesh, MeshTopology};
use glam::{Quat, Vec2, Vec3};

use super::cloth::{Grid, still};
use super::material;
use crate::clips::smoothstep;

/// Corners and faces of the solids that spheres are divided from.
fn solid(octahedron: bool) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    if octahedron {
        let points = vec![Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z];
        let faces = [
            [2, 4, 0],
            [2, 0, 5],
            [2, 5, 1],
            [2, 1, 4],
            [3, 0, 4],
            [3, 5, 0],
            [3, 1, 5],
            [3, 4, 1],
        ];
        return (points, faces.to_vec());
    }
    let g = 0.5 * (1.0 + 5f32.sqrt());
    let mut points = Vec::new();
    for (a, b) in [(1.0, g), (1.0, -g), (-1.0, g), (-1.0, -g)] {
        points.extend([Vec3::new(0.0, a, b), Vec3::new(a, b, 0.0), Vec3::new(b, 0.0, a)]);
    }
    // Corners (0, ±1, ±g) have edges of length 2; the next distance is more than 3.
    let edge_sq = 4.0 + 1e-3;
    let near = |a: usize, b: usize| points[a].distance_squared(points[b]) < edge_sq;
    let mut faces = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(a, c) {
                    let out =
                        (points[b] - points[a]).cross(points[c] - points[a]).dot(points[a]) > 0.0;
                    let (b, c) = if out { (b, c) } else { (c, b) };
                    faces.push([a as u32, b as u32, c as u32]);
                }
            }
        }
    }
    (points, faces)
}

/// Unit sphere: each face of a solid cut into `n`² triangles.
fn divided_sphere(octahedron: bool, n: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (corners, faces) = solid(octahedron);
    let mut points = Vec::new();
    let mut known: BTreeMap<[i64; 3], u32> = BTreeMap::new();
    let mut triangles = Vec::new();
    for face in faces {
        let [a, b, c] = face.map(|v| corners[v as usize]);
        let mut at = |i: usize, j: usize| {
            let p = a + (b - a) * (i as f32 / n as f32) + (c - a) * (j as f32 / n as f32);
            let p = p.normalize();
            // Neighbouring faces round the points that they share differently.
            let key = p.to_array().map(|x| (f64::from(x) * 1e5).round() as i64);
            *known.entry(key).or_insert_with(|| {
                points.push(p);
                points.len() as u32 - 1
            })
        };
        for i in 0..n {
            for j in 0..n - i {
                triangles.push([at(i, j), at(i + 1, j), at(i, j + 1)]);
                if i + j + 1 < n {
                    triangles.push([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
                }
            }
        }
    }
    (points, triangles)
}

/// A ball on the ground with about that many triangles: 20 n² from an icosahedron or 8 n² from an
/// octahedron, whichever comes closer.
pub(super) fn sphere(triangles: usize, radius: f32) -> Character {
    let best = |per: usize| {
        let n = ((triangles as f32 / per as f32).sqrt().round() as usize).max(1);
        (n, (per * n * n).abs_diff(triangles))
    };
    let ((ico, ico_off), (octa, octa_off)) = (best(20), best(8));
    let octahedron = octa_off < ico_off;
    let (points, triangles) = divided_sphere(octahedron, if octahedron { octa } else { ico });
    let uvs = points.iter().map(|p| {
        Vec2::new(0.5 + p.x.atan2(p.z) / TAU, p.y.clamp(-1.0, 1.0).acos() / std::f32::consts::PI)
    });
    let topology = MeshTopology {
        vertex_count: points.len(),
        triangles,
        uvs: uvs.collect(),
        materials: vec![material("sphere", 0xC9D3DE, 0.4)],
        ..MeshTopology::default()
    };
    let positions = points.iter().map(|&p| radius * (p + Vec3::Y)).collect();
    let mesh = Mesh {
        name: "sphere".to_owned(),
        topology: Arc::new(topology),
        positions,
        normals: points,
        ..Mesh::default()
    };
    still("sphere", carried(mesh))
}

fn carried(mesh: Mesh) -> CharacterMesh {
    CharacterMesh::carried(mesh, 0, None)
}

/// The unit square onto the unit disc, squares to rings: a dome without a pole's slivers.
fn onto_disc(uv: Vec2) -> Vec2 {
    let at = 2.0 * uv - 1.0;
    if at == Vec2::ZERO {
        return at;
    }
    // Concentric squares to concentric rings (Shirley and Chiu, 1997): areas keep their proportions.
    let (radius, turn) = if at.x.abs() > at.y.abs() {
        (at.x, FRAC_PI_4 * at.y / at.x)
    } else {
        (at.y, FRAC_PI_2 - FRAC_PI_4 * at.x / at.y)
    };
    radius * Vec2::from_angle(turn)
}

/// A ball whose lower cap, beyond `cut_deg` from the top, is missing: drops run off its rim.
pub(super) fn truncated_sphere(cells: usize, radius: f32, cut_deg: f32) -> Character {
    let cut = cut_deg.to_radians();
    let bottom = radius * cut.cos();
    let grid = Grid { columns: 2 * cells, rows: 2 * cells, round: false };
    let look = material("sphere", 0xC9D3DE, 0.35);
    let mesh = grid.mesh("truncated_sphere", look, |uv| {
        let at = onto_disc(uv);
        let polar = cut * at.length();
        let flat = radius * polar.sin() * at.normalize_or_zero();
        Vec3::new(flat.x, radius * polar.cos() - bottom, flat.y)
    });
    still("truncated_sphere", mesh)
}

/// A level square around the origin.
pub(super) fn plane(cells: usize, size: f32) -> Character {
    let grid = Grid { columns: cells, rows: cells, round: false };
    let mesh = grid.mesh("plane", material("plane", 0xBFC4C9, 0.7), |uv| {
        Vec3::new((uv.x - 0.5) * size, 0.0, (uv.y - 0.5) * size)
    });
    still("plane", mesh)
}

/// A square that falls towards +z, its lower edge on the ground.
pub(super) fn incline(cells: usize, size: f32, angle_deg: f32) -> Character {
    let turn = Quat::from_rotation_x(angle_deg.to_radians());
    let lowest = (turn * Vec3::new(0.0, 0.0, 0.5 * size)).y.min(0.0);
    let grid = Grid { columns: cells, rows: cells, round: false };
    let mesh = grid.mesh("incline", material("incline", 0xB9C6C4, 0.5), |uv| {
        turn * Vec3::new((uv.x - 0.5) * size, 0.0, (uv.y - 0.5) * size) - Vec3::Y * lowest
    });
    still("incline", mesh)
}

/// An upright tube, open at both ends.
pub(super) fn cylinder(around: usize, along: usize, radius: f32, height: f32) -> Character {
    let grid = Grid { columns: around, rows: along, round: true };
    let mesh = grid.mesh("cylinder", material("cylinder", 0xC7B8A0, 0.6), |uv| {
        let a = TAU * uv.x;
        Vec3::new(radius * a.sin(), height * (1.0 - uv.y), radius * a.cos())
    });
    still("cylinder", mesh)
}

/// The inside of half a ball, opening upwards.
pub(super) fn bowl(cells: usize, radius: f32) -> Character {
    let grid = Grid { columns: 2 * cells, rows: 2 * cells, round: false };
    let mesh = grid.mesh("bowl", material("bowl", 0xD8DEE3, 0.25), |uv| {
        let at = onto_disc(uv);
        let polar = FRAC_PI_2 * at.length();
        let flat = radius * polar.sin() * at.normalize_or_zero();
        Vec3::new(flat.x, radius * (1.0 - polar.cos()), flat.y)
    });
    still("bowl", mesh)
}

/// Width of the seal around the windscreen, in shares of its width and height.
const SEAL: [f32; 2] = [0.024, 0.05];

/// A raked, curved windscreen in its seal: drops are driven up and along it.
pub(super) fn window(cells: usize) -> Character {
    let glass = Material {
        name: "glass".to_owned(),
        base_color: [0.80, 0.90, 0.88, 1.0],
        roughness: 0.02,
        transmission: 0.97,
        ior: 1.5,
        ..Material::default()
    };
    let grid = Grid { columns: 2 * cells, rows: cells, round: false };
    let mut mesh = grid.mesh("window", glass, |uv| {
        let (a, up) = ((uv.x - 0.5) * 1.1, 1.0 - uv.y);
        let (half, bulge) = (0.70 - 0.10 * up, 0.42 - 0.06 * up);
        let x = half * a.sin() / 0.55f32.sin();
        let z =
            bulge * (a.cos() - 0.55f32.cos()) / (1.0 - 0.55f32.cos()) - 0.62 * up - 0.06 * up * up;
        Vec3::new(x, 0.02 + 0.50 * up - 0.05 * up * up, z)
    });
    let topology = Arc::make_mut(&mut mesh.mesh.topology);
    topology.materials.push(material("seal", 0x15171A, 0.35));
    let is_seal = |corners: &[u32; 3]| {
        let middle = corners.iter().map(|&v| topology.uvs[v as usize]).sum::<Vec2>() / 3.0;
        // By whole cells: one triangle of a pair alone would make a saw of the seal's edge.
        let count = Vec2::new(2.0 * cells as f32, cells as f32);
        let middle = ((middle * count).floor() + 0.5) / count;
        let inside = middle.min(Vec2::ONE - middle);
        u16::from(inside.x < SEAL[0] || inside.y < SEAL[1])
    };
    let of = topology.triangles.iter().map(is_seal).collect();
    topology.triangle_materials = of;
    still("window", mesh)
}

/// A leaf held out flat, its tip drooping; drops gather along its midrib.
pub(super) fn leaf(cells: usize) -> Character {
    let grid = Grid { columns: cells, rows: 2 * cells, round: false };
    let mut mesh = grid.mesh("leaf", material("leaf", 0xFFFFFF, 0.45), |uv| {
        let (s, across) = (uv.y, 2.0 * uv.x - 1.0);
        let width = 0.062 * (std::f32::consts::PI * s.powf(0.75)).sin().max(0.0).powf(0.8) + 0.0015;
        let vein = (14.0 * (s - 0.35 * across.abs())).sin() * 0.0012 * across.abs();
        let gutter = 0.018 * across.abs().powf(1.3);
        let droop = -0.075 * smoothstep(0.25, 1.2, s) * s;
        Vec3::new(width * across, 0.12 + gutter * (1.0 - s) + droop + vein, -0.10 + 0.21 * s)
    });
    let topology = Arc::make_mut(&mut mesh.mesh.topology);
    let (blade, rib) = (super::srgb(0x4E8F3A), super::srgb(0xA9C77B));
    topology.colors = topology
        .uvs
        .iter()
        .map(|uv| {
            let middle = smoothstep(0.06, 0.02, (uv.x - 0.5).abs());
            blade.lerp(rib, 0.8 * middle).extend(1.0).to_array()
        })
        .collect();
    still("leaf", mesh)
}
