//! Pieces of the self-contained pages.

use std::fmt::Write as _;

const STYLE: &str = "
body { font: 16px/1.5 system-ui, sans-serif; color: #26262a; background: #f5f4f1; margin: 0; }
main { max-width: 1500px; margin: 0 auto; padding: 24px; }
section { background: #fff; border-radius: 10px; padding: 20px 24px; margin: 24px 0; }
h1 { font-weight: 600; } h2 { margin: 0 0 4px; font-weight: 600; }
.from { color: #77757a; margin: 0 0 8px; } img { max-width: 100%; border-radius: 6px; }
.tables, .pictures { display: flex; flex-wrap: wrap; gap: 32px; align-items: flex-start; }
.pictures { gap: 16px; margin: 8px 0; } img.moving { width: 480px; } img.strip { flex: 1 1 640px; min-width: 0; }
nav { columns: 18em; margin: 16px 0; } nav a { display: block; color: inherit; }
.fails td:first-child, b.fails { color: #c0202c; font-weight: 600; }
.known td:first-child { color: #b06a00; font-weight: 600; } .holds td:first-child { color: #2b7d3f; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 8px 0; }
td, th { padding: 3px 14px 3px 0; border-bottom: 1px solid #e4e2dd; text-align: left; }
.problem { color: #a3202a; white-space: pre-wrap; } .note { color: #77757a; }
@media (prefers-color-scheme: dark) {
  body { background: #1c1c1f; color: #e8e6e3; } section { background: #27272b; }
  td, th { border-color: #3b3b40; } svg { background: #fff; border-radius: 6px; }
}";

/// Opens a page with a title.
pub fn begin(title: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style></head><body><main><h1>{title}</h1>\n"
    )
}

/// Closes a page.
pub fn end(mut page: String) -> String {
    page.push_str("</main></body></html>\n");
    page
}

/// A picture file beside the page; it is read when it comes into view.
pub fn picture(file: &str, alt: &str, class: &str) -> String {
    let (file, alt) = (escape(file), escape(alt));
    format!("<img class=\"{class}\" alt=\"{alt}\" src=\"{file}\" loading=\"lazy\">")
}

/// A table.
pub fn table<'a>(
    page: &mut String,
    caption: &str,
    heading: &[String],
    rows: impl Iterator<Item = &'a [String]>,
) {
    let cells = |tag: &str, row: &[String]| -> String {
        row.iter().map(|c| format!("<{tag}>{}</{tag}>", escape(c))).collect()
    };
    let _ = write!(
        page,
        "<table><caption>{}</caption><tr>{}</tr>",
        escape(caption),
        cells("th", heading)
    );
    for row in rows {
        let _ = write!(page, "<tr>{}</tr>", cells("td", row));
    }
    page.push_str("</table>");
}

/// Text as it may stand in a page.
pub fn escape(text: &str) -> String {
    // Ampersands first, or they would be escaped twice.
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A size in bytes for people.
pub fn human_bytes(bytes: u64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let sizes = [999, 1000, 1_234_567].map(human_bytes);
        assert_eq!(sizes, ["999 bytes", "1.0 kB", "1.2 MB"]);
    }
}
