//! What a page wants to see beyond the picture: attributes that layers write only when asked to, and how
//! deep things are inside each other.

use frisson::layers::LayerParams;
use frisson::stage::{ColliderSet, Frame};
use frisson_io::scene::Scene;
use frisson_judge::Body;
use serde::{Deserialize, Serialize};

/// What is to be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Reveal {
    /// Attributes of layers, to be shown as colours.
    pub attributes: bool,
    /// Lines and points inside layers.
    pub insides: bool,
    /// Depth of vertices inside other meshes and colliders.
    pub penetration: bool,
}

/// Attribute that says how deep a vertex is inside something else [m].
pub const PENETRATION: &str = "penetration";

impl Reveal {
    /// Asks the layers of a scene for what they write only then.
    pub fn apply(self, scene: &mut Scene) {
        for layer in &mut scene.layers {
            match layer {
                LayerParams::Flesh(own) => own.show_weights |= self.attributes,
                LayerParams::Wrinkles(own) => own.attributes |= self.attributes,
                LayerParams::Folds(own) => own.attributes |= self.attributes,
                // The page follows the points to draw their ways.
                LayerParams::Drops(own) => own.shape.points |= self.insides,
                _ => {}
            }
        }
    }
}

/// Bodies of the frame before, to be refitted.
#[derive(Default)]
pub struct Depths(Vec<Body>);

impl Depths {
    /// Writes the depth of every vertex of every mesh inside the closed ones beside it and inside colliders.
    pub fn write(&mut self, frame: &mut Frame, colliders: &ColliderSet) {
        self.0.resize_with(frame.meshes.len(), Body::default);
        for (body, mesh) in self.0.iter_mut().zip(&frame.meshes) {
            body.update(mesh);
        }
        for index in 0..frame.meshes.len() {
            let mesh = &mut frame.meshes[index];
            let others = self.0.iter().enumerate().filter(|(i, b)| *i != index && b.is_closed());
            let others: Vec<&Body> = others.map(|(_, b)| b).collect();
            // A collider that is seen is a mesh of its own name.
            let solids: Vec<_> = colliders.all().iter().filter(|c| c.name != mesh.name).collect();
            let deepest = |p: &glam::Vec3| {
                let meshes = others.iter().map(|b| b.depth(*p));
                let simple = solids.iter().map(|c| -c.contact(*p, 1.0).distance);
                meshes.chain(simple).fold(0.0, f32::max)
            };
            let depths: Vec<f32> = mesh.positions.iter().map(deepest).collect();
            mesh.set_scalar(PENETRATION, |values| values.copy_from_slice(&depths));
        }
    }
}
