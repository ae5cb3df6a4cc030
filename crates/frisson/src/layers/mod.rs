//! The layers: secondary motion, one folder each. Layers never import each other.

pub mod cloth;
pub mod drops;
pub mod flesh;
pub mod folds;
pub mod hair;
#[cfg(test)]
pub(crate) mod harness;
#[cfg(test)]
pub(crate) mod moved;
pub mod soft;
#[cfg(test)]
mod together;
pub mod wrinkles;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::{BuildContext, Layer, LayerError, Ridge, Running, RunningLayer};
use cloth::{ClothLayer, ClothParams};
use drops::{DropsLayer, DropsParams};
use flesh::{FleshLayer, FleshParams};
use folds::{FoldsLayer, FoldsParams};
use hair::{HairLayer, HairParams};
use soft::{SoftLayer, SoftParams};
use wrinkles::{WrinklesLayer, WrinklesParams};

/// One layer of the scene's stack. Give exactly one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
// A scene holds a handful of layers: their size does not matter, boxes would only be in the way.
#[allow(clippy::large_enum_variant)]
#[non_exhaustive]
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
    /// The folds that layers after one of the stack lay over its mesh with `feedback`, so that it feels
    /// them.
    #[must_use]
    pub fn ridges_over(layers: &[Self], index: usize) -> Vec<Ridge> {
        // The only layer that feels ridges: said here, so that cloth and folds need not know each other.
        let Self::Cloth(cloth) = &layers[index] else { return Vec::new() };
        let later = layers[index + 1..].iter();
        let folds =
            later.filter_map(|l| if let Self::Folds(folds) = l { Some(folds) } else { None });
        folds.filter(|f| f.on == cloth.on).flat_map(FoldsParams::ridges).collect()
    }

    /// The parameters as the layer's own type.
    #[must_use]
    pub fn inner(&self) -> &dyn std::any::Any {
        match self {
            Self::Flesh(p) => p,
            Self::Wrinkles(p) => p,
            Self::Cloth(p) => p,
            Self::Folds(p) => p,
            Self::Hair(p) => p,
            Self::Drops(p) => p,
            Self::Soft(p) => p,
        }
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

    /// Builds the layer; it has yet to be started.
    pub fn build(&self, context: &BuildContext) -> Result<Box<dyn RunningLayer>, LayerError> {
        fn boxed<L: Layer>(
            params: &L::Params,
            context: &BuildContext,
        ) -> Result<Box<dyn RunningLayer>, LayerError> {
            Ok(Box::new(Running::<L>::build(params.clone(), context)?))
        }
        match self {
            Self::Flesh(p) => boxed::<FleshLayer>(p, context),
            Self::Wrinkles(p) => boxed::<WrinklesLayer>(p, context),
            Self::Cloth(p) => boxed::<ClothLayer>(p, context),
            Self::Folds(p) => boxed::<FoldsLayer>(p, context),
            Self::Hair(p) => boxed::<HairLayer>(p, context),
            Self::Drops(p) => boxed::<DropsLayer>(p, context),
            Self::Soft(p) => boxed::<SoftLayer>(p, context),
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
            [cloth("sheet"), cloth("other"), LayerParams::Folds(laid), cloth("sheet")]
        };
        let ridges = |layers: &[LayerParams]| -> Vec<usize> {
            (0..layers.len()).map(|i| LayerParams::ridges_over(layers, i).len()).collect()
        };
        assert_eq!(ridges(&stack(0.0)), [0, 0, 0, 0]);
        assert_eq!(ridges(&stack(0.5)), [2, 0, 0, 0], "the fold and the buckling");
    }
}
