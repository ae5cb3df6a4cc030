//! Where folds cross: one displacement per point from those of all folds there.

/// A member of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    fold: u32,
    member: u32,
}

/// Which members of which folds move each point.
#[derive(Clone, Debug, Default)]
pub struct FoldMeans {
    /// For each fold the points of its members; empty where it does not count. A point that several folds
    /// move gets the last one's displacement first.
    points: Vec<Vec<u32>>,
    /// Points that several move: where their members start and end in `members`.
    several: Vec<(u32, u32, u32)>,
    members: Vec<Member>,
}

impl FoldMeans {
    /// Groups the members of the folds that `counts` by their points.
    #[must_use]
    pub fn new(folds: &[Vec<u32>], counts: impl Fn(usize) -> bool) -> Self {
        let of_fold = |(fold, points): (usize, &Vec<u32>)| {
            if counts(fold) { points.clone() } else { Vec::new() }
        };
        let mut means =
            Self { points: folds.iter().enumerate().map(of_fold).collect(), ..Self::default() };
        let mut pairs = Vec::new();
        for (fold, points) in (0u32..).zip(&means.points) {
            let member = |member: u32| Member { fold, member };
            pairs.extend((0u32..).zip(points).map(|(m, &point)| (point, member(m))));
        }
        pairs.sort_unstable();
        // Nearly all points belong to one fold: only the others pay for a mean.
        for group in pairs.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            let start = means.members.len() as u32;
            means.members.extend(group.iter().map(|&(_, member)| member));
            means.several.push((group[0].0, start, means.members.len() as u32));
        }
        means
    }

    /// Means `sum(D |D|^q) / sum(|D|^q)` of the members' displacements, into `out` by point.
    /// `displacements` gives those of all members of a fold.
    pub fn compute<'a>(&self, q: f32, displacements: impl Fn(usize) -> &'a [f32], out: &mut [f32]) {
        for (fold, points) in self.points.iter().enumerate() {
            for (&point, &displacement) in points.iter().zip(displacements(fold)) {
                out[point as usize] = displacement;
            }
        }
        for &(point, start, end) in &self.several {
            let members = &self.members[start as usize..end as usize];
            let (mut sum, mut weights) = (0.0, 0.0);
            for m in members {
                let d = displacements(m.fold as usize)[m.member as usize];
                // The default, without a power.
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
        let means = FoldMeans::new(&[vec![3, 5], vec![5, 7], vec![5]], |fold| fold < 2);
        let mut out = vec![0.0; 8];
        let drawn: [&[f32]; 3] = [&[0.1, 0.2], &[-0.4, 0.3], &[9.0]];
        means.compute(1.0, |fold| drawn[fold], &mut out);
        assert_eq!((out[3], out[7]), (0.1, 0.3));
        assert!((out[5] - (0.04 - 0.16) / 0.6).abs() < 1e-6, "{}", out[5]);
        means.compute(0.0, |fold| drawn[fold], &mut out);
        assert!((out[5] - -0.1).abs() < 1e-6, "the plain mean: {}", out[5]);
        means.compute(1.0, |_| &[0.0; 2], &mut out);
        assert_eq!(out[5], 0.0, "0/0 is 0");
    }
}
