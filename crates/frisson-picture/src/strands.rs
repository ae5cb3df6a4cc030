//! Hair and overlay lines as pieces that rays can hit.

use frisson::geometry::{Attribute, AttributeValues};
use frisson::math::random;
use frisson::stage::{Curves, Frame};
use glam::{Vec3, Vec3A};

use crate::fibre::SCALE_TILT;
use crate::look::Tint;
use crate::overlay::{self, HeatScale};
use crate::scene::Strand;
use crate::shape::Segment;

/// Pieces beyond which strands are no longer smoothed.
const SMOOTHING_LIMIT: usize = 3_000_000;
/// Overlay lines of one shape, about.
const LINES: usize = 6000;
/// Diameter of strands that have none [m]: a thick hair.
const DEFAULT_WIDTH: f32 = 1e-4;
/// How much hairs of one head differ in brightness (as a logarithm) and in warmth [-].
const BRIGHTNESS_SPREAD: f64 = 0.28;
const WARMTH_SPREAD: f32 = 0.07;
/// Seed of what tells the hairs of a picture apart.
const LOOKS: u64 = 0x4A1;
/// Thickness of an overlay line at its end, in that at its start [-].
const LINE_END: f32 = 0.2;
/// Brown, for curves that carry no colour.
const DEFAULT_COLOR: Vec3 = Vec3::new(0.12, 0.065, 0.035);

/// All strands of a scene.
#[derive(Default)]
pub(crate) struct Tangle {
    pub segments: Vec<Segment>,
    /// Strand of each segment.
    pub of_strand: Vec<u32>,
    pub strands: Vec<Strand>,
}

impl Tangle {
    pub fn add_curves(&mut self, curves: &Curves, tint: &Tint, heat: Option<&HeatScale>) {
        let own = colors(curves, tint, heat);
        let pieces = pieces_per_span(curves);
        let mut start = 0;
        for (curve, &count) in curves.counts.iter().enumerate() {
            let count = count as usize;
            let range = start..start + count;
            start += count;
            if count < 2 {
                continue;
            }
            let widths = curves.widths.get(range.clone()).unwrap_or(&[]);
            self.add_strand(&curves.points[range], widths, pieces);
            let id = curves.ids.get(curve).copied().unwrap_or(curve as u64);
            let tilt = SCALE_TILT * (1.0 + random::signed(LOOKS, id, 2) as f32);
            self.strands.push(Strand { color: own[curve], tilt, flat: false });
        }
    }

    /// A Catmull-Rom curve through the points, cut into straight pieces.
    fn add_strand(&mut self, points: &[Vec3], widths: &[f32], pieces: usize) {
        let strand = self.strands.len() as u32;
        let radius = |i: usize| 0.5 * widths.get(i).copied().unwrap_or(DEFAULT_WIDTH);
        let last = points.len() - 1;
        for i in 0..last {
            let (p1, p2) = (points[i], points[i + 1]);
            let p0 = if i > 0 { points[i - 1] } else { 2.0 * p1 - p2 };
            let p3 = if i + 2 <= last { points[i + 2] } else { 2.0 * p2 - p1 };
            let at = |s: f32| {
                let (s2, s3) = (s * s, s * s * s);
                0.5 * (2.0 * p1
                    + (p2 - p0) * s
                    + (2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3) * s2
                    + (3.0 * p1 - p0 - 3.0 * p2 + p3) * s3)
            };
            let width = |s: f32| radius(i) + (radius(i + 1) - radius(i)) * s;
            for piece in 0..pieces {
                let (s, t) = (piece as f32 / pieces as f32, (piece + 1) as f32 / pieces as f32);
                let (a, b) = (at(s), at(t));
                if (b - a).length_squared() > 0.0 {
                    self.segments.push(Segment {
                        a: a.into(),
                        b: b.into(),
                        radius_a: width(s),
                        radius_b: width(t),
                    });
                    self.of_strand.push(strand);
                }
            }
        }
    }

    /// Velocities as coloured lines from where things are to where they are going.
    pub fn add_velocities(&mut self, frame: &Frame, seconds: f32, radius: f32) {
        let shapes = (frame.meshes.iter().map(|m| (&m.positions, &m.velocities)))
            .chain(frame.curves.iter().map(|c| (&c.points, &c.velocities)))
            .chain(frame.points.iter().map(|p| (&p.positions, &p.velocities)));
        for (positions, velocities) in shapes {
            let step = (positions.len() / LINES).max(1);
            for (p, v) in positions.iter().zip(velocities).step_by(step) {
                let color = overlay::heat((v.length() / 4.0).min(1.0));
                self.add_line(*p, *p + *v * seconds, radius, color);
            }
        }
    }

    /// A line that thins out to its end; nothing if it is no longer than it is thick.
    fn add_line(&mut self, a: Vec3, b: Vec3, radius: f32, color: Vec3A) {
        if !((b - a).length() > 2.0 * radius && b.is_finite()) {
            return;
        }
        self.of_strand.push(self.strands.len() as u32);
        let (radius_a, radius_b) = (radius, LINE_END * radius);
        self.segments.push(Segment { a: a.into(), b: b.into(), radius_a, radius_b });
        self.strands.push(Strand { color, tilt: 0.0, flat: true });
    }
}

fn pieces_per_span(curves: &Curves) -> usize {
    let spans = curves.points.len();
    let longest = curves.counts.iter().max().copied().unwrap_or(0);
    match longest {
        _ if spans * 2 > SMOOTHING_LIMIT => 1,
        0..=12 if spans * 4 < SMOOTHING_LIMIT => 4,
        0..=40 => 2,
        _ => 1,
    }
}

/// Colour of each strand: the heat scale's, its own attribute, or the common one varied a little in
/// brightness and warmth, as no two hairs of a head are alike.
fn colors(curves: &Curves, tint: &Tint, heat: Option<&HeatScale>) -> Vec<Vec3A> {
    let count = curves.counts.len();
    if let (Tint::Attribute { .. }, Some(heat)) = (tint, heat) {
        return heat.colors(&curves.attributes, count);
    }
    let of_attribute = |a: &Attribute| match &a.values {
        AttributeValues::Color(values) if values.len() == count => Some(values.clone()),
        _ => None,
    };
    let own = curves.attributes.iter().filter(|a| a.name == "color").find_map(of_attribute);
    let common = if curves.color == Vec3::ZERO { DEFAULT_COLOR } else { curves.color };
    (0..count)
        .map(|i| {
            let id = curves.ids.get(i).copied().unwrap_or(i as u64);
            let base = Vec3A::from(own.as_ref().map_or(common, |c| c[i]));
            let brightness = (BRIGHTNESS_SPREAD * random::signed(LOOKS, id, 0)).exp() as f32;
            let warmth = WARMTH_SPREAD * random::signed(LOOKS, id, 1) as f32;
            base * brightness * Vec3A::new(1.0 + warmth, 1.0, 1.0 - warmth)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strand_passes_through_its_points_and_tapers() {
        let points: Vec<Vec3> =
            (0..6).map(|i| Vec3::new(i as f32, (i as f32).sin(), 0.0)).collect();
        let widths: Vec<f32> = (0..6).map(|i| 0.1 - 0.02 * i as f32).collect();
        let curves = Curves { counts: vec![6], points, widths, ..Curves::default() };
        let mut tangle = Tangle::default();
        tangle.add_curves(&curves, &Tint::Materials, None);
        assert_eq!(tangle.segments.len(), 5 * 4);
        for (i, p) in curves.points.iter().enumerate().take(5) {
            let segment = tangle.segments[4 * i];
            assert!((segment.a - Vec3A::from(*p)).length() < 1e-6);
            assert!((segment.radius_a - 0.5 * curves.widths[i]).abs() < 1e-6);
        }
        assert!(tangle.segments.last().unwrap().radius_b.abs() < 1e-6);
    }
}
