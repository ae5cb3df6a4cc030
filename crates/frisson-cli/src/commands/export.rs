//! `frisson export`: other formats from a baked cache, without simulating again.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;
use crate::ui::Ui;

/// Write other formats from a baked cache, without simulating again.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson export shot.frisson --to shot.abc
  frisson export shot.frisson --to shot.usdc --to shot.glb")]
pub struct Export {
    /// Cache.
    cache: PathBuf,
    /// File to write; its extension says the format. May be given several times.
    #[arg(long, required = true, value_name = "FILE")]
    to: Vec<PathBuf>,
    /// Replace files that are already there.
    #[arg(long)]
    force: bool,
}

impl Export {
    /// Runs the command.
    pub fn run(&self, _ui: &Ui) -> Result<(), Failure> {
        let _ = (&self.to, self.force);
        Err(Failure::input(format!("{}: exporters are not built yet", self.cache.display())))
    }
}
