//! A body cut by level planes.

use frisson::geometry::{Bounds, Mesh};
use glam::{Vec2, Vec3};

/// How near two points of a cut are that belong to one part of the body, in heights of it [-]: less than there is
/// between a hand and the hips.
const TOGETHER: f32 = 0.03;
/// The same where one of them is of an arm: only what grows out of the trunk is part of it, a hand close by is not.
const TOGETHER_WITH_ARM: f32 = 0.002;
/// Most points between the ends of a cut through a triangle: on bodies of a few large ones.
const MOST_BETWEEN: f32 = 256.0;
/// How much wider than at the waist a torso is where the arms have become part of it [-].
const WITH_ARMS: f32 = 1.45;

/// How far above the joint of the hips a waist is at least, in half widths of the hips [-]: thighs of who is stout are
/// thick, and come up through a band that lies lower.
const ABOVE_THIGHS: f32 = 0.55;

/// A part of a body, and which of its vertices are of arms.
pub struct Part<'a> {
    /// Where it is.
    pub mesh: &'a Mesh,
    /// Of every vertex.
    pub is_arm: Vec<bool>,
}

/// A place of a cut.
#[derive(Clone, Copy, Debug)]
struct CutPoint {
    at: Vec2,
    is_arm: bool,
}

/// The trunk and legs of a body, level by level, from the ground up; arms beside them are left out.
pub struct Levels {
    /// Height of each.
    pub heights: Vec<f32>,
    /// The axis around which garments are laid: a place in the plane.
    pub axis: Vec2,
    /// Corners of each level's outline, made convex, counter-clockwise; empty where there is no body.
    pub outlines: Vec<Vec<Vec2>>,
    /// The level of the waist: above what legs, coats and belts do to the outline.
    waist: usize,
    /// Height above which thighs do not come when they are lifted [m].
    pub above_thighs: f32,
}

impl Levels {
    /// Cuts meshes at `count` levels, starting from the hips; `waist` is a height above them.
    pub fn cut(bodies: &[Part], hips: Vec3, waist: f32, bounds: Bounds, count: usize) -> Self {
        let (low, height) = (bounds.min.y, bounds.max.y - bounds.min.y);
        let height_of = |k: usize| low + height * (k as f32 + 0.5) / count as f32;
        let heights: Vec<f32> = (0..count).map(height_of).collect();
        // A joint may lie above the mesh it moves, by some millimetres or in a model that is put together badly.
        let level_of = |y: f32| (((y - low) / height * count as f32) as usize).min(count - 1);
        let hip_level = level_of(hips.y);
        let cuts: Vec<Vec<CutPoint>> =
            heights.iter().map(|&y| points_at(bodies, y, height)).collect();
        let parts: Vec<Vec<Vec<Vec2>>> =
            cuts.iter().map(|points| parts_of(points, height)).collect();
        let mut kept: Vec<Vec<Vec2>> = vec![Vec::new(); count];
        let middle = Vec2::new(hips.x, hips.z);
        kept[hip_level] = nearest_part(&parts[hip_level], middle);
        // What overlaps the trunk one level before goes on with it.
        for k in (0..hip_level).rev() {
            kept[k] = overlapping(&parts[k], &kept[k + 1]);
        }
        for k in hip_level + 1..count {
            kept[k] = overlapping(&parts[k], &kept[k - 1]);
        }
        let outlines: Vec<Vec<Vec2>> = kept.into_iter().map(convex_outline).collect();
        let axis = centre(&outlines[hip_level]).unwrap_or(middle);
        let above_thighs = hips.y + ABOVE_THIGHS * 0.5 * width(&outlines[hip_level]);
        let waist = level_of(waist).max(hip_level);
        Self { heights, axis, outlines, waist, above_thighs }
    }

    /// Height under the arms: the last level above the waist where the trunk is no wider than itself. Not from the hips
    /// on: legs in a robe are narrower than the robe, and would make its border an armpit.
    pub fn armpits(&self) -> f32 {
        let mut narrowest = f32::INFINITY;
        for k in self.waist..self.heights.len() {
            let width = width(&self.outlines[k]);
            if width == 0.0 || width > WITH_ARMS * narrowest {
                // Two levels back: the last one before is already the fold of skin between arm and trunk.
                return self.heights[k.saturating_sub(2).max(self.waist)];
            }
            narrowest = narrowest.min(width.max(f32::MIN_POSITIVE));
        }
        self.heights[self.heights.len() - 1]
    }

    /// Height of the shoulders: the last level at which the trunk is half as wide as where the arms are.
    pub fn shoulders(&self) -> f32 {
        let from = self.heights.iter().position(|&y| y >= self.armpits()).unwrap_or(self.waist);
        let widths: Vec<f32> = self.outlines.iter().map(|o| width(o)).collect();
        let widest = widths[from..].iter().copied().fold(0.0, f32::max);
        let wide = |k: &usize| widths[*k] > 0.5 * widest;
        // Not a head as wide as the shoulders: only as far as the trunk goes on being wide.
        let end = (from..widths.len()).skip_while(|k| !wide(k)).take_while(wide).last();
        self.heights[end.unwrap_or(from)]
    }

    /// Distance from the axis to a level's outline towards an angle around it; 0 where there is none.
    pub fn reach(&self, level: usize, angle: f32) -> f32 {
        let towards = Vec2::from_angle(angle);
        let outline = &self.outlines[level];
        let crossing = |i: usize| {
            let (a, b) = (outline[i] - self.axis, outline[(i + 1) % outline.len()] - self.axis);
            let (side_a, side_b) = (towards.perp_dot(a), towards.perp_dot(b));
            if (side_a < 0.0) == (side_b < 0.0) {
                return 0.0;
            }
            // The line crosses the outline behind the axis too: there the distance comes out negative, and 0 wins.
            let t = side_a / (side_a - side_b);
            a.lerp(b, t).dot(towards)
        };
        (0..outline.len()).map(crossing).fold(0.0, f32::max)
    }
}

/// Where edges of meshes go through a level of a body of some height.
fn points_at(bodies: &[Part], y: f32, height: f32) -> Vec<CutPoint> {
    let mut points = Vec::new();
    for Part { mesh, is_arm } in bodies {
        for triangle in &mesh.topology.triangles {
            let of_arm = triangle.iter().filter(|v| is_arm[**v as usize]).count() > 1;
            let corners = triangle.map(|v| mesh.positions[v as usize]);
            for i in 0..3 {
                let (a, b) = (corners[i], corners[(i + 1) % 3]);
                if (a.y < y) != (b.y < y) {
                    let p = a.lerp(b, (y - a.y) / (b.y - a.y));
                    points.push(CutPoint { at: Vec2::new(p.x, p.z), is_arm: of_arm });
                }
            }
        }
    }
    // The two points of a triangle lie side by side: points between them show that they are one part, however large it is.
    let mut fine = Vec::with_capacity(3 * points.len());
    for pair in points.chunks_exact(2) {
        let length = pair[0].at.distance(pair[1].at);
        let steps = (length / (0.5 * TOGETHER * height)).ceil().clamp(4.0, MOST_BETWEEN);
        let between = |k: u16| pair[0].at.lerp(pair[1].at, f32::from(k) / steps);
        let point = |k: u16| CutPoint { at: between(k), is_arm: pair[0].is_arm };
        fine.extend((0..=steps as u16).map(point));
    }
    fine
}

/// Points in groups that lie apart, on a body of some height; arms that do not touch anything else are left out.
fn parts_of(points: &[CutPoint], height: f32) -> Vec<Vec<Vec2>> {
    let is_together = |a: &CutPoint, b: &CutPoint| {
        let share = if a.is_arm == b.is_arm { TOGETHER } else { TOGETHER_WITH_ARM };
        a.at.distance(b.at) <= share * height
    };
    // Every pair is looked at: some hundred points a level, once for a garment.
    let mut left: Vec<CutPoint> = points.to_vec();
    let mut parts = Vec::new();
    while let Some(first) = left.pop() {
        let (mut part, mut at) = (vec![first], 0);
        while at < part.len() {
            let here = part[at];
            let mut k = 0;
            while k < left.len() {
                if is_together(&left[k], &here) {
                    part.push(left.swap_remove(k));
                } else {
                    k += 1;
                }
            }
            at += 1;
        }
        if part.iter().any(|p| !p.is_arm) {
            parts.push(part.into_iter().map(|p| p.at).collect());
        }
    }
    parts
}

fn nearest_part(parts: &[Vec<Vec2>], to: Vec2) -> Vec<Vec2> {
    // To its box: a joint of the hips lies inside the trunk, far from all points of its outline.
    let distance = |part: &Vec<Vec2>| {
        let (low, high) = corners(part);
        (to - to.clamp(low, high)).length_squared()
    };
    let nearest = parts.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.cloned().unwrap_or_default()
}

/// All points of the parts whose box meets that of the level before.
fn overlapping(parts: &[Vec<Vec2>], before: &[Vec2]) -> Vec<Vec2> {
    if before.is_empty() {
        return Vec::new();
    }
    let (low, high) = corners(before);
    let meets = |part: &&Vec<Vec2>| {
        let (l, h) = corners(part);
        l.cmple(high).all() && h.cmpge(low).all()
    };
    parts.iter().filter(meets).flatten().copied().collect()
}

fn corners(points: &[Vec2]) -> (Vec2, Vec2) {
    let start = (Vec2::INFINITY, Vec2::NEG_INFINITY);
    points.iter().fold(start, |(low, high), &p| (low.min(p), high.max(p)))
}

fn width(outline: &[Vec2]) -> f32 {
    let (low, high) = corners(outline);
    if outline.is_empty() { 0.0 } else { high.x - low.x }
}

fn centre(outline: &[Vec2]) -> Option<Vec2> {
    let (low, high) = corners(outline);
    (!outline.is_empty()).then_some(0.5 * (low + high))
}

/// The corners of the convex outline around points, counter-clockwise.
fn convex_outline(mut points: Vec<Vec2>) -> Vec<Vec2> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup();
    if points.len() < 3 {
        return Vec::new();
    }
    let half = |points: &mut dyn Iterator<Item = Vec2>| {
        let mut chain: Vec<Vec2> = Vec::new();
        for p in points {
            while let [.., a, b] = chain[..]
                && (b - a).perp_dot(p - b) <= 0.0
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut outline = half(&mut points.iter().copied());
    outline.extend(half(&mut points.iter().rev().copied()));
    outline
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_are_convex_and_hold_all_points() {
        let points: Vec<Vec2> = (0..200)
            .map(|i| {
                Vec2::from_angle(i as f32 * 2.4) * (0.3 + 0.7 * ((i * 37 % 101) as f32 / 101.0))
            })
            .collect();
        let outline = convex_outline(points.clone());
        for i in 0..outline.len() {
            let (a, b) = (outline[i], outline[(i + 1) % outline.len()]);
            let outside = points.iter().filter(|p| (b - a).perp_dot(**p - a) < -1e-5).count();
            assert_eq!(outside, 0);
        }
    }

    /// An upright tube between two heights, oval, from one x to another.
    fn tube(x: [f32; 2], y: [f32; 2]) -> Mesh {
        const SIDES: u32 = 96;
        let (middle, half) = (0.5 * (x[0] + x[1]), 0.5 * (x[1] - x[0]));
        let corner = |k: u32| {
            let around = Vec2::from_angle(std::f32::consts::TAU * (k / 2) as f32 / SIDES as f32);
            Vec3::new(middle + half * around.x, y[k as usize % 2], 0.1 * around.y)
        };
        let side = |k: u32| {
            let [a, b, c, d] = [2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 3].map(|v| v % (2 * SIDES));
            [[a, b, c], [c, b, d]]
        };
        let positions = (0..2 * SIDES).map(corner).collect();
        Mesh::new("tube", positions, (0..SIDES).flat_map(side).collect())
    }

    #[test]
    fn a_trunk_of_a_few_large_triangles_is_one_part() {
        // A box without top and bottom, twice as deep as the front and the back would be one part over.
        let corner = |k: u32| {
            let side = [(-0.1, -0.3), (0.1, -0.3), (0.1, 0.1), (-0.1, 0.1)][k as usize / 2];
            Vec3::new(side.0, (k % 2) as f32, side.1)
        };
        let side = |k: u32| {
            let [a, b, c, d] = [2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 3].map(|v| v % 8);
            [[a, b, c], [c, b, d]]
        };
        let positions: Vec<Vec3> = (0..8).map(corner).collect();
        let mesh = Mesh::new("box", positions, (0..4).flat_map(side).collect());
        let bounds = Bounds::of(&mesh.positions);
        let parts = [Part { mesh: &mesh, is_arm: vec![false; 8] }];
        let levels = Levels::cut(&parts, Vec3::new(0.0, 0.5, 0.0), 0.55, bounds, 96);
        assert!(levels.axis.distance(Vec2::new(0.0, -0.1)) < 1e-5, "{}", levels.axis);
        let reach = levels.reach(60, std::f32::consts::FRAC_PI_2);
        assert!((reach - 0.2).abs() < 1e-5, "{reach}");
    }

    #[test]
    fn armpits_are_under_the_arms_and_not_at_the_border_of_a_robe() {
        // Two legs in a wide robe that begins above the hips' joint, arms straight out, a large head.
        let parts = [
            tube([-0.25, -0.05], [0.0, 0.5]),
            tube([0.05, 0.25], [0.0, 0.5]),
            tube([-0.4, 0.4], [0.42, 1.2]),
            tube([-1.0, 1.0], [0.95, 1.15]),
            tube([-0.5, 0.5], [1.2, 2.0]),
        ];
        let meshes: Vec<Part> = parts
            .iter()
            .map(|mesh| Part { mesh, is_arm: vec![false; mesh.positions.len()] })
            .collect();
        let points: Vec<Vec3> = parts.iter().flat_map(|m| m.positions.clone()).collect();
        let levels = Levels::cut(&meshes, 0.4 * Vec3::Y, 0.5, Bounds::of(&points), 96);
        assert!((0.9..0.95).contains(&levels.armpits()), "{}", levels.armpits());
        assert!((1.1..1.2).contains(&levels.shoulders()), "{}", levels.shoulders());
    }

    #[test]
    fn arms_beside_a_trunk_are_another_part() {
        let ring = |x: f32, r: f32| {
            (0..24).map(move |i| Vec2::new(x, 0.0) + r * Vec2::from_angle(i as f32 * 0.262))
        };
        let points = |arms: f32, is_arm: bool| -> Vec<CutPoint> {
            let trunk = ring(0.0, 0.15).map(|at| CutPoint { at, is_arm: false });
            let both = ring(arms, 0.04).chain(ring(-arms, 0.04));
            trunk.chain(both.map(|at| CutPoint { at, is_arm })).collect()
        };
        let trunk_of = |points: &[CutPoint]| {
            let parts = parts_of(points, 1.7);
            (parts.len(), nearest_part(&parts, Vec2::new(0.02, 0.0)))
        };
        let (count, trunk) = trunk_of(&points(0.4, false));
        assert_eq!((count, trunk.len()), (3, 24));
        assert!(corners(&trunk).1.x < 0.16);
        // A hand two centimetres beside the hips: one part, unless it is known to be a hand.
        let (count, trunk) = trunk_of(&points(0.21, false));
        assert_eq!((count, trunk.len()), (1, 72));
        let (count, trunk) = trunk_of(&points(0.21, true));
        assert_eq!((count, trunk.len()), (1, 24));
    }
}
