//! The nodes as passes move them.

use glam::DVec3;

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
