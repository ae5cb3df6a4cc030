//! What a tick works with beside the state, and may lose between any two.

use glam::{DVec3, Vec3};

use super::air::Push;
use super::body::GarmentBody;
use super::body_contacts::BodyContacts;
use super::caught::CaughtCloth;
use super::flat_contact::FlatContacts;
use super::params::ClothParams;
use super::pressed::Press;
use super::refine::RefineScratch;
use super::rest::Garment;
use super::self_contact::SelfContacts;
use super::solver::Solver;
use super::sunk::Sunk;
use super::tear::Tears;
use crate::stage::Clock;

/// Storage that is reused from tick to tick.
#[derive(Default)]
pub struct ClothScratch {
    pub(super) tools: Option<Tools>,
    /// The garment with the tears of the state, and which those are.
    pub(super) torn: Option<(u64, Box<Garment>)>,
    /// The incoming mesh, finer where it is to be.
    pub(super) incoming: Vec<Vec3>,
    pub(super) refine: RefineScratch,
    /// Held nodes with their places at the start and at the end of the tick.
    pub(super) held: Vec<(u32, DVec3, DVec3)>,
    /// How each of them is pressed by what stays outside.
    pub(super) presses: Vec<Press>,
    /// Sticky nodes with their places at the start and at the end of the tick.
    pub(super) stuck: Vec<(u32, DVec3, DVec3)>,
    /// Soft pins with the places that draw them, and how fast [rad/s].
    pub(super) soft: Vec<(u32, DVec3, f64)>,
    pub(super) held_nodes: Vec<u32>,
    /// What nodes carry, as rows were compiled for it [kg].
    pub(super) soaked: Vec<f32>,
    /// Where nodes are at the start of the tick.
    pub(super) starts: Vec<DVec3>,
    /// The same, and held ones where they will be at the end of it.
    pub(super) ends: Vec<DVec3>,
    /// Velocities that nodes will have once bodies have struck them [m/s].
    pub(super) coming: Vec<DVec3>,
    pub(super) per_triangle: Vec<Push>,
    /// Whether each body's triangles can be followed through this tick.
    pub(super) kept: Vec<bool>,
}

/// What works on the state. Made from rest data; what it remembers of the last tick is in the state too.
pub(super) struct Tools {
    pub(super) solver: Solver,
    pub(super) bodies: Vec<GarmentBody>,
    pub(super) carriers: Vec<GarmentBody>,
    pub(super) contacts: BodyContacts,
    pub(super) flat_contacts: FlatContacts,
    pub(super) sunk: Sunk,
    pub(super) caught: CaughtCloth,
    pub(super) self_contacts: SelfContacts,
    /// Tick up to which bodies and carriers have followed the state.
    pub(super) followed: Option<u64>,
}

impl Tools {
    pub(super) fn new(params: &ClothParams, rest: &Garment, clock: &Clock) -> Self {
        let flat_contacts = if rest.bodies.is_empty() {
            FlatContacts::default()
        } else {
            FlatContacts::new(&rest.cloth, &rest.at_rest)
        };
        Self {
            solver: Solver::new(&rest.cloth, rest.settings(params, clock)),
            bodies: rest.bodies.clone(),
            carriers: rest.attachments.carriers.clone(),
            contacts: BodyContacts::default(),
            flat_contacts,
            sunk: Sunk::default(),
            caught: CaughtCloth::default(),
            self_contacts: rest.self_contacts.clone(),
            followed: None,
        }
    }
}

impl ClothScratch {
    /// With the garment that a state's tears make.
    pub(super) fn with(mut self, tears: &Tears, torn: Garment) -> Self {
        self.torn = Some((tears.fingerprint, Box::new(torn)));
        self
    }
}
