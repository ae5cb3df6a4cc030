//! The judge as a user meets it: findings, promises, exit codes.

mod common;

use common::Session;
use serde_json::Value;

/// The worm's scene with promises.
fn promise(session: &Session, tables: &str) {
    let scene = String::from_utf8(session.read("worm.toml")).unwrap();
    let plain = scene.split("[[expect]]").next().unwrap().to_owned();
    session.write("worm.toml", &format!("{plain}\n{tables}"));
}

const SWINGS: &str = "[[expect]]\nmeasure = \"effect\"\nshape = \"worm\"\nlayer = \"belly\"\nover = \"max\"\n\
    at_least = 1\nwhy = \"It swings.\"\n";
const TOO_MUCH: &str = "[[expect]]\nmeasure = \"travel\"\nshape = \"worm\"\nat_most = 0.001\n\
    why = \"It stays where it is.\"\n";

#[test]
fn promises_are_held_and_broken_ones_end_with_code_4() {
    let session = Session::with_worm(12, 30);
    promise(&session, SWINGS);
    let said = session.ok("check worm.toml --bake");
    assert!(said.contains("kept") && said.contains("1 promises kept, 0 known"), "{said}");

    promise(&session, &format!("{SWINGS}{TOO_MUCH}"));
    let (code, out, err) = session.frisson("check worm.toml --bake");
    assert_eq!(code, 4, "{out}{err}");
    assert!(
        out.contains("BROKEN") && err.contains("1 promises are not as they should be"),
        "{out}{err}"
    );
    assert_eq!(session.files(), ["worm.glb", "worm.toml"], "nothing is left behind");
}

#[test]
fn a_known_failure_is_no_failure_until_it_holds() {
    let session = Session::with_worm(12, 30);
    promise(&session, &format!("{TOO_MUCH}known = \"it wags by 300 mm\"\n"));
    let said = session.ok("check worm.toml --bake");
    assert!(said.contains("[known: it wags by 300 mm]"), "{said}");

    promise(&session, &format!("{SWINGS}known = \"it did not swing\"\n"));
    let (code, out, _) = session.frisson("check worm.toml --bake");
    assert_eq!(code, 4);
    assert!(out.contains("take `known` away"), "{out}");
}

#[test]
fn programs_read_what_was_measured() {
    let session = Session::with_worm(12, 30);
    promise(&session, &format!("{SWINGS}{TOO_MUCH}known = \"it wags\"\n"));
    let told: Value = serde_json::from_str(&session.ok("check worm.toml --bake --json")).unwrap();
    assert_eq!(told["good"], true);
    let first = &told["expectations"][0];
    assert_eq!((&first["held"], &first["unit"]), (&"kept".into(), &"mm".into()));
    assert!(first["value"].as_f64().unwrap() > 1.0 && first["frame"].is_i64(), "{first}");
    assert!(first["place"].as_array().is_some_and(|p| p.len() == 3), "{first}");
    assert_eq!(told["expectations"][1]["held"], "known");
}

#[test]
fn the_same_motion_is_measured_at_other_rates_and_beyond_the_end() {
    let session = Session::with_worm(12, 24);
    let scene = String::from_utf8(session.read("worm.toml")).unwrap();
    session.write("worm.toml", &scene.replace("frames = [1, 24]", "frames = [0, 24]"));
    let rates = "[[expect]]\nmeasure = \"rates\"\nshape = \"worm\"\nlayer = \"belly\"\n\
        rates = [25, 30, 48]\nat_most = 0.02\nwhy = \"The same at every rate.\"\n";
    let longer = "[[expect]]\nmeasure = \"effect\"\nshape = \"worm\"\nlayer = \"belly\"\nbake_to = 60\n\
        frames = [40, 60]\nover = \"max\"\nrelative_to = { frames = [16, 36] }\nbetween = [0.9, 1.1]\n\
        why = \"It swings as before.\"\n";
    promise(&session, &format!("{rates}{longer}"));
    let said = session.ok("check worm.toml --bake --keep bakes");
    assert_eq!(said.matches("kept  ").count(), 2, "{said}");
    assert!(session.path("bakes/at-48-frames-per-second.frisson").exists());
    // The bakes that are kept are used again.
    let stamp =
        || std::fs::metadata(session.path("bakes/as-it-is.frisson")).unwrap().modified().unwrap();
    let before = stamp();
    session.ok("check worm.toml --bake --keep bakes");
    assert_eq!(before, stamp());
    assert!(session.ok("check worm.toml --bake --fast").contains("0 promises kept"));
}

#[test]
fn a_bake_is_judged_compared_and_shown_close_up() {
    let session = Session::with_worm(12, 30);
    let said = session.ok("bake worm.toml -o a.frisson");
    assert!(said.contains("things to complain of"), "{said}");
    let page = String::from_utf8(session.read("a.bake-report.html")).unwrap();
    assert!(page.contains("What an animator would complain of"));
    let report: Value = serde_json::from_slice(&session.read("a.bake-report.json")).unwrap();
    assert!(report["judgement"]["frames"] == 30, "{}", report["judgement"]);

    // So strict a limit finds the wagging itself.
    let strict = "judge a.frisson --limit stretch=1.0001 --json";
    let told: Value = serde_json::from_str(&session.ok(strict)).unwrap();
    let finding = &told["judgement"]["findings"][0];
    assert_eq!((&finding["number"], &finding["shape"]), (&1.into(), &"worm".into()));
    session.fails("judge a.frisson --limit stretch=1.0001 --strict", 4);
    session.fails("judge a.frisson --limit strech=1", 2);

    let scene = String::from_utf8(session.read("worm.toml")).unwrap();
    session.write("stiff.toml", &scene.replace("frequency_hz = 2.0", "frequency_hz = 4.0"));
    session.ok("bake stiff.toml -o b.frisson --no-judge");
    let told: Value =
        serde_json::from_str(&session.ok("judge a.frisson --against b.frisson --json")).unwrap();
    assert!(told["against"][0]["rms"].as_f64().unwrap() > 0.1, "{told}");
    let same: Value =
        serde_json::from_str(&session.ok("judge a.frisson --against a.frisson --json")).unwrap();
    assert_eq!(same["against"][0]["max"], 0.0);

    let said = session.ok("judge worm.toml");
    assert!(said.contains("belly: changes") && said.contains("% of the picture"), "{said}");
    let err = session.fails("render a.frisson --finding 99 -o x.png", 1);
    assert!(err.contains("findings"), "{err}");
}
