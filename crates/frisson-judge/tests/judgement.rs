//! What is complained of without being asked, and what is not.

mod shots;

use std::f64::consts::TAU;

use frisson::stage::{Frame, Points};
use frisson_io::Silent;
use frisson_io::scene::Measure;
use frisson_judge::{Finding, Limits, judge_shot};
use glam::{Quat, Vec3};

use shots::{Formula, ball, judged, meshes, moved, sheet, strands};

/// A swing, a walk and a bounce, at a rate: nothing to complain of.
fn innocent(t: f64) -> Frame {
    let swing = Quat::from_rotation_z((0.6 * (TAU * 1.5 * t).sin()) as f32);
    let mut cloth = sheet("cloth", 16, 1.0);
    cloth.positions.iter_mut().for_each(|p| *p = swing * *p + Vec3::Y * 3.0);
    let fall = (1.0 - 4.9 * (t % 0.9 - 0.45).powi(2)) as f32;
    let runner = moved(ball("runner", 0.3, 12), Vec3::new(4.0 * t as f32, fall, 0.0));
    let mut hair = strands(20, 8, 0.3);
    hair.points.iter_mut().for_each(|p| *p = swing * *p + Vec3::new(0.0, 6.0, 2.0));
    Frame { curves: vec![hair], ..meshes(vec![cloth, runner]) }
}

#[test]
fn an_innocent_motion_is_not_accused() {
    for fps in [24, 30, 60] {
        let judgement = judged(&mut Formula::new(fps, 3 * i64::from(fps), innocent));
        assert_eq!(judgement.findings, Vec::new(), "at {fps}");
        assert_eq!(judgement.frames, 3 * fps as usize + 1);
    }
}

#[test]
fn each_complaint_names_shape_element_frame_and_place() {
    let guilty = |t: f64| {
        let mut frame = innocent(t);
        let frame_number = (t * 30.0).round() as i64;
        if frame_number >= 40 {
            // A vertex of the runner jumps to where it stays.
            frame.meshes[1].positions[30].y += 0.2;
        }
        let mut dipped = moved(sheet("dipped", 4, 0.4), Vec3::new(9.0, 0.0, 9.0));
        if frame_number >= 60 {
            dipped.positions[12].y -= 0.11;
        }
        let rock = moved(ball("rock", 1.0, 48), Vec3::new(9.0, -1.1, 9.0));
        frame.meshes.extend([dipped, rock]);
        frame.curves[0].points.iter_mut().for_each(|p| p.y += 0.0);
        frame
    };
    let mut shot = Formula::new(30, 90, guilty);
    let judgement = judged(&mut shot);
    let find = |measure: Measure, shape: &str| {
        let found = judgement.findings.iter().find(|f| f.measure == measure && f.shape == shape);
        found.unwrap_or_else(|| panic!("{measure:?} {shape} in {:#?}", judgement.findings))
    };
    let pop = find(Measure::Pop, "runner");
    assert_eq!((pop.frame, pop.element), (40, Some(30)));
    let inside = find(Measure::Inside, "dipped");
    assert_eq!((inside.body.as_deref(), inside.element), (Some("rock"), Some(12)));
    assert!((inside.value - 10.0).abs() < 0.5, "{inside:?}");
    assert!(judgement.findings.windows(2).all(|w| w[0].number + 1 == w[1].number));
    let close = inside.close_up(Vec3::new(9.0, 0.0, 9.0));
    assert!(close.eye.distance(close.target) > 0.1 && close.eye.y > close.target.y);
    // What the motion without layers has as well is set apart, if it is as bad there.
    let jumping = |height: f32| {
        move |t: f64| {
            let mut frame = innocent(t);
            if (t * 30.0).round() >= 40.0 {
                frame.meshes[1].positions[30].y += height;
            }
            frame
        }
    };
    for (height, is_own) in [(0.2, true), (0.1, false)] {
        let mut apart = judgement.clone();
        apart.set_own_apart(&judged(&mut Formula::new(30, 90, jumping(height))));
        let pop = |f: &Finding| f.measure == Measure::Pop && f.shape == "runner";
        assert_eq!(apart.own.iter().any(pop), is_own, "{height}");
        assert_eq!(apart.findings.iter().any(pop), !is_own, "{height}");
        assert!(apart.findings.iter().any(|f| f.measure == Measure::Inside));
        let numbers = apart.findings.iter().chain(&apart.own).map(|f| f.number);
        assert!(numbers.eq(1..=judgement.findings.len()));
    }
    // A larger limit silences it.
    let mut limits = Limits::default();
    limits.set(Measure::Inside, 20.0);
    let judgement = judge_shot(&mut shot, &[], &limits, None, &mut Silent).unwrap();
    assert!(judgement.findings.iter().all(|f| f.measure != Measure::Inside));
}

#[test]
fn shivering_hair_and_a_still_layer_are_found() {
    let shiver = |t: f64| {
        let mut hair = strands(20, 8, 0.3);
        let frame = (t * 30.0).round() as i64;
        hair.points.iter_mut().for_each(|p| p.z += if frame % 2 == 0 { 5e-4 } else { -5e-4 });
        Frame { curves: vec![hair], ..meshes(vec![sheet("flag", 4, 1.0)]) }
    };
    let layers = [("cloth".to_owned(), "flag".to_owned()), ("hair".to_owned(), "hair".to_owned())];
    let mut shot = Formula::new(30, 60, shiver);
    let judgement = judge_shot(&mut shot, &layers, &Limits::default(), None, &mut Silent).unwrap();
    let found: Vec<(Measure, &str)> =
        judgement.findings.iter().map(|f| (f.measure, f.shape.as_str())).collect();
    assert!(found.contains(&(Measure::Reversals, "hair")), "{found:?}");
    assert!(found.contains(&(Measure::Travel, "flag")), "{found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn the_same_is_found_on_any_number_of_threads() {
    let judge = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let tangled = |t: f64| {
                let mut frame = innocent(t);
                let flat = moved(sheet("flat", 30, 1.0), Vec3::new(0.01, 3.0, 0.02));
                frame.meshes.push(flat);
                for p in &mut frame.meshes[2].positions {
                    p.y += ((p.x + 2.0 * t as f32) * 9.0).sin() * 0.2 * t as f32;
                    p.x += (p.z * 7.0).sin() * 0.3 * t as f32;
                }
                frame
            };
            judged(&mut Formula::new(10, 10, tangled))
        })
    };
    let one = judge(1);
    assert!(!one.findings.is_empty());
    assert_eq!(one, judge(2));
    assert_eq!(one, judge(5));
}

/// Drops on a leg that swings four times a second and jerks at every turn; they may tremble on it.
#[test]
fn a_drop_that_rides_a_leg_shivers_only_by_what_it_does_itself() {
    let shot = |trembles: f32| {
        Formula::new(30, 60, move |t: f64| {
            let swing = (0.2 * (TAU * 6.0 * t).sin()) as f32;
            let mut leg = sheet("leg", 8, 1.0);
            leg.positions.iter_mut().for_each(|p| p.z += swing * (1.0 + p.x));
            let is_odd = (t * 30.0).round() as i64 % 2 == 1;
            let place = |(i, p): (usize, &Vec3)| {
                *p + Vec3::X * if is_odd && i % 2 == 0 { trembles } else { 0.0 }
            };
            let positions: Vec<Vec3> = leg.positions.iter().enumerate().map(place).collect();
            let ids = (0..positions.len() as u64).collect();
            let drops =
                Points { name: "sweat.points".to_owned(), positions, ids, ..Points::default() };
            Frame { points: vec![drops], ..meshes(vec![leg]) }
        })
    };
    let layers = [("drops".to_owned(), "sweat".to_owned())];
    let shivers = |trembles: f32| {
        let judged =
            judge_shot(&mut shot(trembles), &layers, &Limits::default(), None, &mut Silent);
        let findings = judged.unwrap().findings;
        findings.iter().any(|f| f.measure == Measure::Reversals && f.shape == "sweat.points")
    };
    assert!(!shivers(0.0), "they ride");
    assert!(shivers(0.01), "they tremble by a centimetre");
}

/// An arm enters a body over two seconds, with a drop on it; the body itself may have swallowed the drop.
#[test]
fn a_drop_goes_where_its_arm_goes() {
    let shot = |arm_goes: bool| {
        Formula::new(30, 60, move |t: f64| {
            let x = 1.8 - 0.5 * t as f32;
            let arm = moved(ball("arm", 0.3, 16), Vec3::X * if arm_goes { x } else { 1.8 });
            let drop = moved(ball("sweat", 0.004, 6), Vec3::new(x - 0.3, 0.0, 0.0));
            meshes(vec![ball("body", 1.0, 48), arm, drop])
        })
    };
    let layers = [("drops".to_owned(), "sweat".to_owned())];
    let complaints = |arm_goes: bool| {
        let judged =
            judge_shot(&mut shot(arm_goes), &layers, &Limits::default(), None, &mut Silent);
        let findings = judged.unwrap().findings;
        findings.iter().filter(|f| f.measure == Measure::Inside && f.shape == "sweat").count()
    };
    assert_eq!((complaints(true), complaints(false)), (0, 1));
}
