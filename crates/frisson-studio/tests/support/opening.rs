//! What can be opened, by a click or by dropping it: characters with their proposals, the gallery, files with
//! something that is left out of them.

use super::tools::followed;
use super::{CAT, Shown, show};

/// A glTF with a triangle, and a mesh of lines that cannot be shown.
const LINES: &str = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0,1]}],"nodes":[{"mesh":0},{"mesh":1}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0},"mode":4}]},{"primitives":[{"attributes":{"POSITION":0},"mode":1}]}],
"buffers":[{"byteLength":36,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}],
"bufferViews":[{"buffer":0,"byteLength":36}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}]}"#;

/// A character comes with proposals, and each has a switch that works.
#[test]
#[ignore = "slow: the long lane runs it"]
fn a_character_is_opened_with_proposals_that_can_be_switched() {
    // From a folder of its own: what is unsaved is kept beside it.
    let Some(Shown { folder: _folder, mut browser, .. }) = show("cat.toml", CAT) else { return };
    browser.key("o", true);
    browser.click("[data-cast=figure]");
    browser
        .wait("studio.doc.value.name === 'figure.toml' && studio.shown.a?.head.meshes.length > 0");
    browser.wait("studio.layers.value.length > 0 && studio.doc.value.off.length > 0");
    let (on, off) =
        (browser.get("studio.layers.value.length"), browser.get("studio.doc.value.off.length"));
    let (on, off) = (on.as_u64().unwrap(), off.as_u64().unwrap());
    followed(&mut browser);
    browser.picture("character");
    let name = browser.get("studio.doc.value.off[0].name");
    browser.click(".layer.off input[type=checkbox]");
    browser.wait(&format!(
        "studio.layers.value.length === {} && studio.doc.value.off.length === {}",
        on + 1,
        off - 1
    ));
    browser.wait(&format!("studio.layers.value.some(l => l.params.name === {name}) && studio.engine.value.layers.some(([, n]) => n === {name})"));
    assert_eq!(browser.get("JSON.stringify(studio.trouble.value)"), "[]");
    browser.click("#undo");
    browser.wait(&format!("studio.doc.value.off.length === {off}"));
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// The gallery and the cast, by a click; what is found by a word.
#[test]
#[ignore = "slow: the long lane runs it"]
fn the_gallery_is_one_click_away() {
    let Some(Shown { folder: _folder, mut browser, .. }) = show("cat.toml", CAT) else { return };
    browser.key("o", true);
    browser.wait("document.querySelectorAll('.dialog [data-scene]').length > 50");
    browser.wait("document.activeElement?.type === 'search'");
    browser.picture("opening");
    browser.write("wrist");
    browser.wait("document.querySelectorAll('.dialog [data-scene]').length < 5");
    browser.click("[data-scene=wrinkles-wrist]");
    browser.wait(
        "studio.doc.value.name === 'wrinkles-wrist.toml' && !document.querySelector('.dialog')",
    );
    browser.wait("studio.shown.a?.head.meshes[0].name === 'wrist' && studio.view.opened === studio.remote.value.opened");
    browser.key("o", true);
    browser.click("[data-cast=mushroom]");
    browser.wait("studio.shown.a?.head.meshes[0]?.name === 'mushroom'");
    // What was opened before is offered beside the scene.
    browser.key("o", true);
    browser.click("[data-file='cat.toml']");
    browser.wait(
        "studio.doc.value.name === 'cat.toml' && studio.shown.a?.head.meshes[0]?.name === 'cat'",
    );
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// A dropped character is opened, and what its reader left out is said.
#[test]
#[ignore = "slow: the long lane runs it"]
fn what_is_left_out_of_a_dropped_character_is_said() {
    let Some(Shown { folder, mut browser, .. }) = show("cat.toml", CAT) else { return };
    browser.get(&format!(
        "(() => {{ const d = new DataTransfer(); d.items.add(new File([{}], 'lines.gltf')); const at = document.querySelector('main.view'); \
         at.dispatchEvent(new DragEvent('dragover', {{ dataTransfer: d, bubbles: true, cancelable: true }})); \
         window.wasMarked = new Promise(x => requestAnimationFrame(() => x(at.classList.contains('drop')))); \
         window.wasMarked.then(() => at.dispatchEvent(new DragEvent('drop', {{ dataTransfer: d, bubbles: true, cancelable: true }}))); }})()",
        serde_json::json!(LINES)
    ));
    assert_eq!(browser.get("window.wasMarked"), true, "where it can be dropped is marked");
    browser.wait(
        "studio.doc.value?.name === 'lines.toml' && studio.shown.a?.head.meshes.length === 1",
    );
    assert!(folder.path().join("lines.gltf").exists());
    browser.wait("studio.engine.value.remarks.length > 0 && document.querySelector('#remarks')");
    browser.click("#remarks");
    browser.wait("document.querySelector('.remarks li')?.innerText.includes('lines')");
    browser.picture("remarks");

    // What cannot be opened is refused in words.
    browser.get(
        "(() => { const d = new DataTransfer(); d.items.add(new File(['x'], 'x.txt')); \
         document.querySelector('main.view').dispatchEvent(new DragEvent('drop', { dataTransfer: d, bubbles: true, cancelable: true })) })()",
    );
    browser.wait("document.querySelector('.notice.bad')?.innerText.includes('neither a scene')");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}
