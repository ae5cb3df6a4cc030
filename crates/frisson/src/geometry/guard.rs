//! Folds must not pass through the skin that faces them in a deep crease.

use glam::{Vec3, Vec3A};

use super::Grid;
use crate::tolerances;

/// Finds the room in front of the points of a mesh that is about to fold. Storage is reused from
/// frame to frame.
///
/// Room is found at the points of the coarse mesh and interpolated in between: creases deep enough to
/// matter are wider than its triangles, and a frame costs little.
#[derive(Clone, Debug, Default)]
pub struct FoldGuard {
    grid: Grid,
    near: Vec<Vec3>,
}

impl FoldGuard {
    /// How far the surface may rise at each of `points` [m], into `room` at the same indices.
    ///
    /// `obstacles` are the points that may be in the way, those themselves among them; `surface` has
    /// position and unit normal of every point. `reach` is the greatest height wanted: where nothing
    /// faces the point, room is a little more. `spacing` is the length of an edge: what lies twice as
    /// far beside is not in front.
    pub fn find_room(
        &mut self,
        points: &[u32],
        obstacles: &[u32],
        surface: &[[Vec3A; 2]],
        reach: f32,
        spacing: f32,
        room: &mut [f32],
    ) {
        let free = 1.01 * reach;
        self.near.clear();
        self.near.extend(obstacles.iter().map(|&p| Vec3::from(surface[p as usize][0])));
        let far = free / tolerances::GUARD_SHARE;
        let search = far.max(2.0 * spacing);
        self.grid.build_points(&self.near, search);
        let [aside, opposite] = tolerances::GUARD_FACING_COSINES;
        for &point in points {
            let [p, n] = surface[point as usize];
            let mut least = far;
            let low = Vec3::from(p - Vec3A::splat(search));
            self.grid.query(low, low + Vec3::splat(2.0 * search), |j| {
                let [place, normal] = surface[obstacles[j as usize] as usize];
                let offset = place - p;
                let (ahead, facing) = (offset.dot(n), n.dot(normal));
                if ahead <= 0.0 || ahead >= least || facing >= aside {
                    return;
                }
                let beside = (offset - ahead * n).length();
                // Obstacles come in gradually as they turn to face the point: a fold never pops.
                let turned = ((aside - facing) / (aside - opposite)).min(1.0);
                let centred = (2.0 - beside / spacing).clamp(0.0, 1.0);
                let weight = turned * centred;
                if weight > 0.0 {
                    least = least.min(ahead / weight);
                }
            });
            room[point as usize] = tolerances::GUARD_SHARE * least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(normals: [Vec3; 2]) -> Vec<f32> {
        let surface = [[Vec3A::ZERO, normals[0].into()], [Vec3A::Y * 0.02, normals[1].into()]];
        let mut room = vec![0.0; 2];
        FoldGuard::default().find_room(&[0, 1], &[0, 1], &surface, 0.05, 0.01, &mut room);
        room
    }

    #[test]
    fn facing_walls_share_the_gap() {
        let shared = room([Vec3::Y, -Vec3::Y]);
        assert!(shared[0] + shared[1] < 0.02 && shared[0] > 0.005, "{shared:?}");
        assert!(room([Vec3::Y, Vec3::Y]).iter().all(|&r| r > 0.05));
    }

    #[test]
    fn room_shrinks_gradually_as_walls_turn() {
        let at = |angle: f32| room([Vec3::Y, Vec3::new(angle.sin(), angle.cos(), 0.0)])[0];
        let steps: Vec<f32> = (0..=180).map(|d| at((d as f32).to_radians())).collect();
        assert!(steps.windows(2).all(|w| w[1] <= w[0] + 1e-6), "room only shrinks");
        let jump = steps.windows(2).fold(0.0f32, |m, w| m.max(w[0] - w[1]));
        assert!(jump < 0.012, "{jump}");
    }
}
