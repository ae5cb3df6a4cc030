//! `frisson init`: a first scene file for a character.

use std::path::{Path, PathBuf};

use clap::Args;
use frisson_io::outputs;
use frisson_io::scene::SceneFile;
use frisson_workshop::propose::{Proposal, Request};
use serde_json::json;

use super::render::Render;
use crate::failure::{Failure, file_error, refuse_existing};
use crate::ui::Ui;

/// Write a first scene file for a character.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson init character.glb          writes character.toml beside it
  frisson init hero.glb --with hair   with hair on its head
  frisson init hero.glb --pictures    and a picture of what each layer selects
  frisson check character.toml
  frisson bake character.toml")]
pub struct Init {
    /// A .glb, .gltf, .vrm, .fbx or .usd (.usda, .usdc, .usdz) file, or builtin:NAME.
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
    /// Switch a proposed layer on that would only be a comment, by its name (cape, hair, sweat, coat …), or
    /// `all`; several with commas between them, or by giving it again.
    #[arg(long, value_name = "LAYER", value_delimiter = ',')]
    with: Vec<String>,
    /// Also draw what each proposed layer selects, on or not: SCENE.LAYER.png beside the scene file.
    #[arg(long)]
    pictures: bool,
    /// Replace the scene file, and pictures, if they are already there.
    #[arg(long)]
    force: bool,
}

impl Init {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let request = Request {
            character: self.character.clone(),
            clip: self.clip.clone(),
            fps: self.fps,
            with: self.with.clone(),
        };
        let output = self.output.clone().unwrap_or_else(|| request.default_output());
        let proposal = request.scene_for(&output)?;
        outputs::prepare(std::slice::from_ref(&output), &proposal.inputs)?;
        refuse_existing(&output, self.force)?;
        if proposal.is_still {
            ui.remark(format!("{} has no clip: it stands still for 100 frames", self.character));
        }
        std::fs::write(&output, &proposal.text).map_err(|e| file_error(&output, &e))?;
        let names = |on: bool| -> Vec<&str> {
            proposal.layers.iter().filter(|l| l.is_on == on).map(|l| l.name.as_str()).collect()
        };
        let (on, off) = (names(true), names(false));
        let said = if on.is_empty() { "no layer".to_owned() } else { on.join(", ") };
        ui.say(format!("wrote {}, with {said}", output.display()));
        if !off.is_empty() {
            ui.say(format!("also proposed, as comments (--with NAME): {}", off.join(", ")));
        }
        if self.pictures {
            self.draw(&proposal, &output, ui)?;
        }
        ui.say(format!("next: frisson check {0}, then frisson bake {0}", output.display()));
        ui.result(|| json!({ "scene": output, "layers": on, "proposed": off }));
        Ok(())
    }

    /// Draws what every proposed layer selects. A layer that cannot be built alone says why; the others are drawn.
    fn draw(&self, proposal: &Proposal, output: &Path, ui: &Ui) -> Result<(), Failure> {
        let scene = SceneFile::parse(output, &proposal.with_all())?;
        for layer in &proposal.layers {
            let picture = output.with_extension(format!("{}.png", layer.name));
            let render = Render::of_selection(output.to_owned(), layer.name.clone(), self.force);
            refuse_existing(&picture, self.force)?;
            match render.show(&scene, &layer.name, &picture, ui) {
                Ok(()) => {}
                Err(Failure::Message { text, .. }) => {
                    ui.remark(format!("no picture of {}: {text}", layer.name));
                }
                Err(problem) => return Err(problem),
            }
        }
        Ok(())
    }
}
