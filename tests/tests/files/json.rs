//! Reports as JSON: reviewed golden files, and the same numbers as in the text reports.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gmon_tests::{assert_same, directory, gprof, read};
use serde_json::Value;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
}

fn print<S: AsRef<OsStr>>(directory: &Path, words: &[S]) -> Vec<u8> {
    let output = read(gprof(), directory, words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn json<S: AsRef<OsStr>>(directory: &Path, words: &[S]) -> Value {
    let format = [OsStr::new("--format=json")];
    let words: Vec<&OsStr> = format.into_iter().chain(words.iter().map(AsRef::as_ref)).collect();
    serde_json::from_slice(&print(directory, &words)).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// Texts in `testdata/json` and their command lines. `GOLDENS=write` rewrites the texts for a review.
const GOLDENS: [(&str, &str); 5] = [
    ("basic.json", "bsd/basic bsd/basic.gmon"),
    ("knots.errors.json", "--errors -z bsd/knots bsd/knots.gmon bsd/knots.2.gmon"),
    ("knots.bounds.json", "--bounds bsd/knots bsd/knots.gmon"),
    ("inlined.inlines.json", "-p --inlines --top 4 gnu/inlined gnu/inlined.gmon"),
    ("images.json", "-q --image bsd/knots bsd/knots.gmon --image gnu/classes gnu/classes.gmon"),
];

#[test]
fn the_output_equals_the_reviewed_goldens() {
    for (name, line) in GOLDENS {
        let words: Vec<&str> = ["--format=json"].into_iter().chain(line.split(' ')).collect();
        let text = print(&data(), &words);
        let path = data().join("json").join(name);
        if std::env::var_os("GOLDENS").is_some_and(|value| value == "write") {
            fs::write(&path, &text).unwrap();
        }
        assert_same(&fs::read(&path).unwrap(), &text, &format!("{name}: gprof {line}"));
        let root: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(root["version"], 1);
    }
}

/// Programs and profiles, and options that both formats have.
const RUNS: [&str; 12] = [
    "bsd/basic bsd/basic.gmon",
    "-z bsd/basic bsd/basic.gmon",
    "bsd/knots bsd/knots.gmon",
    "-z bsd/knots bsd/knots.gmon bsd/knots.2.gmon",
    "--errors bsd/knots bsd/knots.gmon",
    "--top 4 bsd/knots bsd/knots.gmon",
    "-c -z bsd/knots bsd/knots.gmon",
    "gnu/cycles gnu/cycles.gmon",
    "gnu/classes gnu/classes.gmon",
    "--no-demangle --min-percent 2 gnu/classes gnu/classes.gmon",
    "--inlines gnu/inlined gnu/inlined.gmon",
    "--image bsd/knots bsd/knots.gmon --image gnu/classes gnu/classes.gmon",
];

/// Function names by number.
fn names(root: &Value) -> HashMap<u64, &str> {
    list(&root["functions"]).iter().map(|one| (one["id"].as_u64().unwrap(), one["name"].as_str().unwrap())).collect()
}

fn decimals(value: &Value, precision: usize) -> String {
    format!("{:.precision$}", value.as_f64().unwrap())
}

/// A row of the flat profile as the words of the text report.
fn flat_row(row: &Value, names: &HashMap<u64, &str>, has_errors: bool) -> String {
    let mut words: Vec<String> = ["percent", "cumulative", "self"].iter().map(|key| decimals(&row[*key], 2)).collect();
    if has_errors && !row["error"].is_null() {
        words.push(format!("±{}", decimals(&row["error"], 2)));
    }
    if row["calls"] != 0 {
        words.push(row["calls"].to_string());
        words.extend(["self_per_call", "total_per_call"].iter().map(|key| decimals(&row[*key], 2)));
    }
    let name = names[&row["function"].as_u64().unwrap()];
    words.push(row["inlined"].as_str().map_or(name.to_owned(), |inlined| format!("{inlined} [inlined in {name}]")));
    words.join(" ")
}

/// A line of an entry as the first words of the text report, up to the name.
fn line(line: &Value, names: &HashMap<u64, &str>) -> String {
    let mut words = Vec::new();
    if !line["self"].is_null() {
        words.extend([decimals(&line["self"], 2), decimals(&line["children"], 2)]);
    }
    if let Some(calls) = line["calls"].as_u64() {
        words.push(match (line["calls_of"].as_u64(), line["self_calls"].as_u64().filter(|calls| *calls != 0)) {
            (Some(all), _) => format!("{calls}/{all}"),
            (_, Some(own)) => format!("{calls}+{own}"),
            _ => calls.to_string(),
        });
    }
    words.push(match (line["function"].as_u64(), line["cycle"].as_u64(), line["calls"].is_null()) {
        (Some(function), ..) => names[&function].to_owned(),
        (_, Some(cycle), _) => format!("<cycle {cycle} as a whole>"),
        (.., true) => "<spontaneous>".to_owned(),
        (.., false) => "<outside> (0)".to_owned(),
    });
    words.join(" ")
}

fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn numbers_are_those_of_the_text_reports() {
    for options in RUNS {
        let given: Vec<&str> = options.split(' ').collect();
        let root = json(&data(), &given);
        let names = names(&root);
        let text = |option| String::from_utf8(print(&data(), &[&["-b", option], given.as_slice()].concat())).unwrap();
        let flat = text("-p");
        let rows = flat.lines().skip_while(|line| !line.contains("time   seconds")).skip(1).map(words);
        let has_errors = options.contains("--errors");
        let expected = list(&root["flat_profile"]).iter().map(|row| flat_row(row, &names, has_errors));
        assert_eq!(rows.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{options}");

        let graph = text("-q");
        let body = graph.split("index % time").nth(1).unwrap().split_once('\n').unwrap().1;
        let (body, _) = body.split_once('\x0c').unwrap();
        let entries: Vec<&str> = body.split("-----------------------------------------------\n").collect();
        let expected = list(&root["call_graph"]);
        assert_eq!(entries.len(), expected.len() + 1, "{options}");
        for (text, entry) in entries.iter().zip(expected) {
            let number = format!("[{}] {} ", entry["number"], decimals(&entry["percent"], 1));
            let main = [number + &line(entry, &names)];
            let of = |key: &str| list(&entry[key]).iter().map(|one| line(one, &names)).collect::<Vec<_>>();
            let lines: Vec<String> = of("above").into_iter().chain(main).chain(of("below")).collect();
            let shown: Vec<String> = text.lines().filter(|line| !line.contains("standard error")).map(words).collect();
            assert_eq!(shown.len(), lines.len(), "{options}: {text}");
            for (shown, line) in shown.iter().zip(&lines) {
                assert!(shown.starts_with(line), "{options}: '{line}' is not in '{shown}'");
            }
        }
    }
}

#[test]
fn names_may_be_anything() {
    let place = directory("json_names").join(OsStr::from_bytes(b"q\"u\\o\n\xff"));
    fs::create_dir_all(&place).unwrap();
    for file in ["basic", "basic.gmon"] {
        fs::copy(data().join("bsd").join(file), place.join(file)).unwrap();
    }
    // Every function with a name that needs escapes.
    let strange: [&[u8]; 5] =
        [b"qu\"ote", b"back\\slash", b"\x01\x1b[31mcontrol\x7f", b"not\xffutf\xc3", "é日\u{9b}".as_bytes()];
    let symbols = read("nm", &place, &["--defined-only", "basic"]).stdout;
    let mut table = Vec::new();
    for (at, line) in symbols.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).enumerate() {
        let start = line.iter().rposition(|byte| *byte == b' ').unwrap() + 1;
        table.extend([&line[..start], strange[at % strange.len()], format!("{at}\n").as_bytes()].concat());
    }
    fs::write(place.join("symbols"), table).unwrap();
    let image = place.join("basic");
    let words: [OsString; 6] =
        ["-z".into(), "-S".into(), "symbols".into(), "--no-demangle".into(), image.clone().into(), "basic.gmon".into()];
    let root = json(&place, &words);
    assert_eq!(root["images"][0]["path"], String::from_utf8_lossy(image.as_os_str().as_bytes()).as_ref());
    let names: Vec<&str> = list(&root["functions"]).iter().map(|one| one["name"].as_str().unwrap()).collect();
    for name in strange {
        let name = String::from_utf8_lossy(name);
        assert!(names.iter().any(|found| found.starts_with(name.as_ref())), "{name:?} is not one of {names:?}");
    }
    // The bytes contain nothing that a terminal would obey.
    let text = String::from_utf8(print(&place, &[&["--format=json".into()], words.as_slice()].concat())).unwrap();
    assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()));
}

#[test]
fn options_with_text_output_only_are_refused_with_json() {
    for options in ["-T", "--compat=gnu", "--table", "-C", "-A", "-i", "-r", "--source-times"] {
        let words = ["--format=json", options, "bsd/basic", "bsd/basic.gmon"];
        let output = read(gprof(), &data(), &words);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{options}");
        assert!(said.contains("'--format=json'") && said.contains("cannot be used together"), "{options}: {said}");
        assert!(output.stdout.is_empty(), "{options}");
    }
}
