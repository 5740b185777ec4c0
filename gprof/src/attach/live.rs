//! Asks a real process: sends signals, and waits for answers and for the time to pass.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use gmon::layout::request::SIGNAL;

use super::process::{NOT_PROFILED, Process, fault};
use super::request::Steps;
use crate::error::Error;
use crate::program::image::files::FileKey;
use crate::terminal::interrupts::Interrupts;
use crate::terminal::progress::Progress;

/// How long the process may take to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// How long another gprof may take to ask the same process.
const OTHERS: Duration = Duration::from_secs(1);

/// The time between two looks for an answer, while the answer is expected and later.
const SOON: Duration = Duration::from_millis(1);
const LATER: Duration = Duration::from_millis(10);

/// The time in which an answer is expected, and the time between two looks at the process and at the user's signals.
const LOOK: Duration = Duration::from_millis(100);

/// A real process, and the time that passes.
pub(super) struct Live<'a, 'p> {
    process: &'a Process,
    /// The effective user of this process.
    own: u32,
    interrupts: &'a Interrupts,
    progress: &'a mut Progress<'p>,
    /// What tells the program of the process from others.
    program: Option<FileKey>,
    /// When the time of the profile has begun.
    begin: Option<Instant>,
    /// When the last signal was sent.
    sent: Instant,
    /// When a file of another gprof was seen for the first time.
    seen_other: Option<Instant>,
    /// The signal by which the user wants to end this process.
    pub(super) ended_by: Option<i32>,
}

impl<'a, 'p> Live<'a, 'p> {
    pub(super) fn new(
        process: &'a Process,
        own: u32,
        interrupts: &'a Interrupts,
        progress: &'a mut Progress<'p>,
    ) -> Live<'a, 'p> {
        let program = process.program();
        let (begin, seen_other, ended_by) = (None, None, None);
        Live { process, own, interrupts, progress, program, begin, sent: Instant::now(), seen_other, ended_by }
    }

    fn fault(&self, why: impl Into<String>) -> Error {
        fault(self.process.pid, why)
    }

    /// The error if something has happened to the process: `what`, and when.
    fn happened(&self, what: &str, more: &str) -> Error {
        match self.begin.map(|begin| begin.elapsed().as_secs_f64()) {
            Some(seconds) => self.fault(format!("it has {what} after {seconds:.1} s{more}")),
            None => self.fault(format!("it has {what}")),
        }
    }

    fn ended(&self) -> Error {
        self.happened("ended", "; its own profile has these seconds too")
    }

    /// Waits for this time.
    ///
    /// # Errors
    ///
    /// When the process or the user ends the wait.
    fn wait(&mut self, time: Duration) -> Result<(), Error> {
        self.ended_by = self.interrupts.take();
        match self.ended_by {
            Some(_) => Err(self.fault("interrupted")),
            None if self.process.wait(time) => Err(self.ended()),
            None => Ok(()),
        }
    }
}

impl Steps for Live<'_, '_> {
    fn wait_for_others(&mut self, file: &Path) -> Result<(), Error> {
        let since = *self.seen_other.get_or_insert_with(Instant::now);
        if since.elapsed() > OTHERS {
            let file = file.display();
            return Err(self.fault(format!(
                "another gprof asks the process at this moment, or has left {file}: try again, after a minute at most"
            )));
        }
        self.wait(LATER)
    }

    fn send(&mut self) -> Result<(), Error> {
        self.seen_other = None;
        let handles = self.process.handles_requests(self.own);
        let handles = if self.process.has_ended() { Err(self.ended()) } else { handles }?;
        if self.begin.is_some() && !(handles && self.process.program() == self.program) {
            return Err(self.happened("executed another program", ""));
        }
        if !handles {
            return Err(self.fault(NOT_PROFILED));
        }
        self.progress.tell_now(&format!("process {}: waiting for its answer", self.process.pid));
        self.sent = Instant::now();
        self.process.send()
    }

    fn wait_for_answer(&mut self, directory: &Path) -> Result<(), Error> {
        let passed = self.sent.elapsed();
        self.wait(if passed < LOOK { SOON } else { LATER })?;
        if passed < ANSWER {
            return Ok(());
        }
        // The process may have been stopped meanwhile.
        self.process.status(self.own)?;
        let directory = directory.display();
        Err(self.fault(format!(
            "it does not answer: it blocks signal {SIGNAL} in all threads, may not open files in {directory}, or sees \
             another directory there"
        )))
    }

    fn pass(&mut self, time: Duration) -> Result<(), Error> {
        let begin = *self.begin.insert(Instant::now());
        let (pid, all) = (self.process.pid, time.as_secs_f64());
        self.progress.wait_for(&format!("process {pid}: profiling for {all} s"));
        let mut shown = 0;
        loop {
            let passed = begin.elapsed();
            if passed >= time {
                return Ok(());
            }
            if self.interrupts.take().is_some() {
                let passed = passed.as_secs_f64();
                // A message that cannot be written is dropped: nobody can read it.
                let _ = writeln!(self.progress, "gprof: process {pid}: profiled for {passed:.1} s");
                return Ok(());
            }
            if passed.as_secs() > shown {
                shown = passed.as_secs();
                self.progress.tell_now(&format!("process {pid}: {shown} of {all} s"));
            }
            if self.process.wait(LOOK.min(time - passed)) {
                return Err(self.ended());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Terminal;
    use std::io::Read;
    use std::process::{Child, Command, Stdio};
    use std::thread;

    const AN_HOUR: Duration = Duration::from_secs(3600);

    /// Starts a shell with these commands, and waits until they print a line.
    fn shell(commands: &str) -> Child {
        let mut shell = Command::new("sh");
        let mut child = shell.args(["-c", commands]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        assert_eq!(child.stdout.as_mut().unwrap().read(&mut [0; 8]).unwrap(), 6);
        child
    }

    /// Runs steps for a process, after this signal of the user. Returns the result, and the messages.
    fn live<T>(pid: u32, signal: Option<i32>, steps: impl FnOnce(&mut Live<'_, '_>) -> T) -> (T, String) {
        let (process, mut messages) = (Process::find(pid).unwrap(), Vec::new());
        let (interrupts, clock) = (Interrupts::caught(signal), || Duration::ZERO);
        let mut progress = Progress::new(&mut messages, &Terminal::default(), &clock);
        let result = steps(&mut Live::new(&process, rustix::process::geteuid().as_raw(), &interrupts, &mut progress));
        (result, String::from_utf8(messages).unwrap())
    }

    fn said(result: Result<(), Error>) -> String {
        result.unwrap_err().to_string()
    }

    /// Catches a signal that is sent to a process without a handler, which would end the process.
    #[test]
    fn no_signal_goes_to_a_process_without_a_handler() {
        let mut child = shell("echo ready; read line; exit 3");
        let pid = child.id();
        let before = live(pid, None, |live| live.send()).0;
        assert_eq!(said(before), format!("process {pid}: {NOT_PROFILED}"));
        let after = live(pid, None, |live| {
            live.begin = Some(Instant::now());
            live.send()
        });
        assert!(said(after.0).contains("it has executed another program after "));
        drop(child.stdin.take());
        assert_eq!(child.wait().unwrap().code(), Some(3), "the shell has come to its end");
    }

    /// Catches another signal, and a handler that is not seen.
    #[test]
    fn the_signal_reaches_the_handler() {
        let mut child = shell("trap 'exit 7' 60; echo ready; while :; do :; done");
        live(child.id(), None, |live| live.send()).0.unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(7));
    }

    /// Catches a wait that lasts longer than the process.
    #[test]
    fn the_end_of_the_process_ends_all_waits() {
        let mut child = shell("echo ready; read line");
        let pid = child.id();
        let (result, messages) = live(pid, None, |live| {
            drop(child.stdin.take());
            [live.pass(AN_HOUR), live.wait_for_answer(Path::new("/tmp")), live.send()].map(said)
        });
        for text in result {
            let start = format!("process {pid}: it has ended after ");
            assert!(text.starts_with(&start) && text.ends_with(" s; its own profile has these seconds too"), "{text}");
        }
        assert_eq!(messages, format!("gprof: process {pid}: profiling for 3600 s\n"));
        let (early, _) = live(pid, None, |live| live.wait_for_answer(Path::new("/tmp")));
        assert_eq!(said(early), format!("process {pid}: it has ended"));
        child.wait().unwrap();
    }

    /// Catches a signal of the user that ends the run without a profile, or that does not end a wait for an answer.
    #[test]
    fn the_user_ends_the_time_early() {
        let pid = std::process::id();
        let (passed, messages) = live(pid, Some(2), |live| (live.pass(AN_HOUR), live.ended_by));
        assert!(passed.0.is_ok() && passed.1.is_none());
        let lines: Vec<&str> = messages.lines().collect();
        assert_eq!(lines[0], format!("gprof: process {pid}: profiling for 3600 s"));
        assert!(lines[1].starts_with(&format!("gprof: process {pid}: profiled for ")), "{messages}");
        let (asked, _) = live(pid, Some(15), |live| (said(live.wait_for_answer(Path::new("/tmp"))), live.ended_by));
        assert_eq!(asked, (format!("process {pid}: interrupted"), Some(15)));
    }

    /// Catches a wait without end, one that ends at once, and a process that was stopped and counts as one that does
    /// not answer.
    #[test]
    fn a_process_that_does_not_answer() {
        let mut child = shell("echo ready; kill -STOP $$; read line");
        let pid = child.id();
        let [long_ago, later] = [Instant::now().checked_sub(ANSWER).unwrap(), Instant::now() + AN_HOUR];
        let late = |pid| {
            live(pid, None, |live| {
                live.sent = later;
                live.wait_for_answer(Path::new("/tmp")).unwrap();
                live.sent = long_ago;
                said(live.wait_for_answer(Path::new("/tmp")))
            })
        };
        let text = late(std::process::id()).0;
        assert!(
            text.contains(": it does not answer: it blocks signal 60 in all threads, may not open files in /tmp, "),
            "{text}"
        );
        while !std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") T ") {
            thread::yield_now();
        }
        assert_eq!(late(pid).0, format!("process {pid}: it is stopped: continue it first ('kill -CONT {pid}')"));
        child.kill().unwrap();
        child.wait().unwrap();
        let file = Path::new("/tmp/.gmon-request-1");
        let others = live(std::process::id(), None, |live| {
            live.seen_other = later.into();
            live.wait_for_others(file).unwrap();
            live.seen_other = long_ago.into();
            said(live.wait_for_others(file))
        });
        assert!(
            others.0.contains("another gprof asks the process at this moment, or has left /tmp/.gmon-request-1: "),
            "{}",
            others.0
        );
    }

    /// Catches a time that does not pass.
    #[test]
    fn time_passes() {
        let begin = Instant::now();
        live(std::process::id(), None, |live| live.pass(Duration::from_millis(20))).0.unwrap();
        assert!(begin.elapsed() >= Duration::from_millis(20));
    }
}
