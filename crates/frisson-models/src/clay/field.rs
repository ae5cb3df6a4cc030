//! Primitives joined by smooth unions and cuts, as one field for the iso-surface extraction.

use frisson::geometry::Bounds;
use frisson::geometry::isosurface::{Field, PointsSoa};
use glam::{Quat, Vec3};

use super::shapes::Shape;

/// Distance from a lens's centre below which its map is its slope there [m].
const AT_CENTER: f32 = 1e-6;
/// Room around the clay, so that the surface is closed inside of the box [m].
const ROOM: f32 = 0.01;

/// Blend widths within which a primitive counts [-]: past one it no longer moves the surface; the rest is room for
/// chains of blends.
const BLENDS_REACH: f32 = 2.5;

/// One primitive and what it means.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) shape: Shape,
    /// Width of the blend with what was there before [m].
    pub(crate) blend_width: f32,
    /// Takes away instead of adding.
    pub(crate) carve: bool,
    /// Joints that carry it: one, or a chain along which the weights pass from one to the next.
    pub(crate) joints: Vec<usize>,
    /// Index of its material.
    pub(crate) material: u16,
    /// Index of its uv chart.
    pub(crate) chart: usize,
}

/// What the next primitives get.
#[derive(Clone, Debug, Default)]
pub(crate) struct Brush {
    pub(crate) blend_width: f32,
    pub(crate) joints: Vec<usize>,
    pub(crate) material: u16,
    pub(crate) chart: usize,
}

/// Finer triangles around a point: the lattice is stretched there by `magnify`, over about `radius`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lens {
    pub(crate) center: Vec3,
    pub(crate) radius: f32,
    pub(crate) magnify: f32,
}

impl Lens {
    fn strength(&self) -> f32 {
        (1.0 - 1.0 / self.magnify) * self.radius
    }

    /// From lattice space to the world. The radial slope is `1/magnify` at the centre and tends to 1,
    /// so distances only shrink and the map is one to one.
    pub(crate) fn world_from_lattice(&self, q: Vec3) -> Vec3 {
        let out = q - self.center;
        let r = out.length();
        if r < AT_CENTER {
            return self.center + out / self.magnify;
        }
        self.center + out * ((r - self.strength() * (r / self.radius).atan()) / r)
    }
}

/// The body in the making.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clay {
    pub(crate) parts: Vec<Part>,
    pub(crate) brush: Brush,
    pub(crate) lens: Option<Lens>,
}

impl Clay {
    /// Chooses blend width and joint(s) for what follows.
    pub(crate) fn with(&mut self, blend_width: f32, joints: &[usize]) -> &mut Self {
        self.brush.blend_width = blend_width;
        self.brush.joints = joints.to_vec();
        self
    }

    /// Chooses material and chart for what follows.
    pub(crate) fn paint(&mut self, material: u16, chart: usize) -> &mut Self {
        self.brush.material = material;
        self.brush.chart = chart;
        self
    }

    fn push(&mut self, shape: Shape, carve: bool) -> &mut Self {
        let Brush { blend_width, joints, material, chart } = self.brush.clone();
        self.parts.push(Part { shape, blend_width, carve, joints, material, chart });
        self
    }

    /// Adds a round cone.
    pub(crate) fn cone(&mut self, a: Vec3, b: Vec3, ra: f32, rb: f32) -> &mut Self {
        self.push(Shape::RoundCone { a, b, ra, rb }, false)
    }

    /// Adds an ellipsoid.
    pub(crate) fn ellipsoid(&mut self, center: Vec3, radii: Vec3, turn: Quat) -> &mut Self {
        self.push(Shape::Ellipsoid { center, radii, turn }, false)
    }

    /// Adds a ball.
    pub(crate) fn ball(&mut self, center: Vec3, radius: f32) -> &mut Self {
        self.cone(center, center, radius, radius)
    }

    /// Takes away a round cone.
    pub(crate) fn carve_cone(&mut self, a: Vec3, b: Vec3, ra: f32, rb: f32) -> &mut Self {
        self.push(Shape::RoundCone { a, b, ra, rb }, true)
    }

    /// Takes away an ellipsoid.
    pub(crate) fn carve_ellipsoid(&mut self, center: Vec3, radii: Vec3, turn: Quat) -> &mut Self {
        self.push(Shape::Ellipsoid { center, radii, turn }, true)
    }

    /// Signed distance of the body made of some parts, negative inside [m].
    pub(crate) fn distance(&self, parts: &[u32], p: Vec3) -> f32 {
        let mut d = FAR;
        for &part in parts {
            let part = &self.parts[part as usize];
            let shape = part.shape.distance(p);
            d = if part.carve {
                // Taking away is a smooth maximum with the outside of the shape.
                -smooth_min(-d, shape, part.blend_width)
            } else {
                smooth_min(d, shape, part.blend_width)
            };
        }
        d
    }

    /// From lattice space to the world.
    pub(crate) fn world_from_lattice(&self, q: Vec3) -> Vec3 {
        self.lens.map_or(q, |lens| lens.world_from_lattice(q))
    }

    /// A box of lattice space that holds everything.
    pub(crate) fn lattice_bounds(&self) -> Bounds {
        let mut bounds = Bounds::EMPTY;
        // What is carved away makes nothing larger.
        for part in self.parts.iter().filter(|p| !p.carve) {
            let (center, radius) = part.shape.ball();
            let reach = radius + part.blend_width;
            bounds = bounds.including(center - reach).including(center + reach);
        }
        let shift = self.lens.map_or(0.0, |l| l.strength() * std::f32::consts::FRAC_PI_2);
        bounds.grown(shift + ROOM)
    }
}

/// Outside of everything [m].
const FAR: f32 = 1.0e3;

/// Minimum with the corner rounded over a width `k` (quadratic).
fn smooth_min(a: f32, b: f32, k: f32) -> f32 {
    let h = (k - (a - b).abs()).max(0.0);
    a.min(b) - if k > 0.0 { h * h / (4.0 * k) } else { 0.0 }
}

impl Field for Clay {
    fn part_count(&self) -> usize {
        self.parts.len()
    }

    fn gather(&self, parts: &[u32], bounds: &Bounds, out: &mut Vec<u32>) -> bool {
        // The lens only shrinks distances, so a ball around the box stays a ball around its image.
        let center = self.world_from_lattice(bounds.center());
        let reach = 0.5 * bounds.diagonal();
        for &part in parts {
            let shape = &self.parts[part as usize];
            if shape.shape.at_least(center) <= reach + BLENDS_REACH * shape.blend_width {
                out.push(part);
            }
        }
        let d = self.distance(parts, center);
        // The estimate of an ellipsoid's distance may be twice the distance: twice the reach is safe.
        d.abs() <= 2.0 * reach
    }

    fn values(&self, parts: &[u32], points: PointsSoa<'_>, out: &mut [f32]) {
        for (i, value) in out.iter_mut().enumerate() {
            *value = -self.distance(parts, self.world_from_lattice(points.get(i)));
        }
    }

    /// Four points at the corners of a tetrahedron: cheaper than six differences and a value.
    fn value_and_gradient(&self, parts: &[u32], p: Vec3, step: f32) -> (f32, Vec3) {
        let corners = [
            Vec3::new(1.0, -1.0, -1.0),
            Vec3::new(-1.0, -1.0, 1.0),
            Vec3::new(-1.0, 1.0, -1.0),
            Vec3::ONE,
        ];
        let (mut value, mut gradient) = (0.0, Vec3::ZERO);
        for corner in corners {
            let v = -self.distance(parts, self.world_from_lattice(p + step * corner));
            value += 0.25 * v;
            gradient += v * corner;
        }
        (value, gradient / (4.0 * step))
    }
}
