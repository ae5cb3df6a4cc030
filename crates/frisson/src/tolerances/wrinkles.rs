//! Thresholds of the wrinkles layer.

/// Mesh edges that a fold's flank is cut into, at least [-].
///
/// With 2, the refined mesh draws a smooth flank to a few percent of its length; with 1, folds
/// whose crest falls between two vertices lose half their height.
pub const SAMPLES_PER_FLANK: f32 = 2.0;

/// Rate at which a shot is looked at in advance for the longest that a line gets [Hz].
///
/// As fine as the usual tick, so that no output at 24, 30 or 60 frames a second finds a line longer
/// than it was known to get. Coarser, and the height at full length jumps with the output rate.
pub const LOOK_AHEAD_HZ: f64 = 120.0;

/// Compression below which folds ease in [-].
///
/// To keep the length exactly, a fold would have to rise with the square root of what is missing:
/// infinitely fast at first, and near full length heights flicker with every tenth of a millimetre.
/// Below this share heights grow smoothly instead, and up to a third of it is missing from the drawn
/// length. Smaller, and folds of trousers pop at 24 frames a second; larger, and shallow folds are
/// seen to be too shallow.
pub const ONSET_COMPRESSION: f64 = 0.02;

/// Least missing length that the scale of heights is solved for, as a share of the full one [-]: a
/// thousand times what is lost in rounding when the pieces of a curve are added up.
pub const LEAST_SOLVED: f64 = 1.0e-9;

/// Share of its capacity over which a fold that follows another one eases in [-], for the same
/// reason; the others take what it leaves, so that the length is kept.
pub const HANDOVER_SHARE: f64 = 0.25;

/// Compression over which the refined surface turns from flat into smooth [-].
///
/// The two differ where the skin is curved; switching at once would pop. Longer, and shallow
/// folds sit on visible facets.
pub const BLEND_COMPRESSION: f64 = 0.02;

/// Least length of the sum of two unit normals, across the line between them, that still says where
/// the surface is [-]. Shorter, and its direction is rounding noise: the plane would spin.
pub const LEAST_PLANE_NORMAL: f32 = 1.0e-3;

/// Compression from which a place deserves a proposed tool [-].
///
/// Skinning squeezes some edges by a few percent at every joint; nobody draws folds there.
pub const PROPOSED_COMPRESSION: f64 = 0.1;

/// Height of a proposed tool's folds, as a share of its length [-]: what skin and sleeves show at
/// their strongest. Higher, and a limb looks swollen; lower, and the folds are too fine to refine.
pub const PROPOSED_HEIGHT: f64 = 0.04;

/// Height of a proposed tool's folds, as a share of how thick the limb is under them [-]. A line may run over a whole
/// haunch: four hundredths of it would cut a thin leg in slices. Lower, and no clip shows any fold.
pub const PROPOSED_LIMB_SHARE: f64 = 0.06;

/// How much nearer two folds may come to each other at the side of the region than on the line, as a
/// fraction of their distance [-].
///
/// At 1 they meet in a point; beyond, the heights along the side run backwards and the skin is creased in
/// stars.
pub const MOST_CONVERGENCE: f64 = 0.7;

/// Digits to which the scale of heights is found [-]: a nanometre of a fold of one metre.
pub const SCALE_DIGITS: f64 = 1.0e-9;

/// Greatest scale of heights that is looked for [-]: the levels of a curve whose folds cannot take the length are
/// drawn as high as this and no higher.
pub const MOST_SCALE: f64 = 1.0e6;

/// Least height and least ratio of height to base of a flank that a root is looked for [-]: they only keep the
/// bracket from being empty.
pub const LEAST_HEIGHT: f64 = 1.0e-12;
/// See [`LEAST_HEIGHT`].
pub const LEAST_RATIO: f64 = 1.0e-3;

/// What is added to the number of grid times ahead before it is rounded down, in grid intervals [-]: a span of
/// whole intervals must not lose its last one to rounding.
pub const LOOK_AHEAD_ROUNDING: f64 = 1.0e-6;
