//! From a scene file to a stage that is ready to run.

use std::ops::Range;
use std::path::PathBuf;

use frisson::layers::LayerParams;
use frisson::stage::{
    Actor, Clock, ForceParams, Forces, LayerError, Setup, Simulator, SimulatorError,
};
use glam::Vec3;
use xxhash_rust::xxh3::xxh3_128;

use super::acting::{actor, playing_seconds};
use super::files::read_selection_files;
use super::loader::{ActorLoader, LoadedActor};
use super::presentation::CameraParams;
use super::problem::Problem;
use super::seeds::add_to_seeds;
use super::sources::load_actor;
use super::{SceneError, SceneFile};
use crate::inputs::InputSet;
use crate::limits::Limits;
use crate::outputs;

/// How much of a frame the end of a clip may lie before it and still be that frame [-]: a clip keyed at
/// this very rate must not lose its last frame to rounding.
const SAME_FRAME: f64 = 1e-3;

/// A scene whose actors are read and whose layers are built.
pub struct BuiltScene {
    /// Ready to run.
    pub stage: Simulator,
    /// Hash of all that determines the motion: the scene without its exports and pictures, and the
    /// bytes of every source.
    pub hash: u128,
    /// The actors' sources as spelled in the scene: name, source.
    pub sources: Vec<(String, String)>,
    /// Every file that was read: the scene and all that its actors are made of.
    pub inputs: Vec<PathBuf>,
    /// What the actors' sources leave to be said.
    pub remarks: Vec<String>,
}

/// A scene whose actors are read, ready to be built.
pub struct ReadScene {
    /// All that a simulator is made from.
    pub setup: Setup,
    /// As in [`BuiltScene`].
    pub hash: u128,
    /// As in [`BuiltScene`].
    pub sources: Vec<(String, String)>,
    /// As in [`BuiltScene`].
    pub inputs: Vec<PathBuf>,
    /// As in [`BuiltScene`].
    pub remarks: Vec<String>,
}

/// A scene whose actors are read, before anything is built of them.
pub struct Identity {
    /// As in [`BuiltScene`].
    pub hash: u128,
    /// As in [`BuiltScene`].
    pub inputs: Vec<PathBuf>,
}

impl SceneFile {
    /// Reads the actors and builds the layers; nothing is simulated.
    pub fn build(&self, loader: &dyn ActorLoader) -> Result<BuiltScene, SceneError> {
        let ReadScene { setup, hash, sources, inputs, remarks } = self.read_all(loader)?;
        let stage = self.simulator(setup)?;
        Ok(BuiltScene { stage, hash, sources, inputs, remarks })
    }

    /// A simulator of a setup that came from this scene: problems have their place in its text.
    pub fn simulator(&self, setup: Setup) -> Result<Simulator, SceneError> {
        Simulator::new(setup).map_err(|e| self.fail(self.stage_problem(&e)))
    }

    /// Reads the actors and everything that layers name; builds nothing yet, so that a caller may put
    /// its own motion in the place of an actor's.
    pub fn read_all(&self, loader: &dyn ActorLoader) -> Result<ReadScene, SceneError> {
        // Cheapest first: what the text alone decides comes before files are read.
        self.check_exports()?;
        self.check_expectations()?;
        let actors = self.load_actors(loader)?;
        let clock = self.clock(&actors)?;
        let read = InputSet::new();
        let layers = self.read_layers(&read)?;
        let Identity { hash, inputs } = self.identify(&actors, &clock, (&layers, &read));
        self.check_export_places(&inputs)?;
        let sources =
            self.scene.actors.0.iter().map(|(name, a)| (name.clone(), a.source.clone())).collect();
        let remarks = actors.iter().flat_map(|(_, loaded)| loaded.remarks.clone()).collect();
        let actors: Vec<Actor> = actors.into_iter().map(|(actor, _)| actor).collect();
        // Needs the actors, and comes before layers are built on points that mean something else.
        let moved = self.moved_points(&actors, &clock);
        if !moved.is_empty() {
            return Err(self.fail_all(moved));
        }
        let setup = Setup {
            clock,
            actors,
            colliders: self.scene.colliders.clone(),
            forces: self.stage_forces(),
            layers: self.seeded_layers(&layers)?,
            reference: self.scene.reference,
        };
        Ok(ReadScene { setup, hash, sources, inputs, remarks })
    }

    /// The layers as a stage takes them: selections' files read, the scene's seed added.
    pub fn stage_layers(&self) -> Result<Vec<LayerParams>, SceneError> {
        self.seeded_layers(&self.read_layers(&InputSet::new())?)
    }

    /// Gravity and fields as a stage takes them.
    #[must_use]
    pub fn stage_forces(&self) -> Forces {
        let gravity = Vec3::from_array(self.scene.gravity);
        Forces::new(gravity, self.seeded_forces(), self.scene.fps.0.fps())
    }

    /// What the scene and its actors are, without building a layer.
    pub fn identity(&self, loader: &dyn ActorLoader) -> Result<Identity, SceneError> {
        let actors = self.load_actors(loader)?;
        let clock = self.clock(&actors)?;
        let read = InputSet::new();
        let layers = self.read_layers(&read)?;
        Ok(self.identify(&actors, &clock, (&layers, &read)))
    }

    /// The layers with what their selections' files say.
    fn read_layers(&self, read: &InputSet) -> Result<Vec<LayerParams>, SceneError> {
        let fps = self.scene.fps.0.fps();
        read_selection_files(&self.scene.layers, &self.folder(), read, fps).map_err(|bad| {
            self.fail(Problem::new(bad.problem, self.layer_span(bad.layer, "selection")))
        })
    }

    fn identify(
        &self,
        actors: &[(Actor, LoadedActor)],
        clock: &Clock,
        (layers, read): (&[LayerParams], &InputSet),
    ) -> Identity {
        let files = actors.iter().flat_map(|(_, loaded)| loaded.files.iter().cloned());
        let masks = read.files().into_iter().map(|f| f.path);
        let inputs = std::iter::once(self.path.clone()).chain(files).chain(masks).collect();
        Identity { hash: self.hash(actors, clock, layers), inputs }
    }

    fn check_exports(&self) -> Result<(), SceneError> {
        let exports = self.scene.exports.iter().enumerate();
        let refused = exports.filter_map(|(i, e)| Some((i, e.validate().err()?)));
        let problem = |(index, error): (usize, crate::export::ExportError)| {
            Problem::new(error.to_string(), self.span_in(&format!("exports[{index}]"), ""))
        };
        let problems: Vec<Problem> = refused.map(problem).collect();
        if problems.is_empty() { Ok(()) } else { Err(self.fail_all(problems)) }
    }

    /// No export overwrites what the shot is made of, or leaves the scene's folder unasked.
    fn check_export_places(&self, inputs: &[PathBuf]) -> Result<(), SceneError> {
        let folder = self.folder();
        let mut problems = Vec::new();
        let mut files = Vec::new();
        for (index, export) in self.scene.exports.iter().enumerate() {
            let Ok((_, name)) = export.target() else { continue };
            let file = vec![folder.join(name)];
            let inside = if Limits::in_force().outside {
                Ok(())
            } else {
                outputs::refuse_outside(&folder, name)
            };
            if let Err(error) = inside.and_then(|()| outputs::refuse_inputs(&file, inputs)) {
                let span = self.span_in(&format!("exports[{index}]"), "");
                problems.push(Problem::new(error.to_string(), span).help("give another name"));
            }
            files.extend(file);
        }
        // Two exports into one file: the later would replace the earlier without a word.
        if let Err(error) = outputs::refuse_twice(&files) {
            problems.push(Problem::new(error.to_string(), self.span_in("exports", "")));
        }
        if problems.is_empty() { Ok(()) } else { Err(self.fail_all(problems)) }
    }

    fn load_actors(
        &self,
        loader: &dyn ActorLoader,
    ) -> Result<Vec<(Actor, LoadedActor)>, SceneError> {
        let mut actors = Vec::new();
        let mut problems = Vec::new();
        for (name, params) in &self.scene.actors.0 {
            let spans = self.spans.locate(&format!("actors.{name}")).0;
            let made = load_actor(loader, params, &self.folder(), self.scene.fps.0.fps())
                .map_err(|e| {
                    Problem::new(e.to_string(), spans.locate("source").0.value.clone())
                        .label("cannot be used")
                })
                .and_then(|(loaded, params)| {
                    let actor = actor(name, &params, &loaded, self.scene.fps.0.fps(), spans)?;
                    Ok((actor, loaded))
                });
            // All that is wrong with any actor at once, not one fault per try.
            match made {
                Ok(actor) => actors.push(actor),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(actors) } else { Err(self.fail_all(problems)) }
    }

    fn clock(&self, actors: &[(Actor, LoadedActor)]) -> Result<Clock, SceneError> {
        let rate = self.scene.fps.0;
        let (spans, _) = self.spans.locate("frames");
        let range = self.scene.frames.or_else(|| self.frames_of_clips(actors));
        let [first, last] = range.ok_or_else(|| {
            let problem = Problem::new("nothing says how long the shot is", self.spans.name());
            self.fail(problem.help(
                "no actor plays a clip: give `frames = [first, last]`, or a file with a clip",
            ))
        })?;
        if last < first {
            let problem = Problem::new("the last frame is before the first", spans.value.clone());
            return Err(self.fail(problem));
        }
        // Far beyond any shot, and near enough that frame times stay exact in an f64.
        const FAR: i64 = 100_000_000;
        if first < -FAR || last > FAR {
            let problem = Problem::new("frame numbers go up to 100 million", spans.value.clone());
            return Err(self.fail(problem));
        }
        let mut clock = Clock::new(rate, first, last);
        // Rounded up: at least as long as was asked for. 600 s at the fastest rate fit.
        clock.preroll_frames = (self.scene.preroll * rate.fps()).ceil() as u32;
        let frames = clock.frame_count() + u64::from(clock.preroll_frames);
        let most = Limits::in_force().frames;
        if frames > most {
            let text = format!(
                "a shot of {frames} frames is longer than the limit of {most} \
                 (--raise-limits allows more)"
            );
            return Err(self.fail(Problem::new(text, spans.value.clone())));
        }
        Ok(clock)
    }

    /// From 0 to the end of the longest clip.
    fn frames_of_clips(&self, actors: &[(Actor, LoadedActor)]) -> Option<[i64; 2]> {
        let seconds = actors.iter().map(|(a, l)| playing_seconds(a, l)).fold(0.0, f64::max);
        let last = (seconds * self.scene.fps.0.fps() + SAME_FRAME).floor() as i64;
        (last > 0).then_some([0, last])
    }

    fn hash(&self, actors: &[(Actor, LoadedActor)], clock: &Clock, layers: &[LayerParams]) -> u128 {
        let sources: Vec<u128> = actors.iter().map(|(_, loaded)| loaded.hash).collect();
        let mut scene = self.scene.clone();
        // What changes no motion counts not: another camera must not cost a bake.
        scene.exports = Vec::new();
        scene.camera = CameraParams::default();
        scene.gallery = None;
        scene.expect = Vec::new();
        scene.layers = layers.to_vec();
        // The version, too: another engine may move otherwise, and half a shot of each would jump.
        let everything = (env!("CARGO_PKG_VERSION"), clock, &scene, sources);
        // Two scenes that cannot be told apart would be resumed into each other.
        let said = serde_json::to_string(&everything)
            .unwrap_or_else(|_| format!("{clock:?} {scene:?} {:?}", everything.3));
        xxh3_128(said.as_bytes())
    }

    /// The scene's seed is added to every seed in it.
    fn seeded_forces(&self) -> Vec<ForceParams> {
        let mut forces = self.scene.forces.clone();
        for force in &mut forces {
            if let ForceParams::Wind { seed, .. } = force {
                *seed = seed.wrapping_add(self.scene.seed);
            }
        }
        forces
    }

    fn seeded_layers(&self, layers: &[LayerParams]) -> Result<Vec<LayerParams>, SceneError> {
        // Most scenes: nothing to add, and no round trip.
        if self.scene.seed == 0 {
            return Ok(layers.to_vec());
        }
        let seeded = |(index, layer): (usize, &LayerParams)| {
            let changed = serde_json::to_value(layer).and_then(|mut value| {
                add_to_seeds(&mut value, self.scene.seed);
                serde_json::from_value(value)
            });
            changed.map_err(|error| {
                let text = format!("the scene's seed cannot be added to this layer's: {error}");
                self.fail(Problem::new(text, self.layer_span(index, "seed")))
            })
        };
        layers.iter().enumerate().map(seeded).collect()
    }

    fn collider_problem(&self, error: &LayerError) -> Problem {
        let parameter = parameter_of(error).unwrap_or_default();
        // `colliders.NAME.KEY`, as the engine spells it.
        let mut steps = parameter.splitn(3, '.').skip(1);
        let (name, key) = (steps.next().unwrap_or_default(), steps.next().unwrap_or_default());
        let index = self.scene.colliders.iter().position(|c| c.name == name).unwrap_or(0);
        let span = self.span_in(&format!("colliders[{index}]"), key);
        Problem::new(error.to_string(), span)
    }

    /// The place of the layer's parameter that an error of the engine speaks of.
    #[must_use]
    pub fn stage_problem(&self, error: &SimulatorError) -> Problem {
        match error {
            SimulatorError::Layer { index, error: cause, .. } => {
                let parameter = parameter_of(cause).unwrap_or_default();
                let span = self.layer_span(*index, parameter);
                Problem::new(error.to_string(), span)
            }
            SimulatorError::DuplicateLayer(name) => {
                let named = |l: &LayerParams| l.name() == name;
                // The later of the two is the one to rename.
                let index = self.scene.layers.iter().rposition(named).unwrap_or(0);
                Problem::new(error.to_string(), self.layer_span(index, "name"))
            }
            SimulatorError::Collider(error) => self.collider_problem(error),
            _ => Problem::new(error.to_string(), 0..0),
        }
    }

    fn layer_span(&self, index: usize, parameter: &str) -> Range<usize> {
        let (layer, _) = self.spans.locate(&format!("layers[{index}]"));
        let kind = layer.parts.first().map_or("", |(kind, _)| kind.as_str());
        let own = parameter.strip_prefix(kind).and_then(|p| p.strip_prefix('.'));
        self.span_in(&format!("layers[{index}].{kind}"), own.unwrap_or(parameter))
    }

    /// The value at a path below a table where it is written, else the nearest that is.
    fn span_in(&self, table: &str, path: &str) -> Range<usize> {
        let (spans, _) = self.spans.locate(table);
        let (found, _) = spans.locate(path);
        // Nothing of the path is written: the table itself is the place to look.
        if std::ptr::eq(found, spans) { spans.name() } else { found.value.clone() }
    }

    fn fail(&self, problem: Problem) -> SceneError {
        self.fail_all(vec![problem])
    }

    fn fail_all(&self, problems: Vec<Problem>) -> SceneError {
        SceneError::new(self.path.clone(), self.text.clone(), problems)
    }
}

fn parameter_of(error: &LayerError) -> Option<&str> {
    match error {
        LayerError::Unknown { parameter, .. } | LayerError::Parameter { parameter, .. } => {
            Some(parameter)
        }
        _ => None,
    }
}
