//! Simple frames made by code, for examples, tests and benchmarks.

use std::f32::consts::{PI, TAU};
use std::sync::Arc;

use frisson::geometry::{Material, Mesh, MeshTopology};
use frisson::math::random;
use frisson::stage::{Curves, Points};
use glam::{Vec3, Vec3A};

use crate::sampling::{Sampler, sphere_direction};

/// A closed surface of revolution around Y: `profile` gives (radius, height) for 0 to 1.
#[must_use]
pub fn lathe(
    name: &str,
    rows: u32,
    columns: u32,
    material: Material,
    profile: impl Fn(f32) -> (f32, f32),
) -> Mesh {
    let mut positions = Vec::new();
    for row in 0..=rows {
        let (radius, height) = profile(row as f32 / rows as f32);
        for column in 0..columns {
            let (sin, cos) = (column as f32 * TAU / columns as f32).sin_cos();
            positions.push(Vec3::new(radius * sin, height, radius * cos));
        }
    }
    let mut triangles = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let next = (column + 1) % columns;
            let (a, b) = (row * columns + column, row * columns + next);
            let (c, d) = (a + columns, b + columns);
            triangles.push([a, b, d]);
            triangles.push([a, d, c]);
        }
    }
    let topology = MeshTopology {
        vertex_count: positions.len(),
        triangles,
        materials: vec![material],
        ..MeshTopology::default()
    };
    Mesh { name: name.to_owned(), topology: Arc::new(topology), positions, ..Mesh::default() }
}

/// A ball of 2 · rows · columns triangles, with exact normals.
#[must_use]
pub fn ball(
    name: &str,
    center: Vec3,
    radius: f32,
    rows: u32,
    columns: u32,
    material: Material,
) -> Mesh {
    let mut mesh = lathe(name, rows, columns, material, |s| {
        let angle = PI * s;
        (radius * angle.sin(), -radius * angle.cos())
    });
    mesh.normals = mesh.positions.iter().map(|p| p.normalize_or(Vec3::Y)).collect();
    mesh.positions.iter_mut().for_each(|p| *p += center);
    mesh
}

/// Hair of a [`hair_ball`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BallHair {
    /// How many strands.
    pub strands: u32,
    /// Points of each.
    pub points: u32,
    /// Length of the longest [m].
    pub length: f32,
    /// Linear RGB.
    pub color: Vec3,
}

/// Hair on the upper part of a ball: it leaves along the normal and bends down with its length.
#[must_use]
pub fn hair_ball(name: &str, center: Vec3, radius: f32, hair: BallHair) -> Curves {
    let BallHair { strands, points, length, color } = hair;
    let mut curves = Curves { name: name.to_owned(), color, ..Curves::default() };
    let mut tried = 0;
    while (curves.counts.len() as u32) < strands {
        let normal = Vec3::from(sphere_direction(Sampler::new(7, 0, 0, tried).pair()));
        tried += 1;
        if normal.y < -0.1 - 0.5 * normal.z.min(0.0) + 0.45 * normal.z.max(0.0) {
            continue;
        }
        let id = u64::from(tried);
        let curl = 0.012 * random::signed(1, id, 0) as f32;
        let reach = length * (0.8 + 0.2 * random::uniform(1, id, 1) as f32);
        let mut direction = (normal
            + 0.15
                * Vec3::new(
                    random::signed(1, id, 2) as f32,
                    random::signed(1, id, 3) as f32,
                    random::signed(1, id, 4) as f32,
                ))
        .normalize();
        let mut p = center + normal * radius;
        let step = reach / (points - 1) as f32;
        for i in 0..points {
            let s = i as f32 / (points - 1) as f32;
            curves.points.push(p);
            curves.widths.push(1.1e-3 * (1.0 - 0.85 * s * s) * radius / 0.1 * 0.25);
            let side = direction.cross(Vec3::Y).normalize_or(Vec3::X);
            direction = (direction
                + Vec3::NEG_Y * 3.2 * step / (length + 1e-6)
                + side * curl * (s * 14.0).sin() * 8.0)
                .normalize();
            p += direction * step;
            let away = p - center;
            if away.length() < 1.03 * radius {
                p = center + away.normalize_or(Vec3::Y) * 1.03 * radius;
            }
        }
        curves.counts.push(points);
        curves.ids.push(id);
    }
    curves
}

/// Beads scattered on a disc of the ground.
#[must_use]
pub fn beads(name: &str, center: Vec3, radius: f32, count: u32, diameter: f32) -> Points {
    let mut points = Points { name: name.to_owned(), ..Points::default() };
    for i in 0..count {
        let d = Vec3A::from(sphere_direction(Sampler::new(3, 1, 0, i).pair()).to_array());
        let size = diameter * (0.5 + 0.5 * random::uniform(2, u64::from(i), 0) as f32);
        points.positions.push(center + Vec3::new(d.x * radius, 0.5 * size, d.y * radius));
        points.widths.push(size);
        points.ids.push(u64::from(i));
    }
    points
}
