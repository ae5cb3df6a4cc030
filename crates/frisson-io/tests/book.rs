//! The book's page of parameters is written from where the parameters are defined.
//!
//!   UPDATE_BOOK=1 cargo test -p frisson-io --test book

use std::fmt::Write as _;
use std::path::Path;

use frisson_io::scene::{Explanation, explain_all};

const KINDS: [&str; 7] = ["flesh", "wrinkles", "cloth", "folds", "hair", "drops", "soft"];

fn page() -> String {
    let all = explain_all();
    let mut page = String::from(
        "# Parameters\n\nWritten from the parameters themselves (`frisson explain NAME` says more of each; \
         a test keeps this page true). *Change* says what a new value does while a simulator runs: **live** \
         acts from the next step on, **rebuild** computes rest data anew and keeps the motion where it fits, \
         **restart** begins the layer anew. *Slider* is the range in which a value is useful.\n",
    );
    let scene = |e: &&Explanation| !KINDS.iter().any(|k| of_kind(&e.path, k));
    table(&mut page, "The scene", all.iter().filter(scene));
    for kind in KINDS {
        let own = all.iter().filter(|e| of_kind(&e.path, kind));
        table(&mut page, kind, own);
    }
    page
}

fn of_kind(path: &str, kind: &str) -> bool {
    path == kind || path.strip_prefix(kind).is_some_and(|rest| rest.starts_with('.'))
}

fn table<'a>(page: &mut String, title: &str, rows: impl Iterator<Item = &'a Explanation>) {
    let _ = writeln!(page, "\n## {title}\n\n| name | what | form | default | slider | change |");
    let _ = writeln!(page, "|---|---|---|---|---|---|");
    for row in rows {
        let control = &row.control;
        let name = row.path.strip_prefix(&format!("{title}.")).unwrap_or(&row.path);
        let said = row.text.split("\n\n").next().unwrap_or_default();
        let slider = control.slider.map(|[a, b]| {
            let how = if control.logarithmic { " (log)" } else { "" };
            format!("{a} to {b}{how}")
        });
        let cell = |text: Option<&str>| text.unwrap_or("").replace('\n', " ").replace('|', "\\|");
        let _ = writeln!(
            page,
            "| `{name}` | {} | {} | {} | {} | {} |",
            cell(Some(said)),
            cell(row.form.as_deref()),
            cell(row.default.as_deref()),
            cell(slider.as_deref()),
            cell(control.change.as_deref())
        );
    }
}

#[test]
fn the_page_of_parameters_is_what_the_parameters_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/parameters.md");
    let page = page();
    if std::env::var_os("UPDATE_BOOK").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "stale: UPDATE_BOOK=1 cargo test -p frisson-io --test book");
}
