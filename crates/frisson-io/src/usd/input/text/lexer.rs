//! The characters of a text layer, one word at a time.

use super::super::{Result, UsdError};

/// Where in a text.
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
}

/// Whether a byte may stand in a name; names may have letters of any alphabet.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub fn wrong(&self, problem: impl Into<String>) -> UsdError {
        let line =
            1 + self.text[..self.at.min(self.text.len())].iter().filter(|&&b| b == b'\n').count();
        UsdError::damaged(format!("line {line}"), problem)
    }

    /// Past spaces, line ends, separators of metadata and comments.
    fn skip(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'#' => {
                    let line = self.text[self.at..].iter().position(|&b| b == b'\n');
                    self.at = line.map_or(self.text.len(), |n| self.at + n);
                }
                b';' => self.at += 1,
                _ if byte.is_ascii_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    /// The next character that means something; 0 at the end.
    pub fn peek(&mut self) -> u8 {
        self.skip();
        self.text.get(self.at).copied().unwrap_or(0)
    }

    pub fn is_done(&mut self) -> bool {
        self.skip();
        self.at >= self.text.len()
    }

    /// Takes a character if it is the next.
    pub fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte && !self.is_done();
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, byte: u8) -> Result<()> {
        if self.accept(byte) {
            return Ok(());
        }
        let found = char::from(self.peek());
        Err(self.wrong(format!("{:?} is expected, {found:?} is there", char::from(byte))))
    }

    /// A name with its namespaces and what follows a point: `primvars:st.timeSamples`.
    pub fn word(&mut self) -> Result<&'a str> {
        self.skip();
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|&b| !(is_name(b) || b":.".contains(&b)));
        let word = &rest[..end.unwrap_or(rest.len())];
        // Such a sign at the end belongs to what follows.
        let kept = word.iter().rposition(|b| !b":.".contains(b)).map_or(0, |n| n + 1);
        if kept == 0 {
            return Err(self.wrong("a name is expected"));
        }
        self.at += kept;
        std::str::from_utf8(&word[..kept]).map_err(|_| self.wrong("a name is not UTF-8"))
    }

    pub fn peeked_word(&mut self) -> Option<&'a str> {
        let before = self.at;
        let word = self.word().ok();
        self.at = before;
        word
    }

    /// A number, as far as one stands here.
    pub fn number(&mut self) -> Option<f64> {
        self.skip();
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || b"+-.".contains(b)));
        let text = std::str::from_utf8(&rest[..end.unwrap_or(rest.len())]).ok()?;
        let number = text.parse().ok()?;
        self.at += text.len();
        Some(number)
    }

    /// Text between quotes of any kind.
    pub fn string(&mut self) -> Result<String> {
        let quote = self.peek();
        if quote != b'"' && quote != b'\'' {
            return Err(self.wrong("text in quotes is expected"));
        }
        let long = self.text[self.at..].starts_with(&[quote; 3]);
        let mark = if long { 3 } else { 1 };
        self.at += mark;
        let mut out = Vec::new();
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with(&[quote; 3][..mark]) {
                self.at += mark;
                return Ok(String::from_utf8_lossy(&out).into_owned());
            }
            match rest {
                [] => return Err(self.wrong("a text in quotes has no end")),
                [b'\\', escaped, ..] => {
                    out.push(match escaped {
                        b'n' => b'\n',
                        b't' => b'\t',
                        other => *other,
                    });
                    self.at += 2;
                }
                [byte, ..] => {
                    out.push(*byte);
                    self.at += 1;
                }
            }
        }
    }

    fn between(&mut self, open: &str, close: &str) -> Result<&'a str> {
        self.skip();
        let start = self.at + open.len();
        let rest = self.text.get(start..).unwrap_or_default();
        let end = rest.windows(close.len()).position(|w| w == close.as_bytes());
        let end = end.ok_or_else(|| self.wrong(format!("{open} has no {close}")))?;
        self.at = start + end + close.len();
        std::str::from_utf8(&rest[..end]).map_err(|_| self.wrong("a name is not UTF-8"))
    }

    /// `@file@` or `@@@file@@@`.
    pub fn asset(&mut self) -> Result<&'a str> {
        self.skip();
        let mark = if self.text[self.at..].starts_with(b"@@@") { "@@@" } else { "@" };
        self.between(mark, mark)
    }

    /// `<path>`.
    pub fn path(&mut self) -> Result<&'a str> {
        self.between("<", ">")
    }
}
