//! Fitting coats to a mesh: balls that touch its skin from inside, and radii for which the blended
//! surface passes through it.
//!
//! ```text
//!     skin  __--v--__        from a point v of the skin a ball grows inwards until it touches
//!         /   ( c )   \      the skin elsewhere; the largest balls are taken first, none begins
//!        |             |     inside another of the same limb
//! ```
//!
//! Balls hang on the joints that move the skin around them, with its weights. Only balls of one joint,
//! or of a joint and its parent (by the strongest weight), blend: limbs do not melt into the trunk.

use glam::DVec3;

use super::field::FieldProfile;
use super::skin::{Hold, Skin, SkinPoint};
use crate::character::Character;
use crate::geometry::Bounds;
use crate::stage::BuildContext;

/// What coats are fitted to.
pub struct SkinFit<'a> {
    /// Who, if it has joints.
    pub character: Option<&'a Character>,
    /// The scene at its start.
    pub context: &'a BuildContext<'a>,
    /// Number of its first mesh in the frame, and those that are coated.
    pub first: usize,
    pub meshes: &'a [usize],
    /// Reach of a coat's field over its thickness [-].
    pub reach: f64,
}

/// A ball inside the skin.
#[derive(Clone, Debug)]
pub struct FittedBall {
    /// Nodes that carry it; node 0 for actors without joints.
    pub moved_by: Hold,
    /// Centre at the start [m].
    pub center: DVec3,
    /// Thickness of its coat [m].
    pub radius: f64,
    /// Where it touches the skin [m].
    pub touched: DVec3,
}

/// Skin points looked at: more do not fit better, only longer.
const POINTS: usize = 6000;
/// Rounds in which radii are fitted: the error is then a fiftieth of the first.
const FIT_ROUNDS: usize = 16;
/// Least radius after fitting, over that of the ball that touches the skin [-].
const LEAST_FITTED: f64 = 0.4;
/// Balls smaller than this share of the mesh's diagonal are wrinkles, not limbs.
const LEAST_RADIUS: f64 = 0.004;
/// Cosine of the angle under which a ball's centre sees two places of the skin that count as one [-]:
/// 45 degrees, as limbs of eight sides need.
const BESIDE_COS: f64 = 0.7;
/// Distance between the centres of balls of one limb, in radii of the larger: closer ones show as
/// little as one, further ones as beads.
const SPACING: f64 = 0.6;
/// Distance of a skin point from a ball's centre, in radii, up to which the ball will do for it: the
/// radii are fitted afterwards.
const COVERED: f64 = 1.08;

impl SkinFit<'_> {
    /// Balls that fill the actor's meshes, at most so many.
    #[must_use]
    pub fn balls(&self, most: usize) -> Vec<FittedBall> {
        let skin = self.skin();
        let points = skin.points(POINTS);
        let parents = self.parents(&points);
        let mut balls = choose(touching_balls(&skin, &points), most, &skin, &parents);
        self.fit_radii(&mut balls, &points, &parents);
        balls
    }

    /// The actor's meshes at the start, with what moves their vertices.
    fn skin(&self) -> Skin {
        let mut skin = Skin::default();
        for &mesh in self.meshes {
            let source = self.character.map(|c| &c.meshes[mesh - self.first]);
            let hold_of = |vertex: usize| {
                let Some((character, source)) = self.character.zip(source) else {
                    return Hold::by(0);
                };
                let Some(joints) = source.skin.map(|s| &character.skins[s].joints) else {
                    return Hold::by(source.node);
                };
                let root = self.context.frame.meshes[mesh].topology.root_vertex(vertex);
                let holds = source.influences.of(root);
                let holds: Vec<(Hold, f64)> =
                    holds.map(|(j, w)| (Hold::by(joints[j as usize]), f64::from(w))).collect();
                Hold::mean(holds.iter().map(|(hold, weight)| (hold, *weight)))
            };
            skin.add(&self.context.frame.meshes[mesh], hold_of);
        }
        skin.finish()
    }

    /// For every node: its next ancestor that moves skin.
    fn parents(&self, skin: &[SkinPoint]) -> Vec<Option<usize>> {
        let Some(character) = self.character else { return vec![None] };
        let mut moves = vec![false; character.skeleton.nodes().len()];
        skin.iter().for_each(|p| moves[p.moved_by.strongest()] = true);
        next_ancestors(character, |node| moves[node])
    }

    /// Makes balls thicker or thinner until the skin they are the strongest at lies on the surface;
    /// leaves out those that are spare.
    fn fit_radii(
        &self,
        balls: &mut Vec<FittedBall>,
        skin: &[SkinPoint],
        parents: &[Option<usize>],
    ) {
        // Radii stay near those that touch the skin: fitted freely, one ball would eat its neighbours.
        let first: Vec<f64> = balls.iter().map(|b| b.radius).collect();
        for _ in 0..FIT_ROUNDS {
            let mut sums = vec![(0.0, 0.0); balls.len()];
            for point in skin {
                let (mut value, mut slope, mut best) = (0.0, 0.0, (0.0, usize::MAX));
                for (i, ball) in balls.iter().enumerate() {
                    let distance = ball.center.distance(point.at);
                    if distance >= self.reach * ball.radius
                        || !related(parents, ball.moved_by.strongest(), point.moved_by.strongest())
                    {
                        continue;
                    }
                    // In units of the level: only shapes matter here.
                    let support = self.reach * ball.radius;
                    let profile = FieldProfile {
                        thickness: ball.radius,
                        support,
                        stiffness: 1.0 / (support - ball.radius),
                        hardening: 0.0,
                        level: 1.0,
                    };
                    let (f, s) = profile.value_and_slope(distance);
                    value += f;
                    slope += s.abs();
                    if f > best.0 {
                        best = (f, i);
                    }
                }
                if let Some(sum) = sums.get_mut(best.1) {
                    *sum = (sum.0 + (value - 1.0) / slope.max(1e-9), sum.1 + 1.0);
                }
            }
            for ((ball, sum), first) in balls.iter_mut().zip(&sums).zip(&first) {
                // One that is nowhere the strongest has nothing to be fitted to: it gives way.
                let excess = if sum.1 > 0.0 { sum.0 / sum.1 } else { 0.05 * first };
                ball.radius =
                    (ball.radius - 0.7 * excess).clamp(LEAST_FITTED * first, 1.15 * first);
            }
        }
        // Those that gave way all they could are spare: the others make the skin without them. Those
        // that have become very small are warts.
        let places = skin.iter().fold(Bounds::EMPTY, |b, p| b.including(p.at.as_vec3()));
        let wart = 0.75 * LEAST_RADIUS * f64::from(places.diagonal());
        let mut firsts = first.iter();
        let spare = |f: &f64| 1.1 * LEAST_FITTED * f;
        balls.retain(|b| firsts.next().is_some_and(|f| b.radius > spare(f).max(wart)));
    }
}

/// For every node: its next ancestor that counts.
#[must_use]
pub fn next_ancestors(character: &Character, counts: impl Fn(usize) -> bool) -> Vec<Option<usize>> {
    let nodes = character.skeleton.nodes();
    let parent_of = |node: usize| {
        let mut up = nodes[node].parent;
        while let Some(parent) = up.filter(|p| !counts(*p)) {
            up = nodes[parent].parent;
        }
        up
    };
    (0..nodes.len()).map(parent_of).collect()
}

/// Whether coats of two nodes blend: of one, or of one and its next ancestor that moves skin.
#[must_use]
pub fn related(parents: &[Option<usize>], a: usize, b: usize) -> bool {
    a == b || parents[a] == Some(b) || parents[b] == Some(a)
}

/// From every point the largest ball that touches the skin there from inside (the shrinking ball of
/// J. Ma, S. W. Bae, S. Choi, *3D medial axis point approximation using nearest neighbors*, 2012).
fn touching_balls(skin: &Skin, points: &[SkinPoint]) -> Vec<FittedBall> {
    let (surface, size) = (skin.surface(), skin.size());
    let mut balls = Vec::new();
    for &SkinPoint { at, inward, .. } in points {
        // No ball reaches through the far skin of its limb into whatever lies beside it.
        let within = at + 1e-4 * size * inward;
        let across = surface.bvh().raycast(within.as_vec3(), inward.as_vec3(), size as f32);
        let mut radius = 0.5 * across.map_or(size, |hit| f64::from(hit.distance) + 1e-4 * size);
        for _ in 0..20 {
            let center = at + radius * inward;
            let near = surface.bvh().closest_point(center.as_vec3(), f32::MAX);
            let Some(hit) = near.filter(|h| f64::from(h.distance) < 0.98 * radius) else { break };
            let away = at - hit.point.as_dvec3();
            // Faces beside the point, seen under a small angle, are the skin it is on: coarse limbs
            // would be left with no ball at all.
            let across = hit.point.as_dvec3() - center;
            let normal = surface.bvh().face_normal(hit.triangle).as_dvec3();
            let inside = across.dot(normal) > 0.0;
            if inside && across.normalize_or_zero().dot(-inward) > BESIDE_COS {
                break;
            }
            // The ball through the point that also touches what was nearest.
            let next = away.length_squared() / (2.0 * -inward.dot(away)).abs().max(1e-12);
            if next.is_nan() || next >= radius {
                break;
            }
            radius = next;
        }
        let center = at + radius * inward;
        // Never beyond the skin, whatever the normals were.
        let near = surface.bvh().closest_point(center.as_vec3(), radius as f32);
        let radius = near.map_or(radius, |hit| f64::from(hit.distance));
        if radius > LEAST_RADIUS * size {
            let moved_by = Skin::hold_of_ball(points, center, radius);
            balls.push(FittedBall { moved_by, center, radius, touched: at });
        }
    }
    balls
}

/// The largest balls inside the skin, none of which begins inside another that it blends with, or
/// touches skin that another has come near enough.
fn choose(
    mut candidates: Vec<FittedBall>,
    most: usize,
    skin: &Skin,
    parents: &[Option<usize>],
) -> Vec<FittedBall> {
    // Stable: of two as large the one found first on the skin comes first, always.
    candidates.sort_by(|a, b| b.radius.total_cmp(&a.radius));
    let mut chosen: Vec<FittedBall> = Vec::new();
    for ball in candidates {
        if chosen.len() >= most {
            break;
        }
        let spare = |c: &FittedBall| {
            related(parents, c.moved_by.strongest(), ball.moved_by.strongest())
                && (c.center.distance(ball.center) < SPACING * c.radius
                    || c.center.distance(ball.touched) < COVERED * c.radius)
        };
        if !chosen.iter().any(spare) && skin.contains(ball.center) {
            chosen.push(ball);
        }
    }
    chosen
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use glam::Vec3;

    use crate::geometry::Mesh;

    /// A tapered, bent-free limb: radius from 0.1 to 0.05 over a length of 0.6.
    pub fn limb() -> Mesh {
        let (rings, sectors) = (40u32, 24u32);
        let mut positions = vec![Vec3::ZERO, Vec3::X * 0.6];
        let radius = |x: f32| 0.1 - 0.05 * x / 0.6;
        for r in 0..rings {
            // Round caps: rings run over the ends as on a ball.
            let along = (r as f32 + 0.5) / rings as f32;
            let x = 0.6 * along;
            let cap = (1.0 - (2.0 * along - 1.0).abs().powi(12)).sqrt();
            for k in 0..sectors {
                let (s, c) = (std::f32::consts::TAU * k as f32 / sectors as f32).sin_cos();
                positions.push(Vec3::new(x, cap * radius(x) * c, cap * radius(x) * s));
            }
        }
        let at = |r: u32, k: u32| 2 + r * sectors + k % sectors;
        let mut triangles = Vec::new();
        for k in 0..sectors {
            triangles.push([0, at(0, k + 1), at(0, k)]);
            triangles.push([1, at(rings - 1, k), at(rings - 1, k + 1)]);
            for r in 0..rings - 1 {
                triangles.push([at(r, k), at(r, k + 1), at(r + 1, k)]);
                triangles.push([at(r + 1, k), at(r, k + 1), at(r + 1, k + 1)]);
            }
        }
        Mesh::new("limb", positions, triangles)
    }

    fn skin_of(mesh: &Mesh, node: impl Fn(usize) -> usize) -> (Skin, Vec<SkinPoint>) {
        let mut skin = Skin::default();
        skin.add(mesh, |v| Hold::by(node(v)));
        let skin = skin.finish();
        let points = skin.points(2000);
        (skin, points)
    }

    #[test]
    fn a_limb_beside_a_thicker_one_has_no_ball_inside_it() {
        let mut mesh = limb();
        let count = mesh.positions.len();
        // A hand a third as thick hangs beside it, as beside a hip.
        let hand = mesh.positions.iter().map(|p| Vec3::new(0.1, 0.0, 0.13) + *p / 3.0);
        let positions: Vec<Vec3> = mesh.positions.iter().copied().chain(hand).collect();
        let shifted = mesh.topology.triangles.iter().map(|t| t.map(|v| v + count as u32));
        let triangles = mesh.topology.triangles.iter().copied().chain(shifted).collect();
        mesh = Mesh::new("hip and hand", positions, triangles);
        let (skin, points) = skin_of(&mesh, |v| usize::from(v >= count));
        let balls = touching_balls(&skin, &points);
        assert!(balls.iter().any(|b| b.moved_by.strongest() == 1), "the hand has balls");
        for ball in balls.iter().filter(|b| b.moved_by.strongest() == 1) {
            assert!(ball.center.z > 0.095, "{ball:?} is in the hip");
        }
    }

    #[test]
    fn balls_in_a_tapered_limb_taper_with_it() {
        let mesh = limb();
        let (skin, points) = skin_of(&mesh, |_| 0);
        let balls = choose(touching_balls(&skin, &points), 60, &skin, &[None]);
        assert!((6..40).contains(&balls.len()), "{}", balls.len());
        for b in &balls {
            // On the axis and as thick as the limb is there, away from the caps.
            if (0.1..0.5).contains(&b.center.x) {
                let expected = 0.1 - 0.05 * b.center.x / 0.6;
                assert!((b.radius / expected - 1.0).abs() < 0.05, "{b:?}");
                assert!(b.center.y.hypot(b.center.z) < 0.05 * expected, "{b:?}");
            }
        }
    }
}
