//! Shapes of all wisps during a pass, and which of their sections may meet.
//!
//! Boxes of wisps, of their halves and of their sections tell which sections may overlap; `overlap` tells
//! whether they do.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::interact::InteractionInput;
use super::lanes::Lanes;
use super::sections::{GROUPS, MAX_SAMPLES, NodeShape, SectionShape};
use super::state::Wisp;

/// A box, as two vectors of four so that it is compared in two instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Box4 {
    pub low: Vec4,
    pub high: Vec4,
}

impl Default for Box4 {
    fn default() -> Self {
        Self { low: Vec4::splat(f32::MAX), high: Vec4::splat(f32::MIN) }
    }
}

impl Box4 {
    fn around(p: Vec3, q: Vec3, radius: f32) -> Self {
        let r = Vec3::splat(radius);
        Self { low: (p.min(q) - r).extend(0.0), high: (p.max(q) + r).extend(0.0) }
    }

    fn join(&self, other: &Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn meets(&self, other: &Self) -> bool {
        (self.low.cmple(other.high) & other.low.cmple(self.high)).all()
    }
}

/// Shapes of everything, fixed during a pass.
#[derive(Default)]
pub(super) struct Shapes {
    /// Envelope samples around a particle.
    pub samples: usize,
    /// Particles of a wisp.
    pub count: usize,
    /// Cosines and sines of the samples' angles, in groups of four; 0 where there is no sample.
    pub cosines: [Vec4; GROUPS],
    pub sines: [Vec4; GROUPS],
    pub nodes: Vec<NodeShape>,
    /// Samples of every node, four at a time.
    pub points: Vec<Lanes>,
    pub sections: Vec<SectionShape>,
    /// The two particles of every section.
    pub centers: Vec<Lanes>,
    boxes: Vec<Box4>,
    halves: Vec<[Box4; 2]>,
    pub wholes: Vec<Box4>,
    kin: Vec<Kin>,
}

/// What tells whether two wisps are fresh halves of one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Kin {
    root: u32,
    split: Option<u32>,
    apart: bool,
}

impl Shapes {
    /// Sections of a wisp; the first one starts at particle 1.
    fn per_wisp(&self) -> usize {
        self.count - 2
    }

    /// First node of a section.
    pub fn first_node(&self, section: usize) -> usize {
        section / self.per_wisp() * self.count + 1 + section % self.per_wisp()
    }

    /// Groups of four samples at a node.
    pub fn groups(&self) -> usize {
        self.samples.div_ceil(4)
    }

    /// Copies what the pass needs from the wisps.
    pub fn gather(&mut self, input: &InteractionInput, wisps: &[Wisp]) {
        self.count = input.rest.count;
        self.samples = input.rest.directions.len();
        let directions = &input.rest.directions;
        for g in 0..GROUPS {
            let of = |k: usize| directions.get(4 * g + k).copied().unwrap_or((0.0, 0.0));
            self.cosines[g] = Vec4::from_array(std::array::from_fn(|k| of(k).0));
            self.sines[g] = Vec4::from_array(std::array::from_fn(|k| of(k).1));
        }
        let (n, per_wisp, groups) = (self.count, self.per_wisp(), self.groups());
        self.nodes.resize(wisps.len() * n, NodeShape::default());
        self.points.resize(wisps.len() * n * groups, Lanes::default());
        self.sections.resize(wisps.len() * per_wisp, SectionShape::default());
        self.centers.resize(wisps.len() * per_wisp, Lanes::default());
        self.boxes.resize(wisps.len() * per_wisp, Box4::default());
        self.halves.resize(wisps.len(), [Box4::default(); 2]);
        self.wholes.resize(wisps.len(), Box4::default());
        let work = (wisps.par_iter())
            .zip(self.nodes.par_chunks_mut(n))
            .zip(self.points.par_chunks_mut(n * groups))
            .zip(self.sections.par_chunks_mut(per_wisp))
            .zip(self.centers.par_chunks_mut(per_wisp))
            .zip(self.boxes.par_chunks_mut(per_wisp))
            .zip(self.halves.par_iter_mut())
            .with_min_len(16);
        work.for_each(|((((((wisp, nodes), points), sections), centers), boxes), halves)| {
            gather_nodes(input, directions, wisp, nodes, points);
            *halves = [Box4::default(); 2];
            for k in 0..per_wisp {
                let ends = [&nodes[k + 1], &nodes[k + 2]];
                let (p, q) = (ends[0].center, ends[1].center);
                sections[k] = SectionShape::new(ends);
                centers[k] = Lanes::new([p, q].into_iter());
                boxes[k] = Box4::around(p, q, sections[k].widest);
                let half = &mut halves[usize::from(k >= per_wisp / 2)];
                *half = half.join(&boxes[k]);
            }
        });
        for (whole, [a, b]) in self.wholes.iter_mut().zip(&self.halves) {
            *whole = a.join(b);
        }
        self.kin.clear();
        self.kin.extend(wisps.iter().map(|w| Kin {
            root: w.root,
            split: w.splits.last().copied(),
            apart: w.apart,
        }));
    }

    /// Whether two wisps may act on each other at all.
    fn may_meet(&self, a: usize, b: usize) -> bool {
        if !self.wholes[a].meets(&self.wholes[b]) {
            return false;
        }
        let (x, y) = (self.kin[a], self.kin[b]);
        // Fresh halves lie in each other: they do not rub before they have been apart.
        !(x.root == y.root && x.split == y.split && !(x.apart && y.apart))
    }

    /// Sections of two wisps whose boxes meet, the lower wisp's first.
    pub fn between(&self, a: usize, b: usize, each: &mut impl FnMut(usize, usize)) {
        if !self.may_meet(a, b) {
            return;
        }
        let (a, b) = (a.min(b), a.max(b));
        let (n, half) = (self.per_wisp(), self.per_wisp() / 2);
        let range = |k: usize| if k == 0 { 0..half } else { half..n };
        for ha in 0..2 {
            for hb in 0..2 {
                if !self.halves[a][ha].meets(&self.halves[b][hb]) {
                    continue;
                }
                // Halves first: of two wisps that cross at the tips half of the sections are never looked at.
                for x in range(ha).map(|k| a * n + k) {
                    if !self.boxes[x].meets(&self.halves[b][hb]) {
                        continue;
                    }
                    for y in range(hb).map(|k| b * n + k) {
                        if self.boxes[x].meets(&self.boxes[y]) {
                            each(x, y);
                        }
                    }
                }
            }
        }
    }

    /// Sections of one wisp, not adjacent, whose boxes meet.
    pub fn within(&self, wisp: usize, each: &mut impl FnMut(usize, usize)) {
        let n = self.per_wisp();
        for x in wisp * n..(wisp + 1) * n {
            for y in x + 2..(wisp + 1) * n {
                if self.boxes[x].meets(&self.boxes[y]) {
                    each(x, y);
                }
            }
        }
    }

    /// All pairs of sections that overlap, each once.
    #[cfg(test)]
    pub fn overlapping(&self, with_itself: bool) -> Vec<[u32; 2]> {
        let mut out = Vec::new();
        let mut each = |x: usize, y: usize| {
            let near = super::overlap::Near::find(self, x, y);
            if near.is_some_and(|near| super::overlap::between(self, &near).is_some()) {
                out.push([self.first_node(x) as u32, self.first_node(y) as u32]);
            }
        };
        for a in 0..self.wholes.len() {
            if with_itself {
                self.within(a, &mut each);
            }
            for b in a + 1..self.wholes.len() {
                self.between(a, b, &mut each);
            }
        }
        out
    }
}

fn gather_nodes(
    input: &InteractionInput,
    directions: &[(f32, f32)],
    wisp: &Wisp,
    nodes: &mut [NodeShape],
    points: &mut [Lanes],
) {
    let s = directions.len();
    let root = &input.rest.roots[wisp.root as usize];
    let wetness = input.wetness[wisp.root as usize];
    for (i, node) in nodes.iter_mut().enumerate() {
        let own = &wisp.radii[i * s..(i + 1) * s];
        let mut radii = [0.0; MAX_SAMPLES];
        radii[..s].copy_from_slice(own);
        let mean = own.iter().sum::<f32>() / s as f32;
        // Pressed together hair is denser, as the square of how much narrower it is; at most a hundred times.
        let ratio = root.radii[i] / mean.max(0.1 * root.radii[i]);
        let mass = root.masses[i] as f32 * wisp.share * (1.0 + wetness);
        *node = NodeShape {
            center: wisp.positions[i],
            normal: wisp.normals[i],
            across: wisp.across[i],
            second: wisp.second_axis(i),
            radii,
            widest: own.iter().copied().fold(0.0, f32::max),
            // No impulse moves what the scalp carries.
            inverse_mass: if i < input.carried { 0.0 } else { 1.0 / mass },
            density: wisp.share * ratio * ratio,
            wetness,
            grip: if input.remembers { 1.0 - wisp.recovery() } else { 1.0 },
        };
        let groups = s.div_ceil(4);
        for (g, lanes) in points[i * groups..(i + 1) * groups].iter_mut().enumerate() {
            let here = (4 * g..s.min(4 * g + 4)).map(|k| {
                let (cosine, sine) = directions[k];
                node.center + own[k] * (cosine * node.across + sine * node.second)
            });
            *lanes = Lanes::new(here);
        }
    }
}
