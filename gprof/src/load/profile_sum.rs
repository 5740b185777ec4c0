//! The sum of the profiles of one image.

use std::ops::Range;

use gmon::{Accumulator, Histogram, Profile};

use super::address_mismatch;
use super::profile_file::{FileInfo, ProfileFile};
use crate::cli::options::{Contents, ProfilePath};
use crate::error::Error;

/// Profiles that were added up, and what is known of them.
#[derive(Default)]
pub(super) struct ProfileSum {
    sum: Accumulator,
    /// One bin for each profile that has samples, of this image and of others: samples that cannot be added up there cannot
    /// stand in one report.
    units: Accumulator,
    /// What the profiles have room for.
    pub(super) contents: Contents,
    /// What each file consists of.
    pub(super) files: Vec<FileInfo>,
    /// Signs that a profile is not of the image, in words.
    pub(super) mismatches: Vec<String>,
}

impl ProfileSum {
    /// Nothing yet, beside sums of other images.
    pub(super) fn beside(others: &Accumulator) -> ProfileSum {
        ProfileSum { units: others.clone(), ..ProfileSum::default() }
    }

    /// Adds a profile of an image with code at these addresses.
    ///
    /// # Errors
    ///
    /// When the profile does not go with those before, of this image or another.
    pub(super) fn add(
        &mut self,
        path: &ProfilePath,
        file: ProfileFile,
        code: Option<&Range<u64>>,
    ) -> Result<(), Error> {
        let ProfileFile { profile, contents, info } = file;
        self.files.push(info);
        self.contents.join(contents);
        if let Some(mismatch) = code.and_then(|code| address_mismatch::find(&profile, code)) {
            self.mismatches.push(format!("{path}: {mismatch}"));
        }
        let fail = |error| Error::Profile { file: path.to_string(), source: error };
        // Histograms of different images need not have bins of one size, but their samples must be as long.
        let unit = |first: &Histogram| Histogram { lowpc: 0, highpc: 1, bins: vec![0], signed: false, ..*first };
        let histograms = profile.histograms.first().map(unit).into_iter().collect();
        self.sum.add(profile).map_err(fail)?;
        self.units.add(Profile { histograms, ..Profile::default() }).map_err(fail)
    }

    /// Adds profiles that come after these; nothing when they do not go together.
    pub(super) fn append(&mut self, later: ProfileSum) -> Option<()> {
        self.sum.add(later.sum.finish()).ok()?;
        self.units.add(later.units.finish()).ok()?;
        self.contents.join(later.contents);
        self.files.extend(later.files);
        self.mismatches.extend(later.mismatches);
        Some(())
    }

    /// What sums of other images must go with.
    pub(super) fn units(&self) -> &Accumulator {
        &self.units
    }

    /// Adds the units of other images; nothing when they do not go together, or else those of all.
    pub(super) fn join_units(&mut self, others: &Accumulator) -> Option<Accumulator> {
        self.units.add(others.clone().finish()).ok()?;
        Some(self.units.clone())
    }

    /// The sum itself, and what sums of other images must go with.
    pub(super) fn finish(self) -> (Profile, Accumulator) {
        (self.sum.finish(), self.units)
    }
}
