//! The primitives that can matter in a place, and who of them blends with whom.

use glam::{DVec3, Vec3};

use super::primitive_fields::PrimitiveFields;
use super::weld::{Spot, weld_weight};

/// Most primitives of a graph that are looked at in one place: cliques are kept as bits.
pub const MAX_GRAPH: usize = 128;

/// The primitives that can matter in some place, sorted by group, with the links among them.
#[derive(Clone, Debug, Default)]
pub struct Neighbourhood {
    /// Primitives, sorted by (group, index).
    pub members: Vec<u32>,
    /// Runs of one group: first member, end, group, whether it has a graph.
    pub(super) runs: Vec<(u32, u32, u32, bool)>,
    /// For members of graphs: whom they blend with, as bits relative to the run.
    pub(super) masks: Vec<u128>,
    /// Welds of the groups that are here.
    pub spots: Vec<u32>,
}

impl Neighbourhood {
    /// Leaves out welds that do not reach into a box.
    pub fn limit_spots(&mut self, fields: &PrimitiveFields, low: Vec3, high: Vec3) {
        let (low, high) = (low.as_dvec3(), high.as_dvec3());
        self.spots.retain(|&s| {
            let spot = &fields.spots[s as usize];
            spot.place.distance(spot.place.clamp(low, high)) < 2.0 * spot.radius
        });
    }

    /// How far two groups blend at a place, and the gradient of that.
    pub(super) fn welded(
        &self,
        fields: &PrimitiveFields,
        a: u32,
        b: u32,
        at: DVec3,
    ) -> (f64, DVec3) {
        weld_weight(self.spots.iter().map(|&s| &fields.spots[s as usize]), (a, b), at)
    }

    /// Takes a list of primitives.
    pub fn set(&mut self, fields: &PrimitiveFields, members: impl Iterator<Item = u32>) {
        self.members.clear();
        self.members.extend(members);
        // Groups side by side, so that each is one run; by number within: sums round the same way always.
        self.members.sort_unstable_by_key(|&m| (fields.primitives[m as usize].group, m));
        self.runs.clear();
        self.masks.clear();
        let mut start = 0;
        while start < self.members.len() {
            let first = &fields.primitives[self.members[start] as usize];
            let same = |&&m: &&u32| fields.primitives[m as usize].group == first.group;
            let end = start + self.members[start..].iter().take_while(same).count();
            let graph = first.links.is_some();
            if graph {
                self.link(fields, start, end);
            }
            self.masks.resize(end, 0);
            self.runs.push((start as u32, end as u32, first.group, graph));
            start = end;
        }
        self.spots.clear();
        // A group alone has nobody to be welded to.
        if self.runs.len() > 1 {
            let here = |g: u32| self.runs.iter().any(|r| r.2 == g);
            let joins = |s: &Spot| here(s.groups.0) && here(s.groups.1);
            let all = fields.spots.iter().enumerate();
            self.spots.extend(all.filter(|(_, s)| joins(s)).map(|(i, _)| i as u32));
        }
    }

    fn link(&mut self, fields: &PrimitiveFields, start: usize, end: usize) {
        self.masks.resize(start, 0);
        // Those beyond do not blend here: cliques have no more bits.
        let last = end.min(start + MAX_GRAPH);
        for a in start..last {
            let mut mask = 0u128;
            for b in start..last {
                if a != b && fields.linked(self.members[a] as usize, self.members[b] as usize) {
                    mask |= 1 << (b - start);
                }
            }
            self.masks.push(mask);
        }
    }
}
