//! A fast preview: the seeds themselves, joined up to one closed piece per primitive.
//!
//! ```text
//!       .-*--*-.  .-*--*-.       seeds on the surface (*), and those that a territory's border
//!      *   o    ||    o   *      stops (|); the triangles between them never change
//!       '-*--*-'  '-*--*-'
//! ```

use std::sync::Arc;

use glam::{DMat3, DVec3, Vec2, Vec3};
use rayon::prelude::*;

use super::field::Kind;
use super::meshes::coat_material;
use super::rest::SoftRest;
use super::sample::{Territory, fill_grid};
use super::scratch::SoftScratch;
use super::seeds::{Seed, compute_pieces, on_sphere};
use super::state::SoftState;
use super::surface::SurfaceField;
use crate::geometry::{Mesh, MeshTopology, wrap_sphere};
use crate::stage::Frame;

/// Topologies, made once, and the field that gives normals.
#[derive(Default)]
pub(super) struct PreviewMeshes {
    field: SurfaceField,
    topologies: Vec<Arc<MeshTopology>>,
}

/// What is written of one primitive.
struct Piece<'a> {
    primitive: usize,
    positions: &'a mut [Vec3],
    normals: &'a mut [Vec3],
    velocities: &'a mut [Vec3],
}

impl SoftScratch {
    /// Writes every label's seeds into the frame.
    pub(super) fn write_preview(&mut self, rest: &SoftRest, state: &SoftState, frame: &mut Frame) {
        let preview = &mut self.preview;
        // Which seeds are neighbours never changes: made once.
        if preview.topologies.is_empty() {
            preview.topologies = build_topologies(rest);
        }
        // Without skins: the preview shows the balls themselves.
        preview.field.set(&self.fields, rest, &state.bodies, &[]);
        // Who is near whom: normals need it, and the last step may not have been this scratch's.
        fill_grid(&self.fields, &mut self.grid);
        let (fields, grid) = (&self.fields, &self.grid);
        let gather = |(index, territory): (usize, &mut Territory)| {
            territory.gather(fields, grid, index);
        };
        self.territories.par_iter_mut().enumerate().with_min_len(8).for_each(gather);
        for (label, topology) in self.preview.topologies.iter().enumerate() {
            let name = &rest.labels[label];
            let index = frame.mesh_index(name).unwrap_or_else(|| {
                frame.meshes.push(Mesh { name: name.clone(), ..Mesh::default() });
                frame.meshes.len() - 1
            });
            let mesh = &mut frame.meshes[index];
            mesh.topology = Arc::clone(topology);
            let count = topology.vertex_count;
            for array in [&mut mesh.positions, &mut mesh.normals, &mut mesh.velocities] {
                array.resize(count, Vec3::ZERO);
            }
            let pieces = split(rest, label, mesh);
            let fill = |p: Piece<'_>| self.fill_piece((rest, state), label as u32, p);
            pieces.into_par_iter().with_min_len(8).for_each(fill);
        }
    }

    fn fill_piece(&self, (rest, state): (&SoftRest, &SoftState), label: u32, piece: Piece<'_>) {
        let index = piece.primitive;
        let points = self.fields.points_of(index);
        let kind = self.fields.primitives[index].kind;
        let mut pieces = Vec::new();
        compute_pieces(kind, points, self.axes[index], &mut pieces);
        let body = &state.bodies[rest.primitives[index].body];
        let near = self.territories[index].near();
        for (i, seed) in rest.seeds[index].iter().enumerate() {
            let ray = seed.ray(points, &pieces);
            let at = ray.origin + state.distances[index][i] * ray.direction;
            piece.velocities[i] = body.velocity_at(at).as_vec3();
            let at = at.as_vec3();
            let way = self.preview.field.outward(label, near, at);
            piece.positions[i] = at;
            piece.normals[i] =
                way.try_normalize().unwrap_or(ray.direction.as_vec3().normalize_or(Vec3::Y));
        }
    }
}

impl SoftState {
    /// Where the seeds of all primitives are [m], one primitive after the other.
    pub fn seed_places<'a>(&'a self, rest: &'a SoftRest) -> impl Iterator<Item = DVec3> + 'a {
        let of_primitive = |index: usize| {
            let primitive = &rest.primitives[index];
            let body = &self.bodies[primitive.body];
            let place = |p: &DVec3| body.position + body.rotation * *p;
            let points: Vec<DVec3> = primitive.points.iter().map(place).collect();
            let mut pieces = Vec::new();
            let axes = DMat3::from_quat(body.rotation) * self.stretches[index];
            compute_pieces(primitive.kind, &points, axes, &mut pieces);
            let seeds = rest.seeds[index].iter().zip(&self.distances[index]);
            seeds.map(move |(seed, distance)| {
                let ray = seed.ray(&points, &pieces);
                ray.origin + *distance * ray.direction
            })
        };
        (0..rest.primitives.len()).flat_map(of_primitive)
    }
}

/// The arrays of a mesh, primitive by primitive of a label.
fn split<'a>(rest: &SoftRest, label: usize, mesh: &'a mut Mesh) -> Vec<Piece<'a>> {
    let Mesh { positions, normals, velocities, .. } = mesh;
    let mut left = (&mut positions[..], &mut normals[..], &mut velocities[..]);
    let mut out = Vec::new();
    for primitive in of_label(rest, label) {
        let count = rest.seeds[primitive].len();
        let (positions, rest_positions) = left.0.split_at_mut(count);
        let (normals, rest_normals) = left.1.split_at_mut(count);
        let (velocities, rest_velocities) = left.2.split_at_mut(count);
        out.push(Piece { primitive, positions, normals, velocities });
        left = (rest_positions, rest_normals, rest_velocities);
    }
    out
}

fn of_label(rest: &SoftRest, label: usize) -> impl Iterator<Item = usize> + '_ {
    let own = move |i: &usize| rest.objects[rest.primitives[*i].object].label == label;
    (0..rest.primitives.len()).filter(own)
}

fn build_topologies(rest: &SoftRest) -> Vec<Arc<MeshTopology>> {
    // The seeds of all points are alike.
    let mut of_points: Option<Vec<[u32; 3]>> = None;
    let mut wrap = |index: usize| {
        let p = &rest.primitives[index];
        let build = || wrap_seeds(p.kind, &p.points, p.profile.thickness, &rest.seeds[index]);
        match p.kind {
            Kind::Point => of_points.get_or_insert_with(build).clone(),
            _ => build(),
        }
    };
    let mut out = Vec::new();
    for (label, name) in rest.labels.iter().enumerate() {
        let bare = of_label(rest, label).all(|i| rest.primitives[i].uv.is_none());
        let mut topology =
            MeshTopology { materials: vec![coat_material(name)], ..MeshTopology::default() };
        for index in of_label(rest, label) {
            let first = topology.vertex_count as u32;
            let triangles = wrap(index);
            topology.triangles.extend(triangles.iter().map(|t| t.map(|v| v + first)));
            let [r, g, b] = rest.primitives[index].color;
            let count = rest.seeds[index].len();
            topology.colors.extend(std::iter::repeat_n([r, g, b, 1.0], count));
            if !bare {
                let [start, end] = rest.primitives[index].uv.unwrap_or_default();
                let points = &rest.primitives[index].points;
                let uv = |s: &Seed| Vec2::from(start).lerp(end.into(), s.way_along(points) as f32);
                topology.uvs.extend(rest.seeds[index].iter().map(uv));
            }
            topology.vertex_count += count;
        }
        out.push(Arc::new(topology));
    }
    out
}

/// Triangles between the seeds of a primitive.
fn wrap_seeds(kind: Kind, points: &[DVec3], thickness: f64, seeds: &[Seed]) -> Vec<[u32; 3]> {
    let places: Vec<DVec3> = on_sphere(kind, points, thickness, seeds);
    wrap_sphere(&places)
}
