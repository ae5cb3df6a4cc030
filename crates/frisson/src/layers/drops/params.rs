//! What the artist sets.

mod air;
mod ground;
mod liquid;
mod shape;
mod source;
mod trail;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pool::PoolParams;
use crate::stage::{Animated, LayerError};

pub use air::{AirParams, SplashParams};
pub use ground::{AxisParams, GroundParams};
pub use liquid::{DepositParams, LiquidParams, MergingParams};
pub use shape::{Detail, ShapeParams};
pub use source::{
    CondensationSource, ListSource, RainSource, RegionSource, SingleSource, Solve, SourceParams,
};
pub use trail::{BeadParams, SinkParams, TrailParams};

/// One name, or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Names {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Default for Names {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Names {
    /// The names.
    #[must_use]
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }
}

/// Liquid that runs on surfaces, merges, leaves trails and falls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropsParams {
    /// Name of the layer, unique in the scene.
    #[schemars(extend("x-change" = "restart", "x-group" = "Drops"))]
    pub name: String,
    /// Meshes or actors that drops run on; one name or a list.
    #[schemars(extend("x-change" = "restart", "x-group" = "Drops"))]
    pub on: Names,
    /// A finer mesh to show the drops on; they run on `on` and are carried to the nearest place of
    /// this one.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Drops"))]
    pub shown_on: Option<String>,
    /// The liquid.
    #[serde(default)]
    #[schemars(extend("x-group" = "Liquid"))]
    pub liquid: LiquidParams,
    /// Where drops come from.
    #[serde(default)]
    #[schemars(extend("x-group" = "Sources"))]
    pub sources: Vec<SourceParams>,
    /// What the surface is made of; later entries override earlier ones where their selection holds.
    #[serde(default)]
    #[schemars(extend("x-group" = "Ground"))]
    pub ground: Vec<GroundParams>,
    /// Drops that touch become one.
    #[serde(default)]
    #[schemars(extend("x-group" = "Merging"))]
    pub merging: MergingParams,
    /// What a running drop leaves behind.
    #[serde(default)]
    #[schemars(extend("x-group" = "Trails"))]
    pub trails: TrailParams,
    /// Drying, soaking in, vanishing.
    #[serde(default)]
    #[schemars(extend("x-group" = "Drying"))]
    pub sinks: SinkParams,
    /// Substance carried, laid down and dissolved again.
    #[serde(default)]
    #[schemars(extend("x-group" = "Deposit"))]
    pub deposit: DepositParams,
    /// Letting go, falling, landing.
    #[serde(default)]
    #[schemars(extend("x-group" = "Air"))]
    pub air: AirParams,
    /// Ground where what lands gathers, levels and spills over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-group" = "Pools"))]
    pub pools: Vec<PoolParams>,
    /// What drops look like.
    #[serde(default)]
    #[schemars(extend("x-group" = "Look"))]
    pub shape: ShapeParams,
    /// Curves that pull drops along.
    #[serde(default)]
    #[schemars(extend("x-group" = "Guides"))]
    pub guides: Vec<GuideParams>,
    /// Writes the tracks as closed-form pieces (`<name>.tracks`): points with velocity, acceleration,
    /// drag, start and duration, which give the place at any time between frames.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Drops"))]
    pub tracks: bool,
    /// Seed of everything random.
    #[serde(default)]
    #[schemars(extend("x-change" = "restart", "x-group" = "Drops"))]
    pub seed: u64,
    /// Most drops at any time; sources pause above it.
    #[schemars(range(min = 1, max = 10_000_000))]
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-slider" = [1, 100000], "x-log" = true, "x-group" = "Drops"))]
    pub max_drops: Option<u64>,
}

/// A curve that pulls drops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GuideParams {
    /// Points of the curve, in its direction [m].
    #[schemars(extend("x-change" = "live", "x-slider" = [-10, 10], "x-group" = "Guides"))]
    pub points: Vec<[f64; 3]>,
    /// Acceleration towards the curve at `range` and beyond [m/s²].
    #[schemars(range(min = 0.0, max = 1000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0, 50], "x-group" = "Guides"))]
    pub pull: f64,
    /// Acceleration along it [m/s²].
    #[schemars(range(min = -1000.0, max = 1000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [-20, 20], "x-group" = "Guides"))]
    pub along: f64,
    /// Distance at which the pull is full [m].
    #[schemars(range(min = 1e-6, max = 1000.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.001, 1], "x-log" = true, "x-group" = "Guides"))]
    pub range: f64,
    /// Index of the only source whose drops follow it.
    #[schemars(extend("x-change" = "live", "x-group" = "Guides"))]
    pub source: Option<u32>,
}

impl DropsParams {
    /// Checks that fields fit together.
    pub fn validate(&self) -> Result<(), LayerError> {
        if self.on.all().is_empty() {
            return Err(LayerError::parameter("on", "name at least one mesh for drops to run on"));
        }
        if self.liquid.viscosity.is_some() && self.liquid.viscosity_pa_s.is_some() {
            return Err(LayerError::parameter(
                "liquid.viscosity_pa_s",
                "give either this [Pa s] or `viscosity` [kg/s], not both",
            ));
        }
        for (i, source) in self.sources.iter().enumerate() {
            source.validate(&format!("sources[{i}]"))?;
        }
        for (i, pool) in self.pools.iter().enumerate() {
            pool.validate(&format!("pools[{i}]"))?;
        }
        let bad = |e: &Animated| !e.is_well_formed() || e.values().any(|v| v < 0.0);
        if self.sinks.evaporation.as_ref().is_some_and(bad) {
            return Err(LayerError::parameter(
                "sinks.evaporation",
                "must be finite, not negative, with ascending frames",
            ));
        }
        for (i, ground) in self.ground.iter().enumerate() {
            let finite = ground.roughness.iter().all(|r| r.is_finite() && *r >= 0.0)
                && ground.adhesion.is_none_or(|a| a >= 0.0)
                && ground.film.is_none_or(|f| f >= 0.0);
            if !finite {
                return Err(LayerError::parameter(
                    format!("ground[{i}]"),
                    "roughness, adhesion and film cannot be negative",
                ));
            }
        }
        for (i, guide) in self.guides.iter().enumerate() {
            if guide.points.len() < 2 || guide.range <= 0.0 {
                return Err(LayerError::parameter(
                    format!("guides[{i}]"),
                    "give at least two points and a positive range",
                ));
            }
        }
        Ok(())
    }
}
