//! The direction of dependencies: between the crates, and between the modules of each.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of each crate from the ground up: a module uses only those before it.
const ORDER: [(&str, &[&str]); 3] = [
    (
        "format",
        &[
            "layout",
            "encode",
            "encoding",
            "profile",
            "error",
            "histogram",
            "distinct",
            "accumulate",
            "read",
            "detect",
            "write",
        ],
    ),
    (
        "runtime",
        &[
            "text",
            "arch",
            "os",
            "message",
            "per_process",
            "ownership",
            "samples",
            "objects",
            "file",
            "kernel",
            "mcount",
            "control",
            "process",
            "entry",
            "profil",
        ],
    ),
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
    keys.filter(|key| ["gmon", "gmon-runtime", "gprof", "gmon-tests"].contains(key)).map(str::to_owned).collect()
}

#[test]
fn crates_depend_one_way() {
    assert_eq!(dependencies("format"), BTreeSet::new());
    assert_eq!(dependencies("runtime"), BTreeSet::from(["gmon".to_owned()]));
    assert_eq!(dependencies("gprof"), BTreeSet::from(["gmon".to_owned()]));
}

#[test]
fn the_runtime_uses_only_the_layout_and_the_encoders_and_nothing_else_at_all() {
    let manifest = fs::read_to_string(root().join("runtime/Cargo.toml")).unwrap();
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap();
    assert_eq!(section.trim(), "gmon.workspace = true", "no other dependency, and no feature of this one");
    for path in sources(&root().join("runtime/src")) {
        let code = code(&path);
        for rest in code.split("gmon::").skip(1) {
            assert!(
                rest.starts_with("layout") || rest.starts_with("encode::"),
                "{}: gmon::{}",
                path.display(),
                rest.lines().next().unwrap()
            );
        }
    }
}

/// The statics of the runtime that the child of a fork does not reset with `per_process`, and why; as (module, names, reason).
const KEPT_BY_A_CHILD: &[(&str, &[&str], &str)] = &[
    ("per_process", &["PER_PROCESS"], "this is what a child resets"),
    ("merge", &["SETTLED", "OUTSIDE", "OWN"], "they lead to rows of per_process"),
    ("merge", &["RECORDED_BIAS"], "the child's tables stay as they are, and the child has the program where it was"),
    (
        "message",
        &["AT_START", "IS_KNOWN", "WAS_REPLACED", "PATIENCE"],
        "the child inherits standard error and its reader",
    ),
    ("ownership", &["PROCESS", "FORKED"], "the child sets them to its own"),
    ("ownership", &["OWN_WORD", "ALWAYS_OWN"], "the word itself is set by the child, which has it at the same address"),
    ("output", &["CAPTURED", "DIRECTORY"], "the child's file is in the same directory"),
    ("names", &["OUTPUT"], "what the user asked for"),
    ("names", &["NAME", "BESIDE"], "made anew for each use"),
    ("program_identity", &["PATH"], "the child is of the same program"),
    ("mapped", &["LENGTH"], "says something only while there is a mapped file"),
    ("live", &["INODE", "DEVICE", "LENGTH"], "say something only while there is a live file"),
    ("live", &["UNIT"], "the child's tables have the sizes that they were made with"),
    ("live", &["RESERVE"], "given up where the child leaves the live file"),
    ("stale", &["REMOVED_BY"], "a number of a process: not the child's"),
    ("writer", &["PAGE"], "made anew for each use"),
    ("writer", &["SOME"], "never changes"),
    (
        "loaded",
        &["KNOWN", "PROGRAM_BASE", "PROGRAM_BIAS"],
        "the child has the same objects; what another thread was changing is cleared",
    ),
    ("profil", &["BUFFER", "LENGTH", "gmon_kernel_profil"], "the child has the same buffer, which is cleared"),
    ("threads", &["THREADS", "CURSOR"], "the child has the same records, which are cleared"),
    ("snapshot", &["SIGNAL"], "the child inherits the handler"),
    ("writing_thread", &["WRITERS_STACK"], "made anew for each use"),
    (
        "moncontrol",
        &["RECORDING", "RECORDING_AS_RUN", "STARTED", "IS_PROFILED", "LOWPC", "WANTED", "KEEPS_OUTSIDE"],
        "the child is profiled as its parent is",
    ),
    ("bins", &["SCALE", "SAMPLES", "SAMPLES_SIZE", "OFFSET", "ARE_FILE"], "the child counts in the same buffer"),
    ("outside_text", &["IS_KEPT"], "what the user asked for"),
    ("start", &["RTLD_FINI", "BEGAN_FIRST", "NOT_RELOCATED"], "how the program was started"),
    ("dlclose", &["THEIRS"], "the C library's functions stay where they are"),
    ("dispositions", &["NEXT_SIGACTION", "NEXT_SIGNAL"], "the C library's functions stay where they are"),
    ("hidden_handlers", &["HIDDEN", "DOORS"], "the child inherits the handlers"),
    ("filter", &["FILTERS", "PIECES", "NUMBER"], "the child inherits the filters"),
    ("guarded", &["DIRECT"], "the child has the same kernel"),
    ("guarded", &["NOBODY"], "never changes"),
    ("memory", &["OURS"], "the child has the reserve as its parent has"),
    ("linux", &["RATE", "WALL", "TICKS"], "what the user asked for, and what the system has"),
    ("linux", &["PRODUCER", "STOPPED"], "the child is sampled as its parent is; without rings of its own it says so"),
    ("linux", &["CAUGHT"], "the child inherits the handler"),
    ("linux", &["COUNTING_SINCE"], "set where the child goes on counting"),
    (
        "linux",
        &["HAS_TIMERS", "THREAD_REFUSED", "RING_REFUSED"],
        "what was refused serves no better in the child, which says so",
    ),
    ("linux", &["TURN"], "spreads first samples over a period, whoever's they are"),
    ("process", &["COMES_TO_WHO_RUNS"], "the same system"),
    ("ring", &["RINGS"], "the memory of a list that is empty in the child"),
    ("ring", &["READER", "HALF_FULL_NANOSECONDS", "ONLY_PROGRAM"], "set with the child's own rings"),
    ("linux", &["VALUES"], "never changes"),
    ("guarded", &["NO_TIME"], "never changes"),
    ("signal", &["NO_TIME"], "never changes"),
    ("thread", &["MILLISECOND"], "never changes"),
    ("system", &["REQUEST"], "never changes"),
];

#[test]
fn a_forked_child_resets_all_state_but_what_is_named_here() {
    let source = root().join("runtime/src");
    let mut found = BTreeSet::new();
    for path in sources(&source) {
        let inside = path.strip_prefix(&source).unwrap();
        if inside.starts_with("profil") {
            continue; // a member of the library for itself
        }
        let mut module = path.file_stem().unwrap().to_str().unwrap();
        if module == "mod" {
            module = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        }
        for line in code(&path).lines() {
            let words: Vec<_> = line.trim_start().split([' ', ':']).filter(|word| !word.is_empty()).collect();
            // A static of another object has no value here.
            let is_declared = line.trim_end().ends_with(';') && !line.contains('=');
            if let Some(at) = words.iter().position(|word| *word == "static").filter(|at| *at < 2 && !is_declared) {
                found.insert((module.to_owned(), words[at + 1].to_owned()));
            }
        }
    }
    let kept: BTreeSet<_> = KEPT_BY_A_CHILD
        .iter()
        .flat_map(|(module, names, _)| names.iter().map(|name| ((*module).to_owned(), (*name).to_owned())))
        .collect();
    let forgotten: Vec<_> = found.difference(&kept).collect();
    assert!(
        forgotten.is_empty(),
        "put them into runtime/src/per_process, or say here why a child keeps them: {forgotten:?}"
    );
    let gone: Vec<_> = kept.difference(&found).collect();
    assert!(gone.is_empty(), "there are none of these: {gone:?}");
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
