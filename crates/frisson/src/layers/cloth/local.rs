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
    /// Lengths at rest [-].
    pub size: f64,
    /// Thickness [-].
    pub thickness: f64,
}

impl Default for Local {
    fn default() -> Self {
        Self { stretch: 1.0, bend: 1.0, weight: 1.0, size: 1.0, thickness: 1.0 }
    }
}

/// How many times thicker than the cloth each node is.
#[derive(Clone, Debug, Default)]
pub struct Bands {
    /// Empty where all are alike.
    of_node: Vec<f32>,
    /// The thickest, at least 1 [-].
    pub most: f64,
}

impl Bands {
    /// From the factor of every node.
    pub fn new(of_node: Vec<f32>) -> Self {
        let most = of_node.iter().fold(1.0, |most: f32, band| most.max(*band));
        let alike = of_node.iter().all(|band| *band == 1.0);
        Self { of_node: if alike { Vec::new() } else { of_node }, most: f64::from(most) }
    }

    /// Factor of a node [-].
    #[inline(always)]
    pub fn of(&self, node: u32) -> f64 {
        self.of_node.get(node as usize).map_or(1.0, |band| f64::from(*band))
    }

    /// Whether no node is thicker or thinner than the cloth.
    pub fn are_alike(&self) -> bool {
        self.of_node.is_empty()
    }

    /// Factor of what lies between nodes, by their weights [-].
    pub fn between(&self, nodes: &[(u32, f64)]) -> f64 {
        if self.of_node.is_empty() {
            return 1.0;
        }
        let (sum, total) = nodes.iter().fold((0.0, 0.0), |(sum, total), (node, weight)| {
            (sum + self.of(*node) * weight.abs(), total + weight.abs())
        });
        sum / total
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
            local.size *= change(region.size);
            local.thickness *= change(region.thickness);
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
