//! Shows the profile of a running program again and again (`--watch`): on the whole screen of a terminal, or as one
//! table after the other. The symbols are read once; each reading reads only the counts.

mod drawing;
mod full_screen;
mod grid;
mod keys;
mod readings;
mod table;
mod target;
mod view;

use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::question::options::{Options, Watch};
use crate::terminal::Terminal;
use drawing::Page;
use full_screen::{FullScreen, Input};
use readings::{Display, Next, Reading};
use table::{Choice, Table};
use target::Target;
use view::{Action, View};

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

/// The screen with the choices of the user.
struct Screen {
    terminal: FullScreen,
    view: View,
    period: Duration,
    top: Option<usize>,
    has_colors: bool,
}

impl Screen {
    /// Takes the screen.
    fn enter(image: &Path, period: Duration, top: Option<usize>, has_colors: bool) -> io::Result<Screen> {
        let mut screen = Screen { terminal: FullScreen::enter()?, view: View::default(), period, top, has_colors };
        let text = format!("{}  reading the program", image.display());
        screen.terminal.draw(|grid| drawing::message(grid, &text))?;
        Ok(screen)
    }

    /// Draws, and obeys keys until the next reading is due.
    fn interact(&mut self, reading: &Reading<'_>) -> io::Result<Next> {
        let due = Instant::now() + self.period;
        loop {
            let Screen { terminal, view, top, has_colors, period } = self;
            let page = Page { reading, period: *period, top: *top, has_colors: *has_colors };
            terminal.draw(|grid| drawing::draw(grid, view, &page))?;
            let input = loop {
                let left = due.saturating_duration_since(Instant::now());
                if left.is_zero() && !self.view.is_paused {
                    return Ok(Next::Read);
                }
                if let Some(input) = self.terminal.input((!self.view.is_paused).then_some(left))? {
                    break input;
                }
            };
            let action = match input {
                Input::Key(key) => self.view.key(key),
                Input::Resized => Action::Draw,
                Input::Continued => Action::Redraw,
                Input::Stop => Action::Suspend,
            };
            match action {
                Action::Draw => {}
                Action::Redraw => self.terminal.refresh()?,
                Action::Suspend => self.terminal.suspend()?,
                Action::Quit => return Ok(Next::Quit),
            }
        }
    }
}

impl Display for Screen {
    fn show(&mut self, reading: &Reading<'_>) -> Result<Next, Error> {
        self.interact(reading).map_err(Error::Terminal)
    }
}

/// Prints a table for each reading, and ends after that of a program that has ended.
struct Batch<'a> {
    period: Duration,
    top: Option<usize>,
    out: &'a mut dyn Write,
    warnings: &'a mut dyn Write,
    /// The last message, which is not repeated.
    message: Option<String>,
}

impl<'a> Batch<'a> {
    fn new(period: Duration, top: Option<usize>, out: &'a mut dyn Write, warnings: &'a mut dyn Write) -> Batch<'a> {
        Batch { period, top, out, warnings, message: None }
    }

    fn print(&mut self, reading: &Reading<'_>) -> io::Result<()> {
        let choice = Choice { top: self.top, ..Choice::default() };
        let table = Table::new(reading.counts, None, choice, reading.names);
        writeln!(self.out, "{}\n{}", reading.status.program_line(), reading.status.counts_line())?;
        writeln!(self.out, "{}", table.heading(choice))?;
        for counts in &table.rows {
            writeln!(self.out, "{}", table.line(counts, reading.names))?;
        }
        writeln!(self.out)?;
        self.out.flush()
    }
}

impl Display for Batch<'_> {
    fn show(&mut self, reading: &Reading<'_>) -> Result<Next, Error> {
        let message = &reading.status.message;
        if *message != self.message
            && let Some(text) = message
        {
            // A message that cannot be written is dropped: nobody can read it.
            let _ = writeln!(self.warnings, "gprof: {text}");
        }
        self.message.clone_from(message);
        if reading.is_new && reading.counts.samples + reading.counts.functions.len() as f64 > 0.0 {
            self.print(reading).map_err(Error::Output)?;
        }
        if reading.status.state.is_over() {
            return Ok(Next::Quit);
        }
        thread::sleep(self.period);
        Ok(Next::Read)
    }
}
