//! Shortened reports: `--top` and `--min-percent`.

use std::path::Path;

use gmon_tests::{gprof, read};

/// The output of ours for a program in `testdata/bsd`.
fn print(options: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/bsd");
    let words: Vec<&str> = options.split(' ').chain(["basic", "basic.gmon"]).collect();
    let output = read(gprof(), &directory, &words);
    assert!(output.status.success(), "{options}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The parts of a report: flat profile, call graph, index, statistics.
fn parts(report: &str) -> Vec<&str> {
    report.split("\u{c}\n").collect()
}

/// The words of a line. The width of a table depends on its rows.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The rows of a flat profile.
fn rows(flat: &str) -> Vec<String> {
    let below = |line: &&str| !line.ends_with("name    ") && !line.starts_with('╞');
    flat.lines()
        .skip_while(below)
        .skip(1)
        .take_while(|line| !line.is_empty() && !line.starts_with('└'))
        .map(words)
        .collect()
}

/// The lines of entries with their numbers.
fn entries(graph: &str) -> Vec<String> {
    graph.lines().filter(|line| line.starts_with('[') || line.starts_with("│   [")).map(words).collect()
}

#[test]
fn the_first_rows_are_the_same_as_in_the_whole_report() {
    for table in ["", "--table "] {
        let (whole, top) = (print(&format!("{table}-b")), print(&format!("{table}-b --top=2")));
        let (whole, top) = (parts(&whole), parts(&top));
        assert_eq!(rows(top[0]).len(), 2, "{}", top[0]);
        assert!(rows(whole[0]).starts_with(&rows(top[0])), "{}\n{}", whole[0], top[0]);
        let (all, some) = (entries(whole[1]), entries(top[1]));
        assert_eq!((all.len(), some.len()), (5, 2), "{}", top[1]);
        assert!(all.starts_with(&some));
        // The number of a function without an entry is in parentheses, and the function is not in the index.
        assert!(whole[1].contains("driver [3]") && top[1].contains("driver (3)"), "{}", top[1]);
        assert!(whole[2].contains("driver") && !top[2].contains("driver") && top[2].contains("burn"), "{}", top[2]);
    }
}

#[test]
fn small_parts_of_the_time() {
    let report = print("-b --min-percent=50");
    let report = parts(&report);
    assert_eq!(rows(report[0]).len(), 1);
    assert_eq!(entries(report[1]).len(), 4, "emit has 26 %: {}", report[1]);
    assert_eq!(print("-b --min-percent=0"), print("-b"));
    assert_eq!(print("-b --top=100"), print("-b"));
    assert_eq!(rows(parts(&print("-b --top=3 --min-percent=50"))[0]).len(), 1);
}

#[test]
fn the_footer_reports_omissions() {
    let lines = |options: &str| -> Vec<String> {
        let report = print(options);
        let all = parts(&report).last().unwrap().lines().map(|line| line.trim_start().to_owned()).collect::<Vec<_>>();
        all.into_iter().filter(|line| line.contains("left out")).collect()
    };
    assert_eq!(lines("-p"), [""; 0]);
    assert_eq!(
        lines("-p --top=1"),
        ["3  rows of the flat profile left out by --top or --min-percent, with 0.00 seconds (0.00 %)"]
    );
    assert_eq!(
        lines("-p --top=0"),
        ["4  rows of the flat profile left out by --top or --min-percent, with 0.69 seconds (100.00 %)"]
    );
    assert_eq!(
        lines("-q --min-percent=99"),
        ["3  functions of the call graph left out by --top or --min-percent, with 0.00 seconds (0.00 %)"]
    );
    assert_eq!(lines("--top=4").len(), 1, "the flat profile must have no more rows");
    assert_eq!(lines("-b --stats --top=1 -p").len(), 2, "one must be about functions that the user left out");
}
