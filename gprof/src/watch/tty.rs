//! The terminal of the process as a device: its settings, its size, what is written, and the bytes of keys.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write, stdin, stdout};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use terminal_size::{Height, Width, terminal_size_of};

use super::commands::{ENTER, LEAVE};

/// The columns and rows of a terminal that does not tell them, and the largest numbers that count.
const USUAL_SIZE: (u16, u16) = (80, 24);
const LARGEST: u16 = 1000;

/// What waiting for a terminal ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// The terminal has bytes of keys.
    Keys,
    /// Something else has come.
    Woken,
    TimeIsUp,
}

/// The terminal that shows the standard output and has the keys of the user.
pub(super) struct Tty {
    output: File,
    keys: File,
    /// The settings before the screen was taken, while it is taken.
    before: Mutex<Option<Termios>>,
}

impl Tty {
    /// Opens the terminal. The keys are those of the standard input, or of the terminal of the session, if the standard input
    /// is a file.
    ///
    /// # Errors
    ///
    /// When there is no terminal for keys.
    pub(super) fn open() -> io::Result<Tty> {
        // A panic may come while the standard output is locked, so the terminal has descriptors of its own.
        let output = File::from(stdout().as_fd().try_clone_to_owned()?);
        let keys = match stdin() {
            stdin if stdin.is_terminal() => File::from(stdin.as_fd().try_clone_to_owned()?),
            _ => File::options().read(true).write(true).open("/dev/tty")?,
        };
        Ok(Tty { output, keys, before: Mutex::new(None) })
    }

    /// Takes the screen, also if something else has changed the settings meanwhile: keys come as they are pressed, and the
    /// screen of the shell is kept.
    pub(super) fn take(&self) -> io::Result<()> {
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let settings = match before.take() {
            Some(settings) => settings,
            None => tcgetattr(&self.keys)?,
        };
        let mut raw = settings.clone();
        raw.make_raw();
        *before = Some(settings);
        retry_on_intr(|| tcsetattr(&self.keys, OptionalActions::Now, &raw))?;
        self.write(ENTER)
    }

    /// Gives the screen back. If the terminal is gone, nothing can be done.
    pub(super) fn give_back(&self) {
        let _ = self.write(LEAVE);
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(settings) = before {
            let _ = retry_on_intr(|| tcsetattr(&self.keys, OptionalActions::Now, &settings));
        }
    }

    /// The number of columns and of rows.
    pub(super) fn size(&self) -> (usize, usize) {
        let size = terminal_size_of(&self.output).map(|(Width(columns), Height(rows))| (columns, rows));
        let (columns, rows) = size.unwrap_or(USUAL_SIZE);
        (columns.min(LARGEST).into(), rows.min(LARGEST).into())
    }

    pub(super) fn write(&self, text: &str) -> io::Result<()> {
        (&self.output).write_all(text.as_bytes())
    }

    /// Waits until there are keys, or bytes in `waker`, but not longer than this, if there is a limit.
    pub(super) fn wait(&self, longest: Option<Duration>, waker: impl AsFd) -> io::Result<Waited> {
        let mut files = [PollFd::new(&self.keys, PollFlags::IN), PollFd::new(&waker, PollFlags::IN)];
        // A time that the system cannot express never ends.
        let longest = longest.and_then(|longest| Timespec::try_from(longest).ok());
        match poll(&mut files, longest.as_ref()) {
            Ok(0) => Ok(Waited::TimeIsUp),
            Ok(_) if files[0].revents().is_empty() => Ok(Waited::Woken),
            Ok(_) => Ok(Waited::Keys),
            Err(Errno::INTR) => Ok(Waited::Woken),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the bytes of keys, at least one.
    ///
    /// # Errors
    ///
    /// When the terminal is gone.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; 1024];
        let count = (&self.keys).read(&mut bytes)?;
        bytes.truncate(count);
        if bytes.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
    }
}
