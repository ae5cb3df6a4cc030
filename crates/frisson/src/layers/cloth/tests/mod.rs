//! Laws that the whole layer obeys.

use glam::{DVec3, Vec3};
use proptest::prelude::*;

use super::*;
use crate::geometry::Mesh;
use crate::layers::LayerParams;
use crate::layers::harness::{check_rates, check_same_bits};
use crate::stage::{
    Actor, Animated, Change, Clock, ColliderParams, ColliderShape, ForceParams, Forces, Frame,
    KeyedTransform, Rate, Running, Selection, Setup, Simulator, SimulatorError,
};

mod air;
mod contact;
mod contract;
mod fabric;
mod garment;
mod input;
mod laws;
mod pinch;
mod tear;
mod together;
mod worn;

/// A flat sheet of `nx` by `nz` vertices in the x-z plane, its first corner at `at`.
pub fn sheet(nx: u32, nz: u32, size: (f32, f32), at: Vec3) -> Mesh {
    let place = |i: u32, j: u32| {
        let (u, v) = (i as f32 / (nx - 1) as f32, j as f32 / (nz - 1) as f32);
        at + Vec3::new(u * size.0, 0.0, v * size.1)
    };
    let positions = (0..nz).flat_map(|j| (0..nx).map(move |i| place(i, j))).collect();
    let quads = (0..nz - 1).flat_map(|j| (0..nx - 1).map(move |i| j * nx + i));
    let triangles = quads.flat_map(|a| [[a, a + nx, a + 1], [a + 1, a + nx, a + nx + 1]]).collect();
    Mesh::new("sheet", positions, triangles)
}

/// A cube with `n` quads along each side, outward, welded by position.
fn cube(n: u32, half: f32) -> Mesh {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    for face in 0..6usize {
        let (normal, u) = (axes[face % 3], axes[(face + 1) % 3]);
        let normal = if face < 3 { normal } else { -normal };
        let v = normal.cross(u);
        let first = positions.len() as u32;
        for j in 0..=n {
            for i in 0..=n {
                let at = |k: u32| 2.0 * k as f32 / n as f32 - 1.0;
                positions.push(half * (normal + at(i) * u + at(j) * v));
            }
        }
        for j in 0..n {
            for i in 0..n {
                let a = first + j * (n + 1) + i;
                triangles.push([a, a + 1, a + n + 1]);
                triangles.push([a + 1, a + n + 2, a + n + 1]);
            }
        }
    }
    Mesh::new("cube", positions, triangles)
}

fn carried(name: &str, mesh: Mesh, path: KeyedTransform) -> Actor {
    Actor::meshes_named(name, vec![mesh]).along(path)
}

fn still(name: &str, mesh: Mesh) -> Actor {
    Actor::meshes_named(name, vec![mesh])
}

fn params() -> ClothParams {
    ClothParams {
        drag: 0.0,
        lift: 0.0,
        damping: 0.0,
        settle: 0.0,
        ..ClothParams::new("cloth", "sheet")
    }
}

/// A stage with one cloth, stepped tick by tick.
struct Scene {
    simulator: Simulator,
}

fn setup(
    actors: Vec<Actor>,
    colliders: &[ColliderParams],
    forces: Forces,
    params: ClothParams,
) -> Setup {
    Setup {
        clock: Clock::new(Rate::whole(120), 0, 1000),
        actors,
        colliders: colliders.to_vec(),
        forces,
        layers: vec![LayerParams::Cloth(params)],
        ..Setup::default()
    }
}

impl Scene {
    fn build(
        actors: Vec<Actor>,
        colliders: &[ColliderParams],
        forces: Forces,
        params: ClothParams,
    ) -> Result<Self, SimulatorError> {
        Ok(Self { simulator: Simulator::new(setup(actors, colliders, forces, params))? })
    }

    /// The cloth, whatever lies over it.
    fn cloth(&self) -> &Running<ClothLayer> {
        let layers = self.simulator.layers().iter();
        layers.filter_map(|l| l.as_any().downcast_ref()).next().expect("a cloth")
    }

    fn state(&self) -> &ClothState {
        self.cloth().state().expect("a started layer")
    }

    fn state_mut(&mut self) -> &mut ClothState {
        let layers = self.simulator.layers_mut().iter_mut();
        let cloth = layers.filter_map(|l| l.as_any_mut().downcast_mut::<Running<ClothLayer>>());
        cloth.last().and_then(Running::state_mut).expect("a cloth")
    }

    fn rest(&self) -> &rest::ClothRest {
        &self.cloth().rest().cloth
    }

    fn frame(&self) -> &Frame {
        self.simulator.frame()
    }

    fn strains(&self) -> Vec<f64> {
        step::strains(self.cloth().rest(), self.state())
    }

    fn ticks(&mut self, count: u32) {
        let tick = self.simulator.clock().tick_seconds();
        for _ in 0..count {
            self.simulator.step(tick).expect("the cloth stays finite");
        }
    }

    fn positions(&self) -> &[DVec3] {
        &self.state().positions
    }

    fn warnings(&self) -> Vec<String> {
        self.simulator.reports().swap_remove(0).warnings
    }
}

fn gravity() -> Forces {
    Forces::new(crate::stage::EARTH_GRAVITY, vec![], 120.0)
}

fn weightless() -> Forces {
    Forces::new(Vec3::ZERO, vec![], 120.0)
}

/// Earth's gravity, and wind of a speed and with gusts.
fn windy(direction: [f32; 3], (speed, gust): (f64, f32), seed: u64) -> Forces {
    let wind = ForceParams::Wind {
        direction,
        speed: speed.into(),
        gust,
        gust_hz: 1.0,
        gust_size: 1.0,
        seed,
    };
    Forces::new(crate::stage::EARTH_GRAVITY, vec![wind], 120.0)
}

fn ball(center: [f32; 3], radius: f32) -> ColliderParams {
    ColliderParams {
        name: "ball".to_owned(),
        shape: ColliderShape::Sphere { center, radius },
        friction: 0.3,
        ..ColliderParams::default()
    }
}

fn pinned(vertices: impl IntoIterator<Item = u32>) -> Option<Selection> {
    Some(Selection { vertices: Some(vertices.into_iter().collect()), ..Selection::default() })
}

#[test]
fn a_flag_streams_downwind() {
    let mut mesh = sheet(16, 11, (0.9, 0.6), Vec3::ZERO);
    mesh.positions.iter_mut().for_each(|p| *p = Vec3::new(0.0, 2.0 - p.z, p.x));
    let forces = windy([1.0, 0.0, 0.0], (9.0, 0.2), 2);
    let p = ClothParams {
        material: Fabric::Silk,
        pins: pinned((0..11).map(|j| 16 * j)),
        ..ClothParams::new("cloth", "sheet")
    };
    let mut scene = Scene::build(vec![still("sheet", mesh)], &[], forces, p).unwrap();
    scene.ticks(180);
    let mean = scene.positions().iter().map(|p| p.x).sum::<f64>() / (16.0 * 11.0);
    assert!(mean > 0.25, "{mean}");
}

#[test]
fn paths_surfaces_and_sticky_patches_hold() {
    let mesh = sheet(9, 9, (0.4, 0.4), Vec3::new(0.0, 0.0, 0.0));
    let path = KeyedTransform {
        times: vec![0.0, 1.0],
        translations: vec![Vec3::Y * -0.2, Vec3::new(0.0, -0.2, 0.5)],
        rotations: vec![glam::Quat::IDENTITY; 2],
        ..KeyedTransform::default()
    };
    let body = carried("body", cube(2, 0.19), path);
    let some = |v: Vec<u32>| Selection { vertices: Some(v), ..Selection::default() };
    let p = ClothParams {
        attachments: vec![
            ClothAttachment {
                vertices: some(vec![0]),
                surface: Some("body".to_owned()),
                ..ClothAttachment::default()
            },
            ClothAttachment {
                vertices: some(vec![8]),
                path: Some([
                    0.0.into(),
                    0.0.into(),
                    Animated::Keys(vec![(0.0, 0.0), (120.0, 0.5)]),
                ]),
                until_frame: Some(60.0),
                ..ClothAttachment::default()
            },
            ClothAttachment {
                vertices: some(vec![30, 31]),
                surface: Some("body".to_owned()),
                stick_within: Some(0.05),
                release_beyond: Some(0.3),
                ..ClothAttachment::default()
            },
        ],
        ..params()
    };
    let mut scene = Scene::build(vec![still("sheet", mesh), body], &[], weightless(), p).unwrap();
    let node = |v: usize, s: &Scene| s.positions()[s.rest().node_of_vertex[v] as usize];
    scene.ticks(30);
    assert!((node(8, &scene) - DVec3::new(f64::from(0.4f32), 0.0, 0.125)).length() < 1e-6);
    assert_eq!(scene.state().stuck.len(), 2);
    scene.ticks(90);
    // The keyed path is smooth, not straight, between its keys: compare where both agree.
    assert!((node(0, &scene) - DVec3::new(0.0, 0.0, 0.5)).length() < 1e-5, "{}", node(0, &scene));
    assert!(node(8, &scene).is_finite());
}
