//! Folds: what the layer adds to a simulated cloth, beside simulating the fine mesh instead.

use frisson::geometry::Mesh;
use glam::Vec3;

use super::layers::{TimedScene, median};
use super::{BenchOptions, Table};
use crate::WorkshopError;

const LENGTH: &str = include_str!("../../scenes/folds-tablecloth-length.toml");
const PLUS: &str = include_str!("../../scenes/folds-tablecloth-plus.toml");
const BUCKLING: &str = include_str!("../../scenes/folds-buckling.toml");

/// Squares along a side of the source-like cloth.
const CELLS: u32 = 20;

/// Repeats from which the share of the folds is taken.
const REPEATS: usize = 7;

/// What a finer mesh needs to keep a fold that is modelled into it: angles at rest as it is modelled, and no cords,
/// which would hold the cloth at the length of its flat self and draw the fold out.
const KEEPS_FOLDS: &str = ", tethers = false, rest_angles = \"as_modelled\"";

fn cloth(cells: u32, settings: &str, folds: &str) -> String {
    format!(
        "frisson = 1\nfps = 30\nframes = [0, 300]\n[actors.cloth]\n\
         source = \"builtin:tablecloth_length?cells={cells}\"\n\
         [[layers]]\ncloth = {{ name = \"cloth\", on = \"cloth\", pins = {{ region = \"pins\" }}{settings} }}\n{folds}"
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
fn measure(text: &str, frames: usize) -> Result<(Vec<f64>, usize), WorkshopError> {
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
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, WorkshopError> {
    let mut tables = vec![source_table(options)?, shares(options)?, growth(options)?];
    if !options.quick {
        tables.push(what_is_left()?);
    }
    Ok(tables)
}

fn source_table(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let frames = if options.quick { 10 } else { 20 };
    let mut table = Table::new(
        "A cloth with a fold: per frame",
        &["what", "vertices", "ms", "ratio", "source [s for 20]", "ratio"],
    );
    let (alone, coarse) = measure(&cloth(CELLS, "", ""), frames)?;
    let (with, fine) = measure(&cloth(CELLS, "", &folds(0.1, 1)), frames)?;
    let (once, once_vertices) = measure(&cloth(2 * CELLS, KEEPS_FOLDS, ""), frames)?;
    let (twice, twice_vertices) = measure(&cloth(4 * CELLS, KEEPS_FOLDS, ""), frames)?;
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
        "fold layer: {:.0} ns for each of {refined} refined vertices (60)",
        1e9 * with[1] / refined as f64
    ));
    table.note(format!(
        "the fold is refined by two levels; simulating those takes {:.1} times as long (wanted: 2.7)",
        twice[0] / (with[0] + with[1])
    ));
    table.note("finer meshes are simulated without cords and keep the angles they are modelled with: as a fold needs");
    table.note(format!("{} threads", rayon::current_num_threads()));
    Ok(table)
}

/// What folds add to the cloth under them. Both layers are timed in the same frames, and the share is that of whole
/// repeats, of all numbers of folds in turn: what disturbs one disturbs the others, and the spread says how much is noise.
fn shares(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let (frames, repeats) = if options.quick { (8, 3) } else { (40, REPEATS) };
    let mut table = Table::new(
        "What folds add to the cloth under them",
        &["folds", "width [m]", "of the cloth", "least", "greatest"],
    );
    // The source's own fold, and then narrower ones of one width: eight of them cover the cloth.
    let kinds = [(1, 0.1), (1, 0.05), (2, 0.05), (4, 0.05), (8, 0.05)];
    let texts = kinds.map(|(count, width)| cloth(CELLS, "", &folds(width, count)));
    let mut all: [Vec<f64>; 5] = Default::default();
    for _ in 0..repeats {
        for (text, shares) in texts.iter().zip(&mut all) {
            let (times, _) = measure(text, frames)?;
            shares.push(times[1] / times[0]);
        }
    }
    let percent = |share: f64| format!("{:.2}%", 100.0 * share);
    for ((count, width), shares) in kinds.iter().zip(&mut all) {
        shares.sort_by(f64::total_cmp);
        table.row([
            count.to_string(),
            width.to_string(),
            percent(median(shares.clone())),
            percent(shares[0]),
            percent(shares[shares.len() - 1]),
        ]);
    }
    let narrow = kinds.iter().zip(&all).skip(1);
    let points: Vec<(f64, f64)> =
        narrow.flat_map(|(k, s)| s.iter().map(|&share| (f64::from(k.0), share))).collect();
    let (each, error) = slope(&points);
    table.note(format!(
        "a fold as the source's adds {} (wanted: at most 5%); each narrower one {} ± {}",
        percent(median(all[0].clone())),
        percent(each),
        percent(error)
    ));
    table.note(format!("medians of {frames} frames, {repeats} repeats each, all kinds in turn"));
    Ok(table)
}

/// Slope of the straight line through points, and its standard error.
fn slope(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len().max(1) as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let spread: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread;
    let off: f64 = points.iter().map(|p| (p.1 - y - slope * (p.0 - x)).powi(2)).sum();
    (slope, (off / (count - 2.0).max(1.0) / spread).sqrt())
}

fn growth(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let frames = if options.quick { 8 } else { 20 };
    let mut table = Table::new(
        "Growth with the number of folds",
        &["folds", "refined vertices", "ms", "ns a refined vertex"],
    );
    let (_, coarse) = measure(&cloth(2 * CELLS, "", ""), 1)?;
    for count in [1, 2, 4, 8] {
        let (times, fine) = measure(&cloth(2 * CELLS, "", &folds(0.05, count)), frames)?;
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

/// Height of a fold in a tablecloth of so many squares [m]: of the crest above the line between its two
/// feet, 0.1 m to either side, averaged along the fold. `across` is the fold along z, else that along x.
fn fold_height(mesh: &Mesh, cells: usize, across: bool) -> f64 {
    let foot = cells / 10;
    let at = |away: usize, along: usize| {
        let (column, row) = if across { (away, along) } else { (along, away) };
        mesh.positions[row * (cells + 1) + column]
    };
    // Between the crossing and the ends of the fold.
    let rows: Vec<usize> =
        (cells / 5..=4 * cells / 5).filter(|r| r.abs_diff(cells / 2) > 3 * cells / 20).collect();
    let height = |&row: &usize| {
        let [a, crest, b] = [cells / 2 - foot, cells / 2, cells / 2 + foot].map(|c| at(c, row));
        let chord = (b - a).normalize_or(Vec3::X);
        let up = Vec3::Y - chord * chord.y;
        f64::from((crest - a).dot(up.normalize_or(Vec3::Y)))
    };
    rows.iter().map(height).sum::<f64>() / rows.len().max(1) as f64
}

/// Heights of a sleeve's pattern when drawn and now [m]: how much the distance from its axis varies where
/// the diamonds are, and how much of that variation is still there.
fn pattern_heights(drawn: &Mesh, now: &Mesh, axis: Vec3) -> [f64; 2] {
    let inside: Vec<usize> = (0..drawn.positions.len())
        .filter(|&v| (0.18..0.36).contains(&drawn.positions[v].y))
        .collect();
    let count = inside.len().max(1) as f64;
    let relief = |mesh: &Mesh| {
        let radius = |&v: &usize| f64::from((mesh.positions[v] - axis).with_y(0.0).length());
        let mean = inside.iter().map(radius).sum::<f64>() / count;
        inside.iter().map(|v| radius(v) - mean).collect::<Vec<f64>>()
    };
    let (was, is) = (relief(drawn), relief(now));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>() / count;
    let height = product(&was, &was).sqrt();
    [height, product(&was, &is) / height.max(f64::MIN_POSITIVE)]
}

/// Heights when drawn and at the end, with the fold layer and where the finer mesh is simulated.
type Heights = fn(&TimedScene, &TimedScene) -> Option<[[f64; 2]; 2]>;

fn tablecloth(start: &TimedScene, end: &TimedScene, across: bool) -> Option<[[f64; 2]; 2]> {
    let of = |name: &str, cells: usize| {
        Some([start, end].map(|s| s.mesh(name).map_or(0.0, |m| fold_height(m, cells, across))))
    };
    Some([of("cloth", 20)?, of("fine", 40)?])
}

fn sleeve(start: &TimedScene, end: &TimedScene) -> Option<[[f64; 2]; 2]> {
    let of =
        |name: &str, axis: Vec3| Some(pattern_heights(start.mesh(name)?, end.mesh(name)?, axis));
    Some([of("sleeve", Vec3::ZERO)?, of("fine", 0.2 * Vec3::X)?])
}

fn what_is_left() -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "What is left of a fold, stretched, compressed and let back in 300 frames",
        &["fold", "drawn [mm]", "folds: end [mm]", "left", "subdivided: end [mm]", "left"],
    );
    let scenes: [(&str, &[(&str, Heights)]); 3] = [
        (LENGTH, &[("tablecloth_length", |a, b| tablecloth(a, b, true))]),
        (
            PLUS,
            &[
                ("tablecloth_plus, across", |a, b| tablecloth(a, b, true)),
                ("tablecloth_plus, along", |a, b| tablecloth(a, b, false)),
            ],
        ),
        (BUCKLING, &[("buckling, mean of the pattern", sleeve)]),
    ];
    for (text, folds) in scenes {
        let (start, mut end) = (TimedScene::new(text)?, TimedScene::new(text)?);
        for _ in 0..300 {
            end.advance()?;
        }
        for (name, measure) in folds {
            let Some(both) = measure(&start, &end) else { continue };
            let millimetres = |h: f64| format!("{:.1}", 1e3 * h);
            let left = |[drawn, end]: [f64; 2]| format!("{:.0}%", 100.0 * end / drawn);
            table.row([
                (*name).to_owned(),
                millimetres(both[0][0]),
                millimetres(both[0][1]),
                left(both[0]),
                millimetres(both[1][1]),
                left(both[1]),
            ]);
        }
    }
    table.note("subdivided: the fold modelled into a mesh one level finer, simulated as a whole");
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_add_vertices_and_a_time() {
        let (times, fine) = measure(&cloth(8, "", &folds(0.2, 1)), 1).expect("runs");
        assert!(times.len() == 2 && fine > 81);
    }

    #[test]
    fn a_slope_is_found_with_its_error() {
        let (exact, none) = slope(&[(1.0, 3.0), (2.0, 5.0), (4.0, 9.0)]);
        assert!((exact - 2.0).abs() < 1e-12 && none < 1e-12, "{exact} {none}");
        // Off by 1 up, down, up, down: residuals 0.4, 1.2, 1.2, 0.4 over a spread of 5.
        let (flat, error) = slope(&[(0.0, 1.0), (1.0, -1.0), (2.0, 1.0), (3.0, -1.0)]);
        assert!(
            (flat + 0.4).abs() < 1e-12 && (error - (3.2f64 / 10.0).sqrt()).abs() < 1e-12,
            "{error}"
        );
    }

    #[test]
    fn heights_of_the_compared_folds_start_equal() {
        for text in [LENGTH, PLUS] {
            let scene = TimedScene::new(text).expect("builds");
            let [drawn, modelled] = tablecloth(&scene, &scene, true).expect("both are there");
            assert!(
                drawn[0] > 0.04 && (drawn[0] - modelled[0]).abs() < 2e-3,
                "{drawn:?} {modelled:?}"
            );
        }
        let scene = TimedScene::new(BUCKLING).expect("builds");
        for [drawn, same] in sleeve(&scene, &scene).expect("both are there") {
            assert!(drawn > 1e-3 && (same / drawn - 1.0).abs() < 1e-9, "{drawn} {same}");
        }
    }
}
