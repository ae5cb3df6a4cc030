//! The `frisson` command as a library: arguments, progress, messages. What others would need lives in
//! `frisson-workshop` and `frisson-io`.
//!
//! [`run`] does all that the command does, so that another program (a Python wheel) can be it.

mod commands;
mod draco_helper;
mod failure;
mod interrupt;
mod last_resort;
mod ui;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use frisson_io::limits::Limits;

use crate::commands::Command;
use crate::failure::Failure;
use crate::ui::Ui;

/// What stands below the options.
const AFTER_HELP: &str = "\
First steps:
  frisson studio                  look, draw and tune in the browser
  frisson demo                    bake a built-in scene and say what was written
  frisson init character.glb      write a first scene file for your character
  frisson check character.toml    find mistakes without simulating
  frisson bake character.toml     simulate, then export what the scene asks for
  frisson sweep character.toml --set belly.frequency_hz=2..6/5     try values side by side

Exit codes:
  0    done
  1    something is wrong with the scene, a file or the disk; the message says what to do
  2    the command line cannot be understood
  3    the simulation itself stopped (not a finite number); finished frames are kept
  4    the shot breaks what its scene promises (check --bake, judge --strict)
  5    a mistake in frisson itself; the message says what to send to whom
  130  interrupted; an unfinished bake goes on with --resume";

/// [`AFTER_HELP`]; a build without the studio sends nobody there.
fn help_after(with_studio: bool) -> String {
    let lines = AFTER_HELP.lines().filter(|l| with_studio || !l.contains("frisson studio"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Secondary animation: what follows by itself when a character moves.
///
/// Give frisson an animated character (.glb, .gltf or builtin:NAME) and a short scene file that
/// stacks layers on it (flesh, wrinkles, cloth, folds, hair, drops, soft bodies). It bakes the shot
/// and writes files that Blender, Maya, Houdini, Unreal, Unity and three.js open.
#[derive(Parser)]
#[command(
    name = "frisson",
    version,
    after_help = help_after(cfg!(feature = "studio"))
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Say nothing but errors.
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Print results and errors as JSON, for programs.
    #[arg(long, global = true)]
    json: bool,
    /// Say progress, status and failures as a farm reads them (Open Job Description).
    #[arg(long, global = true)]
    farm: bool,
    /// Threads to use; the result is the same bits for any number. Default: all cores.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Make every limit on what files may ask for N times larger (see the book, "Files from strangers").
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    raise_limits: Option<u32>,
    /// Let files name others outside their own folder, and exports go outside the scene's.
    #[arg(long, global = true)]
    anywhere: bool,
}

impl Arguments {
    /// Everything that holds for the whole process.
    fn prepare(&self) -> Result<(), Failure> {
        let limits = Limits::default().raised(self.raise_limits.unwrap_or(1));
        // Before anything is read: limits are those of the whole process.
        Limits { outside: self.anywhere, ..limits }.put_in_force();
        // Only this program knows how it can be started again.
        draco_helper::offer();
        set_threads(self.threads)
    }
}

/// Does what the arguments say; the first is the program's name. Help, versions and mistakes in the
/// arguments are printed like everything else, and never end the process.
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(problem) => {
            // A closed pipe is no reason to fail: there is nobody left to tell.
            let _ = problem.print();
            return ExitCode::from(u8::try_from(problem.exit_code()).unwrap_or(2));
        }
    };
    let ui = Ui { quiet: arguments.quiet, json: arguments.json, farm: arguments.farm };
    // Everything, preparations included: what panics must end in a message too.
    let outcome = last_resort::guard(|| {
        arguments.prepare()?;
        arguments.command.run(&ui)
    });
    let code = match outcome {
        Ok(()) => 0,
        Err(failure) => {
            ui.show_failure(&failure);
            failure.code()
        }
    };
    // What could not be written is a failure even where the work was done: a pipe may lie on a full disk.
    ExitCode::from(ui::unwritten().map_or(code, |lost| lost.max(code)))
}

fn set_threads(threads: Option<u16>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(threads))
        .build_global()
        .map_err(|e| Failure::input(format!("cannot start {threads} threads: {e}")))
}
