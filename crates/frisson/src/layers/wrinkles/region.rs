//! The line on the surface and the region of influence around it.
//!
//! ```text
//!        +-----------------------+   half-width z
//!    A o-|----x----------------->|-o B
//!        +-----------------------+
//! ```

use glam::Vec3;

use crate::geometry::Topology;
use crate::tolerances::wrinkles as tolerances;

/// The tool's line: a polyline through its anchors, each segment with the surface's normal.
#[derive(Clone, Debug, Default)]
pub struct Line {
    segments: Vec<Segment>,
    length: f64,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    start: Vec3,
    /// Unit vectors along, out of the surface, across.
    along: Vec3,
    normal: Vec3,
    across: Vec3,
    length: f32,
    /// Length of the segments before it [m].
    before: f32,
}

/// Where a point falls on a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePlace {
    /// Along the line, 0 to 1.
    pub along: f32,
    /// Across it [m].
    pub across: f32,
    /// Normal of the region there.
    pub normal: Vec3,
}

impl Line {
    /// The line through some points of the mesh.
    #[must_use]
    pub fn new(anchors: &[u32], positions: &[Vec3], normals: &[Vec3]) -> Self {
        let mut line = Self::default();
        let at = |p: u32| (positions[p as usize], normals[p as usize]);
        line.update(anchors, at, &mut Vec::new());
        line
    }

    /// The same when the mesh has moved; `at` gives position and normal of a point.
    ///
    /// Where the normals of a segment's ends cancel, or lie along it, its plane is the one it had
    /// before: `planes` remembers the normal of each.
    pub fn update(
        &mut self,
        anchors: &[u32],
        at: impl Fn(u32) -> (Vec3, Vec3),
        planes: &mut Vec<Vec3>,
    ) {
        self.segments.clear();
        planes.resize(anchors.len().saturating_sub(1), Vec3::ZERO);
        let mut before = 0.0;
        for (pair, plane) in anchors.windows(2).zip(planes) {
            let (a, b) = (at(pair[0]), at(pair[1]));
            let chord = b.0 - a.0;
            let along = chord.normalize_or(Vec3::X);
            let upright = |n: Vec3| n - along * along.dot(n);
            let mean = upright(a.1 + b.1);
            let sound = mean.length() > tolerances::LEAST_PLANE_NORMAL;
            let normal = if sound { mean } else { upright(*plane) };
            // Nothing remembered either, in the first frame: any plane along the line is as good.
            let normal = normal
                .try_normalize()
                .unwrap_or_else(|| crate::math::frames::any_perpendicular(along));
            *plane = normal;
            let length = chord.length();
            self.segments.push(Segment {
                start: a.0,
                along,
                normal,
                across: along.cross(normal),
                length,
                before,
            });
            before += length;
        }
        self.length = f64::from(before);
    }

    /// Length [m].
    #[must_use]
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Where a point projects, along the normal of the nearest segment; nothing beyond the ends.
    #[must_use]
    pub fn place(&self, p: Vec3) -> Option<LinePlace> {
        // At least one segment: a line has two anchors.
        let last = self.segments.len() - 1;
        let mut best: Option<(f32, Option<LinePlace>)> = None;
        for (k, s) in self.segments.iter().enumerate() {
            let offset = p - s.start;
            let along = offset.dot(s.along);
            // Inner ends are clamped, not passed over: at a bend of the line there is a wedge beyond both segments.
            let inside = along.clamp(0.0, s.length);
            let distance = p.distance_squared(s.start + s.along * inside);
            // Beyond the line's own ends there are no folds. The nearest segment says so and not each for itself: what is
            // beyond the first one is before the second, too, and would lie at the bend between them.
            let beyond = along < 0.0 && k == 0 || along > s.length && k == last;
            let place = LinePlace {
                along: (s.before + inside) / self.length as f32,
                across: offset.dot(s.across),
                normal: s.normal,
            };
            if best.is_none_or(|(d, _)| distance < d) {
                best = Some((distance, (!beyond).then_some(place)));
            }
        }
        best.and_then(|(_, place)| place)
    }
}

/// The coarse triangles that a tool can touch.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Their indices, ascending.
    pub triangles: Vec<u32>,
}

impl Region {
    /// Triangles whose projection meets the rectangle, that look the same way, and that are
    /// connected to the line's anchors through such triangles.
    #[must_use]
    pub fn find(
        line: &Line,
        width: f32,
        anchors: &[u32],
        topology: &Topology,
        positions: &[Vec3],
        normals: &[Vec3],
    ) -> Self {
        let mut seen = vec![false; topology.triangles.len()];
        let mut stack: Vec<u32> =
            anchors.iter().flat_map(|&p| topology.point_triangles(p).iter().copied()).collect();
        let mut triangles = Vec::new();
        while let Some(t) = stack.pop() {
            // Grown from the anchors, so that the other sleeve, which lies within the rectangle, is not taken.
            if std::mem::replace(&mut seen[t as usize], true) {
                continue;
            }
            if !meets(line, width, topology.triangles[t as usize], positions, normals) {
                continue;
            }
            triangles.push(t);
            for point in topology.triangles[t as usize] {
                stack.extend(topology.point_triangles(point));
            }
        }
        // Found in the order of the walk; later steps search by number.
        triangles.sort_unstable();
        Self { triangles }
    }
}

/// Whether a triangle may hold a point of the region: some sample of it does.
fn meets(line: &Line, width: f32, corners: [u32; 3], positions: &[Vec3], normals: &[Vec3]) -> bool {
    // 28 samples: a region narrower than a sixth of a triangle could slip between them, and would need a level
    // of refinement that is not there.
    const N: usize = 6;
    let [a, b, c] = corners.map(|p| (positions[p as usize], normals[p as usize]));
    (0..=N).any(|i| {
        (0..=N - i).any(|j| {
            let (u, v) = (i as f32 / N as f32, j as f32 / N as f32);
            let mix = |x: Vec3, y: Vec3, z: Vec3| x * (1.0 - u - v) + y * u + z * v;
            let (p, n) = (mix(a.0, b.0, c.0), mix(a.1, b.1, c.1));
            line.place(p).is_some_and(|at| at.across.abs() < width && at.normal.dot(n) > 0.0)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(line: &mut Line, planes: &mut Vec<Vec3>, ends: [(Vec3, Vec3); 2]) -> Vec3 {
        line.update(&[0, 1], |p| ends[p as usize], planes);
        line.place(Vec3::X * 0.5).unwrap().normal
    }

    #[test]
    fn a_bent_line_has_nothing_beyond_its_ends() {
        let bent = [Vec3::ZERO, Vec3::X, Vec3::new(2.0, 0.0, 0.2), Vec3::new(3.0, 0.0, 0.2)];
        for count in 2..=4 {
            let line = Line::new(&[0, 1, 2, 3][..count], &bent, &[Vec3::Y; 4]);
            let end = bent[count - 1];
            for far in [0.01, 0.5, 5.0] {
                assert_eq!(line.place(-Vec3::X * far), None, "{count} points, {far} before");
                assert_eq!(line.place(end + Vec3::X * far), None, "{count} points, {far} beyond");
            }
            let middle = line.place(0.5 * (bent[0] + bent[1])).map(|at| at.along);
            assert!(middle.is_some_and(|at| (at - 0.5 / line.length() as f32).abs() < 1e-6));
        }
        // In the wedge at a bend a point belongs to the bend.
        let line = Line::new(&[0, 1, 2], &bent, &[Vec3::Y; 4]);
        let wedge = line.place(Vec3::new(1.005, 0.0, -0.1)).map(|at| at.along);
        assert!(
            wedge.is_some_and(|at| (at - 1.0 / line.length() as f32).abs() < 1e-2),
            "{wedge:?}"
        );
    }

    #[test]
    fn a_plane_that_normals_do_not_give_is_the_last_good_one() {
        let (mut line, mut planes) = (Line::default(), Vec::new());
        let leaning = Vec3::new(0.0, 1.0, 1.0).normalize();
        let good = update(&mut line, &mut planes, [(Vec3::ZERO, leaning), (Vec3::X, leaning)]);
        assert!((good - leaning).length() < 1e-6);
        // Opposite normals, and normals along the line, say nothing.
        for ends in [[Vec3::Y, -Vec3::Y], [Vec3::X, Vec3::X], [-Vec3::X, Vec3::X + 1e-5 * Vec3::Y]]
        {
            let kept = update(&mut line, &mut planes, [(Vec3::ZERO, ends[0]), (Vec3::X, ends[1])]);
            assert!((kept - leaning).length() < 1e-5, "{ends:?}: {kept}");
        }
        // A line that turned meanwhile keeps what is left of its plane, upright.
        let along = Vec3::new(1.0, 0.2, 0.0);
        let kept = update(&mut line, &mut planes, [(Vec3::ZERO, Vec3::Y), (along, -Vec3::Y)]);
        assert!(kept.dot(leaning) > 0.95 && kept.dot(along).abs() < 1e-5, "{kept}");
    }
}
