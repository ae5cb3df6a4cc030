//! What the gallery knows of one scene; kept as JSON beside its pictures.

use std::path::Path;

use frisson_io::bake::{BakeReport, MeasureSeries};
use frisson_io::scene::{GalleryParams, SceneFile};
use serde::{Deserialize, Serialize};

use super::expectation::Expectation;
use crate::WorkshopError;
use crate::report_page::measure_chart;

/// Sizes that are written out; others in powers of ten.
const WRITTEN_OUT: std::ops::Range<f64> = 1e-3..1e6;

/// One scene of the gallery.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Entry {
    /// Scene file's name.
    pub name: String,
    /// Title.
    pub title: String,
    /// What to look for.
    pub look_for: String,
    /// Where it comes from.
    pub from: String,
    /// The source's table, heading first.
    pub source: Vec<Vec<String>>,
    /// Our measures: label and value.
    pub ours: Vec<[String; 2]>,
    /// Scene as it was baked.
    pub scene_text: String,
    /// Whether it was only done roughly.
    pub quick: bool,
    /// Picture strip, in the same folder.
    pub strip: Option<String>,
    /// Animation, in the same folder.
    pub animation: Option<String>,
    /// Charts, as SVG.
    pub charts: Vec<String>,
    /// What the scene promises, and what became of it.
    #[serde(default)]
    pub expectations: Vec<Expectation>,
    /// Why it could not be shown.
    pub problem: Option<String>,
}

impl Entry {
    /// What a bake says.
    pub fn new(
        name: &str,
        scene: &SceneFile,
        params: &GalleryParams,
        report: &BakeReport,
        quick: bool,
    ) -> Self {
        let title = if params.title.is_empty() { name } else { params.title.as_str() };
        let mut ours: Vec<[String; 2]> = params
            .ours
            .iter()
            .map(|[label, what]| [label.clone(), measured(what, report)])
            .collect();
        ours.extend(usual(report));
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            look_for: params.look_for.clone(),
            from: params.from.clone(),
            source: params.source.clone(),
            ours,
            scene_text: scene.text.clone(),
            quick,
            charts: params.plots.iter().filter_map(|p| chart(p, report)).collect(),
            ..Self::default()
        }
    }

    /// A scene that could not be baked or drawn.
    pub fn failed(name: &str, problem: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: name.to_owned(),
            problem: Some(problem.to_owned()),
            ..Self::default()
        }
    }

    /// What is already there, if all of it is.
    pub fn read(path: &Path, folder: &Path) -> Option<Self> {
        let entry: Self = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
        let pictures = entry.strip.iter().chain(&entry.animation);
        let there = pictures.clone().all(|p| folder.join(p).exists());
        // A record without its pictures is a run that was stopped.
        (entry.strip.is_some() && there).then_some(entry)
    }

    /// Keeps it.
    pub fn write(&self, path: &Path) -> Result<(), WorkshopError> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|e| WorkshopError::input(format!("{}: {e}", path.display())))?;
        std::fs::write(path, text).map_err(|e| WorkshopError::file(path, e))
    }
}

/// What every bake measures.
fn usual(report: &BakeReport) -> Vec<[String; 2]> {
    let frames = report.frames_simulated.max(1) as f64;
    let mut rows = vec![
        ["frames simulated".to_owned(), report.frames_simulated.to_string()],
        ["time per frame, all included".to_owned(), milliseconds(report.seconds / frames)],
    ];
    rows.extend(report.layers.iter().map(|layer| {
        let label = format!("of it, {} “{}”", layer.kind, layer.name);
        [label, milliseconds(layer.seconds / frames)]
    }));
    rows
}

fn milliseconds(seconds: f64) -> String {
    match seconds * 1e3 {
        ms if ms < 1.0 => format!("{ms:.3} ms"),
        ms if ms < 100.0 => format!("{ms:.1} ms"),
        ms => format!("{ms:.0} ms"),
    }
}

/// The value of a measure as a scene names it.
fn measured(what: &str, report: &BakeReport) -> String {
    let frames = report.frames_simulated.max(1) as f64;
    let found = match what {
        "seconds" => Some(format!("{:.2} s", report.seconds)),
        "seconds_per_frame" => Some(milliseconds(report.seconds / frames)),
        "frames_per_second" => Some(format!("{:.1}", report.frames_per_second)),
        "frames" => Some(report.frames_simulated.to_string()),
        _ => layer_or_measure(what, report),
    };
    found.unwrap_or_else(|| format!("? ({what})"))
}

fn layer_or_measure(what: &str, report: &BakeReport) -> Option<String> {
    if let Some(name) = what.strip_prefix("layer_seconds:") {
        let layer = report.layers.iter().find(|l| l.name == name)?;
        return Some(milliseconds(layer.seconds / report.frames_simulated.max(1) as f64));
    }
    let (name, how) = what.strip_prefix("measure:")?.rsplit_once(':')?;
    let series = find(name, report)?;
    let values: Vec<f64> = series.values.iter().copied().flatten().collect();
    let value = match how {
        "first" => *values.first()?,
        "last" => *values.last()?,
        "min" => values.iter().copied().reduce(f64::min)?,
        "max" => values.iter().copied().reduce(f64::max)?,
        "mean" => values.iter().sum::<f64>() / values.len().max(1) as f64,
        _ => return None,
    };
    let unit = if series.unit == "-" { "" } else { series.unit.as_str() };
    Some(format!("{} {unit}", short(value)).trim_end().to_owned())
}

fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if !WRITTEN_OUT.contains(&v) => format!("{value:.3e}"),
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 1.0 => format!("{value:.3}"),
        _ => format!("{value:.5}"),
    }
}

fn find<'a>(name: &str, report: &'a BakeReport) -> Option<&'a MeasureSeries> {
    let (layer, measure) = name.split_once('/')?;
    report.measures.iter().find(|s| s.layer == layer && s.name == measure)
}

/// A measure over time.
fn chart(name: &str, report: &BakeReport) -> Option<String> {
    let series = find(name, report)?;
    Some(measure_chart(series, report.first_frame, report.fps).to_svg())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_found_by_their_names() {
        let report = BakeReport {
            frames_simulated: 10,
            seconds: 0.5,
            measures: vec![MeasureSeries {
                layer: "belly".into(),
                name: "elongation".into(),
                unit: "m".into(),
                values: vec![Some(0.25), None, Some(2.0)],
            }],
            ..BakeReport::default()
        };
        assert_eq!(measured("seconds_per_frame", &report), "50.0 ms");
        assert_eq!(measured("measure:belly/elongation:max", &report), "2.000 m");
        assert_eq!(measured("measure:belly/elongation:first", &report), "0.25000 m");
        assert_eq!(measured("measure:belly/volume:max", &report), "? (measure:belly/volume:max)");
        assert!(chart("belly/elongation", &report).is_some());
    }
}
