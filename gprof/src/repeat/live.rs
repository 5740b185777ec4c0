//! Runs real programs, and reads their profiles.

use std::env;
use std::fs::File;
use std::io::{Seek, Write, stdin};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use signal_hook::low_level::signal_name;

use super::files::Directory;
use super::turns::{Plan, Side, Steps};
use crate::compare;
use crate::error::Error;
use crate::program::image::{self, Profiling};
use crate::question::files::ProfiledImage;
use crate::question::options::{Options, Repeat};
use crate::terminal::progress::Progress;
use crate::terminal::system;

/// The variable that names the profile of a program.
const PREFIX: &str = "GMON_OUT_PREFIX";

/// The name of the program that profiles programs which do not profile themselves.
const GMON_RUN: &str = "gmon-run";

/// A program that runs again and again.
pub(super) struct Program {
    /// The name on the command line, which the program gets too.
    word: PathBuf,
    /// The file.
    pub(super) path: PathBuf,
    pub(super) profiling: Profiling,
}

impl Program {
    /// Finds a program as shells do: a name without a slash is looked up in `PATH` if no file here has this name.
    ///
    /// # Errors
    ///
    /// When there is no such file, or the file is no program with machine code.
    pub(super) fn find(word: &Path) -> Result<Program, Error> {
        let is_path = word.as_os_str().as_encoded_bytes().contains(&b'/');
        let here = if is_path { word.to_owned() } else { Path::new(".").join(word) };
        let in_path = || {
            let places = env::var_os("PATH").unwrap_or_default();
            env::split_paths(&places).map(|place| place.join(word)).find(|path| path.is_file())
        };
        let path = if is_path || here.is_file() { here } else { in_path().unwrap_or(here) };
        match std::fs::metadata(&path) {
            Err(source) => Err(Error::Read { file: word.display().to_string(), source }),
            Ok(_) if !image::begins_as_image(&path) => Err(fault(
                word,
                "'--repeat' runs programs with machine code: a script's profile would be that of its interpreter",
            )),
            Ok(_) => Ok(Program { word: word.to_owned(), profiling: image::profiling(&path), path }),
        }
    }
}

fn fault(program: &Path, why: impl Into<String>) -> Error {
    Error::Program { program: program.display().to_string(), why: why.into() }
}

/// Real runs.
pub(super) struct Live<'a, 'p> {
    pub(super) plan: &'a Plan,
    pub(super) repeat: &'a Repeat,
    pub(super) options: &'a Options,
    pub(super) directory: &'a Directory,
    /// The program of `--against`, and the program of the command line.
    pub(super) programs: [Option<&'a Program>; 2],
    pub(super) progress: &'a mut Progress<'p>,
    /// When the first run began.
    pub(super) begin: Instant,
}

impl Live<'_, '_> {
    /// The command that runs a program.
    fn command(&self, program: &Program, side: Side, number: usize) -> Result<Command, Error> {
        let mut command = match program.profiling {
            Profiling::None => {
                let mut command = Command::new(gmon_run(&program.word)?);
                command.arg("--output").arg(self.directory.collected()).arg(&program.path);
                command
            }
            how => {
                let mut command = Command::new(&program.path);
                command.arg0(&program.word).env(PREFIX, self.directory.prefix(side, number, how == Profiling::Own));
                command
            }
        };
        let messages = self.directory.messages();
        let fail = |source| Error::Write { file: messages.display().to_string(), source };
        let stderr = File::create(&messages).map_err(fail)?;
        command.args(&self.repeat.arguments).stdin(input()).stdout(Stdio::null()).stderr(stderr);
        Ok(command)
    }

    /// The error of a run that failed.
    fn failed(&self, program: &Program, number: usize, status: ExitStatus) -> Error {
        let messages = self.directory.messages();
        let how = match (status.code(), status.signal()) {
            (Some(code), _) => format!("ended with status {code}"),
            (None, Some(signal)) => {
                let name = signal_name(signal).map(|name| format!(" ({name})")).unwrap_or_default();
                format!("was ended by signal {signal}{name}")
            }
            (None, None) => "failed".to_owned(),
        };
        let messages = messages.display();
        fault(
            &program.word,
            format!(
                "run {number} {how}: {messages} has what it said. Runs that fail do other work than runs that succeed: \
                 choose arguments with which each run ends with status 0"
            ),
        )
    }

    /// The error of a run that left no profile.
    fn without_profile(&self, program: &Program, number: usize) -> Error {
        let messages = self.directory.messages();
        let messages = messages.display();
        let why = match program.profiling {
            Profiling::None => format!("{messages} has what gmon-run said"),
            _ => format!(
                "the program called _exit, closed {PREFIX}'s file, or has a runtime without {PREFIX}: link it with gmon-cc. \
                 {messages} has what it said"
            ),
        };
        fault(&program.word, format!("run {number} left no profile: {why}"))
    }
}

impl Steps for Live<'_, '_> {
    fn run(&mut self, side: Side, number: usize) -> Result<Duration, Error> {
        let Some(program) = self.programs[side as usize] else { return Ok(Duration::ZERO) };
        let mut command = self.command(program, side, number)?;
        let begin = Instant::now();
        let cannot_run = |error| fault(&program.word, format!("the program cannot be run: {}", system(&error)));
        let mut child = command.spawn().map_err(cannot_run)?;
        let status = child.wait().map_err(cannot_run)?;
        let time = begin.elapsed();
        if !status.success() {
            return Err(self.failed(program, number, status));
        }
        let is_kept = match program.profiling {
            Profiling::None => self.directory.keep_collected(&program.path, side, number)?,
            _ => self.directory.keep(side, number, child.id())?,
        };
        if is_kept { Ok(time) } else { Err(self.without_profile(program, number)) }
    }

    fn visible(&mut self, runs: usize) -> Result<Option<f64>, Error> {
        let options = |side: Side, program: &Program| {
            let profiles = self.directory.profiles(side, runs);
            Options { images: vec![ProfiledImage { image: program.path.clone(), profiles }], ..self.options.clone() }
        };
        let [base, Some(new)] = self.programs else { return Ok(None) };
        let new = options(Side::New, new).compared();
        // Without a base, the question is what as many runs of another program would show.
        let base = base.map(|base| options(Side::Base, base).compared());
        compare::visible(base.as_ref(), &new)
    }

    fn elapsed(&mut self) -> Duration {
        self.begin.elapsed()
    }

    fn tell(&mut self, done: usize, visible: Option<f64>) {
        let text = self.plan.progress(done, visible);
        self.progress.step(&text, done, self.plan.runs);
    }
}

/// The standard input of a run: a file from its beginning. Nothing else can be read by each run.
fn input() -> Stdio {
    let file = stdin().as_fd().try_clone_to_owned().map(File::from);
    let file = file.ok().filter(|file| file.metadata().is_ok_and(|kind| kind.is_file()));
    let rewound = file.and_then(|mut file| file.rewind().ok().map(|()| file));
    rewound.map_or_else(Stdio::null, Stdio::from)
}

/// Finds gmon-run, which is installed beside gprof.
fn gmon_run(program: &Path) -> Result<PathBuf, Error> {
    let beside = env::current_exe().ok().map(|own| own.with_file_name(GMON_RUN));
    let places = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&places).map(|place| place.join(GMON_RUN)).collect::<Vec<_>>();
    beside.into_iter().chain(in_path).find(|path| path.is_file()).ok_or_else(|| {
        fault(
            program,
            "the program was not built with -pg, and gmon-run, which profiles such programs on Linux, is neither beside gprof \
             nor in PATH: install gmon-run, or compile the program with gmon-cc",
        )
    })
}

/// Tells that only one of the programs spends time on counting calls.
pub(super) fn warn_of_different_costs(base: &Program, new: &Program, progress: &mut Progress<'_>) {
    let counts = |program: &Program| program.profiling != Profiling::None;
    if counts(base) != counts(new) {
        let counting = if counts(new) { new } else { base };
        // A warning that cannot be written is dropped: nobody can read it.
        let _ = writeln!(
            progress,
            "gprof: warning: only {} was built with -pg, and counting calls costs time: build both in the same way",
            counting.word.display()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a file here that is not found before one in `PATH`, a directory that counts as a program, and a script
    /// that runs.
    #[test]
    fn programs_are_found_as_shells_find_them() {
        let said = |word: &str| Program::find(Path::new(word)).err().map(|error| error.to_string());
        let found = Program::find(Path::new("sh")).unwrap();
        assert!(found.path.is_absolute() && found.word == Path::new("sh"), "{}", found.path.display());
        assert_eq!(said("Cargo.toml").unwrap().split(": ").next(), Some("Cargo.toml"), "a file here");
        assert_eq!(said("no-such-program-anywhere").unwrap(), "no-such-program-anywhere: No such file or directory");
        assert!(said("./src").is_some() && said("./no-such-file").is_some());
    }
}
