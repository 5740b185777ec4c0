//! The runtime opened the directory at the start, so later changes of the program do not matter.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::{Program, calls, compare, directory, is_root, quiet, read, tool};

/// Only the file itself; `privileges` tests the files beside it.
fn written(name: &str, what: &[&str]) -> Program {
    let program = Program::compile(&format!("places-{name}"), "places.c", &[]);
    let output = program.command(what).env("GMON_OBJECTS", "0").output().unwrap();
    let printed = quiet(&output);
    compare(&printed, &program.profile(), program.symbols());
    program
}

#[test]
fn its_directory() {
    written("chdir", &["chdir", "/proc"]);
}

#[test]
fn its_root_and_its_user() {
    if !is_root("chroot and setuid") {
        return;
    }
    let cage = directory("places-cage");
    written("chroot", &["chroot", cage.to_str().unwrap()]);
    let program = written("setuid", &["setuid"]);
    // Where the new user can do nothing.
    fs::set_permissions(&program.directory, fs::Permissions::from_mode(0o700)).unwrap();
    fs::remove_file(program.directory.join("gmon.out")).unwrap();
    let printed = quiet(&program.command(&["setuid"]).env("GMON_OBJECTS", "0").output().unwrap());
    compare(&printed, &program.profile(), program.symbols());
}

#[test]
fn its_descriptors() {
    written("close", &["close", "/proc"]);
    let program = written("reuse", &["reuse"]);
    assert_eq!(fs::read(program.directory.join("other")).unwrap(), b"precious");
}

#[test]
fn the_file_itself() {
    written("removed", &["removed"]);
}

#[test]
fn its_terminal_and_its_parent() {
    let program = Program::compile("places-daemon", "places.c", &[]);
    let output = program.command(&["daemon"]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    // The daemon runs by itself and leaves a file of its own in the directory in which the program started.
    let file = || {
        let names = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().path());
        let mut files =
            names.filter(|path| path.to_str().unwrap().contains("gmon.program.") && path.extension().unwrap() == "out");
        files.find(|path| fs::metadata(path).unwrap().len() > 0)
    };
    let mut waited = 0;
    while file().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(10));
        waited += 1;
        assert!(waited < 6000, "the daemon left no file");
    }
    // The daemon has written all of the file once the daemon is gone.
    let path = file().unwrap();
    let daemon = path.to_str().unwrap().rsplit('.').nth(1).unwrap();
    let is_there = || match fs::read_to_string(format!("/proc/{daemon}/stat")) {
        Ok(status) => !status.rsplit_once(") ").unwrap().1.starts_with('Z'),
        Err(_) => false,
    };
    while is_there() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let counted = |profile| calls(&profile, program.symbols()).get("calls counted").copied();
    assert_eq!(counted(read(&path)), Some(1), "calls of the daemon");
    assert_eq!(counted(program.profile()), Some(4), "calls before the daemon");
}

#[test]
fn a_second_start_or_end_does_no_harm() {
    let program = Program::compile("places-again", "places.c", &[]);
    program.run(&["again"]);
    assert_eq!(calls(&program.profile(), program.symbols())["calls counted"], 5);
}

#[test]
fn a_set_user_id_program_writes_nothing() {
    if !is_root("set-user-id programs") {
        return;
    }
    let program = Program::compile("places-secure", "places.c", &[]);
    fs::set_permissions(&program.executable, fs::Permissions::from_mode(0o4755)).unwrap();
    let open = directory("places-secure-open");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    // The build directory may be closed to other users, so the program moves to a place that they can reach.
    let copy = std::env::temp_dir().join(format!("gmon-secure-{}", std::process::id()));
    fs::copy(&program.executable, &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755)).unwrap();
    let place = std::env::temp_dir().join(format!("gmon-secure-{}.d", std::process::id()));
    fs::create_dir_all(&place).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&copy).current_dir(&place);
    let output = command.env("PROFDIR", &place).env("GMON_OUT_PREFIX", place.join("x")).output();
    let left = fs::read_dir(&place).unwrap().count();
    fs::remove_dir_all(&place).unwrap();
    fs::remove_file(&copy).unwrap();
    match output {
        Ok(output) => {
            assert_eq!(quiet(&output), "calls counted 5\n");
            assert_eq!(left, 0, "the program must not write a file with its owner's rights");
        }
        Err(error) => println!("\nSKIPPED: set-user-id programs: no setpriv here ({error})"),
    }
}

#[test]
fn memory_that_cannot_be_had() {
    let [ours, plain] = [
        Program::compile("places-memory", "extremes.c", &["-O1", "-static"]),
        Program::compile_with("cc", "places-memory-plain", "extremes.c", &["-O1", "-static"]),
    ];
    let limited = |program: &Program, kilobytes: u32| {
        let script = format!("ulimit -v {kilobytes}; exec {} arcs", program.executable.display());
        Command::new("sh").args(["-c", &script]).current_dir(&program.directory).output().unwrap()
    };
    // A program with the runtime has more code and variables, by this number of kilobytes.
    let [ours_has, plain_has] = [&ours, &plain].map(|program| {
        let sizes = tool("size", &[program.executable.to_str().unwrap()]);
        sizes.lines().nth(1).unwrap().split_whitespace().nth(3).unwrap().parse::<u32>().unwrap()
    });
    let more = (ours_has - plain_has).div_ceil(1024);
    let (mut least, mut ran, mut short) = (None, 0, 0);
    for kilobytes in (1000..4000).step_by(100).chain((4000..200_000).step_by(12_000)) {
        let expected = limited(&plain, kilobytes);
        if !expected.status.success() {
            continue; // it cannot even start
        }
        let least = *least.get_or_insert(kilobytes);
        let found = limited(&ours, kilobytes);
        let said = String::from_utf8(found.stderr).unwrap();
        // The kernel or the C library refuses to start a program that has no room for its code and variables. The
        // runtime itself needs no more memory. The limits are 100 KB apart.
        let is_refused = ["cannot set", "shared", "Fatal glibc error"].iter().any(|words| said.contains(words));
        if found.status.code().is_none() || is_refused {
            assert!(kilobytes < least + more + 100, "{kilobytes}, not {least} + {more}: {:?} {said}", found.status);
            continue;
        }
        assert!(found.status.success() && found.stdout == expected.stdout, "{kilobytes}: {said}");
        assert!(said.lines().all(|line| line.starts_with("gmon: ")) && said.lines().count() <= 2, "{said}");
        ran += 1;
        short += u32::from(said.contains("cannot allocate memory"));
    }
    assert!(ran > 10 && short > 5, "{ran} ran, {short} of them with too little memory");
}
