//! Laws the drops must keep, on meshes from plain to awkward.

mod air;
mod beads;
mod contract;
mod crossings;
mod layer;
mod liquids;
mod meetings;
mod moving;
mod options;
mod pools;
mod published;
mod relief;
mod runs;
mod scenes;
mod shown;
mod sinks;
mod streams;

use glam::{DVec2, DVec3, Vec3};

use super::flow::{Flow, Trace};
use super::liquid::{Drag, Liquid};
use super::params::{DropsParams, GroundParams, Names};
use super::site::Ground;
use super::state::{Droplet, Phase};
use super::surface::Surface;
use super::world::World;
use crate::stage::Forces;

/// A surface with one kind of ground, and forces: all that a lone drop needs.
pub struct Bench {
    pub surface: Surface,
    pub ground: Ground,
    pub liquid: Liquid,
    pub forces: Forces,
    pub tick: f64,
    pub time: f64,
}

impl Bench {
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]], ground: GroundParams) -> Self {
        let params = DropsParams {
            name: "test".to_owned(),
            on: Names::One("mesh".to_owned()),
            ground: vec![ground],
            ..serde_json::from_str(r#"{"name": "test", "on": "mesh"}"#).unwrap()
        };
        let mut liquid = Liquid::new(&params);
        liquid.drag = Drag::Same(0.0);
        liquid.density = 1000.0;
        liquid.drip_remainder = 0.0;
        liquid.hysteresis_deg = 0.0;
        let surface = Surface::build(&[(positions, triangles)]);
        let ground = Ground::uniform(&params.ground[0], &liquid, surface.triangles.len());
        let forces = Forces::new(Vec3::new(0.0, -9.8, 0.0), Vec::new(), 30.0);
        Self { surface, ground, liquid, forces, tick: 1.0 / 120.0, time: 0.0 }
    }

    /// A drop put on the surface at the place nearest to a point.
    pub fn drop_at(&self, at: DVec3, mass: f64, velocity: DVec3) -> Droplet {
        let (triangle, weights, _) = self.surface.closest(at, 1e9).expect("a surface");
        let velocity = self.surface.facets[triangle as usize].tangential(velocity);
        let phase = Phase::Face { triangle, weights, velocity, standing: 0 };
        Droplet { solute: mass * self.liquid.concentration, ..Droplet::new(1, mass, phase, 0.0) }
    }

    pub fn step(&mut self, drop: &mut Droplet, dt: f64, trace: &mut Trace) {
        self.time += dt;
        let places: Vec<Vec3> = self.surface.points.iter().map(|p| p.as_vec3()).collect();
        let world = World {
            surface: &self.surface,
            ground: &self.ground,
            holds: &self.ground.dry_holds,
            places: &places,
            liquid: &self.liquid,
            forces: &self.forces,
            uniform: Some(self.forces.gravity.as_dvec3()),
            colliders: None,
            guides: &[],
            source_drags: &[],
            time: self.time,
            tick: self.tick,
            scene_drag: 0.0,
            windy: false,
            tracks: true,
            bounds: self.surface.bounds().grown(100.0),
        };
        let body = world.body(drop);
        Flow { world: &world, trace, index: 0, end: self.time, left: dt, body, has_poured: false }
            .advance(drop);
    }

    /// Where a drop is, and its velocity.
    pub fn place(&self, drop: &Droplet) -> (DVec3, DVec3) {
        match drop.phase {
            Phase::Air { position, velocity, .. } => (position, velocity),
            _ => {
                let (p, t) = super::merge::position_on(drop, &self.surface).unwrap();
                let facet = &self.surface.facets[t as usize];
                let v = match drop.phase {
                    Phase::Face { velocity, .. } => facet.lift(velocity),
                    Phase::Edge { half, speed, .. } => {
                        facet.lift(facet.edge(half as usize % 3).normalize_or_zero() * speed)
                    }
                    _ => DVec3::ZERO,
                };
                (p, v)
            }
        }
    }
}

/// Ground that holds everything and brakes nothing.
pub fn smooth() -> GroundParams {
    let (adhesion, film, meander) = (Some(1e9), Some(0.0), Some(0.0));
    GroundParams { adhesion, film, meander, ..GroundParams::default() }
}

/// A height field over a rectangle, `nx` by `nz` cells.
pub fn height_field(
    nx: u32,
    nz: u32,
    low: DVec2,
    high: DVec2,
    height: impl Fn(f64, f64) -> f64,
) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut positions = Vec::new();
    for j in 0..=nz {
        for i in 0..=nx {
            let x = low.x + (high.x - low.x) * f64::from(i) / f64::from(nx);
            let z = low.y + (high.y - low.y) * f64::from(j) / f64::from(nz);
            positions.push(Vec3::new(x as f32, height(x, z) as f32, z as f32));
        }
    }
    let id = |i: u32, j: u32| j * (nx + 1) + i;
    let mut triangles = Vec::new();
    for j in 0..nz {
        for i in 0..nx {
            let (a, b, c, d) = (id(i, j), id(i + 1, j), id(i + 1, j + 1), id(i, j + 1));
            // Counter-clockwise seen from above.
            triangles.push([a, c, b]);
            triangles.push([a, d, c]);
        }
    }
    (positions, triangles)
}

/// A sphere of `rings` by `slices`, outward.
pub fn ball(radius: f32, rings: u32, slices: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut positions = vec![Vec3::Y * radius];
    for i in 1..rings {
        let polar = std::f32::consts::PI * i as f32 / rings as f32;
        for j in 0..slices {
            let turn = std::f32::consts::TAU * j as f32 / slices as f32;
            let (s, c) = polar.sin_cos();
            positions.push(Vec3::new(s * turn.cos(), c, -s * turn.sin()) * radius);
        }
    }
    positions.push(-Vec3::Y * radius);
    let at = |i: u32, j: u32| 1 + (i - 1) * slices + j % slices;
    let last = positions.len() as u32 - 1;
    let mut triangles = Vec::new();
    for j in 0..slices {
        triangles.push([0, at(1, j), at(1, j + 1)]);
        for i in 1..rings - 1 {
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
        triangles.push([at(rings - 1, j), last, at(rings - 1, j + 1)]);
    }
    (positions, triangles)
}
