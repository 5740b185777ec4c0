//! The direction of dependencies: between the crates, and between the modules of each.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of each crate from the ground up: a module uses only those before it.
const ORDER: [(&str, &[&str]); 4] = [
    (
        "format",
        &["layout", "encoding", "profile", "error", "histogram", "distinct", "accumulate", "read", "detect", "write"],
    ),
    (
        "runtime",
        &[
            "text",
            "arch",
            "system",
            "message",
            "scale",
            "program",
            "kernel",
            "arcs",
            "threads",
            "environment",
            "buffer",
            "gather",
            "control",
            "unloading",
            "profil",
            "snapshot",
            "ending",
            "sandbox",
            "dispositions",
            "masks",
            "start",
            "entry",
        ],
    ),
    ("gprof/demangle", &["bounded", "gnat", "rust", "cpp", "fallback"]),
    (
        "gprof",
        &[
            "number",
            "terminal",
            "progress",
            "files",
            "image",
            "symspec",
            "functions",
            "file_map",
            "error",
            "pager",
            "options",
            "sources",
            "selection",
            "flat",
            "line_symbols",
            "line_times",
            "inlines",
            "images",
            "graph",
            "static_calls",
            "analysis",
            "annotate",
            "input",
            "report",
            "cli",
            "doubts",
            "beside",
            "mismatch",
            "runs",
            "sum",
            "symbol_file",
            "tables",
            "bsd",
        ],
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A source file without comments and without its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
    found
}

/// The words of a text that are made like names.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|name| !name.is_empty())
}

/// What stands behind each `crate::` of a text: one name, or those of a list in braces.
fn own_crate_names(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(list) => {
                // Only the first name of each path in the list is a module or what the crate's root has.
                let mut depth = 0;
                let mut first = String::new();
                for letter in list.chars() {
                    match letter {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        _ if depth > 0 => {}
                        _ => first.push(letter),
                    }
                }
                let paths = first.split(',').map(|path| path.trim().split("::").next().unwrap().to_owned());
                found.extend(paths.filter(|name| !name.is_empty()));
            }
            None => found.extend(names(rest).next().map(str::to_owned)),
        }
    }
    found
}

/// Which module each name comes from that the crate's root hands on.
fn handed_on(root: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for statement in root.split(';').filter_map(|statement| statement.rsplit_once("pub use ").map(|(_, path)| path)) {
        let (module, rest) = statement.split_once("::").unwrap();
        found.extend(names(rest).map(|name| (name.to_owned(), module.to_owned())));
    }
    found
}

#[test]
fn a_module_uses_only_what_stands_below_it() {
    for (name, order) in ORDER {
        let source = root().join(name).join("src");
        let top = code(&source.join("lib.rs"));
        let declared: BTreeSet<_> =
            top.lines().filter_map(|line| line.rsplit_once("mod ")?.1.strip_suffix(';')).collect();
        assert_eq!(declared, order.iter().copied().collect(), "{name}: the modules of lib.rs and of this test");
        let handed_on = handed_on(&top);
        let rank = |module: &str| order.iter().position(|known| *known == module);
        for path in sources(&source) {
            let inside = path.strip_prefix(&source).unwrap();
            let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
            let Some(own) = rank(module) else {
                assert!(["lib", "main"].contains(&module), "{name}: {}", inside.display());
                continue;
            };
            for used in own_crate_names(&code(&path)) {
                let used = handed_on.get(&used).unwrap_or(&used);
                let below = rank(used).unwrap_or_else(|| panic!("{name}/{}: what is {used}?", inside.display()));
                assert!(below <= own, "{name}/{}: uses {used}, which stands above it", inside.display());
            }
        }
    }
}

/// The workspace's own crates among the dependencies of one, tests' aside.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or("").split("\n[").next().unwrap();
    let keys = section.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    keys.filter(|key| ["gmon", "gmon-demangle", "gmon-runtime", "gprof", "gmon-tests"].contains(key))
        .map(str::to_owned)
        .collect()
}

#[test]
fn crates_depend_one_way() {
    assert_eq!(dependencies("format"), BTreeSet::new());
    assert_eq!(dependencies("runtime"), BTreeSet::from(["gmon".to_owned()]));
    assert_eq!(dependencies("gprof/demangle"), BTreeSet::new());
    assert_eq!(dependencies("gprof"), BTreeSet::from(["gmon", "gmon-demangle"].map(str::to_owned)));
}

#[test]
fn the_runtime_uses_only_the_layout_and_nothing_else_at_all() {
    let manifest = fs::read_to_string(root().join("runtime/Cargo.toml")).unwrap();
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap();
    assert_eq!(section.trim(), "gmon.workspace = true", "no other dependency, and no feature of this one");
    for path in sources(&root().join("runtime/src")) {
        let code = code(&path);
        for rest in code.split("gmon::").skip(1) {
            assert!(rest.starts_with("layout"), "{}: gmon::{}", path.display(), rest.lines().next().unwrap());
        }
    }
}

#[test]
fn only_one_place_of_the_reader_knows_object_files_and_how_names_are_mangled() {
    let source = root().join("gprof/src");
    for path in sources(&source) {
        let inside = path.strip_prefix(&source).unwrap();
        let knows =
            ["object::", "gimli::", "rustc_demangle::", "addr2line::"].iter().any(|krate| code(&path).contains(krate));
        assert!(!knows || inside.starts_with("image"), "{}", inside.display());
    }
}
