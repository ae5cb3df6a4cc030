//! What a page wants to see beyond the picture: attributes that layers write only when asked to, and how
//! deep things are inside each other.

use frisson::geometry::{Attribute, AttributeValues};
use frisson::layers::LayerParams;
use frisson::layers::folds::{FoldsLayer, FoldsParams, FoldsRest};
use frisson::stage::{ColliderSet, Frame, Running, Simulator};
use frisson_io::scene::Scene;
use frisson_judge::Body;
use glam::Vec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// What is to be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Reveal {
    /// Attributes of layers, to be shown as colours.
    pub attributes: bool,
    /// Lines and points inside layers.
    pub insides: bool,
    /// Depth of vertices and hairs inside other meshes and colliders.
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
    /// Writes the depth of every vertex of every mesh, and of every point of every hair, inside the closed meshes
    /// beside it and inside colliders.
    pub fn write(&mut self, frame: &mut Frame, colliders: &ColliderSet) {
        self.0.resize_with(frame.meshes.len(), Body::default);
        for (body, mesh) in self.0.iter_mut().zip(&frame.meshes) {
            body.update(mesh);
        }
        for (index, mesh) in frame.meshes.iter_mut().enumerate() {
            let depths = self.of(&mesh.positions, Some(index), &mesh.name, colliders);
            mesh.set_scalar(PENETRATION, |values| values.copy_from_slice(&depths));
        }
        for curves in &mut frame.curves {
            let depths = self.of(&curves.points, None, &curves.name, colliders);
            let values = AttributeValues::Scalar(depths);
            curves.attributes.push(Attribute { name: PENETRATION.to_owned(), values });
        }
    }

    /// Depths of the points of a shape; `own` is its own number where it is a mesh.
    fn of(
        &self,
        points: &[Vec3],
        own: Option<usize>,
        name: &str,
        colliders: &ColliderSet,
    ) -> Vec<f32> {
        let others = self.0.iter().enumerate().filter(|(i, b)| Some(*i) != own && b.is_closed());
        let others: Vec<&Body> = others.map(|(_, b)| b).collect();
        // A collider that is seen is a mesh of its own name.
        let solids: Vec<_> = colliders.all().iter().filter(|c| c.name != name).collect();
        let deepest = |p: &Vec3| {
            let meshes = others.iter().map(|b| b.depth(*p));
            let simple = solids.iter().map(|c| -c.contact(*p, 1.0).distance);
            meshes.chain(simple).fold(0.0, f32::max)
        };
        points.par_iter().map(deepest).collect()
    }
}

/// Attribute that says how high folds are beside what was drawn: 1 as drawn, 0 flat, more where they rise [-].
pub const FOLD_FACTOR: &str = "fold_factor";
/// Heights below this share of the highest tell no factor: noise would be divided by noise [-].
const LEAST_DRAWN: f32 = 0.02;
/// Folds that rise more are shown as this [-].
const MOST_FACTOR: f32 = 2.0;

/// Writes the factor of folds at every vertex; 1 where nothing was drawn.
pub fn write_fold_factors(frame: &mut Frame, simulator: &Simulator) {
    for (layer, params) in simulator.layers().iter().zip(simulator.params()) {
        if let LayerParams::Folds(own) = params
            && let Some(running) = layer.as_any().downcast_ref::<Running<FoldsLayer>>()
        {
            write_factors_of(running.rest(), own, frame);
        }
    }
}

fn write_factors_of(rest: &FoldsRest, params: &FoldsParams, frame: &mut Frame) {
    let Some(mesh) = frame.meshes.get_mut(rest.drawn.mesh) else { return };
    let heights = mesh.scalar("fold_height").map(<[f32]>::to_vec).unwrap_or_default();
    // A later layer may have refined it again.
    if heights.len() != rest.point_of_vertex.len() {
        return;
    }
    let mut drawn = vec![0.0; rest.drawn.surface.points.len()];
    let folds = &rest.drawn.folds;
    rest.lifts.compute(params.blend, |fold| &folds[fold].1.heights, &mut drawn);
    let least = LEAST_DRAWN * drawn.iter().fold(0.0f32, |most, h| most.max(h.abs()));
    mesh.set_scalar(FOLD_FACTOR, |values| {
        for ((value, &point), height) in values.iter_mut().zip(&rest.point_of_vertex).zip(&heights)
        {
            let own = drawn[point as usize];
            let told = own.abs() > least && own != 0.0;
            *value = if told { (height / own).clamp(0.0, MOST_FACTOR) } else { 1.0 };
        }
    });
}
