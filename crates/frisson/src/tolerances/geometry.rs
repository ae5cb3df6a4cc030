//! Thresholds of searches and hulls.

/// What a box's squared distance is reckoned less by, as a share [-]: rounding must not prune a triangle
/// that is exactly as near. Much more, and searches look at more boxes.
pub const BOX_SLACK: f32 = 1.0e-5;

/// How far points of the unit sphere are moved before their hull is made [-].
///
/// Rings of points lie in one plane and could be triangulated both ways at once. Larger, and the hull is
/// of other points than were given; smaller, and rounding decides again.
pub const HULL_JITTER: f64 = 1.0e-6;

/// Length times width times depth from which the first four points of a hull have a volume [-], far above
/// what [`HULL_JITTER`] gives to points in one plane.
pub const LEAST_HULL: f64 = 1.0e-4;

/// How near to an edge single precision is not trusted to say on which side of it a ray passes, in barycentric coordinates
/// [-]. Much smaller, and of two triangles with a common edge neither may take the ray; larger, and more of them are looked
/// at twice.
pub const EDGE_DOUBT: f32 = 1.0e-3;

/// By how much boxes are enlarged when four ways are looked along at once [m].
///
/// A hundredth of a millimetre: ten times what single precision loses over a few metres. Smaller, and a
/// crossing on the border of a box may be missed; larger only costs time.
pub const WAY_SLACK: f32 = 1.0e-5;

/// How far beyond a triangle and the ends of a way such a crossing still counts, in barycentric coordinates
/// and in lengths of the way [-].
///
/// Each crossing found is looked at again one by one: larger costs time, smaller than rounding would miss some.
pub const CROSSING_SLACK: f32 = 1.0e-4;
