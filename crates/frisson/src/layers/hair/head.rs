//! The size, place and bearing of a head, read from its scalp.

use glam::{DMat4, DVec3, DVec4, Vec3};

use crate::geometry::Mesh;

/// Radius of the smallest head [m]: smaller ones are noise.
const SMALLEST: f32 = 1.0e-3;

/// Largest radius of a head in widths of its scalp [-]: a scalp from ear to ear has a half, one that is no more than a
/// cap of thirty degrees one. What is flatter says nothing of the ball that it lies on.
const FLATTEST: f32 = 1.0;

/// A head as a ball that looks somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Head {
    /// Middle of the ball [m].
    pub center: Vec3,
    /// Its radius [m].
    pub radius: f32,
    pub up: Vec3,
    pub front: Vec3,
}

impl Head {
    /// Reads a head from the part of a mesh that hair grows on. The scalp covers a head's top and back:
    /// the face is on the other side.
    pub fn of(mesh: &Mesh, weights: &[f32], up: Vec3) -> Self {
        let mut fit = BallFit::new();
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (mut facing, mut area) = (Vec3::ZERO, 0.0);
        for corners in &mesh.topology.triangles {
            // The product: triangles at the hairline, of which a corner is bare, count little.
            let share: f32 = corners.iter().map(|&v| weights[v as usize]).product();
            let [a, b, c] = corners.map(|v| mesh.positions[v as usize]);
            let normal = 0.5 * share * (b - a).cross(c - a);
            fit.add((a + b + c) / 3.0, normal.length());
            facing += normal;
            area += normal.length();
            if share > 0.0 {
                (low, high) = (low.min(a.min(b).min(c)), high.max(a.max(b).max(c)));
            }
        }
        let (center, radius) = fit.ball((high - low).max_element(), up);
        let level = facing - up * up.dot(facing);
        // A scalp that looks straight up says nothing about the face: characters look along +z.
        let ahead = Vec3::Z - up * up.dot(Vec3::Z);
        let front = if level.length() > 0.05 * area { -level } else { ahead };
        let front = front.normalize_or(super::rest::perpendicular(up));
        Self { center, radius, up, front }
    }

    /// A point given in radii: to the right, up, to the front.
    pub fn point(&self, right: f32, up: f32, front: f32) -> [f32; 3] {
        (self.center + self.radius * self.direction(right, up, front)).to_array()
    }

    /// A direction given the same way.
    pub fn direction(&self, right: f32, up: f32, front: f32) -> Vec3 {
        right * self.right() + up * self.up + front * self.front
    }

    fn right(&self) -> Vec3 {
        self.up.cross(self.front)
    }
}

/// The ball that points lie nearest to: `|p|² = 2 c . p + (r² - |c|²)`, by least squares.
struct BallFit {
    matrix: DMat4,
    right: DVec4,
    middle: DVec3,
    weight: f64,
}

impl BallFit {
    fn new() -> Self {
        Self { matrix: DMat4::ZERO, right: DVec4::ZERO, middle: DVec3::ZERO, weight: 0.0 }
    }

    fn add(&mut self, p: Vec3, weight: f32) {
        let (p, weight) = (p.as_dvec3(), f64::from(weight));
        let row = (2.0 * p).extend(1.0);
        let scaled = row * weight;
        self.matrix +=
            DMat4::from_cols(row * scaled.x, row * scaled.y, row * scaled.z, row * scaled.w);
        self.right += scaled * p.length_squared();
        self.middle += weight * p;
        self.weight += weight;
    }

    /// Centre and radius. A flat scalp, as that of a head like a box, has no ball, or one many times as large as the head:
    /// then one that is as wide as the scalp, below its middle.
    fn ball(&self, wide: f32, up: Vec3) -> (Vec3, f32) {
        let middle = self.middle / self.weight.max(1.0e-12);
        let solved = self.matrix.inverse() * self.right;
        let center = solved.truncate();
        let radius = (solved.w + center.length_squared()).max(0.0).sqrt();
        let (least, most) = (f64::from(SMALLEST), f64::from(FLATTEST * wide));
        let sound = solved.is_finite() && radius > least && radius < most;
        if sound && center.distance(middle) < 2.0 * radius {
            return (center.as_vec3(), radius as f32);
        }
        // Without a scalp of any size nothing grows, whatever is said here.
        let radius = if wide.is_finite() { (0.5 * wide).max(SMALLEST) } else { SMALLEST };
        (middle.as_vec3() - radius * up, radius)
    }
}
