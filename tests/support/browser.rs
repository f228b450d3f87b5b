//! A real headless Chromium, driven over the W3C WebDriver protocol. Blocking: a browser test waits for
//! the browser and for nothing else.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Keys that are no characters, for [`Browser::type_keys`] and [`Browser::press`].
pub const ENTER: &str = "\u{E007}";
/// Cancels.
pub const ESCAPE: &str = "\u{E00C}";
/// To the line or message above.
pub const UP: &str = "\u{E013}";
/// To the button beside.
pub const RIGHT: &str = "\u{E014}";
/// Held down until the end of what is typed.
pub const ALT: &str = "\u{E00A}";

const INSTALL: &str = "the page tests need a browser: install chromium and chromedriver \
                       (Debian and Ubuntu: apt-get install chromium chromium-driver)";
const FLAGS: [&str; 9] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // A desk with a mouse.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
];
/// How long a page may take for anything at all, before the test says what it waits for.
const TIMEOUT: Duration = Duration::from_secs(120);
/// So often may the page draw anew what is just clicked.
const REDRAWN: usize = 3;
/// What people come to and have to know by its name.
const NAMED: [&str; 12] = [
    "button",
    "link",
    "textbox",
    "searchbox",
    "combobox",
    "listbox",
    "option",
    "slider",
    "image",
    "dialog",
    "toolbar",
    "log",
];
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// What a browser answers; the error is in words.
pub type Answer<T> = Result<T, String>;

/// A running browser with one page. Ends when dropped, with all it started.
pub struct Browser {
    driver: Driver,
    session: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with a fresh profile.
    ///
    /// # Errors
    /// What is missing and how to install it.
    pub fn start() -> Answer<Self> {
        let driver = Driver::start()?;
        let profile = tempfile::tempdir().map_err(|e| format!("no folder for a profile: {e}"))?;
        let args = FLAGS.map(str::to_owned).into_iter();
        let args: Vec<_> =
            args.chain([format!("--user-data-dir={}", profile.path().display())]).collect();
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": args},
            "timeouts": {"script": 2 * TIMEOUT.as_millis()},
        }}});
        let made =
            driver.call("POST", "/session", &wanted).map_err(|e| format!("{e}\n{INSTALL}"))?;
        let session = made["sessionId"].as_str().ok_or("a session without an id")?.to_owned();
        Ok(Self { driver, session, _profile: profile })
    }

    /// Opens a page and waits until it is loaded.
    pub fn goto(&self, url: &str) -> Answer<()> {
        self.post("/url", &json!({ "url": url })).map(drop)
    }

    /// Returns the visible text of the first element that matches.
    pub fn text(&self, css: &str) -> Answer<String> {
        let text = self.get(&format!("/element/{}/text", self.find(css)?))?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Clicks the first element that matches, as a person would: it must be visible.
    pub fn click(&self, css: &str) -> Answer<()> {
        // What the page draws anew between the two is another element by then.
        for _ in 0..REDRAWN {
            match self.click_one(css) {
                Err(why) if why.contains("stale element reference") => {}
                clicked => return clicked,
            }
        }
        self.click_one(css)
    }

    fn click_one(&self, css: &str) -> Answer<()> {
        self.post(&format!("/element/{}/click", self.find(css)?), &json!({})).map(drop)
    }

    /// Types into the first element that matches.
    pub fn type_keys(&self, css: &str, keys: &str) -> Answer<()> {
        let path = format!("/element/{}/value", self.find(css)?);
        self.post(&path, &json!({ "text": keys })).map(drop)
    }

    /// Types into whatever has the focus.
    pub fn press(&self, keys: &str) -> Answer<()> {
        let focused = self.get("/element/active")?;
        let id = focused[ELEMENT].as_str().ok_or("nothing has the focus")?;
        self.post(&format!("/element/{id}/value"), &json!({ "text": keys })).map(drop)
    }

    /// Evaluates an expression in the page.
    pub fn eval(&self, js: &str) -> Answer<Value> {
        self.post("/execute/sync", &json!({ "script": format!("return ({js})"), "args": [] }))
    }

    /// Waits until the expression is true, looking again whenever the page has changed.
    ///
    /// # Errors
    /// What was waited for, and what the page says instead.
    pub fn wait_until(&self, js: &str) -> Answer<()> {
        let script = format!(
            "const [patience, done] = arguments;
             const holds = () => {{ try {{ return Boolean({js}); }} catch {{ return false; }} }};
             let timer;
             const watch = new MutationObserver(() => {{ if (holds()) end(true); }});
             const end = held => {{ clearTimeout(timer); watch.disconnect(); done(held); }};
             timer = setTimeout(() => end(holds()), patience);
             const all = {{ subtree: true, childList: true, attributes: true, characterData: true }};
             watch.observe(document, all);
             if (holds()) end(true);"
        );
        let args = json!([TIMEOUT.as_millis()]);
        let held = self.post("/execute/async", &json!({ "script": script, "args": args }))?;
        if held == true {
            return Ok(());
        }
        let page = self.text("body").unwrap_or_default();
        Err(format!("waited {TIMEOUT:?} for {js}; the page says:\n{page}"))
    }

    /// Makes the window so large, in CSS pixels; narrower than a desktop window can be.
    pub fn resize(&self, width: u32, height: u32) -> Answer<()> {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", &size)
    }

    /// Prefers `light` or `dark`.
    pub fn prefer(&self, scheme: &str) -> Answer<()> {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": features }))
    }

    /// Writes a picture of the window as PNG.
    pub fn screenshot(&self, file: &Path) -> Answer<()> {
        let picture = self.devtools_value("Page.captureScreenshot", &json!({"format": "png"}))?;
        let bytes = base64(picture["data"].as_str().unwrap_or_default());
        std::fs::write(file, bytes).map_err(|e| format!("cannot write {}: {e}", file.display()))
    }

    /// Returns the name of the first element that matches, as it is read aloud.
    pub fn label(&self, css: &str) -> Answer<String> {
        let label = self.get(&format!("/element/{}/computedlabel", self.find(css)?))?;
        Ok(label.as_str().unwrap_or_default().to_owned())
    }

    /// Returns the role of each control that is shown and has no name to be read aloud.
    pub fn nameless(&self) -> Answer<Vec<String>> {
        let tree = self.devtools_value("Accessibility.getFullAXTree", &json!({}))?;
        let nodes = tree["nodes"].as_array().ok_or("no tree of names")?;
        let role = |node: &Value| node["role"]["value"].as_str().unwrap_or_default().to_owned();
        let has_name =
            |node: &Value| node["name"]["value"].as_str().is_some_and(|n| !n.trim().is_empty());
        let shown = nodes.iter().filter(|node| node["ignored"] != true && !has_name(node));
        Ok(shown.map(role).filter(|role| NAMED.contains(&role.as_str())).collect())
    }

    /// Returns what the page has complained about since the last call.
    pub fn complaints(&self) -> Answer<Vec<String>> {
        let log = self.post("/se/log", &json!({ "type": "browser" }))?;
        let severe = log.as_array().into_iter().flatten().filter(|l| l["level"] == "SEVERE");
        Ok(severe.map(|l| l["message"].as_str().unwrap_or_default().to_owned()).collect())
    }

    fn find(&self, css: &str) -> Answer<String> {
        let query = json!({ "using": "css selector", "value": css });
        let found = self.post("/element", &query)?;
        found[ELEMENT].as_str().map(str::to_owned).ok_or_else(|| format!("no element {css}"))
    }

    fn devtools(&self, command: &str, params: &Value) -> Answer<()> {
        self.devtools_value(command, params).map(drop)
    }

    fn devtools_value(&self, command: &str, params: &Value) -> Answer<Value> {
        self.post("/goog/cdp/execute", &json!({ "cmd": command, "params": params }))
    }

    fn get(&self, path: &str) -> Answer<Value> {
        self.driver.call("GET", &format!("/session/{}{path}", self.session), &Value::Null)
    }

    fn post(&self, path: &str, body: &Value) -> Answer<Value> {
        self.driver.call("POST", &format!("/session/{}{path}", self.session), body)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver alone would leave the browser behind. A browser that is gone already is no fault.
        drop(self.driver.call("DELETE", &format!("/session/{}", self.session), &Value::Null));
    }
}

/// `chromedriver` on a port of its own.
struct Driver {
    process: Child,
    port: u16,
}

impl Driver {
    /// A driver that takes a port somebody else took a moment ago ends: another one is started.
    fn start() -> Answer<Self> {
        Self::one().or_else(|_| Self::one()).or_else(|_| Self::one())
    }

    fn one() -> Answer<Self> {
        let mut process = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| match e.kind() {
                ErrorKind::NotFound => INSTALL.to_owned(),
                _ => format!("chromedriver does not start: {e}"),
            })?;
        let said = process.stdout.take();
        let mut driver = Self { process, port: 0 };
        let lines = said.map(BufReader::new).into_iter().flat_map(BufRead::lines);
        let port = lines.map_while(Result::ok).find_map(|line| port_of(&line));
        driver.port = port.ok_or("chromedriver ended without naming its port")?;
        Ok(driver)
    }

    /// Calls the driver and returns `value`.
    fn call(&self, method: &str, path: &str, body: &Value) -> Answer<Value> {
        let (status, answer) =
            self.http(method, path, body).map_err(|e| format!("chromedriver is gone: {e}"))?;
        let value = answer.get("value").cloned().unwrap_or_default();
        if status == 200 {
            return Ok(value);
        }
        let message = value["message"].as_str().unwrap_or("no message");
        Err(format!("{method} {path}: {}", message.lines().next().unwrap_or_default()))
    }

    fn http(&self, method: &str, path: &str, body: &Value) -> std::io::Result<(u16, Value)> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(3 * TIMEOUT))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        )?;
        let mut reader = BufReader::new(stream);
        let (mut line, mut status, mut length) = (String::new(), 0, 0);
        while reader.read_line(&mut line)? > 2 {
            match line.trim().split_once([':', ' ']) {
                Some((name, rest)) if name.starts_with("HTTP/") => {
                    status = rest.get(..3).and_then(|s| s.parse().ok()).unwrap_or(0);
                }
                Some((name, rest)) if name.eq_ignore_ascii_case("content-length") => {
                    length = rest.trim().parse().unwrap_or(0);
                }
                _ => {}
            }
            line.clear();
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes)?;
        Ok((status, serde_json::from_slice(&bytes)?))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn port_of(line: &str) -> Option<u16> {
    line.split_once("successfully on port ")?.1.trim().trim_end_matches('.').parse().ok()
}

/// Reads base64 as browsers write it.
fn base64(text: &str) -> Vec<u8> {
    let value = |b: u8| match b {
        b'A'..=b'Z' => Some(u32::from(b - b'A')),
        b'a'..=b'z' => Some(u32::from(b - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(b - b'0') + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let sextets: Vec<u32> = text.bytes().filter_map(value).collect();
    let bytes = sextets.chunks(4).flat_map(|c| {
        let bits = c.iter().enumerate().fold(0, |all, (i, s)| all | s << (18 - 6 * i));
        bits.to_be_bytes().into_iter().skip(1).take(c.len() * 6 / 8)
    });
    bytes.collect()
}
