//! The speed tables. One module per subject, listed in [`BENCHES`].
//!
//! A table compares things measured in the same run: a time alone says little about another machine.
//! They are here and not beside the layers, because they need the cast, scene files and a clock, which
//! the engine does not know.

mod cloth;
mod door;
mod drops;
mod flesh;
mod folds;
mod hair;
mod judge;
mod layers;
mod picture;
mod skinning;
mod soft;
mod wrinkles;

use frisson::stage::nearest_name;
use serde::Serialize;

use crate::WorkshopError;

/// A measured table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// What was measured.
    pub title: String,
    /// Column names, with units.
    pub columns: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
    /// What to know about it.
    pub notes: Vec<String>,
}

impl Table {
    /// An empty table.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|c| (*c).to_owned()).collect();
        Self { title: title.into(), columns, ..Self::default() }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    /// Adds a note below the table.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// The table as aligned text: first column left, numbers right.
    pub fn to_text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|r| r.get(column));
            cells.chain(self.columns.get(column)).map(|c| c.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &[String]| {
            let aligned: Vec<String> = cells
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(i, (c, &w))| if i == 0 { format!("{c:<w$}") } else { format!("{c:>w$}") })
                .collect();
            aligned.join("  ").trim_end().to_owned()
        };
        let rule: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
        let mut text = vec![self.title.clone(), line(&self.columns), line(&rule)];
        text.extend(self.rows.iter().map(|r| line(r)));
        text.extend(self.notes.iter().map(|n| format!("  {n}")));
        text.join("\n")
    }
}

/// What is to be known of times that others take: they stand in this program, nobody measured them now.
pub(crate) const QUOTED: &str = "quoted: constants of this program, measured once in November 2026 on two \
                                 cores, default settings; tests/peers runs Blender beside ours";

/// What a benchmark is asked.
#[derive(Clone, Copy, Debug)]
pub struct BenchOptions {
    /// Smaller sizes and fewer repeats: seconds instead of minutes.
    pub quick: bool,
}

impl BenchOptions {
    /// Median time of a call [s], after one call to warm up.
    pub fn median_seconds(&self, mut call: impl FnMut()) -> f64 {
        call();
        // Odd, so that the median is one of them.
        let repeats = if self.quick { 5 } else { 15 };
        let mut times: Vec<f64> = (0..repeats)
            .map(|_| {
                let started = std::time::Instant::now();
                call();
                started.elapsed().as_secs_f64()
            })
            .collect();
        // The median, not the mean: one slice given to another program must not count.
        times.sort_by(f64::total_cmp);
        times[repeats / 2]
    }
}

/// One subject that can be measured.
pub struct Bench {
    /// Name on the command line.
    pub name: &'static str,
    /// What it measures.
    pub about: &'static str,
    /// Measures.
    pub run: fn(&BenchOptions) -> Result<Vec<Table>, WorkshopError>,
}

/// All subjects. A layer adds its line here and its module beside.
pub const BENCHES: &[Bench] = &[
    Bench {
        name: "cloth",
        about: "a sheet on a ball at four sizes, with and without self-collision, beside others",
        run: cloth::run,
    },
    Bench {
        name: "door",
        about: "a step beside its layers, a step of nothing, and layers built again",
        run: door::run,
    },
    Bench {
        name: "drops",
        about: "drops on a board, beside the tables of the source",
        run: drops::run,
    },
    Bench { name: "flesh", about: "flesh beside the skinning it is added to", run: flesh::run },
    Bench {
        name: "hair",
        about: "wisps: growth, interactions, strands, and the source's scenes beside ours",
        run: hair::run,
    },
    Bench {
        name: "folds",
        about: "folds over a simulated cloth, beside simulating the fine mesh",
        run: folds::run,
    },
    Bench {
        name: "judge",
        about: "what the judge's default questions cost, per 10,000 points and frame",
        run: judge::run,
    },
    Bench {
        name: "soft",
        about: "soft bodies: steps with contacts, extraction of surfaces",
        run: soft::run,
    },
    Bench {
        name: "skinning",
        about: "linear-blend skinning beside a plain copy of the same bytes",
        run: skinning::run,
    },
    Bench {
        name: "picture",
        about: "rays beside the hierarchy crate's own speed; seconds per picture",
        run: picture::run,
    },
    Bench {
        name: "wrinkles",
        about: "wrinkles beside the source's frame rates, growth, butterfly refinement",
        run: wrinkles::run,
    },
];

/// The subjects of these names, all without any.
pub fn select(names: &[String]) -> Result<Vec<&'static Bench>, WorkshopError> {
    for name in names {
        if !BENCHES.iter().any(|b| b.name == name) {
            let near = nearest_name(name, BENCHES.iter().map(|b| b.name));
            let text = format!("there is no benchmark named {name:?}");
            let help = near.map_or("see `frisson bench --list`".to_owned(), |n| {
                format!("did you mean `{n}`?")
            });
            return Err(WorkshopError::advised(text, help));
        }
    }
    let wanted = |b: &&Bench| names.is_empty() || names.iter().any(|n| n == b.name);
    Ok(BENCHES.iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_found_by_their_names() {
        assert_eq!(select(&[]).unwrap().len(), BENCHES.len());
        assert_eq!(select(&["soft".to_owned()]).unwrap()[0].name, "soft");
        let problem = select(&["sofd".to_owned()]).err().unwrap();
        assert!(
            matches!(problem, WorkshopError::Input { help: Some(h), .. } if h.contains("soft"))
        );
    }

    #[test]
    fn tables_are_aligned() {
        let mut table = Table::new("speed", &["what", "ms"]);
        table.row(["a".to_owned(), "12.5".to_owned()]);
        table.row(["long name".to_owned(), "3".to_owned()]);
        table.note("two cores");
        let expected = "speed\nwhat         ms\n---------  ----\na          12.5\nlong name     3\n  two cores";
        assert_eq!(table.to_text(), expected);
    }
}
