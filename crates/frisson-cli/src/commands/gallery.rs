//! `frisson gallery`: every scene, as a page with pictures.

use clap::Args;

use crate::failure::Failure;
use crate::ui::Ui;

/// Bake every scene and write a page with pictures and tables.
#[derive(Args)]
pub struct Gallery {}

impl Gallery {
    /// Runs the command.
    pub fn run(&self, _ui: &Ui) -> Result<(), Failure> {
        Err(Failure::input("the gallery is not built yet"))
    }
}
