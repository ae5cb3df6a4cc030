//! Thresholds of the drops layer.

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

/// How often the waves that cut a stream grow by `e` until they do [-]: from six millionths of its radius, as measured on
/// jets from smooth openings (C. Weber, *Zum Zerfall eines Flüssigkeitsstrahles*, 1931). Less, and streams from rough lips
/// break sooner: at 6 one of milk half a centimetre thick already 10 cm below it.
pub const JET_GROWTH: f64 = 12.0;

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
