//! Texts of scenes: those of the repository, damaged, and new ones made from the schema.

use std::path::Path;

use frisson_io::scene::{SceneFile, scene_schema};
use serde_json::{Map, Value, json};

use crate::Target;
use crate::random::Random;

pub struct Scenes {
    texts: Vec<String>,
    lines: Vec<String>,
    schema: Value,
}

impl Scenes {
    pub fn new() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        let texts: Vec<String> =
            paths.iter().filter_map(|p| std::fs::read_to_string(p).ok()).collect();
        let lines = texts.iter().flat_map(|t| t.lines().map(str::to_owned)).collect();
        Self { texts, lines, schema: scene_schema() }
    }

    fn damaged_text(&self, random: &mut Random) -> String {
        let mut lines: Vec<String> = random.pick(&self.texts).lines().map(str::to_owned).collect();
        for _ in 0..=random.below(5) {
            let at = random.below(lines.len());
            match random.below(5) {
                0 => lines.insert(at, random.pick(&self.lines).clone()),
                1 if lines.len() > 1 => drop(lines.remove(at)),
                2 => lines[at] = with_other_number(&lines[at], random),
                3 => {
                    let mut bytes = std::mem::take(&mut lines[at]).into_bytes();
                    random.damage(&mut bytes);
                    lines[at] = String::from_utf8_lossy(&bytes).into_owned();
                }
                _ => {
                    let other = random.below(lines.len());
                    lines.swap(at, other);
                }
            }
        }
        lines.join("\n")
    }

    /// A scene that the schema allows in most parts.
    pub fn by_schema(&self, random: &mut Random) -> String {
        let mut value = self.value(&self.schema, random, 0);
        if let Some(map) = value.as_object_mut() {
            map.insert("frisson".to_owned(), json!(1 + random.below(2)));
            drop_nulls(map);
        }
        toml::to_string(&value).unwrap_or_default()
    }

    fn value(&self, schema: &Value, random: &mut Random, depth: usize) -> Value {
        if depth > 8 || random.one_in(60) {
            return random.odd_number();
        }
        let schema = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|r| self.schema.pointer(r.strip_prefix('#')?))
            .unwrap_or(schema);
        for choice in ["oneOf", "anyOf"] {
            if let Some(choices) = schema.get(choice).and_then(Value::as_array) {
                return self.value(random.pick(choices), random, depth + 1);
            }
        }
        if let Some(word) = schema.get("const") {
            return word.clone();
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return random.pick(words).clone();
        }
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) => random.pick(kinds).as_str(),
            Some(kind) => kind.as_str(),
            None => None,
        };
        match kind {
            Some("object") => self.table(schema, random, depth),
            Some("array") => self.list(schema, random, depth),
            Some("boolean") => json!(random.one_in(2)),
            Some("string") => {
                json!(random.pick(&["a", "body", "builtin:cat", "x/y", "", "24/1", "joint1"]))
            }
            Some("integer") => self.number(schema, random, true),
            Some("number") => self.number(schema, random, false),
            _ => Value::Null,
        }
    }

    fn table(&self, schema: &Value, random: &mut Random, depth: usize) -> Value {
        let mut map = Map::new();
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map_or_else(Vec::new, |r| r.iter().filter_map(Value::as_str).collect());
        let properties = schema.get("properties").and_then(Value::as_object);
        for (key, part) in properties.into_iter().flatten() {
            let needed = required.contains(&key.as_str()) && !random.one_in(40);
            if needed || random.one_in(3) {
                map.insert(key.clone(), self.value(part, random, depth + 1));
            }
        }
        if let Some(others) = schema.get("additionalProperties").filter(|o| o.is_object()) {
            for name in ["a", "body"].iter().take(random.below(3)) {
                map.insert((*name).to_owned(), self.value(others, random, depth + 1));
            }
        }
        drop_nulls(&mut map);
        Value::Object(map)
    }

    fn list(&self, schema: &Value, random: &mut Random, depth: usize) -> Value {
        let count = |key: &str, default: u64| {
            schema.get(key).and_then(Value::as_u64).unwrap_or(default) as usize
        };
        let (least, most) = (count("minItems", 0), count("maxItems", 3));
        let length = least + random.below(most.saturating_sub(least) + 1);
        let item = schema.get("items").cloned().unwrap_or(json!({ "type": "number" }));
        let items: Vec<Value> = (0..length)
            .map(|_| self.value(&item, random, depth + 1))
            .filter(|v| !v.is_null())
            .collect();
        json!(items)
    }

    fn number(&self, schema: &Value, random: &mut Random, whole: bool) -> Value {
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        let low = bound("minimum").or(bound("exclusiveMinimum")).unwrap_or(-10.0);
        let high = bound("maximum").or(bound("exclusiveMaximum")).unwrap_or(low.max(0.0) + 10.0);
        let value = match random.below(8) {
            0 => return random.odd_number(),
            1 => low,
            2 => high,
            _ => low + random.unit() * (high.min(low + 100.0) - low),
        };
        if whole { json!(value as i64) } else { json!(value) }
    }
}

/// TOML has no null.
fn drop_nulls(map: &mut Map<String, Value>) {
    let empty: Vec<String> =
        map.iter().filter(|(_, v)| v.is_null()).map(|(k, _)| k.clone()).collect();
    for key in empty {
        map.remove(&key);
    }
}

fn with_other_number(line: &str, random: &mut Random) -> String {
    let is_number = |c: char| c.is_ascii_digit() || ".-".contains(c);
    let starts: Vec<usize> =
        line.char_indices().filter(|(_, c)| is_number(*c)).map(|(at, _)| at).collect();
    if starts.is_empty() {
        return line.to_owned();
    }
    let from = *random.pick(&starts);
    let length = line[from..].find(|c| !is_number(c)).unwrap_or(line.len() - from);
    format!("{}{}{}", &line[..from], random.odd_number(), &line[from + length..])
}

impl Target for Scenes {
    fn make(&mut self, random: &mut Random) -> Vec<u8> {
        let text =
            if random.one_in(2) { self.damaged_text(random) } else { self.by_schema(random) };
        text.into_bytes()
    }

    fn feed(&mut self, input: &[u8]) -> Result<(), String> {
        let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
        let Err(error) = SceneFile::parse(Path::new("fuzz.toml"), text) else { return Ok(()) };
        if error.problems.is_empty() {
            return Err("refused without a problem".to_owned());
        }
        for problem in &error.problems {
            let (line, column) = error.position(problem);
            if line < 1 || column < 1 {
                return Err("a problem without a place".to_owned());
            }
        }
        let _ = error.to_string();
        Ok(())
    }

    fn extension(&self) -> &str {
        "toml"
    }
}
