//! What the scene says of an actor, put into one: clip, placement, path.

use std::sync::Arc;

use frisson::character::Character;
use frisson::stage::{Actor, ClipPlay, KeyedTransform, Motion, nearest_name};

use super::document::Spans;
use super::loader::{ActorContent as LoadedContent, LoadedActor};
use super::params::{ActorParams, ClipChoice};
use super::problem::Problem;

/// How long an actor has something to show [s].
pub(super) fn playing_seconds(actor: &Actor, loaded: &LoadedActor) -> f64 {
    let moved = match (&actor.motion, &loaded.content) {
        (_, LoadedContent::Pointed(_, _, seconds)) if actor.points.is_some() => *seconds,
        (Motion::Clip(play), _) => {
            let duration = actor.clip().map_or(0.0, |c| c.duration());
            // A clip that stands or runs backwards has no end that could be the shot's.
            if play.speed > 0.0 { (duration - play.offset) / play.speed } else { 0.0 }
        }
        (Motion::Sequence(_), LoadedContent::Sequence(_, seconds)) => *seconds,
        _ => 0.0,
    };
    let carried = actor.path.as_ref().and_then(|p| p.times.last().copied()).unwrap_or(0.0);
    moved.max(carried)
}

/// An actor as its table in the scene asks for it; problems have their place in the text.
pub(super) fn actor(
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
        LoadedContent::Character(character) => playing(name, params, character, still, spans)?,
        LoadedContent::Pointed(character, points, _) => {
            let actor = playing(name, params, character, still, spans)?;
            if still { actor } else { actor.with_points(points.clone()) }
        }
    };
    let placed = actor.placed(params.placement);
    let path = (!params.path.is_empty())
        .then(|| KeyedTransform::from_frames(&params.path, params.path_keys, fps));
    Ok(path.map_or(placed.clone(), |path| placed.along(path)))
}

/// A character that plays the clip it is told to, unless it stands still.
fn playing(
    name: &str,
    params: &ActorParams,
    character: &Arc<Character>,
    still: bool,
    spans: &Spans,
) -> Result<Actor, Problem> {
    let standing = Actor::character_named(name, character.clone());
    Ok(match choose_clip(character, params.clip.as_ref(), spans)? {
        Some(clip) if !still => standing.playing(ClipPlay {
            clip,
            offset: params.offset,
            speed: params.speed,
            looped: params.looped,
        }),
        _ => standing,
    })
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
