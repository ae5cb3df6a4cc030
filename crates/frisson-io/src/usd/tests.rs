//! Structure of both encodings; the values are read back by OpenUSD itself in `tests/interop`.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::export::tests::{MemorySource, random_shot, small_shot};
use crate::export::{ExportError, ExportParams, Frames};
use crate::source::Silent;

fn params() -> ExportParams {
    ExportParams { usd: Some("x.usdc".into()), ..ExportParams::default() }
}

fn binary(source: &mut MemorySource) -> Result<Vec<u8>, ExportError> {
    let (params, mut silent) = (params(), Silent);
    let mut frames = Frames::new(source, &params, &mut silent)?;
    let mut out = Cursor::new(Vec::new());
    write_shot(&mut BinaryWriter::create(&mut out)?, &mut frames)?;
    Ok(out.into_inner())
}

fn text(source: &mut MemorySource) -> Result<String, ExportError> {
    let (params, mut silent) = (params(), Silent);
    let mut frames = Frames::new(source, &params, &mut silent)?;
    let mut out = Vec::new();
    write_shot(&mut TextWriter::create(&mut out), &mut frames)?;
    Ok(String::from_utf8(out).unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// Sections by name, and the jumps of the path tree followed to the end.
fn check_structure(bytes: &[u8]) -> Vec<String> {
    assert_eq!(&bytes[..16], b"PXR-USDC\x00\x08\x00\x00\x00\x00\x00\x00");
    let contents = u64_at(bytes, 16);
    assert_eq!(bytes.len(), contents + 8 + 6 * 32);
    let section = |number: usize| {
        let at = contents + 8 + 32 * number;
        let name = String::from_utf8(bytes[at..at + 16].to_vec()).unwrap();
        let (start, size) = (u64_at(bytes, at + 16), u64_at(bytes, at + 24));
        (name.trim_end_matches('\0').to_owned(), &bytes[start..start + size])
    };
    let names: Vec<String> = (0..6).map(|n| section(n).0).collect();
    assert_eq!(names, ["TOKENS", "STRINGS", "FIELDS", "FIELDSETS", "PATHS", "SPECS"]);
    let tokens = section(0).1;
    let (count, size) = (u64_at(tokens, 0), u64_at(tokens, 8));
    let tokens = lz4_flex::block::decompress(&tokens[25..], size).unwrap();
    let tokens: Vec<String> =
        String::from_utf8(tokens).unwrap().split_terminator('\0').map(str::to_owned).collect();
    assert_eq!(tokens.len(), count);
    let mut paths = section(4).1;
    let count = u64_at(paths, 0);
    paths = &paths[16..];
    let mut columns = Vec::new();
    while !paths.is_empty() {
        let size = u64_at(paths, 0);
        columns.push(integers::decode(&paths[8..8 + size], count));
        paths = &paths[8 + size..];
    }
    let mut out = Vec::new();
    follow(0, "", &columns[1], &columns[2], &tokens, &mut out);
    assert_eq!(out.len(), count);
    out
}

fn follow(
    at: usize,
    parent: &str,
    elements: &[i32],
    jumps: &[i32],
    tokens: &[String],
    out: &mut Vec<String>,
) {
    let name = &tokens[elements[at].unsigned_abs() as usize];
    let separator = if elements[at] < 0 { "." } else { "/" };
    let path = if at == 0 { String::new() } else { format!("{parent}{separator}{name}") };
    out.push(path.clone());
    let (child, sibling) = match jumps[at] {
        -2 => (None, None),
        -1 => (Some(at + 1), None),
        0 => (None, Some(at + 1)),
        jump => (Some(at + 1), Some(at + jump as usize)),
    };
    for (next, parent) in [(child, path.as_str()), (sibling, parent)] {
        if let Some(next) = next {
            follow(next, parent, elements, jumps, tokens, out);
        }
    }
}

#[test]
fn the_binary_tree_holds_every_path_once() {
    let paths = check_structure(&binary(&mut small_shot()).unwrap());
    for expected in [
        "/World",
        "/World/wave.points",
        "/World/wave.primvars:st",
        "/World/wave.primvars:wet_ness",
        "/World/wave/default.material:binding",
        "/World/wave/_2nd.indices",
        "/World/hair.widths",
        "/World/spray.ids",
        "/World/Materials/default/Surface.inputs:diffuseColor",
    ] {
        assert_eq!(paths.iter().filter(|p| *p == expected).count(), 1, "{expected} in {paths:?}");
    }
}

#[test]
fn static_arrays_are_stored_once_and_as_defaults() {
    let text = text(&mut small_shot()).unwrap();
    assert_eq!(text.matches("texCoord2f[] primvars:st = [").count(), 2, "{text}");
    assert!(text.contains("int[] faceVertexCounts.timeSamples"), "the blob changes");
    assert!(text.contains("metersPerUnit = 1\n") && text.contains("upAxis = \"Y\""));
    let mut source = small_shot();
    let once = binary(&mut source).unwrap().len();
    let more = source.frames[3].clone();
    source.frames.extend(std::iter::repeat_n(more, 20));
    source.info.last_frame += 20;
    let grown = binary(&mut source).unwrap().len() - once;
    // 20 equal frames cost their 8-byte names and times, and new velocities at the turn.
    assert!(grown < 20 * 8 * 40 + 2000, "{grown}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_shot_is_written(seed in any::<u64>(), frames in 1_usize..9) {
        let mut source = random_shot(seed, frames);
        match binary(&mut source) {
            Ok(bytes) => {
                let paths = check_structure(&bytes);
                prop_assert!(paths.contains(&"/World".to_owned()));
                let text = text(&mut source).unwrap();
                prop_assert_eq!(text.matches('{').count(), text.matches('}').count());
            }
            Err(error) => prop_assert!(matches!(error, ExportError::Nothing(_))),
        }
    }
}
