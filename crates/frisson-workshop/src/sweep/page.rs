//! The page of a sweep: the sheet, the moving grid, and a table that sorts by any column.

use std::fmt::Write as _;

use super::table::{Row, Table};
use crate::html::{self, escape};

/// Sizes that are written out; others in powers of ten.
const WRITTEN_OUT: std::ops::Range<f64> = 1e-3..1e6;

/// The page for a table.
pub fn html(table: &Table, sheet: Option<&str>, moving: Option<&str>) -> String {
    let mut page = html::begin(&format!("Sweep of {}", table.scene));
    let count = table.variants.len().saturating_sub(1);
    let _ = write!(
        page,
        "<p class=\"note\">{count} variants beside the scene as it is. Click a heading to sort; take one with \
         <code>frisson sweep {} --pick N</code>.</p>",
        escape(&table.scene)
    );
    if let (Some(goal), Some(best)) = (&table.goal, table.best) {
        let row = table.variants.iter().find(|r| r.number == best);
        let label = row.map(|r| table.label(r)).unwrap_or_default();
        let _ = write!(
            page,
            "<p>Best by <b>{}</b>: variant <b>{best}</b> ({}).</p>",
            escape(goal),
            escape(&label)
        );
    }
    rows(&mut page, table);
    if let Some(sheet) = sheet {
        let frame = table.frame.map_or_else(String::new, |f| format!(" at frame {f}"));
        let _ = write!(page, "<section><h2>Side by side{frame}</h2>");
        page.push_str(&html::picture(sheet, "every variant at one frame", "sheet"));
        page.push_str("</section>\n");
    }
    if let Some(moving) = moving {
        page.push_str("<section><h2>Moving</h2>");
        page.push_str(&html::picture(moving, "every variant, moving", "sheet"));
        page.push_str("</section>\n");
    }
    page.push_str(SCRIPT);
    html::end(page)
}

fn rows(page: &mut String, table: &Table) {
    page.push_str(
        "<section><h2>Measures</h2><table class=\"sortable\"><thead><tr><th></th><th>#</th>",
    );
    for name in table.short_names() {
        let _ = write!(page, "<th>{}</th>", escape(&name));
    }
    for column in &table.columns {
        let unit =
            if column.unit.is_empty() { String::new() } else { format!(" [{}]", column.unit) };
        let _ = write!(
            page,
            "<th title=\"{}\">{}{}</th>",
            escape(&column.about),
            escape(&column.name),
            escape(&unit)
        );
    }
    page.push_str("</tr></thead><tbody>");
    for row in &table.variants {
        one_row(page, table, row);
    }
    page.push_str("</tbody></table></section>\n");
}

fn one_row(page: &mut String, table: &Table, row: &Row) {
    let class = if table.best == Some(row.number) { " class=\"best\"" } else { "" };
    let thumbnail = row.picture.as_ref().map_or_else(String::new, |file| {
        html::picture(file, &format!("variant {}", row.number), "thumbnail")
    });
    let _ = write!(page, "<tr{class}><td>{thumbnail}</td>");
    let said = if row.number == 0 { "0, as it is".to_owned() } else { row.number.to_string() };
    let _ = write!(page, "<td data-value=\"{}\">{said}</td>", row.number);
    for value in &row.values {
        let text = value.as_deref().unwrap_or("");
        let _ = write!(page, "<td data-value=\"{0}\">{0}</td>", escape(text.trim_matches('"')));
    }
    if let Some(problem) = &row.problem {
        let _ = write!(
            page,
            "<td class=\"problem\" colspan=\"{}\">{}</td></tr>",
            table.columns.len(),
            escape(problem)
        );
        return;
    }
    for (column, value) in table.columns.iter().zip(&row.measures) {
        let full = value.map_or_else(String::new, |v| v.to_string());
        let complaints = if column.key == super::columns::COMPLAINTS {
            format!(" title=\"{}\"", escape(&row.complaints.join("\n")))
        } else {
            String::new()
        };
        let shown = value.map_or_else(|| "-".to_owned(), short);
        let _ = write!(page, "<td data-value=\"{full}\"{complaints}>{shown}</td>");
    }
    page.push_str("</tr>");
}

/// A number as short as it is telling.
pub fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v.fract() == 0.0 && v < 1e6 => format!("{value:.0}"),
        v if !WRITTEN_OUT.contains(&v) => format!("{value:.2e}"),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// Numbers sort as numbers, the rest as text; what is empty goes last either way.
const SCRIPT: &str = r#"<style>
th { cursor: pointer; vertical-align: bottom; } th[data-order]::after { content: " ▲"; }
th[data-order="down"]::after { content: " ▼"; } tr.best td { background: #fff3c4; color: #26262a; font-weight: 600; }
.thumbnail { width: 96px; display: block; } table.sortable { display: block; overflow-x: auto; }
</style><script>
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const down = head.dataset.order === "up";
    heads.forEach(h => delete h.dataset.order);
    head.dataset.order = down ? "down" : "up";
    const key = row => row.cells[column]?.dataset.value ?? "";
    const compare = (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      const [p, q] = [Number(x), Number(y)];
      const order = Number.isNaN(p) || Number.isNaN(q) ? x.localeCompare(y) : p - q;
      return down ? -order : order;
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  }));
}
</script>
"#;

#[cfg(test)]
mod tests {
    use super::super::columns::Column;
    use super::*;

    #[test]
    fn the_page_holds_every_variant_and_escapes_what_it_shows() {
        let row = |number: usize, value: &str, problem: Option<&str>| Row {
            number,
            values: vec![Some(value.to_owned())],
            measures: vec![Some(1.0 / 3.0)],
            problem: problem.map(str::to_owned),
            picture: Some(format!("{number}.png")),
            ..Row::default()
        };
        let column = Column {
            key: "effect:cat".into(),
            name: "effect of cat".into(),
            unit: "mm".into(),
            about: "a \"distance\"".into(),
        };
        let table = Table {
            scene: "<shot>.toml".into(),
            parameters: vec!["layers.belly.frequency_hz".into()],
            columns: vec![column],
            goal: Some("effect=25".into()),
            best: Some(1),
            variants: vec![row(0, "3.2", None), row(1, "4.0", None), row(2, "9.0", Some("a < b"))],
            ..Table::default()
        };
        let page = html(&table, Some("sheet.png"), None);
        for text in [
            "&lt;shot&gt;.toml",
            "frequency_hz",
            "effect of cat [mm]",
            "0.3333",
            "a &lt; b",
            "1.png",
        ] {
            assert!(page.contains(text), "{text}");
        }
        assert!(page.contains("<tr class=\"best\">") && page.contains("variant <b>1</b>"));
        assert!(!page.contains("<shot>") && page.contains("sheet.png"));
    }
}
