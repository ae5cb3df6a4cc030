//! Thresholds of the folds layer.

/// Spacing of the samples of a fold's curve, as a fraction of its width [-].
///
/// Distances near the curve are taken to the polyline through them: at 1/8 the crest wavers by
/// less than 0.2% of the width on a tight bend.
pub const SAMPLES_PER_WIDTH: f32 = 0.125;

/// Detour of the way along the surface, against the straight line, below which it is flat [-].
///
/// Marched distances are good to about 2%; between one and two times this fraction they take
/// over from the straight ones. Larger, and folds narrow visibly over a tight sleeve.
pub const FLAT_DETOUR: f32 = 0.05;

/// Base lengths closer than this fraction to the drawn ones are the same [-].
///
/// Lengths in f32 are good to 1e-7 of the position; a mesh at rest must show the drawn fold
/// exactly. Larger, and slow stretches start with a visible step.
pub const SAME_LENGTH: f64 = 1.0e-5;

/// Bending times width below which the mesh has not bent [-]: rounding noise of normals.
pub const SAME_BENDING: f32 = 1.0e-4;

/// Sum of squared drawn stretches below which a vertex says nothing about its factor [-].
///
/// On the crest and on the contour edges run along the fold and `r0 - 1` is rounding noise.
pub const FLAT_NORM: f64 = 1.0e-8;

/// How much a vertex's own edges count for its factor, against the mean of its cross-section [-].
///
/// With many times more, crests spike under the least compression, because hardly folded edges
/// decide about the highest vertices; with none, a stretch that varies across the fold is not
/// followed.
pub const OWN_SHARE: f64 = 0.5;

/// Drawn stretch below which an edge is not folded [-]; the source's law divides by it.
pub const FLAT_EDGE: f64 = 1.0e-4;

/// Radius of a sharp crest, as a fraction of the fold's width [-].
///
/// At 0 the crest is a corner that no mesh shows and whose slope has no limit on both sides; larger than a
/// quarter, and the crease is a cord again.
pub const CREST_ROUNDING: f32 = 0.1;
