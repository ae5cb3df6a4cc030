//! Blending: which primitives add up at a point, and who is on the other side.
//!
//! Primitives of one **group** all blend with each other (their fields add), unless the group has a
//! graph: then the field is the maximum, over the cliques of primitives that matter at the point, of
//! the clique's sum. In a chain A-B-C the ends never add, and the field is continuous everywhere
//! because a primitive enters and leaves a clique with field 0. Groups do not blend with each other:
//! they press, except where they are welded: there they add, with a weight of the place.

use glam::{DVec3, Vec3};

use super::field::{FieldProfile, Kind, closest};
use super::weld::{Spot, weld_weight};

/// Marks nobody.
pub const NOBODY: u32 = u32::MAX;

/// Most primitives of a graph that are looked at in one place: cliques are kept as bits.
const MAX_GRAPH: usize = 128;

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
    pub coat: FieldProfile,
    /// One over the width of its support beyond its thickness [1/m].
    pub inverse_width: f64,
    /// Stiffness as a multiple of the level per that width [-].
    pub steepness: f64,
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

    /// Distance from a primitive beyond which its field is zero [m].
    #[must_use]
    pub fn reach(&self, index: usize) -> f64 {
        let p = &self.primitives[index];
        (p.coat.support + p.offset).max(0.0)
    }

    /// Field of one primitive, its slope, and the way from its closest point.
    #[must_use]
    #[inline]
    pub fn field_of(&self, index: usize, at: DVec3) -> (f64, f64, DVec3) {
        let p = &self.primitives[index];
        let away = at - closest(p.kind, self.points_of(index), at);
        let reach = p.coat.support + p.offset;
        let distance_sq = away.length_squared();
        if reach <= 0.0 || distance_sq >= reach * reach {
            return (0.0, 0.0, away);
        }
        let (value, slope) = p.coat.value_and_slope(distance_sq.sqrt() - p.offset);
        (value, slope, away)
    }

    /// Field of one primitive: the same as [`PrimitiveFields::field_of`], quicker where it is a plain point.
    #[must_use]
    #[inline]
    pub fn value_of(&self, index: usize, at: DVec3) -> f64 {
        let p = &self.primitives[index];
        if p.kind != Kind::Point || p.steepness > 3.0 || p.coat.hardening > 0.0 {
            return self.field_of(index, at).0;
        }
        let reach = p.coat.support + p.offset;
        let distance_sq = at.distance_squared(self.points[p.first as usize]);
        if reach <= 0.0 || distance_sq >= reach * reach {
            return 0.0;
        }
        let beyond = distance_sq.sqrt() - p.offset - p.coat.thickness;
        if beyond <= 0.0 {
            return p.coat.level - p.coat.stiffness * beyond;
        }
        let t = (beyond * p.inverse_width).min(1.0);
        p.coat.level * (1.0 - t) * (1.0 - t) * (1.0 + 2.0 * t - p.steepness * t)
    }

    /// Gradient of one primitive's field [N/m³].
    #[must_use]
    pub fn gradient_of(&self, index: usize, at: DVec3) -> DVec3 {
        let (_, slope, away) = self.field_of(index, at);
        away.normalize_or_zero() * slope
    }

    /// Whether two primitives blend.
    #[must_use]
    pub fn linked(&self, a: usize, b: usize) -> bool {
        let (pa, pb) = (&self.primitives[a], &self.primitives[b]);
        pa.group == pb.group
            && pa.links.as_ref().is_none_or(|links| links.binary_search(&(b as u32)).is_ok())
    }
}

/// The primitives that can matter in some place, sorted by group, with the links among them.
#[derive(Clone, Debug, Default)]
pub struct Neighbourhood {
    /// Primitives, sorted by (group, index).
    pub members: Vec<u32>,
    /// Runs of one group: first member, end, group, whether it has a graph.
    runs: Vec<(u32, u32, u32, bool)>,
    /// For members of graphs: whom they blend with, as bits relative to the run.
    masks: Vec<u128>,
    /// Welds of the groups that are here.
    pub spots: Vec<u32>,
}

impl Neighbourhood {
    /// Leaves out welds that do not reach into a box.
    pub fn limit_spots(&mut self, coats: &PrimitiveFields, low: Vec3, high: Vec3) {
        let (low, high) = (low.as_dvec3(), high.as_dvec3());
        self.spots.retain(|&s| {
            let spot = &coats.spots[s as usize];
            spot.place.distance(spot.place.clamp(low, high)) < 2.0 * spot.radius
        });
    }

    /// How far two groups blend at a place, and the gradient of that.
    fn welded(&self, coats: &PrimitiveFields, a: u32, b: u32, at: DVec3) -> (f64, DVec3) {
        weld_weight(self.spots.iter().map(|&s| &coats.spots[s as usize]), (a, b), at)
    }

    /// Takes a list of primitives.
    pub fn set(&mut self, coats: &PrimitiveFields, members: impl Iterator<Item = u32>) {
        self.members.clear();
        self.members.extend(members);
        self.members.sort_unstable_by_key(|&m| (coats.primitives[m as usize].group, m));
        self.runs.clear();
        self.masks.clear();
        let mut start = 0;
        while start < self.members.len() {
            let first = &coats.primitives[self.members[start] as usize];
            let same = |&&m: &&u32| coats.primitives[m as usize].group == first.group;
            let end = start + self.members[start..].iter().take_while(same).count();
            let graph = first.links.is_some();
            if graph {
                self.link(coats, start, end);
            }
            self.masks.resize(end, 0);
            self.runs.push((start as u32, end as u32, first.group, graph));
            start = end;
        }
        self.spots.clear();
        if self.runs.len() > 1 {
            let here = |g: u32| self.runs.iter().any(|r| r.2 == g);
            let joins = |s: &Spot| here(s.groups.0) && here(s.groups.1);
            let all = coats.spots.iter().enumerate();
            self.spots.extend(all.filter(|(_, s)| joins(s)).map(|(i, _)| i as u32));
        }
    }

    fn link(&mut self, coats: &PrimitiveFields, start: usize, end: usize) {
        self.masks.resize(start, 0);
        let last = end.min(start + MAX_GRAPH);
        for a in start..last {
            let mut mask = 0u128;
            for b in start..last {
                if a != b && coats.linked(self.members[a] as usize, self.members[b] as usize) {
                    mask |= 1 << (b - start);
                }
            }
            self.masks.push(mask);
        }
    }
}

/// Buffers of an evaluation.
#[derive(Clone, Debug, Default)]
pub struct FieldScratch {
    values: Vec<f64>,
    /// Members that can matter on the ray in hand.
    on_ray: Neighbourhood,
    limited: bool,
    groups: Vec<GroupValue>,
}

/// The field of one group at a point.
#[derive(Clone, Copy, Debug)]
struct GroupValue {
    run: u32,
    /// Sum, or largest clique sum, without what is welded to it.
    own: f64,
    /// With that.
    total: f64,
    /// Members that add up (graphs only).
    clique: u128,
}

/// What a primitive finds at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Its own field [Pa].
    pub own: f64,
    /// Field of its side: itself and all it blends with [Pa].
    pub side: f64,
    /// The same without what is welded to its group [Pa].
    pub alone: f64,
    /// Largest field of any other side alone [Pa].
    pub other: f64,
    /// How far that side is welded to its own here, from 0 to 1 [-].
    pub fused: f64,
    /// Strongest primitive of that side; [`NOBODY`] if there is none.
    pub other_primitive: u32,
    /// Largest field of one primitive it blends with [Pa].
    pub rival: f64,
    /// That primitive; [`NOBODY`] if there is none.
    pub rival_primitive: u32,
}

/// The clique (as bits) of largest sum among `candidates`.
fn best_clique(values: &[f64], masks: &[u128], candidates: u128) -> (f64, u128) {
    if candidates == 0 {
        return (0.0, 0);
    }
    let v = candidates.trailing_zeros() as usize;
    let bit = 1u128 << v;
    let rest = candidates & !bit;
    let (sum, set) = best_clique(values, masks, rest & masks[v]);
    let with = (values[v] + sum, set | bit);
    if rest & !masks[v] == 0 {
        return with;
    }
    let without = best_clique(values, masks, rest);
    if without.0 > with.0 { without } else { with }
}

impl FieldScratch {
    fn evaluate(&mut self, coats: &PrimitiveFields, near: &Neighbourhood, at: DVec3) {
        self.values.clear();
        self.values.extend(near.members.iter().map(|&m| coats.value_of(m as usize, at)));
        self.groups.clear();
        for (run, &(start, end, _, graph)) in near.runs.iter().enumerate() {
            let values = &self.values[start as usize..end as usize];
            let (own, clique) = if graph {
                let masks = &near.masks[start as usize..end as usize];
                best_clique(values, masks, active(values))
            } else {
                (values.iter().sum(), 0)
            };
            self.groups.push(GroupValue { run: run as u32, own, total: own, clique });
        }
        if !near.spots.is_empty() {
            self.add_welds(coats, near, at);
        }
    }

    /// From now on only places on a ray, no further than `length`, are asked: most members are out
    /// of reach all along it.
    pub fn begin_ray(
        &mut self,
        coats: &PrimitiveFields,
        near: &Neighbourhood,
        origin: DVec3,
        direction: DVec3,
        length: f64,
    ) {
        let all = near;
        let near = &mut self.on_ray;
        near.members.clear();
        near.runs.clear();
        near.masks.clear();
        near.spots.clear();
        near.spots.extend(all.spots.iter().copied().filter(|&s| {
            let spot = &coats.spots[s as usize];
            let to = spot.place - origin;
            let along = to.dot(direction).clamp(0.0, length);
            (to - along * direction).length() < 2.0 * spot.radius
        }));
        for &(start, end, group, graph) in &all.runs {
            let first = near.members.len();
            for i in start as usize..end as usize {
                let m = all.members[i];
                let primitive = &coats.primitives[m as usize];
                // The bits of a graph's members count from the start of its run: all stay.
                let matters = graph || primitive.kind != Kind::Point || {
                    let to = coats.points[primitive.first as usize] - origin;
                    let along = to.dot(direction).clamp(0.0, length);
                    let reach = primitive.coat.support + primitive.offset;
                    reach > 0.0 && (to - along * direction).length_squared() < reach * reach
                };
                if matters {
                    near.members.push(m);
                    near.masks.push(all.masks[i]);
                }
            }
            if near.members.len() > first {
                near.runs.push((first as u32, near.members.len() as u32, group, graph));
            }
        }
        self.limited = true;
    }

    /// Any place may be asked again.
    pub fn end_ray(&mut self) {
        self.limited = false;
    }

    fn add_welds(&mut self, coats: &PrimitiveFields, near: &Neighbourhood, at: DVec3) {
        for a in 0..self.groups.len() {
            for b in 0..a {
                let (own_a, own_b) = (self.groups[a].own, self.groups[b].own);
                if own_a > 0.0 || own_b > 0.0 {
                    let (weight, _) = near.welded(coats, near.runs[a].2, near.runs[b].2, at);
                    self.groups[a].total += weight * own_b;
                    self.groups[b].total += weight * own_a;
                }
            }
        }
    }

    /// Field of the union of everything at a point [Pa]: what the tests compare with.
    #[cfg(test)]
    pub fn union(&mut self, coats: &PrimitiveFields, near: &Neighbourhood, at: DVec3) -> f64 {
        self.evaluate(coats, near, at);
        self.groups.iter().map(|g| g.total).fold(0.0, f64::max)
    }

    /// What primitive `index` finds at a point.
    pub fn see(
        &mut self,
        coats: &PrimitiveFields,
        near: &Neighbourhood,
        index: u32,
        at: DVec3,
    ) -> Seen {
        if self.limited {
            let on_ray = std::mem::take(&mut self.on_ray);
            let seen = self.see_among(coats, &on_ray, index, at);
            self.on_ray = on_ray;
            return seen;
        }
        self.see_among(coats, near, index, at)
    }

    fn see_among(
        &mut self,
        coats: &PrimitiveFields,
        near: &Neighbourhood,
        index: u32,
        at: DVec3,
    ) -> Seen {
        self.evaluate(coats, near, at);
        let group = coats.primitives[index as usize].group;
        let mut seen = Seen {
            own: 0.0,
            side: 0.0,
            alone: 0.0,
            other: 0.0,
            fused: 0.0,
            other_primitive: NOBODY,
            rival: 0.0,
            rival_primitive: NOBODY,
        };
        for g in 0..self.groups.len() {
            let (start, end, of, graph) = near.runs[g];
            if of != group {
                if self.groups[g].own > seen.other {
                    seen.other = self.groups[g].own;
                    seen.other_primitive = self.strongest(near, g, u128::MAX);
                    if !near.spots.is_empty() {
                        seen.fused = near.welded(coats, group, of, at).0;
                    }
                }
                continue;
            }
            let range = start as usize..end as usize;
            let Some(me) = near.members[range.clone()].iter().position(|&m| m == index) else {
                continue;
            };
            seen.own = self.values[start as usize + me];
            if graph {
                self.see_graph(near, g, me, &mut seen);
            } else {
                (seen.side, seen.alone) = (self.groups[g].total, self.groups[g].own);
                for i in range.filter(|&i| i != start as usize + me) {
                    if self.values[i] > seen.rival {
                        seen.rival = self.values[i];
                        seen.rival_primitive = near.members[i];
                    }
                }
            }
        }
        seen
    }

    /// Own cliques against those without me.
    fn see_graph(&self, near: &Neighbourhood, g: usize, me: usize, seen: &mut Seen) {
        let (start, end, ..) = near.runs[g];
        let values = &self.values[start as usize..end as usize];
        let masks = &near.masks[start as usize..end as usize];
        if me >= MAX_GRAPH {
            return;
        }
        let active = active(values);
        let linked = active & masks[me];
        // Graphs are never welded.
        seen.alone = seen.own + best_clique(values, masks, linked).0;
        seen.side = seen.alone;
        for i in bits(linked) {
            if values[i] > seen.rival {
                seen.rival = values[i];
                seen.rival_primitive = near.members[start as usize + i];
            }
        }
        let apart = active & !masks[me] & !(1 << me);
        for i in bits(apart) {
            let (sum, clique) = best_clique(values, masks, active & masks[i] & !(1 << me));
            let total = values[i] + sum;
            if total > seen.other {
                (seen.other, seen.fused) = (total, 0.0);
                // Only those that do not blend with me press on me.
                let pressing = (clique | 1 << i) & !masks[me];
                seen.other_primitive = self.strongest(near, g, pressing);
            }
        }
    }

    fn strongest(&self, near: &Neighbourhood, g: usize, allowed: u128) -> u32 {
        let (start, end, _, graph) = near.runs[g];
        let mut best = (0.0, NOBODY);
        for i in start..end {
            let bit = i - start;
            let may = !graph || (bit < 128 && allowed >> bit & 1 == 1);
            if may && self.values[i as usize] > best.0 {
                best = (self.values[i as usize], near.members[i as usize]);
            }
        }
        best.1
    }

    /// Gradient of a group's field after [`FieldScratch::see`] or another evaluation at the same
    /// point: of the group of `index` alone, in a graph of its clique with it. Also the sum of the
    /// lengths of the gradients that add up: how fast the field grows when all coats thicken together.
    pub fn group_gradient(
        &self,
        coats: &PrimitiveFields,
        near: &Neighbourhood,
        index: u32,
        at: DVec3,
    ) -> (DVec3, f64) {
        self.gradient::<false>(coats, near, index, at)
    }

    /// The same with all that is welded to the group.
    pub fn side_gradient(
        &self,
        coats: &PrimitiveFields,
        near: &Neighbourhood,
        index: u32,
        at: DVec3,
    ) -> (DVec3, f64) {
        self.gradient::<true>(coats, near, index, at)
    }

    /// What contacts do not feel yet of the swelling of those that add up in a primitive's group at a
    /// point [Pa].
    pub fn swelling(
        &self,
        coats: &PrimitiveFields,
        near: &Neighbourhood,
        index: u32,
        at: DVec3,
    ) -> f64 {
        let near = if self.limited { &self.on_ray } else { near };
        let group = coats.primitives[index as usize].group;
        let mut sum = 0.0;
        for (&m, &value) in near.members.iter().zip(&self.values) {
            let p = &coats.primitives[m as usize];
            let adds = value > 0.0 && p.swelling != 0.0 && p.group == group;
            if adds && (m == index || coats.linked(index as usize, m as usize)) {
                sum -= coats.field_of(m as usize, at).1 * p.swelling;
            }
        }
        sum
    }

    fn gradient<const WELDED: bool>(
        &self,
        coats: &PrimitiveFields,
        near: &Neighbourhood,
        index: u32,
        at: DVec3,
    ) -> (DVec3, f64) {
        let near = if self.limited { &self.on_ray } else { near };
        let group = coats.primitives[index as usize].group;
        let (mut sum, mut lengths) = (DVec3::ZERO, 0.0);
        for g in &self.groups {
            let (start, end, of, graph) = near.runs[g.run as usize];
            let (weight, way) = match of == group {
                true => (1.0, DVec3::ZERO),
                false if WELDED && !near.spots.is_empty() => near.welded(coats, group, of, at),
                false => continue,
            };
            sum += way * g.own;
            if weight == 0.0 {
                continue;
            }
            let values = &self.values[start as usize..end as usize];
            let clique = if graph && of == group {
                let masks = &near.masks[start as usize..end as usize];
                let me =
                    near.members[start as usize..end as usize].iter().position(|&m| m == index);
                me.map_or(g.clique, |me| {
                    best_clique(values, masks, active(values) & masks[me]).1 | 1 << me
                })
            } else {
                g.clique
            };
            for i in start..end {
                let bit = i - start;
                let counts = !graph || (bit < 128 && clique >> bit & 1 == 1);
                if counts && self.values[i as usize] > 0.0 {
                    let one = weight * coats.gradient_of(near.members[i as usize] as usize, at);
                    sum += one;
                    lengths += one.length();
                }
            }
        }
        (sum, lengths)
    }
}

/// Members with a field, as bits.
fn active(values: &[f64]) -> u128 {
    let some = values.iter().take(MAX_GRAPH).enumerate().filter(|(_, v)| **v > 0.0);
    some.fold(0, |mask, (i, _)| mask | 1 << i)
}

fn bits(mut mask: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let bit = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;
    use proptest::prelude::*;

    const LEVEL: f64 = 100.0;

    fn coats(
        centers: &[DVec3],
        edges: Option<&[(usize, usize)]>,
    ) -> (PrimitiveFields, Neighbourhood) {
        let coat = FieldProfile {
            thickness: 0.5,
            support: 1.2,
            stiffness: 150.0,
            hardening: 0.0,
            level: LEVEL,
        };
        let links = |i: usize| {
            edges.map(|edges| {
                let mut list: Vec<u32> = edges
                    .iter()
                    .filter_map(|&(a, b)| {
                        if a == i {
                            Some(b as u32)
                        } else if b == i {
                            Some(a as u32)
                        } else {
                            None
                        }
                    })
                    .collect();
                list.sort_unstable();
                list.dedup();
                list.into()
            })
        };
        let primitives = (0..centers.len())
            .map(|i| Primitive {
                kind: Kind::Point,
                first: i as u32,
                count: 1,
                coat,
                inverse_width: 1.0 / (coat.support - coat.thickness),
                steepness: coat.stiffness * (coat.support - coat.thickness) / coat.level,
                offset: 0.0,
                swelling: 0.0,
                bulge: 0.0,
                label: 0,
                group: 0,
                links: links(i),
            })
            .collect();
        let coats = PrimitiveFields {
            level: LEVEL,
            primitives,
            points: centers.to_vec(),
            spots: Vec::new(),
        };
        let mut near = Neighbourhood::default();
        near.set(&coats, 0..centers.len() as u32);
        (coats, near)
    }

    #[test]
    fn in_a_chain_the_ends_do_not_add() {
        let centers = [DVec3::ZERO, DVec3::X * 0.6, DVec3::X * 1.2];
        let (coats, near) = coats(&centers, Some(&[(0, 1), (1, 2)]));
        let mut scratch = FieldScratch::default();
        for i in 0..50 {
            let at = DVec3::new(f64::from(i) * 0.03 - 0.2, 0.3, 0.1);
            let f: Vec<f64> = (0..3).map(|k| coats.field_of(k, at).0).collect();
            let expected = (f[0] + f[1]).max(f[1] + f[2]);
            assert!((scratch.union(&coats, &near, at) - expected).abs() < 1e-9);
            let seen = scratch.see(&coats, &near, 0, at);
            assert!((seen.side - f[0] - f[1]).abs() < 1e-9);
            assert!((seen.rival - f[1]).abs() < 1e-9);
            if f[2] > 0.0 {
                assert!((seen.other - f[1] - f[2]).abs() < 1e-9, "{at}");
                assert_eq!(seen.other_primitive, 2);
            }
        }
    }

    /// Largest sum over all subsets that are cliques, by trying every subset.
    fn brute(values: &[f64], linked: impl Fn(usize, usize) -> bool) -> f64 {
        (0u32..1 << values.len())
            .filter(|set| {
                let inside: Vec<usize> = (0..values.len()).filter(|i| set >> i & 1 == 1).collect();
                inside.iter().all(|&a| inside.iter().all(|&b| a == b || linked(a, b)))
            })
            .map(|set| (0..values.len()).filter(|i| set >> i & 1 == 1).map(|i| values[i]).sum())
            .fold(0.0, f64::max)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_field_is_the_best_clique_and_continuous(seed in any::<u64>(), share in 0.1f64..0.9) {
            let c = |i, k| random::signed(seed, i, k);
            let centers: Vec<DVec3> =
                (0..8).map(|i| DVec3::new(c(i, 0), c(i, 1), c(i, 2))).collect();
            let mut edges = Vec::new();
            for a in 0..8usize {
                for b in 0..a {
                    if random::uniform(seed, (a * 8 + b) as u64, 9) < share {
                        edges.push((a, b));
                    }
                }
            }
            let (coats, near) = coats(&centers, Some(&edges));
            let mut scratch = FieldScratch::default();
            let (from, to) = (DVec3::splat(-1.5), DVec3::new(1.5, 1.2, 1.4));
            let steps = 2000;
            // No field is steeper than 8 primitives at their steepest.
            let bound = 8.0 * 200.0 * from.distance(to) / f64::from(steps);
            let mut last = scratch.union(&coats, &near, from);
            for i in 1..=steps {
                let at = from.lerp(to, f64::from(i) / f64::from(steps));
                let value = scratch.union(&coats, &near, at);
                prop_assert!((value - last).abs() <= bound, "jump of {}", value - last);
                last = value;
                if i % 400 == 0 {
                    let f: Vec<f64> = (0..8).map(|k| coats.field_of(k, at).0).collect();
                    prop_assert!((value - brute(&f, |a, b| coats.linked(a, b))).abs() < 1e-9);
                }
            }
        }
    }
}
