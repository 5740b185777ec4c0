//! Reports as tables: what was looked at and found good, and the same words as in the plain reports.
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail as loudly as it does")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::{Encoding, Form, Order, Word};
use gmon_tests::random::{Random, Stage};
use gmon_tests::{assert_same, compile, gprof};

/// What ours prints, where neither a terminal nor a variable says how wide.
fn print(directory: &Path, words: &[&str], columns: Option<&str>) -> String {
    let mut command = Command::new(gprof());
    command.args(words).current_dir(directory).env_remove("COLUMNS").envs(columns.map(|columns| ("COLUMNS", columns)));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
}

/// Texts in `testdata/tables`, and the command lines that print them. With `GOLDENS=write` they are written anew, for
/// somebody to look at.
const GOLDENS: [(&str, &str); 6] = [
    ("basic.table.txt", "-b --table basic basic.gmon"),
    ("basic.explained.txt", "--table --errors basic basic.gmon"),
    ("knots.errors.txt", "-b --errors knots knots.gmon"),
    ("knots.table.errors.txt", "-b --table --errors knots knots.gmon"),
    ("knots.table.narrow.txt", "-b --table -w 60 knots knots.gmon knots.2.gmon"),
    ("knots.table.chosen.txt", "-b --table --errors -p -qblue -C knots knots.gmon"),
];

#[test]
fn what_was_found_good() {
    for (name, line) in GOLDENS {
        let text = print(&data().join("bsd"), &line.split(' ').collect::<Vec<_>>(), None);
        let path = data().join("tables").join(name);
        if std::env::var_os("GOLDENS").is_some_and(|value| value == "write") {
            fs::write(&path, &text).unwrap();
        }
        assert_same(&fs::read(&path).unwrap(), text.as_bytes(), &format!("{name}: gprof {line}"));
    }
}

/// The words of each row of a report: below the line of titles, and without what only separates.
fn rows(report: &str) -> Vec<String> {
    let is_table = report.contains('╞');
    let is_title = |line: &str| line.starts_with('╞') || line.contains("  name") || line.starts_with("Index");
    // The titles of a table have several lines, of which the last is a line between double lines.
    let last = report.lines().filter(|line| if is_table { line.starts_with('╞') } else { is_title(line) }).count();
    assert_eq!(last, 1, "{report}");
    let body =
        report.lines().skip_while(|line| if is_table { !line.starts_with('╞') } else { !is_title(line) }).skip(1);
    let body = body.filter(|line| line.starts_with('│') || !is_table && !line.starts_with("-----"));
    body.map(|line| {
        let words = line.split(|letter: char| "│┆".contains(letter) || letter.is_whitespace());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    })
    .filter(|row| !row.is_empty())
    .collect()
}

/// Compares the reports of a program as tables, so wide that nothing is cut, with the plain ones.
fn compare(directory: &Path, words: &[&str]) {
    let plain = print(directory, &[&["-b"], words].concat(), None);
    let tables = print(directory, &[&["-b", "--table", "-w", "9999"], words].concat(), None);
    let (plain, tables): (Vec<&str>, Vec<&str>) = (plain.split("\u{c}\n").collect(), tables.split("\u{c}\n").collect());
    assert_eq!(plain.len(), tables.len());
    for (plain, table) in plain.into_iter().zip(tables) {
        let (expected, found) = (rows(plain), rows(table));
        let different = expected.iter().zip(&found).find(|(expected, found)| expected != found);
        assert_eq!(different, None, "{words:?}");
        assert!(expected.len() == found.len() && !found.is_empty(), "{words:?}");
        let lines: Vec<&str> =
            table.lines().filter(|line| line.starts_with(|letter| "┌╞├│└".contains(letter))).collect();
        let width = |line: &&str| line.chars().count();
        assert!(lines.iter().all(|line| width(line) == width(&lines[0])), "{words:?}: as wide everywhere");
    }
}

#[test]
fn tables_say_what_the_plain_reports_say() {
    let programs = [("cycles", "cycles.c", "-g"), ("classes", "classes.cc", "-g"), ("no_debug", "orphan.c", "-O1")];
    for (name, source, flag) in programs {
        let image = compile(&format!("tables_{name}"), &[source], &[flag]);
        let stage = Stage::of(&fs::read(&image).unwrap());
        let mut random = Random::new(3);
        for _ in 0..4 {
            let mut profile = stage.profile(&mut random);
            profile.histograms.truncate(1);
            // Without samples there is no number in front of a name in the plain report, which the words show.
            profile.histograms[0].bins[0] += 1;
            let encoding = Encoding { form: Form::Gnu, word: Word::W64, order: Order::Little };
            let path = image.with_file_name("made-up");
            fs::write(&path, gmon::write(&profile, encoding).unwrap()).unwrap();
            let directory = image.parent().unwrap();
            for options in [["-z"].as_slice(), &["-z", "--errors"]] {
                compare(directory, &[options, &["a.out", "made-up"]].concat());
            }
        }
    }
}

#[test]
fn a_table_is_as_wide_as_it_is_told_to_be() {
    let width = |words: &[&str], columns| {
        let words = [&["-b", "--table", "-q"], words, &["knots", "knots.gmon"]].concat();
        let text = print(&data().join("bsd"), &words, columns);
        text.lines().find(|line| line.starts_with('┌')).unwrap().chars().count()
    };
    let least = width(&["-w", "1"], None);
    let most = width(&["-w", "1000"], None);
    assert!(least < 66 && most > 70 && most < 80, "{least}..{most}");
    assert_eq!(width(&[], None), most, "80 characters are enough");
    assert_eq!(width(&[], Some("70")), 70);
    assert_eq!(width(&["-w", "68"], Some("70")), 68, "the option comes before the variable");
    for nonsense in ["", "0", "-3", "wide"] {
        assert_eq!(width(&[], Some(nonsense)), most, "'{nonsense}'");
    }
    assert_eq!(width(&["-w", "9999999999999"], None), most);
}

#[test]
fn a_function_with_more_callers_than_a_group_has_rows() {
    // 2,600 functions, of which all others call the first one.
    let directory = gmon_tests::directory("tables_many");
    let names = (0..2600).map(|at| format!("void f{at}(void) {{}}\n")).collect::<String>();
    fs::write(directory.join("many.c"), names + "int main(void) { return 0; }\n").unwrap();
    let made = Command::new("cc").args(["-pg", "-o", "a.out", "many.c"]).current_dir(&directory).status().unwrap();
    assert!(made.success());
    let stage = Stage::of(&fs::read(directory.join("a.out")).unwrap());
    let mut profile = stage.circle(&mut Random::new(1), 3000);
    let first = profile.arcs[0].selfpc;
    profile.arcs.iter_mut().for_each(|arc| arc.selfpc = first);
    let encoding = Encoding { form: Form::Gnu, word: Word::W64, order: Order::Little };
    fs::write(directory.join("made-up"), gmon::write(&profile, encoding).unwrap()).unwrap();
    compare(&directory, &["-p", "-q", "-z", "a.out", "made-up"]);
}

#[test]
fn without_anything_to_show() {
    // A profile of one call, in a flat profile of nothing.
    let image = compile("tables_empty", &["leaf.c"], &["-g"]);
    let stage = Stage::of(&fs::read(&image).unwrap());
    let mut profile = stage.circle(&mut Random::new(1), 1);
    profile.histograms[0].bins.fill(0);
    profile.arcs.iter_mut().for_each(|arc| arc.frompc = 8);
    profile.arcs.iter_mut().for_each(|arc| arc.selfpc = 9);
    let encoding = Encoding { form: Form::Gnu, word: Word::W64, order: Order::Little };
    fs::write(image.with_file_name("made-up"), gmon::write(&profile, encoding).unwrap()).unwrap();
    let text = print(image.parent().unwrap(), &["-b", "--table", "a.out", "made-up"], None);
    for line in ["no time accumulated", "no time propagated", "┌", "└"] {
        assert!(text.contains(line), "{text}");
    }
    assert_eq!((text.matches('┌').count(), text.matches('└').count()), (3, 3), "{text}");
}
