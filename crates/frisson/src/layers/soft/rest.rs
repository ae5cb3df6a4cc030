//! What is computed once: primitives, bodies, joints, links, seeds.

use std::sync::Arc;

use glam::DVec3;

use super::field::{FieldProfile, Kind};
use super::params::{CoatBone, CoatParams, SoftObject, SoftParams};
use super::seeds::{ContactSeeds, Seed};
use super::skin_field::SkinSolid;
use super::structure::{BodyRest, JointRest};
use super::tool::Toolbox;

/// Where in its object's parameters a primitive is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Described {
    /// With its object: a particle, a fitted ball.
    WithObject,
    /// By an entry of `primitives`.
    Primitive(usize),
    /// By an entry of `bones`.
    Bone(usize),
    /// By an entry of the coat's `bones`.
    CoatBone(usize),
    /// By an entry of the coat's `muscles`.
    Muscle(usize),
}

/// A primitive that never changes.
#[derive(Clone, Debug)]
pub struct PrimitiveRest {
    /// Name within its object.
    pub name: String,
    /// Kind.
    pub kind: Kind,
    /// Object it belongs to.
    pub object: usize,
    /// Body that carries it.
    pub body: usize,
    /// Points in the body's axes [m].
    pub points: Vec<DVec3>,
    /// Field; its level is the layer's.
    pub profile: FieldProfile,
    /// Linear RGB.
    pub color: [f32; 3],
    /// Texture coordinates at its ends.
    pub uv: Option<[[f32; 2]; 2]>,
    /// Where its own parameters are.
    pub described: Described,
    /// Primitives it blends with, if not all of its group.
    pub links: Option<Arc<[u32]>>,
    /// Node of a character that carries it, for coats.
    pub node: Option<usize>,
    /// Whether the skin that it was fitted to is shown in its place.
    pub under_skin: bool,
}

/// The skin that a coat was fitted to.
#[derive(Clone, Debug, Default)]
pub struct SkinRest {
    /// Object that is the coat.
    pub object: usize,
    /// Meshes of the frame, ascending.
    pub meshes: Vec<usize>,
    /// Volume of what is shown in the pose in which limbs are apart [m³].
    pub volume: f64,
    /// Thickness of the object [m].
    pub thickness: f64,
    /// Whether the coat has the skin's colours.
    pub is_seen: bool,
    /// The meshes as one surface with lids, as they are connected at the start.
    pub solid: Arc<SkinSolid>,
    /// For every vertex of the meshes: the bodies that carry it most, and their weights.
    pub carriers: Vec<[(u32, f32); 3]>,
}

/// An object that never changes.
#[derive(Clone, Debug)]
pub struct ObjectRest {
    /// Name.
    pub name: String,
    /// Its place in the list of the parameters.
    pub listed: usize,
    /// Whether it is a dough.
    pub is_dough: bool,
    /// Whether it may fuse.
    pub may_fuse: bool,
    /// Density [kg/m³].
    pub density: f64,
    /// Its primitives.
    pub primitives: std::ops::Range<usize>,
    /// Which mesh shows it.
    pub label: usize,
    /// Rest distance of a dough [m], or 0.
    pub spacing: f64,
    /// Mass of one particle of a dough [kg], or 0.
    pub particle_mass: f64,
}

/// Everything that never changes.
#[derive(Clone, Debug, Default)]
pub struct SoftRest {
    /// Iso-value [Pa].
    pub level: f64,
    /// Objects, by name: the order in which they are listed does not matter.
    pub objects: Vec<ObjectRest>,
    /// Primitives, object by object.
    pub primitives: Vec<PrimitiveRest>,
    /// Bodies.
    pub bodies: Vec<BodyRest>,
    /// Joints.
    pub joints: Vec<JointRest>,
    /// Skins that are shown in the place of the balls fitted to them.
    pub skins: Vec<SkinRest>,
    /// For each primitive: its object, if it is a ball under a skin.
    pub balls: Vec<Option<u32>>,
    /// Whether meshes that are given frame by frame carry bodies.
    pub hangs: bool,
    /// Actors whose joints carry bodies, ascending.
    pub actors: Vec<usize>,
    /// Seeds of each primitive.
    pub seeds: Vec<Vec<Seed>>,
    /// Colliders and meshes that are tools.
    pub toolbox: Toolbox,
    /// Finer seeds that take the place of a seed in or near a contact.
    pub contact_seeds: Vec<Arc<ContactSeeds>>,
    /// Names of the meshes.
    pub labels: Vec<String>,
    /// Size of the surface's triangles [m].
    pub cell: f64,
}

impl PrimitiveRest {
    /// Factor of its volume at a frame [-]: its object's times its own.
    #[must_use]
    pub fn volume_factor(&self, object: &SoftObject, frame: f64) -> f64 {
        let of_coat = |pick: fn(&CoatParams) -> &[CoatBone], i: usize| {
            object.coat.as_ref().and_then(|c| pick(c).get(i)?.volume.as_ref())
        };
        let own = match self.described {
            Described::WithObject => None,
            Described::Primitive(i) => object.primitives.get(i).and_then(|p| p.volume.as_ref()),
            Described::Bone(i) => object.bones.get(i).and_then(|b| b.volume.as_ref()),
            Described::CoatBone(i) => of_coat(|c| &c.bones, i),
            Described::Muscle(i) => of_coat(|c| &c.muscles, i),
        };
        object.volume.at(frame) * own.map_or(1.0, |v| v.at(frame))
    }
}

impl SoftRest {
    /// What the artist set for the object of a primitive.
    #[must_use]
    pub fn object_of<'a>(&self, primitive: usize, params: &'a SoftParams) -> &'a SoftObject {
        &params.objects[self.objects[self.primitives[primitive].object].listed]
    }
}
