//! What pours without a pause is one stream, that thins, and is cut into drops.

use glam::{DVec2, DVec3, Vec3};

use super::super::liquid::Liquid;
use super::super::state::NO_STREAM;
use super::super::stream::{Streams, is_of_lip, jet_life, stream_of_lip};
use super::layer::{GRAVITY, Lab, actor, params};
use super::pools::{tipped, tipping};
use super::*;
use crate::geometry::Mesh;

fn mesh<'a>(lab: &'a Lab, name: &str) -> &'a Mesh {
    lab.frame().meshes.iter().find(|m| m.name == name).unwrap_or_else(|| panic!("{name} is shown"))
}

fn volume(mesh: &Mesh) -> f64 {
    let corner = |v: u32| mesh.positions[v as usize].as_dvec3();
    let of = |t: &[u32; 3]| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0;
    mesh.topology.triangles.iter().map(of).sum()
}

/// Half the width of a mesh around the vertical at some height [m].
fn half_width(mesh: &Mesh, height: f32) -> f32 {
    let near = mesh.positions.iter().filter(|p| (p.y - height).abs() < 0.01);
    near.fold(0.0, |most: f32, p| most.max(p.x.hypot(p.z)))
}

/// A tap that lets out a gram in every frame, over a far floor.
fn tap(preset: &str) -> Lab {
    let floor = height_field(4, 4, DVec2::splat(-2.0), DVec2::splat(2.0), |_, _| -3.0);
    let text = format!(
        r#"{{"name": "d", "on": "floor", "liquid": {{"preset": "{preset}"}}, "air": {{"margin": 9}},
        "sources": [{{"single": {{"at": [0, 0, 0], "mass": 1e-3, "count": 100, "every": 1, "snap": 0}}}}]}}"#
    );
    Lab::new(actor("floor", floor), &params(&text), GRAVITY, 30)
}

#[test]
fn a_tap_lets_out_one_stream_that_thins_and_is_cut_where_its_waves_have_grown() {
    let mut lab = tap("water");
    lab.run(72);
    assert_eq!(lab.state().ledger.merges, 0, "no parcel swallows another");
    let threads = mesh(&lab, "d.threads");
    let lowest = threads.positions.iter().fold(0.0, |low: f32, p| low.min(p.y));
    let highest = threads.positions.iter().fold(-9.0, |high: f32, p| high.max(p.y));
    // A parcel that is as old as waves need is a third of a second on its way.
    assert!(highest > -0.01 && (-0.7..-0.3).contains(&lowest), "{lowest} to {highest}");
    // pi r² v stays: three times as far down it is thinner by the fourth root of 3.
    let thinner = half_width(threads, -0.08) / half_width(threads, -0.24);
    assert!((thinner / 3f32.powf(0.25) - 1.0).abs() < 0.15, "{thinner}");
    // Beyond, each parcel is a drop; nothing is drawn twice, or not at all.
    assert!(mesh(&lab, "d").positions.iter().any(|p| p.y < lowest - 0.1));
    let drawn = volume(threads) + volume(mesh(&lab, "d"));
    let there: f64 = lab.state().drops.iter().map(|d| d.mass).sum::<f64>() / lab.liquid().density;
    assert!((drawn / there - 1.0).abs() < 0.1, "{drawn} of {there}");
    assert!(lab.state().imbalance().abs() < 1e-12);
}

#[test]
fn drips_are_no_stream() {
    let mut slow = params(
        r#"{"name": "d", "on": "floor", "liquid": {"preset": "water"}, "air": {"margin": 9},
        "sources": [{"single": {"at": [0, 0, 0], "mass": 2e-5, "count": 9, "every": 8, "snap": 0}}]}"#,
    );
    slow.seed = 1;
    let floor = height_field(4, 4, DVec2::splat(-2.0), DVec2::splat(2.0), |_, _| -3.0);
    let mut lab = Lab::new(actor("floor", floor), &slow, GRAVITY, 30);
    for _ in 0..20 {
        lab.run(4);
        assert!(mesh(&lab, "d.threads").positions.is_empty());
    }
}

#[test]
fn over_a_lip_liquid_pours_in_a_few_streams() {
    let (mut lab, _) = tipped(Vec3::Z, 30f64.to_radians(), 0.02);
    lab.run(148);
    let state = lab.state();
    let parcels = || state.drops.iter().filter(|d| is_of_lip(d.stream));
    let mut streams: Vec<u64> = parcels().map(|d| d.stream).collect();
    streams.sort_unstable();
    streams.dedup();
    // The rim is 20 cm long: three waves of the edge to each.
    assert!((1..=5).contains(&streams.len()), "{} streams", streams.len());
    assert!(parcels().count() > 10, "{}", parcels().count());
    let threads = mesh(&lab, "d.threads");
    let drawn = volume(threads) * lab.liquid().density;
    let there: f64 = parcels().map(|d| d.mass).sum();
    assert!((drawn / there - 1.0).abs() < 0.25, "{drawn} of {there}");
    assert!(state.imbalance().abs() < 1e-9, "{}", state.imbalance());
}

/// Half a sphere that is open above, its rim at height 0.
fn bowl(radius: f32) -> Mesh {
    let (rings, slices) = (24u32, 48u32);
    let mut positions = vec![Vec3::NEG_Y * radius];
    for ring in 1..=rings {
        let (out, down) = (std::f32::consts::FRAC_PI_2 * ring as f32 / rings as f32).sin_cos();
        for slice in 0..slices {
            let (z, x) = (std::f32::consts::TAU * slice as f32 / slices as f32).sin_cos();
            positions.push(radius * Vec3::new(out * x, -down, out * z));
        }
    }
    let id = |ring: u32, slice: u32| 1 + (ring - 1) * slices + slice % slices;
    let mut triangles = Vec::new();
    for s in 0..slices {
        triangles.push([0, id(1, s + 1), id(1, s)]);
        for r in 1..rings {
            let (a, b, c, d) = (id(r, s), id(r, s + 1), id(r + 1, s + 1), id(r + 1, s));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Mesh::new("bowl", positions, triangles)
}

#[test]
fn a_bowl_that_tips_pours_one_stream_over_the_lowest_place_of_its_rim() {
    let (radius, angle) = (0.06, 70f64.to_radians());
    let text = r#"{"name": "d", "on": "bowl", "liquid": {"preset": "milk"}, "air": {"margin": 0.5},
        "pools": [{"center": [0, 0], "size": [0.14, 0.14], "heights": [-0.08, 0.03], "cell": 0.005}]}"#;
    let tipped = tipping(bowl(radius as f32), Vec3::NEG_Z, angle);
    let mut lab = Lab::new(tipped, &params(text), GRAVITY, 30);
    let (rest, density) = (lab.rest().pools[0].clone(), lab.liquid().density);
    // All along the rim the ground ends at its height, though the last cells reach up to it by very unlike parts.
    let sills: Vec<f64> = rest.ends.iter().map(|e| e.height).collect();
    let lowest = sills.iter().fold(1.0f64, |low, s| low.min(*s));
    assert!(sills.len() > 80 && lowest > -1e-3, "{} ends, {lowest}", sills.len());
    // Up to a centimetre below it.
    let (level, area) = (-0.01, rest.cell * rest.cell);
    let all: f64 = {
        let pool = &mut lab.alone.state_mut().pools[0];
        for (mass, bed) in pool.mass.iter_mut().zip(&rest.bed) {
            *mass = if bed.is_finite() { (level - bed).max(0.0) * area * density } else { 0.0 };
        }
        pool.mass.iter().sum()
    };
    lab.alone.state_mut().ledger.emitted.add(all);
    let (mut at_once, mut aside, mut parcels) = (0, 0.0f64, 0);
    for _ in 0..260 {
        lab.run(1);
        let young = |d: &&Droplet| is_of_lip(d.stream) && d.born > lab.state().time - 1e-3;
        let leaving: Vec<&Droplet> = lab.state().drops.iter().filter(young).collect();
        for Droplet { phase, .. } in &leaving {
            let Phase::Air { position, .. } = phase else { continue };
            aside = aside.max(position.z.abs());
        }
        (parcels, at_once) = (parcels + leaving.len(), at_once.max(leaving.len()));
    }
    // Five at a time, up to 4 cm aside, in `drops-pour` while cells let go by their own heights.
    assert!(parcels > 60, "{parcels}");
    // 2 and 2 cm here, at its end.
    assert!(at_once <= 2 && aside < 0.025, "{at_once} at once, {aside}");
    assert!(lab.state().imbalance().abs() < 1e-9, "{}", lab.state().imbalance());
}

#[test]
fn where_a_stream_is_cut_its_parcels_unite_and_none_is_lost() {
    let liquid = Liquid::new(&params(r#"{"name": "d", "on": "x", "liquid": {"preset": "water"}}"#));
    let (tick, time) = (1.0 / 120.0, 2.0);
    let fall = |age: f64| 4.9 * age * age;
    let mut drops: Vec<Droplet> = (0..60)
        .map(|k| {
            let born = time - (60 - k) as f64 * tick;
            let age = time - born;
            let position = DVec3::NEG_Y * fall(age);
            let velocity = DVec3::NEG_Y * 9.8 * age;
            let phase = Phase::Air { position, velocity, since: born, from: u32::MAX };
            let mut drop = Droplet::new(k, 4e-5, phase, born);
            drop.stream = stream_of_lip(0);
            drop
        })
        .collect();
    let mut streams = Streams::default();
    assert!(streams.find(&drops, &liquid, (time, tick)));
    assert!(streams.parcels.windows(2).all(|p| p[0].necking >= p[1].necking));
    let whole = streams.parcels.iter().rev().take_while(|p| p.necking < 1.0).count();
    let oldest = streams.parcels[60 - whole];
    let life = jet_life(liquid.density, liquid.tension, oldest.radius);
    assert!((whole as f64 * tick / life - 1.0).abs() < 0.1, "{whole} {life}");
    let merges = streams.part(&mut drops, time);
    let united = drops.iter().filter(|d| d.mass > 1.1e-4).count();
    assert!(merges > 10 && united as u64 >= merges / 2 - 1, "{merges} {united}");
    assert!((drops.iter().map(|d| d.mass).sum::<f64>() - 60.0 * 4e-5).abs() < 1e-15);
    assert!(drops.iter().all(|d| d.mass == 0.0 || d.mass < 1.1e-4 || d.stream == NO_STREAM));
}
