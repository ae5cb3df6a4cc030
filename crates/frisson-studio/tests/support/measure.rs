//! How long things take, on the page.

use super::support::Browser;
use super::{CAT, SHOWN, browser_or_say, scene, serve};

/// One scene of each layer.
const LAYERS: [&str; 7] = [
    "demo-cat",
    "wrinkles-wrist",
    "cloth-flag",
    "folds-tablecloth-plus",
    "hair-curly",
    "drops-tear",
    "soft-muscles",
];

/// Those of them that have a draft worth measuring.
const HEAVY: [&str; 3] = ["hair-curly", "drops-tear", "soft-muscles"];

/// Frame until which the layers have run when they are tuned.
const EARLY: &str = "studio.engine.value.range[0] + 4";

/// Sends edits of the first parameter that may change while it runs, one when the picture of the last is
/// there, and answers with the times: edit taken, frame there, picture drawn; the time of the engine and of
/// a frame; how long a picture alone takes where nothing else goes on.
const EDITS: &str = "(async () => { \
    const layer = studio.layers.value[0]; \
    const all = studio.controlsOf(layer).filter(c => c.control.kind === 'number' && c.control.change === 'live' \
        && c.control.slider && typeof c.value === 'number'); \
    const c = all[0]; if (!c) return null; \
    const times = []; \
    for (let k = 0; k < 12; k++) { \
        const [low, high] = c.control.slider; \
        const value = low + (high - low) * (0.3 + 0.03 * k); \
        studio.latencies.length = 0; \
        await studio.send([{ set: { path: c.path, value: c.control.whole ? Math.round(value) + k : value } }], 'measure', null); \
        for (let w = 0; w < 400 && !studio.latencies[0]?.drawn; w++) await new Promise(d => setTimeout(d, 5)); \
        const one = studio.latencies[0]; \
        if (one?.drawn) times.push([one.drawn - one.started, studio.engine.value.change_ms, one.answered - one.started, one.got - one.started]); \
    } \
    times.sort((a, b) => a[0] - b[0]); \
    const gl = studio.view.renderer.getContext(); const pixel = new Uint8Array(4); const drawing = []; \
    for (let k = 0; k < 7; k++) { \
        const begun = performance.now(); studio.view.drawWhole(); \
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); drawing.push(performance.now() - begun); \
        await new Promise(d => setTimeout(d, 30)); \
    } \
    drawing.sort((a, b) => a - b); \
    const middle = k => times.map(t => t[k]).sort((a, b) => a - b)[times.length >> 1]; \
    return { path: c.path, n: times.length, median: times[times.length >> 1]?.[0], \
        p95: times[Math.floor(times.length * 0.95)]?.[0], engine: middle(1), answered: middle(2), got: middle(3), frame: studio.engine.value.frame_ms, picture: drawing[3] }; })()";

/// Prints the table of the book: no limit is held, the machine may be busy.
#[test]
#[ignore = "slow: the long lane runs it"]
fn measure() {
    let Some(program) = browser_or_say() else { return };
    let folder = tempfile::tempdir().unwrap();
    let started = std::time::Instant::now();
    let url = serve(&scene(folder.path(), "cat.toml", CAT));
    let served = started.elapsed();
    let mut browser = Browser::open(&program, "about:blank");
    let asked = std::time::Instant::now();
    browser.go(&url);
    browser.wait(SHOWN);
    eprintln!("start to first picture: {:?} (server {served:?})", asked.elapsed() + served);
    let chosen = std::env::var("FRISSON_STUDIO_LAYERS").unwrap_or_else(|_| LAYERS.join(" "));
    for name in chosen.split(' ').filter(|n| !n.is_empty()) {
        open_gallery(&mut browser, name);
        edit(&mut browser, name, EARLY);
        // Drafts are for layers whose frame takes longer than a picture may.
        if HEAVY.contains(&name) {
            browser.click("#draft");
            browser.wait("studio.remote.value.draft && studio.engine.value.change === 'build'");
            edit(&mut browser, &format!("{name}, draft"), "studio.engine.value.range[1]");
            browser.click("#draft");
        }
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
    let minutes: f64 = std::env::var("FRISSON_STUDIO_MINUTES").map_or(0.2, |m| m.parse().unwrap());
    let heap = "performance.memory.usedJSHeapSize / 1e6";
    let before = (browser.get(heap), resident());
    browser.get(&format!(
        "(async () => {{ studio.playing.value = true; await new Promise(x => setTimeout(x, {})); studio.playing.value = false }})()",
        60e3 * minutes
    ));
    eprintln!(
        "memory before and after {minutes} minutes of playing [MB]: page {} to {}, server and test {} to {}",
        before.0,
        browser.get(heap),
        before.1,
        resident()
    );
}

/// Prints how long edits take to be seen, at the fifth frame, once the layers have run until a frame.
fn edit(browser: &mut Browser, what: &str, until: &str) {
    browser.get(&format!("studio.frame.value = {EARLY}"));
    browser.wait(&format!(
        "studio.engine.value.ready.some(r => r[1] >= {until}) && studio.shown.number === studio.frame.value"
    ));
    eprintln!("{what}: slider to picture [ms] {}", browser.get(EDITS));
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
