//! The process that unpacks Draco blocks: what is wrong in a block ends this one only.

use crate::failure::Failure;

/// Address space of the helper [bytes]: a block of the largest file unpacks to less.
#[cfg(unix)]
const MEMORY: u64 = 8 << 30;

/// Unpacks the block on standard input.
pub fn run() -> Result<(), Failure> {
    limit_memory();
    frisson_io::gltf::serve_draco(&mut std::io::stdin(), &mut std::io::stdout())
        .map_err(|e| Failure::input(e.to_string()))
}

#[cfg(unix)]
fn limit_memory() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) };
    // Without the limit, the block is still unpacked outside of the process that needs it.
    let _ = setrlimit(Resource::As, limit);
}

#[cfg(not(unix))]
fn limit_memory() {}
