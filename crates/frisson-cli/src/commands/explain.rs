//! `frisson explain`: one parameter or layer, in words.

use clap::Args;
use frisson_io::scene::{Control, Explanation, explain};
use serde_json::json;

use crate::failure::Failure;
use crate::ui::Ui;

/// Explain a parameter or a layer by name.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson explain flesh               what the layer does, and all its parameters
  frisson explain frequency_hz        a parameter, wherever it exists
  frisson explain actors.clip         one of several of the same name")]
pub struct Explain {
    /// Name of a parameter or layer; with dots when several have the same.
    name: String,
}

impl Explain {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let found = explain(&self.name).map_err(|nearest| {
            let failure = Failure::input(format!("nothing is named {:?}", self.name));
            match nearest {
                Some(near) => failure.help(format!("did you mean `{near}`?")),
                None => failure.help("`frisson schema` lists everything"),
            }
        })?;
        let text: Vec<String> = found.iter().map(describe).collect();
        ui.answer(&text.join("\n\n"), || json!(found));
        Ok(())
    }
}

fn describe(item: &Explanation) -> String {
    let mut text = item.path.clone();
    for (label, part) in [("", &item.form), ("default ", &item.default)] {
        if let Some(part) = part {
            text += &format!("\n  {label}{part}");
        }
    }
    if let Some(control) = control(&item.control) {
        text += &format!("\n  {control}");
    }
    for line in item.text.lines() {
        text += &format!("\n  {line}");
    }
    if !item.parts.is_empty() {
        // Characters, not bytes: names may be in any script.
        let width = item.parts.iter().map(|(n, _)| n.chars().count()).max().unwrap_or(0);
        text += "\n";
        for (name, words) in &item.parts {
            text += &format!("\n  {name:<width$}  {words}");
        }
    }
    text
}

/// How it is tuned, in one line: the useful range, and what a change does while the shot runs.
fn control(control: &Control) -> Option<String> {
    let slider = control.slider.map(|[low, high]| {
        let steps = if control.logarithmic { ", in ratios" } else { "" };
        format!("useful from {low} to {high}{steps}")
    });
    let change = control.change.as_deref().map(|change| match change {
        "live" => "a change counts from the next step on",
        "rebuild" => "a change prepares the layer anew and keeps its motion",
        _ => "a change starts the layer again",
    });
    let said: Vec<String> = slider.into_iter().chain(change.map(str::to_owned)).collect();
    (!said.is_empty()).then(|| said.join("; "))
}
