//! Folds must not pass through the skin that faces them in a deep crease.
//!
//! ```text
//!    \   |   /      two points p, q with normals n, m share the space between them: neither may
//!     p->|<-q       rise beyond the plane half-way, square to n - m. The same plane stops folds in a
//!      \_|_/        tight bend from rising beyond its centre.
//! ```

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
    /// Limits how far the surface may rise at each of `points` [m]: `room`, at the same indices, comes
    /// with the height that is wanted there, and goes with that or what there is room for.
    ///
    /// `obstacles` are the points that may be in the way, those themselves among them; `surface` has
    /// position and unit normal of every point. `spacing` is the length of an edge: what lies much
    /// further beside is not in front. Points whose normals are less than 60 degrees apart do not face each
    /// other; between neighbours among those, [`clearance`] is twice the radius of the bend.
    pub fn find_room(
        &mut self,
        points: &[u32],
        obstacles: &[u32],
        surface: &[[Vec3A; 2]],
        spacing: f32,
        room: &mut [f32],
    ) {
        let [aside, opposite] = tolerances::GUARD_FACING_COSINES;
        self.near.clear();
        self.near.extend(obstacles.iter().map(|&p| Vec3::from(surface[p as usize][0])));
        let [middle, edge] = tolerances::GUARD_BESIDE.map(|share| share * spacing);
        self.grid.build_points(&self.near, edge);
        for &point in points {
            let wanted = room[point as usize];
            if wanted <= 0.0 {
                continue;
            }
            let [p, n] = surface[point as usize];
            let mut least = 1.01 * wanted / tolerances::GUARD_SHARE;
            let search = least.max(edge);
            let low = Vec3::from(p - Vec3A::splat(search));
            self.grid.query(low, low + Vec3::splat(2.0 * search), |j| {
                let [place, normal] = surface[obstacles[j as usize] as usize];
                let (offset, facing) = (place - p, n.dot(normal));
                if facing >= aside {
                    return;
                }
                let clear = clearance(offset, n, normal);
                if clear >= least {
                    return;
                }
                let gap = clear * (0.5 * (1.0 - facing)).sqrt();
                let beside = (offset.length_squared() - gap * gap).max(0.0).sqrt();
                // Obstacles come in gradually from the side and as they turn: a fold never pops.
                let centred = ((edge - beside) / (edge - middle)).clamp(0.0, 1.0);
                let weight = centred * ((aside - facing) / (aside - opposite)).min(1.0);
                if weight > 0.0 {
                    least = least.min(clear / weight);
                }
            });
            room[point as usize] = tolerances::GUARD_SHARE * least;
        }
    }
}

/// Twice the way from a point along its normal to the plane half-way to another, `offset` away; infinite
/// where the two surfaces lean apart.
#[must_use]
pub fn clearance(offset: Vec3A, normal: Vec3A, other: Vec3A) -> f32 {
    let apart = normal - other;
    let (ahead, turn) = (offset.dot(apart), 0.5 * apart.length_squared());
    if ahead > 0.0 && turn > tolerances::GUARD_LEAST_TURN { ahead / turn } else { f32::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(normals: [Vec3; 2]) -> Vec<f32> {
        let surface = [[Vec3A::ZERO, normals[0].into()], [Vec3A::Y * 0.02, normals[1].into()]];
        let mut room = vec![0.05; 2];
        FoldGuard::default().find_room(&[0, 1], &[0, 1], &surface, 0.01, &mut room);
        room
    }

    #[test]
    fn facing_walls_share_the_gap() {
        let shared = room([Vec3::Y, -Vec3::Y]);
        assert!(shared[0] + shared[1] < 0.02 && shared[0] > 0.005, "{shared:?}");
        assert!(room([Vec3::Y, Vec3::Y]).iter().all(|&r| r > 0.05));
    }

    #[test]
    fn leaning_walls_share_the_wedge_and_bends_end_at_their_centre() {
        let at = |angle: f32, radius: f32| {
            let n = Vec3A::new(-angle.sin(), angle.cos(), 0.0);
            (-radius * n, n)
        };
        // Mirror images across x = 0 on a bend of radius 0.1: nothing rises beyond the centre.
        for degrees in [5f32, 20.0, 60.0, 85.0] {
            let ((p, n), (q, m)) = (at(-degrees.to_radians(), 0.1), at(degrees.to_radians(), 0.1));
            let clear = clearance(q - p, n, m);
            assert!((0.5 * clear - 0.1).abs() < 1e-5, "{degrees}: {clear}");
        }
        let ((p, n), (q, m)) = (at(0.3, -0.1), at(-0.3, -0.1));
        assert_eq!(clearance(q - p, n, m), f32::INFINITY, "a bulge has room");
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
