//! Every kind of control by hand, down to the text, and back again: undo and redo of what is drawn and tuned.

use super::support::Browser;
use super::tools::{followed, on};
use super::{CAT, Shown, WRIST, show};

/// Hair that is tuned, on a ball.
const HAIR: &str = "# Tuned.\nfrisson = 2\nframes = [0, 6]\n\n[actors.ball]\nsource = \"builtin:sphere?radius=0.1\"\n\n\
    [[layers]]\n[layers.hair]\nname = \"hair\"\non = \"ball\"\nwisps = 8\nlength = 0.1\nstrands = { per_wisp = 4 } # few\n";

fn text(browser: &mut Browser) -> String {
    browser.get("studio.doc.value.text").as_str().unwrap().to_owned()
}

/// Names of the parameters that are listed now.
fn listed(browser: &mut Browser) -> Vec<String> {
    let found = browser.get(
        "[...document.querySelectorAll('#parameters .control > label')].map(l => l.htmlFor.slice(2))",
    );
    found.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn parameters_are_found_set_and_reset() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show("hair.toml", HAIR) else { return };
    browser.wait("document.querySelectorAll('#parameters .control').length > 20");
    followed(&mut browser);
    let all = listed(&mut browser).len();

    // Search, by its key; then only what the text gives.
    browser.key("/", false);
    browser.wait("document.activeElement?.id === 'search'");
    browser.write("goal");
    browser.wait(&format!("document.querySelectorAll('#parameters .control').length < {all}"));
    assert!(listed(&mut browser).iter().any(|p| p == "layers[0].hair.goal_hz"));
    browser.key("Escape", false);
    browser.get("(() => { const s = document.querySelector('#search'); s.value = ''; s.dispatchEvent(new Event('input', { bubbles: true })); s.blur(); })()");
    browser.wait(&format!("document.querySelectorAll('#parameters .control').length === {all}"));
    browser.click("#only-changed");
    browser.wait(&format!("document.querySelectorAll('#parameters .control').length < {all}"));
    let mut given = listed(&mut browser);
    given.sort();
    assert_eq!(
        given,
        [
            "layers[0].hair.length",
            "layers[0].hair.on",
            "layers[0].hair.strands.per_wisp",
            "layers[0].hair.wisps"
        ]
    );
    browser.picture("changed-only");
    browser.click("#only-changed");

    // A number that is typed, what it means, and back to the default.
    let field = "[id='p-layers[0].hair.goal_hz']";
    browser.choose(field, "3.5");
    browser.wait("studio.layers.value[0].params.goal_hz === 3.5");
    followed(&mut browser);
    browser.get(&format!("document.querySelector(\"{field}\").focus()"));
    browser.wait("document.querySelector('.meaning').innerText.toLowerCase().includes('goal')");
    browser.click("[aria-label='reset goal_hz']");
    browser.wait("studio.doc.value.undo === 'reset goal_hz'");
    browser.wait(&format!("studio.doc.value.text === {}", serde_json::json!(HAIR)));

    // A colour, a choice, a curve along something; each is one line more, the rest stays as it was written.
    let colour = "[id='p-layers[0].hair.strands.color']";
    browser.get(&format!(
        "(() => {{ const s = document.querySelector(\"{colour}\"); s.value = '#804020'; for (const e of ['input', 'change']) s.dispatchEvent(new Event(e, {{ bubbles: true }})); }})()"
    ));
    browser.wait(
        "studio.layers.value[0].params.strands.color?.[0] > studio.layers.value[0].params.strands.color?.[2]",
    );
    followed(&mut browser);
    let choice = browser
        .get("[...document.querySelectorAll('#parameters select')].find(s => s.options.length > 1 && s.id).id")
        .as_str()
        .unwrap()
        .to_owned();
    let other = browser
        .get(&format!("[...document.getElementById('{choice}').options].map(o => o.value).find(v => v && v !== '?' && v !== document.getElementById('{choice}').value)"))
        .as_str()
        .unwrap()
        .to_owned();
    browser.choose(&format!("[id='{choice}']"), &other);
    browser.wait(&format!("studio.doc.value.text.includes({})", serde_json::json!(other)));
    followed(&mut browser);
    let now = text(&mut browser);
    assert!(now.contains("# Tuned.") && now.contains("# few"), "{now}");

    // Back and forth, whole.
    browser.click("#undo");
    browser.click("#undo");
    browser.wait(&format!("studio.doc.value.text === {}", serde_json::json!(HAIR)));
    browser.click("#redo");
    browser.click("#redo");
    browser.wait(&format!("studio.doc.value.text === {}", serde_json::json!(now)));
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// Something drawn is undone and done again to the letter; the other side of a mirror is drawn with it.
#[test]
#[ignore = "slow: the long lane runs it"]
fn what_is_drawn_is_mirrored_undone_and_done_again() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show("wrist.toml", WRIST) else {
        return;
    };
    browser.wait("studio.engine.value.ready[0]?.[1] === studio.engine.value.range[1]");
    browser.key("x", false);
    browser.wait("document.querySelector('#symmetry').getAttribute('aria-pressed') === 'true'");
    browser.click("[data-tool=wrinkle]");
    let (x, y) = on(&mut browser, "wrist", 0.5, 0.6);
    browser.drag(&[(x - 20.0, y), (x, y), (x + 30.0, y)]);
    browser.wait("studio.layers.value[0].params.tools.length === 3");
    followed(&mut browser);
    let drawn = text(&mut browser);
    // Both ends of the second line are those of the first, across x = 0 of the reference pose.
    browser.wait("studio.remote.value.places.length === 6");
    browser.key("z", true);
    browser.wait(&format!("studio.doc.value.text === {}", serde_json::json!(WRIST)));
    followed(&mut browser);
    browser.click("#redo");
    browser.wait(&format!("studio.doc.value.text === {}", serde_json::json!(drawn)));
    followed(&mut browser);
    browser.picture("mirrored");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// A layer is switched off and on, taken out and put back; a draft is lighter and ends.
#[test]
#[ignore = "slow: the long lane runs it"]
fn layers_are_switched_removed_and_made_light() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show("cat.toml", CAT) else { return };
    browser.click(".layer input[type=checkbox]");
    browser.wait("studio.layers.value.length === 0 && studio.doc.value.off.length === 1");
    followed(&mut browser);
    assert!(text(&mut browser).contains("#off flesh"), "{}", text(&mut browser));
    browser.click(".layer.off input[type=checkbox]");
    browser.wait(&format!("studio.doc.value.text === {}", serde_json::json!(CAT)));
    followed(&mut browser);
    browser.click("#remove-layer");
    browser.wait("studio.layers.value.length === 0 && studio.doc.value.off.length === 0");
    browser.click("#undo");
    browser.wait(&format!("studio.doc.value.text === {}", serde_json::json!(CAT)));
    browser.click("#draft");
    browser.wait("studio.remote.value.draft && document.querySelector('#draft').getAttribute('aria-pressed') === 'true'");
    browser.click("#draft");
    browser.wait("!studio.remote.value.draft");
    followed(&mut browser);
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// A stroke of the comb on one side is one on the other as well, and both are taken back together.
#[test]
#[ignore = "slow: the long lane runs it"]
fn guides_are_combed_on_both_sides() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show("hair.toml", HAIR) else { return };
    followed(&mut browser);
    browser.click("#symmetry");
    browser.click("[data-tool=comb]");
    let (x, y) = on(&mut browser, "ball", 0.65, 0.35);
    browser.drag(&[(x, y), (x + 15.0, y - 5.0), (x + 30.0, y + 5.0), (x + 45.0, y + 30.0)]);
    browser.wait("studio.layers.value[0].params.style.guides?.length === 2");
    followed(&mut browser);
    let guides = browser.get("studio.layers.value[0].params.style.guides");
    let points = |k: usize| guides[k].as_array().unwrap().clone();
    for (one, other) in points(0).iter().zip(points(1)) {
        let [p, q] = [one, &other].map(|v| [0, 1, 2].map(|k| v[k].as_f64().unwrap()));
        assert_eq!([-p[0], p[1], p[2]], q, "{guides}");
    }
    assert!(points(0)[0][0].as_f64().unwrap().abs() > 0.005, "beside the middle: {guides}");
    browser.picture("combed-on-both-sides");
    browser.key("z", true);
    browser.wait(&format!("studio.doc.value.text === {}", serde_json::json!(HAIR)));
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}
