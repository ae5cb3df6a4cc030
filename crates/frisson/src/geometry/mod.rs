//! Shapes and how to ask them questions: meshes, connectivity, normals, refinement, BVH, grid,
//! iso-surfaces.

mod mesh;

pub use mesh::{Attribute, AttributeValues, Bounds, Material, Mesh, MeshTopology, Texture};
