//! Signals by which users end programs, caught while a run has something to clean up.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register_conditional_default, register_usize};
use signal_hook::low_level::{emulate_default_handler, unregister};

/// The signals that are caught. The first is that of a terminal's keyboard.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// The signals that users have sent. From [`Interrupts::release`] on, a signal ends the process as usual.
pub(crate) struct Interrupts {
    /// The number of the last signal that nobody has taken; 0 if there is none.
    last: Arc<AtomicUsize>,
    /// For each signal, whether it ends the process.
    ends: [Arc<AtomicBool>; SIGNALS.len()],
    catching: Vec<SigId>,
}

impl Interrupts {
    /// Catches signals from now on.
    ///
    /// # Errors
    ///
    /// When the system refuses a handler.
    pub(crate) fn catch() -> io::Result<Interrupts> {
        let mut interrupts = Interrupts { last: Arc::default(), ends: Default::default(), catching: Vec::new() };
        for (signal, ends) in SIGNALS.into_iter().zip(&interrupts.ends) {
            // A handler of the library stays installed, so it must be able to do what the system would do.
            register_conditional_default(signal, Arc::clone(ends))?;
            let number = usize::try_from(signal).unwrap_or_default();
            interrupts.catching.push(register_usize(signal, Arc::clone(&interrupts.last), number)?);
        }
        Ok(interrupts)
    }

    /// Makes the value that has caught this signal, without any handler.
    #[cfg(test)]
    pub(crate) fn caught(signal: Option<i32>) -> Interrupts {
        let last = signal.and_then(|signal| usize::try_from(signal).ok()).unwrap_or(0);
        Interrupts { last: Arc::new(AtomicUsize::new(last)), ends: Default::default(), catching: Vec::new() }
    }

    /// Returns the last signal that has come, once.
    pub(crate) fn take(&self) -> Option<i32> {
        i32::try_from(self.last.swap(0, SeqCst)).ok().filter(|signal| *signal != 0)
    }

    /// Ends the process as a signal would have ended it. Returns only if the system refuses that.
    pub(crate) fn end_by(signal: i32) {
        let _ = emulate_default_handler(signal);
    }

    /// Lets signals end the process again. A signal that nobody has taken ends the process now.
    pub(crate) fn release(&self) {
        self.ends.iter().for_each(|ends| ends.store(true, SeqCst));
        if let Some(signal) = self.take() {
            Interrupts::end_by(signal);
        }
    }

    /// Ignores the signal of the keyboard from now on: a pager gets the signal as well, and decides when the run is
    /// over.
    pub(crate) fn leave_keyboard_to_pager(&self) {
        let [keyboard, ..] = &self.ends;
        keyboard.store(false, SeqCst);
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.catching.drain(..).for_each(|id| _ = unregister(id));
        self.ends.iter().for_each(|ends| ends.store(true, SeqCst));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signal_hook::low_level::raise;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    #[test]
    #[ignore = "the next test runs this one in a process of its own"]
    fn a_process_that_is_interrupted() {
        let interrupts = Interrupts::catch().unwrap();
        assert_eq!(interrupts.take(), None);
        for signal in SIGNALS {
            raise(signal).unwrap();
            assert_eq!([interrupts.take(), interrupts.take()], [Some(signal), None]);
        }
        match std::env::var("END").unwrap().as_str() {
            "release" => interrupts.release(),
            "late" => {
                raise(SIGTERM).unwrap();
                interrupts.release();
            }
            "pager" | "pager ends" => {
                interrupts.release();
                interrupts.leave_keyboard_to_pager();
                raise(SIGINT).unwrap();
                assert_eq!(interrupts.take(), Some(SIGINT));
            }
            _ => drop(interrupts),
        }
        match std::env::var("END").unwrap().as_str() {
            "pager" => {}
            "pager ends" => raise(SIGTERM).unwrap(),
            _ => raise(SIGINT).unwrap(),
        }
    }

    /// Catches a signal that ends the process while signals are caught, or that does not end the process afterwards.
    #[test]
    fn signals_end_the_process_when_nothing_catches_them() {
        for (end, expected) in [
            ("release", Some(SIGINT)),
            ("late", Some(SIGTERM)),
            ("pager", None),
            ("pager ends", Some(SIGTERM)),
            ("drop", Some(SIGINT)),
        ] {
            let name = "terminal::interrupts::tests::a_process_that_is_interrupted";
            let mut test = Command::new(std::env::current_exe().unwrap());
            let output = test.args(["--ignored", "--exact", name]).env("END", end).output().unwrap();
            assert_eq!(output.status.signal(), expected, "{end}: {}", String::from_utf8_lossy(&output.stdout));
            assert_eq!(output.status.success(), expected.is_none(), "{end}");
        }
    }
}
