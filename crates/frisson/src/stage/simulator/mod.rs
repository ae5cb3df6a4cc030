//! The door: everything that drives the engine goes through a [`Simulator`].

mod error;
mod push;
mod stack;

use std::sync::Arc;

use glam::Vec3;

pub use self::error::SimulatorError;
use self::stack::Span;
use super::{
    Actor, ActorSet, Anchor, BuildContext, Change, Clock, ColliderParams, ColliderSet, Forces,
    Frame, LayerError, LayerReport, Motion, PoseScratch, Reference, ReferencePose, RunningLayer,
    Selection, SnapshotError,
};
use crate::geometry::{Mesh, MeshTopology};
use crate::layers::LayerParams;
use crate::tolerances;

/// Told when layers start and end, so that others can measure time: the engine has no clock.
pub trait Observer {
    /// Whether to take another tick; else it ends there with [`SimulatorError::Interrupted`].
    fn goes_on(&mut self) -> bool {
        true
    }

    /// The actors are about to be posed.
    fn actors_start(&mut self) {}
    /// The actors are posed.
    fn actors_end(&mut self) {}
    /// A layer is about to step.
    fn layer_start(&mut self, _layer: usize) {}
    /// A layer has stepped.
    fn layer_end(&mut self, _layer: usize) {}
}

/// Nobody watches.
pub struct NoObserver;
impl Observer for NoObserver {}

/// All that a simulator is made from.
#[derive(Clone, Default)]
pub struct Setup {
    /// Ticks, frames and rate.
    pub clock: Clock,
    /// The primary motion, in the order of the frame's meshes.
    pub actors: Vec<Actor>,
    /// Shapes that layers may collide with.
    pub colliders: Vec<ColliderParams>,
    /// Gravity and fields.
    pub forces: Forces,
    /// The layers, in order.
    pub layers: Vec<LayerParams>,
    /// The pose in which points and selections are given.
    pub reference: ReferencePose,
}

/// Actors and layers at some time.
///
/// ```text
/// push_pose, push_positions ─► advance_to(time) / step(dt) ─► frame(): meshes, curves, points
///                              set_params, set_forces, layers added, removed, reordered
///                              save, load
/// ```
///
/// The layers advance by ticks of one fixed length ([`Clock`]); a time between two ticks is shown from
/// a copy of their states. So the motion depends neither on the steps a caller takes nor on what is
/// looked at.
pub struct Simulator {
    clock: Clock,
    actors: ActorSet,
    colliders: ColliderSet,
    forces: Forces,
    reference: Reference,
    params: Vec<LayerParams>,
    layers: Vec<Box<dyn RunningLayer>>,
    /// The frame that each layer was built on, for building it again.
    built_on: Vec<Frame>,
    frame: Frame,
    base_topologies: Vec<Arc<MeshTopology>>,
    /// For the actors (first) and each layer: does anything after it look at surfaces between outputs?
    wanted_after: Vec<bool>,
    scratch: PoseScratch,
    /// Time of the actors in the frame [s], unless something else may have changed since.
    actors_shown: Option<f64>,
    /// Ticks done.
    tick: u64,
    /// What is shown [s].
    time: f64,
    /// Whether the layers' states are those of an instant after the tick, held copies being the tick's.
    ahead: bool,
}

impl Simulator {
    /// Builds the layers in order, each seeing the frame that the earlier ones leave at the start, and
    /// starts them.
    pub fn new(setup: Setup) -> Result<Self, SimulatorError> {
        let Setup { clock, actors, colliders, forces, layers, reference } = setup;
        let actors = ActorSet::new(actors);
        let colliders = ColliderSet::new(&colliders, &actors, clock.rate.fps())
            .map_err(SimulatorError::Collider)?;
        let meshes: Vec<_> = actors.all().iter().flat_map(Actor::source_meshes).collect();
        let mut simulator = Self {
            reference: Reference::new(reference, &clock, &actors),
            base_topologies: meshes.iter().map(|m| m.topology.clone()).collect(),
            frame: Frame { meshes, ..Frame::default() },
            time: clock.tick_time(0),
            clock,
            actors,
            colliders,
            forces,
            params: layers,
            layers: Vec::new(),
            built_on: Vec::new(),
            wanted_after: Vec::new(),
            scratch: PoseScratch::default(),
            actors_shown: None,
            tick: 0,
            ahead: false,
        };
        simulator.build_layers()?;
        Ok(simulator)
    }

    /// Goes back to the start and starts every layer again, without building anything.
    pub fn start(&mut self) -> Result<(), SimulatorError> {
        (self.tick, self.time, self.ahead) = (0, self.clock.tick_time(0), false);
        self.show_actors(self.time, 0.0);
        for index in 0..self.layers.len() {
            self.start_layer(index)?;
        }
        Ok(())
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The actors.
    #[must_use]
    pub fn actors(&self) -> &ActorSet {
        &self.actors
    }

    /// The colliders, where they are now.
    #[must_use]
    pub fn colliders(&self) -> &ColliderSet {
        &self.colliders
    }

    /// Gravity, wind and other fields.
    #[must_use]
    pub fn forces(&self) -> &Forces {
        &self.forces
    }

    /// The layers.
    #[must_use]
    pub fn layers(&self) -> &[Box<dyn RunningLayer>] {
        &self.layers
    }

    /// The layers, for tests that set a situation up.
    #[cfg(test)]
    pub(crate) fn layers_mut(&mut self) -> &mut [Box<dyn RunningLayer>] {
        &mut self.layers
    }

    /// Parameters of the layers, in order.
    #[must_use]
    pub fn params(&self) -> &[LayerParams] {
        &self.params
    }

    /// The frame as it stands.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Time of [`Simulator::frame`] [s].
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Number of the output frame that is shown, or of the last one before.
    #[must_use]
    pub fn frame_number(&self) -> i64 {
        (self.clock.frame_at(self.time) + tolerances::stage::SAME_FRAME).floor() as i64
    }

    /// Advances by any length of time [s] and shows the frame there.
    pub fn step(&mut self, dt: f64) -> Result<&Frame, SimulatorError> {
        self.advance_to(self.time + dt)
    }

    /// Advances to a time [s] and shows the frame there.
    pub fn advance_to(&mut self, time: f64) -> Result<&Frame, SimulatorError> {
        self.advance_observed(time, &mut NoObserver)
    }

    /// Advances to the next output frame.
    pub fn advance_frame(&mut self, observer: &mut dyn Observer) -> Result<&Frame, SimulatorError> {
        let next = self.frame_number() + 1;
        self.advance_observed(self.clock.frame_time(next), observer)?;
        self.frame.index = next;
        Ok(&self.frame)
    }

    fn advance_observed(
        &mut self,
        time: f64,
        observer: &mut dyn Observer,
    ) -> Result<&Frame, SimulatorError> {
        let (last_tick, rest) = self.clock.tick_before(time);
        if !time.is_finite()
            || last_tick < self.tick
            || time < self.time - tolerances::stage::SAME_TIME
        {
            return Err(SimulatorError::Backwards { wanted: time, now: self.time });
        }
        if (time - self.time).abs() < tolerances::stage::SAME_TIME {
            return Ok(&self.frame);
        }
        // A look beyond the tick never becomes the past: every advance goes on from whole ticks.
        self.return_to_tick();
        let dt = self.clock.tick_seconds();
        while self.tick < last_tick {
            // Asked between ticks only, where all layers are at one time and a checkpoint can be taken.
            if !observer.goes_on() {
                self.time = self.clock.tick_time(self.tick);
                return Err(SimulatorError::Interrupted);
            }
            let is_output = rest == 0.0 && self.tick + 1 == last_tick;
            let at = self.clock.tick_time(self.tick + 1);
            self.take_step(Span { time: at, dt, is_output }, observer)?;
            self.tick += 1;
        }
        // Between two ticks: the states move on for this one look, and are taken back before the next tick.
        if rest > 0.0 {
            self.layers.iter_mut().for_each(|l| l.hold());
            self.ahead = true;
            self.take_step(Span { time, dt: rest, is_output: true }, observer)?;
        }
        self.time = time;
        Ok(&self.frame)
    }

    /// Measures of every layer, at the frame that is shown.
    #[must_use]
    pub fn reports(&self) -> Vec<LayerReport> {
        let said = |layer: &dyn RunningLayer| {
            let mut report = LayerReport::default();
            layer.report(&mut report);
            report
        };
        self.layers.iter().map(|layer| said(&**layer)).collect()
    }

    /// All that evolves, as bytes: the layers at the last tick, and what was pushed.
    pub fn save(&self) -> Result<Vec<u8>, SimulatorError> {
        // Ahead of the tick, its state is the held copy: what is saved must not depend on what was looked at.
        let saved = self.layers.iter().map(|l| if self.ahead { l.save_held() } else { l.save() });
        let states: Result<Vec<_>, _> = saved.collect();
        let live: Vec<_> = self.actors.all().iter().map(live_track).collect();
        Ok(super::to_snapshot(&(self.tick, self.time, states?, live))?)
    }

    /// Takes back what [`Simulator::save`] gave, and shows the frame of that time.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorError> {
        let time = self.take(bytes)?;
        self.show(time)
    }

    /// Takes back what [`Simulator::save`] gave and gives layers new parameters; shows only the outcome.
    /// See [`Simulator::load`] and [`Simulator::set_params`].
    pub fn load_with(
        &mut self,
        bytes: &[u8],
        params: &[LayerParams],
    ) -> Result<Change, SimulatorError> {
        let time = self.take(bytes)?;
        let changed = self.retune(params);
        self.show(time)?;
        changed
    }

    /// Takes a state back without showing it; gives its time [s].
    fn take(&mut self, bytes: &[u8]) -> Result<f64, SimulatorError> {
        type Saved = (u64, f64, Vec<Vec<u8>>, Vec<Option<super::LiveTrack>>);
        let (tick, time, states, live): Saved = super::from_snapshot(bytes)?;
        if states.len() != self.layers.len() || live.len() != self.actors.all().len() {
            let text = format!(
                "it holds {} layers and {} actors, the scene has {} and {}",
                states.len(),
                live.len(),
                self.layers.len(),
                self.actors.all().len()
            );
            return Err(SnapshotError(text).into());
        }
        for (layer, state) in self.layers.iter_mut().zip(&states) {
            layer.load(state)?;
        }
        for (actor, track) in self.actors.all_mut().iter_mut().zip(live) {
            if let (Motion::Live(own), Some(track)) = (&mut actor.motion, track) {
                *own = track;
            }
        }
        // The states are those of a tick, and what the frame shows is from before.
        (self.ahead, self.actors_shown) = (false, None);
        (self.tick, self.time) = (tick, self.clock.tick_time(tick));
        Ok(time)
    }

    /// Shows the present tick anew, then a time at or after it [s].
    fn show(&mut self, time: f64) -> Result<(), SimulatorError> {
        self.refresh()?;
        self.advance_to(time)?;
        Ok(())
    }

    /// Shows the present anew, without advancing anything: after parameters changed while paused.
    pub fn refresh(&mut self) -> Result<&Frame, SimulatorError> {
        self.show_actors(self.time, 0.0);
        for index in 0..self.layers.len() {
            if self.layers[index].is_started() {
                self.write_layer(index, self.instant())?;
            } else {
                self.start_layer(index)?;
            }
        }
        Ok(&self.frame)
    }

    /// Gives a layer new parameters; says what that took. See [`Change`].
    pub fn set_params(&mut self, params: &LayerParams) -> Result<Change, SimulatorError> {
        self.set_all_params(std::slice::from_ref(params))
    }

    /// Gives layers new parameters and shows them once; says what the greatest change took.
    pub fn set_all_params(&mut self, params: &[LayerParams]) -> Result<Change, SimulatorError> {
        let present = self.time;
        self.return_to_tick();
        let changed = self.retune(params);
        self.show(present)?;
        changed
    }

    /// Gives the scene other gravity and fields, from the next step on.
    pub fn set_forces(&mut self, forces: Forces) {
        self.forces = forces;
    }

    /// Adds a layer at a place of the stack; it starts at the present time.
    pub fn add_layer(&mut self, index: usize, params: LayerParams) -> Result<(), SimulatorError> {
        let mut all = self.params.clone();
        all.insert(index.min(all.len()), params);
        self.restack(all)
    }

    /// Removes a layer.
    pub fn remove_layer(&mut self, name: &str) -> Result<(), SimulatorError> {
        let index = self.find_layer(name)?;
        let mut all = self.params.clone();
        all.remove(index);
        self.restack(all)
    }

    /// Puts the layers in another order, given by their names.
    pub fn reorder_layers(&mut self, names: &[&str]) -> Result<(), SimulatorError> {
        let mut all = Vec::with_capacity(names.len());
        for name in names {
            all.push(self.params[self.find_layer(name)?].clone());
        }
        if all.len() != self.params.len() {
            let name = names.join(", ");
            return Err(SimulatorError::Unknown { what: "order of all layers", name });
        }
        self.restack(all)
    }

    /// Weights of a selection on a mesh of the frame, by index, as a layer would take it.
    pub fn select(
        &self,
        parameter: &str,
        mesh: usize,
        selection: &Selection,
    ) -> Result<Vec<f32>, LayerError> {
        self.look_around().select(parameter, mesh, selection)
    }

    /// A place on a mesh of the frame, by index, as a layer would take it, in the reference pose [m].
    pub fn place(&self, parameter: &str, mesh: usize, anchor: &Anchor) -> Result<Vec3, LayerError> {
        self.look_around().place(parameter, mesh, anchor)
    }

    /// A mesh of the frame, by index, in the pose in which artists give points and selections.
    #[must_use]
    pub fn reference_mesh(&self, mesh: usize) -> Mesh {
        self.look_around().reference_mesh(mesh)
    }

    /// The actors in the pose in which artists give points and selections.
    #[must_use]
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// What a layer would see if it were built now, at the end of the stack.
    fn look_around(&self) -> BuildContext<'_> {
        BuildContext {
            clock: &self.clock,
            actors: &self.actors,
            colliders: &self.colliders,
            forces: &self.forces,
            frame: &self.frame,
            reference: &self.reference,
            ridges: &[],
        }
    }

    fn find_layer(&self, name: &str) -> Result<usize, SimulatorError> {
        let found = self.params.iter().position(|p| p.name() == name);
        found.ok_or_else(|| SimulatorError::Unknown { what: "layer", name: name.to_owned() })
    }
}

fn live_track(actor: &Actor) -> Option<super::LiveTrack> {
    match &actor.motion {
        Motion::Live(track) => Some(track.clone()),
        _ => None,
    }
}

/// Downward gravity on Earth [m/s²].
pub const EARTH_GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);
