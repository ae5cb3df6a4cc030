//! `frisson bench`: the speed tables.

use clap::Args;
use frisson_workshop::bench::{BENCHES, BenchOptions, select};
use serde_json::json;

use crate::failure::Failure;
use crate::ui::Ui;

/// Measure speed; print tables.
#[derive(Args)]
pub struct BenchCommand {
    /// What to measure; all if nothing is given.
    names: Vec<String>,
    /// Smaller sizes and fewer repeats.
    #[arg(long)]
    quick: bool,
    /// List what can be measured.
    #[arg(long)]
    list: bool,
}

impl BenchCommand {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        if self.list {
            let lines: Vec<String> =
                BENCHES.iter().map(|b| format!("{:<12} {}", b.name, b.about)).collect();
            let names = || json!(BENCHES.iter().map(|b| b.name).collect::<Vec<_>>());
            ui.answer(&lines.join("\n"), names);
            return Ok(());
        }
        let options = BenchOptions { quick: self.quick };
        let mut all = Vec::new();
        for bench in select(&self.names)? {
            for table in (bench.run)(&options)? {
                ui.say(format!("{}\n", table.to_text()));
                all.push(table);
            }
        }
        ui.result(|| json!(all));
        Ok(())
    }
}
