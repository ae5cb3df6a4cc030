//! Layer states as bytes: what a checkpoint holds. Floats keep their exact bits.

use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

/// A snapshot that cannot be read back.
#[derive(Debug, Error)]
#[error("the checkpoint does not fit this scene: {0}")]
pub struct SnapshotError(pub String);

/// A state as bytes.
pub fn to_snapshot<T: Serialize>(state: &T) -> Result<Vec<u8>, SnapshotError> {
    postcard::to_stdvec(state).map_err(|e| SnapshotError(e.to_string()))
}

/// A state from the bytes of [`to_snapshot`].
pub fn from_snapshot<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, SnapshotError> {
    postcard::from_bytes(bytes).map_err(|e| SnapshotError(e.to_string()))
}
