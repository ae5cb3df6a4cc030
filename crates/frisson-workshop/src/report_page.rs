//! The report of a bake as a page: where the time went, and what the layers measured, as charts.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use frisson_io::bake::{BakeReport, MeasureSeries};
use frisson_judge::{Finding, Judgement};
use frisson_picture::output::write_text;
use frisson_picture::plot::{Chart, Curve};
use serde::Serialize;

use crate::WorkshopError;
use crate::html::{self, escape, human_bytes, table};

/// Frames below which a curve over time says nothing.
const FEWEST_FRAMES: usize = 2;

// Where the report of a cache goes.
fn report_path(cache: &Path) -> PathBuf {
    cache.with_extension("bake-report.json")
}

/// The report as programs read it.
#[derive(Serialize)]
struct Judged<'a> {
    #[serde(flatten)]
    report: &'a BakeReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    judgement: Option<&'a Judgement>,
}

/// Writes the report twice beside the cache: as JSON for programs, as a page with charts for people;
/// both are added to its files.
pub fn write(
    cache: &Path,
    report: &mut BakeReport,
    judgement: Option<&Judgement>,
) -> Result<(), WorkshopError> {
    let path = report_path(cache);
    let page = path.with_extension("html");
    report.files.push(path.display().to_string());
    report.files.push(page.display().to_string());
    // Text at once: as a tree of values, the numbers of an hour's frames would be many times the size.
    let judged = Judged { report, judgement };
    let text = serde_json::to_string_pretty(&judged).map_err(WorkshopError::of)?;
    write_text(&path, &(text + "\n"))?;
    Ok(write_text(&page, &html(report, judgement))?)
}

/// The page.
pub fn html(report: &BakeReport, judgement: Option<&Judgement>) -> String {
    let mut page = html::begin(&format!("Bake of {}", report.scene));
    let _ = writeln!(page, "<section><div class=\"tables\">");
    table(&mut page, "The bake", &cells(["", ""]), facts(report).iter().map(|r| r.as_slice()));
    let times = times(report);
    let heading = cells(["part", "seconds", "share"]);
    table(&mut page, "Where the time went", &heading, times.iter().map(|r| r.as_slice()));
    page.push_str("</div>");
    for warning in &report.warnings {
        let _ = write!(page, "<p class=\"problem\">{}</p>", escape(warning));
    }
    page.push_str("</section>\n");
    judgement.into_iter().for_each(|j| write_judgement(&mut page, j));
    page.push_str("<section>");
    for chart in charts(report) {
        let _ = writeln!(page, "<p>{}</p>", chart.to_svg());
    }
    page.push_str("</section>\n<section><h2>Files</h2><ul>");
    for file in &report.files {
        let _ = write!(page, "<li>{}</li>", escape(file));
    }
    page.push_str("</ul></section>\n");
    html::end(page)
}

/// What the judge found.
fn write_judgement(page: &mut String, judgement: &Judgement) {
    page.push_str("<section><h2>What an animator would complain of</h2>");
    if judgement.findings.is_empty() {
        let (frames, points) = (judgement.frames, judgement.points);
        let _ = write!(page, "<p>Nothing, in {frames} frames of {points} points.</p>");
    } else {
        let row = |f: &Finding| {
            let place = f.place.map_or_else(String::new, |p| format!("{p:.3?}"));
            [f.number.to_string(), f.text.clone(), f.frame.to_string(), f.frames.to_string(), place]
        };
        let rows: Vec<[String; 5]> = judgement.findings.iter().map(row).collect();
        let heading = cells(["", "finding", "worst at frame", "frames", "place [m]"]);
        table(page, "Findings, worst first", &heading, rows.iter().map(|r| r.as_slice()));
        page.push_str("<p class=\"note\">frisson render CACHE --finding N draws one close up.</p>");
    }
    if !judgement.own.is_empty() {
        let count = judgement.own.len();
        let _ = write!(
            page,
            "<p class=\"note\">{count} more are in the character's own motion, without any layer.</p>"
        );
    }
    page.push_str("</section>\n");
}

/// Every chart of a bake: time per layer first, then each measure.
pub fn charts(report: &BakeReport) -> Vec<Chart> {
    let mut charts: Vec<Chart> = layer_time_chart(report).into_iter().collect();
    let long_enough = |s: &&MeasureSeries| s.values.iter().flatten().count() >= FEWEST_FRAMES;
    let (first, fps) = (report.first_frame, report.fps);
    charts.extend(report.measures.iter().filter(long_enough).map(|s| measure_chart(s, first, fps)));
    charts
}

/// Time of every layer, frame by frame.
fn layer_time_chart(report: &BakeReport) -> Option<Chart> {
    let curves: Vec<Curve> = report
        .layers
        .iter()
        .filter(|layer| layer.frames_ms.iter().flatten().count() >= FEWEST_FRAMES)
        .map(|layer| Curve {
            name: format!("{} {}", layer.kind, layer.name),
            points: over_time(&layer.frames_ms, report.first_frame, report.fps),
        })
        .collect();
    let (title, y_label) = ("time per frame of each layer".to_owned(), "ms".to_owned());
    (!curves.is_empty()).then(|| Chart { title, y_label, curves, ..Chart::default() })
}

/// A chart of a measure over time.
pub fn measure_chart(series: &MeasureSeries, first_frame: i64, fps: f64) -> Chart {
    Chart {
        title: format!("{}: {}", series.layer, series.name),
        y_label: series.unit.clone(),
        curves: vec![Curve {
            name: series.name.clone(),
            points: over_time(&series.values, first_frame, fps),
        }],
        ..Chart::default()
    }
}

fn over_time(values: &[Option<f64>], first_frame: i64, fps: f64) -> Vec<(f64, Option<f64>)> {
    let time = |i: usize| (first_frame + i as i64) as f64 / fps;
    values.iter().enumerate().map(|(i, v)| (time(i), *v)).collect()
}

fn cells<const N: usize>(texts: [&str; N]) -> [String; N] {
    texts.map(str::to_owned)
}

fn facts(report: &BakeReport) -> Vec<[String; 2]> {
    let fact = |name: &str, value: String| [name.to_owned(), value];
    let mut facts = vec![
        fact("frames", format!("{} to {}", report.first_frame, report.last_frame)),
        fact("frames a second of the shot", report.fps.to_string()),
        fact("simulated in this run", report.frames_simulated.to_string()),
        fact("speed", format!("{:.1} frames/s", report.frames_per_second)),
        fact("threads", report.threads.to_string()),
        fact("cache", human_bytes(report.cache_bytes)),
    ];
    if let Some(frame) = report.resumed_after {
        facts.push(fact("resumed after frame", frame.to_string()));
    }
    if let Some(bytes) = report.peak_memory_bytes {
        facts.push(fact("memory, at most", human_bytes(bytes)));
    }
    facts
}

fn times(report: &BakeReport) -> Vec<[String; 3]> {
    let row = |name: String, seconds: f64| {
        let share = report.percent_of_all(seconds);
        [name, format!("{seconds:.3}"), format!("{share:.0} %")]
    };
    let mut rows = vec![
        row("reading and building".to_owned(), report.build_seconds),
        row("actors".to_owned(), report.actors_seconds),
    ];
    let layers = report.layers.iter();
    rows.extend(layers.map(|l| row(format!("{} {}", l.kind, l.name), l.seconds)));
    rows.push(row("cache".to_owned(), report.cache_seconds));
    rows.push(row("all".to_owned(), report.seconds));
    rows
}

#[cfg(test)]
mod tests {
    use frisson_io::bake::LayerTime;

    use super::*;

    #[test]
    fn the_page_shows_times_measures_and_warnings() {
        let report = BakeReport {
            scene: "a<b.toml".into(),
            first_frame: 1,
            fps: 24.0,
            seconds: 2.0,
            layers: vec![LayerTime {
                kind: "flesh".into(),
                name: "belly".into(),
                seconds: 0.5,
                frames_ms: vec![None, Some(3.0), Some(4.0)],
            }],
            measures: vec![MeasureSeries {
                layer: "belly".into(),
                name: "elongation".into(),
                unit: "m".into(),
                values: vec![Some(0.0), Some(0.1), None],
            }],
            warnings: vec!["belly: hot & cold".into()],
            ..BakeReport::default()
        };
        assert_eq!(charts(&report).len(), 2);
        let judged = Judgement { frames: 3, points: 8, ..Judgement::default() };
        let page = html(&report, Some(&judged));
        assert_eq!(page.matches("<svg").count(), 2);
        for text in ["a&lt;b.toml", "hot &amp; cold", "flesh belly", "25 %", "Nothing, in 3 frames"]
        {
            assert!(page.contains(text), "{text}");
        }
    }
}
