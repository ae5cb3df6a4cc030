//! Bodies that follow something: keys, an actor's joints or skin, a mesh of the frame.

use glam::{DQuat, DVec3};

use super::build_coats::{joint_points, skinned_point};
use super::scratch::SoftScratch;
use super::state::SoftState;
use super::step::{Given, Instant};
use super::structure::MovedBy;
use crate::character::rotation_of;

/// Puts bodies that follow something in their place, and carries all coats along.
pub(super) fn place_coats(
    given: Given<'_>,
    state: &mut SoftState,
    scratch: &mut SoftScratch,
    now: Instant<'_>,
) {
    let context = now.context;
    scratch.pose_actors(given.rest, context, now.time);
    let frame = now.frame();
    for (index, rest) in given.rest.bodies.iter().enumerate() {
        let body = &mut state.bodies[index];
        let (position, rotation) = match &rest.moved_by {
            MovedBy::Free => continue,
            MovedBy::Keyed(object, own) => {
                // Both at once: an object is carried through the scene while its parts move against each other.
                let at = |i: usize| object[i].at(frame) + own[i].at(frame);
                (rest.start + DVec3::new(at(0), at(1), at(2)), DQuat::IDENTITY)
            }
            MovedBy::Surface { .. } => {
                let (from, to, axes) = scratch.hanging[index];
                (from.lerp(to, f64::from(now.fraction)), axes)
            }
            MovedBy::Rigid { actor, at } => {
                let world = context.actors.all()[*actor].rigid_at(now.time);
                let world = world.unwrap_or_default();
                let place = world.as_dmat4().transform_point3(*at);
                (place, rotation_of(world).as_dquat())
            }
            MovedBy::Skin { actor, nodes } => {
                let pose = &scratch.poses[*actor];
                let turned = rotation_of(pose.world_from_node[nodes[0].0]);
                (skinned_point(nodes, pose), turned.as_dquat())
            }
            MovedBy::Joints { actor, from, .. } => {
                let pose = &scratch.poses[*actor];
                let points = joint_points(&rest.moved_by, pose);
                (points.as_slice()[0], rotation_of(pose.world_from_node[*from]).as_dquat())
            }
        };
        // At the first instant there is no way behind it: it starts with no velocity.
        if now.dt > 0.0 {
            body.velocity = (position - body.position) / now.dt;
            let way = rotation * body.rotation.inverse();
            // The shorter way round.
            let way = if way.w < 0.0 { -way } else { way };
            body.spin = way.to_scaled_axis() / now.dt;
        }
        (body.position, body.rotation) = (position, rotation);
    }
    scratch.carry_fields(given.params, given.rest, state);
}
