//! PC2 point caches: the positions of one mesh, frame after frame, little-endian.
//!
//! ```text
//! "POINTCACHE2\0" version(i32 1) points(i32) start(f32) rate(f32) samples(i32) | x y z (f32) …
//! ```
//!
//! Positions are written as they are (Y up); the host's modifier converts the axes.

use std::io::Write;

use glam::Vec3;

use crate::export::{ExportError, ExportFormat, Frames, PendingFile, write_point_caches};

/// Writes one file per mesh.
pub(crate) fn write_shot(
    frames: &mut Frames<'_>,
    create: &mut dyn FnMut(&str, bool) -> Result<PendingFile, ExportError>,
) -> Result<Vec<PendingFile>, ExportError> {
    let count = frames.frame_count() as i32;
    let start = frames.info().first_frame as f32;
    write_point_caches(
        frames,
        ExportFormat::Pc2,
        create,
        &mut |file, points| {
            file.write_all(&header(points as i32, start, count))?;
            Ok(())
        },
        &mut |file, positions: &[Vec3]| {
            file.write_all(bytemuck::cast_slice(positions))?;
            Ok(())
        },
    )
}

fn header(points: i32, start: f32, samples: i32) -> Vec<u8> {
    let mut out = b"POINTCACHE2\0".to_vec();
    out.extend(1_i32.to_le_bytes());
    out.extend(points.to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend(1_f32.to_le_bytes());
    out.extend(samples.to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::tests::{export_with, small_shot};

    #[test]
    fn a_cache_is_laid_out_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        let mut source = small_shot();
        let written =
            export_with(&mut source, folder.path(), "pc2 = \"a.pc2\"\nmeshes = [\"wave\"]")
                .unwrap();
        assert_eq!(written[0].path, folder.path().join("a.pc2"));
        let bytes = std::fs::read(&written[0].path).unwrap();
        assert_eq!(bytes[..32], header(9, 10.0, 4)[..]);
        let body: Vec<u8> = source
            .frames
            .iter()
            .flat_map(|f| bytemuck::cast_slice::<_, u8>(&f.meshes[0].positions).to_vec())
            .collect();
        assert_eq!(bytes[32..], body);
    }

    #[test]
    fn changing_topology_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = export_with(&mut small_shot(), folder.path(), "pc2 = \"a.pc2\"").unwrap_err();
        assert!(error.to_string().contains("`blob` changes its vertices at frame 11"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
