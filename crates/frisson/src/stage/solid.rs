//! Colliders as meshes, for those that are to be seen.

use std::sync::Arc;

use glam::Vec3;

use super::ColliderShape;
use crate::geometry::{Material, Mesh, MeshTopology};
use crate::math::frames::rotation_xyz_deg;

/// Corners around a rounded shape, and rows from pole to pole (an even number).
const AROUND: u32 = 48;
const ROWS: u32 = 24;

/// The shape as a closed mesh in its own space; none for a plane, which has no end.
#[must_use]
pub fn solid_mesh(name: &str, shape: &ColliderShape, color: [f32; 3]) -> Option<Mesh> {
    let v = Vec3::from_array;
    let (positions, triangles, hard) = match shape {
        ColliderShape::Plane { .. } => return None,
        ColliderShape::Sphere { center, radius } => {
            let (p, t) = rounded(v(*center), v(*center), *radius);
            (p, t, false)
        }
        ColliderShape::Capsule { a, b, radius } => {
            let (p, t) = rounded(v(*a), v(*b), *radius);
            (p, t, false)
        }
        ColliderShape::Ellipsoid { center, radii, rotate_deg } => {
            let (mut p, t) = rounded(Vec3::ZERO, Vec3::ZERO, 1.0);
            let turn = rotation_xyz_deg(*rotate_deg);
            p.iter_mut().for_each(|p| *p = v(*center) + turn * (*p * v(*radii)));
            (p, t, false)
        }
        ColliderShape::Box { center, half_size, rotate_deg } => {
            let (mut p, t) = cube();
            let turn = rotation_xyz_deg(*rotate_deg);
            p.iter_mut().for_each(|p| *p = v(*center) + turn * (*p * v(*half_size)));
            (p, t, true)
        }
    };
    let [r, g, b] = color;
    let material = Material {
        name: name.to_owned(),
        base_color: [r, g, b, 1.0],
        roughness: 0.45,
        ..Material::default()
    };
    let topology = MeshTopology {
        vertex_count: positions.len(),
        triangles,
        materials: vec![material],
        // Faces of a box do not share normals.
        smoothing: if hard { (0..positions.len() as u32).collect() } else { Vec::new() },
        ..MeshTopology::default()
    };
    let topology = Arc::new(topology);
    Some(Mesh { name: name.to_owned(), topology, positions, ..Mesh::default() })
}

/// A capsule, or a ball where both ends are the same.
fn rounded(a: Vec3, b: Vec3, radius: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let axis = (b - a).normalize_or(Vec3::Y);
    let (u, w) = axis.any_orthonormal_pair();
    let mut positions = vec![a - radius * axis];
    // The rows of the middle are twice there: one at each end.
    let rows = (1..=ROWS / 2).map(|r| (a, r)).chain((ROWS / 2..ROWS).map(|r| (b, r)));
    for (center, row) in rows {
        let (sin, cos) = (std::f32::consts::PI * row as f32 / ROWS as f32).sin_cos();
        for i in 0..AROUND {
            let (s, c) = (std::f32::consts::TAU * i as f32 / AROUND as f32).sin_cos();
            positions.push(center + radius * (sin * (c * u + s * w) - cos * axis));
        }
    }
    positions.push(b + radius * axis);
    let last = positions.len() as u32 - 1;
    let at = |row: u32, i: u32| 1 + row * AROUND + i % AROUND;
    let mut triangles = Vec::new();
    for i in 0..AROUND {
        triangles.push([0, at(0, i + 1), at(0, i)]);
        for row in 0..ROWS - 1 {
            triangles.push([at(row, i), at(row, i + 1), at(row + 1, i + 1)]);
            triangles.push([at(row, i), at(row + 1, i + 1), at(row + 1, i)]);
        }
        triangles.push([at(ROWS - 1, i), at(ROWS - 1, i + 1), last]);
    }
    // Which way round the pair is given is glam's affair.
    if u.cross(w).dot(axis) < 0.0 {
        triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    (positions, triangles)
}

/// The cube from -1 to 1, four corners a face.
fn cube() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let first = positions.len() as u32;
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let mut p = Vec3::ZERO;
                // `a` turns with the side, so that both faces of an axis run counter-clockwise seen from outside.
                (p[axis], p[u], p[v]) = (side, a * side, b);
                positions.push(p);
            }
            triangles.push([first, first + 1, first + 2]);
            triangles.push([first, first + 2, first + 3]);
        }
    }
    (positions, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solids_are_closed_and_lie_on_their_colliders() {
        let turn = [10.0, 20.0, 30.0];
        let shapes = [
            ColliderShape::Sphere { center: [0.1, 0.2, 0.3], radius: 0.4 },
            ColliderShape::Capsule { a: [0.0, 0.1, 0.0], b: [0.3, 0.5, -0.2], radius: 0.2 },
            ColliderShape::Ellipsoid {
                center: [0.1, 0.0, 0.0],
                radii: [0.5, 1.0, 0.2],
                rotate_deg: turn,
            },
            ColliderShape::Box {
                center: [0.1, 0.0, 0.0],
                half_size: [0.5, 1.0, 0.2],
                rotate_deg: turn,
            },
        ];
        for shape in &shapes {
            let mesh = solid_mesh("tool", shape, [0.5; 3]).unwrap();
            assert!(mesh.positions.iter().all(|p| shape.signed_distance(*p).0.abs() < 2e-3));
            // Outwards: the volume is positive, and close to the shape's own.
            let volume = mesh.volume() as f32;
            let pi = std::f32::consts::PI;
            let exact = match shape {
                ColliderShape::Sphere { radius, .. } => 4.0 / 3.0 * pi * radius.powi(3),
                ColliderShape::Capsule { a, b, radius } => {
                    let length = Vec3::from(*a).distance(Vec3::from(*b));
                    pi * radius * radius * (length + 4.0 / 3.0 * radius)
                }
                ColliderShape::Ellipsoid { radii: [x, y, z], .. } => 4.0 / 3.0 * pi * x * y * z,
                _ => 8.0 * 0.5 * 1.0 * 0.2,
            };
            assert!((volume / exact - 1.0).abs() < 0.02, "{shape:?}: {volume} {exact}");
        }
        let plane = ColliderShape::Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] };
        assert!(solid_mesh("floor", &plane, [0.5; 3]).is_none());
    }

    #[test]
    fn colliders_with_a_colour_are_seen_where_they_are_and_others_are_not() {
        use crate::stage::{ActorSet, Animated, ColliderParams, ColliderSet, Frame, PoseScratch};
        let tool = |name: &str, color: Option<[f32; 3]>| ColliderParams {
            name: name.to_owned(),
            shape: ColliderShape::Sphere { center: [0.0; 3], radius: 0.1 },
            friction: 0.3,
            color,
            move_x: Animated::Keys(vec![(0.0, 0.0), (30.0, 1.0)]),
            ..ColliderParams::default()
        };
        let actors = ActorSet::new(vec![]);
        let build = |params: &[ColliderParams]| ColliderSet::new(params, &actors, 30.0);
        let mut set = build(&[tool("pin", Some([0.5; 3])), tool("guard", None)]).unwrap();
        let mut frame = Frame::default();
        for (time, x) in [(0.0, 0.0), (0.5, 0.5)] {
            set.set_time(time, 0.0, &actors, &mut PoseScratch::default());
            set.write_meshes(&mut frame);
            assert_eq!(frame.meshes.len(), 1);
            let pin = &frame.meshes[0];
            let middle = pin.positions.iter().sum::<Vec3>() / pin.positions.len() as f32;
            assert!(pin.name == "pin" && middle.distance(Vec3::X * x) < 1e-5, "{middle}");
        }
        assert!(set.shows("pin") && !set.shows("guard"));
        let twice = build(&[tool("pin", Some([0.5; 3])), tool("pin", None)]);
        assert!(twice.unwrap_err().to_string().contains("two colliders"));
        let plane = ColliderShape::Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] };
        let floor = ColliderParams { shape: plane, ..tool("floor", Some([0.5; 3])) };
        assert!(build(&[floor]).unwrap_err().to_string().contains("has no end"));
    }
}
