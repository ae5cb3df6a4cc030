//! A character that grows twins of its joints, and the skins that use them.

use std::sync::Arc;

use frisson::character::{Character, Influences, Node, Skeleton, Skin, Transform};
use frisson::layers::flesh::FleshWeights;
use glam::Mat4;

use super::Twin;
use super::vertex::Vertex;
use crate::gltf::error::{GltfError, Result};

/// A character that grows twins.
pub(super) struct Grown {
    character: Character,
    nodes: Vec<Node>,
    /// Of every vertex of every mesh: the joints it follows, and the elements that swing it.
    vertices: Vec<Vec<Vertex>>,
    twins: Vec<Twin>,
    first_mesh: usize,
}

impl Grown {
    pub(super) fn new(source: &Arc<Character>, first_mesh: usize) -> Self {
        let character = Character::clone(source);
        let nodes = character.skeleton.nodes().to_vec();
        let mut vertices = Vec::new();
        for mesh in &source.meshes {
            // What rides rigidly on a node is skinned to it alone.
            let skin = mesh.skin.map(|s| &source.skins[s]);
            let vertex = |v: usize| Vertex {
                joints: match skin {
                    Some(skin) => {
                        mesh.influences.of(v).map(|(j, w)| (skin.joints[j as usize], w)).collect()
                    }
                    None => vec![(mesh.node, 1.0)],
                },
                swings: Vec::new(),
            };
            vertices.push((0..mesh.mesh.positions.len()).map(vertex).collect());
        }
        Self { character, nodes, vertices, twins: Vec::new(), first_mesh }
    }

    pub(super) fn take(&mut self, layer: usize, weights: &FleshWeights) {
        let mesh = &mut self.vertices[weights.mesh - self.first_mesh];
        for (&vertex, &alpha) in weights.vertices.iter().zip(&weights.alphas) {
            mesh[vertex as usize].swings.push((layer, alpha));
        }
    }

    /// Meshes that an element swings.
    pub(super) fn swung_meshes(&self) -> Vec<usize> {
        let swings = |mesh: &Vec<Vertex>| mesh.iter().any(|v| !v.swings.is_empty());
        (0..self.vertices.len()).filter(|&m| swings(&self.vertices[m])).collect()
    }

    /// The twin of a joint for an element, made on first use.
    fn twin(&mut self, layer: usize, name: &str, joint: usize) -> usize {
        if let Some(twin) = self.twins.iter().find(|t| (t.layer, t.joint) == (layer, joint)) {
            return twin.node;
        }
        let node = self.nodes.len();
        self.nodes.push(Node {
            name: format!("{}.{name}", self.nodes[joint].name),
            parent: Some(joint),
            rest: Transform::default(),
        });
        self.twins.push(Twin { layer, joint, node });
        node
    }

    /// Shares the weights between joints and twins, at most `limit` a vertex; `names` are the
    /// layers'.
    pub(super) fn finish(
        mut self,
        names: &[String],
        limit: usize,
    ) -> Result<(Character, Vec<Twin>)> {
        let hops = hops(&self.character.skeleton);
        for index in 0..self.character.meshes.len() {
            let mut lists = Vec::new();
            let vertices = std::mem::take(&mut self.vertices[index]);
            if vertices.iter().all(|v| v.swings.is_empty()) {
                continue;
            }
            for vertex in vertices {
                let shared = vertex.share(limit, &hops);
                let node = |(joint, layer, weight): (usize, Option<usize>, f32)| match layer {
                    Some(layer) => (self.twin(layer, &names[layer], joint), weight),
                    None => (joint, weight),
                };
                lists.push(shared.into_iter().map(node).collect());
            }
            self.reskin(index, lists);
        }
        let invalid =
            |e: frisson::character::SkeletonError| GltfError::invalid("skeleton", e.to_string());
        self.character.skeleton = Skeleton::new(self.nodes).map_err(invalid)?;
        drop_unused_skins(&mut self.character);
        Ok((self.character, self.twins))
    }

    /// Gives a mesh a skin of its own with the twins it needs.
    fn reskin(&mut self, index: usize, lists: Vec<Vec<(usize, f32)>>) {
        let mesh = &mut self.character.meshes[index];
        let mut skin = match mesh.skin {
            Some(skin) => self.character.skins[skin].clone(),
            None => Skin {
                name: mesh.mesh.name.clone(),
                joints: vec![mesh.node],
                inverse_bind: vec![Mat4::IDENTITY],
            },
        };
        let mut place = vec![None; self.nodes.len()];
        skin.joints.iter().enumerate().for_each(|(at, &node)| place[node] = Some(at));
        for twin in &self.twins {
            if let Some(original) = place[twin.joint] {
                place[twin.node] = Some(skin.joints.len());
                skin.joints.push(twin.node);
                // A twin at rest stands where its joint stands.
                skin.inverse_bind.push(skin.inverse_bind[original]);
            }
        }
        let entry = |(node, w): (usize, f32)| (place[node].unwrap_or(0) as u16, w);
        let lists: Vec<Vec<(u16, f32)>> =
            lists.into_iter().map(|l| l.into_iter().map(entry).collect()).collect();
        mesh.influences = Influences::from_lists(&lists);
        mesh.skin = Some(self.character.skins.len());
        self.character.skins.push(skin);
    }
}

/// Joints between any two nodes, one way up and the other down.
fn hops(skeleton: &Skeleton) -> Vec<Vec<u16>> {
    let nodes = skeleton.nodes();
    let way =
        |n: usize| std::iter::successors(Some(n), |&at| nodes[at].parent).collect::<Vec<usize>>();
    let ways: Vec<Vec<usize>> = (0..nodes.len()).map(way).collect();
    let between = |a: &Vec<usize>, b: &Vec<usize>| {
        let common = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
        (a.len() + b.len() - 2 * common) as u16
    };
    ways.iter().map(|a| ways.iter().map(|b| between(a, b)).collect()).collect()
}

fn drop_unused_skins(character: &mut Character) {
    let used = |s: usize| character.meshes.iter().any(|m| m.skin == Some(s));
    let kept: Vec<usize> = (0..character.skins.len()).filter(|&s| used(s)).collect();
    character.skins = kept.iter().map(|&s| character.skins[s].clone()).collect();
    for mesh in &mut character.meshes {
        mesh.skin = mesh.skin.and_then(|s| kept.iter().position(|&k| k == s));
    }
}
