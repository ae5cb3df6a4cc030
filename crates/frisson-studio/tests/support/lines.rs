//! Lines drawn while it moves, their points and widths; the file changed by others; graphs, findings, pictures.

use super::support::Browser;
use super::tools::{followed, middle_of, on};
use super::{FLAG, Shown, WRIST, scene, show};

/// Where the middle between two places of layers is on the page.
fn between(browser: &mut Browser, first: &str, second: &str) -> (f64, f64) {
    middle_of(
        browser,
        &format!(
            "(() => {{ const at = path => studio.view.whereIs(studio.remote.value.places.find(p => p.path === path)); \
             return at('{first}').add(at('{second}')).multiplyScalar(0.5).toArray() }})()"
        ),
    )
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn lines_are_drawn_while_it_moves_and_get_points_and_widths() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show("wrist.toml", WRIST) else {
        return;
    };
    browser.wait("studio.engine.value.ready[0][1] === studio.engine.value.range[1]");

    // The skin goes on under the pointer; what is drawn sticks to where it was then.
    browser.click("[data-tool=wrinkle]");
    browser.get("(studio.speed.value = 0.1, 0)");
    browser.key(" ", false);
    browser.wait("studio.playing.value && studio.shown.number > studio.engine.value.range[0]");
    let (x, y) = on(&mut browser, "wrist", 0.5, 0.62);
    browser.drag(&[(x - 25.0, y), (x, y), (x + 40.0, y)]);
    browser.wait("studio.layers.value[0].params.tools.length === 2");
    assert_eq!(browser.get("studio.playing.value"), true);
    browser.key(" ", false);
    browser.get("(studio.speed.value = 1, studio.frame.value = studio.engine.value.range[0], 0)");
    browser.wait("studio.shown.number === studio.frame.value");
    followed(&mut browser);

    // A click on the line between its ends makes a point of it; dragged off sideways, it gets that width.
    browser.key("r", false);
    let tool = "layers[0].wrinkles.tools[1]";
    let (x, y) = between(&mut browser, &format!("{tool}.a"), &format!("{tool}.b"));
    browser.drag(&[(x, y)]);
    browser.wait("studio.layers.value[0].params.tools[1].through?.length === 1");
    followed(&mut browser);
    browser.wait("studio.remote.value.places.length === 5");
    let before = browser.get("studio.layers.value[0].params.tools[1].width");
    let (x, y) = between(&mut browser, &format!("{tool}.a"), &format!("{tool}.through[0]"));
    browser.drag(&[(x, y), (x, y + 12.0), (x, y + 24.0)]);
    browser.wait("studio.doc.value.undo === 'set the width'");
    let after = browser.get("studio.layers.value[0].params.tools[1].width");
    assert_ne!(before, after);
    followed(&mut browser);
    browser.picture("widened");

    // A fold through three clicks.
    browser.click("[data-tool=fold]");
    for (across, down) in [(0.4, 0.7), (0.5, 0.74), (0.6, 0.7)] {
        let at = on(&mut browser, "wrist", across, down);
        browser.drag(&[at]);
    }
    // Places on the page of what the wrinkles were drawn through, before the fold comes below them.
    let beads = "studio.remote.value.places.filter(p => p.path.includes('.wrinkles.')).map(p => { const q = studio.view.toScreen(studio.view.whereIs(p)); return [q.x, q.y] })";
    let before = browser.get(beads);
    assert_eq!(before.as_array().unwrap().len(), 5);
    browser.key("Enter", false);
    browser.wait("studio.layers.value[0]?.params.folds?.[0]?.points.length === 3");
    followed(&mut browser);
    assert_eq!(browser.get("studio.layers.value.map(l => l.kind).join(' ')"), "folds wrinkles");
    assert_eq!(browser.get("studio.layers.value[0].params.guard"), true);
    browser.wait("studio.remote.value.places.length === 8");
    // Their triangles are those of the actor's own mesh, which a fold below has refined; it lifts them a little.
    for (one, other) in
        before.as_array().unwrap().iter().zip(browser.get(beads).as_array().unwrap())
    {
        let off = (0..2).map(|k| one[k].as_f64().unwrap() - other[k].as_f64().unwrap());
        assert!(off.map(f64::abs).fold(0.0, f64::max) < 12.0, "{one} is at {other} now");
    }
    browser.picture("folded");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// Somebody else writes the file: it is read again, or asked about where there is something to lose.
#[test]
#[ignore = "slow: the long lane runs it"]
fn a_file_that_others_change_is_read_again_or_asked_about() {
    let Some(Shown { folder, mut browser, .. }) = show("wrist.toml", WRIST) else { return };
    let path = folder.path().join("wrist.toml");
    let theirs = WRIST.replacen("folds = 5", "folds = 4", 1);
    scene(folder.path(), "wrist.toml", &theirs);
    browser.wait("studio.doc.value.text.includes('folds = 4') && !studio.doc.value.unsaved");
    browser.get("studio.send([{ set: { path: 'layers[0].wrinkles.tools[0].folds', value: 7 } }], 'mine', null)");
    browser.wait("studio.doc.value.unsaved");
    // Times of files may be as coarse as a second.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    scene(folder.path(), "wrist.toml", WRIST);
    browser
        .wait("document.querySelector('.banner')?.innerText.includes('changed by somebody else')");
    browser.picture("outside");
    browser.click(".banner .edge");
    browser.wait("!document.querySelector('.banner')");
    assert!(browser.get("studio.doc.value.text").as_str().unwrap().contains("folds = 7"));
    // Under another name, and what others wrote stays.
    browser.click("header.top button:nth-of-type(3)");
    browser.wait("document.querySelector('#save-name')");
    browser.get("(() => { const s = document.querySelector('#save-name'); s.value = 'mine.toml'; s.dispatchEvent(new Event('input', { bubbles: true })); })()");
    browser.click(".dialog .main");
    browser.wait("studio.doc.value.name === 'mine.toml' && !studio.doc.value.unsaved");
    let mine = std::fs::read_to_string(folder.path().join("mine.toml")).unwrap();
    assert!(mine.contains("folds = 7"));
    assert_eq!(std::fs::read_to_string(path).unwrap(), WRIST);
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// Where somebody's eye goes after a bake: measures over time, complaints, pictures.
#[test]
#[ignore = "slow: the long lane runs it"]
fn graphs_findings_and_pictures() {
    let short = FLAG.replacen("frames = [0, 150]", "frames = [0, 70]", 1);
    let Some(Shown { folder, mut browser, .. }) = show("flag.toml", &short) else { return };
    browser.key("b", false);
    browser.click("#bake");
    browser.wait("studio.remote.value.job?.state === 'done'");
    assert!(browser.get("studio.remote.value.job.findings").is_array());

    // A ray-traced picture of this view, and one as it is drawn here.
    browser.click("#still");
    browser
        .wait("studio.remote.value.job.number === 2 && studio.remote.value.job.state === 'done'");
    let frame = browser.get("studio.frame.value");
    assert!(folder.path().join(format!("flag.{frame}.png")).exists());
    browser.get("(() => { const make = URL.createObjectURL; URL.createObjectURL = blob => { window.kept = blob; return make(blob); }; })()");
    browser.click("#png");
    browser.wait("window.kept?.type === 'image/png' && window.kept.size > 5000");
    browser.key("Escape", false);
    browser.wait("!document.querySelector('.dialog')");

    // A click on a graph jumps to that frame, one on a complaint to it.
    browser.key("g", false);
    browser.wait(
        "document.querySelector('.graphs .u-over') && studio.engine.value.ready[0][1] === 70",
    );
    let (x, y) = browser.middle(".graphs .u-over");
    browser.drag(&[(x, y)]);
    browser.wait(
        "Math.abs(studio.frame.value - 35) <= 2 && studio.shown.number === studio.frame.value",
    );
    let findings = browser.get("studio.remote.value.job.findings");
    if let Some(first) = findings.as_array().and_then(|f| f.first()) {
        let eye = browser.get("studio.view.camera.position.toArray()");
        browser.click(".finding");
        browser.wait(&format!(
            "studio.frame.value === {} && studio.shown.number === studio.frame.value",
            first["frame"]
        ));
        assert!(
            first["place"].is_null() || browser.get("studio.view.camera.position.toArray()") != eye
        );
    }
    browser.picture("graphs");

    // The chosen layer and everything, by keys.
    let seen = |browser: &mut Browser| {
        browser
            .get("studio.view.camera.position.distanceTo(studio.view.controls.target)")
            .as_f64()
            .unwrap()
    };
    browser.key("a", false);
    let all = seen(&mut browser);
    browser.key(".", false);
    let chosen = seen(&mut browser);
    assert!(chosen.is_finite() && chosen <= 1.2 * all, "{chosen}, {all}");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}
