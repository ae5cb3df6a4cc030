//! Every tool by its button, on the model, down to the text; what is shown inside layers and as colours.

use super::support::Browser;
use super::{Shown, show};

/// A head with a few wisps, and a sheet that hangs.
const HEAD: &str = r#"# Drawn on.
frisson = 2
frames = [0, 6]

[actors.head]
source = "builtin:head_a"

[actors.sheet]
source = "builtin:sheet?cells=12&size=0.3&height=0"
placement = { translate = [0.25, 0.1, -0.1] }

[[layers]]
[layers.hair]
name = "hair"
on = "head"
wisps = 12
length = 0.1
scalp = { region = "scalp" }
strands = { per_wisp = 4 }

[[layers]]
[layers.cloth]
name = "cloth"
on = "sheet"
pins = { vertices = [0, 12] }

[[forces]]
wind = { direction = [1.0, 0.0, 0.0], speed = 2.0 }
"#;

fn text(browser: &mut Browser) -> String {
    browser.get("studio.doc.value.text").as_str().unwrap().to_owned()
}

/// Waits until the simulation has followed the text, and that nothing is wrong with it.
pub(super) fn followed(browser: &mut Browser) {
    browser.wait("studio.engine.value.revision === studio.doc.value.revision && studio.view.lastDrawnTake === studio.engine.value.take");
    assert_eq!(browser.get("JSON.stringify(studio.trouble.value)"), "[]", "{}", text(browser));
}

/// The head with both layers, simulated.
fn show_head() -> Option<Shown> {
    let mut shown = show("head.toml", HEAD)?;
    shown.browser.wait("studio.engine.value.layers.length === 2");
    followed(&mut shown.browser);
    Some(shown)
}

/// Where a point of a mesh's surface that faces the camera is on the page: a share across and down its
/// picture.
pub(super) fn on(browser: &mut Browser, mesh: &str, across: f64, down: f64) -> (f64, f64) {
    let found = browser.get(&format!(
        "(() => {{ const v = studio.view, b = v.canvas.getBoundingClientRect(), s = []; \
         for (let y = 2; y < b.height; y += 6) for (let x = 2; x < b.width; x += 6) if (v.hit(x, y)?.name === '{mesh}') s.push([x, y]); \
         const of = k => s.map(p => p[k]).sort((p, q) => p - q), [xs, ys] = [of(0), of(1)]; \
         const want = [xs[0] + (xs.at(-1) - xs[0]) * {across}, ys[0] + (ys.at(-1) - ys[0]) * {down}]; \
         s.sort((p, q) => Math.hypot(p[0] - want[0], p[1] - want[1]) - Math.hypot(q[0] - want[0], q[1] - want[1])); \
         return [b.x + s[0][0], b.y + s[0][1]] }})()"
    ));
    (found[0].as_f64().unwrap(), found[1].as_f64().unwrap())
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn every_tool_writes_what_it_drew() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show_head() else { return };

    // A selection with soft edges, on both sides.
    browser.click("#symmetry");
    browser.click("[data-tool=mask]");
    let (x, y) = on(&mut browser, "head", 0.35, 0.4);
    browser.drag(&[(x, y), (x + 6.0, y + 4.0)]);
    browser.wait("studio.doc.value.undo === 'brush scalp'");
    followed(&mut browser);
    let scalp = browser.get("studio.layers.value[0].params.scalp");
    let weights: Vec<f64> =
        scalp["weights"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect();
    assert!(weights.contains(&1.0) && weights.iter().any(|w| *w < 0.5), "{weights:?}");
    assert_eq!(weights.len(), scalp["vertices"].as_array().unwrap().len());
    browser.picture("brushed");
    browser.click("#symmetry");

    // Pins: whole vertices, and what was pinned stays pinned.
    browser.click("[data-tool=pins]");
    let (x, y) = on(&mut browser, "sheet", 0.9, 0.5);
    browser.drag(&[(x, y), (x, y + 5.0)]);
    browser.wait("studio.doc.value.undo === 'brush pins'");
    let pins = browser.get("studio.layers.value[1].params.pins");
    assert!(pins["weights"].is_null() && pins["vertices"].as_array().unwrap().len() > 2, "{pins}");
    followed(&mut browser);

    // With a soft rim: what is half brushed is held softly, and nothing is held twice.
    browser.get(
        "(() => { const s = document.querySelector('#falloff'); s.value = 1; s.dispatchEvent(new Event('input')); return true })()",
    );
    let (x, y) = on(&mut browser, "sheet", 0.5, 0.5);
    browser.drag(&[(x, y), (x, y + 5.0)]);
    browser.wait("studio.layers.value[1].params.soft_pins?.vertices");
    followed(&mut browser);
    let [held, soft] = ["pins", "soft_pins"]
        .map(|key| browser.get(&format!("studio.layers.value[1].params.{key}")));
    let before = pins["vertices"].as_array().unwrap();
    assert!(before.iter().all(|v| held["vertices"].as_array().unwrap().contains(v)), "{held}");
    let twice = |v: &&serde_json::Value| soft["vertices"].as_array().unwrap().contains(v);
    assert_eq!(held["vertices"].as_array().unwrap().iter().find(twice), None, "{held} {soft}");
    let share = |w: &serde_json::Value| w.as_f64().is_some_and(|w| w > 0.0 && w < 1.0);
    assert!(soft["weights"].as_array().unwrap().iter().all(share), "{soft}");

    // A guide and a parting, in the pose in which points are given.
    browser.click("[data-tool=comb]");
    let (x, y) = on(&mut browser, "head", 0.5, 0.12);
    browser.drag(&[(x, y), (x + 20.0, y + 8.0), (x + 40.0, y + 30.0), (x + 50.0, y + 60.0)]);
    browser.wait("studio.layers.value[0].params.style.guides.length === 1");
    followed(&mut browser);
    let guide = browser.get("studio.layers.value[0].params.style.guides[0]");
    assert_eq!(guide.as_array().unwrap().len(), 10, "{guide}");
    browser.click("[data-tool=part]");
    let (x, y) = on(&mut browser, "head", 0.5, 0.1);
    browser.drag(&[(x, y), (x, y + 10.0), (x, y + 24.0)]);
    browser.wait("studio.layers.value[0].params.style.fields.length === 1");
    followed(&mut browser);
    browser.picture("combed");

    // A source of drops, a ball, the ball elsewhere.
    browser.click("[data-tool=drop]");
    let at = on(&mut browser, "head", 0.5, 0.5);
    browser.drag(&[at]);
    browser.wait("studio.layers.value[2]?.kind === 'drops'");
    followed(&mut browser);
    browser.click("[data-tool=ball]");
    let (x, y) = on(&mut browser, "head", 0.5, 0.8);
    browser.drag(&[(x, y), (x + 10.0, y), (x + 30.0, y)]);
    browser.wait("studio.doc.value.scene.colliders?.length === 1");
    followed(&mut browser);
    let centre = "studio.doc.value.scene.colliders[0].shape.sphere.center";
    let before = browser.get(centre);
    let (x, y) = middle_of(&mut browser, centre);
    browser.drag(&[(x, y), (x + 20.0, y + 5.0), (x + 60.0, y + 20.0)]);
    browser.wait(&format!("JSON.stringify({centre}) !== '{before}'"));
    followed(&mut browser);
    browser.picture("balls");

    // Everything can be taken back, step by step.
    for _ in 0..8 {
        let now = text(&mut browser);
        browser.click("#undo");
        browser.wait(&format!("studio.doc.value.text !== {}", serde_json::json!(now)));
    }
    assert_eq!(text(&mut browser), HEAD);
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// Where a point that an expression gives is on the page.
pub(super) fn middle_of(browser: &mut Browser, expression: &str) -> (f64, f64) {
    let at = browser.get(&format!(
        "(() => {{ const v = studio.view, b = v.canvas.getBoundingClientRect(); \
         const p = v.toScreen(v.camera.position.clone().fromArray({expression})); return [b.x + p.x, b.y + p.y] }})()"
    ));
    (at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
}

/// Ways of drops and seeds of soft bodies; a scene of the gallery brings the files that it names.
#[test]
#[ignore = "slow: the long lane runs it"]
fn insides_of_drops_and_soft_bodies() {
    let Some(Shown { folder, mut browser, .. }) = show("head.toml", HEAD) else { return };
    browser.key("i", false);
    super::measure::open_gallery(&mut browser, "drops-viscosity");
    browser.get("studio.frame.value = studio.engine.value.range[0] + 12");
    browser.wait("studio.shown.number === studio.frame.value && document.querySelector('.legend')?.innerText.includes('ways of drops')");
    browser.wait("studio.view.inner.children.some(c => c.isLineSegments)");
    browser.picture("trails");
    super::measure::open_gallery(&mut browser, "soft-muscles");
    browser.wait("studio.shown.a?.head.insides.some(i => i.kind === 'seeds' && i.count > 100)");
    browser.wait("document.querySelector('.legend').innerText.includes('seeds')");
    browser.picture("seeds");
    super::measure::open_gallery(&mut browser, "hair-groom");
    browser.wait("studio.shown.a?.head.curves.length > 0");
    assert!(folder.path().join("grooms/side-parting.obj").exists());
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn insides_colours_curves_and_added_layers() {
    let Some(Shown { folder, mut browser, .. }) = show_head() else { return };

    // What goes on inside the layers comes with the frames, and goes again.
    browser.key("i", false);
    browser.wait("studio.shown.a.head.insides.length > 0 && studio.view.inner.children.length > 0");
    let kinds = browser.get("[...new Set(studio.shown.a.head.insides.map(i => i.kind))].join(' ')");
    assert_eq!(kinds, "envelopes pins wind");
    browser.picture("insides");
    browser.key("i", false);
    browser.wait("studio.view.inner.children.length === 0");

    // How deep things are inside each other, as a colour.
    browser.click("#see");
    browser.get("(() => { const s = document.querySelector('#colour'); s.value = 'penetration'; s.dispatchEvent(new Event('change', { bubbles: true })); })()");
    browser.wait("studio.shown.a.head.meshes[0].attributes.some(x => x.name === 'penetration')");
    browser.wait("document.querySelector('.legend')?.innerText.includes('depth')");
    // Hairs, too: each point has its own.
    browser.wait(
        "studio.shown.a.head.curves[0].attributes.some(x => x.name === 'penetration') \
         && [...studio.view.left.shapes.values()].some(s => s.material?.uniforms?.painted?.value === 1)",
    );
    browser.picture("penetration");

    // A constant becomes a curve, a key is added by a click, and both are in the text.
    browser.key("1", false);
    browser.click("[data-keys='layers[0].hair.goal_hz']");
    browser.wait("Array.isArray(studio.layers.value[0].params.goal_hz)");
    let (x, y) = browser.middle("[data-curve='layers[0].hair.goal_hz'] svg");
    browser.drag(&[(x, y - 20.0), (x, y - 26.0)]);
    browser.wait("studio.layers.value[0].params.goal_hz.length === 3");
    followed(&mut browser);
    assert!(text(&mut browser).contains("goal_hz = [[0, 0], [3, "), "{}", text(&mut browser));
    browser.picture("curve");

    // A layer from the list.
    browser.click("#add-layer");
    browser.get("(() => { const s = document.querySelector('#add-mesh'); s.value = 'sheet'; s.dispatchEvent(new Event('change', { bubbles: true })); })()");
    browser.picture("adding");
    browser.click("[data-kind=drops]");
    browser
        .wait("studio.layers.value.length === 3 && studio.layers.value[2].params.on === 'sheet'");
    followed(&mut browser);

    // A file that is dropped on the page is opened.
    browser.get(
        "(() => { const d = new DataTransfer(); d.items.add(new File(['frisson = 2\\nframes = [0, 3]\\n[actors.b]\\nsource = \"builtin:sphere\"\\n'], 'dropped.toml')); \
         document.querySelector('main.view').dispatchEvent(new DragEvent('drop', { dataTransfer: d, bubbles: true, cancelable: true })) })()",
    );
    browser.wait(
        "studio.doc.value?.name === 'dropped.toml' && studio.shown.a?.head.meshes[0].name === 'b'",
    );
    assert!(folder.path().join("dropped.toml").exists());
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}
