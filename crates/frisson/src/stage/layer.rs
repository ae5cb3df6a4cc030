//! The contract every layer signs.

use thiserror::Error;

use super::{ActorSet, Clock, ColliderSet, Forces, Frame, LayerReport, SnapshotError};

/// What a layer may look at while it is being built. Nothing here changes during a bake.
pub struct BuildContext<'a> {
    /// Frame range, rate and ticks.
    pub clock: &'a Clock,
    /// The primary motion; can be posed at any time.
    pub actors: &'a ActorSet,
    /// Named colliders.
    pub colliders: &'a ColliderSet,
    /// Gravity, wind and other fields.
    pub forces: &'a Forces,
    /// The frame as the earlier layers leave it at the start frame: the meshes a layer may refer to.
    pub frame: &'a Frame,
}

/// What a layer may look at during one tick.
pub struct StepContext<'a> {
    /// Frame range, rate and ticks.
    pub clock: &'a Clock,
    /// Frame whose interval this tick ends in or on.
    pub frame: i64,
    /// Time at the end of this tick [s].
    pub time: f64,
    /// Length of this tick [s]; 0 on the very first one, which only sets the initial state.
    pub dt: f64,
    /// Whether this tick is an output frame.
    pub is_output: bool,
    /// Whether deformed surfaces are looked at after this tick (an output frame, or a later layer
    /// collides between frames). When false, a layer may advance its state without writing meshes.
    pub surfaces_wanted: bool,
    /// The primary motion at `time`; can also be posed at any other time.
    pub actors: &'a ActorSet,
    /// Colliders, posed at `time` and at the tick before.
    pub colliders: &'a ColliderSet,
    /// Gravity, wind and other fields.
    pub forces: &'a Forces,
}

impl StepContext<'_> {
    /// Fractional frame number of `time`, for key-framed parameters.
    #[must_use]
    pub fn frame_number(&self) -> f64 {
        self.time * self.clock.rate.fps()
    }
}

/// Secondary motion: something that follows by itself.
///
/// A layer keeps its rest data (computed once) apart from its state (all that evolves). `save` and
/// `load` carry the state only: a layer built again from the same scene and loaded must go on with
/// the same bits. Steps must give the same bits for any number of threads.
pub trait Layer: Send {
    /// Name given in the scene, unique.
    fn name(&self) -> &str;

    /// Kind as spelled in the scene file: `flesh`, `hair`, …
    fn kind(&self) -> &'static str;

    /// Whether the layer collides with, or rides on, surfaces between output frames. Then the actors
    /// and the layers before it deform their meshes at every tick.
    fn needs_surfaces_between_frames(&self) -> bool {
        false
    }

    /// Advances by one tick and writes its shapes into the frame.
    fn step(&mut self, context: &StepContext, frame: &mut Frame) -> Result<(), LayerError>;

    /// All that evolves, as bytes.
    fn save(&self) -> Vec<u8>;

    /// Takes back what `save` gave.
    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError>;

    /// Measures of the last step, called at output frames.
    fn report(&self, _report: &mut LayerReport) {}

    /// The layer itself, for exporters that know its type.
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }
}

/// Why a layer cannot be built or cannot go on.
#[derive(Debug, Error)]
pub enum LayerError {
    /// A parameter refers to something that is not there.
    #[error("{parameter}: there is no {what} named {name:?}{}", suggestion(.nearest))]
    Unknown {
        /// Parameter as spelled in the scene file.
        parameter: String,
        /// `joint`, `mesh`, `actor`, …
        what: &'static str,
        /// The name given.
        name: String,
        /// The closest existing name.
        nearest: Option<String>,
    },
    /// A parameter has a value that cannot work.
    #[error("{parameter}: {problem}")]
    Parameter {
        /// Parameter as spelled in the scene file.
        parameter: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A number stopped being finite.
    #[error("{what} {element} is not finite at frame {frame}")]
    NonFinite {
        /// `vertex`, `wisp`, `drop`, …
        what: &'static str,
        /// Its index.
        element: usize,
        /// Frame.
        frame: i64,
    },
    /// Anything else that stops the layer.
    #[error("{0}")]
    Other(String),
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

impl LayerError {
    /// A parameter error.
    pub fn parameter(parameter: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Parameter { parameter: parameter.into(), problem: problem.into() }
    }

    /// An unknown name, with the closest of the existing ones.
    pub fn unknown<'a>(
        parameter: impl Into<String>,
        what: &'static str,
        name: &str,
        existing: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self::Unknown {
            parameter: parameter.into(),
            what,
            name: name.to_owned(),
            nearest: nearest_name(name, existing),
        }
    }
}

/// Longest name that a similar one is looked for [bytes].
const LONGEST_GUESS: usize = 200;

/// The existing name most like a misspelt one, if any is close enough to be meant.
pub fn nearest_name<'a>(name: &str, existing: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // The comparison takes the product of both lengths, and nobody mistypes a page.
    if name.len() > LONGEST_GUESS {
        return None;
    }
    existing
        .into_iter()
        .map(|candidate| {
            let (given, known) = (name.to_lowercase(), candidate.to_lowercase());
            let score = strsim::jaro_winkler(&given, &known);
            // One slip of the finger in a short name (`fsp`) changes most of it.
            let slip = strsim::osa_distance(&given, &known) == 1 && known.chars().count() > 2;
            (if slip { score.max(0.9) } else { score }, candidate)
        })
        .filter(|(score, _)| *score > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}
