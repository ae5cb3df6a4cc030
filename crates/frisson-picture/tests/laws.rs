//! Pictures against what optics and geometry say they must be.

use frisson::geometry::{Material, Mesh};
use frisson::stage::{Curves, Frame};
use frisson_picture::environment::Environment;
use frisson_picture::{
    Camera, Film, Framing, GroundChoice, Look, PictureError, RenderOptions, Scene, View, render,
    render_film, render_motion, stock,
};
use glam::{Vec3, Vec3A};

fn furnace() -> Look {
    Look {
        environment: Environment::uniform(Vec3A::ONE),
        ground: GroundChoice::None,
        backdrop: None,
        ..Look::studio()
    }
}

fn white(roughness: f32, metallic: f32) -> Material {
    Material { base_color: [1.0; 4], roughness, metallic, ..Material::default() }
}

fn frame(meshes: Vec<Mesh>) -> Frame {
    Frame { meshes, ..Frame::default() }
}

fn film(frame: &Frame, look: &Look, options: &RenderOptions) -> Film {
    let mut framing = Framing::new(View::default(), options.aspect());
    framing.add(frame);
    let scene = Scene::from_frame(frame, look).unwrap();
    render_film(&scene, &framing.camera().unwrap(), options).unwrap()
}

fn small() -> RenderOptions {
    RenderOptions { samples: 4, ..RenderOptions::preview(96, 54) }
}

fn assert_invisible(film: &Film, tolerance: f32) {
    for (i, pixel) in film.pixels.iter().enumerate() {
        let error = (pixel.radiance() - Vec3A::ONE).abs().max_element();
        assert!(error < tolerance, "pixel {i}: {:?}", pixel.radiance());
    }
}

#[test]
fn a_white_ball_under_uniform_light_disappears() {
    for (roughness, metallic) in [(1.0, 0.0), (0.5, 0.0), (0.1, 0.0), (0.4, 1.0), (0.05, 1.0)] {
        let ball = stock::ball("b", Vec3::ZERO, 0.5, 20, 40, white(roughness, metallic));
        assert_invisible(&film(&frame(vec![ball]), &furnace(), &small()), 2e-3);
    }
}

#[test]
fn a_white_bowl_under_uniform_light_disappears() {
    // Hollow: light is scattered many times between its walls.
    let bowl = stock::lathe("bowl", 24, 40, white(1.0, 0.0), |s| {
        let angle = std::f32::consts::PI * s;
        let inner = if s > 0.5 { 0.9 } else { 1.0 };
        (inner * angle.sin(), -(angle.sin() * inner).powi(2).mul_add(-0.6, 0.6))
    });
    for bounces in [1, 6] {
        let options = RenderOptions { bounces, ..small() };
        assert_invisible(&film(&frame(vec![bowl.clone()]), &furnace(), &options), 2e-3);
    }
}

#[test]
fn clear_glass_under_uniform_light_disappears() {
    let glass = Material { transmission: 1.0, ior: 1.5, ..white(0.0, 0.0) };
    let ball = stock::ball("b", Vec3::ZERO, 0.5, 40, 80, glass);
    assert_invisible(&film(&frame(vec![ball]), &furnace(), &small()), 2e-3);
}

/// A square of two triangles that faces the camera on the z axis.
fn pane(color: [f32; 4]) -> Mesh {
    let glass = Material { base_color: color, transmission: 1.0, ior: 1.5, ..white(0.0, 0.0) };
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let corners = corners.map(|(x, y)| Vec3::new(x, y, 0.0)).to_vec();
    let mut mesh = Mesh::new("pane", corners, vec![[0, 1, 2], [0, 2, 3]]);
    std::sync::Arc::make_mut(&mut mesh.topology).materials = vec![glass];
    mesh
}

#[test]
fn a_pane_mirrors_at_both_faces_and_tints_what_goes_straight_through() {
    let scene = Scene::from_frame(&frame(vec![pane([0.5, 0.8, 1.0, 1.0])]), &furnace()).unwrap();
    let camera = Camera::look_at(Vec3::new(0.0, 0.0, 20.0), Vec3::ZERO, 1.0).unwrap();
    let options = RenderOptions { samples: 16, ..RenderOptions::preview(21, 21) };
    let middle = render_film(&scene, &camera, &options).unwrap().pixels[10 * 21 + 10].radiance();
    // One face sends 4 % back; of what the other sends back, 4 % stays within.
    let share = 2.0 * 0.04 / 1.04;
    for (channel, color) in [0.5, 0.8, 1.0].into_iter().enumerate() {
        let expected = share + (1.0 - share) * color;
        assert!((middle[channel] - expected).abs() < 1e-3, "{channel}: {middle} {expected}");
    }
}

#[test]
fn what_is_behind_a_pane_stays_where_it_is() {
    // Through a body of the same index the edge of the ball would be seen elsewhere.
    let ball = || stock::ball("b", Vec3::new(0.0, 0.0, -2.0), 0.4, 40, 80, white(1.0, 0.0));
    let look = Look { environment: Environment::uniform(Vec3A::splat(0.5)), ..furnace() };
    let camera =
        Camera::look_at(Vec3::new(3.0, 0.0, 4.0), Vec3::new(0.0, 0.0, -2.0), 12.0).unwrap();
    let options = RenderOptions { samples: 16, ..RenderOptions::preview(60, 60) };
    let black = Material { base_color: [0.0, 0.0, 0.0, 1.0], ior: 1.0, ..white(1.0, 0.0) };
    let seen = |meshes: Vec<Mesh>| {
        let mut look = look.clone();
        look.materials.insert("b".to_owned(), black.clone());
        let scene = Scene::from_frame(&frame(meshes), &look).unwrap();
        let film = render_film(&scene, &camera, &options).unwrap();
        film.pixels.iter().filter(|p| p.radiance().x < 0.25).count()
    };
    let (bare, behind) = (seen(vec![ball()]), seen(vec![ball(), pane([1.0; 4])]));
    assert!(bare > 300, "{bare}");
    assert!(bare.abs_diff(behind) < 12, "{bare} {behind}");
}

#[test]
fn coloured_glass_absorbs_along_its_thickness() {
    // Straight through the middle of a ball: Beer's law over its diameter, and two boundaries.
    let absorption = [0.5, 2.0, 5.0];
    let glass = Material { transmission: 1.0, ior: 1.33, absorption, ..white(0.0, 0.0) };
    let ball = stock::ball("b", Vec3::ZERO, 0.5, 200, 400, glass);
    let scene = Scene::from_frame(&frame(vec![ball]), &furnace()).unwrap();
    let camera = Camera::look_at(Vec3::new(0.0, 0.0, 40.0), Vec3::ZERO, 1.0).unwrap();
    let options = RenderOptions { samples: 512, detail: 1, ..RenderOptions::preview(21, 21) };
    let film = render_film(&scene, &camera, &options).unwrap();
    let middle = film.pixels[10 * 21 + 10].radiance();
    let through = frisson_picture::optics::fresnel(1.0, 1.0, 1.33);
    for channel in 0..3 {
        let e = (-absorption[channel]).exp();
        // Light reflected inside makes more passes: a geometric series.
        let r = through;
        let expected = r + (1.0 - r) * (1.0 - r) * e / (1.0 - r * e);
        assert!((middle[channel] - expected).abs() < 0.01, "{channel}: {middle} {expected}");
    }
}

#[test]
fn a_lambertian_plane_returns_the_lamps_irradiance() {
    let mut look = furnace();
    look.environment = Environment::uniform(Vec3A::ZERO);
    let direction = Vec3A::new(0.3, 0.8, 0.2).normalize();
    look.environment.lamps = vec![frisson_picture::environment::Lamp {
        direction,
        radius: 0.01,
        irradiance: Vec3A::splat(std::f32::consts::PI),
    }];
    look.lamps_follow_camera = false;
    look.ground = GroundChoice::At(0.0);
    look.ground_color = Vec3A::splat(0.5);
    let ball = stock::ball("b", Vec3::new(0.0, 50.0, 0.0), 0.1, 8, 8, white(1.0, 0.0));
    let scene = Scene::from_frame(&frame(vec![ball]), &look).unwrap();
    let camera =
        Camera::look_at(Vec3::new(0.05, 3.0, 0.0), Vec3::new(0.05, 0.0, 0.01), 10.0).unwrap();
    let film = render_film(&scene, &camera, &small()).unwrap();
    let expected = 0.5 * direction.y;
    let mean: f32 =
        film.pixels.iter().map(|p| p.radiance().x).sum::<f32>() / film.pixels.len() as f32;
    // The ball's own shadow is somewhere else.
    assert!((mean - expected).abs() < 2e-3, "{mean} {expected}");
}

#[test]
fn a_dense_plate_far_above_a_place_absorbs_by_its_thickness_alone() {
    // Fifty metres of it would be more than a number holds, there and back.
    let (high, thick, absorption) = (50.0, 0.01, 60.0f32);
    let corner = |i: u32| {
        let side = |bit: u32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
        Vec3::new(side(0), if i >> 1 & 1 == 0 { high } else { high + thick }, side(2))
    };
    let faces =
        [[0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    let mut plate = Mesh::new("plate", (0..8).map(corner).collect(), triangles);
    let absorption_of = [absorption; 3];
    let glass =
        Material { transmission: 1.0, ior: 1.0, absorption: absorption_of, ..white(0.0, 0.0) };
    std::sync::Arc::make_mut(&mut plate.topology).materials = vec![glass];
    let mut look = furnace();
    look.environment = Environment::uniform(Vec3A::ZERO);
    let irradiance = Vec3A::splat(std::f32::consts::PI);
    look.environment.lamps =
        vec![frisson_picture::environment::Lamp { direction: Vec3A::Y, radius: 1e-4, irradiance }];
    look.lamps_follow_camera = false;
    look.ground = GroundChoice::At(0.0);
    look.ground_color = Vec3A::splat(0.5);
    let scene = Scene::from_frame(&frame(vec![plate]), &look).unwrap();
    let camera =
        Camera::look_at(Vec3::new(0.05, 3.0, 0.0), Vec3::new(0.05, 0.0, 0.01), 1.0).unwrap();
    let film = render_film(&scene, &camera, &small()).unwrap();
    let expected = 0.5 * (-absorption * thick).exp();
    for pixel in &film.pixels {
        let found = pixel.radiance().x;
        assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
    }
}

#[test]
fn a_ball_covers_the_area_of_its_silhouette() {
    let distance = 4.0f32;
    let ball = stock::ball("b", Vec3::ZERO, 1.0, 128, 256, white(1.0, 0.0));
    let scene = Scene::from_frame(&frame(vec![ball]), &furnace()).unwrap();
    let camera = Camera::look_at(Vec3::new(0.0, 0.0, distance), Vec3::ZERO, 60.0).unwrap();
    let options = RenderOptions { samples: 16, ..RenderOptions::preview(160, 160) };
    let film = render_film(&scene, &camera, &options).unwrap();
    let covered: f32 = film.pixels.iter().map(|p| p.coverage).sum();
    // The cone that touches the ball cuts the picture in a circle of slope tan(asin(r / d)).
    let radius = (1.0 / distance).asin().tan() / (30f32.to_radians()).tan() * 80.0;
    let expected = std::f32::consts::PI * radius * radius;
    assert!((covered / expected - 1.0).abs() < 2e-3, "{covered} {expected}");
}

/// Parallel strands that cover a known share of the view.
fn comb(share: f32) -> Curves {
    let spacing = 0.01;
    let mut curves = Curves { name: "comb".into(), ..Curves::default() };
    for i in -120..120 {
        let x = (i as f32 + 0.31) * spacing;
        for y in [-2.0f32, -0.5, 0.5, 2.0] {
            curves.points.push(Vec3::new(x, y, 0.0));
            curves.widths.push(share * spacing);
        }
        curves.counts.push(4);
        curves.ids.push((i + 120) as u64);
    }
    curves
}

#[test]
fn hair_coverage_does_not_depend_on_the_pattern() {
    // Strands in one pixel are taken to lie there at random: where many do, some hide behind others.
    for share in [0.03f32, 0.3] {
        let (least, most) = (1.0 - (-share).exp(), share);
        let means = coverages(share);
        let inside = |m: &f32| *m > least - 0.02 * share && *m < most + 0.02 * share;
        assert!(means.iter().all(inside), "{means:?} not in {least} to {most}");
        assert!(means.iter().all(|m| (m - means[0]).abs() < 1e-4), "{means:?}");
    }
}

/// Mean coverage of a comb of strands thinner than a pixel, for several sample patterns.
fn coverages(share: f32) -> Vec<f32> {
    let frame = Frame { curves: vec![comb(share)], ..Frame::default() };
    let scene = Scene::from_frame(&frame, &furnace()).unwrap();
    let camera = Camera::look_at(Vec3::new(0.0, 0.0, 30.0), Vec3::ZERO, 2.0).unwrap();
    let patterns = [(0, 4, 1), (1, 4, 3), (7, 8, 1), (3, 16, 1), (4, 3, 4)];
    let mean = |(seed, samples, detail): (u32, u32, u32)| {
        let options = RenderOptions { samples, seed, detail, ..RenderOptions::preview(64, 64) };
        let film = render_film(&scene, &camera, &options).unwrap();
        film.pixels.iter().map(|p| p.coverage).sum::<f32>() / 4096.0
    };
    patterns.into_iter().map(mean).collect()
}

fn everything() -> Frame {
    let skin = Material { base_color: [0.7, 0.4, 0.3, 1.0], ..Material::default() };
    let mut head = stock::ball("head", Vec3::new(0.0, 0.3, 0.0), 0.1, 24, 48, skin);
    head.velocities = vec![Vec3::X; head.positions.len()];
    let brown = Vec3::new(0.2, 0.1, 0.04);
    let style = stock::BallHair { strands: 400, points: 12, length: 0.2, color: brown };
    let hair = stock::hair_ball("hair", Vec3::new(0.0, 0.3, 0.0), 0.1, style);
    let drop = stock::ball(
        "drop",
        Vec3::new(0.18, 0.25, 0.05),
        0.04,
        24,
        48,
        frisson_picture::look::water(),
    );
    let beads = stock::beads("beads", Vec3::new(0.0, 0.15, 0.1), 0.1, 9, 0.03);
    Frame { meshes: vec![head, drop], curves: vec![hair], points: vec![beads], ..Frame::default() }
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    let frame = everything();
    let picture = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut framing = Framing::new(View::default(), 16.0 / 9.0);
            framing.add(&frame);
            let camera = framing.camera().unwrap();
            let scene = Scene::from_frame(&frame, &Look::studio()).unwrap();
            let still = render(&scene, &camera, &small()).unwrap();
            let blurred = render_motion(&frame, &Look::studio(), &camera, &small(), 0.02).unwrap();
            (still, blurred)
        })
    };
    let one = picture(1);
    assert_eq!(one, picture(2));
    assert_ne!(one.0, one.1, "the head moves");
}

#[test]
fn broken_frames_give_a_clear_error() {
    let look = Look::studio();
    assert!(matches!(Scene::from_frame(&Frame::default(), &look), Err(PictureError::Empty)));
    let mut bad = everything();
    bad.meshes[0].positions[7].y = f32::NAN;
    let message = Scene::from_frame(&bad, &look).err().unwrap().to_string();
    assert!(message.contains("head") && message.contains('7'), "{message}");
    let mut bad = everything();
    bad.meshes[0].positions.truncate(20);
    assert!(matches!(Scene::from_frame(&bad, &look), Err(PictureError::Broken { .. })));
    let mut bad = everything();
    bad.curves[0].counts[0] += 1;
    assert!(matches!(Scene::from_frame(&bad, &look), Err(PictureError::Broken { .. })));
    let mut bad = everything();
    bad.points[0].widths[0] = f32::INFINITY;
    assert!(matches!(Scene::from_frame(&bad, &look), Err(PictureError::Broken { .. })));
    let scene = Scene::from_frame(&everything(), &look).unwrap();
    let camera = Camera::look_at(Vec3::ONE, Vec3::ZERO, 40.0).unwrap();
    for options in [
        RenderOptions { width: 0, ..small() },
        RenderOptions { height: 100_000, ..small() },
        RenderOptions { samples: 0, ..small() },
    ] {
        assert!(matches!(render(&scene, &camera, &options), Err(PictureError::Option { .. })));
    }
}

#[test]
fn strange_frames_still_give_a_picture() {
    // A camera inside an object, triangles without area among good ones, attributes of wrong length,
    // normals that are not numbers, a far-away and a tiny object.
    let mut strange = everything();
    let positions = vec![Vec3::ZERO, Vec3::X, 2.0 * Vec3::X, Vec3::Y, Vec3::Y];
    strange.meshes.push(Mesh::new(
        "flat",
        positions,
        vec![[0, 1, 2], [0, 1, 3], [3, 4, 0], [1, 1, 1]],
    ));
    strange.meshes[0].normals = vec![Vec3::NAN; strange.meshes[0].positions.len()];
    strange.curves[0].widths.truncate(3);
    strange.curves[0].ids.clear();
    strange.points[0].widths.clear();
    for scale in [1.0, 1e-4, 1e4] {
        let mut scaled = strange.clone();
        scaled.meshes.iter_mut().flat_map(|m| &mut m.positions).for_each(|p| *p *= scale);
        scaled.curves.iter_mut().flat_map(|c| &mut c.points).for_each(|p| *p *= scale);
        let scene = Scene::from_frame(&scaled, &Look::studio()).unwrap();
        let inside = Vec3::new(0.0, 0.3, 0.0) * scale;
        let camera = Camera::look_at(inside, inside + Vec3::X, 40.0).unwrap();
        let film = render_film(&scene, &camera, &small()).unwrap();
        assert!(film.pixels.iter().all(|p| p.radiance().is_finite()));
        film_is_finite(&scaled);
    }
}

fn film_is_finite(frame: &Frame) {
    let film = film(frame, &Look::studio(), &small());
    assert!(film.pixels.iter().all(|p| p.radiance().is_finite()));
}

#[test]
fn four_million_triangles_give_a_picture() {
    let ball = stock::ball("b", Vec3::ZERO, 1.0, 1000, 2000, white(0.6, 0.0));
    assert_eq!(ball.topology.triangles.len(), 4_000_000);
    film_is_finite(&frame(vec![ball]));
}
