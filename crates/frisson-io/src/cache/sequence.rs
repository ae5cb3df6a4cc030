//! A baked shot as an actor: its meshes play as they were baked.

use std::sync::{Mutex, PoisonError};

use frisson::geometry::Mesh;
use frisson::stage::{Frame, MeshSequence};
use glam::Vec3;

use super::{CacheError, CacheReader};
use crate::source::{FrameSource, SourceError};

/// Meshes read back from a cache, straight lines between its frames, held at both ends.
pub struct CacheSequence {
    meshes: Vec<Mesh>,
    seconds: f64,
    state: Mutex<State>,
}

struct State {
    reader: CacheReader,
    /// The two frames read last; the number is none while they are empty.
    frames: [(Option<i64>, Frame); 2],
}

impl CacheSequence {
    /// Checks the whole cache first, so that nothing can fail while it plays.
    pub fn new(mut reader: CacheReader) -> Result<Self, SourceError> {
        let info = reader.info().clone();
        let damage = reader.verify().map_err(|e| match e {
            CacheError::Io { error, .. } => SourceError::Io(error),
            other => SourceError::Io(std::io::Error::other(other.to_string())),
        })?;
        if let Some(damage) = damage {
            return Err(SourceError::Damaged { frame: info.last_frame, problem: damage.problem });
        }
        let mut first = Frame::default();
        reader.read_frame(info.first_frame, &mut first)?;
        let seconds = info.last_frame as f64 / info.rate.fps();
        let frames = [(None, Frame::default()), (None, Frame::default())];
        Ok(Self { meshes: first.meshes, seconds, state: Mutex::new(State { reader, frames }) })
    }

    /// Time of the last frame [s].
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }
}

impl MeshSequence for CacheSequence {
    fn meshes(&self) -> &[Mesh] {
        &self.meshes
    }

    fn positions_at(&self, mesh: usize, time: f64, out: &mut Vec<Vec3>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let info = state.reader.info().clone();
        let at = (time * info.rate.fps()).clamp(info.first_frame as f64, info.last_frame as f64);
        let before = at.floor() as i64;
        let fraction = (at - before as f64) as f32;
        // `before` must survive the second reading, which takes the other slot.
        let a = state.load(before, before);
        let b = state.load((before + 1).min(info.last_frame), before);
        let rest = &self.meshes[mesh].positions;
        let find = |slot: usize| state.frames[slot].1.meshes.get(mesh).map(|m| &m.positions);
        out.clear();
        match (find(a), find(b)) {
            (Some(a), Some(b)) if a.len() == rest.len() && b.len() == rest.len() => {
                out.extend(a.iter().zip(b).map(|(a, b)| a.lerp(*b, fraction)));
            }
            // Another number of vertices than at the start cannot be mixed: the mesh stands.
            _ => out.extend_from_slice(rest),
        }
    }
}

impl State {
    /// Slot that holds a frame, read if need be into the slot that does not hold `keep`.
    fn load(&mut self, frame: i64, keep: i64) -> usize {
        if let Some(slot) = self.frames.iter().position(|(n, _)| *n == Some(frame)) {
            return slot;
        }
        let slot = usize::from(self.frames[0].0 == Some(keep));
        let (number, target) = &mut self.frames[slot];
        *number = self.reader.read_frame(frame, target).ok().map(|()| frame);
        slot
    }
}
