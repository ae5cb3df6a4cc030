//! Where the parts of a body go through each other: nothing that is worn on it can be outside of both there.
//!
//! ```text
//!      |trunk| /arm/      an arm that is in the trunk: what lies on the trunk goes through the arm at c,
//!      |     c/   /       or through the trunk if it goes around the arm
//!      |    /|   /
//!      |   ╳ |  /
//! ```

use frisson::geometry::{Bounds, Mesh};
use glam::Vec3;
use rayon::prelude::*;

use crate::body::Body;

/// Lines along which surfaces go through each other.
#[derive(Default)]
pub struct Overlaps {
    lines: Vec<[Vec3; 2]>,
}

impl Overlaps {
    /// Of meshes with each other, and of each piece of a mesh with itself. What one mesh is put together from, a belt
    /// around a coat, goes through itself everywhere and is one part.
    #[must_use]
    pub fn of(parts: &[(&Mesh, &Body)]) -> Self {
        let mut lines = Vec::new();
        for (i, &first) in parts.iter().enumerate() {
            for (k, &second) in parts[i..].iter().enumerate() {
                lines.extend(lines_between(first, second, k == 0));
            }
        }
        Self { lines }
    }

    /// Whether there is such a line within a distance [m].
    #[must_use]
    pub fn is_near(&self, p: Vec3, within: f32) -> bool {
        let distance_squared = |[a, b]: &[Vec3; 2]| {
            let along = *b - *a;
            let t = (p - *a).dot(along) / along.length_squared().max(f32::MIN_POSITIVE);
            p.distance_squared(*a + t.clamp(0.0, 1.0) * along)
        };
        self.lines.iter().any(|line| distance_squared(line) <= within * within)
    }
}

fn lines_between(
    (mesh, body): (&Mesh, &Body),
    (other_mesh, other): (&Mesh, &Body),
    is_same: bool,
) -> Vec<[Vec3; 2]> {
    let (triangles, others) = (&mesh.topology.triangles, &other_mesh.topology.triangles);
    let groups = if is_same { body.groups(triangles) } else { &[] };
    let point = |v: u32| body.welded().point_of_vertex[v as usize];
    let may_cross = |a: u32, b: u32| {
        if !is_same {
            return true;
        }
        let (a, b) = (triangles[a as usize], others[b as usize]);
        let shares = a.iter().any(|v| b.iter().any(|w| point(*v) == point(*w)));
        !shares && groups[a[0] as usize] == groups[b[0] as usize]
    };
    let line = |a: u32| {
        let corners = triangles[a as usize].map(|v| mesh.positions[v as usize]);
        let mut found = Vec::new();
        other.tree().overlapping(Bounds::of(&corners), |b| {
            if (is_same && b <= a) || !may_cross(a, b) {
                return;
            }
            let beside = others[b as usize].map(|v| other_mesh.positions[v as usize]);
            found.extend(crossing_line((corners, a, body), (beside, b, other)).map(|l| (b, l)));
        });
        // The tree answers in no particular order.
        found.sort_unstable_by_key(|(b, _)| *b);
        found.into_iter().map(|(_, line)| line)
    };
    (0..triangles.len() as u32).into_par_iter().flat_map_iter(line).collect()
}

/// A triangle: its corners, its number and the body it is of.
type Facet<'a> = ([Vec3; 3], u32, &'a Body);

/// The line along which two triangles go through each other.
fn crossing_line(first: Facet, second: Facet) -> Option<[Vec3; 2]> {
    let mut ends: Vec<Vec3> = Vec::new();
    for ((corners, _, _), (_, triangle, body)) in [(first, second), (second, first)] {
        for k in 0..3 {
            let (from, way) = (corners[k], corners[(k + 1) % 3] - corners[k]);
            if let Some(s) = body.tree().crossing(triangle, from, way).filter(|s| *s <= 1.0) {
                ends.push(from + s * way);
            }
        }
    }
    Some([*ends.first()?, *ends.last()?])
}
