//! Shows the profile of a running program again and again (`--watch`): on the whole screen of a terminal, or as one table after
//! the other. The symbols are read once; each reading reads only the counts.

mod batch;
mod commands;
mod drawing;
mod duration;
mod full_screen;
mod grid;
mod keys;
mod process;
mod readings;
mod screen;
mod status;
mod table;
mod target;
mod tty;
mod view;

use std::io::Write;

use crate::error::Error;
use crate::question::options::{Options, Watch};
use crate::terminal::Terminal;
use batch::Batch;
use screen::Screen;
use target::Target;

/// Shows the profile that the options name until the user or the end of the program ends it.
///
/// # Errors
///
/// When there is no such process or program, or the terminal cannot be used.
pub(crate) fn run(
    options: &Options,
    watch: &Watch,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
    terminal: &Terminal,
) -> Result<(), Error> {
    let target = Target::find(options, watch)?;
    if terminal.has_screen {
        let screen = Screen::enter(target.image(), watch.period, options.limit.top, terminal.colors);
        let mut screen = screen.map_err(Error::Terminal)?;
        return readings::show(&target, &mut screen);
    }
    readings::show(&target, &mut Batch::new(watch.period, options.limit.top, out, warnings))
}
