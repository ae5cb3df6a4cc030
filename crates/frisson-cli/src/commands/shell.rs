//! `frisson completions` and `frisson man`: what a package puts beside the program.

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

use crate::failure::{Failure, file_error};
use crate::ui::Ui;

/// Print what a shell needs to complete the command's options.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson completions bash > ~/.local/share/bash-completion/completions/frisson
  frisson completions zsh > ~/.zfunc/_frisson        with fpath+=~/.zfunc before compinit
  frisson completions fish > ~/.config/fish/completions/frisson.fish
  frisson completions powershell >> $PROFILE")]
pub struct Completions {
    /// Which shell.
    shell: Shell,
}

impl Completions {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Arguments::command(), "frisson", &mut text);
        let text = String::from_utf8_lossy(&text).trim_end().to_owned();
        ui.answer(&text, || serde_json::json!({ "completions": text }));
        Ok(())
    }
}

/// Write manual pages: frisson.1 and one for every subcommand.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson man ~/.local/share/man/man1      then: man frisson-bake")]
pub struct Man {
    /// Folder to write to; made if it is not there.
    folder: PathBuf,
}

impl Man {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        std::fs::create_dir_all(&self.folder).map_err(|e| file_error(&self.folder, &e))?;
        let mut command = crate::Arguments::command();
        command.build();
        let mut pages = vec![write_page(&self.folder, &command, "frisson")?];
        for part in command.get_subcommands().filter(|c| !c.is_hide_set()) {
            let name = format!("frisson-{}", part.get_name());
            pages.push(write_page(&self.folder, part, &name)?);
        }
        ui.say(format!("wrote {} pages to {}", pages.len(), self.folder.display()));
        ui.result(|| serde_json::json!({ "pages": pages }));
        Ok(())
    }
}

fn write_page(folder: &Path, command: &Command, name: &str) -> Result<PathBuf, Failure> {
    let path = folder.join(format!("{name}.1"));
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command.clone()).title(name.to_uppercase());
    page.render(&mut text).map_err(|e| file_error(&path, &e))?;
    std::fs::write(&path, text).map_err(|e| file_error(&path, &e))?;
    Ok(path)
}
