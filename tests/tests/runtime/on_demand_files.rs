//! Patterns that select functions by their source files.

use std::collections::BTreeMap;
use std::process::Command;

use crate::on_demand::ROOM;
use crate::support::{Program, calls, library, ours, quiet, root};

/// Compiles the program of several source files with room and with the start-up object as a further object.
fn compile(compiler: &str, name: &str, flags: &[&str]) -> Program {
    let [_, _, include] = ours();
    let object = library().join("gmon.o");
    let others = ["first", "second"].map(|place| root().join(format!("tests/programs/source_files/{place}/same.c")));
    let mut all = vec![ROOM, &include, object.to_str().unwrap()];
    all.extend(others.iter().map(|path| path.to_str().unwrap()));
    Program::compile_with(compiler, &format!("on-demand-files-{name}"), "source_files/main.c", &[&all, flags].concat())
}

/// The calls of each function that the program printed and `is_selected` selects by the function's file and name.
fn printed(output: &str, is_selected: impl Fn(&str, &str) -> bool) -> BTreeMap<String, u64> {
    let lines = output.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let selected = lines.filter(|words| is_selected(words[0], words[1]));
    selected.map(|words| (words[1].to_owned(), words[2].parse().unwrap())).collect()
}

/// The calls of each function in the profile. Optimizers of whole programs append suffixes to names.
fn counted(program: &Program) -> BTreeMap<String, u64> {
    let mut counted = BTreeMap::new();
    for (what, count) in calls(&program.profile(), program.symbols()) {
        if let Some(name) = what.strip_prefix("calls ") {
            *counted.entry(name.split('.').next().unwrap().to_owned()).or_default() += count;
        }
    }
    counted
}

/// Runs the program with a list, and compares. The program asks.
fn check(program: &Program, list: &str, is_selected: impl Fn(&str, &str) -> bool) {
    compare(program, program.command(&[list]), list, is_selected);
}

/// Runs a command that starts the program, and compares the calls that the program printed with the profile.
fn compare(program: &Program, mut command: Command, list: &str, is_selected: impl Fn(&str, &str) -> bool) {
    let output = quiet(&command.output().unwrap());
    let expected = printed(&output, is_selected);
    assert!(!expected.is_empty(), "{list}: {output}");
    assert_eq!(counted(program), expected, "{list}, {}", program.directory.display());
}

/// What a program without the functions that it should find says.
fn refusal(program: &Program, list: &str) -> String {
    let output = program.command(&[list]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{list}");
    String::from_utf8(output.stderr).unwrap()
}

/// A mutation that takes the file of the code behind the entry finds all functions in shared.h, and one that takes the
/// base name of a path for the whole path finds too many.
#[test]
fn exactly_the_functions_of_a_file_are_counted() {
    let kinds: [(&str, &[&str]); 13] = [
        ("cc", &["-O2", "-g"]),
        ("cc", &["-O0", "-gdwarf-2", "-gstrict-dwarf"]),
        ("cc", &["-O2", "-gdwarf-3"]),
        ("cc", &["-O2", "-gdwarf-4"]),
        ("cc", &["-O3", "-gdwarf-5", "-gdwarf64"]),
        ("cc", &["-Os", "-gdwarf-5", "-fcf-protection=full"]),
        ("cc", &["-O2", "-g", "-static"]),
        ("cc", &["-O2", "-g", "-static-pie"]),
        ("cc", &["-O2", "-g", "-no-pie", "-fno-pie", "-ffunction-sections", "-Wl,--gc-sections"]),
        ("cc", &["-O2", "-g1", "-flto"]),
        ("clang", &["-O2", "-gdwarf-4"]),
        ("clang", &["-O2", "-gdwarf-5"]),
        ("clang", &["-O0", "-gline-tables-only", "-fcf-protection=full"]),
    ];
    for (number, (compiler, flags)) in kinds.into_iter().enumerate() {
        let program = compile(compiler, &number.to_string(), flags);
        let mut from_the_start = program.command(&[]);
        from_the_start.env("GMON_CALLS", "main.c:*");
        compare(&program, from_the_start, "from the start", |file, _| file == "main.c");
        check(&program, "same.c:*", |file, _| file.ends_with("same.c"));
        check(&program, "second/same.c:*", |file, _| file == "second/same.c");
        check(&program, "*.c:*,!same.c:log_*", |file, name| {
            file.ends_with(".c") && !(file.ends_with("same.c") && name.starts_with("log_"))
        });
        check(&program, "source_files/shared.h:*", |file, _| file == "shared.h");
        check(&program, "!shared.h:*,!main.c:*", |file, _| file.ends_with("same.c"));
        check(&program, "main.c:run,source_files/*/same.c:*_global", |file, name| {
            name == "run" || file.ends_with("same.c") && name.ends_with("_global")
        });
    }
}

#[test]
fn names_of_cpp_may_follow_a_file() {
    let object = library().join("gmon.o");
    let flags = ["-O1", "-g", ROOM, object.to_str().unwrap()];
    let program = Program::compile_with("c++", "on-demand-files-cpp", "source_files/parser.cc", &flags);
    for (list, expected) in [
        ("Parser::*", &["_ZN6Parser4skipEv", "_ZN6Parser5parseEi"][..]),
        ("parser.cc:Parser::*", &["_ZN6Parser4skipEv", "_ZN6Parser5parseEi"]),
        ("parser.cc:*,!parser.cc:Parser::parse", &["_Z7releasei", "_ZN6Parser4skipEv"]),
        ("other.cc:Parser::*,release", &["_Z7releasei"]),
    ] {
        let output = quiet(&program.command(&[]).env("GMON_CALLS", list).output().unwrap());
        let of_line = |line: &str| {
            let (name, count) = line.split_once(' ').unwrap();
            (name.to_owned(), count.parse::<u64>().unwrap())
        };
        let all: BTreeMap<_, _> = output.lines().map(of_line).collect();
        let expected: BTreeMap<_, _> = expected.iter().map(|name| ((*name).to_owned(), all[*name])).collect();
        let found = counted(&program);
        assert_eq!(found, expected, "{list}");
    }
}

/// The symbol table names the files of local functions: those of the compilation, also for functions of headers.
#[test]
fn without_lines_the_symbols_tell_the_files_of_static_functions() {
    for compiler in ["cc", "clang"] {
        let program = compile(compiler, &format!("plain-{compiler}"), &["-O2"]);
        check(&program, "main.c:log_*", |_, name| name == "log_main");
        check(&program, "same.c:log_*", |_, name| ["log_first", "log_second"].contains(&name));
        let said = refusal(&program, "same.c:second_global");
        assert_eq!(
            said,
            "gmon: cannot count calls: no function with room at its entry matches same.c:second_global: there is no \
             line information: compile with -g\n"
        );
        // Without a file in the list, the reason would mislead.
        let said = refusal(&program, "nothing");
        assert_eq!(said, "gmon: cannot count calls: no function with room at its entry matches nothing\n");
    }
}

#[test]
fn what_cannot_be_found_or_read_is_said() {
    let program = compile("cc", "read", &["-O2", "-g"]);
    let said = refusal(&program, "other.c:*");
    assert_eq!(said, "gmon: cannot count calls: no function with room at its entry matches other.c:*\n");
    assert_eq!(refusal(&program, "main.c:first_*"), said.replace("other.c:*", "main.c:first_*"));
    for kind in ["zlib", "zlib-gabi"] {
        let option = format!("-gz={kind}");
        let program = Program::build(&["cc"], "on-demand-files-probe", "source_files/parser.cc", &[&option, "-g"]);
        if program.is_err() {
            continue;
        }
        let program = compile("cc", "compressed", &["-O2", "-g", &option]);
        let said = refusal(&program, "main.c:run");
        assert_eq!(
            said,
            "gmon: cannot count calls: no function with room at its entry matches main.c:run: the line information is \
             compressed: link with -Wl,--compress-debug-sections=none\n"
        );
        // Functions that are found are counted, and a line says that others may be missing.
        let output = program.command(&["main.c:*,second_global"]).output().unwrap();
        assert!(output.status.success());
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "gmon: not all calls are counted: the line information is compressed: link with \
             -Wl,--compress-debug-sections=none\n"
        );
        assert_eq!(counted(&program).get("second_global"), Some(&3));
    }
}

/// A mutation that trusts a length in the section crashes the program or prints something.
#[test]
fn torn_line_information_ends_quietly() {
    let program = compile("cc", "torn", &["-O2", "-g"]);
    let bytes = std::fs::read(&program.executable).unwrap();
    let headers =
        String::from_utf8(Command::new("readelf").args(["-SW"]).arg(&program.executable).output().unwrap().stdout)
            .unwrap();
    let line = headers.lines().find(|line| line.contains(" .debug_line ")).unwrap();
    let fields: Vec<_> = line.split(" .debug_line ").nth(1).unwrap().split_whitespace().collect();
    let [offset, size] = [fields[2], fields[3]].map(|field| usize::from_str_radix(field, 16).unwrap());
    for (number, change) in [(0, 0xff), (4, 0xff), (8, 0xff), (size / 3, 0), (size - 4, 0x80)] {
        let mut changed = bytes.clone();
        changed[offset + number..][..4].fill(change);
        std::fs::remove_file(&program.executable).unwrap();
        std::fs::write(&program.executable, &changed).unwrap();
        std::fs::set_permissions(&program.executable, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let output = quiet(&program.command(&["!main.c:log_*"]).output().unwrap());
        // Functions whose file is not known are selected too.
        let all = printed(&output, |_, name| name != "log_main");
        let found = counted(&program);
        assert!(all.iter().all(|(name, count)| found.get(name) == Some(count)), "{number}: {found:?}");
    }
}
