//! Air around the cloth: it pushes every triangle along its normal, and rubs along it.
//!
//! ```text
//!      u: wind as the triangle feels it      push  = rho/2 A |u| (u·n) (Cd c + Cl (1 - c²)) n
//!   ---->  /                                 rub   = rho/2 A |u| Cf (u - (u·n) n)
//!    -->  / n: normal, c = |u·n| / |u|
//! ```
//!
//! Head-on that is the drag of a plate; in a slanting wind it is the plate's lift, which grows with the
//! slant. A flag flutters by it: where a wave travels slower than the wind, the push on its flanks has the
//! direction of their motion.
//!
//! Air is heavier than thin cloth: within a few milliseconds the cloth goes with it. So the push is not a
//! force held over a tick, but a rate at which each node takes on the speed of the air along its normal,
//! solved exactly in every small step.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::rest::ClothRest;
use super::soaking::node_mass;
use crate::stage::Forces;
use crate::tolerances::cloth as limits;

/// Density of air [kg/m³].
const AIR_DENSITY: f64 = 1.2;
/// Triangles or nodes a task takes at once.
const CHUNK: usize = 1024;

/// Coefficients of the surface.
#[derive(Clone, Copy, Debug)]
pub struct AirCoefficients {
    /// Drag coefficient [-].
    pub drag: f64,
    /// Lift coefficient [-].
    pub lift: f64,
}

impl AirCoefficients {
    /// Whether there is air at all.
    pub fn is_none(self) -> bool {
        self.drag <= 0.0 && self.lift <= 0.0
    }
}

/// What the air does to a triangle or a node over one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Push {
    /// Unit normal.
    pub normal: DVec3,
    /// Speed of the air along it [m/s].
    pub speed: f64,
    /// Per unit of that speed: force on a triangle [N·s/m], acceleration of a node [1/s].
    pub rate: f64,
    /// Force along a triangle [N], acceleration of a node [m/s²].
    pub rub: DVec3,
}

/// What air of a velocity does to a triangle of an area that moves.
fn push(area_normal: DVec3, air: DVec3, moving: DVec3, coefficients: AirCoefficients) -> Push {
    let area = area_normal.length();
    let wind = air - moving;
    let speed = wind.length();
    // No direction to push in; the quotients below would not be numbers.
    if area <= 0.0 || speed <= 0.0 {
        return Push::default();
    }
    let normal = area_normal / area;
    let across = wind.dot(normal);
    let cos = across.abs() / speed;
    let coefficient = coefficients.drag * cos + coefficients.lift * (1.0 - cos * cos);
    // Without one factor of the speed: that one is the node's own, and solved for in the small steps.
    let pressure = 0.5 * AIR_DENSITY * area * speed;
    let rub = (wind - across * normal) * (pressure * limits::SKIN_FRICTION * coefficients.drag);
    Push { normal, speed: air.dot(normal), rate: pressure * coefficient, rub }
}

/// Where and how the cloth is.
#[derive(Clone, Copy)]
pub struct Cloth<'a> {
    /// As cut.
    pub rest: &'a ClothRest,
    /// Liquid that every node carries, or empty [kg].
    pub soaked: &'a [f32],
    /// Position of every node [m].
    pub positions: &'a [DVec3],
    /// Velocity of every node [m/s].
    pub velocities: &'a [DVec3],
}

/// Acceleration of every node by fields, held over one tick. They pull at `share` of what moves: air that
/// moves with the cloth has no weight in air.
pub fn accelerations(cloth: Cloth, share: f64, (forces, time): (&Forces, f64), out: &mut [DVec3]) {
    out.par_chunks_mut(CHUNK).zip(cloth.positions.par_chunks(CHUNK)).for_each(
        |(out, positions)| {
            for (a, p) in out.iter_mut().zip(positions) {
                *a = share * forces.acceleration(p.as_vec3(), time).as_dvec3();
            }
        },
    );
    if share < 1.0 {
        // Liquid has its whole weight.
        for (node, liquid) in cloth.soaked.iter().enumerate() {
            let (dry, liquid) = (cloth.rest.mass[node], f64::from(*liquid));
            out[node] *= (share * dry + liquid) / (share * (dry + liquid));
        }
    }
}

/// What the air does to every node over one tick; nothing is left of `out` without air. `per_triangle` is
/// scratch.
pub fn blow(
    cloth: Cloth,
    coefficients: AirCoefficients,
    (forces, time): (&Forces, f64),
    per_triangle: &mut Vec<Push>,
    out: &mut Vec<Push>,
) {
    out.clear();
    if coefficients.is_none() {
        return;
    }
    let Cloth { rest, soaked, positions, velocities } = cloth;
    per_triangle.resize(rest.triangles.len(), Push::default());
    per_triangle.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
        for (local, out) in out.iter_mut().enumerate() {
            let t = rest.triangles[chunk * CHUNK + local].map(|n| n as usize);
            let [a, b, c] = t.map(|n| positions[n]);
            let center: Vec3 = ((a + b + c) / 3.0).as_vec3();
            let moving = t.iter().map(|&n| velocities[n]).sum::<DVec3>() / 3.0;
            let air = forces.air_velocity(center, time).as_dvec3();
            *out = push(0.5 * (b - a).cross(c - a), air, moving, coefficients);
        }
    });
    out.resize(positions.len(), Push::default());
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
        for (local, out) in out.iter_mut().enumerate() {
            let node = chunk * CHUNK + local;
            let around = rest.node_triangles.of(node as u32).iter();
            let mass = node_mass(rest, soaked, node);
            *out = gather(around.map(|&t| &per_triangle[t as usize]), mass);
        }
    });
}

/// A node takes a third of what its triangles get.
fn gather<'a>(around: impl Iterator<Item = &'a Push> + Clone, mass: f64) -> Push {
    let total: f64 = around.clone().map(|t| t.rate).sum();
    let normal = around.clone().map(|t| t.normal * t.rate).sum::<DVec3>().normalize_or_zero();
    // What is folded sharply feels less than the sum of its parts.
    let seen = around.clone().map(|t| t.rate * t.normal.dot(normal).abs()).sum::<f64>();
    let air = around.clone().map(|t| t.rate * t.normal * t.speed).sum::<DVec3>().dot(normal);
    let speed = if total > 0.0 { air / seen.max(f64::MIN_POSITIVE) } else { 0.0 };
    let rub = around.map(|t| t.rub).sum::<DVec3>() / (3.0 * mass);
    Push { normal, speed, rate: seen / (3.0 * mass), rub }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: AirCoefficients = AirCoefficients { drag: 1.0, lift: 1.0 };

    /// Force on a triangle at rest.
    fn force(area_normal: DVec3, air: DVec3) -> DVec3 {
        let p = push(area_normal, air, DVec3::ZERO, LAW);
        p.normal * (p.rate * p.speed) + p.rub
    }

    #[test]
    fn head_on_wind_pushes_and_slanted_wind_lifts() {
        let head_on = force(DVec3::X, DVec3::X * 3.0);
        assert!((head_on - DVec3::X * (0.5 * AIR_DENSITY * 9.0)).length() < 1e-12);
        assert!((head_on - force(-DVec3::X, DVec3::X * 3.0)).length() < 1e-12);
        let slanted = force(DVec3::new(1.0, 1.0, 0.0).normalize(), DVec3::X);
        assert!(slanted.x > 0.0 && slanted.y > 0.0);
        // A plate at 45 degrees has about as much lift as drag.
        let [drag, lift] = [slanted.x, slanted.y].map(|f| f / (0.5 * AIR_DENSITY));
        assert!((0.5..1.2).contains(&drag) && (0.5..1.2).contains(&lift), "{drag} {lift}");
        let along = force(DVec3::Y, DVec3::X);
        assert!(along.y == 0.0 && along.x > 0.0 && along.x < 0.05, "{along}");
    }

    #[test]
    fn what_moves_with_the_air_feels_nothing() {
        let wind = DVec3::new(3.0, 1.0, 0.0);
        let p = push(DVec3::new(0.3, 0.5, 0.1), wind, wind, LAW);
        assert_eq!(p, Push::default());
    }
}
