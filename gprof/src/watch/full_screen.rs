//! The screen of the terminal: taken, given back as it was, and the input meanwhile.

use std::io;
use std::os::unix::net::UnixStream;
use std::panic::{self, PanicHookInfo};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;
use signal_hook::low_level::emulate_default_handler;

use super::commands::{self, ERASE};
use super::grid::Grid;
use super::keys::{Key, Keys};
use super::tty::{Tty, Waited};

/// Something that happened.
pub(super) enum Input {
    Key(Key),
    Resized,
    /// The process goes on after it was stopped.
    Continued,
    /// A signal asks the process to stop.
    Stop,
}

/// The screen of the terminal. The terminal is as before when this value is dropped, when the process panics, while it is
/// suspended, and when a signal ends it.
pub(super) struct FullScreen {
    tty: Arc<Tty>,
    keys: Keys,
    /// What the terminal shows, if this is known.
    shown: Option<Grid>,
    /// Held while something is written to the terminal.
    drawing: Arc<Mutex<()>>,
    /// The signals that are input. A signal is a byte in a socket, for which the process can wait together with the keys.
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
        self.tty.write(&(erase.to_owned() + &commands::changes(&before, &grid)))?;
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

/// Makes the signals that end a process give the screen back first. A thread of its own does this, because the thread that
/// draws may be reading a large profile.
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
