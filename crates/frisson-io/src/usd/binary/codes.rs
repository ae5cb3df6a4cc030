//! The numbers by which the format names things.

/// Flags of a value: an array; the value itself stands in the word; the array is compressed.
pub(super) const ARRAY: u64 = 1 << 63;
pub(super) const INLINE: u64 = 1 << 62;
pub(super) const COMPRESSED: u64 = 1 << 61;

/// Types of values, by their numbers in the format.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Int = 3,
    Int64 = 5,
    Float = 8,
    Double = 9,
    Token = 11,
    Vec2f = 20,
    Vec3f = 24,
    TokenListOp = 32,
    PathListOp = 34,
    TokenVector = 41,
    Specifier = 42,
    Variability = 44,
    TimeSamples = 46,
    DoubleVector = 48,
}

impl Kind {
    pub(super) fn at(self, position: u64) -> u64 {
        (self as u64) << 48 | position
    }

    pub(super) fn inline(self, value: u32) -> u64 {
        INLINE | (self as u64) << 48 | u64::from(value)
    }
}

/// Types of specs, by their numbers in the format.
#[derive(Clone, Copy)]
pub(super) enum SpecKind {
    Attribute = 1,
    Prim = 6,
    PseudoRoot = 7,
    Relationship = 8,
}

/// List edits: which lists follow.
pub(super) const EXPLICIT_ITEMS: u8 = 0b11;
pub(super) const PREPENDED_ITEMS: u8 = 1 << 5;
