//! The same scene at another output rate: frames become other numbers, times stay.

use std::sync::OnceLock;

use frisson::stage::Rate;
use frisson_io::scene::{Fps, Scene, scene_schema};
use serde_json::{Number, Value};

use crate::measure::JudgeError;

/// How near to a frame is that frame [frames]: rounding of the ratio of two rates only.
const SAME_FRAME: f64 = 1e-6;

/// Numbers of frames that are not keys, by their names in the scene file.
const FRAME_NUMBERS: [&str; 2] = ["from_frame", "until_frame"];
/// The same in sources of drops.
const SOURCE_FRAMES: [&str; 4] = ["frame", "over", "every", "until"];

/// The scene with every frame number moved to another rate, key frames included.
pub fn retimed(scene: &Scene, rate: Rate) -> Result<Scene, JudgeError> {
    let factor = rate.fps() / scene.fps.0.fps();
    let mut value = serde_json::to_value(scene).map_err(|e| JudgeError::Variant(e.to_string()))?;
    scale(&mut value, &[schema()], factor, false);
    let actors = value.get_mut("actors").and_then(Value::as_object_mut);
    actors.into_iter().flatten().for_each(|(_, a)| scale_keys(a.get_mut("path"), factor));
    let colliders = value.get_mut("colliders").and_then(Value::as_array_mut);
    colliders.into_iter().flatten().for_each(|c| scale_keys(c.get_mut("path"), factor));
    let mut scene: Scene = serde_json::from_value(value)
        .map_err(|e| JudgeError::Variant(format!("at {} frames/s: {e}", rate.fps())))?;
    scene.fps = Fps(rate);
    if let Some([first, last]) = &mut scene.frames {
        let start = *first as f64 * factor;
        if (start - start.round()).abs() > SAME_FRAME {
            let text = format!("frame {first}, the first, is none at {} frames/s", rate.fps());
            return Err(JudgeError::Variant(text + ": start the scene at frame 0"));
        }
        *first = start.round() as i64;
        *last = (*last as f64 * factor + SAME_FRAME).floor() as i64;
    }
    Ok(scene)
}

fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(scene_schema)
}

/// Walks a value beside what the schema may say of it; `nodes` are the alternatives.
fn scale(value: &mut Value, nodes: &[&'static Value], factor: f64, in_source: bool) {
    let nodes = spread(nodes);
    if nodes.iter().any(|n| n.get("x-animated").is_some()) {
        scale_keys(Some(value), factor);
        return;
    }
    match value {
        Value::Object(table) => {
            for (key, item) in table {
                let numbers = FRAME_NUMBERS.contains(&key.as_str());
                if numbers || in_source && SOURCE_FRAMES.contains(&key.as_str()) {
                    scale_number(item, factor);
                }
                let of = |n: &&'static Value| {
                    n.get("properties")
                        .and_then(|p| p.get(key))
                        .or_else(|| n.get("additionalProperties"))
                };
                let inner: Vec<&'static Value> = nodes.iter().filter_map(of).collect();
                scale(item, &inner, factor, in_source || key == "sources");
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let of = |n: &&'static Value| {
                    n.get("prefixItems").and_then(|p| p.get(index)).or_else(|| n.get("items"))
                };
                let inner: Vec<&'static Value> = nodes.iter().filter_map(of).collect();
                scale(item, &inner, factor, in_source);
            }
        }
        _ => {}
    }
}

/// The alternatives behind references and choices.
fn spread(nodes: &[&'static Value]) -> Vec<&'static Value> {
    let mut open: Vec<&'static Value> = nodes.to_vec();
    let mut all = Vec::new();
    while let Some(node) = open.pop() {
        if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
            open.extend(reference.strip_prefix('#').and_then(|p| schema().pointer(p)));
        }
        for key in ["oneOf", "anyOf", "allOf"] {
            open.extend(node.get(key).and_then(Value::as_array).into_iter().flatten());
        }
        all.push(node);
    }
    all
}

/// `[[frame, …], …]`.
fn scale_keys(keys: Option<&mut Value>, factor: f64) {
    for key in keys.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(frame) = key.get_mut(0) {
            scale_number(frame, factor);
        }
    }
}

fn scale_number(value: &mut Value, factor: f64) {
    if let Some(number) = value.as_f64().and_then(|f| Number::from_f64(f * factor)) {
        *value = Value::Number(number);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use frisson_io::scene::SceneFile;

    use super::*;

    #[test]
    fn keys_paths_sources_and_ranges_move_and_nothing_else() {
        let text = "frisson = 1\nfps = 30\nframes = [0, 60]\n\
            [actors.a]\nsource = \"x\"\npath = [[0, 1, 2, 3, 4, 5, 6], [30, 1, 2, 3, 4, 5, 6]]\n\
            [[colliders]]\nname = \"c\"\nshape = { sphere = { center = [0, 0, 0], radius = 1 } }\n\
            move_x = [[15, 1], [45, 2]]\n\
            [[colliders]]\nname = \"k\"\nshape = { sphere = { center = [0, 0, 0], radius = 1 } }\n\
            path = [[0, 1, 2, 3, 4, 5, 6], [60, 1, 2, 3, 4, 5, 6]]\n\
            [[forces]]\nwind = { direction = [1, 0, 0], speed = [[0, 5], [30, 7]], gust_hz = 2 }\n\
            [[layers]]\n[layers.drops]\nname = \"d\"\non = \"a\"\n\
            sources = [{ single = { at = [0, 0, 0], every = 22, frame = 3 } }]\n\
            [[layers]]\ncloth = { name = \"k\", on = \"a\", pressure = [[0, 1], [30, 1.8]] }\n";
        let scene = SceneFile::parse(Path::new("s.toml"), text).unwrap().scene;
        let slow = retimed(&scene, Rate::whole(24)).unwrap();
        let value = serde_json::to_value(&slow).unwrap();
        let at = |path: &str| value.pointer(path).and_then(Value::as_f64).unwrap();
        assert_eq!(slow.frames, Some([0, 48]));
        assert_eq!(at("/actors/a/path/1/0"), 24.0);
        assert_eq!(at("/actors/a/path/1/1"), 1.0);
        assert_eq!(at("/colliders/1/path/1/0"), 48.0);
        assert_eq!([at("/colliders/0/move_x/0/0"), at("/colliders/0/move_x/1/0")], [12.0, 36.0]);
        assert_eq!([at("/forces/0/wind/speed/1/0"), at("/forces/0/wind/gust_hz")], [24.0, 2.0]);
        let source = "/layers/0/drops/sources/0/single";
        assert_eq!(at(&format!("{source}/every")), 22.0 * 0.8);
        assert_eq!(at(&format!("{source}/frame")), 3.0 * 0.8);
        assert_eq!(
            [at("/layers/1/cloth/pressure/1/0"), at("/layers/1/cloth/pressure/1/1")],
            [24.0, 1.8]
        );
        let back = retimed(&slow, Rate::whole(30)).unwrap();
        assert_eq!(back.frames, scene.frames);
        let late = Scene { frames: Some([1, 60]), ..scene };
        assert!(retimed(&late, Rate::whole(24)).is_err(), "it would start at another time");
    }
}
