//! Wind that hair and body shield: what stands upwind takes the wind out of what is behind it.

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::bodies::PosedBody;
use super::rest::HairRest;
use super::state::Wisp;

/// Most cells along one side of the density grid.
const MAX_CELLS: f32 = 48.0;

/// Parts of the grid that are filled side by side, at most.
const SLABS: usize = 8;

/// Steps taken upwind.
const STEPS: usize = 14;

/// Share of the wind that reaches the lee of a body [-].
const LEE: f32 = 0.15;

/// How much of the light a wisp's outline stops at natural density [-].
const COVER: f32 = 0.6;

/// A coarse grid of how much hair stands in the way, reused from tick to tick.
#[derive(Default)]
pub(super) struct WindShadow {
    low: Vec3,
    cell: f32,
    size: IVec3,
    /// Projected area of hair per volume [1/m].
    density: Vec<f32>,
}

impl WindShadow {
    /// Fills the grid from the wisps.
    pub fn build(&mut self, rest: &HairRest, wisps: &[Wisp]) {
        let (mut low, mut high) = (Vec3::splat(f32::MAX), Vec3::splat(f32::MIN));
        for p in wisps.iter().flat_map(|w| &w.positions) {
            low = low.min(*p);
            high = high.max(*p);
        }
        if low.x > high.x {
            return;
        }
        self.cell = ((high - low).max_element() / MAX_CELLS).max(0.015);
        self.low = low - Vec3::splat(self.cell);
        self.size = ((high - self.low) / self.cell).ceil().as_ivec3() + IVec3::ONE;
        let total = (self.size.x * self.size.y * self.size.z) as usize;
        self.density.clear();
        self.density.resize(total, 0.0);
        let layer = (self.size.x * self.size.y) as usize;
        let layers = (self.size.z as usize).div_ceil(SLABS);
        let mut density = std::mem::take(&mut self.density);
        // Every slab takes all wisps in their order: a cell's sum does not depend on the threads.
        density.par_chunks_mut(layer * layers).enumerate().for_each(|(slab, density)| {
            self.fill_slab((slab * layers) as i32, density, rest, wisps);
        });
        self.density = density;
    }

    /// Fills the layers of the grid from one on.
    fn fill_slab(&self, first: i32, density: &mut [f32], rest: &HairRest, wisps: &[Wisp]) {
        let samples = rest.directions.len();
        let volume = self.cell.powi(3);
        let layers = density.len() as i32 / (self.size.x * self.size.y);
        let start = (first * self.size.y * self.size.x) as usize;
        for wisp in wisps {
            let segment = rest.roots[wisp.root as usize].segment;
            for i in 1..wisp.positions.len() {
                let (cell, t) = self.place(wisp.positions[i]);
                if cell.z + 1 < first || cell.z >= first + layers {
                    continue;
                }
                let radii = &wisp.radii[i * samples..(i + 1) * samples];
                let radius = radii.iter().sum::<f32>() / samples as f32;
                // Halves of a split cover less than two whole wisps would: their hairs are half as many.
                let area = COVER * 2.0 * radius * segment * wisp.share.sqrt();
                for corner in 0..8 {
                    let at = IVec3::new(corner & 1, corner >> 1 & 1, corner >> 2 & 1);
                    let index = self.index(cell + at).and_then(|i| i.checked_sub(start));
                    if let Some(sum) = index.and_then(|i| density.get_mut(i)) {
                        *sum += area / volume * weight(t, at);
                    }
                }
            }
        }
    }

    /// Density of the cell that holds a place: `splat` has already smoothed it.
    fn sample(&self, p: Vec3) -> f32 {
        let cell = ((p - self.low) / self.cell).floor().as_ivec3();
        self.index(cell).map_or(0.0, |i| self.density[i])
    }

    fn place(&self, p: Vec3) -> (IVec3, Vec3) {
        let at = (p - self.low) / self.cell - Vec3::splat(0.5);
        let floor = at.floor();
        (floor.as_ivec3(), at - floor)
    }

    fn index(&self, c: IVec3) -> Option<usize> {
        let inside = c.cmpge(IVec3::ZERO).all() && c.cmplt(self.size).all();
        inside.then(|| ((c.z * self.size.y + c.y) * self.size.x + c.x) as usize)
    }

    /// Share of the wind that reaches a place, 0 to 1.
    pub fn share(&self, p: Vec3, air: Vec3, own_radius: f32, bodies: &[PosedBody]) -> f32 {
        let Some(upwind) = (-air).try_normalize() else { return 1.0 };
        let step = 1.2 * self.cell;
        // Start outside of the wisp's own outline.
        let from = p + upwind * (own_radius + self.cell);
        let density: f32 = (0..STEPS).map(|k| self.sample(from + upwind * (step * k as f32))).sum();
        let length = step * (STEPS - 1) as f32;
        // Bodies are not in the grid: their edge would be as coarse as its cells.
        let lee = if bodies.iter().any(|b| b.blocks(from, upwind, length)) { LEE } else { 1.0 };
        lee * (-density * step).exp()
    }
}

fn weight(t: Vec3, at: IVec3) -> f32 {
    let pick = |t: f32, k: i32| if k == 1 { t } else { 1.0 - t };
    pick(t.x, at.x) * pick(t.y, at.y) * pick(t.z, at.z)
}

/// How much wind reaches every particle: measured at every other one, halfway between for the rest.
pub(super) fn measure_shelter(
    shadow: &WindShadow,
    strength: f32,
    rest: &HairRest,
    wisps: &mut [Wisp],
    bodies: &[PosedBody],
    air: &[Vec3],
) {
    let (n, samples) = (rest.count, rest.directions.len());
    wisps.par_iter_mut().zip(air.par_chunks(n)).with_min_len(16).for_each(|(wisp, air)| {
        wisp.shelter.resize(n, 1.0);
        let measured = |i: usize| i.is_multiple_of(2) || i + 1 == n;
        for i in (2..n).filter(|&i| measured(i)) {
            let radii = &wisp.radii[i * samples..(i + 1) * samples];
            let radius = radii.iter().sum::<f32>() / samples as f32;
            let share = shadow.share(wisp.positions[i], air[i], radius, bodies);
            wisp.shelter[i] = if strength == 1.0 { share } else { share.powf(strength) };
        }
        for i in (3..n).filter(|&i| !measured(i)) {
            wisp.shelter[i] = 0.5 * (wisp.shelter[i - 1] + wisp.shelter[i + 1]);
        }
    });
}
