//! Cross-sections of a fold: groups of members along the curve, and the factor that keeps a
//! section's length.

use glam::Vec3;

use super::params::Fold;
use crate::math::roots;

/// Pieces in which half a cross-section is drawn when its length is taken.
const PIECES: usize = 48;

/// The sections of one fold.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    /// Place of each member along the curve, in sections.
    place_of_member: Vec<f32>,
    count: usize,
    /// Base length of a piece [m], and the rise of each.
    piece: f64,
    rises: Vec<f64>,
}

impl Sections {
    /// Cuts the curve into sections about half a width long.
    #[must_use]
    pub fn new(fold: &Fold, curve: &[Vec3], label_of_member: &[u32]) -> Self {
        let length: f32 = curve.windows(2).map(|w| w[0].distance(w[1])).sum();
        // Half a width: shorter ones have too few members for a mean, longer ones iron out what changes along the fold.
        let count = (2.0 * length / fold.width).ceil().clamp(1.0, 512.0) as usize;
        let last = (curve.len() - 1).max(1) as f32;
        let place = |&label: &u32| label as f32 / last * count as f32;
        let profile =
            |i: usize| f64::from(fold.amplitude * fold.attenuation.at(i as f32 / PIECES as f32));
        Self {
            place_of_member: label_of_member.iter().map(place).collect(),
            count,
            piece: f64::from(fold.width) / PIECES as f64,
            rises: (0..PIECES).map(|i| profile(i + 1) - profile(i)).collect(),
        }
    }

    /// Factor of every member that keeps the length of its section, from the members' stretches.
    /// Between sections factors are blended, so that no step shows along the curve.
    pub fn compute_factors(
        &self,
        stretches: &[f32],
        weights: &[f32],
        scratch: &mut Vec<(f64, f64)>,
        out: &mut [f32],
    ) {
        scratch.clear();
        scratch.resize(self.count, (0.0, 0.0));
        for (m, (&r, &w)) in stretches.iter().zip(weights).enumerate() {
            let section = self.section_of(m) as usize;
            scratch[section].0 += f64::from(w * r);
            scratch[section].1 += f64::from(w);
        }
        let overall = scratch.iter().fold((0.0, 0.0), |s, e| (s.0 + e.0, s.1 + e.1));
        for entry in scratch.iter_mut() {
            // Coarse meshes leave sections without members.
            let (sum, weight) = if entry.1 > 0.0 { *entry } else { overall };
            let stretch = if weight > 0.0 { sum / weight } else { 1.0 };
            entry.0 = self.factor(stretch);
        }
        for (m, factor) in out.iter_mut().enumerate() {
            let (low, t) = self.between(m);
            let next = (low as usize + 1).min(self.count - 1);
            let (a, b) = (scratch[low as usize].0, scratch[next].0);
            *factor = (a + (b - a) * f64::from(t)) as f32;
        }
    }

    /// Mean of the members' values in every section, and how many there are; sections without any
    /// take the mean of all.
    #[must_use]
    pub fn average(&self, values: &[f64]) -> (Vec<f64>, Vec<usize>) {
        let (mut means, mut counts) = (vec![0.0; self.count], vec![0usize; self.count]);
        for (m, value) in values.iter().enumerate() {
            means[self.section_of(m) as usize] += value;
            counts[self.section_of(m) as usize] += 1;
        }
        let overall = values.iter().sum::<f64>() / values.len().max(1) as f64;
        for (mean, &count) in means.iter_mut().zip(&counts) {
            *mean = if count > 0 { *mean / count as f64 } else { overall };
        }
        (means, counts)
    }

    /// Section that a member belongs to.
    #[must_use]
    pub fn section_of(&self, member: usize) -> u32 {
        (self.place_of_member[member] as u32).min(self.count as u32 - 1)
    }

    /// The sections on both sides of a member, whose values are known at their middles: the first,
    /// and how much of the next it takes.
    #[must_use]
    pub fn between(&self, member: usize) -> (u32, f32) {
        // Half a section back, as a section's value is that of its middle.
        let at = self.place_of_member[member] - 0.5;
        let low = at.floor().clamp(0.0, (self.count - 1) as f32);
        (low as u32, (at - low).clamp(0.0, 1.0))
    }

    /// The `f` for which `sum sqrt((b r)^2 + f^2 dd^2) = sum sqrt(b^2 + dd^2)`; 0 if there is none.
    #[must_use]
    pub fn factor(&self, stretch: f64) -> f64 {
        // Not left to the root: what is not stretched shows exactly what was drawn.
        if stretch == 1.0 {
            return 1.0;
        }
        let base = self.piece * stretch;
        let drawn: f64 = self.rises.iter().map(|d| self.piece.hypot(*d)).sum();
        // Stretched farther than the fold is long, nothing is left of it.
        if base * PIECES as f64 >= drawn {
            return 0.0;
        }
        let excess = |f: f64| self.rises.iter().map(|d| base.hypot(f * d)).sum::<f64>() - drawn;
        let mut high = 1.0;
        // A bound to search within: compressed to half, a flat fold rises to many times its height.
        while excess(high) < 0.0 && high < 1e6 {
            high *= 2.0;
        }
        roots::find_root(0.0, high, 1e-7, excess)
    }

    /// Length of half a cross-section at a stretch and factor [m].
    #[cfg(test)]
    fn length(&self, stretch: f64, factor: f64) -> f64 {
        self.rises.iter().map(|d| (self.piece * stretch).hypot(factor * d)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_keeps_the_length() {
        let fold = Fold::new("f", vec![], 0.05, 0.1);
        let sections = Sections::new(&fold, &[Vec3::ZERO, Vec3::X], &[0, 1]);
        let drawn = sections.length(1.0, 1.0);
        for stretch in [0.7, 0.9, 0.97, 1.0, 1.02, 1.05] {
            let f = sections.factor(stretch);
            assert!((sections.length(stretch, f) / drawn - 1.0).abs() < 1e-4, "{stretch}: {f}");
        }
        assert_eq!(sections.factor(3.0), 0.0);
        assert!(sections.factor(0.9) > 1.0 && sections.factor(1.05) < 1.0);
    }
}
