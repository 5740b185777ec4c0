//! The pager: a program that shows reports on a terminal.
//!
//! The pager starts when the first report is written, so a run without reports starts no pager. The pager reads a pipe,
//! and writes to the standard output of this process itself.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;

use super::interrupts::Interrupts;

/// The pager of users who name none, and its default options in the variable `LESS`: end at once if everything fits on
/// the screen, show colors, and do not clear the screen.
const USUAL: (&str, &str) = ("less", "FRX");

/// The pager to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PagerCommand {
    /// The usual pager, if the system has it.
    Usual,
    /// A command that the user named.
    Command(OsString),
}

impl PagerCommand {
    /// Returns the pager that the environment names: `GPROF_PAGER`, or else `PAGER`. An empty value and `cat` mean no
    /// pager. Without a name, a dumb terminal gets no pager.
    #[must_use]
    pub fn of_environment(variable: impl Fn(&str) -> Option<OsString>) -> Option<PagerCommand> {
        match variable("GPROF_PAGER").or_else(|| variable("PAGER")) {
            Some(command) if command.as_bytes().trim_ascii().is_empty() || command == "cat" => None,
            Some(command) => Some(PagerCommand::Command(command)),
            None if variable("TERM").is_none_or(|name| name.is_empty() || name == "dumb") => None,
            None => Some(PagerCommand::Usual),
        }
    }
}

/// A writer that sends reports through a pager.
pub(crate) struct Pager<'a> {
    choice: &'a PagerCommand,
    /// The output for reports if there is no pager.
    out: &'a mut dyn Write,
    /// The signals that this run has caught, if it has caught any.
    interrupts: Option<&'a Interrupts>,
    state: State,
}

enum State {
    /// Nothing was written.
    Waiting,
    Running(Child, ChildStdin),
    /// The pager could not be started.
    Failed(io::Error),
}

impl<'a> Pager<'a> {
    pub(crate) fn new(
        choice: &'a PagerCommand,
        out: &'a mut dyn Write,
        interrupts: Option<&'a Interrupts>,
    ) -> Pager<'a> {
        Pager { choice, out, interrupts, state: State::Waiting }
    }

    /// Waits for the end of the pager. Returns a fault that the user should know of.
    ///
    /// # Errors
    ///
    /// A fault that kept the user from seeing the reports.
    pub(crate) fn finish(self) -> Result<Option<String>, String> {
        let PagerCommand::Command(command) = self.choice else {
            // If the usual pager is missing, nobody asked for it.
            if let State::Running(child, input) = self.state {
                let _ = wait(child, input);
            }
            return Ok(None);
        };
        let fault =
            |why: &str| format!("pager '{}': {why}: name another in GPROF_PAGER, or use --no-pager", command.display());
        match self.state {
            State::Waiting => Ok(None),
            State::Failed(error) => Ok(Some(fault(&crate::terminal::system(&error)))),
            // The shell exits with these values if it finds no command or cannot run the command.
            State::Running(child, input) => match wait(child, input) {
                Some(126 | 127) => Err(fault("the shell cannot run it")),
                _ => Ok(None),
            },
        }
    }

    /// Returns the pipe to the pager, or the output itself. Starts the pager.
    fn sink(&mut self) -> &mut dyn Write {
        if let State::Waiting = self.state {
            self.state = match start(self.choice) {
                Ok((child, input)) => {
                    self.interrupts.inspect(|interrupts| interrupts.leave_keyboard_to_pager());
                    State::Running(child, input)
                }
                Err(error) => State::Failed(error),
            };
        }
        match &mut self.state {
            State::Running(_, input) => input,
            _ => self.out,
        }
    }
}

impl Write for Pager<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.sink().write(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Waiting => Ok(()),
            State::Running(_, input) => input.flush(),
            State::Failed(_) => self.out.flush(),
        }
    }
}

fn start(choice: &PagerCommand) -> io::Result<(Child, ChildStdin)> {
    let mut command = match choice {
        PagerCommand::Usual => Command::new(USUAL.0),
        PagerCommand::Command(words) if is_plain(words) => Command::new(words),
        PagerCommand::Command(words) => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(words);
            shell
        }
    };
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", USUAL.1);
    }
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    let Some(input) = child.stdin.take() else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    // An interrupt from the terminal is meant for the pager, which stops reading and stays. If the interrupt ended this
    // process, the shell and the pager would both read the terminal. If the handler cannot be installed, nothing more
    // can be done.
    let _ = signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)));
    Ok((child, input))
}

/// Returns whether a command is a single word that means the same to a shell and to the system.
fn is_plain(words: &OsStr) -> bool {
    words.as_bytes().iter().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(byte))
}

/// Closes the input of a process and waits for its end. Returns its exit status.
fn wait(mut child: Child, input: ChildStdin) -> Option<i32> {
    drop(input);
    child.wait().ok()?.code()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_pager() {
        let of = |variables: &[(&str, &str)]| {
            let value = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
            PagerCommand::of_environment(value)
        };
        let command = |name: &str| Some(PagerCommand::Command(name.into()));
        let term = ("TERM", "xterm");
        assert_eq!(of(&[term]), Some(PagerCommand::Usual));
        assert_eq!([of(&[]), of(&[("TERM", "")]), of(&[("TERM", "dumb")])], [None, None, None]);
        assert_eq!(of(&[term, ("PAGER", "more")]), command("more"));
        assert_eq!(of(&[term, ("PAGER", "more"), ("GPROF_PAGER", "less -S")]), command("less -S"));
        assert_eq!(of(&[term, ("PAGER", "more"), ("GPROF_PAGER", "")]), None);
        assert_eq!(of(&[term, ("PAGER", "more"), ("GPROF_PAGER", " ")]), None);
        assert_eq!([of(&[term, ("PAGER", "cat")]), of(&[term, ("GPROF_PAGER", "cat")])], [None, None]);
        assert_eq!(of(&[("GPROF_PAGER", "more")]), command("more"), "one that was named goes to any terminal");
    }

    #[test]
    fn what_needs_a_shell() {
        assert!(["less", "/usr/bin/most", "a-b.c"].into_iter().all(|words| is_plain(words.as_ref())));
        assert!(["less -R", "$P", "a|b", "~/p"].into_iter().all(|words| !is_plain(words.as_ref())));
    }
}
