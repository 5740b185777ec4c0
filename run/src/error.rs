//! Why gmon-run cannot run a program.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why gmon-run cannot run a program. The numbers of the exit are those of env(1).
#[derive(Debug)]
pub(crate) enum Error {
    /// The program is not there.
    NotFound(PathBuf),
    /// The program is there and cannot be executed.
    NotExecutable(PathBuf, io::Error),
    /// The directory of the profiles cannot be made.
    Directory(PathBuf, io::Error),
    /// The shared object is not there.
    NoRuntime(PathBuf),
    /// The dynamic linker splits its list at blanks and colons.
    RuntimesName(PathBuf),
    /// gmon-run cannot wait for the program.
    Wait(io::Error),
}

impl Error {
    /// The exit status of gmon-run.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Error::NotFound(_) => 127,
            Error::NotExecutable(..) => 126,
            _ => 125,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotFound(program) => write!(out, "{}: no such program", program.display()),
            Error::NotExecutable(program, why) => write!(out, "{}: cannot execute: {why}", program.display()),
            Error::Directory(path, why) => {
                write!(out, "{}: cannot make the directory of the profiles: {why} (-o names another)", path.display())
            }
            Error::NoRuntime(path) => {
                write!(
                    out,
                    "{}: no such file: install gmon-run together with the directory lib/gmon, or set GMON_RUN_LIBRARY",
                    path.display()
                )
            }
            Error::RuntimesName(path) => {
                write!(
                    out,
                    "{}: the dynamic linker accepts no path with a blank or a colon: move the file",
                    path.display()
                )
            }
            Error::Wait(why) => write!(out, "cannot wait for the program: {why}"),
        }
    }
}
