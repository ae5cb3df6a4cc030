//! Where a parameter stands in a scene's text, and how it is changed there without touching anything else.

use frisson::stage::nearest_name;
use frisson_io::scene::{SceneFile, explain_all};
use toml_edit::{DocumentMut, Item, TableLike, Value};

use crate::WorkshopError;

/// A parameter of one scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// Steps from the document: keys, and indices of lists.
    steps: Vec<Step>,
    /// Layer it belongs to, if any.
    pub layer: Option<String>,
    /// Whether only whole numbers will do.
    pub whole: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

impl Address {
    /// Finds what a path names: `layers.belly.frequency_hz`, `belly.frequency_hz`, `forces.0.speed`, `gravity`.
    pub fn find(scene: &SceneFile, path: &str) -> Result<Self, WorkshopError> {
        let words: Vec<&str> = path.split(['.', '[', ']']).filter(|w| !w.is_empty()).collect();
        let Some((first, rest)) = words.split_first() else {
            return Err(WorkshopError::input("a parameter needs a name"));
        };
        let is_layer = scene.scene.layers.iter().any(|l| l.name() == *first);
        match *first {
            "layers" => Self::in_layer(scene, path, rest),
            "actors" => Self::in_actor(scene, path, rest),
            "colliders" => {
                let names: Vec<&str> =
                    scene.scene.colliders.iter().map(|c| c.name.as_str()).collect();
                Self::in_list("colliders", &names, path, rest)
            }
            "forces" => {
                let names = vec![""; scene.scene.forces.len()];
                Self::in_list("forces", &names, path, rest)
            }
            _ if is_layer => Self::in_layer(scene, path, &words),
            // `bely.frequency_hz`: rather a layer's name than a table of the scene.
            _ if !rest.is_empty() && !explain_all().iter().any(|e| e.path == *first) => {
                Self::in_layer(scene, path, &words)
            }
            _ => Self::build(path, Vec::new(), &in_words(&words), &words, "the scene"),
        }
    }

    fn in_layer(scene: &SceneFile, path: &str, words: &[&str]) -> Result<Self, WorkshopError> {
        let names: Vec<&str> = scene.scene.layers.iter().map(|l| l.name()).collect();
        let (index, rest) = item("layer", &names, path, words)?;
        let value = serde_json::to_value(&scene.scene.layers[index]).unwrap_or_default();
        let kind = value.as_object().and_then(|o| o.keys().next()).cloned().unwrap_or_default();
        let rest = match rest.split_first() {
            Some((first, rest)) if *first == kind => rest,
            _ => rest,
        };
        let steps =
            vec![Step::Key("layers".to_owned()), Step::Index(index), Step::Key(kind.clone())];
        let known = format!("{kind}.{}", in_words(rest));
        let owner = format!("layer {:?} ({kind})", names[index]);
        let layer = Some(names[index].to_owned());
        Ok(Self { layer, ..Self::build(path, steps, &known, rest, &owner)? })
    }

    fn in_actor(scene: &SceneFile, path: &str, words: &[&str]) -> Result<Self, WorkshopError> {
        let names: Vec<&str> = scene.scene.actors.0.iter().map(|(n, _)| n.as_str()).collect();
        let (index, rest) = item("actor", &names, path, words)?;
        let steps = vec![Step::Key("actors".to_owned()), Step::Key(names[index].to_owned())];
        let known = format!("actors.{}", in_words(rest));
        Self::build(path, steps, &known, rest, &format!("actor {:?}", names[index]))
    }

    fn in_list(
        list: &str,
        names: &[&str],
        path: &str,
        words: &[&str],
    ) -> Result<Self, WorkshopError> {
        let (index, rest) = item(list.trim_end_matches('s'), names, path, words)?;
        let steps = vec![Step::Key(list.to_owned()), Step::Index(index)];
        let known = format!("{list}.{}", in_words(rest));
        Self::build(path, steps, &known, rest, &format!("{list}[{index}]"))
    }

    /// `known` is the name by which the schema knows the parameter.
    fn build(
        path: &str,
        mut steps: Vec<Step>,
        known: &str,
        rest: &[&str],
        owner: &str,
    ) -> Result<Self, WorkshopError> {
        let all = explain_all();
        let Some(found) = all.iter().find(|e| e.path == known) else {
            return Err(unknown_parameter(path, known, owner, &all));
        };
        // From what `explain` says, which is made from the schema.
        let whole = found.form.as_deref().is_some_and(|f| f.starts_with("a whole number"));
        steps.extend(rest.iter().map(|word| match word.parse() {
            Ok(index) => Step::Index(index),
            Err(_) => Step::Key((*word).to_owned()),
        }));
        Ok(Self { steps, layer: None, whole })
    }

    /// Writes a value, as TOML spells it, into a scene's text; everything else stays as it is.
    pub fn set(&self, document: &mut DocumentMut, value: &str) -> Result<(), WorkshopError> {
        let lost = || WorkshopError::input("the scene is not written as it was when it was read");
        let value: Value =
            value.parse().map_err(|e| WorkshopError::input(format!("{value:?}: {e}")))?;
        let (last, way) = self.steps.split_last().ok_or_else(lost)?;
        let mut at: Node = Node::Table(document.as_table_mut());
        for step in way {
            at = at.step(step).ok_or_else(lost)?;
        }
        at.put(last, value).ok_or_else(lost)
    }
}

impl Address {
    /// What a scene's text says there, as TOML spells it; nothing where it says nothing.
    #[must_use]
    pub fn value(&self, text: &str) -> Option<String> {
        let mut document: DocumentMut = text.parse().ok()?;
        let (last, way) = self.steps.split_last()?;
        let mut at = Node::Table(document.as_table_mut());
        for step in way {
            at = at.step(step)?;
        }
        let value = match (at, last) {
            (Node::Table(table), Step::Key(key)) => table.get(key)?.as_value()?.clone(),
            (Node::Value(Value::Array(list)), Step::Index(index)) => list.get(*index)?.clone(),
            _ => return None,
        };
        Some(value.decorated("", "").to_string())
    }
}

/// A place in a document: TOML has two spellings of tables and of lists.
enum Node<'a> {
    Table(&'a mut dyn TableLike),
    Value(&'a mut Value),
    Tables(&'a mut toml_edit::ArrayOfTables),
}

impl<'a> Node<'a> {
    fn of(item: &'a mut Item) -> Option<Self> {
        match item {
            Item::Table(table) => Some(Self::Table(table)),
            Item::Value(value) => Some(Self::value(value)),
            Item::ArrayOfTables(tables) => Some(Self::Tables(tables)),
            Item::None => None,
        }
    }

    fn value(value: &'a mut Value) -> Self {
        match value {
            Value::InlineTable(table) => Self::Table(table),
            other => Self::Value(other),
        }
    }

    fn step(self, step: &Step) -> Option<Self> {
        match (self, step) {
            (Self::Table(table), Step::Key(key)) => {
                if !table.contains_key(key) {
                    // A table left to its defaults is written, in braces, when something in it changes.
                    table.insert(key, Item::Value(Value::InlineTable(Default::default())));
                }
                Self::of(table.get_mut(key)?)
            }
            (Self::Tables(tables), Step::Index(index)) => {
                Some(Self::Table(tables.get_mut(*index)?))
            }
            (Self::Value(Value::Array(list)), Step::Index(index)) => {
                list.get_mut(*index).map(Self::value)
            }
            _ => None,
        }
    }

    fn put(self, step: &Step, value: Value) -> Option<()> {
        match (self, step) {
            (Self::Table(table), Step::Key(key)) => match table.get_mut(key) {
                Some(Item::Value(old)) => replace(old, value),
                _ => append(table, key, value),
            },
            (Self::Value(Value::Array(list)), Step::Index(index)) => {
                replace(list.get_mut(*index)?, value);
            }
            _ => return None,
        }
        Some(())
    }
}

/// Adds a key behind the others; the space before a closing brace stays there.
fn append(table: &mut dyn TableLike, key: &str, mut value: Value) {
    if let Some((_, Item::Value(last))) = table.iter_mut().last() {
        let suffix = last.decor().suffix().and_then(|s| s.as_str()).unwrap_or_default().to_owned();
        if !suffix.is_empty() && suffix.chars().all(|c| c == ' ') {
            last.decor_mut().set_suffix("");
            *value.decor_mut() = toml_edit::Decor::new(" ", suffix);
        }
    }
    table.insert(key, Item::Value(value));
}

/// Puts a value in the place of another, with the space and the comment around it.
fn replace(old: &mut Value, mut new: Value) {
    *new.decor_mut() = old.decor().clone();
    *old = new;
}

/// Indices are not part of a parameter's name.
fn in_words(words: &[&str]) -> String {
    let words: Vec<&str> = words.iter().filter(|w| w.parse::<usize>().is_err()).copied().collect();
    words.join(".")
}

/// One of a list, by name or by index, and the words after it.
fn item<'w>(
    what: &str,
    names: &[&str],
    path: &str,
    words: &'w [&'w str],
) -> Result<(usize, &'w [&'w str]), WorkshopError> {
    let (given, rest) = words.split_first().map_or(("", words), |(g, r)| (*g, r));
    let by_name = names.iter().position(|n| !n.is_empty() && *n == given);
    let by_index = given.parse().ok().filter(|i: &usize| *i < names.len());
    match by_name.or(by_index) {
        Some(_) if rest.is_empty() => {
            Err(WorkshopError::input(format!("{path}: which parameter of {what} {given:?}?")))
        }
        Some(index) => Ok((index, rest)),
        None => {
            let known: Vec<&str> = names.iter().filter(|n| !n.is_empty()).copied().collect();
            let help = match nearest_name(given, known.iter().copied()) {
                Some(near) => format!("did you mean {near:?}?"),
                None if known.is_empty() => format!("there are {} of them, from 0", names.len()),
                None => format!("there are: {}", known.join(", ")),
            };
            Err(WorkshopError::advised(format!("{path}: there is no {what} {given:?}"), help))
        }
    }
}

fn unknown_parameter(
    path: &str,
    known: &str,
    owner: &str,
    all: &[frisson_io::scene::Explanation],
) -> WorkshopError {
    let table = known.rsplit_once('.').map_or("", |(table, _)| table);
    let kind = known.split('.').next().unwrap_or_default();
    // Among its neighbours first, then anywhere in the layer.
    let neighbours = all.iter().map(|e| e.path.as_str()).filter(|p| {
        let inside = if table.is_empty() { Some(*p) } else { p.strip_prefix(table) };
        inside.is_some_and(|rest| rest.trim_start_matches('.').split('.').count() == 1)
    });
    let word = known.rsplit('.').next().unwrap_or_default();
    let begun = neighbours.clone().find(|p| {
        let last = p.rsplit('.').next().unwrap_or_default();
        word.len() > 2 && last.starts_with(word)
    });
    let near = begun.map(str::to_owned).or_else(|| nearest_name(known, neighbours)).or_else(|| {
        let below = |p: &&str| p.starts_with(kind) && p.ends_with(&format!(".{word}"));
        all.iter().map(|e| e.path.as_str()).find(below).map(str::to_owned)
    });
    let short = |p: &str| p.strip_prefix(&format!("{kind}.")).unwrap_or(p).to_owned();
    let help = match near {
        Some(near) => format!("did you mean {:?}?", short(&near)),
        None => format!("frisson explain {kind} lists its parameters"),
    };
    WorkshopError::advised(format!("{path}: {owner} has no parameter {:?}", short(known)), help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const SCENE: &str = "\
frisson = 2
frames = [0, 9] # a short one

[actors.cat]
source = \"builtin:cat\"

[[layers]]
# The belly.
flesh = { name = \"belly\", on = \"cat\", from = \"spine_01\", to = [\"chest\"], frequency_hz = 3.2 } # soft

[[layers]]
[layers.cloth]
name = \"cape\" # of the cat
on = \"cat\"
thickness = 0.1   # wide
substeps = 5
";

    fn scene() -> SceneFile {
        SceneFile::parse(Path::new("s.toml"), SCENE).expect("a scene")
    }

    fn set(path: &str, value: &str) -> String {
        let mut document: DocumentMut = SCENE.parse().expect("TOML");
        Address::find(&scene(), path).expect(path).set(&mut document, value).expect(path);
        document.to_string()
    }

    /// One value is changed, and not one other byte.
    #[test]
    fn a_value_changes_and_nothing_else_does() {
        for (path, value, from, to) in [
            ("layers.belly.frequency_hz", "4.5", "frequency_hz = 3.2", "frequency_hz = 4.5"),
            ("belly.frequency_hz", "4.5", "frequency_hz = 3.2", "frequency_hz = 4.5"),
            ("layers.0.flesh.frequency_hz", "4.5", "frequency_hz = 3.2", "frequency_hz = 4.5"),
            ("layers.cape.thickness", "0.25", "thickness = 0.1 ", "thickness = 0.25 "),
            ("frames", "[0, 4]", "[0, 9]", "[0, 4]"),
            ("frames[1]", "4", "[0, 9]", "[0, 4]"),
            ("actors.cat.source", "\"builtin:dog\"", "builtin:cat", "builtin:dog"),
        ] {
            assert_eq!(set(path, value), SCENE.replace(from, to), "{path}");
        }
    }

    #[test]
    fn what_stands_there_is_read() {
        let value = |path: &str| Address::find(&scene(), path).expect(path).value(SCENE);
        assert_eq!(value("belly.frequency_hz").as_deref(), Some("3.2"));
        assert_eq!(value("layers.cape.thickness").as_deref(), Some("0.1"));
        assert_eq!(value("frames").as_deref(), Some("[0, 9]"));
        assert_eq!(value("belly.damping_ratio"), None);
    }

    #[test]
    fn what_is_not_written_yet_is_added() {
        let text = set("belly.damping_ratio", "0.3");
        assert!(text.contains("frequency_hz = 3.2, damping_ratio = 0.3 } # soft"), "{text}");
        assert!(set("gravity", "[0, -5, 0]").contains("gravity = [0, -5, 0]"));
    }

    #[test]
    fn unknown_names_are_told_with_a_suggestion() {
        let said = |path: &str| match Address::find(&scene(), path) {
            Err(WorkshopError::Input { text, help }) => {
                format!("{text}; {}", help.unwrap_or_default())
            }
            other => format!("{other:?}"),
        };
        for (path, words) in [
            ("layers.bely.frequency_hz", "there is no layer \"bely\"; did you mean \"belly\"?"),
            (
                "belly.freqency_hz",
                "has no parameter \"freqency_hz\"; did you mean \"frequency_hz\"?",
            ),
            ("belly.freq", "did you mean \"frequency_hz\"?"),
            ("layers.belly", "which parameter"),
            ("actors.dog.clip", "there is no actor \"dog\""),
            ("gravty", "did you mean \"gravity\"?"),
        ] {
            assert!(said(path).contains(words), "{path}: {}", said(path));
        }
        let whole = Address::find(&scene(), "layers.cape.substeps").expect("a count");
        assert!(whole.whole && whole.layer.as_deref() == Some("cape"));
    }
}
