//! What stays the same from frame to frame: triangles, materials, counts of curves.

use std::sync::Arc;

use frisson::geometry::{Material, Mesh, MeshTopology, Texture};
use frisson::stage::Curves;
use glam::Vec3;
use serde_json::{Value, json};

use super::parcel::Parcel;

/// A topology that the page has been, or can be, sent.
#[derive(Clone, Debug)]
pub struct SentTopology {
    /// Its number.
    pub id: u64,
    /// Its bytes.
    pub bytes: Arc<Vec<u8>>,
    /// Textures it names, by number.
    pub textures: Vec<(u64, Arc<Vec<u8>>)>,
}

enum Known {
    Mesh(Arc<MeshTopology>),
    Curves { counts: Vec<u32>, color: Vec3 },
}

/// Names topologies: the same one gets the same number in the next frame.
pub struct Topologies {
    /// Those of the latest frames.
    recent: Vec<(Known, SentTopology)>,
    /// Textures of these: a mesh that is refined otherwise in every frame keeps its own.
    textures: Vec<(Arc<Texture>, u64, Arc<Vec<u8>>)>,
    next: u64,
    step: u64,
}

/// Topologies remembered: enough for every shape of a frame and a few before it.
const REMEMBERED: usize = 64;

impl Topologies {
    /// Numbers from `first` on in steps of `step`, so that two simulations never share one.
    #[must_use]
    pub fn numbered(first: u64, step: u64) -> Self {
        Self { recent: Vec::new(), textures: Vec::new(), next: first, step }
    }

    fn take_number(&mut self) -> u64 {
        let id = self.next;
        self.next += self.step;
        id
    }

    fn remember(&mut self, known: Known, sent: SentTopology) -> SentTopology {
        if self.recent.len() >= REMEMBERED {
            self.recent.remove(0);
        }
        self.recent.push((known, sent.clone()));
        sent
    }

    /// The topology of a mesh.
    pub(super) fn of_mesh(&mut self, mesh: &Mesh) -> SentTopology {
        // The very object: layers keep it for as long as nothing changes, and to compare triangles would take longer than to send them.
        let is_same = |(known, _): &&(Known, _)| matches!(known, Known::Mesh(t) if Arc::ptr_eq(t, &mesh.topology));
        if let Some((_, sent)) = self.recent.iter().find(is_same) {
            return sent.clone();
        }
        let id = self.take_number();
        let mut textures = Vec::new();
        for material in &mesh.topology.materials {
            if let Some(texture) = &material.texture {
                textures.push(self.of_texture(texture));
            }
        }
        let ids: Vec<u64> = textures.iter().map(|(id, _)| *id).collect();
        let bytes = Arc::new(mesh_topology(mesh, &ids));
        self.remember(Known::Mesh(mesh.topology.clone()), SentTopology { id, bytes, textures })
    }

    /// A texture's number and bytes.
    fn of_texture(&mut self, texture: &Arc<Texture>) -> (u64, Arc<Vec<u8>>) {
        let is_same = |(known, ..): &&(Arc<Texture>, _, _)| Arc::ptr_eq(known, texture);
        if let Some((_, id, bytes)) = self.textures.iter().find(is_same) {
            return (*id, Arc::clone(bytes));
        }
        let mut bytes = Vec::with_capacity(8 + texture.rgba.len());
        bytes.extend(texture.width.to_le_bytes());
        bytes.extend(texture.height.to_le_bytes());
        bytes.extend(&texture.rgba);
        let (id, bytes) = (self.take_number(), Arc::new(bytes));
        if self.textures.len() >= REMEMBERED {
            self.textures.remove(0);
        }
        self.textures.push((Arc::clone(texture), id, Arc::clone(&bytes)));
        (id, bytes)
    }

    /// The topology of curves.
    pub(super) fn of_curves(&mut self, curves: &Curves) -> SentTopology {
        // Counts are made anew with every frame, and are few: they are compared.
        let is_same = |(known, _): &&(Known, _)| {
            matches!(known, Known::Curves { counts, color }
                if *counts == curves.counts && *color == curves.color)
        };
        if let Some((_, sent)) = self.recent.iter().find(is_same) {
            return sent.clone();
        }
        let mut parcel = Parcel::default();
        let counts = parcel.add(curves.counts.iter().flat_map(|c| c.to_le_bytes()));
        let head = json!({
            "kind": "curves", "counts": [counts, curves.counts.len()],
            "color": curves.color.to_array(),
        });
        let sent = SentTopology {
            id: self.take_number(),
            bytes: Arc::new(parcel.close(&head)),
            textures: Vec::new(),
        };
        let known = Known::Curves { counts: curves.counts.clone(), color: curves.color };
        self.remember(known, sent)
    }
}

fn mesh_topology(mesh: &Mesh, textures: &[u64]) -> Vec<u8> {
    let topology = &mesh.topology;
    let mut parcel = Parcel::default();
    // Triangles of one material lie together, so that the page draws each material at once.
    let material = |t: usize| topology.triangle_materials.get(t).copied().unwrap_or(0);
    let mut order: Vec<u32> = (0..topology.triangles.len() as u32).collect();
    order.sort_by_key(|t| material(*t as usize));
    let corners = order.iter().flat_map(|t| topology.triangles[*t as usize]);
    let indices = parcel.add(corners.flat_map(u32::to_le_bytes));
    let numbers = parcel.add(order.iter().flat_map(|t| t.to_le_bytes()));
    let mut groups = Vec::new();
    for (place, t) in order.iter().enumerate() {
        let m = material(*t as usize);
        match groups.last_mut() {
            Some((last, _, count)) if *last == m => *count += 3,
            _ => groups.push((m, 3 * place, 3)),
        }
    }
    let mut head = json!({
        "kind": "mesh", "vertices": topology.vertex_count, "triangles": topology.triangles.len(),
        "indices": indices, "numbers": numbers, "groups": groups,
        "materials": materials(&topology.materials, textures),
    });
    if !topology.uvs.is_empty() {
        let uvs = topology.uvs.iter().flat_map(|uv| uv.to_array()).flat_map(f32::to_le_bytes);
        head["uvs"] = parcel.add(uvs).into();
    }
    if !topology.colors.is_empty() {
        let byte = |c: &f32| (c.clamp(0.0, 1.0) * 255.0) as u8;
        let bytes: Vec<u8> = topology.colors.iter().flatten().map(byte).collect();
        head["colors"] = parcel.add(bytes).into();
    }
    // Vertices that refinement has added come after the actor's own.
    head["own_vertices"] = topology.root_vertex_count().into();
    head["is_refined"] = topology.ancestry.is_some().into();
    parcel.close(&head)
}

fn materials(materials: &[Material], textures: &[u64]) -> Vec<Value> {
    let mut textures = textures.iter();
    let one = |m: &Material| {
        let texture = m.texture.as_ref().and_then(|_| textures.next());
        json!({
            "name": m.name, "color": m.base_color, "roughness": m.roughness,
            "metallic": m.metallic, "transmission": m.transmission, "ior": m.ior,
            "texture": texture,
        })
    };
    materials.iter().map(one).collect()
}
