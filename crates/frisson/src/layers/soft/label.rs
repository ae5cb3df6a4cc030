//! One label of the field, as the extraction asks it: its surface, its contacts, its creases.

use glam::{Mat3, Vec3};

use super::field::{BULGE_ZONE, Kind, bulge_shape};
use super::skin_field::SkinSurface;
use super::skin_place::Asked;
use super::surface::{LabelValue, SurfaceField};
use super::surface_part::Part;
use super::tool::Tools;
use crate::geometry::Bounds;
use crate::geometry::isosurface::{Field, PointsSoa, SamplesSoa};
use crate::tolerances::nothing;
use crate::tolerances::soft as tolerances;

/// One label of the field: positive inside its body as the others and the tools leave it.
///
/// Where two bodies overlap both surfaces are where their fields are equal, so the value of one is
/// exactly minus the value of the other, and both meshes get the same vertices.
pub struct LabelField<'a> {
    /// All primitives.
    pub field: &'a SurfaceField,
    /// Whose surface.
    pub label: u32,
    /// Tools that cut into it.
    pub tools: Tools<'a>,
}

impl LabelField<'_> {
    /// What a bulge adds beside a contact, and its gradient (that of its own height left out).
    fn bulge(&self, v: &LabelValue, parts: &[u32], at: Vec3) -> (f32, Vec3) {
        let zone = BULGE_ZONE as f32 * self.field.level;
        let shape = |s: f32| {
            let (height, slope) = bulge_shape(f64::from(s));
            (height as f32, slope as f32)
        };
        let (mut height, slope) = shape((self.field.level - v.other) / zone);
        let mut way = v.other_gradient * (-slope / zone);
        let first_tool = self.field.first_tool();
        for tool in parts.iter().filter_map(|&p| (p as usize).checked_sub(first_tool)) {
            let (distance, normal) = self.tools.get(tool).distance(at);
            let stiffness = self.field.stiffness(self.label);
            let (here, slope) = shape(stiffness * distance / zone);
            if here > height {
                (height, way) = (here, normal * (slope * stiffness / zone));
            }
        }
        (v.bulge * height, v.bulge * way)
    }

    /// Value and gradient; tools scale with the label's own slope.
    fn at(&self, parts: &[u32], at: Vec3, asked: Asked) -> (f32, Vec3) {
        let v = self.field.value_by(self.label, parts, at, asked);
        let level = self.field.level;
        let mut value = v.own - v.other.max(level);
        let mut gradient =
            if v.other > level { v.own_gradient - v.other_gradient } else { v.own_gradient };
        if v.other > level {
            // Where a contact runs along a plane of the lattice, rounding would put its points now on one side, now on
            // the other, and the surface would go up and down by a cell.
            if asked == Asked::OnLattice && value.abs() <= self.field.touch * gradient.length() {
                value = 0.0;
            }
            // Both sides would take the point for their own, and neither would have a surface there.
            if value == 0.0 && self.label > v.other_label {
                value = -f32::MIN_POSITIVE;
            }
        }
        if v.bulge > 0.0 {
            let (added, way) = self.bulge(&v, parts, at);
            (value, gradient) = (value + added, gradient + way);
        }
        let is_flat = asked != Asked::OnLattice && self.is_flat(parts);
        if is_flat && value < 0.0 && v.other <= level && v.bulge <= 0.0 {
            (value, gradient) = self.straightened(parts, at, (value, gradient));
        }
        // A tool has a distance and no pressure: it is scaled so that edges are crossed in about the right place.
        let slope = level / self.field.parts.first().map_or(1.0, |p| p.thickness);
        let first_tool = self.field.first_tool() as u32;
        for &part in parts.iter().filter(|&&p| p >= first_tool) {
            let tool = self.tools.get((part - first_tool) as usize);
            let (mut distance, normal) = tool.distance(at);
            // A table on a plane of the lattice: were its points inside, there would be a second sheet beneath it, with no
            // room to itself.
            if asked == Asked::OnLattice && distance.abs() <= self.field.touch {
                distance = -f32::MIN_POSITIVE;
            }
            // A flattened dough's field may be ten times the level just below its top: by the fixed slope the table far
            // below would be nearer, and draw the top's vertices down through the sheet.
            let steep = if is_flat { gradient.length() } else { slope };
            if distance * steep < value {
                (value, gradient) = (distance * slope, normal * slope);
            }
        }
        (value, gradient)
    }
}

impl LabelField<'_> {
    /// Whether flattened particles matter here: in their thin way a field may be gone within a fraction of a cell, and
    /// on its other side be ten times the level, where many of them lie over each other.
    fn is_flat(&self, parts: &[u32]) -> bool {
        parts.iter().any(|&p| self.field.parts.get(p as usize).is_some_and(|p| p.metric.is_some()))
    }

    /// Values of a lattice beside flattened particles, no further from 0 than the level. By ten times as much inside as
    /// outside, vertices would begin a cell outside, beyond all fields; half-way is never further off than half a cell.
    fn even_out(&self, parts: &[u32], values: &mut [f32]) {
        if self.is_flat(parts) {
            let level = self.field.level;
            values.iter_mut().for_each(|v| *v = v.clamp(-level, level));
        }
    }

    /// What a vertex outside of flattened particles goes by: the logarithm of the field, by which it never goes too
    /// far (by the field itself it comes out on the other side of a sheet), and where there is no field the way to the
    /// nearest coat.
    fn straightened(&self, parts: &[u32], at: Vec3, (value, gradient): (f32, Vec3)) -> (f32, Vec3) {
        let level = self.field.level;
        let share = 1.0 + value / level;
        if share > tolerances::NO_SHARE {
            return (level * share.ln(), gradient / share);
        }
        let own = parts.iter().filter_map(|&p| self.field.parts.get(p as usize));
        let own = own.filter(|p| p.label == self.label && p.skin.is_none() && !p.under_skin);
        let ways = own.map(|p| p.beyond(at));
        let off = |(beyond, way): &(f32, Vec3)| beyond / way.length();
        let nearest = ways.min_by(|a, b| off(a).total_cmp(&off(b)));
        nearest.map_or((value, gradient), |(beyond, way)| (-level * beyond, -level * way))
    }
}

/// Two pieces of one mesh whose surfaces meet at a smaller angle leave no crease [rad].
const LEAST_CREASE: f32 = 0.15;

/// Distance on both sides of a crease over which normals turn over, in cells [-].
const CREASE_WIDTH: f32 = 0.9;

/// A condition that holds on a crease.
#[derive(Clone, Copy, Default)]
struct Condition {
    /// Zero on the crease.
    value: f32,
    gradient: Vec3,
    /// Gradient of the surface that comes up to the crease: minus its normal.
    surface: Vec3,
}

impl Condition {
    /// How far it is from being met [m].
    fn distance(&self) -> f32 {
        self.value.abs() / self.gradient.length().max(f32::MIN_POSITIVE)
    }

    /// Unit gradient, and the way against it that meets the condition [m].
    fn step(&self) -> (Vec3, f32) {
        let slope = self.gradient.length().max(f32::MIN_POSITIVE);
        (self.gradient / slope, self.value / slope)
    }
}

/// The least way back that meets two conditions. Surfaces that meet at less than eight degrees have no crease
/// to speak of.
fn way_to_both(first: &Condition, second: &Condition) -> Option<Vec3> {
    let ((na, ra), (nb, rb)) = (first.step(), second.step());
    let cosine = na.dot(nb);
    if cosine.abs() > 0.99 {
        return None;
    }
    let sine_sq = 1.0 - cosine * cosine;
    let (a, b) = ((ra - cosine * rb) / sine_sq, (rb - cosine * ra) / sine_sq);
    Some(a * na + b * nb)
}

/// The way back that meets three conditions.
fn way_to_all(first: &Condition, second: &Condition, third: &Condition) -> Option<Vec3> {
    let ((na, ra), (nb, rb), (nc, rc)) = (first.step(), second.step(), third.step());
    let rows = Mat3::from_cols(na, nb, nc).transpose();
    (rows.determinant().abs() > 0.1).then(|| rows.inverse() * Vec3::new(ra, rb, rc))
}

impl LabelField<'_> {
    /// Moves a vertex onto the crease where the free surface meets a piece of its own mesh or a tool, if
    /// there is one closer than half a cell. And the normal there.
    #[must_use]
    pub fn onto_crease(&self, parts: &[u32], start: Vec3, cell: f32) -> Option<(Vec3, Vec3)> {
        let mut at = start;
        let mut normal = Vec3::ZERO;
        // Newton's steps: conditions are nearly flat within half a cell, and the third changes nothing that is seen.
        for _ in 0..4 {
            let [first, second] = self.two_conditions(parts, at, cell)?;
            at -= way_to_both(&first, &second)?;
            if !at.is_finite() || at.distance(start) > 0.5 * cell {
                return None;
            }
            normal = -(first.surface.normalize_or_zero() + second.surface.normalize_or_zero());
        }
        Some((at, normal.normalize_or(Vec3::Y)))
    }

    /// Moves a vertex onto the rim of its contact with other labels, given as bits: where the free surfaces
    /// of all of them meet, if that is closer than a cell. And the normal of its own free surface there.
    #[must_use]
    pub fn onto_rim(
        &self,
        parts: &[u32],
        start: Vec3,
        cell: f32,
        others: u64,
    ) -> Option<(Vec3, Vec3)> {
        let mut at = start;
        for _ in 0..5 {
            let found = self.at_level(parts, at, others);
            let [own, first, second] = &found;
            let way = match (own, first, second) {
                (Some(own), Some(first), Some(second)) => {
                    // Where three surfaces are nearly parallel to one line there is no single point: the rim of two will do.
                    way_to_all(own, first, second).or_else(|| way_to_both(own, first))
                }
                (Some(own), Some(first), None) => way_to_both(own, first),
                _ => None,
            };
            at -= way?;
            if !at.is_finite() || at.distance(start) > cell {
                return None;
            }
        }
        // Surfaces that come near and do not meet have no rim.
        let [own, first, _] = self.at_level(parts, at, others);
        let meets = |c: &Option<Condition>| c.is_some_and(|c| c.distance() < 0.02 * cell);
        let own = own.filter(|_| meets(&own) && meets(&first))?;
        Some((at, (-own.gradient).normalize_or(Vec3::Y)))
    }

    /// How far the label's free surface, and those of the two others that are closest to theirs, are from a
    /// place. That fields are equal there would be a condition too, but one all but parallel to the first
    /// where one of the bodies is much stiffer.
    fn at_level(&self, parts: &[u32], at: Vec3, others: u64) -> [Option<Condition>; 3] {
        let groups = self.field.group_sums(parts, at, false, Asked::Anywhere);
        let mut found: [Option<Condition>; 3] = [None; 3];
        let (mut own_value, mut labels) = (0.0, [u32::MAX; 3]);
        for g in groups.as_slice().iter().filter(|g| g.value > 0.0) {
            let level = self.field.level;
            // Outside, stiff fields fall as a power: their logarithm is what is nearly straight.
            let share = (g.value / level).max(1e-6);
            let (value, bend) = if share < 1.0 {
                (level * share.ln(), 1.0 / share)
            } else {
                (g.value - level, 1.0)
            };
            let gradient = g.gradient * bend;
            let condition = Condition { value, gradient, surface: gradient };
            if g.label == self.label {
                if g.value > own_value {
                    (own_value, found[0]) = (g.value, Some(condition));
                }
                continue;
            }
            let closer =
                |c: Option<Condition>| c.is_none_or(|c| condition.distance() < c.distance());
            if others >> (g.label % 64) & 1 == 0 {
                continue;
            }
            if closer(found[1]) {
                if labels[1] != g.label {
                    (found[2], labels[2]) = (found[1], labels[1]);
                }
                (found[1], labels[1]) = (Some(condition), g.label);
            } else if labels[1] != g.label && closer(found[2]) {
                (found[2], labels[2]) = (Some(condition), g.label);
            }
        }
        found
    }

    /// Normal of a vertex that is not on a crease between two pieces of its own mesh but within a cell of
    /// it: it turns over from one side to the other, or some vertices of the crease would show and others
    /// not.
    #[must_use]
    pub fn beside_crease(&self, parts: &[u32], at: Vec3, cell: f32) -> Option<Vec3> {
        let groups = self.field.group_sums(parts, at, true, Asked::Anywhere);
        let own = || groups.as_slice().iter().filter(|g| g.label == self.label);
        let best = own().max_by(|a, b| a.value.total_cmp(&b.value))?;
        let others = own().filter(|g| !std::ptr::eq(*g, best));
        let next = others.max_by(|a, b| a.value.total_cmp(&b.value))?;
        let beyond =
            (self.field.level - next.value) / next.gradient.length().max(nothing::NO_FIELD);
        let across = (best.gradient - next.gradient).length().max(nothing::NO_FIELD);
        let away = (best.value - next.value) / across;
        if beyond.abs() > cell || away > CREASE_WIDTH * cell {
            return None;
        }
        // Half of each on the crease, all of one at the end of the zone: normals turn over without a step.
        let share = 0.5 + 0.5 * away / (CREASE_WIDTH * cell);
        let (a, b) = (best.gradient.normalize_or_zero(), next.gradient.normalize_or_zero());
        Some(-(share * a + (1.0 - share) * b)).and_then(Vec3::try_normalize)
    }

    /// The two conditions closest to being met here: own surface, other pieces of it, tools. All are
    /// positive inside the body.
    fn two_conditions(&self, parts: &[u32], at: Vec3, cell: f32) -> Option<[Condition; 2]> {
        let groups = self.field.group_sums(parts, at, true, Asked::Anywhere);
        let own = || groups.as_slice().iter().filter(|g| g.label == self.label);
        let best = own().max_by(|a, b| a.value.total_cmp(&b.value))?;
        let mut found = [(f32::INFINITY, Condition::default()); 2];
        let mut add = |value: f32, gradient: Vec3, surface: Vec3| {
            let condition = Condition { value, gradient, surface };
            let distance = condition.distance();
            if distance < found[0].0 {
                found[1] = found[0];
                found[0] = (distance, condition);
            } else if distance < found[1].0 {
                found[1] = (distance, condition);
            }
        };
        add(best.value - self.field.level, best.gradient, best.gradient);
        for g in own().filter(|g| g.value > 0.0 && !std::ptr::eq(*g, best)) {
            // Where two pieces are welded, one surface goes over into the other.
            if best.gradient.angle_between(g.gradient) >= LEAST_CREASE {
                add(best.value - g.value, best.gradient - g.gradient, g.gradient);
            }
        }
        let first_tool = self.field.first_tool();
        for tool in parts.iter().filter_map(|&p| (p as usize).checked_sub(first_tool)) {
            let (distance, normal) = self.tools.get(tool).distance(at);
            add(distance, normal, normal);
        }
        (found[1].0 < cell).then_some([found[0].1, found[1].1])
    }
}

impl Field for LabelField<'_> {
    fn part_count(&self) -> usize {
        self.field.first_tool() + self.tools.len()
    }

    fn gather(&self, parts: &[u32], bounds: &Bounds, out: &mut Vec<u32>) -> bool {
        out.clear();
        let center = bounds.center();
        let half = 0.5 * bounds.diagonal();
        let level = self.field.level;
        let bulging = self.field.most_bulge > 0.0;
        let (mut most, mut least, mut alone) = (self.field.most_bulge, 0.0f32, true);
        for &index in parts {
            let Some(part) = self.field.parts.get(index as usize) else {
                if let Some(weld) = self.field.welds.get(index as usize - self.field.parts.len()) {
                    if weld.place.distance(center) < half + 2.0 * weld.radius {
                        out.push(index);
                    }
                    continue;
                }
                let tool = self.tools.get(index as usize - self.field.first_tool());
                let beside = if bulging { self.field.bulge_width(self.label) } else { 0.0 };
                if tool.distance(center).0 < half + beside {
                    out.push(index);
                    alone = false;
                }
                continue;
            };
            // Balls under a skin carry it and are not seen.
            if part.under_skin || part.center.distance(center) >= part.radius + part.reach + half {
                continue;
            }
            // Bounds of a ball around the box: looser than those of the box, and cheaper.
            let (low, high) = part.range(bounds, level);
            if high <= 0.0 {
                continue;
            }
            out.push(index);
            if part.label == self.label {
                most += high;
                least = least.max(low);
            } else {
                alone = false;
            }
        }
        // Rounding must not lose a sliver at the very border.
        most >= 0.999 * level && !(alone && least > level)
    }

    fn values(&self, parts: &[u32], points: PointsSoa<'_>, out: &mut [f32]) {
        if self.all_add_up(parts) {
            out.fill(-self.field.level);
            for part in parts.iter().filter_map(|&p| self.field.parts.get(p as usize)) {
                part.add_values(self.field.level, points, out);
            }
            self.even_out(parts, out);
            return;
        }
        if let Some((part, skin)) = self.bare_skin(parts) {
            let level = self.field.level;
            for (i, value) in out.iter_mut().enumerate() {
                *value = part.value_off_skin(skin.on_lattice(points.get(i)), level) - level;
            }
            return;
        }
        for (i, value) in out.iter_mut().enumerate() {
            *value = self.at(parts, points.get(i), Asked::OnLattice).0;
        }
        self.even_out(parts, out);
    }

    fn has_rims(&self, parts: &[u32]) -> bool {
        self.field.meets_bodies(self.label, parts)
    }

    fn value_and_gradient(&self, parts: &[u32], p: Vec3, _step: f32) -> (f32, Vec3) {
        self.at(parts, p, Asked::Anywhere)
    }

    fn values_and_gradients(
        &self,
        parts: &[u32],
        points: PointsSoa<'_>,
        _step: f32,
        out: &mut SamplesSoa,
    ) {
        out.reset(points.len());
        if let Some((part, _)) = self.bare_skin(parts) {
            let level = self.field.level;
            for i in 0..points.len() {
                // Between points of the lattice: a vertex on its way is on none.
                let found = part.sample(points.get(i), level, Asked::Anywhere);
                let (value, gradient) = found.unwrap_or_default();
                out.set(i, value - level, gradient);
            }
            return;
        }
        if !self.all_add_up(parts) {
            for i in 0..points.len() {
                let (value, gradient) = self.at(parts, points.get(i), Asked::Anywhere);
                out.set(i, value, gradient);
            }
            return;
        }
        out.value.fill(-self.field.level);
        for part in parts.iter().filter_map(|&p| self.field.parts.get(p as usize)) {
            part.add_samples(self.field.level, points, out);
        }
        if self.is_flat(parts) {
            for i in 0..points.len() {
                let (value, gradient) = out.get(i);
                if value < 0.0 {
                    let (value, gradient) =
                        self.straightened(parts, points.get(i), (value, gradient));
                    out.set(i, value, gradient);
                }
            }
        }
    }
}

impl LabelField<'_> {
    /// The skin that is all there is here, if it is so.
    fn bare_skin(&self, parts: &[u32]) -> Option<(&Part, &SkinSurface)> {
        let [only] = parts else { return None };
        let part = self.field.parts.get(*only as usize)?;
        let skin = part.skin.as_ref()?;
        (part.label == self.label && part.bulge == 0.0).then_some((part, skin))
    }

    /// Whether there may be creases: where not everything simply adds up.
    #[must_use]
    pub fn may_crease(&self, parts: &[u32]) -> bool {
        parts.len() > 1 && !self.all_add_up(parts)
    }

    /// Whether all that matters here are points and segments of the label that all add up: the common
    /// case, for which there are tight loops. Welds matter only where there are several groups.
    fn all_add_up(&self, parts: &[u32]) -> bool {
        let all = &self.field.parts;
        let welds = |p: &&u32| (all.len()..self.field.first_tool()).contains(&(**p as usize));
        let parts = &parts[..parts.len() - parts.iter().rev().take_while(welds).count()];
        let Some(first) = parts.first().and_then(|&p| all.get(p as usize)) else { return false };
        let simple = |&p: &u32| {
            all.get(p as usize).is_some_and(|part| {
                part.group == first.group
                    && part.kind != Kind::Triangle
                    && part.skin.is_none()
                    && part.points.len() <= 2
                    && part.steepness <= 3.0
                    && part.hardening == 0.0
            })
        };
        let linked = |a: u32, b: u32| {
            let links = all[a as usize].links.as_ref();
            a == b || links.is_none_or(|l| l.binary_search(&b).is_ok())
        };
        first.label == self.label
            && parts.iter().all(simple)
            && (first.links.is_none() || parts.iter().all(|&a| parts.iter().all(|&b| linked(a, b))))
    }
}
