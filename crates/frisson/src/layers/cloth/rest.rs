//! What never changes: nodes in solving order, masses, constraints, and what a garment hangs on and touches.

use std::sync::Arc;

use glam::{DVec3, Vec3};

use super::attach::Attachments;
use super::bend::Hinge;
use super::body::GarmentBody;
use super::body_contacts::BodyReach;
use super::dress::Dressing;
use super::hierarchy::Hierarchy;
use super::local::{Bands, Local, SoftPin};
use super::params::ClothParams;
use super::pulled::Pulled;
use super::refine::Refinement;
use super::ridges::Ridges;
use super::self_contact::SelfContacts;
use super::sew::Stitch;
use super::shear::Shear;
use super::stretch::Edge;
use super::strips::{Grouped, Strips};
use super::tether::Tethers;
use super::together::Part;
use crate::geometry::{Lists, Mesh, MeshTopology};

/// A garment as it is built: cut, sewn, and with all that it hangs on and touches looked up.
pub struct Garment {
    /// The mesh in the frame.
    pub mesh: usize,
    /// Meshes that are simulated with it.
    pub parts: Vec<Part>,
    /// Vertices of the mesh as it comes in.
    pub incoming_vertices: usize,
    /// The cloth itself.
    pub cloth: ClothRest,
    /// Where its nodes are at rest [m].
    pub at_rest: Vec<DVec3>,
    /// How the mesh is cut finer.
    pub refinement: Option<Refinement>,
    /// What holds it.
    pub attachments: Attachments,
    /// Whether a node is ever held.
    pub held: Vec<bool>,
    /// What it collides with, as built.
    pub bodies: Vec<GarmentBody>,
    /// Simple colliders that it touches.
    pub colliders: Vec<usize>,
    /// Height of the contact band [m].
    pub thickness: f64,
    /// What finds contacts with itself, as built.
    pub self_contacts: SelfContacts,
    /// What is sewn together.
    pub stitches: Vec<Stitch>,
    /// Nodes that follow the incoming mesh loosely, with their vertices and weights.
    pub soft: Vec<SoftPin>,
    /// From the pose in which it was modelled into the first one.
    pub dressing: Dressing,
    /// Whether parts of it have another size than they are modelled in.
    pub is_resized: bool,
    /// Ticks in a frame interval, for the report.
    pub ticks_per_frame: f64,
    /// What it is made of again when it has ripped; none for cloth that does not tear.
    pub whole: Option<WholeCloth>,
    /// What its mesh has become, if this is a torn one.
    pub torn: Option<Arc<MeshTopology>>,
}

/// Cloth before it is cut: what a torn garment is made of.
pub struct WholeCloth {
    /// The mesh, at rest.
    pub mesh: Mesh,
    pub(super) params: ClothParams,
    pub(super) held: Vec<bool>,
    pub(super) locals: Vec<Local>,
    pub(super) ridges: Ridges,
    pub(super) gravity: f64,
}

/// The cloth as cut and sewn. **Nodes** are welded vertices, numbered outwards from what is held.
pub struct ClothRest {
    /// Node of each vertex.
    pub node_of_vertex: Vec<u32>,
    /// First vertex of each node.
    pub vertex_of_node: Vec<u32>,
    /// Triangles over nodes, those without area left out.
    pub triangles: Vec<[u32; 3]>,
    /// Triangles of each node.
    pub node_triangles: Lists,
    /// Mass of each node [kg].
    pub mass: Vec<f64>,
    /// How thick each node is.
    pub bands: Bands,
    /// Sharing of the work.
    pub strips: Strips,
    /// Edges in solving order.
    pub edges: Grouped<Edge>,
    /// Hinges in solving order.
    pub hinges: Grouped<Hinge>,
    /// Sheared triangles in solving order.
    pub shears: Grouped<Shear>,
    /// Long-range tethers to what is held.
    pub tethers: Tethers,
    /// What pins that are moved apart ask of the cloth.
    pub pulled: Pulled,
    /// Coarse levels; empty when nothing is held.
    pub hierarchy: Hierarchy,
    /// Whether every edge has exactly two triangles.
    pub closed: bool,
    /// Enclosed volume, when closed [m³].
    pub volume: f64,
    /// Area [m²].
    pub area: f64,
    /// Stretch limit when none is given [-].
    pub default_limit: f64,
    /// Mean edge length [m].
    pub mean_edge: f64,
    /// Greatest distance of a node from what holds it, or the size of the cloth [m].
    pub depth: f64,
    /// What the person should know about the mesh.
    pub warnings: Vec<String>,
}

impl Garment {
    /// How far to look for bodies.
    pub fn reach(&self, params: &ClothParams) -> BodyReach {
        BodyReach {
            thickness: self.thickness * self.cloth.bands.most,
            mean_edge: self.cloth.mean_edge,
            depth: params.body_depth,
            friction: params.moduli().friction,
        }
    }
}

impl ClothRest {
    /// Tells numberings of nodes apart (FNV-1a over the vertex of each): a state belongs to one of them.
    pub fn numbering(&self) -> u64 {
        // By a hash: a state would else carry a list as long as the mesh, only to be compared.
        let bytes = self.vertex_of_node.iter().flat_map(|v| v.to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.vertex_of_node.len()
    }

    /// Positions of the nodes from those of the vertices.
    pub fn node_positions(&self, vertices: &[Vec3]) -> Vec<DVec3> {
        self.vertex_of_node.iter().map(|&v| vertices[v as usize].as_dvec3()).collect()
    }
}
