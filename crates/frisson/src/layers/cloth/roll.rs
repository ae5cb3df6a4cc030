//! Rolling resistance of a ball of cloth.
//!
//! What is blown up rests on a few corners of its mesh. A round thing with corners tips from one to the
//! next, and with nothing that slows it rolls for ever; skin that is pressed flat and let go again loses
//! energy at every turn. So while it lies on something its spin `w` is slowed as by a moment
//! `c m g R`, the law of wheels; friction with the ground hands that on to its way.

use glam::{DMat3, DVec3};

use crate::tolerances::cloth as limits;

/// Slows the spin over a time; `pull` is what presses it down [m/s²].
pub fn slow(mass: &[f64], x: &[DVec3], v: &mut [DVec3], (pull, dt): (f64, f64)) {
    let total: f64 = mass.iter().sum();
    let mean = |of: &[DVec3]| of.iter().zip(mass).map(|(p, m)| *p * *m).sum::<DVec3>() / total;
    let (middle, drift) = (mean(x), mean(v));
    let mut inertia = DMat3::ZERO;
    let mut momentum = DVec3::ZERO;
    let mut squares = 0.0;
    for ((p, v), m) in x.iter().zip(v.iter()).zip(mass) {
        let r = *p - middle;
        let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
        inertia += (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer) * *m;
        momentum += r.cross(*v - drift) * *m;
        squares += m * r.length_squared();
    }
    let radius = (squares / total).sqrt();
    // Flat or without extent: nothing that rolls.
    if inertia.determinant() <= 1e-6 * (squares / 3.0).powi(3) {
        return;
    }
    let spin = inertia.inverse() * momentum;
    let rim = spin.length() * radius;
    if rim <= 0.0 || !rim.is_finite() {
        return;
    }
    let lost = (limits::ROLLING_RESISTANCE * pull * dt / rim).min(1.0);
    for (p, v) in x.iter().zip(v) {
        *v -= spin.cross(*p - middle) * lost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spin_is_slowed_and_the_way_is_not() {
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let x: Vec<DVec3> = axes.iter().flat_map(|a| [*a, -*a]).map(|a| a + DVec3::ONE).collect();
        let mass = vec![2.0; 6];
        let spin = DVec3::new(0.0, 3.0, 0.0);
        let start: Vec<DVec3> = x.iter().map(|p| DVec3::X + spin.cross(*p - DVec3::ONE)).collect();
        let mut v = start.clone();
        slow(&mass, &x, &mut v, (9.81, 0.1));
        assert!((v.iter().sum::<DVec3>() / 6.0 - DVec3::X).length() < 1e-12);
        let left = 1.0 - limits::ROLLING_RESISTANCE * 9.81 * 0.1 / 3.0;
        for (v, start) in v.iter().zip(&start) {
            assert!((*v - DVec3::X - (*start - DVec3::X) * left).length() < 1e-12);
        }
        slow(&mass, &x, &mut v, (9.81, 1e3));
        assert!(v.iter().all(|v| (*v - DVec3::X).length() < 1e-9), "it comes to rest");
    }
}
