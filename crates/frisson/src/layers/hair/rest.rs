//! What is computed once and never changes during a bake.

use glam::{DVec3, Mat3, Vec3, Vec4};
use serde::{Deserialize, Serialize};

use super::fit::Fitted;
use super::head::Head;
use super::state::Wisp;
use super::strand_params::StrandParams;
use crate::geometry::Mesh;
use crate::stage::SurfaceMotion;

/// Everything fixed.
#[derive(Clone, Debug, Default)]
pub struct HairRest {
    /// Particles of a chain.
    pub(super) count: usize,
    /// Cosine and sine of each envelope sample's angle.
    pub(super) directions: Vec<(f32, f32)>,
    /// Where wisps grow.
    pub(super) roots: Vec<WispRoot>,
    /// Root of every hair, wisp after wisp, on the scalp before any refinement.
    pub(super) hair_roots: Vec<SkinPoint>,
    /// Vertices of the scalp's mesh before any refinement.
    pub(super) skin_vertices: usize,
    /// Place of every hair in every plane from the second on, as a fraction of the envelope: two
    /// planes (x, y, x, y) in each vector.
    pub(super) places: Vec<Vec4>,
    /// Length of every hair as a share of its wisp's [-].
    pub(super) shares: Vec<f32>,
    /// Hairs of one wisp.
    pub(super) per_wisp: usize,
    /// Hairs, wisp after wisp, such that those that follow each other are neighbours.
    pub(super) order: Vec<u32>,
    /// Linear RGB of the hair where nothing is said of it.
    pub(super) color: Vec3,
    /// Ellipsoids fitted to the character.
    pub(super) fitted: Vec<Fitted>,
    /// Meshes that stop the hair, as they are at the start.
    pub(super) meshes: Vec<SurfaceMotion>,
    /// The wisps as styled, and where their roots were then.
    pub(super) styled: Vec<Wisp>,
    pub(super) styled_roots: Vec<RootPose>,
    /// The head that a preset was made for.
    pub(super) head: Option<Head>,
    /// Warnings found while building.
    pub(super) warnings: Vec<String>,
}

impl HairRest {
    /// Linear RGB of the hair.
    pub(super) fn color(&self, params: &StrandParams) -> Vec3 {
        params.color.map_or(self.color, Vec3::from_array)
    }

    /// Pairs of planes in which one hair has a place.
    pub(super) fn place_pairs(&self) -> usize {
        (self.count - 1).div_ceil(2)
    }
}

/// A place on the scalp.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SkinPoint {
    pub triangle: u32,
    pub barycentric: [f32; 3],
}

/// Where a wisp grows and how it is made.
#[derive(Clone, Debug, Default)]
pub(super) struct WispRoot {
    /// Place on the scalp before any refinement.
    pub skin: SkinPoint,
    /// Corners of its triangle there: they carry the root's frame, however the mesh is refined.
    pub corners: [u32; 3],
    /// Direction out of the skin, in the triangle's frame.
    pub direction: Vec3,
    /// First axis at the root, in the triangle's frame.
    pub across: Vec3,
    /// From skin to tip [m].
    pub length: f32,
    /// Height of particle 1 above the skin [m].
    pub height: f32,
    /// Length of the free segments [m].
    pub segment: f32,
    /// Rest radius at each plane [m].
    pub radii: Vec<f32>,
    /// Mass at each particle [kg].
    pub masses: Vec<f64>,
    /// Rest direction of each segment in the frame of the one before.
    pub targets: Vec<DVec3>,
    /// Styled place of each particle in the root's frame [m].
    pub goals: Vec<Vec3>,
    /// What holds each particle in the style besides the rest angles, in the root's frame [m/s²].
    pub hold: Vec<Vec3>,
    /// Multiplies the pull towards the styled place [-].
    pub goal_weight: f32,
    /// Share of the memory of the style at each particle [-]: what hangs finds back by its weight.
    pub memory: Vec<f32>,
    /// Pull that keeps it in a style that balances like a ball on a hilltop, as a stiffness per mass
    /// [1/s²]; 0 for nearly all.
    pub steady: f64,
    /// Whether walls on either side keep it from finding rest: it stays in its place all the same.
    pub pinched: bool,
    /// Bending stiffness of a joint [N m].
    pub bending: f64,
    /// Stretch stiffness of a segment [N/m].
    pub stretch: f64,
    /// Tie that holds it, and at which particle.
    pub tie: Option<(usize, usize)>,
    /// Braid that its tie carries.
    pub braid: Option<usize>,
}

/// Where a root is at some instant.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct RootPose {
    /// Point on the skin [m].
    pub skin: Vec3,
    /// The triangle's axes as columns: along its first edge, across it, outwards.
    pub axes: Mat3,
    /// Direction out of the skin.
    pub direction: Vec3,
    /// First axis of the first planes.
    pub across: Vec3,
}

impl SkinPoint {
    /// Where it is on a moved mesh.
    pub fn place(&self, triangles: &[[u32; 3]], positions: &[Vec3]) -> Vec3 {
        let corners = triangles[self.triangle as usize];
        (0..3).fold(Vec3::ZERO, |sum, k| sum + self.barycentric[k] * positions[corners[k] as usize])
    }
}

impl WispRoot {
    /// Where the root is on a moved mesh; `place` is its place on the mesh as it is refined now.
    pub fn pose(&self, place: &SkinPoint, mesh: &Mesh) -> RootPose {
        // By its corners before refinement: those of a refined triangle would turn with every wrinkle.
        let axes = triangle_axes(self.corners, &mesh.positions);
        RootPose {
            skin: place.place(&mesh.topology.triangles, &mesh.positions),
            axes,
            direction: axes * self.direction,
            across: axes * self.across,
        }
    }

    /// Whether a tie or a braid holds a particle in its place, so that bends need not.
    pub fn is_held(&self, particle: usize) -> bool {
        self.tie.is_some_and(|(_, tied)| particle <= tied || self.braid.is_some())
    }
}

impl RootPose {
    /// The two particles that the scalp carries.
    pub fn carried(&self, root: &WispRoot) -> [Vec3; 2] {
        let rise = self.direction * root.height;
        // As deep below as above: the skin is in the middle of the segment that gives hair its direction.
        [self.skin - rise, self.skin + rise]
    }

    /// A styled place in the world.
    pub fn goal(&self, local: Vec3) -> Vec3 {
        self.skin + self.axes * local
    }
}

/// Orthonormal axes of a triangle: along its first edge, across it, outwards.
pub(super) fn triangle_axes(corners: [u32; 3], positions: &[Vec3]) -> Mat3 {
    let [a, b, c] = corners.map(|v| positions[v as usize]);
    let along = (b - a).normalize_or(Vec3::X);
    let normal = (b - a).cross(c - a).normalize_or(perpendicular(along));
    Mat3::from_cols(along, normal.cross(along), normal)
}

/// Some unit vector across a unit vector.
pub(super) fn perpendicular(v: Vec3) -> Vec3 {
    crate::math::frames::any_perpendicular(v)
}
