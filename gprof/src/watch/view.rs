//! What the user chose by keys.

use super::keys::Key;
use super::table::{Choice, Column};

/// What a key asks for beyond a change of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Draw the view, which may have changed.
    Draw,
    /// Draw every character again.
    Redraw,
    Suspend,
    Quit,
}

/// The choices of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    column: Column,
    is_reversed: bool,
    filter: String,
    /// Whether keys are letters of the filter.
    pub(super) is_typing: bool,
    /// Whether the counts are those of the last period for each second.
    pub(super) is_per_second: bool,
    pub(super) is_paused: bool,
    pub(super) shows_help: bool,
    /// The index of the first row on the screen.
    pub(super) first: usize,
    /// The number of rows on the screen.
    page: usize,
}

/// The keys that the help lists.
pub(super) const HELP: [(&str, &str); 11] = [
    ("s i c n", "sort by self time, inclusive time, calls, or name"),
    ("< >", "sort by the column to the left or to the right"),
    ("r", "reverse the order"),
    ("/", "show only names with a text: type it, Enter keeps it, Escape drops it"),
    ("d", "counts of the last period for each second, or since the start"),
    ("space p", "pause, and go on"),
    ("arrows j k", "scroll; also PageUp, PageDown, Home, End"),
    ("^L", "draw the screen again"),
    ("^Z", "suspend; `fg` comes back"),
    ("? h", "show this help"),
    ("q Escape ^C", "quit"),
];

impl View {
    /// Obeys a key.
    pub(super) fn key(&mut self, key: Key) -> Action {
        if let Key::Control(letter) = key {
            return match letter {
                'c' => Action::Quit,
                'z' => Action::Suspend,
                'l' => Action::Redraw,
                _ => Action::Draw,
            };
        }
        if self.is_typing {
            return self.typed(key);
        }
        if std::mem::take(&mut self.shows_help) && key != Key::Char('q') {
            return Action::Draw;
        }
        match key {
            Key::Char('q') | Key::Escape => return Action::Quit,
            Key::Char('?' | 'h') => self.shows_help = true,
            Key::Char('/') => self.is_typing = true,
            Key::Char('d') => self.is_per_second = !self.is_per_second,
            Key::Char(' ' | 'p') => self.is_paused = !self.is_paused,
            Key::Char('r') => self.is_reversed = !self.is_reversed,
            Key::Char('s') => self.sort(Column::Own),
            Key::Char('i') => self.sort(Column::Inclusive),
            Key::Char('c') => self.sort(Column::Calls),
            Key::Char('n') => self.sort(Column::Name),
            Key::Char('<') => self.sort_by_neighbor(Column::ALL.len() - 1),
            Key::Char('>') => self.sort_by_neighbor(1),
            key => self.scroll(key),
        }
        Action::Draw
    }

    /// Takes a key of the filter.
    fn typed(&mut self, key: Key) -> Action {
        match key {
            Key::Char(letter) => self.filter.push(letter),
            Key::Backspace => _ = self.filter.pop(),
            Key::Enter => self.is_typing = false,
            Key::Escape => {
                self.is_typing = false;
                self.filter.clear();
            }
            _ => self.scroll(key),
        }
        self.first = if matches!(key, Key::Char(_) | Key::Backspace) { 0 } else { self.first };
        Action::Draw
    }

    fn scroll(&mut self, key: Key) {
        self.first = match key {
            Key::Up | Key::Char('k') => self.first.saturating_sub(1),
            Key::Down | Key::Char('j') => self.first.saturating_add(1),
            Key::PageUp => self.first.saturating_sub(self.page),
            Key::PageDown => self.first.saturating_add(self.page),
            Key::Home => 0,
            Key::End => usize::MAX,
            _ => self.first,
        };
    }

    fn sort(&mut self, column: Column) {
        (self.column, self.is_reversed, self.first) = (column, false, 0);
    }

    fn sort_by_neighbor(&mut self, distance: usize) {
        let at = Column::ALL.iter().position(|column| *column == self.column).unwrap_or(0);
        self.sort(Column::ALL[(at + distance) % Column::ALL.len()]);
    }

    /// Keeps the first row within a table of this many rows, of which `page` are on the screen.
    pub(super) fn settle(&mut self, rows: usize, page: usize) {
        self.page = page;
        self.first = self.first.min(rows.saturating_sub(page.max(1)));
    }

    /// The order of the rows, and which rows there are.
    pub(super) fn choice(&self, top: Option<usize>) -> Choice<'_> {
        Choice { column: self.column, is_reversed: self.is_reversed, filter: &self.filter, top }
    }

    /// What the user chose, for the line about the counts.
    pub(super) fn text(&self) -> String {
        let since = if self.is_per_second { "last period, per second" } else { "since the start" };
        let paused = if self.is_paused { "  paused" } else { "" };
        format!("{since}{paused}")
    }

    /// The filter, if there is one or one is being typed.
    pub(super) fn filter_line(&self) -> Option<String> {
        let is_there = self.is_typing || !self.filter.is_empty();
        let cursor = if self.is_typing { "_" } else { "" };
        is_there.then(|| format!("filter: {}{cursor}", self.filter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_end_the_view() {
        for key in [Key::Control('c'), Key::Escape, Key::Char('q')] {
            assert_eq!(View::default().key(key), Action::Quit);
        }
        let mut typing = View { is_typing: true, ..View::default() };
        assert_eq!(typing.key(Key::Control('z')), Action::Suspend);
        assert_eq!(typing.key(Key::Control('c')), Action::Quit);
        assert_eq!(typing.key(Key::Control('l')), Action::Redraw);
    }

    #[test]
    fn a_filter_is_typed() {
        let mut view = View { first: 7, ..View::default() };
        "/Qs".chars().for_each(|letter| _ = view.key(Key::Char(letter)));
        assert_eq!((view.filter_line().as_deref(), view.first), (Some("filter: Qs_"), 0));
        view.key(Key::Backspace);
        view.key(Key::Enter);
        assert_eq!(view.filter_line().as_deref(), Some("filter: Q"));
        assert_eq!(view.key(Key::Char('q')), Action::Quit);
        view.key(Key::Char('/'));
        assert_eq!(view.key(Key::Escape), Action::Draw, "Escape must end typing first");
        assert_eq!(view.filter_line(), None);
    }

    #[test]
    fn the_order_follows_keys() {
        let mut view = View::default();
        view.key(Key::Char('>'));
        assert_eq!(view.choice(None).column, Column::Inclusive);
        view.key(Key::Char('r'));
        assert!(view.choice(None).is_reversed);
        view.key(Key::Char('s'));
        assert!(!view.choice(None).is_reversed);
        view.key(Key::Char('<'));
        assert_eq!(view.choice(None).column, Column::Name);
    }

    #[test]
    fn scrolling_stays_inside_the_table() {
        let mut view = View::default();
        view.settle(30, 10);
        for (key, first) in [
            (Key::Up, 0),
            (Key::Down, 1),
            (Key::PageDown, 11),
            (Key::End, 20),
            (Key::PageDown, 20),
            (Key::PageUp, 10),
            (Key::Home, 0),
        ] {
            view.key(key);
            view.settle(30, 10);
            assert_eq!(view.first, first, "{key:?}");
        }
        view.first = 20;
        view.settle(5, 10);
        assert_eq!(view.first, 0);
    }

    #[test]
    fn any_key_ends_the_help() {
        let mut view = View::default();
        view.key(Key::Char('?'));
        assert!(view.shows_help);
        assert_eq!(view.key(Key::Escape), Action::Draw);
        assert_eq!(view, View::default());
    }
}
