//! What is inside an object: primitives, or dough.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{KEYS, one, validate_own};
use crate::stage::{Animated, LayerError};

/// One primitive. Give exactly one of `point`, `segment`, `triangle`, `polyline`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PrimitiveParams {
    /// Name, for `blend`.
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub name: String,
    /// A point [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub point: Option<[f64; 3]>,
    /// Two ends [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub segment: Option<[[f64; 3]; 2]>,
    /// Three corners [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub triangle: Option<[[f64; 3]; 3]>,
    /// 2 to 32 points [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub polyline: Option<Vec<[f64; 3]>>,
    /// Own thickness [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6), extend("x-change" = "restart", "x-slider" = [0.005, 0.3], "x-log" = true, "x-group" = "Coat"))]
    pub thickness: Option<f64>,
    /// Own stiffness [N/m³].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-3), extend("x-change" = "rebuild", "x-slider" = [10000.0, 10000000.0], "x-log" = true, "x-group" = "Coat"))]
    pub stiffness: Option<f64>,
    /// Texture coordinates at its two ends [-]; vertices get those of the primitives around them,
    /// blended as colours are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Look"))]
    pub uv: Option<[[f32; 2]; 2]>,
    /// Own colour, linear RGB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Look"))]
    pub color: Option<[f32; 3]>,
    /// Own volume factor [-]; may be key-framed: a muscle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 100.0), extend("x-change" = "live", "x-slider" = [0.5, 2.0], "x-group" = "Volume"))]
    pub volume: Option<Animated>,
    /// Key-framed displacement, x [m].
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-1.0, 1.0], "x-group" = "Motion"))]
    pub move_x: Animated,
    /// Key-framed displacement, y [m].
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-1.0, 1.0], "x-group" = "Motion"))]
    pub move_y: Animated,
    /// Key-framed displacement, z [m].
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-1.0, 1.0], "x-group" = "Motion"))]
    pub move_z: Animated,
}

/// Particles that repel when close, rub, and are held together by bonds that flow and tear: dough,
/// clay, jelly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DoughParams {
    /// A box to fill: centre and half sizes [m].
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub block: Option<[[f64; 3]; 2]>,
    /// A ball to fill: centre [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub ball: Option<[f64; 3]>,
    /// Radius of the ball [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6), extend("x-change" = "restart", "x-slider" = [0.02, 0.5], "x-log" = true, "x-group" = "Shape"))]
    pub radius: Option<f64>,
    /// Particles one by one [m].
    #[schemars(extend("x-change" = "restart", "x-group" = "Shape"))]
    pub points: Vec<[f64; 3]>,
    /// Rest distance between particles [m]; by default 1.3 thicknesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6), extend("x-change" = "restart", "x-slider" = [0.005, 0.2], "x-log" = true, "x-group" = "Shape"))]
    pub spacing: Option<f64>,
    /// Strength of the forces between particles, as a factor of the coat's stiffness [-]; may be
    /// key-framed: heat softens.
    #[schemars(range(min = 0.0, max = 1000.0), extend("x-change" = "live", "x-slider" = [0.05, 5.0], "x-log" = true, "x-group" = "Substance"))]
    pub firmness: Animated,
    /// Greatest pull of a bond between particles, as a share of the repulsion at half the rest
    /// distance [-].
    #[schemars(range(min = 0.0, max = 10.0), extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Substance"))]
    pub cohesion: f64,
    /// Strain at which a bond gives way and flows [-]: small for clay, large for jelly.
    #[serde(rename = "yield")]
    #[schemars(range(min = 0.005, max = 10.0), extend("x-change" = "live", "x-slider" = [0.01, 1.0], "x-log" = true, "x-group" = "Substance"))]
    pub yield_strain: f64,
    /// Distance at which a bond is torn, in rest distances [-].
    #[schemars(range(min = 1.05, max = 4.0), extend("x-change" = "live", "x-slider" = [1.1, 3.0], "x-group" = "Substance"))]
    pub range: f64,
    /// Viscosity as a share of the critical damping of a pair [-]; may be key-framed.
    #[schemars(range(min = 0.0, max = 20.0), extend("x-change" = "live", "x-slider" = [0.0, 3.0], "x-group" = "Substance"))]
    pub viscosity: Animated,
}

impl PrimitiveParams {
    /// Its points, if exactly one kind is given.
    #[must_use]
    pub fn points(&self) -> Option<Vec<[f64; 3]>> {
        let kinds = [
            self.point.map(|p| vec![p]),
            self.segment.map(|s| s.to_vec()),
            self.triangle.map(|t| t.to_vec()),
            self.polyline.clone(),
        ];
        let mut given = kinds.into_iter().flatten();
        let first = given.next()?;
        given.next().is_none().then_some(first)
    }

    pub(super) fn validate(&self, key: &str) -> Result<(), LayerError> {
        let Some(points) = self.points() else {
            let problem = "give exactly one of point, segment, triangle and polyline";
            return Err(LayerError::parameter(format!("{key}.point"), problem));
        };
        if self.polyline.is_some() && !(2..=32).contains(&points.len()) {
            return Err(LayerError::parameter(format!("{key}.polyline"), "needs 2 to 32 points"));
        }
        if points.iter().flatten().any(|v| !v.is_finite()) {
            return Err(LayerError::parameter(format!("{key}.point"), "must be finite"));
        }
        if [&self.move_x, &self.move_y, &self.move_z].iter().any(|m| !m.is_well_formed()) {
            return Err(LayerError::parameter(format!("{key}.move_x"), KEYS));
        }
        validate_own(key, self.thickness, self.stiffness, self.volume.as_ref())
    }
}

impl Default for DoughParams {
    fn default() -> Self {
        Self {
            block: None,
            ball: None,
            radius: None,
            points: Vec::new(),
            spacing: None,
            firmness: one(),
            cohesion: 0.3,
            yield_strain: 0.08,
            range: 1.5,
            viscosity: 0.6.into(),
        }
    }
}

impl DoughParams {
    pub(super) fn validate(&self, key: &str) -> Result<(), LayerError> {
        let bad = |field: &str, problem: &str| {
            Err(LayerError::parameter(format!("{key}.{field}"), problem))
        };
        let given = [self.block.is_some(), self.ball.is_some(), !self.points.is_empty()];
        if given.iter().filter(|g| **g).count() != 1 {
            return bad("box", "give exactly one of box, ball and points");
        }
        if self.ball.is_some() && !self.radius.is_some_and(|r| r.is_finite() && r > 0.0) {
            return bad("radius", "a ball needs a radius greater than 0");
        }
        if self.block.is_some_and(|b| b[1].iter().any(|h| !h.is_finite() || *h < 0.0)) {
            return bad("box", "half sizes must be 0 or more");
        }
        let all = self.points.iter().chain(self.block.iter().flatten()).chain(&self.ball);
        if all.flatten().any(|v| !v.is_finite()) {
            return bad("points", "must be finite");
        }
        if self.spacing.is_some_and(|s| !s.is_finite() || s <= 0.0) {
            return bad("spacing", "must be greater than 0");
        }
        if !self.firmness.is_well_formed() || self.firmness.values().any(|v| v < 0.0) {
            return bad("firmness", "must be 0 or more, with keys that ascend in frame");
        }
        if !self.viscosity.is_well_formed() || self.viscosity.values().any(|v| v < 0.0) {
            return bad("viscosity", "must be 0 or more, with keys that ascend in frame");
        }
        let sound = |v: f64, least: f64| v.is_finite() && v >= least;
        if !sound(self.yield_strain, 0.005) {
            return bad("yield", "must be 0.005 or more");
        }
        if !sound(self.range, 1.05) || !sound(self.cohesion, 0.0) {
            return bad("range", "must be greater than 1, and cohesion 0 or more");
        }
        Ok(())
    }
}
