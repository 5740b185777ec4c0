//! Several outputs of one run, and outputs that cannot be written.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use gmon_tests::{gprof, has_program};

use crate::small::{printed, profiled, run};

/// The message of a run that fails.
fn complaint(directory: &Path, line: &str) -> String {
    let output = run(directory, line);
    assert_eq!(output.status.code(), Some(1), "{line}");
    String::from_utf8(output.stderr).unwrap()
}

/// The message of a run that may write files of so many blocks at most: the limit of the shell for the size of files
/// stands for a file system without room.
fn limited(blocks: usize, directory: &Path, line: &str) -> String {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {line}");
    let output = Command::new("sh").args(["-c", &script]).arg(gprof()).current_dir(directory).output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

/// The names of the files in a directory, sorted.
fn files(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn several_files_of_one_run() {
    let directory = profiled("outputs");
    let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
    let (text, json) = (printed(&directory, "prog gmon.out"), printed(&directory, "--format=json prog gmon.out"));
    assert_eq!(printed(&directory, "prog gmon.out -o a.txt -ob.json --output=report"), "");
    assert!(read("a.txt") == text && read("report") == text && read("b.json") == json);
    // The options of other formats do not change text.
    assert_eq!(printed(&directory, "-b -C -o c.json -o - prog gmon.out"), printed(&directory, "-b -C prog gmon.out"));
    assert_eq!(printed(&directory, "--table prog gmon.out"), printed(&directory, "--format=table prog gmon.out"));
    assert_eq!(files(&directory), ["a.txt", "b.json", "c.json", "gmon.out", "prog", "report"]);
    // Exports need more of the analysis than the reports that the options choose.
    for options in ["-p", "-p --format=json", "-q", "-b -p -z", "--bounds", "-C", "-p --errors --top=3"] {
        let text = printed(&directory, &format!("{options} prog gmon.out"));
        let format = if options.contains("--format") { "json" } else { "txt" };
        let options = options.replace(" --format=json", "");
        printed(&directory, &format!("{options} -o d.{format} -o e.csv -o f.pb.gz prog gmon.out"));
        assert_eq!(read(&format!("d.{format}")), text, "{options}");
    }
}

/// The name of a file of each format.
const FORMATS: [&str; 13] = [
    "a.txt",
    "a.json",
    "a.csv",
    "a.folded",
    "a.speedscope.json",
    "a.pb.gz",
    "a.firefox.json",
    "a.callgrind",
    "a.html",
    "a.flame.svg",
    "a.svg",
    "a.dot",
    "a.md",
];

/// Each output of a run has the bytes that the output has alone.
#[test]
fn outputs_do_not_change_each_other() {
    let directory = profiled("outputs_pairs");
    fs::copy(directory.join("gmon.out"), directory.join("base.out")).unwrap();
    let read = |name: &str| fs::read(directory.join(name)).unwrap();
    let shows_differences = |name: &&str| ["txt", "json", "csv", "pb.gz", "html"].contains(&&name[2..]);
    let kinds = [("", FORMATS.to_vec()), ("--base=base.out ", FORMATS.into_iter().filter(shows_differences).collect())];
    for (options, formats) in kinds {
        let alone = |name: &&str| {
            printed(&directory, &format!("{options}prog gmon.out -o {name}"));
            read(name)
        };
        let alone: Vec<Vec<u8>> = formats.iter().map(alone).collect();
        for (first, of_first) in formats.iter().zip(&alone) {
            for (second, of_second) in formats.iter().zip(&alone).filter(|(second, _)| *second != first) {
                printed(&directory, &format!("{options}prog gmon.out -o {first} -o {second}"));
                assert!(read(first) == *of_first, "{options}{first} beside {second}");
                assert!(read(second) == *of_second, "{options}{second} after {first}");
            }
        }
    }
}

/// A run analyzes the profile for each output, and warns once.
#[test]
fn several_outputs_warn_once() {
    let directory = profiled("outputs_warnings");
    let warnings = |line: &str| String::from_utf8(run(&directory, line).stderr).unwrap();
    // The program has no debug information.
    let one = warnings("-A prog gmon.out -o a.txt");
    assert_eq!(one.lines().count(), 1, "{one}");
    assert_eq!(warnings("-A prog gmon.out -o a.txt -o b -o -"), one);
}

/// What the program `gzip` makes of a file.
fn unpacked(path: &Path) -> Vec<u8> {
    Command::new("gzip").arg("-dc").stdin(fs::File::open(path).unwrap()).output().unwrap().stdout
}

/// Makes the program an hour younger than the profile.
fn rebuild(directory: &Path) {
    let profile = fs::metadata(directory.join("gmon.out")).unwrap().modified().unwrap();
    let program = fs::OpenOptions::new().append(true).open(directory.join("prog")).unwrap();
    program.set_modified(profile + std::time::Duration::from_secs(3600)).unwrap();
}

/// The program was built again after the run: whoever reads an output must learn this.
#[test]
fn every_output_tells_that_the_profile_may_be_of_another_build() {
    if !has_program("gzip", "compressed outputs") {
        return;
    }
    let directory = profiled("outputs_doubts");
    let (gnu, order) = (printed(&directory, "-b --compat=gnu prog gmon.out"), printed(&directory, "-r prog gmon.out"));
    fs::copy(directory.join("gmon.out"), directory.join("base.out")).unwrap();
    let write = |line: &str| {
        run(&directory, line);
        let read = |name: &&str| match name.ends_with(".gz") {
            true => unpacked(&directory.join(name)),
            false => fs::read(directory.join(name)).unwrap(),
        };
        let name = line.split(' ').next_back().unwrap();
        String::from_utf8_lossy(&read(&name)).into_owned()
    };
    let doubt = "warning: gmon.out: older than prog: was the program rebuilt after the run?";
    for options in ["", "--base=base.out "] {
        for name in FORMATS {
            let shows_differences = ["txt", "json", "csv", "pb.gz", "html"].contains(&&name[2..]);
            if !options.is_empty() && !shows_differences {
                continue;
            }
            let line = format!("{options}prog gmon.out -o {name}");
            fs::File::open(directory.join("prog")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
            assert!(!write(&line).contains(doubt), "{line}");
            rebuild(&directory);
            let text = write(&line);
            let at = text.find(doubt).unwrap_or_else(|| panic!("{line}: {text}"));
            // Pages have a style before their first word, and pprof's files have texts at their end.
            let is_late = ["html", "flame.svg", "svg", "pb.gz"].contains(&&name[2..]);
            assert!(is_late || text[..at].lines().count() < 6, "{line}: {text}");
        }
    }
    assert!(printed(&directory, "--table prog gmon.out").starts_with(doubt));
    assert!(printed(&directory, "-i prog gmon.out").starts_with(doubt));
    // GNU's text is what GNU prints, and linkers read orders.
    assert_eq!(printed(&directory, "-b --compat=gnu prog gmon.out"), gnu);
    assert_eq!(printed(&directory, "-r prog gmon.out"), order);
}

#[test]
fn strict_runs_print_nothing_about_doubtful_profiles() {
    let directory = profiled("outputs_strict");
    fs::File::open(directory.join("prog")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    fs::copy(directory.join("gmon.out"), directory.join("base.out")).unwrap();
    assert_eq!(printed(&directory, "--strict prog gmon.out"), printed(&directory, "prog gmon.out"));
    rebuild(&directory);
    for line in [
        "--strict prog gmon.out",
        "--strict prog gmon.out -o a.json -o b.html",
        "--strict -s prog gmon.out",
        "--strict --compat=gnu prog gmon.out",
        "--strict --base=base.out prog gmon.out",
    ] {
        let output = run(&directory, line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{line}");
        assert!(said.contains("gprof: warning: ") && said.contains("\ngprof: --strict: "), "{line}: {said}");
    }
    assert_eq!(files(&directory), ["base.out", "gmon.out", "prog"]);
}

#[test]
fn a_file_stays_until_the_new_one_is_whole() {
    let directory = profiled("outputs_stay");
    let place = |name: &str| directory.join(name);
    fs::write(place("real.txt"), "old").unwrap();
    fs::set_permissions(place("real.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.txt", place("link.txt")).unwrap();
    // Two outputs: the second cannot be written, and the first is whole.
    let text = complaint(&directory, "prog gmon.out -o link.txt -o none/b.json");
    assert_eq!(text, "gprof: none/b.json: No such file or directory\n");
    assert!(fs::symlink_metadata(place("link.txt")).unwrap().is_symlink());
    assert!(fs::read_to_string(place("real.txt")).unwrap().starts_with("Flat profile:"));
    assert_eq!(fs::metadata(place("real.txt")).unwrap().permissions().mode() & 0o777, 0o640);
    // A run without a result leaves the file alone.
    fs::write(place("real.txt"), "old").unwrap();
    complaint(&directory, "prog none -o real.txt");
    assert_eq!(fs::read_to_string(place("real.txt")).unwrap(), "old");
    assert_eq!(files(&directory), ["gmon.out", "link.txt", "prog", "real.txt"]);
    fs::set_permissions(place("real.txt"), fs::Permissions::from_mode(0o440)).unwrap();
    // The superuser may write any file.
    if fs::OpenOptions::new().write(true).open(place("real.txt")).is_err() {
        let text = complaint(&directory, "prog gmon.out -o real.txt");
        assert_eq!(text, "gprof: real.txt: Permission denied\n");
    }
    fs::create_dir(place("d.txt")).unwrap();
    assert_eq!(complaint(&directory, "prog gmon.out -o d.txt"), "gprof: d.txt: Is a directory\n");
}

/// A report that cannot be written whole leaves the old report, and no other file.
#[test]
fn no_half_file_stays() {
    let directory = profiled("outputs_full");
    fs::write(directory.join("a.json"), "old").unwrap();
    assert_eq!(limited(1, &directory, "prog gmon.out -o a.json"), "gprof: a.json: File too large\n");
    assert_eq!(fs::read_to_string(directory.join("a.json")).unwrap(), "old");
    assert_eq!(files(&directory), ["a.json", "gmon.out", "prog"]);
    if Path::new("/dev/full").exists() {
        let text = complaint(&directory, "prog gmon.out --format=json -o /dev/full");
        assert_eq!(text, "gprof: /dev/full: No space left on device\n");
    }
}

#[test]
fn inputs_are_not_outputs() {
    let directory = profiled("outputs_inputs");
    symlink("gmon.out", directory.join("link.txt")).unwrap();
    for line in ["prog gmon.out -o prog", "prog gmon.out -o ./link.txt", "prog gmon.out --format=text -o gmon.out"] {
        assert!(complaint(&directory, line).contains("the file is an input"), "{line}");
    }
    printed(&directory, "prog -o list.txt gmon.out");
    assert!(complaint(&directory, "-S list.txt -o list.txt prog").contains("the file is an input"));
    // The files beside a profile, also for the file of `--extract`.
    fs::write(directory.join("gmon.out.side"), "no side file").unwrap();
    fs::write(directory.join("gmon.out.objects"), "no list").unwrap();
    for file in ["gmon.out", "./gmon.out.side", "gmon.out.objects", "link.txt", "prog"] {
        for line in [format!("prog gmon.out --format=text -o {file}"), format!("--extract=1 -o {file} prog gmon.out")] {
            let before = fs::read(directory.join(file)).unwrap();
            assert!(complaint(&directory, &line).contains("the file is an input"), "{line}");
            assert_eq!(fs::read(directory.join(file)).unwrap(), before);
        }
    }
}

#[test]
fn one_file_is_one_output() {
    let directory = profiled("outputs_twice");
    symlink("a.json", directory.join("link.json")).unwrap();
    for other in ["./a.json", "link.json"] {
        let expected = format!("'--output {other}': another '--output' names the same file");
        let line = format!("prog gmon.out -o a.json -o {other}");
        assert!(complaint(&directory, &line).contains(&expected), "{line}");
        printed(&directory, "prog gmon.out -o a.json");
        assert!(complaint(&directory, &line).contains(&expected), "{line}");
        fs::remove_file(directory.join("a.json")).unwrap();
    }
}

/// The shell opens the file. What the file has stays, and so does the file.
#[test]
fn open_files_get_the_output_directly() {
    let directory = profiled("outputs_open");
    let text = printed(&directory, "prog gmon.out");
    let run = |script: &str| {
        fs::write(directory.join("log"), "first\n").unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(gprof()).current_dir(&directory).stdin(Stdio::null());
        assert!(shell.status().unwrap().success(), "{script}");
        fs::read_to_string(directory.join("log")).unwrap()
    };
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link.txt"] {
        let _ = symlink("/dev/stdout", directory.join("link.txt"));
        let script = format!("\"$0\" prog gmon.out --format=text -o {name} >>log; echo last >>log");
        assert_eq!(run(&script), format!("first\n{text}last\n"), "{name}");
        let script = format!("{{ echo new; \"$0\" prog gmon.out --format=text -o {name}; echo last; }} >log");
        assert_eq!(run(&script), format!("new\n{text}last\n"), "{name}");
    }
    assert_eq!(run("\"$0\" prog gmon.out --format=text -o /dev/stderr 2>>log"), format!("first\n{text}"));
    assert_eq!(run("\"$0\" prog gmon.out --format=text -o /dev/fd/7 7>>log"), format!("first\n{text}"));
}

#[test]
fn a_link_to_no_file_stays_a_link() {
    let directory = profiled("outputs_links");
    fs::create_dir(directory.join("d")).unwrap();
    symlink("d/second.txt", directory.join("first.txt")).unwrap();
    symlink("../real.txt", directory.join("d/second.txt")).unwrap();
    printed(&directory, "prog gmon.out -o first.txt");
    let is_link = |name: &str| fs::symlink_metadata(directory.join(name)).unwrap().is_symlink();
    assert!(is_link("first.txt") && is_link("d/second.txt") && !is_link("real.txt"));
    assert_eq!(fs::read_to_string(directory.join("real.txt")).unwrap(), printed(&directory, "prog gmon.out"));
    symlink("loop.txt", directory.join("loop.txt")).unwrap();
    assert!(complaint(&directory, "prog gmon.out -o loop.txt").starts_with("gprof: loop.txt: "));
    assert!(is_link("loop.txt"));
}

/// A sum that cannot be written leaves the old sum, and no other file.
#[test]
fn no_half_sum_stays() {
    let directory = profiled("outputs_sum");
    fs::write(directory.join("gmon.sum"), "old").unwrap();
    assert_eq!(limited(0, &directory, "-s prog gmon.out"), "gprof: gmon.sum: File too large\n");
    assert_eq!(fs::read_to_string(directory.join("gmon.sum")).unwrap(), "old");
    assert_eq!(files(&directory), ["gmon.out", "gmon.sum", "prog"]);
    // The sum may be an input of the sum.
    printed(&directory, "-s prog gmon.out");
    printed(&directory, "-s prog gmon.out gmon.sum");
}

/// A file that may be written, in a directory in which no file may be made.
#[test]
fn a_directory_that_takes_no_files_keeps_its_files() {
    let directory = profiled("outputs_closed");
    let text = printed(&directory, "prog gmon.out");
    for name in ["a.txt", "gmon.sum"] {
        fs::write(directory.join(name), vec![b'x'; 1 << 20]).unwrap();
        fs::set_permissions(directory.join(name), fs::Permissions::from_mode(0o666)).unwrap();
    }
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write to any directory, so other users write here.
    let is_superuser = fs::write(directory.join("probe"), "").is_ok();
    let mut command = Command::new(gprof());
    if is_superuser {
        fs::remove_file(directory.join("probe")).unwrap();
        command.uid(65_534);
    }
    let output = command.args(["-s", "-p", "-q", "-o", "a.txt", "prog", "gmon.out"]).current_dir(&directory).output();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(directory.join("a.txt")).unwrap(), text);
    printed(&directory, "-s prog gmon.out gmon.sum");
    assert_eq!(files(&directory), ["a.txt", "gmon.out", "gmon.sum", "prog"]);
}

#[test]
fn a_pipe_gets_the_output_directly() {
    if !has_program("mkfifo", "outputs in pipes") {
        return;
    }
    let directory = profiled("outputs_pipe");
    let script =
        "\"$0\" prog gmon.out -o a.txt && mkfifo pipe && { cat pipe >copy & } && \"$0\" prog gmon.out -o pipe && wait";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(gprof()).current_dir(&directory).stdin(Stdio::null());
    assert!(shell.status().unwrap().success());
    assert_eq!(fs::read(directory.join("copy")).unwrap(), fs::read(directory.join("a.txt")).unwrap());
    assert_eq!(files(&directory), ["a.txt", "copy", "gmon.out", "pipe", "prog"]);
}
