//! A tree of named nodes with rest transforms.

use glam::{Mat4, Quat, Vec3};
use thiserror::Error;

/// Translation, rotation, scale, applied in the order scale, rotation, translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// [m].
    pub translation: Vec3,
    /// Unit quaternion.
    pub rotation: Quat,
    /// Per axis; may be negative.
    pub scale: Vec3,
}

impl Default for Transform {
    fn default() -> Self {
        Self { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE }
    }
}

impl Transform {
    /// A pure translation.
    #[must_use]
    pub fn from_translation(translation: Vec3) -> Self {
        Self { translation, ..Self::default() }
    }

    /// The matrix.
    #[must_use]
    pub fn matrix(&self) -> Mat4 {
        Mat4::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

/// One node: a joint, or anything that carries meshes.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Name; unique names are made by the readers.
    pub name: String,
    /// Parent node.
    pub parent: Option<usize>,
    /// Local transform when no clip drives the node.
    pub rest: Transform,
}

/// Nodes with an evaluation order.
#[derive(Clone, Debug, Default)]
pub struct Skeleton {
    nodes: Vec<Node>,
    parents_first: Vec<usize>,
}

/// What can be wrong with a tree.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SkeletonError {
    /// The parent links run in a circle.
    #[error("node {0:?} is its own ancestor")]
    Cycle(String),
    /// A parent index is out of range.
    #[error("node {0:?} has a parent that does not exist")]
    MissingParent(String),
}

impl Skeleton {
    /// Checks the parent links and fixes the order of evaluation.
    pub fn new(nodes: Vec<Node>) -> Result<Self, SkeletonError> {
        let mut parents_first = Vec::with_capacity(nodes.len());
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            match node.parent {
                None => parents_first.push(index),
                Some(parent) if parent < nodes.len() => children[parent].push(index),
                Some(_) => return Err(SkeletonError::MissingParent(node.name.clone())),
            }
        }
        // Breadth first over a list that is its own queue: what a cycle holds is never reached, so that it ends.
        let mut next = 0;
        while next < parents_first.len() {
            let node = parents_first[next];
            parents_first.extend_from_slice(&children[node]);
            next += 1;
        }
        if parents_first.len() < nodes.len() {
            let mut reached = vec![false; nodes.len()];
            parents_first.iter().for_each(|&n| reached[n] = true);
            let first = reached.iter().position(|r| !r).unwrap_or(0);
            return Err(SkeletonError::Cycle(nodes[first].name.clone()));
        }
        Ok(Self { nodes, parents_first })
    }

    /// The nodes, by index.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Node indices, every parent before its children.
    #[must_use]
    pub fn parents_first(&self) -> &[usize] {
        &self.parents_first
    }

    /// The node with that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|n| n.name == name)
    }

    /// Whether `node` is `ancestor` or below it.
    #[must_use]
    pub fn is_below(&self, node: usize, ancestor: usize) -> bool {
        let mut at = Some(node);
        while let Some(index) = at {
            if index == ancestor {
                return true;
            }
            at = self.nodes[index].parent;
        }
        false
    }

    /// Nodes on the way from `ancestor` (included) down to `node` (included), or nothing.
    #[must_use]
    pub fn path(&self, ancestor: usize, node: usize) -> Option<Vec<usize>> {
        let mut way = vec![node];
        let mut at = node;
        while at != ancestor {
            at = self.nodes[at].parent?;
            way.push(at);
        }
        way.reverse();
        Some(way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, parent: Option<usize>) -> Node {
        Node { name: name.to_owned(), parent, rest: Transform::default() }
    }

    #[test]
    fn children_listed_before_parents_are_ordered() {
        let s = Skeleton::new(vec![node("tip", Some(1)), node("mid", Some(2)), node("root", None)])
            .unwrap();
        assert_eq!(s.parents_first(), &[2, 1, 0]);
        assert_eq!(s.path(2, 0), Some(vec![2, 1, 0]));
        assert!(s.is_below(0, 2) && !s.is_below(2, 0));
    }

    #[test]
    fn cycles_and_missing_parents_are_refused() {
        let cycle = Skeleton::new(vec![node("a", Some(1)), node("b", Some(0))]);
        assert_eq!(cycle.unwrap_err(), SkeletonError::Cycle("a".to_owned()));
        let missing = Skeleton::new(vec![node("a", Some(7))]);
        assert_eq!(missing.unwrap_err(), SkeletonError::MissingParent("a".to_owned()));
    }
}
