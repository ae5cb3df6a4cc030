//! Where results may go: never over an input, never through a link, never out of the folder that was
//! meant, and only where they can be written. Everything here is asked before a shot is simulated.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::inputs::stays_inside;

/// Longest file name that the usual file systems take [bytes].
const LONGEST_NAME: usize = 255;
/// What is appended to a name while the file is not yet whole: `.NAME.4194304.partial`, at most.
const LONGEST_SUFFIX: usize = ".".len() + ".glb.4294967295".len() + ".partial".len();

/// Why a file may not or cannot be written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// It is one of the files that the shot is made of.
    #[error("{} is an input of this shot (as {}): it is never overwritten", path.display(), input.display())]
    IsInput {
        /// The output.
        path: PathBuf,
        /// The input.
        input: PathBuf,
    },
    /// Two outputs have one name.
    #[error("{} would be written twice", .0.display())]
    Twice(PathBuf),
    /// It lies outside the scene's folder.
    #[error("{} is outside of the scene's folder (--anywhere allows it)", .0.display())]
    Outside(PathBuf),
    /// It is a link.
    #[error("{} is a link: links are not followed for writing; remove it or give another name", .0.display())]
    Link(PathBuf),
    /// Something else than a file is there.
    #[error("{} is not a file: give another name", .0.display())]
    NotAFile(PathBuf),
    /// The name is too long for the file system, or will be while the file is not yet whole.
    #[error("the name of {} is too long: {} bytes, at most {}", path.display(), bytes, most)]
    NameTooLong {
        /// The output.
        path: PathBuf,
        /// Length of its name.
        bytes: usize,
        /// Longest that can be written.
        most: usize,
    },
    /// The folder takes no file.
    #[error("cannot write {}: {error}", path.display())]
    Unwritable {
        /// The output.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file of somebody else is in the way.
    #[error("{} is there and was not made by frisson: it is left alone; remove it or give another name", .0.display())]
    NotOurs(PathBuf),
}

/// Refuses outputs that are inputs, by whatever name or link; also sequences of files that an input
/// is one of.
pub fn refuse_inputs(outputs: &[PathBuf], inputs: &[PathBuf]) -> Result<(), OutputError> {
    for path in outputs {
        let is_taken = |input: &&PathBuf| is_same_file(path, input) || is_one_of(path, input);
        if let Some(input) = inputs.iter().find(is_taken) {
            return Err(OutputError::IsInput { path: path.clone(), input: input.clone() });
        }
    }
    Ok(())
}

/// Refuses two outputs of one name.
pub fn refuse_twice(outputs: &[PathBuf]) -> Result<(), OutputError> {
    // By place, not by name: `a.abc` and `./a.abc` are one.
    let mut places: Vec<PathBuf> = outputs.iter().map(|p| place(p)).collect();
    places.sort();
    match places.windows(2).find(|w| w[0] == w[1]) {
        Some(twice) => Err(OutputError::Twice(twice[0].clone())),
        None => Ok(()),
    }
}

/// Refuses a name that leads out of its folder, links of folders followed.
pub fn refuse_outside(folder: &Path, name: &Path) -> Result<(), OutputError> {
    let outside = || OutputError::Outside(folder.join(name));
    // What does not exist yet will be made below what does.
    let mut existing = name;
    while folder.join(existing).symlink_metadata().is_err() {
        match existing.parent() {
            Some(parent) => existing = parent,
            None => break,
        }
    }
    if stays_inside(folder, name) && stays_inside(folder, existing) {
        Ok(())
    } else {
        Err(outside())
    }
}

/// Everything that is asked of outputs before the first of them is written: that none is an input or
/// written twice, and that all can be written. Takes away what killed runs left beside them.
pub fn prepare(outputs: &[PathBuf], inputs: &[PathBuf]) -> Result<(), OutputError> {
    refuse_inputs(outputs, inputs)?;
    refuse_twice(outputs)?;
    outputs.iter().try_for_each(|path| check_writable(path))?;
    let folders: BTreeSet<&Path> = outputs.iter().filter_map(|path| path.parent()).collect();
    folders.into_iter().for_each(clean_leftovers);
    Ok(())
}

/// Whether a file can be put there: its name, what is there now, and whether its folder takes files.
pub fn check_writable(path: &Path) -> Result<(), OutputError> {
    let name = path.file_name().ok_or_else(|| OutputError::NotAFile(path.to_owned()))?;
    let (bytes, most) = (name.len(), LONGEST_NAME - LONGEST_SUFFIX);
    if bytes > most {
        return Err(OutputError::NameTooLong { path: path.to_owned(), bytes, most });
    }
    match path.symlink_metadata() {
        Ok(there) if there.is_symlink() => return Err(OutputError::Link(path.to_owned())),
        Ok(there) if !there.is_file() => return Err(OutputError::NotAFile(path.to_owned())),
        _ => {}
    }
    probe(path).map_err(|error| OutputError::Unwritable { path: path.to_owned(), error })
}

/// Makes a file in the nearest folder that exists, and takes it away again: permissions, quotas and
/// read-only disks cannot be asked in any other way.
fn probe(path: &Path) -> std::io::Result<()> {
    let mut folder = path.parent().unwrap_or(Path::new(""));
    loop {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        match here.metadata() {
            Ok(there) if there.is_dir() => {
                let probe = here.join(format!(".frisson-probe.{}", std::process::id()));
                // `create_new`: never opens what is there, not even through a link.
                OpenOptions::new().write(true).create_new(true).open(&probe)?;
                return fs::remove_file(&probe);
            }
            Ok(_) => return Err(std::io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            Err(error) => match folder.parent() {
                Some(parent) => folder = parent,
                None => return Err(error),
            },
        }
    }
}

/// Takes away what killed runs left in a folder: `.NAME.PID.partial` that no process holds.
pub fn clean_leftovers(folder: &Path) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(listing) = fs::read_dir(folder) else { return };
    for entry in listing.flatten() {
        let name = entry.file_name();
        let is_partial = name.to_str().is_some_and(is_partial_name);
        let is_file = entry.file_type().is_ok_and(|t| t.is_file());
        if is_partial && is_file && is_abandoned(&entry.path()) {
            // Whoever cannot remove it will not be hindered by it either.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// `.shot.abc.1234.partial`.
fn is_partial_name(name: &str) -> bool {
    let inner = name.strip_prefix('.').and_then(|n| n.strip_suffix(".partial"));
    let number = inner.and_then(|n| n.rsplit_once('.')).map(|(_, number)| number);
    let is_probe = name.starts_with(".frisson-probe.");
    is_probe || number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// A running export holds the lock of its partial file.
fn is_abandoned(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// Formats that write several files for one name: `cat.obj` becomes `cat.0001.obj`, …
const SEVERAL: [&str; 4] = ["obj", "pc2", "mdd", "png"];

/// Whether a file is named like one of those that an output of several files writes.
fn is_one_of(output: &Path, file: &Path) -> bool {
    let ending = |path: &Path| path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let (Some(kind), Some(stem), Some(name)) =
        (ending(output), output.file_stem(), file.file_name())
    else {
        return false;
    };
    let (stem, name) = (stem.to_string_lossy(), name.to_string_lossy());
    let is_kind = ending(file).is_some_and(|e| e == kind || (kind == "obj" && e == "mtl"));
    let is_named = name.strip_prefix(&*stem).is_some_and(|rest| rest.starts_with(['.', '_']));
    SEVERAL.contains(&kind.as_str())
        && is_kind
        && is_named
        && place(output).parent() == place(file).parent()
}

/// Whether two paths are one file, by name, by link or by hard link.
fn is_same_file(a: &Path, b: &Path) -> bool {
    place(a) == place(b) || is_same_entry(a, b)
}

#[cfg(unix)]
fn is_same_entry(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same_entry(_: &Path, _: &Path) -> bool {
    false
}

/// The path without links and detours; where nothing is there yet, that of the folder.
fn place(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cat.glb"), b"rig").unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        folder
    }

    #[test]
    fn an_output_that_is_an_input_is_refused_by_any_name() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        let inputs = [at("cat.glb")];
        let refused = |name: &str| refuse_inputs(&[at(name)], &inputs).is_err();
        assert!(refused("cat.glb") && refused("sub/../cat.glb"));
        assert!(!refused("dog.glb") && !refused("sub/cat.glb"));
        fs::hard_link(at("cat.glb"), at("hard.glb")).unwrap();
        assert!(refused("hard.glb"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../cat.glb", at("sub/soft.glb")).unwrap();
            assert!(refused("sub/soft.glb"));
        }
        fs::write(at("cat.0001.obj"), b"frame").unwrap();
        let frames = [at("cat.0001.obj")];
        let over = |name: &str| refuse_inputs(&[at(name)], &frames).is_err();
        assert!(over("cat.obj") && over("sub/../cat.obj"));
        assert!(!over("cats.obj") && !over("cat.pc2") && !over("sub/cat.obj"));
        assert!(refuse_twice(&[at("a.abc"), at("sub/../a.abc")]).is_err());
        assert!(refuse_twice(&[at("a.abc"), at("sub/a.abc")]).is_ok());
    }

    #[test]
    fn names_lead_beside_or_below() {
        let folder = folder();
        let check = |name: &str| refuse_outside(folder.path(), Path::new(name)).is_ok();
        assert!(check("a.abc") && check("sub/a.abc") && check("new/deep/a.abc"));
        assert!(!check("../a.abc") && !check("/tmp/a.abc") && !check("new/../../a.abc"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/", folder.path().join("out")).unwrap();
            assert!(!check("out/a.abc") && !check("out/tmp/new/a.abc"));
        }
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        assert!(check_writable(&at("a.abc")).is_ok() && check_writable(&at("new/a.abc")).is_ok());
        assert!(matches!(check_writable(&at("sub")), Err(OutputError::NotAFile(_))));
        let long = "n".repeat(251) + ".abc";
        assert!(matches!(check_writable(&at(&long)), Err(OutputError::NameTooLong { .. })));
        assert!(matches!(
            check_writable(&at("cat.glb/a.abc")),
            Err(OutputError::Unwritable { .. })
        ));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("nowhere", at("link.abc")).unwrap();
            assert!(matches!(check_writable(&at("link.abc")), Err(OutputError::Link(_))));
        }
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert!(names.len() <= 3, "the probe leaves nothing: {names:?}");
    }

    #[test]
    fn leftovers_go_unless_somebody_holds_them() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        fs::write(at(".a.abc.12.partial"), b"half").unwrap();
        fs::write(at(".b.abc.13.partial"), b"half").unwrap();
        fs::write(at("c.12.partial"), b"not ours").unwrap();
        fs::write(at(".d.partial"), b"not ours").unwrap();
        let held = File::open(at(".b.abc.13.partial")).unwrap();
        held.lock().unwrap();
        clean_leftovers(folder.path());
        assert!(!at(".a.abc.12.partial").exists());
        for kept in [".b.abc.13.partial", "c.12.partial", ".d.partial", "cat.glb"] {
            assert!(at(kept).exists(), "{kept}");
        }
    }
}
