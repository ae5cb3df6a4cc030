//! Why a simulator cannot be built or cannot go on.

use thiserror::Error;

use crate::stage::{LayerError, SnapshotError};

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
    /// The observer wanted no further tick: the frame shows what it did before, the time is that of the
    /// last tick, and the next advance goes on from there.
    #[error("interrupted")]
    Interrupted,
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
