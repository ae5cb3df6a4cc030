//! Triangles that change under the drops.

use glam::{DVec2, DVec3, Vec3};

use super::super::merge::position_on;
use super::super::relief::{Arrival, Relief, carry_over};
use super::super::state::{DropsState, SourceState, Sum, Wet};
use super::super::surface::Surface;
use super::{Droplet, Phase, height_field};
use crate::geometry::Mesh;
use crate::math::random;

fn slope(nx: u32, nz: u32, height: f64) -> Mesh {
    let (positions, triangles) =
        height_field(nx, nz, DVec2::ZERO, DVec2::ONE, |x, _| height - 0.5 * x);
    Mesh::new("ground", positions, triangles)
}

/// Drops everywhere on a surface, running, with films and stains here and there.
fn wet_state(surface: &Surface) -> DropsState {
    let triangles = surface.triangles.len();
    let mut state = DropsState {
        wet: Wet::dry(triangles),
        points: surface.points.clone(),
        sources: vec![SourceState {
            place: Some((3, DVec2::splat(0.3))),
            ..SourceState::default()
        }],
        ..DropsState::default()
    };
    for i in 0..300 {
        let u = |c: u64| random::uniform(7, i, c);
        let triangle = ((u(0) * triangles as f64) as u32).min(triangles as u32 - 1);
        let weights = DVec2::new(u(1), u(2) * (1.0 - u(1)));
        let phase =
            Phase::Face { triangle, weights, velocity: DVec2::new(u(3), u(4)), standing: 0 };
        let mut drop = Droplet::new(i, 1e-6 * (1.0 + u(5)), phase, 0.0);
        drop.side = if i % 3 == 0 { -1 } else { 1 };
        state.add(drop);
        state.ledger.emitted.add(drop.mass);
    }
    for t in (0..triangles).step_by(3) {
        state.wet.film[t] = 1e-7 * (1.0 + random::uniform(8, t as u64, 0));
        state.wet.film_solute[t] = 0.3 * state.wet.film[t];
        state.wet.stain[t] = 1e-8;
        state.wet.wetness[t] = [0.5, 0.2];
        state.wet.activate(t as u32);
        state.ledger.emitted.add(state.wet.film[t] + state.wet.stain[t]);
    }
    state
}

fn places(state: &DropsState, surface: &Surface) -> Vec<(DVec3, DVec3)> {
    let of = |d: &Droplet| {
        let (place, t) = position_on(d, surface).expect("on the surface");
        let Phase::Face { velocity, .. } = d.phase else { panic!("{d:?}") };
        let facet = &surface.facets[t as usize];
        (place + facet.normal * f64::from(d.side) * 0.001, facet.lift(velocity))
    };
    state.drops.iter().map(of).collect()
}

#[test]
fn drops_stay_where_they_are_and_every_kilogram_arrives() {
    for (from, to) in
        [((8, 8), (13, 11)), ((13, 11), (8, 8)), ((9, 9), (40, 40)), ((40, 40), (3, 2))]
    {
        let (coarse, fine) = (slope(from.0, from.1, 0.0), slope(to.0, to.1, 0.0));
        let relief = Relief::home(&[coarse], &[0]);
        let surface = relief.connect();
        let mut state = wet_state(&surface);
        let before = places(&state, &surface);
        let solute = Sum::of(state.wet.film_solute.iter().copied());
        let old = (&relief, &surface);
        let mut arrival = Arrival::new((&[fine], &[0]), old, (1.0, 0.01)).expect("a surface");
        carry_over(&mut state, old, &mut arrival);
        let after = places(&state, &arrival.surface);
        for ((a, va), (b, vb)) in before.iter().zip(&after) {
            assert!(a.distance(*b) < 1e-6, "{from:?} to {to:?}: {a} {b}");
            assert!(va.distance(*vb) < 1e-5, "{from:?} to {to:?}: {va} {vb}");
        }
        assert!(state.imbalance().abs() < 1e-13, "{from:?} to {to:?}: {:e}", state.imbalance());
        let kept = Sum::of(state.wet.film_solute.iter().copied());
        assert!((kept / solute - 1.0).abs() < 1e-12);
        let listed = state.wet.is_active.iter().filter(|a| **a).count();
        assert!(listed == state.wet.active.len() && listed > 0);
        let (triangle, weights) = state.sources[0].place.expect("a place");
        let wanted = surface.point(3, DVec2::splat(0.3));
        assert!(arrival.surface.point(triangle, weights).distance(wanted) < 1e-6);
    }
}

#[test]
fn new_triangles_that_move_take_drops_along() {
    // The mesh says how fast it moves: a drop is where its place was carried to.
    let (old_mesh, mut new_mesh) = (slope(8, 8, 0.0), slope(11, 9, 0.0));
    let way = Vec3::new(0.01, 0.02, -0.03);
    new_mesh.positions.iter_mut().for_each(|p| *p += way);
    new_mesh.velocities = vec![way * 100.0; new_mesh.positions.len()];
    let relief = Relief::home(&[old_mesh], &[0]);
    let surface = relief.connect();
    let mut state = wet_state(&surface);
    let before = places(&state, &surface);
    let old = (&relief, &surface);
    let mut arrival = Arrival::new((&[new_mesh], &[0]), old, (1.0, 0.01)).expect("a surface");
    carry_over(&mut state, old, &mut arrival);
    let after = places(&state, &arrival.surface);
    for ((a, _), (b, _)) in before.iter().zip(&after) {
        assert!((*a + way.as_dvec3()).distance(*b) < 1e-6, "{a} {b}");
    }
}

#[test]
fn a_mesh_that_vanishes_or_breaks_is_no_ground() {
    let relief = Relief::home(&[slope(4, 4, 0.0)], &[0]);
    let surface = relief.connect();
    let old = (&relief, &surface);
    let empty = Mesh::new("ground", Vec::new(), Vec::new());
    assert!(Arrival::new((&[empty], &[0]), old, (1.0, 0.01)).is_none());
    let mut broken = slope(4, 4, 0.0);
    broken.positions.truncate(3);
    assert!(Arrival::new((&[broken], &[0]), old, (1.0, 0.01)).is_none());
}
