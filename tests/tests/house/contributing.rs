//! The lists of CONTRIBUTING.md: what a new report, export, form, system, or architecture needs. Each listed file
//! exists, and each source that names the example of a list is in the list.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A list, and how its example is recognized.
struct List {
    title: &'static str,
    /// The sources that are searched, below the root.
    roots: &'static [&'static str],
    /// What the code of the example says.
    words: &'static [&'static str],
    /// Parts of paths that the example does not concern.
    others: &'static [&'static str],
}

const LISTS: [List; 5] = [
    // additions.rs makes a report, and finds each file that the report touches in this list.
    List { title: "A report", roots: &[], words: &[], others: &[] },
    List { title: "An export", roots: &["gprof/src"], words: &["callgrind", "Callgrind"], others: &[] },
    List {
        title: "A form of gmon.out",
        roots: &["format/src", "gprof/src"],
        words: &["MonOut", "mon_out"],
        others: &[],
    },
    List {
        title: "A system",
        roots: &["runtime/src", "tests/check", "packaging", "Makefile", "deny.toml", "runtime/gmon-cc.sh"],
        words: &["openbsd", "OPENBSD"],
        // What only the profiles and the crates of other systems have to do with OpenBSD.
        others: &["runtime/src/file/", "runtime/src/control/", "tests/check/tools.sh"],
    },
    List {
        title: "An architecture",
        roots: &["runtime/src", "runtime/unwind/src", "gprof/src", "packaging", "Makefile", "runtime/gmon-cc.sh"],
        words: &["aarch64", "AARCH64", "Aarch64"],
        others: &["/tests.rs"],
    },
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The paths of files in a list of CONTRIBUTING.md: what stands between backticks and has a slash or is a file at the
/// root.
fn listed(title: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let section = text.split("\n## ").find_map(|section| section.strip_prefix(title)?.strip_prefix('\n')).expect(title);
    let quoted = section.split('`').skip(1).step_by(2);
    quoted.filter(|word| word.contains('/') || root().join(word).exists()).map(str::to_owned).collect()
}

/// The files below a path of the sources.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| files(&path)).collect()
}

/// Returns whether a line of code, and not a comment, has one of the words.
fn names(text: &str, words: &[&str]) -> bool {
    let is_code =
        |line: &&str| !["//", "#"].iter().any(|mark| line.trim_start().starts_with(mark) && !line.contains("cfg"));
    text.lines().filter(is_code).any(|line| words.iter().any(|word| line.contains(word)))
}

#[test]
fn listed_files_exist() {
    for list in &LISTS {
        let paths = listed(list.title);
        assert!(paths.len() >= 4, "{}: {paths:?}", list.title);
        for path in paths {
            assert!(root().join(&path).exists(), "{}: there is no {path}", list.title);
        }
    }
}

#[test]
fn each_source_of_an_example_is_listed() {
    for list in &LISTS {
        let listed = listed(list.title);
        let is_listed = |path: &str| {
            listed.iter().any(|known| {
                path == known || path.strip_prefix(known.as_str()).is_some_and(|rest| rest.starts_with('/'))
            })
        };
        let mut found = BTreeSet::new();
        for path in list.roots.iter().flat_map(|place| files(&root().join(place))) {
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            if list.others.iter().any(|other| name.contains(other)) {
                continue;
            }
            let is_named = list.words.iter().any(|word| name.contains(word));
            if is_named || fs::read_to_string(&path).is_ok_and(|text| names(&text, list.words)) {
                found.insert(name);
            }
        }
        let missing: Vec<&String> = found.iter().filter(|path| !is_listed(path)).collect();
        assert!(missing.is_empty(), "CONTRIBUTING.md, \"{}\", lacks {missing:?}", list.title);
        // A listed file that has nothing to do with the example any more, among those that are searched.
        let is_searched = |path: &str| list.roots.iter().any(|place| path.starts_with(place)) && path.contains('.');
        let stale: Vec<&String> = listed.iter().filter(|path| is_searched(path) && !found.contains(*path)).collect();
        assert!(stale.is_empty(), "CONTRIBUTING.md, \"{}\": these do not name the example: {stale:?}", list.title);
    }
}
