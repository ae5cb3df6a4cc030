//! A lighter scene for a first look: the same motion of fewer things.

use frisson::layers::LayerParams;
use frisson_io::scene::Scene;
use serde_json::{Value, json};

/// Strands drawn of each wisp, at most.
const DRAFT_STRANDS: u64 = 20;
/// Seeds of soft bodies instead of their surface.
const DRAFT_SURFACE: &str = "seeds";

/// Makes heavy layers light.
pub fn lighten(scene: &mut Scene) {
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
        "hair" => at_most(&mut params["strands"]["per_wisp"], DRAFT_STRANDS),
        "cloth" => at_most(&mut params["subdivide"], 0),
        "wrinkles" => at_most(&mut params["max_level"], 2),
        "soft" => params["surface"] = json!(DRAFT_SURFACE),
        _ => {}
    }
}

fn at_most(value: &mut Value, most: u64) {
    if value.as_u64().is_some_and(|v| v > most) {
        *value = json!(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisson_io::scene::SceneFile;
    use std::path::Path;

    #[test]
    fn a_draft_is_lighter_and_still_a_scene() {
        let text = include_str!("../../../scenes/hair-long-straight.toml");
        let mut scene = SceneFile::parse(Path::new("hair.toml"), text).unwrap().scene;
        let whole = scene.clone();
        lighten(&mut scene);
        assert_ne!(scene, whole);
        let value = serde_json::to_value(&scene.layers[0]).unwrap();
        assert_eq!(value["hair"]["strands"]["per_wisp"], DRAFT_STRANDS);
    }
}
