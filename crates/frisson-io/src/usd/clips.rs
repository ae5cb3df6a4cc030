//! A shot in parts: each written by whoever has time, put together by a short text file.
//!
//! ```text
//! shot.usda ── value clips ──► shot.0001.usdc  shot.0002.usdc  …
//! ```
//!
//! Every part holds one frame of the next, so that what lies between them is interpolated as in one file. The parts
//! are also referenced, the first strongest: prims and what does not change come from there, samples from the clips,
//! which are stronger than references.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::shot::ROOT;
use crate::source::ShotInfo;

/// A part of a shot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its file, beside the root.
    pub file: PathBuf,
    /// First frame it stands for.
    pub first: i64,
    /// Last frame it stands for.
    pub last: i64,
    /// First and last frame it holds.
    pub frames: [i64; 2],
}

/// Cuts a shot into at most `count` parts of equal length, named after the root.
#[must_use]
pub fn parts(root: &Path, info: &ShotInfo, count: u32) -> Vec<Part> {
    let (first, last) = (info.first_frame, info.last_frame);
    let frames = (last - first + 1).max(1);
    let count = i64::from(count.max(1)).min(frames);
    // Whole numbers: every frame is in one part, and lengths differ by one at most.
    let start = |part: i64| first + frames * part / count;
    let stem = root.file_stem().unwrap_or_default().to_string_lossy();
    let part = |number: i64| {
        let (from, to) = (start(number), start(number + 1) - 1);
        let file = root.with_file_name(format!("{stem}.{:04}.usdc", number + 1));
        Part { file, first: from, last: to, frames: [from, (to + 1).min(last)] }
    };
    (0..count).map(part).collect()
}

/// The text of the root that puts parts together; `scale` is that of the parts.
#[must_use]
pub fn stitched_root(parts: &[Part], info: &ShotInfo, scale: f32) -> String {
    let fps = info.rate.fps();
    let (first, last) = (info.first_frame, info.last_frame);
    let name =
        |part: &Part| part.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let list = |one: &dyn Fn(&Part) -> String| parts.iter().map(one).collect::<Vec<_>>().join(", ");
    let references = list(&|part| format!("@./{}@</{ROOT}>", name(part)));
    let assets = list(&|part| format!("@./{}@", name(part)));
    let active: Vec<String> =
        parts.iter().enumerate().map(|(i, part)| format!("({}, {i})", part.first)).collect();
    let mut text = String::from("#usda 1.0\n(\n");
    let _ = writeln!(text, "    defaultPrim = \"{ROOT}\"");
    let _ =
        writeln!(text, "    doc = \"A shot in {} parts, put together by frisson\"", parts.len());
    let _ = writeln!(text, "    endTimeCode = {last}");
    let _ = writeln!(text, "    framesPerSecond = {fps}");
    let _ = writeln!(text, "    metersPerUnit = {}", 1.0 / f64::from(scale));
    let _ = writeln!(text, "    startTimeCode = {first}");
    let _ = writeln!(text, "    timeCodesPerSecond = {fps}");
    let _ = writeln!(text, "    upAxis = \"Y\"\n)\n");
    let _ = writeln!(text, "def Xform \"{ROOT}\" (");
    let _ = writeln!(text, "    prepend references = [{references}]");
    text.push_str("    clips = {\n        dictionary default = {\n");
    let _ = writeln!(text, "            asset[] assetPaths = [{assets}]");
    let _ = writeln!(text, "            double2[] active = [{}]", active.join(", "));
    let _ = writeln!(text, "            string primPath = \"/{ROOT}\"");
    let _ = writeln!(text, "            double2[] times = [({first}, {first}), ({last}, {last})]");
    text.push_str("        }\n    }\n)\n{\n}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisson::stage::Rate;

    fn shot(first: i64, last: i64) -> ShotInfo {
        ShotInfo { rate: Rate::whole(24), first_frame: first, last_frame: last }
    }

    /// Every frame is stood for once, and each part holds the first frame of the next.
    #[test]
    fn parts_cover_the_shot_once_and_overlap_by_a_frame() {
        for (first, last, count) in [(0, 99, 4), (-3, 3, 3), (5, 5, 4), (0, 9, 100), (1, 10, 1)] {
            let parts = parts(Path::new("a/shot.usda"), &shot(first, last), count);
            let covered: Vec<i64> = parts.iter().flat_map(|p| p.first..=p.last).collect();
            assert_eq!(covered, (first..=last).collect::<Vec<_>>());
            for pair in parts.windows(2) {
                assert_eq!(pair[0].frames[1], pair[1].first);
            }
            assert_eq!(parts.last().map(|p| p.frames[1]), Some(last));
            assert_eq!(parts[0].file, Path::new("a/shot.0001.usdc"));
        }
    }

    #[test]
    fn the_root_names_every_part_and_when_it_counts() {
        let info = shot(0, 9);
        let parts = parts(Path::new("shot.usda"), &info, 2);
        let text = stitched_root(&parts, &info, 100.0);
        for words in [
            "@./shot.0001.usdc@, @./shot.0002.usdc@",
            "active = [(0, 0), (5, 1)]",
            "times = [(0, 0), (9, 9)]",
            "metersPerUnit = 0.01",
        ] {
            assert!(text.contains(words), "{text}");
        }
    }
}
