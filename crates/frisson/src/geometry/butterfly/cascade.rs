//! The refined points level by level: each from a few points of the level before.
//!
//! A stencil over coarse points has some 20 terms at the second level and more beyond; made from the
//! level before, every point has about 8. The points around the patch that this needs are few. Rules
//! differ only by the valences at the two ends of an edge: points whose rules have the same weights are
//! made together, and only the points that each combines are kept.

use glam::Vec3A;
use rayon::prelude::*;

use crate::geometry::NONE;

/// Points that one task computes: fewer, and handing them out costs more than the work.
const POINTS_PER_TASK: usize = 4096;

/// How all points are made, in their order: coarse ones first, which are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cascade {
    coarse: usize,
    /// Groups of points, and where each level ends among them.
    groups: Vec<Group>,
    levels: Vec<usize>,
    /// Number of made points.
    made: usize,
    /// Index among all of each refined point.
    of_refined: Vec<u32>,
}

/// What the normals of points beyond the first level are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normals {
    /// As many points as the positions.
    Smooth,
    /// The two ends of the edge that a point is the middle of. The finer the edges, the less that differs
    /// from the smooth ones, and it is less than half the work.
    FromEnds,
}

/// Points of one level that are combinations with the same weights.
#[derive(Clone, Debug, Default, PartialEq)]
struct Group {
    /// Each in all components: multiplied without being spread out first.
    weights: Vec<Vec3A>,
    /// Coarse and earlier points that each combines, by their index among all, one after the other.
    points: Vec<u32>,
    /// Which two of them are the ends of the edge.
    ends: [usize; 2],
}

impl Group {
    fn len(&self) -> usize {
        self.points.len() / self.weights.len().max(1)
    }
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
        let needed = find_needed(coarse, rules, number);
        let kept = number.iter().filter(|&&n| n != NONE).count();
        let mut cascade = Self { coarse, of_refined: vec![NONE; kept], ..Self::default() };
        let mut index = vec![NONE; rules.len()];
        let weights = |made: u32| rules[made as usize].iter().map(|r| r.1);
        let mut start = 0;
        for &end in levels {
            let mut order: Vec<u32> =
                (start as u32..end as u32).filter(|&made| needed[made as usize]).collect();
            // Weights are compared bit by bit: the same valences give the same weights by the same formula.
            let alike = |&a: &u32, &b: &u32| {
                let count = rules[a as usize].len().cmp(&rules[b as usize].len());
                count.then_with(|| {
                    let pairs = weights(a).zip(weights(b)).map(|(v, w)| v.total_cmp(&w));
                    pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
                })
            };
            // Stable, so that points of a group keep the order in which they were made.
            order.sort_by(alike);
            for group in order.chunk_by(|a, b| alike(a, b).is_eq()) {
                let mut points = Vec::with_capacity(group.len() * rules[group[0] as usize].len());
                for &made in group {
                    points.extend(rules[made as usize].iter().map(|&(point, _)| {
                        match (point as usize).checked_sub(coarse) {
                            None => point,
                            Some(earlier) => index[earlier],
                        }
                    }));
                }
                // Numbered after their points were gathered: a group reads levels before it, never its own points.
                for &made in group {
                    index[made as usize] = cascade.point_count() as u32;
                    cascade.made += 1;
                    if number[made as usize] != NONE {
                        cascade.of_refined[number[made as usize] as usize] = index[made as usize];
                    }
                }
                cascade.groups.push(Group {
                    weights: weights(group[0]).map(|w| Vec3A::splat(w as f32)).collect(),
                    points,
                    ends: find_ends(&rules[group[0] as usize]),
                });
            }
            cascade.levels.push(cascade.groups.len());
            start = end;
        }
        cascade
    }

    /// Number of all points, coarse ones included.
    #[must_use]
    pub fn point_count(&self) -> usize {
        self.coarse + self.made
    }

    /// Index among all of a refined point.
    #[must_use]
    pub fn index_of(&self, refined: usize) -> usize {
        self.of_refined[refined] as usize
    }

    /// Computes positions and normals of the made points from the coarse ones before them.
    pub fn evaluate(&self, normals: Normals, values: &mut [[Vec3A; 2]]) {
        let (mut first, mut known_count) = (0, self.coarse);
        for &end in &self.levels {
            let groups = &self.groups[first..end];
            let (known, mut made) = values.split_at_mut(known_count);
            for group in groups {
                let (out, later) = made.split_at_mut(group.len());
                if first == 0 || normals == Normals::Smooth {
                    evaluate_group::<true>(group, known, out);
                } else {
                    evaluate_group::<false>(group, known, out);
                }
                (made, known_count) = (later, known_count + group.len());
            }
            first = end;
        }
    }
}

/// The points that are refined ones, or that those are made from.
fn find_needed(coarse: usize, rules: &[Vec<(u32, f64)>], number: &[u32]) -> Vec<bool> {
    let mut needed: Vec<bool> = number.iter().map(|&n| n != NONE).collect();
    // Backwards: what makes a point was made before it.
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
    needed
}

/// The ends of the edge that a rule is for: they weigh most. An end may come twice.
fn find_ends(rule: &[(u32, f64)]) -> [usize; 2] {
    let heaviest = |others: Option<u32>| {
        let terms = (0..rule.len()).filter(|&k| Some(rule[k].0) != others);
        terms.max_by(|&j, &k| rule[j].1.total_cmp(&rule[k].1)).unwrap_or(0)
    };
    let first = heaviest(None);
    [first, heaviest(rule.get(first).map(|r| r.0))]
}

/// Makes the points of a group; `SMOOTH` normals are combined as positions are.
fn evaluate_group<const SMOOTH: bool>(group: &Group, known: &[[Vec3A; 2]], out: &mut [[Vec3A; 2]]) {
    if out.len() <= POINTS_PER_TASK {
        combine_all::<SMOOTH>(group, &group.points, known, out);
        return;
    }
    let rows = group.points.par_chunks(POINTS_PER_TASK * group.weights.len());
    rows.zip(out.par_chunks_mut(POINTS_PER_TASK))
        .for_each(|(points, out)| combine_all::<SMOOTH>(group, points, known, out));
}

/// Combinations with the same weights: those that are frequent without a loop over their terms.
fn combine_all<const SMOOTH: bool>(
    group: &Group,
    points: &[u32],
    known: &[[Vec3A; 2]],
    out: &mut [[Vec3A; 2]],
) {
    if group.weights == REGULAR.map(Vec3A::splat) {
        return combine_regular::<SMOOTH>(points, known, out);
    }
    match group.weights.len() {
        // Counts that common valences give; others take the loop, with the same sums in the same order.
        3 => combine_rows::<3, SMOOTH>(group, points, known, out),
        4 => combine_rows::<4, SMOOTH>(group, points, known, out),
        6 => combine_rows::<6, SMOOTH>(group, points, known, out),
        8 => combine_rows::<8, SMOOTH>(group, points, known, out),
        9 => combine_rows::<9, SMOOTH>(group, points, known, out),
        10 => combine_rows::<10, SMOOTH>(group, points, known, out),
        12 => combine_rows::<12, SMOOTH>(group, points, known, out),
        14 => combine_rows::<14, SMOOTH>(group, points, known, out),
        18 => combine_rows::<18, SMOOTH>(group, points, known, out),
        count => {
            for (row, value) in points.chunks_exact(count).zip(out) {
                *value = combine::<SMOOTH>(&group.weights, group.ends, row, known);
            }
        }
    }
}

fn combine_rows<const N: usize, const SMOOTH: bool>(
    group: &Group,
    points: &[u32],
    known: &[[Vec3A; 2]],
    out: &mut [[Vec3A; 2]],
) {
    let Ok(weights) = <&[Vec3A; N]>::try_from(group.weights.as_slice()) else { return };
    for (row, value) in points.as_chunks::<N>().0.iter().zip(out) {
        *value = combine::<SMOOTH>(weights, group.ends, row, known);
    }
}

/// Sums of weighted pairs. Two sums, so that the processor need not wait for one addition to start the
/// next.
#[inline(always)]
fn combine<const SMOOTH: bool>(
    weights: &[Vec3A],
    ends: [usize; 2],
    points: &[u32],
    known: &[[Vec3A; 2]],
) -> [Vec3A; 2] {
    let (mut even, mut odd) = ([Vec3A::ZERO; 2], [Vec3A::ZERO; 2]);
    let add = |sum: &mut [Vec3A; 2], k: usize| {
        let [a, b] = &known[points[k] as usize];
        sum[0] += weights[k] * *a;
        if SMOOTH {
            sum[1] += weights[k] * *b;
        }
    };
    let count = weights.len();
    if count % 2 == 1 {
        add(&mut even, count - 1);
    }
    for pair in 0..count / 2 {
        add(&mut even, 2 * pair);
        add(&mut odd, 2 * pair + 1);
    }
    if SMOOTH {
        return [even[0] + odd[0], even[1] + odd[1]];
    }
    let [a, b] = ends.map(|k| known[points[k] as usize][1]);
    [even[0] + odd[0], 0.5 * (a + b)]
}

/// Weights of a regular edge, in the order in which its rule has them: its ends first.
const REGULAR: [f32; 8] = [0.5, 0.5, 0.125, -0.0625, -0.0625, 0.125, -0.0625, -0.0625];

/// Middles of regular edges.
fn combine_regular<const SMOOTH: bool>(
    points: &[u32],
    known: &[[Vec3A; 2]],
    out: &mut [[Vec3A; 2]],
) {
    for (row, value) in points.as_chunks::<8>().0.iter().zip(out) {
        let around = row.map(|point| &known[point as usize]);
        let position = combine_eight(around.map(|p| p[0]));
        let normal = if SMOOTH {
            combine_eight(around.map(|p| p[1]))
        } else {
            0.5 * (around[0][1] + around[1][1])
        };
        *value = [position, normal];
    }
}

/// The regular rule in sixteenths, which are exact.
#[inline(always)]
fn combine_eight([a, b, c, d, e, f, g, h]: [Vec3A; 8]) -> Vec3A {
    // Powers of two change no digit: bit for bit what `combine` sums with the weights (a test compares them).
    let even = a * 8.0 + c * 2.0 - e - g;
    let odd = b * 8.0 - d + f * 2.0 - h;
    // Never minus zero.
    (even + odd) * (1.0 / 16.0) + Vec3A::ZERO
}

#[cfg(test)]
mod tests {
    use super::super::Stencils;
    use super::*;
    use crate::math::random;

    #[test]
    fn groups_make_what_stencils_make() {
        let value = |i, k| random::signed(7, i, k) as f32;
        let vector = |i, k| Vec3A::new(value(i, k), value(i, k + 1), value(i, k + 2));
        let known: Vec<[Vec3A; 2]> = (0..20).map(|i| [vector(i, 0), vector(i, 3)]).collect();
        for count in [1, 2, 3, 4, 5, 8, 9, 12, 17, 18] {
            let weights: Vec<f32> = (0..count as u64).map(|k| value(99, k)).collect();
            let points: Vec<u32> = (0..count).map(|k| (7 * k + 3) % 20).collect();
            check(&weights, &points, &known);
        }
        check(&REGULAR, &[5, 2, 9, 0, 1, 3, 19, 7], &known);
    }

    fn check(weights: &[f32], points: &[u32], known: &[[Vec3A; 2]]) {
        let mut stencil = Stencils::default();
        let terms = points.iter().copied().zip(weights.iter().map(|&w| f64::from(w)));
        let rule: Vec<(u32, f64)> = terms.collect();
        stencil.push(&rule);
        let weights: Vec<Vec3A> = weights.iter().map(|&w| Vec3A::splat(w)).collect();
        let group = Group { weights, points: points.to_vec(), ends: find_ends(&rule) };
        let (mut smooth, mut halved) = ([[Vec3A::ZERO; 2]], [[Vec3A::ZERO; 2]]);
        evaluate_group::<true>(&group, known, &mut smooth);
        evaluate_group::<false>(&group, known, &mut halved);
        assert_eq!(smooth[0], stencil.evaluate_pair(0, known), "to the bit: {rule:?}");
        let ends = group.ends.map(|k| known[points[k] as usize][1]);
        assert_eq!(halved[0], [smooth[0][0], 0.5 * (ends[0] + ends[1])]);
    }

    #[test]
    fn ends_weigh_most() {
        let regular: Vec<(u32, f64)> =
            (0u32..).zip(REGULAR).map(|(p, w)| (p, f64::from(w))).collect();
        let mut ends = find_ends(&regular);
        ends.sort_unstable();
        assert_eq!(ends, [0, 1]);
        // Both ends irregular: each comes in the other's ring again.
        let twice = [(4, 0.375), (7, 0.11), (1, 0.06), (7, 0.375), (4, 0.11), (2, -0.03)];
        let mut ends = find_ends(&twice);
        ends.sort_unstable();
        assert_eq!(ends, [0, 3]);
        assert_eq!(find_ends(&[(3, 1.0)]), [0, 0]);
    }
}
