//! Thresholds of the hair layer.

/// Relative length error at which a chain step is good enough [-].
///
/// A tenth of the 1% that straight hair may stretch. Smaller costs rounds that nobody sees.
pub const STRETCH: f32 = 1.0e-3;

/// Further rounds of a chain step when lengths do not hold yet.
///
/// A 10 g shake needs one or two; the bound only keeps absurd input from taking for ever.
pub const EXTRA_ROUNDS: usize = 6;

/// Stiffness of a contact as a multiple of mass / step² [-].
///
/// At 300 and 120 steps a second a particle at rest sinks in by two millionths of a metre, pressed
/// with 10 g by a fiftieth of a millimetre, of a margin of one. Much larger, and single precision
/// no longer resolves how deep it is, on which friction depends; much smaller, and it shows.
pub const CONTACT: f32 = 300.0;

/// Sections whose particles all move this little against each other do not interact [m/s].
///
/// One centimetre a second is below what friction visibly changes. Larger, and slow hair slips.
pub const SLOW: f32 = 0.01;

/// Dry friction beyond this holds hair in place, tick by tick [m/s²].
///
/// Half of gravity: less cannot carry hair anyway, and hair that only slows down may be treated less
/// often. Smaller would make every head of hair pay for holding.
pub const HOLDS: f32 = 5.0;

/// Most acceleration with which a style is held besides its rest angles [m/s²].
///
/// What soft joints cannot carry. Beyond gravity it would throw hair about when the head turns over.
pub const STYLE_HOLD: f32 = 9.81;

/// The same of hair between the skin and its tie [m/s²].
///
/// Combed tight, wisps are pressed against the head and each other harder than by their weight, and
/// the tie takes it up.
pub const TIE_HOLD: f32 = 200.0;

/// Rounds in which the rest state is solved, one trial tick each.
///
/// The slow modes, which sag, are met in one or two; the others bring contacts and envelopes to
/// balance. More change less than a tenth of a millimetre.
pub const BALANCE_ROUNDS: usize = 24;

/// A particle that still starts faster than this when the rest state is solved will sag [m/s²].
///
/// A tenth of a metre per second squared on the softest pull that hair has is less than a millimetre.
pub const SAGS: f32 = 0.1;

/// Rounds in which wisps that cannot be held sag and are held where they then are.
///
/// One is enough for most; what still sags after four lies against something that moves it.
pub const SAG_ROUNDS: usize = 4;

/// How long they sag in one round [s]: in thick air hair comes down to rest within that time.
pub const SAG_SECS: f64 = 0.8;

/// Pulls that are tried, one after the other, on wisps that do not stay where they balance [Hz].
///
/// None does for nearly all. Two hertz are more than the pull of gravity down a head, eight hold what is
/// caught between an ear and the head; more would shiver with the contacts.
pub const STEADY_HZ: [f64; 4] = [0.0, 2.0, 4.0, 8.0];

/// The same for wisps that no such pull holds and that do not come to rest where they sag to either [Hz].
///
/// What is squeezed between a hat and a head is held by both: within `STEADY_REACH` sixteen hertz are twice gravity,
/// thirty-two eight times.
pub const PINCHED_HZ: [f64; 6] = [0.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// How long balance must last in a trial [s].
///
/// What gives way slowest on the built-in heads is a tenth of a millimetre off by then and comes to rest
/// after a second. Each trial of a whole head costs a tenth of the styling.
pub const STEADY_SECS: f64 = 0.5;

/// Hair that leaves its place by more than this in a trial does not lie steadily [m].
///
/// A twentieth of a millimetre: ten times what contacts take to settle, and what would grow to
/// millimetres within a second.
pub const STEADY: f32 = 5.0e-5;

/// Hair that leaves its place by more than this within `RESTLESS_SECS` is not at rest when the shot begins, nor what is pulled
/// harder for that and leaves it by more within `STEADY_SECS` [m].
///
/// A fiftieth of a millimetre within a tenth of a second: the speed that `RESTING` stops. Most wisps do a thousandth.
pub const RESTLESS: f32 = 2.0e-5;

/// How long it is looked for [s].
pub const RESTLESS_SECS: f64 = 0.1;

/// How much nearer another wall of a fold must be before a particle leaves the one that it is at [m].
///
/// A fifth of a millimetre: ten times what hair at rest moves within contacts, a fifth of the margin that keeps it off
/// either wall. Less, and the walls take turns from tick to tick; much more, and it sinks into the other.
pub const FOLD_SLACK: f32 = 2.0e-4;

/// Cosine of the angle between the ways to two places beyond which they are two walls, not one surface [-].
///
/// 60 degrees: along one surface, within the slack and at the margin, the next triangle lies 25 degrees off.
pub const FOLD_COSINE: f32 = 0.5;

/// How fast a mesh that comes into sight may narrow an envelope [m/s].
///
/// Half a metre a second is 4 mm a tick: a wall that a particle sees only from here on does not fold its hairs up at
/// once, and what is within the wall until then is drawn on it. Much slower, and hair lags behind a nodding head.
pub const NARROWING: f32 = 0.5;

/// How far from its place such a pull still grows [m].
///
/// Two millimetres: at eight hertz that is half of gravity, less than a shake of the head.
pub const STEADY_REACH: f32 = 2.0e-3;

/// Hair that leaves its place by more than this sags [m].
pub const SAG: f32 = 1.0e-3;

/// Ticks of the shot that hair is combed and settles by at once [-].
///
/// One. Two take half the time, but leave tufts standing on the crown of a head of long hair.
pub const STYLE_TICKS: f64 = 1.0;

/// Hair that settles slower than this has settled [m/s].
pub const STYLED_SPEED: f32 = 1.0e-3;

/// Hair that is slower than this, while its root, its envelope and the air stand still, stays where it is [m/s].
///
/// A millimetre in five seconds, and what a quarter of a percent of gravity does to hair at rest within a tick: less than
/// it rubs on its neighbours. Larger, and hair that finds back to its style would stop on the way.
pub const RESTING: f32 = 2.0e-4;

/// The same of hair that is pinched between two walls and within `SAG` of its place [m/s].
///
/// Five centimetres a second: what walls that hand it to each other give it within a tick. As its root moves it goes along.
pub const PINCHED: f32 = 0.05;

/// The same of its twist [rad/s]: a centimetre off the axis that is as slow.
pub const RESTING_TWIST: f32 = 2.0e-2;

/// How far from straight down hair must leave its root to need all of its memory, as one less the
/// cosine [-]: 30 degrees.
///
/// Hair on a head leaves it farther from the fall than that; hair that hangs does not.
pub const TILTED: f32 = 0.134;

/// Share of the memory of the style that hair which hangs straight down has [-].
///
/// A fifth of the frequency: it is drawn back by its weight, and by a little more where friction would
/// hold it.
pub const HANGING_MEMORY: f32 = 0.04;

/// How much harder the memory of the style pulls, as a frequency, where all is still [-].
///
/// Three times: half a hertz becomes one and a half, back within a second. Much more looks drawn by
/// a string.
pub const RECOVERY: f32 = 3.0;

/// How much harder the memory of the style pulls at the skin than at the tip, as a frequency [-].
///
/// Half a hertz at the tip becomes two and a half at the skin: what runs and nods shake (2 to 3 Hz)
/// still moves that part, gravity alone does not turn it over. Much more, and hair moves like a wig.
pub const ROOT_MEMORY: f32 = 4.0;

/// Hair that lies on a body and is farther than this from its styled place goes around [m].
///
/// Two centimetres: nearer, the straight way leads over no ridge of a head.
pub const ROUND_ABOUT: f32 = 0.02;

/// How long head and air must be still before the memory pulls its hardest [s].
pub const CALM_SECS: f32 = 1.0;

/// A root slower than this is still [m/s].
pub const CALM_ROOT: f32 = 0.05;

/// Air slower than this is still [m/s].
pub const CALM_AIR: f32 = 0.3;

/// Share of the friction with bodies that is left where all is still [-]: what lies on the head slips
/// back into place.
pub const CALM_FRICTION: f32 = 0.1;

/// Largest radius of an envelope sample as a multiple of its rest radius [-].
///
/// Hair does not blow up like a balloon; much larger, and struck wisps overlap half the head.
pub const WIDEST: f32 = 2.0;

/// A guide curve that starts farther than this from the scalp is worth a warning [m].
///
/// A centimetre is more than any hairline is off; ten mean another unit or another head.
pub const GUIDE_OFF: f32 = 0.01;

/// Rounds of pushing particles out of bodies and giving segments their length back.
///
/// Each round leaves a fraction of the error; after four it is below a tenth of a millimetre.
pub const SETTLE_ROUNDS: usize = 4;

/// Rounds in which a point of a drawn hair looks for what is beneath it, at its distance from the point
/// before.
///
/// One does, and a second where it was moved far; more on the rim of an ear.
pub const LAY_ROUNDS: usize = 8;

/// Rounds in which the way to such a point is turned out of bodies and off the planes of meshes.
///
/// Two clear a head, more a small ball.
pub const TURN_ROUNDS: usize = 4;

/// Steepest way off a surface, as a sine [-].
///
/// Steeper, and a hair that starts inside would stand on end.
pub const STEEPEST: f32 = 0.95;

/// Turns of the way of a hair that nobody sees [-].
pub const LEAST_TURN: f32 = 1.0e-4;

/// Triangles that the way of a hair is turned off, one after the other.
///
/// One is enough for the rim of an ear, two or three for the fold behind it; a way that still enters after
/// six leads straight out.
pub const RIDGE_ROUNDS: usize = 6;

/// Halvings in which the least turn off such triangles is found.
///
/// Six: a sixty-fourth of a right angle, a third of a millimetre at the end of a way of two centimetres.
pub const TURN_HALVINGS: usize = 6;

/// Cosine of the turn at a particle beyond which a styled wisp is crumpled [-].
///
/// A right angle: hair of a style turns by less from one particle to the next, save in a braid.
pub const KINK: f32 = 0.0;

/// Rounds in which crumpled wisps are combed out.
pub const COMB_ROUNDS: usize = 3;

/// How far off a surface the way from a place on it is looked along [m].
///
/// A fifth of a millimetre: what is deeper inside shows, and rounding is a thousand times less.
pub const LIFT: f32 = 2.0e-4;

/// How much farther than is needed a way must be from a mesh to be free of it unseen [m].
///
/// A fiftieth of a millimetre: a hundred times what rounding does to a place on a character, a tenth of `LIFT`. Without it the last
/// bit would decide whether a way that just touches is looked at.
pub const FREE_SLACK: f32 = 2.0e-5;

/// How far from a place what it lies on is looked for [m].
pub const GROUND: f32 = 0.03;

/// Pushes out of overlapping bodies before leaving along their mean direction.
pub const PUSH_ROUNDS: usize = 8;

/// A root that moves this many wisp lengths in one tick has been teleported [-].
///
/// At 120 ticks a second and 0.3 m of hair that is 18 m/s: no head moves so fast. Smaller would
/// take violent shakes for cuts; larger would let a cut crack the hair like a whip.
pub const TELEPORT: f32 = 0.5;

/// Sections whose directions' cross product is shorter than this are parallel [-].
///
/// Below it (3 degrees) the direction across both is noise.
pub const PARALLEL: f32 = 0.05;

/// Relative speed below which two sections do not move against each other [m/s].
pub const STILL: f32 = 1.0e-6;

/// Largest tangent of half a rest angle [-]: beyond it the stiffness cannot hold the style.
///
/// 120 degrees at one joint. The hinge's torque keeps growing up to 150; the rest is reserve.
pub const REST_HALF_TANGENT: f64 = 1.73;

/// Most memory the strands of one frame may take [bytes].
///
/// Sixteen gigabytes: beyond it a typo (a million hairs a wisp) is likelier than a wish.
pub const MAX_STRAND_BYTES: u64 = 16_000_000_000;

/// Siblings closer than this fraction of their radius are replaced by one wisp [-].
///
/// The hairs jump by at most that much: 0.02 of 1 cm is 0.2 mm.
pub const MERGED: f32 = 0.02;

/// Halves that have become one grow to its thickness within this time, as a time constant [s].
///
/// A fifth of a second: as fast as they are drawn together. At once would show as a puff.
pub const THICKEN_SECS: f32 = 0.2;

/// A wisp is torn only where it moves faster than this against its root [m/s].
///
/// A tenth of a metre a second: what lies on a body is pressed flat there, not torn, and would split again
/// as soon as it has merged.
pub const TEARING_SPEED: f32 = 0.1;

/// How long hair that stands in water takes to draw up what it can hold, as a time constant [s].
///
/// A tenth of a second: hair is a wick. Where only a tenth of a wisp's roots are wet it takes a second.
pub const SOAK_SECS: f32 = 0.1;

/// How far a drop falls through the hair of a wisp until two thirds of it are caught [m].
///
/// A centimetre: a thousand hairs of 0.07 mm in a wisp of 3 cm leave a straight way of that length open.
pub const CATCH_LENGTH: f32 = 0.01;

/// How long hair stays wet once the skin has dried, as a time constant [s].
///
/// Ten minutes: within a shot it stays wet.
pub const DRY_SECS: f32 = 600.0;

/// Share of their drift by which sections that hold each other are drawn back at once [-].
///
/// A third, four times a tick: together most of it, without one pair undoing what the next has done.
pub const BOND_GAIN: f32 = 0.3;
