//! `frisson job`: a bundle for a farm.

use std::path::PathBuf;

use clap::Args;
use frisson_workshop::farm;
use serde_json::json;

use crate::failure::Failure;
use crate::ui::Ui;

/// Write an Open Job Description bundle: bake, judge, export, render and sheet of some scenes, for a farm.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson job shots/*.toml --to nightly
  frisson job shot.toml --to shot-job --parts 8 --chunk 50 --task-threads 4
  openjd run nightly/template.json --job-param file://nightly/parameters.json

Every scene is checked first. A shot is baked by one task, since every frame needs the one before;
exports are cut into --parts (put together by USD value clips), pictures into ranges of --chunk
frames. A task that was killed is simply run again: a bake goes on from its last checkpoint and ends
with the same bytes, on any machine that sees the output folder or a copy of it.

The bundle holds template.json (parameters Frisson, Project, Output), their values on this
machine (parameters.json for openjd, parameter_values.json for farm managers) and
asset_references.json. Tasks run with --farm: openjd_progress,
openjd_status and openjd_fail lines.")]
pub struct Job {
    /// Scene files.
    #[arg(required = true)]
    scenes: Vec<PathBuf>,
    /// Folder to write the bundle to.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// The job's name [default: the folder's].
    #[arg(long)]
    name: Option<String>,
    /// Parts of each USD export; 0 for no export.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=1024))]
    parts: u32,
    /// Frames of a task that renders; 0 renders none.
    #[arg(long, value_name = "FRAMES", default_value_t = 25)]
    chunk: u32,
    /// Threads of every task [default: all of the machine].
    #[arg(long = "task-threads", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    task_threads: Option<u16>,
    /// Replace a bundle that is there.
    #[arg(long)]
    force: bool,
}

impl Job {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let folder = self.to.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let job = farm::Job {
            name: self.name.clone().unwrap_or(folder),
            parts: self.parts,
            chunk: self.chunk,
            threads: self.task_threads,
        };
        let bundle = job.write(&self.scenes, &self.to, self.force)?;
        let (template, parameters) = (bundle.template.display(), bundle.parameters.display());
        ui.say(format!("wrote {template}: {} shots, {} tasks", self.scenes.len(), bundle.tasks));
        ui.say(format!("run it here with: openjd run {template} --job-param file://{parameters}"));
        ui.result(|| json!({ "template": bundle.template, "parameters": bundle.parameters, "tasks": bundle.tasks }));
        Ok(())
    }
}
