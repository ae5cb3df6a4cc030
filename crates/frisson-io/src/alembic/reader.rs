//! Just enough of a reader to check what was written, independent of the writer's code.

use std::collections::BTreeMap;

pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    metadata: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct ReadObject {
    pub(crate) name: String,
    pub(crate) metadata: String,
    /// By path below the object, e.g. `.geom/uv/.vals`.
    pub(crate) properties: BTreeMap<String, ReadProperty>,
    pub(crate) children: Vec<ReadObject>,
}

#[derive(Debug, Default)]
pub(crate) struct ReadProperty {
    pub(crate) flags: u32,
    pub(crate) sampling: u32,
    pub(crate) metadata: String,
    pub(crate) samples: Vec<Vec<u8>>,
}

pub(crate) struct ReadArchive {
    pub(crate) top: ReadObject,
    pub(crate) application: String,
    /// Samples, step, start.
    pub(crate) samplings: Vec<(u32, f64, f64)>,
}

const BLOCK: u64 = 1 << 63;

pub(crate) fn read(bytes: &[u8]) -> ReadArchive {
    assert_eq!(&bytes[..8], b"Ogawa\xff\x00\x01", "not a whole Ogawa file");
    // Entry 0 is the empty text and is not stored.
    let mut reader = Reader { bytes, metadata: vec![String::new()] };
    let root = reader.group(u64_at(bytes, 8));
    assert_eq!(root.len(), 6);
    let mut table = reader.block(root[5]);
    while let Some((&size, rest)) = table.split_first() {
        let (text, rest) = rest.split_at(usize::from(size));
        reader.metadata.push(String::from_utf8(text.to_vec()).unwrap());
        table = rest;
    }
    let samplings = reader.block(root[4]).chunks_exact(24).map(|c| {
        assert_eq!(u32::from_le_bytes(c[12..16].try_into().unwrap()), 1);
        let f64_at = |at: usize| f64::from_le_bytes(c[at..at + 8].try_into().unwrap());
        (u32::from_le_bytes(c[..4].try_into().unwrap()), f64_at(4), f64_at(16))
    });
    ReadArchive {
        samplings: samplings.collect(),
        application: String::from_utf8(reader.block(root[3]).to_vec()).unwrap(),
        top: reader.object(root[2], "ABC".to_owned(), String::new()),
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (head, tail) = self.bytes.split_at(count);
        self.bytes = tail;
        head
    }

    fn number(&mut self, width: usize) -> usize {
        let mut all = [0_u8; 8];
        all[..width].copy_from_slice(self.take(width));
        u64::from_le_bytes(all) as usize
    }

    fn text(&mut self, width: usize) -> String {
        let size = self.number(width);
        String::from_utf8(self.take(size).to_vec()).unwrap()
    }
}

impl<'a> Reader<'a> {
    fn group(&self, at: u64) -> Vec<u64> {
        assert_eq!(at & BLOCK, 0, "a block where a group should be");
        if at == 0 {
            return Vec::new();
        }
        let count = u64_at(self.bytes, at as usize) as usize;
        (1..=count).map(|i| u64_at(self.bytes, at as usize + 8 * i)).collect()
    }

    fn block(&self, at: u64) -> &'a [u8] {
        assert_ne!(at & BLOCK, 0, "a group where a block should be");
        let at = (at & !BLOCK) as usize;
        if at == 0 {
            return &[];
        }
        let size = u64_at(self.bytes, at) as usize;
        &self.bytes[at + 8..at + 8 + size]
    }

    fn object(&self, at: u64, name: String, metadata: String) -> ReadObject {
        let group = self.group(at);
        let mut object = ReadObject { name, metadata, ..ReadObject::default() };
        self.compound(group[0], "", &mut object.properties);
        // First the properties, last the headers of the children, the children in between.
        let headers = self.block(group[group.len() - 1]);
        // Behind the headers stand two digests of 16 bytes: of the properties and of the children.
        let mut headers = Cursor { bytes: &headers[..headers.len() - 32] };
        for &child in &group[1..group.len() - 1] {
            let name = headers.text(4);
            let index = headers.number(1);
            let metadata = match index {
                0xff => headers.text(4),
                _ => self.metadata[index].clone(),
            };
            object.children.push(self.object(child, name, metadata));
        }
        assert!(headers.bytes.is_empty(), "object headers left over");
        object
    }

    fn compound(&self, at: u64, path: &str, out: &mut BTreeMap<String, ReadProperty>) {
        let group = self.group(at);
        let Some((&headers, children)) = group.split_last() else { return };
        let mut headers = Cursor { bytes: self.block(headers) };
        for &child in children {
            let flags = headers.number(4) as u32;
            let width = [1, 2, 4][(flags >> 2 & 3) as usize];
            let metadata_index = (flags >> 20 & 0xff) as usize;
            let mut property = ReadProperty { flags, ..ReadProperty::default() };
            // Samples, first and last change; a compound (kind 0) has none of them.
            let mut counts = (0, 0, 0);
            if flags & 3 != 0 {
                let samples = headers.number(width);
                // Bit 9: partly constant, both changes are written; bit 11: constant; else every sample is another.
                counts = match (flags & 0x200 != 0, flags & 0x800 != 0) {
                    (true, _) => (samples, headers.number(width), headers.number(width)),
                    (_, true) => (samples, 0, 0),
                    _ => (samples, 1, samples - 1),
                };
                if flags & 0x100 != 0 {
                    property.sampling = headers.number(width) as u32;
                }
            }
            let name = headers.text(width);
            property.metadata = match metadata_index {
                0xff => headers.text(width),
                index => self.metadata[index].clone(),
            };
            let path = if path.is_empty() { name } else { format!("{path}/{name}") };
            if flags & 3 == 0 {
                self.compound(child, &path, out);
            } else {
                property.samples = self.samples(child, flags, counts);
            }
            assert!(out.insert(path.clone(), property).is_none(), "{path} is there twice");
        }
        assert!(headers.bytes.is_empty(), "property headers left over");
    }

    fn samples(
        &self,
        at: u64,
        flags: u32,
        (count, first, last): (usize, usize, usize),
    ) -> Vec<Vec<u8>> {
        let stored = self.group(at);
        // Of an array, every sample is followed by its dimensions.
        let stride = if flags & 3 == 1 { 1 } else { 2 };
        let used = if first == 0 { 1 } else { last - first + 2 };
        assert_eq!(stored.len(), if count == 0 { 0 } else { used * stride });
        let sample = |index: usize| {
            let place = match index {
                i if first == 0 || i < first => 0,
                i if i >= last => last - first + 1,
                i => i - first + 1,
            };
            // A sample of no bytes may be an empty block, without a key.
            let block = self.block(stored[place * stride]);
            match block.split_at_checked(16) {
                Some((key, data)) => {
                    let digest = xxhash_rust::xxh3::xxh3_128(data);
                    assert_eq!(key, digest.to_le_bytes(), "a sample's key");
                    data.to_vec()
                }
                None => Vec::new(),
            }
        };
        (0..count).map(sample).collect()
    }
}

impl ReadObject {
    pub(crate) fn child(&self, name: &str) -> &Self {
        self.children.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("no {name}"))
    }

    pub(crate) fn samples<T: bytemuck::AnyBitPattern>(&self, path: &str) -> Vec<Vec<T>> {
        let property = &self.properties.get(path).unwrap_or_else(|| {
            panic!("no {path} among {:?}", self.properties.keys().collect::<Vec<_>>())
        });
        property.samples.iter().map(|s| cast(s)).collect()
    }
}

fn cast<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}
