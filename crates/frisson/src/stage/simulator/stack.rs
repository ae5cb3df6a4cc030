//! How the stack of layers is built, started and moved on.

use std::sync::Arc;

use super::{Change, Observer, Simulator, SimulatorError};
use crate::layers::LayerParams;
use crate::stage::{BuildContext, Collider, Frame, LayerError, Ridge, StepContext};
use crate::tolerances;

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

/// One step.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// Where it ends [s].
    pub time: f64,
    /// How long it is [s].
    pub dt: f64,
    /// Whether somebody looks at its end.
    pub is_output: bool,
}

/// How layers are built, started and moved on.
impl Simulator {
    /// Builds every layer at the start, starting each so that the next one sees what it leaves.
    pub(super) fn build_layers(&mut self) -> Result<(), SimulatorError> {
        self.layers.clear();
        self.built_on.clear();
        (self.tick, self.time, self.ahead) = (0, self.clock.tick_time(0), false);
        self.frame.curves.clear();
        self.frame.points.clear();
        self.frame.images.clear();
        self.frame.falling.clear();
        self.frame.caught.clear();
        // What layers and shown colliders added goes; actors come first in a frame.
        self.frame.meshes.truncate(self.base_topologies.len());
        self.actors_shown = None;
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
            // Meshes share their topology: a copy costs positions only.
            self.built_on.push(self.frame.clone());
            let ridges = LayerParams::ridges_over(&self.params, index);
            let built = params.build(&self.build_context(index, &ridges));
            let layer = built.map_err(|error| failed(index, &name, error))?;
            // Before it starts: later layers are built on notes, not on the motion.
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
    pub(super) fn find_wanted(&mut self) {
        let between = |i: usize| self.layers[i..].iter().any(|l| l.needs_surfaces_between_frames());
        // Entry 0 stands for the actors, entry `i` for layer `i - 1`.
        let wanted = |i: usize| between(i) && (i == 0 || self.is_looked_at(i - 1));
        self.wanted_after = (0..=self.layers.len()).map(wanted).collect();
    }

    /// Whether a layer behind this one may look at what it writes.
    fn is_looked_at(&self, layer: usize) -> bool {
        let Some(added) = self.layers[layer].adds_only() else { return true };
        let is_added =
            |m: &usize| self.frame.meshes.get(*m).is_none_or(|m| added.contains(&m.name));
        let behind = &self.layers[layer + 1..];
        behind.iter().any(|l| l.looks_at().is_none_or(|meshes| meshes.iter().any(is_added)))
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
    pub(super) fn restack(&mut self, params: Vec<LayerParams>) -> Result<(), SimulatorError> {
        let present = self.time;
        self.return_to_tick();
        let tick = self.tick;
        let mut states = Vec::new();
        for (old, layer) in self.params.iter().zip(&self.layers) {
            states.push((old.name().to_owned(), layer.save()?));
        }
        // If the new stack cannot be built, the old one is, and goes on where it was.
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

    /// Gives layers new parameters, without showing them; all keep their old ones where one fails.
    pub(super) fn retune(&mut self, params: &[LayerParams]) -> Result<Change, SimulatorError> {
        let mut all = self.params.clone();
        let mut given = Vec::with_capacity(params.len());
        for one in params {
            let index = self.find_layer(one.name())?;
            all[index] = one.clone();
            given.push(index);
        }
        let was = std::mem::replace(&mut self.params, all);
        let mut changes = Vec::with_capacity(self.layers.len());
        // Layers that are told of others may change with them.
        for other in 0..self.layers.len() {
            match self.retune_layer(other, &was) {
                Ok(change) => changes.push(change),
                Err(error) => {
                    let tried = std::mem::replace(&mut self.params, was);
                    // Those before it have taken theirs already.
                    for done in 0..other {
                        self.retune_layer(done, &tried)?;
                    }
                    return Err(error);
                }
            }
        }
        let most = changes.iter().copied().max().unwrap_or(Change::None);
        if most >= Change::Rebuild && given.iter().any(|&i| self.layers[i].leaves_notes()) {
            self.rebuild_noted()?;
        }
        self.find_wanted();
        Ok(most)
    }

    /// Gives one layer its parameters and the ridges that are laid over it now.
    pub(super) fn retune_layer(
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
        // At the start, also in the middle of a shot: rest data must not depend on when they are made.
        let start = self.clock.tick_time(0);
        self.actors.set_time(start);
        self.colliders.set_time(start, 0.0, &self.actors, &mut self.scratch);
        let ridges = LayerParams::ridges_over(&self.params, index);
        // Taken out, as the context borrows the simulator.
        let mut layers = std::mem::take(&mut self.layers);
        let context = self.build_context(index, &ridges);
        let changed = layers[index].set_params(self.params[index].inner(), rebuild, &context);
        self.layers = layers;
        changed.map_err(|error| failed(index, self.params[index].name(), error))
    }

    /// Builds all layers that leave notes for each other anew, in order.
    pub(super) fn rebuild_noted(&mut self) -> Result<(), SimulatorError> {
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
    pub(super) fn start_layer(&mut self, index: usize) -> Result<(), SimulatorError> {
        let span = self.instant();
        let context = step_context!(self, span, index);
        let layer = &mut self.layers[index];
        let started = layer.start(&context, &self.frame);
        started.map_err(|error| failed(index, self.params[index].name(), error))?;
        self.write_layer(index, span)
    }

    pub(super) fn write_layer(&mut self, index: usize, span: Span) -> Result<(), SimulatorError> {
        let context = step_context!(self, span, index);
        let written = self.layers[index].write(&context, &mut self.frame);
        written.map_err(|error| failed(index, self.params[index].name(), error))
    }

    /// The present, looked at without a step.
    pub(super) fn instant(&self) -> Span {
        Span { time: self.time, dt: 0.0, is_output: true }
    }

    /// Takes the states of the last tick back after a look beyond it.
    pub(super) fn return_to_tick(&mut self) {
        if self.ahead {
            self.layers.iter_mut().for_each(|l| l.take_back());
            self.ahead = false;
            self.time = self.clock.tick_time(self.tick);
        }
    }

    /// Poses actors and colliders at the end of a step and writes their meshes.
    pub(super) fn show_actors(&mut self, time: f64, dt: f64) {
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
        self.actors_shown = Some(time);
    }

    /// Whether the frame already shows the actors as they are at a time: no layer changes their meshes,
    /// and nothing has moved since they were written.
    fn shows_actors_of(&self, time: f64) -> bool {
        self.layers.is_empty()
            && !self.colliders.all().iter().any(Collider::is_shown)
            && self.actors_shown.is_some_and(|shown| self.actors.stand_still(shown, time))
    }

    pub(super) fn take_step(
        &mut self,
        span: Span,
        observer: &mut dyn Observer,
    ) -> Result<(), SimulatorError> {
        observer.actors_start();
        self.pose(span.time, span.dt);
        let is_new = !self.shows_actors_of(span.time);
        if is_new && (span.is_output || self.wanted_after[0]) {
            self.write_actors(span.time);
        }
        // After the actors, whose meshes have been emptied of what was said a tick ago, and before any layer steps.
        self.weigh();
        observer.actors_end();
        let number = self.frame_of(span.time);
        if span.is_output {
            self.frame.index = number;
        }
        if span.is_output && is_new {
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

    /// What later layers have put on the meshes of earlier ones, or caught of what they let fall, counts in this step.
    fn weigh(&mut self) {
        // Nobody who feels it, nobody asked: drops need not find out what they weigh.
        let Some(first) = self.layers.iter().position(|l| l.feels_load()) else { return };
        self.frame.meshes.iter_mut().for_each(|m| m.channels.load.clear());
        self.frame.caught.iter_mut().for_each(|c| c.drops.clear());
        let frame = &mut self.frame;
        self.layers[first + 1..].iter().for_each(|layer| layer.weigh(frame));
    }

    /// Frame whose interval a time lies in or at the end of.
    fn frame_of(&self, time: f64) -> i64 {
        // Rounding must not put the time of a frame into the next one's interval.
        (self.clock.frame_at(time) - tolerances::stage::SAME_FRAME).ceil() as i64
    }

    /// Gives the actors' meshes their own topology back, which a layer may have refined, and empties
    /// what layers said about them in the tick before.
    fn restore_actor_meshes(&mut self) {
        self.frame.falling.iter_mut().for_each(|f| f.drops.clear());
        for (mesh, base) in self.frame.meshes.iter_mut().zip(&self.base_topologies) {
            if !Arc::ptr_eq(&mesh.topology, base) {
                mesh.topology = Arc::clone(base);
            }
            mesh.normals.clear();
            mesh.velocities.clear();
            mesh.channels.clear();
            // Those of the coarse mesh keep their storage; those that refinement spread would not fit.
            mesh.attributes.retain(|a| a.values.len() == base.vertex_count);
        }
    }
}

fn failed(index: usize, layer: &str, error: LayerError) -> SimulatorError {
    SimulatorError::Layer { index, layer: layer.to_owned(), error }
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

#[cfg(test)]
mod tests {
    use glam::Vec3;
    use serde_json::json;

    use super::*;
    use crate::geometry::Mesh;
    use crate::stage::{Actor, Setup};

    /// A soft ball, then drops on a mesh, shown on that one or another.
    fn ball_and_drops(on: &str, shown_on: Option<&str>) -> Simulator {
        let corners = [(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0)];
        let corners = corners.map(|(x, z)| Vec3::new(x, -1.0, z)).to_vec();
        let floor = Mesh::new("floor", corners, vec![[0, 1, 2], [0, 2, 3]]);
        let ball = json!({ "soft": { "name": "ball", "cell": 0.05, "objects": [
            { "name": "ball", "thickness": 0.2, "primitives": [{ "point": [0.0, 0.0, 0.0] }] } ] } });
        let drops = json!({ "drops": { "name": "rain", "on": on, "shown_on": shown_on, "sources": [
            { "region": { "count": 4, "mass": [2e-6, 1e-5] } } ] } });
        let layer = |value| serde_json::from_value(value).unwrap();
        let actors = vec![Actor::meshes_named("floor", vec![floor])];
        let layers = vec![layer(ball), layer(drops)];
        Simulator::new(Setup { actors, layers, ..Setup::default() }).unwrap()
    }

    #[test]
    fn a_surface_is_made_between_outputs_only_where_a_later_layer_looks_at_it() {
        assert_eq!(ball_and_drops("floor", None).wanted_after, [true, false, false]);
        assert_eq!(ball_and_drops("ball", None).wanted_after, [true, true, false]);
        // Where drops are only shown, they are shown in outputs.
        assert_eq!(ball_and_drops("floor", Some("ball")).wanted_after, [true, false, false]);
    }
}
