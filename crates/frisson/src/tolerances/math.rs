//! Thresholds where a formula loses its digits and another one takes over.

/// Squared length, across a unit tangent, from which a vector says where the normal is [-].
pub const LEAST_ACROSS_SQ: f32 = 1.0e-12;

/// Cosine below which two unit vectors point against each other [-]: the rotation between them has any
/// axis. 0.08 degrees from straight back.
pub const OPPOSITE: f32 = -0.999_999;

/// Coordinate of a unit vector above which it is too near to that axis to be crossed with it [-].
pub const NEAR_AXIS: f32 = 0.9;

/// Squared angle of a spring's step below which it is weak [rad²]: `1 - cos` has lost half of its digits
/// there, and the series without the spring is good to 1e-9.
pub const WEAK_SPRING_SQ: f64 = 1.0e-8;

/// Angle of a step below which a spring is as good as critically damped [rad]: the series to fourth order
/// is exact to 1e-18 there.
pub const NEARLY_CRITICAL: f64 = 1.0e-4;

/// Below this, `(e^x - 1) / x` is its first two terms [-]: the next one is 1e-25.
pub const PHI1_LINEAR: f64 = 1.0e-12;

/// Below this, `(e^x - 1 - x) / x²` is its series [-]: the direct formula loses `1/x` digits.
pub const PHI2_SERIES: f64 = 0.1;

/// Pivot below which a system of equations is singular [-], for rows of the order of one.
pub const SINGULAR_PIVOT: f64 = 1.0e-12;

/// Share of its last width to which a bracket must have shrunk for a root's next step to be Newton's [-];
/// else it is halved. At 1, a step that gains nothing could be repeated for ever.
pub const BRACKET_SHRINKS: f64 = 0.9;
