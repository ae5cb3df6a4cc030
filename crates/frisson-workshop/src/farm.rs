//! A job for a farm: an Open Job Description bundle of some scenes.
//!
//! ```text
//! Bake ──► Judge
//!      ├─► Export (in parts) ──► Stitch
//!      ├─► Render (by frame ranges)
//!      └─► Sheet
//! ```
//!
//! A shot is baked by one task: time is not cut, since every frame needs the one before. What reads a finished bake is
//! cut as finely as wanted. Every task names its outputs by the shot and can be run again: a bake goes on where it
//! was killed, the rest replaces what is there.

use std::path::{Component, Path, PathBuf};

use frisson_io::scene::SceneFile;
use frisson_picture::output::write_text;
use serde_json::{Value, json};

use crate::{Loader, WorkshopError};

/// Most values of one task parameter that the specification allows.
const MOST_TASKS: usize = 1024;

/// How a job is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Name of the job.
    pub name: String,
    /// Parts of each USD export; 0 for none.
    pub parts: u32,
    /// Frames of a task that renders; 0 renders none.
    pub chunk: u32,
    /// Threads of a task; without it, all of the machine.
    pub threads: Option<u16>,
}

/// A shot of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shot {
    name: String,
    scene: PathBuf,
    first: i64,
    last: i64,
}

/// Files of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The job's template.
    pub template: PathBuf,
    /// Values of its parameters on this machine.
    pub parameters: PathBuf,
    /// Tasks of all steps.
    pub tasks: usize,
}

impl Job {
    /// Checks the scenes and writes the bundle into a folder; a template that is there is replaced if `force`.
    pub fn write(
        &self,
        scenes: &[PathBuf],
        folder: &Path,
        force: bool,
    ) -> Result<Bundle, WorkshopError> {
        let template = folder.join("template.json");
        if template.exists() && !force {
            return Err(WorkshopError::advised(
                format!("{} is already there", template.display()),
                "give another folder with --to, or --force",
            ));
        }
        let shots = scenes.iter().map(|s| Shot::read(s)).collect::<Result<Vec<_>, _>>()?;
        refuse_twice(&shots)?;
        let project = common_folder(&shots);
        let steps = self.steps(&shots, &project)?;
        let tasks = steps.iter().map(task_count).sum();
        std::fs::create_dir_all(folder).map_err(|e| WorkshopError::file(folder, e))?;
        let here = folder.canonicalize().map_err(|e| WorkshopError::file(folder, e))?;
        let output = here.join("output");
        let write = |path: &Path, value: &Value| write_text(path, &format!("{value:#}\n"));
        write(&template, &self.template(steps))?;
        let parameters = folder.join("parameters.json");
        write(&parameters, &json!({ "Project": project, "Output": output }))?;
        write(&folder.join("parameter_values.json"), &parameter_values(&project, &output))?;
        write(&folder.join("asset_references.json"), &assets(&project, &output))?;
        Ok(Bundle { template, parameters, tasks })
    }

    fn template(&self, steps: Vec<Value>) -> Value {
        json!({
            "specificationVersion": "jobtemplate-2023-09",
            "name": self.name,
            "parameterDefinitions": [
                { "name": "Frisson", "type": "STRING", "default": "frisson",
                  "description": "The command, by name or by path." },
                { "name": "Project", "type": "PATH", "objectType": "DIRECTORY", "dataFlow": "IN",
                  "description": "Folder that the scenes and their characters lie in." },
                { "name": "Output", "type": "PATH", "objectType": "DIRECTORY", "dataFlow": "OUT",
                  "description": "Folder for bakes, exports and pictures." },
            ],
            "steps": steps,
        })
    }

    fn steps(&self, shots: &[Shot], project: &Path) -> Result<Vec<Value>, WorkshopError> {
        let names: Vec<&str> = shots.iter().map(|s| s.name.as_str()).collect();
        let scenes: Vec<String> =
            shots.iter().map(|s| inside(project, &s.scene)).collect::<Result<_, _>>()?;
        let cache = "{{Param.Output}}/{{Task.Param.Shot}}.frisson";
        let of = |ending: &str| format!("{{{{Param.Output}}}}/{{{{Task.Param.Shot}}}}.{ending}");
        let shot = ("Shot", json!(names));
        let scene = "{{Param.Project}}/{{Task.Param.Scene}}";
        // Going on is also how it starts: a task that is run again does not begin anew.
        let bake = ["bake", scene, "--output", cache, "--resume", "--no-judge", "--no-exports"];
        let mut steps = vec![
            self.step("Bake", None, &[shot.clone(), ("Scene", json!(scenes))], &bake),
            self.step(
                "Judge",
                Some("Bake"),
                std::slice::from_ref(&shot),
                &["judge", cache, "--report", &of("judge.json")],
            ),
        ];
        if self.parts > 0 {
            let root = of("usda");
            let pieces = shots.iter().flat_map(|s| {
                let frames = (s.last - s.first + 1).max(1);
                let count = i64::from(self.parts).min(frames);
                (1..=count).map(move |i| (s.name.as_str(), format!("{i}/{count}"), count))
            });
            let pieces: Vec<(&str, String, i64)> = pieces.collect();
            let shots_of: Vec<&str> = pieces.iter().map(|p| p.0).collect();
            let parts: Vec<&str> = pieces.iter().map(|p| p.1.as_str()).collect();
            let counts: Vec<String> = shots
                .iter()
                .map(|s| i64::from(self.parts).min((s.last - s.first + 1).max(1)).to_string())
                .collect();
            let part = [("Shot", json!(shots_of)), ("Part", json!(parts))];
            let export =
                ["export", cache, "--to", &root, "--part", "{{Task.Param.Part}}", "--force"];
            steps.push(self.step("Export", Some("Bake"), &part, &export));
            let stitch =
                ["export", cache, "--to", &root, "--stitch", "{{Task.Param.Count}}", "--force"];
            let whole = [shot.clone(), ("Count", json!(counts))];
            steps.push(self.step("Stitch", Some("Export"), &whole, &stitch));
        }
        if self.chunk > 0 {
            let ranges: Vec<(&str, String)> =
                shots.iter().flat_map(|s| ranges(s, self.chunk)).collect();
            let shots_of: Vec<&str> = ranges.iter().map(|r| r.0).collect();
            let frames: Vec<&str> = ranges.iter().map(|r| r.1.as_str()).collect();
            let pictures = of("frames");
            let range = "--range={{Task.Param.Frames}}";
            let render = ["render", cache, "--numbered", range, "--output", &pictures, "--force"];
            let spread = [("Shot", json!(shots_of)), ("Frames", json!(frames))];
            steps.push(self.step("Render", Some("Bake"), &spread, &render));
        }
        let sheet = ["render", cache, "--output", &of("png"), "--force"];
        steps.push(self.step("Sheet", Some("Bake"), &[shot], &sheet));
        for step in &steps {
            refuse_too_many(step)?;
        }
        Ok(steps)
    }

    /// A step whose tasks take the values of all parameters together, the first of each, then the second.
    fn step(
        &self,
        name: &str,
        after: Option<&str>,
        parameters: &[(&str, Value)],
        arguments: &[&str],
    ) -> Value {
        let definitions: Vec<Value> = parameters
            .iter()
            .map(|(name, range)| json!({ "name": name, "type": "STRING", "range": range }))
            .collect();
        let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
        let mut space = json!({ "taskParameterDefinitions": definitions });
        if names.len() > 1 {
            space["combination"] = json!(format!("({})", names.join(",")));
        }
        let mut all: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        all.push("--farm".to_owned());
        if let Some(threads) = self.threads {
            all.extend(["--threads".to_owned(), threads.to_string()]);
        }
        let run = json!({
            "command": "{{Param.Frisson}}",
            "args": all,
            // Enough to finish the frame and leave a checkpoint.
            "cancelation": { "mode": "NOTIFY_THEN_TERMINATE", "notifyPeriodInSeconds": 60 },
        });
        let mut step = json!({
            "name": name,
            "parameterSpace": space,
            "script": { "actions": { "onRun": run } },
        });
        if let Some(after) = after {
            step["dependencies"] = json!([{ "dependsOn": after }]);
        }
        step
    }
}

impl Shot {
    /// A scene that can be baked, and how long it is.
    fn read(path: &Path) -> Result<Self, WorkshopError> {
        let scene = SceneFile::read(path)?;
        let built = scene.build(&Loader)?;
        let clock = built.stage.clock();
        let place = path.canonicalize().map_err(|e| WorkshopError::file(path, e))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, scene: place, first: clock.first_frame, last: clock.last_frame })
    }
}

/// Frame ranges of a shot that are rendered together.
fn ranges(shot: &Shot, chunk: u32) -> Vec<(&str, String)> {
    let starts = (shot.first..=shot.last).step_by(chunk.max(1) as usize);
    let range = |from: i64| format!("{from}..{}", (from + i64::from(chunk) - 1).min(shot.last));
    starts.map(|from| (shot.name.as_str(), range(from))).collect()
}

fn refuse_twice(shots: &[Shot]) -> Result<(), WorkshopError> {
    let twice =
        shots.iter().enumerate().find(|(i, s)| shots[..*i].iter().any(|o| o.name == s.name));
    match twice {
        Some((_, shot)) => Err(WorkshopError::advised(
            format!("two scenes are called {:?}", shot.name),
            "outputs are named by the scene: give each its own name, or a job of its own",
        )),
        None => Ok(()),
    }
}

fn refuse_too_many(step: &Value) -> Result<(), WorkshopError> {
    let count = task_count(step);
    if count <= MOST_TASKS {
        return Ok(());
    }
    Err(WorkshopError::advised(
        format!("step {} has {count} tasks, at most {MOST_TASKS} are allowed", step["name"]),
        "take fewer scenes, fewer --parts or a larger --chunk",
    ))
}

fn task_count(step: &Value) -> usize {
    step["parameterSpace"]["taskParameterDefinitions"][0]["range"].as_array().map_or(0, Vec::len)
}

/// The deepest folder that all scenes lie in.
fn common_folder(shots: &[Shot]) -> PathBuf {
    let mut folders = shots.iter().filter_map(|s| s.scene.parent());
    let Some(first) = folders.next() else { return PathBuf::new() };
    folders.fold(first.to_owned(), |common, folder| {
        let shared = |(a, b): &(Component<'_>, Component<'_>)| a == b;
        common.components().zip(folder.components()).take_while(shared).map(|(a, _)| a).collect()
    })
}

/// A scene's path in the project's folder, as every system spells it.
fn inside(project: &Path, scene: &Path) -> Result<String, WorkshopError> {
    let inner = scene.strip_prefix(project).map_err(WorkshopError::of)?;
    let words: Option<Vec<&str>> = inner.components().map(|c| c.as_os_str().to_str()).collect();
    let refused = || WorkshopError::input(format!("{}: the name is not text", scene.display()));
    Ok(words.ok_or_else(refused)?.join("/"))
}

/// The same values as bundles of farm managers list them.
fn parameter_values(project: &Path, output: &Path) -> Value {
    json!({ "parameterValues": [
        { "name": "Project", "value": project },
        { "name": "Output", "value": output },
    ]})
}

fn assets(project: &Path, output: &Path) -> Value {
    json!({ "assetReferences": {
        "inputs": { "filenames": [], "directories": [project] },
        "outputs": { "directories": [output] },
    }})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shot(name: &str, first: i64, last: i64) -> Shot {
        Shot {
            name: name.to_owned(),
            scene: PathBuf::from(format!("/p/a/{name}.toml")),
            first,
            last,
        }
    }

    fn job() -> Job {
        Job { name: "shots".to_owned(), parts: 4, chunk: 10, threads: None }
    }

    #[test]
    fn ranges_cover_every_frame_once() {
        for (first, last, chunk) in [(0, 99, 10), (-5, 7, 4), (3, 3, 100), (1, 11, 1)] {
            let shot = shot("a", first, last);
            let mut frames = Vec::new();
            for (_, range) in ranges(&shot, chunk) {
                let (from, to) = range.split_once("..").expect("a range");
                let number = |text: &str| text.parse::<i64>().expect("a number");
                frames.extend(number(from)..=number(to));
            }
            assert_eq!(frames, (first..=last).collect::<Vec<_>>());
        }
    }

    #[test]
    fn steps_wait_for_what_they_read_and_lists_go_together() {
        let shots = [shot("a", 0, 24), shot("b", 0, 1)];
        let steps = job().steps(&shots, Path::new("/p")).expect("steps");
        let names: Vec<&str> = steps.iter().filter_map(|s| s["name"].as_str()).collect();
        assert_eq!(names, ["Bake", "Judge", "Export", "Stitch", "Render", "Sheet"]);
        assert_eq!(steps[3]["dependencies"][0]["dependsOn"], "Export");
        // b has two frames: no more than two parts.
        assert_eq!(steps.iter().map(task_count).collect::<Vec<_>>(), [2, 2, 6, 2, 4, 2]);
        for step in &steps {
            let parameters = step["parameterSpace"]["taskParameterDefinitions"].as_array();
            let lengths = parameters.into_iter().flatten();
            assert!(
                lengths
                    .map(|p| p["range"].as_array().map(Vec::len))
                    .all(|l| l == Some(task_count(step)))
            );
        }
        assert_eq!(
            steps[0]["parameterSpace"]["taskParameterDefinitions"][1]["range"][0],
            "a/a.toml"
        );
    }

    #[test]
    fn what_a_farm_would_refuse_is_refused_here() {
        let job = Job { chunk: 1, ..job() };
        assert!(job.steps(&[shot("a", 0, 5000)], Path::new("/p")).is_err());
        assert!(refuse_twice(&[shot("a", 0, 1), shot("a", 0, 1)]).is_err());
    }
}
