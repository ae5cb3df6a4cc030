//! The layers: secondary motion, one folder each. Layers never import each other.

pub mod cloth;
pub mod drops;
pub mod flesh;
pub mod folds;
pub mod hair;
#[cfg(test)]
pub(crate) mod moved;
pub mod soft;
#[cfg(test)]
mod together;
pub mod wrinkles;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::{BuildContext, Layer, LayerError};
use cloth::{ClothParams, ClothRidge, RidgeCourse};
use drops::DropsParams;
use flesh::FleshParams;
use folds::FoldsParams;
use hair::HairParams;
use soft::SoftParams;
use wrinkles::WrinklesParams;

/// One layer of the scene's stack. Give exactly one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
// A scene holds a handful of layers: their size does not matter, boxes would only be in the way.
#[allow(clippy::large_enum_variant)]
pub enum LayerParams {
    /// Flesh that lags, swings and settles on a skinned, animated character.
    Flesh(FleshParams),
    /// Skin and tight clothes that fold where the animation compresses them.
    Wrinkles(WrinklesParams),
    /// Simulated garments: position-based, small steps.
    Cloth(ClothParams),
    /// Drawn folds laid over any moving mesh.
    Folds(FoldsParams),
    /// Deformable wisps that lean, rub, tangle and split.
    Hair(HairParams),
    /// Liquid that runs on surfaces, merges, leaves trails and falls.
    Drops(DropsParams),
    /// Soft bodies: internal structures in an implicit coat.
    Soft(SoftParams),
}

impl LayerParams {
    /// A stack in which cloth is told of the folds that later layers lay over it with `feedback`.
    #[must_use]
    pub fn linked(layers: &[Self]) -> Vec<Self> {
        let mut linked = layers.to_vec();
        for (index, layer) in layers.iter().enumerate() {
            let Self::Folds(folds) = layer else { continue };
            if folds.feedback <= 0.0 {
                continue;
            }
            let ridge = |course: RidgeCourse, width: f32, amplitude: f32| ClothRidge {
                course,
                width,
                amplitude,
                share: folds.feedback,
            };
            let drawn = folds.folds.iter().filter(|f| !f.crease);
            let drawn =
                drawn.map(|f| ridge(RidgeCourse::Through(f.points.clone()), f.width, f.amplitude));
            let buckled = folds.buckling.iter().map(|b| {
                ridge(RidgeCourse::Diamonds(b.pattern(1.0)), b.fold.width, b.fold.amplitude)
            });
            let ridges: Vec<ClothRidge> = drawn.chain(buckled).collect();
            for earlier in &mut linked[..index] {
                if let Self::Cloth(cloth) = earlier
                    && cloth.on == folds.on
                {
                    cloth.ridges.extend_from_slice(&ridges);
                }
            }
        }
        linked
    }

    /// Name of the layer.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Flesh(p) => &p.name,
            Self::Wrinkles(p) => &p.name,
            Self::Cloth(p) => &p.name,
            Self::Folds(p) => &p.name,
            Self::Hair(p) => &p.name,
            Self::Drops(p) => &p.name,
            Self::Soft(p) => &p.name,
        }
    }

    /// Builds the layer for a stage.
    pub fn build(&self, context: &BuildContext) -> Result<Box<dyn Layer>, LayerError> {
        match self {
            Self::Flesh(p) => p.build(context),
            Self::Wrinkles(p) => p.build(context),
            Self::Cloth(p) => p.build(context),
            Self::Folds(p) => p.build(context),
            Self::Hair(p) => p.build(context),
            Self::Drops(p) => p.build(context),
            Self::Soft(p) => p.build(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_with_feedback_are_felt_by_the_cloth_before_them() {
        let fold = folds::Fold::new("f", vec![], 0.05, 0.1);
        let buckling = r#"{ "name": "b", "from": [0, 0, 0], "to": [0, 1, 0],
            "fold": { "amplitude": 0.01, "width": 0.05 } }"#;
        let stack = |feedback: f64| {
            let mut laid = FoldsParams::new("folds", "sheet", vec![fold.clone()]);
            laid.feedback = feedback;
            laid.buckling = vec![serde_json::from_str(buckling).unwrap()];
            let cloth = |on: &str| LayerParams::Cloth(ClothParams::new(on, on));
            LayerParams::linked(&[
                cloth("sheet"),
                cloth("other"),
                LayerParams::Folds(laid),
                cloth("sheet"),
            ])
        };
        let ridges = |layers: &[LayerParams]| -> Vec<usize> {
            let count =
                |l: &LayerParams| if let LayerParams::Cloth(c) = l { c.ridges.len() } else { 0 };
            layers.iter().map(count).collect()
        };
        assert_eq!(ridges(&stack(0.0)), [0, 0, 0, 0]);
        assert_eq!(ridges(&stack(0.5)), [2, 0, 0, 0], "the fold and the buckling");
    }
}
