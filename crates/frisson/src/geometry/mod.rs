//! Shapes and how to ask them questions: meshes, connectivity, normals, refinement, BVH, grid,
//! iso-surfaces.

mod ancestry;
mod band;
pub mod butterfly;
mod bvh;
mod centerline;
mod diamonds;
mod geodesic;
mod grid;
mod guard;
mod hull;
pub mod isosurface;
mod look;
mod mesh;
mod normals;
mod open_air;
mod solid;
mod topology;
mod woven;

pub use ancestry::{Ancestry, Mix};
pub use band::{BandPoint, BandRegions, BandSettings, DistanceBand, Soup};
pub use bvh::{ClosestPoint, RayHit, TriangleBvh, closest_on_triangle};
pub use centerline::centerlines;
pub use diamonds::DiamondPattern;
pub use geodesic::{GeodesicStart, GeodesicWalk, geodesic_distances, march_geodesic};
pub use grid::Grid;
pub use guard::{FoldGuard, clearance, may_be_nearer};
pub use hull::wrap_sphere;
pub use look::linear_of;
pub use mesh::{
    Attribute, AttributeValues, Bounds, Channels, Material, Mesh, MeshTopology, Texture,
};
pub use normals::{NormalGroups, NormalScratch};
pub use open_air::{FreeWays, OpenAir};
pub use solid::Solid;
pub use topology::{Lists, NONE, Topology};
pub use woven::woven_triangles;
