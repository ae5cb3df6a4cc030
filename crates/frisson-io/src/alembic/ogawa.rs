//! The Ogawa container: nested groups of byte blocks, written front to back.
//!
//! ```text
//! "Ogawa" state version(2) root(8) | block: size(8) bytes… | group: count(8) child(8)… | …
//! ```
//!
//! A child is a file position; the top bit tells a block from a group. Position 0 is the group of
//! nothing, position 0 with the top bit the block of nothing. Only the header is written twice: its
//! state byte turns from 0 to 0xff when the file is whole, so a reader refuses a torn one.

use std::io::{self, Seek, SeekFrom, Write};

/// Marks a child as a block of bytes.
const BLOCK: u64 = 1 << 63;
const HEADER_BYTES: u64 = 16;
const STATE_OFFSET: u64 = 5;
const WHOLE: u8 = 0xff;
const VERSION: [u8; 2] = [0, 1];

/// Where a group or a block lies in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child(u64);

impl Child {
    /// The block of no bytes; takes no room in the file.
    pub const EMPTY_BLOCK: Self = Self(BLOCK);
    /// The group of no children; takes no room in the file.
    pub const EMPTY_GROUP: Self = Self(0);
}

/// Writes the container. Nothing that was written is kept in memory.
pub struct Ogawa<W> {
    out: W,
    position: u64,
}

impl<W: Write + Seek> Ogawa<W> {
    /// Starts a file at the current position of `out`, which must be its beginning.
    pub fn create(mut out: W) -> io::Result<Self> {
        let mut header = [0_u8; HEADER_BYTES as usize];
        header[..5].copy_from_slice(b"Ogawa");
        header[6..8].copy_from_slice(&VERSION);
        out.write_all(&header)?;
        Ok(Self { out, position: HEADER_BYTES })
    }

    /// Writes a block made of some parts.
    pub fn write_block(&mut self, parts: &[&[u8]]) -> io::Result<Child> {
        let size: u64 = parts.iter().map(|p| p.len() as u64).sum();
        if size == 0 {
            return Ok(Child::EMPTY_BLOCK);
        }
        let position = self.position;
        self.out.write_all(&size.to_le_bytes())?;
        for part in parts {
            self.out.write_all(part)?;
        }
        self.position += 8 + size;
        Ok(Child(position | BLOCK))
    }

    /// Writes a group of children that are already in the file.
    pub fn write_group(
        &mut self,
        children: impl ExactSizeIterator<Item = Child>,
    ) -> io::Result<Child> {
        if children.len() == 0 {
            return Ok(Child::EMPTY_GROUP);
        }
        let position = self.position;
        let count = children.len() as u64;
        self.out.write_all(&count.to_le_bytes())?;
        for child in children {
            self.out.write_all(&child.0.to_le_bytes())?;
        }
        self.position += 8 + 8 * count;
        Ok(Child(position))
    }

    /// Names the root group and marks the file as whole.
    pub fn finish(mut self, root: Child) -> io::Result<W> {
        self.out.flush()?;
        // Last of all, after everything else has been handed to the system.
        self.out.seek(SeekFrom::Start(STATE_OFFSET))?;
        self.out.write_all(&[WHOLE, VERSION[0], VERSION[1]])?;
        self.out.write_all(&root.0.to_le_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn the_container_is_laid_out_byte_for_byte() {
        let mut ogawa = Ogawa::create(Cursor::new(Vec::new())).unwrap();
        let block = ogawa.write_block(&[b"ab", b"c"]).unwrap();
        assert_eq!(ogawa.write_block(&[]).unwrap(), Child::EMPTY_BLOCK);
        assert_eq!(ogawa.write_group([].into_iter()).unwrap(), Child::EMPTY_GROUP);
        let group = ogawa.write_group([block, Child::EMPTY_BLOCK].into_iter()).unwrap();
        let bytes = ogawa.finish(group).unwrap().into_inner();
        let mut expected = b"Ogawa\xff\x00\x01".to_vec();
        expected.extend(27_u64.to_le_bytes());
        expected.extend(3_u64.to_le_bytes());
        expected.extend(b"abc");
        expected.extend(2_u64.to_le_bytes());
        expected.extend((16 | BLOCK).to_le_bytes());
        expected.extend(BLOCK.to_le_bytes());
        assert_eq!(bytes, expected);
    }

    #[test]
    fn an_unfinished_file_says_so() {
        let ogawa = Ogawa::create(Cursor::new(Vec::new())).unwrap();
        assert_eq!(ogawa.out.into_inner()[STATE_OFFSET as usize], 0);
    }
}
