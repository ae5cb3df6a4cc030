//! The nodes as passes move them.

use glam::DVec3;
use rayon::prelude::*;

/// Nodes a task takes at once where little is done to each.
pub const CHUNK: usize = 4096;

/// Places now and before the small step: their difference is the speed. A move of both moves the cloth without
/// giving it speed.
pub struct NodePlaces<'a> {
    /// Inverse mass of every node, 0 when held [1/kg].
    pub inverse_mass: &'a [f64],
    /// Before the small step [m].
    pub previous: &'a mut [DVec3],
    /// Now [m].
    pub positions: &'a mut [DVec3],
}

/// Copies what is said of every node; storage is reused. A core alone would copy while all others wait.
pub fn copy_nodes(from: &[DVec3], to: &mut Vec<DVec3>) {
    to.resize(from.len(), DVec3::ZERO);
    let chunks = to.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK));
    chunks.for_each(|(to, from)| to.copy_from_slice(from));
}
