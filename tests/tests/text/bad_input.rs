//! Missing, truncated, wrong, and hostile files: one clear line, exit status 1, and no panic.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use gmon_tests::profiles::keep_first_histogram;
use gmon_tests::random::{Random, Stage};
use gmon_tests::{compile, directory, gprof, read, run};
use gprof::Terminal;

/// A program and its profile, in a directory for further files.
fn program(name: &str) -> (PathBuf, PathBuf) {
    let image = compile(name, &["leaf.c"], &["-g"]);
    let profile = run(&image);
    (image, profile)
}

/// The output of `gprof` in a directory with an input that it cannot use.
fn complaint(directory: &Path, words: &[&str]) -> String {
    let output = read(gprof(), directory, words);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{words:?}: {text}");
    assert!(output.stdout.is_empty(), "{words:?}");
    assert!(text.starts_with("gprof: ") && text.ends_with('\n') && text.lines().count() == 1, "{words:?}: {text}");
    text.trim_end().to_owned()
}

#[test]
fn images() {
    let (image, _) = program("bad_images");
    let directory = image.parent().unwrap();
    let bytes = fs::read(&image).unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(directory.join(name), bytes).unwrap();
    put("empty", b"");
    put("text", b"#!/bin/sh\n");
    put("short", &bytes[..10]);
    put("cut", &bytes[..bytes.len() / 2]);
    put("head", &bytes[..64]);
    put("profile", &fs::read(directory.join("gmon.out")).unwrap());
    put("machos", b"\xcf\xfa\xed\xfe\x07\0\0\x01\x03\0\0\0\x02\0\0\0");
    fs::create_dir(directory.join("dir")).unwrap();
    for (name, expected) in [
        ("missing", "gprof: missing: No such file or directory"),
        ("dir", "gprof: dir: Is a directory"),
        ("empty", "gprof: empty: empty file, not an ELF, PE, or Mach-O executable"),
        ("text", r"gprof: text: not an ELF, PE, or Mach-O executable (magic #!/b at offset 0)"),
        ("short", "gprof: short: damaged ELF file: "),
        ("head", "gprof: head: damaged ELF file: "),
        ("cut", "gprof: cut: damaged ELF file: "),
        ("short", "gprof: short: damaged ELF file: cut short (10 bytes; the header requires 64)"),
        ("head", "gprof: head: damaged ELF file: cut short (64 bytes; the header requires "),
        ("cut", "gprof: cut: damaged ELF file: cut short ("),
        ("profile", "gprof: profile: this is a profile; name the program first"),
        ("machos", "gprof: machos: damaged Mach-O file: "),
        ("/dev/zero", "gprof: /dev/zero: not a regular file"),
    ] {
        let text = complaint(directory, &[name]);
        assert!(text.starts_with(expected), "{name}: {text}");
    }
}

#[test]
fn profiles() {
    let (image, profile) = program("bad_profiles");
    let directory = image.parent().unwrap();
    let bytes = fs::read(profile).unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(directory.join(name), bytes).unwrap();
    put("empty", b"");
    put("short", b"gm");
    put("text", b"this is no profile at all, only some words");
    put("cut", &bytes[..bytes.len() - 7]);
    put("tail", &[&bytes[..], b"\x07"].concat());
    put("elf", &fs::read(&image).unwrap());
    // A histogram with four thousand million bins.
    let mut huge = bytes.clone();
    huge[37..41].fill(0xff);
    put("huge", &huge);
    let mut version = bytes.clone();
    version[4] = 9;
    put("version", &version);
    for (name, expected) in [
        ("missing", "No such file or directory"),
        (".", "Is a directory"),
        ("empty", ""),
        ("short", ""),
        ("text", ""),
        ("cut", "truncated"),
        ("tail", ""),
        ("elf", ""),
        ("huge", "truncated"),
        ("version", ""),
        ("/dev/zero", "not a regular file"),
    ] {
        let text = complaint(directory, &["a.out", name]);
        let rest = text.strip_prefix(&format!("gprof: {name}: "));
        assert!(rest.is_some_and(|rest| rest.len() > 5 && rest.contains(expected)), "{name}: {text}");
        // The message names the bad profile among good ones.
        let text = complaint(directory, &["-b", "a.out", "gmon.out", name]);
        assert!(text.starts_with(&format!("gprof: {name}: ")), "{text}");
    }
}

#[test]
fn a_program_that_left_no_profile() {
    let image = compile("bad_no_profile", &["leaf.c"], &[]);
    let directory = image.parent().unwrap();
    let why = "No such file or directory: was the program built with -pg, and did it run to its end in this directory?";
    assert_eq!(complaint(directory, &["a.out"]), format!("gprof: gmon.out: {why}"));
    assert_eq!(complaint(directory, &["a.out", "./gmon.out"]), format!("gprof: ./gmon.out: {why}"));
    assert_eq!(complaint(directory, &["a.out", "other"]), "gprof: other: No such file or directory");
    // A misspelled name: of the program, of a profile, with a directory, and of another option's file.
    fs::write(directory.join("gmon.sum"), "").unwrap();
    let missing = "No such file or directory; did you mean";
    for (words, name, meant) in [
        (&["a.ot"][..], "a.ot", "a.out"),
        (&["a.out", "gmon.smu"], "gmon.smu", "gmon.sum"),
        (&["a.out", "./gmonsum"], "./gmonsum", "./gmon.sum"),
        (&["-S", "gmom.sum", "a.out"], "gmom.sum", "gmon.sum"),
    ] {
        assert_eq!(complaint(directory, words), format!("gprof: {name}: {missing} '{meant}'?"));
    }
    // The reverse order.
    fs::rename(run(&image), directory.join("profile")).unwrap();
    let said = complaint(directory, &["profile", "a.out"]);
    assert_eq!(said, "gprof: profile: this is a profile; name the program first");
}

#[test]
fn command_lines() {
    let directory = directory("bad_command_lines");
    for (words, named) in [
        (vec!["--no-such-option"], "--no-such-option"),
        (vec!["-b", "-@"], "-@"),
        (vec!["--flat-profil", "--grahp"], "did you mean '--graph'"),
        (vec!["-k", "main"], "'-k main': name two functions"),
        (vec!["-e", "a/b"], "'-e a/b'"),
        (vec!["-R", "map", "-r"], "'--function-ordering' and '--file-ordering' cannot be used together"),
        (vec!["-rRmap"], "cannot be used together"),
        (vec!["-l", "-Rmap"], "'--line' and '--file-ordering'"),
        (vec!["-R"], "--file-ordering"),
        (vec!["--compat=gnu", "-O", "prof"], "--file-format"),
        (vec!["-O", "x"], "--file-format"),
        (vec!["--profile-form=bsd,lp32"], "'lp32' is not one of ilp32, lp64, llp64"),
        (vec!["-Obsd", "--profile-form=gnu"], "'--file-format' and '--profile-form' cannot be used together"),
        (vec!["-w", "wide"], "--width"),
        (vec!["--demangle=klingon"], "klingon"),
        (vec!["--brief=yes"], "--brief"),
    ] {
        let text = complaint(&directory, &words);
        assert!(text.contains(named), "{text}");
    }
}

#[test]
fn maps_of_object_files() {
    let (image, _) = program("bad_maps");
    let directory = image.parent().unwrap();
    for (text, expected) in [
        ("a.o:0 T main\na.o 0 T f\n", "line 2: not 'file:address type name' ('a.o 0 T f')"),
        ("\n0000000000000000 T main\n", "line 2: no file name before the address ('0000000000000000 T main')"),
        ("a.o:0 T main\n\u{1}\n", "line 2: not 'file:address type name' ('\\x01')"),
        ("", "line 1: the map names no object file"),
    ] {
        fs::write(directory.join("map"), text).unwrap();
        let found = complaint(directory, &["-R", "map", "a.out"]);
        assert!(found.starts_with(&format!("gprof: map: {expected}; make the map with nm ")), "{found}");
    }
    for (name, expected) in [("missing", "No such file or directory"), (".", "Is a directory")] {
        let found = complaint(directory, &["-R", name, "a.out"]);
        assert_eq!(found.trim_end(), format!("gprof: {name}: {expected}"));
    }
}

#[test]
fn functions_that_do_not_exist() {
    let (image, _) = program("bad_names");
    let directory = image.parent().unwrap();
    for words in ["-pnosuch", "-e nosuch", "-k main/nosuch", "-qnosuch.c:main", "-p999999"] {
        let mut all: Vec<&str> = words.split(' ').collect();
        all.push("a.out");
        let text = complaint(directory, &all);
        assert!(text.starts_with("gprof: '-") && text.contains("no function"), "{text}");
    }
}

#[test]
fn a_report_without_data() {
    let (image, profile) = program("bad_halves");
    let directory = image.parent().unwrap();
    let whole = gmon::read(&fs::read(profile).unwrap(), &gmon::Hints::default()).unwrap();
    let form = gmon::Encoding::new(gmon::Form::Gnu, gmon::DataModel::Lp64, gmon::Order::Little);
    let samples = gmon::Profile::of_samples(whole.histograms().to_vec()).unwrap();
    let calls = gmon::Profile::new().with_arcs(whole.arcs().to_vec());
    fs::write(directory.join("samples"), gmon::write(&samples, form).unwrap()).unwrap();
    fs::write(directory.join("calls"), gmon::write(&calls, form).unwrap()).unwrap();
    let text = complaint(directory, &["-q", "a.out", "samples"]);
    assert_eq!(text, "gprof: no call graph: the profile has no calls");
    let text = complaint(directory, &["-p", "a.out", "calls"]);
    assert_eq!(text, "gprof: no flat profile: the profile has no samples");
}

#[test]
fn a_profile_of_another_program() {
    let image = compile("other_small", &["leaf.c"], &["-pie", "-fPIE"]);
    let other = run(&compile("other_big", &["classes.cc"], &["-no-pie"]));
    let output = read(gprof(), image.parent().unwrap(), &[Path::new("-b"), &image, &other]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success());
    assert!(text.starts_with("gprof: warning: "), "{text}");
    assert!(text.contains("no address in the profile is in the program"), "{text}");
    assert_eq!(text.lines().count(), 1);
    // The text begins with the warning.
    let report = String::from_utf8(output.stdout).unwrap();
    let warning = text.trim_start_matches("gprof: ").trim_end();
    assert!(report.starts_with(&format!("{warning}\n\nFlat profile:")), "{report}");
}

#[test]
fn a_reader_that_goes_away() {
    let (image, _) = program("closed_pipe");
    let directory = image.parent().unwrap();
    let mut child = Command::new(gprof())
        .args(["-z", "a.out", "gmon.out"])
        .current_dir(directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), child.wait().unwrap().code()), ("", Some(0)));
}

#[test]
fn a_full_disk() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let (image, _) = program("full_disk");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output =
        Command::new(gprof()).arg("-b").arg(&image).current_dir(image.parent().unwrap()).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "gprof: standard output: No space left on device\n");
}

#[test]
fn a_profile_from_standard_input() {
    let (image, profile) = program("stdin");
    let directory = image.parent().unwrap();
    let from_file = read(gprof(), directory, &["-b", "a.out", "gmon.out"]);
    let from_pipe: Output = Command::new(gprof())
        .args(["-b", "a.out", "-"])
        .current_dir(directory)
        .stdin(fs::File::open(profile).unwrap())
        .output()
        .unwrap();
    assert!(from_file.status.success());
    assert_eq!(from_file.stdout, from_pipe.stdout);
    let empty =
        Command::new(gprof()).args(["a.out", "-"]).current_dir(directory).stdin(Stdio::null()).output().unwrap();
    assert!(String::from_utf8_lossy(&empty.stderr).starts_with("gprof: standard input: "));
}

/// Changes some bytes, mostly in headers, or truncates the file.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(8) {
        let length = bytes.len() as u64;
        let reach = *random.pick(&[64, 1024, length, length]);
        let back = random.below(2) == 0 && reach < length;
        let at = random.below(reach.min(length));
        let at = (if back { length - 1 - at } else { at }) as usize;
        match random.below(4) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = 0xff,
            2 => bytes[at] = random.number() as u8,
            _ => {
                let word = *random.pick(&[0, 1, u64::MAX, u64::MAX / 2, 1 << 40, length]);
                let end = bytes.len().min(at + 8);
                bytes[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
            }
        }
    }
    if random.below(6) == 0 {
        bytes.truncate(random.below(bytes.len() as u64) as usize);
    }
}

/// Reads damaged files in this process. A panic fails the test, and an error must be one line. Some damaged files are
/// drawn as tables, which take longer.
fn survive(image: &Path, profile: &Path, damage: u64) {
    let options: &[&str] = if damage.is_multiple_of(8) { &["-z", "--table", "--errors"] } else { &["-z"] };
    let options = ["gprof"].iter().chain(options).map(OsStr::new);
    let words = options.chain([image.as_os_str(), profile.as_os_str()]).map(ToOwned::to_owned);
    let (out, warnings) = (&mut std::io::sink(), &mut std::io::sink());
    if let Err(error) = gprof::run(words, out, warnings, &Terminal::default()) {
        let text = error.to_string();
        assert!(!text.contains('\n') && !text.is_empty(), "{text}");
    }
}

#[test]
fn damaged_images() {
    for (name, source, flags) in [
        ("damaged_c", "cycles.c", ["-g", "-O1", "-fno-inline"]),
        ("damaged_cpp", "classes.cc", ["-gdwarf-4", "-O0", "-no-pie"]),
    ] {
        let image = compile(name, &[source], &flags);
        let profile = run(&image);
        let whole = fs::read(&image).unwrap();
        let damaged = image.with_file_name("damaged");
        for seed in 0..400 {
            let mut bytes = whole.clone();
            damage(&mut bytes, &mut Random::new(seed));
            fs::write(&damaged, bytes).unwrap();
            survive(&damaged, &profile, seed);
        }
    }
}

#[test]
fn damaged_sections() {
    // Damage in important places: the symbol table, names, and line tables.
    let image = compile("damaged_sections", &["classes.cc"], &["-g"]);
    let profile = run(&image);
    let whole = fs::read(&image).unwrap();
    let damaged = image.with_file_name("damaged");
    let from = |pattern: &[u8]| whole.windows(pattern.len()).position(|window| window == pattern).unwrap() as u64;
    let names = from(b"_ZN6shapes");
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut bytes = whole.clone();
        let length = bytes.len() as u64;
        for _ in 0..50 {
            let near = *random.pick(&[names, names + 2000, length - 60_000, length - 20_000]);
            let at = near.saturating_add(random.below(20_000)).min(length - 1) as usize;
            bytes[at] = random.number() as u8;
        }
        fs::write(&damaged, bytes).unwrap();
        survive(&damaged, &profile, seed);
    }
}

#[test]
fn damaged_profiles() {
    let image = compile("damaged_profiles", &["many.c"], &[]);
    let stage = Stage::of(&fs::read(&image).unwrap());
    let damaged = image.with_file_name("damaged");
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let form = *random.pick(&[gmon::Form::Gnu, gmon::Form::Bsd, gmon::Form::OpenBsd]);
        let encoding = gmon::Encoding::new(form, gmon::DataModel::Lp64, gmon::Order::Little);
        let mut profile = stage.profile(&mut random);
        keep_first_histogram(&mut profile);
        let mut bytes = gmon::write(&profile, encoding).unwrap();
        damage(&mut bytes, &mut random);
        fs::write(&damaged, bytes).unwrap();
        survive(&image, &damaged, seed);
    }
}

#[test]
fn hostile_files_take_little_memory() {
    let (image, profile) = program("little_memory");
    let directory = image.parent().unwrap();
    let whole = fs::read(&profile).unwrap();
    let mut huge = whole.clone();
    huge[37..41].fill(0xff);
    fs::write(directory.join("huge"), huge).unwrap();
    let mut wide = whole;
    // From no place to every place, in the same bins.
    wide[21..29].fill(0);
    wide[29..37].fill(0xff);
    fs::write(directory.join("wide"), wide).unwrap();
    for name in ["huge", "wide"] {
        let output = Command::new("sh")
            .args(["-c", "ulimit -v 200000; exec \"$0\" -b a.out \"$1\""])
            .arg(gprof())
            .arg(name)
            .current_dir(directory)
            .output()
            .unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{name}: {output:?}");
    }
}
