//! A program that counts in a live profile, and a terminal on which gprof shows the profile.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use gmon_tests::screen::Screen;
use gmon_tests::{compile, gprof, start_objects};

/// The longest time that a test waits. Only a test that fails waits so long.
const LONGEST: Duration = Duration::from_secs(120);

pub(crate) const COLUMNS: usize = 100;
pub(crate) const ROWS: usize = 24;

/// The program of `contexts/live.c`, in the directory of a test.
pub(crate) fn build(name: &str) -> PathBuf {
    let ours = format!("-B{}", start_objects().display());
    compile(&format!("watch_{name}"), &["contexts/live.c"], &["-O2", "-pthread", &ours])
}

/// A program that samples itself when it is told to.
pub(crate) struct Told {
    pub(crate) child: Child,
    orders: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Told {
    /// Starts the program in its directory, with a live profile whose timers count next to nothing.
    pub(crate) fn start(image: &Path, variables: &[(&str, &str)]) -> Told {
        let mut command = Command::new(image);
        command.current_dir(image.parent().unwrap()).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.env("GMON_LIVE", "1").env("GMON_HZ", "1").env("GMON_SAMPLER", "timer").envs(variables.iter().copied());
        let mut child = command.spawn().unwrap();
        let (orders, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut told = Told { child, orders, output };
        told.obey("burn 1");
        told
    }

    /// Gives an order, and waits until the program has obeyed.
    pub(crate) fn obey(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 && line != "done\n" {
            line.clear();
        }
        assert_eq!(line, "done\n", "the program ended: {order}");
    }

    /// Ends the program, which writes its profile.
    pub(crate) fn end(self) {
        let Told { mut child, orders, .. } = self;
        drop(orders);
        assert!(child.wait().unwrap().success());
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A command on a terminal.
pub(crate) struct Terminal {
    script: Child,
    keys: ChildStdin,
    output: Receiver<Vec<u8>>,
    pub(crate) screen: Screen,
    directory: PathBuf,
}

impl Terminal {
    /// Runs shell commands on a terminal; `$GPROF` is gprof. The files `before` and `after` have the settings of the
    /// terminal before and after. If no terminal can be made, prints SKIPPED and returns `None`.
    pub(crate) fn run(directory: &Path, commands: &str) -> Option<Terminal> {
        let is_known = Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success());
        if !is_known {
            eprintln!("SKIPPED: watch: no script (util-linux) on this system");
            return None;
        }
        let commands = format!(
            "stty cols {COLUMNS} rows {ROWS}; tty > tty; stty -a > before; {commands}; stty -a > after; echo all done"
        );
        let mut script = Command::new("script");
        script.args(["--quiet", "--flush", "--command"]).arg(commands).arg("/dev/null").current_dir(directory);
        script.env("GPROF", gprof()).env("TERM", "xterm").env("SHELL", "/bin/sh").env_remove("NO_COLOR");
        let mut script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (keys, mut shown) = (script.stdin.take().unwrap(), script.stdout.take().unwrap());
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = vec![0; 4096];
            while let Ok(count @ 1..) = shown.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let screen = Screen::new(COLUMNS, ROWS);
        Some(Terminal { script, keys, output, screen, directory: directory.to_owned() })
    }

    /// gprof on a terminal, with these words.
    pub(crate) fn watch(directory: &Path, words: &str) -> Option<Terminal> {
        Terminal::run(directory, &format!("$GPROF --watch=0.1 {words}; echo status $?"))
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until the terminal shows what is expected, in a whole frame.
    pub(crate) fn wait(&mut self, what: &str, is_there: impl Fn(&Screen) -> bool) {
        let start = Instant::now();
        while !(self.screen.is_whole_frame && is_there(&self.screen)) {
            match self.output.recv_timeout(LONGEST.saturating_sub(start.elapsed())) {
                Ok(bytes) => self.screen.write(&bytes),
                Err(why) => panic!("{what}: {why}: {:#?} {:?}", self.screen.lines(), self.screen.log),
            }
        }
    }

    /// Waits for a text in a line of the screen.
    pub(crate) fn wait_for(&mut self, line: usize, text: &str) {
        self.wait(text, |screen| screen.is_alternate && screen.lines()[line].contains(text));
    }

    /// Waits for a row of a function.
    pub(crate) fn wait_for_row(&mut self, function: &str) {
        self.wait(function, |screen| row(screen, function).is_some());
    }

    /// Waits until all commands have ended, and checks that the terminal is as before. Returns what was shown outside
    /// of the alternate screen.
    pub(crate) fn end(mut self) -> String {
        self.wait("the end", |screen| screen.log.contains("all done"));
        self.check_given_back();
        let [before, after] = ["before", "after"].map(|name| fs::read_to_string(self.directory.join(name)).unwrap());
        assert_eq!(before, after);
        std::mem::take(&mut self.screen.log)
    }

    /// Checks that the shell's screen is shown, with the cursor.
    pub(crate) fn check_given_back(&self) {
        assert!(!self.screen.is_alternate && self.screen.has_cursor, "{:?}", self.screen);
    }
}

impl Drop for Terminal {
    /// Takes the terminal away, which ends what still runs on it.
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// The row of a function: its numbers and its name.
pub(crate) fn row(screen: &Screen, function: &str) -> Option<Vec<String>> {
    let lines = screen.lines();
    let rows = lines[4..].iter().map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    rows.into_iter().find(|words| words.len() == 5 && words[4] == function)
}

/// The names of the rows.
pub(crate) fn names(screen: &Screen) -> Vec<String> {
    let lines = screen.lines();
    let rows = lines[4..lines.len() - 1].iter().take_while(|line| !line.is_empty());
    rows.map(|line| line.split_whitespace().last().unwrap_or_default().to_owned()).collect()
}
