//! What runs say: warnings at the head of outputs, names that are no plain words, and which files a run writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gmon::side_file::{Checksum, CutReason, Identity, Kind, Object, PROGRAM, SideFile};
use gmon::{Arc, DataModel, Encoding, Form, Histogram, Order, Profile, Unit, Word};
use gprof::internals::Symbol;
use gprof::{Format, Options, Place, Stacks, Terminal, visible};

use crate::common::{LOW, Table, image};

/// Makes an empty directory.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("messages_{name}"));
    if directory.exists() {
        fs::remove_dir_all(&directory).unwrap();
    }
    fs::create_dir(&directory).unwrap();
    directory
}

/// A program: functions of 16 bytes with these names.
fn program(names: &[&'static [u8]]) -> Vec<u8> {
    let symbol =
        |(at, name): (u64, &&'static [u8])| Symbol { address: LOW + 16 * at, name, is_static: false, is_func: true };
    let symbols = (0..).zip(names).map(symbol).collect();
    image(&Table { symbols, end: LOW + 16 * names.len() as u64 })
}

/// A profile with one sample in each of so many functions of 16 bytes.
fn profile(functions: u64) -> Profile {
    let histogram = Histogram::new(LOW..LOW + 16 * functions, Unit::seconds(100), vec![1_u16; functions as usize]);
    Profile::of_samples([histogram.unwrap()]).unwrap()
}

fn bytes(profile: &Profile) -> Vec<u8> {
    gmon::write(profile, Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little)).unwrap()
}

/// Runs gprof. Words that begin with `@` are the names of files in the directory. Returns the error, the standard
/// output, and the warnings, without the path of the directory.
fn run(directory: &Path, words: &[&str]) -> (Option<String>, String, String) {
    run_on(&Terminal::default(), directory, words)
}

/// Does the same on a terminal.
fn run_on(terminal: &Terminal, directory: &Path, words: &[&str]) -> (Option<String>, String, String) {
    let prefix = format!("{}/", directory.display());
    let words = words.iter().map(|word| word.replace('@', &prefix));
    let (mut out, mut warnings) = (Vec::new(), Vec::new());
    let words = std::iter::once("gprof".to_owned()).chain(words).map(Into::into);
    let result = gprof::run(words, &mut out, &mut warnings, terminal);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&prefix, "");
    (result.err().map(|error| error.to_string().replace(&prefix, "")), text(out), text(warnings))
}

/// Writes a file that was modified at this time.
fn write_at(path: &Path, content: &[u8], time: SystemTime) {
    fs::write(path, content).unwrap();
    fs::OpenOptions::new().append(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Files that are copied or checked out together have nearly the same times.
#[test]
fn a_program_may_be_two_seconds_younger_than_its_profile() {
    let directory = directory("younger");
    let ran = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    write_at(&directory.join("gmon.out"), &bytes(&profile(1)), ran);
    for (later, is_doubtful) in [(0, false), (2_000_000_000, false), (2_000_000_001, true)] {
        write_at(&directory.join("prog"), &program(&[b"main"]), ran + Duration::from_nanos(later));
        let (error, out, warnings) = run(&directory, &["@prog", "@gmon.out"]);
        assert_eq!(error, None);
        let doubt = "warning: gmon.out: older than prog: was the program rebuilt after the run?\n";
        assert_eq!(
            (out.starts_with(doubt), warnings.contains(doubt)),
            (is_doubtful, is_doubtful),
            "{later}: {warnings}"
        );
    }
}

/// Each program that another program is taken for has one warning, with the number of its profiles. Ten are enough.
#[test]
fn profiles_of_many_programs_have_ten_warnings() {
    let directory = directory("many");
    fs::write(directory.join("prog"), program(&[b"main"])).unwrap();
    let mut words = vec!["-b".to_owned(), "@prog".to_owned()];
    for number in 0..22 {
        let name = format!("gmon.{number}");
        let profile = bytes(&profile(1));
        fs::write(directory.join(&name), &profile).unwrap();
        let mut side = SideFile::new(Word::W64);
        side.set_profile(Some(Checksum::of(&profile)));
        let mut other = Object::new(Kind::Program, b"other");
        other.identity = Identity::Headers(number % 11);
        side.add_object(PROGRAM, other).unwrap();
        fs::write(directory.join(format!("{name}.side")), side.write()).unwrap();
        words.push(format!("@{name}"));
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (_, out, warnings) = run(&directory, &words);
    let lines: Vec<&str> = warnings.lines().filter(|line| line.contains("another build or program")).collect();
    assert_eq!(lines.len(), 10, "{warnings}");
    let first = "warning: gmon.0 and 1 more: written by another build or program: a program without build ID (headers \
                 0000000000000000) ran (other), prog is ";
    assert!(lines[0].contains(first), "{warnings}");
    assert!(lines[9].contains("gmon.9 and 1 more: ") && lines[9].contains("0000000000000009"), "{warnings}");
    assert_eq!(out.lines().filter(|line| line.contains("another build or program")).count(), 10, "{out}");
    // A sum leaves out each profile, with a warning.
    let (error, _, warnings) = run(&directory, &[&["-s"], &words[1..]].concat());
    assert!(
        error.is_some_and(|error| error.starts_with("no sum: all profiles are of other programs or builds than prog"))
    );
    assert_eq!(warnings.matches(": left out of the sum: written by another build or program").count(), 22);
    // Of one program, all profiles.
    let (_, _, warnings) = run(&directory, &["-b", "@prog", "@gmon.0", "@gmon.11", "@gmon.1"]);
    assert_eq!(warnings.lines().count(), 2, "{warnings}");
    assert!(warnings.contains("gmon.1: written by another build"), "{warnings}");
}

/// Warnings name files, and a file may have any name.
#[test]
fn a_warning_is_one_line_and_one_cell() {
    let directory = directory("names");
    let ran = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let profile = profile(2).with_arcs([Arc::new(LOW + 1, LOW + 16, 1)]);
    write_at(&directory.join("gmon.out"), &bytes(&profile), ran);
    fs::write(directory.join("p, \"q\"\n"), program(&[b"main", b"f"])).unwrap();
    let words = |format: &'static str| [format, "@p, \"q\"\n", "@gmon.out"];
    let (_, out, _) = run(&directory, &words("-b"));
    let said = "older than p, \"q\"\\n: was the program rebuilt after the run?";
    assert!(out.starts_with(&format!("warning: gmon.out: {said}\n\nFlat profile:")), "{out}");
    let (_, out, _) = run(&directory, &words("--format=csv"));
    let cell = format!("\"warning: gmon.out: {}\"", said.replace('"', "\"\""));
    assert_eq!(out.lines().nth(1), Some(format!("warning,,,,{cell}{}", ",".repeat(17)).as_str()), "{out}");
    let (_, out, _) = run(&directory, &words("--format=dot"));
    let said = said.replace('\\', "\\\\").replace('"', "\\\"");
    assert!(out.contains(&format!("\tlabel=\"warning: gmon.out: {said}\\ntimes of called")), "{out}");
}

/// Formats whose only text is a title have all warnings there.
#[test]
fn a_title_has_all_warnings() {
    let directory = directory("titles");
    let ran = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    // Samples beyond the program.
    write_at(&directory.join("gmon.out"), &bytes(&profile(0x1000)), ran);
    fs::write(directory.join("prog"), program(&[b"main"])).unwrap();
    let (_, out, _) = run(&directory, &["--format=speedscope", "@prog", "@gmon.out"]);
    let title = "\"name\":\"prog (warning: gmon.out: the profile has addresses outside the program (";
    assert!(out.contains(title), "{out}");
    let end = "is it the profile of another program?; warning: gmon.out: older than prog: was the program rebuilt after the run?)\"";
    assert!(out.contains(end), "{out}");
}

/// Samples of a live profile are padded to whole pages of 4 KiB or 64 KiB.
#[test]
fn padded_samples_are_no_addresses_outside() {
    let directory = directory("padded");
    fs::write(directory.join("prog"), program(&[b"main"])).unwrap();
    for (size, is_whole) in [(0x1000_u64, true), (0x10000, true), (0x1002, false), (0x8000 - 2, false)] {
        let bins = (size - 40) / 2;
        let histogram = Histogram::new(LOW..LOW + 4 * bins, Unit::seconds(100), vec![1_u16; bins as usize]).unwrap();
        let profile = Profile::of_samples([histogram]).unwrap();
        fs::write(directory.join("gmon.out"), bytes(&profile)).unwrap();
        let (_, _, warnings) = run(&directory, &["@prog", "@gmon.out"]);
        assert_eq!(warnings.contains("addresses outside the program"), !is_whole, "{size}: {warnings}");
    }
}

/// Cells that readers would divide, unquote, or leave out are quoted, and cells that spreadsheets would compute are not
/// computed.
#[test]
fn cells_of_csv_are_data() {
    let directory = directory("cells");
    let names: [(&[u8], &str); 13] = [
        (b"plain", "plain"),
        (b"a,b", "\"a,b\""),
        (b"a b", "\"a b\""),
        (b"a\"b", "\"a\"\"b\""),
        (b"#a", "\"#a\""),
        (b"'a", "\"'a\""),
        (b"=a", "\"'=a\""),
        (b"+a", "\"'+a\""),
        (b"-a", "\"'-a\""),
        (b"@a", "\"'@a\""),
        (b"a=+-@", "a=+-@"),
        (b"a\nb", "a\\nb"),
        (b"a\x1bb", "a\\u{1b}b"),
    ];
    fs::write(directory.join("prog"), program(&names.map(|(name, _)| name))).unwrap();
    fs::write(directory.join("gmon.out"), bytes(&profile(13))).unwrap();
    let (_, out, _) = run(&directory, &["--format=csv", "@prog", "@gmon.out"]);
    for (at, (_, cell)) in (0..).zip(names) {
        let code = format!("function,prog,,,{cell},{cell},0x{:x},,,,,,,,", LOW + 16 * at);
        assert!(out.lines().any(|row| row.starts_with(&code)), "{code}\n{out}");
    }
}

/// A name is one word of one row, wherever the report goes.
#[test]
fn names_with_control_characters_stay_on_their_rows() {
    let directory = directory("controls");
    fs::write(directory.join("prog"), program(&[b"line\nend", b"back\\slash \"q\"", b"red\x1b[31m"])).unwrap();
    let profile = profile(3).with_arcs([Arc::new(LOW + 1, LOW + 16, 1)]);
    fs::write(directory.join("gmon.out"), bytes(&profile)).unwrap();
    let (_, plain, _) = run(&directory, &["-b", "-p", "@prog", "@gmon.out"]);
    assert!(plain.contains(" line\\nend\n") && plain.contains(" red\\u{1b}[31m\n"), "{plain}");
    // GNU's gprof escapes nothing.
    let (_, gnu, _) = run(&directory, &["-b", "-p", "--compat=gnu", "@prog", "@gmon.out"]);
    assert!(gnu.contains(" line\nend\n"), "{gnu}");
    let (_, dot, _) = run(&directory, &["--format=dot", "@prog", "@gmon.out"]);
    for name in ["line\\\\nend", "back\\\\slash \\\"q\\\"", "red\\\\u{1b}[31m"] {
        assert!(dot.contains(&format!("\t\"{name}\" [label=\"prog\\n{name}\\n")), "{dot}");
    }
}

/// If the profiles lack what one output needs, no output is written.
#[test]
fn all_outputs_are_possible_or_none_is_written() {
    let directory = directory("possible");
    fs::write(directory.join("prog"), program(&[b"main"])).unwrap();
    fs::write(directory.join("gmon.out"), bytes(&profile(1))).unwrap();
    let (error, out, _) = run(&directory, &["@prog", "@gmon.out", "-o", "@a.txt", "-o", "-", "-o", "@b.svg"]);
    assert_eq!(error.as_deref(), Some("no call graph: the profile has no calls"));
    assert!(out.is_empty() && !directory.join("a.txt").exists());
    // Files come first: if one cannot be written, the standard output has nothing.
    let (error, out, _) = run(&directory, &["@prog", "@gmon.out", "-o", "-", "-o", "@none/a.txt"]);
    assert_eq!((error.as_deref(), out.as_str()), (Some("none/a.txt: No such file or directory"), ""));
    // An output is no input, and no other output.
    fs::copy(directory.join("gmon.out"), directory.join("c.txt")).unwrap();
    std::os::unix::fs::symlink("b.txt", directory.join("link.txt")).unwrap();
    for (output, said) in [("@c.txt", "the file is an input"), ("@link.txt", "another '--output' names the same file")]
    {
        let (error, ..) = run(&directory, &["@prog", "@c.txt", "-o", "@b.txt", "-o", output]);
        assert!(error.as_ref().is_some_and(|error| error.contains(said)), "{output}: {error:?}");
        assert!(!directory.join("b.txt").exists(), "{output}");
    }
}

/// What changes how other characters are shown does not reach a terminal. The neighbors of these characters do.
#[test]
fn no_name_changes_the_direction_of_writing() {
    let hidden =
        ['\u{200e}', '\u{200f}', '\u{2028}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{80}', '\u{9f}'];
    for letter in hidden {
        assert_eq!(visible(&format!("a{letter}b")), format!("a\\u{{{:x}}}b", u32::from(letter)));
    }
    for letter in ['\u{200d}', '\u{2010}', '\u{2027}', '\u{202f}', '\u{2065}', '\u{206a}', '\u{a0}'] {
        assert_eq!(visible(&format!("a{letter}b")), format!("a{letter}b"));
    }
    // Reports look for such characters byte by byte.
    let directory = directory("directions");
    fs::write(directory.join("prog"), program(&["x\u{9b}y".as_bytes(), "x\u{202e}y".as_bytes()])).unwrap();
    fs::write(directory.join("gmon.out"), bytes(&profile(2))).unwrap();
    let (_, out, _) = run(&directory, &["-b", "-p", "@prog", "@gmon.out"]);
    assert!(out.contains(" x\\u{9b}y\n") && out.contains(" x\\u{202e}y\n"), "{out}");
    let (_, page, _) = run(&directory, &["--format=flame", "@prog", "@gmon.out"]);
    assert!(page.contains("x\\u{202e}y") && !page.contains("\u{202e}"), "{page}");
}

/// A file has what it has without a terminal: the width and the colors of a terminal are for the terminal.
#[test]
fn files_do_not_depend_on_the_terminal() {
    let directory = directory("terminals");
    fs::write(directory.join("prog"), program(&[b"main", &[b'f'; 60]])).unwrap();
    let profile = profile(2).with_arcs([Arc::new(LOW + 1, LOW + 16, 1)]);
    fs::write(directory.join("gmon.out"), bytes(&profile)).unwrap();
    let terminal = Terminal { reports: Some(40), colors: true, has_screen: true, ..Terminal::default() };
    let words = ["--no-pager", "--format=table", "@prog", "@gmon.out", "-o", "@a.txt"];
    let read = || fs::read_to_string(directory.join("a.txt")).unwrap();
    assert_eq!(run(&directory, &words).0, None);
    let without = read();
    assert_eq!(run_on(&terminal, &directory, &words).0, None);
    assert_eq!(read(), without);
    let (_, shown, _) = run_on(&terminal, &directory, &words[..4]);
    assert!(shown.contains("\x1b[") && !without.contains("\x1b["), "{shown}");
    // A terminal gets no bytes that are no text.
    let of = |format| run_on(&terminal, &directory, &["--no-pager", format, "@prog", "@gmon.out"]).0;
    assert!(
        of("--format=pprof").is_some_and(|error| error.starts_with("the format pprof is not text: write it to a file"))
    );
    assert_eq!((of("--format=csv"), of("--format=text")), (None, None));
    assert_eq!(run(&directory, &["--format=pprof", "@prog", "@gmon.out", "-o", "@a.pb.gz"]).0, None);
}

/// A temporary file of another run stays, and the output gets a temporary file of another name.
#[test]
fn a_temporary_name_that_is_taken_is_not_used() {
    let directory = directory("temporary");
    fs::write(directory.join("prog"), program(&[b"main"])).unwrap();
    fs::write(directory.join("gmon.out"), bytes(&profile(1))).unwrap();
    let temporary = |number: u32| directory.join(format!(".gprof.{}.{number}", std::process::id()));
    let write = || run(&directory, &["@prog", "@gmon.out", "-o", "@a.txt"]).0;
    (0..3).for_each(|number| fs::write(temporary(number), "of another run").unwrap());
    assert_eq!(write(), None);
    assert!(fs::read_to_string(directory.join("a.txt")).unwrap().starts_with("Flat profile:"));
    assert!((0..3).all(|number| fs::read_to_string(temporary(number)).unwrap() == "of another run"));
    assert!(!temporary(3).exists());
    // Nobody leaves so many files.
    (3..=100).for_each(|number| fs::write(temporary(number), "").unwrap());
    assert_eq!(write().as_deref(), Some("a.txt: File exists"));
    fs::remove_file(temporary(100)).unwrap();
    assert_eq!(write(), None);
}

/// A program whose unwind tables have no index needs the index first.
#[test]
fn a_program_without_an_index_of_unwind_tables_needs_one() {
    let options = Options::new("image", ["profile"]);
    let heads = |reason| {
        let loaded = gprof::from_memory(&options, program(&[b"main"]), profile(1)).unwrap();
        let mut stacks = Stacks::new();
        let top = stacks.push(None, Place::Cut(reason), 0);
        stacks.push(top, Place::Code(LOW), 1).unwrap();
        stacks.add_profile(1, true);
        let loaded = loaded.with_stacks(stacks);
        let analysis = gprof::analyze(&loaded, &options, &mut std::io::sink()).unwrap();
        let mut out = Vec::new();
        gprof::render(&analysis, Format::Text, &Terminal::default(), &mut out, &mut std::io::sink()).unwrap();
        String::from_utf8(out).unwrap()
    };
    let advice = "The program has no index of its unwind tables: link it with -Wl,--eh-frame-hdr\n";
    assert!(heads(CutReason::NO_TABLE).contains(advice));
    assert!(!heads(CutReason::NO_STACK).contains(advice));
}

/// The estimated time of a member of a cycle is not the time that its callers hand up, so no caller is missing.
#[test]
fn members_of_estimated_cycles_have_no_unknown_callers() {
    let directory = directory("cycles");
    fs::write(directory.join("prog"), program(&[b"main", b"one", b"two", b"end"])).unwrap();
    let arc = |from: u64, to: u64, calls| Arc::new(LOW + 16 * from + 1, LOW + 16 * to, calls);
    let profile = profile(4).with_arcs([arc(0, 1, 1), arc(1, 2, 7), arc(2, 1, 6)]);
    fs::write(directory.join("gmon.out"), bytes(&profile)).unwrap();
    let (_, out, _) = run(&directory, &["--format=callgrind", "@prog", "@gmon.out"]);
    assert!(out.contains(" one\n") && !out.contains("<spontaneous>"), "{out}");
}
