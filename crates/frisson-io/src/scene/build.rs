//! From a scene file to a stage that is ready to run.

use std::ops::Range;

use frisson::layers::LayerParams;
use frisson::stage::{
    Actor, ClipPlay, Clock, ForceParams, Forces, KeyedTransform, Keys, LayerError, Motion,
    ReferencePose, Setup, Simulator, SimulatorError, nearest_name,
};
use glam::{EulerRot, Quat, Vec3};
use xxhash_rust::xxh3::xxh3_128;

use super::document::Spans;
use super::files::read_selection_files;
use super::loader::{ActorContent as LoadedContent, ActorLoader, LoadedActor};
use super::params::{ActorParams, ClipChoice};
use super::presentation::CameraParams;
use super::problem::Problem;
use super::{SceneError, SceneFile};
use frisson::character::Character;

/// Frames of a scene that gives neither a range nor a clip.
const DEFAULT_LAST_FRAME: i64 = 100;

/// A scene whose actors are read and whose layers are built.
pub struct BuiltScene {
    /// Ready to run.
    pub stage: Simulator,
    /// Hash of all that determines the motion: the scene without its exports and pictures, and the
    /// bytes of every source.
    pub hash: u128,
    /// The actors' sources as spelled in the scene: name, source.
    pub sources: Vec<(String, String)>,
}

impl SceneFile {
    /// Reads the actors and builds the layers; nothing is simulated.
    pub fn build(&self, loader: &dyn ActorLoader) -> Result<BuiltScene, SceneError> {
        self.check_exports()?;
        let actors = self.load_actors(loader)?;
        let clock = self.clock(&actors)?;
        let layers = read_selection_files(&self.scene.layers, &self.folder()).map_err(|bad| {
            self.fail(Problem::new(bad.problem, self.layer_span(bad.layer, "selection")))
        })?;
        let hash = self.hash(&actors, &clock, &layers);
        let sources =
            self.scene.actors.0.iter().map(|(name, a)| (name.clone(), a.source.clone())).collect();
        let gravity = Vec3::from_array(self.scene.gravity);
        let setup = Setup {
            clock,
            actors: actors.into_iter().map(|(actor, _)| actor).collect(),
            colliders: self.scene.colliders.clone(),
            forces: Forces::new(gravity, self.seeded_forces(), clock.rate.fps()),
            layers: self.seeded_layers(&layers),
            reference: ReferencePose::default(),
        };
        let stage = Simulator::new(setup).map_err(|e| self.fail(self.stage_problem(&e)))?;
        Ok(BuiltScene { stage, hash, sources })
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

    fn load_actors(
        &self,
        loader: &dyn ActorLoader,
    ) -> Result<Vec<(Actor, LoadedActor)>, SceneError> {
        let mut actors = Vec::new();
        let mut problems = Vec::new();
        for (name, params) in &self.scene.actors.0 {
            let spans = self.spans.locate(&format!("actors.{name}")).0;
            let made = loader
                .load(&params.source, &self.folder())
                .map_err(|e| {
                    Problem::new(e.to_string(), spans.locate("source").0.value.clone())
                        .label("cannot be used")
                })
                .and_then(|loaded| {
                    let actor = actor(name, params, &loaded, self.scene.fps.0.fps(), spans)?;
                    Ok((actor, loaded))
                });
            match made {
                Ok(actor) => actors.push(actor),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(actors) } else { Err(self.fail_all(problems)) }
    }

    fn clock(&self, actors: &[(Actor, LoadedActor)]) -> Result<Clock, SceneError> {
        let rate = self.scene.fps.0;
        let [first, last] = self.scene.frames.unwrap_or_else(|| {
            let seconds = actors.iter().map(|(a, l)| playing_seconds(a, l)).fold(0.0, f64::max);
            // A clip keyed at this very rate must not lose its last frame to rounding.
            let last = (seconds * rate.fps() + 1e-3).floor() as i64;
            [0, if last > 0 { last } else { DEFAULT_LAST_FRAME }]
        });
        let (spans, _) = self.spans.locate("frames");
        if last < first {
            let problem = Problem::new("the last frame is before the first", spans.value.clone());
            return Err(self.fail(problem));
        }
        const FAR: i64 = 100_000_000;
        if first.abs() > FAR || last.abs() > FAR {
            let problem = Problem::new("frame numbers go up to 100 million", spans.value.clone());
            return Err(self.fail(problem));
        }
        let mut clock = Clock::new(rate, first, last);
        clock.preroll_frames = (self.scene.preroll * rate.fps()).ceil() as u32;
        Ok(clock)
    }

    fn hash(&self, actors: &[(Actor, LoadedActor)], clock: &Clock, layers: &[LayerParams]) -> u128 {
        let sources: Vec<u128> = actors.iter().map(|(_, loaded)| loaded.hash).collect();
        let mut scene = self.scene.clone();
        scene.exports = Vec::new();
        scene.camera = CameraParams::default();
        scene.gallery = None;
        scene.layers = layers.to_vec();
        let everything = (env!("CARGO_PKG_VERSION"), clock, &scene, sources);
        xxh3_128(serde_json::to_string(&everything).unwrap_or_default().as_bytes())
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

    fn seeded_layers(&self, layers: &[LayerParams]) -> Vec<LayerParams> {
        let seeded = |layer: &LayerParams| -> Option<LayerParams> {
            let mut value = serde_json::to_value(layer).ok()?;
            let table = value.as_object_mut()?.values_mut().next()?.as_object_mut()?;
            let seed = table.get_mut("seed")?;
            *seed = seed.as_u64()?.wrapping_add(self.scene.seed).into();
            serde_json::from_value(value).ok()
        };
        let none = self.scene.seed == 0;
        let one = |l: &LayerParams| if none { None } else { seeded(l) };
        layers.iter().map(|l| one(l).unwrap_or_else(|| l.clone())).collect()
    }

    fn collider_problem(&self, error: &LayerError) -> Problem {
        let parameter = parameter_of(error).unwrap_or_default();
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

/// How long an actor has something to show [s].
fn playing_seconds(actor: &Actor, loaded: &LoadedActor) -> f64 {
    let moved = match (&actor.motion, &loaded.content) {
        (Motion::Clip(play), _) => {
            let duration = actor.clip().map_or(0.0, |c| c.duration());
            if play.speed > 0.0 { (duration - play.offset) / play.speed } else { 0.0 }
        }
        (Motion::Sequence(_), LoadedContent::Sequence(_, seconds)) => *seconds,
        _ => 0.0,
    };
    let carried = actor.path.as_ref().and_then(|p| p.times.last().copied()).unwrap_or(0.0);
    moved.max(carried)
}

fn actor(
    name: &str,
    params: &ActorParams,
    loaded: &LoadedActor,
    fps: f64,
    spans: &Spans,
) -> Result<Actor, Problem> {
    let at = |key: &str| spans.locate(key).0.value.clone();
    if params.path.windows(2).any(|w| w[0][0] >= w[1][0]) {
        return Err(Problem::new("the frames of `path` must ascend", at("path")));
    }
    // What a path carries only plays a clip that is named.
    let still = params.is_static || (!params.path.is_empty() && params.clip.is_none());
    let actor = match &loaded.content {
        LoadedContent::Meshes(meshes) => Actor::meshes_named(name, meshes.clone()),
        LoadedContent::Sequence(sequence, _) if still => {
            Actor::meshes_named(name, sequence.meshes().to_vec())
        }
        LoadedContent::Sequence(sequence, _) => Actor::sequence_named(name, sequence.clone()),
        LoadedContent::Character(character) => {
            let standing = Actor::character_named(name, character.clone());
            match choose_clip(character, params.clip.as_ref(), spans)? {
                Some(clip) if !still => standing.playing(ClipPlay {
                    clip,
                    offset: params.offset,
                    speed: params.speed,
                    looped: params.looped,
                }),
                _ => standing,
            }
        }
    };
    let placed = actor.placed(params.placement);
    let path = (!params.path.is_empty()).then(|| keyed(&params.path, params.path_keys, fps));
    Ok(path.map_or(placed.clone(), |path| placed.along(path)))
}

fn choose_clip(
    character: &Character,
    choice: Option<&ClipChoice>,
    spans: &Spans,
) -> Result<Option<usize>, Problem> {
    let names = || character.clips.iter().map(|c| c.name.as_str());
    let span = || spans.locate("clip").0.value.clone();
    match choice {
        None => Ok((!character.clips.is_empty()).then_some(0)),
        Some(ClipChoice::Index(index)) if (*index as usize) < character.clips.len() => {
            Ok(Some(*index as usize))
        }
        Some(ClipChoice::Index(index)) => Err(Problem::new(
            format!("there is no clip {index}: this character has {}", character.clips.len()),
            span(),
        )),
        Some(ClipChoice::Name(name)) => character.clip_index(name).map(Some).ok_or_else(|| {
            let help = match nearest_name(name, names()) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("its clips: {}", names().collect::<Vec<_>>().join(", ")),
            };
            Problem::new(format!("there is no clip named {name:?}"), span()).help(help)
        }),
    }
}

fn keyed(path: &[[f64; 7]], keys: Keys, fps: f64) -> KeyedTransform {
    let rotation = |k: &[f64; 7]| {
        let [x, y, z] = [k[4], k[5], k[6]].map(|d| (d as f32).to_radians());
        Quat::from_euler(EulerRot::ZYX, z, y, x)
    };
    KeyedTransform {
        times: path.iter().map(|k| k[0] / fps).collect(),
        translations: path
            .iter()
            .map(|k| Vec3::new(k[1] as f32, k[2] as f32, k[3] as f32))
            .collect(),
        rotations: path.iter().map(rotation).collect(),
        keys,
    }
}
