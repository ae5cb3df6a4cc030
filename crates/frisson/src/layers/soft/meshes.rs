//! The meshes of a frame, contact surfaces shared vertex by vertex.
//!
//! Every piece has a surface of its own, its label in the extraction; a mesh holds those of the pieces of its objects.

use std::sync::Arc;

use glam::{Vec2, Vec3};

use super::fracture::Components;
use super::label::LabelField;
use super::params::SoftParams;
use super::rest::SoftRest;
use super::rims::Free;
use super::scratch::SoftScratch;
use super::skin_field::SkinSurface;
use super::state::SoftState;
use super::surface::{Paint, SurfaceField};
use super::tool::Tools;
use super::untangle::Tangle;
use crate::geometry::isosurface::{CrossedEdge, IsoSettings, IsoSurface};
use crate::geometry::{Material, Mesh, MeshTopology};
use crate::stage::{Frame, LayerError, StepContext};
use crate::tolerances::soft as tolerances;

/// Attribute that says how hard a vertex is pressed [Pa].
const PRESSURE: &str = "pressure";

/// Extractors and buffers.
#[derive(Default)]
pub(super) struct SurfaceMeshes {
    pub(super) field: SurfaceField,
    /// Skins that are shown in the place of balls.
    skins: Vec<Arc<SkinSurface>>,
    /// The surface of each label.
    pub(super) surfaces: Vec<IsoSurface>,
    /// Mesh that each surface belongs to, ascending.
    pub(super) owners: Vec<usize>,
    /// Volume that each surface should hold [m³]; 0: any.
    pub(super) wanted: Vec<f64>,
    /// Pressure at the vertices of each surface [Pa].
    pressures: Vec<Vec<f32>>,
    /// Edges crossed by several labels, with vertices numbered over all of them.
    pub(super) edges: Vec<CrossedEdge>,
    /// Number of each label's first vertex among those of all labels.
    pub(super) firsts: Vec<u32>,
    /// Which vertices lie on the free surface of their body.
    pub(super) free: Vec<Free>,
    /// Vertices that are the same point.
    pub(super) same: Components,
    /// Sum and number of the vertices that are the same point, at the first of them.
    pub(super) shared_points: Vec<(Vec3, u32)>,
    /// What goes through what.
    pub(super) tangle: Tangle,
    /// Pieces of the surfaces that were shown last: triangles that hang together.
    pub(super) pieces: usize,
    /// The same, by vertex.
    pub(super) joined: Components,
}

/// Takes back what turned triangles over when vertices went to a crease: two that went to the same place on it,
/// or past each other. Each pass may leave a triangle with one vertex gone back; four leave none.
fn unfold(surface: &mut IsoSurface, before: &[Vec3]) {
    let IsoSurface { positions, triangles, .. } = surface;
    if positions == before {
        return;
    }
    let normal = |t: &[u32; 3], at: &[Vec3]| {
        let [a, b, c] = t.map(|v| at[v as usize]);
        (b - a).cross(c - a)
    };
    for _ in 0..4 {
        let mut turned = false;
        for t in triangles.iter() {
            if t.iter().all(|&v| positions[v as usize] == before[v as usize]) {
                continue;
            }
            let (was, is) = (normal(t, before), normal(t, positions));
            // A twentieth: a sliver may yet lie over its neighbour.
            if is.dot(was) < 0.05 * was.length_squared() {
                t.iter().for_each(|&v| positions[v as usize] = before[v as usize]);
                turned = true;
            }
        }
        if !turned {
            return;
        }
    }
}

impl SoftScratch {
    /// Extracts every label and writes it into the frame.
    pub(super) fn write_surfaces(
        &mut self,
        (params, rest, state): (&SoftParams, &SoftRest, &SoftState),
        context: &StepContext,
        frame: &mut Frame,
    ) -> Result<(), LayerError> {
        let tools = self.tools.at(&rest.toolbox, params, context, 1.0);
        let number = context.frame_number();
        let mut skins = std::mem::take(&mut self.meshes.skins);
        skins.resize_with(rest.skins.len(), Arc::default);
        // What the parts of the last frame shared with it.
        self.meshes.field.parts.clear();
        for (surface, skin) in skins.iter_mut().zip(&rest.skins) {
            let object = &params.objects[rest.objects[skin.object].listed];
            let surface = Arc::make_mut(surface);
            surface.update(skin, frame, rest.cell as f32, object.volume.at(number))?;
            surface.carry(skin, &state.bodies);
        }
        self.meshes.number_surfaces(rest, state);
        self.meshes.field.set(&self.fields, rest, &state.bodies, &skins);
        self.meshes.make_up_volumes(rest, state);
        self.meshes.skins = skins;
        self.meshes.extract(rest, tools)?;
        self.meshes.press(rest, tools);
        self.meshes.pieces = 0;
        for label in 0..rest.labels.len() {
            let index = self.meshes.write_mesh(rest, label, frame);
            let is_skin = rest.skins.iter().any(|s| rest.objects[s.object].label == label);
            self.meshes.count_pieces(&frame.meshes[index]);
            self.meshes.drop_specks(rest.cell as f32, is_skin, &mut frame.meshes[index]);
        }
        if params.contacts {
            self.meshes.write_contacts(&format!("{}/contacts", params.name), frame);
        }
        Ok(())
    }
}

impl SurfaceMeshes {
    /// Extracts every label, with vertices shared on contacts.
    fn extract(&mut self, rest: &SoftRest, tools: Tools<'_>) -> Result<(), LayerError> {
        let (labels, cell) = (self.owners.len(), rest.cell as f32);
        self.surfaces.resize_with(labels, IsoSurface::new);
        self.extract_labels(rest, tools)?;
        self.share_vertices(tools, cell);
        for _ in 0..tolerances::VOLUME_EXTRACTIONS {
            // Contacts move too: all surfaces are made again, or they would not share vertices.
            if !self.correct_volumes(rest, tools, cell) {
                break;
            }
            self.extract_labels(rest, tools)?;
            self.share_vertices(tools, cell);
        }
        if labels > 1 {
            self.draw_rims(tools, cell);
            self.close_rims(tools, cell);
        }
        self.even_volumes(tools, cell);
        self.turn_diagonals();
        self.untangle(tools, cell);
        Ok(())
    }

    /// Extracts every label on its own, vertices drawn to creases.
    fn extract_labels(&mut self, rest: &SoftRest, tools: Tools<'_>) -> Result<(), LayerError> {
        let labels = self.owners.len();
        self.tangle.before.clear();
        for label in 0..labels {
            let cell = rest.cell as f32;
            let bounds = self.field.bounds(label as u32).grown(2.0 * cell);
            let settings = IsoSettings { cell, bounds, relax: 1, ..IsoSettings::default() };
            let field = LabelField { field: &self.field, label: label as u32, tools };
            self.surfaces[label]
                .extract(&field, &settings)
                .map_err(|e| LayerError::parameter("cell", e.to_string()))?;
            // Places before creases draw them: where to go back to if edges cross.
            let before = &mut self.tangle.before;
            let first = before.len();
            before.extend_from_slice(&self.surfaces[label].positions);
            self.surfaces[label].move_by_block(|parts, _, position, normal| {
                if !field.may_crease(parts) {
                    return;
                }
                if let Some(crease) = field.onto_crease(parts, *position, cell) {
                    (*position, *normal) = crease;
                } else if let Some(turned) = field.beside_crease(parts, *position, cell) {
                    *normal = turned;
                }
            });
            unfold(&mut self.surfaces[label], &self.tangle.before[first..]);
        }
        Ok(())
    }

    /// Numbers of the surfaces of a mesh.
    fn surfaces_of(&self, mesh: usize) -> std::ops::Range<usize> {
        let before = |m: usize| self.owners.partition_point(|&o| o < m);
        before(mesh)..before(mesh + 1)
    }

    /// Writes the surfaces of a mesh into the frame; gives its place there.
    fn write_mesh(&self, rest: &SoftRest, label: usize, frame: &mut Frame) -> usize {
        let name = &rest.labels[label];
        // The mesh of the frame before keeps its storage.
        let index = frame.mesh_index(name).unwrap_or_else(|| {
            frame.meshes.push(Mesh { name: name.clone(), ..Mesh::default() });
            frame.meshes.len() - 1
        });
        let mesh = &mut frame.meshes[index];
        mesh.positions.clear();
        mesh.normals.clear();
        let mut triangles = Vec::new();
        for surface in &self.surfaces[self.surfaces_of(label)] {
            let first = mesh.positions.len() as u32;
            mesh.positions.extend_from_slice(&surface.positions);
            mesh.normals.extend_from_slice(&surface.normals);
            triangles.extend(surface.triangles.iter().map(|t| t.map(|v| v + first)));
        }
        let (colors, uvs) = self.paint(rest, label, &mut mesh.velocities);
        let old = &mesh.topology;
        let unchanged = old.vertex_count == mesh.positions.len()
            && old.triangles == triangles
            && old.colors == colors
            && old.uvs == uvs;
        // Layers that collide with a surface at rest need not rebuild what they know of it.
        if !unchanged {
            mesh.topology = Arc::new(MeshTopology {
                vertex_count: mesh.positions.len(),
                triangles,
                colors,
                uvs,
                materials: vec![coat_material(name)],
                ..MeshTopology::default()
            });
        }
        let pressures = self.pressures[self.surfaces_of(label)].iter().flatten();
        mesh.set_scalar(PRESSURE, |values| {
            values.iter_mut().zip(pressures).for_each(|(value, p)| *value = *p);
        });
        index
    }

    /// Finds the pressure on every vertex that another body or a tool touches.
    fn press(&mut self, rest: &SoftRest, tools: Tools<'_>) {
        let mut pressures = std::mem::take(&mut self.pressures);
        pressures.resize_with(self.surfaces.len(), Vec::new);
        for (label, values) in pressures.iter_mut().enumerate() {
            values.clear();
            values.resize(self.surfaces[label].positions.len(), 0.0);
            self.press_surface(rest, tools, label, values);
        }
        self.pressures = pressures;
    }

    fn press_surface(&self, rest: &SoftRest, tools: Tools<'_>, label: usize, values: &mut [f32]) {
        let field = &self.field;
        // What is above the iso-value by rounding alone is no pressure.
        let noise = 1e-3 * field.level();
        let near = 0.25 * rest.cell as f32;
        self.surfaces[label].fill_by_block(values, |parts, positions, values| {
            if !field.meets_others(label as u32, parts) {
                return;
            }
            for (value, &at) in values.iter_mut().zip(positions) {
                let pressure = field.pressure(label as u32, parts, at);
                let pressure = if pressure < noise { 0.0 } else { pressure };
                // Negative until somebody is found to share the vertex.
                *value =
                    if field.is_on_tool(tools, parts, at, near) { pressure } else { -pressure };
            }
        });
        for (v, value) in values.iter_mut().enumerate().filter(|(_, v)| **v <= 0.0) {
            *value = if self.is_shared(label, v) { value.abs() } else { 0.0 };
        }
    }

    /// Colours per vertex of a mesh (also where all are alike: some formats carry no materials), texture
    /// coordinates where the primitives have some, and velocities where they move.
    fn paint(
        &self,
        rest: &SoftRest,
        label: usize,
        velocities: &mut Vec<Vec3>,
    ) -> (Vec<[f32; 4]>, Vec<Vec2>) {
        let own = |o: usize| rest.objects[o].label == label;
        let primitives = || rest.primitives.iter().filter(|p| own(p.object));
        let first = primitives().next().map_or([0.7; 3], |p| p.color);
        let seen = rest.skins.iter().any(|s| s.is_seen && own(s.object));
        let plain = !seen && primitives().all(|p| p.color == first);
        let bare = primitives().all(|p| p.uv.is_none());
        let still = self.surfaces_of(label).all(|s| self.field.is_still(s as u32));
        let count = |s: usize| self.surfaces[s].positions.len();
        velocities.clear();
        if plain && bare && still {
            let [r, g, b] = first;
            let count = self.surfaces_of(label).map(count).sum();
            return (vec![[r, g, b, 1.0]; count], Vec::new());
        }
        let (mut colors, mut uvs) = (Vec::new(), Vec::new());
        for s in self.surfaces_of(label) {
            let mut paints = vec![Paint::default(); count(s)];
            self.surfaces[s].fill_by_block(&mut paints, |parts, positions, paints| {
                for (paint, &at) in paints.iter_mut().zip(positions) {
                    *paint = self.field.paint(s as u32, parts, at);
                }
            });
            if !still {
                velocities.extend(paints.iter().map(|p| p.velocity));
            }
            if !bare {
                uvs.extend(paints.iter().map(|p| p.uv));
            }
            colors.extend(paints.iter().map(|p| [p.color.x, p.color.y, p.color.z, 1.0]));
        }
        (colors, uvs)
    }

    /// The triangles under pressure, as a mesh of their own.
    fn write_contacts(&self, name: &str, frame: &mut Frame) {
        let (mut positions, mut normals, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        let mut pressures: Vec<f32> = Vec::new();
        for (label, surface) in self.surfaces.iter().enumerate() {
            let pressure = &self.pressures[label];
            let mut renamed = vec![u32::MAX; surface.positions.len()];
            for t in &surface.triangles {
                // A vertex may be shared where the pressure is just 0: the rim belongs to the contact.
                let touches =
                    |v: u32| pressure[v as usize] > 0.0 || self.is_shared(label, v as usize);
                let bare = !t.iter().all(|&v| touches(v));
                // What two bodies share is written by the first of them.
                if bare || t.iter().all(|&v| self.is_anothers(label, v)) {
                    continue;
                }
                triangles.push(t.map(|v| {
                    let slot = &mut renamed[v as usize];
                    if *slot == u32::MAX {
                        *slot = positions.len() as u32;
                        positions.push(surface.positions[v as usize]);
                        normals.push(surface.normals[v as usize]);
                        pressures.push(pressure[v as usize]);
                    }
                    *slot
                }));
            }
        }
        let index = frame.mesh_index(name).unwrap_or_else(|| {
            frame.meshes.push(Mesh { name: name.to_owned(), ..Mesh::default() });
            frame.meshes.len() - 1
        });
        let mut mesh = Mesh::new(name, positions, triangles);
        mesh.normals = normals;
        mesh.set_scalar(PRESSURE, |values| values.copy_from_slice(&pressures));
        frame.meshes[index] = mesh;
    }
}

/// What the surface of a soft body is made of; its colours are those of the vertices.
pub(super) fn coat_material(name: &str) -> Material {
    Material { name: name.to_owned(), base_color: [1.0; 4], roughness: 0.55, ..Material::default() }
}
