//! The studio in a real browser. Without one, every test says so loudly and passes.
//!
//! The first runs with every change; the others (`--ignored`) in the long lane.
//! `FRISSON_STUDIO_PICTURES=FOLDER` keeps pictures of the pages.
//!
//! ```text
//! open      opening: characters and their switches, gallery, files beside, dropped files, remarks
//! see       seeing: time, camera, wireframe, insides, colours, both sides; tools: trails, seeds, depth
//! tune      tuning: search, changed only, number, colour, choice, reset, switches; tools: curves; here: sliders
//! draw      tools: every tool and its undo; lines: while it moves, points, widths, folds; tuning: mirror, redo
//! text      here: mistakes at their line; lines: save as, changes from outside; here: recovery
//! bake      here: stop, resume, export, film; baking: sheet, animation, judge, a stopped export; lines: graphs, findings, pictures
//! read      reading: names, contrast, a layout that stands still
//! ```

#[path = "support/baking.rs"]
mod baking;
#[path = "support/lines.rs"]
mod lines;
#[path = "support/measure.rs"]
mod measure;
#[path = "support/opening.rs"]
mod opening;
#[path = "support/reading.rs"]
mod reading;
#[path = "support/seeing.rs"]
mod seeing;
mod support;
#[path = "support/tools.rs"]
mod tools;
#[path = "support/tuning.rs"]
mod tuning;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use frisson_studio::{Page, Served, Studio};
use support::{Browser, find_browser};

const CAT: &str = include_str!("../../../scenes/demo-cat.toml");
/// Takes seconds to bake: time to leave, or to stop it.
const FLAG: &str = include_str!("../../../scenes/cloth-flag.toml");
const WRIST: &str = include_str!("../../../scenes/wrinkles-wrist.toml");

/// The picture is there.
const SHOWN: &str = "studio.shown.a && studio.view.drawn > 0";

/// A bake has begun.
const BAKING: &str =
    "studio.remote.value.job?.state === 'running' && studio.remote.value.job.done > 3";

fn browser_or_say() -> Option<PathBuf> {
    let found = find_browser();
    if found.is_none() {
        eprintln!("studio in a browser: SKIPPED: no chromium (FRISSON_BROWSER names another)");
    }
    found
}

fn scene(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// The page of the program, or one that somebody works on.
fn page() -> Page {
    Page(std::env::var_os("FRISSON_STUDIO_PAGE").map(Into::into))
}

/// Serves in this process.
fn serve(what: &Path) -> String {
    let studio = Studio::open(what.to_str().unwrap()).unwrap();
    let served = Served::bind(studio, 0, page()).unwrap();
    let url = served.url();
    std::thread::spawn(move || served.run());
    url
}

/// A scene, served and shown.
struct Shown {
    /// Where its file is.
    folder: tempfile::TempDir,
    /// The browser's program.
    program: PathBuf,
    url: String,
    browser: Browser,
}

/// Opens a scene and waits for its picture; none without a browser.
fn show(name: &str, text: &str) -> Option<Shown> {
    let program = browser_or_say()?;
    let folder = tempfile::tempdir().unwrap();
    let url = serve(&scene(folder.path(), name, text));
    let mut browser = Browser::open(&program, &url);
    browser.wait(SHOWN);
    Some(Shown { folder, program, url, browser })
}

/// Positions of a mesh as the page has them, as one number for each that is asked for.
fn positions(mesh: &str) -> String {
    format!(
        "Array.from(studio.view.left.mesh('{mesh}').object.geometry.attributes.position.array.slice(0, 6000))"
    )
}

/// Drags a slider of a parameter to a share of its length.
fn slide(browser: &mut Browser, path: &str, to: f64) {
    let selector = format!("input[type=range][data-path=\"{path}\"]");
    let (x, y) = browser.middle(&selector);
    let width =
        browser.get(&format!("document.querySelector('{selector}').getBoundingClientRect().width"));
    let width = width.as_f64().unwrap();
    let value = browser
        .get(&format!("Number(document.querySelector('{selector}').value)"))
        .as_f64()
        .unwrap();
    // The knob's middle stays half a knob away from the ends.
    let at = |share: f64| (x - width / 2.0 + 8.0 + share * (width - 16.0), y);
    let between: Vec<(f64, f64)> =
        (0..=5).map(|k| at(value + (to - value) * f64::from(k) / 5.0)).collect();
    browser.drag(&between);
}

#[test]
fn open_play_tune_and_undo() {
    let Some(Shown { mut browser, folder: _folder, .. }) = show("cat.toml", CAT) else { return };
    browser.wait("studio.engine.value.ready[0][1] === 99");

    // News alone draw nothing: a picture of heavy hair takes longer than the next piece of news.
    browser.wait("studio.view.scene.environment && !studio.view.dirty && !studio.view.pace.fence && studio.view.pace.coarseness === 0");
    let before = browser.get("[studio.view.drawn, studio.remote.value.seq]");
    for _ in 0..5 {
        browser.get(
            "fetch('leave', { method: 'POST', body: '{\"page\":\"nobody\"}' }).then(r => r.ok)",
        );
        browser.get("new Promise(x => setTimeout(x, 80))");
    }
    browser.wait(&format!("studio.remote.value.seq >= {} + 5", before[1]));
    assert_eq!(browser.get("studio.view.drawn"), before[0]);

    browser.key(" ", false);
    browser.wait("studio.playing.value && studio.shown.number > 3");
    browser.key(" ", false);
    browser.wait("!studio.playing.value");

    // At the landing the belly swings: with other springs it is elsewhere.
    browser.get("studio.frame.value = 60");
    browser.wait("studio.shown.number === 60 && studio.view.lastDrawnFrame === 60");
    let before = browser.get(&positions("cat"));
    browser.get("studio.frame.value = 50");
    browser.wait("studio.shown.number === 50 && studio.view.lastDrawnFrame === 50");
    slide(&mut browser, "layers[0].flesh.frequency_hz", 0.15);
    browser.wait("studio.doc.value.undo === 'frequency_hz' && studio.engine.value.revision === studio.doc.value.revision");
    browser.wait("studio.engine.value.ready.at(-1)[1] === 99");
    assert_eq!(browser.get("studio.engine.value.change"), "live");
    browser.get("studio.frame.value = 60");
    browser.wait(
        "studio.shown.number === 60 && studio.view.lastDrawnTake === studio.engine.value.take",
    );
    let after = browser.get(&positions("cat"));
    assert_ne!(before, after, "the slider moved vertices");
    browser.picture("tuned");

    // One line of the text is another, and its remarks are still there.
    let text = browser.get("studio.doc.value.text").as_str().unwrap().to_owned();
    let lines: Vec<&str> =
        text.lines().zip(CAT.lines()).filter(|(a, b)| a != b).map(|(a, _)| a).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("frequency_hz"));
    browser.key("z", true);
    browser.wait("studio.doc.value.undo === null");
    assert_eq!(browser.get("studio.doc.value.text"), CAT, "a whole drag is one step");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn draw_a_wrinkle_scrub_and_compare() {
    let Some(Shown { folder: _folder, program, url, mut browser }) = show("wrist.toml", WRIST)
    else {
        return;
    };
    browser.wait("studio.engine.value.ready[0][1] === studio.engine.value.range[1]");

    // Scrubbing what is simulated shows it.
    for frame in [30, 5, 18, 36, 30] {
        browser.get(&format!("studio.frame.value = {frame}"));
        browser.wait(&format!("studio.shown.number === {frame}"));
    }
    browser.click("[data-tool=wrinkle]");
    let (x, y) = browser.middle("main.view canvas");
    browser.drag(&[(x - 20.0, y + 60.0), (x + 10.0, y + 60.0), (x + 60.0, y + 60.0)]);
    browser.wait("studio.layers.value[0].params.tools.length === 2");
    browser.wait("studio.engine.value.revision === studio.doc.value.revision && studio.remote.value.places.length === 4");
    let text = browser.get("studio.doc.value.text").as_str().unwrap().to_owned();
    let drawn = text.split("name = \"line\"").nth(1).expect("the wrinkle is in the text");
    assert!(drawn.contains("triangle = "), "it sticks to a triangle: {drawn}");
    assert_eq!(browser.get("studio.doc.value.trouble.length"), 0);
    // The beads are where the pointer was: on the page, on the skin, through text and simulation.
    browser.wait("studio.view.lastDrawnTake === studio.engine.value.take");
    let beads = browser.get(
        "studio.remote.value.places.slice(2).map(p => { const v = studio.view.whereIs(p).project(studio.view.camera); \
         const b = studio.view.canvas.getBoundingClientRect(); \
         return [b.x + (v.x + 1) / 2 * b.width, b.y + (1 - v.y) / 2 * b.height] })",
    );
    for (bead, wanted) in [(&beads[0], x - 20.0), (&beads[1], x + 60.0)] {
        let off = (bead[0].as_f64().unwrap() - wanted).hypot(bead[1].as_f64().unwrap() - y - 60.0);
        // Folds lift the skin a little from where it was drawn on.
        assert!(off < 12.0, "{beads}, drawn at {wanted}, {}", y + 60.0);
    }
    browser.picture("drawn");

    // The text can be written, and mistakes are shown at their line.
    browser.click("#text-tab");
    browser.wait("document.querySelector('#text')");
    browser.get("(() => { const t = document.querySelector('#text'); t.value = t.value.replace('max_level', 'max_levle'); t.dispatchEvent(new Event('input', { bubbles: true })); })()");
    browser.wait("document.querySelector('.numbers .bad')");
    let said = browser.get("document.querySelector('.problems').innerText");
    assert!(said.as_str().unwrap().contains("max_level"), "{said}");
    browser.picture("mistake");
    browser.click("#undo");
    browser.wait("studio.doc.value.trouble.length === 0");
    browser.click("#undo");
    browser.wait("studio.layers.value[0].params.tools.length === 1");

    // Without the layer the skin is smooth: both sides are drawn, and differ.
    browser.click("[data-tool=look]");
    browser.click("#without");
    browser.wait(
        "studio.remote.value.compared && studio.shown.b && studio.view.right.shapes.size > 0",
    );
    let both =
        browser.get("[studio.view.left, studio.view.right].map(s => s.mesh('wrist').shape.count)");
    assert!(both[0].as_u64() > both[1].as_u64(), "the layer refines: {both}");
    browser.picture("compared");
    browser.click("#without");
    browser.wait("!studio.remote.value.compared");

    // A second page is told, and tells the first.
    let mut second = Browser::open(&program, &url);
    second.wait("document.querySelector('#second')");
    browser.wait("document.querySelector('#second')");
    drop(second);
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn bake_and_export_while_the_page_is_closed() {
    // Long enough for a person to reach the button.
    let long = FLAG.replacen("frames = [0, 150]", "frames = [0, 500]", 1);
    let Some(shown) = show("flag.toml", &long) else { return };
    let Shown { folder, program, url, mut browser } = shown;
    let last = browser.get("studio.engine.value.range[1]");
    browser.key("b", false);
    browser.click("#bake");
    browser.wait(BAKING);
    // Stopped by hand, it goes on where it was.
    browser.click(".dialog .stop");
    browser.wait("studio.remote.value.job.state === 'stopped'");
    let cache = folder.path().join("flag.frisson");
    assert!(!cache.exists() && folder.path().join("flag.frisson.part").exists());
    browser.click("#resume");
    browser.wait("studio.remote.value.job.number === 2");
    browser.go("about:blank");

    let mut again = Browser::open(&program, &url);
    again.wait("studio.remote.value.job.state !== 'running'");
    assert_eq!(again.get("studio.remote.value.job.state"), "done");
    assert!(cache.exists());
    again.wait(SHOWN);
    again.key("b", false);
    again.get("(() => { const s = document.querySelector('.dialog select'); s.value = 2; s.dispatchEvent(new Event('change', { bubbles: true })); })()");
    again.wait("document.querySelector('.dialog input[type=text]').value === 'flag.glb'");
    again.click("#export");
    again.wait("studio.remote.value.job.number === 3 && studio.remote.value.job.state === 'done'");
    assert!(folder.path().join("flag.glb").exists());
    again.picture("baked");
    drop(again);

    // The bake itself can be opened.
    let url = serve(&cache);
    let mut browser = Browser::open(&program, &url);
    browser.wait(SHOWN);
    browser.wait(&format!("studio.engine.value.ready[0][1] === {last}"));
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// A film of the view, by a click: one pass of the shot, kept by the page.
#[test]
#[ignore = "slow: the long lane runs it"]
fn film_the_view() {
    let short = CAT.replacen("frisson = 2\n", "frisson = 2\nframes = [40, 52]\n", 1);
    let Some(Shown { folder: _folder, mut browser, .. }) = show("cat.toml", &short) else { return };
    browser.wait("studio.engine.value.ready[0][1] === 52");
    // What would become a file of the browser's folder of downloads.
    browser.get("(() => { const make = URL.createObjectURL; URL.createObjectURL = blob => { window.kept = blob; return make(blob); }; })()");
    browser.key("b", false);
    browser.click("#film");
    browser.wait("window.kept?.type === 'video/webm'");
    let start =
        browser.get("window.kept.slice(0, 4).arrayBuffer().then(b => [...new Uint8Array(b)])");
    assert_eq!(start, serde_json::json!([0x1a, 0x45, 0xdf, 0xa3]), "the first bytes of a WebM");
    let size = browser.get("window.kept.size").as_f64().unwrap();
    assert!(size > 1e3, "{size} bytes");
    // It plays, and shows more than one colour.
    browser.get("(() => { const v = window.film = document.createElement('video'); v.muted = true; v.src = URL.createObjectURL(window.kept); v.play(); })()");
    browser.wait("window.film.videoWidth > 300 && window.film.currentTime > 0.1");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// Serves what the environment names, so that a test can kill it.
#[test]
fn serve_when_asked() {
    let Some(what) = std::env::var_os("FRISSON_STUDIO_SERVE") else { return };
    let studio = Studio::open(what.to_str().unwrap()).unwrap();
    let served = Served::bind(studio, 0, page()).unwrap();
    println!("served at {}", served.url());
    served.run();
}

fn spawn(what: &Path) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["serve_when_asked", "--exact", "--nocapture"])
        .env("FRISSON_STUDIO_SERVE", what)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let found =
        lines.by_ref().find_map(|l| l.split_once("served at ").map(|(_, url)| url.to_owned()));
    // The server is a test that says so when it takes long: a pipe that nobody reads would end it.
    std::thread::spawn(move || lines.for_each(drop));
    (child, found.expect("the address is printed"))
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn what_is_unsaved_survives_the_programs_death() {
    let Some(program) = browser_or_say() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = scene(folder.path(), "cat.toml", CAT);
    let (mut child, url) = spawn(&path);
    let mut browser = Browser::open(&program, &url);
    browser.wait(SHOWN);
    slide(&mut browser, "layers[0].flesh.damping_ratio", 0.2);
    browser.wait("studio.doc.value.undo === 'damping_ratio'");
    let text = browser.get("studio.doc.value.text");
    let kept = folder.path().join("cat.toml.unsaved");
    let end = std::time::Instant::now() + support::PATIENCE;
    while std::fs::read_to_string(&kept).ok().as_deref() != text.as_str() {
        assert!(std::time::Instant::now() < end, "nothing was kept");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), CAT, "the file itself is untouched");
    browser.wait("document.querySelector('.banner')?.innerText.includes('does not answer')");

    let (mut child, url) = spawn(&path);
    browser.go(&url);
    browser.wait(SHOWN);
    browser.click("#recover");
    browser.wait("studio.doc.value.undo === 'recover unsaved text'");
    assert_eq!(browser.get("studio.doc.value.text"), text);
    browser.key("s", true);
    browser.wait("!studio.doc.value.unsaved");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text.as_str().unwrap());
    assert!(!kept.exists());
    child.kill().unwrap();
    child.wait().unwrap();
}
