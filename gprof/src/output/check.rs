//! Which files a run must not write.

use std::fs::{self, File};
use std::io::IsTerminal;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::target::target;
use crate::error::Error;
use crate::program::image::files;
use crate::question::files::{Output, ProfilePath};
use crate::question::options::Options;
use crate::terminal::Terminal;

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
    };
    let mut others = [&options.symbols, &options.file_map].into_iter().flatten();
    let mut base = options.comparison.iter().flat_map(|comparison| &comparison.base);
    options.images.iter().any(|image| is_it(&image.image) || image.profiles.iter().any(is_profile))
        || base.any(is_profile)
        || others.any(|input| is_it(input))
}

/// A path that is the same for all paths of a file, whether the file exists or not.
fn place(file: &Path) -> PathBuf {
    let file = target(file);
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(parent), file.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        // The output cannot be written.
        _ => file,
    }
}
