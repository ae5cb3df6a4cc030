//! The container: a file is a short signature and then blocks, each with its own checksum.
//!
//! ```text
//! "frisson\0" version:u32 0:u32 │ block │ block │ … │ end block │ end offset:u64 "frissEND"
//! block = "FBLK" kind:u32 number:i64 stored:u64 raw:u64 checksum:u64 │ stored bytes (LZ4)
//! ```
//! Integers are little-endian. The checksum (XXH3) covers the block's head and its stored bytes, so
//! that a block cannot be taken for another.

use std::io::{self, Read, Seek, SeekFrom};

use xxhash_rust::xxh3::Xxh3;

/// First bytes of every cache.
pub const SIGNATURE: [u8; 8] = *b"frisson\0";
/// Last bytes of a finished cache.
pub const END_MARK: [u8; 8] = *b"frissEND";
/// Layout version.
pub const VERSION: u32 = 1;
/// Bytes before the first block.
pub const PREAMBLE: u64 = 16;
/// Bytes of a block's head.
pub const HEAD: usize = 40;
/// Bytes of a block in the index: its head, and where it is.
const INDEX_ENTRY: usize = HEAD + 8;
/// Bytes after the end block.
pub const TRAILER: u64 = 16;
const MARK: [u8; 4] = *b"FBLK";

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Kind {
    /// What the shot is; the first block.
    Header = 1,
    /// A mesh's connectivity, materials and regions; `number` counts them.
    Topology = 2,
    /// What the layers measured; `number` is the frame.
    Report = 3,
    /// Shapes; `number` is the frame.
    Frame = 4,
    /// All states after a frame.
    Checkpoint = 5,
    /// A checkpoint left by an interrupted bake; removed when it goes on.
    Pause = 6,
    /// Where all other blocks are.
    End = 7,
}

impl Kind {
    fn from_code(code: u32) -> Option<Self> {
        use Kind::{Checkpoint, End, Frame, Header, Pause, Report, Topology};
        [Header, Topology, Report, Frame, Checkpoint, Pause, End]
            .into_iter()
            .find(|kind| *kind as u32 == code)
    }
}

/// Where a block is and what it should hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it holds.
    pub kind: Kind,
    /// Frame or topology number.
    pub number: i64,
    /// Offset of its head in the file.
    pub offset: u64,
    /// Bytes stored after the head.
    pub stored: u64,
    /// Bytes when decompressed.
    pub raw: u64,
    /// XXH3 of head and stored bytes.
    pub checksum: u64,
}

/// LZ4 cannot expand more than this: a larger `raw` is a lie, refused before memory is taken.
const MAX_EXPANSION: u64 = 255;

impl Entry {
    /// First byte after the block.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset + HEAD as u64 + self.stored
    }

    fn head(&self) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&MARK);
        head[4..8].copy_from_slice(&(self.kind as u32).to_le_bytes());
        head[8..16].copy_from_slice(&self.number.to_le_bytes());
        head[16..24].copy_from_slice(&self.stored.to_le_bytes());
        head[24..32].copy_from_slice(&self.raw.to_le_bytes());
        head[32..].copy_from_slice(&self.checksum.to_le_bytes());
        head
    }

    /// Reads a head; says what is wrong with it otherwise.
    fn from_head(head: &[u8; HEAD], offset: u64, file_len: u64) -> Result<Self, String> {
        if head[..4] != MARK {
            return Err("no block starts here".to_owned());
        }
        let kind = u32_at(head, 4);
        let kind = Kind::from_code(kind).ok_or_else(|| format!("unknown block kind {kind}"))?;
        let entry = Self {
            kind,
            number: u64_at(head, 8) as i64,
            offset,
            stored: u64_at(head, 16),
            raw: u64_at(head, 24),
            checksum: u64_at(head, 32),
        };
        // Offsets come from the index, which may say anything.
        let room = offset.checked_add(HEAD as u64).and_then(|end| file_len.checked_sub(end));
        if room.is_none_or(|room| entry.stored > room) {
            return Err("the file ends inside this block".to_owned());
        }
        // 64 more for blocks of a few bytes, whose heads weigh more than what they say.
        if entry.raw > entry.stored.saturating_mul(MAX_EXPANSION).saturating_add(64) {
            return Err("its length makes no sense".to_owned());
        }
        Ok(entry)
    }

    fn compute_checksum(&self, stored: &[u8]) -> u64 {
        let mut hash = Xxh3::new();
        // All of the head but the checksum itself.
        hash.update(&self.head()[..32]);
        hash.update(stored);
        hash.digest()
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

/// The bytes before the first block.
#[must_use]
pub fn preamble() -> [u8; PREAMBLE as usize] {
    let mut bytes = [0; PREAMBLE as usize];
    bytes[..8].copy_from_slice(&SIGNATURE);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes
}

/// Compresses `raw` and appends the block to `out`, which will be written at file offset `base`.
pub fn append_block(out: &mut Vec<u8>, base: u64, kind: Kind, number: i64, raw: &[u8]) -> Entry {
    let start = out.len();
    let room = lz4_flex::block::get_maximum_output_size(raw.len());
    // Compressed in place behind a head that is filled in afterwards: no copy of what may be megabytes.
    out.resize(start + HEAD + room, 0);
    // The output is as large as the worst case: compression has no way to fail.
    let stored = lz4_flex::block::compress_into(raw, &mut out[start + HEAD..]).unwrap_or(0);
    out.truncate(start + HEAD + stored);
    let mut entry = Entry {
        kind,
        number,
        offset: base + start as u64,
        stored: stored as u64,
        raw: raw.len() as u64,
        checksum: 0,
    };
    entry.checksum = entry.compute_checksum(&out[start + HEAD..]);
    let head = entry.head();
    out[start..start + HEAD].copy_from_slice(&head);
    entry
}

/// Reads and decompresses a block that the index speaks of. The inner error says what is damaged.
pub fn read_block<R: Read + Seek>(
    file: &mut R,
    entry: &Entry,
    stored: &mut Vec<u8>,
    raw: &mut Vec<u8>,
) -> io::Result<Result<(), String>> {
    file.seek(SeekFrom::Start(entry.offset))?;
    let mut head = [0; HEAD];
    if let Err(e) = file.read_exact(&mut head) {
        return short(e);
    }
    // The index is checked against the file: either may be of another run.
    if head != entry.head() {
        return Ok(Err("the block's head is not what the index says".to_owned()));
    }
    stored.resize(entry.stored as usize, 0);
    if let Err(e) = file.read_exact(stored) {
        return short(e);
    }
    if entry.compute_checksum(stored) != entry.checksum {
        return Ok(Err("checksum does not match".to_owned()));
    }
    raw.resize(entry.raw as usize, 0);
    match lz4_flex::block::decompress_into(stored, raw) {
        Ok(length) if length as u64 == entry.raw => Ok(Ok(())),
        _ => Ok(Err("cannot be decompressed".to_owned())),
    }
}

fn short(error: io::Error) -> io::Result<Result<(), String>> {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        Ok(Err("the file ends inside this block".to_owned()))
    } else {
        Err(error)
    }
}

/// What a walk over the file found.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// All good blocks up to the first damage.
    pub entries: Vec<Entry>,
    /// Where the good part ends.
    pub good_until: u64,
    /// What is wrong there, if anything.
    pub damage: Option<String>,
}

/// Walks over all blocks from the start and checks every checksum.
pub fn scan<R: Read + Seek>(file: &mut R) -> io::Result<Scan> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut found = Scan { good_until: PREAMBLE, ..Scan::default() };
    let mut stored = Vec::new();
    let mut offset = PREAMBLE;
    while offset < length {
        if length - offset < HEAD as u64 {
            found.damage = Some("the file ends inside a block".to_owned());
            break;
        }
        file.seek(SeekFrom::Start(offset))?;
        let mut head = [0; HEAD];
        file.read_exact(&mut head)?;
        let entry = match Entry::from_head(&head, offset, length) {
            Ok(entry) => entry,
            Err(problem) => {
                found.damage = Some(problem);
                break;
            }
        };
        stored.resize(entry.stored as usize, 0);
        file.read_exact(&mut stored)?;
        if entry.compute_checksum(&stored) != entry.checksum {
            found.damage = Some("checksum does not match".to_owned());
            break;
        }
        offset = entry.end();
        // What follows is the trailer, which is no block.
        if entry.kind == Kind::End {
            if length - offset < TRAILER {
                found.damage = Some("the last bytes are missing".to_owned());
            }
            break;
        }
        found.entries.push(entry);
        found.good_until = offset;
    }
    Ok(found)
}

/// The end block's content: all entries.
#[must_use]
pub fn encode_index(entries: &[Entry]) -> Vec<u8> {
    // Its size is known: grown as it is filled, it would take up to three times that.
    let mut bytes = Vec::with_capacity(entries.len() * INDEX_ENTRY);
    for entry in entries {
        bytes.extend_from_slice(&entry.head());
        bytes.extend_from_slice(&entry.offset.to_le_bytes());
    }
    bytes
}

/// The trailer that points at the end block.
#[must_use]
pub fn trailer(end_offset: u64) -> [u8; TRAILER as usize] {
    let mut bytes = [0; TRAILER as usize];
    bytes[..8].copy_from_slice(&end_offset.to_le_bytes());
    bytes[8..].copy_from_slice(&END_MARK);
    bytes
}

/// The index of a finished file, if its end is whole. Only the end block itself is checked here; the
/// others are when they are read.
pub fn read_index<R: Read + Seek>(file: &mut R) -> io::Result<Option<Vec<Entry>>> {
    let length = file.seek(SeekFrom::End(0))?;
    if length < PREAMBLE + HEAD as u64 + TRAILER {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(length - TRAILER))?;
    let mut bytes = [0; TRAILER as usize];
    file.read_exact(&mut bytes)?;
    let offset = u64_at(&bytes, 0);
    if bytes[8..] != END_MARK || offset < PREAMBLE || offset > length - TRAILER - HEAD as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(offset))?;
    let mut head = [0; HEAD];
    file.read_exact(&mut head)?;
    let Ok(end) = Entry::from_head(&head, offset, length) else { return Ok(None) };
    let (mut stored, mut raw) = (Vec::new(), Vec::new());
    if end.kind != Kind::End || read_block(file, &end, &mut stored, &mut raw)?.is_err() {
        return Ok(None);
    }
    let one = |bytes: &[u8]| {
        let head: [u8; HEAD] = bytes.get(..HEAD)?.try_into().ok()?;
        Entry::from_head(&head, u64_at(bytes, HEAD), length).ok()
    };
    drop(stored);
    let mut entries = Vec::with_capacity(raw.len() / INDEX_ENTRY);
    for bytes in raw.chunks(INDEX_ENTRY) {
        // One entry that makes no sense and there is no index: the file is then read block by block.
        let Some(entry) = (bytes.len() == INDEX_ENTRY).then(|| one(bytes)).flatten() else {
            return Ok(None);
        };
        entries.push(entry);
    }
    Ok(Some(entries))
}

/// Makes the checksums of all blocks right, whatever they hold, so that tests and fuzzers reach what
/// lies behind them.
#[doc(hidden)]
pub fn seal(bytes: &mut [u8]) {
    let length = bytes.len() as u64;
    let start = preamble();
    if bytes.len() >= start.len() {
        bytes[..start.len()].copy_from_slice(&start);
    }
    let mut offset = PREAMBLE as usize;
    while let Some(head) = bytes.get(offset..offset + HEAD) {
        let Ok(head) = <[u8; HEAD]>::try_from(head) else { return };
        let Ok(mut entry) = Entry::from_head(&head, offset as u64, length) else { return };
        let end = entry.end() as usize;
        entry.checksum = entry.compute_checksum(&bytes[offset + HEAD..end]);
        bytes[offset..offset + HEAD].copy_from_slice(&entry.head());
        offset = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_the_index_puts_beyond_the_file_is_damage() {
        let mut bytes = preamble().to_vec();
        let entry = append_block(&mut bytes, 0, Kind::Frame, 1, b"shapes");
        let (head, length) = (entry.head(), bytes.len() as u64);
        assert!(Entry::from_head(&head, entry.offset, length).is_ok());
        for offset in [entry.offset + 1, length, length + 1, u64::MAX - 39, u64::MAX] {
            assert!(Entry::from_head(&head, offset, length).is_err(), "{offset}");
        }
    }
}
