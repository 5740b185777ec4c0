//! Viewers open our exports: speedscope in a browser, inferno, and KCachegrind without a screen.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use gmon_tests::directory;

use super::profiled::Profiled;
use crate::clients::{self, Client, client, python, script};

/// The browser shows a page for 30 seconds of a clock that stands still while the page loads something. On a busy
/// machine, the clock could end before speedscope's table has rows, so the page loads a pipe, until the table has rows.
const UNTIL_SHOWN: &str = "
    new Image().src = 'file://PIPE';
    const look = () => document.querySelector('tr') && console.log('the table has rows');
    new MutationObserver(look).observe(document, {childList: true, subtree: true});
";

/// The page of speedscope after loading a file, and what its scripts said. `None` if this system lacks a part.
fn speedscope(file: &str) -> Option<(String, String)> {
    let page = clients::installed("npm/node_modules/speedscope/dist/release/index.html")?;
    let (chromium, python) = (Client::chromium().found()?, python(&["base64"])?);
    let loader = format!("{file}.js");
    // The page loads a script, as speedscope's own command makes it.
    let mut script = client(&python, &[&script("speedscope_loader.py"), file]);
    let pipe = format!("{file}.pipe");
    let _ = fs::remove_file(&pipe);
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    script.push_str(&UNTIL_SHOWN.replace("PIPE", &pipe));
    fs::write(&loader, script).unwrap();
    // A browser that shows no table ends after ten minutes.
    let mut browser = Command::new("timeout");
    browser.arg("600").arg(chromium);
    browser.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]);
    browser.args(["--allow-file-access-from-files", "--window-size=1280,2000", "--virtual-time-budget=30000"]);
    browser.arg(format!("--user-data-dir={file}.chromium"));
    browser.arg(format!("file://{}#view=sandwich&localProfilePath={loader}", page.canonicalize().unwrap().display()));
    let mut child = browser.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let said = std::thread::spawn(move || {
        let mut said = String::new();
        for line in stderr.split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            if line.contains("the table has rows") && !said.contains("the table has rows") {
                // When the browser has opened the pipe, its end is there, and the page has loaded everything.
                let pipe = pipe.clone();
                std::thread::spawn(move || fs::OpenOptions::new().write(true).open(&pipe).map(drop));
            }
            said.push_str(&line);
            said.push('\n');
        }
        said
    });
    let output = child.wait_with_output().unwrap();
    let (shown, said) = (String::from_utf8_lossy(&output.stdout).into_owned(), said.join().unwrap());
    assert!(output.status.success(), "{said}");
    Some((shown, said))
}

/// The inclusive and the self percentage of each function in speedscope's table.
fn table(page: &str) -> BTreeMap<String, (f64, f64)> {
    let row = |row: &str| {
        let row = row.split("</tr>").next()?;
        // The bars below the rounded numbers are as wide as the percentages.
        let mut widths = row.split("style=\"width: ").skip(1).map(|part| part.split('%').next()?.parse().ok());
        let (inclusive, own) = (widths.next()??, widths.next()??);
        let name = row.rsplit_once("</td>")?.0.rsplit_once("</span>")?.1;
        Some((name.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"), (inclusive, own)))
    };
    page.split("<tr ").skip(1).filter_map(row).collect()
}

#[test]
fn speedscope_shows_functions_and_times() {
    let program = Profiled::new("exports_speedscope_page");
    for (name, importer) in [("a.speedscope.json", "speedscope json file"), ("a.folded", "collapsed stack format")] {
        let Some((page, said)) = speedscope(&program.write(name, &[])) else { return };
        assert!(said.contains(&format!("Importing as {importer}")), "{name}: {said}");
        let functions = table(&page);
        assert!(functions.contains_key("main"), "{name}: {page}");
        let samples = |percent: f64| percent / 100.0 * program.samples;
        // A bin may be partly in the profiling runtime.
        let most = 1.0 + program.percent();
        program.check_inclusive(|name| functions.get(name).map(|(inclusive, _)| samples(*inclusive)), most);
        program.check_own(|name| functions.get(name).map(|(_, own)| samples(*own)), most);
    }
}

/// The frames of a flame graph, each with its name and its samples, sorted: one for each start of a stack.
fn frames(folded: &str) -> Vec<(String, u64)> {
    let mut frames: BTreeMap<&str, u64> = BTreeMap::new();
    for line in folded.lines() {
        let (stack, samples) = line.rsplit_once(' ').unwrap();
        let ends = stack.match_indices(';').map(|(at, _)| at).chain([stack.len()]);
        ends.for_each(|end| *frames.entry(&stack[..end]).or_default() += samples.parse::<u64>().unwrap());
    }
    let name = |stack: &str| stack.rsplit(';').next().unwrap().to_owned();
    let mut frames: Vec<_> = frames.into_iter().map(|(stack, samples)| (name(stack), samples)).collect();
    frames.sort();
    frames
}

#[test]
fn inferno_draws_all_stacks() {
    let Some(inferno) = clients::installed("inferno/bin/inferno-flamegraph") else { return };
    let program = Profiled::new("exports_inferno");
    let path = program.write("a.folded", &[]);
    let folded = fs::read_to_string(&path).unwrap();
    let drawing = client(&inferno, &["--minwidth=0", &path]);
    let title = |title: &str| {
        let (name, samples) = title.split("</title>").next()?.rsplit_once(" (")?;
        let samples = samples.split(" samples").next()?.replace(',', "").parse().ok()?;
        Some((name.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"), samples))
    };
    let mut drawn: Vec<(String, u64)> = drawing.split("<title>").filter_map(title).collect();
    drawn.sort();
    let mut expected = frames(&folded);
    let all = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
    expected.push(("all".to_owned(), all));
    expected.sort();
    assert_eq!(drawn, expected);
}

/// Whether KCachegrind, without a screen, loads a file and chooses its function `main`.
fn kcachegrind_loads(file: &Path, home: &Path) -> Option<bool> {
    let bus = Client::message_bus().found()?;
    let finds = Command::new("sh").args(["-c", "command -v kcachegrind"]).output().unwrap();
    if !finds.status.success() {
        eprintln!("SKIPPED: exports: no kcachegrind on this system (tests/check/packages.sh installs it)");
        return None;
    }
    // The program runs until a person ends it: here, the shell does when its input ends, or after ten minutes.
    let run = "timeout 600 kcachegrind \"$0\" 2>&1 & read -r end; kill $!; wait";
    let mut command = Command::new(bus);
    command.args(["--", "sh", "-c", run]).arg(file).env("QT_QPA_PLATFORM", "offscreen");
    command.env("HOME", home).env("XDG_RUNTIME_DIR", home).env_remove("DISPLAY");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_loaded = lines.any(|line| line.starts_with("Selected ") && line.contains("\"main\""));
    let _ = child.stdin.take().unwrap().write_all(b"\n");
    child.wait().unwrap();
    Some(is_loaded)
}

#[test]
fn kcachegrind_loads_costs() {
    let program = Profiled::new("exports_kcachegrind");
    let home = directory("exports_kcachegrind_home");
    let path = program.write("callgrind.out.1", &[]);
    let Some(is_loaded) = kcachegrind_loads(Path::new(&path), &home) else { return };
    assert!(is_loaded, "{path}");
}
