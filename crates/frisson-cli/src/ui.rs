//! Everything a person or a program sees.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use frisson_io::Progress;
use frisson_io::scene::{Problem, SceneError};
use frisson_workshop::Jobs;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::{Diagnostic, GraphicalReportHandler, LabeledSpan, NamedSource, SourceCode};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::interrupt;

/// How to speak.
#[derive(Clone, Copy, Debug)]
pub struct Ui {
    /// Only errors.
    pub quiet: bool,
    /// JSON instead of text.
    pub json: bool,
    /// Progress, status and failures as lines that farms read (Open Job Description).
    pub farm: bool,
}

impl Ui {
    /// A line for people.
    pub fn say(&self, text: impl AsRef<str>) {
        if !self.quiet && !self.json {
            print_line(text.as_ref());
        }
    }

    /// A remark for people that is not part of the result.
    pub fn remark(&self, text: impl AsRef<str>) {
        if !self.quiet && !self.json {
            complain(text.as_ref());
        }
    }

    /// The result for programs.
    pub fn result(&self, value: impl FnOnce() -> Value) {
        if self.json {
            print_line(&format!("{:#}", value()));
        }
    }

    /// The result itself, whatever was asked: text that is the point of the command.
    pub fn answer(&self, text: &str, value: impl FnOnce() -> Value) {
        if self.json { self.result(value) } else { print_line(text) }
    }

    /// Progress of a long job, shown once it has taken two seconds.
    pub fn progress(&self, what: &str) -> Bar {
        if self.farm {
            print_line(&format!("openjd_status: {what}"));
        }
        Bar::new(what, self.quiet || self.json, self.farm)
    }

    /// Says why a command failed.
    pub fn show_failure(&self, failure: &Failure) {
        if self.farm {
            let text = match failure {
                Failure::Scene(error) => error.to_string(),
                Failure::Message { text, .. } => text.clone(),
            };
            print_line(&format!("openjd_fail: {}", text.lines().next().unwrap_or_default()));
        }
        if self.json {
            complain(&format!("{:#}", failure_json(failure)));
            return;
        }
        match failure {
            Failure::Scene(error) => show_scene_error(error),
            Failure::Message { text, help, .. } => {
                complain(&format!("error: {text}"));
                if let Some(help) = help {
                    complain(&format!("help: {help}"));
                }
            }
        }
    }
}

/// Set when standard output took less than was printed.
static UNWRITTEN: AtomicBool = AtomicBool::new(false);

/// Prints to standard output. A closed pipe (`| head`) is not an error; a full disk is.
fn print_line(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush())
        // `frisson inspect | head` closes the pipe and is content.
        && error.kind() != ErrorKind::BrokenPipe
        && !UNWRITTEN.swap(true, Ordering::SeqCst)
    {
        complain(&format!("error: standard output: {error}"));
    }
}

/// Exit code for output that could not be written, if there was any.
pub fn unwritten() -> Option<u8> {
    UNWRITTEN.load(Ordering::SeqCst).then_some(1)
}

/// Prints to standard error; if even that fails, nobody is listening.
fn complain(text: &str) {
    // Where even this fails there is nowhere left to say so.
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn failure_json(failure: &Failure) -> Value {
    match failure {
        Failure::Scene(error) => {
            let problem = |p: &Problem| {
                let (line, column) = error.position(p);
                json!({ "message": p.message, "line": line, "column": column,
                        "start": p.span.start, "end": p.span.end, "help": p.help })
            };
            let problems: Vec<Value> = error.problems.iter().map(problem).collect();
            json!({ "error": "scene", "file": error.path, "problems": problems,
                    "omitted": error.omitted })
        }
        Failure::Message { code, text, help } => {
            json!({ "error": text, "code": code, "help": help })
        }
    }
}

/// Drawn for a terminal; `file:line:column: message` otherwise, which editors understand.
fn show_scene_error(error: &SceneError) {
    // In a log or an editor `file:line:column` is worth more than a drawing.
    if !std::io::stderr().is_terminal() {
        complain(&error.to_string());
        return;
    }
    let handler = GraphicalReportHandler::new();
    for problem in &error.problems {
        let drawn = Drawn {
            problem,
            source: NamedSource::new(error.path.display().to_string(), error.text.clone()),
        };
        let mut text = String::new();
        match handler.render_report(&mut text, &drawn) {
            Ok(()) => complain(&text),
            Err(_) => complain(&error.to_string()),
        }
    }
    if error.omitted > 0 {
        complain(&format!("{} more problems are not listed", error.omitted));
    }
}

/// One problem of a scene file as `miette` draws it.
#[derive(Debug)]
struct Drawn<'a> {
    problem: &'a Problem,
    source: NamedSource<String>,
}

impl std::fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for Drawn<'_> {}

impl Diagnostic for Drawn<'_> {
    fn help<'b>(&'b self) -> Option<Box<dyn std::fmt::Display + 'b>> {
        self.problem.help.as_ref().map(|h| Box::new(h) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.problem.span.clone();
        let label = LabeledSpan::new(Some(self.problem.label.clone()), span.start, span.len());
        Some(Box::new(std::iter::once(label)))
    }
}

/// How long a job may take before its progress is shown.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often a line is printed where no bar can be drawn.
const LINE_EVERY: Duration = Duration::from_secs(20);

/// A progress bar with time left; also passes Ctrl-C on.
pub struct Bar {
    bar: Option<ProgressBar>,
    what: String,
    silent: bool,
    farm: bool,
    /// What a farm was told last [%].
    told: u64,
    started: Instant,
    started_at: u64,
    last_line: Instant,
}

impl Bar {
    fn new(what: &str, silent: bool, farm: bool) -> Self {
        Self {
            bar: None,
            what: what.to_owned(),
            silent,
            farm,
            told: 0,
            started: Instant::now(),
            started_at: 0,
            last_line: Instant::now(),
        }
    }

    /// One line for every hundredth.
    fn tell_farm(&mut self, done: u64, total: u64) {
        let percent = 100 * done.min(total) / total.max(1);
        if percent > self.told {
            self.told = percent;
            print_line(&format!("openjd_progress: {percent}"));
        }
    }

    fn show(&mut self, done: u64, total: u64) {
        if std::io::stderr().is_terminal() {
            let bar = self.bar.get_or_insert_with(|| {
                let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
                let template = "{msg} {wide_bar} {pos}/{len} {eta} left";
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style);
                }
                bar.set_message(self.what.clone());
                bar
            });
            bar.set_length(total);
            bar.set_position(done);
        // In a file a line now and then; a bar would fill it with control characters.
        } else if self.last_line.elapsed() > LINE_EVERY {
            self.last_line = Instant::now();
            // Nothing is known of the speed until something is done.
            let since = done - self.started_at;
            let left = if since == 0 {
                String::new()
            } else {
                let each = self.started.elapsed().as_secs_f64() / since as f64;
                format!(", {:.0} s left", each * (total - done) as f64)
            };
            complain(&format!("{} {done}/{total}{left}", self.what));
        }
    }
}

impl Progress for Bar {
    fn advance(&mut self, done: u64, total: u64) -> bool {
        // A resumed bake begins far along: its speed is that of what it does itself.
        if self.started_at == 0 {
            self.started_at = done;
        }
        if self.farm {
            self.tell_farm(done, total);
        } else if done >= total {
            if let Some(bar) = self.bar.take() {
                bar.finish_and_clear();
            }
        // What is over at once needs no bar.
        } else if !self.silent && self.started.elapsed() > PATIENCE {
            self.show(done.max(self.started_at), total);
        }
        !interrupt::asked()
    }
}

impl Jobs for Bar {
    fn begin(&mut self, what: &str) {
        let (silent, farm) = (self.silent, self.farm);
        if farm {
            print_line(&format!("openjd_status: {what}"));
        }
        *self = Self::new(what, silent, farm);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
