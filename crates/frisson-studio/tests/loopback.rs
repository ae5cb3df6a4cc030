//! Who may talk to the studio, and what a page may ask it for. No browser is needed.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use frisson_studio::{Page, Served, Studio};

/// How long to wait for what takes its time on a busy machine.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);

const SCENE: &str = "frisson = 2\nframes = [0, 3]\n[actors.ball]\nsource = \"builtin:sphere\"\n";

struct Server {
    host: String,
    base: String,
    folder: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        Self::with(SCENE)
    }

    fn with(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("shots")).unwrap();
        let scene = folder.path().join("shots/shot.toml");
        std::fs::write(&scene, text).unwrap();
        let studio = Studio::open(scene.to_str().unwrap()).unwrap();
        let served = Served::bind(studio, 0, Page(None)).unwrap();
        let url = served.url();
        std::thread::spawn(move || served.run());
        let rest = url.strip_prefix("http://").unwrap();
        let (host, base) = rest.split_at(rest.find('/').unwrap());
        Self { host: host.to_owned(), base: base.to_owned(), folder }
    }

    /// Status and body of an answer.
    fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let mut text = format!("{method} {path} HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        for header in headers {
            text.push_str(&format!("{header}\r\n"));
        }
        write!(stream, "{text}\r\n{body}").unwrap();
        // Who is refused may be answered and left before that.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        (status, answer.split_once("\r\n\r\n").map(|(_, b)| b.to_owned()).unwrap_or_default())
    }

    fn own(&self) -> String {
        format!("Host: {}", self.host)
    }

    fn post(&self, path: &str, body: &str) -> (u16, String) {
        self.ask("POST", &format!("{}{path}", self.base), &[&self.own()], body)
    }
}

#[test]
fn only_pages_of_this_server_that_know_the_token_are_let_in() {
    let server = Server::start();
    let own = server.own();
    let get = |path: &str, headers: &[&str]| server.ask("GET", path, headers, "").0;
    assert_eq!(get(&server.base, &[&own]), 200);
    assert_eq!(get("/", &[&own]), 404);
    assert_eq!(get("/0123456789abcdef0123456789abcdef/", &[&own]), 404);
    assert_eq!(get(&server.base, &[]), 403);
    assert_eq!(get(&server.base, &["Host: evil.example"]), 403);
    assert_eq!(get(&server.base, &[&own, "Origin: http://evil.example"]), 403);
    assert_eq!(get(&server.base, &[&own, "Origin: null"]), 403);
    assert_eq!(get(&server.base, &[&own, "Sec-Fetch-Site: cross-site"]), 403);
    let origin = format!("Origin: http://{}", server.host);
    assert_eq!(get(&format!("{}choices", server.base), &[&own, &origin]), 200);
    assert_eq!(server.ask("DELETE", &server.base, &[&own], "").0, 405);
}

#[test]
fn nothing_outside_the_scenes_folder_is_read_or_written() {
    let server = Server::start();
    let above = server.folder.path().join("above.toml");
    std::fs::write(&above, SCENE).unwrap();
    for name in [
        "../above.toml",
        "/etc/passwd",
        "..",
        "a/b.toml",
        "..\\above.toml",
        ".hidden.toml",
        "c:x.toml",
        "",
    ] {
        let name = serde_json::to_string(name).unwrap();
        for (path, body) in
            [("open", format!("{{\"name\":{name}}}")), ("save", format!("{{\"name\":{name}}}"))]
        {
            let (status, said) = server.post(path, &body);
            assert_eq!(status, 400, "{path} {name}: {said}");
        }
    }
    assert_eq!(server.post("drop?name=%2e%2e%2fx.toml", SCENE).0, 400);
    assert_eq!(server.post("drop?name=x.exe", "MZ").0, 400);
    assert_eq!(
        server.ask("GET", &format!("{}../Cargo.toml", server.base), &[&server.own()], "").0,
        404
    );
    let there: Vec<String> = names(server.folder.path());
    assert_eq!(there, ["above.toml", "shots"]);
    assert_eq!(names(&server.folder.path().join("shots")), ["shot.toml"]);
    // A plain name is fine.
    assert_eq!(server.post("save", "{\"name\":\"other.toml\"}").0, 200);
    assert_eq!(
        std::fs::read_to_string(server.folder.path().join("shots/other.toml")).unwrap(),
        SCENE
    );
}

fn names(folder: &Path) -> Vec<String> {
    let all = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        all.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn nonsense_is_refused_and_does_no_harm() {
    let server = Server::start();
    for (path, body) in [
        ("edit", ""),
        ("edit", "{\"edits\":[{\"set\":{\"path\":\"a[\",\"value\":1}}],\"label\":\"x\"}"),
        ("edit", "{\"edits\":[{\"set\":{\"path\":\"fps\",\"value\":null}}],\"label\":\"x\"}"),
        ("switch", "{\"layer\":99}"),
        ("anchor", "{\"mesh\":\"ball\",\"corners\":[1,2,4294967295],\"weights\":[1,0,0]}"),
        ("compare", "{\"how\":{\"without\":7}}"),
        ("job", "{\"task\":\"fly\"}"),
        ("relocate", "{\"mesh\":\"ball\"}"),
        (
            "relocate",
            "{\"mesh\":\"ball\",\"corners\":[0,1,4294967295],\"now\":[[0,0,0],[1,0,0],[0,1,0]],\"points\":[]}",
        ),
        ("reveal", "{\"reveal\":7}"),
        ("open", "[]"),
    ] {
        assert_eq!(server.post(path, body).0, 400, "{path} {body}");
    }
    let mut stream = TcpStream::connect(&server.host).unwrap();
    stream.write_all(&[0xff; 200]).unwrap();
    drop(stream);
    let huge = format!(
        "POST {}edit HTTP/1.1\r\n{}\r\nContent-Length: 99999999999\r\n\r\n",
        server.base,
        server.own()
    );
    let mut stream = TcpStream::connect(&server.host).unwrap();
    stream.write_all(huge.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert_eq!(server.ask("GET", &format!("{}state", server.base), &[&server.own()], "").0, 200);
}

#[test]
fn other_sites_change_nothing_and_nothing_of_a_scene_becomes_script() {
    let server = Server::start();
    let own = server.own();
    let edit = "{\"edits\":[{\"set\":{\"path\":\"fps\",\"value\":24}}],\"label\":\"x\"}";
    let path = format!("{}edit", server.base);
    for foreign in ["Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"] {
        assert_eq!(server.ask("POST", &path, &[&own, foreign], edit).0, 403, "{foreign}");
    }
    let state = format!("{}state?seen=0", server.base);
    let (_, said) = server.ask("GET", &state, &[&own], "");
    assert!(!said.contains("fps = 24"), "{said}");
    // Names in a scene are text: the page's policy runs its own modules and nothing else.
    let bad = "frisson = 2\n[actors.\"<script>alert(1)</script>\"]\nsource = \"builtin:sphere\"\n";
    let body = serde_json::json!({ "text": bad }).to_string();
    assert_eq!(server.post("text", &body).0, 200);
    let mut stream = TcpStream::connect(&server.host).unwrap();
    write!(stream, "GET {} HTTP/1.1\r\n{own}\r\n\r\n", server.base).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    assert!(page.contains("script-src 'self';") && page.contains("default-src 'none'"), "{page}");
    assert!(page.contains("frame-ancestors 'none'") && !page.contains("alert(1)"), "{page}");
}

#[test]
fn sizes_have_limits_and_jobs_write_beside_the_scene_only() {
    let server = Server::start();
    for (path, length) in [("edit", 9 << 20), ("text", 9 << 20), ("drop?name=x.glb", 600 << 20)] {
        let head = format!(
            "POST {}{path} HTTP/1.1\r\n{}\r\nContent-Length: {length}\r\n\r\n",
            server.base,
            server.own()
        );
        let mut stream = TcpStream::connect(&server.host).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 413"), "{path}: {answer}");
    }
    assert_eq!(server.post("job", "{\"task\":{\"bake\":{\"mode\":\"new\"}}}").0, 200);
    wait_for_job(&server, 1, "done");
    let export = "{\"task\":{\"export\":{\"export\":{\"glb\":\"../out.glb\"},\"replace\":true}}}";
    assert_eq!(server.post("job", export).0, 200);
    wait_for_job(&server, 2, "failed");
    assert_eq!(names(server.folder.path()), ["shots"]);
}

/// Waits until a job has ended so.
fn wait_for_job(server: &Server, number: u64, wanted: &str) {
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        let path = format!("{}state?seen=0", server.base);
        let (_, said) = server.ask("GET", &path, &[&server.own()], "");
        let state: serde_json::Value = serde_json::from_str(&said).unwrap();
        let job = &state["job"];
        if job["number"] == number && job["state"] != "running" {
            assert_eq!(job["state"], wanted, "{job}");
            return;
        }
        assert!(std::time::Instant::now() < end, "{said}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Five thousand hairs on a ball that turns.
const HAIR: &str = "frisson = 2\nframes = [0, 9]\n[actors.ball]\nsource = \"builtin:sphere?radius=0.1\"\n\
    path = [[0,0,0,0,0,0,0],[9,0,0,0,0,60,0]]\n[[layers]]\n[layers.hair]\nname = \"hair\"\non = \"ball\"\n\
    wisps = 12\nlength = 0.1\nstrands = { per_wisp = 400, points = 16 }\n";

/// Points of hair in frame 2, once it follows a text.
fn points_of_hair(server: &Server, revision: u64) -> u64 {
    let path = format!("{}frames?from=2&count=1&wait=10000&revision={revision}", server.base);
    let (status, said) = server.ask("GET", &path, &[&server.own()], "");
    assert_eq!(status, 200);
    let curves = said.split("\"curves\":[{").nth(1).unwrap_or_default();
    let count = curves.split("\"count\":").nth(1).unwrap_or_default();
    count.split(',').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// While edits follow each other a part of the hair is seen, once they have ended all of it; the motion of frames that
/// were simulated before is not done again for it.
#[test]
fn a_dragged_slider_gets_less_and_whoever_lets_go_gets_all() {
    let server = Server::with(HAIR);
    let end = std::time::Instant::now() + PATIENCE;
    let wait_for = |points: u64| {
        while points_of_hair(&server, 1) != points {
            assert!(std::time::Instant::now() < end, "never {points} points");
        }
    };
    wait_for(12 * 400 * 16);
    let mut least = u64::MAX;
    for value in [1.0, 2.0, 3.0] {
        let edit = serde_json::json!({
            "edits": [{ "set": { "path": "layers[0].hair.goal_hz", "value": value } }],
            "label": "goal", "merge": "drag", "moment": { "frame": 2 },
        });
        let (status, said) = server.post("edit", &edit.to_string());
        assert_eq!(status, 200, "{said}");
        let answer: serde_json::Value = serde_json::from_str(&said).unwrap();
        least = least.min(points_of_hair(&server, answer["revision"].as_u64().unwrap()));
    }
    // Of three: on a busy machine one may be asked for when there was time for all of it.
    assert!((1..=14_000).contains(&least), "{least} points in haste");
    assert_eq!(server.post("rest", "{}").0, 200);
    wait_for(12 * 400 * 16);
}

#[test]
fn the_gallery_is_part_of_the_program() {
    let server = Server::start();
    let path = format!("{}choices", server.base);
    let (_, said) = server.ask("GET", &path, &[&server.own()], "");
    let choices: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert!(choices["gallery"].as_array().unwrap().len() > 40, "{said}");
    assert_eq!(server.post("open", "{\"name\":\"gallery:demo-cat\"}").0, 200);
    let first = format!("{}first?page=x", server.base);
    // It answers without a picture where building takes longer than a page should wait for anything.
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        let (status, bytes) = server.ask("GET", &first, &[&server.own()], "");
        assert_eq!(status, 200);
        if bytes.contains("\"topologies\"") && bytes.len() > 100_000 {
            return;
        }
        assert!(std::time::Instant::now() < end, "no picture: {} bytes", bytes.len());
    }
}
