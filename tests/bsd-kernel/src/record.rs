//! The record of a run: one line for each event that a test may check.
//!
//! A line is `KIND process ID: TEXT`. [`Kind`] documents the kinds.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A system call and its result. Only with `--trace`.
    Call,
    /// A system call number that this kernel does not know. The call failed with ENOSYS.
    UnknownCall,
    /// A call that this kernel does not support with the given arguments, unlike the real kernel.
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

    /// Returns whether an event is unexpected unless a test provokes the event. The tracer also prints these events on
    /// standard error.
    fn is_loud(self) -> bool {
        matches!(self, Kind::UnknownCall | Kind::Unsupported | Kind::Refused | Kind::Deadlock)
    }
}

/// The destination of a run's events.
#[derive(Debug, Default)]
pub struct Record {
    file: Option<File>,
    has_calls: bool,
}

impl Record {
    /// Creates a record in a file, or a record that only prints unexpected events on standard error.
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
    /// If the record cannot be written, because a test would miss the event.
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
