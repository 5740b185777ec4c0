//! The programs that read exports, as `tests/check/tools.sh` installs them, and what they print.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A file that `tests/check/tools.sh` installs. Prints SKIPPED if it is not here.
pub(crate) fn installed(path: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().unwrap();
    let found = test.ancestors().map(|directory| directory.join("exports").join(path)).find(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: exports: no {path} (tests/check/tools.sh installs it)");
    }
    found
}

/// The path of a script in `tests/clients`.
pub(crate) fn script(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(name).to_str().unwrap().to_owned()
}

/// A Python with these modules. Prints SKIPPED if there is none.
pub(crate) fn python(modules: &[&str]) -> Option<PathBuf> {
    let python = installed("python/bin/python")?;
    let import = format!("import {}", modules.join(", "));
    let has_modules = Command::new(&python).args(["-c", &import]).output().is_ok_and(|output| output.status.success());
    if !has_modules {
        eprintln!("SKIPPED: exports: Python without {} (tests/check/tools.sh installs them)", modules.join(", "));
    }
    has_modules.then_some(python)
}

/// The output of a client that must accept its input, and complain about nothing.
pub(crate) fn client(program: &Path, words: &[impl AsRef<OsStr>]) -> String {
    despite(program, words, "\0")
}

/// The output of a client that may complain with one text.
pub(crate) fn despite(program: &Path, words: &[impl AsRef<OsStr>], permitted: &str) -> String {
    let output = Command::new(program).args(words).env("PYTHONIOENCODING", "utf-8").output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", program.display());
    let is_warning = |line: &str| line.to_lowercase().contains("warning") || line.to_lowercase().contains("error");
    let is_complaint = |line: &str| is_warning(line) && !line.contains(permitted);
    assert!(!complaint.lines().any(is_complaint), "{}: {complaint}", program.display());
    String::from_utf8(output.stdout).unwrap()
}

/// A program on the search path, or one that `tests/check/tools.sh` installs.
pub(crate) struct Client {
    name: &'static str,
    question: &'static str,
    installed: Option<&'static str>,
}

impl Client {
    pub(crate) fn go() -> Client {
        Client { name: "go", question: "version", installed: None }
    }

    pub(crate) fn callgrind_annotate() -> Client {
        Client { name: "callgrind_annotate", question: "--version", installed: None }
    }

    pub(crate) fn gprof2dot() -> Client {
        Client { name: "gprof2dot", question: "--help", installed: Some("gprof2dot/bin/gprof2dot") }
    }

    pub(crate) fn chromium() -> Client {
        Client { name: "chromium", question: "--version", installed: None }
    }

    /// The program that starts a message bus, without which programs of KDE do not start.
    pub(crate) fn message_bus() -> Client {
        Client { name: "dbus-run-session", question: "--version", installed: None }
    }

    /// The program. Prints SKIPPED if there is none.
    pub(crate) fn found(&self) -> Option<PathBuf> {
        let test = std::env::current_exe().unwrap();
        let installed = test.ancestors().filter_map(|directory| Some(directory.join(self.installed?)));
        let answers = |path: &PathBuf| {
            // callgrind_annotate tells its version as an error.
            let is_answer = |output: Output| output.status.success() || output.stderr.starts_with(self.name.as_bytes());
            Command::new(path).arg(self.question).output().is_ok_and(is_answer)
        };
        let found = installed.chain([PathBuf::from(self.name)]).find(answers);
        if found.is_none() {
            eprintln!("SKIPPED: exports: no {} on this system (tests/check/tools.sh installs it)", self.name);
        }
        found
    }

    /// What the program prints, if there is one.
    pub(crate) fn run(&self, words: &[impl AsRef<OsStr>]) -> Option<String> {
        self.found().map(|program| client(&program, words))
    }
}

/// The inclusive and the self percentage of each function in a drawing of gprof2dot.
pub(crate) fn dot_percents(dot: &str) -> BTreeMap<String, (f64, f64)> {
    let label = |line: &str| -> Option<(String, (f64, f64))> {
        let label = line.split_once("label=\"")?.1.split_once('"')?.0;
        let lines: Vec<&str> = label.split("\\n").collect();
        let at = lines.iter().position(|line| line.ends_with('%'))?;
        let percent = |text: &str| text.trim_matches(['(', ')', '%']).parse::<f64>().ok();
        // The name stands before the percentages, and the module before the name.
        Some(((*lines.get(at.checked_sub(1)?)?).to_owned(), (percent(lines[at])?, percent(lines.get(at + 1)?)?)))
    };
    dot.lines().filter(|line| !line.contains(" -> ")).filter_map(label).collect()
}

/// The flat and the cumulative value of each function of `pprof -top`; times in seconds.
pub(crate) fn pprof_top(text: &str) -> BTreeMap<String, (f64, f64)> {
    let value = |text: &str| -> f64 {
        let units = [("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("s", 1.0), ("mins", 60.0)];
        let found =
            units.iter().find_map(|(unit, factor)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * factor));
        found.or_else(|| text.parse().ok()).unwrap()
    };
    let lines = text.lines().skip_while(|line| !line.contains("flat%")).skip(1);
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words[5..].join(" "), (value(words[0]), value(words[3])))
    };
    lines.map(row).collect()
}

/// The calls of each arc of `pprof -peek`: the lines of callees below the line of their caller.
pub(crate) fn pprof_calls(text: &str) -> BTreeMap<(String, String), u64> {
    let mut calls = BTreeMap::new();
    for block in text.split("----------------------------------------------------------+-------------\n") {
        let mut caller = None;
        for line in block.lines().filter(|line| line.contains('|')) {
            let (numbers, name) = line.split_once('|').unwrap();
            let numbers: Vec<&str> = numbers.split_whitespace().collect();
            let name = name.trim().to_owned();
            match (numbers.len(), &caller) {
                // The line of the function has five numbers, that of an arc two.
                (5.., _) => caller = Some(name),
                (_, Some(caller)) => {
                    calls.insert((String::clone(caller), name), numbers[0].parse().unwrap());
                }
                (_, None) => {}
            }
        }
    }
    calls
}

/// The cost of each function of callgrind_annotate.
pub(crate) fn annotated(text: &str) -> BTreeMap<String, u64> {
    let row = |line: &str| {
        let (cost, rest) = line.trim_start().split_once(" (")?;
        let (_, place) = rest.split_once("%)  ")?;
        let place = place.split(" [").next()?;
        let (_, name) = place.split_once(':')?;
        Some((name.to_owned(), cost.replace(',', "").parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

/// The self and the total samples of each function of `profiler-cli thread functions`.
pub(crate) fn firefox_functions(text: &str) -> BTreeMap<String, (f64, f64)> {
    let row = |line: &str| {
        let (name, numbers) = line.trim_start().strip_prefix("f-")?.split_once(". ")?.1.rsplit_once(" - self: ")?;
        let (own, total) = numbers.split_once(", total: ")?;
        let number = |text: &str| text.split(' ').next()?.replace(',', "").parse().ok();
        Some((name.to_owned(), (number(own)?, number(total)?)))
    };
    text.lines().filter_map(row).collect()
}
