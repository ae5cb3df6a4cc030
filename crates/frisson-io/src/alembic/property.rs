//! One sampled property: which samples are stored, and the header that says so.
//!
//! Equal neighbours are stored once. Sample 0 is always there; nothing more until the first change;
//! then every sample (repeats point at the same block) up to the last change; nothing after it:
//!
//! ```text
//! values  a a a b b c c c        first_changed = 3, last_changed = 5
//! stored  a     b b c
//! ```

use super::metadata::MetadataTable;
use super::ogawa::Child;

/// What a property's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pod {
    /// Unsigned byte.
    U8,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 64-bit integer.
    U64,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Pod {
    fn code(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::U32 => 5,
            Self::I32 => 6,
            Self::U64 => 7,
            Self::F32 => 10,
            Self::F64 => 11,
        }
    }

    /// Bytes of one number.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::U64 | Self::F64 => 8,
        }
    }

    /// Name used in the metadata of geometry parameters.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "uint8_t",
            Self::I32 => "int32_t",
            Self::U32 => "uint32_t",
            Self::U64 => "uint64_t",
            Self::F32 => "float32_t",
            Self::F64 => "float64_t",
        }
    }
}

/// Numbers of one element: `DataType::new(Pod::F32, 3)` is a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataType {
    /// Kind of number.
    pub pod: Pod,
    /// How many make one element.
    pub extent: u8,
}

impl DataType {
    /// `extent` numbers of kind `pod`.
    #[must_use]
    pub const fn new(pod: Pod, extent: u8) -> Self {
        Self { pod, extent }
    }

    /// Bytes of one element.
    #[must_use]
    pub fn size(self) -> usize {
        self.pod.size() * usize::from(self.extent)
    }
}

/// Whether a sample is exactly one element or any number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One element.
    Scalar,
    /// Any number of elements.
    Array,
}

/// What all samples of a property are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleType<'a> {
    /// One element or any number of them.
    pub shape: Shape,
    /// The elements.
    pub data_type: DataType,
    /// What they stand for, as `key=value;key=value`.
    pub metadata: &'a str,
}

impl<'a> SampleType<'a> {
    /// Samples of one element each.
    #[must_use]
    pub const fn scalar(data_type: DataType, metadata: &'a str) -> Self {
        Self { shape: Shape::Scalar, data_type, metadata }
    }

    /// Samples of any number of elements.
    #[must_use]
    pub const fn array(data_type: DataType, metadata: &'a str) -> Self {
        Self { shape: Shape::Array, data_type, metadata }
    }
}

/// A property being written: 8 bytes per stored sample are kept, the samples themselves are not.
pub(super) struct Property {
    name: String,
    data_type: DataType,
    shape: Shape,
    metadata: String,
    sampling: u32,
    stored: Vec<Child>,
    samples: u32,
    first_changed: u32,
    last_changed: u32,
    last_key: u128,
    last_count: usize,
    all_single: bool,
    same_count: bool,
    /// Digest of all samples' keys, in order.
    pub(super) digest: u128,
}

impl Property {
    pub(super) fn new(name: &str, samples: SampleType<'_>, sampling: u32) -> Self {
        Self {
            name: name.to_owned(),
            data_type: samples.data_type,
            shape: samples.shape,
            metadata: samples.metadata.to_owned(),
            sampling,
            stored: Vec::new(),
            samples: 0,
            first_changed: 0,
            last_changed: 0,
            last_key: 0,
            last_count: 0,
            all_single: true,
            same_count: true,
            digest: 0,
        }
    }

    pub(super) fn data_type(&self) -> DataType {
        self.data_type
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn sampling(&self) -> u32 {
        self.sampling
    }

    pub(super) fn samples(&self) -> u32 {
        self.samples
    }

    pub(super) fn repeats_last(&self, key: u128, count: usize) -> bool {
        self.samples > 0 && key == self.last_key && count == self.last_count
    }

    /// One more sample equal to the last.
    pub(super) fn repeat(&mut self) {
        self.samples += 1;
    }

    /// One more sample, different from the last, stored at `block`.
    pub(super) fn push(&mut self, block: Child, key: u128, count: usize) {
        if self.samples > 0 {
            if self.first_changed == 0 {
                self.first_changed = self.samples;
            } else {
                let last = self.stored[self.stored.len() - 1];
                // Repeats so far become entries: between first and last change all must be there.
                let repeats = self.samples - self.last_changed - 1;
                self.stored.extend(std::iter::repeat_n(last, repeats as usize));
            }
            self.last_changed = self.samples;
            self.same_count &= count == self.last_count;
        }
        self.all_single &= count == 1;
        self.stored.push(block);
        self.last_key = key;
        self.last_count = count;
        self.samples += 1;
        // A chain of what was there, what comes and its place: the same values at other frames give another digest.
        let mut link = [0_u8; 36];
        link[..16].copy_from_slice(&self.digest.to_le_bytes());
        link[16..32].copy_from_slice(&key.to_le_bytes());
        link[32..].copy_from_slice(&self.samples.to_le_bytes());
        self.digest = xxhash_rust::xxh3::xxh3_128(&link);
    }

    /// Children of the property's group: of an array, each sample is followed by its dimensions, and
    /// no dimensions mean one dimension.
    pub(super) fn children(&self) -> Vec<Child> {
        match self.shape {
            Shape::Scalar => self.stored.clone(),
            Shape::Array => self.stored.iter().flat_map(|&c| [c, Child::EMPTY_BLOCK]).collect(),
        }
    }

    pub(super) fn write_header(&self, table: &mut MetadataTable, out: &mut Vec<u8>) {
        let metadata = table.index(&self.metadata);
        let largest =
            [self.metadata.len(), self.name.len(), self.samples as usize, self.sampling as usize];
        let width = NumberWidth::holding(largest.into_iter().max().unwrap_or(0));
        let constant = self.first_changed == 0;
        let partly_constant =
            !constant && (self.first_changed != 1 || self.last_changed + 1 != self.samples);
        // 0 is a compound, 3 an array whose samples all have one element.
        let kind = match self.shape {
            Shape::Scalar => 1,
            Shape::Array => 2 | u32::from(self.all_single),
        };
        // Bits 0-1 kind, 2-3 width of numbers, 4-7 type, 12-19 extent, 20-27 entry in the table of metadata.
        let flags = kind
            | width.bits()
            | self.data_type.pod.code() << 4
            | u32::from(self.sampling != 0) << 8
            | u32::from(partly_constant) << 9
            | u32::from(self.same_count) << 10
            | u32::from(constant) << 11
            | u32::from(self.data_type.extent) << 12
            | u32::from(metadata) << 20;
        out.extend(flags.to_le_bytes());
        width.write(out, self.samples as usize);
        if partly_constant {
            width.write(out, self.first_changed as usize);
            width.write(out, self.last_changed as usize);
        }
        if self.sampling != 0 {
            width.write(out, self.sampling as usize);
        }
        width.write_text(out, &self.name);
        if metadata == MetadataTable::INLINE {
            width.write_text(out, &self.metadata);
        }
    }
}

pub(super) fn write_compound_header(
    name: &str,
    metadata: &str,
    table: &mut MetadataTable,
    out: &mut Vec<u8>,
) {
    let index = table.index(metadata);
    let width = NumberWidth::holding(metadata.len().max(name.len()));
    let flags = width.bits() | u32::from(index) << 20;
    out.extend(flags.to_le_bytes());
    width.write_text(out, name);
    if index == MetadataTable::INLINE {
        width.write_text(out, metadata);
    }
}

/// Bytes of every number in one property header: the fewest that hold the largest.
#[derive(Clone, Copy)]
enum NumberWidth {
    One,
    Two,
    Four,
}

impl NumberWidth {
    fn holding(largest: usize) -> Self {
        match largest {
            0..=0xff => Self::One,
            0x100..=0xffff => Self::Two,
            _ => Self::Four,
        }
    }

    fn bits(self) -> u32 {
        match self {
            Self::One => 0,
            Self::Two => 1 << 2,
            Self::Four => 2 << 2,
        }
    }

    fn write(self, out: &mut Vec<u8>, value: usize) {
        // Lossless: counts are u32, and `holding` has seen the lengths of texts.
        let bytes = (value as u32).to_le_bytes();
        let count = match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
        };
        out.extend(&bytes[..count]);
    }

    fn write_text(self, out: &mut Vec<u8>, text: &str) {
        self.write(out, text.len());
        out.extend(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(values: &str) -> Property {
        let data_type = DataType::new(Pod::F32, 3);
        let mut p = Property::new("P", SampleType::scalar(data_type, ""), 1);
        for value in values.bytes() {
            let key = u128::from(value);
            if p.repeats_last(key, 1) {
                p.repeat();
            } else {
                p.push(Child::EMPTY_BLOCK, key, 1);
            }
        }
        p
    }

    #[test]
    fn repeats_are_stored_only_between_the_first_and_the_last_change() {
        let p = feed("aaabbccc");
        assert_eq!((p.samples, p.first_changed, p.last_changed), (8, 3, 5));
        assert_eq!(p.stored.len(), 4);
        let constant = feed("aaaa");
        assert_eq!((constant.samples, constant.stored.len()), (4, 1));
        let all = feed("abcd");
        assert_eq!((all.first_changed, all.last_changed, all.stored.len()), (1, 3, 4));
    }

    #[test]
    fn header_flags_follow_the_samples() {
        let header = |values| {
            let mut out = Vec::new();
            feed(values).write_header(&mut MetadataTable::default(), &mut out);
            (u32::from_le_bytes(out[..4].try_into().unwrap()), out.len())
        };
        // scalar, f32 x 3, sampled, same count; then constant or partly constant.
        let common = 1 | 10 << 4 | 1 << 8 | 1 << 10 | 3 << 12;
        assert_eq!(header("aaaa"), (common | 1 << 11, 4 + 1 + 1 + 2));
        assert_eq!(header("abcd"), (common, 4 + 1 + 1 + 2));
        assert_eq!(header("aabb"), (common | 1 << 9, 4 + 1 + 2 + 1 + 2));
    }
}
