//! A browser that tests drive over its debugging socket: real input, real pictures, no other program.

mod socket;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::socket::Socket;

/// Longest time that anything is waited for: a busy machine draws a few pictures a second.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// The browser of this machine.
pub fn find_browser() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("FRISSON_BROWSER") {
        return Some(given.into()).filter(|p: &PathBuf| p.exists());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let all = std::env::split_paths(&path).flat_map(|f| names.map(|n| f.join(n)));
    all.into_iter().find(|p| p.exists())
}

/// A page in a browser.
pub struct Browser {
    process: Child,
    socket: Socket,
    session: String,
    next: u64,
    /// Errors that the page's scripts made.
    pub errors: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const FLAGS: [&str; 13] = [
    "--headless",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1280,720",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
    "about:blank",
];

impl Browser {
    /// Starts the browser and opens a page.
    pub fn open(program: &Path, url: &str) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut process = Command::new(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|l| l.split_once("listening on ").map(|(_, a)| a.to_owned()))
            .expect("the browser says where it listens");
        // Its remarks must be read, or it stops when the pipe is full.
        std::thread::spawn(move || lines.for_each(drop));
        let socket = Socket::connect(&address);
        let mut browser = Self {
            process,
            socket,
            session: String::new(),
            next: 1,
            errors: Vec::new(),
            _profile: profile,
        };
        // The page that is there: one opened beside it would lie in the background, and draw nothing.
        let targets = browser.call("Target.getTargets", json!({}));
        let all = targets["targetInfos"].as_array().cloned().unwrap_or_default();
        let page = all.iter().find(|t| t["type"] == "page").expect("the browser has a page");
        let attached = browser.call(
            "Target.attachToTarget",
            json!({ "targetId": page["targetId"], "flatten": true }),
        );
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        browser.call("Runtime.enable", json!({}));
        browser.call("Page.enable", json!({}));
        let size = json!({ "width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": false });
        browser.call("Emulation.setDeviceMetricsOverride", size);
        browser.go(url);
        browser
    }

    /// Goes to another page.
    pub fn go(&mut self, url: &str) {
        let gone = self.call("Page.navigate", json!({ "url": url }));
        assert!(gone["errorText"].is_null(), "{url}: {gone}");
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.socket.send(&message.to_string());
        loop {
            let answer: Value = serde_json::from_slice(&self.socket.read()).unwrap();
            if answer["method"] == "Runtime.exceptionThrown" {
                let details = &answer["params"]["exceptionDetails"];
                self.errors.push(details["exception"]["description"].to_string());
            }
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    /// The value of an expression on the page.
    pub fn get(&mut self, expression: &str) -> Value {
        let question =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", question);
        let thrown = &answer["exceptionDetails"];
        assert!(thrown.is_null(), "{expression}: {}", thrown["exception"]["description"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true on the page; it may fail until then.
    pub fn wait(&mut self, expression: &str) {
        let end = Instant::now() + PATIENCE;
        let guarded =
            format!("(() => {{ try {{ return !!({expression}) }} catch {{ return false }} }})()");
        while self.get(&guarded) != true {
            if Instant::now() > end {
                let status = self.get("location.href + document.body.innerText.slice(0, 2000)");
                panic!("never true: {expression}\npage errors: {:?}\n{status}", self.errors);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The middle of an element.
    pub fn middle(&mut self, selector: &str) -> (f64, f64) {
        let text = serde_json::to_string(selector).unwrap();
        self.wait(&format!("document.querySelector({text})"));
        let expression = format!(
            "(() => {{ const e = document.querySelector({text}); e.scrollIntoView({{ block: 'center' }}); \
             const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2, b.width] }})()"
        );
        let found = self.get(&expression);
        (found[0].as_f64().unwrap(), found[1].as_f64().unwrap())
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), buttons: u32) {
        let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Presses, moves along points, releases.
    pub fn drag(&mut self, points: &[(f64, f64)]) {
        self.mouse("mouseMoved", points[0], 0);
        self.mouse("mousePressed", points[0], 1);
        for point in &points[1..] {
            self.mouse("mouseMoved", *point, 1);
            std::thread::sleep(Duration::from_millis(30));
        }
        self.mouse("mouseReleased", points[points.len() - 1], 0);
    }

    /// Clicks an element.
    pub fn click(&mut self, selector: &str) {
        let at = self.middle(selector);
        self.drag(&[at]);
    }

    /// Presses a key; `control` with Ctrl.
    pub fn key(&mut self, key: &str, control: bool) {
        let modifiers = if control { 2 } else { 0 };
        for kind in ["rawKeyDown", "keyUp"] {
            self.call(
                "Input.dispatchKeyEvent",
                json!({ "type": kind, "key": key, "modifiers": modifiers }),
            );
        }
    }

    /// Presses, moves along points and releases the right button.
    pub fn drag_right(&mut self, points: &[(f64, f64)]) {
        let send = |browser: &mut Self, kind: &str, (x, y): (f64, f64), buttons: u32| {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "right", "buttons": buttons, "clickCount": 1 });
            browser.call("Input.dispatchMouseEvent", event);
        };
        send(self, "mousePressed", points[0], 2);
        points[1..].iter().for_each(|point| send(self, "mouseMoved", *point, 2));
        send(self, "mouseReleased", points[points.len() - 1], 0);
    }

    /// Turns the wheel at a place.
    pub fn wheel(&mut self, (x, y): (f64, f64), by: f64) {
        let event = json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": by });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Types into what has the keyboard.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Chooses from a list.
    pub fn choose(&mut self, selector: &str, value: &str) {
        self.middle(selector);
        self.get(&format!(
            "(() => {{ const s = document.querySelector({}); s.value = {}; s.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()",
            json!(selector), json!(value)
        ));
    }

    /// A window of another size; dark, where somebody prefers that.
    pub fn look_in(&mut self, (width, height): (u32, u32), is_dark: bool) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let value = if is_dark { "dark" } else { "light" };
        let scheme = json!({ "name": "prefers-color-scheme", "value": value });
        self.call("Emulation.setEmulatedMedia", json!({ "features": [scheme] }));
    }

    /// Lets the page forget what it needs no more, so that what is left can be measured.
    pub fn collect_garbage(&mut self) {
        self.call("HeapProfiler.collectGarbage", json!({}));
    }

    /// Keeps a picture of the page where somebody wants to look at it.
    pub fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("FRISSON_STUDIO_PICTURES") else { return };
        std::fs::create_dir_all(&folder).unwrap();
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = decode(shot["data"].as_str().unwrap());
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), bytes).unwrap();
    }
}

/// Base64.
fn decode(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        bits = bits << 6 | u32::from(value(c));
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}
