//! The files of one export: one, one a mesh, or one a frame.

use std::path::{Path, PathBuf};

use super::file::refuse_existing;
use super::{ExportError, ExportFormat, Frames, NameRule, Names, PendingFile, WrittenFile};
use crate::{obj, png_sequence, usd};

pub(super) fn write_usd(
    file: &mut PendingFile,
    path: &Path,
    frames: &mut Frames<'_>,
) -> Result<(), ExportError> {
    match path.extension().is_some_and(|e| e.eq_ignore_ascii_case("usda")) {
        true => usd::write_shot(&mut usd::TextWriter::create(file), frames),
        false => usd::write_shot(&mut usd::BinaryWriter::create(file)?, frames),
    }
}

/// The files of one export.
pub(super) struct Outputs<'a> {
    pub(super) path: &'a Path,
    pub(super) overwrite: bool,
}

impl Outputs<'_> {
    pub(super) fn write_one(
        &self,
        write: impl FnOnce(&mut PendingFile) -> Result<(), ExportError>,
    ) -> Result<Vec<WrittenFile>, ExportError> {
        let mut file = PendingFile::create(self.path, self.overwrite)?;
        write(&mut file).map_err(|e| e.in_file(self.path))?;
        Ok(vec![file.finish()?])
    }

    /// `cat.pc2` for one mesh, `cat.body.pc2` and so on for several.
    pub(super) fn write_caches(
        &self,
        write: impl FnOnce(
            &mut dyn FnMut(&str, bool) -> Result<PendingFile, ExportError>,
        ) -> Result<Vec<PendingFile>, ExportError>,
    ) -> Result<Vec<WrittenFile>, ExportError> {
        let mut names = Names::new(NameRule::Plain);
        let mut create = |mesh: &str, alone: bool| {
            let path = match alone {
                true => self.path.to_owned(),
                false => self.with_part(&names.get(mesh)),
            };
            PendingFile::create(&path, self.overwrite)
        };
        let files = write(&mut create).map_err(|e| e.in_file(self.path))?;
        files.into_iter().map(PendingFile::finish).collect()
    }

    /// `cat.obj` becomes `cat.0001.obj` …, with `cat.mtl`.
    pub(super) fn write_sequence(
        &self,
        frames: &mut Frames<'_>,
    ) -> Result<Vec<WrittenFile>, ExportError> {
        let library_path = self.path.with_extension("mtl");
        let paths = (frames.info().first_frame..=frames.info().last_frame)
            .map(|frame| self.with_part(&format!("{frame:04}")));
        let mut paths: Vec<PathBuf> = paths.collect();
        paths.push(library_path.clone());
        // All before the first: no half of a sequence is left because the last one was there.
        paths.iter().try_for_each(|path| refuse_existing(path, self.overwrite))?;
        let library_name = library_path.file_name().unwrap_or_default().to_string_lossy();
        let mut library = obj::Library::new();
        let mut written = Vec::new();
        let params = frames.params();
        for path in &paths[..paths.len() - 1] {
            let Some(frame) = frames.next()? else { break };
            let mut file = PendingFile::create(path, self.overwrite)?;
            obj::write_frame(&mut file, frame, params, &library_name, &mut library)
                .map_err(|e| e.in_file(path))?;
            written.push(file.finish()?);
        }
        // Past the end: that is where names nobody knows are told.
        frames.next()?;
        if !library.is_empty() {
            let mut file = PendingFile::create(&library_path, self.overwrite)?;
            library.write(&mut file)?;
            written.push(file.finish()?);
        }
        Ok(written)
    }

    /// `wet.png` becomes `wet.0001.png` …, or `wet.NAME.0001.png` … for several images.
    pub(super) fn write_images(
        &self,
        frames: &mut Frames<'_>,
    ) -> Result<Vec<WrittenFile>, ExportError> {
        let mut names = Names::new(NameRule::Plain);
        let mut written = Vec::new();
        while let Some(frame) = frames.next()? {
            let alone = frame.images.len() == 1;
            for image in &frame.images {
                let path = match alone {
                    true => self.with_part(&format!("{:04}", frame.index)),
                    false => {
                        self.with_part(&format!("{}.{:04}", names.get(&image.name), frame.index))
                    }
                };
                let mut file = PendingFile::create(&path, self.overwrite)?;
                png_sequence::write_image(&mut file, image).map_err(|e| e.in_file(&path))?;
                written.push(file.finish()?);
            }
        }
        match written.is_empty() {
            true => Err(ExportError::Nothing(ExportFormat::Png)),
            false => Ok(written),
        }
    }

    fn with_part(&self, part: &str) -> PathBuf {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let extension = self.path.extension().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!("{stem}.{part}.{extension}"))
    }
}
