//! What has been simulated: frames as bytes, and states to go back to.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::wire::{SentFrame, SentTopology};

/// Frames and checkpoints of one simulation, within a budget of memory.
pub struct Reel {
    frames: BTreeMap<i64, SentFrame>,
    states: BTreeMap<i64, Arc<Vec<u8>>>,
    /// Topologies that frames refer to: by how many, and their bytes with those of their textures. A surface whose
    /// triangles change with every frame has more of them than of positions.
    topologies: BTreeMap<u64, (usize, usize)>,
    frame_bytes: usize,
    state_bytes: usize,
    limits: ReelLimits,
}

/// How much a reel may hold.
#[derive(Clone, Copy, Debug)]
pub struct ReelLimits {
    /// Bytes of frames.
    pub frames: usize,
    /// Bytes of states.
    pub states: usize,
}

impl Default for ReelLimits {
    /// Ten seconds of a hundred thousand vertices, and as many states as fit beside them.
    fn default() -> Self {
        Self { frames: 600 << 20, states: 200 << 20 }
    }
}

fn weight(topology: &SentTopology) -> usize {
    topology.bytes.len() + topology.textures.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
}

impl Reel {
    /// An empty one.
    #[must_use]
    pub fn new(limits: ReelLimits) -> Self {
        Self {
            frames: BTreeMap::new(),
            topologies: BTreeMap::new(),
            states: BTreeMap::new(),
            frame_bytes: 0,
            state_bytes: 0,
            limits,
        }
    }

    /// A frame.
    #[must_use]
    pub fn frame(&self, number: i64) -> Option<&SentFrame> {
        self.frames.get(&number)
    }

    /// All frames, in order.
    pub fn frames(&self) -> impl Iterator<Item = (i64, &SentFrame)> {
        self.frames.iter().map(|(n, f)| (*n, f))
    }

    /// Whether another frame of the usual size fits without one being dropped.
    #[must_use]
    pub fn has_room(&self) -> bool {
        // A frame that would be dropped as soon as it is there must not be begun.
        let usual = self.frame_bytes / self.frames.len().max(1);
        self.frame_bytes + usual <= self.limits.frames
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.frame_bytes + self.state_bytes
    }

    /// Adds a frame; drops the one farthest from the playhead where there is no room.
    pub fn add_frame(&mut self, number: i64, frame: SentFrame, playhead: i64) {
        self.count(&frame);
        if let Some(old) = self.frames.insert(number, frame) {
            self.discount(&old);
        }
        // Two stay whatever they weigh: the one that is shown, and the one that is made.
        while self.frame_bytes > self.limits.frames && self.frames.len() > 2 {
            // What was played goes first: it is farther from what will be looked at next.
            let first = self.frames.keys().next().copied().filter(|n| *n < playhead);
            let Some(farthest) = first.or_else(|| self.frames.keys().next_back().copied()) else {
                break;
            };
            if let Some(old) = self.frames.remove(&farthest) {
                self.discount(&old);
            }
        }
    }

    /// Takes a frame into account, and topologies that no other frame has.
    fn count(&mut self, frame: &SentFrame) {
        self.frame_bytes += frame.bytes.len();
        for topology in &frame.topologies {
            let (users, bytes) =
                self.topologies.entry(topology.id).or_insert((0, weight(topology)));
            // Shared by many frames, kept once.
            if *users == 0 {
                self.frame_bytes += *bytes;
            }
            *users += 1;
        }
    }

    /// The other way round.
    fn discount(&mut self, frame: &SentFrame) {
        self.frame_bytes -= frame.bytes.len();
        for topology in &frame.topologies {
            let Some((users, bytes)) = self.topologies.get_mut(&topology.id) else { continue };
            *users -= 1;
            if *users == 0 {
                self.frame_bytes -= *bytes;
                self.topologies.remove(&topology.id);
            }
        }
    }

    /// Adds the state after a frame; thins the older ones where there is no room.
    pub fn add_state(&mut self, number: i64, state: Vec<u8>) {
        self.state_bytes += state.len();
        if let Some(old) = self.states.insert(number, Arc::new(state)) {
            self.state_bytes -= old.len();
        }
        while self.state_bytes > self.limits.states && self.states.len() > 2 {
            // Every second one, the first and the newest staying: any frame stays near one.
            let inner: Vec<i64> = self
                .states
                .keys()
                .copied()
                .skip(1)
                .take(self.states.len() - 2)
                .step_by(2)
                .collect();
            for number in inner {
                self.forget_state(number);
            }
        }
    }

    /// The last state at or before a frame.
    #[must_use]
    pub fn state_before(&self, number: i64) -> Option<(i64, Arc<Vec<u8>>)> {
        self.states.range(..=number).next_back().map(|(n, s)| (*n, Arc::clone(s)))
    }

    /// Forgets a state that fits no more.
    pub fn forget_state(&mut self, number: i64) {
        if let Some(old) = self.states.remove(&number) {
            self.state_bytes -= old.len();
        }
    }

    /// Whether there is a state after a frame.
    #[must_use]
    pub fn has_state(&self, number: i64) -> bool {
        self.states.contains_key(&number)
    }

    /// Forgets frames that were shown in haste; gives the first of them. Their states stay.
    pub fn forget_rough(&mut self) -> Option<i64> {
        let rough = self.frames.iter().filter(|(_, f)| f.is_rough);
        let rough: Vec<i64> = rough.map(|(number, _)| *number).collect();
        for number in &rough {
            if let Some(old) = self.frames.remove(number) {
                self.discount(&old);
            }
        }
        rough.first().copied()
    }

    /// Forgets how all frames looked; the states stay, to show them again.
    pub fn forget_looks(&mut self) {
        self.frames.clear();
        self.topologies.clear();
        self.frame_bytes = 0;
    }

    /// Forgets everything from a frame on.
    pub fn cut(&mut self, from: i64) {
        for old in self.frames.split_off(&from).values() {
            self.discount(old);
        }
        for old in self.states.split_off(&from).values() {
            self.state_bytes -= old.len();
        }
    }

    /// What is there, as runs of frames.
    #[must_use]
    pub fn runs(&self) -> Vec<[i64; 2]> {
        let mut runs: Vec<[i64; 2]> = Vec::new();
        for &number in self.frames.keys() {
            match runs.last_mut() {
                Some(run) if run[1] + 1 == number => run[1] = number,
                _ => runs.push([number, number]),
            }
        }
        runs
    }

    /// The first frame at or after another that is not there, up to `last`.
    #[must_use]
    pub fn first_gap(&self, from: i64, last: i64) -> Option<i64> {
        (from..=last).find(|n| !self.frames.contains_key(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(bytes: usize) -> SentFrame {
        SentFrame {
            bytes: Arc::new(vec![0; bytes]),
            topologies: Vec::new(),
            measures: Vec::new(),
            is_rough: false,
        }
    }

    #[test]
    fn memory_stays_within_the_budget_and_near_the_playhead() {
        let mut reel = Reel::new(ReelLimits { frames: 1000, states: 100 });
        for n in 0..50 {
            reel.add_frame(n, frame(100), n);
            reel.add_state(n, vec![0; 10]);
            assert!(reel.bytes() <= 1100, "{n}: {}", reel.bytes());
        }
        assert_eq!(reel.runs(), vec![[40, 49]]);
        let (near, _) = reel.state_before(30).unwrap();
        assert!((0..=30).contains(&near));
        assert_eq!(reel.state_before(49).unwrap().0, 49);
    }

    /// Triangles weigh, too: once for all frames that share them, and again for every surface that has others.
    #[test]
    fn topologies_are_part_of_the_budget() {
        let with = |id: u64| {
            let bytes = Arc::new(vec![0; 300]);
            let textures = vec![(id + 1000, Arc::new(vec![0; 50]))];
            SentFrame { topologies: vec![SentTopology { id, bytes, textures }], ..frame(100) }
        };
        let mut reel = Reel::new(ReelLimits { frames: 2000, states: 100 });
        (0..10).for_each(|n| reel.add_frame(n, with(7), 9));
        assert_eq!((reel.bytes(), reel.runs()), (1350, vec![[0, 9]]));
        for n in 10..60 {
            reel.add_frame(n, with(n as u64), n);
            assert!(reel.bytes() <= 2000, "{n}: {}", reel.bytes());
        }
        assert_eq!(reel.runs(), vec![[56, 59]]);
        reel.cut(0);
        assert_eq!(reel.bytes(), 0);
        assert!(reel.topologies.is_empty());
    }

    #[test]
    fn what_was_shown_in_haste_can_be_shown_again() {
        let mut reel = Reel::new(ReelLimits::default());
        for n in 0..6 {
            let is_rough = n == 2 || n == 3;
            reel.add_frame(n, SentFrame { is_rough, ..frame(4) }, 0);
            reel.add_state(n, vec![0; 4]);
        }
        assert_eq!(reel.forget_rough(), Some(2));
        assert_eq!(reel.runs(), vec![[0, 1], [4, 5]]);
        assert!(reel.has_state(3), "the motion is kept");
        assert_eq!(reel.bytes(), 16 + 24);
        assert_eq!(reel.forget_rough(), None);
    }

    #[test]
    fn a_cut_forgets_what_comes_after() {
        let mut reel = Reel::new(ReelLimits::default());
        (0..10).for_each(|n| reel.add_frame(n, frame(4), 0));
        (0..10).for_each(|n| reel.add_state(n, vec![0; 4]));
        reel.cut(4);
        assert_eq!(reel.runs(), vec![[0, 3]]);
        assert_eq!(reel.first_gap(2, 9), Some(4));
        assert_eq!(reel.state_before(9).unwrap().0, 3);
        assert_eq!(reel.bytes(), 32);
    }
}
