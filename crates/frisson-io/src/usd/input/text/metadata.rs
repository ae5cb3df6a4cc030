//! Metadata in round brackets, and times in curly ones.

use std::sync::Arc;

use super::super::Result;
use super::super::layer::{Data, Name, Spec, Value};
use super::lexer::Lexer;
use super::values::read_value;

/// Edits of lists. What a list takes away is not asked for.
pub(super) const EDITS: [&str; 5] = ["prepend", "append", "add", "delete", "reorder"];

/// The name that a field has in both encodings.
fn field_name(word: &str) -> Name {
    match word {
        "inherits" => "inheritPaths".into(),
        "variants" => "variantSelection".into(),
        "variantSets" => "variantSetNames".into(),
        other => other.into(),
    }
}

/// Reads `( … )` into the fields of a spec, if there is one.
pub(super) fn read_metadata(lexer: &mut Lexer<'_>, spec: &mut Spec) -> Result<()> {
    if !lexer.accept(b'(') {
        return Ok(());
    }
    while !lexer.accept(b')') {
        if lexer.is_done() {
            return Err(lexer.wrong("metadata have no end"));
        }
        if [b'"', b'\''].contains(&lexer.peek()) {
            lexer.string()?;
            continue;
        }
        let mut word = lexer.word()?;
        let taken = ["delete", "reorder"].contains(&word);
        if EDITS.contains(&word) {
            word = lexer.word()?;
        }
        if !lexer.accept(b'=') {
            continue;
        }
        read_field(lexer, field_name(word), taken, spec)?;
    }
    Ok(())
}

fn read_field(lexer: &mut Lexer<'_>, name: Name, taken: bool, spec: &mut Spec) -> Result<()> {
    if &*name == "subLayers" {
        return read_sublayers(lexer, spec);
    }
    let data = match &*name {
        "variantSelection" => read_selections(lexer)?,
        _ => read_value(lexer, "")?,
    };
    if taken {
        return Ok(());
    }
    let data = match data {
        // Paths alone are what a list of paths has.
        Data::References(paths) if &*name != "references" && &*name != "payload" => {
            Data::Texts(paths.into_iter().map(|r| r.path).collect())
        }
        other => other,
    };
    spec.fields.push((name, Value::Held(Arc::new(data))));
    Ok(())
}

fn read_sublayers(lexer: &mut Lexer<'_>, spec: &mut Spec) -> Result<()> {
    let Data::References(layers) = read_value(lexer, "")? else { return Ok(()) };
    let offsets = layers.iter().map(|l| (l.offset, l.scale)).collect();
    let names = layers.into_iter().map(|l| l.asset).collect();
    let held = |data| Value::Held(Arc::new(data));
    spec.fields.push(("subLayers".into(), held(Data::Texts(names))));
    spec.fields.push(("subLayerOffsets".into(), held(Data::Offsets(offsets))));
    Ok(())
}

/// `{ string set = "variant" … }`.
fn read_selections(lexer: &mut Lexer<'_>) -> Result<Data> {
    lexer.expect(b'{')?;
    let mut out = Vec::new();
    while !lexer.accept(b'}') {
        lexer.word()?;
        let set = if lexer.peek() == b'"' { lexer.string()? } else { lexer.word()?.to_owned() };
        lexer.expect(b'=')?;
        out.push((set.into(), lexer.string()?.into()));
    }
    Ok(Data::Selections(out))
}

/// `{ 1: value, 2: value, … }`.
pub(super) fn read_samples(lexer: &mut Lexer<'_>, type_name: &str) -> Result<Value> {
    lexer.expect(b'{')?;
    let mut out: Vec<(f64, Value)> = Vec::new();
    while !lexer.accept(b'}') {
        let time = lexer.number().filter(|t| t.is_finite());
        let time = time.ok_or_else(|| lexer.wrong("a time is expected"))?;
        lexer.expect(b':')?;
        out.push((time, Value::Held(Arc::new(read_value(lexer, type_name)?))));
        lexer.accept(b',');
    }
    out.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(Value::Samples(Arc::new(out)))
}
