//! Checks a value against the JSON schema that is generated from the parameter structs, and says
//! where in the text something is wrong. Only what `schemars` writes for our structs is understood.

mod rules;
mod words;

use serde_json::{Map, Value};

use super::document::Spans;
use super::problem::Problem;
use rules::{
    allowed_words, common_tag, fits, follow, format_range, is_of_type, is_word, outer_tag, resolve,
    types,
};
use words::{describe, first_sentence, item_name, kind_of, list, say, unknown_key, unknown_word};

/// Everything in `value` that the schema does not allow.
#[must_use]
pub fn validate(schema: &Value, value: &Value, spans: &Spans) -> Vec<Problem> {
    let mut validator = Validator { root: schema, problems: Vec::new() };
    validator.check_at(schema, Given { value, spans, name: "the scene", depth: 0 });
    validator.problems
}

/// How deep a value may nest; far beyond any parameter, and safe for the stack.
const MAX_DEPTH: usize = 64;

/// What is checked: a value, where it stands, what it is called and how deep it lies.
#[derive(Clone, Copy)]
struct Given<'v> {
    value: &'v Value,
    spans: &'v Spans,
    name: &'v str,
    depth: usize,
}

impl Given<'_> {
    /// The same value, seen through one more part of the schema.
    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

struct Validator<'a> {
    root: &'a Value,
    problems: Vec<Problem>,
}

impl<'a> Validator<'a> {
    fn check_at(&mut self, schema: &'a Value, given: Given<'_>) {
        let Given { value, spans, .. } = given;
        let Some(rules) = schema.as_object() else { return };
        if given.depth > MAX_DEPTH {
            self.problems.push(Problem::new("nested too deeply", spans.value.clone()));
            return;
        }
        if let Some(target) = rules.get("$ref").and_then(|r| resolve(self.root, r)) {
            self.check_at(target, given.deeper());
        }
        for part in rules.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.check_at(part, given.deeper());
        }
        let choices = ["oneOf", "anyOf"].iter().find_map(|k| rules.get(*k)?.as_array());
        if let Some(choices) = choices {
            self.check_choice(choices, given);
        }
        // What has the wrong type has no range or parts worth complaining of.
        if !self.check_type(rules, given) {
            return;
        }
        self.check_constant(rules, given);
        match value {
            Value::Number(_) => self.check_range(rules, given),
            Value::Array(items) => self.check_list(rules, items, given),
            Value::Object(table) => self.check_table(rules, table, given),
            _ => {}
        }
    }

    fn check_type(
        &mut self,
        rules: &Map<String, Value>,
        Given { value, spans, name, .. }: Given<'_>,
    ) -> bool {
        let wanted = types(rules);
        if wanted.is_empty() || wanted.iter().any(|t| is_of_type(value, t)) {
            return true;
        }
        // TOML has no null: an option is left out instead.
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
        Given { value, spans, name, .. }: Given<'_>,
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
        Given { value, spans, name, .. }: Given<'_>,
    ) {
        let Some(number) = value.as_f64() else { return };
        let bound = |key: &str| rules.get(key).and_then(Value::as_f64);
        // `uint8` and the like say their range by their name only.
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

    fn check_list(&mut self, rules: &'a Map<String, Value>, items: &[Value], given: Given<'_>) {
        let Given { spans, name, depth, .. } = given;
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
                let name = &item_name(name, index);
                self.check_at(schema, Given { value: item, spans: part, name, depth: depth + 1 });
            }
        }
        if rules.contains_key("x-animated") {
            self.check_keys(rules, items, given);
        }
    }

    /// Key frames: ascending, and every value within the parameter's range.
    fn check_keys(&mut self, rules: &Map<String, Value>, keys: &[Value], given: Given<'_>) {
        let Given { spans, name, .. } = given;
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
                self.check_range(rules, Given { value, spans: part, ..given });
            }
        }
    }

    fn check_table(
        &mut self,
        rules: &'a Map<String, Value>,
        table: &Map<String, Value>,
        Given { spans, name, depth, .. }: Given<'_>,
    ) {
        let properties = rules.get("properties").and_then(Value::as_object);
        let others = rules.get("additionalProperties");
        for (index, (key, item)) in table.iter().enumerate() {
            let Some(part) = spans.part_at(index, key) else { continue };
            let known = properties.and_then(|p| p.get(key));
            let inner = Given { value: item, spans: part, name: key, depth: depth + 1 };
            match (known, others) {
                (Some(schema), _) => self.check_at(schema, inner),
                (None, Some(Value::Bool(false))) => {
                    let names = properties.map(Map::keys).into_iter().flatten();
                    let names = names.map(String::as_str).collect::<Vec<_>>();
                    self.problems.push(unknown_key(name, key, &names, part));
                }
                (None, Some(schema)) => self.check_at(schema, inner),
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

    fn check_choice(&mut self, choices: &'a [Value], given: Given<'_>) {
        let Given { value, spans, name, .. } = given;
        // References are followed first: what the alternatives have in common stands in the types they name.
        let choices: Vec<&'a Value> = choices
            .iter()
            .map(|c| follow(self.root, c))
            .filter(|c| c.get("type").and_then(Value::as_str) != Some("null"))
            .collect();
        if let Some(tag) = common_tag(&choices) {
            return self.check_inner_tagged(&choices, tag, given);
        }
        if choices.len() > 1 && choices.iter().all(|c| outer_tag(c).is_some() || is_word(c)) {
            return self.check_outer_tagged(&choices, given);
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
            attempt.check_at(choice, given.deeper());
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
        Given { value, spans, name, depth }: Given<'_>,
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
        // Two kinds in one table: which was meant nobody can say.
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
                Some(schema) => {
                    let given = Given { value: item, spans: part, name: key, depth: depth + 1 };
                    self.check_at(schema, given);
                }
                None => self.problems.push(unknown_key(name, key, &tags, part)),
            }
        }
    }

    /// `{ kind = "flesh", … }`.
    fn check_inner_tagged(&mut self, choices: &[&'a Value], tag: &str, given: Given<'_>) {
        let Given { value, spans, name, .. } = given;
        let tag_of = |c: &'a Value| c.get("properties")?.get(tag)?.get("const")?.as_str();
        let tags: Vec<&str> = choices.iter().filter_map(|c| tag_of(c)).collect();
        let tagged = value.get(tag);
        let word = tagged.and_then(Value::as_str);
        let chosen = choices.iter().find(|c| word.is_some() && tag_of(c) == word);
        match (chosen, tagged, spans.part(tag)) {
            (Some(choice), _, _) => self.check_at(choice, given.deeper()),
            (None, Some(tagged), Some(part)) => {
                self.problems.push(unknown_word(tag, tagged, &tags, part));
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
