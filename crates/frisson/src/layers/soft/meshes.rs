//! The meshes of a frame: one per label, contact surfaces shared vertex by vertex.

use std::sync::Arc;

use glam::Vec3;

use super::layer::SoftLayer;
use super::step::tools_at;
use super::surface::{LabelField, SurfaceField};
use crate::geometry::isosurface::{IsoSettings, IsoSurface};
use crate::geometry::{Material, Mesh, MeshTopology};
use crate::stage::{Frame, LayerError, StepContext};

/// Attribute that says how hard a vertex is pressed [Pa].
const PRESSURE: &str = "pressure";

/// Extractors and buffers.
#[derive(Default)]
pub(super) struct SurfaceMeshes {
    field: SurfaceField,
    surfaces: Vec<IsoSurface>,
    cubes: Vec<(u64, u32, u32)>,
}

impl SurfaceMeshes {
    /// Extracts every label and writes it into the frame.
    pub(super) fn write(
        &mut self,
        layer: &SoftLayer,
        context: &StepContext,
        frame: &mut Frame,
    ) -> Result<(), LayerError> {
        self.field.set(&layer.coats, &layer.rest);
        let tools = tools_at(&layer.rest.tools, context, 1.0);
        let labels = layer.rest.labels.len();
        self.surfaces.resize_with(labels, IsoSurface::new);
        for label in 0..labels {
            let cell = layer.rest.cell as f32;
            let bounds = self.field.bounds(label as u32).grown(2.0 * cell);
            // Smoothing moves vertices of two bodies differently: only lone ones get it.
            let relax = u32::from(labels == 1);
            let settings = IsoSettings { cell, bounds, relax, ..IsoSettings::default() };
            let field = LabelField { field: &self.field, label: label as u32, tools: &tools };
            self.surfaces[label]
                .extract(&field, &settings)
                .map_err(|e| LayerError::parameter("cell", e.to_string()))?;
        }
        if labels > 1 {
            self.share_vertices();
        }
        for label in 0..labels {
            self.write_mesh(layer, label, frame);
        }
        if layer.params.contacts {
            self.write_contacts(layer, frame);
        }
        Ok(())
    }

    /// Vertices of different bodies in the same cube become one point. On a contact surface they are
    /// equal already; at its rim, where the outside meets both, they are near.
    fn share_vertices(&mut self) {
        self.cubes.clear();
        for (label, surface) in self.surfaces.iter().enumerate() {
            surface.for_each_lone_vertex(|cube, vertex| {
                self.cubes.push((cube, label as u32, vertex));
            });
        }
        self.cubes.sort_unstable();
        let mut start = 0;
        while start < self.cubes.len() {
            let key = self.cubes[start].0;
            let end = start + self.cubes[start..].iter().take_while(|c| c.0 == key).count();
            let group = &self.cubes[start..end];
            start = end;
            if group.len() < 2 {
                continue;
            }
            let at = |&(_, l, v): &(u64, u32, u32)| self.surfaces[l as usize].positions[v as usize];
            let first = at(&group[0]);
            if group.iter().all(|c| at(c) == first) {
                continue;
            }
            let mean = group.iter().map(at).sum::<Vec3>() / group.len() as f32;
            for &(_, l, v) in group {
                self.surfaces[l as usize].positions[v as usize] = mean;
            }
        }
    }

    fn write_mesh(&self, layer: &SoftLayer, label: usize, frame: &mut Frame) {
        let surface = &self.surfaces[label];
        let name = &layer.rest.labels[label];
        let index = frame.mesh_index(name).unwrap_or_else(|| {
            frame.meshes.push(Mesh { name: name.clone(), ..Mesh::default() });
            frame.meshes.len() - 1
        });
        let mesh = &mut frame.meshes[index];
        mesh.positions.clone_from(&surface.positions);
        mesh.normals.clone_from(&surface.normals);
        mesh.velocities.clear();
        let colors = self.colors(layer, label);
        // With a colour per vertex, the material is white paint.
        let (r, g, b) = match (colors.is_empty(), self.first_color(layer, label)) {
            (true, [r, g, b]) => (r, g, b),
            _ => (1.0, 1.0, 1.0),
        };
        mesh.topology = Arc::new(MeshTopology {
            vertex_count: surface.positions.len(),
            triangles: surface.triangles.clone(),
            colors,
            materials: vec![Material {
                name: name.clone(),
                base_color: [r, g, b, 1.0],
                roughness: 0.55,
                ..Material::default()
            }],
            ..MeshTopology::default()
        });
        let field = &self.field;
        mesh.set_scalar(PRESSURE, |values| {
            surface.for_each_block(|parts, range| {
                for v in range {
                    values[v] = field.pressure(label as u32, parts, surface.positions[v]);
                }
            });
            // What is above the iso-value by rounding alone is no pressure.
            let noise = 1e-3 * field.level();
            values.iter_mut().filter(|v| **v < noise).for_each(|v| *v = 0.0);
        });
    }

    fn first_color(&self, layer: &SoftLayer, label: usize) -> [f32; 3] {
        let objects = layer.rest.objects.iter();
        objects.filter(|o| o.label == label).map(|o| o.params.color).next().unwrap_or([0.7; 3])
    }

    /// Colours per vertex, where the primitives of the label differ.
    fn colors(&self, layer: &SoftLayer, label: usize) -> Vec<[f32; 4]> {
        let first = self.first_color(layer, label);
        let own = |o: usize| layer.rest.objects[o].label == label;
        let same = layer.rest.primitives.iter().filter(|p| own(p.object)).all(|p| p.color == first);
        if same {
            return Vec::new();
        }
        let surface = &self.surfaces[label];
        let mut colors = vec![[1.0; 4]; surface.positions.len()];
        surface.for_each_block(|parts, range| {
            for v in range {
                let c = self.field.color(label as u32, parts, surface.positions[v]);
                colors[v] = [c.x, c.y, c.z, 1.0];
            }
        });
        colors
    }

    /// The triangles under pressure, as a mesh of their own.
    fn write_contacts(&self, layer: &SoftLayer, frame: &mut Frame) {
        let name = format!("{}/contacts", layer.params.name);
        let (mut positions, mut normals, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        let mut pressures: Vec<f32> = Vec::new();
        for mesh_name in &layer.rest.labels {
            let Some(index) = frame.mesh_index(mesh_name) else { continue };
            let mesh = &frame.meshes[index];
            let Some(pressure) = mesh.scalar(PRESSURE) else { continue };
            let mut renamed = vec![u32::MAX; mesh.positions.len()];
            for t in &mesh.topology.triangles {
                if t.iter().any(|&v| pressure[v as usize] <= 0.0) {
                    continue;
                }
                triangles.push(t.map(|v| {
                    let slot = &mut renamed[v as usize];
                    if *slot == u32::MAX {
                        *slot = positions.len() as u32;
                        positions.push(mesh.positions[v as usize]);
                        normals.push(mesh.normals[v as usize]);
                        pressures.push(pressure[v as usize]);
                    }
                    *slot
                }));
            }
        }
        let index = frame.mesh_index(&name).unwrap_or_else(|| {
            frame.meshes.push(Mesh { name: name.clone(), ..Mesh::default() });
            frame.meshes.len() - 1
        });
        let mut mesh = Mesh::new(&name, positions, triangles);
        mesh.normals = normals;
        mesh.set_scalar(PRESSURE, |values| values.copy_from_slice(&pressures));
        frame.meshes[index] = mesh;
    }
}
