//! `frisson gallery`: every scene, as a page with pictures.

use std::path::PathBuf;

use clap::Args;
use frisson_workshop::WorkshopError;
use frisson_workshop::gallery::{self, Added, scenes_in};
use serde_json::json;

use crate::failure::Failure;
use crate::interrupt;
use crate::ui::Ui;

/// Bake every scene and write a page with pictures and tables.
///
/// Each scene that has a `[gallery]` table is baked and drawn; its source's table stands beside what
/// was measured in this run on this machine. Stop it at any time: finished scenes are not done again.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson gallery                       all of scenes/, into the folder gallery
  frisson gallery --only flesh --quick  scenes whose names contain `flesh`, roughly
  frisson gallery --force               everything anew")]
pub struct Gallery {
    /// Folder of scene files.
    #[arg(default_value = "scenes")]
    scenes: PathBuf,
    /// Folder to write to.
    #[arg(long, short, value_name = "FOLDER", default_value = "gallery")]
    output: PathBuf,
    /// Only scenes whose names contain this; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// The first second of each scene, small pictures, no animation.
    #[arg(long)]
    quick: bool,
    /// Do finished scenes again.
    #[arg(long)]
    force: bool,
    /// Measure every promise, also those that take bakes at other rates or beyond a shot's end.
    #[arg(long, conflicts_with = "quick")]
    all_promises: bool,
}

impl Gallery {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        interrupt::listen();
        let scenes = scenes_in(&self.scenes, &self.only)?;
        let mut gallery = gallery::Gallery {
            output: self.output.clone(),
            quick: self.quick,
            force: self.force,
            all_promises: self.all_promises,
            ..Default::default()
        };
        for (index, path) in scenes.iter().enumerate() {
            let mut bar = ui.progress("");
            let added = gallery.add(path, &mut bar).map_err(stopped)?;
            drop(bar);
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let remark = match added {
                Added::Shown => "",
                Added::LeftOut => ": left out, it has no [gallery] table",
                Added::Failed(problem) => {
                    // Told and gone on from: the page shows the others.
                    ui.show_failure(&problem.into());
                    ""
                }
            };
            ui.remark(format!("{}/{} {name}{remark}", index + 1, scenes.len()));
        }
        let (page, failed, count) = (gallery.page(), gallery.failed(), gallery.entries.len());
        ui.say(format!("{} ({count} scenes, {failed} failed)", page.display()));
        ui.result(|| json!({ "page": page, "scenes": count, "failed": failed }));
        Ok(())
    }
}

/// What a stopped gallery means for the person.
fn stopped(error: WorkshopError) -> Failure {
    match error {
        WorkshopError::Stopped => Failure::interrupted("interrupted").help("run it again to go on"),
        other => other.into(),
    }
}
