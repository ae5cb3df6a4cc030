//! `frisson init`: a first scene file for a character.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use frisson::character::Character;
use frisson_io::scene::{ActorContent, ActorLoader};
use serde_json::json;

use crate::failure::{Failure, file_error};
use crate::loader::Loader;
use crate::ui::Ui;

/// Write a first scene file for a character.
#[derive(Args)]
#[command(after_help = "\
Example:
  frisson init character.glb          writes character.toml beside it
  frisson check character.toml
  frisson bake character.toml")]
pub struct Init {
    /// A .glb or .gltf file, or builtin:NAME.
    character: String,
    /// Scene file to write [default: the character's name with .toml].
    #[arg(long, short, value_name = "SCENE")]
    output: Option<PathBuf>,
    /// Clip to play, by name [default: the first].
    #[arg(long)]
    clip: Option<String>,
    /// Frames per second.
    #[arg(long, default_value_t = 30)]
    fps: u32,
    /// Replace the scene file if it is already there.
    #[arg(long)]
    force: bool,
}

impl Init {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let loaded = Loader
            .load(&self.character, Path::new(""))
            .map_err(|e| Failure::input(e.to_string()))?;
        let ActorContent::Character(character) = loaded.content else {
            return Err(Failure::input(format!("{} holds no character", self.character)));
        };
        let output = self.output.clone().unwrap_or_else(|| self.default_output());
        if output.exists() && !self.force {
            let problem = format!("{} is already there", output.display());
            return Err(Failure::input(problem).help("give another name with -o, or --force"));
        }
        let text = self.scene_text(&character, &output)?;
        std::fs::write(&output, text).map_err(|e| file_error(&output, &e))?;
        ui.say(format!("wrote {}", output.display()));
        ui.say(format!("next: frisson check {0}, then frisson bake {0}", output.display()));
        ui.result(|| json!({ "scene": output }));
        Ok(())
    }

    fn default_output(&self) -> PathBuf {
        match self.character.strip_prefix("builtin:") {
            Some(name) => PathBuf::from(format!("{name}.toml")),
            None => Path::new(&self.character).with_extension("toml"),
        }
    }

    fn scene_text(&self, character: &Character, output: &Path) -> Result<String, Failure> {
        let stem = output.file_stem().and_then(|s| s.to_str()).unwrap_or("shot");
        let actor = bare_key(stem);
        let mut text = String::new();
        let _ =
            writeln!(text, "# {stem}: a first scene. `frisson explain NAME` explains every word.");
        let _ = writeln!(text, "frisson = 1\nfps = {}\n", self.fps);
        let _ = writeln!(text, "[actors.{actor}]\nsource = {:?}", self.source_beside(output));
        let clip = match &self.clip {
            Some(name) => Some(find_clip(character, name)?),
            None => character.clips.first().map(|c| c.name.clone()),
        };
        if let Some(clip) = clip {
            let _ = writeln!(text, "clip = {clip:?}");
        }
        for other in character.clips.iter().skip(1) {
            let _ = writeln!(text, "# clip = {:?}   # {:.2} s", other.name, other.duration());
        }
        let _ = writeln!(text, "\n# What follows by itself goes here, one [[layers]] each.");
        Ok(text)
    }

    /// The source as the scene file must spell it: relative to the scene's folder where it can be.
    fn source_beside(&self, output: &Path) -> String {
        if self.character.starts_with("builtin:") {
            return self.character.clone();
        }
        let source = Path::new(&self.character);
        let folder = output.parent().unwrap_or(Path::new(""));
        if source.parent() == Some(folder) {
            return source.file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
        }
        std::path::absolute(source).unwrap_or_else(|_| source.to_owned()).to_string_lossy().into()
    }
}

fn find_clip(character: &Character, name: &str) -> Result<String, Failure> {
    if character.clip_index(name).is_some() {
        return Ok(name.to_owned());
    }
    let names: Vec<&str> = character.clips.iter().map(|c| c.name.as_str()).collect();
    let failure = Failure::input(format!("there is no clip named {name:?}"));
    Err(failure.help(format!("its clips: {}", names.join(", "))))
}

/// A TOML key made of a file name.
fn bare_key(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(plain).collect()
}
