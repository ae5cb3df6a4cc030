//! Which way quadrilaterals of a surface are cut into triangles once its vertices have moved.

use glam::Vec3;

use super::meshes::SurfaceMeshes;
use crate::geometry::isosurface::quad_of;

/// Cosine of the angle between its two triangles below which a quadrilateral counts as folded [-].
const FOLDED: f32 = 0.2;

/// Whether to cut a quadrilateral from its first to its third corner. Depends on the places alone, not on which corner
/// comes first or which way round they go: two bodies cut what they share alike.
fn cut_first([a, b, c, d]: [Vec3; 4]) -> bool {
    let flat = |p: Vec3, q: Vec3, r: Vec3, s: Vec3| {
        let (n, m) = ((q - p).cross(r - p), (r - p).cross(s - p));
        let cosine = n.dot(m) / (n.length() * m.length()).max(f32::MIN_POSITIVE);
        cosine.min(FOLDED)
    };
    let (first, second) = (flat(a, b, c, d), flat(b, c, d, a));
    if first != second {
        return first > second;
    }
    let (first, second) = (a.distance_squared(c), b.distance_squared(d));
    if first != second {
        return first < second;
    }
    let key = |p: Vec3, q: Vec3| {
        let (p, q) = (p.to_array(), q.to_array());
        if p < q { (p, q) } else { (q, p) }
    };
    key(a, c) < key(b, d)
}

impl SurfaceMeshes {
    /// Cuts every quadrilateral with a vertex that has moved anew: along the shorter diagonal, or the one that does not
    /// fold it. The extraction writes two triangles after each other for each.
    pub(super) fn turn_diagonals(&mut self) {
        for (label, surface) in self.surfaces.iter_mut().enumerate() {
            let before = &self.tangle.before[self.firsts[label] as usize..];
            let positions = &surface.positions;
            // What the extraction has put there is cut well already.
            let moved = |v: &u32| positions[*v as usize] != before[*v as usize];
            for pair in surface.triangles.chunks_exact_mut(2) {
                let [s, t] = [pair[0], pair[1]];
                if !s.iter().chain(&t).any(moved) {
                    continue;
                }
                let quad = quad_of([s, t]);
                let [a, b, c, d] = quad;
                let first = cut_first(quad.map(|v| positions[v as usize]));
                (pair[0], pair[1]) =
                    if first { ([a, b, c], [a, c, d]) } else { ([a, b, d], [b, c, d]) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_cut_alike_and_never_across_a_dent() {
        let at = |x: f32, y: f32| Vec3::new(x, y, 0.0);
        // A dart: only one way lies within it.
        let dart = [at(0.0, 0.0), at(2.0, -1.0), at(0.5, 0.0), at(2.0, 1.0)];
        assert!(cut_first(dart));
        let [a, b, c, d] = dart;
        assert!(!cut_first([b, c, d, a]));
        // A square, where both are as long.
        let square = [at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)];
        for quad in [square, [a, b, c, d]] {
            let [a, b, c, d] = quad;
            let cut = cut_first(quad);
            assert_eq!(cut_first([d, c, b, a]), !cut);
            assert_eq!(cut_first([c, d, a, b]), cut);
        }
    }
}
