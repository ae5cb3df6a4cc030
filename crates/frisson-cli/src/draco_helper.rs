//! The process that unpacks Draco blocks: what is wrong in a block ends this one only.

use crate::failure::Failure;

/// Unpacks the block on standard input.
pub fn run() -> Result<(), Failure> {
    frisson_io::gltf::serve_draco(&mut std::io::stdin(), &mut std::io::stdout())
        .map_err(|e| Failure::input(e.to_string()))
}
