//! The door itself: what a step costs beside its layers, and how long a layer takes to be built again.

use std::path::Path;
use std::time::Instant;

use frisson::geometry::Mesh;
use frisson::layers::LayerParams;
use frisson::stage::{Actor, Observer, Setup, Simulator};
use frisson_io::scene::SceneFile;
use glam::Vec3;

use super::layers::median;
use super::{BenchOptions, Table};
use crate::{Loader, WorkshopError};

/// A scene of each layer, and a number of it that a change of which builds the layer again.
const SCENES: &[(&str, &str, &str)] = &[
    ("flesh", include_str!("../../scenes/flesh-cat-belly.toml"), "/limit"),
    ("wrinkles", include_str!("../../scenes/wrinkles-trousers.toml"), "/tools/0/width"),
    ("cloth", include_str!("../../scenes/cloth-cape.toml"), "/thickness"),
    ("folds", include_str!("../../scenes/folds-tablecloth-length.toml"), "/folds/0/width"),
    ("hair", include_str!("../../scenes/hair-long-straight.toml"), "/style/settle_secs"),
    ("drops", include_str!("../../scenes/drops-face-rain.toml"), "/sources/0/region/count"),
    ("soft", include_str!("../../scenes/soft-character.toml"), "/cell"),
];

/// Measures.
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, WorkshopError> {
    Ok(vec![empty_steps(options)?, scene_steps(options)?])
}

/// A live actor to whom nobody pushes anything, and no layer.
fn empty_steps(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let mut table =
        Table::new("A step with no layer and no new pose", &["vertices", "step [us]", "wanted"]);
    for side in [10, 100, 300] {
        let mut mesh = Mesh::default();
        let topology =
            frisson::geometry::MeshTopology { vertex_count: side * side, ..Default::default() };
        mesh.topology = topology.into();
        mesh.positions = vec![Vec3::ZERO; side * side];
        let actor = Actor::meshes_named("still", vec![mesh]).live();
        let setup = Setup { actors: vec![actor], ..Setup::default() };
        let mut simulator = Simulator::new(setup).map_err(WorkshopError::of)?;
        let tick = simulator.clock().tick_seconds();
        let mut failed = None;
        let seconds = options.median_seconds(|| {
            for _ in 0..100 {
                if let Err(error) = simulator.step(tick) {
                    failed = Some(WorkshopError::of(error));
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let micros = 1e6 * seconds / 100.0;
        table.row([(side * side).to_string(), format!("{micros:.2}"), "10".to_owned()]);
    }
    Ok(table)
}

/// Time inside the layers and the actors [s].
struct Inside {
    started: Instant,
    actors: f64,
    layers: f64,
}

impl Observer for Inside {
    fn actors_start(&mut self) {
        self.started = Instant::now();
    }
    fn actors_end(&mut self) {
        self.actors += self.started.elapsed().as_secs_f64();
    }
    fn layer_start(&mut self, _: usize) {
        self.started = Instant::now();
    }
    fn layer_end(&mut self, _: usize) {
        self.layers += self.started.elapsed().as_secs_f64();
    }
}

fn scene_steps(options: &BenchOptions) -> Result<Table, WorkshopError> {
    let columns = [
        "layer",
        "frame [ms]",
        "actors [ms]",
        "layers [ms]",
        "door alone [us]",
        "build [ms]",
        "rebuild [ms]",
        "wanted",
    ];
    let mut table = Table::new("A frame through the door, and a layer built again", &columns);
    for (kind, text, number) in SCENES {
        let file = SceneFile::parse(Path::new("bench.toml"), text).map_err(WorkshopError::of)?;
        let started = Instant::now();
        let mut stage = file.build(&Loader).map_err(WorkshopError::of)?.stage;
        let build = started.elapsed().as_secs_f64();
        let frames = if options.quick { 6 } else { 24 };
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..frames {
            let mut inside = Inside { started: Instant::now(), actors: 0.0, layers: 0.0 };
            let started = Instant::now();
            stage.advance_frame(&mut inside).map_err(WorkshopError::of)?;
            times[0].push(started.elapsed().as_secs_f64());
            times[1].push(inside.actors);
            times[2].push(inside.layers);
        }
        let [frame, actors, layers] = times.map(median);
        let rebuild = rebuild_seconds(&mut stage, kind, number);
        if let Err(problem) = &rebuild {
            table.note(problem.to_string());
        }
        table.row([
            (*kind).to_owned(),
            format!("{:.2}", 1e3 * frame),
            format!("{:.2}", 1e3 * actors),
            format!("{:.2}", 1e3 * layers),
            format!("{:.0}", 1e6 * (frame - actors - layers).max(0.0)),
            format!("{:.0}", 1e3 * build),
            rebuild.map_or_else(|_| "-".to_owned(), |seconds| format!("{:.0}", 1e3 * seconds)),
            "1000".to_owned(),
        ]);
    }
    table.note(format!("{} threads; medians over frames", rayon::current_num_threads()));
    table.note("door alone: a frame less its actors and layers; build: reading and building the whole scene");
    table.note("rebuild: one parameter that needs it is changed in the middle of the shot, until the frame shows it");
    Ok(table)
}

/// Changes one number of the first layer of a kind; time until the frame shows it [s].
fn rebuild_seconds(stage: &mut Simulator, kind: &str, number: &str) -> Result<f64, WorkshopError> {
    let mut params = None;
    for layer in stage.params() {
        let mut value = serde_json::to_value(layer).map_err(WorkshopError::of)?;
        let path = format!("/{kind}{number}");
        if let Some(found) = value.pointer_mut(&path) {
            *found = match found.as_i64() {
                Some(whole) => (whole + 1).into(),
                None => (1.05 * found.as_f64().unwrap_or(1.0)).into(),
            };
            params = Some(serde_json::from_value::<LayerParams>(value).map_err(WorkshopError::of)?);
            break;
        }
    }
    let params = params.ok_or_else(|| {
        WorkshopError::of(format!("the scene of {kind} has no layer with {number}"))
    })?;
    let started = Instant::now();
    let change = stage.set_params(&params).map_err(WorkshopError::of)?;
    let seconds = started.elapsed().as_secs_f64();
    if change < frisson::stage::Change::Rebuild {
        return Err(WorkshopError::of(format!("{kind}{number} does not build the layer again")));
    }
    Ok(seconds)
}
