//! How a garment follows the body before it is simulated: as the skin under it does; its band as the trunk does.
//!
//! A band is pinned: whatever the weights do to it stays. Skin stretches where a leg or an arm begins, and from one
//! rigid part of a robot to the next; a band that followed it would be torn there, and with it the cloth below. So
//! a band is carried whole, by the joints of the trunk inside it.

use frisson::character::{Character, Influences, Pose, Skin};
use frisson::geometry::{Mesh, TriangleBvh};
use glam::{Vec2, Vec3};

/// Farthest from the axis that a joint of the trunk is, in mean radii of the band [-]: less than legs are at the hips,
/// more than a spine is behind the middle.
const OF_TRUNK: f32 = 0.5;
/// Least share of the skin under a band that joints of the trunk must carry to hold it alone [-].
const LEAST_TRUNK: f32 = 0.2;

/// What carries a band: nodes, each with its share.
pub type Carriers = Vec<(usize, f32)>;

/// A skin for the garment, and each vertex's weights: those of the nearest place of the bodies, or, where it `is_held`, of
/// what carries the band. A rigid part of a body counts as a joint.
pub fn of_skin_below(
    character: &Character,
    pose: &Pose,
    skin: &SkinLists,
    garment: &Mesh,
    (is_held, carriers): (&[bool], &Carriers),
) -> (Skin, Influences) {
    let mut joints: Vec<usize> = Vec::new();
    // In the order in which they are met, so that the same body gives the same file.
    let mut joint = |node: usize| {
        let known = joints.iter().position(|&j| j == node);
        known.unwrap_or_else(|| {
            joints.push(node);
            joints.len() - 1
        }) as u16
    };
    let mut lists: Vec<Vec<(u16, f32)>> = Vec::with_capacity(garment.positions.len());
    for p in &garment.positions {
        lists.push(skin.at(character, *p).into_iter().map(|(n, w)| (joint(n), w)).collect());
    }
    let whole: Vec<(u16, f32)> = carriers.iter().map(|(n, w)| (joint(*n), *w)).collect();
    let held = lists.iter_mut().zip(is_held).filter(|(_, held)| **held);
    held.for_each(|(list, _)| list.clone_from(&whole));
    if joints.is_empty() {
        // A body without triangles: a skin needs a joint, even if nothing follows it.
        joints.push(0);
    }
    // Bound where it is cut: in this pose the skin leaves the garment where it is.
    let inverse = |&node: &usize| pose.world_from_node[node].inverse();
    let inverse_bind = joints.iter().map(inverse).collect();
    let skin = Skin { name: garment.name.clone(), joints, inverse_bind };
    (skin, Influences::from_lists(&lists))
}

/// What carries the skin of some bodies, place by place.
pub struct SkinLists<'a> {
    bodies: &'a [usize],
    trees: Vec<TriangleBvh>,
}

impl<'a> SkinLists<'a> {
    /// Of the character's meshes as they are posed.
    pub fn of(meshes: &[Mesh], bodies: &'a [usize]) -> Self {
        let tree =
            |&i: &usize| TriangleBvh::build(&meshes[i].positions, &meshes[i].topology.triangles);
        Self { bodies, trees: bodies.iter().map(tree).collect() }
    }

    /// The nodes that carry the skin nearest to a point, with their weights.
    fn at(&self, character: &Character, p: Vec3) -> Vec<(usize, f32)> {
        let mut list: Vec<(usize, f32)> = Vec::new();
        let Some(place) = nearest(&self.trees, p) else { return list };
        let body = self.bodies[place.body];
        let corners = character.meshes[body].mesh.topology.triangles[place.triangle as usize];
        for (v, share) in corners.into_iter().zip(place.shares) {
            for (node, weight) in nodes_of(character, body, v as usize) {
                add(&mut list, node, share * weight);
            }
        }
        list
    }

    /// What carries a band of such points as one piece.
    pub fn carriers(
        &self,
        character: &Character,
        pose: &Pose,
        band: &[Vec3],
        axis: Vec2,
    ) -> Carriers {
        let lists: Vec<Vec<(usize, f32)>> = band.iter().map(|p| self.at(character, *p)).collect();
        let origin = |node: usize| pose.world_from_node[node].transform_point3(Vec3::ZERO);
        carried_whole(&lists, band, origin, axis)
    }
}

/// The mean of what the skin under a band follows, of the trunk only: what is near the axis.
fn carried_whole(
    lists: &[Vec<(usize, f32)>],
    band: &[Vec3],
    origin: impl Fn(usize) -> Vec3,
    axis: Vec2,
) -> Carriers {
    let from_axis = |p: Vec3| Vec2::new(p.x, p.z).distance(axis);
    let radius = band.iter().map(|p| from_axis(*p)).sum::<f32>() / band.len().max(1) as f32;
    let mut all: Carriers = Vec::new();
    for (node, weight) in lists.iter().flatten() {
        add(&mut all, *node, *weight);
    }
    let sum = |list: &[(usize, f32)]| list.iter().map(|(_, w)| w).sum::<f32>();
    let is_of_trunk = |(node, _): &(usize, f32)| from_axis(origin(*node)) < OF_TRUNK * radius;
    let trunk: Carriers = all.iter().copied().filter(is_of_trunk).collect();
    let mut held = if sum(&trunk) >= LEAST_TRUNK * sum(&all) { trunk } else { all };
    let whole = sum(&held).max(f32::MIN_POSITIVE);
    held.iter_mut().for_each(|(_, w)| *w /= whole);
    held
}

/// A place on a body's skin.
#[derive(Clone, Copy, Debug)]
pub struct SkinPlace {
    /// Which of the bodies.
    pub body: usize,
    /// Which of its triangles.
    pub triangle: u32,
    /// Shares of the triangle's corners.
    pub shares: [f32; 3],
}

/// The nearest place of some bodies to each point; `None` without triangles.
pub fn skin_places(trees: &[TriangleBvh], points: &[Vec3]) -> Vec<Option<SkinPlace>> {
    points.iter().map(|p| nearest(trees, *p)).collect()
}

fn nearest(trees: &[TriangleBvh], p: Vec3) -> Option<SkinPlace> {
    let hits = trees.iter().enumerate().filter_map(|(body, tree)| {
        let hit = tree.closest_point(p, f32::MAX)?;
        let place = SkinPlace { body, triangle: hit.triangle, shares: hit.barycentric };
        Some((hit.point.distance_squared(p), place))
    });
    hits.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, place)| place)
}

/// The nodes that carry a vertex, with their weights.
fn nodes_of(character: &Character, mesh: usize, vertex: usize) -> Vec<(usize, f32)> {
    let source = &character.meshes[mesh];
    match source.skin.map(|s| &character.skins[s]) {
        Some(skin) => {
            source.influences.of(vertex).map(|(j, w)| (skin.joints[j as usize], w)).collect()
        }
        None => vec![(source.node, 1.0)],
    }
}

fn add(list: &mut Vec<(usize, f32)>, node: usize, weight: f32) {
    match list.iter_mut().find(|(n, _)| *n == node) {
        Some((_, sum)) => *sum += weight,
        None => list.push((node, weight)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of eight points, a joint in the middle and one on either side.
    fn ring_and_joints() -> (Vec<Vec3>, [Vec3; 3]) {
        let around = |k: usize| Vec2::from_angle(0.25 * std::f32::consts::PI * k as f32);
        let ring = (0..8).map(|k| Vec3::new(around(k).x, 1.0, around(k).y)).collect();
        (ring, [Vec3::ZERO, Vec3::new(0.6, 0.0, 0.0), Vec3::new(-0.6, 0.0, 0.0)])
    }

    #[test]
    fn a_band_follows_the_trunk_as_one_piece() {
        let (ring, joints) = ring_and_joints();
        let side = |p: &Vec3| if p.x > 0.0 { 1 } else { 2 };
        let skin: Vec<Vec<(usize, f32)>> =
            ring.iter().map(|p| vec![(0, 0.4), (side(p), 0.6)]).collect();
        // Legs pull neither side along.
        assert_eq!(carried_whole(&skin, &ring, |n| joints[n], Vec2::ZERO), [(0, 1.0)]);
    }

    #[test]
    fn a_band_without_a_trunk_follows_the_mean_of_what_is_there() {
        let (ring, joints) = ring_and_joints();
        let skin: Vec<Vec<(usize, f32)>> =
            (0..8).map(|k| vec![(1 + usize::from(k < 4), 1.0)]).collect();
        let carriers = carried_whole(&skin, &ring, |n| joints[n], Vec2::ZERO);
        assert_eq!(carriers.len(), 2);
        assert!(carriers.iter().all(|(_, w)| (w - 0.5).abs() < 1e-6), "{carriers:?}");
    }
}
