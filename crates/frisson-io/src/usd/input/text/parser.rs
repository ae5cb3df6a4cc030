//! Prims and properties of a text layer.

use std::sync::Arc;

use super::super::layer::{Data, Layer, Name, Spec, SpecKind, Value};
use super::super::{Result, UsdError};
use super::MAGIC;
use super::lexer::Lexer;
use super::metadata::{EDITS, read_metadata, read_samples};
use super::values::read_value;

/// Deepest nesting of prims.
const MOST_LEVELS: usize = 256;

/// Reads a text layer.
pub(in super::super) fn read_layer(text: &[u8], key: &str) -> Result<Layer> {
    if !text.starts_with(MAGIC) {
        return Err(UsdError::NotUsd("it does not begin like a USD text (#usda 1.0)".to_owned()));
    }
    let mut parser = Parser { lexer: Lexer::new(text), specs: vec![Spec::default()] };
    let mut root = Spec::default();
    read_metadata(&mut parser.lexer, &mut root)?;
    while !parser.lexer.is_done() {
        parser.read_item(&mut root, 0)?;
    }
    parser.specs[0] = root;
    Ok(Layer::new(parser.specs, key))
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    specs: Vec<Spec>,
}

fn held(data: Data) -> Value {
    Value::Held(Arc::new(data))
}

impl Parser<'_> {
    fn add(&mut self, spec: Spec) -> usize {
        self.specs.push(spec);
        self.specs.len() - 1
    }

    /// A prim, a set of variants or a property of `parent`.
    fn read_item(&mut self, parent: &mut Spec, level: usize) -> Result<()> {
        if level > MOST_LEVELS {
            return Err(self.lexer.wrong("prims are nested too deep"));
        }
        let word = self.lexer.peeked_word();
        let specifier = ["def", "over", "class"].iter().position(|w| Some(*w) == word);
        if let Some(specifier) = specifier {
            self.lexer.word()?;
            return self.read_prim(parent, specifier, level);
        }
        match word {
            Some("variantSet") => {
                self.lexer.word()?;
                self.read_variants(parent, level)
            }
            _ => self.read_property(parent),
        }
    }

    fn read_prim(&mut self, parent: &mut Spec, specifier: usize, level: usize) -> Result<()> {
        let mut spec = Spec::default();
        spec.fields.push(("specifier".into(), held(Data::Ints(vec![specifier as i64]))));
        if self.lexer.peek() != b'"' {
            let type_name = self.lexer.word()?;
            spec.fields.push(("typeName".into(), held(Data::one_text(type_name))));
        }
        let name: Name = self.lexer.string()?.into();
        self.read_body(&mut spec, level)?;
        let index = self.add(spec);
        parent.prims.push((name, index));
        Ok(())
    }

    /// Metadata and everything in the curly brackets.
    fn read_body(&mut self, spec: &mut Spec, level: usize) -> Result<()> {
        read_metadata(&mut self.lexer, spec)?;
        self.lexer.expect(b'{')?;
        while !self.lexer.accept(b'}') {
            if self.lexer.is_done() {
                return Err(self.lexer.wrong("a prim has no end"));
            }
            self.read_item(spec, level + 1)?;
        }
        Ok(())
    }

    fn read_variants(&mut self, parent: &mut Spec, level: usize) -> Result<()> {
        let set: Name = self.lexer.string()?.into();
        self.lexer.expect(b'=')?;
        self.lexer.expect(b'{')?;
        while !self.lexer.accept(b'}') {
            let variant: Name = self.lexer.string()?.into();
            let mut spec = Spec::default();
            self.read_body(&mut spec, level + 1)?;
            let index = self.add(spec);
            parent.variants.push((set.clone(), variant, index));
        }
        Ok(())
    }

    fn read_property(&mut self, parent: &mut Spec) -> Result<()> {
        let mut word = self.lexer.word()?;
        let mut taken = false;
        let mut uniform = false;
        while ["custom", "uniform", "varying", "config"].contains(&word) || EDITS.contains(&word) {
            taken |= ["delete", "reorder"].contains(&word);
            uniform |= word == "uniform";
            word = self.lexer.word()?;
        }
        let mut type_name = word.to_owned();
        // `reorder nameChildren = […]` names no type.
        if taken && self.lexer.accept(b'=') {
            return read_value(&mut self.lexer, "").map(drop);
        }
        if self.lexer.accept(b'[') {
            self.lexer.expect(b']')?;
            type_name += "[]";
        }
        let is_relationship = type_name == "rel";
        let full = self.lexer.word()?.to_owned();
        let (name, part) = match full.split_once('.') {
            Some((name, part)) => (name, part),
            None => (full.as_str(), ""),
        };
        let kind = if is_relationship { SpecKind::Relationship } else { SpecKind::Attribute };
        let mut spec = Spec { kind, ..Spec::default() };
        if !is_relationship {
            spec.fields.push(("typeName".into(), held(Data::one_text(&type_name))));
        }
        if uniform {
            spec.fields.push(("variability".into(), held(Data::Ints(vec![1]))));
        }
        if self.lexer.accept(b'=') {
            let field = self.read_property_value(&type_name, part, is_relationship)?;
            spec.fields.extend(field.filter(|_| !taken));
        }
        read_metadata(&mut self.lexer, &mut spec)?;
        self.merge(parent, name, spec);
        Ok(())
    }

    fn read_property_value(
        &mut self,
        type_name: &str,
        part: &str,
        is_relationship: bool,
    ) -> Result<Option<(Name, Value)>> {
        if part == "timeSamples" {
            let samples = read_samples(&mut self.lexer, type_name)?;
            return Ok(Some(("timeSamples".into(), samples)));
        }
        let paths = is_relationship || part == "connect";
        let data = read_value(&mut self.lexer, if paths { "rel" } else { type_name })?;
        if !paths {
            // Splines are left out.
            return Ok((part.is_empty()).then(|| ("default".into(), held(assets(data)))));
        }
        let data = match data {
            Data::References(paths) => Data::Texts(paths.into_iter().map(|r| r.path).collect()),
            other => other,
        };
        let name = if is_relationship { "targetPaths" } else { "connectionPaths" };
        Ok(Some((name.into(), held(data))))
    }

    /// A property is written in parts: its value, its times, its connection.
    fn merge(&mut self, parent: &mut Spec, name: &str, spec: Spec) {
        match parent.properties.get(name) {
            Some(&known) => {
                let fields = &mut self.specs[known].fields;
                for (name, value) in spec.fields {
                    fields.retain(|(n, _)| *n != name);
                    fields.push((name, value));
                }
            }
            None => {
                let index = self.add(spec);
                parent.properties.insert(name.into(), index);
            }
        }
    }
}

/// Files as values are names, not references.
fn assets(data: Data) -> Data {
    match data {
        Data::References(list) => Data::Texts(list.into_iter().map(|r| r.asset).collect()),
        other => other,
    }
}
