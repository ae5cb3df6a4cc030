//! From clay to a character's mesh.

use std::collections::BTreeMap;
use std::sync::Arc;

use frisson::character::{CharacterMesh, Influences};
use frisson::geometry::isosurface::{IsoSettings, IsoSurface};
use frisson::geometry::{Material, Mesh, MeshTopology};
use glam::Vec3;

use super::field::Clay;
use super::rig::{Joint, Rig};
use super::unwrap::{self, Chart};
use super::weights;

/// Width of the border between two colours of an eye [rad].
const BORDER: f32 = 0.05;

/// A body with everything but its uv seams: one vertex per point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sculpture {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) normals: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) weights: Vec<Vec<(u16, f32)>>,
    pub(crate) colors: Vec<Vec3>,
    pub(crate) triangle_materials: Vec<u16>,
    pub(crate) triangle_charts: Vec<usize>,
    pub(crate) regions: BTreeMap<String, Vec<u32>>,
}

/// An eyeball.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Eye {
    pub(crate) center: Vec3,
    pub(crate) radius: f32,
    pub(crate) gaze: Vec3,
    /// Half-angles of pupil and iris [rad].
    pub(crate) pupil: f32,
    pub(crate) iris: f32,
    /// Pupil, iris, white.
    pub(crate) colors: [Vec3; 3],
}

/// Cells along the box's diagonal of the first try, and by which factors a try may correct the cell [-]: the first
/// may be far off, and a cell that jumps farther could run out of memory.
const FIRST_CELLS: f32 = 90.0;
const CORRECTIONS: [f32; 2] = [0.3, 3.0];

/// Relaxation passes: enough for even triangles, few enough to keep small features in place.
const RELAX: u32 = 5;

impl Sculpture {
    /// Extracts about `triangles` triangles, skins and assigns materials and charts by primitive.
    pub(crate) fn new(clay: &Clay, rig: &Rig, triangles: usize, weight_passes: usize) -> Self {
        let surface = extract(clay, triangles);
        let positions: Vec<Vec3> =
            surface.positions.iter().map(|&q| clay.world_from_lattice(q)).collect();
        let triangles = surface.triangles;
        let neighbours = neighbours(positions.len(), &triangles);
        let weights = weights::compute(clay, rig, &positions, &neighbours, weight_passes);
        let owners: Vec<usize> = triangles
            .iter()
            .map(|t| {
                let middle = t.iter().map(|&v| positions[v as usize]).sum::<Vec3>() / 3.0;
                owner(clay, middle)
            })
            .collect();
        let normals = normals(&positions, &triangles);
        Self {
            colors: vec![Vec3::ONE; positions.len()],
            triangle_materials: owners.iter().map(|&o| clay.parts[o].material).collect(),
            triangle_charts: owners.iter().map(|&o| clay.parts[o].chart).collect(),
            positions,
            normals,
            triangles,
            weights,
            regions: BTreeMap::new(),
        }
    }

    /// Adds an eyeball that looks along `gaze`: pupil, iris and white as rings with sharp borders.
    pub(crate) fn add_eye(&mut self, eye: &Eye, joint: Joint, material: u16, chart: usize) {
        const AROUND: u32 = 16;
        let first = self.positions.len() as u32;
        let gaze = eye.gaze.normalize();
        let side = Vec3::Y.cross(gaze).normalize();
        let up = gaze.cross(side);
        let mut add = |out: Vec3, color: Vec3| {
            self.positions.push(eye.center + eye.radius * out);
            self.normals.push(out);
            self.weights.push(vec![(joint as u16, 1.0)]);
            self.colors.push(color);
        };
        // Angle from the gaze and colour of each ring; two rings close together make a border.
        let rings = [
            (eye.pupil, eye.colors[0]),
            (eye.pupil + BORDER, eye.colors[1]),
            (eye.iris, eye.colors[1]),
            (eye.iris + BORDER, eye.colors[2]),
            (1.5, eye.colors[2]),
            (2.3, eye.colors[2]),
        ];
        add(gaze, eye.colors[0]);
        for (angle, color) in rings {
            for k in 0..AROUND {
                let turn = std::f32::consts::TAU * k as f32 / AROUND as f32;
                let across = turn.cos() * side + turn.sin() * up;
                add(gaze * angle.cos() + across * angle.sin(), color);
            }
        }
        add(-gaze, eye.colors[2]);
        let last = self.positions.len() as u32 - 1;
        let ring = |r: u32, k: u32| first + 1 + r * AROUND + k % AROUND;
        let mut join = |t: [u32; 3]| {
            self.triangles.push(t);
            self.triangle_materials.push(material);
            self.triangle_charts.push(chart);
        };
        for k in 0..AROUND {
            join([first, ring(0, k), ring(0, k + 1)]);
            for r in 0..rings.len() as u32 - 1 {
                join([ring(r, k), ring(r + 1, k), ring(r + 1, k + 1)]);
                join([ring(r, k), ring(r + 1, k + 1), ring(r, k + 1)]);
            }
            join([ring(rings.len() as u32 - 1, k), last, ring(rings.len() as u32 - 1, k + 1)]);
        }
    }

    /// Names the vertices that pass a test of place and normal.
    pub(crate) fn region(&mut self, name: &str, test: impl Fn(Vec3, Vec3) -> bool) {
        let members = (0..self.positions.len())
            .filter(|&v| test(self.positions[v], self.normals[v]))
            .map(|v| v as u32);
        self.regions.insert(name.to_owned(), members.collect());
    }

    /// Colours vertices by place and normal (linear RGB, multiplied with the material's).
    pub(crate) fn color(&mut self, paint: impl Fn(Vec3, Vec3, Vec3) -> Vec3) {
        for v in 0..self.positions.len() {
            self.colors[v] = paint(self.positions[v], self.normals[v], self.colors[v]);
        }
    }

    /// Unwraps and packs into a mesh carried by skin 0.
    pub(crate) fn finish(
        self,
        name: &str,
        materials: Vec<Material>,
        charts: &[Chart],
    ) -> CharacterMesh {
        let flat = unwrap::unwrap(&self.positions, &self.triangles, charts, &self.triangle_charts);
        let mut copies: Vec<Vec<u32>> = vec![Vec::new(); self.positions.len()];
        for (new, &old) in flat.origin.iter().enumerate() {
            copies[old as usize].push(new as u32);
        }
        let split = |members: &Vec<u32>| {
            let mut all: Vec<u32> =
                members.iter().flat_map(|&v| copies[v as usize].iter().copied()).collect();
            all.sort_unstable();
            all
        };
        let of = |old: &u32| *old as usize;
        let topology = MeshTopology {
            vertex_count: flat.origin.len(),
            triangles: flat.triangles,
            uvs: flat.uvs,
            colors: flat.origin.iter().map(|o| self.colors[of(o)].extend(1.0).to_array()).collect(),
            triangle_materials: self.triangle_materials,
            materials,
            regions: self.regions.iter().map(|(k, v)| (k.clone(), split(v))).collect(),
            // Copies at uv seams share the normal of the vertex that they come from.
            smoothing: flat.origin.clone(),
            ancestry: None,
        };
        let weights: Vec<_> = flat.origin.iter().map(|o| self.weights[of(o)].clone()).collect();
        let mesh = Mesh {
            name: name.to_owned(),
            topology: Arc::new(topology),
            positions: flat.origin.iter().map(|o| self.positions[of(o)]).collect(),
            normals: flat.origin.iter().map(|o| self.normals[of(o)]).collect(),
            ..Mesh::default()
        };
        CharacterMesh::skinned(mesh, Influences::from_lists(&weights))
    }
}

/// Extracts with a cell that gives about the wanted number of triangles (which goes as 1 / cell²).
fn extract(clay: &Clay, triangles: usize) -> IsoSurface {
    let bounds = clay.lattice_bounds();
    let mut settings =
        IsoSettings { cell: bounds.diagonal() / FIRST_CELLS, bounds, ..IsoSettings::default() };
    let mut surface = IsoSurface::new();
    // Twice to find the cell, then once for good: relaxing is only worth it then.
    for pass in 0..3 {
        settings.relax = if pass == 2 { RELAX } else { 0 };
        // The box is finite and the cell positive: the cast's own numbers cannot be refused.
        if surface.extract(clay, &settings).is_err() {
            break;
        }
        if pass < 2 {
            let ratio = surface.triangles.len().max(1) as f32 / triangles as f32;
            settings.cell *= ratio.sqrt().clamp(CORRECTIONS[0], CORRECTIONS[1]);
        }
    }
    surface
}

/// The added primitive nearest to a point.
fn owner(clay: &Clay, p: Vec3) -> usize {
    let added = clay.parts.iter().enumerate().filter(|(_, part)| !part.carve);
    added
        .map(|(i, part)| (part.shape.distance(p), i))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(0, |(_, i)| i)
}

/// Neighbours of every vertex, each once (closed mesh).
fn neighbours(count: usize, triangles: &[[u32; 3]]) -> Vec<Vec<u32>> {
    let mut out = vec![Vec::new(); count];
    for t in triangles {
        for c in 0..3 {
            // On a closed mesh every edge is passed once in each direction: one push a side is enough.
            out[t[c] as usize].push(t[(c + 1) % 3]);
        }
    }
    out
}

/// Area-weighted vertex normals.
pub(crate) fn normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut out = vec![Vec3::ZERO; positions.len()];
    for t in triangles {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        let normal = (b - a).cross(c - a);
        t.iter().for_each(|&v| out[v as usize] += normal);
    }
    out.iter().map(|n| n.normalize_or(Vec3::Y)).collect()
}
