//! Every measure against a shot whose answer is known in closed form.

mod shots;

use std::f64::consts::{PI, TAU};

use frisson::stage::Frame;
use frisson_io::Silent;
use frisson_io::scene::{Measure, OverFrames, Part, Statistic, Subject};
use frisson_judge::{Request, changed_share, compare_shots, measure};
use glam::{Quat, Vec3};

use shots::{Formula, ball, meshes, moved, of, points, read, sheet, strands, torus};

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}

#[test]
fn a_speed_of_a_tenth_of_a_metre_a_second_is_100_mm_a_second_at_any_rate() {
    for fps in [24, 60] {
        let fly = |t: f64| meshes(vec![moved(sheet("a", 4, 1.0), Vec3::X * 0.1 * t as f32)]);
        let got = read(&mut Formula::new(fps, 20, fly), Measure::Rest, of("a"), OverFrames::Max);
        near(got.unwrap().value, 100.0, 0.01);
    }
}

#[test]
fn a_jump_is_found_at_its_vertex_and_frame_and_is_as_long_as_it_is() {
    let jump = |t: f64| {
        let mut mesh = moved(sheet("a", 4, 1.0), Vec3::X * 0.03 * t as f32);
        if t > 0.49 {
            mesh.positions[7].y += 0.05;
        }
        meshes(vec![mesh])
    };
    let got =
        read(&mut Formula::new(30, 30, jump), Measure::Pop, of("a"), OverFrames::Max).unwrap();
    // Less the step of a millimetre that every frame makes anyway.
    near(got.value, 50.0 - 1.0, 0.05);
    assert_eq!((got.frame, got.element), (15, Some(7)));
}

#[test]
fn a_bounce_is_no_pop_but_a_kick() {
    let bounce = |t: f64| {
        let height = (1.0 - 4.0 * t).abs() as f32;
        meshes(vec![moved(sheet("a", 2, 1.0), Vec3::Y * height)])
    };
    let mut shot = Formula::new(30, 14, bounce);
    let pop = read(&mut shot, Measure::Pop, of("a"), OverFrames::Max).unwrap();
    near(pop.value, 0.0, 1e-3);
    // It falls and rises at 4 m/s; the turn lies between two frames, so two steps share the change.
    let kick = read(&mut shot, Measure::Kick, of("a"), OverFrames::Max).unwrap();
    assert!((3900.0..8100.0).contains(&kick.value), "{kick:?}");
}

#[test]
fn a_strain_of_six_percent_is_1_06() {
    let strain = |t: f64| {
        let mut mesh = sheet("a", 8, 1.0);
        mesh.positions.iter_mut().for_each(|p| *p *= 1.0 + 0.06 * t as f32);
        meshes(vec![mesh])
    };
    let mut shot = Formula::new(10, 10, strain);
    for statistic in [Statistic::Min, Statistic::P1, Statistic::P50, Statistic::P99, Statistic::Max]
    {
        let subject = Subject { of: Some(statistic), ..of("a") };
        let got = read(&mut shot, Measure::Stretch, subject, OverFrames::Last).unwrap();
        near(got.value, 1.06, 1e-5);
    }
    let evenness = Subject { of: Some(Statistic::Evenness), ..of("a") };
    near(read(&mut shot, Measure::Stretch, evenness, OverFrames::Last).unwrap().value, 1.0, 1e-5);
    // Against the middle of the shot, where it is stretched by 3 % already.
    let subject = Subject { reference: Some(5), ..of("a") };
    let got = read(&mut shot, Measure::Stretch, subject, OverFrames::Last).unwrap();
    near(got.value, 1.06 / 1.03, 1e-5);
}

#[test]
fn a_curve_is_measured_along_its_whole_length_or_by_segments() {
    let drawn = |t: f64| {
        let mut curves = strands(10, 5, 0.4);
        // The last segment of the third strand alone: 0.1 becomes 0.14.
        curves.points[3 * 5 + 4].y -= 0.04 * t as f32;
        Frame { curves: vec![curves], ..Frame::default() }
    };
    let mut shot = Formula::new(1, 1, drawn);
    let worst = |part| Subject { of: Some(Statistic::Max), part: Some(part), ..of("hair") };
    let curve = read(&mut shot, Measure::Stretch, worst(Part::Curves), OverFrames::Last).unwrap();
    near(curve.value, 0.44 / 0.4, 1e-5);
    assert_eq!(curve.element, Some(3));
    let segment =
        read(&mut shot, Measure::Stretch, worst(Part::Segments), OverFrames::Last).unwrap();
    near(segment.value, 1.4, 1e-5);
}

#[test]
fn a_sphere_in_a_sphere_is_as_deep_as_their_radii_say() {
    let both = |_: f64| meshes(vec![ball("small", 0.3, 24), ball("large", 1.0, 48)]);
    let subject = |shape: &str, body: &str, part| Subject {
        body: Some(body.to_owned()),
        part: Some(part),
        ..of(shape)
    };
    let mut shot = Formula::new(30, 0, both);
    for part in [Part::Points, Part::Midpoints, Part::Segments] {
        let got =
            read(&mut shot, Measure::Inside, subject("small", "large", part), OverFrames::Max);
        // The large one is a polyhedron: up to 0.2 % nearer than its sphere.
        near(got.unwrap().value, 700.0, 5.0);
    }
    let outside = subject("large", "small", Part::Points);
    assert_eq!(
        read(&mut shot, Measure::Inside, outside.clone(), OverFrames::Max).unwrap().value,
        0.0
    );
    let gap = read(&mut shot, Measure::Gap, outside, OverFrames::Max).unwrap();
    near(gap.value, 700.0, 5.0);
}

#[test]
fn a_known_penetration_is_found_at_its_vertex() {
    let dip = |t: f64| {
        let mut cloth = moved(sheet("cloth", 10, 2.0), Vec3::Y * 1.2);
        // The middle vertex goes from 0.2 above the ball to 3 mm inside of it.
        cloth.positions[60].y = 1.2 - 0.203 * t as f32;
        meshes(vec![cloth, ball("ball", 1.0, 64)])
    };
    let subject = Subject { body: Some("ball".into()), ..of("cloth") };
    let mut shot = Formula::new(1, 1, dip);
    let got = read(&mut shot, Measure::Inside, subject, OverFrames::Max).unwrap();
    near(got.value, 3.0, 0.02);
    assert_eq!((got.frame, got.element), (1, Some(60)));
}

#[test]
fn where_bodies_overlap_inside_of_either_is_inside() {
    let pair = |_: f64| {
        let (a, b) = (ball("a", 1.0, 24), moved(ball("b", 1.0, 24), Vec3::X));
        let shift = a.positions.len() as u32;
        let mut positions = a.positions.clone();
        positions.extend(&b.positions);
        let mut triangles = a.topology.triangles.clone();
        triangles.extend(b.topology.triangles.iter().map(|t| t.map(|v| v + shift)));
        let mut frame = meshes(vec![frisson::geometry::Mesh::new("both", positions, triangles)]);
        frame.points = vec![points("p", &[(1, Vec3::X * 0.5)])];
        frame
    };
    let subject = Subject { body: Some("both".into()), ..of("p") };
    let got =
        read(&mut Formula::new(1, 0, pair), Measure::Inside, subject, OverFrames::Max).unwrap();
    near(got.value, 500.0, 10.0);
}

#[test]
fn two_crossing_sheets_cross_along_a_line() {
    let pair = |t: f64| {
        let flat = sheet("flat", 4, 1.0);
        let mut upright = sheet("upright", 4, 1.0);
        // Turned up, and moved by a third of a cell so that no edge meets an edge.
        upright.positions.iter_mut().for_each(|p| *p = Vec3::new(p.x + 0.083, p.z + 0.06, 0.07));
        let away = Vec3::Y * 5.0 * t as f32;
        meshes(vec![flat, moved(upright, away)])
    };
    let subject = Subject { body: Some("flat".into()), ..of("upright") };
    let mut shot = Formula::new(1, 1, pair);
    let crossing = read(&mut shot, Measure::Crossings, subject.clone(), OverFrames::First).unwrap();
    // Five upright edges and the diagonals between them; the last column sticks out of the flat sheet.
    assert_eq!(crossing.value, 8.0, "{crossing:?}");
    assert_eq!(read(&mut shot, Measure::Crossings, subject, OverFrames::Last).unwrap().value, 0.0);
    assert_eq!(
        read(&mut shot, Measure::Crossings, of("flat"), OverFrames::Max).unwrap().value,
        0.0
    );
}

#[test]
fn where_an_arm_is_in_the_trunk_what_is_worn_may_go_through_it_and_nowhere_else() {
    // A sheet two centimetres over a trunk, through both of which an arm goes; later the sheet is higher up on the arm.
    let pair = |t: f64| {
        let trunk = moved(sheet("trunk", 2, 2.0), Vec3::new(0.01, 0.0, 0.02));
        let arm = torus("arm", 0.5, 0.1, 96);
        let upright = Quat::from_rotation_x(1.5);
        let mut arm = arm;
        arm.positions.iter_mut().for_each(|p| *p = upright * *p);
        let cloth = moved(sheet("cloth", 40, 2.0), Vec3::Y * (0.02 + 0.3 * t as f32));
        meshes(vec![trunk, arm, cloth])
    };
    let mut shot = Formula::new(1, 1, pair);
    for (shape, body) in [("cloth", "arm"), ("arm", "cloth")] {
        let plain = Subject { body: Some(body.to_owned()), ..of(shape) };
        let worn_on = vec!["trunk".to_owned(), "arm".to_owned()];
        let worn = Subject { worn_on, ..plain.clone() };
        let mut ask =
            |s: &Subject, o| read(&mut shot, Measure::Crossings, s.clone(), o).unwrap().value;
        assert!(ask(&plain, OverFrames::First) > 5.0, "{shape}");
        assert_eq!(ask(&worn, OverFrames::First), 0.0, "{shape}");
        assert!(ask(&worn, OverFrames::Last) > 5.0, "{shape}");
        assert_eq!(ask(&worn, OverFrames::Last), ask(&plain, OverFrames::Last), "{shape}");
    }
}

#[test]
fn a_sheet_folded_through_itself_crosses_itself() {
    let fold = |t: f64| {
        let mut mesh = sheet("a", 20, 1.0);
        for p in &mut mesh.positions {
            // One end is laid over and pushed through the other, tilted.
            if t > 0.5 && p.x > 0.2 {
                *p = Vec3::new(0.13 - p.x, 0.3 * (0.05 + p.x - 0.2) - 0.06, p.z + 0.013);
            }
        }
        meshes(vec![mesh])
    };
    let mut shot = Formula::new(1, 1, fold);
    assert_eq!(read(&mut shot, Measure::Crossings, of("a"), OverFrames::First).unwrap().value, 0.0);
    assert!(read(&mut shot, Measure::Crossings, of("a"), OverFrames::Last).unwrap().value > 10.0);
}

#[test]
fn a_torus_is_one_piece_with_its_volume_and_area() {
    let (large, small) = (1.0, 0.3);
    let shape = |t: f64| {
        let ring = moved(torus("ring", 1.0, 0.3, 96), Vec3::new(5.0, 2.0, -3.0));
        let mut frame = meshes(vec![ring]);
        if t > 0.5 {
            let bead = moved(ball("bead", 0.1, 8), Vec3::new(5.0, 2.0, -3.0));
            let shift = frame.meshes[0].positions.len() as u32;
            let mut positions = frame.meshes[0].positions.clone();
            positions.extend(&bead.positions);
            let mut triangles = frame.meshes[0].topology.triangles.clone();
            triangles.extend(bead.topology.triangles.iter().map(|t| t.map(|v| v + shift)));
            frame.meshes = vec![frisson::geometry::Mesh::new("ring", positions, triangles)];
        }
        frame
    };
    let mut shot = Formula::new(1, 1, shape);
    let mut first = |m| read(&mut shot, m, of("ring"), OverFrames::First).unwrap().value;
    assert_eq!(first(Measure::Components), 1.0);
    let volume = 2.0 * PI * PI * large * small * small;
    near(first(Measure::Volume), volume, 0.01 * volume);
    let area = 4.0 * PI * PI * large * small;
    near(first(Measure::Area), area, 0.01 * area);
    let two = read(&mut shot, Measure::Components, of("ring"), OverFrames::Last).unwrap();
    assert_eq!(two.value, 2.0);
}

#[test]
fn what_only_touches_is_two_pieces_and_what_has_a_seam_is_one() {
    // Two boxes of two triangles a side that share a wall, vertex on vertex.
    let corner = |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2 & 1) as f32);
    let sides =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let walls = |shift: u32| {
        let halves = |q: [u32; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]];
        sides.into_iter().flat_map(halves).map(move |t: [u32; 3]| t.map(|v| v + shift))
    };
    let touching = |_: f64| {
        let positions = (0..8).map(corner).chain((0..8).map(|i| corner(i) + Vec3::X)).collect();
        let triangles = walls(0).chain(walls(8)).collect();
        meshes(vec![frisson::geometry::Mesh::new("a", positions, triangles)])
    };
    let count = |shot: &mut dyn frisson_io::FrameSource| {
        read(shot, Measure::Components, of("a"), OverFrames::Max).unwrap().value
    };
    assert_eq!(count(&mut Formula::new(1, 0, touching)), 2.0);
    // A sheet cut along the middle as at a uv seam: its vertices are there twice.
    let seam = |_: f64| {
        let (a, b) = (sheet("a", 4, 1.0), moved(sheet("a", 4, 1.0), Vec3::X));
        let shift = a.positions.len() as u32;
        let mut positions = a.positions.clone();
        positions.extend(&b.positions);
        let mut triangles = a.topology.triangles.clone();
        triangles.extend(b.topology.triangles.iter().map(|t| t.map(|v| v + shift)));
        meshes(vec![frisson::geometry::Mesh::new("a", positions, triangles)])
    };
    assert_eq!(count(&mut Formula::new(1, 0, seam)), 1.0);
}

#[test]
fn the_wall_of_a_hollow_is_no_piece() {
    let hollow = |_: f64| {
        let (outer, inner) = (ball("a", 1.0, 12), ball("a", 0.5, 12));
        let shift = outer.positions.len() as u32;
        let mut positions = outer.positions.clone();
        positions.extend(&inner.positions);
        let mut triangles = outer.topology.triangles.clone();
        let inward = inner.topology.triangles.iter().map(|t| [t[0], t[2], t[1]]);
        triangles.extend(inward.map(|t| t.map(|v| v + shift)));
        meshes(vec![frisson::geometry::Mesh::new("a", positions, triangles)])
    };
    let got = read(&mut Formula::new(1, 0, hollow), Measure::Components, of("a"), OverFrames::Max);
    assert_eq!(got.unwrap().value, 1.0);
}

#[test]
fn a_damped_swing_turns_and_dies_and_a_growing_one_grows() {
    let swing = |rate: f64| {
        move |t: f64| {
            let away = 0.05 * (rate * t).exp() * (TAU * 2.0 * t).cos();
            meshes(vec![moved(sheet("a", 2, 1.0), Vec3::X * away as f32)])
        }
    };
    // A swing of 2 Hz loses exp(-0.25) from turn to turn.
    let mut dying = Formula::new(120, 240, swing(-1.0));
    let turned = read(&mut dying, Measure::Reversals, of("a"), OverFrames::Last).unwrap();
    assert_eq!(turned.value, 1.0);
    let growth = read(&mut dying, Measure::Swings, of("a"), OverFrames::Last).unwrap();
    near(growth.value, (-0.25f64).exp(), 0.01);
    let mut growing = Formula::new(120, 240, swing(0.5));
    let growth = read(&mut growing, Measure::Swings, of("a"), OverFrames::Last).unwrap();
    near(growth.value, 0.125f64.exp(), 0.01);
}

#[test]
fn what_only_goes_one_way_does_not_reverse() {
    let creep = |t: f64| {
        // Noise of 0.2 mm on the way of a metre: below the millimetre that counts.
        let noise = 2e-4 * (TAU * 11.0 * t).sin();
        meshes(vec![moved(sheet("a", 2, 1.0), Vec3::X * (t + noise) as f32)])
    };
    let got = read(&mut Formula::new(60, 60, creep), Measure::Reversals, of("a"), OverFrames::Last);
    assert_eq!(got.unwrap().value, 0.0);
    let finer = Subject { above: Some(0.01), ..of("a") };
    let shaken = |t: f64| {
        let noise = 2e-4 * (TAU * 11.0 * t).sin();
        meshes(vec![moved(sheet("a", 2, 1.0), Vec3::X * noise as f32)])
    };
    let got = read(&mut Formula::new(60, 60, shaken), Measure::Reversals, finer, OverFrames::Last);
    assert_eq!(got.unwrap().value, 1.0);
}

#[test]
fn places_travel_loops_and_counts_are_what_they_say() {
    let turn = |t: f64| {
        let (s, c) = (TAU * t).sin_cos();
        let mut frame = meshes(vec![moved(sheet("a", 2, 1.0), Vec3::new(c as f32, s as f32, 0.0))]);
        frame.points = vec![points("p", &[(4, Vec3::X), (9, Vec3::Y)])];
        frame
    };
    let mut shot = Formula::new(20, 20, turn);
    near(read(&mut shot, Measure::Travel, of("a"), OverFrames::Max).unwrap().value, 2000.0, 0.01);
    near(read(&mut shot, Measure::Loop, of("a"), OverFrames::Last).unwrap().value, 0.0, 0.01);
    let half = Subject { frames: Some([0, 10]), ..of("a") };
    near(read(&mut shot, Measure::Loop, half, OverFrames::Last).unwrap().value, 2000.0, 0.01);
    near(read(&mut shot, Measure::Place, of("a"), OverFrames::Range).unwrap().value, 2.0, 1e-5);
    let wide = Subject { axis: Some([2.0, 0.0, 0.0]), of: Some(Statistic::Range), ..of("a") };
    near(read(&mut shot, Measure::Place, wide, OverFrames::Max).unwrap().value, 1.0, 1e-5);
    assert_eq!(read(&mut shot, Measure::Count, of("p"), OverFrames::Max).unwrap().value, 2.0);
    let above = Subject { within: Some([-9.0, 0.5, -9.0, 9.0, 9.0, 9.0]), ..of("p") };
    assert_eq!(read(&mut shot, Measure::Count, above, OverFrames::Max).unwrap().value, 1.0);
    // The half of the sheet that starts at x > 1 has its middle there too.
    let right = Subject {
        within: Some([1.1, -9.0, -9.0, 9.0, 9.0, 9.0]),
        axis: Some([1.0, 0.0, 0.0]),
        ..of("a")
    };
    near(read(&mut shot, Measure::Place, right, OverFrames::Last).unwrap().value, 1.5, 1e-5);
}

#[test]
fn points_keep_their_ids_when_others_come_and_go() {
    let run = |t: f64| {
        let at = |id: u64| (id, Vec3::new(0.1 * t as f32, 0.0, id as f32));
        let ids: &[u64] = if t < 0.5 { &[3, 5] } else { &[2, 5, 8] };
        let places: Vec<(u64, Vec3)> = ids.iter().map(|&id| at(id)).collect();
        Frame { points: vec![points("p", &places)], ..Frame::default() }
    };
    let mut shot = Formula::new(10, 10, run);
    near(read(&mut shot, Measure::Rest, of("p"), OverFrames::Max).unwrap().value, 100.0, 0.1);
}

#[test]
fn the_effect_of_a_layer_is_the_distance_to_the_bake_without_it() {
    let with = |t: f64| meshes(vec![moved(sheet("a", 8, 1.0), Vec3::Y * 0.02 * t as f32)]);
    let without = |_: f64| meshes(vec![sheet("a", 8, 1.0)]);
    // Another number of vertices: measured from surface to surface.
    let coarse = |_: f64| meshes(vec![sheet("a", 3, 1.0)]);
    let request = Request::new(Measure::Effect, of("a"));
    let mut shot = Formula::new(10, 10, with);
    let mut same = Formula::new(10, 10, without);
    let mut other = Formula::new(10, 10, coarse);
    let others: [&mut dyn frisson_io::FrameSource; 2] = [&mut same, &mut other];
    for other in others {
        let series =
            measure(&mut shot, Some(other), std::slice::from_ref(&request), &mut Silent).unwrap();
        near(series[0].over(OverFrames::Max).unwrap().value, 20.0, 1e-3);
        near(series[0].over(OverFrames::First).unwrap().value, 0.0, 1e-3);
    }
}

#[test]
fn bakes_at_two_rates_are_compared_at_common_times_only() {
    let fly = |shift: f32| {
        move |t: f64| meshes(vec![moved(sheet("a", 4, 1.0), Vec3::new(t as f32, shift, 0.0))])
    };
    let (mut a, mut b) = (Formula::new(24, 24, fly(0.0)), Formula::new(30, 30, fly(0.003)));
    let apart = compare_shots(&mut a, &mut b, &mut Silent).unwrap();
    // Common times of 24 and 30 frames a second are every sixth of a second.
    assert_eq!(apart[0].frames, 7);
    near(apart[0].rms, 3.0, 1e-3);
    near(apart[0].max, 3.0, 1e-3);
}

#[test]
fn half_of_a_picture_changes_when_half_of_the_sheet_does() {
    let flat = meshes(vec![sheet("a", 40, 1.0)]);
    assert_eq!(changed_share(&flat, &flat, None), 0.0);
    let mut bumpy = flat.clone();
    for p in bumpy.meshes[0].positions.iter_mut().filter(|p| p.x > 0.0) {
        p.y += 0.02 * (40.0 * p.z).sin();
    }
    let share = changed_share(&bumpy, &flat, None);
    assert!((0.35..0.6).contains(&share), "{share}");
    let empty = Frame::default();
    near(changed_share(&flat, &empty, None), 1.0, 0.0);
}

#[test]
fn a_surface_that_is_made_anew_in_every_frame_has_a_speed_too() {
    // Another number of vertices in every frame; the surface rises by 0.1 m/s, and slides by 0.7.
    let rise = |t: f64| {
        let cells = 40 + (t * 30.0).round() as u32 % 3;
        let way = Vec3::new(0.7, 0.1, 0.0) * t as f32;
        meshes(vec![moved(sheet("a", cells, 30.0), way)])
    };
    let inner = Subject { of: Some(Statistic::P50), ..of("a") };
    let got = read(&mut Formula::new(30, 20, rise), Measure::Rest, inner, OverFrames::Max);
    near(got.unwrap().value, 100.0, 0.1);
}
