//! The page's own files, part of the program.

use std::borrow::Cow;
use std::path::PathBuf;

/// Name, kind and content of every file.
const FILES: &[(&str, &str, &[u8])] = &[
    ("index.html", HTML, include_bytes!("../page/index.html")),
    ("style.css", "text/css; charset=utf-8", include_bytes!("../page/style.css")),
    ("third-party.js", SCRIPT, include_bytes!("../page/third-party.js")),
    ("app.js", SCRIPT, include_bytes!("../page/app.js")),
    ("api.js", SCRIPT, include_bytes!("../page/api.js")),
    ("state.js", SCRIPT, include_bytes!("../page/state.js")),
    ("wire.js", SCRIPT, include_bytes!("../page/wire.js")),
    ("player.js", SCRIPT, include_bytes!("../page/player.js")),
    ("view.js", SCRIPT, include_bytes!("../page/view.js")),
    ("pace.js", SCRIPT, include_bytes!("../page/pace.js")),
    ("shapes.js", SCRIPT, include_bytes!("../page/shapes.js")),
    ("shaders.js", SCRIPT, include_bytes!("../page/shaders.js")),
    ("schema.js", SCRIPT, include_bytes!("../page/schema.js")),
    ("controls.js", SCRIPT, include_bytes!("../page/controls.js")),
    ("text.js", SCRIPT, include_bytes!("../page/text.js")),
    ("timeline.js", SCRIPT, include_bytes!("../page/timeline.js")),
    ("draw.js", SCRIPT, include_bytes!("../page/draw.js")),
    ("graphs.js", SCRIPT, include_bytes!("../page/graphs.js")),
    ("anchors.js", SCRIPT, include_bytes!("../page/anchors.js")),
    ("brush.js", SCRIPT, include_bytes!("../page/brush.js")),
    ("curve.js", SCRIPT, include_bytes!("../page/curve.js")),
    ("first.js", SCRIPT, include_bytes!("../page/first.js")),
    ("layers.js", SCRIPT, include_bytes!("../page/layers.js")),
    ("look.js", SCRIPT, include_bytes!("../page/look.js")),
    ("objects.js", SCRIPT, include_bytes!("../page/objects.js")),
    ("overlays.js", SCRIPT, include_bytes!("../page/overlays.js")),
    ("remarks.js", SCRIPT, include_bytes!("../page/remarks.js")),
    ("standpoint.js", SCRIPT, include_bytes!("../page/standpoint.js")),
    ("strokes.js", SCRIPT, include_bytes!("../page/strokes.js")),
    ("dialogs.js", SCRIPT, include_bytes!("../page/dialogs.js")),
];

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Where the page comes from: the program, or a folder in which somebody works on it.
pub struct Page(pub Option<PathBuf>);

impl Page {
    /// A file of the page: its kind and content.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<(&'static str, Cow<'static, [u8]>)> {
        let name = if name.is_empty() { "index.html" } else { name };
        // Only names of the list: nothing else of a folder can be asked for.
        let (_, kind, bytes) = FILES.iter().find(|(n, _, _)| *n == name)?;
        match &self.0 {
            Some(folder) => Some((kind, Cow::Owned(std::fs::read(folder.join(name)).ok()?))),
            None => Some((kind, Cow::Borrowed(bytes))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module that is not in the list is not served, and one that is not asked for early comes late.
    #[test]
    fn every_file_of_the_page_is_served_and_every_module_is_asked_for_early() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let index = std::fs::read_to_string(folder.join("index.html")).unwrap();
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(Page(None).file(&name).is_some(), "{name} is not in the list");
            if name.ends_with(".js") {
                let quoted = format!("\"{name}\"");
                assert!(index.contains(&quoted), "{name} is not asked for in index.html");
            }
            count += 1;
        }
        assert_eq!(count, FILES.len());
    }
}
