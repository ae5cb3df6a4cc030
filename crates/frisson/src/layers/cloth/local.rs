//! What differs from place to place: seams, regions of another fabric, and vertices that are held softly.

use super::params::ClothParams;
use super::rest::ClothRest;
use crate::stage::{LayerError, Selection};

/// How many times more than the fabric's own a vertex has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Local {
    /// Stiffness in stretch [-].
    pub stretch: f64,
    /// Stiffness in bending [-].
    pub bend: f64,
    /// Mass [-].
    pub weight: f64,
}

impl Default for Local {
    fn default() -> Self {
        Self { stretch: 1.0, bend: 1.0, weight: 1.0 }
    }
}

/// A node that follows a vertex of the incoming mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftPin {
    /// The node.
    pub node: u32,
    /// Its vertex.
    pub vertex: u32,
    /// Painted weight, above 0 [-].
    pub weight: f64,
}

/// The local factors of every vertex; empty where there are neither seams nor regions.
pub fn locals(
    params: &ClothParams,
    count: usize,
    select: impl Fn(&str, &Selection) -> Result<Vec<u32>, LayerError>,
    paint: impl Fn(&str, &Selection) -> Result<Vec<f32>, LayerError>,
) -> Result<Vec<Local>, LayerError> {
    let mut locals = Vec::new();
    for (index, seam) in params.seams.iter().enumerate() {
        locals.resize(count, Local::default());
        for vertex in select(&format!("seams[{index}].vertices"), &seam.vertices)? {
            let local = &mut locals[vertex as usize];
            (local.bend, local.weight) = (seam.bend, seam.weight);
        }
    }
    for (index, region) in params.regions.iter().enumerate() {
        locals.resize(count, Local::default());
        let weights = paint(&format!("regions[{index}].vertices"), &region.vertices)?;
        for (local, weight) in locals.iter_mut().zip(weights) {
            // Factors are ratios: half way to four times as stiff is twice as stiff.
            let change = |factor: f64| factor.powf(f64::from(weight.clamp(0.0, 1.0)));
            local.stretch *= change(region.stretch);
            local.bend *= change(region.bend);
            local.weight *= change(region.weight);
        }
    }
    Ok(locals)
}

/// The nodes that are held softly.
pub fn soft_pins(
    params: &ClothParams,
    rest: &ClothRest,
    paint: impl Fn(&str, &Selection) -> Result<Vec<f32>, LayerError>,
) -> Result<Vec<SoftPin>, LayerError> {
    let Some(selection) = &params.soft_pins else { return Ok(Vec::new()) };
    let weights = paint("soft_pins", selection)?;
    let pin = |(node, &vertex): (usize, &u32)| {
        let weight = f64::from(weights[vertex as usize]).clamp(0.0, 1.0);
        (weight > 0.0).then_some(SoftPin { node: node as u32, vertex, weight })
    };
    Ok(rest.vertex_of_node.iter().enumerate().filter_map(pin).collect())
}
