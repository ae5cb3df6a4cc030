//! `frisson sweep`: variants of a scene side by side.

use std::path::PathBuf;

use clap::Args;
use frisson_io::scene::SceneFile;
use frisson_workshop::WorkshopError;
use frisson_workshop::sweep::{self, Asked, Axis, Row, Sampling, Table, short};

use crate::failure::Failure;
use crate::interrupt;
use crate::ui::Ui;

/// Try many values of a scene's parameters side by side: one sheet, one moving grid, one table of
/// measures; then write the values you like back into the scene.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson sweep shot.toml --set layers.belly.frequency_hz=2..6/5
  frisson sweep shot.toml --set belly.frequency_hz=2..6/3 --set belly.damping_ratio=0.1,0.3
  frisson sweep shot.toml --pick 4                    writes the values of variant 4 into shot.toml

  frisson sweep shot.toml --latin 20 --set belly.frequency_hz=1..8 --set belly.limit=0.1..1
  frisson sweep shot.toml --best effect=25 --set belly.frequency_hz=1..8     a swing of 25 mm
  frisson sweep shot.toml --best stretch --set skirt.quality=0.5..4      the least stretch

Values: a list (0.1,0.3), a range with its number of values (2..6/5; 0.1..10/5log where steps are
ratios), a range alone for samples and searches (2..6), words and lists as in the scene. A parameter
with one value holds for all variants of the sweep, and is not written back: --set frames=[0,30].

Parameters: layers.NAME.PARAMETER or NAME.PARAMETER, actors.NAME.…, colliders.NAME.…, forces.0.…,
or one of the scene itself (gravity). `frisson explain LAYER` lists those of a layer.

Variant 0 is the scene as it is. What is baked stays in the folder: the same sweep goes on where it
was stopped, and a larger one bakes only what is new. Exit code 3 when variants could not be
simulated; the page shows the others.")]
pub struct Sweep {
    /// Scene file.
    scene: PathBuf,
    /// A parameter and its values, as PATH=VALUES. May be given several times.
    #[arg(long, value_name = "PATH=VALUES", required_unless_present = "pick")]
    set: Vec<String>,
    /// So many samples, each by itself, instead of every value with every other.
    #[arg(long, value_name = "N", conflicts_with = "latin", value_parser = clap::value_parser!(u16).range(1..=1000))]
    random: Option<u16>,
    /// So many samples that cover every axis evenly (a Latin hypercube).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    latin: Option<u16>,
    /// Seed of samples.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Search for the least of a measure; with =max the largest, with =NUMBER the nearest to it.
    #[arg(long, value_name = "MEASURE[:SHAPE[:BODY]][=WANTED]", conflicts_with_all = ["random", "latin"])]
    best: Option<String>,
    /// Most variants of a search.
    #[arg(long, value_name = "N", default_value_t = 24, requires = "best", value_parser = clap::value_parser!(u16).range(1..=1000))]
    budget: u16,
    /// Measure this too. May be given several times; `frisson explain measure` lists them.
    #[arg(long, value_name = "MEASURE[:SHAPE[:BODY]]")]
    measure: Vec<String>,
    /// Folder to write to [default: the scene's name with .sweep, beside it].
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Variants at once [default: as many as there are threads].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
    /// Frame of the sheet [default: where the variants differ most].
    #[arg(long, value_name = "FRAME", allow_negative_numbers = true)]
    frame: Option<i64>,
    /// Only the table: no sheet and no moving grid.
    #[arg(long)]
    no_pictures: bool,
    /// Write the values of this variant of the last sweep into the scene; nothing is baked.
    #[arg(long, value_name = "N", conflicts_with_all = ["set", "best", "random", "latin", "measure"])]
    pick: Option<usize>,
}

impl Sweep {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let output = self.output.clone().unwrap_or_else(|| self.scene.with_extension("sweep"));
        if let Some(number) = self.pick {
            return self.pick(&output, number, ui);
        }
        interrupt::listen();
        let scene = SceneFile::read(&self.scene)?;
        let sweep = self.as_asked(output)?;
        let mut bar = ui.progress("");
        let table = sweep.run(&scene, &mut bar).map_err(stopped)?;
        // It would draw over the table.
        drop(bar);
        ui.result(|| serde_json::to_value(&table).unwrap_or_default());
        lines(&table).iter().for_each(|line| ui.say(line));
        ui.say(format!("open {} in a browser: sheet, moving grid, table", sweep.page().display()));
        ui.say(format!("take one with: frisson sweep {} --pick N", self.scene.display()));
        // After everything is written and said: a few that failed do not cost the others.
        let failed = table.variants.iter().filter(|r| r.problem.is_some()).count();
        if failed > 0 {
            let text = format!("{failed} of {} variants could not be baked", table.variants.len());
            return Err(Failure::simulation(text).help("the page and the table say why"));
        }
        Ok(())
    }

    /// The sweep that the command line describes.
    fn as_asked(&self, output: PathBuf) -> Result<sweep::Sweep, Failure> {
        let axes = self.set.iter().map(|s| Axis::parse(s)).collect::<Result<_, _>>()?;
        let measures = self.measure.iter().map(|m| Asked::parse(m)).collect::<Result<_, _>>()?;
        let sampling = match (self.random, self.latin) {
            (Some(count), _) => Sampling::Random(usize::from(count)),
            (_, Some(count)) => Sampling::Latin(usize::from(count)),
            _ => Sampling::Grid,
        };
        Ok(sweep::Sweep {
            axes,
            sampling,
            seed: self.seed,
            best: self.best.clone(),
            budget: usize::from(self.budget),
            measures,
            output,
            workers: self.workers.map(usize::from),
            frame: self.frame,
            no_pictures: self.no_pictures,
        })
    }

    fn pick(&self, folder: &std::path::Path, number: usize, ui: &Ui) -> Result<(), Failure> {
        let picked = sweep::pick(&self.scene, folder, number)?;
        for (path, before, now) in &picked.changes {
            let before = before.as_deref().unwrap_or("not written");
            ui.say(format!("{path}: {before} -> {now}"));
        }
        ui.say(format!("wrote {}; bake it with: frisson bake {0}", self.scene.display()));
        ui.result(|| serde_json::to_value(&picked).unwrap_or_default());
        Ok(())
    }
}

/// The table as text, aligned; the best marked.
fn lines(table: &Table) -> Vec<String> {
    let heading: Vec<String> = std::iter::once("#".to_owned())
        .chain(table.short_names())
        .chain(table.columns.iter().map(|c| match c.unit.as_str() {
            "" => c.name.clone(),
            unit => format!("{} [{unit}]", c.name),
        }))
        .collect();
    let cells = |row: &Row| -> Vec<String> {
        let mark = if table.best == Some(row.number) { "*" } else { "" };
        let values = row.values.iter().map(|v| v.clone().unwrap_or_else(|| "-".to_owned()));
        let measures = row.measures.iter().map(|m| m.map_or_else(|| "-".to_owned(), short));
        let problem = row.problem.iter().map(|p| first_line(p));
        let number = format!("{}{mark}", row.number);
        if row.problem.is_some() {
            return std::iter::once(number).chain(values).chain(problem).collect();
        }
        std::iter::once(number).chain(values).chain(measures).collect()
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(heading).chain(table.variants.iter().map(cells)).collect();
    let width = |column: usize| {
        // A row with a problem has a sentence in the place of measures, which sets no width.
        let whole = rows.iter().filter(|r| r.len() == rows[0].len());
        whole.filter_map(|r| r.get(column)).map(|c| c.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let padded = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}"));
        padded.collect::<Vec<_>>().join("  ")
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    if let (Some(goal), Some(best)) = (&table.goal, table.best) {
        lines.push(format!("best by {goal}: variant {best}"));
    }
    lines
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// What a stopped sweep means for the person.
fn stopped(error: WorkshopError) -> Failure {
    match error {
        WorkshopError::Stopped => {
            Failure::interrupted("interrupted").help("the same command again goes on")
        }
        other => other.into(),
    }
}
