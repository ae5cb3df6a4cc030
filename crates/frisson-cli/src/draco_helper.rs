//! The process that unpacks Draco blocks: what is wrong in a block ends this one only.

use crate::failure::Failure;

/// What the command calls itself to unpack a block.
const NAME: &str = "unpack-draco";

/// Lets blocks be unpacked by another process of this program.
#[cfg(feature = "draco")]
pub fn offer() {
    if let Ok(program) = std::env::current_exe() {
        // The decoder is another's: a damaged block may panic or take all memory, and a bake must not end by it.
        frisson_io::gltf::set_draco_helper(program, vec![NAME.to_owned()]);
    }
}

/// Unpacks the block on standard input.
#[cfg(feature = "draco")]
pub fn run() -> Result<(), Failure> {
    frisson_io::gltf::serve_draco(&mut std::io::stdin(), &mut std::io::stdout())
        .map_err(|e| Failure::input(e.to_string()))
}

/// There is nothing to offer.
#[cfg(not(feature = "draco"))]
pub fn offer() {}

/// This program cannot.
#[cfg(not(feature = "draco"))]
pub fn run() -> Result<(), Failure> {
    Err(Failure::input(format!("{NAME}: this program was built without Draco")))
}
