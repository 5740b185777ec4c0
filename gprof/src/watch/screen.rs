//! Shows readings on the whole screen of a terminal, and obeys keys.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::drawing::{self, Page};
use super::full_screen::{FullScreen, Input};
use super::readings::{Display, Next, Reading};
use super::view::{Action, View};
use crate::error::Error;

/// The screen with the choices of the user.
pub(super) struct Screen {
    terminal: FullScreen,
    view: View,
    period: Duration,
    top: Option<usize>,
    has_colors: bool,
}

impl Screen {
    /// Takes the screen.
    pub(super) fn enter(image: &Path, period: Duration, top: Option<usize>, has_colors: bool) -> io::Result<Screen> {
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
