//! Few shapes for many frames.
//!
//! The frame that is worst off becomes the next shape, less what the shapes so far already give it;
//! all frames take their part of it; and so on until all are close enough. What is bounded is the
//! largest distance of any vertex, which is what one sees.

use glam::Vec3;
use rayon::prelude::*;

/// Shapes and how much of each every frame takes.
#[derive(Clone, Debug, Default)]
pub(super) struct ShapeSet {
    /// Moves of every vertex.
    pub shapes: Vec<Vec<Vec3>>,
    /// Of every frame: one weight a shape.
    pub weights: Vec<Vec<f32>>,
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a.dot(*b))).sum()
}

/// Largest length of a move.
fn reach(moves: &[Vec3]) -> f32 {
    moves.iter().map(|m| m.length_squared()).fold(0.0, f32::max).sqrt()
}

impl ShapeSet {
    /// At most `limit` shapes. Without a tolerance, and where frames are no more than that, every
    /// frame that moves has its own.
    pub fn build(frames: &[Vec<Vec3>], limit: usize, tolerance: f32) -> Self {
        let moving = frames.iter().filter(|f| reach(f) > 0.0).count();
        if tolerance <= 0.0 && moving <= limit {
            return Self::one_a_frame(frames);
        }
        let mut rest: Vec<Vec<Vec3>> = frames.to_vec();
        let mut out = Self { shapes: Vec::new(), weights: vec![Vec::new(); frames.len()] };
        // One shape more will hold what all frames share.
        let own = limit.saturating_sub(1).max(1);
        while out.shapes.len() < own {
            let reaches: Vec<f32> = rest.par_iter().map(|f| reach(f)).collect();
            let worst = (0..reaches.len()).max_by(|&a, &b| reaches[a].total_cmp(&reaches[b]));
            let Some(worst) = worst.filter(|&w| reaches[w] > tolerance.max(0.0)) else { break };
            let shape = rest[worst].clone();
            let square = dot(&shape, &shape);
            if square <= 0.0 {
                break;
            }
            rest.par_iter_mut().zip(&mut out.weights).for_each(|(frame, weights)| {
                let part = (dot(frame, &shape) / square) as f32;
                frame.iter_mut().zip(&shape).for_each(|(m, s)| *m -= part * *s);
                weights.push(part);
            });
            out.shapes.push(shape);
        }
        if limit > 1 {
            out.bring_weights_between_0_and_1();
        }
        out
    }

    /// Programs cut weights off at 0 and 1: every shape spans the range it is used in, and where the
    /// ranges begin becomes a shape of its own that is always there.
    fn bring_weights_between_0_and_1(&mut self) {
        let Some(count) = self.shapes.first().map(Vec::len) else { return };
        let mut shared = vec![Vec3::ZERO; count];
        for (k, shape) in self.shapes.iter_mut().enumerate() {
            let of_shape = self.weights.iter().map(|w| w[k]);
            let (low, high) = of_shape.fold((f32::MAX, f32::MIN), |(a, b), w| (a.min(w), b.max(w)));
            shared.iter_mut().zip(&*shape).for_each(|(s, m)| *s += low * *m);
            let span = high - low;
            shape.iter_mut().for_each(|m| *m *= span);
            for weights in &mut self.weights {
                weights[k] = if span > 0.0 { (weights[k] - low) / span } else { 0.0 };
            }
        }
        self.shapes.push(shared);
        self.weights.iter_mut().for_each(|w| w.push(1.0));
    }

    fn one_a_frame(frames: &[Vec<Vec3>]) -> Self {
        let shapes: Vec<usize> = (0..frames.len()).filter(|&f| reach(&frames[f]) > 0.0).collect();
        let weights = |frame: usize| shapes.iter().map(|&s| f32::from(s == frame)).collect();
        Self {
            weights: (0..frames.len()).map(weights).collect(),
            shapes: shapes.iter().map(|&s| frames[s].clone()).collect(),
        }
    }

    /// The moves that a frame gets.
    pub fn compute_moves(&self, frame: usize, out: &mut Vec<Vec3>) {
        out.clear();
        out.resize(self.shapes.first().map_or(0, Vec::len), Vec3::ZERO);
        for (shape, &weight) in self.shapes.iter().zip(&self.weights[frame]) {
            if weight != 0.0 {
                out.iter_mut().zip(shape).for_each(|(o, s)| *o += weight * *s);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three patterns in changing parts, a little noise.
    fn frames() -> Vec<Vec<Vec3>> {
        let pattern = |k: usize, v: usize| ((k + 1) as f32 * v as f32 * 0.37).sin();
        (0..60)
            .map(|f| {
                let part = |k: usize| (f as f32 * 0.1 * (k + 1) as f32).cos();
                (0..50)
                    .map(|v| {
                        let height: f32 = (0..3).map(|k| part(k) * pattern(k, v)).sum();
                        Vec3::new(0.0, height, 1e-4 * ((f * 7 + v * 3) as f32).sin())
                    })
                    .collect()
            })
            .collect()
    }

    fn error(set: &ShapeSet, frames: &[Vec<Vec3>]) -> f32 {
        let mut shape = Vec::new();
        let mut worst = 0.0f32;
        for (k, frame) in frames.iter().enumerate() {
            set.compute_moves(k, &mut shape);
            let off = frame.iter().zip(&shape).map(|(a, b)| a.distance(*b));
            worst = off.fold(worst, f32::max);
        }
        worst
    }

    #[test]
    fn as_many_shapes_as_there_are_patterns_and_the_tolerance_holds() {
        let frames = frames();
        let few = ShapeSet::build(&frames, 200, 1e-3);
        assert!(few.shapes.len() <= 5, "{}", few.shapes.len());
        assert!(error(&few, &frames) <= 1.01e-3, "{}", error(&few, &frames));
        // Blender and game engines cut weights off there.
        assert!(few.weights.iter().flatten().all(|w| (0.0..=1.0).contains(w)));
        let exact = ShapeSet::build(&frames, 200, 0.0);
        assert_eq!(exact.shapes.len(), 60);
        assert_eq!(error(&exact, &frames), 0.0);
        let limited = ShapeSet::build(&frames, 2, 0.0);
        assert_eq!(limited.shapes.len(), 2);
        assert!(error(&limited, &frames) > 1e-2);
        let still = ShapeSet::build(&vec![vec![Vec3::ZERO; 4]; 9], 200, 0.0);
        assert!(still.shapes.is_empty());
    }
}
