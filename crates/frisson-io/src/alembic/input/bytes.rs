//! Groups and blocks of a container, wherever it lies.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{AlembicError, Result};
use crate::inputs::{InputError, InputSet};

const BLOCK: u64 = 1 << 63;
/// Largest block read at once [bytes]: a sample of a hundred million points.
const MAX_BLOCK: u64 = 2 << 30;

/// The bytes of a container: in memory, or read from a file where they are needed.
pub(super) struct Bytes {
    source: Source,
    length: u64,
}

enum Source {
    Memory(Vec<u8>),
    File { file: Mutex<File>, path: PathBuf },
}

impl Bytes {
    pub fn open(path: &Path, inputs: &InputSet) -> Result<Self> {
        let io = |error| InputError::Io { path: path.to_owned(), error };
        let file = inputs.open(path)?;
        let length = file.metadata().map_err(io)?.len();
        Ok(Self { source: Source::File { file: Mutex::new(file), path: path.to_owned() }, length })
    }

    pub fn from_memory(bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        Self { source: Source::Memory(bytes), length }
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    /// The root group, if this is a whole Ogawa file.
    pub fn root(&self) -> Result<u64> {
        // A file may be shorter than its own header.
        let header = self.read("header", 0, 16.min(self.length))?;
        if header.starts_with(b"\x89HDF") {
            let text = "this Alembic file is in the old HDF5 container: save it as Ogawa";
            return Err(AlembicError::NotOgawa(text));
        }
        if header.len() < 16 || !header.starts_with(b"Ogawa") {
            return Err(AlembicError::NotOgawa("it does not begin like an Alembic (Ogawa) file"));
        }
        if header[5] != 0xff {
            return Err(AlembicError::NotOgawa("the file was not finished by its writer"));
        }
        Ok(word(&header[8..16]))
    }

    fn read(&self, place: &str, at: u64, size: u64) -> Result<Vec<u8>> {
        let end = at.checked_add(size).filter(|&end| end <= self.length);
        let Some(end) = end else {
            let problem = format!("{size} bytes at {at} reach past the end ({})", self.length);
            return Err(AlembicError::damaged(place, problem));
        };
        if size > MAX_BLOCK {
            return Err(AlembicError::damaged(place, format!("{size} bytes are more than 2 GiB")));
        }
        match &self.source {
            Source::Memory(bytes) => Ok(bytes[at as usize..end as usize].to_vec()),
            Source::File { file, path } => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let mut out = vec![0; size as usize];
                let done = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut out));
                done.map_err(|error| InputError::Io { path: path.clone(), error })?;
                Ok(out)
            }
        }
    }

    fn count_at(&self, place: &str, at: u64) -> Result<u64> {
        Ok(word(&self.read(place, at, 8)?))
    }

    /// How many children a group has; it is sure to lie inside the file.
    pub fn group_size(&self, place: &str, child: u64) -> Result<u64> {
        if child & BLOCK != 0 {
            return Err(AlembicError::damaged(place, "a block where a group should be"));
        }
        if child == 0 {
            return Ok(0);
        }
        let count = self.count_at(place, child)?;
        let fits = count.checked_mul(8).and_then(|n| n.checked_add(child + 8));
        match fits.filter(|&end| end <= self.length) {
            Some(_) => Ok(count),
            None => Err(AlembicError::damaged(place, format!("{count} parts do not fit the file"))),
        }
    }

    /// The children of a group.
    pub fn group(&self, place: &str, child: u64) -> Result<Vec<u64>> {
        let count = self.group_size(place, child)?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let bytes = self.read(place, child + 8, 8 * count)?;
        Ok(bytes.chunks_exact(8).map(word).collect())
    }

    /// The bytes of a block.
    pub fn block(&self, place: &str, child: u64) -> Result<Vec<u8>> {
        if child & BLOCK == 0 {
            return Err(AlembicError::damaged(place, "a group where a block should be"));
        }
        let at = child & !BLOCK;
        if at == 0 {
            return Ok(Vec::new());
        }
        let size = self.count_at(place, at)?;
        let start = at.saturating_add(8);
        self.read(place, start, size)
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}
