//! Reports as tables: reviewed golden files, and the same words as in the plain reports.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::{DataModel, Encoding, Form, Order};
use gmon_tests::profiles::{keep_first_histogram, replace_counts};
use gmon_tests::random::{Random, Stage};
use gmon_tests::{assert_same, compile, gprof};

/// The output of ours when neither a terminal nor a variable gives a width.
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

/// Texts in `testdata/tables` and their command lines. `GOLDENS=write` rewrites the texts for a review.
const GOLDENS: [(&str, &str); 11] = [
    ("basic.table.txt", "-b --table basic basic.gmon"),
    ("basic.explained.txt", "--table --errors basic basic.gmon"),
    ("knots.errors.txt", "-b --errors knots knots.gmon"),
    ("knots.table.errors.txt", "-b --table --errors knots knots.gmon"),
    ("knots.table.narrow.txt", "-b --table -w 60 knots knots.gmon knots.2.gmon"),
    ("knots.table.chosen.txt", "-b --table --errors -p -qblue -C knots knots.gmon"),
    ("knots.table.cut.txt", "--table --top=3 knots knots.gmon"),
    ("knots.table.stats.txt", "--table --stats -w 60 knots knots.gmon knots.2.gmon"),
    ("knots.table.info.txt", "--table -i knots knots.gmon knots.2.gmon"),
    ("knots.table.info.alone.txt", "--table -i knots.gmon"),
    ("side.table.info.txt", "--table -i ../side/sine.side"),
];

#[test]
fn the_output_equals_the_reviewed_goldens() {
    for (name, line) in GOLDENS {
        let text = print(&data().join("bsd"), &line.split(' ').collect::<Vec<_>>(), None);
        let path = data().join("tables").join(name);
        if std::env::var_os("GOLDENS").is_some_and(|value| value == "write") {
            fs::write(&path, &text).unwrap();
        }
        assert_same(&fs::read(&path).unwrap(), text.as_bytes(), &format!("{name}: gprof {line}"));
    }
}

/// The words of each row of a report, below the line of titles, without separators.
fn rows(report: &str) -> Vec<String> {
    let is_table = report.contains('╞');
    let is_title = |line: &str| line.starts_with('╞') || line.contains("  name") || line.starts_with("Index");
    // A table's titles have several lines, and a double line ends them.
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

/// The rows of a plain report. A standard error on a line of its own is moved to the end of the self time in the line
/// above.
fn with_errors(rows: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for row in rows {
        let words: Vec<&str> = row.split(' ').collect();
        let [error, "standard", "error", number] = words[..] else {
            all.push(row);
            continue;
        };
        let own = all.pop().unwrap();
        let mut own: Vec<&str> = own.split(' ').collect();
        assert_eq!(own[0].trim_matches(['[', ']']), number.trim_matches(['(', ')']), "{row}");
        own.insert(3, error);
        all.push(own.join(" "));
    }
    all
}

/// A table without the standard errors in the entries of cycles as wholes, which the plain report lacks.
fn without_errors_of_cycles(table: &str) -> String {
    let mut entries: Vec<String> = table.split_inclusive("┤\n").map(str::to_owned).collect();
    for entry in entries.iter_mut().filter(|entry| entry.contains(" as a whole> [")) {
        let words = entry.split_inclusive(' ').map(|word| if word.starts_with('±') { " " } else { word });
        *entry = words.collect();
    }
    entries.concat()
}

/// Compares the reports of a program as tables, wide enough to cut nothing, with the plain reports.
fn compare(directory: &Path, words: &[&str]) {
    let plain = print(directory, &[&["-b"], words].concat(), None);
    let tables = print(directory, &[&["-b", "--table", "--top=all", "-w", "9999"], words].concat(), None);
    let (plain, tables): (Vec<&str>, Vec<&str>) = (plain.split("\u{c}\n").collect(), tables.split("\u{c}\n").collect());
    assert_eq!(plain.len(), tables.len());
    for (plain, table) in plain.into_iter().zip(tables) {
        let (expected, found) = (with_errors(rows(plain)), rows(&without_errors_of_cycles(table)));
        let different = expected.iter().zip(&found).find(|(expected, found)| expected != found);
        assert_eq!(different, None, "{words:?}");
        assert!(expected.len() == found.len() && !found.is_empty(), "{words:?}");
        let lines: Vec<&str> =
            table.lines().filter(|line| line.starts_with(|letter| "┌╞├│└".contains(letter))).collect();
        let width = |line: &&str| line.chars().count();
        assert!(
            lines.iter().all(|line| width(line) == width(&lines[0])),
            "{words:?}: must have the same width in all rows"
        );
    }
}

#[test]
fn tables_have_the_words_of_the_plain_reports() {
    let programs = [("cycles", "cycles.c", "-g"), ("classes", "classes.cc", "-g"), ("no_debug", "orphan.c", "-O1")];
    for (name, source, flag) in programs {
        let image = compile(&format!("tables_{name}"), &[source], &[flag]);
        let stage = Stage::of(&fs::read(&image).unwrap());
        let mut random = Random::new(3);
        for _ in 0..4 {
            let mut profile = stage.profile(&mut random);
            keep_first_histogram(&mut profile);
            // Without samples, the plain report has no number before a name, which shows in the words.
            replace_counts(&mut profile, |bin, count| count as u64 + u64::from(bin == 0));
            let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
            let path = image.with_file_name("made-up");
            fs::write(&path, gmon::write(&profile, encoding).unwrap()).unwrap();
            let directory = image.parent().unwrap();
            for options in [["-z"].as_slice(), &["-z", "--errors"]] {
                compare(directory, &[options, &["a.out", "made-up"]].concat());
            }
        }
    }
}

/// A C++ program with a profile of calls between all of its functions, some with long names.
fn long_names(name: &str) -> PathBuf {
    let image = compile(name, &["classes.cc"], &["-g"]);
    let stage = Stage::of(&fs::read(&image).unwrap());
    let profile = stage.circle(&mut Random::new(1), 3000);
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    fs::write(image.with_file_name("made-up"), gmon::write(&profile, encoding).unwrap()).unwrap();
    image.parent().unwrap().to_owned()
}

#[test]
fn the_width_of_a_table_can_be_set() {
    let directory = long_names("tables_width");
    let width = |words: &[&str], columns| {
        let words = [&["-b", "--table", "-q"], words, &["a.out", "made-up"]].concat();
        let text = print(&directory, &words, columns);
        text.lines().find(|line| line.starts_with('┌')).unwrap().chars().count()
    };
    let least = width(&["-w", "1"], None);
    let most = width(&["-w", "9000"], None);
    assert!(least < 66 && most > 132, "{least}..{most}");
    assert_eq!(width(&[], None), 80);
    assert_eq!(width(&[], Some("70")), 70);
    assert_eq!(width(&["-w", "68"], Some("70")), 68, "the option must override the variable");
    for nonsense in ["", "0", "-3", "wide"] {
        assert_eq!(width(&[], Some(nonsense)), 80, "'{nonsense}'");
    }
    assert_eq!(width(&["-w", "9999999999999"], None), most);
    let knots = |words: &[&str]| {
        let text =
            print(&data().join("bsd"), &[&["-b", "--table", "-q"], words, &["knots", "knots.gmon"]].concat(), None);
        text.lines().find(|line| line.starts_with('┌')).unwrap().chars().count()
    };
    let most = knots(&["-w", "1000"]);
    assert!(most > 70 && most < 80 && knots(&[]) == most, "80 characters suffice");
}

#[test]
fn at_80_characters_names_stand_on_one_line_with_both_ends() {
    let directory = long_names("tables_names");
    for options in [["-p"].as_slice(), &["-q"], &["-p", "--errors"], &["-q", "--errors"]] {
        let words = [&["-b"], options, &["a.out", "made-up"]].concat();
        let first = |words: &[&str]| {
            let text = print(&directory, words, None);
            text.split("\u{c}\n").next().unwrap().to_owned()
        };
        let (whole, narrow) = (
            first(&[&["--table", "-w", "9999"], words.as_slice()].concat()),
            first(&[&["--table"], words.as_slice()].concat()),
        );
        let (expected, found) = (rows(&whole), rows(&narrow));
        assert_eq!(expected.len(), found.len(), "{options:?}");
        let mut cut = 0;
        for (expected, found) in expected.iter().zip(&found) {
            let Some((start, end)) = found.split_once('…') else { continue };
            cut += 1;
            let start = start.rsplit(' ').next().unwrap();
            assert!(expected.contains(start) && expected.ends_with(end), "{expected}\n{found}");
            assert!(end.len() >= 10, "{found}");
        }
        assert!(cut > 10, "{options:?}: {cut}");
        // A name has at least 30 of these 80 characters.
        let title = narrow.lines().find(|line| line.starts_with('┌')).unwrap();
        assert!(title.rsplit('┬').next().unwrap().chars().count() >= 30, "{narrow}");
    }
}

/// A program with 2,600 functions, with a profile in which all of them call the first one, or each calls the next one.
fn many(name: &str, is_circle: bool) -> PathBuf {
    let directory = gmon_tests::directory(name);
    let names = (0..2600).map(|at| format!("void f{at}(void) {{}}\n")).collect::<String>();
    fs::write(directory.join("many.c"), names + "int main(void) { return 0; }\n").unwrap();
    let made = Command::new("cc").args(["-pg", "-o", "a.out", "many.c"]).current_dir(&directory).status().unwrap();
    assert!(made.success());
    let stage = Stage::of(&fs::read(directory.join("a.out")).unwrap());
    let mut profile = stage.circle(&mut Random::new(1), 3000);
    let first = profile.arcs()[0].selfpc;
    if !is_circle {
        profile.arcs_mut().iter_mut().for_each(|arc| arc.selfpc = first);
    }
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    fs::write(directory.join("made-up"), gmon::write(&profile, encoding).unwrap()).unwrap();
    directory
}

#[test]
fn a_function_with_more_callers_than_a_block_has_rows() {
    compare(&many("tables_many", false), &["-p", "-q", "-z", "a.out", "made-up"]);
}

/// The number of entries of a table of the call graph, or of names in a table of the index.
fn numbers(table: &str) -> usize {
    let has_number = |cell: &&str| cell.trim().starts_with('[');
    table.lines().map(|line| line.split(['│', '┆']).filter(has_number).count()).sum()
}

#[test]
fn a_table_shows_the_first_rows_and_says_how_many_more_there_are() {
    let directory = many("tables_cut", false);
    let reports = |options: &[&str]| -> Vec<String> {
        let text = print(&directory, &[&["-b", "-z", "-w", "200"], options, &["a.out", "made-up"]].concat(), None);
        text.split("\u{c}\n").map(str::to_owned).collect()
    };
    let (cut, all) = (reports(&["--table"]), reports(&["--table", "--top=all"]));
    let most = 200;
    let (some, whole) = (rows(&cut[0]), rows(&all[0]));
    assert!(some.len() == most && whole.len() > 10 * most && whole[..most] == some);
    let entries = numbers(&all[1]);
    assert!(entries > 10 * most && numbers(&all[2]) == entries);
    assert_eq!([numbers(&cut[1]), numbers(&cut[2])], [most; 2]);
    let last = |report: &str| report.lines().rfind(|line| !line.is_empty()).unwrap().to_owned();
    assert_eq!(last(&cut[0]), format!("{} more rows: --top=all shows all", whole.len() - most));
    for report in &cut[1..] {
        assert_eq!(last(report), format!("{} more functions: --top=all shows all", entries - most));
    }
    assert!(all.iter().all(|report| last(report).starts_with('└')), "nothing is left out");
    // The rows that a limit leaves are those of the text.
    assert_eq!(rows(&reports(&["--table", "--top=7"])[0]), whole[..7]);
    assert_eq!(reports(&["--table", "--min-percent=0"]), all, "the user's limit is the only one");
    let text = reports(&[]);
    assert_eq!(rows(&text[0]).len(), whole.len(), "text has no limit of its own");
    assert_eq!(text, reports(&["--top=all"]));
    // The footer does not say that the user left out rows.
    let footer = |options: &[&str]| {
        let text = print(&directory, &[options, &["-p", "-z", "-w", "200", "a.out", "made-up"]].concat(), None);
        text.lines().find(|line| line.contains("rows of the flat profile")).map(|line| line.replace(['│', '┆'], ""))
    };
    let left = whole.len() - most;
    let words = footer(&["--table"]).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.starts_with(&format!("{left} rows of the flat profile left out of the table, with ")), "{words}");
    assert_eq!(footer(&[]), None);
}

#[test]
fn the_members_of_a_large_cycle_do_not_make_a_table_longer() {
    let directory = many("tables_cycle", true);
    let entries = |options: &[&str]| {
        let words = [&["-b", "-q", "--table", "-w", "200"], options, &["a.out", "made-up"]].concat();
        numbers(print(&directory, &words, None).split("\u{c}\n").next().unwrap())
    };
    assert_eq!(entries(&[]), 200);
    assert!(entries(&["--top=200"]) > 2600, "a limit of the user leaves no member of a cycle out");
}

#[test]
fn formats_are_listed_as_a_table() {
    let (plain, table) = (print(&data(), &["-v"], None), print(&data(), &["-v", "--table", "-w", "100"], None));
    let (head, formats) = plain.split_once("Output formats: ").unwrap();
    assert!(table.starts_with(&format!("{head}Output formats:\n\n┌")), "{table}");
    let first: Vec<&str> = table.lines().filter_map(|line| line.split(['│', '┆']).nth(1)).map(str::trim).collect();
    let listed: Vec<&str> = first.into_iter().filter(|cell| !cell.is_empty() && *cell != "format").collect();
    assert_eq!(listed, formats.trim().split(", ").collect::<Vec<_>>());
    assert!(table.contains(" .speedscope.json .speedscope ") && table.contains("Stacks for speedscope"), "{table}");
    assert!(table.lines().all(|line| line.starts_with("Forms") || line.chars().count() <= 100), "{table}");
}

#[test]
fn without_anything_to_show() {
    // A profile of one call, in an empty flat profile.
    let image = compile("tables_empty", &["leaf.c"], &["-g"]);
    let stage = Stage::of(&fs::read(&image).unwrap());
    let mut profile = stage.circle(&mut Random::new(1), 1);
    replace_counts(&mut profile, |_, _| 0);
    profile.arcs_mut().iter_mut().for_each(|arc| arc.frompc = 8);
    profile.arcs_mut().iter_mut().for_each(|arc| arc.selfpc = 9);
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    fs::write(image.with_file_name("made-up"), gmon::write(&profile, encoding).unwrap()).unwrap();
    let text = print(image.parent().unwrap(), &["-b", "--table", "a.out", "made-up"], None);
    for line in ["no time accumulated", "no time propagated", "┌", "└"] {
        assert!(text.contains(line), "{text}");
    }
    assert_eq!((text.matches('┌').count(), text.matches('└').count()), (3, 3), "{text}");
}
