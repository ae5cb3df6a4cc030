//! Random numbers from a seed, and what they do to bytes, texts and JSON.

use serde_json::{Value, json};

/// A stream of numbers (SplitMix64).
pub struct Random(u64);

impl Random {
    /// The stream of one input.
    pub fn new(seed: u64, index: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ index);
        random.next();
        Self(random.next())
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, count: usize) -> usize {
        if count == 0 { 0 } else { (self.next() % count as u64) as usize }
    }

    /// One time out of `count`.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number that breaks things: ends of ranges, tiny, huge, plain.
    pub fn odd_number(&mut self) -> Value {
        let whole = [
            0i64,
            1,
            -1,
            2,
            3,
            7,
            255,
            256,
            65_535,
            65_536,
            1 << 31,
            (1 << 31) - 1,
            1 << 32,
            1 << 40,
            1 << 53,
            i64::MAX,
            i64::MIN,
        ];
        let real = [0.0, -0.0, 1e-45, 1e-6, 0.5, 1.5, 1e6, 1e18, 1e30, 3e38, -3e38, 1e300, -1e-300];
        match self.below(4) {
            0 => json!(*self.pick(&whole)),
            1 => json!(*self.pick(&real)),
            2 => json!(self.below(20)),
            _ => json!((self.unit() - 0.5) * 10f64.powi(self.below(12) as i32 - 4)),
        }
    }

    /// Changes bytes: flips, extremes, cuts, copies.
    pub fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(6) {
            if bytes.is_empty() {
                return;
            }
            let at = self.below(bytes.len());
            match self.below(8) {
                0 | 1 => bytes[at] ^= 1 << self.below(8),
                2 => bytes[at] = *self.pick(&[0, 1, 0x7F, 0x80, 0xFF]),
                3 | 4 => self.write_word(bytes, at),
                5 => bytes.truncate(at),
                6 => {
                    let end = (at + 1 + self.below(64)).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, part);
                }
                _ => {
                    let end = (at + 1 + self.below(16)).min(bytes.len());
                    bytes.drain(at..end);
                }
            }
        }
    }

    fn write_word(&mut self, bytes: &mut [u8], at: usize) {
        let words = [0u64, 1, 0x7F, 0xFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 40, u64::MAX];
        let word = self.pick(&words).to_le_bytes();
        let size = *self.pick(&[2usize, 4, 8]);
        for (slot, byte) in bytes[at..].iter_mut().zip(&word[..size]) {
            *slot = *byte;
        }
    }

    /// Changes one value somewhere in a JSON document.
    pub fn damage_json(&mut self, value: &mut Value) {
        let inside = match value {
            Value::Array(items) => items.len(),
            Value::Object(map) => map.len(),
            _ => 0,
        };
        if inside > 0 && !self.one_in(8) {
            let at = self.below(inside);
            match value {
                Value::Array(items) => return self.damage_json(&mut items[at]),
                Value::Object(map) => {
                    let next = map.values_mut().nth(at);
                    return next.into_iter().for_each(|v| self.damage_json(v));
                }
                _ => {}
            }
        }
        self.replace(value);
    }

    fn replace(&mut self, value: &mut Value) {
        match (self.below(6), &mut *value) {
            (0, Value::Array(items)) if !items.is_empty() => {
                let at = self.below(items.len());
                let copy = items[at].clone();
                items.resize(items.len() + 1 + self.below(40), copy);
            }
            (1, Value::Array(items)) if !items.is_empty() => {
                items.remove(self.below(items.len()));
            }
            (0 | 1, Value::Object(map)) if !map.is_empty() => {
                let at = self.below(map.len());
                let key = map.keys().nth(at).cloned().unwrap_or_default();
                map.remove(&key);
            }
            (2, _) => {
                let odd = [
                    json!(null),
                    json!(true),
                    json!(""),
                    json!([]),
                    json!({}),
                    json!("\u{0}é\u{FFFF}"),
                    json!("x".repeat(300)),
                    json!([[[[0]]]]),
                ];
                *value = self.pick(&odd).clone();
            }
            _ => *value = self.odd_number(),
        }
    }
}
