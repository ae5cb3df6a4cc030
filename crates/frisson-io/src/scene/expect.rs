//! What a scene promises: `[[expect]]`. Nothing here changes the motion, and none of it counts for the
//! hash of a bake. The measures themselves are in `frisson-judge`; here is how they are written.

use std::ops::Range;

use frisson::stage::nearest_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::Fps;
use super::problem::Problem;
use super::{SceneError, SceneFile};

/// A promise about the baked shot, measured from its geometry alone: `[[expect]]`.
///
/// Unknown keys are refused by the schema: `serde` cannot refuse them beside a flattened part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct ExpectParams {
    /// What is measured.
    pub measure: Measure,
    /// What is measured of which shape, and when.
    #[serde(flatten)]
    pub subject: Subject,
    /// Divides the value by the same measure with these words replaced: other frames, another shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<Subject>,
    /// Least the value may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Most the value may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Least and most the value may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[f64; 2]>,
    /// The claim in words: the sentence under the picture.
    pub why: String,
    /// Why it does not hold yet. It may then fail without failing the run, and fails the run as soon as
    /// it holds, so that the mark goes away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

/// What a measure looks at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("additionalProperties" = false))]
pub struct Subject {
    /// Shape that is measured: a mesh, curves or points, by the name it has in the cache (see
    /// `frisson inspect CACHE`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// The other shape: the body for `inside` and `gap`, what is crossed for `crossings` (without it:
    /// the shape itself).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Parts of the body that a garment is worn on, for `crossings`: where they go through each other nothing can be outside
    /// of both, and what crosses within a mean edge of the garment from there does not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worn_on: Vec<String>,
    /// Layer whose effect is measured, for `effect`, `visible` and `rates`: the scene is baked again
    /// without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// Measure the bake without this layer; of use in `relative_to`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<String>,
    /// First and last frame that count; without it, all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<[i64; 2]>,
    /// Frame that `stretch` and `travel` compare with; without it, the first of the shot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<i64>,
    /// Which of the elements of a frame speaks for it; without it, the measure's own (see each).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<Statistic>,
    /// Which of the frames speaks for the shot; without it, every one must keep the promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<OverFrames>,
    /// Direction of `place` [-]; without it, up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f32; 3]>,
    /// Only elements in this box count, [x, y, z, x, y, z] from the lowest to the highest corner [m]: of
    /// meshes and curves those that are in it at the first frame of the shot, of points, crossings and
    /// meshes whose number of vertices changes those that are in it at the frame itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<[f32; 6]>,
    /// What of a shape counts for `inside` and `stretch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// What counts [mm]: way back for `reversals` and `swings` (without it 1), depth of `crossings`
    /// (without it 0.05: what only touches does not cross).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub above: Option<f64>,
    /// Rates that `rates` compares with [frames/s].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<Fps>,
    /// For `rates`: contact makes the motion chaotic, so a difference of twice what a change of gravity
    /// by a millionth makes counts as 0.02.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub chaotic: bool,
    /// Measure a bake at this rate instead of the scene's [frames/s]; frames are still given at the
    /// scene's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fps: Option<Fps>,
    /// Bake on to this frame, beyond the scene's own range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bake_to: Option<i64>,
}

impl Subject {
    /// This subject where it says something, else the other.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let or_rates = if self.rates.is_empty() { &other.rates } else { &self.rates };
        Self {
            shape: self.shape.clone().or_else(|| other.shape.clone()),
            body: self.body.clone().or_else(|| other.body.clone()),
            worn_on: if self.worn_on.is_empty() { &other.worn_on } else { &self.worn_on }.clone(),
            layer: self.layer.clone().or_else(|| other.layer.clone()),
            without: self.without.clone().or_else(|| other.without.clone()),
            frames: self.frames.or(other.frames),
            reference: self.reference.or(other.reference),
            of: self.of.or(other.of),
            over: self.over.or(other.over),
            axis: self.axis.or(other.axis),
            within: self.within.or(other.within),
            part: self.part.or(other.part),
            above: self.above.or(other.above),
            rates: or_rates.clone(),
            chaotic: self.chaotic || other.chaotic,
            fps: self.fps.or(other.fps),
            bake_to: self.bake_to.or(other.bake_to),
        }
    }
}

/// What can be measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Speed of the points [mm/s]; of the fastest hundredth (p99).
    #[default]
    Rest,
    /// Share of the points that turn back by more than `above` [0 to 1].
    Reversals,
    /// Largest swing after a turn, as a share of the swing before it [-]: below 1, motion dies away.
    Swings,
    /// Jump of a point that the steps before and after it do not share [mm]; of the worst point.
    Pop,
    /// Change of velocity from one step to the next that the steps beside it do not share [mm/s].
    Kick,
    /// Length now / length at `reference` [-]: of edges, of whole curves, or of their segments (`part`);
    /// of the longest hundredth (p99).
    Stretch,
    /// Depth inside `body` [mm]; of the deepest.
    Inside,
    /// Distance from the surface of `body`, inside or outside [mm]; of the farthest.
    Gap,
    /// Edges that go through triangles of `body`, or of the shape itself [count].
    Crossings,
    /// Pieces that hang together [count].
    Components,
    /// Volume of a closed mesh [m³].
    Volume,
    /// Area of a mesh [m²].
    Area,
    /// Vertices, curves or points that are there [count].
    Count,
    /// Distance of the points from where they are at `reference` [mm]; of the farthest.
    Travel,
    /// Place of the points along `axis` [m]; of the middle one (p50).
    Place,
    /// Distance between the first and the last frame [mm]; of the farthest point.
    Loop,
    /// Distance from the bake without `layer` [mm]; of the farthest point.
    Effect,
    /// Share of a picture of the subject that is another without `layer` [0 to 1], from the side that
    /// shows most of it.
    Visible,
    /// Difference of bakes at `rates`, at common times, as a share of the layer's effect [-] (RMS).
    Rates,
}

/// Which of many values speaks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The least.
    Min,
    /// One in a hundred is below it.
    P1,
    /// The middle one.
    P50,
    /// One in a hundred is above it.
    P99,
    /// The largest.
    Max,
    /// The mean.
    Mean,
    /// The root of the mean square.
    Rms,
    /// From the least to the largest.
    Range,
    /// p99 / p1: 1 when all are equal.
    Evenness,
}

/// Which of the frames speaks for the shot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OverFrames {
    /// Each must keep the promise.
    Every,
    /// The largest value.
    Max,
    /// The least value.
    Min,
    /// The mean value.
    Mean,
    /// The first frame.
    First,
    /// The last frame.
    Last,
    /// From the least to the largest value.
    Range,
}

/// What of a shape counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Vertices, points of curves, points.
    Points,
    /// Middles of edges and segments.
    Midpoints,
    /// Edges and segments along their whole length.
    Segments,
    /// Whole curves.
    Curves,
}

impl ExpectParams {
    /// Least and most the value may be.
    #[must_use]
    pub fn bounds(&self) -> (Option<f64>, Option<f64>) {
        let [low, high] = self.between.map_or([None, None], |b| b.map(Some));
        (self.at_least.or(low), self.at_most.or(high))
    }

    /// What `relative_to` means: the subject with its words replaced.
    #[must_use]
    pub fn base(&self) -> Option<Subject> {
        self.relative_to.as_ref().map(|other| other.or(&self.subject))
    }

    /// What is wrong with it that the schema cannot say, and at which key.
    fn mistakes(&self) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let subject = &self.subject;
        let mut say = |key: &'static str, text: &str| found.push((key, text.to_owned()));
        match (self.bounds(), self.between) {
            ((None, None), _) => {
                say("measure", "say what is expected: `at_least`, `at_most` or `between`");
            }
            (_, Some(_)) if self.at_least.is_some() || self.at_most.is_some() => {
                say("between", "`between` already says the least and the most");
            }
            ((Some(low), Some(high)), _) if low > high => {
                let key = if self.between.is_some() { "between" } else { "at_least" };
                say(key, "the least is more than the most");
            }
            _ => {}
        }
        if subject.frames.is_some_and(|[first, last]| last < first) {
            say("frames", "the last frame is before the first");
        }
        if self.why.trim().is_empty() {
            say("why", "say in words what is claimed");
        }
        let needs_body = matches!(self.measure, Measure::Inside | Measure::Gap);
        if needs_body && subject.body.is_none() {
            say("measure", "this measure needs `body`, the shape it is about");
        }
        let needs_layer =
            matches!(self.measure, Measure::Effect | Measure::Visible | Measure::Rates);
        if needs_layer && subject.layer.is_none() {
            say("measure", "this measure needs `layer`, whose effect it is about");
        }
        if subject.shape.is_none() && self.measure != Measure::Visible {
            say("measure", "this measure needs `shape`");
        }
        if self.measure == Measure::Rates && subject.rates.is_empty() {
            say("measure", "this measure needs `rates`, such as [24, 60]");
        }
        found
    }
}

impl SceneFile {
    /// What is wrong with `[[expect]]` that the schema cannot say.
    pub(super) fn check_expectations(&self) -> Result<(), SceneError> {
        let mut problems = Vec::new();
        for (index, expect) in self.scene.expect.iter().enumerate() {
            for (key, text) in expect.mistakes() {
                problems.push(Problem::new(text, self.expect_span(index, key)));
            }
            problems.extend(self.unknown_layer(index, expect));
            problems.extend(self.unknown_shapes(index, expect));
        }
        if problems.is_empty() { Ok(()) } else { Err(self.refuse(problems)) }
    }

    fn refuse(&self, problems: Vec<Problem>) -> SceneError {
        SceneError::new(self.path.clone(), self.text.clone(), problems)
    }

    fn unknown_layer(&self, index: usize, expect: &ExpectParams) -> Option<Problem> {
        let relative = expect.relative_to.as_ref();
        let given = [Some(&expect.subject), relative].into_iter().flatten();
        let given = given.flat_map(|s| [&s.layer, &s.without]).flatten();
        let names = || self.scene.layers.iter().map(|l| l.name());
        let given = given.map(String::as_str).find(|g| !names().any(|n| n == *g))?;
        let problem = Problem::new(
            format!("there is no layer named {given:?}"),
            self.expect_span(index, "layer"),
        );
        Some(match nearest_name(given, names()) {
            Some(near) => problem.help(format!("did you mean {near:?}?")),
            None => problem,
        })
    }

    /// Shapes belong to an actor, a collider or a layer, and start with its name.
    fn unknown_shapes(&self, index: usize, expect: &ExpectParams) -> Vec<Problem> {
        let actors = self.scene.actors.0.iter().map(|(name, _)| name.as_str());
        let colliders = self.scene.colliders.iter().map(|c| c.name.as_str());
        let layers = self.scene.layers.iter().map(|l| l.name());
        let owners: Vec<&str> = actors.chain(colliders).chain(layers).collect();
        let of = |key: &'static str, s: &Option<String>| Some((key, s.clone()?));
        let worn_on = expect.subject.worn_on.iter().map(|name| Some(("worn_on", name.clone())));
        let given = [of("shape", &expect.subject.shape), of("body", &expect.subject.body)];
        let given = given.into_iter().chain(worn_on);
        let unknown = |(_, name): &(&str, String)| {
            !owners.iter().any(|o| name.strip_prefix(o).is_some_and(is_whole_name))
        };
        let problem = |(key, name): (&'static str, String)| {
            let text = format!("no actor, collider or layer is called {name:?}");
            let problem = Problem::new(text, self.expect_span(index, key));
            match nearest_name(&name, owners.iter().copied()) {
                Some(near) => problem.help(format!("did you mean {near:?}?")),
                None => problem,
            }
        };
        given.flatten().filter(unknown).map(problem).collect()
    }

    fn expect_span(&self, index: usize, key: &str) -> Range<usize> {
        let (table, _) = self.spans.locate(&format!("expect[{index}]"));
        table.part(key).map_or_else(|| table.name(), |part| part.value.clone())
    }

    /// Where an expectation stands: its line, from 1.
    #[must_use]
    pub fn expect_line(&self, index: usize) -> usize {
        let start = self.expect_span(index, "measure").start;
        self.text.get(..start).map_or(1, |before| before.matches('\n').count() + 1)
    }
}

/// Whether what follows an owner's name ends it: `cat` owns `cat` and `cat/eyes`, not `cats`.
fn is_whole_name(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['/', '.', ':', ' '])
}
