//! Files that a run writes: whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::cli::options::{Options, Output, ProfilePath};
use crate::error::Error;
use crate::image::files;
use crate::terminal::Terminal;

/// The number of names that are tried for a temporary file.
const MOST_NAMES: u32 = 100;

/// Checks the outputs before the run reads anything.
///
/// # Errors
///
/// If an output would write over an input, or write bytes that are no text to a terminal.
pub(crate) fn check(options: &Options, terminal: &Terminal) -> Result<(), Error> {
    for Output { file, format } in &options.outputs {
        let is_terminal = file.as_deref().map_or(terminal.reports.is_some(), is_terminal);
        if format.is_binary() && is_terminal {
            let name = format.name();
            return Err(Error::Usage(format!("the format {name} is not text: write it to a file ('--output=FILE')")));
        }
        if let Some(file) = file.as_deref().filter(|file| is_input(file, options)) {
            let file = file.display();
            return Err(Error::Usage(format!("'--output {file}': the file is an input: choose another name")));
        }
    }
    Ok(())
}

fn is_terminal(file: &Path) -> bool {
    let is_device = fs::metadata(file).is_ok_and(|metadata| metadata.file_type().is_char_device());
    is_device && File::open(file).is_ok_and(|file| file.is_terminal())
}

fn is_input(file: &Path, options: &Options) -> bool {
    let Some(key) = files::key(file).filter(|_| file.is_file()) else { return false };
    let profiles = options.images.iter().flat_map(|image| &image.profiles).filter_map(|profile| match profile {
        ProfilePath::File(path) => Some(path),
        ProfilePath::Stdin => None,
    });
    let images = options.images.iter().map(|image| &image.image);
    let others = [&options.symbols, &options.file_map].into_iter().flatten();
    images.chain(profiles).chain(others).any(|input| files::key(input) == Some(key))
}

/// Writes a file. The file gets its name when `render` has written everything; until then, and if writing fails, a file of
/// this name stays as it was. Devices and pipes are written directly.
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
    // A symbolic link stays, and the file behind it changes.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let existing = fs::metadata(&target).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        let mut file = OpenOptions::new().write(true).open(&target).map_err(fail)?;
        return render(&mut file).map_err(named);
    }
    if existing.is_some() {
        // A file that must not be written must not be replaced.
        OpenOptions::new().write(true).open(&target).map_err(fail)?;
    }
    let (mut file, temporary) = create(&target).map_err(fail)?;
    let mode = existing.map_or(Ok(()), |existing| file.set_permissions(existing.permissions()));
    let written = mode.map_err(fail).and_then(|()| render(&mut file).map_err(named));
    let stored = written.and_then(|()| fs::rename(&temporary, &target).map_err(fail));
    if stored.is_err() {
        // The first error is the reason; the file is of no use.
        let _ = fs::remove_file(&temporary);
    }
    stored
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
