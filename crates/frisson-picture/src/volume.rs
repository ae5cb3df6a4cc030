//! Light inside a head of hair.
//!
//! Following a ray through thousands of strands for every shadow is slow and noisy. Instead the
//! strands are spread into a grid of extinction, and the optical depth towards each lamp is swept
//! through it once, slice by slice from the lit side:
//!
//! ```text
//!   lamp ↗     depth(cell) = depth(point one slice nearer to the lamp) + extinction × way
//!    ┌──┬──┐
//!    │  │ ↗│   a fibre of diameter d and length l in a cell of volume V, seen from a random
//!    │ •│  │   direction, adds (π/4) d l / V to the extinction
//!    └──┴──┘
//! ```

use glam::{UVec3, Vec3A};
use rayon::prelude::*;

use crate::environment::Environment;
use crate::shape::Segment;

/// Least extent of the grid [m]: strands all at one place are a cloud of a hundredth of a millimetre.
const LEAST_EXTENT: f32 = 1e-5;
/// Slope below which a ray runs along a side of the grid [cells a metre].
const LEAST_SLOPE: f32 = 1e-12;

/// What a white fibre passes on, how fast that comes with its colour, and the least that any takes away [-];
/// set by eye.
const PALE_PASSES: f32 = 0.8;
const PALENESS: f32 = 0.35;
const LEAST_THICKNESS: f32 = 0.15;

/// Cells along the longest side.
const RESOLUTION: f32 = 88.0;

/// Strands as a medium, with the light in it.
pub(crate) struct StrandVolume {
    grid: Grid,
    /// Optical depth of each cell towards each lamp.
    lamps: Vec<Vec<f32>>,
    /// Light of the dome that reaches each cell.
    ambient: Vec<Vec3A>,
}

struct Grid {
    origin: Vec3A,
    cell: f32,
    size: UVec3,
    extinction: Vec<f32>,
}

impl StrandVolume {
    /// Spreads strands of a mean colour and lets the light in.
    pub fn build(
        segments: impl Iterator<Item = Segment> + Clone,
        environment: &Environment,
        color: Vec3A,
    ) -> Self {
        let grid = Grid::build(segments);
        let lamps: Vec<Vec<f32>> =
            environment.lamps.par_iter().map(|lamp| grid.sweep(lamp.direction)).collect();
        let directions = around();
        let depths: Vec<Vec<f32>> = directions.par_iter().map(|&d| grid.sweep(d)).collect();
        let share = 1.0 / directions.len() as f32;
        let thickness = thickness(color);
        let ambient = (0..grid.extinction.len())
            .into_par_iter()
            .with_min_len(4096)
            .map(|i| {
                let arriving =
                    |k: usize| environment.dome(directions[k]) * (thickness * -depths[k][i]).exp();
                (0..directions.len()).map(arriving).sum::<Vec3A>() * share
            })
            .collect();
        Self { grid, lamps, ambient }
    }

    /// Optical depth from a point to a lamp, along a direction towards it.
    pub fn depth(&self, lamp: usize, point: Vec3A, direction: Vec3A) -> f32 {
        match self.grid.entry(point, direction) {
            Some(entry) => self.grid.sample(&self.lamps[lamp], entry),
            None => 0.0,
        }
    }

    /// Light of the dome at a point.
    pub fn ambient(&self, point: Vec3A) -> Vec3A {
        self.grid.sample(&self.ambient, self.grid.cells_of(point))
    }
}

/// How opaque a fibre of some colour is to light that arrives through many of them: pale fibres pass
/// most of it on.
pub(crate) fn thickness(color: Vec3A) -> Vec3A {
    (Vec3A::ONE - PALE_PASSES * color.max(Vec3A::ZERO).powf(PALENESS))
        .clamp(Vec3A::splat(LEAST_THICKNESS), Vec3A::ONE)
}

/// Directions spread over the sphere: faces and corners of a cube.
fn around() -> Vec<Vec3A> {
    let mut directions = Vec::new();
    for x in [-1.0, 0.0, 1.0] {
        for y in [-1.0, 0.0, 1.0] {
            for z in [-1.0f32, 0.0, 1.0] {
                let parts = [x, y, z].iter().filter(|v| **v != 0.0f32).count();
                if parts == 1 || parts == 3 {
                    directions.push(Vec3A::new(x, y, z).normalize());
                }
            }
        }
    }
    directions
}

impl Grid {
    fn build(segments: impl Iterator<Item = Segment> + Clone) -> Self {
        let (mut low, mut high) = (Vec3A::splat(f32::MAX), Vec3A::splat(f32::MIN));
        for s in segments.clone() {
            low = low.min(s.a.min(s.b));
            high = high.max(s.a.max(s.b));
        }
        let extent = (high - low).max(Vec3A::splat(LEAST_EXTENT));
        let cell = extent.max_element() / RESOLUTION;
        let size = (extent / cell).ceil().as_uvec3() + UVec3::splat(3);
        let count = (size.x * size.y * size.z) as usize;
        let mut grid = Self { origin: low - cell, cell, size, extinction: vec![0.0; count] };
        for s in segments {
            grid.deposit(&s);
        }
        grid
    }

    fn deposit(&mut self, s: &Segment) {
        let length = (s.b - s.a).length();
        let steps = (length / self.cell).ceil().max(1.0);
        let area = std::f32::consts::FRAC_PI_4 * (s.radius_a + s.radius_b) * length;
        let share = area / (steps * self.cell.powi(3));
        for step in 0..steps as u32 {
            let at = self.cells_of(s.a.lerp(s.b, (step as f32 + 0.5) / steps));
            let (base, f) = self.corner(at);
            for i in 0..8u32 {
                let bit = UVec3::new(i & 1, i >> 1 & 1, i >> 2);
                let side = |b: u32, f: f32| if b == 1 { f } else { 1.0 - f };
                let weight = side(bit.x, f.x) * side(bit.y, f.y) * side(bit.z, f.z);
                let index = self.index(base + bit);
                self.extinction[index] += share * weight;
            }
        }
    }

    /// Position in units of cells, from the centre of the first one.
    fn cells_of(&self, point: Vec3A) -> Vec3A {
        (point - self.origin) / self.cell - 0.5
    }

    fn index(&self, c: UVec3) -> usize {
        ((c.z * self.size.y + c.y) * self.size.x + c.x) as usize
    }

    /// Lowest of the eight cells around a place, and the place within them.
    fn corner(&self, at: Vec3A) -> (UVec3, Vec3A) {
        let limit = (self.size - UVec3::splat(2)).as_vec3a();
        let base = at.floor().clamp(Vec3A::ZERO, limit);
        (base.as_uvec3(), (at - base).clamp(Vec3A::ZERO, Vec3A::ONE))
    }

    /// Trilinear value at a place.
    fn sample<T>(&self, values: &[T], at: Vec3A) -> T
    where
        T: Copy + std::ops::Add<Output = T> + std::ops::Mul<f32, Output = T>,
    {
        let (base, f) = self.corner(at);
        let i = self.index(base);
        let (row, layer) = (self.size.x as usize, (self.size.x * self.size.y) as usize);
        let mix = |a: T, b: T, f: f32| a * (1.0 - f) + b * f;
        let line = |i: usize| mix(values[i], values[i + 1], f.x);
        let square = |i: usize| mix(line(i), line(i + row), f.y);
        mix(square(i), square(i + layer), f.z)
    }

    /// Where a ray from a point is first inside the grid, in cells; `None` if it never is.
    fn entry(&self, point: Vec3A, direction: Vec3A) -> Option<Vec3A> {
        let at = self.cells_of(point);
        let last = self.size.as_vec3a() - 1.0;
        if at.cmpge(Vec3A::ZERO).all() && at.cmple(last).all() {
            return Some(at);
        }
        let slope = direction / self.cell;
        let (mut near, mut far) = (0f32, f32::INFINITY);
        for axis in 0..3 {
            if slope[axis].abs() < LEAST_SLOPE {
                if at[axis] < 0.0 || at[axis] > last[axis] {
                    return None;
                }
                continue;
            }
            let (a, b) = (-at[axis] / slope[axis], (last[axis] - at[axis]) / slope[axis]);
            near = near.max(a.min(b));
            far = far.min(a.max(b));
        }
        (near <= far).then(|| at + slope * near)
    }

    /// Optical depth of every cell towards a direction.
    fn sweep(&self, direction: Vec3A) -> Vec<f32> {
        let size = self.size.to_array();
        let d = direction.to_array();
        let axis = (0..3).max_by(|&a, &b| d[a].abs().total_cmp(&d[b].abs())).unwrap_or(0);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let strides = [1usize, size[0] as usize, (size[0] * size[1]) as usize];
        let ahead = d[axis] > 0.0;
        let scale = 1.0 / d[axis].abs();
        let (du, dv) = (d[u] * scale, d[v] * scale);
        // By the trapezium rule: half of the way in each of the two cells.
        let way = 0.5 * scale * self.cell;
        let mut depth = vec![0.0; self.extinction.len()];
        let slices = size[axis] as usize;
        for step in 1..slices {
            let slice = if ahead { slices - 1 - step } else { step };
            let next = if ahead { slice + 1 } else { slice - 1 };
            for j in 0..size[v] as usize {
                for i in 0..size[u] as usize {
                    let here = slice * strides[axis] + i * strides[u] + j * strides[v];
                    let (x, y) = (i as f32 + du, j as f32 + dv);
                    // The light comes in through a side of the grid, where nothing has dimmed it.
                    if x < 0.0 || y < 0.0 || x > (size[u] - 1) as f32 || y > (size[v] - 1) as f32 {
                        continue;
                    }
                    let (bx, by) = (
                        (x as usize).min(size[u] as usize - 2),
                        (y as usize).min(size[v] as usize - 2),
                    );
                    let (fx, fy) = (x - bx as f32, y - by as f32);
                    let base = next * strides[axis] + bx * strides[u] + by * strides[v];
                    let flat = |values: &[f32]| {
                        let low = values[base] * (1.0 - fx) + values[base + strides[u]] * fx;
                        let up = base + strides[v];
                        let high = values[up] * (1.0 - fx) + values[up + strides[u]] * fx;
                        low * (1.0 - fy) + high * fy
                    };
                    let crossed = self.extinction[here] + flat(&self.extinction);
                    depth[here] = flat(&depth) + way * crossed;
                }
            }
        }
        depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Lamp;

    /// Fibres along X, evenly spread in a cube.
    fn cube(count: usize, radius: f32) -> Vec<Segment> {
        let mut segments = Vec::new();
        for j in 0..count {
            for k in 0..count {
                let at = |n: usize| (n as f32 + 0.5) / count as f32;
                let a = Vec3A::new(0.0, at(j), at(k));
                segments.push(Segment { a, b: a + Vec3A::X, radius_a: radius, radius_b: radius });
            }
        }
        segments
    }

    #[test]
    fn depth_grows_evenly_through_an_even_medium() {
        let segments = cube(90, 0.001);
        let environment = Environment {
            lamps: vec![Lamp { direction: Vec3A::Y, radius: 0.1, irradiance: Vec3A::ONE }],
            ..Environment::uniform(Vec3A::ONE)
        };
        let volume = StrandVolume::build(segments.iter().copied(), &environment, Vec3A::ZERO);
        // (π/4) d l per volume: 8100 fibres of diameter 2 mm.
        let extinction = std::f32::consts::FRAC_PI_4 * 8100.0 * 0.002;
        for y in [0.3f32, 0.5, 0.7] {
            let depth = volume.depth(0, Vec3A::new(0.5, y, 0.5), Vec3A::Y);
            let expected = extinction * (1.0 - y);
            assert!((depth - expected).abs() < 0.06 * extinction, "{depth} {expected}");
        }
        // From below, all of it; beside it, nothing.
        let below = volume.depth(0, Vec3A::new(0.5, -3.0, 0.5), Vec3A::Y);
        assert!((below - extinction).abs() < 0.06 * extinction, "{below} {extinction}");
        assert_eq!(volume.depth(0, Vec3A::new(3.0, -3.0, 0.5), Vec3A::Y), 0.0);
    }

    #[test]
    fn thin_air_lets_the_dome_through() {
        let environment = Environment::uniform(Vec3A::ONE);
        let volume = StrandVolume::build(cube(8, 1e-7).into_iter(), &environment, Vec3A::ZERO);
        assert!((volume.ambient(Vec3A::splat(0.5)) - Vec3A::ONE).length() < 1e-3);
    }
}
