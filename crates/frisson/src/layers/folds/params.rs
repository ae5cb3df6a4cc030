//! What the artist sets.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::DiamondPattern;
use crate::stage::{Anchor, Animated, LayerError, Ridge, RidgeCourse, Selection};
use crate::tolerances::folds as tolerances;

/// Drawn folds laid over any moving mesh: simulated cloth, a skinned character, an imported cache.
///
/// A fold is a curve through points of the mesh. It flattens where the mesh is stretched across it
/// and deepens where the mesh is compressed, at almost no cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FoldsParams {
    /// Name of the layer, unique in the scene.
    #[schemars(extend("x-change" = "live", "x-group" = "Layer"))]
    pub name: String,
    /// Mesh that carries the folds: an actor with one mesh, or `actor/mesh`.
    #[schemars(extend("x-change" = "restart", "x-group" = "Layer"))]
    pub on: String,
    /// The folds drawn on it.
    #[serde(default)]
    #[schemars(extend("x-group" = "Folds"))]
    pub folds: Vec<Fold>,
    /// Ready-made diamond buckling on tube-like parts (sleeves, trouser legs).
    #[serde(default)]
    #[schemars(extend("x-group" = "Buckling"))]
    pub buckling: Vec<Buckling>,
    /// Exponent of the mean where folds cross [-]: 0 is the plain mean, which jumps at a fold's
    /// border; 1 weighs each fold by its own height.
    #[serde(default = "one")]
    #[schemars(range(min = 0.0, max = 8.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 4.0], "x-group" = "Crossings"))]
    pub blend: f32,
    /// Keep folds from passing through each other where the mesh faces itself.
    #[serde(default = "yes")]
    #[schemars(extend("x-change" = "live", "x-group" = "Contact"))]
    pub guard: bool,
    /// Meshes of the frame that folds must stay outside of (the body under a sleeve).
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Contact"))]
    pub collide: Vec<String>,
    /// Gap kept to those meshes [m].
    #[serde(default = "default_gap")]
    #[schemars(range(min = 0.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 0.02], "x-group" = "Contact"))]
    pub gap: f32,
    /// Share of the folds' own bending stiffness that a `cloth` layer before this one, on the same mesh,
    /// gets along them [-]: a fold as drawn makes the cloth as hard to bend along it as its profile does
    /// corrugated iron. 0 lets the folds lie on the cloth without being felt. Creases, which have no
    /// height, are not felt.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 1.0], "x-group" = "Cloth below"))]
    pub feedback: f64,
    /// Also write `fold_height` and `fold_direction` as vertex attributes; normal and height maps are
    /// made from them.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Output"))]
    pub attributes: bool,
}

/// One fold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fold {
    /// Name for messages.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Fold"))]
    pub name: String,
    /// Points of the mesh that the curve passes through: vertices, or positions in the source pose.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Shape"))]
    pub points: Vec<Anchor>,
    /// Height of the crest [m]; negative for a groove.
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-0.1, 0.1], "x-group" = "Shape"))]
    pub amplitude: f32,
    /// Half-width of the fold [m].
    #[schemars(range(min = 1e-6))]
    #[schemars(extend(
        "x-change" = "rebuild",
        "x-slider" = [0.005, 0.5],
        "x-log" = true,
        "x-group" = "Shape"
    ))]
    pub width: f32,
    /// Refinement under the fold: each level cuts a triangle in four [-].
    #[serde(default = "default_level")]
    #[schemars(range(min = 0, max = 5))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0, 4], "x-group" = "Shape"))]
    pub subdivision: u8,
    /// Shape of the cross-section.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Shape"))]
    pub attenuation: FoldAttenuation,
    /// How fast the fold flattens when the mesh is stretched [-].
    #[serde(default = "one_f64")]
    #[schemars(range(min = 0.0, max = 100.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 4.0], "x-group" = "Stretch"))]
    pub k_flat: f64,
    /// How fast it deepens when the mesh is compressed [-].
    #[serde(default = "one_f64")]
    #[schemars(range(min = 0.0, max = 100.0))]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 4.0], "x-group" = "Stretch"))]
    pub k_rise: f64,
    /// How the height follows the stretch.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Stretch"))]
    pub factor: FactorLaw,
    /// Keep the length of every cross-section instead of using `k_flat` and `k_rise`.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Stretch"))]
    pub conserve: Conserve,
    /// Where the drawn fold's own stretch is measured.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Stretch"))]
    pub r0_on: RestSurface,
    /// Share of the fold's height at which the mesh's bending counts as stretch [-]: a fold over a
    /// rounded edge opens. 0 turns it off.
    #[serde(default = "half")]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 1.0], "x-group" = "Stretch"))]
    pub curvature: f32,
    /// A fine crease: only the shading normals fold, the surface stays.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Shape"))]
    pub crease: bool,
    /// A starting fold that ignores stretch: it keeps its drawn height.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Stretch"))]
    pub stiff: bool,
    /// Strength [-]; key-frame it to fade a fold in or out.
    #[serde(default = "whole")]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Strength"))]
    pub amount: Animated,
    /// Painted mask that multiplies the height.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Strength"))]
    pub mask: Option<Selection>,
}

/// Diamond buckling of a tube that is pressed along its axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Buckling {
    /// Name for messages; its folds are numbered after it.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Buckling"))]
    pub name: String,
    /// One end of the tube's axis, source pose [m].
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Axis"))]
    pub from: [f32; 3],
    /// The other end [m].
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Axis"))]
    pub to: [f32; 3],
    /// Diamonds along the axis [-].
    #[serde(default = "default_rows")]
    #[schemars(range(min = 1, max = 50))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [1, 12], "x-group" = "Pattern"))]
    pub rows: u32,
    /// Diamonds around the tube [-].
    #[serde(default = "default_columns")]
    #[schemars(range(min = 2, max = 50))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [2, 12], "x-group" = "Pattern"))]
    pub columns: u32,
    /// How far the corners of the diamonds are out of place [-]: 0 looks machined.
    #[serde(default = "default_jitter")]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 1.0], "x-group" = "Pattern"))]
    pub jitter: f32,
    /// Seed of that.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0, 100], "x-group" = "Pattern"))]
    pub seed: u64,
    /// Settings of every ridge; its name and points are not used.
    #[schemars(extend("x-group" = "Pattern"))]
    pub fold: BucklingFold,
}

impl Buckling {
    /// Where its ridges run, on a mesh `scale` times as large as the source.
    #[must_use]
    pub fn pattern(&self, scale: f32) -> DiamondPattern {
        let axis = [self.from, self.to].map(|p| scale * Vec3::from_array(p));
        DiamondPattern {
            axis,
            rows: self.rows,
            columns: self.columns,
            jitter: self.jitter,
            seed: self.seed,
        }
    }
}

/// What all ridges of a buckling pattern share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BucklingFold {
    /// Height of the ridges [m].
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [-0.05, 0.05], "x-group" = "Shape"))]
    pub amplitude: f32,
    /// Half-width of the ridges [m]: where it reaches the middle of a diamond, its sides are facets.
    #[schemars(range(min = 1e-6))]
    #[schemars(extend(
        "x-change" = "rebuild",
        "x-slider" = [0.005, 0.2],
        "x-log" = true,
        "x-group" = "Shape"
    ))]
    pub width: f32,
    /// Shape of the cross-section.
    #[serde(default = "sharp")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Shape"))]
    pub attenuation: FoldAttenuation,
    /// Refinement under the ridges [-].
    #[serde(default = "default_level")]
    #[schemars(range(min = 0, max = 5))]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0, 4], "x-group" = "Shape"))]
    pub subdivision: u8,
    /// What the height follows. Keeping the length of every cross-section, ridges rise at once when the tube
    /// is compressed, then more and more slowly, and vanish when it is pulled by what they take up.
    #[serde(default = "by_length")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Stretch"))]
    pub conserve: Conserve,
    /// How fast ridges flatten when the tube is stretched [-], where nothing is conserved.
    #[serde(default = "one_f64")]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 4.0], "x-group" = "Stretch"))]
    pub k_flat: f64,
    /// How fast they rise when it is compressed [-], where nothing is conserved.
    #[serde(default = "one_f64")]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0.0, 4.0], "x-group" = "Stretch"))]
    pub k_rise: f64,
}

/// Shape of the cross-section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoldAttenuation {
    /// `(x² - 1)²`.
    #[default]
    Implicit,
    /// `1 + (-4x⁶ + 17x⁴ - 22x²) / 9`.
    Bell,
    /// A crease with hollow sides, `(1 - |x|)^(3/2)` with its crest a little rounded: buckled cloth.
    Sharp,
}

/// How the height follows the stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactorLaw {
    /// One factor per vertex by least squares over its edges: no singularity on the crest.
    #[default]
    Vertex,
    /// One factor per edge, then the mean over a vertex's edges (the source's law).
    Mean,
}

/// What is conserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Conserve {
    /// Nothing: `k_flat` and `k_rise` decide.
    #[default]
    Nothing,
    /// The length of every cross-section.
    Length,
}

/// Where the drawn fold's own stretch is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RestSurface {
    /// On the mesh as modelled.
    #[default]
    Base,
    /// On the developed (flat) surface.
    Flat,
}

fn one() -> f32 {
    1.0
}
fn half() -> f32 {
    0.5
}
fn one_f64() -> f64 {
    1.0
}
fn yes() -> bool {
    true
}
fn whole() -> Animated {
    1.0.into()
}
fn default_gap() -> f32 {
    0.002
}
fn default_level() -> u8 {
    2
}
fn default_rows() -> u32 {
    3
}
fn default_jitter() -> f32 {
    0.25
}
fn sharp() -> FoldAttenuation {
    FoldAttenuation::Sharp
}
fn by_length() -> Conserve {
    Conserve::Length
}
fn default_columns() -> u32 {
    5
}

impl Fold {
    /// A fold with default settings.
    #[must_use]
    pub fn new(name: &str, points: Vec<Anchor>, amplitude: f32, width: f32) -> Self {
        Self {
            name: name.to_owned(),
            points,
            amplitude,
            width,
            subdivision: default_level(),
            attenuation: FoldAttenuation::default(),
            k_flat: 1.0,
            k_rise: 1.0,
            factor: FactorLaw::default(),
            conserve: Conserve::default(),
            r0_on: RestSurface::default(),
            curvature: half(),
            crease: false,
            stiff: false,
            amount: whole(),
            mask: None,
        }
    }

    fn validate(&self, index: usize) -> Result<(), LayerError> {
        let bad = |key: &str, problem: &str| {
            let parameter = format!("folds[{index}].{key}");
            Err(LayerError::parameter(parameter, format!("fold {:?}: {problem}", self.name)))
        };
        if self.points.len() < 2 {
            return bad("points", "a curve needs at least two points");
        }
        if !self.amplitude.is_finite() {
            return bad("amplitude", "must be finite");
        }
        if !self.width.is_finite() || self.width <= 0.0 {
            return bad("width", "must be greater than 0");
        }
        let speeds = [("k_flat", self.k_flat), ("k_rise", self.k_rise)];
        for (key, value) in speeds {
            if !value.is_finite() || value < 0.0 {
                return bad(key, "must be 0 or more");
            }
        }
        if !self.amount.is_well_formed() {
            return bad("amount", "keys must be finite and ascending in frame");
        }
        Ok(())
    }
}

impl FoldAttenuation {
    /// Height at a distance from the curve, in widths; 0 from 1 on.
    #[must_use]
    pub fn at(self, x: f32) -> f32 {
        let y = x * x;
        match self {
            _ if y >= 1.0 => 0.0,
            Self::Implicit => (y - 1.0) * (y - 1.0),
            Self::Bell => crate::math::bell::bell(y),
            Self::Sharp => {
                // A hyperbola instead of |x|: cloth has a thickness, and so does its crest.
                let round = tolerances::CREST_ROUNDING;
                let away = |y: f32| (y + round * round).sqrt() - round;
                (1.0 - away(y) / away(1.0)).max(0.0).powf(1.5)
            }
        }
    }
}

impl FoldsParams {
    /// Folds on a mesh, with default settings.
    #[must_use]
    pub fn new(name: &str, on: &str, folds: Vec<Fold>) -> Self {
        Self {
            name: name.to_owned(),
            on: on.to_owned(),
            folds,
            buckling: Vec::new(),
            blend: one(),
            guard: true,
            collide: Vec::new(),
            gap: default_gap(),
            feedback: 0.0,
            attributes: false,
        }
    }

    /// What a simulated mesh below feels of the folds.
    pub(in crate::layers) fn ridges(&self) -> Vec<Ridge> {
        if self.feedback <= 0.0 {
            return Vec::new();
        }
        let ridge = |course: RidgeCourse, width: f32, amplitude: f32| Ridge {
            on: self.on.clone(),
            course,
            width,
            amplitude,
            share: self.feedback,
        };
        let drawn = self.folds.iter().filter(|f| !f.crease);
        let drawn =
            drawn.map(|f| ridge(RidgeCourse::Through(f.points.clone()), f.width, f.amplitude));
        let buckled = self
            .buckling
            .iter()
            .map(|b| ridge(RidgeCourse::Diamonds(b.pattern(1.0)), b.fold.width, b.fold.amplitude));
        drawn.chain(buckled).collect()
    }

    /// Checks what a range cannot say.
    pub fn validate(&self) -> Result<(), LayerError> {
        if self.folds.is_empty() && self.buckling.is_empty() {
            return Err(LayerError::parameter("folds", "draw at least one fold"));
        }
        if !(0.0..=1.0).contains(&self.feedback) {
            return Err(LayerError::parameter("feedback", "must be from 0 to 1"));
        }
        for (index, b) in self.buckling.iter().enumerate() {
            if b.from == b.to {
                let key = format!("buckling[{index}].to");
                return Err(LayerError::parameter(key, "the axis has no length"));
            }
        }
        self.folds.iter().enumerate().try_for_each(|(i, f)| f.validate(i))
    }
}
