//! The field as the iso-surface extraction asks it, in f32 and without buffers.

use std::sync::Arc;

use glam::{Vec2, Vec3};

use super::field::BULGE_ZONE;
use super::primitive_fields::PrimitiveFields;
use super::rest::SoftRest;
use super::skin_field::SkinSurface;
use super::skin_place::Asked;
use super::state::BodyState;
use super::surface_part::Part;
use super::tool::Tools;
use super::weld::weld_shape;
use crate::geometry::Bounds;
use crate::tolerances::nothing;
use crate::tolerances::soft as tolerances;

/// Most groups, and most primitives of graphs, that matter at one point. Further ones are too weak to
/// be seen; a point in a heap of doughs meets three.
const MOST: usize = 24;

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
    /// Distance within which a point of the lattice lies on what it is near [m].
    pub(super) touch: f32,
    /// What any bulge adds at most [Pa].
    pub(super) most_bulge: f32,
    pub(super) parts: Vec<Part>,
    /// Surface that each primitive is drawn with; empty: that of its mesh.
    pub(super) surface_of: Vec<u32>,
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
        // Dropped and not an error: by then every place in reach is deep inside.
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
        fields: &PrimitiveFields,
        rest: &SoftRest,
        bodies: &[BodyState],
        skins: &[Arc<SkinSurface>],
    ) {
        self.level = fields.level as f32;
        self.touch = tolerances::ON_LATTICE_CELLS * rest.cell as f32;
        self.parts.clear();
        let all = fields.primitives.iter().enumerate();
        self.parts.extend(all.map(|(i, p)| Part::new(p, fields, i, rest, bodies)));
        for (part, surface) in self.parts.iter_mut().zip(&self.surface_of) {
            part.label = *surface;
        }
        for (skin, surface) in rest.skins.iter().zip(skins) {
            self.add_skin(&rest.objects[skin.object].primitives, surface);
        }
        self.most_bulge = self.parts.iter().map(|p| p.bulge).fold(0.0, f32::max);
        self.welds.clear();
        self.welds.extend(fields.spots.iter().map(|s| WeldPart {
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
        let groups = self.group_sums(parts, at, false, asked);
        let mut out = LabelValue { other_label: u32::MAX, ..LabelValue::default() };
        for g in groups.as_slice() {
            if g.label == label {
                // A label may have several groups here: pieces that have parted. The nearest decides.
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
    pub(super) fn group_sums(
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
            // Which parts of a graph add up is known when all of them are there.
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
        // Sums as they were: a weld adds what the other group has alone, not what it got from a third.
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
        // Each weld leaves a share apart; these multiply, so no number of welds joins more than wholly.
        let (mut apart, mut way) = (1.0, Vec3::ZERO);
        let index = |&p: &u32| (p as usize).checked_sub(self.parts.len());
        let here = parts.iter().filter_map(index).filter_map(|w| self.welds.get(w));
        for weld in here.filter(|w| w.groups == groups) {
            let away = at - weld.place;
            let distance = away.length();
            let (shape, slope) = weld_shape(f64::from(distance / weld.radius));
            let weight = weld.weight * shape as f32;
            let slope =
                weld.weight * slope as f32 / (weld.radius * distance.max(nothing::NO_FIELD));
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
            // The best clique that the best one does not hold: it comes up to a crease from the other side.
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
                let value = part.value_and_slope(part.measured(away).length(), self.level).0;
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

    /// Whether parts of other labels are among some parts.
    #[must_use]
    pub fn meets_bodies(&self, label: u32, parts: &[u32]) -> bool {
        parts.iter().any(|&p| self.parts.get(p as usize).is_some_and(|part| part.label != label))
    }

    /// How far the nearest surface of another label is from a point, to first order [m], negative inside; and which
    /// label that is.
    #[must_use]
    pub fn others_away(&self, label: u32, parts: &[u32], at: Vec3) -> (f32, u32) {
        let v = self.value(label, parts, at);
        let share = (v.other / self.level).max(1e-6);
        let slope = v.other_gradient.length().max(f32::MIN_POSITIVE);
        // Outside, stiff fields fall as a power: their logarithm is what is nearly straight.
        let excess = if share < 1.0 { share.ln() * v.other } else { v.other - self.level };
        (-excess / slope, v.other_label)
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

/// The clique (as bits) of largest sum among `candidates`: that of the seeds (`field_scratch.rs`) for the few bits and
/// the single precision of a point of the lattice.
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
