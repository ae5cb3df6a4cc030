//! Thresholds of the iso-surface extraction.

/// Steps of Newton's method that bring a vertex onto the surface [-].
///
/// Quadratic convergence: three reach rounding on smooth fields. Fewer, and vertices sit visibly
/// off the surface in narrow necks; more cost time and only help at creases.
pub const NEWTON_STEPS: u32 = 4;

/// A vertex that moves less than this fraction of a cell is on the surface [-].
///
/// Smaller, and f32 rounding keeps it moving; larger shows as ripples in reflections.
pub const ON_SURFACE_CELLS: f32 = 1.0e-4;

/// Half-width of the central differences where a field has no gradient of its own, in cells [-].
///
/// Smaller loses digits to rounding; larger rounds off creases of a cell's size.
pub const DIFFERENCE_CELLS: f32 = 0.05;
