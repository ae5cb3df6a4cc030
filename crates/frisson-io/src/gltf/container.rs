//! The GLB container, data URIs and files named by URIs.
//!
//! ```text
//! "glTF" 2 length | length "JSON" {…} | length "BIN\0" bytes
//! ```

use super::error::{GltfError, Result};

pub(super) const MAGIC: u32 = 0x4654_6C67;
pub(super) const JSON_CHUNK: u32 = 0x4E4F_534A;
pub(super) const BIN_CHUNK: u32 = 0x004E_4942;

/// The two chunks of a GLB.
pub(super) struct Chunks<'a> {
    pub json: &'a [u8],
    pub bin: Option<&'a [u8]>,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}

/// Whether the bytes begin like a GLB.
pub(super) fn is_glb(bytes: &[u8]) -> bool {
    word(bytes, 0) == Some(MAGIC)
}

/// Splits a GLB into its chunks; chunks of other kinds are passed over.
pub(super) fn split_glb(bytes: &[u8]) -> Result<Chunks<'_>> {
    let broken = |problem: String| GltfError::NotGltf(problem);
    let truncated = || broken("the GLB container is cut short".to_owned());
    let version = word(bytes, 4).ok_or_else(truncated)?;
    if version != 2 {
        return Err(broken(format!("GLB container version {version}; only 2 is known")));
    }
    let length = word(bytes, 8).ok_or_else(truncated)? as usize;
    let bytes = bytes.get(..length).ok_or_else(|| {
        broken(format!("the GLB header promises {length} bytes, the file has {}", bytes.len()))
    })?;
    let (mut json, mut bin) = (None, None);
    let mut at = 12;
    while at < bytes.len() {
        let size = word(bytes, at).ok_or_else(truncated)? as usize;
        let kind = word(bytes, at + 4).ok_or_else(truncated)?;
        let end = (at + 8).checked_add(size).ok_or_else(truncated)?;
        let chunk = bytes.get(at + 8..end).ok_or_else(truncated)?;
        match kind {
            JSON_CHUNK if json.is_none() => json = Some(chunk),
            BIN_CHUNK if bin.is_none() => bin = Some(chunk),
            _ => {}
        }
        at = end;
    }
    let json = json.ok_or_else(|| broken("the GLB container has no JSON chunk".to_owned()))?;
    Ok(Chunks { json, bin })
}

/// Bytes of a `data:` URI, or nothing if it is not one.
pub(super) fn decode_data_uri(uri: &str) -> Option<std::result::Result<Vec<u8>, String>> {
    let rest = uri.strip_prefix("data:")?;
    let Some((head, body)) = rest.split_once(',') else {
        return Some(Err("the data URI has no comma".to_owned()));
    };
    Some(if head.ends_with(";base64") { decode_base64(body) } else { Ok(percent_decode(body)) })
}

fn decode_base64(text: &str) -> std::result::Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0u32);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' | b'\n' | b'\r' | b' ' => continue,
            _ => return Err(format!("{:?} is not a base64 character", char::from(byte))),
        };
        // Only the last bits are still wanted; the mask keeps the shift from overflowing.
        bits = (bits << 6 | u32::from(value)) & 0x00FF_FFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Ok(out)
}

fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(escaped.unwrap_or(bytes[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    out
}

/// The name of the file that a relative URI spells.
pub(super) fn name_of_uri(uri: &str) -> std::result::Result<String, String> {
    if uri.contains("://") {
        return Err(format!("{uri:?} is not a local file"));
    }
    String::from_utf8(percent_decode(uri)).map_err(|_| format!("{uri:?} is not valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_with_and_without_padding() {
        let decode = |uri| decode_data_uri(uri).unwrap().unwrap();
        assert_eq!(decode("data:application/octet-stream;base64,AQIDBA=="), [1, 2, 3, 4]);
        assert_eq!(decode("data:;base64,AQIDBA"), [1, 2, 3, 4]);
        assert_eq!(decode("data:text/plain,a%20b%zz"), b"a b%zz");
        assert!(decode_data_uri("data:;base64,A*").unwrap().is_err());
        assert!(decode_data_uri("body.bin").is_none());
    }

    #[test]
    fn a_uri_with_escapes_names_a_file_and_an_address_does_not() {
        assert_eq!(name_of_uri("a%20b.bin").unwrap(), "a b.bin");
        assert!(name_of_uri("https://example.org/a.bin").is_err());
        assert!(name_of_uri("%ff.bin").is_err());
    }
}
