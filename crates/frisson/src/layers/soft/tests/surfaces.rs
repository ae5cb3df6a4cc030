//! Tools, bulges, paint, contact surfaces, necks.

use super::*;

#[test]
fn a_mesh_is_a_tool_like_the_plane_it_looks_like() {
    // A block whose upper face is the floor.
    let corner = |i: u32| {
        let side = |bit: u32| if i >> bit & 1 == 1 { 0.6 } else { -0.6 };
        Vec3::new(side(0), side(1) - 0.6, side(2))
    };
    let quads =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|q: &[u32; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
    let mut frame = Frame::default();
    let block =
        crate::geometry::Mesh::new("block", (0..8).map(corner).collect(), triangles.collect());
    frame.meshes.push(block);
    let free = || SoftObject { free: true, ..ball("a", [0.02, 0.12, 0.01], 0.1) };
    let mut params = SoftParams::new("on_block", vec![free()]);
    params.tools = Some(vec!["block".to_owned()]);
    let mut on_block = Rig::try_in(params, ColliderSet::default(), 9.81, frame).unwrap();
    assert!(on_block.layer.needs_surfaces_between_frames());
    let mut on_plane =
        Rig::try_new(SoftParams::new("on_plane", vec![free()]), floor(), 9.81).unwrap();
    for _ in 0..240 {
        on_block.tick();
        on_plane.tick();
    }
    let height = |r: &Rig| r.state().bodies[0].position.y;
    assert!((height(&on_block) - height(&on_plane)).abs() < 1e-3, "{}", height(&on_block));
    assert!(height(&on_block) < 0.1 && on_block.scratch().contacts.count > 0);
    let mut unknown = SoftParams::new("x", vec![free()]);
    unknown.tools = Some(vec!["blok".to_owned()]);
    assert!(Rig::try_new(unknown, floor(), 0.0).is_err());
}

#[test]
fn a_bulge_rises_beside_a_contact_and_leaves_the_contact_alone() {
    let run = |bulge: f64| {
        let at = |x: f64| [x, 0.0, 0.0];
        let mut params =
            SoftParams::new("pair", vec![ball("a", at(-0.08), 0.1), ball("b", at(0.08), 0.1)]);
        params.bulge = bulge;
        params.volume_time = 0.0;
        params.cell = Some(0.01);
        let mut rig = Rig::new(params);
        for _ in 0..60 {
            rig.tick();
        }
        let force = rig.state().bodies[1].force.x;
        (rig.show().meshes[0].clone(), force)
    };
    let ((plain, force), (bulged, same)) = (run(0.0), run(1.0));
    closed_manifold(&bulged);
    assert!((force / same - 1.0).abs() < 1e-6, "{force} {same}");
    // Girth where the zone is.
    let girth = |m: &crate::geometry::Mesh| {
        let near = m.positions.iter().filter(|p| (-0.05..-0.01).contains(&p.x));
        near.map(|p| p.y.hypot(p.z)).fold(0.0, f32::max)
    };
    assert!(girth(&bulged) > girth(&plain) + 1e-3, "{} {}", girth(&bulged), girth(&plain));
    let furthest =
        |m: &crate::geometry::Mesh| m.positions.iter().map(|p| p.x).fold(f32::MIN, f32::max);
    // 0.26 mm where a vertex of the rim has gone back, a fortieth of a cell.
    assert!(furthest(&bulged) < 5e-4, "{}", furthest(&bulged));
}

#[test]
fn colours_and_texture_coordinates_follow_the_primitives() {
    let mut object = SoftObject::new("stick", 0.05);
    object.primitives = vec![
        PrimitiveParams {
            segment: Some([[0.0; 3], [0.4, 0.0, 0.0]]),
            uv: Some([[0.0, 0.25], [1.0, 0.75]]),
            color: Some([1.0, 0.0, 0.0]),
            ..PrimitiveParams::default()
        },
        PrimitiveParams {
            segment: Some([[0.4, 0.0, 0.0], [0.8, 0.0, 0.0]]),
            uv: Some([[1.0, 0.75], [2.0, 0.25]]),
            color: Some([0.0, 0.0, 1.0]),
            ..PrimitiveParams::default()
        },
    ];
    let mut rig = Rig::new(SoftParams::new("stick", vec![object]));
    let mesh = &rig.show().meshes[0];
    assert_eq!(mesh.topology.uvs.len(), mesh.positions.len());
    for ((p, uv), color) in mesh.positions.iter().zip(&mesh.topology.uvs).zip(&mesh.topology.colors)
    {
        let expected = (p.x / 0.4).clamp(0.0, 2.0);
        assert!((uv.x - expected).abs() < 0.2, "{p} {uv}");
        let [red, _, blue, _] = *color;
        assert!((red + blue - 1.0).abs() < 1e-5);
        assert!(p.x > 0.25 || red > 0.95, "{p} {color:?}");
        assert!(p.x < 0.55 || blue > 0.95, "{p} {color:?}");
    }
}

#[test]
fn rims_lie_on_both_surfaces_however_stiff_one_of_them_is() {
    // Two balls, and a stick that touches both: three rims that meet in two points.
    let (centers, radii) = ([[-0.085, 0.0, 0.0], [0.06, 0.01, 0.0]], [0.1, 0.07]);
    let mut stiff = ball("b", centers[1], radii[1]);
    (stiff.stiffness, stiff.support) = (2e7, Some(0.09));
    let stick = SoftObject {
        primitives: vec![PrimitiveParams {
            segment: Some([[-0.1, 0.11, 0.02], [0.12, 0.1, 0.02]]),
            ..PrimitiveParams::default()
        }],
        ..SoftObject::new("c", 0.04)
    };
    let mut params = SoftParams::new("three", vec![ball("a", centers[0], radii[0]), stiff, stick]);
    (params.volume_time, params.cell) = (0.0, Some(0.008));
    let mut rig = Rig::new(params);
    let frame = rig.show().clone();
    let key = |p: &Vec3| p.to_array().map(f32::to_bits);
    let sets: Vec<std::collections::BTreeSet<[u32; 3]>> =
        frame.meshes.iter().map(|m| m.positions.iter().map(key).collect()).collect();
    // How far a place is from the free surface of each body.
    let fields = &rig.scratch().fields;
    let off = |body: usize, at: &Vec3| {
        let away = fields.field_of(body, at.as_dvec3()).2.length();
        (away - fields.primitives[body].profile.thickness).abs()
    };
    for (body, mesh) in frame.meshes.iter().enumerate() {
        closed_manifold(mesh);
        let sharers = |v: u32| {
            let k = key(&mesh.positions[v as usize]);
            (0..3).filter(|&o| o != body && sets[o].contains(&k)).collect::<Vec<_>>()
        };
        let (mut rim, mut furthest) = (0, Vec::new());
        for t in &mesh.topology.triangles {
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                let others = sharers(a);
                if others.len() == 1 && sharers(b).is_empty() {
                    let at = &mesh.positions[a as usize];
                    // Lines end where all three meet.
                    if off(3 - body - others[0], at) < 0.016 {
                        continue;
                    }
                    rim += 1;
                    furthest.push(off(body, at).max(off(others[0], at)) / 0.008);
                }
            }
        }
        // A vertex now and then has no rim within a cell.
        let bad: Vec<&f64> = furthest.iter().filter(|f| **f > 0.05).collect();
        assert!(rim > 50 && bad.len() * 10 <= rim, "{}: {} of {rim} {bad:?}", mesh.name, bad.len());
    }
}

#[test]
fn seeds_make_a_preview_whose_triangles_stay() {
    let moved = Animated::Keys(vec![(0.0, 0.0), (30.0, -0.06)]);
    let none = PrimitiveParams::default;
    let object = SoftObject {
        primitives: vec![
            PrimitiveParams { move_x: moved, ..point([0.3, 0.0, 0.0]) },
            PrimitiveParams { segment: Some([[0.0; 3], [0.2, 0.0, 0.0]]), ..none() },
            PrimitiveParams {
                triangle: Some([[0.0, 0.3, 0.0], [0.3, 0.3, 0.0], [0.1, 0.5, 0.1]]),
                ..none()
            },
            PrimitiveParams {
                polyline: Some(vec![[0.0, -0.3, 0.0], [0.2, -0.3, 0.0], [0.2, -0.3, 0.2]]),
                ..none()
            },
        ],
        ..SoftObject::new("parts", 0.05)
    };
    let build = |surface: SoftSurface| {
        let mut params =
            SoftParams::new("parts", vec![object.clone(), ball("b", [0.37, 0.0, 0.0], 0.05)]);
        (params.surface, params.seeds, params.volume_time) = (surface, 300, 0.0);
        Rig::new(params)
    };
    let (mut rig, mut fine) = (build(SoftSurface::Seeds), build(SoftSurface::Extracted));
    let first = rig.show().meshes[1].topology.clone();
    for _ in 0..30 {
        rig.tick();
        fine.tick();
    }
    let (preview, extracted) = (rig.show().clone(), fine.show().clone());
    assert!(std::sync::Arc::ptr_eq(&first, &preview.meshes[1].topology));
    let names = |f: &Frame| f.meshes.iter().map(|m| m.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&preview), names(&extracted));
    for (mesh, fine) in preview.meshes.iter().zip(&extracted.meshes) {
        closed_manifold(mesh);
        let volume = |m: &crate::geometry::Mesh| -> f32 {
            let corner = |t: &[u32; 3]| t.map(|v| m.positions[v as usize]);
            let six = |[a, b, c]: [Vec3; 3]| a.dot(b.cross(c));
            m.topology.triangles.iter().map(|t| six(corner(t))).sum::<f32>() / 6.0
        };
        // Corners cut off, and nothing else.
        let ratio = volume(mesh) / volume(fine);
        assert!((0.9..1.0).contains(&ratio), "{}: {ratio}", mesh.name);
        let used =
            mesh.topology.triangles.iter().flatten().collect::<std::collections::BTreeSet<_>>();
        assert_eq!(used.len(), mesh.positions.len(), "seeds without triangles");
        assert!(mesh.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-3));
    }
    let mut wrong = SoftParams::new("x", vec![object]);
    (wrong.surface, wrong.contacts) = (SoftSurface::Seeds, true);
    assert!(wrong.validate().unwrap_err().to_string().contains("preview"));
}

#[test]
fn contact_surfaces_are_written_once_with_their_pressure() {
    let mut params = SoftParams::new(
        "pair",
        vec![ball("a", [-0.08, 0.0, 0.0], 0.1), ball("b", [0.08, 0.0, 0.0], 0.1)],
    );
    params.contacts = true;
    params.volume_time = 0.0;
    let mut rig = Rig::new(params);
    let frame = rig.show();
    let contacts = &frame.meshes[frame.mesh_index("pair/contacts").unwrap()];
    let pressure = contacts.scalar("pressure").unwrap();
    // Single vertices of the rim have gone back from it, where an edge would cut through.
    let on_plane = |p: &Vec3| p.x.abs() < 1e-4;
    let off = contacts.positions.iter().filter(|p| !on_plane(p)).count();
    assert!(off * 9 <= contacts.positions.len(), "{off} of {}", contacts.positions.len());
    assert!(contacts.positions.iter().all(|p| p.x.abs() < 5e-3));
    // p = k (e - r) on the plane between two equal balls.
    for (p, value) in contacts.positions.iter().zip(pressure).filter(|(p, _)| on_plane(p)) {
        let expected = 1e6 * (0.1 - p.distance(Vec3::new(-0.08, 0.0, 0.0)));
        assert!((value - expected).abs() < 200.0, "{value} {expected}");
    }
    let area: f32 = contacts
        .topology
        .triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| contacts.positions[v as usize]);
            0.5 * (b - a).cross(c - a).length()
        })
        .sum();
    let disc = std::f32::consts::PI * (0.01 - 0.0064);
    // What both share ends up to 0.6 cells within the rim: the ring beyond it belongs to one body each.
    assert!((0.85..1.01).contains(&(area / disc)), "{}", area / disc);
}

#[test]
fn a_torn_dough_necks_first() {
    // A bar drawn out by its ends, slowly.
    let mut object = SoftObject::new("bar", 0.03);
    object.stiffness = 3e5;
    let half = [0.16, 0.035, 0.035];
    object.dough =
        Some(DoughParams { block: Some([[0.0; 3], half]), range: 2.0, ..DoughParams::default() });
    let mut params = SoftParams::new("bar", vec![object]);
    params.seeds = 32;
    let mut rig = Rig::new(params);
    let ends: Vec<(usize, f64)> = (0..rig.rest().primitives.len())
        .map(|i| (i, rig.scratch().fields.points[i].x))
        .filter(|(_, x)| x.abs() > 0.11)
        .collect();
    // The thinnest place between the ends that are held.
    let waist = |rig: &mut Rig, way: f32| {
        let mesh = &rig.show().meshes[0];
        let half = 0.11 + way;
        let mut bins = vec![0.0f32; (2.0 * half / 0.012) as usize];
        let count = bins.len();
        for p in mesh.positions.iter().filter(|p| p.x.abs() < half) {
            let bin = ((p.x + half) / (2.0 * half) * count as f32) as usize;
            let bin = &mut bins[bin.min(count - 1)];
            *bin = bin.max(p.y.hypot(p.z));
        }
        bins.into_iter().fold(f32::INFINITY, f32::min)
    };
    let first = waist(&mut rig, 0.0);
    let mut thinnest = first;
    let mut torn = None;
    for tick in 1..=400 {
        rig.tick();
        let way = 0.0008 * f64::from(tick);
        for &(i, x) in &ends {
            let body = &mut rig.state_mut().bodies[i];
            body.position.x = x + way * x.signum();
            body.velocity = DVec3::X * (0.096 * x.signum());
        }
        if tick % 5 == 0 {
            let now = waist(&mut rig, way as f32);
            if now > 0.0 {
                thinnest = thinnest.min(now);
            }
        }
        if rig.state().piece_count() > 1 {
            torn = Some(tick);
            break;
        }
    }
    let torn = torn.expect("it never tore");
    assert!(torn > 60, "it snapped after {torn} ticks");
    assert!(thinnest < 0.75 * first, "no neck: {thinnest} of {first}");
    let volume = rig.state().volume() / rig.state().rest_volume();
    assert!((volume - 1.0).abs() < 0.1, "{volume}");
}
