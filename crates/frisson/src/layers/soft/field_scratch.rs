//! Blending: which primitives add up at a point, and who is on the other side.
//!
//! Primitives of one **group** all blend with each other (their fields add), unless the group has a
//! graph: then the field is the maximum, over the cliques of primitives that matter at the point, of
//! the clique's sum. In a chain A-B-C the ends never add, and the field is continuous everywhere
//! because a primitive enters and leaves a clique with field 0. Groups do not blend with each other:
//! they press, except where they are welded: there they add, with a weight of the place.

use glam::DVec3;

use super::field::Kind;
use super::neighbourhood::{MAX_GRAPH, Neighbourhood};
use super::primitive_fields::{NOBODY, PrimitiveFields};
use super::seeds::Ray;

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

/// A primitive that asks what is at a point.
#[derive(Clone, Copy)]
pub struct FieldQuery<'a> {
    /// All primitives.
    pub fields: &'a PrimitiveFields,
    /// Those that can matter there.
    pub near: &'a Neighbourhood,
    /// Who asks.
    pub index: u32,
    /// Where [m].
    pub at: DVec3,
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

/// The clique (as bits) of largest sum among `candidates`. Exact: a place meets few primitives of a graph at once.
fn best_clique(values: &[f64], masks: &[u128], candidates: u128) -> (f64, u128) {
    if candidates == 0 {
        return (0.0, 0);
    }
    let v = candidates.trailing_zeros() as usize;
    let bit = 1u128 << v;
    let rest = candidates & !bit;
    let (sum, set) = best_clique(values, masks, rest & masks[v]);
    let with = (values[v] + sum, set | bit);
    // Everybody left is linked to this one: leaving it out cannot be better.
    if rest & !masks[v] == 0 {
        return with;
    }
    let without = best_clique(values, masks, rest);
    if without.0 > with.0 { without } else { with }
}

impl FieldScratch {
    fn evaluate(&mut self, fields: &PrimitiveFields, near: &Neighbourhood, at: DVec3) {
        self.values.clear();
        self.values.extend(near.members.iter().map(|&m| fields.value_of(m as usize, at)));
        self.groups.clear();
        for (run, &(start, end, _, graph)) in near.runs.iter().enumerate() {
            let values = &self.values[start as usize..end as usize];
            let (own, clique) = if graph {
                let masks = &near.masks[start as usize..end as usize];
                best_clique(values, masks, active(values))
            } else {
                // All of a group without a graph add up: no clique to find.
                (values.iter().sum(), 0)
            };
            self.groups.push(GroupValue { run: run as u32, own, total: own, clique });
        }
        if !near.spots.is_empty() {
            self.add_welds(fields, near, at);
        }
    }

    /// From now on only places on a ray, no further than `length`, are asked: most members are out
    /// of reach all along it.
    pub fn begin_ray(
        &mut self,
        fields: &PrimitiveFields,
        near: &Neighbourhood,
        ray: &Ray,
        length: f64,
    ) {
        let Ray { origin, direction, .. } = *ray;
        let all = near;
        let near = &mut self.on_ray;
        near.members.clear();
        near.runs.clear();
        near.masks.clear();
        near.spots.clear();
        // Twice its radius: beyond that a weld has no weight.
        near.spots.extend(all.spots.iter().copied().filter(|&s| {
            let spot = &fields.spots[s as usize];
            let to = spot.place - origin;
            let along = (to.dot(direction) / direction.length_squared()).clamp(0.0, length);
            (to - along * direction).length() < 2.0 * spot.radius
        }));
        for &(start, end, group, graph) in &all.runs {
            let first = near.members.len();
            for i in start as usize..end as usize {
                let m = all.members[i];
                let primitive = &fields.primitives[m as usize];
                // The bits of a graph's members count from the start of its run: all stay.
                let matters = graph || primitive.kind != Kind::Point || {
                    let to = primitive.measured(fields.points[primitive.first as usize] - origin);
                    let direction = primitive.measured(direction);
                    let along = to.dot(direction) / direction.length_squared();
                    let nearest = to - along.clamp(0.0, length) * direction;
                    let reach = primitive.profile.support + primitive.offset;
                    reach > 0.0 && nearest.length_squared() < reach * reach
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

    fn add_welds(&mut self, fields: &PrimitiveFields, near: &Neighbourhood, at: DVec3) {
        for a in 0..self.groups.len() {
            for b in 0..a {
                let (own_a, own_b) = (self.groups[a].own, self.groups[b].own);
                if own_a > 0.0 || own_b > 0.0 {
                    let (weight, _) = near.welded(fields, near.runs[a].2, near.runs[b].2, at);
                    self.groups[a].total += weight * own_b;
                    self.groups[b].total += weight * own_a;
                }
            }
        }
    }

    /// Field of the union of everything at a point [Pa]: what the tests compare with.
    #[cfg(test)]
    pub fn union(&mut self, fields: &PrimitiveFields, near: &Neighbourhood, at: DVec3) -> f64 {
        self.evaluate(fields, near, at);
        self.groups.iter().map(|g| g.total).fold(0.0, f64::max)
    }

    /// What a primitive finds at a point.
    pub fn see(&mut self, query: FieldQuery) -> Seen {
        if self.limited {
            let on_ray = std::mem::take(&mut self.on_ray);
            let seen = self.see_among(FieldQuery { near: &on_ray, ..query });
            self.on_ray = on_ray;
            return seen;
        }
        self.see_among(query)
    }

    fn see_among(&mut self, query: FieldQuery) -> Seen {
        let FieldQuery { fields, near, index, at } = query;
        self.evaluate(fields, near, at);
        let group = fields.primitives[index as usize].group;
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
                        seen.fused = near.welded(fields, group, of, at).0;
                    }
                }
                continue;
            }
            let range = start as usize..end as usize;
            // On a ray most members were left out, but never the one that asks.
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
        // Beyond the bits: it blends with nobody and presses on nobody.
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
            let may = !graph || ((bit as usize) < MAX_GRAPH && allowed >> bit & 1 == 1);
            if may && self.values[i as usize] > best.0 {
                best = (self.values[i as usize], near.members[i as usize]);
            }
        }
        best.1
    }

    /// Gradient of a group's field after [`FieldScratch::see`] or another evaluation at the same
    /// point: of the group of who asks alone, in a graph of its clique with it. Also the sum of the
    /// slopes of the fields that add up: how fast the field grows when all coats thicken together.
    pub fn group_gradient(&self, query: FieldQuery) -> (DVec3, f64) {
        self.gradient::<false>(query)
    }

    /// The same with all that is welded to the group.
    pub fn side_gradient(&self, query: FieldQuery) -> (DVec3, f64) {
        self.gradient::<true>(query)
    }

    /// What contacts do not feel yet of the swelling of those that add up in a primitive's group at a
    /// point [Pa].
    pub fn swelling(&self, query: FieldQuery) -> f64 {
        let FieldQuery { fields, near, index, at } = query;
        let near = if self.limited { &self.on_ray } else { near };
        let group = fields.primitives[index as usize].group;
        let mut sum = 0.0;
        for (&m, &value) in near.members.iter().zip(&self.values) {
            let p = &fields.primitives[m as usize];
            let adds = value > 0.0 && p.swelling != 0.0 && p.group == group;
            if adds && (m == index || fields.linked(index as usize, m as usize)) {
                sum -= fields.field_of(m as usize, at).1 * p.swelling;
            }
        }
        sum
    }

    fn gradient<const WELDED: bool>(&self, query: FieldQuery) -> (DVec3, f64) {
        let FieldQuery { fields, near, index, at } = query;
        let near = if self.limited { &self.on_ray } else { near };
        let group = fields.primitives[index as usize].group;
        let (mut sum, mut lengths) = (DVec3::ZERO, 0.0);
        for g in &self.groups {
            let (start, end, of, graph) = near.runs[g.run as usize];
            let (weight, way) = match of == group {
                true => (1.0, DVec3::ZERO),
                false if WELDED && !near.spots.is_empty() => near.welded(fields, group, of, at),
                false => continue,
            };
            // The weight of a weld has a slope of its own: without it normals beside a weld would be wrong.
            sum += way * g.own;
            // Nothing of it adds up here.
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
                let counts = !graph || ((bit as usize) < MAX_GRAPH && clique >> bit & 1 == 1);
                if counts && self.values[i as usize] > 0.0 {
                    let member = near.members[i as usize] as usize;
                    sum += weight * fields.gradient_of(member, at);
                    // In its own measure: what thickens is that.
                    lengths += weight * fields.field_of(member, at).1.abs();
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
