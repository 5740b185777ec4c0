//! The side file of each profile names the profile's program, and nothing of an earlier run remains beside it.

use std::fs;
use std::process::Stdio;

use gmon::layout::mark;
use gmon::side_file::{Identity, PROGRAM, property};
use gmon_tests::side::Side;

use crate::live::wait_until_stopped;
use crate::objects_outside::shared_object;
use crate::support::{Program, quiet, tool};

/// The identity of the program in the side file of `gmon.out`: a build ID in hexadecimal, or a sum of headers.
fn identity(program: &Program) -> String {
    let side = program.side();
    assert_eq!(side.path(PROGRAM), program.executable);
    match side.program().unwrap().identity {
        Identity::Headers(sum) => format!("headers:{sum:016x}"),
        _ => side.build_id(PROGRAM),
    }
}

/// The names of the files that profiles leave.
fn files(program: &Program) -> Vec<String> {
    let names = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.starts_with("gmon"));
    names.sort_unstable();
    names
}

/// The headers in readelf's output, in the manner of docs/side-file.md.
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
    let sum = (0..).zip(bytes).map(|(at, byte)| mark(at, byte)).fold(0, u64::wrapping_add);
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

/// Leaves what earlier runtimes left beside `gmon.out`: profiles of objects with these numbers of twins, and a list.
fn leave_former_files(program: &Program, twins: &[u64]) {
    let mut list = "gmon objects 2\nprofile 0 0000000000000000\nprogram beef /program\n".to_owned();
    for twins in twins {
        let (bytes, suffix) = (format!("profile {twins}"), ["", ".2"][*twins as usize]);
        fs::write(program.directory.join(format!("gmon.out.plug.so{suffix}")), &bytes).unwrap();
        let sum = (0..).zip(bytes.bytes()).map(|(at, byte)| mark(at, byte)).fold(0, u64::wrapping_add);
        list += &format!("object 1 {twins} {} {sum:016x} beef /lib/plug.so\n", bytes.len());
    }
    fs::write(program.directory.join("gmon.out.objects"), list + "end\n").unwrap();
}

#[test]
fn files_of_earlier_runtimes_are_removed() {
    let program = Program::compile("stale-profiles", "host.c", &[]);
    let path = program.directory.join("gmon.out.plug.so");
    leave_former_files(&program, &[0, 1]);
    program.run(&[]);
    assert_eq!(files(&program), ["gmon.out", "gmon.out.side"]);
    // Files that are not the earlier run's stay: changed files, and files that cannot be distinguished from others.
    for changed in ["profile 0 and more", "profile 1"] {
        leave_former_files(&program, &[0]);
        fs::write(&path, changed).unwrap();
        program.run(&[]);
        assert_eq!(fs::read_to_string(&path).unwrap(), changed);
    }
    leave_former_files(&program, &[0]);
    fs::rename(&path, program.directory.join("kept")).unwrap();
    std::os::unix::fs::symlink("kept", &path).unwrap();
    program.run(&[]);
    assert!(fs::read(program.directory.join("kept")).is_ok() && path.is_symlink());
    fs::remove_file(&path).unwrap();
    // Another user's file with the name of a list stays.
    let list = program.directory.join("gmon.out.objects");
    for text in ["notes\n", "", "gmon objects", "object 1 0 9 1f beef /lib/plug.so\n"] {
        fs::write(&list, text).unwrap();
        program.run(&[]);
        assert_eq!(fs::read_to_string(&list).unwrap(), text);
    }
}

#[test]
fn a_run_without_objects_removes_an_earlier_side_file() {
    let program = Program::compile("stale-off", "host.c", &[]);
    let off = || quiet(&program.command(&[]).env("GMON_OBJECTS", "0").output().unwrap());
    program.run(&[]);
    assert_eq!(files(&program), ["gmon.out", "gmon.out.side"]);
    off();
    assert_eq!(files(&program), ["gmon.out"]);
    // Another user's file with that name stays.
    let side = program.directory.join("gmon.out.side");
    for text in [&b"notes\n"[..], b"", b"\x89gmon"] {
        fs::write(&side, text).unwrap();
        off();
        assert_eq!(fs::read(&side).unwrap(), text);
    }
}

#[test]
fn the_side_file_tells_of_the_run() {
    let program = Program::compile("identity-run", "host.c", &[]);
    let now = || std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    let before = now();
    let variables = [("GMON_HZ", "40"), ("GMON_CLOCK", "wall"), ("PMI_RANK", "17")];
    quiet(&program.command(&["libc", "0"]).envs(variables).output().unwrap());
    let side = program.side();
    let text = |key| String::from_utf8(side.property(key).unwrap_or(b"unknown").to_vec()).unwrap();
    assert_eq!([property::RATE, property::CLOCK, property::RANK].map(text), ["40", "wall", "17"]);
    assert_eq!(text(property::COMMAND), format!("{}\0libc\x000\0", program.executable.display()));
    assert_eq!(text(property::HOST), fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim());
    assert!((before..now()).contains(&text(property::START).parse().unwrap()));
    // A child begins later, in another process.
    quiet(&program.command(&[]).env("FORKS", "1").output().unwrap());
    let is_child = |name: &&String| name.starts_with("gmon.program.") && name.ends_with(".out");
    let names = files(&program);
    let child = Side::of(&program.directory.join(names.iter().find(is_child).unwrap()));
    let parent = program.side();
    let number = |side: &Side, key| str::from_utf8(side.property(key).unwrap()).unwrap().parse::<u128>().unwrap();
    assert!(number(&child, property::START) > number(&parent, property::START));
    assert_ne!(child.property(property::PID), parent.property(property::PID));
    assert_eq!((child.rate(), child.property(property::RANK)), (Some(100), None));
}

#[test]
fn live_profiles_and_children_name_their_program_from_the_start() {
    let program = Program::compile("identity-live", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    leave_former_files(&program, &[0]);
    let stay = format!("!{}", object.display());
    let mut command = program.command(&[&stay, "9", "300"]);
    let mut child = command.env("GMON_LIVE", "1").env("STOPS", "1").stdout(Stdio::null()).spawn().unwrap();
    wait_until_stopped(&mut child);
    let side = program.side();
    assert!(side.is_live() && side.profile().unwrap().length == 40);
    // The mappings translate addresses of the run.
    assert!(side.mappings().iter().any(|mapping| mapping.object == PROGRAM));
    assert!(side.mappings().iter().any(|mapping| mapping.object == side.number("libc.so.6")));
    let notes = tool("readelf", &["-n", program.executable.to_str().unwrap()]);
    assert!(notes.contains(&format!("Build ID: {}\n", identity(&program))), "{notes}");
    assert_eq!(files(&program), ["gmon.out", "gmon.out.side"], "files of the earlier run must be gone");
    child.kill().unwrap();
    child.wait().unwrap();
    // The child of a fork writes a side file of its own.
    quiet(&program.command(&[]).env("FORKS", "1").output().unwrap());
    let is_child = |name: &&String| name.starts_with("gmon.program.") && name.ends_with(".out");
    for name in files(&program).iter().filter(is_child) {
        assert_eq!(Side::of(&program.directory.join(name)).build_id(PROGRAM), identity(&program));
    }
}
