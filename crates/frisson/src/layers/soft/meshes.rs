//! The meshes of a frame: one per label, contact surfaces shared vertex by vertex.

use std::sync::Arc;

use glam::{Vec2, Vec3};

use super::fracture::Components;
use super::label::LabelField;
use super::params::SoftParams;
use super::rest::SoftRest;
use super::skin_field::SkinSurface;
use super::state::SoftState;
use super::step::SoftScratch;
use super::surface::{Paint, SurfaceField};
use super::tool::Tools;
use crate::geometry::isosurface::{CrossedEdge, IsoSettings, IsoSurface};
use crate::geometry::{AttributeValues, Bounds, Material, Mesh, MeshTopology};
use crate::stage::{Frame, LayerError, StepContext};

/// Attribute that says how hard a vertex is pressed [Pa].
const PRESSURE: &str = "pressure";

/// Extractors and buffers.
#[derive(Default)]
pub(super) struct SurfaceMeshes {
    field: SurfaceField,
    /// Skins that are shown in the place of balls.
    skins: Vec<Arc<SkinSurface>>,
    surfaces: Vec<IsoSurface>,
    /// Edges crossed by several labels, with vertices numbered over all of them.
    edges: Vec<CrossedEdge>,
    /// Number of each label's first vertex among those of all labels.
    firsts: Vec<u32>,
    /// Vertices that are the same point.
    same: Components,
    /// Sum and number of the vertices that are the same point, at the first of them.
    sums: Vec<(Vec3, u32)>,
    /// Vertices of a label before they went to its creases.
    before: Vec<Vec3>,
    /// Pieces of the surfaces that were shown last: triangles that hang together.
    pub(super) pieces: usize,
    /// The same, by vertex.
    joined: Components,
}

/// A vertex that may lie on the rim of a contact.
#[derive(Clone, Copy, Default)]
struct RimVertex {
    /// Labels that meet there, as bits; none: it does not.
    others: u64,
    /// Where that is, and the normal there.
    line: Option<(Vec3, Vec3)>,
}

/// Greatest extent of a piece of surface that is left out, in cells of the lattice [-]; and edge of a cube that holds
/// no more than a piece of a skin that is left out: a sliver in the crease of an armpit may be long.
const SPECK: f32 = 1.5;

/// Takes vertices out of a mesh; no triangle may have some of its corners among them.
fn keep_vertices(mesh: &mut Mesh, keep: &[bool]) {
    fn filter<T>(values: &mut Vec<T>, keep: &[bool]) {
        if values.len() == keep.len() {
            let mut kept = keep.iter();
            values.retain(|_| *kept.next().unwrap_or(&true));
        }
    }
    let mut next = 0;
    let number = |k: &bool| {
        next += u32::from(*k);
        next.saturating_sub(1)
    };
    let numbers: Vec<u32> = keep.iter().map(number).collect();
    filter(&mut mesh.positions, keep);
    filter(&mut mesh.normals, keep);
    filter(&mut mesh.velocities, keep);
    for attribute in &mut mesh.attributes {
        match &mut attribute.values {
            AttributeValues::Scalar(values) => filter(values, keep),
            AttributeValues::Vector(values) | AttributeValues::Color(values) => {
                filter(values, keep)
            }
        }
    }
    let topology = Arc::make_mut(&mut mesh.topology);
    topology.vertex_count = mesh.positions.len();
    filter(&mut topology.colors, keep);
    filter(&mut topology.uvs, keep);
    topology.triangles.retain(|t| keep[t[0] as usize]);
    for corner in topology.triangles.iter_mut().flatten() {
        *corner = numbers[*corner as usize];
    }
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
        self.meshes.field.set(&self.coats, rest, &state.bodies, &skins);
        self.meshes.skins = skins;
        self.meshes.extract(rest, tools)?;
        self.meshes.pieces = 0;
        for label in 0..rest.labels.len() {
            self.meshes.count_pieces(label);
            self.meshes.write_mesh(rest, tools, label, frame);
            if let Some(index) = frame.mesh_index(&rest.labels[label]) {
                let is_skin = rest.skins.iter().any(|s| rest.objects[s.object].label == label);
                self.meshes.drop_specks(rest.cell as f32, is_skin, &mut frame.meshes[index]);
            }
        }
        if params.contacts {
            self.meshes.write_contacts(&format!("{}/contacts", params.name), rest, frame);
        }
        Ok(())
    }
}

impl SurfaceMeshes {
    /// Extracts every label, with vertices shared on contacts.
    fn extract(&mut self, rest: &SoftRest, tools: Tools<'_>) -> Result<(), LayerError> {
        let labels = rest.labels.len();
        self.surfaces.resize_with(labels, IsoSurface::new);
        for label in 0..labels {
            let cell = rest.cell as f32;
            let bounds = self.field.bounds(label as u32).grown(2.0 * cell);
            let settings = IsoSettings { cell, bounds, relax: 1, ..IsoSettings::default() };
            let field = LabelField { field: &self.field, label: label as u32, tools };
            self.surfaces[label]
                .extract(&field, &settings)
                .map_err(|e| LayerError::parameter("cell", e.to_string()))?;
            self.before.clone_from(&self.surfaces[label].positions);
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
            unfold(&mut self.surfaces[label], &self.before);
        }
        self.firsts.clear();
        if labels > 1 {
            self.share_vertices();
            self.draw_rims(tools, rest.cell as f32);
            self.close_rims(tools, rest.cell as f32);
        }
        Ok(())
    }

    /// Where one body's inside borders on another's, both have the same lattice edge crossed, in
    /// opposite senses: the vertices around it become the same points. On the contact surface they
    /// are all but equal; at its rim, where the outside meets both, they are near.
    fn share_vertices(&mut self) {
        let mut next = 0;
        self.firsts.clear();
        self.edges.clear();
        for (label, surface) in self.surfaces.iter().enumerate() {
            self.firsts.push(next);
            let first_edge = self.edges.len();
            surface.crossed_edges(
                |parts| self.field.meets_others(label as u32, parts),
                &mut self.edges,
            );
            for edge in &mut self.edges[first_edge..] {
                edge.vertices = edge.vertices.map(|v| v + next);
            }
            next += surface.positions.len() as u32;
        }
        self.firsts.push(next);
        self.edges.sort_unstable();
        self.same.reset(next as usize);
        for pair in self.edges.windows(2) {
            if pair[0].key == pair[1].key && pair[0].low_end_inside != pair[1].low_end_inside {
                for (a, b) in pair[0].vertices.into_iter().zip(pair[1].vertices) {
                    self.same.join(a, b);
                }
            }
        }
        self.sums.clear();
        self.sums.resize(next as usize, (Vec3::ZERO, 0));
        for (label, surface) in self.surfaces.iter().enumerate() {
            for (v, position) in surface.positions.iter().enumerate() {
                let sum = &mut self.sums[self.same.root(self.firsts[label] + v as u32) as usize];
                *sum = (sum.0 + *position, sum.1 + 1);
            }
        }
        for (label, surface) in self.surfaces.iter_mut().enumerate() {
            for (v, position) in surface.positions.iter_mut().enumerate() {
                let (sum, count) =
                    self.sums[self.same.root(self.firsts[label] + v as u32) as usize];
                if count > 1 {
                    *position = sum / count as f32;
                }
            }
        }
    }

    /// Puts the rim of every contact, which the bodies on both sides share, onto the line where their
    /// free surfaces meet.
    fn draw_rims(&mut self, tools: Tools<'_>, cell: f32) {
        // Who shares each point, as bits.
        let mut sharers = vec![0u64; self.sums.len()];
        for (label, surface) in self.surfaces.iter().enumerate() {
            for v in 0..surface.positions.len() {
                sharers[self.root(label, v)] |= 1 << (label % 64);
            }
        }
        let mut moved: Vec<Option<Vec3>> = vec![None; self.sums.len()];
        for label in 0..self.surfaces.len() {
            let count = self.surfaces[label].positions.len();
            let shared: Vec<bool> = (0..count).map(|v| self.is_shared(label, v)).collect();
            let mut rims = vec![RimVertex::default(); count];
            for t in &self.surfaces[label].triangles {
                let [a, b, c] = t.map(|v| v as usize);
                for (rim, free) in [(a, b), (b, a), (b, c), (c, b), (c, a), (a, c)] {
                    if shared[rim] && !shared[free] {
                        rims[rim].others = sharers[self.root(label, rim)];
                    }
                }
            }
            self.find_rim(tools, label, cell, &mut rims);
            for (v, rim) in rims.iter().enumerate() {
                let Some((at, normal)) = rim.line else { continue };
                // Whoever came first has said where it is.
                let root = self.root(label, v);
                self.surfaces[label].positions[v] = *moved[root].get_or_insert(at);
                self.surfaces[label].normals[v] = normal;
            }
        }
        // Also where one body's rim is another's inner contact.
        for label in 0..self.surfaces.len() {
            for v in 0..self.surfaces[label].positions.len() {
                if let Some(at) = moved[self.root(label, v)] {
                    self.surfaces[label].positions[v] = at;
                }
            }
        }
    }

    /// Where a rim passes through a cube of the lattice in which no edge goes from one body into the other,
    /// they share no vertex and the rim would have a notch: their vertices of that cube go to the same
    /// place on it.
    fn close_rims(&mut self, tools: Tools<'_>, cell: f32) {
        let (mut cubes, mut here) = (Vec::new(), Vec::new());
        for (label, surface) in self.surfaces.iter().enumerate() {
            here.clear();
            surface.single_cubes(|parts| self.field.meets_others(label as u32, parts), &mut here);
            cubes.extend(here.iter().map(|&(key, v)| (key, label, v as usize)));
        }
        cubes.sort_unstable();
        let runs = || cubes.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1);
        let bit = |label: usize| 1u64 << (label % 64);
        let mut rims: Vec<Vec<RimVertex>> = Vec::new();
        for (label, surface) in self.surfaces.iter().enumerate() {
            let mut of_label = vec![RimVertex::default(); surface.positions.len()];
            for run in runs() {
                let alone = |c: &&(u64, usize, usize)| c.1 == label && !self.is_shared(c.1, c.2);
                for c in run.iter().filter(alone) {
                    of_label[c.2].others = run.iter().fold(0, |m, o| m | bit(o.1));
                }
            }
            self.find_rim(tools, label, cell, &mut of_label);
            rims.push(of_label);
        }
        let mut moves: Vec<(usize, usize, Vec3, Vec3)> = Vec::new();
        for run in runs() {
            let line = |c: &(u64, usize, usize)| rims[c.1][c.2].line;
            let shared = run.iter().find(|c| self.is_shared(c.1, c.2));
            let shared = shared.map(|c| self.surfaces[c.1].positions[c.2]);
            let alone = run.iter().filter(|c| line(c).is_some()).count();
            // One body alone has nobody to meet.
            let first = run.iter().find_map(line).filter(|_| alone > 1).map(|l| l.0);
            let Some(place) = shared.or(first) else { continue };
            for c in run {
                let Some((at, normal)) = line(c) else { continue };
                let from = self.surfaces[c.1].positions[c.2];
                if at.distance(place).max(from.distance(place)) < 0.7 * cell {
                    moves.push((c.1, c.2, place, normal));
                }
            }
        }
        for (label, v, place, normal) in moves {
            self.surfaces[label].positions[v] = place;
            self.surfaces[label].normals[v] = normal;
        }
    }

    /// Finds the rim for the vertices of a label that have others to meet.
    fn find_rim(&self, tools: Tools<'_>, label: usize, cell: f32, rims: &mut [RimVertex]) {
        let field = LabelField { field: &self.field, label: label as u32, tools };
        self.surfaces[label].fill_by_block(rims, |parts, positions, rims| {
            for (rim, at) in rims.iter_mut().zip(positions).filter(|(r, _)| r.others != 0) {
                rim.line = field.onto_rim(parts, *at, cell, rim.others);
            }
        });
    }

    /// The first of the vertices of all labels that are the same point as a label's vertex.
    fn root(&self, label: usize, vertex: usize) -> usize {
        self.same.root(self.firsts[label] + vertex as u32) as usize
    }

    /// Whether a vertex of a label is also another label's.
    fn is_shared(&self, label: usize, vertex: usize) -> bool {
        let Some(first) = self.firsts.get(label) else { return false };
        let root = self.same.root(first + vertex as u32);
        self.sums[root as usize].1 > 1
    }

    /// Whether a vertex is shared with a label before its own.
    fn is_anothers(&self, label: usize, vertex: u32) -> bool {
        self.firsts.get(label).is_some_and(|first| self.same.root(first + vertex) < *first)
    }

    /// Counts what hangs together of a label's surface.
    fn count_pieces(&mut self, label: usize) {
        let surface = &self.surfaces[label];
        let count = surface.positions.len();
        self.joined.reset(count);
        for &[a, b, c] in &surface.triangles {
            self.joined.join(a, b);
            self.joined.join(b, c);
        }
        self.pieces += (0..count as u32).filter(|&v| self.joined.root(v) == v).count();
    }

    /// Takes pieces out of a label's mesh that are smaller than the lattice can tell from nothing: a
    /// fingertip that reaches into one more cell; and of a skin the hollows that nobody sees, such as the gap
    /// between a body and its clothes. [`Self::count_pieces`] was asked just before.
    fn drop_specks(&mut self, cell: f32, is_skin: bool, mesh: &mut Mesh) {
        let count = mesh.positions.len();
        let root = |v: usize| self.joined.root(v as u32) as usize;
        if (0..count).filter(|&v| root(v) == v).nth(1).is_none() {
            return;
        }
        let mut boxes = vec![Bounds::EMPTY; count];
        for v in 0..count {
            boxes[root(v)] = boxes[root(v)].including(mesh.positions[v]);
        }
        let mut volumes = vec![0.0f32; count];
        for t in mesh.topology.triangles.iter().filter(|_| is_skin) {
            let piece = root(t[0] as usize);
            let [a, b, c] = t.map(|v| mesh.positions[v as usize] - boxes[piece].min);
            volumes[piece] += a.dot(b.cross(c));
        }
        let is_speck = |r: usize| (boxes[r].max - boxes[r].min).max_element() < SPECK * cell;
        // Six times, as they were added up.
        let sliver = 6.0 * (SPECK * cell).powi(3);
        let is_gone = |r: usize| is_speck(r) || is_skin && volumes[r] < sliver;
        let keep: Vec<bool> = (0..count).map(|v| !is_gone(root(v))).collect();
        let gone = (0..count).filter(|&v| root(v) == v && is_gone(v)).count();
        if gone == 0 || !keep.contains(&true) {
            return;
        }
        self.pieces -= gone;
        keep_vertices(mesh, &keep);
    }

    fn write_mesh(&self, rest: &SoftRest, tools: Tools<'_>, label: usize, frame: &mut Frame) {
        let surface = &self.surfaces[label];
        let name = &rest.labels[label];
        let index = frame.mesh_index(name).unwrap_or_else(|| {
            frame.meshes.push(Mesh { name: name.clone(), ..Mesh::default() });
            frame.meshes.len() - 1
        });
        let mesh = &mut frame.meshes[index];
        mesh.positions.clone_from(&surface.positions);
        mesh.normals.clone_from(&surface.normals);
        let (colors, uvs) = self.paint(rest, label, &mut mesh.velocities);
        let old = &mesh.topology;
        let unchanged = old.vertex_count == surface.positions.len()
            && old.triangles == surface.triangles
            && old.colors == colors
            && old.uvs == uvs;
        // Layers that collide with a surface at rest need not rebuild what they know of it.
        if !unchanged {
            mesh.topology = Arc::new(MeshTopology {
                vertex_count: surface.positions.len(),
                triangles: surface.triangles.clone(),
                colors,
                uvs,
                materials: vec![coat_material(name)],
                ..MeshTopology::default()
            });
        }
        mesh.set_scalar(PRESSURE, |values| self.press(rest, tools, label, values));
    }

    /// Pressure on every vertex that another body or a tool touches.
    fn press(&self, rest: &SoftRest, tools: Tools<'_>, label: usize, values: &mut [f32]) {
        let field = &self.field;
        // What is above the iso-value by rounding alone is no pressure.
        let noise = 1e-3 * field.level();
        let near = 0.25 * rest.cell as f32;
        self.surfaces[label].fill_by_block(values, |parts, positions, values| {
            values.fill(0.0);
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

    /// Colours per vertex (also where all are alike: some formats carry no materials), texture
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
        let surface = &self.surfaces[label];
        let still = self.field.is_still(label as u32);
        velocities.clear();
        if plain && bare && still {
            let [r, g, b] = first;
            return (vec![[r, g, b, 1.0]; surface.positions.len()], Vec::new());
        }
        let mut paints = vec![Paint::default(); surface.positions.len()];
        surface.fill_by_block(&mut paints, |parts, positions, paints| {
            for (paint, &at) in paints.iter_mut().zip(positions) {
                *paint = self.field.paint(label as u32, parts, at);
            }
        });
        if !still {
            velocities.extend(paints.iter().map(|p| p.velocity));
        }
        let color = |p: &Paint| [p.color.x, p.color.y, p.color.z, 1.0];
        let uvs = if bare { Vec::new() } else { paints.iter().map(|p| p.uv).collect() };
        (paints.iter().map(color).collect(), uvs)
    }

    /// The triangles under pressure, as a mesh of their own.
    fn write_contacts(&self, name: &str, rest: &SoftRest, frame: &mut Frame) {
        let (mut positions, mut normals, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        let mut pressures: Vec<f32> = Vec::new();
        for (label, mesh_name) in rest.labels.iter().enumerate() {
            let Some(index) = frame.mesh_index(mesh_name) else { continue };
            let mesh = &frame.meshes[index];
            let Some(pressure) = mesh.scalar(PRESSURE) else { continue };
            let mut renamed = vec![u32::MAX; mesh.positions.len()];
            for t in &mesh.topology.triangles {
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
                        positions.push(mesh.positions[v as usize]);
                        normals.push(mesh.normals[v as usize]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_are_taken_out_with_all_they_have() {
        let at = |x: f32| Vec3::new(x, 0.0, 0.0);
        let mut mesh =
            Mesh::new("m", (0..6).map(|v| at(v as f32)).collect(), vec![[0, 2, 4], [1, 3, 5]]);
        mesh.set_scalar(PRESSURE, |values| {
            values.iter_mut().enumerate().for_each(|(v, p)| *p = v as f32);
        });
        keep_vertices(&mut mesh, &[false, true, false, true, false, true]);
        assert_eq!(mesh.positions, [at(1.0), at(3.0), at(5.0)]);
        assert_eq!(mesh.topology.triangles, [[0, 1, 2]]);
        assert_eq!(mesh.scalar(PRESSURE), Some(&[1.0, 3.0, 5.0][..]));
    }
}
