//! The stage: advances actors and layers tick by tick and hands out whole frames.

use glam::Vec3;
use thiserror::Error;

use super::{
    ActorSet, BuildContext, Clock, ColliderSet, Forces, Frame, Layer, LayerError, LayerReport,
    SnapshotError, StepContext,
};
use crate::character::{Pose, Sampling};
use crate::geometry::MeshTopology;
use crate::layers::LayerParams;
use std::sync::Arc;

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

/// Why a stage cannot be built or cannot go on.
#[derive(Debug, Error)]
pub enum StageError {
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
    /// Two layers have the same name.
    #[error("two layers are named {0:?}: names must differ")]
    DuplicateLayer(String),
    /// A layer has the name of a collider's mesh.
    #[error("a layer and a collider that is shown are both named {0:?}: names must differ")]
    ShownCollider(String),
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

/// One pose per actor, for times other than the current tick's.
#[derive(Default)]
pub struct PoseScratch {
    poses: Vec<(f64, Pose)>,
}

impl PoseScratch {
    /// The pose of an actor at a time, computed unless it is the last one asked for.
    pub fn pose(&mut self, actors: &ActorSet, actor: usize, time: f64) -> &Pose {
        let count = actors.all().len();
        self.poses.resize_with(count, || (f64::NAN, Pose::default()));
        let (at, pose) = &mut self.poses[actor];
        if *at != time {
            actors.all()[actor].pose_at(time, Sampling::AsAuthored, pose);
            *at = time;
        }
        pose
    }
}

/// Actors and layers, at some tick.
pub struct Stage {
    clock: Clock,
    actors: ActorSet,
    colliders: ColliderSet,
    forces: Forces,
    layers: Vec<Box<dyn Layer>>,
    frame: Frame,
    base_topologies: Vec<Arc<MeshTopology>>,
    /// For each layer, and for the actors (first): does anything after it look at surfaces between
    /// frames?
    wanted_after: Vec<bool>,
    scratch: PoseScratch,
    /// Frame that `frame` shows; `None` before the first tick.
    at: Option<i64>,
}

impl Stage {
    /// Builds the layers in order, each seeing the frame that the earlier ones leave at the start.
    pub fn new(
        clock: Clock,
        mut actors: ActorSet,
        mut colliders: ColliderSet,
        forces: Forces,
        layers: &[LayerParams],
    ) -> Result<Self, StageError> {
        let meshes: Vec<_> = actors.all().iter().flat_map(|a| a.source_meshes()).collect();
        let base_topologies = meshes.iter().map(|m| m.topology.clone()).collect();
        let start = clock.frame_time(clock.start_frame());
        let mut scratch = PoseScratch::default();
        actors.set_time(start);
        colliders.set_time(start, 0.0, &actors, &mut scratch);
        let mut frame =
            Frame { index: clock.start_frame(), time: start, meshes, ..Frame::default() };
        actors.deform(start, &mut frame.meshes);
        // They are those of the source pose; whoever needs normals computes them, as in later frames.
        frame.meshes.iter_mut().for_each(|m| m.normals.clear());
        colliders.write_meshes(&mut frame);
        let mut built: Vec<Box<dyn Layer>> = Vec::with_capacity(layers.len());
        for (index, params) in LayerParams::linked(layers).iter().enumerate() {
            let context = BuildContext {
                clock: &clock,
                actors: &actors,
                colliders: &colliders,
                forces: &forces,
                frame: &frame,
            };
            let layer = params.build(&context).map_err(|error| StageError::Layer {
                index,
                layer: params.name().to_owned(),
                error,
            })?;
            if built.iter().any(|b| b.name() == layer.name()) {
                return Err(StageError::DuplicateLayer(layer.name().to_owned()));
            }
            if colliders.shows(layer.name()) {
                return Err(StageError::ShownCollider(layer.name().to_owned()));
            }
            built.push(layer);
            // Later layers must see the meshes this one adds.
            let context = StepContext {
                clock: &clock,
                frame: clock.start_frame(),
                time: start,
                dt: 0.0,
                is_output: true,
                surfaces_wanted: true,
                actors: &actors,
                colliders: &colliders,
                forces: &forces,
            };
            step_layer(&mut built, index, &context, &mut frame)?;
        }
        let wanted_after = (0..=built.len())
            .map(|i| built[i..].iter().any(|l| l.needs_surfaces_between_frames()))
            .collect();
        Ok(Self {
            clock,
            actors,
            colliders,
            forces,
            layers: built,
            frame,
            base_topologies,
            wanted_after,
            scratch,
            at: Some(clock.start_frame()),
        })
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
    pub fn layers(&self) -> &[Box<dyn Layer>] {
        &self.layers
    }

    /// The frame as it stands.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Frame number of [`Stage::frame`].
    #[must_use]
    pub fn frame_number(&self) -> i64 {
        self.at.unwrap_or(self.clock.start_frame())
    }

    /// Simulates to the next frame and returns it.
    pub fn advance_frame(&mut self, observer: &mut dyn Observer) -> Result<&Frame, StageError> {
        let from = self.frame_number();
        for tick in 1..=self.clock.ticks_per_frame {
            self.tick(from, tick, observer)?;
        }
        self.at = Some(from + 1);
        self.frame.index = from + 1;
        Ok(&self.frame)
    }

    /// Measures of every layer, at an output frame.
    #[must_use]
    pub fn reports(&self) -> Vec<LayerReport> {
        self.layers
            .iter()
            .map(|layer| {
                let mut report = LayerReport::default();
                layer.report(&mut report);
                report
            })
            .collect()
    }

    fn tick(
        &mut self,
        from: i64,
        tick: u32,
        observer: &mut dyn Observer,
    ) -> Result<(), StageError> {
        let is_output = tick == self.clock.ticks_per_frame;
        let time = self.clock.tick_time(from, tick);
        let dt = self.clock.tick_seconds();
        observer.actors_start();
        self.actors.set_time(time);
        self.colliders.set_time(time, dt, &self.actors, &mut self.scratch);
        self.frame.time = time;
        if is_output || self.wanted_after[0] {
            self.restore_actor_meshes();
            self.actors.deform(time, &mut self.frame.meshes);
            self.colliders.write_meshes(&mut self.frame);
        }
        observer.actors_end();
        if is_output {
            check_finite(&self.frame, "actors", from + 1)?;
        }
        for index in 0..self.layers.len() {
            let context = StepContext {
                clock: &self.clock,
                frame: from + 1,
                time,
                dt,
                is_output,
                surfaces_wanted: is_output || self.wanted_after[index + 1],
                actors: &self.actors,
                colliders: &self.colliders,
                forces: &self.forces,
            };
            observer.layer_start(index);
            step_layer(&mut self.layers, index, &context, &mut self.frame)?;
            observer.layer_end(index);
            if is_output {
                check_finite(&self.frame, self.layers[index].name(), from + 1)?;
            }
        }
        Ok(())
    }

    /// Gives the actors' meshes their own topology back, which a layer may have refined.
    fn restore_actor_meshes(&mut self) {
        for (mesh, base) in self.frame.meshes.iter_mut().zip(&self.base_topologies) {
            if !Arc::ptr_eq(&mesh.topology, base) {
                mesh.topology = Arc::clone(base);
            }
            mesh.normals.clear();
            mesh.velocities.clear();
            mesh.attributes.retain(|a| a.values.len() == base.vertex_count);
        }
    }

    /// All that evolves, as bytes.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let states: Vec<Vec<u8>> = self.layers.iter().map(|l| l.save()).collect();
        super::to_snapshot(&(self.frame_number(), states))
    }

    /// Takes back what [`Stage::save`] gave; the next [`Stage::advance_frame`] goes on from there.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), StageError> {
        let (frame, states): (i64, Vec<Vec<u8>>) = super::from_snapshot(bytes)?;
        if states.len() != self.layers.len() {
            return Err(SnapshotError(format!(
                "it holds {} layers, the scene has {}",
                states.len(),
                self.layers.len()
            ))
            .into());
        }
        for (layer, state) in self.layers.iter_mut().zip(&states) {
            layer.load(state)?;
        }
        self.at = Some(frame);
        Ok(())
    }
}

fn step_layer(
    layers: &mut [Box<dyn Layer>],
    index: usize,
    context: &StepContext,
    frame: &mut Frame,
) -> Result<(), StageError> {
    layers[index].step(context, frame).map_err(|error| StageError::Layer {
        index,
        layer: layers[index].name().to_owned(),
        error,
    })
}

fn check_finite(frame: &Frame, layer: &str, number: i64) -> Result<(), StageError> {
    match frame.find_non_finite() {
        None => Ok(()),
        Some((shape, element)) => Err(StageError::NonFinite {
            layer: layer.to_owned(),
            shape: shape.to_owned(),
            element,
            frame: number,
        }),
    }
}

/// Downward gravity on Earth [m/s²].
pub const EARTH_GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);
