//! The skin that coats are fitted to: all meshes of an actor as one surface, places spread evenly over
//! it, and what is inside.
//!
//! Characters come in many pieces: shells open at the neck, sleeves stuck into a trunk, capes of one
//! sheet. So a place is inside by the winding number, which needs no closed surface (A. Jacobson,
//! L. Kavan, O. Sorkine-Hornung, *Robust inside-outside segmentation using generalized winding
//! numbers*, 2013).

use std::collections::BTreeMap;

use glam::{DVec3, Vec3};

use crate::geometry::{Bounds, Mesh, Topology, TriangleBvh};
use crate::stage::SurfaceMotion;

/// A place on the skin.
#[derive(Clone, Debug)]
pub struct SkinPoint {
    /// Where [m].
    pub at: DVec3,
    /// Inward normal there.
    pub inward: DVec3,
    /// The nodes that move it.
    pub moved_by: Hold,
}

/// Nodes that move a place together, with weights that sum to 1; the strongest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hold(Vec<(usize, f64)>);

impl Hold {
    /// By one node.
    #[must_use]
    pub fn by(node: usize) -> Self {
        Self(vec![(node, 1.0)])
    }

    /// The weighted mean of some; by node 0 if all weigh nothing.
    #[must_use]
    pub fn mean<'a>(holds: impl Iterator<Item = (&'a Hold, f64)>) -> Self {
        let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
        for (hold, weight) in holds {
            for (node, share) in &hold.0 {
                *sums.entry(*node).or_default() += weight * share;
            }
        }
        let mut nodes: Vec<(usize, f64)> = sums.into_iter().filter(|s| s.1 > 0.0).collect();
        // Stable over a sorted map: of two as strong the lower node comes first.
        nodes.sort_by(|a, b| b.1.total_cmp(&a.1));
        nodes.truncate(MOST_NODES);
        let sum: f64 = nodes.iter().map(|n| n.1).sum();
        nodes.iter_mut().for_each(|n| n.1 /= sum);
        if nodes.is_empty() { Self::by(0) } else { Self(nodes) }
    }

    /// The node that moves it most.
    #[must_use]
    pub fn strongest(&self) -> usize {
        self.0[0].0
    }

    /// Nodes and weights.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.0.iter().copied()
    }
}

/// Nodes that move one ball: as many as engines allow a vertex.
const MOST_NODES: usize = 4;

/// Distance from a ball's centre up to which skin is around it, in radii [-].
const AROUND: f64 = 1.25;
/// Parts smaller than this share of the mesh's diagonal that touch a larger one are set into it: eyes,
/// buttons. Fingers are longer.
const SET_IN: f32 = 0.03;

/// Steps of the sequence in the unit square that leaves the least gaps: powers of the root of
/// `x^3 = x + 1` (M. Roberts, 2018).
const EVEN_STEPS: [f64; 2] = [0.754_877_666_246_692_8, 0.569_840_290_998_053_3];

/// The meshes of an actor as one surface.
#[derive(Default)]
pub struct Skin {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    holds: Vec<Hold>,
    surface: SurfaceMotion,
}

impl Skin {
    /// Adds a mesh whose vertices are moved by nodes. Call [`Skin::finish`] after the last.
    pub fn add(&mut self, mesh: &Mesh, hold_of: impl Fn(usize) -> Hold) {
        let first = self.positions.len() as u32;
        self.positions.extend_from_slice(&mesh.positions);
        self.holds.extend((0..mesh.positions.len()).map(hold_of));
        self.triangles.extend(without_set_in_parts(mesh).iter().map(|t| t.map(|v| v + first)));
    }

    /// Makes the surface ready for questions.
    #[must_use]
    pub fn finish(mut self) -> Self {
        let mesh = Mesh::new("skin", self.positions.clone(), self.triangles.clone());
        self.surface.update(&mesh, 0.0);
        self
    }

    /// The surface.
    #[must_use]
    pub fn surface(&self) -> &SurfaceMotion {
        &self.surface
    }

    /// Diagonal of the box around it [m].
    #[must_use]
    pub fn size(&self) -> f64 {
        f64::from(self.surface.bvh().bounds().diagonal())
    }

    /// About so many places, spread evenly over the area.
    #[must_use]
    pub fn points(&self, count: usize) -> Vec<SkinPoint> {
        let corners = |t: &[u32; 3]| t.map(|v| self.positions[v as usize].as_dvec3());
        let area = |t: &[u32; 3]| {
            let [a, b, c] = corners(t);
            0.5 * (b - a).cross(c - a).length()
        };
        let share = self.triangles.iter().map(area).sum::<f64>() / count as f64;
        let mut points = Vec::new();
        // Half a share before the first point: a mesh of one share gets one.
        let mut spread = 0.5 * share;
        for (index, triangle) in self.triangles.iter().enumerate() {
            spread += area(triangle);
            while spread >= share && share > 0.0 {
                spread -= share;
                points.push(self.place_in(index, points.len()));
            }
        }
        points
    }

    /// The place number `n` of a sequence that fills a triangle evenly.
    fn place_in(&self, triangle: usize, n: usize) -> SkinPoint {
        let [mut u, mut v] = EVEN_STEPS.map(|step| (0.5 + n as f64 * step).fract());
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        let weights = [1.0 - u - v, u, v];
        let corners = self.triangles[triangle];
        let at = |i: usize| self.positions[corners[i] as usize].as_dvec3();
        let normal = self.surface.normal(triangle as u32, weights.map(|w| w as f32));
        SkinPoint {
            at: (0..3).map(|i| weights[i] * at(i)).sum(),
            inward: -normal.as_dvec3(),
            moved_by: Hold::mean((0..3).map(|i| (&self.holds[corners[i] as usize], weights[i]))),
        }
    }

    /// The nodes that move a ball inside: those of the skin around it. Skin that looks away from it is
    /// that of another limb.
    #[must_use]
    pub fn hold_of_ball(points: &[SkinPoint], center: DVec3, radius: f64) -> Hold {
        let around = points.iter().filter_map(|p| {
            let to_center = center - p.at;
            let distance = to_center.length();
            let mine = distance < AROUND * radius && to_center.dot(p.inward) > 0.5 * distance;
            mine.then_some((&p.moved_by, 1.0))
        });
        Hold::mean(around)
    }

    /// Whether a place is inside, also of a surface with holes.
    #[must_use]
    pub fn contains(&self, place: DVec3) -> bool {
        let angle =
            |t: &[u32; 3]| solid_angle(t.map(|v| self.positions[v as usize].as_dvec3() - place));
        let turns = self.triangles.iter().map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI);
        // One turn inside, none outside; a hole leaves something between.
        turns > 0.5
    }
}

/// Signed solid angle of a triangle seen from the origin (A. van Oosterom, J. Strackee, 1983).
fn solid_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * a.dot(b.cross(c)).atan2(below)
}

/// Triangles of a mesh but those of small parts that are set into its skin, such as eyes: they would
/// cut up the balls around them.
fn without_set_in_parts(mesh: &Mesh) -> Vec<[u32; 3]> {
    let all = &mesh.topology.triangles;
    let topology = Topology::build(&mesh.positions, all);
    let (part_of, parts) = topology.components();
    let part = |t: &[u32; 3]| part_of[topology.point_of_vertex[t[0] as usize] as usize] as usize;
    let mut bounds = vec![Bounds::EMPTY; parts];
    for triangle in all {
        let b = &mut bounds[part(triangle)];
        triangle.iter().for_each(|v| *b = b.including(mesh.positions[*v as usize]));
    }
    // By size and by touch: a finger is larger, a button that floats is no part of the skin.
    let small = SET_IN * mesh.bounds().diagonal();
    let is_small = |t: &[u32; 3]| bounds[part(t)].diagonal() < small;
    let large: Vec<[u32; 3]> = all.iter().filter(|t| !is_small(t)).copied().collect();
    if large.is_empty() || large.len() == all.len() {
        return all.clone();
    }
    let bvh = TriangleBvh::build(&mesh.positions, &large);
    let touches = |b: &Bounds| bvh.closest_point(b.center(), 0.5 * b.diagonal()).is_some();
    let set_in: Vec<bool> = bounds.iter().map(|b| b.diagonal() < small && touches(b)).collect();
    all.iter().filter(|t| !set_in[part(t)]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::super::fit::tests::limb;
    use super::*;

    fn skin_of(mesh: &Mesh) -> Skin {
        let mut skin = Skin::default();
        skin.add(mesh, |_| Hold::by(0));
        skin.finish()
    }

    #[test]
    fn points_are_spread_by_area_however_the_mesh_is_cut() {
        // A square of two triangles beside one of 200.
        let mut positions = vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y];
        let mut triangles = vec![[0, 1, 2], [0, 2, 3]];
        for j in 0..11u32 {
            for i in 0..11u32 {
                positions.push(Vec3::new(2.0 + i as f32 * 0.1, j as f32 * 0.1, 0.0));
            }
        }
        for j in 0..10u32 {
            for i in 0..10u32 {
                let a = 4 + j * 11 + i;
                triangles.push([a, a + 1, a + 12]);
                triangles.push([a, a + 12, a + 11]);
            }
        }
        let skin = skin_of(&Mesh::new("squares", positions, triangles));
        let points = skin.points(1000);
        let coarse: Vec<DVec3> = points.iter().map(|p| p.at).filter(|p| p.x <= 1.0).collect();
        assert!(points.len().abs_diff(1000) <= 1 && coarse.len().abs_diff(500) <= 1);
        for quarter in 0..4 {
            let corner =
                DVec3::new(0.5 * f64::from(quarter % 2), 0.5 * f64::from(quarter / 2), 0.0);
            let inside = |p: &&DVec3| {
                (p.x - corner.x).abs() < 0.5
                    && p.x >= corner.x
                    && p.y >= corner.y
                    && p.y < corner.y + 0.5
            };
            let count = coarse.iter().filter(inside).count();
            assert!((95..=155).contains(&count), "{count} in a quarter");
        }
    }

    #[test]
    fn inside_is_told_apart_also_with_a_hole_and_behind_a_sheet() {
        let mut mesh = limb();
        let skin = skin_of(&mesh);
        assert!(skin.contains(DVec3::new(0.3, 0.0, 0.0)) && !skin.contains(DVec3::Y));
        // Open at one end: the cap's triangles are the first of every sector.
        let open: Vec<[u32; 3]> =
            mesh.topology.triangles.iter().filter(|t| !t.contains(&0)).copied().collect();
        assert!(open.len() < mesh.topology.triangles.len());
        mesh = Mesh::new("sleeve", mesh.positions.clone(), open);
        let skin = skin_of(&mesh);
        assert!(skin.contains(DVec3::new(0.3, 0.0, 0.0)) && !skin.contains(DVec3::Y));
        let sheet = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y];
        let sheet = Mesh::new("cape", sheet.to_vec(), vec![[0, 1, 2], [0, 2, 3]]);
        let skin = skin_of(&sheet);
        assert!(!skin.contains(DVec3::new(0.5, 0.5, -0.1)));
        assert!(!skin.contains(DVec3::new(0.5, 0.5, 0.1)));
    }

    #[test]
    fn an_eye_set_into_the_skin_is_left_out() {
        let plain = limb();
        let (count, mut positions) = (plain.positions.len() as u32, plain.positions.clone());
        let corners = [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z];
        positions.extend(corners.map(|c| Vec3::new(0.3, 0.07, 0.0) + 0.004 * c));
        let mut triangles = plain.topology.triangles.clone();
        for (i, j, k) in [(0, 1, 2), (3, 2, 1), (0, 2, 4), (3, 4, 2)] {
            let opposite = |v: u32| count + (v + 3) % 6;
            triangles.push([count + i, count + j, count + k]);
            triangles.push([opposite(i), opposite(k), opposite(j)]);
        }
        let with_eye = Mesh::new("limb with an eye", positions, triangles);
        assert_eq!(without_set_in_parts(&with_eye), plain.topology.triangles);
        assert_eq!(without_set_in_parts(&plain), plain.topology.triangles);
    }

    #[test]
    fn a_ball_is_moved_by_the_skin_around_it_not_by_the_limb_beside_it() {
        let mesh = limb();
        let mut skin = Skin::default();
        // Joint 0 moves the thick half, joint 1 the thin half, both the middle.
        let weight = |v: usize| f64::from(((mesh.positions[v].x - 0.2) / 0.2).clamp(0.0, 1.0));
        let (thick, thin) = (Hold::by(0), Hold::by(1));
        skin.add(&mesh, |v| {
            Hold::mean([(&thick, 1.0 - weight(v)), (&thin, weight(v))].into_iter())
        });
        let beside: Vec<Vec3> =
            mesh.positions.iter().map(|p| Vec3::new(p.x, p.y, p.z + 0.18)).collect();
        let beside = Mesh::new("beside", beside, mesh.topology.triangles.clone());
        skin.add(&beside, |_| Hold::by(2));
        let points = skin.finish().points(4000);
        for (x, radius) in [(0.1, 0.09), (0.3, 0.075), (0.5, 0.058)] {
            let hold = Skin::hold_of_ball(&points, DVec3::X * x, radius);
            let of = |node: usize| hold.iter().filter(|h| h.0 == node).map(|h| h.1).sum::<f64>();
            let expected = ((x - 0.2) / 0.2).clamp(0.0, 1.0);
            assert!((of(1) - expected).abs() < 0.1 && of(2) == 0.0, "{x}: {hold:?}");
            assert!((of(0) + of(1) - 1.0).abs() < 1e-12);
        }
    }
}
