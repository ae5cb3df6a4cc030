//! Checks a value against the JSON schema that is generated from the parameter structs, and says
//! where in the text something is wrong. Only what `schemars` writes for our structs is understood.

use frisson::stage::nearest_name;
use serde_json::{Map, Value};

use super::document::Spans;
use super::problem::Problem;

/// Everything in `value` that the schema does not allow.
#[must_use]
pub fn validate(schema: &Value, value: &Value, spans: &Spans) -> Vec<Problem> {
    let mut validator = Validator { root: schema, problems: Vec::new() };
    validator.check(schema, value, spans, "the scene");
    validator.problems
}

/// How deep a value may nest; far beyond any parameter, and safe for the stack.
const MAX_DEPTH: usize = 64;

struct Validator<'a> {
    root: &'a Value,
    problems: Vec<Problem>,
}

impl<'a> Validator<'a> {
    fn check(&mut self, schema: &'a Value, value: &Value, spans: &Spans, name: &str) {
        self.check_at(schema, value, spans, name, 0);
    }

    fn check_at(
        &mut self,
        schema: &'a Value,
        value: &Value,
        spans: &Spans,
        name: &str,
        depth: usize,
    ) {
        let Some(rules) = schema.as_object() else { return };
        if depth > MAX_DEPTH {
            self.problems.push(Problem::new("nested too deeply", spans.value.clone()));
            return;
        }
        if let Some(target) = rules.get("$ref").and_then(|r| resolve(self.root, r)) {
            self.check_at(target, value, spans, name, depth + 1);
        }
        for part in rules.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.check_at(part, value, spans, name, depth + 1);
        }
        let choices = ["oneOf", "anyOf"].iter().find_map(|k| rules.get(*k)?.as_array());
        if let Some(choices) = choices {
            self.check_choice(choices, value, spans, name, depth);
        }
        if !self.check_type(rules, value, spans, name) {
            return;
        }
        self.check_constant(rules, value, spans, name);
        match value {
            Value::Number(_) => self.check_range(rules, value, spans, name),
            Value::Array(items) => self.check_list(rules, items, spans, name, depth),
            Value::Object(table) => self.check_table(rules, table, spans, name, depth),
            _ => {}
        }
    }

    fn check_type(
        &mut self,
        rules: &Map<String, Value>,
        value: &Value,
        spans: &Spans,
        name: &str,
    ) -> bool {
        let wanted = types(rules);
        if wanted.is_empty() || wanted.iter().any(|t| is_of_type(value, t)) {
            return true;
        }
        let named: Vec<&str> = wanted.iter().filter(|t| **t != "null").map(|t| say(t)).collect();
        let problem = Problem::new(
            format!("`{name}` must be {}, not {}", named.join(" or "), kind_of(value)),
            spans.value.clone(),
        );
        self.push(problem.label(format!("this is {}", kind_of(value))), rules);
        false
    }

    fn check_constant(
        &mut self,
        rules: &Map<String, Value>,
        value: &Value,
        spans: &Spans,
        name: &str,
    ) {
        let allowed = allowed_words(rules);
        if allowed.is_empty() || allowed.iter().any(|word| Some(*word) == value.as_str()) {
            return;
        }
        self.problems.push(unknown_word(name, value, &allowed, spans));
    }

    fn check_range(
        &mut self,
        rules: &Map<String, Value>,
        value: &Value,
        spans: &Spans,
        name: &str,
    ) {
        let Some(number) = value.as_f64() else { return };
        let bound = |key: &str| rules.get(key).and_then(Value::as_f64);
        let (format_min, format_max) = format_range(rules);
        let min = bound("minimum").or(format_min);
        let max = bound("maximum").or(format_max);
        let (above, below) = (bound("exclusiveMinimum"), bound("exclusiveMaximum"));
        let inside = min.is_none_or(|m| number >= m)
            && max.is_none_or(|m| number <= m)
            && above.is_none_or(|m| number > m)
            && below.is_none_or(|m| number < m);
        if inside {
            return;
        }
        let rule = match (min, max, above, below) {
            (Some(a), Some(b), _, _) if a == b => format!("must be {a}"),
            (Some(a), Some(b), _, _) => format!("must be between {a} and {b}"),
            (Some(a), None, _, _) => format!("must be at least {a}"),
            (None, Some(b), _, _) => format!("must be at most {b}"),
            (_, _, Some(a), Some(b)) => format!("must be between {a} and {b}, ends excluded"),
            (_, _, Some(a), None) => format!("must be more than {a}"),
            (_, _, _, Some(b)) => format!("must be less than {b}"),
            _ => "is out of range".to_owned(),
        };
        let problem = Problem::new(format!("`{name}` {rule}, not {value}"), spans.value.clone());
        self.push(problem.label("out of range"), rules);
    }

    fn check_list(
        &mut self,
        rules: &'a Map<String, Value>,
        items: &[Value],
        spans: &Spans,
        name: &str,
        depth: usize,
    ) {
        let count = |key: &str| rules.get(key).and_then(Value::as_u64);
        let (least, most) = (count("minItems"), count("maxItems"));
        let length = items.len() as u64;
        if least.is_some_and(|m| length < m) || most.is_some_and(|m| length > m) {
            let wanted = match (least, most) {
                (Some(a), Some(b)) if a == b => format!("{a}"),
                (Some(a), Some(b)) => format!("{a} to {b}"),
                (Some(a), None) => format!("at least {a}"),
                (_, b) => format!("at most {}", b.unwrap_or(0)),
            };
            let problem = Problem::new(
                format!("`{name}` must have {wanted} items, not {length}"),
                spans.value.clone(),
            );
            self.push(problem.label(format!("{length} items")), rules);
            return;
        }
        let tuple = rules.get("prefixItems").and_then(Value::as_array);
        for (index, item) in items.iter().enumerate() {
            let schema = tuple.and_then(|t| t.get(index)).or_else(|| rules.get("items"));
            if let (Some(schema), Some(part)) = (schema, spans.item(index)) {
                self.check_at(schema, item, part, &item_name(name, index), depth + 1);
            }
        }
        if rules.contains_key("x-animated") {
            self.check_keys(rules, items, spans, name);
        }
    }

    /// Key frames: ascending, and every value within the parameter's range.
    fn check_keys(
        &mut self,
        rules: &Map<String, Value>,
        keys: &[Value],
        spans: &Spans,
        name: &str,
    ) {
        if keys.is_empty() {
            let problem = Problem::new(format!("`{name}` has no key"), spans.value.clone());
            self.problems.push(problem.help("give a number, or keys [[frame, value], …]"));
        }
        let mut last = f64::NEG_INFINITY;
        for (index, key) in keys.iter().enumerate() {
            let Some(at) = spans.item(index) else { continue };
            let Some(frame) = key.get(0).and_then(Value::as_f64) else { continue };
            if frame <= last {
                let problem = Problem::new(
                    format!("`{name}`: the frames of its keys must ascend"),
                    at.value.clone(),
                );
                self.problems.push(problem.label(format!("frame {frame} after {last}")));
            }
            last = frame;
            if let (Some(value), Some(part)) = (key.get(1), at.item(1)) {
                self.check_range(rules, value, part, name);
            }
        }
    }

    fn check_table(
        &mut self,
        rules: &'a Map<String, Value>,
        table: &Map<String, Value>,
        spans: &Spans,
        name: &str,
        depth: usize,
    ) {
        let properties = rules.get("properties").and_then(Value::as_object);
        let others = rules.get("additionalProperties");
        for (index, (key, item)) in table.iter().enumerate() {
            let Some(part) = spans.part_at(index, key) else { continue };
            let known = properties.and_then(|p| p.get(key));
            match (known, others) {
                (Some(schema), _) => self.check_at(schema, item, part, key, depth + 1),
                (None, Some(Value::Bool(false))) => {
                    let names = properties.map(Map::keys).into_iter().flatten();
                    let names = names.map(String::as_str).collect::<Vec<_>>();
                    self.problems.push(unknown_key(name, key, &names, part));
                }
                (None, Some(schema)) => self.check_at(schema, item, part, key, depth + 1),
                (None, None) => {}
            }
        }
        let required = rules.get("required").and_then(Value::as_array).into_iter().flatten();
        for key in required.filter_map(Value::as_str).filter(|k| !table.contains_key(*k)) {
            let description = properties
                .and_then(|p| p.get(key))
                .and_then(|s| s.get("description"))
                .and_then(Value::as_str);
            let mut problem =
                Problem::new(format!("{name} needs `{key}`"), spans.name()).label("missing here");
            if let Some(text) = description {
                problem = problem.help(format!("{key}: {}", first_sentence(text)));
            }
            self.problems.push(problem);
        }
    }

    fn check_choice(
        &mut self,
        choices: &'a [Value],
        value: &Value,
        spans: &Spans,
        name: &str,
        depth: usize,
    ) {
        let choices: Vec<&'a Value> = choices
            .iter()
            .map(|c| follow(self.root, c))
            .filter(|c| c.get("type").and_then(Value::as_str) != Some("null"))
            .collect();
        if let Some(tag) = common_tag(&choices) {
            return self.check_inner_tagged(&choices, tag, value, spans, name, depth);
        }
        if choices.len() > 1 && choices.iter().all(|c| outer_tag(c).is_some() || is_word(c)) {
            return self.check_outer_tagged(&choices, value, spans, name, depth);
        }
        let fitting: Vec<&Value> = choices
            .iter()
            .copied()
            .filter(|c| c.as_object().is_none_or(|r| fits(r, value)))
            .collect();
        if fitting.is_empty() {
            let wanted: Vec<String> = choices.iter().map(|c| describe(c)).collect();
            let problem = Problem::new(
                format!("`{name}` must be {}, not {}", wanted.join(" or "), kind_of(value)),
                spans.value.clone(),
            );
            self.problems.push(problem.label(format!("this is {}", kind_of(value))));
            return;
        }
        // The alternative that complains least is the one that was meant.
        let mut best: Option<Vec<Problem>> = None;
        for choice in fitting {
            let mut attempt = Validator { root: self.root, problems: Vec::new() };
            attempt.check_at(choice, value, spans, name, depth + 1);
            if best.as_ref().is_none_or(|b| attempt.problems.len() < b.len()) {
                best = Some(attempt.problems);
            }
        }
        self.problems.extend(best.into_iter().flatten());
    }

    /// `flesh = { … }` or a plain word.
    fn check_outer_tagged(
        &mut self,
        choices: &[&'a Value],
        value: &Value,
        spans: &Spans,
        name: &str,
        depth: usize,
    ) {
        let words: Vec<&str> =
            choices.iter().filter_map(|c| c.as_object()).flat_map(allowed_words).collect();
        let tags: Vec<&str> = choices.iter().filter_map(|c| outer_tag(c)).collect();
        let Some(table) = value.as_object() else {
            if !value.as_str().is_some_and(|w| words.contains(&w)) {
                let all: Vec<&str> = words.iter().chain(&tags).copied().collect();
                self.problems.push(unknown_word(name, value, &all, spans));
            }
            return;
        };
        if table.len() != 1 {
            let problem = Problem::new(
                format!("`{name}` must say exactly one of {}", list(&tags)),
                spans.name(),
            );
            self.problems.push(problem.label(format!("says {}", table.len())));
            return;
        }
        for (key, item) in table {
            let Some(part) = spans.part(key) else { continue };
            let choice = choices.iter().find(|c| outer_tag(c) == Some(key.as_str()));
            match choice.and_then(|c| c.get("properties")?.get(key)) {
                Some(schema) => self.check_at(schema, item, part, key, depth + 1),
                None => self.problems.push(unknown_key(name, key, &tags, part)),
            }
        }
    }

    /// `{ kind = "flesh", … }`.
    fn check_inner_tagged(
        &mut self,
        choices: &[&'a Value],
        tag: &str,
        value: &Value,
        spans: &Spans,
        name: &str,
        depth: usize,
    ) {
        let tag_of = |c: &'a Value| c.get("properties")?.get(tag)?.get("const")?.as_str();
        let tags: Vec<&str> = choices.iter().filter_map(|c| tag_of(c)).collect();
        let given = value.get(tag);
        let word = given.and_then(Value::as_str);
        let chosen = choices.iter().find(|c| word.is_some() && tag_of(c) == word);
        match (chosen, given, spans.part(tag)) {
            (Some(choice), _, _) => self.check_at(choice, value, spans, name, depth + 1),
            (None, Some(given), Some(part)) => {
                self.problems.push(unknown_word(tag, given, &tags, part));
            }
            _ => self.problems.push(
                Problem::new(format!("{name} needs `{tag}`: one of {}", list(&tags)), spans.name())
                    .label("missing here"),
            ),
        }
    }

    fn push(&mut self, problem: Problem, rules: &Map<String, Value>) {
        let description = rules.get("description").and_then(Value::as_str);
        self.problems.push(match description {
            Some(text) if problem.help.is_none() => problem.help(first_sentence(text)),
            _ => problem,
        });
    }
}

fn resolve<'a>(root: &'a Value, reference: &Value) -> Option<&'a Value> {
    root.pointer(reference.as_str()?.strip_prefix('#')?)
}

fn follow<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    schema.get("$ref").and_then(|r| resolve(root, r)).unwrap_or(schema)
}

fn types(rules: &Map<String, Value>) -> Vec<&str> {
    match rules.get("type") {
        Some(Value::String(t)) => vec![t],
        Some(Value::Array(ts)) => ts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn fits(rules: &Map<String, Value>, value: &Value) -> bool {
    let wanted = types(rules);
    wanted.is_empty() || wanted.iter().any(|t| is_of_type(value, t))
}

fn is_of_type(value: &Value, name: &str) -> bool {
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

fn say(type_name: &str) -> &str {
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

fn kind_of(value: &Value) -> &'static str {
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

fn describe(choice: &Value) -> String {
    let rules = choice.as_object();
    let named: Vec<&str> = rules.map(types).unwrap_or_default();
    named.iter().map(|t| say(t)).collect::<Vec<_>>().join(" or ")
}

/// The words a schema allows: `enum` and `const`.
fn allowed_words(rules: &Map<String, Value>) -> Vec<&str> {
    let listed = rules.get("enum").and_then(Value::as_array).into_iter().flatten();
    listed.chain(rules.get("const")).filter_map(Value::as_str).collect()
}

fn is_word(choice: &Value) -> bool {
    choice.as_object().is_some_and(|rules| !allowed_words(rules).is_empty())
}

/// The single key of an alternative such as `{ flesh: … }`.
fn outer_tag(choice: &Value) -> Option<&str> {
    let properties = choice.get("properties")?.as_object()?;
    let required = choice.get("required")?.as_array()?;
    let (tag, schema) = properties.iter().next()?;
    let only = properties.len() == 1 && required.len() == 1 && schema.get("const").is_none();
    only.then_some(tag.as_str())
}

/// A property that is a different constant in every alternative.
fn common_tag<'a>(choices: &[&'a Value]) -> Option<&'a str> {
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
fn format_range(rules: &Map<String, Value>) -> (Option<f64>, Option<f64>) {
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

fn item_name(name: &str, index: usize) -> String {
    format!("{name}[{index}]")
}

fn list(words: &[&str]) -> String {
    words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
}

fn unknown_key(owner: &str, key: &str, names: &[&str], spans: &Spans) -> Problem {
    let problem = Problem::new(format!("unknown key `{key}` in {owner}"), spans.name())
        .label("not a known key");
    problem.help(suggest(key, names))
}

fn unknown_word(name: &str, value: &Value, words: &[&str], spans: &Spans) -> Problem {
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

fn first_sentence(text: &str) -> String {
    let text = text.split("\n\n").next().unwrap_or(text).replace('\n', " ");
    match text.find(". ") {
        Some(end) => text[..=end].to_owned(),
        None => text,
    }
}
