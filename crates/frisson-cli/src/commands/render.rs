//! `frisson render`: pictures of a cache.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;
use crate::ui::Ui;

/// Make pictures of a cache: still, contact sheet, turntable, animation.
#[derive(Args)]
pub struct Render {
    /// Cache.
    cache: PathBuf,
}

impl Render {
    /// Runs the command.
    pub fn run(&self, _ui: &Ui) -> Result<(), Failure> {
        Err(Failure::input(format!("{}: pictures are not built yet", self.cache.display())))
    }
}
