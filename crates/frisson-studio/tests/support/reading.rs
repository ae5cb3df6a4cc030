//! Whether everybody can read and reach the page: names of controls, contrast, a layout that stands still.

use super::measure::open_gallery;
use super::support::Browser;
use super::{CAT, Shown, show};

/// Controls without a name that can be read aloud.
const NAMELESS: &str = "[...document.querySelectorAll('button, input, select, textarea, [role=slider], canvas')].filter(e => e.offsetParent !== null \
    && !(e.getAttribute('aria-label') || e.textContent?.trim() || e.labels?.length && [...e.labels].some(l => l.textContent.trim()) || e.placeholder)) \
    .map(e => e.outerHTML.slice(0, 120))";

/// Texts whose colour is too near to what is behind them: 4.5 to 1 is asked for (WCAG 2.1, 1.4.3). What is disabled is not.
const PALE: &str = "(() => { \
    const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true }); \
    const rgba = css => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = '#000'; probe.fillStyle = css; probe.fillRect(0, 0, 1, 1); const d = probe.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255] }; \
    const linear = v => (v /= 255, v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); \
    const light = c => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]); \
    const over = (c, b) => [0, 1, 2].map(k => c[k] * c[3] + b[k] * (1 - c[3])); \
    const behind = e => { const all = []; for (let at = e; at; at = at.parentElement) { const c = rgba(getComputedStyle(at).backgroundColor); all.push(c); if (c[3] > 0.99) break; } \
        return all.reverse().reduce((b, c) => over(c, b), [255, 255, 255]) }; \
    const bad = []; \
    for (const e of document.querySelectorAll('#app *')) { \
        if (e.offsetParent === null || e.closest(':disabled, canvas, svg, .legend, .side') || getComputedStyle(e).visibility === 'hidden') continue; \
        const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || (/^(INPUT|SELECT|TEXTAREA)$/.test(e.tagName) && e.type !== 'range' && e.type !== 'checkbox' && e.type !== 'color'); \
        if (!own) continue; \
        const ground = behind(e), ink = over(rgba(getComputedStyle(e).color), ground); \
        const [p, q] = [light(ground), light(ink)].sort((x, y) => y - x); const ratio = (p + 0.05) / (q + 0.05); \
        if (ratio < 4.5) bad.push(`${ratio.toFixed(2)}: ${e.tagName} ${e.className} ${e.innerText?.slice(0, 30)}`); \
    } return bad })()";

/// Where the parts of the page are.
const PARTS: &str = "['header.top', 'nav.left', 'main.view', 'aside.right', 'footer.time', '.rail', '#undo', '#draft', '#parameters', '.tools'] \
    .map(s => { const b = document.querySelector(s).getBoundingClientRect(); return [s, b.x, b.y, b.width, b.height].join(' ') })";

fn check(browser: &mut Browser, what: &str) {
    for (why, found) in [("has no name", NAMELESS), ("is too pale", PALE)] {
        let found = browser.get(found);
        assert_eq!(found, serde_json::json!([]), "{what}: {why}");
    }
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn everything_has_a_name_and_can_be_read() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show("cat.toml", CAT) else { return };
    browser.wait("document.querySelectorAll('#parameters .control').length > 8");
    for dark in [false, true] {
        browser.look_in((1280, 720), dark);
        browser.wait(&format!("matchMedia('(prefers-color-scheme: dark)').matches === {dark}"));
        check(&mut browser, "the page");
        for (key, control, there) in [
            ("?", false, ".dialog .keys"),
            ("o", true, ".dialog [data-scene]"),
            ("b", false, "#bake"),
            ("+", false, ".dialog [data-kind]"),
        ] {
            browser.key(key, control);
            browser.wait(&format!("document.querySelector('{there}')"));
            check(&mut browser, &format!("dialog of {key}, dark {dark}"));
            browser.key("Escape", false);
            browser.wait("!document.querySelector('.dialog')");
        }
        browser.key("g", false);
        browser.wait("document.querySelector('.graphs .u-over')");
        // The smallest window has room for the layer and what is done with it beside them.
        let below = browser.get(
            "document.querySelector('#remove-layer').getBoundingClientRect().bottom - document.querySelector('.left .scroll').getBoundingClientRect().bottom",
        );
        assert!(below.as_f64().unwrap() <= 0.0, "{below} pixels are hidden");
        browser.click("#see");
        check(&mut browser, "graphs and menu");
        browser.key("g", false);
        browser.key("Escape", false);
        browser.wait("!document.querySelector('.menu')");
        browser.click("#text-tab");
        browser.wait("document.querySelector('#text')");
        check(&mut browser, "the text");
        browser.key("t", false);
    }
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// Nothing jumps while it plays, is tuned, compared and said something about.
#[test]
#[ignore = "slow: the long lane runs it"]
fn the_layout_stands_still() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show("cat.toml", CAT) else { return };
    for size in [(1280, 720), (1920, 1080)] {
        browser.look_in(size, false);
        browser.wait(&format!("innerWidth === {}", size.0));
        browser.wait("document.querySelectorAll('#parameters .control').length > 8");
        browser.wait("studio.engine.value.busy === ''");
        let before = browser.get(PARTS);
        for act in [
            "studio.playing.value = true",
            "studio.playing.value = false",
            "studio.send([{ set: { path: 'layers[0].flesh.frequency_hz', value: 2.1 } }], 'tune', null)",
            "fetch('compare', { method: 'POST', body: JSON.stringify({ how: { without: 0 }, moment: { frame: 3 } }) }).then(r => r.ok)",
            "fetch('compare', { method: 'POST', body: JSON.stringify({ how: null }) }).then(r => r.ok)",
            "fetch('undo', { method: 'POST', body: '{}' }).then(r => r.ok)",
            "studio.frame.value = 99",
        ] {
            for _ in 0..4 {
                browser.get("new Promise(x => setTimeout(x, 60))");
                assert_eq!(browser.get(PARTS), before, "before {act}");
            }
            browser.get(&format!("({act}, 0)"));
            browser.get("new Promise(x => setTimeout(x, 120))");
            assert_eq!(browser.get(PARTS), before, "after {act}");
        }
    }
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// Pictures of the page to be looked at, where `FRISSON_STUDIO_PICTURES` names a folder: scenes of the gallery, both
/// sizes, light and dark. `FRISSON_STUDIO_LAYERS` chooses scenes.
#[test]
#[ignore = "slow: makes pictures"]
fn pictures_of_the_page() {
    if std::env::var_os("FRISSON_STUDIO_PICTURES").is_none() {
        return;
    }
    let Some(Shown { folder: _folder, mut browser, .. }) = show("cat.toml", CAT) else { return };
    let all = "demo-cat hair-curly drops-tear drops-window soft-lips cloth-cape wrinkles-wrist folds-tablecloth-plus";
    let chosen = std::env::var("FRISSON_STUDIO_LAYERS").unwrap_or_else(|_| all.to_owned());
    for (index, name) in chosen.split(' ').enumerate() {
        open_gallery(&mut browser, name);
        browser.get("studio.frame.value = Math.min(studio.engine.value.range[1], studio.engine.value.range[0] + 24)");
        browser.wait("studio.shown.number === studio.frame.value");
        for (k, (size, dark)) in
            [((1280, 720), false), ((1920, 1080), true), ((1280, 720), true), ((1920, 1080), false)]
                .into_iter()
                .enumerate()
        {
            // Two of the four for each scene: all of them over two scenes.
            if k % 2 != index % 2 {
                continue;
            }
            browser.look_in(size, dark);
            browser.wait(&format!("innerWidth === {} && !studio.view.dirty && !studio.view.pace.fence && studio.view.pace.coarseness === 0", size.0));
            browser.get("new Promise(x => setTimeout(x, 600))");
            browser.wait("!studio.view.dirty && !studio.view.pace.fence && studio.view.pace.coarseness === 0");
            browser.picture(&format!("{name}-{}-{}", size.0, if dark { "dark" } else { "light" }));
        }
    }
}
