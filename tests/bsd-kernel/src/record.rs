//! The record of a run: one line for each event that a test may want to see.
//!
//! A line is `KIND process ID: TEXT`. docs of [`Kind`] say what the kinds mean.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// What a line of the record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A system call and its result. Only with `--trace`.
    Call,
    /// A system call number that this kernel does not know. The call failed with ENOSYS.
    UnknownCall,
    /// A call that the real kernel knows with arguments that this kernel does not support.
    Unsupported,
    /// A call that capability mode, a pledge or the pinned system calls refuse.
    Refused,
    /// profil(2) was started, stopped or hit a fault.
    Profil,
    /// A signal was delivered to a handler.
    Signal,
    /// A process began, executed another program or ended.
    Process,
    /// No thread can ever run again.
    Deadlock,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Call => "call",
            Kind::UnknownCall => "unknown-call",
            Kind::Unsupported => "unsupported",
            Kind::Refused => "refused",
            Kind::Profil => "profil",
            Kind::Signal => "signal",
            Kind::Process => "process",
            Kind::Deadlock => "deadlock",
        }
    }

    /// Events that no program under test may cause unless the test is about them: they are also said on standard error.
    fn is_loud(self) -> bool {
        matches!(self, Kind::UnknownCall | Kind::Unsupported | Kind::Refused | Kind::Deadlock)
    }
}

/// Where the events of a run go.
#[derive(Debug, Default)]
pub struct Record {
    file: Option<File>,
    has_calls: bool,
}

impl Record {
    /// A record in a file, or one that only reports loud events on standard error.
    ///
    /// # Errors
    ///
    /// When the file cannot be created.
    pub fn create(path: Option<&Path>, has_calls: bool) -> io::Result<Record> {
        Ok(Record { file: path.map(File::create).transpose()?, has_calls })
    }

    /// Adds a line.
    ///
    /// # Panics
    ///
    /// When the record cannot be written: a test would miss the event.
    pub fn note(&mut self, kind: Kind, process: u32, text: &str) {
        if kind == Kind::Call && !self.has_calls {
            return;
        }
        let line = format!("{} process {process}: {text}\n", kind.word());
        if kind.is_loud() {
            eprint!("gmon-bsd-kernel: {line}");
        }
        if let Some(file) = &mut self.file {
            file.write_all(line.as_bytes()).expect("the record can be written");
        }
    }
}
