//! What is measured of every variant.

use frisson::stage::Frame;
use frisson_io::scene::{Measure, OverFrames, SceneFile, Subject};
use frisson_judge::{Request, Shape, unit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::WorkshopError;

/// The column that counts what the judge complains of.
pub const COMPLAINTS: &str = "complaints";

/// Looks at a shot for measures that cost much each.
const LOOKS: i64 = 24;

/// What somebody asks for: `MEASURE`, `MEASURE:SHAPE` or `MEASURE:SHAPE:BODY`, or `complaints`. The measure may say
/// which of the frames speaks for the shot: `effect.last`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// Nothing: the number of complaints.
    measure: Option<Measure>,
    over: Option<OverFrames>,
    shape: Option<String>,
    body: Option<String>,
}

impl Asked {
    /// Reads it.
    pub fn parse(text: &str) -> Result<Self, WorkshopError> {
        let mut words = text.split(':').map(str::trim);
        let name = words.next().unwrap_or_default();
        let mut shape = || words.next().filter(|w| !w.is_empty()).map(str::to_owned);
        let (shape, body) = (shape(), shape());
        if name == COMPLAINTS {
            return Ok(Self::default());
        }
        let (name, over) = match name.split_once('.') {
            Some((name, over)) => (name, Some(frames_word(over)?)),
            None => (name, None),
        };
        let measure: Measure = serde_json::from_value(json!(name)).map_err(|_| {
            WorkshopError::advised(
                format!("there is no measure {name:?}"),
                "frisson explain measure lists them; `complaints` counts what the judge finds",
            )
        })?;
        if measure == Measure::Rates {
            return Err(WorkshopError::input(
                "`rates` compares bakes at other rates: a sweep has none",
            ));
        }
        if matches!(measure, Measure::Inside | Measure::Gap) && body.is_none() {
            return Err(WorkshopError::input(format!(
                "{name} needs the body it is about: {name}:SHAPE:BODY"
            )));
        }
        Ok(Self { measure: Some(measure), over, shape, body })
    }
}

fn frames_word(word: &str) -> Result<OverFrames, WorkshopError> {
    let every = WorkshopError::advised(
        format!("{word:?} does not say which frame speaks for the shot"),
        "say max, min, mean, first, last or range: effect.last",
    );
    match serde_json::from_value(json!(word)) {
        Ok(OverFrames::Every) | Err(_) => Err(every),
        Ok(over) => Ok(over),
    }
}

/// What is measured of a shape that a layer makes: its own motion.
const MADE: [(Measure, Option<OverFrames>); 5] = [
    (Measure::Travel, None),
    (Measure::Rest, None),
    (Measure::Pop, None),
    (Measure::Stretch, None),
    (Measure::Reversals, None),
];

/// What is measured of a shape that is given and deformed: what the layer does to it.
const DEFORMED: [(Measure, Option<OverFrames>); 6] = [
    (Measure::Effect, None),
    (Measure::Effect, Some(OverFrames::Mean)),
    (Measure::Effect, Some(OverFrames::Last)),
    (Measure::Rest, None),
    (Measure::Pop, None),
    (Measure::Stretch, None),
];

/// What is best.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Of what.
    pub asked: Asked,
    /// Which value.
    pub aim: Aim,
}

/// Which value is best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// The least.
    Least,
    /// The largest.
    Most,
    /// The nearest to this.
    Near(f64),
}

impl Goal {
    /// Reads `MEASURE[:SHAPE[:BODY]]`, the least of it, or with `=max` or `=NUMBER` behind.
    pub fn parse(text: &str) -> Result<Self, WorkshopError> {
        let (asked, aim) = match text.split_once('=') {
            None => (text, Aim::Least),
            Some((asked, "min")) => (asked, Aim::Least),
            Some((asked, "max")) => (asked, Aim::Most),
            Some((asked, number)) => match number.trim().parse::<f64>() {
                Ok(value) if value.is_finite() => (asked, Aim::Near(value)),
                _ => {
                    return Err(WorkshopError::advised(
                        format!("{number:?} is not a wanted value"),
                        "write MEASURE, MEASURE=max or MEASURE=NUMBER, such as effect=25",
                    ));
                }
            },
        };
        Ok(Self { asked: Asked::parse(asked)?, aim })
    }

    /// How far a value is from the best; less is better. What could not be measured is worst.
    #[must_use]
    pub fn distance(&self, value: Option<f64>) -> f64 {
        let Some(value) = value.filter(|v| v.is_finite()) else { return f64::INFINITY };
        match self.aim {
            Aim::Least => value,
            Aim::Most => -value,
            Aim::Near(wanted) => (value - wanted).abs(),
        }
    }
}

/// One column of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// As it would be asked for: `effect:cat`.
    pub key: String,
    /// For people: `effect of cat`.
    pub name: String,
    /// Unit; empty for counts and ratios.
    pub unit: String,
    /// What it means.
    pub about: String,
}

/// Columns together with how they are measured.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// As shown.
    pub shown: Vec<Column>,
    /// What to measure for each; nothing for the number of complaints.
    pub requests: Vec<Option<(Request, OverFrames)>>,
}

impl Columns {
    /// The usual ones for some layers of a scene, and what else is asked for. `frame` is one of the shot.
    pub fn new(
        scene: &SceneFile,
        layers: &[String],
        asked: &[Asked],
        frame: &Frame,
        frames: i64,
    ) -> Result<Self, WorkshopError> {
        let shapes: Vec<(String, bool)> =
            layers.iter().filter_map(|layer| shape_of(scene, layer, frame)).collect();
        let first = shapes.first().map(|(s, _)| s.clone()).or_else(|| largest(frame, |_| true));
        let mut columns = Self::default();
        columns.add(&Asked::default(), None, frames)?;
        for (shape, is_made) in &shapes {
            let usual = if *is_made { &MADE[..] } else { &DEFORMED[..] };
            for &(measure, over) in usual {
                let shape = Some(shape.clone());
                let asked = Asked { measure: Some(measure), over, shape, body: None };
                columns.add(&asked, None, frames)?;
            }
        }
        for asked in asked {
            if let Some(shape) = asked.shape.as_deref().filter(|s| Shape::find(frame, s).is_none())
            {
                let names: Vec<&str> = Shape::all(frame).map(|s| s.name()).collect();
                let help = frisson::stage::nearest_name(shape, names.iter().copied())
                    .map_or_else(|| names.join(", "), |near| format!("did you mean {near:?}?"));
                return Err(WorkshopError::advised(
                    format!("there is no shape {shape:?} in the last frame"),
                    help,
                ));
            }
            columns.add(asked, first.as_deref(), frames)?;
        }
        Ok(columns)
    }

    /// Adds a column unless it is there, and gives its place.
    fn add(
        &mut self,
        asked: &Asked,
        shape: Option<&str>,
        frames: i64,
    ) -> Result<usize, WorkshopError> {
        let (column, request) = match asked.measure {
            None => (complaints(), None),
            Some(measure) => {
                let shape = asked.shape.as_deref().or(shape).ok_or_else(|| {
                    WorkshopError::input("there is no shape to measure: name one, MEASURE:SHAPE")
                })?;
                measured(measure, asked.over, (shape, asked.body.as_deref()), frames)
            }
        };
        if let Some(index) = self.shown.iter().position(|c| c.key == column.key) {
            return Ok(index);
        }
        self.shown.push(column);
        self.requests.push(request);
        Ok(self.shown.len() - 1)
    }

    /// The place of what a goal is about, which is added if need be.
    pub fn index_of(&mut self, asked: &Asked, frames: i64) -> Result<usize, WorkshopError> {
        let shape = self.requests.iter().flatten().find_map(|(r, _)| r.subject.shape.clone());
        self.add(asked, shape.as_deref(), frames)
    }
}

fn complaints() -> Column {
    Column {
        key: COMPLAINTS.to_owned(),
        name: COMPLAINTS.to_owned(),
        unit: String::new(),
        about: "things that the judge complains of, by its default limits".to_owned(),
    }
}

fn measured(
    measure: Measure,
    over: Option<OverFrames>,
    (shape, body): (&str, Option<&str>),
    frames: i64,
) -> (Column, Option<(Request, OverFrames)>) {
    let mut name = word(measure);
    let usual = speaking(measure);
    let over = over.unwrap_or(usual);
    if over != usual {
        name = format!("{name}.{}", word(over));
    }
    let mut key = format!("{name}:{shape}");
    key.extend(body.map(|b| format!(":{b}")));
    let when = in_words(over);
    let unit = Some(unit(measure)).filter(|u| *u != "-").unwrap_or_default().to_owned();
    let inside = body.map_or_else(String::new, |b| format!(" ({b})"));
    let column = Column {
        key,
        name: format!("{name} of {shape}{inside}"),
        unit,
        about: format!("{}{when}", about(measure)),
    };
    let subject = Subject {
        shape: Some(shape.to_owned()),
        body: body.map(str::to_owned),
        ..Subject::default()
    };
    let costly = matches!(
        measure,
        Measure::Inside
            | Measure::Gap
            | Measure::Crossings
            | Measure::Visible
            | Measure::Components
    );
    let every = if costly { (frames / LOOKS).max(1) as u32 } else { 1 };
    let request = Request { every, ..Request::new(measure, subject) };
    (column, Some((request, over)))
}

/// Which frame speaks for the shot.
fn speaking(measure: Measure) -> OverFrames {
    match measure {
        Measure::Rest | Measure::Count => OverFrames::Last,
        Measure::Volume | Measure::Area | Measure::Place => OverFrames::Range,
        // They speak of all frames together.
        Measure::Reversals | Measure::Swings | Measure::Loop => OverFrames::Last,
        _ => OverFrames::Max,
    }
}

fn in_words(over: OverFrames) -> &'static str {
    match over {
        OverFrames::Every | OverFrames::Max => "; the largest of all frames",
        OverFrames::Min => "; the least of all frames",
        OverFrames::Mean => "; the mean of all frames",
        OverFrames::First => "; in the first frame",
        OverFrames::Last => "; at the end",
        OverFrames::Range => "; from the least to the largest of all frames",
    }
}

/// A measure or a choice of frames as a scene spells it.
fn word(name: impl Serialize) -> String {
    let name = serde_json::to_value(name).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

/// What the measure's own documentation says.
fn about(measure: Measure) -> String {
    if measure == Measure::Effect {
        return "distance from the shot without the swept layers, of the farthest point".to_owned();
    }
    let name = word(measure);
    let found = frisson_io::scene::explain("expect.measure").unwrap_or_default();
    let part = found.first().and_then(|e| e.parts.iter().find(|(n, _)| *n == name));
    part.map_or(name.clone(), |(_, text)| text.trim_end_matches('.').to_owned())
}

/// The shape that a layer makes (true), or else the one that it deforms.
fn shape_of(scene: &SceneFile, layer: &str, frame: &Frame) -> Option<(String, bool)> {
    let params = scene.scene.layers.iter().find(|l| l.name() == layer)?;
    let value = serde_json::to_value(params).unwrap_or_default();
    let inner = value.as_object().and_then(|o| o.values().next());
    let on = inner.and_then(|t| t.get("on")).and_then(Value::as_str).unwrap_or_default();
    let owns = |owner: &str, name: &str| {
        name.strip_prefix(owner)
            .is_some_and(|r| r.is_empty() || r.starts_with(['/', '.', ':', ' ']))
    };
    if let Some(made) = largest(frame, |name| owns(layer, name)) {
        return Some((made, true));
    }
    let given = largest(frame, |name| !on.is_empty() && owns(on, name));
    Some((given.or_else(|| largest(frame, |_| true))?, false))
}

/// The shape of most points among some.
fn largest(frame: &Frame, wanted: impl Fn(&str) -> bool) -> Option<String> {
    let shapes = Shape::all(frame).filter(|s| wanted(s.name()));
    // The first of equal ones.
    let best = shapes.reduce(|a, b| if b.points().len() > a.points().len() { b } else { a })?;
    Some(best.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_name_a_measure_and_a_wish() {
        let goal = |text: &str| Goal::parse(text).expect(text);
        assert_eq!(goal("stretch").aim, Aim::Least);
        assert_eq!(goal("effect:cat=25").aim, Aim::Near(25.0));
        assert_eq!(goal("effect=max").aim, Aim::Most);
        assert_eq!(goal("complaints").asked.measure, None);
        assert_eq!(goal("effect.last:cat=3").asked.over, Some(OverFrames::Last));
        for bad in [
            "stretsch",
            "effect.lost",
            "effect.every",
            "effect=many",
            "inside",
            "rates:cat",
            "effect=inf",
        ] {
            assert!(Goal::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn less_is_better_and_nothing_is_worst() {
        let near = Goal::parse("effect=25").expect("a goal");
        assert!(near.distance(Some(24.0)) < near.distance(Some(30.0)));
        let most = Goal::parse("effect=max").expect("a goal");
        assert!(most.distance(Some(30.0)) < most.distance(Some(3.0)));
        assert_eq!(near.distance(None), f64::INFINITY);
        assert_eq!(near.distance(Some(f64::NAN)), f64::INFINITY);
    }
}
