//! A layer at work: parameters, rest data, state and scratch together, behind one face for all kinds.

use std::any::Any;

use super::change::{Change, Declarations};
use super::{
    BuildContext, Frame, Layer, LayerError, LayerReport, SnapshotError, StepContext, View, Work,
    from_snapshot, to_snapshot,
};

/// A layer of any kind while it runs.
pub trait RunningLayer: Send {
    /// Name given in the scene, unique.
    fn name(&self) -> &str;

    /// Kind as spelled in the scene file: `flesh`, `hair`, …
    fn kind(&self) -> &'static str;

    /// Whether it looks at surfaces between outputs.
    fn needs_surfaces_between_frames(&self) -> bool;

    /// Meshes that it adds, where it changes nothing else.
    fn adds_only(&self) -> Option<&[String]>;

    /// Meshes of the frame that it looks at, by index; `None`: any.
    fn looks_at(&self) -> Option<&[usize]>;

    /// Whether it has a state; new parameters may take it away.
    fn is_started(&self) -> bool;

    /// Begins anew at the context's time.
    fn start(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError>;

    /// Whether layers of this kind leave notes for each other.
    fn leaves_notes(&self) -> bool;

    /// Leaves notes for later layers.
    fn leave_notes(&self, frame: &mut Frame);

    /// Whether it feels what later layers put on its mesh.
    fn feels_load(&self) -> bool;

    /// Says what it has put on the meshes of earlier layers.
    fn weigh(&self, frame: &mut Frame);

    /// All layers are built: what they left in the frame may be taken into account.
    fn meet_others(&mut self, frame: &Frame);

    /// Advances the state by one step.
    fn advance(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError>;

    /// Shows the state in the frame.
    fn write(&mut self, context: &StepContext, frame: &mut Frame) -> Result<(), LayerError>;

    /// Keeps a copy of the state, to be taken back after a look between two ticks.
    fn hold(&mut self);

    /// Takes the copy back.
    fn take_back(&mut self);

    /// All that evolves, as bytes.
    fn save(&self) -> Result<Vec<u8>, SnapshotError>;

    /// The copy that [`RunningLayer::hold`] keeps, as bytes.
    fn save_held(&self) -> Result<Vec<u8>, SnapshotError>;

    /// Takes back what `save` gave.
    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError>;

    /// Takes new parameters (of the layer's own type) and says what they changed. What must be built
    /// anew is built (all, with `rebuild`); the state is kept where it fits and else left to be started.
    fn set_params(
        &mut self,
        params: &dyn Any,
        rebuild: bool,
        context: &BuildContext,
    ) -> Result<Change, LayerError>;

    /// Measures of the last step.
    fn report(&self, report: &mut LayerReport);

    /// The layer itself, for those who know its type ([`Running`]).
    fn as_any(&self) -> &dyn Any;

    /// The same, to be changed.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// A layer of one kind while it runs.
pub struct Running<L: Layer> {
    params: L::Params,
    rest: L::Rest,
    state: Option<L::State>,
    held: Option<L::State>,
    scratch: L::Scratch,
    declarations: Option<Declarations>,
}

impl<L: Layer> Running<L> {
    /// Builds the rest data; the state comes with `start`.
    pub fn build(params: L::Params, context: &BuildContext) -> Result<Self, LayerError> {
        let rest = L::build(&params, context)?;
        Ok(Self {
            params,
            rest,
            state: None,
            held: None,
            scratch: L::Scratch::default(),
            declarations: None,
        })
    }

    /// What the artist set.
    #[must_use]
    pub fn params(&self) -> &L::Params {
        &self.params
    }

    /// What never changes.
    #[must_use]
    pub fn rest(&self) -> &L::Rest {
        &self.rest
    }

    /// What evolves; nothing before the start.
    #[must_use]
    pub fn state(&self) -> Option<&L::State> {
        self.state.as_ref()
    }

    /// The state, for tests that set a situation up.
    #[cfg(test)]
    pub(crate) fn state_mut(&mut self) -> Option<&mut L::State> {
        self.state.as_mut()
    }

    /// Storage of the last step.
    #[cfg(test)]
    pub(crate) fn scratch(&self) -> &L::Scratch {
        &self.scratch
    }

    /// Forgets the scratch: the next step must give the same bits without it.
    #[cfg(test)]
    pub(crate) fn forget_scratch(&mut self) {
        self.scratch = L::Scratch::default();
    }
}

fn save_state<L: Layer>(state: Option<&L::State>) -> Result<Vec<u8>, SnapshotError> {
    let none = || SnapshotError("it has not been started".to_owned());
    to_snapshot(state.ok_or_else(none)?)
}

fn not_started() -> LayerError {
    LayerError::Other("it has not been started".to_owned())
}

impl<L: Layer> RunningLayer for Running<L> {
    fn name(&self) -> &str {
        L::name(&self.params)
    }

    fn kind(&self) -> &'static str {
        L::KIND
    }

    fn needs_surfaces_between_frames(&self) -> bool {
        L::needs_surfaces_between_frames(&self.params, &self.rest)
    }

    fn adds_only(&self) -> Option<&[String]> {
        L::adds_only(&self.params, &self.rest)
    }

    fn looks_at(&self) -> Option<&[usize]> {
        L::looks_at(&self.params, &self.rest)
    }

    fn is_started(&self) -> bool {
        self.state.is_some()
    }

    fn start(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        // What scratch knows of an earlier run must not reach into this one.
        self.scratch = L::Scratch::default();
        let scratch = &mut self.scratch;
        let work = Work { params: &self.params, rest: &self.rest, state: (), scratch };
        self.state = Some(L::start(work, context, frame)?);
        Ok(())
    }

    fn leaves_notes(&self) -> bool {
        L::LEAVES_NOTES
    }

    fn leave_notes(&self, frame: &mut Frame) {
        L::leave_notes(&self.rest, frame);
    }

    fn feels_load(&self) -> bool {
        L::FEELS_LOAD
    }

    fn weigh(&self, frame: &mut Frame) {
        if let Some(state) = &self.state {
            let (params, rest, scratch) = (&self.params, &self.rest, &self.scratch);
            L::weigh(View { params, rest, state, scratch }, frame);
        }
    }

    fn meet_others(&mut self, frame: &Frame) {
        L::meet_others(&mut self.rest, frame);
    }

    fn advance(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        let state = self.state.as_mut().ok_or_else(not_started)?;
        let scratch = &mut self.scratch;
        let work = Work { params: &self.params, rest: &self.rest, state, scratch };
        L::advance(work, context, frame)
    }

    fn write(&mut self, context: &StepContext, frame: &mut Frame) -> Result<(), LayerError> {
        let state = self.state.as_ref().ok_or_else(not_started)?;
        let scratch = &mut self.scratch;
        let work = Work { params: &self.params, rest: &self.rest, state, scratch };
        L::write(work, context, frame)
    }

    fn hold(&mut self) {
        match (&mut self.held, &self.state) {
            // Storage is reused.
            (Some(held), Some(state)) => held.clone_from(state),
            (held, state) => *held = state.clone(),
        }
    }

    fn take_back(&mut self) {
        // Swapped, not moved: the storage of the look ahead is what the next one is copied into.
        std::mem::swap(&mut self.state, &mut self.held);
    }

    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        save_state::<L>(self.state.as_ref())
    }

    fn save_held(&self) -> Result<Vec<u8>, SnapshotError> {
        save_state::<L>(self.held.as_ref())
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let state = from_snapshot(bytes)?;
        // Before anything is replaced: a checkpoint that does not fit leaves the layer as it was.
        L::check_fit(&self.rest, &state)?;
        self.state = Some(state);
        self.scratch = L::Scratch::default();
        Ok(())
    }

    fn set_params(
        &mut self,
        params: &dyn Any,
        rebuild: bool,
        context: &BuildContext,
    ) -> Result<Change, LayerError> {
        let Some(params) = params.downcast_ref::<L::Params>() else {
            return Err(LayerError::Other(format!("these are not parameters of {}", L::KIND)));
        };
        // On demand: a bake never asks, and making a schema costs more than many a build.
        let declarations = self.declarations.get_or_insert_with(Declarations::of::<L::Params>);
        let least = if rebuild { Change::Rebuild } else { Change::None };
        let change = declarations.change(&self.params, params)?.max(least);
        match change {
            Change::None => return Ok(change),
            Change::Live => {
                L::validate(params)?;
                self.params = params.clone();
            }
            Change::Rebuild | Change::Restart => {
                // Built before the parameters are taken: where it fails, the layer goes on as it was.
                self.rest = L::build(params, context)?;
                self.params = params.clone();
                let fits = |state: &L::State| L::check_fit(&self.rest, state).is_ok();
                if change == Change::Restart || !self.state.as_ref().is_some_and(fits) {
                    self.state = None;
                    return Ok(Change::Restart);
                }
                self.scratch = L::Scratch::default();
            }
        }
        if let Some(state) = self.state.as_mut() {
            let scratch = &mut self.scratch;
            L::retune(Work { params: &self.params, rest: &self.rest, state, scratch });
        }
        Ok(change)
    }

    fn report(&self, report: &mut LayerReport) {
        if let Some(state) = &self.state {
            let (params, rest, scratch) = (&self.params, &self.rest, &self.scratch);
            L::report(View { params, rest, state, scratch }, report);
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
