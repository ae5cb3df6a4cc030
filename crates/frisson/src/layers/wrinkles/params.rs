//! What the artist sets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::{Anchor, Animated, LayerError, Selection};

/// Skin and tight clothes that fold where the animation compresses them.
///
/// A tool is a line drawn on the mesh. When its ends come nearer than its full length, the surface
/// around it rises in a series of folds across the line, just high enough to keep the length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrinklesParams {
    /// Name of the layer, unique in the scene.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Layer"))]
    pub name: String,
    /// Mesh that wrinkles: an actor with one mesh, or `actor/mesh`.
    #[schemars(extend("x-change" = "restart", "x-group" = "Layer"))]
    pub on: String,
    /// The lines drawn on it.
    #[schemars(extend("x-group" = "Tools"))]
    pub tools: Vec<WrinkleTool>,
    /// Finest refinement: each level cuts a triangle in four [-].
    #[serde(default = "default_max_level")]
    #[schemars(
        range(min = 0, max = 5),
        extend("x-change" = "rebuild", "x-slider" = [0, 4], "x-group" = "Mesh")
    )]
    pub max_level: u8,
    /// Whether the refined triangles stay the same over the shot, or follow the active tools.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Mesh"))]
    pub emit: Emit,
    /// Keep folds from passing through the skin that faces them in deep creases.
    #[serde(default = "yes")]
    #[schemars(extend("x-change" = "live", "x-group" = "Mesh"))]
    pub guard: bool,
    /// Also write `compression`, `wrinkle_region`, `wrinkle_height` and `wrinkle_direction` as vertex
    /// attributes; normal and height maps are made from them.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Mesh"))]
    pub attributes: bool,
}

/// One line drawn on the mesh, and the folds across it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrinkleTool {
    /// Name for messages.
    #[schemars(extend("x-change" = "live", "x-group" = "Line"))]
    pub name: String,
    /// First end: a vertex index, or a place near one in the reference pose [m].
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Line"))]
    pub a: Anchor,
    /// Second end.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Line"))]
    pub b: Anchor,
    /// Points in between, for a line that follows the surface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Line"))]
    pub through: Vec<Anchor>,
    /// Half-width of the folded region, across the line [m].
    #[schemars(
        range(min = 1e-6),
        extend("x-change" = "rebuild", "x-slider" = [0.005, 0.5], "x-log" = true, "x-group" = "Line")
    )]
    pub width: f32,
    /// Number of folds of the coarsest level [-].
    #[serde(default = "default_folds")]
    #[schemars(
        range(min = 1, max = 500),
        extend("x-change" = "rebuild", "x-slider" = [1, 20], "x-group" = "Folds")
    )]
    pub folds: u32,
    /// Flat segments between two folds [-].
    #[serde(default = "one")]
    #[schemars(
        range(max = 100),
        extend("x-change" = "rebuild", "x-slider" = [0, 4], "x-group" = "Folds")
    )]
    pub spacing: u32,
    /// Control points on each crest [-]: 1 is sharp, more is flat-topped.
    #[serde(default = "one")]
    #[schemars(
        range(min = 1, max = 100),
        extend("x-change" = "rebuild", "x-slider" = [1, 4], "x-group" = "Folds")
    )]
    pub crest: u32,
    /// Which folds grow first.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Folds"))]
    pub strategy: Strategy,
    /// Levels of detail: each has twice as many folds as the one before. One level by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Folds"))]
    pub levels: Vec<WrinkleLevel>,
    /// Height at which a fold hands over to the next [m]. Default: one segment of the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        range(min = 0.0),
        extend("x-change" = "rebuild", "x-slider" = [0.0, 0.05], "x-group" = "Folds")
    )]
    pub max_height: Option<f32>,
    /// Full length of the line, at which folds just vanish.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Line"))]
    pub rest: RestLength,
    /// Shape of a fold's flanks.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Folds"))]
    pub profile: Profile,
    /// How folds fade towards the sides of the region.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Folds"))]
    pub attenuation: SideAttenuation,
    /// Where folds go.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Folds"))]
    pub direction: Direction,
    /// Irregularity, so that folds don't look machined.
    #[serde(default)]
    #[schemars(extend("x-group" = "Irregularity"))]
    pub jitter: Jitter,
    /// Painted mask that multiplies the height.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Line"))]
    pub mask: Option<Selection>,
    /// Find the region anew every frame instead of once. Vertices may pop in and out.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Line"))]
    pub live: bool,
    /// Strength [-]; below 1 the length is no longer kept. May be key-framed.
    #[serde(default = "whole")]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 1.5], "x-group" = "Folds"))]
    pub amount: Animated,
}

/// One level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrinkleLevel {
    /// Share of the missing length that this level takes [-]; shares sum to 1.
    #[schemars(
        range(min = 0.0, max = 1.0),
        extend("x-change" = "rebuild", "x-slider" = [0.0, 1.0], "x-group" = "Folds")
    )]
    pub share: f32,
    /// Height at which a fold hands over to the next [m]. Default: one segment of the level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        range(min = 0.0),
        extend("x-change" = "rebuild", "x-slider" = [0.0, 0.05], "x-group" = "Folds")
    )]
    pub max_height: Option<f32>,
}

/// Which folds grow first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// From the first end.
    FromA,
    /// From both ends to the middle.
    FromBoth,
    /// All at once.
    #[default]
    Together,
}

/// Full length of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RestLength {
    /// The longest it gets over the shot. Where nobody knows what comes (motion that is pushed while it
    /// happens, a mesh that an earlier layer makes or refines), the longest it has been so far.
    #[default]
    Longest,
    /// As it is in the bind pose.
    Bind,
    /// As it is at a frame.
    Frame(i64),
    /// A length [m]; longer than the line ever is, it forces folds.
    Length(f32),
}

/// Shape of a fold's flanks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Rounded, flat at the control points.
    #[default]
    Smooth,
    /// Straight lines.
    Linear,
}

/// How folds fade towards the sides of the region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideAttenuation {
    /// Not at all.
    None,
    /// `1 - |z|`.
    Linear,
    /// Smooth bell.
    #[default]
    Bell,
}

/// Where folds go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Out of the surface.
    #[default]
    Out,
    /// Into it.
    In,
    /// Crests and valleys in turn.
    Both,
}

/// Irregularity of folds, from a seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Jitter {
    /// Of the spacing, as a fraction of a segment [-].
    #[schemars(
        range(min = 0.0, max = 0.9),
        extend("x-change" = "rebuild", "x-slider" = [0.0, 0.8], "x-group" = "Irregularity")
    )]
    pub spacing: f32,
    /// Of the heights [-].
    #[schemars(
        range(min = 0.0, max = 0.9),
        extend("x-change" = "rebuild", "x-slider" = [0.0, 0.8], "x-group" = "Irregularity")
    )]
    pub height: f32,
    /// Of the folds' direction across the line [degrees].
    #[schemars(
        range(min = 0.0, max = 60.0),
        extend("x-change" = "rebuild", "x-slider" = [0.0, 30.0], "x-group" = "Irregularity")
    )]
    pub angle_deg: f32,
    /// Seed.
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0, 100], "x-group" = "Irregularity"))]
    pub seed: u64,
}

/// Whether the refined triangles stay the same over the shot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Emit {
    /// Constant topology: all regions refined in every frame. For formats and engines that need it.
    #[default]
    Static,
    /// Only regions with folds are refined: fewer triangles, changing topology.
    Adaptive,
}

fn default_max_level() -> u8 {
    3
}
fn default_folds() -> u32 {
    5
}
fn one() -> u32 {
    1
}
fn yes() -> bool {
    true
}
fn whole() -> Animated {
    1.0.into()
}

impl WrinkleTool {
    /// A tool between two vertices with default settings.
    #[must_use]
    pub fn new(name: &str, a: u32, b: u32, width: f32) -> Self {
        Self {
            name: name.to_owned(),
            a: Anchor::Vertex(a),
            b: Anchor::Vertex(b),
            through: Vec::new(),
            width,
            folds: default_folds(),
            spacing: 1,
            crest: 1,
            strategy: Strategy::default(),
            levels: Vec::new(),
            max_height: None,
            rest: RestLength::default(),
            profile: Profile::default(),
            attenuation: SideAttenuation::default(),
            direction: Direction::default(),
            jitter: Jitter::default(),
            mask: None,
            live: false,
            amount: whole(),
        }
    }

    /// Levels of detail: those given, or one that takes everything.
    #[must_use]
    pub fn detail_levels(&self) -> Vec<WrinkleLevel> {
        if self.levels.is_empty() {
            vec![WrinkleLevel { share: 1.0, max_height: self.max_height }]
        } else {
            self.levels.clone()
        }
    }

    fn validate(&self, index: usize) -> Result<(), LayerError> {
        let bad = |key: &str, problem: String| {
            Err(LayerError::parameter(
                format!("tools[{index}].{key}"),
                format!("tool {:?}: {problem}", self.name),
            ))
        };
        if !self.width.is_finite() || self.width <= 0.0 {
            return bad("width", "must be greater than 0".to_owned());
        }
        if self.folds == 0 {
            return bad("folds", "there must be at least one fold".to_owned());
        }
        if self.crest == 0 {
            return bad("crest", "a crest has at least one control point".to_owned());
        }
        let shares: f32 = self.detail_levels().iter().map(|l| l.share).sum();
        // To a thousandth: three thirds are written as 0.333.
        if (shares - 1.0).abs() > 1e-3 {
            return bad("levels", format!("shares sum to {shares}, they must sum to 1"));
        }
        let heights = self.detail_levels();
        if heights.iter().filter_map(|l| l.max_height).any(|h| !h.is_finite() || h < 0.0) {
            return bad("max_height", "must be 0 or more".to_owned());
        }
        if matches!(self.rest, RestLength::Length(l) if !l.is_finite() || l <= 0.0) {
            return bad("rest", "the length must be greater than 0".to_owned());
        }
        if !self.amount.is_well_formed() {
            return bad("amount", "keys must be finite and ascending in frame".to_owned());
        }
        Ok(())
    }
}

impl WrinklesParams {
    /// Checks what a range cannot say.
    pub fn validate(&self) -> Result<(), LayerError> {
        if self.tools.is_empty() {
            return Err(LayerError::parameter("tools", "draw at least one line"));
        }
        self.tools.iter().enumerate().try_for_each(|(i, t)| t.validate(i))
    }
}

impl SideAttenuation {
    /// Factor at `z` from -1 to 1 across the region.
    #[must_use]
    pub fn at(self, z: f32) -> f32 {
        let y = z * z;
        match self {
            _ if y >= 1.0 => 0.0,
            Self::None => 1.0,
            Self::Linear => 1.0 - z.abs(),
            Self::Bell => crate::math::bell::bell(y),
        }
    }
}
