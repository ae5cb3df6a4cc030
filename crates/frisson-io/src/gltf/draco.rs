//! `KHR_draco_mesh_compression`: a primitive's triangles and vertices from one compressed block.
//!
//! The decoder is a pre-release: a damaged block may ask it for petabytes, which ends the process
//! that runs it. Blocks are therefore unpacked in a process of their own, whose end is an error message
//! here and nothing more: a program names a helper, most often itself ([`set_draco_helper`]). Without
//! one, files that are packed with Draco are refused.
//!
//! ```text
//! block ─► stdin ─ helper: [`serve_draco`] ─ stdout ─► DracoMesh (postcard)
//! ```

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::accessor::Component;

/// Longest that a helper may take for one block.
const PATIENCE: Duration = Duration::from_secs(120);

static HELPER: OnceLock<(PathBuf, Vec<String>)> = OnceLock::new();

/// Names the program, with its arguments, that unpacks Draco blocks by calling [`serve_draco`]. Once
/// per process; later calls change nothing.
pub fn set_draco_helper(program: PathBuf, arguments: Vec<String>) {
    let _ = HELPER.set((program, arguments));
}

/// What a helper does: reads one block from `input` and writes what it unpacks to.
pub fn serve_draco(input: &mut dyn Read, output: &mut dyn Write) -> std::io::Result<()> {
    let mut block = Vec::new();
    input.read_to_end(&mut block)?;
    let answer = postcard::to_stdvec(&unpack_here(&block)).map_err(std::io::Error::other)?;
    output.write_all(&answer)?;
    output.flush()
}

/// Unpacks a block by the helper.
pub(super) fn unpack(block: &[u8]) -> Result<DracoMesh, String> {
    let (program, arguments) = HELPER.get().ok_or(
        "it is packed with Draco, and this program has no helper that unpacks it: give it to \
         `frisson`, or unpack it with a glTF tool",
    )?;
    unpack_there(program, arguments, block)
}

fn unpack_there(program: &Path, arguments: &[String], block: &[u8]) -> Result<DracoMesh, String> {
    let failed = |e: std::io::Error| format!("the Draco helper cannot be run: {e}");
    let mut child = helper(program, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let answer = std::thread::scope(|scope| {
        // Both ends at once: a pipe holds less than a block.
        scope.spawn(move || input.map(|mut input| input.write_all(block)));
        let reading = scope.spawn(move || {
            let mut bytes = Vec::new();
            output.map(|mut output| output.read_to_end(&mut bytes));
            bytes
        });
        let ended = wait(&mut child);
        let bytes = reading.join().unwrap_or_default();
        if ended { Some(bytes) } else { None }
    });
    let gave_up = || "the Draco decoder gave up on damaged data".to_owned();
    let answer = answer.ok_or_else(gave_up)?;
    postcard::from_bytes::<Result<DracoMesh, String>>(&answer).map_err(|_| gave_up())?
}

/// Address space of the helper [KiB]: a block of the largest file unpacks to less.
#[cfg(unix)]
const MEMORY: u64 = 8 << 20;

/// The helper with bounded memory: a count that is wrong must not fill the machine first. Only a shell
/// can set the bound without `unsafe`; where it cannot, the helper runs without.
#[cfg(unix)]
fn helper(program: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {MEMORY} 2>/dev/null; exec \"$0\" \"$@\"");
    command.arg("-c").arg(script).arg(program).args(arguments);
    command
}

#[cfg(not(unix))]
fn helper(program: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// Waits for the helper; whether it ended well and in time.
fn wait(child: &mut Child) -> bool {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if started.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(1));
            }
            _ => {
                // It may have ended meanwhile; either way it is not waited for any longer.
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

/// An unpacked primitive.
#[derive(Serialize, Deserialize)]
pub(super) struct DracoMesh {
    pub indices: Vec<u32>,
    pub vertex_count: usize,
    pub attributes: Vec<DracoAttribute>,
}

/// One attribute, one value per vertex.
#[derive(Serialize, Deserialize)]
pub(super) struct DracoAttribute {
    /// The id by which the glTF extension names it.
    pub id: usize,
    pub component: Component,
    pub width: usize,
    pub bytes: Vec<u8>,
}

/// Unpacks a block in this process, the helper's.
fn unpack_here(block: &[u8]) -> Result<DracoMesh, String> {
    // The decoder is a pre-release that still asserts its own invariants: a damaged block must come
    // back as an error even where it does not foresee the damage.
    let decoded = catch_unwind(AssertUnwindSafe(|| draco_oxide_decoder::decode_mesh(block)))
        .map_err(|_| "the Draco decoder gave up on damaged data".to_owned())?;
    let mesh = decoded.map_err(|error| format!("the Draco data is damaged: {error}"))?;
    let indices = mesh.faces.iter().flatten().map(|&p| usize::from(p) as u32).collect();
    let vertex_count = mesh.attributes.iter().map(|a| a.len()).max().unwrap_or(0);
    let attributes = mesh.attributes.iter().map(|attribute| {
        let component = match attribute.get_component_type().get_id() {
            1 => Component::I8,
            2 => Component::U8,
            3 => Component::I16,
            4 => Component::U16,
            6 => Component::U32,
            9 => Component::F32,
            other => return Err(format!("Draco component type {other}")),
        };
        let width = attribute.get_num_components();
        let values = attribute.get_data_as_bytes();
        let bytes = match attribute.point_map_as_slice() {
            None => values.to_vec(),
            Some(map) => gather(values, width * component.size(), map)
                .ok_or("a Draco vertex has a value that does not exist")?,
        };
        Ok(DracoAttribute { id: attribute.get_id().as_usize(), component, width, bytes })
    });
    Ok(DracoMesh { indices, vertex_count, attributes: attributes.collect::<Result<_, _>>()? })
}

fn gather<T: Copy + Into<usize>>(values: &[u8], size: usize, map: &[T]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(map.len() * size);
    for &value in map {
        let start = value.into().checked_mul(size)?;
        bytes.extend_from_slice(values.get(start..start.checked_add(size)?)?);
    }
    Some(bytes)
}
