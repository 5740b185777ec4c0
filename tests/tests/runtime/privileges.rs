//! A program that gives up its rights, or the means to open files, loses nothing that was available before. One line
//! reports what is not available, and a remedy.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use gmon_tests::side::Side;

use crate::support::{Program, Symbols, calls, directory, is_root, read, tool};

struct Case {
    program: Program,
    object: PathBuf,
}

/// A program with a shared object, both profiled, in a directory that only its owner may write to.
fn compile(name: &str) -> Case {
    let place = directory(&format!("privileges-{name}-object"));
    let object = place.join("libplug.so");
    let source = crate::support::root().join("tests/programs/plug.c");
    tool("cc", &["-shared", "-fPIC", "-pg", "-o", object.to_str().unwrap(), source.to_str().unwrap()]);
    let flags = [object.to_str().unwrap(), &format!("-Wl,-rpath,{}", place.display())];
    let program = Program::compile(&format!("privileges-{name}"), "privileges.c", &flags);
    Case { program, object }
}

impl Case {
    fn run(&self, words: &[&str]) -> Output {
        let output = self.program.command(words).output().unwrap();
        assert_eq!(output.status.code(), Some(7), "{words:?}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{words:?}");
        output
    }

    /// Removes all files of an earlier run.
    fn clean(&self) {
        for (path, _) in files(&self.program.directory) {
            fs::remove_file(path).unwrap();
        }
    }

    /// How often a profile's program function was called, and the object's function, if there is a side file.
    fn counts(&self, profile: &Path) -> (u64, Option<u64>) {
        let own = calls(&read(profile), self.program.symbols())["calls counted"];
        let stride =
            || calls(&Side::of(profile).profile_of_object("libplug.so"), &Symbols::of(&self.object))["calls stride"];
        let strides = Path::new(&format!("{}.side", profile.display())).exists().then(stride);
        (own, strides)
    }
}

/// The files in a directory, by name, sorted.
fn files(directory: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let named = entries.map(|entry| (entry.path(), entry.file_name().into_string().unwrap()));
    let mut files: Vec<_> = named.filter(|(_, name)| name.starts_with("gmon.")).collect();
    files.sort();
    files
}

fn said(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn loaded_objects_are_found_after_giving_up_rights() {
    if !is_root("giving up rights") {
        return;
    }
    let case = compile("seen");
    for words in
        [&["nodump"][..], &["chroot"], &["noproc"], &["close"], &["userns"], &["fewfiles"], &["chdir", "nodump"]]
    {
        case.clean();
        assert_eq!(said(&case.run(words)), "", "{words:?}");
        assert_eq!(case.counts(&case.program.directory.join("gmon.out")), (2, Some(7)), "{words:?}");
    }
    // The same holds for a fork child.
    case.clean();
    assert_eq!(said(&case.run(&["fork", "chroot"])), "");
    let names = files(&case.program.directory).into_iter();
    let childs: Vec<_> =
        names.filter(|(_, name)| name.starts_with("gmon.program.") && name.ends_with(".out")).collect();
    assert_eq!(childs.iter().map(|(path, _)| case.counts(path)).collect::<Vec<_>>(), [(1, Some(4))], "{childs:?}");
    fs::set_permissions(&case.program.directory, fs::Permissions::from_mode(0o777)).unwrap();
    for words in [&["setuid"][..], &["seteuid"], &["setuid", "nodump", "close"], &["chroot", "setuid"]] {
        case.clean();
        assert_eq!(said(&case.run(words)), "", "{words:?}");
        assert_eq!(case.counts(&case.program.directory.join("gmon.out")), (2, Some(7)), "{words:?}");
    }
}

#[test]
fn both_files_are_opened_before_rights_are_given_up() {
    if !is_root("giving up rights") {
        return;
    }
    let case = compile("early");
    let profile = case.program.directory.join("gmon.out");
    for live in ["0", "1"] {
        for words in [&["setuid"][..], &["seteuid"], &["chroot", "setuid"], &["nofile"], &["dump", "dump", "setuid"]] {
            case.clean();
            let output = case.program.command(words).env("GMON_LIVE", live).output().unwrap();
            assert_eq!((output.status.code(), said(&output)), (Some(7), ""), "{words:?} GMON_LIVE={live}");
            assert_eq!(case.counts(&profile), (2, Some(7)), "{words:?} GMON_LIVE={live}");
            assert!(!Side::of(&profile).is_live(), "{words:?} GMON_LIVE={live}");
        }
    }
}

#[test]
fn files_that_cannot_be_made_are_reported_once_with_a_remedy() {
    if !is_root("giving up rights") {
        return;
    }
    let case = compile("said");
    let denied = |file: &str| {
        format!(
            "gmon: {file}: cannot open: permission denied (error 13), \
            set PROFDIR to a directory where user 65534 may create files\n"
        )
    };
    let output = case.run(&["setuid", "nodump", "close"]);
    assert!(said(&output).contains("permission denied") && said(&output).lines().count() == 1, "{output:?}");
    // A child that changes its user has no file opened earlier.
    case.clean();
    let output = case.run(&["fork", "setuid", "chdir"]);
    let name = said(&output).split(": ").nth(1).unwrap();
    assert!(name.starts_with("gmon.program.") && name.ends_with(".out"), "{output:?}");
    assert_eq!(said(&output), denied(name));
    let names: Vec<_> = files(&case.program.directory).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["gmon.out", "gmon.out.side"], "no empty file may remain");
}

#[test]
fn a_child_that_changed_its_user_keeps_its_profile_in_profdir() {
    if !is_root("giving up rights") {
        return;
    }
    let case = compile("children");
    let open = directory("privileges-children-open");
    for place in [&open, &case.program.directory] {
        fs::set_permissions(place, fs::Permissions::from_mode(0o777)).unwrap();
    }
    case.clean();
    assert_eq!(said(&case.run(&["fork", "setuid", "chdir"])), "");
    let mut command = case.program.command(&["fork", "setuid", "chdir"]);
    let output = command.env("PROFDIR", &open).output().unwrap();
    assert_eq!((said(&output), output.status.code()), ("", Some(7)));
    for place in [&open, &case.program.directory] {
        let files = files(place);
        let childs = files.iter().filter(|(path, name)| {
            name.starts_with("gmon.program.") && name.ends_with(".out") && fs::metadata(path).unwrap().uid() == 65534
        });
        let childs: Vec<_> = childs.map(|(path, _)| case.counts(path)).collect();
        assert_eq!(childs, [(1, Some(4))], "{files:?}");
    }
}

#[test]
fn a_child_that_cannot_replace_the_sum_of_another_user_leaves_a_file_of_its_own() {
    if !is_root("giving up rights") {
        return;
    }
    let case = compile("sticky");
    let place = &case.program.directory;
    let summing = |words: &[&str]| case.program.command(words).env("GMON_CHILDREN", "sum").output().unwrap();
    // Everybody may create files, and only their owners may rename them.
    fs::set_permissions(place, fs::Permissions::from_mode(0o1777)).unwrap();
    case.clean();
    assert_eq!(said(&summing(&["fork"])), "");
    let output = summing(&["fork", "setuid"]);
    let said = said(&output).trim_end();
    assert!(said.contains(" instead: cannot ") && said.lines().count() == 1, "{said}");
    assert!(said.ends_with(", another user may own the sum or the directory"), "{said}");
    let files = files(place);
    assert!(!files.iter().any(|(_, name)| name.ends_with(".new")), "{files:?}");
    let own = |(path, name): &&(PathBuf, String)| name.ends_with(".out") && fs::metadata(path).unwrap().uid() == 65534;
    assert_eq!(files.iter().filter(own).map(|(path, _)| case.counts(path)).collect::<Vec<_>>(), [(1, Some(4))]);
}

#[test]
fn the_superuser_leaves_no_empty_file_where_everybody_may_create_files() {
    if !is_root("giving up rights") {
        return;
    }
    let case = compile("empty");
    let open = directory("privileges-empty-open");
    for place in [&open, &case.program.directory] {
        fs::set_permissions(place, fs::Permissions::from_mode(0o1777)).unwrap();
    }
    let run = |words: &[&str], profdir: Option<&Path>| {
        let mut command = case.program.command(words);
        if let Some(place) = profdir {
            command.env("PROFDIR", place);
        }
        command.output().unwrap()
    };
    for (place, profdir) in [(&case.program.directory, None), (&open, Some(&*open))] {
        case.clean();
        for (words, signal, code) in [(["kill"], Some(9), None), (["exec"], None, Some(7))] {
            let status = run(&words, profdir).status;
            assert_eq!((status.signal(), status.code()), (signal, code), "{words:?}");
            let profiles: Vec<_> = files(place).into_iter().filter(|(_, name)| name.ends_with(".out")).collect();
            assert_eq!(profiles, [], "{words:?} {profdir:?}");
        }
        // The user to whom the program has changed makes the file.
        let output = run(&["setuid"], profdir);
        assert_eq!((said(&output), output.status.code()), ("", Some(7)));
        let profiles: Vec<_> = files(place).into_iter().filter(|(_, name)| name.ends_with(".out")).collect();
        let [(profile, _)] = &profiles[..] else { panic!("{profiles:?}") };
        assert_eq!((case.counts(profile).0, fs::metadata(profile).unwrap().uid()), (2, 65534));
    }
    // A file that is there already is the superuser's, and is used as elsewhere.
    case.clean();
    let profile = case.program.directory.join("gmon.out");
    fs::write(&profile, "of before").unwrap();
    assert_eq!(run(&["kill"], None).status.signal(), Some(9));
    assert_eq!(fs::read(&profile).unwrap(), b"of before");
    assert_eq!(run(&["setuid"], None).status.code(), Some(7));
    assert_eq!((case.counts(&profile).0, fs::metadata(&profile).unwrap().uid()), (2, 0));
    // The superuser's counts do not go into a file that another user has made there.
    case.clean();
    fs::write(&profile, "of another user").unwrap();
    std::os::unix::fs::chown(&profile, Some(65533), None).unwrap();
    let output = run(&["setuid"], None);
    assert_eq!(output.status.code(), Some(7));
    assert!(said(&output).contains("gmon.out") && said(&output).lines().count() == 1, "{output:?}");
    assert_eq!(fs::read(&profile).unwrap(), b"of another user");
}

#[test]
fn files_respect_the_umask_of_the_start() {
    let case = compile("umask");
    let script = format!("umask 022; exec {} umask fork", case.program.executable.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(&case.program.directory);
    assert_eq!(shell.output().unwrap().status.code(), Some(7));
    let files = files(&case.program.directory);
    assert_eq!(files.len(), 4, "expected the files of parent and child: {files:?}");
    for (path, _) in files {
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o644, "{}", path.display());
    }
}

#[test]
fn a_removed_directory_is_reported() {
    let case = compile("removed");
    let start = case.program.directory.join("start");
    fs::create_dir(&start).unwrap();
    let output = case.program.command(&["rmdir"]).current_dir(&start).output().unwrap();
    let line = "gmon: gmon.out: cannot create, its directory was removed: no such file or directory (error 2)\n";
    assert_eq!((said(&output), output.status.code()), (line, Some(7)));
}

#[test]
fn processes_with_the_same_number_do_not_replace_each_others_files() {
    let case = compile("numbers");
    let open = directory("privileges-numbers-open");
    let script = format!("umask 077; echo precious >gmon.program.$$.out; exec {}", case.program.executable.display());
    for live in ["0", "1"] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(&open).env("PROFDIR", &open).env("GMON_LIVE", live);
        assert_eq!(shell.output().unwrap().status.code(), Some(7));
        let files: Vec<_> = files(&open).into_iter().filter(|(_, name)| name.ends_with(".out")).collect();
        let [(first, _), (second, name)] = &files[..] else { panic!("{files:?}") };
        // `-` comes before `.`.
        assert!(first.to_str().unwrap().ends_with("-2.out"), "{files:?}");
        assert_eq!(fs::read(second).unwrap(), b"precious\n", "{name}");
        assert_eq!(case.counts(first).0, 2);
        for (path, _) in self::files(&open) {
            fs::remove_file(path).unwrap();
        }
    }
    if !is_root("giving up rights") {
        return;
    }
    for run in 1..=3 {
        let output = case.run(&["pidns", "fork"]);
        assert_eq!(said(&output), "", "run {run}");
    }
    for name in ["gmon.program.1.out", "gmon.program.1-2.out", "gmon.program.1-3.out"] {
        assert_eq!(case.counts(&case.program.directory.join(name)), (1, Some(4)), "{name}");
    }
}

#[test]
fn a_reserved_file_name_is_not_taken_by_another_process() {
    if !is_root("giving up rights") {
        return;
    }
    let case = compile("kept");
    let open = directory("privileges-kept-open");
    let first = |word: &str| {
        let mut command = Command::new("unshare");
        command.args(["-p", "-f"]).arg(&case.program.executable).arg(word).env("PROFDIR", &open);
        command.current_dir(&case.program.directory).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut waiting = first("hold");
    let mut here = [0; 5];
    waiting.stdout.as_mut().unwrap().read_exact(&mut here).unwrap();
    assert_eq!(first("umask").wait().unwrap().code(), Some(7));
    drop(waiting.stdin.take());
    assert_eq!(waiting.wait().unwrap().code(), Some(7));
    for name in ["gmon.program.1.out", "gmon.program.1-2.out"] {
        assert_eq!(case.counts(&open.join(name)), (2, Some(7)), "{name}");
    }
}

#[test]
fn a_file_keeps_its_name_after_a_failed_write() {
    let case = compile("obstructed");
    let open = directory("privileges-obstructed-open");
    let script =
        format!("umask 077; echo a >gmon.program.$$.out; exec {} dump obstruct", case.program.executable.display());
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", &script]).current_dir(&open).env("PROFDIR", &open).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert!(said(&output).contains("-2.out: cannot open: is a directory"), "{output:?}");
    let files: Vec<_> = files(&open).into_iter().filter(|(_, name)| name.ends_with(".out")).collect();
    assert!(files.len() == 2 && files[0].1.ends_with("-2.out"), "{files:?}");
    assert_eq!(case.counts(&files[0].0), (2, Some(7)));
}

#[test]
fn a_live_file_of_a_program_killed_after_a_snapshot_has_its_side_file() {
    let case = compile("live");
    let mut command = case.program.command(&["dump", "kill"]);
    assert_eq!(command.env("GMON_LIVE", "1").output().unwrap().status.signal(), Some(9));
    let profile = case.program.directory.join("gmon.out");
    assert_eq!(case.counts(&profile), (2, Some(3)), "the program's own calls must go on");
    assert!(Side::of(&profile).is_live());
    let output = gmon_tests::read(gmon_tests::gprof(), &case.program.directory, &["-b", "program", "gmon.out"]);
    assert!(!said(&output).contains("another run"), "{output:?}");
    // At the end, the side file describes the whole run.
    assert_eq!(case.program.command(&["dump"]).env("GMON_LIVE", "1").output().unwrap().status.code(), Some(7));
    assert!(!Side::of(&profile).is_live());
}

#[test]
fn the_runtime_has_few_high_descriptors_and_leaks_none() {
    let case = compile("descriptors");
    for live in ["0", "1"] {
        for limit in ["64", "1024", "$(ulimit -H -n)"] {
            for words in ["descriptors", "dumps", "close dumps"] {
                if (words, live) == ("close dumps", "1") {
                    continue; // the live file is lost with its descriptor
                }
                let mut shell = Command::new("sh");
                let script = format!("ulimit -S -n {limit}; exec {} {words}", case.program.executable.display());
                shell.args(["-c", &script]).current_dir(&case.program.directory).env("GMON_LIVE", live);
                let output = shell.output().unwrap();
                assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{limit} {words}");
                assert_eq!((said(&output), output.status.code()), ("", Some(7)), "{limit} {words}");
            }
        }
    }
}

/// The command for an ordinary user, who is the user of the test unless that is the superuser.
fn as_ordinary_user(case: &Case, words: &[&str]) -> Command {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return case.program.command(words);
    }
    let mut command = case.program.command(&[]);
    let mut other = Command::new("setpriv");
    other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(command.get_program()).args(words);
    other.current_dir(&case.program.directory);
    for (name, value) in command.current_dir("/").get_envs() {
        match value {
            Some(value) => other.env(name, value),
            None => other.env_remove(name),
        };
    }
    other
}

/// A program in a directory in which everybody may create files.
fn compile_for_all(name: &str) -> Case {
    let case = compile(name);
    fs::set_permissions(&case.program.directory, fs::Permissions::from_mode(0o777)).unwrap();
    case
}

#[test]
fn an_ordinary_users_files_are_opened_before_no_file_can_be_opened() {
    let case = compile_for_all("opened");
    let profile = case.program.directory.join("gmon.out");
    for words in [
        &["landlock"][..],
        &["chdir", "landlock"],
        &["dump", "landlock"],
        &["nofile"],
        &["close", "nofile"],
        &["softsize"],
        &["softsize", "dump", "issoft"],
        &["memory"],
    ] {
        case.clean();
        let output = as_ordinary_user(&case, words).output().unwrap();
        if output.status.code() == Some(98) {
            println!("\nSKIPPED: {words:?}: the kernel has no Landlock");
            continue;
        }
        assert_eq!((output.status.code(), said(&output)), (Some(7), ""), "{words:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{words:?}");
        assert_eq!(case.counts(&profile), (2, Some(7)), "{words:?}");
    }
    // The file of a fork child has the child's number.
    case.clean();
    let output = as_ordinary_user(&case, &["fork", "landlock"]).output().unwrap();
    if output.status.code() != Some(98) {
        assert_eq!((output.status.code(), said(&output)), (Some(7), ""));
        let profiles = files(&case.program.directory).into_iter();
        let childs: Vec<_> =
            profiles.filter(|(_, name)| name.starts_with("gmon.program.") && name.ends_with(".out")).collect();
        assert_eq!(childs.iter().map(|(path, _)| case.counts(path)).collect::<Vec<_>>(), [(1, Some(4))], "{childs:?}");
    }
    // Nothing helps against a hard limit of 0 bytes. The program does not die of SIGXFSZ.
    case.clean();
    let output = as_ordinary_user(&case, &["nosize"]).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(said(&output).contains("gmon.out: cannot write: file too large"), "{output:?}");
}

#[test]
fn an_ordinary_users_program_holds_no_descriptor_until_it_gives_something_up() {
    let case = compile_for_all("held");
    let profile = case.program.directory.join("gmon.out");
    for words in [&["none"][..], &["dump", "none"], &["dump", "chdir", "dump", "none"]] {
        case.clean();
        let output = as_ordinary_user(&case, words).output().unwrap();
        assert_eq!((output.status.code(), said(&output)), (Some(7), ""), "{words:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{words:?}");
        assert_eq!(case.counts(&profile), (2, Some(7)), "{words:?}");
    }
}

#[test]
fn a_directory_is_found_again_by_its_path_or_as_the_current_one() {
    let case = compile("moved");
    let moved = directory("privileges-moved.moved");
    fs::remove_dir(&moved).unwrap();
    assert_eq!(said(&case.run(&["moved"])), "");
    fs::rename(moved, &case.program.directory).unwrap();
    assert_eq!(case.counts(&case.program.directory.join("gmon.out")), (2, Some(7)));
    // Another directory with the path is not the directory.
    case.clean();
    let (profile, aside) = (case.program.directory.join("gmon.out"), directory("privileges-moved.aside"));
    fs::remove_dir(&aside).unwrap();
    let mut command = case.program.command(&["chdir", "hold"]);
    let mut running = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut here = [0; 4];
    running.stdout.as_mut().unwrap().read_exact(&mut here).unwrap();
    fs::rename(&case.program.directory, &aside).unwrap();
    fs::create_dir(&case.program.directory).unwrap();
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert!(!profile.exists());
    let is_superuser = fs::metadata("/proc/self").unwrap().uid() == 0;
    assert!(is_superuser || said(&output).contains("gmon.out: cannot find its directory"), "{output:?}");
}
