//! `frisson schema`: the scene file's JSON schema.

use clap::Args;

use crate::failure::Failure;
use crate::ui::Ui;

/// Print the JSON schema of scene files.
#[derive(Args)]
#[command(after_help = "\
Editors complete and check scene files with it. For example:
  frisson schema > frisson.schema.json
and, at the top of a scene file (Even Better TOML, taplo):
  #:schema ./frisson.schema.json")]
pub struct Schema {}

impl Schema {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let schema = frisson_io::scene::scene_schema();
        ui.answer(&format!("{schema:#}"), || schema.clone());
        Ok(())
    }
}
