//! Where drops come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::{Anchor, LayerError, Selection};

/// One source. Give exactly one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceParams {
    /// Drops at one place, once or repeatedly.
    Single(SingleSource),
    /// Drops scattered over part of the surface.
    Region(RegionSource),
    /// Drops falling from above.
    Rain(RainSource),
    /// Drops that appear on the surface and grow.
    Condensation(CondensationSource),
    /// Drops from a table: frame, x, y, z, mass, and optionally a velocity.
    List(ListSource),
}

/// Drops at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SingleSource {
    /// Place: a point [m] in the reference pose, a vertex, a joint, a marker. On the surface when
    /// nearer than `snap`, and then it moves along with it; else the drop starts in the air.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Source"))]
    pub at: Anchor,
    /// Mass [kg].
    #[schemars(range(min = 1e-12, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1e-07, 0.001], "x-log" = true, "x-group" = "Source"))]
    pub mass: f64,
    /// Starting velocity [m/s].
    #[schemars(extend("x-change" = "live", "x-slider" = [-2, 2], "x-group" = "Source"))]
    pub velocity: [f64; 3],
    /// Frame of the first drop.
    #[schemars(extend("x-change" = "restart", "x-slider" = [0, 240], "x-group" = "Source"))]
    pub frame: f64,
    /// Number of drops.
    #[schemars(range(min = 1, max = 10_000_000))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1, 100], "x-group" = "Source"))]
    pub count: u64,
    /// Frames between drops.
    #[schemars(range(min = 0.0))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [0, 60], "x-group" = "Source"))]
    pub every: f64,
    /// Farthest the place may be from the surface to be taken to it [m].
    #[schemars(range(min = 0.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0, 0.2], "x-group" = "Source"))]
    pub snap: f64,
    /// Where the drop must be, and at which frame: x, y, z [m], frame.
    #[schemars(extend("x-change" = "restart", "x-group" = "Source"))]
    pub arrive: Option<[f64; 4]>,
    /// What is changed so that it arrives in time.
    #[schemars(extend("x-change" = "restart", "x-group" = "Source"))]
    pub solve: Solve,
}

/// What makes a directed drop arrive in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Solve {
    /// It starts earlier or later.
    #[default]
    Start,
    /// It is more or less viscous.
    Viscosity,
}

impl Default for SingleSource {
    fn default() -> Self {
        Self {
            at: Anchor::Position([0.0; 3]),
            mass: 2e-5,
            velocity: [0.0; 3],
            frame: 0.0,
            count: 1,
            every: 10.0,
            snap: 0.05,
            arrive: None,
            solve: Solve::Start,
        }
    }
}

/// Drops scattered over part of the surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RegionSource {
    /// Where; nothing given: everywhere.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Source"))]
    pub select: Selection,
    /// Number of drops.
    #[schemars(range(min = 1, max = 10_000_000))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [1, 10000], "x-log" = true, "x-group" = "Source"))]
    pub count: u64,
    /// Frame of the first.
    #[schemars(extend("x-change" = "restart", "x-slider" = [0, 240], "x-group" = "Source"))]
    pub frame: f64,
    /// Frames over which they appear; 0: all at once.
    #[schemars(range(min = 0.0))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [0, 240], "x-group" = "Source"))]
    pub over: f64,
    /// Least and largest mass [kg]; uniform between.
    #[schemars(inner(range(min = 1e-12, max = 10.0)))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1e-07, 0.001], "x-log" = true, "x-group" = "Source"))]
    pub mass: [f64; 2],
    /// Whether they form also where another closed mesh lies over the place at the start: within a sleeve,
    /// below a coat.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Source"))]
    pub covered: bool,
}

impl Default for RegionSource {
    fn default() -> Self {
        Self {
            select: Selection::default(),
            count: 100,
            frame: 0.0,
            over: 0.0,
            mass: [1e-5, 4e-5],
            covered: false,
        }
    }
}

/// Drops falling from above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RainSource {
    /// Drops per second.
    #[schemars(range(min = 0.0, max = 1e6))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 5000], "x-group" = "Source"))]
    pub rate: f64,
    /// Frame it starts.
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 240], "x-group" = "Source"))]
    pub frame: f64,
    /// Frame it stops.
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1000], "x-group" = "Source"))]
    pub until: f64,
    /// Direction it falls.
    #[schemars(extend("x-change" = "live", "x-slider" = [-1, 1], "x-group" = "Source"))]
    pub direction: [f64; 3],
    /// Speed [m/s].
    #[schemars(range(min = 0.0, max = 100.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 10], "x-group" = "Source"))]
    pub speed: f64,
    /// Least and largest mass [kg].
    #[schemars(extend("x-change" = "live", "x-slider" = [1e-07, 0.0001], "x-log" = true, "x-group" = "Source"))]
    pub mass: [f64; 2],
    /// Box it falls from: lowest and highest corner [m]; by default, above the surfaces.
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-10, 10], "x-group" = "Source"))]
    pub from: Option<[f64; 6]>,
}

impl Default for RainSource {
    fn default() -> Self {
        Self {
            rate: 50.0,
            frame: 0.0,
            until: 1e9,
            direction: [0.0, -1.0, 0.0],
            speed: 5.0,
            mass: [4e-6, 3e-5],
            from: None,
        }
    }
}

/// Drops that appear and grow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CondensationSource {
    /// Where; nothing given: everywhere.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Source"))]
    pub select: Selection,
    /// Number of places where drops form.
    #[schemars(range(min = 1, max = 10_000_000))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [1, 10000], "x-log" = true, "x-group" = "Source"))]
    pub count: u64,
    /// Mass at which they appear [kg].
    #[schemars(range(min = 1e-12, max = 10.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [1e-08, 1e-05], "x-log" = true, "x-group" = "Source"))]
    pub mass: f64,
    /// Growth of each [kg/s]. The growth of a drop that has left its place goes on with it.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 2e-05], "x-group" = "Source"))]
    pub growth: f64,
    /// Frame it starts.
    #[schemars(extend("x-change" = "restart", "x-slider" = [0, 240], "x-group" = "Source"))]
    pub frame: f64,
    /// Frames over which the places come up.
    #[schemars(range(min = 0.0))]
    #[schemars(extend("x-change" = "restart", "x-slider" = [0, 240], "x-group" = "Source"))]
    pub over: f64,
    /// Frame at which growth stops.
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 1000], "x-group" = "Source"))]
    pub until: f64,
    /// Whether they form also where another closed mesh lies over the place at the start: within a sleeve,
    /// below a coat.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Source"))]
    pub covered: bool,
}

impl Default for CondensationSource {
    fn default() -> Self {
        Self {
            select: Selection::default(),
            count: 200,
            mass: 2e-7,
            growth: 4e-6,
            frame: 0.0,
            over: 60.0,
            until: 1e9,
            covered: false,
        }
    }
}

/// Drops from a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListSource {
    /// Rows: frame, x, y, z [m], mass [kg], and optionally vx, vy, vz [m/s].
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Source"))]
    pub rows: Vec<Vec<f64>>,
    /// File of such rows beside the scene file (CSV; a first line of words is skipped), after the rows given
    /// here; or a file of points (.abc, .usd), each of which becomes a drop where it first appears, as heavy as
    /// water of its width.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Source"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_file: Option<String>,
    /// Farthest a place may be from the surface to be taken to it [m].
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 0.2], "x-group" = "Source"))]
    pub snap: f64,
}

impl SourceParams {
    pub(in crate::layers::drops) fn validate(&self, path: &str) -> Result<(), LayerError> {
        let bad = |problem: String| Err(LayerError::parameter(path, problem));
        let masses: Vec<f64> = match self {
            Self::Single(s) => vec![s.mass],
            Self::Region(s) => s.mass.to_vec(),
            Self::Rain(s) => s.mass.to_vec(),
            Self::Condensation(s) => vec![s.mass],
            Self::List(s) => {
                if let Some(file) = &s.rows_file {
                    return bad(format!(
                        "file {file:?} has not been read: files work in scene files"
                    ));
                }
                if let Some(row) = s.rows.iter().position(|r| r.len() != 5 && r.len() != 8) {
                    return bad(format!("row {row} must have 5 or 8 numbers"));
                }
                if s.rows.iter().flatten().any(|v| !v.is_finite()) {
                    return bad("every number must be finite".to_owned());
                }
                s.rows.iter().map(|r| r[4]).collect()
            }
        };
        match masses.iter().find(|m| !(m.is_finite() && **m > 0.0)) {
            Some(mass) => bad(format!("a mass of {mass} kg: masses must be above 0")),
            None => Ok(()),
        }
    }
}

impl SourceParams {
    /// How many drops it can make at most, roughly.
    pub(in crate::layers::drops) fn expected_count(&self) -> f64 {
        match self {
            Self::Single(s) => s.count as f64,
            Self::Region(s) => s.count as f64,
            Self::Condensation(s) => s.count as f64,
            // Ten seconds of rain: most of it has fallen off by then.
            Self::Rain(s) => s.rate * 10.0,
            Self::List(s) => s.rows.len() as f64,
        }
    }
}
