//! Drawings in a terminal in memory.

use std::time::{Duration, SystemTime};

use super::*;
use crate::model::moment::{FunctionCounts, Moment};
use crate::program::image::Symbol;
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::watch::keys::Key;
use crate::watch::table::{State, Status};

const NAMES: [&str; 5] = ["main", "Matrix::multiply(int)", "日本語", "qsort", "a_name_that_is_longer_than_the_line"];

fn ids() -> Vec<FunctionId> {
    let symbol = |address| Symbol { address, name: b"f", is_static: false, is_func: true };
    Functions::new([16, 32, 48, 64, 80].map(symbol).to_vec(), 96).ids().collect()
}

fn moment(counts: [(f64, f64, u64); 5], has_stacks: bool) -> Moment {
    let function = |(id, (own, inclusive, calls))| {
        let inclusive = has_stacks.then_some(inclusive);
        FunctionCounts { id, own, inclusive, calls, is_estimated: false }
    };
    let total = counts.iter().map(|(own, ..)| own).sum();
    Moment { functions: ids().into_iter().zip(counts).map(function).collect(), total, samples: 100.0 * total }
}

const SINCE_START: [(f64, f64, u64); 5] =
    [(0.0, 10.0, 1), (6.0, 6.5, 1_200_000), (3.5, 3.5, 40), (0.496, 0.496, 7), (0.004, 0.004, 90_000)];
const PERIOD: [(f64, f64, u64); 5] =
    [(0.0, 1.0, 0), (0.25, 0.5, 500), (0.5, 0.5, 2), (0.25, 0.25, 0), (0.0, 0.0, 1000)];

/// The screen after these keys.
fn screen(keys: &str, height: usize, change: impl FnOnce(&mut Status)) -> Grid {
    let ids = ids();
    let names =
        |id: FunctionId| ids.iter().position(|known| *known == id).map_or(String::new(), |at| NAMES[at].to_owned());
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let mut status = Status {
        program: "./prog".to_owned(),
        pid: Some(4711),
        state: State::Running,
        start: Some(start),
        end: Some(start + Duration::from_secs(75)),
        samples: 1000.0,
        per_second: Some(100.0),
        ..Status::default()
    };
    change(&mut status);
    let has_stacks = status.host.is_none();
    let (counts, period) = (moment(SINCE_START, has_stacks), moment(PERIOD, has_stacks));
    let reading =
        Reading { status: &status, counts: &counts, period: Some((&period, 0.5)), names: &names, is_new: true };
    let page = Page { reading: &reading, period: Duration::from_millis(500), top: None, has_colors: true };
    let mut view = View::default();
    keys.chars().map(Key::Char).for_each(|key| _ = view.key(key));
    let mut grid = Grid::new(66, height);
    draw(&mut grid, &mut view, &page);
    grid
}

/// The lines of a screen, and the places of the cells that wide characters cover.
fn shown(keys: &str, height: usize, change: impl FnOnce(&mut Status)) -> String {
    let mut text = String::new();
    for row in screen(keys, height, change).rows() {
        let (seen, hidden): (Vec<_>, Vec<_>) = row.iter().enumerate().partition(|(_, cell)| cell.width > 0);
        let seen: String = seen.iter().map(|(_, cell)| cell.text()).collect();
        let hidden: Vec<_> = hidden.iter().map(|(x, cell)| (x, cell.text())).collect();
        let hidden =
            if hidden.is_empty() { String::new() } else { format!(" Hidden by multi-width symbols: {hidden:?}") };
        text += &format!("\"{seen}\"{hidden}\n");
    }
    text
}

#[test]
fn the_counts_since_the_start() {
    let expected = r#"
"./prog  pid 4711  running                                         "
"run time 1:15  1000 samples  100.0 samples/s  every 0.5 s  since t"
"                                                                  "
"  self %    ▼self s    incl. s          calls  name               "
"   60.00       6.00       6.50        1200000  Matrix::multiply(in"
"   35.00       3.50       3.50             40  日本語             " Hidden by multi-width symbols: [(48, " "), (50, " "), (52, " ")]
"    4.96       0.50       0.50              7  qsort              "
"    0.04       0.00       0.00          90000  a_name_that_is_long"
"    0.00       0.00      10.00              1  main               "
"q quit  ? help  s i c n sort  / filter  d per second  space pause "
"#;
    assert_eq!(shown("", 10, |_| {}), expected.trim_start());
}

#[test]
fn the_counts_of_the_last_period() {
    let expected = r#"
"./prog  pid 4711  running                                         "
"run time 1:15  1000 samples  100.0 samples/s  every 0.5 s  last pe"
"filter: a                                                         "
"  self %   self s/s  incl. s/s       ▼calls/s  name               "
"    0.00       0.00       0.00           2000  a_name_that_is_long"
"   25.00       0.50       1.00           1000  Matrix::multiply(in"
"    0.00       0.00       2.00              0  main               "
"                                                                  "
"q quit  ? help  s i c n sort  / filter  d per second  space pause "
"#;
    // Enter is a line end here.
    let expected = expected.replace("filter: a ", "filter: a_");
    assert_eq!(shown("dc/a", 9, |_| {}), expected.trim_start());
}

#[test]
fn a_message_and_no_stacks() {
    let expected = r#"
"./prog  pid 4711 on node7  the program has ended                  "
"run time 1:15  1000 samples  every 0.5 s  since the start  paused "
"waiting: gmon.out: No such file or directory                      "
"  self %     self s          calls  ▲name                         "
"    4.96       0.50              7  qsort                         "
"    0.00       0.00              1  main                          "
"q quit  ? help  s i c n sort  / filter  d per second  space pause "
"#;
    let change = |status: &mut Status| {
        (status.state, status.host) = (State::Ended, Some("node7".to_owned()));
        status.message = Some("waiting: gmon.out: No such file or directory".to_owned());
    };
    // The second and third row, by name, backwards.
    assert_eq!(shown("pnrj", 7, change), expected.trim_start());
}

#[test]
fn the_help_lists_the_keys() {
    let text = shown("?", 20, |_| {});
    for (keys, meaning) in HELP {
        assert!(text.contains(&format!("{keys:>12}  {}", &meaning[..meaning.len().min(50)])), "{text}");
    }
    assert!(!text.contains("qsort"));
}

#[test]
fn long_times_have_colors() {
    let grid = screen("", 10, |_| {});
    let color = |y: usize| grid.rows()[y][0].style.get_fg_color();
    let [red, green] = [AnsiColor::Red, AnsiColor::Green].map(|color| Some(color.into()));
    assert_eq!([4, 5, 6, 7, 8].map(color), [red, red, green, None, None]);
}

#[test]
fn any_size_is_enough() {
    for height in 1..9 {
        let text = shown("", height, |_| {});
        assert!(text.starts_with("\"./prog  pid 4711") && text.lines().count() == height, "{text}");
    }
}
