//! The numbers of a property's samples.

use glam::Vec3;

use super::bytes::Bytes;
use super::{AlembicError, Result};

/// A property with samples.
#[derive(Clone, Debug)]
pub(super) struct Values {
    pub name: String,
    /// The format's number for the type of one value.
    pub pod: u8,
    /// Values per element.
    pub extent: usize,
    /// Samples in all, stored or repeated.
    pub samples: u64,
    /// First and last sample that differ from the one before; 0 and 0: none does.
    pub changes: (u64, u64),
    pub sampling: usize,
    pub stored: Vec<u64>,
    pub is_array: bool,
}

const F16: u8 = 9;
const F32: u8 = 10;
const F64: u8 = 11;

impl Values {
    /// Whether all samples are the same.
    pub fn is_constant(&self) -> bool {
        self.samples < 2 || self.changes == (0, 0)
    }

    fn wrong(&self, problem: impl Into<String>) -> AlembicError {
        AlembicError::damaged(format!("property {:?}", self.name), problem)
    }

    /// Which stored sample shows at an index.
    pub fn stored_index(&self, sample: u64) -> u64 {
        let (first, last) = self.changes;
        let sample = sample.min(self.samples.saturating_sub(1));
        if (first == 0 && last == 0) || sample < first {
            0
        } else if sample >= last {
            last.saturating_sub(first) + 1
        } else {
            sample - first + 1
        }
    }

    fn bytes(&self, bytes: &Bytes, sample: u64) -> Result<Vec<u8>> {
        let stride = if self.is_array { 2 } else { 1 };
        let place = usize::try_from(self.stored_index(sample)).ok();
        let child = place.and_then(|p| p.checked_mul(stride)).and_then(|p| self.stored.get(p));
        let child = child.ok_or_else(|| self.wrong(format!("sample {sample} is missing")))?;
        let mut block = bytes.block(&self.name, *child)?;
        // The first 16 bytes are the digest of the others.
        let start = block.len().min(16);
        block.drain(..start);
        Ok(block)
    }

    /// All numbers of a sample.
    pub fn floats(&self, bytes: &Bytes, sample: u64) -> Result<Vec<f64>> {
        let block = self.bytes(bytes, sample)?;
        let numbers: Vec<f64> = match self.pod {
            F16 => numbers(&block, |b: [u8; 2]| f64::from(half(u16::from_le_bytes(b)))),
            F32 => numbers(&block, |b: [u8; 4]| f64::from(f32::from_le_bytes(b))),
            F64 => numbers(&block, f64::from_le_bytes),
            _ => self.integers(bytes, sample)?.iter().map(|&i| i as f64).collect(),
        };
        match numbers.iter().position(|n| !n.is_finite()) {
            Some(at) => Err(self.wrong(format!("sample {sample}: number {at} is not finite"))),
            None => Ok(numbers),
        }
    }

    /// All whole numbers of a sample.
    pub fn integers(&self, bytes: &Bytes, sample: u64) -> Result<Vec<i64>> {
        let block = self.bytes(bytes, sample)?;
        Ok(match self.pod {
            0 | 1 => block.iter().map(|&b| i64::from(b)).collect(),
            2 => block.iter().map(|&b| i64::from(b as i8)).collect(),
            3 => numbers(&block, |b: [u8; 2]| i64::from(u16::from_le_bytes(b))),
            4 => numbers(&block, |b: [u8; 2]| i64::from(i16::from_le_bytes(b))),
            5 => numbers(&block, |b: [u8; 4]| i64::from(u32::from_le_bytes(b))),
            6 => numbers(&block, |b: [u8; 4]| i64::from(i32::from_le_bytes(b))),
            7 | 8 => numbers(&block, i64::from_le_bytes),
            other => return Err(self.wrong(format!("whole numbers are needed, not type {other}"))),
        })
    }

    /// Vectors of three numbers.
    pub fn vectors(&self, bytes: &Bytes, sample: u64) -> Result<Vec<Vec3>> {
        if self.extent != 3 {
            return Err(self.wrong(format!("{} numbers where three are needed", self.extent)));
        }
        if self.pod == F32 {
            // The usual case, without a detour through doubles.
            let block = self.bytes(bytes, sample)?;
            let component = |b: &[u8]| f32::from_le_bytes(b.try_into().unwrap_or_default());
            let vector =
                |c: &[u8]| Vec3::new(component(&c[..4]), component(&c[4..8]), component(&c[8..12]));
            let vectors: Vec<Vec3> = block.chunks_exact(12).map(vector).collect();
            return match vectors.iter().position(|v| !v.is_finite()) {
                Some(at) => Err(self.wrong(format!("sample {sample}: point {at} is not finite"))),
                None => Ok(vectors),
            };
        }
        let numbers = self.floats(bytes, sample)?;
        let vector = |c: &[f64]| Vec3::new(c[0] as f32, c[1] as f32, c[2] as f32);
        Ok(numbers.chunks_exact(3).map(vector).collect())
    }
}

fn numbers<T, const N: usize>(block: &[u8], convert: impl Fn([u8; N]) -> T) -> Vec<T> {
    let exact = |c: &[u8]| {
        let mut bytes = [0; N];
        bytes.copy_from_slice(c);
        convert(bytes)
    };
    block.chunks_exact(N).map(exact).collect()
}

/// A number of 16 bits: sign, five bits of exponent, ten of fraction.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves_are_what_they_should_be() {
        let known = [(0x3c00, 1.0), (0xc000, -2.0), (0x3555, 0.333_251_95), (1, 5.960_464_5e-8)];
        for (bits, value) in known {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }
}
