//! Layers that are switched off: their lines stay in the text as comments, at their place.

use toml_edit::{Document, Item};

/// What stands before every line of a layer that is off.
pub const OFF: &str = "#off ";

/// A layer that is off.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OffLayer {
    /// Its first line, from 1.
    pub line: usize,
    /// Kind, as spelled in scene files.
    pub kind: String,
    /// Name.
    pub name: String,
}

/// Comments a layer out. Nothing where there is no such layer.
#[must_use]
pub fn switch_off(text: &str, layer: usize) -> Option<String> {
    let starts = headers(text)?;
    let first = *starts.iter().filter(|(_, is_layer)| *is_layer).nth(layer).map(|(at, _)| at)?;
    let end = starts
        .iter()
        .find(|(at, _)| *at > first)
        .map_or(text.len(), |(at, _)| own_end(text, first, *at));
    let mut new = text[..first].to_owned();
    for line in text[first..end].split_inclusive('\n') {
        if !line.trim().is_empty() {
            new.push_str(OFF);
        }
        new.push_str(line);
    }
    new.push_str(&text[end..]);
    Some(new)
}

/// Switches the layer on that begins at a line, from 1.
#[must_use]
pub fn switch_on(text: &str, line: usize) -> Option<String> {
    let found = off_layers(text).into_iter().find(|l| l.line == line)?;
    let mut new = String::with_capacity(text.len());
    let mut inside = false;
    for (number, one) in text.split_inclusive('\n').enumerate().map(|(i, l)| (i + 1, l)) {
        let begins = one.starts_with(&format!("{OFF}[[layers]]"));
        if number == found.line {
            inside = true;
        } else if begins || !(one.starts_with(OFF) || one.trim().is_empty()) {
            inside = false;
        }
        new.push_str(if inside { one.strip_prefix(OFF).unwrap_or(one) } else { one });
    }
    Some(new)
}

/// All layers that are off.
#[must_use]
pub fn off_layers(text: &str) -> Vec<OffLayer> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (number, line) in text.lines().enumerate() {
        let Some(rest) = line.strip_prefix(OFF) else {
            open &= line.trim().is_empty();
            continue;
        };
        if rest.starts_with("[[layers]]") {
            found.push((number + 1, String::new()));
            open = true;
        }
        if let Some((_, own)) = found.last_mut().filter(|_| open) {
            own.push_str(rest);
            own.push('\n');
        }
    }
    found.into_iter().filter_map(|(line, own)| described(line, &own)).collect()
}

fn described(line: usize, own: &str) -> Option<OffLayer> {
    let document = Document::parse(own).ok()?;
    let layer = document.get("layers")?.as_array_of_tables()?.get(0)?;
    let (kind, item) = layer.iter().next()?;
    let name = item.as_table_like()?.get("name").and_then(Item::as_str).unwrap_or(kind);
    Some(OffLayer { line, kind: kind.to_owned(), name: name.to_owned() })
}

/// Where each top-level section begins, and whether it is a layer.
fn headers(text: &str) -> Option<Vec<(usize, bool)>> {
    let document = Document::parse(text).ok()?;
    let mut found = Vec::new();
    for (key, item) in document.iter() {
        match item {
            Item::Table(table) => gather(table, &mut found),
            Item::ArrayOfTables(tables) => {
                found
                    .extend(tables.iter().filter_map(|t| Some((t.span()?.start, key == "layers"))));
            }
            _ => {}
        }
    }
    found.sort_unstable();
    Some(found)
}

/// The sections of a table: `[actors.cat]` has one, though `actors` itself has none.
fn gather(table: &toml_edit::Table, found: &mut Vec<(usize, bool)>) {
    match table.span().filter(|_| !table.is_implicit()) {
        Some(span) => found.push((span.start, false)),
        None => table.iter().filter_map(|(_, i)| i.as_table()).for_each(|t| gather(t, found)),
    }
}

/// The end of a section without the comment that belongs to the next one.
fn own_end(text: &str, first: usize, next: usize) -> usize {
    let mut end = next;
    for line in text[first..next].split_inclusive('\n').rev() {
        let is_others = line.trim().is_empty() || line.starts_with('#');
        if !is_others {
            break;
        }
        end -= line.len();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
fps = 30

# The belly.
[[layers]]
flesh = { name = \"belly\" }

# The skin.
[[layers]]
[layers.wrinkles]
name = \"skin\" # on the back
points = [
  [1, 2],
]

[camera]
yaw_deg = 3
";

    #[test]
    fn off_and_on_again_is_the_same_text() {
        for layer in [0, 1] {
            let off = switch_off(TEXT, layer).unwrap();
            let found = off_layers(&off);
            assert_eq!(found.len(), 1, "{off}");
            assert_eq!(found[0].name, ["belly", "skin"][layer]);
            assert_eq!(switch_on(&off, found[0].line).unwrap(), TEXT);
        }
    }

    #[test]
    fn both_off_leaves_no_layer_and_a_valid_text() {
        let off = switch_off(&switch_off(TEXT, 0).unwrap(), 0).unwrap();
        assert_eq!(off_layers(&off).len(), 2, "{off}");
        let document = Document::parse(off.as_str()).unwrap();
        assert!(document.get("layers").is_none());
        assert!(document.get("camera").is_some());
        let skin = off_layers(&off)[1].line;
        let on = switch_on(&off, skin).unwrap();
        assert_eq!(off_layers(&on).len(), 1);
    }

    #[test]
    fn a_layer_that_is_not_there_is_no_edit() {
        assert_eq!(switch_off(TEXT, 2), None);
        assert_eq!(switch_on(TEXT, 4), None);
    }
}
