//! Liquids as one knows them: what holds, what creeps, what runs, what draws threads.

use glam::{DVec2, DVec3, Vec3};

use super::super::flow::Trace;
use super::super::liquid::{LiquidPreset, Resistance};
use super::super::state::NO_STREAM;
use super::super::stream::thread_life;
use super::layer::{GRAVITY, Lab, actor, params};
use super::*;

pub const ALL: [LiquidPreset; 8] = [
    LiquidPreset::Water,
    LiquidPreset::Tear,
    LiquidPreset::Sweat,
    LiquidPreset::Blood,
    LiquidPreset::Milk,
    LiquidPreset::Paint,
    LiquidPreset::Oil,
    LiquidPreset::Honey,
];

/// A long board with a slope, and a liquid on it as it comes.
pub fn board(preset: LiquidPreset, slope_deg: f64) -> Bench {
    let slope = slope_deg.to_radians().tan();
    let (low, high) = (DVec2::new(0.0, -0.2), DVec2::new(1.0, 0.2));
    let (p, t) = height_field(24, 10, low, high, |x, _| -slope * x);
    let mut bench = Bench::new(&p, &t, smooth());
    let mut given: DropsParams = serde_json::from_str(r#"{"name": "l", "on": "mesh"}"#).unwrap();
    given.liquid.preset = preset;
    bench.liquid = Liquid::new(&given);
    bench.ground = Ground::uniform(&smooth(), &bench.liquid, bench.surface.triangles.len());
    bench
}

/// Speed after a while, of a drop put on a board [m/s].
pub fn speed(bench: &mut Bench, mass: f64, seconds: f64) -> f64 {
    let mut drop = bench.drop_at(DVec3::new(0.02, 0.0, 0.0), mass, DVec3::ZERO);
    let mut trace = Trace::default();
    for _ in 0..(seconds * 120.0) as usize {
        bench.step(&mut drop, 1.0 / 120.0, &mut trace);
    }
    bench.place(&drop).1.length()
}

/// The heaviest drop that a slope holds [kg].
pub fn largest_held(bench: &Bench, slope_deg: f64) -> f64 {
    let per_width = f64::from(bench.ground.dry_holds[0].line);
    let pull = 9.8 * slope_deg.to_radians().sin();
    // m a = line 2 c r, m = 4/3 pi rho r³.
    let contact = bench.ground.of(0).contact;
    let square = per_width * 2.0 * contact
        / (4.0 / 3.0 * std::f64::consts::PI * bench.liquid.density * pull);
    4.0 / 3.0 * std::f64::consts::PI * bench.liquid.density * square.powf(1.5)
}

#[test]
fn every_liquid_holds_small_drops_and_lets_large_ones_run() {
    for preset in ALL {
        for slope in [30.0, 60.0, 85.0] {
            let mut bench = board(preset, slope);
            let most = largest_held(&bench, slope);
            assert_eq!(speed(&mut bench, 0.95 * most, 0.5), 0.0, "{preset:?} at {slope}");
            assert!(speed(&mut bench, 1.1 * most, 0.5) > 0.0, "{preset:?} at {slope}");
        }
    }
    // A window holds drops to a few millimetres; skin holds a tear of ten milligrams.
    let water = largest_held(&board(LiquidPreset::Water, 89.0), 89.0);
    assert!((5e-6..3e-5).contains(&water), "{water:e}");
    let tear = largest_held(&board(LiquidPreset::Tear, 80.0), 80.0);
    assert!((5e-6..1.6e-5).contains(&tear), "{tear:e}");
}

#[test]
fn every_liquid_runs_at_the_speed_of_the_measured_law() {
    // F = F0 + beta w mu U with beta between 20 and 200 (X. Li and others, 2023), to 0.7 m/s.
    for preset in ALL {
        let mut bench = board(preset, 60.0);
        let (angle, contact) = (bench.liquid.contact_angle_deg, bench.ground.of(0).contact);
        let mass = 1.6 * largest_held(&bench, 60.0);
        let radius = bench.liquid.radius(mass);
        let width = 2.0 * contact * radius;
        let pull = mass * 9.8 * 60f64.to_radians().sin();
        let hold = f64::from(bench.ground.dry_holds[0].line) * width;
        let found = speed(&mut bench, mass, 1.5);
        let reynolds = bench.liquid.density * found * width / bench.liquid.viscosity();
        let beta = Resistance::new(angle).at(reynolds) / (2.0 * contact);
        assert!((20.0..200.0).contains(&beta), "{preset:?}: {beta}");
        let expected = (pull - hold) / (beta * width * bench.liquid.viscosity());
        assert!((found / expected - 1.0).abs() < 2e-3, "{preset:?}: {found} {expected}");
    }
}

/// What is seen: drops of a size one meets, on a slope one meets, in metres a second.
#[test]
fn liquids_run_as_fast_as_one_sees_them() {
    use LiquidPreset::*;
    let seen = [
        // Rain on a window: centimetres to some tens a second.
        (Water, 85.0, 2.5e-5, 0.05..0.6),
        // A tear of 12 mg creeps down a cheek by centimetres a second.
        (Tear, 70.0, 1.2e-5, 0.005..0.08),
        (Sweat, 70.0, 2.2e-5, 0.005..0.2),
        (Blood, 60.0, 2.5e-5, 0.01..0.15),
        (Milk, 60.0, 2.5e-5, 0.02..0.3),
        (Oil, 30.0, 5e-5, 5e-4..0.01),
        (Paint, 60.0, 1e-4, 2e-4..0.01),
        (Honey, 30.0, 2e-3, 1e-4..3e-3),
    ];
    let mut speeds = Vec::new();
    for (preset, slope, mass, range) in seen {
        let found = speed(&mut board(preset, slope), mass, 1.0);
        assert!(range.contains(&found), "{preset:?}: {found}");
        speeds.push(found);
    }
    assert!(speeds[0] > 20.0 * speeds[7]);
}

#[test]
fn below_a_ball_a_drop_of_every_liquid_hangs_and_two_of_them_do_not() {
    // What a drop from a finger weighs, in milligrams, by tension and density alone.
    let expected = [50.0, 22.0, 37.0, 32.0, 25.0, 14.0, 16.0, 30.0];
    for (preset, milligrams) in ALL.into_iter().zip(expected) {
        let let_go = |mass: f64| {
            let (p, t) = ball(0.05, 24, 36);
            let mut bench = Bench::new(&p, &t, GroundParams::default());
            bench.liquid = board(preset, 0.0).liquid;
            let count = bench.surface.triangles.len();
            bench.ground = Ground::uniform(&GroundParams::default(), &bench.liquid, count);
            let below = p.iter().map(|p| p.y).fold(f32::MAX, f32::min);
            let at = DVec3::new(0.002, f64::from(below), 0.001);
            let mut drop = bench.drop_at(at, mass, DVec3::ZERO);
            let mut trace = Trace::default();
            (0..24).for_each(|_| bench.step(&mut drop, 1.0 / 120.0, &mut trace));
            !drop.is_on_surface() || !trace.born.is_empty()
        };
        let most = milligrams * 1e-6;
        assert!(!let_go(0.8 * most), "{preset:?} hangs");
        assert!(let_go(1.25 * most), "{preset:?} lets go");
    }
}

#[test]
fn energy_never_grows_where_the_line_is_pinned() {
    for seed in 0..12u64 {
        let (p, t) = height_field(14, 14, DVec2::splat(-0.1), DVec2::splat(0.1), |x, z| {
            0.02 * (40.0 * x).sin() * (31.0 * z).cos() - 0.2 * x
        });
        let mut bench = Bench::new(&p, &t, smooth());
        bench.liquid.drag = Drag::Same(1e-5);
        let ground = GroundParams { hysteresis_deg: Some(20.0), meander: Some(0.8), ..smooth() };
        bench.ground = Ground::uniform(&ground, &bench.liquid, bench.surface.triangles.len());
        let u = |c: u64| crate::math::random::signed(5, seed, c);
        let velocity = DVec3::new(u(2), 0.0, u(3)) * 0.5;
        let mut drop = bench.drop_at(DVec3::new(0.05 * u(0), 0.0, 0.05 * u(1)), 2e-5, velocity);
        let mut trace = Trace::default();
        let energy = |bench: &Bench, drop: &Droplet| {
            let (p, v) = bench.place(drop);
            9.8 * p.y + 0.5 * v.length_squared()
        };
        let mut before = energy(&bench, &drop);
        for _ in 0..60 {
            bench.step(&mut drop, 1.0 / 120.0, &mut trace);
            if !drop.is_on_surface() {
                break;
            }
            let now = energy(&bench, &drop);
            assert!(now <= before + 1e-9, "{seed}: {now} after {before}");
            before = now;
        }
    }
}

const HONEY: &str = r#"{"name": "honey", "on": "ball", "liquid": {"preset": "honey"},
    "ground": [{"adhesion": 300}], "trails": {"enabled": false}, "shape": {"points": true},
    "sources": [{"single": {"at": [0.1, -0.066, 0.01], "mass": 0.02, "snap": 1}}]}"#;

/// A ball that is open below.
fn bell() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (positions, mut triangles) = ball(0.12, 24, 36);
    triangles.retain(|t| t.iter().all(|&v| positions[v as usize].y > -0.08));
    (positions, triangles)
}

#[test]
fn twenty_grams_of_honey_leave_a_ball_little_by_little() {
    let mut lab = Lab::new(actor("ball", bell()), &params(HONEY), GRAVITY, 30);
    lab.run(120);
    let on = |lab: &Lab| -> f64 {
        lab.state().drops.iter().filter(|d| d.is_on_surface()).map(|d| d.mass).sum()
    };
    assert!(on(&lab) > 0.0199, "after a second all of it is on the ball");
    let mut before = on(&lab);
    let mut hung = false;
    for _ in 0..100 {
        lab.run(24);
        let now = on(&lab);
        assert!(before - now < 0.25 * 0.02, "{} g in a fifth of a second", 1e3 * (before - now));
        assert!(lab.state().imbalance().abs() < 1e-12);
        let threads = lab.frame().meshes.iter().find(|m| m.name == "honey.threads").unwrap();
        hung |= threads.positions.len() > 100;
        before = now;
        if now < 0.009 {
            break;
        }
    }
    assert!(before < 0.01, "most of it has left: {before}");
    assert!(before > 0.0, "a rest hangs from the rim");
    assert!(hung, "it left in threads");
}

#[test]
fn a_thread_thins_as_it_falls_and_breaks() {
    let mut lab = Lab::new(actor("ball", bell()), &params(HONEY), GRAVITY, 30);
    let mut seen = false;
    for _ in 0..300 {
        lab.run(12);
        let drops = &lab.state().drops;
        let mut parcels: Vec<&Droplet> = drops.iter().filter(|d| d.stream != NO_STREAM).collect();
        if parcels.len() < 20 {
            continue;
        }
        seen = true;
        parcels.sort_by_key(|d| d.id);
        let fall = |d: &Droplet| match d.phase {
            Phase::Air { velocity, .. } => velocity.length(),
            _ => 0.0,
        };
        // The first has fallen farthest and is fastest: there it is thinnest.
        assert!(fall(parcels[0]) > fall(parcels[parcels.len() - 1]));
        break;
    }
    assert!(seen, "it pours");
    // Thinner threads live shorter, thicker liquids longer.
    assert!(thread_life(10.0, 0.06, 1e-3) > 5.0 * thread_life(10.0, 0.06, 1e-4));
    assert!(thread_life(0.001, 0.07, 1e-3) < 1e-3, "water draws none");
}

#[test]
fn what_leaves_over_a_rim_was_not_released() {
    let text = r#"{"name": "d", "on": "ground", "liquid": {"viscosity": 1e-4},
        "sources": [{"region": {"count": 8, "mass": [2e-5, 2e-5]}}], "merging": {"enabled": false}}"#;
    let board = height_field(4, 4, DVec2::ZERO, DVec2::splat(0.1), |x, _| -x);
    let mut lab = Lab::new(actor("ground", board), &params(text), GRAVITY, 30);
    lab.run(120);
    let ledger = &lab.state().ledger;
    assert_eq!((ledger.releases, ledger.run_offs), (0, 8));
}

#[test]
fn what_pours_over_a_rim_in_threads_was_not_released_either() {
    let text = r#"{"name": "d", "on": "ground", "liquid": {"preset": "honey"}, "ground": [{"adhesion": 300}],
        "sources": [{"single": {"at": [0.099, -0.198, 0.05], "mass": 0.02, "snap": 1}}]}"#;
    let board = height_field(4, 4, DVec2::ZERO, DVec2::splat(0.1), |x, _| -2.0 * x);
    let mut lab = Lab::new(actor("ground", board), &params(text), GRAVITY, 30);
    lab.run(600);
    let ledger = &lab.state().ledger;
    assert!(ledger.releases == 0 && ledger.run_offs > 0, "{ledger:?}");
}

#[test]
fn drops_meander_where_the_ground_is_uneven_and_run_straight_where_it_is_not() {
    let stray = |meander: f32| {
        let mut bench = board(LiquidPreset::Water, 60.0);
        let ground = GroundParams { meander: Some(meander), ..smooth() };
        bench.ground = Ground::uniform(&ground, &bench.liquid, bench.surface.triangles.len());
        let mut drop = bench.drop_at(DVec3::new(0.02, 0.0, 0.0), 2.5e-5, DVec3::ZERO);
        let mut trace = Trace::default();
        (0..180).fold(0.0, |most: f64, _| {
            bench.step(&mut drop, 1.0 / 120.0, &mut trace);
            most.max(bench.place(&drop).0.z.abs())
        })
    };
    assert!(stray(0.0) < 1e-9);
    let far = stray(1.0);
    assert!((5e-4..0.05).contains(&far), "{far}");
}
