//! A lighter scene for a first look: the same motion of fewer things.

use frisson::layers::LayerParams;
use frisson_io::scene::Scene;
use serde_json::{Value, json};

/// Wisps, at most.
const DRAFT_WISPS: u64 = 48;
/// Strands drawn of each wisp, at most, and points along each.
const DRAFT_STRANDS: u64 = 16;
const DRAFT_POINTS: u64 = 10;
/// Steps of the chains and of their interactions in a tick, at most.
const DRAFT_PARTNERS: u64 = 3;
/// Cells along the edge of a built-in sheet, at most.
const DRAFT_CELLS: u64 = 24;
/// How hard cloth is solved.
const DRAFT_QUALITY: f64 = 0.5;
/// Seeds of soft bodies instead of their surface.
const DRAFT_SURFACE: &str = "seeds";
/// Seeds of a layer of soft bodies together: a tick costs as much as there are of them. And of one primitive: fewer than
/// the least are refused, more than the most show nothing that a draft is for.
const DRAFT_SEEDS: u64 = 256;
const DRAFT_SEEDS_OF_ONE: std::ops::RangeInclusive<u64> = 16..=64;

/// Makes heavy layers light.
pub fn lighten(scene: &mut Scene) {
    coarsen(scene);
    for layer in &mut scene.layers {
        let Ok(mut value) = serde_json::to_value(&*layer) else { continue };
        let Some((kind, params)) =
            value.as_object_mut().and_then(|o| o.iter_mut().next()).map(|(k, v)| (k.clone(), v))
        else {
            continue;
        };
        lighten_layer(&kind, params);
        // What a draft cannot say is left as it is.
        if let Ok(light) = serde_json::from_value::<LayerParams>(value) {
            *layer = light;
        }
    }
}

fn lighten_layer(kind: &str, params: &mut Value) {
    match kind {
        "hair" => {
            at_most(&mut params["wisps"], DRAFT_WISPS);
            at_most(&mut params["strands"]["per_wisp"], DRAFT_STRANDS);
            at_most(&mut params["strands"]["points"], DRAFT_POINTS);
            at_most(&mut params["interaction"]["most_partners"], DRAFT_PARTNERS);
        }
        "cloth" => {
            // The shape of the garment is kept: only what was added to it goes.
            at_most(&mut params["subdivide"], 0);
            if params["quality"].as_f64().is_some_and(|q| q > DRAFT_QUALITY) {
                params["quality"] = json!(DRAFT_QUALITY);
            }
        }
        // A cap of few faces instead of the shape that it would have.
        "drops" if params["shape"]["detail"] == "fine" => {
            params["shape"]["detail"] = json!("coarse")
        }
        "wrinkles" => at_most(&mut params["max_level"], 2),
        "soft" => {
            params["surface"] = json!(DRAFT_SURFACE);
            // A preview has no contact surfaces.
            params["contacts"] = json!(false);
            let seeds = DRAFT_SEEDS / primitives(params).max(1);
            let [least, most] = [*DRAFT_SEEDS_OF_ONE.start(), *DRAFT_SEEDS_OF_ONE.end()];
            at_most(&mut params["seeds"], seeds.clamp(least, most));
        }
        _ => {}
    }
}

/// Primitives of all objects of a layer of soft bodies.
fn primitives(params: &Value) -> u64 {
    let objects = params["objects"].as_array().into_iter().flatten();
    objects.filter_map(|o| o["primitives"].as_array()).map(|p| p.len() as u64).sum()
}

fn at_most(value: &mut Value, most: u64) {
    if value.as_u64().is_some_and(|v| v > most) {
        *value = json!(most);
    }
}

/// Built-in sheets get fewer cells, where no layer names their vertices or triangles by number.
fn coarsen(scene: &mut Scene) {
    let names_numbers = scene.layers.iter().any(|layer| {
        let value = serde_json::to_value(layer).unwrap_or_default();
        holds(&value, &|key, value| matches!(key, "vertices" | "triangle") && !value.is_null())
    });
    let has_cloth = scene.layers.iter().any(|l| matches!(l, LayerParams::Cloth(_)));
    if names_numbers || !has_cloth {
        return;
    }
    for (_, actor) in &mut scene.actors.0 {
        if let Some(source) = fewer_cells(&actor.source) {
            actor.source = source;
        }
    }
}

/// A built-in source with fewer cells, where it has too many.
fn fewer_cells(source: &str) -> Option<String> {
    let (name, query) = source.strip_prefix("builtin:")?.split_once('?')?;
    let cells = |pair: &str| pair.strip_prefix("cells=")?.parse::<u64>().ok();
    query.split('&').find_map(cells).filter(|c| *c > DRAFT_CELLS)?;
    let light = |pair: &str| match cells(pair) {
        Some(_) => format!("cells={DRAFT_CELLS}"),
        None => pair.to_owned(),
    };
    let query: Vec<String> = query.split('&').map(light).collect();
    Some(format!("builtin:{name}?{}", query.join("&")))
}

/// Whether a key and value like that are anywhere in there.
fn holds(value: &Value, wanted: &dyn Fn(&str, &Value) -> bool) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(k, v)| wanted(k, v) || holds(v, wanted)),
        Value::Array(items) => items.iter().any(|v| holds(v, wanted)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisson_io::scene::SceneFile;
    use std::path::Path;

    fn light(text: &str) -> Scene {
        let mut scene = SceneFile::parse(Path::new("shot.toml"), text).unwrap().scene;
        let whole = scene.clone();
        lighten(&mut scene);
        assert_ne!(scene, whole);
        scene
    }

    #[test]
    fn a_draft_is_lighter_and_still_a_scene() {
        let hair = light(include_str!("../scenes/hair-long-straight.toml"));
        let value = serde_json::to_value(&hair.layers[0]).unwrap();
        assert_eq!(value["hair"]["strands"]["per_wisp"], DRAFT_STRANDS);
        assert_eq!(value["hair"]["wisps"], DRAFT_WISPS);
        let soft = light(include_str!("../scenes/soft-muscles.toml"));
        let value = serde_json::to_value(&soft.layers[0]).unwrap();
        assert_eq!(value["soft"]["surface"], DRAFT_SURFACE);
        // Sixteen muscles share them; a body alone has as many as one may.
        assert_eq!(value["soft"]["seeds"], 16);
        let few = light(include_str!("../scenes/soft-two-points.toml"));
        assert_eq!(serde_json::to_value(&few.layers[0]).unwrap()["soft"]["seeds"], 64);
    }

    /// Prints how long a frame of every scene takes in a draft, with what is packed of it; `FRISSON_STUDIO_LAYERS`
    /// chooses scenes by the start of their names. No limit is held, the machine may be busy.
    #[test]
    #[ignore = "slow: measures"]
    fn drafts_of_the_gallery() {
        use crate::engine::Order;
        use crate::live::Live;
        use crate::wire::{Seen, Topologies, pack};
        let chosen = std::env::var("FRISSON_STUDIO_LAYERS").unwrap_or_default();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().flatten().map(|e| e.path()).collect();
        files.sort();
        for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "toml")) {
            let name = path.file_stem().unwrap().to_string_lossy();
            if !chosen.is_empty() && !chosen.split(' ').any(|c| name.starts_with(c)) {
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            let scene = SceneFile::parse(path, &text).unwrap();
            let reveal = crate::reveal::Reveal::default();
            let order =
                Order { scene, draft: true, reveal, at: 0, again: false, revision: 1, hasty: None };
            let begun = std::time::Instant::now();
            let mut live = match Live::build(&order) {
                Ok(live) => live,
                Err(_) => {
                    println!("{name}: cannot be built");
                    continue;
                }
            };
            let built = begun.elapsed().as_secs_f64() * 1e3;
            let mut topologies = Topologies::numbered(1, 1);
            let mut times = Vec::new();
            let begun = std::time::Instant::now();
            while times.len() < 40 && begun.elapsed().as_secs_f64() < 8.0 {
                let started = std::time::Instant::now();
                if !live.advance(&mut frisson::stage::NoObserver).unwrap_or(false) {
                    break;
                }
                let (frame, names, reports) = live.shown(reveal);
                let seen = Seen { frame, names: &names, reports: &reports, insides: &[] };
                let _ = pack(&seen, &mut topologies);
                times.push(started.elapsed().as_secs_f64() * 1e3);
            }
            times.sort_by(f64::total_cmp);
            let Some(middle) = times.get(times.len() / 2) else { continue };
            println!(
                "{name}: {middle:.1} ms a frame, worst {:.1}, of {}; built in {built:.0} ms",
                times[times.len() - 1],
                times.len()
            );
        }
    }

    #[test]
    fn sheets_get_coarser_unless_their_vertices_are_named() {
        let text = include_str!("../scenes/cloth-flag.toml");
        let sources =
            |s: &Scene| s.actors.0.iter().map(|(_, a)| a.source.clone()).collect::<Vec<_>>();
        assert_eq!(sources(&light(text)), ["builtin:sheet?cells=24&size=1.2&height=0"]);
        let pinned = text.replacen("{ region = \"left\" }", "{ vertices = [3] }", 1);
        assert_eq!(sources(&light(&pinned)), ["builtin:sheet?cells=40&size=1.2&height=0"]);
    }
}
