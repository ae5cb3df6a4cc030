//! A file that is read where it is needed, or a part of one.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Result, UsdError};
use crate::inputs::{InputError, InputSet};

/// Most bytes read at once: a sample of a hundred million points.
const MOST_AT_ONCE: u64 = 2 << 30;

/// Bytes in memory or in a file. Parts share the file.
#[derive(Clone)]
pub(super) struct Bytes {
    source: Arc<Source>,
    start: u64,
    length: u64,
}

enum Source {
    Memory(Vec<u8>),
    File { file: Mutex<File>, path: PathBuf },
}

impl Bytes {
    pub fn open(path: &Path, inputs: &InputSet) -> Result<Self> {
        let file = inputs.open(path)?;
        let io = |error| InputError::Io { path: path.to_owned(), error };
        let length = file.metadata().map_err(io)?.len();
        let source = Source::File { file: Mutex::new(file), path: path.to_owned() };
        Ok(Self { source: Arc::new(source), start: 0, length })
    }

    pub fn from_memory(bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        Self { source: Arc::new(Source::Memory(bytes)), start: 0, length }
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    /// A part, which must lie inside.
    pub fn part(&self, place: &str, at: u64, length: u64) -> Result<Self> {
        self.check(place, at, length)?;
        Ok(Self { source: Arc::clone(&self.source), start: self.start + at, length })
    }

    fn check(&self, place: &str, at: u64, size: u64) -> Result<()> {
        if at.checked_add(size).is_some_and(|end| end <= self.length) {
            return Ok(());
        }
        let problem = format!("{size} bytes at {at} reach past the end ({})", self.length);
        Err(UsdError::damaged(place, problem))
    }

    pub fn read(&self, place: &str, at: u64, size: u64) -> Result<Vec<u8>> {
        self.check(place, at, size)?;
        if size > MOST_AT_ONCE {
            return Err(UsdError::damaged(place, format!("{size} bytes are more than 2 GiB")));
        }
        let at = self.start + at;
        match &*self.source {
            Source::Memory(bytes) => Ok(bytes[at as usize..(at + size) as usize].to_vec()),
            Source::File { file, path } => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let mut out = vec![0; size as usize];
                let done = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut out));
                done.map_err(|error| InputError::Io { path: path.clone(), error })?;
                Ok(out)
            }
        }
    }

    /// The first bytes, as many as there are.
    pub fn head(&self, size: u64) -> Result<Vec<u8>> {
        self.read("header", 0, size.min(self.length))
    }

    pub fn cursor<'a>(&'a self, place: &'a str, at: u64) -> Cursor<'a> {
        Cursor { bytes: self, place, at }
    }
}

/// Reads one thing after the other.
pub(super) struct Cursor<'a> {
    bytes: &'a Bytes,
    pub place: &'a str,
    pub at: u64,
}

impl Cursor<'_> {
    pub fn take(&mut self, size: u64) -> Result<Vec<u8>> {
        let out = self.bytes.read(self.place, self.at, size)?;
        self.at += size;
        Ok(out)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N as u64)?;
        let cut = |_| UsdError::damaged(self.place, "it is cut short");
        bytes.try_into().map_err(cut)
    }

    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn f64(&mut self) -> Result<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// A count of things of `size` bytes each that follow.
    pub fn count(&mut self, size: u64) -> Result<u64> {
        let count = self.u64()?;
        let left = self.bytes.length.saturating_sub(self.at);
        if count.checked_mul(size).is_none_or(|all| all > left) {
            let problem = format!("{count} parts of {size} bytes do not fit the {left} left");
            return Err(UsdError::damaged(self.place, problem));
        }
        Ok(count)
    }
}
