//! What the artist sets.

mod curves;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::{Animated, LayerError, Selection};

pub use curves::{Attenuation, ShapeCurve};

/// Flesh that lags, swings and settles on a skinned, animated character.
///
/// One layer is one element: a dominant joint, one or more joints below it, and the flesh around
/// the virtual bone between them. Say how fast it swings either with `frequency_hz` and
/// `damping_ratio`, or with `mass`, `stiffness` and `damping`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FleshParams {
    /// Name of the layer, unique in the scene.
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Element"))]
    pub name: String,
    /// Actor, or one of its meshes (`actor/mesh`), that carries the flesh.
    #[schemars(extend("x-change" = "restart", "x-group" = "Element"))]
    pub on: String,
    /// Dominant joint: the flesh is carried by it.
    #[schemars(extend("x-change" = "restart", "x-group" = "Element"))]
    pub from: String,
    /// Joints below `from`; the virtual bone runs from `from` to their middle.
    #[schemars(extend("x-change" = "restart", "x-group" = "Element"))]
    pub to: Vec<BoneEnd>,
    /// A chain: every joint from `from` to the one of `to` swings, each carried by its parent as that has
    /// moved, so that tails, ears and antennae whip. Links keep their lengths; `limit` is how far a link may
    /// leave the place it is carried to, as a share of its length [-]; nothing is taken from the depth of flesh.
    #[serde(default)]
    #[schemars(extend("x-change" = "restart", "x-group" = "Element"))]
    pub chain: bool,
    /// Natural frequency of the swing [Hz]. A belly swings at 2 to 3, a cheek at 6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        range(min = 1e-3, max = 1e5),
        extend("x-change" = "live", "x-slider" = [0.5, 12.0], "x-log" = true, "x-group" = "Spring")
    )]
    pub frequency_hz: Option<f64>,
    /// Damping ratio [-]: 0 swings for ever, 1 comes back without overshoot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        range(min = 0.0, max = 1e4),
        extend("x-change" = "live", "x-slider" = [0.02, 1.0], "x-log" = true, "x-group" = "Spring")
    )]
    pub damping_ratio: Option<f64>,
    /// Mass of the flesh [kg]; with `stiffness` and `damping`, instead of the frequency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        range(min = 1e-9, max = 1e9),
        extend("x-change" = "live", "x-slider" = [0.01, 10.0], "x-log" = true, "x-group" = "Spring")
    )]
    pub mass: Option<f64>,
    /// Spring stiffness [N/m].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        range(min = 1e-6, max = 1e12),
        extend("x-change" = "live", "x-slider" = [1.0, 10000.0], "x-log" = true, "x-group" = "Spring")
    )]
    pub stiffness: Option<f64>,
    /// Damping [N s/m].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        range(min = 0.0, max = 1e12),
        extend("x-change" = "live", "x-slider" = [0.0, 100.0], "x-group" = "Spring")
    )]
    pub damping: Option<f64>,
    /// Radius of the bone inside the flesh [m]: nothing moves nearer to it than that.
    #[serde(default)]
    #[schemars(
        range(min = 0.0),
        extend("x-change" = "rebuild", "x-slider" = [0.0, 0.3], "x-group" = "Weights")
    )]
    pub thickness: f32,
    /// Mesh of the frame that models the bones; where it is met, it replaces `thickness`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Weights"))]
    pub bone_mesh: Option<String>,
    /// How the swing grows with the depth of flesh.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Weights"))]
    pub shape_curve: ShapeCurve,
    /// How the swing fades towards both ends of the bone.
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Weights"))]
    pub attenuation: Attenuation,
    /// Which vertices are flesh. By default, those skinned to the joints between `from` and `to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Weights"))]
    pub selection: Option<Selection>,
    /// Distance over which the selection's edge fades in, along the surface [m].
    #[serde(default)]
    #[schemars(
        range(min = 0.0),
        extend("x-change" = "rebuild", "x-slider" = [0.0, 0.3], "x-group" = "Weights")
    )]
    pub edge_falloff: f32,
    /// Painted mask that multiplies the weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Weights"))]
    pub mask: Option<Selection>,
    /// Greatest swing as a fraction of the deepest flesh [-]. Below 1 there is room for the flesh around
    /// the deepest to go along with it, and the swing has a round end instead of a pointed one.
    #[serde(default = "one")]
    #[schemars(
        range(min = 1e-3, max = 1.0),
        extend("x-change" = "rebuild", "x-slider" = [0.05, 1.0], "x-group" = "Swing")
    )]
    pub limit: f32,
    /// How the limit is kept.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Swing"))]
    pub limit_kind: LimitKind,
    /// Share of the volume that is kept by sideways motion [-]: flesh that swings out becomes narrower,
    /// flesh that is pressed in becomes wider. 0 not at all, 1 fully.
    #[serde(default)]
    #[schemars(
        range(min = 0.0, max = 1.0),
        extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Swing")
    )]
    pub volume: f32,
    /// Share of the scene's gravity, relative to the modelled pose: what hangs when the character
    /// turns, without sagging twice what the sculptor already let hang [-].
    #[serde(default = "whole")]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 2.0], "x-group" = "Forces"))]
    pub gravity: Animated,
    /// Constant extra acceleration, world axes [m/s²].
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-slider" = [-10.0, 10.0], "x-group" = "Forces"))]
    pub pseudo_gravity: [f64; 3],
    /// How much the flesh also lags in rotation [-]: 0 not at all, 1 fully.
    #[serde(default)]
    #[schemars(
        range(min = 0.0, max = 1.0),
        extend("x-change" = "live", "x-slider" = [0.0, 1.0], "x-group" = "Swing")
    )]
    pub rotation: f32,
    /// Strength of the whole effect [-]; may be key-framed to fade it in and out.
    #[serde(default = "whole")]
    #[schemars(extend("x-change" = "live", "x-slider" = [0.0, 2.0], "x-group" = "Swing"))]
    pub amount: Animated,
    /// The clip loops: start in the state it will come back to after one cycle.
    #[serde(default, rename = "loop")]
    #[schemars(extend("x-change" = "restart", "x-group" = "Start"))]
    pub looped: bool,
    /// Frames at which the character jumps (camera cuts): the swing starts anew there.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Start"))]
    pub cuts: Vec<i64>,
    /// A jump of more than this many bone lengths within 1/120 s is taken for a cut [-].
    #[serde(default = "whole_number")]
    #[schemars(
        range(min = 1e-3),
        extend("x-change" = "live", "x-slider" = [0.1, 10.0], "x-log" = true, "x-group" = "Start")
    )]
    pub teleport: f64,
    /// Also write the weights as a vertex attribute `flesh:<name>`, to look at.
    #[serde(default)]
    #[schemars(extend("x-change" = "live", "x-group" = "Look"))]
    pub show_weights: bool,
    /// Also write how far flesh moved each vertex as a vertex attribute `flesh_offset` [m], to look at
    /// (`frisson render --overlay displacement:flesh_offset`).
    #[serde(default)]
    #[schemars(extend("x-change" = "rebuild", "x-group" = "Look"))]
    pub show_offsets: bool,
}

/// A joint at the far end of the virtual bone: its name, or its name and an offset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BoneEnd {
    /// The joint's origin.
    Joint(String),
    /// A point in the joint's space.
    Offset(OffsetEnd),
}

/// A joint and a point in its space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OffsetEnd {
    /// Joint name.
    pub joint: String,
    /// Offset in the joint's axes [m].
    pub offset: [f32; 3],
}

/// How the limit is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// The swing saturates smoothly; no stop is seen.
    #[default]
    Soft,
    /// The swing stops dead on a sphere.
    Hard,
}

fn one() -> f32 {
    1.0
}
fn whole() -> Animated {
    1.0.into()
}
fn whole_number() -> f64 {
    1.0
}

/// Natural frequency when nothing is said [Hz].
const DEFAULT_FREQUENCY_HZ: f64 = 2.5;
/// Damping ratio when nothing is said [-].
const DEFAULT_DAMPING_RATIO: f64 = 0.2;

impl BoneEnd {
    /// Joint name.
    #[must_use]
    pub fn joint(&self) -> &str {
        match self {
            Self::Joint(name) => name,
            Self::Offset(end) => &end.joint,
        }
    }

    /// Point in the joint's space [m].
    #[must_use]
    pub fn offset(&self) -> glam::Vec3 {
        match self {
            Self::Joint(_) => glam::Vec3::ZERO,
            Self::Offset(end) => glam::Vec3::from_array(end.offset),
        }
    }
}

impl FleshParams {
    /// An element with default settings.
    #[must_use]
    pub fn new(name: &str, on: &str, from: &str, to: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            on: on.to_owned(),
            from: from.to_owned(),
            to: to.iter().map(|&j| BoneEnd::Joint(j.to_owned())).collect(),
            chain: false,
            frequency_hz: None,
            damping_ratio: None,
            mass: None,
            stiffness: None,
            damping: None,
            thickness: 0.0,
            bone_mesh: None,
            shape_curve: ShapeCurve::default(),
            attenuation: Attenuation::default(),
            selection: None,
            edge_falloff: 0.0,
            mask: None,
            limit: 1.0,
            limit_kind: LimitKind::default(),
            volume: 0.0,
            gravity: whole(),
            pseudo_gravity: [0.0; 3],
            rotation: 0.0,
            amount: whole(),
            looped: false,
            cuts: Vec::new(),
            teleport: 1.0,
            show_weights: false,
            show_offsets: false,
        }
    }

    /// Undamped angular frequency [rad/s] and damping ratio.
    #[must_use]
    pub fn spring(&self) -> (f64, f64) {
        match (self.mass, self.stiffness) {
            (Some(m), Some(k)) => {
                let damping = self.damping.unwrap_or(0.0);
                ((k / m).sqrt(), damping / (2.0 * (k * m).sqrt()))
            }
            _ => {
                let hz = self.frequency_hz.unwrap_or(DEFAULT_FREQUENCY_HZ);
                let ratio = self.damping_ratio.unwrap_or(DEFAULT_DAMPING_RATIO);
                (std::f64::consts::TAU * hz, ratio)
            }
        }
    }

    /// Checks what a range cannot say.
    pub fn validate(&self) -> Result<(), LayerError> {
        let bad = |key: &str, problem: &str| Err(LayerError::parameter(key, problem));
        if self.to.is_empty() {
            return bad("to", "name at least one joint");
        }
        let by_mass = [self.mass, self.stiffness, self.damping];
        let by_frequency = [self.frequency_hz, self.damping_ratio];
        if by_mass.iter().any(Option::is_some) && by_frequency.iter().any(Option::is_some) {
            return bad(
                "frequency_hz",
                "give either frequency_hz and damping_ratio, or mass, stiffness and damping",
            );
        }
        if self.mass.is_some() != self.stiffness.is_some() {
            return bad("mass", "mass and stiffness go together");
        }
        for (key, value) in [
            ("frequency_hz", self.frequency_hz),
            ("mass", self.mass),
            ("stiffness", self.stiffness),
        ] {
            if value.is_some_and(|v| !v.is_finite() || v <= 0.0) {
                return bad(key, "must be greater than 0");
            }
        }
        let (frequency, ratio) = self.spring();
        if !frequency.is_finite() || !ratio.is_finite() || ratio < 0.0 {
            return bad("damping_ratio", "must be 0 or more");
        }
        if !self.limit.is_finite() || self.limit <= 0.0 || self.limit > 1.0 {
            return bad("limit", "must be above 0 and at most 1");
        }
        if !self.thickness.is_finite() || self.thickness < 0.0 {
            return bad("thickness", "must be 0 or more");
        }
        if !(0.0..=1.0).contains(&self.volume) {
            return bad("volume", "must be from 0 to 1");
        }
        if !(0.0..=1.0).contains(&self.rotation) {
            return bad("rotation", "must be from 0 to 1");
        }
        if !self.pseudo_gravity.iter().all(|g| g.is_finite()) {
            return bad("pseudo_gravity", "must be finite");
        }
        if !self.gravity.is_well_formed() {
            return bad("gravity", "keys must be finite, at least one, ascending in frame");
        }
        if !self.amount.is_well_formed() {
            return bad("amount", "keys must be finite, at least one, ascending in frame");
        }
        if self.looped && ratio == 0.0 {
            return bad("loop", "an undamped swing never comes back to its start: add damping");
        }
        if self.chain && self.to.len() != 1 {
            return bad("to", "a chain runs to one joint");
        }
        if self.chain && self.looped {
            return bad("loop", "the cycle of a chain is not known beforehand: use a pre-roll");
        }
        self.validate_curves()
    }

    fn validate_curves(&self) -> Result<(), LayerError> {
        let sound = |keys: &[(f64, f64)]| {
            !keys.is_empty()
                && keys.windows(2).all(|w| w[0].0 < w[1].0)
                && keys.iter().all(|k| k.0.is_finite() && (0.0..=1.0).contains(&k.1))
        };
        let problem = "needs ascending positions and factors from 0 to 1";
        if matches!(&self.shape_curve, ShapeCurve::Keys(keys) if !sound(keys)) {
            return Err(LayerError::parameter("shape_curve", problem));
        }
        if matches!(&self.attenuation, Attenuation::Keys(keys) if !sound(keys)) {
            return Err(LayerError::parameter("attenuation", problem));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_say_the_spring_agree() {
        let mut p = FleshParams::new("a", "b", "c", &["d"]);
        (p.mass, p.stiffness, p.damping) = (Some(2.0), Some(50.0), Some(4.0));
        assert_eq!(p.spring(), (5.0, 0.2));
        p.frequency_hz = Some(1.0);
        assert!(p.validate().is_err());
    }

    #[test]
    fn nonsense_is_refused() {
        let check = |change: fn(&mut FleshParams)| {
            let mut p = FleshParams::new("a", "b", "c", &["d"]);
            change(&mut p);
            assert!(p.validate().is_err());
        };
        check(|p| p.to.clear());
        check(|p| p.frequency_hz = Some(0.0));
        check(|p| p.frequency_hz = Some(f64::NAN));
        check(|p| p.mass = Some(1.0));
        check(|p| p.limit = 0.0);
        check(|p| p.thickness = -1.0);
        check(|p| (p.looped, p.damping_ratio) = (true, Some(0.0)));
        check(|p| (p.looped, p.chain) = (true, true));
        check(|p| p.attenuation = Attenuation::Keys(vec![(0.0, 2.0)]));
    }
}
