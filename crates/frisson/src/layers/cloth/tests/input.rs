//! Bad parameters, odd meshes, random motion.

use super::*;

#[test]
fn bad_input_is_refused_by_name() {
    let build = |change: &dyn Fn(&mut ClothParams)| {
        let mut p = params();
        change(&mut p);
        let actors = vec![still("sheet", sheet(4, 4, (1.0, 1.0), Vec3::ZERO))];
        match Scene::build(actors, &[], gravity(), p) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    let held = |vertices: Vec<u32>, joint: &str| ClothAttachment {
        vertices: Selection { vertices: Some(vertices), ..Selection::default() },
        joint: Some(joint.to_owned()),
        ..ClothAttachment::default()
    };
    let says = |change: &dyn Fn(&mut ClothParams), words: &str| {
        let message = build(change);
        assert!(message.contains(words), "{message:?} does not say {words:?}");
    };
    assert_eq!(build(&|_| ()), "");
    says(&|p| p.density = Some(0.0), "density");
    says(&|p| p.density = Some(-0.2), "density");
    says(&|p| p.stretch = Some(f64::NAN), "stretch");
    says(&|p| p.on = "shete".to_owned(), "did you mean \"sheet\"");
    says(&|p| p.pressure = Some(1.2.into()), "open");
    says(&|p| p.pins = pinned([99]), "vertex 99");
    says(&|p| p.bodies = vec!["boddy".to_owned()], "bodies[0]");
    says(&|p| p.bodies = vec!["sheet".to_owned()], "self_collision");
    says(&|p| p.colliders = Some(vec!["ball".to_owned()]), "collider");
    says(&|p| p.attachments = vec![held(vec![0], "sheet/hand")], "no joints");
    says(&|p| p.attachments = vec![held(vec![0], "hand")], "actor/joint");
    says(&|p| p.attachments = vec![held(vec![99], "sheet/hand")], "vertex 99");
    says(&|p| p.attachments = vec![ClothAttachment::default()], "exactly one");
    says(&|p| p.threads = Threads::Uv, "uv");
    says(&|p| p.substeps = Some(0), "substeps");
    let seam = |vertex, bend| {
        let vertices = Selection { vertices: Some(vec![vertex]), ..Selection::default() };
        vec![ClothSeam { vertices, bend, weight: 2.0 }]
    };
    says(&|p| p.seams = seam(0, f64::NAN), "seams[0].bend");
    says(&|p| p.seams = seam(99, 8.0), "seams[0]");
}

#[test]
fn odd_meshes_are_simulated_with_a_warning() {
    let mut mesh = sheet(5, 5, (1.0, 1.0), Vec3::ZERO);
    let mut triangles = mesh.topology.triangles.clone();
    triangles.push([0, 1, 2]); // No area.
    triangles.push([6, 7, 12]); // Turned over on an existing one, and a third on an edge.
    triangles.push([7, 6, 13]);
    mesh = Mesh::new("sheet", mesh.positions, triangles);
    let p = ClothParams { pins: pinned([0]), self_collision: true, ..params() };
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], gravity(), p).unwrap();
    scene.ticks(120);
    let warnings = scene.warnings().join("\n");
    assert!(warnings.contains("no area"), "{warnings}");
    assert!(warnings.contains("more than two triangles"), "{warnings}");
    assert!(scene.positions().iter().all(|p| p.is_finite() && p.length() < 20.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn nothing_ever_stops_being_finite(
        seed in 0u64..1000,
        stretch in 1.0f64..1e7,
        bend in 0.0f64..1.0,
        density in 0.001f64..50.0,
        kick in 0.0f64..200.0,
        tension_only: bool,
    ) {
        let mut mesh = sheet(8, 8, (1.0, 1.0), Vec3::new(-0.5, 0.3, -0.5));
        for (n, p) in mesh.positions.iter_mut().enumerate() {
            let r = |k| 0.2 * crate::math::random::signed(seed, n as u64, k) as f32;
            *p += Vec3::new(r(0), r(1), r(2));
        }
        let p = ClothParams {
            stretch: Some(stretch),
            bend: Some(bend),
            density: Some(density),
            tension_only,
            self_collision: true,
            pins: pinned([0, 7]),
            ..ClothParams::new("cloth", "sheet")
        };
        let mut scene =
            Scene::build(vec![still("sheet", mesh)], &[ball([0.0; 3], 0.3)], gravity(), p).unwrap();
        for (n, v) in scene.state_mut().velocities.iter_mut().enumerate() {
            let r = |k| kick * crate::math::random::signed(seed, n as u64, k);
            *v = DVec3::new(r(3), r(4), r(5));
        }
        scene.ticks(30);
        prop_assert!(scene.positions().iter().all(|p| p.is_finite()));
    }
}
