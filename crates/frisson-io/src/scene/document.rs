//! TOML as a plain value plus where each part stands in the text.

use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::Problem;

/// Where a value stands in the text, with the same shape as the value.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// The key that names it; empty for list items and the document.
    pub key: Range<usize>,
    /// The value itself.
    pub value: Range<usize>,
    /// Parts, by key (lists: by index as text).
    pub parts: Vec<(String, Spans)>,
}

impl Spans {
    /// The part of that name.
    #[must_use]
    pub fn part(&self, name: &str) -> Option<&Self> {
        self.parts.iter().find(|(key, _)| key == name).map(|(_, spans)| spans)
    }

    /// The part of that name, looked for at its place first: tables keep the order of the text, and
    /// one of twenty thousand keys must not be searched twenty thousand times.
    #[must_use]
    pub fn part_at(&self, index: usize, name: &str) -> Option<&Self> {
        match self.parts.get(index) {
            Some((key, spans)) if key == name => Some(spans),
            _ => self.part(name),
        }
    }

    /// The part of that index of a list.
    #[must_use]
    pub fn item(&self, index: usize) -> Option<&Self> {
        self.parts.get(index).map(|(_, spans)| spans)
    }

    /// What to underline when speaking of the name: its key where it has one.
    #[must_use]
    pub fn name(&self) -> Range<usize> {
        if self.key.is_empty() { self.value.clone() } else { self.key.clone() }
    }

    /// The deepest existing part along a dotted path (`shape.radius`, `keys[2]`), and whether the
    /// whole path was found.
    #[must_use]
    pub fn locate(&self, path: &str) -> (&Self, bool) {
        let mut at = self;
        for step in path.split(['.', '[', ']']).filter(|s| !s.is_empty()) {
            match at.part(step) {
                Some(part) => at = part,
                None => return (at, false),
            }
        }
        (at, true)
    }
}

/// Reads TOML text. All syntax errors are reported, not only the first.
pub fn parse(text: &str) -> Result<(Value, Spans), Vec<Problem>> {
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let problem = |e: toml::de::Error| {
            let span = e.span().unwrap_or(0..0);
            Problem::new(e.message().trim().to_owned(), span).label("not valid TOML here")
        };
        return Err(errors.into_iter().map(problem).collect());
    }
    let mut problems = Vec::new();
    let mut spans = Spans { value: document.span(), ..Spans::default() };
    let value = convert_table(document.get_ref(), &mut spans, &mut problems);
    if problems.is_empty() { Ok((value, spans)) } else { Err(problems) }
}

fn convert_table(table: &DeTable, spans: &mut Spans, problems: &mut Vec<Problem>) -> Value {
    let mut map = Map::new();
    for (key, item) in table {
        let mut part = Spans { key: key.span(), value: item.span(), parts: Vec::new() };
        let value = convert(item, &mut part, problems);
        map.insert(key.get_ref().to_string(), value);
        spans.parts.push((key.get_ref().to_string(), part));
    }
    Value::Object(map)
}

fn convert(item: &Spanned<DeValue>, spans: &mut Spans, problems: &mut Vec<Problem>) -> Value {
    let mut refuse = |message: &str, label: &str| {
        problems.push(Problem::new(message.to_owned(), item.span()).label(label));
        Value::Null
    };
    match item.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Integer(i) => {
            // Seeds use all 64 bits: what is too large for a signed number may still be an unsigned one.
            let signed = i64::from_str_radix(i.as_str(), i.radix()).map(Number::from);
            let unsigned = || u64::from_str_radix(i.as_str(), i.radix()).map(Number::from);
            match signed.or_else(|_| unsigned()) {
                Ok(number) => Value::Number(number),
                Err(_) => refuse("this number is too large", "does not fit 64 bits"),
            }
        }
        DeValue::Float(f) => match f.as_str().parse::<f64>().ok().and_then(Number::from_f64) {
            Some(number) => Value::Number(number),
            None => refuse("numbers must be finite", "not a finite number"),
        },
        DeValue::Datetime(_) => refuse("a scene holds no dates", "write text in quotes"),
        DeValue::Array(items) => {
            let mut values = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                let mut part = Spans { value: item.span(), ..Spans::default() };
                values.push(convert(item, &mut part, problems));
                spans.parts.push((index.to_string(), part));
            }
            Value::Array(values)
        }
        DeValue::Table(table) => convert_table(table, spans, problems),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_knows_its_place() {
        let text = "a = 1\n[b]\nc = [1.5, { d = \"x\" }]\n";
        let (value, spans) = parse(text).unwrap();
        assert_eq!(value, serde_json::json!({ "a": 1, "b": { "c": [1.5, { "d": "x" }] } }));
        let (d, found) = spans.locate("b.c[1].d");
        assert!(found);
        assert_eq!((&text[d.key.clone()], &text[d.value.clone()]), ("d", "\"x\""));
        let (c, found) = spans.locate("b.c.7");
        assert!(!found);
        assert_eq!(&text[c.key.clone()], "c");
    }

    #[test]
    fn infinite_numbers_and_dates_are_refused_where_they_stand() {
        let problems = parse("a = inf\nb = 1979-05-27\n").unwrap_err();
        assert_eq!(problems.iter().map(|p| p.span.start).collect::<Vec<_>>(), [4, 12]);
        assert!(!parse("a = [1, \n").unwrap_err().is_empty());
    }
}
