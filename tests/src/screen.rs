//! The screen of a terminal, as a program draws it: enough of a terminal's commands for programs that move the cursor,
//! erase, and use the alternate screen.

/// What a terminal shows.
#[derive(Debug)]
pub struct Screen {
    rows: Vec<Vec<char>>,
    cursor: (usize, usize),
    /// The bytes of a command or character that is not complete.
    held: Vec<u8>,
    /// Whether the alternate screen is shown.
    pub is_alternate: bool,
    /// Whether the cursor is shown.
    pub has_cursor: bool,
    /// Whether the screen has all changes of a frame: nothing was drawn since the cursor was last hidden or shown,
    /// which ends each frame, or since the program changed between the screens.
    pub is_whole_frame: bool,
    /// What was written outside of the alternate screen, without commands.
    pub log: String,
}

impl Screen {
    /// A terminal of this size with nothing on it.
    #[must_use]
    pub fn new(columns: usize, rows: usize) -> Screen {
        Screen {
            rows: vec![vec![' '; columns]; rows],
            cursor: (0, 0),
            held: Vec::new(),
            is_alternate: false,
            has_cursor: true,
            is_whole_frame: true,
            log: String::new(),
        }
    }

    /// Takes the output of a program.
    ///
    /// # Panics
    ///
    /// If the output has a command that this terminal does not know.
    pub fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.held.push(*byte);
            if let Some(used) = self.command() {
                self.held.drain(..used);
            }
        }
    }

    /// The lines of the screen, without blanks at their ends.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned()).collect()
    }

    /// Obeys what is held if it is complete. Returns the number of bytes.
    fn command(&mut self) -> Option<usize> {
        match self.held.as_slice() {
            [b'\x1b'] | [b'\x1b', b'['] => None,
            [b'\x1b', b'[', parameters @ .., last @ 0x40..=0x7e] => {
                let parameters = String::from_utf8(parameters.to_vec()).expect("parameters are ASCII");
                self.control(&parameters, *last);
                Some(self.held.len())
            }
            [b'\x1b', b'[', ..] => None,
            [b'\x1b', _] => Some(2),
            bytes => {
                let text = std::str::from_utf8(bytes).ok()?.to_owned();
                text.chars().for_each(|letter| self.letter(letter));
                Some(text.len())
            }
        }
    }

    fn control(&mut self, parameters: &str, last: u8) {
        let numbers: Vec<usize> = parameters.split(';').map(|number| number.parse().unwrap_or(0)).collect();
        match (parameters, last) {
            ("?1049", b'h' | b'l') => {
                self.is_alternate = last == b'h';
                self.erase();
                self.is_whole_frame = true;
            }
            ("?25", b'h' | b'l') => {
                self.has_cursor = last == b'h';
                self.is_whole_frame = true;
            }
            (_, b'H') => {
                let place = |at: usize| numbers.get(at).copied().unwrap_or(1).max(1) - 1;
                self.cursor = (place(0), place(1));
            }
            ("2", b'J') => {
                self.erase();
                self.is_whole_frame = !self.is_alternate;
            }
            // Colors and other properties of characters.
            (_, b'm' | b'h' | b'l') => {}
            _ => panic!("a terminal of these tests does not know the command {parameters}{}", char::from(last)),
        }
    }

    fn erase(&mut self) {
        self.rows.iter_mut().for_each(|row| row.fill(' '));
    }

    fn letter(&mut self, letter: char) {
        if !self.is_alternate {
            self.log.push(letter);
            return;
        }
        self.is_whole_frame = false;
        let (row, column) = self.cursor;
        match letter {
            '\r' => self.cursor.1 = 0,
            '\n' => self.cursor.0 += 1,
            _ => {
                if let Some(cell) = self.rows.get_mut(row).and_then(|row| row.get_mut(column)) {
                    *cell = letter;
                }
                self.cursor.1 += 1;
            }
        }
    }
}
