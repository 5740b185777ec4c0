//! The screen of the terminal: taken, given back as it was, and the input meanwhile. [`Tty`] is the terminal of the
//! process as a device: its settings, its size, what is written, and the bytes of keys.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write, stdin, stdout};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic::{self, PanicHookInfo};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;
use signal_hook::low_level::emulate_default_handler;
use terminal_size::{Height, Width, terminal_size_of};

use super::grid::{self, ENTER, ERASE, Grid, LEAVE};
use super::keys::{Key, Keys};

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
    /// Opens the terminal. The keys are those of the standard input, or of the terminal of the session, if the standard
    /// input is a file.
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

    /// Takes the screen, also if something else has changed the settings meanwhile: keys come as they are pressed, and
    /// the screen of the shell is kept.
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
    fn give_back(&self) {
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

/// Something that happened.
pub(super) enum Input {
    Key(Key),
    Resized,
    /// The process goes on after it was stopped.
    Continued,
    /// A signal asks the process to stop.
    Stop,
}

/// The screen of the terminal. The terminal is as before when this value is dropped, when the process panics, while it
/// is suspended, and when a signal ends it.
pub(super) struct FullScreen {
    tty: Arc<Tty>,
    keys: Keys,
    /// What the terminal shows, if this is known.
    shown: Option<Grid>,
    /// Held while something is written to the terminal.
    drawing: Arc<Mutex<()>>,
    /// The signals that are input. A signal is a byte in a socket, for which the process can wait together with the
    /// keys.
    signals: SignalDelivery<UnixStream, SignalOnly>,
    hook: Arc<PanicHook>,
}

type PanicHook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

impl FullScreen {
    /// The time in which the bytes of one key come. An Escape byte that nothing follows in this time is the Escape key.
    const KEY: Duration = Duration::from_millis(50);

    /// Takes the screen of the standard output.
    ///
    /// # Errors
    ///
    /// When the process has no terminal that it can change.
    pub(super) fn enter() -> io::Result<FullScreen> {
        let tty = Arc::new(Tty::open()?);
        let (receiver, sender) = UnixStream::pair()?;
        let signals = SignalDelivery::with_pipe(receiver, sender, SignalOnly, [SIGTSTP, SIGCONT, SIGWINCH])?;
        let drawing = Arc::new(Mutex::new(()));
        end_by_signals(Arc::clone(&tty), Arc::clone(&drawing))?;
        tty.take().inspect_err(|_| tty.give_back())?;
        let hook: Arc<PanicHook> = Arc::new(panic::take_hook());
        let (before, for_panics) = (Arc::clone(&hook), Arc::clone(&tty));
        panic::set_hook(Box::new(move |what| {
            for_panics.give_back();
            before(what);
        }));
        Ok(FullScreen { tty, keys: Keys::default(), shown: None, drawing, signals, hook })
    }

    /// Draws what has changed.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Grid)) -> io::Result<()> {
        let _held = self.drawing.lock();
        let (columns, rows) = self.tty.size();
        let mut grid = Grid::new(columns, rows);
        let (erase, before) = match self.shown.take() {
            Some(shown) if shown.size() == grid.size() => ("", shown),
            _ => (ERASE, grid.clone()),
        };
        draw(&mut grid);
        self.tty.write(&(erase.to_owned() + &grid::changes(&before, &grid)))?;
        self.shown = Some(grid);
        Ok(())
    }

    /// Makes the next drawing draw everything.
    pub(super) fn refresh(&mut self) -> io::Result<()> {
        let _held = self.drawing.lock();
        self.shown = None;
        self.tty.take()
    }

    /// Waits for input, but not longer than this, if there is a limit. May return without input earlier.
    pub(super) fn input(&mut self, longest: Option<Duration>) -> io::Result<Option<Input>> {
        if let Some(signal) = self.signals.pending().next() {
            return Ok(Some(match signal {
                SIGTSTP => Input::Stop,
                SIGCONT => Input::Continued,
                _ => Input::Resized,
            }));
        }
        if let Some(key) = self.keys.next(false) {
            return Ok(Some(Input::Key(key)));
        }
        let longest = if self.keys.has_beginning() { Some(FullScreen::KEY) } else { longest };
        let waited = self.tty.wait(longest, self.signals.get_read())?;
        if waited == Waited::Keys {
            self.keys.add(&self.tty.read()?);
        }
        Ok(self.keys.next(waited == Waited::TimeIsUp).map(Input::Key))
    }

    /// Gives the screen back, and stops the process until the user continues it.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        self.tty.give_back();
        emulate_default_handler(SIGTSTP)?;
        // The signal that continued the process is no news, and a new size is found when everything is drawn.
        self.signals.pending().for_each(drop);
        self.refresh()
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        // A thread that panics has given the screen back in the hook, and must not change hooks.
        if !thread::panicking() {
            self.tty.give_back();
            let before = Arc::clone(&self.hook);
            panic::set_hook(Box::new(move |what| before(what)));
        }
    }
}

/// Makes the signals that end a process give the screen back first. A thread of its own does this, because the thread
/// that draws may be reading a large profile.
fn end_by_signals(tty: Arc<Tty>, drawing: Arc<Mutex<()>>) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            // Nothing is drawn any more.
            let _held = drawing.lock();
            tty.give_back();
            let _ = emulate_default_handler(signal);
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    #[ignore = "the next test runs this one on a terminal"]
    fn panics_on_the_screen() {
        let mut screen = FullScreen::enter().unwrap();
        screen.draw(|grid| _ = grid.write(0, "drawn", anstyle::Style::new())).unwrap();
        panic!("the reason of the panic");
    }

    #[test]
    fn a_panic_gives_the_screen_back_before_it_tells_why() {
        if Command::new("script").arg("--version").output().is_err() {
            eprintln!("SKIPPED: full_screen: no script (util-linux) on this system");
            return;
        }
        let name = "watch::full_screen::tests::panics_on_the_screen";
        let commands =
            format!("stty rows 24 cols 80; stty -a; \"$TEST\" --ignored --exact {name} --nocapture; stty -a");
        let mut script = Command::new("script");
        script.args(["--quiet", "--command", &commands, "/dev/null"]).env("TEST", std::env::current_exe().unwrap());
        let output = script.env("SHELL", "/bin/sh").stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text:?}"));
        let [taken, drawn, given_back] = ["\x1b[?1049h", "drawn", "\x1b[?1049l"].map(place);
        let [shown, told] = ["\x1b[?25h", "the reason of the panic"].map(place);
        assert!(taken < drawn && drawn < given_back && given_back < told && shown < told, "{text:?}");
        let settings =
            |from: &str| from[from.find("speed").unwrap()..].split("\r\n").take(5).collect::<Vec<_>>().join("\n");
        assert_eq!(settings(&text), settings(&text[told..]));
    }
}
