//! Pools: patches of ground on which liquid that lands gathers, levels, spills over and makes small waves.
//!
//! ```text
//!      o   drop                a column of liquid stands on every cell of the bed; columns push liquid
//!    _____     ___             through the sides between them, over the higher of their beds. At the edge
//!   |     |___|   |            of a puddle the liquid stands as high as surface tension holds it
//!   |_____________|____
//! ```
//!
//! The bed is what is highest under every cell, of the scene's colliders and of the meshes that drops run on; where
//! those move it is looked for anew, and what rises in a pool pushes its liquid aside. Where all ground under the liquid
//! moves alike along x and z, the patch rides with it, and the liquid in it feels how that speeds up and slows down. Every
//! kilogram is in the books: drops that land become part of a pool, what leaves the patch has fallen out.
//!
//! Sources: the columns after J. F. O'Brien, J. K. Hodgins, *Dynamic simulation of splashing fluids* (1995); what a
//! puddle's edge holds after P.-G. de Gennes, F. Brochard-Wyart, D. Quéré, *Gouttes, bulles, perles et ondes* (2002).
//! Limits: ground that turns, or of which one part moves sideways and another does not, does not drag liquid along, only
//! its slopes and rims push it; no overhangs; what runs out of a patch is gone.

use glam::{DVec2, Vec3, Vec3Swizzles as _};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::liquid::Liquid;
use super::surface::Surface;
use crate::geometry::{Bounds, TriangleBvh};
use crate::stage::{BuildContext, ColliderSet, LayerError};

/// Most cells of a pool: beyond it a typo is likelier than a wish.
const MOST_CELLS: f64 = 1.0e6;
/// Spread of the ground's velocities up to which it moves alike, in its mean velocity [-].
const ALIKE: f64 = 0.2;
/// Furthest share of a cell within which the bed is found [-].
const BED_ERROR: f32 = 1e-3;

/// A patch of ground where liquid gathers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolParams {
    /// Middle of the patch: x and z [m].
    #[schemars(extend("x-change" = "restart", "x-group" = "Pools"))]
    pub center: [f64; 2],
    /// Its extent along x and z [m].
    #[schemars(inner(range(min = 1e-3, max = 1e3)))]
    #[schemars(extend("x-change" = "restart", "x-group" = "Pools"))]
    pub size: [f64; 2],
    /// Heights between which its bed is looked for [m].
    #[schemars(extend("x-change" = "restart", "x-group" = "Pools"))]
    pub heights: [f64; 2],
    /// Size of its cells [m].
    #[serde(default = "default_cell")]
    #[schemars(range(min = 1e-4, max = 10.0))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [0.002, 0.05], "x-log" = true, "x-group" = "Pools"))]
    pub cell: f64,
    /// Rate at which waves die away [1/s], besides what viscosity does: what a film on the surface and the pinned edge
    /// take from them.
    #[serde(default = "default_calming")]
    #[schemars(range(min = 0.0, max = 1e4))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 10], "x-group" = "Pools"))]
    pub calming: f64,
}

fn default_cell() -> f64 {
    0.008
}

fn default_calming() -> f64 {
    3.0
}

impl PoolParams {
    /// Cells along x and z.
    #[must_use]
    pub fn cells(&self) -> [usize; 2] {
        self.size.map(|s| (s / self.cell).round().max(1.0) as usize)
    }

    /// Refuses what makes no sense; `path` names it.
    pub fn validate(&self, path: &str) -> Result<(), LayerError> {
        let wrong = |field: &str, problem: &str| {
            Err(LayerError::parameter(format!("{path}.{field}"), problem))
        };
        let numbers = [self.center, self.size, self.heights];
        if numbers.iter().flatten().any(|n| !n.is_finite()) || !self.calming.is_finite() {
            return wrong("center", "every number of a pool must be finite");
        }
        if !(self.cell > 0.0 && self.cell.is_finite()) {
            return wrong("cell", "must be above 0");
        }
        if self.size.iter().any(|s| *s <= 0.0) {
            return wrong("size", "must be above 0");
        }
        if self.heights[1] <= self.heights[0] {
            return wrong("heights", "the second must be above the first");
        }
        if self.size.map(|s| (s / self.cell).max(1.0)).iter().product::<f64>() > MOST_CELLS {
            return wrong("cell", "would need more than a million cells: take larger ones");
        }
        Ok(())
    }
}

/// The ground of a pool, as it stands at the start or by now.
#[derive(Clone, Debug)]
pub struct PoolRest {
    /// Corner of the first cell: x and z [m].
    pub corner: [f64; 2],
    /// Cells along x and z.
    pub cells: [usize; 2],
    /// Size of a cell [m].
    pub cell: f64,
    /// Height of the ground under every cell, x fastest [m]; minus infinity where there is none.
    pub bed: Vec<f64>,
    /// Box that its liquid may be in.
    pub bounds: Bounds,
}

/// Liquid of a pool: all that evolves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PoolState {
    /// Liquid on every cell [kg].
    pub mass: Vec<f64>,
    /// Flow through the sides towards larger x [m³/s]: from every cell to the next; the last of a row leaves the patch.
    pub flow_x: Vec<f64>,
    /// The same towards larger z.
    pub flow_z: Vec<f64>,
    /// Height of the ground under every cell, where it has moved since the start [m]; else empty.
    pub bed: Vec<f64>,
    /// How far the patch has ridden with its ground: along x and z [m].
    pub ridden: DVec2,
    /// How fast it rides [m/s].
    pub riding: DVec2,
}

impl PoolState {
    /// Whether it was made for this ground.
    #[must_use]
    pub fn fits(&self, rest: &PoolRest) -> bool {
        let count = rest.bed.len();
        [&self.mass, &self.flow_x, &self.flow_z].iter().all(|v| v.len() == count)
            && [0, count].contains(&self.bed.len())
    }
}

impl PoolRest {
    /// Looks for the ground.
    pub fn build(params: &PoolParams, meshes: &[usize], context: &BuildContext) -> Self {
        let cells = params.cells();
        let corner = [0, 1].map(|k| params.center[k] - 0.5 * params.cell * cells[k] as f64);
        let [low, high] = params.heights.map(|h| h as f32);
        let trees: Vec<TriangleBvh> = meshes
            .iter()
            .filter_map(|m| context.frame.meshes.get(*m))
            .map(|m| TriangleBvh::build(&m.positions, &m.topology.triangles))
            .collect();
        let far = |k: usize| (corner[k] + params.cell * cells[k] as f64) as f32;
        let min = Vec3::new(corner[0] as f32, low, corner[1] as f32);
        let bounds = Bounds { min, max: Vec3::new(far(0), high, far(1)) };
        let bed = vec![f64::NEG_INFINITY; cells[0] * cells[1]];
        let mut rest = Self { corner, cells, cell: params.cell, bed, bounds };
        rest.lay(&trees.iter().collect::<Vec<_>>(), context.colliders);
        rest
    }

    /// Looks for the ground where it stands now.
    pub fn lay(&mut self, trees: &[&TriangleBvh], colliders: &ColliderSet) {
        let mut bed = std::mem::take(&mut self.bed);
        let (low, high) = (self.bounds.min.y, self.bounds.max.y);
        let error = BED_ERROR * self.cell as f32;
        let this = &*self;
        bed.par_iter_mut().enumerate().for_each(|(index, bed)| {
            let [x, z] = this.middle(index);
            let top = Vec3::new(x as f32, high, z as f32);
            let hit =
                |t: &&TriangleBvh| Some(high - t.raycast(top, Vec3::NEG_Y, high - low)?.distance);
            let on_mesh = trees.iter().filter_map(hit).fold(f32::NEG_INFINITY, f32::max);
            *bed = f64::from(on_mesh.max(highest_collider(colliders, top, low, error)));
        });
        self.bed = bed;
    }

    /// Puts the patch where it has ridden to from its place at the start.
    pub fn ride_to(&mut self, start: &Self, ridden: DVec2) {
        self.corner = [start.corner[0] + ridden.x, start.corner[1] + ridden.y];
        let way = Vec3::new(ridden.x as f32, 0.0, ridden.y as f32);
        self.bounds = Bounds { min: start.bounds.min + way, max: start.bounds.max + way };
    }

    /// How the ground under the liquid moves along x and z [m/s], where all of it moves alike; else it rests.
    #[must_use]
    pub fn ground_velocity(
        &self,
        pool: &PoolState,
        surface: &Surface,
        colliders: &ColliderSet,
        dt: f64,
    ) -> DVec2 {
        let of_cell = |c: usize| match pool.mass[c] > 0.0 && self.bed[c].is_finite() {
            true => self.velocity_under(c, surface, colliders, dt),
            false => DVec2::ZERO,
        };
        // Found by many threads, added up in one order.
        let each: Vec<DVec2> = (0..pool.mass.len()).into_par_iter().map(of_cell).collect();
        let (mut mass, mut momentum, mut energy) = (0.0, DVec2::ZERO, 0.0);
        for (m, v) in pool.mass.iter().zip(&each) {
            mass += m;
            momentum += *v * *m;
            energy += v.length_squared() * m;
        }
        if mass <= 0.0 {
            return DVec2::ZERO;
        }
        let mean = momentum / mass;
        let spread = energy / mass - mean.length_squared();
        if spread > ALIKE * ALIKE * mean.length_squared() { DVec2::ZERO } else { mean }
    }

    /// How what is highest under a cell moves along x and z [m/s].
    fn velocity_under(
        &self,
        cell: usize,
        surface: &Surface,
        colliders: &ColliderSet,
        dt: f64,
    ) -> DVec2 {
        let [x, z] = self.middle(cell);
        let (low, high) = (self.bounds.min.y, self.bounds.max.y);
        let top = Vec3::new(x as f32, high, z as f32);
        let hit = surface.bvh.raycast(top, Vec3::NEG_Y, high - low);
        let on_mesh = hit.map_or(f32::NEG_INFINITY, |h| high - h.distance);
        let error = BED_ERROR * self.cell as f32;
        let on_collider = highest_collider(colliders, top, low, error);
        if on_collider > on_mesh {
            let at = Vec3::new(top.x, on_collider, top.z);
            let contacts = colliders.all().iter().map(|c| c.contact(at, 1.0));
            let nearest = contacts.min_by(|a, b| a.distance.total_cmp(&b.distance));
            return nearest.map_or(DVec2::ZERO, |c| c.velocity.as_dvec3().xz());
        }
        hit.map_or(DVec2::ZERO, |h| {
            let [_, u, v] = h.barycentric.map(f64::from);
            surface.velocity(h.triangle, DVec2::new(u, v), dt).xz()
        })
    }

    /// Middle of a cell: x and z [m].
    #[must_use]
    pub fn middle(&self, index: usize) -> [f64; 2] {
        let at = [index % self.cells[0], index / self.cells[0]];
        [0, 1].map(|k| self.corner[k] + (at[k] as f64 + 0.5) * self.cell)
    }

    /// The cell over which a place is.
    #[must_use]
    pub fn cell_at(&self, x: f64, z: f64) -> Option<usize> {
        let at = [(x - self.corner[0]) / self.cell, (z - self.corner[1]) / self.cell];
        let within = |k: usize| at[k] >= 0.0 && at[k] < self.cells[k] as f64;
        (within(0) && within(1)).then(|| at[1] as usize * self.cells[0] + at[0] as usize)
    }

    /// The cells beside one towards larger x and z.
    #[must_use]
    pub fn next(&self, cell: usize) -> [Option<usize>; 2] {
        let [nx, nz] = self.cells;
        [(cell % nx + 1 < nx).then_some(cell + 1), (cell / nx + 1 < nz).then_some(cell + nx)]
    }

    /// Depth of a mass on one cell [m].
    #[must_use]
    pub fn depth(&self, mass: f64, liquid: &Liquid) -> f64 {
        mass / (liquid.density * self.cell * self.cell)
    }

    /// An empty pool.
    #[must_use]
    pub fn dry(&self) -> PoolState {
        let count = self.bed.len();
        let nothing = || vec![0.0; count];
        PoolState {
            mass: nothing(),
            flow_x: nothing(),
            flow_z: nothing(),
            bed: Vec::new(),
            ridden: DVec2::ZERO,
            riding: DVec2::ZERO,
        }
    }
}

/// Height at which a way down first meets a collider; minus infinity if it meets none above `low`.
fn highest_collider(colliders: &ColliderSet, top: Vec3, low: f32, error: f32) -> f32 {
    let mut at = top;
    while at.y >= low {
        let near = |c: &crate::stage::Collider| c.contact(at, 1.0).distance;
        let distance = colliders.all().iter().map(near).fold(f32::INFINITY, f32::min);
        if distance <= error {
            return at.y;
        }
        // No surface is nearer than that.
        at.y -= distance.max(error);
    }
    f32::NEG_INFINITY
}

/// Depth that the edge of a puddle holds on level ground [m]: where its weight is what surface tension carries.
#[must_use]
pub fn held_depth(liquid: &Liquid, gravity: f64) -> f64 {
    let length = (liquid.tension / (liquid.density * gravity.max(1e-6))).sqrt();
    2.0 * length * (0.5 * liquid.contact_angle_deg.to_radians()).sin()
}
