//! `frisson export --joints`: flesh as extra joints of a GLB, from a scene file.

use std::path::Path;

use frisson::layers::flesh::FleshLayer;
use frisson::stage::{Running, Simulator};
use frisson_io::gltf::{Document, JointsOptions, JointsReport, export_joints};
use frisson_io::outputs;
use frisson_io::scene::SceneFile;
use frisson_workshop::{Loader, human_bytes};
use serde_json::json;

use super::bake::{export_failure, how_to_open};
use crate::failure::Failure;
use crate::ui::Ui;

/// Simulates a scene and writes an actor with its flesh as joints.
pub fn write_joints(
    scene: &Path,
    target: &Path,
    actor: Option<&str>,
    influences: usize,
    overwrite: bool,
    ui: &Ui,
) -> Result<(), Failure> {
    let is_scene = scene.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    if !is_scene {
        let problem = "flesh becomes joints from the scene file: a cache holds positions only";
        return Err(Failure::input(problem).help("give the scene, not its cache"));
    }
    let file = SceneFile::read(scene)?;
    let built = file.build(&Loader)?;
    outputs::prepare(&[target.to_owned()], &built.inputs)?;
    let mut stage = built.stage;
    let actor = match actor {
        Some(name) => stage.actors().find(name).ok_or_else(|| {
            let names: Vec<&str> = stage.actors().all().iter().map(|a| a.name.as_str()).collect();
            Failure::input(format!("there is no actor named {name:?}"))
                .help(format!("the actors: {}", names.join(", ")))
        })?,
        None => first_with_flesh(&stage),
    };
    let options =
        JointsOptions { max_influences: influences, overwrite, ..JointsOptions::default() };
    let name = &stage.actors().all()[actor].name;
    let input = source_document(&file, name);
    let mut progress = ui.progress(&format!("writing {}", target.display()));
    let report = export_joints(&mut stage, actor, input.as_ref(), target, &options, &mut progress)
        .map_err(|e| export_failure(&e.into(), scene))?;
    drop(progress);
    tell_joints(ui, target, &report);
    Ok(())
}

/// The file an actor was read from, whose materials, textures and extensions are to be kept.
fn source_document(file: &SceneFile, actor: &str) -> Option<Document> {
    let (_, params) = file.scene.actors.0.iter().find(|(name, _)| name == actor)?;
    let path = file.folder().join(&params.source);
    Document::is_kind(&path).then(|| Document::open(&path).ok()).flatten()
}

fn first_with_flesh(stage: &Simulator) -> usize {
    let flesh =
        stage.layers().iter().filter_map(|l| l.as_any().downcast_ref::<Running<FleshLayer>>());
    flesh.map(|f| f.rest().actor).next().unwrap_or(0)
}

fn tell_joints(ui: &Ui, target: &Path, report: &JointsReport) {
    let name = target.display();
    ui.say(format!("wrote {name}, {}{}", human_bytes(report.bytes), how_to_open(".glb")));
    ui.say(format!(
        "{} flesh elements as {} joints over {} frames; greatest swing {:.1} mm; off the exact layer by \
         {:.3} mm at most, {:.3} mm for 99 vertices in 100",
        report.elements,
        report.joints,
        report.frames,
        1e3 * report.peak,
        1e3 * report.max_error(),
        1e3 * report.p99_error(),
    ));
    for warning in &report.warnings {
        ui.remark(format!("warning: {warning}"));
    }
    ui.result(|| {
        json!({ "file": target, "bytes": report.bytes, "elements": report.elements,
                "joints": report.joints, "frames": report.frames, "peak_m": report.peak,
                "max_error_m": report.max_error(), "p99_error_m": report.p99_error(),
                "far_vertices": report.far_vertices(), "warnings": report.warnings })
    });
}
