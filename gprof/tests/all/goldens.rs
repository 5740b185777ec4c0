//! The stored texts of other readers, and the reviewed texts of this one, in the process of the test. The tests of the
//! whole project compare more texts with the program itself.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use gprof::Terminal;

use crate::knots::DATA;

/// What a command line writes. Its last words are files of a directory of the test data.
fn written(directory: &str, words: &[&str], files: &[String]) -> String {
    let files = files.iter().map(|file| format!("{DATA}{directory}/{file}"));
    let words = ["gprof"].into_iter().chain(words.iter().copied()).map(OsString::from);
    let (mut text, mut warnings) = (Vec::new(), Vec::new());
    let words = words.chain(files.map(OsString::from)).collect::<Vec<_>>();
    let result = gprof::run(words.clone(), &mut text, &mut warnings, &Terminal::default());
    assert!(result.is_ok(), "{words:?}: {result:?}");
    String::from_utf8(text).unwrap().replace(&format!("{DATA}{directory}/"), "")
}

fn assert_same(expected: &str, found: &str, what: &str) {
    let lines = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert_eq!(lines, None, "{what}");
    assert_eq!(expected.len(), found.len(), "{what}");
}

/// Compares with a transcript: the output of each command line, after a line with `$`.
fn check_transcript(directory: &str, name: &str) {
    let transcript = fs::read_to_string(Path::new(DATA).join(directory).join(format!("{name}.txt"))).unwrap();
    let mut checked = 0;
    for section in format!("\n{transcript}").split("\n$ gprof ").skip(1) {
        let (line, expected) = section.split_once('\n').unwrap_or((section, ""));
        let options = line.strip_suffix(&format!(" {name} {name}.gmon")).unwrap();
        // Orders follow a rule of our own, sources are in another directory, and the description of a profile has its
        // path.
        if options.split(' ').any(|option| ["-r", "-A", "-i"].contains(&option) || option.starts_with("-J")) {
            continue;
        }
        let words: Vec<&str> = ["--compat=gnu"].into_iter().chain(options.split(' ')).collect();
        let found = written(directory, &words, &[name.to_owned(), format!("{name}.gmon")]);
        // The line end before the next command line is part of the output.
        assert_same(expected.trim_end_matches('\n'), found.trim_end_matches('\n'), line);
        checked += 1;
    }
    assert!(checked > 3, "{name}");
}

#[test]
fn the_texts_of_gnu_gprof() {
    ["cycles", "classes", "inlined"].iter().for_each(|name| check_transcript("gnu", name));
    ["arm", "i386", "mips", "ppc64", "s390x"].iter().for_each(|name| check_transcript("machines", name));
}

/// The name of a text gives the command line: `basic.b.k.driver.emit.txt` is `-b -k driver emit basic basic.gmon`.
#[test]
fn the_texts_of_a_bsd_gprof() {
    let names = fs::read_dir(format!("{DATA}bsd")).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    let names = names.iter().filter_map(|name| name.strip_suffix(".txt"));
    let mut checked = 0;
    for name in names {
        let mut parts = name.split('.');
        let image = parts.next().unwrap();
        let (mut words, mut files) = (vec!["--bsd=freebsd".to_owned()], vec![format!("{image}.gmon")]);
        for part in parts {
            match part {
                "two" => files.push(format!("{image}.2.gmon")),
                "wide" | "us" => files = vec![format!("{image}.{part}.gmon")],
                "openbsd" => "--bsd=openbsd".clone_into(&mut words[0]),
                letter if letter.len() == 1 => words.push(format!("-{letter}")),
                function => words.push(function.to_owned()),
            }
        }
        files.insert(0, image.to_owned());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let expected = fs::read_to_string(format!("{DATA}bsd/{name}.txt")).unwrap();
        assert_same(&expected, &written("bsd", &words, &files), name);
        checked += 1;
    }
    assert!(checked >= 33, "{checked}");
}

#[test]
fn the_tables() {
    for (name, line) in [
        ("basic.table", "-b --table basic basic.gmon"),
        ("basic.explained", "--table --errors basic basic.gmon"),
        ("knots.errors", "-b --errors knots knots.gmon"),
        ("knots.table.errors", "-b --table --errors knots knots.gmon"),
        ("knots.table.narrow", "-b --table -w 60 knots knots.gmon knots.2.gmon"),
        ("knots.table.chosen", "-b --table --errors -p -qblue -C knots knots.gmon"),
        ("knots.table.cut", "--table --top=3 knots knots.gmon"),
        ("knots.table.stats", "--table --stats -w 60 knots knots.gmon knots.2.gmon"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let (words, files) = words.split_at(words.iter().rposition(|word| ["basic", "knots"].contains(word)).unwrap());
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        let expected = fs::read_to_string(format!("{DATA}tables/{name}.txt")).unwrap();
        assert_same(&expected, &written("bsd", words, &files), name);
    }
}
