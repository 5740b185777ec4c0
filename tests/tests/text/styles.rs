//! Names in every style of `--demangle`, compared with the system's `c++filt` and `gprof`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gmon_demangle::{Options, Style, demangle_with};
use gmon_tests::random::Random;
use gmon_tests::{compare, compile, directory, gprof, run};

const STYLES: [(&str, Style); 4] =
    [("java", Style::Java), ("gnat", Style::Gnat), ("gnu-v3", Style::Cpp), ("rust", Style::Rust)];

/// The system tool's output for names, abbreviated as in reports; empty if there is no tool.
fn filtered(style: &str, names: &str) -> Option<String> {
    let filter = Command::new("c++filt").args(["-i", "-s", style]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut filter) = filter else {
        eprintln!("SKIPPED: names of {style}: c++filt is not installed");
        return None;
    };
    let mut input = filter.stdin.take().unwrap();
    let names = names.to_owned();
    let writer = std::thread::spawn(move || input.write_all(names.as_bytes()));
    let output = filter.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

fn compare_names(style: (&str, Style), names: &BTreeSet<String>) {
    let list: String = names.iter().map(|name| format!("{name}\n")).collect();
    let Some(theirs) = filtered(style.0, &list) else {
        return;
    };
    assert_eq!(theirs.lines().count(), names.len());
    let ours = |name: &String| {
        String::from_utf8(
            demangle_with(name.as_bytes(), &Options { style: style.1, ..Options::default() }).into_owned(),
        )
        .unwrap()
    };
    let different: Vec<_> =
        names.iter().zip(theirs.lines()).filter(|(name, theirs)| ours(name) != *theirs).take(5).collect();
    assert!(different.is_empty(), "{}: {different:#?}, ours {}", style.0, ours(different[0].0));
}

/// The names of all functions of the C++ library, in the form in which programs with templates contain them.
fn names_of_cpp() -> BTreeSet<String> {
    let found = Command::new("c++").arg("-print-file-name=libstdc++.so").output().unwrap().stdout;
    let library = fs::canonicalize(String::from_utf8(found).unwrap().trim()).unwrap();
    let table = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().unwrap().stdout;
    let name = |line: &str| Some(line.split_whitespace().nth(2)?.split('@').next()?.to_owned());
    String::from_utf8(table).unwrap().lines().filter_map(name).filter(|name| name.starts_with("_Z")).collect()
}

#[test]
fn names_of_the_library_of_cpp() {
    let names = names_of_cpp();
    assert!(names.len() > 1000, "{}", names.len());
    for style in STYLES {
        compare_names(style, &names);
    }
}

/// Fragments of Ada names; most combinations are not valid names.
#[test]
fn names_of_ada() {
    const PARTS: [&str; 44] = [
        "a",
        "pack",
        "text_io",
        "__",
        "__",
        "__",
        "___",
        "_",
        "2",
        "17",
        "3_4",
        "Oadd",
        "Oeq",
        "Oexpon",
        "Onot",
        "O",
        "TK",
        "TKB",
        "TK__",
        "E",
        "P",
        "N",
        "S",
        "X",
        "Xn",
        "Xbn",
        "SR",
        "SW",
        "SI",
        "SO",
        "SQ",
        "DF",
        "DA",
        "DX",
        "_elabb",
        "_elabs",
        "_size",
        "_assign",
        "_alignment",
        "_B1s",
        "_E12s",
        ".5",
        "_ada_",
        "Z",
    ];
    let mut random = Random::new(11);
    let mut names = BTreeSet::new();
    while names.len() < 20_000 {
        let parts = 1 + random.below(6);
        let name: String = (0..parts).map(|_| *random.pick(&PARTS)).collect();
        // The system adds the leading dots.
        if !name.starts_with('.') {
            names.insert(name);
        }
    }
    compare_names(("gnat", Style::Gnat), &names);
}

/// Names that GNU 2.40 leaves mangled are readable, except with `--compat=gnu`.
#[test]
fn reports_of_names_of_newer_compilers() {
    const NAMES: [(&str, &str); 3] = [
        ("_Z3fooITkSt8integraliET_S0_", "int foo<int>(int)"),
        ("_ZN1n2f4IiEET_S1_Qsr3stdE8integralIS1_E", "int n::f4<int>(int) requires std::integral<int>"),
        ("_Z1fDSDAs", "f(_Sat short _Accum)"),
    ];
    let source = directory("styles_newer").join("newer.c");
    let functions: String = NAMES.iter().map(|(name, _)| format!("void {name}(void) {{ sink++; }}\n")).collect();
    let calls: String = NAMES.iter().map(|(name, _)| format!("{name}();")).collect();
    fs::write(&source, format!("volatile int sink;\n{functions}int main(void) {{ {calls} return 0; }}\n")).unwrap();
    let image = source.with_file_name("a.out");
    let status = Command::new("cc").args(["-pg", "-o"]).args([&image, &source]).status().unwrap();
    assert!(status.success());
    let profile = run(&image);
    let report = |options: &[&str]| {
        let output = Command::new(gprof()).args(options).args([&image, &profile]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let (own, gnu) = (report(&["-b", "-p"]), report(&["--compat=gnu", "-b", "-p"]));
    for (name, readable) in NAMES {
        assert!(own.contains(readable) && !own.contains(name), "{name}: {own}");
        assert!(gnu.contains(name) && !gnu.contains(readable), "{name}: {gnu}");
    }
    // Newer versions of GNU gprof can read some of these names.
    let version = Command::new("gprof").arg("--version").output();
    if version.is_ok_and(|output| output.stdout.windows(5).any(|word| word == b" 2.40")) {
        compare(&image, &[&profile], &["-b"]);
    }
}

#[test]
fn reports_in_every_style() {
    let image: PathBuf = compile("styles_cpp", &["classes.cc"], &["-g"]);
    let profile = run(&image);
    // The mangled name of a Rust function is also a valid C++ name.
    let source = directory("styles_mixed").join("mixed.c");
    let names = ["_ZN4core3fmt5write17h0123456789abcdefE", "_RNvC7mycrate3foo", "pack__put__2", "_Dmain"];
    let functions: String = names.iter().map(|name| format!("void {name}(void) {{ sink++; }}\n")).collect();
    let calls: String = names.iter().map(|name| format!("{name}();")).collect();
    fs::write(&source, format!("volatile int sink;\n{functions}int main(void) {{ {calls} return 0; }}\n")).unwrap();
    let mixed = source.with_file_name("a.out");
    let status = Command::new("cc").args(["-pg", "-g", "-o"]).args([&mixed, &source]).status().unwrap();
    assert!(status.success());
    let mixed_profile = run(&mixed);
    for style in ["auto", "gnu-v3", "java", "gnat", "rust", "none", "dlang"] {
        let style = format!("--demangle={style}");
        for (image, profile) in [(&image, &profile), (&mixed, &mixed_profile)] {
            let profile: &Path = profile;
            for options in [["-b", "-p", "-z"].as_slice(), &["-b", "-q"], &["-b", "-l", "-q"]] {
                compare(image, &[profile], &[options, &[&style]].concat());
            }
        }
    }
}
