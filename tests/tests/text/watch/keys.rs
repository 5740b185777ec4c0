//! Keys, and the size of the terminal.

use std::fs;
use std::process::Command;

use crate::watch::kit::{Terminal, Told, build, names, row};

#[test]
fn keys_sort_filter_and_pause() {
    let image = build("keys");
    let mut told = Told::start(&image, &[]);
    told.obey("burn 1000");
    let Some(mut terminal) = Terminal::watch(image.parent().unwrap(), "a.out") else { return };
    terminal.wait_for(0, "running");
    terminal.wait_for(3, "▼self s");
    terminal.wait_for_row("outer");
    // The samples of `burn` are in all that called it.
    let [burn, outer] = ["burn", "outer"].map(|name| row(&terminal.screen, name).unwrap());
    assert!(burn[0].parse::<f64>().unwrap() > 90.0 && outer[2].parse::<f64>().unwrap() >= 1000.0, "{burn:?} {outer:?}");
    assert_eq!(names(&terminal.screen)[0], "burn");
    terminal.press("n");
    terminal.wait_for(3, "▼name");
    let sorted = names(&terminal.screen);
    assert!(sorted.len() > 2 && sorted.is_sorted(), "{sorted:?}");
    terminal.press("r");
    terminal.wait_for(3, "▲name");
    assert!(names(&terminal.screen).is_sorted_by(|one, other| one >= other));
    terminal.press("/OUT");
    terminal.wait("one row", |screen| names(screen) == ["outer"]);
    terminal.press("\r");
    terminal.wait("the filter", |screen| screen.lines()[2] == "filter: OUT");
    terminal.press("/\x1b");
    terminal.wait("all rows", |screen| names(screen).len() > 2 && screen.lines()[2].is_empty());
    terminal.press("?");
    terminal.wait("help", |screen| screen.lines()[4].contains("sort by self time"));
    terminal.press(" ");
    terminal.wait_for_row("outer");
    terminal.press("p");
    terminal.wait_for(1, "paused");
    let paused = row(&terminal.screen, "burn").unwrap();
    told.obey("burn 500");
    terminal.press("ii");
    terminal.wait_for(3, "▼incl. s");
    assert_eq!(row(&terminal.screen, "burn").unwrap(), paused, "no new counts while paused");
    terminal.press("p");
    terminal.wait("new counts", |screen| row(screen, "burn").is_some_and(|row| row != paused));
    terminal.press("d");
    terminal.wait_for(3, "self s/s");
    terminal.wait_for(1, "per second");
    told.obey("burn 500");
    terminal.press("d");
    terminal.wait_for(1, "since the start");
    terminal.press("q");
    assert!(terminal.end().contains("status 0"));
    told.end();
}

#[test]
fn the_table_follows_the_size_of_the_terminal() {
    let image = build("resize");
    let directory = image.parent().unwrap();
    let told = Told::start(&image, &[]);
    let Some(mut terminal) = Terminal::watch(directory, "a.out") else { return };
    terminal.wait_for(23, "q quit");
    let tty = fs::read_to_string(directory.join("tty")).unwrap();
    let stty = |rows: &str| {
        let status = Command::new("stty").args(["-F", tty.trim_end(), "rows", rows]).status().unwrap();
        assert!(status.success());
    };
    stty("12");
    terminal.wait_for(11, "q quit");
    // A terminal that does not tell its size has 24 rows.
    stty("0");
    terminal.wait_for(23, "q quit");
    terminal.press("n");
    terminal.wait_for(3, "▼name");
    let sorted = names(&terminal.screen);
    // Two rows of the table, which the arrows scroll.
    stty("7");
    terminal.wait_for(6, "q quit");
    for (key, first) in [("\x1b[B", 1), ("\x1b[A", 0), ("\x1bOB", 1), ("\x1b[H", 0)] {
        terminal.press(key);
        let name = format!("  {}", sorted[first]);
        terminal.wait(&name, |screen| screen.lines()[4].ends_with(&name));
    }
    stty("24");
    terminal.wait_for(23, "q quit");
    terminal.press("\x03");
    assert!(terminal.end().contains("status 0"));
    told.end();
}
