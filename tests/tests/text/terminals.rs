//! Output on terminals: colors, widths, and progress.
//!
//! `script` makes the terminal. In a long run, the first profile comes through a pipe from a test that waits: gprof has
//! started when the pipe is open at both ends, so the speed of the machine does not matter.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use gmon_tests::objects::tool;
use gmon_tests::{compile, directory, gprof, run};

/// A command whose standard streams are a terminal of 100 characters. If no terminal can be made, prints SKIPPED and
/// returns `None`.
fn terminal(directory: &Path, command: &str) -> Option<Command> {
    let is_known = Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_known {
        eprintln!("SKIPPED: terminals: no script (util-linux) on this system");
        return None;
    }
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command"]).arg(format!("stty cols 100 rows 30; {command}")).arg("/dev/null");
    script
        .current_dir(directory)
        .env("GPROF", gprof())
        .env("TERM", "xterm")
        .env("COLUMNS", "61")
        // A pager that waits for keys would wait forever.
        .env("GPROF_PAGER", "")
        .env_remove("PAGER")
        .env_remove("LESS")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR")
        .env_remove("CLICOLOR_FORCE");
    script.stdin(Stdio::null());
    Some(script)
}

/// The output of a command on a terminal, with line ends as they were.
fn shown(mut script: Command) -> String {
    let output = script.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    text.replace("\r\n", "\n")
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/bsd")
}

const TABLE: &str = "$GPROF -b --table knots knots.gmon";

#[test]
fn tables_are_as_wide_as_the_terminal() {
    for (command, width) in [(TABLE, 74), ("stty cols 66; $GPROF -b --table knots knots.gmon", 66)] {
        let Some(script) = terminal(&data(), command) else {
            return;
        };
        let text = shown(script);
        let lines: Vec<usize> =
            text.lines().filter(|line| line.starts_with('┌')).map(|line| line.chars().count()).collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(lines[1], width, "{text}");
    }
}

#[test]
fn colors_appear_only_on_terminals_with_colors() {
    let Some(script) = terminal(&data(), TABLE) else {
        return;
    };
    let colored = shown(script);
    assert!(colored.contains("│\x1b[1m   [1] ┆"), "{colored}");
    let plain = |variable: &str, value: &str| {
        let mut script = terminal(&data(), TABLE).unwrap();
        script.env(variable, value);
        shown(script)
    };
    let bare = colored.replace("\x1b[1m", "").replace("\x1b[31m", "").replace("\x1b[32m", "").replace("\x1b[0m", "");
    assert!(!bare.contains('\x1b'));
    assert_eq!(plain("NO_COLOR", "1"), bare);
    assert_eq!(plain("TERM", "dumb"), bare);
    assert_eq!(plain("CLICOLOR", "0"), bare);
    assert_eq!(plain("NO_COLOR", ""), colored, "an empty variable must have no effect");
    let file = directory("terminals_colors").join("out");
    let to_file = format!("{TABLE} -w 100 > {}", file.display());
    shown(terminal(&data(), &to_file).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), bare, "a file must get no colors");
    // The user may want colors in a pipe, but not in the file of an option.
    let mut forced = terminal(&data(), &to_file).unwrap();
    forced.env("CLICOLOR_FORCE", "1");
    shown(forced);
    assert_eq!(fs::read_to_string(&file).unwrap(), colored);
    let mut forced = terminal(&data(), &format!("{TABLE} -w 100 -o {}.txt", file.display())).unwrap();
    forced.env("CLICOLOR_FORCE", "1");
    shown(forced);
    assert_eq!(fs::read_to_string(file.with_extension("txt")).unwrap(), bare);
}

/// Catches an index that is wider than a narrow terminal, and a narrow terminal that changes files, `-w`, or GNU's
/// text.
#[test]
fn the_index_is_as_wide_as_a_narrow_terminal() {
    let index = |columns: usize, options: &str| {
        let command = format!("stty cols {columns}; $GPROF -b -q {options} knots knots.gmon");
        let text = shown(terminal(&data(), &command)?);
        Some(text.split_once("Index by function name").unwrap_or_else(|| panic!("{text}")).1.to_owned())
    };
    let Some(narrow) = index(50, "") else {
        return;
    };
    let usual = index(100, "").unwrap();
    let widest = |text: &str| text.lines().map(|line| line.trim_end().len()).max();
    assert!(widest(&narrow) <= Some(50) && widest(&usual) > Some(50), "{narrow}\n{usual}");
    assert_eq!(index(50, "-w 80").unwrap(), usual);
    assert_eq!(index(50, "--compat=gnu").unwrap(), index(100, "--compat=gnu").unwrap());
    assert_eq!(index(50, "-w 41").unwrap(), narrow);
}

/// A program and its profile, in a directory with a pipe that stands for another profile.
fn stage(name: &str) -> PathBuf {
    let image = compile(name, &["cycles.c"], &["-g"]);
    assert!(run(&image).exists());
    let directory = image.parent().unwrap().to_owned();
    assert!(Command::new("mkfifo").arg(directory.join("pipe")).status().unwrap().success());
    directory
}

/// Sends the profile through the pipe after gprof's progress delay has passed.
fn late(directory: &Path) -> std::thread::JoinHandle<()> {
    let directory = directory.to_owned();
    std::thread::spawn(move || {
        let profile = fs::read(directory.join("gmon.out")).unwrap();
        // Opening waits for the reader, which has read its clock before.
        let mut pipe = fs::OpenOptions::new().write(true).open(directory.join("pipe")).unwrap();
        std::thread::sleep(Duration::from_millis(1100));
        std::io::Write::write_all(&mut pipe, &profile).unwrap();
    })
}

/// The texts of lines that were shown and erased, and the rest on the terminal after them.
fn erased(text: &str) -> (Vec<&str>, String) {
    let mut parts: Vec<&str> = text.split("\r\x1b[K").collect();
    let left = [parts.remove(0), parts.pop().unwrap_or_default()].concat();
    (parts, left)
}

#[test]
fn a_long_run_shows_progress_and_erases_it() {
    for (name, options) in [("gnu", "-b"), ("bsd", "--bsd -b"), ("sum", "-s")] {
        let directory = stage(&format!("terminals_long_{name}"));
        let command = format!("$GPROF {options} a.out pipe gmon.out gmon.out gmon.out > out");
        let Some(script) = terminal(&directory, &command) else {
            return;
        };
        let late = late(&directory);
        let text = shown(script);
        late.join().unwrap();
        let (lines, left) = erased(&text);
        assert!(lines.contains(&"gprof: reading profiles [#####---------------] 1 of 4"), "{text:?}");
        assert_eq!(left, "", "{text:?}");
        let without = Command::new("sh")
            .args(["-c", &format!("$GPROF {options} a.out gmon.out gmon.out gmon.out gmon.out")])
            .current_dir(&directory)
            .env("GPROF", gprof())
            .output()
            .unwrap();
        assert_eq!(fs::read(directory.join("out")).unwrap(), without.stdout, "{name}: the report must be the same");
        assert!(without.stderr.is_empty(), "{name}");
    }
}

#[test]
fn no_progress_while_reports_go_to_the_terminal() {
    let directory = stage("terminals_both");
    let Some(script) = terminal(&directory, "$GPROF -b a.out pipe gmon.out") else {
        return;
    };
    let late = late(&directory);
    let text = shown(script);
    late.join().unwrap();
    let (lines, left) = erased(&text);
    assert!(lines.contains(&"gprof: reading profiles [##########----------] 1 of 2"), "{text:?}");
    let words = ["-b", "a.out", "gmon.out", "gmon.out"];
    assert_eq!(left.as_bytes(), gmon_tests::read(gprof(), &directory, &words).stdout);
}

#[test]
fn a_warning_and_an_error_have_their_own_lines() {
    let directory = stage("terminals_warning");
    // A profile of another program, and no profile at all.
    let other = directory.join("other.gmon");
    fs::copy(data().join("basic.gmon"), &other).unwrap();
    for (profile, said) in [
        (other.to_str().unwrap(), ["gprof: warning: ", "histograms differ"].as_slice()),
        ("nothing", &["gprof: nothing: No such file or directory"]),
    ] {
        let Some(script) = terminal(&directory, &format!("$GPROF -b a.out pipe {profile} > out; true")) else {
            return;
        };
        let late = late(&directory);
        let text = shown(script);
        late.join().unwrap();
        assert!(text.starts_with("\r\x1b[Kgprof: reading profiles"), "{text:?}");
        // Each line without everything that was erased.
        let left: Vec<&str> = text.trim_end().split('\n').map(|line| line.rsplit("\r\x1b[K").next().unwrap()).collect();
        assert_eq!(left.len(), said.len(), "{text:?}");
        assert!(left.iter().zip(said).all(|(line, said)| line.contains(said)), "{text:?}");
    }
}

#[test]
fn no_progress_without_a_terminal() {
    let directory = stage("terminals_none");
    for (terms, command) in [
        ("xterm", "$GPROF -b a.out pipe gmon.out > out 2> err; cat err"),
        ("dumb", "$GPROF -b a.out pipe gmon.out > out"),
    ] {
        let Some(mut script) = terminal(&directory, command) else {
            return;
        };
        script.env("TERM", terms);
        let late = late(&directory);
        let text = shown(script);
        late.join().unwrap();
        // If the pipe took a second, a line says so.
        let waits = "gprof: reading profiles: waiting for the end of pipe, which is a pipe\n";
        assert_eq!(text.replacen(waits, "", 1), "", "{terms}");
    }
}

#[test]
fn a_short_run_leaves_only_the_report_on_the_terminal() {
    let image = compile("terminals_short", &["cycles.c"], &["-g"]);
    assert!(run(&image).exists());
    let directory = image.parent().unwrap();
    let Some(script) = terminal(directory, "$GPROF -b a.out gmon.out") else {
        return;
    };
    // Tests of the module check that nothing is shown in the first second, with clocks of their own.
    let (_, left) = erased(&shown(script));
    assert_eq!(left.as_bytes(), gmon_tests::read(gprof(), directory, &["-b", "a.out", "gmon.out"]).stdout);
}

/// The output of gprof with a pager on a terminal, and the exit status.
fn paged(variables: &[(&str, &str)], directory: &Path, command: &str) -> Option<String> {
    let mut script = terminal(directory, &format!("{command}; echo status $?"))?;
    script.env_remove("GPROF_PAGER").envs(variables.iter().copied());
    Some(shown(script))
}

const FLAT: &str = "$GPROF -b -p --top=1 knots knots.gmon";

#[test]
fn reports_go_through_a_pager() {
    let Some(bare) = paged(&[("GPROF_PAGER", "")], &data(), FLAT) else {
        return;
    };
    assert!(bare.starts_with("Flat profile:") && bare.ends_with("status 0\n"), "{bare}");
    let marked: String = bare.lines().map(|line| format!("P:{line}\n").replace("P:status", "status")).collect();
    let sed = "sed s/^/P:/";
    for variables in [[("GPROF_PAGER", sed)].as_slice(), &[("PAGER", sed)], &[("GPROF_PAGER", sed), ("PAGER", "false")]]
    {
        assert_eq!(paged(variables, &data(), FLAT).unwrap(), marked, "{variables:?}");
    }
    let compat = FLAT.replace("--top=1", "--compat=gnu");
    assert!(paged(&[("PAGER", sed)], &data(), &compat).unwrap().starts_with("P:Flat profile:"));
    for (variables, command) in [
        ([("GPROF_PAGER", "cat")], FLAT.to_owned()),
        ([("PAGER", "")], FLAT.to_owned()),
        ([("GPROF_PAGER", sed)], FLAT.replace("-b", "-b --no-pager")),
        ([("GPROF_PAGER", sed)], format!("{FLAT} | cat")),
        ([("TERM", "dumb")], FLAT.to_owned()),
    ] {
        assert_eq!(paged(&variables, &data(), &command).unwrap(), bare, "{variables:?} {command}");
    }
}

#[test]
fn less_exits_if_everything_fits_on_the_screen() {
    let directory = directory("terminals_less");
    let less = directory.join("less");
    gmon_tests::write_script(&less, "#!/bin/sh\necho LESS=$LESS\nexec cat\n");
    let command = format!("PATH={}:$PATH {FLAT}", directory.display());
    let Some(text) = paged(&[], &data(), &command) else {
        return;
    };
    assert!(text.starts_with("LESS=FRX\nFlat profile:") && text.ends_with("status 0\n"), "{text}");
    let own = paged(&[("LESS", "-S")], &data(), &command).unwrap();
    assert!(own.starts_with("LESS=-S\nFlat profile:"), "{own}");
    let missing = paged(&[], &data(), &format!("PATH={}/none {FLAT}", directory.display())).unwrap();
    assert!(missing.starts_with("Flat profile:") && missing.ends_with("status 0\n"), "{missing}");
}

#[test]
fn a_pager_keeps_warnings_errors_and_the_exit_status() {
    let last = [("GPROF_PAGER", "sed '$aend'")];
    let Some(text) = paged(&last, &data(), "$GPROF -b nothing knots.gmon") else {
        return;
    };
    assert_eq!(
        text, "gprof: nothing: No such file or directory\nstatus 1\n",
        "without a report there must be no pager"
    );
    // Warnings during the reports appear after them: here, that there is no source file.
    let image = compile("terminals_pager", &["cycles.c"], &["-g", "-fdebug-prefix-map=/=/gone/"]);
    assert!(run(&image).exists());
    let text = paged(&last, image.parent().unwrap(), "$GPROF -b -p -A a.out gmon.out").unwrap();
    let behind = text.split_once("end\n").unwrap().1;
    assert!(
        behind.starts_with("gprof: warning: /gone/") && behind.ends_with("source file not found\nstatus 0\n"),
        "{text}"
    );
    let warning = "gprof: warning: pager '/nonexistent/pager': No such file or directory: name another in";
    let text = paged(&[("GPROF_PAGER", "/nonexistent/pager")], &data(), FLAT).unwrap();
    assert!(text.contains(warning) && text.contains("Flat profile:") && text.ends_with("status 0\n"), "{text}");
    // The shell started to take the report, and nobody read it.
    let error = "gprof: pager 'no-such-pager -x': the shell cannot run it: name another in";
    let text = paged(&[("GPROF_PAGER", "no-such-pager -x")], &data(), FLAT).unwrap();
    assert!(text.contains(error) && !text.contains("Flat profile:") && text.ends_with("status 1\n"), "{text}");
}

#[test]
fn sources_cannot_control_a_pagers_terminal() {
    let directory = directory("terminals_source");
    fs::write(
        directory.join("source.c"),
        "int f(void) { return 0; }\nint main(void) { return f(); } // \x1b]0;title\x07\x1b[2J\n",
    )
    .unwrap();
    assert!(Command::new("cc").args(["-pg", "-g", "source.c"]).current_dir(&directory).status().unwrap().success());
    assert!(run(&directory.join("a.out")).exists());
    for pager in ["", "sed s/^/P:/"] {
        let Some(text) = paged(&[("GPROF_PAGER", pager)], &directory, "$GPROF -b -A a.out gmon.out") else {
            return;
        };
        assert!(text.contains(r"\u{1b}]0;title\u{7}\u{1b}[2J"), "{pager}: {text:?}");
        assert!(!text.contains(['\x1b', '\x07']), "{pager}: {text:?}");
    }
}

#[test]
fn a_pager_that_ends_early_is_no_error() {
    let image = compile("terminals_early", &["classes.cc"], &["-g"]);
    assert!(run(&image).exists());
    for pager in ["true", "head -n 1 | sed 's/:.*//'", "false"] {
        // More than a pipe can hold.
        let command = "$GPROF -z a.out gmon.out";
        let Some(text) = paged(&[("GPROF_PAGER", pager)], image.parent().unwrap(), command) else {
            return;
        };
        assert_eq!(text.replace("Flat profile\n", ""), "status 0\n", "{pager}");
    }
}

/// A program with a function whose name a terminal would obey, and one with a line end in its name.
fn named_to_harm(name: &str) -> PathBuf {
    renamed(name, [(b"light", b"l\x1b[Jf"), (b"middle", b"m\nd\xc2\x9be")])
}

/// A program and its profile. Functions of the program have other names.
fn renamed<const N: usize>(name: &str, names: [(&[u8], &[u8]); N]) -> PathBuf {
    let image = compile(name, &["leaf.c"], &[]);
    let mut bytes = fs::read(&image).unwrap();
    let mut rename = |from: &[u8], to: &[u8]| {
        let places: Vec<usize> = (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
        assert!(!places.is_empty());
        places.into_iter().for_each(|at| bytes[at..at + to.len()].copy_from_slice(to));
    };
    for (from, to) in names {
        let [from, to] = [from, to].map(|name| [b"\0", name, b"\0"].concat());
        rename(&from, &to);
    }
    // Another process writes the program. A child that another thread of this process forks at this moment would keep a
    // descriptor of this process open for writing, and then the system does not execute the program.
    let changed = image.with_extension("changed");
    fs::write(&changed, bytes).unwrap();
    tool("cp", &[changed.to_str().unwrap(), image.to_str().unwrap()]);
    let _ = run(&image);
    image
}

#[test]
fn names_cannot_control_a_terminal() {
    let image = named_to_harm("named_to_harm");
    let directory = image.parent().unwrap();
    for options in ["-b", "-b --table", "-b -q -T", "-b -C", "-r", "--bsd -b"] {
        let Some(script) = terminal(directory, &format!("$GPROF {options} a.out")) else {
            return;
        };
        let text = shown(script);
        let own = text.replace("\x1b[31m", "").replace("\x1b[32m", "").replace("\x1b[1m", "").replace("\x1b[0m", "");
        assert!(
            !own.contains(|letter: char| letter.is_control() && !"\n\t\x0c".contains(letter)),
            "{options}: {own:?}"
        );
        assert!(own.contains(r"l\u{1b}[Jf") && own.contains(r"m\nd\u{9b}e"), "{options}: {own}");
    }
}

/// In a text, a name with a line end would look like two rows. Other gprofs write names as they are.
#[test]
fn names_cannot_break_rows() {
    let image = named_to_harm("named_to_break");
    let directory = image.parent().unwrap();
    for options in
        [&["-b"][..], &["-b", "--table"], &["-C"], &["--format=csv"], &["--format=dot"], &["--base=gmon.out"]]
    {
        let piped = gmon_tests::read(gprof(), directory, &[options, &["a.out"]].concat()).stdout;
        let text = String::from_utf8_lossy(&piped);
        assert!(!text.contains(|letter: char| letter.is_control() && !"\n\t\x0c".contains(letter)), "{text:?}");
        assert!(text.contains(r"m\nd\u{9b}e") || text.contains(r"m\\nd\\u{9b}e"), "{options:?}: {text}");
        assert!(!text.lines().any(|line| line.starts_with(r"d\u{9b}e")), "{options:?}: {text}");
    }
    for options in [["-b", "--compat=gnu"], ["-b", "--bsd"]] {
        let piped = gmon_tests::read(gprof(), directory, &[&options[..], &["a.out"]].concat()).stdout;
        for name in [b"\x1b[Jf".as_slice(), b"m\nd\xc2\x9be"] {
            assert!(piped.windows(name.len()).any(|text| text == name), "{}", piped.escape_ascii());
        }
    }
}

/// A spreadsheet takes a cell for a formula if the cell begins with one of four signs.
#[test]
fn cells_are_no_formulas() {
    for sign in ['=', '+', '-', '@'] {
        let name = format!("{sign}1\"+2");
        let image = renamed(&format!("formula_{}", u32::from(sign)), [(b"light", name.as_bytes())]);
        for options in [["--format=csv", "-b"], ["--format=csv", "--base=gmon.out"]] {
            let output = gmon_tests::read(gprof(), image.parent().unwrap(), &[&options[..], &["a.out"]].concat());
            let text = String::from_utf8(output.stdout).unwrap();
            let cell = format!("\"'{}\"", name.replace('"', "\"\""));
            assert!(text.contains(&cell), "{text}");
            // Negative numbers stay numbers.
            let is_formula = |cell: &str| cell.trim_matches('"').starts_with(sign) && cell.parse::<f64>().is_err();
            assert!(!text.lines().flat_map(|line| line.split(',')).any(is_formula), "{text}");
        }
    }
}

#[test]
fn messages_are_one_line_whatever_they_name() {
    let image = named_to_harm("messages_to_harm");
    let directory = image.parent().unwrap();
    let name = "no\n\x1b[2Jsuch";
    let spelled = r"no\n\u{1b}[2Jsuch";
    for words in [&[name][..], &["a.out", name], &["-p", &format!("--flat-profile={name}"), "a.out"], &["-R", name]] {
        let said = String::from_utf8(gmon_tests::read(gprof(), directory, words).stderr).unwrap();
        assert!(said.lines().count() == 1 && said.contains(spelled) && !said.contains('\x1b'), "{words:?}: {said}");
    }
    // A warning, not an error: the profile of another program.
    let other = run(&compile("messages_of_another", &["classes.cc"], &["-no-pie"]));
    fs::copy(other, directory.join(name)).unwrap();
    let said = gmon_tests::read(gprof(), directory, &["-b", "a.out", name]).stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(said.starts_with(&format!("gprof: warning: {spelled}: ")) && said.lines().count() == 1, "{said}");
}

#[test]
fn a_terminal_gets_no_binary_output() {
    for output in ["", "-o /dev/stdout", "-o -"] {
        let Some(mut script) = terminal(&data(), &format!("$GPROF --format=pprof {output} knots knots.gmon")) else {
            return;
        };
        let output = script.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.starts_with("gprof: the format pprof is not text: write it to a file"), "{text}");
    }
    let script = terminal(
        &data(),
        "$GPROF --format=pprof -o /dev/null knots knots.gmon && $GPROF --format=folded knots knots.gmon",
    );
    assert_eq!(shown(script.unwrap()), "burn 201\n");
}
