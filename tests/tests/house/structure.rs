//! The direction of dependencies, between the crates and between the modules of each crate.

mod modules;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use modules::{Modules, Name};

/// The modules of each crate, bottom up: a module uses only modules before it.
const ORDER: [(&str, &[&str]); 5] = [
    (
        "format",
        &[
            "layout",
            "older_rust",
            "encode",
            "encoding",
            "hints",
            "unit",
            "error",
            "bins",
            "histogram",
            "histograms",
            "record",
            "distinct",
            "internals",
            "profile",
            "accumulate",
            "decode",
            "detection",
            "output",
            "families",
            "names",
            "read",
            "detect",
            "write",
            "side_file",
            "object_list",
        ],
    ),
    (
        "runtime",
        &[
            "closures",
            "text",
            "arch",
            "os",
            "message",
            "unwind",
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
        ],
    ),
    ("gprof/demangle", &["bounded", "gnat", "rust", "cpp", "fallback"]),
    ("runtime/profil", &["rules", "profile", "engine", "bsd", "host", "openbsd", "illumos", "aix", "attach"]),
    (
        "gprof",
        &[
            "terminal",
            "image",
            "symbols",
            "error",
            "cli",
            "output",
            "load",
            "analysis",
            "report",
            "compare",
            "watch",
            "internals",
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

/// The crates of the workspace that have a library.
fn crates() -> Vec<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let members = manifest.split_once("members = [").unwrap().1.split_once(']').unwrap().0;
    let names = members.split('"').skip(1).step_by(2).map(str::to_owned);
    names.filter(|name| root().join(name).join("src/lib.rs").exists()).collect()
}

/// The modules that each module of a crate uses.
fn uses(name: &str) -> BTreeMap<Name, BTreeSet<Name>> {
    Modules::read(&root().join(name).join("src/lib.rs"), &|path| fs::read_to_string(path).ok()).uses()
}

/// All modules that a module can reach.
fn reached<'a>(uses: &'a BTreeMap<Name, BTreeSet<Name>>, from: &'a Name) -> BTreeSet<&'a Name> {
    let (mut found, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(used) = left.pop().and_then(|module| uses.get(module)) {
        left.extend(used.iter().filter(|module| found.insert(*module)));
    }
    found
}

/// The modules in each circle.
fn circles(uses: &BTreeMap<Name, BTreeSet<Name>>) -> BTreeSet<Vec<String>> {
    let reaches: BTreeMap<_, _> = uses.keys().map(|module| (module, reached(uses, module))).collect();
    let in_circles = reaches.iter().filter(|(module, reached)| reached.contains(**module));
    in_circles
        .map(|(module, reached)| {
            let others = reached.iter().filter(|other| reaches.get(**other).is_some_and(|back| back.contains(*module)));
            others.map(|other| spelled(other)).collect()
        })
        .collect()
}

fn spelled(module: &Name) -> String {
    if module.is_empty() { "lib.rs".to_owned() } else { module.join("::") }
}

#[test]
fn a_module_uses_only_modules_below_it() {
    for (name, order) in ORDER {
        let uses = uses(name);
        let declared: BTreeSet<_> =
            uses.keys().filter(|module| module.len() == 1).map(|module| module[0].as_str()).collect();
        assert_eq!(
            declared,
            order.iter().copied().collect(),
            "{name}: the modules of lib.rs and of this test must be the same"
        );
        let rank = |module: &Name| order.iter().position(|known| Some(*known) == module.first().map(String::as_str));
        for (module, used) in &uses {
            for used in used.iter().filter(|_| !module.is_empty()) {
                assert!(
                    rank(used) <= rank(module),
                    "{name}: {} uses {}, which is above it",
                    spelled(module),
                    spelled(used)
                );
            }
        }
    }
}

#[test]
fn modules_form_no_circles() {
    for name in crates() {
        let uses = uses(&name);
        assert!(uses.len() > 1, "{name} must have modules");
        let circles = circles(&uses);
        let is_inside = |circle: &&Vec<String>, module: &Name| circle.contains(&spelled(module));
        let inside = uses
            .iter()
            .flat_map(|(user, used)| used.iter().map(move |used| (user, used)))
            .filter(|(user, used)| circles.iter().any(|circle| is_inside(&circle, user) && is_inside(&circle, used)));
        let inside: Vec<_> = inside.map(|(user, used)| format!("{} uses {}", spelled(user), spelled(used))).collect();
        assert!(circles.is_empty(), "{name}: these modules form a circle: {inside:#?}");
    }
}

#[test]
fn every_form_of_use_is_found() {
    let read = |module: &'static str, sources: &'static [(&'static str, &'static str)]| {
        let read =
            |path: &Path| sources.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned());
        let uses = Modules::read(Path::new("lib.rs"), &read).uses();
        let name: Name = module.split("::").map(str::to_owned).collect();
        uses[&name].iter().map(spelled).collect::<Vec<_>>().join(" ")
    };
    const LIB: (&str, &str) = ("lib.rs", "mod a; mod b; mod c; pub use b::inner::Handed;");
    const B: (&str, &str) = ("b/mod.rs", "pub mod inner; pub use inner::{one, Two as Second}; pub fn own() {}");
    const INNER: (&str, &str) = ("b/inner.rs", "pub fn one() {} pub struct Two; pub struct Handed;");
    const C: (&str, &str) = ("c.rs", "pub use crate::b::inner::*; pub mod deep { pub const X: u8 = 0; }");
    let of_a = |text: &'static str| {
        let sources: &'static [(&str, &str)] = Box::leak(Box::new([LIB, B, INNER, C, ("a.rs", text)]));
        read("a", sources)
    };
    assert_eq!(of_a("use crate::{b::{inner::{self}}, c::deep::X}; fn f() { inner::one() }"), "b::inner c::deep");
    assert_eq!(of_a("use super::b::{own, one};"), "b b::inner", "an item must belong to the module that defines it");
    assert_eq!(of_a("fn f() -> u8 { super::c::deep::X }"), "c::deep");
    assert_eq!(of_a("fn f() { crate::b::Second; }"), "b::inner");
    assert_eq!(of_a("fn f(_: crate::Handed) {}"), "b::inner");
    assert_eq!(of_a("use crate::c; fn f() { c::one() }"), "b::inner", "through a glob");
    assert_eq!(of_a("use crate::b; fn f() { b::own(); other::thing(); Vec::<u8>::new(); }"), "b");
    assert_eq!(
        of_a("// crate::b::own\n/* crate::b */ const S: &str = r#\"crate::b::own\"#; fn f<'a>(_: &'a str) {}"),
        ""
    );
    assert_eq!(
        of_a(
            "#[cfg(test)] mod tests { use crate::b::own; } #[cfg(test)] pub(crate) fn f() { crate::b::own() } use crate::c::deep::X;"
        ),
        "c::deep"
    );
    assert_eq!(of_a("mod inside { use super::super::b::own; }"), "");
    let sources: &'static [(&str, &str)] = &[
        ("lib.rs", "#[cfg_attr(unix, path = \"x/mod.rs\")] #[cfg_attr(windows, path = \"y/mod.rs\")] mod a; mod b;"),
        ("x/mod.rs", "mod part; use crate::b::f;"),
        ("x/part.rs", "use super::super::b::f;"),
        ("y/mod.rs", "fn g() {}"),
        ("b.rs", "pub fn f() { crate::a::g() }"),
    ];
    assert_eq!([read("a", sources), read("a::part", sources), read("b", sources)], ["b", "b", "a"]);
    let circles = circles(
        &Modules::read(Path::new("lib.rs"), &|path| {
            sources.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned())
        })
        .uses(),
    );
    assert_eq!(circles, BTreeSet::from([vec!["a".to_owned(), "b".to_owned()]]));
}

/// The workspace's own crates among a crate's dependencies, except test dependencies.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or("").split("\n[").next().unwrap();
    let keys = section.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    keys.filter(|key| ["gmon", "gmon-demangle", "gmon-runtime", "gmon-profil", "gprof", "gmon-tests"].contains(key))
        .map(str::to_owned)
        .collect()
}

#[test]
fn crates_depend_one_way() {
    assert_eq!(dependencies("format"), BTreeSet::new());
    assert_eq!(dependencies("runtime"), BTreeSet::from(["gmon".to_owned()]));
    assert_eq!(dependencies("runtime/profil"), BTreeSet::from(["gmon".to_owned(), "gmon-runtime".to_owned()]));
    assert_eq!(dependencies("gprof/demangle"), BTreeSet::new());
    assert_eq!(dependencies("gprof"), BTreeSet::from(["gmon", "gmon-demangle"].map(str::to_owned)));
}

/// A package holds only files of its own directory, so each has a copy of the license.
#[test]
fn every_package_holds_the_license() {
    let license = fs::read(root().join("LICENSE")).unwrap();
    for package in ["format", "gprof", "gprof/demangle"] {
        let copy = root().join(package).join("LICENSE");
        assert!(fs::read(&copy).unwrap() == license, "{} differs from LICENSE: copy LICENSE to it", copy.display());
    }
}

#[test]
fn the_runtime_depends_only_on_the_layout_and_the_encoders() {
    for (name, allowed) in [
        ("runtime", "gmon.workspace = true"),
        ("runtime/profil", "gmon.workspace = true\ngmon-runtime.workspace = true"),
    ] {
        let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        let section = manifest.split("\n[dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap();
        assert_eq!(section.trim(), allowed, "{name}: another dependency, or a feature of these");
        for path in sources(&root().join(name).join("src")) {
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
}

/// Statics of the runtime that a forked child does not reset through `per_process`, as (module, names, reason).
const KEPT_BY_A_CHILD: &[(&str, &[&str], &str)] = &[
    ("per_process", &["PER_PROCESS"], "this is what a child resets"),
    ("merge", &["SETTLED", "SETTLED_CALLS", "BY_THREAD", "OUTSIDE", "OWN"], "they lead to rows of per_process"),
    ("merge", &["RECORDED_BIAS"], "the child's tables stay as they are, and the child has the program where it was"),
    (
        "message",
        &["AT_START", "IS_KNOWN", "WAS_REPLACED", "PATIENCE"],
        "the child inherits standard error and its reader",
    ),
    ("ownership", &["PROCESS", "FORKED"], "the child sets them to its own"),
    ("ownership", &["OWN_WORD", "ALWAYS_OWN"], "the word itself is set by the child, which has it at the same address"),
    ("output", &["CAPTURED", "DIRECTORY", "IS_HELD"], "the child's file is in the same directory"),
    ("names", &["OUTPUT"], "what the user asked for"),
    ("kept", &["STATUS"], "says something only while there is a kept file"),
    ("names", &["NAME", "BESIDE"], "made anew for each use"),
    ("run", &["RUN", "RANK"], "the child is of the same program and the same job, on the same machine"),
    ("run", &["SAMPLER"], "set by each start of the sampler, in the child too"),
    ("mapped", &["LENGTH"], "says something only while there is a mapped file"),
    ("live", &["LENGTH"], "says something only while there is a live file"),
    ("slots", &["START", "SNAPSHOTS"], "say something only while there is a live side file"),
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
    (
        "this_process",
        &["PUBLISHED", "CACHE", "OUTER_ENDS"],
        "the child has the same objects and stacks; the readers in its parent are forgotten",
    ),
    ("this_process", &["SIGNALS"], "never changes"),
    ("buffer", &["BUFFER", "LENGTH"], "the child has the same buffer, which is cleared"),
    ("profil", &["gmon_kernel_profil"], "never changes"),
    ("threads", &["THREADS", "CURSOR"], "the child has the same records, which are cleared"),
    ("threads", &["ENDED"], "it leads to the calls in per_process"),
    ("snapshot", &["SIGNAL"], "the child inherits the handler"),
    ("writing_thread", &["WRITERS_STACK"], "made anew for each use"),
    (
        "moncontrol",
        &["RECORDING", "RECORDING_AS_RUN", "STARTED", "IS_PROFILED", "LOWPC", "WANTED", "KEEPS_OUTSIDE"],
        "the child is profiled as its parent is",
    ),
    ("bins", &["SCALE", "SAMPLES", "SAMPLES_SIZE", "OFFSET", "LATEST_SCALE"], "the child counts in the same buffer"),
    ("outside_text", &["IS_KEPT"], "what the user asked for"),
    ("contexts", &["IS_KEPT"], "what the user asked for"),
    ("budget", &["FRAMES_PER_TICK"], "the child is sampled at the same rate"),
    ("start", &["RTLD_FINI", "BEGAN_FIRST", "NOT_RELOCATED"], "how the program was started"),
    ("dlclose", &["THEIRS"], "the C library's functions stay where they are"),
    ("dispositions", &["NEXT_SIGACTION", "NEXT_SIGNAL"], "the C library's functions stay where they are"),
    (
        "alternate_stack",
        &["ARE_USED", "ARE_LEFT", "ARE_SET"],
        "the child inherits the handlers and the alternate stack",
    ),
    ("alternate_stacks", &["NEXT_MUNMAP"], "the C library's functions stay where they are"),
    ("hidden_handlers", &["HIDDEN", "ENTRIES"], "the child inherits the handlers"),
    ("filter", &["FILTERS", "PIECES", "NUMBER"], "the child inherits the filters"),
    ("guarded", &["DIRECT"], "the child has the same kernel"),
    ("guarded", &["NOBODY"], "never changes"),
    ("file", &["FIRST_MASK"], "the child's files respect the umask at the start of the program"),
    ("limits", &["LOWERED"], "set while files are written; the child restores the limit"),
    ("seccomp", &["SPECIAL"], "never changes"),
    ("memory", &["FOR_START", "OURS"], "the child has the reserves as its parent has"),
    ("rate", &["RATE", "WALL", "TICKS"], "what the user asked for, and what the system has"),
    ("producer", &["PRODUCER"], "the child is sampled as its parent is; without rings of its own it says so"),
    ("sampler", &["STOPPED"], "the child is sampled as its parent is; without rings of its own it says so"),
    ("exits", &["LEFT_TO_CHILDREN"], "the child of the first process takes the signals from there"),
    ("handler", &["CAUGHT"], "the child inherits the handler"),
    (
        "producer",
        &["HAS_TIMERS", "THREAD_REFUSED", "RING_REFUSED"],
        "what was refused serves no better in the child, which says so",
    ),
    ("process", &["COMES_TO_WHO_RUNS"], "the same system"),
    ("ring", &["RINGS"], "the memory of a list that is empty in the child"),
    ("ring", &["READER", "INTERVAL_NANOSECONDS", "STACK", "ONLY_PROGRAM"], "set with the child's own rings"),
    ("ring", &["HAS_UNTOUCHED"], "tells about the functions of the program, which the child has too"),
    ("mark", &["VALUES"], "never changes"),
    ("guarded", &["NO_TIME"], "never changes"),
    ("signal", &["NO_TIME"], "never changes"),
    ("thread", &["MILLISECOND"], "never changes"),
    ("valgrind", &["REQUEST"], "never changes"),
    ("start", &["CLEANUP", "environ", "__progname"], "how the program was started"),
    ("fork", &["NEXT", "NEXT_WITH_DESCRIPTOR", "IS_FOUND"], "the C library's functions stay where they are"),
    ("shared_signal", &["HANDLER", "FLAGS", "MASK"], "the child inherits the program's handler"),
    ("signal", &["ENTRIES"], "the child inherits the handlers"),
    ("choice", &["IS_ITIMER"], "what the user asked for, and what the system has"),
    ("overflows", &["STARTED", "SAMPLED", "LOOKED"], "the child sets them to its own CPU time"),
    ("arcs", &["HEADER", "TAKEN"], "the child restores the header of its buffer from there"),
    ("promises", &["PROMISED"], "the child inherits the promises"),
    ("names", &["_gmonparam"], "never changes"),
    ("signal_calls", &["NO_TIME"], "never changes"),
    ("snapshot", &["USER"], "the child inherits the kernel's record of the user"),
    ("interval", &["IS_CAUGHT"], "the child inherits the handler"),
    (
        "differences",
        &["COUNTERS", "SEEN", "NUMBER", "IS_READING"],
        "the child forgets what was counted, in the same memory",
    ),
    ("reader", &["IS_STARTED", "IS_OVER", "REFUSED", "STACK"], "set where the child starts a thread of its own"),
    ("counters", &["READ_AT", "CHARGED_UNTIL"], "set by each start of the kernel's sampling, in the child too"),
    ("counters", &["CALLS_RETURN_TO_COUNTERS"], "the child is of the same program"),
    ("counters", &["MAY_MISS_CHARGE"], "cleared where the child forgets its parent's ticks"),
];

#[test]
fn a_forked_child_resets_all_statics_except_the_listed_ones() {
    let source = root().join("runtime/src");
    let mut found = BTreeSet::new();
    for path in sources(&source) {
        let inside = path.strip_prefix(&source).unwrap();
        if inside.ends_with("profil_clock.rs") {
            continue; // in gmon-profil, a separate member of the library
        }
        let mut module = path.file_stem().unwrap().to_str().unwrap();
        if module == "mod" {
            module = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        }
        for line in code(&path).lines() {
            let words: Vec<_> = line.trim_start().split([' ', ':']).filter(|word| !word.is_empty()).collect();
            // A declaration of another object's static has no value here.
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
        "put these statics into runtime/src/per_process, or list them here with the reason why a child keeps them: {forgotten:?}"
    );
    let gone: Vec<_> = kept.difference(&found).collect();
    assert!(gone.is_empty(), "these statics do not exist: {gone:?}");
}

#[test]
fn only_one_module_knows_object_files_and_mangling() {
    let source = root().join("gprof/src");
    for path in sources(&source) {
        let inside = path.strip_prefix(&source).unwrap();
        let knows =
            ["object::", "gimli::", "rustc_demangle::", "addr2line::"].iter().any(|krate| code(&path).contains(krate));
        assert!(!knows || inside.starts_with("image"), "{}", inside.display());
    }
}
