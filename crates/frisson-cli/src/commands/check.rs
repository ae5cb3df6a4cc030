//! `frisson check`: everything a bake would refuse, without simulating; with `--bake`, whether the shot
//! keeps what its scene promises.

use std::path::PathBuf;

use clap::Args;
use frisson_io::scene::SceneFile;
use frisson_judge::{Bakery, Held, Outcome, hold, is_slow};
use frisson_workshop::Loader;
use serde_json::json;

use super::scratch::Scratch;
use crate::failure::Failure;
use crate::interrupt;
use crate::ui::Ui;

/// Validate a scene file, its actors and its layers without simulating; with --bake, hold the shot to
/// the scene's [[expect]].
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson check shot.toml
  frisson check shot.toml --bake          bakes, measures, compares with [[expect]]
  frisson check shot.toml --bake --json   the same for a farm

Errors look like `shot.toml:12:9: …`, which editors jump to. With --json they carry line, column
and byte range. A promise that does not hold ends with exit code 4; one that is marked `known` does so
when it holds.")]
pub struct Check {
    /// Scene file.
    scene: PathBuf,
    /// Bake the scene, and what its expectations compare with, and measure.
    #[arg(long)]
    bake: bool,
    /// Use this cache as the bake of the scene; it is not compared with it.
    #[arg(long, value_name = "CACHE", requires = "bake")]
    cache: Option<PathBuf>,
    /// Keep the bakes in this folder, and use those of an earlier run that fit.
    #[arg(long, value_name = "FOLDER", requires = "bake")]
    keep: Option<PathBuf>,
    /// Leave out what needs bakes at other rates or beyond the shot's end.
    #[arg(long, requires = "bake")]
    fast: bool,
}

impl Check {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let scene = SceneFile::read(&self.scene)?;
        // Built even where it is baked next: mistakes are told before minutes pass.
        let built = scene.build(&Loader)?;
        if self.bake {
            return self.hold(&scene, ui);
        }
        built.remarks.iter().for_each(|remark| ui.remark(format!("note: {remark}")));
        let clock = *built.stage.clock();
        let (actors, layers) = (built.stage.actors().all().len(), built.stage.layers().len());
        ui.say(format!(
            "{}: good. {actors} actors, {layers} layers, frames {} to {} at {} fps.",
            self.scene.display(),
            clock.first_frame,
            clock.last_frame,
            clock.rate.fps(),
        ));
        ui.result(|| {
            json!({ "scene": self.scene, "actors": actors, "layers": layers, "fps": clock.rate.fps(),
                    "first_frame": clock.first_frame, "last_frame": clock.last_frame })
        });
        Ok(())
    }

    fn hold(&self, scene: &SceneFile, ui: &Ui) -> Result<(), Failure> {
        interrupt::listen();
        let scratch = match &self.keep {
            Some(folder) => Scratch::kept(folder)?,
            None => Scratch::new()?,
        };
        let mut progress = ui.progress("measuring");
        let mut bakery = Bakery::new(scene, &Loader, scratch.path(), &mut progress);
        if let Some(cache) = &self.cache {
            bakery = bakery.with_cache(cache);
        }
        let outcomes = hold(&mut bakery, &|_, e| !(self.fast && is_slow(e)))?;
        drop(progress);
        outcomes.iter().for_each(|o| ui.say(line(o)));
        let bad: Vec<&Outcome> = outcomes.iter().filter(|o| !o.held.is_good()).collect();
        let known = outcomes.iter().filter(|o| o.held == Held::Known).count();
        ui.result(
            || json!({ "scene": self.scene, "good": bad.is_empty(), "expectations": outcomes }),
        );
        if bad.is_empty() {
            let kept = outcomes.len() - known;
            ui.say(format!(
                "{}: {kept} promises kept, {known} known to fail.",
                self.scene.display()
            ));
            return Ok(());
        }
        let text =
            format!("{}: {} promises are not as they should be", self.scene.display(), bad.len());
        Err(Failure::broken(text))
    }
}

/// One promise as a line.
fn line(o: &Outcome) -> String {
    let mark = match o.held {
        Held::Kept => "kept   ",
        Held::Broken => "BROKEN ",
        Held::Known => "known  ",
        Held::NoLongerKnown => "HOLDS  ",
        Held::NotMeasured => "NOTHING",
    };
    let known = match (&o.known, o.held) {
        (Some(reason), Held::Known) => format!(" [known: {reason}]"),
        (_, Held::NoLongerKnown) => " [it holds now: take `known` away]".to_owned(),
        _ => String::new(),
    };
    let (line, why) = (o.line, &o.why);
    let (measured, found, wanted) = (o.measured(), o.found(), o.wanted());
    format!("{mark} line {line}: {measured}: {found} ({wanted}): {why}{known}")
}
