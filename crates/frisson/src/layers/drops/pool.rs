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
//! those move it is looked for anew, and what rises in a pool pushes its liquid aside. The patch rides with its ground and
//! turns with it (`pool_ride.rs`): the liquid in it feels how that speeds up and slows down, and runs to the lower side.
//! Every kilogram is in the books: drops that land become part of a pool, what runs off its ground falls as drops
//! (`pool_spill.rs`).
//!
//! Sources: the columns after J. F. O'Brien, J. K. Hodgins, *Dynamic simulation of splashing fluids* (1995); what a
//! puddle's edge holds after P.-G. de Gennes, F. Brochard-Wyart, D. Quéré, *Gouttes, bulles, perles et ondes* (2002).
//! Limits: where parts of the ground move apart the patch rides with the part that has most of the liquid, and what lies
//! on the others is only pushed by slopes and rims; no overhangs; ground that turns does not bend what flows on it (no
//! Coriolis force); what speeds up along the patch's own y presses neither more nor less.

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::liquid::Liquid;
use super::pool_end::End;
use super::pool_ride::{Motion, PatchPose};
use crate::geometry::{Bounds, RayHit, TriangleBvh};
use crate::stage::{BuildContext, ColliderSet, LayerError};

/// Most cells of a pool: beyond it a typo is likelier than a wish.
const MOST_CELLS: f64 = 1.0e6;
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
    /// Corner of the first cell: x and z of the patch [m].
    pub corner: [f64; 2],
    /// Cells along x and z.
    pub cells: [usize; 2],
    /// Size of a cell [m].
    pub cell: f64,
    /// Heights of the patch between which its ground is [m].
    pub heights: [f64; 2],
    /// Height of the ground under every cell as gravity sees it, x fastest [m]; minus infinity where there is none.
    pub bed: Vec<f64>,
    /// Where the ground ends between its cells, ascending.
    pub ends: Vec<End>,
    /// How much higher than in the patch the bed is for gravity, per way along its x and z [-].
    pub lean: DVec2,
    /// Where the patch stands.
    pub pose: PatchPose,
    /// Box of the world that its liquid may be in.
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
    /// Liquid of every cell that has run over the end of its ground and hangs there [kg].
    pub brink: Vec<f64>,
    /// Height of the ground under every cell as gravity sees it, where it has moved since the start [m]; else empty.
    pub bed: Vec<f64>,
    /// Where that ends.
    pub ends: Vec<End>,
    /// How that leans.
    pub lean: DVec2,
    /// Where the patch has ridden to with its ground.
    pub pose: PatchPose,
    /// How it moved in the last tick.
    pub motion: Motion,
}

impl PoolState {
    /// Whether it was made for this ground.
    #[must_use]
    pub fn fits(&self, rest: &PoolRest) -> bool {
        let count = rest.bed.len();
        [&self.mass, &self.flow_x, &self.flow_z, &self.brink].iter().all(|v| v.len() == count)
            && [0, count].contains(&self.bed.len())
    }
}

impl PoolRest {
    /// Looks for the ground.
    pub fn build(params: &PoolParams, meshes: &[usize], context: &BuildContext) -> Self {
        let cells = params.cells();
        let corner = [0, 1].map(|k| params.center[k] - 0.5 * params.cell * cells[k] as f64);
        let trees: Vec<TriangleBvh> = meshes
            .iter()
            .filter_map(|m| context.frame.meshes.get(*m))
            .map(|m| TriangleBvh::build(&m.positions, &m.topology.triangles))
            .collect();
        let mut rest = Self {
            corner,
            cells,
            cell: params.cell,
            heights: params.heights,
            bed: vec![f64::NEG_INFINITY; cells[0] * cells[1]],
            ends: Vec::new(),
            lean: DVec2::ZERO,
            pose: PatchPose::default(),
            bounds: Bounds::EMPTY,
        };
        rest.stand_at(PatchPose::default());
        rest.lay(&trees.iter().collect::<Vec<_>>(), context.colliders, DVec2::ZERO);
        rest
    }

    /// Looks for the ground where it stands now, and as it leans for gravity.
    pub fn lay(&mut self, trees: &[&TriangleBvh], colliders: &ColliderSet, lean: DVec2) {
        let mut bed = std::mem::take(&mut self.bed);
        self.lean = lean;
        let this = &*self;
        bed.par_iter_mut().enumerate().for_each(|(index, bed)| {
            let at = this.middle(index);
            *bed = this.ground_at(at, trees, colliders) + this.rise(at);
        });
        self.bed = bed;
        self.find_ends(trees, colliders);
    }

    /// Height of the ground in the patch at x and z [m]; minus infinity where there is none.
    pub(super) fn ground_at(
        &self,
        at: [f64; 2],
        trees: &[&TriangleBvh],
        colliders: &ColliderSet,
    ) -> f64 {
        let plumb = self.plumb_at(at);
        let hit = |t: &&TriangleBvh| Some(t.raycast(plumb.0, plumb.1, plumb.2)?.distance);
        let to_mesh = trees.iter().filter_map(hit).fold(f32::INFINITY, f32::min);
        let way = to_mesh.min(highest_collider(colliders, plumb, self.bed_error()));
        self.heights[1] - f64::from(way)
    }

    /// Puts the patch somewhere.
    pub fn stand_at(&mut self, pose: PatchPose) {
        self.pose = pose;
        let far = [0, 1].map(|k| self.corner[k] + self.cell * self.cells[k] as f64);
        let mut bounds = Bounds::EMPTY;
        for corner in 0..8 {
            let pick = |bit: usize, [low, high]: [f64; 2]| match corner >> bit & 1 {
                0 => low,
                _ => high,
            };
            let x = pick(0, [self.corner[0], far[0]]);
            let z = pick(1, [self.corner[1], far[1]]);
            let at = pose.to_world(DVec3::new(x, pick(2, self.heights), z)).as_vec3();
            bounds = bounds.union(Bounds { min: at, max: at });
        }
        self.bounds = bounds;
    }

    /// Where the way down through a cell meets a mesh.
    pub(super) fn hit_under(&self, cell: usize, tree: &TriangleBvh) -> Option<RayHit> {
        let (top, down, reach) = self.plumb(cell);
        tree.raycast(top, down, reach)
    }

    /// The way down through the middle of a cell, in the world: from where, its direction, its length [m].
    pub(super) fn plumb(&self, cell: usize) -> (Vec3, Vec3, f32) {
        self.plumb_at(self.middle(cell))
    }

    fn plumb_at(&self, [x, z]: [f64; 2]) -> (Vec3, Vec3, f32) {
        let [low, high] = self.heights;
        let top = self.pose.to_world(DVec3::new(x, high, z)).as_vec3();
        (top, (self.pose.turn * DVec3::NEG_Y).as_vec3(), (high - low) as f32)
    }

    /// How near to the ground is on it [m].
    pub(super) fn bed_error(&self) -> f32 {
        BED_ERROR * self.cell as f32
    }

    /// How much higher a place is for gravity than in the patch [m].
    #[must_use]
    pub fn rise(&self, [x, z]: [f64; 2]) -> f64 {
        self.lean.x * x + self.lean.y * z
    }

    /// Height of a cell's ground in the patch [m].
    #[must_use]
    pub fn height(&self, cell: usize) -> f64 {
        self.bed[cell] - self.rise(self.middle(cell))
    }

    /// Upward part of the normal of a cell's ground, by the cells beside it [-].
    #[must_use]
    pub fn upright(&self, cell: usize) -> f64 {
        let slope = |ways: [usize; 2]| {
            let [up, down] = ways.map(|way| self.beside(cell, way));
            let [up, down] = [up, down].map(|b| b.filter(|b| self.bed[*b].is_finite()));
            let span = f64::from(u8::from(up.is_some()) + u8::from(down.is_some()));
            let height = |b: Option<usize>| self.height(b.unwrap_or(cell));
            (height(up) - height(down)) / (span.max(1.0) * self.cell)
        };
        let [x, z] = [slope([0, 1]), slope([2, 3])];
        (1.0 + x * x + z * z).sqrt().recip()
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
            brink: nothing(),
            bed: Vec::new(),
            ends: Vec::new(),
            lean: DVec2::ZERO,
            pose: PatchPose::default(),
            motion: Motion::default(),
        }
    }
}

/// How far a way goes, given by its start, direction and length, until it meets a collider [m]; infinity if it meets none.
pub(super) fn highest_collider(
    colliders: &ColliderSet,
    (top, down, reach): (Vec3, Vec3, f32),
    error: f32,
) -> f32 {
    let mut way = 0.0;
    while way <= reach {
        let at = top + down * way;
        let near = |c: &crate::stage::Collider| c.contact(at, 1.0).distance;
        let distance = colliders.all().iter().map(near).fold(f32::INFINITY, f32::min);
        if distance <= error {
            return way;
        }
        // No surface is nearer than that.
        way += distance.max(error);
    }
    f32::INFINITY
}

/// Depth that the edge of a puddle holds on level ground [m]: where its weight is what surface tension carries.
#[must_use]
pub fn held_depth(liquid: &Liquid, gravity: f64) -> f64 {
    let length = (liquid.tension / (liquid.density * gravity.max(1e-6))).sqrt();
    2.0 * length * (0.5 * liquid.contact_angle_deg.to_radians()).sin()
}
