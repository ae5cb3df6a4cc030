//! The hair style, as the artist sets it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::presets::StylePreset;
use crate::stage::{Animated, LayerError};

/// The hair style: how the initial shape comes about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StyleParams {
    /// A named style that adapts to the head, for all that is left at its usual value here and in the
    /// hair's own parameters.
    #[schemars(extend("x-change" = "restart", "x-group" = "Style"))]
    pub preset: Option<StylePreset>,
    /// Fields that comb the hair, one after another or together.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Style"))]
    pub fields: Vec<StyleField>,
    /// Cuts: hair rooted beyond a plane has another length, as in a fringe; the last that holds counts.
    #[schemars(extend("x-group" = "Style"))]
    pub cuts: Vec<CutParams>,
    /// How much the fields also tilt the hair where it leaves the skin: 0 not at all, 1 nearly flat [-].
    #[schemars(range(min = 0.0, max = 1.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 1.0], "x-group" = "Style"))]
    pub comb_roots: f32,
    /// How long hair settles under gravity once the fields are over [s].
    #[schemars(range(min = 0.0, max = 60.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 5.0], "x-group" = "Style"))]
    pub settle_secs: f32,
    /// Guide curves to start from instead, root first [m]; between them wisps take the mean of the nearest,
    /// but for those that lead to the other side of a parting.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Style"))]
    pub guides: Vec<Vec<[f32; 3]>>,
    /// File whose curves are guides, too (`.abc`, `.usd`, `.obj`), in metres, where the head is in the first frame.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Style"))]
    pub guides_file: Option<String>,
    /// Mesh of the scene made of hair cards or tubes, each of which is a guide along its middle: `actor` or
    /// `actor/mesh`.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Style"))]
    pub cards: Option<String>,
    /// Solve rest angles so that the style holds under gravity; false: hair is straight at rest, and
    /// falls from the pose it was given.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Style"))]
    pub balance: bool,
    /// How hair remembers its style, as the frequency of a soft pull back to it [Hz]; it grows where the
    /// head and the air are still. Only where `balance` holds the style; 0: none.
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 2.0], "x-group" = "Style"))]
    pub memory_hz: Animated,
    /// Ties: ponytails, bunches, hair pins.
    #[schemars(extend("x-group" = "Ties"))]
    pub ties: Vec<TieParams>,
    /// Braids below a tie.
    #[schemars(extend("x-group" = "Ties"))]
    pub braids: Vec<BraidParams>,
}

impl Default for StyleParams {
    fn default() -> Self {
        Self {
            preset: None,
            fields: Vec::new(),
            cuts: Vec::new(),
            comb_roots: 0.6,
            settle_secs: 2.0,
            guides: Vec::new(),
            guides_file: None,
            cards: None,
            balance: true,
            memory_hz: Animated::Constant(0.5),
            ties: Vec::new(),
            braids: Vec::new(),
        }
    }
}

/// One combing field. It acts while the hair is styled, never during the shot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StyleField {
    /// The same push everywhere.
    Parallel {
        /// Where to; need not be unit.
        direction: [f32; 3],
        /// Acceleration [m/s²].
        strength: f32,
        /// Styling time at which it starts [s].
        #[serde(default)]
        from: f32,
        /// Styling time at which it ends [s].
        to: f32,
    },
    /// A parting: hair rooted on either side of a plane is pushed to its side.
    Parting {
        /// A point of the plane [m].
        point: [f32; 3],
        /// Normal of the plane; need not be unit.
        normal: [f32; 3],
        /// Acceleration [m/s²].
        strength: f32,
        /// Styling time at which it starts [s].
        #[serde(default)]
        from: f32,
        /// Styling time at which it ends [s].
        to: f32,
    },
    /// A push around an axis.
    Swirl {
        /// A point of the axis [m].
        center: [f32; 3],
        /// The axis; need not be unit.
        axis: [f32; 3],
        /// Acceleration [m/s²].
        strength: f32,
        /// Styling time at which it starts [s].
        #[serde(default)]
        from: f32,
        /// Styling time at which it ends [s].
        to: f32,
    },
    /// A push away from a point (towards it when negative).
    Radial {
        /// The point [m].
        center: [f32; 3],
        /// Acceleration [m/s²].
        strength: f32,
        /// Styling time at which it starts [s].
        #[serde(default)]
        from: f32,
        /// Styling time at which it ends [s].
        to: f32,
    },
}

impl StyleField {
    /// When it acts [s].
    #[must_use]
    pub fn span(&self) -> (f32, f32) {
        match self {
            Self::Parallel { from, to, .. }
            | Self::Parting { from, to, .. }
            | Self::Swirl { from, to, .. }
            | Self::Radial { from, to, .. } => (*from, *to),
        }
    }
}

/// Another length for the hair rooted on one side of a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CutParams {
    /// A point of the plane, in the pose of the start frame [m].
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Style"))]
    pub point: [f32; 3],
    /// Normal of the plane, to the side that is cut; need not be unit.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Style"))]
    pub normal: [f32; 3],
    /// Length of the hair there [m].
    #[schemars(range(min = 0.0001, max = 10.0), extend("x-change" = "rebuild", "x-slider" = [0.02, 1.0], "x-group" = "Style"))]
    pub length: f32,
}

impl CutParams {
    /// Whether hair rooted there is cut.
    pub(super) fn holds(&self, root: glam::Vec3) -> bool {
        let away = root - glam::Vec3::from_array(self.point);
        glam::Vec3::from_array(self.normal).dot(away) > 0.0
    }
}

/// A tie, or a pin: hair held near a point that moves with the head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TieParams {
    /// Where, in the pose of the start frame [m].
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Ties"))]
    pub point: [f32; 3],
    /// Only wisps rooted within this distance are held [m].
    #[serde(default = "far")]
    #[schemars(range(min = 0.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 0.5], "x-group" = "Ties"))]
    pub reach: f32,
    /// Thickness of the bunch in the tie [m].
    #[serde(default = "bunch")]
    #[schemars(range(min = 0.0, max = 1.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 0.05], "x-group" = "Ties"))]
    pub radius: f32,
    /// How firmly it holds, as a frequency [Hz]; 0 lets go.
    #[serde(default = "firm")]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 20.0], "x-group" = "Ties"))]
    pub hold_hz: Animated,
}

/// A braid of three strands, hanging from a tie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BraidParams {
    /// Which tie it hangs from, from 0.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-slider" = [0, 8], "x-group" = "Ties"))]
    pub tie: usize,
    /// Where it hangs to; need not be unit.
    #[serde(default = "down")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Ties"))]
    pub direction: [f32; 3],
    /// Half width of the braid [m].
    #[serde(default = "bunch")]
    #[schemars(range(min = 0.0, max = 1.0), extend("x-change" = "rebuild", "x-slider" = [0.0, 0.05], "x-group" = "Ties"))]
    pub radius: f32,
    /// Length of one full turn of a strand [m].
    #[serde(default = "turn")]
    #[schemars(range(min = 0.001, max = 10.0), extend("x-change" = "rebuild", "x-slider" = [0.02, 0.3], "x-group" = "Ties"))]
    pub pitch: f32,
    /// How firmly the strands hold together, as a frequency [Hz].
    #[serde(default = "firm")]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 20.0], "x-group" = "Ties"))]
    pub hold_hz: Animated,
}

fn far() -> f32 {
    1.0e3
}
fn bunch() -> f32 {
    0.02
}
fn turn() -> f32 {
    0.08
}
fn firm() -> Animated {
    Animated::Constant(10.0)
}
fn down() -> [f32; 3] {
    [0.0, -1.0, 0.0]
}

impl StyleParams {
    /// Checks what ranges cannot say.
    pub fn validate(&self) -> Result<(), LayerError> {
        for (index, field) in self.fields.iter().enumerate() {
            let (from, to) = field.span();
            if !(from.is_finite() && to.is_finite() && to >= from && to <= 600.0) {
                return Err(LayerError::parameter(
                    format!("style.fields[{index}]"),
                    "`to` must not come before `from`, and be at most 600 s",
                ));
            }
        }
        for (index, cut) in self.cuts.iter().enumerate() {
            let numbers = cut.point.iter().chain(&cut.normal).chain([&cut.length]);
            if cut.length <= 0.0 || numbers.into_iter().any(|c| !c.is_finite()) {
                return Err(LayerError::parameter(
                    format!("style.cuts[{index}]"),
                    "a cut needs a finite plane and a length above 0",
                ));
            }
        }
        for (index, guide) in self.guides.iter().enumerate() {
            if guide.len() < 2 || guide.iter().flatten().any(|c| !c.is_finite()) {
                return Err(LayerError::parameter(
                    format!("style.guides[{index}]"),
                    "a guide needs at least two finite points",
                ));
            }
        }
        for (index, braid) in self.braids.iter().enumerate() {
            if braid.tie >= self.ties.len() {
                return Err(LayerError::parameter(
                    format!("style.braids[{index}].tie"),
                    format!("there are only {} ties", self.ties.len()),
                ));
            }
        }
        if !self.memory_hz.is_well_formed() {
            return Err(LayerError::parameter("style.memory_hz", "keys must ascend and be finite"));
        }
        let holds = self.ties.iter().map(|t| &t.hold_hz);
        if holds.chain(self.braids.iter().map(|b| &b.hold_hz)).any(|h| !h.is_well_formed()) {
            return Err(LayerError::parameter("style.ties", "keys must ascend and be finite"));
        }
        Ok(())
    }
}
