//! The contract every layer signs.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::{
    ActorSet, Anchor, Clock, ColliderSet, Forces, Frame, LayerReport, Reference, SnapshotError,
};
use crate::geometry::DiamondPattern;

/// What a layer may look at while it is being built. Nothing here changes during a shot.
#[derive(Clone, Copy)]
pub struct BuildContext<'a> {
    /// Ticks, and the frame range and rate that key frames refer to.
    pub clock: &'a Clock,
    /// The primary motion, posed at the start; can be posed at any other time.
    pub actors: &'a ActorSet,
    /// Named colliders.
    pub colliders: &'a ColliderSet,
    /// Gravity, wind and other fields.
    pub forces: &'a Forces,
    /// The frame as the earlier layers leave it at the start: the meshes a layer may refer to.
    pub frame: &'a Frame,
    /// The pose in which artists give points and selections.
    pub reference: &'a Reference,
    /// Folds that later layers lay over the meshes of this one, as far as those feel them.
    pub ridges: &'a [Ridge],
}

/// A fold that one layer lays over a mesh and that an earlier one, which simulates the mesh, feels as
/// stiffening.
#[derive(Clone, Debug, PartialEq)]
pub struct Ridge {
    /// Name of the mesh.
    pub on: String,
    /// Where it runs.
    pub course: RidgeCourse,
    /// Half-width [m].
    pub width: f32,
    /// Height [m].
    pub amplitude: f32,
    /// Share of the stiffening that is felt [-].
    pub share: f64,
}

/// Where a [`Ridge`] runs.
#[derive(Clone, Debug, PartialEq)]
pub enum RidgeCourse {
    /// Along a curve through points.
    Through(Vec<Anchor>),
    /// Along all ridges of a buckled tube.
    Diamonds(DiamondPattern),
}

/// What a layer may look at during one step.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    /// Ticks, and the frame range and rate that key frames refer to.
    pub clock: &'a Clock,
    /// Frame whose interval this step ends in or on.
    pub frame: i64,
    /// Time at the end of this step [s].
    pub time: f64,
    /// Length of this step [s]: a tick, or less when a frame between two ticks is looked at on a copy
    /// of the state. 0 when layers start and when a frame is only shown again.
    pub dt: f64,
    /// Whether somebody looks at the frame at the end of this step.
    pub is_output: bool,
    /// Whether deformed surfaces are looked at after this step (an output, or a later layer collides
    /// between outputs). When false, `write` is not called.
    pub surfaces_wanted: bool,
    /// The primary motion at `time`; can also be posed at any other time.
    pub actors: &'a ActorSet,
    /// Colliders, posed at `time` and at the start of the step.
    pub colliders: &'a ColliderSet,
    /// Gravity, wind and other fields.
    pub forces: &'a Forces,
}

impl StepContext<'_> {
    /// Fractional frame number of `time`, for key-framed parameters.
    #[must_use]
    pub fn frame_number(&self) -> f64 {
        self.clock.frame_at(self.time)
    }

    /// Number of the tick that this step belongs to: the one it ends on, or the one after the copy's.
    /// For work that is done every so many ticks.
    #[must_use]
    pub fn tick(&self) -> u64 {
        let (tick, rest) = self.clock.tick_before(self.time);
        if rest > 0.0 { tick + 1 } else { tick }
    }
}

/// Secondary motion: something that follows by itself. One kind of layer, in four types:
///
/// ```text
/// Params    what the artist sets                          may change while it runs
/// Rest      what is computed once from them               never changes afterwards
/// State     all that evolves                              saved, copied, taken back
/// Scratch   storage that is reused                        may be lost at any time
/// ```
///
/// A step is [`Layer::advance`] (the state moves on) and then, where somebody looks,
/// [`Layer::write`] (the state is shown in the frame, and nothing else changes). Both must give the
/// same bits for any number of threads and with a fresh scratch.
pub trait Layer: Sized + Send + 'static {
    /// Kind as spelled in the scene file: `flesh`, `hair`, …
    const KIND: &'static str;
    /// What the artist sets.
    type Params: Clone + Serialize + JsonSchema + Send + Sync + 'static;
    /// What never changes after the build.
    type Rest: Send + 'static;
    /// All that evolves.
    type State: Clone + Serialize + DeserializeOwned + Send + 'static;
    /// Reused storage; nothing in it is needed to go on.
    type Scratch: Default + Send + 'static;

    /// Name given in the scene, unique.
    fn name(params: &Self::Params) -> &str;

    /// Refuses parameters that make no sense by themselves: asked before a change that needs no build.
    fn validate(_params: &Self::Params) -> Result<(), LayerError> {
        Ok(())
    }

    /// Computes what never changes.
    fn build(params: &Self::Params, context: &BuildContext) -> Result<Self::Rest, LayerError>;

    /// The state in which the layer begins, at the context's time, on the frame that earlier layers
    /// leave.
    fn start(
        work: Work<'_, Self, ()>,
        context: &StepContext,
        frame: &Frame,
    ) -> Result<Self::State, LayerError>;

    /// Advances the state by one step.
    fn advance(
        work: Work<'_, Self, &mut Self::State>,
        context: &StepContext,
        frame: &Frame,
    ) -> Result<(), LayerError>;

    /// Shows the state in the frame.
    fn write(
        work: Work<'_, Self, &Self::State>,
        context: &StepContext,
        frame: &mut Frame,
    ) -> Result<(), LayerError>;

    /// Whether the layer collides with, or rides on, surfaces between outputs. Then the actors and the
    /// layers before it deform their meshes at every tick.
    fn needs_surfaces_between_frames(_params: &Self::Params, _rest: &Self::Rest) -> bool {
        false
    }

    /// Meshes that it adds, where it changes nothing else: between outputs nobody needs it to write who does not look
    /// at them. `None`: it may change what is there.
    fn adds_only<'a>(_params: &'a Self::Params, _rest: &'a Self::Rest) -> Option<&'a [String]> {
        None
    }

    /// Meshes of the frame that it looks at, by index. `None`: any.
    fn looks_at<'a>(_params: &'a Self::Params, _rest: &'a Self::Rest) -> Option<&'a [usize]> {
        None
    }

    /// Whether layers of this kind leave notes for each other, so that all of them are built anew when
    /// one is.
    const LEAVES_NOTES: bool = false;

    /// Leaves notes for later layers in the channels of the start frame, before they are built.
    fn leave_notes(_rest: &Self::Rest, _frame: &mut Frame) {}

    /// Called once when every layer of the stack has been built: what later layers have left in the
    /// channels of the start frame.
    fn meet_others(_rest: &mut Self::Rest, _frame: &Frame) {}

    /// Whether it feels what later layers put on its mesh (`Channels::load`) or catch of its drops (`Frame::caught`).
    const FEELS_LOAD: bool = false;

    /// Says what it has put on the meshes of earlier layers, or caught of them, by the end of the last step: asked before the next
    /// one, where one of them feels it. It follows from the state alone, so that a resumed shot weighs the same.
    fn weigh(_view: View<'_, Self>, _frame: &mut Frame) {}

    /// Refuses a state that was not made for this rest data.
    fn check_fit(_rest: &Self::Rest, _state: &Self::State) -> Result<(), SnapshotError> {
        Ok(())
    }

    /// Called after parameters changed without a new build: what the scratch or the state hold of the
    /// old values must go.
    fn retune(_work: Work<'_, Self, &mut Self::State>) {}

    /// Measures of the last step, asked for at outputs.
    fn report(_view: View<'_, Self>, _report: &mut LayerReport) {}
}

/// What a layer looks at when it reports.
pub struct View<'a, L: Layer> {
    /// What the artist set.
    pub params: &'a L::Params,
    /// What was computed once.
    pub rest: &'a L::Rest,
    /// What evolves.
    pub state: &'a L::State,
    /// Storage of the last step.
    pub scratch: &'a L::Scratch,
}

/// What a layer works with in one call: its parameters, its rest data, its state (borrowed as the call
/// allows) and its scratch.
pub struct Work<'a, L: Layer, S> {
    /// What the artist set.
    pub params: &'a L::Params,
    /// What was computed once.
    pub rest: &'a L::Rest,
    /// What evolves.
    pub state: S,
    /// Reused storage.
    pub scratch: &'a mut L::Scratch,
}

/// Why a layer cannot be built or cannot go on.
#[derive(Debug, Error)]
#[non_exhaustive]
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

/// How alike (Jaro and Winkler) names must be for one to be meant by the other, and how alike those are
/// counted that differ by one slip [-].
const MEANT_LIKENESS: f64 = 0.7;
const SLIP_LIKENESS: f64 = 0.9;

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
            (if slip { score.max(SLIP_LIKENESS) } else { score }, candidate)
        })
        .filter(|(score, _)| *score > MEANT_LIKENESS)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}
