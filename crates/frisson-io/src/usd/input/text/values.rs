//! Values of a text layer.

use super::super::Result;
use super::super::layer::{Data, Name, Reference};
use super::lexer::Lexer;

/// Deepest nesting of brackets.
const MOST_LEVELS: usize = 64;

/// What a value is while it is read.
#[derive(Default)]
struct Gathered {
    numbers: Vec<f64>,
    /// Numbers of the first element of a list.
    extent: usize,
    texts: Vec<Name>,
    references: Vec<Reference>,
    /// `None`, dictionaries.
    other: Option<Data>,
}

/// Reads a value of some type.
pub(super) fn read_value(lexer: &mut Lexer<'_>, type_name: &str) -> Result<Data> {
    let mut found = Gathered::default();
    let is_list = lexer.peek() == b'[';
    gather(lexer, &mut found, 0)?;
    if let Some(other) = found.other {
        return Ok(other);
    }
    if !found.references.is_empty() && found.texts.is_empty() {
        return Ok(Data::References(found.references));
    }
    let base = type_name.trim_end_matches("[]");
    if found.numbers.is_empty() && (!is_list || is_textual(base) || !found.texts.is_empty()) {
        return Ok(Data::Texts(found.texts));
    }
    Ok(numbers(found, is_list, base))
}

fn is_textual(base: &str) -> bool {
    ["token", "string", "asset", "rel", ""].contains(&base)
}

fn numbers(found: Gathered, is_list: bool, base: &str) -> Data {
    let all = found.numbers.len();
    let extent = if is_list { found.extent.max(1) } else { all.max(1) };
    let mut values = found.numbers;
    if base.starts_with("quat") {
        // The text has the real part first.
        values.chunks_exact_mut(4).for_each(|q| q.rotate_left(1));
    }
    let whole = ["int", "uint", "int64", "uint64", "bool", "uchar"].contains(&base);
    match whole {
        true => Data::Ints(values.into_iter().map(|v| v as i64).collect()),
        false => Data::Numbers { extent, values },
    }
}

fn gather(lexer: &mut Lexer<'_>, out: &mut Gathered, level: usize) -> Result<()> {
    if level > MOST_LEVELS {
        return Err(lexer.wrong("brackets are nested too deep"));
    }
    match lexer.peek() {
        b'[' => gather_many(lexer, out, level, b'[', b']'),
        b'(' => gather_many(lexer, out, level, b'(', b')'),
        b'{' => {
            skip_block(lexer, level)?;
            out.other = Some(Data::Other);
            Ok(())
        }
        b'"' | b'\'' => {
            out.texts.push(lexer.string()?.into());
            Ok(())
        }
        b'@' | b'<' => gather_reference(lexer, out),
        _ => gather_word(lexer, out),
    }
}

fn gather_many(
    lexer: &mut Lexer<'_>,
    out: &mut Gathered,
    level: usize,
    open: u8,
    close: u8,
) -> Result<()> {
    lexer.expect(open)?;
    while !lexer.accept(close) {
        // Fast for what most of a file is.
        match lexer.number() {
            Some(number) => out.numbers.push(number),
            None => gather(lexer, out, level + 1)?,
        }
        if level == 0 && open == b'[' && out.extent == 0 {
            out.extent = out.numbers.len();
        }
        lexer.accept(b',');
        if lexer.is_done() {
            return Err(lexer.wrong("a bracket is not closed"));
        }
    }
    Ok(())
}

fn gather_word(lexer: &mut Lexer<'_>, out: &mut Gathered) -> Result<()> {
    if let Some(number) = lexer.number() {
        out.numbers.push(number);
        return Ok(());
    }
    match lexer.word()? {
        "None" => out.other = Some(Data::Block),
        "AnimationBlock" => out.other = Some(Data::Block),
        "true" | "True" => out.numbers.push(1.0),
        "false" | "False" => out.numbers.push(0.0),
        other => out.texts.push(other.into()),
    }
    Ok(())
}

/// `@file@`, `@file@</prim>`, `</prim>`, the first two and the last with `(offset = 1; scale = 2)`.
fn gather_reference(lexer: &mut Lexer<'_>, out: &mut Gathered) -> Result<()> {
    let asset: Name = if lexer.peek() == b'@' { lexer.asset()?.into() } else { "".into() };
    let path: Name = if lexer.peek() == b'<' { lexer.path()?.into() } else { "".into() };
    let (mut offset, mut scale) = (0.0, 1.0);
    if lexer.accept(b'(') {
        while !lexer.accept(b')') {
            let word = lexer.word()?;
            if lexer.accept(b'=') {
                match (word, lexer.number()) {
                    ("offset", Some(number)) => offset = number,
                    ("scale", Some(number)) => scale = number,
                    (_, Some(_)) => {}
                    // customData and its like.
                    (_, None) => {
                        gather(lexer, &mut Gathered::default(), 1)?;
                    }
                }
            }
            lexer.accept(b',');
        }
    }
    out.references.push(Reference { asset, path, offset, scale });
    Ok(())
}

/// Past everything in curly brackets.
fn skip_block(lexer: &mut Lexer<'_>, level: usize) -> Result<()> {
    lexer.expect(b'{')?;
    while !lexer.accept(b'}') {
        if lexer.is_done() {
            return Err(lexer.wrong("a curly bracket is not closed"));
        }
        match lexer.peek() {
            b'=' | b':' | b',' | b'[' | b']' => skip_sign(lexer, level)?,
            _ => gather(lexer, &mut Gathered::default(), level + 1)?,
        }
    }
    Ok(())
}

fn skip_sign(lexer: &mut Lexer<'_>, level: usize) -> Result<()> {
    // A list, or the mark of an array's type: `float[] name`.
    if lexer.peek() == b'[' {
        return gather(lexer, &mut Gathered::default(), level + 1);
    }
    let sign = lexer.peek();
    lexer.expect(sign)
}
