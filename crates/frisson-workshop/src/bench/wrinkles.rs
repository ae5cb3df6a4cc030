//! Wrinkles: the layer alone on one core beside the source's frame rates, its growth, and the
//! butterfly refinement beside what others take.

use std::hint::black_box;

use frisson::geometry::Topology;
use frisson::geometry::butterfly::Refined;
use glam::Vec3;

use super::layers::{TimedScene, median, on_one_core};
use super::{BenchOptions, Table};
use crate::WorkshopError;

const WRIST: &str = include_str!("../../scenes/wrinkles-wrist.toml");
const TROUSERS: &str = include_str!("../../scenes/wrinkles-trousers.toml");

/// Measures.
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, WorkshopError> {
    Ok(vec![source_scenes(options)?, mesh_growth(options)?, patch_growth(options)?, {
        refinement(options)?
    }])
}

/// What one run says.
struct Measured {
    /// Median times of the layer with and without a fold [s].
    folded: f64,
    flat: f64,
    /// Vertices of the mesh as it comes, and added.
    coarse: usize,
    added: usize,
}

/// Times the first layer of a scene on one core.
fn measure(text: &str, frames: usize) -> Result<Measured, WorkshopError> {
    on_one_core(|| {
        let mut scene = TimedScene::new(text)?;
        let (mut folded, mut flat) = (Vec::new(), Vec::new());
        for frame in 0..frames {
            let seconds = scene.advance()?[0];
            // Storage grows in the first frame.
            if frame == 0 {
                continue;
            }
            let active = scene.measure(0, "compression") > 0.0;
            if active { &mut folded } else { &mut flat }.push(seconds);
        }
        let total = scene.vertices(0);
        let bare = scene_without_layers(text);
        let mut plain = TimedScene::new(&bare)?;
        plain.advance()?;
        let coarse = plain.vertices(0);
        Ok(Measured {
            folded: median(folded),
            flat: median(flat),
            coarse,
            added: total.saturating_sub(coarse),
        })
    })
}

/// The scene up to its first layer.
fn scene_without_layers(text: &str) -> String {
    text.split("[[layers]]").next().unwrap_or_default().to_owned()
}

fn source_scenes(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "Wrinkles, the layer alone on one core",
        &["scene", "levels", "new vertices", "ms", "frames/s", "source", "ratio", "flat [ms]"],
    );
    let frames = if options.quick { 40 } else { 120 };
    let rows = [
        ("wrist", WRIST, 1, None),
        ("wrist", WRIST, 2, Some(23.0)),
        ("trousers", TROUSERS, 1, Some(17.0)),
        ("trousers", TROUSERS, 2, Some(7.5)),
    ];
    for (name, text, levels, source) in rows {
        let text = text.replace("max_level = 2", &format!("max_level = {levels}"));
        let m = measure(&text, frames)?;
        let rate = 1.0 / m.folded;
        table.row([
            name.to_owned(),
            levels.to_string(),
            m.added.to_string(),
            format!("{:.3}", 1e3 * m.folded),
            format!("{rate:.0}"),
            source.map_or_else(|| "-".to_owned(), |s: f64| s.to_string()),
            source.map_or_else(|| "-".to_owned(), |s: f64| format!("{:.0}", rate / s)),
            format!("{:.3}", 1e3 * m.flat),
        ]);
    }
    table.note("medians over the frames with folds; constant topology, guard on");
    table.note("source: frames/s of the whole program on a machine of 2006 (188 without folds)");
    Ok(table)
}

/// A sheet with one forced tool: `cells` squares of 2 cm a side, a line of so many cells.
fn sheet(cells: u32, length: u32) -> String {
    let size = f64::from(cells) * 0.02;
    let half = f64::from(length) * 0.01;
    format!(
        "frisson = 1\nframes = [0, 1000]\n[actors.sheet]\nsource = \"builtin:plane?cells={cells}&size={size}\"\n\
         [[layers]]\n[layers.wrinkles]\nname = \"w\"\non = \"sheet\"\nmax_level = 2\n\
         tools = [{{ name = \"t\", a = [{}, 0, 0], b = [{half}, 0, 0], width = {half}, folds = {}, \
         rest = {{ length = {} }} }}]\n",
        -half,
        length / 4,
        2.4 * half,
    )
}

fn growth_row(
    table: &mut Table,
    label: String,
    text: &str,
    frames: usize,
) -> Result<(), WorkshopError> {
    let m = measure(text, frames)?;
    table.row([
        label,
        m.coarse.to_string(),
        m.added.to_string(),
        format!("{:.3}", 1e3 * m.folded),
        format!("{:.0}", 1e9 * m.folded / m.added.max(1) as f64),
    ]);
    Ok(())
}

const GROWTH: [&str; 5] = ["", "vertices", "new vertices", "ms", "ns a new vertex"];

fn mesh_growth(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let mut table = Table::new("Growth with the mesh, the same patch, one core", &GROWTH);
    let frames = if options.quick { 12 } else { 40 };
    for cells in [50, 100, 200, 400] {
        growth_row(&mut table, format!("{cells} x {cells} cells"), &sheet(cells, 16), frames)?;
    }
    Ok(table)
}

fn patch_growth(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let mut table = Table::new("Growth with the patch, the same mesh, one core", &GROWTH);
    let frames = if options.quick { 12 } else { 40 };
    for length in [8, 16, 32, 64] {
        growth_row(&mut table, format!("line of {length} cells"), &sheet(200, length), frames)?;
    }
    Ok(table)
}

fn refinement(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let mut table = Table::new(
        "Butterfly refinement of a whole mesh",
        &["triangles", "levels", "built once [ms]", "one core [ms]", "all cores [ms]"],
    );
    let character = frisson_models::build("wrist?triangles=2520").map_err(WorkshopError::of)?;
    let mesh = &character.meshes[0].mesh;
    let triangles = &mesh.topology.triangles;
    for levels in [1u8, 2] {
        let make = || {
            let topology = Topology::build(&mesh.positions, triangles);
            let refined = Refined::build(&topology, &vec![levels; triangles.len()]);
            (topology, refined)
        };
        let build = options.median_seconds(|| {
            black_box(make());
        });
        let (topology, refined) = make();
        let positions: Vec<Vec3> =
            topology.vertex_of_point.iter().map(|&v| mesh.positions[v as usize]).collect();
        let product = || {
            let mut out = Vec::new();
            options.median_seconds(|| {
                refined.stencils.evaluate_all(black_box(&positions), &mut out);
                black_box(&out);
            })
        };
        let one = on_one_core(|| Ok(product()))?;
        table.row([
            triangles.len().to_string(),
            levels.to_string(),
            format!("{:.2}", 1e3 * build),
            format!("{:.3}", 1e3 * one),
            format!("{:.3}", 1e3 * product()),
        ]);
    }
    table.note(
        "quoted, not run here: others per frame, 2520 triangles, one level: libigl Loop 1.5 ms, VTK butterfly 3.5,",
    );
    table.note("MeshLab butterfly 3.9, Blender on a deforming mesh 5 to 27 (two levels 14 to 36);");
    table.note("they rebuild the topology each time, which is done once here");
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenes_of_the_tables_run() {
        let wrist = measure(WRIST, 12).expect("wrist");
        assert!(wrist.added > 100 && wrist.folded > 0.0);
        let sheet = measure(&sheet(50, 16), 3).expect("sheet");
        assert!(sheet.coarse == 51 * 51 && sheet.added > 100);
    }
}
