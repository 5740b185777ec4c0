//! What reports say about estimated calls.

use std::fs;
use std::path::Path;

use gmon::side_file::{Checksum, EstimatedCalls, Kind, Object, PROGRAM, Place, Selection, SideFile};
use gmon::{DataModel, Encoding, Form, Hints, Order, Word};

use super::{Estimated, square};
use crate::knots::DATA;
use crate::on_demand::{Run, assert_golden, directory, written};

/// The sentence of the usual run.
const NOTE: &str = "Calls are estimates from 300 windows, 3.01 s of 300.00 s of CPU time (95 % intervals).";

/// The usual run with other numbers of calls.
fn changed() -> Estimated {
    let mut run = Estimated::usual();
    let (all, parse) = ((290, 1_534_567, square(20_000)), (290, 1_534_567, square(20_000)));
    run.called[1] = ("parse", all, vec![("driver", parse)]);
    run
}

/// Compares the reports with a golden. Each command line stands above its report.
#[test]
fn goldens() {
    let directory = directory("estimates_goldens");
    Estimated::usual().write(&directory, "bins");
    Estimated { has_stacks: true, ..Estimated::usual() }.write(&directory, "stacks");
    changed().write(&directory, "changed");
    Run { selections: None, ..Run::usual() }.write(&directory, "counted");
    let command_lines = [
        "-p @program @bins",
        "-b -q @program @stacks",
        "-b -q @program @bins",
        "-b -T @program @stacks",
        "-b --table -p -q @program @stacks",
        "-b -C @program @bins",
        "-b --contexts @program @stacks",
        "-i @bins",
        "-b --stats @program @bins",
        "--format=json -p -q @program @bins",
        "--format=csv @program @stacks",
        "--format=dot @program @stacks",
        "--format=callgrind @program @stacks",
        "-b --base=@bins @program @changed",
        "-b --base=@counted @program @bins",
    ];
    assert_golden(&directory, "side/estimates.txt", &command_lines);
}

/// Fails if an output that shows calls, or times that follow from calls, does not say from what they were estimated.
#[test]
fn every_output_with_calls_says_that_they_are_estimates() {
    let directory = directory("estimates_outputs");
    Estimated::usual().write(&directory, "bins");
    Estimated { has_stacks: true, ..Estimated::usual() }.write(&directory, "stacks");
    for words in [
        "",
        "-p",
        "-q",
        "--table -p",
        "--table -q",
        "-T",
        "--format=csv",
        "--format=html",
        "--format=callgrind",
        "--format=dot",
        "--format=svg",
        "--format=flame",
    ] {
        for run in ["bins", "stacks"].into_iter().filter(|run| (words, *run) != ("--format=flame", "stacks")) {
            let text = written(&directory, &format!("{words} @program @{run}"));
            assert!(text.contains(NOTE), "{words}: {text}");
            assert!(!text.contains("Calls were counted during"), "{words}: {text}");
        }
    }
    for words in ["--contexts", "--callers=burn", "--format=callgrind"] {
        let text = written(&directory, &format!("{words} @program @stacks"));
        assert!(text.contains("leaves estimated calls out."), "{words}: {text}");
    }
}

/// Fails if an output has the number of an estimate without a mark, or 0 calls where calls were estimated.
#[test]
fn no_number_looks_exact() {
    let directory = directory("estimates_exact");
    Estimated::usual().write(&directory, "bins");
    Estimated { has_stacks: true, ..Estimated::usual() }.write(&directory, "stacks");
    // The numbers of the usual run, as the rows have them.
    let exact = ["1234567", "6200000000", "6197000000", "2000000", "1000000", "4000", "5000"];
    for words in [
        "-b",
        "-b --table",
        "-b -T",
        "-b -C",
        "-b --contexts",
        "-b --callers=burn",
        "-b --stats",
        "--format=callgrind",
        "--format=dot",
        "--format=svg",
    ] {
        let text = written(&directory, &format!("{words} @program @stacks"));
        for number in exact {
            let is_alone = |at: usize| {
                let before = text[..at].chars().next_back();
                let behind = text[at + number.len()..].chars().next();
                !before.is_some_and(|letter| letter.is_ascii_digit() || "~.x".contains(letter))
                    && !behind.is_some_and(|letter| letter.is_ascii_digit() || letter == '.')
            };
            let found = text.match_indices(number).find(|(at, _)| is_alone(*at));
            assert_eq!(found, None, "{words}: {text}");
        }
    }
    let csv = written(&directory, "--format=csv @program @stacks");
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|known| *known == name).unwrap();
    let rows = csv.lines().skip(2).map(|line| line.split(',').collect::<Vec<_>>());
    let rows: Vec<Vec<&str>> = rows.filter(|row| !row[column("calls_seen_in_windows")].is_empty()).collect();
    assert!(rows.len() >= 10 && rows.iter().all(|row| row[column("calls")].is_empty()), "{csv}");
    // Exact integers are all that these formats have.
    let callgrind = written(&directory, "--format=callgrind @program @stacks");
    assert!(callgrind.lines().filter_map(|line| line.strip_prefix("calls=")).all(|calls| calls.starts_with("1 ")));
}

/// Fails if the page shows an estimate as a count.
#[test]
fn the_page_has_the_texts_of_estimates() {
    let directory = directory("estimates_page");
    Estimated { has_stacks: true, ..Estimated::usual() }.write(&directory, "stacks");
    let page = written(&directory, "--format=html @program @stacks");
    let data = page.split_once("id=\"data\">").unwrap().1;
    let data: serde_json::Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    let texts = |list: &str| -> Vec<String> {
        data[list].as_array().unwrap().iter().map(|text| text["text"].as_str().unwrap().to_owned()).collect()
    };
    assert!(texts("estimates").contains(&"~6.2000e9 ±0.3 %".to_owned()), "{:?}", texts("estimates"));
    assert_eq!(texts("estimates").len(), data["functions"].as_array().unwrap().len());
    assert!(texts("callEstimates").contains(&"seen in 3/300".to_owned()), "{:?}", texts("callEstimates"));
    assert_eq!(texts("callEstimates").len(), data["caller"].as_array().unwrap().len());
}

/// Fails if the signs of estimates are not explained, or are explained where there are none.
#[test]
fn estimates_are_explained() {
    let directory = directory("estimates_explained");
    Estimated::usual().write(&directory, "bins");
    Run::usual().write(&directory, "some");
    for format in ["-p", "-q", "--table -p", "--table -q"] {
        let has = |name: &str, words: &str, text: &str| {
            written(&directory, &format!("{format} {words} @program @{name}")).contains(text)
        };
        let text = "Calls were counted in short windows only";
        assert_eq!([has("bins", "", text), has("bins", "-b", text), has("some", "", text)], [true, false, false]);
        assert!(!has("bins", "", "The average total time is not known."), "{format}");
    }
}

/// Fails if a cycle as a whole has 0 calls where those of its members were estimated, or if members lose theirs.
#[test]
fn a_cycle_as_a_whole_has_no_number() {
    let directory = directory("estimates_cycle");
    let mut run = Estimated { has_stacks: true, ..Estimated::usual() };
    let row = (300, 50_000, square(500));
    run.called[1] = ("parse", row, vec![("emit", row)]);
    run.called[2] = ("emit", row, vec![("parse", row)]);
    run.write(&directory, "run");
    let text = written(&directory, "-b -q @program @run");
    let entry = text.split("-----\n").find(|entry| entry.contains("<cycle 1 as a whole>")).unwrap();
    let line =
        |name: &str| entry.lines().find(|line| line.contains(name)).unwrap().split_whitespace().collect::<Vec<_>>();
    // The number of the entry, the percentage, and two times.
    assert_eq!(line("as a whole")[4], "<cycle", "{entry}");
    assert_eq!(line("parse")[2..5], ["~50000", "±2", "%"], "{entry}");
}

/// Fails if an annotated source file has an estimate as a count, 0 calls for a function that no window saw, or
/// estimates in its sums.
#[test]
fn annotated_sources_have_the_estimates() {
    let directory = directory("estimates_source");
    let bytes = fs::read(Path::new(DATA).join("gnu/inlined.gmon")).unwrap();
    let hints = Hints::new().with_word(Word::W64).with_order(Order::Little);
    let mut profile = gmon::read(&bytes, &hints).unwrap();
    let [arc] = profile.take_arcs()[..] else { panic!("main calls another function once") };
    let bytes = gmon::write(&profile, Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little)).unwrap();
    let mut side = SideFile::new(Word::W64);
    side.set_profile(Some(Checksum::of(&bytes)));
    side.add_object(PROGRAM, Object::new(Kind::Program, b"")).unwrap();
    let [caller, callee] = [arc.frompc, arc.selfpc].map(|address| Place { object: PROGRAM, address });
    side.add_selection(Selection::new(b"", vec![caller, callee], vec![])).unwrap();
    side.set_windows(Estimated::usual().windows).unwrap();
    let row = EstimatedCalls { callee, caller: None, seen: 10, calls: 123_456, variance: square(1234) };
    side.add_estimate(row).unwrap();
    fs::write(directory.join("run"), &bytes).unwrap();
    fs::write(directory.join("run.side"), side.write()).unwrap();
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs");
    let source =
        |words: &str| written(&directory, &format!("-A -I {} {words} {DATA}gnu/inlined @run", programs.display()));
    let text = source("");
    let has = |text: &str, count: &str, code: &str| {
        text.lines().any(|line| line.trim_start().starts_with(count) && line.contains(code))
    };
    assert!(has(&text, "~1.235e5 -> ", " {") && has(&text, "not seen -> ", "int main(void)"), "{text}");
    assert!(has(&text, "0   Total number of line executions", ""), "{text}");
    assert!(text.contains("The calls of 2 lines are estimates (~), which these numbers do not contain."), "{text}");
    assert!(has(&source("-l -x"), "~1.235e5 -> ", "while (n--)"), "{}", source("-l -x"));
}
