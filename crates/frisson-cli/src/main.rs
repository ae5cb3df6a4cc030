//! The `frisson` command; all of it is in the library, so that other programs can be it.

use std::process::ExitCode;

fn main() -> ExitCode {
    frisson_cli::run(std::env::args_os())
}
