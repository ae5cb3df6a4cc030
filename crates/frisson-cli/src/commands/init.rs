//! `frisson init`: a first scene file for a character.

use std::path::PathBuf;

use clap::Args;
use frisson_io::outputs;
use frisson_workshop::propose::Request;
use serde_json::json;

use crate::failure::{Failure, file_error};
use crate::ui::Ui;

/// Write a first scene file for a character.
#[derive(Args)]
#[command(after_help = "\
Example:
  frisson init character.glb          writes character.toml beside it
  frisson check character.toml
  frisson bake character.toml")]
pub struct Init {
    /// A .glb, .gltf, .vrm or .fbx file, or builtin:NAME.
    character: String,
    /// Scene file to write [default: the character's name with .toml].
    #[arg(long, short, value_name = "SCENE")]
    output: Option<PathBuf>,
    /// Clip to play, by name [default: the first].
    #[arg(long)]
    clip: Option<String>,
    /// Frames per second.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    fps: u32,
    /// Replace the scene file if it is already there.
    #[arg(long)]
    force: bool,
}

impl Init {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let request =
            Request { character: self.character.clone(), clip: self.clip.clone(), fps: self.fps };
        let output = self.output.clone().unwrap_or_else(|| request.default_output());
        let proposal = request.scene_for(&output)?;
        outputs::prepare(std::slice::from_ref(&output), &proposal.inputs)?;
        if output.exists() && !self.force {
            let problem = format!("{} is already there", output.display());
            return Err(Failure::input(problem).help("give another name with -o, or --force"));
        }
        if proposal.is_still {
            ui.remark(format!("{} has no clip: it stands still for 100 frames", self.character));
        }
        let elements = proposal.flesh_elements;
        std::fs::write(&output, proposal.text).map_err(|e| file_error(&output, &e))?;
        ui.say(format!("wrote {}, with {elements} flesh elements", output.display()));
        ui.say(format!("next: frisson check {0}, then frisson bake {0}", output.display()));
        ui.result(|| json!({ "scene": output, "flesh_elements": elements }));
        Ok(())
    }
}
