//! The primitives as they are now, and the field of each.

use glam::DVec3;

use super::field::{FieldProfile, Kind, closest};
use super::shape::Shape;
use super::weld::Spot;

/// Marks nobody.
pub const NOBODY: u32 = u32::MAX;

/// A primitive as it is now.
#[derive(Clone, Debug)]
pub struct Primitive {
    /// Its kind.
    pub kind: Kind,
    /// First of its points in [`PrimitiveFields::points`].
    pub first: u32,
    /// Number of points.
    pub count: u32,
    /// Its field.
    pub profile: FieldProfile,
    /// One over the width of its support beyond its thickness [1/m].
    pub inverse_width: f64,
    /// Stiffness as a multiple of the level per that width [-].
    pub steepness: f64,
    /// How a particle is flattened.
    pub shape: Shape,
    /// Translation of the field by the volume controller [m].
    pub offset: f64,
    /// What its contacts do not feel yet of that translation [m].
    pub swelling: f64,
    /// Field that its bulges beside contacts add at most [Pa].
    pub bulge: f64,
    /// Mesh that shows it.
    pub label: u32,
    /// Group it blends in.
    pub group: u32,
    /// Primitives of the group it blends with, ascending; `None`: all of the group.
    pub links: Option<std::sync::Arc<[u32]>>,
}

impl Primitive {
    /// A way in the measure in which the primitive is a ball.
    #[must_use]
    #[inline]
    pub fn measured(&self, way: DVec3) -> DVec3 {
        if self.shape.is_round() { way } else { self.shape.metric * way }
    }
}

/// All primitives, ready to be asked.
#[derive(Clone, Debug, Default)]
pub struct PrimitiveFields {
    /// Iso-value [Pa].
    pub level: f64,
    /// The primitives.
    pub primitives: Vec<Primitive>,
    /// Their points in the world [m].
    pub points: Vec<DVec3>,
    /// Places where groups are welded.
    pub spots: Vec<Spot>,
}

impl PrimitiveFields {
    /// Points of a primitive.
    #[must_use]
    #[inline]
    pub fn points_of(&self, index: usize) -> &[DVec3] {
        let p = &self.primitives[index];
        &self.points[p.first as usize..(p.first + p.count) as usize]
    }

    /// Mean of a primitive's points [m].
    #[must_use]
    pub fn middle(&self, index: usize) -> DVec3 {
        let points = self.points_of(index);
        points.iter().sum::<DVec3>() / points.len() as f64
    }

    /// Distance from a primitive, in its own measure, beyond which its field is zero [m].
    #[must_use]
    pub fn reach(&self, index: usize) -> f64 {
        let p = &self.primitives[index];
        (p.profile.support + p.offset).max(0.0)
    }

    /// The same in the world, along its longest way [m].
    #[must_use]
    pub fn span(&self, index: usize) -> f64 {
        self.reach(index) * self.primitives[index].shape.longest
    }

    /// Field of one primitive, its slope in its own measure, and the way from its closest point.
    #[must_use]
    #[inline]
    pub fn field_of(&self, index: usize, at: DVec3) -> (f64, f64, DVec3) {
        let p = &self.primitives[index];
        let away = at - closest(p.kind, self.points_of(index), at);
        let reach = p.profile.support + p.offset;
        let distance_sq = p.measured(away).length_squared();
        // Without a root for most pairs. A coat that was thinned to nothing has no reach at all.
        if reach <= 0.0 || distance_sq >= reach * reach {
            return (0.0, 0.0, away);
        }
        let (value, slope) = p.profile.value_and_slope(distance_sq.sqrt() - p.offset);
        (value, slope, away)
    }

    /// Field of one primitive: the same as [`PrimitiveFields::field_of`], quicker where it is a plain point.
    #[must_use]
    #[inline]
    pub fn value_of(&self, index: usize, at: DVec3) -> f64 {
        let p = &self.primitives[index];
        // A seed asks this some ten times for every neighbour: most of a step is spent here.
        if p.kind != Kind::Point || p.steepness > 3.0 || p.profile.hardening > 0.0 {
            return self.field_of(index, at).0;
        }
        let reach = p.profile.support + p.offset;
        let distance_sq = p.measured(at - self.points[p.first as usize]).length_squared();
        if reach <= 0.0 || distance_sq >= reach * reach {
            return 0.0;
        }
        let beyond = distance_sq.sqrt() - p.offset - p.profile.thickness;
        if beyond <= 0.0 {
            return p.profile.level - p.profile.stiffness * beyond;
        }
        // Rounding may put a place within reach just beyond the width.
        let t = (beyond * p.inverse_width).min(1.0);
        p.profile.level * (1.0 - t) * (1.0 - t) * (1.0 + 2.0 * t - p.steepness * t)
    }

    /// Gradient of one primitive's field [N/m³].
    #[must_use]
    pub fn gradient_of(&self, index: usize, at: DVec3) -> DVec3 {
        let (_, slope, away) = self.field_of(index, at);
        let shape = &self.primitives[index].shape;
        if shape.is_round() {
            return away.normalize_or_zero() * slope;
        }
        // The metric is symmetric: its own transpose.
        shape.metric * ((shape.metric * away).normalize_or_zero() * slope)
    }

    /// Whether two primitives blend.
    #[must_use]
    pub fn linked(&self, a: usize, b: usize) -> bool {
        let (pa, pb) = (&self.primitives[a], &self.primitives[b]);
        pa.group == pb.group
            && pa.links.as_ref().is_none_or(|links| links.binary_search(&(b as u32)).is_ok())
    }
}
