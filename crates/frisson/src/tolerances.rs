//! Every threshold of the engine: its unit, its reason, and what breaks if it moves.

/// Positions closer than this fraction of the mesh's diagonal are one point [-].
///
/// Exporters split vertices at uv seams and write bit-equal copies; this only has to absorb
/// quantised formats (16 bits: 1.5e-5 of the box). Larger, and thin eyelids weld shut.
pub const WELD_FRACTION: f32 = 1.0e-6;

/// A triangle with less area than this times its longest edge squared is degenerate [-].
///
/// Below it, f32 normals have no correct digit. Larger, and legitimate slivers lose their normal.
pub const DEGENERATE_AREA_FRACTION: f32 = 1.0e-7;

/// Shortest vector that has a direction [m]. Below it, normalising amplifies rounding noise.
pub const MIN_LENGTH: f32 = 1.0e-12;

/// Cosines of two normals at which they begin to face each other across a crease, and at which they
/// do so wholly [-]: 60 to 90 degrees apart.
///
/// Higher, and every limb is searched for what faces it; if both were the same, folds would pop as a
/// joint bends.
pub const GUARD_FACING_COSINES: [f32; 2] = [0.5, 0.0];

/// Distances beside a point, in edges, up to which an obstacle is in front of it and from which it is not
/// [-]. A surface has a point within 0.7 edges of any place on it; further out costs time only.
pub const GUARD_BESIDE: [f32; 2] = [0.7, 1.2];

/// Cells per obstacle that the guard's search may have [-]. A patch of skin fills few of the cells
/// around it; more are slower to clear than to search.
pub const GUARD_CELLS_PER_ITEM: usize = 8;

/// Half the squared difference of two unit normals below which they are the same for the guard [-].
///
/// About a tenth of a degree: rounding noise of normals must not make walls out of a flat sheet.
pub const GUARD_LEAST_TURN: f32 = 2.0e-6;

/// Share of the gap to the facing surface that a fold may fill [-]; below one half, both sides fit.
pub const GUARD_SHARE: f32 = 0.45;

/// Thresholds of the flesh layer.
pub mod flesh {
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
}

/// Thresholds of the wrinkles layer.
pub mod wrinkles {
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
}

/// Thresholds of the cloth layer.
pub mod cloth {
    /// Least area that an edge stands for, as a share of its length squared [-]. An edge of shapeless
    /// triangles would else have no stiffness at all; a healthy triangle has about 0.4.
    pub const LEAST_AREA_SHARE: f64 = 1.0e-3;

    /// Least mass of a node, as a share of the mean [-]. Smaller, and light nodes jump.
    pub const LEAST_MASS_SHARE: f64 = 1.0e-3;

    /// Least shear stiffness along the bias, as a share of the softer thread's [-]. With none, a
    /// diagonal edge would not resist at all and quads could fold over.
    pub const LEAST_SHEAR_SHARE: f64 = 1.0e-4;

    /// Length that a tether has beyond the cloth's own, as a fraction [-]: the error of geodesic
    /// distances. Less, and flat cloth is pulled in; more, and the solver's own sag comes back.
    pub const TETHER_SLACK: f64 = 1.0e-3;

    /// Cloth that stretches more than this under its own weight is not tethered [-].
    pub const TETHER_MAX_SLACK: f64 = 0.05;

    /// Up to so many pins, every node is tethered to each; beyond, to the nearest. Setting up costs
    /// one walk over the mesh per pin.
    pub const TETHER_PINS: usize = 4;

    /// Pins that are asked whether they are pulled apart; each costs a walk over the mesh when it is built.
    /// Fewer, and the need between clamps is measured askew.
    pub const PULLED_PINS: usize = 16;

    /// Stretch that pins ask of the cloth from which cords and limits give [-]: above rounding.
    pub const PULLED_FROM: f32 = 1.0e-4;

    /// Detour over a node, as a share of the way between two pins, up to which it lies between them [-];
    /// from twice that on it does not. Much more, and a shoulder that stretches loosens the whole cape.
    pub const PULLED_DETOUR: f32 = 0.15;

    /// Least share of its correction that an edge makes in a sweep where pins ask more of the cloth
    /// than its lengths allow [-]. More, and the order of solving shows as uneven stretch; less, and a pull
    /// takes seconds to reach the middle of a fine mesh.
    pub const EASE: f32 = 0.1;

    /// How fast that share falls with what is asked [-].
    pub const EASE_PER_NEED: f32 = 150.0;

    /// How much longer cords are, in what pins ask of the cloth [-]. With 1, cords are taut just where the
    /// fabric should be, and the two fight; cloth that is pulled taut needs no cords.
    pub const CORD_GIVE: f64 = 10.0;

    /// Default thickness in mean edges, where the fabric's own is less [-]. Contacts are made at nodes:
    /// a thinner band lets the flat of a triangle cut into round bodies.
    pub const THICKNESS_EDGES: f64 = 0.25;

    /// Stretch that the solver itself may add to cloth without coarse levels, when choosing sub-steps
    /// [-].
    pub const SOLVER_SAG: f64 = 0.046;

    /// How far cloth with coarse levels falls freely in a sub-step, in mean edges [-]: what is left for
    /// the edges to hold between coarse nodes. With twice this, the 99th percentile of a fine hanging
    /// sheet's stretch is no longer under 2 %.
    pub const FALL_PER_STEP: f64 = 3.0e-4;

    /// Rolling resistance of cloth that is blown up [-]: between a football on a floor (0.02) and on grass.
    /// With none, the corners of its mesh set it rolling.
    pub const ROLLING_RESISTANCE: f64 = 0.05;

    /// Friction coefficient of air along cloth, in drag coefficients [-]: about what flags are measured to
    /// feel before they flutter.
    pub const SKIN_FRICTION: f64 = 0.02;

    /// Stretch that the solver itself may add to cloth under an overpressure, when choosing sub-steps [-].
    /// More, and a ball is larger than its rubber says.
    pub const BLOWN_STRETCH: f64 = 0.01;

    /// Sweeps over the spans of the finest coarse level; the next one has twice as many, and so on.
    /// With one, meshes of 256 x 256 stretch by a third more.
    pub const SPAN_SWEEPS: usize = 2;

    /// Fewest sub-steps in 1/120 s: fast contacts and stiff folds need them on the coarsest mesh.
    pub const LEAST_SUBSTEPS: u32 = 6;

    /// Times more sub-steps for cloth that touches moving meshes [-]: what limbs push has to be handed on
    /// through the cloth while they push. With 1, a quarter more of a running skirt's time, the 99th
    /// percentile of its stretch is three times as much, and knees show through.
    pub const BODY_SUBSTEPS: f64 = 4.0;

    /// Distance between coarse nodes of one level, in edges (or nodes of the level below) [-].
    pub const COARSE_EDGES: f64 = 3.0;

    /// Levels are added until so few nodes are left.
    pub const COARSEST_NODES: usize = 24;

    /// Coarse nodes up to so many spacings apart are joined [-]. Fewer joins leave directions in which
    /// the load is carried by edges alone.
    pub const SPAN_REACH: f64 = 2.2;

    /// Coarse nodes up to so many spacings away move a node [-]. Every node lies within one spacing of
    /// some coarse node; more than 1, so that the displacement is continuous.
    pub const HAND_DOWN_REACH: f64 = 1.3;

    /// Stretch limit of a fabric that would not stretch under its own weight [-]. Less, and the limit
    /// does the work of the fabric; more, and fine meshes look like rubber near the pins.
    pub const STRETCH_LIMIT: f64 = 0.012;

    /// Share of the velocity that stretches an edge which 1/120 s takes away [-]: the ringing of stiff
    /// edges. Less, and cloth that is brought up short keeps trembling.
    pub const STRETCH_DAMPING: f64 = 0.8;

    /// Share of any relative velocity of an edge's ends that 1/120 s takes away [-]: friction between
    /// fibres. Much more, and folds move as in honey.
    pub const FIBRE_DAMPING: f64 = 0.1;

    /// Share of the dressing time in which characters move into their first pose [-]; the cloth comes
    /// to rest in what is left.
    pub const DRESSING_MOVES: f32 = 0.7;

    /// Speed at which cloth that is inside a collider is brought out [m/s]. Faster, and a bad start
    /// makes the cloth jump; slower, and it is seen inside.
    pub const RECOVERY_SPEED: f64 = 0.25;

    /// The same for cloth that started free and was pressed in later, by a fast limb [m/s].
    pub const FAST_RECOVERY_SPEED: f64 = 4.0;

    /// Pairs nearer than so many thicknesses (beyond what moves in a tick) are watched [-].
    pub const SELF_REACH: f64 = 1.5;

    /// Cloth nearer than so many thicknesses at rest is not in contact with itself [-].
    pub const SELF_NEIGHBOURS: f64 = 1.5;

    /// A node farther than so many thicknesses behind a triangle belongs to another place [-].
    pub const SELF_DEPTH: f64 = 4.0;

    /// Searches for which a crossing is left to the contacts that remember another side [-]. With none,
    /// cloth that is pressed through itself may come out on the other side; many more, and cloth whose
    /// memory is wrong stays tangled for seconds.
    pub const SELF_PATIENCE: u8 = 20;

    /// Speed at which tangled cloth is taken apart [m/s]. Faster, and it jumps; slower, and it is seen.
    pub const UNTANGLE_SPEED: f64 = 1.0;

    /// Length of the sum of unit directions below which an edge is moved less than that [-]: straight
    /// curves of crossing have no direction in which they get shorter, only rounding noise.
    pub const UNTANGLE_EASE: f64 = 0.1;

    /// Least sine between a piercing edge and the pierced triangle [-]; flatter, and the way out along
    /// the edge would be longer than the edge.
    pub const UNTANGLE_STEEP: f64 = 0.2;

    /// How far a node may move, at most, for a place between nodes to move by one [-]. More, and a free
    /// node beside held ones is flung about.
    pub const MOST_SPOT_LEVER: f64 = 2.0;

    /// Stretch of an edge at which its nodes let the body pass that drags them [-]. A knee that hits a
    /// skirt draws single edges out to nearly twice their length for a few ticks, and must not come through
    /// for that; much more, and a hand draws a tongue out of it.
    pub const GIVE_STRETCH: f64 = 1.3;

    /// How long they do [s]. Shorter, and the hand catches them again before it is through.
    pub const GIVE_SECONDS: f64 = 0.1;

    /// Sum of the unit directions of drawn-out edges against a contact's normal below which the contact
    /// is what draws them out [-].
    pub const GIVE_PULL: f32 = -0.2;

    /// Speed past the cloth above which a place of a body belongs to a passing limb [m/s]; what lies
    /// under the cloth moves with it.
    pub const GIVE_SPEED: f64 = 1.0;

    /// Height of the band over corners of bodies, in thicknesses [-]. Half of it is the least clearance:
    /// less than that of nodes, which should carry the cloth; with none, skin shows through.
    pub const POKE_BAND: f64 = 0.5;

    /// Cloth whose nodes feel a body with a normal of at least this cosine to a corner's is on the
    /// corner's side of the body [-].
    pub const SAME_SIDE_COS: f32 = 0.5;

    /// Share of a selection from which a vertex made by subdivision belongs to it [-]. Half is what the
    /// middle between a chosen and another vertex has.
    pub const SPREAD_SHARE: f64 = 0.7;

    /// Half-angle of a cone of normals within which a patch of cloth cannot meet itself [rad]; a right
    /// angle in theory, less for the rim.
    pub const FLAT_SPREAD: f32 = 1.3;

    /// Share of the way to the top of the contact band that a node is eased up per sub-step [-].
    /// 1 irons small folds flat at a touch; much less, and heavy cloth sinks to the band's bottom.
    pub const BAND_EASE: f64 = 0.25;

    /// Two surfaces pinch when their normals' cosine is below this [-]. Nearer 0, the two sides of a
    /// crotch or an armpit count as pinching although cloth can slip out.
    pub const PINCH_COS: f64 = -0.5;

    /// How far pinched cloth is held back in a sub-step while something pulls it, in thicknesses times
    /// friction [-]. Much more, and a hand that wipes over a hip drags a skirt along like rubber; less,
    /// and pinched cloth slips out as if it were wet.
    pub const PINCH_GRIP: f64 = 1.0;

    /// Share of the way back to its place that a stuck node is pulled per sub-step [-]. At 1 it could
    /// never be seen to be torn away; much less, and it hangs on a rubber band.
    pub const STICK_PULL: f64 = 0.3;

    /// Distance over which contacts with a body are looked for beyond what moves in a tick, in mean
    /// edges [-]. Less, and a node that turns towards the body within the tick is missed.
    pub const BODY_REACH_EDGES: f64 = 0.5;

    /// Triangles of a body count as another side of it when their normals' cosine is below this [-]:
    /// a node then feels both. Nearer 1, neighbouring triangles of one side count twice.
    pub const OTHER_SIDE_COS: f32 = 0.3;
}

/// Thresholds of the folds layer.
pub mod folds {
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
}

/// Thresholds of the hair layer.
pub mod hair {
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

    /// Ticks of the shot that hair is combed and settles by at once [-].
    ///
    /// Two: a sixtieth of a second is short enough for hair in thick air to stay out of the head, and
    /// styling takes half the time. Only the balance needs the shot's own tick.
    pub const STYLE_TICKS: f64 = 2.0;

    /// Hair that settles slower than this has settled [m/s].
    pub const STYLED_SPEED: f32 = 1.0e-3;

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
    pub const LAY_ROUNDS: usize = 4;

    /// Rounds in which the way to such a point is turned out of bodies and off the planes of meshes.
    ///
    /// Two clear a head, more a small ball.
    pub const TURN_ROUNDS: usize = 4;

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
}

/// Thresholds of the drops layer.
pub mod drops {
    /// A drop nearer to an edge than this, in lengths of the edge, stands on it [-].
    ///
    /// Doubles place a drop to about 1e-16 of the triangle. Larger, and the dropped root shifts exits
    /// visibly; smaller, and rounding noise makes a drop that runs along an edge leave it.
    pub const ON_EDGE: f64 = 1.0e-13;

    /// A crossing nearer to a vertex than this, in lengths of the edge, goes through the vertex [-].
    ///
    /// Must exceed [`ON_EDGE`]. Larger, and the straight line over a finely cut plane bends.
    pub const SNAP: f64 = 2.0e-13;

    /// Crossings at T-junctions and in no time are kept this far from vertices, in lengths of the
    /// edge [-]: there the fan of a vertex does not list every neighbour.
    pub const TEE_NUDGE: f64 = 1.0e-11;

    /// Most events (stays, crossings, rests) of a drop in a step; what is left of the step is lost and
    /// reported. Reached only on meshes with cells far below the way of one step.
    pub const MAX_EVENTS: usize = 1024;

    /// Most events without time passing before a drop is put to rest for the step. A fan of needle
    /// triangles needs a few dozen.
    pub const MAX_IDLE: usize = 64;

    /// An event that takes less than this does not count as progress [s]. Larger, and fast drops on
    /// microscopic triangles would be stopped; smaller, and a drop that chatters between two edges
    /// uses up its events.
    pub const IDLE_TIME: f64 = 1.0e-7;

    /// A drop that would be back on the edge within this part of a tick becomes one on the edge [-].
    pub const RETURN_FRACTION: f64 = 0.1;

    /// A push smaller than this part of the acceleration is rounding noise [-].
    pub const EDGE_PUSH: f64 = 1.0e-10;

    /// Two edges nearer than this part of the longer one lie on each other [-]. Single-precision
    /// meshes place a T-junction's vertex to about 1e-6 of the edge.
    pub const TEE_DISTANCE: f64 = 1.0e-5;

    /// Shortest common part of two such edges, in lengths of the edge [-].
    pub const TEE_LEAST_OVERLAP: f64 = 1.0e-6;

    /// Most edges crossed in one walk; a drop's width is rarely more than a few triangles.
    pub const MAX_WALK: usize = 64;

    /// Most triangles deep that a strip is turned over edges.
    pub const MAX_FOLDS: u32 = 5;

    /// A strip of a trail ends where the drop has strayed this far from its first direction, in half
    /// widths [-]. Larger, and curved trails show corners; smaller, and there are more strips.
    pub const STRIP_BEND: f64 = 0.1;

    /// Longest strip, in half widths [-]: it dries unevenly, but evenly between its two ends.
    pub const STRIP_LENGTH: f64 = 48.0;

    /// A strip is gone after this many drying times [-]: it has drawn back to 7% of its width.
    pub const DRY_AFTER: f64 = 3.0;

    /// Steps in which a strip draws back while it dries. More, and more of them are drawn again in
    /// every frame; fewer, and a strip is seen to jump: it narrows by a thirtieth at a time.
    pub const DRYING_STEPS: f64 = 96.0;

    /// Dry strips are looked for after this part of the drying time [-].
    pub const SWEEP_SHARE: f64 = 0.25;

    /// Two drops merge only if the cosine between their normals is above this [-]: a leaf has two
    /// sides.
    pub const MERGE_NORMALS: f64 = 0.3;

    /// Growth of a drop's reach by merging with one like it, `cbrt(2)` [-]. The search for drops that
    /// may meet counts it in, so that a merged drop finds its next partner within the same tick.
    pub const MERGED_REACH: f64 = 1.26;

    /// Most merge tests in a tick, of drops that may meet. Between two, no drop should move more than
    /// its reach; above this many, the report says so. A drop of a milligram reaches 1 mm and would
    /// have to run 30 m/s.
    pub const MAX_MERGE_TESTS: u32 = 256;

    /// Chords that replace the arc of a fall in the search for what it meets, per step.
    pub const FALL_PIECES: u32 = 2;

    /// Margin of that search, and clearance of a drop that glances off [m]. The arc bulges 1e-5 m from
    /// its chord.
    pub const LAND_MARGIN: f64 = 1.0e-4;

    /// Least viscosity of a liquid that draws threads [Pa s]: of thinner ones a neck breaks within a few
    /// hundredths of a second, faster than pictures follow each other.
    pub const THREAD_VISCOSITY: f64 = 0.03;

    /// Least Ohnesorge number, viscosity over the root of density, tension and radius, of a drop that draws
    /// threads [-]. Below it inertia pulls a neck apart before viscosity can hold it.
    pub const THREAD_OHNESORGE: f64 = 0.5;

    /// Wetness below this is dry [-].
    pub const MIN_WETNESS: f64 = 1.0e-4;

    /// Film below this is a stain or nothing [kg].
    pub const MIN_FILM: f64 = 1.0e-14;

    /// Ticks after a surface has stopped during which drops still feel it: the smoothed pull has
    /// faded to nothing by then.
    pub const STILL_TICKS: u32 = 30;

    /// Number of drops stepped together. Fixed, so that results do not depend on threads.
    pub const CHUNK: usize = 128;

    /// A shape is in equilibrium when no point's force exceeds this, in tension times radius [-].
    pub const SHAPE_RESIDUAL: f64 = 1.0e-7;

    /// A shape longer than this has run away: there is no equilibrium [radii].
    pub const SHAPE_LARGEST: f64 = 3.5;

    /// A shape that turns more than this between two rings bulges over its contact line, which rays
    /// cannot follow: the one before is used [radians].
    pub const SHAPE_SHARPEST: f64 = 0.7;

    /// Ground whose smooth normal differs less than this from the triangle's, as one minus the cosine,
    /// is flat for a drop [-]: its rim would move by a thousandth of its radius.
    pub const FLAT_GROUND: f64 = 1.0e-6;

    /// Depth of a drop's base below the surface, in radii [-]: no light between them.
    pub const BASE_SINK: f32 = 0.03;

    /// Height of trails over the surface, besides their thickness [m]: pictures need a gap.
    pub const TRAIL_LIFT: f32 = 8.0e-5;
}

/// Thresholds of the soft-body layer.
pub mod soft {
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
    pub const FINE_SEEDS: usize = 8;

    /// Rounds of a seed's search after its place is bracketed. Six are usual.
    pub const SLIDE_ROUNDS: usize = 40;

    /// A seed this close to a limit is stopped by it, in thicknesses [-]. Larger than [`SEED`], or
    /// rounding decides who is in contact.
    pub const STOPPED: f64 = 1.0e-5;

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

    /// Cells per thickness when the scene says nothing [-]: a ball has some 600 triangles.
    pub const CELLS_PER_THICKNESS: f64 = 5.0;
}

/// Thresholds of the iso-surface extraction.
pub mod isosurface {
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
}
