//! Folds must not pass through the skin that faces them in a deep crease.

use glam::Vec3;

use super::Grid;
use crate::tolerances;

/// Finds the room in front of displaced points. Storage is reused from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct FoldGuard {
    grid: Grid,
}

impl FoldGuard {
    /// Limits displacements along the normals so that points that face each other keep apart.
    ///
    /// For every point the nearest facing one in front of it is found among the folded points; each
    /// may use less than half of the gap.
    pub fn apply(
        &mut self,
        positions: &[Vec3],
        normals: &[Vec3],
        heights: &mut [f32],
        spacing: f32,
    ) {
        let reach = heights.iter().fold(0.0f32, |m, h| m.max(h.abs()));
        if reach <= 0.0 || positions.is_empty() {
            return;
        }
        let search = 2.0 * reach + spacing;
        self.grid.build_points(positions, search);
        for i in 0..positions.len() {
            if heights[i] <= 0.0 {
                continue;
            }
            let (p, n) = (positions[i], normals[i]);
            let mut room = f32::INFINITY;
            self.grid.query(p - Vec3::splat(search), p + Vec3::splat(search), |j| {
                let j = j as usize;
                let ahead = (positions[j] - p).dot(n);
                let facing = normals[j].dot(n) < tolerances::GUARD_FACING_COSINE;
                let beside = (positions[j] - p - ahead * n).length();
                if facing && ahead > 0.0 && beside < spacing {
                    room = room.min(ahead);
                }
            });
            heights[i] = heights[i].min(tolerances::GUARD_SHARE * room);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facing_walls_share_the_gap() {
        let positions = vec![Vec3::ZERO, Vec3::Y * 0.02];
        let normals = vec![Vec3::Y, -Vec3::Y];
        let mut heights = vec![0.05, 0.05];
        FoldGuard::default().apply(&positions, &normals, &mut heights, 0.01);
        assert!(heights[0] + heights[1] < 0.02);
        let mut free = vec![0.05, 0.05];
        FoldGuard::default().apply(&positions, &[Vec3::Y, Vec3::Y], &mut free, 0.01);
        assert_eq!(free, [0.05, 0.05]);
    }
}
