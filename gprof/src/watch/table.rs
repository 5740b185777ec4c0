//! What a reading shows, without a terminal: what is known of the run, and the table of functions with its rows in the
//! order that the user wants.

use std::cmp::Reverse;
use std::time::{Duration, SystemTime};

use crate::model::moment::{FunctionCounts, Moment};
use crate::model::ordered::Ordered;
use crate::program::symbols::functions::FunctionId;

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

/// Spells the time that a program ran: `7.3 s`, `2:05`, or `26:02:05`.
fn run_time(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{}.{} s", rest, time.subsec_millis() / 100),
        (0, _) => format!("{minutes}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

/// Returns the name of a function, without control characters.
pub(super) type Names<'a> = dyn Fn(FunctionId) -> String + 'a;

/// A column by which the table can be sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Column {
    #[default]
    Own,
    Inclusive,
    Calls,
    Name,
}

impl Column {
    pub(super) const ALL: [Column; 4] = [Column::Own, Column::Inclusive, Column::Calls, Column::Name];
}

/// The order of the rows, and which rows there are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Choice<'a> {
    pub(super) column: Column,
    pub(super) is_reversed: bool,
    /// A text that names must contain; capital letters count as small ones.
    pub(super) filter: &'a str,
    /// The number of rows at most.
    pub(super) top: Option<usize>,
}

/// The rows of a moment.
pub(super) struct Table<'a> {
    moment: &'a Moment,
    /// The number of seconds that the counts are divided by.
    seconds: Option<f64>,
    has_inclusive: bool,
    pub(super) rows: Vec<FunctionCounts>,
}

impl<'a> Table<'a> {
    /// Sorts and filters the functions of a moment. The counts of `seconds` are shown for each second.
    pub(super) fn new(moment: &'a Moment, seconds: Option<f64>, choice: Choice<'_>, names: &Names<'_>) -> Table<'a> {
        let filter = choice.filter.to_lowercase();
        let is_chosen =
            |counts: &&FunctionCounts| filter.is_empty() || names(counts.id).to_lowercase().contains(&filter);
        let mut rows: Vec<FunctionCounts> = moment.functions.iter().filter(is_chosen).copied().collect();
        let inclusive = |counts: &FunctionCounts| Ordered(counts.inclusive.unwrap_or(0.0));
        match choice.column {
            Column::Own => rows.sort_by_key(|counts| Reverse((Ordered(counts.own), inclusive(counts), counts.calls))),
            Column::Inclusive => rows.sort_by_key(|counts| Reverse((inclusive(counts), Ordered(counts.own)))),
            Column::Calls => rows.sort_by_key(|counts| Reverse((counts.calls, Ordered(counts.own)))),
            Column::Name => rows.sort_by_cached_key(|counts| names(counts.id)),
        }
        if choice.is_reversed {
            rows.reverse();
        }
        rows.truncate(choice.top.unwrap_or(usize::MAX));
        let has_inclusive = moment.functions.first().is_some_and(|counts| counts.inclusive.is_some());
        Table { moment, seconds, has_inclusive, rows }
    }

    /// The line above the rows. A mark is at the column that sorts the rows.
    pub(super) fn heading(&self, choice: Choice<'_>) -> String {
        let mark = |column, text: &str| {
            let arrow = if choice.is_reversed { '▲' } else { '▼' };
            if choice.column == column { format!("{arrow}{text}") } else { text.to_owned() }
        };
        let per = if self.seconds.is_some() { "/s" } else { "" };
        let own = mark(Column::Own, &format!("self s{per}"));
        let inclusive = mark(Column::Inclusive, &format!("incl. s{per}"));
        let inclusive = if self.has_inclusive { format!("{inclusive:>11}") } else { String::new() };
        let calls = mark(Column::Calls, &format!("calls{per}"));
        format!("{:>8}{own:>11}{inclusive}{calls:>15}  {}", "self %", mark(Column::Name, "name"))
    }

    /// The line of a row.
    pub(super) fn line(&self, counts: &FunctionCounts, names: &Names<'_>) -> String {
        let seconds = self.seconds.unwrap_or(1.0);
        let inclusive = counts.inclusive.filter(|_| self.has_inclusive);
        let inclusive = inclusive.map_or(String::new(), |time| format!("{:>11.2}", time / seconds));
        let calls = match self.seconds {
            _ if counts.is_estimated => "estimated".to_owned(),
            Some(seconds) => format!("{:.0}", counts.calls as f64 / seconds),
            None => counts.calls.to_string(),
        };
        let (percent, own) = (self.percent(counts), counts.own / seconds);
        format!("{percent:>8.2}{own:>11.2}{inclusive}{calls:>15}  {}", names(counts.id))
    }

    /// The self time of a row as a percentage of the time of all functions.
    pub(super) fn percent(&self, counts: &FunctionCounts) -> f64 {
        if self.moment.total > 0.0 { 100.0 * counts.own / self.moment.total } else { 0.0 }
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

    #[test]
    fn times() {
        let spelled = |seconds: f64| run_time(Duration::from_secs_f64(seconds));
        assert_eq!([0.0, 59.96, 60.0, 3599.0].map(spelled), ["0.0 s", "59.9 s", "1:00", "59:59"]);
        assert_eq!([3600.0, 93_725.0].map(spelled), ["1:00:00", "26:02:05"]);
    }
}
