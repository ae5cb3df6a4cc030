//! The gallery's page; pictures lie beside it.

use std::fmt::Write as _;

use super::entry::Entry;
use super::expectation::{Expectation, Verdict};
use crate::html::{self, escape, table};

/// The page for some scenes.
pub fn html(entries: &[Entry]) -> String {
    let mut page = html::begin("Frisson gallery");
    let _ = writeln!(page, "<p class=\"note\">{}</p>", escape(&machine()));
    contents(&mut page, entries);
    for entry in entries {
        section(&mut page, entry);
    }
    html::end(page)
}

/// Links to all scenes, with a mark where something is wrong.
fn contents(page: &mut String, entries: &[Entry]) {
    page.push_str("<nav>");
    for entry in entries {
        let failing = |e: &&Expectation| matches!(e.verdict, Verdict::Fails | Verdict::Known(_));
        let bad = entry.expectations.iter().filter(failing).count();
        let mark = match (&entry.problem, bad) {
            (Some(_), _) => " <b class=\"fails\">✗</b>".to_owned(),
            (None, 0) => String::new(),
            (None, count) => format!(" <b class=\"fails\">{count} ✗</b>"),
        };
        let (name, title) = (escape(&entry.name), escape(&entry.title));
        let _ = write!(page, "<a href=\"#{name}\">{title}{mark}</a> ");
    }
    page.push_str("</nav>\n");
}

fn section(page: &mut String, entry: &Entry) {
    let _ =
        write!(page, "<section id=\"{0}\"><h2>{1}</h2>", escape(&entry.name), escape(&entry.title));
    if !entry.from.is_empty() {
        let _ = write!(page, "<p class=\"from\">{}</p>", escape(&entry.from));
    }
    if let Some(problem) = &entry.problem {
        let _ = writeln!(page, "<p class=\"problem\">{}</p></section>", escape(problem));
        return;
    }
    let _ = write!(page, "<p>{}</p><div class=\"pictures\">", escape(&entry.look_for));
    let pictures =
        [(&entry.animation, "animation of", "moving"), (&entry.strip, "frames of", "strip")];
    for (picture, what, class) in pictures {
        let Some(file) = picture else { continue };
        let alt = format!("{what} {}", entry.title);
        let _ = write!(page, "{}", html::picture(file, &alt, class));
    }
    page.push_str("</div>");
    expectations(page, entry);
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

fn expectations(page: &mut String, entry: &Entry) {
    if entry.expectations.is_empty() {
        return;
    }
    page.push_str("<table class=\"expectations\"><caption>What it promises</caption><tr>");
    for name in ["", "promise", "measure", "wanted", "found"] {
        let _ = write!(page, "<th>{name}</th>");
    }
    page.push_str("</tr>");
    for expectation in &entry.expectations {
        let cells: String =
            expectation.cells().iter().map(|c| format!("<td>{}</td>", escape(c))).collect();
        let _ = write!(page, "<tr class=\"{}\">{cells}</tr>", expectation.class());
    }
    page.push_str("</table>");
}

/// What the figures were measured on.
fn machine() -> String {
    // Where there is none (not Linux), the number of threads has to do.
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

    fn entry() -> Entry {
        let known = Verdict::Known("thin <cloth>".into());
        let expectation = |why: &str, verdict: Verdict| Expectation {
            why: why.into(),
            measure: "stretch p99".into(),
            wanted: "at most 2 %".into(),
            value: "1.4 %".into(),
            verdict,
        };
        Entry {
            source: vec![vec!["case".into(), "time".into()], vec!["a<b".into(), "3 s".into()]],
            ours: vec![["time".into(), "1 ms".into()]],
            strip: Some("x.png".into()),
            animation: Some("x.webp".into()),
            expectations: vec![
                expectation("stays whole", Verdict::Holds),
                expectation("comes to rest", known),
            ],
            problem: None,
            ..Entry::failed("x", "y")
        }
    }

    #[test]
    fn the_page_names_scenes_and_escapes_them() {
        let page = html(&[entry(), Entry::failed("bad", "no <file>")]);
        assert!(page.contains("a&lt;b") && page.contains("no &lt;file&gt;"));
        assert!(page.contains("1 ms") && page.contains("The source"));
        assert!(page.contains("src=\"x.png\"") && page.contains("src=\"x.webp\""));
    }

    #[test]
    fn expectations_stand_with_their_values_and_marks() {
        let page = html(&[entry()]);
        for text in ["stays whole", "at most 2 %", "1.4 %", "class=\"holds\"", "class=\"known\""] {
            assert!(page.contains(text), "{text}");
        }
        assert!(page.contains("thin &lt;cloth&gt;") && page.contains("1 ✗"));
    }
}
