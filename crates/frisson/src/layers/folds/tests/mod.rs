//! The whole layer on sheets with a prescribed stretch.

mod contract;

use glam::Vec3;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

use super::*;
use crate::geometry::Mesh;
use crate::layers::LayerParams;
use crate::layers::harness::{check_rates, check_same_bits};
use crate::layers::moved::{self, bend, crossings, run, sheet};
use crate::stage::{Anchor, Change, Clock, Rate, Selection, Setup, Simulator, SimulatorError};

fn params(folds: Vec<Fold>) -> FoldsParams {
    FoldsParams {
        guard: false,
        gap: 0.0,
        attributes: true,
        ..FoldsParams::new("folds", "sheet", folds)
    }
}

fn stage(
    folds: Vec<Fold>,
    motion: impl Fn(Vec3, f64) -> Vec3 + Send + Sync + 'static,
) -> Result<Simulator, SimulatorError> {
    moved::stage(vec![moved::moved(sheet(), motion)], &[LayerParams::Folds(params(folds))])
}

fn line(name: &str, from: [f32; 3], to: [f32; 3]) -> Fold {
    Fold::new(name, vec![Anchor::Position(from), Anchor::Position(to)], 0.05, 0.13)
}

/// A fold along z in the middle of the sheet.
fn fold() -> Fold {
    line("along z", [0.5, 0.0, 0.15], [0.5, 0.0, 0.85])
}

fn still(p: Vec3, _: f64) -> Vec3 {
    p
}

/// Stretches x by 30% and holds after one second.
fn stretch(factor: f32) -> impl Fn(Vec3, f64) -> Vec3 + Send + Sync {
    move |p, t| Vec3::new(p.x * (1.0 + (factor - 1.0) * t.min(1.0) as f32), p.y, p.z)
}

fn crest(mesh: &Mesh) -> f32 {
    mesh.positions.iter().map(|p| p.y).fold(f32::NEG_INFINITY, f32::max)
}

#[test]
fn at_rest_the_drawn_fold_is_reproduced() {
    for law in [FactorLaw::Vertex, FactorLaw::Mean] {
        let mut f = fold();
        f.factor = law;
        let mut stage = stage(vec![f], still).unwrap();
        let drawn = stage.frame().meshes[0].clone();
        assert!((crest(&drawn) - 0.05).abs() < 1e-4, "{}", crest(&drawn));
        for _ in 0..3 {
            let now = run(&mut stage, 1);
            assert_eq!(now.positions, drawn.positions);
        }
    }
}

#[test]
fn the_cross_section_is_the_drawn_profile() {
    let mut s = stage(vec![fold()], still).unwrap();
    let mesh = run(&mut s, 1);
    for p in mesh.positions.iter().filter(|p| (0.3..0.7).contains(&p.z)) {
        let want = 0.05 * FoldAttenuation::Implicit.at((p.x - 0.5) / 0.13);
        assert!((p.y - want).abs() < 1e-5, "{p}: {want}");
    }
}

#[test]
fn stretch_flattens_and_compression_deepens() {
    let at = |factor: f32| crest(&run(&mut stage(vec![fold()], stretch(factor)).unwrap(), 30));
    let heights: Vec<f32> = [0.9, 0.95, 1.0, 1.02, 1.05, 1.1, 1.2].map(at).to_vec();
    assert!(heights.windows(2).all(|w| w[0] >= w[1] - 1e-6), "monotone: {heights:?}");
    assert!(heights[0] > 0.052, "{heights:?}");
    assert_eq!(heights[6], 0.0, "flat in the end: {heights:?}");
}

#[test]
fn it_is_flat_from_the_stretch_that_the_formula_gives() {
    // One fold across one row of long quads: every edge across it has the same slope on a side, and the
    // least-squares law is the source's, flat from 1 + (r0 - 1) / k.
    for k_flat in [0.5, 1.0, 2.0] {
        let f = Fold { k_flat, curvature: 0.0, ..fold() };
        let drawn = run(&mut stage(vec![f.clone()], still).unwrap(), 1);
        let mut section: Vec<Vec3> =
            drawn.positions.iter().filter(|p| (p.z - 0.5).abs() < 1e-5).copied().collect();
        section.sort_by(|a, b| a.x.total_cmp(&b.x));
        let r0 = |w: &[Vec3]| w[0].distance(w[1]) / (w[1].x - w[0].x);
        let steepest = section.windows(2).map(r0).fold(1.0, f32::max);
        let flat_from = 1.0 + (steepest - 1.0) / k_flat as f32;
        let height = |r: f32| crest(&run(&mut stage(vec![f.clone()], stretch(r)).unwrap(), 30));
        assert_eq!(height(flat_from + 1e-3), 0.0, "k_flat {k_flat}: at {flat_from}");
        let early = 1.0 + 0.25 * (flat_from - 1.0);
        assert!(height(early) > 0.01, "k_flat {k_flat}: not yet at {early}");
    }
}

#[test]
fn a_fold_narrower_than_the_mesh_can_show_is_said() {
    let mut thin = line("thin", [0.512, 0.0, 0.15], [0.512, 0.0, 0.85]);
    (thin.width, thin.subdivision) = (1e-4, 1);
    let s = stage(vec![thin], still).unwrap();
    let said = s.reports()[0].warnings.join(" ");
    assert!(said.contains("\"thin\" is narrower"), "{said}");
}

#[test]
fn every_parameter_of_a_fold_changes_it() {
    let roll_and_stretch = |p: Vec3, t: f64| {
        let p = stretch(1.03)(p, t);
        roll(0.6)(p, t)
    };
    let folded = |fold: Fold| {
        let mut s = stage(vec![fold], roll_and_stretch).unwrap();
        run(&mut s, 30)
    };
    let plain = folded(fold());
    type Change = fn(&mut Fold);
    let cases: [(&str, Change); 12] = [
        ("points", |f| f.points[1] = Anchor::Position([0.6, 0.0, 0.8])),
        ("amplitude", |f| f.amplitude = 0.03),
        ("width", |f| f.width = 0.1),
        ("subdivision", |f| f.subdivision = 1),
        ("attenuation", |f| f.attenuation = FoldAttenuation::Bell),
        ("k_flat", |f| f.k_flat = 0.5),
        ("factor", |f| f.factor = FactorLaw::Mean),
        ("conserve", |f| f.conserve = Conserve::Length),
        ("curvature", |f| f.curvature = 0.0),
        ("crease", |f| f.crease = true),
        ("stiff", |f| f.stiff = true),
        ("amount", |f| f.amount = 0.5.into()),
    ];
    for (name, change) in cases {
        let mut f = fold();
        change(&mut f);
        let other = folded(f);
        let far = |(a, b): (&Vec3, &Vec3)| a.distance(*b);
        let moved = plain.positions.iter().zip(&other.positions).map(far).fold(0.0, f32::max);
        let same = plain.positions.len() == other.positions.len();
        assert!(!same || moved > 1e-4, "{name} changes nothing by more than {moved} m");
    }
    let rise = |k_rise: f64| {
        crest(&run(&mut stage(vec![Fold { k_rise, ..fold() }], stretch(0.9)).unwrap(), 30))
    };
    assert!(rise(2.0) > rise(1.0) + 1e-3, "k_rise");
}

#[test]
fn speeds_change_how_fast_it_flattens() {
    let at = |k: f64| {
        let mut f = fold();
        f.k_flat = k;
        crest(&run(&mut stage(vec![f], stretch(1.03)).unwrap(), 30))
    };
    assert!(at(0.5) > at(1.0) && at(1.0) > at(2.0));
    assert!((at(0.0) - 0.05).abs() < 1e-4);
}

#[test]
fn crossing_folds_follow_their_own_direction() {
    // The specification's fold with the default speeds: the one across is all but gone where it is pulled
    // by its excess, about 1.16, and a hair; the one along, which is pushed together by 3 %, grows a little.
    let specified = |f: Fold| Fold { width: 0.1, curvature: 0.0, ..f };
    let across = specified(fold());
    let along = specified(line("along x", [0.15, 0.0, 0.5], [0.85, 0.0, 0.5]));
    let pull = 1.17;
    let both = move |p: Vec3, t: f64| {
        let t = t.min(1.0) as f32;
        Vec3::new(p.x * (1.0 + (pull - 1.0) * t), p.y, p.z * (1.0 - 0.03 * t))
    };
    let mut s = stage(vec![across, along], both).unwrap();
    let mesh = run(&mut s, 30);
    let height = |x: std::ops::Range<f32>, z: std::ops::Range<f32>| {
        let inside = |p: &&Vec3| x.contains(&(p.x / pull)) && z.contains(&(p.z / 0.97));
        mesh.positions.iter().filter(inside).map(|p| p.y).fold(0.0, f32::max)
    };
    let (left, grown) = (height(0.45..0.55, 0.2..0.3), height(0.2..0.3, 0.45..0.55));
    assert!(left < 0.05 * 0.05, "of the stretched one next to nothing is left: {left}");
    assert!(grown > 0.0505, "the compressed one grows a little: {grown}");
}

#[test]
fn conserving_length_keeps_cross_sections() {
    let mut f = fold();
    f.conserve = Conserve::Length;
    f.curvature = 0.0;
    f.subdivision = 4;
    // Its contour runs through vertices: the section is the fold and nothing beside it.
    f.width = 0.125;
    let length = |mesh: &Mesh| {
        let mut section: Vec<Vec3> =
            mesh.positions.iter().filter(|p| (p.z - 0.5).abs() < 1e-5).copied().collect();
        section.sort_by(|a, b| a.x.total_cmp(&b.x));
        let inside = |p: &Vec3| p.y > 0.0;
        let first = section.iter().position(inside).unwrap() - 1;
        let last = section.iter().rposition(inside).unwrap() + 1;
        section[first..=last].windows(2).map(|w| w[0].distance(w[1])).sum::<f32>()
    };
    let drawn = length(&run(&mut stage(vec![f.clone()], still).unwrap(), 1));
    for factor in [0.9, 0.95, 1.04] {
        let now = length(&run(&mut stage(vec![f.clone()], stretch(factor)).unwrap(), 30));
        assert!((now / drawn - 1.0).abs() < 1e-4, "{factor}: {now} {drawn}");
    }
}

#[test]
fn a_fold_inside_one_triangle_does_not_vanish() {
    let mut tiny = line("tiny", [0.512, 0.0, 0.51], [0.518, 0.0, 0.53]);
    (tiny.width, tiny.amplitude, tiny.subdivision) = (0.008, 0.004, 4);
    let mesh = run(&mut stage(vec![tiny], still).unwrap(), 1);
    assert!(crest(&mesh) > 0.002, "{}", crest(&mesh));
}

#[test]
fn starting_folds_ignore_the_stretch() {
    let mut f = fold();
    f.stiff = true;
    let mesh = run(&mut stage(vec![f], stretch(1.3)).unwrap(), 30);
    assert!((crest(&mesh) - 0.05).abs() < 1e-4, "{}", crest(&mesh));
}

#[test]
fn folds_fade_in_and_out_by_their_keys() {
    let mut f = fold();
    f.amount = serde_json::from_str("[[5, 0], [15, 1], [25, 0.5]]").unwrap();
    let mut s = stage(vec![f], still).unwrap();
    let heights: Vec<f32> = (0..5).map(|_| crest(&run(&mut s, 5))).collect();
    let wanted = [0.0, 0.025, 0.05, 0.0375, 0.025];
    for (height, want) in heights.iter().zip(wanted) {
        assert!((height - want).abs() < 1e-4, "{heights:?}");
    }
}

#[test]
fn masks_paint_folds_away() {
    let mut f = fold();
    f.mask =
        Some(Selection { r#box: Some([0.0, -1.0, 0.0, 1.0, 1.0, 0.5]), ..Selection::default() });
    let mesh = run(&mut stage(vec![f], still).unwrap(), 1);
    let height = |z: std::ops::Range<f32>| {
        mesh.positions.iter().filter(|p| z.contains(&p.z)).map(|p| p.y).fold(0.0, f32::max)
    };
    assert!(height(0.2..0.48) > 0.049, "{}", height(0.2..0.48));
    assert!(height(0.58..0.9) == 0.0, "{}", height(0.58..0.9));
}

/// Rolls the sheet around an axis along z through (0.5, -radius), without stretch.
fn roll(radius: f32) -> impl Fn(Vec3, f64) -> Vec3 + Send + Sync {
    move |p, t| {
        let angle = (p.x - 0.5) / radius * t.min(1.0) as f32;
        if angle.abs() < 1e-6 {
            return p;
        }
        let r = radius / t.min(1.0) as f32;
        Vec3::new(0.5 + r * angle.sin(), r * (angle.cos() - 1.0), p.z)
    }
}

#[test]
fn a_fold_over_a_rounded_edge_opens() {
    let height = |curvature: f32| {
        let mut f = fold();
        f.curvature = curvature;
        let mesh = run(&mut stage(vec![f], roll(0.3)).unwrap(), 30);
        let heights = mesh.scalar("fold_height").unwrap();
        heights.iter().fold(0.0f32, |m, h| m.max(*h))
    };
    let (blind, half, full) = (height(0.0), height(0.5), height(1.0));
    // Facets of the coarse sheet are a little shorter than the arcs they stand for.
    assert!((blind - 0.05).abs() < 2e-3, "{blind}");
    assert!(half < 0.9 * blind && full < half - 0.1 * blind, "{blind} {half} {full}");
}

#[test]
fn grooves_stay_outside_of_the_body_below() {
    let mut groove = fold();
    groove.amplitude = -0.05;
    let body = moved::grid("body", 4, 4, |x, z| {
        Vec3::new(0.5 * x as f32 - 0.5, -0.02, 0.5 * z as f32 - 0.5)
    });
    let params =
        FoldsParams { collide: vec!["body".to_owned()], gap: 0.005, ..params(vec![groove]) };
    let actors = vec![moved::moved(sheet(), still), moved::moved(body, still)];
    let mesh = run(&mut moved::stage(actors, &[LayerParams::Folds(params)]).unwrap(), 2);
    let lowest = mesh.positions.iter().map(|p| p.y).fold(0.0, f32::min);
    assert!((lowest + 0.015).abs() < 1e-4, "{lowest}");
}

#[test]
fn folds_that_face_each_other_do_not_cross() {
    // The sheet closes like a book around a thick spine: two folds, one on each page.
    let book = |p: Vec3, t: f64| {
        let middle = Vec3::X * 0.5;
        bend(p - middle, 150f32.to_radians() * t.min(1.0) as f32, 0.16) + middle
    };
    let pages = || {
        [0.34, 0.66].map(|x| {
            let mut f = line("page", [x, 0.0, 0.15], [x, 0.0, 0.85]);
            (f.amplitude, f.curvature) = (0.1, 0.0);
            f
        })
    };
    let crossed = |guard: bool, amount: f64| {
        let mut pages = pages();
        pages.iter_mut().for_each(|f| f.amount = amount.into());
        let params = FoldsParams { guard, ..params(pages.to_vec()) };
        let actor = moved::moved(sheet(), book);
        let mesh = run(&mut moved::stage(vec![actor], &[LayerParams::Folds(params)]).unwrap(), 30);
        crossings(&mesh)
    };
    assert_eq!(crossed(false, 0.0), [], "the book itself is sound");
    assert!(!crossed(false, 1.0).is_empty(), "they meet without the guard");
    assert_eq!(crossed(true, 1.0), []);
}

#[test]
fn folds_follow_the_size_an_actor_is_placed_at() {
    // A sheet modelled in centimetres: the same folds as on one modelled in metres.
    let mut mesh = sheet();
    mesh.positions.iter_mut().for_each(|p| *p *= 100.0);
    let mut actor = moved::moved(mesh, still);
    actor.placement.scale = 0.01;
    // Points are given where the actor is placed.
    let folds = [LayerParams::Folds(params(vec![fold()]))];
    let placed = run(&mut moved::stage(vec![actor], &folds).unwrap(), 3);
    let plain = run(&mut stage(vec![fold()], still).unwrap(), 3);
    assert_eq!(placed.positions.len(), plain.positions.len());
    for (a, b) in placed.positions.iter().zip(&plain.positions) {
        assert!(a.distance(*b) < 1e-5, "{a} {b}");
    }
}

#[test]
fn creases_shade_without_moving() {
    let mut f = fold();
    f.crease = true;
    let mesh = run(&mut stage(vec![f], still).unwrap(), 1);
    assert_eq!(crest(&mesh), 0.0);
    assert_eq!(mesh.normals.len(), mesh.positions.len());
    assert!(mesh.normals.iter().any(|n| n.x.abs() > 0.1));
}

#[test]
fn bad_folds_are_named() {
    let fail = |change: fn(&mut Fold)| {
        let mut f = fold();
        change(&mut f);
        match stage(vec![f], still) {
            Err(e) => e.to_string(),
            Ok(_) => panic!("must be refused"),
        }
    };
    assert!(fail(|f| f.points.truncate(1)).contains("two points"));
    assert!(fail(|f| f.width = -1.0).contains("width"));
    assert!(fail(|f| f.points[0] = Anchor::Vertex(1 << 30)).contains("does not exist"));
    assert!(fail(|f| f.points[0] = Anchor::Position([5.0, 5.0, 5.0])).contains("leaves the mesh"));
}
