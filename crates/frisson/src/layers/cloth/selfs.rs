//! Contact of the cloth with itself: node against triangle, on the side where it was.
//!
//! Every other tick the tree finds the pairs that may come within the thickness. A pair that was near
//! before keeps its side, so that a node pressed through by force is brought back to where it came
//! from. Contacts do not bounce: a correction moves the cloth apart without giving it speed, and
//! only the speed of approach is taken away.

use glam::DVec3;

use super::rest::ClothRest;
use super::state::NearPair;
use super::tree::PatchTree;
use crate::tolerances::cloth as limits;

/// Contacts of one tick.
#[derive(Default)]
pub struct SelfContacts {
    tree: Option<PatchTree>,
    /// A triangle that owns each node: only its owner brings a node to a test.
    owner: Vec<u32>,
    rest_positions: Vec<DVec3>,
    found: Vec<Vec<NearPair>>,
    pairs: Vec<NearPair>,
    thickness: f64,
    friction: f64,
}

/// Closest place of a triangle to a point: weights of the corners.
fn closest(p: DVec3, [a, b, c]: [DVec3; 3]) -> [f64; 3] {
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

fn blend(x: [DVec3; 3], w: [f64; 3]) -> DVec3 {
    x[0] * w[0] + x[1] * w[1] + x[2] * w[2]
}

impl SelfContacts {
    /// Prepares the search.
    pub fn new(rest: &ClothRest, positions: &[DVec3], thickness: f64, friction: f64) -> Self {
        let mut owner = vec![u32::MAX; rest.node_count()];
        for (t, corners) in rest.triangles.iter().enumerate().rev() {
            corners.iter().for_each(|&n| owner[n as usize] = t as u32);
        }
        Self {
            tree: Some(PatchTree::build(&rest.triangles, positions)),
            owner,
            rest_positions: positions.to_vec(),
            thickness,
            friction,
            ..Self::default()
        }
    }

    /// Takes back the pairs of the last search.
    pub fn restore(&mut self, near: &[NearPair]) {
        self.pairs.clear();
        self.pairs.extend_from_slice(near);
    }

    /// Finds the pairs that may touch within `dt`; `near` holds the last tick's pairs and their
    /// sides, and is brought up to date.
    pub fn find(
        &mut self,
        rest: &ClothRest,
        positions: &[DVec3],
        velocities: &[DVec3],
        dt: f64,
        near: &mut Vec<NearPair>,
    ) {
        let Some(mut tree) = self.tree.take() else { return };
        tree.refit(&rest.triangles, positions, velocities);
        self.found.iter_mut().for_each(Vec::clear);
        let reach = self.thickness * limits::SELF_REACH;
        let mut found = std::mem::take(&mut self.found);
        let this = &*self;
        let look = |out: &mut Vec<NearPair>, s: u32, t: u32| {
            for (from, to) in [(s, t), (t, s)] {
                for &node in &rest.triangles[from as usize] {
                    if this.owner[node as usize] == from {
                        this.look(rest, positions, velocities, (dt, reach), node, to, out);
                    }
                }
            }
        };
        tree.pairs(reach as f32, dt as f32, &mut found, Vec::new, look);
        self.pairs.clear();
        found.iter().for_each(|f| self.pairs.extend_from_slice(f));
        self.found = found;
        self.tree = Some(tree);
        self.pairs.sort_unstable_by_key(|p| (p.node, p.triangle));
        self.pairs.dedup_by_key(|p| (p.node, p.triangle));
        keep_sides(&mut self.pairs, near);
        near.clear();
        near.extend_from_slice(&self.pairs);
    }

    fn look(
        &self,
        rest: &ClothRest,
        positions: &[DVec3],
        velocities: &[DVec3],
        (dt, reach): (f64, f64),
        node: u32,
        triangle: u32,
        out: &mut Vec<NearPair>,
    ) {
        let corners = rest.triangles[triangle as usize];
        if corners.contains(&node) {
            return;
        }
        let at = |n: u32| positions[n as usize];
        let (p, x) = (at(node), corners.map(at));
        let w = closest(p, x);
        let away = p - blend(x, w);
        let speed = velocities[node as usize] - blend(corners.map(|n| velocities[n as usize]), w);
        let distance = away.length();
        let approach = -speed.dot(away) / distance.max(f64::MIN_POSITIVE);
        if distance > reach + approach.max(0.0) * dt {
            return;
        }
        // Cloth that is as near at rest (the next ring, when it is thick) is not in contact.
        let flat = self.rest_positions[node as usize];
        let home = corners.map(|n| self.rest_positions[n as usize]);
        let apart = flat.distance(blend(home, closest(flat, home)));
        if apart < limits::SELF_NEIGHBOURS * self.thickness {
            return;
        }
        let normal = (x[1] - x[0]).cross(x[2] - x[0]);
        let side = if away.dot(normal) >= 0.0 { 1 } else { -1 };
        out.push(NearPair { node, triangle, side });
    }

    /// Solves all contacts once, one after the other; `recovery` is how far a pair may be moved apart
    /// beyond stopping its approach [m].
    pub fn solve(
        &mut self,
        rest: &ClothRest,
        inverse_mass: &[f64],
        recovery: f64,
        previous: &mut [DVec3],
        positions: &mut [DVec3],
    ) {
        for pair in &self.pairs {
            let corners = rest.triangles[pair.triangle as usize].map(|n| n as usize);
            let node = pair.node as usize;
            let x = corners.map(|n| positions[n]);
            let w = closest(positions[node], x);
            let away = positions[node] - blend(x, w);
            let normal = f64::from(pair.side) * (x[1] - x[0]).cross(x[2] - x[0]);
            let Some(normal) = normal.try_normalize() else { continue };
            let inside = w.iter().all(|w| *w > 0.0);
            let height = away.dot(normal);
            // Beside the triangle another one answers, unless the node is close to the rim.
            let (direction, distance) = if inside {
                (normal, height)
            } else if height > 0.0 {
                (away.normalize_or(normal), away.length())
            } else {
                continue;
            };
            if distance >= self.thickness || distance < -limits::SELF_DEPTH * self.thickness {
                continue;
            }
            let inverse = corners.map(|n| inverse_mass[n]);
            let total = inverse_mass[node] + (0..3).map(|k| w[k] * w[k] * inverse[k]).sum::<f64>();
            if total <= 0.0 {
                continue;
            }
            let moved = blend(corners.map(|n| positions[n] - previous[n]), w);
            let relative = (positions[node] - previous[node]) - moved;
            let approach = relative.dot(direction).min(0.0);
            // Tangled or squeezed cloth is brought apart calmly.
            let lift = (self.thickness - distance).min(recovery - approach);
            let tangent = relative - relative.dot(direction) * direction;
            let grip = self.friction * -approach / tangent.length().max(1e-30);
            // What the relative motion of this step is changed by.
            let stop = -approach * direction - tangent * grip.min(1.0);
            let push = direction * (lift / total);
            let slow = stop / total;
            positions[node] += push * inverse_mass[node];
            previous[node] += (push - slow) * inverse_mass[node];
            for k in 0..3 {
                let share = w[k] * inverse[k];
                positions[corners[k]] -= push * share;
                previous[corners[k]] -= (push - slow) * share;
            }
        }
    }
}

/// Gives pairs that were near before the side they had. Both lists are sorted.
fn keep_sides(pairs: &mut [NearPair], before: &[NearPair]) {
    let mut old = before.iter().peekable();
    for pair in pairs {
        let key = (pair.node, pair.triangle);
        while old.next_if(|o| (o.node, o.triangle) < key).is_some() {}
        if let Some(o) = old.peek()
            && (o.node, o.triangle) == key
        {
            pair.side = o.side;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_remembered_over_a_merge() {
        let pair = |node, triangle, side| NearPair { node, triangle, side };
        let mut now = [pair(1, 2, 1), pair(1, 5, 1), pair(3, 0, -1)];
        keep_sides(&mut now, &[pair(0, 9, -1), pair(1, 5, -1), pair(3, 0, 1), pair(4, 0, 1)]);
        assert_eq!(now.map(|p| p.side), [1, -1, 1]);
    }

    #[test]
    fn closest_place_agrees_with_the_geometry_module() {
        let triangle = [DVec3::ZERO, DVec3::new(1.0, 0.2, 0.0), DVec3::new(0.3, 0.0, 1.0)];
        for i in 0..300u64 {
            let r = |k| 1.5 * crate::math::random::signed(5, i, k);
            let p = DVec3::new(r(0), r(1), r(2));
            let w = closest(p, triangle);
            let (q, _) =
                crate::geometry::closest_on_triangle(p.as_vec3(), triangle.map(|v| v.as_vec3()));
            assert!((blend(triangle, w).as_vec3() - q).length() < 1e-5, "{p}");
        }
    }
}
