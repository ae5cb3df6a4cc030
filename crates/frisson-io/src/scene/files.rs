//! Files that layers name: lists of vertices, painted masks, tables of drops, guides of hair. They are read into the
//! parameters, so that the engine knows no file and a change of one is a change of the scene.

use std::path::Path;

use frisson::layers::LayerParams;
use serde_json::{Value, json};

use super::drop_points::read_points;
use super::grooms::read_guides;
use crate::gltf::decode_image;
use crate::inputs::InputSet;

/// A file that cannot be used.
pub(super) struct BadFile {
    /// The layer that names it.
    pub layer: usize,
    /// What is wrong.
    pub problem: String,
}

/// The layers with what the files say in place of their names.
pub(super) fn read_selection_files(
    layers: &[LayerParams],
    folder: &Path,
    read: &InputSet,
    fps: f64,
) -> Result<Vec<LayerParams>, BadFile> {
    let one = |(layer, params): (usize, &LayerParams)| {
        let bad = |problem: String| BadFile { layer, problem };
        let mut value = serde_json::to_value(params).map_err(|e| bad(e.to_string()))?;
        // Untouched parameters are handed on as they are: a round trip through JSON costs, and lists may be long.
        if !fill(&mut value, folder, (read, fps)).map_err(bad)? {
            return Ok(params.clone());
        }
        serde_json::from_value(value).map_err(|e| bad(e.to_string()))
    };
    layers.iter().enumerate().map(one).collect()
}

/// Fills in every selection below a value; says whether there was something to fill in.
fn fill(value: &mut Value, folder: &Path, (read, fps): (&InputSet, f64)) -> Result<bool, String> {
    let mut found = false;
    match value {
        Value::Array(items) => {
            for item in items {
                found |= fill(item, folder, (read, fps))?;
            }
        }
        Value::Object(map) => {
            if let Some(Value::String(name)) = map.remove("vertices_file") {
                let listed =
                    read_indices(folder, &name, read).map_err(|e| format!("{name}: {e}"))?;
                let given = map.get("vertices").and_then(Value::as_array);
                // All that is given must hold.
                let kept = |v: &u32| given.is_none_or(|all| all.contains(&json!(v)));
                let kept: Vec<u32> = listed.into_iter().filter(kept).collect();
                map.insert("vertices".to_owned(), json!(kept));
                found = true;
            }
            if let Some(Value::String(name)) = map.remove("rows_file") {
                let listed = read_rows(folder, &name, (read, fps));
                let listed = listed.map_err(|e| format!("{name}: {e}"))?;
                let mut rows =
                    map.get("rows").and_then(Value::as_array).cloned().unwrap_or_default();
                // Rows in the scene come first: a file replaced by another leaves their numbers alone.
                rows.extend(listed.iter().map(|row| json!(row)));
                map.insert("rows".to_owned(), json!(rows));
                found = true;
            }
            if let Some(Value::String(name)) = map.remove("guides_file") {
                let listed =
                    read_guides(folder, &name, read).map_err(|e| format!("{name}: {e}"))?;
                let mut guides =
                    map.get("guides").and_then(Value::as_array).cloned().unwrap_or_default();
                guides.extend(listed.iter().map(|guide| json!(guide)));
                map.insert("guides".to_owned(), json!(guides));
                found = true;
            }
            if let Some(image) = map.get_mut("image").and_then(Value::as_object_mut)
                && let Some(name) = image.get("file").and_then(Value::as_str).map(str::to_owned)
            {
                let channel = image.get("channel").and_then(Value::as_str).unwrap_or("r");
                let pixels = read_mask(folder, &name, channel, read);
                // Its name stays beside the pixels: messages and the studio speak of it.
                image.insert("pixels".to_owned(), pixels.map_err(|e| format!("{name}: {e}"))?);
                found = true;
            }
            for (_, part) in map.iter_mut() {
                found |= fill(part, folder, (read, fps))?;
            }
        }
        _ => {}
    }
    Ok(found)
}

/// Numbers between spaces, commas and line ends; `#` begins a remark.
fn read_indices(folder: &Path, name: &str, read: &InputSet) -> Result<Vec<u32>, String> {
    let bytes = read.read_beside(Some(folder), name).map_err(|e| e.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())?;
    let mut indices = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words = line.split(|c: char| c == ',' || c.is_whitespace()).filter(|w| !w.is_empty());
        for word in words {
            let bad = |_| format!("line {}: {word:?} is no vertex index", number + 1);
            indices.push(word.parse().map_err(bad)?);
        }
    }
    Ok(indices)
}

/// Lines of numbers between spaces, commas, semicolons or tabs; `#` begins a remark, a first line of words
/// is skipped. Or the points of an Alembic file.
fn read_rows(
    folder: &Path,
    name: &str,
    (read, fps): (&InputSet, f64),
) -> Result<Vec<Vec<f64>>, String> {
    let ending = Path::new(name).extension().map(|e| e.to_string_lossy().to_lowercase());
    if ending.is_some_and(|e| ["abc", "usd", "usda", "usdc", "usdz"].contains(&e.as_str())) {
        let path = read.path_beside(Some(folder), name).map_err(|e| e.to_string())?;
        return read_points(&path, fps, read);
    }
    let bytes = read.read_beside(Some(folder), name).map_err(|e| e.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())?;
    let mut rows = Vec::new();
    // Spreadsheets begin their text with a byte order mark.
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let between = |c: char| c == ',' || c == ';' || c.is_whitespace();
        let words = line.split(between).filter(|w| !w.is_empty());
        let row: Result<Vec<f64>, &str> = words.map(|w| w.parse().map_err(|_| w)).collect();
        match row {
            Ok(row) if row.is_empty() => {}
            Ok(row) => rows.push(row),
            // A heading.
            Err(_) if number == 0 => {}
            Err(word) => return Err(format!("line {}: {word:?} is no number", number + 1)),
        }
    }
    Ok(rows)
}

fn read_mask(folder: &Path, name: &str, channel: &str, read: &InputSet) -> Result<Value, String> {
    let bytes = read.read_beside(Some(folder), name).map_err(|e| e.to_string())?;
    let image = decode_image(&bytes, read)?;
    let Some(offset) = ["r", "g", "b", "a"].iter().position(|c| *c == channel) else {
        return Err(format!("there is no channel {channel:?}: give r, g, b or a"));
    };
    let levels: Vec<u8> = image.rgba.chunks_exact(4).map(|p| p[offset]).collect();
    Ok(json!({ "width": image.width, "height": image.height, "levels": levels }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisson::layers::flesh::FleshParams;
    use frisson::stage::{MaskImage, MaskPixels, Selection};

    fn with(selection: Selection) -> Vec<LayerParams> {
        let mut params = FleshParams::new("belly", "cat", "a", &["b"]);
        params.selection = Some(selection);
        vec![LayerParams::Flesh(params)]
    }

    fn selection(layers: &[LayerParams]) -> Selection {
        match &layers[0] {
            LayerParams::Flesh(params) => params.selection.clone().expect("a selection"),
            _ => panic!("flesh"),
        }
    }

    #[test]
    fn lists_and_masks_are_read_into_the_parameters() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("list.txt"), "# belly\n1, 2 3\n7 # navel\n")
            .expect("written");
        let listed = Selection {
            vertices_file: Some("list.txt".to_owned()),
            vertices: Some(vec![2, 7, 9]),
            ..Selection::default()
        };
        let read = read_selection_files(&with(listed), folder.path(), &InputSet::new(), 25.0)
            .map_err(|e| e.problem);
        let read = selection(&read.expect("a list"));
        assert_eq!((read.vertices, read.vertices_file), (Some(vec![2, 7]), None));

        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().expect("a header");
        writer.write_image_data(&[10, 20, 30, 40, 50, 60]).expect("pixels");
        writer.finish().expect("an end");
        std::fs::write(folder.path().join("mask.png"), bytes).expect("written");
        let painted = |channel: &str| Selection {
            image: Some(MaskImage {
                file: "mask.png".to_owned(),
                channel: Some(channel.to_owned()),
                pixels: None,
            }),
            ..Selection::default()
        };
        let read = read_selection_files(&with(painted("g")), folder.path(), &InputSet::new(), 25.0)
            .map_err(|e| e.problem);
        let pixels = selection(&read.expect("a mask")).image.and_then(|i| i.pixels);
        assert_eq!(pixels, Some(MaskPixels { width: 2, height: 1, levels: vec![20, 50] }));
        let refused =
            read_selection_files(&with(painted("x")), folder.path(), &InputSet::new(), 25.0);
        assert!(refused.is_err_and(|e| e.problem.contains("channel")));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("list.txt"), "1 2\nthree\n").expect("written");
        let listed = |file: &str| {
            with(Selection { vertices_file: Some(file.to_owned()), ..Selection::default() })
        };
        let problem = |file: &str| {
            read_selection_files(&listed(file), folder.path(), &InputSet::new(), 25.0)
                .err()
                .map(|e| e.problem)
        };
        assert_eq!(
            problem("list.txt").as_deref(),
            Some("list.txt: line 2: \"three\" is no vertex index")
        );
        assert!(problem("none.txt").is_some_and(|p| p.starts_with("none.txt: ")));
        let plain = with(Selection::default());
        assert!(
            read_selection_files(&plain, folder.path(), &InputSet::new(), 25.0)
                .is_ok_and(|l| l == plain)
        );
    }

    #[test]
    fn tables_of_drops_are_read_into_their_source() {
        use frisson::layers::drops::{DropsParams, SourceParams};
        let folder = tempfile::tempdir().expect("a folder");
        let write = |text: &str| std::fs::write(folder.path().join("drops.csv"), text).unwrap();
        let given: DropsParams = serde_json::from_value(json!({ "name": "d", "on": "m",
            "sources": [{ "list": { "rows": [[0, 0, 0, 0, 1e-5]], "rows_file": "drops.csv" } }] }))
        .expect("parameters");
        let layers = [LayerParams::Drops(given)];
        let rows = || {
            let read = read_selection_files(&layers, folder.path(), &InputSet::new(), 25.0);
            let read = read.map_err(|e| e.problem)?;
            let LayerParams::Drops(params) = &read[0] else { panic!("drops") };
            let SourceParams::List(list) = &params.sources[0] else { panic!("a list") };
            assert!(list.rows_file.is_none());
            Ok::<_, String>(list.rows.clone())
        };
        write("frame, x, y, z, mass\n5, 0.1, 0.2, 0.3, 2e-5\n\n6;1;2;3;1e-6;0;-1;0 # fast\n");
        let found = rows().expect("a table");
        assert_eq!(found[1], [5.0, 0.1, 0.2, 0.3, 2e-5]);
        assert_eq!((found.len(), found[2].len()), (3, 8));
        write("1, 2\n3, four\n");
        let problem = rows().expect_err("a word is no number");
        assert!(problem.contains("line 2") && problem.contains("four"), "{problem}");
    }
}
