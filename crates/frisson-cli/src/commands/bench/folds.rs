//! Folds: what the layer adds to a simulated cloth, beside simulating the fine mesh instead.

use super::layers::{TimedScene, median};
use super::{BenchOptions, Table};
use crate::failure::Failure;

/// Squares along a side of the source-like cloth.
const CELLS: u32 = 20;

fn cloth(cells: u32, folds: &str) -> String {
    format!(
        "frisson = 1\nfps = 30\nframes = [0, 300]\n[actors.cloth]\n\
         source = \"builtin:tablecloth_length?cells={cells}\"\n\
         [[layers]]\ncloth = {{ name = \"cloth\", on = \"cloth\", pins = {{ region = \"pins\" }} }}\n{folds}"
    )
}

fn folds(width: f32, count: u32) -> String {
    let fold = |i: u32| {
        let x = (f64::from(i) + 0.5) / f64::from(count) - 0.5;
        format!(
            "{{ name = \"f{i}\", points = [[{x}, 0.75, -0.4], [{x}, 0.75, 0.4]], amplitude = {}, width = {width} }}",
            0.5 * width
        )
    };
    let list: Vec<String> = (0..count).map(fold).collect();
    format!(
        "[[layers]]\n[layers.folds]\nname = \"folds\"\non = \"cloth\"\nfolds = [{}]\n",
        list.join(", ")
    )
}

/// Median seconds a frame of each layer, and vertices of the cloth at the end.
fn measure(text: &str, frames: usize) -> Result<(Vec<f64>, usize), Failure> {
    let mut scene = TimedScene::new(text)?;
    let mut times: Vec<Vec<f64>> = Vec::new();
    for frame in 0..frames + 2 {
        let seconds = scene.advance()?;
        times.resize(seconds.len(), Vec::new());
        if frame >= 2 {
            times.iter_mut().zip(seconds).for_each(|(all, s)| all.push(s));
        }
    }
    Ok((times.into_iter().map(median).collect(), scene.vertices(0)))
}

/// Measures.
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, Failure> {
    Ok(vec![source_table(options)?, growth(options)?])
}

fn source_table(options: &BenchOptions) -> Result<Table, Failure> {
    let frames = if options.quick { 10 } else { 20 };
    let mut table = Table::new(
        "A cloth with a fold: per frame",
        &["what", "vertices", "ms", "ratio", "source [s for 20]", "ratio"],
    );
    let (alone, coarse) = measure(&cloth(CELLS, ""), frames)?;
    let (with, fine) = measure(&cloth(CELLS, &folds(0.1, 1)), frames)?;
    let (once, once_vertices) = measure(&cloth(2 * CELLS, ""), frames)?;
    let (twice, twice_vertices) = measure(&cloth(4 * CELLS, ""), frames)?;
    // The cloth's own time differs between two runs by more than the folds take: the share is that
    // of the run with folds.
    let base = with[0];
    let rows = [
        ("cloth alone", coarse, alone[0], "3.118"),
        ("cloth and folds", fine, with[0] + with[1], "3.390"),
        ("whole mesh one level finer", once_vertices, once[0], "9.075"),
        ("whole mesh two levels finer", twice_vertices, twice[0], "-"),
    ];
    for (what, vertices, seconds, source) in rows {
        let source_ratio =
            source.parse::<f64>().map_or("-".to_owned(), |s| format!("{:.2}", s / 3.118));
        table.row([
            what.to_owned(),
            vertices.to_string(),
            format!("{:.3}", 1e3 * seconds),
            format!("{:.2}", seconds / base),
            source.to_owned(),
            source_ratio,
        ]);
    }
    let refined = fine - coarse;
    table.note(format!(
        "fold layer: {:.1}% of the cloth (wanted: 5), {:.0} ns for each of {refined} refined vertices (60)",
        100.0 * with[1] / base,
        1e9 * with[1] / refined as f64
    ));
    table.note(format!(
        "the fold is refined by two levels; simulating those takes {:.1} times as long (wanted: 2.7)",
        twice[0] / (with[0] + with[1])
    ));
    table.note(format!("{} threads", rayon::current_num_threads()));
    Ok(table)
}

fn growth(options: &BenchOptions) -> Result<Table, Failure> {
    let frames = if options.quick { 8 } else { 20 };
    let mut table = Table::new(
        "Growth with the number of folds",
        &["folds", "refined vertices", "ms", "ns a refined vertex"],
    );
    let (_, coarse) = measure(&cloth(2 * CELLS, ""), 1)?;
    for count in [1, 2, 4, 8] {
        let (times, fine) = measure(&cloth(2 * CELLS, &folds(0.05, count)), frames)?;
        let refined = fine - coarse;
        table.row([
            count.to_string(),
            refined.to_string(),
            format!("{:.3}", 1e3 * times[1]),
            format!("{:.0}", 1e9 * times[1] / refined as f64),
        ]);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_add_vertices_and_a_time() {
        let (times, fine) = measure(&cloth(8, &folds(0.2, 1)), 1).expect("runs");
        assert!(times.len() == 2 && fine > 81);
    }
}
