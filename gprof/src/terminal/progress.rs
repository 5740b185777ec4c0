//! Progress: a line on the terminal that tells what takes so long, and that is erased in the end.
//!
//! Libraries for progress bars draw many bars that move by themselves. This line needs none of that, and what it does
//! need (wait before it appears, make room for warnings, leave nothing behind) no library has.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use crate::terminal::{self, Terminal};

/// The time before the first progress line.
const PATIENCE: Duration = Duration::from_secs(1);

/// The shortest time between two changes of the line.
const PAUSE: Duration = Duration::from_millis(100);

/// The width of the bar in characters.
const BAR: usize = 20;

/// Erases the line: goes to its beginning, and erases up to its end.
const ERASE: &str = "\r\x1b[K";

/// A writer of warnings that shows progress between the warnings if the run takes long. Every warning erases the
/// progress line first.
pub struct Progress<'a> {
    out: &'a mut dyn Write,
    /// The width of the terminal, if there is one.
    width: Option<usize>,
    /// Whether reports go to a terminal as well.
    among_reports: bool,
    /// Returns the time since the run began.
    clock: &'a dyn Fn() -> Duration,
    what: &'static str,
    is_shown: bool,
    /// The earliest time of the next change.
    next: Duration,
    /// Whether to hold warnings back while reports are written, and the warnings that are held back.
    holds_back: bool,
    held: Option<Vec<u8>>,
    /// The warnings so far, if the same warning is not written again.
    written: Option<HashSet<String>>,
    /// The first warnings, each without the name of this program and once.
    said: Vec<String>,
}

/// The number of warnings that outputs repeat. Thousands of profiles may be damaged.
const MOST_SAID: usize = 50;

impl<'a> Progress<'a> {
    /// Returns a writer of warnings to `out`. `clock` must return the time since the run began.
    pub fn new(out: &'a mut dyn Write, terminal: &Terminal, clock: &'a dyn Fn() -> Duration) -> Progress<'a> {
        let (width, among_reports) = (terminal.warnings, terminal.reports.is_some());
        Progress {
            out,
            width,
            among_reports,
            clock,
            what: "",
            is_shown: false,
            next: PATIENCE,
            holds_back: false,
            held: None,
            written: None,
            said: Vec::new(),
        }
    }

    /// Returns the first warnings that were written, each once and without the name of this program.
    #[must_use]
    pub fn said(&self) -> &[String] {
        &self.said
    }

    /// Remembers a message that is a warning.
    fn remember(&mut self, message: &str) {
        let Some(warning) = message.strip_prefix("gprof: warning: ").map(str::trim_end) else { return };
        if self.said.len() < MOST_SAID && !self.said.iter().any(|said| said == warning) {
            self.said.push(warning.to_owned());
        }
    }

    /// From now on, writes a warning only if it is new: a run with several outputs takes its steps for each output.
    pub fn tell_once(&mut self, once: bool) {
        self.written = once.then(HashSet::new);
    }

    /// Holds warnings back, from the first report on.
    pub fn hold_back(&mut self) {
        self.holds_back = true;
    }

    /// Writes the warnings that were held back, and stops holding warnings back.
    pub fn release(&mut self) {
        self.holds_back = false;
        let held = self.held.take().unwrap_or_default();
        // If warnings cannot be written, there is no way to report the failure.
        let _ = self.out.write_all(&held).and_then(|()| self.out.flush());
    }

    /// Shows what the run does now.
    pub fn tell(&mut self, what: &'static str) {
        self.show(what, None);
    }

    /// Shows what the run does now, and how much of the work is done.
    pub fn count(&mut self, what: &'static str, done: usize, all: usize) {
        self.show(what, Some((done, all)));
    }

    /// Tells what the run waits for. On a terminal, the line disappears as progress does.
    pub fn wait_for(&mut self, what: &str) {
        let Some(width) = self.width else {
            // A message that cannot be written is dropped: nobody can read it.
            let _ = writeln!(self, "gprof: {what}");
            return;
        };
        self.draw_at_once(what, width);
    }

    /// Shows what the run does now, without the wait before other progress: the step may take long, or asks another
    /// program.
    pub fn tell_now(&mut self, what: &str) {
        if let Some(width) = self.width {
            self.draw_at_once(what, width);
        }
    }

    /// Tells how much of long work is done: with a bar on a terminal, and otherwise in a line of its own.
    pub fn step(&mut self, what: &str, done: usize, all: usize) {
        match self.width {
            Some(width) => self.draw_at_once(&format!("[{}] {what}", bar(done, all)), width),
            // A message that cannot be written is dropped: nobody can read it.
            None => _ = writeln!(self, "gprof: {what}"),
        }
    }

    fn draw_at_once(&mut self, what: &str, width: usize) {
        self.is_shown = true;
        let line = terminal::visible(&format!("gprof: {what}")).into_owned();
        let line: String = line.chars().take(width.saturating_sub(1)).collect();
        let _ = write!(self.out, "{ERASE}{line}").and_then(|()| self.out.flush());
    }

    /// Returns whether reports go to a terminal.
    #[must_use]
    pub fn is_among_reports(&self) -> bool {
        self.among_reports
    }

    /// Shows that the run writes reports. If reports go to a terminal as well, no progress appears from now on, because
    /// it would appear among the reports.
    pub fn begin_reports(&mut self) {
        if self.among_reports {
            self.clear();
            self.width = None;
        }
        if self.holds_back {
            self.held.get_or_insert_default();
        }
        self.tell("writing the reports");
    }

    fn show(&mut self, what: &'static str, count: Option<(usize, usize)>) {
        let Some(width) = self.width else {
            return;
        };
        let now = (self.clock)();
        let is_new = what != std::mem::replace(&mut self.what, what);
        if now < PATIENCE || (now < self.next && !is_new) {
            return;
        }
        self.next = now.saturating_add(PAUSE);
        let line = match count {
            None => format!("gprof: {what}"),
            Some((done, all)) => format!("gprof: {what} [{}] {done} of {all}", bar(done, all)),
        };
        // In the last column, the cursor would move to the next line, and this line could not be erased.
        let line: String = line.chars().take(width.saturating_sub(1)).collect();
        self.is_shown = true;
        // If progress cannot be shown, the run goes on without it.
        let _ = write!(self.out, "{ERASE}{line}").and_then(|()| self.out.flush());
    }

    /// Erases the progress line, if there is one.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = write!(self.out, "{ERASE}").and_then(|()| self.out.flush());
        }
    }
}

impl Write for Progress<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if let Some(held) = &mut self.held {
            return held.write(text);
        }
        self.clear();
        self.out.write(text)
    }

    /// Writes a message of one line, with the control characters of names and paths escaped.
    fn write_fmt(&mut self, message: fmt::Arguments<'_>) -> io::Result<()> {
        let message = message.to_string();
        self.remember(&message);
        if self.written.as_mut().is_some_and(|written| !written.insert(message.clone())) {
            return Ok(());
        }
        let (line, end) = match message.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (message.as_str(), ""),
        };
        self.write_all(terminal::visible(line).as_bytes())?;
        self.write_all(end.as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn bar(done: usize, all: usize) -> String {
    let full = (done.min(all) as f64 / all.max(1) as f64 * BAR as f64) as usize;
    format!("{:-<BAR$}", "#".repeat(full))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn terminal(warnings: Option<usize>) -> Terminal {
        Terminal { warnings, ..Terminal::default() }
    }

    /// Shows counts from 1 to 4 at these times, and returns what a terminal of this width gets.
    fn shown(width: Option<usize>, times: [u64; 4]) -> String {
        let mut out = Vec::new();
        let now = Cell::new(Duration::ZERO);
        let clock = || now.get();
        let mut progress = Progress::new(&mut out, &terminal(width), &clock);
        for (done, time) in (1..).zip(times) {
            now.set(Duration::from_millis(time));
            progress.count("reading", done, 4);
        }
        progress.clear();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_short_run_says_nothing() {
        assert_eq!(shown(Some(80), [0, 10, 500, 999]), "");
    }

    #[test]
    fn a_long_run_counts_and_erases() {
        assert_eq!(
            shown(Some(80), [0, 999, 1000, 1100]),
            "\r\x1b[Kgprof: reading [###############-----] 3 of 4\r\x1b[Kgprof: reading [####################] 4 of 4\r\x1b[K"
        );
    }

    #[test]
    fn not_every_count_is_shown() {
        assert_eq!(shown(Some(80), [1000, 1001, 1099, 1100]).matches("reading").count(), 2);
    }

    #[test]
    fn a_line_is_narrower_than_the_terminal() {
        assert_eq!(shown(Some(10), [0, 0, 0, 1000]), "\r\x1b[Kgprof: re\r\x1b[K");
    }

    #[test]
    fn no_terminal_no_progress() {
        assert_eq!(shown(None, [1000, 2000, 3000, 4000]), "");
    }

    #[test]
    fn a_new_task_is_told_at_once() {
        let mut out = Vec::new();
        let clock = || Duration::from_secs(2);
        let mut progress = Progress::new(&mut out, &terminal(Some(80)), &clock);
        progress.count("reading", 1, 2);
        progress.count("reading", 2, 2);
        progress.tell("writing");
        assert_eq!(out, b"\r\x1b[Kgprof: reading [##########----------] 1 of 2\r\x1b[Kgprof: writing");
    }

    #[test]
    fn a_warning_erases_the_line() {
        let mut out = Vec::new();
        let clock = || Duration::from_secs(2);
        let mut progress = Progress::new(&mut out, &terminal(Some(80)), &clock);
        progress.tell("reading");
        writeln!(progress, "gprof: warning: no").unwrap();
        progress.clear();
        assert_eq!(out, b"\r\x1b[Kgprof: reading\r\x1b[Kgprof: warning: no\n");
    }

    #[test]
    fn warnings_wait_for_the_end_of_the_reports() {
        let mut out = Vec::new();
        let clock = || Duration::ZERO;
        let mut progress = Progress::new(&mut out, &terminal(Some(80)), &clock);
        progress.hold_back();
        writeln!(progress, "before").unwrap();
        progress.begin_reports();
        writeln!(progress, "among").unwrap();
        assert_eq!(progress.held.as_deref(), Some(b"among\n".as_slice()));
        progress.release();
        writeln!(progress, "behind").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "before\namong\nbehind\n");
    }

    #[test]
    fn what_a_run_waits_for_disappears_from_a_terminal() {
        for (width, expected) in [(None, "gprof: waiting for a\\nb\n"), (Some(15), "\r\x1b[Kgprof: waiting\r\x1b[K")] {
            let mut out = Vec::new();
            let clock = || Duration::ZERO;
            let mut progress = Progress::new(&mut out, &terminal(width), &clock);
            progress.wait_for("waiting for a\nb");
            progress.clear();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn a_step_that_may_take_long_is_told_on_a_terminal_alone() {
        for (width, expected) in [(None, ""), (Some(15), "\r\x1b[Kgprof: fetchin\r\x1b[K")] {
            let mut out = Vec::new();
            let clock = || Duration::ZERO;
            let mut progress = Progress::new(&mut out, &terminal(width), &clock);
            progress.tell_now("fetching a file");
            progress.clear();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    /// Catches a bar without a terminal, a line that stays on a terminal, and a step that nobody hears of.
    #[test]
    fn steps_have_a_bar_on_a_terminal_and_lines_elsewhere() {
        let bar = "\r\x1b[Kgprof: [##########----------] 1 of 2 runs\r\x1b[Kgprof: [####################] 2 of 2 runs\r\x1b[K";
        for (width, expected) in [(None, "gprof: 1 of 2 runs\ngprof: 2 of 2 runs\n"), (Some(80), bar)] {
            let mut out = Vec::new();
            let clock = || Duration::ZERO;
            let mut progress = Progress::new(&mut out, &terminal(width), &clock);
            progress.step("1 of 2 runs", 1, 2);
            progress.step("2 of 2 runs", 2, 2);
            progress.clear();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn a_warning_is_written_once() {
        let mut out = Vec::new();
        let clock = || Duration::ZERO;
        let mut progress = Progress::new(&mut out, &terminal(None), &clock);
        for once in [false, true] {
            progress.tell_once(once);
            for message in ["one", "one", "two", "one"] {
                writeln!(progress, "{message}").unwrap();
            }
        }
        assert_eq!(String::from_utf8(out).unwrap(), "one\none\ntwo\none\none\ntwo\n");
    }

    #[test]
    fn a_warning_is_one_line_without_control_characters() {
        let mut out = Vec::new();
        let clock = || Duration::ZERO;
        let mut progress = Progress::new(&mut out, &terminal(None), &clock);
        let warnings: &mut dyn Write = &mut progress;
        let name = "a\nb\x1b[2J\n";
        writeln!(warnings, "gprof: warning: {name}: no").unwrap();
        assert_eq!(out, b"gprof: warning: a\\nb\\u{1b}[2J\\n: no\n");
    }

    #[test]
    fn reports_and_progress_do_not_mix() {
        for (reports, shown) in [(None, "\r\x1b[Kgprof: writing the reports"), (Some(80), "\r\x1b[K")] {
            let mut out = Vec::new();
            let clock = || Duration::from_secs(2);
            let mut progress = Progress::new(&mut out, &Terminal { reports, ..terminal(Some(80)) }, &clock);
            progress.tell("reading");
            progress.begin_reports();
            assert_eq!(String::from_utf8(out).unwrap(), format!("\r\x1b[Kgprof: reading{shown}"));
        }
    }
}
