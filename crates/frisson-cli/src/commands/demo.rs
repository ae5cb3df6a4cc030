//! `frisson demo`: bake a built-in scene and say what was written.

use std::path::{Path, PathBuf};

use clap::Args;
use frisson_workshop::demos::{self, DEMOS};
use serde_json::json;

use super::bake::Bake;
use super::render::Render;
use crate::failure::{Failure, file_error};
use crate::ui::Ui;

/// Bake a built-in scene, write caches and a picture, say where.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson demo                 the first demo, into the folder frisson-demo
  frisson demo --list          all of them
  frisson demo cat -o /tmp/x   another folder")]
pub struct Demo {
    /// Which demo.
    name: Option<String>,
    /// Folder to write to.
    #[arg(long, short, value_name = "FOLDER", default_value = "frisson-demo")]
    output: PathBuf,
    /// List the demos.
    #[arg(long)]
    list: bool,
    /// Replace files that are already there.
    #[arg(long)]
    force: bool,
}

impl Demo {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        if self.list {
            let lines: Vec<String> =
                DEMOS.iter().map(|d| format!("{:<12} {}", d.name, d.about)).collect();
            let names = || json!(DEMOS.iter().map(|d| d.name).collect::<Vec<_>>());
            ui.answer(&lines.join("\n"), names);
            return Ok(());
        }
        let demo = demos::find(self.name.as_deref())?;
        std::fs::create_dir_all(&self.output).map_err(|e| file_error(&self.output, &e))?;
        let scene = self.output.join(format!("{}.toml", demo.name));
        ui.say(format!("{}: {}", demo.name, demo.about));
        write_scene(&scene, demo.text, self.force)?;
        let bake = Bake {
            scene: scene.clone(),
            output: None,
            resume: false,
            force: self.force,
            no_judge: false,
            no_exports: false,
        };
        bake.run(ui)?;
        self.draw(ui, &scene.with_extension("frisson"))?;
        ui.say(format!("the scene itself is {}: change it and bake again", scene.display()));
        if cfg!(feature = "studio") {
            ui.say(format!("or tune it while it moves: frisson studio {}", scene.display()));
        }
        Ok(())
    }

    /// A contact sheet beside the cache.
    fn draw(&self, ui: &Ui, cache: &Path) -> Result<(), Failure> {
        let picture = Render::contact_sheet(cache.to_owned(), self.force);
        picture.run(ui)
    }
}

/// Writes the scene unless the very same text is there.
fn write_scene(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    frisson_io::outputs::check_writable(path)?;
    match std::fs::read_to_string(path) {
        // A demo that somebody has begun to change is theirs.
        Ok(there) if there != text && !force => {
            let problem = format!("{} is already there and differs", path.display());
            Err(Failure::input(problem).help("give another folder with -o, or --force"))
        }
        Ok(there) if there == text => Ok(()),
        _ => std::fs::write(path, text).map_err(|e| file_error(path, &e)),
    }
}
