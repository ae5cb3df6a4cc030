//! Writing a cache: only ever appending, so that what is written stays good.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frisson::geometry::MeshTopology;
use frisson::stage::{Frame, LayerReport};
use xxhash_rust::xxh3::xxh3_128;

use super::block::{self, Entry, Kind};
use super::codec::{Scratch, encode_frame};
use super::{CacheError, CacheHeader, part_path};
use crate::outputs::OutputError;

/// Frames between two checkpoints, at least.
const MIN_CHECKPOINT_FRAMES: u32 = 4;
/// A checkpoint is written when the frames since the last one take this many times its size, so that
/// checkpoints fill at most a ninth of the file. Both rules look only at what is in the file: a
/// resumed bake writes the same bytes.
const CHECKPOINT_SHARE: u64 = 8;

/// What to do with files that are already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExists {
    /// Refuse.
    Refuse,
    /// Go on where an interrupted bake stopped.
    Resume,
    /// Start again; a finished cache is replaced when the new one is whole.
    Replace,
}

/// Where a resumed bake goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumePoint {
    /// Last frame that is in the cache.
    pub frame: i64,
    /// All states after it.
    pub state: Vec<u8>,
}

/// An open, locked cache being written. Bytes go to `NAME.frisson.part`, renamed when whole.
pub struct CacheWriter {
    file: File,
    path: PathBuf,
    part: PathBuf,
    length: u64,
    entries: Vec<Entry>,
    /// Number of each topology by the hash of its bytes.
    topologies: BTreeMap<u128, u32>,
    /// Topology of each mesh of the last frame: most often the next frame's too.
    recent: Vec<(Arc<MeshTopology>, u32)>,
    frames_since: u32,
    bytes_since: u64,
    checkpoint_bytes: Option<u64>,
    pending: Vec<u8>,
    raw: Vec<u8>,
    scratch: Scratch,
    /// Whether a state that was left for a kill stands behind the good part.
    left: bool,
}

impl CacheWriter {
    /// Opens a cache for writing and locks it; with [`IfExists::Resume`], also says where to go on.
    pub fn open(
        path: &Path,
        header: &CacheHeader,
        if_exists: IfExists,
    ) -> Result<(Self, Option<ResumePoint>), CacheError> {
        let part = part_path(path);
        // Before anything is opened for writing.
        refuse_strange(path, &part)?;
        if if_exists == IfExists::Refuse || if_exists == IfExists::Resume {
            refuse_existing(path, &part, if_exists)?;
        }
        let io = |error| CacheError::Io { path: part.clone(), error };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&part)
            .map_err(io)?;
        lock(&file, &part)?;
        let mut writer = Self {
            file,
            path: path.to_owned(),
            part: part.clone(),
            length: 0,
            entries: Vec::new(),
            topologies: BTreeMap::new(),
            recent: Vec::new(),
            frames_since: 0,
            bytes_since: 0,
            checkpoint_bytes: None,
            pending: Vec::new(),
            raw: Vec::new(),
            scratch: Scratch::default(),
            left: false,
        };
        // After the lock: the file of another process may be half written at any time before.
        writer.refuse_foreign()?;
        let resumed = if if_exists == IfExists::Resume { writer.recover(header)? } else { None };
        if resumed.is_none() {
            writer.start(header)?;
        }
        Ok((writer, resumed))
    }

    /// A file of that name that is not a cache is somebody else's.
    fn refuse_foreign(&mut self) -> Result<(), CacheError> {
        let io = |error| CacheError::Io { path: self.part.clone(), error };
        let mut start = Vec::new();
        self.file.seek(SeekFrom::Start(0)).map_err(io)?;
        Read::by_ref(&mut self.file).take(block::PREAMBLE).read_to_end(&mut start).map_err(io)?;
        // A bake that was killed at once has written less.
        if block::preamble().starts_with(&start) {
            Ok(())
        } else {
            Err(OutputError::NotOurs(self.part.clone()).into())
        }
    }

    /// An empty cache with its header.
    fn start(&mut self, header: &CacheHeader) -> Result<(), CacheError> {
        self.truncate(0)?;
        self.entries.clear();
        self.topologies.clear();
        self.pending.extend_from_slice(&block::preamble());
        let bytes = postcard::to_stdvec(header).map_err(|e| self.unspoken("header", e))?;
        self.append(Kind::Header, 0, &bytes);
        self.flush()
    }

    /// Finds the last state from which a bake can go on, and cuts off what follows it.
    fn recover(&mut self, header: &CacheHeader) -> Result<Option<ResumePoint>, CacheError> {
        let io = |error| CacheError::Io { path: self.part.clone(), error };
        let mut preamble = [0; block::PREAMBLE as usize];
        self.file.seek(SeekFrom::Start(0)).map_err(io)?;
        if self.file.read_exact(&mut preamble).is_err() || preamble != block::preamble() {
            return Ok(None);
        }
        let scan = block::scan(&mut self.file).map_err(io)?;
        let Some(first) = scan.entries.first().filter(|e| e.kind == Kind::Header) else {
            return Ok(None);
        };
        let stored: Option<CacheHeader> = postcard::from_bytes(&self.read(first)?).ok();
        if stored.is_none_or(|h| h.scene_hash != header.scene_hash) {
            return Err(CacheError::SceneChanged(self.path.clone()));
        }
        let is_state = |e: &&Entry| matches!(e.kind, Kind::Checkpoint | Kind::Pause);
        let Some(state) = scan.entries.iter().rfind(is_state).copied() else { return Ok(None) };
        let bytes = self.read(&state)?;
        // A checkpoint belongs to the file; what a pause left goes: finished bytes know nothing of it.
        let keep = if state.kind == Kind::Pause { state.offset } else { state.end() };
        for entry in scan.entries.into_iter().filter(|e| e.end() <= keep) {
            if entry.kind == Kind::Topology {
                // As if it had been written by this run: the same topology gets the same number again.
                let hash = xxh3_128(&self.read(&entry)?);
                self.topologies.insert(hash, entry.number as u32);
            }
            self.account(entry);
        }
        self.truncate(keep)?;
        Ok(Some(ResumePoint { frame: state.number, state: bytes }))
    }

    fn read(&mut self, entry: &Entry) -> Result<Vec<u8>, CacheError> {
        let (mut stored, mut raw) = (Vec::new(), Vec::new());
        block::read_block(&mut self.file, entry, &mut stored, &mut raw)
            .map_err(|error| CacheError::Io { path: self.part.clone(), error })?
            .map_err(|problem| CacheError::Damaged { path: self.part.clone(), problem })?;
        Ok(raw)
    }

    /// Appends a frame and what was measured at it.
    pub fn write_frame(
        &mut self,
        frame: &Frame,
        reports: &[LayerReport],
    ) -> Result<(), CacheError> {
        let mut numbers = Vec::with_capacity(frame.meshes.len());
        for (slot, mesh) in frame.meshes.iter().enumerate() {
            numbers.push(self.topology_number(slot, &mesh.topology)?);
        }
        self.recent.truncate(frame.meshes.len());
        let report = postcard::to_stdvec(reports).map_err(|e| self.unspoken("report", e))?;
        self.append(Kind::Report, frame.index, &report);
        let mut raw = std::mem::take(&mut self.raw);
        encode_frame(frame, &numbers, &mut self.scratch, &mut raw)
            .map_err(|e| self.unspoken("frame", e))?;
        self.append(Kind::Frame, frame.index, &raw);
        self.raw = raw;
        self.flush()
    }

    fn topology_number(
        &mut self,
        slot: usize,
        topology: &Arc<MeshTopology>,
    ) -> Result<u32, CacheError> {
        if let Some((last, number)) = self.recent.get(slot)
            && Arc::ptr_eq(last, topology)
        {
            return Ok(*number);
        }
        let bytes =
            postcard::to_stdvec(topology.as_ref()).map_err(|e| self.unspoken("topology", e))?;
        let hash = xxh3_128(&bytes);
        let next = self.topologies.len() as u32;
        let number = *self.topologies.entry(hash).or_insert(next);
        if number == next {
            self.append(Kind::Topology, i64::from(number), &bytes);
        }
        let entry = (topology.clone(), number);
        match self.recent.get_mut(slot) {
            Some(known) => *known = entry,
            None => self.recent.push(entry),
        }
        Ok(number)
    }

    /// Something that cannot be put into bytes: nothing is written in its place.
    fn unspoken(&self, what: &'static str, error: postcard::Error) -> CacheError {
        CacheError::Encode { path: self.path.clone(), what, problem: error.to_string() }
    }

    /// Whether enough has been written since the last checkpoint for another.
    #[must_use]
    pub fn checkpoint_due(&self) -> bool {
        self.checkpoint_bytes.is_none_or(|last| {
            self.frames_since >= MIN_CHECKPOINT_FRAMES
                && self.bytes_since >= CHECKPOINT_SHARE * last
        })
    }

    /// Appends all states as they are after `frame`.
    pub fn write_checkpoint(&mut self, frame: i64, state: &[u8]) -> Result<(), CacheError> {
        self.append(Kind::Checkpoint, frame, state);
        self.flush()
    }

    /// Leaves the states for a resume without losing a frame, and closes the cache unfinished.
    pub fn pause(mut self, frame: i64, state: &[u8]) -> Result<(), CacheError> {
        self.append(Kind::Pause, frame, state);
        self.flush()
    }

    /// Leaves the states behind the good part, for the case that the bake is killed before the first
    /// frame; the next block takes their place, so that no byte of the finished cache depends on it.
    pub fn leave(&mut self, frame: i64, state: &[u8]) -> Result<(), CacheError> {
        self.cut_left()?;
        let mut block = Vec::new();
        block::append_block(&mut block, self.length, Kind::Pause, frame, state);
        self.left = true;
        self.write_at_end(&block)
    }

    fn cut_left(&mut self) -> Result<(), CacheError> {
        if std::mem::take(&mut self.left) { self.truncate(self.length) } else { Ok(()) }
    }

    /// Writes the index, makes sure the disk has it all, and gives the file its name.
    pub fn finish(mut self) -> Result<(), CacheError> {
        let end_offset = self.length;
        // Nothing is looked up any more: of a long bake, two lists of all its blocks in memory are enough.
        let index = block::encode_index(&std::mem::take(&mut self.entries));
        self.append(Kind::End, 0, &index);
        drop(index);
        self.pending.extend_from_slice(&block::trailer(end_offset));
        self.flush()?;
        let io = |error| CacheError::Io { path: self.part.clone(), error };
        // Before the name: after a power cut a file of that name must not be empty.
        self.file.sync_all().map_err(io)?;
        std::fs::rename(&self.part, &self.path).map_err(io)
    }

    /// Bytes in the file.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    fn append(&mut self, kind: Kind, number: i64, raw: &[u8]) {
        let entry = block::append_block(&mut self.pending, self.length, kind, number, raw);
        self.account(entry);
    }

    fn account(&mut self, entry: Entry) {
        match entry.kind {
            Kind::Checkpoint => {
                self.checkpoint_bytes = Some(entry.stored);
                self.frames_since = 0;
                self.bytes_since = 0;
            }
            Kind::Frame => {
                self.frames_since += 1;
                self.bytes_since += entry.stored;
            }
            Kind::Topology | Kind::Report => self.bytes_since += entry.stored,
            _ => {}
        }
        self.entries.push(entry);
    }

    /// Writes the pending bytes. If the disk refuses, what it took of them is cut off again.
    fn flush(&mut self) -> Result<(), CacheError> {
        self.cut_left()?;
        let pending = std::mem::take(&mut self.pending);
        let written = self.write_at_end(&pending);
        // Kept where it failed, for whoever tries again; its storage otherwise.
        self.pending = pending;
        written?;
        self.length += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    fn write_at_end(&mut self, bytes: &[u8]) -> Result<(), CacheError> {
        let written =
            self.file.seek(SeekFrom::Start(self.length)).and_then(|_| self.file.write_all(bytes));
        written.map_err(|error| {
            // Even if this fails, the checksums tell a resume where the good part ends.
            let _ = self.file.set_len(self.length);
            CacheError::Write { path: self.part.clone(), error }
        })
    }

    fn truncate(&mut self, length: u64) -> Result<(), CacheError> {
        self.file
            .set_len(length)
            .map_err(|error| CacheError::Io { path: self.part.clone(), error })?;
        self.length = length;
        Ok(())
    }
}

/// Neither a link nor anything but a cache is replaced, whatever was asked.
fn refuse_strange(path: &Path, part: &Path) -> Result<(), CacheError> {
    for file in [path, part] {
        match file.symlink_metadata() {
            Ok(there) if there.is_symlink() => {
                return Err(OutputError::Link(file.to_owned()).into());
            }
            Ok(there) if !there.is_file() => {
                return Err(OutputError::NotAFile(file.to_owned()).into());
            }
            _ => {}
        }
    }
    if let Ok(mut file) = File::open(path) {
        let mut start = [0; block::SIGNATURE.len()];
        if file.read_exact(&mut start).is_err() || start != block::SIGNATURE {
            return Err(OutputError::NotOurs(path.to_owned()).into());
        }
    }
    Ok(())
}

fn refuse_existing(path: &Path, part: &Path, if_exists: IfExists) -> Result<(), CacheError> {
    if path.exists() {
        return Err(CacheError::Exists(path.to_owned()));
    }
    if if_exists == IfExists::Refuse && part.exists() {
        // A bake that is running now holds the lock; say so rather than offer to resume it.
        if let Ok(file) = File::open(part) {
            lock(&file, part)?;
        }
        return Err(CacheError::Unfinished(path.to_owned()));
    }
    Ok(())
}

/// Takes the lock for as long as the file is open, or says who has it.
fn lock(file: &File, part: &Path) -> Result<(), CacheError> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(CacheError::Locked(part.to_owned())),
        Err(TryLockError::Error(error)) => {
            return Err(CacheError::Io { path: part.to_owned(), error });
        }
    }
    // Between opening and locking, the other process may have finished and renamed the file.
    if is_same_file(file, part) { Ok(()) } else { Err(CacheError::Locked(part.to_owned())) }
}

#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same_file(_: &File, path: &Path) -> bool {
    path.exists()
}
