//! Values of a crate file: 8 bytes name each of them, by flags, type, and its place or the value itself.

use std::sync::Arc;

use super::super::bytes::{Bytes, Cursor};
use super::super::layer::{Data, Name, Reference, Value};
use super::super::{Result, UsdError};
use super::packed::unpack_integers;
use super::tables::{Tables, long_words, words};

const ARRAY: u64 = 1 << 63;
const INLINE: u64 = 1 << 62;
const COMPRESSED: u64 = 1 << 61;
const PAYLOAD: u64 = (1 << 48) - 1;
/// Shorter arrays are stored as they are.
const SMALLEST_PACKED: usize = 16;
/// Numbers that any packed array may have, and besides for each byte of the file: equal numbers pack
/// to almost nothing, whole scenes do not.
const FREE_NUMBERS: u64 = 1 << 24;
const NUMBERS_PER_BYTE: u64 = 64;

/// The values of a file.
pub(in super::super) struct CrateValues {
    pub(super) bytes: Bytes,
    pub(super) tables: Arc<Tables>,
}

/// How a number is stored.
#[derive(Clone, Copy, PartialEq)]
enum Scalar {
    Byte,
    Int,
    UInt,
    Int64,
    UInt64,
    Half,
    Float,
    Double,
}

impl Scalar {
    fn size(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Int | Self::UInt | Self::Float => 4,
            Self::Int64 | Self::UInt64 | Self::Double => 8,
        }
    }

    fn is_whole(self) -> bool {
        !matches!(self, Self::Half | Self::Float | Self::Double)
    }

    fn whole(self, bytes: &[u8]) -> i64 {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let word = i64::from_le_bytes(word);
        if self == Self::Int { i64::from(word as i32) } else { word }
    }

    fn number(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::Half, &[a, b]) => half(u16::from_le_bytes([a, b])),
            (Self::Float, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            (Self::Double, bytes) => bytes.try_into().map_or(0.0, f64::from_le_bytes),
            (other, bytes) => other.whole(bytes) as f64,
        }
    }
}

/// A number of 16 bits.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * 2_f64.powi(-24),
        31 => sign * if fraction == 0.0 { f64::INFINITY } else { f64::NAN },
        _ => sign * (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
    }
}

/// Types that are numbers: how each is stored, how many an element has.
fn layout(kind: u64) -> Option<(Scalar, usize)> {
    Some(match kind {
        1 | 2 => (Scalar::Byte, 1),
        3 => (Scalar::Int, 1),
        4 => (Scalar::UInt, 1),
        5 => (Scalar::Int64, 1),
        6 => (Scalar::UInt64, 1),
        7 => (Scalar::Half, 1),
        8 => (Scalar::Float, 1),
        9 | 56 => (Scalar::Double, 1),
        13 => (Scalar::Double, 4),
        14 => (Scalar::Double, 9),
        15 => (Scalar::Double, 16),
        16 => (Scalar::Double, 4),
        17 => (Scalar::Float, 4),
        18 => (Scalar::Half, 4),
        19..=30 => {
            let scalar = [Scalar::Double, Scalar::Float, Scalar::Half, Scalar::Int];
            (scalar[(kind - 19) as usize % 4], 2 + (kind - 19) as usize / 4)
        }
        _ => return None,
    })
}

impl CrateValues {
    fn damaged(&self, problem: impl Into<String>) -> UsdError {
        UsdError::damaged("values", problem)
    }

    /// Reads what a word names.
    pub fn read(&self, word: u64) -> Result<Data> {
        let (kind, payload) = (word >> 48 & 0xff, word & PAYLOAD);
        if let Some((scalar, extent)) = layout(kind) {
            return self.read_numbers(word, kind, scalar, extent);
        }
        match kind {
            10 => self.read_names(word, |t, i| t.string(i)),
            11 | 12 => self.read_names(word, |t, i| t.token(i)),
            32 => self.read_list(payload, |s, c| s.tables.token(c.u32()?)).map(Data::Texts),
            33 => self.read_list(payload, |s, c| s.tables.string(c.u32()?)).map(Data::Texts),
            34 => self.read_list(payload, |s, c| s.tables.path(c.u32()?)).map(Data::Texts),
            35 => self.read_list(payload, |s, c| s.reference(c, true)).map(Data::References),
            40 => self.read_vector(payload, |t, i| t.path(i)),
            41 => self.read_vector(payload, |t, i| t.token(i)),
            // Specifier, permission, variability.
            42..=44 => Ok(Data::Ints(vec![payload as i64])),
            45 => self.read_selections(payload),
            47 => {
                let mut cursor = self.bytes.cursor("payload", payload);
                Ok(Data::References(vec![self.reference(&mut cursor, false)?]))
            }
            48 => {
                let values = self.doubles(payload)?;
                Ok(Data::Numbers { extent: 1, values })
            }
            49 => self.read_offsets(payload),
            50 => self.read_vector(payload, |t, i| t.string(i)),
            51 | 60 => Ok(Data::Block),
            55 => self.read_list(payload, |s, c| s.reference(c, false)).map(Data::References),
            _ => Ok(Data::Other),
        }
    }

    fn read_numbers(&self, word: u64, kind: u64, scalar: Scalar, extent: usize) -> Result<Data> {
        let payload = word & PAYLOAD;
        if word & ARRAY != 0 {
            return self.read_array(word, scalar, extent);
        }
        if word & INLINE != 0 {
            return Ok(inlined(kind, payload as u32, scalar, extent));
        }
        let bytes = self.bytes.read("values", payload, (scalar.size() * extent) as u64)?;
        Ok(plain(&bytes, scalar, extent))
    }

    /// Count of an array; versions before 0.7 have 32 bits for it, before 0.5 its rank stands first.
    fn array_count(&self, cursor: &mut Cursor<'_>) -> Result<u64> {
        if self.tables.version >= [0, 7, 0] {
            return cursor.u64();
        }
        if self.tables.version < [0, 5, 0] {
            cursor.u32()?;
        }
        Ok(u64::from(cursor.u32()?))
    }

    fn read_array(&self, word: u64, scalar: Scalar, extent: usize) -> Result<Data> {
        let payload = word & PAYLOAD;
        if payload == 0 {
            return Ok(plain(&[], scalar, extent));
        }
        let mut cursor = self.bytes.cursor("values", payload);
        let count = self.array_count(&mut cursor)?;
        if word & COMPRESSED != 0 && count >= SMALLEST_PACKED as u64 && extent == 1 {
            return self.read_packed(&mut cursor, count, scalar);
        }
        let size = count.checked_mul((scalar.size() * extent) as u64);
        let size = size.ok_or_else(|| self.damaged(format!("an array of {count} elements")))?;
        Ok(plain(&cursor.take(size)?, scalar, extent))
    }

    fn packed_integers(&self, cursor: &mut Cursor<'_>, count: u64, wide: bool) -> Result<Vec<i64>> {
        let most =
            FREE_NUMBERS.saturating_add(self.bytes.length().saturating_mul(NUMBERS_PER_BYTE));
        if count > most {
            let problem =
                format!("{count} packed numbers in a file of {} bytes", self.bytes.length());
            return Err(self.damaged(problem));
        }
        let size = cursor.count(1)?;
        unpack_integers("values", &cursor.take(size)?, count as usize, wide)
    }

    fn read_packed(&self, cursor: &mut Cursor<'_>, count: u64, scalar: Scalar) -> Result<Data> {
        if scalar.is_whole() {
            let numbers = self.packed_integers(cursor, count, scalar.size() == 8)?;
            let unsigned = |n: i64| if scalar == Scalar::UInt { i64::from(n as u32) } else { n };
            return Ok(Data::Ints(numbers.into_iter().map(unsigned).collect()));
        }
        let values = match cursor.byte()? {
            b'i' => {
                let numbers = self.packed_integers(cursor, count, false)?;
                numbers.into_iter().map(|n| n as f64).collect()
            }
            b't' => {
                let size = u64::from(cursor.u32()?);
                let table = cursor.take(size * scalar.size() as u64)?;
                let table: Vec<f64> =
                    table.chunks_exact(scalar.size()).map(|b| scalar.number(b)).collect();
                let places = self.packed_integers(cursor, count, false)?;
                let value = |place: i64| {
                    let found = table.get(place as u32 as usize).copied();
                    found.ok_or_else(|| self.damaged("a packed array names what it has not"))
                };
                places.into_iter().map(value).collect::<Result<_>>()?
            }
            other => return Err(self.damaged(format!("packed numbers of kind {other}"))),
        };
        Ok(Data::Numbers { extent: 1, values })
    }

    fn read_names(&self, word: u64, name: impl Fn(&Tables, u32) -> Result<Name>) -> Result<Data> {
        let payload = word & PAYLOAD;
        if word & ARRAY == 0 {
            return Ok(Data::Texts(vec![name(&self.tables, payload as u32)?]));
        }
        if payload == 0 {
            return Ok(Data::Texts(Vec::new()));
        }
        let mut cursor = self.bytes.cursor("values", payload);
        let count = self.array_count(&mut cursor)?;
        let size = count.checked_mul(4).ok_or_else(|| self.damaged("an absurd count"))?;
        let names = words(&cursor.take(size)?);
        Ok(Data::Texts(names.into_iter().map(|i| name(&self.tables, i)).collect::<Result<_>>()?))
    }

    fn read_vector(&self, at: u64, name: impl Fn(&Tables, u32) -> Result<Name>) -> Result<Data> {
        let mut cursor = self.bytes.cursor("values", at);
        let count = cursor.count(4)?;
        let names = words(&cursor.take(4 * count)?);
        Ok(Data::Texts(names.into_iter().map(|i| name(&self.tables, i)).collect::<Result<_>>()?))
    }

    /// A list edit: what it adds in any way, in the order of strength.
    fn read_list<T>(
        &self,
        at: u64,
        item: impl Fn(&Self, &mut Cursor<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        // Which lists follow, in this order: explicit, added, prepended, appended, deleted, ordered.
        const ADDING: [u8; 4] = [1 << 1, 1 << 2, 1 << 5, 1 << 6];
        let mut cursor = self.bytes.cursor("list", at);
        let flags = cursor.byte()?;
        let mut out = Vec::new();
        for _ in ADDING.into_iter().filter(|flag| flags & flag != 0) {
            for _ in 0..cursor.count(4)? {
                out.push(item(self, &mut cursor)?);
            }
        }
        Ok(out)
    }

    /// References end with a dictionary, payloads of old files have no times.
    fn reference(&self, cursor: &mut Cursor<'_>, is_reference: bool) -> Result<Reference> {
        let asset = self.tables.string(cursor.u32()?)?;
        let path = cursor.u32()?;
        // A path that is not there stands for the default prim.
        let path = self.tables.path(path).unwrap_or_else(|_| "".into());
        let path = if &*path == "/" { "".into() } else { path };
        let (mut offset, mut scale) = (0.0, 1.0);
        if is_reference || self.tables.version >= [0, 8, 0] {
            (offset, scale) = (cursor.f64()?, cursor.f64()?);
        }
        if is_reference {
            self.skip_dictionary(cursor)?;
        }
        Ok(Reference { asset, path, offset, scale })
    }

    fn skip_dictionary(&self, cursor: &mut Cursor<'_>) -> Result<()> {
        for _ in 0..cursor.count(12)? {
            cursor.u32()?;
            // The distance to the word that names the value; the next key stands behind it.
            let (at, distance) = (cursor.at, cursor.u64()?);
            let behind = at.checked_add(distance).filter(|_| distance >= 8);
            cursor.at = behind.ok_or_else(|| self.damaged("a dictionary leads nowhere"))?;
            cursor.u64()?;
        }
        Ok(())
    }

    fn read_selections(&self, at: u64) -> Result<Data> {
        let mut cursor = self.bytes.cursor("variants", at);
        let mut out = Vec::new();
        for _ in 0..cursor.count(8)? {
            let set = self.tables.string(cursor.u32()?)?;
            out.push((set, self.tables.string(cursor.u32()?)?));
        }
        Ok(Data::Selections(out))
    }

    fn doubles(&self, at: u64) -> Result<Vec<f64>> {
        let mut cursor = self.bytes.cursor("times", at);
        let count = cursor.count(8)?;
        let bytes = cursor.take(8 * count)?;
        Ok(long_words(&bytes).into_iter().map(f64::from_bits).collect())
    }

    fn read_offsets(&self, at: u64) -> Result<Data> {
        let mut cursor = self.bytes.cursor("offsets", at);
        let mut out = Vec::new();
        for _ in 0..cursor.count(16)? {
            out.push((cursor.f64()?, cursor.f64()?));
        }
        Ok(Data::Offsets(out))
    }

    /// Times and values of samples: two parts, each begins with the distance to what it names.
    pub fn samples(&self, word: u64) -> Result<(Vec<f64>, Vec<Value>)> {
        const TIME_SAMPLES: u64 = 46;
        if word >> 48 & 0xff != TIME_SAMPLES {
            return Ok((Vec::new(), Vec::new()));
        }
        let mut cursor = self.bytes.cursor("time samples", word & PAYLOAD);
        let jump = |cursor: &mut Cursor<'_>| -> Result<()> {
            let (at, distance) = (cursor.at, cursor.u64()?);
            let behind = at.checked_add(distance).filter(|_| distance >= 8);
            cursor.at = behind.ok_or_else(|| self.damaged("time samples lead nowhere"))?;
            Ok(())
        };
        jump(&mut cursor)?;
        let Data::Numbers { values: times, .. } = self.read(cursor.u64()?)? else {
            return Err(self.damaged("time samples without times"));
        };
        jump(&mut cursor)?;
        let count = cursor.count(8)?;
        let values: Vec<Value> =
            long_words(&cursor.take(8 * count)?).into_iter().map(Value::Stored).collect();
        if values.len() != times.len() {
            let problem = format!("{} time samples at {} times", values.len(), times.len());
            return Err(self.damaged(problem));
        }
        Ok((times, values))
    }
}

fn plain(bytes: &[u8], scalar: Scalar, extent: usize) -> Data {
    let elements = bytes.chunks_exact(scalar.size());
    if scalar.is_whole() && extent == 1 {
        return Data::Ints(elements.map(|b| scalar.whole(b)).collect());
    }
    Data::Numbers { extent, values: elements.map(|b| scalar.number(b)).collect() }
}

/// A value that stands in the word: one number as a float, a vector or the diagonal of a matrix as
/// small whole numbers.
fn inlined(kind: u64, payload: u32, scalar: Scalar, extent: usize) -> Data {
    let bytes = payload.to_le_bytes();
    let small = |i: usize| f64::from(bytes.get(i).copied().unwrap_or(0) as i8);
    let values = match (kind, extent) {
        (13..=15, _) => {
            let side = [2, 3, 4][(kind - 13) as usize];
            let at =
                |i: usize| if i.is_multiple_of(side + 1) { small(i / (side + 1)) } else { 0.0 };
            (0..side * side).map(at).collect()
        }
        (_, 1) => match scalar {
            Scalar::Half => vec![half(payload as u16)],
            Scalar::Float | Scalar::Double => vec![f64::from(f32::from_bits(payload))],
            Scalar::Byte => return Data::Ints(vec![i64::from(payload as u8)]),
            Scalar::UInt | Scalar::UInt64 => return Data::Ints(vec![i64::from(payload)]),
            Scalar::Int | Scalar::Int64 => return Data::Ints(vec![i64::from(payload as i32)]),
        },
        _ => (0..extent).map(small).collect(),
    };
    Data::Numbers { extent, values }
}
