//! Pictures: what independent readers and browsers make of the files. A test without its reader says SKIPPED.

mod threads;

pub(crate) use threads::by_thread;

use std::fs;
use std::io::sink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use gmon::{Arc, Histogram, Profile, Unit};
use gprof::internals::Symbol;
use gprof::{Analysis, Format, Options, Terminal};
use serde_json::Value;

use crate::common::{LOW, Table, image};
use crate::knots::{knots, options, with_analysis};

const PICTURES: [(Format, &str); 4] =
    [(Format::Html, "html"), (Format::Svg, "svg"), (Format::Flame, "flame.svg"), (Format::Dot, "dot")];

/// A name that tries to leave the element, the string, and the script that it is in.
const HOSTILE: &str = "</script><script>alert(1)</script><!--\"'&\\n]]>\u{202e}\x1b";

pub(crate) fn render(analysis: &Analysis<'_>, format: Format) -> String {
    let mut out = Vec::new();
    gprof::render(analysis, format, &Terminal::default(), &mut out, &mut sink()).unwrap();
    String::from_utf8(out).unwrap()
}

/// Writes all pictures of an analysis, and returns their paths.
fn write(analysis: &Analysis<'_>, name: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    fs::create_dir_all(&directory).unwrap();
    let write = |(format, ending): (Format, &str)| {
        let path = directory.join(format!("{name}.{ending}"));
        fs::write(&path, render(analysis, format)).unwrap();
        path
    };
    PICTURES.map(write).to_vec()
}

/// Writes the page of an analysis, and returns its path.
pub(crate) fn page_of(analysis: &Analysis<'_>, name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures").join(format!("{name}.html"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, render(analysis, Format::Html)).unwrap();
    path
}

/// Runs a program, which must succeed. Says SKIPPED if it is not on this system.
fn run(command: &mut Command) -> Option<Output> {
    let program = command.get_program().to_string_lossy().into_owned();
    let Ok(output) = command.output() else {
        eprintln!("SKIPPED: {program}: not on this system");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {said}{}", String::from_utf8_lossy(&output.stdout));
    Some(output)
}

/// Analyzes a program whose functions call each other in these pairs, each with a sample for each byte of its code.
pub(crate) fn with_program<T>(
    names: &[&'static str],
    calls: &[(usize, usize, u64)],
    check: impl Fn(&Analysis<'_>) -> T,
) -> T {
    const SIZE: u64 = 4;
    let address = |index: usize| LOW + SIZE * index as u64;
    let symbol = |(index, name): (usize, &&'static str)| Symbol {
        address: address(index),
        name: name.as_bytes(),
        is_static: false,
        is_func: true,
    };
    let end = address(names.len());
    let table = Table { symbols: names.iter().enumerate().map(symbol).collect(), end };
    let histogram = Histogram::new(LOW..end, Unit::seconds(100), vec![1_u16; names.len() * SIZE as usize]).unwrap();
    let arc = |(caller, called, count): &(usize, usize, u64)| Arc::new(address(*caller) + 1, address(*called), *count);
    let arcs = calls.iter().map(arc).collect::<Vec<_>>();
    let profile = Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs);
    let options = Options::new("image", ["profile"]).errors(true);
    let loaded = gprof::from_memory(&options, image(&table), profile).unwrap();
    check(&gprof::analyze(&loaded, &options, &mut sink()).unwrap())
}

/// The pictures of three programs: with stacks, without, and with hostile names. The first test writes the files,
/// because the clients of other tests read them.
fn all() -> &'static [PathBuf] {
    static FILES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = with_analysis(options().errors(true), Some(knots()), |analysis| write(analysis, "measured"));
        files.extend(with_analysis(options().errors(true), None, |analysis| write(analysis, "estimated")));
        let names = ["main", HOSTILE, "f", "f"];
        let calls = [(0, 1, 2), (1, 2, 3), (2, 1, 1), (0, 3, 7), (3, 3, 9)];
        files.extend(with_program(&names, &calls, |analysis| write(analysis, "hostile")));
        files
    })
}

#[test]
fn parsers_read_the_files() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures.py");
    if let Some(output) = run(Command::new("python3").arg(script).args(all())) {
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "12 files");
    }
}

#[test]
fn graphviz_draws_the_call_graph() {
    for path in all().iter().filter(|path| path.extension().is_some_and(|ending| ending == "dot")) {
        let Some(output) = run(Command::new("dot").arg("-Tsvg").arg(path)) else { return };
        let drawn = String::from_utf8(output.stdout).unwrap();
        assert!(drawn.matches("class=\"node\"").count() >= 4 && output.stderr.is_empty(), "{}", path.display());
    }
}

/// Hatchet reads what gprof2dot writes. `make check` installs no Hatchet; a person who changes the labels needs it.
#[test]
fn hatchet_reads_the_call_graph() {
    let python = std::env::var("HATCHET_PYTHON").unwrap_or("python3".to_owned());
    if !Command::new(&python).args(["-c", "import hatchet"]).output().is_ok_and(|output| output.status.success()) {
        return eprintln!("SKIPPED: {python} has no Hatchet (HATCHET_PYTHON names one that has)");
    }
    let code = "import sys, hatchet\n\
                frame = hatchet.GraphFrame.from_gprof_dot(sys.argv[1]).dataframe\n\
                row = frame[[name.endswith('burn\"') or name == 'burn' for name in frame['name']]].iloc[0]\n\
                print(row['time (inc)'], row['time'], row['module'])";
    let path = all().iter().find(|path| path.ends_with("measured.dot")).unwrap();
    let output = run(Command::new(python).args(["-c", code]).arg(path)).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "100.0 100.0 knots");
}

/// Returns the numbers of the page.
pub(crate) fn numbers(analysis: &Analysis<'_>) -> Value {
    let page = render(analysis, Format::Html);
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn the_page_has_the_times_of_functions_beyond_a_limit() {
    for stacks in [None, Some(knots())] {
        let page = |options: Options| with_analysis(options, stacks.clone(), numbers);
        let whole = page(options().errors(true));
        for limited in [options().errors(true).top(1), options().errors(true).min_percent(50.0)] {
            let limited = page(limited);
            for column in ["functions", "own", "ownError", "inclusive", "inclusiveError", "calls", "selfCalls"] {
                assert_eq!(limited[column], whole[column], "{column}");
            }
        }
    }
}

/// Clicks each box of the call graph in a page, and prints which functions the page opens.
const CLICKS: &str = r#"
const fs = require("fs"), page = fs.readFileSync(process.argv[1], "utf8"), opened = [];
const data = JSON.parse(page.split('id="data">')[1].split("</script>")[0]);
const ids = Array.from(page.matchAll(/data-function="(\d+)"/g), (found) => found[1]);
const boxes = ids.map((id) => ({ getAttribute: (name) => (name === "data-function" ? id : null), addEventListener(_, act) { this.click = act; } }));
const svg = { getAttribute: () => "1", querySelectorAll: () => boxes };
const section = { querySelector: (name) => (name === "svg" ? svg : { append() {} }) };
const GraphView = new Function("data", "element", "openFunction", fs.readFileSync(process.argv[2], "utf8") + "; return GraphView;")(
  data, () => ({ addEventListener() {} }), (at) => opened.push(data.id[at]));
new GraphView(section);
boxes.forEach((box) => box.click());
console.log(JSON.stringify(opened));
"#;

/// Names of functions may be equal, have locations, or have characters that the drawing escapes.
#[test]
fn each_box_opens_its_function() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/exports/html/graph.js");
    let check = |analysis: &Analysis<'_>, name: &str| {
        let page = write(analysis, name).into_iter().find(|path| path.extension().unwrap() == "html").unwrap();
        let Some(output) = run(Command::new("node").args(["-e", CLICKS]).arg(page).arg(&script)) else { return };
        let drawn: Vec<usize> = analysis.drawn_graph().functions.iter().map(|function| function.id.index()).collect();
        assert!(drawn.len() >= 4);
        assert_eq!(serde_json::from_slice::<Vec<usize>>(&output.stdout).unwrap(), drawn, "{name}");
    };
    with_program(&["main", HOSTILE, "f", "f"], &[(0, 1, 2), (1, 2, 3), (0, 3, 7)], |analysis| {
        check(analysis, "clicks");
    });
    with_analysis(options().file_names(true), Some(knots()), |analysis| check(analysis, "clicks-located"));
    with_analysis(options().top(5), None, |analysis| check(analysis, "clicks-limited"));
}

#[test]
fn a_limit_counts_functions_and_not_cycles() {
    for stacks in [None, Some(knots())] {
        let drawn = |options| with_analysis(options, stacks.clone(), |analysis| analysis.drawn_graph().functions.len());
        let all = drawn(options().min_percent(0.0));
        assert!(all > 6);
        for top in 0..=all + 1 {
            assert_eq!(drawn(options().top(top)), top.min(all));
        }
    }
}

/// The scripts of the page run under its policy, and show the numbers.
#[test]
fn a_browser_shows_the_page() {
    for path in all().iter().filter(|path| path.extension().is_some_and(|ending| ending == "html")) {
        // All views run when the page is opened; one page shows each.
        let all = ["flat", "flame", "sandwich", "treemap", "dominators", "graph", "accounts"];
        for view in &all[..if path.ends_with("measured.html") { all.len() } else { 1 }] {
            let mut command = Command::new("chromium");
            command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]);
            command.arg(format!("--user-data-dir={}", path.with_extension("chromium").display()));
            let Some(output) = run(command.arg(format!("file://{}#{view}", path.display()))) else { return };
            let (page, said) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr).into_owned());
            // Messages of the page's own scripts name the page.
            assert!(!said.contains("CONSOLE"), "{view}: {said}");
            assert!(page.contains("<body class=\"scripted\">"), "{view}: {page}");
            assert!(page.contains("aria-selected=\"true\"") && !page.contains("alert(1)<"), "{view}");
            let sections = page.split("<section ").skip(1).map(|part| part.split('>').next().unwrap());
            let shown: Vec<&str> = sections.filter(|section| !section.contains("hidden")).collect();
            assert_eq!(shown, [format!("id=\"{view}\"")], "{view}");
            assert!(*view != "flat" || page.contains("<td class=\"text\">main</td>"), "{page}");
        }
    }
}

/// Large programs have pictures of bounded size. Steps that take time in proportion to the square would not end.
#[test]
fn large_programs_have_small_pictures() {
    const FUNCTIONS: usize = 1 << 15;
    let names = vec!["f"; FUNCTIONS];
    let chain: Vec<(usize, usize, u64)> = (1..FUNCTIONS).map(|at| (at - 1, at, 1)).collect();
    let wide: Vec<(usize, usize, u64)> = (1..FUNCTIONS).map(|at| (at / 64, at, 1)).collect();
    let crossed: Vec<(usize, usize, u64)> =
        (1..FUNCTIONS).flat_map(|at| [(at / 2, at, 1), (at / 3, at, 2), (at, at / 7, 1)]).collect();
    for calls in [chain, wide, crossed] {
        with_program(&names, &calls, |analysis| {
            assert!(analysis.flame().frames.len() <= 40_001);
            for (format, most) in [(Format::Html, 12 << 20), (Format::Svg, 1 << 20), (Format::Flame, 12 << 20)] {
                let size = render(analysis, format).len();
                assert!(size < most, "{}: {size}", format.name());
            }
        });
    }
}
