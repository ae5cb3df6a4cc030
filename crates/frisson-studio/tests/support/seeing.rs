//! What is seen and how: time, camera, wireframe, overlays of each layer, colours, both sides of a comparison.

use super::measure::open_gallery;
use super::support::Browser;
use super::tools::followed;
use super::{CAT, SHOWN, Shown, WRIST, show, slide};

/// Waits until a frame is in the picture.
fn at(browser: &mut Browser, frame: &str) {
    browser.wait(&format!(
        "studio.frame.value === ({frame}) && studio.shown.number === ({frame}) && studio.view.lastDrawnFrame === ({frame})"
    ));
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn time_is_stepped_looped_slowed_and_typed() {
    let short = CAT.replacen("frisson = 2\n", "frisson = 2\nframes = [40, 46]\n", 1);
    let Some(Shown { folder: _folder, mut browser, .. }) = show("cat.toml", &short) else { return };
    browser.wait("studio.engine.value.ready[0]?.[1] === 46");
    at(&mut browser, "40");
    browser.click("[aria-label='one frame on']");
    at(&mut browser, "41");
    browser.key("ArrowRight", false);
    at(&mut browser, "42");
    browser.click("[aria-label='one frame back']");
    at(&mut browser, "41");
    browser.key("End", false);
    at(&mut browser, "46");
    browser.click("[aria-label='to the start']");
    at(&mut browser, "40");
    browser.choose("[aria-label='frame number']", "44");
    at(&mut browser, "44");

    // The bar of time, by the pointer.
    let (x, y) = browser.middle(".rail");
    browser.drag(&[(x, y)]);
    at(&mut browser, "43");

    // Without a loop it stops at the end; with one it comes back to the start.
    assert_eq!(browser.get("studio.looping.value"), true);
    browser.click("[aria-label=loop]");
    browser.click("#play");
    browser.wait("!studio.playing.value && studio.frame.value === 46");
    browser.key("l", false);
    browser.click("#play");
    browser.wait("studio.playing.value && studio.frame.value < 44");
    browser.click("#play");
    browser.wait("!studio.playing.value");

    // A tenth of the speed: what takes a fifth of a second takes two.
    browser.choose("[aria-label=speed]", "0.1");
    browser.key("Home", false);
    at(&mut browser, "40");
    let moved = browser.get(
        "(async () => { studio.playing.value = true; await new Promise(x => setTimeout(x, 1000)); studio.playing.value = false; return studio.frame.value - 40 })()",
    );
    assert!(
        (1..=4).contains(&moved.as_i64().unwrap()),
        "{moved} frames in a second, three are due"
    );
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// Where the eye is and what it looks at.
fn standpoint(browser: &mut Browser) -> Vec<f64> {
    let found = browser.get(
        "[...studio.view.camera.position.toArray(), ...studio.view.controls.target.toArray(), \
        studio.view.camera.position.distanceTo(studio.view.controls.target)]",
    );
    found.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn the_camera_is_turned_moved_and_kept() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show("cat.toml", CAT) else { return };
    let (x, y) = browser.middle("main.view canvas");
    let first = standpoint(&mut browser);
    browser.drag(&[(x, y), (x + 40.0, y), (x + 90.0, y + 10.0)]);
    let turned = standpoint(&mut browser);
    assert!((turned[6] - first[6]).abs() < 1e-6 && turned[0] != first[0], "{first:?} {turned:?}");
    assert_eq!(turned[3..6], first[3..6], "it turns around what it looks at");
    browser.drag_right(&[(x, y), (x + 40.0, y), (x + 90.0, y + 10.0)]);
    let shifted = standpoint(&mut browser);
    assert!((shifted[6] - first[6]).abs() < 1e-6 && shifted[3] != turned[3], "{shifted:?}");
    browser.wheel((x, y), -240.0);
    browser.wait(&format!(
        "studio.view.camera.position.distanceTo(studio.view.controls.target) < {}",
        0.95 * shifted[6]
    ));

    // The view becomes the scene's camera, and can be taken back.
    browser.click("#see");
    browser.click("#keep-camera");
    browser.wait(
        "studio.doc.value.undo === 'keep the view' && studio.doc.value.text.includes('eye = [')",
    );
    browser.click("#undo");
    browser.wait("studio.doc.value.text.includes('yaw_deg = 75') && !studio.doc.value.text.includes('eye = [')");
    browser.key("r", false);
    browser.wait(&format!("Math.abs(studio.view.camera.position.x - {}) < 1e-6", first[0]));
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// What each layer shows of its inside, by the scenes of the gallery.
#[test]
#[ignore = "slow: the long lane runs it"]
fn every_layer_shows_its_inside() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show("cat.toml", CAT) else { return };
    browser.click("#see");
    browser.click("[data-option=insides]");
    browser.wait("studio.options.value.insides");
    for (scene, kind, said) in [
        ("", "springs", "springs of flesh"),
        ("wrinkles-wrist", "region", "reach of wrinkles"),
        ("cloth-flag", "pins", "held cloth"),
        ("soft-contact-close", "contacts", "contacts"),
        ("cloth-sheet", "colliders", "colliders"),
    ] {
        if !scene.is_empty() {
            open_gallery(&mut browser, scene);
        }
        // Bodies that are apart at first touch later.
        let has =
            format!("studio.shown.a.head.insides.some(i => i.kind === '{kind}' && i.count > 0)");
        let step = format!(
            "(() => {{ if (!({has}) && studio.shown.number === studio.frame.value && studio.frame.value < studio.engine.value.range[1]) studio.frame.value += 1; return {has} }})()"
        );
        browser.wait(&step);
        browser.wait(&format!(
            "studio.view.inner.children.length > 0 && document.querySelector('.legend')?.innerText.includes('{said}')"
        ));
        browser.picture(&format!("inside-{kind}"));
    }
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// Colours that a mesh is painted in: how many different ones there are.
fn painted(browser: &mut Browser, mesh: &str) -> u64 {
    let found = browser.get(&format!(
        "(() => {{ const c = studio.view.left.mesh('{mesh}').object.geometry.attributes.color.array, s = new Set(); \
         for (let i = 0; i < c.length; i += 4) s.add(c[i] << 16 | c[i + 1] << 8 | c[i + 2]); return s.size }})()"
    ));
    found.as_u64().unwrap()
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn meshes_are_coloured_by_what_layers_do() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show("wrist.toml", WRIST) else {
        return;
    };
    browser.wait("studio.engine.value.ready[0]?.[1] === studio.engine.value.range[1]");

    // Wireframe, by its key and by the menu.
    let wires = "[].concat(studio.view.left.mesh('wrist').object.material).every(m => m.wireframe)";
    browser.key("z", false);
    browser.wait(wires);
    browser.picture("wireframe");
    browser.click("#see");
    browser.click("[data-option=wireframe]");
    browser.wait(&format!("!({wires})"));
    browser.get("studio.frame.value = 20");

    for (scene, mesh, colour, said) in [
        ("", "wrist", "strain", "stretch"),
        ("", "wrist", "compression", "compression under wrinkles"),
        ("", "wrist", "wrinkle_height", "height of wrinkles"),
        ("folds-tablecloth-plus", "cloth", "fold_factor", "factor of folds"),
        ("", "cloth", "fold_height", "height of folds"),
        ("drops-sweat", "head", "wetness", "wetness"),
        ("demo-cat", "cat", "flesh:belly", "flesh of belly"),
    ] {
        if !scene.is_empty() {
            open_gallery(&mut browser, scene);
            browser.get("studio.frame.value = studio.engine.value.range[0] + 20");
        }
        browser.wait("studio.shown.number === studio.frame.value");
        if browser.get("!!document.querySelector('.menu')") != true {
            browser.click("#see");
        }
        browser.choose("#colour", colour);
        browser.wait(&format!("studio.options.value.colour === '{colour}' && document.querySelector('.legend')?.innerText.includes('{said}')"));
        // What is asked for is simulated again: for a moment no frame is there.
        browser.wait("studio.shown.a");
        let end = std::time::Instant::now() + super::support::PATIENCE;
        let mesh = browser
            .get(&format!("studio.shown.a.head.meshes.find(m => m.name.startsWith('{mesh}'))?.name ?? studio.shown.a.head.meshes[0].name"))
            .as_str()
            .unwrap()
            .to_owned();
        while painted(&mut browser, &mesh) < 4 {
            assert!(std::time::Instant::now() < end, "{mesh} by {colour} has one colour");
            browser.get("new Promise(x => setTimeout(x, 100))");
        }
        browser.picture(&format!("colour-{}", colour.replace(':', "-")));
    }
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// Two values of a parameter side by side, cut by a slider that can be dragged and moved by keys.
#[test]
#[ignore = "slow: the long lane runs it"]
fn two_values_of_a_parameter_are_compared() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show("cat.toml", CAT) else { return };
    browser.wait("studio.engine.value.ready[0]?.[1] === 99");
    browser.get("studio.frame.value = 55");
    at(&mut browser, "55");
    browser.click("#with-now");
    browser.wait("studio.remote.value.compared?.engine.ready[0]?.[1] >= 60 && studio.view.right.shapes.size > 0");
    slide(&mut browser, "layers[0].flesh.frequency_hz", 0.1);
    followed(&mut browser);
    browser.get("studio.frame.value = 60");
    at(&mut browser, "60");
    browser.wait("studio.shown.b?.head.frame === 60");
    let apart = browser.get(
        "(() => { const [l, r] = [studio.view.left, studio.view.right].map(s => s.mesh('cat')); let most = 0; \
         for (let v = 0; v < l.shape.count; v += 1) most = Math.max(most, l.vertex(v).distanceTo(r.vertex(v))); return most })()",
    );
    assert!(apart.as_f64().unwrap() > 2e-3, "{apart} m between the two values");
    assert_eq!(
        browser.get("[...document.querySelectorAll('.side')].map(e => e.innerText).join()"),
        "now,as it was"
    );

    let (x, y) = browser.middle(".split");
    browser.drag(&[(x, y), (x + 60.0, y), (x + 140.0, y)]);
    browser.wait("studio.splitAt.value > 0.6");
    browser.get("document.querySelector('.split').focus()");
    let before = browser.get("studio.splitAt.value").as_f64().unwrap();
    browser.key("ArrowLeft", false);
    browser.wait(&format!("studio.splitAt.value < {before}"));
    browser.picture("two-values");
    browser.click("#without");
    browser.wait("!studio.remote.value.compared && studio.view.right.shapes.size === 0");
    browser.wait(SHOWN);
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}
