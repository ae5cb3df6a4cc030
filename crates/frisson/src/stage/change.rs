//! What a change of parameters asks for, read from where they are declared.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::LayerError;

/// What new parameters need to take effect, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Nothing is different.
    None,
    /// The next step uses them, without a jump.
    Live,
    /// Rest data are computed anew; the state is kept where it fits.
    Rebuild,
    /// The layer begins anew at the present time.
    Restart,
}

impl Change {
    fn named(name: &str) -> Option<Self> {
        match name {
            "live" => Some(Self::Live),
            "rebuild" => Some(Self::Rebuild),
            "restart" => Some(Self::Restart),
            _ => None,
        }
    }
}

/// The declarations of a parameter struct: its JSON schema, where `x-change` says what a change of a
/// field does. Fields without it are built anew.
pub struct Declarations(Value);

impl Declarations {
    /// Those of a type.
    #[must_use]
    pub fn of<P: JsonSchema>() -> Self {
        Self(schemars::schema_for!(P).to_value())
    }

    /// What has to be done to go from some parameters to others.
    pub fn change<P: Serialize>(&self, old: &P, new: &P) -> Result<Change, LayerError> {
        let value = |p: &P| serde_json::to_value(p).map_err(|e| LayerError::Other(e.to_string()));
        Ok(self.compare(&self.0, &value(old)?, &value(new)?))
    }

    fn compare(&self, schema: &Value, old: &Value, new: &Value) -> Change {
        if old == new {
            return Change::None;
        }
        // Where a field's type is a reference, what stands beside the `$ref` is about this field and goes first.
        let own = schema.get("x-change").and_then(Value::as_str).and_then(Change::named);
        let schema = self.resolved(schema);
        let declared =
            own.or_else(|| schema.get("x-change").and_then(Value::as_str).and_then(Change::named));
        match (old, new) {
            // Only undeclared structs are looked into: a declaration on the field is about all of it.
            (Value::Object(a), Value::Object(b)) if declared.is_none() => {
                let keys = a.keys().chain(b.keys().filter(|k| !a.contains_key(*k)));
                let one = |key: &String| {
                    let (from, to) = (a.get(key), b.get(key));
                    let (from, to) = (from.unwrap_or(&Value::Null), to.unwrap_or(&Value::Null));
                    match self.property(schema, key) {
                        Some(property) => self.compare(property, from, to),
                        None if from == to => Change::None,
                        None => Change::Rebuild,
                    }
                };
                keys.map(one).max().unwrap_or(Change::None)
            }
            (Value::Array(a), Value::Array(b)) if declared.is_none() && a.len() == b.len() => {
                let items = schema.get("items").unwrap_or(&Value::Null);
                a.iter()
                    .zip(b)
                    .map(|(a, b)| self.compare(items, a, b))
                    .max()
                    .unwrap_or(Change::None)
            }
            // A list of another length, another variant of an enum, a plain value.
            _ => declared.unwrap_or(Change::Rebuild),
        }
    }

    /// The schema of a field, in whichever alternative has it.
    fn property<'a>(&'a self, schema: &'a Value, key: &str) -> Option<&'a Value> {
        if let Some(found) = schema.get("properties").and_then(|p| p.get(key)) {
            return Some(found);
        }
        ["anyOf", "oneOf", "allOf"].iter().find_map(|list| {
            let alternatives = schema.get(list)?.as_array()?;
            alternatives.iter().find_map(|s| self.property(self.resolved(s), key))
        })
    }

    /// Follows a reference to where a type is described.
    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let Some(path) = schema.get("$ref").and_then(Value::as_str) else { return schema };
        path.strip_prefix('#').and_then(|p| self.0.pointer(p)).unwrap_or(schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Serialize, JsonSchema)]
    struct Spring {
        #[schemars(extend("x-change" = "live"))]
        frequency: f64,
        #[schemars(extend("x-change" = "restart"))]
        seed: u64,
        name: String,
    }

    #[derive(Clone, Serialize, JsonSchema)]
    struct Layered {
        springs: Vec<Spring>,
        chosen: Option<Spring>,
    }

    #[test]
    fn the_strongest_change_of_any_field_counts() {
        let spring = Spring { frequency: 1.0, seed: 1, name: "a".to_owned() };
        let base = Layered { springs: vec![spring.clone(); 2], chosen: Some(spring.clone()) };
        let declared = Declarations::of::<Layered>();
        let changed = |edit: &dyn Fn(&mut Layered)| {
            let mut new = base.clone();
            edit(&mut new);
            declared.change(&base, &new).unwrap()
        };
        assert_eq!(changed(&|_| ()), Change::None);
        assert_eq!(changed(&|l| l.springs[1].frequency = 2.0), Change::Live);
        assert_eq!(changed(&|l| l.springs[0].name.push('b')), Change::Rebuild);
        assert_eq!(changed(&|l| l.chosen.as_mut().unwrap().frequency = 3.0), Change::Live);
        let both = |l: &mut Layered| (l.springs[0].seed, l.springs[1].frequency) = (2, 2.0);
        assert_eq!(changed(&both), Change::Restart);
        assert_eq!(changed(&|l| l.springs.truncate(1)), Change::Rebuild);
    }
}
