//! A sweep: variants of a scene side by side, on one sheet, with measures.
//!
//! ```text
//! scene + axes ──► variants ──► bake side by side ──► measure ──► table, sheet, moving grid, page
//!                     ▲                                  │
//!                     └────────── search for the best ◄──┘
//! ```
//!
//! A variant's files are named by what its motion depends on, so that a sweep that was stopped goes on, and another
//! sweep of the same scene uses what is there.

mod address;
mod axis;
mod columns;
mod crew;
mod page;
mod samples;
mod search;
mod shared;
mod sheet;
mod table;
mod variant;

use std::path::{Path, PathBuf};

use frisson::stage::Frame;
use frisson_io::FrameSource as _;
use frisson_io::cache::CacheReader;
use frisson_io::scene::SceneFile;
use frisson_picture::output::write_text;

use self::address::Address;
pub use self::axis::{Axis, Values};
use self::columns::Columns;
pub use self::columns::{Aim, Asked, Column, Goal};
use self::crew::Crew;
pub use self::page::short;
pub use self::samples::Sampling;
use self::samples::{sample, values_at};
use self::search::Search;
use self::shared::SharedLoader;
use self::sheet::{Panel, Sheet};
pub use self::table::{Picked, Row, Table, pick};
use self::variant::{Measured, Variant, bake_variant, measure_variant};
use crate::WorkshopError;
use crate::jobs::Jobs;

/// What to sweep and how.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// What varies; axes of one value hold for all variants.
    pub axes: Vec<Axis>,
    /// Which values are tried together.
    pub sampling: Sampling,
    /// Seed of the samples.
    pub seed: u64,
    /// What to search for, as asked.
    pub best: Option<String>,
    /// Most variants of a search.
    pub budget: usize,
    /// What else to measure.
    pub measures: Vec<Asked>,
    /// Folder to write to.
    pub output: PathBuf,
    /// Variants at once; without it as many as there are threads.
    pub workers: Option<usize>,
    /// Frame of the sheet; without it, the one where the variants differ most.
    pub frame: Option<i64>,
    /// Leave pictures out.
    pub no_pictures: bool,
}

impl Sweep {
    /// The page that is written.
    #[must_use]
    pub fn page(&self) -> PathBuf {
        self.output.join("index.html")
    }

    /// Bakes, measures and draws all variants of a scene.
    pub fn run(&self, scene: &SceneFile, jobs: &mut dyn Jobs) -> Result<Table, WorkshopError> {
        let goal = self.best.as_deref().map(Goal::parse).transpose()?;
        let mut run = Run::new(self, scene)?;
        match &goal {
            None => {
                let rows = sample(&run.varying(), self.sampling, self.seed)?;
                run.add(rows, jobs)?;
            }
            Some(goal) => run.search(goal, jobs)?,
        }
        let mut table = run.table(goal.as_ref());
        let (mut sheet, mut moving) = (None, None);
        if !self.no_pictures {
            (sheet, moving) = run.draw(&mut table, jobs)?;
        }
        table.write(&self.output)?;
        let page = page::html(&table, sheet.as_deref(), moving.as_deref());
        write_text(&self.page(), &page)?;
        Ok(table)
    }
}

/// A sweep that is under way.
struct Run<'a> {
    sweep: &'a Sweep,
    scene: &'a SceneFile,
    axes: Vec<(Axis, Address)>,
    loader: SharedLoader,
    folder: PathBuf,
    variants: Vec<Variant>,
    /// Why a variant could not be baked.
    problems: Vec<Option<String>>,
    measured: Vec<Measured>,
    /// The scene without the swept layers, if it can be baked.
    reference: Option<Variant>,
    columns: Option<Columns>,
    goal_column: Option<usize>,
}

impl<'a> Run<'a> {
    fn new(sweep: &'a Sweep, scene: &'a SceneFile) -> Result<Self, WorkshopError> {
        let mut axes = Vec::new();
        for axis in &sweep.axes {
            let mut axis = axis.clone();
            let address = Address::find(scene, &axis.path)?;
            if let Values::Range { whole, .. } = &mut axis.values {
                *whole = address.whole;
            }
            if axes.iter().any(|(_, a)| *a == address) {
                return Err(WorkshopError::input(format!("{} is set twice", axis.path)));
            }
            axes.push((axis, address));
        }
        if !axes.iter().any(|(axis, _)| axis.varies()) {
            return Err(WorkshopError::advised(
                "nothing varies",
                "give a parameter several values: --set layers.belly.frequency_hz=2..6/5",
            ));
        }
        let folder = sweep.output.join("variants");
        std::fs::create_dir_all(&folder).map_err(|e| WorkshopError::file(&folder, e))?;
        let loader = SharedLoader::new(&scene.folder());
        let mut run = Self {
            sweep,
            scene,
            axes,
            loader,
            folder,
            variants: Vec::new(),
            problems: Vec::new(),
            measured: Vec::new(),
            reference: None,
            columns: None,
            goal_column: None,
        };
        // Number 0, always there: a sweep without the scene as it is says nothing.
        let base = run.variant(None)?;
        run.reference = base.without(&run.layers(), &run.loader);
        run.variants.push(base);
        Ok(run)
    }

    /// Axes of more than one value.
    fn varying(&self) -> Vec<Axis> {
        self.axes.iter().filter(|(a, _)| a.varies()).map(|(a, _)| a.clone()).collect()
    }

    /// Layers whose parameters vary; all where it is something else that does.
    fn layers(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (axis, address) in &self.axes {
            let layer = address.layer.iter().filter(|_| axis.varies());
            names.extend(layer.filter(|l| !names.contains(l)).cloned().collect::<Vec<_>>());
        }
        if names.is_empty() {
            names = self.scene.scene.layers.iter().map(|l| l.name().to_owned()).collect();
        }
        names
    }

    /// The scene with these values of the varying axes; the scene as it is without any.
    fn variant(&self, values: Option<Vec<String>>) -> Result<Variant, WorkshopError> {
        let mut changes: Vec<(&Address, &str)> = Vec::new();
        let mut given = values.iter().flatten();
        for (axis, address) in &self.axes {
            let value = match (&axis.values, axis.varies()) {
                (_, true) => given.next().map(String::as_str),
                (Values::List(list), false) => list.first().map(String::as_str),
                (Values::Range { .. }, false) => None,
            };
            changes.extend(value.map(|v| (address, v)));
        }
        Variant::new(self.scene, &changes, values.clone().unwrap_or_default(), &self.loader)
    }

    /// Bakes and measures variants of these values.
    fn add(&mut self, rows: Vec<Vec<String>>, jobs: &mut dyn Jobs) -> Result<(), WorkshopError> {
        for row in rows {
            let variant = self.variant(Some(row))?;
            self.variants.push(variant);
        }
        self.bake(jobs)?;
        self.measure(jobs)
    }

    fn bake(&mut self, jobs: &mut dyn Jobs) -> Result<(), WorkshopError> {
        let from = self.problems.len();
        // The reference once, with the first batch.
        let new = self.variants[from..].iter().chain(self.reference.iter().filter(|_| from == 0));
        let distinct = distinct(new);
        jobs.begin(&format!("baking {} variants (% of each)", distinct.len()));
        let crew = Crew::new(self.sweep.workers);
        let problems = crew.run(distinct.len(), jobs, |index, progress| {
            bake_variant(distinct[index], &self.folder, &self.loader, progress)
        })?;
        let problem = |variant: &Variant| {
            let index = distinct.iter().position(|v| v.hash == variant.hash);
            index.and_then(|i| problems[i].clone())
        };
        let found: Vec<Option<String>> = self.variants[from..].iter().map(problem).collect();
        let no_reference = self.reference.as_ref().is_some_and(|r| problem(r).is_some());
        self.problems.extend(found);
        // Other layers may need the swept one: then `effect` has nothing to be measured against.
        if no_reference {
            self.reference = None;
        }
        match &self.problems[..] {
            // One that can be baked is enough for a page.
            [first @ Some(_), rest @ ..] if rest.iter().all(Option::is_some) => {
                let text = first.clone().unwrap_or_default();
                Err(WorkshopError::Simulation(format!("no variant could be baked: {text}")))
            }
            _ => Ok(()),
        }
    }

    fn measure(&mut self, jobs: &mut dyn Jobs) -> Result<(), WorkshopError> {
        self.choose_columns()?;
        let columns = self.columns.clone().unwrap_or_default();
        let reference = self.reference.as_ref();
        let from = self.measured.len();
        let new = || self.variants[from..].iter().zip(&self.problems[from..]);
        let distinct = distinct(new().filter(|(_, problem)| problem.is_none()).map(|(v, _)| v));
        jobs.begin(&format!("measuring {} variants (% of each)", distinct.len()));
        let crew = Crew::new(self.sweep.workers);
        let measured = crew.run(distinct.len(), jobs, |index, progress| {
            measure_variant(distinct[index], &self.folder, &columns, reference, progress)
        })?;
        let of = |(variant, problem): (&Variant, &Option<String>)| {
            let index = distinct.iter().position(|v| v.hash == variant.hash);
            let good = index.filter(|_| problem.is_none());
            good.map_or_else(Measured::default, |i| measured[i].clone())
        };
        let found: Vec<Measured> = new().map(of).collect();
        self.measured.extend(found);
        Ok(())
    }

    /// Once something is baked, its shapes say what can be measured.
    fn choose_columns(&mut self) -> Result<(), WorkshopError> {
        if self.columns.is_some() {
            return Ok(());
        }
        let Some(good) = self.problems.iter().position(Option::is_none) else { return Ok(()) };
        let mut reader = CacheReader::open(&self.variants[good].file(&self.folder, "frisson"))?;
        let (first, last) = (reader.info().first_frame, reader.info().last_frame);
        let mut frame = Frame::default();
        reader.read_frame(last, &mut frame)?;
        let (layers, asked) = (self.layers(), &self.sweep.measures);
        let count = last - first + 1;
        let mut columns = Columns::new(self.scene, &layers, asked, &frame, count)?;
        if let Some(goal) = self.sweep.best.as_deref().map(Goal::parse).transpose()? {
            self.goal_column = Some(columns.index_of(&goal.asked, count)?);
        }
        self.columns = Some(columns);
        Ok(())
    }

    /// How far a variant is from the goal.
    fn distance(&self, goal: &Goal, index: usize) -> f64 {
        let columns = self.columns.as_ref();
        let key = self.goal_column.and_then(|c| Some(&columns?.shown.get(c)?.key));
        let measured = self.measured.get(index).filter(|_| self.problems[index].is_none());
        goal.distance(key.zip(measured).and_then(|(key, m)| m.value(key)))
    }

    fn search(&mut self, goal: &Goal, jobs: &mut dyn Jobs) -> Result<(), WorkshopError> {
        let axes = self.varying();
        let mut search = Search::new(axes.len(), self.sweep.budget.max(1), self.sweep.seed);
        loop {
            let points = search.next();
            if points.is_empty() {
                return Ok(());
            }
            let from = self.variants.len();
            self.add(points.iter().map(|p| values_at(&axes, p)).collect(), jobs)?;
            let distances: Vec<f64> =
                (from..self.variants.len()).map(|i| self.distance(goal, i)).collect();
            search.tell(&points, &distances);
        }
    }

    fn table(&self, goal: Option<&Goal>) -> Table {
        let columns = self.columns.clone().unwrap_or_default().shown;
        let varying = || self.axes.iter().filter(|(a, _)| a.varies());
        let row = |(number, variant): (usize, &Variant)| {
            let values = if number == 0 {
                varying().map(|(_, address)| address.value(&self.scene.text)).collect()
            } else {
                variant.values.iter().cloned().map(Some).collect()
            };
            let measured = &self.measured[number];
            let problem = self.problems[number].clone();
            let value = |c: &Column| measured.value(&c.key).filter(|_| problem.is_none());
            Row {
                number,
                values,
                measures: columns.iter().map(value).collect(),
                complaints: measured.complaints.clone(),
                cache: relative(&variant.file(Path::new("variants"), "frisson")),
                picture: None,
                problem,
            }
        };
        let variants: Vec<Row> = self.variants.iter().enumerate().map(row).collect();
        let best = goal.and_then(|goal| {
            let distances = (0..variants.len()).map(|i| (self.distance(goal, i), i));
            let least = distances.filter(|(d, _)| d.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0));
            least.map(|(_, index)| index)
        });
        Table {
            scene: self.scene.path.display().to_string(),
            parameters: varying().map(|(axis, _)| axis.path.clone()).collect(),
            columns,
            goal: self.sweep.best.clone(),
            best,
            frame: None,
            variants,
        }
    }

    /// Draws what can be drawn, and gives the names of the two pictures.
    fn draw(
        &self,
        table: &mut Table,
        jobs: &mut dyn Jobs,
    ) -> Result<(Option<String>, Option<String>), WorkshopError> {
        let mut chosen: Vec<usize> =
            (0..self.variants.len()).filter(|&i| self.problems[i].is_none()).collect();
        if let Some(best) = table.best {
            // The best stands first, beside the scene as it is.
            chosen.sort_by_key(|&i| (i != 0, i != best, i));
        }
        chosen.truncate(sheet::MOST);
        let panel = |&i: &usize| Panel {
            cache: self.variants[i].file(&self.folder, "frisson"),
            label: format!("{i}: {}", table.label(&table.variants[i])),
            short_label: table.short_label(&table.variants[i]),
        };
        let panels: Vec<Panel> = chosen.iter().map(panel).collect();
        jobs.begin("looking at the variants");
        let mut sheet = Sheet::open(&panels, self.sweep.frame, &self.loader, jobs)?;
        let single = |&i: &usize| self.variants[i].file(&self.folder, "png");
        let singles: Vec<PathBuf> = chosen.iter().map(single).collect();
        table.frame = Some(sheet.frame());
        for &i in &chosen {
            let file = self.variants[i].file(Path::new("variants"), "png");
            table.variants[i].picture = Some(relative(&file));
        }
        let name = self.scene.path.file_name().unwrap_or_default().to_string_lossy();
        let title = format!("{name}, frame {}", sheet.frame());
        jobs.begin("drawing the sheet");
        sheet.write(&self.sweep.output.join("sheet.png"), &singles, &title, jobs)?;
        jobs.begin("drawing the moving grid");
        sheet.animate(&self.sweep.output.join("moving.webp"), jobs)?;
        Ok((Some("sheet.png".to_owned()), Some("moving.webp".to_owned())))
    }
}

/// Equal values make equal variants, which share their files: each is baked and measured once.
fn distinct<'a>(variants: impl Iterator<Item = &'a Variant>) -> Vec<&'a Variant> {
    let mut distinct: Vec<&Variant> = Vec::new();
    for variant in variants {
        if !distinct.iter().any(|v| v.hash == variant.hash) {
            distinct.push(variant);
        }
    }
    distinct
}

/// A path as a page and a table name it, on every system.
fn relative(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
