//! Chromium, driven as a person drives a browser: clicks, keys, links, reloads, and prints. The tests speak the
//! browser's own protocol (`--remote-debugging-pipe`): messages of JSON, each with a zero byte at its end.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A browser with one page.
pub(crate) struct Browser {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Value,
    last: u64,
    /// The events that the page has sent and no step has waited for.
    events: Vec<Value>,
}

impl Browser {
    /// Starts a browser with an empty page of 1280 x 800 points, whose own files are in `directory`. Says SKIPPED if
    /// this system has none.
    pub(crate) fn start(directory: &Path) -> Option<Browser> {
        if Command::new("chromium").arg("--version").output().is_err() {
            eprintln!("SKIPPED: chromium: not on this system");
            return None;
        }
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "chromium"]);
        command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]);
        command.args(["--window-size=1280,800", "--no-first-run", "--disable-background-networking"]);
        command.arg(format!("--user-data-dir={}", directory.display()));
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut browser = Browser { process, input, output, session: Value::Null, last: 0, events: Vec::new() };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.ask("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Reads a message. Nothing in the page may fail, and the page's policy may forbid nothing that the page does.
    fn read(&mut self) -> Value {
        let mut message = Vec::new();
        self.output.read_until(0, &mut message).unwrap();
        assert_eq!(message.pop(), Some(0), "the browser has ended");
        let message: Value = serde_json::from_slice(&message).unwrap();
        let is_fault = matches!(message["method"].as_str(), Some("Runtime.exceptionThrown" | "Log.entryAdded"));
        assert!(!is_fault && message["error"].is_null(), "{message}");
        message
    }

    /// Sends a command, and returns its result.
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let message = self.read();
            if message["id"] == self.last {
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// Waits for an event that comes after the last one that a step has waited for.
    fn wait(&mut self, method: &str) {
        loop {
            if let Some(at) = self.events.iter().position(|event| event["method"] == method) {
                self.events.drain(..=at);
                return;
            }
            let event = self.read();
            self.events.push(event);
        }
    }

    /// Opens a page from the start, with this fragment.
    pub(crate) fn open(&mut self, path: &Path, fragment: &str) {
        self.ask("Page.navigate", json!({"url": "about:blank"}));
        self.wait("Page.loadEventFired");
        self.ask("Page.navigate", json!({"url": format!("file://{}{fragment}", path.display())}));
        self.wait("Page.loadEventFired");
    }

    pub(crate) fn reload(&mut self) {
        self.ask("Page.reload", json!({}));
        self.wait("Page.loadEventFired");
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true});
        let result = self.ask("Runtime.evaluate", asked);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    pub(crate) fn text(&mut self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_else(|| panic!("no text: {expression}")).to_owned()
    }

    /// The fragment of the address.
    pub(crate) fn fragment(&mut self) -> String {
        self.text("location.hash")
    }

    /// Goes back or forward, and waits until the page shows where this leads.
    pub(crate) fn go(&mut self, steps: i32) {
        self.value(&format!(
            "new Promise((done) => {{ addEventListener('hashchange', () => setTimeout(done), {{ once: true }}); \
             history.go({steps}); }})"
        ));
    }

    /// Clicks the middle of an element, or a place in the element if its distance from the upper left corner is given.
    pub(crate) fn click(&mut self, selector: &str, place: Option<(f64, f64)>) {
        let rectangle = self.value(&format!(
            "(() => {{ const found = document.querySelector({}); found.scrollIntoView({{ block: 'nearest' }}); \
             const {{ left, top, width, height }} = found.getBoundingClientRect(); return [left, top, width, height]; }})()",
            json!(selector)
        ));
        let [left, top, width, height] = [0, 1, 2, 3].map(|at| rectangle[at].as_f64().unwrap());
        assert!(width > 0.0 && height > 0.0, "{selector} is not shown");
        let (x, y) = place.unwrap_or((width / 2.0, height / 2.0));
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({"type": kind, "x": left + x, "y": top + y, "button": button, "clickCount": 1});
            self.ask("Input.dispatchMouseEvent", event);
        }
    }

    /// Types a text into a field, letter by letter, instead of what the field has.
    pub(crate) fn type_into(&mut self, selector: &str, text: &str) {
        self.value(&format!(
            "(() => {{ const field = document.querySelector({}); field.focus(); field.select(); }})()",
            json!(selector)
        ));
        if text.is_empty() {
            self.key("Delete");
        }
        for letter in text.chars() {
            self.ask("Input.insertText", json!({"text": letter.to_string()}));
        }
    }

    /// Presses a key that writes no letter.
    pub(crate) fn key(&mut self, key: &str) {
        let code = match key {
            "Delete" => 46,
            "Escape" => 27,
            "Enter" => 13,
            _ => 0,
        };
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.ask("Input.dispatchKeyEvent", event);
        }
    }

    /// Chooses a value of a list.
    pub(crate) fn choose(&mut self, selector: &str, value: &str) {
        self.value(&format!(
            "(() => {{ const list = document.querySelector({}); list.value = {}; \
             list.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()",
            json!(selector),
            json!(value)
        ));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
