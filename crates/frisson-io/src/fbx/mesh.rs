//! Meshes of nodes, with their skins and blend shapes.

use std::collections::BTreeMap;
use std::sync::Arc;

use frisson::character::{Character, CharacterMesh, Influences, MorphTarget, Skin};
use frisson::geometry::{Mesh, MeshTopology};
use glam::{Mat4, Vec2, Vec3};

use super::{FbxError, Importer, matrix, vector};
use crate::gltf::{UniqueNames, smoothing_groups};
use crate::polygons::triangulate;

/// One corner of a face: its vertex and what differs between corners of one vertex.
type CornerKey = (u32, [u32; 2], [u32; 3], [u32; 4]);

/// A mesh while its corners become vertices.
#[derive(Default)]
struct Corners {
    known: BTreeMap<CornerKey, u32>,
    /// Vertex of the file behind each of ours.
    sources: Vec<u32>,
    uvs: Vec<Vec2>,
    normals: Vec<Vec3>,
    colors: Vec<[f32; 4]>,
    triangles: Vec<[u32; 3]>,
    triangle_materials: Vec<u16>,
}

fn corner_value<T: Copy>(values: &[T], indices: &[u32], corner: usize) -> Option<T> {
    values.get(*indices.get(corner)? as usize).copied()
}

impl Corners {
    fn vertex(&mut self, mesh: &ufbx::Mesh, corner: usize) -> u32 {
        let source = mesh.vertex_indices[corner];
        let uv = corner_value(&mesh.vertex_uv.values, &mesh.vertex_uv.indices, corner);
        // FBX has v up.
        let uv = uv.map(|v| Vec2::new(v.x as f32, 1.0 - v.y as f32)).filter(|v| v.is_finite());
        let normal = corner_value(&mesh.vertex_normal.values, &mesh.vertex_normal.indices, corner);
        let normal = normal.and_then(|n| vector(&n));
        let color = corner_value(&mesh.vertex_color.values, &mesh.vertex_color.indices, corner);
        let color = color.map(|c| [c.x as f32, c.y as f32, c.z as f32, c.w as f32]);
        let color = color.filter(|c| c.iter().all(|n| n.is_finite()));
        let key = (
            source,
            uv.unwrap_or_default().to_array().map(f32::to_bits),
            normal.unwrap_or_default().to_array().map(f32::to_bits),
            color.unwrap_or_default().map(f32::to_bits),
        );
        let next = self.sources.len() as u32;
        let vertex = *self.known.entry(key).or_insert(next);
        if vertex == next {
            self.sources.push(source);
            self.uvs.extend(uv);
            self.normals.extend(normal);
            self.colors.extend(color);
        }
        vertex
    }

    fn add_face(&mut self, mesh: &ufbx::Mesh, points: &[Vec3], face: usize) {
        let first = mesh.faces[face].index_begin as usize;
        let corners = first..first + mesh.faces[face].num_indices as usize;
        let places: Vec<Vec3> =
            corners.clone().map(|c| points[mesh.vertex_indices[c] as usize]).collect();
        let mut triangles = Vec::new();
        triangulate(&places, &mut triangles);
        let material = mesh.face_material.get(face).copied().unwrap_or(0);
        let material = u16::try_from(material).unwrap_or(0);
        for triangle in triangles {
            let vertices = triangle.map(|k| self.vertex(mesh, first + k));
            let [a, b, c] = vertices;
            if a != b && b != c && a != c {
                self.triangles.push(vertices);
                self.triangle_materials.push(material);
            }
        }
    }
}

impl Importer<'_> {
    pub(super) fn add_meshes(&mut self, character: &mut Character) -> Result<(), FbxError> {
        let mut names = UniqueNames::default();
        let scene = self.scene;
        // Some old programs write everything as hidden.
        let any_visible = scene.nodes.iter().any(|n| n.visible && n.mesh.is_some());
        for node in scene.nodes.iter() {
            let Some(mesh) = node.mesh.as_ref() else { continue };
            let index = node.element.typed_id as usize;
            if !node.visible && any_visible {
                let name = &character.skeleton.nodes()[index].name;
                self.warn(format!("mesh {name:?} is hidden and left out"));
                continue;
            }
            // A helper node carries the geometry of the one above it.
            let named = if node.is_geometry_transform_helper { node.parent.as_ref() } else { None };
            let wanted = named.map_or(index, |p| p.element.typed_id as usize);
            let wanted = &character.skeleton.nodes()[wanted].name;
            let name = names.make_unique(wanted);
            self.add_mesh(node, mesh, name, character)?;
        }
        Ok(())
    }

    fn add_mesh(
        &mut self,
        node: &ufbx::Node,
        mesh: &ufbx::Mesh,
        name: String,
        character: &mut Character,
    ) -> Result<(), FbxError> {
        let points: Option<Vec<Vec3>> = mesh.vertices.iter().map(vector).collect();
        let points = points.ok_or_else(|| FbxError::damaged(&name, "a point is not finite"))?;
        check_faces(mesh, &name, points.len())?;
        let mut corners = Corners::default();
        (0..mesh.faces.len()).for_each(|face| corners.add_face(mesh, &points, face));
        if corners.triangles.is_empty() {
            self.warn(format!("{name:?} has no faces and is left out"));
            return Ok(());
        }
        let (skin, lists) = self.skin(node, mesh, &name, &corners.sources, points.len())?;
        let (morphs, morph_weights) = self.morphs(mesh, &name, &corners.sources)?;
        let positions: Vec<Vec3> = corners.sources.iter().map(|&v| points[v as usize]).collect();
        let topology = self.topology(node, mesh, corners, &positions);
        let skin = skin.map(|skin| {
            character.skins.push(skin);
            character.skins.len() - 1
        });
        character.meshes.push(CharacterMesh {
            mesh: Mesh { name, topology: Arc::new(topology), positions, ..Mesh::default() },
            node: node.element.typed_id as usize,
            skin,
            influences: Influences::from_lists(&lists),
            morphs,
            morph_weights,
            source: None,
        });
        Ok(())
    }

    fn topology(
        &mut self,
        node: &ufbx::Node,
        mesh: &ufbx::Mesh,
        corners: Corners,
        positions: &[Vec3],
    ) -> MeshTopology {
        let count = positions.len();
        let whole = |n: usize| n == count;
        let smoothing = match whole(corners.normals.len()) && !mesh.generated_normals {
            true => smoothing_groups(positions, &corners.normals),
            false => Vec::new(),
        };
        // An instance may have materials of its own.
        let own = if node.materials.is_empty() { &mesh.materials } else { &node.materials };
        let mut materials: Vec<_> = own.iter().map(|m| self.material(m)).collect();
        let used = corners.triangle_materials.iter().copied().max().unwrap_or(0);
        materials.resize_with(materials.len().max(usize::from(used) + 1), Default::default);
        let several = corners.triangle_materials.iter().any(|&m| m != 0);
        MeshTopology {
            vertex_count: count,
            triangles: corners.triangles,
            uvs: if whole(corners.uvs.len()) { corners.uvs } else { Vec::new() },
            colors: if whole(corners.colors.len()) { corners.colors } else { Vec::new() },
            triangle_materials: if several { corners.triangle_materials } else { Vec::new() },
            materials,
            smoothing,
            ..MeshTopology::default()
        }
    }

    /// The skin of a mesh and the influences of our vertices.
    fn skin(
        &mut self,
        node: &ufbx::Node,
        mesh: &ufbx::Mesh,
        name: &str,
        sources: &[u32],
        points: usize,
    ) -> Result<(Option<Skin>, Vec<Vec<(u16, f32)>>), FbxError> {
        let Some(deformer) = mesh.skin_deformers.first() else { return Ok((None, Vec::new())) };
        if mesh.skin_deformers.len() > 1 {
            self.warn(format!("{name:?} has several skins; the first is used"));
        }
        if deformer.skinning_method != ufbx::SkinningMethod::Linear
            && deformer.skinning_method != ufbx::SkinningMethod::Rigid
        {
            self.warn(format!("{name:?} asks for dual quaternions and is skinned linearly"));
        }
        let mut skin = Skin { name: name.to_owned(), joints: Vec::new(), inverse_bind: Vec::new() };
        let mut place = vec![None; deformer.clusters.len()];
        for (index, cluster) in deformer.clusters.iter().enumerate() {
            let Some(bone) = cluster.bone_node.as_ref() else { continue };
            let bind = matrix(&cluster.geometry_to_bone)
                .ok_or_else(|| FbxError::damaged(name, "a bind matrix is not finite"))?;
            place[index] = u16::try_from(skin.joints.len()).ok();
            skin.joints.push(bone.element.typed_id as usize);
            skin.inverse_bind.push(bind);
        }
        // What follows no joint stays with the node.
        let own = u16::try_from(skin.joints.len())
            .map_err(|_| FbxError::damaged(name, "more joints than 16 bits can count"))?;
        skin.joints.push(node.element.typed_id as usize);
        skin.inverse_bind.push(Mat4::IDENTITY);
        let list = |vertex: usize| {
            let Some(v) = deformer.vertices.get(vertex) else { return vec![(own, 1.0)] };
            let begin = v.weight_begin as usize;
            let weights = deformer.weights.get(begin..begin + v.num_weights as usize);
            let found = weights.unwrap_or_default().iter().filter_map(|w| {
                let joint = (*place.get(w.cluster_index as usize)?)?;
                (w.weight > 0.0 && w.weight.is_finite()).then_some((joint, w.weight as f32))
            });
            let found: Vec<(u16, f32)> = found.collect();
            if found.is_empty() { vec![(own, 1.0)] } else { found }
        };
        let lists: Vec<Vec<(u16, f32)>> = (0..points).map(list).collect();
        let lists = sources.iter().map(|&v| lists[v as usize].clone()).collect();
        Ok((Some(skin), lists))
    }

    fn morphs(
        &mut self,
        mesh: &ufbx::Mesh,
        name: &str,
        sources: &[u32],
    ) -> Result<(Vec<MorphTarget>, Vec<f32>), FbxError> {
        let mut ours: Vec<Vec<u32>> = vec![Vec::new(); mesh.vertices.len()];
        for (vertex, &source) in sources.iter().enumerate() {
            ours[source as usize].push(vertex as u32);
        }
        let (mut targets, mut weights) = (Vec::new(), Vec::new());
        for channel in blend_channels(mesh) {
            let Some(shape) = channel.target_shape.as_ref() else { continue };
            if channel.keyframes.len() > 1 {
                self.warn(format!("{name:?}: shapes between the ends of a blend are left out"));
            }
            let mut moves: Vec<(u32, Vec3)> = Vec::new();
            for (k, &vertex) in shape.offset_vertices.iter().enumerate() {
                // A shape may be painted to act only in part.
                let part = shape.offset_weights.get(k).map_or(1.0, |&w| w as f32);
                let offset = shape.position_offsets.get(k).and_then(vector).map(|o| part * o);
                let offset = offset
                    .filter(|o| o.is_finite())
                    .ok_or_else(|| FbxError::damaged(name, "a blend shape is not finite"))?;
                let copies = ours.get(vertex as usize).map_or(&[][..], Vec::as_slice);
                moves.extend(copies.iter().map(|&v| (v, offset)));
            }
            moves.sort_by_key(|m| m.0);
            // A shape that names a vertex twice moves it once.
            moves.dedup_by_key(|m| m.0);
            let (vertices, offsets) = moves.into_iter().unzip();
            targets.push(MorphTarget { name: channel.element.name.to_string(), vertices, offsets });
            weights.push(if channel.weight.is_finite() { channel.weight as f32 } else { 0.0 });
        }
        Ok((targets, weights))
    }
}

/// The blend channels of a mesh that have a shape, in the order of its morphs.
pub(super) fn blend_channels(mesh: &ufbx::Mesh) -> impl Iterator<Item = &ufbx::BlendChannel> {
    let channels = mesh.blend_deformers.iter().flat_map(|d| d.channels.iter());
    channels.map(|c| &**c).filter(|c| c.target_shape.is_some())
}

fn check_faces(mesh: &ufbx::Mesh, name: &str, points: usize) -> Result<(), FbxError> {
    let corners = mesh.vertex_indices.len();
    let inside = |f: &ufbx::Face| {
        let end = (f.index_begin as usize).checked_add(f.num_indices as usize);
        end.is_some_and(|end| end <= corners)
    };
    if !mesh.faces.iter().all(inside) {
        return Err(FbxError::damaged(name, "a face has corners that are not there"));
    }
    if mesh.vertex_indices.iter().any(|&v| v as usize >= points) {
        return Err(FbxError::damaged(name, "a face names a point that is not there"));
    }
    Ok(())
}
