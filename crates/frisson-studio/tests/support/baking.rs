//! What is made of a finished bake, each by its button: sheet, film, judgement, an export that is stopped.

use super::support::Browser;
use super::{Shown, show};

/// A small sheet that hangs: a bake of a moment.
const SMALL: &str = "frisson = 2\nframes = [0, 8]\n[actors.sheet]\n\
    source = \"builtin:sheet?cells=8&size=1&height=0\"\n[[layers]]\n[layers.cloth]\n\
    name = \"cloth\"\non = \"sheet\"\npins = { vertices = [0, 8] }\n";

/// A ball whose frames take a while to be written as text.
const LARGE: &str = "frisson = 2\nframes = [0, 120]\n[actors.ball]\n\
    source = \"builtin:sphere?triangles=60000\"\npath = [[0,0,0,0,0,0,0],[120,0,0,0,0,200,0]]\n";

/// Opens the dialog and bakes.
fn baked(name: &str, text: &str) -> Option<Shown> {
    let mut shown = show(name, text)?;
    shown.browser.key("b", false);
    shown.browser.click("#bake");
    done(&mut shown.browser, 1);
    Some(shown)
}

/// Waits for a job, which must come to a good end.
fn done(browser: &mut Browser, number: u64) {
    browser.wait(&format!(
        "studio.remote.value.job?.number === {number} && studio.remote.value.job.state !== 'running'"
    ));
    assert_eq!(browser.get("studio.remote.value.job.state"), "done");
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn sheet_animation_and_judgement_by_their_buttons() {
    let Some(Shown { folder, mut browser, .. }) = baked("sheet.toml", SMALL) else { return };
    let file = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    browser.click("#sheet");
    done(&mut browser, 2);
    assert_eq!(file("sheet.png")[..4], *b"\x89PNG");
    browser.click("#animation");
    done(&mut browser, 3);
    let film = file("sheet.webp");
    assert_eq!((&film[..4], &film[8..12]), (&b"RIFF"[..], &b"WEBP"[..]));
    assert_eq!(film.windows(4).filter(|w| w == b"ANMF").count(), 9, "one picture for each frame");
    browser.click("#judge");
    done(&mut browser, 4);
    let said = browser.get("studio.remote.value.job.message");
    assert!(said.as_str().unwrap().starts_with("the judge has"), "{said}");
    assert!(browser.get("studio.remote.value.job.findings").is_array());
    // What was written and said is read in the dialog.
    browser.wait("document.querySelector('.dialog').innerText.includes('the judge has')");
    browser.picture("judged");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
#[ignore = "slow: the long lane runs it"]
fn a_stopped_export_leaves_nothing_half_written_and_can_be_made_again() {
    let Some(Shown { folder, mut browser, .. }) = baked("ball.toml", LARGE) else { return };
    let before = names(folder.path());
    browser.choose(".dialog select", "5");
    browser.wait("document.querySelector('.dialog input[type=text]').value === 'ball.obj'");
    browser.click("#export");
    browser.wait(
        "studio.remote.value.job.number === 2 && (studio.remote.value.job.done > 1 || studio.remote.value.job.state !== 'running')",
    );
    browser.click(".dialog .stop");
    browser.wait("studio.remote.value.job.state !== 'running'");
    assert_eq!(browser.get("studio.remote.value.job.state"), "stopped");
    // Of a sequence the finished files stay, each of them whole.
    let after = names(folder.path());
    let new: Vec<&String> = after.iter().filter(|n| !before.contains(n)).collect();
    assert!(new.len() < 121 && new.iter().all(|n| n.ends_with(".obj")), "{new:?}");
    let sizes = new.iter().map(|n| {
        let text = std::fs::read_to_string(folder.path().join(n)).unwrap();
        text.lines().filter(|l| l.starts_with("f ")).count()
    });
    let sizes: std::collections::BTreeSet<usize> = sizes.collect();
    assert!(sizes.len() <= 1, "triangles of the files: {sizes:?}");
    browser.picture("stopped");
    browser.choose(".dialog select", "3");
    browser.wait("document.querySelector('.dialog input[type=text]').value === 'ball.pc2'");
    browser.click("#export");
    done(&mut browser, 3);
    assert!(folder.path().join("ball.pc2").exists());
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// What is in a folder, sorted.
fn names(folder: &std::path::Path) -> Vec<String> {
    let all = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        all.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
