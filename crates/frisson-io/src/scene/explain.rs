//! One parameter or layer, in words: what the schema knows, found by name.

use frisson::stage::nearest_name;
use serde::Serialize;
use serde_json::{Map, Value};

use super::schema;

/// What is known about a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Explanation {
    /// Where it stands in a scene file, with dots: `flesh.frequency_hz`.
    pub path: String,
    /// What may be written: `a number from 0 to 1`.
    pub form: Option<String>,
    /// What holds when nothing is written.
    pub default: Option<String>,
    /// Its documentation.
    pub text: String,
    /// What it consists of: names and their first sentences.
    pub parts: Vec<(String, String)>,
    /// How a control for it should be.
    #[serde(flatten)]
    pub control: Control,
}

/// How a control for a parameter should be, as declared where the parameter is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Control {
    /// Unit, as in its documentation: `m`, `Hz`, `-`.
    pub unit: Option<String>,
    /// The range in which it is useful, for a slider.
    pub slider: Option<[f64; 2]>,
    /// Whether the slider's steps are ratios.
    pub logarithmic: bool,
    /// Heading under which it stands.
    pub group: Option<String>,
    /// What a change does while it runs: `live`, `rebuild` or `restart`.
    pub change: Option<String>,
}

impl Control {
    fn of(node: &Value, text: &str) -> Self {
        let word = |key: &str| node.get(key).and_then(Value::as_str).map(str::to_owned);
        let slider = node
            .get("x-slider")
            .and_then(Value::as_array)
            .and_then(|ends| Some([ends.first()?.as_f64()?, ends.get(1)?.as_f64()?]));
        Self {
            unit: unit_in(text),
            slider,
            logarithmic: node.get("x-log").and_then(Value::as_bool).unwrap_or(false),
            group: word("x-group"),
            change: word("x-change"),
        }
    }
}

/// The unit that a documentation states in brackets: short, and before the end of its first sentence.
fn unit_in(text: &str) -> Option<String> {
    let start = text.find('[')? + 1;
    let unit = &text[start..start + text[start..].find(']')?];
    (unit.chars().count() <= 8 && !unit.contains([',', ' '])).then(|| unit.to_owned())
}

/// Everything with that name (the last part of a path, or several parts with dots), or the nearest
/// existing name.
pub fn explain(name: &str) -> Result<Vec<Explanation>, Option<String>> {
    let mut all = Vec::new();
    collect(schema(), "", &mut Vec::new(), &mut all);
    // With the dot: `limit` must not find `max_limit`.
    let suffix = format!(".{name}");
    let matches = |e: &&Explanation| e.path == name || e.path.ends_with(&suffix);
    let found: Vec<Explanation> = all.iter().filter(matches).cloned().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let last = |e: &Explanation| e.path.rsplit('.').next().unwrap_or_default().to_owned();
    let names: Vec<String> = all.iter().flat_map(|e| [last(e), e.path.clone()]).collect();
    Err(nearest_name(name, names.iter().map(String::as_str)))
}

/// Every parameter of the scene file, with its path.
#[must_use]
pub fn explain_all() -> Vec<Explanation> {
    let mut all = Vec::new();
    collect(schema(), "", &mut Vec::new(), &mut all);
    all
}

/// Walks the schema. `open` holds the definitions being walked, so that none is entered twice.
fn collect(
    node: &'static Value,
    path: &str,
    open: &mut Vec<&'static str>,
    all: &mut Vec<Explanation>,
) {
    let Some(rules) = node.as_object() else { return };
    if let Some(reference) = rules.get("$ref").and_then(Value::as_str) {
        let target = reference.strip_prefix('#').and_then(|p| schema().pointer(p));
        if let (Some(target), false) = (target, open.contains(&reference)) {
            open.push(reference);
            collect(target, path, open, all);
            open.pop();
        }
    }
    for key in ["oneOf", "anyOf", "allOf", "prefixItems"] {
        for part in rules.get(key).and_then(Value::as_array).into_iter().flatten() {
            collect(part, path, open, all);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(part) = rules.get(key) {
            collect(part, path, open, all);
        }
    }
    for (name, part) in rules.get("properties").and_then(Value::as_object).into_iter().flatten() {
        // Layers are known by their own name: `flesh.limit`, not `layers.flesh.limit`.
        let child = match path {
            "" | "layers" => name.clone(),
            _ => format!("{path}.{name}"),
        };
        if !all.iter().any(|e| e.path == child) {
            let mut item = explanation(&child, part);
            if item.text.is_empty() {
                // A kind of a choice is documented on the choice.
                item.text = rules.get("description").and_then(Value::as_str).unwrap_or("").into();
            }
            all.push(item);
            collect(part, &child, open, all);
        }
    }
}

fn explanation(path: &str, node: &'static Value) -> Explanation {
    let target = follow(node);
    let text = [node, target].iter().find_map(|n| n.get("description")?.as_str());
    let extra = target.get("description").and_then(Value::as_str).filter(|t| Some(*t) != text);
    let mut words = text.unwrap_or_default().to_owned();
    if let Some(extra) = extra {
        words += "\n\n";
        words += extra;
    }
    let default = node.get("default").filter(|d| !d.is_null() && !d.is_object());
    Explanation {
        path: path.to_owned(),
        form: node.as_object().and_then(form).or_else(|| target.as_object().and_then(form)),
        default: default.map(Value::to_string),
        control: Control::of(node, &words),
        text: words,
        parts: parts(target),
    }
}

fn follow(node: &'static Value) -> &'static Value {
    let inner = node.get("items").filter(|i| i.get("$ref").is_some()).unwrap_or(node);
    let optional = inner.get("anyOf").and_then(|a| a.get(0)).unwrap_or(inner);
    let reference = optional.get("$ref").and_then(Value::as_str);
    reference.and_then(|r| schema().pointer(r.strip_prefix('#')?)).unwrap_or(inner)
}

/// The properties of a table, or the words and kinds of a choice.
fn parts(node: &'static Value) -> Vec<(String, String)> {
    let said = |n: &Value| first_line(n.get("description").and_then(Value::as_str).unwrap_or(""));
    let own = node.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut found: Vec<(String, String)> = own.map(|(k, n)| (k.clone(), said(n))).collect();
    for choice in node.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
        if let Some(word) = choice.get("const").and_then(Value::as_str) {
            found.push((word.to_owned(), said(choice)));
        }
        for word in choice.get("enum").and_then(Value::as_array).into_iter().flatten() {
            found.extend(word.as_str().map(|w| (w.to_owned(), said(choice))));
        }
        let kinds = choice.get("properties").and_then(Value::as_object).into_iter().flatten();
        found.extend(kinds.map(|(k, _)| (k.clone(), said(choice))));
    }
    found
}

fn first_line(text: &str) -> String {
    text.split("\n\n").next().unwrap_or_default().replace('\n', " ")
}

/// What may be written, in words.
fn form(rules: &Map<String, Value>) -> Option<String> {
    let types: Vec<&str> = match rules.get("type")? {
        Value::String(t) => vec![t.as_str()],
        Value::Array(ts) => ts.iter().filter_map(Value::as_str).filter(|t| *t != "null").collect(),
        _ => return None,
    };
    if rules.contains_key("x-animated") {
        return Some(format!("a number{} or keys [[frame, value], …]", range(rules)));
    }
    let count = |key: &str| rules.get(key).and_then(Value::as_u64);
    let one = |t: &&str| match *t {
        "number" => format!("a number{}", range(rules)),
        "integer" => format!("a whole number{}", range(rules)),
        "string" => "text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => match (count("minItems"), count("maxItems")) {
            (Some(a), Some(b)) if a == b => format!("a list of {a}"),
            _ => "a list".to_owned(),
        },
        _ => "a table".to_owned(),
    };
    Some(types.iter().map(one).collect::<Vec<_>>().join(" or "))
}

fn range(rules: &Map<String, Value>) -> String {
    let bound = |key: &str| rules.get(key).and_then(Value::as_f64);
    match (bound("minimum"), bound("maximum")) {
        (Some(a), Some(b)) => format!(" from {a} to {b}"),
        (Some(a), None) => format!(" of at least {a}"),
        (None, Some(b)) => format!(" of at most {b}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_their_last_part_or_their_path() {
        let found = explain("preroll").unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].form.as_deref(), Some("a number from 0 to 600"));
        assert!(found[0].text.contains("[s]"));
        assert!(explain("flesh").unwrap()[0].parts.iter().any(|(n, _)| n == "name"));
        assert_eq!(explain("actors.clip").unwrap().len(), 1);
        assert_eq!(explain("prerol").unwrap_err().as_deref(), Some("preroll"));
    }

    /// The doc comments are the manual: a parameter without one is a hole in it.
    #[test]
    fn every_parameter_is_documented() {
        let silent: Vec<String> =
            explain_all().into_iter().filter(|e| e.text.is_empty()).map(|e| e.path).collect();
        assert_eq!(silent, Vec::<String>::new());
    }
}
