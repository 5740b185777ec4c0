//! Debug files of installed programs: fetches files that this machine does not have, and tells the user what would
//! bring the names that are missing.
//!
//! Distributions serve their debug files by build ID, and `debuginfod-find` of elfutils is the client. Its cache, its
//! limits, and its settings apply. This program itself uses no network.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gmon::{Dimension, Profile, Unit};

use super::input_files::ImageFile;
use super::profile_file::samples;
use crate::program::image::{Image, files};
use crate::question::options::{DebugServers, Options};
use crate::terminal::progress::Progress;

/// The client of servers of debug files.
const CLIENT: &str = "debuginfod-find";

/// gprof says what would bring missing names if the functions without names have at least this many seconds and this
/// share of the samples.
const NOTABLE_SECONDS: f64 = 1.0;
const NOTABLE_SHARE: f64 = 0.1;

/// The number of files that the message names.
const MOST_NAMED: usize = 3;

/// The debug files of one run of gprof.
#[derive(Default)]
pub(crate) struct DebugFiles {
    /// For each build ID that was asked for: the path of the debug file, if a server has the file.
    asked: HashMap<String, Option<PathBuf>>,
    /// Whether the client cannot be run.
    lacks_client: bool,
    /// Whether the message about missing names was written.
    has_told: bool,
}

impl DebugFiles {
    /// Fetches what the image lacks: symbols, and the debug information that reports need. The image must have samples.
    pub(super) fn complete<'data>(
        &mut self,
        options: &Options,
        file: &'data ImageFile,
        image: &mut Image<'data>,
        progress: &mut Progress<'_>,
    ) {
        if options.debug_servers != DebugServers::Asked {
            return;
        }
        let needs_lines = options.needs_debug_information();
        if (image.lacks_symbols() || needs_lines && !image.files.has_lines())
            && let Some(id) = image.build_id()
            && let Some((path, bytes)) = self.fetch(&id, &file.path, progress)
        {
            file.add_debug_file(image, options, &path, bytes);
        }
        if needs_lines
            && let Some(id) = image.files.missing_id()
            && let Some((_, bytes)) = self.fetch(&id, &file.path, progress)
        {
            image.files.add_shared(&bytes);
        }
    }

    /// Fetches the debug file with a build ID. `whose` is the path of the image for which the file is fetched. Asks for
    /// each file once.
    fn fetch(&mut self, id: &str, whose: &Path, progress: &mut Progress<'_>) -> Option<(PathBuf, Vec<u8>)> {
        if !self.asked.contains_key(id) && !self.lacks_client {
            progress.tell_now(&format!("fetching the debug file of {}", whose.display()));
            let found = ask(id);
            progress.clear();
            self.lacks_client = found.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
            self.asked.insert(id.to_owned(), found.ok().flatten());
        }
        let path = self.asked.get(id)?.as_ref()?;
        Some((path.clone(), files::regular(path).ok()?))
    }

    /// Says what would bring missing names, if functions without names have a notable part of the time. Each image
    /// comes with its path and its profile; `outside` is the number of samples outside all images. Says so once in a
    /// run.
    pub(super) fn tell<'i, 'data: 'i>(
        &mut self,
        options: &Options,
        images: impl Iterator<Item = (&'i Path, &'i Image<'data>, &'i Profile)>,
        outside: u64,
        warnings: &mut dyn Write,
    ) {
        let images: Vec<_> = images.collect();
        let has_names = images.iter().all(|(_, image, _)| !image.lacks_symbols());
        if has_names || self.has_told || !options.rules.fetches_debug_files {
            return;
        }
        let (mut all, mut rate, mut nameless) = (outside, None, Vec::new());
        for (path, image, profile) in images {
            let count = samples(profile);
            all = all.saturating_add(count);
            rate = rate.or_else(|| profile.histograms().first().and_then(|histogram| per_second(histogram.unit())));
            if image.lacks_symbols() && count > 0 {
                nameless.push((count, path));
            }
        }
        let count = nameless.iter().fold(0_u64, |sum, (count, _)| sum.saturating_add(*count)) as f64;
        let share = count / all.max(1) as f64;
        let is_notable = rate.is_some_and(|rate| count >= rate * NOTABLE_SECONDS) && share >= NOTABLE_SHARE;
        if !is_notable {
            return;
        }
        self.has_told = true;
        nameless.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
        let has = if nameless.len() == 1 { "has" } else { "have" };
        let (files, install) = (names(&nameless), "install debug packages (NAME-dbgsym, NAME-debuginfo)");
        let remedy = match options.debug_servers {
            DebugServers::Unused => install.to_owned(),
            DebugServers::None => format!("{install}, or set DEBUGINFOD_URLS"),
            DebugServers::Forbidden => format!("{install}, or leave out --no-debuginfod"),
            DebugServers::Asked if self.lacks_client => {
                format!("{install}, or the program {CLIENT} (package debuginfod), because DEBUGINFOD_URLS is set")
            }
            DebugServers::Asked => format!("the servers in DEBUGINFOD_URLS gave no symbols: {install}"),
        };
        let percent = share * 100.0;
        // A message that cannot be written is dropped: nobody can read it.
        let _ = writeln!(warnings, "gprof: {files} {has} no symbol table, and {percent:.0}% of the samples: {remedy}");
    }
}

/// Asks the servers for a debug file. Returns the path of the file, if a server or the cache has it.
///
/// # Errors
///
/// When the client cannot be run.
fn ask(id: &str) -> io::Result<Option<PathBuf>> {
    let mut client = Command::new(CLIENT);
    client.args(["debuginfo", id]).stdin(Stdio::null()).stderr(Stdio::null());
    let output = client.output()?;
    let path = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
    Ok((output.status.success() && !path.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(path))))
}

/// The number of samples in a second, if the unit is a time.
fn per_second(unit: Unit) -> Option<f64> {
    (unit.profrate > 0 && unit.dimension == Dimension::SECONDS).then(|| f64::from(unit.profrate))
}

/// The names of files without their directories, the first ones by name and the rest as a number.
fn names(files: &[(u64, &Path)]) -> String {
    let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let named: Vec<String> = files.iter().take(MOST_NAMED).map(|(_, path)| name(path)).collect();
    match (named.as_slice(), files.len().saturating_sub(MOST_NAMED)) {
        (_, more) if more > 0 => format!("{}, and {more} more files", named.join(", ")),
        ([first, second], _) => format!("{first} and {second}"),
        ([first, second, third], _) => format!("{first}, {second}, and {third}"),
        _ => named.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_files_are_named() {
        let files: Vec<(u64, PathBuf)> = (0..5).map(|at| (at, PathBuf::from(format!("/lib/{at}.so")))).collect();
        let of =
            |count: usize| names(&files[..count].iter().map(|(at, path)| (*at, path.as_path())).collect::<Vec<_>>());
        assert_eq!(
            [1, 2, 3, 5].map(of),
            ["0.so", "0.so and 1.so", "0.so, 1.so, and 2.so", "0.so, 1.so, 2.so, and 2 more files"]
        );
    }

    #[test]
    fn only_times_have_a_rate() {
        assert_eq!(per_second(Unit::seconds(250)), Some(250.0));
        assert_eq!(per_second(Unit::seconds(0)), None);
        assert_eq!(
            per_second(Unit { dimension: Dimension::from_field(*b"events\0\0\0\0\0\0\0\0\0"), ..Unit::seconds(9) }),
            None
        );
    }
}
