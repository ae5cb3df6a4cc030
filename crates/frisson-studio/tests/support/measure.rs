//! How long things take on the page, and how much is done for them.

use std::time::Instant;

use super::support::Browser;
use super::{CAT, SHOWN, browser_or_say, scene, serve, spawn};

/// One scene of each layer: its name, and a parameter that is seen at once where the first one that is live only
/// changes what happens next.
const LAYERS: [(&str, &str); 7] = [
    ("demo-cat", ""),
    ("wrinkles-wrist", ""),
    ("cloth-flag", ""),
    ("folds-tablecloth-plus", ""),
    ("hair-curly", "strands.curl_radius"),
    ("drops-tear", "trails.width"),
    ("soft-muscles", "bulge"),
];

/// Those of them that have a draft worth measuring.
const HEAVY: [&str; 4] = ["cloth-flag", "hair-curly", "drops-tear", "soft-muscles"];

/// Frame until which the layers have run when they are tuned.
const EARLY: &str = "studio.engine.value.range[0] + 4";

/// Longest time that one series of edits may take [s]: then it is told from those that were made. All of it is meant to be
/// over in eight minutes.
const SERIES: f64 = 7.0;

/// Edits of a parameter for which the layer is built anew, at most.
const REBUILDS: &str = "5";

/// Drags a slider: sends edits of one parameter, one when the picture of the last is there, and answers with times
/// (edit taken, frame there, picture drawn, and how long after the last one the whole picture was there) and with what
/// was done for an edit: ticks, frames, bytes.
const EDITS: &str = "(async (wanted, moving, change) => { \
    const layer = studio.layers.value[0]; \
    const all = studio.controlsOf(layer).filter(c => c.control.kind === 'number' && c.control.change === change \
        && c.control.slider && (typeof c.value === 'number' || c.path.endsWith(wanted || '-'))); \
    const c = wanted ? all.find(x => x.path.endsWith(wanted)) : all[0]; if (!c) return null; \
    const pause = d => new Promise(x => setTimeout(x, d)); \
    studio.playing.value = moving; if (moving) await pause(1500); \
    const times = []; const before = { ...studio.engine.value.work }; const count = COUNT; const begun = performance.now(); \
    for (let k = 0; k < count && (k < 2 || performance.now() - begun < SERIES * 1e3); k++) { \
        const [low, high] = c.control.slider; \
        const value = low + (high - low) * (0.3 + 0.4 * k / count); \
        studio.latencies.length = 0; \
        await studio.send([{ set: { path: c.path, value: c.control.whole ? Math.round(value) + k : value } }], 'measure', 'measure'); \
        for (const t = performance.now(); performance.now() - t < 15e3 && !studio.latencies[0]?.drawn;) await pause(2); \
        const one = studio.latencies[0]; \
        if (one?.drawn) times.push([one.drawn - one.started, one.answered - one.started, one.got - one.started]); \
    } \
    studio.playing.value = false; const last = performance.now(); studio.letGo(); \
    for (const t = performance.now(); performance.now() - t < 10e3 && (studio.engine.value.rough || studio.view.lastDrawnTake !== studio.engine.value.take || studio.view.pace.fence || studio.view.pace.coarseness);) await pause(5); \
    const whole = performance.now() - last; const work = studio.engine.value.work; \
    if (!times.length) return { path: c.path, n: 0 }; \
    const sorted = k => times.map(t => t[k]).sort((a, b) => a - b); const at = (k, s) => Math.round(10 * sorted(k)[Math.min(times.length - 1, Math.floor(times.length * s))]) / 10; \
    const each = x => Math.round((work[x] - before[x]) / times.length * 10) / 10; const short = x => Math.round(10 * x) / 10; \
    return { path: c.path.replace(/^.*?\\.\\w+\\./, ''), n: times.length, median: at(0, 0.5), p95: at(0, 0.95), answered: at(1, 0.5), got: at(2, 0.5), \
        whole_after: short(whole), follow_ms: short(work.follow_ms), pack_ms: short(work.pack_ms), save_ms: short(work.save_ms), frame_ms: short(studio.engine.value.frame_ms), \
        each: { orders: each('orders'), ticks: each('ticks'), frames: each('frames'), rough: each('rough'), kB: Math.round(each('bytes') / 1e3) } }; })";

fn setting(name: &str, otherwise: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| otherwise.to_owned())
}

/// Prints the tables of the book: no limit is held, the machine may be busy.
///
/// `FRISSON_STUDIO_LAYERS` chooses scenes (`none` for none), `FRISSON_STUDIO_EDITS` says how many edits of each (24),
/// `FRISSON_STUDIO_MINUTES` how long to play for the memory (1).
#[test]
#[ignore = "slow: the long lane runs it"]
fn measure() {
    let Some(program) = browser_or_say() else { return };
    let begun = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let path = scene(folder.path(), "cat.toml", CAT);
    let mut browser = Browser::open(&program, "about:blank");
    first_pictures(&mut browser, &path);
    browser.go(&serve(&path));
    browser.wait(SHOWN);
    let names: Vec<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    let chosen = setting("FRISSON_STUDIO_LAYERS", &names.join(" "));
    for name in chosen.split(' ').filter(|n| !n.is_empty() && *n != "none") {
        open_gallery(&mut browser, name);
        let seen = LAYERS.iter().find(|(n, _)| *n == name).map_or("", |(_, seen)| *seen);
        edit(&mut browser, name, &Tuned::default());
        if !seen.is_empty() {
            edit(&mut browser, name, &Tuned { path: seen, ..Tuned::default() });
        }
        edit(
            &mut browser,
            &format!("{name}, rebuilt"),
            &Tuned { change: "rebuild", ..Tuned::default() },
        );
        if HEAVY.contains(&name) {
            edit(
                &mut browser,
                &format!("{name}, playing"),
                &Tuned { is_moving: true, ..Tuned::default() },
            );
            browser.click("#draft");
            browser.wait("studio.remote.value.draft && studio.engine.value.change === 'build'");
            draft_rate(&mut browser, name);
            edit(&mut browser, &format!("{name}, draft"), &Tuned::default());
            browser.click("#draft");
            browser.wait("!studio.remote.value.draft");
        }
        eprintln!("  ({:.0} s so far)", begun.elapsed().as_secs_f64());
    }
    for (name, triangles) in [("10k vertices", 20_000), ("100k vertices", 200_000)] {
        let text = format!(
            "frisson = 2\nframes = [0, 60]\n[actors.ball]\nsource = \"builtin:sphere?triangles={triangles}\"\npath = [[0,0,0,0,0,0,0],[60,0,0,0,0,200,0]]\n"
        );
        scene(folder.path(), "ball.toml", &text);
        open_file(&mut browser, "ball.toml");
        eprintln!("{name}: {}", frames_a_second(&mut browser));
    }
    scene(folder.path(), "strands.toml", STRANDS);
    open_file(&mut browser, "strands.toml");
    eprintln!("10k strands: {}", frames_a_second(&mut browser));
    memory(&mut browser);
    eprintln!("measured in {:.0} s", begun.elapsed().as_secs_f64());
}

/// From the start of the program to the first picture of the demo, five times.
fn first_pictures(browser: &mut Browser, path: &std::path::Path) {
    let mut all = Vec::new();
    for _ in 0..5 {
        browser.go("about:blank");
        let started = Instant::now();
        let (mut child, url) = spawn(path);
        browser.go(&url);
        let asked = started.elapsed().as_secs_f64();
        browser.wait("studio.view.firstDrawn");
        // The page's own clock starts when it is asked for.
        all.push(asked + browser.get("studio.view.firstDrawn / 1e3").as_f64().unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    all.sort_by(f64::total_cmp);
    eprintln!("start to first picture [s]: median {:.2}, of {all:.2?}", all[2]);
}

/// Prints how much memory page and server have while it plays on, soft bodies with other triangles in every frame
/// last.
fn memory(browser: &mut Browser) {
    let minutes: f64 = setting("FRISSON_STUDIO_MINUTES", "1").parse().unwrap();
    for name in ["demo-cat", "soft-two-points"] {
        open_gallery(browser, name);
        browser.wait("studio.engine.value.ready[0]?.[1] === studio.engine.value.range[1]");
        browser.get("(studio.speed.value = 2, studio.playing.value = true, 0)");
        // Four looks: once warm, it should stay as it is.
        let looks: Vec<String> = (0..=4)
            .map(|k| {
                let pause = if k == 0 { 3e3 } else { 60e3 * minutes / 8.0 };
                browser.get(&format!("new Promise(x => setTimeout(x, {pause}))"));
                browser.collect_garbage();
                let page = browser.get("Math.round(performance.memory.usedJSHeapSize / 1e5) / 10");
                let held =
                    browser.get("Math.round((studio.a.bytes + studio.a.topologyBytes) / 1e5) / 10");
                let buffers = browser.get("studio.view.renderer.info.memory.geometries");
                format!(
                    "page {page} (frames {held}, {buffers} geometries) server {:.0}",
                    resident()
                )
            })
            .collect();
        browser.get("(studio.speed.value = 1, studio.playing.value = false, 0)");
        eprintln!("memory in {:.2} minutes of {name} [MB]: {}", minutes / 2.0, looks.join("; "));
    }
}

/// What is tuned, and how.
struct Tuned {
    /// End of the parameter's path; the first that is like it where it is empty.
    path: &'static str,
    /// `live` or `rebuild`.
    change: &'static str,
    /// Whether it plays meanwhile.
    is_moving: bool,
}

impl Default for Tuned {
    fn default() -> Self {
        Self { path: "", change: "live", is_moving: false }
    }
}

/// Prints how long edits take to be seen, at the fifth frame, once the layers have run until there.
fn edit(browser: &mut Browser, what: &str, tuned: &Tuned) {
    browser.get(&format!("studio.frame.value = {EARLY}"));
    browser.wait(&format!(
        "studio.engine.value.ready.some(r => r[1] >= {EARLY}) && studio.shown.number === studio.frame.value"
    ));
    let count = setting("FRISSON_STUDIO_EDITS", "24");
    let count = if tuned.change == "live" { count.as_str() } else { REBUILDS };
    let edits = EDITS.replace("COUNT", count).replace("SERIES", &SERIES.to_string());
    let Tuned { path, change, is_moving } = tuned;
    eprintln!("{what}: {}", browser.get(&format!("{edits}('{path}', {is_moving}, '{change}')")));
}

/// Prints how many frames a second are simulated in a draft, over half a second of the shot at least.
fn draft_rate(browser: &mut Browser, name: &str) {
    // As far as it gets in a while: a scene that is too heavy even so must not hold up the others.
    browser.get("(async () => { const end = performance.now() + 15e3, e = studio.engine; while (performance.now() < end && e.value.busy !== '' && !(e.value.ready[0]?.[1] >= e.value.range[0] + 45)) await new Promise(x => setTimeout(x, 50)) })()");
    let said = browser.get("({ frame_ms: Math.round(studio.engine.value.frame_ms * 10) / 10, a_second: Math.round(1e4 / studio.engine.value.frame_ms) / 10, \
        ready: studio.engine.value.ready, kB: Math.round(studio.engine.value.work.bytes / studio.engine.value.work.frames / 1e3) })");
    eprintln!("{name}, draft, simulated: {said}");
}

/// Ten thousand strands on a ball that turns.
const STRANDS: &str = "frisson = 2\nframes = [0, 20]\n[actors.ball]\nsource = \"builtin:sphere?radius=0.1\"\n\
    path = [[0,0,0,0,0,0,0],[20,0,0,0,0,40,0]]\n[[layers]]\n[layers.hair]\nname = \"hair\"\non = \"ball\"\n\
    wisps = 100\nlength = 0.1\nstrands = { per_wisp = 100 }\n";

/// Memory of this process, which serves [MB].
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|l| l.trim().split(' ').next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1e3
}

pub(super) fn open_gallery(browser: &mut Browser, name: &str) {
    open_file(browser, &format!("gallery:{name}"));
}

fn open_file(browser: &mut Browser, name: &str) {
    let before = browser.get("studio.remote.value.opened").as_u64().unwrap();
    browser.get(&format!(
        "fetch('open', {{ method: 'POST', body: JSON.stringify({{ name: '{name}' }}) }}).then(r => r.json())"
    ));
    browser.wait(&format!(
        "studio.remote.value.opened > {before} && studio.view.opened === studio.remote.value.opened"
    ));
    browser.wait("studio.engine.value.ready.length > 0");
}

/// Frames got and pictures drawn in five seconds of playing what is simulated.
fn frames_a_second(browser: &mut Browser) -> serde_json::Value {
    browser.wait("studio.engine.value.ready[0][1] === studio.engine.value.range[1]");
    browser.get(
        "(async () => { const v = studio.view; studio.playing.value = true; const [d, g] = [v.drawn, studio.counts.got]; \
         await new Promise(x => setTimeout(x, 5000)); studio.playing.value = false; \
         return { vertices: studio.shown.a.head.meshes[0].count, strands: studio.shown.a.head.curves.length ? studio.a.topologies.get(studio.shown.a.head.curves[0].topology).head.counts[1] : 0, drawn: (v.drawn - d) / 5, got: (studio.counts.got - g) / 5 } })()",
    )
}
