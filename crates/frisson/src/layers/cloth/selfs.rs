//! Contact of the cloth with itself.

use glam::DVec3;

use super::rest::ClothRest;

/// Contacts of one tick.
#[derive(Default)]
pub struct SelfContacts {}

impl SelfContacts {
    /// Solves all contacts once.
    pub fn solve(&mut self, _rest: &ClothRest, _w: &[f64], _previous: &[DVec3], _x: &mut [DVec3]) {}
}
