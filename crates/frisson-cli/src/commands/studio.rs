//! `frisson studio`: look, draw and tune in the browser.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use frisson_studio::{Page, Served, Studio};
use serde_json::json;

use crate::failure::Failure;
use crate::ui::Ui;

/// Look, draw and tune in the browser, while it moves.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson studio shot.toml         a scene
  frisson studio character.glb     a character: layers are proposed, each with a switch
  frisson studio builtin:cat       one of the built-in cast
  frisson studio shot.frisson      a finished bake

The page is served on this machine only, at an address that nobody can guess. Every edit is an edit of
the scene's text; `?` on the page shows the keys. Ctrl-C ends it; what is unsaved is offered again.")]
pub struct StudioCommand {
    /// A scene (.toml), a character (.glb, .gltf, .vrm, .fbx, .usd, builtin:NAME) or a cache (.frisson)
    /// [default: builtin:cat].
    what: Option<String>,
    /// Port on the loopback [default: any that is free].
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Do not open the browser; the address is printed.
    #[arg(long)]
    no_open: bool,
    /// Serve the page's files from this folder, to work on them.
    #[arg(long, value_name = "FOLDER", hide = true)]
    page: Option<PathBuf>,
}

impl StudioCommand {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let what = self.what.as_deref().unwrap_or("builtin:cat");
        let studio = Studio::open(what).map_err(Failure::input)?;
        let served =
            Served::bind(studio, self.port, Page(self.page.clone())).map_err(Failure::input)?;
        let url = served.url();
        ui.answer(&format!("the studio is at {url}  (Ctrl-C ends it)"), || json!({ "url": url }));
        if !self.no_open {
            open_browser(&url);
        }
        served.run();
        Ok(())
    }
}

/// Opens the browser, where there is one; the address is printed anyway.
fn open_browser(url: &str) {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        // The empty text is the window's title, for which `start` takes a first argument in quotes.
        ("cmd", &["/c", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(url).stdin(Stdio::null()).stdout(Stdio::null());
    let _ = command.stderr(Stdio::null()).spawn();
}
