//! How much a file from a stranger may ask for. Every limit on inputs is named here and nowhere
//! else; the book's page on limits shows [`Limits::table`].
//!
//! A reader takes the limits from the [`InputSet`](crate::inputs::InputSet) it reads through, checks
//! a count before it allocates, and answers with an error that names the file and the limit.

use std::sync::OnceLock;

/// What inputs may ask for. The defaults leave room for any character that is animated by hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Largest file that is read [bytes]. Offsets in a GLB have 32 bits.
    pub file_bytes: u64,
    /// All files of one source together, unpacked streams included [bytes].
    pub source_bytes: u64,
    /// Largest scene file [bytes]: a scene of a thousand layers takes a hundredth of it.
    pub scene_bytes: u64,
    /// Longest side of an image [pixels]: an 8k texture with room.
    pub image_side: u64,
    /// One unpacked image [bytes]: 8192 by 8192 RGBA.
    pub image_bytes: u64,
    /// All unpacked images of one source together [bytes].
    pub images_bytes: u64,
    /// Numbers that one source unpacks to, all meshes and tracks together.
    pub numbers: u64,
    /// Nodes and joints of one source.
    pub nodes: u64,
    /// Meshes that one source places, instances included.
    pub placed_meshes: u64,
    /// Farthest coordinate [m]. Areas are products of four lengths: beyond 1e9 m they overflow.
    pub coordinate: f32,
    /// Longest shot [frames], pre-roll included.
    pub frames: u64,
    /// Problems or warnings that are listed one by one; the rest is counted.
    pub messages: u64,
    /// Whether files may name others outside their own folder.
    pub outside: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // The largest length that 32 bits hold.
            file_bytes: (4 << 30) - 1,
            source_bytes: 8 << 30,
            scene_bytes: 16 << 20,
            image_side: 16_384,
            image_bytes: 256 << 20,
            images_bytes: 1 << 30,
            numbers: 1 << 30,
            nodes: 200_000,
            placed_meshes: 10_000,
            coordinate: 1e9,
            frames: 10_000_000,
            messages: 100,
            outside: false,
        }
    }
}

static IN_FORCE: OnceLock<Limits> = OnceLock::new();

impl Limits {
    /// The limits of this process: those of [`Limits::put_in_force`], else the defaults.
    #[must_use]
    pub fn in_force() -> Self {
        IN_FORCE.get().copied().unwrap_or_default()
    }

    /// Sets the limits of this process, once, before anything is read; later calls change nothing.
    pub fn put_in_force(self) {
        let _ = IN_FORCE.set(self);
    }

    /// The same limits, each sizes and counts times larger. Where the cause is arithmetic
    /// (`coordinate`), the limit stays.
    #[must_use]
    pub fn raised(self, times: u32) -> Self {
        let more = |limit: u64| limit.saturating_mul(u64::from(times.max(1)));
        Self {
            file_bytes: more(self.file_bytes),
            source_bytes: more(self.source_bytes),
            scene_bytes: more(self.scene_bytes),
            image_side: more(self.image_side),
            image_bytes: more(self.image_bytes),
            images_bytes: more(self.images_bytes),
            numbers: more(self.numbers),
            nodes: more(self.nodes),
            placed_meshes: more(self.placed_meshes),
            frames: more(self.frames),
            messages: more(self.messages),
            ..self
        }
    }

    /// Every limit: what it is about, and how much, in words.
    #[must_use]
    pub fn table(&self) -> Vec<(&'static str, String)> {
        vec![
            ("one file", size(self.file_bytes)),
            ("all files of one source", size(self.source_bytes)),
            ("a scene file", size(self.scene_bytes)),
            ("longest side of an image", format!("{} pixels", self.image_side)),
            ("one unpacked image", size(self.image_bytes)),
            ("all unpacked images of one source", size(self.images_bytes)),
            ("numbers that one source unpacks to", format!("{}", self.numbers)),
            ("nodes of one source", format!("{}", self.nodes)),
            ("meshes that one source places", format!("{}", self.placed_meshes)),
            ("farthest coordinate", format!("{:e} m", self.coordinate)),
            ("frames of a shot", format!("{}", self.frames)),
            ("problems listed one by one", format!("{}", self.messages)),
        ]
    }
}

/// Bytes in binary units, for tables and messages.
#[must_use]
pub fn size(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.0} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raising_multiplies_sizes_and_never_overflows() {
        let plain = Limits::default();
        assert_eq!(plain.raised(4).nodes, 4 * plain.nodes);
        assert_eq!(plain.raised(0), plain);
        assert_eq!(plain.raised(u32::MAX).raised(u32::MAX).numbers, u64::MAX);
        assert_eq!(plain.raised(9).coordinate, plain.coordinate);
    }

    #[test]
    fn the_book_states_every_limit() {
        let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src");
        // A packed crate comes without the book.
        if !std::path::Path::new(book).is_dir() {
            return;
        }
        let page =
            std::fs::read_to_string(format!("{book}/limits.md")).expect("the page of limits");
        for (what, limit) in Limits::default().table() {
            let row = format!("| {what} | {limit} |");
            assert!(page.contains(&row), "book/src/limits.md lacks\n{row}");
        }
    }
}
