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

/// What is carried whole, and the axis it is laid around.
pub struct Band {
    /// So many vertices, the first of the garment.
    pub vertices: usize,
    /// A place in the plane.
    pub axis: Vec2,
}

/// A skin for the garment, and each vertex's weights: those of the nearest place of the bodies. A rigid part
/// of a body counts as a joint.
pub fn of_skin_below(
    character: &Character,
    pose: &Pose,
    meshes: &[Mesh],
    bodies: &[usize],
    garment: &Mesh,
    band: &Band,
) -> (Skin, Influences) {
    let trees: Vec<TriangleBvh> = bodies
        .iter()
        .map(|&i| TriangleBvh::build(&meshes[i].positions, &meshes[i].topology.triangles))
        .collect();
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
    for &p in &garment.positions {
        let mut list: Vec<(u16, f32)> = Vec::new();
        if let Some((body, triangle, shares)) = nearest(&trees, p) {
            let source = &character.meshes[bodies[body]];
            let corners = source.mesh.topology.triangles[triangle as usize];
            for (v, share) in corners.into_iter().zip(shares) {
                for (node, weight) in nodes_of(character, bodies[body], v as usize) {
                    add(&mut list, joint(node), share * weight);
                }
            }
        }
        lists.push(list);
    }
    let places: Vec<Vec3> = joints
        .iter()
        .map(|&node| pose.world_from_node[node].transform_point3(Vec3::ZERO))
        .collect();
    hold_whole(band, &garment.positions, &places, &mut lists);
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

/// Gives all vertices of the band the same weights: the mean of what the skin under it follows, of the trunk only.
fn hold_whole(band: &Band, positions: &[Vec3], joints: &[Vec3], lists: &mut [Vec<(u16, f32)>]) {
    let from_axis = |p: Vec3| Vec2::new(p.x, p.z).distance(band.axis);
    let ring = &positions[..band.vertices];
    let radius = ring.iter().map(|p| from_axis(*p)).sum::<f32>() / ring.len().max(1) as f32;
    let mut all: Vec<(u16, f32)> = Vec::new();
    for (joint, weight) in lists[..band.vertices].iter().flatten() {
        add(&mut all, *joint, *weight);
    }
    let sum = |list: &[(u16, f32)]| list.iter().map(|(_, w)| w).sum::<f32>();
    let is_of_trunk = |(j, _): &(u16, f32)| from_axis(joints[*j as usize]) < OF_TRUNK * radius;
    let trunk: Vec<(u16, f32)> = all.iter().copied().filter(is_of_trunk).collect();
    let mut held = if sum(&trunk) >= LEAST_TRUNK * sum(&all) { trunk } else { all };
    let whole = sum(&held).max(f32::MIN_POSITIVE);
    held.iter_mut().for_each(|(_, w)| *w /= whole);
    lists[..band.vertices].fill(held);
}

fn nearest(trees: &[TriangleBvh], p: Vec3) -> Option<(usize, u32, [f32; 3])> {
    let hits = trees.iter().enumerate().filter_map(|(i, tree)| {
        let hit = tree.closest_point(p, f32::MAX)?;
        Some((hit.point.distance_squared(p), (i, hit.triangle, hit.barycentric)))
    });
    hits.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, hit)| hit)
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

fn add(list: &mut Vec<(u16, f32)>, joint: u16, weight: f32) {
    match list.iter_mut().find(|(j, _)| *j == joint) {
        Some((_, sum)) => *sum += weight,
        None => list.push((joint, weight)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of eight vertices and one below it, a joint in the middle and one on either side.
    fn ring_and_joints() -> (Vec<Vec3>, Vec<Vec3>) {
        let around = |k: usize| Vec2::from_angle(0.25 * std::f32::consts::PI * k as f32);
        let mut ring: Vec<Vec3> =
            (0..8).map(|k| Vec3::new(around(k).x, 1.0, around(k).y)).collect();
        ring.push(Vec3::new(1.0, 0.0, 0.0));
        (ring, vec![Vec3::ZERO, Vec3::new(0.6, 0.0, 0.0), Vec3::new(-0.6, 0.0, 0.0)])
    }

    #[test]
    fn a_band_follows_the_trunk_as_one_piece() {
        let (ring, joints) = ring_and_joints();
        let band = Band { vertices: 8, axis: Vec2::ZERO };
        let side = |p: &Vec3| if p.x > 0.0 { 1 } else { 2 };
        let skin: Vec<Vec<(u16, f32)>> =
            ring.iter().map(|p| vec![(0, 0.4), (side(p), 0.6)]).collect();
        let mut lists = skin.clone();
        hold_whole(&band, &ring, &joints, &mut lists);
        // Legs pull neither side along; what hangs below stays as the skin is.
        assert!(lists[..8].iter().all(|list| *list == [(0, 1.0)]), "{lists:?}");
        assert_eq!(lists[8], skin[8]);
    }

    #[test]
    fn a_band_without_a_trunk_follows_the_mean_of_what_is_there() {
        let (ring, joints) = ring_and_joints();
        let band = Band { vertices: 8, axis: Vec2::ZERO };
        let mut lists: Vec<Vec<(u16, f32)>> =
            (0..9).map(|k| vec![(1 + u16::from(k < 4), 1.0)]).collect();
        hold_whole(&band, &ring, &joints, &mut lists);
        for list in &lists[..8] {
            assert_eq!(list.len(), 2);
            assert!(list.iter().all(|(_, w)| (w - 0.5).abs() < 1e-6), "{list:?}");
        }
    }
}
