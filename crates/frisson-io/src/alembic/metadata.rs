//! Metadata texts (`key=value;…`), each stored once in the archive and named by a byte.

/// The archive's table of metadata texts.
#[derive(Default)]
pub(super) struct MetadataTable {
    texts: Vec<String>,
}

impl MetadataTable {
    /// Index that says: the text follows here.
    pub(super) const INLINE: u8 = 0xff;
    const CAPACITY: usize = 254;

    pub(super) fn index(&mut self, text: &str) -> u8 {
        if text.is_empty() {
            return 0;
        }
        if let Some(index) = self.texts.iter().position(|t| t == text) {
            return index as u8 + 1;
        }
        // Lengths have one byte, and 0 and 255 of the indices mean something else.
        if text.len() > 0xff || self.texts.len() == Self::CAPACITY {
            return Self::INLINE;
        }
        self.texts.push(text.to_owned());
        self.texts.len() as u8
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for text in &self.texts {
            out.push(text.len() as u8);
            out.extend(text.as_bytes());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbered_from_one_and_overflow_to_inline() {
        let mut table = MetadataTable::default();
        assert_eq!(table.index(""), 0);
        assert_eq!((table.index("a=1"), table.index("b=2"), table.index("a=1")), (1, 2, 1));
        assert_eq!(table.index(&"x".repeat(256)), MetadataTable::INLINE);
        for i in 0..300 {
            table.index(&format!("n={i}"));
        }
        assert_eq!(table.index("n=299"), MetadataTable::INLINE);
        assert_eq!(table.index("b=2"), 2);
    }
}
