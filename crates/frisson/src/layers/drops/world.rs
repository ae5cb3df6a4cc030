//! What a drop meets: the surface, what covers it, and everything that pushes.

use glam::{DVec2, DVec3, Vec3};

use super::flow::Body;
use super::guide::Guide;
use super::liquid::{Drag, Liquid};
use super::site::Ground;
use super::state::Drop;
use super::surface::Surface;
use crate::geometry::Bounds;
use crate::stage::{ColliderSet, Forces};

/// Density of air [kg/m³].
const AIR_DENSITY: f64 = 1.2;
/// Drag coefficient of a drop in a wind [-].
const DRAG_COEFFICIENT: f64 = 0.5;

/// Everything that is constant during one tick.
pub struct World<'a> {
    /// The surface at the end of the tick.
    pub surface: &'a Surface,
    /// What each triangle is made of.
    pub ground: &'a Ground,
    /// Least height of a drop that passes, along the two axes, after smoothing by trails [m].
    pub bumps: &'a [[f32; 2]],
    /// The liquid.
    pub liquid: &'a Liquid,
    /// Gravity and fields.
    pub forces: &'a Forces,
    /// The acceleration, where it is the same everywhere [m/s²].
    pub uniform: Option<DVec3>,
    /// Simple shapes that falling drops hit.
    pub colliders: Option<&'a ColliderSet>,
    /// Curves that pull drops.
    pub guides: &'a [Guide],
    /// Drag solved for a source, where there is one [kg/s].
    pub source_drags: &'a [Option<f64>],
    /// Time at the end of the tick [s].
    pub time: f64,
    /// Length of the tick [s].
    pub tick: f64,
    /// Drag rate of the scene [1/s].
    pub scene_drag: f64,
    /// Whether air moves.
    pub windy: bool,
    /// Whether track pieces are kept.
    pub tracks: bool,
    /// Outside of this, drops are gone.
    pub bounds: Bounds,
}

impl World<'_> {
    /// What of a drop stays constant during a step.
    #[must_use]
    pub fn body(&self, drop: &Drop) -> Body {
        let radius = self.liquid.radius(drop.mass);
        let solved = self.source_drags.get(drop.source as usize).copied().flatten();
        let drag = solved.unwrap_or_else(|| match self.liquid.drag {
            Drag::Same(drag) => drag,
            // In the air the ground does not matter: any will do until it lands.
            Drag::Viscous(viscosity) => {
                viscosity * radius * self.ground.of(drop.triangle().unwrap_or(0)).resistance
            }
        });
        let thick = (self.liquid.thickening * drop.solute / drop.mass).min(50.0).exp();
        Body { radius, drag: drag * thick / drop.mass + self.scene_drag, mass: drop.mass }
    }

    /// Acceleration of a drop by gravity, fields, wind and guides [m/s²].
    #[must_use]
    pub fn acceleration(&self, place: DVec3, drop: &Drop, body: &Body) -> DVec3 {
        let mut sum = match self.uniform {
            Some(a) => a,
            None => self.forces.acceleration(place.as_vec3(), self.time).as_dvec3(),
        };
        if self.windy {
            // What a drop feels on a moving surface is the air against that surface.
            let wind = self.air(place) - drop.carrier;
            let area = std::f64::consts::PI * body.radius * body.radius;
            let force = 0.5 * AIR_DENSITY * DRAG_COEFFICIENT * area * wind.length();
            sum += wind * (force / body.mass);
        }
        for guide in self.guides.iter().filter(|g| g.takes(drop.source)) {
            sum += guide.acceleration(place);
        }
        sum
    }

    /// Velocity of the air [m/s].
    #[must_use]
    pub fn air(&self, place: DVec3) -> DVec3 {
        if !self.windy {
            return DVec3::ZERO;
        }
        self.forces.air_velocity(place.as_vec3(), self.time).as_dvec3()
    }

    /// Least height of a drop that passes [m], and the acceleration bumps can hold against [m/s²].
    #[must_use]
    pub fn bumps(&self, triangle: u32) -> ([f32; 2], f64) {
        (self.bumps[triangle as usize], f64::from(self.ground.of(triangle).grip))
    }

    /// The most a triangle can hold a drop of a radius with [N]: `D pi r²`.
    #[must_use]
    pub fn holding_force(&self, triangle: u32, radius: f64) -> f64 {
        let adhesion = f64::from(self.ground.of(triangle).adhesion)
            * f64::from(self.ground.adhesion_scale[triangle as usize]);
        adhesion * std::f64::consts::PI * radius * radius
    }

    /// Position of a triangle's corners at a fraction of the tick (0 start, 1 end) [m].
    #[must_use]
    pub fn corners_at(&self, triangle: u32, fraction: f64) -> [DVec3; 3] {
        self.surface.triangles[triangle as usize].map(|p| {
            let p = p as usize;
            self.surface.previous[p].lerp(self.surface.points[p], fraction)
        })
    }
}

/// Weights of corners 1 and 2 of the point of a triangle nearest to a point of its plane.
#[must_use]
pub fn plane_weights([a, b, c]: [DVec3; 3], p: DVec3) -> DVec2 {
    let (u, w, q) = (b - a, c - a, p - a);
    let (uu, uw, ww) = (u.dot(u), u.dot(w), w.dot(w));
    let det = uu * ww - uw * uw;
    if det <= f64::MIN_POSITIVE {
        return DVec2::splat(-1.0);
    }
    let (qu, qw) = (q.dot(u), q.dot(w));
    DVec2::new(ww * qu - uw * qw, uu * qw - uw * qu) / det
}

/// Single-precision box of two places.
#[must_use]
pub fn box_of(a: DVec3, b: DVec3, margin: f64) -> Bounds {
    let (a, b): (Vec3, Vec3) = (a.as_vec3(), b.as_vec3());
    Bounds { min: a.min(b), max: a.max(b) }.grown(margin as f32)
}
