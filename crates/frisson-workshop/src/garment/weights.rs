//! How a garment follows the body before it is simulated: as the skin under it does.

use frisson::character::{Character, Influences, Pose, Skin};
use frisson::geometry::{Mesh, TriangleBvh};
use glam::Vec3;

/// A skin for the garment, and each vertex's weights: those of the nearest place of the bodies. A rigid part
/// of a body counts as a joint.
pub fn of_skin_below(
    character: &Character,
    pose: &Pose,
    meshes: &[Mesh],
    bodies: &[usize],
    garment: &Mesh,
) -> (Skin, Influences) {
    let trees: Vec<TriangleBvh> = bodies
        .iter()
        .map(|&i| TriangleBvh::build(&meshes[i].positions, &meshes[i].topology.triangles))
        .collect();
    let mut joints: Vec<usize> = Vec::new();
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
    if joints.is_empty() {
        joints.push(0);
    }
    let inverse = |&node: &usize| pose.world_from_node[node].inverse();
    let inverse_bind = joints.iter().map(inverse).collect();
    let skin = Skin { name: garment.name.clone(), joints, inverse_bind };
    (skin, Influences::from_lists(&lists))
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
