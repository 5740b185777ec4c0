//! The sum of the profiles of one image.

use gmon::{Accumulator, Histogram, Profile, Unit};

use super::profile_file::{FileInfo, ProfileFile};
use crate::error::Error;
use crate::question::files::ProfilePath;
use crate::question::reports::Contents;

/// The sum of profiles, with what is known about their files.
#[derive(Default)]
pub(super) struct ProfileSum {
    sum: Accumulator,
    /// A sum of one bin for each profile that has samples, of this image and of other images. Profiles whose samples
    /// cannot be added here cannot stand in one report.
    units: Accumulator,
    /// What kinds of data the profiles contain.
    pub(super) contents: Contents,
    /// The contents of each file.
    pub(super) files: Vec<FileInfo>,
    /// The number of samples outside the image that the profiles had.
    pub(super) elsewhere: u64,
    /// Warnings about profiles that do not match the image.
    pub(super) mismatches: Vec<String>,
}

impl ProfileSum {
    /// Makes an empty sum. Its profiles must be compatible with the sums of other images.
    pub(super) fn compatible_with(others: &Accumulator) -> ProfileSum {
        ProfileSum { units: others.clone(), ..ProfileSum::default() }
    }

    /// Adds a profile. `mismatch` is the warning if the profile does not match the image.
    ///
    /// # Errors
    ///
    /// When the profile is not compatible with the earlier profiles of this image or of another image.
    pub(super) fn add(&mut self, path: &ProfilePath, file: ProfileFile, mismatch: Option<String>) -> Result<(), Error> {
        let ProfileFile { profile, contents, info, elsewhere, .. } = file;
        self.elsewhere = self.elsewhere.saturating_add(elsewhere);
        self.files.push(info);
        self.contents.join(contents);
        self.mismatches.extend(mismatch.map(|mismatch| format!("{path}: {mismatch}")));
        self.add_profile(profile).map_err(|source| Error::Profile { file: path.to_string(), source })
    }

    /// Adds counts that come from a side file.
    ///
    /// # Errors
    ///
    /// As [`ProfileSum::add`].
    pub(super) fn add_counts(&mut self, profile: Profile) -> Result<(), gmon::Error> {
        self.contents.join(Contents {
            samples: !profile.histograms().is_empty(),
            calls: !profile.arcs().is_empty(),
            callers: false,
        });
        self.add_profile(profile)
    }

    fn add_profile(&mut self, profile: Profile) -> Result<(), gmon::Error> {
        // Histograms of different images may have different bin sizes, but their samples must have the same unit.
        let unit = |first: &Histogram| Histogram::new(0..1, first.unit(), vec![0_u16]).ok();
        let unit = Profile::of_samples(profile.histograms().first().and_then(unit))?;
        self.sum.add(profile)?;
        self.units.add(unit)
    }

    /// Adds the profiles that follow these. Returns `None` when the profiles are not compatible.
    pub(super) fn append(&mut self, later: ProfileSum) -> Option<()> {
        self.sum.add(later.sum.finish_in_order()).ok()?;
        self.units.add(later.units.finish()).ok()?;
        self.contents.join(later.contents);
        self.elsewhere = self.elsewhere.saturating_add(later.elsewhere);
        self.files.extend(later.files);
        self.mismatches.extend(later.mismatches);
        Some(())
    }

    /// The units that sums of other images must be compatible with.
    pub(super) fn units(&self) -> &Accumulator {
        &self.units
    }

    /// Adds the units of other images, and returns the units of all. Returns `None` when the units are not
    /// compatible.
    pub(super) fn join_units(&mut self, others: &Accumulator) -> Option<Accumulator> {
        self.units.add(others.clone().finish()).ok()?;
        Some(self.units.clone())
    }

    /// The unit of the samples. Without samples, the unit is a second with this rate.
    pub(super) fn unit(&self, profrate: u32) -> Unit {
        self.units.clone().finish().histograms().first().map_or(Unit::seconds(profrate), Histogram::unit)
    }

    /// The sum, and the units that sums of other images must be compatible with.
    pub(super) fn finish(self) -> (Profile, Accumulator) {
        (self.sum.finish_in_order(), self.units)
    }
}
