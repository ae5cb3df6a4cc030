//! The contact that a seed stands for, by the share of it that is its primitive's own.
//!
//! ```text
//!     A  |  B          a seed of A, stopped by the border with B just above the table, would have met it at
//!    \   |             x: less than half of what it stands for is there, and fades as x moves on under B.
//!     \  |             As a whole it would come and go with the least motion of the two, and shake them.
//!  ____\_|x_____ table
//! ```

use glam::DVec3;

use super::field_scratch::{FieldQuery, Seen};
use super::primitive_fields::NOBODY;
use super::sample::{ContactPoint, Found, Presser, Sampling, Territory};
use super::seeds::Ray;
use super::slide::slide;
use crate::tolerances::soft as tolerances;

impl Sampling<'_> {
    /// Where a seed that a border has stopped would have arrived without it, within a limit.
    fn slide_on(
        &self,
        index: usize,
        ray: &Ray,
        (start, limit): (f64, f64),
        territory: &mut Territory,
    ) -> f64 {
        let profile = &self.fields.primitives[index].profile;
        slide(start, limit, tolerances::SEED * profile.thickness, profile.stiffness, |d| {
            let at = ray.origin + d * ray.direction;
            self.look(index, territory, at, d).surface
        })
    }

    /// A seed that a border has stopped less than its cell before a contact: part of what it stands for is in it.
    pub(super) fn touch_beyond(
        &self,
        index: usize,
        ray: &Ray,
        (d, end): (f64, f64),
        territory: &mut Territory,
    ) {
        let beyond = self.slide_on(index, ray, (d, end), territory);
        if beyond < end {
            self.touch(index, ray, beyond, territory);
        }
    }

    /// Adds the contact of a seed, by the share of its cell that is in its own territory: one that came and went as a
    /// whole with its seed would shake what rests on it.
    pub(super) fn touch(&self, index: usize, ray: &Ray, d: f64, territory: &mut Territory) {
        let fields = self.fields;
        let profile = &fields.primitives[index].profile;
        let at = ray.origin + d * ray.direction;
        let Found { seen, tool_distance, tool, .. } = self.look(index, territory, at, d);
        let scratch = &territory.scratch;
        let query = FieldQuery { fields, near: &territory.near, index: index as u32, at };
        let thickness = profile.thickness + fields.primitives[index].offset;
        let depth = (1.0 - d / thickness.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        let late = scratch.swelling(query);
        let on_tool = tool_distance < tolerances::STOPPED * profile.thickness;
        let (presser, normal, pressure, fused) = if on_tool {
            let normal = -self.tools.get(tool as usize).contact(at).1;
            (Presser::Tool(tool), normal, seen.side - fields.level - late, 0.0)
        } else if seen.other > fields.level {
            let own = scratch.group_gradient(query).0;
            let presser = FieldQuery { index: seen.other_primitive, ..query };
            let other = scratch.group_gradient(presser).0;
            let normal = (other - own).normalize_or(ray.direction.normalize());
            let pressure = (seen.alone - fields.level - late).max(0.0);
            (Presser::Primitive(seen.other_primitive), normal, pressure, seen.fused)
        } else {
            return;
        };
        let cone = ray.weight * d.powi(ray.power - 1);
        let cosine = ray.direction.dot(normal);
        // A seed that meets the tool from behind has come out on its other side: it would pull.
        if on_tool && (pressure <= 0.0 || cosine <= 0.0) {
            return;
        }
        let cell = cone / cosine.max(tolerances::LEAST_COSINE);
        let owned = self.owned(index, &seen, at, cell.sqrt());
        if owned > 0.0 {
            let (area, depth) = (owned * cell, owned * depth);
            let contact = ContactPoint { presser, point: at, normal, pressure, area, fused, depth };
            territory.contacts.push(contact);
        }
    }

    /// Share of a patch of a width around a place that is in a primitive's own territory.
    fn owned(&self, index: usize, seen: &Seen, at: DVec3, width: f64) -> f64 {
        if seen.rival_primitive == NOBODY {
            return 1.0;
        }
        // From the border, as if the two ways out were at a right angle; by its own slope alone, as rivals take turns.
        let slope = std::f64::consts::SQRT_2 * self.fields.field_of(index, at).1.abs();
        let inside = (seen.own - seen.rival) / slope.max(f64::MIN_POSITIVE);
        (0.5 + inside / width).clamp(0.0, 1.0)
    }
}
