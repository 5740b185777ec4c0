//! The terminal is as before, however gprof ends or stops.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::watch::kit::{Terminal, Told, build};

/// gprof, whose number is in a file.
const WITH_PID: &str = "sh -c 'echo $$ > pid; exec $GPROF --watch=0.1 a.out'";

/// Sends gprof a signal.
fn send(directory: &Path, signal: &str) {
    let pid = fs::read_to_string(directory.join("pid")).unwrap();
    assert!(Command::new("kill").args(["-s", signal, pid.trim_end()]).status().unwrap().success());
}

#[test]
fn keys_end_it() {
    let image = build("quit");
    let told = Told::start(&image, &[]);
    // If the standard input is a file, the keys are still those of the terminal.
    for (key, words) in [("q", "a.out"), ("\x1b", "a.out"), ("\x03", "a.out"), ("q", "a.out < /dev/null")] {
        let Some(mut terminal) = Terminal::watch(image.parent().unwrap(), words) else { return };
        terminal.wait_for_row("burn");
        terminal.press(key);
        assert!(terminal.end().contains("status 0"), "{key:?}");
    }
    told.end();
}

#[test]
fn signals_end_it() {
    let image = build("signals");
    let directory = image.parent().unwrap();
    let told = Told::start(&image, &[]);
    for (signal, status) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let commands = format!("{WITH_PID}; echo status $?");
        let Some(mut terminal) = Terminal::run(directory, &commands) else { return };
        terminal.wait_for_row("burn");
        send(directory, signal);
        let said = terminal.end();
        assert!(said.contains(&format!("status {status}")), "{signal}: {said}");
    }
    told.end();
}

#[test]
fn a_suspended_gprof_gives_the_terminal_back() {
    let image = build("suspended");
    let directory = image.parent().unwrap();
    let mut told = Told::start(&image, &[]);
    // The shell goes on when its job stops, and waits for a line before it continues the job.
    let commands = format!("set -m; {WITH_PID}; stty -a > stopped; echo stopped; read line; fg; echo status $?");
    for key in [Some("\x1a"), None] {
        let Some(mut terminal) = Terminal::run(directory, &commands) else { return };
        terminal.wait_for_row("burn");
        match key {
            Some(key) => terminal.press(key),
            None => send(directory, "TSTP"),
        }
        terminal.wait("the shell", |screen| screen.log.contains("stopped"));
        terminal.check_given_back();
        let [before, stopped] = ["before", "stopped"].map(|name| fs::read_to_string(directory.join(name)).unwrap());
        assert_eq!(before, stopped);
        told.obey("burn 10");
        terminal.press("\n");
        terminal.wait_for_row("burn");
        terminal.press("q");
        assert!(terminal.end().contains("status 0"));
    }
    told.end();
}

#[test]
fn a_terminal_that_is_gone_ends_it() {
    let image = build("gone");
    let directory = image.parent().unwrap();
    let told = Told::start(&image, &[]);
    // If the shell ignores SIGHUP, the shell stays, so no signal tells gprof that the terminal is gone.
    for before in ["", "trap '' HUP; "] {
        let Some(mut terminal) = Terminal::run(directory, &format!("{before}{WITH_PID}")) else { return };
        terminal.wait_for_row("burn");
        let pid = fs::read_to_string(directory.join("pid")).unwrap();
        drop(terminal);
        let process = Path::new("/proc").join(pid.trim_end());
        while fs::read_to_string(process.join("cmdline")).is_ok_and(|words| words.contains("--watch")) {
            std::thread::yield_now();
        }
    }
    told.end();
}
