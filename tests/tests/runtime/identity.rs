//! The list beside each profile names the profile's program and nothing of an earlier run.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::live::wait_until_stopped;
use crate::objects_outside::shared_object;
use crate::support::{Program, quiet, tool};

/// The lines of the list beside a profile of that name.
fn list(program: &Program, profile: &str) -> Vec<String> {
    let text = fs::read_to_string(program.directory.join(format!("{profile}.objects"))).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The identity of the program in the list beside `gmon.out`.
fn identity(program: &Program) -> String {
    let lines = list(program, "gmon.out");
    assert_eq!((lines[0].as_str(), lines.last().unwrap().as_str()), ("gmon objects 2", "end"));
    let named = lines[2].strip_prefix("program ").unwrap().split_once(' ').unwrap();
    assert_eq!(Path::new(named.1), program.executable);
    named.0.to_owned()
}

/// The names of the files that profiles leave.
fn files(program: &Program) -> Vec<String> {
    let names = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.starts_with("gmon"));
    names.sort_unstable();
    names
}

/// The headers in readelf's output, in the manner of docs/format.md.
fn sum_of_headers(program: &Program) -> String {
    let path = program.executable.to_str().unwrap();
    let hexadecimal = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap();
    let header = tool("readelf", &["-hW", path]);
    let entry = header.lines().find_map(|line| line.trim().strip_prefix("Entry point address:")).unwrap();
    let mut numbers = vec![hexadecimal(entry.trim())];
    for line in tool("readelf", &["-lW", path]).lines().filter(|line| line.trim().starts_with("LOAD")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        numbers.extend([2, 4, 5].map(|at| hexadecimal(words[at])));
    }
    let bytes = numbers.into_iter().flat_map(u64::to_le_bytes);
    let sum = (0..).zip(bytes).map(|(at, byte)| gmon::layout::mark(at, byte)).fold(0, u64::wrapping_add);
    format!("headers:{sum:016x}")
}

#[test]
fn the_identity_is_the_build_id_or_a_sum_of_headers() {
    for (mode, flags) in [("pie", &[][..]), ("no-pie", &["-no-pie"]), ("static", &["-static"])] {
        let program = Program::compile(&format!("identity-{mode}"), "control.c", flags);
        program.run(&[]);
        let notes = tool("readelf", &["-n", program.executable.to_str().unwrap()]);
        assert!(notes.contains(&format!("Build ID: {}\n", identity(&program))), "{notes}");
        let without = [flags, &["-Wl,--build-id=none"]].concat();
        let program = Program::compile(&format!("identity-none-{mode}"), "control.c", &without);
        program.run(&[]);
        assert_eq!(identity(&program), sum_of_headers(&program));
        tool("strip", &[program.executable.to_str().unwrap()]);
        program.run(&[]);
        assert_eq!(identity(&program), sum_of_headers(&program));
    }
}

#[test]
fn files_of_an_earlier_run_are_removed() {
    let program = Program::compile("stale-profiles", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    let word = object.to_str().unwrap();
    let used = || {
        program.run(&[word, "9", "300"]);
        assert!(files(&program).contains(&"gmon.out.plug.so".to_owned()));
    };
    let plain = || {
        program.run(&[]);
        assert!(!files(&program).contains(&"gmon.out.plug.so".to_owned()), "{:?}", files(&program));
        assert!(!list(&program, "gmon.out").iter().any(|line| line.contains("plug")));
    };
    used();
    plain();
    // Files that are not the earlier run's stay: changed files, and files that cannot be distinguished from others.
    for (name, change) in [("longer", &b"more"[..]), ("same length", &b""[..])] {
        used();
        let path = program.directory.join("gmon.out.plug.so");
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend(change);
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        program.run(&[]);
        assert_eq!(fs::read(&path).unwrap(), bytes, "{name}");
        fs::remove_file(&path).unwrap();
    }
    used();
    let path = program.directory.join("gmon.out.plug.so");
    fs::rename(&path, program.directory.join("kept")).unwrap();
    std::os::unix::fs::symlink("kept", &path).unwrap();
    program.run(&[]);
    assert!(fs::read(program.directory.join("kept")).is_ok() && path.is_symlink());
    fs::remove_file(&path).unwrap();
    // Two objects with the same name.
    let other = program.directory.join("deeper");
    fs::create_dir(&other).unwrap();
    let other = other.join("plug.so");
    shared_object(&other);
    program.run(&[word, "9", "300", other.to_str().unwrap(), "9", "300"]);
    assert!(files(&program).contains(&"gmon.out.plug.so.2".to_owned()));
    plain();
    assert!(!files(&program).contains(&"gmon.out.plug.so.2".to_owned()));
}

#[test]
fn a_run_without_objects_removes_an_earlier_list() {
    let program = Program::compile("stale-off", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    let off = || quiet(&program.command(&[]).env("GMON_OBJECTS", "0").output().unwrap());
    program.run(&[object.to_str().unwrap(), "9", "300"]);
    assert!(files(&program).len() > 2);
    off();
    assert_eq!(files(&program), ["gmon.out"]);
    // Another user's file with that name stays.
    let list = program.directory.join("gmon.out.objects");
    for text in ["notes\n", "", "gmon objects", "object 1 0 9 1f beef /lib/plug.so\n"] {
        fs::write(&list, text).unwrap();
        off();
        assert_eq!(fs::read_to_string(&list).unwrap(), text);
    }
}

#[test]
fn live_profiles_and_children_name_their_program_from_the_start() {
    let program = Program::compile("identity-live", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    program.run(&[object.to_str().unwrap(), "9", "300"]);
    let stay = format!("!{}", object.display());
    let mut command = program.command(&[&stay, "9", "300"]);
    let mut child = command.env("GMON_LIVE", "1").env("STOPS", "1").stdout(Stdio::null()).spawn().unwrap();
    wait_until_stopped(&mut child);
    let lines = list(&program, "gmon.out");
    let header = &fs::read(program.directory.join("gmon.out")).unwrap()[..40];
    let mark = (0..).zip(header).map(|(at, byte)| gmon::layout::mark(at, *byte)).fold(0, u64::wrapping_add);
    assert_eq!(lines[1], format!("live 40 {mark:016x}"));
    let notes = tool("readelf", &["-n", program.executable.to_str().unwrap()]);
    assert!(notes.contains(&format!("Build ID: {}\n", identity(&program))), "{notes}");
    assert_eq!(files(&program), ["gmon.out", "gmon.out.objects"], "files of the earlier run must be gone");
    child.kill().unwrap();
    child.wait().unwrap();
    // The child of a fork writes a list of its own.
    quiet(&program.command(&[]).env("FORKS", "1").output().unwrap());
    let is_child = |name: &&String| name.starts_with("gmon.program.") && name.ends_with(".out");
    let names = files(&program);
    for name in names.iter().filter(is_child) {
        assert!(list(&program, name)[2].contains(&identity(&program)));
    }
}
