//! The field as the iso-surface extraction asks it, in f32 and without buffers.

use std::sync::Arc;

use glam::{Vec2, Vec3};

use super::field::{BULGE_ZONE, Kind};
use super::primitive_fields::{Primitive, PrimitiveFields};
use super::rest::SoftRest;
use super::skin_field::{Asked, SkinSurface};
use super::state::BodyState;
use super::tool::Tools;
use super::weld::weld_shape;
use crate::geometry::Bounds;
use crate::geometry::isosurface::{PointsSoa, SamplesSoa};

/// Most groups, and most primitives of graphs, that matter at one point. Further ones are too weak to
/// be seen; a point in a heap of doughs meets three.
const MOST: usize = 24;

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
    stiffness: f32,
    pub(super) hardening: f32,
    offset: f32,
    pub(super) bulge: f32,
    pub(super) reach: f32,
    pub(super) group: u32,
    pub(super) label: u32,
    pub(super) links: Option<Arc<[u32]>>,
    color: Vec3,
    uv: [Vec2; 2],
    /// Velocity of its body at `center` [m/s], and spin [rad/s].
    velocity: Vec3,
    spin: Vec3,
    /// Whether a skin is shown in its place.
    pub(super) under_skin: bool,
    /// The skin that it is, in place of points.
    pub(super) skin: Option<Arc<SkinSurface>>,
}

/// What a vertex looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Paint {
    /// Linear RGB.
    pub color: Vec3,
    /// Texture coordinates.
    pub uv: Vec2,
    /// Velocity of the material [m/s].
    pub velocity: Vec3,
}

/// Everything in the layer, as fields that can be asked label by label.
#[derive(Clone, Debug, Default)]
pub struct SurfaceField {
    pub(super) level: f32,
    /// What any bulge adds at most [Pa].
    pub(super) most_bulge: f32,
    pub(super) parts: Vec<Part>,
    /// Welds come after the primitives among the parts, and tools after them.
    pub(super) welds: Vec<WeldPart>,
}

/// A weld for the extraction.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeldPart {
    groups: (u32, u32),
    pub(super) place: Vec3,
    pub(super) radius: f32,
    weight: f32,
}

/// What is at a point, seen by one label.
#[derive(Clone, Copy, Debug, Default)]
pub struct LabelValue {
    /// Largest field of the label [Pa].
    pub own: f32,
    /// Largest field of all others [Pa].
    pub other: f32,
    /// Label that holds it.
    pub other_label: u32,
    /// What a bulge of the label adds at most [Pa].
    pub bulge: f32,
    pub(super) own_gradient: Vec3,
    pub(super) other_gradient: Vec3,
}

impl Part {
    fn new(
        primitive: &Primitive,
        coats: &PrimitiveFields,
        index: usize,
        rest: &SoftRest,
        bodies: &[BodyState],
    ) -> Self {
        let points: Vec<Vec3> = coats.points_of(index).iter().map(|p| p.as_vec3()).collect();
        let center = Bounds::of(&points).center();
        let radius = points.iter().map(|p| p.distance(center)).fold(0.0, f32::max);
        let along = points.get(1).map_or(Vec3::ZERO, |b| *b - points[0]);
        let coat = &primitive.coat;
        let p = &rest.primitives[index];
        Self {
            kind: primitive.kind,
            along,
            inverse_length_sq: 1.0 / along.length_squared().max(1e-30),
            center,
            radius,
            points,
            thickness: coat.thickness as f32,
            inverse_width: (1.0 / (coat.support - coat.thickness)) as f32,
            steepness: (coat.stiffness * (coat.support - coat.thickness) / coat.level) as f32,
            stiffness: coat.stiffness as f32,
            hardening: coat.hardening as f32,
            offset: primitive.offset as f32,
            bulge: primitive.bulge as f32,
            reach: coats.reach(index) as f32,
            group: primitive.group,
            label: rest.objects[p.object].label as u32,
            links: primitive.links.clone(),
            color: Vec3::from_array(p.color),
            uv: p.uv.unwrap_or_default().map(Vec2::from_array),
            velocity: bodies[p.body].velocity_at(center.as_dvec3()).as_vec3(),
            spin: bodies[p.body].spin.as_vec3(),
            under_skin: p.under_skin,
            skin: None,
        }
    }

    /// A skin in the place of the balls fitted to it, of which `ball` is one: with the field of a coat as
    /// thick and as stiff as it; blends with the object's muscles.
    fn of_skin(ball: &Self, skin: &Arc<SkinSurface>, muscles: Vec<u32>) -> Self {
        let bounds = skin.bounds();
        let (center, radius) = (bounds.center(), 0.5 * bounds.diagonal());
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

    /// Value and gradient at a place, if it is in reach.
    #[inline]
    pub(super) fn sample(&self, at: Vec3, level: f32, asked: Asked) -> Option<(f32, Vec3)> {
        if let Some(skin) = &self.skin {
            let place = skin.find(at, self.reach, asked)?;
            let deep = place.signed.max(-self.thickness);
            let (value, slope) = self.value_and_slope(self.thickness + deep, level);
            return (value > 0.0).then_some((value, place.normal * slope));
        }
        let away = self.away(at);
        let distance_sq = away.length_squared();
        if distance_sq >= self.reach * self.reach {
            return None;
        }
        let distance = distance_sq.sqrt();
        let (value, slope) = self.value_and_slope(distance, level);
        Some((value, away * (slope / distance.max(1e-20))))
    }

    /// Value and slope at a distance; the same law as [`super::field::FieldProfile`].
    #[inline]
    fn value_and_slope(&self, distance: f32, level: f32) -> (f32, f32) {
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
    fn away(&self, at: Vec3) -> Vec3 {
        match self.kind {
            Kind::Point => at - self.center,
            Kind::Polyline => {
                let mut best = Vec3::splat(f32::MAX);
                let mut best_sq = f32::INFINITY;
                for w in self.points.windows(2) {
                    let along = w[1] - w[0];
                    let t = along.dot(at - w[0]) / along.length_squared().max(1e-30);
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
    fn uv_at(&self, at: Vec3) -> Vec2 {
        if self.kind != Kind::Polyline || self.uv[0] == self.uv[1] {
            return self.uv[0];
        }
        let (mut before, mut here, mut best) = (0.0, 0.0, f32::INFINITY);
        for w in self.points.windows(2) {
            let length = w[0].distance(w[1]);
            let along = (at - w[0]).dot(w[1] - w[0]) / length.max(1e-20);
            let along = along.clamp(0.0, length);
            let off = at.distance(w[0] + (w[1] - w[0]) * (along / length.max(1e-20)));
            if off < best {
                (best, here) = (off, before + along);
            }
            before += length;
        }
        self.uv[0].lerp(self.uv[1], here / before.max(1e-20))
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
        let radius = 0.5 * bounds.diagonal();
        let distance = self.away(bounds.center()).length();
        let low = self.value_and_slope(distance + radius, level).0;
        (low, self.value_and_slope((distance - radius).max(0.0), level).0)
    }
}

/// A growing set on the stack.
pub(super) struct Stack<T: Copy> {
    items: [T; MOST],
    count: usize,
}

impl<T: Copy> Stack<T> {
    fn new(zero: T) -> Self {
        Self { items: [zero; MOST], count: 0 }
    }
    fn push(&mut self, item: T) {
        if self.count < MOST {
            self.items[self.count] = item;
            self.count += 1;
        }
    }
    pub(super) fn as_slice(&self) -> &[T] {
        &self.items[..self.count]
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct GroupSum {
    group: u32,
    pub(super) label: u32,
    pub(super) value: f32,
    pub(super) gradient: Vec3,
    /// Sum of values times bulges: divided by the value, the bulge here.
    bulge: f32,
}

#[derive(Clone, Copy, Default)]
struct Active {
    part: u32,
    value: f32,
    gradient: Vec3,
}

impl SurfaceField {
    /// Takes the coats as they are now.
    pub fn set(
        &mut self,
        coats: &PrimitiveFields,
        rest: &SoftRest,
        bodies: &[BodyState],
        skins: &[Arc<SkinSurface>],
    ) {
        self.level = coats.level as f32;
        self.parts.clear();
        let all = coats.primitives.iter().enumerate();
        self.parts.extend(all.map(|(i, p)| Part::new(p, coats, i, rest, bodies)));
        for (skin, surface) in rest.skins.iter().zip(skins) {
            self.add_skin(&rest.objects[skin.object].primitives, surface);
        }
        self.most_bulge = self.parts.iter().map(|p| p.bulge).fold(0.0, f32::max);
        self.welds.clear();
        self.welds.extend(coats.spots.iter().map(|s| WeldPart {
            groups: s.groups,
            place: s.place.as_vec3(),
            radius: s.radius as f32,
            weight: s.weight as f32,
        }));
    }

    /// Adds the skin that is shown in the place of an object's balls.
    fn add_skin(&mut self, object: &std::ops::Range<usize>, skin: &Arc<SkinSurface>) {
        let own = self.parts.len() as u32;
        let balls = self.parts[object.clone()].iter().filter(|p| p.under_skin);
        // The thickest: the skin of thin limbs is as soft as that of thick ones.
        let Some(ball) = balls.max_by(|a, b| a.thickness.total_cmp(&b.thickness)) else { return };
        let ball = ball.clone();
        let muscles: Vec<u32> = (object.start as u32..object.end as u32)
            .filter(|&i| !self.parts[i as usize].under_skin)
            .collect();
        for &muscle in &muscles {
            let part = &mut self.parts[muscle as usize];
            let links = part.links.iter().flat_map(|l| l.iter().copied());
            part.links = Some(links.chain([own]).collect());
        }
        self.parts.push(Part::of_skin(&ball, skin, muscles));
    }

    /// Number of the first tool among the parts.
    pub(super) fn first_tool(&self) -> usize {
        self.parts.len() + self.welds.len()
    }

    /// Stiffness of a label's first primitive [N/m³].
    pub(super) fn stiffness(&self, label: u32) -> f32 {
        self.parts.iter().find(|p| p.label == label).map_or(1.0, |p| p.stiffness)
    }

    /// Distance from a tool within which a label bulges [m].
    pub(super) fn bulge_width(&self, label: u32) -> f32 {
        BULGE_ZONE as f32 * self.level / self.stiffness(label)
    }

    /// Box of the supports of a label's primitives.
    #[must_use]
    pub fn bounds(&self, label: u32) -> Bounds {
        let own = self.parts.iter().filter(|p| p.label == label);
        own.fold(Bounds::EMPTY, |b, p| b.union(Bounds::of(&p.points).grown(p.reach)))
    }

    /// Fields of a label and of the others at a point, from the given parts.
    #[must_use]
    pub fn value(&self, label: u32, parts: &[u32], at: Vec3) -> LabelValue {
        self.value_by(label, parts, at, Asked::Anywhere)
    }

    /// The same, for a place that is given in some way.
    #[must_use]
    pub(super) fn value_by(&self, label: u32, parts: &[u32], at: Vec3, asked: Asked) -> LabelValue {
        let groups = self.sums(parts, at, false, asked);
        let mut out = LabelValue { other_label: u32::MAX, ..LabelValue::default() };
        for g in groups.as_slice() {
            if g.label == label {
                if g.value > out.own {
                    (out.own, out.own_gradient) = (g.value, g.gradient);
                    out.bulge = g.bulge / g.value;
                }
            } else if g.value > out.other {
                (out.other, out.other_gradient, out.other_label) = (g.value, g.gradient, g.label);
            }
        }
        out
    }

    /// What adds up at a point, sum by sum; with `seconds`, also the best clique of a graph beside the
    /// best of all.
    pub(super) fn sums(
        &self,
        parts: &[u32],
        at: Vec3,
        seconds: bool,
        asked: Asked,
    ) -> Stack<GroupSum> {
        let mut groups = Stack::new(GroupSum::default());
        let mut graph = Stack::new(Active::default());
        for &index in parts {
            let Some(part) = self.parts.get(index as usize) else { continue };
            let Some((value, gradient)) = part.sample(at, self.level, asked) else { continue };
            if part.links.is_some() {
                graph.push(Active { part: index, value, gradient });
                continue;
            }
            let known = groups.items[..groups.count].iter_mut().find(|g| g.group == part.group);
            match known {
                Some(sum) => {
                    sum.value += value;
                    sum.gradient += gradient;
                    sum.bulge += value * part.bulge;
                }
                None => {
                    let (group, label) = (part.group, part.label);
                    let bulge = value * part.bulge;
                    groups.push(GroupSum { group, label, value, gradient, bulge });
                }
            }
        }
        self.add_cliques(&graph, &mut groups, seconds);
        if !self.welds.is_empty() && groups.count > 1 {
            self.add_welds(parts, at, &mut groups);
        }
        groups
    }

    fn add_welds(&self, parts: &[u32], at: Vec3, groups: &mut Stack<GroupSum>) {
        let before = groups.items;
        for a in 0..groups.count {
            for b in 0..a {
                let (ga, gb) = (before[a].group, before[b].group);
                let (weight, way) = self.welded(parts, (ga.min(gb), ga.max(gb)), at);
                for (to, from) in [(a, b), (b, a)] {
                    let from = &before[from];
                    groups.items[to].value += weight * from.value;
                    groups.items[to].gradient += weight * from.gradient + way * from.value;
                }
            }
        }
    }

    /// How far two groups are welded at a place, and the gradient of that.
    fn welded(&self, parts: &[u32], groups: (u32, u32), at: Vec3) -> (f32, Vec3) {
        let (mut apart, mut way) = (1.0, Vec3::ZERO);
        let index = |&p: &u32| (p as usize).checked_sub(self.parts.len());
        let here = parts.iter().filter_map(index).filter_map(|w| self.welds.get(w));
        for weld in here.filter(|w| w.groups == groups) {
            let away = at - weld.place;
            let distance = away.length();
            let (shape, slope) = weld_shape(f64::from(distance / weld.radius));
            let weight = weld.weight * shape as f32;
            let slope = weld.weight * slope as f32 / (weld.radius * distance.max(1e-20));
            way = way * (1.0 - weight) + apart * slope * away;
            apart *= 1.0 - weight;
        }
        (1.0 - apart, way)
    }

    /// The best clique of every graph that matters here.
    fn add_cliques(&self, graph: &Stack<Active>, groups: &mut Stack<GroupSum>, seconds: bool) {
        let active = graph.as_slice();
        let mut left = (1u32 << active.len()) - 1;
        while left != 0 {
            let first = &self.parts[active[left.trailing_zeros() as usize].part as usize];
            let same = |i: usize| self.parts[active[i].part as usize].group == first.group;
            let members = (0..active.len()).filter(|&i| same(i)).fold(0u32, |m, i| m | 1 << i);
            left &= !members;
            let linked = |a: usize, b: usize| {
                let links = self.parts[active[a].part as usize].links.as_ref();
                links.is_some_and(|l| l.binary_search(&active[b].part).is_ok())
            };
            let mut masks = [0u32; MOST];
            for a in 0..active.len() {
                for b in 0..active.len() {
                    if a != b && same(a) && same(b) && linked(a, b) {
                        masks[a] |= 1 << b;
                    }
                }
            }
            let (_, clique) = best_clique(active, &masks, members);
            groups.push(self.clique_sum(first, active, clique));
            let mut second = (0.0, 0);
            for i in (0..active.len()).filter(|i| seconds && (members & !clique) >> i & 1 == 1) {
                let (sum, set) = best_clique(active, &masks, members & masks[i]);
                if sum + active[i].value > second.0 {
                    second = (sum + active[i].value, set | 1 << i);
                }
            }
            if second.0 > 0.0 {
                groups.push(self.clique_sum(first, active, second.1));
            }
        }
    }

    fn clique_sum(&self, first: &Part, active: &[Active], clique: u32) -> GroupSum {
        let mut sum = GroupSum { group: first.group, label: first.label, ..GroupSum::default() };
        for i in (0..active.len()).filter(|i| clique >> i & 1 == 1) {
            sum.value += active[i].value;
            sum.gradient += active[i].gradient;
            sum.bulge += active[i].value * self.parts[active[i].part as usize].bulge;
        }
        sum
    }

    /// Colour and texture coordinates at a point: those of the label's primitives, by their fields.
    #[must_use]
    pub fn paint(&self, label: u32, parts: &[u32], at: Vec3) -> Paint {
        let mut sum = Paint::default();
        let mut weight = 0.0;
        for &index in parts {
            let Some(part) = self.parts.get(index as usize) else { continue };
            if part.label != label {
                continue;
            }
            if let Some(skin) = &part.skin {
                // On it the skin's own field is the level.
                let share = self.level * self.level;
                sum.color += skin.color(at).unwrap_or(part.color) * share;
                sum.uv += part.uv[0] * share;
                sum.velocity += skin.velocity(at) * share;
                weight += share;
            } else {
                let away = part.away(at);
                let value = part.value_and_slope(away.length(), self.level).0;
                // Squared, so that the nearest primitive shows.
                sum.color += part.color * value * value;
                sum.uv += part.uv_at(at - away) * value * value;
                let velocity = part.velocity + part.spin.cross(at - part.center);
                sum.velocity += velocity * value * value;
                weight += value * value;
            }
        }
        if weight > 0.0 {
            let (color, uv) = (sum.color / weight, sum.uv / weight);
            return Paint { color, uv, velocity: sum.velocity / weight };
        }
        let first = self.parts.iter().find(|p| p.label == label);
        first.map_or(sum, |p| Paint { color: p.color, uv: p.uv[0], velocity: p.velocity })
    }

    /// The way out of a label's body at a place of its surface; not of unit length.
    #[must_use]
    pub fn outward(&self, label: u32, parts: &[u32], at: Vec3) -> Vec3 {
        let v = self.value(label, parts, at);
        if v.other > self.level { v.other_gradient - v.own_gradient } else { -v.own_gradient }
    }

    /// Whether nothing of a label moves.
    #[must_use]
    pub fn is_still(&self, label: u32) -> bool {
        let still = |p: &Part| p.velocity == Vec3::ZERO && p.spin == Vec3::ZERO;
        self.parts.iter().filter(|p| p.label == label).all(still)
    }

    /// Whether parts of other labels, or tools, are among some parts.
    #[must_use]
    pub fn meets_others(&self, label: u32, parts: &[u32]) -> bool {
        parts.iter().any(|&p| match self.parts.get(p as usize) {
            Some(part) => part.label != label,
            None => p as usize >= self.first_tool(),
        })
    }

    /// Whether a tool among some parts touches a point.
    #[must_use]
    pub fn is_on_tool(&self, tools: Tools<'_>, parts: &[u32], at: Vec3, near: f32) -> bool {
        let tool = |p: &u32| (*p as usize).checked_sub(self.first_tool());
        parts.iter().filter_map(tool).any(|t| tools.get(t).distance(at).0 < near)
    }

    /// Pressure on a point of a label's surface [Pa]: its field above the iso-value.
    #[must_use]
    pub fn pressure(&self, label: u32, parts: &[u32], at: Vec3) -> f32 {
        (self.value(label, parts, at).own - self.level).max(0.0)
    }

    /// Iso-value [Pa].
    #[must_use]
    pub fn level(&self) -> f32 {
        self.level
    }
}

fn best_clique(active: &[Active], masks: &[u32; MOST], candidates: u32) -> (f32, u32) {
    if candidates == 0 {
        return (0.0, 0);
    }
    let v = candidates.trailing_zeros() as usize;
    let rest = candidates & !(1 << v);
    let (sum, set) = best_clique(active, masks, rest & masks[v]);
    let with = (active[v].value + sum, set | 1 << v);
    if rest & !masks[v] == 0 {
        return with;
    }
    let without = best_clique(active, masks, rest);
    if without.0 > with.0 { without } else { with }
}

impl Part {
    /// Way from the primitive to a place; for points and segments.
    #[inline(always)]
    fn straight_away<const SEGMENT: bool>(&self, x: f32, y: f32, z: f32) -> (f32, f32, f32) {
        let a = self.points[0];
        let (x, y, z) = (x - a.x, y - a.y, z - a.z);
        if !SEGMENT {
            return (x, y, z);
        }
        let d = self.along;
        let t = (x * d.x + y * d.y + z * d.z) * self.inverse_length_sq;
        let t = t.clamp(0.0, 1.0);
        (x - t * d.x, y - t * d.y, z - t * d.z)
    }

    /// Adds the field at some points.
    pub(super) fn add_values<const SEGMENT: bool>(
        &self,
        level: f32,
        at: PointsSoa<'_>,
        out: &mut [f32],
    ) {
        let (p, edge) = (self.steepness, self.thickness + self.offset);
        let count = out.len();
        let (xs, ys, zs) = (&at.x[..count], &at.y[..count], &at.z[..count]);
        for i in 0..count {
            let (x, y, z) = self.straight_away::<SEGMENT>(xs[i], ys[i], zs[i]);
            let distance = (x * x + y * y + z * z).sqrt();
            let beyond = distance - edge;
            let t = (beyond * self.inverse_width).clamp(0.0, 1.0);
            let u = 1.0 - t;
            let outside = level * u * u * (1.0 + 2.0 * t - p * t);
            out[i] += outside + self.stiffness * (-beyond).max(0.0);
        }
    }

    /// Adds the field and its gradient at some points.
    pub(super) fn add_samples<const SEGMENT: bool>(
        &self,
        level: f32,
        at: PointsSoa<'_>,
        out: &mut SamplesSoa,
    ) {
        let (p, edge) = (self.steepness, self.thickness + self.offset);
        let count = at.len();
        let (xs, ys, zs) = (&at.x[..count], &at.y[..count], &at.z[..count]);
        let (value, gx) = (&mut out.value[..count], &mut out.x[..count]);
        let (gy, gz) = (&mut out.y[..count], &mut out.z[..count]);
        for i in 0..count {
            let (x, y, z) = self.straight_away::<SEGMENT>(xs[i], ys[i], zs[i]);
            let distance = (x * x + y * y + z * z).sqrt();
            let beyond = distance - edge;
            let t = (beyond * self.inverse_width).clamp(0.0, 1.0);
            let u = 1.0 - t;
            let outside = level * u * u * (1.0 + 2.0 * t - p * t);
            value[i] += outside + self.stiffness * (-beyond).max(0.0);
            // At t = 0 this is the stiffness, as everywhere inside.
            let slope = level * self.inverse_width * u * (p * (3.0 * t - 1.0) - 6.0 * t);
            let scale = slope / distance.max(1e-20);
            gx[i] += scale * x;
            gy[i] += scale * y;
            gz[i] += scale * z;
        }
    }
}
