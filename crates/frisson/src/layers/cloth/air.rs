//! Air: drag and lift on every triangle.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::rest::ClothRest;
use crate::stage::Forces;

/// Density of air [kg/m³].
const AIR_DENSITY: f64 = 1.2;
/// Triangles or nodes a task takes at once.
const CHUNK: usize = 1024;

/// Coefficients of the surface.
#[derive(Clone, Copy, Debug)]
pub struct AirLaw {
    /// Drag coefficient [-].
    pub drag: f64,
    /// Lift coefficient [-].
    pub lift: f64,
}

/// Force on a triangle of unit area in a relative wind `u`, and how fast it would stop that wind:
/// `rho/2 |u| (u·n) (Cd u/|u| + Cl l)`, `l` the direction across the wind towards the normal's side.
fn unit_force(u: DVec3, normal: DVec3, law: AirLaw) -> DVec3 {
    let speed = u.length();
    if speed <= 0.0 {
        return DVec3::ZERO;
    }
    let facing = if u.dot(normal) >= 0.0 { normal } else { -normal };
    let cos = u.dot(facing) / speed;
    let along = u / speed;
    let across = (facing - along * cos).normalize_or_zero();
    let sin = (1.0 - cos * cos).max(0.0).sqrt();
    0.5 * AIR_DENSITY * speed * speed * cos * (law.drag * along + law.lift * sin * across)
}

/// Acceleration of every node by fields and air, held over one tick.
pub fn accelerations(
    rest: &ClothRest,
    law: AirLaw,
    forces: &Forces,
    time: f64,
    dt: f64,
    positions: &[DVec3],
    velocities: &[DVec3],
    per_triangle: &mut Vec<DVec3>,
    out: &mut [DVec3],
) {
    out.par_chunks_mut(CHUNK).zip(positions.par_chunks(CHUNK)).for_each(|(out, positions)| {
        for (a, p) in out.iter_mut().zip(positions) {
            *a = forces.acceleration(p.as_vec3(), time).as_dvec3();
        }
    });
    if law.drag <= 0.0 && law.lift <= 0.0 {
        return;
    }
    per_triangle.resize(rest.triangles.len(), DVec3::ZERO);
    per_triangle.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
        for (local, force) in out.iter_mut().enumerate() {
            let t = rest.triangles[chunk * CHUNK + local].map(|n| n as usize);
            let [a, b, c] = t.map(|n| positions[n]);
            let center: Vec3 = ((a + b + c) / 3.0).as_vec3();
            let moving = t.iter().map(|&n| velocities[n]).sum::<DVec3>() / 3.0;
            let air = forces.air_velocity(center, time).as_dvec3();
            let area_normal = 0.5 * (b - a).cross(c - a);
            let area = area_normal.length();
            let normal = area_normal / area.max(f64::MIN_POSITIVE);
            let wind = air - moving;
            let mass: f64 = t.iter().map(|&n| rest.mass[n]).sum::<f64>() / 3.0;
            let full = area * unit_force(wind, normal, law);
            // Implicit in the relative speed: light cloth in a storm takes the wind's speed at most.
            let rate = full.length() / (mass * wind.length().max(1e-12));
            *force = full / (1.0 + rate * dt);
        }
    });
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
        for (local, a) in out.iter_mut().enumerate() {
            let node = chunk * CHUNK + local;
            let triangles = rest.node_triangles.of(node as u32);
            let sum: DVec3 = triangles.iter().map(|&t| per_triangle[t as usize]).sum();
            *a += sum / (3.0 * rest.mass[node]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_on_wind_pushes_and_slanted_wind_lifts() {
        let law = AirLaw { drag: 1.0, lift: 0.5 };
        let head_on = unit_force(DVec3::X * 3.0, DVec3::X, law);
        assert!((head_on - DVec3::X * (0.5 * AIR_DENSITY * 9.0)).length() < 1e-12);
        assert_eq!(head_on, unit_force(DVec3::X * 3.0, -DVec3::X, law));
        let slanted = unit_force(DVec3::X, DVec3::new(1.0, 1.0, 0.0).normalize(), law);
        assert!(slanted.x > 0.0 && slanted.y > 0.0);
        assert_eq!(unit_force(DVec3::X, DVec3::Y, law).length(), 0.0);
    }
}
