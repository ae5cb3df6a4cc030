//! What keeps a division from nothing. None of it is a size that a scene has: where one of these is met, there is nothing to
//! divide, and any finite answer will do. They are below every other tolerance, so that they decide nothing else.

/// Length below which a vector of single precision has no direction [m]: rounding of places a metre away is a hundred times
/// more.
pub const NO_DIRECTION: f32 = 1.0e-9;

/// Slope of a distance that is none [-], as in the middle of an ellipsoid.
pub const NO_SLOPE: f32 = 1.0e-9;

/// Distance or slope of a field that is none [m] or [Pa/m]: fields are computed in places that are exact where a body's middle
/// is met, not near it.
pub const NO_FIELD: f32 = 1.0e-20;

/// The square of such a length [m²]; that of [`NO_FIELD`] would be none in single precision.
pub const NO_FIELD_SQ: f32 = 1.0e-30;

/// Width, height or way of liquid that is none [m]: a nanometre, a thousandth of its thinnest film.
pub const NO_WIDTH: f64 = 1.0e-9;
