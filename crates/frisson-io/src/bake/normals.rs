//! Shading normals of the frames that leave the engine.

use std::sync::Arc;

use frisson::geometry::{Mesh, MeshTopology, NormalGroups, NormalScratch, Topology};
use frisson::stage::Frame;

/// Which vertices share a normal, for the topologies of the stage's first frame.
///
/// Groups are made from that frame only: a resumed bake stands at another frame and must give the
/// same bits. A topology that appears later is grouped anew at every frame.
pub struct OutputNormals {
    known: Vec<(Arc<MeshTopology>, NormalGroups)>,
    scratch: NormalScratch,
}

impl OutputNormals {
    /// From the frame that a new stage shows.
    pub fn new(start: &Frame) -> Self {
        let known = start.meshes.iter().map(|m| (m.topology.clone(), groups(m))).collect();
        Self { known, scratch: NormalScratch::default() }
    }

    /// Gives normals to every mesh whose layer gave none.
    pub fn complete(&mut self, frame: &mut Frame) {
        for mesh in frame.meshes.iter_mut().filter(|m| m.normals.len() != m.positions.len()) {
            let is_same = |(t, _): &&(Arc<MeshTopology>, _)| Arc::ptr_eq(t, &mesh.topology);
            match self.known.iter().find(is_same) {
                Some((_, groups)) => {
                    groups.compute(&mesh.positions, &mut self.scratch, &mut mesh.normals);
                }
                None => {
                    let groups = groups(mesh);
                    groups.compute(&mesh.positions, &mut self.scratch, &mut mesh.normals);
                }
            }
        }
    }
}

fn groups(mesh: &Mesh) -> NormalGroups {
    let topology = &mesh.topology;
    NormalGroups::for_shading(topology, &Topology::build(&mesh.positions, &topology.triangles))
}
