//! Files that appear under their name only when they are whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{ExportError, WrittenFile};

/// Large enough that the disk, not the calls, sets the pace.
const BUFFER_BYTES: usize = 1 << 20;

/// A file written under another name beside its own. Dropped before `finish`, it leaves nothing.
pub(crate) struct PendingFile {
    out: Option<BufWriter<File>>,
    partial: PathBuf,
    path: PathBuf,
    overwrite: bool,
}

impl PendingFile {
    pub(crate) fn create(path: &Path, overwrite: bool) -> Result<Self, ExportError> {
        refuse_existing(path, overwrite)?;
        let name = path
            .file_name()
            .ok_or_else(|| ExportError::NotAFile(path.to_owned()))?
            .to_string_lossy()
            .into_owned();
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|e| ExportError::at(path, e))?;
        }
        // Beside it, as a rename must stay on one disk; hidden, and with the process, as two may export at once.
        let partial = path.with_file_name(format!(".{name}.{}.partial", std::process::id()));
        let file = File::create(&partial).map_err(|e| ExportError::at(path, e))?;
        // Held until the file is whole: a later run takes away what nobody holds. Where locks are not
        // to be had, nothing is taken away either.
        let _ = file.try_lock();
        let out = Some(BufWriter::with_capacity(BUFFER_BYTES, file));
        Ok(Self { out, partial, path: path.to_owned(), overwrite })
    }

    /// Puts the whole file under its name.
    pub(crate) fn finish(mut self) -> Result<WrittenFile, ExportError> {
        let path = self.path.clone();
        let result = self.finish_file();
        result.map_err(|e| ExportError::at(&path, e)).and_then(|bytes| {
            // Asked again: somebody may have put a file there in the meantime.
            refuse_existing(&path, self.overwrite)?;
            fs::rename(&self.partial, &path).map_err(|e| ExportError::at(&path, e))?;
            Ok(WrittenFile { path: path.clone(), bytes, remarks: Vec::new() })
        })
    }

    fn finish_file(&mut self) -> io::Result<u64> {
        let Some(mut out) = self.out.take() else { return Ok(0) };
        out.flush()?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        // Before the rename: the name promises that the file is whole.
        file.sync_data()?;
        Ok(file.metadata()?.len())
    }

    fn out(&mut self) -> io::Result<&mut BufWriter<File>> {
        self.out.as_mut().ok_or_else(|| io::Error::other("the file is already finished"))
    }
}

pub(crate) fn refuse_existing(path: &Path, overwrite: bool) -> Result<(), ExportError> {
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err(ExportError::Exists(path.to_owned()));
    }
    Ok(())
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out()?.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out()?.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out()?.flush()
    }
}

impl Seek for PendingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.out()?.seek(to)
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(out) = self.out.take() {
            // The buffer must not be flushed into a file that is about to go.
            drop(out.into_parts().0);
        }
        // After a successful rename there is nothing under this name.
        let _ = fs::remove_file(&self.partial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_an_unfinished_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.abc");
        let mut file = PendingFile::create(&path, false).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_whole_file_replaces_only_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub/a.abc");
        let mut file = PendingFile::create(&path, false).unwrap();
        file.write_all(b"one").unwrap();
        assert_eq!(file.finish().unwrap().bytes, 3);
        assert!(matches!(PendingFile::create(&path, false), Err(ExportError::Exists(_))));
        let mut file = PendingFile::create(&path, true).unwrap();
        file.write_all(b"two").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
