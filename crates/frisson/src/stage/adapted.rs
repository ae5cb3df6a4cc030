//! Layers that keep rest data, state and scratch in one object, behind the same face as the others.

use std::any::Any;

use super::{
    BuildContext, Change, Frame, LayerError, LayerReport, RunningLayer, SnapshotError, StepContext,
};

/// A layer in one object; see [`super::Layer`] for what the calls mean.
pub trait WholeLayer: Sized + Send + 'static {
    /// What the artist sets.
    type Params: Clone + Send + 'static;
    /// Kind as spelled in the scene file.
    const KIND: &'static str;

    /// Name given in the scene.
    fn name(&self) -> &str;
    /// Builds it.
    fn build(params: &Self::Params, context: &BuildContext) -> Result<Self, LayerError>;
    /// Whether it looks at surfaces between outputs.
    fn needs_surfaces_between_frames(&self) -> bool {
        false
    }
    /// Begins anew.
    fn start(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError>;
    /// Advances the state.
    fn advance(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError>;
    /// Shows the state.
    fn write(&mut self, context: &StepContext, frame: &mut Frame) -> Result<(), LayerError>;
    /// All that evolves.
    fn save(&self) -> Result<Vec<u8>, SnapshotError>;
    /// Takes back what `save` gave.
    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError>;
    /// Measures of the last step.
    fn report(&self, _report: &mut LayerReport) {}
}

/// A [`WholeLayer`] while it runs.
pub struct Adapted<W> {
    layer: W,
    started: bool,
    held: Vec<u8>,
}

impl<W: WholeLayer> Adapted<W> {
    /// Builds it.
    pub fn build(params: &W::Params, context: &BuildContext) -> Result<Self, LayerError> {
        Ok(Self { layer: W::build(params, context)?, started: false, held: Vec::new() })
    }
}

impl<W: WholeLayer> RunningLayer for Adapted<W> {
    fn name(&self) -> &str {
        self.layer.name()
    }
    fn kind(&self) -> &'static str {
        W::KIND
    }
    fn needs_surfaces_between_frames(&self) -> bool {
        self.layer.needs_surfaces_between_frames()
    }
    fn is_started(&self) -> bool {
        self.started
    }
    fn start(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        self.started = true;
        self.layer.start(context, frame)
    }
    fn leaves_notes(&self) -> bool {
        false
    }
    fn leave_notes(&self, _frame: &mut Frame) {}
    fn meet_others(&mut self, _frame: &Frame) {}
    fn advance(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        self.layer.advance(context, frame)
    }
    fn write(&mut self, context: &StepContext, frame: &mut Frame) -> Result<(), LayerError> {
        self.layer.write(context, frame)
    }
    fn hold(&mut self) {
        self.held = self.layer.save().unwrap_or_default();
    }
    fn take_back(&mut self) {
        let now = self.layer.save().unwrap_or_default();
        let held = std::mem::replace(&mut self.held, now);
        // It was saved by this very layer: it fits.
        let _fits = self.layer.load(&held);
    }
    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        self.layer.save()
    }
    fn save_held(&self) -> Result<Vec<u8>, SnapshotError> {
        Ok(self.held.clone())
    }
    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.started = true;
        self.layer.load(bytes)
    }
    fn set_params(
        &mut self,
        params: &dyn Any,
        _rebuild: bool,
        context: &BuildContext,
    ) -> Result<Change, LayerError> {
        let Some(params) = params.downcast_ref::<W::Params>() else {
            return Err(LayerError::Other(format!("these are not parameters of {}", W::KIND)));
        };
        let state = self.layer.save().unwrap_or_default();
        self.layer = W::build(params, context)?;
        self.started = self.layer.load(&state).is_ok();
        Ok(if self.started { Change::Rebuild } else { Change::Restart })
    }
    fn report(&self, report: &mut LayerReport) {
        self.layer.report(report);
    }
    fn as_any(&self) -> &dyn Any {
        &self.layer
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        &mut self.layer
    }
}
