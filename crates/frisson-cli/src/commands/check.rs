//! `frisson check`: everything a bake would refuse, without simulating.

use std::path::PathBuf;

use clap::Args;
use frisson_io::scene::SceneFile;
use frisson_workshop::Loader;
use serde_json::json;

use crate::failure::Failure;
use crate::ui::Ui;

/// Validate a scene file, its actors and its layers without simulating.
#[derive(Args)]
#[command(after_help = "\
Example:
  frisson check shot.toml
Errors look like `shot.toml:12:9: …`, which editors jump to. With --json they carry line, column
and byte range.")]
pub struct Check {
    /// Scene file.
    scene: PathBuf,
}

impl Check {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let scene = SceneFile::read(&self.scene)?;
        let built = scene.build(&Loader)?;
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
}
