//! The BSD personality, compared with the output of FreeBSD's gprof, byte for byte, and with itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gmon::{Form, Hints, Order, Word};
use gmon_tests::{assert_same, compile, directory, gprof, read, run};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/bsd")
}

/// The command line that an output's name stands for: `basic.b.k.driver.emit.txt` is `-b -k driver emit basic
/// basic.gmon`.
fn command_line(file: &str) -> Vec<String> {
    let mut parts = file.strip_suffix(".txt").unwrap().split('.');
    let image = parts.next().unwrap();
    let (mut options, mut profiles, mut system) = (Vec::new(), vec![format!("{image}.gmon")], "freebsd");
    for part in parts {
        match part {
            "two" => profiles.push(format!("{image}.2.gmon")),
            "wide" | "us" => profiles = vec![format!("{image}.{part}.gmon")],
            "openbsd" => system = part,
            letter if letter.len() == 1 => options.push(format!("-{letter}")),
            name => options.push(name.to_owned()),
        }
    }
    [vec![format!("--bsd={system}")], options, vec![image.to_owned()], profiles].concat()
}

/// All stored outputs of the system's gprof.
fn outputs() -> Vec<String> {
    let names = fs::read_dir(data()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".txt")).collect();
    names.sort();
    names
}

#[test]
fn every_output_of_the_system() {
    let outputs = outputs();
    assert!(outputs.len() >= 33, "{outputs:?}");
    for name in outputs {
        let words = command_line(&name);
        let ours = read(gprof(), &data(), &words);
        assert!(ours.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ours.stderr));
        assert_same(&fs::read(data().join(&name)).unwrap(), &ours.stdout, &format!("{words:?}"));
        assert!(ours.stderr.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&ours.stderr));
    }
}

#[test]
fn every_option_has_an_output() {
    let used: BTreeSet<String> = outputs().iter().flat_map(|name| command_line(name)).collect();
    for letter in ["-a", "-b", "-e", "-E", "-f", "-F", "-k", "-l", "-L", "-u", "-z"] {
        assert!(used.contains(letter), "{letter}");
    }
}

#[test]
fn files_that_are_missing() {
    for (words, file) in
        [(["--bsd", "nosuch", "basic.gmon"], "noimage"), (["--bsd", "basic", "nosuch.gmon"], "noprofile")]
    {
        let expected = fs::read_to_string(data().join(format!("err.{file}.err"))).unwrap();
        let ours = read(gprof(), &data(), &words);
        let status = ours.status.code().unwrap();
        assert_eq!(format!("{}exit {status}\n", String::from_utf8_lossy(&ours.stderr)), expected);
    }
}

#[test]
fn other_profiles_say_the_same() {
    for image in ["basic", "knots"] {
        let expected = fs::read(data().join(format!("{image}.b.txt"))).unwrap();
        let profile = format!("{image}.openbsd.gmon");
        let ours = read(gprof(), &data(), &["--bsd", "-b", image, &profile]);
        assert_same(&expected, &ours.stdout, &profile);
    }
}

/// The output of our gprof in a directory; gprof must succeed.
fn printed(directory: &Path, words: &[&str]) -> String {
    let output = read(gprof(), directory, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn explanations_come_before_the_tables() {
    let text = printed(&data(), &["--bsd", "basic", "basic.gmon"]);
    let places =
        ["How to read the call graph", "called/total       parents", "How to read the flat", "ms/call", "Index by"];
    let found: Vec<usize> = places.iter().map(|place| text.find(place).unwrap()).collect();
    assert!(found.is_sorted(), "{found:?}");
    let brief = printed(&data(), &["--bsd", "-b", "basic", "basic.gmon"]);
    assert!(text.lines().count() > brief.lines().count() + 50);
}

#[test]
fn large_cycles_are_broken() {
    let broken = |limit: &str| printed(&data(), &["--bsd", "-b", "-C", limit, "knots", "knots.gmon"]);
    let whole = printed(&data(), &["--bsd", "-b", "knots", "knots.gmon"]);
    let text = broken("3");
    assert!(text.starts_with("\n\nCalls left out of the calculation,\nso that no cycle is larger than 3:\n\tNone\n\n"));
    assert!(text.ends_with(&whole));
    let text = broken("2");
    assert!(text.contains("than 2:\n\tblue to red with 150 calls\n\n"), "{text}");
    assert!(text.contains("<cycle 2 as a whole>") && text.contains("red <cycle 2> [") && !text.contains("blue <cycle"));
    // Omitted calls are still shown, as calls that carry no time.
    assert!(text.contains("\n                                     150             blue ["), "{text}");
    let text = broken("1");
    assert!(!text.contains("<cycle"), "{text}");
    assert!(
        text.contains("\tgreen to red with 150 calls\n") && text.contains("\teven to odd with 360 calls\n")
            || text.contains("\todd to even with 330 calls\n"),
        "{text}"
    );
}

#[test]
fn calls_that_never_happened() {
    let text = |options: &str| printed(&data(), &["--bsd", "-b", "-z", options, "basic", "basic.gmon"]);
    let line = "                0.00        0.00       0/0           __do_global_dtors_aux [";
    assert!(text("-c").contains(line) && !text("-z").contains(line));
}

#[test]
fn default_files() {
    let directory = directory("bsd_default_files");
    let put = |from: &str, to: &str| fs::copy(data().join(from), directory.join(to)).unwrap();
    put("basic", "a.out");
    put("basic.gmon", "gmon.out");
    let expected = fs::read_to_string(data().join("basic.b.txt")).unwrap();
    assert_eq!(printed(&directory, &["--bsd", "-b"]), expected);
    // FreeBSD tries its own file name first; OpenBSD has no such name.
    put("basic.us.gmon", "a.out.gmon");
    assert!(printed(&directory, &["--bsd", "-b"]).contains("us/call"));
    assert!(printed(&directory, &["--bsd=openbsd", "-b"]).contains("0.69 seconds"));
    // The program's name selects the personality too. (The test uses a link: a copy may still be open for writing in
    // the child of another test's thread.)
    let named = directory.join("bsdgprof");
    std::os::unix::fs::symlink(gprof(), &named).unwrap();
    let output = read(&named, &directory, &["-b"]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("us/call"));
    // --gnu overrides both.
    let output = read(&named, &directory, &["--gnu", "-b", "-p"]);
    assert!(
        String::from_utf8(output.stdout).unwrap().starts_with("Flat profile:\n"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn sums_are_stored_in_the_systems_form() {
    let directory = directory("bsd_sums");
    for name in ["basic", "basic.gmon", "basic.2.gmon"] {
        fs::copy(data().join(name), directory.join(name)).unwrap();
    }
    for (system, form) in [("freebsd", None), ("openbsd", Some(Form::OpenBsd))] {
        let system = format!("--bsd={system}");
        let text = printed(&directory, &[&system, "-b", "-s", "basic", "basic.gmon", "basic.2.gmon"]);
        let bytes = fs::read(directory.join("gmon.sum")).unwrap();
        let hints = Hints::new().with_word(Word::W64).with_order(Order::Little);
        let found = gmon::detect(&bytes, &hints).unwrap().encoding().form;
        assert!(form.is_none_or(|form| form == found) && found != Form::Gnu, "{found:?}");
        assert_eq!(printed(&directory, &[&system, "-b", "basic", "gmon.sum"]), text);
    }
}

#[test]
fn programs_of_this_system() {
    let image = compile("bsd_native", &["cycles.c"], &["-g"]);
    let profile = run(&image);
    let directory = image.parent().unwrap();
    let name = profile.file_name().unwrap().to_str().unwrap();
    let text = printed(directory, &["--bsd", "-b", "a.out", name]);
    assert!(text.contains("<cycle 1 as a whole>\t[") && text.contains("main ["), "{text}");
}
