//! Edits of a scene's text that change what they are about and nothing else: comments, order and spelling
//! of everything beside it stay.

use serde_json::Value as Json;
use toml_edit::{
    Array, ArrayOfTables, Document, DocumentMut, InlineTable, Item, Table, TableLike, Value,
};

use crate::switches::OFF;

/// One edit.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// Gives a value, whether there was one or not.
    Set {
        /// Such as `layers[0].flesh.frequency_hz`.
        path: String,
        /// What.
        value: Json,
    },
    /// Takes a value away, so that the default holds.
    Remove {
        /// Where.
        path: String,
    },
    /// Adds an element to a list, making the list where there is none.
    Append {
        /// The list.
        path: String,
        /// What.
        value: Json,
    },
    /// Puts an element before another of a list of tables at the top of the text.
    Insert {
        /// The other one, such as `layers[1]`.
        path: String,
        /// What.
        value: Json,
    },
}

/// Why an edit cannot be made.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The text is not TOML.
    #[error("the text has mistakes: mend them first")]
    NotToml,
    /// The path leads nowhere.
    #[error("there is no {0} in the scene")]
    NoPlace(String),
    /// The value has no form in TOML.
    #[error("{0} cannot be written")]
    NoForm(String),
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// Makes an edit.
pub fn patch(text: &str, edit: &Edit) -> Result<String, PatchError> {
    if let Edit::Insert { path, value } = edit {
        return insert(text, path, value);
    }
    let mut document: DocumentMut = text.parse().map_err(|_| PatchError::NotToml)?;
    let root = document.as_table_mut();
    match edit {
        Edit::Set { path, value } => set(root, path, value)?,
        Edit::Remove { path } => remove(root, path)?,
        Edit::Append { path, value } => append(root, path, value)?,
        Edit::Insert { .. } => {}
    }
    Ok(document.to_string())
}

/// Every path that a text gives a value to.
#[must_use]
pub fn written(text: &str) -> Vec<String> {
    let Ok(document) = text.parse::<DocumentMut>() else { return Vec::new() };
    let mut found = Vec::new();
    list_table(document.as_table(), "", &mut found);
    found
}

fn list_table(table: &dyn TableLike, path: &str, found: &mut Vec<String>) {
    for (key, item) in table.iter() {
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        list_item(item, &path, found);
    }
}

fn list_item(item: &Item, path: &str, found: &mut Vec<String>) {
    match item {
        Item::Value(value) => list_value(value, path, found),
        Item::Table(table) => list_table(table, path, found),
        Item::ArrayOfTables(tables) => {
            tables
                .iter()
                .enumerate()
                .for_each(|(i, t)| list_table(t, &format!("{path}[{i}]"), found));
        }
        Item::None => {}
    }
}

fn list_value(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::InlineTable(table) => list_table(table, path, found),
        Value::Array(items) if items.iter().any(|v| v.is_inline_table()) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, v)| list_value(v, &format!("{path}[{i}]"), found));
        }
        _ => {}
    }
}

fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let mut pieces = part.split('[');
        let key = pieces.next().filter(|k| !k.is_empty())?;
        steps.push(Step::Key(key.to_owned()));
        for index in pieces {
            steps.push(Step::Index(index.strip_suffix(']')?.parse().ok()?));
        }
    }
    Some(steps)
}

/// Something that can be walked into.
enum Place<'a> {
    Table(&'a mut dyn TableLike),
    Tables(&'a mut ArrayOfTables),
    Array(&'a mut Array),
}

impl<'a> Place<'a> {
    fn of(item: &'a mut Item) -> Option<Self> {
        match item {
            Item::Table(table) => Some(Self::Table(table)),
            Item::ArrayOfTables(tables) => Some(Self::Tables(tables)),
            Item::Value(value) => Self::of_value(value),
            Item::None => None,
        }
    }

    fn of_value(value: &'a mut Value) -> Option<Self> {
        match value {
            Value::InlineTable(table) => Some(Self::Table(table)),
            Value::Array(array) => Some(Self::Array(array)),
            _ => None,
        }
    }

    fn walk(self, step: &Step) -> Option<Self> {
        match (self, step) {
            (Self::Table(table), Step::Key(key)) => {
                if table.get(key).is_none() {
                    // A setting inside a group that is not written yet.
                    table.insert(key, Item::Value(Value::InlineTable(InlineTable::new())));
                }
                Place::of(table.get_mut(key)?)
            }
            (Self::Tables(tables), Step::Index(index)) => {
                Some(Self::Table(tables.get_mut(*index)?))
            }
            (Self::Array(array), Step::Index(index)) => Place::of_value(array.get_mut(*index)?),
            _ => None,
        }
    }
}

fn lead<'a>(root: &'a mut Table, path: &str, steps: &[Step]) -> Result<Place<'a>, PatchError> {
    let mut place = Place::Table(root);
    for step in steps {
        place = place.walk(step).ok_or_else(|| PatchError::NoPlace(path.to_owned()))?;
    }
    Ok(place)
}

fn split(path: &str) -> Result<(Vec<Step>, Step), PatchError> {
    let nowhere = || PatchError::NoPlace(path.to_owned());
    let mut steps = steps(path).ok_or_else(nowhere)?;
    let last = steps.pop().ok_or_else(nowhere)?;
    Ok((steps, last))
}

fn set(root: &mut Table, path: &str, value: &Json) -> Result<(), PatchError> {
    let nowhere = || PatchError::NoPlace(path.to_owned());
    let new = to_toml(value).ok_or_else(|| PatchError::NoForm(value.to_string()))?;
    let (steps, last) = split(path)?;
    match (lead(root, path, &steps)?, last) {
        (Place::Table(table), Step::Key(key)) => match table.get_mut(&key) {
            Some(Item::Value(old)) => replace(old, new),
            Some(other) if !other.is_none() => *other = Item::Value(new),
            _ => {
                table.insert(&key, Item::Value(new));
            }
        },
        (Place::Array(array), Step::Index(index)) => {
            replace(array.get_mut(index).ok_or_else(nowhere)?, new);
        }
        _ => return Err(nowhere()),
    }
    Ok(())
}

/// A value for a value: what stands around it stays.
fn replace(old: &mut Value, mut new: Value) {
    *new.decor_mut() = old.decor().clone();
    *old = new;
}

fn remove(root: &mut Table, path: &str) -> Result<(), PatchError> {
    let nowhere = || PatchError::NoPlace(path.to_owned());
    let (steps, last) = split(path)?;
    match (lead(root, path, &steps)?, last) {
        (Place::Table(table), Step::Key(key)) => table.remove(&key).map(|_| ()).ok_or_else(nowhere),
        (Place::Tables(tables), Step::Index(index)) if index < tables.len() => {
            tables.remove(index);
            Ok(())
        }
        (Place::Array(array), Step::Index(index)) if index < array.len() => {
            array.remove(index);
            Ok(())
        }
        _ => Err(nowhere()),
    }
}

fn append(root: &mut Table, path: &str, value: &Json) -> Result<(), PatchError> {
    let nowhere = || PatchError::NoPlace(path.to_owned());
    let no_form = || PatchError::NoForm(value.to_string());
    let (steps, last) = split(path)?;
    let Step::Key(key) = last else { return Err(nowhere()) };
    let is_root = steps.is_empty();
    let Place::Table(table) = lead(root, path, &steps)? else { return Err(nowhere()) };
    match table.get_mut(&key) {
        Some(Item::ArrayOfTables(tables)) => {
            let mut new = to_table(value).ok_or_else(no_form)?;
            // A line between the elements, as a person would leave.
            new.decor_mut().set_prefix("\n");
            tables.push(new);
        }
        Some(Item::Value(Value::Array(array))) => {
            array.push(to_toml(value).ok_or_else(no_form)?);
        }
        Some(other) if !other.is_none() => return Err(nowhere()),
        _ if is_root && value.is_object() => {
            let mut tables = ArrayOfTables::new();
            let mut new = to_table(value).ok_or_else(no_form)?;
            new.decor_mut().set_prefix("\n");
            tables.push(new);
            table.insert(&key, Item::ArrayOfTables(tables));
        }
        _ => {
            let list: Array = std::iter::once(to_toml(value).ok_or_else(no_form)?).collect();
            table.insert(&key, Item::Value(Value::Array(list)));
        }
    }
    Ok(())
}

/// Tables remember where in the text they stood, so that one between two of them has no place: the lines are put there as
/// they are.
fn insert(text: &str, path: &str, value: &Json) -> Result<String, PatchError> {
    let nowhere = || PatchError::NoPlace(path.to_owned());
    let steps = steps(path).ok_or_else(nowhere)?;
    let [Step::Key(list), Step::Index(index)] = steps.as_slice() else { return Err(nowhere()) };
    let document = Document::parse(text).map_err(|_| PatchError::NotToml)?;
    let other = document.get(list).and_then(Item::as_array_of_tables).and_then(|t| t.get(*index));
    let at = before_remarks(text, other.and_then(Table::span).ok_or_else(nowhere)?.start);
    let new = patch("", &Edit::Append { path: list.clone(), value: value.clone() })?;
    Ok(format!("{}{}\n{}", &text[..at], new.trim_start(), &text[at..]))
}

/// The start of the remarks that stand right above a line: they are about what follows. Layers that are off are not.
fn before_remarks(text: &str, line: usize) -> usize {
    let mut start = line;
    for above in text[..line].split_inclusive('\n').rev() {
        if !above.starts_with('#') || above.starts_with(OFF) {
            break;
        }
        start -= above.len();
    }
    start
}

/// A table of its own, with its values inline.
fn to_table(value: &Json) -> Option<Table> {
    let mut table = Table::new();
    for (key, value) in value.as_object()? {
        table.insert(key, Item::Value(to_toml(value)?));
    }
    Some(table)
}

fn to_toml(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Bool(b) => Value::from(*b),
        Json::String(s) => Value::from(s.as_str()),
        Json::Number(n) => match n.as_i64() {
            Some(i) => Value::from(i),
            None => Value::from(n.as_f64().filter(|f| f.is_finite())?),
        },
        Json::Array(items) => {
            let items: Option<Vec<Value>> = items.iter().map(to_toml).collect();
            Value::Array(items?.into_iter().collect())
        }
        Json::Object(fields) => {
            let mut table = InlineTable::new();
            for (key, value) in fields {
                table.insert(key, to_toml(value)?);
            }
            Value::InlineTable(table)
        }
        Json::Null => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = "\
# A cat.
fps = 30 # film

[[layers]]
flesh = { name = \"belly\", limit = 0.5 } # soft

[[layers]] # second
[layers.wrinkles]
name = \"skin\"
[[layers.wrinkles.tools]]
a = 1 # from
b = 2
";

    fn set_to(path: &str, value: Json) -> String {
        patch(TEXT, &Edit::Set { path: path.to_owned(), value }).unwrap()
    }

    fn changed_lines(new: &str) -> usize {
        TEXT.lines().zip(new.lines()).filter(|(a, b)| a != b).count()
    }

    #[test]
    fn one_value_changes_one_line_and_comments_stay() {
        let new = set_to("layers[0].flesh.limit", json!(0.25));
        assert!(new.contains("limit = 0.25 } # soft"), "{new}");
        assert_eq!(changed_lines(&new), 1);
        let new = set_to(
            "layers[1].wrinkles.tools[0].a",
            json!({ "triangle": 3, "weights": [0.5, 0.5, 0.0] }),
        );
        assert!(new.contains("a = { triangle = 3, weights = [0.5, 0.5, 0.0] } # from"), "{new}");
        assert_eq!(changed_lines(&new), 1);
        let new = set_to("fps", json!(24));
        assert!(new.contains("fps = 24 # film"), "{new}");
    }

    #[test]
    fn what_is_not_there_is_added_and_can_be_taken_away_again() {
        let new = set_to("layers[0].flesh.shape.depth", json!(0.1));
        assert!(new.contains("shape = { depth = 0.1 }"), "{new}");
        let back = patch(&new, &Edit::Remove { path: "layers[0].flesh.shape".to_owned() }).unwrap();
        assert_eq!(back, TEXT);
    }

    #[test]
    fn lists_grow_in_the_form_they_have() {
        let tool = json!({ "a": 5, "b": 6 });
        let path = "layers[1].wrinkles.tools".to_owned();
        let new = patch(TEXT, &Edit::Append { path, value: tool }).unwrap();
        assert!(new.starts_with(TEXT), "{new}");
        assert!(new.ends_with("\n[[layers.wrinkles.tools]]\na = 5\nb = 6\n"), "{new}");
        let collider = json!({ "name": "ball", "shape": { "sphere": { "radius": 0.1 } } });
        let new =
            patch(TEXT, &Edit::Append { path: "colliders".to_owned(), value: collider }).unwrap();
        assert!(new.contains("[[colliders]]\nname = \"ball\"\n"), "{new}");
    }

    #[test]
    fn what_is_put_before_another_leaves_all_else_as_it_was() {
        let remarked = TEXT.replacen("[[layers]] # second", "# Skin.\n[[layers]] # second", 1);
        let value = json!({ "folds": { "name": "folds", "on": "cat" } });
        let put = |text: &str, path: &str| {
            patch(text, &Edit::Insert { path: path.to_owned(), value: value.clone() })
        };
        let new = put(&remarked, "layers[1]").unwrap();
        let own = "[[layers]]\nfolds = { name = \"folds\", on = \"cat\" }\n\n";
        assert_eq!(new, remarked.replacen("# Skin.", &format!("{own}# Skin."), 1));
        let back = patch(&new, &Edit::Remove { path: "layers[1]".to_owned() }).unwrap();
        assert_eq!(back.matches("[[layers]]").count(), 2, "{back}");
        // A layer that is off stays where it was; the first one can be gone before as well.
        let off = TEXT.replacen("[[layers]] # second", "#off [[layers]]\n[[layers]] # second", 1);
        assert!(put(&off, "layers[1]").unwrap().contains(&format!("#off [[layers]]\n{own}")));
        assert!(put(TEXT, "layers[0]").unwrap().contains(&format!("film\n\n{own}[[layers]]\nfl")));
        for nowhere in ["layers[2]", "layers", "fps[0]", "layers[1].wrinkles"] {
            assert!(put(TEXT, nowhere).is_err(), "{nowhere}");
        }
    }

    #[test]
    fn paths_that_lead_nowhere_are_errors() {
        for path in ["layers[7].flesh.limit", "fps.x", "", "layers[", "layers[x].a"] {
            let edit = Edit::Set { path: path.to_owned(), value: json!(1) };
            assert!(patch(TEXT, &edit).is_err(), "{path}");
        }
        assert_eq!(patch("a = ", &Edit::Remove { path: "a".into() }), Err(PatchError::NotToml));
    }

    #[test]
    fn what_is_written_is_known() {
        let paths = written(TEXT);
        for path in ["fps", "layers[0].flesh.limit", "layers[1].wrinkles.tools[0].a"] {
            assert!(paths.iter().any(|p| p == path), "{path}: {paths:?}");
        }
    }
}
