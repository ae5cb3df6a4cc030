//! Where folds cross: one displacement per point from those of all folds there.

/// A member of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    fold: u32,
    member: u32,
}

/// Which members of which folds move each point.
#[derive(Clone, Debug, Default)]
pub struct PointSums {
    /// For each fold the points that it moves alone, and its members there.
    single: Vec<Vec<(u32, u32)>>,
    /// Points that several move: where their members start and end in `members`.
    several: Vec<(u32, u32, u32)>,
    members: Vec<Member>,
}

impl PointSums {
    /// Groups the members of the folds that `counts` by their points.
    #[must_use]
    pub fn new(folds: &[Vec<u32>], counts: impl Fn(usize) -> bool) -> Self {
        let mut pairs = Vec::new();
        for (fold, points) in folds.iter().enumerate().filter(|(fold, _)| counts(*fold)) {
            let member = |member: u32| Member { fold: fold as u32, member };
            pairs.extend((0u32..).zip(points).map(|(m, &point)| (point, member(m))));
        }
        pairs.sort_unstable();
        let mut sums = Self { single: vec![Vec::new(); folds.len()], ..Self::default() };
        for group in pairs.chunk_by(|a, b| a.0 == b.0) {
            if let [(point, Member { fold, member })] = *group {
                sums.single[fold as usize].push((point, member));
                continue;
            }
            let start = sums.members.len() as u32;
            sums.members.extend(group.iter().map(|&(_, member)| member));
            sums.several.push((group[0].0, start, sums.members.len() as u32));
        }
        sums
    }

    /// Means `sum(D |D|^q) / sum(|D|^q)` of the members' displacements, into `out` by point.
    /// `displacements` gives those of all members of a fold.
    pub fn compute<'a>(&self, q: f32, displacements: impl Fn(usize) -> &'a [f32], out: &mut [f32]) {
        for (fold, points) in self.single.iter().enumerate().filter(|(_, p)| !p.is_empty()) {
            let values = displacements(fold);
            for &(point, member) in points {
                out[point as usize] = values[member as usize];
            }
        }
        for &(point, start, end) in &self.several {
            let members = &self.members[start as usize..end as usize];
            let (mut sum, mut weights) = (0.0, 0.0);
            for m in members {
                let d = displacements(m.fold as usize)[m.member as usize];
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
        let sums = PointSums::new(&[vec![3, 5], vec![5, 7], vec![5]], |fold| fold < 2);
        let mut out = vec![0.0; 8];
        let drawn: [&[f32]; 3] = [&[0.1, 0.2], &[-0.4, 0.3], &[9.0]];
        sums.compute(1.0, |fold| drawn[fold], &mut out);
        assert_eq!((out[3], out[7]), (0.1, 0.3));
        assert!((out[5] - (0.04 - 0.16) / 0.6).abs() < 1e-6, "{}", out[5]);
        sums.compute(0.0, |fold| drawn[fold], &mut out);
        assert!((out[5] - -0.1).abs() < 1e-6, "the plain mean: {}", out[5]);
        sums.compute(1.0, |_| &[0.0; 2], &mut out);
        assert_eq!(out[5], 0.0, "0/0 is 0");
    }
}
