//! All that evolves: nothing. Folds follow the mesh as it is.

use serde::{Deserialize, Serialize};

/// What a resumed bake must know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldsState {}
