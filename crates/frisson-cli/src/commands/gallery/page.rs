//! One self-contained HTML page.

use std::fmt::Write as _;
use std::path::Path;

use super::entry::Entry;

const STYLE: &str = "
body { font: 16px/1.5 system-ui, sans-serif; color: #26262a; background: #f5f4f1; margin: 0; }
main { max-width: 1500px; margin: 0 auto; padding: 24px; }
section { background: #fff; border-radius: 10px; padding: 20px 24px; margin: 24px 0; }
h1 { font-weight: 600; } h2 { margin: 0 0 4px; font-weight: 600; }
.from { color: #77757a; margin: 0 0 8px; } img { max-width: 100%; border-radius: 6px; }
.tables { display: flex; flex-wrap: wrap; gap: 32px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 8px 0; }
td, th { padding: 3px 14px 3px 0; border-bottom: 1px solid #e4e2dd; text-align: left; }
.problem { color: #a3202a; white-space: pre-wrap; } .note { color: #77757a; }
@media (prefers-color-scheme: dark) {
  body { background: #1c1c1f; color: #e8e6e3; } section { background: #27272b; }
  td, th { border-color: #3b3b40; } svg { background: #fff; border-radius: 6px; }
}";

/// The page for some scenes; pictures are read from the folder and put into it.
pub fn html(entries: &[Entry], folder: &Path) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>Frisson gallery</title><style>{STYLE}</style></head><body><main>\
         <h1>Frisson gallery</h1><p class=\"note\">{}</p>\n",
        escape(&machine())
    );
    for entry in entries {
        section(&mut page, entry, folder);
    }
    page.push_str("</main></body></html>\n");
    page
}

fn section(page: &mut String, entry: &Entry, folder: &Path) {
    let _ =
        write!(page, "<section id=\"{0}\"><h2>{1}</h2>", escape(&entry.name), escape(&entry.title));
    if !entry.from.is_empty() {
        let _ = write!(page, "<p class=\"from\">{}</p>", escape(&entry.from));
    }
    if let Some(problem) = &entry.problem {
        let _ = writeln!(page, "<p class=\"problem\">{}</p></section>", escape(problem));
        return;
    }
    let _ = write!(page, "<p>{}</p>", escape(&entry.look_for));
    for (picture, what) in [(&entry.animation, "animation of"), (&entry.strip, "frames of")] {
        let Some(bytes) = picture.as_ref().and_then(|p| std::fs::read(folder.join(p)).ok()) else {
            continue;
        };
        let alt = format!("{what} {}", entry.title);
        let _ = write!(
            page,
            "<p><img alt=\"{}\" src=\"data:image/png;base64,{}\"></p>",
            escape(&alt),
            base64(&bytes)
        );
    }
    page.push_str("<div class=\"tables\">");
    if let [heading, rows @ ..] = entry.source.as_slice() {
        table(page, "The source", heading, rows.iter().map(Vec::as_slice));
    }
    let caption = if entry.quick { "Here, first second only" } else { "Here, in this run" };
    let heading = ["measure".to_owned(), "value".to_owned()];
    table(page, caption, &heading, entry.ours.iter().map(|r| r.as_slice()));
    page.push_str("</div>");
    for chart in &entry.charts {
        let _ = write!(page, "<p>{chart}</p>");
    }
    page.push_str("</section>\n");
}

fn table<'a>(
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

/// What the figures were measured on.
fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    format!(
        "Our figures were measured in this run, on this machine: {} thread(s){}, frisson {}. \
         The sources' figures are theirs, on their machines of the time.",
        rayon::current_num_threads(),
        cpu.map_or_else(String::new, |c| format!(" of {c}")),
        env!("CARGO_PKG_VERSION")
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let used = digit <= chunk.len();
            let value = (word >> (18 - 6 * digit) & 63) as usize;
            text.push(if used { char::from(DIGITS[value]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads_as_it_must() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, coded) in cases {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn the_page_names_scenes_and_escapes_them() {
        let entry = Entry {
            source: vec![vec!["case".into(), "time".into()], vec!["a<b".into(), "3 s".into()]],
            ours: vec![["time".into(), "1 ms".into()]],
            ..Entry::failed("x", "y")
        };
        let entry = Entry { problem: None, ..entry };
        let page = html(&[entry, Entry::failed("bad", "no <file>")], Path::new("."));
        assert!(page.contains("a&lt;b") && page.contains("no &lt;file&gt;"));
        assert!(page.contains("1 ms") && page.contains("The source"));
    }
}
