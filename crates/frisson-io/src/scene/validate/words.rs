//! How the validator says what it found.

use frisson::stage::nearest_name;
use serde_json::Value;

use super::rules::types;
use crate::scene::document::Spans;
use crate::scene::problem::Problem;

pub(super) fn say(type_name: &str) -> &str {
    match type_name {
        "number" => "a number",
        "integer" => "a whole number",
        "string" => "text in quotes",
        "boolean" => "true or false",
        "array" => "a list [ … ]",
        "object" => "a table { … }",
        other => other,
    }
}

pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(n) if n.is_f64() => "a fractional number",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

pub(super) fn describe(choice: &Value) -> String {
    let rules = choice.as_object();
    let named: Vec<&str> = rules.map(types).unwrap_or_default();
    named.iter().map(|t| say(t)).collect::<Vec<_>>().join(" or ")
}

pub(super) fn item_name(name: &str, index: usize) -> String {
    format!("{name}[{index}]")
}

pub(super) fn list(words: &[&str]) -> String {
    words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
}

pub(super) fn unknown_key(owner: &str, key: &str, names: &[&str], spans: &Spans) -> Problem {
    let problem = Problem::new(format!("unknown key `{key}` in {owner}"), spans.name())
        .label("not a known key");
    problem.help(suggest(key, names))
}

pub(super) fn unknown_word(name: &str, value: &Value, words: &[&str], spans: &Spans) -> Problem {
    let given = value.as_str().map_or_else(|| value.to_string(), |w| format!("{w:?}"));
    let problem =
        Problem::new(format!("`{name}` cannot be {given}"), spans.value.clone()).label("unknown");
    problem.help(suggest(value.as_str().unwrap_or(""), words))
}

fn suggest(given: &str, names: &[&str]) -> String {
    match nearest_name(given, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known here: {}", list(names)),
    }
}

pub(super) fn first_sentence(text: &str) -> String {
    let text = text.split("\n\n").next().unwrap_or(text).replace('\n', " ");
    match text.find(". ") {
        Some(end) => text[..=end].to_owned(),
        None => text,
    }
}
