//! Wind that hair and body shield: what stands upwind takes the wind out of what is behind it.

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::contact::PosedBody;
use super::rest::HairRest;
use super::state::Wisp;

/// Most cells along one side of the density grid.
const MAX_CELLS: f32 = 48.0;

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
        let samples = rest.directions.len();
        let volume = self.cell.powi(3);
        for wisp in wisps {
            let segment = rest.roots[wisp.root as usize].segment;
            for i in 1..wisp.positions.len() {
                let radii = &wisp.radii[i * samples..(i + 1) * samples];
                let radius = radii.iter().sum::<f32>() / samples as f32;
                let area = COVER * 2.0 * radius * segment * wisp.share.sqrt();
                self.splat(wisp.positions[i], area / volume);
            }
        }
    }

    fn splat(&mut self, p: Vec3, amount: f32) {
        let (cell, t) = self.place(p);
        for corner in 0..8 {
            let at = IVec3::new(corner & 1, corner >> 1 & 1, corner >> 2 & 1);
            if let Some(index) = self.index(cell + at) {
                self.density[index] += amount * weight(t, at);
            }
        }
    }

    fn sample(&self, p: Vec3) -> f32 {
        let (cell, t) = self.place(p);
        (0..8)
            .map(|corner| {
                let at = IVec3::new(corner & 1, corner >> 1 & 1, corner >> 2 & 1);
                self.index(cell + at).map_or(0.0, |i| self.density[i] * weight(t, at))
            })
            .sum()
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
        let start = own_radius + self.cell;
        let mut depth = 0.0;
        let mut lee = 1.0f32;
        for k in 0..STEPS {
            let at = p + upwind * (start + step * k as f32);
            depth += self.sample(at) * step;
            if lee == 1.0 && bodies.iter().any(|b| !b.is_clear(at, 0.0) && b.distance(at).0 < 0.0) {
                lee = LEE;
            }
        }
        lee * (-depth).exp()
    }
}

fn weight(t: Vec3, at: IVec3) -> f32 {
    let pick = |t: f32, k: i32| if k == 1 { t } else { 1.0 - t };
    pick(t.x, at.x) * pick(t.y, at.y) * pick(t.z, at.z)
}

/// Takes the wind out of the air at every particle that stands in a shadow.
pub(super) fn apply_shadow(
    shadow: &WindShadow,
    strength: f32,
    rest: &HairRest,
    wisps: &[Wisp],
    bodies: &[PosedBody],
    air: &mut [Vec3],
) {
    let (n, samples) = (rest.count, rest.directions.len());
    air.par_chunks_mut(n).zip(wisps.par_iter()).for_each(|(air, wisp)| {
        for i in 2..n {
            if air[i].length_squared() > 1.0e-6 {
                let radii = &wisp.radii[i * samples..(i + 1) * samples];
                let radius = radii.iter().sum::<f32>() / samples as f32;
                let share = shadow.share(wisp.positions[i], air[i], radius, bodies);
                air[i] *= share.powf(strength);
            }
        }
    });
}
