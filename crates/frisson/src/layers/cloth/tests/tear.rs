//! Cloth that rips.

use super::*;
use crate::geometry::Topology;

const COLUMNS: u32 = 17;
const ROWS: u32 = 9;

/// A strip whose short sides are moved apart by `by` metres within half a second.
fn pulled_setup(by: f64, tear: Option<f64>) -> Setup {
    let mesh = sheet(COLUMNS, ROWS, (0.8, 0.4), Vec3::ZERO);
    let side = |column: u32, by: f64| ClothAttachment {
        vertices: Selection {
            vertices: Some((0..ROWS).map(|row| row * COLUMNS + column).collect()),
            ..Selection::default()
        },
        path: Some([Animated::Keys(vec![(0.0, 0.0), (60.0, by)]), 0.0.into(), 0.0.into()]),
        ..ClothAttachment::default()
    };
    let attachments = vec![side(0, -0.5 * by), side(COLUMNS - 1, 0.5 * by)];
    let p = ClothParams { attachments, tear, damping: 1.0, ..params() };
    setup(vec![still("sheet", mesh)], &[], weightless(), p)
}

fn pulled(by: f64, tear: Option<f64>) -> Scene {
    Scene { simulator: Simulator::new(pulled_setup(by, tear)).unwrap() }
}

/// Pieces of the shown mesh, by its triangles alone.
fn pieces(mesh: &Mesh) -> usize {
    let topology = Topology::unwelded(mesh.positions.len(), &mesh.topology.triangles);
    let (component, _) = topology.components();
    let used = mesh.topology.triangles.iter().flatten().map(|&v| component[v as usize]);
    used.collect::<std::collections::BTreeSet<u32>>().len()
}

#[test]
fn a_strip_that_is_drawn_out_too_far_comes_apart() {
    let mut scene = pulled(0.4, Some(1.1));
    scene.ticks(1);
    assert_eq!(pieces(&scene.frame().meshes[0]), 1);
    scene.ticks(119);
    let mesh = &scene.frame().meshes[0];
    assert!(pieces(mesh) >= 2, "the ends are half as far apart again as the strip is long");
    assert_eq!(mesh.topology.vertex_count, mesh.positions.len());
    assert_eq!(mesh.velocities.len(), mesh.positions.len());
    // Both ends are still where they are held.
    let [left, right] = [0, COLUMNS - 1].map(|v| mesh.positions[v as usize].x);
    assert!((left + 0.2).abs() < 1e-5 && (right - 1.0).abs() < 1e-5, "{left} {right}");
    // What has come apart is no longer drawn out.
    let worst = scene.strains().into_iter().fold(0.0, f64::max);
    assert!(worst < 0.1, "{worst}");
    let tears = &scene.state().tears;
    assert!(!tears.is_empty() && tears.are_of(&scene.cloth().rest().whole.as_ref().unwrap().mesh));
}

#[test]
fn what_is_not_drawn_out_that_far_is_the_cloth_it_was() {
    let (mut can, mut cannot) = (pulled(0.04, Some(1.2)), pulled(0.04, None));
    can.ticks(90);
    cannot.ticks(90);
    assert!(can.state().tears.is_empty());
    assert_eq!(can.positions(), cannot.positions());
}

#[test]
fn ripping_cloth_has_the_same_bits_for_any_number_of_threads_and_after_a_resume() {
    let mut setup = pulled_setup(0.4, Some(1.1));
    setup.clock.rate = Rate::whole(30);
    // Keys count frames: a quarter of them.
    if let LayerParams::Cloth(params) = &mut setup.layers[0] {
        params.self_collision = true;
        for attachment in &mut params.attachments {
            let path = attachment.path.as_mut().unwrap();
            let Animated::Keys(keys) = &mut path[0] else { unreachable!("keys") };
            keys.iter_mut().for_each(|key| key.0 /= 4.0);
        }
    }
    let mut simulator = Simulator::new(setup.clone()).unwrap();
    for _ in 0..9 {
        simulator.advance_frame(&mut crate::stage::NoObserver).unwrap();
    }
    let torn = simulator.frame().meshes[0].positions.len();
    assert!(torn > (COLUMNS * ROWS) as usize, "it rips within the frames that are compared");
    check_same_bits::<ClothLayer>(&setup, 18);
}

#[test]
fn a_state_with_foreign_tears_is_refused() {
    let mut torn = pulled(0.4, Some(1.1));
    torn.ticks(120);
    assert!(!torn.state().tears.is_empty());
    let saved = torn.simulator.save().unwrap();
    assert!(pulled(0.4, Some(1.1)).simulator.load(&saved).is_ok());
    assert!(pulled(0.4, None).simulator.load(&saved).is_err(), "this cloth cannot tear");
    torn.state_mut().tears.triangles[0][0] = 1_000_000;
    let saved = torn.simulator.save().unwrap();
    assert!(pulled(0.4, Some(1.1)).simulator.load(&saved).is_err(), "no such vertex");
}

#[test]
fn what_cannot_tear_is_said() {
    let refused = |change: fn(&mut ClothParams)| {
        let mut p = ClothParams { tear: Some(1.2), ..params() };
        change(&mut p);
        p.validate().unwrap_err().to_string()
    };
    assert!(refused(|p| p.tear = Some(1.0)).contains("greater than 1"));
    assert!(refused(|p| p.pressure = Some(1.0.into())).contains("pressure"));
    assert!(refused(|p| p.crease_radius = Some(0.01)).contains("crease_radius"));
}
