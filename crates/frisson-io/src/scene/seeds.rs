//! The scene's seed, which is added to every seed in it.

/// Adds a number to every seed, wherever it is in a layer's parameters.
pub(super) fn add_to_seeds(value: &mut serde_json::Value, more: u64) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                match field.as_u64().filter(|_| name == "seed") {
                    Some(seed) => *field = seed.wrapping_add(more).into(),
                    None => add_to_seeds(field, more),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(|i| add_to_seeds(i, more)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_found_at_any_depth_and_nothing_else_is_touched() {
        let mut value = serde_json::json!({
            "wrinkles": { "name": "seed", "tools": [{ "jitter": { "seed": 3, "spacing": 0.4 } }] },
            "drops": { "seed": 7, "seeds": 12 }
        });
        add_to_seeds(&mut value, 10);
        assert_eq!(value["wrinkles"]["tools"][0]["jitter"]["seed"], 13);
        assert_eq!(value["drops"]["seed"], 17);
        assert_eq!(value["drops"]["seeds"], 12);
        assert_eq!(value["wrinkles"]["name"], "seed");
    }
}
