//! One file per subcommand.

mod bake;
mod bench;
mod check;
mod demo;
mod explain;
mod export;
mod export_joints;
mod gallery;
mod garment;
mod init;
mod inspect;
mod job;
mod judge;
mod render;
mod schema;
mod scratch;
mod shell;
#[cfg(feature = "studio")]
mod studio;
mod sweep;

use clap::Subcommand;

use crate::failure::Failure;
use crate::ui::Ui;

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    #[cfg(feature = "studio")]
    Studio(studio::StudioCommand),
    Demo(demo::Demo),
    Init(init::Init),
    Garment(garment::Garment),
    Check(check::Check),
    Inspect(inspect::Inspect),
    Bake(bake::Bake),
    Export(export::Export),
    Render(Box<render::Render>),
    Judge(judge::Judge),
    Sweep(Box<sweep::Sweep>),
    Job(job::Job),
    Gallery(gallery::Gallery),
    Bench(bench::BenchCommand),
    Schema(schema::Schema),
    Explain(explain::Explain),
    Completions(shell::Completions),
    Man(shell::Man),
    /// Unpacks one Draco block, for frisson itself.
    #[command(hide = true)]
    UnpackDraco,
}

impl Command {
    /// Does it.
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        match self {
            #[cfg(feature = "studio")]
            Self::Studio(command) => command.run(ui),
            Self::Demo(command) => command.run(ui),
            Self::UnpackDraco => crate::draco_helper::run(),
            Self::Init(command) => command.run(ui),
            Self::Garment(command) => command.run(ui),
            Self::Check(command) => command.run(ui),
            Self::Inspect(command) => command.run(ui),
            Self::Bake(command) => command.run(ui),
            Self::Export(command) => command.run(ui),
            Self::Render(command) => command.run(ui),
            Self::Judge(command) => command.run(ui),
            Self::Sweep(command) => command.run(ui),
            Self::Job(command) => command.run(ui),
            Self::Gallery(command) => command.run(ui),
            Self::Bench(command) => command.run(ui),
            Self::Schema(command) => command.run(ui),
            Self::Explain(command) => command.run(ui),
            Self::Completions(command) => command.run(ui),
            Self::Man(command) => command.run(ui),
        }
    }
}
