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
}

impl Terminal {
    /// What this process finds: its standard output and standard error, and the variable `TERM`.
    #[must_use]
    pub fn of_process() -> Terminal {
        let width = |size: Option<(Width, _)>| Some(size.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0)));
        let reports = stdout().is_terminal().then(|| terminal_size_of(stdout())).and_then(width);
        let warnings = stderr().is_terminal().then(|| terminal_size_of(stderr())).and_then(width);
        let is_able = env::var_os("TERM").is_some_and(|name| !name.is_empty() && name != "dumb");
        Terminal { reports, warnings: warnings.filter(|_| is_able) }
    }
}
