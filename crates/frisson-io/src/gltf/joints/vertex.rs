//! What one vertex follows: its joints, and the twins that swing it.

/// Share of a weight below which it is rounding [-]. Less, and slivers of a sum fill a slot each.
const LEAST_SHARE: f32 = 1e-6;

/// A vertex's joints and swings.
#[derive(Clone, Default)]
pub(super) struct Vertex {
    /// Node and weight.
    pub(super) joints: Vec<(usize, f32)>,
    /// Layer and alpha.
    pub(super) swings: Vec<(usize, f32)>,
}

impl Vertex {
    /// Weights of joints (no layer) and of their twins. The twins of an element have `alpha` in all;
    /// a joint and its twins have the joint's weight, unless `limit` asks for joints to be merged.
    ///
    /// ```text
    ///   joints    |-------- a --------|------ b ------|--- c ---|     heaviest first
    ///   swings    |---- 1 ----|- 2 -|---------- at rest --------|
    ///   shares    |   a1      | a2  |a|      b        |    c    |
    /// ```
    pub(super) fn share(
        mut self,
        limit: usize,
        hops: &[Vec<u16>],
    ) -> Vec<(usize, Option<usize>, f32)> {
        if self.swings.is_empty() {
            return self.joints.into_iter().map(|(j, w)| (j, None, w)).collect();
        }
        // At least one slot is left for what the vertex follows at rest.
        self.swings.sort_by(|a, b| b.1.total_cmp(&a.1));
        self.swings.truncate(limit.max(2) - 1);
        loop {
            self.joints.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let shares = self.overlay();
            if shares.len() <= limit.max(2) || self.joints.len() == 1 {
                return shares;
            }
            self.merge(hops);
        }
    }

    fn overlay(&self) -> Vec<(usize, Option<usize>, f32)> {
        let sum: f32 = self.swings.iter().map(|s| s.1).sum();
        // Weights add up to one: elements that ask for more together are all taken back alike.
        let scale = if sum > 1.0 { 1.0 / sum } else { 1.0 };
        let whole: f32 = self.joints.iter().map(|j| j.1).sum();
        let mut shares = Vec::new();
        let rest = (1.0 - sum).max(0.0);
        let parts = self.swings.iter().map(|&(layer, a)| (Some(layer), a * scale));
        let mut joints = self.joints.iter().map(|&(j, w)| (j, w / whole));
        let (mut joint, mut room) = joints.next().unwrap_or((0, 1.0));
        for (layer, mut wanted) in parts.chain([(None, rest)]) {
            while wanted > LEAST_SHARE {
                if room <= LEAST_SHARE {
                    match joints.next() {
                        Some(next) => (joint, room) = next,
                        None => break,
                    }
                }
                let share = wanted.min(room);
                shares.push((joint, layer, share));
                wanted -= share;
                room -= share;
            }
        }
        shares
    }

    /// Gives one joint's weight to another: the lightest, to the nearest in the skeleton.
    fn merge(&mut self, hops: &[Vec<u16>]) {
        let mut best: Option<(f32, usize, usize)> = None;
        for (i, &(from, weight)) in self.joints.iter().enumerate() {
            for (k, &(to, _)) in self.joints.iter().enumerate().filter(|(k, _)| *k != i) {
                let cost = weight * f32::from(hops[from][to]);
                if best.is_none_or(|(least, _, _)| cost < least) {
                    best = Some((cost, i, k));
                }
            }
        }
        if let Some((_, from, to)) = best {
            self.joints[to].1 += self.joints[from].1;
            self.joints.remove(from);
        }
    }
}
