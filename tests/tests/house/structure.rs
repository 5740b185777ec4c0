//! The direction of dependencies, between the crates and between the modules of each crate.

mod modules;
mod statics;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use modules::{Modules, Name};
use statics::{Kind, statics};

/// The modules of each crate, bottom up: a module uses only modules before it.
const ORDER: [(&str, &[&str]); 7] = [
    (
        "run",
        &[
            "message",
            "status",
            "names",
            "job",
            "perf_maps",
            "error",
            "system",
            "signals",
            "descriptors",
            "arguments",
            "completions",
            "executable",
            "runtime",
            "directory",
            "process",
            "collection",
        ],
    ),
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
            "since",
            "decode",
            "detection",
            "output",
            "families",
            "names",
            "read",
            "detect",
            "write",
            "perf_map",
            "side_file",
            "object_list",
        ],
    ),
    (
        "runtime",
        &[
            "state",
            "closures",
            "text",
            "arch",
            "os",
            "message",
            "unwind",
            "memory",
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
    (
        "runtime/unwind",
        &[
            "memory",
            "bytes",
            "expression",
            "rule",
            "cache",
            "architecture",
            "aarch64",
            "x86_64",
            "entry",
            "instructions",
            "index",
            "objects",
            "image",
            "signal_frame",
            "chain",
            "records",
            "recursion",
            "outer_end",
            "walk",
            "ends",
        ],
    ),
    ("gprof/demangle", &["bounded", "gnat", "rust", "cpp", "fallback"]),
    ("runtime/profil", &["rules", "profile", "engine", "bsd", "host", "openbsd", "illumos", "aix", "attach"]),
    (
        "gprof",
        &[
            "terminal",
            "program",
            "error",
            "question",
            "output",
            "sources",
            "model",
            "sink",
            "reports",
            "exports",
            "personalities",
            "compare",
            "repeat",
            "watch",
            "attach",
            "cli",
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
    assert_eq!(of_a("struct S { #[arg(value_parser = crate::b::own())] field: u8 }"), "b", "in an attribute");
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
    let ours = ["gmon", "gmon-demangle", "gmon-runtime", "gmon-unwind", "gmon-profil", "gprof", "gmon-tests"];
    keys.filter(|key| ours.contains(key)).map(str::to_owned).collect()
}

#[test]
fn crates_depend_one_way() {
    assert_eq!(dependencies("format"), BTreeSet::new());
    assert_eq!(dependencies("runtime"), BTreeSet::from(["gmon", "gmon-unwind"].map(str::to_owned)));
    assert_eq!(dependencies("runtime/unwind"), BTreeSet::new());
    assert_eq!(dependencies("runtime/profil"), BTreeSet::from(["gmon".to_owned(), "gmon-runtime".to_owned()]));
    assert_eq!(dependencies("gprof/demangle"), BTreeSet::new());
    assert_eq!(dependencies("run"), BTreeSet::from(["gmon".to_owned()]));
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
        ("runtime", "gmon.workspace = true\ngmon-unwind.workspace = true"),
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

#[test]
fn each_static_of_the_runtime_says_what_a_child_does_with_it() {
    let source = root().join("runtime/src");
    let mut found = [0; 2];
    for path in sources(&source) {
        // The macro that defines statics is there.
        let is_state = path.strip_prefix(&source).unwrap() == Path::new("state.rs");
        for (name, kind) in statics(&code(&path)).into_iter().filter(|_| !is_state) {
            match kind {
                Kind::Reset => found[0] += 1,
                Kind::Inherited => found[1] += 1,
                Kind::Other => panic!(
                    "{}: {name} is neither a `Reset` in `resets!` nor an `Inherited`, see runtime/src/state.rs",
                    path.display()
                ),
            }
        }
    }
    assert!(found[0] > 30 && found[1] > 100, "{found:?}");
}

#[test]
fn every_form_of_static_is_found() {
    let read =
        |text: &str| statics(text).into_iter().map(|(name, kind)| format!("{name} {kind:?}")).collect::<Vec<_>>();
    assert_eq!(read("static A: AtomicBool = AtomicBool::new(false);"), ["A Other"]);
    assert_eq!(
        read("pub(crate) static A: Inherited<u8> = Inherited::new(\"r\", 0); fn f() { static B: u8 = 0; }"),
        ["A Inherited", "B Other"]
    );
    assert_eq!(read("static A: Reset<u8> = Reset::new();"), ["A Other"], "outside of the macro");
    assert_eq!(
        read("resets! { /// Doc.\n static A: Reset<u8> = Reset::new(); static B: u8 = 0; } static C: u8 = 0;"),
        ["A Reset", "B Other", "C Other"]
    );
    assert_eq!(read("static mut A: Inherited<u8> = 0; static mut B: u8 = 0;"), ["mut Other", "mut Other"]);
    assert_eq!(read("unsafe extern \"C\" { static a: u8; fn f(); } static B: u8 = 0;"), ["B Other"]);
    assert_eq!(read("macro_rules! m { () => { static $name: u8 = 0; }; }"), ["$ Other"]);
    assert_eq!(read("fn f(a: &'static str) -> &'static [u8] where T: 'static { g::<&'static mut u8>() }"), [""; 0]);
    assert_eq!(read("unsafe extern \"C\" fn f() { static A: u8 = 0; }"), ["A Other"]);
}

/// The crates that only one folder of gprof knows.
const KNOWN_IN: [(&str, &str); 6] = [
    ("object::", "program/image"),
    ("gimli::", "program/image"),
    ("addr2line::", "program/image"),
    ("rustc_demangle::", "program/image"),
    ("clap::", "cli"),
    ("clap_complete::", "cli"),
];

#[test]
fn only_one_folder_knows_object_files_and_only_one_the_command_line() {
    let source = root().join("gprof/src");
    for path in sources(&source) {
        let inside = path.strip_prefix(&source).unwrap();
        let code = code(&path);
        for (krate, folder) in KNOWN_IN {
            assert!(!code.contains(krate) || inside.starts_with(folder), "{}: {krate}", inside.display());
        }
    }
}

/// What code has that escapes a text itself: it replaces characters, or asks for the escapes of a character.
const ESCAPES: [&str; 10] = [
    ".replace('",
    ".replace(\"",
    ".replace([",
    "visible(",
    "visible_bytes(",
    ".escape_default()",
    ".escape_ascii()",
    ".escape_debug()",
    "&lt;",
    "&quot;",
];

/// The beginnings of the names of limits.
const LIMITS: [&str; 4] = ["const MOST", "const MAX", "const LIMIT", "const LONGEST"];

#[test]
fn no_export_and_no_report_escapes_texts_and_no_export_has_limits_of_its_own() {
    let source = root().join("gprof/src");
    // The cells of tables on terminals are the one format that no other output has.
    let is_table = |path: &Path| path.strip_prefix(&source).unwrap().starts_with("reports/table");
    let found = |folder: &str, words: &[&str]| -> Vec<String> {
        let files = sources(&source.join(folder)).into_iter().filter(|path| !is_table(path));
        let words = |path: PathBuf| {
            let code = code(&path);
            let found = words.iter().filter(|word| code.contains(**word)).map(|word| (*word).to_owned());
            found.map(|word| format!("{}: {word}", path.display())).collect::<Vec<_>>()
        };
        files.flat_map(words).collect()
    };
    for folder in ["exports", "reports"] {
        assert_eq!(found(folder, &ESCAPES), Vec::<String>::new(), "gprof/src/sink has the rules of each format");
    }
    assert_eq!(found("exports", &LIMITS), Vec::<String>::new(), "gprof/src/sink/limits.rs has the limits");
    // The words are those of real escapes and limits.
    let everything: String = sources(&source).iter().map(|path| code(path)).collect();
    for word in LIMITS {
        assert!(everything.contains(word), "{word}");
    }
    let of_sink = found("sink", &ESCAPES);
    for word in [".replace('", "visible(", ".escape_ascii()", "&lt;", "&quot;"] {
        assert!(of_sink.iter().any(|line| line.ends_with(word)), "{word}: {of_sink:?}");
    }
}
