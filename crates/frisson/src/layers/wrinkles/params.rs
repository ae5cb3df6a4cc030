//! What the artist sets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::{BuildContext, Layer, LayerError};

/// Skin and tight clothes that fold where the animation compresses them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrinklesParams {
    /// Name of the layer, unique in the scene.
    pub name: String,
}

impl WrinklesParams {
    /// Builds the layer.
    pub fn build(&self, _context: &BuildContext) -> Result<Box<dyn Layer>, LayerError> {
        Err(LayerError::Other("this layer is not built yet".to_owned()))
    }
}
