//! What is inside of bodies that are made of open shells.
//!
//! A character's shells have no inside that rays could tell: sleeves end in the trunk, robes are open below. How much of
//! what is seen all around from a place are backs of triangles says it (the winding number; Jacobson, Kavan,
//! Sorkine-Hornung 2013): about 1 inside, about 0 outside.

use std::f64::consts::TAU;

use frisson::geometry::{Mesh, TriangleBvh};
use frisson::stage::Frame;
use frisson_io::scene::Measure;
use frisson_io::{FrameSource, SourceError};
use glam::Vec3;

use crate::body::ANYWHERE;
use crate::findings::Finding;
use crate::shape::Shape;

/// Winding number from which a place is inside [-].
const INSIDE: f64 = 0.5;
/// How far past a triangle it is asked whether one is out, as a share of the shells' size [-].
const PAST: f32 = 1e-4;
/// Triangles that one way out may go through [-].
const MOST_WALLS: usize = 16;

/// What the motion without layers says to complaints about what is inside of bodies that only layers make, a coat in
/// place of the skin: how deep that vertex is in the meshes in whose place they are, in that very frame.
pub fn in_shells(
    bare: &mut dyn FrameSource,
    is_replaced: impl Fn(&str) -> bool,
    findings: &[Finding],
) -> Result<Vec<Finding>, SourceError> {
    let mut frame = Frame::default();
    let mut own = Vec::new();
    for finding in findings.iter().filter(|f| f.measure == Measure::Inside) {
        let (Some(body), Some(element)) = (&finding.body, finding.element) else { continue };
        bare.read_frame(finding.frame, &mut frame)?;
        // A body that is there without layers was asked itself.
        let is_there = frame.meshes.iter().any(|m| &m.name == body);
        let Some(shape) = Shape::find(&frame, &finding.shape).filter(|_| !is_there) else {
            continue;
        };
        let Some(p) = shape.points().get(element as usize) else { continue };
        let shells: Vec<&Mesh> = frame.meshes.iter().filter(|m| is_replaced(&m.name)).collect();
        let value = 1000.0 * f64::from(Shells::of(&shells).depth(*p));
        own.push(Finding { value, ..finding.clone() });
    }
    Ok(own)
}

/// Meshes that enclose something together.
struct Shells {
    tree: TriangleBvh,
    corners: Vec<[Vec3; 3]>,
}

impl Shells {
    fn of(meshes: &[&Mesh]) -> Self {
        let (mut positions, mut triangles): (Vec<Vec3>, Vec<[u32; 3]>) = (Vec::new(), Vec::new());
        for mesh in meshes {
            let first = positions.len() as u32;
            positions.extend(&mesh.positions);
            triangles.extend(mesh.topology.triangles.iter().map(|t| t.map(|v| first + v)));
        }
        let tree = TriangleBvh::build(&positions, &triangles);
        let corners = triangles.iter().map(|t| t.map(|v| positions[v as usize])).collect();
        Self { tree, corners }
    }

    fn is_inside(&self, p: Vec3) -> bool {
        self.corners.iter().map(|corners| solid_angle(*corners, p)).sum::<f64>()
            > INSIDE * 2.0 * TAU
    }

    /// How deep a place is inside [m], by the shortest of some ways out; 0 outside.
    fn depth(&self, p: Vec3) -> f32 {
        if !self.is_inside(p) {
            return 0.0;
        }
        let nearest = self.tree.closest_point(p, ANYWHERE).map(|hit| hit.point - p);
        let sides = [-1.0, 0.0, 1.0];
        let grid = sides.iter().flat_map(|&x| sides.iter().map(move |&y| (x, y)));
        let grid = grid.flat_map(|(x, y)| sides.iter().map(move |&z| Vec3::new(x, y, z)));
        let ways = grid.chain(nearest).filter_map(Vec3::try_normalize);
        ways.filter_map(|way| self.way_out(p, way)).fold(f32::INFINITY, f32::min)
    }

    fn way_out(&self, p: Vec3, way: Vec3) -> Option<f32> {
        let past = PAST * self.tree.bounds().diagonal();
        let mut length = 0.0;
        for _ in 0..MOST_WALLS {
            let hit = self.tree.raycast(p + length * way, way, ANYWHERE)?;
            length += hit.distance;
            if !self.is_inside(p + (length + past) * way) {
                return Some(length);
            }
            length += past;
        }
        None
    }
}

/// Solid angle of a triangle as seen from a place, positive from behind [sr] (van Oosterom, Strackee 1983).
fn solid_angle(corners: [Vec3; 3], p: Vec3) -> f64 {
    let [a, b, c] = corners.map(|corner| (corner - p).as_dvec3());
    let [la, lb, lc] = [a.length(), b.length(), c.length()];
    let across = a.dot(b.cross(c));
    let along = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * across.atan2(along)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box from -1 to 1 without its top, wound outwards.
    fn open_box(shift: Vec3) -> Mesh {
        let corner = |i: u32| {
            let side = |bit: u32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
            Vec3::new(side(0), side(1), side(2)) + shift
        };
        // Bottom and four walls; bit 1 is up.
        let sides = [[0, 1, 5, 4], [0, 2, 3, 1], [4, 5, 7, 6], [0, 4, 6, 2], [1, 3, 7, 5]];
        let halves = sides.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
        Mesh::new("box", (0..8).map(corner).collect(), halves.collect())
    }

    #[test]
    fn two_open_shells_that_overlap_have_one_inside() {
        let (left, right) = (open_box(Vec3::ZERO), open_box(1.5 * Vec3::X));
        let shells = Shells::of(&[&left, &right]);
        assert_eq!(shells.depth(Vec3::new(-1.2, -0.5, 0.0)), 0.0);
        assert_eq!(shells.depth(Vec3::new(0.0, -1.2, 0.0)), 0.0);
        // The nearest wall, 0.25 away, leads into the other box: the way out is down, or sideways.
        let depth = shells.depth(Vec3::new(0.75, -0.3, 0.0));
        assert!((depth - 0.7).abs() < 1e-3, "{depth}");
        assert!((shells.depth(Vec3::new(-0.9, -0.3, 0.0)) - 0.1).abs() < 1e-3);
    }
}
