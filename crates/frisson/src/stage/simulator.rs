//! The door: everything that drives the engine goes through a [`Simulator`].

use std::sync::Arc;

use glam::{Mat4, Vec3};
use thiserror::Error;

use super::{
    Actor, ActorSet, Anchor, BuildContext, Change, Clock, ColliderParams, ColliderSet, Forces,
    Frame, LayerError, LayerReport, Motion, PoseScratch, Reference, ReferencePose, Ridge,
    RunningLayer, Selection, SnapshotError, StepContext,
};
use crate::geometry::{Mesh, MeshTopology};
use crate::layers::LayerParams;

/// Told when layers start and end, so that others can measure time: the engine has no clock.
pub trait Observer {
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

/// Why a simulator cannot be built or cannot go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SimulatorError {
    /// A layer failed.
    #[error("layer {layer:?}: {error}")]
    Layer {
        /// Place in the stack, from 0.
        index: usize,
        /// Its name.
        layer: String,
        /// What happened.
        error: LayerError,
    },
    /// A collider refers to something that is not there.
    #[error(transparent)]
    Collider(LayerError),
    /// Two layers have the same name.
    #[error("two layers are named {0:?}: names must differ")]
    DuplicateLayer(String),
    /// A layer has the name of a collider's mesh.
    #[error("a layer and a collider that is shown are both named {0:?}: names must differ")]
    ShownCollider(String),
    /// There is no layer or actor of that name.
    #[error("there is no {what} named {name:?}")]
    Unknown {
        /// `layer` or `actor`.
        what: &'static str,
        /// The name given.
        name: String,
    },
    /// What was pushed does not fit the actor.
    #[error("actor {actor:?}: {problem}")]
    Push {
        /// Who.
        actor: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A time before the present: load a state that was saved earlier, or start again.
    #[error("time {wanted} s is before the present {now} s: load an earlier state or start again")]
    Backwards {
        /// The time asked for [s].
        wanted: f64,
        /// The present [s].
        now: f64,
    },
    /// A number is not finite after a layer.
    #[error("layer {layer:?}: element {element} of {shape:?} is not finite at frame {frame}")]
    NonFinite {
        /// The layer that made it, or `actors`.
        layer: String,
        /// Mesh, curves or points.
        shape: String,
        /// Vertex or point.
        element: usize,
        /// Frame.
        frame: i64,
    },
    /// A checkpoint does not fit.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

/// The context of a step: a macro, because a method would borrow the layers and the frame with it.
macro_rules! step_context {
    ($simulator:ident, $span:ident, $layer:ident) => {
        StepContext {
            clock: &$simulator.clock,
            frame: $simulator.frame_of($span.time),
            time: $span.time,
            dt: $span.dt,
            is_output: $span.is_output,
            // While layers are being built, every surface is wanted.
            surfaces_wanted: $span.is_output
                || $simulator.wanted_after.get($layer + 1).is_none_or(|w| *w),
            actors: &$simulator.actors,
            colliders: &$simulator.colliders,
            forces: &$simulator.forces,
        }
    };
}

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
        (self.clock.frame_at(self.time) + 1e-3).floor() as i64
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
        if !time.is_finite() || last_tick < self.tick || time < self.time - 1e-9 {
            return Err(SimulatorError::Backwards { wanted: time, now: self.time });
        }
        if (time - self.time).abs() < 1e-9 {
            return Ok(&self.frame);
        }
        self.return_to_tick();
        let dt = self.clock.tick_seconds();
        while self.tick < last_tick {
            let is_output = rest == 0.0 && self.tick + 1 == last_tick;
            let at = self.clock.tick_time(self.tick + 1);
            self.take_step(Span { time: at, dt, is_output }, observer)?;
            self.tick += 1;
        }
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
        let saved = self.layers.iter().map(|l| if self.ahead { l.save_held() } else { l.save() });
        let states: Result<Vec<_>, _> = saved.collect();
        let live: Vec<_> = self.actors.all().iter().map(live_track).collect();
        Ok(super::to_snapshot(&(self.tick, self.time, states?, live))?)
    }

    /// Takes back what [`Simulator::save`] gave, and shows the frame of that time.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorError> {
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
        self.ahead = false;
        (self.tick, self.time) = (tick, self.clock.tick_time(tick));
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
        let index = self.find_layer(params.name())?;
        let present = self.time;
        self.return_to_tick();
        let mut all = self.params.clone();
        all[index] = params.clone();
        let was = std::mem::replace(&mut self.params, all);
        let mut most = Change::None;
        // Layers that are told of others may change with them.
        for other in 0..self.layers.len() {
            match self.retune_layer(other, &was) {
                Ok(change) => most = most.max(change),
                Err(error) => {
                    self.params = was;
                    self.refresh()?;
                    return Err(error);
                }
            }
        }
        if most >= Change::Rebuild && self.layers[index].leaves_notes() {
            self.rebuild_noted()?;
        }
        self.find_wanted();
        self.refresh()?;
        self.advance_to(present)?;
        Ok(most)
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

    /// Pushes the matrices of all nodes of a live actor, in its own space, and the weights of its morph
    /// targets (mesh after mesh; none leaves them) at a time [s].
    pub fn push_pose(
        &mut self,
        actor: &str,
        time: f64,
        nodes: &[Mat4],
        weights: &[f32],
    ) -> Result<(), SimulatorError> {
        let who = self.actors.get(actor);
        let count = who.and_then(|a| a.character()).map_or(0, |c| c.skeleton.nodes().len());
        let track = self.live(actor)?;
        let finite = nodes.iter().all(|m| m.is_finite()) && weights.iter().all(|w| w.is_finite());
        if nodes.len() != count || !finite || !time.is_finite() {
            let problem = format!(
                "{} matrices were pushed and it has {count} nodes; all must be finite",
                nodes.len()
            );
            return Err(SimulatorError::Push { actor: actor.to_owned(), problem });
        }
        let sample = track.sample_at(time);
        sample.set_nodes(nodes);
        sample.set_weights(weights);
        self.scratch.forget();
        Ok(())
    }

    /// Pushes the positions of one mesh of a live actor, in its own space, at a time [s].
    pub fn push_positions(
        &mut self,
        actor: &str,
        mesh: usize,
        time: f64,
        positions: &[[f32; 3]],
    ) -> Result<(), SimulatorError> {
        let count = self.actors.get(actor).and_then(|a| a.vertex_count(mesh));
        let track = self.live(actor)?;
        let finite = positions.iter().flatten().all(|x| x.is_finite()) && time.is_finite();
        if Some(positions.len()) != count || !finite {
            let problem = format!(
                "mesh {mesh} has {} vertices and {} positions were pushed; all must be finite",
                count.unwrap_or(0),
                positions.len()
            );
            return Err(SimulatorError::Push { actor: actor.to_owned(), problem });
        }
        let places = positions.iter().map(|p| Vec3::from_array(*p));
        track.sample_at(time).set_positions(mesh, places);
        Ok(())
    }

    fn live(&mut self, name: &str) -> Result<&mut super::LiveTrack, SimulatorError> {
        let unknown = || SimulatorError::Unknown { what: "actor", name: name.to_owned() };
        let index = self.actors.find(name).ok_or_else(unknown)?;
        match &mut self.actors.all_mut()[index].motion {
            Motion::Live(track) => Ok(track),
            _ => Err(SimulatorError::Push {
                actor: name.to_owned(),
                problem: "it is moved by a clip or file: make it with `Actor::live`".to_owned(),
            }),
        }
    }

    fn find_layer(&self, name: &str) -> Result<usize, SimulatorError> {
        let found = self.params.iter().position(|p| p.name() == name);
        found.ok_or_else(|| SimulatorError::Unknown { what: "layer", name: name.to_owned() })
    }
}

/// One step: where it ends, how long it is, whether somebody looks at its end.
#[derive(Clone, Copy)]
struct Span {
    time: f64,
    dt: f64,
    is_output: bool,
}

/// How layers are built, started and moved on.
impl Simulator {
    /// Builds every layer at the start, starting each so that the next one sees what it leaves.
    fn build_layers(&mut self) -> Result<(), SimulatorError> {
        self.layers.clear();
        self.built_on.clear();
        (self.tick, self.time, self.ahead) = (0, self.clock.tick_time(0), false);
        self.frame.curves.clear();
        self.frame.points.clear();
        self.frame.images.clear();
        self.frame.meshes.truncate(self.base_topologies.len());
        self.frame.index = self.clock.start_frame();
        for mesh in &mut self.frame.meshes {
            mesh.channels = Default::default();
        }
        self.show_actors(self.time, 0.0);
        for index in 0..self.params.len() {
            let params = &self.params[index];
            let name = params.name().to_owned();
            if self.params[..index].iter().any(|p| p.name() == name) {
                return Err(SimulatorError::DuplicateLayer(name));
            }
            if self.colliders.shows(&name) {
                return Err(SimulatorError::ShownCollider(name));
            }
            self.built_on.push(self.frame.clone());
            let ridges = LayerParams::ridges_over(&self.params, index);
            let built = params.build(&self.build_context(index, &ridges));
            let layer = built.map_err(|error| failed(index, &name, error))?;
            layer.leave_notes(&mut self.frame);
            self.layers.push(layer);
            self.start_layer(index)?;
        }
        for layer in &mut self.layers {
            layer.meet_others(&self.frame);
        }
        self.find_wanted();
        Ok(())
    }

    /// Finds who is looked at between outputs.
    fn find_wanted(&mut self) {
        let between = |i: usize| self.layers[i..].iter().any(|l| l.needs_surfaces_between_frames());
        self.wanted_after = (0..=self.layers.len()).map(between).collect();
    }

    fn build_context<'a>(&'a self, index: usize, ridges: &'a [Ridge]) -> BuildContext<'a> {
        BuildContext {
            clock: &self.clock,
            actors: &self.actors,
            colliders: &self.colliders,
            forces: &self.forces,
            frame: &self.built_on[index],
            reference: &self.reference,
            ridges,
        }
    }

    /// Builds the whole stack anew; layers that were there before go on from where they are, others
    /// start at the present.
    fn restack(&mut self, params: Vec<LayerParams>) -> Result<(), SimulatorError> {
        let present = self.time;
        self.return_to_tick();
        let tick = self.tick;
        let mut states = Vec::new();
        for (old, layer) in self.params.iter().zip(&self.layers) {
            states.push((old.name().to_owned(), layer.save()?));
        }
        let before = std::mem::replace(&mut self.params, params);
        if let Err(error) = self.build_layers() {
            self.params = before;
            self.build_layers()?;
            self.go_on(tick, present, &states)?;
            return Err(error);
        }
        self.go_on(tick, present, &states)
    }

    /// After a build: takes the present back, with the states that are known and fit.
    fn go_on(
        &mut self,
        tick: u64,
        present: f64,
        states: &[(String, Vec<u8>)],
    ) -> Result<(), SimulatorError> {
        (self.tick, self.time) = (tick, self.clock.tick_time(tick));
        self.show_actors(self.time, 0.0);
        for index in 0..self.layers.len() {
            let name = self.params[index].name();
            let known = states.iter().find(|(n, _)| n == name);
            match known.map(|(_, state)| self.layers[index].load(state)) {
                Some(Ok(())) => self.write_layer(index, self.instant())?,
                _ => self.start_layer(index)?,
            }
        }
        self.advance_to(present)?;
        Ok(())
    }

    /// Gives one layer its parameters and the ridges that are laid over it now.
    fn retune_layer(
        &mut self,
        index: usize,
        was: &[LayerParams],
    ) -> Result<Change, SimulatorError> {
        let ridges = LayerParams::ridges_over(&self.params, index);
        let relaid = ridges != LayerParams::ridges_over(was, index);
        if !relaid && self.params[index] == was[index] {
            return Ok(Change::None);
        }
        self.give_params(index, relaid)
    }

    fn give_params(&mut self, index: usize, rebuild: bool) -> Result<Change, SimulatorError> {
        let start = self.clock.tick_time(0);
        self.actors.set_time(start);
        self.colliders.set_time(start, 0.0, &self.actors, &mut self.scratch);
        let ridges = LayerParams::ridges_over(&self.params, index);
        let mut layers = std::mem::take(&mut self.layers);
        let context = self.build_context(index, &ridges);
        let changed = layers[index].set_params(self.params[index].inner(), rebuild, &context);
        self.layers = layers;
        changed.map_err(|error| failed(index, self.params[index].name(), error))
    }

    /// Builds all layers that leave notes for each other anew, in order.
    fn rebuild_noted(&mut self) -> Result<(), SimulatorError> {
        let noted: Vec<usize> =
            (0..self.layers.len()).filter(|&i| self.layers[i].leaves_notes()).collect();
        self.frame.meshes.iter_mut().for_each(|m| m.channels = Default::default());
        for &index in &noted {
            for (built_on, now) in self.built_on[index].meshes.iter_mut().zip(&self.frame.meshes) {
                built_on.channels.clone_from(&now.channels);
            }
            self.give_params(index, true)?;
            self.layers[index].leave_notes(&mut self.frame);
        }
        for index in noted {
            self.layers[index].meet_others(&self.frame);
        }
        Ok(())
    }

    /// Starts a layer at the present and shows it.
    fn start_layer(&mut self, index: usize) -> Result<(), SimulatorError> {
        let span = self.instant();
        let context = step_context!(self, span, index);
        let layer = &mut self.layers[index];
        let started = layer.start(&context, &self.frame);
        started.map_err(|error| failed(index, self.params[index].name(), error))?;
        self.write_layer(index, span)
    }

    fn write_layer(&mut self, index: usize, span: Span) -> Result<(), SimulatorError> {
        let context = step_context!(self, span, index);
        let written = self.layers[index].write(&context, &mut self.frame);
        written.map_err(|error| failed(index, self.params[index].name(), error))
    }

    /// The present, looked at without a step.
    fn instant(&self) -> Span {
        Span { time: self.time, dt: 0.0, is_output: true }
    }

    /// Takes the states of the last tick back after a look beyond it.
    fn return_to_tick(&mut self) {
        if self.ahead {
            self.layers.iter_mut().for_each(|l| l.take_back());
            self.ahead = false;
            self.time = self.clock.tick_time(self.tick);
        }
    }

    /// Poses actors and colliders at the end of a step and writes their meshes.
    fn show_actors(&mut self, time: f64, dt: f64) {
        self.pose(time, dt);
        self.write_actors(time);
    }

    fn pose(&mut self, time: f64, dt: f64) {
        self.actors.set_time(time);
        self.colliders.set_time(time, dt, &self.actors, &mut self.scratch);
        self.frame.time = time;
    }

    fn write_actors(&mut self, time: f64) {
        self.restore_actor_meshes();
        self.actors.deform(time, &mut self.frame.meshes);
        self.colliders.write_meshes(&mut self.frame);
    }

    fn take_step(&mut self, span: Span, observer: &mut dyn Observer) -> Result<(), SimulatorError> {
        observer.actors_start();
        self.pose(span.time, span.dt);
        if span.is_output || self.wanted_after[0] {
            self.write_actors(span.time);
        }
        observer.actors_end();
        let number = self.frame_of(span.time);
        if span.is_output {
            self.frame.index = number;
            check_finite(&self.frame, "actors", number)?;
        }
        for index in 0..self.layers.len() {
            observer.layer_start(index);
            let context = step_context!(self, span, index);
            let layer = &mut self.layers[index];
            let done = layer.advance(&context, &self.frame).and_then(|()| {
                if context.surfaces_wanted {
                    layer.write(&context, &mut self.frame)
                } else {
                    Ok(())
                }
            });
            done.map_err(|error| failed(index, self.params[index].name(), error))?;
            observer.layer_end(index);
            if span.is_output {
                check_finite(&self.frame, self.layers[index].name(), number)?;
            }
        }
        Ok(())
    }

    /// Frame whose interval a time lies in or at the end of.
    fn frame_of(&self, time: f64) -> i64 {
        (self.clock.frame_at(time) - 1e-3).ceil() as i64
    }

    /// Gives the actors' meshes their own topology back, which a layer may have refined, and empties
    /// what layers said about them in the tick before.
    fn restore_actor_meshes(&mut self) {
        for (mesh, base) in self.frame.meshes.iter_mut().zip(&self.base_topologies) {
            if !Arc::ptr_eq(&mesh.topology, base) {
                mesh.topology = Arc::clone(base);
            }
            mesh.normals.clear();
            mesh.velocities.clear();
            mesh.channels.clear();
            mesh.attributes.retain(|a| a.values.len() == base.vertex_count);
        }
    }
}

fn failed(index: usize, layer: &str, error: LayerError) -> SimulatorError {
    SimulatorError::Layer { index, layer: layer.to_owned(), error }
}

fn live_track(actor: &Actor) -> Option<super::LiveTrack> {
    match &actor.motion {
        Motion::Live(track) => Some(track.clone()),
        _ => None,
    }
}

fn check_finite(frame: &Frame, layer: &str, number: i64) -> Result<(), SimulatorError> {
    match frame.find_non_finite() {
        None => Ok(()),
        Some((shape, element)) => Err(SimulatorError::NonFinite {
            layer: layer.to_owned(),
            shape: shape.to_owned(),
            element,
            frame: number,
        }),
    }
}

/// Downward gravity on Earth [m/s²].
pub const EARTH_GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);
