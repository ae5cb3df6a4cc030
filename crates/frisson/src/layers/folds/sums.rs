//! Where folds cross: one displacement per point from those of all folds there.

/// Which members of which folds move each point.
#[derive(Clone, Debug, Default)]
pub struct PointSums {
    /// Points with one member, and the member's place among all members.
    single: Vec<(u32, u32)>,
    /// Points with several: where their members start and end in `members`.
    several: Vec<(u32, u32, u32)>,
    members: Vec<u32>,
}

impl PointSums {
    /// Groups the members of the folds that `counts` by their points.
    #[must_use]
    pub fn new(folds: &[&[u32]], counts: impl Fn(usize) -> bool) -> Self {
        let mut pairs = Vec::new();
        let mut member = 0u32;
        for (index, points) in folds.iter().enumerate() {
            for &point in *points {
                if counts(index) {
                    pairs.push((point, member));
                }
                member += 1;
            }
        }
        pairs.sort_unstable();
        let mut sums = Self::default();
        for group in pairs.chunk_by(|a, b| a.0 == b.0) {
            if let [(point, member)] = *group {
                sums.single.push((point, member));
                continue;
            }
            let start = sums.members.len() as u32;
            sums.members.extend(group.iter().map(|&(_, member)| member));
            sums.several.push((group[0].0, start, sums.members.len() as u32));
        }
        sums
    }

    /// Means `sum(D |D|^q) / sum(|D|^q)` of the members' displacements, into `out` by point.
    pub fn compute(&self, q: f32, displacements: &[f32], out: &mut [f32]) {
        for &(point, member) in &self.single {
            out[point as usize] = displacements[member as usize];
        }
        for &(point, start, end) in &self.several {
            let members = &self.members[start as usize..end as usize];
            let (mut sum, mut weights) = (0.0, 0.0);
            for &m in members {
                let d = displacements[m as usize];
                let weight = if q == 1.0 { d.abs() } else { d.abs().powf(q) };
                sum += d * weight;
                weights += weight;
            }
            out[point as usize] = if weights > 0.0 { sum / weights } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displacements_are_meaned_by_their_own_height() {
        let sums = PointSums::new(&[&[3, 5], &[5, 7], &[5]], |fold| fold < 2);
        let mut out = vec![0.0; 8];
        sums.compute(1.0, &[0.1, 0.2, -0.4, 0.3, 9.0], &mut out);
        assert_eq!((out[3], out[7]), (0.1, 0.3));
        assert!((out[5] - (0.04 - 0.16) / 0.6).abs() < 1e-6, "{}", out[5]);
        sums.compute(0.0, &[0.1, 0.2, -0.4, 0.3, 9.0], &mut out);
        assert!((out[5] - -0.1).abs() < 1e-6, "the plain mean: {}", out[5]);
        sums.compute(1.0, &[0.0; 5], &mut out);
        assert_eq!(out[5], 0.0, "0/0 is 0");
    }
}
