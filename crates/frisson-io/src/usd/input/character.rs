//! Skeletons, the meshes bound to them and what carries both, as a character.

use std::collections::BTreeMap;
use std::sync::Arc;

use frisson::character::{Character, CharacterMesh, Influences, Node, Skeleton, Transform};
use frisson::geometry::{Mesh, MeshTopology};
use glam::{DMat4, Vec3};

use super::attribute::single;
use super::file::UsdFile;
use super::skin::{Rig, inherited, read_morphs, read_skin};
use super::transform::TransformTrack;
use super::{Result, UsdError};
use crate::gltf::UniqueNames;

/// A matrix taken apart, and whether that lost a shear.
pub(super) fn decompose(matrix: DMat4) -> (Transform, bool) {
    let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
    let again = DMat4::from_scale_rotation_translation(scale, rotation, translation);
    let size = matrix.to_cols_array().iter().fold(1.0_f64, |a, b| a.max(b.abs()));
    // What single precision would not show anyway.
    let lost = !again.abs_diff_eq(matrix, 1e-4 * size);
    let whole = scale.is_finite() && rotation.is_finite();
    let rotation = if whole { rotation.as_quat().normalize() } else { glam::Quat::IDENTITY };
    let scale = if whole { scale.as_vec3() } else { Vec3::ZERO };
    (Transform { translation: translation.as_vec3(), rotation, scale }, lost)
}

/// Reads a file as a character, in metres with Y up; what was left out is in the file's warnings.
pub fn read_usd_character(file: &mut UsdFile, name: &str) -> Result<Character> {
    let mut maker = Maker {
        file,
        nodes: Vec::new(),
        names: UniqueNames::default(),
        of_prim: BTreeMap::new(),
        moving: Vec::new(),
        rigs: Vec::new(),
    };
    maker.make(name)
}

impl UsdFile {
    /// Whether there is a skeleton in it.
    #[must_use]
    pub fn has_skeleton(&self) -> bool {
        self.stage.prims.iter().any(|p| &*p.type_name == "Skeleton")
    }
}

pub(super) struct Maker<'a> {
    pub file: &'a mut UsdFile,
    nodes: Vec<Node>,
    names: UniqueNames,
    /// Node of each prim that carries something.
    of_prim: BTreeMap<usize, usize>,
    /// Nodes that are animated by themselves.
    pub moving: Vec<(usize, TransformTrack)>,
    pub rigs: Vec<Rig>,
}

impl Maker<'_> {
    fn make(&mut self, name: &str) -> Result<Character> {
        let prims = 0..self.file.stage.prims.len();
        let is_rig = |p: &usize| &*self.file.stage.prims[*p].type_name == "Skeleton";
        let found: Vec<usize> = prims.filter(is_rig).collect();
        for prim in found {
            self.rigs.push(Rig::read(&self.file.stage, prim)?);
        }
        let limit = self.file.stage.assets.inputs.limits().nodes;
        let joints: usize = self.rigs.iter().map(|r| r.joints.len()).sum();
        crate::inputs::check_count("joints", joints as u64, limit)?;
        // Joints are looked for by their names: they come first to them.
        let of_joints: Vec<Vec<String>> = self
            .rigs
            .iter()
            .map(|rig| {
                let last = |j: &str| j.rsplit('/').next().unwrap_or_default().to_owned();
                rig.joints.iter().map(|j| self.names.make_unique(&last(j))).collect()
            })
            .collect();
        for (rig, names) in of_joints.into_iter().enumerate() {
            self.add_joints(rig, names)?;
        }
        let mut character = Character { name: name.to_owned(), ..Character::default() };
        let mut mesh_names = UniqueNames::default();
        for index in 0..self.file.meshes.len() {
            self.add_mesh(index, &mut mesh_names, &mut character)?;
        }
        let nodes = std::mem::take(&mut self.nodes);
        character.skeleton =
            Skeleton::new(nodes).map_err(|e| UsdError::damaged("nodes", e.to_string()))?;
        self.add_clips(&mut character)?;
        Ok(character)
    }

    /// The node of a prim, made with all above it.
    fn node(&mut self, prim: usize) -> Result<usize> {
        if let Some(&known) = self.of_prim.get(&prim) {
            return Ok(known);
        }
        let track = TransformTrack::read(&self.file.stage, prim)?;
        let above = self.file.stage.prims[prim].parent.filter(|_| !track.resets);
        let parent = match above {
            Some(above) => Some(self.node(above)?),
            None => self.top(),
        };
        let matrix = track.matrix(&self.file.stage, f64::NEG_INFINITY)?;
        let (rest, lost) = decompose(self.file.space.in_metres(matrix));
        let path = self.file.stage.prims[prim].path.clone();
        if lost {
            self.file.stage.warn(format!("{path}: its shear is left out"));
        }
        let name = self.names.make_unique(&self.file.stage.prims[prim].name);
        self.nodes.push(Node { name, parent, rest });
        let node = self.nodes.len() - 1;
        self.of_prim.insert(prim, node);
        if !track.is_constant() {
            self.moving.push((node, track));
        }
        Ok(node)
    }

    /// The prim behind a node.
    pub(super) fn prim_of(&self, node: usize) -> Option<usize> {
        self.of_prim.iter().find(|(_, n)| **n == node).map(|(prim, _)| *prim)
    }

    /// The node that brings the file's axes to ours, where they differ.
    fn top(&mut self) -> Option<usize> {
        const TOP: usize = usize::MAX;
        if !self.file.space.is_z_up {
            return None;
        }
        if let Some(&known) = self.of_prim.get(&TOP) {
            return Some(known);
        }
        let rotation = self.file.space.turn().as_quat();
        let rest = Transform { rotation, ..Transform::default() };
        self.nodes.push(Node { name: self.names.make_unique("Y_up"), parent: None, rest });
        self.of_prim.insert(TOP, self.nodes.len() - 1);
        Some(self.nodes.len() - 1)
    }

    fn add_joints(&mut self, rig: usize, names: Vec<String>) -> Result<()> {
        let below = self.node(self.rigs[rig].prim)?;
        let first = self.nodes.len();
        let space = self.file.space;
        for (joint, name) in names.into_iter().enumerate() {
            let rig = &self.rigs[rig];
            let parent = rig.parent(joint).map_or(below, |p| first + p);
            let (rest, _) = decompose(space.in_metres(rig.rest[joint]));
            self.nodes.push(Node { name, parent: Some(parent), rest });
        }
        let rig = &mut self.rigs[rig];
        rig.nodes = (first..first + rig.joints.len()).collect();
        Ok(())
    }

    fn add_mesh(
        &mut self,
        index: usize,
        names: &mut UniqueNames,
        character: &mut Character,
    ) -> Result<()> {
        let (prim, info) = {
            let placed = &self.file.meshes[index].0;
            (placed.prim, placed.info.clone())
        };
        if !self.file.mesh_is_visible(index, self.file.span().0)? {
            self.file.stage.warn(format!("{}: it is hidden and left out", info.path));
            return Ok(());
        }
        let shape = self.file.shape_at(index, f64::NEG_INFINITY)?;
        if shape.topology.triangles.is_empty() {
            return Ok(());
        }
        let placed = &self.file.meshes[index].0;
        let points = placed.points.vectors(&self.file.stage, f64::NEG_INFINITY, true)?;
        if !placed.points.is_constant() {
            let text =
                format!("{}: the motion of its points is left out for its joints'", info.path);
            self.file.stage.warn(text);
        }
        let node = self.node(prim)?;
        let space = self.file.space;
        let (skin, lists) = self.skin(prim, node, points.len(), &shape.points, character)?;
        let stage = &mut self.file.stage;
        let morphs = read_morphs(stage, prim, points.len(), &shape.points, space)?;
        let place = |&p: &u32| single(space.unit * points[p as usize]);
        let positions: Vec<Vec3> = shape.points.iter().map(place).collect();
        let topology: Arc<MeshTopology> = shape.topology;
        let name = names.make_unique(&info.name);
        let morph_weights = vec![0.0; morphs.len()];
        character.meshes.push(CharacterMesh {
            mesh: Mesh { name, topology, positions, ..Mesh::default() },
            node,
            skin,
            influences: Influences::from_lists(&lists),
            morphs,
            morph_weights,
            source: None,
        });
        Ok(())
    }

    fn skin(
        &mut self,
        prim: usize,
        node: usize,
        points: usize,
        sources: &[u32],
        character: &mut Character,
    ) -> Result<(Option<usize>, Vec<Vec<(u16, f32)>>)> {
        let stage = &self.file.stage;
        let bound = inherited(stage, prim, "skel:skeleton")?;
        let rig = self.rigs.iter().find(|r| Some(r.prim) == bound);
        let Some(rig) = rig.filter(|r| !r.joints.is_empty()) else { return Ok((None, Vec::new())) };
        let method = stage.token(prim, "primvars:skel:skinningMethod")?;
        let found = read_skin(stage, prim, rig, node, points, self.file.space)?;
        let Some((skin, lists)) = found else { return Ok((None, Vec::new())) };
        if method.is_some_and(|m| &*m == "dualQuaternion") {
            let path = self.file.stage.prims[prim].path.clone();
            self.file
                .stage
                .warn(format!("{path}: asks for dual quaternions and is skinned linearly"));
        }
        character.skins.push(skin);
        let lists = sources.iter().map(|&p| lists[p as usize].clone()).collect();
        Ok((Some(character.skins.len() - 1), lists))
    }
}
