//! One tick of the cloth by small steps: predict, hold, solve, contacts.

use std::sync::atomic::AtomicBool;

use glam::{DVec3, Vec3};

use super::air::Push;
use super::bend;
use super::body_contacts::BodyContacts;
use super::collide::PosedCollider;
use super::flat_contact::FlatContact;
use super::hierarchy::Hierarchy;
use super::lanes::Moving;
use super::local::Bands;
use super::node_places::NodePlaces;
use super::pressure::{self, Inflation};
use super::rest::ClothRest;
use super::roll;
use super::rows::SolverRows;
use super::self_contact::SelfContacts;
use super::settings::SolverSettings;
use super::sew::Stitch;
use super::soaking::node_mass;
use super::state::ClothState;
use super::stiff::StiffBending;
use super::stretch;
use crate::stage::{Clock, Collider};
use crate::threads::Team;
use crate::tolerances::cloth as limits;

/// Nodes a task takes at once.
pub(super) const CHUNK: usize = 512;
/// Small steps per solve of the coarse levels and tethers.
const FAR_EVERY: u32 = 2;

/// A small step within the tick.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Part of the tick that has passed at its end.
    pub fraction: f64,
    /// Its own part of the tick.
    pub share: f64,
}

/// What drives one tick.
pub struct ClothDrive<'a> {
    /// Length of the tick [s].
    pub dt: f64,
    /// All simple colliders, and which of them the cloth touches.
    pub colliders: (&'a [Collider], &'a [usize]),
    /// Contacts with moving meshes.
    pub bodies: &'a BodyContacts,
    /// Corners of meshes under the cloth.
    pub flat_contacts: &'a [FlatContact],
    /// Held nodes with their places at the start and at the end of the tick.
    pub held: &'a [(u32, DVec3, DVec3)],
    /// Sticky nodes with their places at the start and at the end of the tick.
    pub stuck: &'a [(u32, DVec3, DVec3)],
    /// What is sewn, and the time since the start [s].
    pub stitches: (&'a [Stitch], f64),
    /// Nodes that are drawn to a place, and how fast [rad/s].
    pub soft: &'a [(u32, DVec3, f64)],
    /// What the air inside does, when closed and inflated.
    pub inflation: Option<Inflation>,
    /// Overpressure of the air inside [Pa].
    pub overpressure: f64,
}

/// Rows and scratch of the solver.
pub struct Solver {
    /// Numbers.
    pub settings: SolverSettings,
    /// Inverse mass of every node, 0 when held [1/kg].
    pub inverse_mass: Vec<f64>,
    /// Height of the contact band of every node, as a factor.
    pub(super) bands: Bands,
    /// Acceleration of every node over the tick [m/s²].
    pub acceleration: Vec<DVec3>,
    /// What the air does to every node over the tick, or empty.
    pub air: Vec<Push>,
    /// Share of the air's speed that every node takes on in a small step [-].
    pub(super) taken: Vec<f64>,
    /// What pulled pins ask of every node, or empty [-].
    pub needs: Vec<f32>,
    /// Simple colliders at the present sub-step.
    pub posed: Vec<PosedCollider>,
    pub(super) rows: SolverRows,
    /// Rows for steps of another length: a tick that is solved harder is followed by others that are not.
    spare: SolverRows,
    /// Where every node was before the small step [m].
    pub(super) previous: Vec<DVec3>,
    pub(super) pins: Vec<DVec3>,
    pub(super) hierarchy: Hierarchy,
    gradient: Vec<DVec3>,
    pub(super) moving: Vec<Moving>,
    /// How far cords moved every node without speed in this step [m]; empty when they did not act.
    pub(super) drifts: Vec<Vec3>,
    /// Whether any node touched something in this tick.
    pub(super) touched: AtomicBool,
}

impl Solver {
    /// Room for everything.
    pub fn new(rest: &ClothRest, settings: SolverSettings) -> Self {
        let count = rest.node_count();
        let inverse_mass: Vec<f64> = rest.mass.iter().map(|m| 1.0 / m).collect();
        let mut hierarchy = rest.hierarchy.clone();
        hierarchy.compile(&inverse_mass);
        Self {
            settings,
            inverse_mass,
            bands: rest.bands.clone(),
            acceleration: vec![DVec3::ZERO; count],
            air: Vec::new(),
            taken: Vec::new(),
            needs: Vec::new(),
            posed: Vec::new(),
            rows: SolverRows::new(rest),
            spare: SolverRows::new(rest),
            previous: vec![DVec3::ZERO; count],
            pins: Vec::new(),
            hierarchy,
            gradient: Vec::new(),
            moving: Vec::new(),
            drifts: Vec::new(),
            touched: AtomicBool::new(false),
        }
    }

    /// Says what nodes carry and which are held from now on.
    pub fn set_masses(
        &mut self,
        rest: &ClothRest,
        soaked: &[f32],
        held: impl Iterator<Item = u32>,
    ) {
        for (node, w) in self.inverse_mass.iter_mut().enumerate() {
            *w = 1.0 / node_mass(rest, soaked, node);
        }
        held.for_each(|n| self.inverse_mass[n as usize] = 0.0);
        self.hierarchy.compile(&self.inverse_mass);
        self.rows.forget();
        self.spare.forget();
    }

    /// Advances the state by one tick.
    pub fn tick(
        &mut self,
        team: &mut Team,
        rest: &ClothRest,
        drive: &ClothDrive,
        contacts: &mut SelfContacts,
        state: &mut ClothState,
    ) {
        let substeps = self.settings.substeps;
        let step = drive.dt / f64::from(substeps);
        let every = self.settings.bend_every();
        let self_every = (substeps / self.settings.self_solves).max(1);
        self.compile(rest, (step, every), state.creases.is_empty());
        bend::set_rest_angles(&mut self.rows.hinges.rows, &state.creases);
        self.settings.stretch.swell = drive.inflation.map_or(1.0, |air| air.swell);
        self.rows.raise_limits(rest, &self.needs);
        // Speeds live in the places before the step: what moves a place without moving that changes them.
        let count = state.positions.len();
        let moving = (state.positions.as_slice(), state.velocities.as_slice());
        let back = |_, (previous, (x, v)): (&mut [DVec3], (&[DVec3], &[DVec3]))| {
            previous.iter_mut().zip(x).zip(v).for_each(|((old, x), v)| *old = *x - *v * step);
        };
        team.chunks((self.previous.as_mut_slice(), moving), count, CHUNK, back);
        *self.touched.get_mut() = false;
        // Exact for a rate that lasts: light cloth takes on the air's speed, never more.
        self.taken.resize(self.air.len(), 0.0);
        let share = |_, (taken, air): (&mut [f64], &[Push])| {
            taken.iter_mut().zip(air).for_each(|(t, air)| *t = -(-air.rate * step).exp_m1());
        };
        team.chunks((self.taken.as_mut_slice(), self.air.as_slice()), self.air.len(), CHUNK, share);
        for k in 1..=substeps {
            let fraction = f64::from(k) / f64::from(substeps);
            self.hold(drive, fraction, &mut state.positions);
            let nodes = (contacts.slabs(), state.positions.as_mut_slice());
            self.advance(team, drive, Some(step), k > 1, (fraction, step), nodes);
            if drive.overpressure != 0.0 {
                let (x, w) = (&mut state.positions, &self.inverse_mass);
                let push = (drive.overpressure, step);
                pressure::push(&rest.triangles, w, push, x, &mut self.gradient);
            }
            // Filled by the coarse levels, in the steps where they act; contacts must know what was no motion of the cloth's own.
            self.drifts.clear();
            let is_far = k % FAR_EVERY == 0 && !self.hierarchy.is_empty();
            if is_far {
                self.hierarchy.solve(team, &state.positions, &self.previous, &self.needs);
            }
            self.sweep(team, rest, is_far, &mut state.positions);
            if k % every == 0 {
                self.bend(team, rest, every, &mut state.positions);
            }
            if let Some(air) = drive.inflation {
                let (x, w) = (&mut state.positions, &self.inverse_mass);
                pressure::solve(&rest.triangles, w, air.volume, x, &mut self.gradient);
            }
            // What holds comes after the edges, and contacts last: the later has the last word of a small step.
            self.stick(drive, fraction, &mut state.positions);
            self.draw(drive, step, &mut state.positions);
            for stitch in drive.stitches.0 {
                let time = drive.stitches.1 + fraction * drive.dt;
                stitch.solve(time, &self.inverse_mass, &mut state.positions);
            }
            let (inverse_mass, previous) = (&self.inverse_mass, &mut self.previous);
            let nodes = NodePlaces { inverse_mass, previous, positions: &mut state.positions };
            // Counted from the end: a tick does not end with what the last edges pulled through.
            if (substeps - k).is_multiple_of(self_every) {
                let recovery = self.settings.parting_speed * step * f64::from(self_every);
                contacts.solve(team, rest, (&state.near, recovery), nodes);
            } else {
                contacts.stop(team, nodes);
            }
            for (posed, &index) in self.posed.iter_mut().zip(drive.colliders.1) {
                posed.set(&drive.colliders.0[index], fraction);
            }
        }
        let nodes = (contacts.slabs(), state.positions.as_mut_slice());
        self.advance(team, drive, None, true, (1.0, step), nodes);
        let ways = (state.positions.as_slice(), self.previous.as_slice());
        let speed = |_, (v, (x, previous)): (&mut [DVec3], (&[DVec3], &[DVec3]))| {
            v.iter_mut().zip(x).zip(previous).for_each(|((v, x), old)| *v = (*x - *old) / step);
        };
        team.chunks((state.velocities.as_mut_slice(), ways), count, CHUNK, speed);
        // What is held moves as its holder does, whatever the small steps made of it.
        for &(node, start, end) in drive.held {
            state.velocities[node as usize] = (end - start) / drive.dt;
        }
        // Only what is blown up can roll; flat cloth has friction of its own.
        let blown = drive.inflation.is_some() || drive.overpressure != 0.0;
        if blown && *self.touched.get_mut() {
            let pull = self.acceleration.first().map_or(0.0, |a| a.length());
            roll::slow(&rest.mass, &state.positions, &mut state.velocities, (pull, drive.dt));
        }
        let (w, x) = (&self.inverse_mass, &state.positions);
        // Shares are told for the usual tick: one of another length takes away what its time is worth.
        let lasting = drive.dt * f64::from(Clock::TICK_HZ);
        let over_tick = |share: f64| 1.0 - (1.0 - share).powf(lasting);
        let (along, any) = self.settings.internal_damping;
        let shares = (over_tick(along), over_tick(any));
        rest.strips.sweep(team, &mut state.velocities, &|strip, velocities| {
            let base = rest.strips.start(strip);
            stretch::damp(rest.edges.of(strip), base, shares, w, x, velocities);
        });
    }

    /// Takes the rows for steps of a length, and makes them where they are not made yet. `is_smooth`: no hinge has
    /// a crease.
    fn compile(&mut self, rest: &ClothRest, (step, every): (f64, u32), is_smooth: bool) {
        let wanted = (step, is_smooth && StiffBending::suits(&self.settings.stretch));
        if !self.rows.are_for(wanted) {
            std::mem::swap(&mut self.rows, &mut self.spare);
        }
        if !self.rows.are_for(wanted) {
            self.rows.compile(rest, &self.inverse_mass, (wanted, every));
        }
    }

    /// Moves what is held to its place; tethers hang on it.
    fn hold(&mut self, drive: &ClothDrive, fraction: f64, positions: &mut [DVec3]) {
        for &(node, start, end) in drive.held {
            positions[node as usize] = start.lerp(end, fraction);
        }
        let last = drive.held.iter().map(|h| h.0 as usize + 1).max().unwrap_or(0);
        self.pins.clear();
        self.pins.extend_from_slice(&positions[..last]);
    }

    /// Springs of soft pins, solved implicitly: as stiff as one likes.
    fn draw(&self, drive: &ClothDrive, step: f64, positions: &mut [DVec3]) {
        for &(node, place, rate) in drive.soft {
            if self.inverse_mass[node as usize] > 0.0 {
                let stiff = (rate * step).powi(2);
                let x = &mut positions[node as usize];
                *x = x.lerp(place, stiff / (1.0 + stiff));
            }
        }
    }

    /// Sticky nodes are pulled a share of their way only: they can be seen to be torn away.
    fn stick(&self, drive: &ClothDrive, fraction: f64, positions: &mut [DVec3]) {
        for &(node, start, end) in drive.stuck {
            if self.inverse_mass[node as usize] > 0.0 {
                let x = &mut positions[node as usize];
                *x = x.lerp(start.lerp(end, fraction), limits::STICK_PULL);
            }
        }
    }
}
