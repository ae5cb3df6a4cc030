//! How two sections overlap: the points of each that are inside the other, and how the relative
//! velocity of the two depends on their particles and samples.

use glam::{Vec2, Vec3, Vec4};

use super::sections::{InsidePoint, MAX_SAMPLES, NodeShape, closest_on_segments, envelope_radius};
use super::shapes::Shapes;

/// Sums over the points of two sections that are inside one another.
#[derive(Default)]
pub(super) struct Overlap {
    /// Sum of the points' weights; shares below are to be divided by it.
    pub weight: f32,
    /// Shares of the four nodes (first section's two, second's two) in the relative velocity.
    pub node_shares: [f32; 4],
    /// Shares of their samples.
    pub sample_shares: [[f32; MAX_SAMPLES]; 4],
    /// From the first section towards the second.
    pub normal: Vec3,
    /// Density of hair relative to that at rest, times the share of both that overlaps [-].
    pub density: f32,
}

/// Two sections whose axes come closer than their widest radii.
pub(super) struct Near {
    pub sections: [usize; 2],
    /// Where on each axis, 0 to 1.
    at: [f32; 2],
    /// From the first to the second there [m].
    gap: Vec3,
}

impl Near {
    /// The sections `a` and `b`, unless they are too far apart to overlap.
    pub fn find(shapes: &Shapes, a: usize, b: usize) -> Option<Self> {
        let (sa, sb) = (&shapes.sections[a], &shapes.sections[b]);
        let axes = [sa, sb].map(|s| [s.origin, s.origin + s.length * s.along]);
        let (s, t) = closest_on_segments(axes[0], axes[1]);
        let gap = axes[1][0].lerp(axes[1][1], t) - axes[0][0].lerp(axes[0][1], s);
        let reach = sa.widest + sb.widest;
        // The cheapest test first: most pairs whose boxes meet end here.
        (gap.length_squared() <= reach * reach).then_some(Self {
            sections: [a, b],
            at: [s, t],
            gap,
        })
    }

    /// Where on each axis they are nearest, 0 to 1.
    pub fn at(&self) -> [f32; 2] {
        self.at
    }

    /// The first section's two nodes, then the second's.
    pub fn nodes<'a>(&self, shapes: &'a Shapes) -> [&'a NodeShape; 4] {
        let [a, b] = self.sections.map(|s| shapes.first_node(s));
        [a, a + 1, b, b + 1].map(|k| &shapes.nodes[k])
    }
}

impl Overlap {
    /// Shares of a group of four samples of a node.
    pub fn samples(&self, node: usize, group: usize) -> Vec4 {
        Vec4::from_slice(&self.sample_shares[node][4 * group..4 * group + 4])
    }

    /// The volume's own velocity at a point inside it, by the weights of what defines it there.
    fn add_volume(&mut self, inside: &InsidePoint, slot: usize, samples: usize, signed: f32) {
        self.weight += signed.abs();
        self.normal += signed * inside.normal;
        for k in 0..2 {
            let share = if k == 0 { 1.0 - inside.along } else { inside.along };
            // A point on the rim moves with the samples, one on the axis with the particles.
            let envelope = share * inside.outward;
            self.node_shares[slot + k] -= signed * (share - envelope);
            let (below, t) = neighbours(inside.directions[k], samples);
            self.sample_shares[slot + k][below] -= signed * envelope * (1.0 - t);
            self.sample_shares[slot + k][(below + 1) % samples] -= signed * envelope * t;
        }
    }

    /// Adds the points of the section `points` that are inside the section `volume`. `slot` is where
    /// the points' shares are; `sign` makes all velocities second minus first; `distance` is that of their axes [m].
    fn add_points(
        &mut self,
        shapes: &Shapes,
        volume: usize,
        points: usize,
        (slot, sign): (usize, f32),
        distance: f32,
    ) {
        let (s, groups, other) = (shapes.samples, shapes.groups(), 2 - slot);
        let shape = &shapes.sections[volume];
        let first = shapes.first_node(volume);
        let ends = [&shapes.nodes[first], &shapes.nodes[first + 1]];
        let node = shapes.first_node(points);
        // Particles lie on the axis: where that stays out, so do they.
        let centers = if distance > shape.widest { None } else { Some(&shapes.centers[points]) };
        if let Some(inside) = centers.and_then(|centers| shape.holds(ends, s, centers)) {
            for k in (0..2).filter(|k| inside.bits >> k & 1 == 1) {
                self.node_shares[slot + k] += sign;
                self.add_volume(&inside.point(k, ends[0].across), other, s, sign);
            }
        }
        let per_sample = 1.0 / s as f32;
        for k in 0..2 {
            for g in 0..groups {
                let lanes = &shapes.points[(node + k) * groups + g];
                let Some(inside) = shape.holds(ends, s, lanes) else { continue };
                let mut bits = inside.bits;
                while bits != 0 {
                    let lane = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    self.sample_shares[slot + k][4 * g + lane] += sign * per_sample;
                    let point = inside.point(lane, ends[0].across);
                    self.add_volume(&point, other, s, sign * per_sample);
                }
            }
        }
    }
}

/// The overlap of two sections, if there is one.
pub(super) fn between(shapes: &Shapes, near: &Near) -> Option<Overlap> {
    let Near { sections: [a, b], at: [s, t], gap } = *near;
    let nodes = near.nodes(shapes);
    let mut sum = Overlap::default();
    let distance = gap.length();
    sum.add_points(shapes, a, b, (2, 1.0), distance);
    sum.add_points(shapes, b, a, (0, -1.0), distance);
    let direction = if distance > 1.0e-6 {
        gap / distance
    } else {
        let across = shapes.sections[a].along.cross(shapes.sections[b].along);
        across.normalize_or(Vec3::Y)
    };
    let samples = shapes.samples;
    // Points alone miss thin sections that cross between their planes: so the axes count as one more point.
    let ra = radius_towards([nodes[0], nodes[1]], samples, direction, s);
    let rb = radius_towards([nodes[2], nodes[3]], samples, -direction, t);
    if distance < ra + rb {
        sum.weight += 1.0;
        sum.normal += direction;
        for (k, share) in [s - 1.0, -s, 1.0 - t, t].into_iter().enumerate() {
            sum.node_shares[k] += share;
        }
    }
    if sum.weight <= 0.0 {
        return None;
    }
    // Two particles and two rings of samples on either side: all of them inside is a full overlap.
    let overlap = (sum.weight / 8.0).min(1.0);
    sum.density = overlap * 0.25 * nodes.iter().map(|n| n.density).sum::<f32>();
    sum.normal = sum.normal.normalize_or(direction);
    Some(sum)
}

/// Radius of a section at a fraction of its axis towards a world direction.
fn radius_towards(ends: [&NodeShape; 2], samples: usize, direction: Vec3, fraction: f32) -> f32 {
    let at = |end: &NodeShape| {
        let flat = Vec2::new(direction.dot(end.across), direction.dot(end.second));
        let flat = if flat == Vec2::ZERO { Vec2::X } else { flat };
        envelope_radius(&end.radii[..samples], flat)
    };
    (1.0 - fraction) * at(ends[0]) + fraction * at(ends[1])
}

/// The sample before a direction of the plane, and the share of the one after it. Four samples share
/// by the squares of the direction's coordinates, which needs no angle; others by the angle.
fn neighbours(direction: Vec2, samples: usize) -> (usize, f32) {
    if samples == 4 {
        let total = direction.length_squared().max(f32::MIN_POSITIVE);
        let (x, y) = (direction.x, direction.y);
        return match (x >= 0.0, y >= 0.0) {
            (true, true) => (0, y * y / total),
            (false, true) => (1, x * x / total),
            (false, false) => (2, y * y / total),
            (true, false) => (3, x * x / total),
        };
    }
    let turn = direction.y.atan2(direction.x) / std::f32::consts::TAU;
    let at = (turn - turn.floor()) * samples as f32;
    let below = (at as usize).min(samples - 1);
    (below, at - below as f32)
}
