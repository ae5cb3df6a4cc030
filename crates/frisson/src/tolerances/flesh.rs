//! Thresholds of the flesh layer.

/// A virtual bone shorter than this fraction of the mesh's diagonal has no direction [-].
///
/// Its direction would be rounding noise of the joints' positions. Larger, and finger bones of a
/// big character would be refused.
pub const MIN_BONE_FRACTION: f32 = 1.0e-5;

/// Rate of the grid on which springs are advanced [Hz].
///
/// The static frame moves in straight lines between grid times; at 960 Hz the error against a
/// smooth path is 3e-5 of the swing for a 2.5 Hz spring (1.2e-4 at 480 Hz). A multiple of the
/// stage's tick rate, so that every output rate sees the same grid.
pub const GRID_HZ: f64 = 960.0;

/// A turn that changes gravity by less than this fraction is none [-].
///
/// Rotations taken from f32 matrices are good to about 1e-6; a character that stands in its
/// modelled pose must not move by a single bit. The step it hides is below 0.01 mm at 2.5 Hz.
pub const SAME_POSE_FRACTION: f64 = 2.0e-5;

/// Time over which the acceleration at the start is measured, twice [s].
///
/// Of the length of a frame of film: clips are keyed about that often, and between two keys their
/// acceleration says nothing. Longer, and the start of a quick move is averaged away.
pub const DEPARTURE_SECONDS: f64 = 1.0 / 30.0;

/// Positions of f32 joints are known to this fraction of their distance from the origin [-].
pub const SAME_PLACE: f64 = 1.0e-6;

/// Depth up to which flesh fades in, as a share of the deepest [-]. Smaller, and a crease shows along
/// the border of what is bone; larger, and thin flesh hardly moves.
pub const SHALLOW_FLESH: f32 = 0.15;

/// Greatest power of the rounding of weights [-]: with 2 their slope falls evenly to 0. Higher, and
/// the middle of an element moves as one block.
pub const MOST_ROUNDING: f32 = 2.0;

/// Greatest narrowing or widening beside a swing [-]; beyond about a third flesh looks like rubber.
pub const MOST_SQUEEZE: f32 = 0.35;

/// Cycles simulated at most when a looped swing that hits its hard limit is brought to its
/// periodic state [-]. With a damping ratio of 0.02 the start is forgotten to 1e-4 after 75
/// swings; a clip of one second at 2.5 Hz needs 30 cycles.
pub const MAX_LOOP_CYCLES: usize = 64;

/// Flesh shallower than this fraction of the character is not proposed by itself [-].
///
/// Half a centimetre on a person: its swing would not be seen. Larger, and a cat's thighs go
/// unnoticed.
pub const MIN_PROPOSED_DEPTH: f32 = 5.0e-3;

/// Fewest vertices that are worth an element of their own [-]; with less, the bell along the bone
/// cannot be drawn.
pub const MIN_PROPOSED_VERTICES: usize = 6;

/// Frequency of slack flesh one metre deep [Hz m^1/2].
///
/// A pendulum of length `d` swings at `0.5 / sqrt(d)` Hz; flesh is held by skin as well as by its
/// weight. Nearly twice that gives a belly of 10 cm 2.8 Hz and a cheek of 2 cm 6.4 Hz.
pub const SLACK_FREQUENCY: f64 = 0.9;

/// How far two instants are one [s]: times of clips and frames that were reckoned on different ways.
pub const SAME_INSTANT: f64 = 1.0e-6;

/// How far beyond a whole number of grid intervals a step may be and still have that many, in intervals [-]:
/// rounding of a tick's length only.
pub const GRID_ROUNDING: f64 = 1.0e-9;

/// Change of the elongation over a cycle below which a loop is closed, as a share of the greatest [-]: a hundredth
/// of a millimetre of a swing of one metre. Smaller, and cycles are simulated that nobody sees.
pub const CLOSED_LOOP: f64 = 1.0e-5;

/// Sine of half a turn below which the turn is twice the vector part of its quaternion [-]: the next term is
/// beyond f64's digits.
pub const NO_TURN: f64 = 1.0e-12;

/// Squared gain of the sides beside that of the whole flesh, below which they are left as they are [-]: a tenth of
/// its size. Smaller, and skin without an inside swells by a quotient of two rounding errors.
pub const LEAST_GAIN: f32 = 0.01;
