//! Scenes as people write and miswrite them.

use serde_json::json;

use super::*;

fn problems(text: &str) -> Vec<String> {
    match SceneFile::parse(Path::new("s.toml"), text) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let place = |p: &Problem| {
                let (line, column) = error.position(p);
                let help = p.help.as_ref().map_or_else(String::new, |h| format!(" ({h})"));
                format!("{line}:{column} {}{help}", p.message)
            };
            error.problems.iter().map(place).collect()
        }
    }
}

#[track_caller]
fn assert_problem(text: &str, start: &str, within: &str) {
    let found = problems(text);
    assert!(
        found.iter().any(|p| p.starts_with(start) && p.contains(within)),
        "expected {start:?} … {within:?} in {found:#?}"
    );
}

#[test]
fn a_short_scene_is_enough() {
    let text = "frisson = 1\nfps = \"24000/1001\"\n[actors.cat]\nsource = \"builtin:cat\"\n";
    let file = SceneFile::parse(Path::new("s.toml"), text).unwrap();
    assert_eq!(file.scene.fps.0.numerator, 24000);
    assert_eq!(file.scene.gravity, [0.0, -9.81, 0.0]);
    assert_eq!(file.scene.actors.0[0].1, ActorParams::new("builtin:cat"));
}

#[test]
fn actors_keep_the_order_of_the_file() {
    let text = "frisson = 1\n[actors.z]\nsource = \"a\"\n[actors.a]\nsource = \"b\"\n";
    let file = SceneFile::parse(Path::new("s.toml"), text).unwrap();
    let names: Vec<&str> = file.scene.actors.0.iter().map(|(n, _)| n.as_str()).collect();
    assert_eq!(names, ["z", "a"]);
}

#[test]
fn unknown_keys_get_a_suggestion() {
    assert_problem("frisson = 1\nfsp = 24\n", "2:1 unknown key `fsp`", "did you mean `fps`?");
    let text = "frisson = 1\n[actors.cat]\nsorce = \"x\"\n";
    assert_problem(text, "3:1 unknown key `sorce` in cat", "did you mean `source`?");
    assert_problem(text, "2:9 cat needs `source`", "Where it comes from");
}

#[test]
fn wrong_types_and_ranges_are_underlined_at_the_value() {
    assert_problem("frisson = 1\nfps = true\n", "2:7 `fps` must be a number or text", "");
    assert_problem("frisson = 1\nfps = 0\n", "2:7 `fps` must be between 0.01", "not 0");
    assert_problem("frisson = 1\nfps = \"a/b\"\n", "2:7 fps: give a number", "");
    assert_problem("frisson = 3\n", "1:11 `frisson` must be between 1 and 2", "Version");
    assert_problem("frisson = 1\npreroll = -1\n", "2:11 `preroll` must be between 0 and 600", "");
    assert_problem("frisson = 1\ngravity = [0, 1]\n", "2:11 `gravity` must have 3 items", "");
    assert_problem("frisson = 1\ngravity = [0, \"x\", 1]\n", "2:15 `gravity[1]` must be", "text");
    assert_problem("frisson = 1\nframes = [0, 1.5]\n", "2:14 `frames[1]` must be a whole", "");
    assert_problem("frisson = 1\nseed = -1\n", "2:8 `seed` must be at least 0", "");
}

#[test]
fn layers_say_exactly_one_known_kind() {
    let layer = |body: &str| format!("frisson = 1\n[[layers]]\n{body}\n");
    assert_problem(&layer("flsh = { name = \"a\" }"), "3:1 unknown key `flsh`", "`flesh`");
    assert_problem(&layer("flesh = 3"), "3:9 `flesh` must be a table", "");
    let two = layer("flesh = { name = \"a\" }\nhair = { name = \"b\" }");
    assert_problem(&two, "2:", "exactly one of");
    assert_problem(&layer(""), "2:", "exactly one of");
}

#[test]
fn colliders_and_key_frames_are_checked() {
    let text = |shape: &str, x: &str| {
        format!("frisson = 1\n[[colliders]]\nname = \"a\"\nshape = {shape}\nmove_x = {x}\n")
    };
    let ball = "{ sphere = { center = [0, 0, 0], radius = 1 } }";
    assert_eq!(problems(&text(ball, "[[0, 1], [10, 2.5]]")), Vec::<String>::new());
    assert_problem(&text(ball, "[[0, 1], [0, 2]]"), "5:19 `move_x`: the frames", "ascend");
    assert_problem(&text(ball, "[]"), "5:10 `move_x` has no key", "");
    assert_problem(&text(ball, "[[0, 1, 2]]"), "5:11", "2 items");
    assert_problem(&text("{ spere = {} }", "0"), "4:11 unknown key `spere`", "`sphere`");
    assert_problem(&text("\"sphere\"", "0"), "4:9 `shape` cannot be \"sphere\"", "");
}

#[test]
fn all_problems_come_at_once_in_the_order_of_the_text() {
    let text = "frisson = 1\nfsp = 1\npreroll = -1\n[actors.a]\n";
    let found = problems(text);
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found[0].starts_with("2:") && found[1].starts_with("3:"), "{found:#?}");
    assert_problem("frisson = \n", "1:", "");
    assert_problem("x = inf\n", "1:5", "finite");
}

#[test]
fn expectations_are_checked_like_the_rest() {
    let text = |body: &str| {
        format!("frisson = 1\n[actors.cat]\nsource = \"builtin:cat\"\n[[expect]]\n{body}\n")
    };
    let good = "measure = \"stretch\"\nshape = \"cat\"\nat_most = 1.1\nwhy = \"it holds\"";
    assert_eq!(problems(&text(good)), Vec::<String>::new());
    assert_problem(
        &text("measure = \"strech\"\nwhy = \"x\""),
        "5:11 `measure` cannot be",
        "stretch",
    );
    assert_problem(&text(&format!("{good}\nshap = 1")), "9:1 unknown key `shap`", "`shape`");
    assert_problem(
        &text(&format!("{good}\nrelative_to = {{ fames = [0, 1] }}")),
        "9:17",
        "`frames`",
    );
    assert_problem(
        &text("measure = \"rest\"\nat_most = 1"),
        "4:1 expect[0] needs `why`",
        "sentence",
    );
    assert_problem(
        &text(&format!("{good}\nwithin = [1, 2]")),
        "9:10 `within` must have 6 items",
        "",
    );
}

#[test]
fn expectations_that_cannot_be_held_are_refused_where_they_stand() {
    struct Nobody;
    impl ActorLoader for Nobody {
        fn load(&self, source: &str, _: &Path) -> Result<LoadedActor, LoadError> {
            Err(LoadError::UnknownKind(source.to_owned()))
        }
    }
    let refused = |body: &str| {
        let text =
            format!("frisson = 1\n[actors.cat]\nsource = \"x\"\n[[expect]]\nwhy = \"x\"\n{body}\n");
        let file = SceneFile::parse(Path::new("s.toml"), &text).unwrap();
        let error = file.build(&Nobody).err().unwrap();
        error.problems.iter().map(|p| format!("{:?} {p:?}", error.position(p))).collect::<String>()
    };
    let rest = "measure = \"rest\"\nshape = \"cat\"";
    for (body, place, said) in [
        (rest.to_owned(), "(6, 11)", "say what is expected"),
        (format!("{rest}\nbetween = [2, 1]"), "(8, 11)", "the least is more than the most"),
        (format!("{rest}\nat_most = 1\nframes = [3, 1]"), "(9, 10)", "before the first"),
        ("measure = \"rest\"\nat_most = 1".to_owned(), "(6, 11)", "needs `shape`"),
        (format!("{rest}\nat_most = 1\nbody = \"cta\""), "(9, 8)", "did you mean \\\"cat\\\""),
        ("measure = \"inside\"\nshape = \"cat/eyes\"\nat_most = 1".to_owned(), "(6, 11)", "`body`"),
        ("measure = \"rates\"\nshape = \"cat\"\nat_most = 1".to_owned(), "(6, 11)", "`rates`"),
        (format!("{rest}\nlayer = \"belly\"\nat_most = 1"), "(8, 9)", "no layer named"),
    ] {
        let found = refused(&body);
        assert!(found.contains(place) && found.contains(said), "{body}: {found}");
    }
}

/// What a reader leaves out of a file is told to whoever uses it.
#[test]
fn a_mesh_of_lines_is_left_out_and_said_so() {
    let mesh =
        |mode: u32| json!({ "primitives": [{ "attributes": { "POSITION": 0 }, "mode": mode }] });
    let points =
        "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    let document = json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0, 1] }],
        "nodes": [{ "mesh": 0 }, { "mesh": 1 }], "meshes": [mesh(4), mesh(1)],
        "buffers": [{ "byteLength": 36, "uri": points }],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
                        "min": [0, 0, 0], "max": [1, 1, 0] }],
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.gltf"), document.to_string()).unwrap();
    let text = "frisson = 2\nframes = [0, 1]\n[actors.a]\nsource = \"a.gltf\"\n";
    let scene = SceneFile::parse(&folder.path().join("s.toml"), text).unwrap();
    let remarks = scene.build(&FileLoader).map_err(|e| e.to_string()).unwrap().remarks;
    assert!(
        remarks.iter().any(|r| r.starts_with("a.gltf: ") && r.contains("lines")),
        "{remarks:?}"
    );
}
