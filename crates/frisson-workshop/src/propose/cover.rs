//! What is over and around a head: hats and hoods that leave no room for hair, shoulders that it falls on.

use frisson::geometry::{Bounds, Mesh, TriangleBvh};
use glam::Vec3;

/// Share of a scalp that something must lie over to be a hat [-].
const COVERED: f32 = 0.2;
/// Most meshes beside the head that hair is kept out of: each costs time in every step.
const MOST_AROUND: usize = 4;

/// The height of the brim of a hat: nothing lies over what is lower, and nothing of the hat below it [m]. `None` where
/// the crown is bare.
///
/// `scalp` are places of the head's skin, `middle` is the head's own, `size` its greatest extent [m].
pub fn brim(meshes: &[Mesh], head: usize, scalp: &[Vec3], middle: Vec3, size: f32) -> Option<f32> {
    let others = meshes.iter().enumerate().filter(|(index, _)| *index != head);
    let covers: Vec<TriangleBvh> =
        others.map(|(_, m)| TriangleBvh::build(&m.positions, &m.topology.triangles)).collect();
    let is_over = |cover: &TriangleBvh, p: Vec3| {
        let outward = (p - middle).normalize_or(Vec3::Y);
        cover.raycast(p, outward, size).is_some()
    };
    let is_hat = |cover: &&TriangleBvh| {
        let over = scalp.iter().filter(|p| is_over(cover, **p)).count();
        over as f32 > COVERED * scalp.len() as f32
    };
    let hats: Vec<&TriangleBvh> = covers.iter().filter(is_hat).collect();
    // Where a brim slopes down behind a head, hair that begins above it would have to hang through it.
    let hangs_through = |p: Vec3| hats.iter().any(|h| h.raycast(p, -Vec3::Y, size).is_some());
    let is_covered = |p: &&Vec3| covers.iter().any(|c| is_over(c, **p)) || hangs_through(**p);
    // The lowest covered place, not the mean: one tuft through a brim is seen at once.
    let covered = scalp.iter().filter(is_covered).map(|p| p.y);
    (!hats.is_empty()).then(|| covered.fold(f32::INFINITY, f32::min))
}

/// Names of the meshes that hair of some reach around a head may come to lie on, those with most of themselves
/// near it first. `is_worn` leaves out what is held in a hand.
pub fn around(
    meshes: &[Mesh],
    is_worn: impl Fn(usize) -> bool,
    bounds: &Bounds,
    reach: f32,
) -> Vec<String> {
    let near = |m: &Mesh| {
        let (low, high) = (bounds.min - reach, bounds.max + reach);
        m.positions.iter().filter(|p| p.cmpge(low).all() && p.cmple(high).all()).count()
    };
    let others = meshes.iter().enumerate().filter(|(index, _)| is_worn(*index));
    let mut found: Vec<(usize, &str)> = others.map(|(_, m)| (near(m), m.name.as_str())).collect();
    found.retain(|(count, _)| *count > 0);
    // By name where counts are alike: the same file gives the same scene.
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    found.into_iter().take(MOST_AROUND).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part of a ball.
    fn ball(radius: f32, keep: impl Fn(Vec3) -> bool) -> Mesh {
        let built = frisson_models::build(&format!("sphere?radius={radius}")).unwrap();
        let positions = built.meshes[0].mesh.positions.clone();
        let all = built.meshes[0].mesh.topology.triangles.iter();
        let kept = all.filter(|t| t.iter().all(|v| keep(positions[*v as usize]))).copied();
        Mesh::new("ball", positions.clone(), kept.collect())
    }

    #[test]
    fn a_hat_covers_what_is_above_its_brim() {
        let head = ball(0.1, |_| true);
        let hat = ball(0.12, |p| p.y > 0.04);
        let scalp = head.positions.clone();
        let bare = brim(std::slice::from_ref(&head), 0, &scalp, Vec3::ZERO, 0.2);
        assert_eq!(bare, None);
        let low = brim(&[head, hat], 0, &scalp, Vec3::ZERO, 0.2).unwrap();
        assert!((0.02..0.06).contains(&low), "{low}");
    }

    #[test]
    fn hair_does_not_begin_above_a_brim_that_slopes_down() {
        let (head, hat) = (ball(0.1, |_| true), ball(0.12, |p| p.y > 0.04));
        let mut scalp = head.positions.clone();
        // A knot behind the head, and a brim below it, in line with the middle: seen from there it covers nothing.
        scalp.push(Vec3::new(0.0, -0.02, -0.2));
        let (mut positions, mut triangles) =
            (hat.positions.clone(), hat.topology.triangles.clone());
        let first = positions.len() as u32;
        let corner = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
        positions.extend([corner(-0.2, -0.045, -0.15), corner(0.2, -0.045, -0.15)]);
        positions.extend([corner(0.2, -0.12, -0.4), corner(-0.2, -0.12, -0.4)]);
        triangles.extend([[0, 1, 2], [0, 2, 3]].map(|t| t.map(|v| v + first)));
        let hat = Mesh::new("hat", positions, triangles);
        let low = brim(&[head, hat], 0, &scalp, Vec3::ZERO, 0.2).unwrap();
        assert!((low + 0.02).abs() < 1e-6, "{low}");
    }
}
