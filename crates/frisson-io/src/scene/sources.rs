//! What an actor of a scene is made of: its source, a point cache over it, a clip from elsewhere.

use std::path::Path;
use std::sync::Arc;

use frisson::character::Character;
use frisson::geometry::Mesh;
use xxhash_rust::xxh3::xxh3_128;

use super::loader::{ActorContent, ActorLoader, LoadError, LoadedActor};
use super::params::{ActorParams, ClipChoice};
use crate::given::{self, PointCache, cached_meshes};
use crate::inputs::InputSet;
use crate::motion::retarget;

/// Reads everything of an actor. Answers it with the choice of the clip as it is then.
pub(super) fn load_actor(
    loader: &dyn ActorLoader,
    params: &ActorParams,
    folder: &Path,
    fps: f64,
) -> Result<(LoadedActor, ActorParams), LoadError> {
    let mut params = params.clone();
    let mut loaded = if given::is_pattern(Path::new(&params.source)) {
        load_sequence(&params.source, folder, fps)?
    } else {
        loader.load(&params.source, folder)?
    };
    let points = params.points.clone();
    if let Some(from) = params.clip_from.clone() {
        loaded = take_clip(loader, loaded, &params, &from, folder)?;
        // It is the first of the clips now.
        params.clip = Some(ClipChoice::Index(0));
    }
    if let Some(points) = points {
        loaded = move_by_points(loaded, &points, folder, fps)?;
    }
    Ok((loaded, params))
}

fn unreadable(source: &str, problem: impl ToString) -> LoadError {
    LoadError::Unreadable { source_name: source.to_owned(), problem: problem.to_string() }
}

fn load_sequence(source: &str, folder: &Path, fps: f64) -> Result<LoadedActor, LoadError> {
    let inputs = InputSet::new();
    let given = given::open(&folder.join(source), fps, &inputs);
    let given = given.map_err(|e| unreadable(source, e))?;
    let none = || unreadable(source, "it has no mesh that an actor could be");
    let content = ActorContent::Sequence(given.meshes.ok_or_else(none)?, given.seconds);
    Ok(LoadedActor::from_inputs(content, &inputs).telling(source, given.warnings))
}

/// Both were read: the hash and the files are of both.
fn joined(content: ActorContent, first: LoadedActor, second: LoadedActor) -> LoadedActor {
    let mut bytes = first.hash.to_le_bytes().to_vec();
    bytes.extend(second.hash.to_le_bytes());
    let mut files = first.files;
    files.extend(second.files);
    let mut remarks = first.remarks;
    remarks.extend(second.remarks);
    LoadedActor { content, hash: xxh3_128(&bytes), files, remarks }
}

fn move_by_points(
    loaded: LoadedActor,
    points: &str,
    folder: &Path,
    fps: f64,
) -> Result<LoadedActor, LoadError> {
    let meshes: Vec<Mesh> = match &loaded.content {
        ActorContent::Character(character) | ActorContent::Pointed(character, ..) => {
            character.meshes.iter().map(|m| m.mesh.clone()).collect()
        }
        ActorContent::Meshes(meshes) => meshes.clone(),
        ActorContent::Sequence(sequence, _) => sequence.meshes().to_vec(),
    };
    let inputs = InputSet::new();
    let cache = PointCache::open(&folder.join(points), fps, &inputs);
    let (sequence, seconds) =
        cache.and_then(|c| cached_meshes(meshes, c)).map_err(|e| unreadable(points, e))?;
    let content = match &loaded.content {
        // Flesh, wrinkles and selections ask for joints: they go on playing the clip.
        ActorContent::Character(character) if !character.skeleton.nodes().is_empty() => {
            ActorContent::Pointed(character.clone(), sequence, seconds)
        }
        _ => ActorContent::Sequence(sequence, seconds),
    };
    let cache = LoadedActor::from_inputs(content.clone(), &inputs);
    Ok(joined(content, loaded, cache))
}

fn take_clip(
    loader: &dyn ActorLoader,
    loaded: LoadedActor,
    params: &ActorParams,
    from: &str,
    folder: &Path,
) -> Result<LoadedActor, LoadError> {
    let ActorContent::Character(character) = &loaded.content else {
        return Err(unreadable(&params.source, "only a character with joints can play a clip"));
    };
    let other = loader.load(from, folder)?;
    let ActorContent::Character(source) = &other.content else {
        return Err(unreadable(from, "it has no joints"));
    };
    let clip = chosen_clip(source, params.clip.as_ref()).map_err(|p| unreadable(from, p))?;
    let done =
        retarget(source, clip, character, &params.joints).map_err(|e| unreadable(from, e))?;
    let remark = done.unmatched.first().map(|first| {
        let count = done.unmatched.len();
        format!("{from}: {count} joints have no counterpart, among them {first:?}")
    });
    let mut character = Character::clone(character);
    character.clips.insert(0, done.clip);
    let content = ActorContent::Character(Arc::new(character));
    let mut joined = joined(content, loaded, other);
    joined.remarks.extend(remark);
    Ok(joined)
}

fn chosen_clip(source: &Character, choice: Option<&ClipChoice>) -> Result<usize, String> {
    clip_index(source, choice).ok_or_else(|| {
        let names: Vec<&str> = source.clips.iter().map(|c| c.name.as_str()).collect();
        format!("there is no such clip; it has: {}", names.join(", "))
    })
}

/// The clip that a choice names; the first without a choice.
#[must_use]
pub fn clip_index(source: &Character, choice: Option<&ClipChoice>) -> Option<usize> {
    match choice {
        None => (!source.clips.is_empty()).then_some(0),
        Some(ClipChoice::Index(index)) => {
            usize::try_from(*index).ok().filter(|&i| i < source.clips.len())
        }
        Some(ClipChoice::Name(name)) => source.clip_index(name),
    }
}
