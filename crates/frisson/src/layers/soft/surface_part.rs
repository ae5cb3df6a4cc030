//! A primitive, or a skin, as the extraction asks it: in f32, many points at once.

use std::sync::Arc;

use glam::{Mat3, Vec2, Vec3};

use super::field::Kind;
use super::primitive_fields::{Primitive, PrimitiveFields};
use super::rest::SoftRest;
use super::skin_field::SkinSurface;
use super::skin_place::Asked;
use super::state::BodyState;
use crate::geometry::Bounds;
use crate::geometry::isosurface::{PointsSoa, SamplesSoa};
use crate::tolerances::nothing;

/// A primitive for the extraction.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) points: Vec<Vec3>,
    /// From the first to the second point of a segment, and one over its square length.
    along: Vec3,
    inverse_length_sq: f32,
    /// A sphere around the points.
    pub(super) center: Vec3,
    pub(super) radius: f32,
    pub(super) thickness: f32,
    inverse_width: f32,
    /// `k (R - e) / c`.
    pub(super) steepness: f32,
    pub(super) stiffness: f32,
    pub(super) hardening: f32,
    offset: f32,
    /// Measure in which a flattened particle is a ball, and the ball's greatest and least stretch.
    pub(super) metric: Option<Mat3>,
    longest: f32,
    shortest: f32,
    pub(super) bulge: f32,
    pub(super) reach: f32,
    pub(super) group: u32,
    /// Number of the surface it is drawn with.
    pub(super) label: u32,
    pub(super) links: Option<Arc<[u32]>>,
    pub(super) color: Vec3,
    pub(super) uv: [Vec2; 2],
    /// Velocity of its body at `center` [m/s], and spin [rad/s].
    pub(super) velocity: Vec3,
    pub(super) spin: Vec3,
    /// Whether a skin is shown in its place.
    pub(super) under_skin: bool,
    /// The skin that it is, in place of points.
    pub(super) skin: Option<Arc<SkinSurface>>,
}

impl Part {
    pub(super) fn new(
        primitive: &Primitive,
        fields: &PrimitiveFields,
        index: usize,
        rest: &SoftRest,
        bodies: &[BodyState],
    ) -> Self {
        let points: Vec<Vec3> = fields.points_of(index).iter().map(|p| p.as_vec3()).collect();
        let center = Bounds::of(&points).center();
        let radius = points.iter().map(|p| p.distance(center)).fold(0.0, f32::max);
        let along = points.get(1).map_or(Vec3::ZERO, |b| *b - points[0]);
        let profile = &primitive.profile;
        let p = &rest.primitives[index];
        Self {
            kind: primitive.kind,
            along,
            inverse_length_sq: 1.0 / along.length_squared().max(nothing::NO_FIELD_SQ),
            center,
            radius,
            points,
            thickness: profile.thickness as f32,
            inverse_width: (1.0 / (profile.support - profile.thickness)) as f32,
            steepness: (profile.stiffness * (profile.support - profile.thickness) / profile.level)
                as f32,
            stiffness: profile.stiffness as f32,
            hardening: profile.hardening as f32,
            offset: primitive.offset as f32,
            bulge: primitive.bulge as f32,
            metric: (!primitive.shape.is_round()).then(|| primitive.shape.metric.as_mat3()),
            longest: primitive.shape.longest as f32,
            shortest: primitive.shape.shortest as f32,
            reach: fields.span(index) as f32,
            group: primitive.group,
            label: rest.objects[p.object].label as u32,
            links: primitive.links.clone(),
            color: Vec3::from_array(p.color),
            uv: p.uv.unwrap_or_default().map(Vec2::from_array),
            // At its centre, as turning is added where it is asked.
            velocity: bodies[p.body].velocity_at(center.as_dvec3()).as_vec3(),
            spin: bodies[p.body].spin.as_vec3(),
            under_skin: p.under_skin,
            skin: None,
        }
    }

    /// A skin in the place of the balls fitted to it, of which `ball` is one: with the field of a coat as
    /// thick and as stiff as it; blends with the object's muscles.
    pub(super) fn of_skin(ball: &Self, skin: &Arc<SkinSurface>, muscles: Vec<u32>) -> Self {
        let bounds = skin.bounds();
        let (center, radius) = (bounds.center(), 0.5 * bounds.diagonal());
        // Where the balls blend with all, so does the skin.
        let links = ball.links.as_ref().map(|_| muscles.into());
        Self {
            points: vec![bounds.min, bounds.max],
            center,
            radius,
            reach: 1.0 / ball.inverse_width,
            offset: 0.0,
            links,
            under_skin: false,
            skin: Some(Arc::clone(skin)),
            ..ball.clone()
        }
    }

    /// Moves the field outwards.
    pub(super) fn thicken(&mut self, by: f32) {
        (self.offset, self.reach) = (self.offset + by, self.reach + by * self.longest);
    }

    /// Value and gradient at a place, if it is in reach.
    #[inline]
    pub(super) fn sample(&self, at: Vec3, level: f32, asked: Asked) -> Option<(f32, Vec3)> {
        if let Some(skin) = &self.skin {
            let place = skin.find(at, self.reach, asked)?;
            // Beyond its thickness a coat has no inside to go on into; distances there are rough anyway.
            let deep = place.signed.max(-self.thickness);
            let (value, slope) = self.value_and_slope(self.thickness + deep, level);
            return (value > 0.0).then_some((value, place.normal * slope));
        }
        let away = self.away(at);
        if away.length_squared() >= self.reach * self.reach {
            return None;
        }
        let away = self.measured(away);
        let distance = away.length();
        let (value, slope) = self.value_and_slope(distance, level);
        // In its own measure it may yet be beyond.
        let way = self.measured(away * (slope / distance.max(nothing::NO_FIELD)));
        (value > 0.0).then_some((value, way))
    }

    /// A way in the measure in which a flattened particle is a ball; also takes gradients back from there.
    #[inline]
    pub(super) fn measured(&self, way: Vec3) -> Vec3 {
        self.metric.map_or(way, |metric| metric * way)
    }

    /// How far a place is beyond the middle of the slope outside the coat, in widths of that slope, and how that grows.
    pub(super) fn beyond(&self, at: Vec3) -> (f32, Vec3) {
        let away = self.measured(self.away(at));
        let distance = away.length().max(nothing::NO_FIELD);
        let beyond = (distance - self.thickness - self.offset) * self.inverse_width - 0.5;
        (beyond, self.measured(away * (self.inverse_width / distance)))
    }

    /// Value and slope at a distance; the same law as [`super::field::FieldProfile`].
    #[inline]
    pub(super) fn value_and_slope(&self, distance: f32, level: f32) -> (f32, f32) {
        let depth = self.thickness + self.offset - distance;
        if depth >= 0.0 {
            let more = self.hardening * self.stiffness * depth / self.thickness;
            return (level + depth * (self.stiffness + 0.5 * more), -self.stiffness - more);
        }
        let t = -depth * self.inverse_width;
        if t >= 1.0 {
            return (0.0, 0.0);
        }
        let (p, u) = (self.steepness, 1.0 - t);
        if p <= 3.0 {
            let value = u * u * (1.0 + 2.0 * t - p * t);
            let slope = -6.0 * t * u + p * (3.0 * t - 1.0) * u;
            (level * value, level * slope * self.inverse_width)
        } else {
            let power = u.powf(p - 1.0);
            (level * power * u, -self.stiffness * power)
        }
    }

    #[inline]
    pub(super) fn away(&self, at: Vec3) -> Vec3 {
        match self.kind {
            Kind::Point => at - self.center,
            Kind::Polyline => {
                let mut best = Vec3::splat(f32::MAX);
                let mut best_sq = f32::INFINITY;
                for w in self.points.windows(2) {
                    let along = w[1] - w[0];
                    let t = along.dot(at - w[0]) / along.length_squared().max(nothing::NO_FIELD_SQ);
                    let away = at - (w[0] + along * t.clamp(0.0, 1.0));
                    if away.length_squared() < best_sq {
                        (best, best_sq) = (away, away.length_squared());
                    }
                }
                best
            }
            Kind::Triangle => {
                let [a, b, c] = [self.points[0], self.points[1], self.points[2]];
                at - crate::geometry::closest_on_triangle(at, [a, b, c]).0
            }
        }
    }

    /// Texture coordinates at a place on the primitive: from end to end by length.
    pub(super) fn uv_at(&self, at: Vec3) -> Vec2 {
        if self.kind != Kind::Polyline || self.uv[0] == self.uv[1] {
            return self.uv[0];
        }
        let (mut before, mut here, mut best) = (0.0, 0.0, f32::INFINITY);
        for w in self.points.windows(2) {
            let length = w[0].distance(w[1]);
            let along = (at - w[0]).dot(w[1] - w[0]) / length.max(nothing::NO_FIELD);
            let along = along.clamp(0.0, length);
            let off = at.distance(w[0] + (w[1] - w[0]) * (along / length.max(nothing::NO_FIELD)));
            if off < best {
                (best, here) = (off, before + along);
            }
            before += length;
        }
        self.uv[0].lerp(self.uv[1], here / before.max(nothing::NO_FIELD))
    }

    /// Value at a signed distance from the skin that it is.
    #[inline]
    pub(super) fn value_off_skin(&self, signed: f32, level: f32) -> f32 {
        // Deep inside it matters that it is, not how far.
        self.value_and_slope(self.thickness + signed.max(-self.thickness), level).0
    }

    /// Least and greatest value within a box.
    pub(super) fn range(&self, bounds: &Bounds, level: f32) -> (f32, f32) {
        if let Some(skin) = &self.skin {
            let (near, far) = skin.range(bounds, self.reach);
            return (self.value_off_skin(far, level), self.value_off_skin(near, level));
        }
        // A ball around the box: one distance instead of that to eight corners.
        let radius = 0.5 * bounds.diagonal() / self.shortest;
        let distance = self.measured(self.away(bounds.center())).length();
        let low = self.value_and_slope(distance + radius, level).0;
        (low, self.value_and_slope((distance - radius).max(0.0), level).0)
    }
}

/// Shapes for which there are loops of their own: a ball, a flattened ball, a segment.
const BALL: u8 = 0;
const FLAT: u8 = 1;
const SEGMENT: u8 = 2;

impl Part {
    /// Adds the field at some points; for points and segments.
    pub(super) fn add_values(&self, level: f32, at: PointsSoa<'_>, out: &mut [f32]) {
        match (self.kind, &self.metric) {
            (Kind::Point, None) => self.add_values_of::<BALL>(level, at, out),
            (Kind::Point, Some(_)) => self.add_values_of::<FLAT>(level, at, out),
            _ => self.add_values_of::<SEGMENT>(level, at, out),
        }
    }

    /// Adds the field and its gradient at some points; for points and segments.
    pub(super) fn add_samples(&self, level: f32, at: PointsSoa<'_>, out: &mut SamplesSoa) {
        match (self.kind, &self.metric) {
            (Kind::Point, None) => self.add_samples_of::<BALL>(level, at, out),
            (Kind::Point, Some(_)) => self.add_samples_of::<FLAT>(level, at, out),
            _ => self.add_samples_of::<SEGMENT>(level, at, out),
        }
    }

    /// Way from the primitive to a place; for points and segments.
    #[inline(always)]
    fn straight_away<const SHAPE: u8>(&self, x: f32, y: f32, z: f32) -> (f32, f32, f32) {
        let a = self.points[0];
        let (x, y, z) = (x - a.x, y - a.y, z - a.z);
        if SHAPE == BALL {
            return (x, y, z);
        }
        if SHAPE == FLAT {
            let away = self.measured(Vec3::new(x, y, z));
            return (away.x, away.y, away.z);
        }
        let d = self.along;
        let t = (x * d.x + y * d.y + z * d.z) * self.inverse_length_sq;
        let t = t.clamp(0.0, 1.0);
        (x - t * d.x, y - t * d.y, z - t * d.z)
    }

    /// Value at a distance, and how far into the outer slope that is, 0 to 1; without a branch, for plain coats.
    #[inline(always)]
    fn straight_value(&self, distance: f32, level: f32) -> (f32, f32) {
        let beyond = distance - (self.thickness + self.offset);
        // Clamped instead of branched: lanes of points near and far are computed alike.
        let t = (beyond * self.inverse_width).clamp(0.0, 1.0);
        let u = 1.0 - t;
        let outside = level * u * u * (1.0 + 2.0 * t - self.steepness * t);
        (outside + self.stiffness * (-beyond).max(0.0), t)
    }

    /// Adds the field at some points.
    fn add_values_of<const SHAPE: u8>(&self, level: f32, at: PointsSoa<'_>, out: &mut [f32]) {
        let count = out.len();
        let (xs, ys, zs) = (&at.x[..count], &at.y[..count], &at.z[..count]);
        for i in 0..count {
            let (x, y, z) = self.straight_away::<SHAPE>(xs[i], ys[i], zs[i]);
            let distance = (x * x + y * y + z * z).sqrt();
            out[i] += self.straight_value(distance, level).0;
        }
    }

    /// Adds the field and its gradient at some points.
    fn add_samples_of<const SHAPE: u8>(&self, level: f32, at: PointsSoa<'_>, out: &mut SamplesSoa) {
        let p = self.steepness;
        let count = at.len();
        let (xs, ys, zs) = (&at.x[..count], &at.y[..count], &at.z[..count]);
        let (value, gx) = (&mut out.value[..count], &mut out.x[..count]);
        let (gy, gz) = (&mut out.y[..count], &mut out.z[..count]);
        for i in 0..count {
            let (x, y, z) = self.straight_away::<SHAPE>(xs[i], ys[i], zs[i]);
            let distance = (x * x + y * y + z * z).sqrt();
            let (here, t) = self.straight_value(distance, level);
            value[i] += here;
            // At t = 0 this is the stiffness, as everywhere inside.
            let slope = level * self.inverse_width * (1.0 - t) * (p * (3.0 * t - 1.0) - 6.0 * t);
            let scale = slope / distance.max(nothing::NO_FIELD);
            let mut way = Vec3::new(scale * x, scale * y, scale * z);
            if SHAPE == FLAT {
                way = self.measured(way);
            }
            gx[i] += way.x;
            gy[i] += way.y;
            gz[i] += way.z;
        }
    }
}
