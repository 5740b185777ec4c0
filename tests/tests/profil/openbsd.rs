//! OpenBSD's profil, which stores a file.

use gmon_tests::profiles::samples;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use gmon::{Form, Hints};

use crate::support::{How, command, directory, names, plain, program, try_one, went_well};

const PROGRAM: How = plain("openbsd.c");

/// Header, samples, and room for ten arcs.
const LENGTH: u64 = 40 + 2048 + 240;

trials! { PROGRAM;
    errors_come_in_the_kernels_order
    a_tick_counts_where_the_relation_says
    an_odd_buffer_is_taken_as_it_is
    scale_0_stops_and_the_buffer_stays
}

/// The files of a run of the program.
struct Left {
    directory: PathBuf,
    /// The required file name.
    file: String,
    printed: String,
    said: String,
}

fn run(words: &[&str]) -> Left {
    let directory = directory();
    let mut command = command(&program(PROGRAM), words);
    let child = command.current_dir(&directory).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let file = format!("gmon.openbsd.{}.out", child.id());
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{:?}: {printed}", output.status);
    Left { directory, file, printed, said: String::from_utf8(output.stderr).unwrap() }
}

/// Checks a file with arcs of this many bytes: a profile in OpenBSD's form, readable only by its owner.
fn check(path: &Path, arcs: u64) {
    let file = fs::symlink_metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(file.is_file() && file.nlink() == 1 && file.permissions().mode() & 0o7777 == 0o600, "{file:?}");
    let bytes = fs::read(path).unwrap();
    assert_eq!(bytes.len() as u64, LENGTH - 240 + arcs);
    assert_eq!(gmon::detect(&bytes, &Hints::default()).unwrap().encoding().form, Form::OpenBsd);
    let profile = gmon::read(&bytes, &Hints::default()).unwrap();
    assert_eq!(profile.arcs().iter().map(|arc| arc.count).sum::<u64>(), arcs / 24 * 7);
}

fn ticks(path: &Path) -> u64 {
    let profile = gmon::read(&fs::read(path).unwrap(), &Hints::default()).unwrap();
    samples(&profile)
}

#[test]
fn without_the_note_every_call_is_eperm() {
    let how = How { flags: &["-DWITHOUT_NOTE"], ..PROGRAM };
    let directory = directory();
    let output = command(&program(how), &["every_call_is_eperm"]).current_dir(&directory).output().unwrap();
    went_well(&output);
    assert!(names(&directory).is_empty());
}

#[test]
fn the_note_is_found_however_the_program_is_linked() {
    for flags in [&["-static"][..], &["-no-pie"], &["-static-pie"], &["-Wl,--gc-sections"], &["-fuse-ld=gold"]] {
        // Missing linkers are skipped.
        let has_linker = flags != ["-fuse-ld=gold"] || crate::support::has("ld.gold");
        if has_linker {
            try_one(How { flags, ..PROGRAM }, &["scale_0_stops_and_the_buffer_stays"]);
            let without = [&["-static", "-DWITHOUT_NOTE"][..], &["-no-pie", "-DWITHOUT_NOTE"]];
            for flags in without {
                try_one(How { flags, ..PROGRAM }, &["every_call_is_eperm"]);
            }
        }
    }
}

#[test]
fn the_file_is_named_after_program_and_process_and_only_its_owners() {
    let left = run(&["stores"]);
    assert_eq!(names(&left.directory), [left.file.as_str()]);
    check(&left.directory.join(&left.file), 24);
    assert_eq!(left.said, "");
    let ticks = ticks(&left.directory.join(&left.file));
    assert!((1000..2000).contains(&ticks), "{ticks}");
}

#[test]
fn gprof_reads_the_file() {
    // At addresses that the image has too.
    let (image, directory) = (program(How { flags: &["-no-pie"], ..PROGRAM }), directory());
    went_well(&command(&image, &["stores"]).current_dir(&directory).output().unwrap());
    let [file] = &names(&directory)[..] else { panic!("{directory:?}") };
    let words = ["-b", "-p", image.to_str().unwrap(), file];
    let output = gmon_tests::read(gmon_tests::gprof(), &directory, &words);
    let printed = went_well(&output);
    let here = printed.lines().find(|line| line.ends_with(" here_pc")).unwrap_or_else(|| panic!("{printed}"));
    let seconds: f64 = here.split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!((10.0..20.0).contains(&seconds), "expected 1000 ticks of a hundredth of a second: {printed}");
}

#[test]
fn there_is_a_file_only_if_the_header_says_arcs_that_fit_the_buffer() {
    for (totarc, expected) in [("24", true), ("240", true), ("264", false), ("0", false), ("-24", false)] {
        let left = run(&["stores", totarc]);
        let file = left.directory.join(&left.file);
        assert_eq!(left.said, "");
        if expected {
            check(&file, totarc.parse().unwrap());
        } else {
            assert!(names(&left.directory).is_empty(), "{totarc}");
        }
    }
    for totarc in ["2147483647", "-2147483648", "241"] {
        assert!(names(&run(&["stores", totarc]).directory).is_empty(), "{totarc}");
    }
}

#[test]
fn the_buffer_is_stored_as_handlers_and_destructors_have_completed_it() {
    for way in ["stores_what_a_handler_at_exit_completes", "stores_what_a_destructor_completes"] {
        let left = run(&[way]);
        check(&left.directory.join(&left.file), 24);
        // Ticks count until the end.
        assert!(ticks(&left.directory.join(&left.file)) >= 1000);
    }
}

#[test]
fn the_directory_is_that_of_the_first_call() {
    let left = run(&["stores_in_the_directory_of_the_call"]);
    assert_eq!(names(&left.directory), ["a file", "elsewhere/", "renamed/"]);
    assert!(names(&left.directory.join("elsewhere")).is_empty());
    check(&left.directory.join("renamed").join(&left.file), 24);
}

#[test]
fn minus_1_is_the_current_directory_of_the_first_call() {
    let left = run(&["stores_in_the_directory_where_it_began"]);
    assert_eq!(names(&left.directory), ["elsewhere/", "further/"]);
    assert!(names(&left.directory.join("further")).is_empty());
    check(&left.directory.join("elsewhere").join(&left.file), 24);
}

#[test]
fn the_rights_are_those_of_the_first_call() {
    if !is_superuser() {
        println!("\nSKIPPED: only the superuser can give up rights");
        return;
    }
    let left = run(&["stores_after_giving_up_its_rights"]);
    check(&left.directory.join(&left.file), 24);
    assert_eq!(fs::metadata(left.directory.join(&left.file)).unwrap().uid(), 0);
    assert!(names(&left.directory.join("empty")).is_empty());
}

fn is_superuser() -> bool {
    // Files that we make belong to us.
    fs::metadata(directory()).unwrap().uid() == 0
}

#[test]
fn what_is_no_file_of_ours_alone_is_left_alone() {
    for time in ["before", "after"] {
        for kind in ["symlink", "dangling", "hard", "directory", "fifo", "shared", "others"] {
            if kind == "others" && !is_superuser() {
                continue; // only the superuser can give files away
            }
            let left = run(&["stores_unless_something_stands_in_the_way", &format!("{time}-{kind}")]);
            let mark = match kind {
                "symlink" | "dangling" => "@",
                "directory" => "/",
                "fifo" => "|",
                _ => "",
            };
            assert_eq!(names(&left.directory), [left.file.clone() + mark, "target".to_owned()], "{time} {kind}");
            assert_eq!(fs::read(left.directory.join("target")).unwrap(), b"precious");
            if matches!(kind, "shared" | "others" | "hard") {
                assert_eq!(fs::read(left.directory.join(&left.file)).unwrap(), b"precious");
            }
            assert!(left.said.starts_with(&format!("gmon: {}: cannot ", left.file)), "{}", left.said);
        }
        let left = run(&["stores_unless_something_stands_in_the_way", &format!("{time}-ours")]);
        check(&left.directory.join(&left.file), 24);
        assert_eq!(left.said, "");
    }
}

#[test]
fn a_fork_shares_buffer_and_directory() {
    let left = run(&["stores_for_parent_and_child"]);
    let child = format!("gmon.openbsd.{}.out", left.printed.trim());
    let mut expected = vec!["elsewhere/".to_owned(), left.file.clone(), child.clone()];
    expected.sort();
    assert_eq!(names(&left.directory), expected);
    check(&left.directory.join(&left.file), 24);
    check(&left.directory.join(&child), 24);
    assert!(ticks(&left.directory.join(&child)) >= 1100);
}

#[test]
fn exec_ends_the_profile_and_its_resources() {
    let left = run(&["is_dropped_at_exec"]);
    check(&left.directory.join("fresh").join(&left.file), 24);
    if is_superuser() {
        // The file is opened at the first call, when the right to open it exists, and stays as it was made.
        assert_eq!(fs::metadata(left.directory.join(&left.file)).unwrap().len(), 0);
    } else {
        assert_eq!(names(&left.directory), ["fresh/"]);
    }
}

#[test]
fn lost_memory_ends_sampling_and_leaves_no_file() {
    for way in ["0", "1", "2", "3", "4"] {
        let left = run(&["lost_memory_ends_sampling_and_leaves_no_file", way]);
        assert!(names(&left.directory).is_empty(), "{way}");
    }
}
