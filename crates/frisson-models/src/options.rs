//! What may follow a model's name: `?key=value&key=value`.

use crate::{Entry, ModelError};

/// The options given for one model.
pub(crate) struct Options {
    model: &'static str,
    given: Vec<(String, String)>,
}

impl Options {
    /// Splits the text after `?` and refuses keys the model does not have.
    pub(crate) fn parse(entry: &Entry, query: &str) -> Result<Self, ModelError> {
        let mut given = Vec::new();
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !entry.options.iter().any(|(name, _)| *name == key) {
                let names = entry.options.iter().map(|(name, _)| *name);
                return Err(ModelError::UnknownOption {
                    model: entry.name.to_owned(),
                    option: key.to_owned(),
                    nearest: frisson::stage::nearest_name(key, names),
                });
            }
            given.push((key.to_owned(), value.to_owned()));
        }
        Ok(Self { model: entry.name, given })
    }

    /// A number, or its default.
    pub(crate) fn number(
        &self,
        key: &str,
        default: f32,
        low: f32,
        high: f32,
    ) -> Result<f32, ModelError> {
        let Some((_, text)) = self.given.iter().find(|(k, _)| k == key) else { return Ok(default) };
        // `contains` refuses NaN as well.
        text.parse::<f32>().ok().filter(|v| (low..=high).contains(v)).ok_or_else(|| {
            ModelError::Value {
                model: self.model.to_owned(),
                option: key.to_owned(),
                value: text.clone(),
                low,
                high,
            }
        })
    }

    /// A whole number, or its default.
    pub(crate) fn count(
        &self,
        key: &str,
        default: usize,
        low: usize,
        high: usize,
    ) -> Result<usize, ModelError> {
        let number = self.number(key, default as f32, low as f32, high as f32)?;
        Ok(number.round() as usize)
    }
}
