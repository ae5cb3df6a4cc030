//! Dynamic blending: pieces that part, pieces that fuse.

use super::blend::Coats;
use super::field::gap;
use super::rest::SoftRest;
use super::sample::Territory;
use super::state::{Fusion, SoftState};

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
        self.parents[a.max(b) as usize] = a.min(b);
    }
}

/// Whether the supports of two primitives meet.
#[must_use]
pub fn supports_meet(coats: &Coats, a: usize, b: usize) -> bool {
    let (pa, pb) = (&coats.primitives[a], &coats.primitives[b]);
    let reach = coats.reach(a) + coats.reach(b);
    gap(pa.kind, coats.points_of(a), pb.kind, coats.points_of(b), reach) < reach
}

/// Splits groups whose influence graph has fallen apart. Only pairs that still blend count: pieces
/// that have parted never melt again by coming near.
pub fn update_fracture(
    rest: &SoftRest,
    coats: &Coats,
    territories: &[Territory],
    components: &mut Components,
    state: &mut SoftState,
) -> bool {
    components.reset(coats.primitives.len());
    for (a, territory) in territories.iter().enumerate() {
        if rest.primitives[a].links.is_some() {
            components.join(a as u32, state.groups[a]);
            continue;
        }
        for &b in territory.near() {
            let same = (b as usize) < a && state.groups[a] == state.groups[b as usize];
            if same
                && components.root(a as u32) != components.root(b)
                && supports_meet(coats, a, b as usize)
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
    let alive = |g: u32| state.groups[g as usize] == g;
    state.fusions.retain(|f| alive(f.groups.0) && alive(f.groups.1));
    changed
}

/// Starts fusions where territories press hard enough, and advances those under way.
pub fn update_fusions(
    rest: &SoftRest,
    pressed: &[((u32, u32), f64)],
    state: &mut SoftState,
    dt: f64,
) -> bool {
    for &((a, b), force) in pressed {
        let object = |i: u32| &rest.objects[rest.primitives[i as usize].object].params;
        let (Some(fa), Some(fb)) = (object(a).fuse, object(b).fuse) else { continue };
        let free = |i: u32| rest.primitives[i as usize].links.is_none();
        if force <= fa.max(fb) || !free(a) || !free(b) {
            continue;
        }
        let (ga, gb) = (state.groups[a as usize], state.groups[b as usize]);
        let groups = (ga.min(gb), ga.max(gb));
        if ga != gb && state.fusions.iter().all(|f| f.groups != groups) {
            let seconds = object(a).fuse_time.max(object(b).fuse_time);
            state.fusions.push(Fusion { groups, weight: 0.0, seconds });
        }
    }
    for fusion in &mut state.fusions {
        fusion.weight += if fusion.seconds > 0.0 { dt / fusion.seconds } else { 1.0 };
    }
    let mut joined = false;
    while let Some(done) = state.fusions.iter().position(|f| f.weight >= 1.0) {
        let (keep, drop) = state.fusions.remove(done).groups;
        state.groups.iter_mut().filter(|g| **g == drop).for_each(|g| *g = keep);
        for f in &mut state.fusions {
            let (a, b) = f.groups;
            let renamed = |g: u32| if g == drop { keep } else { g };
            f.groups = (renamed(a).min(renamed(b)), renamed(a).max(renamed(b)));
        }
        state.fusions.retain(|f| f.groups.0 != f.groups.1);
        state.fusions.sort_by(|a, b| a.groups.cmp(&b.groups).then(b.weight.total_cmp(&a.weight)));
        state.fusions.dedup_by_key(|f| f.groups);
        joined = true;
    }
    joined
}
