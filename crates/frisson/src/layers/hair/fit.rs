//! Ellipsoids fitted to a character from its skinned mesh and joints.

use glam::{EulerRot, Mat3, Quat, Vec3};

use super::bodies::HairBody;
use crate::character::{Character, Pose};
use crate::stage::{ActorSet, ColliderShape};

/// Fewest vertices that say something about a limb's shape.
const FEWEST: usize = 24;

/// An ellipsoid carried by a joint.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    pub actor: usize,
    pub node: usize,
    pub shape: ColliderShape,
}

/// One ellipsoid per joint that moves enough vertices, the largest first, at most `most`.
pub(super) fn fit_ellipsoids(actor: usize, character: &Character, most: usize) -> Vec<Fitted> {
    let mut clouds: Vec<Vec<Vec3>> = vec![Vec::new(); character.skeleton.nodes().len()];
    for source in &character.meshes {
        let Some(skin) = source.skin.and_then(|s| character.skins.get(s)) else {
            clouds[source.node].extend_from_slice(&source.mesh.positions);
            continue;
        };
        for (vertex, &p) in source.mesh.positions.iter().enumerate() {
            // Each vertex counts for one joint only: shared ones would swell the ellipsoids on both sides of a joint.
            let strongest = source.influences.of(vertex).max_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((joint, _)) = strongest {
                let local = skin.inverse_bind[joint as usize].transform_point3(p);
                clouds[skin.joints[joint as usize]].push(local);
            }
        }
    }
    let mut out: Vec<(f32, Fitted)> = clouds
        .iter()
        .enumerate()
        .filter(|(_, cloud)| cloud.len() >= FEWEST)
        .map(|(node, cloud)| {
            let (shape, volume) = fit(cloud);
            (volume, Fitted { actor, node, shape })
        })
        .collect();
    out.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.node.cmp(&b.1.node)));
    out.truncate(most);
    out.into_iter().map(|(_, f)| f).collect()
}

/// The ellipsoid whose surface has the same mean and covariance as the points: on an ellipsoid's
/// surface, seen from its centre, the mean square of each coordinate is a third of the semi-axis
/// squared (exactly so for a ball).
fn fit(cloud: &[Vec3]) -> (ColliderShape, f32) {
    let count = cloud.len() as f32;
    let center = cloud.iter().copied().sum::<Vec3>() / count;
    let mut covariance = Mat3::ZERO;
    for &p in cloud {
        let d = p - center;
        covariance += Mat3::from_cols(d * d.x, d * d.y, d * d.z);
    }
    let (axes, values) = eigen(covariance * (1.0 / count));
    let radii = (3.0 * values).max(Vec3::splat(1.0e-8)).map(f32::sqrt);
    let (z, y, x) = Quat::from_mat3(&axes).to_euler(EulerRot::ZYX);
    let shape = ColliderShape::Ellipsoid {
        center: center.to_array(),
        radii: radii.to_array(),
        rotate_deg: [x, y, z].map(f32::to_degrees),
    };
    (shape, radii.element_product())
}

/// Axes (columns, right-handed) and eigenvalues of a symmetric matrix, by Jacobi rotations.
fn eigen(matrix: Mat3) -> (Mat3, Vec3) {
    let mut a = matrix;
    let mut axes = Mat3::IDENTITY;
    for _ in 0..16 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = a.col(q)[p];
            if off.abs() < 1.0e-14 {
                continue;
            }
            let theta = 0.5 * (2.0 * off).atan2(a.col(q)[q] - a.col(p)[p]);
            let (s, c) = theta.sin_cos();
            let mut turn = Mat3::IDENTITY;
            turn.col_mut(p)[p] = c;
            turn.col_mut(p)[q] = -s;
            turn.col_mut(q)[p] = s;
            turn.col_mut(q)[q] = c;
            a = turn.transpose() * a * turn;
            axes *= turn;
        }
    }
    // A mirrored frame is no rotation.
    if axes.determinant() < 0.0 {
        axes.z_axis = -axes.z_axis;
    }
    (axes, Vec3::new(a.x_axis.x, a.y_axis.y, a.z_axis.z))
}

/// The fitted ellipsoids as bodies moving from one pose to another.
pub(super) fn body(fitted: &Fitted, before: &Pose, now: &Pose, friction: f32) -> HairBody {
    let (start, _) = rigid(before, fitted.node);
    let (end, scale) = rigid(now, fitted.node);
    // Joints may scale; a body that changes its size within a tick does so at its end.
    let mut shape = fitted.shape.clone();
    if let ColliderShape::Ellipsoid { center, radii, .. } = &mut shape {
        *center = center.map(|c| c * scale);
        *radii = radii.map(|r| r * scale);
    }
    HairBody { shape, poses: [start, end], friction }
}

fn rigid(pose: &Pose, node: usize) -> ((Quat, Vec3), f32) {
    let m = pose.world_from_node[node];
    let scale = m.x_axis.truncate().length();
    let axes = Mat3::from_cols(
        m.x_axis.truncate().normalize_or(Vec3::X),
        m.y_axis.truncate().normalize_or(Vec3::Y),
        m.z_axis.truncate().normalize_or(Vec3::Z),
    );
    ((Quat::from_mat3(&axes).normalize(), m.w_axis.truncate()), scale)
}

/// The actor a mesh belongs to, if it is a character.
pub(super) fn actor_of_mesh(actors: &ActorSet, mesh: usize) -> Option<usize> {
    (0..actors.all().len())
        .find(|&a| actors.mesh_range(a).contains(&mesh) && actors.all()[a].character().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    #[test]
    fn a_turned_ellipsoid_is_found_again() {
        let turn = Quat::from_euler(EulerRot::ZYX, 0.7, -0.4, 1.1);
        let (center, radii) = (Vec3::new(0.1, 0.5, -0.2), Vec3::new(0.3, 0.2, 0.12));
        // Directions spread evenly, then stretched: coordinate squares average to a third.
        let cloud: Vec<Vec3> = (0..4000u64)
            .map(|i| {
                let z = random::signed(1, i, 0) as f32;
                let angle = std::f32::consts::PI * random::signed(1, i, 1) as f32;
                let flat = (1.0 - z * z).sqrt();
                let ball = Vec3::new(flat * angle.cos(), flat * angle.sin(), z);
                center + turn * (radii * ball)
            })
            .collect();
        let (shape, _) = fit(&cloud);
        let worst = cloud.iter().map(|&p| shape.signed_distance(p).0.abs()).fold(0.0, f32::max);
        assert!(worst < 0.012, "{worst} {shape:?}");
    }
}
