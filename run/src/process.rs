//! Runs the program, passes signals on, and ends as the program ends.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use signal_hook::consts::{SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::Signals;

use crate::error::Error;
use crate::status::field;

/// Signals that a terminal sends to the program too.
const OF_TERMINAL: [i32; 2] = [SIGINT, SIGQUIT];
/// Signals that are meant for the program.
const PASSED_ON: [i32; 6] = [SIGALRM, SIGHUP, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH];

/// How often the profiles of ended processes are looked for.
const PERIOD: Duration = Duration::from_millis(500);

/// How the program ended.
pub(crate) struct End(ExitStatus);

/// Gives the program the name by which the user called it.
pub(crate) fn name(command: &mut Command, name: &OsStr) {
    command.arg0(name);
}

/// Runs a program. `meanwhile` runs from time to time.
///
/// # Errors
///
/// When the program cannot be executed.
pub(crate) fn run(command: &mut Command, path: &Path, meanwhile: impl Fn() + Sync) -> Result<End, Error> {
    // The kernel resets handlers for the program, and keeps ignored signals ignored, so these get no handler. But
    // gmon-run could not wait for a child while SIGCHLD is ignored.
    let ignored = ignored_signals();
    let caught = OF_TERMINAL.into_iter().chain(PASSED_ON).filter(|signal| ignored & 1 << (signal - 1) == 0);
    let mut signals = Signals::new(caught.chain([SIGCHLD])).map_err(Error::Wait)?;
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::NotFound(path.to_owned()),
        _ => Error::NotExecutable(path.to_owned(), error),
    })?;
    let handle = signals.handle();
    let program = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let has_ended = AtomicBool::new(false);
    let status = thread::scope(|scope| {
        scope.spawn(|| {
            for signal in signals.forever().filter(|signal| PASSED_ON.contains(signal)) {
                if let (Some(program), Some(signal)) = (program, Signal::from_named_raw(signal)) {
                    let _ = kill_process(program, signal);
                }
            }
        });
        let collector = scope.spawn(|| {
            while !has_ended.load(Relaxed) {
                thread::park_timeout(PERIOD);
                if !has_ended.load(Relaxed) {
                    meanwhile();
                }
            }
        });
        let status = child.wait();
        has_ended.store(true, Relaxed);
        collector.thread().unpark();
        handle.close();
        status
    });
    status.map(End).map_err(Error::Wait)
}

/// The set of the signals that this process ignores; empty if the kernel does not tell.
fn ignored_signals() -> u64 {
    field("SigIgn").and_then(|set| u64::from_str_radix(&set, 16).ok()).unwrap_or(0)
}

impl End {
    /// Ends this process as the program ended: by the same signal, or with the same exit status.
    pub(crate) fn follow(self) -> ExitCode {
        if let Some(signal) = self.0.signal() {
            // The program has written its memory image if the user wants it.
            let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            // The signal does not end processes, or is blocked.
            return ExitCode::from(128_u8.wrapping_add(signal as u8));
        }
        ExitCode::from(self.0.code().unwrap_or(0) as u8)
    }
}
