//! Catmull-Rom curves through the points of a hair.

use glam::Vec4;

use super::chain::MAX_PARTICLES;
use super::lanes::Lanes;

/// The four points that shape a segment.
pub(super) fn around(hair: &[Vec4; MAX_PARTICLES + 2], segment: usize) -> [Vec4; 4] {
    let four = &hair[segment..segment + 4];
    [four[0], four[1], four[2], four[3]]
}

/// Place on the curve through four points, straight on beyond the end of its segment.
pub(super) fn place_on(curve: [Vec4; 4], t: f32) -> Vec4 {
    if t <= 1.0 {
        return catmull_rom(curve, t);
    }
    curve[2] + (curve[2] - curve[1]) * (t - 1.0)
}

/// Place on a Catmull-Rom segment, as the weights of its four points; exactly `b` at 0.
fn catmull_rom([a, b, c, d]: [Vec4; 4], t: f32) -> Vec4 {
    const ONCE: Vec4 = Vec4::new(-0.5, 0.0, 0.5, 0.0);
    const SQUARED: Vec4 = Vec4::new(1.0, -2.5, 2.0, -0.5);
    const CUBED: Vec4 = Vec4::new(-0.5, 1.5, -1.5, 0.5);
    let w = Vec4::Y + t * (ONCE + t * (SQUARED + t * CUBED));
    a * w.x + b * w.y + c * w.z + d * w.w
}

/// Lengths of four Catmull-Rom segments, by five Gauss points.
pub(super) fn arc_lengths([a, b, c, d]: [Lanes; 4]) -> Vec4 {
    const POINTS: [(f32, f32); 5] = [
        (0.046_910_08, 0.118_463_44),
        (0.230_765_35, 0.239_314_34),
        (0.5, 0.284_444_45),
        (0.769_234_66, 0.239_314_34),
        (0.953_089_9, 0.118_463_44),
    ];
    let once = c - a;
    let squared = a * 2.0 - b * 5.0 + c * 4.0 - d;
    let cubed = (b - c) * 3.0 + d - a;
    let speed = |t: f32| {
        let velocity = once + (squared * 2.0 + cubed * (3.0 * t)) * t;
        0.5 * velocity.length_squared().sqrt()
    };
    POINTS.iter().map(|&(t, weight)| weight * speed(t)).sum()
}
