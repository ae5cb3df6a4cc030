//! Guide curves given as the initial shape.

use glam::Vec3;

/// The guide whose root is nearest, and how far that is [m].
pub(super) fn nearest(guides: &[Vec<[f32; 3]>], root: Vec3) -> Option<(&[[f32; 3]], f32)> {
    guides
        .iter()
        .filter(|g| g.len() >= 2)
        .map(|g| (g.as_slice(), Vec3::from_array(g[0]).distance(root)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Length of a guide [m].
pub(super) fn length(guide: &[[f32; 3]]) -> f32 {
    guide.windows(2).map(|w| Vec3::from_array(w[0]).distance(Vec3::from_array(w[1]))).sum()
}

/// Direction in which a guide starts.
pub(super) fn direction(guide: &[[f32; 3]]) -> Option<Vec3> {
    (Vec3::from_array(guide[1]) - Vec3::from_array(guide[0])).try_normalize()
}

/// The next particle: the last place of the guide (moved to start at `root`) that is one segment away
/// from the particle before. Chords, not arcs: the chain cannot stretch.
pub(super) fn next(guide: &[[f32; 3]], root: Vec3, from: Vec3, segment: f32) -> Option<Vec3> {
    let shift = root - Vec3::from_array(guide[0]);
    let at = |k: usize| Vec3::from_array(guide[k]) + shift;
    for k in (0..guide.len() - 1).rev() {
        let (a, b) = (at(k), at(k + 1));
        // |a + t (b - a) - from| = segment, the larger root.
        let (d, m) = (b - a, a - from);
        let (qa, qb) = (d.length_squared(), d.dot(m));
        let qc = m.length_squared() - segment * segment;
        let discriminant = qb * qb - qa * qc;
        if qa > 0.0 && discriminant >= 0.0 {
            let t = (-qb + discriminant.sqrt()) / qa;
            if (0.0..=1.0).contains(&t) {
                return Some(a + t * d);
            }
        }
    }
    None
}
