//! What people see of a difference: the numbers of the page, and Markdown.

use std::io::sink;

use gprof::{Format, Options, Terminal};
use serde_json::Value;

use super::{HOSTILE, compare, options, program, rendered};
use crate::common::image;

/// A name that tries to end its cell, its code, and its line.
const NAME: &str = "a|b`c\nd<i>";

/// What the cells of the page have, by the fields of JSON: the place of the cell, and whether it is a p-value, which
/// the page rounds.
const CELLS: [(usize, &str, bool); 13] = [
    (2, "self_base", false),
    (3, "self", false),
    (7, "self_low", false),
    (8, "self_high", false),
    (9, "self_p", true),
    (10, "self_corrected_p", true),
    (11, "self_visible", false),
    (16, "inclusive_corrected_p", true),
    (17, "inclusive_visible", false),
    (22, "each_call_base", false),
    (23, "each_call", false),
    (24, "each_call_low", false),
    (26, "each_call_corrected_p", true),
];

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Catches numbers of the page that are in another column or row than their titles say, or that JSON does not have,
/// such as a p-value that is not corrected.
#[test]
fn the_page_has_the_numbers_of_json() {
    let base = program(&[("main", false, 10, 0), ("slower", false, 400, 5), ("same", false, 300, 6)], 100);
    let new = program(&[("main", false, 14, 0), ("slower", false, 461, 5), ("same", false, 310, 6)], 100);
    let (page, json) = compare(options(), (&base.0, &base.1), (&new.0, &new.1), |difference| {
        let json: Value = serde_json::from_slice(&rendered(difference, Format::Json)).unwrap();
        (text(rendered(difference, Format::Html)), json)
    });
    let body = page.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
    let rows: Vec<Vec<&str>> = body
        .lines()
        .filter(|line| line.starts_with("<tr"))
        .map(|row| row.split("<td").skip(1).map(|cell| cell.split(['>', '<']).nth(1).unwrap()).collect())
        .collect();
    let functions = json["functions"].as_array().unwrap();
    assert_eq!(rows.len(), functions.len());
    let mut compared = 0;
    for (row, function) in rows.iter().zip(functions) {
        assert_eq!((row.len(), row[0]), (27, function["name"].as_str().unwrap()));
        for (place, field, is_rounded) in CELLS {
            let Some(number) = function[field].as_f64() else {
                assert_eq!(row[place], "", "{field}");
                continue;
            };
            let shown: f64 = row[place].parse().unwrap_or_else(|_| panic!("{field}: {}", row[place]));
            let most = if is_rounded { 0.51 * number.abs() } else { 1e-5 * number.abs() + 0.0051 };
            assert!((shown - number).abs() <= most, "{field}: {shown} for {number}");
            compared += 1;
        }
    }
    assert!(compared > 25, "{compared}");
    let total = json["total"]["corrected_p"].as_f64().unwrap();
    assert!(page.contains(&format!("; corrected p {total:.2}; visible from ")), "{total}");
}

/// Catches a name that becomes markup, a table with rows of different lengths, and a verdict that does not come first.
#[test]
fn markdown_of_a_difference_begins_with_the_verdict() {
    let base = program(&[("main", false, 10, 0), (NAME, false, 400, 5), (HOSTILE, false, 300, 6)], 100);
    let new = program(&[("main", false, 10, 0), (NAME, false, 900, 5), (HOSTILE, false, 300, 6)], 100);
    let shown = |options: Options| {
        compare(options, (&base.0, &base.1), (&new.0, &new.1), |difference| {
            text(rendered(difference, Format::Markdown))
        })
    };
    let markdown = shown(options());
    let lines: Vec<&str> = markdown.lines().collect();
    assert_eq!(lines[..3], ["### Difference", "", "**Changed for certain:**"]);
    let spelled = "<code>a&#124;b&#96;c&#92;nd&#60;i&#62;</code>";
    let row = lines.iter().find(|line| line.starts_with(&format!("| {spelled} | slower | 4.00 | 9.00 | +125.0 |")));
    assert!(row.is_some() && lines.iter().any(|line| line.starts_with("- <code>slower&#58; a&#124;b")), "{markdown}");
    assert!(lines.iter().any(|line| line.starts_with("These runs show a growth of the total from ")), "{markdown}");
    let table: Vec<&&str> = lines.iter().filter(|line| line.starts_with('|')).collect();
    assert!(table.len() == 5 && table.iter().all(|row| row.matches('|').count() == 12), "{markdown}");
    // In a code span, what looks like an element is text.
    let outside: String = markdown.split('`').step_by(2).collect();
    assert!(!outside.contains("<script") && !markdown.contains('\x1b'), "{markdown}");
    let words = ["--base=x", "--fail-if=slower:3%", "image", "profile"];
    assert!(shown(Options::parse(words).unwrap()).contains("\n**Beyond the limits: slower: a&#124;b"));
    let words = ["--base=x", "--fail-if=slower:200%", "image", "profile"];
    assert!(shown(Options::parse(words).unwrap()).contains("\n**No change beyond the limits**"));
}

/// Catches a report without its limit, a limit of the user that does not count, and a report that nobody wanted.
#[test]
fn markdown_of_a_report_shows_the_rows_that_matter() {
    let names: Vec<&'static str> = (0..40).map(|at| &*format!("f{at}").leak()).collect();
    let functions: Vec<_> = names.iter().enumerate().map(|(at, name)| (*name, false, 100 + at as u64, 7)).collect();
    let (table, profile) = program(&functions, 100);
    let shown = |words: &[&str]| {
        let options = Options::parse([words, &["--format=markdown", "image", "profile"]].concat()).unwrap();
        let loaded = gprof::from_memory(&options, image(&table), profile.clone()).unwrap();
        let analysis = gprof::analyze(&loaded, &options, &mut sink()).unwrap();
        let mut out = Vec::new();
        gprof::render(&analysis, Format::Markdown, &Terminal::default(), &mut out, &mut sink()).unwrap();
        text(out)
    };
    let both = shown(&[]);
    let (flat, graph) = both.split_once("### Call graph\n").unwrap();
    assert!(flat.starts_with("### Flat profile\n") && flat.contains("| `f39` | "), "{flat}");
    assert_eq!(flat.lines().filter(|line| line.starts_with("| `f")).count(), 30, "{flat}");
    assert!(flat.contains("\n10 more rows.\n") && graph.contains("\n10 more functions.\n"), "{both}");
    assert!(graph.contains("| from | `f0 [1]` |  | ") && graph.contains("|  | **`f39 ["), "{graph}");
    let short = shown(&["--top=2", "-p"]);
    assert!(short.contains("\n38 more rows.\n") && !short.contains("Call graph"), "{short}");
}
