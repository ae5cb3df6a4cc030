//! What every layer owes the stage, and that no motion breaks a fold.

use super::*;

/// Two crossing folds and a crease on a sheet that is pulled and pushed, over a body that rises.
fn busy() -> Setup {
    let (mut groove, mut crease) = (line("groove", [0.15, 0.0, 0.5], [0.85, 0.0, 0.5]), fold());
    (groove.amplitude, crease.crease) = (-0.05, true);
    crease.points = vec![Anchor::Position([0.3, 0.0, 0.1]), Anchor::Position([0.3, 0.0, 0.8])];
    let body = moved::grid("body", 4, 4, |x, z| {
        Vec3::new(0.5 * x as f32 - 0.5, -0.04, 0.5 * z as f32 - 0.5)
    });
    let rise = |p: Vec3, t: f64| p + Vec3::Y * 0.02 * t as f32;
    let pulled = |p: Vec3, t: f64| stretch(0.9 + 0.2 * (t as f32).min(1.0))(p, t);
    let params = FoldsParams {
        guard: true,
        collide: vec!["body".to_owned()],
        ..params(vec![fold(), groove, crease])
    };
    Setup {
        clock: Clock::new(Rate::whole(30), 0, 100),
        actors: vec![moved::moved(sheet(), pulled), moved::moved(body, rise)],
        layers: vec![LayerParams::Folds(params)],
        ..Setup::default()
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads_after_a_resume_and_without_scratch() {
    check_same_bits::<FoldsLayer>(&busy(), 6);
}

#[test]
fn what_is_seen_does_not_depend_on_what_was_looked_at() {
    check_rates(&busy(), 1);
}

#[test]
fn live_parameters_are_seen_at_once() {
    type Edit = fn(&mut FoldsParams);
    let cases: [(&str, Edit); 9] = [
        ("blend", |p| p.blend = 3.0),
        ("gap", |p| p.gap = 0.02),
        ("attributes", |p| p.attributes = false),
        ("k_flat", |p| p.folds[0].k_flat = 0.2),
        ("k_rise", |p| p.folds[0].k_rise = 3.0),
        ("factor", |p| p.folds[0].factor = FactorLaw::Mean),
        ("conserve", |p| p.folds[0].conserve = Conserve::Length),
        ("stiff", |p| p.folds[0].stiff = true),
        ("amount", |p| p.folds[0].amount = 0.5.into()),
    ];
    let seen = |edit: &dyn Fn(&mut FoldsParams), frames: usize| {
        let mut simulator = Simulator::new(busy()).unwrap();
        run(&mut simulator, 4);
        let LayerParams::Folds(mut new) = busy().layers.swap_remove(0) else { unreachable!() };
        edit(&mut new);
        let change = simulator.set_params(&LayerParams::Folds(new)).unwrap();
        (change, run(&mut simulator, frames))
    };
    for (name, edit) in cases {
        // Pushed together first, pulled in the end.
        let differs = [1, 36].map(|frames| seen(&edit, frames).1 != seen(&|_| (), frames).1);
        assert_eq!(seen(&edit, 1).0, Change::Live, "{name}");
        assert!(differs.contains(&true), "{name} changes nothing");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_folds_and_motions_stay_finite_and_inside_their_contour(
        (ax, az) in (0.1f32..0.9, 0.1f32..0.9),
        (bx, bz) in (0.1f32..0.9, 0.1f32..0.9),
        (amplitude, width) in (-0.2f32..0.2, 0.03f32..0.3),
        (sx, sy) in (0.3f32..2.0, -3.0f32..3.0),
    ) {
        let mut f = line("random", [ax, 0.0, az], [bx, 0.0, bz + 0.05]);
        (f.amplitude, f.width) = (amplitude, width);
        let motion = move |p: Vec3, t: f64| {
            let t = t as f32;
            Vec3::new(p.x * (1.0 + (sx - 1.0) * t), sy * t * p.x * p.z, p.z)
        };
        let mut s = stage(vec![f.clone()], motion).unwrap();
        let mesh = run(&mut s, 20);
        prop_assert!(mesh.positions.iter().all(|p| p.is_finite()));
        // The same refined mesh without its fold: contour and everything outside are the same bits.
        f.amount = 0.0.into();
        let base = run(&mut stage(vec![f], motion).unwrap(), 20);
        let heights = mesh.scalar("fold_height").unwrap();
        prop_assert_eq!(mesh.positions.len(), base.positions.len());
        for (v, p) in mesh.positions.iter().enumerate() {
            if heights[v] == 0.0 {
                prop_assert_eq!(*p, base.positions[v]);
            }
        }
    }
}
