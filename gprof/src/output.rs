//! Files that a run writes: whole or not at all. [`check`] refuses files that a run must not write, and
//! [`written_file`] finds the file that the path of an output stands for.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::program::image::files;
use crate::question::files::{Output, ProfilePath};
use crate::question::format::Format;
use crate::question::options::Options;
use crate::terminal::{Terminal, browser};

/// The number of names that are tried for a temporary file.
const MOST_NAMES: u32 = 100;

/// Writes a file. The file gets its name when `render` has written everything; until then, and if writing fails, a file
/// of this name stays as it was. Devices, pipes, and open files of a process are written directly. If no file may be
/// made in the file's directory, the file is written in place, when `render` has written everything.
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
    let target = written_file(path);
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

/// Makes a page in a directory that only this user can read the only output of the options. Returns the path of the
/// page.
///
/// # Errors
///
/// [`Error::Write`] if the system's directory for temporary files takes no new directory.
pub(crate) fn private_page(options: &mut Options) -> Result<PathBuf, Error> {
    let path = browser::private_directory()
        .map_err(|source| Error::Write { file: std::env::temp_dir().display().to_string(), source })?
        .join("profile.html");
    options.outputs = vec![Output { file: Some(path.clone()), format: Format::Html }];
    Ok(path)
}

/// Removes the directory of a page that a run did not write.
pub(crate) fn remove_private_page(page: &Path) {
    // If the directory cannot be removed, nothing helps: it is empty.
    let _ = page.parent().map(fs::remove_dir);
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

/// What follows the path of a profile and a dot in the paths of the files beside the profile.
const BESIDE: [&str; 2] = ["side", "objects"];

/// Checks the outputs before the run reads anything.
///
/// # Errors
///
/// If two outputs are one file, or an output would write over an input, or write bytes that are no text to a terminal.
pub(crate) fn check(options: &Options, terminal: &Terminal) -> Result<(), Error> {
    let mut places: Vec<PathBuf> = Vec::new();
    for Output { file, format } in &options.outputs {
        let is_terminal = file.as_deref().map_or(terminal.reports.is_some(), is_terminal);
        if format.is_binary() && is_terminal {
            let name = format.name();
            return Err(Error::Usage(format!("the format {name} is not text: write it to a file ('--output=FILE')")));
        }
        let Some(file) = file.as_deref() else { continue };
        check_file(file, options)?;
        let place = place(file);
        if places.contains(&place) {
            return Err(Error::Usage(format!("'--output {}': another '--output' names the same file", file.display())));
        }
        places.push(place);
    }
    let extracted = options.reports.extract.as_ref().and_then(|extract| extract.output.as_deref());
    extracted.map_or(Ok(()), |file| check_file(file, options))
}

/// Checks a file that the run is going to write.
///
/// # Errors
///
/// If the file is an input.
pub(crate) fn check_file(file: &Path, options: &Options) -> Result<(), Error> {
    let why = "the file is an input: choose another name";
    if is_input(file, options) { Err(Error::Usage(format!("'--output {}': {why}", file.display()))) } else { Ok(()) }
}

fn is_terminal(file: &Path) -> bool {
    let is_device = fs::metadata(file).is_ok_and(|metadata| metadata.file_type().is_char_device());
    is_device && File::open(file).is_ok_and(|file| file.is_terminal())
}

fn is_input(file: &Path, options: &Options) -> bool {
    let Some(key) = files::key(file).filter(|_| file.is_file()) else { return false };
    let is_it = |input: &Path| files::key(input) == Some(key);
    let is_profile = |profile: &ProfilePath| match profile {
        ProfilePath::File(path) => is_it(path) || BESIDE.iter().any(|suffix| is_it(&files::companion(path, suffix))),
        ProfilePath::Stdin => is_it(Path::new("/dev/stdin")),
        ProfilePath::Memory(_) => false,
    };
    let mut others = [&options.symbols, &options.file_map].into_iter().flatten();
    let mut base = options.comparison.iter().flat_map(|comparison| &comparison.base);
    options.images.iter().any(|image| is_it(&image.image) || image.profiles.iter().any(is_profile))
        || base.any(is_profile)
        || others.any(|input| is_it(input))
}

/// A path that is the same for all paths of a file, whether the file exists or not.
fn place(file: &Path) -> PathBuf {
    let file = written_file(file);
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(parent), file.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        // The output cannot be written.
        _ => file,
    }
}

/// The number of symbolic links that one path may lead through. The system has about the same limit.
const MOST_LINKS: u32 = 40;

/// Returns the path of the file that symbolic links lead to, so that the links stay. The file need not exist. The links
/// of the system to open files are not followed.
fn written_file(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        if is_open_file(&target) {
            break;
        }
        let Ok(link) = fs::read_link(&target) else { break };
        target = target.parent().unwrap_or(Path::new("")).join(link);
    }
    target
}

/// Whether a path names an open file of a process, as `/dev/stdout` does. The file may have any name, or none.
fn is_open_file(path: &Path) -> bool {
    let Some(parent) = path.parent() else { return false };
    let is_standard = ["/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name));
    let is_of_process = path.starts_with("/proc") && parent.file_name() == Some("fd".as_ref());
    is_standard || parent == Path::new("/dev/fd") || is_of_process
}

/// Opens a device, a pipe, or an open file of a process. What an open file has stays.
fn open(path: &Path) -> io::Result<File> {
    let is_number =
        |number: &str| ["/dev/fd", "/proc/self/fd"].iter().any(|parent| path == Path::new(parent).join(number));
    // To open a file again gives another position in the file.
    if path == Path::new("/dev/stdout") || is_number("1") {
        return Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?));
    }
    if path == Path::new("/dev/stderr") || is_number("2") {
        return Ok(File::from(io::stderr().as_fd().try_clone_to_owned()?));
    }
    OpenOptions::new().append(is_open_file(path)).write(true).open(path)
}
