//! Geometry of contacts of the cloth with itself: closest places, and how two places are moved apart.

use crate::tolerances::cloth as limits;
use glam::DVec3;

/// Closest place of a triangle to a point: weights of the corners.
pub fn closest_on_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return [1.0 - t, t, 0.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return [1.0 - t, 0.0, t];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - t, t];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}

/// The place that weights of a triangle's corners stand for.
pub fn point_at(x: [DVec3; 3], w: [f64; 3]) -> DVec3 {
    x[0] * w[0] + x[1] * w[1] + x[2] * w[2]
}

/// Two segments that pass each other between their ends: where they are closest, as shares of their
/// lengths, and their common normal `e1 x e2`, not unit. `None` at the ends, where nodes meet
/// triangles, and for segments that are nearly parallel, whose normal may turn over.
pub fn passing([a0, a1]: [DVec3; 2], [b0, b1]: [DVec3; 2]) -> Option<(f64, f64, DVec3)> {
    let (e1, e2, r) = (a1 - a0, b1 - b0, a0 - b0);
    let normal = e1.cross(e2);
    let (a, b, e) = (e1.length_squared(), e1.dot(e2), e2.length_squared());
    let determinant = normal.length_squared();
    if determinant <= LEAST_SINE_SQ * a * e {
        return None;
    }
    let (c, f) = (e1.dot(r), e2.dot(r));
    let s = (b * f - c * e) / determinant;
    let t = (a * f - b * c) / determinant;
    let within = |v: f64| v > 0.0 && v < 1.0;
    (within(s) && within(t)).then_some((s, t, normal))
}

/// Squared sine of the least angle between segments that count as passing each other.
const LEAST_SINE_SQ: f64 = 0.01;

/// Where a segment pierces a triangle: the share of its length, and the weights of the corners.
pub fn pierce([a, b]: [DVec3; 2], [x, y, z]: [DVec3; 3]) -> Option<(f64, [f64; 3])> {
    let normal = (y - x).cross(z - x);
    let (da, db) = ((a - x).dot(normal), (b - x).dot(normal));
    if da * db >= 0.0 {
        return None;
    }
    let s = da / (da - db);
    let p = a + (b - a) * s;
    let area = normal.length_squared();
    let part = |u: DVec3, v: DVec3| (u - p).cross(v - p).dot(normal) / area;
    let weights = [part(y, z), part(z, x), part(x, y)];
    weights.iter().all(|w| *w > 0.0).then_some((s, weights))
}

/// A node that takes part in contacts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// Where it is [m].
    pub now: DVec3,
    /// Where it was before the small step [m].
    pub old: DVec3,
    /// Inverse mass, 0 when held [1/kg].
    pub inverse_mass: f64,
    /// How many times as thick as the cloth it is [-].
    pub band: f64,
}

/// Four nodes that stand for two places of the cloth, with their weights: those of the one are positive and sum up
/// to 1, those of the other negative.
pub type Parts = ([u32; 4], [f64; 4]);

/// What moves places apart.
#[derive(Clone, Copy)]
pub struct Separation {
    /// Distance that layers keep [m].
    pub thickness: f64,
    /// Friction coefficient [-].
    pub friction: f64,
    /// How far a pair may be moved apart beyond stopping its approach [m].
    pub recovery: f64,
    /// Whether the cloth is as thick everywhere.
    pub is_even: bool,
}

impl Separation {
    /// Brings two places that are `distance` apart along a direction up to the thickness, where they are in contact.
    /// A contact does not bounce: the correction moves the cloth without giving it speed, and only the speed of
    /// approach is taken away.
    pub fn part(
        &self,
        (at, weights): Parts,
        (direction, distance): (DVec3, f64),
        places: &mut [Place],
    ) {
        let nodes = at.map(|p| places[p as usize]);
        let both = || nodes.iter().zip(weights);
        let band = if self.is_even {
            1.0
        } else {
            let all: f64 = weights.iter().map(|share| share.abs()).sum();
            both().map(|(node, share)| node.band * share.abs()).sum::<f64>() / all
        };
        let thickness = band * self.thickness;
        // Farther behind each other, they belong elsewhere.
        let is_contact = distance < thickness && distance >= -limits::SELF_DEPTH * thickness;
        if !is_contact {
            return;
        }
        let total: f64 = both().map(|(node, share)| share * share * node.inverse_mass).sum();
        // All four held: pins may be anywhere.
        if total <= 0.0 {
            return;
        }
        let relative: DVec3 = both().map(|(node, share)| (node.now - node.old) * share).sum();
        let approach = relative.dot(direction).min(0.0);
        // Squeezed cloth is brought apart calmly.
        let lift = (thickness - distance).min(self.recovery - approach);
        let tangent = relative - relative.dot(direction) * direction;
        // Coulomb: as much as was stopped across, at most, is taken away along.
        let grip = self.friction * -approach / tangent.length().max(1e-30);
        // What the relative motion of this step is changed by.
        let stop = -approach * direction - tangent * grip.min(1.0);
        let push = direction * (lift / total);
        let slow = stop / total;
        for (place, share) in at.into_iter().zip(weights) {
            let node = &mut places[place as usize];
            let share = share * node.inverse_mass;
            node.now += push * share;
            node.old += (push - slow) * share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(i: u64, k: u64) -> DVec3 {
        let r = |j| 1.5 * crate::math::random::signed(5, i, 3 * k + j);
        DVec3::new(r(0), r(1), r(2))
    }

    #[test]
    fn closest_place_agrees_with_the_geometry_module() {
        let triangle = [DVec3::ZERO, DVec3::new(1.0, 0.2, 0.0), DVec3::new(0.3, 0.0, 1.0)];
        for i in 0..300u64 {
            let p = random(i, 0);
            let w = closest_on_triangle(p, triangle);
            let (q, _) =
                crate::geometry::closest_on_triangle(p.as_vec3(), triangle.map(|v| v.as_vec3()));
            assert!((point_at(triangle, w).as_vec3() - q).length() < 1e-5, "{p}");
        }
    }

    #[test]
    fn passing_segments_are_closest_square_to_both() {
        let mut found = 0;
        for i in 0..300u64 {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| random(i, k));
            let Some((s, t, normal)) = passing([a, b], [c, d]) else { continue };
            found += 1;
            let between = a.lerp(b, s) - c.lerp(d, t);
            assert!(between.cross(normal).length() < 1e-9 * normal.length().max(1.0));
        }
        assert!(found > 20, "{found}");
        let line = [DVec3::ZERO, DVec3::X];
        assert!(passing(line, line.map(|p| p + DVec3::Y)).is_none(), "parallel");
    }

    #[test]
    fn a_segment_pierces_a_triangle_where_both_are() {
        let mut found = 0;
        for i in 0..300u64 {
            let [a, b, x, y, z] = [0, 1, 2, 3, 4].map(|k| random(i, k));
            let Some((s, w)) = pierce([a, b], [x, y, z]) else { continue };
            found += 1;
            assert!((a.lerp(b, s) - point_at([x, y, z], w)).length() < 1e-9);
            assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
        assert!(found > 10, "{found}");
    }
}
