//! The refined points level by level: each from a few points of the level before.
//!
//! A stencil over coarse points has some 20 terms at the second level and more beyond; made from the
//! level before, every point has about 8. The points around the patch that this needs are few.

use glam::Vec3A;
use rayon::prelude::*;

use super::refine::Stencils;
use crate::geometry::NONE;

/// Points that one task computes: fewer, and handing them out costs more than the work.
const POINTS_PER_TASK: usize = 4096;

/// How all points are made, in their order: coarse ones first, which are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cascade {
    coarse: usize,
    /// Combinations of coarse and earlier points, by their index among all.
    rules: Stencils,
    /// Points made after each level.
    levels: Vec<usize>,
    /// Index among all of each refined point.
    of_refined: Vec<u32>,
}

impl Cascade {
    /// From rules over coarse and earlier made points; `number` has the refined point that each made
    /// point is, or [`NONE`]. What no refined point needs is dropped.
    pub(super) fn new(
        coarse: usize,
        rules: &[Vec<(u32, f64)>],
        levels: &[usize],
        number: &[u32],
    ) -> Self {
        let mut needed: Vec<bool> = number.iter().map(|&n| n != NONE).collect();
        for made in (0..rules.len()).rev() {
            if !needed[made] {
                continue;
            }
            for &(point, _) in &rules[made] {
                if let Some(earlier) = (point as usize).checked_sub(coarse) {
                    needed[earlier] = true;
                }
            }
        }
        let kept = number.iter().filter(|&&n| n != NONE).count();
        let mut cascade = Self { coarse, of_refined: vec![NONE; kept], ..Self::default() };
        let mut index = vec![NONE; rules.len()];
        let mut rule = Vec::new();
        for (level, &end) in levels.iter().enumerate() {
            let start = if level == 0 { 0 } else { levels[level - 1] };
            for made in (start..end).filter(|&m| needed[m]) {
                rule.clear();
                rule.extend(rules[made].iter().map(|&(point, weight)| {
                    match (point as usize).checked_sub(coarse) {
                        None => (point, weight),
                        Some(earlier) => (index[earlier], weight),
                    }
                }));
                index[made] = (coarse + cascade.rules.len()) as u32;
                cascade.rules.push(&rule);
                if number[made] != NONE {
                    cascade.of_refined[number[made] as usize] = index[made];
                }
            }
            cascade.levels.push(cascade.rules.len());
        }
        cascade
    }

    /// Number of all points, coarse ones included.
    #[must_use]
    pub fn point_count(&self) -> usize {
        self.coarse + self.rules.len()
    }

    /// Index among all of a refined point.
    #[must_use]
    pub fn index_of(&self, refined: usize) -> usize {
        self.of_refined[refined] as usize
    }

    /// Computes the made points from the coarse ones before them.
    pub fn evaluate(&self, values: &mut [[Vec3A; 2]]) {
        let mut start = 0;
        for &end in &self.levels {
            let (known, made) = values.split_at_mut(self.coarse + start);
            let make = |(i, value): (usize, &mut [Vec3A; 2])| {
                *value = self.rules.evaluate_pair(start + i, known);
            };
            let made = &mut made[..end - start];
            if made.len() <= POINTS_PER_TASK {
                made.iter_mut().enumerate().for_each(make);
            } else {
                made.par_iter_mut().enumerate().with_min_len(POINTS_PER_TASK).for_each(make);
            }
            start = end;
        }
    }
}
