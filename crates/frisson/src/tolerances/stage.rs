//! Thresholds of the stage: clock, colliders, forces, live motion.

/// How near to a whole tick a time is that tick, in ticks [-].
///
/// 8 µs: no caller means a step of that length, and times that went through f32 or through a division
/// by a frame rate are off by less.
pub const SAME_TICK: f64 = 1.0e-3;

/// How near two times are one [s]: the present is asked for again, and nothing is done. Far below a tick; larger,
/// and a caller's smallest step forward would be refused as none.
pub const SAME_TIME: f64 = 1.0e-9;

/// How far beyond the end of a frame a time still belongs to it, in frames [-]: rounding of times only.
pub const SAME_FRAME: f64 = 1.0e-3;

/// Least squared length of a capsule's axis [m²]: below it a capsule is a ball. Only keeps a division
/// from zero; an axis of this length is far below a hair's width.
pub const LEAST_AXIS_SQ: f32 = 1.0e-20;

/// Least radius of an ellipsoid [m]. Thinner ones have no inside that f32 could tell.
pub const LEAST_RADIUS: f32 = 1.0e-6;

/// Distance from an ellipsoid's planes of symmetry, in smallest radii, within which a point is moved off
/// them [-]. On the plane itself the pole can be the root that is looked for; larger, and normals jump.
pub const OFF_EQUATOR: f64 = 1.0e-9;

/// How far above the pole the search for the multiplier begins, as a share of the least it can be [-].
pub const OFF_POLE: f64 = 1.0e-12;

/// Halvings of that search [-]: f64 has 53 bits, and the bracket is up to some millions wide at first.
pub const ELLIPSOID_HALVINGS: u32 = 80;

/// Least size of a gust [m]: below it the noise has no cell.
pub const LEAST_GUST: f32 = 1.0e-6;

/// Sideways strength of gusts as a share of that along the wind [-]: wind near the ground turns less than
/// it changes its speed.
pub const GUST_SIDEWAYS: f32 = 0.3;

/// Least time between two pushed poses that has a speed [s].
pub const LEAST_PUSH_SECONDS: f64 = 1.0e-9;
