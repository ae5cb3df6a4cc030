//! The command line as a person types it.

mod common;

use common::Session;

#[test]
fn a_first_session() {
    let s = Session::with_worm(20, 12);
    let out = s.ok("init worm.glb -o first.toml");
    assert!(out.contains("wrote first.toml"), "{out}");
    let out = s.ok("check first.toml");
    assert!(out.contains("good. 1 actors"), "{out}");
    let out = s.ok("bake worm.toml");
    assert!(out.contains("frames 1 to 12 at 24 fps"), "{out}");
    assert!(out.contains("flesh belly") && out.contains("wrote worm.frisson"), "{out}");
    let out = s.ok("inspect worm.frisson");
    assert!(out.contains("finished, every checksum good"), "{out}");
    assert!(out.contains("mesh \"worm\": 480 vertices"), "{out}");
    let out = s.ok("export worm.frisson --to worm.abc --to worm.glb2.glb");
    assert!(out.contains("wrote worm.abc"), "{out}");
    assert_eq!(&s.read("worm.abc")[..5], b"Ogawa");
    assert!(!s.files().iter().any(|f| f.ends_with(".part")), "{:?}", s.files());
}

#[test]
fn the_proposed_coat_can_be_tried() {
    let s = Session::with_worm(12, 4);
    s.ok("init worm.glb -o coated.toml");
    let text = String::from_utf8(s.read("coated.toml")).unwrap();
    let (before, after) = text.split_once("# A soft body in place of the skin").unwrap();
    // Take the marks away, as the comment says; its two lines of words stay.
    let (mut marked, mut scene) = (true, before.to_owned());
    for line in after.lines().skip(2) {
        marked &= line.starts_with("# ");
        scene.push_str(if marked { line.trim_start_matches("# ") } else { line });
        scene.push('\n');
    }
    assert!(scene.contains("\n[[layers]]\n[layers.soft]\n"), "{scene}");
    s.write("coated.toml", &scene.replacen("frisson = 1", "frisson = 1\nframes = [0, 3]", 1));
    let out = s.ok("check coated.toml");
    assert!(out.contains("good. 1 actors"), "{out}");
    let out = s.ok("bake coated.toml");
    assert!(out.contains("soft coat") && out.contains("wrote coated.frisson"), "{out}");
    let out = s.ok("inspect coated.frisson");
    assert!(out.contains("mesh \"coat\""), "{out}");
}

#[test]
fn the_coat_proposed_for_a_bulky_character_can_be_built() {
    let s = Session::with_worm(12, 4);
    s.ok("init builtin:mushroom --with coat -o mushroom.toml");
    let out = s.ok("check mushroom.toml");
    assert!(out.contains("good. 1 actors"), "{out}");
}

#[test]
fn check_points_at_the_mistake() {
    let s = Session::with_worm(4, 3);
    let scene = String::from_utf8(s.read("worm.toml")).unwrap();
    let wrong = |from: &str, to: &str| {
        s.write("wrong.toml", &scene.replace(from, to));
        s.fails("check wrong.toml", 1)
    };
    let err = wrong("fps = 24", "fsp = 24");
    assert!(err.starts_with("wrong.toml:2:1: unknown key `fsp`"), "{err}");
    assert!(err.contains("2 | fsp = 24") && err.contains("^^^"), "{err}");
    assert!(err.contains("did you mean `fps`?"), "{err}");
    let err = wrong("frequency_hz = 2.0", "frequency_hz = -2.0");
    assert!(err.contains("wrong.toml:10:") && err.contains("`frequency_hz` must be"), "{err}");
    let err = wrong("\"joint3\"", "\"joint9\"");
    assert!(err.contains("wrong.toml:10:") && err.contains("joint9"), "{err}");
    let err = wrong("worm.glb", "wurm.glb");
    assert!(err.contains("wrong.toml:6:10: there is no file"), "{err}");
    let err = wrong("loop = true", "clip = \"wagg\"");
    assert!(err.contains("there is no clip named \"wagg\"") && err.contains("\"wag\""), "{err}");
    let err = wrong("worm.glb", "builtin:cta");
    assert!(err.contains("cat"), "{err}");
    let err = wrong("frames = [1, 3]", "frames = [3, 1]");
    assert!(err.contains("wrong.toml:3:10: the last frame is before the first"), "{err}");
    let err = wrong("[[layers]]", "[[exports]]\nobj = \"a.obj\"\nusd = \"b.usd\"\n[[layers]]");
    assert!(err.contains("both"), "{err}");
}

#[test]
fn errors_are_json_for_programs() {
    let s = Session::new();
    s.write("wrong.toml", "frisson = 1\nfsp = 24\n");
    let err = s.fails("check wrong.toml --json", 1);
    let value: serde_json::Value = serde_json::from_str(&err).unwrap();
    assert_eq!(value["problems"][0]["line"], 2);
    assert_eq!(value["problems"][0]["column"], 1);
    let err = s.fails("bake missing.toml --json", 1);
    let value: serde_json::Value = serde_json::from_str(&err).unwrap();
    assert!(value["error"].as_str().unwrap().contains("missing.toml"));
}

#[test]
fn names_are_explained_and_typos_met_halfway() {
    let s = Session::new();
    let out = s.ok("explain frequency_hz");
    assert!(out.contains("flesh.frequency_hz") && out.contains("[Hz]"), "{out}");
    let err = s.fails("explain frequncy_hz", 1);
    assert!(err.contains("did you mean `frequency_hz`?"), "{err}");
    let schema: serde_json::Value = serde_json::from_str(&s.ok("schema")).unwrap();
    assert!(schema["properties"]["layers"].is_object());
    let out = s.ok("inspect builtin:sphere");
    assert!(out.contains("triangles"), "{out}");
    s.fails("frobnicate", 2);
    assert!(s.ok("--help").contains("Exit codes"));
}

#[test]
fn outputs_that_are_there_are_kept() {
    let s = Session::with_worm(6, 5);
    s.ok("bake worm.toml");
    let before = s.read("worm.frisson");
    let err = s.fails("bake worm.toml", 1);
    assert!(err.contains("already there") && err.contains("--force"), "{err}");
    assert_eq!(s.read("worm.frisson"), before);
    s.ok("bake worm.toml --force");
    assert_eq!(s.read("worm.frisson"), before, "the same scene gives the same bytes");
    assert!(s.ok("bake worm.toml --resume").contains("already finished"));
    s.write("worm.abc", "mine");
    let err = s.fails("export worm.frisson --to worm.abc", 1);
    assert!(err.contains("worm.abc is already there"), "{err}");
    assert_eq!(s.read("worm.abc"), b"mine");
    let err = s.fails("init worm.glb", 1);
    assert!(err.contains("worm.toml is already there"), "{err}");
    // A scene whose export is in the way is refused before anything is simulated.
    let scene = String::from_utf8(s.read("worm.toml")).unwrap();
    s.write("again.toml", &(scene + "\n[[exports]]\nalembic = \"worm.abc\"\n"));
    let err = s.fails("bake again.toml", 1);
    assert!(err.contains("worm.abc is already there"), "{err}");
    assert!(!s.files().iter().any(|f| f.starts_with("again.frisson")), "{:?}", s.files());
}

#[test]
fn damaged_caches_are_detected_and_their_good_frames_used() {
    let s = Session::with_worm(10, 10);
    s.ok("bake worm.toml");
    let whole = s.read("worm.frisson");
    std::fs::write(s.path("cut.frisson"), &whole[..whole.len() * 2 / 3]).unwrap();
    let out = s.ok("inspect cut.frisson");
    assert!(out.contains("DAMAGED at byte"), "{out}");
    let (_, out, err) = s.frisson("export cut.frisson --to cut.abc");
    assert!(out.contains("wrote cut.abc") && err.contains("warning: damaged"), "{out}{err}");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    std::fs::write(s.path("flipped.frisson"), &flipped).unwrap();
    let out = s.ok("inspect flipped.frisson");
    assert!(out.contains("DAMAGED at byte"), "{out}");
    let err = s.fails("export flipped.frisson --to flipped.abc", 1);
    assert!(err.contains("is damaged"), "{err}");
    assert!(!s.files().iter().any(|f| f.starts_with("flipped.abc")), "{:?}", s.files());
    s.write("not.frisson", "something else");
    assert!(s.fails("inspect not.frisson", 1).contains("is not a frisson cache"));
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    let s = Session::with_worm(10, 10);
    // /dev/full takes nothing: the part file is a link to it.
    std::os::unix::fs::symlink("/dev/full", s.path("worm.frisson.part")).unwrap();
    let err = s.fails("bake worm.toml --force", 1);
    assert!(err.contains("worm.frisson.part"), "{err}");
    assert!(!s.path("worm.frisson").exists());
    std::fs::remove_file(s.path("worm.frisson.part")).unwrap();
    s.ok("bake worm.toml");
}

#[test]
fn folders_that_cannot_be_written_are_named() {
    let s = Session::with_worm(4, 3);
    let err = s.fails("bake worm.toml -o nowhere/worm.frisson", 1);
    assert!(err.contains("nowhere"), "{err}");
    let err = s.fails("bake worm.toml -o worm.glb/worm.frisson", 1);
    assert!(err.contains("worm.glb"), "{err}");
}

#[test]
fn benchmarks_and_demos_are_listed() {
    let s = Session::new();
    assert!(s.ok("bench --list").contains("skinning"));
    assert!(s.ok("demo --list").contains("cat"));
    assert!(s.fails("bench skining", 1).contains("did you mean `skinning`?"));
    assert!(s.fails("demo dog", 1).contains("there is no demo"));
}

#[test]
fn the_wetness_of_drops_is_exported_as_images() {
    let s = Session::new();
    let scene = |trails: &str| {
        format!(
            r#"frisson = 1
fps = 30
frames = [0, 8]
[actors.board]
source = "builtin:incline?angle=50&size=0.2&cells=8"
[[layers]]
[layers.drops]
name = "rain"
on = "board"
ground = [{{ film = 1e-6 }}]
sources = [{{ region = {{ count = 20, mass = [2e-5, 4e-5] }} }}]
trails = {{ {trails} }}
"#
        )
    };
    s.write("wet.toml", &scene("image = 128"));
    s.ok("bake wet.toml");
    let out = s.ok("export wet.frisson --to wet.png");
    assert!(out.contains("wrote wet.0000.png") && out.contains("wrote wet.0008.png"), "{out}");
    let wet = |name: &str| {
        let bytes = s.read(name);
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (128, 128));
        let channels = info.color_type.samples();
        pixels.chunks(channels).filter(|p| p[0] > 100).count()
    };
    // The drops have run: some of the board is wet now, most of it is not.
    let (before, after) = (wet("wet.0000.png"), wet("wet.0008.png"));
    assert!(before == 0 && (50..8000).contains(&after), "{before} {after}");
    s.write("dry.toml", &scene("image = 0"));
    s.ok("bake dry.toml");
    let err = s.fails("export dry.frisson --to dry.png", 1);
    assert!(err.contains("trails.image"), "{err}");
}

#[test]
fn a_bake_that_stops_being_finite_keeps_its_frames_and_says_where() {
    let s = Session::new();
    // A path that leaves the world at frame 7.
    s.write(
        "gone.toml",
        "frisson = 1\nfps = 30\nframes = [0, 20]\n[actors.s]\nsource = \"builtin:sheet\"\n[[layers]]\n\
         cloth = { name = \"flag\", on = \"s\", attachments = [{ vertices = { vertices = [5] }, \
         path = [[[0, 0], [6, 0], [7, 1e300]], 0, 0] }] }\n",
    );
    let err = s.fails("bake gone.toml", 3);
    assert!(err.contains("layer \"flag\": vertex"), "{err}");
    assert!(err.contains("is not finite at frame 7; 7 finished frames are kept"), "{err}");
    let out = s.ok("inspect gone.frisson");
    assert!(out.contains("frames 0 to 6 of 20"), "{out}");
}
