//! Files from strangers, as the command line meets them: a clear refusal or a result, soon, with the
//! exit codes that are promised, and no file touched that was not asked for.
#![cfg(unix)]

mod common;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use common::{Session, said};
use serde_json::{Value, json};

/// Longest that a refusal may take here: the promise is two seconds for the released program on a
/// machine of its own; tests share theirs and are built without optimisation.
const SOON: Duration = Duration::from_secs(60);

/// Positions that are finite and as far away as a number can be: no camera can stand off so far.
#[test]
fn what_is_too_far_to_be_seen_is_not_drawn() {
    use frisson_io::cache::{CacheHeader, CacheWriter, IfExists};
    let s = Session::new();
    let header = CacheHeader {
        program: "test".to_owned(),
        scene_hash: 7,
        rate: frisson::stage::Rate::whole(24),
        first_frame: 0,
        last_frame: 1,
        sources: Vec::new(),
        layers: Vec::new(),
        scene_text: "frisson = 1".to_owned(),
    };
    let far = s.path("far.frisson");
    let (mut writer, _) = CacheWriter::open(&far, &header, IfExists::Refuse).unwrap();
    for (index, size) in [(0, 1.0), (1, 3e38)] {
        let points = [glam::Vec3::ZERO, glam::Vec3::X, glam::Vec3::Y].map(|p| size * p);
        let mesh = frisson::geometry::Mesh::new("far", points.to_vec(), vec![[0, 1, 2]]);
        let frame = frisson::stage::Frame { index, meshes: vec![mesh], ..Default::default() };
        writer.write_frame(&frame, &[]).unwrap();
    }
    writer.finish().unwrap();
    refused(&s, "render far.frisson --frame 1 -o a.png", "farther away");
    refused(&s, "render far.frisson -o b.png", "farther away");
    answer(&s, "inspect far.frisson");
}

/// Runs, and expects an answer soon with one of the promised exit codes.
#[track_caller]
fn answer(s: &Session, arguments: &str) -> (i32, String, String) {
    let started = Instant::now();
    let (code, out, err) = s.frisson(arguments);
    let start: String = err.chars().take(2000).collect();
    assert!((0..=3).contains(&code), "frisson {arguments}: exit code {code}\n{start}");
    assert!(started.elapsed() < SOON, "frisson {arguments}: {:?}\n{start}", started.elapsed());
    (code, out, err)
}

/// Expects a refusal that says something.
#[track_caller]
fn refused(s: &Session, arguments: &str, words: &str) -> String {
    let (code, out, err) = answer(s, arguments);
    assert_eq!(code, 1, "frisson {arguments}\n{out}\n{err}");
    let start: String = err.chars().take(2000).collect();
    assert!(err.contains(words), "frisson {arguments}\n{start}");
    err
}

/// One triangle whose bytes are a buffer of 36 bytes with this uri.
fn triangle(uri: &str, bytes: u64) -> Value {
    json!({
        "asset": { "version": "2.0" },
        "buffers": [{ "byteLength": bytes, "uri": uri }],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "nodes": [{ "mesh": 0 }],
    })
}

fn positions(s: &Session, name: &str) {
    let points = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let bytes: Vec<u8> = points.iter().flatten().flat_map(|n| n.to_le_bytes()).collect();
    std::fs::write(s.path(name), bytes).unwrap();
}

#[test]
fn buffers_are_regular_files_beside_or_below() {
    let s = Session::new();
    positions(&s, "a.bin");
    std::fs::create_dir(s.path("sub")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(s.path("fifo")).status();
    assert!(made.unwrap().success());
    let write =
        |name: &str, uri: &str, bytes: u64| s.write(name, &triangle(uri, bytes).to_string());
    write("good.gltf", "a.bin", 36);
    assert!(s.ok("inspect good.gltf").contains("3 vertices"));
    write("fifo.gltf", "fifo", 36);
    refused(&s, "inspect fifo.gltf", "a pipe, a device or a socket, not a file");
    write("dev.gltf", "/dev/zero", 1 << 40);
    refused(&s, "inspect dev.gltf", "leads out of the folder");
    refused(&s, "inspect dev.gltf --anywhere", "a pipe, a device or a socket, not a file");
    write("large.gltf", "a.bin", 1 << 40);
    refused(&s, "inspect large.gltf", "1099511627776 bytes are promised, 36 are there");
    write("sub/up.gltf", "../a.bin", 36);
    refused(&s, "inspect sub/up.gltf", "leads out of the folder");
    assert!(s.ok("inspect sub/up.gltf --anywhere").contains("3 vertices"));
    refused(&s, "inspect fifo", "");
    std::fs::rename(s.path("fifo"), s.path("fifo.toml")).unwrap();
    refused(&s, "check fifo.toml", "not a file");
    std::fs::rename(s.path("fifo.toml"), s.path("fifo.frisson")).unwrap();
    refused(&s, "inspect fifo.frisson", "not a file");
    refused(&s, "render fifo.frisson", "not a file");
}

#[test]
fn an_image_that_is_a_pipe_is_left_out() {
    let s = Session::new();
    positions(&s, "a.bin");
    let made = std::process::Command::new("mkfifo").arg(s.path("fifo")).status();
    assert!(made.unwrap().success());
    let mut file = triangle("a.bin", 36);
    file["images"] = json!([{ "uri": "fifo" }]);
    file["textures"] = json!([{ "source": 0 }]);
    file["materials"] = json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
    file["meshes"][0]["primitives"][0]["material"] = json!(0);
    s.write("a.gltf", &file.to_string());
    let (code, _, err) = answer(&s, "inspect a.gltf");
    assert_eq!(code, 0, "{err}");
}

#[test]
fn numbers_at_the_end_of_their_range_are_refused() {
    let s = Session::new();
    let actor = "[actors.a]\nsource = \"builtin:sheet?cells=4&size=1&height=1\"\n";
    for frames in ["[-9223372036854775808, 0]", "[0, 9223372036854775807]"] {
        s.write("far.toml", &format!("frisson = 1\nframes = {frames}\n{actor}"));
        refused(&s, "check far.toml", "frame numbers go up to");
    }
    s.write("long.toml", &format!("frisson = 1\nframes = [0, 99000000]\n{actor}"));
    refused(&s, "check long.toml", "longer than the limit");
    s.write(
        "soft.toml",
        "frisson = 1\nframes = [0, 1]\n[[layers]]\n[layers.soft]\nname = \"l\"\n\
         [[layers.soft.objects]]\nname = \"p\"\nthickness = 0.03\n\
         primitives = [{ segment = [[0, 0.11, 0.05], [0, 0.17, 1e12]] }]\n",
    );
    refused(&s, "check soft.toml", "the surface would take");
}

#[test]
fn a_scene_without_a_clip_says_so() {
    let s = Session::new();
    positions(&s, "a.bin");
    s.write("a.gltf", &triangle("a.bin", 36).to_string());
    s.write("a.toml", "frisson = 1\n[actors.a]\nsource = \"a.gltf\"\n");
    refused(&s, "check a.toml", "nothing says how long the shot is");
    let (code, _, err) = answer(&s, "init a.gltf -o b.toml");
    assert!(code == 0 && err.contains("has no clip"), "{err}");
    s.ok("check b.toml");
    for arguments in ["init a.gltf --fps 0 -o c.toml", "bake a.toml --raise-limits 0"] {
        let (code, _, err) = answer(&s, arguments);
        assert_eq!(code, 2, "{arguments}: {err}");
    }
}

/// The count of splits alone would take a thousand terabytes, which ends whoever asks for them.
#[test]
fn a_draco_block_that_asks_for_petabytes_is_refused() {
    let s = Session::new();
    let mut block = b"DRACO\x02\x02\x01\x01\0\0\0\x03\x01\0\x01\0".to_vec();
    // 2^45 in sevens of bits.
    block.extend([0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x08]);
    block.resize(64, 0);
    std::fs::write(s.path("a.bin"), &block).unwrap();
    let mut file = triangle("a.bin", 64);
    let name = "KHR_draco_mesh_compression";
    file["extensionsRequired"] = json!([name]);
    file["bufferViews"][0]["byteLength"] = json!(64);
    file["accessors"][0]["bufferView"].take();
    file["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    file["meshes"][0]["primitives"][0]["extensions"] =
        json!({ name: { "bufferView": 0, "attributes": { "POSITION": 0 } } });
    s.write("a.gltf", &file.to_string());
    refused(&s, "inspect a.gltf", "the Draco decoder gave up on damaged data");
}

/// Files that grow with a number: inspected, they take time in proportion to it.
#[test]
fn nothing_is_quadratic() {
    let nodes = |n: usize, node: &dyn Fn(usize) -> Value| {
        let list: Vec<Value> = (0..n).map(node).collect();
        json!({ "asset": { "version": "2.0" }, "nodes": list })
    };
    let same = |n: usize| nodes(n, &|_| json!({ "name": "arm" })).to_string();
    let chain = |n: usize| {
        let child = |i: usize| if i + 1 < n { json!({ "children": [i + 1] }) } else { json!({}) };
        nodes(n, &child).to_string()
    };
    let sheared = |n: usize| {
        let matrix = [1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
        nodes(n, &|i| json!({ "name": format!("n{i}"), "matrix": matrix })).to_string()
    };
    let placed = |n: usize| {
        let mut file = triangle("a.bin", 36);
        file["nodes"] = (0..n).map(|_| json!({ "mesh": 0 })).collect();
        file.to_string()
    };
    let keys = |n: usize| {
        (0..n).fold("frisson = 1\n".to_owned(), |mut text, i| {
            let _ = writeln!(text, "unknown_key_{i} = {i}");
            text
        })
    };
    let cases: [(&str, &str, usize, &dyn Fn(usize) -> String); 5] = [
        ("same.gltf", "inspect", 10_000, &same),
        ("chain.gltf", "inspect", 25_000, &chain),
        ("sheared.gltf", "inspect", 25_000, &sheared),
        ("placed.gltf", "inspect", 25_000, &placed),
        ("keys.toml", "check", 5_000, &keys),
    ];
    for (name, command, count, make) in cases {
        let s = Session::new();
        positions(&s, "a.bin");
        let time = |n: usize| {
            s.write(name, &make(n));
            let best = (0..2).map(|_| {
                let started = Instant::now();
                answer(&s, &format!("{command} {name}"));
                started.elapsed()
            });
            best.min().unwrap()
        };
        let (one, four) = (time(count), time(4 * count));
        // Four times the work; sixteen times would be quadratic. Short times say nothing.
        let allowed = (8 * one).max(Duration::from_millis(1500));
        assert!(four < allowed, "{name}: {count} take {one:?}, four times as many {four:?}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let s = Session::new();
    let deep = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
    s.write("a.toml", &format!("frisson = 1\nx = {}\n", deep("[", "]")));
    refused(&s, "check a.toml", "a.toml");
    s.write("b.toml", &format!("frisson = 1\n{} = 1\n", "a.".repeat(100_000) + "a"));
    refused(&s, "check b.toml", "b.toml");
    s.write(
        "c.toml",
        &format!("frisson = 1\nx = {}1{}\n", "{ a = ".repeat(50_000), " }".repeat(50_000)),
    );
    refused(&s, "check c.toml", "c.toml");
    let nested = format!("{{\"asset\":{{\"version\":\"2.0\"}},\"extras\":{}}}", deep("[", "]"));
    s.write("d.gltf", &nested);
    refused(&s, "inspect d.gltf", "JSON");
}

#[test]
fn a_page_of_letters_is_no_word() {
    let s = Session::new();
    let word = "a".repeat(100_000);
    let mut command = s.command("explain");
    let started = Instant::now();
    let (code, _, err) = said(&command.arg(&word).output().unwrap());
    assert_eq!(code, 1, "{}", &err[..200.min(err.len())]);
    assert!(started.elapsed() < SOON);
}

#[test]
fn placing_a_mesh_too_often_names_the_limit() {
    let s = Session::new();
    positions(&s, "a.bin");
    let mut file = triangle("a.bin", 36);
    file["nodes"] = (0..100_000).map(|_| json!({ "mesh": 0 })).collect();
    s.write("a.gltf", &file.to_string());
    refused(&s, "inspect a.gltf", "more than the limit of 10000 (--raise-limits allows more)");
}

#[test]
fn no_output_replaces_an_input() {
    let s = Session::with_worm(6, 3);
    let rig = s.read("worm.glb");
    let scene = String::from_utf8(s.read("worm.toml")).unwrap();
    std::os::unix::fs::symlink("worm.glb", s.path("link.glb")).unwrap();
    std::fs::hard_link(s.path("worm.glb"), s.path("hard.glb")).unwrap();
    for name in ["worm.glb", "link.glb", "hard.glb", "./worm.glb"] {
        s.write("over.toml", &format!("{scene}\n[[exports]]\nglb = \"{name}\"\n"));
        refused(&s, "check over.toml", "is an input of this shot");
        for flag in ["", "--force", "--resume"] {
            let err = refused(&s, &format!("bake over.toml {flag}"), "");
            assert!(!err.contains("use --force"), "{err}");
        }
    }
    refused(&s, "bake worm.toml -o worm.toml --force", "is an input of this shot");
    refused(&s, "bake worm.toml -o worm.glb --force", "is an input of this shot");
    s.ok("bake worm.toml");
    refused(&s, "export worm.frisson --to worm.glb --force", "is an input of this shot");
    refused(&s, "init worm.glb -o worm.glb --force", "is an input of this shot");
    assert!(s.read("worm.glb") == rig && s.read("worm.toml") == scene.as_bytes());
}

#[test]
fn exports_stay_in_the_scene_s_folder_unless_allowed() {
    let s = Session::with_worm(6, 3);
    let scene = String::from_utf8(s.read("worm.toml")).unwrap();
    std::fs::create_dir(s.path("inner")).unwrap();
    let out = "[[exports]]\nobj = \"../out.obj\"\n";
    s.write("inner/out.toml", &(scene.replace("worm.glb", "../worm.glb") + "\n" + out));
    refused(&s, "check inner/out.toml", "outside of the scene's folder");
    refused(&s, "bake inner/out.toml", "outside of the scene's folder");
    s.ok("bake inner/out.toml --anywhere");
    assert!(s.path("out.0001.obj").exists());
}

#[test]
fn files_of_others_are_left_alone() {
    let s = Session::with_worm(6, 3);
    for (name, flags) in [
        ("worm.frisson.part", ["--resume", "--force"]),
        ("worm.frisson", ["--force", "--resume"]),
        ("worm.bake-report.json", ["", "--force"]),
        ("worm.bake-report.html", ["", "--resume"]),
    ] {
        s.write(name, "my notes");
        for flag in flags {
            refused(&s, &format!("bake worm.toml {flag}"), "");
            assert_eq!(s.read(name), b"my notes", "{name} {flag}");
        }
        std::fs::remove_file(s.path(name)).unwrap();
    }
    s.write("other.txt", "mine");
    for name in ["worm.frisson.part", "worm.frisson", "worm.bake-report.json"] {
        std::os::unix::fs::symlink("other.txt", s.path(name)).unwrap();
        refused(&s, "bake worm.toml --force", "is a link");
        std::fs::remove_file(s.path(name)).unwrap();
    }
    assert_eq!(s.read("other.txt"), b"mine");
    s.ok("bake worm.toml");
    s.ok("bake worm.toml --force");
}

#[test]
fn what_cannot_be_written_is_said_before_the_shot_is_simulated() {
    // Long enough that simulating it would be noticed.
    let s = Session::with_worm(200, 100_000);
    let scene = String::from_utf8(s.read("worm.toml")).unwrap();
    std::fs::create_dir(s.path("folder.abc")).unwrap();
    let long = "n".repeat(251) + ".abc";
    for (name, words) in [
        ("folder.abc", "is not a file"),
        (long.as_str(), "is too long"),
        ("worm.glb/x.abc", "cannot write"),
    ] {
        s.write("out.toml", &format!("{scene}\n[[exports]]\nalembic = \"{name}\"\n"));
        refused(&s, "bake out.toml", words);
    }
    refused(&s, "bake worm.toml -o folder.abc --force", "is not a file");
    refused(&s, &format!("bake worm.toml -o {}", "n".repeat(255)), "is too long");
    refused(&s, "bake worm.toml -o /proc/x.frisson", "cannot write");
    assert!(!s.files().iter().any(|f| f.ends_with(".part")), "{:?}", s.files());
}

#[test]
fn a_full_disk_behind_a_pipe_is_an_error() {
    let s = Session::with_worm(6, 3);
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = s.command("inspect worm.glb");
    let (code, _, err) = said(&command.stdout(full()).output().unwrap());
    assert!(code == 1 && err.contains("standard output"), "{code} {err}");
    let mut command = s.command("check nothing.toml");
    let status = command.stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn what_a_killed_export_left_is_taken_away() {
    let s = Session::with_worm(6, 3);
    s.write(".worm.abc.4242.partial", "half an archive");
    s.ok("bake worm.toml");
    assert!(!s.path(".worm.abc.4242.partial").exists());
    s.write(".worm.abc.4243.partial", "half an archive");
    s.ok("export worm.frisson --to worm.abc");
    assert!(!s.path(".worm.abc.4243.partial").exists());
}

#[test]
fn a_resumed_bake_has_the_same_inputs_to_the_last_byte() {
    let s = Session::with_worm(6, 3);
    s.ok("bake worm.toml");
    // A cache as an actor, and a buffer beside a .gltf.
    positions(&s, "a.bin");
    s.write("a.gltf", &triangle("a.bin", 36).to_string());
    s.write(
        "two.toml",
        "frisson = 1\nframes = [0, 3]\n[actors.a]\nsource = \"a.gltf\"\n[actors.b]\n\
         source = \"worm.frisson\"\n",
    );
    s.ok("bake two.toml");
    assert!(s.ok("bake two.toml --resume").contains("already finished"));
    let mut bytes = s.read("a.bin");
    bytes[6] ^= 0x40;
    std::fs::write(s.path("a.bin"), &bytes).unwrap();
    refused(&s, "bake two.toml --resume", "is a bake of another scene");
    bytes[6] ^= 0x40;
    std::fs::write(s.path("a.bin"), &bytes).unwrap();
    s.ok("bake two.toml --resume");
    let scene = String::from_utf8(s.read("worm.toml")).unwrap();
    s.write("worm.toml", &scene.replace("frequency_hz = 2.0", "frequency_hz = 5.0"));
    s.ok("bake worm.toml --force");
    refused(&s, "bake two.toml --resume", "is a bake of another scene");
}
