//! Reads what the runs of one image left, profiles and the files beside them, and finds profiles that another build or
//! another program wrote.
//!
//! A rebuilt program has other functions at the same addresses, and so has another program: the reports would look
//! right and be wrong. The side file or the list of objects beside a profile names the program. Without these, the
//! modification times of the files show whether the program may have been rebuilt.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use gmon::side_file::SideFile;
use gmon::{Accumulator, Form, OldHeader};

use super::input_files::ImageFile;
use super::mismatch::CallCheck;
use super::profile_file::{HOST_RATE, ProfileSum};
use super::runs::{Reading, Runs};
use super::shared_objects::{ObjectReading, Program, RunCounts, RunFiles, SharedObjects};
use super::side_sum::Sides;
use crate::error::Error;
use crate::program::image::{self, CodeBytes, Image};
use crate::question::files::{ProfilePath, ProfiledImage};
use crate::question::options::Options;
use crate::terminal::progress::Progress;

/// The modification times of files that are copied or checked out together differ by less than this.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Profiles with the same mismatch: the first profile, and the number of profiles.
struct Mismatch {
    what: String,
    first: String,
    count: usize,
}

/// What is done with profiles of other builds and programs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubts {
    /// They are in the reports.
    Reported,
    /// They are not in the sum, so a warning names each.
    LeftOut,
}

/// Returns warnings about the profiles that do not match the image, or may not match. The image is a path and an
/// identity; `files` has the files beside each profile.
pub(super) fn find_other_builds(
    (path, own): (&Path, Option<&str>),
    profiles: &[ProfilePath],
    files: &[RunFiles],
    doubts: Doubts,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let built = fs::metadata(path).and_then(|status| status.modified()).ok();
    let mut mismatches: Vec<Mismatch> = Vec::new();
    for (source, beside) in profiles.iter().zip(files) {
        let profile = match source {
            ProfilePath::File(profile) => Some(profile),
            ProfilePath::Memory(_) => None,
            ProfilePath::Stdin => continue,
        };
        let what = match (&beside.program, own) {
            (Program::Other(identity, ran), Some(own)) => {
                format!(
                    "written by another build or program: {} ran ({}), {} is {}",
                    name(identity),
                    ran.display(),
                    path.display(),
                    name(own)
                )
            }
            (Program::Unknown, _)
                if let Some(ran) = profile.and_then(|profile| modified(profile))
                    && built.is_some_and(|built| is_later(built, ran)) =>
            {
                format!("older than {}: was the program rebuilt after the run?", path.display())
            }
            _ => continue,
        };
        if doubts == Doubts::LeftOut && matches!(beside.program, Program::Other(..)) {
            warnings.push(format!("{source}: left out of the sum: {what}"));
            continue;
        }
        if let Some(mismatch) = mismatches.iter_mut().find(|mismatch| mismatch.what == what) {
            mismatch.count += 1;
        } else if mismatches.len() < MOST_MISMATCHES {
            mismatches.push(Mismatch { what, first: source.to_string(), count: 1 });
        }
    }
    for Mismatch { what, first, count } in mismatches {
        let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        warnings.push(format!("{first}{more}: {what}"));
    }
    warnings
}

/// The number of different mismatches that warnings report at most.
const MOST_MISMATCHES: usize = 10;

/// Describes an identity for a warning.
fn name(identity: &str) -> String {
    match identity.strip_prefix("headers:") {
        Some(sum) => format!("a program without build ID (headers {sum})"),
        None => format!("build {identity}"),
    }
}

/// The modification time of a regular file; `None` for anything else.
fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?.modified().ok()
}

fn is_later(one: SystemTime, other: SystemTime) -> bool {
    one.duration_since(other).is_ok_and(|later| later > AT_ONCE)
}

/// The only form without 4.4BSD's version that GNU gprof reads.
const OLD: Form = Form::OldBsd(OldHeader::Packed);

/// What the runs of one image left.
pub(super) struct ImageRuns {
    /// The sum of the profiles.
    pub(super) sum: ProfileSum,
    pub(super) sides: Sides,
    /// The shared objects that the runs used, if reports are about shared objects.
    pub(super) objects: SharedObjects,
    /// Why profiles may not belong to the image.
    pub(super) mismatches: Vec<String>,
}

/// What the runs of one image left, before any warning about the image is written: the number of samples decides
/// whether gprof searches for the symbols of the image.
pub(super) struct UntoldRuns {
    sum: ProfileSum,
    sides: Sides,
    objects: SharedObjects,
    /// The files beside each profile.
    files: Vec<RunFiles>,
    /// The identity of the image, if the image could be read.
    identity: Option<Option<String>>,
    /// Whether profiles of other builds and programs are left out of the sum.
    leaves_out_others: bool,
    /// Whether all profiles are left out.
    is_empty: bool,
    failure: Option<Error>,
}

impl UntoldRuns {
    /// Reads the profiles of an image, and the files beside them. `units` has the sample units of other images.
    pub(super) fn read(
        options: &Options,
        named: &ProfiledImage,
        (file, image): (&ImageFile, &Image<'_>),
        units: &Accumulator,
        progress: &mut Progress<'_>,
    ) -> UntoldRuns {
        let identity = image::identity(&file.bytes).ok();
        let hints = options.known_form.hints(image.hints);
        let reading = Reading {
            hints,
            old: options.known_form.or_old.then_some(hints.with_form(OLD)),
            sampled: image.sampled.clone(),
            code: image.code.clone(),
            calls: Some(CallCheck::new(image, CodeBytes::new(image, file.unread.as_ref()))),
            identity: identity.as_ref().and_then(Option::as_deref),
            with_objects: options.objects && options.images.len() == 1,
            with_sides: options.rules.reads_shared_objects,
            leaves_out_others: options.reports.sum && options.rules.reads_shared_objects,
            units,
        };
        let (Runs { sum, mut files, side }, failure) = match reading.all(&named.profiles, progress) {
            Ok(runs) => (runs, None),
            Err(failed) => (failed.1, Some(failed.0)),
        };
        if reading.with_sides {
            tell(files.iter().filter_map(|beside| beside.warning.as_ref()), progress);
        }
        for listed in files.iter_mut().filter_map(|beside| beside.listed.as_mut()) {
            listed.take_files_below(options.sysroot.as_deref());
        }
        let sides = side.finish();
        let objects = match reading.with_objects {
            true => objects(options, &reading, &listed(&named.profiles, &files), (&sum, &sides.files), progress),
            false => SharedObjects::default(),
        };
        let is_empty = !files.is_empty() && files.iter().all(|beside| reading.leaves_out(beside));
        let leaves_out_others = reading.leaves_out_others;
        UntoldRuns { sum, sides, objects, files, identity, leaves_out_others, is_empty, failure }
    }

    /// Whether reports need the names of the image's functions: the profiles have samples, and nothing is wrong.
    pub(super) fn need_names(&self) -> bool {
        self.failure.is_none() && !self.is_empty && self.sum.samples > 0
    }

    /// Warns about the image, and about files that do not belong together.
    ///
    /// # Errors
    ///
    /// When a profile could not be read, is damaged, or is not compatible with the other profiles.
    pub(super) fn tell(
        self,
        named: &ProfiledImage,
        (file, image): (&ImageFile, &Image<'_>),
        progress: &mut Progress<'_>,
    ) -> Result<ImageRuns, Error> {
        let UntoldRuns { sum, sides, objects, files, .. } = self;
        file.tell(progress);
        file.warn_of_damage(image, progress);
        if let Some(warning) = image.warning() {
            let _ = writeln!(progress, "gprof: warning: {}: {warning}", file.path.display());
        }
        let mut mismatches = sum.mismatches.clone();
        tell(&mismatches, progress);
        tell(sum.files.iter().flat_map(|file| &file.warnings), progress);
        if let Some(error) = self.failure {
            return Err(error);
        }
        if let Some(own) = &self.identity {
            let others = if self.leaves_out_others { Doubts::LeftOut } else { Doubts::Reported };
            let found = find_other_builds((&file.path, own.as_deref()), &named.profiles, &files, others);
            tell(&found, progress);
            mismatches.extend(found);
        }
        if self.is_empty {
            return Err(Error::NothingToAdd { image: file.path.display().to_string() });
        }
        Ok(ImageRuns { sum, sides, objects, mismatches })
    }
}

/// Reads the shared objects in side files, and in the lists of older runtimes.
fn objects(
    options: &Options,
    reading: &Reading<'_>,
    listed: &[(&Path, &RunCounts)],
    (sum, sides): (&ProfileSum, &[SideFile]),
    progress: &mut Progress<'_>,
) -> SharedObjects {
    let reading = ObjectReading {
        hints: reading.hints.without_form(),
        with_code: options.static_calls,
        units: sum.units(),
        unit: sum.unit(sides.iter().find_map(SideFile::rate).unwrap_or(HOST_RATE)),
    };
    let mut counts: Vec<RunCounts> = sides.iter().map(RunCounts::of).collect();
    counts.iter_mut().for_each(|counts| counts.take_files_below(options.sysroot.as_deref()));
    // A side file has the counts of its objects; no files lie beside it.
    let runs = counts.iter().map(|counts| (Path::new(""), counts));
    SharedObjects::read(runs.chain(listed.iter().copied()), &reading, progress)
}

/// The counts in the list beside each profile that has a list, with the path of the profile.
fn listed<'a>(profiles: &'a [ProfilePath], files: &'a [RunFiles]) -> Vec<(&'a Path, &'a RunCounts)> {
    let listed = profiles.iter().zip(files).filter_map(|(profile, beside)| match profile {
        ProfilePath::File(path) => Some((path.as_path(), beside.listed.as_ref()?)),
        ProfilePath::Stdin | ProfilePath::Memory(_) => None,
    });
    listed.collect()
}

/// Writes warnings about files.
pub(super) fn tell<'a>(warnings: impl IntoIterator<Item = &'a String>, progress: &mut Progress<'_>) {
    for warning in warnings {
        // A warning that cannot be written is dropped: nobody can read it.
        let _ = writeln!(progress, "gprof: warning: {warning}");
    }
}
