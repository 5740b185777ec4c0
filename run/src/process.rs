//! Runs the program, passes signals on, stops and goes on with the program, and ends as the program ends.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use rustix::process::{
    DumpableBehavior, Pid, Resource, Rlimit, WaitOptions, WaitStatus, set_dumpable_behavior, setrlimit, wait,
};

use crate::error::Error;
use crate::signals::Parties;
use crate::system::{self, Groups, Received, Signals};

/// How often the profiles of ended processes are looked for.
const PERIOD: Duration = Duration::from_millis(500);

/// The shell that runs scripts without a `#!` line.
const SHELL: &str = "/bin/sh";

/// A program to run.
pub(crate) struct Command {
    pub(crate) path: PathBuf,
    /// The program's name, as the user called the program, and its arguments.
    pub(crate) words: Vec<OsString>,
    /// `NAME=VALUE`.
    pub(crate) environment: Vec<OsString>,
}

/// How the program ended.
pub(crate) struct End(ExitStatus);

impl Command {
    /// Runs the program. `meanwhile` runs from time to time.
    ///
    /// # Errors
    ///
    /// When the program cannot be executed.
    pub(crate) fn run(&self, meanwhile: impl Fn() + Sync) -> Result<End, Error> {
        // Blocked signals wait, so no signal is lost that arrives before the program has started. The program inherits
        // which signals are ignored. SIGCHLD is an exception: gmon-run could not wait for a child if it were ignored.
        let signals = Signals::all();
        let blocked = signals.block();
        system::keep_children();
        let program = self.start(&blocked).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NotFound(self.path.clone()),
            _ => Error::NotExecutable(self.path.clone(), error),
        })?;
        let has_ended = AtomicBool::new(false);
        let end = thread::scope(|scope| {
            let collector = scope.spawn(|| {
                while !has_ended.load(Relaxed) {
                    thread::park_timeout(PERIOD);
                    if !has_ended.load(Relaxed) {
                        meanwhile();
                    }
                }
            });
            let end = follow(program, &signals);
            has_ended.store(true, Relaxed);
            collector.thread().unpark();
            end
        });
        end.map_err(Error::Wait)
    }

    /// Starts the program. The shell runs what the kernel cannot execute, as `execvp` has it.
    fn start(&self, blocked: &Signals) -> io::Result<Pid> {
        let environment = strings(&self.environment)?;
        let path = CString::new(self.path.as_os_str().as_bytes())?;
        let result = system::start(&path, &strings(&self.words)?, &environment, blocked);
        let is_script = || !is_elf(&self.path);
        if !result.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::ENOEXEC) && is_script()) {
            return result;
        }
        let script = [OsStr::new(SHELL), self.path.as_os_str()].map(OsStr::to_owned);
        let words: Vec<OsString> = script.into_iter().chain(self.words.iter().skip(1).cloned()).collect();
        system::start(&CString::new(SHELL)?, &strings(&words)?, &environment, blocked)
    }
}

fn strings(words: &[OsString]) -> io::Result<Vec<CString>> {
    words.iter().map(|word| CString::new(word.clone().into_vec()).map_err(io::Error::from)).collect()
}

/// Whether a file is a program for some machine.
fn is_elf(path: &Path) -> bool {
    let mut beginning = [0; 4];
    File::open(path).is_ok_and(|mut file| file.read_exact(&mut beginning).is_ok()) && beginning == object::elf::ELFMAG
}

/// What is known of the program.
#[derive(Default)]
struct State {
    /// The signal that has stopped the program.
    stopped_by: Option<i32>,
    /// Whether gmon-run has sent SIGCONT to the stopped program, and the kernel has not said yet that the program goes
    /// on.
    is_continuing: bool,
    /// Whether another process has continued the program by a SIGCONT to the whole group, and gmon-run has not yet read
    /// the SIGCONT that gmon-run itself got.
    was_continued: bool,
}

/// Waits for the end of the program, and for that of all processes that have no other parent.
fn follow(program: Pid, signals: &Signals) -> io::Result<End> {
    let parties = Parties::with(program);
    let mut state = State::default();
    loop {
        let received = signals.next()?;
        if received.signal == libc::SIGCONT {
            system::finish_deliveries();
        }
        let is_stopped_before = state.stopped_by.is_some();
        while let Some((process, status)) = wait(WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED)?
        {
            if process == program
                && let Some(end) = state.change(status)
            {
                return Ok(end);
            }
        }
        if is_for_program(&mut state, parties, received) {
            state.is_continuing = received.signal == libc::SIGCONT && state.stopped_by.is_some();
            system::send(program, received.signal, received.value);
        }
        if let Some(signal) = state.stopped_by.filter(|_| !is_stopped_before && is_under_job_control()) {
            system::take_default_action(signal);
        }
    }
}

impl State {
    /// Notes what happened to the program. The result is the end of the program, if this is the end.
    fn change(&mut self, status: WaitStatus) -> Option<End> {
        if let Some(signal) = status.stopping_signal() {
            *self = State { stopped_by: Some(signal), ..State::default() };
        } else if status.continued() {
            *self = State { was_continued: !self.is_continuing, ..State::default() };
        } else {
            return Some(End(ExitStatus::from_raw(status.as_raw())));
        }
        None
    }
}

/// Whether a signal is to be sent to the program.
fn is_for_program(state: &mut State, parties: Parties, received: Received) -> bool {
    if received.signal != libc::SIGCONT {
        return parties.is_for_program(received);
    }
    // Whoever continued the program has sent the signal to the whole group.
    let program_has_signal = std::mem::take(&mut state.was_continued);
    state.stopped_by.is_some() || !program_has_signal && parties.is_for_program(received)
}

/// Whether a shell may be there that continues this process: the parent is in the same session, and in another process
/// group.
fn is_under_job_control() -> bool {
    let Groups { own_group, own_session, parents_group, parents_session } = Groups::now();
    parents_session > 0 && own_session == parents_session && own_group != parents_group
}

impl End {
    /// Ends this process as the program ended: by the same signal, or with the exit status that is the result.
    pub(crate) fn follow(self) -> u8 {
        if let Some(signal) = self.0.signal() {
            // The program has written its memory image if the user wants it.
            let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
            let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
            system::take_default_action(signal);
            // The first process of a container survives its own signals.
            return 128_u8.wrapping_add(signal as u8);
        }
        self.0.code().unwrap_or(0) as u8
    }
}
