//! Thresholds of the guard that keeps folds from meeting across a crease.

/// Cosines of two normals at which they begin to face each other across a crease, and at which they
/// do so wholly [-]: 60 to 90 degrees apart.
///
/// Higher, and every limb is searched for what faces it; if both were the same, folds would pop as a
/// joint bends.
pub const GUARD_FACING_COSINES: [f32; 2] = [0.5, 0.0];

/// Distances beside a point, in edges, up to which an obstacle is in front of it and from which it is not
/// [-]. A surface has a point within 0.7 edges of any place on it; further out costs time only.
pub const GUARD_BESIDE: [f32; 2] = [0.7, 1.2];

/// Cosine to the way between two points from which a turn of their normals is a bend along it [-]; less of it
/// counts less, and a turn across it not at all.
pub const GUARD_BEND_ALONG: f32 = 0.5;

/// Cosine of two normals from which they belong to two walls and not to one bend [-]: 120 degrees.
pub const GUARD_WALL_COSINE: f32 = -0.5;

/// How far behind, as a cosine, a wall that has been passed still counts [-]. Skin that has gone through itself
/// a little must not jump; the far side of a limb lies right behind.
pub const GUARD_PASSED: f32 = 0.3;

/// Cells per obstacle that the guard's search may have [-]. A patch of skin fills few of the cells
/// around it; more are slower to clear than to search.
pub const GUARD_CELLS_PER_ITEM: usize = 8;

/// Half the squared difference of two unit normals below which they are the same for the guard [-].
///
/// About a tenth of a degree: rounding noise of normals must not make walls out of a flat sheet.
pub const GUARD_LEAST_TURN: f32 = 2.0e-6;

/// Share of the gap to the facing surface that a fold may fill [-]; below one half, both sides fit.
pub const GUARD_SHARE: f32 = 0.45;

/// How much further the guard looks than folds are wanted high [-]: just enough that rounding does not
/// hide an obstacle at exactly that height.
pub const GUARD_MARGIN: f32 = 1.01;

/// Cosine by which a normal has to be nearer to the mean than the law says, to face nothing [-]: cosines
/// are good to some 1e-6.
pub const GUARD_COSINE_SLACK: f32 = 1.0e-4;

/// How far two ways of summing a dot product of unit vectors may differ [-].
pub const GUARD_SUM_SLACK: f32 = 1.0e-6;

/// How much further than asked an obstacle may be and still be looked at, as a factor [-]: rather yes
/// than no.
pub const GUARD_NEARER: f32 = 1.000_01;

/// Cells that the guard's search may have for no obstacles at all [-].
pub const GUARD_LEAST_CELLS: usize = 8;

/// What cells grow by until there are few enough of them [-].
pub const GUARD_CELL_GROWTH: f32 = 1.5;

/// Cosine to the mean from which a patch's normals may face each other [-]: 30 degrees; two normals are at
/// most twice as far apart.
pub const GUARD_PATCH_COSINE: f32 = 0.866;

/// How much more room than its highest point a triangle must have for none of its points to be looked at
/// [-]: whatever the rounding of the mix.
pub const GUARD_ROOM_FOR_ALL: f32 = 1.000_01;
