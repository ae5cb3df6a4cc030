//! Damaged glTF files: JSON values changed one by one, and bytes behind them; files of others in
//! `FRISSON_FUZZ_SEEDS` are damaged, too. Draco blocks come from those.

use frisson_io::gltf::{build_character, read_bytes};
use serde_json::Value;

use crate::Target;
use crate::random::Random;

/// A GLB taken apart.
struct Parts {
    json: Value,
    bin: Vec<u8>,
}

fn split(bytes: &[u8]) -> Option<Parts> {
    let word =
        |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let end = 20 + word(12)?;
    let json = serde_json::from_slice(bytes.get(20..end)?).ok()?;
    let bin = bytes.get(end + 8..).unwrap_or(&[]).to_vec();
    Some(Parts { json, bin })
}

fn join(json: &Value, bin: &[u8]) -> Vec<u8> {
    let mut text = serde_json::to_vec(json).unwrap_or_default();
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = 12 + 8 + text.len() + 8 + bin.len();
    let mut out = Vec::with_capacity(total);
    for word in [0x4654_6C67, 2, total as u32, text.len() as u32, 0x4E4F_534A] {
        out.extend_from_slice(&u32::to_le_bytes(word));
    }
    out.extend_from_slice(&text);
    out.extend_from_slice(&(bin.len() as u32).to_le_bytes());
    out.extend_from_slice(&0x004E_4942u32.to_le_bytes());
    out.extend_from_slice(bin);
    out
}

fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for name in ["wrist", "mushroom"] {
        let built = frisson_models::build(name).ok().and_then(|c| build_character(&c).ok());
        all.extend(built.and_then(|b| b.into_bytes().ok()));
    }
    if let Some(folder) = std::env::var_os("FRISSON_FUZZ_SEEDS") {
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        let small = |b: &Vec<u8>| b.len() < 200_000;
        all.extend(paths.iter().filter_map(|p| std::fs::read(p).ok()).filter(small));
    }
    all
}

pub struct Characters {
    whole: Vec<Parts>,
    raw: Vec<Vec<u8>>,
}

impl Characters {
    pub fn new() -> Self {
        let raw = seeds();
        Self { whole: raw.iter().filter_map(|b| split(b)).collect(), raw }
    }
}

impl Target for Characters {
    fn make(&mut self, random: &mut Random) -> Vec<u8> {
        if random.one_in(10) {
            let mut bytes = random.pick(&self.raw).clone();
            random.damage(&mut bytes);
            return bytes;
        }
        let parts = random.pick(&self.whole);
        let (mut json, mut bin) = (parts.json.clone(), parts.bin.clone());
        for _ in 0..=random.below(4) {
            random.damage_json(&mut json);
        }
        if random.one_in(3) {
            random.damage(&mut bin);
        }
        join(&json, &bin)
    }

    fn feed(&mut self, input: &[u8]) -> Result<(), String> {
        let Ok(imported) = read_bytes(input, None) else { return Ok(()) };
        let character = imported.character;
        for mesh in &character.meshes {
            let count = mesh.mesh.positions.len();
            let inside =
                mesh.mesh.topology.triangles.iter().flatten().all(|&v| (v as usize) < count);
            if !inside {
                return Err("a triangle names a vertex that does not exist".to_owned());
            }
        }
        Ok(())
    }

    fn extension(&self) -> &str {
        "glb"
    }
}

/// Bytes of Draco blocks, damaged inside files that are otherwise whole.
pub struct DracoBlocks {
    whole: Vec<Parts>,
}

impl DracoBlocks {
    pub fn new() -> Self {
        let packed = |p: &Parts| p.bin.windows(5).any(|w| w == b"DRACO");
        let whole: Vec<Parts> = seeds().iter().filter_map(|b| split(b)).filter(packed).collect();
        assert!(!whole.is_empty(), "FRISSON_FUZZ_SEEDS must name a folder with Draco files");
        Self { whole }
    }
}

impl Target for DracoBlocks {
    fn make(&mut self, random: &mut Random) -> Vec<u8> {
        let parts = random.pick(&self.whole);
        let mut bin = parts.bin.clone();
        let length = bin.len();
        random.damage(&mut bin);
        // The views must still fit, or the block is never reached.
        bin.resize(length, 0);
        join(&parts.json, &bin)
    }

    fn feed(&mut self, input: &[u8]) -> Result<(), String> {
        let _ = read_bytes(input, None);
        Ok(())
    }

    fn extension(&self) -> &str {
        "glb"
    }
}
