//! What a run must know of the terminals that it writes to.

use std::env;
use std::io::{IsTerminal, stderr, stdout};

use terminal_size::{Width, terminal_size_of};

/// The width of a terminal that does not say, in characters.
const USUAL_WIDTH: usize = 80;

/// What is known of the terminals. The default is that there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// The width in characters of the terminal that reports go to, if they go to one.
    pub reports: Option<usize>,
    /// The width in characters of the terminal that warnings go to, if they go to one that can erase what it shows.
    pub warnings: Option<usize>,
    /// How wide reports shall be that go to no terminal.
    pub columns: Option<usize>,
    /// Whether the reports' terminal shows colours, and the user likes them.
    pub colours: bool,
}

impl Terminal {
    /// What this process finds: its standard output and standard error, and the variables `TERM`, `COLUMNS` and
    /// `NO_COLOR`, of which the last one counts when there is anything in it.
    #[must_use]
    pub fn of_process() -> Terminal {
        let width = |size: Option<(Width, _)>| Some(size.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0)));
        let reports = stdout().is_terminal().then(|| terminal_size_of(stdout())).and_then(width);
        let warnings = stderr().is_terminal().then(|| terminal_size_of(stderr())).and_then(width);
        let is_able = env::var_os("TERM").is_some_and(|name| !name.is_empty() && name != "dumb");
        let is_plain = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Terminal {
            reports,
            warnings: warnings.filter(|_| is_able),
            columns: env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0),
            colours: reports.is_some() && is_able && !is_plain,
        }
    }

    /// How wide reports may be, in characters: as wide as their terminal, or as `COLUMNS` says, or 80.
    #[must_use]
    pub fn width(&self) -> usize {
        self.reports.or(self.columns).unwrap_or(USUAL_WIDTH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_knows_better_than_the_variable() {
        let none = Terminal::default();
        assert_eq!(none.width(), 80);
        assert_eq!(Terminal { columns: Some(132), ..none }.width(), 132);
        assert_eq!(Terminal { columns: Some(132), reports: Some(60), ..none }.width(), 60);
    }
}
