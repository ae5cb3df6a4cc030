//! Thresholds of the soft-body layer.

/// Most cells that a surface may be cut into [-].
///
/// A character in a coat takes twenty thousand. With a hundred times as many a frame takes
/// minutes; beyond, a check would not come back.
pub const MOST_CELLS: f64 = 2.0e6;

/// How exactly a seed sits on its surface, in thicknesses [-].
///
/// Contact surfaces of two bodies must agree to 1e-5.
pub const SEED: f64 = 2.0e-6;

/// Finer seeds per seed in a contact [-].
///
/// With 8, the force of two balls that overlap by a twentieth of their radius is right to 2% with
/// 200 seeds; with 4 it is off by up to 4%, with one by 15%.
pub const CONTACT_SEEDS: usize = 8;

/// Rounds of a seed's search after its place is bracketed. Six are usual.
pub const SLIDE_ROUNDS: usize = 40;

/// A seed this close to a limit is stopped by it, in thicknesses [-]. Larger than [`SEED`], or
/// rounding decides who is in contact.
pub const STOPPED: f64 = 1.0e-5;

/// Distance from a mesh that is a tool within which a place lies on it, as a share of how far the tool is seen [-]. Larger
/// than [`STOPPED`]; rounding alone points anywhere, and what lies on such a tool is pushed by a tenth too much.
pub const ON_TOOL: f64 = 1.0e-4;

/// Slack of the test that no other piece of a bent primitive is closer, in thicknesses [-].
pub const MEDIAL: f64 = 1.0e-4;

/// Least cosine between a seed's axis and the normal [-]: surfaces seen more obliquely than 84
/// degrees would count for more area than their neighbours leave.
pub const LEAST_COSINE: f64 = 0.1;

/// Deepening of a contact within one step, in thicknesses, at which the step is taken back [-].
///
/// At 0.2 a body meets at least five steps on its way through another's coat.
pub const DEEPENING: f64 = 0.2;

/// Share of its deepening that a step of half the length must keep below to be shortened further
/// [-]. Travel halves with the step; what does not is a sample that has just come into a contact.
pub const TRAVELLED: f64 = 0.8;

/// Share of a particle's speed that the damping of its contact with a tool may take in one step [-].
/// At 2 it would turn the speed around.
pub const TOOL_DAMPING: f64 = 0.5;

/// Shortest step as a share of the tick [-]. A body that deepens more within it moves at
/// thousands of thicknesses a second: the bake goes on and says so.
pub const STEP_FLOOR: f64 = 1.0 / 256.0;

/// Share of a step by which rounding may make it one more [-]: ten equal steps are not eleven.
pub const STEP_ROUNDING: f64 = 1.0e-6;

/// Share of the tick that rounding may leave at its end [-]; a step over it would do nothing.
pub const TICK_DONE: f64 = 1.0e-9;

/// A step at most this many times the shortest counts as it [-]: cut into equal ones it is rounded.
pub const AS_SHORT_AS: f64 = 1.001;

/// Length of the next try over that of a step that was taken back [-].
pub const STEP_SHRINKS: f64 = 0.5;

/// Length of the next step over that of one that went well [-]. Less than a step is shortened by: what was too
/// long is not tried again at once.
pub const STEP_GROWS: f64 = 1.5;

/// Furthest that a body goes in one step, in thicknesses [-]. At 1 a ball could come out on the other side of another.
pub const MOST_TRAVEL: f64 = 0.5;

/// Explicit steps stay below this share of `sqrt(m / (k A))` [-]; at 2 they would explode.
pub const STEP_SHARE: f64 = 0.5;

/// Rounds in which coats come to the volume they are set to at the start [-]. Each leaves half of
/// what was lacking: a thousandth of a doubling is left after ten, the rest is for what is buried.
pub const VOLUME_ROUNDS: usize = 24;

/// Fastest change of a coat by the volume controller, in thicknesses per time constant [-].
/// Faster, and a sudden burial pops.
pub const SLEW: f64 = 1.0;

/// Greatest amplification of a thickening at a neck that the controller reckons with [-].
pub const MOST_GAIN: f64 = 20.0;

/// Time over which contacts come to feel what the volume controllers do to a coat [s]. At 0 a dough
/// that falls on a table bounces for ever: the coat thickens while it is pressed, and pushes back
/// after that. Longer, and a muscle that swells pushes late.
pub const SWELLING_TIME: f64 = 0.4;

/// Thinnest that the controller may make a coat, as a share of the thickness taken away [-].
pub const THINNEST: f64 = 0.9;

/// Overlap at the first frame, in thicknesses, that is said to the person [-].
pub const DEEP_START: f64 = 0.5;

/// Most rounds over the joints of articulated figures, for places and for velocities. A falling figure
/// of eleven bones takes some 15; fewer leave gaps.
pub const JOINT_ROUNDS: usize = 60;

/// Gap at which a joint is closed [m]: a thousandth of a hair. Smaller costs rounds.
pub const JOINT_GAP: f64 = 1.0e-7;

/// Rate at which a joint that starts beyond its limits comes back within them [1/s]. Faster, and the
/// figure is thrown by it.
pub const LIMIT_RATE: f64 = 10.0;

/// Rate at which the turning of bones against each other dies away if the scene does not say [1/s].
pub const JOINT_DAMPING: f64 = 4.0;

/// Slip below which friction is viscous [m/s]. Smaller makes resting bodies tremble.
pub const SLIP: f64 = 0.05;

/// Widening of that range with the load, as a share of the slip that one step of full friction
/// takes away [-]. Below one half a loaded body's friction overshoots and it spins for ever.
pub const SLIP_SHARE: f64 = 0.7;

/// Stiffness of the bristle that holds a patch of contact against slip, over that of the coat's whole face [-]. What lies
/// on a slope sags by a millimetre or two before it holds. At 0.5 a dropped lump rocks twice as far on the feet that
/// hold it.
pub const BRISTLE: f64 = 0.2;

/// Length of a segment that adds to the stiffness of the bristle under it, in thicknesses [-]. Steps are as short as a ball
/// of its thickness needs them, and a longer one would shake.
pub const GRIPPED: f64 = 6.0;

/// Speed of approach up to which a contact is damped as much as the step allows [m/s]. Lower, and a dough rocks on its
/// foot for seconds; higher, and what falls does not bounce.
pub const SLOW: f64 = 0.02;

/// Distance of two blended primitives, in thicknesses, below which they share their volume rather
/// than each keep its own [-]. Smaller, and a primitive that meets another is suddenly buried.
pub const SEPARATE: f64 = 1.0;

/// Time over which a bulge follows the pressure of its contact [s]. Shorter, and it trembles with
/// the contact's samples.
pub const BULGE_TIME: f64 = 0.05;

/// Strength of a bond as a share of the greatest attraction [-]. Without bonds a dough is a liquid;
/// with bonds much stronger than the attraction it is brittle.
pub const BOND_STRENGTH: f64 = 0.5;

/// Share of the way from the rest distance to the tearing distance after which a bond fades [-].
/// Earlier, and a dough tears where it is pulled first instead of necking.
pub const BOND_FADES: f64 = 0.4;

/// Share of the threshold above which a weld that was pressed is held and does not heal off [-].
/// At 1 a weld pressed just so hard would flicker.
pub const WELD_HOLDS: f64 = 0.5;

/// Radius of a weld over that of a disc as large as the contact [-]. Below 1, gaps stay between the
/// welds of neighbouring primitives.
pub const WELD_SPREAD: f64 = 1.1;

/// Distance, in radii, within which two contacts belong to one weld [-]. Larger, and contacts side
/// by side share a weld that covers neither; smaller, and one that creeps is welded again and again.
pub const WELD_APART: f64 = 0.75;

/// Furthest that a weld goes in one step to lie between its two sides, in radii [-]. Fields of a dough that is squeezed
/// change by more than their slope says; faster, and a weld jumps to and fro.
pub const WELD_DRIFT: f64 = 0.1;

/// Least speed per impulse of two bodies that are welded [1/kg]; keyed ones have none, and would divide by 0.
pub const LEAST_PLIANCY: f64 = 1.0e-9;

/// Cells per thickness when the scene says nothing [-]: a ball has some 600 triangles.
pub const CELLS_PER_THICKNESS: f64 = 5.0;

/// Distance from a tool or a contact within which a point of the lattice lies on it, in cells [-]. Rounding puts a point
/// some ten-millionths aside; without this a table or a jaw on a plane of the lattice is rough by a cell.
pub const ON_LATTICE_CELLS: f32 = 1.0e-3;

/// Share of the level below which a field counts as gone where a vertex goes by its logarithm [-]. Rounding leaves
/// some ten-millionths of what is taken away from it.
pub const NO_SHARE: f32 = 1.0e-6;

/// Depth below which an edge only touches a triangle that it goes through, in cells [-]: a hair that nobody sees, and
/// that rounding makes.
pub const CROSSED_CELLS: f32 = 0.004;

/// Steps in which a point goes back to where the extraction had put it, and as many for each leg after that [-].
/// Fewer leave dents in a rim where a hair's breadth would have done.
pub const STEPS_BACK: f32 = 4.0;

/// Rounds in which surfaces are taken back from where they go through each other [-]. Two or three are usual; a point
/// is at the middle of its cube after twelve, and takes others along.
pub const UNTANGLE_ROUNDS: usize = 24;

/// Most that a piece is drawn thicker or thinner than it is, to show the volume it should have, in thicknesses [-].
/// More would be seen as a gap or an overlap beside what presses on it.
pub const MOST_MADE_UP: f64 = 0.15;

/// Share of a volume that its seeds may measure wrong before the surface is moved for it [-]. A quarter of what a scene
/// promises; smaller, and surfaces at rest would be moved for nothing.
pub const SEEDS_MEASURE: f64 = 0.006;

/// Most that a surface is moved for that, in cells [-]. More would be seen beside contacts, which stay.
pub const MOST_EVENED: f32 = 0.4;

/// Most times that surfaces are extracted again because their own volume is not the one they should have [-]. One is
/// enough but for what is squeezed flat.
pub const VOLUME_EXTRACTIONS: usize = 3;

/// Uneven pressure under which a particle of a dough is flattened, in thicknesses times stiffness [-]. A heap of three
/// layers of particles at the usual stiffness presses by a tenth; a rolling pin by a half.
pub const FLATTENS: f64 = 0.15;

/// Time in which a particle is flattened by a factor of e, where it is pressed by a thickness times the stiffness beyond
/// that [s]. Longer, and what is rolled springs back when the pin has passed. At 0.02 slabs pressed on each other lost the
/// pressure under which they fuse.
pub const FLATTEN_TIME: f64 = 0.04;

/// Most that a particle is flattened in one step [-].
pub const MOST_FLATTENED: f64 = 0.05;

/// Thinnest that a particle may become, as a share of its thickness [-]: a third of a dough's height, with room to spare. A
/// thinner one needs shorter steps.
pub const THINNEST_PARTICLE: f64 = 0.3;

/// Most that a particle may be longer than it is wide [-]. Squeezed from two sides it becomes 1.5 times as long, and stood
/// out of the dough like a thorn at 2; squeezed from one side it may grow as wide as its thinness asks for.
pub const MOST_OBLONG: f64 = 1.9;

/// Share of all that resists being turned which is added in every way, so that a row of particles has a spin about
/// itself: none [-].
pub const LEAST_SPREAD: f64 = 0.05;

/// The same where flattened particles rub on each other [-]. What is kept from the spin there is taken for sliding, and slows a
/// lump that turns as a whole: with the other one it lost half of its spin in a quarter of a second.
pub const LEAST_SPREAD_RUBBED: f64 = 1.0e-4;
