//! What is known of the run beside the counts of functions.

use std::time::{Duration, SystemTime};

use super::duration::run_time;

/// Whether the program still runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// There is no profile yet.
    #[default]
    Waiting,
    Running,
    /// The program has ended and has written its last profile.
    Ended,
    /// The program does not run, but has not finished its profile.
    Killed,
    /// The profile does not tell its process, or the process is on another machine.
    Unknown,
}

impl State {
    /// Whether nothing more will be counted.
    pub(super) fn is_over(self) -> bool {
        matches!(self, State::Ended | State::Killed)
    }

    fn text(self) -> &'static str {
        match self {
            State::Waiting => "waiting for a profile",
            State::Running => "running",
            State::Ended => "the program has ended",
            State::Killed => "the program was killed",
            State::Unknown => "not known whether the program runs",
        }
    }
}

/// What is known of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Status {
    /// The path of the program.
    pub(super) program: String,
    /// The number of the process.
    pub(super) pid: Option<u32>,
    /// The machine, if it is another one.
    pub(super) host: Option<String>,
    pub(super) state: State,
    /// When the profile was begun.
    pub(super) start: Option<SystemTime>,
    /// When the counts were read, or when the program ended.
    pub(super) end: Option<SystemTime>,
    /// All samples.
    pub(super) samples: f64,
    /// The samples per second in the last period.
    pub(super) per_second: Option<f64>,
    /// Something that the user should know: why there is no newer profile, or a warning about the files.
    pub(super) message: Option<String>,
}

impl Status {
    /// The time from the start of the profile to its last counts.
    fn run_time(&self) -> Option<Duration> {
        self.end?.duration_since(self.start?).ok()
    }

    /// The line about the program.
    pub(super) fn program_line(&self) -> String {
        let pid = self.pid.map_or(String::new(), |pid| format!("  pid {pid}"));
        let host = self.host.as_ref().map_or(String::new(), |host| format!(" on {host}"));
        format!("{}{pid}{host}  {}", self.program, self.state.text())
    }

    /// The line about the counts.
    pub(super) fn counts_line(&self) -> String {
        let time = self.run_time().map_or(String::new(), |time| format!("run time {}  ", run_time(time)));
        let rate = self.per_second.filter(|_| !self.state.is_over());
        let rate = rate.map_or(String::new(), |rate| format!("  {rate:.1} samples/s"));
        format!("{time}{:.0} samples{rate}", self.samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        let mut status = Status {
            program: "./prog".to_owned(),
            pid: Some(42),
            state: State::Running,
            start: Some(start),
            end: Some(start + Duration::from_millis(62_500)),
            samples: 6230.0,
            per_second: Some(99.96),
            ..Status::default()
        };
        assert_eq!(status.program_line(), "./prog  pid 42  running");
        assert_eq!(status.counts_line(), "run time 1:02  6230 samples  100.0 samples/s");
        (status.state, status.host) = (State::Ended, Some("node7".to_owned()));
        assert_eq!(status.program_line(), "./prog  pid 42 on node7  the program has ended");
        assert_eq!(status.counts_line(), "run time 1:02  6230 samples");
        let nothing = Status { program: "a.out".to_owned(), ..Status::default() };
        assert_eq!([nothing.program_line(), nothing.counts_line()], ["a.out  waiting for a profile", "0 samples"]);
    }
}
