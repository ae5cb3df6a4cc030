//! Reading numbers, indices and names out of the JSON document without trusting it.

use serde_json::Value;

use super::error::{GltfError, Result};

/// Doubles hold whole numbers exactly up to 2^53.
const EXACT_BELOW: f64 = 9.0e15;

/// One object of a top-level array, with its name for messages.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    pub value: &'a Value,
    kind: &'static str,
    index: usize,
}

impl<'a> Item<'a> {
    pub fn new(value: &'a Value, kind: &'static str, index: usize) -> Self {
        Self { value, kind, index }
    }

    /// `mesh 3 "Body"`.
    pub fn place(&self) -> String {
        match self.name() {
            Some(name) => format!("{} {} {name:?}", self.kind, self.index),
            None => format!("{} {}", self.kind, self.index),
        }
    }

    pub fn name(&self) -> Option<&'a str> {
        self.value.get("name").and_then(Value::as_str).filter(|n| !n.is_empty())
    }

    pub fn invalid(&self, problem: impl Into<String>) -> GltfError {
        GltfError::invalid(self.place(), problem)
    }

    pub fn index(&self, key: &str) -> Result<Option<usize>> {
        index(self.value, key).map_err(|problem| self.invalid(problem))
    }

    pub fn index_or(&self, key: &str, default: usize) -> Result<usize> {
        Ok(self.index(key)?.unwrap_or(default))
    }

    pub fn required_index(&self, key: &str) -> Result<usize> {
        self.index(key)?.ok_or_else(|| self.invalid(format!("{key:?} is missing")))
    }

    pub fn array(&self, key: &str) -> Result<&'a [Value]> {
        array(self.value, key).map_err(|problem| self.invalid(problem))
    }

    pub fn indices(&self, key: &str) -> Result<Vec<usize>> {
        let entries = self.array(key)?.iter().map(whole_number).collect::<Option<_>>();
        entries.ok_or_else(|| self.invalid(format!("{key:?} must hold indices")))
    }

    pub fn floats<const N: usize>(&self, key: &str) -> Result<Option<[f32; N]>> {
        floats(self.value, key).map_err(|problem| self.invalid(problem))
    }

    pub fn extension(&self, name: &str) -> Option<&'a Value> {
        extension(self.value, name)
    }
}

/// An object's extension of that name.
pub(super) fn extension<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get("extensions")?.get(name).filter(|v| v.is_object())
}

/// A whole number, also when an exporter wrote it as `3.0`.
pub(super) fn whole_number(value: &Value) -> Option<usize> {
    if let Some(number) = value.as_u64() {
        return usize::try_from(number).ok();
    }
    let number = value.as_f64()?;
    (number.fract() == 0.0 && (0.0..EXACT_BELOW).contains(&number)).then_some(number as usize)
}

/// A whole number under a key, if the key is there.
pub(super) fn index(value: &Value, key: &str) -> std::result::Result<Option<usize>, String> {
    match value.get(key) {
        None => Ok(None),
        Some(v) => {
            whole_number(v).map(Some).ok_or_else(|| format!("{key:?} must be a whole number"))
        }
    }
}

/// The array under a key; empty if the key is not there.
pub(super) fn array<'a>(value: &'a Value, key: &str) -> std::result::Result<&'a [Value], String> {
    match value.get(key) {
        None => Ok(&[]),
        Some(Value::Array(entries)) => Ok(entries),
        Some(_) => Err(format!("{key:?} must be an array")),
    }
}

/// A finite number under a key, if the key is there.
pub(super) fn float(value: &Value, key: &str) -> Option<f32> {
    value.get(key)?.as_f64().map(|v| v as f32).filter(|v| v.is_finite())
}

/// Exactly `N` finite numbers under a key, if the key is there.
pub(super) fn floats<const N: usize>(
    value: &Value,
    key: &str,
) -> std::result::Result<Option<[f32; N]>, String> {
    let Some(entries) = value.get(key) else { return Ok(None) };
    let wrong = || format!("{key:?} must hold {N} finite numbers");
    let entries = entries.as_array().filter(|e| e.len() == N).ok_or_else(wrong)?;
    let mut out = [0.0; N];
    for (slot, entry) in out.iter_mut().zip(entries) {
        *slot = entry.as_f64().map(|v| v as f32).filter(|v| v.is_finite()).ok_or_else(wrong)?;
    }
    Ok(Some(out))
}
