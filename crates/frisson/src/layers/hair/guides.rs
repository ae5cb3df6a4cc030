//! Guide curves given as the initial shape: hair between them takes the mean of those around it.

use glam::Vec3;

/// Guides that shape the hair between them.
const AROUND: usize = 3;

/// A guide that starts so near gives its own shape alone [m].
const SAME: f32 = 1.0e-4;

/// Guides farther away than this many times the nearest say nothing [-].
const FARTHEST: f32 = 3.0;

/// Guides that lead farther away from the nearest one's direction than this cosine are on the other side of
/// a parting: hair between them goes with one of them [-].
const PARTED: f32 = 0.3;

/// Points of a shape between guides.
const POINTS: usize = 33;

/// The shape of hair that starts at `root`: that of a guide there, or the mean of those around.
pub(super) fn shape_at(guides: &[Vec<[f32; 3]>], root: Vec3) -> Option<Vec<Vec3>> {
    let around = weights_at(guides, root);
    let (first, _) = *around.first()?;
    if around.len() == 1 {
        let start = Vec3::from_array(guides[first][0]);
        return Some(guides[first].iter().map(|p| root + Vec3::from_array(*p) - start).collect());
    }
    let samples: Vec<(Vec<Vec3>, f32)> =
        around.iter().map(|&(guide, weight)| (resampled(&guides[guide]), weight)).collect();
    let mean = |k: usize| samples.iter().map(|(points, w)| points[k] * *w).sum::<Vec3>();
    let shape: Vec<Vec3> = (0..POINTS).map(mean).collect();
    // A mean of directions is shorter than what it is the mean of.
    let wanted: f32 = samples.iter().map(|(points, w)| length(points) * w).sum();
    let longer = wanted / length(&shape).max(1.0e-9);
    Some(shape.into_iter().map(|p| root + longer * p).collect())
}

/// The guides that shape the hair at a root, the nearest first, with weights that sum to one.
fn weights_at(guides: &[Vec<[f32; 3]>], root: Vec3) -> Vec<(usize, f32)> {
    let usable = guides.iter().enumerate().filter(|(_, g)| g.len() >= 2);
    let mut near: Vec<(usize, f32)> =
        usable.map(|(k, g)| (k, Vec3::from_array(g[0]).distance(root))).collect();
    near.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let Some(&(nearest, least)) = near.first() else { return near };
    if least < SAME {
        return vec![(nearest, 1.0)];
    }
    let towards = |k: usize| {
        let (first, last) = (guides[k][0], guides[k][guides[k].len() - 1]);
        (Vec3::from_array(last) - Vec3::from_array(first)).normalize_or_zero()
    };
    let along = |k: usize| k == nearest || towards(k).dot(towards(nearest)) > PARTED;
    // Close to one guide the others say nothing; halfway between them they count alike.
    near.retain(|&(k, d)| d <= FARTHEST * least && along(k));
    near.truncate(AROUND);
    let total: f32 = near.iter().map(|(_, d)| 1.0 / (d * d)).sum();
    near.into_iter().map(|(k, d)| (k, 1.0 / (d * d) / total)).collect()
}

/// A guide as evenly spaced points, from its start.
fn resampled(guide: &[[f32; 3]]) -> Vec<Vec3> {
    let points: Vec<Vec3> = guide.iter().map(|p| Vec3::from_array(*p)).collect();
    let whole = length(&points);
    let (mut segment, mut passed) = (0, 0.0);
    let place = |k: usize| {
        let at = whole * k as f32 / (POINTS - 1) as f32;
        loop {
            let (a, b) = (points[segment], points[segment + 1]);
            let long = a.distance(b);
            if passed + long >= at || segment + 2 == points.len() {
                let t = if long > 0.0 { ((at - passed) / long).clamp(0.0, 1.0) } else { 0.0 };
                return a.lerp(b, t) - points[0];
            }
            passed += long;
            segment += 1;
        }
    };
    (0..POINTS).map(place).collect()
}

/// Length of a curve [m].
pub(super) fn length(curve: &[Vec3]) -> f32 {
    curve.windows(2).map(|w| w[0].distance(w[1])).sum()
}

/// Direction in which a curve starts.
pub(super) fn direction(curve: &[Vec3]) -> Option<Vec3> {
    (curve[1] - curve[0]).try_normalize()
}

/// The next particle: the last place of the curve that is one segment away from the particle before.
/// Chords, not arcs: the chain cannot stretch.
pub(super) fn next(curve: &[Vec3], from: Vec3, segment: f32) -> Option<Vec3> {
    // From the tip: on a curve that doubles back the last place is the one that gets on.
    for k in (0..curve.len() - 1).rev() {
        let (a, b) = (curve[k], curve[k + 1]);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn guide(x: f32, lean: f32, long: f32) -> Vec<[f32; 3]> {
        (0..5).map(|k| [x + lean * 0.25 * k as f32, -0.25 * long * k as f32, 0.0]).collect()
    }

    #[test]
    fn hair_at_a_guide_has_its_shape_and_between_guides_their_mean() {
        let guides = [guide(0.0, 0.0, 0.2), guide(0.1, 0.0, 0.4)];
        let at = shape_at(&guides, Vec3::ZERO).unwrap();
        assert_eq!(at.len(), 5);
        assert!((length(&at) - 0.2).abs() < 1e-6);
        let middle = shape_at(&guides, Vec3::new(0.05, 0.0, 0.0)).unwrap();
        assert!((length(&middle) - 0.3).abs() < 1e-5, "{}", length(&middle));
        assert_eq!(middle[0], Vec3::new(0.05, 0.0, 0.0));
        // Nearer to the short one: shorter, and without a jump on the way.
        let mut before = length(&shape_at(&guides, Vec3::new(0.03, 0.0, 0.0)).unwrap());
        for k in 31..70 {
            let now = length(&shape_at(&guides, Vec3::new(0.001 * k as f32, 0.0, 0.0)).unwrap());
            assert!(now >= before && now - before < 0.01, "{before} {now}");
            before = now;
        }
    }

    #[test]
    fn hair_at_a_parting_goes_with_one_side() {
        let guides = [guide(-0.01, -0.3, 0.05), guide(0.01, 0.3, 0.05)];
        for x in [-0.004f32, 0.004] {
            let shape = shape_at(&guides, Vec3::new(x, 0.0, 0.0)).unwrap();
            let way = shape[shape.len() - 1] - shape[0];
            assert!(way.x * x > 0.0 && way.x.abs() > 0.29, "{x}: {way}");
        }
    }
}
