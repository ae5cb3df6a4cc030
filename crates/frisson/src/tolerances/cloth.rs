//! Thresholds of the cloth layer.

/// Nodes from which on other threads are called together for a tick. Calling them takes some ten microseconds, as the edges of
/// some hundred nodes do in a small step.
pub const NODES_FOR_A_TEAM: usize = 2000;

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

/// Share of the way along the cloth between two pins by which they may be nearer for the cloth to count as taut [-].
/// Sag draws edges out by 8/3 of its square over that way: cloth with more slack than this hangs.
pub const TAUT_FROM: f64 = 2.0e-3;

/// How many times the small steps taut cloth takes [-]: the solver's own give goes with the square of a step, and what
/// a sheet sags by between two bars with its third root. Half of it leaves cotton drawn out by 0.3 %, which takes 2 % off
/// the height of a fold over it.
pub const TAUT_EFFORT: u32 = 4;

/// Detour over a node up to which it lies on the way between two pins, as a share of that way [-]: marched distances
/// are good to a percent or two.
pub const TAUT_DETOUR: f32 = 0.03;

/// Distance of such a node from all pins from which on the way leads through free cloth, as a share of it [-]. Nodes
/// beside a held border are an edge from it.
pub const TAUT_FREE: f32 = 0.25;

/// Share of the free cloth that has to lie on ways between pins for it to be spanned at all [-]. Between two bars that is
/// all of it, between the four corners of a square two thirds; of a sheet that hangs by two corners a tenth, which would
/// make all of it take four times the steps.
pub const TAUT_SHARE: f32 = 0.5;

/// Least share of its correction that an edge makes in a sweep where pins ask more of the cloth
/// than its lengths allow [-]. More, and the order of solving shows as uneven stretch; less, and a pull
/// takes seconds to reach the middle of a fine mesh.
pub const EASE: f32 = 0.1;

/// Rigidity that keeps cloth from pleating row by row across such a pull, as a share of its tensile stiffness times the square
/// of a cell and what is asked [-]. Cotton in cells of 5 cm pulled by 6 % pleats by 11 mm on its own, stays flat with five times
/// its rigidity, which a share of 1.8e-5 is, and does not with two and a half times.
pub const TAUT_BEND: f64 = 3.0e-5;

/// How many times stiffer than it is cloth may get so where it is to be twice as long [-]: rounding bounds how small a share of
/// a hinge's compliance counts.
pub const MOST_TAUT: f64 = 1.0e4;

/// How fast that share falls with what is asked [-].
pub const EASE_PER_NEED: f32 = 150.0;

/// How much longer cords are, in what pins ask of the cloth [-]. With 1, cords are taut just where the
/// fabric should be, and the two fight; cloth that is pulled taut needs no cords.
pub const CORD_ALLOWANCE: f64 = 10.0;

/// How much more than the weakest the strongest node bears before it rips, as a share [-]: threads are not alike.
/// With none, evenly drawn cloth rips everywhere at once; much more, and `tear` says little.
pub const UNEVEN_THREADS: f64 = 0.2;

/// Nodes rip in one tick that bear at least this share of the greatest load [-]: the others are relieved by those
/// that do. With 0, cloth bursts into pieces.
pub const RIP_TOGETHER: f64 = 0.9;

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

/// Stretch of an edge that is more than the fabric's own [-]: then it takes harder solving. Less, and every fine sheet
/// that hangs is solved so for nothing.
pub const DRAWN_OUT: f64 = 0.022;

/// Share of such edges from which a tick is solved harder [-]: what the 99th percentile looks at.
pub const DRAWN_SHARE: f64 = 0.01;

/// How long [s]. Shorter, and it comes and goes from tick to tick; longer only costs.
pub const HARDER_SECONDS: f64 = 1.0 / 30.0;

/// How many times the small steps that takes [-]. Twice brings 99 of 100 edges of a sheet that a ball stops from
/// 4.4 % under 3 %; solving every step twice, or the coarse levels as often again, only to 3.5 %.
pub const HARDER: u32 = 2;

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

/// Length of the mean of all unit normals from which on cloth counts as lying on one side of a body, and at which
/// it wholly does [-]. Half a tube has 0.64, a cape more, a skirt less than 0.3.
pub const ONE_SIDED: (f32, f32) = (0.35, 0.6);

/// Share of the way into the first pose that each half of it takes where bodies come beside the cloth first and go
/// against it then [-]. At 1 both happen at once; at a half there is a stop between.
pub const DRESSING_OVERLAP: f32 = 0.6;

/// Decay of the cloth's motion while it is put on [1/s]. Less, and it swings into the shot; more, and its folds are
/// still on their way down.
pub const DRESSING_DAMPING: f64 = 2.0;

/// Stretch of the cloth between a pin and a node on its way out of a body from which on it is left inside [-]. Less,
/// and cloth stays inside that could come out; more, and what is modelled into a collar shakes.
pub const BURIED_STRETCH: f32 = 0.05;

/// Speed at which cloth that is inside a collider is brought out [m/s]. Faster, and a bad start
/// makes the cloth jump; slower, and it is seen inside.
pub const RECOVERY_SPEED: f64 = 0.25;

/// The same for cloth that started free and was pressed in later, by a fast limb [m/s].
pub const FAST_RECOVERY_SPEED: f64 = 4.0;

/// Times per tick that layers of the cloth are brought apart; their approach is stopped in every small step.
pub const SELF_SOLVES: u32 = 4;

/// The same for cloth on moving bodies: limbs push its layers against each other faster than it falls. With half as
/// many, a running skirt goes through itself four times as often.
pub const STRUCK_SELF_SOLVES: u32 = 8;

/// Speed at which layers of cloth on moving bodies are brought apart [m/s]. At [`RECOVERY_SPEED`] limbs press them
/// together faster than they part; much faster, and they are pushed into the limb. Tangles there come apart as many
/// times faster than [`UNTANGLE_SPEED`] as this is faster than [`RECOVERY_SPEED`].
pub const STRUCK_PARTING: f64 = 1.0;

/// Pairs nearer than so many thicknesses (beyond what moves in a tick) are watched [-]. With 2, two sheets that a box
/// strikes at 3 m/s do not cross for a tick at its rim, but a sewn tunic goes through the body by some edges.
pub const SELF_REACH: f64 = 1.5;

/// Thickness that cloth has for itself at most, in edges around [-]. More, and gathered cloth pushes its own neighbours
/// apart; less, and layers come nearer to each other than they are to bodies.
pub const OWN_THICKNESS_EDGES: f64 = 0.5;

/// Cloth nearer than so many thicknesses at rest is not in contact with itself [-].
pub const SELF_NEIGHBOURS: f64 = 1.5;

/// … and nearer than so many times that along its edges [-]: the way along edges is up to half as long
/// again as the straight one, and leads to corners of triangles. Much more, and two layers that are
/// joined at a hem do not feel each other beside it.
pub const NEIGHBOUR_WAY: f64 = 2.0;

/// Most nodes that are looked at around one. Cloth that is many edges thick would else take minutes
/// to build.
pub const MOST_AROUND: usize = 400;

/// A node farther than so many thicknesses behind a triangle belongs to another place [-].
pub const SELF_DEPTH: f64 = 4.0;

/// Searches for which a crossing is left to the contacts that remember another side [-]. With none,
/// cloth that is pressed through itself may come out on the other side; many more, and cloth whose
/// memory is wrong stays tangled for seconds.
pub const SELF_PATIENCE: u8 = 20;

/// Cosine between where an edge was of another and where it is, below which it has gone through it [-]. Higher, and
/// edges that turn about each other count as crossed.
pub const EDGES_THROUGH_COS: f32 = -0.5;

/// Searches for which edges that have gone through each other are brought back [-]. With none, what is pressed through
/// stays there; many more, and edges that went round each other's ends are held on the wrong side.
pub const EDGE_PATIENCE: u8 = 10;

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

/// Stretch of an edge from which its nodes lose their grip on bodies; at twice that it is gone [-]. More
/// than what dressed cloth has anyway; much more, and a hand pulls a cape along like rubber.
pub const SLIP_STRETCH: f64 = 0.03;

/// Speed up to which `settle` acts in proportion to it [m/s]: what is slower dies away at once. Much more, and
/// folds creep for seconds before they hang; much less, and swings end abruptly.
pub const SETTLE_SPEED: f64 = 0.02;

/// The same while cloth is put on somebody who stands still [m/s]. Less, and a cape still creeps out of a shape that is in no
/// balance when the shot begins, and snaps into another seconds later (a knight's: 40 mm/s); much more, and it swings into
/// the shot.
pub const DRESSING_SETTLE_SPEED: f64 = 0.2;

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

/// Times that the place of an edge which is nearest to a body is looked for again [-]: over a ridge the first time comes
/// near it. Each costs a search.
pub const ALONG_EDGES: usize = 2;

/// Share of an edge at its ends that is left to its nodes, and by which its nearest place has to be beside its middle to
/// be looked for [-].
pub const END_OF_EDGE: f32 = 0.1;

/// Cloth whose nodes feel a body with a normal of at least this cosine to a corner's is on the
/// corner's side of the body [-].
pub const SAME_SIDE_COS: f32 = 0.5;

/// Share of a selection from which a vertex made by subdivision belongs to it [-]. Half is what the
/// middle between a chosen and another vertex has.
pub const SPREAD_SHARE: f64 = 0.7;

/// Half-angle of a cone of normals within which a patch of cloth cannot meet itself [rad]; a right
/// angle in theory, less for the rim.
pub const FLAT_SPREAD: f32 = 1.3;

/// Share of the way to the top of the contact band by which a node's approach is stopped per sub-step [-].
/// 1 stops all at the top and irons small folds flat at a touch; much less, and heavy cloth sinks to the band's bottom.
pub const BAND_EASE: f64 = 0.25;

/// Height over the trunk to which what is held is pressed at least by what stays outside, in thicknesses [-]. Less, and the
/// edges between, which are straight, go through a round trunk; more, and they go through an arm that lies on it.
pub const PRESSED_LEAST: f64 = 0.25;

/// How steeply a border that is pressed comes in from where it is not [-]: edges are drawn out by half the square of it, 3 %.
/// With 1 they would be by 40 %, and a band has kinks under an arm; much less, and it comes in all around.
pub const PRESSED_SLOPE: f64 = 0.25;

/// Sweeps over a border by which that is spread along it. Fewer, and a long press ends in a step.
pub const PRESSED_SWEEPS: usize = 4;

/// Speed at which what was pressed so comes out again [m/s]. Faster, and the cloth that hangs from it jerks as an arm
/// comes out of the trunk; much slower, and the trunk catches up with it.
pub const PRESSED_RELEASE: f64 = 0.5;

/// How steeply cloth may rise from what is held inside a body [-]: edges are drawn out by half the square of it, 2 %. With
/// none it stays in there for ever; felt as ever, edges beside pins are drawn out by more
/// than their length as an arm swings through a cape's border.
pub const SUNK_SLOPE: f64 = 0.2;

/// Depth within another body from which on a place of a body is hidden, in thicknesses [-]. Much less, and cloth over the
/// seam between two bodies is felt by neither.
pub const HIDDEN_DEPTH: f32 = 1.0;

/// How far ahead it is asked whether a place comes out of another body, in ways of the last tick [-]: it may speed up. Less,
/// and knees that come through a robe come through the skirt over it for a tick.
pub const COMING_OUT: f32 = 2.0;

/// Share of its corners from which a triangle belongs to what stays outside [-]. With 1, large triangles from the shoulder
/// to the elbow are the trunk's, and an arm that comes down pulls a shirt up; less than a third, and the side of a trunk with
/// one corner in the armpit is the arm's.
pub const BESIDE_SHARE: f32 = 0.375;

/// Room beside what a garment is worn on within which parts that stay outside press only towards it, in thicknesses
/// [-]. Less, and hands plough the folds of a skirt along; much more, and an arm that is lowered into a wide skirt goes
/// through it.
pub const OUTSIDE_ROOM: f64 = 12.0;

/// How far around a place of the trunk such a part is looked for over it, in mean edges of the cloth [-]: what comes
/// through between nodes is within an edge of one. Less, and ridges of arms come through; much more, and cloth is pressed
/// down well beside the arm.
pub const CEILING_EDGES: f64 = 1.0;

/// Shares of that around which it is looked for where less is over the trunk [-]: a hand reaches around the thigh it lies
/// on. With the first alone, fingers that close around a leg are not felt.
pub const CEILING_SHARES: [f32; 3] = [1.0, 0.5, 0.25];

/// Cosine between the normal of a face of such a part and the way away from the trunk above which the face is of the far
/// side [-]. With 0, a side wall that leans a little is taken for it.
pub const FAR_SIDE_COS: f32 = 0.2;

/// Cosine between the normal of a corner of such a part and that of what is under it, below which the corner presses
/// towards that [-]: all but the far side. With half of the near side only, finger tips come through.
pub const LOOKS_AT_COS: f32 = 0.2;

/// Distance from a place of a body up to which cloth in front of it feels it, in heights of the contact band [-]. More
/// than 1, as places are looked for once a tick; without any, the plane of a neck lifts the cloth on the shoulders.
pub const FELT_WITHIN: f64 = 1.5;

/// Share of a face's normal in the way from a surface [m]: decides for cloth that lies right on it. More, and corners
/// of coarse bodies press like their faces.
pub const ON_SURFACE: f32 = 1.0e-4;

/// Side of a body's triangle from which on it is a large face, in mean edges of the cloth [-]. Less, and round bodies
/// feel like facets.
pub const COARSE_EDGES_OF_BODIES: f64 = 2.0;

/// Cosines between the smooth normal of a body and the way from its surface: below the first cloth is pressed along
/// the way, above the second along the smooth normal [-]. Higher, and round bodies feel like facets; lower, and
/// cloth on bodies of few faces slides to and fro.
pub const LEANING_COS: (f32, f32) = (0.85, 0.95);

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

/// How soft a hinge must be, against what one sweep can hold, to be left to the sweep [-]; stiffer ones are
/// solved together. Much more, and all fine cloth pays for it; less, and folds, seams and leather droop
/// like silk.
pub const STIFF_HINGE: f64 = 0.5;

/// Most entries of the matrix of stiff hinges [-]: about two milliseconds in every pass. A ridge needs ten to
/// twenty for each of its nodes.
pub const STIFF_ENTRIES: usize = 400_000;

/// By how much stiffer hinges must be that are solved together, where the matrix would be too large [-].
pub const STIFFER_HINGES: f64 = 0.25;

/// Stretch limit up to which stiff hinges are solved together [-]. Cloth that stretches more changes the shapes of
/// its triangles, and would feel that as bending.
pub const STIFF_STRETCH: f64 = 0.05;

/// Time in which parts take another size before the shot begins [s]. Less, and fine cloth is still moving then; more
/// only costs.
pub const RESIZE_SECONDS: f64 = 0.5;

/// Longest time in which a cycle is led over [s]: the cloth is kept at every tick of it, in memory and in
/// checkpoints.
pub const LONGEST_LEAD: f64 = 10.0;
