//! The screen of the terminal: taken, given back as it was, and the input meanwhile.

use std::fs::File;
use std::io::{self, BufWriter, Write, stdout};
use std::os::fd::AsFd;
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::{Frame, Terminal};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::low_level::emulate_default_handler;

/// Something that happened.
pub(super) enum Input {
    Key(KeyEvent),
    Resized,
    /// The process goes on after it was stopped.
    Continued,
    /// A signal asks the process to stop.
    Stop,
}

/// The screen of the terminal. The terminal is as before when this value is dropped, when the process panics, while it is
/// suspended, and when a signal ends it.
pub(super) struct FullScreen {
    terminal: Terminal<CrosstermBackend<BufWriter<File>>>,
    out: File,
    /// Held while something is written to the terminal.
    drawing: Arc<Mutex<()>>,
    signals: Signals,
    hook: Arc<PanicHook>,
}

type PanicHook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// The signals that stop the process and make it go on.
struct Signals {
    stop: Arc<AtomicBool>,
    continued: Arc<AtomicBool>,
}

impl FullScreen {
    /// The longest time between two looks at signals that stop: waiting for input does not end when a signal comes.
    pub(super) const TICK: Duration = Duration::from_millis(100);

    /// Takes the screen of the standard output.
    ///
    /// # Errors
    ///
    /// When the process has no terminal that it can change.
    pub(super) fn enter() -> io::Result<FullScreen> {
        // A panic may come while the standard output is locked, so the screen has a descriptor of its own.
        let out = File::from(stdout().as_fd().try_clone_to_owned()?);
        let for_panics = out.try_clone()?;
        let signals = Signals { stop: Arc::default(), continued: Arc::default() };
        signal_hook::flag::register(SIGTSTP, Arc::clone(&signals.stop))?;
        signal_hook::flag::register(SIGCONT, Arc::clone(&signals.continued))?;
        let drawing = Arc::new(Mutex::new(()));
        end_by_signals(out.try_clone()?, Arc::clone(&drawing))?;
        take(&out)?;
        let hook: Arc<PanicHook> = Arc::new(panic::take_hook());
        let before = Arc::clone(&hook);
        panic::set_hook(Box::new(move |what| {
            give_back(&for_panics);
            before(what);
        }));
        let terminal = out.try_clone().and_then(|out| Terminal::new(CrosstermBackend::new(BufWriter::new(out))));
        match terminal {
            Ok(terminal) => Ok(FullScreen { terminal, out, drawing, signals, hook }),
            Err(error) => {
                give_back(&out);
                Err(error)
            }
        }
    }

    /// Draws what has changed.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let _held = self.drawing.lock();
        self.terminal.draw(draw).map(|_| ())
    }

    /// Makes the next drawing draw everything.
    pub(super) fn refresh(&mut self) -> io::Result<()> {
        let _held = self.drawing.lock();
        take(&self.out)?;
        let size = self.terminal.size()?;
        // Unlike `clear`, this does not ask the terminal where the cursor is, and wait for the answer.
        self.terminal.resize(size.into())
    }

    /// Waits for input, but not longer than this and [`FullScreen::TICK`].
    pub(super) fn input(&mut self, longest: Duration) -> io::Result<Option<Input>> {
        if self.signals.stop.swap(false, Relaxed) {
            return Ok(Some(Input::Stop));
        }
        if self.signals.continued.swap(false, Relaxed) {
            return Ok(Some(Input::Continued));
        }
        if !event::poll(longest.min(FullScreen::TICK))? {
            return Ok(None);
        }
        Ok(match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => Some(Input::Key(key)),
            Event::Resize(..) => Some(Input::Resized),
            _ => None,
        })
    }

    /// Gives the screen back, and stops the process until the user continues it.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        give_back(&self.out);
        emulate_default_handler(SIGTSTP)?;
        self.signals.continued.store(false, Relaxed);
        self.refresh()
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        // A thread that panics has given the screen back in the hook, and must not change hooks.
        if !thread::panicking() {
            give_back(&self.out);
            let before = Arc::clone(&self.hook);
            panic::set_hook(Box::new(move |what| before(what)));
        }
    }
}

/// Makes the signals that end a process give the screen back first. A thread of its own does this, because the thread that
/// draws may be reading a large profile, and never comes back from a terminal that is gone.
fn end_by_signals(out: File, drawing: Arc<Mutex<()>>) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            // Nothing is drawn any more.
            let _held = drawing.lock();
            give_back(&out);
            let _ = emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Takes the screen: keys come as they are pressed, and the shell's screen is kept.
fn take(mut out: &File) -> io::Result<()> {
    enable_raw_mode()?;
    execute!(out, EnterAlternateScreen)
}

/// Gives the screen back. If the terminal is gone, nothing can be done.
fn give_back(mut out: &File) {
    let _ = execute!(out, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = out.flush();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    #[ignore = "the next test runs this one on a terminal"]
    fn panics_on_the_screen() {
        let mut screen = FullScreen::enter().unwrap();
        screen
            .draw(|frame| _ = frame.buffer_mut().set_stringn(0, 0, "drawn", 9, ratatui::style::Style::new()))
            .unwrap();
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
