//! One self-contained HTML page.

use std::fmt::Write as _;
use std::path::Path;

use super::entry::Entry;
use crate::html::{self, escape, table};

/// The page for some scenes; pictures are read from the folder and put into it.
pub fn html(entries: &[Entry], folder: &Path) -> String {
    let mut page = html::begin("Frisson gallery");
    let _ = writeln!(page, "<p class=\"note\">{}</p>", escape(&machine()));
    for entry in entries {
        section(&mut page, entry, folder);
    }
    html::end(page)
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
        let Some(path) = picture.as_ref().map(|p| folder.join(p)) else { continue };
        let _ = write!(page, "{}", html::picture(&path, &format!("{what} {}", entry.title)));
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

#[cfg(test)]
mod tests {
    use super::*;

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
