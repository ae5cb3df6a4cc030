//! Named hair styles that adapt to any head: lengths and places in radii of the head.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::head::Head;
use super::layer::HairLayer;
use super::params::HairParams;
use super::rest::HairRest;
use super::scratch::HairScratch;
use super::style_params::{BraidParams, CutParams, StyleField, StyleParams, TieParams};
use crate::stage::{Animated, Work};

/// A named hair style. What a preset sets is only what is left at its usual value: everything else in
/// the scene stays as it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StylePreset {
    /// Long and straight, parted in the middle, combed back and down.
    LongStraight,
    /// Chin-long, parted at the side.
    Bob,
    /// Combed back into a tie high at the back of the head.
    Ponytail,
    /// Springy curls to the shoulders.
    Curly,
    /// Combed into a tie at the nape, braided below it.
    Braid,
    /// Short, combed to the front.
    Short,
    /// A ball of tight curls.
    Afro,
    /// Straight to the shoulders, with a fringe over the forehead.
    Fringe,
}

impl StylePreset {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::LongStraight,
        Self::Bob,
        Self::Ponytail,
        Self::Curly,
        Self::Braid,
        Self::Short,
        Self::Afro,
        Self::Fringe,
    ];

    /// Its name in a scene file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LongStraight => "long_straight",
            Self::Bob => "bob",
            Self::Ponytail => "ponytail",
            Self::Curly => "curly",
            Self::Braid => "braid",
            Self::Short => "short",
            Self::Afro => "afro",
            Self::Fringe => "fringe",
        }
    }
}

/// The parameters with their preset put in, if they name one.
pub(super) fn dressed(params: &HairParams, head: &Head) -> Option<HairParams> {
    let preset = params.style.preset?;
    let mut wanted = HairParams::default();
    wanted.style.comb_roots = 0.75;
    wanted.radius = 0.13 * head.radius;
    match preset {
        StylePreset::LongStraight => long_straight(&mut wanted, head),
        StylePreset::Bob => bob(&mut wanted, head),
        StylePreset::Ponytail => ponytail(&mut wanted, head),
        StylePreset::Curly => curly(&mut wanted, head),
        StylePreset::Braid => braid(&mut wanted, head),
        StylePreset::Short => short(&mut wanted, head),
        StylePreset::Afro => afro(&mut wanted, head),
        StylePreset::Fringe => fringe(&mut wanted, head),
    }
    Some(merged(params, wanted))
}

/// Runs a pass with the preset's parameters, kept from step to step.
pub(super) fn with_preset<S, R>(
    work: Work<'_, HairLayer, S>,
    pass: impl FnOnce(Work<'_, HairLayer, S>) -> R,
) -> R {
    let Work { params, rest, state, scratch } = work;
    let Some(all) = take_dressed(params, rest, scratch) else {
        return pass(Work { params, rest, state, scratch });
    };
    let result = pass(Work { params: &all, rest, state, scratch });
    scratch.dressed = Some(all);
    result
}

fn take_dressed(
    params: &HairParams,
    rest: &HairRest,
    scratch: &mut HairScratch,
) -> Option<Box<HairParams>> {
    scratch.dressed.take().or_else(|| Some(Box::new(dressed(params, rest.head.as_ref()?)?)))
}

/// What the scene says, and where it says nothing, what the preset wants.
fn merged(own: &HairParams, wanted: HairParams) -> HairParams {
    fn put<T: PartialEq>(own: &mut T, usual: T, wanted: T) {
        if *own == usual {
            *own = wanted;
        }
    }
    // Compared with the usual value, not with whether it was written: a scene file that spells a default out gets the
    // preset's value, which is the lesser evil of the two.
    let (mut out, usual) = (own.clone(), HairParams::default());
    put(&mut out.length, usual.length, wanted.length);
    put(&mut out.radius, usual.radius, wanted.radius);
    put(&mut out.stretch, usual.stretch, wanted.stretch);
    put(&mut out.bending_length, usual.bending_length, wanted.bending_length);
    put(&mut out.goal_hz, usual.goal_hz, wanted.goal_hz);
    let (style, usual_style) = (&mut out.style, usual.style);
    put(&mut style.fields, usual_style.fields, wanted.style.fields);
    put(&mut style.ties, usual_style.ties, wanted.style.ties);
    put(&mut style.braids, usual_style.braids, wanted.style.braids);
    put(&mut style.cuts, usual_style.cuts, wanted.style.cuts);
    put(&mut style.comb_roots, usual_style.comb_roots, wanted.style.comb_roots);
    put(&mut style.settle_secs, usual_style.settle_secs, wanted.style.settle_secs);
    let (strands, usual_strands) = (&mut out.strands, usual.strands);
    put(&mut strands.points, usual_strands.points, wanted.strands.points);
    put(&mut strands.curl_radius, usual_strands.curl_radius, wanted.strands.curl_radius);
    put(&mut strands.curl_pitch, usual_strands.curl_pitch, wanted.strands.curl_pitch);
    put(&mut strands.frizz, usual_strands.frizz, wanted.strands.frizz);
    put(&mut strands.strays, usual_strands.strays, wanted.strands.strays);
    out
}

/// How long the combing fields of a preset act [s].
const COMBED: f32 = 1.2;

fn push(head: &Head, (right, up, front): (f32, f32, f32), strength: f32) -> StyleField {
    let direction = head.direction(right, up, front).to_array();
    StyleField::Parallel { direction, strength, from: 0.0, to: COMBED }
}

fn parting(head: &Head, at: [f32; 3], (right, front): (f32, f32), strength: f32) -> StyleField {
    let normal = head.direction(right, 0.0, front).to_array();
    StyleField::Parting { point: at, normal, strength, from: 0.0, to: COMBED }
}

fn tie(head: &Head, (up, front): (f32, f32)) -> TieParams {
    TieParams {
        point: head.point(0.0, up, front),
        // All hair of the head, however far from the tie it grows.
        reach: 100.0 * head.radius,
        radius: 0.12 * head.radius,
        hold_hz: Animated::Constant(10.0),
    }
}

fn long_straight(wanted: &mut HairParams, head: &Head) {
    wanted.length = 3.6 * head.radius;
    // Limper hair would slip off the ears, which it lies over, to one side or the other.
    wanted.bending_length = 0.8 * head.radius;
    wanted.style.comb_roots = 0.9;
    // Far more to the back than to the sides: else hair of the front hangs before the eyes, and the parting goes on
    // down the back of the head as a bare stripe.
    wanted.style.fields = vec![
        parting(head, head.point(0.0, 0.0, 0.0), (1.0, 0.0), 6.0),
        push(head, (0.0, -0.3, -1.0), 40.0),
    ];
}

fn bob(wanted: &mut HairParams, head: &Head) {
    wanted.length = 1.9 * head.radius;
    wanted.bending_length = 0.5 * head.radius;
    wanted.style.comb_roots = 0.9;
    // More to the back than to the sides: hair of the front would hang before the eyes else.
    wanted.style.fields = vec![
        parting(head, head.point(-0.35, 0.0, 0.0), (1.0, 0.0), 12.0),
        push(head, (0.0, -0.3, -1.0), 30.0),
    ];
}

fn ponytail(wanted: &mut HairParams, head: &Head) {
    wanted.length = 3.6 * head.radius;
    wanted.style = StyleParams {
        fields: vec![push(head, (0.0, 0.2, -1.0), 20.0)],
        ties: vec![tie(head, (0.45, -1.15))],
        comb_roots: 0.75,
        ..StyleParams::default()
    };
}

fn curly(wanted: &mut HairParams, head: &Head) {
    wanted.length = 2.0 * head.radius;
    wanted.stretch = 0.08;
    wanted.bending_length = 0.7 * head.radius;
    wanted.goal_hz = Animated::Constant(0.8);
    curl(wanted, head, 0.07, 0.3);
    wanted.style.fields = vec![
        parting(head, head.point(0.0, 0.0, 0.0), (1.0, 0.0), 3.0),
        push(head, (0.0, -0.4, -1.0), 12.0),
    ];
}

fn curl(wanted: &mut HairParams, head: &Head, radius: f32, pitch: f32) {
    wanted.strands.points = 48;
    wanted.strands.curl_radius = radius * head.radius;
    wanted.strands.curl_pitch = pitch * head.radius;
    wanted.strands.frizz = 0.015 * head.radius;
    wanted.strands.strays = 0.05;
}

fn braid(wanted: &mut HairParams, head: &Head) {
    wanted.length = 4.2 * head.radius;
    wanted.style = StyleParams {
        fields: vec![push(head, (0.0, -0.4, -1.0), 18.0)],
        ties: vec![tie(head, (-0.45, -1.1))],
        braids: vec![BraidParams {
            tie: 0,
            direction: head.direction(0.0, -1.0, -0.12).to_array(),
            radius: 0.14 * head.radius,
            pitch: 0.8 * head.radius,
            hold_hz: Animated::Constant(10.0),
        }],
        comb_roots: 0.75,
        ..StyleParams::default()
    };
}

fn short(wanted: &mut HairParams, head: &Head) {
    wanted.length = 0.45 * head.radius;
    wanted.radius = 0.205 * head.radius;
    wanted.bending_length = 0.35 * head.radius;
    wanted.goal_hz = Animated::Constant(3.0);
    wanted.style.comb_roots = 1.0;
    wanted.style.settle_secs = 0.5;
    // More down than to the front: combed straight forward, hair of the back of the head stands on end.
    wanted.style.fields = vec![push(head, (0.2, -1.0, 0.5), 25.0)];
}

fn afro(wanted: &mut HairParams, head: &Head) {
    wanted.length = 0.9 * head.radius;
    wanted.radius = 0.2 * head.radius;
    wanted.bending_length = 2.0 * head.radius;
    wanted.goal_hz = Animated::Constant(2.0);
    curl(wanted, head, 0.05, 0.16);
    // So stiff that it stands where it was combed: more time would only cost it.
    wanted.style.settle_secs = 0.3;
    wanted.style.comb_roots = 0.0;
    wanted.style.fields = vec![StyleField::Radial {
        center: head.point(0.0, 0.0, 0.0),
        strength: 10.0,
        from: 0.0,
        to: COMBED,
    }];
}

fn fringe(wanted: &mut HairParams, head: &Head) {
    wanted.length = 2.4 * head.radius;
    // Stiffer hair of a fringe's length stands off the forehead like a peak.
    wanted.bending_length = 0.48 * head.radius;
    wanted.style.comb_roots = 0.9;
    let line = head.point(0.0, 0.0, 0.45);
    wanted.style.cuts =
        vec![CutParams { point: line, normal: head.front.to_array(), length: 1.05 * head.radius }];
    wanted.style.fields =
        vec![parting(head, line, (0.0, 1.0), 20.0), push(head, (0.0, -1.0, 0.0), 16.0)];
}
