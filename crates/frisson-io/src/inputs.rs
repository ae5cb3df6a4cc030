//! The one way by which files of others are read: regular files only, within [`Limits`], every byte
//! hashed, every file remembered.
//!
//! A resumed bake compares the hash; an output is refused when it is one of the files. A reader takes
//! an [`InputSet`], calls [`InputSet::read`] for the file it was asked for and
//! [`InputSet::read_beside`] for files that this one names.

use std::fs::{File, Metadata};
use std::io::{Read, Seek};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;
use xxhash_rust::xxh3::Xxh3;

use crate::limits::{Limits, size};

/// Why an input cannot be read.
#[derive(Debug, Error)]
pub enum InputError {
    /// There is nothing of that name.
    #[error("there is no file {}", .0.display())]
    Missing(PathBuf),
    /// A folder, a pipe, a device.
    #[error("{} is {kind}, not a file", path.display())]
    NotAFile {
        /// Which.
        path: PathBuf,
        /// What it is, in words.
        kind: &'static str,
    },
    /// One file is too large.
    #[error(
        "{} has {}, more than the limit of {} (--raise-limits allows more)",
        path.display(), size(*.bytes), size(*.limit)
    )]
    TooLarge {
        /// Which.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// All together are too large.
    #[error(
        "{what} would take {} in all, more than the limit of {} (--raise-limits allows more)",
        size(*.bytes), size(*.limit)
    )]
    TooMuch {
        /// What adds up.
        what: &'static str,
        /// What it would come to.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A count beyond its limit.
    #[error("{count} {what}: more than the limit of {limit} (--raise-limits allows more)")]
    TooMany {
        /// What is counted.
        what: &'static str,
        /// How many.
        count: u64,
        /// The limit.
        limit: u64,
    },
    /// A name that leads out of the folder.
    #[error(
        "{name:?} leads out of the folder of the file that names it{} (--anywhere allows it)",
        in_brackets(folder)
    )]
    Outside {
        /// As spelled in the file.
        name: String,
        /// The folder that it must stay in.
        folder: PathBuf,
    },
    /// A name that names no local file.
    #[error("{0}")]
    Name(String),
    /// The disk says no.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// The folder as an aside; nothing for the one that is worked in.
fn in_brackets(folder: &Path) -> String {
    if folder.as_os_str().is_empty() { String::new() } else { format!(" ({})", folder.display()) }
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Where.
    pub path: PathBuf,
    /// Its size [bytes].
    pub bytes: u64,
}

#[derive(Debug, Default)]
struct Log {
    files: Vec<InputFile>,
    source_bytes: u64,
    images_bytes: u64,
    hash: Xxh3State,
}

/// `Xxh3` has no `Debug`.
#[derive(Default)]
struct Xxh3State(Xxh3);

impl std::fmt::Debug for Xxh3State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0.digest128())
    }
}

/// Files of one source and what they come to. Clones share what they have read.
#[derive(Clone, Debug)]
pub struct InputSet {
    limits: Limits,
    log: Arc<Mutex<Log>>,
}

impl Default for InputSet {
    fn default() -> Self {
        Self::new()
    }
}

impl InputSet {
    /// Nothing read yet; the limits of this process.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(Limits::in_force())
    }

    /// Nothing read yet.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits, log: Arc::default() }
    }

    /// What may be asked for.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reads a whole file.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, InputError> {
        self.read_up_to(path, self.limits.file_bytes)
    }

    /// Reads a whole file that has at most `limit` bytes.
    pub fn read_up_to(&self, path: &Path, limit: u64) -> Result<Vec<u8>, InputError> {
        let (file, length) = open_regular(path)?;
        self.check_size(path, length, limit)?;
        let mut bytes = Vec::with_capacity(length as usize);
        // The file may grow while it is read.
        // One more than allowed, to tell a file of exactly the limit from a longer one.
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| io(path, e))?;
        self.check_size(path, bytes.len() as u64, limit)?;
        self.remember(path, bytes.len() as u64, |hash| hash.update(&bytes))?;
        Ok(bytes)
    }

    /// Opens a file that is too large to be held, hashed from end to end and then rewound.
    pub fn open(&self, path: &Path) -> Result<File, InputError> {
        let (mut file, length) = open_regular(path)?;
        let mut hash = Xxh3::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer).map_err(|e| io(path, e))? {
                0 => break,
                count => hash.update(&buffer[..count]),
            }
        }
        file.rewind().map_err(|e| io(path, e))?;
        // Streamed, not held: its size is no matter of memory.
        self.remember(path, 0, |all| {
            all.update(&length.to_le_bytes());
            all.update(&hash.digest128().to_le_bytes());
        })?;
        Ok(file)
    }

    /// Reads a file that another one names: beside that file or below its folder, unless
    /// [`Limits::outside`].
    pub fn read_beside(&self, folder: Option<&Path>, name: &str) -> Result<Vec<u8>, InputError> {
        self.read(&self.path_beside(folder, name)?)
    }

    /// The path of a file that another one names, if that is allowed.
    pub fn path_beside(&self, folder: Option<&Path>, name: &str) -> Result<PathBuf, InputError> {
        // Bytes that came from memory lie beside nothing.
        let folder = folder.ok_or_else(|| {
            InputError::Name(format!("{name:?} is named, but there is no folder"))
        })?;
        let path = folder.join(name);
        if !self.limits.outside && !stays_inside(folder, Path::new(name)) {
            return Err(InputError::Outside { name: name.to_owned(), folder: folder.to_owned() });
        }
        Ok(path)
    }

    /// Pays for an image that is about to be unpacked.
    pub fn pay_image(&self, bytes: u64) -> Result<(), InputError> {
        let limit = self.limits.images_bytes;
        let mut log = self.log();
        let total = log.images_bytes.saturating_add(bytes);
        if total > limit {
            return Err(InputError::TooMuch { what: "unpacked images", bytes: total, limit });
        }
        log.images_bytes = total;
        Ok(())
    }

    /// Takes something into the hash that decides what was read beside the bytes: a file that is not
    /// there, an image that was left out.
    pub fn note(&self, text: &str) {
        let mut log = self.log();
        log.hash.0.update(&(text.len() as u64).to_le_bytes());
        log.hash.0.update(text.as_bytes());
    }

    /// Hash of every byte read so far, in the order of reading.
    #[must_use]
    pub fn hash(&self) -> u128 {
        self.log().hash.0.digest128()
    }

    /// Every file read so far.
    #[must_use]
    pub fn files(&self) -> Vec<InputFile> {
        self.log().files.clone()
    }

    fn check_size(&self, path: &Path, bytes: u64, limit: u64) -> Result<(), InputError> {
        if bytes <= limit {
            return Ok(());
        }
        Err(InputError::TooLarge { path: path.to_owned(), bytes, limit })
    }

    fn remember(
        &self,
        path: &Path,
        held: u64,
        update: impl FnOnce(&mut Xxh3),
    ) -> Result<(), InputError> {
        let limit = self.limits.source_bytes;
        let mut log = self.log();
        let bytes = log.source_bytes.saturating_add(held);
        if bytes > limit {
            return Err(InputError::TooMuch { what: "the files of this source", bytes, limit });
        }
        log.source_bytes = bytes;
        // The length keeps two files from being taken for one.
        log.hash.0.update(&held.to_le_bytes());
        update(&mut log.hash.0);
        log.files.push(InputFile { path: path.to_owned(), bytes: held });
        Ok(())
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A count within its limit, or an error that names both.
pub fn check_count(what: &'static str, count: u64, limit: u64) -> Result<(), InputError> {
    if count <= limit { Ok(()) } else { Err(InputError::TooMany { what, count, limit }) }
}

fn io(path: &Path, error: std::io::Error) -> InputError {
    match error.kind() {
        std::io::ErrorKind::NotFound => InputError::Missing(path.to_owned()),
        _ => InputError::Io { path: path.to_owned(), error },
    }
}

/// Opens a regular file and gives its length. Asked before opening: opening a pipe waits for someone
/// to write.
pub fn open_regular(path: &Path) -> Result<(File, u64), InputError> {
    check_regular(path, &std::fs::metadata(path).map_err(|e| io(path, e))?)?;
    let file = File::open(path).map_err(|e| io(path, e))?;
    let metadata = file.metadata().map_err(|e| io(path, e))?;
    // Again, on what was opened: the name may have changed its file in between.
    check_regular(path, &metadata)?;
    Ok((file, metadata.len()))
}

fn check_regular(path: &Path, metadata: &Metadata) -> Result<(), InputError> {
    if metadata.is_file() {
        return Ok(());
    }
    let kind = if metadata.is_dir() { "a folder" } else { "a pipe, a device or a socket" };
    Err(InputError::NotAFile { path: path.to_owned(), kind })
}

/// Whether a relative name stays in its folder, links followed.
pub(crate) fn stays_inside(folder: &Path, name: &Path) -> bool {
    let mut depth = 0i64;
    for part in name.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return false,
        }
        // At any point of the way: `../other/b` ends deeper than it began, and outside.
        if depth < 0 {
            return false;
        }
    }
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (here.canonicalize(), here.join(name).canonicalize()) {
        (Ok(folder), Ok(path)) => path.starts_with(folder),
        // Nothing is there to be followed.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("a.bin"), b"abc").unwrap();
        std::fs::write(folder.path().join("sub/b.bin"), b"defg").unwrap();
        folder
    }

    #[test]
    fn every_byte_that_is_read_is_in_the_hash() {
        let folder = folder();
        let hash = |names: &[&str]| {
            let inputs = InputSet::new();
            for name in names {
                inputs.read(&folder.path().join(name)).unwrap();
            }
            inputs.hash()
        };
        let before = hash(&["a.bin", "sub/b.bin"]);
        assert_eq!(before, hash(&["a.bin", "sub/b.bin"]));
        assert_ne!(before, hash(&["a.bin"]));
        assert_ne!(before, hash(&["sub/b.bin", "a.bin"]));
        std::fs::write(folder.path().join("sub/b.bin"), b"defh").unwrap();
        assert_ne!(before, hash(&["a.bin", "sub/b.bin"]));
        // The same bytes cut elsewhere are other files.
        std::fs::write(folder.path().join("a.bin"), b"abcd").unwrap();
        std::fs::write(folder.path().join("sub/b.bin"), b"efg").unwrap();
        assert_ne!(before, hash(&["a.bin", "sub/b.bin"]));
    }

    #[test]
    fn opened_files_are_hashed_and_rewound() {
        let folder = folder();
        let path = folder.path().join("a.bin");
        let inputs = InputSet::new();
        let mut text = String::new();
        inputs.open(&path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "abc");
        std::fs::write(&path, b"abd").unwrap();
        let other = InputSet::new();
        other.open(&path).unwrap();
        assert_ne!(inputs.hash(), other.hash());
        assert_eq!(inputs.files().len(), 1);
    }

    #[test]
    fn what_is_no_file_or_too_large_is_refused_with_its_name() {
        let folder = folder();
        let small = Limits { file_bytes: 2, ..Limits::default() };
        let error = InputSet::with_limits(small).read(&folder.path().join("a.bin")).unwrap_err();
        assert!(error.to_string().contains("a.bin has 3 bytes, more than the limit of 2 bytes"));
        let few = Limits { source_bytes: 5, ..Limits::default() };
        let inputs = InputSet::with_limits(few);
        inputs.read(&folder.path().join("a.bin")).unwrap();
        let error = inputs.read(&folder.path().join("sub/b.bin")).unwrap_err();
        assert!(matches!(error, InputError::TooMuch { bytes: 7, limit: 5, .. }), "{error}");
        let error = InputSet::new().read(&folder.path().join("sub")).unwrap_err();
        assert!(matches!(error, InputError::NotAFile { kind: "a folder", .. }), "{error}");
        let error = InputSet::new().read(&folder.path().join("c.bin")).unwrap_err();
        assert!(matches!(error, InputError::Missing(_)), "{error}");
    }

    #[test]
    #[cfg(unix)]
    fn pipes_and_devices_are_refused_without_waiting() {
        let folder = folder();
        let pipe = folder.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            if path.exists() {
                let error = InputSet::new().read(path).unwrap_err();
                assert!(matches!(error, InputError::NotAFile { .. }), "{error}");
            }
        }
        assert!(made.is_ok_and(|m| m.success()), "mkfifo");
    }

    #[test]
    fn names_lead_beside_or_below_unless_allowed() {
        let folder = folder();
        let base = folder.path().join("sub");
        let inputs = InputSet::new();
        assert_eq!(inputs.read_beside(Some(&base), "b.bin").unwrap(), b"defg");
        assert_eq!(inputs.read_beside(Some(folder.path()), "sub/../a.bin").unwrap(), b"abc");
        let outside = folder.path().join("a.bin");
        for name in ["../a.bin", outside.to_str().unwrap(), "x/../../a.bin"] {
            let error = inputs.read_beside(Some(&base), name).unwrap_err();
            assert!(matches!(error, InputError::Outside { .. }), "{name}: {error}");
        }
        let anywhere = InputSet::with_limits(Limits { outside: true, ..Limits::default() });
        assert_eq!(anywhere.read_beside(Some(&base), "../a.bin").unwrap(), b"abc");
        assert!(inputs.read_beside(None, "a.bin").is_err());
    }

    #[test]
    #[cfg(unix)]
    fn links_do_not_lead_out_of_the_folder() {
        let folder = folder();
        let base = folder.path().join("sub");
        std::os::unix::fs::symlink("../a.bin", base.join("link.bin")).unwrap();
        std::os::unix::fs::symlink("b.bin", base.join("near.bin")).unwrap();
        let inputs = InputSet::new();
        assert!(matches!(
            inputs.read_beside(Some(&base), "link.bin"),
            Err(InputError::Outside { .. })
        ));
        assert_eq!(inputs.read_beside(Some(&base), "near.bin").unwrap(), b"defg");
    }

    #[test]
    fn images_are_paid_for_together() {
        let inputs = InputSet::with_limits(Limits { images_bytes: 10, ..Limits::default() });
        inputs.pay_image(6).unwrap();
        assert!(inputs.clone().pay_image(6).is_err());
        inputs.pay_image(4).unwrap();
    }
}
