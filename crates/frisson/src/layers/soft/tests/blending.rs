//! Fields that add up: cliques, and that nothing jumps.

use glam::DVec3;
use proptest::prelude::*;

use crate::layers::soft::field::{FieldProfile, Kind};
use crate::layers::soft::field_scratch::{FieldQuery, FieldScratch};
use crate::layers::soft::neighbourhood::Neighbourhood;
use crate::layers::soft::primitive_fields::{Primitive, PrimitiveFields};
use crate::layers::soft::shape::Shape;
use crate::math::random;

const LEVEL: f64 = 100.0;

fn fields(centers: &[DVec3], edges: Option<&[(usize, usize)]>) -> (PrimitiveFields, Neighbourhood) {
    let profile = FieldProfile {
        thickness: 0.5,
        support: 1.2,
        stiffness: 150.0,
        hardening: 0.0,
        level: LEVEL,
    };
    let links = |i: usize| {
        edges.map(|edges| {
            let mut list: Vec<u32> = edges
                .iter()
                .filter_map(|&(a, b)| {
                    if a == i {
                        Some(b as u32)
                    } else if b == i {
                        Some(a as u32)
                    } else {
                        None
                    }
                })
                .collect();
            list.sort_unstable();
            list.dedup();
            list.into()
        })
    };
    let primitives = (0..centers.len())
        .map(|i| Primitive {
            kind: Kind::Point,
            first: i as u32,
            count: 1,
            profile,
            inverse_width: 1.0 / (profile.support - profile.thickness),
            steepness: profile.stiffness * (profile.support - profile.thickness) / profile.level,
            shape: Shape::ROUND,
            offset: 0.0,
            swelling: 0.0,
            bulge: 0.0,
            label: 0,
            group: 0,
            links: links(i),
        })
        .collect();
    let fields =
        PrimitiveFields { level: LEVEL, primitives, points: centers.to_vec(), spots: Vec::new() };
    let mut near = Neighbourhood::default();
    near.set(&fields, 0..centers.len() as u32);
    (fields, near)
}

#[test]
fn in_a_chain_the_ends_do_not_add() {
    let centers = [DVec3::ZERO, DVec3::X * 0.6, DVec3::X * 1.2];
    let (fields, near) = fields(&centers, Some(&[(0, 1), (1, 2)]));
    let mut scratch = FieldScratch::default();
    for i in 0..50 {
        let at = DVec3::new(f64::from(i) * 0.03 - 0.2, 0.3, 0.1);
        let f: Vec<f64> = (0..3).map(|k| fields.field_of(k, at).0).collect();
        let expected = (f[0] + f[1]).max(f[1] + f[2]);
        assert!((scratch.union(&fields, &near, at) - expected).abs() < 1e-9);
        let seen = scratch.see(FieldQuery { fields: &fields, near: &near, index: 0, at });
        assert!((seen.side - f[0] - f[1]).abs() < 1e-9);
        assert!((seen.rival - f[1]).abs() < 1e-9);
        if f[2] > 0.0 {
            assert!((seen.other - f[1] - f[2]).abs() < 1e-9, "{at}");
            assert_eq!(seen.other_primitive, 2);
        }
    }
}

/// Largest sum over all subsets that are cliques, by trying every subset.
fn brute(values: &[f64], linked: impl Fn(usize, usize) -> bool) -> f64 {
    (0u32..1 << values.len())
        .filter(|set| {
            let inside: Vec<usize> = (0..values.len()).filter(|i| set >> i & 1 == 1).collect();
            inside.iter().all(|&a| inside.iter().all(|&b| a == b || linked(a, b)))
        })
        .map(|set| (0..values.len()).filter(|i| set >> i & 1 == 1).map(|i| values[i]).sum())
        .fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_field_is_the_best_clique_and_continuous(seed in any::<u64>(), share in 0.1f64..0.9) {
        let c = |i, k| random::signed(seed, i, k);
        let centers: Vec<DVec3> =
            (0..8).map(|i| DVec3::new(c(i, 0), c(i, 1), c(i, 2))).collect();
        let mut edges = Vec::new();
        for a in 0..8usize {
            for b in 0..a {
                if random::uniform(seed, (a * 8 + b) as u64, 9) < share {
                    edges.push((a, b));
                }
            }
        }
        let (fields, near) = fields(&centers, Some(&edges));
        let mut scratch = FieldScratch::default();
        let (from, to) = (DVec3::splat(-1.5), DVec3::new(1.5, 1.2, 1.4));
        let steps = 2000;
        // No field is steeper than 8 primitives at their steepest.
        let bound = 8.0 * 200.0 * from.distance(to) / f64::from(steps);
        let mut last = scratch.union(&fields, &near, from);
        for i in 1..=steps {
            let at = from.lerp(to, f64::from(i) / f64::from(steps));
            let value = scratch.union(&fields, &near, at);
            prop_assert!((value - last).abs() <= bound, "jump of {}", value - last);
            last = value;
            if i % 400 == 0 {
                let f: Vec<f64> = (0..8).map(|k| fields.field_of(k, at).0).collect();
                prop_assert!((value - brute(&f, |a, b| fields.linked(a, b))).abs() < 1e-9);
            }
        }
    }
}
