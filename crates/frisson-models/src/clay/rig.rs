//! Named joints at places in the rest pose.

use frisson::character::{Node, Skeleton, Skin, Transform};
use glam::{Mat4, Vec3};

/// Index of a joint (and of its node: a rig has no other nodes).
pub(crate) type Joint = usize;

/// A skeleton whose joints' axes are the world's in the rest pose, which makes clips easy to write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rig {
    names: Vec<String>,
    parents: Vec<Option<Joint>>,
    places: Vec<Vec3>,
}

impl Rig {
    /// Adds a joint at a place in the world.
    pub(crate) fn joint(&mut self, name: &str, parent: Option<Joint>, place: Vec3) -> Joint {
        self.names.push(name.to_owned());
        self.parents.push(parent);
        self.places.push(place);
        self.names.len() - 1
    }

    /// Adds a chain `name_01`, `name_02`, … below a joint.
    pub(crate) fn chain(&mut self, name: &str, parent: Joint, places: &[Vec3]) -> Vec<Joint> {
        let mut above = parent;
        let joints = places.iter().enumerate().map(|(i, &place)| {
            above = self.joint(&format!("{name}_{:02}", i + 1), Some(above), place);
            above
        });
        joints.collect()
    }

    /// Where a joint is at rest [m].
    pub(crate) fn place(&self, joint: Joint) -> Vec3 {
        self.places[joint]
    }

    /// Where a joint is at rest, from its parent [m].
    pub(crate) fn offset(&self, joint: Joint) -> Vec3 {
        self.places[joint] - self.parents[joint].map_or(Vec3::ZERO, |p| self.places[p])
    }

    /// The joint above.
    pub(crate) fn parent(&self, joint: Joint) -> Option<Joint> {
        self.parents[joint]
    }

    /// Number of joints.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The engine's skeleton.
    pub(crate) fn skeleton(&self) -> Skeleton {
        let node = |j: Joint| Node {
            name: self.names[j].clone(),
            parent: self.parents[j],
            rest: Transform::from_translation(self.offset(j)),
        };
        // Parents are added before their children, so there is no cycle to be refused.
        Skeleton::new((0..self.len()).map(node).collect()).unwrap_or_default()
    }

    /// A skin with all joints.
    pub(crate) fn skin(&self, name: &str) -> Skin {
        Skin {
            name: name.to_owned(),
            joints: (0..self.len()).collect(),
            inverse_bind: self.places.iter().map(|&p| Mat4::from_translation(-p)).collect(),
        }
    }
}
