//! `frisson judge`: what an animator would complain of.

use std::path::{Path, PathBuf};

use clap::Args;
use frisson_io::cache::CacheReader;
use frisson_io::outputs;
use frisson_io::scene::{Measure, SceneFile};
use frisson_judge::{Apart, Bakery, Judgement, Limits, Request, Variant, compare_shots, measure};
use frisson_picture::output::write_text;
use frisson_workshop::{Loader, judge_bake};
use serde_json::json;

use super::scratch::Scratch;
use crate::failure::Failure;
use crate::interrupt;
use crate::ui::Ui;

/// Say what an animator would complain of: pops, shivers, stretch, penetration, with frame and place.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson judge shot.frisson                        every shape, against default limits
  frisson judge shot.frisson --limit inside=0.5     at most half a millimetre inside
  frisson judge shot.frisson --against old.frisson  how far apart two bakes are
  frisson judge shot.toml                           bakes the scene first, and again without each layer:
                                                    is its effect to be seen at all?
  frisson render shot.frisson --finding 1           the worst of it, close up

Only geometry and time count, never the layer that made them. Limits are relative to the subject's size
where none is set; a limit that is set has the unit of its measure: pop, inside, travel [mm],
stretch, volume, reversals [-], crossings, components [count].")]
pub struct Judge {
    /// Cache or scene file.
    subject: PathBuf,
    /// Compare with another bake, at the times both have.
    #[arg(long, value_name = "CACHE")]
    against: Option<PathBuf>,
    /// Set a limit, as MEASURE=NUMBER.
    #[arg(long, value_name = "MEASURE=N", value_parser = parse_limit)]
    limit: Vec<(Measure, f64)>,
    /// First and last frame to look at, as A..B.
    #[arg(long, value_name = "A..B", value_parser = super::render::parse_range)]
    frames: Option<(i64, i64)>,
    /// Write what was found to this file too, as JSON; it is replaced if it is there.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// List what is in the actors' own motion too, without any layer.
    #[arg(long)]
    all: bool,
    /// End with exit code 4 when there is something to complain of.
    #[arg(long)]
    strict: bool,
}

impl Judge {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        interrupt::listen();
        let is_scene = self.subject.extension().is_some_and(|e| e == "toml");
        if is_scene {
            return self.judge_scene(ui);
        }
        let mut reader = open(&self.subject)?;
        let judgement = self.judge(&mut reader, ui)?;
        let apart = self.compare(&mut reader, ui)?;
        self.answer(ui, &judgement, &apart, &[])
    }

    fn judge(&self, reader: &mut CacheReader, ui: &Ui) -> Result<Judgement, Failure> {
        let mut limits = Limits::default();
        self.limit.iter().for_each(|&(measure, limit)| limits.set(measure, limit));
        let mut progress = ui.progress("judging");
        Ok(judge_bake(reader, &self.subject, &limits, self.frames, &mut progress)?)
    }

    /// How far the other bake is, if one was given.
    fn compare(&self, reader: &mut CacheReader, ui: &Ui) -> Result<Vec<Apart>, Failure> {
        let Some(other) = &self.against else { return Ok(Vec::new()) };
        Ok(compare_shots(reader, &mut open(other)?, &mut ui.progress("comparing"))?)
    }

    fn judge_scene(&self, ui: &Ui) -> Result<(), Failure> {
        let scene = SceneFile::read(&self.subject)?;
        // Mistakes in the text come before minutes of baking.
        scene.build(&Loader)?;
        let scratch = Scratch::new()?;
        let mut progress = ui.progress("baking");
        let mut bakery = Bakery::new(&scene, &Loader, scratch.path(), &mut progress);
        let mut reader = bakery.open(&Variant::default())?;
        let judgement = self.judge(&mut reader, ui)?;
        let mut seen = Vec::new();
        for layer in &scene.scene.layers {
            seen.push((layer.name().to_owned(), visible(&mut bakery, &mut reader, layer.name())?));
        }
        let apart = self.compare(&mut reader, ui)?;
        self.answer(ui, &judgement, &apart, &seen)
    }

    fn answer(
        &self,
        ui: &Ui,
        judgement: &Judgement,
        apart: &[Apart],
        seen: &[(String, Option<f64>)],
    ) -> Result<(), Failure> {
        let told = || {
            let seen: Vec<_> =
                seen.iter().map(|(l, v)| json!({ "layer": l, "visible": v })).collect();
            json!({ "subject": self.subject, "judgement": judgement, "against": apart, "layers": seen })
        };
        if let Some(report) = &self.report {
            outputs::prepare(std::slice::from_ref(report), std::slice::from_ref(&self.subject))?;
            write_text(report, &format!("{:#}\n", told()))
                .map_err(|e| Failure::input(format!("{}: {e}", report.display())))?;
        }
        ui.result(told);
        for line in judgement_lines(judgement, self.all) {
            ui.say(line);
        }
        for a in apart {
            ui.say(format!(
                "{}: {:.4} mm apart (RMS), at most {:.3} mm at frame {}, element {} at {}",
                a.shape,
                a.rms,
                a.max,
                a.frame,
                a.element,
                place(a.place)
            ));
        }
        for (layer, share) in seen {
            match share {
                Some(share) => ui.say(format!(
                    "{layer}: changes {:.1} % of the picture where it shows most",
                    100.0 * share
                )),
                None => ui.say(format!("{layer}: the scene does not bake without it")),
            }
        }
        if self.strict && !judgement.findings.is_empty() {
            let text = format!("{} things to complain of", judgement.findings.len());
            return Err(Failure::broken(text).help("see them with frisson render --finding N"));
        }
        Ok(())
    }
}

/// What was found, line by line.
///
/// What the actors' own motion has as well is only counted, unless `all` is asked for.
pub fn judgement_lines(judgement: &Judgement, all: bool) -> Vec<String> {
    let looked = format!(
        "looked at {} frames of {} points: {} things to complain of",
        judgement.frames,
        judgement.points,
        judgement.findings.len()
    );
    let line = |f: &frisson_judge::Finding| {
        let at = f.place.map_or_else(String::new, |p| format!(" at {}", place(p)));
        format!("{:>3}. frame {}: {}{at}; in {} frames", f.number, f.frame, f.text, f.frames)
    };
    let mut lines = vec![looked];
    lines.extend(judgement.findings.iter().map(line));
    if !judgement.own.is_empty() {
        let count = judgement.own.len();
        let hint = if all { "" } else { " (frisson judge --all lists them)" };
        lines.push(format!("{count} more in the character's own motion, without any layer{hint}"));
        lines.extend(judgement.own.iter().filter(|_| all).map(line));
    }
    lines
}

fn place([x, y, z]: [f32; 3]) -> String {
    format!("[{x:.3}, {y:.3}, {z:.3}]")
}

/// Frames from look to look for [`visible`]: a picture costs as much as all other measures of its frame.
const LOOK_EVERY: u32 = 4;

/// Largest share of the picture that a layer changes; nothing where the scene does not bake without it.
fn visible(
    bakery: &mut Bakery,
    reader: &mut CacheReader,
    layer: &str,
) -> Result<Option<f64>, Failure> {
    let without = Variant { without: Some(layer.to_owned()), ..Variant::default() };
    // Another layer may need this one.
    let Ok(mut other) = bakery.open(&without) else { return Ok(None) };
    let request =
        Request { every: LOOK_EVERY, ..Request::new(Measure::Visible, Default::default()) };
    let series = measure(reader, Some(&mut other), &[request], bakery.progress())?;
    let shares = series.iter().flat_map(|s| &s.readings).map(|r| r.value);
    Ok(Some(shares.fold(0.0, f64::max)))
}

/// A cache with frames in it.
pub fn open(path: &Path) -> Result<CacheReader, Failure> {
    Ok(frisson_workshop::shot::open_baked(path)?)
}

fn parse_limit(text: &str) -> Result<(Measure, f64), String> {
    let (name, value) = text.split_once('=').ok_or("must look like inside=0.5")?;
    let measure = serde_json::from_value(json!(name))
        .map_err(|_| format!("there is no measure {name:?}; see `frisson explain measure`"))?;
    let value: f64 = value.parse().map_err(|_| format!("{value:?} is not a number"))?;
    if value.is_finite() { Ok((measure, value)) } else { Err("must be finite".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_name_a_measure_and_a_number() {
        assert_eq!(parse_limit("inside=0.5"), Ok((Measure::Inside, 0.5)));
        for bad in ["inside", "insid=1", "inside=x", "inside=inf"] {
            assert!(parse_limit(bad).is_err(), "{bad}");
        }
    }
}
