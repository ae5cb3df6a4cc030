//! What a drop meets: the surface, what covers it, and everything that pushes.

use glam::{DVec2, DVec3, Vec3};

use super::flow::DropCarrier;
use super::guide::Guide;
use super::liquid::{Drag, Liquid};
use super::site::{Ground, Hold};
use super::state::Droplet;
use super::surface::Surface;
use crate::geometry::Bounds;
use crate::math::random;
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
    /// What holds drops on each triangle, after smoothing by trails.
    pub holds: &'a [Hold],
    /// Where points were when the surface was connected [m]; empty: as they are.
    pub places: &'a [Vec3],
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
    pub fn body(&self, drop: &Droplet) -> DropCarrier {
        let radius = self.liquid.radius(drop.mass);
        // A drop that has to arrive in time has the drag that was solved for it, whatever the liquid.
        let solved = self.source_drags.get(drop.source as usize).copied().flatten();
        let thick = self.thickened(drop);
        let drag = solved.unwrap_or_else(|| match self.liquid.drag {
            Drag::Same(drag) => drag,
            Drag::Viscous(viscosity) => {
                // In the air the ground does not matter: any will do until it lands.
                let kind = self.ground.of(drop.triangle().unwrap_or(0));
                let width = 2.0 * kind.contact * radius;
                let stress = (viscosity * thick).max(f64::MIN_POSITIVE);
                // The speed at the start of the step serves all of it: within a step the motion is linear.
                let reynolds = self.liquid.density * drop.speed() * width / stress;
                viscosity * radius * kind.resistance.at(reynolds)
            }
        });
        DropCarrier {
            radius,
            drag: drag * thick / drop.mass + self.scene_drag,
            mass: drop.mass,
            viscosity: match self.liquid.drag {
                Drag::Viscous(viscosity) if solved.is_none() => viscosity * thick,
                _ => 0.0,
            },
            entered: drop.entered,
        }
    }

    /// How many times as thick as at its source a drop is by now [-].
    fn thickened(&self, drop: &Droplet) -> f64 {
        if self.liquid.thickening == 0.0 {
            return 1.0;
        }
        let dried = drop.solute / drop.mass - self.liquid.concentration;
        // As good as solid, or as thin as air: beyond that numbers would overflow.
        (self.liquid.thickening * dried).clamp(-50.0, 50.0).exp()
    }

    /// Acceleration of a drop by gravity, fields, wind and guides [m/s²].
    #[must_use]
    pub fn acceleration(&self, place: DVec3, drop: &Droplet, body: &DropCarrier) -> DVec3 {
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

    /// What holds a drop on a triangle, and the acceleration bumps can hold against [m/s²].
    #[must_use]
    pub fn hold(&self, triangle: u32) -> (Hold, f64) {
        (self.holds[triangle as usize], f64::from(self.ground.of(triangle).grip))
    }

    /// How far what pins a drop is turned aside at a place of a triangle [radians].
    #[must_use]
    pub fn aside(&self, triangle: u32, weights: DVec2) -> f64 {
        let kind = self.ground.of(triangle);
        if kind.meander <= 0.0 || self.places.is_empty() {
            return 0.0;
        }
        // Spots are of the ground: they go along where it moves.
        let [a, b, c] = self.surface.triangles[triangle as usize].map(|p| self.places[p as usize]);
        let (x, y) = (weights.x as f32, weights.y as f32);
        let place = a * (1.0 - x - y) + b * x + c * y;
        f64::from(kind.meander * spots(place * kind.per_meander))
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

/// Smooth noise of a place, about -1 to 1, that changes over a length of 1.
fn spots(place: Vec3) -> f32 {
    let cell = place.floor();
    let t = place - cell;
    let t = t * t * (Vec3::splat(3.0) - 2.0 * t);
    let at = |x: f32, y: f32, z: f32| {
        // By way of signed numbers: negative cells would all become nought.
        let [x, y, z] = [cell.x + x, cell.y + y, cell.z + z].map(|v| v as i64 as u64);
        random::signed(0x5_9075, x ^ y.rotate_left(21), z) as f32
    };
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let row = |y: f32, z: f32| mix(at(0.0, y, z), at(1.0, y, z), t.x);
    let sheet = |z: f32| mix(row(0.0, z), row(1.0, z), t.y);
    mix(sheet(0.0), sheet(1.0), t.z)
}

/// Weights of corners 1 and 2 of the point of a triangle nearest to a point of its plane.
#[must_use]
pub fn plane_weights([a, b, c]: [DVec3; 3], p: DVec3) -> DVec2 {
    let (u, w, q) = (b - a, c - a, p - a);
    let (uu, uw, ww) = (u.dot(u), u.dot(w), w.dot(w));
    let det = uu * ww - uw * uw;
    // No plane, no place in it: outside.
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
