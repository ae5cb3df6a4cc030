//! MDD point caches: the positions of one mesh, frame after frame, big-endian.
//!
//! ```text
//! frames(i32) points(i32) | time of each frame (f32) [s] | x y z (f32) …
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
    let count = frames.frame_count() as i64;
    // Readers start at the first sample whatever its time.
    let times: Vec<f32> = (0..count).map(|f| frames.time(f) as f32).collect();
    let mut buffer = Vec::new();
    write_point_caches(
        frames,
        ExportFormat::Mdd,
        create,
        &mut |file, points| {
            file.write_all(&(count as i32).to_be_bytes())?;
            file.write_all(&(points as i32).to_be_bytes())?;
            times.iter().try_for_each(|t| file.write_all(&t.to_be_bytes()))?;
            Ok(())
        },
        &mut |file, positions: &[Vec3]| {
            buffer.clear();
            buffer.extend(positions.iter().flat_map(|p| p.to_array()).flat_map(f32::to_be_bytes));
            file.write_all(&buffer)?;
            Ok(())
        },
    )
}

#[cfg(test)]
mod tests {
    use crate::export::tests::{exported_bytes, small_shot};

    #[test]
    fn a_cache_is_laid_out_byte_for_byte() {
        let mut source = small_shot();
        let bytes = exported_bytes(&mut source, "mdd = \"a.mdd\"\nmeshes = [\"wave\"]");
        let mut expected = Vec::new();
        expected.extend(4_i32.to_be_bytes());
        expected.extend(9_i32.to_be_bytes());
        for time in [0.0_f32, 0.04, 0.08, 0.12] {
            expected.extend(time.to_be_bytes());
        }
        for frame in &source.frames {
            for p in &frame.meshes[0].positions {
                p.to_array().iter().for_each(|v| expected.extend(v.to_be_bytes()));
            }
        }
        assert_eq!(bytes, expected);
    }
}
