//! The direction of dependencies: between the crates, and between the modules of each.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

#[path = "structure/modules.rs"]
mod modules;
#[path = "structure/tokens.rs"]
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use modules::{Modules, Name};

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
            "os",
            "message",
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
    ("runtime/profil", &["rules", "profile", "engine", "bsd", "openbsd", "illumos", "aix", "attach"]),
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

/// Modules that use each other for now, as (crate, user, used): without these uses there is no circle. One that is none any more
/// must be taken off the list.
const KNOWN_CIRCLES: &[(&str, &str, &str)] = &[
    ("runtime", "kernel::system::sampler::due", "kernel::system::sampler"),
    ("runtime", "kernel::system::sampler::process", "kernel::system::sampler"),
    ("runtime", "kernel::system::sampler::ring", "kernel::system::sampler"),
    ("gprof", "analysis::counts", "analysis"),
    ("gprof", "analysis::index", "analysis"),
    ("gprof", "analysis::rows", "analysis"),
    ("gprof", "analysis::limit", "analysis::rows"),
    ("gprof", "file_map::assign", "file_map"),
    ("gprof", "file_map::gnu", "file_map"),
    ("gprof", "file_map::lines", "file_map"),
    ("gprof", "functions::joined", "functions"),
    ("gprof", "image::elf", "image"),
    ("gprof", "image::foreign", "image"),
    ("gprof", "image::listing", "image"),
    ("gprof", "image::made", "image"),
    ("gprof", "image::symbols", "image"),
    ("gprof", "image::elf", "image::lines"),
    ("gprof", "image::elf", "image::listing"),
    ("gprof", "image::elf", "image::identity"),
    ("gprof", "image::elf", "image::separate"),
    ("gprof", "image::frames", "image::lines"),
    ("gprof", "image::demangle::cpp::parser", "image::demangle::cpp"),
    ("gprof", "image::demangle::cpp::printer", "image::demangle::cpp"),
    ("gprof", "image::demangle::cpp::scopes", "image::demangle::cpp"),
    ("gprof", "image::demangle::cpp::tree", "image::demangle::cpp"),
    ("gprof", "image::demangle::cpp::scopes", "image::demangle::cpp::printer"),
    ("gprof", "report::bsd::flat", "report::bsd"),
    ("gprof", "report::bsd::graph", "report::bsd"),
    ("gprof", "report::bsd::index", "report::bsd"),
    ("gprof", "report::table::flat", "report::table"),
    ("gprof", "report::table::graph", "report::table"),
    ("gprof", "report::table::index", "report::table"),
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

/// Which modules of a crate use which.
fn uses(name: &str) -> BTreeMap<Name, BTreeSet<Name>> {
    Modules::read(&root().join(name).join("src/lib.rs"), &|path| fs::read_to_string(path).ok()).uses()
}

/// What a module can reach.
fn reached<'a>(uses: &'a BTreeMap<Name, BTreeSet<Name>>, from: &'a Name) -> BTreeSet<&'a Name> {
    let (mut found, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(used) = left.pop().and_then(|module| uses.get(module)) {
        left.extend(used.iter().filter(|module| found.insert(*module)));
    }
    found
}

/// The modules of each circle.
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
fn a_module_uses_only_what_stands_below_it() {
    for (name, order) in ORDER {
        let uses = uses(name);
        let declared: BTreeSet<_> =
            uses.keys().filter(|module| module.len() == 1).map(|module| module[0].as_str()).collect();
        assert_eq!(declared, order.iter().copied().collect(), "{name}: the modules of lib.rs and of this test");
        let rank = |module: &Name| order.iter().position(|known| Some(*known) == module.first().map(String::as_str));
        for (module, used) in &uses {
            for used in used.iter().filter(|_| !module.is_empty()) {
                assert!(
                    rank(used) <= rank(module),
                    "{name}: {} uses {}, which stands above it",
                    spelled(module),
                    spelled(used)
                );
            }
        }
    }
}

#[test]
fn no_two_modules_use_each_other_even_by_way_of_others() {
    for name in crates() {
        let mut uses = uses(&name);
        assert!(uses.len() > 1, "{name} has modules");
        for (_, user, used) in KNOWN_CIRCLES.iter().filter(|(known, ..)| *known == name) {
            let [user, used] = [user, used].map(|module| module.split("::").map(str::to_owned).collect::<Name>());
            let is_circle =
                uses.get(&user).is_some_and(|modules| modules.contains(&used)) && reached(&uses, &used).contains(&user);
            assert!(
                is_circle,
                "{name}: {} and {} are no circle any more: take them off the list",
                spelled(&user),
                spelled(&used)
            );
        }
        for (_, user, used) in KNOWN_CIRCLES.iter().filter(|(known, ..)| *known == name) {
            let user: Name = user.split("::").map(str::to_owned).collect();
            uses.get_mut(&user).unwrap().retain(|module| spelled(module) != *used);
        }
        let circles = circles(&uses);
        let is_inside = |circle: &&Vec<String>, module: &Name| circle.contains(&spelled(module));
        let inside = uses
            .iter()
            .flat_map(|(user, used)| used.iter().map(move |used| (user, used)))
            .filter(|(user, used)| circles.iter().any(|circle| is_inside(&circle, user) && is_inside(&circle, used)));
        let inside: Vec<_> = inside.map(|(user, used)| format!("{} uses {}", spelled(user), spelled(used))).collect();
        assert!(circles.is_empty(), "{name}: modules use each other, in a circle at least: {inside:#?}");
    }
}

#[test]
fn a_use_is_seen_however_it_is_written() {
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
    assert_eq!(of_a("use super::b::{own, one};"), "b b::inner", "what is handed on is of whoever has it");
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

/// The workspace's own crates among the dependencies of one, tests' aside.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or("").split("\n[").next().unwrap();
    let keys = section.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    keys.filter(|key| ["gmon", "gmon-runtime", "gmon-profil", "gprof", "gmon-tests"].contains(key))
        .map(str::to_owned)
        .collect()
}

#[test]
fn crates_depend_one_way() {
    assert_eq!(dependencies("format"), BTreeSet::new());
    assert_eq!(dependencies("runtime"), BTreeSet::from(["gmon".to_owned()]));
    assert_eq!(dependencies("runtime/profil"), BTreeSet::from(["gmon".to_owned(), "gmon-runtime".to_owned()]));
    assert_eq!(dependencies("gprof"), BTreeSet::from(["gmon".to_owned()]));
}

#[test]
fn the_runtime_uses_only_the_layout_and_nothing_else_at_all() {
    for (name, allowed) in [
        ("runtime", "gmon.workspace = true"),
        ("runtime/profil", "gmon.workspace = true\ngmon-runtime.workspace = true"),
    ] {
        let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        let section = manifest.split("\n[dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap();
        assert_eq!(section.trim(), allowed, "{name}: no other dependency, and no feature of these");
        for path in sources(&root().join(name).join("src")) {
            let code = code(&path);
            for rest in code.split("gmon::").skip(1) {
                assert!(rest.starts_with("layout"), "{}: gmon::{}", path.display(), rest.lines().next().unwrap());
            }
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
