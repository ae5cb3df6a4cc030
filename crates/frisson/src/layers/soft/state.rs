//! All that evolves, and is put back when a step was too long.

use glam::{DMat3, DQuat, DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::grip::Grip;
use super::rest::{PrimitiveRest, SoftRest};
use super::sample::Territory;
use super::structure::BodyRest;
use super::weld::Weld;

/// Where a body of the internal structure is. Particles do not turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// Centre of mass [m].
    pub position: DVec3,
    /// World from body.
    pub rotation: DQuat,
    /// [m/s].
    pub velocity: DVec3,
    /// Angular velocity, world axes [rad/s].
    pub spin: DVec3,
    /// Force known from the last step, gravity not included [N].
    pub force: DVec3,
    /// Its moment about the centre [N m].
    pub torque: DVec3,
}

impl BodyState {
    /// Velocity of the material at a place [m/s].
    #[must_use]
    pub fn velocity_at(&self, at: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(at - self.position)
    }

    /// Adds a force at a place.
    pub fn push(&mut self, force: DVec3, at: DVec3) {
        self.force += force;
        self.torque += (at - self.position).cross(force);
    }
}

/// What holds two particles of a dough together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bond {
    /// The primitives, the greater first.
    pub pair: (u32, u32),
    /// Distance at which it does not pull [m].
    pub length: f64,
}

/// The side from which two primitives that do not blend first met.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The primitives, the smaller first.
    pub pair: (u32, u32),
    /// Direction from the first to the second.
    pub normal: DVec3,
    /// What the bristle between them does to the first, along the contact [N].
    pub held: DVec3,
}

/// Where a mesh that is a tool was at the end of the last step.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolPlace {
    /// Name of the mesh.
    pub mesh: String,
    /// Its vertices [m].
    pub positions: Vec<Vec3>,
}

impl Clone for ToolPlace {
    fn clone(&self) -> Self {
        Self { mesh: self.mesh.clone(), positions: self.positions.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.mesh.clone_from(&source.mesh);
        self.positions.clone_from(&source.positions);
    }
}

/// The state of the layer.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SoftState {
    /// Bodies of the internal structures.
    pub bodies: Vec<BodyState>,
    /// Per primitive: stretch that takes the ball of a particle to its flattened shape [-].
    pub stretches: Vec<DMat3>,
    /// Per primitive: translation of its field [m].
    pub offsets: Vec<f64>,
    /// Per primitive: translation of its field that its contacts feel [m].
    pub felt: Vec<f64>,
    /// Per primitive: pressure that makes it bulge beside its contacts [Pa].
    pub bulges: Vec<f64>,
    /// Per primitive: volume of its territory at the last step [m³].
    pub volumes: Vec<f64>,
    /// Per primitive: change of its volume as all coats thicken, at the last step [m²].
    pub gains: Vec<f64>,
    /// Per primitive: volume it should have had then [m³]; 0 where nobody controls it.
    pub wanted: Vec<f64>,
    /// Per primitive: volume at the start [m³]; empty before the first step.
    pub rest_volumes: Vec<f64>,
    /// Per primitive: group it blends in, named by its smallest member.
    pub groups: Vec<u32>,
    /// Places where pieces have become one, or are about to.
    pub welds: Vec<Weld>,
    /// Bonds of doughs, ascending by pair.
    pub bonds: Vec<Bond>,
    /// Sides of the contacts, ascending by pair.
    pub sides: Vec<Side>,
    /// Bristles under what touches tools, ascending by pair.
    pub grips: Vec<Grip>,
    /// Per primitive: distance of each seed [m].
    pub distances: Vec<Vec<f64>>,
    /// Where the meshes that are tools were.
    pub tools: Vec<ToolPlace>,
    /// Length of the last step that went well [s].
    pub step: f64,
    /// Greatest depth of a contact, in thicknesses [-].
    pub depth: f64,
    /// Seeds on contact surfaces.
    pub contacts: usize,
    /// Steps taken since the start.
    pub steps: usize,
    /// Steps taken back since the start.
    pub take_backs: usize,
    /// What was said to the person, each once.
    pub warnings: Vec<String>,
}

impl Clone for SoftState {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Every list keeps its storage: a copy is made before every step.
    fn clone_from(&mut self, source: &Self) {
        let Self {
            bodies,
            stretches,
            offsets,
            felt,
            bulges,
            volumes,
            gains,
            wanted,
            rest_volumes,
            groups,
            welds,
            bonds,
            sides,
            grips,
            distances,
            tools,
            step,
            depth,
            contacts,
            steps,
            take_backs,
            warnings,
        } = source;
        self.bodies.clone_from(bodies);
        self.stretches.clone_from(stretches);
        self.offsets.clone_from(offsets);
        self.felt.clone_from(felt);
        self.bulges.clone_from(bulges);
        self.volumes.clone_from(volumes);
        self.gains.clone_from(gains);
        self.wanted.clone_from(wanted);
        self.rest_volumes.clone_from(rest_volumes);
        self.groups.clone_from(groups);
        self.welds.clone_from(welds);
        self.bonds.clone_from(bonds);
        self.sides.clone_from(sides);
        self.grips.clone_from(grips);
        self.distances.clone_from(distances);
        self.tools.clone_from(tools);
        self.warnings.clone_from(warnings);
        (self.step, self.depth, self.contacts, self.steps, self.take_backs) =
            (*step, *depth, *contacts, *steps, *take_backs);
    }
}

impl SoftState {
    /// Bodies where they start, coats as thick as they are set; volumes are not known yet.
    #[must_use]
    pub fn begin(rest: &SoftRest) -> Self {
        let count = rest.primitives.len();
        let body = |b: &BodyRest| BodyState { position: b.start, ..Default::default() };
        let thick = |(s, p): (&Vec<_>, &PrimitiveRest)| vec![p.profile.thickness; s.len()];
        let group = |p: &PrimitiveRest| rest.objects[p.object].primitives.start as u32;
        Self {
            bodies: rest.bodies.iter().map(body).collect(),
            stretches: vec![DMat3::IDENTITY; count],
            offsets: vec![0.0; count],
            felt: vec![0.0; count],
            bulges: vec![0.0; count],
            groups: rest.primitives.iter().map(group).collect(),
            distances: rest.seeds.iter().zip(&rest.primitives).map(thick).collect(),
            step: f64::INFINITY,
            ..Self::default()
        }
    }

    /// Takes the volumes that territories have as those to keep, if anybody controls them.
    pub fn keep_volumes(&mut self, territories: &[Territory], is_controlled: bool) {
        self.rest_volumes = territories.iter().map(|t| t.volume).collect();
        self.volumes.clone_from(&self.rest_volumes);
        self.gains = territories.iter().map(|t| t.common_gain).collect();
        let is_controlled = f64::from(u8::from(is_controlled));
        self.wanted = self.rest_volumes.iter().map(|v| is_controlled * v).collect();
    }

    /// Whether it is a state of this rest data: every list as long as it must be, every index within.
    pub fn fits(&self, rest: &SoftRest) -> bool {
        let count = rest.primitives.len();
        let within = |i: u32| (i as usize) < count;
        let both = |pair: (u32, u32)| within(pair.0) && within(pair.1);
        let lists = [&self.offsets, &self.felt, &self.bulges, &self.volumes, &self.rest_volumes];
        let lists = lists.into_iter().chain([&self.gains, &self.wanted]);
        // A checkpoint may come from a scene that was changed since: any index out of range would end in a panic.
        self.bodies.len() == rest.bodies.len()
            && lists.map(Vec::len).all(|length| length == count)
            && self.stretches.len() == count
            && self.groups.len() == count
            && self.groups.iter().all(|g| within(*g))
            && self.welds.iter().all(|w| both(w.pair))
            && self.bonds.iter().all(|b| both(b.pair))
            && self.sides.iter().all(|s| both(s.pair))
            && self.grips.iter().all(|g| within(g.pair.0))
            && self.distances.len() == rest.seeds.len()
            && self.distances.iter().zip(&rest.seeds).all(|(d, s)| d.len() == s.len())
    }

    /// Says something to the person, once.
    pub fn warn(&mut self, text: String) {
        // A step says the same thing a hundred times.
        if !self.warnings.contains(&text) {
            self.warnings.push(text);
        }
    }

    /// Volume of all territories as the seeds measure it [m³].
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.volumes.iter().sum()
    }

    /// Volume of all territories at the start [m³].
    #[must_use]
    pub fn rest_volume(&self) -> f64 {
        self.rest_volumes.iter().sum()
    }
}
