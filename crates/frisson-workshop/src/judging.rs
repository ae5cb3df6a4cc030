//! A bake before the judge, with the character's own motion beside it: what the animation brings along is not
//! what a layer did.

use std::path::Path;

use frisson::stage::Frame;
use frisson_io::cache::CacheReader;
use frisson_io::scene::SceneFile;
use frisson_io::{FrameSource, Progress, ShotInfo, SourceError};
use frisson_judge::{JudgeError, Judgement, Limits, in_shells, judge_shot};

use crate::Loader;
use crate::shot::{Rig, leave_out, matches};

/// Judges a cache, as its camera sees it (`hide`). Complaints that the actors' own motion, without any layer, gives as much reason for are kept
/// apart; where the actors' sources are gone, none are.
///
/// `folder_of` is the cache's path, or the scene's: actors are looked for beside it.
pub fn judge_bake(
    reader: &mut CacheReader,
    folder_of: &Path,
    limits: &Limits,
    range: Option<(i64, i64)>,
    progress: &mut dyn Progress,
) -> Result<Judgement, JudgeError> {
    let layers = reader.header().layers.clone();
    let scene = SceneFile::parse(folder_of, &reader.header().scene_text).ok();
    let hidden = scene.as_ref().map_or_else(Vec::new, |s| s.scene.camera.hide.clone());
    let mut seen = Seen { source: reader, hidden: &hidden };
    let mut judgement = judge_shot(&mut seen, &layers, limits, range, progress)?;
    if judgement.findings.is_empty() {
        return Ok(judgement);
    }
    if let Ok(rig) = Rig::build(scene, &Loader) {
        let mut bare = Bare { rig, info: reader.info().clone() };
        let mut seen = Seen { source: &mut bare, hidden: &hidden };
        let mut own = judge_shot(&mut seen, &[], limits, range, progress)?;
        // What a clip swings through a skin of open shells is in the coat that took the skin's place, too.
        let is_replaced = |name: &str| matches(&hidden, name);
        own.findings.extend(in_shells(&mut bare, is_replaced, &judgement.findings)?);
        judgement.set_own_apart(&own);
    }
    Ok(judgement)
}

/// A shot without what its camera leaves out: skin below a coat is nobody's concern.
struct Seen<'a> {
    source: &'a mut dyn FrameSource,
    hidden: &'a [String],
}

impl FrameSource for Seen<'_> {
    fn info(&self) -> &ShotInfo {
        self.source.info()
    }

    fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError> {
        self.source.read_frame(frame, out)?;
        leave_out(out, self.hidden);
        Ok(())
    }
}

/// The actors of a shot without its layers.
struct Bare {
    rig: Rig,
    info: ShotInfo,
}

impl FrameSource for Bare {
    fn info(&self) -> &ShotInfo {
        &self.info
    }

    fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError> {
        *out = self.rig.frame(frame, frame as f64 / self.info.rate.fps());
        Ok(())
    }
}
