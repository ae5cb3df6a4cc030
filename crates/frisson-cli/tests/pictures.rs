//! Pictures, charts and the gallery as a person asks for them.

mod common;

use common::Session;
use frisson_picture::Image;
use frisson_picture::output::decode_png;

const SMALL: &str = "--size 64x36 --samples 1";

fn baked() -> Session {
    let s = Session::with_worm(8, 6);
    s.ok("bake worm.toml");
    s
}

fn png(s: &Session, name: &str) -> Image {
    decode_png(&s.read(name)).unwrap()
}

/// How many pixels of two pictures differ visibly.
fn differing(a: &Image, b: &Image) -> usize {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let far = |(p, q): (&[u8; 4], &[u8; 4])| p.iter().zip(q).any(|(x, y)| x.abs_diff(*y) > 24);
    a.pixels.iter().zip(&b.pixels).filter(|(p, q)| far((p, q))).count()
}

#[test]
fn every_kind_of_picture_is_written() {
    let s = baked();
    s.ok(&format!("render worm.frisson --sheet 3 {SMALL} -o sheet.png"));
    let sheet = png(&s, "sheet.png");
    assert!(sheet.width > 3 * 64 && sheet.height > 36, "{}x{}", sheet.width, sheet.height);
    s.ok(&format!("render worm.frisson --frame 3 {SMALL} -o still.png"));
    assert_eq!(png(&s, "still.png").width, 64);
    s.ok(&format!("render worm.frisson --frame 3 --compare primary {SMALL} -o beside.png"));
    assert!(png(&s, "beside.png").width > 128);
    s.ok(&format!("render worm.frisson --onion 3 {SMALL} -o onion.png"));
    s.ok(&format!("render worm.frisson --numbered --every 2 {SMALL} -o numbered"));
    for frame in ["frame_00001.png", "frame_00003.png", "frame_00005.png"] {
        assert_eq!(png(&s, &format!("numbered/{frame}")).width, 64);
    }
    s.ok(&format!("render worm.frisson --animate {SMALL} -o a.png"));
    s.ok(&format!("render worm.frisson --animate {SMALL} -o a.webp"));
    s.ok(&format!("render worm.frisson --turntable 4 {SMALL} -o t.gif"));
    assert!(s.read("a.png").windows(4).any(|w| w == b"acTL"));
    assert_eq!(
        (&s.read("a.webp")[..4], &s.read("a.webp")[8..16]),
        (&b"RIFF"[..], &b"WEBPVP8X"[..])
    );
    assert_eq!(&s.read("t.gif")[..6], b"GIF89a");
    let err = s.fails(&format!("render worm.frisson --frame 3 {SMALL} -o still.png"), 1);
    assert!(err.contains("already there") && err.contains("--force"), "{err}");
}

#[test]
fn overlays_and_blur_change_the_picture() {
    let s = Session::with_worm(8, 6);
    let scene = String::from_utf8(s.read("worm.toml")).unwrap();
    let shown = "name = \"belly\", show_weights = true, show_offsets = true,";
    s.write("worm.toml", &scene.replace("name = \"belly\",", shown));
    s.ok("bake worm.toml");
    let draw = |options: &str| {
        s.ok(&format!(
            "render worm.frisson --frame 3 --size 240x135 --samples 2 --force -o x.png {options}"
        ));
        png(&s, "x.png")
    };
    let plain = draw("");
    assert_eq!(differing(&plain, &draw("")), 0, "pictures are the same twice");
    for overlay in
        ["wireframe", "velocities", "joints", "attribute:flesh:belly", "displacement:flesh_offset"]
    {
        let changed = differing(&plain, &draw(&format!("--overlay {overlay}")));
        assert!(changed > 10, "{overlay} changes {changed} pixels");
    }
    let blurred = differing(&plain, &draw("--motion-blur 2"));
    assert!(blurred > 10, "the wag is blurred: {blurred} pixels");
    let err = s.fails("render worm.frisson --frame 3 --overlay attribute:zeal -o y.png", 1);
    assert!(err.contains("zeal") && err.contains("flesh_offset"), "{err}");
    let err = s.fails("render worm.frisson --frame 99 -o y.png", 1);
    assert!(err.contains("99"), "{err}");
}

#[test]
fn a_bake_reports_with_charts() {
    let s = baked();
    let page = String::from_utf8(s.read("worm.bake-report.html")).unwrap();
    assert!(page.contains("time per frame of each layer"), "time per layer");
    assert!(page.matches("<svg").count() >= 2, "and what the layer measured");
    let report: serde_json::Value =
        serde_json::from_slice(&s.read("worm.bake-report.json")).unwrap();
    assert_eq!(report["layers"][0]["frames_ms"].as_array().map(Vec::len), Some(6));
    s.ok("render worm.frisson --plots");
    let charts = std::fs::read_dir(s.path("worm.plots")).unwrap().count();
    assert!(charts >= 2, "{charts} files");
}

#[test]
fn a_gallery_is_a_page_and_goes_on_where_it_stopped() {
    let s = Session::with_worm(8, 6);
    std::fs::create_dir(s.path("scenes")).unwrap();
    let scene = String::from_utf8(s.read("worm.toml")).unwrap().replace("worm.glb", "../worm.glb");
    let shown = "\n[gallery]\ntitle = \"A worm & its tail\"\nsource = [[\"case\", \"time\"], [\"wag\", \"3 s\"]]\n";
    s.write("scenes/worm.toml", &(scene.clone() + shown));
    s.write("scenes/hidden.toml", &scene);
    s.write("scenes/broken.toml", &(scene.replace("joint3", "joint99") + shown));
    let out = s.ok("gallery --quick");
    assert!(out.contains("2 scenes, 1 failed"), "{out}");
    let page = String::from_utf8(s.read("gallery/index.html")).unwrap();
    assert!(page.contains("A worm &amp; its tail") && page.contains("joint99"), "both are told");
    assert!(page.contains("src=\"worm.png\"") && page.contains("3 s"), "picture and table");
    let drawn = std::fs::metadata(s.path("gallery/worm.png")).unwrap().modified().unwrap();
    s.ok("gallery --quick --only worm");
    let again = std::fs::metadata(s.path("gallery/worm.png")).unwrap().modified().unwrap();
    assert_eq!(drawn, again, "finished scenes are not done again");
}
