//! Reads what the runs of one image left: profiles, and the files beside them.

use std::io::Write;
use std::path::Path;

use gmon::side_file::SideFile;
use gmon::{Accumulator, Form, OldHeader};

use super::build_mismatch::{self, Doubts};
use super::call_mismatch::CallCheck;
use super::input_files::ImageFile;
use super::profile_file::HOST_RATE;
use super::profile_sum::ProfileSum;
use super::runs::{Reading, Runs};
use super::shared_objects::{ObjectReading, RunCounts, RunFiles, SharedObjects};
use super::side_sum::Sides;
use crate::error::Error;
use crate::program::image::{self, CodeBytes, Image};
use crate::question::files::{ProfilePath, ProfiledImage};
use crate::question::options::Options;
use crate::terminal::progress::Progress;

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

impl ImageRuns {
    /// Reads the profiles of an image, and the files beside them. Warns about files that do not belong together. `units`
    /// has the sample units of other images.
    ///
    /// # Errors
    ///
    /// When a profile cannot be read, is damaged, or is not compatible with the other profiles.
    pub(super) fn read(
        options: &Options,
        named: &ProfiledImage,
        (file, image): (&ImageFile, &Image<'_>),
        units: &Accumulator,
        progress: &mut Progress<'_>,
    ) -> Result<ImageRuns, Error> {
        let identity = image::identity(&file.bytes);
        let own = identity.as_ref().ok().and_then(Option::as_deref);
        let hints = options.known_form.hints(image.hints);
        let reading = Reading {
            hints,
            old: options.known_form.or_old.then_some(hints.with_form(OLD)),
            sampled: image.sampled.clone(),
            code: image.code.clone(),
            calls: Some(CallCheck::new(image, CodeBytes::new(image, file.unread.as_ref()))),
            identity: own,
            with_objects: options.objects && options.images.len() == 1,
            with_sides: options.rules.reads_shared_objects,
            leaves_out_others: options.reports.sum && options.rules.reads_shared_objects,
            units,
        };
        let (Runs { sum, files, side }, failure) = match reading.all(&named.profiles, progress) {
            Ok(runs) => (runs, None),
            Err(failed) => (failed.1, Some(failed.0)),
        };
        if reading.with_sides {
            tell(files.iter().filter_map(|beside| beside.warning.as_ref()), progress);
        }
        let sides = side.finish();
        let objects = match reading.with_objects {
            true => objects(options, &reading, &listed(&named.profiles, &files), (&sum, &sides.files), progress),
            false => SharedObjects::default(),
        };
        file.tell(progress);
        if let Some(warning) = image.warning() {
            let _ = writeln!(progress, "gprof: warning: {}: {warning}", file.path.display());
        }
        let mut mismatches = sum.mismatches.clone();
        tell(&mismatches, progress);
        tell(sum.files.iter().flat_map(|file| &file.warnings), progress);
        if let Some(error) = failure {
            return Err(error);
        }
        if identity.is_ok() {
            let others = if reading.leaves_out_others { Doubts::LeftOut } else { Doubts::Reported };
            let found = build_mismatch::find((&file.path, own), &named.profiles, &files, others);
            tell(&found, progress);
            mismatches.extend(found);
        }
        if !files.is_empty() && files.iter().all(|beside| reading.leaves_out(beside)) {
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
    let counts: Vec<RunCounts> = sides.iter().map(RunCounts::of).collect();
    // A side file has the counts of its objects; no files lie beside it.
    let runs = counts.iter().map(|counts| (Path::new(""), counts));
    SharedObjects::read(runs.chain(listed.iter().copied()), &reading, progress)
}

/// The counts in the list beside each profile that has a list, with the path of the profile.
fn listed<'a>(profiles: &'a [ProfilePath], files: &'a [RunFiles]) -> Vec<(&'a Path, &'a RunCounts)> {
    let listed = profiles.iter().zip(files).filter_map(|(profile, beside)| match profile {
        ProfilePath::File(path) => Some((path.as_path(), beside.listed.as_ref()?)),
        ProfilePath::Stdin => None,
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
