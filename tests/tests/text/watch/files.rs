//! Programs that end, and files that come, go, and are damaged.

use std::fs;

use crate::watch::kit::{Terminal, Told, build, row};

#[test]
fn the_last_table_stays_when_the_program_ends() {
    let image = build("ends");
    for is_killed in [false, true] {
        let mut told = Told::start(&image, &[]);
        told.obey("burn 300");
        let Some(mut terminal) = Terminal::watch(image.parent().unwrap(), "a.out") else { return };
        terminal.wait_for(0, "running");
        if is_killed {
            told.kill();
            terminal.wait_for(0, "the program was killed");
        } else {
            told.end();
            terminal.wait_for(0, "the program has ended");
        }
        let burn = row(&terminal.screen, "burn").unwrap();
        assert!(burn[1].parse::<f64>().unwrap() >= 301.0, "{burn:?}");
        terminal.press("q");
        terminal.end();
    }
}

#[test]
fn it_waits_for_files() {
    let image = build("waits");
    let directory = image.parent().unwrap();
    let Some(mut terminal) = Terminal::watch(directory, "a.out") else { return };
    terminal.wait_for(0, "a.out  waiting for a profile");
    terminal.wait_for(2, "gmon.out: No such file or directory");
    let told = Told::start(&image, &[]);
    terminal.wait_for_row("burn");
    // The last counts stay while there are no others.
    let profile = directory.join("gmon.out");
    fs::rename(&profile, directory.join("kept")).unwrap();
    terminal.wait_for(2, "waiting: gmon.out: ");
    assert!(row(&terminal.screen, "burn").is_some());
    fs::write(&profile, &fs::read(directory.join("kept")).unwrap()[..100]).unwrap();
    terminal.wait("a damaged file", |screen| {
        screen.lines()[2].starts_with("waiting: gmon.out: ") && !screen.lines()[2].contains("No such file")
    });
    assert!(row(&terminal.screen, "burn").is_some());
    fs::rename(directory.join("kept"), &profile).unwrap();
    terminal.wait("the file", |screen| screen.lines()[2].is_empty() && row(screen, "burn").is_some());
    told.end();
    terminal.wait_for(0, "the program has ended");
    // Another run replaces the files.
    let mut told = Told::start(&image, &[]);
    terminal.wait_for(0, "running");
    told.obey("burn 700");
    terminal
        .wait("its counts", |screen| row(screen, "burn").is_some_and(|row| row[1].parse::<f64>().unwrap() >= 701.0));
    terminal.press("q");
    terminal.end();
    told.end();
}

#[test]
fn an_object_that_is_opened_later_is_in_the_table() {
    let image = build("opens");
    let directory = image.parent().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/programs/contexts/object.c");
    let words = ["-O2", "-fPIC", "-shared", "-DPLUG=0", "-o", "plug.so", source];
    let status = std::process::Command::new("cc").args(words).current_dir(directory).status();
    assert!(status.unwrap().success());
    let mut told = Told::start(&image, &[]);
    let Some(mut terminal) = Terminal::watch(directory, "a.out") else { return };
    terminal.wait_for_row("burn");
    told.obey("open ./plug.so 50");
    terminal.wait("the object", |screen| screen.lines().iter().any(|line| line.ends_with("  burn (plug.so)")));
    terminal.press("q");
    terminal.end();
    told.end();
}
