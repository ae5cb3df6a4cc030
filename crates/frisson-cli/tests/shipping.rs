//! What goes out into the world: jobs for farms, exports in parts, completions, manual pages.

mod common;

use common::Session;
use serde_json::Value;

#[test]
fn a_job_names_every_task_and_refuses_what_would_not_bake() {
    let s = Session::with_worm(6, 9);
    let out = s.ok("job worm.toml --to jobs/night --parts 4 --chunk 4");
    assert!(out.contains("wrote jobs/night/template.json: 1 shots, 11 tasks"), "{out}");
    let template: Value = serde_json::from_slice(&s.read("jobs/night/template.json")).unwrap();
    assert_eq!(template["specificationVersion"], "jobtemplate-2023-09");
    assert_eq!(template["name"], "night");
    let err = s.fails("job worm.toml --to jobs/night", 1);
    assert!(err.contains("already there") && err.contains("--force"), "{err}");
    let text = String::from_utf8(s.read("worm.toml")).unwrap();
    s.write("bad.toml", &text.replace("joint3", "joint9"));
    let err = s.fails("job bad.toml --to jobs/bad", 1);
    assert!(err.contains("bad.toml:10:") && err.contains("joint9"), "{err}");
    assert!(!s.path("jobs/bad").exists());
}

#[test]
fn farms_read_progress_and_failures() {
    let s = Session::with_worm(6, 9);
    let out = s.ok("bake worm.toml --farm --no-judge");
    assert!(out.contains("openjd_status: baking") && out.contains("openjd_progress: 100"), "{out}");
    s.ok("bake worm.toml -o jobs/out/worm.frisson --farm --no-judge");
    let (code, out, _) = s.frisson("bake worm.toml --farm");
    assert_eq!(code, 1);
    assert!(out.contains("openjd_fail: ") && out.contains("worm.frisson"), "{out}");
}

#[test]
fn parts_are_stitched_when_all_are_there() {
    let s = Session::with_worm(6, 9);
    s.ok("bake worm.toml --no-judge");
    s.ok("export worm.frisson --to shot.usda --part 1/2");
    let err = s.fails("export worm.frisson --to shot.usda --stitch 2", 1);
    assert!(err.contains("shot.0002.usdc is not there") && err.contains("--part 2/2"), "{err}");
    s.ok("export worm.frisson --to shot.usda --part 2/2");
    s.ok("export worm.frisson --to shot.usda --stitch 2");
    let root = String::from_utf8(s.read("shot.usda")).unwrap();
    assert!(root.contains("active = [(1, 0), (5, 1)]"), "{root}");
    let err = s.fails("export worm.frisson --to shot.usda --stitch 2", 1);
    assert!(err.contains("already there"), "{err}");
    let err = s.fails("export worm.frisson --to shot.usdc --part 1/2", 1);
    assert!(err.contains(".usda"), "{err}");
    s.fails("export worm.frisson --to shot.usda --part 3/2", 2);
}

#[test]
fn shells_complete_and_man_explains() {
    let s = Session::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let out = s.ok(&format!("completions {shell}"));
        assert!(out.contains("sweep") && out.contains("no-judge"), "{shell}");
        assert!(!out.contains("unpack-draco --"), "{shell}");
    }
    let out = s.ok("man pages");
    assert!(out.contains("pages to pages"), "{out}");
    let page = String::from_utf8(s.read("pages/frisson-bake.1")).unwrap();
    assert!(page.contains(".SH NAME") && page.contains("resume"), "{page}");
    assert!(!s.path("pages/frisson-unpack-draco.1").exists());
}

#[test]
fn a_judgement_is_kept_in_a_file() {
    let s = Session::with_worm(6, 5);
    s.ok("bake worm.toml --no-judge");
    s.ok("judge worm.frisson --report worm.judge.json");
    let report: Value = serde_json::from_slice(&s.read("worm.judge.json")).unwrap();
    assert_eq!(report["judgement"]["frames"], 5);
    let err = s.fails("judge worm.frisson --report worm.frisson", 1);
    assert!(err.contains("input"), "{err}");
}
