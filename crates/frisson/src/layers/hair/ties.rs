//! Ties, pins and braids: goals that are set while styling and held during the shot.

use glam::Vec3;

use super::rest::HairRest;
use super::style::StyleScene;
use crate::math::random;
use crate::stage::LayerError;

/// A tie that no hair is long enough for is a mistake in the scene.
pub(super) fn check(rest: &HairRest, scene: &StyleScene) -> Result<(), LayerError> {
    for (index, tie) in scene.params.style.ties.iter().enumerate() {
        let point = Vec3::from_array(tie.point);
        let away = || scene.poses.iter().map(|pose| point.distance(pose.skin));
        let held = away().zip(&rest.roots).any(|(d, root)| d <= tie.reach && d < root.length);
        if held {
            continue;
        }
        let nearest = away().fold(f32::INFINITY, f32::min);
        let longest = rest.roots.iter().map(|r| r.length).fold(0.0, f32::max);
        return Err(LayerError::parameter(
            format!("style.ties[{index}].point"),
            format!(
                "no hair reaches this tie: the nearest root is {nearest:.2} m away, `reach` is \
                 {:.2} m and the longest hair {longest:.2} m (points are in metres, in the pose of \
                 the first frame)",
                tie.reach
            ),
        ));
    }
    Ok(())
}

/// Decides which wisp is held by which tie, at which particle, and where its particles are drawn to
/// while styling.
pub(super) fn assign(rest: &mut HairRest, scene: &StyleScene) {
    let style = &scene.params.style;
    for (index, root) in rest.roots.iter_mut().enumerate() {
        let pose = &scene.poses[index];
        let nearest = style
            .ties
            .iter()
            .enumerate()
            .map(|(k, t)| (k, Vec3::from_array(t.point).distance(pose.skin)))
            .filter(|&(k, d)| d <= style.ties[k].reach && d < root.length)
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((tie, distance)) = nearest else { continue };
        let way = SLACK * around(pose, Vec3::from_array(style.ties[tie].point), distance);
        let along = (way - root.height) / root.segment;
        let particle = (1 + along.round().max(1.0) as usize).min(rest.count - 1);
        root.tie = Some((tie, particle));
        root.braid = style.braids.iter().position(|b| b.tie == tie);
        let params = &style.ties[tie];
        let seeded = |k| random::signed(scene.params.seed ^ 0x71E, index as u64, k) as f32;
        // Within the tie's ring, each wisp at a place of its own, else all would be drawn into one point and fight
        // there.
        let offset = params.radius * 0.6 * Vec3::new(seeded(0), seeded(1), seeded(2));
        let center = Vec3::from_array(params.point);
        for i in 2..rest.count {
            let place = match root.braid {
                Some(braid) if i > particle => {
                    // A strand that winds is a tenth longer than the braid.
                    let below = (i - particle) as f32 * root.segment * 0.9;
                    center + 0.3 * offset + braid_offset(&style.braids[braid], index % 3, below)
                }
                _ => center + offset,
            };
            root.goals[i] = pose.axes.transpose() * (place - pose.skin);
        }
    }
}

/// Hair on its way to a tie is that much longer than the shortest way [-].
const SLACK: f32 = 1.04;

/// Length of the way from a root to a point over the head: the arc of the circle through both that
/// leaves the root across its normal, where the straight line would lead into the head [m].
fn around(pose: &super::rest::RootPose, point: Vec3, distance: f32) -> f32 {
    let into = -pose.axes.z_axis.dot(point - pose.skin) / distance.max(1.0e-6);
    // On a circle the chord dips below the tangent by half the angle of the arc.
    let half = into.clamp(0.0, 1.0).asin();
    if half > 1.0e-3 { distance * half / half.sin() } else { distance }
}

/// A strand of a flat three-strand braid, below its tie: side to side once a turn, front to back
/// twice, a third of a turn apart.
fn braid_offset(braid: &super::style_params::BraidParams, strand: usize, below: f32) -> Vec3 {
    let down = Vec3::from_array(braid.direction).normalize_or(Vec3::NEG_Y);
    let side = super::rest::perpendicular(down);
    let back = down.cross(side);
    let turn = std::f32::consts::TAU;
    let phase = turn * (below / braid.pitch + strand as f32 / 3.0);
    let grown = (below / braid.radius.max(1.0e-4)).min(1.0);
    let across = grown * braid.radius * (phase.sin() * side + 0.5 * (2.0 * phase).sin() * back);
    down * below + across
}
