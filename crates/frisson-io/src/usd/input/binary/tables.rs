//! The sections of a crate file.

use super::super::bytes::{Bytes, Cursor};
use super::super::layer::Name;
use super::super::{Result, UsdError};
use super::packed::{unpack, unpack_integers};

/// Most entries of any table: a scene of a million prims has fewer.
const MOST_ENTRIES: u64 = 1 << 24;
/// Deepest path.
const MOST_LEVELS: usize = 512;
/// Sections have names of this many bytes.
const NAME_BYTES: usize = 16;

/// A place in the tree of names.
#[derive(Clone, Debug)]
pub(super) struct PathEntry {
    pub parent: Option<u32>,
    pub name: Name,
    pub is_property: bool,
    level: usize,
}

/// One spec: its path, its first field, its kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpecEntry {
    pub path: u32,
    pub fields: u32,
    pub kind: u32,
}

/// What stands in the sections.
pub(super) struct Tables {
    pub version: [u8; 3],
    pub tokens: Vec<Name>,
    pub strings: Vec<u32>,
    pub fields: Vec<(Name, u64)>,
    /// Fields of specs, each list ended by `u32::MAX`.
    pub field_sets: Vec<u32>,
    pub paths: Vec<Option<PathEntry>>,
    pub specs: Vec<SpecEntry>,
}

fn bad(place: &str, problem: impl Into<String>) -> UsdError {
    UsdError::damaged(place, problem)
}

pub(super) fn read_tables(bytes: &Bytes) -> Result<Tables> {
    let mut cursor = bytes.cursor("header", 8);
    let version = cursor.take(8)?;
    let version = [version[0], version[1], version[2]];
    if version < [0, 4, 0] || version[0] > 0 {
        let [a, b, c] = version;
        return Err(UsdError::NotUsd(format!(
            "a USD file of version {a}.{b}.{c}; 0.4.0 and later are read (save it again with a newer program)"
        )));
    }
    let contents = cursor.u64()?;
    let mut cursor = bytes.cursor("table of contents", contents);
    let mut sections = Vec::new();
    for _ in 0..cursor.count(NAME_BYTES as u64 + 16)? {
        let name = cursor.take(NAME_BYTES as u64)?;
        let name = String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
        let (start, size) = (cursor.u64()?, cursor.u64()?);
        sections.push((name, start, size));
    }
    let section = |name: &'static str| {
        let found = sections.iter().find(|(n, _, _)| n == name);
        let &(_, start, size) = found.ok_or_else(|| bad(name, "the section is missing"))?;
        bytes.part(name, start, size)
    };
    let tokens = read_tokens(&section("TOKENS")?)?;
    let strings = read_strings(&section("STRINGS")?)?;
    let fields = read_fields(&section("FIELDS")?, &tokens)?;
    let field_sets = read_field_sets(&section("FIELDSETS")?)?;
    let paths = read_paths(&section("PATHS")?, &tokens)?;
    let specs = read_specs(&section("SPECS")?)?;
    Ok(Tables { version, tokens, strings, fields, field_sets, paths, specs })
}

fn entries(cursor: &mut Cursor<'_>) -> Result<usize> {
    let count = cursor.u64()?;
    if count > MOST_ENTRIES {
        let problem = format!("{count} entries, more than the limit of {MOST_ENTRIES}");
        return Err(bad(cursor.place, problem));
    }
    Ok(count as usize)
}

fn column(cursor: &mut Cursor<'_>, count: usize) -> Result<Vec<u32>> {
    let size = cursor.count(1)?;
    let packed = cursor.take(size)?;
    let numbers = unpack_integers(cursor.place, &packed, count, false)?;
    Ok(numbers.into_iter().map(|n| n as u32).collect())
}

fn read_tokens(section: &Bytes) -> Result<Vec<Name>> {
    let mut cursor = section.cursor("TOKENS", 0);
    let count = entries(&mut cursor)?;
    let size = cursor.u64()?;
    let packed = cursor.count(1)?;
    let packed = cursor.take(packed)?;
    let most = usize::try_from(size).map_err(|_| bad("TOKENS", "their size is absurd"))?;
    let text = unpack("TOKENS", &packed, most)?;
    let mut parts = text.split(|&b| b == 0);
    let tokens: Vec<Name> =
        parts.by_ref().take(count).map(|t| String::from_utf8_lossy(t).into()).collect();
    match tokens.len() == count {
        true => Ok(tokens),
        false => Err(bad("TOKENS", format!("{count} are promised, {} are there", tokens.len()))),
    }
}

fn read_strings(section: &Bytes) -> Result<Vec<u32>> {
    let mut cursor = section.cursor("STRINGS", 0);
    let count = cursor.count(4)?;
    let bytes = cursor.take(4 * count)?;
    Ok(words(&bytes))
}

pub(super) fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |c: &[u8]| u32::from_le_bytes(c.try_into().unwrap_or_default());
    bytes.chunks_exact(4).map(word).collect()
}

pub(super) fn long_words(bytes: &[u8]) -> Vec<u64> {
    let word = |c: &[u8]| u64::from_le_bytes(c.try_into().unwrap_or_default());
    bytes.chunks_exact(8).map(word).collect()
}

fn read_fields(section: &Bytes, tokens: &[Name]) -> Result<Vec<(Name, u64)>> {
    let mut cursor = section.cursor("FIELDS", 0);
    let count = entries(&mut cursor)?;
    let names = column(&mut cursor, count)?;
    let size = cursor.count(1)?;
    let packed = cursor.take(size)?;
    let values = long_words(&unpack("FIELDS", &packed, 8 * count)?);
    if values.len() != count {
        return Err(bad(
            "FIELDS",
            format!("{count} values are promised, {} are there", values.len()),
        ));
    }
    let name = |index: u32| {
        let token = tokens.get(index as usize);
        token.cloned().ok_or_else(|| bad("FIELDS", format!("there is no token {index}")))
    };
    names.into_iter().zip(values).map(|(n, v)| Ok((name(n)?, v))).collect()
}

fn read_field_sets(section: &Bytes) -> Result<Vec<u32>> {
    let mut cursor = section.cursor("FIELDSETS", 0);
    let count = entries(&mut cursor)?;
    column(&mut cursor, count)
}

fn read_specs(section: &Bytes) -> Result<Vec<SpecEntry>> {
    let mut cursor = section.cursor("SPECS", 0);
    let count = entries(&mut cursor)?;
    let paths = column(&mut cursor, count)?;
    let fields = column(&mut cursor, count)?;
    let kinds = column(&mut cursor, count)?;
    let entry = |i: usize| SpecEntry { path: paths[i], fields: fields[i], kind: kinds[i] };
    Ok((0..count).map(entry).collect())
}

/// The tree of paths. A jump says where the sibling is: -2 a leaf without one, -1 children only, 0 a
/// leaf whose sibling follows, else children, and the sibling that many entries on.
fn read_paths(section: &Bytes, tokens: &[Name]) -> Result<Vec<Option<PathEntry>>> {
    let mut cursor = section.cursor("PATHS", 0);
    let total = entries(&mut cursor)?;
    let count = entries(&mut cursor)?;
    let indices = column(&mut cursor, count)?;
    let elements = column(&mut cursor, count)?;
    let jumps = column(&mut cursor, count)?;
    let mut paths: Vec<Option<PathEntry>> = vec![None; total];
    let mut left = vec![(0_usize, None::<u32>, 0_usize)];
    let mut seen = 0;
    while let Some((at, parent, level)) = left.pop() {
        let (Some(&index), Some(&element), Some(&jump)) =
            (indices.get(at), elements.get(at), jumps.get(at))
        else {
            // A file without any path has no first one either.
            if count == 0 {
                break;
            }
            return Err(bad("PATHS", "a jump leads out of the table"));
        };
        seen += 1;
        if seen > count || level > MOST_LEVELS {
            return Err(bad("PATHS", "they go round in circles or too deep"));
        }
        let element = element as i32;
        let name = tokens.get(element.unsigned_abs() as usize);
        let name = name.ok_or_else(|| bad("PATHS", format!("there is no token {element}")))?;
        let slot = paths.get_mut(index as usize);
        let slot = slot.ok_or_else(|| bad("PATHS", format!("there is no path {index}")))?;
        *slot = Some(PathEntry { parent, name: name.clone(), is_property: element < 0, level });
        let jump = jump as i32;
        if jump >= 0 {
            let next = if jump == 0 { 1 } else { jump as usize };
            left.push((at + next, parent, level));
        }
        if jump > 0 || jump == -1 {
            left.push((at + 1, Some(index), level + 1));
        }
    }
    Ok(paths)
}

impl Tables {
    pub fn token(&self, index: u32) -> Result<Name> {
        let found = self.tokens.get(index as usize).cloned();
        found.ok_or_else(|| bad("values", format!("there is no token {index}")))
    }

    pub fn string(&self, index: u32) -> Result<Name> {
        let found = self.strings.get(index as usize);
        self.token(*found.ok_or_else(|| bad("values", format!("there is no string {index}")))?)
    }

    pub fn path_entry(&self, index: u32) -> Option<&PathEntry> {
        self.paths.get(index as usize)?.as_ref()
    }

    /// A path as text, chosen variants left out.
    pub fn path(&self, index: u32) -> Result<Name> {
        let mut parts = Vec::new();
        let mut at = Some(index);
        while let Some(index) = at {
            let entry = self.path_entry(index);
            let entry = entry.ok_or_else(|| bad("values", format!("there is no path {index}")))?;
            // Paths whose parents were overwritten by a damaged table could go round.
            if parts.len() > MOST_LEVELS + entry.level {
                return Err(bad("values", "a path goes round in circles"));
            }
            if !entry.name.starts_with('{') && !entry.name.starts_with('[') {
                let separator = if entry.is_property { "." } else { "/" };
                if entry.parent.is_some() {
                    parts.push(format!("{separator}{}", entry.name));
                }
            }
            at = entry.parent;
        }
        parts.reverse();
        let text = parts.concat();
        Ok(if text.is_empty() { "/".into() } else { text.into() })
    }
}
