//! Files that a run writes: whole or not at all.

mod check;
mod target;

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;
pub(crate) use check::{check, check_file};
use target::{is_open_file, open, target};

/// The number of names that are tried for a temporary file.
const MOST_NAMES: u32 = 100;

/// Writes a file. The file gets its name when `render` has written everything; until then, and if writing fails, a file of
/// this name stays as it was. Devices, pipes, and open files of a process are written directly. If no file
/// may be made in the file's directory, the file is written in place, when `render` has written everything.
///
/// # Errors
///
/// The errors of `render`, and [`Error::Write`] if the file cannot be written.
pub(crate) fn write(path: &Path, render: impl FnOnce(&mut dyn Write) -> Result<(), Error>) -> Result<(), Error> {
    let fail = |source| Error::Write { file: path.display().to_string(), source };
    let named = |error| match error {
        // For a renderer, each output is the standard output.
        Error::Output(source) => fail(source),
        other => other,
    };
    let target = target(path);
    let existing = match fs::metadata(&target) {
        Ok(existing) => Some(existing),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        // For example, links that lead to each other.
        Err(error) => return Err(fail(error)),
    };
    if is_open_file(&target) || existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        let mut file = open(&target).map_err(fail)?;
        return render(&mut file).map_err(named);
    }
    if existing.is_some() {
        // A file that must not be written must not be replaced.
        OpenOptions::new().write(true).open(&target).map_err(fail)?;
    }
    match create(&target) {
        Ok((mut file, temporary)) => {
            let mode = existing.map_or(Ok(()), |existing| file.set_permissions(existing.permissions()));
            let written = mode.map_err(fail).and_then(|()| render(&mut file).map_err(named));
            let stored = written.and_then(|()| fs::rename(&temporary, &target).map_err(fail));
            if stored.is_err() {
                // The first error is the reason; the file is of no use.
                let _ = fs::remove_file(&temporary);
            }
            stored
        }
        Err(error) if existing.is_some() && is_forbidden(&error) => {
            let mut bytes = Vec::new();
            render(&mut bytes).map_err(named)?;
            fs::write(&target, bytes).map_err(fail)
        }
        Err(error) => Err(fail(error)),
    }
}

/// Whether a directory takes no new files.
fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Creates a file with another name beside a file.
fn create(target: &Path) -> io::Result<(File, PathBuf)> {
    let process = std::process::id();
    let mut number = 0;
    loop {
        let temporary = target.with_file_name(format!(".gprof.{process}.{number}"));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MOST_NAMES => number += 1,
            Err(error) => return Err(error),
        }
    }
}
