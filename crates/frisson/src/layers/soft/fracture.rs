//! Dynamic blending: pieces that part.

use super::field::gap;
use super::primitive_fields::PrimitiveFields;
use super::rest::SoftRest;
use super::sample::Territory;
use super::state::SoftState;

/// Components of an influence graph, kept as parent links towards the smallest member.
#[derive(Clone, Debug, Default)]
pub struct Components {
    parents: Vec<u32>,
}

impl Components {
    /// Everybody alone.
    pub fn reset(&mut self, count: usize) {
        self.parents.clear();
        self.parents.extend(0..count as u32);
    }

    /// Smallest member of an element's component.
    #[must_use]
    pub fn root(&self, element: u32) -> u32 {
        let mut at = element;
        while self.parents[at as usize] != at {
            at = self.parents[at as usize];
        }
        at
    }

    /// The same, and the way there is shorter next time.
    fn shorten(&mut self, element: u32) -> u32 {
        let mut at = element;
        while self.parents[at as usize] != at {
            let up = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = up;
            at = up;
        }
        at
    }

    /// Joins two components.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.shorten(a), self.shorten(b));
        // Towards the smaller: the name of a component does not depend on the order of joining.
        self.parents[a.max(b) as usize] = a.min(b);
    }
}

/// Whether the supports of two primitives meet.
#[must_use]
pub fn supports_meet(fields: &PrimitiveFields, a: usize, b: usize) -> bool {
    let (pa, pb) = (&fields.primitives[a], &fields.primitives[b]);
    let reach = fields.reach(a) + fields.reach(b);
    if !(pa.shape.is_round() && pb.shape.is_round()) {
        // As far as particles are in the measure half-way between theirs.
        let way = fields.middle(a) - fields.middle(b);
        return 0.5 * (pa.measured(way) + pb.measured(way)).length() < reach;
    }
    gap(pa.kind, fields.points_of(a), pb.kind, fields.points_of(b), reach) < reach
}

/// Splits groups whose influence graph has fallen apart. Only pairs that still blend count: pieces
/// that have parted never melt again by coming near.
pub fn update_fracture(
    rest: &SoftRest,
    fields: &PrimitiveFields,
    territories: &[Territory],
    components: &mut Components,
    state: &mut SoftState,
) -> bool {
    // From scratch in every step: pieces may have parted anywhere, and a union cannot be undone.
    components.reset(fields.primitives.len());
    for (a, territory) in territories.iter().enumerate() {
        // What has a graph never parts.
        if rest.primitives[a].links.is_some() {
            // By its group's name, which is its smallest member: so all of the graph are in one component.
            components.join(a as u32, state.groups[a]);
            continue;
        }
        for &b in territory.near() {
            // Every pair once; and a pair already joined by others needs no distance.
            let same = (b as usize) < a && state.groups[a] == state.groups[b as usize];
            if same
                && components.root(a as u32) != components.root(b)
                && supports_meet(fields, a, b as usize)
            {
                components.join(a as u32, b);
            }
        }
    }
    let mut changed = false;
    for index in 0..state.groups.len() {
        let root = components.root(index as u32);
        changed |= state.groups[index] != root;
        state.groups[index] = root;
    }
    changed
}
