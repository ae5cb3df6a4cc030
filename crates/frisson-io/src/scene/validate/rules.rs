//! What a schema says, as far as `schemars` writes it.

use serde_json::{Map, Value};

pub(super) fn resolve<'a>(root: &'a Value, reference: &Value) -> Option<&'a Value> {
    root.pointer(reference.as_str()?.strip_prefix('#')?)
}

pub(super) fn follow<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    schema.get("$ref").and_then(|r| resolve(root, r)).unwrap_or(schema)
}

pub(super) fn types(rules: &Map<String, Value>) -> Vec<&str> {
    match rules.get("type") {
        Some(Value::String(t)) => vec![t],
        Some(Value::Array(ts)) => ts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

pub(super) fn fits(rules: &Map<String, Value>, value: &Value) -> bool {
    let wanted = types(rules);
    wanted.is_empty() || wanted.iter().any(|t| is_of_type(value, t))
}

pub(super) fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// The words a schema allows: `enum` and `const`.
pub(super) fn allowed_words(rules: &Map<String, Value>) -> Vec<&str> {
    let listed = rules.get("enum").and_then(Value::as_array).into_iter().flatten();
    listed.chain(rules.get("const")).filter_map(Value::as_str).collect()
}

pub(super) fn is_word(choice: &Value) -> bool {
    choice.as_object().is_some_and(|rules| !allowed_words(rules).is_empty())
}

/// The single key of an alternative such as `{ flesh: … }`.
pub(super) fn outer_tag(choice: &Value) -> Option<&str> {
    let properties = choice.get("properties")?.as_object()?;
    let required = choice.get("required")?.as_array()?;
    let (tag, schema) = properties.iter().next()?;
    let only = properties.len() == 1 && required.len() == 1 && schema.get("const").is_none();
    only.then_some(tag.as_str())
}

/// A property that is a different constant in every alternative.
pub(super) fn common_tag<'a>(choices: &[&'a Value]) -> Option<&'a str> {
    let first = choices.first()?.get("properties")?.as_object()?;
    let is_tag = |name: &str| {
        choices.iter().all(|c| {
            c.get("properties")
                .and_then(|p| p.get(name)?.get("const"))
                .is_some_and(Value::is_string)
        })
    };
    first.keys().map(String::as_str).find(|name| choices.len() > 1 && is_tag(name))
}

/// The range that a number's storage allows.
pub(super) fn format_range(rules: &Map<String, Value>) -> (Option<f64>, Option<f64>) {
    match rules.get("format").and_then(Value::as_str) {
        Some("uint8") => (Some(0.0), Some(f64::from(u8::MAX))),
        Some("uint16") => (Some(0.0), Some(f64::from(u16::MAX))),
        Some("uint32") => (Some(0.0), Some(f64::from(u32::MAX))),
        Some("uint" | "uint64") => (Some(0.0), None),
        Some("int32") => (Some(f64::from(i32::MIN)), Some(f64::from(i32::MAX))),
        Some("float") => (Some(-f64::from(f32::MAX)), Some(f64::from(f32::MAX))),
        _ => (None, None),
    }
}
